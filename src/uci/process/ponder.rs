//! Thinking on the opponent's time.
//!
//! `go ponder` is sent while nothing is charged. When the opponent has moved, the charge begins immediately before the write of
//! `ponderhit`; or, where it was another move, of `stop`, as on a real clock: what the engine needs to come back from the wrong
//! position is its own time. The `bestmove` of a stopped search is swallowed, and only then `position` and `go` are sent, still within
//! the one deadline: an engine that does not answer `stop` loses on time.

use std::convert::Infallible;
use std::future::pending;
use std::time::{Duration, Instant};

use super::child::Happened;
use super::{Engine, SearchOutcome, Waited};
use crate::uci::command::{Command, Go};
use crate::uci::process::Fault;
use crate::uci::session::State;
use crate::uci::transcript::Direction;

/// What an engine thinks about while its opponent does.
#[derive(Debug, Default)]
pub(super) struct Ponder {
    /// The `position` line; `None` while it does not.
    position: Option<Vec<u8>>,
    /// So many bytes of what is being sent are in the pipe.
    sent: usize,
}

/// What came of a guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Came {
    /// The opponent played the move.
    Hit,
    /// It played another one.
    Miss,
}

impl Engine {
    /// Has the engine think about a position that its opponent has still to reach: `position` is a complete line, the expected move its
    /// last word. Does not wait: what the pipe does not take at once goes out while [`listen`](Self::listen) is awaited. The next
    /// [`go`](Self::go) ends it, or [`end_ponder`](Self::end_ponder).
    pub fn ponder(&mut self, position: &[u8], go: &Go) {
        self.begin(position);
        Go { ponder: true, ..*go }.write(&mut self.out);
        self.session.begin_ponder();
        self.transcript.push(Instant::now(), Direction::ToEngine, &self.out);
        let sent = self.process.write_now(&self.out);
        self.ponder = Ponder { position: Some(position.to_vec()), sent };
    }

    /// True from [`ponder`](Self::ponder) until it is asked for a move or told to end.
    #[must_use]
    pub fn is_pondering(&self) -> bool {
        self.ponder.position.is_some()
    }

    /// Takes what an engine says while it ponders, so that it is not held up by a full pipe; drop it when the opponent has moved. Never
    /// ends by itself. An engine whose process is gone is found out when it is asked next.
    pub async fn listen(&mut self) -> Infallible {
        loop {
            let out = &self.out[self.ponder.sent..];
            match self.process.next(out, &mut self.lines, pending()).await {
                Happened::Wrote(Ok(count)) => self.ponder.sent += count,
                Happened::Read(Ok(count), at) if count > 0 => {
                    self.take_chunk(count, at);
                }
                Happened::Said => {}
                // A pipe is closed, or the process ended: nothing more will come.
                _ => pending().await,
            }
        }
    }

    /// Ends a ponder search whose game is over, and swallows its answer.
    ///
    /// # Errors
    /// The process is gone, or was killed because it did not answer `stop`.
    pub async fn end_ponder(&mut self) -> Result<(), Fault> {
        if self.take_ponder(&[]).is_none() {
            return Ok(());
        }
        self.say_stop();
        let (now, limit) = (Instant::now(), self.config.timeouts.stop);
        match self.exchange(now, now.checked_add(limit)).await {
            Waited::Answer(_) => {
                self.session.answer();
                Ok(())
            }
            Waited::Gone(status) => Err(Fault::Exited { status }),
            Waited::Deadline => {
                self.process.kill();
                Err(Fault::Silent { awaited: "bestmove", waited: limit })
            }
        }
    }

    /// Whether the engine thinks about `position`, if it ponders still. One that gave its answer unasked does not: what it said is not
    /// looked at, and it is asked as if it had never pondered.
    pub(super) fn take_ponder(&mut self, position: &[u8]) -> Option<Came> {
        let guess = self.ponder.position.take()?;
        self.drop_sent();
        self.read_what_is_there();
        if self.session.state() != State::Pondering {
            return None;
        }
        Some(if guess == position { Came::Hit } else { Came::Miss })
    }

    /// Charges what is left of a search after a right guess.
    pub(super) async fn ponder_hit(&mut self, deadline: Option<Duration>, is_timed: bool) -> SearchOutcome {
        Command::PonderHit.write(&mut self.out).expect("it has no argument");
        self.session.ponder_hit();
        let t0 = self.start_clock(deadline, is_timed);
        let waited = self.exchange(t0, deadline.and_then(|deadline| t0.checked_add(deadline))).await;
        self.conclude(waited, t0, deadline).await
    }

    /// Charges the end of a search after a wrong guess, and the search that takes its place.
    pub(super) async fn ponder_miss(
        &mut self,
        position: &[u8],
        go: &Go,
        deadline: Option<Duration>,
        is_timed: bool,
    ) -> SearchOutcome {
        self.say_stop();
        let t0 = self.start_clock(deadline, is_timed);
        let until = deadline.and_then(|deadline| t0.checked_add(deadline));
        let mut waited = self.exchange(t0, until).await;
        if matches!(waited, Waited::Answer(_)) {
            self.session.answer();
            self.begin(position);
            go.write(&mut self.out);
            self.session.begin_search();
            waited = self.exchange(Instant::now(), until).await;
        }
        self.conclude(waited, t0, deadline).await
    }

    /// Adds `stop` to what is not sent yet.
    fn say_stop(&mut self) {
        Command::Stop.write(&mut self.out).expect("it has no argument");
        self.session.stop_ponder();
    }

    /// Keeps what the pipe has not taken: an engine that was slow to read must still be told what to think about.
    fn drop_sent(&mut self) {
        self.out.drain(..self.ponder.sent.min(self.out.len()));
        self.ponder.sent = 0;
    }
}
