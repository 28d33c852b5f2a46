//! Queues of searches and evaluations without a clock.
//!
//! The protocol has one search at a time. Engines that read their input during a search and start
//! the next command afterwards (such as Stockfish) also accept a queue of searches. If searches are
//! as short as the round trip through the pipes, a queue saves most of the time.

use std::time::{Duration, Instant};

use super::{Engine, StartFault, WaitOutcome};
use crate::record::SearchInfo;
use crate::uci::session::Session;
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
        self.take_answers(positions.len(), "bestmove", timeout, Session::begin_search, |session| {
            found.push(*session.info());
        })
        .await
    }

    /// Sends `eval`, which is not of the protocol, for each position, all at once, and appends the
    /// last line that begins with `words` and comes before `readyok`. After a fault, the length of
    /// `found` is thus the index of the failed position. `timeout` is that of
    /// [`go_through`](Self::go_through).
    ///
    /// # Errors
    /// As [`go_through`](Self::go_through).
    pub async fn evaluate_through(
        &mut self,
        positions: &[PositionLine],
        words: &str,
        timeout: Duration,
        found: &mut Vec<Option<Vec<u8>>>,
    ) -> Result<(), StartFault> {
        self.read_what_is_there();
        self.session.listen_for(words);
        self.out.clear();
        for position in positions {
            self.out.extend_from_slice(position.as_bytes());
            self.out.extend_from_slice(b"\neval\nisready\n");
        }
        self.take_answers(positions.len(), "readyok", timeout, Session::begin_sync, |session| {
            found.push(session.heard());
        })
        .await
    }

    /// Sends `out` and waits for `count` replies, each with the calls before and after it.
    async fn take_answers(
        &mut self,
        count: usize,
        awaited: &'static str,
        timeout: Duration,
        begin: fn(&mut Session),
        mut end: impl FnMut(&mut Session),
    ) -> Result<(), StartFault> {
        let (mut sent, mut noted) = (0, 0);
        for _ in 0..count {
            begin(&mut self.session);
            let from = Instant::now();
            let waited = if self.take_lines() {
                WaitOutcome::Answer(from)
            } else {
                let (waited, _) = self.exchange_patiently_on(&mut sent, noted, from, timeout).await;
                noted = self.out.len();
                waited
            };
            match waited {
                WaitOutcome::Answer(_) => end(&mut self.session),
                WaitOutcome::Gone(status) => return Err(StartFault::Exited { status }),
                WaitOutcome::Deadline => {
                    self.session.abandon_search();
                    self.process.kill();
                    return Err(StartFault::Silent { awaited, waited: timeout });
                }
            }
        }
        Ok(())
    }
}
