//! Commands of this program that other rooms run.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::source::command::{ProgramError, ProgramRun};

/// This program and the directory in which it was started.
#[derive(Clone, Debug)]
pub struct OwnProgram {
    program: PathBuf,
    dir: PathBuf,
}

/// Reason that a command gave no result.
#[derive(Debug, thiserror::Error)]
pub enum OwnError {
    /// The command refused, with this message.
    #[error("{0}")]
    Refused(String),
    /// The command did not run to its end.
    #[error("{0}")]
    Failed(String),
}

impl OwnProgram {
    /// Notes the program and the current directory.
    ///
    /// # Errors
    /// Returns the system's error if either is unknown.
    pub fn here() -> std::io::Result<Self> {
        Ok(Self { program: std::env::current_exe()?, dir: std::env::current_dir()? })
    }

    /// Directory in which the program was started.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Runs a command and returns its standard output.
    ///
    /// # Errors
    /// Returns the command's error in one line, or the reason that it did not end in time.
    pub fn run(&self, args: &[String], limit: Duration) -> Result<String, OwnError> {
        let run = ProgramRun::guarded(&self.program, limit).args(args).dir(&self.dir).env("NO_COLOR", "1");
        let ran = run.run().map_err(|error| match error {
            ProgramError::Timeout { limit, .. } => {
                OwnError::Failed(format!("it did not end within {} s and was stopped", limit.as_secs()))
            }
            error => OwnError::Failed(error.to_string()),
        })?;
        if ran.status.success() {
            return Ok(ran.stdout);
        }
        let why = ran.stderr.lines().rev().find_map(|line| line.trim().strip_prefix("error: "));
        let last = || ran.stderr.lines().next_back().unwrap_or_default().trim();
        Err(OwnError::Refused(why.unwrap_or_else(last).to_owned()))
    }
}
