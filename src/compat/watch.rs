//! Observer that stops a tournament at a crash without `-recover` or at a warning with `-strict`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;

use super::say::say;
use crate::compat::console::number;
use crate::record::{PairId, Termination};
use crate::tournament::events::{Observer, RunEvent, Stop};

/// Requests a stop from the dispatcher, as a signal does. It runs after the console, so the game is
/// already reported.
pub(super) struct Watch {
    pub(super) stop: mpsc::Sender<Stop>,
    /// Flag of a first warning; `None` without `-strict`.
    pub(super) strict: Option<Arc<AtomicBool>>,
    /// True to continue after a crash or stall.
    pub(super) recover: bool,
    /// First pair that is a single game.
    pub(super) halves_from: Option<PairId>,
    /// Set once the tournament has failed.
    pub(super) failed: Arc<AtomicBool>,
}

impl Watch {
    fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
        // A full channel already holds a request to stop.
        let _ = self.stop.try_send(Stop::Now);
    }
}

impl Observer for Watch {
    fn observe(&mut self, event: RunEvent<'_>) {
        let RunEvent::GameEnded { record, .. } = event else { return };
        let is_gone = matches!(record.ending.termination, Termination::Crash | Termination::Stall);
        if self.failed.load(Ordering::Relaxed) {
            return;
        }
        if is_gone && !record.is_void && !self.recover {
            say(&format!(
                "Game {}: an engine failed, and there is no recover option set (-recover): the tournament ends.",
                number(record.id, self.halves_from)
            ));
            self.fail();
        } else if self.strict.as_ref().is_some_and(|warned| warned.load(Ordering::Relaxed)) {
            self.fail();
        }
    }
}
