//! Opening books, and the order in which their openings are played.
//!
//! A [`Book`] is read and checked as a whole before a run, so that a broken line is reported in the
//! first second and not in the third hour. It is read as a stream and kept as text with four bytes
//! an opening beside it: see `store`.
//!
//! Formats
//! - EPD and FEN lists, distinguished line by line: four fields and opcodes, of which `hmvc` and
//!   `fmvn` are honoured, or six fields. Blank lines and lines that begin with `#` are skipped; CR
//!   LF and a byte order mark do no harm.
//! - PGN: see [`pgn`].
//! - Polyglot: see [`polyglot`].
//!
//! Each of them may be packed by gzip or zstd: see [`packing`]. A book's SHA-256 is that of the
//! file on disk.
//!
//! Memory is bounded for any file: 4 MiB of a list or of a game at a time, 256 MiB for a Polyglot
//! book, and 8 MiB of finished text. Longer text moves to a temporary file.

pub mod builtin;
mod epd;
mod error;
pub mod maker;
pub mod order;
pub mod packing;
pub mod pgn;
pub mod polyglot;
mod store;

use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use self::epd::Care;
pub use self::error::BookError;
use self::error::{Trouble, without_bom};
pub use self::packing::Packing;
use self::packing::UnpackedStream;
use self::store::{Store, StoredLines};
use crate::chess::{START_FEN, Variant};
use crate::files::open_regular;
use crate::record::Opening;
use crate::text::hex;

/// Format of a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BookFileFormat {
    /// One position a line, EPD or FEN.
    Epd,
    /// Games.
    Pgn,
    /// Polyglot's `.bin`: moves by position.
    Polyglot,
}

impl BookFileFormat {
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

/// Options for reading a book.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BookOptions {
    /// Castling rules of its positions.
    pub variant: Variant,
    /// Maximum number of plies of each game of a PGN book to play, all if `None`; plies of each
    /// line of a Polyglot book, 8 if `None`.
    pub plies: Option<u32>,
    /// The format; if `None`, the extension decides: `.pgn` is PGN, `.epd` and `.fen` are EPD,
    /// `.bin` is Polyglot (`.gz` and `.zst` after them are ignored). For any other extension the
    /// content decides.
    pub format: Option<BookFileFormat>,
}

/// A reader that hashes the bytes it gives.
struct HashingReader<R> {
    inner: R,
    hash: Sha256,
}

impl<R: Read> Read for HashingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hash.update(&buffer[..read]);
        Ok(read)
    }
}

/// Bytes at the beginning of a book from which its format is detected.
const MOST_SNIFFED: u64 = 64 << 10;

/// A book's format by its name, `.gz` and `.zst` set aside if it is packed.
pub(crate) fn format_of_name(name: &str, packing: Option<Packing>) -> Option<BookFileFormat> {
    let mut path = Path::new(name);
    if packing.is_some()
        && path.extension().is_some_and(|last| Packing::of_extension(&last.to_string_lossy()).is_some())
    {
        path = path.file_stem().map_or(path, Path::new);
    }
    match path.extension()?.to_string_lossy().to_ascii_lowercase().as_str() {
        "pgn" => Some(BookFileFormat::Pgn),
        "epd" | "fen" => Some(BookFileFormat::Epd),
        "bin" => Some(BookFileFormat::Polyglot),
        _ => None,
    }
}

/// Passes the number and the fault of each broken line of an EPD or FEN list to `found` and returns
/// their number; 0 for any other book.
///
/// # Errors
/// [`BookError`] if it cannot be read or unpacked.
pub fn faults(path: &Path, options: &BookOptions, mut found: impl FnMut(u32, String)) -> Result<u64, BookError> {
    let name = path.display().to_string();
    let mut read = || -> Result<u64, Trouble> {
        let file = open_regular(path)?;
        let bytes = file.metadata()?.len();
        let unpacked = UnpackedStream::new(BufReader::new(file), bytes)?;
        let packing = unpacked.packing();
        let (format, text) = with_format(unpacked, options.format.or(format_of_name(&name, packing)))?;
        let mut count = 0;
        if format == BookFileFormat::Epd {
            epd::faults(text, options.variant, |line, fault| {
                count += 1;
                found(line, fault);
            })?;
        }
        Ok(count)
    };
    read().map_err(|trouble| trouble.of(&name))
}

/// Stream whose first bytes were read ahead.
type RewoundStream<R> = io::Chain<Cursor<Vec<u8>>, R>;

/// The format, by the first bytes if it is not known, and the stream from its beginning.
fn with_format<R: Read>(
    mut reader: R,
    known: Option<BookFileFormat>,
) -> io::Result<(BookFileFormat, RewoundStream<R>)> {
    let mut head = Vec::new();
    if known.is_none() {
        reader.by_ref().take(MOST_SNIFFED).read_to_end(&mut head)?;
    }
    let format = known.unwrap_or_else(|| sniff(&head));
    Ok((format, Cursor::new(head).chain(reader)))
}

/// Openings to play, all of them checked; at least one.
#[derive(Clone)]
pub struct Book {
    name: String,
    format: BookFileFormat,
    packing: Option<Packing>,
    sha256: String,
    lines: Arc<StoredLines>,
}

impl std::fmt::Debug for Book {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Book")
            .field("name", &self.name)
            .field("format", &self.format)
            .field("sha256", &self.sha256)
            .field("openings", &self.len())
            .finish_non_exhaustive()
    }
}

impl Book {
    /// Reads and checks a book.
    ///
    /// # Errors
    /// [`BookError`] with path and line for the first opening that cannot be read, is not legal, or
    /// leaves no move to play.
    pub fn load(path: &Path, options: &BookOptions) -> Result<Self, BookError> {
        let name = path.display().to_string();
        let opened = open_regular(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        match opened {
            Ok((bytes, file)) => Self::read(name, file, bytes, options, Care::Checked(options.variant), true),
            Err(source) => Err(BookError::Read { name, source }),
        }
    }

    /// Checks a book that is in memory already; `name` stands for the path in messages and in the
    /// plan.
    ///
    /// # Errors
    /// As [`Book::load`].
    pub fn from_bytes(name: &str, bytes: impl AsRef<[u8]>, options: &BookOptions) -> Result<Self, BookError> {
        let bytes = bytes.as_ref();
        let care = Care::Checked(options.variant);
        Self::read(name.to_owned(), bytes, bytes.len() as u64, options, care, false)
    }

    /// Reads a list of positions that comes with the program, without checking them again at each
    /// start.
    ///
    /// # Errors
    /// [`BookError`] if it cannot be unpacked.
    pub fn from_program(name: &str, bytes: &[u8], variant: Variant) -> Result<Self, BookError> {
        let options = BookOptions { format: Some(BookFileFormat::Epd), variant, plies: None };
        Self::read(name.to_owned(), bytes, bytes.len() as u64, &options, Care::Trusted, false)
    }

    fn read(
        name: String,
        source: impl Read,
        source_bytes: u64,
        options: &BookOptions,
        care: Care,
        is_file: bool,
    ) -> Result<Self, BookError> {
        let hashed = HashingReader { inner: source, hash: Sha256::new() };
        let mut store = Store::new();
        let read = || -> Result<_, Trouble> {
            let unpacked = UnpackedStream::new(BufReader::with_capacity(64 << 10, hashed), source_bytes)?;
            let packing = unpacked.packing();
            let by_name = if is_file { format_of_name(&name, packing) } else { None };
            let (format, mut text) = with_format(unpacked, options.format.or(by_name))?;
            match format {
                BookFileFormat::Epd => epd::read(&mut text, care, &mut store)?,
                BookFileFormat::Pgn => pgn::read(&mut text, options, &mut store)?,
                BookFileFormat::Polyglot => polyglot::read(&mut text, options, &mut store)?,
            }
            // The hash covers the whole file, even bytes that the decoder did not read.
            let mut rest = text.into_inner().1.into_source();
            io::copy(&mut rest, &mut io::sink())?;
            let sha256 = hex(&rest.into_inner().hash.finalize());
            let lines = store.finish().map_err(Trouble::Store)?;
            Ok((format, packing, sha256, lines))
        };
        match read() {
            Ok((_, _, _, lines)) if lines.len() == 0 => Err(BookError::Empty { name }),
            Ok((format, packing, sha256, lines)) => Ok(Self { name, format, packing, sha256, lines: Arc::new(lines) }),
            Err(trouble) => Err(trouble.of(&name)),
        }
    }

    /// Path or name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Format that its bytes were read as.
    #[must_use]
    pub const fn format(&self) -> BookFileFormat {
        self.format
    }

    /// True if its openings are positions without moves.
    #[must_use]
    pub fn is_list(&self) -> bool {
        self.format == BookFileFormat::Epd
    }

    /// Packing of its file; `None` for plain bytes.
    #[must_use]
    pub const fn packing(&self) -> Option<Packing> {
        self.packing
    }

    /// SHA-256 of the file on disk, 64 hexadecimal digits.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// The number of openings, from 1.
    #[expect(clippy::len_without_is_empty, reason = "a book has at least one opening")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Opening at `index`, from 0; `None` beyond the end.
    ///
    /// # Errors
    /// Returns an error if the temporary file with the book's text cannot be read any more.
    pub fn opening(&self, index: usize) -> Result<Option<Opening>, BookError> {
        let lost = |source| BookError::Lost { name: self.name.clone(), number: index as u64 + 1, source };
        let Some(line) = self.lines.line(index).map_err(lost)? else { return Ok(None) };
        let damaged = || lost(io::ErrorKind::InvalidData.into());
        let (fen, moves) = match self.format {
            BookFileFormat::Epd => (epd::fen_of_line(&line).map_err(|_| damaged())?, Vec::new()),
            BookFileFormat::Pgn | BookFileFormat::Polyglot => {
                opening_of_line(std::str::from_utf8(&line).map_err(|_| damaged())?)
            }
        };
        Ok(Some(Opening { index: index as u64, fen, moves }))
    }

    /// All openings in the book's order.
    pub fn openings(&self) -> impl Iterator<Item = Result<Opening, BookError>> {
        (0..self.len()).filter_map(|index| self.opening(index).transpose())
    }

    /// Returns at most `most` openings, evenly spread over the book.
    pub fn spread(&self, most: usize) -> impl Iterator<Item = Result<Opening, BookError>> {
        let count = self.len().min(most);
        (0..count).filter_map(move |place| self.opening(place * self.len() / count).transpose())
    }
}

/// The stored form of a line of moves: UCI moves, followed by a tab and the FEN unless it is the
/// starting position's.
fn line_of_opening(fen: &str, moves: &[String]) -> String {
    let mut line = moves.join(" ");
    if fen != START_FEN {
        line.push('\t');
        line.push_str(fen);
    }
    line.push('\n');
    line
}

fn opening_of_line(line: &str) -> (String, Vec<String>) {
    let (moves, fen) = line.split_once('\t').unwrap_or((line, START_FEN));
    (fen.to_owned(), moves.split_ascii_whitespace().map(str::to_owned).collect())
}

/// Guesses the format. PGN begins with a tag, a comment or a move number, and a position never
/// does. Bytes that never occur in text mean Polyglot.
fn sniff(bytes: &[u8]) -> BookFileFormat {
    if polyglot::looks_like(bytes) {
        return BookFileFormat::Polyglot;
    }
    let is_text = |line: &&[u8]| !line.is_empty() && !line.starts_with(b"#");
    match without_bom(bytes).split(|b| *b == b'\n').map(<[u8]>::trim_ascii).find(is_text) {
        Some([b'[' | b'{' | b'%' | b';', ..]) => BookFileFormat::Pgn,
        Some(line) if line.starts_with(b"1.") || line.starts_with(b"1 ") => BookFileFormat::Pgn,
        _ => BookFileFormat::Epd,
    }
}

#[cfg(test)]
mod tests;
