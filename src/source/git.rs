//! Git: revisions, the working tree as a commit, other repositories, checkouts to build in.
//!
//! All access is through the `git` program, without hooks, prompts, pager or signatures. The user's
//! index and working tree are never written, and no branch but the one that `quintain tune --apply`
//! names. Refs below `refs/quintain/` keep working trees that wait in a queue.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::{MOST_DOCUMENT_BYTES, read_text};
use crate::plan::file;
use crate::source::command::{CapturedOutput, ProgramRun, Update};
use crate::source::error::{SourceError, io_error};
use crate::source::hash;
use crate::source::spec::is_url;
use crate::source::untracked::Kinds;

/// Commit with what users are shown of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// In full.
    pub id: String,
    /// The day it was committed, `2026-01-31`.
    pub date: String,
    /// The first line of its message.
    pub subject: String,
}

const LIMIT: Duration = Duration::from_secs(120);
const NETWORK_LIMIT: Duration = Duration::from_secs(1800);
const QUIET: [&str; 13] = [
    "--no-pager",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "commit.gpgSign=false",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "advice.detachedHead=false",
];
/// Least digits of an abbreviated id.
const LEAST_DIGITS: usize = 7;
/// Message of a commit of the working tree.
pub(super) const WORKING_TREE: &str = "Working tree";
/// The file that a run's directory has besides its plan. The name is repeated because the journal's
/// room is not below this one.
const JOURNAL: &str = "games.jsonl";

/// A repository on this machine.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    /// The root of the working tree, or the bare repository.
    pub(super) dir: PathBuf,
    bare: bool,
    /// The name that the user gave it.
    label: String,
    fresh: FreshRefs,
}

/// Refs of a clone that are those of its origin, as far as this process knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FreshRefs {
    None,
    /// Branches and tags.
    Named,
    /// HEAD too.
    All,
}

/// The working tree as Git objects.
#[derive(Clone, Debug)]
pub(super) struct TreeSnapshot {
    /// HEAD.
    pub(super) head: String,
    /// A commit of the working tree; HEAD itself if nothing differs.
    pub(super) commit: String,
    /// Untracked files left out of it because no tracked file is of their kind.
    pub(super) left_out: Vec<String>,
}

/// Ref of the commit that was the HEAD of a clone's origin when it was last fetched.
const REMOTE_HEAD: &str = "refs/quintain/HEAD";

/// Variable with the command that Git connects by.
const SSH_COMMAND: &str = "GIT_SSH_COMMAND";

impl Repository {
    /// The repository that `dir` is in.
    pub(super) fn open(dir: &Path) -> Result<Self, SourceError> {
        let none = |detail| SourceError::NotARepository { path: dir.to_path_buf(), detail };
        if !dir.is_dir() {
            return Err(none("no such folder".to_owned()));
        }
        let asked = git(dir, &["rev-parse", "--is-bare-repository"], LIMIT)?;
        if !asked.status.success() {
            return Err(none(last_line(&asked.stderr)));
        }
        let bare = asked.stdout.trim() == "true";
        let question = if bare { "--absolute-git-dir" } else { "--show-toplevel" };
        let answer = git(dir, &["rev-parse", question], LIMIT)?;
        if !answer.status.success() {
            return Err(none(last_line(&answer.stderr)));
        }
        let root = PathBuf::from(answer.stdout.trim_end_matches('\n'));
        Ok(Self { label: root.display().to_string(), dir: root, bare, fresh: FreshRefs::None })
    }

    /// A bare clone of `url` in `cache`, made on first use.
    pub(super) fn remote(url: &str, cache: &Path, progress: &mut dyn FnMut(Update<'_>)) -> Result<Self, SourceError> {
        let dir = clone_dir(url, cache);
        let repos = cache.join("repos");
        fs::create_dir_all(&repos).map_err(io_error("create", &repos))?;
        let _lock = lock(&dir.with_extension("lock"))?;
        let is_new = !dir.is_dir();
        if is_new {
            progress(Update::Step(&format!("cloning {url}")));
            let scratch = tempfile::tempdir_in(&repos).map_err(io_error("write into", &repos))?;
            let clone = scratch.path().join("clone.git");
            let target = clone.to_string_lossy();
            let words = ["clone", "--quiet", "--bare", "--", url, &*target];
            checked(&words, reach(&repos, &words)?)?;
            fs::rename(&clone, &dir).map_err(io_error("create", &dir))?;
        }
        let fresh = if is_new { FreshRefs::All } else { FreshRefs::None };
        Ok(Self { dir, bare: true, label: url.to_owned(), fresh })
    }

    /// The clone of `url` in `cache`, if there is one.
    pub(super) fn cloned(url: &str, cache: &Path) -> Option<Self> {
        let dir = clone_dir(url, cache);
        dir.is_dir().then(|| Self { dir, bare: true, label: url.to_owned(), fresh: FreshRefs::None })
    }

    /// The full id of the commit that `rev` names. `HEAD` of a clone is that of its origin, once it
    /// was fetched.
    pub(super) fn commit(&self, rev: &str) -> Result<String, SourceError> {
        let find = |rev: &str| self.git(&["rev-parse", "--verify", "--quiet", &format!("{rev}^{{commit}}")]);
        let found = match after_head(rev).filter(|_| self.bare) {
            Some(rest) if find(REMOTE_HEAD)?.status.success() => find(&format!("{REMOTE_HEAD}{rest}"))?,
            _ => find(rev)?,
        };
        if found.status.success() {
            return Ok(found.stdout.trim().to_owned());
        }
        Err(SourceError::NoRevision { rev: rev.to_owned(), repository: self.label.clone() })
    }

    /// Like [`Self::commit`] in a clone. Fetches if the commit is missing, or if `rev` is a name
    /// that may have moved, but no refs twice.
    pub(super) fn fetch(&mut self, rev: &str, progress: &mut dyn FnMut(Update<'_>)) -> Result<String, SourceError> {
        let _lock = lock(&self.dir.with_extension("lock"))?;
        let known = self.commit(rev);
        let is_hash = rev.len() >= 7 && rev.bytes().all(|byte| byte.is_ascii_hexdigit());
        // A branch may have a name of digits.
        let fixed = is_hash && known.as_ref().map_or(true, |id| id.starts_with(&rev.to_ascii_lowercase()));
        let wanted = if after_head(rev).is_some() { FreshRefs::All } else { FreshRefs::Named };
        if known.is_ok() && (fixed || self.fresh >= wanted) {
            return known;
        }
        if self.fresh < wanted {
            progress(Update::Step(&format!("fetching from {}", self.label)));
            match (self.fetch_refs(wanted), known) {
                (Ok(()), _) => self.fresh = wanted,
                (Err(error), Ok(commit)) => {
                    let note = format!("{}: cannot fetch, so `{rev}` is as it was fetched last: {error}", self.label);
                    progress(Update::Note(&note));
                    return Ok(commit);
                }
                (Err(error), Err(_)) => return Err(error),
            }
        }
        if fixed && self.commit(rev).is_err() {
            // The commit is on no branch or tag; some servers give such commits by their full id.
            // If not, the error is below.
            let _ = reach(&self.dir, &["fetch", "--quiet", "origin", rev])?;
        }
        self.commit(rev)
    }

    fn fetch_refs(&self, wanted: FreshRefs) -> Result<(), SourceError> {
        let head = format!("+HEAD:{REMOTE_HEAD}");
        let mut words = vec!["fetch", "--quiet", "--prune", "origin"];
        words.extend(["+refs/heads/*:refs/heads/*", "+refs/tags/*:refs/tags/*"]);
        if wanted == FreshRefs::All {
            // A clone keeps the branch that was the default when it was made.
            words.push(&head);
        }
        checked(&words, reach(&self.dir, &words)?).map(drop)
    }

    /// [`Self::fetch`] in a clone of a URL, [`Self::commit`] in a repository of the user's.
    pub(super) fn newest(&mut self, rev: &str, progress: &mut dyn FnMut(Update<'_>)) -> Result<String, SourceError> {
        if is_url(&self.label) { self.fetch(rev, progress) } else { self.commit(rev) }
    }

    /// The working tree with its uncommitted changes, as a commit that no ref names. It includes
    /// untracked files of which kind tracked files are, and those at or below one of `sources`.
    /// Ignored files and other repositories are left out. So are run directories, because a test
    /// that was played does not change the engine.
    pub(super) fn snapshot(&self, sources: &[String]) -> Result<TreeSnapshot, SourceError> {
        if self.bare {
            let detail = "it is bare, without a working tree".to_owned();
            return Err(SourceError::NotARepository { path: self.dir.clone(), detail });
        }
        let head = self
            .commit("HEAD")
            .map_err(|_| SourceError::NotARepository { path: self.dir.clone(), detail: "no commit yet".to_owned() })?;
        let folder = tempfile::tempdir().map_err(io_error("write into", &std::env::temp_dir()))?;
        let index = folder.path().join("index");
        let with_index = |args: &[&str]| -> Result<String, SourceError> {
            let task = task(&self.dir, args, LIMIT).env("GIT_INDEX_FILE", &index);
            checked(args, task.run()?)
        };
        with_index(&["read-tree", "HEAD"])?;
        let staged = succeed(&self.dir, &["ls-files", "-z"], LIMIT)?;
        let others = with_index(&["ls-files", "--others", "--exclude-standard", "-z"])?;
        let (added, left_out) = self.sort_out(&staged, &others, sources);
        let list = folder.path().join("added");
        fs::write(&list, added.join("\0")).map_err(io_error("write", &list))?;
        with_index(&["add", "--update", "--", ":(top)"])?;
        if !added.is_empty() {
            let from = format!("--pathspec-from-file={}", list.display());
            with_index(&["--literal-pathspecs", "add", "--pathspec-file-nul", &from])?;
        }
        let tree = with_index(&["write-tree"])?;
        if self.tree_id(&head, "")?.as_deref() == Some(tree.as_str()) {
            return Ok(TreeSnapshot { commit: head.clone(), head, left_out });
        }
        let commit = self.commit_tree(&tree, &head, WORKING_TREE, true)?;
        Ok(TreeSnapshot { head, commit, left_out })
    }

    /// True if a commit is one of a working tree with uncommitted changes.
    pub(super) fn is_snapshot(&self, commit: &str) -> Result<bool, SourceError> {
        let shown = succeed(&self.dir, &["show", "--no-patch", "--format=%ae %s", commit], LIMIT)?;
        Ok(shown.trim() == format!("quintain@localhost {WORKING_TREE}"))
    }

    /// Makes a commit of `tree` on top of `parent`, authored by this program (the same commit at
    /// each call) or by the user.
    pub(super) fn commit_tree(
        &self,
        tree: &str,
        parent: &str,
        message: &str,
        ours: bool,
    ) -> Result<String, SourceError> {
        let args = ["commit-tree", tree, "-p", parent, "-m", message];
        let mut task = task(&self.dir, &args, LIMIT);
        for who in ["AUTHOR", "COMMITTER"].into_iter().filter(|_| ours) {
            task = task
                .env(format!("GIT_{who}_NAME"), "quintain")
                .env(format!("GIT_{who}_EMAIL"), "quintain@localhost")
                .env(format!("GIT_{who}_DATE"), "@0 +0000");
        }
        checked(&args, task.run()?)
    }

    /// The tree of `commit` with the text of one of its files replaced.
    pub(super) fn tree_with(&self, commit: &str, path: &str, text: &str) -> Result<String, SourceError> {
        let folder = tempfile::tempdir().map_err(io_error("write into", &std::env::temp_dir()))?;
        let (index, content) = (folder.path().join("index"), folder.path().join("content"));
        fs::write(&content, text).map_err(io_error("write", &content))?;
        let content = content.to_string_lossy();
        let blob = succeed(&self.dir, &["hash-object", "-w", "--no-filters", "--", &content], LIMIT)?;
        let listed = self.listing(commit, &[path])?;
        let mode = listed.split_whitespace().next().unwrap_or("100644");
        let with_index = |args: &[&str]| -> Result<String, SourceError> {
            checked(args, task(&self.dir, args, LIMIT).env("GIT_INDEX_FILE", &index).run()?)
        };
        with_index(&["read-tree", commit])?;
        with_index(&["update-index", "--cacheinfo", &format!("{mode},{blob},{path}")])?;
        with_index(&["write-tree"])
    }

    /// Keeps a commit that no branch names, by a ref below `refs/quintain/`.
    pub(super) fn keep(&self, commit: &str) -> Result<(), SourceError> {
        succeed(&self.dir, &["update-ref", &format!("refs/quintain/{commit}"), commit], LIMIT).map(|_| ())
    }

    /// True for a repository without a working tree.
    pub(super) const fn is_bare(&self) -> bool {
        self.bare
    }

    /// The reason why `branch` cannot be set to a commit after `base`, and the remedy.
    pub(super) fn unusable_branch(&self, branch: &str, base: &str) -> Result<Option<String>, SourceError> {
        let name = format!("refs/heads/{branch}");
        // Git refuses the first and the last; the second would be taken for a full name.
        let is_reserved = branch.starts_with('-') || branch.starts_with("refs/") || branch == "HEAD";
        if is_reserved || !self.git(&["check-ref-format", &name])?.status.success() {
            return Ok(Some("it is not a branch name; write one such as tuned".to_owned()));
        }
        // Git allows no name that is the folder of another one.
        let branches = succeed(&self.dir, &["for-each-ref", "--format=%(refname)", "refs/heads/"], LIMIT)?;
        if let Some(other) = branches.lines().find(|other| is_below(&name, other) || is_below(other, &name)) {
            let other = other.strip_prefix("refs/heads/").unwrap_or(other);
            return Ok(Some(format!("Git cannot have it beside the branch {other}; give another name")));
        }
        if self.commit(&name).is_ok_and(|there| there != base) {
            return Ok(Some("it exists and is not at the commit that is tuned; give another name".to_owned()));
        }
        let listed = succeed(&self.dir, &["worktree", "list", "--porcelain"], LIMIT)?;
        if listed.lines().any(|line| line.strip_prefix("branch ") == Some(&name)) {
            return Ok(Some("it is checked out, and a working tree is left as it is; give another name".to_owned()));
        }
        let known = self.git(&["var", "GIT_COMMITTER_IDENT"])?;
        Ok((!known.status.success())
            .then(|| "Git does not know who commits; set user.name and user.email with `git config`".to_owned()))
    }

    /// The commit of `branch` if it has this `tree` and `base` as its parent.
    pub(super) fn made(&self, branch: &str, base: &str, tree: &str) -> Result<Option<String>, SourceError> {
        let Ok(commit) = self.commit(&format!("refs/heads/{branch}")) else { return Ok(None) };
        let is_ours = self.tree_id(&commit, "")?.as_deref() == Some(tree)
            && self.commit(&format!("{commit}^")).is_ok_and(|parent| parent == base);
        Ok(is_ours.then_some(commit))
    }

    /// Points `branch`, which is at `base` or does not exist, at `commit`.
    pub(super) fn set_branch(&self, branch: &str, commit: &str, base: &str) -> Result<(), SourceError> {
        let name = format!("refs/heads/{branch}");
        // Git takes an empty old value for a ref that must not exist.
        let old = if self.commit(&name).is_ok() { base } else { "" };
        succeed(&self.dir, &["update-ref", "-m", "quintain tune", &name, commit, old], LIMIT).map(|_| ())
    }

    /// Splits `others`, the files that HEAD lacks, into those that a snapshot includes and those of
    /// no tracked kind. Both of Git's lists end their paths with NUL. A file that the user has
    /// staged always counts.
    fn sort_out(&self, staged: &str, others: &str, sources: &[String]) -> (Vec<String>, Vec<String>) {
        let staged: HashSet<&str> = staged.split('\0').collect();
        let (mine, new): (Vec<&str>, Vec<&str>) = others.split('\0').partition(|path| staged.contains(path));
        let runs = left_by_runs(&new);
        let is_left = |path: &&str| !runs.iter().any(|run| *path == run.as_str() || is_below(path, run));
        let kinds = Kinds::of(staged.iter().copied());
        let is_source = |path: &str| sources.iter().any(|source| path == source || is_below(path, source));
        // Git prints another repository as a folder, with a slash at the end.
        let counts = |path: &&str| !path.ends_with('/') && (kinds.have(path) || is_source(path));
        // Git prints a name that is not UTF-8 as a different one.
        let is_there = |path: &&str| !path.is_empty() && self.dir.join(path).symlink_metadata().is_ok();
        let (added, left_out): (Vec<&str>, Vec<&str>) =
            new.into_iter().filter(is_there).filter(is_left).partition(counts);
        let owned = |paths: Vec<&str>| paths.into_iter().map(str::to_owned).collect::<Vec<_>>();
        (owned(mine.into_iter().filter(is_there).chain(added).collect()), owned(left_out))
    }

    /// The object id of `path` at `commit`, file or folder; the root for an empty path. `None` if
    /// it is missing.
    pub(super) fn tree_id(&self, commit: &str, path: &str) -> Result<Option<String>, SourceError> {
        let found = self.git(&["rev-parse", "--verify", "--quiet", &format!("{commit}:{path}")])?;
        Ok(found.status.success().then(|| found.stdout.trim().to_owned()))
    }

    /// Listing of those of `paths` that `commit` has, as Git prints it: kind, id and path, one a
    /// line.
    pub(super) fn listing(&self, commit: &str, paths: &[&str]) -> Result<String, SourceError> {
        let mut args = vec!["ls-tree", "--full-tree", commit, "--"];
        args.extend(paths);
        succeed(&self.dir, &args, LIMIT)
    }

    /// A file's text at `commit`; `None` if it is missing.
    pub(super) fn file(&self, commit: &str, path: &str) -> Result<Option<String>, SourceError> {
        if self.tree_id(commit, path)?.is_none() {
            return Ok(None);
        }
        let args = ["cat-file", "blob", &format!("{commit}:{path}")];
        let shown = self.git(&args)?;
        if shown.status.success() { Ok(Some(shown.stdout)) } else { checked(&args, shown).map(Some) }
    }

    /// A file of the checked-out working tree; `None` if it is missing.
    pub(super) fn working_file(&self, path: &str) -> Option<String> {
        if self.bare { None } else { read_text(&self.dir.join(path), MOST_DOCUMENT_BYTES).ok() }
    }

    /// Returns true if `one` and `other` differ in the files that `pathspecs` select.
    pub(super) fn differ(&self, one: &str, other: &str, pathspecs: &[String]) -> Result<bool, SourceError> {
        let mut args = vec!["diff-tree", "-r", "--quiet", one, other, "--"];
        args.extend(pathspecs.iter().map(String::as_str));
        let asked = self.git(&args)?;
        match asked.status.code() {
            Some(0) => Ok(false),
            Some(1) => Ok(true),
            _ => checked(&args, asked).map(|_| false),
        }
    }

    /// Summary and text of the changes between two objects. No program that a repository's
    /// attributes name is run.
    pub(super) fn diff(&self, old: &str, new: &str) -> Result<String, SourceError> {
        let args = ["diff", "--no-color", "--no-ext-diff", "--no-textconv", "--stat", "-p", old, new, "--"];
        succeed(&self.dir, &args, LIMIT)
    }

    /// Branches and tags, the newest first, with the subjects of their commits.
    pub(super) fn names(&self, most: usize) -> Result<Vec<(String, String)>, SourceError> {
        let count = format!("--count={most}");
        let format = "--format=%(refname:short)%09%(subject)";
        let args = ["for-each-ref", "--sort=-creatordate", &count, format, "refs/heads", "refs/tags"];
        let listed = succeed(&self.dir, &args, LIMIT)?;
        let parted = listed.lines().map(|line| line.split_once('\t').unwrap_or((line, "")));
        Ok(parted.map(|(name, subject)| (name.to_owned(), subject.to_owned())).collect())
    }

    /// The commits on the first-parent line of `range`, such as a commit or `OLD..NEW`, that touch
    /// files selected by `pathspecs`, newest first.
    pub(super) fn touching(&self, range: &str, pathspecs: &[String]) -> Result<Vec<String>, SourceError> {
        let mut args = vec!["rev-list", "--first-parent", range, "--"];
        args.extend(pathspecs.iter().map(String::as_str));
        Ok(succeed(&self.dir, &args, LIMIT)?.lines().map(str::to_owned).collect())
    }

    /// Full ids of the commits that `names` stand for; `None` for a name that is unknown. Ids of
    /// commits that a branch or tag reaches, whole or the first digits, take one process together.
    pub(super) fn ids(&self, names: &[String]) -> Result<Vec<Option<String>>, SourceError> {
        let listed = succeed(&self.dir, &["rev-list", "--all"], LIMIT)?;
        let mut reached: Vec<&str> = listed.lines().collect();
        reached.sort_unstable();
        let only = |name: &str| {
            let is_id = name.len() >= LEAST_DIGITS && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            let begin = reached.partition_point(|id| *id < name);
            let mut found = reached.get(begin..)?.iter().take_while(|id| id.starts_with(name));
            let id = found.next().filter(|_| is_id && found.next().is_none())?;
            Some((*id).to_owned())
        };
        Ok(names.iter().map(|name| only(name).or_else(|| self.commit(name).ok())).collect())
    }

    /// Date and subject of `commits`, parents before children.
    pub(super) fn in_order(&self, commits: &[&str]) -> Result<Vec<Commit>, SourceError> {
        if commits.is_empty() {
            return Ok(Vec::new());
        }
        let mut args = vec!["rev-list", "--topo-order", "--date-order", "--reverse"];
        args.extend(commits);
        let wanted: HashSet<&str> = commits.iter().copied().collect();
        let listed = succeed(&self.dir, &args, LIMIT)?;
        let order: Vec<&str> = listed.lines().filter(|id| wanted.contains(id)).collect();
        self.told_in_order(&order)
    }

    /// Date and subject of the commits with these full ids, in their order.
    pub(super) fn told_in_order(&self, ids: &[&str]) -> Result<Vec<Commit>, SourceError> {
        let mut told: HashMap<String, Commit> =
            self.told(ids)?.into_iter().map(|commit| (commit.id.clone(), commit)).collect();
        Ok(ids.iter().filter_map(|id| told.remove(*id)).collect())
    }

    /// Date and subject of `commits`, in no particular order.
    pub(super) fn told(&self, commits: &[&str]) -> Result<Vec<Commit>, SourceError> {
        let mut all = Vec::new();
        // 41 characters each, within the 32,767 of a command line on Windows.
        for some in commits.chunks(500) {
            let mut args = vec!["log", "--no-walk=unsorted", "--format=%H %cs %s"];
            args.extend(some);
            let shown = succeed(&self.dir, &args, LIMIT)?;
            all.extend(shown.lines().filter_map(|line| {
                let mut words = line.splitn(3, ' ').map(str::to_owned);
                let (id, date) = (words.next()?, words.next()?);
                Some(Commit { id, date, subject: words.next().unwrap_or_default() })
            }));
        }
        Ok(all)
    }

    /// Returns true if `old` is `new` or an ancestor of it.
    pub(super) fn is_ancestor(&self, old: &str, new: &str) -> Result<bool, SourceError> {
        let args = ["merge-base", "--is-ancestor", old, new];
        let asked = self.git(&args)?;
        match asked.status.code() {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => checked(&args, asked).map(|_| false),
        }
    }

    /// The commits after `old` on the first-parent line to `new` that touch files selected by
    /// `pathspecs`, oldest first.
    pub(super) fn between(&self, old: &str, new: &str, pathspecs: &[String]) -> Result<Vec<String>, SourceError> {
        let mut commits = self.touching(&format!("{old}..{new}"), pathspecs)?;
        commits.reverse();
        Ok(commits)
    }

    /// Checks `commit` out into `dir`, which must not exist; it is removed with the returned value.
    pub(super) fn checkout(&self, commit: &str, dir: PathBuf) -> Result<Checkout<'_>, SourceError> {
        self.forget_lost(&dir)?;
        let checkout = Checkout { repository: self, dir };
        let target = checkout.dir.to_string_lossy();
        succeed(&self.dir, &["worktree", "add", "--quiet", "--force", "--detach", &target, commit], LIMIT)?;
        Ok(checkout)
    }

    /// Removes Git's records of checkouts whose build was killed and whose files were swept since.
    /// Touches only those beside `dir`, and not the user's worktrees.
    fn forget_lost(&self, dir: &Path) -> Result<(), SourceError> {
        let Some(scratch) = dir.parent().and_then(Path::parent) else { return Ok(()) };
        let scratch = scratch.canonicalize().map_err(io_error("read", scratch))?;
        let listed = succeed(&self.dir, &["worktree", "list", "--porcelain"], LIMIT)?;
        for place in listed.lines().filter_map(|line| line.strip_prefix("worktree ")) {
            let path = Path::new(place);
            if path.starts_with(&scratch) && !path.exists() {
                // Fails if another build is about to make it, and has it locked.
                let _ = self.git(&["worktree", "remove", "--force", place])?;
            }
        }
        Ok(())
    }

    fn git(&self, args: &[&str]) -> Result<CapturedOutput, SourceError> {
        git(&self.dir, args, LIMIT)
    }
}

/// The path of the clone of `url`.
fn clone_dir(url: &str, cache: &Path) -> PathBuf {
    cache.join("repos").join(format!("{}.git", &hash::of_parts([url])[..16]))
}

/// A checked-out commit; dropping it removes the files and Git's note of them.
#[derive(Debug)]
pub(super) struct Checkout<'a> {
    repository: &'a Repository,
    pub(super) dir: PathBuf,
}

impl Drop for Checkout<'_> {
    fn drop(&mut self) {
        // An error cannot be reported from here; the next build sweeps files left behind.
        let target = self.dir.to_string_lossy();
        let removed = self.repository.git(&["worktree", "remove", "--force", "--force", &target]);
        if !removed.is_ok_and(|ran| ran.status.success()) {
            // Git's note of it is removed by the next build: `git worktree prune` would also forget
            // the user's worktrees on a disk that is not mounted today.
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

/// Acquires the lock file `path`, waiting for its holder.
pub(super) fn lock(path: &Path) -> Result<File, SourceError> {
    let file = File::create(path).map_err(io_error("create", path))?;
    file.lock().map_err(io_error("lock", path))?;
    Ok(file)
}

fn task(dir: &Path, args: &[&str], limit: Duration) -> ProgramRun {
    let task = ProgramRun::new("git", limit)
        .of_build()
        .without_git_env()
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C")
        .dir(dir)
        .args(QUIET)
        .args(args);
    // The user's own way to a server is taken as it is.
    let is_set = |name: &str| std::env::var_os(name).is_some();
    if is_set(SSH_COMMAND) || is_set("GIT_SSH") { task } else { task.env(SSH_COMMAND, "ssh -o BatchMode=yes") }
}

/// Runs a command that connects to a server, by `core.sshCommand` if the user has set it.
fn reach(dir: &Path, args: &[&str]) -> Result<CapturedOutput, SourceError> {
    let task = task(dir, args, NETWORK_LIMIT);
    let own = git(dir, &["config", "--get", "core.sshCommand"], LIMIT)?;
    // The variable wins over the key, as in Git.
    if std::env::var_os(SSH_COMMAND).is_some() || !own.status.success() {
        return Ok(task.run()?);
    }
    Ok(task.env(SSH_COMMAND, own.stdout.trim_end_matches('\n')).run()?)
}

fn git(dir: &Path, args: &[&str], limit: Duration) -> Result<CapturedOutput, SourceError> {
    Ok(task(dir, args, limit).run()?)
}

/// The rest of a revision that begins with `HEAD`, or with `@` for it.
fn after_head(rev: &str) -> Option<&str> {
    let rest = rev.strip_prefix("HEAD").or_else(|| rev.strip_prefix('@'))?;
    (rest.is_empty() || rest.starts_with(['~', '^', ':']) || rest.starts_with("@{")).then_some(rest)
}

/// True if a path, or the name of a ref, is below `above`, as below a folder.
fn is_below(path: &str, above: &str) -> bool {
    path.strip_prefix(above).is_some_and(|rest| rest.starts_with('/'))
}

/// Paths from the root that runs left among untracked `files`: their directories, and the files
/// of a tuning beside its runs.
fn left_by_runs(files: &[&str]) -> Vec<String> {
    let all: HashSet<&str> = files.iter().copied().collect();
    let has = |dir: &str, name: &str| all.contains(format!("{dir}/{name}").as_str());
    let journals = files.iter().filter_map(|path| path.strip_suffix(JOURNAL)?.strip_suffix('/'));
    let runs: Vec<&str> = journals.filter(|dir| has(dir, file::FILE_NAME)).collect();
    let tuning = |run: &&str| {
        let (dir, name) = run.rsplit_once('/')?;
        (file::TUNING_FOLDERS.contains(&name) && has(dir, file::TUNING_SETTINGS)).then(|| dir.to_owned())
    };
    let beside = runs.iter().filter_map(tuning).flat_map(|dir| {
        let names = file::TUNING_VALUES.into_iter().chain([file::TUNING_SETTINGS]);
        names.map(move |name| format!("{dir}/{name}"))
    });
    let beside: Vec<String> = beside.collect();
    runs.into_iter().map(str::to_owned).chain(beside).collect()
}

fn succeed(dir: &Path, args: &[&str], limit: Duration) -> Result<String, SourceError> {
    checked(args, git(dir, args, limit)?)
}

fn checked(args: &[&str], ran: CapturedOutput) -> Result<String, SourceError> {
    if ran.status.success() {
        return Ok(ran.stdout.trim().to_owned());
    }
    Err(SourceError::Git { command: args.join(" "), detail: last_line(&ran.stderr) })
}

/// The last line of Git's message, without its prefix.
fn last_line(text: &str) -> String {
    let told = |line: &&str| line.starts_with("fatal: ") || line.starts_with("error: ");
    let line = text.lines().find(told).or_else(|| text.lines().rev().find(|line| !line.trim().is_empty()));
    let line = line.unwrap_or("no message").trim();
    line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_run_directory_is_known_by_its_journal() {
        assert_eq!(super::JOURNAL, crate::journal::FILE_NAME);
    }
}
