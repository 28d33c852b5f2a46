//! Laboratory for the inputs of networks: what a feature set sees, and what it costs.
//!
//! `features.rs` shows one position, `neurons.rs` the activity of a network, `show.rs` writes a
//! page about its neurons or, by `neuron_picture.rs`, a picture of one, `panels.rs` places features
//! in pictures. `statistics.rs` counts over data files, `block_counts.rs` has the counts of one
//! block, `selection.rs` chooses pairs. `grid` trains and compares networks of several sets.

mod block_counts;
mod features;
mod grid;
mod neuron_picture;
mod neurons;
mod panels;
mod selection;
mod show;
mod statistics;

#[cfg(test)]
mod definition_tests;
#[cfg(test)]
mod tests;

pub use features::FeaturesArgs;
pub use grid::LabArgs;
pub use neurons::NeuronsArgs;
pub use selection::PairsArgs;
pub use show::ShowArgs;
pub use statistics::StatisticsArgs;
