//! Openings as clusters: the evidence in pairs if some begin from the same opening.
//!
//! Pairs of one opening resemble each other, because it may suit one of the engines, or lead to a
//! draw whatever they do. They are samples of the opening, and the openings are the independent
//! samples. The variance of the mean score is then that between openings. All pairs together are
//! worth their number over the design effect, in independent pairs.
//!
//! # Formula
//! Let opening `c` have `n_c` pairs whose scores add up to `s_c`, with `N` pairs and `C` openings
//! in all and the mean score `m`. The cluster-robust variance of the mean is `C/(C - 1) sum (s_c -
//! n_c m)^2 / N^2` (Liang and Zeger; section 2 of Cameron and Miller). That of independent pairs is
//! `N/(N - 1) sum (x - m)^2 / N^2`. Their ratio is the design effect. For openings of `n` pairs
//! with the correlation `r` it is Kish's `1 + (n - 1) r`; it also holds for openings with unequal
//! numbers of pairs. Few openings give a poor estimate of their scatter. So the ratio is multiplied
//! by the square of the quantile of Student's distribution with `C - 1` degrees of freedom over the
//! normal one (Cameron and Miller, section 6). The effect is never below 1, and it is 1 as long as
//! no opening was repeated. It is 1 for a single opening as well, because the question is then
//! which engine is stronger from just that position.
//!
//! The variance within openings is not used. An effect from the correlation by an analysis of
//! variance needs it, supposes one correlation for all openings, and knows nothing of their number:
//! of six to twelve openings, its intervals of 95 % cover 87 to 94 % where those of this ratio
//! cover 93 to 96 % (simulated, eight pairs from each).
//!
//! # Sources
//! L. Kish, "Survey Sampling" (1965), section 5.4; K.-Y. Liang, S. L. Zeger, "Longitudinal data
//! analysis using generalized linear models" (1986); A. C. Cameron, D. L. Miller, "A practitioner's
//! guide to cluster-robust inference", J. Human Resources 50 (2015).

use std::collections::HashMap;

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::Counts;
use super::elo::Z_95;

/// Counts of samples that come in clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusteredCounts<C> {
    counts: C,
    effect: f64,
}

impl<C: Counts> ClusteredCounts<C> {
    /// The counts themselves.
    #[must_use]
    pub const fn counts(&self) -> &C {
        &self.counts
    }

    /// Counts with the design effect of their clusters, taken as 1 if it is less or NaN.
    #[must_use]
    pub fn new(counts: C, effect: f64) -> Self {
        Self { counts, effect: effect.max(1.0) }
    }
}

impl<C: Counts> Counts for ClusteredCounts<C> {
    const SCORES: &'static [f64] = C::SCORES;
    const GAMES_PER_SAMPLE: u32 = C::GAMES_PER_SAMPLE;

    fn count(&self, class: usize) -> u64 {
        self.counts.count(class)
    }

    fn design_effect(&self) -> f64 {
        self.effect
    }
}

/// Pairs of two players by opening.
///
/// All sums are of integers, so that they do not depend on the order of the pairs.
#[derive(Clone, Debug, Default)]
pub struct Openings {
    /// Pairs and their half points, by opening.
    clusters: HashMap<u64, (u64, u64)>,
    pairs: u64,
    half_points: u64,
    /// Pairs that repeat others move for move.
    repeats: u64,
    /// Sum over single pairs of the squared half points.
    squares: u64,
    /// Sums over openings: squared pairs, squared half points, and their products.
    of_pairs: u128,
    of_points: u128,
    products: u128,
}

impl Openings {
    /// Records a pair with the half points, 0 to 4, of one of the players, from the opening of this
    /// key.
    pub fn record(&mut self, opening: u64, half_points: u8) {
        let points = u64::from(half_points.min(4));
        let (pairs, sum) = self.clusters.entry(opening).or_default();
        let squares = |pairs: u64, sum: u64| {
            let (pairs, sum) = (u128::from(pairs), u128::from(sum));
            [pairs * pairs, sum * sum, pairs * sum]
        };
        let before = squares(*pairs, *sum);
        (*pairs, *sum) = (*pairs + 1, *sum + points);
        let after = squares(*pairs, *sum);
        for (into, place) in [&mut self.of_pairs, &mut self.of_points, &mut self.products].into_iter().zip(0..) {
            *into += after[place] - before[place];
        }
        self.pairs += 1;
        self.half_points += points;
        self.squares += points * points;
    }

    /// Records a pair that repeats another one of this opening move for move. All pairs together
    /// then weigh no more than the different ones, even if their scores do not vary.
    pub fn record_repeat(&mut self, opening: u64, half_points: u8) {
        self.record(opening, half_points);
        self.repeats += 1;
    }

    /// Number of pairs.
    #[must_use]
    pub const fn pairs(&self) -> u64 {
        self.pairs
    }

    /// Number of openings.
    #[must_use]
    pub fn openings(&self) -> u64 {
        self.clusters.len() as u64
    }

    /// Mean number of pairs of an opening, at least 1.
    #[must_use]
    pub fn pairs_per_opening(&self) -> f64 {
        self.pairs as f64 / self.openings().max(1) as f64
    }

    /// Returns true once an opening was played by more than one pair.
    #[must_use]
    pub fn is_repeated(&self) -> bool {
        self.pairs > self.openings()
    }

    /// Ratio of the variance of the mean score to that of independent pairs, at least 1, with
    /// Student's allowance for few openings: the square by which intervals widen.
    #[must_use]
    pub fn design_effect(&self) -> f64 {
        self.effect(|| stretch(self.openings() as f64 - 1.0))
    }

    /// The same ratio without that allowance: the factor by which there are fewer pairs.
    #[must_use]
    pub fn clustering(&self) -> f64 {
        self.effect(|| 1.0)
    }

    fn effect(&self, allowance: impl Fn() -> f64) -> f64 {
        let different = self.pairs.saturating_sub(self.repeats).max(1);
        let clustering = self.variance_ratio().map_or(1.0, |ratio| ratio * allowance());
        clustering.max(self.pairs as f64 / different as f64).max(1.0)
    }

    /// Correlation of the scores of two pairs of one opening, 0 to 1 (a negative estimate is taken
    /// as 0): Kish's `r` of the ratio of the variances. `None` if no opening was repeated, if there
    /// is only one, or if all scores are equal.
    #[must_use]
    pub fn correlation(&self) -> Option<f64> {
        let pairs_per_opening = self.of_pairs as f64 / self.pairs as f64;
        self.variance_ratio().map(|ratio| ((ratio - 1.0) / (pairs_per_opening - 1.0)).clamp(0.0, 1.0))
    }

    /// Variance of the mean score between openings over that of independent pairs; `None` as in
    /// [`correlation`](Self::correlation).
    fn variance_ratio(&self) -> Option<f64> {
        let openings = self.openings();
        if !self.is_repeated() || openings < 2 {
            return None;
        }
        let (pairs, openings) = (self.pairs as f64, openings as f64);
        let mean = self.half_points as f64 / pairs;
        let single = (self.squares as f64 - pairs * mean * mean) * pairs / (pairs - 1.0);
        let between = self.of_points as f64 - 2.0 * mean * self.products as f64 + mean * mean * self.of_pairs as f64;
        let between = between.max(0.0) * openings / (openings - 1.0);
        // Equal scores have no scatter that could cluster; the remainder is rounding.
        (single > pairs * 1e-12).then(|| between / single)
    }
}

/// The square of Student's 95 % quantile over the normal one's.
fn stretch(freedom: f64) -> f64 {
    let quantile = StudentsT::new(0.0, 1.0, freedom).map_or(Z_95, |law| law.inverse_cdf(0.975));
    (quantile / Z_95).powi(2)
}

#[cfg(test)]
mod tests {
    use super::super::random::SplitMix64;
    use super::super::simulate::Law;
    use super::super::sprt::{Bounds, Model, Sprt, Verdict};
    use super::super::{Pentanomial, elo, sequence, unbiased};
    use super::*;
    use proptest::prelude::*;

    fn openings(pairs: &[(u64, u8)]) -> Openings {
        let mut openings = Openings::default();
        pairs.iter().for_each(|(opening, half_points)| openings.record(*opening, *half_points));
        openings
    }

    #[test]
    fn repeats_weigh_nothing() {
        // One opening, and two: won each time, as by deterministic engines.
        for count in [1, 2] {
            let mut openings = openings(&(0..count).map(|opening| (opening, 4)).collect::<Vec<_>>());
            assert!((openings.design_effect() - 1.0).abs() < 1e-12);
            (0..18).for_each(|time| openings.record_repeat(time % count, 4));
            let worth = openings.pairs() as f64 / openings.design_effect();
            assert!((worth - count as f64).abs() < 1e-9, "{worth}");
        }
    }

    #[test]
    fn the_effect_is_the_ratio_of_the_variances() {
        // By hand: scores 4, 4, 0, 0, 2, 2 have the mean 2 and 16 as the sum of squares, openings
        // (8 - 4)^2 + (0 - 4)^2 + 0 = 32.
        let alike = [(0, 4), (0, 4), (1, 0), (1, 0), (2, 2), (2, 2)];
        let expected = (32.0 * 3.0 / 2.0) / (16.0 * 6.0 / 5.0) * stretch(2.0);
        assert!((openings(&alike).clustering() - expected / stretch(2.0)).abs() < 1e-9);
        assert!((openings(&alike).design_effect() - expected).abs() < 1e-12);
        // 4.3027 is Student's quantile with two degrees of freedom.
        assert!((stretch(2.0) - (4.302_653 / Z_95).powi(2)).abs() < 1e-4 && stretch(1e6) - 1.0 < 1e-5);
        for (pairs, why) in [
            (&[(0, 4), (1, 0), (2, 2)][..], "no opening came twice"),
            (&[(0, 4), (0, 0), (0, 2)], "one opening alone"),
            (&[(0, 2), (0, 2), (1, 2), (1, 2)], "all scores are alike"),
            (&[(0, 4), (0, 0), (1, 4), (1, 0)], "openings are more alike than their pairs"),
            (&[], "nothing was played"),
        ] {
            assert_eq!(openings(pairs).design_effect().to_bits(), 1f64.to_bits(), "{why}");
        }
    }

    #[test]
    fn games_played_again_are_worth_nothing() {
        // 500 openings, then each of them four times with the same result: Kish's effect is the
        // number of times.
        let mut random = SplitMix64::new(4);
        let once: Vec<(u64, u8)> = (0..500).map(|opening| (opening, random.below(5) as u8)).collect();
        let effect = openings(&once.repeat(4)).design_effect();
        assert!((effect / 4.0 - 1.0).abs() < 0.01, "{effect}");
    }

    /// Share of matches whose 95 % interval holds the truth, an equal score. Each match has `book`
    /// openings, which favour one side by `favour` Elo, and `pairs` pairs in laps of the book.
    fn coverage(book: u64, pairs: u64, favour: f64, random: &mut SplitMix64) -> f64 {
        const MATCHES: u32 = 1_000;
        let laws = [-favour, favour].map(|elo| Law::TYPICAL.leaned(elo, Model::Logistic));
        let holds_truth = |random: &mut SplitMix64| {
            let favours: Vec<&Law> = (0..book).map(|_| &laws[random.below(2) as usize]).collect();
            let (mut counts, mut openings) = (Pentanomial::default(), Openings::default());
            for (pair, law) in (0..pairs).zip(favours.iter().cycle()) {
                let half_points = law.draw_half_points(random);
                counts.0[usize::from(half_points)] += 1;
                openings.record(pair % book, half_points);
            }
            let estimate = elo::logistic(&ClusteredCounts::new(counts, openings.design_effect()));
            let ends = estimate.and_then(|estimate| estimate.interval).expect("scores that vary");
            [ends.0, ends.1].map(|end| end.finite().expect("a middling score")).map(f64::signum) == [-1.0, 1.0]
        };
        f64::from((0..MATCHES).map(|_| u32::from(holds_truth(random))).sum::<u32>()) / f64::from(MATCHES)
    }

    #[test]
    fn intervals_cover_as_they_claim() {
        let mut random = SplitMix64::new(7);
        // Whole laps and a begun one; openings that favour nobody, a little, and much.
        for (book, pairs) in [(8, 64), (12, 101), (40, 200)] {
            for favour in [0.0, 40.0, 120.0] {
                let covered = coverage(book, pairs, favour, &mut random);
                // Three standard errors of 1,000 matches are 2.1 %. Eight openings of two kinds
                // cover 94 %, because all may favour one side.
                assert!((0.92..0.99).contains(&covered), "{book} openings, {pairs} pairs, {favour} Elo: {covered}");
            }
        }
    }

    #[test]
    fn pairs_of_one_opening_that_resemble_each_other() {
        // Played once each, one opening only, nothing that varies.
        for pairs in [&[(0, 2), (1, 3)][..], &[(0, 2), (0, 3)], &[(0, 2), (0, 2), (1, 2), (1, 2)], &[]] {
            assert_eq!(openings(pairs).correlation(), None);
        }
        let near = |one: f64, other: f64| assert!((one - other).abs() < 0.01, "{one}, not {other}");
        // All pairs of an opening alike: five times as many pairs say nothing more.
        let alike: Vec<(u64, u8)> = (0..500).map(|opening| (opening, (opening % 3) as u8)).collect();
        near(openings(&alike.repeat(5)).correlation().expect("openings came again"), 1.0);
        near(openings(&alike.repeat(5)).design_effect() / 5.0, 1.0);
        // A variance of 2/3 between openings and one of 1 within: a correlation of 2/5.
        let mut random = SplitMix64::new(3);
        let mut random_openings = Openings::default();
        for opening in 0..20_000 {
            let middle = 1 + random.below(3);
            (0..4).for_each(|_| random_openings.record(opening, (middle + 2 * random.below(2) - 1) as u8));
        }
        let correlation = random_openings.correlation().expect("openings came again");
        near(correlation, 0.4);
        near(random_openings.design_effect() / (1.0 + 3.0 * correlation), 1.0);
    }

    /// A test of openings that favour one side, drawn at random, on average neither side. Returns
    /// true if H1 was accepted, with and without the clusters.
    fn accepts(sprt: &Sprt, laws: &[Law], book: u32, random: &mut SplitMix64) -> [bool; 2] {
        const LAPS: u32 = 30;
        let favours: Vec<Law> = (0..book).map(|_| laws[random.below(2) as usize]).collect();
        let (mut counts, mut openings) = (Pentanomial::default(), Openings::default());
        let mut verdicts = [Verdict::Continue; 2];
        for pair in 0..LAPS * book {
            let opening = pair % book;
            let before = counts;
            favours[opening as usize].draw(&mut counts, random);
            let class = (0..5).position(|class| counts.0[class] > before.0[class]).unwrap_or(0);
            openings.record(opening.into(), class as u8);
            if pair % 5 == 0 {
                let ratios = [sprt.llr(&ClusteredCounts::new(counts, openings.design_effect())), sprt.llr(&counts)];
                for (verdict, llr) in verdicts.iter_mut().zip(ratios) {
                    if *verdict == Verdict::Continue {
                        *verdict = sprt.verdict_at(llr);
                    }
                }
            }
            if verdicts[0] != Verdict::Continue && verdicts[1] != Verdict::Continue {
                break;
            }
        }
        verdicts.map(|verdict| verdict == Verdict::AcceptH1)
    }

    #[test]
    fn a_small_book_keeps_the_error_rate() {
        const RUNS: u32 = 400;
        let sprt = Sprt::new(Bounds { elo0: 0.0, elo1: 16.0 }, Model::Logistic, 0.05, 0.05).expect("a sound test");
        let laws = [-60.0, 60.0].map(|elo| Law::TYPICAL.leaned(elo, Model::Logistic));
        let mut random = SplitMix64::new(11);
        let (mut clustered, mut plain) = (0, 0);
        for _ in 0..RUNS {
            let [with, without] = accepts(&sprt, &laws, 80, &mut random);
            clustered += u32::from(with);
            plain += u32::from(without);
        }
        let share = |count: u32| f64::from(count) / f64::from(RUNS);
        let (clustered, plain) = (share(clustered), share(plain));
        // Three standard errors of 400 tests at 5 % are 3.3 %. Taken as independent, the same pairs
        // err far more often.
        assert!((0.01..0.083).contains(&clustered) && plain > 0.12, "{clustered} with clusters, {plain} without");
    }

    #[test]
    fn errors_and_ratios_know_the_effect() {
        let counts = Pentanomial([10, 120, 300, 150, 20]);
        let wide = ClusteredCounts::new(counts, 4.0);
        let error = |estimate: Option<elo::Estimate>| estimate.and_then(|estimate| estimate.error()).expect("finite");
        assert!((error(elo::logistic(&wide)) / error(elo::logistic(&counts)) - 2.0).abs() < 0.01);
        assert!((error(elo::normalized(&wide)) / error(elo::normalized(&counts)) - 2.0).abs() < 1e-9);
        let [narrow, broad] = [sequence::score(&counts), sequence::score(&wide)].map(|(low, high)| high - low);
        assert!(broad > 1.5 * narrow);
        // Twenty won pairs of two openings are worth two.
        let won = Pentanomial([0, 0, 0, 0, 20]);
        assert_eq!(elo::superiority(&ClusteredCounts::new(won, 10.0)), Some(0.875));
        let sprt = Sprt::new(Bounds { elo0: 0.0, elo1: 5.0 }, Model::Normalized, 0.05, 0.05).expect("a sound test");
        assert!((sprt.llr(&wide) * 4.0 - sprt.llr(&counts)).abs() < 1e-9);
        assert_eq!(wide.effective_samples(), 150.0);
    }

    proptest! {
        #[test]
        fn without_repeats_every_figure_is_the_same_bit_for_bit(
            scores in prop::collection::vec(0u8..5, 1..200), effect in -1.0..1.0f64,
        ) {
            let pairs: Vec<(u64, u8)> = (0..).zip(scores).collect();
            let mut counts = Pentanomial::default();
            pairs.iter().for_each(|(_, score)| counts.0[usize::from(*score)] += 1);
            prop_assert_eq!(openings(&pairs).design_effect().to_bits(), 1f64.to_bits());
            let clustered = ClusteredCounts::new(counts, openings(&pairs).design_effect());
            // An effect below 1 would create evidence from nothing.
            prop_assert_eq!(ClusteredCounts::new(counts, effect), clustered);
            let sprt = Sprt::new(Bounds { elo0: 0.0, elo1: 50.0 }, Model::Normalized, 0.05, 0.05).expect("a sound test");
            prop_assert_eq!(sprt.llr(&clustered).to_bits(), sprt.llr(&counts).to_bits());
            prop_assert_eq!(sprt.expected_remaining(&clustered), sprt.expected_remaining(&counts));
            prop_assert_eq!(elo::logistic(&clustered), elo::logistic(&counts));
            prop_assert_eq!(elo::normalized(&clustered), elo::normalized(&counts));
            prop_assert_eq!(elo::superiority(&clustered), elo::superiority(&counts));
            prop_assert_eq!(elo::is_within(&clustered, 30.0), elo::is_within(&counts, 30.0));
            prop_assert_eq!(sequence::elo(&clustered), sequence::elo(&counts));
            prop_assert_eq!(unbiased::after(&sprt, &clustered), unbiased::after(&sprt, &counts));
        }
    }
}
