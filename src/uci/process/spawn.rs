//! Start and end of processes: an engine cannot outlive the harness.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::process::{Child, Command};

use super::config::{EngineConfig, StartError};
use super::strays::Strays;
use crate::os::confine::{self, ConfineError};
use crate::os::{self, ProcessGroup};
#[cfg(feature = "cluster")]
use crate::text::printable;

/// Starts the program in a group of its own, on the given CPUs (all if empty), with three pipes.
///
/// On Linux the kernel kills the process when the calling *thread* ends. That thread must live as
/// long as the engine.
pub(super) async fn spawn(
    config: &EngineConfig,
    cpus: &[usize],
    strays: &Strays,
) -> Result<(Child, ProcessGroup), StartError> {
    // A program that was just built can be busy: the fork of another thread may hold it open for
    // writing.
    const BUSY_TRIES: u32 = 50;
    const BUSY_PAUSE: Duration = Duration::from_millis(10);
    let mut command = command(config, cpus, strays)?;
    let mut tries = 0;
    loop {
        match command.spawn() {
            Ok(child) => {
                let group = ProcessGroup::of(child.id().unwrap_or(0), cpus);
                return group.map(|group| (child, group)).map_err(|error| explain(config, error));
            }
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES => {
                tries += 1;
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            Err(error) => return Err(explain(config, error)),
        }
    }
}

/// Text that a program printed.
#[cfg(feature = "cluster")]
#[derive(Debug)]
pub(crate) struct ProgramOutput {
    /// Its standard output.
    pub(crate) out: String,
    /// Its standard error.
    faults: String,
}

#[cfg(feature = "cluster")]
impl ProgramOutput {
    /// Last line of its standard error, in brackets after a blank; empty if there is none.
    pub(crate) fn last_fault(&self) -> String {
        let last = self.faults.lines().rev().find(|line| !line.trim().is_empty());
        last.map_or_else(String::new, |line| format!(" (`{}`)", printable(line.trim())))
    }
}

/// Starts a program as an engine is started, and returns what it prints until it ends; what it has
/// printed so far after `limit`.
///
/// # Errors
/// Returns an error if it does not start.
#[cfg(feature = "cluster")]
pub(crate) async fn output(config: &EngineConfig, limit: Duration) -> Result<ProgramOutput, StartError> {
    use tokio::io::AsyncReadExt as _;
    /// Far more than any program prints that counts nodes.
    const MOST: u64 = 4 << 20;
    let mut strays = Strays::new();
    let (mut child, group) = spawn(config, &[], &strays).await?;
    let pid = child.id().unwrap_or(0);
    drop(child.stdin.take());
    let (mut printed, mut said) = (Vec::new(), Vec::new());
    // Errors and limits leave what was read, which has no count in it then.
    if let (Some(out), Some(faults)) = (child.stdout.take(), child.stderr.take()) {
        let (mut out, mut faults) = (out.take(MOST), faults.take(MOST));
        let hear = async {
            let _ = faults.read_to_end(&mut said).await;
            // Or the program would wait for room in the pipe.
            let _ = tokio::io::copy(faults.get_mut(), &mut tokio::io::sink()).await;
        };
        let reading = async { tokio::join!(out.read_to_end(&mut printed), hear) };
        let _ = tokio::time::timeout(limit, reading).await;
    }
    strays.hold(pid);
    group.kill();
    let _ = child.wait().await;
    strays.kill_all();
    let [out, faults] = [printed, said].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    Ok(ProgramOutput { out, faults })
}

fn command(config: &EngineConfig, cpus: &[usize], strays: &Strays) -> Result<Command, StartError> {
    let (name, value) = strays.variable();
    let program = resolve(&config.program);
    let mut command = Command::new(&program);
    // Before the variables and the folder below, which it leaves alone.
    if let Some(confinement) = &config.confinement {
        let confined = confine::apply(&mut command, &program, confinement);
        confined.map_err(|source| StartError::Confine { name: config.name.clone(), source })?;
    }
    command
        .args(&config.args)
        .envs(config.env.iter().map(|(key, value)| (key, value)))
        .env(name, value)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(dir) = &config.dir {
        command.current_dir(dir);
    }
    ProcessGroup::lead(command.as_std_mut());
    os::bind_to_thread(command.as_std_mut(), cpus)
        .map_err(|cpu| StartError::NoSuchCpu { name: config.name.clone(), cpu })?;
    Ok(command)
}

/// Makes the kernel kill the process of `command` when the calling *thread* ends. The process gets
/// its own group, so signals of a terminal do not reach it.
///
/// See `docs/systems.md` for systems that lack the former.
#[cfg(feature = "cluster")]
pub(crate) fn bind_to_caller(command: &mut Command) {
    os::separate(command.as_std_mut());
    // Without CPUs there is nothing to refuse.
    let _ = os::bind_to_thread(command.as_std_mut(), &[]);
}

/// Resolves a path with a directory in it from the harness's working directory; a bare name is left
/// to `PATH`.
fn resolve(program: &Path) -> PathBuf {
    if program.components().count() > 1 {
        std::path::absolute(program).unwrap_or_else(|_| program.to_owned())
    } else {
        program.to_owned()
    }
}

fn explain(config: &EngineConfig, error: io::Error) -> StartError {
    let (name, program) = (config.name.clone(), config.program.clone());
    if let Some(dir) = config.dir.as_ref().filter(|dir| !dir.is_dir()) {
        return StartError::NoSuchFolder { name, dir: dir.clone() };
    }
    match error.kind() {
        io::ErrorKind::NotFound if !resolve(&program).exists() => StartError::Missing { name, program },
        io::ErrorKind::NotFound => StartError::NoInterpreter { name, program },
        _ if config.confinement.is_some() && os::is_unsupported(&error) => {
            StartError::Confine { name, source: ConfineError::Unsupported(error.to_string()) }
        }
        io::ErrorKind::PermissionDenied => StartError::NotExecutable { name, program },
        _ => StartError::Spawn { name, program, source: error },
    }
}
