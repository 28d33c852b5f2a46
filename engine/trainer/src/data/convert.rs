//! From format to format, all of it or what is worth training on.

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
}

impl Convert {
    /// # Errors
    /// What could not be read or written.
    pub fn run(&self) -> anyhow::Result<()> {
        convert(&self.input, &self.output, None, None)
    }
}

impl Keep {
    /// # Errors
    /// What could not be read or written.
    pub fn run(&self) -> anyhow::Result<()> {
        convert(&self.input, &self.output, Some(self.filter), None)
    }
}

impl Import {
    /// # Errors
    /// What could not be read or written, and positions, which are no games.
    pub fn run(&self) -> anyhow::Result<()> {
        convert(&self.input, &self.output, None, Some("use `convert` for positions"))
    }
}

/// `games` as in [`Needs`].
fn convert(input: &Input, output: &Output, filter: Option<Filter>, games: Option<&'static str>) -> anyhow::Result<()> {
    let format = Format::to_write(&output.out, output.to)?;
    let mut encoder = Encoder::new(&output.out, format, filter)?;
    let needs = Needs { games, ..encoder.needs() };
    let mut sink = output.create(input)?;
    #[cfg(feature = "binpack")]
    if format == Format::Binpack {
        return super::binpack::write(input, needs, &output.out, sink);
    }
    let passed = input.read(needs, |entry| encoder.encode(entry, |_, record| sink.put(record)))?;
    let records = sink.finish()?;
    say(&format!(
        "{records} records, {} positions in {} ({}), {}{}",
        encoder.positions,
        output.out.display(),
        format.name(),
        encoder.left_out(),
        passed_over(passed)
    ))?;
    Ok(())
}
