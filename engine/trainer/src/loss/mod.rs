//! Neutral loss of evaluations, on positions of other engines' games.
//!
//! It is the squared error of each evaluation at its best scale.
//!
//! The validation loss of a training says how well a network learned its own labels. It cannot
//! compare networks of different labels, and it once preferred a network that lost 47 Elo. Scores
//! and results of games that none of the networks was trained on are the same for all of them.
//!
//! Reading order: `sample.rs` (the positions and their games), `fit.rs` (scale, loss and standard
//! errors), `table.rs` (the output), then the command here.

mod fit;
mod sample;
mod table;

#[cfg(test)]
mod tests;

use crate::compare::{Entrant, distinguish};
use crate::data::read::file_of;
use crate::data::{self, DataError, Format};
use anyhow::bail;
use clap::Args;
use sample::{SampleFilter, SampleReader};
use std::path::{Path, PathBuf};
use table::{InputFile, LossReport};

/// Default of `--score-scale`. Scores of championship engines on the centipawn scale of their time;
/// the value reproduces the table from which the thresholds of network work come.
const SCORE_SCALE: f64 = 300.0;

const EXAMPLES: &str = "\
Examples:
  destrier-trainer data loss my.nnue games.txt.zst
  destrier-trainer data loss classical engine my.nnue --on games.txt.zst more.vf --share 0.1 --json

For each network: the scale that fits it best, and the mean of (sigmoid(scale * value / 400) - target)^2, where the target \
is sigmoid(score / score-scale), and separately the result. The scores are also shown by the number of men. Errors are standard \
errors that treat each game as one observation; those of the differences to the first network are much smaller, because \
both saw the same positions. The same command prints the same numbers.";

/// Measures networks on positions of other engines' games, each at its best scale
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LossArgs {
    /// Networks: `.nnue`, `quantised.bin`, folders of training runs, `classical`, or `engine` for
    /// the built-in one. Without --on only the first word is a network, and the others are files
    #[arg(required = true, value_name = "NETWORK")]
    networks: Vec<String>,
    /// Files of games or positions with scores and results, in any format that `data` reads
    #[arg(long, value_name = "FILE", num_args = 1..)]
    on: Vec<PathBuf>,
    /// Their format, if their names do not imply it
    #[arg(long, value_name = "FORMAT")]
    from: Option<Format>,
    /// Share of the games to measure, from 0 to 1, drawn game by game
    #[arg(long, default_value_t = 1.0, value_name = "SHARE")]
    share: f64,
    /// Measure the games that --share leaves out
    #[arg(long)]
    rest: bool,
    /// Seed of the draw of games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Centipawns at which a score of the files promises a winning probability of 73 %
    #[arg(long, default_value_t = SCORE_SCALE, value_name = "CP")]
    score_scale: f64,
    #[command(flatten)]
    filter: SampleFilter,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

impl LossArgs {
    /// # Errors
    /// Fails if a network or file cannot be read, or no position is left.
    pub fn run(&self) -> anyhow::Result<()> {
        anyhow::ensure!((0.0..=1.0).contains(&self.share), "--share {}: expected 0 to 1", self.share);
        anyhow::ensure!(
            self.score_scale >= 1.0 && self.score_scale <= 1e5,
            "--score-scale {}: expected 1 to 100000 centipawns",
            self.score_scale
        );
        let (networks, files) = self.networks_and_files()?;
        let mut players = networks.iter().map(|word| Entrant::parse(word)).collect::<Result<Vec<_>, _>>()?;
        distinguish(&mut players)?;
        let loaded = players.iter().map(|player| player.evaluation.load()).collect::<anyhow::Result<Vec<_>>>()?;
        let inputs = files.iter().map(|path| input(path)).collect::<anyhow::Result<Vec<_>>>()?;
        let draw = sample::GameDraw { share: self.share, rest: self.rest, seed: self.seed };
        let reader = SampleReader { draw, filter: self.filter, score_scale: self.score_scale, loaded: &loaded };
        let sample = reader.read(&files, self.from)?;
        if sample.positions() == 0 {
            bail!("no position is left to measure of {} read; give milder limits, or other files", sample.read);
        }

        let report = LossReport::of(&players, &sample, inputs, &reader);
        let text = if self.json { serde_json::to_string_pretty(&report)? } else { report.table() };
        data::say(text.trim_end())?;
        Ok(())
    }

    /// Parts the words into networks and files.
    fn networks_and_files(&self) -> anyhow::Result<(Vec<String>, Vec<PathBuf>)> {
        match (&self.on[..], &self.networks[..]) {
            ([], [network, files @ ..]) if !files.is_empty() => {
                Ok((vec![network.clone()], files.iter().map(PathBuf::from).collect()))
            }
            ([], _) => bail!("no file to measure on; give it after the network, or several with --on FILE..."),
            (files, networks) => Ok((networks.to_vec(), files.to_vec())),
        }
    }
}

/// Describes an input file by its hash, so that a table says on which bytes it was measured.
fn input(path: &Path) -> anyhow::Result<InputFile> {
    let file = file_of(path);
    if file.metadata().is_ok_and(|data| !data.is_file()) {
        // A pipe can be read only once.
        return Err(DataError::ReadTwice { path: path.to_owned() }.into());
    }
    let sha256 = data::sha256_of(&file)?;
    Ok(InputFile { name: path.display().to_string(), sha256 })
}
