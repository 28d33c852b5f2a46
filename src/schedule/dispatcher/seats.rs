//! The dispatcher's side of workers in other processes.

use super::{Asker, Dispatcher, TaskAnswer, tell};
use crate::record::PairId;
use crate::schedule::remote::{RemoteEvent, Seat};
use crate::tournament::events::{PairTask, RunEvent, Stop, StopReason, WorkerEvent};

/// Maximum number of pairs after the first missing one that a worker can hold since an earlier life
/// of the process. It bounds the work that a message causes.
const MOST_AHEAD: u64 = 1 << 17;

impl Dispatcher<'_> {
    pub(super) fn on_remote(&mut self, event: RemoteEvent) {
        let Some(seats) = &mut self.seats else { return };
        match event {
            RemoteEvent::Asks(seat) => {
                seats.open(seat);
                self.on_request(Asker::Seat(seat));
            }
            RemoteEvent::Holds { seat, pair } => {
                seats.open(seat);
                self.on_holder(seat, pair);
            }
            RemoteEvent::Game(WorkerEvent::Began { game, players }) => self.tell(RunEvent::GameBegan { game, players }),
            RemoteEvent::Game(WorkerEvent::Ended { record, failure }) => self.on_ended(*record, failure.as_deref()),
            RemoteEvent::Game(event) => self.on_event(event),
            RemoteEvent::Done(seat) => seats.close(seat),
            RemoteEvent::Gone { seat, left } => {
                seats.close(seat);
                self.idle.retain(|asker| *asker != Asker::Seat(seat));
                self.leftover.insert(left.pair, left);
                // A local slot, or a seat that waits, takes the pair.
                self.wake();
                self.fill();
            }
            RemoteEvent::Written(reply) => seats.ask_when_written(reply),
            RemoteEvent::Workers(workers) => {
                self.run.scoreboard.see_workers(&workers);
                seats.set_workers(workers);
                tell(self.observers, RunEvent::Workers { workers: seats.workers() });
            }
            RemoteEvent::Log(chunk) => seats.write_log(&chunk, &self.run.stderr_dir, &self.run.plan),
            RemoteEvent::Warning(text) => self.tell(RunEvent::Warning { text: &text }),
            RemoteEvent::Broken(why) => self.halt(Stop::AfterGame, StopReason::Broken { why }),
        }
    }

    /// Gives a seat the pair that its worker plays already. The seat is closed if that pair is not
    /// wanted.
    fn on_holder(&mut self, seat: Seat, pair: PairId) {
        let task = if self.reason.is_none() { self.task_of(pair) } else { None };
        match task {
            Some(task) => self.give(Asker::Seat(seat), task),
            None => self.let_go(Asker::Seat(seat)),
        }
    }

    /// Takes the task of a pair out of the order. The pairs before it go first afterwards.
    fn task_of(&mut self, pair: PairId) -> Option<PairTask> {
        if pair.0 > self.run.scoreboard.settled().saturating_add(MOST_AHEAD) {
            return None;
        }
        while !self.leftover.contains_key(&pair) && self.next <= pair {
            match self.new_task() {
                TaskAnswer::Task(task) => self.leftover.insert(task.pair, *task),
                TaskAnswer::Wait | TaskAnswer::Done => return None,
                TaskAnswer::Broken(why) => {
                    self.halt(Stop::AfterGame, StopReason::Broken { why });
                    return None;
                }
            };
        }
        self.leftover.remove(&pair)
    }
}
