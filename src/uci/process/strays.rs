//! Descendants of an engine that left its process group, as daemons do (`setsid`).
//!
//! Signals to the group do not reach them. They are identified in two ways:
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

use crate::os::{self, ProcessHandle};

/// Variable that holds the mark.
const NAME: &str = "QUINTAIN_ENGINE";

/// Descendants of one engine, to be killed with it.
#[derive(Debug)]
pub(super) struct Strays {
    /// Unique text in their environment.
    mark: String,
    held: Vec<ProcessHandle>,
}

impl Strays {
    /// Creates the mark of an engine that is about to start.
    pub(super) fn new() -> Self {
        let hasher = std::hash::RandomState::new().build_hasher();
        Self { mark: format!("{}-{:016x}", std::process::id(), hasher.finish()), held: Vec::new() }
    }

    /// Name and value of the variable with the mark.
    pub(super) fn variable(&self) -> (&'static str, &str) {
        (NAME, &self.mark)
    }

    /// Finds the descendants of the live engine `pid` and holds them for [`Strays::kill_all`].
    pub(super) fn hold(&mut self, pid: u32) {
        self.held = os::descendants(pid);
    }

    /// Kills all processes that are held or marked.
    pub(super) fn kill_all(&mut self) {
        // Repeated because a process may have started another meanwhile. Bounded because one may do
        // nothing else.
        const ROUNDS: usize = 8;
        for held in self.held.drain(..) {
            held.kill();
        }
        for _ in 0..ROUNDS {
            if os::kill_marked(NAME, &self.mark) == 0 {
                break;
            }
        }
    }
}
