//! The board from one side's view.

use crate::board::Board;
use crate::types::{Bitboard, Color, PieceType, Square};

/// Piece codes: own and enemy pieces of six kinds.
pub(super) const CODES: usize = 12;

/// Kings among the piece codes: own and enemy.
pub(super) const KINGS: [usize; 2] = [5, 11];

/// Code of an empty square in [`OrientedBoard::codes`].
pub(super) const NO_PIECE: u8 = CODES as u8;

/// Board from one side's view, turned so that this side plays up the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OrientedBoard {
    /// Pieces by code: `enemy * 6 + kind`.
    pieces: [Bitboard; CODES],
    occupied: Bitboard,
}

impl OrientedBoard {
    /// Creates a board from the pieces of each code, `enemy * 6 + kind`, which already have the
    /// side's orientation.
    pub fn new(pieces: [Bitboard; CODES]) -> OrientedBoard {
        let occupied = pieces.iter().fold(Bitboard::EMPTY, |all, &set| all | set);
        OrientedBoard { pieces, occupied }
    }

    /// Returns the pieces of each code.
    #[inline]
    pub fn pieces(&self) -> &[Bitboard; CODES] {
        &self.pieces
    }

    /// Returns all pieces.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.occupied
    }

    /// Returns the pieces of one side of this view: [`Color::White`] is the own one, which plays up
    /// the board.
    #[inline]
    pub(super) fn side(&self, color: Color) -> Bitboard {
        let first = 6 * color.index();
        self.pieces[first..first + 6].iter().fold(Bitboard::EMPTY, |all, &set| all | set)
    }

    /// Returns the board with only the pieces on `kept`.
    #[must_use]
    pub fn within(&self, kept: Bitboard) -> OrientedBoard {
        OrientedBoard { pieces: self.pieces.map(|set| set & kept), occupied: self.occupied & kept }
    }

    /// Returns the square of the own king; a1 if there is none.
    #[inline]
    pub fn king(&self) -> Square {
        self.pieces[PieceType::King.index()].lsb()
    }

    /// Returns the same position from the other side's view.
    #[must_use]
    #[inline]
    pub fn turned(&self) -> OrientedBoard {
        let pieces = std::array::from_fn(|code| self.pieces[(code + 6) % CODES].flip());
        OrientedBoard { pieces, occupied: self.occupied.flip() }
    }

    /// Returns the piece code of each square, [`NO_PIECE`] for an empty one.
    #[inline]
    pub(super) fn codes(&self) -> [u8; 64] {
        let mut codes = [NO_PIECE; 64];
        for (code, &set) in (0..).zip(&self.pieces) {
            for square in set {
                codes[square.index()] = code;
            }
        }
        codes
    }
}

impl From<(&Board, Color)> for OrientedBoard {
    #[inline]
    fn from((board, color): (&Board, Color)) -> OrientedBoard {
        let turn = |set: Bitboard| if color == Color::White { set } else { set.flip() };
        let pieces = std::array::from_fn(|code| {
            let owner = if code < 6 { color } else { !color };
            turn(board.colored(owner) & board.kind(PieceType::ALL[code % 6]))
        });
        OrientedBoard { pieces, occupied: turn(board.occupied()) }
    }
}
