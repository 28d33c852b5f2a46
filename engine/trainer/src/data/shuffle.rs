//! Random order: shuffling records and interleaving files.

use super::filter::Filter;
use super::format::Format;
use super::input::{Input, Memory, Output, bar, folder_of};
use super::read::PassedGames;
use super::sorter::Sorter;
use super::write::Encoder;
use super::{passed_over, say};
use clap::Args;
use destrier::types::SplitMix64;
use std::sync::atomic::Ordering;

/// Arguments of `shuffle`.
#[derive(Debug, Args)]
pub struct ShuffleArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    memory: Memory,
    /// Seed of the order
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Leave out what is not worth training on, as `filter` does
    #[arg(long)]
    filtered: bool,
    #[command(flatten)]
    filter: Filter,
}

/// Arguments of `interleave`.
#[derive(Debug, Args)]
pub struct InterleaveArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    /// Seed of the mix
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl ShuffleArgs {
    /// Shuffles by sorting: each record gets a pseudorandom key from the seed and its number. The
    /// order depends on the seed alone.
    ///
    /// # Errors
    /// Fails if an input cannot be read or the output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        let Output { out, to, .. } = &self.output;
        let format = Format::to_write_by_records(out, *to)?;
        anyhow::ensure!(
            self.filtered || self.filter == Filter::default(),
            "the criteria of positions are for `--filtered`; give that too"
        );
        let filter = self.filtered.then_some(self.filter);
        let mut encoder = Encoder::new(out, format, filter)?;
        let mut sink = self.output.create(&self.input)?;
        let mut sorter = Sorter::new(folder_of(out), self.memory.bytes())?;
        let mut number = 0;
        let passed = self.input.read(encoder.needs(), |entry| {
            encoder.encode(entry, |_, record| {
                number += 1;
                sorter.push(SplitMix64::from_seeds(&[self.seed, number]).next_u64(), record)
            })
        })?;
        sorter.finish(&mut |_, record| sink.put(record))?;
        let records = sink.finish()?;
        let (path, name) = (out.display(), format.name());
        let (left_out, passed) = (encoder.left_out(), passed_over(passed));
        say(&format!("{records} records in random order in {path} ({name}), {left_out}{passed}"))?;
        Ok(())
    }
}

impl InterleaveArgs {
    /// Interleaves files. Each next record comes from a random file, with a probability
    /// proportional to the bytes left in it.
    ///
    /// # Errors
    /// Fails if an input cannot be read or the output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        let Output { out, to, .. } = &self.output;
        let format = Format::to_write_by_records(out, *to)?;
        let mut encoder = Encoder::new(out, format, None)?;
        let mut sources = self.input.open(encoder.needs())?;
        for (path, source) in self.input.files.iter().zip(&sources) {
            anyhow::ensure!(
                source.format != Format::Journal,
                "{}: a journal cannot be interleaved reproducibly; `import` it first",
                path.display()
            );
        }
        let mut sink = self.output.create(&self.input)?;
        let bar = bar(sources.iter().map(|source| source.length).sum());
        let mut random = SplitMix64::from_seeds(&[self.seed]);
        let passed = PassedGames::of(&sources);
        let mut done = 0;
        while !sources.is_empty() {
            // At least one byte, so that a file that has been used up is drawn once more and ends.
            let left: Vec<u64> = sources
                .iter()
                .map(|source| source.length.saturating_sub(source.read.load(Ordering::Relaxed)).max(1))
                .collect();
            let mut ticket = random.below(usize::try_from(left.iter().sum::<u64>()).unwrap_or(usize::MAX)) as u64;
            let chosen = left
                .iter()
                .position(|&left| {
                    let hit = ticket < left;
                    ticket = ticket.saturating_sub(left);
                    hit
                })
                .unwrap_or(0);
            match sources[chosen].entries.next() {
                Some(entry) => encoder.encode(entry?, |_, record| sink.put(record))?,
                None => done += sources.swap_remove(chosen).length,
            }
            let read: u64 = sources.iter().map(|source| source.read.load(Ordering::Relaxed)).sum();
            bar.set_position(done + read);
        }
        bar.finish_and_clear();
        let passed = passed_over(passed.games());
        let (records, path, name, left_out) = (sink.finish()?, out.display(), format.name(), encoder.left_out());
        say(&format!("{records} records in {path} ({name}), {left_out}{passed}"))?;
        Ok(())
    }
}
