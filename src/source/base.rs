//! The engine to test against if the user names none: the newest commit with different engine
//! sources.

use crate::source::command::Update;
use crate::source::error::SourceError;
use crate::source::resolve::{Context, Revision, is_other_engine, revision};
use crate::source::spec::Spec;
use crate::text::short_hash;

/// Commits to test against, newest first, each as `git:COMMIT`: those on a first-parent line whose
/// engine sources differ from the tested engine's and from those of the commit returned before.
/// Commits without an engine are left out.
#[derive(Debug)]
pub struct Bases {
    new: Revision,
    /// As the user typed it.
    spec: String,
    /// The end of each spec, which names a repository other than the current one.
    place: String,
    pathspecs: Vec<String>,
    /// Commits not yet looked at.
    line: std::vec::IntoIter<CommitPlace>,
    /// Commit at which the search begins.
    start: String,
    /// The commit returned last.
    last: Option<String>,
}

/// A place on the line of commits.
#[derive(Debug)]
enum CommitPlace {
    Commit(String),
    /// The first parent of a commit that touches the sources: the sources as they were before it.
    Before(String),
}

/// The newest commit whose engine sources differ from those of `new_spec`: the first of [`Bases`].
/// For a working tree with uncommitted changes to the engine this is HEAD.
///
/// # Errors
/// Those of [`Bases::of`], and an error if no commit differs.
pub fn default_base(
    context: &Context,
    new_spec: &str,
    progress: &mut dyn FnMut(Update<'_>),
) -> Result<String, SourceError> {
    Bases::of(context, new_spec, None, progress)?.first()
}

impl Bases {
    /// Looks `new_spec` up, and the revision `from` at which the search begins: HEAD if none is
    /// given. `progress` is told of the search for `from` alone, because the caller resolves
    /// `new_spec` itself.
    ///
    /// # Errors
    /// Returns an error if `new_spec` is not from Git, or one of both cannot be looked up.
    pub fn of(
        context: &Context,
        new_spec: &str,
        from: Option<&str>,
        progress: &mut dyn FnMut(Update<'_>),
    ) -> Result<Self, SourceError> {
        let spec = Spec::parse(new_spec)?;
        let place = match &spec {
            Spec::Program(_) => return Err(SourceError::NoHistory { spec: new_spec.to_owned() }),
            Spec::Git { repository: Some(place), .. } => format!("@{place}"),
            _ => String::new(),
        };
        let mut new = revision(&spec, context, &mut |_| {})?;
        let start = new.repository.newest(from.unwrap_or("HEAD"), progress)?;
        let pathspecs = new.recipe.pathspecs();
        // Sources change only at commits that touch them, so the start and the parents of those are
        // enough.
        let touching = new.repository.touching(&start, &pathspecs)?;
        let steps: Vec<_> = std::iter::once(CommitPlace::Commit(start.clone()))
            .chain(touching.into_iter().map(CommitPlace::Before))
            .collect();
        Ok(Self { new, spec: new_spec.to_owned(), place, pathspecs, line: steps.into_iter(), start, last: None })
    }

    /// The next commit, of which there must be one.
    ///
    /// # Errors
    /// Returns an error if no commit differs, or Git cannot tell.
    pub fn first(&mut self) -> Result<String, SourceError> {
        self.next().unwrap_or_else(|| Err(self.none()))
    }

    /// The error for a history without a further commit to test against.
    #[must_use]
    pub fn none(&self) -> SourceError {
        let head = short_hash(&self.start).to_owned();
        SourceError::NoBase { new: self.spec.clone(), head }
    }

    /// The commit at which the search begins.
    #[must_use]
    pub fn start(&self) -> &str {
        &self.start
    }

    fn is_base(&self, commit: &str) -> Result<bool, SourceError> {
        let Revision { repository, recipe, built, .. } = &self.new;
        let source = recipe.sources.first().map_or("", String::as_str);
        if repository.tree_id(commit, source)?.is_none() {
            return Ok(false);
        }
        // A changed recipe makes a different engine from the same sources.
        if self.last.is_none() && commit == self.start {
            return is_other_engine(repository, commit, built, recipe);
        }
        for known in [Some(built), self.last.as_ref()].into_iter().flatten() {
            if !repository.differ(commit, known, &self.pathspecs)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Iterator for Bases {
    type Item = Result<String, SourceError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let commit = match self.line.next()? {
                CommitPlace::Commit(commit) => commit,
                CommitPlace::Before(commit) => match self.new.repository.commit(&format!("{commit}^1")) {
                    Ok(before) => before,
                    // The first commit of all has no parent.
                    Err(_) => continue,
                },
            };
            match self.is_base(&commit) {
                Ok(false) => {}
                Ok(true) => {
                    self.last = Some(commit.clone());
                    return Some(Ok(format!("git:{commit}{}", self.place)));
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}
