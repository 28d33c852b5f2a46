//! Places for games on a worker's machine: each has a CPU of its own, and a game takes one for each
//! thread that searches at once. Its engines take memory too. The runs that a worker serves share
//! both.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Places and memory that no game holds.
#[derive(Clone, Debug)]
pub(super) struct Places(Arc<Mutex<FreePlaces>>);

#[derive(Debug)]
struct FreePlaces {
    /// Places by number, each with its CPUs; without CPUs if games are not bound.
    places: BTreeMap<u16, Vec<usize>>,
    memory_mib: u64,
}

/// Places and memory of one game. They are free again when this is dropped.
#[derive(Debug)]
pub(super) struct GamePlaces {
    from: Places,
    places: Vec<(u16, Vec<usize>)>,
    memory_mib: u64,
}

impl Places {
    /// Creates places with these numbers and CPUs, and the memory of all games together.
    pub(super) fn new(places: impl IntoIterator<Item = (u16, Vec<usize>)>, memory_mib: u64) -> Self {
        Self(Arc::new(Mutex::new(FreePlaces { places: places.into_iter().collect(), memory_mib })))
    }

    /// Takes the lowest free places and memory for a game; `None` if less is free.
    pub(super) fn take(&self, count: usize, memory_mib: u64) -> Option<GamePlaces> {
        let mut free = self.lock();
        if free.places.len() < count || count == 0 {
            return None;
        }
        free.memory_mib = free.memory_mib.checked_sub(memory_mib)?;
        let places = (0..count).filter_map(|_| free.places.pop_first()).collect();
        drop(free);
        Some(GamePlaces { from: self.clone(), places, memory_mib })
    }

    fn lock(&self) -> MutexGuard<'_, FreePlaces> {
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
        let mut free = self.from.lock();
        free.places.extend(self.places.drain(..));
        free.memory_mib += self.memory_mib;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_has_its_cpus_alone() {
        let places = Places::new([(0, vec![2]), (1, vec![4]), (2, vec![6])], 0);
        let first = places.take(2, 0).unwrap();
        assert_eq!(first.cpus(), [2, 4]);
        assert!(places.take(2, 0).is_none(), "one is left");
        let second = places.take(1, 0).unwrap();
        assert_eq!(second.cpus(), [6]);
        assert!(places.take(1, 0).is_none());
        drop(first);
        assert_eq!(places.take(1, 0).unwrap().cpus(), [2]);
        // A game that would be bound in part is not bound at all.
        let unbound = Places::new([(0, vec![2]), (1, Vec::new())], 0);
        assert!(unbound.take(2, 0).unwrap().cpus().is_empty());
    }

    #[test]
    fn games_of_all_runs_share_the_memory() {
        let places = Places::new((0..4).map(|place| (place, Vec::new())), 1_000);
        let of_one_run = places.take(1, 600).unwrap();
        assert!(places.take(1, 600).is_none());
        let of_another = places.take(1, 400).unwrap();
        assert_eq!((of_one_run.number(), of_another.number()), (0, 1), "a refused game keeps no place");
        drop(of_one_run);
        assert!(places.take(1, 601).is_none() && places.take(1, 600).is_some());
    }
}
