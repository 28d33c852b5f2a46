//! Leases: which worker plays which pair. No clock and no I/O; times are since any fixed moment.
//!
//! A lease ends by silence about its pair, never by slowness. Playing a slow pair elsewhere and
//! counting the game that ends first would prefer short games. For the same reason each lease has
//! an *attempt*: only the result of the attempt that holds the lease counts, however early another
//! one arrives.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::by_user::CountByUser;
use super::link::worker_name;
use crate::record::PairId;

/// Number of a lease. It grows over the lives of a run's process, so that a result of an earlier
/// life is never taken for one of this life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Attempt(pub(crate) u64);

/// Session of a worker, from its connection to its end.
pub(crate) type WorkerId = String;

/// Silence of a worker about a pair after which its lease is lost.
pub(super) const LOST_AFTER: Duration = Duration::from_secs(30);

/// Leases of a pair that were lost, after which the pair is given up.
const MOST_LOSSES: usize = 5;

/// Workers that must have lost a pair before it is given up; lives of one if there is no other.
const LEAST_LOSERS: usize = 2;

/// Slot of a lease of an earlier life. No slot asks for its pair again, because its worker plays
/// it.
const UNKNOWN_SLOT: u16 = u16::MAX;

/// A pair in the hands of a worker.
#[derive(Debug)]
pub(crate) struct Lease<T> {
    /// The worker.
    pub(crate) worker: WorkerId,
    /// Its slot, from 0.
    pub(crate) slot: u16,
    /// Number of the lease.
    pub(crate) attempt: Attempt,
    /// Payload of the owner.
    pub(crate) work: T,
    heard: Duration,
    /// Signs of life of its worker since the last one that named it.
    unnamed: u32,
}

impl<T> Lease<T> {
    /// True if its worker gives signs of life that do not name it. The first of them may have been
    /// sent before the worker got the pair.
    pub(crate) const fn is_dropped(&self) -> bool {
        self.unnamed > 1
    }
}

/// Leases of a run.
#[derive(Debug)]
pub(crate) struct Leases<T> {
    held: BTreeMap<PairId, Lease<T>>,
    /// Pairs by the worker that holds them. A fleet has thousands of leases, and each message is of
    /// one worker.
    of_worker: BTreeMap<WorkerId, BTreeSet<PairId>>,
    /// Number of pairs by the user whose workers hold them.
    of_user: CountByUser,
    /// Losses of pairs, by the session that lost them.
    losses: BTreeMap<PairId, Vec<WorkerId>>,
    lost_after: Duration,
    next: Attempt,
}

impl<T> Leases<T> {
    /// Creates a table without leases. Attempts are numbered from `first`. A lease that its worker
    /// does not name for `lost_after` is lost.
    pub(crate) const fn new(first: Attempt, lost_after: Duration) -> Self {
        Self {
            held: BTreeMap::new(),
            of_worker: BTreeMap::new(),
            of_user: CountByUser::new(),
            losses: BTreeMap::new(),
            lost_after,
            next: first,
        }
    }

    /// Number of the next lease.
    pub(crate) const fn next(&self) -> Attempt {
        self.next
    }

    /// Numbers later leases from `first` on.
    pub(crate) const fn continue_from(&mut self, first: Attempt) {
        self.next = first;
    }

    /// Leases a pair to a slot of a worker.
    pub(crate) fn grant(&mut self, pair: PairId, worker: &str, slot: u16, work: T, now: Duration) -> Attempt {
        let attempt = self.next;
        self.next = Attempt(attempt.0 + 1);
        self.insert(pair, Lease { worker: worker.to_owned(), slot, attempt, work, heard: now, unnamed: 0 });
        attempt
    }

    /// Leases a pair again to the worker that holds it since an earlier life of the process.
    pub(crate) fn adopt(&mut self, pair: PairId, worker: WorkerId, attempt: Attempt, work: T, now: Duration) {
        self.insert(pair, Lease { worker, slot: UNKNOWN_SLOT, attempt, work, heard: now, unnamed: 0 });
    }

    /// Puts a lease into all tables.
    fn insert(&mut self, pair: PairId, lease: Lease<T>) {
        self.remove(pair);
        self.of_worker.entry(lease.worker.clone()).or_default().insert(pair);
        self.of_user.add(&lease.worker);
        self.held.insert(pair, lease);
    }

    /// Lease that a slot of a worker holds, if any, except those that `is_sent`. A slot that asks
    /// for a pair while it holds one has not got the answer to its last request.
    pub(crate) fn of_slot(
        &self,
        worker: &str,
        slot: u16,
        is_sent: impl Fn(PairId, Attempt) -> bool,
    ) -> Option<&Lease<T>> {
        let held = self.pairs_of(worker).filter_map(|pair| Some((pair, self.held.get(&pair)?)));
        let mut of_slot = held.filter(|(_, lease)| lease.slot == slot);
        of_slot.find(|(pair, lease)| !is_sent(*pair, lease.attempt)).map(|(_, lease)| lease)
    }

    /// Lease of `pair`.
    pub(crate) fn of_pair(&self, pair: PairId) -> Option<&Lease<T>> {
        self.held.get(&pair)
    }

    /// Lease of `pair`, if its attempt is `attempt`.
    pub(crate) fn get(&self, pair: PairId, attempt: Attempt) -> Option<&Lease<T>> {
        self.held.get(&pair).filter(|lease| lease.attempt == attempt)
    }

    /// True if `worker` holds the lease of `pair` with this attempt.
    pub(crate) fn holds(&self, worker: &str, pair: PairId, attempt: Attempt) -> bool {
        self.get(pair, attempt).is_some_and(|lease| lease.worker == worker)
    }

    /// Records a sign that `worker` has this lease, if it holds it.
    pub(crate) fn renew(&mut self, worker: &str, pair: PairId, attempt: Attempt, now: Duration) {
        if let Some(lease) = self.get_mut(pair, attempt).filter(|lease| lease.worker == worker) {
            (lease.heard, lease.unnamed) = (now, 0);
        }
    }

    /// Lease of `pair` to change, if its attempt is `attempt`.
    pub(crate) fn get_mut(&mut self, pair: PairId, attempt: Attempt) -> Option<&mut Lease<T>> {
        self.held.get_mut(&pair).filter(|lease| lease.attempt == attempt)
    }

    /// Records a sign of life of a worker, which names the leases that it plays and those whose
    /// results it has sent. Its other leases are not renewed: it has lost their pairs. Returns the
    /// leases that it plays and does not hold.
    pub(crate) fn beat(
        &mut self,
        worker: &str,
        played: &[(PairId, Attempt)],
        sent: &[(PairId, Attempt)],
        now: Duration,
    ) -> Vec<(PairId, Attempt)> {
        for pair in self.of_worker.get(worker).into_iter().flatten() {
            if let Some(lease) = self.held.get_mut(pair) {
                lease.unnamed = lease.unnamed.saturating_add(1);
            }
        }
        for (pair, attempt) in played.iter().chain(sent) {
            self.renew(worker, *pair, *attempt, now);
        }
        played.iter().copied().filter(|(pair, attempt)| !self.holds(worker, *pair, *attempt)).collect()
    }

    /// Ends a lease whose pair `worker` played or gave back; `None` if `attempt` does not hold it,
    /// or for another worker.
    pub(crate) fn settle(&mut self, worker: &str, pair: PairId, attempt: Attempt) -> Option<Lease<T>> {
        if self.holds(worker, pair, attempt) { self.remove(pair) } else { None }
    }

    /// Ends the leases of whose pairs nothing was heard for too long, and returns them by pair.
    pub(crate) fn expire(&mut self, now: Duration) -> Vec<(PairId, Lease<T>)> {
        let limit = self.lost_after;
        self.lose(|lease| now.saturating_sub(lease.heard) > limit)
    }

    /// Ends the leases of a worker that is known to be gone, and returns them by pair.
    pub(crate) fn lose_worker(&mut self, worker: &str) -> Vec<(PairId, Lease<T>)> {
        self.lose(|lease| lease.worker == worker)
    }

    /// Ends one lease, whose worker is to blame, and returns it with its pair.
    pub(crate) fn lose_attempt(&mut self, attempt: Attempt) -> Vec<(PairId, Lease<T>)> {
        self.lose(|lease| lease.attempt == attempt)
    }

    /// All leases.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lease<T>> {
        self.held.values()
    }

    /// Pairs that a worker holds.
    pub(crate) fn pairs_of(&self, worker: &str) -> impl Iterator<Item = PairId> {
        self.of_worker.get(worker).into_iter().flatten().copied()
    }

    /// Number of pairs that the workers of a user hold.
    pub(crate) fn of_user(&self, user: &str) -> usize {
        self.of_user.get(user)
    }

    /// Ends the leases of chosen workers without blame, and returns them by pair.
    pub(crate) fn release(&mut self, is_chosen: impl Fn(&str) -> bool) -> Vec<(PairId, Lease<T>)> {
        self.extract(|lease| is_chosen(&lease.worker))
    }

    /// Ends all leases without blame.
    pub(crate) fn clear(&mut self) -> Vec<(PairId, Lease<T>)> {
        self.extract(|_| true)
    }

    fn extract(&mut self, is_chosen: impl Fn(&Lease<T>) -> bool) -> Vec<(PairId, Lease<T>)> {
        let chosen: Vec<_> = self.held.iter().filter(|(_, lease)| is_chosen(lease)).map(|(pair, _)| *pair).collect();
        chosen.into_iter().filter_map(|pair| Some((pair, self.remove(pair)?))).collect()
    }

    /// Removes a lease from all tables.
    fn remove(&mut self, pair: PairId) -> Option<Lease<T>> {
        let lease = self.held.remove(&pair)?;
        if let Some(pairs) = self.of_worker.get_mut(&lease.worker) {
            pairs.remove(&pair);
            if pairs.is_empty() {
                self.of_worker.remove(&lease.worker);
            }
        }
        self.of_user.remove(&lease.worker);
        Some(lease)
    }

    fn lose(&mut self, is_lost: impl Fn(&Lease<T>) -> bool) -> Vec<(PairId, Lease<T>)> {
        let lost = self.extract(is_lost);
        for (pair, lease) in &lost {
            self.losses.entry(*pair).or_default().push(lease.worker.clone());
        }
        lost
    }

    /// Sessions that lost `pair`, if their number suggests that the next one would be lost too. One
    /// worker alone ends no run that others serve, unless it `is_lonely`.
    pub(crate) fn poisoned(&self, pair: PairId, is_lonely: bool) -> Option<&[WorkerId]> {
        let losers = self.losses.get(&pair)?;
        let distinct: BTreeSet<_> =
            losers.iter().map(|session| if is_lonely { session } else { worker_name(session) }).collect();
        (losers.len() >= MOST_LOSSES && distinct.len() >= LEAST_LOSERS).then_some(losers)
    }

    /// Forgets the losses of a pair that was played.
    pub(crate) fn forget(&mut self, pair: PairId) {
        self.losses.remove(&pair);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(30);

    fn leases() -> Leases<&'static str> {
        Leases::new(Attempt(100), LIMIT)
    }

    fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    #[test]
    fn a_lease_ends_by_silence_and_never_by_slowness() {
        let mut leases = leases();
        let attempt = leases.grant(PairId(4), "a", 0, "work", seconds(0));
        for at in (10..3_600).step_by(10) {
            assert_eq!(leases.beat("a", &[(PairId(4), attempt)], &[], seconds(at)), [], "{at}");
            assert!(leases.expire(seconds(at + 9)).is_empty(), "{at}");
        }
        assert!(leases.expire(seconds(3_590 + 30)).is_empty(), "a whole limit is no silence");
        let lost = leases.expire(seconds(3_590 + 31));
        assert_eq!(lost.iter().map(|(pair, lease)| (pair.0, lease.work)).collect::<Vec<_>>(), [(4, "work")]);
        assert!(leases.expire(seconds(9_999)).is_empty(), "it is lost once");
    }

    /// A worker that came back after an outage may have dropped pairs of which the coordinator did
    /// not hear.
    #[test]
    fn a_sign_of_life_keeps_the_leases_that_it_names_and_no_other() {
        let mut leases = leases();
        let attempts = [1, 2, 3].map(|pair| leases.grant(PairId(pair), "a", 0, "", seconds(0)));
        let of_b = leases.grant(PairId(4), "b", 0, "", seconds(0));
        let [played, sent, dropped] = attempts;
        let named = [(PairId(1), played), (PairId(3), Attempt(dropped.0 + 100)), (PairId(4), of_b)];
        assert_eq!(leases.beat("a", &named, &[(PairId(2), sent)], seconds(20)), named[1..]);
        leases.beat("a", &[], &[(PairId(2), sent)], seconds(21));
        let lost = leases.expire(seconds(40));
        let lost: Vec<_> = lost.into_iter().map(|(pair, lease)| (pair.0, lease.is_dropped())).collect();
        assert_eq!(lost, [(3, true), (4, false)], "the one worker dropped it, the other one is silent");
        leases.renew("a", PairId(1), played, seconds(45));
        let lost: Vec<_> = leases.expire(seconds(60)).into_iter().map(|(pair, _)| pair.0).collect();
        assert_eq!(lost, [2]);
    }

    /// The result of a lost lease counts neither before nor after the pair was played again.
    #[test]
    fn only_the_attempt_that_holds_the_lease_is_settled() {
        let mut leases = leases();
        let first = leases.grant(PairId(7), "a", 0, "first", seconds(0));
        assert_eq!(leases.expire(seconds(31)).len(), 1);
        assert!(leases.settle("a", PairId(7), first).is_none());
        let second = leases.grant(PairId(7), "b", 3, "second", seconds(32));
        assert!(second > first);
        assert!(leases.settle("a", PairId(7), first).is_none(), "late, and before the new one");
        assert_eq!(leases.beat("a", &[(PairId(7), first)], &[], seconds(33)), [(PairId(7), first)]);
        assert!(leases.settle("a", PairId(7), second).is_none(), "another worker's lease");
        assert_eq!(leases.settle("b", PairId(7), second).unwrap().work, "second");
        assert!(leases.settle("b", PairId(7), second).is_none(), "it is settled once");
    }

    #[test]
    fn a_worker_names_leases_of_its_own_only() {
        let mut leases = leases();
        let attempt = leases.grant(PairId(1), "a", 0, "", seconds(0));
        assert_eq!(leases.beat("b", &[(PairId(1), attempt)], &[], seconds(1)), [(PairId(1), attempt)]);
    }

    /// A worker that continues the pair of an earlier life keeps it, as any other would.
    #[test]
    fn a_lease_of_an_earlier_life_is_held_again() {
        let mut leases = leases();
        leases.adopt(PairId(5), "a".to_owned(), Attempt(7), "work", seconds(0));
        assert_eq!(leases.beat("a", &[(PairId(5), Attempt(7))], &[], seconds(20)), []);
        assert!(leases.of_slot("a", 0, |_, _| false).is_none(), "its slots ask for other pairs");
        assert!(leases.expire(seconds(50)).is_empty());
        assert_eq!(leases.settle("a", PairId(5), Attempt(7)).unwrap().work, "work");
    }

    #[test]
    fn a_slot_that_asks_again_is_found_to_hold_its_pair() {
        let mut leases = leases();
        let attempt = leases.grant(PairId(5), "a", 2, "work", seconds(0));
        let never = |_, _| false;
        assert_eq!(leases.of_slot("a", 2, never).map(|lease| (lease.work, lease.attempt)), Some(("work", attempt)));
        assert!(leases.of_slot("a", 1, never).is_none());
        assert!(leases.of_slot("b", 2, never).is_none());
        // Its result is on the way, so it asks for another one.
        assert!(leases.of_slot("a", 2, |pair, sent| (pair, sent) == (PairId(5), attempt)).is_none());
    }

    /// Every way that a lease ends takes it from its worker too, and a pair that is leased again
    /// has one holder.
    #[test]
    fn a_worker_holds_what_was_leased_to_it_and_has_not_ended() {
        let held = |leases: &Leases<&str>, worker: &str| leases.pairs_of(worker).map(|pair| pair.0).collect::<Vec<_>>();
        let mut leases = leases();
        let attempts = [5, 3, 8].map(|pair| leases.grant(PairId(pair), "a", 0, "", seconds(0)));
        leases.grant(PairId(4), "b", 0, "", seconds(0));
        assert_eq!((held(&leases, "a"), held(&leases, "b")), (vec![3, 5, 8], vec![4]));
        assert!(leases.settle("a", PairId(3), attempts[1]).is_some());
        leases.grant(PairId(8), "b", 1, "", seconds(40));
        assert_eq!((held(&leases, "a"), held(&leases, "b")), (vec![5], vec![4, 8]));
        assert_eq!(leases.expire(seconds(41)).len(), 2);
        assert_eq!((held(&leases, "a"), held(&leases, "b")), (vec![], vec![8]));
        leases.grant(PairId(5), "a", 0, "", seconds(41));
        assert_eq!(leases.release(|worker| worker == "a").len(), 1);
        leases.grant(PairId(5), "c", 0, "", seconds(41));
        assert_eq!(leases.lose_worker("c").len(), 1);
        assert_eq!(leases.clear().len(), 1);
        assert!(["a", "b", "c"].iter().all(|worker| leases.pairs_of(worker).next().is_none()));
        assert!(leases.of_worker.is_empty() && leases.of_user.is_empty());
    }

    #[test]
    fn the_pairs_of_a_user_are_counted_over_its_workers() {
        let mut leases = leases();
        for (pair, worker) in [(1, "a-1"), (2, "a-2"), (3, "a-b-1"), (2, "a-1")] {
            leases.grant(PairId(pair), worker, 0, "", seconds(0));
        }
        let counts = |leases: &Leases<&str>| ["a", "a-b", "b"].map(|user| leases.of_user(user));
        assert_eq!(counts(&leases), [2, 1, 0]);
        leases.lose_worker("a-1");
        assert_eq!(counts(&leases), [0, 1, 0]);
    }

    #[test]
    fn a_pair_that_ends_its_workers_is_given_up() {
        for (workers, is_lonely, poisoned) in [
            (&["a-1", "b-1", "a-1", "b-1"][..], false, false),
            (&["a-1", "a-1", "a-1", "a-1", "a-1"], true, false),
            (&["a-1", "b-1", "a-1", "c-1", "a-1"], false, true),
            // The lives of one worker, without and with others that may play the pair.
            (&["a-1", "a-2", "a-3", "a-4", "a-5"], true, true),
            (&["a-1", "a-2", "a-3", "a-4", "a-5"], false, false),
        ] {
            let mut leases = leases();
            for worker in workers {
                leases.grant(PairId(9), worker, 0, "", seconds(0));
                assert_eq!(leases.lose_worker(worker).len(), 1);
            }
            assert_eq!(leases.poisoned(PairId(9), is_lonely).is_some(), poisoned, "{workers:?}");
            leases.forget(PairId(9));
            assert!(leases.poisoned(PairId(9), is_lonely).is_none());
        }
    }
}
