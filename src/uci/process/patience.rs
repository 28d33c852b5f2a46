//! Limits that exclude waits for a CPU.
//!
//! If a hundred engines start on two CPUs they mostly wait for a CPU, which is not the engines'
//! fault.

use std::time::Duration;

use super::load::CpuWaits;

/// Extension of a limit by the engine's waits for a CPU.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    /// Waits of the process when the limit began.
    before: CpuWaits,
    /// Wait since then that the limit excludes.
    kept: Duration,
}

impl Patience {
    /// Longest extension, as a multiple of the limit.
    const MOST: u32 = 20;

    /// Minimum extension worth another wait.
    const LEAST: Duration = Duration::from_millis(1);

    /// Starts a limit now; `before` has the waits up to now.
    pub(crate) const fn new(limit: Duration, before: CpuWaits) -> Self {
        Self { limit, before, kept: Duration::ZERO }
    }

    /// Returns the extension of a limit that has passed, if the process waited for a CPU since.
    pub(crate) fn extension(&mut self) -> Option<Duration> {
        let waited = self.before.since();
        self.extension_by(waited)
    }

    /// Extension after a wait of `waited` since the limit began.
    fn extension_by(&mut self, waited: Duration) -> Option<Duration> {
        let most = self.limit.saturating_mul(Self::MOST);
        let kept = waited.min(most);
        let more = kept.saturating_sub(self.kept);
        if more < Self::LEAST {
            return None;
        }
        self.kept = kept;
        Some(more)
    }

    /// Wait for a CPU that the limit excluded.
    pub(super) const fn kept(&self) -> Duration {
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A limit of 100 ms. Each look is a wait since it began and the extension it gives.
    #[track_caller]
    fn check(looks: &[(u64, Option<u64>)], kept: u64) {
        let ms = Duration::from_millis;
        let mut patience = Patience::new(ms(100), CpuWaits::of(std::process::id()));
        for (waited, more) in looks {
            assert_eq!(patience.extension_by(ms(*waited)), more.map(ms), "{looks:?}");
        }
        assert_eq!(patience.kept(), ms(kept), "{looks:?}");
    }

    #[test]
    fn a_limit_leaves_out_waiting_for_a_cpu() {
        check(&[(0, None)], 0);
        check(&[(90, Some(90)), (170, Some(80)), (170, None)], 170);
        // At most twenty times the limit.
        check(&[(90_000, Some(2_000)), (180_000, None)], 2_000);
        // A wait that decreases because a thread ended.
        check(&[(40, Some(40)), (20, None)], 40);
    }
}
