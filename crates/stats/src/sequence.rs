//! A confidence sequence for the mean score: intervals that hold at all times.
//!
//! A 95 % interval covers the truth 95 times in 100 if it is read once, at a moment chosen
//! beforehand. It does not if a user watches a run and stops it at a pleasing result. The intervals
//! here do: with probability 95 % the truth is in all of them, from the first pair to the last. So
//! they may be read at any time, and the run stopped for any reason.
//!
//! # The method
//! Betting (Waudby-Smith and Ramdas 2024). A bet against "the mean score is m, or lower" starts
//! with a capital of 1 and stakes the share `f` of it on each sample. A score x multiplies the
//! capital by `1 - f + f x/m`: fair odds if the mean is m, bad ones if it is lower. By Ville's
//! inequality such a capital ever reaches 40 with probability 1/40 at most; once it has, m is
//! excluded for good. The stakes are a fixed mixture of constant shares, from nearly all to a
//! thousandth by factors of sqrt(2), with equal parts of the capital on each. The mixture grows
//! like the best of them, up to the factor of their number (H. Robbins' mixtures, T. Cover's
//! universal portfolio). The product over the samples depends on the counts of the classes alone,
//! so the interval is a function of the counts. It needs no state, and a replayed journal gives the
//! same interval. The capital falls in m, so its root is the interval's lower end; the upper end is
//! that of the other side. No distribution is assumed, only independent samples, or a mean that
//! never leaves m. Samples in clusters bet with the number of independent samples of the same
//! evidence, for which the guarantee holds approximately.
//!
//! The price is width, about 1.7 times the plain interval's at a thousand pairs.
//!
//! Sources: I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting",
//! J. R. Stat. Soc. B 86 (2024), sections 3 and 4; J. Ville, "Etude critique de la notion de
//! collectif" (1939); H. Robbins, "Statistical methods related to the law of the iterated
//! logarithm" (1970).

use super::Counts;
use super::elo::Elo;

/// The largest share of the capital that is staked.
const LARGEST: f64 = 0.96;
/// Number of shares staked, each the one before over sqrt(2): the smallest suits intervals after
/// 1e8 samples.
const STAKES: usize = 21;
/// The logarithm of the capital that excludes a mean on one side: 1/0.025.
const LN_ENOUGH: f64 = 3.688_879_454_113_936;

/// The interval of mean scores, within `0.0..=1.0`, that are not excluded at 95 % after `counts`,
/// at whatever time it is read.
///
/// All of `0.0..=1.0` without samples.
#[must_use]
pub fn score<C: Counts>(counts: &C) -> (f64, f64) {
    let classes = C::SCORES.len();
    let effect = counts.design_effect();
    let samples = || (0..classes).map(|class| (counts.count(class) as f64 / effect, C::SCORES[class]));
    let low = lower(samples());
    let high = 1.0 - lower(samples().map(|(count, score)| (count, 1.0 - score)));
    (low, high.max(low))
}

/// The same interval as logistic Elo; an end at which no strength is excluded is infinite.
#[must_use]
pub fn elo<C: Counts>(counts: &C) -> (Elo, Elo) {
    let (low, high) = score(counts);
    (Elo::of_score(low), Elo::of_score(high))
}

/// The lowest mean that is not excluded from below, 0 if none is.
fn lower(samples: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let (mut count, mut points) = (0.0, 0.0);
    for (times, score) in samples.clone() {
        count += times;
        points += times * score;
    }
    if points <= 0.0 {
        return 0.0;
    }
    // At the observed mean no stake has won anything, and towards 0 all of them win without bound.
    let (mut low, mut high) = (0.0_f64, points / count);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if ln_capital(samples.clone(), middle) >= LN_ENOUGH {
            low = middle;
        } else {
            high = middle;
        }
        if high - low <= 1e-12 {
            break;
        }
    }
    low
}

/// The logarithm of the capital after the samples, staked against a mean of `mean` or lower.
fn ln_capital(samples: impl Iterator<Item = (f64, f64)> + Clone, mean: f64) -> f64 {
    let mut stake = LARGEST;
    let mut logs = [0.0; STAKES];
    for log in &mut logs {
        *log = samples.clone().map(|(times, score)| times * (stake * (score / mean - 1.0)).ln_1p()).sum();
        stake *= std::f64::consts::FRAC_1_SQRT_2;
    }
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    highest + (logs.iter().map(|log| (log - highest).exp()).sum::<f64>() / STAKES as f64).ln()
}

#[cfg(test)]
mod tests {
    use super::super::random::SplitMix64;
    use super::super::simulate::Law;
    use super::super::sprt::Model;
    use super::super::{Pentanomial, Trinomial, elo};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_truth_is_never_excluded_in_95_runs_of_100() {
        const RUNS: u32 = 400;
        for strength in [0.0, 80.0] {
            let law = Law::TYPICAL.leaned(strength, Model::Logistic);
            let truth = law.score();
            let mut random = SplitMix64::new(3);
            let mut missed = 0;
            for _ in 0..RUNS {
                let mut counts = Pentanomial::default();
                let wrong = (0..1000).any(|_| {
                    law.draw(&mut counts, &mut random);
                    // The ends themselves are not needed: the test is if the truth is excluded.
                    let up = counts.0.iter().zip(Pentanomial::SCORES).map(|(n, a)| (*n as f64, *a));
                    let down = up.clone().map(|(n, a)| (n, 1.0 - a));
                    ln_capital(up, truth) >= LN_ENOUGH || ln_capital(down, 1.0 - truth) >= LN_ENOUGH
                });
                missed += u32::from(wrong);
            }
            // 20 of 400 and three standard errors. The interval is not just wide: some are missed.
            assert!(missed <= 33, "{missed} of {RUNS} at {strength}");
            assert!(missed >= 1, "{missed} of {RUNS} at {strength}");
        }
    }

    #[test]
    fn a_plain_interval_that_is_watched_fails_where_this_holds() {
        // Pairs of equals, looked at after each: the plain interval misses the truth in far more
        // than 5 runs of 100.
        let mut random = SplitMix64::new(5);
        let mut missed = 0;
        for _ in 0..200 {
            let mut counts = Pentanomial::default();
            missed += u32::from((0..1000).any(|_| {
                Law::TYPICAL.draw(&mut counts, &mut random);
                let interval = elo::logistic(&counts).and_then(|estimate| estimate.interval);
                counts.pairs() > 20
                    && interval.is_some_and(|(low, high)| low > Elo::Finite(0.0) || high < Elo::Finite(0.0))
            }));
        }
        assert!(missed > 40, "{missed} of 200");
    }

    #[test]
    fn width_and_edges() {
        assert_eq!(elo(&Pentanomial::default()), (Elo::MinusInfinity, Elo::PlusInfinity));
        assert_eq!(score(&Trinomial::default()), (0.0, 1.0));
        let (low, high) = elo(&Pentanomial([0, 0, 0, 0, 100]));
        assert!(low > Elo::Finite(200.0) && high == Elo::PlusInfinity, "{low} {high}");
        for pairs in [1_000, 100_000, 10_000_000] {
            let counts = Pentanomial([5, 235, 520, 235, 5].map(|share| share * pairs / 1000));
            let (low, high) = score(&counts);
            let plain = 1.959_964 * (0.0319 / pairs as f64).sqrt();
            let ratio = (high - low) / (2.0 * plain);
            assert!((1.5..2.0).contains(&ratio), "{pairs}: {ratio} times the plain interval");
        }
    }

    proptest! {
        #[test]
        fn intervals_hold_the_score_and_mirror(
            counts in prop::array::uniform5(prop_oneof![Just(0), 0u64..4, 0u64..1_000_000, any::<u64>()]),
        ) {
            let pairs = Pentanomial(counts);
            let (low, high) = score(&pairs);
            prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
            if let Some(mean) = pairs.score() {
                prop_assert!(low <= mean + 1e-9 && mean <= high + 1e-9, "{low} {mean} {high}");
            }
            let (other_low, other_high) = score(&pairs.reversed());
            prop_assert!((low + other_high - 1.0).abs() < 1e-9 && (high + other_low - 1.0).abs() < 1e-9);
        }
    }
}
