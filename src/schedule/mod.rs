//! Scheduling of pairs on slots: one event loop owns the run, and workers play pairs.
//!
//! Reading order: `trial` (one search of each player before the run), `dispatcher` (the loop), `worker`
//! (one slot). `affinity` and `capacity` say how many games at once the CPUs and the system's limits
//! carry.

pub mod affinity;
pub mod capacity;
mod complaints;
pub mod dispatcher;
mod program;
pub mod trial;
mod worker;

use std::path::PathBuf;

use crate::chess::Variant;
use crate::game::Request;
use crate::plan::{Plan, Player};
use crate::uci::Go;
use crate::uci::process::{EngineConfig, StderrSink};

/// The referee's request as the `go` command that a worker sends.
#[must_use]
pub fn go_command(request: &Request) -> Go {
    worker::go(request)
}

/// Bytes of an engine's error output that are kept.
const STDERR_CAP: u64 = 1 << 20;

/// How to start a player's engine, with its error output in the file `stderr` (`None` to keep only the end of it).
#[must_use]
pub fn engine_config(plan: &Plan, player: &Player, stderr: Option<PathBuf>) -> EngineConfig {
    let mut options = player.options.clone();
    if plan.rules.variant == Variant::Chess960 {
        options.push(("UCI_Chess960".to_owned(), "true".to_owned()));
    }
    EngineConfig {
        name: player.name.clone(),
        program: player.program.clone(),
        args: player.args.clone(),
        dir: player.dir.clone(),
        env: Vec::new(),
        options,
        ponder: plan.rules.ponder,
        stderr: StderrSink { path: stderr, cap_bytes: STDERR_CAP },
        timeouts: plan.timeouts,
        margin: player.margin.unwrap_or(plan.rules.margin),
    }
}
