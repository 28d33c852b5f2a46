//! Builds and their cache: a commit's program is built once.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::command::Job;
use super::git::Repository;
use super::recipe::{Recipe, short};
use super::{SourceError, hash};

/// A compiler may take this long.
const BUILD: Duration = Duration::from_secs(3600);

/// A signature may take this long; without one an engine is tested all the same.
const BENCH: Duration = Duration::from_secs(120);

/// Lines of a compiler's output shown when it fails.
const SHOWN_LINES: usize = 20;

/// Part of every key, so that a change of what is cached forgets what was.
const FORMAT: &str = "quintain build 1";

/// A program that was built from a commit.
#[derive(Clone, Debug)]
pub(super) struct Built {
    pub(super) program: PathBuf,
    pub(super) toolchain: String,
    pub(super) sha256: String,
    pub(super) bench_nodes: Option<u64>,
}

/// `build.json` beside a cached program.
#[derive(Serialize, Deserialize)]
struct Note {
    commit: String,
    command: String,
    toolchain: String,
    sha256: String,
    bench_nodes: Option<u64>,
}

/// The program of `commit`, from the cache or built now. `progress` hears what takes long.
pub(super) fn build(
    repository: &Repository,
    commit: &str,
    recipe: &Recipe,
    cache: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<Built, SourceError> {
    let toolchain = toolchain(recipe, repository.dir());
    let folder = cache.join("builds").join(key(repository, commit, recipe, &toolchain));
    let parent = folder.parent().unwrap_or(cache).to_owned();
    let cache_error = |path: &Path| {
        let path = path.to_owned();
        move |source| SourceError::Cache { path, source }
    };
    fs::create_dir_all(&parent).map_err(cache_error(&parent))?;
    // Two processes that want the same program wait for one build.
    let lock_path = folder.with_extension("lock");
    let lock = File::create(&lock_path).map_err(cache_error(&lock_path))?;
    lock.lock().map_err(cache_error(&lock_path))?;
    if let Some(built) = cached(&folder) {
        return Ok(built);
    }
    progress(&format!("building {}: {}", short(commit), recipe.command));
    let scratch = tempfile::Builder::new().prefix(".build-").tempdir_in(&parent).map_err(cache_error(&parent))?;
    let compiled = compile(repository, commit, recipe, scratch.path())?;
    let done = scratch.path().join("done");
    fs::create_dir(&done).map_err(cache_error(&done))?;
    let program = done.join(compiled.file_name().unwrap_or_else(|| "engine".as_ref()));
    fs::copy(&compiled, &program).map_err(|source| SourceError::Program { path: compiled.clone(), source })?;
    progress(&format!("measuring the signature of {}", short(commit)));
    let note = Note {
        commit: commit.to_owned(),
        command: recipe.command.clone(),
        toolchain,
        sha256: hash::file(&program)?,
        bench_nodes: recipe.bench.as_deref().and_then(|words| bench(&program, words)),
    };
    let text = serde_json::to_string_pretty(&note).unwrap_or_default();
    fs::write(done.join("build.json"), text).map_err(cache_error(&done))?;
    fs::rename(&done, &folder).map_err(cache_error(&folder))?;
    cached(&folder).ok_or_else(|| SourceError::NoBinary { path: folder.clone(), command: recipe.command.clone() })
}

/// What a finished build left, where it is whole.
fn cached(folder: &Path) -> Option<Built> {
    let note: Note = serde_json::from_str(&fs::read_to_string(folder.join("build.json")).ok()?).ok()?;
    let program = fs::read_dir(folder)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.file_name().is_some_and(|name| name != "build.json"))?;
    Some(Built { program, toolchain: note.toolchain, sha256: note.sha256, bench_nodes: note.bench_nodes })
}

fn key(repository: &Repository, commit: &str, recipe: &Recipe, toolchain: &str) -> String {
    let identity = recipe.identity(repository, commit);
    let parts = format!("{FORMAT}\0{identity:?}\0{}\0{}\0{:?}\0{toolchain}", recipe.command, recipe.binary, recipe.env);
    hash::text(&parts)
}

/// What tells this compiler from another; `unknown` where it does not say.
fn toolchain(recipe: &Recipe, dir: &Path) -> String {
    let [program, args @ ..] = recipe.toolchain else { return String::new() };
    match Job::new(program, dir, Duration::from_secs(60)).args(args).run() {
        Ok(output) if output.success => output.stdout.lines().next().unwrap_or_default().to_owned(),
        _ => "unknown".to_owned(),
    }
}

/// Builds in a work tree under `scratch`; returns the program, still in there.
fn compile(repository: &Repository, commit: &str, recipe: &Recipe, scratch: &Path) -> Result<PathBuf, SourceError> {
    let tree = repository.worktree(commit, &scratch.join("tree"))?;
    let target = scratch.join("target");
    let mut job = Job::new("sh", tree.path(), BUILD).args(["-c", &recipe.command]).env("CARGO_TARGET_DIR", &target);
    // The caller's flags would make the program depend on who built it.
    for key in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "MAKEFLAGS"] {
        job = job.without_env(key);
    }
    for (key, value) in &recipe.env {
        job = job.env(key, value);
    }
    let output = job.run()?;
    if !output.success {
        let text = format!("{}{}", output.stdout, output.stderr);
        let lines: Vec<_> = text.lines().collect();
        let shown = lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n");
        return Err(SourceError::Build { commit: short(commit), command: recipe.command.clone(), output: shown });
    }
    let binary = match recipe.binary.strip_prefix("target/") {
        Some(rest) => target.join(rest),
        None => tree.path().join(&recipe.binary),
    };
    if !binary.is_file() {
        return Err(SourceError::NoBinary { path: recipe.binary.clone().into(), command: recipe.command.clone() });
    }
    // Out of the work tree before that goes.
    let kept = scratch.join(binary.file_name().unwrap_or_else(|| "engine".as_ref()));
    fs::copy(&binary, &kept).map_err(|source| SourceError::Program { path: binary.clone(), source })?;
    Ok(kept)
}

/// The node count that `program WORDS` ends with, if it has one.
fn bench(program: &Path, words: &str) -> Option<u64> {
    let name = program.to_string_lossy();
    let dir = program.parent()?;
    let output = Job::new(&name, dir, BENCH).args(words.split_whitespace()).run().ok()?;
    parse_bench(&output.stdout).or_else(|| parse_bench(&output.stderr))
}

/// The last count in the usual forms: `123 nodes 456 nps`, `Nodes searched  : 123`, `Bench: 123`.
fn parse_bench(text: &str) -> Option<u64> {
    let number = |word: &str| word.replace([',', '_'], "").parse::<u64>().ok();
    text.lines().rev().find_map(|line| {
        let lower = line.to_ascii_lowercase();
        if let Some((before, _)) = lower.split_once(" nodes ") {
            return number(before.split_whitespace().last()?);
        }
        let (key, value) = lower.split_once(':')?;
        let known = ["nodes searched", "bench", "total nodes", "nodes"].contains(&key.trim());
        known.then(|| number(value.split_whitespace().next()?)).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signatures() {
        let cases = [
            ("info depth 3\n1234567 nodes 2345678 nps\n", Some(1_234_567)),
            ("Total time (ms) : 12\nNodes searched  : 4242\nNodes/second    : 99\n", Some(4_242)),
            ("Bench: 17\n", Some(17)),
            ("hello\n", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_bench(text), expected, "{text}");
        }
    }
}
