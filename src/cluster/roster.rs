//! Workers that a coordinator knows: who serves, who left, and why. No clock and no I/O.
//!
//! A worker has a name; each of its lives is a session, whose name ends with the number of the
//! life.

use std::collections::BTreeMap;

use super::leases::WorkerId;
use crate::plan::Machine;
use crate::tournament::workers::WorkerStatus;

/// Most workers that are known by name. Later ones play without being listed.
const MOST_WORKERS: usize = 20_000;

/// Pairs that a state names; of more it gives their number.
const NAMED_PAIRS: usize = 4;

/// Presence of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Presence {
    Here,
    /// It is gone or refused, for this reason.
    Away(String),
    /// The user dropped it.
    Dropped,
}

#[derive(Debug)]
struct Known {
    session: WorkerId,
    machine: Option<Machine>,
    slots: u16,
    lost: u64,
    presence: Presence,
}

/// Workers by name.
#[derive(Debug)]
pub(super) struct Roster {
    known: BTreeMap<String, Known>,
    /// True if all workers of the run must have the same processor.
    is_timed: bool,
}

/// Name of a worker: its session without the number of its life.
pub(super) fn name(session: &str) -> &str {
    session.rsplit_once('-').map_or(session, |(name, _)| name)
}

impl Roster {
    pub(super) const fn new(is_timed: bool) -> Self {
        Self { known: BTreeMap::new(), is_timed }
    }

    fn of(&mut self, session: &str) -> Option<&mut Known> {
        let name = name(session);
        if !self.known.contains_key(name) {
            if self.known.len() >= MOST_WORKERS {
                return None;
            }
            let (session, presence) = (session.to_owned(), Presence::Here);
            self.known.insert(name.to_owned(), Known { session, machine: None, slots: 0, lost: 0, presence });
        }
        self.known.get_mut(name)
    }

    /// Admits a session to the run.
    ///
    /// # Errors
    /// Returns the reason of a refusal, which names the worker and the remedy.
    pub(super) fn admit(&mut self, session: &str, machine: Option<Machine>) -> Result<(), String> {
        let class = self.class(name(session)).map(str::to_owned);
        let refusal = match (class, &machine) {
            (Some(class), Some(machine)) if self.is_timed && class != machine.cpu => Some(format!(
                "worker {} has the processor `{}`, and this run under a clock is played by `{class}`, where the same time is other \
                 chess; play it at fixed --nodes, or with workers of one kind",
                name(session),
                machine.cpu
            )),
            _ => None,
        };
        let Some(known) = self.of(session) else { return Ok(()) };
        if known.presence == Presence::Dropped {
            return Err(format!("worker {} was dropped from this run with `quintain ctl`", name(session)));
        }
        session.clone_into(&mut known.session);
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

    /// Processor of the workers that serve, besides the one of this name.
    fn class(&self, name: &str) -> Option<&str> {
        let others = self.known.iter().filter(|(other, known)| *other != name && known.presence == Presence::Here);
        others.filter_map(|(_, known)| known.machine.as_ref()).map(|machine| machine.cpu.as_str()).next()
    }

    /// Records a request or a sign of life of a slot. Of an earlier life of a worker it counts for
    /// nothing.
    pub(super) fn hear(&mut self, session: &str, slots: u16) {
        if let Some(known) = self.of(session)
            && known.presence != Presence::Dropped
            && known.session == session
        {
            known.slots = known.slots.max(slots);
            known.presence = Presence::Here;
        }
    }

    /// Records that a session is gone, and how many pairs it held.
    pub(super) fn lose(&mut self, session: &str, pairs: usize, why: &str) {
        let Some(known) = self.of(session) else { return };
        known.lost += pairs as u64;
        if known.presence != Presence::Dropped && known.session == session {
            known.presence = Presence::Away(why.to_owned());
        }
    }

    /// Drops a worker and all its lives from the run.
    pub(super) fn drop_worker(&mut self, name: &str) {
        if let Some(known) = self.known.get_mut(name) {
            known.presence = Presence::Dropped;
        }
    }

    pub(super) fn is_dropped(&self, session: &str) -> bool {
        self.known.get(name(session)).is_some_and(|known| known.presence == Presence::Dropped)
    }

    /// States of all workers. `pairs` gives the numbers of the pairs that a session holds.
    pub(super) fn statuses(&self, pairs: impl Fn(&str) -> Vec<u64>) -> Vec<WorkerStatus> {
        let status = |(name, known): (&String, &Known)| WorkerStatus {
            name: name.clone(),
            machine: known
                .machine
                .as_ref()
                .map(|machine| {
                    format!("{}, {}", machine.cpu, crate::report::figures::count(machine.cores as u64, "core"))
                })
                .unwrap_or_default(),
            slots: known.slots,
            lost: known.lost,
            serves: known.presence == Presence::Here,
            state: match &known.presence {
                Presence::Here => playing(&pairs(&known.session)),
                Presence::Away(why) => why.clone(),
                Presence::Dropped => "dropped by `quintain ctl`".to_owned(),
            },
        };
        self.known.iter().map(status).collect()
    }
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
            let mut roster = Roster::new(is_timed);
            roster.admit("a-1", machine("EPYC 7763")).unwrap();
            roster.admit("b-1", machine("EPYC 7763")).unwrap();
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
    fn a_worker_is_one_over_its_lives_and_its_last_life_counts() {
        let mut roster = Roster::new(false);
        roster.admit("a-1", None).unwrap();
        roster.hear("a-1", 2);
        roster.lose("a-1", 2, "silent for 30 s");
        assert_eq!(states(&roster), ["silent for 30 s"]);
        roster.admit("a-2", None).unwrap();
        roster.hear("a-1", 9);
        let now = roster.statuses(|_| Vec::new());
        assert_eq!((now.len(), now[0].slots, now[0].lost, now[0].serves), (1, 2, 2, true));
        roster.lose("a-1", 0, "late news of the first life");
        assert_eq!(states(&roster), ["playing pair 7"]);
    }

    #[test]
    fn a_dropped_worker_stays_out() {
        let mut roster = Roster::new(false);
        roster.admit("a-1", None).unwrap();
        roster.drop_worker("a");
        roster.hear("a-1", 1);
        roster.lose("a-1", 0, "ended");
        assert!(roster.is_dropped("a-1") && roster.is_dropped("a-2") && !roster.is_dropped("b-1"));
        assert!(roster.admit("a-2", None).unwrap_err().contains("was dropped"));
        assert_eq!(states(&roster), ["dropped by `quintain ctl`"]);
    }
}
