//! Files of any format as sequences of games or positions.

use super::error::{DataError, Place};
use super::format::Format;
use super::lines::{ByteStream, Lines, UnpackedFile};
use super::record::{BULLET_BYTES, Entry, Position, TRIPLET_MARKS, bullet_record};
use super::{journal, pgn, text};
use destrier::datagen::viriformat;
use quintain::journal::FILE_NAME;
use quintain::journal::archive::{self, ARCHIVE_NAME, stored_name};
use std::fs::File;
use std::io::{self, BufRead as _, Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Entries of a file in order. Iteration ends after an error that is not limited to one game.
pub type Entries = Box<dyn Iterator<Item = Result<Entry, DataError>>>;

/// Open input file.
pub struct EntrySource {
    /// Format of the entries.
    pub format: Format,
    /// Size of the file on disk in bytes.
    pub length: u64,
    /// Bytes read from disk so far.
    pub read: Arc<AtomicU64>,
    /// Games passed over so far: without a result or evaluations, or not decided on the board or by
    /// adjudication.
    pub passed: Arc<AtomicU64>,
    /// Entries in the file's order.
    pub entries: Entries,
}

/// Counter of the games passed over, which stays readable while the sources are consumed.
pub struct PassedGames(Vec<Arc<AtomicU64>>);

impl PassedGames {
    /// Creates the counter of these sources.
    pub fn of(sources: &[EntrySource]) -> PassedGames {
        PassedGames(sources.iter().map(|source| Arc::clone(&source.passed)).collect())
    }

    /// Returns the number of games passed over so far.
    pub fn games(&self) -> u64 {
        self.0.iter().map(|passed| passed.load(Ordering::Relaxed)).sum()
    }
}

/// Opens a file. Its format follows from its extension and, for `.txt`, from its first line.
///
/// # Errors
/// Fails if the file cannot be read or its format is unknown.
pub fn open(path: &Path, given: Option<Format>) -> Result<EntrySource, DataError> {
    let given = if path.is_dir() { Some(Format::Journal) } else { given };
    let file = file_of(path);
    if path.is_dir() && !file.exists() {
        return Err(DataError::NoRun { path: path.to_owned() });
    }
    let path = file.as_path();
    let UnpackedFile { mut input, length, read } = UnpackedFile::open(path)?;
    let format = match given.or_else(|| Format::of_name(path)) {
        Some(Format::Text) if given.is_none() => {
            let start = input.fill_buf().map_err(DataError::io(path, "read it"))?;
            let mut lines = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
            let line = lines.find(|line| !line.is_empty()).unwrap_or_default();
            if line.contains(&b';') { Format::SelfPlay } else { Format::Text }
        }
        Some(format) => format,
        None => return Err(Format::unknown(path, "--from")),
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
        Format::Plain => Box::new(text::GameJoiner::new(text::Plain(Lines::new(path, input)))),
        Format::Pgn => Box::new(pgn::Games::new(path, input, Arc::clone(&passed))),
        Format::Journal => {
            let lines = journal_lines(&path, input);
            Box::new(journal::games(path, lines, Arc::clone(&passed)))
        }
        #[cfg(feature = "binpack")]
        Format::Binpack => Box::new(text::GameJoiner::new(super::binpack::Positions::new(path, input))),
        #[cfg(not(feature = "binpack"))]
        Format::Binpack => return Err(DataError::NoBinpack { path }),
    };
    Ok(EntrySource { format, length, read, passed, entries: Box::new(UntilError(Some(entries))) })
}

/// Returns the file to read: the journal or archive of a run folder, else the path itself.
pub fn file_of(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(stored_name(path).unwrap_or(FILE_NAME)) } else { path.to_owned() }
}

/// Returns the lines of a journal, also if the file is the archive of one.
fn journal_lines(path: &Path, input: ByteStream) -> ByteStream {
    if path.file_name().is_some_and(|name| name == ARCHIVE_NAME) {
        // Errors have the whole path already.
        Box::new(archive::reader(input, Path::new(ARCHIVE_NAME)))
    } else {
        input
    }
}

/// Iterator that ends after the first error that is not limited to one game.
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

/// Size in bytes of each of the three parts of a sample.
const SAMPLE: u64 = 1 << 17;

/// Reads a sample of a file of `length` bytes: its beginning, middle and end, aligned to records of
/// `record` bytes. It shows if a file was replaced by another.
///
/// # Errors
/// Fails if reading fails.
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

/// Iterator of the records of a bulletformat file.
struct Bullet {
    path: PathBuf,
    input: ByteStream,
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
        let record = bullet_record(&bytes);
        if TRIPLET_MARKS.contains(&record.extra) {
            let why = "a position of a triplet, which may have another's score and result; give the file that the triplets were drawn from";
            return Err(DataError::bad(&self.path, place, why));
        }
        let position = Position::from_bullet(&record)
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
