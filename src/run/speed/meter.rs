//! Cost of child processes: CPU time, wall time, and counts of the processor.

use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;

/// Cost of one run of a program, its own children included.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// CPU time, of user and system.
    pub(crate) cpu: Duration,
    /// Time from start to end.
    pub(crate) wall: Duration,
    /// Instructions in user mode; `None` if the system does not count them.
    pub(crate) instructions: Option<u64>,
    /// Cycles in user mode; `None` if the system does not count them.
    pub(crate) cycles: Option<u64>,
    /// True if this program ran first in its round.
    pub(crate) began_round: bool,
}

/// Measures the children of this process that start and end until [`Self::stop`]. Counters see only
/// those that the calling thread starts.
pub(super) struct Meter {
    counters: counters::Counters,
    before: Duration,
    begun: Instant,
}

impl Meter {
    pub(super) fn start() -> Self {
        Self { counters: counters::Counters::open(), before: children(), begun: Instant::now() }
    }

    pub(super) fn stop(self) -> Cost {
        let wall = self.begun.elapsed();
        let cpu = children().saturating_sub(self.before);
        let (instructions, cycles) = self.counters.read();
        Cost { cpu, wall, instructions, cycles, began_round: false }
    }
}

/// CPU time of all children that have ended, and of their children that they waited for.
fn children() -> Duration {
    let time = |value: TimeVal| {
        Duration::from_secs(u64::try_from(value.tv_sec()).unwrap_or(0))
            + Duration::from_micros(u64::try_from(value.tv_usec()).unwrap_or(0))
    };
    // Fails only for an unknown kind of usage.
    getrusage(UsageWho::RUSAGE_CHILDREN)
        .map(|usage| time(usage.user_time()) + time(usage.system_time()))
        .unwrap_or_default()
}

#[cfg(target_os = "linux")]
mod counters {
    use perf_event::events::{Event, Hardware};
    use perf_event::{Builder, Counter};

    /// Counters of the processor for programs that this thread starts. They count from `exec` on,
    /// so this process counts nothing.
    pub(super) struct Counters {
        instructions: Option<Counter>,
        cycles: Option<Counter>,
    }

    impl Counters {
        pub(super) fn open() -> Self {
            Self { instructions: counter(Hardware::INSTRUCTIONS), cycles: counter(Hardware::CPU_CYCLES) }
        }

        /// Instructions and cycles.
        pub(super) fn read(self) -> (Option<u64>, Option<u64>) {
            (self.instructions.and_then(read), self.cycles.and_then(read))
        }
    }

    /// `None` if the machine has no such counter (most virtual ones), or if the system does not let
    /// this user open it.
    pub(super) fn counter(event: impl Event) -> Option<Counter> {
        Builder::new(event).inherit(true).enable_on_exec(true).build().ok()
    }

    /// `None` if other programs had the counter for a part of the time.
    pub(super) fn read(mut counter: Counter) -> Option<u64> {
        let found = counter.read_count_and_time().ok()?;
        (found.count > 0 && found.time_running == found.time_enabled).then_some(found.count)
    }
}

#[cfg(not(target_os = "linux"))]
mod counters {
    pub(super) struct Counters;

    impl Counters {
        pub(super) const fn open() -> Self {
            Self
        }

        pub(super) const fn read(self) -> (Option<u64>, Option<u64>) {
            (None, None)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Bench;

    /// A bench that spins through `rounds` rounds in a child of its own.
    fn spin(rounds: u32) {
        let script = format!("(i=0; while [ $i -lt {rounds} ]; do i=$((i+1)); done); echo bench: 7");
        let args = ["-c".to_owned(), script];
        let limit = Duration::from_mins(20);
        let bench = Bench { program: "/bin/sh".into(), args: args.into(), dir: None, cpus: Vec::new(), limit };
        assert_eq!(bench.run().unwrap(), 7);
    }

    #[test]
    fn the_cost_grows_with_the_work_of_grandchildren() {
        // Other tests end children meanwhile, which can only add to a cost.
        let cost = |rounds| {
            let least = |_| {
                let meter = Meter::start();
                spin(rounds);
                meter.stop().cpu
            };
            (0..5).map(least).min().unwrap()
        };
        let (little, much) = (cost(1_000), cost(400_000));
        assert!(little * 4 < much, "{little:?} and {much:?}");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn counters_count_the_programs_that_this_thread_starts() {
        use perf_event::events::Software;
        let Some(counter) = counters::counter(Software::TASK_CLOCK) else {
            crate::skip::skip("the test of counters", "the system lets nobody open one (perf_event_paranoid)");
            return;
        };
        spin(100_000);
        assert!(counters::read(counter).is_some_and(|nanoseconds| nanoseconds > 1_000_000));
    }
}
