//! Questions to Git, through its program: arguments as a list, no hooks, no prompts, no pager, no environment of the caller's.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::SourceError;
use super::command::{Job, Output};

/// No local question takes longer.
const LOCAL: Duration = Duration::from_secs(120);

/// Cloning and fetching.
const REMOTE: Duration = Duration::from_secs(1800);

/// Who makes the snapshots of a working tree. They are never pushed, referenced or seen.
const IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "quintain"),
    ("GIT_AUTHOR_EMAIL", "quintain@localhost"),
    ("GIT_COMMITTER_NAME", "quintain"),
    ("GIT_COMMITTER_EMAIL", "quintain@localhost"),
];

/// A repository, by any folder in it.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    dir: PathBuf,
}

impl Repository {
    /// The repository that `dir` lies in; its root for one with a working tree.
    pub(super) fn discover(dir: &Path) -> Result<Self, SourceError> {
        let here = Self { dir: dir.to_owned() };
        if !dir.is_dir() {
            return Err(SourceError::NoRepository { dir: dir.to_owned() });
        }
        let bare = here
            .ask(&["rev-parse", "--is-bare-repository"])
            .map_err(|_| SourceError::NoRepository { dir: dir.to_owned() })?;
        if bare == "true" {
            return Ok(here);
        }
        let root = here
            .ask(&["rev-parse", "--show-toplevel"])
            .map_err(|_| SourceError::NoRepository { dir: dir.to_owned() })?;
        Ok(Self { dir: PathBuf::from(root) })
    }

    /// A bare clone of `url` in `cache`, brought up to date where it lacks `revision`.
    pub(super) fn cloned(url: &str, revision: &str, cache: &Path) -> Result<Self, SourceError> {
        let dir = cache.join("clones").join(super::hash::text(url));
        let clone = Self { dir: dir.clone() };
        if !dir.is_dir() {
            let parent = dir.parent().unwrap_or(cache);
            std::fs::create_dir_all(parent).map_err(|source| SourceError::Cache { path: parent.to_owned(), source })?;
            let scratch = tempfile::Builder::new()
                .prefix(".clone-")
                .tempdir_in(parent)
                .map_err(|source| SourceError::Cache { path: parent.to_owned(), source })?;
            let target = scratch.path().join("repository");
            let args = ["clone", "--quiet", "--bare", "--", url, &target.to_string_lossy()];
            let output = git(parent, REMOTE).args(args).run()?;
            if !output.success {
                return Err(SourceError::Clone { url: url.to_owned(), why: last_line(&output.stderr) });
            }
            // Another process may have been quicker; its clone is as good.
            let _ = std::fs::rename(&target, &dir);
        }
        if clone.commit(revision).is_err() {
            let refs = "+refs/*:refs/*";
            let output = git(&dir, REMOTE).args(["fetch", "--quiet", "--prune", "origin", refs]).run()?;
            if !output.success {
                return Err(SourceError::Clone { url: url.to_owned(), why: last_line(&output.stderr) });
            }
        }
        Ok(clone)
    }

    /// Its folder.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The full id of the commit that `revision` names.
    pub(super) fn commit(&self, revision: &str) -> Result<String, SourceError> {
        let spec = format!("{revision}^{{commit}}");
        self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &spec])
            .map_err(|_| SourceError::NoRevision { revision: revision.to_owned(), repository: self.dir.clone() })
    }

    /// The id of what lies at `path` in `commit` (the whole tree for `""`); `None` where there is nothing.
    pub(super) fn object_at(&self, commit: &str, path: &str) -> Option<String> {
        self.ask(&["rev-parse", "--verify", "--quiet", "--end-of-options", &format!("{commit}:{path}")]).ok()
    }

    /// The text of a file in `commit`; `None` where there is none.
    pub(super) fn file_at(&self, commit: &str, path: &str) -> Option<String> {
        let output = git(&self.dir, LOCAL).args(["cat-file", "blob", &format!("{commit}:{path}")]).run().ok()?;
        output.success.then_some(output.stdout)
    }

    /// First parents from `commit` on, newest first.
    pub(super) fn history(&self, commit: &str) -> Result<Vec<String>, SourceError> {
        let text = self.ask(&["rev-list", "--first-parent", commit])?;
        Ok(text.lines().map(str::to_owned).collect())
    }

    /// The working tree as a commit that nothing refers to, with uncommitted changes and files that Git does not ignore.
    /// Neither the index nor any branch is touched. Returns `HEAD` itself where nothing differs.
    pub(super) fn snapshot(&self) -> Result<String, SourceError> {
        let head = self.commit("HEAD")?;
        let scratch =
            tempfile::tempdir().map_err(|source| SourceError::Cache { path: std::env::temp_dir(), source })?;
        let index = scratch.path().join("index");
        let run = |args: &[&str]| -> Result<String, SourceError> {
            let mut job = git(&self.dir, LOCAL).env("GIT_INDEX_FILE", &index).args(args);
            for (key, value) in IDENTITY {
                job = job.env(key, value);
            }
            answer(job.run()?, args)
        };
        run(&["read-tree", &head])?;
        run(&["add", "--all", "--", "."])?;
        let tree = run(&["write-tree"])?;
        if self.object_at(&head, "").as_deref() == Some(tree.as_str()) {
            return Ok(head);
        }
        run(&["commit-tree", &tree, "-p", &head, "-m", "working tree"])
    }

    /// Checks `commit` out into the folder `target`, which must not exist, until the [`Worktree`] is dropped.
    pub(super) fn worktree(&self, commit: &str, target: &Path) -> Result<Worktree, SourceError> {
        let path = target.to_string_lossy();
        self.ask(&["worktree", "add", "--quiet", "--detach", "--force", &path, commit])?;
        Ok(Worktree { repository: self.clone(), path: target.to_owned() })
    }

    fn ask(&self, args: &[&str]) -> Result<String, SourceError> {
        answer(git(&self.dir, LOCAL).args(args).run()?, args)
    }
}

/// A checked-out commit, removed when dropped.
pub(super) struct Worktree {
    repository: Repository,
    path: PathBuf,
}

impl Worktree {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Worktree {
    fn drop(&mut self) {
        let path = self.path.to_string_lossy();
        // Git keeps a note of each work tree; where this fails, `git worktree prune` clears it some day.
        let _ = self.repository.ask(&["worktree", "remove", "--force", &path]);
        let _ = std::fs::remove_dir_all(&self.path);
        let _ = self.repository.ask(&["worktree", "prune"]);
    }
}

fn git(dir: &Path, limit: Duration) -> Job<'static> {
    let mut job = Job::new("git", dir, limit)
        .args(["-c", "core.hooksPath=/dev/null", "-c", "commit.gpgSign=false", "-c", "advice.detachedHead=false"])
        .args(["-c", "core.fsmonitor=false", "--no-pager"])
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    for key in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_COMMON_DIR", "GIT_PREFIX"] {
        job = job.without_env(key);
    }
    job
}

fn answer(output: Output, args: &[&str]) -> Result<String, SourceError> {
    if output.success {
        Ok(output.stdout.trim().to_owned())
    } else {
        let command = format!("git {}", args.first().copied().unwrap_or_default());
        Err(SourceError::Git { command, why: last_line(&output.stderr) })
    }
}

/// The last line with something on it.
fn last_line(text: &str) -> String {
    text.lines().rev().map(str::trim).find(|line| !line.is_empty()).unwrap_or("no reason given").to_owned()
}
