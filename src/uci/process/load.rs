//! System load during a move, as evidence if a late move was the fault of the machine or of the
//! engine.
//!
//! For each thread Linux counts how long it ran and how long it waited for a CPU
//! ([`ThreadFigures`]). For the whole machine it counts how long the host ran something else
//! ([`os::stolen`]). Both are read right before and right after a move, outside of the charged
//! time. Under a clock the threads' figures stay open. Without a clock none are opened. Windows
//! counts how long a process ran, and nothing else. Other systems count nothing. A figure that is
//! not counted is `None`.
//!
//! The figures are stored with the move in the journal, and with every loss on time. They are read
//! once more when the mover's clock reaches zero, if its move is still awaited. A loss that they
//! cover is the host's if the engine also used at most 1 ms of its own after that moment
//! (`record::Overstep::is_by_host`). With `--void-disturbed` its pair is replayed (`is_excused`);
//! the void game stays in the journal.

use std::time::{Duration, Instant};

use crate::os::{self, ThreadFigures};
use crate::record::{MoveLoad, SinceFlag};

/// Maximum number of measured threads of an engine, because reading more takes too long.
const MAX_THREADS: usize = 64;

/// Age up to which a reading of the machine's figures is reused. They cost more than a thread's.
const MOST_AGE: Duration = Duration::from_millis(100);

/// Reader of the scheduler's figures of one engine and of the thread that runs the game.
#[derive(Debug, Default)]
pub(super) struct LoadMeter {
    /// Process whose threads' figures are not open yet.
    unopened: Option<u32>,
    engine: Vec<ThreadFigures>,
    runner: Option<ThreadFigures>,
    before: Reading,
    stolen_before: Option<(Instant, Duration)>,
    at_flag: Option<FlagReading>,
    /// Last reading of the runner's wait without a clock: its time and the wait.
    lately: Option<(Duration, Duration)>,
}

/// Totals since the threads began.
#[derive(Clone, Copy, Debug, Default)]
struct Reading {
    engine: Option<LoadShare>,
    runner: Option<LoadShare>,
}

/// Totals at the moment when the mover's clock reached zero.
#[derive(Debug)]
struct FlagReading {
    at: Instant,
    /// Figures of each thread.
    engine: Vec<Option<LoadShare>>,
    runner: Duration,
    stolen: Duration,
}

#[derive(Clone, Copy, Debug, Default)]
struct LoadShare {
    ran: Duration,
    /// `None` if the system does not count it.
    waited: Option<Duration>,
}

impl LoadMeter {
    /// Selects the process `pid`; the next move with a clock opens the figures of its threads.
    pub(super) fn watch(&mut self, pid: u32) {
        self.engine.clear();
        self.unopened = Some(pid);
    }

    /// Opens the figures of the threads of `pid` and of this thread, which runs the game.
    fn open(&mut self, pid: u32) {
        self.engine.extend(ThreadFigures::of_process(pid).map(|(_, figures)| figures).take(MAX_THREADS + 1));
        if self.engine.len() > MAX_THREADS {
            self.engine.clear();
        }
        if self.runner.is_none() {
            self.runner = ThreadFigures::of_this_thread();
        }
    }

    /// Takes the figures before a move.
    pub(super) fn begin(&mut self) {
        if let Some(pid) = self.unopened.take() {
            self.open(pid);
        }
        let fresh = |(at, _): &(Instant, Duration)| at.elapsed() < MOST_AGE;
        if !self.stolen_before.as_ref().is_some_and(fresh) {
            self.stolen_before = os::stolen().map(|stolen| (Instant::now(), stolen));
        }
        self.at_flag = None;
        self.before = self.read();
    }

    /// Takes the figures when the mover's clock is at zero without an answer.
    pub(super) fn flag(&mut self) {
        let engine: Vec<_> = self.engine.iter().map(read_share).collect();
        if engine.iter().flatten().any(|share| share.waited.is_some()) {
            let runner = self.runner_waited().unwrap_or_default();
            self.at_flag =
                Some(FlagReading { at: Instant::now(), engine, runner, stolen: os::stolen().unwrap_or_default() });
        }
    }

    /// Returns the load from [`flag`](Self::flag) until now, right after the answer at `answered`.
    fn since_flag(&self, answered: Instant) -> Option<SinceFlag> {
        let FlagReading { at, engine, runner, stolen: stolen_before } = self.at_flag.as_ref()?;
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| u32::try_from(cpus.get()).unwrap_or(1));
        let mut since = SinceFlag {
            elapsed: answered.saturating_duration_since(*at),
            runner_waited: self.runner_waited().unwrap_or_default().saturating_sub(*runner),
            stolen: os::stolen().unwrap_or_default().saturating_sub(*stolen_before) / cpus,
            ..SinceFlag::default()
        };
        // The maximum of all threads, not the sum: simultaneous waits delay a move once.
        for (file, before) in self.engine.iter().zip(engine) {
            let (Some(now), Some(before)) = (read_share(file), before) else { continue };
            since.ran = since.ran.max(now.ran.saturating_sub(before.ran));
            since.waited =
                since.waited.max(now.waited.unwrap_or_default().saturating_sub(before.waited.unwrap_or_default()));
        }
        Some(since)
    }

    /// Returns the load from [`begin`](Self::begin) until now, right after the answer at
    /// `answered`. The machine's figures are read only for a `late` move.
    pub(super) fn end(&self, late: bool, answered: Instant) -> MoveLoad {
        let now = self.read();
        let since = |now: Option<LoadShare>, before: Option<LoadShare>, part: fn(LoadShare) -> Option<Duration>| {
            Some(part(now?)?.saturating_sub(part(before?)?))
        };
        let stolen = || Some(os::stolen()?.saturating_sub(self.stolen_before?.1));
        MoveLoad {
            engine_ran: since(now.engine, self.before.engine, |share| Some(share.ran)),
            engine_waited: since(now.engine, self.before.engine, |share| share.waited),
            runner_waited: since(now.runner, self.before.runner, |share| share.waited),
            stolen: if late { stolen() } else { None },
            stopped: None,
            since_flag: if late { self.since_flag(answered) } else { None },
        }
    }

    /// Total time that this thread had waited for a CPU at [`begin`](Self::begin).
    pub(super) fn runner_waited_before(&self) -> Option<Duration> {
        self.before.runner.and_then(|share| share.waited)
    }

    /// Total time that this thread had waited for a CPU at `now` or up to 0.1 s before. Most
    /// searches without a clock are so short that they reuse the reading.
    pub(super) fn runner_waited_lately(&mut self, now: Duration) -> Option<Duration> {
        if self.lately.is_none_or(|(at, _)| now.saturating_sub(at) >= MOST_AGE) {
            self.lately = self.runner_waited().map(|waited| (now, waited));
        }
        self.lately.map(|(_, waited)| waited)
    }

    /// Total time that this thread has waited for a CPU until now.
    pub(super) fn runner_waited(&self) -> Option<Duration> {
        match &self.runner {
            Some(file) => read_share(file),
            None => read_share(&ThreadFigures::of_this_thread()?),
        }
        .and_then(|share| share.waited)
    }

    fn read(&self) -> Reading {
        // A thread that ended is left out of the sum. The sum may thus decrease, and `end` then
        // reports zero.
        let engine = self.engine.iter().filter_map(read_share).reduce(|sum, share| LoadShare {
            ran: sum.ran + share.ran,
            waited: sum.waited.zip(share.waited).map(|(a, b)| a + b),
        });
        Reading { engine, runner: self.runner.as_ref().and_then(read_share) }
    }
}

/// Waits for a CPU of a process up to a moment.
#[derive(Debug)]
pub struct CpuWaits {
    pid: u32,
    /// Total waits of its threads by their ids. A thread that starts later has waited for nothing.
    threads: Vec<(u32, Duration)>,
    /// Total wait of the calling thread; `None` if it does not matter.
    own: Option<Duration>,
}

impl CpuWaits {
    /// Waits of process `pid` up to now.
    pub(super) fn of(pid: u32) -> Self {
        let of_thread = |(id, figures)| Some((id, read_share(&figures)?.waited?));
        Self { pid, threads: ThreadFigures::of_process(pid).filter_map(of_thread).collect(), own: None }
    }

    /// Waits of process `pid` and of the calling thread up to now.
    pub(super) fn with_own(pid: u32) -> Self {
        Self { own: Some(waited_by_this_thread()), ..Self::of(pid) }
    }

    /// Waits of process `pid` and of the calling thread before the process began.
    pub(super) fn at_start(pid: u32) -> Self {
        Self { pid, threads: Vec::new(), own: Some(waited_by_this_thread()) }
    }

    /// Longest wait of a thread since then, and with it that of the calling thread if it matters;
    /// zero if unknown. The thread that waited longest before may not be the one that waits now, so
    /// each is compared with itself.
    #[must_use]
    pub fn since(&self) -> Duration {
        let before =
            |id: u32| self.threads.iter().find(|(known, _)| *known == id).map_or(Duration::ZERO, |(_, at)| *at);
        let now = Self::of(self.pid).threads;
        let longest = now.into_iter().map(|(id, waited)| waited.saturating_sub(before(id))).max().unwrap_or_default();
        longest + self.own.map_or(Duration::ZERO, |own| waited_by_this_thread().saturating_sub(own))
    }
}

/// Total time that this thread has waited for a CPU; zero if unknown.
fn waited_by_this_thread() -> Duration {
    ThreadFigures::of_this_thread().as_ref().and_then(read_share).and_then(|share| share.waited).unwrap_or_default()
}

fn read_share(thread: &ThreadFigures) -> Option<LoadShare> {
    let (ran, waited) = thread.read()?;
    Some(LoadShare { ran, waited })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On Linux the meter sees the CPU time of a thread that spins.
    #[cfg(target_os = "linux")]
    #[test]
    fn sees_a_thread_run() {
        let mut meter = LoadMeter::default();
        meter.watch(std::process::id());
        assert!(meter.runner.is_none() && meter.engine.is_empty(), "nothing is open before a clock runs");
        meter.begin();
        if meter.runner.is_none() {
            return crate::skip::skip("sees_a_thread_run", "this kernel keeps no scheduler statistics");
        }
        let ran = |load: MoveLoad| load.engine_ran.unwrap_or_default();
        while ran(meter.end(false, Instant::now())) < Duration::from_millis(5) {
            std::hint::spin_loop();
        }
        meter.flag();
        // Of one thread, because other tests run in this process as well.
        let ran_since = |load: &MoveLoad| load.since_flag.unwrap().ran;
        let mut load = meter.end(true, Instant::now());
        while ran_since(&load) < Duration::from_millis(5) {
            std::hint::spin_loop();
            load = meter.end(true, Instant::now());
        }
        let since = load.since_flag.unwrap();
        assert!(since.own() >= since.ran, "{since:?}");
        assert!(load.engine_waited.is_some() && load.runner_waited.is_some() && load.stolen.is_some(), "{load:?}");
    }
}
