//! Games and positions into files.

use super::error::DataError;
use super::filter::Filter;
use super::format::Format;
use super::record::{Entry, Position, bullet_bytes};
use super::text;
use destrier::datagen::viriformat::NO_SCORE;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Turns entries into the records of a format: what can be shuffled, counted and dropped by itself.
#[derive(Debug, Clone)]
pub struct Encoder {
    format: Format,
    filter: Option<Filter>,
    bytes: Vec<u8>,
    line: String,
    /// Positions left out: they had no score, or the filter dropped them.
    pub dropped: u64,
    /// Positions written.
    pub positions: u64,
}

impl Encoder {
    /// # Errors
    /// The format holds whole games only, and a filter would tear them.
    pub fn new(path: &Path, format: Format, filter: Option<Filter>) -> Result<Encoder, DataError> {
        if filter.is_some() && matches!(format, Format::Viriformat | Format::SelfPlay | Format::Binpack) {
            let remedy = "filter into bulletformat, text or plain";
            return Err(DataError::Lacks {
                path: path.to_owned(),
                format: format.name(),
                what: "single positions",
                remedy,
            });
        }
        Ok(Encoder { format, filter, bytes: Vec::new(), line: String::new(), dropped: 0, positions: 0 })
    }

    /// Hands the records of an entry to `each`, with the position of those that are one.
    ///
    /// # Errors
    /// As `each`.
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

    fn encode_position<E>(
        &mut self,
        format: Format,
        position: &Position,
        each: &mut impl FnMut(Option<&Position>, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let lacks_move = format == Format::Plain && position.mv.is_null();
        if position.score == NO_SCORE || lacks_move || self.filter.is_some_and(|filter| !filter.keeps(position)) {
            self.dropped += 1;
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

/// A file being written under another name until it is whole.
#[derive(Debug)]
pub struct Sink {
    path: PathBuf,
    partial: PathBuf,
    file: BufWriter<File>,
    /// Records written.
    pub records: u64,
}

impl Sink {
    /// # Errors
    /// The file is there and not to be replaced, or the system says no.
    pub fn create(path: &Path, force: bool) -> Result<Sink, DataError> {
        if !force && path.exists() {
            return Err(DataError::Exists { path: path.to_owned() });
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let file = File::create(&partial).map_err(DataError::io(&partial, "create it"))?;
        Ok(Sink { path: path.to_owned(), partial, file: BufWriter::with_capacity(1 << 20, file), records: 0 })
    }

    /// # Errors
    /// The system says no.
    pub fn put(&mut self, record: &[u8]) -> Result<(), DataError> {
        self.records += 1;
        self.file.write_all(record).map_err(DataError::io(&self.partial, "write to it"))
    }

    /// Gives the file its name. Records written.
    ///
    /// # Errors
    /// The system says no.
    pub fn finish(mut self) -> Result<u64, DataError> {
        self.file.flush().map_err(DataError::io(&self.partial, "write to it"))?;
        self.file.get_ref().sync_data().map_err(DataError::io(&self.partial, "write to it"))?;
        fs::rename(&self.partial, &self.path).map_err(DataError::io(&self.path, "create it"))?;
        Ok(self.records)
    }
}
