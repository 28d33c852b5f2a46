//! The text of `weights.rs`, so that a tuner can write what the compiler reads.

use super::layout::BLOCKS;
use std::fmt::Write;

/// The source of `weights.rs` for weights in the order of the table: middle game and endgame, in centipawns.
pub fn render_weights(weights: &[[i32; 2]]) -> String {
    let mut text = String::from(
        "//! The weights of the evaluation, middle game and endgame, in the order of `layout`.\n\
         //!\n\
         //! Written by the `texel` example; edit `layout.rs` and run it again.\n\
         #![cfg_attr(rustfmt, rustfmt_skip)]\n\n\
         use super::Pair;\n\
         use super::layout::COUNT;\n\n\
         const fn s(mg: i32, eg: i32) -> Pair {\n    Pair::new(mg, eg)\n}\n\n\
         /// All weights; see [`super::layout`] for their meaning.\n\
         pub static WEIGHTS: [Pair; COUNT] = [\n",
    );
    for block in BLOCKS {
        let _ = writeln!(text, "    // {}", block.name);
        for row in weights[block.start..block.start + block.len].chunks(8) {
            let row: Vec<String> = row.iter().map(|[mg, eg]| format!("s({mg}, {eg})")).collect();
            let _ = writeln!(text, "    {},", row.join(", "));
        }
    }
    text + "];\n"
}
