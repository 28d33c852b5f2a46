//! Errors of a run: one variant for each case that a caller may distinguish.

use std::path::PathBuf;

use thiserror::Error;

use crate::cluster::ClusterError;
use crate::journal::JournalError;
use crate::openings::BookError;
use crate::plan::file::PlanFileError;
use crate::plan::rules::RuleError;
use crate::schedule::affinity::{BadCpus, ConcurrencyError};
use crate::schedule::capacity::CapacityError;
use crate::schedule::trial::TrialError;
use crate::settings::ConfigError;
use crate::source::SourceError;
use crate::stats::sprt::SprtError;
use crate::suite::SuiteError;
use crate::tablebase::TablesError;
use crate::text::shell_path;
use crate::tournament::formats::FormatError;
use crate::tune::space::SpaceError;
use crate::uci::process::StartError;

/// Result of everything in `run`.
pub(crate) type Result<T, E = RunError> = std::result::Result<T, E>;

/// Reason that a run cannot begin, continue or be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A flag or plan key that cannot be played, or several that exclude each other.
    #[error("{0}")]
    Setting(String),
    /// An engine that answers no tests.
    #[error(transparent)]
    Suite(#[from] SuiteError),
    /// A flag whose text cannot be parsed.
    #[error("{flag}")]
    Value {
        /// The flag, with its dashes.
        flag: &'static str,
        /// The parser's reason.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// An engine that is missing, or that does not fit the run.
    #[error("{0}")]
    Engine(String),
    /// A run directory whose name is taken by a run.
    #[error(
        "{}: exists already; continue with `quintain resume {}`, or choose another --out",
        root.display(),
        shell_path(root)
    )]
    Exists {
        /// The directory.
        root: PathBuf,
    },
    /// A run directory whose name is taken by something that cannot be continued.
    #[error("{}: exists already and is {what}; give another --out, or remove it", root.display())]
    Occupied {
        /// The path.
        root: PathBuf,
        /// Kind of the file or folder.
        what: &'static str,
    },
    /// A run directory with a run of other settings.
    #[error("{0}")]
    OtherRun(String),
    /// A file that a run depends on and that is not as it was when the run began.
    #[error("{file}: changed since the run began, so {harm}; restore it, or start a new run")]
    Changed {
        /// The file.
        file: String,
        /// The effect on the games to come.
        harm: &'static str,
    },
    /// A run directory whose programs the user has not allowed, or must not start.
    #[error("{0}")]
    Untrusted(String),
    /// A run whose book came with another version of this program.
    #[error(
        "the run plays a book that came inside another version of this program (SHA-256 {sha256}); continue with that version, or start a new run"
    )]
    OtherBuiltin {
        /// SHA-256 of the run's book.
        sha256: String,
    },
    /// A book without openings.
    #[error("{book}: it has no opening")]
    EmptyBook {
        /// Name of the book.
        book: String,
    },
    /// No home directory for the secret behind the stamps.
    #[error("there is no home directory for the secret that marks runs as your own; set QUINTAIN_STATE")]
    NoState,
    /// A secret that is too short.
    #[error("{}: it is damaged; remove it and a new one is made", path.display())]
    DamagedSecret {
        /// The secret's file.
        path: PathBuf,
    },
    /// A secret that the HMAC refuses.
    #[error("the secret is not a key")]
    Key(#[from] hmac::digest::InvalidLength),
    /// An error with its context.
    #[error("{context}")]
    Within {
        /// Printed before the cause.
        context: String,
        /// The cause.
        source: Box<Self>,
    },
    /// A plan file or a flag that no plan can hold.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The `plan.toml` of a run.
    #[error(transparent)]
    PlanFile(#[from] PlanFileError),
    /// A rule of adjudication or of endgame tablebases.
    #[error(transparent)]
    Rule(#[from] RuleError),
    /// The name or a parameter of a tournament format.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Bounds, error rates or the model of a test.
    #[error(transparent)]
    Sprt(#[from] SprtError),
    /// An engine that is not found, or cannot be built.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// An engine that does not start.
    #[error(transparent)]
    Start(#[from] StartError),
    /// An engine that fails its trial search.
    #[error(transparent)]
    Trial(Box<TrialError>),
    /// A parameter that cannot be tuned.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// A book that cannot be read.
    #[error(transparent)]
    Book(#[from] BookError),
    /// Workers that cannot be started.
    #[error(transparent)]
    Workers(#[from] ClusterError),
    /// Endgame tablebases that cannot be opened.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// A journal that cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// More concurrent games than the machine has CPUs for.
    #[error(transparent)]
    ConcurrencyError(#[from] ConcurrencyError),
    /// CPUs that this machine lacks, or too few of them.
    #[error(transparent)]
    BadCpus(#[from] BadCpus),
    /// More concurrent games than the system's limits allow.
    #[error(transparent)]
    NoRoom(#[from] CapacityError),
    /// No random numbers for a secret.
    #[error("the system has no random numbers for a secret: {0}")]
    Random(#[source] std::io::Error),
    /// An error of the operating system on a file, a directory, a thread or the event loop.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl RunError {
    /// Returns the error of the flag `flag`, from its parser's error.
    pub(crate) fn value<E: std::error::Error + Send + Sync + 'static>(flag: &'static str) -> impl FnOnce(E) -> Self {
        move |error| Self::Value { flag, source: Box::new(error) }
    }
}

impl From<TrialError> for RunError {
    fn from(error: TrialError) -> Self {
        Self::Trial(Box::new(error))
    }
}

/// Extension of `Result` that adds the context of an error.
pub(crate) trait ResultContext<T> {
    /// Puts `context` before the error.
    fn within<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T>;
}

impl<T, E: Into<RunError>> ResultContext<T> for Result<T, E> {
    fn within<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.map_err(|error| RunError::Within { context: context().into(), source: Box::new(error.into()) })
    }
}

/// Returns the named variant of [`RunError`] with a formatted sentence.
macro_rules! fail {
    ($variant:ident, $($sentence:tt)+) => {
        return Err($crate::run::error::RunError::$variant(format!($($sentence)+)))
    };
}
pub(crate) use fail;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::with_causes;

    fn refuse(name: &str) -> Result<()> {
        fail!(Setting, "{name} 0 plays nothing")
    }

    #[test]
    fn a_context_comes_before_its_cause_and_keeps_it() {
        let lost = || std::io::Error::other("the disk is gone");
        let read: Result<()> = Err(lost()).within(|| "plan.toml");
        let cases = [
            (refuse("--pairs").unwrap_err(), "--pairs 0 plays nothing"),
            (RunError::from(lost()), "the disk is gone"),
            (RunError::value("--affinity")(lost()), "--affinity: the disk is gone"),
            (read.within(|| "the run").unwrap_err(), "the run: plan.toml: the disk is gone"),
        ];
        for (error, text) in cases {
            assert_eq!(with_causes(&error), text);
        }
        let Err(RunError::Within { source, .. }) = refuse("--pairs").within(|| "base") else { panic!("no context") };
        assert!(matches!(*source, RunError::Setting(_)), "{source:?}");
    }
}
