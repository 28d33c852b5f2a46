//! Scaled times of a machine.

use std::fmt;
use std::time::Duration;

/// Factor by which a worker's times differ from those of the plan, in millionths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeScale(u32);

impl TimeScale {
    /// Largest factor, and the smallest one as its inverse.
    const MOST: f64 = 100.0;

    /// Factor for a machine of speed `own` in a run whose times are for the speed `reference`.
    /// `None` if it is out of range.
    #[must_use]
    pub fn of_speeds(reference: f64, own: f64) -> Option<Self> {
        let factor = reference / own;
        let is_sane = factor.is_finite() && (1.0 / Self::MOST..=Self::MOST).contains(&factor);
        is_sane.then(|| Self((factor * 1e6).round() as u32))
    }

    /// Factor from its millionths; `None` if it is out of range.
    #[must_use]
    pub fn from_millionths(millionths: u32) -> Option<Self> {
        Self::of_speeds(f64::from(millionths), 1e6)
    }

    /// The factor in millionths.
    #[must_use]
    pub const fn millionths(self) -> u32 {
        self.0
    }

    /// Scaled time, rounded to a microsecond.
    #[must_use]
    pub fn of(self, time: Duration) -> Duration {
        let scaled = (time.as_micros() * u128::from(self.0) + 500_000) / 1_000_000;
        Duration::from_micros(u64::try_from(scaled).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for TimeScale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}
