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
    /// I/O error of a file.
    #[error("{}: cannot {act}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The failed act, as in "read it".
        act: &'static str,
        /// The cause.
        error: io::Error,
    },
    /// Search thread that ended too early.
    #[error("a search failed, which is a fault of destrier-trainer; the lines above say where")]
    Searches,
    /// Failed write to stdout.
    #[error("cannot write to stdout: {0}")]
    Stdout(io::Error),
    /// Fault at a place of a file.
    #[error("{}: {place}: {why}", path.display())]
    Bad {
        /// The file.
        path: PathBuf,
        /// The place in the file.
        place: Place,
        /// The fault, and the remedy if there is one.
        why: String,
    },
    /// Game with an illegal start or move; the games after it can be read.
    #[error("{}: {place}: {why}", path.display())]
    BadGame {
        /// The file.
        path: PathBuf,
        /// The place in the file.
        place: Place,
        /// The fault, and the remedy if there is one.
        why: String,
    },
    /// More illegal games than allowed.
    #[error("{}: {games} games that cannot be played, {limit} may be; mend the file, or give more with `--max-bad`", path.display())]
    BadGames {
        /// The file.
        path: PathBuf,
        /// Illegal games found.
        games: u64,
        /// Illegal games allowed.
        limit: u64,
    },
    /// Input without a game to import.
    #[error("{}: no game with an evaluation in it{passed}; nothing was written", path.display())]
    NoGames {
        /// The file.
        path: PathBuf,
        /// End of the message about games passed over; may be empty.
        passed: String,
    },
    /// Damaged viriformat file.
    #[error("{}: {error}", path.display())]
    Viriformat {
        /// The file.
        path: PathBuf,
        /// The cause.
        error: viriformat::ReadError,
    },
    /// Unreadable journal of a run.
    #[error("{error}")]
    Journal {
        /// The cause.
        error: quintain::journal::JournalError,
    },
    /// Run that was archived without its scores.
    #[error("{}: no scores, because the run was archived with `--moves-only`; give the run itself", path.display())]
    MovesOnly {
        /// The archive or journal.
        path: PathBuf,
    },
    /// File of unknown format.
    #[error("{}: no format goes by this name; give `{flag}` one of {known}", path.display())]
    NoFormat {
        /// The file.
        path: PathBuf,
        /// Flag that names the format.
        flag: &'static str,
        /// Known formats.
        known: String,
    },
    /// Output format that cannot be written.
    #[error("{}: {format} can be read, not written; write viriformat", path.display())]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// The format's name.
        format: &'static str,
    },
    /// Output in a format that only a conversion writes.
    #[error("{}: binpack is written by `convert` and `import` alone; write .plain or .vf here, and convert that", path.display())]
    Whole {
        /// The file.
        path: PathBuf,
    },
    /// Output file that exists already.
    #[error("{}: already exists; give `--force` to replace it", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// Output that is not a regular file.
    #[error("{}: not a regular file, so it is not replaced; give another name", path.display())]
    NoFile {
        /// The file.
        path: PathBuf,
    },
    /// Input that cannot be read twice, such as a pipe.
    #[error("{}: not a regular file, but it must be read twice; write its contents to a file, and give that one", path.display())]
    ReadTwice {
        /// The file.
        path: PathBuf,
    },
    /// Output file that another process writes.
    #[error("{}: another run writes it; wait for it, or give another name", path.display())]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Output file that is named twice or is also an input.
    #[error("{}: {clash}; give another name for what is written", path.display())]
    Clash {
        /// The file.
        path: PathBuf,
        /// The clash.
        clash: &'static str,
    },
    /// Folder without a journal.
    #[error("{}: a folder without `{}`; give the folder of a run of Quintain, or a file", path.display(), quintain::journal::FILE_NAME)]
    NoRun {
        /// The folder.
        path: PathBuf,
    },
    /// Input format without information that the command needs.
    #[error("{}: {format} does not say {what}; {remedy}", path.display())]
    Lacks {
        /// The file.
        path: PathBuf,
        /// The format's name.
        format: &'static str,
        /// The missing information.
        what: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// Output format that `filter` cannot write.
    #[error("{}: a filter does not write {format}; {remedy}", path.display())]
    Unfiltered {
        /// The file.
        path: PathBuf,
        /// The format's name.
        format: &'static str,
        /// The remedy.
        remedy: &'static str,
    },
    /// Binpack file in a build without the feature `binpack`.
    #[error("{}: this build cannot read or write binpack; build with `--features binpack`", path.display())]
    NoBinpack {
        /// The file.
        path: PathBuf,
    },
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
