//! One short search of each player before the first game. It checks that the engine ends a search
//! under the plan's own limit.
//!
//! An engine that ignores `go nodes` would lose its first game by a stall a minute later, and that
//! would count for its opponent's Elo. The trial asks for less than the plan, so it takes a few
//! milliseconds, and it belongs to no game.
//!
//! The search has the plan's limit, capped at one second of clock, 1,000 nodes or 4 plies. If it
//! does not end, or if it ends far beyond the limit, the run is refused with exit code 2 and a
//! remedy. A first wait of two seconds is not a proof, so it is repeated up to the plan's own wait.
//! A limit that is missing in the engine's registry entry (`limits`) is refused without a search.
//! Files that string options name are checked before (`uci::process`). Failures reported up to the
//! first `bestmove` are shown once and kept in `plan.toml` and the summary.

use std::time::Duration;

use thiserror::Error;

use crate::game::stall;
use crate::game::{Game, GameSetup, Request, Step};
use crate::plan::time_control::{Limit, TimeControl};
use crate::plan::{Plan, Player};
use crate::record::{ByColor, Opening, SearchInfo};
use crate::schedule::{engine_config, worker};
use crate::text::printable;
use crate::tournament::limit_use;
use crate::uci::process::{Engine, SearchOutcome, StartError, StartFault};

/// Caps of a trial's limit. An engine may count nodes in steps of some thousands, which
/// `game::stall` allows for.
const CLOCK: Duration = Duration::from_secs(1);
const INCREMENT: Duration = Duration::from_millis(100);
const MOVETIME: Duration = Duration::from_millis(100);
const NODES: u64 = 1_000;
const DEPTH: u32 = 4;

/// First waits for an answer. It is due in a fraction of them, and the output by then may show that
/// the engine does not obey.
const FIRST_WAITS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(8)];

/// Bounds of the last wait, which is the plan's own wait otherwise. A slow engine on a busy machine
/// is thus not refused.
const LAST_WAIT: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(60)];

/// End of the message on an engine that does not obey its limit, for commands with a registry.
pub(crate) const REGISTRY_REMEDY: &str =
    " (an engine's entry in configs/engines.toml can list those that it obeys: limits = [\"clock\", \"movetime\"])";

/// Error of a player's trial: one line, with the remedy.
#[derive(Debug, Error)]
pub enum TrialError {
    /// The engine does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The engine does not get ready for a game.
    #[error("engine {name}: {fault}")]
    Unready {
        /// Player's name.
        name: String,
        /// Reason.
        fault: StartFault,
    },
    /// The process ended during the search.
    #[error("engine {name}: {status} in its trial search, `{go}`{}{}", said(complaints), said(stderr))]
    Gone {
        /// Player's name.
        name: String,
        /// Description of its end.
        status: String,
        /// The `go` command.
        go: String,
        /// Failures that the engine reported.
        complaints: String,
        /// Last line of its standard error.
        stderr: String,
    },
    /// The search does not end as the limit demands.
    #[error(
        "engine {name}: it does not obey `{go}`: {why}; give it another limit ({remedy}), or leave it out{REGISTRY_REMEDY}"
    )]
    Disobeys {
        /// Player's name.
        name: String,
        /// The `go` command.
        go: String,
        /// Evidence.
        why: String,
        /// Kinds of limit to try instead.
        remedy: &'static str,
    },
}

fn said(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("; it said: {text}") }
}

/// Returns kinds of limit that the plan does not use yet.
fn remedy(limit: Limit) -> &'static str {
    if limit.is_timed() { "--nodes or --depth" } else { "--tc or --movetime" }
}

/// Starts a player's engine and runs one search from an opening. Returns the failures that it
/// reported, and doubts about files that its options name and about its use of the limit.
///
/// # Errors
/// Returns an error if the engine does not start, ends, or does not obey the plan's limit.
pub async fn run(plan: &Plan, player: &Player, opening: &Opening) -> Result<Vec<String>, TrialError> {
    let mut engine = Engine::start(&engine_config(plan, player, None), &[]).await?;
    let searched = match first_request(plan, player, opening) {
        Some((game, request)) => search(&mut engine, plan, player, &game, &request).await,
        // The referee reports the fault of the opening later, in the run.
        None => ready(&mut engine, player).await.map(|()| None),
    };
    let mut complaints = engine.complaints().to_vec();
    engine.quit().await;
    complaints.extend(searched?);
    Ok(complaints)
}

/// Returns the first request of a game, with a limit of at most the plan's; `None` if the opening
/// has no move to search.
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

/// Returns a limit of the same kind, capped for the trial.
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

/// Returns a doubt if a search ended beyond its limit.
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

/// Runs the search and returns a doubt about the engine's use of the limit.
async fn search(
    engine: &mut Engine,
    plan: &Plan,
    player: &Player,
    game: &Game,
    request: &Request,
) -> Result<Option<String>, TrialError> {
    let go = worker::go(request);
    let disobeys = |why| {
        Err(TrialError::Disobeys { name: player.name.clone(), go: go.to_string(), why, remedy: remedy(player.limit) })
    };
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
                    go: go.to_string(),
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

/// Returns the wait for a first move in a game of the plan.
fn in_game(plan: &Plan, player: &Player) -> Duration {
    let Limit { clock, movetime, .. } = player.limit;
    let clock = clock.map(|clock| clock.base.saturating_add(clock.increment));
    clock.or(movetime).unwrap_or(plan.rules.stall_timeout)
}
