//! Engines in the form in which they are tuned, and commits of their sources with tuned values.

use std::path::Path;
use std::time::Duration;

use super::command::{ProgramRun, Update};
use super::error::SourceError;
use super::git::{Repository, WORKING_TREE};
use super::history::spec_of;
use super::network::NetworkFile;
use super::patch::{PatchError, Template};
use super::recipe::TuneRecipe;
use super::resolve::{self, Context, ResolvedEngine, Revision};
use super::spec::{Spec, is_url, split_words};
use crate::plan::Origin;

/// Longest wait for a program to print its parameters.
const ROWS_LIMIT: Duration = Duration::from_secs(60);

/// An engine to be tuned.
#[derive(Debug)]
pub struct TunableEngine {
    /// The program whose options are its parameters.
    pub engine: ResolvedEngine,
    /// Arguments with which it prints its parameters, if the recipe has them.
    params: Option<String>,
    /// Sources to write the values into, if the recipe names them.
    pub sources: Option<Sources>,
}

/// Sources of an engine at the commit that was tuned.
#[derive(Clone, Debug)]
pub struct Sources {
    repository: Repository,
    /// The commit that was built; for a changed working tree, one that is on no branch.
    built: String,
    /// True for a changed working tree.
    dirty: bool,
    template: Template,
}

/// Builds the engine of `spec`, with a network of the user's if there is one, by its recipe's
/// `[tune]` table, or in the usual way if there is none.
///
/// # Errors
/// Like [`resolve_with`](super::resolve_with).
pub fn tunable(
    spec: &str,
    network: Option<&NetworkFile>,
    context: &Context,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<TunableEngine, SourceError> {
    let parsed = Spec::parse(spec)?;
    if matches!(parsed, Spec::Program(_)) {
        let engine = resolve::resolve_with(spec, network, context, progress)?;
        return Ok(TunableEngine { engine, params: None, sources: None });
    }
    let mut revision = resolve::revision(&parsed, context, progress)?;
    let tune = revision.recipe.tune.clone();
    revision.recipe = revision.recipe.tunable();
    let mut engine = resolve::build(spec, &revision, network, context, progress)?;
    if let Some(network) = network {
        resolve::give_network(&mut engine, network);
    }
    let TuneRecipe { params, template, .. } = tune.unwrap_or_default();
    let Revision { repository, built, dirty, .. } = revision;
    let sources = template.map(|template| Sources { repository, built, dirty, template });
    Ok(TunableEngine { engine, params, sources })
}

impl TunableEngine {
    /// The lines in which the engine prints its parameters, and the command that printed them;
    /// `None` if its recipe has no such command.
    ///
    /// # Errors
    /// Returns an error if the command fails.
    pub fn rows(&self) -> Result<Option<(String, String)>, SourceError> {
        let Some(params) = &self.params else { return Ok(None) };
        let ResolvedEngine { program, args, dir, .. } = &self.engine;
        let task = ProgramRun::guarded(program, ROWS_LIMIT).args(args).args(split_words(params)?);
        let ran = task.dir(dir.as_deref().unwrap_or(Path::new("."))).run()?;
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let command = format!("{name} {params}");
        if ran.status.success() {
            return Ok(Some((command, ran.stdout)));
        }
        let detail = ran.stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("no message").to_owned();
        Err(SourceError::Rows { command, status: ran.status.to_string(), detail })
    }
}

/// The repository and the commit that an engine was built from; `None` if it came from none.
fn built(origin: &Origin, context: &Context) -> Result<Option<(Repository, String)>, SourceError> {
    let place = match Spec::parse(&origin.spec)? {
        Spec::Program(_) => return Ok(None),
        Spec::Tree | Spec::Git { repository: None, .. } => None,
        Spec::Git { repository: Some(place), .. } => Some(place),
    };
    let repository = match place {
        Some(url) if is_url(&url) => Repository::cloned(&url, &context.cache),
        place => Some(Repository::open(&place.map_or(context.cwd.clone(), |place| context.cwd.join(place)))?),
    };
    let (Some(repository), Some(commit)) = (repository, &origin.commit) else { return Ok(None) };
    let built = match &origin.tree {
        // The commit of a changed working tree is the same whenever it is made.
        Some(tree) if origin.dirty => repository.commit_tree(tree, commit, WORKING_TREE, true)?,
        _ => commit.clone(),
    };
    Ok(Some((repository, built)))
}

/// True if the spec of a built engine names other sources now than were built. Programs, engines of
/// the registry and repositories behind a URL are not looked up.
///
/// # Errors
/// Those of Git.
pub fn is_changed(origin: &Origin, context: &Context) -> Result<bool, SourceError> {
    let spec = Spec::parse(&origin.spec)?;
    if matches!(&spec, Spec::Git { repository: Some(place), .. } if is_url(place)) {
        return Ok(false);
    }
    let Some((_, then)) = built(origin, context)? else { return Ok(false) };
    let Revision { repository, built, recipe, .. } = resolve::revision(&spec, context, &mut |_| {})?;
    resolve::is_other_engine(&repository, &built, &then, &recipe)
}

impl Sources {
    /// Sources of an engine that was tuned before, according to their own recipe; `None` if it
    /// names no place for values, or if the engine came from no repository.
    ///
    /// # Errors
    /// Returns an error if the repository, the commit or its recipe cannot be read.
    pub fn of(origin: &Origin, context: &Context) -> Result<Option<Self>, SourceError> {
        let Some((repository, built)) = built(origin, context)? else { return Ok(None) };
        let spec = Spec::Git { rev: built, repository: Some(repository.dir.display().to_string()) };
        let Revision { repository, built, recipe, .. } = resolve::revision(&spec, context, &mut |_| {})?;
        let template = recipe.tune.and_then(|tune| tune.template);
        Ok(template.map(|template| Self { repository, built, dirty: origin.dirty, template }))
    }

    /// The commit that was built.
    #[must_use]
    pub fn commit(&self) -> &str {
        &self.built
    }

    /// The file with the values written into it.
    ///
    /// # Errors
    /// Returns an error for a value without exactly one place in the file, or a missing file.
    pub fn filled(&self, values: &[(String, String)]) -> Result<String, SourceError> {
        let file = self.template.file();
        let fault = |reason| PatchError::File { file: file.to_owned(), reason };
        let text = self.repository.file(&self.built, file)?.ok_or_else(|| fault("is not in the commit"))?;
        // Git's output is read as text, and bytes that are not UTF-8 would be written back changed.
        if text.contains(char::REPLACEMENT_CHARACTER) {
            return Err(fault("is no UTF-8 text").into());
        }
        Ok(self.template.fill(&text, values)?)
    }

    /// The spec of the engine as ever with `values`: of the tuned commit itself if it has them.
    ///
    /// # Errors
    /// As [`loose_commit`](Self::loose_commit).
    pub fn spec(&self, values: &[(String, String)], message: &str) -> Result<String, SourceError> {
        Ok(spec_of(&self.commit_with(values, message)?, self.repository.dir.to_str()))
    }

    /// The commit of [`spec`](Self::spec), the same at each call.
    ///
    /// # Errors
    /// As [`loose_commit`](Self::loose_commit).
    pub fn commit_with(&self, values: &[(String, String)], message: &str) -> Result<String, SourceError> {
        let is_there = self.filled(values)? == self.filled(&[])?;
        if is_there { Ok(self.built.clone()) } else { self.loose_commit(values, message) }
    }

    /// Makes a commit of the sources with `values` that is on no branch; each call makes the same
    /// commit.
    ///
    /// # Errors
    /// Like [`filled`](Self::filled); also errors of Git.
    pub fn loose_commit(&self, values: &[(String, String)], message: &str) -> Result<String, SourceError> {
        let tree = self.tree(values)?;
        self.repository.commit_tree(&tree, &self.built, message, true)
    }

    /// Checks that [`apply`](Self::apply) would make the branch now.
    ///
    /// # Errors
    /// Returns an error for an invalid name, a branch that has moved on or is checked out, a user
    /// unknown to Git, or sources with uncommitted changes.
    pub fn check_branch(&self, branch: &str) -> Result<(), SourceError> {
        let refuse = |reason: String| Err(SourceError::Branch { branch: branch.to_owned(), reason });
        if self.repository.is_bare() {
            return refuse("the engine comes from a copy of a repository in the cache; clone it and tune there".into());
        }
        if self.dirty || self.repository.is_snapshot(&self.built)? {
            return refuse("the working tree that is tuned has uncommitted changes; commit them first".into());
        }
        if let Some(reason) = self.repository.unusable_branch(branch, &self.built)? {
            return refuse(reason);
        }
        Ok(())
    }

    /// Makes the branch with one commit on top of the tuned one: the sources with `values`. The
    /// working tree and the index stay as they are. A branch that has this commit already is left
    /// alone.
    ///
    /// # Errors
    /// Like [`check_branch`](Self::check_branch) and [`filled`](Self::filled).
    pub fn apply(&self, branch: &str, values: &[(String, String)], message: &str) -> Result<String, SourceError> {
        let tree = self.tree(values)?;
        if let Some(made) = self.repository.made(branch, &self.built, &tree)? {
            return Ok(made);
        }
        self.check_branch(branch)?;
        let commit = self.repository.commit_tree(&tree, &self.built, message, false)?;
        self.repository.set_branch(branch, &commit, &self.built)?;
        Ok(commit)
    }

    fn tree(&self, values: &[(String, String)]) -> Result<String, SourceError> {
        self.repository.tree_with(&self.built, self.template.file(), &self.filled(values)?)
    }
}
