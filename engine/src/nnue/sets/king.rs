//! Blocks of pieces relative to the own king.

use super::active::ActiveFeatures;
use super::oriented::{KINGS, OrientedBoard};
use crate::types::Square;

/// Codes of pieces without kings: `enemy * 5 + kind`.
pub(super) const CODES_WITHOUT_KINGS: usize = 10;

/// Axes along which a piece's place is relative to the own king.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RelativeAxes {
    /// File and rank.
    Both,
    /// The file; the rank is that of the board.
    File,
    /// The rank; the file is that of the board.
    Rank,
}

impl RelativeAxes {
    /// Returns the number of places of a piece.
    pub(super) const fn places(self) -> usize {
        match self {
            RelativeAxes::Both => 15 * 15,
            RelativeAxes::File | RelativeAxes::Rank => 15 * 8,
        }
    }

    /// Returns the mask of the king's square on which the features depend: 7 is its file, 56 its
    /// rank.
    pub(super) const fn king_mask(self) -> u8 {
        match self {
            RelativeAxes::Both => 63,
            RelativeAxes::File => 7,
            RelativeAxes::Rank => 56,
        }
    }

    /// Returns the place of a piece for a king on a square.
    #[inline]
    fn place(self, king: Square, square: Square) -> usize {
        let steps = |king: u8, piece: u8| usize::from(king + 7 - piece);
        let (file, rank) = (usize::from(square.file()), usize::from(square.rank()));
        let by_file = steps(king.file(), square.file());
        let by_rank = steps(king.rank(), square.rank());
        match self {
            RelativeAxes::Both => 15 * by_file + by_rank,
            RelativeAxes::File => 8 * by_file + rank,
            RelativeAxes::Rank => 15 * file + by_rank,
        }
    }
}

/// Returns the code of a piece in blocks without kings; `None` for a king.
#[inline]
fn without_kings(code: usize) -> Option<usize> {
    (!KINGS.contains(&code)).then_some(code - code / 6)
}

/// Returns the feature of `king-piece` of a piece; `None` for a king.
#[inline]
pub(super) fn king_piece(king: Square, code: usize, square: Square) -> Option<usize> {
    Some(640 * king.index() + 64 * without_kings(code)? + square.index())
}

/// Returns the feature of `king-all` of a piece.
#[inline]
pub(super) fn king_all(king: Square, code: usize, square: Square) -> usize {
    768 * king.index() + 64 * code + square.index()
}

/// Returns the feature of `king-relative` of a piece; `None` for a king.
#[inline]
pub(super) fn king_relative(axes: RelativeAxes, king: Square, code: usize, square: Square) -> Option<usize> {
    Some(axes.places() * without_kings(code)? + axes.place(king, square))
}

/// Adds the features of all pieces in a block of one feature a piece.
#[inline]
pub(super) fn add_pieces(
    board: &OrientedBoard,
    first: usize,
    on: &mut ActiveFeatures,
    feature: impl Fn(Square, usize, Square) -> Option<usize>,
) {
    let king = board.king();
    for (code, &set) in board.pieces().iter().enumerate() {
        for square in set {
            if let Some(feature) = feature(king, code, square) {
                on.insert(first + feature);
            }
        }
    }
}
