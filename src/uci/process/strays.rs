//! Descendants of an engine that left its process group, as daemons do (`setsid`). Signals to the
//! group do not reach them. They are identified in two ways:
//!
//! - By their ancestors. On Linux each engine adopts the orphans among its descendants (it is a
//!   child subreaper), so all of them are below it while it lives. They are looked up before `quit`
//!   and before the engine is killed, and held by process descriptors because ids may be reused.
//! - By a mark in the engine's environment, which its descendants inherit. It also finds those
//!   whose ancestors have ended.
//!
//! Processes of other games, and those that are not below an engine, are never killed. Two kinds
//! are not found: a process that left the group and cleared its environment, if its engine ends
//! without `quit`; and any process, if the harness itself is killed. The harness is no subreaper,
//! because it could not distinguish the orphans of compilers and of its shell from those of a dead
//! engine.

use std::hash::{BuildHasher as _, Hasher as _};

/// Variable that holds the mark.
const NAME: &str = "QUINTAIN_ENGINE";

/// Descendants of one engine, to be killed with it.
#[derive(Debug)]
pub(super) struct Strays {
    /// Unique text in their environment.
    mark: String,
    #[cfg(target_os = "linux")]
    held: Vec<linux::ProcessHandle>,
}

impl Strays {
    /// Creates the mark of an engine that is about to start.
    pub(super) fn new() -> Self {
        let hasher = std::hash::RandomState::new().build_hasher();
        Self {
            mark: format!("{}-{:016x}", std::process::id(), hasher.finish()),
            #[cfg(target_os = "linux")]
            held: Vec::new(),
        }
    }

    /// Name and value of the variable with the mark.
    pub(super) fn variable(&self) -> (&'static str, &str) {
        (NAME, &self.mark)
    }

    /// Finds the descendants of the live engine `pid` and holds them for [`Strays::kill_all`].
    #[cfg(target_os = "linux")]
    pub(super) fn hold(&mut self, pid: u32) {
        self.held = linux::descendants(pid);
    }

    /// Kills all processes that are held or marked.
    #[cfg(target_os = "linux")]
    pub(super) fn kill_all(&mut self) {
        // Repeated because a process may have started another meanwhile. Bounded because one may do
        // nothing else.
        const ROUNDS: usize = 8;
        for held in self.held.drain(..) {
            held.kill();
        }
        let entry = format!("{NAME}={}\0", self.mark);
        for _ in 0..ROUNDS {
            if linux::kill_marked(entry.as_bytes()) == 0 {
                break;
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "only Linux shows the parents of other processes")]
    pub(super) fn hold(&mut self, _pid: u32) {}

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "only Linux shows the environment of other processes")]
    pub(super) fn kill_all(&mut self) {}
}

#[cfg(target_os = "linux")]
mod linux {
    use std::collections::BTreeMap;
    use std::os::fd::OwnedFd;

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// Process held by a descriptor, because its id may be reused.
    #[derive(Debug)]
    pub(super) struct ProcessHandle(OwnedFd);

    impl ProcessHandle {
        fn open(pid: i32) -> Option<Self> {
            pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok().map(Self)
        }

        /// Returns false if the process is gone or belongs to another user.
        pub(super) fn kill(&self) -> bool {
            pidfd_send_signal(&self.0, Signal::KILL).is_ok()
        }
    }

    fn pids() -> impl Iterator<Item = i32> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.filter_map(|process| process.file_name().to_str()?.parse().ok())
    }

    /// Returns the processes below `root`, each held.
    pub(super) fn descendants(root: u32) -> Vec<ProcessHandle> {
        let Ok(root) = i32::try_from(root) else { return Vec::new() };
        let parents: BTreeMap<i32, i32> = pids().filter_map(|pid| Some((pid, parent(pid)?))).collect();
        let is_below = |pid: i32| {
            let line = std::iter::successors(parents.get(&pid), |parent| parents.get(parent));
            // Bounded, because the processes may have changed while they were read.
            line.take(parents.len()).any(|parent| *parent == root)
        };
        let below = parents.iter().filter(|(pid, _)| is_below(**pid));
        // Checked again once it is held: a newer process with the same id has another parent.
        below.filter_map(|(pid, first)| ProcessHandle::open(*pid).filter(|_| parent(*pid) == Some(*first))).collect()
    }

    /// Returns a process's parent: the second word after its name in brackets.
    fn parent(pid: i32) -> Option<i32> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
        std::str::from_utf8(&stat[name_ends + 1..]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    /// Kills the processes whose environment holds `entry` and returns their number. A process that
    /// is exiting shows no environment.
    pub(super) fn kill_marked(entry: &[u8]) -> usize {
        pids().filter(|pid| is_marked(*pid, entry) && kill(*pid, entry)).count()
    }

    /// Returns false for processes of other users, because their environment cannot be read.
    fn is_marked(pid: i32, entry: &[u8]) -> bool {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        // The mark is at the start of the environment or after the end of another variable.
        environment.starts_with(entry)
            || environment.windows(entry.len() + 1).any(|part| part.first() == Some(&0) && part.get(1..) == Some(entry))
    }

    /// Checks again once the process is held, because its id may have been reused.
    fn kill(pid: i32, entry: &[u8]) -> bool {
        ProcessHandle::open(pid).is_some_and(|held| is_marked(pid, entry) && held.kill())
    }
}
