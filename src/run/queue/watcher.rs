//! Watch over the run that the daemon plays: stops it as soon as the queue asks for that.

use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

use crate::control::client::Client;
use crate::control::protocol::{ClientMessage, ServerMessage};
use crate::run::error::Result;
use crate::run::progress;
use crate::run::queue::daemon::Deadline;
use crate::run::queue::{EntryId, Queue};
use crate::run::tuning::session;

/// Time between two looks at the folder.
pub(super) const LOOK: Duration = Duration::from_millis(250);

/// Reason that the daemon stops a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StopCause {
    /// The user took the entry out.
    Removed,
    /// An entry of higher priority is waiting.
    Overtaken(EntryId),
    /// The daemon's time is over.
    TimeOver,
}

impl StopCause {
    /// Reason not to begin a run.
    pub(super) fn reason(self) -> String {
        match self {
            Self::Removed => "it was removed".to_owned(),
            Self::Overtaken(other) => format!("entry {other} comes first"),
            Self::TimeOver => "the time is over".to_owned(),
        }
    }

    /// Message for the user.
    fn told(self, id: EntryId) -> String {
        match self {
            Self::Removed => format!("queue: entry {id} was removed; its run stops after the pairs being played"),
            Self::Overtaken(other) => {
                format!("queue: entry {id} makes way for entry {other}, after the pairs being played")
            }
            Self::TimeOver => format!("queue: the time is over; entry {id} stops after the pairs being played"),
        }
    }
}

/// Entry that is played, with everything that may stop it.
#[derive(Debug)]
pub(super) struct QueueWatch<'a> {
    pub(super) queue: &'a Queue,
    pub(super) id: EntryId,
    pub(super) run: &'a Path,
    pub(super) deadline: Option<Deadline>,
    /// Entries that are not played before the daemon ends.
    pub(super) put_off: &'a [EntryId],
}

impl QueueWatch<'_> {
    /// Waits until the run is over, which drops the sender of `over`, and stops it if the queue
    /// asks for that. Returns the cause if it was stopped.
    pub(super) fn watch(&self, over: &Receiver<()>) -> Option<StopCause> {
        let mut stopped = None;
        while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            if stopped.is_some() {
                continue;
            }
            // A folder that cannot be read now is looked at again.
            let Some(cause) = self.cause().unwrap_or_default() else { continue };
            if self.stop() {
                progress::note(&cause.told(self.id));
                stopped = Some(cause);
            }
        }
        stopped
    }

    /// Reason to stop the entry now.
    pub(super) fn cause(&self) -> Result<Option<StopCause>> {
        if self.deadline.is_some_and(Deadline::is_over) {
            return Ok(Some(StopCause::TimeOver));
        }
        let Some(own) = self.queue.read(self.id)? else { return Ok(Some(StopCause::Removed)) };
        let others = self.queue.list()?.entries.into_iter().filter(|(id, entry)| {
            entry.is_open() && entry.is_own() && entry.priority > own.priority && !self.put_off.contains(id)
        });
        let first = others.min_by_key(|(id, entry)| entry.place(*id));
        Ok(first.map(|(id, _)| StopCause::Overtaken(id)))
    }

    /// Asks the run to stop; false if it does not listen yet.
    fn stop(&self) -> bool {
        // A tuning has its runs in folders of its own.
        let runs = [self.run.to_owned(), session::last_run(self.run)];
        runs.iter().any(|run| {
            let answer = Client::connect(run).and_then(|mut client| client.ask(ClientMessage::StopAfterPairs));
            matches!(answer, Ok((_, ServerMessage::Status { .. })))
        })
    }
}
