//! Pondering: searches on the opponent's time.
//!
//! The time of `go ponder` is not charged. After the opponent's move the clock starts right before
//! the write of `ponderhit`, or of `stop` if another move was played. The engine thus pays for its
//! return from a wrong guess, as on a real clock. The `bestmove` of a stopped search is discarded,
//! and only then `position` and `go` are sent, within the same deadline. An engine that does not
//! answer `stop` loses on time.

use std::convert::Infallible;
use std::future::pending;
use std::time::{Duration, Instant};

use super::child::ProcessEvent;
use super::{Engine, SearchOutcome, WaitOutcome};
use crate::uci::process::StartFault;
use crate::uci::session::SessionState;
use crate::uci::transcript::Direction;
use crate::uci::{Command, Go};

/// State of a ponder search.
#[derive(Debug, Default)]
pub(super) struct PonderState {
    /// The `position` line; `None` if the engine does not ponder.
    position: Option<Vec<u8>>,
    /// Number of bytes of `out` that are already in the pipe.
    sent: usize,
}

/// Result of a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PonderOutcome {
    /// The opponent played the expected move.
    Hit,
    /// The opponent played another move.
    Miss,
}

impl Engine {
    /// Starts a search of the expected position. `position` is a complete line whose last word is
    /// the expected move. Does not wait: bytes that the pipe does not take at once are sent by
    /// [`listen`](Self::listen). The next [`go`](Self::go) or [`end_ponder`](Self::end_ponder) ends
    /// the search.
    pub fn ponder(&mut self, position: &[u8], go: &Go) {
        self.begin(position);
        Go { ponder: true, ..*go }.write(&mut self.out);
        self.session.begin_ponder();
        self.transcript.push(Instant::now(), Direction::ToEngine, &self.out);
        let sent = self.process.write_now(&self.out);
        self.ponder = PonderState { position: Some(position.to_vec()), sent };
    }

    /// True from [`ponder`](Self::ponder) to the next search or to
    /// [`end_ponder`](Self::end_ponder).
    #[must_use]
    pub fn is_pondering(&self) -> bool {
        self.ponder.position.is_some()
    }

    /// Reads the engine's output during a ponder search, so that a full pipe does not block it.
    /// Never completes: drop it after the opponent's move. The next command finds and reports a
    /// process that ended. The search for its descendants takes long, and would keep this thread
    /// from the opponent's move.
    pub async fn listen(&mut self) -> Infallible {
        loop {
            let out = &self.out[self.ponder.sent..];
            match self.process.pipes.next(out, &mut self.lines).await {
                ProcessEvent::Wrote(Ok(count)) => self.ponder.sent += count,
                ProcessEvent::Read(Ok(count), at) if count > 0 => {
                    self.take_chunk(count, at);
                }
                ProcessEvent::Said => {}
                // A pipe was closed, so nothing more will come.
                _ => pending().await,
            }
        }
    }

    /// Stops a ponder search whose game is over and discards its answer.
    ///
    /// # Errors
    /// Returns an error if the process ended, or was killed because it did not answer `stop`.
    pub async fn end_ponder(&mut self) -> Result<(), StartFault> {
        if self.take_ponder(&[]).is_none() {
            return Ok(());
        }
        let noted = self.say_stop();
        let limit = self.config.timeouts.stop;
        let (waited, _) = self.exchange_patiently_on(&mut 0, noted, Instant::now(), limit).await;
        match waited {
            WaitOutcome::Answer(_) => {
                self.session.answer();
                Ok(())
            }
            WaitOutcome::Gone(status) => Err(StartFault::Exited { status }),
            WaitOutcome::Deadline => {
                self.process.kill();
                Err(StartFault::Silent { awaited: "bestmove", waited: limit })
            }
        }
    }

    /// Ends the pondering and compares `position` with the guess; `None` if the engine does not
    /// ponder any more. An engine that answered unasked does not: its answer is ignored, and it
    /// searches as if it had never pondered.
    pub(super) fn take_ponder(&mut self, position: &[u8]) -> Option<PonderOutcome> {
        let guess = self.ponder.position.take()?;
        self.drop_sent();
        self.read_what_is_there();
        if self.session.state() != SessionState::Pondering {
            return None;
        }
        Some(if guess == position { PonderOutcome::Hit } else { PonderOutcome::Miss })
    }

    /// Continues the search after a right guess, with the clock running.
    pub(super) async fn ponder_hit(&mut self, deadline: Option<Duration>, is_timed: bool) -> SearchOutcome {
        let noted = self.out.len();
        Command::PonderHit.write(&mut self.out).expect("it has no argument");
        self.session.ponder_hit();
        let t0 = self.start_clock(deadline, is_timed);
        let until = deadline.and_then(|deadline| t0.checked_add(deadline));
        let waited = self.exchange_on(&mut 0, noted, t0, until).await;
        self.conclude(waited, t0, deadline).await
    }

    /// Stops the search after a wrong guess and starts the real one, all with the clock running.
    pub(super) async fn ponder_miss(
        &mut self,
        position: &[u8],
        go: &Go,
        deadline: Option<Duration>,
        is_timed: bool,
    ) -> SearchOutcome {
        let noted = self.say_stop();
        let t0 = self.start_clock(deadline, is_timed);
        let until = deadline.and_then(|deadline| t0.checked_add(deadline));
        let mut waited = self.exchange_on(&mut 0, noted, t0, until).await;
        if matches!(waited, WaitOutcome::Answer(_)) {
            self.session.answer();
            self.begin(position);
            go.write(&mut self.out);
            self.session.begin_search();
            waited = self.exchange(Instant::now(), until).await;
        }
        self.conclude(waited, t0, deadline).await
    }

    /// Appends `stop` to the unsent bytes, and returns their number: the transcript has them.
    fn say_stop(&mut self) -> usize {
        let noted = self.out.len();
        Command::Stop.write(&mut self.out).expect("it has no argument");
        self.session.stop_ponder();
        noted
    }

    /// Keeps the bytes that the pipe has not taken, so that a slow reader still gets its position.
    fn drop_sent(&mut self) {
        self.out.drain(..self.ponder.sent.min(self.out.len()));
        self.ponder.sent = 0;
    }
}
