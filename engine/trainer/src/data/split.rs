//! Training and validation, parted by games: positions of one game are too much alike to judge each other.

use super::error::DataError;
use super::format::Format;
use super::input::{Input, Needs, Output, check_apart};
use super::say;
use super::shuffle::sortable;
use super::write::{Encoder, Sink};
use clap::Args;
use destrier::types::SplitMix64;
use std::path::{Path, PathBuf};

/// `split`
#[derive(Debug, Args)]
pub struct Split {
    #[command(flatten)]
    input: Input,
    /// What is for training
    #[command(flatten)]
    pub(super) output: Output,
    /// File for what is for validation
    #[arg(long, value_name = "FILE")]
    pub(super) validation: PathBuf,
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
        let Output { out, to, force } = &self.output;
        let paths = [out.as_path(), &self.validation];
        check_apart(&paths, &self.input.files)?;
        if !self.by_position {
            for (path, source) in self.input.files.iter().zip(self.input.open(Needs::default())?) {
                if !source.format.holds_games() {
                    return Err(no_games(path, source.format).into());
                }
            }
        }
        let (mut encoders, mut sinks) = (Vec::new(), Vec::new());
        for path in paths {
            encoders.push(Encoder::new(path, sortable(path, *to)?, None)?);
            sinks.push(Sink::create(path, *force)?);
        }
        // Of all 2^64 numbers the lower share is for validation.
        let bound = (self.share * 2_f64.powi(64)) as u128;
        let mut number = 0;
        self.input.read(encoders[0].needs(), |entry| {
            number += 1;
            let part = usize::from(u128::from(SplitMix64::from_seeds(&[self.seed, number]).next_u64()) < bound);
            let sink = &mut sinks[part];
            encoders[part].encode(entry, |_, record| sink.put(record))
        })?;
        for ((path, encoder), sink) in paths.into_iter().zip(encoders).zip(sinks) {
            let records = sink.finish()?;
            let Encoder { positions, dropped, .. } = encoder;
            say(&format!(
                "{records} records, {positions} positions in {}, {dropped} positions left out",
                path.display()
            ))?;
        }
        Ok(())
    }
}

fn no_games(path: &Path, format: Format) -> DataError {
    DataError::Lacks {
        path: path.to_owned(),
        format: format.name(),
        what: "which game a position is of",
        remedy: "split before it is converted, or give `--by-position`",
    }
}
