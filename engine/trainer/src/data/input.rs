//! What the commands share on their command lines: files to read, and the file to write.

use super::error::DataError;
use super::format::Format;
use super::needs::Needs;
use super::read::{self, Passed, Source};
use super::record::Entry;
use super::write::Sink;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, Write as _};
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

impl Output {
    /// Starts the file, once it is certain that nobody reads it.
    ///
    /// # Errors
    /// The same file is read; as [`Sink::create`].
    pub fn create(&self, input: &Input) -> Result<Sink, DataError> {
        check_apart(&[&self.out], &input.files)?;
        Sink::create(&self.out, self.force)
    }
}

/// How much memory a command may use.
#[derive(Debug, Clone, Copy, Args)]
pub struct Memory {
    /// Memory for records, in MiB; what is beyond goes to temporary files beside the output, for `info` in TMPDIR
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    pub memory: u32,
}

impl Memory {
    /// In bytes.
    pub fn bytes(self) -> usize {
        (self.memory as usize) << 20
    }
}

/// Holds files to be written apart from each other and from those that are read.
///
/// # Errors
/// Two that are the same.
pub fn check_apart(written: &[&Path], read: &[PathBuf]) -> Result<(), DataError> {
    let clash = |path: &Path, clash| Err(DataError::Clash { path: path.to_owned(), clash });
    let read: Vec<PathBuf> = read.iter().map(|path| resolved(&read::file_of(path))).collect();
    let mut before: Vec<PathBuf> = Vec::new();
    for path in written {
        let place = resolved(path);
        if read.contains(&place) {
            return clash(path, "the same file is read");
        }
        if before.contains(&place) {
            return clash(path, "named twice to be written");
        }
        before.push(place);
    }
    Ok(())
}

/// A path without detours, for a file that is there or not.
fn resolved(path: &Path) -> PathBuf {
    let there = path.canonicalize();
    there
        .or_else(|_| Ok::<_, io::Error>(folder_of(path).canonicalize()?.join(path.file_name().unwrap_or_default())))
        .unwrap_or_else(|_| path.to_owned())
}

/// The folder that a file is in.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Games left out that are named one by one; after that only their number is told.
const MOST_NAMED: u64 = 10;

/// A line on stderr. Nobody may read it.
fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
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
    /// Reads every entry, with a progress bar; `each` may end it by an error. How many games were passed over.
    ///
    /// # Errors
    /// As `each`; a file that can't be read, is of no known format, does not say what is needed, or is damaged.
    pub fn read(&self, needs: Needs, mut each: impl FnMut(Entry) -> Result<(), DataError>) -> Result<u64, DataError> {
        self.read_sources(self.open(needs)?, |_, _, entry| each(entry))
    }

    /// The same without the games that cannot be played, up to so many: how many were passed over, and how many left out.
    /// The first few are named.
    ///
    /// # Errors
    /// As [`Input::read`]; more such games.
    pub fn read_playable(
        &self,
        needs: Needs,
        max_bad: u64,
        mut each: impl FnMut(Entry) -> Result<(), DataError>,
    ) -> Result<(u64, u64), DataError> {
        let mut bad = 0;
        let passed = self.read_each(self.open(needs)?, |path, _, entry| match entry {
            Ok(entry) => each(entry),
            Err(error) if error.is_of_one_game() && max_bad > 0 => {
                bad += 1;
                if bad > max_bad {
                    return Err(DataError::BadGames { path: path.to_owned(), games: bad, limit: max_bad });
                }
                if bad <= MOST_NAMED {
                    note(&format!("left out: {error}"));
                }
                Ok(())
            }
            Err(error) => Err(error),
        })?;
        Ok((passed, bad))
    }

    /// The same of files that are open already, which a pipe can be but once; `each` gets the file and its format, too.
    ///
    /// # Errors
    /// As `each`; a file that can't be read or is damaged.
    pub fn read_sources(
        &self,
        sources: Vec<Source>,
        mut each: impl FnMut(&Path, Format, Entry) -> Result<(), DataError>,
    ) -> Result<u64, DataError> {
        self.read_each(sources, |path, format, entry| each(path, format, entry?))
    }

    fn read_each(
        &self,
        sources: Vec<Source>,
        mut each: impl FnMut(&Path, Format, Result<Entry, DataError>) -> Result<(), DataError>,
    ) -> Result<u64, DataError> {
        let bar = bar(sources.iter().map(|source| source.length).sum());
        let passed = Passed::of(&sources);
        let mut before = 0;
        for (path, source) in self.files.iter().zip(sources) {
            for (number, entry) in (0_u64..).zip(source.entries) {
                each(path, source.format, entry)?;
                if number % TICK == 0 {
                    bar.set_position(before + source.read.load(Ordering::Relaxed));
                }
            }
            before += source.length;
        }
        bar.finish_and_clear();
        Ok(passed.games())
    }

    /// Opens every file, and holds their formats to what is needed.
    ///
    /// # Errors
    /// A file that can't be read, is of no known format, or does not say what is needed.
    pub fn open(&self, needs: Needs) -> Result<Vec<Source>, DataError> {
        let sources = self.files.iter().map(|path| read::open(path, self.from)).collect::<Result<Vec<_>, _>>()?;
        self.check(&sources, needs)?;
        Ok(sources)
    }

    /// Holds the formats of files that are open to what is needed.
    ///
    /// # Errors
    /// One that does not say it.
    pub fn check(&self, sources: &[Source], needs: Needs) -> Result<(), DataError> {
        self.files.iter().zip(sources).try_for_each(|(path, source)| needs.check(path, source.format))
    }

    /// For commands that read everything twice, which pipes and the like do not give.
    ///
    /// # Errors
    /// What is no regular file.
    pub fn check_lasting(&self) -> Result<(), DataError> {
        // What is not there is told when it is opened.
        let fleeting = |path: &&PathBuf| read::file_of(path).metadata().is_ok_and(|data| !data.is_file());
        match self.files.iter().find(fleeting) {
            Some(path) => Err(DataError::ReadTwice { path: path.clone() }),
            None => Ok(()),
        }
    }
}
