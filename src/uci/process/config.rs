//! Configuration of an engine process, and its errors.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use super::files::FileError;
use super::stderr::StderrSink;
use crate::os;
use crate::os::confine::{ConfineError, Confinement};
use crate::plan::{Timeouts, override_options};
use crate::uci::OptionError;

/// Configuration of an engine process.
#[derive(Clone, Debug, Default)]
pub struct EngineConfig {
    /// Player's name, for messages.
    pub name: String,
    /// Path, or a name to look up in `PATH`. A relative path starts at the harness's working
    /// directory.
    pub program: PathBuf,
    /// Arguments, passed without a shell.
    pub args: Vec<String>,
    /// Working directory; `None` for the harness's own.
    pub dir: Option<PathBuf>,
    /// Variables added to the harness's environment.
    pub env: Vec<(String, String)>,
    /// Confinement; `None` for the rights of the harness.
    pub confinement: Option<Confinement>,
    /// Options to set after the handshake, checked against the advertised ones.
    pub options: Vec<(String, String)>,
    /// Sets the option `Ponder`, if the engine has it.
    pub ponder: bool,
    /// Destination of its standard error.
    pub stderr: StderrSink,
    /// Limits of the waits for its replies.
    pub timeouts: Timeouts,
    /// Grace of a move with a clock. The clock reaches zero this long before the move's deadline.
    pub margin: Duration,
}

impl EngineConfig {
    /// Adds these options, replacing any of the same name.
    #[must_use]
    pub fn with_options(mut self, options: &[(String, String)]) -> Self {
        override_options(&mut self.options, options.iter().cloned());
        self
    }
}

/// Reason that an engine did not start: one line, with the remedy.
#[derive(Debug, Error)]
pub enum StartError {
    /// The file does not exist.
    #[error("engine {name}: there is no program `{}`: give a path to an executable file", program.display())]
    Missing {
        /// Player's name.
        name: String,
        /// Path of the program.
        program: PathBuf,
    },
    /// The file exists, but the interpreter or loader that it names does not.
    #[error("engine {name}: `{}` names an interpreter or loader that is not on this machine", program.display())]
    NoInterpreter {
        /// Player's name.
        name: String,
        /// Path of the program.
        program: PathBuf,
    },
    /// The working directory does not exist.
    #[error("engine {name}: there is no folder `{}` to run in", dir.display())]
    NoSuchFolder {
        /// Player's name.
        name: String,
        /// The directory.
        dir: PathBuf,
    },
    /// The file is not executable.
    #[error("engine {name}: `{}` is not executable: {}", program.display(), crate::os::HOW_TO_MAKE_EXECUTABLE)]
    NotExecutable {
        /// Player's name.
        name: String,
        /// Path of the program.
        program: PathBuf,
    },
    /// Any other error of the operating system.
    #[error("engine {name}: `{}` cannot be started: {source}", program.display())]
    Spawn {
        /// Player's name.
        name: String,
        /// Path of the program.
        program: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// The process cannot be confined.
    #[error("engine {name}: {source}")]
    Confine {
        /// Player's name.
        name: String,
        /// Reason.
        source: ConfineError,
    },
    /// A CPU number out of range.
    #[error("engine {name}: there is no CPU {cpu}")]
    NoSuchCpu {
        /// Player's name.
        name: String,
        /// CPU number.
        cpu: usize,
    },
    /// The process ended before it was ready.
    #[error("engine {name}: {status} before `{awaited}`{}", quote(said))]
    Exited {
        /// Player's name.
        name: String,
        /// Description of its end.
        status: String,
        /// Awaited reply.
        awaited: &'static str,
        /// Last lines of its standard error.
        said: String,
    },
    /// The process did not answer.
    #[error(
        "engine {name}: no `{awaited}` within {:.1} s{}: is it a UCI engine?{}",
        waited.as_secs_f64(), besides(*kept), quote(said)
    )]
    Silent {
        /// Player's name.
        name: String,
        /// Awaited reply.
        awaited: &'static str,
        /// Limit of the wait, without waits for a CPU.
        waited: Duration,
        /// Excluded time that the process waited for a CPU.
        kept: Duration,
        /// Last lines of its standard error.
        said: String,
    },
    /// An option that the engine does not take.
    #[error("engine {name}: {source}")]
    Option {
        /// Player's name.
        name: String,
        /// Reason of the refusal.
        source: OptionError,
    },
    /// A file that an option names and that the engine cannot read.
    #[error("engine {name}: {source}")]
    File {
        /// Player's name.
        name: String,
        /// The file and the reason.
        source: FileError,
    },
}

impl StartError {
    /// True if another attempt may succeed: the program ran but did not get ready, or the system
    /// lacked a process, descriptor or memory.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Exited { .. } | Self::Silent { .. } | Self::Option { .. } => true,
            Self::Spawn { source, .. } => os::is_shortage(source),
            _ => false,
        }
    }
}

/// Describes the time that a limit excluded; empty if it was short.
fn besides(kept: Duration) -> String {
    if kept < Duration::from_millis(50) {
        String::new()
    } else {
        format!(" (and {:.1} s of waiting for a CPU)", kept.as_secs_f64())
    }
}

/// Quotes the last words of an engine at the end of a message; empty if it said nothing.
pub(super) fn quote(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; it said: {said}") }
}

/// Reason that an engine is not ready for a game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StartFault {
    /// The process ended.
    #[error("{status}")]
    Exited {
        /// `exit status 3`, `signal 11 (SIGSEGV)`, ...
        status: String,
    },
    /// The process was alive, did not answer in time, and was killed.
    #[error("no `{awaited}` within {:.1} s", waited.as_secs_f64())]
    Silent {
        /// Awaited reply.
        awaited: &'static str,
        /// Limit of the wait.
        waited: Duration,
    },
}
