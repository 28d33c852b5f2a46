//! Run directory.
//!
//! A run begins it with `plan.toml`, `stamp` and `games.jsonl`, and adds `games.pgn`,
//! `summary.json`, `report.html`, `llr.svg`, `validation.svg`, `traces.svg`, `moves.svg`,
//! `events.txt`, `stderr/` and `crashes/`. While it plays, `control.sock` or `control.path` leads
//! to its socket. Commands may add `extension.toml` (pairs of a run that was extended), `notify`
//! (receivers of notices), `notes.txt` (of the dashboard) and `games.json.gz` (the archive).

use std::path::{Path, PathBuf};

use crate::files::{MOST_DOCUMENT_BYTES, read_text};
use crate::journal::{self, Header, Journal, JournalReading, PlanFacts, archive};
use crate::os;
use crate::plan::{Plan, file};
use crate::record::{GameRecord, PairId};
use crate::report::collection::RunGames;
use crate::report::{stored, summary};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::run::{extension, progress, stamp};
use crate::text::{sha256, shell_path, with_causes};
use crate::tournament::events::RunTime;
use crate::tournament::scoreboard::Scoreboard;

/// Default folder of results.
pub(crate) const RESULTS: &str = "results";

/// Default folder of runs.
pub(crate) const RUNS: &str = "results/runs";

/// Name of the folder of the matches in the directory of a series.
pub(crate) const MATCHES: &str = "matches";

/// Beginning of the name of a directory that is not complete yet.
pub(crate) const SCRATCH: &str = ".new-run-";

/// Name of the folder of the engines' standard error in a run directory.
pub(crate) const STDERR: &str = "stderr";

/// Maximum size of a plan file in bytes.
const MOST_PLAN_BYTES: u64 = 1 << 20;

/// Directory of a new run.
#[derive(Clone, Debug)]
pub(crate) enum Place {
    /// Exactly this directory, chosen by the user.
    Given(PathBuf),
    /// Given directory, or one with `-2`, `-3` after its name if it exists.
    Default(PathBuf),
}

impl Place {
    /// Returns the first path that is tried.
    pub(crate) fn wanted(&self) -> &Path {
        match self {
            Self::Given(root) | Self::Default(root) => root,
        }
    }

    /// Returns the error of [`take`](Self::take) early, before anything is built.
    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Given(root) if root.symlink_metadata().is_ok() => Err(taken(root)),
            _ => Ok(()),
        }
    }

    /// Returns the paths to try, in order.
    pub(crate) fn names(&self) -> impl Iterator<Item = PathBuf> {
        let (wanted, tries) = match self {
            Self::Given(root) => (root, 1),
            Self::Default(root) => (root, u32::MAX),
        };
        (1..=tries).map(move |number| match number {
            1 => wanted.clone(),
            _ => {
                let mut name = wanted.clone().into_os_string();
                name.push(format!("-{number}"));
                name.into()
            }
        })
    }

    /// Creates a temporary directory beside the place, and the folder of both.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir> {
        let parent = self.parent();
        std::fs::create_dir_all(parent)
            .within(|| format!("{}: cannot create the folder for runs; choose another with --out", parent.display()))?;
        tempfile::Builder::new()
            .prefix(SCRATCH)
            .tempdir_in(parent)
            .within(|| format!("{}: cannot write there; choose another place with --out", parent.display()))
    }

    /// Folder of the directory.
    pub(crate) fn parent(&self) -> &Path {
        match self.wanted().parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        }
    }

    /// Renames the non-empty directory `scratch` to the first free name. A rename replaces only an
    /// empty directory, so two simultaneous runs get different names. Any error removes `scratch`.
    pub(crate) fn take(&self, scratch: tempfile::TempDir) -> Result<PathBuf> {
        let root = self.rename(scratch.path())?;
        let _ = scratch.keep();
        sync_folder(self.parent())?;
        Ok(root)
    }

    fn rename(&self, scratch: &Path) -> Result<PathBuf> {
        use std::io::ErrorKind::{AlreadyExists, DirectoryNotEmpty};
        for name in self.names() {
            if name.symlink_metadata().is_ok() {
                continue;
            }
            match std::fs::rename(scratch, &name) {
                Ok(()) => return Ok(name),
                Err(error) if matches!(error.kind(), AlreadyExists | DirectoryNotEmpty) => {}
                Err(error) => {
                    return Err(error).within(|| format!("{}: cannot create it; choose another --out", name.display()));
                }
            }
        }
        Err(taken(self.wanted()))
    }
}

/// Keeps runs in a user's repository out of Git. A failure does not stop the run.
pub(crate) fn keep_out_of_git(runs: &Path) {
    let note = runs.join(".gitignore");
    if !note.exists()
        && let Err(error) = std::fs::write(&note, "*\n")
    {
        tracing::debug!("{}: {error}", note.display());
    }
}

/// Error of a name that is taken, with advice for what is there.
fn taken(root: &Path) -> RunError {
    let has = |name: &str| root.join(name).is_file();
    let what = match archive::stored_name(root).filter(|_| has(file::FILE_NAME)) {
        Some(journal::FILE_NAME) => return RunError::Exists { root: root.to_owned() },
        Some(_) => "an archive of a run",
        None if has(file::TUNING_SETTINGS) => "a tuning",
        None => "no run",
    };
    RunError::Occupied { root: root.to_owned(), what }
}

/// An existing run directory.
#[derive(Clone, Debug)]
pub(crate) struct RunDir {
    root: PathBuf,
    /// Text of `plan.toml`.
    plan: String,
}

impl RunDir {
    /// Creates the directory with its plan and an empty journal. It is built under another name
    /// first, so that no incomplete run directory is ever visible.
    pub(crate) fn create(place: &Place, plan: &Plan) -> Result<(Self, Journal)> {
        let scratch = place.scratch()?;
        if let Place::Default(_) = place {
            keep_out_of_git(place.parent());
        }
        let text = file::to_toml(plan);
        write_synced(&scratch.path().join(file::FILE_NAME), text.as_bytes()).within(|| "cannot write plan.toml")?;
        // The stamp is optional: without one a later `resume` asks for permission.
        if let Err(error) = stamp::write(scratch.path(), &text) {
            progress::warn(&format!(
                "the run is not marked as yours, so `resume` will need --trust: {}",
                with_causes(&error)
            ));
        }
        std::fs::create_dir(scratch.path().join(STDERR)).within(|| "cannot create stderr/")?;
        let journal = Journal::create(&scratch.path().join(journal::FILE_NAME), &header_of(&text))?;
        // The journal's games are synced as they come, so its directory must be on disk before the
        // first of them.
        sync_folder(scratch.path())?;
        let (root, journal) = journal.moved(|| place.take(scratch))?;
        Ok((Self { root, plan: text }, journal))
    }

    /// Opens an existing run directory and reads its plan.
    pub(crate) fn open(root: &Path) -> Result<(Self, Plan)> {
        if matches!(root.try_exists(), Ok(false)) {
            fail!(Setting, "no run `{}`; `quintain runs` lists them", root.display());
        }
        let path = root.join(file::FILE_NAME);
        if !path.exists() && root.join(file::TUNING_SETTINGS).is_file() {
            let [games, proof] = file::TUNING_FOLDERS.map(|name| root.join(name));
            let or_proof =
                if proof.exists() { format!(", or {} for its proof", proof.display()) } else { String::new() };
            fail!(OtherRun, "{}: holds a tuning; give {} for its games{or_proof}", root.display(), games.display());
        }
        if !path.exists() && root.join(MATCHES).is_dir() {
            let matches = shell_path(&root.join(MATCHES));
            fail!(OtherRun, "{}: holds a series of matches; give one of {matches}/*", root.display());
        }
        let text = read_text(&path, MOST_PLAN_BYTES)
            .within(|| format!("{}: cannot read it; is `{}` a run directory?", path.display(), root.display()))?;
        let mut plan = file::from_toml(&text).within(|| format!("{}", path.display()))?;
        extension::apply(root, &mut plan)?;
        Ok((Self { root: root.to_owned(), plan: text }, plan))
    }

    /// Returns the last summary of a run with `pairs` counted ones. A summary of fewer is from an
    /// earlier stop of a run that was killed later.
    pub(crate) fn summary(&self, pairs: u64) -> Option<serde_json::Value> {
        let text = read_text(&self.path(stored::SUMMARY), MOST_DOCUMENT_BYTES).ok()?;
        let summary: serde_json::Value = serde_json::from_str(&text).ok()?;
        (summary["pairs"] == pairs).then_some(summary)
    }

    /// Returns the playing time of a run with `pairs` counted ones, if its last summary has it.
    pub(crate) fn time(&self, pairs: u64) -> Option<RunTime> {
        self.summary(pairs).as_ref().and_then(summary::time)
    }

    /// Returns the journal header that belongs to the plan.
    pub(crate) fn header(&self) -> Header {
        header_of(&self.plan)
    }

    /// Returns the checks of the journal's games against `plan`, which must be this directory's
    /// plan.
    pub(crate) fn expected(&self, plan: &Plan) -> PlanFacts {
        PlanFacts::new(plan, Some(sha256(self.plan.as_bytes())))
    }

    /// Reads the journal, which may belong to a live run, and checks that it belongs to the plan.
    pub(crate) fn read(&self, plan: &Plan, each: impl FnMut(GameRecord)) -> Result<JournalReading> {
        let replayed = self.expected(plan).read(&self.path(journal::FILE_NAME), each)?;
        self.check_plan(&replayed.header)?;
        Ok(replayed)
    }

    /// Counts the games of the journal.
    pub(crate) fn scoreboard(&self, plan: &Plan) -> Result<Scoreboard> {
        let mut scoreboard = Scoreboard::new(plan)?;
        self.read(plan, |game| scoreboard.record(game, |_, _| {}))?;
        Ok(scoreboard)
    }

    /// Reads the games that may be rated: those of the pairs that count. `each` gets every game of
    /// the journal.
    pub(crate) fn rated_games(&self, plan: &Plan, mut each: impl FnMut(&GameRecord)) -> Result<RunGames> {
        let (mut games, mut scoreboard) = (RunGames::new(plan), Scoreboard::new(plan)?);
        self.read(plan, |game| {
            each(&game);
            games.record(&game);
            scoreboard.record(game, |_, _| {});
        })?;
        games.count_before(PairId(scoreboard.settled()));
        Ok(games)
    }

    /// Checks that the journal's header has the hash of this plan.
    pub(crate) fn check_plan(&self, header: &Header) -> Result<()> {
        if sha256(self.plan.as_bytes()) != header.plan_sha256 {
            return Err(RunError::Changed {
                file: self.path(file::FILE_NAME).display().to_string(),
                harm: "its games would not be of one test",
            });
        }
        Ok(())
    }

    /// True if this user's program wrote the directory and its plan.
    pub(crate) fn is_stamped(&self) -> bool {
        stamp::is_valid(&self.root, &self.plan)
    }

    /// Stamps the directory as this user's own.
    pub(crate) fn stamp(&self) -> Result<()> {
        stamp::write(&self.root, &self.plan)
    }

    /// Path of the directory.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Path of a file in the directory.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }
}

/// Returns the journal header for a plan with the text `plan`.
fn header_of(plan: &str) -> Header {
    Header { plan_sha256: sha256(plan.as_bytes()), program: env!("CARGO_PKG_VERSION").to_owned() }
}

/// Writes a new file and syncs it to disk.
fn write_synced(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = std::fs::File::create_new(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Writes the entries of a folder to disk.
pub(crate) fn sync_folder(path: &Path) -> Result<()> {
    os::sync_folder(path).within(|| format!("{}: cannot write its entries to disk", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the names that simultaneous runs get for one wanted name, each with its own content.
    fn names(place: fn(PathBuf) -> Place, runs: usize) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let place = place(folder.path().join("run"));
        let taken: Vec<_> = std::thread::scope(|scope| {
            let take = |run: usize| {
                let scratch = folder.path().join(format!(".scratch-{run}"));
                std::fs::create_dir(&scratch).unwrap();
                std::fs::write(scratch.join("plan.toml"), run.to_string()).unwrap();
                (run, place.rename(&scratch))
            };
            let threads: Vec<_> = (0..runs).map(|run| scope.spawn(move || take(run))).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut names = Vec::new();
        for (run, taken) in taken {
            match taken {
                Ok(root) => {
                    assert_eq!(std::fs::read_to_string(root.join("plan.toml")).unwrap(), run.to_string());
                    names.push(root.file_name().unwrap().to_string_lossy().into_owned());
                }
                Err(error) => assert!(error.to_string().contains("run: exists already and is no run"), "{error:?}"),
            }
        }
        names.sort();
        names
    }

    #[test]
    fn runs_that_want_one_name_do_not_collide() {
        assert_eq!(names(Place::Default, 5), ["run", "run-2", "run-3", "run-4", "run-5"]);
        assert_eq!(names(Place::Given, 5), ["run"]);
    }

    #[test]
    fn a_remedy_quotes_a_name_with_blanks() {
        let remedy = "my run: exists already; continue with `quintain resume 'my run'`";
        assert!(RunError::Exists { root: "my run".into() }.to_string().starts_with(remedy));
    }

    #[test]
    fn only_a_run_is_to_be_resumed() {
        for (files, words) in [
            (&["plan.toml", "games.jsonl", "games.json.gz"][..], "exists already; continue with `quintain resume "),
            (&["plan.toml", "games.json.gz"], "exists already and is an archive of a run; give another --out"),
            (&["tuning.toml"], "exists already and is a tuning; "),
            (&["plan.toml"], "exists already and is no run; give another --out, or remove it"),
            (&["games.jsonl"], "exists already and is no run; "),
            (&[], "exists already and is no run; "),
        ] {
            let folder = tempfile::tempdir().unwrap();
            files.iter().for_each(|name| std::fs::write(folder.path().join(name), "").unwrap());
            let said = taken(folder.path()).to_string();
            assert!(said.contains(words), "{files:?}: {said}");
        }
        let file = tempfile::NamedTempFile::new().unwrap();
        let said = taken(file.path()).to_string();
        assert!(said.contains("exists already and is no run"), "{said}");
    }
}
