//! Scheduling of pairs on slots: one event loop owns the run, and workers play pairs.
//!
//! Reading order: `trial` (one search of each player before the run), `dispatcher` (the loop),
//! `worker` (one slot). `affinity` and `capacity` limit the number of concurrent games by the CPUs
//! and by the system.
//!
//! # Slots
//!
//! Each slot is an operating-system thread with its own single-threaded runtime. Measured by
//! `cargo bench --bench overhead`, in us a ply with an instant engine, all on one CPU / free. A
//! blocking driver without a deadline takes 9.2 / 11.1, a slot's own runtime 10.7 / 11.2, a task on
//! a runtime of two shared threads 11.0 / 11.8. The means are not the reason for the choice: on
//! shared threads one game's work would delay another's timestamp. The journal's `fdatasync`, the
//! statistics and the screen live on the main thread, where they can delay no stamp.
//!
//! Workers read their orders (`tournament::events::Orders`: stop, paused, slots) before each
//! game. A slot that retires between the games of a pair hands the rest back. That goes to the
//! next free slot first, because no later pair counts before it.
//!
//! # Starts
//!
//! Before and after each start a slot compares the program with the plan's SHA-256 (`program`;
//! the bytes are read only if the file was touched). A changed program, and one that the system
//! does not start, stops the run, resumable.
//!
//! No game is lost before its first `go`. Engines take turns to start, as many at once as there are
//! CPUs. The limits of a start leave out the time for which the process waited for a CPU, up to
//! twenty times the limit (`uci::process`). An engine that does not get ready, or for which the
//! system has no process or descriptor, is started three times. Then its slot gives up and hands
//! its pair back, and the run continues with half as many games at once. If it was the only slot,
//! the run stops, resumable.
//!
//! The one exception is a tuning, whose pairs have values of their own (`worker/ready`). An engine
//! that gets ready, but ends or stays silent once these are set, loses the game by a crash or a
//! stall.
//!
//! # Concurrent games
//!
//! They are bounded before a run starts and at each `ctl concurrency`: by one for each CPU under a
//! clock, by 64 without. The open files, processes and threads that the system still allows bound
//! them too. The soft limit on open files is raised to the hard one first. A slot without a clock
//! holds 12 files: four of its event loop, and of each engine three pipes and its process. An
//! engine that writes to its standard error adds its log, a clock adds the figures of each thread.
//! A slot keeps four engines running at most.
//!
//! # Signals
//!
//! Ctrl-C lets running games finish, a second one stops at once, as SIGTERM and SIGHUP do. On
//! Linux a signal that the process was started to ignore stays ignored: `nohup quintain sprt ...
//! &` outlives its terminal. Tournaments under another runner's name heed SIGINT even then, as that
//! runner does.

pub mod affinity;
pub mod capacity;
mod complaints;
pub mod dispatcher;
mod program;
pub mod remote;
pub mod remote_logs;
pub mod trial;
pub(crate) mod worker;

use std::path::PathBuf;

use crate::plan::{Plan, Player};
use crate::tournament::events::SlotId;
use crate::uci::process::{EngineConfig, StderrSink};

/// Maximum number of bytes kept of an engine's standard error.
const STDERR_CAP: u64 = 1 << 20;

/// Name of the file of an engine's standard error. `worker` plays if it is not the run itself.
pub(crate) fn stderr_file(player: &Player, worker: Option<&str>, slot: SlotId) -> String {
    let worker = worker.map(|name| format!("{name}-")).unwrap_or_default();
    format!("{}-{worker}slot{}.log", player.file_name(), slot.0 + 1)
}

/// Returns the configuration of a player's engine. `stderr` is the file of its standard error;
/// `None` keeps only the end of it in memory.
#[must_use]
pub fn engine_config(plan: &Plan, player: &Player, stderr: Option<PathBuf>) -> EngineConfig {
    let mut options = player.options.clone();
    plan.rules.variant.set_option(&mut options);
    EngineConfig {
        name: player.name.clone(),
        program: player.program.clone(),
        args: player.args.clone(),
        dir: player.dir.clone(),
        env: Vec::new(),
        confinement: None,
        options,
        ponder: plan.ponders(player),
        stderr: StderrSink { path: stderr, cap_bytes: STDERR_CAP },
        timeouts: plan.timeouts,
        margin: player.margin.unwrap_or(plan.rules.margin),
    }
}
