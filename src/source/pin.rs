//! Specs that name the same program later, regardless of new commits.

use crate::source::command::Update;
use crate::source::error::SourceError;
use crate::source::history::{place_of, spec_of};
use crate::source::recipe::PINS;
use crate::source::resolve::{Context, revision};
use crate::source::spec::Spec;

/// Spec of the commit that `spec` names now. The working tree with its uncommitted changes becomes
/// a commit too, which a ref below `refs/quintain/` keeps. A program or a name stays as it is.
/// `progress` is told of steps that may take long, and of what the commit leaves out.
///
/// # Errors
/// Returns an error if the spec cannot be read, or names no commit.
pub fn pinned(spec: &str, context: &Context, progress: &mut dyn FnMut(Update<'_>)) -> Result<String, SourceError> {
    let parsed = Spec::parse(spec)?;
    let place = match &parsed {
        Spec::Program(_) => return Ok(spec.to_owned()),
        Spec::Git { repository, .. } => place_of(context, repository.as_deref()),
        Spec::Tree => None,
    };
    let found = revision(&parsed, context, progress)?;
    // Lock files and profiles are no sources, but decide the build.
    let pins = |commit| found.repository.listing(commit, &PINS);
    if !found.dirty && pins(&found.built)? == pins(&found.commit)? {
        return Ok(spec_of(&found.commit, place.as_deref()));
    }
    found.repository.keep(&found.built)?;
    Ok(spec_of(&found.built, place.as_deref()))
}
