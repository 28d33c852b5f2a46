//! The neural evaluation ("NNUE", Nasu 2018): a wide first layer kept up to date move by move, and a small head.
//!
//! Reading order: `features.rs` (a position as a set of numbers), `layout.rs` (the shape), `network.rs` (the weights and what they compute),
//! `format.rs` (the file they come in), `accumulator.rs` (the first layer, updated and not recomputed), `simd/` (the loops).
//!
//! Kind 1 is `(768 x king buckets -> H)x2 -> SCReLU -> 1 x output buckets`, the shape of the trainer Bullet's first examples;
//! kind 2 is `(768 x king buckets -> H)x2 -> 32 -> 1` with clipped ReLU, quantised as Stockfish's layers are.

mod accumulator;
mod embedded;
mod features;
mod format;
mod layout;
mod network;
mod random;
mod sha256;
pub mod simd;

pub use accumulator::{Accumulators, Counters};
pub use embedded::embedded;
pub use features::View;
pub use format::{FormatError, HEADER_LEN, encode, parse, read_bytes, read_file};
pub use layout::{FEATURES, HIDDEN_2, Kind, Layout, MAX_KING_BUCKETS, QA, SizeError, output_bucket};
pub use network::{EVAL_LIMIT, Network, QB, SCALE};
pub use random::random_payload;
pub use sha256::sha256_hex;

#[cfg(test)]
mod tests;
