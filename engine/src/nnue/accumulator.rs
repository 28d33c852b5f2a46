//! Accumulators of the first layer for every ply of the line being searched.
//!
//! Sets of features of single pieces are updated by the pieces that moved (`piece_line.rs`), all
//! others by the difference of the active features (`difference_line.rs`).

use super::counters::Counters;
use super::difference_line::DifferenceLine;
use super::features::{Features, View};
use super::network::Network;
use super::piece_line::PieceLine;
use super::sets::{Locality, OrientedBoard};
use super::simd::{AlignedArray, Kernels};
use crate::board::Board;
use crate::types::{Bitboard, Color, Move, Piece, PieceType, Score, Square};
use std::sync::Arc;

/// Accumulators of a line of moves, and their network.
pub struct Accumulators {
    line: LineKeeper,
}

/// Way to update the accumulators, which follows from the feature set.
enum LineKeeper {
    Piece(PieceLine<false>),
    ByPiece(PieceLine<true>),
    ByDifference(DifferenceLine),
}

/// Evaluates an expression for the line of either way.
macro_rules! with_line {
    ($keeper:expr, $line:ident => $body:expr) => {
        match $keeper {
            LineKeeper::Piece($line) => $body,
            LineKeeper::ByPiece($line) => $body,
            LineKeeper::ByDifference($line) => $body,
        }
    };
}

impl Accumulators {
    /// Creates accumulators at the starting position, with the best kernels of this processor.
    pub fn new(network: Arc<Network>) -> Accumulators {
        Accumulators::with_kernels(network, Kernels::detect())
    }

    /// Creates accumulators with given kernels, for tests and benchmarks.
    pub fn with_kernels(network: Arc<Network>, kernels: &'static Kernels) -> Accumulators {
        let line = match network.layout().set.locality() {
            _ if network.layout().set.is_piece() => LineKeeper::Piece(PieceLine::new(network, kernels)),
            Locality::Piece { .. } => LineKeeper::ByPiece(PieceLine::new(network, kernels)),
            Locality::Board => LineKeeper::ByDifference(DifferenceLine::new(network, kernels)),
        };
        Accumulators { line }
    }

    /// Returns the network.
    pub fn network(&self) -> &Arc<Network> {
        with_line!(&self.line, line => line.network())
    }

    /// Returns the counts of the work done so far.
    pub fn counters(&self) -> Counters {
        with_line!(&self.line, line => line.counters())
    }

    /// Starts a line at a position.
    pub fn reset(&mut self, board: &Board) {
        with_line!(&mut self.line, line => line.reset(board));
    }

    /// Records a legal move from the current position. Null moves change nothing and are not
    /// recorded.
    #[inline]
    pub fn push(&mut self, board: &Board, mv: Move) {
        match &mut self.line {
            LineKeeper::Piece(line) => line.push(board, mv),
            LineKeeper::ByPiece(line) => line.push(board, mv),
            LineKeeper::ByDifference(line) => line.push(),
        }
    }

    /// Takes back the last move; the first position of the line stays.
    #[inline]
    pub fn pop(&mut self) {
        with_line!(&mut self.line, line => line.pop());
    }

    /// Returns the evaluation of the current position in centipawns, from the side to move's view.
    #[inline]
    pub fn evaluate(&mut self, board: &Board) -> Score {
        let value = with_line!(&mut self.line, line => line.evaluate(board));
        debug_assert_eq!(value, self.network().evaluate_alone(board), "the line is not at this position");
        value
    }
}

impl Network {
    /// Evaluates a position from scratch: every active feature is added to the biases.
    pub fn evaluate_alone(&self, board: &Board) -> Score {
        self.evaluate_alone_with(Kernels::detect(), board)
    }

    /// Evaluates like [`Self::evaluate_alone`], with given kernels.
    pub fn evaluate_alone_with(&self, kernels: &Kernels, board: &Board) -> Score {
        self.evaluate_pieces(kernels, board, board.occupied())
    }

    /// Computes the share of each piece but the kings in the evaluation, in centipawns from White's
    /// view. It is the evaluation less that of the same board without the piece.
    pub fn piece_shares(&self, board: &Board) -> Vec<(Square, Score)> {
        let kernels = Kernels::detect();
        let white = |value: Score| if board.turn() == Color::White { value } else { -value };
        let whole = self.evaluate_alone(board);
        let kings = board.kind(PieceType::King);
        (board.occupied() - kings)
            .into_iter()
            .map(|square| {
                let rest = board.occupied() - Bitboard::from_square(square);
                (square, white(whole - self.evaluate_pieces(kernels, board, rest)))
            })
            .collect()
    }

    /// Evaluates a board with only the pieces on `kept`.
    fn evaluate_pieces(&self, kernels: &Kernels, board: &Board, kept: Bitboard) -> Score {
        let [own, other] = [board.turn(), !board.turn()].map(|color| {
            let mut acc = AlignedArray::collect(self.layout().hidden, self.feature_biases().iter().copied());
            if self.layout().set.is_piece() {
                let view = View::new(self.layout(), color, board.king(color));
                let mut features = Features::new();
                for piece in Piece::ALL {
                    features.extend(view, piece, board.pieces(piece.color(), piece.kind()) & kept);
                }
                (kernels.apply)(&mut acc, self.feature_weights(), features.as_slice(), &[]);
            } else {
                let mut features = Vec::new();
                let kept = if color == Color::White { kept } else { kept.flip() };
                let seen = OrientedBoard::from((board, color)).within(kept);
                self.layout().set.active(&seen).for_each(|feature| features.push(feature));
                (kernels.apply)(&mut acc, self.feature_weights(), &features, &[]);
            }
            acc
        });
        self.evaluate(kernels, &own, &other, self.output_bucket(kept.count()))
    }
}
