//! Context of a position in a line: the moves that led to it, by which histories are indexed.

use crate::board::Board;
use crate::types::{Bitboard, Move, Piece, Square};

/// Plies that have a low-ply history.
pub const LOW_PLIES: usize = 4;

/// A moved piece and where it went: what other moves are seen in the light of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PieceTo(u16);

impl PieceTo {
    pub const COUNT: usize = Piece::COUNT * Square::COUNT + 1;
    /// A passed move, or none.
    pub const NONE: PieceTo = PieceTo((PieceTo::COUNT - 1) as u16);

    /// Of a move about to be played.
    #[inline]
    pub fn new(board: &Board, mv: Move) -> PieceTo {
        match board.piece_at(mv.from()) {
            Some(piece) => PieceTo((piece.index() * Square::COUNT + mv.to().index()) as u16),
            None => PieceTo::NONE,
        }
    }

    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Moves and threats before a position, by which the histories of its moves are indexed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The last move, the one before, and the own before that.
    pub moves: [PieceTo; 3],
    /// The squares that the other side attacks.
    pub threats: Bitboard,
    /// Distance from the root, in plies.
    pub ply: usize,
}

impl Context {
    /// No moves before, and too far from the root to matter.
    pub const NONE: Context = Context { moves: [PieceTo::NONE; 3], threats: Bitboard::EMPTY, ply: LOW_PLIES };
}
