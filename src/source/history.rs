//! The history of an engine: commits in order, with dates and subjects.

use std::collections::HashMap;
use std::path::Path;

use crate::plan::Origin;
use crate::source::command::Update;
use crate::source::error::SourceError;
use crate::source::git::{Commit, Repository};
use crate::source::resolve::{Context, is_other_engine, recipe, revision, subject};
use crate::source::spec::{Spec, is_url};

/// The commits that `names` stand for, as far as the repository at `place` (`None` for that of the
/// current directory) has them, and their order: `order[i]` is the number of found commits before
/// that of `names[i]`, parents before children. In a folder outside any repository no name is
/// found.
///
/// # Errors
/// Those of Git.
pub fn known(
    context: &Context,
    place: Option<&str>,
    names: &[String],
) -> Result<Vec<Option<(usize, Commit)>>, SourceError> {
    let Some(repository) = repository_at(context, place) else { return Ok(vec![None; names.len()]) };
    let ids = repository.ids(names)?;
    let mut wanted: Vec<&str> = ids.iter().flatten().map(String::as_str).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let commits: HashMap<String, (usize, Commit)> = repository
        .in_order(&wanted)?
        .into_iter()
        .enumerate()
        .map(|(place, commit)| (commit.id.clone(), (place, commit)))
        .collect();
    Ok(ids.into_iter().map(|id| commits.get(&id?).cloned()).collect())
}

/// The repository at `place`, or that of the current directory; of a URL only a clone that exists.
fn repository_at(context: &Context, place: Option<&str>) -> Option<Repository> {
    match place {
        Some(url) if is_url(url) => Repository::cloned(url, &context.cache),
        Some(path) => Repository::open(&context.cwd.join(path)).ok(),
        None => Repository::open(&context.cwd).ok(),
    }
}

/// Change that a test of `new` against `old` is about: the subject of the newest commit after `old`
/// on the first-parent line to `new` that touches the engine's sources, and the number of the
/// others, as in `Sort faster and 2 more`. `None` if there is no such commit, if either engine has
/// uncommitted changes, or if Git does not know.
#[must_use]
pub fn change(context: &Context, new: &Origin, old: &Origin) -> Option<String> {
    if new.dirty || old.dirty {
        return None;
    }
    let place = match Spec::parse(&new.spec).ok()? {
        Spec::Tree => None,
        Spec::Git { repository, .. } => repository,
        Spec::Program(_) => return None,
    };
    let (new, old) = (new.commit.as_deref()?, old.commit.as_deref()?);
    let repository = repository_at(context, place.as_deref())?;
    if !repository.is_ancestor(old, new).ok()? {
        return None;
    }
    let recipe = recipe(&repository, new, new, (place.as_deref(), None), context).ok()?;
    let commits = repository.between(old, new, &recipe.pathspecs()).ok()?;
    let (newest, others) = commits.split_last()?;
    let subject = subject(&repository, newest)?;
    Some(if others.is_empty() { subject } else { format!("{subject} and {} more", others.len()) })
}

/// Change that a test of two pinned specs is about ([`change`]), else the subject of the commit of
/// `new`. `None` if `new` is not from Git, or Git does not know.
#[must_use]
pub fn tested_change(context: &Context, new: &str, base: Option<&str>) -> Option<String> {
    let parts = |spec: &str| match Spec::parse(spec).ok()? {
        Spec::Git { rev, repository } => Some((rev, repository)),
        Spec::Tree | Spec::Program(_) => None,
    };
    let origin = |spec: &str| {
        let commit = parts(spec)?.0;
        Some(Origin { spec: spec.to_owned(), commit: Some(commit), ..Origin::default() })
    };
    let (commit, place) = parts(new)?;
    let since = || change(context, &origin(new)?, &origin(base?)?);
    since().or_else(|| subject(&repository_at(context, place.as_deref())?, &commit))
}

/// The commits of a stretch of history, oldest first: `old`, then those after it on the
/// first-parent line to `new` that touch the engine's sources (by the recipe of `new`), and `new`
/// itself if only its recipe differs. `progress` is told of steps that may take long.
///
/// # Errors
/// Returns an error if either is not a commit of the repository at `place`, `old` is not an
/// ancestor of `new`, or they are two commits of one engine.
pub fn stretch(
    context: &Context,
    place: Option<&str>,
    (old, new): (&str, &str),
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<Vec<Commit>, SourceError> {
    let spec = |rev: &str| Spec::Git { rev: rev.to_owned(), repository: place.map(str::to_owned) };
    let mut newest = revision(&spec(new), context, progress)?;
    let (old_id, new_id) = (newest.repository.newest(old, progress)?, newest.commit.clone());
    let repository = &newest.repository;
    if !repository.is_ancestor(&old_id, &new_id)? {
        return Err(SourceError::Order { old: old.to_owned(), new: new.to_owned() });
    }
    let mut ids = vec![old_id.clone()];
    ids.extend(repository.between(&old_id, &new_id, &newest.recipe.pathspecs())?);
    let last = ids.last().unwrap_or(&old_id);
    if *last != new_id && is_other_engine(repository, last, &new_id, &newest.recipe)? {
        ids.push(new_id.clone());
    }
    if ids.len() == 1 && old_id != new_id {
        return Err(SourceError::Untouched { old: old.to_owned(), new: new.to_owned() });
    }
    let wanted: Vec<&str> = ids.iter().map(String::as_str).collect();
    repository.told_in_order(&wanted)
}

/// Changes from one commit or tree to another in the repository of the current directory, as Git
/// prints them.
///
/// # Errors
/// Those of Git; also if `old` or `new` is not a whole object id.
pub fn diff(context: &Context, old: &str, new: &str) -> Result<String, SourceError> {
    for id in [old, new] {
        if id.len() < 40 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(SourceError::Spec { spec: id.to_owned(), reason: "it is no object id".to_owned() });
        }
    }
    Repository::open(&context.cwd)?.diff(old, new)
}

/// Branches and tags of the repository of the current directory, the newest first, with the
/// subjects of their commits; none outside a repository.
#[must_use]
pub fn names(context: &Context, most: usize) -> Vec<(String, String)> {
    let found = Repository::open(&context.cwd).and_then(|repository| repository.names(most));
    found.unwrap_or_default()
}

/// The spec of a commit of the repository at `place`.
#[must_use]
pub fn spec_of(commit: &str, place: Option<&str>) -> String {
    match place {
        Some(place) => format!("git:{commit}@{place}"),
        None => format!("git:{commit}"),
    }
}

/// Returns true if the engine's commit alone is to blame for the error, so that the next commit may
/// work.
#[must_use]
pub fn is_bad_commit(error: &SourceError) -> bool {
    use SourceError::{Build, NoBinary, NoRecipe, NoSource, Toml};
    matches!(error, Build { .. } | NoBinary { .. } | NoRecipe { .. } | NoSource { .. } | Toml(_))
}

/// The repository's folder for use in specs, absolute, so that a plan can be read in any directory.
#[must_use]
pub fn place_of(context: &Context, place: Option<&str>) -> Option<String> {
    let place = place?;
    Some(if is_url(place) { place.to_owned() } else { absolute(&context.cwd.join(place)) })
}

fn absolute(path: &Path) -> String {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned()).display().to_string()
}
