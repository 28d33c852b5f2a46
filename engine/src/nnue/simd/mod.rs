//! Loops of the network: one algorithm (`algorithm.rs`) over a vector type, compiled for each
//! instruction set.
//!
//! [`Kernels::detect`] inspects the processor once and returns a table of safe functions; there is
//! no other dispatch. The scalar code in `scalar.rs` is the reference. It is always compiled, and
//! every other table gives the same bits (`tests.rs`).
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

pub use aligned::AlignedArray;
pub use layered::{LayeredHead, MiddleLayer, SecondLayer};
pub(super) use scalar::screlu_wide;

use std::sync::OnceLock;

/// Type of [`Kernels::apply`].
type Apply = fn(acc: &mut [i16], weights: &[i16], adds: &[u16], subs: &[u16]);

/// Operations on the rows of the first layer and on accumulators.
///
/// Rows, sources and destinations have `hidden` numbers, a multiple of 32. Sums wrap, so adding and
/// subtracting a row cancels exactly, whatever the weights are.
pub struct Kernels {
    /// Name in `destrier`'s output: `scalar`, `avx2`, ...
    pub name: &'static str,
    /// Computes `dst = src + add - sub`: a quiet move.
    pub move_piece: fn(dst: &mut [i16], src: &[i16], rows: [&[i16]; 2]),
    /// Computes `dst = src + add - sub - sub`: a capture.
    pub capture: fn(dst: &mut [i16], src: &[i16], rows: [&[i16]; 3]),
    /// Computes `dst = src + add + add - sub - sub`: castling.
    pub castle: fn(dst: &mut [i16], src: &[i16], rows: [&[i16]; 4]),
    /// Computes `acc += all adds - all subs`, with rows given by number within `weights`: a
    /// refresh.
    pub apply: Apply,
    /// Computes the sum of `clamp(a, 0, 255)^2 * w` over both accumulators, exact for weights of at
    /// most 128.
    pub screlu: fn(own: &[i16], other: &[i16], weights: &[i16]) -> i64,
    /// Computes the output of the layered head before its last division.
    pub layered: fn(own: &[i16], other: &[i16], head: &LayeredHead) -> i32,
}

/// Table in use.
static CHOSEN: OnceLock<&'static Kernels> = OnceLock::new();

impl Kernels {
    /// Returns the best table for this processor, or the one that [`Kernels::choose`] has set.
    pub fn detect() -> &'static Kernels {
        CHOSEN.get_or_init(|| Kernels::available().last().copied().unwrap_or(&scalar::KERNELS))
    }

    /// Sets the table of this process by its name. Returns false if this processor has no such
    /// table, or another one is in use already.
    pub fn choose(name: &str) -> bool {
        let table = Kernels::available().into_iter().find(|table| table.name == name);
        table.is_some_and(|table| std::ptr::eq(*CHOSEN.get_or_init(|| table), table))
    }

    /// Returns every table that this processor can run, slowest first. The first is the reference.
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
