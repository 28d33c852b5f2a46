//! Errors in training data.

use destrier::datagen::viriformat;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Description of a fault in one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordFault(pub String);

/// Position in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Line number, from 1.
    Line(u64),
    /// Bytes from the start of the file.
    Offset(u64),
    /// Index of the game, from 0; shown from 1.
    Game(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Offset(offset) => write!(f, "offset {offset}"),
            Place::Game(game) => write!(f, "game {}", game + 1),
        }
    }
}

/// Failure to read or write training data.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    // Causes are part of the messages; as error sources they would be printed twice.
    #[error("{}: cannot {act}: {error}", path.display())]
    Io { path: PathBuf, act: &'static str, error: io::Error },
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
    #[error("{}: {place}: {why}", path.display())]
    Bad { path: PathBuf, place: Place, why: String },
    /// Game with an illegal start or move; the games after it can be read.
    #[error("{}: {place}: {why}", path.display())]
    BadGame { path: PathBuf, place: Place, why: String },
    #[error("{}: {games} games that cannot be played, {limit} may be; mend the file, or give more with `--max-bad`", path.display())]
    BadGames { path: PathBuf, games: u64, limit: u64 },
    #[error("{}: no game with an evaluation in it{passed}; nothing was written", path.display())]
    NoGames { path: PathBuf, passed: String },
    #[error("{}: {error}", path.display())]
    Viriformat { path: PathBuf, error: viriformat::ReadError },
    #[error("{error}")]
    Journal { error: quintain::journal::JournalError },
    #[error("{}: no format goes by this name; give `{flag}` one of {known}", path.display())]
    NoFormat { path: PathBuf, flag: &'static str, known: String },
    #[error("{}: {format} can be read, not written; write viriformat", path.display())]
    ReadOnly { path: PathBuf, format: &'static str },
    #[error("{}: there already; give `--force` to replace it", path.display())]
    Exists { path: PathBuf },
    #[error("{}: no regular file, and not to be replaced by one; give another name", path.display())]
    NoFile { path: PathBuf },
    #[error("{}: no regular file, and it would be read twice; write it to a file first, and give that one", path.display())]
    ReadTwice { path: PathBuf },
    #[error("{}: another run writes it; wait for it, or give another name", path.display())]
    Busy { path: PathBuf },
    #[error("{}: {clash}; give another name for what is written", path.display())]
    Clash { path: PathBuf, clash: &'static str },
    #[error("{}: a folder without `{}`; give the folder of a run of Quintain, or a file", path.display(), quintain::journal::FILE_NAME)]
    NoRun { path: PathBuf },
    #[error("{}: {format} does not say {what}; {remedy}", path.display())]
    Lacks { path: PathBuf, format: &'static str, what: &'static str, remedy: &'static str },
    #[error("{}: a filter does not write {format}; {remedy}", path.display())]
    Unfiltered { path: PathBuf, format: &'static str, remedy: &'static str },
    #[error("{}: this build cannot read or write binpack; build with `--features binpack`", path.display())]
    NoBinpack { path: PathBuf },
}

/// Information that single positions lack: the game.
pub const WHICH_GAME: &str = "which game a position is of";
/// Information that single positions lack: the move.
pub const WHICH_MOVE: &str = "which move was played";

impl DataError {
    /// Wraps an I/O error of a file.
    pub fn io(path: &Path, act: &'static str) -> impl FnOnce(io::Error) -> DataError {
        move |error| DataError::Io { path: path.to_owned(), act, error }
    }

    /// Returns true if the fault is limited to one game, so that the rest of the file can be read.
    pub const fn is_of_one_game(&self) -> bool {
        matches!(self, DataError::BadGame { .. })
    }

    /// Creates the error for a game with an illegal start or move.
    pub fn bad_game(path: &Path, game: u64, why: impl Into<String>) -> DataError {
        DataError::BadGame { path: path.to_owned(), place: Place::Game(game), why: why.into() }
    }

    /// Creates the error for a fault at a place of a file.
    pub fn bad(path: &Path, place: Place, why: impl Into<String>) -> DataError {
        DataError::Bad { path: path.to_owned(), place, why: why.into() }
    }
}
