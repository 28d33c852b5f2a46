//! What the commands share on their command lines: files to read, and the file to write.

use super::error::DataError;
use super::filter::Filter;
use super::format::Format;
use super::read::{self, Source};
use super::record::Entry;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Files to read one after the other.
#[derive(Debug, Args)]
pub struct Input {
    /// Files to read, packed by zstd or not; for a run of Quintain its folder
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Their format, where their names do not tell
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<Format>,
}

/// A file to write.
#[derive(Debug, Args)]
pub struct Output {
    /// File to write; its name tells the format
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Its format, where its name does not tell
    #[arg(long, value_name = "FORMAT")]
    pub to: Option<Format>,
    /// Replace the file
    #[arg(long)]
    pub force: bool,
}

/// How much memory a command may use.
#[derive(Debug, Clone, Copy, Args)]
pub struct Memory {
    /// Memory for records, in MiB; what is beyond goes to temporary files beside the output
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    pub memory: u32,
}

impl Memory {
    /// In bytes.
    pub fn bytes(self) -> usize {
        (self.memory as usize) << 20
    }
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Entries between two looks at the progress bar.
const TICK: u64 = 64;

/// A bar of so many bytes.
pub fn bar(bytes: u64) -> ProgressBar {
    let style = "{wide_bar} {bytes}/{total_bytes}, {per_sec} left {eta} {msg}";
    let style = ProgressStyle::with_template(&style.replace("{per_sec}", "{bytes_per_sec},"));
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Input {
    /// Reads every entry, with a progress bar and the format of its file; `each` may end it by an error.
    ///
    /// # Errors
    /// As `each`; a file that can't be read, is of no known format, or is damaged.
    pub fn read(
        &self,
        filter: Option<&Filter>,
        mut each: impl FnMut(Entry) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let sources = self.open(filter)?;
        let bar = bar(sources.iter().map(|source| source.length).sum());
        let mut before = 0;
        for source in sources {
            for (number, entry) in (0_u64..).zip(source.entries) {
                each(entry?)?;
                if number % TICK == 0 {
                    bar.set_position(before + source.read.load(Ordering::Relaxed));
                }
            }
            before += source.length;
        }
        bar.finish_and_clear();
        Ok(())
    }

    /// Opens every file, and holds their formats to what a filter asks.
    ///
    /// # Errors
    /// A file that can't be read, is of no known format, or does not say what the filter asks.
    pub fn open(&self, filter: Option<&Filter>) -> Result<Vec<Source>, DataError> {
        self.files
            .iter()
            .map(|path| {
                let source = read::open(path, self.from)?;
                filter.map_or(Ok(()), |filter| filter.check(path, source.format))?;
                Ok(source)
            })
            .collect()
    }
}
