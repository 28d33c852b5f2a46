//! `quintain explain RUN`: origin of a player's points.

use std::path::PathBuf;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::cli::runs::run_parser;
use crate::journal;
use crate::plan::{Plan, unknown_player};
use crate::record::PlayerId;
use crate::report::eco::OpeningNames;
use crate::report::explain::{Explainer, Explanation};
use crate::run::dir::RunDir;
use crate::run::{Exit, progress};
use crate::text::count;
use crate::tournament::scoreboard::Scoreboard;

const EXAMPLES: &str = "\
Examples:
  quintain explain results/runs/20260101-120000-sprt
  quintain explain RUN --player stockfish --top 30
  quintain explain RUN --json | jq '.groups[] | select(.found)'

The pairs that count are those of the run's verdict, in order; the run may still be live. Each \
game is put into one group by colour, opponent, opening, ECO code, phase, length, ending, time \
trouble, time used, depth and speed. A group is compared with all other games, with game pairs as \
independent units; p-values are corrected over all tests of a player, by Holm's method.

JSON: `player, pairs, games, wdl, ptnml, score, score_error, net` (points over one half a game), \
`decisive` (share of decisive games won), `alpha, correction, tests, found`; `groups` (`by, \
group, games, pairs, wdl, score, net, measure (score|decisive), inside, outside, difference, \
error95, p, p_holm, found`); `openings` (`distinct, white_ptnml, white_score, both_white, \
both_black, expected_one_sided, lopsided`); `search` (`depth, nodes_per_move, nps, \
seconds_per_move` and by phase: `player, opponents, ratio, ratio_lo, ratio_hi`); `clock` \
(`used_by_move_20, used_by_move_40, used_by_end, moves_in_trouble`: `player, opponents, \
difference, difference_lo, difference_hi`, of the base time and one increment); `duplicates` \
(`games, distinct_games, most_repeated, transposed_games, pairs, effective_pairs_by_moves, \
effective_pairs_by_final_positions, opening_correlation, opening_design_effect, effective_pairs, \
interval_factor`). Shares are from 0 to 1, errors half-widths of 95 % intervals; null stands for \
what is not known. For several players it is an array of such documents.";

/// Shows where a player's points came from, and which differences are significant.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct ExplainArgs {
    /// The run: its directory, an id of `quintain runs`, the end of one, or `latest`.
    #[arg(value_name = "RUN", value_parser = run_parser())]
    run: PathBuf,
    #[command(flatten)]
    who: ExplainedPlayer,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Player whose points are explained, and the extent of the tables.
#[derive(Debug, clap::Args)]
pub(super) struct ExplainedPlayer {
    /// Player whose points are explained: a name, in a test also `new` or `base`; or `all`. Needed
    /// if more than two play [default: the first].
    #[arg(long, value_name = "NAME")]
    pub(super) player: Option<String>,
    /// Openings shown in a table, at most.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,
}

pub(super) fn run(args: &ExplainArgs) -> Result<Exit> {
    let (dir, plan) = RunDir::open(&args.run)?;
    let players = match &args.who.player {
        Some(name) => players(&plan, name)?,
        None if plan.players.len() == 2 => vec![PlayerId(0)],
        None => bail!("{} players: choose one with --player NAME, or --player all", plan.players.len()),
    };
    if plan.format.tuning().is_some() {
        progress::note("a tuning: its sides play trial values, so their points are not a gain");
    }
    let (_, explained) = read(&dir, &plan, &players)?;
    if explained.is_empty() {
        progress::note("no pair has been counted yet");
    }
    if args.json {
        progress::result(&serde_json::to_string_pretty(&json(&plan, &explained, players.len()))?);
    } else {
        let texts: Vec<String> = explained.iter().map(|one| one.text(&plan, args.who.top)).collect();
        progress::result(&texts.join("\n\n"));
    }
    Ok(Exit::Done)
}

/// Document of one player (null without games), or an array of the players with games.
pub(super) fn json(plan: &Plan, explained: &[Explanation], asked: usize) -> Value {
    let mut documents: Vec<Value> = explained.iter().map(|one| one.json(plan)).collect();
    if asked == 1 { documents.pop().unwrap_or(Value::Null) } else { documents.into() }
}

/// Players that `name` stands for.
///
/// # Errors
/// Error with the nearest name if nobody of that name plays.
pub(super) fn players(plan: &Plan, name: &str) -> Result<Vec<PlayerId>> {
    match plan.player_named(name) {
        Some(player) => Ok(vec![player]),
        None if name == "all" => Ok((0..).map(PlayerId).zip(&plan.players).map(|(player, _)| player).collect()),
        None => bail!("--player {}", unknown_player(name, [plan])),
    }
}

/// Reads a run once, without its lock. Returns the counted results and an explanation for each
/// player with games.
///
/// # Errors
/// Error if the journal cannot be read or belongs to another plan.
pub(super) fn read(dir: &RunDir, plan: &Plan, players: &[PlayerId]) -> Result<(Scoreboard, Vec<Explanation>)> {
    let path = dir.path(journal::FILE_NAME);
    let mut scoreboard = Scoreboard::new(plan)?;
    let names = OpeningNames::builtin();
    let mut explainers: Vec<Explainer<'_>> =
        players.iter().map(|player| Explainer::new(plan, &names, *player)).collect();
    let replayed = dir.expected(plan).read(&path, |game| {
        scoreboard.record(game, |_, games| explainers.iter_mut().for_each(|explainer| explainer.record(games)));
    })?;
    // Games of another plan would appear under the wrong names.
    dir.check_plan(&replayed.header)?;
    if scoreboard.waiting_games() > 0 {
        progress::note(&format!(
            "not counted: {} of incomplete pairs or after the verdict",
            count(scoreboard.waiting_games(), "game")
        ));
    }
    Ok((scoreboard, explainers.into_iter().filter_map(Explainer::end).collect()))
}
