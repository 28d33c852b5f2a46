//! Head of kinds 2 to 5, with the weights in the order of its kernels.

use super::AlignedArray;
use crate::nnue::HIDDEN_2;
use crate::nnue::layout::{Activation, MAX_SECOND_LAYER, QA};

/// Inputs that one 32-bit lane multiplies at once.
pub(super) const QUAD: usize = 4;

/// Inputs in a block of a layer of eight neurons: the 16-bit numbers of the widest vector.
pub(super) const ROW: usize = 32;

/// Largest activation.
pub(super) const ONE: i16 = 127;

/// Third layer of kinds 3 to 5.
pub struct MiddleLayer {
    /// Weights `[input / 2][neuron][input % 2]`, so that a lane is a neuron.
    weights: Vec<[i16; 2 * HIDDEN_2]>,
    biases: [i32; HIDDEN_2],
}

impl MiddleLayer {
    /// Creates the layer from rows `[neuron][input]` of [`HIDDEN_2`] neurons, with as many inputs
    /// as the second layer has neurons.
    pub fn new(rows: &[i16], biases: &[i32]) -> MiddleLayer {
        let inputs = rows.len() / HIDDEN_2;
        let mut weights = vec![[0; 2 * HIDDEN_2]; inputs.div_ceil(2)];
        for (neuron, row) in rows.chunks_exact(inputs.max(1)).take(HIDDEN_2).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                weights[input / 2][2 * neuron + input % 2] = weight;
            }
        }
        MiddleLayer { weights, biases: padded(biases) }
    }

    /// Returns the weights, `[input / 2][neuron][input % 2]`.
    #[inline]
    pub(super) fn weights(&self) -> &[[i16; 2 * HIDDEN_2]] {
        &self.weights
    }

    #[inline]
    pub(super) fn biases(&self) -> &[i32; HIDDEN_2] {
        &self.biases
    }
}

/// Returns numbers with zeros after them.
fn padded<T: Copy + Default, const N: usize>(numbers: &[T]) -> [T; N] {
    let mut padded = [T::default(); N];
    padded.iter_mut().zip(numbers).for_each(|(place, number)| *place = *number);
    padded
}

/// Order of a second layer's weights: `[input / block][neuron / set][input % block /
/// group][neuron % set][input % group]`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Order {
    pub(super) block: usize,
    pub(super) set: usize,
    pub(super) group: usize,
}

impl Order {
    /// Returns the order of a layer of `neurons` neurons.
    pub(super) const fn of(neurons: usize) -> Order {
        match neurons {
            8 => Order { block: ROW, set: 2, group: ROW / 4 },
            _ => Order { block: QUAD, set: neurons, group: QUAD },
        }
    }

    /// Returns the place of a weight.
    fn place(self, neurons: usize, neuron: usize, input: usize) -> usize {
        let Order { block, set, group } = self;
        let sets = input / block * (neurons / set) + neuron / set;
        let groups = sets * (block / group) + input % block / group;
        (groups * set + neuron % set) * group + input % group
    }
}

/// Activation of a layer's sums.
#[derive(Debug, Clone, Copy)]
struct Units {
    /// Bits that are dropped.
    shift: u32,
    /// Largest value.
    one: i32,
}

impl Units {
    #[inline(always)]
    fn replace(self, sums: &mut [i32]) {
        sums.iter_mut().for_each(|sum| *sum = (*sum >> self.shift).clamp(0, self.one));
    }
}

/// Multiplies two neurons of kinds 4 and 5. One times one is 127.002, so that products fit a byte.
#[inline]
pub(super) fn product(a: i16, b: i16) -> i16 {
    let [a, b] = [a, b].map(|neuron| i32::from(neuron).clamp(0, QA as i32));
    ((a * b + 256) >> 9) as i16
}

/// Second layer of a network, in the order of files.
pub struct SecondLayer<'a> {
    /// Weights `[neuron][input]`, as many rows as biases.
    pub rows: &'a [i8],
    /// Biases, as many as one of [`crate::nnue::SECOND_LAYERS`].
    pub biases: &'a [i32],
    /// Function of its inputs.
    pub activation: Activation,
}

/// Second layer, third layer if there is one, and output.
///
/// The weights are in groups of four inputs, `[input / 4][neuron][input % 4]`. A group of
/// activations is spread over all lanes, each lane is a neuron, and nothing is summed across lanes.
/// A layer of eight neurons would leave most lanes of a wide vector empty, so each 16 bytes of its
/// weights have eight inputs of two neurons. Sixteen-bit activations that are packed into bytes
/// twice, next to each other, have this order in vectors of all lengths. What follows the sums is
/// always inlined, so that it is compiled for the instruction set of the kernel.
pub struct LayeredHead {
    /// Number of neurons: one of [`crate::nnue::SECOND_LAYERS`].
    neurons: usize,
    activation: Activation,
    weights: AlignedArray<i8>,
    biases: [i32; MAX_SECOND_LAYER],
    middle: Option<Box<MiddleLayer>>,
    /// As wide as the sums.
    output: [i32; MAX_SECOND_LAYER],
    output_bias: i32,
}

impl LayeredHead {
    /// Creates the head. There are as many output weights as the last layer has neurons.
    pub fn new(second: &SecondLayer, middle: Option<MiddleLayer>, output: &[i16], output_bias: i32) -> LayeredHead {
        let SecondLayer { rows, biases, activation } = *second;
        let neurons = biases.len();
        let inputs = rows.len() / neurons.max(1);
        let order = Order::of(neurons);
        let mut weights = AlignedArray::zeroed(neurons * inputs);
        for (neuron, row) in rows.chunks_exact(inputs.max(1)).enumerate() {
            for (input, &weight) in row.iter().enumerate() {
                weights[order.place(neurons, neuron, input)] = weight;
            }
        }
        let middle = middle.map(Box::new);
        let output: Vec<i32> = output.iter().copied().map(i32::from).collect();
        let (biases, output) = (padded(biases), padded(&output));
        LayeredHead { neurons, activation, weights, biases, middle, output, output_bias }
    }

    /// Returns the function of the inputs.
    #[inline]
    pub(super) fn activation(&self) -> Activation {
        self.activation
    }

    /// Returns the divisor that makes centipawns of the output.
    #[inline]
    pub fn divisor(&self) -> i32 {
        (16 * self.activation.grain() * self.activation.fineness()) as i32
    }

    /// Returns the number of neurons: one of [`crate::nnue::SECOND_LAYERS`].
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

    /// Computes the output from the sums of the second layer, which are replaced by their
    /// activations. `third_sums` computes the sums of the third layer from these.
    #[inline(always)]
    pub(super) fn output(
        &self,
        sums: &mut [i32],
        third_sums: impl FnOnce(&MiddleLayer, &[i32]) -> [i32; HIDDEN_2],
    ) -> i32 {
        // A sum of the second layer is in 64ths of 127ths, one of the third in parts of the
        // weights.
        let (grain, fineness) = (self.activation.grain(), self.activation.fineness());
        let units = |step: i64| Units { shift: step.trailing_zeros(), one: i32::from(ONE) * grain as i32 };
        let (second, third) = (units(64 / grain), units(64 * fineness));
        second.replace(sums);
        match &self.middle {
            None => self.last(sums),
            Some(middle) => {
                let mut sums = third_sums(middle, sums);
                third.replace(&mut sums);
                self.last(&sums)
            }
        }
    }

    #[inline(always)]
    fn last(&self, units: &[i32]) -> i32 {
        let terms = units.iter().zip(&self.output).map(|(unit, weight)| unit.wrapping_mul(*weight));
        terms.fold(self.output_bias, i32::wrapping_add)
    }
}
