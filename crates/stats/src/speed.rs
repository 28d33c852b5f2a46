//! Speed of one program against another, from paired times of the same work.

use crate::signed_rank::RankInterval;
use crate::student;

/// Confidence level of the intervals.
const LEVEL: f64 = 0.95;

/// Fewest rounds that [`Speedup::of_rounds`] takes: fewer signs cannot have a probability of 5 %.
pub const FEWEST_ROUNDS: usize = 6;

/// Difference in speed of the first program against the second, in percent: +2 if it does 2 % more
/// work in the same time.
///
/// The estimate is a location of the logarithms of the ratios of paired times. Times of one round
/// share the state of the machine, which therefore cancels. Logarithms make the result the same,
/// with the opposite sign, if the programs change places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speedup {
    /// Number of pairs.
    pub rounds: usize,
    /// Estimate in percent.
    pub percent: f64,
    /// Low end of the 95 % interval, in percent.
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
    /// second program in each round, by signed ranks. `None` from fewer than [`FEWEST_ROUNDS`], or
    /// if a cost is not above zero.
    ///
    /// The interval holds its level if a fair coin decided in each round which program went first.
    /// Then the deviation of a round's logarithm from the truth is as likely to be positive as
    /// negative, whatever the machine does meanwhile. It may drift, be busy, or disturb some runs
    /// much more than others.
    #[must_use]
    pub fn of_rounds(rounds: &[(f64, f64)]) -> Option<Self> {
        let logs = logarithms(rounds)?;
        let RankInterval { value, lo, hi } = RankInterval::of(&logs, LEVEL)?;
        Some(Self::from_logs(&logs, [value, lo, hi]))
    }

    /// Computes the speed-up from the costs of the first and the second program at each of several
    /// positions, by their mean and Student's distribution. `None` from fewer than two, or if a
    /// cost is not above zero.
    #[must_use]
    pub fn of_positions(costs: &[(f64, f64)]) -> Option<Self> {
        let logs = logarithms(costs)?;
        let count = logs.len() as f64;
        let (mean, variance) = moments(&logs);
        let half = student::quantile(f64::midpoint(1.0, LEVEL), count - 1.0) * (variance / count).sqrt();
        Some(Self::from_logs(&logs, [mean, mean - half, mean + half]))
    }

    fn from_logs(logs: &[f64], [value, lo, hi]: [f64; 3]) -> Self {
        Self {
            rounds: logs.len(),
            percent: percent(value),
            lo: percent(lo),
            hi: percent(hi),
            deviation: percent(moments(logs).1.sqrt()),
        }
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

    /// Rounds after which the interval is about `percent` wide to either side, given its width now.
    /// Never below [`FEWEST_ROUNDS`].
    #[must_use]
    pub fn rounds_for(&self, percent: f64) -> f64 {
        (self.rounds as f64 * (self.half_width() / percent).powi(2)).ceil().max(FEWEST_ROUNDS as f64)
    }
}

/// Logarithms of the ratios of second to first cost. `None` from fewer than two pairs, or if a cost
/// is not above zero.
fn logarithms(pairs: &[(f64, f64)]) -> Option<Vec<f64>> {
    let logs: Option<Vec<f64>> =
        pairs.iter().map(|(first, second)| (*first > 0.0 && *second > 0.0).then(|| (second / first).ln())).collect();
    logs.filter(|logs| logs.len() > 1 && logs.iter().all(|log| log.is_finite()))
}

/// Mean and variance of at least two values.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0))
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
        let found = Speedup::of_positions(&[(1.0, 1.0), (1.0, 1.02), (2.0, 2.08)]).unwrap();
        assert_eq!(found.rounds, 3);
        for (value, expected) in
            [(found.percent, 1.986_926), (found.deviation, 1.980_422), (found.lo, -2.862_352), (found.hi, 7.078_288)]
        {
            assert!((value - expected).abs() < 1e-5, "{value}, not {expected}");
        }
        assert_eq!(found.answer(), SpeedVerdict::Open);
    }

    #[test]
    fn six_rounds_have_the_interval_of_their_ends() {
        // The fewest rounds: the ends are the smallest and the largest, whose size matters to
        // nothing else.
        let found = |last| {
            let second = [1.01, 1.02, 1.03, 1.04, 1.05, last];
            Speedup::of_rounds(&second.map(|second| (1.0, second))).unwrap()
        };
        let (near, far) = (found(1.06), found(9.0));
        assert!((near.lo - 1.0).abs() < 1e-9 && (near.hi - 6.0).abs() < 1e-9, "{near:?}");
        assert!((far.lo - 1.0).abs() < 1e-9 && (far.hi - 800.0).abs() < 1e-9, "{far:?}");
        assert!((near.percent - 3.5).abs() < 0.02 && far.percent < 4.1, "{near:?}, {far:?}");
        assert_eq!(Speedup::of_rounds(&[(1.0, 1.1); 5]), None);
    }

    #[test]
    fn changed_places_change_the_sign() {
        let rounds =
            [(1.0, 1.1), (1.01, 1.12), (0.99, 1.1), (1.0, 1.09), (1.0, 1.12), (0.97, 1.09), (1.02, 1.13), (1.0, 1.13)];
        for of in [Speedup::of_rounds, Speedup::of_positions] {
            let there = of(&rounds).unwrap();
            let back = of(&rounds.map(|(first, second)| (second, first))).unwrap();
            assert_eq!((there.answer(), back.answer()), (SpeedVerdict::Faster, SpeedVerdict::Slower));
            for (one, other) in [(there.percent, back.percent), (there.lo, back.hi), (there.hi, back.lo)] {
                assert!(((1.0 + one / 100.0) * (1.0 + other / 100.0) - 1.0).abs() < 1e-12, "{one} and {other}");
            }
        }
    }

    #[test]
    fn costs_that_say_nothing_have_no_figures() {
        for of in [Speedup::of_rounds, Speedup::of_positions] {
            let many = |last| [[(1.0, 1.0); 7].as_slice(), &[last]].concat();
            for rounds in [Vec::new(), vec![(1.0, 1.0)], many((0.0, 1.0)), many((1.0, f64::NAN))] {
                assert_eq!(of(&rounds), None, "{rounds:?}");
            }
            // Instruction counts may be the same in every round.
            let same = of(&[(5.0, 5.0); 8]).unwrap();
            assert_eq!((same.percent, same.lo, same.hi, same.answer()), (0.0, 0.0, 0.0, SpeedVerdict::Open));
        }
    }

    /// Costs of two programs in one round, of which `first` tells whether the first one begins.
    type SimulatedRound<'a> = &'a mut dyn FnMut(bool, [f64; 2]) -> (f64, f64);

    /// Shares of 2,000 simulated comparisons of 24 rounds that hold the truth, of which the first
    /// program is 3 % faster, and that show it. Coins decide the order.
    fn held_and_shown(machine: SimulatedRound<'_>) -> (f64, f64) {
        let mut coins = SplitMix64::new(3);
        let (mut held, mut shown) = (0, 0);
        for _ in 0..2_000 {
            let rounds: Vec<_> = (0..24).map(|_| machine(coins.below(2) == 0, [1.0, 1.03])).collect();
            let found = Speedup::of_rounds(&rounds).unwrap();
            held += u32::from(found.lo <= 3.0 + 1e-9 && 3.0 - 1e-9 <= found.hi);
            shown += u32::from(found.answer() == SpeedVerdict::Faster);
        }
        (f64::from(held) / 2_000.0, f64::from(shown) / 2_000.0)
    }

    /// Runs a round of two works, each of which takes a cost that `step` returns.
    fn in_order(is_first: bool, works: [f64; 2], mut step: impl FnMut(f64) -> f64) -> (f64, f64) {
        if is_first {
            let first = step(works[0]);
            (first, step(works[1]))
        } else {
            let second = step(works[1]);
            (step(works[0]), second)
        }
    }

    #[test]
    fn intervals_keep_their_level_on_every_machine() {
        let mut random = SplitMix64::new(7);
        let mut uniform = move || random.unit();
        // A run in ten is disturbed, by up to four times its cost: heavy tails.
        let (held, shown) = held_and_shown(&mut |is_first, works| {
            in_order(is_first, works, |work| {
                let disturbed = if uniform() < 0.1 { 1.0 + 3.0 * uniform() } else { 1.0 };
                work * (0.02 * (uniform() - 0.5)).exp() * disturbed
            })
        });
        assert!((0.935..=0.975).contains(&held) && shown > 0.8, "disturbed: {held}, {shown}");
        // A drift, in which the program that runs later pays more.
        let mut state = 0.0_f64;
        let (held, shown) = held_and_shown(&mut |is_first, works| {
            in_order(is_first, works, |work| {
                state += 0.004 + 0.02 * (uniform() - 0.5);
                work * state.exp()
            })
        });
        assert!((0.935..=0.975).contains(&held) && shown > 0.9, "drifting: {held}, {shown}");
        // Noise that comes and goes for long, so that rounds are alike in size, not in sign.
        let mut noise = 0.01_f64;
        let (held, _) = held_and_shown(&mut |is_first, works| {
            noise = (noise * (0.8 * (uniform() - 0.5)).exp()).clamp(0.001, 0.3);
            in_order(is_first, works, |work| work * (noise * (uniform() - 0.5)).exp())
        });
        assert!((0.935..=0.975).contains(&held), "by bursts: {held}");
    }

    #[test]
    fn the_forecast_of_rounds_gives_the_width() {
        let rounds: Vec<_> = (0..50).map(|number| (1.0, 1.0 + 0.01 * f64::from(number % 5))).collect();
        let found = Speedup::of_rounds(&rounds).unwrap();
        assert!((found.rounds_for(found.half_width()) - 50.0).abs() < 2.0, "{found:?}");
        assert!((found.rounds_for(found.half_width() / 2.0) - 200.0).abs() < 2.0, "{found:?}");
        assert!((found.rounds_for(1e9) - 6.0).abs() < 1e-9);
    }
}
