//! The most likely distribution under a hypothesis: the core of the generalised SPRT.
//!
//! The observed shares of the score classes are `p`. Sought is the distribution `q` that maximises
//! `sum p ln q` among those with a given mean ([`ObservedShares::under_mean`]) or t-value
//! ([`ObservedShares::under_t_value`]). By Lagrange, `q = p/(1 + x f)` for a function `f` of the
//! class and the multiplier `x` that makes `sum q f = 0`.
//!
//! Source: M. Van den Bergh, "The generalized maximum likelihood ratio for the expectation value of
//! a distribution" and "Normalized Elo practical". The search over the t-value's tangents is ours:
//! the published fixed point needs a start that straddles the hypothesis and may end on the lesser
//! of two maxima.

use super::Counts;

/// Number of score classes of a pair.
const CLASSES: usize = 5;
/// Share of a sample that stands for a class that never occurred, as in fishtest, fastchess and
/// OpenBench.
pub(super) const ZERO_COUNT: f64 = 0.001;
/// Relative change below which the root of a fit counts as found; rounding alone moves it by a few
/// units in the last place.
const SETTLED: f64 = 1e-14;
/// Points at which the likelihood of a t-value is evaluated before a maximum is narrowed down.
const GRID: usize = 32;

type PerClass = [f64; CLASSES];

/// Observed shares of the score classes, zero counts replaced by a thousandth.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObservedShares {
    /// Classes in use; the arrays are zero beyond.
    len: usize,
    /// Number of independent samples with the same evidence as the counts, the thousandths
    /// included.
    total: f64,
    share: PerClass,
    /// Score of the class minus one half: the classes are symmetric about 0.
    offset: PerClass,
}

/// Logarithms of `q/p` by class, for the most likely `q`.
#[derive(Clone, Copy, Debug)]
pub(super) struct LogRatios(PerClass);

/// Mean and variance of a quantity in one sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl ObservedShares {
    /// Shares of the counts; `None` without samples.
    pub(super) fn new<C: Counts>(counts: &C) -> Option<Self> {
        let len = C::SCORES.len().min(CLASSES);
        let mut share = [0.0; CLASSES];
        let mut offset = [0.0; CLASSES];
        let mut samples = false;
        for class in 0..len {
            let count = counts.count(class);
            samples |= count > 0;
            share[class] = if count == 0 { ZERO_COUNT } else { count as f64 };
            offset[class] = C::SCORES[class] - 0.5;
        }
        let total: f64 = share.iter().sum();
        share = share.map(|count| count / total);
        samples.then_some(Self { len, total: total / counts.design_effect(), share, offset })
    }

    /// Number of independent samples with the same evidence, the thousandths for empty classes
    /// included.
    pub(super) const fn total(&self) -> f64 {
        self.total
    }

    /// Odds of a game not won to one won, and of a game not lost to one lost; a pair in the middle
    /// class is taken as two draws. Summed and not subtracted from 1, so that a share of 1e-19 is
    /// not lost.
    pub(super) fn odds_against(&self) -> (f64, f64) {
        let odds = |share: fn(f64) -> f64| self.mean_of(|b| 1.0 - share(b)) / self.mean_of(share);
        (odds(|b| (2.0 * b).max(0.0)), odds(|b| (-2.0 * b).max(0.0)))
    }

    /// The most likely distribution with mean score `score`, which lies strictly between 0 and 1.
    pub(super) fn under_mean(&self, score: f64) -> LogRatios {
        self.tilted(&self.offset.map(|offset| offset - (score - 0.5))).log_ratios()
    }

    /// The most likely distribution with (mean - 1/2)/(standard deviation) of a sample equal to
    /// `t`.
    ///
    /// Let `b` be the score minus one half. For a standard deviation `s`, the distributions of that
    /// t-value touch a half-space in which the mean of `f(b) = (1+t²)(bs - ts²/2) - tb²/2` is 0.
    /// This follows from the inequality of arithmetic and geometric mean: `s` is the least of all
    /// `(s' + E(b-m)²/s')/2`. So the search over distributions is a search over the one number `s`,
    /// and each `s` is a linear problem. If `t` lies between 0 and the observed t-value, the set of
    /// distributions not above it is convex, and the likelihood has a single minimum over the
    /// tangents. Otherwise it has a maximum, or two, and all are examined.
    pub(super) fn under_t_value(&self, t: f64) -> LogRatios {
        if t == 0.0 {
            return self.under_mean(0.5);
        }
        if t < 0.0 {
            return self.mirrored().under_t_value(-t).mirrored(self.len);
        }
        let tangents = Tangents { observed: self, t };
        let between = tangents.between();
        let best = tangents.nearby(between).unwrap_or_else(|| tangents.searched(between));
        tangents.fit(best).log_ratios()
    }

    /// The log-likelihood ratio of two fits: its mean and variance per sample.
    pub(super) fn ratio(&self, high: &LogRatios, low: &LogRatios) -> Moments {
        let step = |class: usize| high.0[class] - low.0[class];
        let mean: f64 = (0..self.len).map(|class| self.share[class] * step(class)).sum();
        let variance = (0..self.len).map(|class| self.share[class] * (step(class) - mean).powi(2)).sum();
        Moments { mean, variance }
    }

    /// Mean and variance per sample of the log-likelihood ratio of two fits, if `law` were the true
    /// distribution.
    pub(super) fn ratio_under(&self, law: &LogRatios, high: &LogRatios, low: &LogRatios) -> Moments {
        let mut share = [0.0; CLASSES];
        for (class, share) in share.iter_mut().enumerate().take(self.len) {
            *share = self.share[class] * law.0[class].exp();
        }
        Self { share, ..*self }.ratio(high, low)
    }

    fn mean_of(&self, value: impl Fn(f64) -> f64) -> f64 {
        (0..self.len).map(|class| self.share[class] * value(self.offset[class])).sum()
    }

    fn mirrored(&self) -> Self {
        let mut share = self.share;
        share[..self.len].reverse();
        Self { share, ..*self }
    }

    /// The most likely distribution under which the mean of `f` is 0. `f` has both signs.
    ///
    /// Let `k` be the class whose `1 + x f` can reach 0 on the root's side, and `r = f/f_k`. The
    /// denominators are then `(1-r) + w r` for one `w` in `p_k..=1`. The search is over `w` rather
    /// than `x`, so that even a class with a share of 1e-20 keeps its digits.
    fn tilted(&self, f: &PerClass) -> Fit<'_> {
        let f = &f[..self.len];
        let mean: f64 = f.iter().zip(&self.share).map(|(f, p)| f * p).sum();
        let mut pole = 0;
        for class in 1..self.len {
            let beyond = if mean > 0.0 { f[class] < f[pole] } else { f[class] > f[pole] };
            if beyond {
                pole = class;
            }
        }
        let mut ratio = [0.0; CLASSES];
        for class in 0..self.len {
            ratio[class] = f[class] / f[pole];
        }
        let weight = if mean == 0.0 { 1.0 } else { self.weight(&ratio, self.share[pole]) };
        Fit { observed: self, ratio, weight }
    }

    /// The root `w` of `sum p r/((1-r) + w r)`, which falls from the pole at 0: Newton within a
    /// shrinking bracket.
    fn weight(&self, ratio: &PerClass, least: f64) -> f64 {
        let (mut low, mut high) = (least.min(1.0), 1.0);
        let mut w: f64 = 1.0;
        let mut before_last = f64::INFINITY;
        let mut last = f64::INFINITY;
        // Bisection of the logarithm of a range of 1e-23..1 to 1e-16 takes 60 rounds; the limit is
        // never reached.
        for _ in 0..200 {
            let (mut value, mut slope) = (0.0, 0.0);
            for (p, r) in self.share[..self.len].iter().zip(ratio) {
                let part = r / ((1.0 - r) + w * r);
                value += p * part;
                slope -= p * part * part;
            }
            if value > 0.0 {
                low = w;
            } else {
                high = w;
            }
            // Newton on `w` times the function: next to the pole that product is a straight line.
            let denominator = value + w * slope;
            let mut next = w - w * value / denominator;
            let step = (next - w).abs();
            if !(next > low && next < high) || step > 0.5 * before_last {
                next = (low * high).sqrt();
            }
            before_last = last;
            last = (next - w).abs();
            if last <= SETTLED * w || high - low <= SETTLED * high {
                return next;
            }
            w = next;
        }
        w
    }
}

/// `q = p/d` with `d = (1-r) + w r`.
struct Fit<'a> {
    observed: &'a ObservedShares,
    ratio: PerClass,
    weight: f64,
}

impl Fit<'_> {
    fn denominator(&self, class: usize) -> f64 {
        (1.0 - self.ratio[class]) + self.weight * self.ratio[class]
    }

    fn log_ratios(&self) -> LogRatios {
        let mut logs = [0.0; CLASSES];
        for (class, log) in logs.iter_mut().enumerate().take(self.observed.len) {
            // Near no tilt at all the digits are in `1 - w`, near the pole they are in `w`.
            *log = if self.weight > 0.5 {
                -(-(1.0 - self.weight) * self.ratio[class]).ln_1p()
            } else {
                -self.denominator(class).ln()
            };
        }
        LogRatios(logs)
    }

    /// `sum p ln(q/p)`: the fit's log-likelihood per sample, less a constant. 0 is a perfect fit.
    fn log_likelihood(&self) -> f64 {
        let logs = self.log_ratios();
        (0..self.observed.len).map(|class| self.observed.share[class] * logs.0[class]).sum()
    }

    fn mean_square_offset(&self) -> f64 {
        let observed = self.observed;
        (0..observed.len)
            .map(|class| observed.share[class] / self.denominator(class) * observed.offset[class].powi(2))
            .sum()
    }
}

impl LogRatios {
    /// The largest difference of two fits in any class.
    pub(super) fn farthest(&self, other: &Self) -> f64 {
        self.0.iter().zip(other.0).map(|(here, there)| (here - there).abs()).fold(0.0, f64::max)
    }

    fn mirrored(mut self, len: usize) -> Self {
        self.0[..len].reverse();
        self
    }
}

/// The tangent half-spaces of the distributions with t-value `t > 0`, one for each standard
/// deviation `s`, by `ln s`.
struct Tangents<'a> {
    observed: &'a ObservedShares,
    t: f64,
}

impl Tangents<'_> {
    fn function(&self, log_s: f64) -> PerClass {
        let (t, s) = (self.t, log_s.exp());
        self.observed.offset.map(|b| (1.0 + t * t) * s * (b - t * s / 2.0) - t * b * b / 2.0)
    }

    /// Returns false if no distribution at all lies on the tangent.
    fn exists(&self, log_s: f64) -> bool {
        let f = self.function(log_s);
        let f = &f[..self.observed.len];
        f.iter().any(|f| *f > 0.0) && f.iter().any(|f| *f < 0.0)
    }

    fn fit(&self, log_s: f64) -> Fit<'_> {
        if self.exists(log_s) {
            self.observed.tilted(&self.function(log_s))
        } else {
            // Reached by rounding only: the tangent passes through a single class at the edge of
            // the range.
            Fit { observed: self.observed, ratio: [0.0; CLASSES], weight: 1.0 }
        }
    }

    /// Positive while the fitted distribution's own deviation is larger than the tangent's, 0 if
    /// the fit has t-value `t`. It is the slope of the likelihood in `s`, up to a factor of
    /// constant sign.
    fn slope(&self, log_s: f64) -> f64 {
        let deviation = log_s.exp();
        self.fit(log_s).mean_square_offset() - (1.0 + self.t * self.t) * deviation * deviation
    }

    /// `ln s` of the two tangents through the observed distribution if `t` lies between 0 and its
    /// t-value. The tangent of the only fit lies between them.
    fn between(&self) -> Option<(f64, f64)> {
        let t = self.t;
        let mean = self.observed.mean_of(|b| b);
        let square = self.observed.mean_of(|b| b * b);
        let discriminant = mean * mean - t * t * square / (1.0 + t * t);
        (mean > 0.0 && discriminant > 0.0).then(|| {
            // The product of the two roots is `square/(1+t²)`, which gives the smaller one without
            // cancellation.
            let far = (mean + discriminant.sqrt()) / t;
            let near = square / ((1.0 + t * t) * far);
            (near.ln(), far.ln())
        })
    }

    /// The tangent of the most likely fit, from a search of the whole range.
    fn searched(&self, between: Option<(f64, f64)>) -> f64 {
        between.map_or_else(|| self.highest(), |(low, high)| self.touching(low, high))
    }

    /// The same tangent from the observed deviation in a few steps; `None` if they do not converge,
    /// or if another fit may be as likely. A tangent is the right one if the fit on it has the
    /// tangent's own deviation. Deviations hardly depend on the tangent. So using the last fit's
    /// deviation (the published fixed point) gains two or three digits a step, and the secant
    /// through two steps doubles them.
    fn nearby(&self, between: Option<(f64, f64)>) -> Option<f64> {
        const STEPS: usize = 12;
        let gap = |log_s: f64| {
            let square = self.exists(log_s).then(|| self.fit(log_s).mean_square_offset())?;
            Some(self.deviation(square) - log_s)
        };
        let mut before = self.deviation(self.observed.mean_of(|b| b * b));
        let mut gap_before = gap(before)?;
        let mut log_s = before + gap_before;
        let mut slope = -1.0;
        for _ in 0..STEPS {
            let here = gap(log_s)?;
            if log_s != before {
                slope = (here - gap_before) / (log_s - before);
            }
            // A gap that does not close as the tangent widens leads to the least likely fit or to
            // none.
            if slope.is_nan() || slope > -0.1 {
                return None;
            }
            (before, gap_before) = (log_s, here);
            if here.abs() <= 1e-12 {
                return self.is_only(log_s, between).then_some(log_s);
            }
            log_s -= here / slope;
        }
        None
    }

    /// `ln s` of a distribution of this t-value with this mean square of the offset.
    fn deviation(&self, square: f64) -> f64 {
        0.5 * (square / (1.0 + self.t * self.t)).ln()
    }

    /// Returns true if no fit on another tangent is more likely than that at `log_s`, as far as
    /// [`Self::highest`] would find one. With `e` the likelihood that this fit lacks, any rival `q`
    /// has `sum p ln(q/p) >= -e`. For every positive `h = 1 + y (b² - E_p b²)` Jensen's inequality
    /// gives `ln E_q h >= sum p ln h - e`. That bounds `E_q b²`, and so the rival's deviation, from
    /// either side by the sign of `y`. Only the deviations within the bounds are examined.
    fn is_only(&self, log_s: f64, between: Option<(f64, f64)>) -> bool {
        if let Some((low, high)) = between {
            return (low..=high).contains(&log_s);
        }
        let observed = self.observed;
        let lack = -self.fit(log_s).log_likelihood();
        let mean = observed.mean_of(|b| b * b);
        let variance = observed.mean_of(|b| (b * b - mean).powi(2));
        let widest = observed.offset[0].powi(2);
        let rate = (2.0 * lack.max(0.0) / variance).sqrt().clamp(1e-6, 0.9 / widest);
        let bound = |y: f64| {
            let logs = observed.mean_of(|b| (y * (b * b - mean)).ln_1p());
            self.deviation(mean + (logs - lack).exp_m1() / y)
        };
        let (low, high) = self.range();
        let cell = (high - low) / GRID as f64;
        // If no deviation is excluded the bound is NaN, and the end of the range stays.
        let (narrow, wide) = (low.max(bound(rate)), high.min(bound(-rate)));
        let steps =
            |distance: f64| (1..GRID).map(move |step| step as f64 * cell).take_while(move |away| *away < distance);
        steps(log_s - narrow).all(|away| self.rises(log_s - away))
            && steps(wide - log_s).all(|away| !self.rises(log_s + away))
    }

    /// Returns true if the likelihood rises towards wider tangents.
    fn rises(&self, log_s: f64) -> bool {
        self.exists(log_s) && self.slope(log_s) > 0.0
    }

    fn touching(&self, low: f64, high: f64) -> f64 {
        bracketed_root(|log_s| self.slope(log_s), low, high)
    }

    /// The tangent with the highest likelihood.
    fn highest(&self) -> f64 {
        let (low, high) = self.range();
        let at = |index: usize| low + (high - low) * index as f64 / GRID as f64;
        let mut best = (f64::NEG_INFINITY, f64::midpoint(low, high));
        let mut rising = true;
        let mut from = low;
        for index in 1..=GRID {
            let here = at(index);
            // At the end of the range no distribution is as wide as the tangent requires.
            let rises = index < GRID && self.rises(here);
            if rising && !rises {
                let top = self.touching(from, here);
                let likelihood = if self.exists(top) { self.fit(top).log_likelihood() } else { f64::NEG_INFINITY };
                if likelihood > best.0 {
                    best = (likelihood, top);
                }
            }
            rising = rises;
            from = here;
        }
        best.1
    }

    /// `ln s` from the narrowest tangent that holds a distribution to the widest possible
    /// distribution.
    fn range(&self) -> (f64, f64) {
        let len = self.observed.len;
        let root = (1.0 + self.t * self.t).sqrt();
        let step = self.observed.offset[len - 1] - self.observed.offset[len - 2];
        let low = step * self.t / (root * (root + 1.0));
        ((low * (1.0 + 1e-9)).ln(), (0.5 / root).ln())
    }
}

/// Root of a function that is positive just above `low` and negative just below `high`, to 1e-13:
/// false position with halved weights (Illinois), and bisection whenever that is slow. At the ends
/// themselves the sign is assumed, because rounding may hide it there.
fn bracketed_root(function: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let mut at_low = function(low).max(f64::MIN_POSITIVE);
    let mut at_high = function(high).min(-f64::MIN_POSITIVE);
    for round in 0..200 {
        let width = high - low;
        if width <= 1e-13 * (1.0 + low.abs()) || at_high == 0.0 {
            break;
        }
        let mut middle = (low * at_high - high * at_low) / (at_high - at_low);
        if round % 3 == 2 || !(middle > low && middle < high) {
            middle = f64::midpoint(low, high);
        }
        let value = function(middle);
        if value > 0.0 {
            (low, at_low) = (middle, value);
            at_high /= 2.0;
        } else {
            (high, at_high) = (middle, value);
            at_low /= 2.0;
        }
    }
    if at_high == 0.0 { high } else { f64::midpoint(low, high) }
}

#[cfg(test)]
mod tests {
    use super::super::{Pentanomial, Trinomial};
    use super::*;
    use proptest::prelude::*;

    /// Per sample of a pair, the t-value of a strength in nElo.
    fn t_value(nelo: f64) -> f64 {
        nelo * std::f64::consts::LN_10 / 800.0 * std::f64::consts::SQRT_2
    }

    /// Log-likelihoods of all samples by the few steps and by the search; `None` if the steps are
    /// not accepted.
    fn both<C: Counts>(counts: &C, t: f64) -> Option<[f64; 2]> {
        let observed = ObservedShares::new(counts)?;
        let tangents = Tangents { observed: &observed, t };
        let between = tangents.between();
        let near = tangents.nearby(between)?;
        Some([near, tangents.searched(between)].map(|log_s| observed.total() * tangents.fit(log_s).log_likelihood()))
    }

    #[test]
    fn ordinary_counts_need_no_search() {
        let table = [
            [379, 10170, 21828, 10640, 343],
            [0, 3, 9, 4, 0],
            [3, 60, 151, 73, 5],
            [0, 300, 15100, 320, 0],
            [13, 10, 36, 17, 39],
            [1, 0, 2, 0, 1],
            [0, 0, 0, 1, 10_000_000],
        ];
        for counts in table {
            for nelo in [1e-3, 0.5, 2.0, 5.0, 10.0, 40.0] {
                let found = both(&Pentanomial(counts), t_value(nelo));
                let [near, searched] = found.unwrap_or_else(|| panic!("{counts:?} at {nelo} is searched"));
                assert!((near - searched).abs() <= 1e-9 * (1.0 + searched.abs()), "{counts:?}: {near}, not {searched}");
            }
        }
    }

    proptest! {
        #[test]
        fn the_few_steps_find_what_the_search_finds(
            counts in prop::array::uniform5(prop_oneof![Just(0), 0u64..4, 0u64..1000, 0u64..10_000_000]),
            nelo in prop_oneof![1e-6..1.0, 1.0..20.0, 20.0..600.0f64],
        ) {
            let games = Trinomial { wins: counts[0], draws: counts[1], losses: counts[2] };
            let found = [both(&Pentanomial(counts), t_value(nelo)), both(&games, t_value(nelo))];
            for [near, searched] in found.into_iter().flatten() {
                prop_assert!((near - searched).abs() <= 1e-9 * (1.0 + searched.abs()), "{near}, not {searched}");
            }
        }
    }
}
