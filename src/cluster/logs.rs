//! Engines' standard error on a worker, on its way to the run's folder.
//!
//! A chunk names its place in the worker's file, so that one that comes twice is written once.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::Plan;
use crate::record::PlayerId;
use crate::schedule::remote_logs::LogChunk;
use crate::schedule::stderr_file;
use crate::tournament::events::SlotId;

/// Maximum size of logs in one message in bytes.
const MOST_NEWS: u64 = 64 << 10;

/// A piece of the standard error of the engines that one player had on one slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct WireLog {
    player: u16,
    slot: u16,
    /// Place of the first byte in the worker's file, and that after the last.
    from: u64,
    to: u64,
    text: String,
}

impl WireLog {
    /// The chunk as sent by a session.
    pub(super) fn chunk(self, session: &str, worker: &str) -> LogChunk {
        let Self { player, slot, from, to, text } = self;
        let (session, worker) = (session.to_owned(), worker.to_owned());
        LogChunk { session, worker, player: PlayerId(player), slot: SlotId(slot), from, to, text }
    }
}

/// Files that the slots of a worker write, and how much of them was sent.
#[derive(Debug, Default)]
pub(super) struct Logs {
    /// Logs by player and slot.
    files: BTreeMap<(u16, u16), (PathBuf, u64)>,
}

impl Logs {
    /// Adds the files of a slot, unless they are known.
    pub(super) fn watch(&mut self, plan: &Plan, slot: SlotId, dir: &std::path::Path) {
        for (place, player) in (0u16..).zip(&plan.players) {
            let file = || (dir.join(stderr_file(player, None, slot)), 0);
            self.files.entry((place, slot.0)).or_insert_with(file);
        }
    }

    /// Text that was not sent yet. A log that cannot be read is left out: no game depends on it.
    pub(super) fn news(&self) -> Vec<WireLog> {
        let mut left = MOST_NEWS;
        let mut news = Vec::new();
        for ((player, slot), (path, sent)) in &self.files {
            let mut bytes = Vec::new();
            let read = File::open(path).and_then(|mut file| {
                file.seek(SeekFrom::Start(*sent))?;
                file.take(left).read_to_end(&mut bytes)
            });
            if read.is_err() {
                continue;
            }
            cut_at_character(&mut bytes);
            if bytes.is_empty() {
                continue;
            }
            left -= bytes.len() as u64;
            let text = String::from_utf8_lossy(&bytes).into_owned();
            news.push(WireLog { player: *player, slot: *slot, from: *sent, to: sent + bytes.len() as u64, text });
        }
        news
    }

    /// Records that these were sent.
    pub(super) fn sent(&mut self, logs: &[WireLog]) {
        for log in logs {
            if let Some((_, sent)) = self.files.get_mut(&(log.player, log.slot)) {
                *sent = log.to.max(*sent);
            }
        }
    }
}

/// Removes the beginning of a character at the end, which comes with its rest. Other bytes that are
/// not UTF-8 stay.
fn cut_at_character(bytes: &mut Vec<u8>) {
    let begun = bytes.utf8_chunks().last().map_or(0, |chunk| {
        let invalid = chunk.invalid();
        let is_begun = std::str::from_utf8(invalid).is_err_and(|error| error.error_len().is_none());
        if is_begun { invalid.len() } else { 0 }
    });
    bytes.truncate(bytes.len() - begun);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn news_begin_where_the_last_ones_ended_and_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut logs = Logs { files: [((1, 0), (path.clone(), 0)), ((2, 3), (path.clone(), 0))].into() };
        assert!(logs.news().is_empty(), "no file yet");
        std::fs::write(&path, "first\n").unwrap();
        let first = logs.news();
        assert_eq!((first.len(), first[1].slot, first[0].text.as_str()), (2, 3, "first\n"));
        assert_eq!(logs.news()[0].from, 0, "they were not sent");
        logs.sent(&first[..1]);
        std::fs::write(&path, b"first\n\xffmore").unwrap();
        let next = logs.news();
        assert_eq!((next[0].from, next[0].to, next[0].text.as_str()), (6, 11, "\u{fffd}more"));
        assert_eq!(next[1].from, 0);
        logs.sent(&logs.news());
        std::fs::write(&path, b"first\n\xffmore, na\xc3").unwrap();
        let begun = logs.news();
        assert_eq!((begun[0].to, begun[0].text.as_str()), (15, ", na"), "half of a letter waits for the rest");
        logs.sent(&begun);
        assert!(logs.news().is_empty());
        std::fs::write(&path, b"first\n\xffmore, na\xc3\xafve").unwrap();
        assert_eq!(logs.news()[0].text, "\u{ef}ve");
        std::fs::write(&path, vec![b'x'; 1 << 20]).unwrap();
        let bytes: usize = logs.news().iter().map(|log| log.text.len()).sum();
        assert_eq!(bytes as u64, MOST_NEWS);
    }
}
