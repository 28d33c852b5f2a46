//! A Brownian motion between two bounds: the bound it reaches first, and the time.
//!
//! A log-likelihood ratio on its way to a verdict is nearly one, and all statements about a test
//! before or after it is played rest on this.
//!
//! Two series give the probability of having reached a bound by a time. Sums over reflections
//! converge at once for short times, sums over the sines of the eigenfunctions for long ones. Both
//! are exact, and the faster one is used. A walk in steps also overshoots the bound. On average it
//! ends beyond the bound by 0.583 of a step's deviation, D. Siegmund's result for normal steps. A
//! motion with bounds moved out by that much ([`BoundedMotion::stepped`]) approximates the walk.
//!
//! Sources: W. Feller, "An Introduction to Probability Theory and Its Applications", vol. 1, XIV.6,
//! and vol. 2, X.5; D. Siegmund, "Sequential Analysis" (1985), ch. 3 and 10.

use statrs::function::erf::erfc;
use std::f64::consts::{FRAC_1_SQRT_2, PI};

/// Mean step over a bound in standard deviations of a step: -zeta(1/2)/sqrt(2 pi).
const OVERSHOOT: f64 = 0.582_597;
/// Drifts beyond this, in variances over the span, decide the result with certainty, and rounding
/// of their exponentials would show.
const CERTAIN: f64 = 1e8;
/// Limit between the series, in squares of the span over variances: reflections are summed below
/// it, sines from it on.
const SHORT: f64 = 0.2;

/// A Brownian motion from 0 between two bounds, in units of the log-likelihood ratio per sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct BoundedMotion {
    pub(super) drift: f64,
    pub(super) variance: f64,
    /// Distance to the lower bound, positive.
    pub(super) below: f64,
    /// Distance to the upper bound, positive.
    pub(super) above: f64,
}

impl BoundedMotion {
    /// The motion that ends on average where a walk in steps of this drift and variance does.
    pub(super) fn stepped(self) -> Self {
        let over = OVERSHOOT * self.variance.sqrt();
        Self { below: self.below + over, above: self.above + over, ..self }
    }

    /// Probability that the upper bound is reached first.
    pub(super) fn pass_probability(&self) -> f64 {
        let rate = 2.0 * self.drift / self.variance;
        if !rate.is_finite() {
            return if self.drift > 0.0 { 1.0 } else { 0.0 };
        }
        let span = self.below + self.above;
        if (rate * span).abs() < 1e-9 {
            return self.below / span;
        }
        // (1 - e^(-rate below)) / (1 - e^(-rate span)); written so that the exponents do not
        // overflow for a negative drift.
        if rate > 0.0 {
            (-rate * self.below).exp_m1() / (-rate * span).exp_m1()
        } else {
            (rate * self.above).exp() * (rate * self.below).exp_m1() / (rate * span).exp_m1()
        }
    }

    /// Mean number of samples until a bound is reached.
    pub(super) fn mean_time(&self) -> f64 {
        let span = self.below + self.above;
        if (2.0 * self.drift * span).abs() < 1e-6 * self.variance {
            return self.below * self.above / self.variance;
        }
        let pass = self.pass_probability();
        (pass * self.above - (1.0 - pass) * self.below) / self.drift
    }

    /// Probability that the upper bound has been reached by `time` (in samples), and the lower one
    /// not before it.
    pub(super) fn above_by(&self, time: f64) -> f64 {
        let span = self.below + self.above;
        let tau = self.variance * time / (span * span);
        let drift = self.drift * span / self.variance;
        let pass = self.pass_probability();
        if tau.is_nan() || tau <= 0.0 || !drift.is_finite() {
            return if time > 0.0 { pass } else { 0.0 };
        }
        if drift.abs() > CERTAIN {
            return if self.drift * time >= self.above { pass } else { 0.0 };
        }
        let bound = self.above / span;
        let by = if tau < SHORT { reflections(drift, tau, bound) } else { pass - later(drift, tau, bound) };
        by.clamp(0.0, pass)
    }

    /// The same for the lower bound.
    pub(super) fn below_by(&self, time: f64) -> f64 {
        Self { drift: -self.drift, variance: self.variance, below: self.above, above: self.below }.above_by(time)
    }

    /// Probability that no bound has been reached by `time`.
    pub(super) fn open_at(&self, time: f64) -> f64 {
        (1.0 - self.above_by(time) - self.below_by(time)).max(0.0)
    }

    /// Probability that no bound has been reached by `time` and that the motion is then below
    /// `position`.
    pub(super) fn open_below(&self, time: f64, position: f64) -> f64 {
        let span = self.below + self.above;
        let tau = self.variance * time / (span * span);
        let drift = self.drift * span / self.variance;
        let height = ((position + self.below) / span).clamp(0.0, 1.0);
        if tau.is_nan() || tau <= 0.0 || !drift.is_finite() {
            return if time > 0.0 || position <= 0.0 { 0.0 } else { 1.0 };
        }
        if drift.abs() > CERTAIN {
            return if self.drift * time < position { self.open_at(time) } else { 0.0 };
        }
        let start = self.below / span;
        let share =
            if tau < SHORT { reflected_open(drift, tau, start, height) } else { sines_open(drift, tau, start, height) };
        share.clamp(0.0, self.open_at(time))
    }

    /// Number of samples by which a bound has been reached with probability `share`, less than 1.
    pub(super) fn quantile(&self, share: f64) -> f64 {
        let mut high = self.mean_time().max(f64::MIN_POSITIVE);
        // The tail falls by a constant factor in constant time.
        for _ in 0..60 {
            if self.open_at(high) <= 1.0 - share {
                break;
            }
            high *= 2.0;
        }
        let mut low = 0.0;
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if self.open_at(middle) > 1.0 - share {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }

    /// Mean number of samples to a bound or to `limit`, whichever comes first: the integral of
    /// [`Self::open_at`].
    pub(super) fn mean_time_within(&self, limit: f64) -> f64 {
        // Beyond that time the integrand is negligible.
        let limit = limit.min(self.quantile(1.0 - 1e-9));
        const PARTS: u32 = 256;
        let width = limit / f64::from(PARTS);
        let at = |part: u32| self.open_at(width * f64::from(part));
        // Simpson's rule.
        let inner: f64 = (1..PARTS).map(|part| if part % 2 == 1 { 4.0 * at(part) } else { 2.0 * at(part) }).sum();
        (1.0 + inner + at(PARTS)) * width / 3.0
    }
}

/// Probability of having reached the upper bound by `tau`, for a span and a variance of 1 and an
/// upper bound at `bound`.
fn reflections(drift: f64, tau: f64, bound: f64) -> f64 {
    let root = tau.sqrt();
    // Probability for a lone bound at `distance`, except for the weight of that image.
    let image = |distance: f64| {
        let way = |drift_there: f64| {
            (drift * bound - drift_there * distance + ln_normal((drift_there * tau - distance) / root)).exp()
        };
        way(drift) + way(-drift)
    };
    // Images of the start lie at bound + 2k; those below the bound count against it. At such short
    // times three are enough.
    (0..4).map(|k| 2.0 * f64::from(k)).map(|shift| image(bound + shift) - image(shift + 2.0 - bound)).sum()
}

/// Probability of reaching the upper bound only after `tau`.
fn later(drift: f64, tau: f64, bound: f64) -> f64 {
    let mut sum = 0.0;
    for n in 1..100 {
        let n = f64::from(n);
        let rate = (drift * drift + n * n * PI * PI) / 2.0;
        let size = (drift * bound - rate * tau).exp() * PI * n / rate;
        sum += size * (n * PI * bound).sin();
        if size < 1e-17 {
            break;
        }
    }
    sum
}

/// Probability of being between the bounds and below `height` at `tau`, from `start` between bounds
/// at 0 and 1, by reflections.
fn reflected_open(drift: f64, tau: f64, start: f64, height: f64) -> f64 {
    let root = tau.sqrt();
    // The part of an image between the lower bound and the height, with the image's weight under a
    // drift.
    let image = |place: f64| {
        let at = |end: f64| (end - place - drift * tau) / root;
        let (low, high) = (at(0.0), at(height));
        // Of two tails, the one that keeps its digits.
        let (near, far) = if low + high > 0.0 { (-low, -high) } else { (high, low) };
        let weight = drift * (place - start);
        (weight + ln_normal(near)).exp() - (weight + ln_normal(far)).exp()
    };
    (-3..=3).map(|k| 2.0 * f64::from(k)).map(|shift| image(shift + start) - image(shift - start)).sum()
}

/// The same probability by sines.
fn sines_open(drift: f64, tau: f64, start: f64, height: f64) -> f64 {
    let mut sum = 0.0;
    for n in 1..100 {
        let wave = f64::from(n) * PI;
        let fading = (drift * drift + wave * wave) * tau / 2.0;
        let at_height = drift * height;
        let here =
            (drift * (height - start) - fading).exp() * (drift * (wave * height).sin() - wave * (wave * height).cos());
        let there = (-drift * start - fading).exp() * wave;
        sum += 2.0 * (wave * start).sin() * (here + there) / (drift * drift + wave * wave);
        if (at_height.max(0.0) - drift * start - fading).exp() < 1e-17 {
            break;
        }
    }
    sum
}

/// Logarithm of the normal distribution's cumulative probability, accurate in the far tail.
fn ln_normal(z: f64) -> f64 {
    if z > -20.0 {
        return (0.5 * erfc(-z * FRAC_1_SQRT_2)).ln();
    }
    let square = 1.0 / (z * z);
    let series = 1.0 - square * (1.0 - square * (3.0 - square * (15.0 - 105.0 * square)));
    -0.5 * z * z - (-z * (2.0 * PI).sqrt()).ln() + series.ln()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exit(drift: f64, below: f64, above: f64) -> BoundedMotion {
        BoundedMotion { drift, variance: 1.0, below, above }
    }

    #[test]
    fn both_series_say_the_same() {
        for drift in [-20.0, -3.0, 0.0, 0.5, 8.0] {
            for bound in [0.1, 0.5, 0.8] {
                for tau in [0.15, 0.2, 0.3] {
                    let exit = exit(drift, 1.0 - bound, bound);
                    let (short, long) =
                        (reflections(drift, tau, bound), exit.pass_probability() - later(drift, tau, bound));
                    assert!((short - long).abs() < 1e-9, "{drift} {bound} {tau}: {short} and {long}");
                }
            }
        }
    }

    #[test]
    fn the_place_under_way_is_known_both_ways() {
        for drift in [-20.0, -3.0, 0.0, 0.5, 8.0] {
            for start in [0.1, 0.5, 0.8] {
                for tau in [0.1, 0.2, 0.3] {
                    let exit = exit(drift, start, 1.0 - start);
                    for height in [0.05, 0.4, 0.9] {
                        let (short, long) =
                            (reflected_open(drift, tau, start, height), sines_open(drift, tau, start, height));
                        assert!((short - long).abs() < 1e-9, "{drift} {start} {tau} {height}: {short} and {long}");
                    }
                    let whole = exit.open_below(tau, 1.0 - start);
                    assert!((whole - exit.open_at(tau)).abs() < 1e-9, "{drift} {start} {tau}: {whole}");
                }
            }
        }
        // Far from both bounds a motion behaves as if there were none: P(X < x) = Phi((x - mu
        // t)/sqrt t).
        let free = exit(0.3, 500.0, 500.0).open_below(4.0, 2.0);
        assert!((free - 0.5 * erfc(-0.4 * FRAC_1_SQRT_2)).abs() < 1e-10, "{free}");
    }

    #[test]
    fn a_lone_bound_is_met_as_by_the_inverse_gaussian() {
        // The lower bound far away: P(T <= t) = Phi((mu t - b)/sqrt t) + e^(2 mu b) Phi((-mu t -
        // b)/sqrt t).
        let normal = |z: f64| 0.5 * erfc(-z * FRAC_1_SQRT_2);
        for (drift, above, time) in [(1.0, 2.0, 1.5), (-0.3, 1.0, 4.0), (0.0, 3.0, 9.0)] {
            let root = f64::sqrt(time);
            let lone = normal((drift * time - above) / root)
                + (2.0 * drift * above).exp() * normal((-drift * time - above) / root);
            let found = exit(drift, 200.0, above).above_by(time);
            assert!((found - lone).abs() < 1e-10, "{found}, not {lone}");
        }
    }

    #[test]
    fn the_tail_of_the_normal_distribution() {
        // ln Phi(-20) = -203.917155..., and both formulas meet there.
        assert!((ln_normal(-20.0) + 203.917_155).abs() < 1e-5, "{}", ln_normal(-20.0));
        assert!((ln_normal(-19.999_999) - ln_normal(-20.000_001) - 4e-5 * 1.002_5).abs() < 1e-7);
        assert!((ln_normal(0.0) - 0.5f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn quantiles_and_means_fit_together() {
        for (drift, below, above) in [(0.0, 1.0, 1.0), (0.4, 2.9, 2.9), (-2.0, 1.0, 4.0), (30.0, 2.0, 3.0)] {
            let exit = exit(drift, below, above);
            for share in [0.01, 0.5, 0.95, 0.999] {
                let time = exit.quantile(share);
                assert!((exit.open_at(time) - (1.0 - share)).abs() < 1e-9, "{exit:?} {share}");
            }
            let mean = exit.mean_time_within(f64::INFINITY);
            assert!((mean / exit.mean_time() - 1.0).abs() < 1e-4, "{exit:?}: {mean}, not {}", exit.mean_time());
            assert!(exit.mean_time_within(exit.quantile(0.1)) < exit.quantile(0.1));
        }
    }

    proptest! {
        #[test]
        fn probabilities_are_such_and_rise(
            drift in prop_oneof![-5.0..5.0, -1e4..1e4, Just(0.0)],
            below in 0.01..20.0f64,
            above in 0.01..20.0f64,
            time in prop_oneof![1e-6..1e-2, 1e-2..1e3, 1e3..1e9],
        ) {
            let exit = exit(drift, below, above);
            let (early, late) = (exit.above_by(time / 2.0), exit.above_by(time));
            prop_assert!((0.0..=1.0).contains(&early) && early <= late + 1e-9, "{early} {late}");
            prop_assert!((0.0..=1.0).contains(&exit.open_at(time)));
            prop_assert!(exit.above_by(time) + exit.below_by(time) <= 1.0 + 1e-9);
            prop_assert!((exit.above_by(1e12) - exit.pass_probability()).abs() < 1e-9);
        }
    }
}
