//! How to run an engine, how long to wait for it, and why it may not be there.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use super::files::FileError;
use super::stderr::StderrSink;
use crate::plan::Timeouts;
use crate::uci::option::OptionError;

/// How to run an engine.
#[derive(Clone, Debug, Default)]
pub struct EngineConfig {
    /// The player's name, for messages.
    pub name: String,
    /// A path, or a name to look up in `PATH`. A relative path is taken from the harness's folder.
    pub program: PathBuf,
    /// Arguments, each as it is: no shell reads them.
    pub args: Vec<String>,
    /// The folder it runs in; `None` for the harness's own.
    pub dir: Option<PathBuf>,
    /// Added to the harness's environment.
    pub env: Vec<(String, String)>,
    /// Options to set after the handshake, checked against what the engine advertises.
    pub options: Vec<(String, String)>,
    /// Sets its option `Ponder`, where it has one.
    pub ponder: bool,
    /// Where its standard error goes.
    pub stderr: StderrSink,
    /// How long to wait for it.
    pub timeouts: Timeouts,
    /// Grace on a move under a clock: its deadline less this is when its clock is at zero.
    pub margin: Duration,
}

impl EngineConfig {
    /// The same with these options besides, or in the place of its own.
    #[must_use]
    pub fn with_options(mut self, options: &[(String, String)]) -> Self {
        for (name, value) in options {
            self.options.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            self.options.push((name.clone(), value.clone()));
        }
        self
    }
}

/// Why an engine did not start. One line each, with the remedy.
#[derive(Debug, Error)]
pub enum StartError {
    /// There is no such file.
    #[error("engine {name}: there is no program `{}`: give a path to an executable file", program.display())]
    Missing {
        /// The player.
        name: String,
        /// The program.
        program: PathBuf,
    },
    /// The file is there, what its first line names is not.
    #[error("engine {name}: `{}` names an interpreter or loader that is not on this machine", program.display())]
    NoInterpreter {
        /// The player.
        name: String,
        /// The program.
        program: PathBuf,
    },
    /// The folder to run in is not there.
    #[error("engine {name}: there is no folder `{}` to run in", dir.display())]
    NoSuchFolder {
        /// The player.
        name: String,
        /// The folder.
        dir: PathBuf,
    },
    /// The file may not be executed.
    #[error("engine {name}: `{}` is not executable: try `chmod +x`", program.display())]
    NotExecutable {
        /// The player.
        name: String,
        /// The program.
        program: PathBuf,
    },
    /// Any other refusal by the operating system.
    #[error("engine {name}: `{}` can't be started: {source}", program.display())]
    Spawn {
        /// The player.
        name: String,
        /// The program.
        program: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    /// A CPU to run on that can't be named.
    #[error("engine {name}: there is no CPU {cpu}")]
    NoSuchCpu {
        /// The player.
        name: String,
        /// The number.
        cpu: usize,
    },
    /// It ended before it was ready.
    #[error("engine {name}: {status} before `{awaited}`{}", quote(said))]
    Exited {
        /// The player.
        name: String,
        /// How it ended.
        status: String,
        /// What was waited for.
        awaited: &'static str,
        /// The last lines of its standard error.
        said: String,
    },
    /// It did not answer.
    #[error(
        "engine {name}: no `{awaited}` within {:.1} s{}: is it a UCI engine?{}",
        waited.as_secs_f64(), besides(*kept), quote(said)
    )]
    Silent {
        /// The player.
        name: String,
        /// What was waited for.
        awaited: &'static str,
        /// For how long, without the time for which it waited for a CPU.
        waited: Duration,
        /// Time for which the process waited for a CPU meanwhile.
        kept: Duration,
        /// The last lines of its standard error.
        said: String,
    },
    /// An option it does not take.
    #[error("engine {name}: {source}")]
    Option {
        /// The player.
        name: String,
        /// What is wrong with it.
        source: OptionError,
    },
    /// A file that an option names and that is not there.
    #[error("engine {name}: {source}")]
    File {
        /// The player.
        name: String,
        /// The file, and what is wrong with it.
        source: FileError,
    },
}

impl StartError {
    /// Whether another attempt may succeed: the program ran and did not get ready, or the system had no process, descriptor or
    /// memory to give.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Exited { .. } | Self::Silent { .. } | Self::Option { .. } => true,
            Self::Spawn { source, .. } => is_shortage(source),
            _ => false,
        }
    }
}

/// Whether the operating system ran out of something that it may have again later.
#[must_use]
pub fn is_shortage(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let short = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| short.contains(&code))
}

/// Time that a limit left out, in words.
fn besides(kept: Duration) -> String {
    if kept < Duration::from_millis(50) {
        String::new()
    } else {
        format!(" (and {:.1} s of waiting for a CPU)", kept.as_secs_f64())
    }
}

fn quote(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!("; it said: {said}") }
}

/// Why an engine is not ready for a game.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// Its process is gone.
    #[error("{status}")]
    Exited {
        /// `exit status 3`, `signal 11 (SIGSEGV)`, ...
        status: String,
    },
    /// It is alive and did not answer in time; it was killed.
    #[error("no `{awaited}` within {:.1} s", waited.as_secs_f64())]
    Silent {
        /// What was waited for.
        awaited: &'static str,
        /// For how long.
        waited: Duration,
    },
}
