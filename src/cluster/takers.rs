//! Slots that asked for a pair and have none yet, in the order in which they asked. No clock and no
//! I/O.
//!
//! A fleet has thousands of them, and each message is of one slot. So a slot is found by its name,
//! and the slots of a user are counted as they come and go.

use std::collections::BTreeMap;
use std::time::Duration;

use super::by_user::CountByUser;
use super::leases::WorkerId;

/// A slot that asked for a pair.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taker {
    /// Session of its worker.
    pub(super) worker: WorkerId,
    /// Its number there.
    pub(super) slot: u16,
    /// Address of its answer.
    pub(super) reply: String,
    /// Time of its request.
    pub(super) since: Duration,
}

/// Slots that wait.
#[derive(Debug)]
pub(super) struct Takers {
    /// Requests by number: the lowest has waited longest.
    waiting: BTreeMap<u64, Taker>,
    /// Number of the request of each slot.
    by_slot: BTreeMap<WorkerId, BTreeMap<u16, u64>>,
    /// Number of waiting slots by user.
    by_user: CountByUser,
    next: u64,
}

impl Takers {
    /// Creates an empty queue.
    pub(super) const fn new() -> Self {
        Self { waiting: BTreeMap::new(), by_slot: BTreeMap::new(), by_user: CountByUser::new(), next: 0 }
    }

    /// Puts a slot at the end. An earlier request of the same slot is forgotten.
    pub(super) fn push(&mut self, taker: Taker) {
        self.remove(&taker.worker, taker.slot);
        let number = self.next;
        self.next += 1;
        self.by_slot.entry(taker.worker.clone()).or_default().insert(taker.slot, number);
        self.by_user.add(&taker.worker);
        self.waiting.insert(number, taker);
    }

    /// Forgets the request of a slot.
    pub(super) fn remove(&mut self, worker: &str, slot: u16) {
        if let Some(number) = self.by_slot.get(worker).and_then(|slots| slots.get(&slot)).copied() {
            self.take(number);
        }
    }

    /// Takes the slot that has waited longest.
    pub(super) fn pop(&mut self) -> Option<Taker> {
        let number = *self.waiting.first_key_value()?.0;
        self.take(number)
    }

    /// Takes the slot that has waited longest, if it asked before `time`.
    pub(super) fn pop_before(&mut self, time: Duration) -> Option<Taker> {
        let (number, _) = self.waiting.first_key_value().filter(|(_, taker)| taker.since < time)?;
        self.take(*number)
    }

    /// Takes the slots of chosen sessions, in their order.
    pub(super) fn extract(&mut self, is_chosen: impl Fn(&str) -> bool) -> Vec<Taker> {
        let chosen: Vec<_> =
            self.waiting.iter().filter(|(_, taker)| is_chosen(&taker.worker)).map(|(number, _)| *number).collect();
        chosen.into_iter().filter_map(|number| self.take(number)).collect()
    }

    /// Number of slots that wait.
    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Number of a user's slots that wait.
    pub(super) fn of_user(&self, user: &str) -> usize {
        self.by_user.get(user)
    }

    fn take(&mut self, number: u64) -> Option<Taker> {
        let taker = self.waiting.remove(&number)?;
        if let Some(slots) = self.by_slot.get_mut(&taker.worker) {
            slots.remove(&taker.slot);
            if slots.is_empty() {
                self.by_slot.remove(&taker.worker);
            }
        }
        self.by_user.remove(&taker.worker);
        Some(taker)
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::worker_name;
    use super::*;

    fn taker(worker: &str, slot: u16, since: u64) -> Taker {
        let (worker, reply, since) = (worker.to_owned(), format!("_INBOX.{since}"), Duration::from_secs(since));
        Taker { worker, slot, reply, since }
    }

    #[test]
    fn slots_are_served_in_the_order_of_their_last_requests() {
        let mut takers = Takers::new();
        for (at, (worker, slot)) in [("a-1", 0), ("b-1", 0), ("a-1", 1), ("a-1", 0)].into_iter().enumerate() {
            takers.push(taker(worker, slot, at as u64));
        }
        assert_eq!((takers.len(), takers.of_user("a"), takers.of_user("b"), takers.of_user("c")), (3, 2, 1, 0));
        assert_eq!(takers.pop_before(Duration::from_secs(1)), None);
        assert_eq!(takers.pop_before(Duration::from_secs(2)), Some(taker("b-1", 0, 1)));
        assert_eq!(takers.pop(), Some(taker("a-1", 1, 2)));
        assert_eq!(takers.pop(), Some(taker("a-1", 0, 3)));
        assert_eq!(takers.pop(), None);
        assert!(takers.by_slot.is_empty() && takers.by_user.is_empty());
    }

    #[test]
    fn the_slots_of_a_user_or_a_session_are_taken_together() {
        let mut takers = Takers::new();
        for (worker, slot) in [("a-1", 0), ("b-1", 0), ("a-2", 0), ("a-1", 3)] {
            takers.push(taker(worker, slot, 0));
        }
        let slots = |taken: Vec<Taker>| taken.into_iter().map(|one| (one.worker, one.slot)).collect::<Vec<_>>();
        assert_eq!(slots(takers.extract(|session| session == "a-1")), [("a-1".to_owned(), 0), ("a-1".to_owned(), 3)]);
        assert_eq!(slots(takers.extract(|session| worker_name(session) == "a")), [("a-2".to_owned(), 0)]);
        takers.remove("b-1", 1);
        assert_eq!((takers.len(), takers.of_user("a"), takers.of_user("b")), (1, 0, 1));
        takers.remove("b-1", 0);
        assert_eq!(takers.len(), 0);
        assert!(takers.by_slot.is_empty() && takers.by_user.is_empty());
    }
}
