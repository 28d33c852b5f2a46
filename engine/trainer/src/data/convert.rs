//! From format to format, all of it or what is worth training on.

use super::error::DataError;
use super::filter::Filter;
use super::format::Format;
use super::input::{Input, Needs, Output};
use super::write::Encoder;
use super::{passed_over, say};
use clap::Args;

/// `convert`
#[derive(Debug, Args)]
pub struct Convert {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
}

/// `filter`
#[derive(Debug, Args)]
pub struct Keep {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    #[command(flatten)]
    filter: Filter,
}

/// `import`
#[derive(Debug, Args)]
pub struct Import {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    /// Games with an illegal move or start that may be left out; with one more the import fails. 0: with the first
    #[arg(long, default_value_t = 100, value_name = "N")]
    max_bad: u64,
}

impl Convert {
    /// # Errors
    /// What could not be read or written.
    pub fn run(&self) -> anyhow::Result<()> {
        convert(&self.input, &self.output, None)
    }
}

impl Keep {
    /// # Errors
    /// What could not be read or written.
    pub fn run(&self) -> anyhow::Result<()> {
        convert(&self.input, &self.output, Some(self.filter))
    }
}

impl Import {
    /// # Errors
    /// What could not be read or written, positions, which are no games, and files without a game to learn from.
    pub fn run(&self) -> anyhow::Result<()> {
        let Import { input, output, max_bad } = self;
        let format = Format::to_write(&output.out, output.to)?;
        let mut encoder = Encoder::new(&output.out, format, None)?;
        let needs = Needs { games: Some("use `convert` for positions"), ..encoder.needs() };
        let mut sink = output.create(input)?;
        #[cfg(feature = "binpack")]
        if format == Format::Binpack {
            return super::binpack::write(input, needs, &output.out, sink);
        }
        let put = |entry| encoder.encode(entry, |_, record| sink.put(record));
        let (passed, bad) = input.read_playable(needs, *max_bad, put)?;
        let passed = passed_over(passed) + &bad_games(bad);
        if sink.records == 0 {
            let path = input.files.first().cloned().unwrap_or_default();
            return Err(DataError::NoGames { path, passed }.into());
        }
        let records = sink.finish()?;
        tell(records, &encoder, output, format, &passed)
    }
}

/// What is said of games that could not be played; nothing if there were none.
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
        return super::binpack::write(input, needs, &output.out, sink);
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
