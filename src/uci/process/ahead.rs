//! Searches without a clock, sent ahead of their answers.
//!
//! The protocol has an engine asked for one thing at a time. Engines that read while they search and begin what they are asked next when
//! they are done (Stockfish is one) take a queue of searches too, and where a search is as short as the way through the pipe and back,
//! that is most of the time won.

use std::time::{Duration, Instant};

use super::patience::Patience;
use super::{Engine, Fault, Waited, load};
use crate::record::SearchInfo;
use crate::uci::command::{Go, PositionLine};

impl Engine {
    /// Has the engine search one position after the other, all of them sent at once. What it says of each is added to `found`, in order, so
    /// that after a fault its length tells the position at fault. `timeout` is for each search, from the answer before it, and leaves
    /// out the time for which the engine waited for a CPU.
    ///
    /// # Errors
    /// The process is gone, or was killed because it stayed silent.
    pub async fn go_through(
        &mut self,
        positions: &[PositionLine],
        go: &Go,
        timeout: Duration,
        found: &mut Vec<SearchInfo>,
    ) -> Result<(), Fault> {
        self.read_what_is_there();
        self.out.clear();
        for position in positions {
            self.out.extend_from_slice(position.as_bytes());
            self.out.push(b'\n');
            go.write(&mut self.out);
        }
        let mut sent = 0;
        for _ in positions {
            self.session.begin_search();
            let from = Instant::now();
            let waited = if self.take_lines() {
                Waited::Answer(from)
            } else {
                self.patience = Some(Patience::new(timeout, load::waited_by(self.process.pid)));
                let waited = self.exchange_on(&mut sent, from, from.checked_add(timeout)).await;
                self.patience = None;
                waited
            };
            match waited {
                Waited::Answer(_) => found.push(*self.session.info()),
                Waited::Gone(status) => return Err(Fault::Exited { status }),
                Waited::Deadline => {
                    self.session.abandon_search();
                    self.process.kill();
                    return Err(Fault::Silent { awaited: "bestmove", waited: timeout });
                }
            }
        }
        Ok(())
    }
}
