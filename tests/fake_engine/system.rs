//! Faults that only a Unix system lets a process commit. Elsewhere a peer that is asked for one
//! panics and names it.

#[cfg(unix)]
pub(crate) use unix::*;

#[cfg(not(unix))]
pub(crate) use elsewhere::*;

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::time::Duration;

    use rustix::process::{Signal, getpid, getppid, kill_process};
    use tokio::runtime::Runtime;

    /// Leaves the session, as daemons do.
    pub(crate) fn leave_session() {
        rustix::process::setsid().expect("it leads no group");
    }

    /// CPU time that this process has had.
    pub(crate) fn cpu_time() -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
        Duration::new(u64::try_from(time.tv_sec).unwrap_or(0), u32::try_from(time.tv_nsec).unwrap_or(0))
    }

    fn nowhere() -> File {
        File::open("/dev/null").expect("it is there")
    }

    pub(crate) fn close_stdin() {
        rustix::stdio::dup2_stdin(nowhere()).expect("it can be closed");
    }

    pub(crate) fn close_stdout() {
        rustix::stdio::dup2_stdout(nowhere()).expect("it can be closed");
    }

    fn signal_parent(signal: Signal) {
        kill_process(getppid().expect("it has one"), signal).expect("it is ours");
    }

    pub(crate) fn kill_parent() {
        signal_parent(Signal::KILL);
    }

    /// Stops the parent for 3 s, as a user's Ctrl-Z and `fg` do.
    pub(crate) fn stop_parent() {
        for (signal, pause) in [(Signal::STOP, 3_000), (Signal::CONT, 0)] {
            signal_parent(signal);
            std::thread::sleep(Duration::from_millis(pause));
        }
    }

    /// Ignores SIGTERM while the runtime lives: tokio's handler stands until the process ends, and
    /// nobody looks at what it notes.
    pub(crate) fn ignore_sigterm() -> Runtime {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let guard = runtime.enter();
        let _handler = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).expect("a handler");
        drop(guard);
        runtime
    }

    /// Ends this process by SIGSEGV.
    pub(crate) fn segv() -> ! {
        loop {
            // The run-time library's handler takes the first for a stack overflow, and steps aside.
            kill_process(getpid(), Signal::SEGV).expect("it is ours");
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::sync::LazyLock;
    use std::time::{Duration, Instant};

    static BEGUN: LazyLock<Instant> = LazyLock::new(Instant::now);

    /// Time since the first call, in place of CPU time.
    pub(crate) fn cpu_time() -> Duration {
        BEGUN.elapsed()
    }

    pub(crate) fn leave_session() {
        panic!("--leave needs Unix");
    }

    pub(crate) fn close_stdin() {
        panic!("close-stdin needs Unix");
    }

    pub(crate) fn close_stdout() {
        panic!("close-stdout needs Unix");
    }

    pub(crate) fn kill_parent() {
        panic!("kill-harness needs Unix");
    }

    pub(crate) fn stop_parent() {
        panic!("stop-harness needs Unix");
    }

    pub(crate) fn ignore_sigterm() -> tokio::runtime::Runtime {
        panic!("ignore-sigterm needs Unix");
    }

    pub(crate) fn segv() -> ! {
        panic!("segv needs Unix");
    }
}
