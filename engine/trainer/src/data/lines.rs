//! Bytes and lines of plain or zstd-compressed files.

use super::error::{DataError, Place};
use quintain::files::open_input;
use ruzstd::decoding::StreamingDecoder;
use std::error::Error;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Length limit of a line in bytes, enough for a self-play game of 10,000 plies.
const MAX_LINE: u64 = 1 << 18;
const BUFFER: usize = 1 << 18;

/// File that counts the bytes read from it.
struct CountingFile {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for CountingFile {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(into)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Decompressed bytes of an open file.
pub type ByteStream = Box<dyn BufRead + Send>;

const ZSTD_MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

/// Open file, decompressed if its first bytes are the zstd magic.
pub(super) struct UnpackedFile {
    pub(super) input: ByteStream,
    /// Size of the file on disk in bytes.
    pub(super) length: u64,
    /// Bytes of the file on disk that stand for what has been consumed of `input`.
    pub(super) read: Arc<AtomicU64>,
}

impl UnpackedFile {
    /// Opens a file.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(super) fn open(path: &Path) -> Result<UnpackedFile, DataError> {
        let file = open_input(path).map_err(DataError::io(path, "read it"))?;
        let length = file.metadata().map_err(DataError::io(path, "read it"))?.len();
        let read = Arc::new(AtomicU64::new(0));
        let mut whole = MeteredReader::new(CountingFile { file, read: Arc::clone(&read) }, read);
        // The first read fills the buffer beyond the first line, from which the format may be
        // detected.
        let start = whole.fill_buf().map_err(DataError::io(path, "read it"))?;
        if !start.starts_with(&ZSTD_MAGIC) {
            let read = Arc::clone(&whole.used);
            return Ok(UnpackedFile { input: Box::new(whole), length, read });
        }
        let packed = Arc::clone(&whole.used);
        let frames = Frames { packed: Some(FrameState::Waiting(Box::new(whole))) };
        let unpacked = MeteredReader::new(frames, packed);
        let read = Arc::clone(&unpacked.used);
        Ok(UnpackedFile { input: Box::new(unpacked), length, read })
    }
}

/// Buffered reader that converts what is consumed of it to bytes of the file on disk. Those of a
/// full buffer are shared out evenly.
struct MeteredReader<R> {
    input: BufReader<R>,
    /// Bytes of the file from which the buffer and all before it were filled.
    fetched: Arc<AtomicU64>,
    /// Bytes of the file that stand for what has been consumed.
    used: Arc<AtomicU64>,
    /// `fetched` before the buffer was filled.
    begin: u64,
    /// Bytes of the full buffer, and those consumed of it.
    size: u64,
    consumed: u64,
}

impl<R: Read> MeteredReader<R> {
    fn new(input: R, fetched: Arc<AtomicU64>) -> MeteredReader<R> {
        let input = BufReader::with_capacity(BUFFER, input);
        MeteredReader { input, fetched, used: Arc::default(), begin: 0, size: 0, consumed: 0 }
    }
}

impl<R: Read> BufRead for MeteredReader<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.input.buffer().is_empty() {
            let begin = self.fetched.load(Ordering::Relaxed);
            let size = self.input.fill_buf()?.len() as u64;
            (self.begin, self.size, self.consumed) = (begin, size, 0);
        }
        Ok(self.input.buffer())
    }

    fn consume(&mut self, bytes: usize) {
        self.input.consume(bytes);
        self.consumed += bytes as u64;
        let held = self.fetched.load(Ordering::Relaxed) - self.begin;
        self.used.store(self.begin + held * self.consumed / self.size.max(1), Ordering::Relaxed);
    }
}

impl<R: Read> Read for MeteredReader<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(into)?;
        self.consume(count);
        Ok(count)
    }
}

/// Decoder of consecutive zstd frames.
struct Frames {
    packed: Option<FrameState>,
}

enum FrameState {
    /// Between two frames.
    Waiting(ByteStream),
    Open(Box<StreamingDecoder<ByteStream, ruzstd::decoding::FrameDecoder>>),
}

impl Read for Frames {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.packed.take() {
                None => return Ok(0),
                Some(FrameState::Waiting(mut input)) => {
                    if input.fill_buf()?.is_empty() {
                        return Ok(0);
                    }
                    let decoder = StreamingDecoder::new(input).map_err(|error| damaged(&error))?;
                    self.packed = Some(FrameState::Open(Box::new(decoder)));
                }
                Some(FrameState::Open(mut decoder)) => {
                    let count = decoder.read(into).map_err(|error| damaged(&error))?;
                    if count > 0 || into.is_empty() {
                        self.packed = Some(FrameState::Open(decoder));
                        return Ok(count);
                    }
                    let frame = &decoder.decoder;
                    let (written, computed) = (frame.get_checksum_from_data(), frame.get_calculated_checksum());
                    if written.is_some() && written != computed {
                        return Err(io::Error::other("damaged zstd: its checksum does not fit its content"));
                    }
                    self.packed = Some(FrameState::Waiting(decoder.into_inner()));
                }
            }
        }
    }
}

/// Converts a decoder error to an I/O error that names the root cause.
fn damaged(error: &dyn Error) -> io::Error {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    io::Error::other(format!("damaged or cut-off zstd: {last}"))
}

/// UTF-8 byte order mark, which some editors write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reader of numbered lines of bounded length.
pub struct Lines {
    /// The file.
    pub path: PathBuf,
    input: ByteStream,
    /// Number of the last line read, from 1.
    pub number: u64,
    line: Vec<u8>,
}

impl Lines {
    /// Creates a reader of the lines of an open file.
    pub(super) fn new(path: PathBuf, input: ByteStream) -> Lines {
        Lines { path, input, number: 0, line: Vec::new() }
    }

    /// Opens a file. Returns its lines, its size on disk and the counter of the bytes read so far.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn open(path: &Path) -> Result<(Lines, u64, Arc<AtomicU64>), DataError> {
        let UnpackedFile { input, length, read } = UnpackedFile::open(path)?;
        Ok((Lines::new(path.to_owned(), input), length, read))
    }

    /// Returns the next nonblank line, trimmed.
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

    /// Creates an error at the last line read.
    pub fn bad(&self, why: impl Into<String>) -> DataError {
        DataError::bad(&self.path, Place::Line(self.number), why)
    }
}
