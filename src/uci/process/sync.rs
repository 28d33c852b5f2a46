//! `isready` and its answer.

use std::time::{Duration, Instant};

use super::{Engine, StartFault, WaitOutcome};
use crate::uci::Command;

impl Engine {
    /// Sends `isready` between two searches and waits for the answer, `limit` at most.
    ///
    /// # Errors
    /// Returns an error if the process ended, or was killed because it did not answer.
    /// [`restart`](Self::restart) it.
    pub async fn ping(&mut self, limit: Duration) -> Result<(), StartFault> {
        if let Some(status) = self.process.ending() {
            return Err(StartFault::Exited { status });
        }
        self.read_what_is_there();
        self.say(&[Command::IsReady]);
        self.sync(Instant::now(), limit).await
    }

    /// Sends `out`, which ends with `isready`, and waits for the answer, `limit` after `from` at
    /// most.
    pub(super) async fn sync(&mut self, from: Instant, limit: Duration) -> Result<(), StartFault> {
        self.session.begin_sync();
        match self.exchange_patiently(from, limit).await.0 {
            WaitOutcome::Answer(_) => Ok(()),
            WaitOutcome::Gone(status) => Err(StartFault::Exited { status }),
            WaitOutcome::Deadline => {
                self.process.kill();
                Err(StartFault::Silent { awaited: "readyok", waited: limit })
            }
        }
    }
}
