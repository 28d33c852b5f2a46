//! Descendants of an engine that left its process group, as daemons do (`setsid`): the group's
//! signal does not reach them.
//!
//! Every engine is started with a mark in its environment, which its descendants inherit, whoever
//! their parent is by the time they are looked for. So no process of another game, and none that is
//! no engine's, is taken for one of them. A descendant that clears its environment and leaves the
//! group is not found, and none is ended if the harness itself is killed.

use std::hash::{BuildHasher as _, Hasher as _};

/// The variable that holds the mark.
const NAME: &str = "QUINTAIN_ENGINE";

/// A text that tells the descendants of one engine from all other processes.
#[derive(Debug)]
pub(super) struct Mark(String);

impl Mark {
    /// A mark that no other engine has.
    pub(super) fn new() -> Self {
        let hasher = std::hash::RandomState::new().build_hasher();
        Self(format!("{}-{:016x}", std::process::id(), hasher.finish()))
    }

    /// The variable's name and value.
    pub(super) fn variable(&self) -> (&'static str, &str) {
        (NAME, &self.0)
    }

    /// Kills every process that has the mark.
    #[cfg(target_os = "linux")]
    pub(super) fn kill_all(&self) {
        // Again, because one may have started another meanwhile; bounded, because one may do nothing else.
        const ROUNDS: usize = 8;
        let entry = format!("{NAME}={}\0", self.0);
        for _ in 0..ROUNDS {
            if linux::kill_marked(entry.as_bytes()) == 0 {
                break;
            }
        }
    }

    #[cfg(not(target_os = "linux"))]
    #[expect(clippy::unused_self, reason = "only Linux shows the environment of other processes")]
    pub(super) fn kill_all(&self) {}
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    /// Kills the processes whose environment holds `entry`, and counts them. One that is being
    /// ended shows no environment.
    pub(super) fn kill_marked(entry: &[u8]) -> usize {
        let Ok(processes) = std::fs::read_dir("/proc") else { return 0 };
        let pids = processes.flatten().filter_map(|process| process.file_name().to_str()?.parse::<i32>().ok());
        pids.filter(|pid| is_marked(*pid, entry) && kill(*pid, entry)).count()
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
        let Some(held) = Pid::from_raw(pid).and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()) else {
            return false;
        };
        is_marked(pid, entry) && pidfd_send_signal(held, Signal::KILL).is_ok()
    }
}
