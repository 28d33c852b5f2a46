//! Moves and threats that lead to a position, which index the histories.

use crate::board::Board;
use crate::types::{Bitboard, Move, Piece, Square};

/// Plies from the root that have a low-ply history.
pub const LOW_PLIES: usize = 4;

/// Moved piece with its target square: the index of the continuation histories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceTo(u16);

impl PieceTo {
    /// Number of values: every piece on every square, and none.
    pub const COUNT: usize = Piece::COUNT * Square::COUNT + 1;
    /// A null move, or no move at all.
    pub const NONE: PieceTo = PieceTo((PieceTo::COUNT - 1) as u16);

    /// Describes a move that is about to be played.
    #[inline]
    pub fn new(board: &Board, mv: Move) -> PieceTo {
        match board.piece_at(mv.from()) {
            Some(piece) => PieceTo((piece.index() * Square::COUNT + mv.to().index()) as u16),
            None => PieceTo::NONE,
        }
    }

    /// Returns the index, below [`Self::COUNT`].
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Moves and threats before a position, which index the histories of its moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The last move, the move before it, and the side to move's own move before that.
    pub moves: [PieceTo; 3],
    /// Squares that the opponent attacks; all if unknown.
    pub threats: Bitboard,
    /// Distance from the root, in plies.
    pub ply: usize,
}

impl Context {
    /// No moves before, threats unknown, and too far from the root for the low-ply history.
    pub const NONE: Context = Context { moves: [PieceTo::NONE; 3], threats: Bitboard::ALL, ply: LOW_PLIES };
}
