//! Places for games on a worker's machine: each has a CPU of its own, and a game takes one for each
//! thread that searches at once. The runs that a worker serves share them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Free places by number, each with its CPUs; without CPUs if games are not bound.
#[derive(Clone, Debug)]
pub(super) struct Places(Arc<Mutex<BTreeMap<u16, Vec<usize>>>>);

/// Places of one game. They are free again when this is dropped.
#[derive(Debug)]
pub(super) struct GamePlaces {
    from: Places,
    places: Vec<(u16, Vec<usize>)>,
}

impl Places {
    /// Creates places with these numbers and CPUs.
    pub(super) fn new(places: impl IntoIterator<Item = (u16, Vec<usize>)>) -> Self {
        Self(Arc::new(Mutex::new(places.into_iter().collect())))
    }

    /// Takes the lowest free places; `None` if fewer are free.
    pub(super) fn take(&self, count: usize) -> Option<GamePlaces> {
        let mut free = self.lock();
        if free.len() < count || count == 0 {
            return None;
        }
        let places = (0..count).filter_map(|_| free.pop_first()).collect();
        drop(free);
        Some(GamePlaces { from: self.clone(), places })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u16, Vec<usize>>> {
        // No step under the lock can leave the table half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GamePlaces {
    /// Number of the first place.
    pub(super) fn number(&self) -> u16 {
        self.places.first().map_or(0, |(number, _)| *number)
    }

    /// CPUs of the game; empty if it is not bound.
    pub(super) fn cpus(&self) -> Vec<usize> {
        if self.places.iter().any(|(_, cpus)| cpus.is_empty()) {
            return Vec::new();
        }
        self.places.iter().flat_map(|(_, cpus)| cpus.iter().copied()).collect()
    }
}

impl Drop for GamePlaces {
    fn drop(&mut self) {
        self.from.lock().extend(self.places.drain(..));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_has_its_cpus_alone() {
        let places = Places::new([(0, vec![2]), (1, vec![4]), (2, vec![6])]);
        let first = places.take(2).unwrap();
        assert_eq!(first.cpus(), [2, 4]);
        assert!(places.take(2).is_none(), "one is left");
        let second = places.take(1).unwrap();
        assert_eq!(second.cpus(), [6]);
        assert!(places.take(1).is_none());
        drop(first);
        assert_eq!(places.take(1).unwrap().cpus(), [2]);
        // A game that would be bound in part is not bound at all.
        let unbound = Places::new([(0, vec![2]), (1, Vec::new())]);
        assert!(unbound.take(2).unwrap().cpus().is_empty());
    }
}
