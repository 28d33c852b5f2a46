//! Windows: jobs that end processes, console events, named pipes, and CPUs by process.

use std::fs::{DirBuilder, File, FileType, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::windows::fs::MetadataExt as _;
use std::os::windows::io::{AsRawHandle as _, OwnedHandle};
use std::os::windows::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use tokio::net::windows::named_pipe::{NamedPipeServer, ServerOptions};
use tokio::signal::windows::{CtrlBreak, CtrlC, CtrlClose, CtrlShutdown};
use windows_sys::Win32::Foundation::{
    ERROR_ACCESS_DENIED, ERROR_COMMITMENT_LIMIT, ERROR_IO_PENDING, ERROR_LOCK_VIOLATION, ERROR_NO_SYSTEM_RESOURCES,
    ERROR_NOT_ENOUGH_MEMORY, ERROR_PIPE_BUSY, ERROR_SHARING_VIOLATION, ERROR_TOO_MANY_OPEN_FILES, FILETIME, HANDLE,
};
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, GetFileInformationByHandle, LOCKFILE_EXCLUSIVE_LOCK, LOCKFILE_FAIL_IMMEDIATELY,
    LockFileEx,
};
use windows_sys::Win32::System::IO::OVERLAPPED;
use windows_sys::Win32::System::JobObjects::{
    JOBOBJECT_BASIC_ACCOUNTING_INFORMATION, JobObjectBasicAccountingInformation, QueryInformationJobObject,
    TerminateJobObject,
};
use windows_sys::Win32::System::Pipes::PeekNamedPipe;
use windows_sys::Win32::System::SystemInformation::GetTickCount64;
use windows_sys::Win32::System::Threading::{
    CREATE_NEW_PROCESS_GROUP, CREATE_SUSPENDED, GetCurrentProcess, GetProcessAffinityMask, GetProcessTimes,
    OpenProcess, PROCESS_QUERY_LIMITED_INFORMATION, PROCESS_SET_INFORMATION, PROCESS_SET_QUOTA, PROCESS_TERMINATE,
    SetProcessAffinityMask,
};

mod jobs;
mod pipe_rights;

use self::jobs::{Job, own_job, owned, resume};
use self::pipe_rights::PipeRights;

// Processes.

/// Keeps Ctrl-C on the console from the process of `command`.
#[cfg(feature = "cluster")]
pub(crate) fn separate(command: &mut Command) {
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

/// Makes the process of `command` end with this process. Its CPUs are set by its [`ProcessGroup`].
///
/// # Errors
/// Returns the first CPU number that is too large: beyond the 64 of one processor group.
pub(crate) fn bind_to_thread(_: &mut Command, cpus: &[usize]) -> Result<(), usize> {
    let _ = own_job();
    mask(cpus).map(|_| ())
}

/// Set of CPUs as bits.
fn mask(cpus: &[usize]) -> Result<usize, usize> {
    let bit = |cpu: &usize| u32::try_from(*cpu).ok().and_then(|cpu| 1_usize.checked_shl(cpu)).ok_or(*cpu);
    cpus.iter().map(bit).try_fold(0, |mask, bit| Ok(mask | bit?))
}

/// Child with all that it starts.
#[derive(Debug)]
pub(crate) struct ProcessGroup(Option<Job>);

impl ProcessGroup {
    /// Makes the process of `command` the first of a group. It waits until [`ProcessGroup::of`]
    /// starts it, so that the group holds all that it ever starts.
    pub(crate) fn lead(command: &mut Command) {
        // A process that waits would outlive this one otherwise.
        let _ = own_job();
        command.creation_flags(CREATE_NEW_PROCESS_GROUP | CREATE_SUSPENDED);
    }

    /// The group of `pid`, which [`ProcessGroup::lead`] prepared. The process is put on `cpus` (all
    /// if empty), and starts.
    ///
    /// # Errors
    /// Returns the system's error if the process is not started. The caller ends it.
    pub(crate) fn of(pid: u32, cpus: &[usize]) -> io::Result<Self> {
        let rights = PROCESS_SET_QUOTA | PROCESS_TERMINATE | PROCESS_SET_INFORMATION;
        #[expect(unsafe_code, reason = "the standard library has no job objects and no affinity")]
        // SAFETY: the new handle is owned here alone.
        let process = unsafe { owned(OpenProcess(rights, 0, pid)) }?;
        if let Ok(mask @ 1..) = mask(cpus) {
            #[expect(unsafe_code, reason = "the standard library has no affinity")]
            // SAFETY: the handle is open. A refusal leaves the process on all CPUs.
            unsafe {
                SetProcessAffinityMask(process.as_raw_handle(), mask);
            }
        }
        let group = Self(Job::new().filter(|job| job.add(process.as_raw_handle())));
        resume(pid)?;
        Ok(group)
    }

    /// Kills all processes of the group.
    pub(crate) fn kill(&self) {
        if let Some(job) = &self.0 {
            #[expect(unsafe_code, reason = "the standard library has no job objects")]
            // SAFETY: the handle is open.
            unsafe {
                TerminateJobObject(job.0.as_raw_handle(), KILLED);
            }
        }
    }
}

/// Exit status of processes that [`ProcessGroup::kill`] ended.
const KILLED: u32 = 0x4B49_4C4C;

/// Does nothing: a process has no such signal.
#[cfg(feature = "cluster")]
pub(crate) fn ask_to_reload(_: u32) {}

/// Returns true if a child has ended. Its handle keeps its id valid.
pub(crate) fn has_ended(child: &mut Child) -> io::Result<bool> {
    Ok(child.try_wait()?.is_some())
}

/// Nothing: the job of this process ends every child.
pub(crate) fn guard() -> Option<[&'static str; 4]> {
    let _ = own_job();
    None
}

/// Describes an exit status: `exit status 3` or `exception 0xC0000005 (access violation)`.
pub(crate) fn describe(status: ExitStatus) -> String {
    let Some(code) = status.code() else { return status.to_string() };
    let bits = code.cast_unsigned();
    match exception_name(bits) {
        _ if bits == KILLED => "killed".to_owned(),
        Some(name) => format!("exception 0x{bits:08X} ({name})"),
        None if is_exception(bits) => format!("exception 0x{bits:08X}"),
        None => format!("exit status {code}"),
    }
}

/// True for a status that the system gives a process which it ends (`NTSTATUS` of severity error).
fn is_exception(bits: u32) -> bool {
    bits >> 30 == 3
}

fn exception_name(bits: u32) -> Option<&'static str> {
    const NAMES: [(u32, &str); 11] = [
        (0xC000_0005, "access violation"),
        (0xC000_0017, "no memory"),
        (0xC000_001D, "illegal instruction"),
        (0xC000_008C, "array bounds exceeded"),
        (0xC000_0094, "integer division by zero"),
        (0xC000_00FD, "stack overflow"),
        (0xC000_0135, "a DLL was not found"),
        (0xC000_0139, "a DLL lacks a function"),
        (0xC000_013A, "Ctrl-C"),
        (0xC000_0374, "heap corruption"),
        (0xC000_0409, "abort"),
    ];
    NAMES.iter().find(|(code, _)| *code == bits).map(|(_, name)| *name)
}

/// True if the process was killed or ended by a fault.
#[cfg(any(feature = "cluster", test))]
pub(crate) fn is_killed(status: ExitStatus) -> bool {
    status.code().map(i32::cast_unsigned).is_some_and(|bits| bits == KILLED || is_exception(bits))
}

/// True if the system lacked a resource that it may have again later.
pub(crate) fn is_shortage(error: &io::Error) -> bool {
    let short = [ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY, ERROR_NO_SYSTEM_RESOURCES, ERROR_COMMITMENT_LIMIT];
    error.raw_os_error().is_some_and(|code| short.contains(&code.cast_unsigned()))
}

/// False: what Windows lacks is not asked for.
pub(crate) fn is_unsupported(_: &io::Error) -> bool {
    false
}

// Events for this process.

/// A request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopSignal {
    /// Ctrl-C.
    Interrupt,
    /// The end of the console, of the session or of the machine, and Ctrl-Break.
    Terminate,
}

/// Receiver of requests to stop.
#[derive(Debug)]
pub(crate) struct StopSignals(Option<(CtrlC, CtrlBreak, CtrlClose, CtrlShutdown)>);

/// False: no event is ignored from the start.
pub(crate) const fn is_interrupt_ignored() -> bool {
    false
}

impl StopSignals {
    /// Listens on the current runtime. The events lose their default effect, also after the end of
    /// this value. A process without a console gets none.
    pub(crate) fn listen() -> Self {
        use tokio::signal::windows::{ctrl_break, ctrl_c, ctrl_close, ctrl_shutdown};
        let all = || Some((ctrl_c().ok()?, ctrl_break().ok()?, ctrl_close().ok()?, ctrl_shutdown().ok()?));
        Self(all())
    }

    /// Listens like [`listen`](Self::listen).
    pub(crate) fn listen_to_interrupts() -> Self {
        Self::listen()
    }

    /// Waits for the next one.
    pub(crate) async fn recv(&mut self) -> StopSignal {
        let Some((interrupt, stop, close, shutdown)) = &mut self.0 else { return std::future::pending().await };
        tokio::select! {
            _ = interrupt.recv() => StopSignal::Interrupt,
            _ = stop.recv() => StopSignal::Terminate,
            _ = close.recv() => StopSignal::Terminate,
            _ = shutdown.recv() => StopSignal::Terminate,
        }
    }
}

/// Does nothing: there is no such limit.
pub(crate) fn outlive_file_size_limit() {}

// Files.

/// Name of a kind of file that is not a regular one.
pub(crate) fn kind(of: FileType) -> &'static str {
    if of.is_dir() { "a folder" } else { "a device" }
}

/// Reason that a program which opens the file may never come to its end.
pub(crate) fn endless(about: &Metadata) -> Option<&'static str> {
    (!about.is_file() && !about.is_dir()).then_some("a device, which may never end")
}

/// Does nothing: no regular file makes an opening wait.
pub(crate) fn without_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Does nothing: folders in a user's profile are that user's alone by inheritance.
pub(crate) fn for_owner_alone(builder: &mut DirBuilder) -> &mut DirBuilder {
    builder
}

/// None: the rights of files are inherited from the user's profile and not looked at.
pub(crate) fn remedy_for_readers(_: &Path, _: &Metadata) -> Option<String> {
    None
}

/// Does nothing: temporary files inherit the rights of their folder.
pub(crate) fn for_all(_: &mut tempfile::Builder<'_, '_>, _is_program: bool) {}

/// Does nothing: files inherit the rights of their folder.
#[cfg(feature = "cluster")]
pub(crate) fn give_to_all(_: &File, _is_program: bool) -> io::Result<()> {
    Ok(())
}

/// None: a full disk is noticed by the write.
#[cfg(feature = "cluster")]
pub(crate) fn free_bytes(_: &Path) -> Option<u64> {
    None
}

/// False: a file that a process has open is not replaced, not even by that process.
pub(crate) const REPLACES_OPEN_FILES: bool = false;

/// Gives a temporary file the name `path`, in place of any file of that name. Waits a while for
/// processes that have that one open: readers, and virus scanners.
pub(crate) fn persist(mut file: NamedTempFile, path: &Path) -> io::Result<()> {
    const PATIENCE: Duration = Duration::from_secs(5);
    let in_use = [ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION].map(|code| Some(code.cast_signed()));
    let began = Instant::now();
    loop {
        match file.persist(path) {
            Ok(_) => return Ok(()),
            Err(failed) if in_use.contains(&failed.error.raw_os_error()) && began.elapsed() < PATIENCE => {
                file = failed.file;
                std::thread::sleep(LOOK_PAUSE);
            }
            Err(failed) => return Err(failed.error),
        }
    }
}

/// Endings of the files that can be executed.
const PROGRAMS: [&str; 4] = ["exe", "com", "bat", "cmd"];

/// Locks a file for this process. The lock is on a byte that no file has, because the system keeps
/// others from reading the bytes that are locked.
pub(crate) fn try_lock(file: &File) -> Result<(), TryLockError> {
    let mut place = OVERLAPPED::default();
    place.Anonymous.Anonymous.OffsetHigh = 1 << 30;
    #[expect(unsafe_code, reason = "the standard library locks all bytes of a file")]
    // SAFETY: the handle is open, and the structure outlives the call, which does not wait.
    let is_locked = unsafe {
        LockFileEx(file.as_raw_handle(), LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &raw mut place)
    } != 0;
    if is_locked {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    let is_taken = error
        .raw_os_error()
        .is_some_and(|code| [ERROR_LOCK_VIOLATION, ERROR_IO_PENDING].contains(&code.cast_unsigned()));
    Err(if is_taken { TryLockError::WouldBlock } else { TryLockError::Error(error) })
}

/// Lock on a folder, held while the value lives: a file that stands for the folder, because folders
/// have no locks. Waits for it.
pub(crate) fn lock_folder(folder: &Path) -> io::Result<File> {
    let path = std::env::temp_dir().join(format!("quintain-{:016x}.lock", hash_of_path(folder)));
    let gate = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
    gate.lock()?;
    Ok(gate)
}

/// Does nothing: the file system writes its own journal of a folder's entries.
#[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
pub(crate) fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Longest wait for output after the end of a process. A thread in the background reads a pipe, and
/// what it has read comes later. A process that holds the pipe open is not waited for any longer.
pub(crate) const LATE_OUTPUT: Option<Duration> = Some(Duration::from_secs(1));

/// False: a backslash separates the folders of a path.
pub(crate) const BACKSLASH_ESCAPES: bool = false;

/// Letters between the paths of a list; the first is the usual one. A colon follows the letter of
/// a drive.
pub(crate) const LIST_SEPARATORS: &[char] = &[';'];

/// Advice on a file that [`is_executable`] refuses.
pub(crate) const HOW_TO_MAKE_EXECUTABLE: &str = "the name of a program ends in .exe, .com, .bat or .cmd";

/// Returns true for a file that can be executed, according to its extension.
pub(crate) fn is_executable(path: &Path) -> bool {
    has_ending_of_program(path) && path.is_file()
}

fn has_ending_of_program(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| PROGRAMS.iter().any(|known| ending.eq_ignore_ascii_case(known)))
}

/// Names under which a program's file may be found, by the name that it is called by.
pub(crate) fn program_names(name: &Path) -> Vec<PathBuf> {
    if has_ending_of_program(name) {
        return vec![name.to_owned()];
    }
    let with = |ending: &&str| {
        let mut whole = name.as_os_str().to_owned();
        whole.push(".");
        whole.push(ending);
        PathBuf::from(whole)
    };
    PROGRAMS.iter().map(with).collect()
}

/// True if `file` is the one at `path` now.
pub(crate) fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    Ok(identity(file)? == identity(&File::open(path)?)?)
}

/// Volume and index of a file.
fn identity(file: &File) -> io::Result<(u32, u32, u32)> {
    let mut about = BY_HANDLE_FILE_INFORMATION::default();
    #[expect(unsafe_code, reason = "the standard library does not tell a file's index")]
    // SAFETY: the handle is open, and the structure is written here alone.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle(), &raw mut about) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok((about.dwVolumeSerialNumber, about.nFileIndexHigh, about.nFileIndexLow))
}

/// True: the names of a file are not counted.
pub(crate) const fn has_name(_: &Metadata) -> bool {
    true
}

/// Attributes that change with a file's content: its size, and its times of creation and of the
/// last write in units of 100 ns.
pub(crate) fn stamp(about: &Metadata) -> [i128; 5] {
    [0, 0, about.len().into(), about.creation_time().into(), about.last_write_time().into()]
}

/// Path whose bytes a file holds.
pub(crate) fn path_of_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

fn folder_of_variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// Home directory of the user; `None` if `USERPROFILE` does not name it.
pub(crate) fn home() -> Option<PathBuf> {
    folder_of_variable("USERPROFILE")
}

/// Folder of this program's settings, if no variable names another.
pub(crate) fn config_folder() -> Option<PathBuf> {
    folder_of_variable("APPDATA").map(|base| base.join("quintain"))
}

/// Folder of this program's state, if no variable names another.
pub(crate) fn state_folder() -> Option<PathBuf> {
    folder_of_variable("LOCALAPPDATA").map(|base| base.join("quintain").join("state"))
}

/// Folder of files that this program can make again, if no variable names another.
pub(crate) fn cache_folder() -> Option<PathBuf> {
    folder_of_variable("LOCALAPPDATA").map(|base| base.join("quintain").join("cache"))
}

// Pipes.

/// Bytes of the longest path that a note may hold.
pub(crate) const LONGEST_SOCKET_PATH: usize = 32 << 10;

/// Stream of bytes to another process of this machine.
pub(crate) type LocalStream = NamedPipeServer;

/// Named pipe that processes of the same user connect to.
#[derive(Debug)]
pub(crate) struct LocalListener {
    name: String,
    rights: PipeRights,
    next: NamedPipeServer,
}

impl LocalListener {
    /// Makes the pipe of a path, and an empty file at the path, which shows a live run in its
    /// folder as a socket would. A file that exists already was left by a killed process and is
    /// replaced.
    pub(crate) fn bind(path: &Path) -> io::Result<Self> {
        let (name, rights) = (pipe_name(path), PipeRights::of_this_user()?);
        let next = rights.open(ServerOptions::new().first_pipe_instance(true), &name)?;
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => drop(File::create_new(path)?),
        }
        Ok(Self { name, rights, next })
    }

    /// Waits for a process that connects. The rights of the pipe keep other users out.
    pub(crate) async fn accept(&mut self) -> io::Result<Option<LocalStream>> {
        self.next.connect().await?;
        let next = self.rights.open(&mut ServerOptions::new(), &self.name)?;
        Ok(Some(std::mem::replace(&mut self.next, next)))
    }
}

/// Name of the pipe that stands for a path.
fn pipe_name(path: &Path) -> String {
    format!(r"\\.\pipe\quintain-{:016x}", hash_of_path(path))
}

/// First 8 bytes of the SHA-256 of a path.
fn hash_of_path(path: &Path) -> u64 {
    let hash = Sha256::digest(path.as_os_str().as_encoded_bytes());
    hash.iter().take(8).fold(0, |number: u64, byte| number << 8 | u64::from(*byte))
}

/// True: pipes are distinguished by their rights, not by their files.
pub(crate) fn is_own_socket(_: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Blocking connection to a [`LocalListener`].
#[derive(Debug)]
pub(crate) struct LocalClient {
    pipe: File,
    limit: std::cell::Cell<Option<Duration>>,
}

impl LocalClient {
    /// Connects to the pipe of a path.
    pub(crate) fn connect(path: &Path) -> io::Result<Self> {
        /// Longest wait for the server to offer the next instance of its pipe.
        const PATIENCE: Duration = Duration::from_secs(5);
        let (name, began) = (pipe_name(path), Instant::now());
        loop {
            match OpenOptions::new().read(true).write(true).open(&name) {
                Ok(pipe) => return Ok(Self { pipe, limit: std::cell::Cell::new(None) }),
                Err(error)
                    if error.raw_os_error() == Some(ERROR_PIPE_BUSY.cast_signed()) && began.elapsed() < PATIENCE =>
                {
                    std::thread::sleep(LOOK_PAUSE);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Bounds the wait of a read; `None` for no bound.
    #[expect(clippy::unnecessary_wraps, reason = "other systems can fail")]
    pub(crate) fn set_read_timeout(&self, limit: Option<Duration>) -> io::Result<()> {
        self.limit.set(limit);
        Ok(())
    }

    /// True if a read would return at once.
    fn has_bytes(&self) -> io::Result<bool> {
        let (mut available, none) = (0, std::ptr::null_mut());
        #[expect(unsafe_code, reason = "the standard library has no look into a pipe")]
        // SAFETY: the handle is open, and the number is written here alone.
        let looked =
            unsafe { PeekNamedPipe(self.pipe.as_raw_handle(), none, 0, none.cast(), &raw mut available, none.cast()) };
        if looked == 0 { Err(io::Error::last_os_error()) } else { Ok(available > 0) }
    }
}

/// Pause between two looks at a pipe or a file.
const LOOK_PAUSE: Duration = Duration::from_millis(5);

impl io::Read for LocalClient {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        if let Some(limit) = self.limit.get() {
            let began = Instant::now();
            // A closed pipe is an error here, and the end of the stream for the read below.
            while matches!(self.has_bytes(), Ok(false)) {
                if began.elapsed() >= limit {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                std::thread::sleep(LOOK_PAUSE);
            }
        }
        match self.pipe.read(bytes) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
            other => other,
        }
    }
}

impl io::Write for LocalClient {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.pipe.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.pipe.flush()
    }
}

// Limits, and facts about the machine.

/// Unknown: handles have no limit that matters here.
pub(crate) fn raise_open_files(_most: u64) -> Option<u64> {
    None
}

/// Name of this machine.
#[cfg(feature = "cluster")]
pub(crate) fn host_name() -> String {
    std::env::var("COMPUTERNAME").unwrap_or_else(|_| "localhost".to_owned())
}

/// CPU time that a process has had, in kernel and user mode; `None` if the system does not say. The
/// system counts in steps of its clock, 15.6 ms by default.
fn cpu_time(process: HANDLE) -> Option<Duration> {
    let mut times = [FILETIME::default(); 4];
    let [created, exited, kernel, user] = &mut times;
    #[expect(unsafe_code, reason = "the standard library has no CPU times")]
    // SAFETY: the structures are written here alone; a closed handle is an error.
    let is_known = unsafe { GetProcessTimes(process, created, exited, kernel, user) } != 0;
    let ticks = |time: &FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
    is_known.then(|| of_ticks(ticks(&times[2]).saturating_add(ticks(&times[3]))))
}

/// Duration of a number of units of 100 ns.
fn of_ticks(ticks: u64) -> Duration {
    Duration::from_nanos(ticks.saturating_mul(100))
}

/// CPU time of the processes of this process's job, itself left out: of all that it started.
pub(crate) fn cpu_time_of_children() -> Duration {
    let Some(job) = own_job() else { return Duration::ZERO };
    let mut about = JOBOBJECT_BASIC_ACCOUNTING_INFORMATION::default();
    let size = u32::try_from(size_of_val(&about)).unwrap_or(0);
    #[expect(unsafe_code, reason = "the standard library has no job objects")]
    // SAFETY: the handle is open, and the structure is of the size given.
    let own = unsafe {
        let into = std::ptr::from_mut(&mut about).cast();
        let job = job.0.as_raw_handle();
        QueryInformationJobObject(job, JobObjectBasicAccountingInformation, into, size, std::ptr::null_mut());
        GetCurrentProcess()
    };
    let all = of_ticks((about.TotalUserTime + about.TotalKernelTime).unsigned_abs());
    all.saturating_sub(cpu_time(own).unwrap_or_default())
}

/// CPU time of one process: of all its threads. The system does not count how long they wait.
#[derive(Debug)]
pub(crate) struct ThreadFigures(OwnedHandle);

impl ThreadFigures {
    /// Figures of a process, with its id in the place of a thread's.
    pub(crate) fn of_process(pid: u32) -> impl Iterator<Item = (u32, Self)> {
        #[expect(unsafe_code, reason = "the standard library has no handle of a process by its id")]
        // SAFETY: the new handle is owned here alone.
        let handle = unsafe { owned(OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, 0, pid)) };
        handle.ok().map(|handle| (pid, Self(handle))).into_iter()
    }

    /// None: only its wait would matter.
    pub(crate) fn of_this_thread() -> Option<Self> {
        None
    }

    /// Time since the process began: running; how long it waited is unknown.
    pub(crate) fn read(&self) -> Option<(Duration, Option<Duration>)> {
        Some((cpu_time(self.0.as_raw_handle())?, None))
    }
}

// CPUs.

/// CPUs that this process may use, of its processor group; `None` if the system does not say.
pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
    let (mut own, mut all) = (0, 0);
    #[expect(unsafe_code, reason = "the standard library has no affinity")]
    // SAFETY: the handle is valid, and the numbers are written here alone.
    let is_known = unsafe { GetProcessAffinityMask(GetCurrentProcess(), &raw mut own, &raw mut all) } != 0;
    (is_known && own != 0).then(|| (0..usize::BITS as usize).filter(|cpu| own >> cpu & 1 == 1).collect())
}

// Time.

/// Time since boot, including suspends, in steps of 10 to 16 ms.
pub(crate) fn since_boot() -> Duration {
    #[expect(unsafe_code, reason = "the clock of the standard library stops in a suspend")]
    // SAFETY: the function has no conditions.
    let milliseconds = unsafe { GetTickCount64() };
    Duration::from_millis(milliseconds)
}

// Terminals.

/// Modes of a terminal, to be restored; a console needs none.
#[derive(Debug)]
pub(crate) enum TerminalModes {}

impl TerminalModes {
    /// None: a console neither echoes Ctrl-C nor discards output at it.
    pub(crate) fn quiet() -> Option<Self> {
        None
    }

    pub(crate) fn restore(&self) {
        match *self {}
    }
}
