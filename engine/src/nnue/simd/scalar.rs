//! Reference kernels: plain loops over numbers.

use super::layered::{ONE, Order, product};
use super::{Kernels, LayeredHead, MiddleLayer};
use crate::nnue::{Activation, HIDDEN_2, PAIR_DISTANCE, QA};

pub static KERNELS: Kernels =
    Kernels { name: "scalar", move_piece, capture, castle, apply, screlu: screlu_wide, layered };

fn move_piece(dst: &mut [i16], src: &[i16], [add, sub]: [&[i16]; 2]) {
    for (((dst, src), add), sub) in dst.iter_mut().zip(src).zip(add).zip(sub) {
        *dst = src.wrapping_add(*add).wrapping_sub(*sub);
    }
}

fn capture(dst: &mut [i16], src: &[i16], [add, sub, victim]: [&[i16]; 3]) {
    move_piece(dst, src, [add, sub]);
    dst.iter_mut().zip(victim).for_each(|(dst, victim)| *dst = dst.wrapping_sub(*victim));
}

fn castle(dst: &mut [i16], src: &[i16], [add1, add2, sub1, sub2]: [&[i16]; 4]) {
    capture(dst, src, [add1, sub1, sub2]);
    dst.iter_mut().zip(add2).for_each(|(dst, add)| *dst = dst.wrapping_add(*add));
}

fn apply(acc: &mut [i16], weights: &[i16], adds: &[u16], subs: &[u16]) {
    let hidden = acc.len();
    for &feature in adds {
        let row = &weights[usize::from(feature) * hidden..][..hidden];
        acc.iter_mut().zip(row).for_each(|(acc, weight)| *acc = acc.wrapping_add(*weight));
    }
    for &feature in subs {
        let row = &weights[usize::from(feature) * hidden..][..hidden];
        acc.iter_mut().zip(row).for_each(|(acc, weight)| *acc = acc.wrapping_sub(*weight));
    }
}

/// Computes the sum of `clamp(a, 0, QA)^2 * w`, exact for all weights.
pub fn screlu_wide(own: &[i16], other: &[i16], weights: &[i16]) -> i64 {
    let activation = |value: &i16| i64::from(*value).clamp(0, QA);
    let terms = own.iter().chain(other).zip(weights);
    terms.map(|(value, weight)| activation(value) * activation(value) * i64::from(*weight)).sum()
}

fn layered(own: &[i16], other: &[i16], head: &LayeredHead) -> i32 {
    let mut sums = *head.biases();
    let neurons = head.neurons();
    let Order { block, set, group } = Order::of(neurons);
    let mut blocks = head.weights().chunks_exact(block * neurons);
    for neurons in own.chunks(BLOCK).chain(other.chunks(BLOCK)) {
        let (activations, count) = activations(neurons, head.activation());
        for (values, weights) in activations[..count].chunks_exact(block).zip(blocks.by_ref()) {
            for (sums, weights) in sums.chunks_exact_mut(set).zip(weights.chunks_exact(block * set)) {
                for (values, weights) in values.chunks_exact(group).zip(weights.chunks_exact(group * set)) {
                    for (sum, weights) in sums.iter_mut().zip(weights.chunks_exact(group)) {
                        for (value, weight) in values.iter().zip(weights) {
                            *sum = sum.wrapping_add(i32::from(*value) * i32::from(*weight));
                        }
                    }
                }
            }
        }
    }
    head.output(&mut sums[..neurons], third_sums)
}

fn third_sums(layer: &MiddleLayer, units: &[i32]) -> [i32; HIDDEN_2] {
    let mut sums = *layer.biases();
    for (pair, weights) in units.as_chunks::<2>().0.iter().zip(layer.weights()) {
        for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<2>().0) {
            for (unit, weight) in pair.iter().zip(weights) {
                *sum = sum.wrapping_add(unit.wrapping_mul(i32::from(*weight)));
            }
        }
    }
    sums
}

/// Neurons whose activations are computed at once: a block of pairs.
const BLOCK: usize = 2 * PAIR_DISTANCE;

/// Returns the inputs that the second layer has from a block of one accumulator, and their number.
fn activations(block: &[i16], activation: Activation) -> ([i16; BLOCK], usize) {
    let mut inputs = [0; BLOCK];
    let (first, second) = block.split_at(PAIR_DISTANCE.min(block.len()));
    match activation {
        Activation::Clipped => inputs.iter_mut().zip(block).for_each(|(to, value)| *to = (*value).clamp(0, ONE)),
        Activation::Squared => inputs.iter_mut().zip(block).for_each(|(to, value)| *to = product(*value, *value)),
        Activation::Products => {
            let pairs = first.iter().zip(second);
            inputs.iter_mut().zip(pairs).for_each(|(to, (a, b))| *to = product(*a, *b));
            return (inputs, second.len());
        }
    }
    (inputs, block.len())
}
