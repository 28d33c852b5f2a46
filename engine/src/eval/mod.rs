//! Static evaluation of positions.
//!
//! The evaluation is linear in its weights: every term adds a whole number of times one weight of the table in `weights.rs`,
//! once for each side. The same code, run with another [`sink::Sink`], gives the coefficients instead of the sum ([`trace`]), which
//! is what fitting the weights to game results needs.

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
use sink::{Sink, Sum};

/// Evaluates positions; keeps what it found out about pawns between them.
#[derive(Debug, Clone)]
pub struct Evaluator {
    pawns: PawnTable,
    /// Whether the processor counts and finds bits by instructions of their own, which the plainest x86-64 lacks; others do it as
    /// well as they can wherever they compile for.
    #[cfg(target_arch = "x86_64")]
    counts_bits: bool,
}

impl Evaluator {
    pub fn new() -> Evaluator {
        Evaluator {
            pawns: PawnTable::new(),
            #[cfg(target_arch = "x86_64")]
            counts_bits: counts_bits(),
        }
    }

    /// The value of a quiet position in centipawns, from the side to move's view. Far inside the mate scores.
    pub fn evaluate(&mut self, board: &Board) -> Score {
        #[cfg(target_arch = "x86_64")]
        if self.counts_bits {
            #[expect(unsafe_code, reason = "the only call of code for processors that count bits")]
            // SAFETY: `counts_bits` has seen that the processor has all that the function is compiled for.
            return unsafe { evaluate_counting_bits(&mut self.pawns, board) };
        }
        evaluate_in(&mut self.pawns, board)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pawns.clear();
    }
}

impl Default for Evaluator {
    fn default() -> Evaluator {
        Evaluator::new()
    }
}

#[cfg(target_arch = "x86_64")]
fn counts_bits() -> bool {
    is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi1") && is_x86_feature_detected!("lzcnt")
}

/// The same values as [`evaluate_in`]: sixty times an evaluation bits are counted, in one instruction rather than a dozen.
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

/// The value of a quiet position in centipawns, from the side to move's view, without any memory.
pub fn evaluate(board: &Board) -> Score {
    let mut sum = Sum::default();
    add_all_terms(board, &mut sum);
    finish(board, sum.0)
}

fn add_all_terms(board: &Board, sink: &mut impl Sink) {
    let pawns = pawns::add_terms(board, sink);
    add_piece_terms(board, &pawns, sink);
}

/// All terms but those of pawns and kings alone.
///
/// The large ones are inlined once for each colour, so that shifts and signs are constants: a seventh fewer instructions.
#[inline(always)] // See `evaluate_in`.
fn add_piece_terms(board: &Board, pawns: &PawnTerms, sink: &mut impl Sink) {
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

/// Mixes the halves by the material left and turns the view to the side to move.
#[inline(always)] // See `evaluate_in`.
fn finish(board: &Board, sum: Pair) -> Score {
    let strong = if sum.eg() >= 0 { Color::White } else { Color::Black };
    let white = taper(sum.mg(), sum.eg() * scale::endgame_scale(board, strong), phase(board));
    if board.turn() == Color::White { white } else { -white }
}

/// The middle-game value weighs `phase` in [`MAX_PHASE`], the endgame value, given in 64ths, the rest.
fn taper(mg: i32, eg_64ths: i32, phase: i32) -> Score {
    (mg * phase * scale::NORMAL + eg_64ths * (MAX_PHASE - phase)) / (MAX_PHASE * scale::NORMAL)
}

/// The phase of all pieces on the board.
pub const MAX_PHASE: i32 = 24;

/// 24 with all pieces, 0 with kings and pawns only.
#[inline]
fn phase(board: &Board) -> i32 {
    let count = |kind| board.kind(kind).count() as i32;
    let minors = count(PieceType::Knight) + count(PieceType::Bishop);
    (minors + 2 * count(PieceType::Rook) + 4 * count(PieceType::Queen)).min(MAX_PHASE)
}

#[cfg(test)]
mod tests;
