//! Evaluation as coefficients of its weights.

use super::layout::COUNT;
use super::sink::TermSink;
use super::{MAX_PHASE, Pair, add_all_terms, phase, scale};
use crate::board::Board;
use crate::types::{Color, Score};

/// Coefficients of a position.
///
/// The value is linear in the weights, except for the side that is ahead in the endgame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    /// Pairs of a weight's index and its count for White less that for Black, in ascending order.
    pub coefficients: Vec<(u16, i16)>,
    /// Weight of the middle game in [`MAX_PHASE`].
    pub phase: i32,
    /// Factors of an endgame advantage of White and of Black, in 64ths.
    pub scale: [i32; 2],
}

impl Trace {
    /// Returns the value from White's view under a table of weights.
    pub fn value(&self, weights: &[Pair]) -> Score {
        let sum = |half: fn(Pair) -> i32| -> i32 {
            self.coefficients.iter().map(|&(index, count)| half(weights[usize::from(index)]) * i32::from(count)).sum()
        };
        let eg = sum(Pair::eg);
        super::taper(sum(Pair::mg), eg * self.scale[usize::from(eg < 0)], self.phase)
    }

    /// Computes the value with real middle-game and endgame weights, and its factors of both
    /// halves.
    pub fn value_f32(&self, weights: &[[f32; 2]]) -> (f32, [f32; 2]) {
        let (mut mg, mut eg) = (0.0, 0.0);
        for &(index, count) in &self.coefficients {
            let weight = weights[usize::from(index)];
            mg += weight[0] * f32::from(count);
            eg += weight[1] * f32::from(count);
        }
        let mg_factor = self.phase as f32 / MAX_PHASE as f32;
        let eg_factor = (1.0 - mg_factor) * self.scale[usize::from(eg < 0.0)] as f32 / scale::NORMAL as f32;
        (mg * mg_factor + eg * eg_factor, [mg_factor, eg_factor])
    }
}

/// Computes the coefficients of a position, from White's view.
pub fn trace(board: &Board) -> Trace {
    let mut record = Record([0; COUNT]);
    add_all_terms(board, &mut record);
    let coefficients = (0..).zip(record.0).filter(|&(_, count)| count != 0).collect();
    let scale = Color::ALL.map(|strong| scale::endgame_scale(board, strong));
    Trace { coefficients, phase: phase(board), scale }
}

struct Record([i16; COUNT]);

impl TermSink for Record {
    fn add(&mut self, side: Color, index: usize, count: i32) {
        let signed = if side == Color::White { count } else { -count };
        self.0[index] += signed as i16;
    }
}
