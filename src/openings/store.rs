//! Text of a checked book, one opening a line: in memory if it is small, in an unlinked temporary
//! file if it is large.
//!
//! The file is the book's own copy, so no process can change an opening during a run, and it
//! vanishes with this process. Four bytes an opening stay in memory.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::sync::{Mutex, PoisonError};

/// The most bytes of text that stay in memory.
const MOST_IN_MEMORY: usize = 8 << 20;

/// The most bytes buffered in memory for the file.
const MOST_BUFFERED: usize = 256 << 10;

/// The longest line, in bytes.
pub(super) const LONGEST_LINE: usize = 64 << 10;

/// The most openings: their offsets fill 64 MiB.
const MOST_OPENINGS: usize = 16 << 20;

/// Reason that a line was not stored.
#[derive(Debug)]
pub(super) enum StoreError {
    /// More text than 32-bit offsets address, or more than [`MOST_OPENINGS`].
    TooLarge,
    /// The temporary file could not be written.
    Write(io::Error),
}

/// A book's text during reading.
pub(super) struct Store {
    most_in_memory: usize,
    memory: Vec<u8>,
    file: Option<File>,
    /// Bytes in the file.
    filed: u64,
    offsets: Vec<u32>,
}

impl Store {
    pub(super) const fn new() -> Self {
        Self { most_in_memory: MOST_IN_MEMORY, memory: Vec::new(), file: None, filed: 0, offsets: Vec::new() }
    }

    /// Adds text with openings at `begins`, counted from the beginning of `text`.
    pub(super) fn add(&mut self, text: &[u8], begins: impl IntoIterator<Item = u32>) -> Result<(), StoreError> {
        let base = self.filed + self.memory.len() as u64;
        if u32::try_from(base + text.len() as u64).is_err() {
            return Err(StoreError::TooLarge);
        }
        let base = u32::try_from(base).map_err(|_| StoreError::TooLarge)?;
        self.offsets.extend(begins.into_iter().map(|begin| base.saturating_add(begin)));
        if self.offsets.len() > MOST_OPENINGS {
            return Err(StoreError::TooLarge);
        }
        let buffered = self.most_in_memory.min(MOST_BUFFERED);
        let most = if self.file.is_some() { buffered } else { self.most_in_memory };
        if self.memory.len() + text.len() > most {
            self.spill().map_err(StoreError::Write)?;
        }
        match &mut self.file {
            // No text is left in memory that belongs before it.
            Some(file) if text.len() > buffered => {
                file.write_all(text).map_err(StoreError::Write)?;
                self.filed += text.len() as u64;
            }
            _ => self.memory.extend_from_slice(text),
        }
        Ok(())
    }

    /// Moves the text in memory to the file. If there is no folder for temporary files, the text
    /// stays in memory.
    fn spill(&mut self) -> io::Result<()> {
        if self.file.is_none() {
            match tempfile::tempfile() {
                Ok(file) => self.file = Some(file),
                Err(error) => {
                    tracing::debug!("no temporary file for the book: {error}");
                    self.most_in_memory = usize::MAX;
                }
            }
        }
        if let Some(file) = &mut self.file {
            file.write_all(&self.memory)?;
            self.filed += self.memory.len() as u64;
            // The buffer's memory is released.
            self.memory = Vec::new();
        }
        Ok(())
    }

    /// The finished text.
    pub(super) fn finish(mut self) -> Result<StoredLines, StoreError> {
        if self.file.is_some() {
            self.spill().map_err(StoreError::Write)?;
        }
        self.memory.shrink_to_fit();
        self.offsets.shrink_to_fit();
        let text = match self.file {
            Some(file) => Text::File(Mutex::new(file), self.filed),
            None => Text::Memory(self.memory),
        };
        Ok(StoredLines { text, offsets: self.offsets })
    }
}

/// Lines by their number.
pub(super) struct StoredLines {
    text: Text,
    /// Offset of the first byte of each line.
    offsets: Vec<u32>,
}

enum Text {
    Memory(Vec<u8>),
    /// The file and its length.
    File(Mutex<File>, u64),
}

impl StoredLines {
    pub(super) const fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Line without its end; `None` beyond the last.
    ///
    /// # Errors
    /// Returns an error if the temporary file cannot be read.
    pub(super) fn line(&self, index: usize) -> io::Result<Option<Vec<u8>>> {
        let Some(&begin) = self.offsets.get(index) else { return Ok(None) };
        let mut line = match &self.text {
            Text::Memory(text) => {
                let rest = text.get(begin as usize..).unwrap_or_default();
                return Ok(rest.split(|byte| *byte == b'\n').next().map(<[u8]>::to_vec));
            }
            Text::File(file, len) => {
                let end = self.offsets.get(index + 1).map_or(*len, |next| u64::from(*next));
                let bytes = end.saturating_sub(begin.into()).min(LONGEST_LINE as u64 + 1);
                let mut line = vec![0; bytes as usize];
                let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
                file.seek(SeekFrom::Start(begin.into()))?;
                file.read_exact(&mut line)?;
                line
            }
        };
        let end = line.iter().position(|byte| *byte == b'\n').unwrap_or(line.len());
        line.truncate(end);
        Ok(Some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Memory and file hold the same lines, for any sizes of the pieces.
    #[test]
    fn a_file_is_as_good_as_memory() {
        let lines: Vec<String> = (0..1000).map(|number| format!("line {number}")).collect();
        for (most, piece) in [(usize::MAX, 7), (1, 1), (50, 3), (50, 40), (4000, 10), (4000, 999), (600, 0)] {
            let mut store = Store { most_in_memory: most, ..Store::new() };
            // Pieces of one size, or small and large ones in turns.
            let mut rest = lines.as_slice();
            for turn in 0.. {
                let size = if piece > 0 { piece } else { [1, 30, 7][turn % 3] };
                let (lines, after) = rest.split_at(size.min(rest.len()));
                rest = after;
                if lines.is_empty() {
                    break;
                }
                let text = lines.join("\n") + "\n# no opening\n";
                let begins = lines.iter().scan(0, |at, line| {
                    let begin = *at;
                    *at += line.len() as u32 + 1;
                    Some(begin)
                });
                store.add(text.as_bytes(), begins).expect("stored");
            }
            let stored = store.finish().expect("stored");
            assert_eq!(matches!(stored.text, Text::File(..)), most != usize::MAX, "{most}");
            assert_eq!(stored.len(), lines.len());
            for (index, line) in lines.iter().enumerate().rev() {
                let read = stored.line(index).expect("readable");
                assert_eq!(read.as_deref(), Some(line.as_bytes()), "{most} {piece}");
            }
            assert_eq!(stored.line(lines.len()).expect("readable"), None);
        }
    }

    /// A file that lost its end is an error, not the end of the book.
    #[test]
    fn a_file_that_cannot_be_read_is_an_error() {
        let mut store = Store { most_in_memory: 1, ..Store::new() };
        store.add(b"first\nsecond\n", [0, 6]).expect("stored");
        let stored = store.finish().expect("stored");
        let Text::File(file, _) = &stored.text else { panic!("in memory") };
        file.lock().expect("sound").set_len(6).expect("cut");
        assert_eq!(stored.line(0).expect("readable").as_deref(), Some(b"first".as_slice()));
        assert_eq!(stored.line(1).expect_err("cut").kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(stored.line(2).expect("readable"), None);
    }

    #[test]
    fn offsets_have_an_end() {
        let mut store = Store { filed: u64::from(u32::MAX) - 10, ..Store::new() };
        store.add(b"0123456789", [0]).expect("fits");
        assert!(matches!(store.add(b"0", [0]), Err(StoreError::TooLarge)));
        let mut store = Store { offsets: vec![0; MOST_OPENINGS], ..Store::new() };
        assert!(matches!(store.add(b"0", [0]), Err(StoreError::TooLarge)));
    }
}
