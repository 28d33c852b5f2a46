//! What to test against when the user does not say: the newest commit with another engine.

use crate::source::cache::source_ids;
use crate::source::error::SourceError;
use crate::source::resolve::{Context, Revision, revision};
use crate::source::spec::Spec;

/// The newest commit on HEAD's first-parent line whose engine sources differ from those of `new_spec`, as `git:COMMIT`.
/// For a working tree with uncommitted changes to the engine this is HEAD. Commits without an engine are skipped.
///
/// # Errors
/// When `new_spec` is not of Git, cannot be looked up, or no commit differs.
pub fn default_base(context: &Context, new_spec: &str) -> Result<String, SourceError> {
    let spec = Spec::parse(new_spec)?;
    if let Spec::Program(_) = spec {
        let reason = "it is of no Git history to find a base in; choose one with --base".to_owned();
        return Err(SourceError::Spec { spec: new_spec.to_owned(), reason });
    }
    let new = revision(&spec, context, &mut |_| {})?;
    let place = match &spec {
        Spec::Git { repository: Some(place), .. } => format!("@{place}"),
        _ => String::new(),
    };
    let head = new.repository.commit("HEAD")?;
    if new.dirty {
        return Ok(format!("git:{head}{place}"));
    }
    match differing(&new, &head)? {
        Some(commit) => Ok(format!("git:{commit}{place}")),
        None => {
            let head = head.get(..8).unwrap_or(&head).to_owned();
            Err(SourceError::NoBase { new: new_spec.to_owned(), head })
        }
    }
}

/// Sources change only at commits that touch them: it is enough to look at HEAD and before each of those.
fn differing(new: &Revision, head: &str) -> Result<Option<String>, SourceError> {
    let Revision { repository, recipe, built, .. } = new;
    let wanted = source_ids(repository, built, recipe)?;
    let differs = |commit: &str| -> Result<bool, SourceError> {
        let ids = source_ids(repository, commit, recipe)?;
        Ok(ids.first().is_some_and(Option::is_some) && ids != wanted)
    };
    if differs(head)? {
        return Ok(Some(head.to_owned()));
    }
    for commit in repository.touching(head, &recipe.sources)? {
        // The first commit of all has none before it.
        let Ok(before) = repository.commit(&format!("{commit}^1")) else { continue };
        if differs(&before)? {
            return Ok(Some(before));
        }
    }
    Ok(None)
}
