//! Conformance checks of one engine, collected from faults that the harness has met: a table of
//! checks, each with a process of its own.
//!
//! | file | subject |
//! | --- | --- |
//! | `table` | every check: its name, its subject, its severity |
//! | `handshake` | `uci`, `id`, `option`, `setoption` |
//! | `search` | `go` in all its forms, `stop`, pondering, odd positions, `info` |
//! | `games` | games in one process, and the clock |
//! | `manners` | unknown commands, `quit`, the end of input, `bench` |
//! | `peer` | the engine's process: one question, one deadline |
//! | `lag` | the scheduling delay of this machine |

mod games;
mod handshake;
mod lag;
mod manners;
mod peer;
mod search;
mod table;

use std::time::{Duration, Instant};

use self::lag::Lag;
pub use self::peer::OpenError;
use self::peer::{CheckedProcess, Handshake};
pub use self::table::TABLE;
use crate::uci::process::EngineConfig;

/// Importance of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Games are lost or hang without it: an engine that fails the check fails as a whole.
    Must,
    /// The protocol asks for it, but runners can do without it: the engine gets a warning.
    Should,
}

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckVerdict {
    /// No fault.
    Pass,
    /// A lesser fault, or one that may have another cause.
    Warn,
    /// Fault.
    Fail,
    /// The check does not apply to this engine.
    Skip,
}

impl CheckVerdict {
    /// The verdict as it is printed.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
            Self::Skip => "skip",
        }
    }
}

/// A verdict and its reason in one line.
#[derive(Clone, Debug)]
struct Finding {
    verdict: CheckVerdict,
    reason: String,
}

impl Finding {
    fn pass(reason: impl Into<String>) -> CheckAnswer {
        Ok(Self { verdict: CheckVerdict::Pass, reason: reason.into() })
    }

    fn warn(reason: impl Into<String>) -> CheckAnswer {
        Ok(Self { verdict: CheckVerdict::Warn, reason: reason.into() })
    }

    fn skip(reason: impl Into<String>) -> CheckAnswer {
        Ok(Self { verdict: CheckVerdict::Skip, reason: reason.into() })
    }
}

/// Result of a test. An error is the fault; the row's severity decides how much it matters.
type CheckAnswer = Result<Finding, String>;

/// Method of a check.
#[derive(Clone, Copy, Debug)]
enum CheckMethod {
    /// Looks at the engine's output at its start.
    Handshake(fn(&Handshake) -> CheckAnswer),
    /// Talks to a process of its own.
    Talk(fn(&mut CheckedProcess, &CheckedEngine) -> CheckAnswer),
    /// Starts the program without talking to it.
    Program(fn(&EngineConfig) -> CheckAnswer),
}

/// A check.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    /// Its name, for `--only` and file names.
    pub name: &'static str,
    /// The rule that must hold.
    pub what: &'static str,
    /// The importance of the rule.
    pub severity: Severity,
    test: CheckMethod,
}

/// A check that was made.
#[derive(Clone, Debug)]
pub struct CheckOutcome {
    /// The check.
    pub row: &'static Check,
    /// The result.
    pub verdict: CheckVerdict,
    /// The reason, in one line.
    pub reason: String,
    /// The duration.
    pub took: Duration,
    /// The conversation, if the check did not pass; otherwise empty.
    pub transcript: String,
}

/// An engine to check.
#[derive(Debug)]
pub struct CheckedEngine {
    config: EngineConfig,
    patience: Duration,
    handshake: Handshake,
    greeting: String,
    lag: Lag,
}

impl CheckedEngine {
    /// Starts the engine once, to make sure that it runs. `patience` is the longest wait for an
    /// answer that the protocol requires.
    ///
    /// # Errors
    /// Returns an error if the engine does not start, does not complete the handshake, or does not
    /// accept the options of `config`.
    pub fn new(config: EngineConfig, patience: Duration) -> Result<Self, OpenError> {
        let (peer, handshake) = CheckedProcess::open(&config, patience)?;
        Ok(Self { config, patience, handshake, greeting: peer.transcript(), lag: Lag::watch() })
    }

    /// The engine's `id name`; empty if it has none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.handshake.names.first().map_or("", String::as_str)
    }

    /// The engine's `id author`; empty if it has none.
    #[must_use]
    pub fn author(&self) -> &str {
        self.handshake.authors.first().map_or("", String::as_str)
    }

    /// Runs one check.
    #[must_use]
    pub fn run(&self, row: &'static Check) -> CheckOutcome {
        let begun = Instant::now();
        let (answer, transcript) = match row.test {
            CheckMethod::Handshake(test) => (test(&self.handshake), self.greeting.clone()),
            CheckMethod::Program(test) => (test(&self.config), String::new()),
            CheckMethod::Talk(test) => match CheckedProcess::open(&self.config, self.patience) {
                Ok((mut peer, _)) => {
                    let answer = test(&mut peer, self);
                    (answer, peer.transcript())
                }
                Err(error) => (Err(error.to_string()), String::new()),
            },
        };
        let (verdict, reason) = match (answer, row.severity) {
            (Ok(finding), _) => (finding.verdict, finding.reason),
            (Err(reason), Severity::Must) => (CheckVerdict::Fail, reason),
            (Err(reason), Severity::Should) => (CheckVerdict::Warn, reason),
        };
        let wrong = matches!(verdict, CheckVerdict::Warn | CheckVerdict::Fail);
        CheckOutcome {
            row,
            verdict,
            reason,
            took: begun.elapsed(),
            transcript: if wrong { transcript } else { String::new() },
        }
    }
}
