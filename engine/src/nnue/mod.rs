//! Efficiently updatable neural networks (NNUE).
//!
//! A wide first layer is updated move by move, and a small head follows. Source: Y. Nasu (2018).
//!
//! Reading order: `sets/` (all possible inputs), `features.rs` (those of single pieces),
//! `layout.rs` (the shape), `network.rs` (the weights and the formula), and `format.rs` (the file).
//! Then `accumulator.rs`, `piece_line.rs` and `difference_line.rs` (incremental updates of the
//! first layer), and `simd/` (the loops).
//!
//! Kind 1 is `(768 x king buckets -> H)x2 -> SCReLU -> 1 x output buckets`, the shape of the first
//! examples of the trainer Bullet. Kind 2 is `(768 x king buckets -> H)x2 -> (L -> 1) x output
//! buckets` with clipped ReLU, quantised like Stockfish's layers; L is 32, or 8, 16 or 64. Kind 3
//! has L = 32 and one more layer of 32. Kind 4 multiplies pairs of clipped neurons, kind 5 squares
//! them; both have layers of L and of 32 neurons in each output bucket. A feature set may take the
//! place of 768 in each kind.

mod accumulator;
mod counters;
mod difference_line;
mod embedded;
mod features;
mod format;
mod layout;
mod network;
mod piece_line;
mod random;
pub mod sets;
mod sha256;
pub mod simd;

pub use accumulator::Accumulators;
pub use counters::Counters;
pub use embedded::embedded;
pub use features::View;
pub use format::{FormatError, HEADER_LEN, encode, parse, read_bytes, read_file, weights};
pub use layout::{
    Activation, FEATURES, HIDDEN_2, Kind, Layout, MAX_KING_BUCKETS, MAX_SECOND_LAYER, PAIR_DISTANCE, QA, SECOND_LAYERS,
    SizeError, output_bucket,
};
pub use network::{EVAL_LIMIT, Network, QB, SCALE};
pub use random::random_payload;
pub use sha256::sha256_hex;

#[cfg(test)]
mod tests;
