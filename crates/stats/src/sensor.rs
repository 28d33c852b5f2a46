//! Openings as sensors of a difference in strength.
//!
//! A pair has some information about the strength of two engines, and an opening may favour one
//! colour. Both are measured here.
//!
//! # Bias
//! Let a pair's games score `s1` (first colour) and `s2` for one engine, with the mean `m` of all
//! games. An opening that favours White by `b` shifts `s1` up by `b` and `s2` down by `b`. So `E
//! (s1 - m)(s2 - m) = -E b^2` if no opening favours an engine whatever its colour. With `v = (s1 -
//! s2)/2` and `u = (s1 + s2)/2 - m`, `E b^2` is the mean of `v^2` less the variance of `u`. Its
//! estimate is unbiased, because the luck of the games enters both alike. It is also the variance
//! of single games less that of pairs, as fishtest prints it ("RMS bias"). Its root is shown as the
//! Elo of a score of `1/2 + root`. The root of an unbiased estimate is not unbiased itself.
//!
//! # Efficiency
//! The pairs that a test needs go with the inverse square of normalized Elo. So `nElo^2` times the
//! pairs an hour says how fast a book and a clock decide. Its error is by the delta method, on the
//! logarithm. The influence of a pair is the sum of two: that on the mean and deviation of the
//! score, and that on the mean time. Long pairs may be less informative.

use serde::Serialize;

use super::elo::{self, Elo, Estimate, Z_95};
use super::proportion::{wilson, wilson_of_share};
use super::{Counts, PairScore, Pentanomial, Trinomial};

/// A value with its 95 % interval, all three in the unit that its user names.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IntervalEstimate {
    /// Estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub lo: f64,
    /// Upper end of the interval.
    pub hi: f64,
}

impl IntervalEstimate {
    fn around(value: f64, error: f64) -> Self {
        Self { value, lo: value - Z_95 * error, hi: value + Z_95 * error }
    }

    fn of_log(log: f64, error: f64) -> Self {
        let Self { value, lo, hi } = Self::around(log, error);
        Self { value: value.exp(), lo: lo.exp(), hi: hi.exp() }
    }

    fn of_estimate(estimate: Estimate) -> Option<Self> {
        let (lo, hi) = estimate.interval?;
        Some(Self { value: estimate.value.finite()?, lo: lo.finite()?, hi: hi.finite()? })
    }

    /// Standard error, from the half width.
    fn error(&self) -> f64 {
        (self.hi - self.lo) / (2.0 * Z_95)
    }

    /// Difference of two independent estimates.
    #[must_use]
    pub fn minus(&self, other: &Self) -> Self {
        Self::around(self.value - other.value, self.error().hypot(other.error()))
    }

    /// Share `count` of `of` by Wilson's interval.
    #[must_use]
    pub fn share(count: u64, of: u64) -> Option<Self> {
        if of == 0 {
            return None;
        }
        let [lo, hi] = wilson(count, of);
        Some(Self { value: count as f64 / of as f64, lo, hi })
    }
}

/// Numbers of level pairs, in which both engines made one point of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LevelPairs {
    /// Pairs of two draws.
    pub drawn: u64,
    /// Pairs with a win for each engine.
    pub won: u64,
}

impl LevelPairs {
    /// Splits the level pairs by the results of their games; `None` if the games are not those of
    /// the pairs.
    #[must_use]
    pub fn of(pairs: &Pentanomial, games: &Trinomial) -> Option<Self> {
        let [_, half, level, more, _] = pairs.0;
        let draws = games.draws.checked_sub(half.checked_add(more)?)?;
        let total = games.wins.saturating_add(games.draws).saturating_add(games.losses);
        let drawn = draws / 2;
        (draws % 2 == 0 && drawn <= level && total == pairs.games()).then(|| Self { drawn, won: level - drawn })
    }
}

/// Root mean square of the advantage that openings give to a colour, in Elo; `None` if it cannot be
/// told.
///
/// The design effect of the pairs is that of their openings, not of their scores, in which what an
/// opening gives to a colour cancels: at most the number of pairs of an opening.
///
/// The lower end is 0 if the openings may be balanced. The upper end allows for rare openings that
/// win for a colour, of which few pairs or none tell: their share has Wilson's upper end.
#[must_use]
pub fn bias(pairs: &impl Counts, level: LevelPairs) -> Option<IntervalEstimate> {
    let counts: [u64; 5] = std::array::from_fn(|class| pairs.count(class));
    let (n, effect) = (pairs.samples() as f64, pairs.design_effect());
    if n < 2.0 {
        return None;
    }
    let [ll, ld, _, wd, ww] = counts;
    // Count, mean score and half the difference of the games.
    let classes = [
        (ll, 0.0, 0.0),
        (ld, 0.25, 0.25),
        (level.drawn, 0.5, 0.0),
        (level.won, 0.5, 0.5),
        (wd, 0.75, 0.25),
        (ww, 1.0, 0.0),
    ];
    let mean = classes.iter().map(|(count, score, _)| *count as f64 * score).sum::<f64>() / n;
    let shares =
        classes.map(|(count, score, half)| (count as f64 / n, half * half - (score - mean).powi(2) * n / (n - 1.0)));
    let square: f64 = shares.iter().map(|(share, value)| share * value).sum();
    let variance: f64 = shares.iter().map(|(share, value)| share * (value - square).powi(2)).sum();
    // Pairs that all end alike have no spread to tell the error by.
    if classes.iter().filter(|(count, ..)| *count > 0).count() < 2 {
        return None;
    }
    let mut square = IntervalEstimate::around(square, (effect * variance / (n - 1.0)).sqrt());
    let won = level.won as f64 / n;
    // A pair of a win each adds 1/4 to the square.
    square.hi = square.hi.max(square.value + (wilson_of_share(won, n / effect)[1] - won) / 4.0);
    let root = |square: f64| Elo::of_score((0.5 + square.max(0.0).sqrt()).min(1.0)).finite();
    Some(IntervalEstimate {
        value: root(square.value)?,
        lo: root(square.lo)?,
        hi: root(square.hi).unwrap_or(f64::INFINITY),
    })
    .filter(|found| found.hi.is_finite())
}

/// A played pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SensedPair {
    /// Half points (0, 1, 2) of the stronger engine in each game.
    pub half_points: [u8; 2],
    /// Time of both games together.
    pub seconds: f64,
}

/// Figures of the pairs from one book at one clock.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SensorFigures {
    /// Pairs by points.
    pub ptnml: [u64; 5],
    /// Split of the level pairs.
    pub level: LevelPairs,
    /// Normalized Elo.
    pub nelo: Option<IntervalEstimate>,
    /// Share of the pairs of one point each.
    pub level_rate: Option<IntervalEstimate>,
    /// Root mean square of the openings' bias, in Elo.
    pub bias: Option<IntervalEstimate>,
    /// Pairs an hour on all slots together.
    pub pairs_an_hour: Option<f64>,
    /// Squared normalized Elo times pairs an hour. The lower end is 0 if the strength may be.
    pub efficiency: Option<IntervalEstimate>,
    /// Standard error of the efficiency's logarithm.
    #[serde(skip)]
    log_error: f64,
}

impl SensorFigures {
    /// Figures of `pairs` that were played on `slots` slots.
    #[must_use]
    pub fn of(pairs: &[SensedPair], slots: u16) -> Self {
        let (mut ptnml, mut games) = (Pentanomial::default(), Trinomial::default());
        for pair in pairs {
            let [first, second] = pair.half_points;
            ptnml.record(PairScore { first, second });
            [first, second].into_iter().for_each(|points| games.record(points));
        }
        let level = LevelPairs::of(&ptnml, &games).unwrap_or_default();
        let seconds = pairs.iter().map(|pair| pair.seconds).sum::<f64>() / pairs.len() as f64;
        let pairs_an_hour = (seconds > 0.0).then(|| 3600.0 * f64::from(slots) / seconds);
        let nelo = elo::normalized(&ptnml).and_then(IntervalEstimate::of_estimate);
        let error = log_error(pairs, seconds);
        let efficiency = nelo.zip(pairs_an_hour).zip(error).map(|((nelo, pace), error)| {
            let found = IntervalEstimate::of_log((nelo.value.powi(2) * pace).ln(), error);
            if nelo.lo <= 0.0 && nelo.hi >= 0.0 { IntervalEstimate { lo: 0.0, ..found } } else { found }
        });
        Self {
            ptnml: ptnml.0,
            level,
            nelo,
            level_rate: IntervalEstimate::share(ptnml.0[2], ptnml.pairs()),
            bias: bias(&ptnml, level),
            pairs_an_hour,
            efficiency,
            log_error: error.unwrap_or(f64::INFINITY),
        }
    }

    /// Number of pairs.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.ptnml.iter().sum()
    }

    /// Comparison with independent pairs of another book or clock.
    #[must_use]
    pub fn against(&self, other: &Self) -> SensorDifference {
        let minus = |own: Option<IntervalEstimate>, other: Option<IntervalEstimate>| Some(own?.minus(&other?));
        let ratio = self.efficiency.zip(other.efficiency).map(|(own, base)| {
            let found = IntervalEstimate::of_log((own.value / base.value).ln(), self.log_error.hypot(other.log_error));
            // A strength that may be zero leaves the ratio open on its side.
            let lo = if own.lo > 0.0 { found.lo } else { 0.0 };
            let hi = if base.lo > 0.0 { found.hi } else { f64::INFINITY };
            IntervalEstimate { lo, hi, ..found }
        });
        SensorDifference {
            nelo: minus(self.nelo, other.nelo),
            level_rate: minus(self.level_rate, other.level_rate),
            efficiency_ratio: ratio,
        }
    }
}

/// Difference of two books or clocks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SensorDifference {
    /// Difference in normalized Elo.
    pub nelo: Option<IntervalEstimate>,
    /// Difference in the share of level pairs.
    pub level_rate: Option<IntervalEstimate>,
    /// Ratio of the efficiencies; an infinite end is null in JSON.
    pub efficiency_ratio: Option<IntervalEstimate>,
}

/// Standard error of `ln(t^2 / c)`, with the mean score's distance `t` from 1/2 in deviations of a
/// pair and the mean time `c`.
fn log_error(pairs: &[SensedPair], seconds: f64) -> Option<f64> {
    let n = pairs.len() as f64;
    let score = |pair: &SensedPair| f64::from(pair.half_points[0].min(2) + pair.half_points[1].min(2)) / 4.0;
    let mean = pairs.iter().map(score).sum::<f64>() / n;
    let variance = pairs.iter().map(|pair| (score(pair) - mean).powi(2)).sum::<f64>() / n;
    let t = (mean - 0.5) / variance.sqrt();
    if n < 2.0 || !t.is_finite() || t == 0.0 || seconds.is_nan() || seconds <= 0.0 {
        return None;
    }
    let influence = |pair: &SensedPair| {
        let z = (score(pair) - mean) / variance.sqrt();
        2.0 * (z - t / 2.0 * (z * z - 1.0)) / t - (pair.seconds / seconds - 1.0)
    };
    let squares: f64 = pairs.iter().map(|pair| influence(pair).powi(2)).sum();
    Some((squares / (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clusters::ClusteredCounts;
    use crate::random::SplitMix64;

    /// A pair of an opening that shifts White's score by `bias`, between engines `lead` apart, with
    /// a third of the games drawn; its time is that of its result.
    fn pair(random: &mut SplitMix64, lead: f64, bias: f64) -> SensedPair {
        let mut game = |score: f64| {
            let win = score - 1.0 / 6.0;
            match random.unit() {
                luck if luck < win => 2,
                luck if luck < win + 1.0 / 3.0 => 1,
                _ => 0,
            }
        };
        let half_points = [game(0.5 + lead + bias), game(0.5 + lead - bias)];
        let drawn = half_points.iter().filter(|points| **points == 1).count() as f64;
        SensedPair { half_points, seconds: 60.0 * (1.0 + drawn) * (0.8 + 0.4 * random.unit()) }
    }

    /// Pairs of openings whose bias is `bias` for either colour alike.
    fn pairs(random: &mut SplitMix64, count: usize, lead: f64, bias: f64) -> Vec<SensedPair> {
        (0..count)
            .map(|_| {
                let sign = if random.unit() < 0.5 { 1.0 } else { -1.0 };
                pair(random, lead, sign * bias)
            })
            .collect()
    }

    #[test]
    fn level_pairs_are_split_by_their_games() {
        let table = [
            ([1, 2, 5, 3, 4], [9, 11, 10], Some((3, 2))),
            ([0, 0, 4, 0, 0], [4, 0, 4], Some((0, 4))),
            ([0, 0, 4, 0, 0], [0, 8, 0], Some((4, 0))),
            // Games that are not those of the pairs.
            ([0, 0, 4, 0, 0], [1, 5, 2], None),
            ([0, 1, 4, 0, 0], [4, 0, 4], None),
            ([0, 0, 1, 0, 0], [4, 0, 4], None),
            ([0; 5], [0; 3], Some((0, 0))),
        ];
        for (pairs, games, expected) in table {
            let expected = expected.map(|(drawn, won)| LevelPairs { drawn, won });
            let [losses, draws, wins] = games;
            let games = Trinomial { wins, draws, losses };
            assert_eq!(LevelPairs::of(&Pentanomial(pairs), &games), expected, "{pairs:?} {games:?}");
        }
    }

    #[test]
    fn bias_is_the_variance_of_games_less_that_of_pairs() {
        let (pairs, level) = (Pentanomial([20, 180, 400, 300, 100]), LevelPairs { drawn: 250, won: 150 });
        let found = bias(&pairs, level).unwrap();
        let n = 1000.0_f64;
        let mean: f64 = (180.0 * 0.25 + 400.0 * 0.5 + 300.0 * 0.75 + 100.0) / n;
        let losses = 2.0 * 20.0 + 180.0 + 150.0;
        let wins = 2.0 * 100.0 + 300.0 + 150.0;
        let draws = 2.0 * n - losses - wins;
        let of_games = (losses * mean * mean + draws * (0.5 - mean).powi(2) + wins * (1.0 - mean).powi(2)) / (2.0 * n);
        let squares: f64 = [20.0, 180.0, 400.0, 300.0, 100.0]
            .iter()
            .zip(0..)
            .map(|(count, at)| count * (f64::from(at) / 4.0 - mean).powi(2))
            .sum();
        // (s1 - m)^2 + (s2 - m)^2 = 2 (u^2 + v^2).
        let square = of_games - squares / n - squares / (n - 1.0);
        let expected = Elo::of_score(0.5 + square.sqrt()).finite().unwrap();
        assert!((found.value - expected).abs() < 1e-9, "{found:?}, not {expected}");
    }

    /// The 95 % interval covers the bias of a book in which few openings win for a colour.
    #[test]
    fn rare_openings_are_allowed_for() {
        let mut random = SplitMix64::new(7);
        for (pairs, share) in [(50, 0.01), (100, 0.005), (100, 0.01), (200, 0.005)] {
            let truth = Elo::of_score(0.5 + (share * 0.25_f64).sqrt()).finite().unwrap();
            let covers = (0..1000).filter(|_| {
                let (mut counts, mut level) = ([0; 5], LevelPairs::default());
                for _ in 0..pairs {
                    match random.unit() {
                        luck if luck < share => level.won += 1,
                        luck if luck < share + 0.09 => counts[1] += 1,
                        luck if luck < share + 0.18 => counts[3] += 1,
                        _ => level.drawn += 1,
                    }
                }
                counts[2] = level.won + level.drawn;
                bias(&Pentanomial(counts), level).is_none_or(|found| found.lo <= truth && truth <= found.hi)
            });
            let covered = covers.count();
            assert!(covered >= 930, "{covered} of 1000 intervals of {pairs} pairs with {share}");
        }
        let found = bias(&Pentanomial([0, 9, 81, 10, 0]), LevelPairs { drawn: 81, won: 0 }).unwrap();
        assert!(found.value < 1.0 && (55.0..75.0).contains(&found.hi), "{found:?}");
    }

    /// Ten openings that are played a hundred times each tell no more than once.
    #[test]
    fn openings_that_come_again_are_no_news() {
        let (once, often) = (Pentanomial([1, 2, 4, 2, 1]), Pentanomial([100, 200, 400, 200, 100]));
        let width = |pairs: ClusteredCounts<Pentanomial>, level: LevelPairs| {
            let found = bias(&pairs, level).unwrap();
            found.hi - found.lo
        };
        let (few, many) = (LevelPairs { drawn: 1, won: 3 }, LevelPairs { drawn: 100, won: 300 });
        let alone = width(ClusteredCounts::new(once, 1.0), few);
        let repeated = width(ClusteredCounts::new(often, 100.0), many);
        assert!((0.8..1.05).contains(&(repeated / alone)), "{repeated} {alone}");
        assert!(width(ClusteredCounts::new(often, 1.0), many) < repeated / 4.0);
    }

    #[test]
    fn no_pairs_and_equal_pairs_say_nothing() {
        let none = SensorFigures::of(&[], 1);
        assert_eq!(
            (none.nelo, none.level_rate, none.bias, none.pairs_an_hour, none.efficiency),
            (None, None, None, None, None)
        );
        let draws = SensorFigures::of(&[SensedPair { half_points: [1, 1], seconds: 36.0 }; 9], 2);
        assert_eq!((draws.nelo, draws.efficiency, draws.pairs_an_hour), (None, None, Some(200.0)));
        assert_eq!(draws.bias, None);
        assert!(draws.level_rate.unwrap().lo > 0.6);
        assert_eq!(draws.against(&none).efficiency_ratio, None);
        let timeless = SensorFigures::of(&[SensedPair { half_points: [2, 1], seconds: 0.0 }; 3], 2);
        assert_eq!(timeless.efficiency, None);
    }

    /// True values by a very long run, then shares of intervals that hold them.
    #[test]
    fn intervals_keep_their_level_and_the_square_of_the_bias_is_unbiased() {
        let mut random = SplitMix64::new(3);
        let (lead, shift) = (0.08, 0.15);
        let truth = SensorFigures::of(&pairs(&mut random, 400_000, lead, shift), 2);
        let truth_bias = Elo::of_score(0.5 + shift).finite().unwrap();
        assert!((truth.bias.unwrap().value / truth_bias - 1.0).abs() < 0.02, "{truth:?}");
        let base = SensorFigures::of(&pairs(&mut random, 400_000, lead, 0.0), 2);
        let ratio = truth.efficiency.unwrap().value / base.efficiency.unwrap().value;
        let holds = |found: Option<IntervalEstimate>, truth: f64| {
            u32::from(found.is_some_and(|found| found.lo <= truth && truth <= found.hi))
        };
        let mut held = [0; 5];
        let mut square = 0.0;
        for _ in 0..1_000 {
            let found = SensorFigures::of(&pairs(&mut random, 400, lead, shift), 2);
            let other = SensorFigures::of(&pairs(&mut random, 400, lead, 0.0), 2);
            let difference = found.against(&other);
            held[0] += holds(found.nelo, truth.nelo.unwrap().value);
            held[1] += holds(found.efficiency, truth.efficiency.unwrap().value);
            held[2] += holds(found.bias, truth_bias);
            held[3] += holds(difference.efficiency_ratio, ratio);
            held[4] += holds(found.level_rate, truth.level_rate.unwrap().value);
            square += raw_square(&other);
        }
        assert!(held.iter().all(|held| (925..=975).contains(held)), "{held:?} of 1,000 intervals hold the truth");
        // Balanced openings: the estimate before its root is as often below zero as above.
        assert!((square / 1_000.0).abs() < 0.0015, "{square}");
    }

    /// The estimate of the squared bias, which may be negative.
    fn raw_square(figures: &SensorFigures) -> f64 {
        let [ll, ld, _, wd, ww] = figures.ptnml.map(|count| count as f64);
        let (drawn, won) = (figures.level.drawn as f64, figures.level.won as f64);
        let n = ll + ld + drawn + won + wd + ww;
        let mean = (0.25 * ld + 0.5 * (drawn + won) + 0.75 * wd + ww) / n;
        let squares = ll * mean * mean
            + ld * (0.25 - mean).powi(2)
            + (drawn + won) * (0.5 - mean).powi(2)
            + wd * (0.75 - mean).powi(2)
            + ww * (1.0 - mean).powi(2);
        (0.0625 * (ld + wd) + 0.25 * won) / n - squares / (n - 1.0)
    }
}
