//! Feature sets: the inputs of networks, for the engine and the trainer.
//!
//! A [`FeatureSet`] is a sum of [`FeatureBlock`]s, written with `+`. The features of its blocks lie
//! one after the other. A feature is 0 or 1 and means that something is so, never how often. Each
//! side has its own view of the board, an [`OrientedBoard`], and both views have the same indices.
//!
//! In each block `own = 0`, `enemy = 1`; kinds are pawn 0 to king 5; a square is `8 * rank + file`;
//! a piece code is `enemy * 6 + kind`, or `enemy * 5 + kind` in blocks without kings.
//!
//! | block | size | feature | index |
//! |---|---|---|---|
//! | `piece` | 768 | piece `c` on `s` | `64 c + s` |
//! | `file`, `rank` | 96 | some piece `c` on the file or rank | `8 c + line` |
//! | `diagonal`, `antidiagonal` | 180 | a piece `c` with `f + r` or `f + 7 - r` | `15 c + line` |
//! | `king-piece` | 40,960 | own king on `k`, non-king piece `c` on `s` | `640 k + 64 c + s` |
//! | `king-all` | 49,152 | the same with both kings as pieces | `768 k + 64 c + s` |
//! | `king-relative` | 2,250 | non-king piece `c`, steps from the own king | `225 c + 15 df + dr` |
//! | `king-relative-h` | 1,200 | steps by file, rank of the board | `120 c + 8 df + r` |
//! | `king-relative-v` | 1,200 | file of the board, steps by rank | `120 c + 15 f + dr` |
//! | `moves` | 4,096 | a piece of either side can go between two squares | `64 from + to` |
//! | `top-pairs:K` | K | two `piece` features are on | place in the list |
//! | `file-pairs`, `rank-pairs` | 1,152 | `c1` next below, left of `c2` | `144 line + 12 c1 + c2` |
//! | `diagonal-pairs`, `antidiagonal-pairs` | 2,160 | `c1` next to `c2`, file rising | as above |
//! | `mobility-squares` | 768 | some piece `c` can go to `s` | `64 c + s` |
//! | `mobility-counts` | 206 | the pieces `c` can go to `n` squares together | see `mobility.rs` |
//!
//! Steps from the own king are `king - piece + 7`, 0 to 14. `mobility.rs` says which moves count.
//!
//! Reading order: `oriented.rs`, `block.rs` (the table of blocks), `set.rs` (sums and their names),
//! then `lines.rs`, `king.rs`, `mobility.rs` and `pairs.rs` (one group of blocks each).

mod active;
mod block;
mod king;
mod lines;
mod mobility;
mod oriented;
mod pairs;
mod set;

#[cfg(test)]
pub(in crate::nnue) mod tests;

pub use active::ActiveFeatures;
pub(super) use block::TOP_PAIRS_CODE;
pub use block::{FeatureBlock, Locality};
pub use king::RelativeAxes;
pub use lines::LineKind;
pub use mobility::CAPS as MOBILITY_CAPS;
pub use oriented::OrientedBoard;
pub use pairs::{FeaturePair, PairList, PairListError};
pub use set::{FeatureSet, MAX_BLOCKS, MAX_SET_SIZE, SetError};
