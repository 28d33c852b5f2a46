//! Squares, products of pairs and dense second layer of a layered network, over the neurons of one
//! shard.
//!
//! Each pass is a matrix product in blocks: [`BLOCK`] rows of the result are accumulated at once
//! over vectors of adjacent numbers, so that a vector that is loaded serves several rows. Each
//! number of the result is a sum in a fixed order, so the blocks change no bit.

use super::dispatch::Kernel;
use super::kernels::Row;
use destrier::nnue::PAIR_DISTANCE;

/// Rows of the result that are accumulated at once.
const BLOCK: usize = 4;

/// Adjacent numbers of a row of the result that are accumulated at once.
const WIDTH: usize = 32;

/// Transposes weights `[bucket][unit][part]` of `N` inputs a part, `parts` parts and `units` units
/// to `[bucket][part][input][unit]`. The parts are the sides, or there is one with both.
pub fn transpose<const N: usize>(weights: &[Row<N>], units: usize, parts: usize, to: &mut Vec<f32>) {
    to.clear();
    for weights in weights.chunks_exact(parts * units) {
        for part in 0..parts {
            for input in 0..N {
                to.extend(weights.iter().skip(part).step_by(parts).map(|row| row.0[input]));
            }
        }
    }
}

/// Products of pairs of activations: in each block of `2 * PAIR_DISTANCE`, the first half is
/// multiplied with the second. A position's row of products has those of both sides, a block with
/// the side to move's products and then the opponent's for each block of neurons.
pub struct Products<'a, const N: usize> {
    /// Activations, two rows a position.
    pub rows: &'a [Row<N>],
    /// Output: products, one row a position.
    pub products: &'a mut [Row<N>],
}

impl<const N: usize> Kernel for Products<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (products, rows) in self.products.iter_mut().zip(self.rows.as_chunks::<2>().0) {
            for (side, row) in rows.iter().enumerate() {
                for (to, block) in blocks_mut(products).zip(blocks(row)) {
                    let (first, second) = block.split_at(PAIR_DISTANCE);
                    let to = &mut to[side * PAIR_DISTANCE..][..PAIR_DISTANCE];
                    for ((to, a), b) in to.iter_mut().zip(first).zip(second) {
                        *to = a * b;
                    }
                }
            }
        }
    }
}

/// Backward pass of [`Products`]: replaces the activations by their gradients.
pub struct ProductsBack<'a, const N: usize> {
    /// Activations, two rows a position.
    pub rows: &'a mut [Row<N>],
    /// Gradients of the products, one row a position.
    pub gradients: &'a [Row<N>],
}

impl<const N: usize> Kernel for ProductsBack<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (gradients, rows) in self.gradients.iter().zip(self.rows.as_chunks_mut::<2>().0) {
            for (side, row) in rows.iter_mut().enumerate() {
                for (gradients, block) in blocks(gradients).zip(blocks_mut(row)) {
                    let (first, second) = block.split_at_mut(PAIR_DISTANCE);
                    let gradients = &gradients[side * PAIR_DISTANCE..][..PAIR_DISTANCE];
                    for ((gradient, a), b) in gradients.iter().zip(first).zip(second) {
                        let slope = |own: f32, other: f32| if own > 0.0 && own < 1.0 { gradient * other } else { 0.0 };
                        (*a, *b) = (slope(*a, *b), slope(*b, *a));
                    }
                }
            }
        }
    }
}

/// Squares of activations.
pub struct Squares<'a, const N: usize> {
    /// Activations, two rows a position.
    pub rows: &'a [Row<N>],
    /// Output: squares, two rows a position.
    pub squares: &'a mut [Row<N>],
}

impl<const N: usize> Kernel for Squares<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (squares, row) in self.squares.iter_mut().zip(self.rows) {
            for i in 0..N {
                squares.0[i] = row.0[i] * row.0[i];
            }
        }
    }
}

/// Backward pass of [`Squares`]: replaces the activations by their gradients.
pub struct SquaresBack<'a, const N: usize> {
    /// Activations, two rows a position.
    pub rows: &'a mut [Row<N>],
    /// Gradients of the squares, two rows a position; zero where an activation is at a bound.
    pub gradients: &'a [Row<N>],
}

impl<const N: usize> Kernel for SquaresBack<'_, N> {
    #[inline(always)]
    fn run(self) {
        for (gradients, row) in self.gradients.iter().zip(self.rows) {
            for i in 0..N {
                row.0[i] *= 2.0 * gradients.0[i];
            }
        }
    }
}

/// Returns the blocks of pairs of a row.
#[inline(always)]
fn blocks<const N: usize>(row: &Row<N>) -> impl Iterator<Item = &[f32; 2 * PAIR_DISTANCE]> {
    row.0.as_chunks().0.iter()
}

/// Returns the blocks of pairs of a row.
#[inline(always)]
fn blocks_mut<const N: usize>(row: &mut Row<N>) -> impl Iterator<Item = &mut [f32; 2 * PAIR_DISTANCE]> {
    row.0.as_chunks_mut().0.iter_mut()
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

/// Weighted sums of inputs over `U` units: `sums[p * U + u] = sum over PARTS rows of h * w[u]`.
pub struct DenseSums<'a, const N: usize, const U: usize, const PARTS: usize> {
    /// Weights from [`transpose`].
    pub weights: &'a [f32],
    /// Inputs: activations or squares, two rows a position, or products, one row a position.
    pub rows: &'a [Row<N>],
    /// Sums, `U` per position.
    pub sums: &'a mut [f32],
}

impl<const N: usize, const U: usize, const PARTS: usize> Kernel for DenseSums<'_, N, U, PARTS> {
    #[inline(always)]
    fn run(self) {
        let all = self.weights.as_chunks::<U>().0;
        let (blocks, rest) = self.sums.as_chunks_mut::<U>().0.as_chunks_mut::<BLOCK>();
        for (sums, rows) in blocks.iter_mut().zip(self.rows.as_chunks::<PARTS>().0.as_chunks::<BLOCK>().0) {
            *sums = [[0.0; U]; BLOCK];
            for (part, weights) in all.chunks_exact(N).enumerate() {
                accumulate(sums, weights.iter(), |input| std::array::from_fn(|place| rows[place][part].0[input]));
            }
        }
        let done = PARTS * BLOCK * blocks.len();
        for (sums, rows) in rest.iter_mut().zip(self.rows[done..].as_chunks::<PARTS>().0) {
            *sums = [0.0; U];
            for (value, weights) in rows.iter().flat_map(|row| &row.0).zip(all) {
                for (sum, weight) in sums.iter_mut().zip(weights) {
                    *sum += value * weight;
                }
            }
        }
    }
}

/// Backward pass of [`DenseSums`]: replaces the inputs by their gradients and accumulates those of
/// the weights.
pub struct DenseSumsBack<'a, const N: usize, const U: usize, const PARTS: usize> {
    /// Weights, `PARTS` rows a unit.
    pub weights: &'a [Row<N>],
    /// Gradients of these weights, added to.
    pub weight_gradients: &'a mut [Row<N>],
    /// Inputs, `PARTS` rows a position, replaced by their gradients. Two rows are activations or
    /// squares, whose gradient is zero where they are at a bound.
    pub rows: &'a mut [Row<N>],
    /// Gradient of the loss with respect to each sum, `U` per position.
    pub slopes: &'a [f32],
}

impl<const N: usize, const U: usize, const PARTS: usize> Kernel for DenseSumsBack<'_, N, U, PARTS> {
    #[inline(always)]
    fn run(mut self) {
        self.add_weight_gradients();
        self.replace_inputs();
    }
}

impl<const N: usize, const U: usize, const PARTS: usize> DenseSumsBack<'_, N, U, PARTS> {
    /// Adds slope times input over all positions, for a block of units at a time.
    #[inline(always)]
    fn add_weight_gradients(&mut self) {
        let slopes = self.slopes.as_chunks::<U>().0;
        let positions = &self.rows.as_chunks::<PARTS>().0[..slopes.len()];
        for (block, gradients) in self.weight_gradients.chunks_exact_mut(PARTS * BLOCK).enumerate() {
            let factors = |position: usize| -> [f32; BLOCK] {
                std::array::from_fn(|place| slopes[position][block * BLOCK + place])
            };
            let gradients = gradients.as_chunks_mut::<PARTS>().0;
            for part in 0..PARTS {
                for piece in 0..N.div_ceil(WIDTH) {
                    if N.is_multiple_of(WIDTH) {
                        let mut sums = block_of::<N, WIDTH, PARTS>(gradients, part, piece);
                        accumulate(&mut sums, positions.iter().map(|rows| piece_of(&rows[part], piece)), factors);
                        put_block(gradients, part, piece, &sums);
                    } else {
                        let mut sums = block_of::<N, N, PARTS>(gradients, part, piece);
                        accumulate(&mut sums, positions.iter().map(|rows| &rows[part].0), factors);
                        put_block(gradients, part, piece, &sums);
                    }
                }
            }
        }
    }

    /// Replaces inputs by slope times weight over all units, for a block of positions at a time.
    #[inline(always)]
    fn replace_inputs(&mut self) {
        let slopes = self.slopes.as_chunks::<U>().0;
        let positions = &mut self.rows.as_chunks_mut::<PARTS>().0[..slopes.len()];
        for (rows, slopes) in positions.chunks_mut(BLOCK).zip(slopes.chunks(BLOCK)) {
            // Missing positions of the last block have no slope.
            let factors = |unit: usize| -> [f32; BLOCK] {
                std::array::from_fn(|place| slopes.get(place).map_or(0.0, |slopes| slopes[unit]))
            };
            for part in 0..PARTS {
                let weights = self.weights.as_chunks::<PARTS>().0.iter();
                for piece in 0..N.div_ceil(WIDTH) {
                    if N.is_multiple_of(WIDTH) {
                        let mut sums = [[0.0; WIDTH]; BLOCK];
                        accumulate(&mut sums, weights.clone().map(|rows| piece_of(&rows[part], piece)), factors);
                        put_gradients(rows, part, piece, &sums);
                    } else {
                        let mut sums = [[0.0; N]; BLOCK];
                        accumulate(&mut sums, weights.clone().map(|rows| &rows[part].0), factors);
                        put_gradients(rows, part, piece, &sums);
                    }
                }
            }
        }
    }
}

/// Returns a piece of a row.
#[inline(always)]
fn piece_of<const N: usize>(row: &Row<N>, piece: usize) -> &[f32; WIDTH] {
    &row.0.as_chunks::<WIDTH>().0[piece]
}

/// Returns a piece of the rows of one part.
#[inline(always)]
fn block_of<const N: usize, const W: usize, const PARTS: usize>(
    rows: &[[Row<N>; PARTS]],
    part: usize,
    piece: usize,
) -> [[f32; W]; BLOCK] {
    std::array::from_fn(|place| rows[place][part].0.as_chunks::<W>().0[piece])
}

/// Replaces a piece of the rows of one part.
#[inline(always)]
fn put_block<const N: usize, const W: usize, const PARTS: usize>(
    rows: &mut [[Row<N>; PARTS]],
    part: usize,
    piece: usize,
    sums: &[[f32; W]; BLOCK],
) {
    for (rows, sums) in rows.iter_mut().zip(sums) {
        rows[part].0.as_chunks_mut::<W>().0[piece] = *sums;
    }
}

/// Replaces a piece of the inputs of one part by their gradients; `rows` may be shorter than a
/// block.
#[inline(always)]
fn put_gradients<const N: usize, const W: usize, const PARTS: usize>(
    rows: &mut [[Row<N>; PARTS]],
    part: usize,
    piece: usize,
    sums: &[[f32; W]; BLOCK],
) {
    for (rows, sums) in rows.iter_mut().zip(sums) {
        for (h, sum) in rows[part].0.as_chunks_mut::<W>().0[piece].iter_mut().zip(sums) {
            *h = if PARTS == 1 || *h > 0.0 && *h < 1.0 { *sum } else { 0.0 };
        }
    }
}
