//! Records of a game that a journal has already: the first counts.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::record::{GameId, GameRecord, Leg};

/// What stands in a journal so far: a checksum of each game.
#[derive(Debug, Default)]
pub(super) struct Twice {
    known: HashMap<GameId, u32>,
}

/// What a record is to those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Novelty {
    First,
    /// The same once more.
    Again,
    /// Another record of a game that stands there.
    Differs,
}

impl Twice {
    /// Takes the next record, whose line states the checksum `crc`.
    ///
    /// A void game takes the other game of its pair with it, and both are played again. So what comes after it is new.
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
