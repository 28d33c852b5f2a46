//! File formats and their file name extensions.

use super::error::DataError;
use clap::ValueEnum;
use std::path::Path;

/// File format of games or positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Games in 4 bytes a ply (`.vf`, `.viri`, `.viriformat`).
    Viriformat,
    /// Positions in 32 bytes from the side to move's view (`.bf`, `.bullet`, `.bin`, `.data`).
    Bulletformat,
    /// A position a line: `FEN | centipawns of White | result of White` (`.txt`, `.text`).
    Text,
    /// Six lines a position: fen, move, score, ply, result, e (`.plain`).
    Plain,
    /// A game a line: `FEN;move:score ...;result` (`.txt`, `.selfplay`).
    SelfPlay,
    /// Stockfish's compressed games (`.binpack`).
    Binpack,
    /// Games with evaluations in their comments (`.pgn`).
    Pgn,
    /// The games of a run of Quintain (its folder, or `.jsonl`).
    Journal,
}

impl Format {
    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Viriformat => "viriformat",
            Format::Bulletformat => "bulletformat",
            Format::Text => "text",
            Format::Plain => "plain",
            Format::SelfPlay => "self-play",
            Format::Binpack => "binpack",
            Format::Pgn => "pgn",
            Format::Journal => "journal",
        }
    }

    /// Returns the names of the formats of this build, separated by commas.
    pub fn names() -> String {
        let known =
            Format::value_variants().iter().filter(|&&format| cfg!(feature = "binpack") || format != Format::Binpack);
        known.map(|format| format.name()).collect::<Vec<_>>().join(", ")
    }

    /// Creates the error for a file with an unknown extension; `flag` is the option that names the
    /// format.
    pub(super) fn unknown(path: &Path, flag: &'static str) -> DataError {
        DataError::NoFormat { path: path.to_owned(), flag, known: Format::names() }
    }

    /// Creates the error for information that the format lacks, with a remedy.
    pub(crate) fn lacks(self, path: &Path, what: &'static str, remedy: &'static str) -> DataError {
        DataError::Lacks { path: path.to_owned(), format: self.name(), what, remedy }
    }

    /// Returns the format of an output file: the given one, or that of its extension.
    ///
    /// # Errors
    /// Fails if the extension is unknown or the format is read-only.
    pub fn to_write(path: &Path, given: Option<Format>) -> Result<Format, DataError> {
        let format = match given {
            Some(format) => format,
            None => Format::of_name(path).ok_or_else(|| Format::unknown(path, "--to"))?,
        };
        match format {
            Format::Pgn | Format::Journal => Err(DataError::ReadOnly { path: path.to_owned(), format: format.name() }),
            Format::Binpack if !cfg!(feature = "binpack") => Err(DataError::NoBinpack { path: path.to_owned() }),
            format => Ok(format),
        }
    }

    /// Returns the format of an output that is written record by record, which excludes binpack.
    ///
    /// # Errors
    /// Fails as [`Format::to_write`] does, or with [`DataError::Whole`].
    pub fn to_write_by_records(path: &Path, given: Option<Format>) -> Result<Format, DataError> {
        match Format::to_write(path, given)? {
            Format::Binpack => Err(DataError::Whole { path: path.to_owned() }),
            format => Ok(format),
        }
    }

    /// Returns the format of a file name's extension, after a final `.zst` is removed.
    pub fn of_name(path: &Path) -> Option<Format> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".zst").unwrap_or(name);
        match name.rsplit_once('.')?.1 {
            "vf" | "viri" | "viriformat" => Some(Format::Viriformat),
            "bf" | "bullet" | "bulletformat" | "bin" | "data" => Some(Format::Bulletformat),
            "txt" | "text" => Some(Format::Text),
            "plain" => Some(Format::Plain),
            "selfplay" => Some(Format::SelfPlay),
            "binpack" => Some(Format::Binpack),
            "pgn" => Some(Format::Pgn),
            "jsonl" => Some(Format::Journal),
            _ => None,
        }
    }

    /// Returns true if the format can hold games with their moves.
    pub const fn holds_games(self) -> bool {
        !matches!(self, Format::Bulletformat | Format::Text)
    }

    /// Returns true if the format stores the ply of a position.
    pub const fn holds_ply(self) -> bool {
        !matches!(self, Format::Bulletformat)
    }
}
