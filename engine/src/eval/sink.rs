//! Receivers of the evaluation's terms.

use super::Pair;
use super::weights::WEIGHTS;
use crate::types::Color;

/// Receiver of the terms: a sum, or a record of them.
pub trait TermSink {
    /// Adds `count` times a weight for a side.
    fn add(&mut self, side: Color, index: usize, count: i32);
}

/// Sum of the weighted terms, from White's view.
#[derive(Default)]
pub struct Sum(pub Pair);

impl TermSink for Sum {
    #[inline]
    fn add(&mut self, side: Color, index: usize, count: i32) {
        match side {
            Color::White => self.0 += WEIGHTS[index] * count,
            Color::Black => self.0 -= WEIGHTS[index] * count,
        }
    }
}
