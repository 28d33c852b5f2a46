//! Conversation with a process without any protocol, for checks of an engine's behaviour.
//!
//! Any bytes can be sent, and every line is returned with its stamp. Games use
//! [`Engine`](super::Engine), which knows the protocol.

use std::time::Instant;

use tokio::time::sleep_until;

use super::child::{Process, ProcessEvent};
use super::config::{EngineConfig, StartError};
use super::{CpuWaits, READS_AT_ONCE};
use crate::os;
use crate::uci::LineBuffer;
use crate::uci::transcript::{Direction, Transcript};

/// A running process with its transcript. Dropping it kills its whole process group.
#[derive(Debug)]
pub struct Talk {
    process: Process,
    lines: LineBuffer,
    transcript: Transcript,
    out: Vec<u8>,
    sent: usize,
    last_read: Instant,
    ended: Option<String>,
}

/// Result of a wait for a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TalkEvent {
    /// A line without its end, and the stamp of the read that completed it.
    Line(Vec<u8>, Instant),
    /// The deadline passed without a line.
    Silence,
    /// The process ended with this description, and all of its lines were returned.
    Ended(String),
}

impl Talk {
    /// Starts a program without a handshake; its options are ignored.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started.
    pub async fn start(config: &EngineConfig, cpus: &[usize]) -> Result<Self, StartError> {
        let process = Process::start(config, cpus).await?;
        let now = Instant::now();
        Ok(Self {
            process,
            lines: LineBuffer::new(),
            transcript: Transcript::new(Transcript::CAPACITY, now),
            out: Vec::new(),
            sent: 0,
            last_read: now,
            ended: None,
        })
    }

    /// Queues bytes for the next waits and returns the current time. If there are too many, the
    /// transcript keeps their end.
    pub fn say(&mut self, bytes: &[u8]) -> Instant {
        let now = Instant::now();
        self.out.drain(..self.sent);
        self.sent = 0;
        self.out.extend_from_slice(bytes);
        self.transcript.push(now, Direction::ToEngine, bytes);
        now
    }

    /// Closes the process's input. Unsent bytes are lost.
    pub fn close_input(&mut self) {
        self.out.clear();
        self.sent = 0;
        self.process.close_input();
    }

    /// Sends the queued bytes and waits for the next line.
    pub async fn hear(&mut self, until: Instant) -> TalkEvent {
        loop {
            if let Some(line) = self.lines.next_line() {
                return TalkEvent::Line(line.to_vec(), self.last_read);
            }
            if let Some(status) = &self.ended {
                return match self.lines.take_partial() {
                    Some(line) => TalkEvent::Line(line.to_vec(), self.last_read),
                    None => TalkEvent::Ended(status.clone()),
                };
            }
            match self.process.next(&self.out[self.sent..], &mut self.lines, sleep_until(until.into())).await {
                ProcessEvent::Wrote(Ok(count)) => self.sent += count,
                // The process may still have output, and its end will be reported.
                ProcessEvent::Wrote(Err(_)) => self.sent = self.out.len(),
                ProcessEvent::Read(Ok(count), at) if count > 0 => self.take(count, at),
                ProcessEvent::Read(..) => self.process.close_output(),
                ProcessEvent::Said => {}
                ProcessEvent::Ended(status) => {
                    for _ in 0..READS_AT_ONCE {
                        let Some(count) = self.process.read_now(&mut self.lines) else { break };
                        self.take(count, Instant::now());
                    }
                    self.ended = Some(status.map_or_else(|error| error.to_string(), os::describe));
                }
                // What the process said meanwhile may be in the pipe, if this thread comes late.
                ProcessEvent::TimeOut => {
                    if let Some(count) = self.process.read_now(&mut self.lines) {
                        self.take(count, Instant::now());
                    }
                }
            }
            // Checked after every event, because a process that fills the pipe without a line end
            // would starve the timer.
            if Instant::now() >= until && self.ended.is_none() {
                return self
                    .lines
                    .next_line()
                    .map_or(TalkEvent::Silence, |line| TalkEvent::Line(line.to_vec(), self.last_read));
            }
        }
    }

    fn take(&mut self, count: usize, at: Instant) {
        self.last_read = at;
        self.transcript.push(at, Direction::FromEngine, &self.lines.space()[..count]);
        self.lines.advance(count);
    }

    /// Waits for a CPU of the process and of the calling thread up to now.
    #[must_use]
    pub fn waits(&self) -> CpuWaits {
        CpuWaits::with_own(self.process.pid)
    }

    /// Waits for a CPU before the process began.
    #[must_use]
    pub fn no_waits(&self) -> CpuWaits {
        CpuWaits::at_start(self.process.pid)
    }

    /// Formatted transcript, with microseconds since the start.
    #[must_use]
    pub fn transcript(&self) -> String {
        self.transcript.text()
    }

    /// Last 8 KiB of its standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.process.pipes.log.tail()
    }
}
