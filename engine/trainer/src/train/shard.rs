//! Slice of a network's neurons with their weights, gradients, moments and activations.

use super::dispatch::Isa;
use super::features::SharedInputs;
use super::kernels::{Accumulation, AccumulationBack, Adam, Row, SquareSums, SquareSumsBack, Step};
use super::layered::{DenseSums, DenseSumsBack, Products, ProductsBack, Squares, SquaresBack, transpose};
use super::lazy::LazyRows;
use super::network::{Parameters, Shape};
use super::tile::{TILE, Tile};
use destrier::nnue::{Activation, HIDDEN_2, Kind};

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

    /// Runs one step for one row.
    fn step_row(&mut self, isa: Isa, step: Step, row: usize) {
        let Group { weights, gradients, momentum, velocity } = self;
        let [weights, gradients, momentum, velocity] =
            [weights, gradients, momentum, velocity].map(|rows| &mut rows[row..=row]);
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
    /// Inputs with a common part, and these parts.
    factor: Option<(SharedInputs, Group<N>)>,
    /// Sums of each input's own and common part; empty unless factorised.
    merged: Vec<Row<N>>,
    /// Rows of a large first layer that wait for the optimiser.
    lazy: Option<LazyRows>,
    bias: Group<N>,
    output: Group<N>,
    /// Output weights by input, for the forward pass of a dense layer.
    dense: Vec<f32>,
    /// Activations of the tiles of one round, later replaced by their gradients. [`ROWS`] rows a
    /// position: those of a tile's sides, then those of its squares or products.
    rows: Vec<Row<N>>,
}

/// Rows of a position: both sides, and both sides' squares or the products of a pairwise network.
pub const ROWS: usize = 4;

impl<const N: usize> Shard<N> {
    /// Creates a shard from weights and both moments, with space for `tiles` tiles per round.
    pub fn new(shape: &Shape, index: usize, tiles: usize, state: [&Parameters; 3]) -> Shard<N> {
        let (width, first) = (shape.hidden, index * N);
        let group = |pick: fn(&Parameters) -> &[f32]| Group::new(state.map(pick), width, first);
        let factor = shape.shared().map(|shared| (shared, group(|parameters| &parameters.factor)));
        let lazy = LazyRows::is_worth_it(shape).then(|| LazyRows::new(shape.inputs.size()));
        let mut shard = Shard {
            kind: shape.kind,
            index,
            features: group(|parameters| &parameters.features),
            merged: Vec::new(),
            factor,
            lazy,
            bias: group(|parameters| &parameters.bias),
            output: group(|parameters| &parameters.output),
            dense: Vec::new(),
            rows: vec![Row::ZERO; tiles * ROWS * TILE],
        };
        shard.merge();
        shard.transpose_dense();
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
        if let Some((_, factor)) = &self.factor {
            save(factor, |parameters| &mut parameters.factor);
        }
    }

    /// Computes the effective weights of all inputs.
    fn merge(&mut self) {
        if let Some((shared, factor)) = &self.factor {
            self.merged.clone_from(&self.features.weights);
            let merged = &mut self.merged[shared.first..shared.end];
            for (merged, common) in merged.iter_mut().zip(factor.weights.iter().cycle()) {
                merged.add(common);
            }
        }
    }

    fn transpose_dense(&mut self) {
        if self.kind != Kind::Screlu {
            transpose(&self.output.weights, self.kind.second_layer(), self.parts(), &mut self.dense);
        }
    }

    /// Returns the rows of a position that the second layer has as its inputs.
    fn parts(&self) -> usize {
        if self.kind.activation() == Activation::Products { 1 } else { 2 }
    }

    /// Prepares the rows of a tile's inputs before the first pass of a batch.
    pub fn bring_up(&mut self, tile: &Tile) {
        let Some(lazy) = &mut self.lazy else { return };
        let Group { weights, momentum, velocity, .. } = &mut self.features;
        for (input, _) in tile.lists() {
            if lazy.touch(input) {
                let [decay, beta1, beta2] = lazy.factors(input);
                weights[input].scale(decay);
                momentum[input].scale(beta1);
                velocity[input].scale(beta2);
                if let Some((shared, factor)) = &self.factor {
                    self.merged[input] = weights[input];
                    shared.of(input).into_iter().for_each(|part| self.merged[input].add(&factor.weights[part]));
                }
            }
        }
    }

    /// Brings all rows up to date, so that the weights are those of the network.
    pub fn settle(&mut self) {
        let Some(mut lazy) = self.lazy.take() else { return };
        let Group { weights, momentum, velocity, .. } = &mut self.features;
        for input in 0..weights.len() {
            let [decay, beta1, beta2] = lazy.factors(input);
            weights[input].scale(decay);
            momentum[input].scale(beta1);
            velocity[input].scale(beta2);
        }
        lazy.reset();
        self.lazy = Some(lazy);
        self.merge();
    }

    /// Returns the effective first-layer weights.
    fn first_layer(&self) -> &[Row<N>] {
        if self.factor.is_some() { &self.merged } else { &self.features.weights }
    }

    /// Computes activations and sums of the `place`-th tile of a round.
    pub fn forward(&mut self, isa: Isa, place: usize, tile: &Tile, sums: &mut [f32]) {
        let mut rows = std::mem::take(&mut self.rows);
        self.forward_into(isa, tile, &mut rows[place * ROWS * TILE..][..ROWS * TILE], sums);
        self.rows = rows;
    }

    /// Computes activations and sums in a buffer of the caller with [`ROWS`] rows for each position
    /// of a full tile.
    pub fn forward_into(&self, isa: Isa, tile: &Tile, rows: &mut [Row<N>], sums: &mut [f32]) {
        let weights = self.first_layer();
        let (rows, products) = rows.split_at_mut(2 * TILE);
        let rows = &mut rows[..2 * tile.len()];
        isa.run(Accumulation { tile, weights, bias: &self.bias.weights[0], rows: &mut *rows });
        match self.kind {
            Kind::Screlu => isa.run(SquareSums { tile, weights: &self.output.weights, rows, sums }),
            Kind::Layered(_) | Kind::Deep => self.dense_sums::<2>(isa, tile, rows, sums),
            Kind::Pairwise(_) => {
                let products = &mut products[..tile.len()];
                isa.run(Products { rows, products: &mut *products });
                self.dense_sums::<1>(isa, tile, products, sums);
            }
            Kind::Squared(_) => {
                let squares = &mut products[..2 * tile.len()];
                isa.run(Squares { rows, squares: &mut *squares });
                self.dense_sums::<2>(isa, tile, squares, sums);
            }
        }
    }

    /// Computes the sums of the second layer from its inputs, `PARTS` rows a position.
    fn dense_sums<const PARTS: usize>(&self, isa: Isa, tile: &Tile, rows: &[Row<N>], sums: &mut [f32]) {
        let units = self.kind.second_layer();
        for (bucket, positions) in tile.stretches() {
            let weights = &self.dense[bucket * PARTS * N * units..][..PARTS * N * units];
            let rows = &rows[PARTS * positions.start..PARTS * positions.end];
            let sums = &mut sums[positions.start * units..positions.end * units];
            match units {
                8 => isa.run(DenseSums::<N, 8, PARTS> { weights, rows, sums }),
                16 => isa.run(DenseSums::<N, 16, PARTS> { weights, rows, sums }),
                64 => isa.run(DenseSums::<N, 64, PARTS> { weights, rows, sums }),
                _ => isa.run(DenseSums::<N, HIDDEN_2, PARTS> { weights, rows, sums }),
            }
        }
    }

    /// Accumulates the gradients of the `place`-th tile of a round from the slopes of its sums.
    pub fn backward(&mut self, isa: Isa, place: usize, tile: &Tile, slopes: &[f32]) {
        let (rows, products) = self.rows[place * ROWS * TILE..][..ROWS * TILE].split_at_mut(2 * TILE);
        let rows = &mut rows[..2 * tile.len()];
        let units = self.kind.second_layer();
        match self.kind {
            Kind::Screlu => {
                let Group { weights, gradients: weight_gradients, .. } = &mut self.output;
                isa.run(SquareSumsBack { tile, weights, weight_gradients, rows: &mut *rows, slopes });
            }
            Kind::Layered(_) | Kind::Deep => dense_back::<N, 2>(isa, tile, (units, &mut self.output), rows, slopes),
            Kind::Pairwise(_) => {
                let products = &mut products[..tile.len()];
                dense_back::<N, 1>(isa, tile, (units, &mut self.output), products, slopes);
                isa.run(ProductsBack { rows: &mut *rows, gradients: products });
            }
            Kind::Squared(_) => {
                let squares = &mut products[..2 * tile.len()];
                dense_back::<N, 2>(isa, tile, (units, &mut self.output), squares, slopes);
                isa.run(SquaresBack { rows: &mut *rows, gradients: squares });
            }
        }
        let (gradients, bias_gradient) = (&mut self.features.gradients[..], &mut self.bias.gradients[0]);
        isa.run(AccumulationBack { tile, rows, gradients, bias_gradient });
    }

    /// Runs one step of the optimiser.
    pub fn step(&mut self, isa: Isa, step: Step) {
        let of_features = step.of_features();
        self.add_common_gradients();
        if let Some((_, factor)) = &mut self.factor {
            factor.step(isa, of_features);
        }
        match &mut self.lazy {
            None => {
                self.features.step(isa, of_features);
                self.merge();
            }
            // The rows are merged when a batch uses them.
            Some(lazy) => {
                lazy.record(&of_features);
                for &input in lazy.touched() {
                    self.features.step_row(isa, of_features, input as usize);
                }
                lazy.finish();
            }
        }
        self.bias.step(isa, of_features);
        self.output.step(isa, step);
        self.transpose_dense();
    }

    /// Adds the gradients of the inputs to those of their common parts.
    fn add_common_gradients(&mut self) {
        let Some((shared, factor)) = &mut self.factor else { return };
        match &self.lazy {
            None => {
                for own in self.features.gradients[shared.first..shared.end].chunks_exact(shared.period) {
                    factor.gradients.iter_mut().zip(own).for_each(|(sum, gradient)| sum.add(gradient));
                }
            }
            Some(lazy) => {
                for &input in lazy.touched() {
                    if let Some(part) = shared.of(input as usize) {
                        factor.gradients[part].add(&self.features.gradients[input as usize]);
                    }
                }
            }
        }
    }
}

/// Backward pass of the second layer of `units` units: replaces its inputs, `PARTS` rows a
/// position, by their gradients, and accumulates those of its weights.
fn dense_back<const N: usize, const PARTS: usize>(
    isa: Isa,
    tile: &Tile,
    (units, layer): (usize, &mut Group<N>),
    rows: &mut [Row<N>],
    slopes: &[f32],
) {
    for (bucket, positions) in tile.stretches() {
        let own = PARTS * bucket * units..PARTS * (bucket + 1) * units;
        let (weights, weight_gradients) = (&layer.weights[own.clone()], &mut layer.gradients[own]);
        let rows = &mut rows[PARTS * positions.start..PARTS * positions.end];
        let slopes = &slopes[positions.start * units..positions.end * units];
        match units {
            8 => isa.run(DenseSumsBack::<N, 8, PARTS> { weights, weight_gradients, rows, slopes }),
            16 => isa.run(DenseSumsBack::<N, 16, PARTS> { weights, weight_gradients, rows, slopes }),
            64 => isa.run(DenseSumsBack::<N, 64, PARTS> { weights, weight_gradients, rows, slopes }),
            _ => isa.run(DenseSumsBack::<N, HIDDEN_2, PARTS> { weights, weight_gradients, rows, slopes }),
        }
    }
}
