//! Initial weights, and the weights that stay fixed.

use destrier::eval::WEIGHTS;
use destrier::eval::layout::{BLOCKS, COUNT};

use super::plan::Start;

/// Middlegame and endgame halves in centipawns, in the order of the engine's table.
pub type Weights = Vec<[f32; 2]>;

/// Returns the initial weights of a fit.
#[must_use]
pub fn start_weights(start: Start) -> Weights {
    match start {
        Start::Engine => WEIGHTS.iter().map(|weight| [weight.mg() as f32, weight.eg() as f32]).collect(),
        Start::Material => {
            let mut weights = vec![[0.0; 2]; COUNT];
            // Usual piece values from pawn to queen.
            for (weight, pawns) in weights.iter_mut().zip([1.0, 3.0, 3.0, 5.0, 9.0]) {
                *weight = [100.0 * pawns; 2];
            }
            weights
        }
    }
}

/// Marks the weights of the named blocks as fixed.
#[must_use]
pub fn anchored(names: &[String]) -> Vec<bool> {
    let mut held = vec![false; COUNT];
    for block in BLOCKS.iter().filter(|block| names.iter().any(|name| name == block.name)) {
        held[block.start..block.start + block.len].fill(true);
    }
    held
}
