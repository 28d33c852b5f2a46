//! Terms of the evaluation of a position, for people.

use super::layout::BLOCKS;
use super::sink::TermSink;
use super::{MAX_PHASE, Pair, WEIGHTS, add_all_terms, phase, scale, taper};
use crate::board::Board;
use crate::types::{Color, Score};

/// One term of the evaluation of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term {
    /// Name of the block of weights, such as `MATERIAL`.
    pub name: &'static str,
    /// Middle-game and endgame centipawns of White and of Black, each from its own view.
    pub sides: [Pair; 2],
    /// Centipawns at the present phase, White's less Black's. The sum of the terms differs from the
    /// evaluation by rounding only.
    pub value: Score,
}

/// Sums of the weighted terms, by block and side.
struct Blocks(Vec<[Pair; 2]>);

impl TermSink for Blocks {
    fn add(&mut self, side: Color, index: usize, count: i32) {
        let block = BLOCKS.partition_point(|block| block.start <= index) - 1;
        self.0[block][side.index()] += WEIGHTS[index] * count;
    }
}

/// Terms of a position that are not zero for both sides, in the order of [`BLOCKS`].
pub fn terms(board: &Board) -> Vec<Term> {
    let mut sums = Blocks(vec![[Pair::default(); 2]; BLOCKS.len()]);
    add_all_terms(board, &mut sums);
    let total: i32 = sums.0.iter().map(|[white, black]| white.eg() - black.eg()).sum();
    let strong = if total >= 0 { Color::White } else { Color::Black };
    let endgame_scale = scale::endgame_scale(board, strong);
    let phase = phase(board).min(MAX_PHASE);
    let sums = BLOCKS.iter().zip(sums.0).filter(|(_, sides)| *sides != [Pair::default(); 2]);
    sums.map(|(block, sides)| {
        let [white, black] = sides;
        let value = taper(white.mg() - black.mg(), (white.eg() - black.eg()) * endgame_scale, phase);
        Term { name: block.name, sides, value }
    })
    .collect()
}
