//! Unix: process groups, signals, kinds and rights of files, sockets, limits and terminals.

use std::ffi::OsStr;
use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions, Permissions, TryLockError};
use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::os::unix::net::UnixStream as BlockingStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getrlimit, setrlimit};
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};
use tempfile::NamedTempFile;
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{Signal as Receiver, SignalKind, signal};

use super::{Watchdog, ignored_signals};

// Processes.

/// Keeps the signals of a terminal from the process of `command`: it leads a process group of its
/// own.
pub(crate) fn separate(command: &mut Command) {
    command.process_group(0);
}

/// Process group of a child.
#[derive(Debug)]
pub(crate) struct ProcessGroup {
    leader: Option<Pid>,
    _watchdog: Watchdog,
}

impl ProcessGroup {
    /// Makes the process of `command` the first of a group.
    pub(crate) fn lead(command: &mut Command) {
        separate(command);
    }

    /// The group of `pid`, which [`ProcessGroup::lead`] prepared. Programs that it starts join it.
    /// Its CPUs are those that it was started with.
    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
    pub(crate) fn of(pid: u32, _cpus: &[usize]) -> io::Result<Self> {
        Ok(Self { leader: i32::try_from(pid).ok().and_then(Pid::from_raw), _watchdog: Watchdog::over(pid) })
    }

    /// Kills all processes of the group. Call it before the leader is reaped or right after,
    /// because the id may be reused later.
    pub(crate) fn kill(&self) {
        if let Some(leader) = self.leader {
            // Fails if the group is empty.
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Returns true if a child has ended. It is not reaped: its id, and so its group's, stays valid
/// until it is waited for.
pub(crate) fn has_ended(child: &mut Child) -> io::Result<bool> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
    match rustix::process::waitid(WaitId::Pid(Pid::from_child(child)), options) {
        Ok(Some(_)) => Ok(true),
        Ok(None) | Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Shell script that runs its arguments and exits with their status. Its input is a pipe that only
/// this process holds open. The pipe closes with this process, even on Ctrl-C or `kill -9`, and
/// then the whole process group is killed.
const GUARD: &str = "exec 3<&0 </dev/null
\"$@\" 3<&- &
job=$!
(read -r gone <&3; kill -KILL 0) >/dev/null 2>&1 &
exec 3<&-
wait $job";

/// Words before a command line that have it end with this process, its children included. Its input
/// must be a pipe that this process holds open and never writes to. `None` if every child does.
pub(crate) const fn guard() -> Option<[&'static str; 4]> {
    Some(["sh", "-c", GUARD, "sh"])
}

/// Describes an exit status: `exit status 3` or `signal 11 (SIGSEGV)`.
pub(crate) fn describe(status: ExitStatus) -> String {
    if let Some(signal) = status.signal() {
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

/// True if something outside of the process ended it, or a fault: a signal.
#[cfg(any(feature = "cluster", test))]
pub(crate) fn is_killed(status: ExitStatus) -> bool {
    status.signal().is_some()
}

fn signal_name(number: i32) -> Option<&'static str> {
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

/// True if the system lacked a resource that it may have again later.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    let short = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM].map(Errno::raw_os_error);
    error.raw_os_error().is_some_and(|code| short.contains(&code))
}

/// True if the system does not know what was asked for.
pub(crate) fn is_unsupported(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::NOSYS.raw_os_error())
}

/// Makes a server read its configuration again. It may have ended meanwhile.
#[cfg(feature = "cluster")]
pub(crate) fn ask_to_reload(pid: u32) {
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = rustix::process::kill_process(pid, Signal::HUP);
    }
}

// Signals to this process.

/// A request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSignal {
    /// Ctrl-C.
    Interrupt,
    /// The end of the session or of the machine: SIGTERM and SIGHUP.
    Terminate,
}

/// Receiver of requests to stop. Those that the process was started to ignore (`nohup`, or a
/// shell's background job) are left out.
#[derive(Debug)]
pub(crate) struct StopSignals([Option<Receiver>; 3]);

/// True if a signal is in a mask of [`ignored_signals`].
fn is_ignored(kind: SignalKind, ignored: u64) -> bool {
    let bit = u32::try_from(kind.as_raw_value() - 1).unwrap_or(0);
    ignored.checked_shr(bit).unwrap_or(0) & 1 == 1
}

/// True if this process ignores Ctrl-C, as a background job of a script does from its start.
pub(crate) fn is_interrupt_ignored() -> bool {
    is_ignored(SignalKind::interrupt(), ignored_signals())
}

impl StopSignals {
    /// Listens on the current runtime. The signals lose their default effect, also after the end of
    /// this value.
    pub(crate) fn listen() -> Self {
        // Read before the first handler is installed, because a handler replaces the ignored state.
        let ignored = ignored_signals();
        let heed = |kind| if is_ignored(kind, ignored) { None } else { signal(kind).ok() };
        Self([SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()].map(heed))
    }

    /// Listens like [`listen`](Self::listen), and to Ctrl-C even if it is ignored.
    pub(crate) fn listen_to_interrupts() -> Self {
        let Self([_, terminate, hangup]) = Self::listen();
        Self([signal(SignalKind::interrupt()).ok(), terminate, hangup])
    }

    /// Waits for the next one.
    pub(crate) async fn recv(&mut self) -> StopSignal {
        async fn one(receiver: &mut Option<Receiver>) {
            match receiver {
                Some(signal) => {
                    signal.recv().await;
                }
                None => std::future::pending().await,
            }
        }
        let Self([interrupt, terminate, hangup]) = self;
        tokio::select! {
            () = one(interrupt) => StopSignal::Interrupt,
            () = one(terminate) => StopSignal::Terminate,
            () = one(hangup) => StopSignal::Terminate,
        }
    }
}

/// Makes a write past the file size limit return an error, like a full disk, instead of ending the
/// process. Needs a runtime; the effect stays.
pub(crate) fn outlive_file_size_limit() {
    let _ = signal(SignalKind::from_raw(Signal::XFSZ.as_raw()));
}

// Files.

/// Name of a kind of file that is not a regular one.
pub(crate) fn kind(of: FileType) -> &'static str {
    match of {
        _ if of.is_dir() => "a folder",
        _ if of.is_fifo() => "a FIFO",
        _ if of.is_socket() => "a socket",
        _ => "a device",
    }
}

/// Reason that a program which opens the file may never come to its end.
pub(crate) fn endless(about: &Metadata) -> Option<&'static str> {
    let kind = about.file_type();
    if kind.is_fifo() || kind.is_socket() {
        return Some("a pipe or a socket, which would block it");
    }
    (kind.is_char_device() || kind.is_block_device()).then_some("a device, which may never end")
}

/// Makes `open` return at once, even for a FIFO without a writer. Regular files are not affected.
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(i32::try_from((OFlags::NONBLOCK | OFlags::NOCTTY).bits()).unwrap_or(0))
}

/// Creates folders that only their owner can enter.
pub(crate) fn for_owner_alone(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder.mode(0o700)
}

/// Command that keeps other users from reading a file which they can read; `None` if they cannot.
pub(crate) fn remedy_for_readers(path: &Path, about: &Metadata) -> Option<String> {
    (about.mode() & 0o077 != 0).then(|| format!("chmod 600 {}", path.display()))
}

/// Creates temporary files with the rights of any other file. By default only their owner has
/// rights.
pub(crate) fn for_all(builder: &mut tempfile::Builder<'_, '_>, is_program: bool) {
    builder.permissions(Permissions::from_mode(if is_program { 0o777 } else { 0o666 }));
}

/// True: a new file takes the name of one that processes have open.
pub(crate) const REPLACES_OPEN_FILES: bool = true;

/// Gives a temporary file the name `path`, in place of any file of that name.
pub(crate) fn persist(file: NamedTempFile, path: &Path) -> io::Result<()> {
    file.persist(path)?;
    Ok(())
}

/// Gives all users the right to read a file and, if it is a program, to execute it, also if the
/// process's mask took it.
#[cfg(feature = "cluster")]
pub(crate) fn give_to_all(file: &File, is_program: bool) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(if is_program { 0o755 } else { 0o644 }))
}

/// Bytes that this user may still write below a folder; `None` if unknown.
#[cfg(feature = "cluster")]
pub(crate) fn free_bytes(folder: &Path) -> Option<u64> {
    // A file system that is no disk may have no sizes.
    let about = rustix::fs::statvfs(folder).ok().filter(|about| about.f_blocks > 0)?;
    Some(about.f_bavail.saturating_mul(about.f_frsize))
}

/// Locks a file for this process, as [`File::try_lock`] does. Others may still read it.
pub(crate) fn try_lock(file: &File) -> Result<(), TryLockError> {
    file.try_lock()
}

/// Lock on a folder, held while the value lives: the folder itself. Waits for it.
pub(crate) fn lock_folder(folder: &Path) -> io::Result<File> {
    let gate = File::open(folder)?;
    gate.lock()?;
    Ok(gate)
}

/// Writes the entries of a folder to disk, if its file system and permissions allow that.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if matches!(error.kind(), InvalidInput | PermissionDenied | Unsupported) => Ok(()),
        // Some network file systems answer so.
        Err(error) if error.raw_os_error() == Some(Errno::BADF.raw_os_error()) => Ok(()),
        synced => synced,
    }
}

/// Longest wait for output after the end of a process: none, because a read that does not wait
/// returns what is in a pipe.
pub(crate) const LATE_OUTPUT: Option<Duration> = None;

/// True if a backslash outside quotes takes the next letter of a command line literally.
pub(crate) const BACKSLASH_ESCAPES: bool = true;

/// Letters between the paths of a list; the first is the usual one.
pub(crate) const LIST_SEPARATORS: &[char] = &[':', ';'];

/// Advice on a file that [`is_executable`] refuses.
pub(crate) const HOW_TO_MAKE_EXECUTABLE: &str = "run `chmod +x` on it";

/// Returns true for a file that someone may execute.
pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.mode() & 0o111 != 0)
}

/// Names under which a program's file may be found, by the name that it is called by.
pub(crate) fn program_names(name: &Path) -> Vec<PathBuf> {
    vec![name.to_owned()]
}

/// True if `file` is the one at `path` now.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let (held, named) = (file.metadata()?, std::fs::metadata(path)?);
    Ok((held.dev(), held.ino()) == (named.dev(), named.ino()))
}

/// True if a file still has a name in a folder. One that was removed lives as long as it is open.
pub(crate) fn has_name(about: &Metadata) -> bool {
    about.nlink() > 0
}

/// Attributes that change with a file's content: device, inode, size, modification and status
/// change time in nanoseconds.
pub(crate) fn stamp(about: &Metadata) -> [i128; 5] {
    let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    [
        about.dev().into(),
        about.ino().into(),
        about.len().into(),
        nanos(about.mtime(), about.mtime_nsec()),
        nanos(about.ctime(), about.ctime_nsec()),
    ]
}

/// Path whose bytes a file holds.
pub(crate) fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(&bytes))
}

/// Home directory of the user: that of `HOME`, or, if it is not set or empty, as for services, that
/// of the system's list of users.
pub(crate) fn home() -> Option<PathBuf> {
    std::env::home_dir().filter(|home| !home.as_os_str().is_empty())
}

/// Folder of this program's settings, if no variable names another.
pub(crate) fn config_folder() -> Option<PathBuf> {
    home().map(|home| home.join(".config/quintain"))
}

/// Folder of this program's state, if no variable names another.
pub(crate) fn state_folder() -> Option<PathBuf> {
    home().map(|home| home.join(".local/state/quintain"))
}

/// Folder of files that this program can make again, if no variable names another.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    home().map(|home| home.join(".cache/quintain"))
}

// Sockets.

/// Bytes of the longest path that every system accepts: 104 with the ending NUL on some, 108 on
/// Linux.
pub(crate) const LONGEST_SOCKET_PATH: usize = 103;

/// Stream of bytes to another process of this machine.
pub(crate) type LocalStream = UnixStream;

/// Socket that processes of the same user connect to by its path.
#[derive(Debug)]
pub(crate) struct LocalListener(UnixListener);

impl LocalListener {
    /// Makes the socket. One that a killed process left there is replaced.
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        if path.as_os_str().len() > LONGEST_SOCKET_PATH {
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, "the path is too long for a socket"));
        }
        if std::fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket()) {
            std::fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        // Until this takes effect, the check of the peer's user keeps others out.
        std::fs::set_permissions(path, Permissions::from_mode(0o600))?;
        Ok(Self(listener))
    }

    /// Waits for a process that connects; `None` for one of another user.
    pub(crate) async fn accept(&mut self) -> io::Result<Option<LocalStream>> {
        let (stream, _) = self.0.accept().await?;
        let own = rustix::process::geteuid().as_raw();
        Ok(stream.peer_cred().is_ok_and(|peer| peer.uid() == own).then_some(stream))
    }
}

/// True if the file itself, not the target of a link, is a socket that this user made.
pub(crate) fn is_own_socket(path: &Path) -> io::Result<bool> {
    let about = std::fs::symlink_metadata(path)?;
    Ok(about.file_type().is_socket() && about.uid() == rustix::process::geteuid().as_raw())
}

/// Blocking connection to a [`LocalListener`].
#[derive(Debug)]
pub(crate) struct LocalClient(BlockingStream);

impl LocalClient {
    /// Connects to the socket at `path`.
    pub(crate) fn connect(path: &Path) -> io::Result<Self> {
        BlockingStream::connect(path).map(Self)
    }

    /// Bounds the wait of a read; `None` for no bound.
    pub(crate) fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.0.set_read_timeout(limit)
    }
}

impl io::Read for LocalClient {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        self.0.read(bytes)
    }
}

impl io::Write for LocalClient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

// Limits, and facts about the machine.

/// Raises the soft limit on open files as far as possible, up to `most`, and returns it; `None` for
/// no limit.
pub(crate) fn raise_open_files(most: u64) -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.unwrap_or(u64::MAX).min(most);
    if limit.current.is_some_and(|current| current < wanted) {
        // On failure the current limit suffices for most runs.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
    getrlimit(Resource::Nofile).current
}

/// Name of this machine.
#[cfg(feature = "cluster")]
pub(crate) fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// CPU time of all children that have ended, and of their children that they waited for.
pub(crate) fn cpu_time_of_children() -> Duration {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeVal;
    let time = |value: TimeVal| {
        Duration::from_secs(u64::try_from(value.tv_sec()).unwrap_or(0))
            + Duration::from_micros(u64::try_from(value.tv_usec()).unwrap_or(0))
    };
    // Fails only for an unknown kind of usage.
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .map(|usage| time(usage.user_time()) + time(usage.system_time()))
        .unwrap_or_default()
}

// Terminals.

/// Modes of the terminal's own reaction to Ctrl-C, besides the signal.
const AT_CTRL_C: LocalModes = LocalModes::ECHOCTL.union(LocalModes::NOFLSH);

/// Modes of a terminal, to be restored.
#[derive(Debug)]
pub(crate) struct TerminalModes(LocalModes);

impl TerminalModes {
    /// Keeps the terminal behind standard error from echoing Ctrl-C and from discarding output at
    /// it. `None` if there is no terminal, or if this process is not in its foreground.
    pub(crate) fn quiet() -> Option<Self> {
        let terminal = io::stderr();
        if !terminal.is_terminal() {
            return None;
        }
        change(&terminal, |modes| {
            let before = modes.local_modes & AT_CTRL_C;
            modes.local_modes.remove(LocalModes::ECHOCTL);
            modes.local_modes.insert(LocalModes::NOFLSH);
            Self(before)
        })
    }

    /// Undoes [`quiet`](Self::quiet).
    pub(crate) fn restore(&self) {
        change(&io::stderr(), |modes| modes.local_modes = (modes.local_modes - AT_CTRL_C) | self.0);
    }
}

/// Changes the terminal's modes; `None` if the process is not in its foreground.
fn change<T>(terminal: &impl AsFd, change: impl FnOnce(&mut Termios) -> T) -> Option<T> {
    // The system stops a background job that changes its terminal.
    if tcgetpgrp(terminal).is_ok_and(|foreground| foreground != rustix::process::getpgrp()) {
        return None;
    }
    let mut modes = tcgetattr(terminal).ok()?;
    let result = change(&mut modes);
    tcsetattr(terminal, OptionalActions::Now, &modes).ok()?;
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_named() {
        let cases = [(0, "exit status 0"), (3 << 8, "exit status 3"), (11, "signal 11 (SIGSEGV)"), (34, "signal 34")];
        for (raw, expected) in cases {
            assert_eq!(describe(ExitStatus::from_raw(raw)), expected);
        }
    }
}
