//! Lines of a journal as bytes, read with a bound on their length.

use std::io::{self, BufRead};

/// Bytes kept of the longest line. No game comes near it.
pub(crate) const LONGEST: usize = 64 << 20;

/// Reader of a journal, one line at a time.
pub(super) struct JournalLines<R> {
    reader: R,
    /// Last line read, its line feed included; of an overlong line the beginning.
    pub(super) line: Vec<u8>,
    /// Number of that line, from 1.
    pub(super) number: u64,
}

impl<R: BufRead> JournalLines<R> {
    pub(super) const fn new(reader: R) -> Self {
        Self { reader, line: Vec::new(), number: 0 }
    }

    /// Reads the next line; returns its length in bytes, 0 at the end.
    pub(super) fn advance(&mut self) -> io::Result<u64> {
        self.line.clear();
        let mut length = 0;
        loop {
            let held = match self.reader.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                held => held?,
            };
            let end = held.iter().position(|byte| *byte == b'\n').map(|at| at + 1);
            let count = end.unwrap_or(held.len());
            let room = LONGEST.saturating_sub(self.line.len());
            self.line.extend_from_slice(&held[..count.min(room)]);
            self.reader.consume(count);
            length += count as u64;
            if end.is_some() || count == 0 {
                self.number += u64::from(length > 0);
                return Ok(length);
            }
        }
    }

    /// True if the line consists of NULs and line ends alone, as a power cut leaves bytes that were
    /// never written.
    pub(super) fn is_void(&self) -> bool {
        self.line.iter().all(|byte| matches!(byte, 0 | b'\n' | b'\r'))
    }
}
