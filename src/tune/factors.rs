//! Many switches in one match: which of an engine's on/off choices gain, and by how much.
//!
//! In every pair each switch is on for a randomly chosen side and off for the other. So each pair
//! is informative about every switch, and the error of an effect hardly depends on the number of
//! switches. It is 174 Elo over the root of the pairs, at a variance of 1.
//!
//! The effects are those of a ridge regression over all pairs. Its penalty takes an effect to be of
//! the order of ten Elo and keeps it defined if there are more switches than pairs. It also draws
//! effects to zero, so each is divided by the share of itself that the fit returns. Errors come
//! from the pairs' own residuals (White's sandwich, each pair a cluster), p-values are corrected by
//! Holm.
//!
//! Sources: A. E. Hoerl, R. W. Kennard, "Ridge regression", Technometrics 12 (1970); H. White, "A
//! heteroskedasticity-consistent covariance matrix estimator", Econometrica 48 (1980); S. Holm, "A
//! simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979).

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, Normal};

use super::auto::{Purpose, Vectors};
use super::calibrate::PER_ELO;
use super::draws::{PairDraws, Signs};
use super::lag::LAG;
use super::space::{Param, Space};
use crate::stats::dense::Symmetric;
use crate::stats::elo::Z_95;
use crate::stats::explain::holm;

/// Deviation of effects in Elo that the penalty stands for.
const EFFECT_DEVIATION: f64 = 10.0;

/// Variance of a pair's wins minus losses that the penalty is made for, and that level pairs alone
/// are taken to have.
const VARIANCE: f64 = 1.0;

/// Significance level: largest corrected p-value of an effect that counts as found, a probability.
pub const LEVEL: f64 = 0.05;

/// Error in Elo that an effect will have after `pairs`, if wins minus losses of a pair have a
/// variance of 1.
#[must_use]
pub fn foreseen_error95(pairs: u64) -> f64 {
    Z_95 / PER_ELO / (pairs.max(1) as f64).sqrt()
}

/// Switches of a pair's first side that are on, as signs; its second side has the others on.
#[must_use]
fn thrown(seed: u64, pair: u64, switches: usize) -> Signs {
    PairDraws::new(seed, pair, switches).0
}

/// Pairs so far, and sums over them.
#[derive(Clone, Debug)]
pub struct Factors {
    /// Switches thrown in each pair, and its wins minus losses.
    pairs: Vec<(Signs, i8)>,
    switches: usize,
    /// Sums of the products of two signs: the lower triangle by rows.
    products: Vec<Vec<i32>>,
    /// Sum of each sign times the result.
    leads: Vec<i32>,
}

/// Effect of a switch: on against off, in Elo. The names are a contract of documents.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Effect {
    /// Estimate in Elo, positive if on is better.
    pub elo: f64,
    /// Half the width of its 95 % interval in Elo, for this switch alone.
    pub error95: f64,
    /// Two-sided p-value, corrected for the number of switches.
    pub p: f64,
}

impl Effect {
    /// True if on is found better, false if it is found worse.
    #[must_use]
    pub fn verdict(&self) -> Option<bool> {
        (self.p <= LEVEL).then_some(self.elo > 0.0)
    }
}

impl Factors {
    /// A match without pairs yet.
    #[must_use]
    pub fn new(switches: usize) -> Self {
        let products = (1..=switches).map(|len| vec![0; len]).collect();
        Self { pairs: Vec::new(), switches, products, leads: vec![0; switches] }
    }

    /// Takes a pair: its first side's switches, and its wins minus losses.
    pub fn record(&mut self, thrown: Signs, result: i8) {
        let result = result.clamp(-2, 2);
        for (sums, sign) in self.products.iter_mut().zip(thrown.iter()) {
            thrown.add_to(sums, sign as i32);
        }
        thrown.add_to(&mut self.leads, i32::from(result));
        self.pairs.push((thrown, result));
    }

    /// Effects of the switches in their order; `None` before a pair or without a switch.
    #[must_use]
    pub fn effects(&self) -> Option<Vec<Effect>> {
        if self.pairs.is_empty() || self.switches == 0 {
            return None;
        }
        // The sides differ in each switch: one sign is one effect's worth of difference.
        let penalty = VARIANCE / (PER_ELO * EFFECT_DEVIATION).powi(2);
        let mut information = symmetric(&self.products);
        (0..self.switches).for_each(|switch| information.add(switch, switch, penalty));
        let factor = information.factor(1e-12).ok()?;
        let right: Vec<f64> = self.leads.iter().copied().map(f64::from).collect();
        let effects = factor.solve(&right);
        // Residuals are small by what the fit took; the trace of the fit says how much that is.
        let inverse = factor.inverse();
        let taken: f64 = self.switches as f64 - penalty * (0..self.switches).map(|i| inverse.get(i, i)).sum::<f64>();
        let pairs = self.pairs.len() as f64;
        let correction = pairs / (pairs - taken).max(1.0);
        let middle = self.middle(&effects);
        let sides: Vec<Vec<f64>> = (0..self.switches).map(|i| inverse.row(i).to_vec()).collect();
        let error = |switch: usize| {
            let side = &sides[switch];
            let inner = (0..self.switches)
                .map(|i| side[i] * middle.row(i).iter().zip(side).map(|(entry, other)| entry * other).sum::<f64>());
            (correction * inner.sum::<f64>()).max(0.0).sqrt()
        };
        let errors: Vec<f64> = (0..self.switches).map(error).collect();
        let normal = Normal::standard();
        let p = |(effect, error): (&f64, &f64)| {
            if *error > 0.0 { 2.0 * normal.sf(effect.abs() / error) } else { 1.0 }
        };
        let corrected = holm(&effects.iter().zip(&errors).map(p).collect::<Vec<_>>());
        let effect = |switch: usize| {
            // What the penalty leaves of the switch's own effect: above 0, for every pair has it.
            let share = (1.0 - penalty * inverse.get(switch, switch)).max(f64::EPSILON);
            let elo = |value: f64| value / share / PER_ELO;
            Effect { elo: elo(effects[switch]), error95: Z_95 * elo(errors[switch]), p: corrected[switch] }
        };
        Some((0..self.switches).map(effect).collect())
    }

    /// Sum over the pairs of the products of their signs, each times the square of what `effects`
    /// leave of the pair's result.
    fn middle(&self, effects: &[f64]) -> Symmetric {
        // Level pairs alone say nothing about their variance.
        let is_level = self.pairs.iter().all(|(_, result)| *result == 0);
        // Added by rows of the lower triangle, which becomes vector code.
        let mut lower: Vec<_> = (1..=self.switches).map(|len| vec![0.0; len]).collect();
        let mut row = Vec::with_capacity(self.switches);
        for (signs, result) in &self.pairs {
            row.clear();
            row.extend(signs.iter());
            let fitted = row.iter().zip(effects).map(|(sign, effect)| sign * effect).sum::<f64>();
            let square = if is_level { VARIANCE } else { (f64::from(*result) - fitted).powi(2) };
            for (sums, one) in lower.iter_mut().zip(&row) {
                let factor = square * one;
                sums.iter_mut().zip(&row).for_each(|(sum, other)| *sum += factor * other);
            }
        }
        symmetric(&lower)
    }
}

/// Run of randomised switches, in blocks like every tuning: a parameter's lowest value is off, its
/// highest on.
///
/// The fold of its results in the order of its pairs.
#[derive(Clone, Debug)]
pub struct FactorRun {
    space: Space,
    seed: u64,
    /// Pairs in a block.
    block: u32,
    start: Vec<f64>,
    factors: Factors,
    /// Effects of the pairs so far, once somebody asked for them: they take a regression.
    effects: OnceLock<Vec<Effect>>,
    keepers: OnceLock<Vec<f64>>,
}

impl FactorRun {
    /// A run before its first pair.
    #[must_use]
    pub fn new(space: Space, seed: u64, block: u32) -> Self {
        let (start, factors) = (space.start(), Factors::new(space.len()));
        Self { space, seed, block: block.max(1), start, factors, effects: OnceLock::new(), keepers: OnceLock::new() }
    }

    /// Switches.
    #[must_use]
    pub const fn space(&self) -> &Space {
        &self.space
    }

    /// Pairs in a block.
    #[must_use]
    pub const fn block(&self) -> u32 {
        self.block
    }

    /// Pairs that count.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.factors.pairs.len() as u64
    }

    /// Values before the run.
    #[must_use]
    pub fn start(&self) -> &[f64] {
        &self.start
    }

    /// Values of the pairs of a block. No result decides them; `None` is the same as of the other
    /// methods.
    #[must_use]
    pub fn ask(&self, block: u64) -> Option<Arc<[Vectors]>> {
        let size = u64::from(self.block);
        let completed = self.pairs() / size;
        if !(completed..=completed + LAG).contains(&block) {
            return None;
        }
        let first = block.checked_mul(size)?;
        let pair = |pair: u64| {
            let thrown = thrown(self.seed, pair, self.space.len());
            let value = |(param, sign): (&Param, f64)| if sign > 0.0 { param.max } else { param.min };
            let side = |signs: &Signs| self.space.params().iter().zip(signs.iter()).map(value).collect();
            let first = side(&thrown);
            let sides = [first, side(&thrown.reversed())];
            Vectors { purpose: Purpose::Tune, sides }
        };
        Some((first..first.checked_add(size)?).map(pair).collect())
    }

    /// Takes the result of the next pair: wins minus losses of its first side, -2 to 2.
    pub fn record(&mut self, result: i8) {
        self.factors.record(thrown(self.seed, self.pairs(), self.space.len()), result);
        (self.effects, self.keepers) = (OnceLock::new(), OnceLock::new());
    }

    /// Effects of the switches in their order; empty before the first pair.
    #[must_use]
    pub fn effects(&self) -> &[Effect] {
        self.effects.get_or_init(|| self.factors.effects().unwrap_or_default())
    }

    /// True if the effects of all pairs so far have been computed.
    #[cfg(test)]
    pub(crate) fn knows_effects(&self) -> bool {
        self.effects.get().is_some()
    }

    /// Values of the start, with each switch at the end of its range that was found better.
    #[must_use]
    pub fn keepers(&self) -> &[f64] {
        self.keepers.get_or_init(|| {
            let mut keepers = self.start.clone();
            for ((keeper, param), effect) in keepers.iter_mut().zip(self.space.params()).zip(self.effects()) {
                if let Some(is_on) = effect.verdict() {
                    *keeper = if is_on { param.max } else { param.min };
                }
            }
            keepers
        })
    }
}

/// Matrix with this lower triangle.
fn symmetric<T: Copy + Into<f64>>(lower: &[Vec<T>]) -> Symmetric {
    let mut matrix = Symmetric::zero(lower.len());
    for (i, row) in lower.iter().enumerate() {
        row.iter().enumerate().for_each(|(j, value)| matrix.add(i, j, (*value).into()));
    }
    matrix
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::SplitMix64;

    /// A match of switches with these effects in Elo, its results drawn by chance.
    fn played(effects: &[f64], pairs: u64, seed: u64) -> Factors {
        let mut random = SplitMix64::new(seed);
        let mut factors = Factors::new(effects.len());
        for pair in 0..pairs {
            let signs = thrown(seed, pair, effects.len());
            let lead: f64 = signs.iter().zip(effects).map(|(sign, effect)| sign * effect).sum();
            // Shares of variance 1, leaned to the lead.
            let lean = (PER_ELO * lead).exp();
            let shares = [0.07 / (lean * lean), 0.22 / lean, 0.42, 0.22 * lean, 0.07 * lean * lean];
            let mut left = random.unit() * shares.iter().sum::<f64>();
            let class = shares.iter().position(|share| {
                left -= share;
                left < 0.0
            });
            factors.record(signs, class.map_or(2, |class| class as i8 - 2));
        }
        factors
    }

    #[test]
    fn effects_are_found_with_the_error_that_the_design_promises() {
        let mut truth = vec![0.0; 37];
        truth[..4].copy_from_slice(&[25.0, -25.0, 30.0, 3.0]);
        let effects = played(&truth, 2_048, 5).effects().expect("pairs");
        for (switch, (effect, truth)) in effects.iter().zip(&truth).enumerate() {
            let error = effect.error95 / Z_95;
            // 174 / sqrt(2,048) is 3.84.
            assert!((foreseen_error95(2_048) / Z_95 - 3.84).abs() < 0.01);
            assert!((3.3..4.4).contains(&error), "{switch}: {error}");
            assert!((effect.elo - truth).abs() < 4.5 * error, "{switch}: {} for {truth}", effect.elo);
        }
        assert_eq!(effects[0].verdict(), Some(true));
        assert_eq!(effects[1].verdict(), Some(false));
        assert!(effects[2].verdict() == Some(true) && effects[2].elo > 18.0);
        // By Holm one of 20 matches marks an idle switch too.
        assert!(effects.iter().filter(|effect| effect.verdict().is_some()).count() <= 4);
    }

    #[test]
    fn idle_switches_are_marked_in_few_matches_and_intervals_hold() {
        let (mut marked, mut held) = (0, 0);
        for seed in 0..100 {
            let effects = played(&[0.0; 10], 500, seed).effects().expect("pairs");
            marked += u32::from(effects.iter().any(|effect| effect.verdict().is_some()));
            held += effects.iter().filter(|effect| effect.elo.abs() < effect.error95).count();
        }
        // 5 of 100 by Holm and three standard errors; 950 of 1,000.
        assert!(marked <= 12, "{marked} of 100");
        assert!((920..=980).contains(&held), "{held} of 1000");
    }

    /// The penalty must not draw them out of their intervals.
    #[test]
    fn intervals_of_large_effects_hold_too() {
        let truth = [30.0, 0.0, 0.0, 0.0];
        let (mut held, mut sum) = (0, 0.0);
        for seed in 0..100 {
            let large = played(&truth, 1_000, seed).effects().expect("pairs")[0];
            held += u32::from((large.elo - 30.0).abs() < large.error95);
            sum += large.elo;
        }
        // 95 of 100, and the mean within four of its standard errors of 0.55 Elo.
        assert!(held >= 87, "{held} of 100");
        assert!((sum / 100.0 - 30.0).abs() < 2.2, "{}", sum / 100.0);
    }

    /// Sums of whole numbers are exact, so a resumed run has the effects of an unbroken one to the
    /// last bit.
    #[test]
    fn sums_are_those_of_all_pairs() {
        let factors = played(&[9.0; 21], 300, 4);
        let rows: Vec<Vec<f64>> = factors.pairs.iter().map(|(signs, _)| signs.iter().collect()).collect();
        let sum = |of: &dyn Fn(usize) -> f64| (0..rows.len()).map(of).sum::<f64>();
        for i in 0..21 {
            let lead = sum(&|pair| rows[pair][i] * f64::from(factors.pairs[pair].1));
            assert_eq!(f64::from(factors.leads[i]), lead);
            for j in 0..=i {
                let product = sum(&|pair| rows[pair][i] * rows[pair][j]);
                assert_eq!(f64::from(factors.products[i][j]), product, "({i}, {j})");
            }
        }
    }

    #[test]
    fn level_pairs_alone_are_no_certainty() {
        let mut factors = Factors::new(2);
        (0..40).for_each(|pair| factors.record(thrown(1, pair, 2), 0));
        for effect in factors.effects().expect("pairs") {
            assert!(effect.elo == 0.0 && effect.error95 > 0.8 * foreseen_error95(40) && effect.p == 1.0, "{effect:?}");
        }
    }

    #[test]
    fn few_pairs_and_none_are_no_fault() {
        assert_eq!(Factors::new(3).effects(), None);
        assert_eq!(Factors::new(0).effects(), None);
        for pairs in [1, 2, 5] {
            let effects = played(&[5.0; 8], pairs, 1).effects().expect("pairs");
            for effect in effects {
                assert!(effect.elo.is_finite() && effect.error95.is_finite() && (0.0..=1.0).contains(&effect.p));
            }
        }
    }

    #[test]
    fn a_run_throws_switches_opposite_ways_and_keeps_those_it_finds() {
        let lines = "good, int, 0, 0, 1, 1, .002\nbad, int, 1, 0, 1, 1, .002\nidle, int, 0, 0, 1, 1, .002";
        let space = super::super::read::lines("p", lines).expect("sound");
        let mut run = FactorRun::new(space, 5, 16);
        assert_eq!((run.keepers(), run.effects().len()), (&[0.0, 1.0, 0.0][..], 0));
        let mut random = SplitMix64::new(5);
        for block in 0..60 {
            let asked = run.ask(block).expect("in order");
            assert!(run.ask(block + 1).is_some() && run.ask(block + 2).is_none());
            assert!(block == 0 || run.ask(block - 1).is_none());
            assert_eq!(asked.len(), 16);
            for Vectors { purpose, sides: [first, second] } in asked.iter() {
                assert_eq!(*purpose, Purpose::Tune);
                assert!(first.iter().zip(second).all(|(first, second)| first + second == 1.0));
                // `good` on and `bad` off win most pairs.
                let lead = (first[0] - second[0]) + (second[1] - first[1]);
                let luck = random.below(3) as i8 - 1;
                run.record((lead as i8 + luck).clamp(-2, 2));
            }
        }
        assert_eq!((run.pairs(), run.keepers()), (960, &[1.0, 0.0, 0.0][..]));
        let [good, bad, idle] = run.effects() else { panic!("three") };
        assert!(good.elo > 50.0 && bad.elo < -50.0 && idle.verdict().is_none(), "{idle:?}");
    }
}
