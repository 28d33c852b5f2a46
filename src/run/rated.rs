//! Runs to rate in the folders that a user names.
//!
//! The sides of a tuning play trial values, so its proof is rated in its place. A search for a
//! commit, a curve of versions and a judgement of books keep their matches below their folders.

use std::path::{Path, PathBuf};

use crate::plan::{Plan, file};
use crate::run::dir::{MATCHES, RunDir};
use crate::run::error::{Result, fail};
use crate::run::progress;
use crate::run::series;
use crate::text::shell_path;

/// Reason that the games of a tuning are not rated.
const TRIAL_VALUES: &str = "its sides play trial values and have no rating";

/// Folder that cannot be rated as a run.
#[derive(Debug)]
struct UnratedFolder {
    /// Runs to rate in its place.
    runs: Vec<PathBuf>,
    /// Reason, with the remedy.
    reason: String,
}

impl UnratedFolder {
    /// Looks at a folder, which may have been opened as a run. Returns `None` for a run whose
    /// players can be rated, and for a folder that holds neither a tuning nor series of matches.
    fn of(root: &Path, opened: &Result<(RunDir, Plan)>) -> Option<Self> {
        if root.join(file::FILE_NAME).exists() {
            let is_tuning = opened.as_ref().is_ok_and(|(_, plan)| plan.format.tuning().is_some());
            let reason = || format!("a tuning; {TRIAL_VALUES}; {}", remedy_beside(root));
            return is_tuning.then(|| Self { runs: Vec::new(), reason: reason() });
        }
        if root.join(file::TUNING_SETTINGS).is_file() {
            let runs: Vec<PathBuf> = proof_of(root).into_iter().collect();
            let holds = if runs.is_empty() { "holds a tuning without a proof" } else { "holds a tuning" };
            return Some(Self { runs, reason: format!("{holds}; {TRIAL_VALUES}; {}", remedy_of(root)) });
        }
        let folders = series_in(root);
        let matches = match folders.as_slice() {
            [] => return None,
            [one] if one == root => format!("{}/*", shell_path(&root.join(MATCHES))),
            _ => format!("{}/*/{MATCHES}/*", shell_path(root)),
        };
        let runs: Vec<PathBuf> = folders.iter().flat_map(|one| series::runs_in(one).unwrap_or_default()).collect();
        let reason = if runs.is_empty() {
            "holds a series without a match; play it, or leave it out".to_owned()
        } else {
            format!("holds a series of matches; give {matches}")
        };
        Some(Self { runs, reason })
    }
}

/// Run directory of the proof in the folder of a tuning; `None` if it has none.
fn proof_of(tuning: &Path) -> Option<PathBuf> {
    let [_, proof] = file::TUNING_FOLDERS.map(|name| tuning.join(name));
    proof.join(file::FILE_NAME).is_file().then_some(proof)
}

/// Remedy for the folder of a tuning: its proof, or the command that plays one.
fn remedy_of(tuning: &Path) -> String {
    let tuning = if tuning.as_os_str().is_empty() { Path::new(".") } else { tuning };
    match proof_of(tuning) {
        Some(proof) => format!("give its proof, {}", proof.display()),
        None => format!(
            "the same `quintain tune` command with `--out {}` and without --no-prove plays a proof",
            shell_path(tuning)
        ),
    }
}

/// Remedy for the run directory of a tuning's games.
fn remedy_beside(games: &Path) -> String {
    let [name, _] = file::TUNING_FOLDERS;
    match games.parent() {
        Some(tuning) if games.ends_with(name) && tuning.join(file::TUNING_SETTINGS).is_file() => remedy_of(tuning),
        _ => "leave it out".to_owned(),
    }
}

/// Folder of a series, or those of several series: `root` itself, or all the folders in it.
fn series_in(root: &Path) -> Vec<PathBuf> {
    let is_series = |folder: &Path| folder.join(MATCHES).is_dir();
    if is_series(root) {
        return vec![root.to_owned()];
    }
    let entries = std::fs::read_dir(root).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    folders.sort();
    if folders.iter().all(|folder| is_series(folder)) { folders } else { Vec::new() }
}

/// Opens a run whose players can be rated.
///
/// # Errors
/// Those of [`RunDir::open`]; also an error for the folder of a tuning or of a series, which names
/// the runs to give in its place.
pub(crate) fn open(root: &Path) -> Result<(RunDir, Plan)> {
    let opened = RunDir::open(root);
    match UnratedFolder::of(root, &opened) {
        Some(UnratedFolder { reason, .. }) => fail!(Setting, "{}: {reason}", root.display()),
        None => opened,
    }
}

/// Puts the proof in the place of each folder of a tuning, and the matches in the place of each
/// folder of a series. A folder that has none of them is left out with a warning.
pub(crate) fn runs(folders: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut runs = Vec::with_capacity(folders.len());
    for root in folders {
        let Some(folder) = UnratedFolder::of(&root, &RunDir::open(&root)) else {
            runs.push(root);
            continue;
        };
        if folder.runs.is_empty() {
            progress::warn(&format!("left out: {}: {}", root.display(), folder.reason));
        }
        runs.extend(folder.runs);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder with empty files of these names.
    fn folder_of(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        folder
    }

    /// Names below the folder of the runs to rate in its place, and the reason.
    fn unrated(files: &[&str]) -> Option<(Vec<String>, String)> {
        let folder = folder_of(files);
        let found = UnratedFolder::of(folder.path(), &RunDir::open(folder.path()))?;
        let name = |run: &PathBuf| run.strip_prefix(folder.path()).unwrap().to_string_lossy().replace('\\', "/");
        Some((found.runs.iter().map(name).collect(), found.reason))
    }

    #[test]
    fn folders_stand_for_the_runs_below_them() {
        let cases: [(&[&str], &[&str], &str); 6] = [
            (&["tuning.toml", "tune/plan.toml", "prove/plan.toml"], &["prove"], "holds a tuning; its sides"),
            (&["tuning.toml", "tune/plan.toml"], &[], "holds a tuning without a proof; its sides"),
            (&["matches/2/plan.toml", "matches/1/plan.toml", "matches/3/x"], &["matches/1", "matches/2"], "holds a"),
            (&["matches/notes"], &[], "holds a series without a match"),
            (&["x.json", "b/matches/1/plan.toml", "a/matches/1/plan.toml"], &["a/matches/1", "b/matches/1"], "holds a"),
            (&["a/matches/1/plan.toml"], &["a/matches/1"], "holds a series of matches; give "),
        ];
        for (files, runs, words) in cases {
            let (found, reason) = unrated(files).unwrap();
            assert!(found == runs && reason.starts_with(words), "{files:?}: {found:?} {reason}");
        }
        // A run, a folder of runs, and a folder of anything else stand for themselves.
        for files in [&["plan.toml", "matches/1/x"][..], &["a/plan.toml", "b/matches/1/plan.toml"], &["x"], &[]] {
            assert!(unrated(files).is_none(), "{files:?}");
        }
    }

    #[test]
    fn a_single_folder_is_refused_with_what_to_give() {
        let told = |folder: &tempfile::TempDir| open(folder.path()).unwrap_err().to_string();
        let proven = folder_of(&["tuning.toml", "prove/plan.toml"]);
        let remedy = format!("give its proof, {}", proven.path().join("prove").display());
        assert!(told(&proven).ends_with(&remedy), "{}", told(&proven));
        let unproven = folder_of(&["tuning.toml"]);
        assert!(told(&unproven).ends_with("and without --no-prove plays a proof"), "{}", told(&unproven));
        let series = folder_of(&["matches/1/plan.toml"]);
        assert!(told(&series).ends_with("/*"), "{}", told(&series));
    }
}
