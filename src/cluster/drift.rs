//! Speed of workers in games against the speed that they measured before. No clock and no I/O.
//!
//! Positions of games are searched at another speed than those of the measurement, by the same
//! factor on all machines. So each worker's ratio of both speeds is compared with that of the
//! others. Results of games do not matter.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::stats::median;
use crate::tournament::workers::RecentSpeed;

/// Maximum deviation of a ratio from that of the others, as a share.
const MOST_OFF: f64 = 0.1;

/// Workers that a ratio is compared among. Of two that differ, none is known to be wrong.
const LEAST_WORKERS: usize = 3;

/// Judgment about a worker's speed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SpeedFinding {
    /// The speed has changed since it was measured: the worker measures again.
    MeasureAnew(String),
    /// The speed has changed a second time.
    Exclude(String),
}

#[derive(Debug, Default)]
struct Games {
    measured: f64,
    recent: RecentSpeed,
    findings: u8,
}

impl Games {
    fn ratio(&self) -> Option<f64> {
        let nps = self.recent.nps().filter(|_| self.recent.is_full())?;
        (self.measured > 0.0).then(|| nps / self.measured)
    }
}

/// Speeds of the workers of a run.
#[derive(Debug, Default)]
pub(super) struct Drift {
    by_name: BTreeMap<String, Games>,
}

impl Drift {
    /// Records the nodes and the time of a worker's game, and the speed that it had measured.
    pub(super) fn record(&mut self, name: &str, measured: f64, work: (u64, Duration)) -> Option<SpeedFinding> {
        let games = self.by_name.entry(name.to_owned()).or_default();
        if games.measured.to_bits() != measured.to_bits() {
            // Games before a new measurement say nothing about it.
            (games.measured, games.recent) = (measured, RecentSpeed::default());
        }
        games.recent.record(work);
        let ratio = games.ratio()?;
        let ratios: Vec<_> = self.by_name.values().filter_map(Games::ratio).collect();
        if ratios.len() < LEAST_WORKERS {
            return None;
        }
        let usual = median(ratios)?;
        if (ratio - usual).abs() <= MOST_OFF * usual {
            return None;
        }
        let games = self.by_name.get_mut(name)?;
        let nps = games.recent.nps()?;
        games.recent = RecentSpeed::default();
        games.findings = games.findings.saturating_add(1);
        let text = format!(
            "searches {:.3} million nodes a second in games, but its measured speed predicts {:.3} million",
            nps / 1e6,
            usual * measured / 1e6
        );
        Some(if games.findings > 1 { SpeedFinding::Exclude(text) } else { SpeedFinding::MeasureAnew(text) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(drift: &mut Drift, name: &str, measured: f64, nps: u64) -> Vec<SpeedFinding> {
        (0..20).filter_map(|_| drift.record(name, measured, (nps, Duration::from_secs(1)))).collect()
    }

    #[test]
    fn a_speed_that_changed_is_found_among_three() {
        let mut drift = Drift::default();
        // In games all are half as fast again.
        assert_eq!(play(&mut drift, "a", 1_000.0, 1_500), []);
        assert_eq!(play(&mut drift, "b", 2_000.0, 1_500), [], "of two none is known to be wrong");
        assert_eq!(play(&mut drift, "c", 3_000.0, 4_600), []);
        let text = "searches 0.002 million nodes a second in games, but its measured speed predicts 0.003 million";
        assert_eq!(play(&mut drift, "b", 2_000.0, 1_500), [SpeedFinding::MeasureAnew(text.to_owned())]);
        assert_eq!(play(&mut drift, "b", 1_000.0, 1_500), [], "it measured its speed again");
        assert!(matches!(play(&mut drift, "b", 1_000.0, 1_900)[..], [SpeedFinding::Exclude(_)]));
    }

    #[test]
    fn games_without_figures_say_nothing() {
        let mut drift = Drift::default();
        for name in ["a", "b", "c"] {
            assert_eq!(play(&mut drift, name, 1_000.0, 0), []);
            assert_eq!(play(&mut drift, name, 0.0, 1_000), []);
        }
    }
}
