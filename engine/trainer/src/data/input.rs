//! Arguments that the data commands share: input files, the output file and the memory limit.

use super::error::DataError;
use super::format::Format;
use super::needs::Needs;
use super::read::{self, EntrySource, PassedGames};
use super::record::{Entry, Position};
use super::write::Sink;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Input files, read one after the other.
#[derive(Debug, Args)]
pub struct Input {
    /// Files to read, plain or packed by zstd; for a run of Quintain its folder
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Their format, if their names do not imply it
    #[arg(long, value_name = "FORMAT")]
    pub from: Option<Format>,
}

/// Output file.
#[derive(Debug, Args)]
pub struct Output {
    /// File to write; its name implies the format
    #[arg(long, short, value_name = "FILE")]
    pub out: PathBuf,
    /// Its format, if its name does not imply it
    #[arg(long, value_name = "FORMAT")]
    pub to: Option<Format>,
    /// Replace the file
    #[arg(long)]
    pub force: bool,
}

impl Output {
    /// Creates the output file after a check that it is not one of the input files.
    ///
    /// # Errors
    /// Fails if the output is also an input, and as [`Sink::create`] does.
    pub fn create(&self, input: &Input) -> Result<Sink, DataError> {
        check_apart(&[&self.out], &input.files)?;
        Sink::create(&self.out, self.force)
    }
}

/// Memory limit of a command.
#[derive(Debug, Clone, Copy, Args)]
pub struct Memory {
    /// Memory for sorting, in MiB; all records go to temporary files beside the output, for `info`
    /// in TMPDIR
    #[arg(long, default_value_t = 1024, value_name = "MIB", value_parser = clap::value_parser!(u32).range(1..))]
    pub memory: u32,
}

impl Memory {
    /// Returns the limit in bytes.
    pub fn bytes(self) -> usize {
        (self.memory as usize) << 20
    }
}

/// Checks that the output files differ from each other and from the input files.
///
/// # Errors
/// Fails if an output is named twice or is also an input.
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

/// Returns the canonical path of a file that may not exist yet.
fn resolved(path: &Path) -> PathBuf {
    let there = path.canonicalize();
    there
        .or_else(|_| Ok::<_, io::Error>(folder_of(path).canonicalize()?.join(path.file_name().unwrap_or_default())))
        .unwrap_or_else(|_| path.to_owned())
}

/// Returns the folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Limit of the left-out games that are named on stderr; later ones are only counted.
const MOST_NAMED: u64 = 10;

/// Prints a line on stderr and ignores failures.
fn note(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

/// Entries between two updates of the progress bar.
const TICK: u64 = 64;

/// Creates a progress bar over a number of bytes.
pub fn bar(bytes: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{wide_bar} {bytes}/{total_bytes}, {bytes_per_sec}, left {eta}");
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

impl Input {
    /// Reads every entry with a progress bar, until `each` fails. Returns the number of games
    /// passed over.
    ///
    /// # Errors
    /// Fails as `each` does, or if a file cannot be read, is damaged, has an unknown format or
    /// lacks needed information.
    pub fn read(&self, needs: Needs, mut each: impl FnMut(Entry) -> Result<(), DataError>) -> Result<u64, DataError> {
        self.read_sources(self.open(needs)?, |_, _, entry| each(entry))
    }

    /// Reads the positions of all entries in order, as long as `each` returns true. Entries after
    /// that are not read, so that their faults do not matter.
    ///
    /// # Errors
    /// Fails if a file cannot be read, is damaged or has an unknown format.
    pub fn read_positions_while(&self, mut each: impl FnMut(&Position) -> bool) -> Result<(), DataError> {
        self.read_each(self.open(Needs::default())?, |_, _, entry| {
            let is_wanted = entry?.positions().iter().all(&mut each);
            Ok(if is_wanted { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
        })?;
        Ok(())
    }

    /// Reads every entry like [`Input::read`], but leaves out up to `max_bad` games that cannot be
    /// played. Returns the numbers of games passed over and left out. The first few left-out games
    /// are named on stderr.
    ///
    /// # Errors
    /// Fails as [`Input::read`] does, or if more than `max_bad` games cannot be played.
    pub fn read_playable(
        &self,
        needs: Needs,
        max_bad: u64,
        mut each: impl FnMut(Entry) -> Result<(), DataError>,
    ) -> Result<(u64, u64), DataError> {
        let mut bad = 0;
        let passed = self.read_each(self.open(needs)?, |path, _, entry| {
            match entry {
                Ok(entry) => each(entry)?,
                Err(error) if error.is_of_one_game() && max_bad > 0 => {
                    bad += 1;
                    if bad > max_bad {
                        return Err(DataError::BadGames { path: path.to_owned(), games: bad, limit: max_bad });
                    }
                    if bad <= MOST_NAMED {
                        note(&format!("left out: {error}"));
                    }
                }
                Err(error) => return Err(error),
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok((passed, bad))
    }

    /// Reads every entry of open files, because a pipe can be opened only once. `each` also gets
    /// the file's path and format.
    ///
    /// # Errors
    /// Fails as `each` does, or if a file cannot be read or is damaged.
    pub fn read_sources(
        &self,
        sources: Vec<EntrySource>,
        mut each: impl FnMut(&Path, Format, Entry) -> Result<(), DataError>,
    ) -> Result<u64, DataError> {
        self.read_each(sources, |path, format, entry| each(path, format, entry?).map(ControlFlow::Continue))
    }

    fn read_each(
        &self,
        sources: Vec<EntrySource>,
        mut each: impl FnMut(&Path, Format, Result<Entry, DataError>) -> Result<ControlFlow<()>, DataError>,
    ) -> Result<u64, DataError> {
        let bar = bar(sources.iter().map(|source| source.length).sum());
        let passed = PassedGames::of(&sources);
        let mut before = 0;
        'files: for (path, source) in self.files.iter().zip(sources) {
            for (number, entry) in (0_u64..).zip(source.entries) {
                if each(path, source.format, entry)?.is_break() {
                    break 'files;
                }
                if number % TICK == 0 {
                    bar.set_position(before + source.read.load(Ordering::Relaxed));
                }
            }
            before += source.length;
        }
        bar.finish_and_clear();
        Ok(passed.games())
    }

    /// Opens every file and checks that its format meets the needs.
    ///
    /// # Errors
    /// Fails if a file cannot be read, has an unknown format or lacks needed information.
    pub fn open(&self, needs: Needs) -> Result<Vec<EntrySource>, DataError> {
        let sources = self.files.iter().map(|path| read::open(path, self.from)).collect::<Result<Vec<_>, _>>()?;
        self.check(&sources, needs)?;
        Ok(sources)
    }

    /// Checks that the formats of open files meet the needs.
    ///
    /// # Errors
    /// Fails if a format lacks needed information.
    pub fn check(&self, sources: &[EntrySource], needs: Needs) -> Result<(), DataError> {
        self.files.iter().zip(sources).try_for_each(|(path, source)| needs.check(path, source.format))
    }

    /// Checks that every input is a regular file, because pipes cannot be read twice.
    ///
    /// # Errors
    /// Fails if an input exists and is not a regular file.
    pub fn check_lasting(&self) -> Result<(), DataError> {
        // Missing files are reported when they are opened.
        let fleeting = |path: &&PathBuf| read::file_of(path).metadata().is_ok_and(|data| !data.is_file());
        match self.files.iter().find(fleeting) {
            Some(path) => Err(DataError::ReadTwice { path: path.clone() }),
            None => Ok(()),
        }
    }
}
