//! Shape of a network in training, and its weights in file order.

use super::features::{Inputs, SharedInputs};
use destrier::nnue::{FEATURES, HIDDEN_2, Kind, Layout, output_bucket, sha256_hex};
use destrier::types::SplitMix64;
use std::fmt::Write as _;
use std::ops::Range;

/// Shape of a network.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shape {
    /// Architecture.
    pub kind: Kind,
    /// Neurons per perspective; a multiple of 16.
    pub hidden: usize,
    /// Input features: the set, king buckets and mirroring.
    pub inputs: Inputs,
    /// Output buckets by material: 8, or 1.
    pub output_buckets: usize,
    /// True if inputs of different squares of the own king share a common part during training
    /// (factorised inputs).
    pub factorised: bool,
}

impl Shape {
    /// Creates the shape of a network file.
    pub fn of_layout(layout: &Layout) -> Shape {
        let Layout { kind, hidden, output_buckets, .. } = *layout;
        Shape { kind, hidden, inputs: Inputs::of_layout(layout), output_buckets, factorised: false }
    }

    /// Returns the layout of the exported file.
    pub fn layout(&self) -> Layout {
        Layout {
            kind: self.kind,
            set: self.inputs.set().clone(),
            hidden: self.hidden,
            king_buckets: self.inputs.king_buckets(),
            output_buckets: self.output_buckets,
            mirrored: self.inputs.mirrored(),
            bucket_map: *self.inputs.map(),
        }
    }

    /// Returns a text that differs between shapes whose weights do not mean the same.
    pub fn signature(&self) -> String {
        let layout = self.layout();
        let mut text = layout.describe();
        if layout.king_buckets > 1 {
            let _ = write!(text, ", king buckets {:?}", layout.bucket_map);
        }
        if self.factorised {
            text.push_str(", factorised");
        }
        if let Some(list) = layout.set.pairs() {
            let features = list.pairs().iter().flat_map(|pair| pair.features());
            let bytes: Vec<u8> = features.flat_map(u16::to_le_bytes).collect();
            let _ = write!(text, ", pairs {}", &sha256_hex(&bytes)[..8]);
        }
        text
    }

    /// Returns true if the shape follows from the size of the weights, so that a bare
    /// `quantised.bin` is enough.
    pub fn is_plain(&self) -> bool {
        self.layout() == Layout::plain(Kind::Screlu, self.hidden)
    }

    /// Returns the number of sums after the first layer: output buckets, or units of their second
    /// layers.
    pub fn columns(&self) -> usize {
        self.output_buckets * self.sums()
    }

    /// Returns the number of these sums that one position needs.
    pub fn sums(&self) -> usize {
        self.kind.second_layer().max(1)
    }

    /// Returns the inputs with a common part, if they are factorised.
    pub fn shared(&self) -> Option<SharedInputs> {
        self.inputs.shared().filter(|_| self.factorised)
    }

    /// Returns the number of weights after the sums, see [`Parameters::head`].
    pub fn head(&self) -> usize {
        HeadPlaces::of(self).output_biases.end
    }

    /// Returns the output bucket of a position with `pieces` pieces, 2 to 32.
    pub fn bucket(&self, pieces: u32) -> u8 {
        output_bucket(pieces, self.output_buckets) as u8
    }

    /// Returns the sizes of the five groups of [`Parameters`], in their order.
    pub fn sizes(&self) -> [usize; 5] {
        let factor = self.shared().map_or(0, |shared| shared.period * self.hidden);
        [
            self.inputs.size() * self.hidden,
            factor,
            self.hidden,
            self.columns() * self.kind.second_inputs(self.hidden),
            self.head(),
        ]
    }
}

/// Stretches of an output, each of which is a unit of [`Parameters::with_windows`]; an output of 1
/// is 400 centipawns. They begin at zero and grow away from it, so that all weights are small: the
/// optimiser clips larger ones. They end beyond all usual evaluations, because a clamped unit does
/// not learn.
const WINDOWS: [[f32; 2]; 6] = [[0.0, 1.0], [1.0, 2.4], [2.4, 7.0], [0.0, -1.0], [-1.0, -2.4], [-2.4, -7.0]];

/// Largest weight of a byte in 64ths.
const MOST_OF_BYTE: f32 = 127.0 / 64.0;

/// Standard deviation of the noise of [`Parameters::in_copies`]; an activation is at most 1.
const NOISE_OF_COPIES: f32 = 0.01;

/// One value per weight of a network: the weights themselves, or one of the optimiser's moments.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// `[input][neuron]`; the inputs of king buckets follow one another.
    pub features: Vec<f32>,
    /// Common parts of inputs, `[part][neuron]`; empty unless factorised.
    pub factor: Vec<f32>,
    /// `[neuron]`.
    pub bias: Vec<f32>,
    /// `[column][side to move, opponent][neuron]`. In a pairwise network `[column][block of 64
    /// neurons][side to move, opponent][product of the block]`.
    pub output: Vec<f32>,
    /// Biases of the columns. In a layered network, the weights `[bucket][unit]` and biases of the
    /// outputs follow. With a third layer, its weights `[bucket][unit of the second layer][unit]`
    /// and biases `[bucket][unit]` are between.
    pub head: Vec<f32>,
}

impl Parameters {
    /// Creates parameters that are all zero.
    pub fn zero(shape: &Shape) -> Parameters {
        let [features, factor, bias, output, head] = shape.sizes().map(|size| vec![0.0; size]);
        Parameters { features, factor, bias, output, head }
    }

    /// Creates random weights N(0, sqrt(2 / inputs)) (He et al. 2015) and zero biases. The first
    /// layer counts the 768 inputs of one king bucket in every set. A count of the simultaneously
    /// active inputs would keep the variance of the outputs. Rare features, however, keep their
    /// initial weights, and these would be noise in every evaluation.
    pub fn random(shape: &Shape, seed: u64) -> Parameters {
        let mut parameters = Parameters::zero(shape);
        let mut random = Random::new(seed);
        let mut fill = |values: &mut [f32], inputs: usize| {
            let deviation = (2.0 / inputs as f64).sqrt();
            values.iter_mut().for_each(|value| *value = (random.normal() * deviation) as f32);
        };
        fill(&mut parameters.features, FEATURES);
        if let Some(shared) = shape.shared() {
            // The common parts start random and those of the inputs at zero, or the variance of
            // their sum would be too large.
            parameters.features[shared.first * shape.hidden..shared.end * shape.hidden].fill(0.0);
            fill(&mut parameters.factor, FEATURES);
        }
        fill(&mut parameters.output, shape.kind.second_inputs(shape.hidden));
        let places = HeadPlaces::of(shape);
        fill(&mut parameters.head[places.third], shape.kind.second_layer());
        fill(&mut parameters.head[places.output], shape.kind.last_layer());
        parameters
    }

    /// Returns parameters of `shape` from those of the same shape with one output bucket. The
    /// layers after the first are repeated in each bucket.
    pub fn in_each_output_bucket(mut self, shape: &Shape) -> Parameters {
        let one = Shape { output_buckets: 1, ..shape.clone() };
        let HeadPlaces { third, third_biases, output, output_biases } = HeadPlaces::of(&one);
        let parts = [0..one.columns(), third, third_biases, output, output_biases];
        self.head = parts.into_iter().flat_map(|part| self.head[part].repeat(shape.output_buckets)).collect();
        self.output = self.output.repeat(shape.output_buckets);
        self
    }

    /// Replaces the layers after the first by those of a squared network of `shape` that computes
    /// what this SCReLU network with `buckets` outputs does, as long as it is within the
    /// [`WINDOWS`]. The other units of both layers are random, and nothing depends on them yet.
    pub fn with_windows(&mut self, shape: &Shape, buckets: usize, seed: u64) {
        let Parameters { mut output, mut head, .. } = Parameters::random(shape, seed);
        let (places, units, inputs) =
            (HeadPlaces::of(shape), shape.kind.second_layer(), shape.kind.second_inputs(shape.hidden));
        for bucket in 0..shape.output_buckets {
            let source = bucket.min(buckets - 1);
            let weights = &self.output[source * inputs..][..inputs];
            let third = places.third.start + bucket * units * HIDDEN_2;
            let last = places.output.start + bucket * HIDDEN_2;
            head[last..][..HIDDEN_2].fill(0.0);
            let mut rows = 0..HIDDEN_2;
            for (unit, [from, to]) in WINDOWS.into_iter().enumerate() {
                let column = bucket * units + unit;
                let own = output[column * inputs..][..inputs].iter_mut();
                own.zip(weights)
                    .for_each(|(own, weight)| *own = (weight / (to - from)).clamp(-MOST_OF_BYTE, MOST_OF_BYTE));
                head[column] = (self.head[source] - from) / (to - from);
                // As many units of the third layer as keep the weights of the output small.
                let copies = ((to - from).abs() / MOST_OF_BYTE).ceil() as usize;
                for copy in rows.by_ref().take(copies) {
                    for input in 0..units {
                        head[third + input * HIDDEN_2 + copy] = if input == unit { 1.0 } else { 0.0 };
                    }
                    head[last + copy] = (to - from) / copies as f32;
                }
            }
        }
        (self.output, self.head) = (output, head);
    }

    /// Returns parameters with `copies` of each neuron, which share the weights that follow it. The
    /// copies differ by noise whose sum is zero, so that they can learn different things (Chen et
    /// al. 2016, Net2Net: Accelerating Learning via Knowledge Transfer) and are not all rounded in
    /// the same direction.
    pub fn in_copies(self, copies: usize, seed: u64) -> Parameters {
        let neurons = self.bias.len();
        let mut random = Random::new(seed);
        let mut noise = vec![0.0; copies];
        let mut repeated = |rows: &[f32], share: f32, deviation: f32| -> Vec<f32> {
            // The neurons of a row follow one another, then their copies.
            let mut wide = Vec::with_capacity(rows.len() * copies);
            for row in rows.chunks_exact(neurons) {
                let first = wide.len();
                wide.extend(row.repeat(copies).into_iter().map(|weight| weight * share));
                for neuron in 0..neurons {
                    noise.iter_mut().for_each(|value| *value = random.normal() as f32 * deviation);
                    let mean = noise.iter().sum::<f32>() / copies as f32;
                    let own = wide[first + neuron..].iter_mut().step_by(neurons);
                    own.zip(&noise).for_each(|(weight, value)| *weight += value - mean);
                }
            }
            wide
        };
        // The common parts of factorised inputs, if there are any, so that the rows of rare king
        // buckets differ alike.
        let own = if self.factor.is_empty() { NOISE_OF_COPIES } else { 0.0 };
        Parameters {
            features: repeated(&self.features, 1.0, own),
            factor: repeated(&self.factor, 1.0, NOISE_OF_COPIES),
            bias: repeated(&self.bias, 1.0, 0.0),
            output: repeated(&self.output, 1.0 / copies as f32, NOISE_OF_COPIES),
            head: self.head,
        }
    }

    /// Returns the five groups in file order.
    pub fn groups(&self) -> [&[f32]; 5] {
        [&self.features, &self.factor, &self.bias, &self.output, &self.head]
    }

    /// Returns the five groups in file order.
    pub fn groups_mut(&mut self) -> [&mut [f32]; 5] {
        [&mut self.features, &mut self.factor, &mut self.bias, &mut self.output, &mut self.head]
    }

    /// Returns the first-layer weights of the engine: the sums of each input's own and common part.
    pub fn merged_features(&self, shape: &Shape) -> Vec<f32> {
        let mut merged = self.features.clone();
        let Some(shared) = shape.shared() else { return merged };
        let rows = merged.chunks_exact_mut(shape.hidden).take(shared.end).skip(shared.first);
        for (own, common) in rows.zip(self.factor.chunks_exact(shape.hidden).cycle()) {
            own.iter_mut().zip(common).for_each(|(own, common)| *own += common);
        }
        merged
    }
}

/// Places of the groups of [`Parameters::head`], of all buckets each; the biases of the columns are
/// before the first.
#[derive(Debug, Clone, PartialEq)]
pub struct HeadPlaces {
    /// Weights of the third layers; empty without them.
    pub third: Range<usize>,
    /// Biases of the third layers; empty without them.
    pub third_biases: Range<usize>,
    /// Weights of the outputs; empty in a SCReLU network, whose columns are outputs.
    pub output: Range<usize>,
    /// Biases of the outputs; empty in a SCReLU network.
    pub output_biases: Range<usize>,
}

impl HeadPlaces {
    /// Returns the places in the head of this shape.
    pub fn of(shape: &Shape) -> HeadPlaces {
        let buckets = shape.output_buckets;
        let (second, third, last) = (shape.kind.second_layer(), shape.kind.third_layer(), shape.kind.last_layer());
        let outputs = usize::from(shape.kind != Kind::Screlu);
        let mut end = shape.columns();
        let mut next = |len: usize| {
            let start = end;
            end += buckets * len;
            start..end
        };
        HeadPlaces {
            third: next(third * second),
            third_biases: next(third),
            output: next(last),
            output_biases: next(outputs),
        }
    }
}

/// Seeded random number generator.
#[derive(Debug, Clone)]
pub struct Random(SplitMix64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(SplitMix64::new(seed))
    }

    /// Returns a number from 0 up to, but excluding, `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// Returns a uniform number in (0, 1).
    fn unit(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Returns a standard normal number (Box and Muller 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Shuffles with the Fisher-Yates algorithm.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}
