//! Load of the system during a move, and who is to blame for a late one.

use std::fmt;
use std::time::Duration;

/// Load of the system during a move. A field is `None` if the system does not report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveLoad {
    /// CPU time of all threads of the engine.
    pub engine_ran: Option<Duration>,
    /// Time for which the engine's threads were ready to run without a CPU, summed over the
    /// threads.
    pub engine_waited: Option<Duration>,
    /// The same for the thread that runs the game and holds the clock.
    pub runner_waited: Option<Duration>,
    /// CPU time that a hypervisor took from all CPUs of this virtual machine, during the move and
    /// up to 0.1 s before it. Counted in clock ticks, 10 ms on most systems.
    pub stolen: Option<Duration>,
    /// Time for which the harness itself was stopped (Ctrl-Z, SIGSTOP) or the machine slept, at
    /// least. `None` if it ran throughout.
    pub stopped: Option<Duration>,
    /// Load after the mover's clock reached zero; `None` if it never did, or if the answer came
    /// before the load was sampled.
    pub since_flag: Option<SinceFlag>,
}

/// Load of the system between a sample taken when the mover's clock reached zero and the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SinceFlag {
    /// Time from that sample to the answer.
    pub elapsed: Duration,
    /// CPU time of the engine's busiest thread.
    pub ran: Duration,
    /// Longest time for which any one thread of the engine was ready to run without a CPU.
    pub waited: Duration,
    /// The same for the thread that runs the game and holds the clock.
    pub runner_waited: Duration,
    /// Time that a hypervisor took from this machine, per CPU.
    pub stolen: Duration,
}

impl SinceFlag {
    /// Time after the flag for which the engine itself is responsible: it ran or slept, and neither
    /// it nor the clock's thread waited for a CPU.
    #[must_use]
    pub fn own(&self) -> Duration {
        self.ran.max(self.elapsed.saturating_sub(self.waited + self.runner_waited + self.stolen))
    }
}

impl MoveLoad {
    /// Time for which the engine and the runner waited for a CPU.
    #[must_use]
    pub fn waited(&self) -> Option<Duration> {
        Some(self.engine_waited? + self.runner_waited.unwrap_or_default())
    }
}

impl fmt::Display for MoveLoad {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("engine ran", self.engine_ran),
            ("engine waited for a CPU", self.engine_waited),
            ("clock's thread waited for a CPU", self.runner_waited),
            ("taken by the host", self.stolen),
            ("quintain itself was stopped for", self.stopped),
            ("engine's own time after its clock was at zero", self.since_flag.map(|since| since.own())),
        ];
        let mut first = true;
        for (what, time) in parts {
            let Some(time) = time else { continue };
            write!(f, "{}{what} {:.1} ms", if first { "" } else { ", " }, time.as_secs_f64() * 1e3)?;
            first = false;
        }
        if first { f.write_str("the system does not tell what it did") } else { Ok(()) }
    }
}

/// Evidence about a move that was not made in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overstep {
    /// Time allowed for the move: clock and margin.
    pub allowed: Duration,
    /// Time of the answer, from just before the write of `go`; `None` if none came even after
    /// `stop`.
    pub answered: Option<Duration>,
    /// Load of the system during the move.
    pub load: MoveLoad,
}

impl Overstep {
    /// Returns true if the machine is to blame by this rule: the engine answered, and lost time
    /// explains its lateness. Lost time is the wait of engine and runner for a CPU, and the time
    /// for which a hypervisor took CPUs away.
    #[must_use]
    pub fn is_disturbed(&self) -> bool {
        let Some(late) = self.answered.map(|answered| answered.saturating_sub(self.allowed)) else { return false };
        let kept = self.load.waited().unwrap_or_default() + self.load.stolen.unwrap_or_default();
        !kept.is_zero() && late <= kept
    }

    /// Returns true if the game is not to count: the machine is to blame
    /// ([`is_disturbed`](Self::is_disturbed)), and the engine did not keep running by itself after
    /// its clock reached zero. An engine that plans to use more than its clock is late on any
    /// machine; on a busy one it waits for a CPU as well.
    #[must_use]
    pub fn is_excused(&self) -> bool {
        let Some(answered) = self.answered else { return false };
        self.is_disturbed()
            && match &self.load.since_flag {
                Some(since) => since.own() <= Self::OWN_TIME,
                // The clock's thread woke too late to take the sample: its own wait alone explains
                // that.
                None => answered.saturating_sub(self.allowed) <= self.load.runner_waited.unwrap_or_default(),
            }
    }

    /// Returns true if the loss is blamed on the machine. Uses [`is_excused`](Self::is_excused) if
    /// the load was sampled when the mover's clock reached zero, else
    /// [`is_disturbed`](Self::is_disturbed), as in journals of older versions.
    #[must_use]
    pub fn is_by_host(&self) -> bool {
        if self.load.since_flag.is_some() { self.is_excused() } else { self.is_disturbed() }
    }

    /// Time that an engine needs to notice that its clock is at zero, and to answer.
    const OWN_TIME: Duration = Duration::from_millis(1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_move_is_the_machines_doing_where_the_wait_covers_it() {
        let ms = |ms: u64| Some(Duration::from_millis(ms));
        for (answered, engine, runner, stolen, is_disturbed) in [
            (ms(130), ms(30), ms(0), None, true),
            (ms(130), ms(29), ms(0), None, false),
            (ms(130), ms(20), ms(10), None, true),
            (ms(130), None, None, ms(30), true),
            (ms(130), ms(10), None, ms(10), false),
            (ms(130), None, None, None, false),
            (ms(100), ms(0), ms(0), ms(0), false),
            (None, ms(1_000), ms(1_000), ms(1_000), false),
        ] {
            let load = MoveLoad {
                engine_ran: ms(1),
                engine_waited: engine,
                runner_waited: runner,
                stolen,
                stopped: None,
                since_flag: None,
            };
            let overstep = Overstep { allowed: Duration::from_millis(100), answered, load };
            assert_eq!(overstep.is_disturbed(), is_disturbed, "{overstep:?}");
        }
    }

    #[test]
    fn an_engine_that_goes_on_after_its_clock_is_not_excused() {
        let ms = Duration::from_millis;
        // 100 ms and a margin of 10: answered after 160, 60 ms after the look at the clock's end.
        for (ran, waited, runner, stolen, is_excused) in [
            (0, 60, 0, 0, true),
            (1, 50, 9, 0, true),
            (0, 30, 0, 29, true),
            // It ran or slept for longer than an answer takes, however long it waited too.
            (2, 58, 0, 0, false),
            (30, 60, 0, 0, false),
            (1, 40, 10, 0, false),
        ] {
            let since = SinceFlag {
                elapsed: ms(60),
                ran: ms(ran),
                waited: ms(waited),
                runner_waited: ms(runner),
                stolen: ms(stolen),
            };
            let load = MoveLoad { engine_waited: Some(ms(90)), since_flag: Some(since), ..MoveLoad::default() };
            let overstep = Overstep { allowed: ms(110), answered: Some(ms(160)), load };
            assert!(overstep.is_disturbed());
            assert_eq!(overstep.is_excused(), is_excused, "{since:?}");
        }
        // No sample was taken: the clock's thread waited itself, or nothing is known.
        for (runner, is_excused) in [(50, true), (49, false), (0, false)] {
            let load = MoveLoad { engine_waited: Some(ms(90)), runner_waited: Some(ms(runner)), ..MoveLoad::default() };
            let overstep = Overstep { allowed: ms(110), answered: Some(ms(160)), load };
            assert_eq!(overstep.is_excused(), is_excused, "{runner}");
        }
    }
}
