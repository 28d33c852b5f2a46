//! `quintain replay DIR --game N`: a game's searches, sent to the engine again.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::json;

use crate::chess::{Position, START_FEN, Variant};
use crate::cli::runs::run_parser;
use crate::cli::trust::Trust;
use crate::files::{MOST_DOCUMENT_BYTES, read_text};
use crate::game::{Game, GameSetup, Input, Step};
use crate::journal;
use crate::plan::{Plan, Player, unknown_player};
use crate::record::{ByColor, Color, GameRecord, PlayerId};
use crate::report::crashes;
use crate::run::dir::RunDir;
use crate::run::trust;
use crate::run::{Exit, progress};
use crate::schedule::{engine_config, worker};
use crate::text::file_sha256;
use crate::uci::process::{Engine, EngineConfig, SearchOutcome, StartError};
use crate::uci::transcript;

const AFTER_HELP: &str = "\
The commands come from crashes/game-N/transcript.txt. If there is none, the game is reconstructed \
from the journal. Each search has the deadline that it had: the engine's clock and the margin, or \
the plan's stall timeout.

Exit codes:
  0  the engine played on
  1  it failed again: it ended, stayed silent past a deadline, or played an illegal move
  2  bad usage, no such game, a run that cannot be read, or an engine that cannot be started

Keys of --json: `game`, `player`, `ended` and `detail` (how the game ended), `reproduced` (whether the player \
that failed in the game failed again; null if this one did not fail), `failure` (of the replay; null if there \
was none), `searches` (how many there are to repeat) and `conversation`.

Examples:
  quintain replay results/runs/20260101-120000-sprt --game 17
  quintain replay latest --game 17 --json";

/// Replays a game's UCI traffic against the engine, waits for the same answers, and prints the
/// conversation.
#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct ReplayArgs {
    /// The run: its directory, an id of `quintain runs`, the end of one, or `latest`.
    #[arg(value_name = "RUN", value_parser = run_parser())]
    dir: PathBuf,
    /// The game's number.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    game: u64,
    /// The engine to replay, `new`, `base` or its name [default: the one that failed, else `new`].
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// Print one JSON document instead of the conversation.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    trust: Trust,
}

/// Search to repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RepeatedSearch {
    /// `position` and `go`, one line each.
    lines: String,
    deadline: Duration,
}

/// Outcome of a replay.
enum ReplayOutcome {
    Through,
    Failed(String),
}

impl ReplayOutcome {
    fn failure(&self) -> Option<&str> {
        match self {
            Self::Through => None,
            Self::Failed(why) => Some(why),
        }
    }
}

pub(super) fn run(args: &ReplayArgs) -> Result<Exit> {
    let (dir, plan) = RunDir::open(&args.dir)?;
    let record = find(&dir, &plan, args.game)?;
    let folder = dir.path(crashes::FOLDER).join(crashes::folder_name(args.game));
    let kept = read_text(&folder.join(crashes::TRANSCRIPT), MOST_DOCUMENT_BYTES).ok();
    let about = read_text(&folder.join(crashes::ABOUT), MOST_DOCUMENT_BYTES).unwrap_or_default();
    // Of a void game, the one that was played in its place is replayed.
    let at_fault = crashes::engine_named(&about).filter(|_| !crashes::is_void(&about));
    let failed = at_fault.and_then(|name| plan.players.iter().position(|p| p.name == name));
    let played = [record.players.white, record.players.black].map(|id| usize::from(id.0));
    let usual = played.into_iter().min().unwrap_or(0);
    let place = match args.player.as_deref().map(|name| plan.player_named(name).ok_or(name)) {
        Some(Ok(player)) => usize::from(player.0),
        Some(Err(name)) => bail!("--player {}", unknown_player(name, [&plan])),
        None => failed.unwrap_or(usual),
    };
    let color = match u16::try_from(place).map(PlayerId) {
        Ok(id) if id == record.players.white => Color::White,
        Ok(id) if id == record.players.black => Color::Black,
        _ => bail!(
            "{} did not play game {}; it is of {} against {}",
            plan.players[place].name,
            args.game,
            plan.name_of(record.players.white),
            plan.name_of(record.players.black)
        ),
    };
    let searches = match kept.filter(|_| failed == Some(place)) {
        Some(text) => of_transcript(&text, &plan, color),
        None => of_record(&record, &plan, color)?,
    };
    trust::check_for(&format!("replay --game {}", args.game), &dir, &plan, args.trust.trust)?;
    let own = plan.tuned_options(&record, *record.players.get(color));
    let config = engine_config(&plan, &plan.players[place], None).with_options(&own);
    warn_if_changed(&plan.players[place]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let (came, said) =
        runtime.context("cannot start the event loop")?.block_on(replay(config, plan.rules.variant, &searches))?;
    if args.json {
        let ending = &record.ending;
        let lost = ending.termination.is_fault() && ending.outcome.winner().is_some_and(|winner| winner != color);
        let failure = came.failure();
        let document = json!({
            "game": args.game,
            "player": plan.players[place].name,
            "ended": ending.termination.name(),
            "detail": ending.detail,
            "reproduced": (lost || failed == Some(place)).then_some(failure.is_some()),
            "failure": failure,
            "searches": searches.len(),
            "conversation": said,
        });
        progress::result(&format!("{document:#}"));
        return Ok(if failure.is_some() { Exit::Failed } else { Exit::Done });
    }
    progress::result(&said);
    let was = match &record.ending.detail {
        detail if detail.is_empty() => record.ending.termination.name().to_owned(),
        detail => format!("{}: {detail}", record.ending.termination.name()),
    };
    let name = &plan.players[place].name;
    Ok(match came {
        ReplayOutcome::Through => {
            progress::result(&format!("{name} got through {} searches (the game ended by {was})", searches.len()));
            Exit::Done
        }
        ReplayOutcome::Failed(why) => {
            progress::result(&format!("{name} failed: {why} (the game ended by {was})"));
            Exit::Failed
        }
    })
}

/// Warns if a player's program is not the one of the run.
fn warn_if_changed(player: &Player) {
    if file_sha256(&player.program).is_ok_and(|sha256| sha256 != player.origin.sha256) {
        progress::warn(&format!("`{}` has changed since the run", player.program.display()));
    }
}

/// Record of a game. The last one counts, because void ones come before it.
fn find(dir: &RunDir, plan: &Plan, number: u64) -> Result<GameRecord> {
    let mut found = None;
    let replayed = dir.expected(plan).read(&dir.path(journal::FILE_NAME), |game| {
        if game.id.number() == number {
            found = Some(game);
        }
    })?;
    found.ok_or_else(|| {
        anyhow!("{}: no game {number} among the {} in its journal", dir.root().display(), replayed.games)
    })
}

/// Searches of a transcript. The driver sends the commands around them (`ucinewgame`, `stop`) by
/// itself. Each `position` line holds the whole game, so the beginning of a transcript may be
/// missing.
fn of_transcript(text: &str, plan: &Plan, color: Color) -> Vec<RepeatedSearch> {
    let mut searches = Vec::new();
    let mut position = None;
    let mut pondered = None;
    for line in transcript::sent(text) {
        match line.split_ascii_whitespace().next() {
            Some("position") => position = Some(line),
            Some("go") => {
                let Some(position) = position.take() else { continue };
                let search = |go: &str| RepeatedSearch {
                    lines: format!("{position}\n{go}\n"),
                    deadline: deadline(go, plan, color),
                };
                match line.strip_prefix("go ponder") {
                    // A ponder search is repeated as an ordinary one after `ponderhit`, and not at
                    // all after `stop`.
                    Some(rest) => pondered = Some(search(&format!("go{rest}"))),
                    None => searches.push(search(line)),
                }
            }
            Some("ponderhit") => searches.extend(pondered.take()),
            Some("stop") => pondered = None,
            _ => {}
        }
    }
    searches
}

/// Time that the harness waited for the answer to a `go` line.
fn deadline(go: &str, plan: &Plan, color: Color) -> Duration {
    let clock = if color == Color::White { "wtime" } else { "btime" };
    let value = |key: &str| {
        let mut words = go.split_ascii_whitespace().skip_while(|word| *word != key).skip(1);
        words.next().and_then(|word| word.parse().ok()).map(Duration::from_millis)
    };
    let time = [value(clock), value("movetime")].into_iter().flatten().min();
    // The largest margin of all players, so that the replayed one gets at least its own.
    let own = plan.players.iter().filter_map(|player| player.margin).max();
    let margin = own.unwrap_or_default().max(plan.rules.margin);
    time.map_or(plan.rules.stall_timeout, |time| time.saturating_add(margin))
}

/// Searches of one side, as the referee derives them from the recorded game.
fn of_record(record: &GameRecord, plan: &Plan, color: Color) -> Result<Vec<RepeatedSearch>> {
    let limit = |id: PlayerId| plan.players.get(usize::from(id.0)).map(|player| player.limit).unwrap_or_default();
    let limit = |id: PlayerId| limit(id).scaled(record.scale);
    let setup = GameSetup {
        opening: record.opening.clone(),
        limits: ByColor { white: limit(record.players.white), black: limit(record.players.black) },
        margins: ByColor { white: plan.margin(record.players.white), black: plan.margin(record.players.black) },
        rules: plan.rules.clone(),
    };
    let (mut game, mut step) = Game::new(setup)?;
    let mut searches = Vec::new();
    let mut played = record.moves.iter();
    let faulty = record.ending.termination.is_fault();
    while let Step::Think(request) = step {
        let next = played.next();
        // A search follows the last move only if the game ended by a side's fault.
        if request.color == color && (next.is_some() || faulty) {
            let mut lines = [game.position_line(), b"\n"].concat();
            worker::go(&request).write(&mut lines);
            let lines = String::from_utf8(lines).context("a position line is plain text")?;
            searches.push(RepeatedSearch { lines, deadline: request.deadline });
        }
        let Some(ply) = next else { break };
        step = game.handle(Input::Move { text: &ply.uci, elapsed: ply.elapsed, info: ply.info });
    }
    Ok(searches)
}

/// Starts the engine and repeats the searches until one fails. Returns the outcome and the UCI
/// traffic. An engine that runs but does not get ready has failed; one that cannot be started is an
/// error.
async fn replay(
    config: EngineConfig,
    variant: Variant,
    searches: &[RepeatedSearch],
) -> Result<(ReplayOutcome, String)> {
    let mut engine = match Engine::start(&config, &[]).await {
        Ok(engine) => engine,
        Err(error @ (StartError::Exited { .. } | StartError::Silent { .. })) => {
            return Ok((ReplayOutcome::Failed(error.to_string()), String::new()));
        }
        Err(error) => return Err(error.into()),
    };
    let mut came = match engine.new_game().await {
        Ok(()) => ReplayOutcome::Through,
        Err(fault) => ReplayOutcome::Failed(fault.to_string()),
    };
    for search in searches {
        if matches!(came, ReplayOutcome::Failed(_)) {
            break;
        }
        came = match engine.go_again(search.lines.as_bytes(), Some(search.deadline)).await {
            SearchOutcome::BestMove { text, .. } => judge(&search.lines, &text, variant),
            SearchOutcome::Overrun { elapsed, .. } => {
                ReplayOutcome::Failed(format!("no bestmove within {:.3} s", elapsed.as_secs_f64()))
            }
            SearchOutcome::Exited { status, .. } => ReplayOutcome::Failed(status),
        };
    }
    let evidence = engine.evidence();
    let mut said = evidence.transcript;
    for line in evidence.stderr.lines() {
        said.push_str("      stderr ! ");
        said.extend(line.chars().map(|c| if c.is_control() { ' ' } else { c }));
        said.push('\n');
    }
    engine.quit().await;
    Ok((came, said))
}

/// Outcome of an answer: a failure if the move is illegal in its position.
fn judge(lines: &str, best: &str, variant: Variant) -> ReplayOutcome {
    match position(lines, variant).map(|mut position| position.play(best)) {
        Some(Err(error)) => ReplayOutcome::Failed(error.to_string()),
        Some(Ok(_)) | None => ReplayOutcome::Through,
    }
}

/// Position of a `position` line; `None` if it cannot be parsed.
fn position(lines: &str, variant: Variant) -> Option<Position> {
    let line = lines.lines().next()?.strip_prefix("position ")?;
    let (start, moves) = line.split_once(" moves").unwrap_or((line, ""));
    let fen = start.strip_prefix("fen ").unwrap_or(START_FEN);
    let mut position = Position::from_fen(fen, variant).ok()?;
    moves.split_ascii_whitespace().try_for_each(|uci| position.advance_by(uci)).ok()?;
    Some(position)
}
