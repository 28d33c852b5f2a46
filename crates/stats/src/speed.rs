//! Speed of one program against another, from paired times of the same work.

use crate::student;

/// Confidence level of the intervals.
const LEVEL: f64 = 0.95;

/// Difference in speed of the first program against the second, in percent: +2 if it does 2 % more
/// work in the same time.
///
/// The estimate is the mean of the logarithms of the ratios of paired times. Times of one round
/// share the state of the machine, which therefore cancels. Logarithms make the result the same,
/// with the opposite sign, if the programs change places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speedup {
    /// Number of pairs.
    pub rounds: usize,
    /// Estimate in percent.
    pub percent: f64,
    /// Low end of the 95 % interval (Student's distribution), in percent.
    pub lo: f64,
    /// High end of the interval, in percent.
    pub hi: f64,
    /// Standard deviation of one pair's difference, in percent.
    pub deviation: f64,
}

/// Answer to the question whether one program is faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeedVerdict {
    /// The interval lies above zero.
    Faster,
    /// The interval lies below zero.
    Slower,
    /// The interval contains zero.
    Open,
}

impl Speedup {
    /// Computes the speed-up from the costs (seconds, cycles or instructions) of the first and the
    /// second program in each round. `None` from fewer than two rounds, or if a cost is not above
    /// zero.
    #[must_use]
    pub fn of(rounds: &[(f64, f64)]) -> Option<Self> {
        let logs: Option<Vec<f64>> = rounds
            .iter()
            .map(|(first, second)| (*first > 0.0 && *second > 0.0).then(|| (second / first).ln()))
            .collect();
        let logs = logs.filter(|logs| logs.len() > 1 && logs.iter().all(|log| log.is_finite()))?;
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let half = student::quantile(f64::midpoint(1.0, LEVEL), count - 1.0) * (variance / count).sqrt();
        Some(Self {
            rounds: logs.len(),
            percent: percent(mean),
            lo: percent(mean - half),
            hi: percent(mean + half),
            deviation: percent(variance.sqrt()),
        })
    }

    /// Half the width of the interval, in percent.
    #[must_use]
    pub fn half_width(&self) -> f64 {
        (self.hi - self.lo) / 2.0
    }

    /// Answer of the interval.
    #[must_use]
    pub fn answer(&self) -> SpeedVerdict {
        if self.lo > 0.0 {
            SpeedVerdict::Faster
        } else if self.hi < 0.0 {
            SpeedVerdict::Slower
        } else {
            SpeedVerdict::Open
        }
    }

    /// Rounds after which the interval is about `percent` wide to either side, given this
    /// deviation. Never below 2.
    #[must_use]
    pub fn rounds_for(&self, percent: f64) -> f64 {
        let normal = student::quantile(f64::midpoint(1.0, LEVEL), f64::INFINITY);
        (normal * self.deviation / percent).powi(2).ceil().max(2.0)
    }
}

fn percent(log: f64) -> f64 {
    log.exp_m1() * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn figures_are_those_of_a_table() {
        // Logarithms 0, ln 1.02 and ln 1.04: mean 0.0196744, deviation 0.0196107, and the quantile
        // is 4.3027.
        let found = Speedup::of(&[(1.0, 1.0), (1.0, 1.02), (2.0, 2.08)]).unwrap();
        assert_eq!(found.rounds, 3);
        for (value, expected) in
            [(found.percent, 1.986_926), (found.deviation, 1.980_422), (found.lo, -2.862_352), (found.hi, 7.078_288)]
        {
            assert!((value - expected).abs() < 1e-5, "{value}, not {expected}");
        }
        assert_eq!(found.answer(), SpeedVerdict::Open);
    }

    #[test]
    fn changed_places_change_the_sign() {
        let rounds = [(1.0, 1.1), (1.01, 1.12), (0.99, 1.1), (1.0, 1.09)];
        let there = Speedup::of(&rounds).unwrap();
        let back = Speedup::of(&rounds.map(|(first, second)| (second, first))).unwrap();
        assert_eq!((there.answer(), back.answer()), (SpeedVerdict::Faster, SpeedVerdict::Slower));
        for (one, other) in [(there.percent, back.percent), (there.lo, back.hi), (there.hi, back.lo)] {
            assert!(((1.0 + one / 100.0) * (1.0 + other / 100.0) - 1.0).abs() < 1e-12, "{one} and {other}");
        }
    }

    #[test]
    fn costs_that_say_nothing_have_no_figures() {
        for rounds in [&[][..], &[(1.0, 1.0)], &[(1.0, 1.0), (0.0, 1.0)], &[(1.0, 1.0), (1.0, f64::NAN)]] {
            assert_eq!(Speedup::of(rounds), None, "{rounds:?}");
        }
        // Instruction counts may be the same in every round.
        let same = Speedup::of(&[(5.0, 5.0), (5.0, 5.0)]).unwrap();
        assert_eq!((same.percent, same.lo, same.hi, same.answer()), (0.0, 0.0, 0.0, SpeedVerdict::Open));
    }

    /// Shares of simulated comparisons whose interval contains the truth, on a machine whose speed
    /// drifts and that is sometimes disturbed for a whole run of the program.
    #[test]
    fn intervals_keep_their_level_on_a_restless_machine() {
        let mut random = SplitMix64::new(7);
        let mut uniform = move || random.unit();
        let (mut held, mut shown) = (0, 0);
        for _ in 0..2_000 {
            let mut drift = 1.0;
            let rounds: Vec<(f64, f64)> = (0..20)
                .map(|_| {
                    drift *= 0.9 + 0.2 * uniform();
                    let mut cost = |work: f64| {
                        let noise = (0..6).map(|_| uniform() - 0.5).sum::<f64>() * 0.01;
                        let disturbed = if uniform() < 0.1 { 1.0 + 0.1 * uniform() } else { 1.0 };
                        drift * work * noise.exp() * disturbed
                    };
                    (cost(1.0), cost(1.03))
                })
                .collect();
            let found = Speedup::of(&rounds).unwrap();
            held += u32::from(found.lo <= 3.0 && 3.0 <= found.hi);
            shown += u32::from(found.answer() == SpeedVerdict::Faster);
        }
        assert!((1_860..=1_980).contains(&held), "{held} of 2,000 intervals hold the truth");
        assert!(shown > 1_500, "a gain of 3 % was shown {shown} times of 2,000");
    }

    #[test]
    fn the_forecast_of_rounds_gives_the_width() {
        let rounds: Vec<_> = (0..50).map(|number| (1.0, 1.0 + 0.01 * f64::from(number % 5))).collect();
        let found = Speedup::of(&rounds).unwrap();
        let wanted = found.rounds_for(found.half_width());
        assert!((wanted - 50.0).abs() < 6.0, "{wanted}");
    }
}
