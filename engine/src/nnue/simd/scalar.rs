//! Reference kernels: plain loops over numbers.

use super::layered::{GROUP, ONE};
use super::{Kernels, LayeredHead};
use crate::nnue::QA;

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
    let groups = own.as_chunks::<GROUP>().0.iter().chain(other.as_chunks::<GROUP>().0);
    let neurons = head.neurons();
    for (values, weights) in groups.zip(head.weights().chunks_exact(GROUP * neurons)) {
        for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<GROUP>().0) {
            for (value, weight) in values.iter().zip(weights) {
                let term = i32::from((*value).clamp(0, ONE)) * i32::from(*weight);
                *sum = sum.wrapping_add(term);
            }
        }
    }
    head.output(&sums[..neurons])
}
