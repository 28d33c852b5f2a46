//! Cache of builds: a commit whose sources were built before in the same way is not built again.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tempfile::TempDir;

use crate::os;
use crate::source::bench;
use crate::source::command::{ProgramRun, Update};
use crate::source::error::{SourceError, io_error};
use crate::source::git::{self, Repository};
use crate::source::hash;
use crate::source::recipe::{PINS, Recipe};

/// Raised when the meaning of a key or of `build.json` changes.
const FORMAT: u32 = 4;
const BUILD_LIMIT: Duration = Duration::from_secs(3600);
const VERSION_LIMIT: Duration = Duration::from_secs(60);
const TAIL_LINES: usize = 20;
/// The caller's environment variables that compilers and Makefiles obey.
const FLAGS: [&str; 14] = [
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_INCREMENTAL",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "MAKEFLAGS",
    "ARCH",
    "COMP",
    "EXTRACXXFLAGS",
    "EXTRALDFLAGS",
];
/// Beginnings of the names of variables that Cargo obeys.
const CARGO_FLAGS: [&str; 5] = ["CARGO_BUILD_", "CARGO_PROFILE_", "CARGO_TARGET_", "CARGO_UNSTABLE_", "RUSTC"];
/// Those of them that make no other program.
const HARMLESS: [&str; 3] = ["CARGO_BUILD_JOBS", "CARGO_BUILD_TARGET_DIR", "CARGO_TARGET_DIR"];

/// A commit to build.
#[derive(Debug)]
pub(super) struct BuildRequest<'a> {
    pub(super) repository: &'a Repository,
    pub(super) commit: &'a str,
    pub(super) recipe: &'a Recipe,
    /// Text for messages.
    pub(super) label: &'a str,
    pub(super) cache: &'a Path,
}

/// A program in the cache.
#[derive(Debug)]
pub(super) struct CachedBuild {
    pub(super) program: PathBuf,
    pub(super) toolchain: Option<String>,
    pub(super) sha256: String,
    pub(super) bench_nodes: Option<u64>,
}

/// `build.json`.
#[derive(Debug, Serialize, Deserialize)]
struct BuildNote {
    format: u32,
    commit: String,
    command: String,
    binary: String,
    toolchain: Option<String>,
    sha256: String,
    bench_nodes: Option<u64>,
}

/// Returns the program of `request`, built now unless it is in the cache.
pub(super) fn build(
    request: &BuildRequest<'_>,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<CachedBuild, SourceError> {
    let builds = request.cache.join("builds");
    fs::create_dir_all(&builds).map_err(io_error("create", &builds))?;
    let key = key(request)?;
    let _lock = git::lock(&builds.join(format!("{key}.lock")))?;
    let home = builds.join(key);
    if let Some(built) = stored(&home) {
        progress(Update::Step(&format!("{} is built already", request.label)));
        return Ok(built);
    }
    let scratch = Scratch::new(request.cache)?;
    let stage = scratch.dir.path().join("stage");
    fs::create_dir(&stage).map_err(io_error("create", &stage))?;
    make(request, &scratch, &stage, progress)?;
    if home.exists() {
        fs::remove_dir_all(&home).map_err(io_error("remove the damaged build", &home))?;
    }
    fs::rename(&stage, &home).map_err(io_error("create", &home))?;
    stored(&home).ok_or_else(|| SourceError::Program {
        path: home,
        reason: "the build changed while it was stored; try again".to_owned(),
    })
}

/// Returns true if the program of `request` is in the cache.
pub(super) fn has(request: &BuildRequest<'_>) -> Result<bool, SourceError> {
    Ok(stored(&request.cache.join("builds").join(key(request)?)).is_some())
}

/// Ids of a commit's sources, one a path; `None` if the commit lacks it.
fn source_ids(repository: &Repository, commit: &str, recipe: &Recipe) -> Result<Vec<Option<String>>, SourceError> {
    if recipe.sources.is_empty() {
        return Ok(vec![repository.tree_id(commit, "")?]);
    }
    recipe.sources.iter().map(|path| repository.tree_id(commit, path)).collect()
}

fn key(request: &BuildRequest<'_>) -> Result<String, SourceError> {
    let BuildRequest { repository, commit, recipe, .. } = request;
    let mut parts =
        vec![format!("quintain build {FORMAT}"), std::env::consts::ARCH.to_owned(), os::processor_features()];
    parts.extend([&recipe.command, &recipe.binary, &recipe.bench].map(Clone::clone));
    parts.extend(recipe.env.iter().map(|(name, value)| format!("{name}={value}")));
    for name in FLAGS {
        let value = std::env::var_os(name).unwrap_or_default();
        parts.push(format!("{name}={}", value.to_string_lossy()));
    }
    parts.extend(cargo_flags());
    parts.extend(cargo_settings(recipe, request.cache));
    for name in recipe.network_variables() {
        let Some(value) = variable(recipe, name) else { continue };
        parts.push(format!("{name}={}", value.to_string_lossy()));
        // A relative path starts in the tree that is built.
        let network = Path::new(&value);
        if network.is_absolute() && network.is_file() {
            parts.push(hash::of_file(network)?);
        }
    }
    let ids = source_ids(repository, commit, recipe)?;
    if let (Some(None), Some(path)) = (ids.first(), recipe.sources.first()) {
        return Err(SourceError::NoSource { path: path.clone(), what: request.label.to_owned() });
    }
    for id in ids {
        parts.push(id.unwrap_or_default());
    }
    parts.push(repository.listing(commit, &PINS)?);
    parts.push(toolchain_of(request)?.unwrap_or_default());
    Ok(hash::of_parts(parts.iter().map(String::as_str)))
}

/// A variable of the build's environment.
fn variable(recipe: &Recipe, name: &str) -> Option<OsString> {
    recipe.env.get(name).map(OsString::from).or_else(|| std::env::var_os(name))
}

/// The caller's variables that Cargo obeys, as `NAME=VALUE`.
fn cargo_flags() -> Vec<String> {
    let is_flag = |name: &str| CARGO_FLAGS.iter().any(|start| name.starts_with(start)) && !HARMLESS.contains(&name);
    let told = |(name, value): (OsString, OsString)| {
        let name = name.to_str().filter(|name| is_flag(name))?;
        Some(format!("{name}={}", value.to_string_lossy()))
    };
    let mut flags: Vec<String> = std::env::vars_os().filter_map(told).collect();
    flags.sort_unstable();
    flags
}

/// Hashes of Cargo's configuration outside the tree: of the user, and of the folders above the
/// build.
fn cargo_settings(recipe: &Recipe, cache: &Path) -> Vec<String> {
    let place = cache.canonicalize().unwrap_or_else(|_| cache.to_owned());
    let home = variable(recipe, "CARGO_HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let users = home.or_else(|| os::home().map(|home| home.join(".cargo")));
    let folders = place.ancestors().map(|dir| dir.join(".cargo")).chain(users);
    let files = folders.flat_map(|dir| ["config", "config.toml"].map(|name| dir.join(name)));
    files.filter_map(|file| hash::of_file(&file).ok()).collect()
}

/// Versions of the compilers that build a commit. That of Rust depends on the commit's toolchain
/// file and on the folders above the build.
fn toolchain_of(request: &BuildRequest<'_>) -> Result<Option<String>, SourceError> {
    let BuildRequest { repository, commit, recipe, cache, .. } = request;
    if recipe.compiler().and_then(|command| command.first()) != Some(&"rustc") {
        return toolchain(recipe, &repository.dir);
    }
    let scratch = Scratch::new(cache)?;
    let dir = scratch.dir.path();
    for name in ["rust-toolchain.toml", "rust-toolchain"] {
        if let Some(text) = repository.file(commit, name)? {
            fs::write(dir.join(name), text).map_err(io_error("write into", dir))?;
        }
    }
    toolchain(recipe, dir)
}

/// Versions of the compilers in `dir`, on one line: those that the user names, else the usual one.
fn toolchain(recipe: &Recipe, dir: &Path) -> Result<Option<String>, SourceError> {
    let Some([program, args @ ..]) = recipe.compiler() else { return Ok(None) };
    if *program == "rustc" {
        return version(program, args, dir).map(|lines| Some(lines.join("; ")));
    }
    let first = |lines: Vec<String>| lines.into_iter().next().unwrap_or_default();
    let named = recipe.named_compilers(|name| std::env::var(name).ok());
    // A name that does not run is for the build to refuse; a Makefile may use another.
    let told = |command: &String| {
        let mut words = command.split_whitespace();
        let (program, before) = (words.next()?, words.collect::<Vec<_>>());
        version(program, &[before.as_slice(), args].concat(), dir).ok().map(first)
    };
    let versions: Vec<String> = named.iter().filter_map(told).collect();
    if versions.is_empty() {
        return version(program, args, dir).map(first).map(Some);
    }
    Ok(Some(versions.join("; ")))
}

/// Lines in which a compiler tells its version.
fn version(program: &str, args: &[&str], dir: &Path) -> Result<Vec<String>, SourceError> {
    let ran = ProgramRun::new(program, VERSION_LIMIT).args(args).dir(dir).run()?;
    if !ran.status.success() {
        let reason = ran.stderr.lines().find(|line| !line.trim().is_empty()).unwrap_or("it fails to tell its version");
        return Err(SourceError::Program { path: PathBuf::from(program), reason: format!("{reason}; install it") });
    }
    Ok(ran.stdout.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Build in `home`, if it is complete.
fn stored(home: &Path) -> Option<CachedBuild> {
    let note: BuildNote = serde_json::from_slice(&fs::read(home.join("build.json")).ok()?).ok()?;
    let program = home.join(&note.binary);
    let whole = note.format == FORMAT && hash::of_file(&program).ok()? == note.sha256;
    whole.then_some(CachedBuild {
        program,
        toolchain: note.toolchain,
        sha256: note.sha256,
        bench_nodes: note.bench_nodes,
    })
}

/// Builds into `stage`: the program and its note.
fn make(
    request: &BuildRequest<'_>,
    scratch: &Scratch,
    stage: &Path,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<(), SourceError> {
    let BuildRequest { recipe, label, .. } = request;
    let root = scratch.dir.path();
    let checkout = request.repository.checkout(request.commit, root.join("tree"))?;
    let toolchain = toolchain(recipe, &checkout.dir)?;
    progress(Update::Step(&format!("building {label}: {}", recipe.command)));
    compile(request, &checkout.dir, &root.join("target"), progress)?;

    let made = locate(request, &checkout.dir, &root.join("target"))?;
    let name = made.file_name().unwrap_or("engine".as_ref());
    let program = stage.join(name);
    take(&made, &program, root)?;
    let sha256 = hash::of_file(&program)?;
    let bench_nodes = if recipe.bench.trim().is_empty() {
        None
    } else {
        progress(Update::Step(&format!("running the bench of {label}")));
        bench::run(&program, &recipe.bench, root)
    };
    let note = BuildNote {
        format: FORMAT,
        commit: request.commit.to_owned(),
        command: recipe.command.clone(),
        binary: name.to_string_lossy().into_owned(),
        toolchain,
        sha256,
        bench_nodes,
    };
    let path = stage.join("build.json");
    let failed = |source: serde_json::Error| io_error("write", &path)(source.into());
    fs::write(&path, serde_json::to_vec_pretty(&note).map_err(failed)?).map_err(io_error("write", &path))
}

fn compile(
    request: &BuildRequest<'_>,
    tree: &Path,
    target: &Path,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<(), SourceError> {
    let recipe = request.recipe;
    let mut task = ProgramRun::guarded("sh", BUILD_LIMIT)
        .without_git_env()
        .args(["-c", &recipe.command])
        .dir(tree)
        .env("CARGO_TARGET_DIR", target)
        .of_build()
        .merged();
    for (name, value) in &recipe.env {
        task = task.env(name, value);
    }
    let ran = task.run_watched(&mut |line| progress(Update::Output(line)))?;
    if ran.status.success() {
        return Ok(());
    }
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let tail = lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n");
    Err(SourceError::Build {
        what: request.label.to_owned(),
        command: recipe.command.clone(),
        status: ran.status.to_string(),
        tail: if tail.is_empty() { "(it printed nothing)".to_owned() } else { tail },
    })
}

/// The path of the program that the build made.
fn locate(request: &BuildRequest<'_>, tree: &Path, target: &Path) -> Result<PathBuf, SourceError> {
    let binary = &request.recipe.binary;
    built(binary, tree, target).ok_or_else(|| SourceError::NoBinary {
        what: request.label.to_owned(),
        command: request.recipe.command.clone(),
        binary: binary.clone(),
    })
}

/// The file of a recipe's `binary`, which may lack the ending that the system gives to programs.
fn built(binary: &str, tree: &Path, target: &Path) -> Option<PathBuf> {
    let in_target = binary.strip_prefix("target/").map(|rest| target.join(rest));
    let named = in_target.into_iter().chain([tree.join(binary)]);
    named.flat_map(|path| [os::program_names(&path), vec![path]].concat()).find(|path| path.is_file())
}

/// Moves the program to `program`; copies it if it is a link to something outside the scratch
/// folder.
fn take(made: &Path, program: &Path, scratch: &Path) -> Result<(), SourceError> {
    let real = made.canonicalize().map_err(io_error("read", made))?;
    let scratch = scratch.canonicalize().map_err(io_error("read", scratch))?;
    if real.starts_with(&scratch) {
        // Not copied: a file that was open for writing in this process may be "busy" if it is run
        // at once.
        return fs::rename(&real, program).map_err(io_error("store", program));
    }
    fs::copy(&real, program).map(|_| ()).map_err(io_error("store", program))
}

/// Beginning of the names of folders to build in.
const SCRATCH: &str = "quintain-build-";

/// True if no process holds the lock file `path`, or its holder was killed before it made the file.
fn is_free(path: &Path) -> bool {
    match File::open(path) {
        Ok(file) => file.try_lock().is_ok(),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

/// A folder to build in, removed at the end; one left by a killed process is removed by the next
/// build.
#[derive(Debug)]
struct Scratch {
    dir: TempDir,
    _lock: File,
}

impl Scratch {
    fn new(cache: &Path) -> Result<Self, SourceError> {
        let root = cache.join("scratch");
        fs::create_dir_all(&root).map_err(io_error("create", &root))?;
        // Held while folders are created and removed, so that none is swept before it is locked.
        let _door = git::lock(&cache.join("scratch.lock"))?;
        for entry in fs::read_dir(&root).map_err(io_error("read", &root))?.flatten() {
            // Another folder there may be the user's.
            let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(SCRATCH));
            if is_ours && is_free(&entry.path().join("lock")) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let dir = tempfile::Builder::new().prefix(SCRATCH).tempdir_in(&root);
        let dir = dir.map_err(io_error("write into", &root))?;
        let lock = git::lock(&dir.path().join("lock"))?;
        Ok(Self { dir, _lock: lock })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_with_the_ending_of_the_system() {
        let folder = tempfile::tempdir().unwrap();
        let (tree, target) = (folder.path().join("tree"), folder.path().join("target"));
        let write = |path: PathBuf| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "").unwrap();
            path
        };
        let name = |stem: &str| format!("{stem}{}", std::env::consts::EXE_SUFFIX);
        assert_eq!(built("target/release/toy", &tree, &target), None);
        let in_tree = write(tree.join(name("target/release/toy")));
        assert_eq!(built("target/release/toy", &tree, &target), Some(in_tree));
        let in_target = write(target.join(name("release/toy")));
        assert_eq!(built("target/release/toy", &tree, &target), Some(in_target));
        let made = write(tree.join(name("engine")));
        assert_eq!(built("engine", &tree, &target), Some(made));
        // A recipe may give the whole name, and a name without any ending.
        let script = write(tree.join("engine.sh"));
        assert_eq!(built("engine.sh", &tree, &target), Some(script));
    }
}
