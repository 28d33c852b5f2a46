//! Directory of a tournament's journal: `config.json.run` beside `config.json`.
//!
//! A new tournament replaces one that ended there, as its `config.json` does; the last one
//! replaced stays in `config.json.run-before`. If the one there is still being played, the new one
//! goes to `config.json.run-2`, and so on. Frameworks start several at once in one folder.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use crate::files::open_regular;
use crate::journal;
use crate::os;
use crate::run::error::{Result, ResultContext as _, fail};

/// Directory reserved for one run while this value lives.
pub(super) struct DirectoryClaim {
    /// Directory of the run.
    pub(super) root: PathBuf,
    /// Lock on the parent folder, held until the run locks its journal.
    _gate: File,
}

impl DirectoryClaim {
    /// Clears the directory of an earlier run, which is kept beside it until the next one is.
    pub(super) fn clear(&self) -> Result<()> {
        if !self.root.exists() {
            return Ok(());
        }
        if !is_free(&self.root)? {
            fail!(OtherRun, "{}: its tournament was taken up meanwhile, and is being played", self.root.display());
        }
        let mut before = self.root.clone().into_os_string();
        before.push("-before");
        let before = first_free(Path::new(&before))?;
        if before.exists() {
            std::fs::remove_dir_all(&before).within(|| format!("{}: cannot be removed", before.display()))?;
        }
        std::fs::rename(&self.root, &before)
            .within(|| format!("{}: cannot be renamed to {}", self.root.display(), before.display()))
    }
}

/// Absolute folder of a file.
pub(super) fn folder_of(file: &Path) -> Result<PathBuf> {
    Ok(std::path::absolute(file)?.parent().unwrap_or(Path::new("/")).to_owned())
}

/// Finds a directory for a new run. It may hold an ended one until it is
/// [cleared](DirectoryClaim::clear).
pub(super) fn claim(config: &Path) -> Result<DirectoryClaim> {
    let folder = folder_of(config)?;
    if !folder.is_dir() {
        fail!(Setting, "{}: its folder does not exist; make it, or give the file another name", config.display());
    }
    // Only one process at a time looks for a directory. It holds the lock only until its run has
    // begun.
    let gate = os::lock_folder(&folder).within(|| format!("{}: cannot be locked", folder.display()))?;
    let name = config.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(DirectoryClaim { root: first_free(&folder.join(format!("{name}.run")))?, _gate: gate })
}

/// Returns the first directory that a run may use, of this name, the same with `-2`, and so on.
fn first_free(wanted: &Path) -> Result<PathBuf> {
    for number in 1u32.. {
        let mut name = wanted.as_os_str().to_owned();
        if number > 1 {
            name.push(format!("-{number}"));
        }
        if is_free(Path::new(&name))? {
            return Ok(name.into());
        }
    }
    unreachable!("a folder has no four billion runs at once")
}

/// True if a run may use this directory: it does not exist, or it holds a run that nobody plays.
fn is_free(root: &Path) -> Result<bool> {
    if root.symlink_metadata().is_err() {
        return Ok(true);
    }
    let path = root.join(journal::FILE_NAME);
    // Anything that is not a run must not be cleared.
    let Ok(file) = open_regular(&path) else { return Ok(false) };
    match os::try_lock(&file) {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error).within(|| format!("{}: cannot be locked", path.display())),
    }
}
