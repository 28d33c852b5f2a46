//! Standard error of engines on workers, written beside that of the run's own engines.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use crate::plan::Plan;
use crate::record::PlayerId;
use crate::schedule::{STDERR_CAP, stderr_file};
use crate::text::is_user_name;
use crate::tournament::events::SlotId;

/// Maximum number of files of a run. Later ones are left out.
const MOST_FILES: usize = 4_096;

/// Maximum number of files of one worker, over all its lives.
const MOST_OF_ONE: usize = 1_024;

/// Maximum number of slots of a worker whose logs are kept.
const MOST_SLOTS: u16 = 1_024;

/// Maximum size of a worker's name in bytes.
const MOST_NAME: usize = 64;

/// A piece of an engine's standard error on a worker.
#[derive(Clone, Debug)]
pub struct LogChunk {
    /// Life of the worker, whose files begin again with each.
    pub session: String,
    /// Name of the worker.
    pub worker: String,
    /// Player of the engine.
    pub player: PlayerId,
    /// Slot of the worker.
    pub slot: SlotId,
    /// Place of the first byte in the worker's file.
    pub from: u64,
    /// Place after the last byte.
    pub to: u64,
    /// Text of the piece.
    pub text: String,
}

/// Ends of what was written, by session, player and slot.
#[derive(Debug, Default)]
pub(super) struct RemoteLogs {
    ends: BTreeMap<(String, u16, u16), u64>,
    /// Number of files by worker.
    of_worker: BTreeMap<String, usize>,
}

impl LogChunk {
    /// Text after the first `end` bytes of the output. A worker sends a piece again if it was not
    /// answered, with more behind it.
    fn after(&self, end: u64) -> &str {
        if end <= self.from {
            return &self.text;
        }
        let (all, new) = (self.to.saturating_sub(self.from), self.to.saturating_sub(end));
        // An unreadable byte became three.
        let most = if self.text.len() as u64 == all { new } else { 3 * new };
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let begin = self.text.len().saturating_sub(most);
        let begin = (begin..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(self.text.len());
        &self.text[begin..]
    }
}

impl RemoteLogs {
    /// Appends a chunk to its file in `dir`. One that cannot be, came before, or is beyond a bound
    /// is left out: no game depends on it.
    pub(super) fn append(&mut self, chunk: &LogChunk, dir: &Path, plan: &Plan) {
        let Some(player) = plan.players.get(usize::from(chunk.player.0)) else { return };
        let is_named = is_user_name(&chunk.worker, MOST_NAME);
        // An unreadable byte becomes three.
        let fits = chunk.to <= 2 * STDERR_CAP && chunk.text.len() as u64 <= 3 * chunk.to.saturating_sub(chunk.from);
        if !is_named || !fits || chunk.slot.0 >= MOST_SLOTS {
            return;
        }
        let key = (chunk.session.clone(), chunk.player.0, chunk.slot.0);
        let is_known = self.ends.contains_key(&key);
        let of_worker = self.of_worker.entry(chunk.worker.clone()).or_default();
        if !is_known && *of_worker >= MOST_OF_ONE {
            return;
        }
        *of_worker += usize::from(!is_known);
        let end = self.ends.get(&key).copied().unwrap_or(0);
        if chunk.to <= end || !is_known && self.ends.len() >= MOST_FILES {
            return;
        }
        self.ends.insert(key, chunk.to);
        let path = dir.join(stderr_file(player, Some(&chunk.worker), chunk.slot));
        let file = OpenOptions::new().create(true).append(true).open(path);
        let _ = file.and_then(|mut file| file.write_all(chunk.after(end).as_bytes()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::file;

    fn chunk(worker: &str, from: u64, text: &str) -> LogChunk {
        LogChunk {
            session: format!("{worker}-1"),
            worker: worker.to_owned(),
            player: PlayerId(0),
            slot: SlotId(0),
            from,
            to: from + text.len() as u64,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_chunk_is_written_once_and_only_into_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        let mut logs = RemoteLogs::default();
        for one in [
            chunk("box", 0, "one\n"),
            chunk("box", 0, "one\n"),
            // Its first half came before, and was not answered.
            chunk("box", 0, "one\ntwo\n"),
            // A new life of the worker.
            LogChunk { session: "box-2".to_owned(), ..chunk("box", 0, "three\n") },
            chunk("../box", 0, "out\n"),
            chunk("", 0, "out\n"),
            LogChunk { player: PlayerId(99), ..chunk("box", 8, "out\n") },
            LogChunk { slot: SlotId(MOST_SLOTS), ..chunk("box", 8, "out\n") },
            LogChunk { to: 9, ..chunk("box", 8, "far longer than it says\n") },
            chunk("box", 2 * STDERR_CAP, "out\n"),
        ] {
            logs.append(&one, folder.path(), &plan);
        }
        let files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(files, [folder.path().join(stderr_file(&plan.players[0], Some("box"), SlotId(0)))]);
        assert_eq!(std::fs::read_to_string(&files[0]).unwrap(), "one\ntwo\nthree\n");
    }

    /// A worker that begins lives without end leaves room for the logs of others.
    #[test]
    fn the_files_of_a_worker_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        let mut logs = RemoteLogs::default();
        for life in 0..2 * MOST_OF_ONE {
            let session = format!("box-{life}");
            logs.append(&LogChunk { session, ..chunk("box", 0, "x") }, folder.path(), &plan);
        }
        logs.append(&chunk("other", 0, "x"), folder.path(), &plan);
        assert_eq!(logs.ends.len(), MOST_OF_ONE + 1);
    }
}
