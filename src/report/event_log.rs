//! Event lines of a run, kept in its folder for those who look after its end.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::files::{inside, open_regular_with, read_text};
use crate::plan::Plan;
use crate::report::console::Viewer;
use crate::tournament::events::{Observer, RunEvent};

/// Name of the file in a run directory.
pub const FILE_NAME: &str = "events.txt";

/// Size in bytes at which no further line is kept.
const MOST_BYTES: u64 = 1 << 20;

/// Observer that appends the lines.
pub struct EventLog {
    path: PathBuf,
    viewer: Viewer,
    /// Bytes that may still be written.
    left: u64,
}

impl EventLog {
    /// Creates the observer of the run in `dir`. A run that is resumed keeps its lines.
    #[must_use]
    pub fn new(dir: &Path, plan: &Plan) -> Self {
        let path = dir.join(FILE_NAME);
        let kept = std::fs::metadata(&path).map_or(0, |about| about.len());
        Self { path, viewer: Viewer::new(plan), left: MOST_BYTES.saturating_sub(kept) }
    }

    fn append(&mut self, text: &str) -> std::io::Result<()> {
        let line = format!("{text}\n");
        let Some(left) = self.left.checked_sub(line.len() as u64) else {
            self.left = 0;
            return Ok(());
        };
        self.left = left;
        open_regular_with(OpenOptions::new().append(true).create(true), &self.path)?.write_all(line.as_bytes())
    }
}

impl Observer for EventLog {
    fn observe(&mut self, event: RunEvent<'_>) {
        if let Some(text) = self.viewer.line(&event)
            && let Err(error) = self.append(&text)
        {
            // Told once: a full disk stays full.
            if self.left > 0 {
                tracing::warn!("{}: {error}; later events are not kept", self.path.display());
            }
            self.left = 0;
        }
        if let RunEvent::Opened { scoreboard } = event {
            self.viewer.begin(scoreboard);
        }
    }
}

/// Last lines of the run in `dir`, at most `most`; none if it has no such file.
#[must_use]
pub fn read(dir: &Path, most: usize) -> Vec<String> {
    let text = inside(dir, FILE_NAME).and_then(|path| read_text(&path, MOST_BYTES).ok()).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(most)..].iter().map(ToString::to_string).collect()
}
