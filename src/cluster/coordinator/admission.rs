//! Machines that may play a run: program, processor, speed.

use super::super::bounds::MOST_PAIRS;
use super::super::drift::SpeedFinding;
use super::super::failures::FailureFinding;
use super::super::link::worker_name;
use super::super::wire::{self, Hello, Note, PairGames, Welcome};
use super::{Coordinator, replayed};
use crate::plan::{Machine, file};
use crate::tournament::workers::work;

impl Coordinator {
    /// Answers a worker that wants to play.
    pub(super) fn welcome(&mut self, hello: Hello) -> Welcome {
        if hello.v != wire::VERSION || (hello.program != env!("CARGO_PKG_VERSION") && !hello.any_version) {
            return Welcome::Refused(format!(
                "worker {} is quintain {} with version {} of the protocol; this run is played by quintain {} with version {}: \
                 use the same program on both",
                hello.worker,
                hello.program,
                hello.v,
                env!("CARGO_PKG_VERSION"),
                wire::VERSION
            ));
        }
        if hello.simulated != self.is_simulated() {
            return Welcome::Refused(if hello.simulated {
                "this run is played by engines, and takes no results of simulated workers".to_owned()
            } else {
                "this run is of simulated workers (`quintain worker URL --simulate N`), and its games are made up"
                    .to_owned()
            });
        }
        let admitted = match hello.speed {
            Some(speed) => self.roster.admit_speed(&hello.worker, speed.nps),
            None => self.roster.admit(&hello.worker, hello.machine.map(Machine::from)),
        };
        match (admitted, &self.signed) {
            (Ok(()), _) if hello.speed.is_some() => {
                self.measures_anew.remove(&hello.worker);
                self.refused.remove(worker_name(&hello.worker));
                Welcome::Admitted
            }
            (Ok(()), Some(signed)) => Welcome::Signed(signed.clone()),
            (Ok(()), None) => Welcome::Plan(file::to_toml(&self.plan)),
            (Err(why), _) => {
                // It asks again from time to time.
                if self.refused.insert(worker_name(&hello.worker).to_owned()) {
                    self.warn(why.clone());
                }
                Welcome::Refused(why)
            }
        }
    }

    /// Holds the speed of a worker in its games against the one that it measured.
    pub(super) async fn check_speed(&mut self, result: &PairGames) {
        let session = &result.worker;
        let Some(measured) = self.roster.nps(session).filter(|_| self.plan.is_timed()) else { return };
        let player = self.plan.reference_player();
        for (game, _) in &result.games {
            match self.drift.record(worker_name(session), measured, work(game, player)) {
                None => {}
                Some(SpeedFinding::MeasureAnew(why)) => {
                    self.warn(format!("worker {session}: {why}; it measures its speed again after its pairs"));
                    self.measures_anew.insert(session.clone());
                }
                Some(SpeedFinding::Exclude(why)) => {
                    let name = worker_name(session);
                    self.warn(format!(
                        "worker {name}: {why}, a second time; it is excluded: look for other work on that machine, and resume the run"
                    ));
                    self.take_out(name, &format!("excluded: {why}")).await;
                }
            }
        }
    }

    /// Compares the failures of the engines in a result with those on other machines.
    pub(super) async fn check_failures(&mut self, result: &PairGames) {
        let name = worker_name(&result.worker);
        let counted = result.games.iter().map(|(game, _)| game).filter(|game| !game.is_void);
        // A single failure tells of no machine.
        let limit = Some(self.most_of_one().max(2)).filter(|_| self.roster.serving() > 1);
        let found = counted.filter_map(|game| self.failures.record(name, game, limit)).last();
        let Some(FailureFinding { player, counts: [here, elsewhere] }) = found else { return };
        if self.roster.is_dropped(&result.worker) {
            return;
        }
        let engine = self.plan.name_of(player);
        let text = format!(
            "{engine} failed there in {} of {} games, and in {} of {} elsewhere",
            here.0, here.1, elsewhere.0, elsewhere.1
        );
        self.warn(format!(
            "worker {name}: {text}; it is excluded, and its games stay counted: look at that machine, and resume the run"
        ));
        self.take_out(name, &format!("excluded: {text}")).await;
    }

    /// Failures of one worker after which they are its own, if others serve. One worker alone does
    /// not exhaust the limit of a run.
    fn most_of_one(&self) -> u64 {
        (self.plan.max_failures / 2).max(1)
    }

    /// Takes a worker out of the run, on the word of the run's user.
    pub(super) async fn drop_worker(&mut self, worker: &str) {
        let lost = self.take_out(worker, "dropped by `quintain ctl`").await;
        self.warn(format!("worker {worker}: dropped by `quintain ctl`; {}", replayed(lost)));
    }

    /// Passes the messages of a worker on that were not heard before. `first` is the number of the
    /// first one. Returns the last one.
    pub(super) fn hear_notes(&mut self, worker: &str, first: Option<u64>, mut notes: Vec<Note>) -> Option<String> {
        self.notes.drop_heard(worker, first, &mut notes);
        if self.notes.cut(worker_name(worker), &mut notes) {
            self.warn(format!("worker {worker}: sent too many messages; no more of them are heard"));
        }
        let mut last = None;
        for note in notes {
            if let Note::Text(text) = &note {
                last = Some(crate::text::printable(text));
            }
            self.pass_on(worker, note);
        }
        last
    }

    /// True if an engine that a worker found dead between two games counts as a failure of the run.
    /// No game proves it.
    pub(super) fn may_report_exit(&mut self, session: &str) -> bool {
        let most = self.most_of_one();
        let exits = self.exits.entry(worker_name(session).to_owned()).or_default();
        *exits += 1;
        *exits <= most || self.roster.serving() < 2
    }

    /// True if a user holds, or waits for, as many pairs as any machine could play. All simulated
    /// workers are of one user.
    pub(super) fn has_enough(&self, session: &str) -> bool {
        let user = worker_name(session);
        !self.is_simulated() && self.takers.of_user(user) + self.leases.of_user(user) >= MOST_PAIRS
    }
}
