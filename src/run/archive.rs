//! Archives of runs: a run directory, or a folder with runs below it such as a tuning's, with its
//! journals packed and its small files, for Git.
//!
//! Games, pages and pictures that a command makes again are left out.

use std::path::{Path, PathBuf};

use crate::journal;
use crate::journal::archive::{self, ARCHIVE_NAME, ArchiveReport, Detail};
use crate::plan::file;
use crate::report::crashes;
use crate::run::dir::{Place, RunDir, SCRATCH, STDERR};
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::stamp;

/// Endings of the files that are copied. `games.jsonl` is packed, and the other games, pages and
/// pictures follow from it.
const COPIED: [&str; 4] = ["csv", "json", "toml", "txt"];

/// Folders that are not looked into.
const LEFT_OUT: [&str; 2] = [STDERR, ".git"];

/// Longest file that is copied, in bytes.
const MOST_COPIED_BYTES: u64 = 1 << 20;

/// Number of folders below the archived one that may have runs.
const DEPTH: u32 = 3;

/// Archive that was written, or run that was made of one.
#[derive(Debug)]
pub(crate) struct ArchiveResult {
    /// Its directory.
    pub(crate) root: PathBuf,
    /// Sum over its runs.
    pub(crate) report: ArchiveReport,
    /// Files that were left out because they are too long.
    pub(crate) left_out: Vec<PathBuf>,
    /// Archives that were not packed again, or runs that are none.
    pub(crate) passed_over: u64,
}

/// Direction of a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CopyDirection {
    /// Journals become archives with this detail.
    Pack(Detail),
    /// Archives become journals, to which games can be added.
    Unpack,
}

/// Copies a run directory, or a folder of runs, to `place`. The copy appears whole or not at all.
/// The original stays.
///
/// # Errors
/// Returns an error if there is no run, if a journal or archive is damaged, or if the copy cannot
/// be written.
pub(crate) fn copy(from: &Path, place: &Place, direction: CopyDirection) -> Result<ArchiveResult> {
    place.check()?;
    let report = ArchiveReport { games: 0, journal_bytes: 0, archive_bytes: 0 };
    let mut archived = ArchiveResult { root: PathBuf::new(), report, left_out: Vec::new(), passed_over: 0 };
    let scratch = place.scratch()?;
    let runs = folder(from, scratch.path(), direction, DEPTH, &mut archived)?;
    if runs == 0 && direction != CopyDirection::Unpack && archive::is_archived(from) {
        fail!(Setting, "{}: it is an archive already; --unpack makes a run of it", from.display());
    }
    if runs == 0 {
        let name = if direction == CopyDirection::Unpack { ARCHIVE_NAME } else { journal::FILE_NAME };
        fail!(Setting, "{}: no run there: no folder has {} and {name}", from.display(), file::FILE_NAME);
    }
    archived.root = place.take(scratch)?;
    Ok(archived)
}

/// Copies a folder and those below it. Returns the number of runs.
fn folder(from: &Path, to: &Path, direction: CopyDirection, depth: u32, archived: &mut ArchiveResult) -> Result<u32> {
    let unreadable = |path: &Path| format!("{}: cannot read it", path.display());
    // A run of the other kind is not half copied.
    let is_run = from.join(file::FILE_NAME).is_file() && archive::stored_name(from).is_some();
    if is_run && archive::is_archived(from) != (direction == CopyDirection::Unpack) {
        archived.passed_over += 1;
        return Ok(0);
    }
    let mut runs = u32::from(games(from, to, direction, archived)?);
    for entry in std::fs::read_dir(from).within(|| unreadable(from))? {
        let entry = entry.within(|| unreadable(from))?;
        let (path, below) = (entry.path(), to.join(entry.file_name()));
        // Links are not followed, because a file elsewhere is not part of the run.
        let kind = entry.file_type().within(|| unreadable(&path))?;
        let name = entry.file_name();
        // The copy itself may be written below the original.
        let is_left_out = LEFT_OUT.iter().any(|other| name == *other) || name.to_string_lossy().starts_with(SCRATCH);
        if kind.is_dir() && depth > 0 && !is_left_out {
            std::fs::create_dir(&below).within(|| format!("{}: cannot create it", below.display()))?;
            runs += folder(&path, &below, direction, depth - 1, archived)?;
            // Fails if there is something in it.
            let _ = std::fs::remove_dir(&below);
        } else if kind.is_file() && is_copied(&path) {
            one_file(&path, &below, archived)?;
        }
    }
    Ok(runs)
}

/// Returns true if a file is copied as it is. The stamp lets its user continue an unpacked run
/// without permission, and tells others nothing.
fn is_copied(path: &Path) -> bool {
    if path.file_name().is_some_and(|name| name == stamp::FILE_NAME) {
        return true;
    }
    let ending = path.extension().and_then(std::ffi::OsStr::to_str);
    // Evidence of crashes is copied whole.
    let is_evidence = || path.components().any(|part| part.as_os_str() == crashes::FOLDER);
    ending.is_some_and(|ending| COPIED.contains(&ending)) || is_evidence()
}

fn one_file(from: &Path, to: &Path, archived: &mut ArchiveResult) -> Result<()> {
    let length = from.metadata().map_or(0, |about| about.len());
    if length > MOST_COPIED_BYTES {
        archived.left_out.push(from.to_owned());
        return Ok(());
    }
    std::fs::copy(from, to).within(|| format!("{}: cannot copy it to {}", from.display(), to.display()))?;
    Ok(())
}

/// Packs or unpacks the games of a run directory; false if the folder is not one.
fn games(from: &Path, to: &Path, direction: CopyDirection, archived: &mut ArchiveResult) -> Result<bool> {
    let (journal, packed) = (from.join(journal::FILE_NAME), from.join(ARCHIVE_NAME));
    let source = if direction == CopyDirection::Unpack { &packed } else { &journal };
    if !from.join(file::FILE_NAME).is_file() || !source.is_file() {
        return Ok(false);
    }
    let (dir, plan) = RunDir::open(from)?;
    let expected = dir.expected(&plan);
    match direction {
        CopyDirection::Pack(detail) => {
            let report = archive::pack(&journal, &to.join(ARCHIVE_NAME), &expected, detail)?;
            archived.report.games += report.games;
            archived.report.journal_bytes += report.journal_bytes;
            archived.report.archive_bytes += report.archive_bytes;
        }
        CopyDirection::Unpack => {
            archived.report.games += archive::unpack(&packed, &to.join(journal::FILE_NAME), &expected)?
        }
    }
    Ok(true)
}
