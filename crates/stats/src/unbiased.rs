//! Strength after a sequential test: the estimate that stopping does not bias.
//!
//! A test that stops at a high ratio stops on luck as well as on strength. So the plain estimate is
//! too high after H1 and too low after H0, and its interval covers too little. Here outcomes are
//! ordered instead (the stage-wise order): the quicker a failure the worse; then tests without a
//! verdict, by their ratio; then passes, the slower the worse. The estimate is the strength at
//! which a better outcome than the observed one is as likely as a worse one. The interval holds the
//! strengths at which the outcome is not among the 2.5 % best or worst. The likelihood of
//! superiority is the probability of a worse outcome between equals.
//!
//! The log-likelihood ratio is taken for a Brownian motion. Its drift and variance are those of the
//! ratio's steps under the distribution that is most likely at that strength (`likelihood`), with
//! Siegmund's correction for steps over the bounds (`exit`). A ratio beyond a bound has reached it
//! earlier. That time is a proportion of the sample, as in fishtest (T = N * bound / LLR), with the
//! mean step over the bound added to the bound. The estimate takes it as it is, so the number of
//! samples is not corrected a second time. For the interval, outcomes within a sample of this one
//! count with the tail that widens it.
//!
//! A test without a verdict is treated as one that was to end after that number of samples. That is
//! exact if pairs ran out, and holds for a stop by the clock or by hand as long as results had no
//! part in it. A stop that depends on the results needs [`super::sequence`].
//!
//! The approximation costs little. In simulated tests of some thousand pairs (bounds of 10 Elo) 50
//! % of the estimates were above the truth and 95.5 % of the intervals held it. Plain estimates
//! were too high in 66 %, and their intervals held the truth in 88 to 92 %. In tests of about 20
//! pairs, between engines 320 Elo apart, 50 to 55 % were above. Tests of a few dozen pairs, which
//! must estimate the variance as well, get intervals that are too wide: they held the truth in 97
//! to 100 %. If nearly all pairs are level, strengths far from the samples rest on results
//! that hardly occurred. An end of the interval beyond that of the interval for all times
//! ([`super::sequence`]), which needs no motion, is replaced by it.
//!
//! Sources: D. Siegmund, "Estimation following sequential tests", Biometrika 65 (1978); A. A.
//! Tsiatis, G. L. Rosner, C. R. Mehta, "Exact confidence intervals following a group sequential
//! test", Biometrics 40 (1984), for the order; M. Van den Bergh's analysis in fishtest's
//! `stats/sprt.py`, which has the same order for a motion with steps linear in the score.

use super::clusters::ClusteredCounts;
use super::elo::{self, Elo, Estimate};
use super::exit::BoundedMotion;
use super::likelihood::{LogRatios, ObservedShares};
use super::sequence;
use super::sprt::{Model, Sprt, Verdict, expected_score};
use super::{Counts, Pentanomial, Trinomial};

/// Largest strength in Elo that is considered; an end of an interval beyond it is infinite.
const REACH: f64 = 2_000.0;

/// Estimates after the end of a test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdjustedEstimates {
    /// Median-unbiased logistic Elo with its 95 % interval, which always exists; an end beyond
    /// +-2000 Elo is infinite.
    pub elo: Estimate,
    /// Likelihood of superiority, `0.0..=1.0`; never more certain than [`elo::superiority`] can be.
    pub los: f64,
}

/// The estimates after a test that ended at `counts`, with a verdict or without; `None` without
/// samples.
///
/// The caller must know that the test is over: the same figures of a running test are biased.
#[must_use]
pub fn after<C: Counts>(sprt: &Sprt, counts: &C) -> Option<AdjustedEstimates> {
    let observed = ObservedShares::new(counts)?;
    let (low, high) = sprt.fits::<C>(&observed);
    let step = observed.ratio(&high, &low);
    let llr = observed.total() * step.mean;
    let verdict = sprt.verdict_at(llr);
    let samples = counts.effective_samples();
    let motion = bounded(sprt, step.mean, step.variance);
    let time = match verdict {
        Verdict::AcceptH1 => samples * motion.above / llr,
        Verdict::AcceptH0 => samples * motion.below / -llr,
        Verdict::Continue => samples,
    };
    let outcome = StoppedTest { sprt, observed, low, high, verdict, llr, time };
    let is_pass = f64::from(u8::from(verdict == Verdict::AcceptH1));
    // The time is that of the crossing, so only the interval adds outcomes within a sample of it.
    let value = outcome.strength(0.5, 0.0);
    let (low, high) = (outcome.strength(0.975, 1.0 - is_pass), outcome.strength(0.025, is_pass));
    let (least, most) = sequence::elo(counts);
    let inside = |end: Elo| {
        if end < least {
            least
        } else if end > most {
            most
        } else {
            end
        }
    };
    let (value, low, high) = (inside(value), inside(low), inside(high));
    let doubt = elo::doubt(counts);
    let los = outcome.worse(0.0, 0.0).clamp(doubt, 1.0 - doubt);
    Some(AdjustedEstimates { elo: Estimate { value, interval: Some((low, high)) }, los })
}

/// The estimates [`after`] a test, by what its model counts: games for the Bayesian one, pairs for
/// the others.
#[must_use]
pub fn after_test(
    sprt: &Sprt,
    pairs: &ClusteredCounts<Pentanomial>,
    games: &ClusteredCounts<Trinomial>,
) -> Option<AdjustedEstimates> {
    match sprt.model() {
        Model::Normalized | Model::Logistic => after(sprt, pairs),
        Model::Bayesian => after(sprt, games),
    }
}

/// The motion of a test's ratio with this drift and variance per sample.
fn bounded(sprt: &Sprt, drift: f64, variance: f64) -> BoundedMotion {
    BoundedMotion { drift, variance, below: -sprt.lower(), above: sprt.upper() }.stepped()
}

/// A test that is over.
struct StoppedTest<'a> {
    sprt: &'a Sprt,
    observed: ObservedShares,
    low: LogRatios,
    high: LogRatios,
    verdict: Verdict,
    llr: f64,
    /// Samples until the bound was reached, or all of them without a verdict.
    time: f64,
}

impl StoppedTest<'_> {
    /// Probability of a worse outcome at this Elo, which falls as the Elo rises. Outcomes at least
    /// `sooner` samples before this one count as quicker.
    fn worse(&self, elo: f64, sooner: f64) -> f64 {
        let law = self.observed.under_mean(expected_score(elo));
        let step = self.observed.ratio_under(&law, &self.high, &self.low);
        let motion = bounded(self.sprt, step.mean, step.variance);
        let time = self.time - sooner;
        match self.verdict {
            Verdict::AcceptH1 => 1.0 - motion.above_by(time),
            Verdict::AcceptH0 => motion.below_by(time),
            Verdict::Continue => motion.below_by(self.time) + motion.open_below(self.time, self.llr),
        }
    }

    /// The Elo at which a worse outcome has this probability.
    fn strength(&self, probability: f64, sooner: f64) -> Elo {
        let (mut low, mut high) = (-REACH, REACH);
        if self.worse(low, sooner) < probability {
            return Elo::MinusInfinity;
        }
        if self.worse(high, sooner) > probability {
            return Elo::PlusInfinity;
        }
        // 4000 Elo halved 32 times are below 1e-6.
        for _ in 0..32 {
            let middle = f64::midpoint(low, high);
            if self.worse(middle, sooner) > probability {
                low = middle;
            } else {
                high = middle;
            }
        }
        Elo::Finite(f64::midpoint(low, high) + 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::random::SplitMix64;
    use super::super::simulate::Law;
    use super::super::sprt::Bounds;
    use super::*;
    use proptest::prelude::*;

    fn test(elo0: f64, elo1: f64, model: Model) -> Sprt {
        Sprt::new(Bounds { elo0, elo1 }, model, 0.05, 0.05).expect("a sound test")
    }

    /// Estimates of simulated tests at a known strength: the shares that lie above it and of
    /// intervals that hold it, and the same for the plain estimate.
    fn play(sprt: &Sprt, law: &Law, max_pairs: u64, runs: u32) -> [f64; 4] {
        let truth = law.elo(Model::Logistic);
        let mut random = SplitMix64::new(7);
        let mut seen = [0u32; 4];
        for _ in 0..runs {
            let counts = law.play(sprt, max_pairs, 1, &mut random).0;
            let (fair, plain) = (after(sprt, &counts).expect("pairs").elo, elo::logistic(&counts).expect("pairs"));
            for (place, estimate) in [(0, fair), (2, plain)] {
                let holds = |(low, high)| low <= Elo::Finite(truth) && Elo::Finite(truth) <= high;
                seen[place] += u32::from(estimate.value > Elo::Finite(truth));
                // Pairs of one class have no plain interval.
                seen[place + 1] += u32::from(estimate.interval.is_none_or(holds));
            }
        }
        seen.map(|seen| f64::from(seen) / f64::from(runs))
    }

    #[test]
    fn simulated_tests_are_estimated_without_bias() {
        const RUNS: u32 = 250;
        // Three standard errors of this many tests, and one in a hundred for the approximation.
        let tolerance = |share: f64| 3.0 * (share * (1.0 - share) / f64::from(RUNS)).sqrt() + 0.01;
        for (bounds, model, strength) in [
            ((0.0, 40.0), Model::Normalized, 40.0),
            ((0.0, 40.0), Model::Logistic, 20.0),
            ((-20.0, 20.0), Model::Logistic, 45.0),
        ] {
            let sprt = test(bounds.0, bounds.1, model);
            let law = Law::TYPICAL.leaned(strength, model);
            let [above, held, plain_above, plain_held] = play(&sprt, &law, u64::MAX, RUNS);
            let what = format!(
                "{bounds:?} {model} at {strength}: {above} above, {held} held; plain {plain_above}, {plain_held}"
            );
            assert!((above - 0.5).abs() < tolerance(0.5), "{what}");
            // Tests as short as these get intervals that are too wide.
            assert!(held > 0.95 - tolerance(0.95), "{what}");
            if model == Model::Normalized {
                // The purpose of the method: at the upper hypothesis the plain estimate is mostly
                // too high.
                assert!(plain_above > 0.6 && plain_held < 0.93, "{what}");
            }
        }
    }

    #[test]
    fn short_tests_of_strong_effects_are_estimated_without_bias() {
        const RUNS: u32 = 1_000;
        let tolerance = |share: f64| 3.0 * (share * (1.0 - share) / f64::from(RUNS)).sqrt() + 0.01;
        let sprt = test(0.0, 50.0, Model::Normalized);
        // About 20 pairs between engines 320 Elo apart, and short tests that stop at H0.
        let strong = Law::of_counts(&Pentanomial([0, 1, 1, 6, 12])).expect("pairs");
        for law in [strong, Law::TYPICAL.leaned(-200.0, Model::Normalized)] {
            let [above, held, ..] = play(&sprt, &law, u64::MAX, RUNS);
            let what = format!("{law:?}: {above} above, {held} held");
            assert!((above - 0.5).abs() < tolerance(0.5) && held > 0.95 - tolerance(0.95), "{what}");
        }
        // With a further half sample subtracted the estimate was 344.3, above the plain 319.0.
        let counts = Pentanomial([0, 1, 1, 6, 12]);
        let found = after(&sprt, &counts).expect("pairs").elo.value.finite().expect("finite");
        assert!((found - 316.8).abs() < 0.1, "{found}");
    }

    #[test]
    fn a_test_cut_short_is_estimated_without_bias() {
        const RUNS: u32 = 250;
        let tolerance = |share: f64| 3.0 * (share * (1.0 - share) / f64::from(RUNS)).sqrt() + 0.01;
        // All of the first tests run out of pairs, of the others about half, and a fifth.
        for (elo1, strength, max_pairs) in [(5.0, 30.0, 100), (40.0, 40.0, 200), (40.0, 0.0, 300)] {
            let sprt = test(0.0, elo1, Model::Normalized);
            let law = Law::TYPICAL.leaned(strength, Model::Normalized);
            let [above, held, ..] = play(&sprt, &law, max_pairs, RUNS);
            let what = format!("[0, {elo1}] at {strength}, {max_pairs} pairs: {above} above, {held} held");
            assert!((above - 0.5).abs() < tolerance(0.5), "{what}");
            assert!(held > 0.95 - tolerance(0.95), "{what}");
        }
    }

    #[test]
    fn far_beyond_a_bound_the_plain_estimate_is_met() {
        // A match of fixed length, taken for a test: its ratio crossed the bound long before its
        // end.
        let counts = Pentanomial([60, 4100, 10000, 5700, 140]);
        let after = after(&test(0.0, 5.0, Model::Normalized), &counts).expect("pairs");
        let (found, plain) = (after.elo.value.finite().expect("finite"), elo::logistic(&counts).expect("pairs"));
        let plain = plain.value.finite().expect("finite");
        // Before the time was scaled: 1.79 for 15.3.
        assert!((plain - 15.3).abs() < 0.1 && (found - plain).abs() < 3.0, "{found} for {plain}");
        assert!(after.los > 0.999, "{after:?}");
    }

    #[test]
    fn level_pairs_tell_what_they_tell_at_any_time() {
        let sprt = test(0.0, 5.0, Model::Normalized);
        for counts in [Pentanomial([0, 0, 500, 0, 0]), Pentanomial([0, 0, 1, 0, 0]), Pentanomial([0, 0, 0, 0, 5])] {
            let found = after(&sprt, &counts).expect("pairs");
            let ((least, most), (low, high)) = (sequence::elo(&counts), found.elo.interval.expect("always"));
            assert!(least <= low && high <= most, "{counts:?}: {found:?}, not within {least:?} and {most:?}");
            let bound = elo::superiority(&counts).unwrap_or(1.0);
            assert!(found.los <= bound, "{counts:?}: {found:?} above {bound}");
        }
    }

    #[test]
    fn superiority_is_that_of_the_order() {
        let sprt = test(0.0, 5.0, Model::Normalized);
        let table = [
            // Level results, one side ahead without a verdict, one won pair, a verdict for H1, one
            // for H0.
            (Pentanomial([34, 54, 63, 54, 34]), 0.499..0.501),
            (Pentanomial([34, 54, 63, 64, 45]), 0.8..0.99),
            (Pentanomial([0, 0, 0, 0, 1]), 0.5..0.95),
            (Pentanomial([379, 10170, 21828, 10800, 400]), 0.95..1.0),
            (Pentanomial([500, 12000, 25000, 11900, 480]), 0.0..0.5),
        ];
        for (counts, expected) in table {
            let found = after(&sprt, &counts).expect("pairs");
            assert!(expected.contains(&found.los), "{counts:?}: {found:?}");
            let mirrored = Sprt::new(Bounds { elo0: -5.0, elo1: 0.0 }, Model::Normalized, 0.05, 0.05).expect("sound");
            let other = after(&mirrored, &counts.reversed()).expect("pairs");
            assert!((found.los + other.los - 1.0).abs() < 1e-6, "{counts:?}: {found:?} {other:?}");
        }
        assert_eq!(after(&sprt, &Pentanomial::default()), None);
    }

    proptest! {
        #[test]
        fn estimates_lie_in_their_intervals(
            counts in prop::array::uniform5(prop_oneof![Just(0), 0u64..50, 0u64..100_000, any::<u64>()]),
            elo0 in -100.0..100.0f64,
            width in 0.1..100.0f64,
            model in prop::sample::select(Model::ALL.to_vec()),
        ) {
            let sprt = test(elo0, elo0 + width, model);
            let games = Trinomial { wins: counts[0], draws: counts[1], losses: counts[2] };
            for AdjustedEstimates { elo: estimate, los } in [after(&sprt, &Pentanomial(counts)), after(&sprt, &games)].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&los), "{los}");
                let (low, high) = estimate.interval.expect("always");
                prop_assert!(low <= estimate.value && estimate.value <= high, "{estimate:?}");
                for elo in [low, estimate.value, high] {
                    prop_assert!(elo.finite().is_none_or(f64::is_finite), "{estimate:?}");
                }
            }
        }
    }
}
