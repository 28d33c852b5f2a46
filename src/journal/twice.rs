//! Repeated records of a game in a journal, of which the first counts.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::record::{GameId, GameRecord, Leg};

/// Checksums of the games recorded so far.
#[derive(Debug, Default)]
pub(crate) struct GameChecksums {
    known: HashMap<GameId, u32>,
}

/// Relation of a record to the records before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    First,
    /// Same record once more.
    Again,
    /// Different record of a game that was recorded before.
    Differs,
}

impl GameChecksums {
    /// Records a game, whose line states the checksum `crc`.
    ///
    /// A void game makes both games of its pair be played again, so their next records are new.
    pub(super) fn record(&mut self, game: &GameRecord, crc: Option<u32>) -> Novelty {
        let crc = crc.unwrap_or_default();
        if game.is_void {
            for leg in Leg::BOTH {
                self.known.remove(&GameId { leg, ..game.id });
            }
            return Novelty::First;
        }
        match self.known.entry(game.id) {
            Entry::Vacant(entry) => {
                entry.insert(crc);
                Novelty::First
            }
            Entry::Occupied(entry) if *entry.get() == crc => Novelty::Again,
            Entry::Occupied(_) => Novelty::Differs,
        }
    }
}
