//! Linux: processes that end with their parent's thread, CPUs, the scheduler's figures, limits on
//! tasks, and counters of the processor.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{
    Pid, PidfdFlags, Resource, Signal, getpid, getppid, getrlimit, pidfd_open, pidfd_send_signal, set_child_subreaper,
    set_parent_process_death_signal,
};
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

// Processes.

/// Makes the kernel kill the process of `command` when the calling *thread* ends, and binds it to
/// the given CPUs (all if empty). The process adopts the orphans among its descendants.
///
/// # Errors
/// Returns the first CPU number that is too large.
pub(crate) fn bind_to_thread(command: &mut Command, cpus: &[usize]) -> Result<(), usize> {
    let set = cpu_set(cpus)?;
    let pinned = !cpus.is_empty();
    let parent = getpid();
    let in_child = move || {
        set_parent_process_death_signal(Some(Signal::KILL))?;
        // If the parent died before the line above, no signal will come.
        if getppid() != Some(parent) {
            return Err(Errno::SRCH.into());
        }
        // Makes its orphans its own children instead of init's, so that `descendants` finds them.
        // If the system refuses, they go to init.
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

/// The running program, to start it again: its file, or what the kernel keeps of it if the file was
/// replaced or removed since.
///
/// # Errors
/// Returns the system's error if the file is unknown.
#[cfg(feature = "cluster")]
pub(crate) fn own_program() -> io::Result<PathBuf> {
    let file = std::env::current_exe()?;
    Ok(if file.exists() { file } else { PathBuf::from("/proc/self/exe") })
}

/// Nothing: the kernel ends the processes that [`bind_to_thread`] started.
#[derive(Debug)]
pub(super) struct Watchdog;

impl Watchdog {
    pub(super) const fn over(_: u32) -> Self {
        Self
    }
}

/// Process held by a descriptor, because its id may be reused.
#[derive(Debug)]
pub(crate) struct ProcessHandle(OwnedFd);

impl ProcessHandle {
    fn open(pid: i32) -> Option<Self> {
        pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok().map(Self)
    }

    /// Returns false if the process is gone or belongs to another user.
    pub(crate) fn kill(&self) -> bool {
        pidfd_send_signal(&self.0, Signal::KILL).is_ok()
    }
}

fn pids() -> impl Iterator<Item = i32> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|process| process.file_name().to_str()?.parse().ok())
}

/// Returns the processes below `root`, each held.
pub(crate) fn descendants(root: u32) -> Vec<ProcessHandle> {
    let Ok(root) = i32::try_from(root) else { return Vec::new() };
    let parents: BTreeMap<i32, i32> = pids().filter_map(|pid| Some((pid, parent(pid)?))).collect();
    let is_below = |pid: i32| {
        let line = std::iter::successors(parents.get(&pid), |parent| parents.get(parent));
        // Bounded, because the processes may have changed while they were read.
        line.take(parents.len()).any(|parent| *parent == root)
    };
    let below = parents.iter().filter(|(pid, _)| is_below(**pid));
    // Checked again once it is held: a newer process with the same id has another parent.
    below.filter_map(|(pid, first)| ProcessHandle::open(*pid).filter(|_| parent(*pid) == Some(*first))).collect()
}

/// Returns a process's parent: the second word after its name in brackets.
fn parent(pid: i32) -> Option<i32> {
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let name_ends = stat.iter().rposition(|byte| *byte == b')')?;
    std::str::from_utf8(&stat[name_ends + 1..]).ok()?.split_ascii_whitespace().nth(1)?.parse().ok()
}

/// Kills the processes whose environment holds `NAME=VALUE` and returns their number. A process
/// that is exiting shows no environment.
pub(crate) fn kill_marked(name: &str, value: &str) -> usize {
    let entry = format!("{name}={value}\0");
    pids().filter(|pid| is_marked(*pid, entry.as_bytes()) && kill(*pid, entry.as_bytes())).count()
}

/// Returns false for processes of other users, because their environment cannot be read.
fn is_marked(pid: i32, entry: &[u8]) -> bool {
    let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    // The mark is at the start of the environment or after the end of another variable.
    environment.starts_with(entry)
        || environment.windows(entry.len() + 1).any(|part| part.first() == Some(&0) && part.get(1..) == Some(entry))
}

/// Checks again once the process is held, because its id may have been reused.
fn kill(pid: i32, entry: &[u8]) -> bool {
    ProcessHandle::open(pid).is_some_and(|held| is_marked(pid, entry) && held.kill())
}

/// Words of a process's command line; `None` if it is gone.
#[cfg(feature = "cluster")]
pub(crate) fn command_line(pid: u32) -> Option<Vec<Vec<u8>>> {
    let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    Some(line.split(|byte| *byte == 0).map(<[u8]>::to_vec).collect())
}

/// Signals that this process was started with as ignored, as a mask with signal N at bit N-1; 0 if
/// unknown.
pub(super) fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

// CPUs.

/// CPUs that this process may use; `None` if the system does not say.
pub(crate) fn allowed_cpus() -> Option<Vec<usize>> {
    let set = sched_getaffinity(None).ok()?;
    Some((0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// Returns the first CPU number that is too large as an error.
fn cpu_set(cpus: &[usize]) -> Result<CpuSet, usize> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        if cpu >= CpuSet::MAX_CPU {
            return Err(cpu);
        }
        set.set(cpu);
    }
    Ok(set)
}

/// Binding of this thread to CPUs, which programs started from it inherit. Ends when dropped.
#[derive(Debug)]
pub(crate) struct CpuBinding(Option<CpuSet>);

impl CpuBinding {
    /// Binds this thread to `cpus`, or leaves it unbound if there are none.
    pub(crate) fn new(cpus: &[usize]) -> io::Result<Self> {
        if cpus.is_empty() {
            return Ok(Self(None));
        }
        let beyond = |cpu| io::Error::other(format!("CPU {cpu} is beyond the last, {}", CpuSet::MAX_CPU - 1));
        let set = cpu_set(cpus).map_err(beyond)?;
        let before = sched_getaffinity(None)?;
        sched_setaffinity(None, &set)?;
        Ok(Self(Some(before)))
    }
}

impl Drop for CpuBinding {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            // The set was this thread's own a moment ago.
            let _ = sched_setaffinity(None, before);
        }
    }
}

// Time.

/// Time since boot, including suspends.
pub(crate) fn since_boot() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
}

// The scheduler's figures.

/// Scheduler's figures of one thread: how long it ran, and how long it waited for a CPU
/// (`schedstat`, in nanoseconds; see Documentation/scheduler/sched-stats.rst in the kernel's
/// sources). The file stays open, and a read takes about a microsecond.
#[derive(Debug)]
pub(crate) struct ThreadFigures(File);

impl ThreadFigures {
    /// Ids and figures of the threads of a process, in no order.
    pub(crate) fn of_process(pid: u32) -> impl Iterator<Item = (u32, Self)> {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
        threads.filter_map(|thread| {
            let id = thread.file_name().to_str()?.parse().ok()?;
            Some((id, Self(File::open(thread.path().join("schedstat")).ok()?)))
        })
    }

    /// Figures of the calling thread.
    pub(crate) fn of_this_thread() -> Option<Self> {
        File::open("/proc/thread-self/schedstat").ok().map(Self)
    }

    /// Times since the thread began: running and waiting. `None` once it has ended.
    pub(crate) fn read(&self) -> Option<(Duration, Option<Duration>)> {
        let mut text = [0; 96];
        let count = self.0.read_at(&mut text, 0).ok()?;
        share(&text[..count]).map(|(ran, waited)| (ran, Some(waited)))
    }
}

/// Parses `ran waited slices`, in nanoseconds.
fn share(text: &[u8]) -> Option<(Duration, Duration)> {
    let mut numbers = std::str::from_utf8(text).ok()?.split_ascii_whitespace().map(str::parse);
    let mut next = || Some(Duration::from_nanos(numbers.next()?.ok()?));
    Some((next()?, next()?))
}

/// Total time that the host took from all CPUs of this machine ("steal" in `/proc/stat`, in clock
/// ticks).
pub(crate) fn stolen() -> Option<Duration> {
    let mut text = [0; 512];
    let count = File::open("/proc/stat").ok()?.read_at(&mut text, 0).ok()?;
    let ticks = stolen_ticks(&text[..count])?;
    Some(Duration::from_secs_f64(ticks as f64 / rustix::param::clock_ticks_per_second() as f64))
}

/// Parses the eighth number of the first line, `cpu user nice system idle iowait irq softirq steal
/// ...`.
fn stolen_ticks(text: &[u8]) -> Option<u64> {
    let line = text.split(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(line).ok()?.strip_prefix("cpu ")?.split_ascii_whitespace().nth(7)?.parse().ok()
}

// Limits.

/// Number of files that this process has open; 0 if unknown.
pub(crate) fn open_files() -> u64 {
    fs::read_dir("/proc/self/fd").map_or(0, |files| files.count() as u64)
}

/// Returns the number of tasks that may still start under the limits of the user, the container and
/// the system.
pub(crate) fn free_tasks() -> Option<u64> {
    // The user's limit does not apply to root.
    let of_user = if rustix::process::geteuid().is_root() {
        None
    } else {
        getrlimit(Resource::Nproc).current.map(|limit| limit.saturating_sub(tasks_of_user()))
    };
    [of_user, free_in_container(), free_in_system()].into_iter().flatten().min()
}

/// Number of threads of all processes of this user.
fn tasks_of_user() -> u64 {
    let user = rustix::process::getuid().as_raw().to_string();
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let threads = |entry: fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        let status = fs::read_to_string(entry.path().join("status")).ok()?;
        let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key))?.split_whitespace().next();
        if value("Uid:") == Some(user.as_str()) { value("Threads:")?.parse::<u64>().ok() } else { None }
    };
    entries.flatten().filter_map(threads).sum()
}

/// Returns the number of tasks that the control groups (v1 and v2) leave, from this process's group
/// upwards.
fn free_in_container() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").ok()?;
    let roots = groups.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        match (parts.next()?, parts.next()?) {
            ("", path) => Some((Path::new("/sys/fs/cgroup"), path)),
            (names, path) if names.split(',').any(|name| name == "pids") => {
                Some((Path::new("/sys/fs/cgroup/pids"), path))
            }
            _ => None,
        }
    });
    roots.flat_map(|(root, path)| free_up_from(root, path.trim_start_matches('/'))).min()
}

fn free_up_from(root: &Path, path: &str) -> Vec<u64> {
    let number = |file: PathBuf| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let within = root.join(path);
    let groups = within.ancestors().take_while(|group| group.starts_with(root));
    groups
        .filter_map(|group| Some(number(group.join("pids.max"))?.saturating_sub(number(group.join("pids.current"))?)))
        .collect()
}

/// Returns the number of tasks that the kernel's own limit leaves.
fn free_in_system() -> Option<u64> {
    let number = |file: &str| fs::read_to_string(file).ok()?.trim().parse::<u64>().ok();
    let most =
        [number("/proc/sys/kernel/threads-max"), number("/proc/sys/kernel/pid_max")].into_iter().flatten().min()?;
    let load = fs::read_to_string("/proc/loadavg").ok()?;
    let running = load.split_whitespace().nth(3)?.split_once('/')?.1.parse::<u64>().ok()?;
    Some(most.saturating_sub(running))
}

// Counters of the processor.

/// Counters of the processor for programs that this thread starts. They count from `exec` on, so
/// this process counts nothing.
pub(crate) struct Counters {
    instructions: Option<perf_event::Counter>,
    cycles: Option<perf_event::Counter>,
}

impl Counters {
    /// Opens those that the machine has.
    pub(crate) fn open() -> Self {
        use perf_event::events::Hardware;
        Self { instructions: counter(Hardware::INSTRUCTIONS), cycles: counter(Hardware::CPU_CYCLES) }
    }

    /// Instructions and cycles in user mode; `None` if the system does not count them, or if other
    /// programs had the counter for a part of the time.
    pub(crate) fn read(self) -> (Option<u64>, Option<u64>) {
        (self.instructions.and_then(count), self.cycles.and_then(count))
    }
}

/// `None` if the machine has no such counter (most virtual ones), or if the system does not let
/// this user open it.
fn counter(event: impl perf_event::events::Event) -> Option<perf_event::Counter> {
    perf_event::Builder::new(event).inherit(true).enable_on_exec(true).build().ok()
}

fn count(mut counter: perf_event::Counter) -> Option<u64> {
    let found = counter.read_count_and_time().ok()?;
    (found.count > 0 && found.time_running == found.time_enabled).then_some(found.count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_writes() {
        let (ran, waited) = share(b"746353 373027 5\n").unwrap();
        assert_eq!((ran.as_nanos(), waited.as_nanos()), (746_353, 373_027));
        assert_eq!(stolen_ticks(b"cpu  833659 388193 89867 1921201 3758 0 694 444 0 0\ncpu0 1"), Some(444));
        for text in [&b""[..], b"1", b"a b c", b"-1 2 3", b"\xff 1 2", b"99999999999999999999999 1 1"] {
            assert!(share(text).is_none(), "{text:?}");
        }
        for text in [&b""[..], b"cpu", b"cpu  1 2 3", b"intr 1 2 3 4 5 6 7 8", b"cpu  1 2 3 4 5 6 7 x"] {
            assert!(stolen_ticks(text).is_none(), "{text:?}");
        }
    }

    #[test]
    fn a_group_has_what_the_tightest_above_it_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        for (group, most, current) in [("a/b", "max", "10"), ("a", "100", "40")] {
            fs::write(folder.path().join(group).join("pids.max"), most).unwrap();
            fs::write(folder.path().join(group).join("pids.current"), current).unwrap();
        }
        assert_eq!(free_up_from(folder.path(), "a/b"), [60]);
        assert_eq!(free_up_from(folder.path(), ""), [0; 0]);
    }

    #[test]
    fn counters_count_the_programs_that_this_thread_starts() {
        let Some(counter) = counter(perf_event::events::Software::TASK_CLOCK) else {
            crate::skip::skip("the test of counters", "the system lets no user open one (perf_event_paranoid)");
            return;
        };
        let script = "i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done";
        assert!(Command::new("sh").args(["-c", script]).status().unwrap().success());
        assert!(count(counter).is_some_and(|nanoseconds| nanoseconds > 1_000_000));
    }
}
