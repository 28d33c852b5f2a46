//! Journal of a run, its only source of truth.
//!
//! It has one line per finished game, appended before the game counts. `games.jsonl` is JSON lines.
//! Each line ends with a `crc` key, the CRC-32 of the bytes before it, so a torn or damaged line is
//! recognised. The first line is the header. A torn last line, and NULs that a power cut may leave
//! after it, are dropped when the file is opened again. Damage anywhere else means lost games, so
//! it is an error that names the line. [`mend`] drops such lines if the user asks for it, and their
//! games are played again.
//!
//! A line goes to the kernel in one write, so a killed process loses nothing that was counted.
//! [`Journal::sync`] makes it safe against a power cut too. The dispatcher calls it about once a
//! second.
//!
//! A game that the plan cannot have is damage too, whatever its checksum (`expected`). Of two
//! records of a game the first counts (`twice`).
//!
//! The file is locked while a process appends to it. Queries take no lock. They read up to the
//! length that the file had when they opened it, one game at a time. They hold back the games of an
//! incomplete pair and of all pairs after it.
//!
//! `quintain resume` replays the journal, plays the missing legs and repairs `games.pgn`, further
//! PGN and EPD files and `report.html`: all of them are folds over the same pass. At fixed nodes
//! the result is, game for game, that of an unbroken run (`tests/it/resume.rs`). A run that
//! failures or time losses stopped continues only under a higher `--max-failures` or
//! `--max-time-losses`.
//!
//! A write that fails midway, as on a full disk, cuts the torn line off, drops the game and stops
//! the run: one line of error, exit code 4, resumable. SIGXFSZ is caught, so a limit on the size of
//! files is such an error too. For a summary or PGN a full disk is only a warning.
//! A journal that is removed while it is written stops the run as well, because no later game would
//! be kept. On Windows that is not noticed.
//! An [`archive`] holds the same games in a tenth of the bytes, for reading alone.
//! `tests/it/fixtures/v1` holds a run of journal format 1, which each later version must read.

pub mod archive;
mod expected;
mod format;
mod lines;
mod mend;
mod packed;
mod twice;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufRead, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::open_regular_with;
use crate::os;
use crate::record::{GameRecord, RecordedOutput};
use crate::text::shell_path;
use lines::JournalLines;
use twice::Novelty;

pub use expected::PlanFacts;
pub(crate) use lines::LONGEST as LONGEST_LINE;
pub use mend::{RepairReport, mend};
pub use packed::{game_of, pack, pack_moves, unpack, unpack_moves};
pub(crate) use twice::GameChecksums;

/// True if a reader of the journal takes the line of a game. Only the text of engines makes one too
/// long.
#[cfg(feature = "cluster")]
pub(crate) fn is_readable(game: &GameRecord) -> bool {
    let mut line = Vec::new();
    format::write_game(game, &mut line);
    line.len() <= LONGEST_LINE
}

/// The game without what its engines said.
pub(crate) fn without_text(mut game: GameRecord) -> GameRecord {
    game.moves.iter_mut().for_each(|played| played.said = RecordedOutput::default());
    game
}

/// Name of the journal in a run directory.
pub const FILE_NAME: &str = "games.jsonl";

/// Version of the format that this program writes. It reads older ones too.
pub const VERSION: u32 = format::VERSION;

/// Contents of the header line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// SHA-256 of the run's `plan.toml` in hex, so that games of two plans are never mixed.
    pub plan_sha256: String,
    /// Version of the program that began the run.
    pub program: String,
}

/// Reason for which a journal could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The operating system returned an error.
    #[error("{path}: cannot {act}: {source}", path = path.display())]
    Io {
        /// Path of the journal.
        path: PathBuf,
        /// Operation that failed.
        act: &'static str,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A line that is not the last is damaged.
    #[error("{path}:{line}: damaged record ({why}); restore the file from a copy, or {what} with `quintain resume {run} --drop-damaged`", path = path.display(), what = if *line == 1 { "have a new header written" } else { "have that game played again" }, run = shell_path(run_of(path)))]
    Damaged {
        /// Path of the journal.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// Reason in words.
        why: String,
    },
    /// The first line is not a header.
    #[error("{path}: no journal header; is this a run directory?", path = path.display())]
    NoHeader {
        /// Path of the journal.
        path: PathBuf,
    },
    /// The journal was written by a newer program.
    #[error("{path}: journal format {found} is newer than this program reads ({VERSION}); update quintain", path = path.display())]
    Newer {
        /// Path of the journal.
        path: PathBuf,
        /// Version of the line.
        found: u32,
    },
    /// Attempt to continue a run directory that has an archive and no journal.
    #[error("{path}: an archive cannot be continued; `quintain archive {run} --unpack --out DIR` restores the run, and `quintain resume DIR` continues it", path = path.display(), run = shell_path(run_of(path)))]
    Archived {
        /// Path of the archive.
        path: PathBuf,
    },
    /// The journal was removed while it was written, alone or with its folder.
    #[error("{path}: removed while the run played, so its games are lost; start the run again, and keep its folder until it ends", path = path.display())]
    Removed {
        /// Path that the journal had.
        path: PathBuf,
    },
    /// Another process has the journal open for writing.
    #[error("{path}: another process is running this test; stop it first, or let it finish", path = path.display())]
    Locked {
        /// Path of the journal.
        path: PathBuf,
    },
}

/// Run directory of a journal.
fn run_of(journal: &Path) -> &Path {
    journal.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Locks a file for this process, with up to 200 ms of retries.
///
/// A child that the last owner was starting shares the owner's lock until it runs its own program.
///
/// # Errors
/// As [`File::try_lock`].
pub fn lock(file: &File) -> Result<(), TryLockError> {
    for _ in 0..LOCK_TRIES {
        match os::try_lock(file) {
            Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_PAUSE),
            other => return other,
        }
    }
    os::try_lock(file)
}

/// Number of retries for a taken lock, and the pause between two of them.
const LOCK_TRIES: u32 = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Header and statistics of a journal that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalReading {
    /// Header line.
    pub header: Header,
    /// Number of games handed out.
    pub games: u64,
    /// Bytes of a torn last line and of NULs after it; 0 if the file is whole.
    pub torn_bytes: u64,
    /// Bytes of the whole lines.
    whole_bytes: u64,
}

/// A journal open for appending, locked against other processes until dropped.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Length of the whole lines, to which the file is cut after a failed write.
    length: u64,
    dirty: bool,
    line: Vec<u8>,
}

impl Journal {
    /// Creates a journal at `path`, which must not exist.
    ///
    /// # Errors
    /// [`JournalError::Io`] if the file exists or cannot be written.
    pub fn create(path: &Path, header: &Header) -> Result<Self, JournalError> {
        let file = writable().create_new(true).open(path).map_err(|source| JournalError::Io {
            path: path.to_owned(),
            act: "create it",
            source,
        })?;
        let mut journal = Self::new(locked(file, path)?, path);
        format::write_header(header, &mut journal.line);
        journal.write_line()?;
        journal.sync()?;
        Ok(journal)
    }

    /// Moves the journal's folder by `rename`, which returns the folder's new path. Windows renames
    /// no folder with an open file, so the journal is closed meanwhile there.
    ///
    /// # Errors
    /// The errors of `rename`, and those of [`Self::resume`].
    pub fn moved<E: From<JournalError>>(
        self,
        rename: impl FnOnce() -> Result<PathBuf, E>,
    ) -> Result<(PathBuf, Self), E> {
        let name = self.path.file_name().map(PathBuf::from).unwrap_or_default();
        if os::REPLACES_OPEN_FILES {
            let folder = rename()?;
            let path = folder.join(name);
            return Ok((folder, Self { path, ..self }));
        }
        drop(self);
        let folder = rename()?;
        let (journal, _) = Self::resume(&folder.join(name), None, |_| {})?;
        Ok((folder, journal))
    }

    /// Opens the journal of a stopped run, passes its games to `each`, and continues after its last
    /// whole line. A torn last line is dropped, and games are checked against `expected`.
    ///
    /// # Errors
    /// As [`PlanFacts::read`], and [`JournalError::Locked`] if another process has the journal
    /// open.
    pub fn resume(
        path: &Path,
        expected: Option<&PlanFacts>,
        each: impl FnMut(GameRecord),
    ) -> Result<(Self, JournalReading), JournalError> {
        let io = |act| move |source| JournalError::Io { path: path.to_owned(), act, source };
        let mut journal = Self::new(open_locked(path)?, path);
        let replayed = read_file(path, expected, each)?;
        if replayed.torn_bytes > 0 {
            journal.file.set_len(replayed.whole_bytes).map_err(io("drop its torn last line"))?;
        }
        journal.length = replayed.whole_bytes;
        journal.file.seek(SeekFrom::End(0)).map_err(io("seek in it"))?;
        Ok((journal, replayed))
    }

    fn new(file: File, path: &Path) -> Self {
        Self { file, path: path.to_owned(), length: 0, dirty: false, line: Vec::new() }
    }

    /// Appends a finished game and hands it to the kernel. The game may count once this returns.
    ///
    /// # Errors
    /// [`JournalError::Io`], for example on a full disk. A partly written line is cut off again if
    /// possible. [`JournalError::Removed`] if the game went into a file that nobody can open.
    pub fn append(&mut self, game: &GameRecord) -> Result<(), JournalError> {
        format::write_game(game, &mut self.line);
        if self.line.len() > LONGEST_LINE {
            // Only the text of engines makes a line too long to be read again.
            format::write_game(&without_text(game.clone()), &mut self.line);
        }
        self.write_line()
    }

    fn write_line(&mut self) -> Result<(), JournalError> {
        if let Err(source) = self.file.write_all(&self.line) {
            // Cuts the torn line off. At the end of the file it would only be dropped, but with
            // lines after it, it would stop a later resume.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::Start(self.length));
            return Err(JournalError::Io { path: self.path.clone(), act: "append to it", source });
        }
        self.length += self.line.len() as u64;
        self.dirty = true;
        self.check_name()
    }

    /// Checks that the file has not been removed.
    fn check_name(&self) -> Result<(), JournalError> {
        let io = |source| JournalError::Io { path: self.path.clone(), act: "look at it", source };
        let about = self.file.metadata().map_err(io)?;
        // Some file systems count no names.
        if os::has_name(&about) || os::is_at(&self.file, &self.path).unwrap_or(false) {
            return Ok(());
        }
        Err(JournalError::Removed { path: self.path.clone() })
    }

    /// Checks that the journal has not been removed, and asks the system to write the lines that
    /// were appended since the last call to the disk.
    ///
    /// # Errors
    /// [`JournalError::Io`], [`JournalError::Removed`].
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.check_name()?;
        if self.dirty {
            self.file.sync_data().map_err(|source| JournalError::Io {
                path: self.path.clone(),
                act: "write it to disk",
                source,
            })?;
            self.dirty = false;
        }
        Ok(())
    }
}

/// Opens the journal at `path` for appending, locked against other processes.
fn open_locked(path: &Path) -> Result<File, JournalError> {
    let io = |act| move |source| JournalError::Io { path: path.to_owned(), act, source };
    if archive::is_archived(run_of(path)) {
        return Err(JournalError::Archived { path: path.with_file_name(archive::ARCHIVE_NAME) });
    }
    let file = open_regular_with(&mut writable(), path).map_err(io("open it"))?;
    let file = locked(file, path)?;
    // Detects a repair in the meantime, which puts another file in its place.
    if os::is_at(&file, path).map_err(io("open it"))? {
        Ok(file)
    } else {
        Err(JournalError::Locked { path: path.to_owned() })
    }
}

/// Options of a journal that is written. Not for appending alone, because Windows neither locks nor
/// cuts such a file.
fn writable() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options
}

fn locked(file: File, path: &Path) -> Result<File, JournalError> {
    match lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(JournalError::Locked { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(JournalError::Io { path: path.to_owned(), act: "lock it", source }),
    }
}

/// Reads a journal, also a live one, and passes its games to `each`, one at a time.
///
/// Memory grows by a few bytes per game.
///
/// If a game has several records, the first is passed, and a warning names those that differ from
/// it. A game may be recorded again after a void one of its pair.
///
/// # Errors
/// [`JournalError::Damaged`] for a bad line with others after it, [`JournalError::NoHeader`],
/// [`JournalError::Newer`], [`JournalError::Io`].
pub fn read(path: &Path, each: impl FnMut(GameRecord)) -> Result<JournalReading, JournalError> {
    read_file(path, None, each)
}

/// Reads a journal as [`read`] does, and checks its games against a plan if one is given.
fn read_file(
    path: &Path,
    expected: Option<&PlanFacts>,
    mut each: impl FnMut(GameRecord),
) -> Result<JournalReading, JournalError> {
    let journal =
        archive::open(path).map_err(|source| JournalError::Io { path: path.to_owned(), act: "read it", source })?;
    read_lines(journal, path, expected, &mut GameChecksums::default(), |game, _| each(game))
}

/// Reads a journal as [`read`] does, but from any reader. `path` is for messages.
///
/// # Errors
/// As [`read`].
pub fn read_from(
    reader: impl BufRead,
    path: &Path,
    mut each: impl FnMut(GameRecord),
) -> Result<JournalReading, JournalError> {
    read_lines(reader, path, None, &mut GameChecksums::default(), |game, _| each(game))
}

/// Reads lines, and passes each game with the number of bytes before its line. `twice` has the
/// games of earlier lines.
fn read_lines(
    reader: impl BufRead,
    path: &Path,
    expected: Option<&PlanFacts>,
    twice: &mut GameChecksums,
    mut each: impl FnMut(GameRecord, u64),
) -> Result<JournalReading, JournalError> {
    let io = |source| JournalError::Io { path: path.to_owned(), act: "read it", source };
    let damaged = |line, why| JournalError::Damaged { path: path.to_owned(), line, why };
    let mut lines = JournalLines::new(reader);
    let mut header: Option<Header> = None;
    let mut differing = Vec::new();
    let (mut games, mut whole_bytes, mut torn_bytes) = (0, 0, 0);
    // Number and fault of a bad line, kept until it is known if anything follows.
    let mut bad: Option<(u64, String)> = None;
    loop {
        let length = lines.advance().map_err(io)?;
        if length == 0 {
            break;
        }
        if let Some((line, why)) = &bad {
            if !lines.is_void() {
                return Err(damaged(*line, why.clone()));
            }
            torn_bytes += length;
            continue;
        }
        match format::parse_line(&lines.line) {
            Ok(format::JournalLine::Header(found)) if header.is_none() => header = Some(found),
            Ok(format::JournalLine::Header(_)) => return Err(damaged(lines.number, "a second header".to_owned())),
            Ok(_) if header.is_none() => return Err(JournalError::NoHeader { path: path.to_owned() }),
            Ok(format::JournalLine::Game(game)) => {
                let expected =
                    expected.filter(|expected| header.as_ref().is_some_and(|it| expected.is_of(&it.plan_sha256)));
                if let Some(why) = expected.and_then(|expected| expected.fault(&game)) {
                    return Err(damaged(lines.number, why));
                }
                match twice.record(&game, format::stated_crc(&lines.line)) {
                    Novelty::First => {
                        games += 1;
                        each(*game, whole_bytes);
                    }
                    Novelty::Again => {}
                    Novelty::Differs => differing.push((game.id.number(), lines.number)),
                }
            }
            Ok(format::JournalLine::Other) => {}
            Err(format::LineError::Newer(found)) => return Err(JournalError::Newer { path: path.to_owned(), found }),
            Err(format::LineError::Bad(why)) => {
                bad = Some((lines.number, why));
                torn_bytes = length;
                continue;
            }
        }
        whole_bytes += length;
    }
    let Some(header) = header else { return Err(JournalError::NoHeader { path: path.to_owned() }) };
    warn_of(&differing, path);
    Ok(JournalReading { header, games, torn_bytes, whole_bytes })
}

/// Warns of games with a later record that differs from their first.
fn warn_of(differing: &[(u64, u64)], path: &Path) {
    let Some((game, line)) = differing.first() else { return };
    let others = match differing.len() - 1 {
        0 => String::new(),
        count => format!(", and {count} more such lines"),
    };
    tracing::warn!(
        "{}: game {game} is there twice, and line {line} differs from its first record{others}; the first counts",
        path.display()
    );
}

#[cfg(test)]
pub(crate) mod tests;
