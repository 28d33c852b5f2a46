//! Where an engine comes from: the working tree, a Git revision, a file, a name.
//!
//! Reading order: this file (what can be asked for), `recipe` (how a tree is built), `build` (the cache), `git`, `registry`,
//! `command` (the only place here that runs programs).

mod build;
mod command;
mod git;
mod hash;
mod recipe;
mod registry;
mod spec;

use std::path::{Path, PathBuf};

use git::Repository;
use recipe::{Recipe, short};

pub use command::CommandError;
pub use spec::Spec;

/// Where to look and where to build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Relative paths and `.` start here.
    pub cwd: PathBuf,
    /// Builds and clones are kept here.
    pub cache: PathBuf,
}

impl Context {
    /// The current directory, and `$QUINTAIN_CACHE`, else `$XDG_CACHE_HOME/quintain`, else `~/.cache/quintain`.
    ///
    /// # Errors
    /// [`SourceError::NoPlace`] where neither is known.
    pub fn from_env() -> Result<Self, SourceError> {
        let var = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = var("QUINTAIN_CACHE")
            .or_else(|| Some(var("XDG_CACHE_HOME")?.join("quintain")))
            .or_else(|| Some(var("HOME")?.join(".cache/quintain")))
            .ok_or(SourceError::NoPlace)?;
        let cwd = std::env::current_dir().map_err(|_| SourceError::NoPlace)?;
        // Builds run in other folders, so a relative cache would move with them.
        let cache = cwd.join(cache);
        Ok(Self { cwd, cache })
    }
}

/// An engine ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolved {
    /// What to call it.
    pub name: String,
    /// The program, absolute.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it runs; `None` for the current directory.
    pub dir: Option<PathBuf>,
    /// UCI options that its own files ask for.
    pub options: Vec<(String, String)>,
    /// As typed.
    pub spec: String,
    /// The commit it was built from; for a changed working tree the commit that it is based on.
    pub commit: Option<String>,
    /// The Git tree it was built from.
    pub tree: Option<String>,
    /// True where the engine's sources had uncommitted changes.
    pub dirty: bool,
    /// The command it was built with.
    pub recipe: Option<String>,
    /// The compiler.
    pub toolchain: Option<String>,
    /// Of the program file, in hex.
    pub sha256: String,
    /// Nodes over the engine's fixed positions.
    pub bench_nodes: Option<u64>,
}

/// Why there is no engine to run.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// Neither a current directory nor a home.
    #[error("no folder for builds: set QUINTAIN_CACHE or HOME")]
    NoPlace,
    /// Not a spec.
    #[error("`{spec}`: {why}")]
    Spec {
        /// As typed.
        spec: String,
        /// What is wrong and what would be right.
        why: String,
    },
    /// No such name, and no such file.
    #[error(
        "`{name}` is neither a file nor an engine of configs/engines.toml{nearest}; a path needs a slash, a commit `git:`"
    )]
    Unknown {
        /// As typed.
        name: String,
        /// `, did you mean ...?` or nothing.
        nearest: String,
    },
    /// A program that cannot be read.
    #[error("{path}: {source}", path = path.display())]
    Program {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// A file that is no program.
    #[error("{path}: not an executable file; make it one with `chmod +x`, or give another path", path = path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// No Git repository.
    #[error("{dir}: not in a Git repository; give engines by path, or run this in the engine's repository", dir = dir.display())]
    NoRepository {
        /// Where it was looked for.
        dir: PathBuf,
    },
    /// No such commit, branch or tag.
    #[error("no revision `{revision}` in {repository}; `git log --oneline --all` lists what there is", repository = repository.display())]
    NoRevision {
        /// As typed.
        revision: String,
        /// Where.
        repository: PathBuf,
    },
    /// No second program to compare with.
    #[error("no earlier commit has other engine sources than `{new}`; name one with --base")]
    NoBase {
        /// The tested engine.
        new: String,
    },
    /// A repository that could not be brought here.
    #[error("cannot clone {url}: {why}")]
    Clone {
        /// From where.
        url: String,
        /// Git's last line.
        why: String,
    },
    /// Git said no.
    #[error("{command}: {why}")]
    Git {
        /// Which command.
        command: String,
        /// Its last line.
        why: String,
    },
    /// Nothing says how to build it.
    #[error(
        "commit {commit} has no quintain.toml, Cargo.toml or Makefile; add a quintain.toml with [build] command and binary"
    )]
    NoRecipe {
        /// The commit.
        commit: String,
    },
    /// A recipe with a fault.
    #[error("quintain.toml of {commit}, {why}")]
    Recipe {
        /// The commit.
        commit: String,
        /// Line and reason.
        why: String,
    },
    /// The registry has a fault.
    #[error("{path}:{line}: {why}", path = path.display())]
    Registry {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
    /// The compiler said no.
    #[error("building {commit} failed: `{command}`; the last lines were:\n{output}")]
    Build {
        /// The commit.
        commit: String,
        /// The recipe's command.
        command: String,
        /// Its last lines.
        output: String,
    },
    /// The build left no program.
    #[error("`{command}` succeeded but left no {path}; correct `binary` in quintain.toml", path = path.display())]
    NoBinary {
        /// What was expected.
        path: PathBuf,
        /// The recipe's command.
        command: String,
    },
    /// The cache cannot be used.
    #[error("{path}: {source}; set QUINTAIN_CACHE to a folder that can be written", path = path.display())]
    Cache {
        /// What was tried.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// A program that could not be run.
    #[error(transparent)]
    Command(#[from] CommandError),
}

/// Finds or builds the engine that `spec` names. `progress` hears what takes long, one line at a time.
///
/// # Errors
/// [`SourceError`], each with its remedy.
pub fn resolve(spec: &str, context: &Context, progress: &mut dyn FnMut(&str)) -> Result<Resolved, SourceError> {
    match Spec::parse(spec, context)? {
        Spec::WorkingTree => {
            let repository = Repository::discover(&context.cwd)?;
            let snapshot = repository.snapshot()?;
            from_commit(spec, &repository, &snapshot, context, progress)
        }
        Spec::Revision { revision, place } => {
            let repository = repository(place.as_deref(), &revision, context)?;
            let commit = repository.commit(&revision)?;
            from_commit(spec, &repository, &commit, context, progress)
        }
        Spec::Program { name, program, args, dir, options } => {
            check_executable(&program)?;
            let sha256 = hash::file(&program)?;
            Ok(Resolved {
                name,
                program,
                args,
                dir,
                options,
                spec: spec.to_owned(),
                commit: None,
                tree: None,
                dirty: false,
                recipe: None,
                toolchain: None,
                sha256,
                bench_nodes: None,
            })
        }
    }
}

fn repository(place: Option<&str>, revision: &str, context: &Context) -> Result<Repository, SourceError> {
    match place {
        None => Repository::discover(&context.cwd),
        Some(path) if context.cwd.join(path).exists() => Repository::discover(&context.cwd.join(path)),
        Some(url) if url.contains("://") || url.contains(':') => Repository::cloned(url, revision, &context.cache),
        Some(path) => Err(SourceError::NoRepository { dir: context.cwd.join(path) }),
    }
}

fn from_commit(
    spec: &str,
    repository: &Repository,
    commit: &str,
    context: &Context,
    progress: &mut dyn FnMut(&str),
) -> Result<Resolved, SourceError> {
    let recipe = Recipe::of(repository, commit)?;
    let built = build::build(repository, commit, &recipe, &context.cache, progress)?;
    // A snapshot's commit is nobody's; what people know is the commit below it.
    let head = repository.commit("HEAD").ok();
    let snapshot_base = (spec == ".").then_some(head).flatten().filter(|head| head != commit);
    let dirty = snapshot_base
        .as_ref()
        .is_some_and(|head| recipe.identity(repository, head) != recipe.identity(repository, commit));
    let known = snapshot_base.unwrap_or_else(|| commit.to_owned());
    Ok(Resolved {
        name: format!("{}{}", short(&known), if dirty { "-dirty" } else { "" }),
        program: built.program,
        args: Vec::new(),
        dir: None,
        options: recipe.options.clone(),
        spec: spec.to_owned(),
        tree: repository.object_at(commit, ""),
        commit: Some(known),
        dirty,
        recipe: Some(recipe.command),
        toolchain: Some(built.toolchain),
        sha256: built.sha256,
        bench_nodes: built.bench_nodes,
    })
}

/// The spec of the newest commit whose engine sources differ from those of `new`: what a change is tested against unless told
/// otherwise. `HEAD` itself where `new` is a working tree with changed sources.
///
/// # Errors
/// [`SourceError::NoBase`] where there is none; [`SourceError::Spec`] where `new` has no history.
pub fn default_base(context: &Context, new: &str) -> Result<String, SourceError> {
    let (repository, commit, place) = match Spec::parse(new, context)? {
        Spec::WorkingTree => {
            let repository = Repository::discover(&context.cwd)?;
            let snapshot = repository.snapshot()?;
            (repository, snapshot, None)
        }
        Spec::Revision { revision, place } => {
            let repository = repository(place.as_deref(), &revision, context)?;
            let commit = repository.commit(&revision)?;
            (repository, commit, place)
        }
        Spec::Program { .. } => {
            let why = "a program has no history to take a base from; name one with --base".to_owned();
            return Err(SourceError::Spec { spec: new.to_owned(), why });
        }
    };
    let recipe = Recipe::of(&repository, &commit)?;
    let tested = recipe.identity(&repository, &commit);
    for earlier in repository.history(&commit)? {
        let identity = recipe.identity(&repository, &earlier);
        // Where a source or the recipe is missing there was no engine yet, or none that is built in the same way.
        let same_kind = Recipe::stands_in(&repository, &earlier) == Recipe::stands_in(&repository, &commit);
        if same_kind && identity.iter().all(Option::is_some) && identity != tested {
            let at = place.map_or_else(String::new, |place| format!("@{place}"));
            return Ok(format!("git:{earlier}{at}"));
        }
    }
    Err(SourceError::NoBase { new: new.to_owned() })
}

fn check_executable(path: &Path) -> Result<(), SourceError> {
    use std::os::unix::fs::PermissionsExt as _;
    let about = std::fs::metadata(path).map_err(|source| SourceError::Program { path: path.to_owned(), source })?;
    if about.is_file() && about.permissions().mode() & 0o111 != 0 {
        Ok(())
    } else {
        Err(SourceError::NotExecutable { path: path.to_owned() })
    }
}
