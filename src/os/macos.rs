//! macOS, and Unix systems that are not Linux. They neither end a process with its parent (a
//! watchdog does), nor show the descendants and the scheduling of other processes, nor bind threads
//! to CPUs.

use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) use super::watchdog::Watchdog;

/// Does nothing: there is no such signal, and no CPU can be chosen. The watchdog of its
/// [`ProcessGroup`](super::ProcessGroup) ends the process.
pub(crate) fn bind_to_thread(_: &mut Command, _: &[usize]) -> Result<(), usize> {
    Ok(())
}

/// Unknown: none are taken as ignored.
pub(super) fn ignored_signals() -> u64 {
    0
}

/// Unknown.
pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
    None
}

/// Time of day, because the clocks that include suspends differ between these systems.
pub(crate) fn since_boot() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Scheduler's figures of one thread; there are none.
#[derive(Debug)]
pub(crate) enum ThreadFigures {}

impl ThreadFigures {
    pub(crate) fn of_process(_: u32) -> impl Iterator<Item = (u32, Self)> {
        std::iter::empty()
    }

    pub(crate) fn of_this_thread() -> Option<Self> {
        None
    }

    pub(crate) fn read(&self) -> Option<(Duration, Option<Duration>)> {
        match *self {}
    }
}
