//! Finished games that wait for an earlier pair, stored in little memory.
//!
//! A few games always wait, because their pair was quicker than the one before it. They are kept as
//! they are. If the next pair is missing from a long journal, all games after it wait. Those far
//! ahead are kept with their moves packed.

use crate::journal;
use crate::record::GameRecord;

/// Pairs ahead of the next one whose games are kept as they are.
const NEAR: u64 = 64;

/// A game that waits for an earlier pair.
#[derive(Clone, Debug)]
pub(super) enum WaitingGame {
    Whole(Box<GameRecord>),
    /// The game without its moves, and their bytes from [`journal::pack_moves`].
    Packed(Box<GameRecord>, Box<[u8]>),
}

impl WaitingGame {
    /// Stores a game whose pair is `ahead` pairs after the next one to count.
    pub(super) fn new(mut record: GameRecord, ahead: u64) -> Self {
        if ahead < NEAR {
            return Self::Whole(Box::new(record));
        }
        let moves = journal::pack_moves(&std::mem::take(&mut record.moves));
        Self::Packed(Box::new(record), moves)
    }

    /// The game; `None` if it was not packed by [`WaitingGame::new`].
    pub(super) fn into_record(self) -> Option<GameRecord> {
        match self {
            Self::Whole(record) => Some(*record),
            Self::Packed(record, moves) => Some(GameRecord { moves: journal::unpack_moves(&moves)?, ..*record }),
        }
    }
}
