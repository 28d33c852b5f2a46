//! Dense second layer of a layered network, over the neurons of one shard.

use super::dispatch::Kernel;
use super::kernels::{LANES, Row, fold};
use destrier::nnue::HIDDEN_2;

/// Weighted sums of activations: `sums[p * 32 + u] = sum over rows 2p, 2p + 1 of h * w[u]`.
pub struct DenseSums<'a, const N: usize> {
    /// Rows `2 * unit` (side to move) and `2 * unit + 1` (opponent).
    pub weights: &'a [Row<N>],
    /// Activations, two rows a position.
    pub rows: &'a [Row<N>],
    /// Sums, 32 per position.
    pub sums: &'a mut [f32],
}

impl<const N: usize> Kernel for DenseSums<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (sums, rows) in self.sums.chunks_exact_mut(HIDDEN_2).zip(self.rows.chunks_exact(2)) {
            let (ours, theirs) = (&rows[0].0, &rows[1].0);
            for (sum, weights) in sums.iter_mut().zip(self.weights.chunks_exact(2)) {
                let mut lanes = [0.0; LANES];
                for block in 0..N / LANES {
                    for (lane, value) in lanes.iter_mut().enumerate() {
                        let i = block * LANES + lane;
                        *value += ours[i] * weights[0].0[i];
                        *value += theirs[i] * weights[1].0[i];
                    }
                }
                *sum = fold(lanes);
            }
        }
    }
}

/// Backward pass of [`DenseSums`]: replaces the activations by their gradients and accumulates
/// those of the weights.
pub struct DenseSumsBack<'a, const N: usize> {
    /// Weights, two rows a unit.
    pub weights: &'a [Row<N>],
    /// Gradients of these weights, added to.
    pub weight_gradients: &'a mut [Row<N>],
    /// Activations, replaced by their gradients.
    pub rows: &'a mut [Row<N>],
    /// Gradient of the loss with respect to each sum, 32 per position.
    pub slopes: &'a [f32],
}

impl<const N: usize> Kernel for DenseSumsBack<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (index, gradient) in self.weight_gradients.iter_mut().enumerate() {
            let (unit, side) = (index / 2, index % 2);
            let mut sum = *gradient;
            for (slopes, rows) in self.slopes.chunks_exact(HIDDEN_2).zip(self.rows.chunks_exact(2)) {
                for i in 0..N {
                    sum.0[i] += slopes[unit] * rows[side].0[i];
                }
            }
            *gradient = sum;
        }
        for (slopes, rows) in self.slopes.chunks_exact(HIDDEN_2).zip(self.rows.chunks_exact_mut(2)) {
            for (side, row) in rows.iter_mut().enumerate() {
                let mut sum = Row::<N>::ZERO;
                for (slope, weights) in slopes.iter().zip(self.weights.chunks_exact(2)) {
                    for i in 0..N {
                        sum.0[i] += slope * weights[side].0[i];
                    }
                }
                for i in 0..N {
                    let h = row.0[i];
                    row.0[i] = if h > 0.0 && h < 1.0 { sum.0[i] } else { 0.0 };
                }
            }
        }
    }
}
