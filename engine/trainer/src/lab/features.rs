//! Active features of one position, and its evaluation by a network.

use crate::train::read_pairs;
use clap::Args;
use destrier::board::Board;
use destrier::nnue;
use destrier::nnue::sets::{FeatureSet, OrientedBoard};
use destrier::types::Color;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

/// Arguments of `features`.
#[derive(Debug, Args)]
pub struct FeaturesArgs {
    /// Sum of feature blocks, such as piece+file+rank
    set: String,
    /// Position in FEN; the starting position by default
    #[arg(long, value_name = "FEN")]
    fen: Option<String>,
    /// Network file to evaluate the position; its feature set must be SET
    #[arg(long, value_name = "FILE")]
    net: Option<PathBuf>,
    /// File with the pairs of a block top-pairs:K
    #[arg(long, value_name = "FILE")]
    pairs: Option<PathBuf>,
}

impl FeaturesArgs {
    /// Prints sizes, active features and the evaluation.
    ///
    /// # Errors
    /// Fails if the set, the position or a file is not right, or `out` cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> anyhow::Result<()> {
        let pairs = self.pairs.as_ref().map(|path| read_pairs(path).map(Arc::new)).transpose()?;
        let set = FeatureSet::parse(&self.set, pairs.as_ref())?;
        let board = match &self.fen {
            Some(fen) => Board::from_fen(fen).map_err(|error| anyhow::anyhow!("--fen: {error}"))?,
            None => Board::startpos(),
        };
        let mut text = describe(&set, &board);
        if let Some(path) = &self.net {
            let network = nnue::read_file(path).map_err(|error| anyhow::anyhow!("{}: {error}", path.display()))?;
            let found = &network.layout().set;
            anyhow::ensure!(
                found.to_string() != set.to_string() || *found == set,
                "{}: a network of {found} with another list of pairs; name its list with --pairs",
                path.display()
            );
            anyhow::ensure!(
                *found == set,
                "{}: a network of {found}, not of {set}; name its set: `destrier-trainer features {found}`",
                path.display()
            );
            let value = network.evaluate_alone(&board);
            let _ = writeln!(text, "evaluation: {value} cp for the side to move, {}", network.layout().describe());
        }
        Ok(out.write_all(text.as_bytes())?)
    }
}

/// Formats the blocks of a set with the active features of both sides.
fn describe(set: &FeatureSet, board: &Board) -> String {
    let mut text = format!("{set}: {} features\n", set.size());
    for (block, first) in set.blocks() {
        let _ = writeln!(text, "  {block}: {} from {first} on", block.size());
    }
    for (color, name) in Color::ALL.into_iter().zip(["White", "Black"]) {
        let active = set.active(&OrientedBoard::from((board, color)));
        let _ = writeln!(text, "{name} sees {}:", active.count());
        for (block, first) in set.blocks() {
            let mut list = Vec::new();
            active.for_each(|feature| {
                if (*first..first + block.size()).contains(&usize::from(feature)) {
                    list.push(feature.to_string());
                }
            });
            let _ = writeln!(text, "  {block}: {}", list.join(" "));
        }
    }
    text
}
