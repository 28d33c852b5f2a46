//! Dense second layer of a layered network, over the neurons of one shard.
//!
//! Each pass is a matrix product in blocks: [`BLOCK`] rows of the result are accumulated at once
//! over vectors of adjacent numbers, so that a vector that is loaded serves several rows. Each
//! number of the result is a sum in a fixed order, so the blocks change no bit.

use super::dispatch::Kernel;
use super::kernels::Row;

/// Rows of the result that are accumulated at once.
const BLOCK: usize = 4;

/// Adjacent numbers of a row of the result that are accumulated at once.
const WIDTH: usize = 32;

/// Transposes weights `[bucket][unit][side]` of `N` inputs and `units` units to
/// `[bucket][side][input][unit]`.
pub fn transpose<const N: usize>(weights: &[Row<N>], units: usize, to: &mut Vec<f32>) {
    to.clear();
    for weights in weights.chunks_exact(2 * units) {
        for side in 0..2 {
            for input in 0..N {
                to.extend(weights.iter().skip(side).step_by(2).map(|row| row.0[input]));
            }
        }
    }
}

/// Adds to each block row `b` the sum over `k` of `factors(k)[b]` times the `k`-th vector.
#[inline(always)]
fn accumulate<'a, const W: usize>(
    sums: &mut [[f32; W]; BLOCK],
    vectors: impl Iterator<Item = &'a [f32; W]>,
    factors: impl Fn(usize) -> [f32; BLOCK],
) {
    let mut now = *sums;
    for (k, vector) in vectors.enumerate() {
        let factors = factors(k);
        for (sums, factor) in now.iter_mut().zip(factors) {
            for (sum, value) in sums.iter_mut().zip(vector) {
                *sum += factor * value;
            }
        }
    }
    *sums = now;
}

/// Weighted sums of activations over `U` units: `sums[p * U + u] = sum over rows 2p, 2p + 1 of h *
/// w[u]`.
pub struct DenseSums<'a, const N: usize, const U: usize> {
    /// Weights from [`transpose`].
    pub weights: &'a [f32],
    /// Activations, two rows a position.
    pub rows: &'a [Row<N>],
    /// Sums, `U` per position.
    pub sums: &'a mut [f32],
}

impl<const N: usize, const U: usize> Kernel for DenseSums<'_, N, U> {
    #[inline(always)]
    fn run(self) {
        let all = self.weights.as_chunks::<U>().0;
        let (blocks, rest) = self.sums.as_chunks_mut::<U>().0.as_chunks_mut::<BLOCK>();
        for (sums, rows) in blocks.iter_mut().zip(self.rows.as_chunks::<2>().0.as_chunks::<BLOCK>().0) {
            *sums = [[0.0; U]; BLOCK];
            for (side, weights) in all.chunks_exact(N).enumerate() {
                accumulate(sums, weights.iter(), |input| std::array::from_fn(|place| rows[place][side].0[input]));
            }
        }
        let done = 2 * BLOCK * blocks.len();
        for (sums, rows) in rest.iter_mut().zip(self.rows[done..].as_chunks::<2>().0) {
            *sums = [0.0; U];
            for (value, weights) in rows[0].0.iter().chain(&rows[1].0).zip(all) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += value * weight;
                }
            }
        }
    }
}

/// Backward pass of [`DenseSums`]: replaces the activations by their gradients and accumulates
/// those of the weights.
pub struct DenseSumsBack<'a, const N: usize, const U: usize> {
    /// Weights, two rows a unit.
    pub weights: &'a [Row<N>],
    /// Gradients of these weights, added to.
    pub weight_gradients: &'a mut [Row<N>],
    /// Activations, replaced by their gradients.
    pub rows: &'a mut [Row<N>],
    /// Gradient of the loss with respect to each sum, `U` per position.
    pub slopes: &'a [f32],
}

impl<const N: usize, const U: usize> Kernel for DenseSumsBack<'_, N, U> {
    #[inline(always)]
    fn run(mut self) {
        self.add_weight_gradients();
        self.replace_activations();
    }
}

impl<const N: usize, const U: usize> DenseSumsBack<'_, N, U> {
    /// Adds slope times activation over all positions, for a block of units at a time.
    #[inline(always)]
    fn add_weight_gradients(&mut self) {
        let slopes = self.slopes.as_chunks::<U>().0;
        let positions = &self.rows.as_chunks::<2>().0[..slopes.len()];
        for (block, gradients) in self.weight_gradients.chunks_exact_mut(2 * BLOCK).enumerate() {
            let factors = |position: usize| -> [f32; BLOCK] {
                std::array::from_fn(|place| slopes[position][block * BLOCK + place])
            };
            for side in 0..2 {
                for part in 0..N.div_ceil(WIDTH) {
                    if N.is_multiple_of(WIDTH) {
                        let mut sums = block_of::<N, WIDTH>(gradients, side, part);
                        accumulate(&mut sums, positions.iter().map(|rows| part_of(&rows[side], part)), factors);
                        put_block(gradients, side, part, &sums);
                    } else {
                        let mut sums = block_of::<N, N>(gradients, side, part);
                        accumulate(&mut sums, positions.iter().map(|rows| &rows[side].0), factors);
                        put_block(gradients, side, part, &sums);
                    }
                }
            }
        }
    }

    /// Replaces activations by slope times weight over all units, for a block of positions at a
    /// time. Where an activation is at a bound, its gradient is zero.
    #[inline(always)]
    fn replace_activations(&mut self) {
        let slopes = self.slopes.as_chunks::<U>().0;
        let used = 2 * slopes.len();
        for (rows, slopes) in self.rows[..used].chunks_mut(2 * BLOCK).zip(slopes.chunks(BLOCK)) {
            // Missing positions of the last block have no slope.
            let factors = |unit: usize| -> [f32; BLOCK] {
                std::array::from_fn(|place| slopes.get(place).map_or(0.0, |slopes| slopes[unit]))
            };
            for side in 0..2 {
                let weights = self.weights.as_chunks::<2>().0.iter();
                for part in 0..N.div_ceil(WIDTH) {
                    if N.is_multiple_of(WIDTH) {
                        let mut sums = [[0.0; WIDTH]; BLOCK];
                        accumulate(&mut sums, weights.clone().map(|rows| part_of(&rows[side], part)), factors);
                        mask_block(rows, side, part, &sums);
                    } else {
                        let mut sums = [[0.0; N]; BLOCK];
                        accumulate(&mut sums, weights.clone().map(|rows| &rows[side].0), factors);
                        mask_block(rows, side, part, &sums);
                    }
                }
            }
        }
    }
}

/// Returns a part of a row.
#[inline(always)]
fn part_of<const N: usize>(row: &Row<N>, part: usize) -> &[f32; WIDTH] {
    &row.0.as_chunks::<WIDTH>().0[part]
}

/// Returns a part of one side's rows.
#[inline(always)]
fn block_of<const N: usize, const W: usize>(rows: &[Row<N>], side: usize, part: usize) -> [[f32; W]; BLOCK] {
    std::array::from_fn(|place| rows[2 * place + side].0.as_chunks::<W>().0[part])
}

/// Replaces a part of one side's rows.
#[inline(always)]
fn put_block<const N: usize, const W: usize>(rows: &mut [Row<N>], side: usize, part: usize, sums: &[[f32; W]; BLOCK]) {
    for (place, sums) in sums.iter().enumerate() {
        rows[2 * place + side].0.as_chunks_mut::<W>().0[part] = *sums;
    }
}

/// Replaces a part of one side's activations by their gradients; `rows` may be shorter than a
/// block.
#[inline(always)]
fn mask_block<const N: usize, const W: usize>(rows: &mut [Row<N>], side: usize, part: usize, sums: &[[f32; W]; BLOCK]) {
    for (rows, sums) in rows.as_chunks_mut::<2>().0.iter_mut().zip(sums) {
        for (h, sum) in rows[side].0.as_chunks_mut::<W>().0[part].iter_mut().zip(sums) {
            *h = if *h > 0.0 && *h < 1.0 { *sum } else { 0.0 };
        }
    }
}
