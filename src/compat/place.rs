//! Where the journal of a tournament lies: `config.json.run` beside `config.json`.
//!
//! A new tournament takes the place of the last one that ended there, as its `config.json` does. Where that one is still being
//! played (frameworks start several at once in one folder) it goes to `config.json.run-2`, and so on.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::files::open_regular;
use crate::journal;
use crate::run::error::{Result, Within as _};

/// A run's place that nobody else takes as long as this lives.
pub(super) struct Claim {
    /// Where the run goes.
    pub(super) root: PathBuf,
    /// Held until the run's own lock stands.
    _gate: File,
}

/// Finds a place for a new run and clears it.
pub(super) fn claim(config: &Path) -> Result<Claim> {
    let folder = match config.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = std::path::absolute(folder)?;
    let gate = File::open(&folder).within(|| format!("{}: cannot be opened", folder.display()))?;
    // One process at a time looks around; it holds this no longer than it takes to begin a run.
    gate.lock().within(|| format!("{}: cannot be locked", folder.display()))?;
    let name = config.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 1u32.. {
        let root = folder.join(if number == 1 { format!("{name}.run") } else { format!("{name}.run-{number}") });
        if is_free(&root)? {
            if root.exists() {
                std::fs::remove_dir_all(&root).within(|| format!("{}: cannot be cleared", root.display()))?;
            }
            return Ok(Claim { root, _gate: gate });
        }
    }
    unreachable!("a folder has no four billion runs at once")
}

/// Whether a run may take this place: nothing is there, or a run that nobody plays.
fn is_free(root: &Path) -> Result<bool> {
    if root.symlink_metadata().is_err() {
        return Ok(true);
    }
    let path = root.join(journal::FILE_NAME);
    // What is there and is no run is not ours to clear.
    let Ok(file) = open_regular(&path) else { return Ok(false) };
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error).within(|| format!("{}: cannot be locked", path.display())),
    }
}
