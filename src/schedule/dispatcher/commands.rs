//! Stop signals, and commands of users.

use super::{Dispatcher, Slot};
use crate::schedule::affinity::{self, Topology};
use crate::schedule::capacity::{self, Demand, Supply};
use crate::schedule::remote::Seats;
use crate::tournament::events::{Phase, RunCommand, RunEvent, Status, Stop, StopReason};

impl Dispatcher<'_> {
    /// Stops the run for a signal. If its running games are the last ones already, they are
    /// aborted.
    pub(super) fn on_signal(&mut self, level: Stop) {
        let is_ordered = level == Stop::AfterGame && self.orders.borrow().stop == Stop::AfterGame;
        self.interrupt(if is_ordered { Stop::Now } else { level });
    }

    /// Stops the run for the user, unless it is stopping so already.
    fn interrupt(&mut self, level: Stop) {
        if level <= self.orders.borrow().stop {
            return;
        }
        if level != Stop::Now {
            self.tell(RunEvent::Finishing { pairs: level == Stop::AfterPair });
        }
        self.halt(level, StopReason::Interrupted);
    }

    /// Executes a user's command; the error is the reason of a refusal.
    pub(super) fn on_command(&mut self, command: RunCommand) -> Result<Status, String> {
        let before = self.status();
        let steers = matches!(command, RunCommand::Pause | RunCommand::Resume | RunCommand::Concurrency(_));
        if steers && self.reason.is_some() {
            return Err("the run is stopping already".to_owned());
        }
        match command {
            RunCommand::Status => {}
            RunCommand::Stop => self.interrupt(Stop::AfterGame),
            RunCommand::StopAfterPairs => self.interrupt(Stop::AfterPair),
            RunCommand::Pause => self.orders.send_modify(|orders| orders.paused = true),
            RunCommand::Resume => {
                self.orders.send_modify(|orders| orders.paused = false);
                self.wake();
            }
            RunCommand::Concurrency(games) => self.set_concurrency(games)?,
            RunCommand::DropWorker(name) => {
                self.seats.as_mut().ok_or("this run has no workers in other processes")?.drop_worker(name)?;
            }
            RunCommand::Moves(more) => {
                self.onlookers = if more { self.onlookers + 1 } else { self.onlookers.saturating_sub(1) };
                let moves = self.onlookers > 0;
                self.orders.send_if_modified(|now| std::mem::replace(&mut now.moves, moves) != moves);
            }
        }
        let status = self.status();
        if (status.phase, status.concurrency) != (before.phase, before.concurrency) {
            self.tell(RunEvent::Steered { status });
        }
        Ok(status)
    }

    fn set_concurrency(&mut self, games: u16) -> Result<(), String> {
        if games == 0 {
            return Err("concurrency 0 plays nothing; the minimum is 1, or pause the run".to_owned());
        }
        if let Some(workers) = &self.run.plan.workers {
            return Err(format!(
                "this run is played by the workers {workers}; stop it, and continue with `quintain resume -j N`"
            ));
        }
        let plan = &self.run.plan;
        // The concurrency that the plan began with is always allowed.
        if games > plan.concurrency {
            let (threads, topology) = (plan.threads(), Topology::detect());
            affinity::check_concurrency(games, threads, plan.is_timed(), &topology)
                .map_err(|error| error.to_string())?;
            affinity::check_cpus(games, threads, &plan.affinity, &topology).map_err(|error| error.to_string())?;
        }
        let running = self.slots.iter().filter(|slot| !matches!(slot, Slot::Free)).count();
        let running = u16::try_from(running).unwrap_or(u16::MAX);
        let supply = Supply::claim().after_tables(plan);
        capacity::check(games, running, Demand::of(plan), supply).map_err(|error| error.to_string())?;
        self.set_slots(games);
        self.wake();
        self.fill();
        let got = self.orders.borrow().slots;
        if got < games { Err(format!("the system grants only {got} threads")) } else { Ok(()) }
    }

    fn status(&self) -> Status {
        let orders = *self.orders.borrow();
        let phase = match (orders.stop, orders.paused) {
            (Stop::AfterPair | Stop::AfterGame | Stop::Now, _) => Phase::Stopping,
            (Stop::No, true) => Phase::Paused,
            (Stop::No, false) => Phase::Running,
        };
        let concurrency = if self.seats.is_some() { self.run.plan.concurrency } else { orders.slots };
        let playing = self.playing.saturating_add(self.seats.as_ref().map_or(0, Seats::playing));
        Status { phase, concurrency, playing }
    }
}
