//! Split into training and validation data by games, because positions of one game are too similar
//! to validate each other.

use super::continuation::{WholeGames, check_has_moves};
use super::format::Format;
use super::input::{Input, Output, check_apart};
use super::needs::Needs;
use super::write::{Encoder, Sink};
use super::{passed_over, say};
use clap::Args;
use destrier::types::SplitMix64;
use std::path::PathBuf;

/// Arguments of `split`.
#[derive(Debug, Args)]
pub struct SplitArgs {
    #[command(flatten)]
    input: Input,
    /// Training output.
    #[command(flatten)]
    pub(super) output: Output,
    /// File for what is for validation
    #[arg(long, value_name = "FILE")]
    pub(super) validation: PathBuf,
    /// Share of the games for validation, from 0 to 1
    #[arg(long, default_value_t = 0.02, value_name = "SHARE")]
    share: f64,
    /// Seed of the draw of games
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Split single positions of files without game boundaries
    #[arg(long)]
    by_position: bool,
}

impl SplitArgs {
    /// # Errors
    /// Fails if an input cannot be read or an output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        anyhow::ensure!((0.0..=1.0).contains(&self.share), "--share {}: expected 0 to 1", self.share);
        let Output { out, to, force } = &self.output;
        let paths = [out.as_path(), &self.validation];
        check_apart(&paths, &self.input.files)?;
        let (mut encoders, mut sinks) = (Vec::new(), Vec::new());
        for path in paths {
            encoders.push(Encoder::new(path, Format::to_write_by_records(path, *to)?, None)?);
            sinks.push(Sink::create(path, *force)?);
        }
        // Random numbers below this bound, a `share` of all 2^64, select validation.
        let bound = (self.share * 2_f64.powi(64)) as u128;
        let (mut number, mut whole) = (0, WholeGames::default());
        let games = (!self.by_position).then_some(BY_POSITION);
        let sources = self.input.open(Needs { games, ..encoders[0].needs() })?;
        // The two outputs may have different formats.
        self.input.check(&sources, encoders[1].needs())?;
        let passed = self.input.read_sources(sources, |path, format, entry| {
            number += 1;
            if !self.by_position {
                check_has_moves(path, format, &entry, BY_POSITION)?;
                whole.check(path, format, &entry, TORN)?;
            }
            let part = usize::from(u128::from(SplitMix64::from_seeds(&[self.seed, number]).next_u64()) < bound);
            let sink = &mut sinks[part];
            encoders[part].encode(entry, |_, record| sink.put(record))
        })?;
        for ((path, encoder), sink) in paths.into_iter().zip(encoders).zip(sinks) {
            let records = sink.finish()?;
            let (positions, left_out) = (encoder.positions, encoder.left_out());
            say(&format!("{records} records, {positions} positions in {}, {left_out}", path.display()))?;
        }
        if passed > 0 {
            say(passed_over(passed).trim_start_matches(", "))?;
        }
        Ok(())
    }
}

/// Remedy for formats that do not separate games.
const BY_POSITION: &str = "split before it is converted, or give `--by-position`";
/// Remedy for games that are not whole.
const TORN: &str = "games that are not whole would be in both parts; split before filtering and shuffling, or give \
                    `--by-position`";
