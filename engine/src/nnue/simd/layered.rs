//! Head of kinds 2 and 3, with the weights in the order of its kernels.

use super::AlignedArray;
use crate::nnue::HIDDEN_2;
use crate::nnue::layout::MAX_SECOND_LAYER;

/// Inputs that one 32-bit lane multiplies at once.
pub(super) const GROUP: usize = 4;

/// Least number of neurons that the kernels compute: a vector of the widest instruction set.
const LEAST_NEURONS: usize = 16;

/// Largest activation.
pub(super) const ONE: i16 = 127;

/// Third layer of kind 3.
pub struct MiddleLayer {
    /// Weights `[input][neuron]`, so that a lane is a neuron.
    weights: [[i8; HIDDEN_2]; HIDDEN_2],
    biases: [i32; HIDDEN_2],
}

impl MiddleLayer {
    /// Creates the layer from rows `[neuron][input]`, of [`HIDDEN_2`] neurons and inputs.
    pub fn new(rows: &[i8], biases: &[i32]) -> MiddleLayer {
        let mut weights = [[0; HIDDEN_2]; HIDDEN_2];
        for (neuron, row) in rows.chunks_exact(HIDDEN_2).take(HIDDEN_2).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                weights[input][neuron] = weight;
            }
        }
        MiddleLayer { weights, biases: padded(biases) }
    }

    /// Returns the sums of the layer from those of the layer before.
    #[inline]
    fn sums(&self, sums: &[i32]) -> [i32; HIDDEN_2] {
        let mut products = [0; HIDDEN_2];
        for (&sum, weights) in sums.iter().zip(&self.weights) {
            let value = activation(sum);
            for (product, &weight) in products.iter_mut().zip(weights) {
                *product += value * i32::from(weight);
            }
        }
        std::array::from_fn(|neuron| products[neuron].wrapping_add(self.biases[neuron]))
    }
}

/// Returns numbers with zeros after them.
fn padded<T: Copy + Default, const N: usize>(numbers: &[T]) -> [T; N] {
    let mut padded = [T::default(); N];
    padded.iter_mut().zip(numbers).for_each(|(place, number)| *place = *number);
    padded
}

/// Returns the activation of a sum. A sum of [`ONE`] times 64 is one, so it is shifted by six bits.
#[inline]
fn activation(sum: i32) -> i32 {
    (sum >> 6).clamp(0, i32::from(ONE))
}

/// Second layer, third layer if there is one, and output.
///
/// The weights are in groups of four inputs, `[input / 4][neuron][input % 4]`. A group of
/// activations is spread over all lanes, each lane is a neuron, and nothing is summed across lanes.
/// A layer of eight neurons has eight more without weights.
pub struct LayeredHead {
    /// Neurons in these arrays: 16, 32 or 64.
    neurons: usize,
    weights: AlignedArray<i8>,
    biases: [i32; MAX_SECOND_LAYER],
    middle: Option<Box<MiddleLayer>>,
    output: [i8; MAX_SECOND_LAYER],
    output_bias: i32,
}

impl LayeredHead {
    /// Creates the head from rows `[neuron][input]`. There are as many rows as biases and output
    /// weights, one of [`crate::nnue::SECOND_LAYERS`].
    pub fn new(
        rows: &[i8],
        biases: &[i32],
        middle: Option<MiddleLayer>,
        output: &[i8],
        output_bias: i32,
    ) -> LayeredHead {
        let neurons = biases.len().clamp(LEAST_NEURONS, MAX_SECOND_LAYER);
        let inputs = rows.len() / biases.len().max(1);
        let mut weights = AlignedArray::zeroed(neurons * inputs);
        for (neuron, row) in rows.chunks_exact(inputs.max(1)).take(neurons).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                weights[(input / GROUP * neurons + neuron) * GROUP + input % GROUP] = weight;
            }
        }
        let middle = middle.map(Box::new);
        LayeredHead { neurons, weights, biases: padded(biases), middle, output: padded(output), output_bias }
    }

    /// Returns the number of neurons to compute: 16, 32 or 64.
    #[inline]
    pub(super) fn neurons(&self) -> usize {
        self.neurons
    }

    /// Returns the weights, first those of the side to move's accumulator.
    #[inline]
    pub(super) fn weights(&self) -> &[i8] {
        &self.weights
    }

    #[inline]
    pub(super) fn biases(&self) -> &[i32; MAX_SECOND_LAYER] {
        &self.biases
    }

    /// Computes the output from the sums of the second layer.
    #[inline]
    pub(super) fn output(&self, sums: &[i32]) -> i32 {
        match &self.middle {
            None => self.last(sums),
            Some(middle) => self.last(&middle.sums(sums)),
        }
    }

    #[inline]
    fn last(&self, sums: &[i32]) -> i32 {
        let neurons = sums.iter().zip(&self.output);
        let sum: i32 = neurons.map(|(&sum, &weight)| activation(sum) * i32::from(weight)).sum();
        sum.wrapping_add(self.output_bias)
    }
}
