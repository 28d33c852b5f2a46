//! Static evaluation of positions.
//!
//! The evaluation is linear in its weights: every term adds a whole multiple of one weight of the
//! table in `weights.rs`, once for each side. The same code run with another `sink::Sink` yields
//! the coefficients instead of the sum ([`trace`]), from which the weights are fitted to game
//! results.

mod king;
pub mod layout;
mod pair;
mod passed;
mod pawns;
mod pieces;
mod render;
mod scale;
mod sink;
mod terms;
mod threats;
mod trace;
mod weights;

pub use pair::Pair;
pub use render::render_weights;
pub use terms::{Term, terms};
pub use trace::{Trace, trace};
pub use weights::WEIGHTS;

use crate::board::Board;
use crate::types::{Color, PieceType, Score};
use pawns::{PawnTable, PawnTerms};
use pieces::Attacks;
use sink::{Sum, TermSink};

/// Classical evaluator with a cache of pawn terms.
#[derive(Debug, Clone)]
pub struct ClassicalEvaluator {
    pawns: PawnTable,
    /// Set if the processor has instructions to count and find bits, which baseline x86-64 lacks.
    /// Other targets use what they are compiled for.
    #[cfg(target_arch = "x86_64")]
    counts_bits: bool,
}

impl ClassicalEvaluator {
    /// Creates an evaluator with the built-in weights and an empty cache.
    pub fn new() -> ClassicalEvaluator {
        ClassicalEvaluator {
            pawns: PawnTable::new(),
            #[cfg(target_arch = "x86_64")]
            counts_bits: counts_bits(),
        }
    }

    /// Returns the value of a quiet position in centipawns, from the side to move's view. It is far
    /// below the mate scores.
    pub fn evaluate(&mut self, board: &Board) -> Score {
        #[cfg(target_arch = "x86_64")]
        if self.counts_bits {
            #[expect(unsafe_code, reason = "the only call of code for processors that count bits")]
            // SAFETY: `counts_bits` is set only if the processor has all features that the function
            // is compiled for.
            return unsafe { evaluate_counting_bits(&mut self.pawns, board) };
        }
        evaluate_in(&mut self.pawns, board)
    }

    /// Clears the cache.
    pub fn clear(&mut self) {
        self.pawns.clear();
    }
}

impl Default for ClassicalEvaluator {
    fn default() -> ClassicalEvaluator {
        ClassicalEvaluator::new()
    }
}

#[cfg(target_arch = "x86_64")]
fn counts_bits() -> bool {
    is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("lzcnt")
}

/// Computes the same value as [`evaluate_in`] with bit-counting instructions. An evaluation counts
/// bits sixty times, and the instruction replaces about a dozen others.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1,lzcnt")]
fn evaluate_counting_bits(pawns: &mut PawnTable, board: &Board) -> Score {
    evaluate_in(pawns, board)
}

#[inline(always)] // So that it is compiled for what its callers may use.
fn evaluate_in(pawns: &mut PawnTable, board: &Board) -> Score {
    let (pawns, pawn_sum) = pawns.probe(board);
    let mut sum = Sum(pawn_sum);
    add_piece_terms(board, pawns, &mut sum);
    finish(board, sum.0)
}

/// Returns the value of a quiet position in centipawns, from the side to move's view, without a
/// cache.
pub fn evaluate(board: &Board) -> Score {
    let mut sum = Sum::default();
    add_all_terms(board, &mut sum);
    finish(board, sum.0)
}

fn add_all_terms(board: &Board, sink: &mut impl TermSink) {
    let pawns = pawns::add_terms(board, sink);
    add_piece_terms(board, &pawns, sink);
}

/// Adds all terms except those of pawns and kings alone.
///
/// The large ones are inlined once per colour, so that shifts and signs are constants. This saves a
/// seventh of the instructions.
#[inline(always)] // See `evaluate_in`.
fn add_piece_terms(board: &Board, pawns: &PawnTerms, sink: &mut impl TermSink) {
    let mut attacks = Attacks::new(board);
    pieces::add_terms(board, Color::White, pawns, &mut attacks, sink);
    pieces::add_terms(board, Color::Black, pawns, &mut attacks, sink);
    king::add_danger(board, Color::White, &attacks, sink);
    king::add_danger(board, Color::Black, &attacks, sink);
    threats::add_terms(board, Color::White, &attacks, sink);
    threats::add_terms(board, Color::Black, &attacks, sink);
    passed::add_terms(board, Color::White, pawns, &attacks, sink);
    passed::add_terms(board, Color::Black, pawns, &attacks, sink);
    sink.add(board.turn(), layout::TEMPO.at(0), 1);
}

/// Blends both halves by the material left and turns the view to the side to move.
#[inline(always)] // See `evaluate_in`.
fn finish(board: &Board, sum: Pair) -> Score {
    let strong = if sum.eg() >= 0 { Color::White } else { Color::Black };
    let white = taper(sum.mg(), sum.eg() * scale::endgame_scale(board, strong), phase(board));
    if board.turn() == Color::White { white } else { -white }
}

/// Blends a middle-game value, weighted `phase` of [`MAX_PHASE`], with an endgame value given in
/// 64ths.
fn taper(mg: i32, eg_64ths: i32, phase: i32) -> Score {
    (mg * phase * scale::NORMAL + eg_64ths * (MAX_PHASE - phase)) / (MAX_PHASE * scale::NORMAL)
}

/// Phase with all pieces on the board.
pub const MAX_PHASE: i32 = 24;

/// Returns the phase: 24 with all pieces, 0 with kings and pawns only.
#[inline]
fn phase(board: &Board) -> i32 {
    let count = |kind| board.kind(kind).count() as i32;
    let minors = count(PieceType::Knight) + count(PieceType::Bishop);
    (minors + 2 * count(PieceType::Rook) + 4 * count(PieceType::Queen)).min(MAX_PHASE)
}

#[cfg(test)]
mod tests;
