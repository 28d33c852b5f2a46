//! Workers that a coordinator knows: who serves, who left, and why. No clock and no I/O.
//!
//! A worker has a name; each of its lives is a session, whose name ends with the number of the
//! life.

use std::collections::BTreeMap;
use std::time::Duration;

use super::leases::{LOST_AFTER, WorkerId};
use super::link::worker_name;
use crate::plan::Machine;
use crate::text::count;
use crate::tournament::workers::WorkerStatus;

/// Maximum number of workers known by name. Later ones play without being listed.
const MOST_WORKERS: usize = 20_000;

/// Maximum difference of speeds within one class of machines, as a share.
const MOST_OFF: f64 = 0.05;

/// Pairs that a state names; of more it gives their number.
const NAMED_PAIRS: usize = 4;

/// Presence of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Presence {
    Here,
    /// The worker is gone or refused, with the reason.
    Away(String),
    /// The worker was dropped from the run, with the reason.
    Dropped(String),
}

#[derive(Debug)]
struct KnownWorker {
    session: WorkerId,
    /// Time of its last request or sign of life. Without one, that of the first of another session.
    heard: Option<Duration>,
    machine: Option<Machine>,
    /// Nodes per second that it has measured.
    nps: Option<f64>,
    /// Place in the order in which workers became ready to play, their speed measured. The first
    /// one that serves sets the class of a run under a clock.
    ready: Option<u64>,
    slots: u16,
    lost: u64,
    /// Pairs that another worker has played alike.
    verified: u64,
    presence: Presence,
}

impl KnownWorker {
    const fn is_dropped(&self) -> bool {
        matches!(self.presence, Presence::Dropped(_))
    }

    /// Passes the name to another session. It may be on another machine, and measures its speed
    /// again.
    fn become_session(&mut self, session: &str) {
        session.clone_into(&mut self.session);
        self.heard = None;
        self.machine = None;
        self.nps = None;
        self.ready = None;
    }
}

/// Workers by name.
#[derive(Debug)]
pub(super) struct Roster {
    known: BTreeMap<String, KnownWorker>,
    /// True if all workers of the run must have the same processor and speed.
    has_class: bool,
    /// True if pairs are verified.
    verifies: bool,
    /// Last place that was given, or passed over, in the order of [`KnownWorker::ready`].
    readied: u64,
}

impl Roster {
    /// Creates a list without workers. A run under a clock that `is_scaled` takes any machines. One
    /// that `verifies` counts the verified pairs of each worker.
    pub(super) const fn new(is_timed: bool, is_scaled: bool, verifies: bool) -> Self {
        Self { known: BTreeMap::new(), has_class: is_timed && !is_scaled, verifies, readied: 0 }
    }

    fn of(&mut self, session: &str) -> Option<&mut KnownWorker> {
        let name = worker_name(session);
        if !self.known.contains_key(name) {
            if self.known.len() >= MOST_WORKERS {
                return None;
            }
            let known = KnownWorker {
                session: session.to_owned(),
                heard: None,
                machine: None,
                nps: None,
                ready: None,
                slots: 0,
                lost: 0,
                verified: 0,
                presence: Presence::Here,
            };
            self.known.insert(name.to_owned(), known);
        }
        self.known.get_mut(name)
    }

    /// Admits a session to the run. It sets no class yet: it may never have its engines ready.
    ///
    /// # Errors
    /// Returns the reason of a refusal, which names the worker and the remedy.
    pub(super) fn admit(&mut self, session: &str, machine: Option<Machine>) -> Result<(), String> {
        let refusal = self.other_processor(session, machine.as_ref());
        let has_class = self.has_class;
        let Some(known) = self.of(session) else { return Ok(()) };
        if let Presence::Dropped(why) = &known.presence {
            return Err(format!("worker {} is out of this run: {why}", worker_name(session)));
        }
        let is_other = |old: &Machine| machine.as_ref().is_some_and(|new| new.cpu != old.cpu);
        let is_played = known.presence == Presence::Here && known.ready.is_some();
        if has_class && known.session != session && is_played && known.machine.as_ref().is_some_and(is_other) {
            return Err(format!(
                "a machine of another kind plays this run as worker {} at present; \
                 give each machine a name of its own (`quintain hub invite`)",
                worker_name(session)
            ));
        }
        if known.session != session {
            known.become_session(session);
        }
        if known.presence != Presence::Here {
            // It left, and readies its engines again.
            known.ready = None;
        }
        known.machine = machine;
        match refusal {
            Some(why) => {
                known.presence = Presence::Away(format!("refused: {why}"));
                Err(why)
            }
            None => {
                known.presence = Presence::Here;
                Ok(())
            }
        }
    }

    /// Admits a session by the speed that it has measured. It is ready now, and may set the class.
    ///
    /// # Errors
    /// Returns the reason of a refusal, which names the worker and the remedy.
    pub(super) fn admit_speed(&mut self, session: &str, nps: Option<f64>) -> Result<(), String> {
        // Of two that were admitted, another one may have been ready first.
        let machine = self.known.get(worker_name(session)).and_then(|known| known.machine.as_ref());
        let refusal = self.other_processor(session, machine).or_else(|| self.other_speed(session, nps));
        self.readied += 1;
        let readied = self.readied;
        let Some(known) = self.of(session).filter(|known| !known.is_dropped()) else { return Ok(()) };
        if known.session != session {
            // While it got ready, another machine of its name was heard.
            known.become_session(session);
        }
        known.nps = nps.filter(|nps| nps.is_finite());
        match refusal {
            Some(why) => {
                known.presence = Presence::Away(format!("refused: {why}"));
                known.ready = None;
                Err(why)
            }
            None => {
                known.ready.get_or_insert(readied);
                Ok(())
            }
        }
    }

    /// Reason why a session's machine must not play this run, if its processor is of another kind
    /// than the run's.
    fn other_processor(&self, session: &str, machine: Option<&Machine>) -> Option<String> {
        let class = self.class(worker_name(session), |known| known.machine.as_ref())?;
        let machine = machine.filter(|machine| self.has_class && machine.cpu != class.cpu)?;
        Some(format!(
            "worker {} has the processor `{}`, and this run under a clock is played by `{}`, where the same time is other chess; \
             play it at fixed --nodes, with workers of one kind, or with --scale ENGINE=NPS",
            worker_name(session),
            machine.cpu,
            class.cpu
        ))
    }

    /// Reason why a session must not play this run, if its speed is far from the run's.
    fn other_speed(&self, session: &str, nps: Option<f64>) -> Option<String> {
        let class = *self.class(worker_name(session), |known| known.nps.as_ref())?;
        let nps = nps.filter(|nps| self.has_class && !is_near(*nps, class, MOST_OFF))?;
        Some(format!(
            "worker {} searches {:.3} million nodes a second, and this run under a clock is played at {:.3} million, where the same \
             time is other chess; play it at fixed --nodes, with workers within {:.0} %, or with --scale ENGINE=NPS",
            worker_name(session),
            nps / 1e6,
            class / 1e6,
            MOST_OFF * 100.0
        ))
    }

    /// Records what a session that plays says about itself, if that is not known: it was admitted
    /// by an earlier life of the coordinator.
    pub(super) fn introduce(&mut self, session: &str, machine: Option<Machine>, nps: Option<f64>) {
        self.readied += 1;
        let readied = self.readied;
        if let Some(known) = self.of(session)
            && known.session == session
        {
            known.machine = known.machine.take().or(machine);
            known.nps = known.nps.or(nps.filter(|nps| nps.is_finite()));
            known.ready.get_or_insert(readied);
        }
    }

    /// Property of the worker that has been ready longest and has it, besides the one of this name.
    fn class<'a, T>(&'a self, name: &str, of: impl Fn(&'a KnownWorker) -> Option<&'a T>) -> Option<&'a T> {
        let others = self.known.iter().filter(|(other, known)| *other != name && known.presence == Presence::Here);
        let found = others.filter_map(|(_, known)| known.ready.zip(of(known)));
        found.min_by_key(|(ready, _)| *ready).map(|(_, value)| value)
    }

    /// Records a request or a sign of life of a slot. Of another session of a worker that serves it
    /// counts for nothing, unless the worker has been silent for [`LOST_AFTER`]: a late one of an
    /// earlier life must not hide the present one.
    pub(super) fn hear(&mut self, session: &str, slots: u16, now: Duration) {
        let Some(known) = self.of(session).filter(|known| !known.is_dropped()) else { return };
        if known.session != session {
            let silence = now.saturating_sub(*known.heard.get_or_insert(now));
            if known.presence == Presence::Here && silence <= LOST_AFTER {
                return;
            }
            known.become_session(session);
            known.slots = 0;
        }
        known.heard = Some(now);
        known.slots = known.slots.max(slots);
        known.presence = Presence::Here;
    }

    /// Records pairs of a session that are played again.
    pub(super) fn count_lost(&mut self, session: &str, pairs: usize) {
        if let Some(known) = self.of(session) {
            known.lost += pairs as u64;
        }
    }

    /// Records that a session is gone, and how many pairs it held.
    pub(super) fn lose(&mut self, session: &str, pairs: usize, why: &str) {
        self.count_lost(session, pairs);
        let Some(known) = self.of(session) else { return };
        // The reason of a refusal says more than the leaving that follows it.
        if known.presence == Presence::Here && known.session == session {
            known.presence = Presence::Away(why.to_owned());
        }
    }

    /// Drops a worker and all its lives from the run.
    pub(super) fn drop_worker(&mut self, name: &str, why: &str) {
        if let Some(known) = self.known.get_mut(name) {
            known.presence = Presence::Dropped(why.to_owned());
        }
    }

    /// Nodes per second that a session has measured.
    pub(super) fn nps(&self, session: &str) -> Option<f64> {
        self.known.get(worker_name(session)).filter(|known| known.session == session)?.nps
    }

    /// Number of workers that serve.
    pub(super) fn serving(&self) -> usize {
        self.known.values().filter(|known| known.presence == Presence::Here).count()
    }

    pub(super) fn is_dropped(&self, session: &str) -> bool {
        self.known.get(worker_name(session)).is_some_and(KnownWorker::is_dropped)
    }

    /// Counts a pair that these workers have played alike.
    pub(super) fn verify(&mut self, names: [&str; 2]) {
        for name in names {
            if let Some(known) = self.known.get_mut(name) {
                known.verified += 1;
            }
        }
    }

    /// States of all workers. `pairs` gives the numbers of the pairs that a session holds.
    pub(super) fn statuses(&self, pairs: impl Fn(&str) -> Vec<u64>) -> Vec<WorkerStatus> {
        let status = |(name, known): (&String, &KnownWorker)| WorkerStatus {
            name: name.clone(),
            machine: known
                .machine
                .as_ref()
                .map(|machine| format!("{}, {}", machine.cpu, count(machine.cores as u64, "core")))
                .unwrap_or_default(),
            slots: known.slots,
            lost: known.lost,
            verified: self.verifies.then_some(known.verified),
            serves: known.presence == Presence::Here,
            state: match &known.presence {
                Presence::Here => playing(&pairs(&known.session)),
                Presence::Away(why) | Presence::Dropped(why) => why.clone(),
            },
        };
        self.known.iter().map(status).collect()
    }
}

/// True if two speeds differ by at most this share of the larger one.
fn is_near(one: f64, other: f64, share: f64) -> bool {
    (one - other).abs() <= share * one.max(other)
}

fn playing(pairs: &[u64]) -> String {
    let list = || pairs.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    match pairs.len() {
        0 => "waiting".to_owned(),
        1 => format!("playing pair {}", list()),
        2..=NAMED_PAIRS => format!("playing pairs {}", list()),
        many => format!("playing {many} pairs"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(cpu: &str) -> Option<Machine> {
        Some(Machine { cpu: cpu.to_owned(), cores: 8, os: "any".to_owned() })
    }

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn states(roster: &Roster) -> Vec<String> {
        roster
            .statuses(|session| if session == "a-2" { vec![7] } else { Vec::new() })
            .into_iter()
            .map(|one| one.state)
            .collect()
    }

    #[test]
    fn a_run_under_a_clock_takes_processors_of_one_kind() {
        for (is_timed, taken) in [(true, false), (false, true)] {
            let mut roster = Roster::new(is_timed, false, false);
            for session in ["a-1", "b-1"] {
                roster.admit(session, machine("EPYC 7763")).unwrap();
                roster.admit_speed(session, None).unwrap();
            }
            let other = roster.admit("c-1", machine("i5-4460"));
            assert_eq!(other.is_ok(), taken, "{other:?}");
            if let Err(why) = other {
                assert!(why.contains("worker c has the processor `i5-4460`") && why.contains("--nodes"), "{why}");
                assert!(states(&roster)[2].starts_with("refused: worker c has"), "{:?}", states(&roster));
            }
            // The last one of a kind that comes back may have moved to another machine.
            roster.lose("a-1", 0, "gone");
            roster.lose("b-1", 0, "gone");
            assert!(roster.admit("a-2", machine("i5-4460")).is_ok());
        }
    }

    #[test]
    fn a_second_machine_under_one_name_is_refused_while_the_first_plays() {
        for (is_timed, taken) in [(true, false), (false, true)] {
            let mut roster = Roster::new(is_timed, false, false);
            roster.admit("a-1", machine("EPYC 7763")).unwrap();
            roster.admit_speed("a-1", Some(2e6)).unwrap();
            let second = roster.admit("a-2", machine("i5-4460"));
            assert_eq!(second.is_ok(), taken, "{second:?}");
            if let Err(why) = second {
                assert!(why.contains("plays this run as worker a") && why.contains("quintain hub invite"), "{why}");
                assert_eq!(states(&roster)[0], "waiting", "the first one stays");
                // It was moved to the other machine.
                roster.lose("a-1", 0, "gone");
                assert!(roster.admit("a-3", machine("i5-4460")).is_ok());
            }
        }
    }

    /// A worker that joins and never has its engines ready keeps no other ones out.
    #[test]
    fn the_first_worker_that_is_ready_sets_the_class() {
        let mut roster = Roster::new(true, false, false);
        for (session, cpu) in [("a-1", "i5-4460"), ("b-1", "EPYC 7763"), ("c-1", "EPYC 7763")] {
            roster.admit(session, machine(cpu)).unwrap();
        }
        roster.admit_speed("b-1", Some(2e6)).unwrap();
        roster.admit_speed("c-1", Some(2e6)).unwrap();
        assert!(roster.admit("d-1", machine("i5-4460")).is_err());
        // Its speed is near that of the others, its processor is not theirs.
        let late = roster.admit_speed("a-1", Some(2e6)).unwrap_err();
        assert!(late.contains("worker a has the processor `i5-4460`") && late.contains("by `EPYC 7763`"), "{late}");
        assert!(states(&roster)[0].starts_with("refused: worker a has"), "{:?}", states(&roster));
        // It sets no class either when the others are gone for a while.
        roster.lose("b-1", 0, "gone");
        roster.lose("c-1", 0, "gone");
        roster.admit("b-2", machine("EPYC 7763")).unwrap();
        roster.admit_speed("b-2", Some(2e6)).unwrap();
    }

    #[test]
    fn a_run_under_a_clock_takes_machines_of_one_speed() {
        for (is_timed, is_scaled, nps, taken) in [
            (true, false, Some(2.09e6), true),
            (true, false, Some(2.32e6), false),
            (true, false, Some(1.61e6), false),
            (true, false, None, true),
            (true, true, Some(1.61e6), true),
            (false, false, Some(1.61e6), true),
        ] {
            let mut roster = Roster::new(is_timed, is_scaled, false);
            // The one that serves longest sets the class, whatever its name.
            for (session, nps) in [("z-1", Some(2.19e6)), ("b-1", Some(2.1e6)), ("a-1", nps)] {
                roster.admit(session, machine("EPYC 7763")).unwrap();
                let admitted = roster.admit_speed(session, nps);
                assert_eq!(admitted.is_ok(), taken || session != "a-1", "{nps:?}: {admitted:?}");
                if let Err(why) = admitted {
                    assert!(why.contains("at 2.190 million") && why.contains("--scale ENGINE=NPS"), "{why}");
                    assert!(states(&roster)[0].starts_with("refused: worker a searches"), "{:?}", states(&roster));
                }
            }
        }
    }

    /// A worker that comes back may be on another machine, and is the last of its class then.
    #[test]
    fn a_worker_that_comes_back_sets_no_class_by_its_old_speed() {
        let mut roster = Roster::new(true, false, false);
        let mut comes = |session: &str, nps: Option<f64>| {
            roster.admit(session, machine("EPYC 7763")).unwrap();
            nps.is_none() || roster.admit_speed(session, nps).is_ok()
        };
        assert!(comes("a-1", Some(1e6)));
        // It has not measured its new speed yet when another one comes.
        assert!(comes("a-2", None));
        assert!(comes("b-1", Some(2e6)));
        assert!(!comes("a-2", Some(1e6)));
        // It was away, so the other one has served longest.
        assert!(comes("a-3", None) && comes("c-1", Some(2e6)));
    }

    /// A coordinator that resumes a run knows the class from those who play.
    #[test]
    fn the_class_is_that_of_those_who_play_already() {
        let mut roster = Roster::new(true, false, false);
        roster.introduce("a-1", machine("EPYC 7763"), Some(2e6));
        roster.hear("a-1", 0, at(0));
        assert!(roster.admit("b-1", machine("i5-4460")).is_err());
        roster.admit("c-1", machine("EPYC 7763")).unwrap();
        assert!(roster.admit_speed("c-1", Some(1e6)).is_err());
    }

    #[test]
    fn a_worker_is_one_over_its_lives_and_its_last_life_counts() {
        let mut roster = Roster::new(false, false, false);
        roster.admit("a-1", None).unwrap();
        roster.hear("a-1", 2, at(0));
        roster.lose("a-1", 2, "silent for 30 s");
        assert_eq!(states(&roster), ["silent for 30 s"]);
        roster.admit("a-2", None).unwrap();
        roster.hear("a-1", 9, at(60));
        let now = roster.statuses(|_| Vec::new());
        assert_eq!((now.len(), now[0].slots, now[0].lost, now[0].serves), (1, 2, 2, true));
        roster.lose("a-1", 0, "late news of the first life");
        assert_eq!(states(&roster), ["playing pair 7"]);
    }

    /// Two machines have one name, and one of them leaves.
    #[test]
    fn a_session_that_lives_takes_the_place_of_one_that_left() {
        let mut roster = Roster::new(true, false, false);
        for session in ["a-1", "a-2"] {
            roster.admit(session, machine("EPYC 7763")).unwrap();
            roster.hear(session, 1, at(0));
            roster.introduce(session, None, Some(2e6));
        }
        roster.lose("a-2", 0, "left");
        assert_eq!((roster.serving(), states(&roster)), (0, vec!["left".to_owned()]));
        roster.hear("a-1", 1, at(1));
        assert_eq!((roster.serving(), roster.nps("a-1")), (1, None));
        roster.introduce("a-1", machine("i5-4460"), Some(1e6));
        assert_eq!(roster.nps("a-1"), Some(1e6));
        assert!(roster.statuses(|_| Vec::new())[0].machine.starts_with("i5-4460"));
        // A late message of the one that left hides it, but not for long.
        roster.lose("a-1", 0, "silent for 30 s");
        roster.hear("a-2", 1, at(40));
        roster.hear("a-1", 1, at(70));
        assert_eq!(states(&roster), ["playing pair 7"]);
        roster.hear("a-1", 1, at(71));
        assert_eq!(states(&roster), ["waiting"]);
        // While both live, the name does not change its machine.
        for seconds in 72..200 {
            roster.hear("a-1", 1, at(seconds));
            roster.hear("a-2", 1, at(seconds));
            assert_eq!(states(&roster), ["waiting"]);
        }
    }

    /// One that takes long to get ready is judged by its speed, though the other was heard since.
    #[test]
    fn a_second_machine_of_a_name_must_be_as_fast() {
        let mut roster = Roster::new(true, false, false);
        for session in ["b-1", "a-1"] {
            roster.admit(session, machine("EPYC 7763")).unwrap();
            roster.admit_speed(session, Some(2e6)).unwrap();
        }
        roster.admit("a-2", machine("EPYC 7763")).unwrap();
        for seconds in [0, 31] {
            roster.hear("a-1", 1, at(seconds));
        }
        assert!(roster.admit_speed("a-2", Some(1e6)).is_err());
        roster.hear("a-1", 1, at(32));
        assert_eq!((roster.serving(), states(&roster)[0].as_str()), (2, "waiting"));
        roster.admit_speed("a-2", Some(2e6)).unwrap();
        assert_eq!(roster.nps("a-2"), Some(2e6));
    }

    #[test]
    fn a_dropped_worker_stays_out() {
        let mut roster = Roster::new(false, false, false);
        roster.admit("a-1", None).unwrap();
        roster.drop_worker("a", "dropped by `quintain ctl`");
        roster.hear("a-1", 1, at(0));
        roster.lose("a-1", 0, "ended");
        assert!(roster.is_dropped("a-1") && roster.is_dropped("a-2") && !roster.is_dropped("b-1"));
        assert!(roster.admit("a-2", None).unwrap_err().contains("is out of this run: dropped by"));
        assert_eq!(states(&roster), ["dropped by `quintain ctl`"]);
    }
}
