//! Removal of duplicate positions or games.

use super::error::DataError;
use super::format::Format;
use super::input::{Input, Memory, Output, folder_of};
use super::record::{BULLET_BYTES, Position};
use super::sorter::Sorter;
use super::write::Encoder;
use super::{passed_over, say};
use clap::Args;
use destrier::types::SplitMix64;

/// Arguments of `dedup`.
///
/// Keeps the first of all positions with the same Zobrist key. For bulletformat, which does not
/// store the side to move, the key is a hash of the pieces from the side to move's view. For
/// viriformat and self-play, only identical games are duplicates.
#[derive(Debug, Args)]
pub struct DedupArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    memory: Memory,
}

impl DedupArgs {
    /// Reads the input twice. The first pass sorts the keys with their record numbers and marks all
    /// but the first of each key. The second pass writes the unmarked records.
    ///
    /// # Errors
    /// Fails if an input cannot be read twice or the output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        let Output { out, to, .. } = &self.output;
        let format = Format::to_write_by_records(out, *to)?;
        self.input.check_lasting()?;
        let mut sink = self.output.create(&self.input)?;
        let mut sorter = Sorter::new(folder_of(out), self.memory.bytes())?;
        let mut encoder = Encoder::new(out, format, None)?;
        let mut number: u64 = 0;
        self.input.read(encoder.needs(), |entry| {
            encoder.encode(entry, |position, record| {
                sorter.push(key(format, position, record), &number.to_le_bytes())?;
                number += 1;
                Ok::<(), DataError>(())
            })
        })?;
        let mut repeated = Marks(vec![0; usize::try_from(number.div_ceil(64))?]);
        let mut last = None;
        sorter.finish(&mut |key, record| {
            if last == Some(key) {
                repeated.set(record.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)));
            }
            last = Some(key);
            Ok(())
        })?;
        let mut encoder = Encoder::new(out, format, None)?;
        let mut number = 0;
        let passed = self.input.read(encoder.needs(), |entry| {
            encoder.encode(entry, |_, record| {
                let is_new = !repeated.get(number);
                number += 1;
                if is_new { sink.put(record) } else { Ok(()) }
            })
        })?;
        let records = sink.finish()?;
        let (path, name) = (out.display(), format.name());
        let (repeated, left_out, passed) = (number - records, encoder.left_out(), passed_over(passed));
        say(&format!("{records} of {number} records in {path} ({name}), {repeated} repeated, {left_out}{passed}"))?;
        Ok(())
    }
}

/// Bit set with one bit per record.
struct Marks(Vec<u64>);

impl Marks {
    fn set(&mut self, number: u64) {
        if let Some(word) = self.0.get_mut((number / 64) as usize) {
            *word |= 1 << (number % 64);
        }
    }

    fn get(&self, number: u64) -> bool {
        self.0.get((number / 64) as usize).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

/// Returns the key that duplicate records share.
fn key(format: Format, position: Option<&Position>, record: &[u8]) -> u64 {
    match (format, position) {
        (Format::Bulletformat, _) => hash(&record[..BULLET_BYTES - 8]),
        (_, Some(position)) => position.board.key(),
        (_, None) => hash(record),
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let words: Vec<u64> = bytes
        .chunks(8)
        .map(|chunk| chunk.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)))
        .chain([bytes.len() as u64])
        .collect();
    SplitMix64::from_seeds(&words).next_u64()
}
