//! Queues of searches without a clock.
//!
//! The protocol has one search at a time. Engines that read their input during a search and start
//! the next command afterwards (such as Stockfish) also accept a queue of searches. If searches are
//! as short as the round trip through the pipes, a queue saves most of the time.

use std::time::{Duration, Instant};

use super::{Engine, StartFault, WaitOutcome};
use crate::record::SearchInfo;
use crate::uci::{Go, PositionLine};

impl Engine {
    /// Searches all positions in order, sent at once, and appends the figures of each to `found`.
    /// After a fault, the length of `found` is thus the index of the failed position. `timeout`
    /// limits each search from the answer before it, and excludes the engine's waits for a CPU.
    ///
    /// # Errors
    /// Returns an error if the process ended, or was killed because it did not answer.
    pub async fn go_through(
        &mut self,
        positions: &[PositionLine],
        go: &Go,
        timeout: Duration,
        found: &mut Vec<SearchInfo>,
    ) -> Result<(), StartFault> {
        self.read_what_is_there();
        self.out.clear();
        for position in positions {
            self.out.extend_from_slice(position.as_bytes());
            self.out.push(b'\n');
            go.write(&mut self.out);
        }
        let (mut sent, mut noted) = (0, 0);
        for _ in positions {
            self.session.begin_search();
            let from = Instant::now();
            let waited = if self.take_lines() {
                WaitOutcome::Answer(from)
            } else {
                let (waited, _) = self.exchange_patiently_on(&mut sent, noted, from, timeout).await;
                noted = self.out.len();
                waited
            };
            match waited {
                WaitOutcome::Answer(_) => found.push(*self.session.info()),
                WaitOutcome::Gone(status) => return Err(StartFault::Exited { status }),
                WaitOutcome::Deadline => {
                    self.session.abandon_search();
                    self.process.kill();
                    return Err(StartFault::Silent { awaited: "bestmove", waited: timeout });
                }
            }
        }
        Ok(())
    }
}
