//! The limit of a start: time in which the engine could have run. A hundred engines that start on two CPUs wait for them most of the
//! time, and that says nothing of the engines.

use std::time::Duration;

/// How far a limit has been put off because the engine waited for a CPU.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    limit: Duration,
    /// The process's total wait when the limit began.
    before: Duration,
    /// Wait since then that the limit leaves out.
    kept: Duration,
}

impl Patience {
    /// Multiple of the limit by which it is put off at most: no wait is endless.
    const MOST: u32 = 20;

    /// Less than this is no reason to wait on.
    const LEAST: Duration = Duration::from_millis(1);

    /// A limit that begins now, when the process has waited for `before` in all.
    pub(super) const fn new(limit: Duration, before: Duration) -> Self {
        Self { limit, before, kept: Duration::ZERO }
    }

    /// Time to wait on after a limit that was missed, if the process waited for a CPU meanwhile; `waited` is its total now.
    pub(super) fn extension(&mut self, waited: impl FnOnce() -> Duration) -> Option<Duration> {
        let most = self.limit.saturating_mul(Self::MOST);
        let kept = waited().saturating_sub(self.before).min(most);
        let more = kept.saturating_sub(self.kept);
        if more < Self::LEAST {
            return None;
        }
        self.kept = kept;
        Some(more)
    }

    /// Wait for a CPU that the limit left out.
    pub(super) const fn kept(&self) -> Duration {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit of 100 ms that begins after a wait of 50 ms; total waits when it is missed, and by how much it is put off.
    #[track_caller]
    fn check(looks: &[(u64, Option<u64>)], kept: u64) {
        let ms = Duration::from_millis;
        let mut patience = Patience::new(ms(100), ms(50));
        for (waited, more) in looks {
            assert_eq!(patience.extension(|| ms(50 + waited)), more.map(ms), "{looks:?}");
        }
        assert_eq!(patience.kept(), ms(kept), "{looks:?}");
    }

    #[test]
    fn a_limit_leaves_out_waiting_for_a_cpu() {
        check(&[(0, None)], 0);
        check(&[(90, Some(90)), (170, Some(80)), (170, None)], 170);
        // Never for longer than twenty times the limit.
        check(&[(90_000, Some(2_000)), (180_000, None)], 2_000);
        // A total that ran backwards, because a thread ended.
        check(&[(40, Some(40)), (20, None)], 40);
    }
}
