//! The loops of the network: one algorithm (`algorithm.rs`), written over a vector type, compiled for each instruction set.
//!
//! [`Kernels::detect`] looks at the processor once and hands out a table of safe functions; there is no other dispatch. The plain
//! code in `scalar.rs` is the reference: it is always compiled, and every other table gives the same bits (`tests.rs`).
#![expect(unsafe_code, reason = "vector loads and stores, and calls of code for a processor that was looked at")]

mod aligned;
#[macro_use]
mod algorithm;
mod layered;
mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

#[cfg(test)]
mod tests;

pub use aligned::Aligned;
pub use layered::LayeredHead;
pub(super) use scalar::screlu_wide;

use std::sync::OnceLock;

/// See [`Kernels::apply`].
type Apply = fn(acc: &mut [i16], weights: &[i16], adds: &[u16], subs: &[u16]);

/// What the kernels can do with the rows of the first layer.
///
/// Rows, sources and destinations are `hidden` numbers long, a multiple of 32; sums wrap, so that adding and subtracting a row
/// leaves nothing behind whatever the weights.
pub struct Kernels {
    /// As in `destrier`'s output: `scalar`, `avx2`, ...
    pub name: &'static str,
    /// `dst = src + add - sub`: a quiet move.
    pub move_piece: fn(dst: &mut [i16], src: &[i16], rows: [&[i16]; 2]),
    /// `dst = src + add - sub - sub`: a capture.
    pub capture: fn(dst: &mut [i16], src: &[i16], rows: [&[i16]; 3]),
    /// `dst = src + add + add - sub - sub`: castling.
    pub castle: fn(dst: &mut [i16], src: &[i16], rows: [&[i16]; 4]),
    /// `acc += all adds - all subs`, rows given by number within `weights`: a refresh.
    pub apply: Apply,
    /// The sum of `clamp(a, 0, 255)^2 * w` over both accumulators, exact for weights of at most 128.
    pub screlu: fn(own: &[i16], other: &[i16], weights: &[i16]) -> i64,
    /// The output of the layered head before its last division.
    pub layered: fn(own: &[i16], other: &[i16], head: &LayeredHead) -> i32,
}

impl Kernels {
    /// The best table for this processor.
    pub fn detect() -> &'static Kernels {
        static BEST: OnceLock<&'static Kernels> = OnceLock::new();
        BEST.get_or_init(|| Kernels::available().last().copied().unwrap_or(&scalar::KERNELS))
    }

    /// Every table that this processor can run, slowest first; the first is the reference.
    #[cfg_attr(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        expect(unused_mut, reason = "there is nothing but the reference")
    )]
    pub fn available() -> Vec<&'static Kernels> {
        let mut tables = vec![&scalar::KERNELS];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                tables.push(&avx2::KERNELS);
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
                tables.push(&avx512::plain::KERNELS);
                if is_x86_feature_detected!("avx512vnni") {
                    tables.push(&avx512::vnni::KERNELS);
                }
            }
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            tables.push(&neon::KERNELS);
        }
        tables
    }
}
