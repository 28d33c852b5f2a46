//! Training and validation, parted by games: positions of one game are too much alike to judge each other.

use super::error::DataError;
use super::input::{Input, Output};
use super::say;
use super::shuffle::sortable;
use super::write::{Encoder, Sink};
use clap::Args;
use destrier::types::SplitMix64;
use std::path::PathBuf;

/// `split`
#[derive(Debug, Args)]
pub struct Split {
    #[command(flatten)]
    input: Input,
    /// What is for training
    #[command(flatten)]
    output: Output,
    /// File for what is for validation
    #[arg(long, value_name = "FILE")]
    validation: PathBuf,
    /// Share of the games for validation, from 0 to 1
    #[arg(long, default_value_t = 0.02, value_name = "SHARE")]
    share: f64,
    /// Another seed, other games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Part positions of files that do not tell the games apart
    #[arg(long)]
    by_position: bool,
}

impl Split {
    /// # Errors
    /// What could not be read or written.
    pub fn run(&self) -> anyhow::Result<()> {
        anyhow::ensure!((0.0..=1.0).contains(&self.share), "--share {}: expected 0 to 1", self.share);
        for (path, source) in self.input.files.iter().zip(self.input.open(None)?) {
            if !source.format.holds_games() && !self.by_position {
                return Err(DataError::Lacks {
                    path: path.clone(),
                    format: source.format.name(),
                    what: "which game a position is of",
                    remedy: "split before it is converted, or give `--by-position`",
                }
                .into());
            }
        }
        let Output { out, to, force } = &self.output;
        let paths = [out, &self.validation];
        let (mut encoders, mut sinks) = (Vec::new(), Vec::new());
        for path in paths {
            encoders.push(Encoder::new(path, sortable(path, *to)?, None)?);
            sinks.push(Sink::create(path, *force)?);
        }
        // Of all 2^64 numbers the lower share is for validation.
        let bound = (self.share * 2_f64.powi(64)) as u128;
        let mut number = 0;
        self.input.read(None, |entry| {
            number += 1;
            let part = usize::from(u128::from(SplitMix64::from_seeds(&[self.seed, number]).next_u64()) < bound);
            let sink = &mut sinks[part];
            encoders[part].encode(entry, |_, record| sink.put(record))
        })?;
        for ((path, encoder), sink) in paths.into_iter().zip(encoders).zip(sinks) {
            let records = sink.finish()?;
            say(&format!("{records} records, {} positions in {}", encoder.positions, path.display()));
        }
        Ok(())
    }
}
