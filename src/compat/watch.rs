//! Stops a tournament where the command line says so: at a crash without `-recover`, at a warning with `-strict`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::mpsc;

use super::say::say;
use crate::record::Termination;
use crate::tournament::events::{Observer, RunEvent, Stop};

/// Asks the dispatcher to stop, as a signal does. It comes after the console, which has told of the game by then.
pub(super) struct Watch {
    pub(super) stop: mpsc::Sender<Stop>,
    /// Set once something was warned of; `None` where that stops nothing.
    pub(super) strict: Option<Arc<AtomicBool>>,
    /// Go on after a crash.
    pub(super) recover: bool,
    /// Set once the tournament failed.
    pub(super) failed: Arc<AtomicBool>,
}

impl Watch {
    fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
        // Full: there is a request to stop already.
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
                "Game {}: an engine failed, and without -recover that ends the tournament.",
                record.id.number()
            ));
            self.fail();
        } else if self.strict.as_ref().is_some_and(|warned| warned.load(Ordering::Relaxed)) {
            self.fail();
        }
    }
}
