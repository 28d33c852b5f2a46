//! Slice of a network's neurons with their weights, gradients, moments and activations.

use super::dispatch::Isa;
use super::kernels::{Accumulation, AccumulationBack, Adam, Row, SquareSums, SquareSumsBack, Step};
use super::layered::{DenseSums, DenseSumsBack};
use super::network::{Parameters, Shape};
use super::tile::{TILE, Tile};
use destrier::nnue::{FEATURES, Kind};

/// Group of weights with their gradients and moments.
#[derive(Debug)]
struct Group<const N: usize> {
    weights: Vec<Row<N>>,
    gradients: Vec<Row<N>>,
    momentum: Vec<Row<N>>,
    velocity: Vec<Row<N>>,
}

impl<const N: usize> Group<N> {
    /// Takes `N` columns from `first` on of matrices of `width` columns.
    fn new(values: [&[f32]; 3], width: usize, first: usize) -> Group<N> {
        let [weights, momentum, velocity] = values.map(|values| cut(values, width, first));
        Group { gradients: vec![Row::ZERO; weights.len()], weights, momentum, velocity }
    }

    fn save(&self, values: [&mut [f32]; 3], width: usize, first: usize) {
        for (values, rows) in values.into_iter().zip([&self.weights, &self.momentum, &self.velocity]) {
            for (line, row) in values.chunks_exact_mut(width).zip(rows) {
                line[first..first + N].copy_from_slice(&row.0);
            }
        }
    }

    fn step(&mut self, isa: Isa, step: Step) {
        let Group { weights, gradients, momentum, velocity } = self;
        isa.run(Adam { step, weights, gradients, momentum, velocity });
    }
}

fn cut<const N: usize>(values: &[f32], width: usize, first: usize) -> Vec<Row<N>> {
    let mut rows = vec![Row::ZERO; values.len() / width];
    for (row, line) in rows.iter_mut().zip(values.chunks_exact(width)) {
        row.0.copy_from_slice(&line[first..first + N]);
    }
    rows
}

/// Neurons `index * N` to `index * N + N - 1` of a network.
#[derive(Debug)]
pub struct Shard<const N: usize> {
    kind: Kind,
    index: usize,
    features: Group<N>,
    factor: Option<Group<N>>,
    /// Sums of each bucket's part and the common part; empty unless factorised.
    merged: Vec<Row<N>>,
    bias: Group<N>,
    output: Group<N>,
    /// Activations of the tiles of one round, later replaced by their gradients.
    rows: Vec<Row<N>>,
}

impl<const N: usize> Shard<N> {
    /// Creates a shard from weights and both moments, with space for `tiles` tiles per round.
    pub fn new(shape: &Shape, index: usize, tiles: usize, state: [&Parameters; 3]) -> Shard<N> {
        let (width, first) = (shape.hidden, index * N);
        let group = |pick: fn(&Parameters) -> &[f32]| Group::new(state.map(pick), width, first);
        let factor = shape.factorised.then(|| group(|parameters| &parameters.factor));
        let mut shard = Shard {
            kind: shape.kind,
            index,
            features: group(|parameters| &parameters.features),
            merged: Vec::new(),
            factor,
            bias: group(|parameters| &parameters.bias),
            output: group(|parameters| &parameters.output),
            rows: vec![Row::ZERO; tiles * 2 * TILE],
        };
        shard.merge();
        shard
    }

    /// Writes the shard's neurons back.
    pub fn save(&self, shape: &Shape, state: &mut [Parameters; 3]) {
        let (width, first) = (shape.hidden, self.index * N);
        let mut save = |group: &Group<N>, pick: fn(&mut Parameters) -> &mut [f32]| {
            group.save(state.each_mut().map(pick), width, first);
        };
        save(&self.features, |parameters| &mut parameters.features);
        save(&self.bias, |parameters| &mut parameters.bias);
        save(&self.output, |parameters| &mut parameters.output);
        if let Some(factor) = &self.factor {
            save(factor, |parameters| &mut parameters.factor);
        }
    }

    fn merge(&mut self) {
        if let Some(factor) = &self.factor {
            self.merged.resize(self.features.weights.len(), Row::ZERO);
            let common = factor.weights.iter().cycle();
            for ((merged, own), common) in self.merged.iter_mut().zip(&self.features.weights).zip(common) {
                for i in 0..N {
                    merged.0[i] = own.0[i] + common.0[i];
                }
            }
        }
    }

    /// Returns the effective first-layer weights.
    fn first_layer(&self) -> &[Row<N>] {
        if self.factor.is_some() { &self.merged } else { &self.features.weights }
    }

    /// Computes activations and sums of the `place`-th tile of a round.
    pub fn forward(&mut self, isa: Isa, place: usize, tile: &Tile, sums: &mut [f32]) {
        let mut rows = std::mem::take(&mut self.rows);
        self.forward_into(isa, tile, &mut rows[place * 2 * TILE..], sums);
        self.rows = rows;
    }

    /// Computes activations and sums in a buffer of the caller with at least two rows per position.
    pub fn forward_into(&self, isa: Isa, tile: &Tile, rows: &mut [Row<N>], sums: &mut [f32]) {
        let weights = self.first_layer();
        isa.run(Accumulation { tile, weights, bias: &self.bias.weights[0], rows: &mut *rows });
        match self.kind {
            Kind::Screlu => isa.run(SquareSums { tile, weights: &self.output.weights, rows, sums }),
            Kind::Layered => isa.run(DenseSums { weights: &self.output.weights, rows, sums }),
        }
    }

    /// Accumulates the gradients of the `place`-th tile of a round from the slopes of its sums.
    pub fn backward(&mut self, isa: Isa, place: usize, tile: &Tile, slopes: &[f32]) {
        let rows = &mut self.rows[place * 2 * TILE..][..2 * tile.len()];
        let (weights, weight_gradients) = (&self.output.weights[..], &mut self.output.gradients[..]);
        match self.kind {
            Kind::Screlu => isa.run(SquareSumsBack { tile, weights, weight_gradients, rows, slopes }),
            Kind::Layered => isa.run(DenseSumsBack { weights, weight_gradients, rows, slopes }),
        }
        let (gradients, bias_gradient) = (&mut self.features.gradients[..], &mut self.bias.gradients[0]);
        isa.run(AccumulationBack { tile, rows, gradients, bias_gradient });
    }

    /// Runs one step of the optimiser.
    pub fn step(&mut self, isa: Isa, step: Step) {
        if let Some(factor) = &mut self.factor {
            for bucket in self.features.gradients.chunks_exact(FEATURES) {
                for (sum, gradient) in factor.gradients.iter_mut().zip(bucket) {
                    for i in 0..N {
                        sum.0[i] += gradient.0[i];
                    }
                }
            }
            factor.step(isa, step);
        }
        self.features.step(isa, step);
        self.bias.step(isa, step);
        self.output.step(isa, step);
        self.merge();
    }
}
