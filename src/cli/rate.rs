//! `quintain rate`: ratings of the players of PGN files and runs.

mod programs;
mod table;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::cli::runs::run_parser;
use crate::files::open_input;
use crate::openings::packing::unpacked_file;
use crate::report::collection::{Collection, RunPlayer, SkippedGames};
use crate::report::pgn_tags::OpenComment;
use crate::report::results::Results;
use crate::run::{progress, rated};
use crate::stats::rating::{Anchor, rate_by_opening};
use crate::text::{count, printable};
use programs::Programs;
use table::RatingTable;

const EXAMPLES: &str = "\
Examples:
  quintain rate games.pgn
  quintain rate results/runs/20260101-120000-gauntlet results/runs/20260102-120000-sprt
  quintain rate a.pgn b.pgn --anchor 'Stockfish 17=3640' --los
  quintain rate games.pgn --anchor 'old=3100+-15' --anchor 'older=3020' --json
  quintain rate games.pgn results/runs/* --at 8+0.08

Ratings are the maximum-likelihood ones of a model in which a lead of 400 Elo makes ten points of \
eleven and a draw is half a point, together with the advantage of having White. Errors are \
half-widths of 95 % intervals, relative to the anchors, or to the mean of the pool, which is 0, \
if none is given. They count pairs of games (one opening, colours reversed) and not games: in a \
run by the journal, in PGN by players, event, round and FEN. A player who won or lost everything \
has a bound (`>`, `<`) and no rating; players not joined by points are rated apart. Pairs and \
single games from one opening vary together: if openings are shared, the error is the larger of \
that by pairs and that by openings.

Among several inputs, the folder of a tuning stands for its proof, and that of `bisect` or of \
`book judge` for its matches. A folder that has neither is left out with a warning.

A game counts once. It is known by its players, start, moves and result, so that a file given \
twice, or a run and its PGN, add nothing; nor does a game that repeats another one move for move, \
as engines at fixed nodes do. Games without moves are known by their tags. What is left out is \
counted.

Games of different conditions (the limits of the two sides, as in 8+0.08 or nodes=2000; Chess960) \
have tables of their own. --at chooses one, --mix rates all together. Hash and threads are the \
player's own.

JSON: `conditions` (games by condition), `players` (group by group, the strongest first: `rank, \
name, elo, elo_error, elo_lo, elo_hi, bound (exact|at_least|at_most), group, relative_to (anchors|mean), \
games, score, draws, anchor`), `groups`, `relative_to (anchors|mean)`, `games`, `pairs`, `white_advantage, \
white_advantage_error` (Elo), `draw_rate, draw_rate_error` (between equals), `shared_openings`, \
and with --los `los`: rows and columns in the order of `players`, the probability that the row's \
player is stronger. With several conditions each of `tables` has these keys instead. In both cases: \
`skipped_games` (all left out), `given_again`, `repeated_games`, `one_program` (`sha256, names`), \
`one_name` (`name, sha256, settings`). Shares are from 0 to 1; null stands for what is not known.";

/// Ratings of any number of players, with errors, from PGN files and run directories.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct RateArgs {
    /// PGN files, also packed by gzip or zstd, and runs (directories, ids or `latest`); players of
    /// the same name are one.
    #[arg(value_name = "FILE.pgn|RUN", required = true, value_parser = run_parser())]
    inputs: Vec<PathBuf>,
    /// A rating known beforehand, held fixed, or with the half-width of its 95 % interval. May be
    /// given more than once.
    #[arg(long = "anchor", value_name = "NAME=ELO[+-ERROR]")]
    anchors: Vec<String>,
    /// Rate only the games of this condition, as it is named in the table.
    #[arg(long, value_name = "CONDITION", conflicts_with = "mix")]
    at: Option<String>,
    /// Rate games of all conditions together.
    #[arg(long)]
    mix: bool,
    /// Add the likelihood of superiority of each player over each other.
    #[arg(long)]
    los: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Prints the ratings to `out`.
pub(super) fn run(args: &RateArgs, out: &mut impl Write) -> Result<()> {
    let mut collection = Collection::new(args.mix);
    let mut programs = Programs::default();
    for input in sources(&args.inputs) {
        add(&input, &mut collection, &mut programs)?;
    }
    warn(collection.skipped());
    programs.lines().iter().for_each(|line| progress::warn(line));
    let pools = chosen(&collection, args.at.as_deref())?;
    if pools.is_empty() {
        let inputs: Vec<_> = args.inputs.iter().map(|input| input.display().to_string()).collect();
        bail!("{}: no finished games between two named players, so there is nothing to rate", inputs.join(", "));
    }
    let all: Vec<String> = pools.iter().flat_map(|(_, results)| results.names()).collect();
    let anchors = args.anchors.iter().map(|text| anchor(text, &all)).collect::<Result<Vec<_>>>()?;
    for (place, one) in anchors.iter().enumerate() {
        if anchors[..place].iter().any(|other| other.name == one.name) {
            bail!("--anchor: `{}` is anchored twice; give one rating", printable(&one.name));
        }
    }
    let table = |(condition, results): &(&str, &Results)| {
        let games = collection.conditions();
        let own = games.iter().filter(|(name, _)| args.mix || name == condition);
        table(own.map(|(name, games)| (name.clone(), *games)).collect(), results, &anchors)
    };
    let tables = pools.iter().map(table).collect::<Result<Vec<_>>>()?;
    let text = if args.json {
        table::json(&tables, args.los, collection.skipped(), &programs)?
    } else {
        table::text(&tables, args.los)
    };
    if tables.len() > 1 {
        progress::note(&format!(
            "{} conditions, rated separately; --at CONDITION rates one of them, --mix all together",
            tables.len()
        ));
    }
    progress::write(out, text.as_bytes())?;
    Ok(())
}

/// Runs and PGN files of the inputs. Runs come first, because a run knows more of a game that is in
/// both. Among several inputs, the folder of a tuning stands for its proof, and that of a series
/// for its matches.
pub(super) fn sources(inputs: &[PathBuf]) -> Vec<PathBuf> {
    let (folders, files): (Vec<PathBuf>, Vec<PathBuf>) = inputs.iter().cloned().partition(|input| input.is_dir());
    let runs = if inputs.len() > 1 { rated::runs(folders) } else { folders };
    runs.into_iter().chain(files).collect()
}

/// Text of a PGN file, opened by `open` and unpacked if it is packed.
pub(super) fn pgn_text(input: &Path, open: fn(&Path) -> io::Result<File>) -> Result<impl Read> {
    let file = open(input)
        .with_context(|| format!("{}: cannot open it; give a PGN file or a run directory", input.display()))?;
    unpacked_file(file).with_context(|| format!("{}: cannot read it", input.display()))
}

/// Results of all conditions, or of the requested one.
pub(super) fn chosen<'a>(collection: &'a Collection, at: Option<&str>) -> Result<Vec<(&'a str, &'a Results)>> {
    let Some(at) = at else { return Ok(collection.pools().collect()) };
    let chosen: Vec<_> = collection.pools().filter(|(condition, _)| *condition == at).collect();
    if chosen.is_empty() {
        bail!("--at `{at}`: no games at this condition, but {}", listed(collection));
    }
    Ok(chosen)
}

/// Conditions with their numbers of games, in one line.
pub(super) fn listed(collection: &Collection) -> String {
    let one = |(condition, games): (&String, &u64)| format!("{} at `{}`", count(*games, "game"), printable(condition));
    let all: Vec<String> = collection.conditions().iter().map(one).collect();
    if all.is_empty() { "none at any".to_owned() } else { all.join(", ") }
}

fn table(conditions: BTreeMap<String, u64>, results: &Results, anchors: &[NamedAnchor]) -> Result<RatingTable> {
    let (names, encounters, shared) = (results.names(), results.encounters(), results.shared_openings());
    let place = |anchor: &NamedAnchor| {
        let player = names.iter().position(|name| *name == anchor.name)?;
        Some(Anchor { player, elo: anchor.elo, error95: anchor.error95 })
    };
    let anchors: Vec<Anchor> = anchors.iter().filter_map(place).collect();
    let ratings = rate_by_opening(names.len(), &encounters, &shared, &anchors)?;
    Ok(RatingTable::new(conditions, names, ratings, &encounters, shared.len(), &anchors))
}

fn add(input: &Path, collection: &mut Collection, programs: &mut Programs) -> Result<()> {
    if input.is_dir() {
        let (dir, plan) = rated::open(input)?;
        let games = dir.rated_games(&plan, |_| {})?;
        programs.add(&plan.players);
        let players: Vec<RunPlayer<'_>> = plan
            .players
            .iter()
            .map(|player| RunPlayer { name: &player.name, key: &player.name, limit: player.limit, network: "" })
            .collect();
        collection.add_run(games, &players);
        return Ok(());
    }
    add_pgn(input, open_input, collection)
}

/// Adds a PGN file, opened by `open`. Warns of a rest that is not read.
pub(super) fn add_pgn(input: &Path, open: fn(&Path) -> io::Result<File>, collection: &mut Collection) -> Result<()> {
    let name = input.display();
    let read = collection.add_pgn(pgn_text(input, open)?).with_context(|| format!("{name}: cannot read it"))?;
    if let Some(OpenComment { line, game }) = read {
        let place = if game == 0 { "before the first game".to_owned() } else { format!("at game {game}") };
        progress::warn(&format!(
            "{name}:{line}: comment `{{` without `}}` {place}: the rest of the file is not read; add the `}}`"
        ));
    }
    Ok(())
}

/// Warns of games that were left out.
pub(super) fn warn(skipped: SkippedGames) {
    let kinds = [
        (skipped.given_again, "game", "given again (the same players, start and moves in a file or run read before)"),
        (skipped.repeated, "game", "repeating one of the same file or run move for move, which is no new evidence"),
        (skipped.unfinished, "game", "without a result"),
        (skipped.nameless, "game", "without names"),
        (skipped.with_itself, "game", "of a player against itself"),
        (skipped.unpaired, "game", "of pairs that are void, not over, or after the verdict"),
        (skipped.overlong, "tag line", "too long to read"),
    ];
    let said: Vec<String> = kinds
        .iter()
        .filter(|(number, ..)| *number > 0)
        .map(|(number, noun, what)| format!("{} {what}", count(*number, noun)))
        .collect();
    if !said.is_empty() {
        progress::warn(&format!("left out: {}", said.join(", ")));
    }
}

/// Anchor from the command line.
struct NamedAnchor {
    name: String,
    elo: f64,
    error95: f64,
}

/// Parses `NAME=ELO` or `NAME=ELO+-ERROR`.
fn anchor(text: &str, names: &[String]) -> Result<NamedAnchor> {
    let form = || format!("--anchor `{text}`: write NAME=ELO, or NAME=ELO+-ERROR");
    let (name, value) = text.rsplit_once('=').with_context(form)?;
    let (elo, error) = value.split_once("+-").or_else(|| value.split_once('±')).unwrap_or((value, "0"));
    let number = |text: &str| text.trim().parse::<f64>().ok().filter(|number| number.abs() <= 1e4);
    let (elo, error95) =
        (number(elo).with_context(form)?, number(error).filter(|error| *error >= 0.0).with_context(form)?);
    if !names.iter().any(|known| known == name) {
        let mut known: Vec<String> = names.iter().take(8).map(|name| format!("`{}`", printable(name))).collect();
        if names.len() > known.len() {
            known.push(format!("{} more", names.len() - known.len()));
        }
        bail!("--anchor `{text}`: no player `{name}` in these games, but {}", known.join(", "));
    }
    Ok(NamedAnchor { name: name.to_owned(), elo, error95 })
}
