//! The way from a spec to a program: look it up, build it if needed, and describe it.

use std::path::{Path, PathBuf};

use crate::os;
use crate::plan;
use crate::plan::time_control::LimitKind;
use crate::source::cache::{self, BuildRequest};
use crate::source::command::Update;
use crate::source::error::{SourceError, io_error};
use crate::source::git::{Repository, TreeSnapshot, WORKING_TREE};
use crate::source::hash;
use crate::source::network::NetworkFile;
use crate::source::recipe::{EVALFILE, NetworkInput, Recipe};
use crate::source::registry::{self, EntryOrigin, Registry, RegistryEntry};
use crate::source::spec::{Spec, is_url, split_words};
use crate::source::untracked;
use crate::text::{printable, short_hash};

/// UCI option by which programs take a network.
const EVAL_FILE: &str = "EvalFile";

/// Directories for looking up specs and for keeping builds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Context {
    /// Paths and `.` are relative to it.
    pub cwd: PathBuf,
    /// Builds and clones; created on demand.
    pub cache: PathBuf,
}

/// An engine ready to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResolvedEngine {
    /// Short name: a commit's first eight digits, a file's name, or a registry name.
    pub name: String,
    /// The program, absolute.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Directory in which it runs; `None` for the current one.
    pub dir: Option<PathBuf>,
    /// UCI options of its recipe or registry entry.
    pub options: Vec<(String, String)>,
    /// Arguments of its bench, split at spaces; empty if its recipe says that it has none.
    pub bench: String,
    /// Identity and origin of the program.
    pub origin: plan::Origin,
    /// Limits that it obeys according to the registry; `None` if unknown.
    pub limits: Option<Vec<LimitKind>>,
}

/// A Git spec that was looked up: the commit to build, and its recipe.
#[derive(Debug)]
pub(super) struct Revision {
    pub(super) repository: Repository,
    /// The commit to build; for a working tree, a commit made of it.
    pub(super) built: String,
    /// The commit that names the engine: the commit itself, or HEAD.
    pub(super) commit: String,
    pub(super) dirty: bool,
    pub(super) recipe: Recipe,
}

impl Context {
    /// The current directory, and `$QUINTAIN_CACHE`, else `$XDG_CACHE_HOME/quintain`, else
    /// `~/.cache/quintain`.
    ///
    /// # Errors
    /// Returns an error if there is no current directory, or neither a home directory nor a
    /// variable, or if a plan cannot name one of the two.
    pub fn from_env() -> Result<Self, SourceError> {
        let cwd = std::env::current_dir().map_err(io_error("find", Path::new("the current directory")))?;
        let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let cache = variable("QUINTAIN_CACHE")
            .or_else(|| variable("XDG_CACHE_HOME").map(|dir| dir.join("quintain")))
            .or_else(os::cache_folder)
            .ok_or(SourceError::NoCache)?;
        let context = Self { cache: cwd.join(cache), cwd };
        for (path, remedy) in [
            (&context.cwd, "rename it, or work in another one"),
            (&context.cache, "name another one for builds by QUINTAIN_CACHE"),
        ] {
            if path.to_str().is_none() {
                return Err(SourceError::FolderName { path: path.clone(), remedy });
            }
        }
        Ok(context)
    }
}

/// Returns the program that `spec` names, built if needed. `progress` is told of each step that may
/// take long.
///
/// # Errors
/// Returns an error if the spec names nothing, or its engine cannot be built or run.
pub fn resolve(
    spec: &str,
    context: &Context,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<ResolvedEngine, SourceError> {
    resolve_with(spec, None, context, progress)
}

/// [`resolve`] with a network of the user's: a built engine takes it as its recipe says, a program
/// by the UCI option `EvalFile`.
///
/// # Errors
/// As [`resolve`], and if the recipe does not say how the engine takes a network.
pub fn resolve_with(
    spec: &str,
    network: Option<&NetworkFile>,
    context: &Context,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<ResolvedEngine, SourceError> {
    let mut engine = match Spec::parse(spec)? {
        Spec::Program(text) => program(spec, &text, network, context, progress)?,
        parsed => {
            let revision = revision(&parsed, context, progress)?;
            build(spec, &revision, network, context, progress)?
        }
    };
    if let Some(network) = network {
        give_network(&mut engine, network);
    }
    Ok(engine)
}

/// Names the network in the engine's name and origin, and sets the option that an engine takes it
/// by if it is not built in.
pub(super) fn give_network(engine: &mut ResolvedEngine, network: &NetworkFile) {
    let given = engine.origin.network.get_or_insert_with(|| given(network, Some(EVAL_FILE.to_owned())));
    engine.name += &format!("+net-{}", given.short());
    if let Some(option) = &given.option {
        let path = network.path.to_string_lossy().into_owned();
        plan::override_options(&mut engine.options, [(option.clone(), path)]);
        // The bench was run without the option.
        engine.origin.bench_nodes = None;
    }
}

fn given(network: &NetworkFile, option: Option<String>) -> plan::Network {
    plan::Network { file: printable(&network.name()), sha256: network.sha256.clone(), option }
}

/// The error for an engine that needs no build and is not there; `None` for one that exists, and
/// for one that is built.
///
/// # Errors
/// Returns an error if the spec or the registry cannot be read.
pub fn missing(spec: &str, context: &Context) -> Result<Option<SourceError>, SourceError> {
    let Spec::Program(text) = Spec::parse(spec)? else { return Ok(None) };
    let (word, _) = split_program(&text, context)?;
    let registry = Registry::load(&context.cwd)?;
    if matches!(registry.get(&word), Some(RegistryEntry { origin: EntryOrigin::Git { .. }, .. })) {
        return Ok(None);
    }
    match resolve(spec, context, &mut |_| {}) {
        Ok(_) => Ok(None),
        Err(
            error @ (SourceError::UnknownName { .. } | SourceError::Program { .. } | SourceError::NotOnPath { .. }),
        ) => Ok(Some(error)),
        Err(error) => Err(error),
    }
}

/// Describes an engine of the registry without building or fetching anything; `None` if that is
/// needed first.
///
/// # Errors
/// Like [`resolve`].
pub fn find(name: &str, context: &Context) -> Result<Option<ResolvedEngine>, SourceError> {
    let registry = Registry::load(&context.cwd)?;
    let Some((engine, EntryOrigin::Git { place, rev, recipe: own })) =
        registry.get(name).map(|engine| (engine, &engine.origin))
    else {
        return resolve(name, context, &mut |_| {}).map(Some);
    };
    let repository = if is_url(place) {
        let Some(clone) = Repository::cloned(place, &context.cache) else { return Ok(None) };
        clone
    } else {
        Repository::open(Path::new(place))?
    };
    let commit = match repository.commit(rev) {
        Ok(commit) => commit,
        // A fetch may bring it.
        Err(SourceError::NoRevision { .. }) if is_url(place) => return Ok(None),
        Err(error) => return Err(error),
    };
    let recipe = recipe(&repository, &commit, short_hash(&commit), (Some(place), own.as_deref()), context)?;
    let request =
        BuildRequest { repository: &repository, commit: &commit, recipe: &recipe, label: name, cache: &context.cache };
    if !cache::has(&request)? {
        return Ok(None);
    }
    let revision = Revision { repository, built: commit.clone(), commit, dirty: false, recipe };
    let mut resolved = build(name, &revision, None, context, &mut |_| {})?;
    give(engine, name, &mut resolved);
    Ok(Some(resolved))
}

/// Looks a Git spec or `.` up, without building.
pub(super) fn revision(
    spec: &Spec,
    context: &Context,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<Revision, SourceError> {
    revision_of(spec, None, context, progress)
}

/// Looks a Git spec or `.` up for an entry of the registry that may have a recipe of its `own`.
fn revision_of(
    spec: &Spec,
    own: Option<&Recipe>,
    context: &Context,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<Revision, SourceError> {
    let (repository, rev) = match spec {
        Spec::Git { rev, repository: None } => (Repository::open(&context.cwd)?, rev),
        Spec::Git { rev, repository: Some(place) } if is_url(place) => {
            let mut repository = Repository::remote(place, &context.cache, progress)?;
            let commit = repository.fetch(rev, progress)?;
            let recipe = recipe(&repository, &commit, short_hash(&commit), (Some(place), own), context)?;
            return Ok(Revision { repository, built: commit.clone(), commit, dirty: false, recipe });
        }
        Spec::Git { rev, repository: Some(place) } => (Repository::open(&context.cwd.join(place))?, rev),
        Spec::Tree | Spec::Program(_) => return working_tree(Repository::open(&context.cwd)?, context, progress),
    };
    let commit = repository.commit(rev)?;
    let recipe = recipe(&repository, &commit, short_hash(&commit), (None, own), context)?;
    Ok(Revision { repository, built: commit.clone(), commit, dirty: false, recipe })
}

/// Looks up the working tree of `repository`.
///
/// Uncommitted changes outside the engine's sources and recipe do not make a different engine.
/// Untracked files of a tracked kind count, and all among the sources that the recipe lists.
fn working_tree(
    repository: Repository,
    context: &Context,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<Revision, SourceError> {
    let mut snapshot = repository.snapshot(&[])?;
    let recipe = recipe(&repository, &snapshot.commit, "", (None, None), context)?;
    if !snapshot.left_out.is_empty() {
        if recipe.sources.is_empty() {
            progress(Update::Note(&untracked::note(&snapshot.left_out)));
        } else {
            snapshot = repository.snapshot(&recipe.sources)?;
        }
    }
    let TreeSnapshot { head, commit: built, .. } = snapshot;
    let dirty = is_other_engine(&repository, &built, &head, &recipe)?;
    Ok(Revision { repository, built, commit: head, dirty, recipe })
}

/// True if two commits differ in the engine's sources or in its recipe.
pub(super) fn is_other_engine(
    repository: &Repository,
    one: &str,
    other: &str,
    recipe: &Recipe,
) -> Result<bool, SourceError> {
    Ok(one != other
        && (repository.differ(one, other, &recipe.pathspecs())?
            || repository.tree_id(one, Recipe::FILE)? != repository.tree_id(other, Recipe::FILE)?))
}

/// The recipe of a commit: its own, else the checked-out tree's (an older commit may have none),
/// else the entry's `own`, else the registry's for this repository, else the detected one. The user
/// calls the repository `place`. Errors name files as `git show` takes them, `REV:FILE`, or by path
/// if `rev` is empty, which means the working tree.
pub(super) fn recipe(
    repository: &Repository,
    commit: &str,
    rev: &str,
    (place, own): (Option<&str>, Option<&Recipe>),
    context: &Context,
) -> Result<Recipe, SourceError> {
    let checked_out = |file: &str| repository.dir.join(file);
    let named = |file: &str| if rev.is_empty() { checked_out(file) } else { PathBuf::from(format!("{rev}:{file}")) };
    if let Some(text) = repository.file(commit, Recipe::FILE)? {
        return Ok(Recipe::parse(&named(Recipe::FILE), &text)?);
    }
    if let Some(text) = repository.working_file(Recipe::FILE) {
        return Ok(Recipe::parse(&checked_out(Recipe::FILE), &text)?);
    }
    if let Some(own) = own {
        return Ok(own.clone());
    }
    if let Some(recipe) = Registry::load(&context.cwd)?.recipe(place, &repository.dir) {
        return Ok(recipe.clone());
    }
    let mut reason = "it has no quintain.toml, Cargo.toml or Makefile at its root";
    if let Some(manifest) = repository.file(commit, "Cargo.toml")? {
        if let Some(recipe) = Recipe::cargo(&named("Cargo.toml"), &manifest)? {
            let script = repository.file(commit, "build.rs")?;
            return Ok(recipe.with_script(script.as_deref(), NetworkInput::Variable(EVALFILE.to_owned())));
        }
        reason = "its Cargo.toml is of a workspace without a package";
    }
    for name in ["GNUmakefile", "makefile", "Makefile"] {
        if let Some(script) = repository.file(commit, name)? {
            return Ok(Recipe::make().with_script(Some(&script), NetworkInput::MakeVariable));
        }
    }
    Err(SourceError::NoRecipe { what: short_hash(commit).to_owned(), reason: reason.to_owned() })
}

/// The recipe of a revision that builds `network` in or names it by an option. A recipe that does
/// not say how takes the way of the checked-out tree's, which an older commit does not know.
fn networked(revision: &Revision, name: &str, network: &NetworkFile) -> Result<Recipe, SourceError> {
    let Revision { repository, recipe, .. } = revision;
    let mut recipe = recipe.clone();
    if recipe.network.is_none()
        && let Some(text) = repository.working_file(Recipe::FILE)
    {
        recipe.network = Recipe::parse(&repository.dir.join(Recipe::FILE), &text)?.network;
    }
    if recipe.network.is_none() {
        return Err(SourceError::NoNetworkInput { what: name.to_owned() });
    }
    Ok(recipe.with_network(&network.path))
}

pub(super) fn build(
    spec: &str,
    revision: &Revision,
    network: Option<&NetworkFile>,
    context: &Context,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<ResolvedEngine, SourceError> {
    let Revision { repository, built: target, commit, dirty, recipe } = revision;
    let name = format!("{}{}", short_hash(commit), if *dirty { "-dirty" } else { "" });
    let with = network.map(|network| networked(revision, &name, network)).transpose()?;
    let recipe = with.as_ref().unwrap_or(recipe);
    let option = match &recipe.network {
        Some(NetworkInput::Option(option)) => Some(option.clone()),
        _ => None,
    };
    let label = recipe.name.as_ref().map_or_else(|| name.clone(), |engine| format!("{engine} {name}"));
    let request = BuildRequest { repository, commit: target, recipe, label: &label, cache: &context.cache };
    let built = cache::build(&request, progress)?;
    Ok(ResolvedEngine {
        name,
        program: built.program,
        args: Vec::new(),
        dir: None,
        options: recipe.options.clone(),
        bench: recipe.bench.clone(),
        origin: plan::Origin {
            spec: spec.to_owned(),
            commit: Some(commit.clone()),
            subject: subject(repository, target),
            tree: repository.tree_id(target, "")?,
            dirty: *dirty,
            recipe: Some(recipe.command.clone()),
            toolchain: built.toolchain,
            sha256: built.sha256,
            bench_nodes: built.bench_nodes,
            network: network.map(|network| given(network, option)),
        },
        limits: None,
    })
}

/// First line of a commit's message; of a working tree, that of the commit below it. `None` if Git
/// does not know.
pub(super) fn subject(repository: &Repository, commit: &str) -> Option<String> {
    let of = |commit: &str| Some(printable(&repository.told(&[commit]).ok()?.into_iter().next()?.subject));
    let own = of(commit).filter(|subject| !subject.trim().is_empty())?;
    if own != WORKING_TREE {
        return Some(own);
    }
    of(&format!("{commit}^")).map(|below| format!("Changes after \"{below}\""))
}

/// Splits the text of a program into its path or name and its arguments, which follow after ` -- `
/// or directly. The path of a file and a name of the registry may have blanks.
fn split_program(text: &str, context: &Context) -> Result<(String, Vec<String>), SourceError> {
    if is_file(text, context) || is_registered(text, context)? {
        return Ok((text.to_owned(), Vec::new()));
    }
    let Some((start, args)) = text.split_once(" -- ") else {
        let mut words = split_words(text)?.into_iter();
        return Ok((words.next().unwrap_or_default(), words.collect()));
    };
    let start = start.trim();
    let is_whole = is_file(start, context) || is_registered(start, context)?;
    let word = if is_whole { start.to_owned() } else { split_words(start)?.join(" ") };
    Ok((word, split_words(args)?))
}

/// True if the registry has an engine of this name. A path is no name, so it needs no registry.
fn is_registered(text: &str, context: &Context) -> Result<bool, SourceError> {
    Ok(!text.contains(std::path::is_separator) && Registry::load(&context.cwd)?.get(text).is_some())
}

/// Finds an executable by path, by registry name, or on PATH.
fn program(
    spec: &str,
    text: &str,
    network: Option<&NetworkFile>,
    context: &Context,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<ResolvedEngine, SourceError> {
    let (word, args) = split_program(text, context)?;
    if word.is_empty() {
        let reason = "write a path or a name before the arguments".to_owned();
        return Err(SourceError::Spec { spec: spec.to_owned(), reason });
    }
    let mut resolved = ResolvedEngine {
        name: file_name(&word),
        program: context.cwd.join(&word),
        args,
        dir: None,
        options: Vec::new(),
        bench: "bench".to_owned(),
        origin: plan::Origin { spec: spec.to_owned(), ..plan::Origin::default() },
        limits: None,
    };
    if !word.contains(std::path::is_separator) {
        named(&word, &mut resolved, network, context, progress)?;
    }
    check(&resolved.program)?;
    resolved.program = std::path::absolute(&resolved.program).map_err(io_error("find", &resolved.program))?;
    resolved.origin.sha256 = hash::of_file(&resolved.program)?;
    Ok(resolved)
}

/// The program's file name without an extension that names the file type; `engine-17.1` keeps its
/// version.
fn file_name(word: &str) -> String {
    let name = Path::new(word).file_name().unwrap_or_default().to_string_lossy();
    let stem = [".exe", ".sh", ".py"].into_iter().find_map(|ending| name.strip_suffix(ending));
    stem.filter(|stem| !stem.is_empty()).unwrap_or(&name).to_owned()
}

/// Looks a name up in the registry, else in the current directory, else on PATH.
fn named(
    word: &str,
    resolved: &mut ResolvedEngine,
    network: Option<&NetworkFile>,
    context: &Context,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<(), SourceError> {
    let registry = Registry::load(&context.cwd)?;
    let Some(engine) = registry.get(word) else {
        if !is_file(word, context) {
            resolved.program = registry::on_path(Path::new(word)).ok_or_else(|| registry.unknown(word))?;
        }
        return Ok(());
    };
    match &engine.origin {
        EntryOrigin::Command(command) if command.is_absolute() => resolved.program.clone_from(command),
        EntryOrigin::Command(command) => {
            resolved.program = registry::on_path(command)
                .ok_or_else(|| SourceError::NotOnPath { name: word.to_owned(), command: command.clone() })?;
        }
        EntryOrigin::Git { place, rev, recipe } => {
            let from = Spec::Git { rev: rev.clone(), repository: Some(place.clone()) };
            let found = revision_of(&from, recipe.as_deref(), context, progress)?;
            let built = build(&resolved.origin.spec, &found, network, context, progress)?;
            *resolved = ResolvedEngine { args: std::mem::take(&mut resolved.args), ..built };
        }
    }
    give(engine, word, resolved);
    Ok(())
}

/// Copies name, arguments, options and directory from the registry. Its options win over those of
/// the tree's recipe.
fn give(engine: &RegistryEntry, name: &str, resolved: &mut ResolvedEngine) {
    name.clone_into(&mut resolved.name);
    resolved.args.splice(..0, engine.args.iter().cloned());
    plan::override_options(&mut resolved.options, engine.options.iter().cloned());
    resolved.dir.clone_from(&engine.dir);
    resolved.limits.clone_from(&engine.limits);
}

fn check(program: &Path) -> Result<(), SourceError> {
    let reason = match program.metadata() {
        Err(error) => format!("{error}; give the path of an executable, a name or `git:REV`"),
        Ok(meta) if meta.is_dir() => "it is a folder; give a program in it, or `git:REV@FOLDER`".to_owned(),
        Ok(_) if !os::is_executable(program) => format!("it is not executable; {}", os::HOW_TO_MAKE_EXECUTABLE),
        Ok(_) => return Ok(()),
    };
    Err(SourceError::Program { path: program.to_path_buf(), reason })
}

fn is_file(text: &str, context: &Context) -> bool {
    context.cwd.join(text).is_file()
}
