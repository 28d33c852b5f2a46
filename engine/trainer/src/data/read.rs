//! Files as a sequence of games or positions, whatever their format, packed by zstd or not.

use super::error::{DataError, Place};
use super::format::Format;
use super::record::{BULLET_BYTES, Entry, Position, bullet_record};
use super::{journal, pgn, text};
use destrier::datagen::viriformat;
use quintain::files::open_input;
use ruzstd::decoding::StreamingDecoder;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a file holds, in its order. After an error that is not of one game there is nothing more.
pub type Entries = Box<dyn Iterator<Item = Result<Entry, DataError>>>;

/// An open file.
pub struct Source {
    pub format: Format,
    /// Bytes of the file, packed as it is.
    pub length: u64,
    /// Bytes of the file read so far.
    pub read: Arc<AtomicU64>,
    /// Games passed over so far: without a result, without evaluations, or not ended over the board or by the referee.
    pub passed: Arc<AtomicU64>,
    pub entries: Entries,
}

/// Counts the games that files pass over, also where they are handed on to be read.
pub struct Passed(Vec<Arc<AtomicU64>>);

impl Passed {
    pub fn of(sources: &[Source]) -> Passed {
        Passed(sources.iter().map(|source| Arc::clone(&source.passed)).collect())
    }

    /// So far.
    pub fn games(&self) -> u64 {
        self.0.iter().map(|passed| passed.load(Ordering::Relaxed)).sum()
    }
}

/// The longest line that is read, in bytes: a self-play game of 10,000 plies.
const MAX_LINE: u64 = 1 << 18;
const BUFFER: usize = 1 << 18;

/// Opens a file; its format is told by its name and, for `.txt`, by its first line.
///
/// # Errors
/// It can't be read, or its format is not known.
pub fn open(path: &Path, given: Option<Format>) -> Result<Source, DataError> {
    let given = if path.is_dir() { Some(Format::Journal) } else { given };
    let file = file_of(path);
    if path.is_dir() && !file.exists() {
        return Err(DataError::NoRun { path: path.to_owned() });
    }
    let path = file.as_path();
    let Unpacked { mut input, length, read } = Unpacked::open(path)?;
    let format = match given.or_else(|| Format::of_name(path)) {
        Some(Format::Text) if given.is_none() => {
            let start = input.fill_buf().map_err(DataError::io(path, "read it"))?;
            let line = start.split(|&byte| byte == b'\n').next().unwrap_or_default();
            if line.contains(&b';') { Format::SelfPlay } else { Format::Text }
        }
        Some(format) => format,
        None => return Err(DataError::NoFormat { path: path.to_owned(), flag: "--from" }),
    };
    let path = path.to_owned();
    let passed = Arc::default();
    let entries: Entries = match format {
        Format::Viriformat => Box::new(viriformat::Reader::new(input).map(move |game| {
            game.map(Entry::Game).map_err(|error| DataError::Viriformat { path: path.clone(), error })
        })),
        Format::Bulletformat => Box::new(Bullet { path, input, offset: 0 }),
        Format::Text => Box::new(text::texts(Lines::new(path, input))),
        Format::SelfPlay => Box::new(text::self_play(Lines::new(path, input))),
        Format::Plain => Box::new(text::Joined::new(text::Plain(Lines::new(path, input)))),
        Format::Pgn => Box::new(pgn::Games::new(path, input, Arc::clone(&passed))),
        Format::Journal => Box::new(journal::games(path, input, Arc::clone(&passed))),
        #[cfg(feature = "binpack")]
        Format::Binpack => Box::new(text::Joined::new(super::binpack::Positions::new(path, input))),
        #[cfg(not(feature = "binpack"))]
        Format::Binpack => return Err(DataError::NoBinpack { path }),
    };
    Ok(Source { format, length, read, passed, entries: Box::new(UntilError(Some(entries))) })
}

/// The file to be read: of a run of Quintain, which is a folder, its journal.
pub fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(quintain::journal::FILE_NAME) } else { path.to_owned() }
}

/// Ends after the first error that is not of one game.
struct UntilError(Option<Entries>);

impl Iterator for UntilError {
    type Item = Result<Entry, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let entry = self.0.as_mut()?.next()?;
        if entry.as_ref().is_err_and(|error| !error.is_of_one_game()) {
            self.0 = None;
        }
        Some(entry)
    }
}

/// A file that counts what was read of it.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

pub type Input = Box<dyn BufRead + Send>;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// The bytes of a file, unpacked where it is packed, by its first bytes.
struct Unpacked {
    input: Input,
    /// Bytes of the file, packed as it is.
    length: u64,
    /// Bytes of the file read so far.
    read: Arc<AtomicU64>,
}

impl Unpacked {
    fn open(path: &Path) -> Result<Unpacked, DataError> {
        let file = open_input(path).map_err(DataError::io(path, "read it"))?;
        let length = file.metadata().map_err(DataError::io(path, "read it"))?.len();
        let read = Arc::new(AtomicU64::new(0));
        let mut whole = BufReader::with_capacity(BUFFER, Counted { file, read: Arc::clone(&read) });
        // One read brings more than the first line of a file, which its format may be told by.
        let start = whole.fill_buf().map_err(DataError::io(path, "read it"))?;
        let input: Input = if start.starts_with(&ZSTD_MAGIC) {
            Box::new(BufReader::with_capacity(BUFFER, Frames { packed: Some(Packed::Waiting(Box::new(whole))) }))
        } else {
            Box::new(whole)
        };
        Ok(Unpacked { input, length, read })
    }
}

/// zstd frames one after the other.
struct Frames {
    packed: Option<Packed>,
}

enum Packed {
    /// Between two frames.
    Waiting(Input),
    Open(Box<StreamingDecoder<Input, ruzstd::decoding::FrameDecoder>>),
}

impl Read for Frames {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.packed.take() {
                None => return Ok(0),
                Some(Packed::Waiting(mut input)) => {
                    if input.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new(input).map_err(|error| damaged(&error))?;
                    self.packed = Some(Packed::Open(Box::new(decoder)));
                }
                Some(Packed::Open(mut decoder)) => {
                    let count = decoder.read(into).map_err(|error| damaged(&error))?;
                    if count > 0 || into.is_empty() {
                        self.packed = Some(Packed::Open(decoder));
                        return Ok(count);
                    }
                    self.packed = Some(Packed::Waiting(decoder.into_inner()));
                }
            }
        }
    }
}

/// What is wrong with packed bytes, by the last of the decoder's causes.
fn damaged(error: &dyn Error) -> io::Error {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    io::Error::other(format!("damaged or cut-off zstd: {last}"))
}

/// Bytes that each place of a file gives to its sample.
const SAMPLE: u64 = 1 << 17;

/// What stands at the beginning, middle and end of a file of so many bytes, in whole records of so many: a file that was put in
/// another's place shows.
///
/// # Errors
/// What reading says.
pub fn sample(file: &mut File, length: u64, record: u64) -> io::Result<Vec<u8>> {
    let size = SAMPLE.min(length);
    let mut bytes = vec![0; 3 * size as usize];
    let places = [0, (length - size) / 2 / record * record, length - size];
    for (from, part) in places.into_iter().zip(bytes.chunks_mut(size.max(1) as usize)) {
        file.seek(SeekFrom::Start(from))?;
        file.read_exact(part)?;
    }
    Ok(bytes)
}

/// What some editors write before the first line.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Numbered lines of bounded length.
pub struct Lines {
    pub path: PathBuf,
    input: Input,
    /// Of the last line, from 1.
    pub number: u64,
    line: Vec<u8>,
}

impl Lines {
    fn new(path: PathBuf, input: Input) -> Lines {
        Lines { path, input, number: 0, line: Vec::new() }
    }

    /// The lines of a file, its bytes, packed as it is, and how many of them are read so far.
    ///
    /// # Errors
    /// It can't be read.
    pub fn open(path: &Path) -> Result<(Lines, u64, Arc<AtomicU64>), DataError> {
        let Unpacked { input, length, read } = Unpacked::open(path)?;
        Ok((Lines::new(path.to_owned(), input), length, read))
    }

    /// The next line that is not empty, without blanks around it.
    pub fn next_line(&mut self) -> Result<Option<&str>, DataError> {
        loop {
            self.line.clear();
            let mut bounded = (&mut self.input).take(MAX_LINE);
            let count = bounded.read_until(b'\n', &mut self.line).map_err(DataError::io(&self.path, "read it"))?;
            if count == 0 {
                return Ok(None);
            }
            self.number += 1;
            if count as u64 == MAX_LINE && self.line.last() != Some(&b'\n') {
                return Err(self.bad(format!("longer than {MAX_LINE} bytes; is this a text file?")));
            }
            if self.number == 1 && self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
            if !self.line.trim_ascii().is_empty() {
                break;
            }
        }
        match std::str::from_utf8(self.line.trim_ascii()) {
            Ok(line) => Ok(Some(line)),
            Err(_) => Err(DataError::bad(&self.path, Place::Line(self.number), "not UTF-8; is this a text file?")),
        }
    }

    /// What is wrong with the last line.
    pub fn bad(&self, why: impl Into<String>) -> DataError {
        DataError::bad(&self.path, Place::Line(self.number), why)
    }
}

/// Records of bulletformat.
struct Bullet {
    path: PathBuf,
    input: Input,
    offset: u64,
}

impl Bullet {
    fn read(&mut self) -> Result<Option<Entry>, DataError> {
        let mut bytes = [0; BULLET_BYTES];
        let mut count = 0;
        while count < BULLET_BYTES {
            match self.input.read(&mut bytes[count..]) {
                Ok(0) => break,
                Ok(more) => count += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(DataError::io(&self.path, "read it")(error)),
            }
        }
        let place = Place::Offset(self.offset);
        match count {
            0 => return Ok(None),
            BULLET_BYTES => {}
            _ => {
                let why = format!("the file ends within a record; cut it to {} bytes to use the rest", self.offset);
                return Err(DataError::bad(&self.path, place, why));
            }
        }
        let position = Position::from_bullet(&bullet_record(&bytes))
            .map_err(|bad| DataError::bad(&self.path, place, format!("{}; is this a bulletformat file?", bad.0)))?;
        self.offset += BULLET_BYTES as u64;
        Ok(Some(Entry::Position(position)))
    }
}

impl Iterator for Bullet {
    type Item = Result<Entry, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}
