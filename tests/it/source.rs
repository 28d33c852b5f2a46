//! Engines from Git: revisions and working trees built by a recipe, the cache, what goes wrong, the
//! default base.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop at the first surprise, as tests do")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use quintain::source::{Context, ResolvedEngine, SourceError, Update, default_base, missing, resolve};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

use crate::harness::{FAKE, Ran, git, lives, quintain, until};

/// Copies a shell script to where the program is expected, and leaves a mark in the log that it
/// ran.
const RECIPE: &str = "\
[build]
command = 'echo built >> \"$LOG\" && cp engine/main.sh engine.bin && chmod +x engine.bin'
binary = 'engine.bin'
sources = ['engine']
env = { LOG = '@LOG@' }
[engine]
name = 'toy'
options = { Hash = 16 }
";

/// A repository with a toy engine, and a cache of its own.
pub(crate) struct Toy {
    folder: TempDir,
    pub(crate) context: Context,
}

impl Toy {
    /// Without a commit.
    pub(crate) fn bare() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().join("repository");
        fs::create_dir(&cwd).unwrap();
        let context = Context { cwd, cache: folder.path().join("cache") };
        let toy = Self { folder, context };
        toy.git(&["init", "--quiet", "--initial-branch=main"]);
        toy
    }

    /// With one commit.
    fn new() -> Self {
        let toy = Self::bare();
        toy.write("quintain.toml", &RECIPE.replace("@LOG@", &toy.log().to_string_lossy()));
        toy.write("engine/main.sh", &script(1));
        toy.write(".gitignore", "*.log\n");
        toy.commit("One");
        toy
    }

    /// Without a recipe, so that the whole tree counts. Two commits; the first is returned.
    fn detected() -> (Self, String) {
        let toy = Self::bare();
        toy.write("Makefile", "engine: main.sh\n\tcp main.sh engine && chmod +x engine\n");
        toy.write("main.sh", &script(1));
        let one = toy.commit("One");
        toy.write("main.sh", &script(2));
        toy.commit("Two");
        (toy, one)
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    /// Number of times that the recipe ran.
    fn builds(&self) -> usize {
        fs::read_to_string(self.log()).map_or(0, |log| log.lines().count())
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.context.cwd.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn git(&self, args: &[&str]) -> String {
        git(&self.context.cwd, args)
    }

    /// Commits everything; returns the commit.
    pub(crate) fn commit(&self, message: &str) -> String {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "-m", message]);
        self.git(&["rev-parse", "HEAD"])
    }

    pub(crate) fn resolve(&self, spec: &str) -> Result<ResolvedEngine, SourceError> {
        resolve(spec, &self.context, &mut |_| {})
    }

    fn fails(&self, spec: &str) -> String {
        self.resolve(spec).unwrap_err().to_string()
    }

    fn base(&self, new: &str) -> Result<String, String> {
        default_base(&self.context, new, &mut |_| {}).map_err(|error| error.to_string())
    }

    /// No checkout, no folder to build in, and no note of one in the repository is left.
    fn assert_clean(&self) {
        assert_eq!(fs::read_dir(self.context.cache.join("scratch")).unwrap().count(), 0);
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
    }
}

/// An engine whose bench has this many nodes.
pub(crate) fn script(nodes: u32) -> String {
    format!("#!/bin/sh\n[ \"$1\" = bench ] && echo '{nodes} nodes 1 nps'\n")
}

pub(crate) fn executable(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_commit_is_built_once() {
    let toy = Toy::new();
    let head = toy.git(&["rev-parse", "HEAD"]);
    let first = toy.resolve("git:main").unwrap();
    assert_eq!(first.name, head[..8]);
    assert_eq!(first.origin.commit.as_deref(), Some(head.as_str()));
    assert_eq!(first.origin.tree, Some(toy.git(&["rev-parse", "HEAD^{tree}"])));
    assert_eq!((first.origin.dirty, first.origin.bench_nodes, first.origin.sha256.len()), (false, Some(1), 64));
    assert_eq!(first.options, [("Hash".to_owned(), "16".to_owned())]);
    assert!(first.program.is_absolute() && first.program.starts_with(&toy.context.cache));
    assert_eq!(fs::read_to_string(&first.program).unwrap(), script(1));
    toy.assert_clean();

    let again = toy.resolve("git:HEAD").unwrap();
    assert_eq!((again.program, again.origin.bench_nodes, toy.builds()), (first.program.clone(), Some(1), 1));
    toy.write("README", "no source of the engine");
    let other = toy.commit("Two");
    let same = toy.resolve("git:HEAD").unwrap();
    assert_eq!((same.program, toy.builds(), same.name.as_str()), (first.program, 1, &other[..8]));
}

#[test]
fn a_damaged_build_is_made_anew() {
    let toy = Toy::new();
    let built = toy.resolve("git:HEAD").unwrap();
    fs::write(&built.program, "damaged").unwrap();
    let again = toy.resolve("git:HEAD").unwrap();
    assert_eq!((again.origin.sha256, toy.builds()), (built.origin.sha256, 2));
}

/// They decide what is built, wherever the sources lie, and make no other engine to test against.
#[test]
fn a_lock_file_or_profile_makes_a_new_build_of_the_same_engine() {
    let toy = Toy::new();
    let mut built = vec![toy.resolve("git:HEAD").unwrap().program];
    for file in ["Cargo.toml", "Cargo.lock", ".cargo/config.toml", "Makefile", "rust-toolchain.toml"] {
        for text in ["one", "two"] {
            toy.write(file, text);
            let clean = toy.resolve(".").unwrap();
            assert!(!clean.origin.dirty, "{file}");
            toy.commit(file);
            assert_eq!(toy.resolve("git:HEAD").unwrap().program, clean.program, "{file}");
            assert!(!built.contains(&clean.program), "{file}");
            built.push(clean.program);
        }
    }
    assert_eq!(toy.builds(), built.len());
    assert!(toy.base(".").unwrap_err().contains("has engine sources other than"));
    toy.write("sub/Cargo.lock", "no build reads it");
    assert_eq!(Some(&toy.resolve(".").unwrap().program), built.last());
}

#[test]
fn the_working_tree_counts_with_its_changes() {
    let toy = Toy::new();
    let clean = toy.resolve(".").unwrap();
    assert_eq!((clean.origin.dirty, clean.origin.bench_nodes), (false, Some(1)));
    toy.write("notes", "no source of the engine");
    let clean = toy.resolve(".").unwrap();
    assert_eq!((clean.origin.dirty, clean.name.ends_with("-dirty"), toy.builds()), (false, false, 1));

    toy.write("engine/main.sh", &script(2));
    toy.git(&["add", "engine/main.sh"]);
    toy.write("engine/main.sh", &script(3));
    let before = toy.git(&["status", "--porcelain"]);
    let dirty = toy.resolve(".").unwrap();
    let head = toy.git(&["rev-parse", "HEAD"]);
    assert_eq!(
        (dirty.origin.dirty, dirty.origin.bench_nodes, dirty.name),
        (true, Some(3), format!("{}-dirty", &head[..8]))
    );
    assert_eq!(dirty.origin.commit.as_deref(), Some(head.as_str()));
    assert_ne!(dirty.origin.tree, clean.origin.tree);
    assert_eq!(toy.git(&["status", "--porcelain"]), before, "the user's index is as it was");
    assert_eq!(toy.git(&["show", ":engine/main.sh"]), script(2).trim());
    toy.assert_clean();
}

#[test]
fn untracked_files_count_and_ignored_ones_do_not() {
    let toy = Toy::new();
    toy.write("engine/trace.log", "ignored");
    assert!(!toy.resolve(".").unwrap().origin.dirty);
    toy.write("engine/new.sh", "untracked");
    assert!(toy.resolve(".").unwrap().origin.dirty);
    assert_eq!(toy.builds(), 2);
    assert_eq!(toy.git(&["status", "--porcelain"]), "?? engine/new.sh");
}

#[test]
fn what_a_run_leaves_is_no_change_to_the_engine() {
    let (toy, one) = Toy::detected();
    let left = |dir: &str| {
        for file in ["plan.toml", "games.jsonl", "games.pgn", "stderr/new-1.log"] {
            toy.write(&format!("{dir}/{file}"), &format!("what a run leaves in {file}"));
        }
    };
    let journal = |dir: &str| toy.git(&["hash-object", &format!("{dir}/games.jsonl")]);
    for dir in ["results/runs/1-sprt", "results/runs/2-a [b]*", "sub/:out"] {
        left(dir);
        let resolved = toy.resolve(".").unwrap();
        assert_eq!((resolved.origin.dirty, resolved.origin.bench_nodes), (false, Some(2)), "{dir}");
        assert_eq!(toy.base("."), Ok(format!("git:{one}")), "{dir}");
        let stored = toy.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
        assert!(!stored.contains(&journal(dir)), "{dir}");
    }
    // A tuning has files beside its runs.
    left("results/tuned/tune");
    for file in ["tuning.toml", "options.toml", "values.txt"] {
        toy.write(&format!("results/tuned/{file}"), "of a tuning");
    }
    assert!(!toy.resolve(".").unwrap().origin.dirty);
    // A file that only has the name of one is a file of the tree.
    toy.write("data/games.jsonl", "no run");
    toy.git(&["add", "data"]);
    assert!(toy.resolve(".").unwrap().origin.dirty);
}

/// Of a whole tree a new source counts, and what a compiler, a linker or a profiler left does not.
#[test]
fn an_untracked_artefact_is_no_change_to_the_engine() {
    let (toy, one) = Toy::detected();
    let clean = toy.resolve(".").unwrap();
    for file in ["engine", "main.o", "build.log", "target/x.d", "notes"] {
        toy.write(file, &format!("an artefact: {file}"));
    }
    let mut notes = Vec::new();
    let mut keep = |update: Update<'_>| {
        if let Update::Note(text) = update {
            notes.push(text.to_owned());
        }
    };
    let resolved = resolve(".", &toy.context, &mut keep).unwrap();
    assert_eq!(
        (resolved.origin.dirty, &resolved.origin.tree, &resolved.program),
        (false, &clean.origin.tree, &clean.program)
    );
    let [note] = &notes[..] else { panic!("{notes:?}") };
    assert!(note.contains("left out: build.log, engine, main.o and 2 more; `git add`"), "{note}");
    assert_eq!(toy.base("."), Ok(format!("git:{one}")));
    let stored = toy.git(&["cat-file", "--batch-all-objects", "--batch-check=%(objectname)"]);
    assert!(!stored.contains(&toy.git(&["hash-object", "main.o"])), "it is not even stored");
    // What was deleted is a change, and so is a file that the user staged.
    toy.git(&["add", "notes"]);
    assert!(toy.resolve(".").unwrap().origin.dirty);
    toy.git(&["rm", "--quiet", "--cached", "notes"]);
    for file in ["src/new.rs", "a b/\u{e4}*.sh", "src/first.c"] {
        toy.write(file, "a new source");
        assert!(toy.resolve(".").unwrap().origin.dirty, "{file}");
        fs::remove_file(toy.context.cwd.join(file)).unwrap();
    }
    assert!(!toy.resolve(".").unwrap().origin.dirty);
    // `make` would take a tracked program for the one that it makes.
    fs::remove_file(toy.context.cwd.join("engine")).unwrap();
    toy.write("doomed.sh", "");
    toy.commit("Everything, artefacts too");
    assert!(!toy.resolve(".").unwrap().origin.dirty);
    fs::remove_file(toy.context.cwd.join("doomed.sh")).unwrap();
    assert!(toy.resolve(".").unwrap().origin.dirty);
}

#[test]
fn missing_things_are_named() {
    let toy = Toy::new();
    let error = toy.fails("git:no-such-branch");
    assert!(error.starts_with("no commit, branch or tag `no-such-branch` in "), "{error}");
    let error = toy.fails("git:main@../nowhere");
    assert!(error.contains("nowhere is not in a Git repository"), "{error}");
    let error = toy.fails("./no-such-file");
    assert!(error.starts_with("cannot run ") && error.contains("no-such-file"), "{error}");
    let error = toy.fails("no-such-engine-anywhere");
    assert!(error.starts_with("no engine called `no-such-engine-anywhere`"), "{error}");
    let error = toy.fails("./engine/main.sh");
    assert!(error.contains("chmod +x"), "{error}");
    let error = Toy::bare().fails(".");
    assert!(error.contains("no commit yet"), "{error}");
}

#[test]
fn a_failed_build_shows_the_last_lines_and_leaves_nothing() {
    let toy = Toy::new();
    let recipe =
        "[build]\ncommand = 'for i in $(seq 30); do echo line $i; done; echo broken >&2; exit 3'\nbinary = 'x'\n";
    toy.write("quintain.toml", recipe);
    toy.commit("Break");
    let error = toy.fails("git:HEAD");
    let lines: Vec<&str> = error.lines().collect();
    assert!(lines[0].starts_with("cannot build ") && lines[0].contains("exit status: 3"), "{error}");
    assert_eq!((lines.len(), lines[1], lines[20]), (21, "line 12", "broken"));
    let kept = fs::read_dir(toy.context.cache.join("builds")).unwrap();
    assert!(kept.flatten().all(|entry| entry.file_type().unwrap().is_file()), "only locks are left");
    toy.assert_clean();

    toy.write("quintain.toml", "[build]\ncommand = 'true'\nbinary = 'nothing'\n");
    let error = toy.fails(".");
    assert!(error.contains("left no `nothing`"), "{error}");
}

/// Whatever ends Quintain, a compiler that it started ends too, and so does all that the compiler
/// started.
#[test]
fn a_build_ends_with_the_harness() {
    for signal in [Signal::TERM, Signal::KILL] {
        let toy = Toy::new();
        let pids = toy.folder.path().join("pids");
        let command = format!("sleep 300 & echo $! $$ > '{}'; sleep 300", pids.display());
        toy.write("quintain.toml", &format!("[build]\ncommand = \"{command}\"\nbinary = 'x'\n"));
        toy.commit("Take long");
        let mut child = quintain(&["sprt", "--new", "git:HEAD", "--base", "git:HEAD~1", "--nodes", "1"])
            .current_dir(&toy.context.cwd)
            .env("QUINTAIN_CACHE", &toy.context.cache)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut building = String::new();
        until("a compiler", || {
            building = fs::read_to_string(&pids).unwrap_or_default();
            building.ends_with('\n')
        });
        kill_process(Pid::from_child(&child), signal).unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(signal.as_raw()));
        for pid in building.split_whitespace() {
            until("the end of the build", || !lives(pid.parse().unwrap()));
        }
        // What it left behind goes with the next build, and nothing of the user's with it.
        let users = toy.folder.path().join("away");
        toy.git(&["worktree", "add", "--quiet", "--detach", &users.to_string_lossy()]);
        fs::remove_dir_all(&users).unwrap();
        toy.resolve("git:HEAD~1").unwrap();
        let listed = toy.git(&["worktree", "list", "--porcelain"]);
        let known: Vec<_> = listed.lines().filter_map(|line| line.strip_prefix("worktree ")).map(Path::new).collect();
        assert_eq!(
            known,
            [toy.context.cwd.canonicalize().unwrap(), users.parent().unwrap().canonicalize().unwrap().join("away")]
        );
    }
}

#[test]
fn a_broken_recipe_is_named_with_its_line() {
    let toy = Toy::new();
    toy.write("quintain.toml", "[build]\ncommand = 'make'\nbinarry = 'x'\n");
    let error = toy.fails(".");
    assert!(error.ends_with("quintain.toml:3:1: unknown key `binarry`, did you mean `binary`?"), "{error}");
    fs::remove_file(toy.context.cwd.join("quintain.toml")).unwrap();
    let error = toy.fails(".");
    assert!(error.contains("cannot tell how to build"), "{error}");
}

#[test]
fn an_older_commit_is_built_by_the_present_recipe() {
    let toy = Toy::bare();
    toy.write("engine/main.sh", &script(7));
    let old = toy.commit("Before the recipe");
    toy.write("quintain.toml", &RECIPE.replace("@LOG@", &toy.log().to_string_lossy()));
    toy.commit("Recipe");
    assert_eq!(toy.resolve(&format!("git:{old}")).unwrap().origin.bench_nodes, Some(7));
}

#[test]
fn other_repositories_are_used_in_place_or_cloned() {
    let toy = Toy::new();
    let elsewhere = Context { cwd: toy.folder.path().to_path_buf(), cache: toy.context.cache.clone() };
    let head = toy.git(&["rev-parse", "HEAD"]);
    let in_place = resolve("git:main@repository", &elsewhere, &mut |_| {}).unwrap();
    assert_eq!(in_place.origin.commit.as_deref(), Some(head.as_str()));

    let spec = format!("git:main@file://{}", toy.context.cwd.display());
    let cloned = resolve(&spec, &elsewhere, &mut |_| {}).unwrap();
    assert_eq!((cloned.origin.commit.as_deref(), cloned.program), (Some(head.as_str()), in_place.program));
    toy.write("engine/main.sh", &script(5));
    let moved = toy.commit("Five");
    let fetched = resolve(&spec, &elsewhere, &mut |_| {}).unwrap();
    assert_eq!((fetched.origin.commit, fetched.origin.bench_nodes), (Some(moved), Some(5)));
    let error = resolve(&spec.replace("main", "nothing"), &elsewhere, &mut |_| {}).unwrap_err().to_string();
    assert!(error.starts_with("no commit, branch or tag `nothing` in file://"), "{error}");
}

#[test]
fn the_default_base_is_the_newest_other_engine() {
    let toy = Toy::new();
    let none = toy.base(".").unwrap_err();
    assert!(none.contains("has engine sources other than") && none.contains("name the base"), "{none}");
    let one = toy.git(&["rev-parse", "HEAD"]);
    toy.write("engine/main.sh", &script(2));
    assert_eq!(toy.base("."), Ok(format!("git:{one}")), "uncommitted changes are tested against HEAD");

    toy.write("README", "text");
    toy.git(&["add", "README"]);
    toy.git(&["commit", "--quiet", "-m", "Text"]);
    let text = toy.git(&["rev-parse", "HEAD"]);
    let two = toy.commit("Two");
    assert_eq!(toy.base("."), Ok(format!("git:{text}")));
    toy.write("README", "more text");
    toy.commit("More text");
    assert_eq!(toy.base("."), Ok(format!("git:{text}")), "commits with the same engine are passed over");
    assert_eq!(toy.base("git:HEAD"), Ok(format!("git:{text}")));
    toy.write("engine/main.sh", &script(1));
    let back = toy.commit("One again");
    assert_eq!(toy.base("git:HEAD~1"), Ok(format!("git:{back}")));
    let base = toy.base(&format!("git:{one}")).unwrap();
    assert_ne!(toy.resolve(&base).unwrap().origin.bench_nodes, Some(1));
    assert_eq!(toy.resolve(&format!("git:{two}")).unwrap().origin.bench_nodes, Some(2));
    assert!(toy.base("stockfish").unwrap_err().contains("name the base"));
}

/// The words of the program in a toy's repository, with its cache.
fn words(toy: &Toy, line: &str) -> Ran {
    let mut command = quintain(&line.split_whitespace().collect::<Vec<_>>());
    command.current_dir(&toy.context.cwd).env("QUINTAIN_CACHE", &toy.context.cache).output().unwrap().into()
}

#[test]
fn texts_and_excluded_files_make_no_other_engine() {
    let (toy, one) = Toy::detected();
    for file in ["README.md", "docs/guide.md", "License", "COPYING.txt", "CHANGELOG", ".gitignore", ".github/ci.yml"] {
        toy.write(file, "untracked");
        assert!(!toy.resolve(".").unwrap().origin.dirty, "{file}, untracked");
        toy.commit(file);
        assert_eq!(toy.base("."), Ok(format!("git:{one}")), "{file}");
    }
    // A build may read texts all the same, and CMakeLists.txt is none.
    for file in ["CMakeLists.txt", "src/new.c", "note.txt"] {
        toy.write(file, "staged");
        toy.git(&["add", file]);
        assert!(toy.resolve(".").unwrap().origin.dirty, "{file}");
        toy.git(&["rm", "--quiet", "--force", file]);
    }
    // A list of its own takes the place of the usual one.
    let recipe = |exclude: &str| format!("[build]\ncommand = 'make'\nbinary = 'engine'\nexclude = [{exclude}]\n");
    toy.write("quintain.toml", &recipe("'*.txt', 'docs/', 'tools/*.py'"));
    toy.commit("Recipe");
    for (file, is_dirty) in [
        ("note.txt", false),
        ("a/b.TXT", false),
        ("docs/x", false),
        ("tools/x.py", false),
        ("x.py", true),
        ("y.md", true),
    ] {
        toy.write(file, "untracked");
        assert_eq!(toy.resolve(".").unwrap().origin.dirty, is_dirty, "{file}");
        fs::remove_file(toy.context.cwd.join(file)).unwrap();
    }
}

/// Sources that differ may still build the same program: only programs tell.
#[test]
fn the_base_is_the_newest_commit_with_another_program() {
    let toy = Toy::new();
    let engine = format!("#!/bin/sh\nexec '{FAKE}' --seed 1\n");
    toy.write("engine/main.sh", &engine);
    let other = toy.commit("Another program");
    toy.write("engine/main.sh", &engine.replace("--seed 1", "--seed 2"));
    toy.commit("A program");
    for file in ["engine/comment", "engine/more"] {
        toy.write(file, "is built into nothing");
        toy.commit(file);
    }
    let play = "sprt --nodes 1 --max-plies 8 --max-pairs 1 -j 1 --option Hash=1 --out run";
    let ran = words(&toy, play);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.stderr.contains("builds the same program as `.`"), "{ran:?}");
    assert!(
        ran.stderr.contains(&format!("base is {}, the newest commit with another program", &other[..8])),
        "{ran:?}"
    );
    assert!(ran.stderr.contains("1 of 2: building toy ") && ran.stderr.contains("2 of 2: building toy "), "{ran:?}");
    let plan = fs::read_to_string(toy.context.cwd.join("run/plan.toml")).unwrap();
    assert!(plan.contains(&other), "{plan}");
    // Nothing else in the history: said, and not played.
    let toy = Toy::new();
    toy.write("engine/main.sh", &engine);
    toy.write("engine/comment", "is built into nothing");
    toy.git(&["add", "--all"]);
    toy.git(&["commit", "--quiet", "--amend", "-m", "One"]);
    toy.write("engine/comment", "nor is this");
    toy.commit("Two");
    let ran = words(&toy, play);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("every commit with other engine sources than `.` (1)"), "{ran:?}");
    // Named, it is refused as well, and played if that is wanted.
    assert_eq!(words(&toy, &format!("{play} --base git:HEAD~1")).code, Some(2));
    assert_eq!(words(&toy, &format!("{play} --allow-same")).code, Some(3));
}

#[test]
fn commits_without_an_engine_are_no_base() {
    let toy = Toy::bare();
    toy.write("README", "text");
    toy.commit("Text");
    toy.write("quintain.toml", &RECIPE.replace("@LOG@", &toy.log().to_string_lossy()));
    toy.write("engine/main.sh", &script(1));
    let one = toy.commit("One");
    assert!(toy.base(".").unwrap_err().contains("has engine sources other than"));
    toy.write("engine/main.sh", &script(2));
    toy.commit("Two");
    assert_eq!(toy.base("."), Ok(format!("git:{one}")));
}

#[test]
fn a_program_is_called_as_its_file() {
    let toy = Toy::new();
    for (file, name) in [
        ("eng-17.1", "eng-17.1"),
        ("eng-17.1.sh", "eng-17.1"),
        ("eng.exe", "eng"),
        ("eng.v2.py", "eng.v2"),
        ("eng.bin", "eng.bin"),
        ("eng.tar.sh.exe", "eng.tar.sh"),
        (".sh", ".sh"),
    ] {
        executable(&toy.context.cwd.join(file), "#!/bin/sh\n");
        assert_eq!(toy.resolve(&format!("./{file}")).unwrap().name, name);
    }
}

#[test]
fn programs_take_arguments_and_names_come_from_the_registry() {
    let toy = Toy::new();
    let cwd = &toy.context.cwd;
    executable(&cwd.join("a b.sh"), "#!/bin/sh\n");
    executable(&cwd.join("plain.sh"), "#!/bin/sh\n");
    let whole = toy.resolve("./a b.sh").unwrap();
    assert_eq!((whole.name.as_str(), whole.program, whole.args.len()), ("a b", cwd.join("a b.sh"), 0));
    let dashed = toy.resolve("./a b.sh -- --x 'y z'").unwrap();
    assert_eq!(dashed.args, ["--x", "y z"]);
    let split = toy.resolve("./plain.sh --threads 1").unwrap();
    assert_eq!((split.name.as_str(), split.origin.bench_nodes), ("plain", None));
    assert_eq!(split.args, ["--threads", "1"]);

    toy.write(
        "configs/engines.toml",
        "[engines.mine]\ncommand = '../plain.sh'\nargs = ['-q']\noptions = { Hash = 8 }\n",
    );
    let mine = toy.resolve("mine --more").unwrap();
    assert_eq!(mine.name, "mine");
    assert_eq!(mine.args, ["-q", "--more"]);
    assert_eq!(mine.options, [("Hash".to_owned(), "8".to_owned())]);
    assert!(toy.fails("mina").ends_with("did you mean `mine`?"));
    assert_eq!(toy.resolve("sh").unwrap().name, "sh");
}

#[test]
fn names_of_the_registry_may_have_blanks() {
    let toy = Toy::new();
    executable(&toy.context.cwd.join("plain.sh"), "#!/bin/sh\n");
    let entry = |name: &str| format!("[engines.\"{name}\"]\ncommand = '../plain.sh'\n");
    let built = "[engines.\"From Git\"]\ngit = '..'\n";
    toy.write("configs/engines.toml", &(entry("Rapid Fish 2") + &entry("Bob's own") + built));
    let none: &[&str] = &[];
    for (spec, name, args) in [
        ("Rapid Fish 2", "Rapid Fish 2", none),
        ("'Rapid Fish 2'", "Rapid Fish 2", none),
        ("Rapid Fish 2 -- --x 'y z'", "Rapid Fish 2", &["--x", "y z"]),
        ("'Rapid Fish 2' --x", "Rapid Fish 2", &["--x"]),
        ("Bob's own", "Bob's own", none),
        ("Bob's own -- --x", "Bob's own", &["--x"]),
    ] {
        let found = toy.resolve(spec).unwrap();
        assert!(found.name == name && found.args == args, "{spec}: {found:?}");
        assert!(missing(spec, &toy.context).unwrap().is_none(), "{spec}");
    }
    // Nothing is built to see whether an engine that is built is there.
    for spec in ["From Git", "From Git -- --x", "'From Git' --x"] {
        assert!(missing(spec, &toy.context).unwrap().is_none(), "{spec}");
    }
    assert_eq!(toy.builds(), 0);
    assert_eq!((toy.resolve("From Git").unwrap().name.as_str(), toy.builds()), ("From Git", 1));
    assert!(toy.fails("Rapid").ends_with("did you mean `Rapid Fish 2`?"));
    let add = "; add [engines.\"Some Engine\"] with its command";
    assert!(toy.fails("'Some Engine'").contains(add), "{}", toy.fails("'Some Engine'"));
}
