//! Workers in other processes, as the dispatcher sees them.
//!
//! A *seat* is one request of a remote slot for a pair. It is open until its pair has ended or was
//! given back. Whoever carries the requests (`cluster`) owns the leases, and promises for each seat
//! that got a task: all its games as [`WorkerEvent::Ended`] and then [`RemoteEvent::Done`], or
//! [`RemoteEvent::Gone`] with the task. The dispatcher alone decides which pair goes to a seat.

use std::collections::BTreeSet;
use std::path::Path;

use tokio::sync::{mpsc, oneshot, watch};

use crate::plan::Plan;
use crate::record::PairId;
use crate::schedule::remote_logs::{LogChunk, RemoteLogs};
use crate::text::printable;
use crate::tournament::events::{Orders, PairTask, WorkerEvent};
use crate::tournament::workers::WorkerStatus;

/// Number of a request for a pair, unique in the life of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seat(pub u64);

/// Message to the dispatcher about workers in other processes.
#[derive(Debug)]
pub enum RemoteEvent {
    /// A seat asks for a pair. It is answered by an [`SeatAnswer`], possibly much later.
    Asks(Seat),
    /// The worker of a seat plays this pair since an earlier life of the process. It is answered as
    /// a request is, with that pair or none.
    Holds {
        /// The seat.
        seat: Seat,
        /// Its pair.
        pair: PairId,
    },
    /// An event of a game that is played elsewhere: begun, moves, ended, complaints, exits.
    Game(WorkerEvent),
    /// All games of the seat's pair have been sent.
    Done(Seat),
    /// The seat's worker gave its pair back, or was lost.
    Gone {
        /// The seat.
        seat: Seat,
        /// Its pair.
        left: PairTask,
    },
    /// Asks for a reply when all earlier games are on the disk. The sender is dropped if they
    /// cannot be written.
    Written(oneshot::Sender<()>),
    /// The workers changed: all of them, by name.
    Workers(Vec<WorkerStatus>),
    /// Standard error of an engine.
    Log(LogChunk),
    /// Message for the user, on one line.
    Warning(String),
    /// The run cannot continue, with the reason.
    Broken(String),
}

/// Answer of the dispatcher to a seat.
#[derive(Debug)]
pub enum SeatAnswer {
    /// The pair to play.
    Task(Seat, Box<PairTask>),
    /// There is no pair for the seat, which is closed.
    Leave(Seat),
    /// The user drops the worker of this name, which was among the last [`RemoteEvent::Workers`].
    Drop(String),
}

/// The dispatcher's end of the connection.
#[derive(Debug)]
pub struct RemotePort {
    /// Messages about workers.
    pub events: mpsc::UnboundedReceiver<RemoteEvent>,
    /// Answers to seats.
    pub answers: mpsc::UnboundedSender<SeatAnswer>,
    /// Orders to local and remote workers.
    pub orders: watch::Sender<Orders>,
}

/// The carrier's end of the connection.
#[derive(Debug)]
pub struct RemoteEnd {
    /// Messages about workers.
    pub events: mpsc::UnboundedSender<RemoteEvent>,
    /// Answers to seats.
    pub answers: mpsc::UnboundedReceiver<SeatAnswer>,
    /// Orders to local and remote workers.
    pub orders: watch::Receiver<Orders>,
}

/// Creates a connection between a dispatcher and the carrier of its remote workers.
#[must_use]
pub fn connection() -> (RemotePort, RemoteEnd) {
    let (tell, events) = mpsc::unbounded_channel();
    let (answers, answered) = mpsc::unbounded_channel();
    let orders = watch::Sender::new(Orders::play(0));
    let seen = orders.subscribe();
    (RemotePort { events, answers, orders }, RemoteEnd { events: tell, answers: answered, orders: seen })
}

/// Open seats of a run.
pub(super) struct Seats {
    answers: mpsc::UnboundedSender<SeatAnswer>,
    open: BTreeSet<Seat>,
    /// Open seats that have a pair.
    playing: BTreeSet<Seat>,
    /// Workers as last reported.
    workers: Vec<WorkerStatus>,
    /// Workers that the user dropped. Reports that are on their way may not say so.
    dropped: BTreeSet<String>,
    logs: RemoteLogs,
    /// Requests to answer after the next write to the disk.
    unwritten: Vec<oneshot::Sender<()>>,
}

impl Seats {
    pub(super) fn new(answers: mpsc::UnboundedSender<SeatAnswer>) -> Self {
        Self {
            answers,
            open: BTreeSet::new(),
            playing: BTreeSet::new(),
            workers: Vec::new(),
            dropped: BTreeSet::new(),
            logs: RemoteLogs::default(),
            unwritten: Vec::new(),
        }
    }

    pub(super) fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Number of pairs that are played elsewhere, each one game at a time.
    pub(super) fn playing(&self) -> u16 {
        u16::try_from(self.playing.len()).unwrap_or(u16::MAX)
    }

    pub(super) fn open(&mut self, seat: Seat) {
        self.open.insert(seat);
    }

    pub(super) fn close(&mut self, seat: Seat) {
        self.open.remove(&seat);
        self.playing.remove(&seat);
    }

    /// Gives a seat its pair.
    pub(super) fn give(&mut self, seat: Seat, task: PairTask) {
        self.playing.insert(seat);
        // The carrier lives as long as the run.
        let _ = self.answers.send(SeatAnswer::Task(seat, Box::new(task)));
    }

    /// Closes a seat without a pair.
    pub(super) fn let_go(&mut self, seat: Seat) {
        self.close(seat);
        let _ = self.answers.send(SeatAnswer::Leave(seat));
    }

    pub(super) fn set_workers(&mut self, workers: Vec<WorkerStatus>) {
        self.workers = workers;
    }

    pub(super) fn workers(&self) -> &[WorkerStatus] {
        &self.workers
    }

    /// Drops a worker.
    ///
    /// # Errors
    /// Returns the reason of a refusal: no such worker, or no other one.
    pub(super) fn drop_worker(&mut self, name: String) -> Result<(), String> {
        let serves = |worker: &&WorkerStatus| worker.serves && !self.dropped.contains(&worker.name);
        let serving: Vec<_> = self.workers.iter().filter(serves).map(|worker| &*worker.name).collect();
        if !self.workers.iter().any(|worker| worker.name == name) {
            let names = if serving.is_empty() { "none".to_owned() } else { serving.join(", ") };
            return Err(format!("no worker `{}`; the workers of this run: {names}", printable(&name)));
        }
        if serving == [name.as_str()] {
            return Err(format!(
                "{name} is the only worker, and without it nothing is played; `quintain ctl RUN stop` ends the run"
            ));
        }
        self.dropped.insert(name.clone());
        // The carrier lives as long as the run.
        let _ = self.answers.send(SeatAnswer::Drop(name));
        Ok(())
    }

    /// Writes a piece of an engine's standard error into `dir`.
    pub(super) fn write_log(&mut self, chunk: &LogChunk, dir: &Path, plan: &Plan) {
        self.logs.append(chunk, dir, plan);
    }

    pub(super) fn ask_when_written(&mut self, reply: oneshot::Sender<()>) {
        self.unwritten.push(reply);
    }

    /// Answers the requests that wait for a write to the disk, which was `successful` or not.
    pub(super) fn written(&mut self, successful: bool) {
        for reply in self.unwritten.drain(..).filter(|_| successful) {
            let _ = reply.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_workers_only_one_is_dropped() {
        let (answers, mut answered) = mpsc::unbounded_channel();
        let mut seats = Seats::new(answers);
        let worker = |name: &str| WorkerStatus {
            name: name.to_owned(),
            machine: String::new(),
            slots: 1,
            lost: 0,
            verified: None,
            serves: true,
            state: "waiting".to_owned(),
        };
        let workers = vec![worker("a"), worker("b")];
        seats.set_workers(workers.clone());
        assert_eq!(seats.drop_worker("a".to_owned()), Ok(()));
        let refused = seats.drop_worker("b".to_owned()).unwrap_err();
        assert!(refused.starts_with("b is the only worker"), "{refused}");
        // This report was on its way.
        seats.set_workers(workers);
        assert_eq!(seats.drop_worker("b".to_owned()), Err(refused));
        assert!(matches!(answered.try_recv(), Ok(SeatAnswer::Drop(name)) if name == "a"));
        assert!(answered.try_recv().is_err());
    }
}
