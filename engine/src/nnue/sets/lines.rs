//! Blocks about files, ranks and diagonals: the pieces on each, and neighbours along each.

use super::active::ActiveFeatures;
use super::oriented::{CODES, NO_PIECE, OrientedBoard};
use crate::types::{Bitboard, Square};

/// Family of parallel lines that cover the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// Files a to h.
    File,
    /// Ranks 1 to 8.
    Rank,
    /// Lines of equal `file + rank`, parallel to a8-h1.
    Diagonal,
    /// Lines of equal `file + 7 - rank`, parallel to a1-h8.
    Antidiagonal,
}

impl LineKind {
    /// Returns the number of lines: 8 or 15.
    pub const fn count(self) -> usize {
        match self {
            LineKind::File | LineKind::Rank => 8,
            LineKind::Diagonal | LineKind::Antidiagonal => 15,
        }
    }

    /// Returns the number of the line through a square.
    #[inline]
    pub const fn of(self, square: Square) -> usize {
        let (file, rank) = (square.file() as usize, square.rank() as usize);
        match self {
            LineKind::File => file,
            LineKind::Rank => rank,
            LineKind::Diagonal => file + rank,
            LineKind::Antidiagonal => file + 7 - rank,
        }
    }

    /// Returns the lines with a piece, one bit a line.
    #[inline]
    fn fold(self, set: Bitboard) -> u64 {
        match self {
            LineKind::File => {
                let half = set.0 | set.0 >> 32;
                let quarter = half | half >> 16;
                (quarter | quarter >> 8) & 0xFF
            }
            _ => set.iter().fold(0, |lines, square| lines | 1 << self.of(square)),
        }
    }

    /// Returns true if of two squares on a line the one with the higher index comes first by rising
    /// file.
    const fn runs_down(self) -> bool {
        matches!(self, LineKind::Diagonal)
    }
}

/// Adds `count * c + line` for each line with a piece `c`.
#[inline]
pub(super) fn add_lines(kind: LineKind, board: &OrientedBoard, first: usize, on: &mut ActiveFeatures) {
    for (code, &set) in board.pieces().iter().enumerate() {
        on.insert_bits(first + kind.count() * code, kind.fold(set));
    }
}

/// Adds `144 * line + 12 * c1 + c2` for neighbours `c1` and `c2` without a piece between them.
///
/// `c1` is below `c2` on a file, left of it on the others.
#[inline]
pub(super) fn add_line_pairs(kind: LineKind, board: &OrientedBoard, first: usize, on: &mut ActiveFeatures) {
    let codes = board.codes();
    let mut last = [NO_PIECE; 15];
    // Ascending squares go up the files and right along the ranks.
    for square in board.occupied() {
        let line = kind.of(square);
        let here = codes[square.index()];
        let before = std::mem::replace(&mut last[line], here);
        if before != NO_PIECE {
            let (one, two) = if kind.runs_down() { (here, before) } else { (before, here) };
            on.insert(first + CODES * CODES * line + CODES * usize::from(one) + usize::from(two));
        }
    }
}
