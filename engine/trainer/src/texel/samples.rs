//! Sparse store of positions: short lists of counts, contiguous in memory.

use destrier::eval::layout::COUNT;
use destrier::eval::{MAX_PHASE, Trace};
use destrier::types::SplitMix64;

#[cfg(test)]
use super::Weights;
use crate::train::sigmoid;

/// Full scale of the endgame score in the trace's unit.
const FULL_SCALE: f32 = 64.0;

/// Error of too few positions for the split.
#[derive(Debug, thiserror::Error, PartialEq)]
#[error(
    "only {positions} positions in {blocks} blocks, too few to keep some back; give more files, or set data.block lower"
)]
pub struct SplitError {
    /// Number of positions in all files.
    pub positions: usize,
    /// Number of blocks of the plan's size.
    pub blocks: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct SampleHead {
    /// Start of the terms in the common list; they end at the start of the next head.
    start: usize,
    /// Factor of the middlegame, 0 to 1.
    mg: f32,
    /// Factors of the endgame if White or Black is ahead in it.
    eg: [f32; 2],
    /// Score in centipawns for White; NaN if there is none.
    score: f32,
    /// White's result: 0, 1/2 or 1.
    result: f32,
    /// Expected result for White that the evaluation should predict, 0 to 1.
    target: f32,
}

/// Positions with their results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    heads: Vec<SampleHead>,
    /// Index in the table of weights, and the number of times White has the term more often than
    /// Black.
    terms: Vec<(u16, i16)>,
}

/// View of one position.
#[derive(Clone, Copy, Debug)]
pub struct TexelSample<'a> {
    head: SampleHead,
    /// Index in the table of weights, and the number of times White has the term more often than
    /// Black.
    pub terms: &'a [(u16, i16)],
}

impl TexelSample<'_> {
    /// Expected result for White that the evaluation should predict, 0 to 1.
    #[must_use]
    pub const fn target(&self) -> f32 {
        self.head.target
    }

    /// Returns White's result.
    #[must_use]
    pub const fn result(&self) -> f32 {
        self.head.result
    }

    /// Returns the score in centipawns for White, if there is one.
    #[must_use]
    pub fn score(&self) -> Option<f32> {
        (!self.head.score.is_nan()).then_some(self.head.score)
    }

    /// Returns the sums of both halves from White's view.
    #[must_use]
    pub fn halves(&self, weights: &[[f32; 2]]) -> [f32; 2] {
        // Two independent chains of additions. Their order is fixed, so the sum is the same on
        // every machine.
        let (mut even, mut odd) = ([0.0_f32; 2], [0.0_f32; 2]);
        let mut pairs = self.terms.chunks_exact(2);
        for pair in pairs.by_ref() {
            add(&mut even, weights, pair[0]);
            add(&mut odd, weights, pair[1]);
        }
        for term in pairs.remainder() {
            add(&mut even, weights, *term);
        }
        [even[0] + odd[0], even[1] + odd[1]]
    }

    /// Returns the factors of the halves, which depend on the endgame half.
    #[must_use]
    pub fn factors(&self, eg: f32) -> [f32; 2] {
        [self.head.mg, self.head.eg[usize::from(eg < 0.0)]]
    }

    /// Returns the value in centipawns from White's view, and the factors of its halves.
    #[must_use]
    pub fn value(&self, weights: &[[f32; 2]]) -> (f32, [f32; 2]) {
        let [mg, eg] = self.halves(weights);
        let factors = self.factors(eg);
        (mg * factors[0] + eg * factors[1], factors)
    }
}

#[inline]
fn add(sum: &mut [f32; 2], weights: &[[f32; 2]], (index, count): (u16, i16)) {
    let weight = weights[usize::from(index)];
    let count = f32::from(count);
    sum[0] += weight[0] * count;
    sum[1] += weight[1] * count;
}

impl Samples {
    /// Adds a position: its trace, its score in centipawns for White if known, and White's result.
    pub fn push(&mut self, trace: &Trace, score: Option<f32>, result: f32) {
        let mg = trace.phase as f32 / MAX_PHASE as f32;
        let eg = trace.scale.map(|scale| (1.0 - mg) * scale as f32 / FULL_SCALE);
        let start = self.terms.len();
        self.heads.push(SampleHead { start, mg, eg, score: score.unwrap_or(f32::NAN), result, target: result });
        self.terms.extend_from_slice(&trace.coefficients);
    }

    /// Appends all positions of another set.
    pub fn append(&mut self, other: &Self) {
        let shift = self.terms.len();
        self.heads.extend(other.heads.iter().map(|head| SampleHead { start: head.start + shift, ..*head }));
        self.terms.extend_from_slice(&other.terms);
    }

    /// Returns the number of positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heads.len()
    }

    /// Returns true if there are no positions.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heads.is_empty()
    }

    /// Returns the mean number of terms per position.
    #[must_use]
    pub fn mean_terms(&self) -> f64 {
        self.terms.len() as f64 / self.len().max(1) as f64
    }

    /// Returns one position.
    #[must_use]
    pub fn get(&self, index: usize) -> TexelSample<'_> {
        let head = self.heads[index];
        let end = self.heads.get(index + 1).map_or(self.terms.len(), |next| next.start);
        TexelSample { head, terms: &self.terms[head.start..end] }
    }

    /// Returns a range of positions.
    pub fn range(&self, range: std::ops::Range<usize>) -> impl Iterator<Item = TexelSample<'_>> {
        range.map(|index| self.get(index))
    }

    /// Returns the number of positions that each weight affects.
    #[must_use]
    pub fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; COUNT];
        for (index, _) in &self.terms {
            counts[usize::from(*index)] += 1;
        }
        counts
    }

    /// Counts the positions with a score.
    pub fn scored(&self) -> usize {
        self.heads.iter().filter(|head| !head.score.is_nan()).count()
    }

    /// Blends results and the predictions of scores (`sigmoid(k * score)`) into targets. Positions
    /// without a score keep the result.
    pub fn blend(&mut self, result_share: f32, k: f32) {
        for head in self.heads.iter_mut().filter(|head| !head.score.is_nan()) {
            let promised = sigmoid(k * head.score);
            head.target = result_share * head.result + (1.0 - result_share) * promised;
        }
    }

    /// Splits the positions by blocks into training and test positions, in a random order from the
    /// seed.
    ///
    /// # Errors
    /// Fails if either part would be empty.
    pub fn split(self, seed: u64, block: std::num::NonZeroUsize, test_share: f64) -> Result<(Self, Self), SplitError> {
        let blocks = self.len().div_ceil(block.get());
        let mut order: Vec<usize> = (0..blocks).collect();
        shuffle(&mut order, seed);
        let kept = (blocks as f64 * test_share).round() as usize;
        if kept == 0 || kept >= blocks {
            return Err(SplitError { positions: self.len(), blocks });
        }
        let pick = |blocks: &[usize]| {
            let mut part = Self::default();
            for &place in blocks {
                for index in place * block.get()..((place + 1) * block.get()).min(self.len()) {
                    let sample = self.get(index);
                    part.heads.push(SampleHead { start: part.terms.len(), ..sample.head });
                    part.terms.extend_from_slice(sample.terms);
                }
            }
            part
        };
        Ok((pick(&order[kept..]), pick(&order[..kept])))
    }

    /// Sets every target to the prediction of other weights, for tests with known optimal weights.
    #[cfg(test)]
    pub(super) fn aim_at(&mut self, weights: &Weights, k: f32) {
        let targets: Vec<f32> = (0..self.len()).map(|index| sigmoid(k * self.get(index).value(weights).0)).collect();
        for (head, target) in self.heads.iter_mut().zip(targets) {
            head.target = target;
        }
    }
}

/// Shuffles with the Fisher-Yates algorithm.
pub fn shuffle(order: &mut [usize], seed: u64) {
    let mut random = SplitMix64::new(seed);
    for last in (1..order.len()).rev() {
        order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
    }
}
