//! Errors on the way from a spec to a program.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::source::command::ProgramError;
use crate::source::patch::PatchError;
use crate::text::TomlError;

/// Reason that a spec could not become a program. Each is one line, except for a failed build's
/// last lines.
#[derive(Debug, Error)]
pub enum SourceError {
    /// The text is not a spec.
    #[error("`{spec}` is not an engine: {reason}")]
    Spec {
        /// As typed.
        spec: String,
        /// The fault, and the text to write instead.
        reason: String,
    },
    /// Two revisions are not in the order of the history.
    #[error("`{old}` does not come before `{new}` in the history; give the older one first")]
    Order {
        /// As typed.
        old: String,
        /// As typed.
        new: String,
    },
    /// No commit of a range changes the engine.
    #[error("no commit after `{old}` up to `{new}` touches the engine's sources, so both are one version")]
    Untouched {
        /// As typed.
        old: String,
        /// As typed.
        new: String,
    },
    /// No base was given, and none can be found.
    #[error("`{spec}` is of no Git history to find a base in; name the base")]
    NoHistory {
        /// As typed.
        spec: String,
    },
    /// No engine of this name is registered.
    #[error("no engine called `{name}` in {registries} or on PATH or in /usr/games{hint}")]
    UnknownName {
        /// As typed.
        name: String,
        /// The files looked into.
        registries: String,
        /// The nearest names, or the way to add one.
        hint: String,
    },
    /// The file does not exist, or cannot be run.
    #[error("cannot run {}: {reason}", path.display())]
    Program {
        /// The file.
        path: PathBuf,
        /// The fault and the remedy.
        reason: String,
    },
    /// A program of the registry that is not installed.
    #[error(
        "cannot run {}: the registry's `{name}` is not on PATH or in /usr/games; install it, or correct its command",
        command.display()
    )]
    NotOnPath {
        /// Name of the engine.
        name: String,
        /// Its command.
        command: PathBuf,
    },
    /// The user has no folder for files that can be made again.
    #[error("there is no home directory for builds and clones; set QUINTAIN_CACHE to a folder")]
    NoCache,
    /// A folder whose programs cannot be named.
    #[error("{}: a plan is UTF-8, and the name of this folder is not; {remedy}", path.display())]
    FolderName {
        /// The folder.
        path: PathBuf,
        /// The remedy.
        remedy: &'static str,
    },
    /// A Git spec outside a repository.
    #[error("{} is not in a Git repository with a commit ({detail}); run `git init` and commit, or give a path", path.display())]
    NotARepository {
        /// The folder searched.
        path: PathBuf,
        /// Git's message.
        detail: String,
    },
    /// The revision does not exist.
    #[error("no commit, branch or tag `{rev}` in {repository}; see `git log --all` for what there is")]
    NoRevision {
        /// As typed.
        rev: String,
        /// The repository searched.
        repository: String,
    },
    /// Git failed.
    #[error("`git {command}` failed: {detail}")]
    Git {
        /// Without global options.
        command: String,
        /// Git's message, on one line.
        detail: String,
    },
    /// The recipe or the registry is malformed.
    #[error("{0}")]
    Toml(#[from] TomlError),
    /// Tree without a build recipe.
    #[error("cannot tell how to build {what}: {reason}; add a quintain.toml with [build] command and binary")]
    NoRecipe {
        /// The commit.
        what: String,
        /// The files looked for.
        reason: String,
    },
    /// A path of the recipe's `sources` is not in the tree.
    #[error("quintain.toml: sources: `{path}` is not in {what}; correct the list, or choose a commit that has it")]
    NoSource {
        /// As in the recipe.
        path: String,
        /// The commit.
        what: String,
    },
    /// The build command failed; the compiler's last lines follow on lines of their own.
    #[error("cannot build {what}: `{command}` failed ({status})\n{tail}")]
    Build {
        /// The commit.
        what: String,
        /// The recipe's command.
        command: String,
        /// The command's exit status.
        status: String,
        /// The last lines of its output.
        tail: String,
    },
    /// The build succeeded but left no program.
    #[error("`{command}` succeeded for {what} but left no `{binary}`; correct `binary` in quintain.toml")]
    NoBinary {
        /// The commit.
        what: String,
        /// The recipe's command.
        command: String,
        /// The recipe's binary.
        binary: String,
    },
    /// A network that cannot be used.
    #[error("network {}: {reason}", path.display())]
    Network {
        /// The file, as typed.
        path: PathBuf,
        /// The fault and the remedy.
        reason: String,
    },
    /// An engine whose recipe takes no network.
    #[error(
        "{what} does not declare how it takes a network: in its quintain.toml write network = \"EVALFILE\" below [build] if the build embeds the file of this variable, or network = \"EvalFile\" below [engine] if this UCI option names it"
    )]
    NoNetworkInput {
        /// The commit.
        what: String,
    },
    /// No commit differs from `new`.
    #[error("no commit in the history of {head} has engine sources other than those of `{new}`; name the base")]
    NoBase {
        /// The spec of `new`.
        new: String,
        /// The commit at which the search began.
        head: String,
    },
    /// A program that does not print its parameters.
    #[error("`{command}` failed ({status}): {detail}; correct `params` in quintain.toml's [tune]")]
    Rows {
        /// The program's name and arguments.
        command: String,
        /// The exit status.
        status: String,
        /// The program's message, on one line.
        detail: String,
    },
    /// The sources do not take a value.
    #[error(transparent)]
    Patch(#[from] PatchError),
    /// The branch cannot be made.
    #[error("branch `{branch}`: {reason}")]
    Branch {
        /// As typed.
        branch: String,
        /// The fault and the remedy.
        reason: String,
    },
    /// A program could not be run at all.
    #[error(transparent)]
    Command(#[from] ProgramError),
    /// The file system returned an error.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// A verb.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
}

/// Adapter for `map_err`: names the action and the file.
pub(super) fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> SourceError {
    let path = path.to_path_buf();
    move |source| SourceError::Io { action, path, source }
}
