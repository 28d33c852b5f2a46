//! Cost of child processes: CPU time, wall time, and counts of the processor.

use std::time::{Duration, Instant};

use crate::os::{self, Counters};

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
}

/// Measures the children of this process that start and end until [`Self::stop`]. Counters see only
/// those that the calling thread starts.
pub(super) struct Meter {
    counters: Counters,
    before: Duration,
    begun: Instant,
}

impl Meter {
    pub(super) fn start() -> Self {
        Self { counters: Counters::open(), before: os::cpu_time_of_children(), begun: Instant::now() }
    }

    pub(super) fn stop(self) -> Cost {
        let wall = self.begun.elapsed();
        let cpu = os::cpu_time_of_children().saturating_sub(self.before);
        let (instructions, cycles) = self.counters.read();
        Cost { cpu, wall, instructions, cycles }
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
}
