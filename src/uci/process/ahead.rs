//! Searches without a clock, sent ahead of their answers.
//!
//! The protocol has an engine asked for one thing at a time. Engines that read while they search and begin what they are asked next when
//! they are done (Stockfish is one) take a queue of searches too, and where a search is as short as the way through the pipe and back,
//! that is most of the time won.

use std::time::{Duration, Instant};

use tokio::time::sleep_until;

use super::child::Happened;
use super::{Engine, Fault, Waited, spawn};
use crate::record::SearchInfo;
use crate::uci::command::{Go, PositionLine};
use crate::uci::session::SessionEvent;
use crate::uci::transcript::Direction;

impl Engine {
    /// Has the engine search one position after the other, all of them sent at once. What it says of each is added to `found`, in order, so
    /// that after a fault its length tells the position at fault. `timeout` is for each search, from the answer before it.
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
        self.transcript.push(Instant::now(), Direction::ToEngine, &self.out);
        let all = found.len() + positions.len();
        let mut sent = 0;
        let mut until = Instant::now() + timeout;
        self.session.begin_search();
        while found.len() < all {
            let happened = self.process.next(&self.out[sent..], &mut self.lines, sleep_until(until.into())).await;
            match happened {
                Happened::Wrote(Ok(count)) => sent += count,
                Happened::Wrote(Err(_)) => return Err(self.lost("closed its standard input").await),
                Happened::Read(Ok(count), at) if count > 0 => {
                    let before = found.len();
                    self.note(count, at, all, found);
                    if found.len() > before {
                        until = at + timeout;
                    }
                }
                Happened::Read(..) => return Err(self.lost("closed its standard output").await),
                Happened::Said => {}
                Happened::Ended(status) => {
                    while let Some(count) = self.process.read_now(&mut self.lines) {
                        self.note(count, Instant::now(), all, found);
                    }
                    let status = status.map_or_else(|error| error.to_string(), spawn::describe);
                    return if found.len() == all { Ok(()) } else { Err(Fault::Exited { status }) };
                }
                Happened::TimeOut => {}
            }
            // Looked at after every event: an engine that keeps the pipe full would keep the timer waiting.
            if found.len() < all && Instant::now() >= until {
                self.session.abandon_search();
                self.process.kill();
                return Err(Fault::Silent { awaited: "bestmove", waited: timeout });
            }
        }
        Ok(())
    }

    /// Takes what a read brought, the answers to any number of searches among it.
    fn note(&mut self, count: usize, at: Instant, all: usize, found: &mut Vec<SearchInfo>) {
        self.transcript.push(at, Direction::FromEngine, &self.lines.space()[..count]);
        self.lines.advance(count);
        while let Some(line) = self.lines.next_line() {
            if self.session.on_line(line) == SessionEvent::BestMove {
                found.push(*self.session.info());
                if found.len() < all {
                    self.session.begin_search();
                }
            }
        }
    }

    async fn lost(&mut self, why: &str) -> Fault {
        match self.gone(why).await {
            Waited::Gone(status) => Fault::Exited { status },
            Waited::Answer(_) | Waited::Deadline => Fault::Exited { status: why.to_owned() },
        }
    }
}
