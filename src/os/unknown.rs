//! Promises that only Linux keeps. Elsewhere each of these is empty or "unknown", never a guess.

use std::io;
#[cfg(feature = "cluster")]
use std::path::PathBuf;
use std::time::Duration;

/// Process that is held; there are none.
#[derive(Debug)]
pub(crate) enum ProcessHandle {}

impl ProcessHandle {
    pub(crate) fn kill(&self) -> bool {
        match *self {}
    }
}

/// None: only Linux gives a process the orphans among its descendants. The job of a Windows
/// [`ProcessGroup`](super::ProcessGroup) holds them.
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

/// The running program's file, which may have been replaced since.
///
/// # Errors
/// Returns the system's error if the file is unknown.
#[cfg(feature = "cluster")]
pub(crate) fn own_program() -> io::Result<PathBuf> {
    std::env::current_exe()
}

/// Binding of this thread to CPUs, which has no effect. On Windows a
/// [`ProcessGroup`](super::ProcessGroup) binds.
#[derive(Debug)]
pub(crate) struct CpuBinding;

impl CpuBinding {
    pub(crate) fn new(_: &[usize]) -> io::Result<Self> {
        Ok(Self)
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
