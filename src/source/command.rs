//! Execution of programs for this room: Git, compilers, an engine's bench. Each has its own process
//! group and a deadline.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::os::{self, CpuBinding, ProcessGroup};

/// Bytes of output kept, from its end.
const KEPT: usize = 16 << 20;
/// Bytes at the end of the output in which its last line is looked for.
const LINE: usize = 4096;
/// Variables of one repository: those that `git rev-parse --local-env-vars` prints, except for
/// configuration, and those of a hook's quarantine, of namespaces and of pathspecs.
const REPOSITORY_VARIABLES: [&str; 19] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];
/// Longest wait for the rest of the output once the process group is gone.
const DRAIN: Duration = Duration::from_secs(2);

/// Reason that a program gave no exit status.
#[derive(Debug, Error)]
pub enum ProgramError {
    /// The program could not be started.
    #[error("cannot start `{program}`: {source}; is it installed and on PATH?")]
    Start {
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The wait for the program failed.
    #[error("cannot wait for `{program}`: {source}")]
    Wait {
        /// The program.
        program: String,
        /// The system's reason.
        source: io::Error,
    },
    /// The program ran past its deadline and was killed.
    #[error("`{program}` did not end within {} s and was killed", limit.as_secs())]
    Timeout {
        /// The program.
        program: String,
        /// The deadline.
        limit: Duration,
    },
    /// [`end_builds`] was called while the program ran.
    #[error("`{program}` was interrupted")]
    Interrupted {
        /// The program.
        program: String,
    },
}

/// True once builds must not go on.
static BUILDS_END: AtomicBool = AtomicBool::new(false);

/// Kills the builds and fetches of this process, for good. They are in process groups of their own,
/// which Ctrl-C in a terminal does not reach.
pub(crate) fn end_builds() {
    BUILDS_END.store(true, Ordering::SeqCst);
}

/// News of an engine that is being looked up or built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Update<'a> {
    /// A step that may take long has begun.
    Step(&'a str),
    /// The last line that the compiler printed.
    Output(&'a str),
    /// A line for the user to keep.
    Note(&'a str),
}

/// A program to run.
#[derive(Debug)]
pub(super) struct ProgramRun {
    command: Command,
    limit: Duration,
    merged: bool,
    guarded: bool,
    cpus: Vec<usize>,
    /// True for a step of a build, which [`end_builds`] kills.
    is_build: bool,
    /// Standard input; none if it is `None`.
    input: Option<File>,
}

/// Output and exit status of a program.
#[derive(Debug)]
pub(super) struct CapturedOutput {
    pub(super) status: ExitStatus,
    pub(super) stdout: String,
    /// Empty if the streams were merged.
    pub(super) stderr: String,
}

impl ProgramRun {
    pub(super) fn new(program: impl AsRef<OsStr>, limit: Duration) -> Self {
        Self {
            command: Command::new(program),
            limit,
            merged: false,
            guarded: false,
            cpus: Vec::new(),
            is_build: false,
            input: None,
        }
    }

    /// Like [`Self::new`], for long-running programs: neither the program nor its children outlive
    /// this process. A missing program is an exit status of 127.
    pub(super) fn guarded(program: impl AsRef<OsStr>, limit: Duration) -> Self {
        match os::guard() {
            Some([shell, before @ ..]) => {
                let mut task = Self::new(shell, limit).args(before).args([program]);
                task.guarded = true;
                task
            }
            None => Self::new(program, limit),
        }
    }

    pub(super) fn args(mut self, args: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Self {
        self.command.args(args);
        self
    }

    pub(super) fn dir(mut self, dir: &Path) -> Self {
        self.command.current_dir(dir);
        self
    }

    pub(super) fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Hides the caller's variables that name a repository, which in a hook is another one, or that
    /// change the meaning of paths. Those that say how Git reaches servers stay.
    pub(super) fn without_git_env(mut self) -> Self {
        for name in REPOSITORY_VARIABLES {
            self.command.env_remove(name);
        }
        self
    }

    /// Sends both streams to `stdout`, in the order they were written.
    pub(super) fn merged(mut self) -> Self {
        self.merged = true;
        self
    }

    /// Marks the program as a step of a build.
    pub(super) fn of_build(mut self) -> Self {
        self.is_build = true;
        self
    }

    /// Gives the program a file as its standard input.
    pub(super) fn input(mut self, input: File) -> Self {
        self.input = Some(input);
        self
    }

    /// Binds the program to `cpus`, or leaves it unbound if there are none. Only Linux binds.
    pub(super) fn cpus(mut self, cpus: &[usize]) -> Self {
        self.cpus = cpus.to_vec();
        self
    }

    /// Runs to the end or the deadline; no process of the group outlives the call.
    pub(super) fn run(self) -> Result<CapturedOutput, ProgramError> {
        self.run_watched(&mut |_| {})
    }

    /// Like [`Self::run`]; calls `watch` with the last whole line of the standard output when it
    /// has changed, a few times a second.
    pub(super) fn run_watched(mut self, watch: &mut dyn FnMut(&str)) -> Result<CapturedOutput, ProgramError> {
        let program = PathBuf::from(self.command.get_program()).display().to_string();
        let start = |source| ProgramError::Start { program: program.clone(), source };
        let (out, out_end) = io::pipe().map_err(start)?;
        let (err, err_end) = io::pipe().map_err(start)?;
        let err_end = if self.merged {
            drop(err_end);
            out_end.try_clone().map_err(start)?
        } else {
            err_end
        };
        let (guard, held) = if self.guarded {
            io::pipe().map(|(end, held)| (end.into(), Some(held))).map_err(start)?
        } else {
            (self.input.take().map_or_else(Stdio::null, Stdio::from), None)
        };
        self.command.stdin(guard).stdout(out_end).stderr(err_end);
        ProcessGroup::lead(&mut self.command);
        let spawned = {
            // Only for the start, so that our own threads run anywhere.
            let _bound = CpuBinding::new(&self.cpus).map_err(start)?;
            self.command.spawn()
        };
        let (limit, is_build, cpus) = (self.limit, self.is_build, std::mem::take(&mut self.cpus));
        drop(self); // and with it our copies of the writing ends, or the readers would never see the end
        let mut child = spawned.map_err(start)?;
        let group = ProcessGroup::of(child.id(), &cpus).inspect_err(|_| drop(child.kill())).map_err(start)?;

        let (out, err) = (StreamReader::new(out), StreamReader::new(err));
        let mut shown = String::new();
        let end = wait_until(&mut child, Instant::now() + limit, is_build, &mut || {
            if let Some(line) = out.last_line().filter(|line| *line != shown) {
                watch(&line);
                shown = line;
            }
        });
        group.kill();
        drop(held);
        let status = child.wait().map_err(|source| ProgramError::Wait { program: program.clone(), source })?;
        let (stdout, stderr) = (out.finish(), err.finish());
        match end {
            Ok(WaitEnd::Ended) => Ok(CapturedOutput { status, stdout, stderr }),
            Ok(WaitEnd::Late) => Err(ProgramError::Timeout { program, limit }),
            Ok(WaitEnd::Interrupted) => Err(ProgramError::Interrupted { program }),
            Err(source) => Err(ProgramError::Wait { program, source }),
        }
    }
}

/// End of a wait for a program.
enum WaitEnd {
    Ended,
    /// The deadline passed.
    Late,
    /// It is a step of a build, and [`end_builds`] was called.
    Interrupted,
}

/// Waits for the end of the child. It is not reaped: its id, and so the group's, stays valid until
/// `wait`. `tick` is called at short intervals, and once after the end.
fn wait_until(child: &mut Child, deadline: Instant, is_build: bool, tick: &mut dyn FnMut()) -> io::Result<WaitEnd> {
    let mut nap = Duration::from_millis(1);
    loop {
        if os::has_ended(child)? {
            tick();
            return Ok(WaitEnd::Ended);
        }
        if is_build && BUILDS_END.load(Ordering::SeqCst) {
            return Ok(WaitEnd::Interrupted);
        }
        let now = Instant::now();
        if now >= deadline {
            return Ok(WaitEnd::Late);
        }
        thread::sleep(nap.min(deadline - now));
        nap = (nap * 2).min(Duration::from_millis(20));
        tick();
    }
}

/// Thread that collects the end of a stream.
struct StreamReader {
    bytes: Arc<Mutex<Vec<u8>>>,
    done: mpsc::Receiver<()>,
}

impl StreamReader {
    fn new(mut stream: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, done) = mpsc::channel::<()>();
        let shared = Arc::clone(&bytes);
        thread::spawn(move || {
            let _sender = sender; // dropped at the end of the thread, which is what `finish` waits for
            let mut buffer = vec![0; 1 << 14];
            while let Ok(read @ 1..) = stream.read(&mut buffer) {
                let mut bytes = shared.lock().unwrap_or_else(PoisonError::into_inner);
                bytes.extend_from_slice(&buffer[..read]);
                if bytes.len() > 2 * KEPT {
                    let surplus = bytes.len() - KEPT;
                    bytes.drain(..surplus);
                }
            }
        });
        Self { bytes, done }
    }

    /// The last whole line that is not blank.
    fn last_line(&self) -> Option<String> {
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let recent = &bytes[bytes.len().saturating_sub(LINE)..];
        let whole = &recent[..recent.iter().rposition(|byte| *byte == b'\n')?];
        let line = whole.rsplit(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty())?;
        Some(String::from_utf8_lossy(line).trim().to_owned())
    }

    /// Returns the output so far. The wait for the rest is short, because a process that left its
    /// group may hold the stream open.
    fn finish(self) -> String {
        let _ = self.done.recv_timeout(DRAIN);
        let bytes = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::OpenOptionsExt as _;

    use super::*;

    const NONBLOCK: i32 = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();

    /// Longer than a test may take.
    const LONG: Duration = Duration::from_secs(1_200);

    fn shell(script: &str) -> ProgramRun {
        ProgramRun::new("sh", LONG).args(["-c", script])
    }

    #[test]
    fn output_and_status_are_kept() {
        let ran = shell("echo out; echo err >&2; exit 3").run().unwrap();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str(), ran.status.code()), ("out\n", "err\n", Some(3)));
        let ran = shell("echo a; echo b >&2; echo c").merged().run().unwrap();
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("a\nb\nc\n", ""));
    }

    #[test]
    fn the_last_line_is_heard_while_the_program_runs() {
        let folder = tempfile::tempdir().unwrap();
        let heard = folder.path().join("heard");
        // Ends once its first line was read.
        let script =
            format!("echo one; while ! [ -e '{}' ]; do sleep 0.01; done; printf 'two\\n\\nthr'", heard.display());
        let mut lines = Vec::new();
        let ran = shell(&script).run_watched(&mut |line| {
            lines.push(line.to_owned());
            std::fs::write(&heard, line).unwrap();
        });
        assert_eq!(ran.unwrap().stdout, "one\ntwo\n\nthr");
        assert_eq!(lines.first().map(String::as_str), Some("one"));
        assert!(lines.iter().all(|line| line == "one" || line == "two"), "{lines:?}");
    }

    #[test]
    fn the_deadline_ends_the_whole_group() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        assert!(shell(&format!("mkfifo '{}'", fifo.display())).run().unwrap().status.success());
        let mut end = std::fs::OpenOptions::new().read(true).custom_flags(NONBLOCK).open(&fifo).unwrap();
        // A signal takes a moment. While somebody can write, a read blocks.
        let mut nobody_writes = || {
            let begun = Instant::now();
            while !matches!(end.read(&mut [0]), Ok(0)) {
                assert!(begun.elapsed() < LONG, "a process outlived its group");
                thread::sleep(Duration::from_millis(1));
            }
        };
        let sleeper = format!("sleep 3000 > '{}'", fifo.display());
        let task = ProgramRun::new("sh", Duration::from_millis(200)).args(["-c", &format!("{sleeper} & {sleeper}")]);
        assert!(matches!(task.run(), Err(ProgramError::Timeout { .. })));
        nobody_writes();
        assert!(shell(&format!("{sleeper} & true")).run().unwrap().status.success());
        nobody_writes();
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = ProgramRun::new("no-such-program", LONG).run().unwrap_err();
        assert!(error.to_string().starts_with("cannot start `no-such-program`"));
    }
}
