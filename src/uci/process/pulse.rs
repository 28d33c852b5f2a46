//! Detector of stops of the harness itself.
//!
//! Engines have process groups of their own, so Ctrl-Z, SIGSTOP or a frozen group stops the harness
//! and not them. An answer then waits in the pipe until the harness continues, and its stamp is
//! wrong.
//!
//! No signal reports this in time (SIGCONT is handled after the other threads run again). A wait
//! with a deadline therefore wakes up every [`Pulse::BEAT`]. A gap much longer than a beat is a
//! stop, less the thread's waits for a CPU; its clock includes suspends of the machine.
//!
//! Such a stop makes the game void if the move has a clock, or if it would be a stall, whatever the
//! plan says. Its pair is replayed.

use std::time::Duration;

/// Looks of one wait. All times are totals, since boot or since the thread began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pulse {
    seen: Duration,
    asked: Duration,
    waited: Option<Duration>,
    absent: Duration,
}

impl Pulse {
    /// Time from one look to the next.
    pub(super) const BEAT: Duration = Duration::from_millis(100);

    /// Shortest gap that is a stop; a busy disk or host can cause shorter ones.
    const LEAST: Duration = Duration::from_millis(400);

    /// The same if the system does not count a thread's waits for a CPU.
    const LEAST_BLIND: Duration = Duration::from_millis(2_000);

    /// Starts at `now`; this thread has `waited` for a CPU in total.
    pub(super) const fn new(now: Duration, waited: Option<Duration>) -> Self {
        Self { seen: now, asked: now, waited, absent: Duration::ZERO }
    }

    /// Looks again. `waited` is called at most once a beat.
    pub(super) fn look(&mut self, now: Duration, waited: impl FnOnce() -> Option<Duration>) {
        let gap = now.saturating_sub(self.seen);
        self.seen = now;
        if now.saturating_sub(self.asked) < Self::BEAT {
            return;
        }
        self.asked = now;
        let before = std::mem::replace(&mut self.waited, waited());
        let (kept, least) = match (before, self.waited) {
            (Some(before), Some(after)) => (after.saturating_sub(before), Self::LEAST),
            _ => (Duration::ZERO, Self::LEAST_BLIND),
        };
        let absent = gap.saturating_sub(Self::BEAT + kept);
        if absent >= least {
            self.absent += absent;
        }
    }

    /// Lower bound of the time that the harness did not run; `None` if it ran throughout.
    pub(super) fn absent(&self) -> Option<Duration> {
        (!self.absent.is_zero()).then_some(self.absent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks at the given milliseconds, with the total wait for a CPU at each, and the time of
    /// stops.
    #[track_caller]
    fn check(looks: &[(u64, Option<u64>)], absent: Option<u64>) {
        let ms = Duration::from_millis;
        let mut pulse = Pulse::new(ms(1_000), looks[0].1.map(|_| ms(50)));
        for (at, waited) in looks {
            pulse.look(ms(1_000 + at), || waited.map(|waited| ms(50 + waited)));
        }
        assert_eq!(pulse.absent(), absent.map(ms), "{looks:?}");
    }

    #[test]
    fn a_late_look_that_did_not_wait_for_a_cpu_is_a_stop() {
        check(&[(100, Some(0)), (200, Some(0)), (301, Some(1))], None);
        check(&[(499, Some(0))], None);
        check(&[(500, Some(0))], Some(400));
        check(&[(100, Some(0)), (4_200, Some(0)), (4_300, Some(0))], Some(4_000));
        // A busy machine.
        check(&[(2_000, Some(1_900))], None);
        check(&[(2_000, Some(1_400))], Some(500));
        // An earlier wait does not explain a gap.
        check(&[(1_000, Some(900)), (2_100, Some(900))], Some(1_000));
        // Many events in quick succession.
        check(&[(60, Some(0)), (120, Some(0)), (180, Some(0)), (240, Some(0)), (640, Some(0))], None);
        check(&[(600, Some(0)), (1_300, Some(0))], Some(1_100));
        // A system that does not count the waits.
        check(&[(2_099, None)], None);
        check(&[(2_100, None)], Some(2_000));
    }
}
