//! Hot loops over the neurons of one shard.

use super::dispatch::Kernel;
use super::tile::Tile;

/// Values of `N` adjacent neurons, aligned to cache lines.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(C, align(64))]
pub struct Row<const N: usize>(pub [f32; N]);

impl<const N: usize> Row<N> {
    /// Row of zeros.
    pub const ZERO: Row<N> = Row([0.0; N]);

    #[inline(always)]
    pub fn add(&mut self, other: &Row<N>) {
        for i in 0..N {
            self.0[i] += other.0[i];
        }
    }

    /// Multiplies all values.
    #[inline(always)]
    pub fn scale(&mut self, factor: f32) {
        self.0.iter_mut().for_each(|value| *value *= factor);
    }
}

/// Lanes of a running sum, folded in a fixed order independent of the vector width of the machine.
pub const LANES: usize = 16;

/// Returns the sum of the lanes, added pairwise.
#[inline(always)]
pub fn fold(lanes: [f32; LANES]) -> f32 {
    let mut width = LANES;
    let mut lanes = lanes;
    while width > 1 {
        width /= 2;
        for i in 0..width {
            lanes[i] += lanes[i + width];
        }
    }
    lanes[0]
}

/// First layer: `rows[r] = clamp(bias + sum of the weights of r's inputs, 0, 1)`.
pub struct Accumulation<'a, const N: usize> {
    /// Active inputs of each row.
    pub tile: &'a Tile,
    /// Weights, one row for each input.
    pub weights: &'a [Row<N>],
    /// Bias of the neurons.
    pub bias: &'a Row<N>,
    /// Output: activations in 0 to 1, two rows a position.
    pub rows: &'a mut [Row<N>],
}

impl<const N: usize> Kernel for Accumulation<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (row, features) in self.rows.iter_mut().zip(self.tile.rows()) {
            let mut sum = *self.bias;
            for &feature in features {
                sum.add(&self.weights[usize::from(feature)]);
            }
            for i in 0..N {
                row.0[i] = sum.0[i].clamp(0.0, 1.0);
            }
        }
    }
}

/// Weighted sums of squared activations: `sums[p] = sum over rows 2p, 2p + 1 of h^2 * w[bucket]`.
pub struct SquareSums<'a, const N: usize> {
    /// Output bucket of each position.
    pub tile: &'a Tile,
    /// Rows `2 * bucket` (side to move) and `2 * bucket + 1` (opponent).
    pub weights: &'a [Row<N>],
    /// Activations, two rows a position.
    pub rows: &'a [Row<N>],
    /// Output: one sum a position.
    pub sums: &'a mut [f32],
}

impl<const N: usize> Kernel for SquareSums<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (bucket, range) in self.tile.stretches() {
            let (us, them) = (self.weights[2 * bucket], self.weights[2 * bucket + 1]);
            for position in range {
                let (ours, theirs) = (&self.rows[2 * position].0, &self.rows[2 * position + 1].0);
                let mut lanes = [0.0; LANES];
                for block in 0..N / LANES {
                    for (lane, sum) in lanes.iter_mut().enumerate() {
                        let i = block * LANES + lane;
                        *sum += ours[i] * ours[i] * us.0[i];
                        *sum += theirs[i] * theirs[i] * them.0[i];
                    }
                }
                self.sums[position] = fold(lanes);
            }
        }
    }
}

/// Backward pass of [`SquareSums`]: replaces the activations by their gradients and accumulates
/// those of the weights.
pub struct SquareSumsBack<'a, const N: usize> {
    /// Output bucket of each position.
    pub tile: &'a Tile,
    /// Weights of the output layer, two rows a bucket.
    pub weights: &'a [Row<N>],
    /// Gradients of these weights, added to.
    pub weight_gradients: &'a mut [Row<N>],
    /// Activations, replaced by their gradients.
    pub rows: &'a mut [Row<N>],
    /// Gradient of the loss with respect to each position's sum.
    pub slopes: &'a [f32],
}

impl<const N: usize> Kernel for SquareSumsBack<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (bucket, range) in self.tile.stretches() {
            for side in 0..2 {
                let weights = self.weights[2 * bucket + side];
                let mut gradient = Row::<N>::ZERO;
                for position in range.clone() {
                    let slope = self.slopes[position];
                    let row = &mut self.rows[2 * position + side].0;
                    for ((h, weight), gradient) in row.iter_mut().zip(&weights.0).zip(&mut gradient.0) {
                        *gradient += slope * (*h * *h);
                        // The gradient is zero at the upper clamp; at zero the slope 2h vanishes by
                        // itself.
                        let open = if *h < 1.0 { slope * 2.0 } else { 0.0 };
                        *h = open * *h * weight;
                    }
                }
                self.weight_gradients[2 * bucket + side].add(&gradient);
            }
        }
    }
}

/// Backward pass of [`Accumulation`]: gradients of each input's weights and of the bias.
pub struct AccumulationBack<'a, const N: usize> {
    /// Active inputs of each row.
    pub tile: &'a Tile,
    /// Gradients of the activations, two rows a position.
    pub rows: &'a [Row<N>],
    /// Gradients of the weights, one row for each input.
    pub gradients: &'a mut [Row<N>],
    /// Gradient of the bias.
    pub bias_gradient: &'a mut Row<N>,
}

impl<const N: usize> Kernel for AccumulationBack<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (feature, rows) in self.tile.lists() {
            let mut sum = self.gradients[feature];
            for &row in rows {
                sum.add(&self.rows[usize::from(row)]);
            }
            self.gradients[feature] = sum;
        }
        let mut sum = *self.bias_gradient;
        for row in &self.rows[..2 * self.tile.len()] {
            sum.add(row);
        }
        *self.bias_gradient = sum;
    }
}

/// Parameters of one AdamW step.
#[derive(Debug, Clone, Copy)]
pub struct Step {
    /// Learning rate.
    pub rate: f32,
    /// Weight decay, decoupled from the gradient.
    pub decay: f32,
    /// Decay rate of the first moment.
    pub beta1: f32,
    /// Decay rate of the second moment.
    pub beta2: f32,
    /// Term added to the denominator.
    pub epsilon: f32,
    /// Bound of the absolute value of every weight.
    pub clip: f32,
    /// The same for the weights of the first layer.
    pub clip_features: f32,
}

impl Step {
    /// Returns the step for the weights of the first layer.
    pub fn of_features(self) -> Step {
        Step { clip: self.clip_features, ..self }
    }

    /// Updates one weight. As in Bullet, the moments are not bias-corrected.
    #[inline(always)]
    pub fn apply(&self, weight: &mut f32, gradient: f32, momentum: &mut f32, velocity: &mut f32) {
        *momentum = self.beta1 * *momentum + (1.0 - self.beta1) * gradient;
        *velocity = self.beta2 * *velocity + (1.0 - self.beta2) * (gradient * gradient);
        let decayed = *weight * (1.0 - self.rate * self.decay);
        *weight = (decayed - self.rate * *momentum / (velocity.sqrt() + self.epsilon)).clamp(-self.clip, self.clip);
    }
}

/// AdamW over a group of rows; resets the gradients to zero.
pub struct Adam<'a, const N: usize> {
    /// Parameters of the step.
    pub step: Step,
    /// Weights to update.
    pub weights: &'a mut [Row<N>],
    /// Gradients, set to zero afterwards.
    pub gradients: &'a mut [Row<N>],
    /// First moments.
    pub momentum: &'a mut [Row<N>],
    /// Second moments.
    pub velocity: &'a mut [Row<N>],
}

impl<const N: usize> Kernel for Adam<'_, N> {
    #[inline(always)]
    fn run(self) {
        let moments = self.momentum.iter_mut().zip(self.velocity);
        for ((weights, gradients), (momentum, velocity)) in self.weights.iter_mut().zip(self.gradients).zip(moments) {
            for i in 0..N {
                self.step.apply(&mut weights.0[i], gradients.0[i], &mut momentum.0[i], &mut velocity.0[i]);
            }
            *gradients = Row::ZERO;
        }
    }
}
