//! Start and end of processes: an engine cannot outlive the harness.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::process::{Child, Command};

use super::config::{EngineConfig, StartError};
use super::confine::{self, ConfineError};
use super::strays::Strays;

/// Starts the program in its own process group, on the given CPUs (all if empty), with three pipes.
///
/// On Linux the kernel kills the process when the calling *thread* ends. That thread must live as
/// long as the engine.
pub(super) async fn spawn(config: &EngineConfig, cpus: &[usize], strays: &Strays) -> Result<Child, StartError> {
    // A program that was just built can be busy: the fork of another thread may hold it open for
    // writing.
    const BUSY_TRIES: u32 = 50;
    const BUSY_PAUSE: Duration = Duration::from_millis(10);
    let mut command = command(config, cpus, strays)?;
    let mut tries = 0;
    loop {
        match command.spawn() {
            Ok(child) => return Ok(child),
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy && tries < BUSY_TRIES => {
                tries += 1;
                tokio::time::sleep(BUSY_PAUSE).await;
            }
            Err(error) => return Err(explain(config, error)),
        }
    }
}

/// Starts a program as an engine is started, and returns what it prints until it ends; what it has
/// printed so far after `limit`.
///
/// # Errors
/// Returns an error if it does not start.
#[cfg(feature = "cluster")]
pub(crate) async fn output(config: &EngineConfig, limit: Duration) -> Result<String, StartError> {
    use tokio::io::AsyncReadExt as _;
    /// Far more than any program prints that counts nodes.
    const MOST: u64 = 4 << 20;
    let mut strays = Strays::new();
    let mut child = spawn(config, &[], &strays).await?;
    let pid = child.id().unwrap_or(0);
    drop(child.stdin.take());
    let mut printed = Vec::new();
    // Errors and limits leave what was read, which has no count in it then.
    if let (Some(out), Some(mut faults)) = (child.stdout.take(), child.stderr.take()) {
        let mut beside = tokio::io::sink();
        let mut out = out.take(MOST);
        let reading = async { tokio::join!(out.read_to_end(&mut printed), tokio::io::copy(&mut faults, &mut beside)) };
        let _ = tokio::time::timeout(limit, reading).await;
    }
    strays.hold(pid);
    kill_group(pid);
    let _ = child.wait().await;
    strays.kill_all();
    Ok(String::from_utf8_lossy(&printed).into_owned())
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
    #[cfg(unix)]
    command.process_group(0);
    #[cfg(target_os = "linux")]
    linux::prepare(&mut command, cpus).map_err(|cpu| StartError::NoSuchCpu { name: config.name.clone(), cpu })?;
    #[cfg(not(target_os = "linux"))]
    let _ = cpus;
    Ok(command)
}

/// Has the kernel kill the process of `command` when the calling *thread* ends, and keeps the
/// signals of a terminal from it: it is in a process group of its own.
///
/// Only Linux has the former. Elsewhere the process must notice that its parent is gone.
#[cfg(feature = "cluster")]
pub(crate) fn bind_to_caller(command: &mut Command) {
    #[cfg(unix)]
    command.process_group(0);
    // Without CPUs there is nothing to refuse.
    #[cfg(target_os = "linux")]
    let _ = linux::prepare(command, &[]);
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
        _ if config.confinement.is_some() && is_unsupported(&error) => {
            StartError::Confine { name, source: ConfineError::Unsupported(error.to_string()) }
        }
        io::ErrorKind::PermissionDenied => StartError::NotExecutable { name, program },
        _ => StartError::Spawn { name, program, source: error },
    }
}

/// True for the error that a confinement ends with which the kernel refuses.
fn is_unsupported(error: &io::Error) -> bool {
    error.raw_os_error() == Some(rustix::io::Errno::NOSYS.raw_os_error())
}

#[cfg(target_os = "linux")]
mod linux {
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, getpid, getppid, set_child_subreaper, set_parent_process_death_signal};
    use rustix::thread::{CpuSet, sched_setaffinity};
    use tokio::process::Command;

    /// Makes the child die with its parent and stay on its CPUs. Returns the first CPU number that
    /// is too large as an error.
    pub(super) fn prepare(command: &mut Command, cpus: &[usize]) -> Result<(), usize> {
        let mut set = CpuSet::new();
        for &cpu in cpus {
            if cpu >= CpuSet::MAX_CPU {
                return Err(cpu);
            }
            set.set(cpu);
        }
        let pinned = !cpus.is_empty();
        let parent = getpid();
        let in_child = move || {
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // If the parent died before the line above, no signal will come.
            if getppid() != Some(parent) {
                return Err(Errno::SRCH.into());
            }
            // Makes its orphans its own children instead of init's, so that `strays` finds them. If
            // the system refuses, they go to init.
            let _ = set_child_subreaper(Some(Pid::INIT));
            if pinned {
                sched_setaffinity(None, &set)?;
            }
            Ok(())
        };
        #[expect(
            unsafe_code,
            reason = "the parent-death signal and the CPU set must be in place before the program starts"
        )]
        // SAFETY: only async-signal-safe calls are allowed between fork and exec. The closure makes
        // five system calls, takes no lock and allocates nothing. Its values were made above, and
        // an error from an OS code is a plain number.
        unsafe {
            command.pre_exec(in_child);
        }
        Ok(())
    }
}

/// Kills the process group that `pid` leads. Call it before the leader is reaped or right after,
/// because the id may be reused later.
pub(super) fn kill_group(pid: u32) {
    #[cfg(unix)]
    if let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) {
        // Fails if the group is empty.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = pid;
}

/// Describes an exit status: `exit status 3` or `signal 11 (SIGSEGV)`.
pub(super) fn describe(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return match signal_name(signal) {
            Some(name) => format!("signal {signal} ({name})"),
            None => format!("signal {signal}"),
        };
    }
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => status.to_string(),
    }
}

#[cfg(unix)]
fn signal_name(number: i32) -> Option<&'static str> {
    use rustix::process::Signal;
    const NAMES: [(Signal, &str); 15] = [
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::SYS, "SIGSYS"),
    ];
    NAMES.iter().find(|(signal, _)| signal.as_raw() == number).map(|(_, name)| *name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use super::*;

    #[test]
    fn endings_are_named() {
        let cases = [(0, "exit status 0"), (3 << 8, "exit status 3"), (11, "signal 11 (SIGSEGV)"), (34, "signal 34")];
        for (raw, expected) in cases {
            assert_eq!(describe(ExitStatus::from_raw(raw)), expected);
        }
    }
}
