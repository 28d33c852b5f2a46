//! Blocks of features and their table: code in files, name, other names.

use super::active::ActiveFeatures;
use super::king::{self, CODES_WITHOUT_KINGS, RelativeAxes};
use super::lines::{self, LineKind};
use super::mobility;
use super::oriented::{CODES, OrientedBoard};
use super::pairs::PairList;
use crate::types::Square;
use std::fmt;
use std::sync::Arc;

/// Group of features of one kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FeatureBlock {
    /// Pieces on squares.
    Piece,
    /// Pieces on lines.
    Lines(LineKind),
    /// Pieces but kings on squares, for each square of the own king.
    KingPiece,
    /// Pieces on squares, for each square of the own king.
    KingAll,
    /// Pieces but kings relative to the own king.
    KingRelative(RelativeAxes),
    /// Moves from square to square.
    Moves,
    /// Chosen pairs of pieces.
    TopPairs(Arc<PairList>),
    /// Pieces that are neighbours on lines.
    LinePairs(LineKind),
    /// Squares that kinds of pieces can go to.
    MobilitySquares,
    /// Numbers of squares that kinds of pieces can go to.
    MobilityCounts,
}

/// Dependence of a block's features on the board, which determines how an accumulator is updated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locality {
    /// Each feature is of one piece and the own king's square masked by `king_mask`: 0 for none, 7
    /// for the file, 56 for the rank, 63 for the square. While these bits stay, a move changes only
    /// the features of the pieces it moves.
    Piece {
        /// Bits of the own king's square on which the features depend.
        king_mask: u8,
    },
    /// A feature is of several pieces.
    Board,
}

impl Locality {
    /// Returns the dependence of two blocks together.
    pub(super) const fn and(self, other: Locality) -> Locality {
        match (self, other) {
            (Locality::Piece { king_mask: a }, Locality::Piece { king_mask: b }) => {
                Locality::Piece { king_mask: a | b }
            }
            _ => Locality::Board,
        }
    }
}

/// Block with its code in network files, its name, and the names of a master thesis: those of the
/// text in capitals, those of the code in small letters.
pub(super) struct BlockRow {
    pub block: FeatureBlock,
    pub code: u16,
    pub name: &'static str,
    pub aliases: &'static [&'static str],
}

const fn row(code: u16, name: &'static str, block: FeatureBlock, aliases: &'static [&'static str]) -> BlockRow {
    BlockRow { block, code, name, aliases }
}

/// Code of `top-pairs` in network files.
pub(in super::super) const TOP_PAIRS_CODE: u16 = 12;

/// Name of `top-pairs`, before its number of pairs.
pub(super) const TOP_PAIRS_NAME: &str = "top-pairs";

/// Other names of `top-pairs`.
pub(super) const TOP_PAIRS_ALIASES: [&str; 3] = ["HALF-TOP(PP)", "TOP-PP", "stats_topk"];

/// All blocks except `top-pairs`, which has a list.
///
/// The thesis' text and code exchange PV and PH: the code's `ph` walks along files, and its text
/// names that PV.
pub(super) static BLOCKS: [BlockRow; 17] = [
    row(1, "piece", FeatureBlock::Piece, &["PIECE", "all", "hv", "half-piece"]),
    row(2, "file", FeatureBlock::Lines(LineKind::File), &["H", "h"]),
    row(3, "rank", FeatureBlock::Lines(LineKind::Rank), &["V", "v"]),
    row(4, "diagonal", FeatureBlock::Lines(LineKind::Diagonal), &["D1", "d1"]),
    row(5, "antidiagonal", FeatureBlock::Lines(LineKind::Antidiagonal), &["D2", "d2"]),
    row(6, "king-piece", FeatureBlock::KingPiece, &["KING-PIECE", "KP", "half-king-piece"]),
    row(7, "king-all", FeatureBlock::KingAll, &["KA"]),
    row(
        8,
        "king-relative",
        FeatureBlock::KingRelative(RelativeAxes::Both),
        &["HALF-RELATIVE(HV)KING-PIECE", "HALF-RELATIVE(HV)", "king"],
    ),
    row(
        9,
        "king-relative-h",
        FeatureBlock::KingRelative(RelativeAxes::File),
        &["HALF-RELATIVE(H)KING-PIECE", "HALF-RELATIVE(H)"],
    ),
    row(
        10,
        "king-relative-v",
        FeatureBlock::KingRelative(RelativeAxes::Rank),
        &["HALF-RELATIVE(V)KING-PIECE", "HALF-RELATIVE(V)"],
    ),
    row(11, "moves", FeatureBlock::Moves, &["MOVE"]),
    row(13, "file-pairs", FeatureBlock::LinePairs(LineKind::File), &["PV", "ph"]),
    row(14, "rank-pairs", FeatureBlock::LinePairs(LineKind::Rank), &["PH", "pv"]),
    row(15, "diagonal-pairs", FeatureBlock::LinePairs(LineKind::Diagonal), &["PD1"]),
    row(16, "antidiagonal-pairs", FeatureBlock::LinePairs(LineKind::Antidiagonal), &["PD2"]),
    row(17, "mobility-squares", FeatureBlock::MobilitySquares, &["MB", "mb"]),
    row(18, "mobility-counts", FeatureBlock::MobilityCounts, &["MC", "mc"]),
];

impl FeatureBlock {
    /// Iterates over all blocks except `top-pairs`, which has a list.
    pub fn all() -> impl Iterator<Item = &'static FeatureBlock> {
        BLOCKS.iter().map(|row| &row.block)
    }

    /// Returns the number of features.
    pub fn size(&self) -> usize {
        match self {
            FeatureBlock::Piece | FeatureBlock::MobilitySquares => 64 * CODES,
            FeatureBlock::Lines(kind) => kind.count() * CODES,
            FeatureBlock::KingPiece => 64 * 64 * CODES_WITHOUT_KINGS,
            FeatureBlock::KingAll => 64 * 64 * CODES,
            FeatureBlock::KingRelative(axes) => axes.places() * CODES_WITHOUT_KINGS,
            FeatureBlock::Moves => 64 * 64,
            FeatureBlock::TopPairs(list) => list.pairs().len(),
            FeatureBlock::LinePairs(kind) => kind.count() * CODES * CODES,
            FeatureBlock::MobilityCounts => mobility::COUNTS,
        }
    }

    /// Returns the code of the block in network files.
    pub fn code(&self) -> u16 {
        BLOCKS.iter().find(|row| row.block == *self).map_or(TOP_PAIRS_CODE, |row| row.code)
    }

    /// Returns the dependence of the features on the board.
    pub const fn locality(&self) -> Locality {
        match self {
            FeatureBlock::Piece => Locality::Piece { king_mask: 0 },
            FeatureBlock::KingPiece | FeatureBlock::KingAll => Locality::Piece { king_mask: 63 },
            FeatureBlock::KingRelative(axes) => Locality::Piece { king_mask: axes.king_mask() },
            _ => Locality::Board,
        }
    }

    /// Returns the feature of one piece of a code on a square, seen by the side with a king on
    /// another. It is `None` for a piece that the block leaves out, and in blocks of
    /// [`Locality::Board`].
    #[inline]
    pub fn of_piece(&self, king: Square, code: usize, square: Square) -> Option<usize> {
        match self {
            FeatureBlock::Piece => Some(64 * code + square.index()),
            FeatureBlock::KingPiece => king::king_piece(king, code, square),
            FeatureBlock::KingAll => Some(king::king_all(king, code, square)),
            FeatureBlock::KingRelative(axes) => king::king_relative(*axes, king, code, square),
            _ => None,
        }
    }

    /// Adds the active features of a view, counted from `first` on.
    #[inline]
    pub fn add_active(&self, board: &OrientedBoard, first: usize, on: &mut ActiveFeatures) {
        match self {
            FeatureBlock::Piece => {
                for (code, set) in board.pieces().iter().enumerate() {
                    on.insert_bits(first + 64 * code, set.0);
                }
            }
            FeatureBlock::KingPiece | FeatureBlock::KingAll | FeatureBlock::KingRelative(_) => {
                king::add_pieces(board, first, on, |king, code, square| self.of_piece(king, code, square));
            }
            FeatureBlock::Lines(kind) => lines::add_lines(*kind, board, first, on),
            FeatureBlock::LinePairs(kind) => lines::add_line_pairs(*kind, board, first, on),
            FeatureBlock::Moves => mobility::add_moves(board, first, on),
            FeatureBlock::TopPairs(list) => list.add(board, first, on),
            FeatureBlock::MobilitySquares => mobility::add_mobility_squares(board, first, on),
            FeatureBlock::MobilityCounts => mobility::add_mobility_counts(board, first, on),
        }
    }
}

impl fmt::Display for FeatureBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (BLOCKS.iter().find(|row| row.block == *self), self) {
            (Some(row), _) => f.write_str(row.name),
            (None, FeatureBlock::TopPairs(list)) => write!(f, "{TOP_PAIRS_NAME}:{}", list.pairs().len()),
            (None, block) => fmt::Debug::fmt(block, f),
        }
    }
}
