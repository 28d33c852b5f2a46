//! Watch over the run that the daemon plays: stops it as soon as the queue asks for that.

use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, SystemTime};

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
        let mut stopped: Option<(StopCause, PathBuf)> = None;
        let mut known = None;
        while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            let run = session::last_run(self.run);
            let cause = match &stopped {
                Some((_, told)) if *told == run => continue,
                // The games of the tuning ended as if nobody had stopped them, and its proof began.
                Some((cause, _)) => Some(*cause),
                // A folder that cannot be read now is looked at again.
                None => self.new_cause(&mut known).unwrap_or_default(),
            };
            let Some(cause) = cause else { continue };
            if self.stop(&run) {
                if stopped.is_none() {
                    progress::note(&cause.told(self.id));
                }
                stopped = Some((cause, run));
            }
        }
        stopped.map(|(cause, _)| cause)
    }

    /// Reason to stop the entry now. `known` is the last change of the folder after which there was
    /// none; until the next change its entries are not read again. A reason is found at each look
    /// until the run has heard it.
    fn new_cause(&self, known: &mut Option<SystemTime>) -> Result<Option<StopCause>> {
        let changed = self.queue.settled_change();
        if changed.is_some() && changed == *known && !self.is_time_over() {
            return Ok(None);
        }
        let cause = self.cause()?;
        *known = changed.filter(|_| cause.is_none());
        Ok(cause)
    }

    fn is_time_over(&self) -> bool {
        self.deadline.is_some_and(Deadline::is_over)
    }

    /// Reason to stop the entry now.
    pub(super) fn cause(&self) -> Result<Option<StopCause>> {
        if self.is_time_over() {
            return Ok(Some(StopCause::TimeOver));
        }
        let Some(own) = self.queue.read(self.id)? else { return Ok(Some(StopCause::Removed)) };
        let others = self.queue.list()?.entries.into_iter().filter(|(id, entry)| {
            entry.is_open() && entry.is_own() && entry.priority > own.priority && !self.put_off.contains(id)
        });
        let first = others.min_by_key(|(id, entry)| entry.place(*id));
        Ok(first.map(|(id, _)| StopCause::Overtaken(id)))
    }

    /// Asks the run to stop; false if it does not listen yet. A tuning has its runs in folders of
    /// its own, the last one in `last`.
    fn stop(&self, last: &Path) -> bool {
        [self.run, last].iter().any(|run| {
            let answer = Client::connect(run).and_then(|mut client| client.ask(ClientMessage::StopAfterPairs));
            matches!(answer, Ok((_, ServerMessage::Status { .. })))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::mpsc;

    use super::*;
    use crate::run::begin::GameCommand;
    use crate::run::queue::QueueEntry;
    use crate::settings::RawPlan;

    fn queue_with_entry(folder: &Path) -> (Queue, EntryId) {
        let queue = Queue::of(folder).unwrap();
        let plans = vec![RawPlan { nodes: Some(100), ..RawPlan::default() }];
        let id = queue.add(QueueEntry::new(GameCommand::Tune, folder.to_owned(), 0, plans)).unwrap();
        (queue, id)
    }

    #[test]
    fn the_entries_are_read_again_only_if_the_folder_changed() {
        let results = tempfile::tempdir().unwrap();
        let (queue, id) = queue_with_entry(results.path());
        let watch = QueueWatch { queue: &queue, id, run: Path::new(""), deadline: None, put_off: &[] };
        let past = SystemTime::now() - Duration::from_secs(3_600);
        let set_to = |time| File::open(results.path().join("queue")).unwrap().set_modified(time).unwrap();
        let set_change = || set_to(past);
        let mut known = None;
        // A change of just now may share its time with the next one. This one has not been yet,
        // however slow the machine is.
        set_to(SystemTime::now() + Duration::from_secs(3_600));
        assert!(watch.new_cause(&mut known).unwrap().is_none() && known.is_none());
        set_change();
        assert!(watch.new_cause(&mut known).unwrap().is_none() && known.is_some());
        queue.remove(id).unwrap();
        let settled = known;
        set_to(past + Duration::from_secs(60));
        for _ in 0..2 {
            assert_eq!(watch.new_cause(&mut known).unwrap(), Some(StopCause::Removed));
        }
        set_change();
        known = settled;
        assert_eq!(watch.new_cause(&mut known).unwrap(), None);
        // The time is looked at each time.
        let over = QueueWatch { deadline: Some(Deadline::after(Duration::ZERO)), ..watch };
        assert_eq!(over.new_cause(&mut known).unwrap(), Some(StopCause::TimeOver));
    }

    /// The sockets are those of Unix.
    #[cfg(unix)]
    #[test]
    fn a_proof_that_begins_after_the_stop_is_stopped_too() {
        use std::io::ErrorKind::WouldBlock;
        use std::io::{BufRead as _, BufReader, Write as _};
        use std::os::unix::net::UnixListener;
        use std::time::Instant;

        const PATIENCE: Duration = Duration::from_mins(10);

        let results = tempfile::tempdir().unwrap();
        let (queue, id) = queue_with_entry(results.path());
        let run = results.path().join("tuning");
        let open = |folder: &str| {
            std::fs::create_dir_all(run.join(folder)).unwrap();
            let listener = UnixListener::bind(run.join(folder).join("control.sock")).unwrap();
            listener.set_nonblocking(true).unwrap();
            listener
        };
        let answer = |listener: &UnixListener| {
            let began = Instant::now();
            let mut stream = loop {
                match listener.accept() {
                    Ok((stream, _)) => break stream,
                    Err(error) => assert!(error.kind() == WouldBlock && began.elapsed() < PATIENCE, "{error}"),
                }
                std::thread::sleep(LOOK);
            };
            stream.set_nonblocking(false).unwrap();
            let mut asked = String::new();
            BufReader::new(&stream).read_line(&mut asked).unwrap();
            assert_eq!(asked, "{\"cmd\":\"stop-after-pairs\"}\n");
            let status = ServerMessage::Status { v: 1, phase: "stopping".to_owned(), concurrency: 1, playing: 1 };
            stream.write_all(crate::control::protocol::line(&status).as_bytes()).unwrap();
        };
        let games = open("tune");
        queue.remove(id).unwrap();
        let watch = QueueWatch { queue: &queue, id, run: &run, deadline: None, put_off: &[] };
        let (is_over, over) = mpsc::channel();
        let cause = std::thread::scope(|scope| {
            let watcher = scope.spawn(move || watch.watch(&over));
            answer(&games);
            let proof = open("prove");
            std::fs::write(run.join("prove/plan.toml"), "").unwrap();
            answer(&proof);
            drop(is_over);
            watcher.join().unwrap()
        });
        assert_eq!(cause, Some(StopCause::Removed));
    }
}
