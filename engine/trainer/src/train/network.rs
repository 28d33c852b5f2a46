//! Shape of a network in training, and its weights in the order files keep them.

use super::features::Inputs;
use destrier::nnue::{FEATURES, HIDDEN_2, Kind, Layout, output_bucket};
use destrier::types::SplitMix64;

/// The shape of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    pub kind: Kind,
    /// Neurons of each perspective; a multiple of 16.
    pub hidden: usize,
    pub inputs: Inputs,
    /// Output buckets by material: 8, or 1.
    pub output_buckets: usize,
    /// King buckets share a common part while they are trained.
    pub factorised: bool,
}

impl Shape {
    /// Layout of the exported file.
    pub fn layout(&self) -> Layout {
        Layout {
            kind: self.kind,
            hidden: self.hidden,
            king_buckets: self.inputs.king_buckets(),
            output_buckets: self.output_buckets,
            mirrored: self.inputs.mirrored(),
            bucket_map: *self.inputs.map(),
        }
    }

    /// True if the weights alone tell the shape, so that a bare `quantised.bin` is enough.
    pub fn is_plain(&self) -> bool {
        self.layout() == Layout::plain(Kind::Screlu, self.hidden)
    }

    /// Sums that leave the first layer: output buckets, or units of the second layer.
    pub fn columns(&self) -> usize {
        match self.kind {
            Kind::Screlu => self.output_buckets,
            Kind::Layered => HIDDEN_2,
        }
    }

    /// How many of the sums a position needs.
    pub fn sums(&self) -> usize {
        match self.kind {
            Kind::Screlu => 1,
            Kind::Layered => HIDDEN_2,
        }
    }

    /// Weights that follow the sums: biases, and in a layered network the second layer's weights and bias.
    pub fn head(&self) -> usize {
        match self.kind {
            Kind::Screlu => self.output_buckets,
            Kind::Layered => 2 * HIDDEN_2 + 1,
        }
    }

    /// Output bucket of a position with `pieces` pieces, 2 to 32.
    pub fn bucket(&self, pieces: u32) -> u8 {
        output_bucket(pieces, self.output_buckets) as u8
    }

    /// Sizes of the five groups of [`Parameters`], in its order.
    pub fn sizes(&self) -> [usize; 5] {
        let factor = if self.factorised { FEATURES * self.hidden } else { 0 };
        [self.inputs.size() * self.hidden, factor, self.hidden, self.columns() * 2 * self.hidden, self.head()]
    }
}

/// A value for each weight of a network: the weights themselves, or one of the optimiser's moments.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// `[king bucket * 768 + input][neuron]`.
    pub features: Vec<f32>,
    /// What all king buckets have in common, `[input][neuron]`; empty unless factorised.
    pub factor: Vec<f32>,
    /// `[neuron]`.
    pub bias: Vec<f32>,
    /// `[column][side to move, other][neuron]`.
    pub output: Vec<f32>,
    /// Biases of the columns; then, layered, weights of the second layer and its bias.
    pub head: Vec<f32>,
}

impl Parameters {
    /// All zero.
    pub fn zero(shape: &Shape) -> Parameters {
        let [features, factor, bias, output, head] = shape.sizes().map(|size| vec![0.0; size]);
        Parameters { features, factor, bias, output, head }
    }

    /// Weights N(0, sqrt(2 / inputs)) (He et al. 2015), biases 0. The first layer counts the 768 inputs of one king bucket: as many as
    /// are on at once would keep its outputs as wide as its inputs, but features that hardly ever come up keep what they began with,
    /// and that is noise in every evaluation.
    pub fn random(shape: &Shape, seed: u64) -> Parameters {
        let mut parameters = Parameters::zero(shape);
        let mut random = Random::new(seed);
        let mut fill = |values: &mut [f32], inputs: usize| {
            let deviation = (2.0 / inputs as f64).sqrt();
            values.iter_mut().for_each(|value| *value = (random.normal() * deviation) as f32);
        };
        fill(&mut parameters.features, FEATURES);
        if !shape.factorised {
            fill(&mut parameters.output, 2 * shape.hidden);
        } else {
            // The common part starts random and the buckets' own parts at zero, or their sum would be too wide.
            parameters.features.fill(0.0);
            fill(&mut parameters.factor, FEATURES);
            fill(&mut parameters.output, 2 * shape.hidden);
        }
        if shape.kind == Kind::Layered {
            fill(&mut parameters.head[HIDDEN_2..2 * HIDDEN_2], HIDDEN_2);
        }
        parameters
    }

    /// The five groups in the order files keep them.
    pub fn groups(&self) -> [&[f32]; 5] {
        [&self.features, &self.factor, &self.bias, &self.output, &self.head]
    }

    /// The five groups in the order files keep them.
    pub fn groups_mut(&mut self) -> [&mut [f32]; 5] {
        [&mut self.features, &mut self.factor, &mut self.bias, &mut self.output, &mut self.head]
    }

    /// First-layer weights as the engine has them: each bucket's own part and the common part in one.
    pub fn merged_features(&self) -> Vec<f32> {
        if self.factor.is_empty() {
            return self.features.clone();
        }
        self.features.iter().zip(self.factor.iter().cycle()).map(|(own, common)| own + common).collect()
    }
}

/// A small seeded source of numbers.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// From 0 up to, not including, `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// Uniform over (0, 1).
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Fisher and Yates' shuffle.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
