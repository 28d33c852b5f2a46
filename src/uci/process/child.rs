//! One child process with its three pipes, its events and its exit status.

use std::future::pending;
use std::io;
use std::pin::{Pin, pin};
use std::process::ExitStatus;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite as _, AsyncWriteExt as _, ReadBuf};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::time::sleep_until;

use super::config::{EngineConfig, StartError};
use super::spawn;
use super::stderr::StderrLog;
use super::strays::Strays;
use crate::os::{self, ProcessGroup};
use crate::uci::LineBuffer;

/// The child process, its pipes and its exit status.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    strays: Strays,
    group: ProcessGroup,
    pub(super) pid: u32,
    pub(super) pipes: EnginePipes,
    pub(super) exit: Option<ExitStatus>,
    pub(super) was_killed: bool,
    /// End of the wait for output that an ended process has left, if it is waited for.
    late_until: Option<Instant>,
}

/// The three pipes of a process.
#[derive(Debug)]
pub(super) struct EnginePipes {
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    pub(super) log: StderrLog,
    said: Box<[u8]>,
}

/// One event of a process.
#[derive(Debug)]
pub(super) enum ProcessEvent {
    /// Number of bytes written.
    Wrote(io::Result<usize>),
    /// Number of bytes read and the time of the read; zero bytes at the end of output.
    Read(io::Result<usize>, Instant),
    /// The process wrote to its standard error, or closed it.
    Said,
    /// The process ended.
    Ended(io::Result<ExitStatus>),
    /// The timer fired.
    TimeOut,
}

impl EnginePipes {
    /// Waits for one event of the pipes. Output comes before standard error.
    pub(super) async fn next(&mut self, out: &[u8], lines: &mut LineBuffer) -> ProcessEvent {
        tokio::select! {
            biased;
            result = write_some(&mut self.stdin, out), if !out.is_empty() => ProcessEvent::Wrote(result),
            (result, at) = read_some(&mut self.stdout, lines.space()) => ProcessEvent::Read(result, at),
            (result, _) = read_some(&mut self.stderr, &mut self.said) => {
                self.note_said(result);
                ProcessEvent::Said
            }
        }
    }

    fn note_said(&mut self, result: io::Result<usize>) {
        match result {
            Ok(count) if count > 0 => self.log.push(&self.said[..count]),
            _ => self.stderr = None,
        }
    }

    /// Reads the pipe of standard error, with a bound because an engine may flood it.
    pub(super) fn read_said(&mut self) {
        const READS: usize = 64;
        for _ in 0..READS {
            let Some(count) = read_now(&mut self.stderr, &mut self.said) else { break };
            self.note_said(Ok(count));
        }
    }
}

impl Process {
    pub(super) async fn start(config: &EngineConfig, cpus: &[usize]) -> Result<Self, StartError> {
        let strays = Strays::new();
        let (mut child, group) = spawn::spawn(config, cpus, &strays).await?;
        let pid = child.id().unwrap_or(0);
        Ok(Self {
            pid,
            group,
            pipes: EnginePipes {
                stdin: child.stdin.take(),
                stdout: child.stdout.take(),
                stderr: child.stderr.take(),
                log: StderrLog::new(config.stderr.clone()),
                said: vec![0; 4096].into_boxed_slice(),
            },
            child,
            strays,
            exit: None,
            was_killed: false,
            late_until: None,
        })
    }

    /// Waits for one event. If several are ready, output comes before the end of the process, and
    /// the timer is last.
    pub(super) async fn next(
        &mut self,
        out: &[u8],
        lines: &mut LineBuffer,
        timer: impl Future<Output = ()>,
    ) -> ProcessEvent {
        let is_open = self.pipes.stdout.is_some() || self.pipes.stderr.is_some();
        tokio::select! {
            biased;
            event = self.pipes.next(out, lines) => event,
            result = ended(&mut self.child, &mut self.late_until, is_open) => ProcessEvent::Ended(self.note_end(result)),
            () = timer => ProcessEvent::TimeOut,
        }
    }

    fn note_end(&mut self, result: io::Result<ExitStatus>) -> io::Result<ExitStatus> {
        if self.exit.is_none() {
            // The process group ends with its leader. The leader was reaped just now, so its id is
            // still free.
            self.group.kill();
            self.strays.kill_all();
        }
        if let Ok(status) = result {
            self.exit = Some(status);
        }
        self.pipes.read_said();
        result
    }

    /// Describes the end of the process, if it is known to have ended or was killed.
    pub(super) fn ending(&self) -> Option<String> {
        match self.exit {
            Some(status) => Some(os::describe(status)),
            None if self.was_killed => Some("killed by the harness".into()),
            None => None,
        }
    }

    pub(super) fn read_now(&mut self, lines: &mut LineBuffer) -> Option<usize> {
        read_now(&mut self.pipes.stdout, lines.space())
    }

    /// Writes as much as the pipe takes at once and returns the number of bytes.
    pub(super) fn write_now(&mut self, bytes: &[u8]) -> usize {
        let Some(pipe) = &mut self.pipes.stdin else { return 0 };
        match Pin::new(pipe).poll_write(&mut Context::from_waker(Waker::noop()), bytes) {
            Poll::Ready(Ok(count)) => count,
            // The next wait reports a closed pipe.
            _ => 0,
        }
    }

    /// Closes the process's standard input.
    pub(super) fn close_input(&mut self) {
        self.pipes.stdin = None;
    }

    /// Records that no more output will come.
    pub(super) fn close_output(&mut self) {
        self.pipes.stdout = None;
    }

    /// Kills the process group and the descendants that left it.
    pub(super) fn kill(&mut self) {
        if self.exit.is_none() {
            self.strays.hold(self.pid);
            self.group.kill();
            self.strays.kill_all();
            self.was_killed = true;
        }
    }

    /// Holds its descendants, so that none outlives it after `quit`.
    pub(super) fn hold_descendants(&mut self) {
        if self.exit.is_none() {
            self.strays.hold(self.pid);
        }
    }

    /// Sends `out` and waits until the process ends. Its output is read and discarded, so that a
    /// full pipe cannot block it.
    pub(super) async fn wait_end(&mut self, out: &[u8], lines: &mut LineBuffer, until: Instant) -> Option<ExitStatus> {
        let mut timer = pin!(sleep_until(until.into()));
        let mut sent = 0;
        while self.exit.is_none() {
            match self.next(&out[sent..], lines, timer.as_mut()).await {
                ProcessEvent::Wrote(Ok(count)) => sent += count,
                ProcessEvent::Wrote(Err(_)) => sent = out.len(),
                // The bytes stay in the buffer's free space and are overwritten.
                ProcessEvent::Read(Ok(count), _) if count > 0 => {}
                ProcessEvent::Read(..) => self.close_output(),
                ProcessEvent::Said | ProcessEvent::Ended(Ok(_)) => {}
                ProcessEvent::Ended(Err(_)) | ProcessEvent::TimeOut => break,
            }
            if Instant::now() >= until {
                break;
            }
        }
        self.exit
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Waits until the process has ended. If the system reads pipes in the background, output that
/// is left in open pipes comes first.
async fn ended(child: &mut Child, late_until: &mut Option<Instant>, is_open: bool) -> io::Result<ExitStatus> {
    let result = child.wait().await;
    if let (true, Some(wait)) = (is_open, os::LATE_OUTPUT) {
        let until = *late_until.get_or_insert_with(|| Instant::now() + wait);
        sleep_until(until.into()).await;
    }
    result
}

async fn write_some(pipe: &mut Option<ChildStdin>, bytes: &[u8]) -> io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.write(bytes).await,
        None => Err(io::ErrorKind::BrokenPipe.into()),
    }
}

/// Reads once and stamps the read. A pipe that was closed here never completes.
async fn read_some(pipe: &mut Option<impl AsyncRead + Unpin>, space: &mut [u8]) -> (io::Result<usize>, Instant) {
    match pipe {
        Some(pipe) => {
            let result = pipe.read(space).await;
            (result, Instant::now())
        }
        None => pending().await,
    }
}

/// Reads once without waiting; `None` if there is nothing to read.
fn read_now(pipe: &mut Option<impl AsyncRead + Unpin>, space: &mut [u8]) -> Option<usize> {
    let mut buffer = ReadBuf::new(space);
    let result = Pin::new(pipe.as_mut()?).poll_read(&mut Context::from_waker(Waker::noop()), &mut buffer);
    (matches!(result, Poll::Ready(Ok(()))) && !buffer.filled().is_empty()).then(|| buffer.filled().len())
}
