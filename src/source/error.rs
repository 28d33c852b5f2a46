//! Why a spec could not become a program.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::source::command::CommandError;
use crate::source::patch::PatchError;
use crate::text::TomlError;

/// Why a spec could not become a program. One line each, but for a failed build's last lines.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The text is no spec.
    #[error("`{spec}` is no engine: {reason}")]
    Spec {
        /// As typed.
        spec: String,
        /// What is wrong and what to write instead.
        reason: String,
    },
    /// Nothing is called so.
    #[error("no engine called `{name}` in {registries} or on PATH or in /usr/games{hint}")]
    UnknownName {
        /// As typed.
        name: String,
        /// The files looked into.
        registries: String,
        /// The nearest names, or how to add one.
        hint: String,
    },
    /// There is no such file, or it cannot be run.
    #[error("cannot run {}: {reason}", path.display())]
    Program {
        /// Which file.
        path: PathBuf,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A Git spec outside a repository.
    #[error("{} is not in a Git repository with a commit ({detail}); run `git init` and commit, or give a path", path.display())]
    NotARepository {
        /// Where it was looked for.
        path: PathBuf,
        /// What Git said.
        detail: String,
    },
    /// The revision does not exist.
    #[error("no commit, branch or tag `{rev}` in {repository}; see `git log --all` for what there is")]
    NoRevision {
        /// As typed.
        rev: String,
        /// Where.
        repository: String,
    },
    /// Git failed.
    #[error("`git {command}` failed: {detail}")]
    Git {
        /// Without global options.
        command: String,
        /// What it said, on one line.
        detail: String,
    },
    /// The recipe or the registry is not what it should be.
    #[error("{0}")]
    Toml(#[from] TomlError),
    /// Nothing says how to build this tree.
    #[error("do not know how to build {what}: {reason}; add a quintain.toml with [build] command and binary")]
    NoRecipe {
        /// Commit.
        what: String,
        /// What was looked for.
        reason: String,
    },
    /// A path of the recipe's `sources` is not in the tree.
    #[error("quintain.toml: sources: `{path}` is not in {what}; correct the list, or choose a commit that has it")]
    NoSource {
        /// As in the recipe.
        path: String,
        /// Commit.
        what: String,
    },
    /// The build command failed; the compiler's last lines follow on lines of their own.
    #[error("cannot build {what}: `{command}` failed ({status})\n{tail}")]
    Build {
        /// Commit.
        what: String,
        /// The recipe's command.
        command: String,
        /// How it ended.
        status: String,
        /// The last lines of its output.
        tail: String,
    },
    /// The build succeeded and left no program.
    #[error("`{command}` succeeded for {what} but left no `{binary}`; correct `binary` in quintain.toml")]
    NoBinary {
        /// Commit.
        what: String,
        /// The recipe's command.
        command: String,
        /// The recipe's binary.
        binary: String,
    },
    /// Nothing differs from `new`.
    #[error("no commit with other engine sources than `{new}` in the history of {head}; choose one with --base")]
    NoBase {
        /// The spec of `new`.
        new: String,
        /// Where the search began.
        head: String,
    },
    /// A program that does not print its parameters.
    #[error("`{command}` failed ({status}): {detail}; correct `params` in quintain.toml's [tune]")]
    Rows {
        /// The program's name and arguments.
        command: String,
        /// How it ended.
        status: String,
        /// What it said, on one line.
        detail: String,
    },
    /// A value that the sources do not take.
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// A branch that cannot be made.
    #[error("branch `{branch}`: {reason}")]
    Branch {
        /// As typed.
        branch: String,
        /// What is wrong and what to do.
        reason: String,
    },
    /// A program could not be run at all.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// The file system said no.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// A verb.
        action: &'static str,
        /// Which file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// For `map_err`: what was done to which file.
pub(super) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SourceError {
    let path = path.to_path_buf();
    move |source| SourceError::Io { action, path, source }
}
