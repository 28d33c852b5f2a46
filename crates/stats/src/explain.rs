//! Sources of a difference in strength: comparisons between groups of games.
//!
//! Many groups are compared at once, with game pairs as the unit of chance.
//! The two games of a pair share an opening and are not independent samples, whichever groups they
//! belong to; pairs are. So every variance here is one of sums over pairs ("clusters").
//!
//! Pairs of one opening, or that repeat games, are no independent samples either. Every variance
//! is therefore multiplied by the design effect of the pairs, the variance of their mean score over
//! that of independent ones; it is 1 if nothing comes again. Of other figures, such as the points
//! of decisive games alone, the effect may be larger.
//!
//! Sources: K.-Y. Liang and S. Zeger, "Longitudinal data analysis using generalized linear models",
//! Biometrika 73 (1986), for the variance from cluster sums; S. Holm, "A simple sequentially
//! rejective multiple test procedure", Scand. J. Statist. 6 (1979); L. Kish, "Survey Sampling"
//! (1965), 8.2, for the effective sample size.

use statrs::distribution::{ContinuousCDF, Normal};

use super::elo::Z_95;

/// Pairs that a group and its rest must each have for a test: a sum of fewer values is not near
/// normal.
pub const MIN_PAIRS: u64 = 8;

/// Sums and sums of products of vectors: in constant memory, everything that the variance of a
/// linear function of them needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VectorMoments<const N: usize> {
    count: u64,
    sums: [f64; N],
    products: [[f64; N]; N],
}

impl<const N: usize> Default for VectorMoments<N> {
    fn default() -> Self {
        Self { count: 0, sums: [0.0; N], products: [[0.0; N]; N] }
    }
}

impl<const N: usize> VectorMoments<N> {
    /// Records the vector of one pair.
    pub fn record(&mut self, vector: [f64; N]) {
        self.count += 1;
        for (row, value) in vector.iter().enumerate() {
            self.sums[row] += value;
            for (column, other) in vector.iter().enumerate() {
                self.products[row][column] += value * other;
            }
        }
    }

    /// Sum over the vectors of the square of their product with `weights`.
    fn quadratic(&self, weights: [f64; N]) -> f64 {
        let row = |row: usize| (0..N).map(|column| weights[column] * self.products[row][column]).sum::<f64>();
        // A sum of squares; rounding may make it negative.
        (0..N).map(|place| weights[place] * row(place)).sum::<f64>().max(0.0)
    }
}

/// Feature of a game: its trials (0 or 1), and the points made in them, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeatureTrials {
    /// 1 if the game counts, 0 if it carries no information.
    pub trials: f64,
    /// Points made, 0 to `trials`.
    pub points: f64,
}

/// All pairs, of any group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairSums {
    /// Moments of (points, trials).
    pairs: VectorMoments<2>,
    /// Sum of squared points of games.
    squares: f64,
}

impl PairSums {
    /// Records the games of a pair.
    pub fn record(&mut self, games: &[FeatureTrials]) {
        let [points, trials] = sums(games);
        if trials <= 0.0 {
            return;
        }
        self.pairs.record([points, trials]);
        self.squares += games.iter().map(|game| game.points * game.points).sum::<f64>();
    }

    /// Points per trial; `None` without trials.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let [points, trials] = self.pairs.sums;
        (trials > 0.0).then(|| points / trials)
    }

    /// Half the width of the mean's 95 % interval, with pairs as the clusters, of this design
    /// effect; `None` for fewer than two pairs.
    #[must_use]
    pub fn error95(&self, effect: f64) -> Option<f64> {
        let mean = self.mean()?;
        let [_, trials] = self.pairs.sums;
        let variance = effect * correction(self.pairs.count)? * self.pairs.quadratic([1.0 / trials, -mean / trials]);
        Some(Z_95 * variance.sqrt())
    }

    /// Variance of a game's points around the mean, and covariance of two games of one pair.
    fn pooled(&self, mean: f64) -> (f64, f64) {
        let [points, trials] = self.pairs.sums;
        let [[squared, crossed], [_, counted]] = self.pairs.products;
        let variance = (self.squares - 2.0 * mean * points + mean * mean * trials) / trials;
        let both = (counted - trials) / 2.0;
        let covariance = if both > 0.0 {
            ((squared - self.squares) / 2.0 - mean * (crossed - points) + mean * mean * both) / both
        } else {
            0.0
        };
        (variance.max(0.0), covariance)
    }
}

fn sums(games: &[FeatureTrials]) -> [f64; 2] {
    games.iter().fold([0.0; 2], |[points, trials], game| [points + game.points, trials + game.trials])
}

/// The pairs with a game in one group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PairGroup {
    /// Moments of (points in the group, trials in the group, points of the pair, trials of the
    /// pair).
    pairs: VectorMoments<4>,
}

impl PairGroup {
    /// Records a pair: the games that belong to the group, and all games. A pair without a trial in
    /// the group changes nothing and may be left out.
    pub fn record(&mut self, inside: &[FeatureTrials], all: &[FeatureTrials]) {
        let ([points, trials], [all_points, all_trials]) = (sums(inside), sums(all));
        if trials > 0.0 {
            self.pairs.record([points, trials, all_points, all_trials]);
        }
    }
}

/// A group compared with all other games.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contrast {
    /// Pairs with a trial in the group.
    pub pairs: u64,
    /// Points per trial in the group, 0 to 1.
    pub inside: f64,
    /// Points per trial elsewhere, 0 to 1.
    pub outside: f64,
    /// Half the width of the 95 % interval of `inside - outside`, for this group taken alone.
    pub error95: Option<f64>,
    /// Two-sided probability of such a difference if the group makes none, for this group taken
    /// alone; `None` if the group or its rest is worth fewer than [`MIN_PAIRS`] independent pairs.
    pub p: Option<f64>,
}

/// Compares a group with the rest of `whole`, whose pairs have the design effect `effect`; `None`
/// if either has no trials.
///
/// The variance is the larger of two. The one from cluster sums is valid for any spreads of the
/// groups. But it is worthless if a small group saw only one result, which is common if nine pairs
/// of ten end level. The other uses variance and covariance of all games, as if the group made no
/// difference, and is too small if rare results gather in a group. For `p` the sums are taken
/// around the common mean (a score test), for the interval around their own means.
#[must_use]
pub fn contrast(group: &PairGroup, whole: &PairSums, effect: f64) -> Option<Contrast> {
    let mean = whole.mean()?;
    let [points, trials, ..] = group.pairs.sums;
    let [all_points, all_trials] = whole.pairs.sums;
    let rest = all_trials - trials;
    if trials <= 0.0 || rest <= 0.0 {
        return None;
    }
    let (inside, outside) = (points / trials, (all_points - points) / rest);
    // Pairs without a trial in the group.
    let mut others = whole.pairs;
    others.count -= group.pairs.count.min(others.count);
    for row in 0..2 {
        for column in 0..2 {
            others.products[row][column] -= group.pairs.products[row + 2][column + 2];
        }
    }
    let scale = correction(whole.pairs.count);
    let robust = |inside: f64, outside: f64| {
        let touched = [1.0 / trials + 1.0 / rest, -(inside / trials + outside / rest), -1.0 / rest, outside / rest];
        Some(effect * scale? * (group.pairs.quadratic(touched) + others.quadratic([-1.0 / rest, outside / rest])))
    };
    // Pairs of games of one pair: both inside, one of each, both outside.
    let [_, own, _, cross] = group.pairs.products[1];
    let both_inside = (own - trials) / 2.0;
    let mixed = cross - own;
    let all = (whole.pairs.products[1][1] - all_trials) / 2.0;
    let both_outside = all - both_inside - mixed;
    let (variance, covariance) = whole.pooled(mean);
    let shared = both_inside / (trials * trials) + both_outside / (rest * rest) - mixed / (trials * rest);
    let pooled = effect * (variance * (1.0 / trials + 1.0 / rest) + 2.0 * covariance * shared).max(0.0);
    let error95 = robust(inside, outside).map(|variance| Z_95 * variance.max(pooled).sqrt());
    // Pairs that have a trial elsewhere: the untouched ones, and at most the mixed ones.
    let rest_pairs = others.count + mixed.max(0.0) as u64;
    let suffice = |pairs: u64| pairs as f64 >= effect * MIN_PAIRS as f64;
    let p = robust(mean, mean)
        .filter(|_| suffice(group.pairs.count) && suffice(rest_pairs))
        .map(|variance| two_sided(inside - outside, variance.max(pooled)));
    Some(Contrast { pairs: group.pairs.count, inside, outside, error95, p })
}

/// K/(K - 1), the correction for the spread of K cluster sums around their own mean.
fn correction(clusters: u64) -> Option<f64> {
    (clusters > 1).then(|| clusters as f64 / (clusters - 1) as f64)
}

/// Probability of a normal deviation at least as large; 1 if nothing varies and nothing deviates.
fn two_sided(deviation: f64, variance: f64) -> f64 {
    if variance > 0.0 {
        (2.0 * Normal::standard().sf(deviation.abs() / variance.sqrt())).min(1.0)
    } else if deviation == 0.0 {
        1.0
    } else {
        0.0
    }
}

/// Holm's adjusted p-values, in the order given.
///
/// If all values below `a` are reported, the probability of one or more false alarms is at most
/// `a`, however the tests depend on each other.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut highest = 0.0_f64;
    for (rank, &place) in order.iter().enumerate() {
        highest = highest.max((p[place] * (p.len() - rank) as f64).min(1.0));
        adjusted[place] = highest;
    }
    adjusted
}

/// Means of two sides, from values of the same pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SideMeans {
    /// Moments of (sum of the one, its number of values, sum of the other, its number of values).
    pairs: VectorMoments<4>,
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Estimate: a ratio, or a difference in the unit of the values.
    pub value: f64,
    /// Lower and upper end; `None` for fewer than two pairs.
    pub ends: Option<(f64, f64)>,
}

impl SideMeans {
    /// Records both sides' values in the games of a pair: sums and numbers of values.
    pub fn record(&mut self, one: (f64, f64), other: (f64, f64)) {
        if one.1 + other.1 > 0.0 {
            self.pairs.record([one.0, one.1, other.0, other.1]);
        }
    }

    /// Means of both sides in the unit of the values; `None` for a side without values.
    #[must_use]
    pub fn means(&self) -> (Option<f64>, Option<f64>) {
        let [one, ones, other, others] = self.pairs.sums;
        let mean = |sum: f64, number: f64| (number > 0.0).then(|| sum / number);
        (mean(one, ones), mean(other, others))
    }

    /// Ratio of the one side's mean to the other's, by the delta method for its logarithm, from
    /// pairs with this design effect; `None` unless both are positive.
    #[must_use]
    pub fn ratio(&self, effect: f64) -> Option<Interval> {
        let [one, ones, other, others] = self.pairs.sums;
        let (Some(mean), Some(their)) = self.means() else { return None };
        if mean <= 0.0 || their <= 0.0 {
            return None;
        }
        let value = mean / their;
        let weights = [1.0 / one, -1.0 / ones, -1.0 / other, 1.0 / others];
        let ends = correction(self.pairs.count).map(|scale| {
            let reach = (Z_95 * (effect * scale * self.pairs.quadratic(weights)).sqrt()).exp();
            (value / reach, value * reach)
        });
        Some(Interval { value, ends })
    }

    /// The one side's mean minus the other's, from pairs with this design effect.
    #[must_use]
    pub fn difference(&self, effect: f64) -> Option<Interval> {
        let [_, ones, _, others] = self.pairs.sums;
        let (Some(mean), Some(their)) = self.means() else { return None };
        let value = mean - their;
        let weights = [1.0 / ones, -mean / ones, -1.0 / others, their / others];
        let ends = correction(self.pairs.count).map(|scale| {
            let reach = Z_95 * (effect * scale * self.pairs.quadratic(weights)).sqrt();
            (value - reach, value + reach)
        });
        Some(Interval { value, ends })
    }
}

/// Effective number of pairs if some games are repeats: pairs of independent games that would vary
/// as much. `times` is the number of times that each different game was played.
///
/// It is Kish's n^2 / sum of squared weights, because repeats have the same result and other games
/// are taken as independent of them. A pair that shares one game with another pair shares half of
/// its evidence.
#[must_use]
pub fn effective_pairs(pairs: u64, times: impl IntoIterator<Item = u64>) -> f64 {
    let (mut games, mut squares) = (0.0, 0.0);
    for times in times {
        games += times as f64;
        squares += times as f64 * times as f64;
    }
    if squares > 0.0 { pairs as f64 * games / squares } else { 0.0 }
}

#[cfg(test)]
mod tests;
