//! One short search of each player before the first game: does its engine come to an end under the
//! plan's own limit?
//!
//! An engine that does not know `go nodes` loses its first game by a stall a minute later, and the
//! Elo of its opponent counts that. The trial asks for less than the plan does, so that it costs
//! some milliseconds, and is charged to no game.
//!
//! The search has the plan's limit, cut to a second of clock, 1,000 nodes or 4 plies. The run is
//! refused with exit code 2 and a remedy if it does not end, or ends after far more nodes than
//! asked. A first wait of two seconds is no proof: it is repeated, up to that of the plan. A
//! limit that an engine's registry entry (`limits`) leaves out is refused without a search. Files
//! that string options name are looked for before (`uci::process`), and failure remarks up to the
//! first `bestmove` are told once and kept in `plan.toml` and the summary.

use std::time::Duration;

use thiserror::Error;

use crate::game::stall;
use crate::game::{Game, GameSetup, Request, Step};
use crate::plan::time_control::{Limit, TimeControl};
use crate::plan::{Plan, Player};
use crate::record::{ByColor, Opening, SearchInfo};
use crate::schedule::{engine_config, go_command};
use crate::text::printable;
use crate::tournament::limit_use;
use crate::uci::process::{Engine, Fault, SearchOutcome, StartError};

/// The most that a trial asks for. An engine may count nodes in steps of some thousands, which
/// `game::stall` allows for.
const CLOCK: Duration = Duration::from_secs(1);
const INCREMENT: Duration = Duration::from_millis(100);
const MOVETIME: Duration = Duration::from_millis(100);
const NODES: u64 = 1_000;
const DEPTH: u32 = 4;

/// The first waits for an answer that is due in a fraction of them. What an engine said by then may
/// show that it does not obey.
const FIRST_WAITS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(8)];

/// Bounds of the last wait, which is else as long as the plan waits in a game: a slow engine on a
/// busy machine is not refused.
const LAST_WAIT: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(60)];

/// A player that cannot play its first move. One line each, with the remedy.
#[derive(Debug, Error)]
pub enum TrialError {
    /// Its engine does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Its engine does not get ready for a game.
    #[error("engine {name}: {fault}")]
    Unready {
        /// The player.
        name: String,
        /// The reason.
        fault: Fault,
    },
    /// Its process ended in the search.
    #[error("engine {name}: {status} in its trial search, `{go}`{}{}", said(complaints), said(stderr))]
    Gone {
        /// The player.
        name: String,
        /// How it ended.
        status: String,
        /// The search.
        go: String,
        /// Its remarks on failures.
        complaints: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// It does not end a search where the plan's limit says so.
    #[error(
        "engine {name}: it does not obey `{go}`: {why}; give it another limit ({}), or leave it out (an engine's entry in \
         configs/engines.toml may say which it obeys: limits = [\"clock\", \"movetime\"])",
        remedy
    )]
    Disobeys {
        /// The player.
        name: String,
        /// The search.
        go: String,
        /// The evidence.
        why: String,
        /// The kinds of limit to try instead.
        remedy: &'static str,
    },
}

fn said(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("; it said: {text}") }
}

/// The kinds of limit that a plan does not use yet.
fn remedy(limit: Limit) -> &'static str {
    if limit.is_timed() { "--nodes or --depth" } else { "--tc or --movetime" }
}

/// Starts a player's engine and has it search once from an opening. Returns what it said of
/// failures, and doubts about the files that its options name and about its use of the limit.
///
/// # Errors
/// If it does not start, ends, or does not obey the plan's limit.
pub async fn run(plan: &Plan, player: &Player, opening: &Opening) -> Result<Vec<String>, TrialError> {
    let mut engine = Engine::start(&engine_config(plan, player, None), &[]).await?;
    let searched = match first_request(plan, player, opening) {
        Some((game, request)) => search(&mut engine, plan, player, &game, &request).await,
        // The referee says what is wrong with the opening, once the run asks it.
        None => ready(&mut engine, player).await.map(|()| None),
    };
    let mut complaints = engine.complaints().to_vec();
    engine.quit().await;
    complaints.extend(searched?);
    Ok(complaints)
}

/// The first search of a game, under the plan's limit or less. `None` if the opening leaves nothing
/// to search.
fn first_request(plan: &Plan, player: &Player, opening: &Opening) -> Option<(Game, Request)> {
    let limit = shortened(player.limit);
    let margin = player.margin.unwrap_or(plan.rules.margin);
    let setup = GameSetup {
        opening: opening.clone(),
        limits: ByColor { white: limit, black: limit },
        margins: ByColor { white: margin, black: margin },
        rules: plan.rules.clone(),
    };
    match Game::new(setup).ok()? {
        (game, Step::Think(request)) => Some((game, request)),
        (_, Step::Over(_)) => None,
    }
}

/// A limit of the same kind that asks for no more than a trial may cost.
fn shortened(limit: Limit) -> Limit {
    Limit {
        clock: limit.clock.map(|clock| TimeControl {
            base: clock.base.min(CLOCK),
            increment: clock.increment.min(INCREMENT),
            ..clock
        }),
        movetime: limit.movetime.map(|time| time.min(MOVETIME)),
        nodes: limit.nodes.map(|nodes| nodes.min(NODES)),
        depth: limit.depth.map(|depth| depth.min(DEPTH)),
    }
}

async fn ready(engine: &mut Engine, player: &Player) -> Result<(), TrialError> {
    engine.new_game().await.map_err(|fault| TrialError::Unready { name: player.name.clone(), fault })
}

/// Doubt about an answer of an engine that went beyond the limit but came to an end.
fn doubt(request: &Request, info: &SearchInfo, elapsed: Duration) -> Option<String> {
    match (request.nodes.zip(info.nodes), request.depth.zip(info.depth)) {
        (Some((limit, nodes)), _)
            if limit_use::is_beyond(nodes as f64, limit) && stall::is_plausible(nodes, elapsed) =>
        {
            Some(format!("it searched {nodes} nodes after `go nodes {limit}`"))
        }
        (_, Some((limit, depth))) if depth > limit => {
            Some(format!("it came to depth {depth} after `go depth {limit}`"))
        }
        _ => None,
    }
}

/// Has the engine search. Returns a doubt about its use of the limit.
async fn search(
    engine: &mut Engine,
    plan: &Plan,
    player: &Player,
    game: &Game,
    request: &Request,
) -> Result<Option<String>, TrialError> {
    let go = go_command(request);
    let shown = || {
        let mut line = Vec::new();
        go.write(&mut line);
        String::from_utf8_lossy(&line).trim_end().to_owned()
    };
    let disobeys =
        |why| Err(TrialError::Disobeys { name: player.name.clone(), go: shown(), why, remedy: remedy(player.limit) });
    let longest = in_game(plan, player).clamp(LAST_WAIT[0], LAST_WAIT[1]);
    for wait in FIRST_WAITS.into_iter().chain([longest]) {
        ready(engine, player).await?;
        match engine.go(game.position_line(), &go, Some(wait)).await {
            SearchOutcome::BestMove { info, elapsed, .. } => {
                return match stall::disobedience(request, &info, elapsed) {
                    Some(why) => disobeys(why),
                    None => Ok(doubt(request, &info, elapsed)),
                };
            }
            SearchOutcome::Exited { status, .. } => {
                return Err(TrialError::Gone {
                    name: player.name.clone(),
                    status,
                    go: shown(),
                    complaints: engine.complaints().join("; "),
                    stderr: printable(engine.stderr_tail().lines().last().unwrap_or_default()),
                });
            }
            SearchOutcome::Overrun { elapsed, late, .. } => {
                if let Some(why) = stall::disobedience(request, engine.info(), elapsed) {
                    return disobeys(why);
                }
                if wait >= longest {
                    return disobeys(format!("no answer within {} s", elapsed.as_secs()));
                }
                if late.is_none() {
                    engine.restart().await?;
                }
            }
        }
    }
    Ok(None)
}

/// The wait for a first move in a game of the plan.
fn in_game(plan: &Plan, player: &Player) -> Duration {
    let Limit { clock, movetime, .. } = player.limit;
    let clock = clock.map(|clock| clock.base.saturating_add(clock.increment));
    clock.or(movetime).unwrap_or(plan.rules.stall_timeout)
}
