//! Output of games and positions.

use super::error::DataError;
use super::filter::Filter;
use super::format::Format;
use super::needs::Needs;
use super::record::{Entry, Position, bullet_bytes};
use super::text;
use destrier::datagen::viriformat::NO_SCORE;
use quintain::journal;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Encoder of entries into records of a format. A record is the unit that is shuffled, counted and
/// dropped.
#[derive(Debug, Clone)]
pub struct Encoder {
    format: Format,
    filter: Option<Filter>,
    bytes: Vec<u8>,
    line: String,
    /// Positions left out because they lack a score or move that the format needs, or by the
    /// filter.
    pub dropped: u64,
    /// Positions among `dropped` that the filter refused only because the move is unknown.
    moveless: u64,
    /// Positions written.
    pub positions: u64,
}

impl Encoder {
    /// # Errors
    /// Fails if a filter is given for a format that holds only whole games.
    pub fn new(path: &Path, format: Format, filter: Option<Filter>) -> Result<Encoder, DataError> {
        let remedy = match format {
            Format::Viriformat | Format::SelfPlay => "it would tear games: filter into bulletformat, text or plain",
            Format::Binpack => "filter into `.plain`, and `convert` that",
            _ => "",
        };
        if filter.is_some() && !remedy.is_empty() {
            return Err(DataError::Unfiltered { path: path.to_owned(), format: format.name(), remedy });
        }
        Ok(Encoder { format, filter, bytes: Vec::new(), line: String::new(), dropped: 0, moveless: 0, positions: 0 })
    }

    /// Returns the requirements on the input files.
    pub fn needs(&self) -> Needs {
        Needs { filter: self.filter, to: Some(self.format), games: None }
    }

    /// Returns the end of the summary: the number of positions left out, with a remedy if there is
    /// one.
    pub fn left_out(&self) -> String {
        let Encoder { dropped, moveless, .. } = self;
        let remedy = match moveless {
            0 => String::new(),
            _ => format!(", {moveless} of them because no move is known (`--keep-captures` keeps them)"),
        };
        format!("{dropped} positions left out{remedy}")
    }

    /// Passes the records of an entry to `each`, along with the position if the record is one.
    ///
    /// # Errors
    /// Fails as `each` does.
    pub fn encode<E>(
        &mut self,
        entry: Entry,
        mut each: impl FnMut(Option<&Position>, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        match self.format {
            Format::Viriformat => {
                let game = entry.into_game();
                self.positions += game.plies.len().max(1) as u64;
                self.bytes.clear();
                game.write(&mut self.bytes);
                each(None, &self.bytes)
            }
            Format::SelfPlay => {
                let game = entry.into_game();
                if game.plies.is_empty() {
                    // The format stores scores beside moves, so a game without moves cannot have
                    // any.
                    self.dropped += 1;
                    return Ok(());
                }
                self.positions += game.plies.len() as u64;
                self.line.clear();
                text::write_self_play(&game, &mut self.line);
                each(None, self.line.as_bytes())
            }
            format => {
                for position in entry.positions() {
                    self.encode_position(format, &position, &mut each)?;
                }
                Ok(())
            }
        }
    }

    /// Returns true if a position has what the format needs and passes the filter.
    pub fn takes(&self, position: &Position) -> bool {
        let lacks_move = self.format == Format::Plain && position.mv.is_null();
        let passes = self.filter.is_none_or(|filter| filter.keeps(position));
        position.score != NO_SCORE && !lacks_move && passes
    }

    fn encode_position<E>(
        &mut self,
        format: Format,
        position: &Position,
        each: &mut impl FnMut(Option<&Position>, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.takes(position) {
            self.dropped += 1;
            self.moveless += u64::from(self.filter.is_some_and(|filter| filter.lacks_move(position)));
            return Ok(());
        }
        self.positions += 1;
        self.line.clear();
        match format {
            Format::Text => text::write_text(position, &mut self.line),
            Format::Plain => text::write_plain(position, &mut self.line),
            _ => return each(Some(position), &bullet_bytes(&position.to_bullet())),
        }
        each(Some(position), self.line.as_bytes())
    }
}

/// Output file that has a temporary name until it is complete; an incomplete file is removed. A
/// name that ends in `.zst` selects compression.
#[derive(Debug)]
pub struct Sink {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
    /// Pending bytes of the next zstd frame if the file is compressed.
    frame: Option<Vec<u8>>,
    is_whole: bool,
    /// Records written.
    pub records: u64,
}

/// Uncompressed bytes per zstd frame, which is also the memory that a reader needs.
const FRAME: usize = 4 << 20;

impl Sink {
    /// # Errors
    /// Fails if the file exists and `force` is not set, is not a regular file, is being written by
    /// another run, or cannot be created.
    pub fn create(path: &Path, force: bool) -> Result<Sink, DataError> {
        if path.exists() {
            is_file(path)?;
            if !force {
                return Err(DataError::Exists { path: path.to_owned() });
            }
        }
        let partial = partial(path);
        if partial.exists() {
            is_file(&partial)?;
        }
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(&partial);
        let file = file.map_err(DataError::io(&partial, "create it"))?;
        let is_mine = match journal::lock(&file) {
            // A previous run may have renamed the file since it was opened.
            Ok(()) => same_file(&file, &partial).map_err(DataError::io(&partial, "read it"))?,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(error)) => return Err(DataError::io(&partial, "lock it")(error)),
        };
        if !is_mine {
            return Err(DataError::Busy { path: path.to_owned() });
        }
        // Remove the remains of a killed run.
        file.set_len(0).map_err(DataError::io(&partial, "write to it"))?;
        let frame = path.extension().is_some_and(|extension| extension == "zst").then(Vec::new);
        let file = BufWriter::with_capacity(1 << 20, file);
        Ok(Sink { path: path.to_owned(), partial, file, frame, is_whole: false, records: 0 })
    }

    /// # Errors
    /// Fails if the file cannot be written.
    pub fn put(&mut self, record: &[u8]) -> Result<(), DataError> {
        self.records += 1;
        let Some(frame) = &mut self.frame else {
            return self.file.write_all(record).map_err(DataError::io(&self.partial, "write to it"));
        };
        frame.extend_from_slice(record);
        if frame.len() < FRAME { Ok(()) } else { self.pack() }
    }

    /// Compresses and writes the pending frame if the file is compressed.
    fn pack(&mut self) -> Result<(), DataError> {
        let Some(frame) = &mut self.frame else { return Ok(()) };
        let packed = compress_to_vec(&frame[..], CompressionLevel::Fastest);
        frame.clear();
        self.file.write_all(&packed).map_err(DataError::io(&self.partial, "write to it"))
    }

    /// Completes the file and gives it its final name. Returns the number of records.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn finish(mut self) -> Result<u64, DataError> {
        self.pack()?;
        self.file.flush().map_err(DataError::io(&self.partial, "write to it"))?;
        self.file.get_ref().sync_data().map_err(DataError::io(&self.partial, "write to it"))?;
        fs::rename(&self.partial, &self.path).map_err(DataError::io(&self.path, "create it"))?;
        self.is_whole = true;
        Ok(self.records)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        if !self.is_whole {
            // The error has been reported already, and the next run with this output starts over.
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Returns the temporary name of a file until it is complete.
pub fn partial(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".partial");
    PathBuf::from(name)
}

/// # Errors
/// Fails for devices, pipes and folders, which must not be replaced.
pub fn is_file(path: &Path) -> Result<(), DataError> {
    let data = path.metadata().map_err(DataError::io(path, "read it"))?;
    if data.is_file() { Ok(()) } else { Err(DataError::NoFile { path: path.to_owned() }) }
}

fn same_file(file: &File, path: &Path) -> io::Result<bool> {
    let id = |data: fs::Metadata| (data.dev(), data.ino());
    match path.metadata() {
        Ok(there) => Ok(id(there) == id(file.metadata()?)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
