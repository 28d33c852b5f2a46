//! What the harness knows of bad manners, turned on one engine: a table of checks, each with a process of its own.
//!
//! | file | what it asks |
//! | --- | --- |
//! | `table` | every check: its name, what it tests, how much it matters |
//! | `handshake` | `uci`, `id`, `option`, `setoption` |
//! | `search` | `go` in all its forms, `stop`, pondering, odd positions, what `info` says |
//! | `games` | games in one process, and the clock |
//! | `manners` | words that mean nothing, `quit`, the end of input, `bench` |
//! | `peer` | the engine's process: one question, one deadline |
//! | `lag` | how late this machine is itself |

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
use self::peer::{Handshake, Peer};
pub use self::table::TABLE;
use crate::uci::process::EngineConfig;

/// How much a check matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// Games are lost or hang without it: an engine that does it wrong fails.
    Must,
    /// The protocol asks for it, and runners can live without it: an engine that does it wrong is warned.
    Should,
}

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// As it should be.
    Pass,
    /// Not quite.
    Warn,
    /// Wrong.
    Fail,
    /// It does not apply to this engine.
    Skip,
}

impl Verdict {
    /// One word, as it is printed.
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
    verdict: Verdict,
    reason: String,
}

impl Finding {
    fn pass(reason: impl Into<String>) -> Answer {
        Ok(Self { verdict: Verdict::Pass, reason: reason.into() })
    }

    fn warn(reason: impl Into<String>) -> Answer {
        Ok(Self { verdict: Verdict::Warn, reason: reason.into() })
    }

    fn skip(reason: impl Into<String>) -> Answer {
        Ok(Self { verdict: Verdict::Skip, reason: reason.into() })
    }
}

/// An error is what is wrong; the row's severity says how much that matters.
type Answer = Result<Finding, String>;

/// How a check is made.
#[derive(Clone, Copy, Debug)]
enum Test {
    /// From what the engine said at its start.
    Handshake(fn(&Handshake) -> Answer),
    /// By talking to a process of its own.
    Talk(fn(&mut Peer, &Bench) -> Answer),
    /// Without talking.
    Program(fn(&EngineConfig) -> Answer),
}

/// A check.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its name, for `--only` and file names.
    pub name: &'static str,
    /// What must hold.
    pub what: &'static str,
    /// How much it matters.
    pub severity: Severity,
    test: Test,
}

/// A check that was made.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Which.
    pub row: &'static Row,
    /// What came of it.
    pub verdict: Verdict,
    /// Why, in one line.
    pub reason: String,
    /// How long it took.
    pub took: Duration,
    /// What was said, where it was not as it should be; empty where nothing was.
    pub transcript: String,
}

/// An engine on the bench.
#[derive(Debug)]
pub struct Bench {
    config: EngineConfig,
    patience: Duration,
    handshake: Handshake,
    greeting: String,
    lag: Lag,
}

impl Bench {
    /// Starts the engine once, to see that there is one. `patience` is how long an answer that is owed may take.
    ///
    /// # Errors
    /// It does not start, does not shake hands, or does not take the options of `config`.
    pub fn new(config: EngineConfig, patience: Duration) -> Result<Self, OpenError> {
        let (peer, handshake) = Peer::open(&config, patience)?;
        Ok(Self { config, patience, handshake, greeting: peer.transcript(), lag: Lag::watch() })
    }

    /// The engine's `id name`; empty where it has none.
    #[must_use]
    pub fn name(&self) -> &str {
        self.handshake.names.first().map_or("", String::as_str)
    }

    /// The engine's `id author`; empty where it has none.
    #[must_use]
    pub fn author(&self) -> &str {
        self.handshake.authors.first().map_or("", String::as_str)
    }

    /// Makes one check.
    #[must_use]
    pub fn run(&self, row: &'static Row) -> Outcome {
        let begun = Instant::now();
        let (answer, transcript) = match row.test {
            Test::Handshake(test) => (test(&self.handshake), self.greeting.clone()),
            Test::Program(test) => (test(&self.config), String::new()),
            Test::Talk(test) => match Peer::open(&self.config, self.patience) {
                Ok((mut peer, _)) => {
                    let answer = test(&mut peer, self);
                    (answer, peer.transcript())
                }
                Err(error) => (Err(error.to_string()), String::new()),
            },
        };
        let (verdict, reason) = match (answer, row.severity) {
            (Ok(finding), _) => (finding.verdict, finding.reason),
            (Err(reason), Severity::Must) => (Verdict::Fail, reason),
            (Err(reason), Severity::Should) => (Verdict::Warn, reason),
        };
        let wrong = matches!(verdict, Verdict::Warn | Verdict::Fail);
        Outcome {
            row,
            verdict,
            reason,
            took: begun.elapsed(),
            transcript: if wrong { transcript } else { String::new() },
        }
    }
}
