//! The index of stored runs, with the few figures of each that a list shows.
//!
//! A run is a folder with a `plan.toml` or a `summary.json`, in the results folder itself or one
//! level below (`runs/`). The games and the proof of a tuning are runs in the folder of the tuning.
//! An update of the index asks the system for the timestamps of those files and reads only those
//! that have changed. A run's id is its path below the results folder. Only ids found there reach
//! the file system: a request that names another one finds nothing.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::files::{MOST_DOCUMENT_BYTES, read_text};
use crate::journal::archive;
use crate::plan::{Plan, file};
use crate::report::state::{self, ListedState};
use crate::stats::estimates::Estimates;
use crate::text::listed;

/// The name of the summary in a run directory.
pub(crate) const SUMMARY: &str = "summary.json";

/// Name of a live run's control socket in its directory.
pub(crate) const SOCKET: &str = "control.sock";

/// Name of the file in a run directory with the path of a socket outside it.
pub(crate) const SOCKET_NOTE: &str = "control.path";

/// Length and time of the last change of a file, by which changes are detected; `None` if it does
/// not exist.
pub(crate) type FileStamp = Option<(u64, SystemTime)>;

/// Figures of a run for a list. Elo is that of the first player against the second.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct RunDigest {
    pub(crate) name: String,
    pub(crate) note: Option<String>,
    /// The note, else the subject of the tested commit.
    pub(crate) title: Option<String>,
    pub(crate) format: String,
    pub(crate) players: Vec<String>,
    /// Names of the players with the options that tell them apart ([`Plan::labels`]); older
    /// summaries have only the names.
    pub(crate) labels: Vec<String>,
    pub(crate) limit: String,
    pub(crate) stopped_by: Option<String>,
    /// Result on one line; older summaries have none.
    pub(crate) outcome: Option<String>,
    pub(crate) pairs: Option<u64>,
    /// Elo of H0 and H1; `None` without a test.
    pub(crate) elo0: Option<f64>,
    pub(crate) elo1: Option<f64>,
    #[serde(flatten)]
    pub(crate) estimates: Estimates,
    /// Seconds since 1970.
    pub(crate) date: u64,
    pub(crate) state: ListedState,
}

impl RunDigest {
    /// State of the run, if nobody plays it, in one word: its verdict, else the reason of its end.
    pub(crate) fn word(&self) -> &str {
        state::word(self.estimates.verdict, self.stopped_by.as_deref(), self.state)
    }

    /// True if the id, the name, the title or a player's label has `word`. Case does not matter.
    pub(crate) fn names(&self, id: &str, word: &str) -> bool {
        let word = word.to_lowercase();
        let own = [id, &self.name].into_iter().chain(self.title.as_deref());
        own.chain(self.labels.iter().map(String::as_str)).any(|text| text.to_lowercase().contains(&word))
    }
}

/// A run of the index.
#[derive(Clone, Debug)]
pub(crate) struct IndexEntry {
    pub(crate) dir: PathBuf,
    pub(crate) about: Arc<RunDigest>,
    /// Time of the control socket, or of the note of one, if either exists.
    pub(crate) socket: Option<SystemTime>,
    stamps: [FileStamp; 2],
}

/// The index as of the last update.
#[derive(Clone, Debug, Default)]
pub(crate) struct Index {
    pub(crate) runs: BTreeMap<String, IndexEntry>,
    /// Plans and summaries read since the program began.
    pub(crate) files_read: u64,
    /// Updates since the program began.
    pub(crate) looks: u64,
}

/// Name of the newest run.
const LATEST: &str = "latest";

/// Maximum number of ids in an error.
const MOST_NAMED: usize = 5;

/// Reason that a name stands for no run.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum FindError {
    /// There is no run at all.
    #[error("there is no run below {0} yet")]
    Empty(String),
    /// Several ids have this end.
    #[error("`{name}` is the end of several runs: {ids}")]
    Several {
        /// The name.
        name: String,
        /// Ids of the runs, the newest first.
        ids: String,
    },
}

impl Index {
    /// The index of a results folder. What has not changed since `old` is not read again.
    pub(crate) fn of(root: &Path, old: &Self) -> Self {
        let mut new = Self { files_read: old.files_read, looks: old.looks + 1, ..Self::default() };
        for (name, dir) in folders(root) {
            if !add(&mut new, old, name.clone(), &dir) {
                for (below, dir) in folders(&dir) {
                    add_with_parts(&mut new, old, &format!("{name}/{below}"), &dir);
                }
            }
        }
        new
    }

    /// Runs from the newest to the oldest.
    pub(crate) fn newest_first(&self) -> Vec<(&String, &IndexEntry)> {
        let mut runs: Vec<_> = self.runs.iter().collect();
        runs.sort_by(|(id, entry), (other_id, other)| (other.about.date, other_id).cmp(&(entry.about.date, id)));
        runs
    }
}

/// Folder of the run that `name` stands for: an id below `root`, the end of exactly one id, or
/// `latest`. `None` if there is no such run.
///
/// # Errors
/// Returns an error if `name` is `latest` and there is no run, or if several ids have this end.
pub(crate) fn find(root: &Path, name: &str) -> Result<Option<PathBuf>, FindError> {
    let index = Index::of(root, &Index::default());
    let runs = index.newest_first();
    if name == LATEST {
        let (_, entry) = runs.first().ok_or_else(|| FindError::Empty(root.display().to_string()))?;
        return Ok(Some(entry.dir.clone()));
    }
    if let Some(entry) = index.runs.get(name) {
        return Ok(Some(entry.dir.clone()));
    }
    let mut named: Vec<_> = runs.iter().filter(|(id, _)| !name.is_empty() && id.ends_with(name)).collect();
    // A run goes before its archive.
    if named.len() > 1 && named.iter().any(|(_, entry)| !archive::is_archived(&entry.dir)) {
        named.retain(|(_, entry)| !archive::is_archived(&entry.dir));
    }
    match named.as_slice() {
        [] => Ok(None),
        [(_, entry)] => Ok(Some(entry.dir.clone())),
        several => {
            let ids: Vec<_> = several.iter().map(|(id, _)| id.as_str()).collect();
            Err(FindError::Several { name: name.to_owned(), ids: listed(&ids, MOST_NAMED) })
        }
    }
}

/// Id in an [`Index`] of the run whose folder is `below` the folder of results.
pub(crate) fn id_of(below: &Path) -> String {
    below.iter().map(OsStr::to_string_lossy).collect::<Vec<_>>().join("/")
}

/// The folders in a folder that are not hidden and whose names are valid UTF-8.
fn folders(dir: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok().filter(|name| !name.starts_with('.'))?;
        entry.path().is_dir().then(|| (name, entry.path()))
    })
}

/// Adds a folder if it is a run; of a tuning, the folders of its games and of its proof.
fn add_with_parts(new: &mut Index, old: &Index, id: &str, dir: &Path) {
    if !add(new, old, id.to_owned(), dir) && stamp(&dir.join(file::TUNING_SETTINGS)).is_some() {
        for part in file::TUNING_FOLDERS {
            add(new, old, format!("{id}/{part}"), &dir.join(part));
        }
    }
}

/// Adds a folder if it is a run.
fn add(new: &mut Index, old: &Index, id: String, dir: &Path) -> bool {
    let stamps = [file::FILE_NAME, SUMMARY].map(|name| stamp(&dir.join(name)));
    if stamps == [None; 2] {
        return false;
    }
    let changed = |name: &str| std::fs::symlink_metadata(dir.join(name)).and_then(|about| about.modified()).ok();
    let socket = changed(SOCKET).or_else(|| changed(SOCKET_NOTE));
    let about = match old.runs.get(&id).filter(|entry| entry.stamps == stamps) {
        Some(entry) => Arc::clone(&entry.about),
        None => {
            new.files_read += 1;
            Arc::new(read(&id, dir, stamps))
        }
    };
    new.runs.insert(id, IndexEntry { dir: dir.to_owned(), about, socket, stamps });
    true
}

/// Length and time of a file's last change. Links are not followed, because a file elsewhere is not
/// part of the run.
pub(crate) fn stamp(path: &Path) -> FileStamp {
    let about = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    Some((about.len(), about.modified().ok()?))
}

/// The text of a run's file; `None` if it is too long, is not text, or does not exist.
pub(crate) fn text(path: &Path) -> Option<String> {
    stamp(path)?;
    read_text(path, MOST_DOCUMENT_BYTES).ok()
}

/// The fields of `summary.json` that a list needs.
#[derive(Deserialize)]
#[serde(default)]
struct SummaryFile {
    name: String,
    note: Option<String>,
    title: Option<String>,
    format: String,
    players: Vec<PlayerFile>,
    stopped_by: Option<String>,
    outcome: Option<String>,
    pairs: Option<u64>,
    elo0: Option<f64>,
    elo1: Option<f64>,
    #[serde(flatten)]
    estimates: Estimates,
}

impl Default for SummaryFile {
    fn default() -> Self {
        Self {
            name: String::new(),
            note: None,
            title: None,
            format: "round-robin".to_owned(),
            players: Vec::new(),
            stopped_by: None,
            outcome: None,
            pairs: None,
            elo0: None,
            elo1: None,
            estimates: Estimates::default(),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct PlayerFile {
    name: String,
    label: Option<String>,
    limit: String,
}

fn read(id: &str, dir: &Path, stamps: [FileStamp; 2]) -> RunDigest {
    // Only an object is accepted: an array would be taken for a struct's fields in order.
    let object = text(&dir.join(SUMMARY)).and_then(|text| serde_json::from_str::<serde_json::Map<_, _>>(&text).ok());
    let summary = object.and_then(|object| serde_json::from_value(serde_json::Value::Object(object)).ok());
    let about = match summary {
        Some(summary) => from_summary(summary),
        None => match plan(dir) {
            Some(plan) => from_plan(&plan),
            None => RunDigest { name: id.to_owned(), state: ListedState::Damaged, ..RunDigest::default() },
        },
    };
    let written = stamps.iter().flatten().map(|(_, at)| *at).min();
    RunDigest { date: date(id).or_else(|| seconds(written?)).unwrap_or(0), ..about }
}

/// The plan of the run in `dir`.
pub(crate) fn plan(dir: &Path) -> Option<Plan> {
    file::from_toml(&text(&dir.join(file::FILE_NAME))?).ok()
}

fn from_summary(summary: SummaryFile) -> RunDigest {
    let SummaryFile { name, note, title, format, players, stopped_by, outcome, pairs, elo0, elo1, estimates } = summary;
    let is_interrupted = stopped_by.as_deref() == Some(state::INTERRUPTED);
    let state = if is_interrupted { ListedState::Interrupted } else { ListedState::Over };
    let limit = one_or_each(players.iter().map(|player| player.limit.clone()).collect());
    let labels = players.iter().map(|player| player.label.as_ref().unwrap_or(&player.name).clone()).collect();
    let players: Vec<_> = players.into_iter().map(|player| player.name).collect();
    // Earlier versions wrote those of the first two of many players.
    let estimates = if players.len() > 2 { Estimates::default() } else { estimates };
    let title = title.or_else(|| note.clone());
    RunDigest {
        name,
        note,
        title,
        format,
        players,
        labels,
        limit,
        stopped_by,
        outcome,
        pairs,
        elo0,
        elo1,
        estimates,
        date: 0,
        state,
    }
}

fn from_plan(plan: &Plan) -> RunDigest {
    RunDigest {
        name: plan.name.clone(),
        note: plan.note.clone(),
        title: plan.title(),
        format: plan.format.name().to_owned(),
        players: plan.players.iter().map(|player| player.name.clone()).collect(),
        labels: plan.labels(),
        limit: one_or_each(plan.players.iter().map(|player| player.limit.to_string()).collect()),
        elo0: plan.test.map(|test| test.bounds.elo0),
        elo1: plan.test.map(|test| test.bounds.elo1),
        state: ListedState::Interrupted,
        ..RunDigest::default()
    }
}

/// The limit that all players share, else the limit of each in their order.
fn one_or_each(mut limits: Vec<String>) -> String {
    if limits.windows(2).all(|two| two[0] == two[1]) {
        limits.truncate(1);
    }
    limits.join(", ")
}

fn seconds(at: SystemTime) -> Option<u64> {
    at.duration_since(UNIX_EPOCH).ok().map(|since| since.as_secs())
}

/// The time at which a run with its default name began; also of a run whose name, or else the
/// folder of whose series, starts with a date.
fn date(id: &str) -> Option<u64> {
    id.rsplit('/').find_map(date_of_name)
}

fn date_of_name(name: &str) -> Option<u64> {
    let at = match (name.get(..15), name.get(..10)) {
        (Some(stamp), _) if name.as_bytes().get(8) == Some(&b'-') => {
            chrono::NaiveDateTime::parse_from_str(stamp, "%Y%m%d-%H%M%S").ok()?
        }
        (_, Some(day)) => chrono::NaiveDate::parse_from_str(day, "%Y-%m-%d").ok()?.and_hms_opt(0, 0, 0)?,
        _ => return None,
    };
    u64::try_from(at.and_local_timezone(chrono::Local).earliest()?.timestamp()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(dir: &Path, elo: f64) {
        std::fs::create_dir_all(dir).unwrap();
        let text = serde_json::json!({ "name": "t", "elo": elo, "stopped_by": "verdict", "verdict": "H1", "players":
            [{ "name": "a", "limit": "8+0.08" }, { "name": "b", "limit": "8+0.08" }] });
        std::fs::write(dir.join(SUMMARY), text.to_string()).unwrap();
    }

    #[test]
    fn a_limit_stands_once_if_all_players_share_it() {
        for (limits, text) in [(["a", "a", "a"], "a"), (["a", "a", "b"], "a, a, b"), (["a", "b", "a"], "a, b, a")] {
            assert_eq!(one_or_each(limits.map(str::to_owned).into()), text);
        }
        assert_eq!(one_or_each(Vec::new()), "");
    }

    #[test]
    fn more_than_two_players_have_no_elo_of_two() {
        for (players, elo) in [(2, true), (3, false)] {
            let players = vec![serde_json::json!({ "name": "a", "limit": "8+0.08" }); players];
            let text = serde_json::json!({ "players": players, "elo": 22.5, "pairs": 7 });
            let about = from_summary(serde_json::from_value(text).unwrap());
            assert_eq!((about.estimates.elo.is_some(), about.pairs), (elo, Some(7)));
        }
    }

    #[test]
    fn only_what_changed_is_read_again() {
        let root = tempfile::tempdir().unwrap();
        for name in ["2026-11-21-a", "runs/20261121-101112-b", "runs/c", "runs/.new-run-x", "runs/c/deeper"] {
            summary(&root.path().join(name), 1.0);
        }
        std::fs::create_dir(root.path().join("runs/no-run")).unwrap();
        let first = Index::of(root.path(), &Index::default());
        let ids: Vec<_> = first.runs.keys().map(String::as_str).collect();
        assert_eq!(ids, ["2026-11-21-a", "runs/20261121-101112-b", "runs/c"]);
        assert_eq!(first.files_read, 3);
        let second = Index::of(root.path(), &first);
        assert_eq!(second.files_read, 3);
        summary(&root.path().join("runs/c"), 22.5);
        std::fs::remove_dir_all(root.path().join("2026-11-21-a")).unwrap();
        let third = Index::of(root.path(), &second);
        assert_eq!(
            (third.files_read, third.runs.len(), third.runs["runs/c"].about.estimates.elo),
            (4, 2, Some(crate::stats::elo::Elo::Finite(22.5)))
        );
        let about = &third.runs["runs/c"].about;
        assert_eq!((about.state, about.limit.as_str(), about.players.len()), (ListedState::Over, "8+0.08", 2));
    }

    #[test]
    fn the_runs_of_a_tuning_are_found_beside_other_runs() {
        let root = tempfile::tempdir().unwrap();
        let [tuning, other] = ["runs/20261121-101112-tune", "runs/20261120-101112-x"].map(|id| root.path().join(id));
        for dir in [&tuning, &other] {
            for part in ["tune", "prove", "old"] {
                summary(&dir.join(part), 1.0);
            }
        }
        std::fs::write(tuning.join(file::TUNING_SETTINGS), "").unwrap();
        // A link is no settings of a tuning.
        std::os::unix::fs::symlink(tuning.join(file::TUNING_SETTINGS), other.join(file::TUNING_SETTINGS)).unwrap();
        let index = Index::of(root.path(), &Index::default());
        let ids: Vec<_> = index.runs.keys().map(String::as_str).collect();
        assert_eq!(ids, ["runs/20261121-101112-tune/prove", "runs/20261121-101112-tune/tune"]);
        assert_eq!(index.runs[ids[1]].about.date, date("20261121-101112-tune").unwrap());
        for name in ["runs/20261121-101112-tune/tune", "101112-tune/tune", "tune"] {
            assert_eq!(find(root.path(), name), Ok(Some(tuning.join("tune"))), "{name}");
        }
    }

    #[test]
    fn a_run_is_found_by_its_id_its_end_or_as_the_latest() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(
            find(root.path(), LATEST).unwrap_err().to_string(),
            format!("there is no run below {} yet", root.path().display())
        );
        for name in ["runs/20261121-101112-lmr", "runs/20261122-101112-lmr", "runs/20261120-101112-null-move"] {
            summary(&root.path().join(name), 1.0);
        }
        let found = |name: &str| {
            let path = find(root.path(), name).map_err(|error| error.to_string())?;
            Ok::<_, String>(path.map(|path| path.strip_prefix(root.path()).unwrap().display().to_string()))
        };
        let newest = Ok(Some("runs/20261122-101112-lmr".to_owned()));
        assert_eq!(found(LATEST), newest);
        assert_eq!(found("runs/20261122-101112-lmr"), newest);
        assert_eq!(found("1122-101112-lmr"), newest);
        assert_eq!(found("null-move"), Ok(Some("runs/20261120-101112-null-move".to_owned())));
        for name in ["lmp", ""] {
            assert_eq!(found(name), Ok(None), "{name}");
        }
        let archived = root.path().join("archive/20261120-101112-null-move");
        summary(&archived, 1.0);
        std::fs::write(archived.join(archive::ARCHIVE_NAME), "").unwrap();
        assert_eq!(found("null-move"), Ok(Some("runs/20261120-101112-null-move".to_owned())));
        let several = "`lmr` is the end of several runs: runs/20261122-101112-lmr, runs/20261121-101112-lmr";
        assert_eq!(found("lmr"), Err(several.to_owned()));
    }

    #[test]
    fn what_is_damaged_or_a_link_is_not_believed() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [("junk", "{"), ("list", "[]"), ("text", "\u{0}")] {
            std::fs::create_dir(root.path().join(name)).unwrap();
            std::fs::write(root.path().join(name).join(SUMMARY), text).unwrap();
        }
        std::fs::create_dir(root.path().join("link")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", root.path().join("link").join(SUMMARY)).unwrap();
        let index = Index::of(root.path(), &Index::default());
        let states: Vec<_> = index.runs.iter().map(|(id, entry)| (id.as_str(), entry.about.state.name())).collect();
        assert_eq!(states, [("junk", "damaged"), ("list", "damaged"), ("text", "damaged")]);
        assert_eq!(text(&root.path().join("link").join(SUMMARY)), None);
    }

    #[test]
    fn a_name_may_tell_the_date() {
        assert!(date("runs/20261121-101112-sprt").is_some() && date("2026-11-21-first").is_some());
        assert_eq!(date("2026-11-21-loop/generation-001"), date("2026-11-21"));
        for id in ["sprt", "runs/2026", "20269999-101112", "2026-13-41-x", "éééééééééééé", ""] {
            assert_eq!(date(id), None, "{id}");
        }
    }
}
