//! Conversion between formats, with or without the training filter.

use super::error::DataError;
use super::filter::Filter;
use super::format::Format;
use super::input::{Input, Output};
use super::needs::Needs;
#[cfg(feature = "binpack")]
use super::record::Entry;
use super::write::Encoder;
use super::{passed_over, say};
use clap::Args;

/// Arguments of `convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
}

/// Arguments of `filter`.
#[derive(Debug, Args)]
pub struct FilterArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    filter: Filter,
}

/// Arguments of `import`.
#[derive(Debug, Args)]
pub struct ImportArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    /// Games with an illegal move or start that may be left out; with one more the import fails. 0:
    /// with the first
    #[arg(long, default_value_t = 100, value_name = "N")]
    max_bad: u64,
}

impl ConvertArgs {
    /// # Errors
    /// Fails if an input cannot be read or the output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        convert(&self.input, &self.output, None)
    }
}

impl FilterArgs {
    /// # Errors
    /// Fails if an input cannot be read or the output cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        convert(&self.input, &self.output, Some(self.filter))
    }
}

impl ImportArgs {
    /// # Errors
    /// Fails if an input cannot be read or the output cannot be written, if an input holds
    /// positions instead of games, or if no game has an evaluation.
    pub fn run(&self) -> anyhow::Result<()> {
        let ImportArgs { input, output, max_bad } = self;
        let format = Format::to_write(&output.out, output.to)?;
        let mut encoder = Encoder::new(&output.out, format, None)?;
        let needs = Needs { games: Some("use `convert` for positions"), ..encoder.needs() };
        let mut sink = output.create(input)?;
        let no_games = |passed| DataError::NoGames { path: input.files.first().cloned().unwrap_or_default(), passed };
        #[cfg(feature = "binpack")]
        if format == Format::Binpack {
            let read = |put: &mut dyn FnMut(Entry) -> Result<(), DataError>| input.read_playable(needs, *max_bad, put);
            let (written, (passed, bad)) = super::binpack::write(&output.out, &mut sink, read)?;
            let passed = passed_over(passed) + &bad_games(bad);
            if written.positions == 0 {
                return Err(no_games(passed).into());
            }
            sink.finish()?;
            return tell_binpack(&written, output, &passed);
        }
        let put = |entry| encoder.encode(entry, |_, record| sink.put(record));
        let (passed, bad) = input.read_playable(needs, *max_bad, put)?;
        let passed = passed_over(passed) + &bad_games(bad);
        if sink.records == 0 {
            return Err(no_games(passed).into());
        }
        let records = sink.finish()?;
        tell(records, &encoder, output, format, &passed)
    }
}

/// Returns the end of the summary about games with an illegal move or start; empty if there were
/// none.
fn bad_games(games: u64) -> String {
    if games == 0 { String::new() } else { format!(", {games} games left out (illegal move or start)") }
}

fn convert(input: &Input, output: &Output, filter: Option<Filter>) -> anyhow::Result<()> {
    let format = Format::to_write(&output.out, output.to)?;
    let mut encoder = Encoder::new(&output.out, format, filter)?;
    let needs = encoder.needs();
    let mut sink = output.create(input)?;
    #[cfg(feature = "binpack")]
    if format == Format::Binpack {
        let read = |put: &mut dyn FnMut(Entry) -> Result<(), DataError>| input.read(needs, put);
        let (written, passed) = super::binpack::write(&output.out, &mut sink, read)?;
        sink.finish()?;
        return tell_binpack(&written, output, &passed_over(passed));
    }
    let passed = input.read(needs, |entry| encoder.encode(entry, |_, record| sink.put(record)))?;
    let records = sink.finish()?;
    tell(records, &encoder, output, format, &passed_over(passed))
}

fn tell(records: u64, encoder: &Encoder, output: &Output, format: Format, passed: &str) -> anyhow::Result<()> {
    say(&format!(
        "{records} records, {} positions in {} ({}), {}{passed}",
        encoder.positions,
        output.out.display(),
        format.name(),
        encoder.left_out(),
    ))?;
    Ok(())
}

#[cfg(feature = "binpack")]
fn tell_binpack(written: &super::binpack::WriteCounts, output: &Output, passed: &str) -> anyhow::Result<()> {
    let super::binpack::WriteCounts { positions, left_out } = written;
    say(&format!(
        "{positions} positions in {} (binpack), {left_out} positions left out{passed}",
        output.out.display()
    ))?;
    Ok(())
}
