//! From format to format, all of it or what is worth training on.

use super::filter::Filter;
use super::format::Format;
use super::input::{Input, Output};
use super::say;
use super::write::{Encoder, Sink};
use clap::Args;

/// `convert`
#[derive(Debug, Args)]
pub struct Convert {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
}

/// `filter`
#[derive(Debug, Args)]
pub struct Keep {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
    #[command(flatten)]
    filter: Filter,
}

/// `import`
#[derive(Debug, Args)]
pub struct Import {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    output: Output,
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
    /// What could not be read or written, and positions, which are no games.
    pub fn run(&self) -> anyhow::Result<()> {
        for (path, source) in self.input.files.iter().zip(self.input.open(None)?) {
            anyhow::ensure!(
                source.format.holds_games(),
                "{}: {} holds positions, not games; use `convert`",
                path.display(),
                source.format.name()
            );
        }
        convert(&self.input, &self.output, None)
    }
}

fn convert(input: &Input, output: &Output, filter: Option<Filter>) -> anyhow::Result<()> {
    let format = Format::to_write(&output.out, output.to)?;
    let mut encoder = Encoder::new(&output.out, format, filter)?;
    #[cfg(feature = "binpack")]
    if format == Format::Binpack {
        return super::binpack::write(input, output);
    }
    let mut sink = Sink::create(&output.out, output.force)?;
    input.read(filter.as_ref(), |entry| encoder.encode(entry, |_, record| sink.put(record)))?;
    let records = sink.finish()?;
    say(&format!(
        "{records} records, {} positions in {} ({}), {} positions left out",
        encoder.positions,
        output.out.display(),
        format.name(),
        encoder.dropped
    ));
    Ok(())
}
