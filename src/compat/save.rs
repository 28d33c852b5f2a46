//! Observer that keeps `config.json` up to date.

use std::path::PathBuf;

use super::config::ConfigFile;
use crate::compat::console::Scores;
use crate::files::write_atomically;
use crate::record::PlayerId;
use crate::tournament::events::{Observer, RunEvent};

/// Writes the file every few games and when the run closes.
pub(super) struct Saver {
    path: PathBuf,
    file: ConfigFile,
    names: Vec<String>,
    /// Games between two saves; `None` for only the last save.
    every: Option<u64>,
    games: u64,
    scores: Scores,
}

impl Saver {
    pub(super) fn new(path: PathBuf, file: ConfigFile, names: Vec<String>, every: Option<u64>) -> Self {
        Self { path, file, names, every, games: 0, scores: Scores::default() }
    }

    /// Continues from the counted games of earlier processes.
    pub(super) fn resume(&mut self, counted: Scores) {
        self.scores = counted;
    }

    pub(super) fn save(&mut self) {
        for (second, opponent) in self.names.iter().enumerate() {
            for (first, name) in self.names.iter().enumerate().take(second) {
                let [low, high] = [first, second].map(|place| PlayerId(u16::try_from(place).unwrap_or(u16::MAX)));
                self.file.set_stats(name, opponent, &self.scores.between(low, high));
            }
        }
        // A failed write loses no game, because the journal has them all.
        if let Err(error) = write_atomically(&self.path, self.file.to_json().as_bytes()) {
            tracing::warn!("{}: {error}", self.path.display());
        }
    }
}

impl Observer for Saver {
    fn observe(&mut self, event: RunEvent<'_>) {
        match event {
            RunEvent::PairCounted { games, .. } => self.scores.record(games),
            RunEvent::GameEnded { .. } => {
                self.games += 1;
                if self.every.is_some_and(|every| self.games.is_multiple_of(every)) {
                    self.save();
                }
            }
            RunEvent::Closed { .. } => self.save(),
            _ => {}
        }
    }
}
