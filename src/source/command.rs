//! The one place of this room that runs programs: Git, compilers, `bench`. Each run has a deadline and a process group.

use std::io::Read;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

/// How often a running program is looked at.
const POLL: Duration = Duration::from_millis(5);

/// What a program left.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// True for exit status 0.
    pub(super) success: bool,
    /// Standard output, invalid UTF-8 replaced.
    pub(super) stdout: String,
    /// Standard error, likewise.
    pub(super) stderr: String,
}

/// Why a program left nothing.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    /// It could not be run.
    #[error("cannot run `{program}`: {source}")]
    Spawn {
        /// The program.
        program: String,
        /// The system's word.
        source: std::io::Error,
    },
    /// It took too long and was killed.
    #[error("`{program}` did not end within {seconds} s")]
    TimedOut {
        /// The program.
        program: String,
        /// The deadline.
        seconds: u64,
    },
}

/// A program to run.
pub(super) struct Job<'a> {
    command: Command,
    program: &'a str,
    limit: Duration,
}

impl<'a> Job<'a> {
    /// `program` in the folder `dir`, to be killed after `limit`.
    pub(super) fn new(program: &'a str, dir: &Path, limit: Duration) -> Self {
        let mut command = Command::new(program);
        command.current_dir(dir);
        Self { command, program, limit }
    }

    pub(super) fn args<S: AsRef<std::ffi::OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(super) fn env(mut self, key: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    pub(super) fn without_env(mut self, key: &str) -> Self {
        self.command.env_remove(key);
        self
    }

    /// Runs it without input and waits.
    pub(super) fn run(mut self) -> Result<Output, CommandError> {
        let program = self.program.to_owned();
        self.command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let spawn_error = |source| CommandError::Spawn { program: program.clone(), source };
        let mut child = self.command.spawn().map_err(spawn_error)?;
        let read = |pipe: Option<Box<dyn Read + Send>>| {
            thread::spawn(move || {
                let mut bytes = Vec::new();
                if let Some(mut pipe) = pipe {
                    // What was read before an error still counts.
                    let _ = pipe.read_to_end(&mut bytes);
                }
                String::from_utf8_lossy(&bytes).into_owned()
            })
        };
        let stdout = read(child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
        let stderr = read(child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>));
        let deadline = Instant::now() + self.limit;
        let status = loop {
            match child.try_wait().map_err(spawn_error)? {
                Some(status) => break Some(status),
                None if Instant::now() >= deadline => break None,
                None => thread::sleep(POLL),
            }
        };
        if status.is_none() {
            if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                let _ = kill_process_group(group, Signal::KILL);
            }
            let _ = child.wait();
        }
        let text = |reader: thread::JoinHandle<String>| reader.join().unwrap_or_default();
        let (stdout, stderr) = (text(stdout), text(stderr));
        match status {
            Some(status) => Ok(Output { success: status.success(), stdout, stderr }),
            None => Err(CommandError::TimedOut { program, seconds: self.limit.as_secs() }),
        }
    }
}
