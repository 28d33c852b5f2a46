//! Descendants of an engine that left its process group, as daemons do (`setsid`): the group's
//! signal does not reach them. They are told from all other processes in two ways.
//!
//! - By their parents: on Linux each engine adopts the orphans among its own descendants (a child
//!   subreaper), so that all of them hang below it while it lives. They are looked for before
//!   `quit` and before the engine is killed, and held by descriptors that no other process can
//!   take the place of.
//! - By a mark in the engine's environment, which its descendants inherit, whoever their parent is
//!   by the time they are looked for.
//!
//! No process of another game, and none that is no engine's, is taken for one of them. Two kinds
//! are not found: one that cleared its environment and left the group, if its engine ends without
//! being asked to; and any, if the harness itself is killed. The harness is no subreaper: orphans
//! of compilers and of whatever its shell had started would be among its children then, and nothing
//! would tell them from those of a dead engine.

use std::hash::{BuildHasher as _, Hasher as _};

/// The variable that holds the mark.
const NAME: &str = "QUINTAIN_ENGINE";

/// Descendants of one engine.
#[derive(Debug)]
pub(super) struct Strays {
    /// A text in their environment that no other process has.
    mark: String,
    #[cfg(target_os = "linux")]
    held: Vec<linux::Held>,
}

impl Strays {
    /// Descendants of an engine that is about to start.
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

    /// Holds the descendants of the engine `pid`, which lives, for [`Strays::kill_all`].
    #[cfg(target_os = "linux")]
    pub(super) fn hold(&mut self, pid: u32) {
        self.held = linux::descendants(pid);
    }

    /// Kills every process that is held or has the mark.
    #[cfg(target_os = "linux")]
    pub(super) fn kill_all(&mut self) {
        // Again, because one may have started another meanwhile; bounded, because one may do nothing else.
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

    /// A process by a descriptor: its number may be another's later.
    #[derive(Debug)]
    pub(super) struct Held(OwnedFd);

    impl Held {
        fn open(pid: i32) -> Option<Self> {
            pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok().map(Self)
        }

        /// False if it is gone, or another user's.
        pub(super) fn kill(&self) -> bool {
            pidfd_send_signal(&self.0, Signal::KILL).is_ok()
        }
    }

    fn pids() -> impl Iterator<Item = i32> {
        let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        processes.filter_map(|process| process.file_name().to_str()?.parse().ok())
    }

    /// Processes below `root`, each held.
    pub(super) fn descendants(root: u32) -> Vec<Held> {
        let Ok(root) = i32::try_from(root) else { return Vec::new() };
        let parents: BTreeMap<i32, i32> = pids().filter_map(|pid| Some((pid, parent(pid)?))).collect();
        let is_below = |pid: i32| {
            let line = std::iter::successors(parents.get(&pid), |parent| parents.get(parent));
            // No line is longer than there are processes, whatever was read while they changed.
            line.take(parents.len()).any(|parent| *parent == root)
        };
        let below = parents.iter().filter(|(pid, _)| is_below(**pid));
        // Looked at again once it is held: the number may be a newer process's by then, and that
        // has another parent.
        below.filter_map(|(pid, first)| Held::open(*pid).filter(|_| parent(*pid) == Some(*first))).collect()
    }

    /// Parent of a process, after its name in brackets and its state.
    fn parent(pid: i32) -> Option<i32> {
        let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
        std::str::from_utf8(&stat[name_ends + 1..]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    /// Kills the processes whose environment holds `entry`, and counts them. One that is being
    /// ended shows no environment.
    pub(super) fn kill_marked(entry: &[u8]) -> usize {
        pids().filter(|pid| is_marked(*pid, entry) && kill(*pid, entry)).count()
    }

    /// False for processes of other users, whose environment nobody else may read.
    fn is_marked(pid: i32, entry: &[u8]) -> bool {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        // The mark opens the environment or follows the end of another variable.
        environment.starts_with(entry)
            || environment.windows(entry.len() + 1).any(|part| part.first() == Some(&0) && part.get(1..) == Some(entry))
    }

    /// Looks again once it holds the process, whose number may be another's by now.
    fn kill(pid: i32, entry: &[u8]) -> bool {
        Held::open(pid).is_some_and(|held| is_marked(pid, entry) && held.kill())
    }
}
