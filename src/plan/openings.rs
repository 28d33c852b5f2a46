//! Where games start: opening books and the order in which they are played.
//!
//! A [`Book`] is read and checked as a whole before a run, so that a broken line is found in the first second and not in
//! the third hour. In memory it stays what it was on disk, one block of bytes, with four bytes an opening beside it.
//!
//! Formats
//! - EPD and FEN lists, told apart line by line: four fields and opcodes, of which `hmvc` and `fmvn` are honoured, or six fields. Blank
//!   lines and lines that begin with `#` are skipped; CR LF and a byte order mark do no harm.
//! - PGN: see [`pgn`].
//! - Polyglot: see [`polyglot`].
//!
//! Each of them may be packed by gzip or zstd: see [`packing`]. A book's SHA-256 is that of the file as it lies on disk.

pub mod order;
pub mod packing;
pub mod pgn;
pub mod polyglot;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest as _, Sha256};
use thiserror::Error;

pub use self::packing::Packing;
use self::packing::Refusal;
use crate::chess::{Position, START_FEN, Variant};
use crate::record::{Opening, Termination};

/// What a book's bytes mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A position a line, EPD or FEN.
    Epd,
    /// Games.
    Pgn,
    /// Polyglot's `.bin`: moves by position.
    Polyglot,
}

impl Format {
    /// `EPD`, `PGN` or `Polyglot`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Epd => "EPD",
            Self::Pgn => "PGN",
            Self::Polyglot => "Polyglot",
        }
    }
}

/// How to read a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BookOptions {
    /// The rules of castling in it.
    pub variant: Variant,
    /// Play at most so many plies of each game of a PGN book; `None`: all. Plies of the lines of a Polyglot book; `None`: 8.
    pub plies: Option<u32>,
    /// `None`: `.pgn` is PGN, `.epd` and `.fen` are EPD, `.bin` is Polyglot (`.gz` and `.zst` behind them set aside), and anything
    /// else is what it looks like.
    pub format: Option<Format>,
}

/// Why a book can't be used.
#[derive(Debug, Error)]
pub enum BookError {
    /// The file can't be read.
    #[error("cannot read the book {name}: {source}")]
    Read {
        /// The path as given.
        name: String,
        /// Why.
        source: std::io::Error,
    },
    /// The file is packed, twice or in a way that is not read.
    #[error("the book {name} is a {kind} archive; unpack it first")]
    Packed {
        /// The path as given.
        name: String,
        /// What kind.
        kind: &'static str,
    },
    /// The archive is cut off or damaged.
    #[error("the book {name} is a broken {kind} archive: {fault}; fetch or pack it again")]
    Archive {
        /// The path as given.
        name: String,
        /// What kind.
        kind: &'static str,
        /// What is wrong.
        fault: String,
    },
    /// The archive would fill the memory.
    #[error("the book {name} is a {kind} archive of more than 2 GiB; split it")]
    Bomb {
        /// The path as given.
        name: String,
        /// What kind.
        kind: &'static str,
    },
    /// The Polyglot book is broken, or leads nowhere.
    #[error("the book {name}: {fault}")]
    Polyglot {
        /// The path as given.
        name: String,
        /// What is wrong, with the number of the entry, from 1, where it is one.
        fault: String,
    },
    /// The file is beyond the 32-bit offsets.
    #[error("the book {name} is larger than 4 GiB; split it")]
    TooLarge {
        /// The path as given.
        name: String,
    },
    /// There is nothing in it.
    #[error("the book {name} holds no opening")]
    Empty {
        /// The path as given.
        name: String,
    },
    /// One opening is broken.
    #[error("{name}:{line}: {fault}; correct or delete it")]
    Opening {
        /// The path as given.
        name: String,
        /// Line in the file, from 1.
        line: u32,
        /// What is wrong.
        fault: String,
    },
}

/// Something wrong in one line or game; the book's name is added on the way up.
#[derive(Debug)]
pub(crate) struct Fault {
    line: u32,
    what: String,
}

/// A book's file as read: unpacked, not yet checked.
#[derive(Clone, Debug)]
pub struct BookFile {
    name: String,
    sha256: String,
    packing: Option<Packing>,
    bytes: Cow<'static, [u8]>,
}

impl BookFile {
    /// Reads and unpacks a file.
    ///
    /// # Errors
    /// [`BookError`] where it can't be read or unpacked.
    pub fn load(path: &Path) -> Result<Self, BookError> {
        let name = path.display().to_string();
        match std::fs::read(path) {
            Ok(bytes) => Self::unpack(name, bytes.into()),
            Err(source) => Err(BookError::Read { name, source }),
        }
    }

    fn unpack(name: String, bytes: Cow<'static, [u8]>) -> Result<Self, BookError> {
        let (packing, sha256) = (Packing::of_bytes(&bytes), hex(&Sha256::digest(&bytes)));
        match packing::unpack(bytes) {
            Ok(bytes) if u32::try_from(bytes.len()).is_err() => Err(BookError::TooLarge { name }),
            Ok(bytes) => Ok(Self { name, sha256, packing, bytes }),
            Err(Refusal::Unknown(kind)) => Err(BookError::Packed { name, kind }),
            Err(Refusal::Broken(kind, fault)) => Err(BookError::Archive { name, kind, fault }),
            Err(Refusal::TooLarge(kind)) => Err(BookError::Bomb { name, kind }),
        }
    }

    /// What it holds, unpacked.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What its bytes mean, by its extension or else by what they look like.
    #[must_use]
    pub fn format(&self) -> Format {
        let mut path = Path::new(&self.name);
        if self.packing.is_some()
            && path.extension().is_some_and(|last| Packing::of_extension(&last.to_string_lossy()).is_some())
        {
            path = path.file_stem().map_or(path, Path::new);
        }
        let extension = path.extension().map(|last| last.to_string_lossy().to_ascii_lowercase());
        match extension.as_deref() {
            Some("pgn") => Format::Pgn,
            Some("epd" | "fen") => Format::Epd,
            Some("bin") => Format::Polyglot,
            _ => sniff(&self.bytes),
        }
    }
}

/// Openings to play, all of them checked. At least one.
#[derive(Clone)]
pub struct Book {
    name: String,
    format: Format,
    packing: Option<Packing>,
    sha256: String,
    /// Lines, games, or the lines made of a Polyglot book.
    bytes: Cow<'static, [u8]>,
    /// Where each line or game begins.
    offsets: Vec<u32>,
    options: BookOptions,
}

impl std::fmt::Debug for Book {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Book")
            .field("name", &self.name)
            .field("format", &self.format)
            .field("sha256", &self.sha256)
            .field("openings", &self.offsets.len())
            .finish_non_exhaustive()
    }
}

impl Book {
    /// Reads and checks a book.
    ///
    /// # Errors
    /// [`BookError`] with path and line for the first opening that can't be read, is not legal, or leaves nothing to play.
    pub fn load(path: &Path, options: &BookOptions) -> Result<Self, BookError> {
        Self::from_file(BookFile::load(path)?, options)
    }

    /// Checks a book that is in memory already; `name` stands for the path in messages and in the plan.
    ///
    /// # Errors
    /// As [`Book::load`].
    pub fn from_bytes(
        name: &str,
        bytes: impl Into<Cow<'static, [u8]>>,
        options: &BookOptions,
    ) -> Result<Self, BookError> {
        let file = BookFile::unpack(name.to_owned(), bytes.into())?;
        let format = options.format.unwrap_or_else(|| sniff(&file.bytes));
        Self::from_file(file, &BookOptions { format: Some(format), ..*options })
    }

    /// Checks a book whose file was read already.
    ///
    /// # Errors
    /// As [`Book::load`].
    pub fn from_file(file: BookFile, options: &BookOptions) -> Result<Self, BookError> {
        let format = options.format.unwrap_or_else(|| file.format());
        let BookFile { name, sha256, packing, mut bytes } = file;
        let offsets = match format {
            Format::Epd => check_lines(&bytes, options.variant),
            Format::Pgn => pgn::check_games(&bytes, options),
            Format::Polyglot if bytes.is_empty() => Ok(Vec::new()),
            Format::Polyglot => match polyglot::lines(&bytes, options.variant, options.plies) {
                Ok((lines, offsets)) => {
                    bytes = lines.into();
                    Ok(offsets)
                }
                Err(fault) => return Err(BookError::Polyglot { name, fault }),
            },
        };
        match offsets {
            Ok(offsets) if offsets.is_empty() => Err(BookError::Empty { name }),
            Ok(offsets) => Ok(Self { name, format, packing, sha256, bytes, offsets, options: *options }),
            Err(Fault { line, what }) => Err(BookError::Opening { name, line, fault: what }),
        }
    }

    /// Path or name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What its bytes were read as.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }

    /// How its file is packed.
    #[must_use]
    pub const fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// SHA-256 of the file as it lies on disk, 64 hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The number of openings, from 1.
    #[expect(clippy::len_without_is_empty, reason = "a book has at least one opening")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// The opening at `index`, from 0; `None` beyond the end.
    #[must_use]
    pub fn opening(&self, index: usize) -> Option<Opening> {
        let rest = self.bytes.get(*self.offsets.get(index)? as usize..)?;
        let (fen, moves) = match self.format {
            Format::Epd => (fen_of_line(first_line(rest)).ok()?, Vec::new()),
            Format::Pgn => pgn::reread(rest, &self.options)?,
            Format::Polyglot => {
                let line = std::str::from_utf8(first_line(rest)).ok()?;
                (START_FEN.to_owned(), line.split_ascii_whitespace().map(str::to_owned).collect())
            }
        };
        Some(Opening { index: index as u64, fen, moves })
    }
}

/// PGN begins with a tag, a comment or a move number; a position never does. Bytes that no text has are Polyglot's.
fn sniff(bytes: &[u8]) -> Format {
    if polyglot::looks_like(bytes) {
        return Format::Polyglot;
    }
    let is_text = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"#");
    match without_bom(bytes).split(|b| *b == b'\n').map(<[u8]>::trim_ascii).find(is_text) {
        Some([b'[' | b'{' | b'%' | b';', ..]) => Format::Pgn,
        Some(line) if line.starts_with(b"1.") || line.starts_with(b"1 ") => Format::Pgn,
        _ => Format::Epd,
    }
}

fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(64), |mut text, byte| {
        // Writing to a string does not fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn first_line(bytes: &[u8]) -> &[u8] {
    bytes.split(|b| *b == b'\n').next().unwrap_or(bytes)
}

/// Where the lines with a position begin.
fn check_lines(bytes: &[u8], variant: Variant) -> Result<Vec<u32>, Fault> {
    let mut offsets = Vec::new();
    let mut at = bytes.len() - without_bom(bytes).len();
    for (line, text) in (1u32..).zip(bytes[at..].split(|b| *b == b'\n')) {
        let trimmed = text.trim_ascii();
        if !trimmed.is_empty() && !trimmed.starts_with(b"#") {
            let checked = fen_of_line(trimmed).and_then(|fen| check_position(&fen, variant));
            checked.map_err(|what| Fault { line, what })?;
            // The caller has seen to it that the book's length fits.
            offsets.push(u32::try_from(at).unwrap_or(u32::MAX));
        }
        at += text.len() + 1;
    }
    Ok(offsets)
}

fn check_position(fen: &str, variant: Variant) -> Result<(), String> {
    let position = Position::from_fen(fen, variant).map_err(|error| error.to_string())?;
    position.over().map_or(Ok(()), |(_, why)| Err(format!("the game is over here already ({})", words(why))))
}

fn words(why: Termination) -> String {
    why.name().replace('-', " ")
}

/// The six-field FEN of an EPD or FEN line.
fn fen_of_line(line: &[u8]) -> Result<String, String> {
    let mut fields = line.trim_ascii().splitn(5, u8::is_ascii_whitespace);
    let mut fen = String::with_capacity(line.len().min(128));
    for _ in 0..4 {
        let field = fields.next().filter(|field| !field.is_empty());
        let field = field.ok_or("a position has the four fields board, side to move, castling and en passant")?;
        let field = std::str::from_utf8(field).map_err(|_| "the position is not plain text")?;
        fen.push_str(field);
        fen.push(' ');
    }
    let (halfmoves, fullmoves) = counters(fields.next().unwrap_or_default().trim_ascii())?;
    // Writing to a string does not fail.
    let _ = write!(fen, "{halfmoves} {fullmoves}");
    Ok(fen)
}

/// Halfmove clock and move number: the FEN's fields, or the opcodes `hmvc` and `fmvn`, or else 0 and 1.
fn counters(rest: &[u8]) -> Result<(u32, u32), String> {
    let number = |text: &[u8], what: &str| {
        let digits = std::str::from_utf8(text).ok().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
        let number = digits.and_then(|digits| digits.parse::<u32>().ok()).filter(|n| *n < 10_000);
        number.ok_or_else(|| format!("{what} is not a number below 10000"))
    };
    if rest.first().is_some_and(|b| b.is_ascii_digit() || *b == b'-') {
        let mut fields = rest.split(|b| b.is_ascii_whitespace() || *b == b';').filter(|field| !field.is_empty());
        let halfmoves = number(fields.next().unwrap_or_default(), "the halfmove clock")?;
        return Ok((halfmoves, number(fields.next().unwrap_or_default(), "the move number")?));
    }
    let (mut halfmoves, mut fullmoves) = (0, 1);
    for operation in operations(rest) {
        let operation = operation.trim_ascii();
        let (opcode, operand) = operation.split_at(operation.len().min(4));
        match opcode {
            b"hmvc" => halfmoves = number(operand.trim_ascii(), "hmvc")?,
            b"fmvn" => fullmoves = number(operand.trim_ascii(), "fmvn")?,
            _ => {}
        }
    }
    Ok((halfmoves, fullmoves))
}

/// EPD operations: ended by `;`, except inside quotes.
fn operations(rest: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut quoted = false;
    rest.split(move |byte| {
        quoted ^= *byte == b'"';
        *byte == b';' && !quoted
    })
}

#[cfg(test)]
mod tests;
