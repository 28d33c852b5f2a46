//! Leases of an earlier life of the coordinator, learnt from the workers that play them. No clock
//! and no I/O.
//!
//! A coordinator that resumes a run hands out no pair before it has heard the workers for a
//! while. A pair that one of them plays, or has played and sent, gets its lease back. If several
//! name one pair, the latest attempt holds it: the coordinator had given up the others.

use std::collections::BTreeMap;

use super::bounds::MOST_PAIRS;
use super::leases::{Attempt, WorkerId};
use crate::record::PairId;
use crate::schedule::remote::Seat;

/// Maximum lead of an attempt over the first one of this life: the microseconds of a century. No
/// clock is set back by more.
const MOST_LEAD: u64 = 100 * 366 * 24 * 3_600 * 1_000_000;

/// A lease as its worker names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LearntLease {
    pub(super) worker: WorkerId,
    pub(super) attempt: Attempt,
}

/// Leases that are being learnt, and results that came before them.
#[derive(Debug)]
pub(super) struct LearntLeases<R> {
    /// By the clock, which may have been set back.
    first: Attempt,
    by_pair: BTreeMap<PairId, LearntLease>,
    results: Vec<R>,
    /// Leases whose pairs the dispatcher was asked for; `None` while workers are heard.
    asked: Option<BTreeMap<Seat, (PairId, LearntLease)>>,
}

impl<R> LearntLeases<R> {
    /// Begins to listen. `first` is the first attempt of this life by the clock.
    pub(super) const fn new(first: Attempt) -> Self {
        Self { first, by_pair: BTreeMap::new(), results: Vec::new(), asked: None }
    }

    /// First attempt of this life: by the clock, but after all that are named.
    pub(super) fn first(&self) -> Attempt {
        let last = self.by_pair.values().map(|lease| lease.attempt).max();
        last.map_or(self.first, |last| self.first.max(Attempt(last.0 + 1)))
    }

    /// True while workers are heard.
    pub(super) const fn listens(&self) -> bool {
        self.asked.is_none()
    }

    /// Records leases that a worker names.
    pub(super) fn record(&mut self, worker: &str, named: impl IntoIterator<Item = (PairId, Attempt)>) {
        let mut held = self.by_pair.values().filter(|lease| lease.worker == worker).count();
        for (pair, attempt) in named {
            let is_late = self.by_pair.get(&pair).is_some_and(|known| known.attempt >= attempt);
            let is_invented = attempt.0.saturating_sub(self.first.0) > MOST_LEAD;
            if is_invented || is_late || held >= MOST_PAIRS {
                continue;
            }
            held += 1;
            self.by_pair.insert(pair, LearntLease { worker: worker.to_owned(), attempt });
        }
    }

    /// Keeps a result until the leases are known.
    pub(super) fn keep(&mut self, result: R) {
        self.results.push(result);
    }

    /// Forgets a pair that its worker gave back.
    pub(super) fn give_back(&mut self, worker: &str, pair: PairId, attempt: Attempt) {
        let is_it = |lease: &LearntLease| lease.worker == worker && lease.attempt == attempt;
        if self.by_pair.get(&pair).is_some_and(is_it) {
            self.by_pair.remove(&pair);
        }
    }

    /// Ends the listening. Returns the pairs to ask the dispatcher for, each with its seat.
    pub(super) fn ask(&mut self, mut seat: impl FnMut() -> Seat) -> Vec<(Seat, PairId)> {
        let asked = std::mem::take(&mut self.by_pair).into_iter().map(|lease| (seat(), lease)).collect();
        let asked: &BTreeMap<_, _> = self.asked.insert(asked);
        asked.iter().map(|(seat, (pair, _))| (*seat, *pair)).collect()
    }

    /// Takes the lease that a seat was asked for.
    pub(super) fn answered(&mut self, seat: Seat) -> Option<(PairId, LearntLease)> {
        self.asked.as_mut()?.remove(&seat)
    }

    /// True once the dispatcher has answered for each pair.
    pub(super) fn is_done(&self) -> bool {
        self.asked.as_ref().is_some_and(BTreeMap::is_empty)
    }

    /// Results that came meanwhile, in their order.
    pub(super) fn into_results(self) -> Vec<R> {
        self.results
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(leases: &[(u64, u64)]) -> Vec<(PairId, Attempt)> {
        leases.iter().map(|(pair, attempt)| (PairId(*pair), Attempt(*attempt))).collect()
    }

    fn asked(learnt: &mut LearntLeases<()>) -> Vec<(u64, String, u64)> {
        let mut next = 0;
        let seats = learnt.ask(|| {
            next += 1;
            Seat(next)
        });
        let of_seat = |(seat, pair)| {
            let (of, lease) = learnt.answered(seat).unwrap();
            assert_eq!(of, pair);
            (pair.0, lease.worker, lease.attempt.0)
        };
        seats.into_iter().map(of_seat).collect()
    }

    #[test]
    fn the_latest_attempt_of_a_pair_holds_it() {
        let mut learnt = LearntLeases::new(Attempt(100));
        learnt.record("a", named(&[(3, 11), (4, 12)]));
        learnt.record("b", named(&[(3, 15), (4, 9)]));
        learnt.record("a", named(&[(3, 11), (4, 12)]));
        assert!(learnt.listens() && !learnt.is_done());
        assert_eq!(asked(&mut learnt), [(3, "b".to_owned(), 15), (4, "a".to_owned(), 12)]);
        assert!(!learnt.listens() && learnt.is_done());
    }

    /// Attempts are numbered from the clock.
    #[test]
    fn leases_outlive_a_clock_that_was_set_back() {
        let mut learnt = LearntLeases::new(Attempt(100));
        learnt.record("a", named(&[(1, 7)]));
        assert_eq!(learnt.first(), Attempt(100));
        learnt.record("a", named(&[(2, 100), (3, 5_000)]));
        learnt.record("b", named(&[(4, u64::MAX)]));
        assert_eq!(learnt.first(), Attempt(5_001));
        let held = asked(&mut learnt).into_iter().map(|(pair, _, attempt)| (pair, attempt)).collect::<Vec<_>>();
        assert_eq!(held, [(1, 7), (2, 100), (3, 5_000)]);
    }

    #[test]
    fn a_pair_that_was_given_back_is_free() {
        let mut learnt = LearntLeases::new(Attempt(100));
        learnt.record("a", named(&[(1, 1), (2, 2), (3, 3)]));
        learnt.give_back("b", PairId(1), Attempt(1));
        learnt.give_back("a", PairId(2), Attempt(1));
        learnt.give_back("a", PairId(3), Attempt(3));
        assert_eq!(asked(&mut learnt).iter().map(|(pair, ..)| *pair).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn a_worker_is_believed_so_many_pairs_only() {
        let mut learnt = LearntLeases::new(Attempt(100));
        for pair in 0..2 * MOST_PAIRS as u64 {
            learnt.record("a", named(&[(pair, 1)]));
        }
        learnt.record("b", named(&[(u64::MAX, 1)]));
        assert_eq!(asked(&mut learnt).len(), MOST_PAIRS + 1);
    }
}
