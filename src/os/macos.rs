//! macOS, and Unix systems that are not Linux. They neither end a process with its parent (a
//! watchdog does), nor show the descendants and the scheduling of other processes, nor bind threads
//! to CPUs.

use std::io;
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub(super) use super::watchdog::Watchdog;

/// Does nothing: there is no such signal, and no CPU can be chosen. The watchdog of its
/// [`ProcessGroup`](super::ProcessGroup) ends the process.
pub(crate) fn bind_to_thread(_: &mut Command, _: &[usize]) -> Result<(), usize> {
    Ok(())
}

/// Process that is held; there are none.
#[derive(Debug)]
pub(crate) enum ProcessHandle {}

impl ProcessHandle {
    pub(crate) fn kill(&self) -> bool {
        match *self {}
    }
}

/// None: only Linux gives a process the orphans among its descendants.
pub(crate) fn descendants(_: u32) -> Vec<ProcessHandle> {
    Vec::new()
}

/// None: the environment of other processes is not shown.
pub(crate) fn kill_marked(_: &str, _: &str) -> usize {
    0
}

/// Unknown.
#[cfg(feature = "cluster")]
pub(crate) fn command_line(_: u32) -> Option<Vec<Vec<u8>>> {
    None
}

/// Unknown: none are taken as ignored.
pub(super) fn ignored_signals() -> u64 {
    0
}

/// Unknown.
pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
    None
}

/// Binding of this thread to CPUs, which has no effect.
#[derive(Debug)]
pub(crate) struct CpuBinding;

impl CpuBinding {
    pub(crate) fn new(_: &[usize]) -> io::Result<Self> {
        Ok(Self)
    }
}

/// Time of day, because the clocks that include suspends differ between these systems.
pub(crate) fn since_boot() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// Scheduler's figures of one thread; there are none.
#[derive(Debug)]
pub(crate) enum ThreadFigures {}

impl ThreadFigures {
    pub(crate) fn of_process(_: u32) -> impl Iterator<Item = Self> {
        std::iter::empty()
    }

    pub(crate) fn of_this_thread() -> Option<Self> {
        None
    }

    pub(crate) fn read(&self) -> Option<(Duration, Duration)> {
        match *self {}
    }
}

/// Unknown.
pub(crate) fn stolen() -> Option<Duration> {
    None
}

/// Unknown.
pub(crate) fn open_files() -> u64 {
    0
}

/// Unknown.
pub(crate) fn free_tasks() -> Option<u64> {
    None
}

/// Counters of the processor; there are none.
pub(crate) struct Counters;

impl Counters {
    pub(crate) fn open() -> Self {
        Self
    }

    pub(crate) fn read(self) -> (Option<u64>, Option<u64>) {
        (None, None)
    }
}
