//! Head of kind 2, with the weights in the order of its kernels.

use super::AlignedArray;
use crate::nnue::HIDDEN_2;

/// Inputs that one 32-bit lane multiplies at once.
pub(super) const GROUP: usize = 4;

/// Largest activation.
pub(super) const ONE: i16 = 127;

/// Second layer and output.
///
/// The weights are in groups of four inputs, `[input / 4][neuron][input % 4]`. A group of
/// activations is spread over all lanes, each lane is a neuron, and nothing is summed across lanes.
pub struct LayeredHead {
    weights: AlignedArray<i8>,
    biases: [i32; HIDDEN_2],
    output: [i8; HIDDEN_2],
    output_bias: i32,
}

impl LayeredHead {
    /// Creates the head from rows `[neuron][input]`.
    pub fn new(rows: &[i8], biases: [i32; HIDDEN_2], output: [i8; HIDDEN_2], output_bias: i32) -> LayeredHead {
        let inputs = rows.len() / HIDDEN_2;
        let mut weights = AlignedArray::zeroed(rows.len());
        for (neuron, row) in rows.chunks_exact(inputs.max(1)).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                weights[(input / GROUP * HIDDEN_2 + neuron) * GROUP + input % GROUP] = weight;
            }
        }
        LayeredHead { weights, biases, output, output_bias }
    }

    /// Returns the weights of each group of four inputs, first those of the side to move's
    /// accumulator.
    #[inline]
    pub(super) fn groups(&self) -> &[[i8; GROUP * HIDDEN_2]] {
        self.weights.as_chunks().0
    }

    #[inline]
    pub(super) fn biases(&self) -> &[i32; HIDDEN_2] {
        &self.biases
    }

    /// Computes the output from the sums of the second layer. A sum of [`ONE`] times 64 is one, so
    /// it is shifted by six bits.
    #[inline]
    pub(super) fn output(&self, sums: &[i32; HIDDEN_2]) -> i32 {
        let neurons = sums.iter().zip(&self.output);
        let sum: i32 = neurons.map(|(&sum, &weight)| (sum >> 6).clamp(0, i32::from(ONE)) * i32::from(weight)).sum();
        sum.wrapping_add(self.output_bias)
    }
}
