//! Generator of `weights.rs`, with which a tuner writes what the compiler reads.

use super::layout::BLOCKS;
use std::fmt::Write;

/// Formats the source of `weights.rs` for weights in the order of the table: middle game and
/// endgame, in centipawns.
///
/// If the number of positions in which each weight counted is given, every block states the range
/// of these numbers and the weights that never occurred.
pub fn render_weights(weights: &[[i32; 2]], counts: Option<&[u64]>) -> String {
    let mut text = String::from(
        "//! The weights of the evaluation, middle game and endgame, in the order of `layout`.\n\
         //!\n\
         //! Written by `destrier-trainer texel`; edit `layout.rs` and run it again.\n\
         #![cfg_attr(rustfmt, rustfmt_skip)]\n\n\
         use super::Pair;\n\
         use super::layout::COUNT;\n\n\
         const fn s(mg: i32, eg: i32) -> Pair {\n    Pair::new(mg, eg)\n}\n\n\
         /// All weights; see [`super::layout`] for their meaning.\n\
         pub static WEIGHTS: [Pair; COUNT] = [\n",
    );
    for block in BLOCKS {
        let range = block.start..block.start + block.len;
        let seen = counts.map(|counts| seen(&counts[range.clone()])).unwrap_or_default();
        let _ = writeln!(text, "    // {}{seen}", block.name);
        for row in weights[range].chunks(8) {
            let row: Vec<String> = row.iter().map(|[mg, eg]| format!("s({mg}, {eg})")).collect();
            let _ = writeln!(text, "    {},", row.join(", "));
        }
    }
    text + "];\n"
}

/// Formats the numbers of positions in which the weights of a block counted.
fn seen(counts: &[u64]) -> String {
    let (least, most) = counts
        .iter()
        .filter(|count| **count > 0)
        .fold((u64::MAX, 0), |(least, most), count| (least.min(*count), most.max(*count)));
    let never: Vec<usize> = (0..counts.len()).filter(|place| counts[*place] == 0).collect();
    match never.len() {
        0 if least == most => format!(": in {most} positions"),
        0 => format!(": in {least} to {most} positions"),
        all if all == counts.len() => ": never seen".to_owned(),
        _ => format!(": in {least} to {most} positions, never seen: {}", runs(&never)),
    }
}

/// Formats `0 1 2 7` as `0-2, 7`.
fn runs(places: &[usize]) -> String {
    let mut out: Vec<(usize, usize)> = Vec::new();
    for &place in places {
        match out.last_mut() {
            Some((_, end)) if *end + 1 == place => *end = place,
            _ => out.push((place, place)),
        }
    }
    let words = out.iter().map(|(from, to)| if from == to { from.to_string() } else { format!("{from}-{to}") });
    words.collect::<Vec<_>>().join(", ")
}
