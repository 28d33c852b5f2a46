//! Standard error of an engine: a capped file, created at the first byte, and the last bytes for
//! messages.
//!
//! The file is written between searches, because a slow disk must not delay the thread that times
//! moves.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use super::Engine;
use super::config::quote;

/// Destination of an engine's standard error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StderrSink {
    /// File to append to; `None` keeps only the last 8 KiB in memory.
    pub path: Option<PathBuf>,
    /// Maximum length of the file in bytes; the rest is discarded.
    pub cap_bytes: u64,
}

impl Default for StderrSink {
    fn default() -> Self {
        Self { path: None, cap_bytes: 1 << 20 }
    }
}

/// State of the log of one process.
#[derive(Debug)]
pub(super) struct StderrLog {
    sink: StderrSink,
    file: Option<File>,
    written: u64,
    /// Bytes not yet written, at most the cap.
    pending: Vec<u8>,
    tail: VecDeque<u8>,
}

impl StderrLog {
    const TAIL: usize = 8 * 1024;

    pub(super) fn new(sink: StderrSink) -> Self {
        Self { sink, file: None, written: 0, pending: Vec::new(), tail: VecDeque::new() }
    }

    /// Keeps bytes in memory until [`flush`](Self::flush).
    pub(super) fn push(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(Self::TAIL)..];
        let excess = (self.tail.len() + kept.len()).saturating_sub(Self::TAIL);
        self.tail.drain(..excess.min(self.tail.len()));
        self.tail.extend(kept);
        if self.sink.path.is_some() {
            let room = usize::try_from(self.sink.cap_bytes).unwrap_or(usize::MAX) - self.pending.len();
            self.pending.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// Appends the bytes since the last call to the file. No clock may be running.
    pub(super) fn flush(&mut self) {
        if !self.pending.is_empty() {
            let pending = std::mem::take(&mut self.pending);
            self.write(&pending);
        }
    }

    /// Writes to the file. Ends the log at the first failure, because that must not lose a game.
    fn write(&mut self, bytes: &[u8]) {
        let Some(path) = self.sink.path.as_ref().filter(|_| self.written < self.sink.cap_bytes) else { return };
        if self.file.is_none() {
            self.file = OpenOptions::new().create(true).append(true).open(path).ok();
            // Earlier processes may have written to it.
            let about = self.file.as_ref().and_then(|file| file.metadata().ok());
            self.written = about.map_or(0, |about| about.len());
        }
        let left = self.sink.cap_bytes.saturating_sub(self.written);
        if left == 0 {
            self.file = None;
            return;
        }
        let count = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        let done = self.file.as_mut().is_some_and(|file| file.write_all(&bytes[..count]).is_ok());
        self.written = if done { self.written + count as u64 } else { u64::MAX };
        if done && self.written >= self.sink.cap_bytes {
            let file = self.file.as_mut().expect("it was just written to");
            // The note is optional, so an error is ignored.
            let _ = writeln!(file, "\n(the rest is not kept: the cap is {} bytes)", self.sink.cap_bytes);
        }
        if self.written >= self.sink.cap_bytes {
            self.file = None;
        }
    }

    /// Returns the last bytes as text.
    pub(super) fn tail(&self) -> String {
        let (front, back) = self.tail.as_slices();
        String::from_utf8_lossy(&[front, back].concat()).into_owned()
    }

    /// Returns the last lines as one line for a message; empty if there are none.
    pub(super) fn last_words(&self) -> String {
        const LINES: usize = 3;
        const LONGEST: usize = 200;
        let tail = self.tail();
        let lines: Vec<&str> = tail.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        let last = lines[lines.len().saturating_sub(LINES)..].join(" | ");
        let skip = last.chars().count().saturating_sub(LONGEST);
        last.chars().skip(skip).map(|c| if c.is_control() { ' ' } else { c }).collect()
    }
}

impl Drop for StderrLog {
    fn drop(&mut self) {
        self.flush();
    }
}

impl Engine {
    /// Last 8 KiB of its standard error.
    #[must_use]
    pub fn stderr_tail(&self) -> String {
        self.process.pipes.log.tail()
    }

    /// Last lines of its standard error for the end of a message: `; it said: ...`, or nothing.
    #[must_use]
    pub fn last_words(&self) -> String {
        quote(&self.process.pipes.log.last_words())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_capped_and_its_end_quoted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine.log");
        let mut log = StderrLog::new(StderrSink { path: Some(path.clone()), cap_bytes: 10_000 });
        assert_eq!(log.last_words(), "");
        assert!(!path.exists());
        for i in 0..3000 {
            log.push(format!("line {i}\n").as_bytes());
            if i % 7 == 0 {
                log.flush();
            }
        }
        log.push(b"panicked:\x1b here\n\n");
        log.flush();
        let kept = std::fs::read_to_string(&path).unwrap();
        assert!(kept.starts_with("line 0\nline 1\n"));
        assert!(kept.ends_with("(the rest is not kept: the cap is 10000 bytes)\n"), "{kept}");
        assert!(kept.len() < 10_100);
        assert!(log.tail().len() <= StderrLog::TAIL);
        assert_eq!(log.last_words(), "line 2998 | line 2999 | panicked:  here");
    }

    #[test]
    fn the_file_is_written_between_searches_and_at_the_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engine.log");
        let read = || std::fs::read_to_string(&path).unwrap();
        for cap_bytes in [20, 12] {
            let mut log = StderrLog::new(StderrSink { path: Some(path.clone()), cap_bytes });
            log.push(b"one ");
            assert!(!path.exists());
            log.flush();
            log.push(b"two ");
            log.push(b"three");
            assert_eq!((read().as_str(), log.last_words().as_str()), ("one ", "one two three"));
            drop(log);
            let note = if cap_bytes == 12 { "\n(the rest is not kept: the cap is 12 bytes)\n" } else { "e" };
            assert_eq!(read(), format!("one two thre{note}"));
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_log_that_can_not_be_written_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = StderrLog::new(StderrSink { path: Some(folder.path().to_owned()), cap_bytes: 10 });
        log.push(b"hello");
        log.flush();
        log.push(b" world");
        log.flush();
        assert_eq!(log.last_words(), "hello world");
    }
}
