//! The results folder, with an index of its runs that is brought up to date on requests.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::report::stored::Index;

/// Age at which the index is brought up to date on a request.
const MAX_AGE: Duration = Duration::from_millis(500);

/// The results folder with its index, and the time of its last update.
#[derive(Debug)]
pub(super) struct ResultsStore {
    root: PathBuf,
    index: Mutex<(Option<Instant>, Arc<Index>)>,
}

impl ResultsStore {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, index: Mutex::default() }
    }

    /// The index, brought up to date. Blocks on the disk.
    pub(super) fn index(&self) -> Arc<Index> {
        // Held during the update, so that many requests at once cause one update.
        let mut held = self.index.lock().unwrap_or_else(PoisonError::into_inner);
        if held.0.is_none_or(|last| last.elapsed() >= MAX_AGE) {
            let index = Index::of(&self.root, &held.1);
            *held = (Some(Instant::now()), Arc::new(index));
        }
        Arc::clone(&held.1)
    }
}
