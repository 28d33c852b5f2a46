//! Sizes of matches of a fixed length.
//!
//! The pairs that an interval takes, and the strength that a number of pairs can show. Mean scores
//! are taken as normal.
//!
//! Source: J. M. Lachin, "Introduction to sample size determination and power analysis for clinical
//! trials", Controlled Clinical Trials 2 (1981), for [`detectable`]: the lead in score times the
//! root of the pairs is z(1 - alpha) deviations of equal engines and z(1 - beta) of different ones.

use super::elo::{Elo, Z_95};
use super::simulate::Law;
use super::sprt::Model;
use super::student::quantile;

/// Maximum number of pairs searched for.
const MOST_PAIRS: f64 = 1e15;

/// Strongest difference that is looked for, in Elo.
const MOST_ELO: f64 = 2000.0;

/// Standard deviation of the score of one pair.
fn deviation(law: &Law) -> f64 {
    law.variance().sqrt()
}

/// Half the width of the 95 % interval of the logistic Elo after `pairs` pairs; infinite if an end
/// is.
///
/// The interval of the mean score is 1.96 standard errors to either side. Its ends are converted to
/// Elo. It is that of the rule `until-width`, with its 1/n added to the variance.
#[must_use]
pub fn half_width(law: &Law, pairs: f64) -> f64 {
    let reach = Z_95 * ((deviation(law).powi(2) + 1.0 / pairs) / pairs).sqrt();
    match [law.score() - reach, law.score() + reach].map(|score| Elo::of_score(score).finite()) {
        [Some(low), Some(high)] => (high - low) / 2.0,
        _ => f64::INFINITY,
    }
}

/// Pairs until the 95 % interval is `width` logistic Elo to either side, by [`half_width`]; `None`
/// if that takes too many.
#[must_use]
pub fn pairs_for_width(law: &Law, width: f64) -> Option<f64> {
    let (mut low, mut high) = (0.0, 1.0);
    while half_width(law, high) > width {
        (low, high) = (high, high * 2.0);
        if high > MOST_PAIRS {
            return None;
        }
    }
    while high - low > 1.0 {
        let middle = f64::midpoint(low, high).floor();
        if half_width(law, middle) > width { low = middle } else { high = middle }
    }
    Some(high)
}

/// Smallest strength, in Elo of `model`, that a one-sided test of `pairs` pairs finds with
/// probability `1 - beta` if it takes equal engines for different ones with probability `alpha`.
///
/// `None` if pairs of this shape show none, or if `alpha + beta >= 1`.
#[must_use]
pub fn detectable(shape: &Law, model: Model, pairs: f64, alpha: f64, beta: f64) -> Option<f64> {
    let [alarm, miss] = [alpha, beta].map(|rate| quantile(1.0 - rate, f64::INFINITY));
    if alarm + miss <= 0.0 {
        return None;
    }
    let null = deviation(&shape.leaned(0.0, model));
    // Deviations of the mean score by which the strength is beyond what the test needs.
    let beyond = |elo: f64| {
        let law = shape.leaned(elo, model);
        (law.score() - 0.5) * pairs.sqrt() - alarm * null - miss * deviation(&law)
    };
    if beyond(MOST_ELO) < 0.0 {
        return None;
    }
    let (mut low, mut high) = (0.0, MOST_ELO);
    for _ in 0..100 {
        let middle = f64::midpoint(low, high);
        if beyond(middle) < 0.0 { low = middle } else { high = middle }
    }
    Some(shape.leaned(high, model).elo(model))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::{Pentanomial, elo};

    #[test]
    fn the_width_is_that_of_the_rule_that_stops_a_run() {
        for (width, score) in [(5.0, 0.0), (2.0, 30.0), (20.0, -80.0)] {
            let law = Law::TYPICAL.leaned(score, Model::Logistic);
            let pairs = pairs_for_width(&law, width).unwrap();
            let counts = |pairs: f64| Pentanomial(law.shares().map(|share| (share * pairs).round() as u64));
            assert!(elo::is_within(&counts(pairs * 1.02), width), "{pairs} pairs for {width}");
            assert!(!elo::is_within(&counts(pairs * 0.98), width), "{pairs} pairs for {width}");
        }
        // Variance of a pair's score 0.0319: 1.96 sqrt(v/n) of the slope 4 * 400 / ln 10.
        let pairs = pairs_for_width(&Law::TYPICAL, 1.0).unwrap();
        assert!((pairs / 59_400.0 - 1.0).abs() < 0.02, "{pairs}");
    }

    #[test]
    fn what_cannot_be_is_none() {
        assert_eq!(pairs_for_width(&Law::TYPICAL, 1e-6), None);
        assert_eq!(detectable(&Law::TYPICAL, Model::Normalized, 1000.0, 0.6, 0.5), None);
        assert_eq!(detectable(&Law::TYPICAL, Model::Logistic, 1.0, 1e-9, 1e-9), None);
    }

    /// Simulated tests of the found strength and of equal engines.
    #[test]
    fn the_error_rates_are_those_of_played_tests() {
        let mut random = SplitMix64::new(17);
        let (pairs, alpha, beta) = (600, 0.05, 0.1);
        for model in [Model::Normalized, Model::Logistic] {
            let found = detectable(&Law::TYPICAL, model, f64::from(pairs), alpha, beta).unwrap();
            let threshold = quantile(1.0 - alpha, f64::INFINITY) * deviation(&Law::TYPICAL) / f64::from(pairs).sqrt();
            let mut share = |elo: f64| {
                let law = Law::TYPICAL.leaned(elo, model);
                let alarms = (0..2_000).filter(|_| {
                    let points: u32 = (0..pairs).map(|_| u32::from(law.draw_half_points(&mut random))).sum();
                    f64::from(points) / (4.0 * f64::from(pairs)) - 0.5 > threshold
                });
                alarms.count() as f64 / 2_000.0
            };
            let (null, power) = (share(0.0), share(found));
            assert!((null - alpha).abs() < 0.02 && (power - (1.0 - beta)).abs() < 0.03, "{null}, {power} at {found}");
        }
    }
}
