//! Finished games that wait for an earlier pair, in as little memory as they need.
//!
//! A few games always wait: those of pairs that were quicker than the one before them. They are kept as they are. If the next
//! pair is missing from a long journal, all games after it wait, and those far ahead are kept packed.

use crate::journal;
use crate::record::GameRecord;

/// Pairs ahead of the next one whose games are kept as they are.
const NEAR: u64 = 64;

/// A game that waits.
#[derive(Clone, Debug)]
pub(super) enum Waiting {
    Whole(Box<GameRecord>),
    /// As [`journal::pack`] has it.
    Packed(Box<[u8]>),
}

impl Waiting {
    /// A game of a pair that is so far `ahead` of the next one to count.
    pub(super) fn new(record: GameRecord, ahead: u64) -> Self {
        if ahead < NEAR { Self::Whole(Box::new(record)) } else { Self::Packed(journal::pack(&record).into()) }
    }

    /// The game; `None` if it was not packed by [`Waiting::new`].
    pub(super) fn into_record(self) -> Option<GameRecord> {
        match self {
            Self::Whole(record) => Some(*record),
            Self::Packed(packed) => journal::unpack(&packed),
        }
    }
}
