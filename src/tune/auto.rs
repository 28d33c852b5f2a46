//! The default method: calibrated SPSA that knows no number of games beforehand.
//!
//! First [`calibrate`] measures the Elo k that a parameter loses at one step. Then the perturbation
//! is the one at which a parameter loses L Elo, and the gain falls with the root of the pairs. A
//! run may therefore be watched, stopped and extended at any pair. Its result is the mean of theta
//! over the second half of its pairs. Every tenth block plays that mean against the start:
//! unbiased, and the only Elo that a running tuning may show.
//!
//! Pairs come in blocks. The values of a block follow from the pairs before the last block, so one
//! block can be played while another is still open. A run is a pure function of parameters, seed
//! and results, regardless of the number of concurrent games.
//!
//! Constants come from simulations of twelve methods over 2 to 100 parameters, 1,000 to 60,000
//! games and steps that are wrong by a factor of four (`landscape` has the setting). Changing the
//! gain by a third either way, or L from 1.5 to 4, moves the result by less than a tenth.

mod prefixes;

use std::sync::Arc;

use self::prefixes::{PrefixSums, three_quarters};
use super::calibrate::{self, Calibration};
use super::draws::PairDraws;
use super::lag::StateHistory;
use super::narrow::{Counterpart, Narrowing, RangeCut};
use super::sides::{Sides, floor};
use super::space::{Param, Space};

/// Elo that a parameter loses at the perturbation: L of the formulae, for few parameters.
const LOSS: f64 = 2.0;

/// Elo that all parameters together lose at the perturbation, at most: it bounds L for many.
const LOSS_OF_ALL: f64 = 160.0;

/// Exponent with which the perturbation falls, and the pairs after which it begins to.
const PERTURBATION_EXPONENT: f64 = 0.15;
const PERTURBATION_PAIRS: f64 = 1_000.0;

/// Gain at L = 2 Elo; it grows with the root of L.
const GAIN: f64 = 0.65;

/// Pairs that the gain is held back by at the start.
const GAIN_PAIRS: f64 = 300.0;

/// Part of a parameter's range that its perturbation takes at most. A calibration takes as much of
/// a range whose start is nearer to an end.
const LARGEST_PART: f64 = 4.0;

/// Minimum perturbation of a whole parameter: with it both sides differ by one at least.
const LEAST_WHOLE: f64 = 0.5;

/// Minimum move of a whole parameter in a calibration, unless its step is smaller. One side is at
/// the centre, so a move by less than one would often leave both at the same value.
const LEAST_MOVE: f64 = 1.0;

/// Minimum range of a whole parameter that a calibration moves: two values show no curvature.
const LEAST_MOVED_RANGE: f64 = 2.0;

/// Period of the blocks that validate.
const VALIDATION: u64 = 10;

/// Purpose of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// The start against everything moved.
    Calibrate,
    /// Two sides of the centre.
    Tune,
    /// The mean so far against the start.
    Validate,
}

/// Values that the two sides of a pair play, in the order of the parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Vectors {
    /// Purpose of the pair.
    pub purpose: Purpose,
    /// Values of the first and of the second side.
    pub sides: [Vec<f64>; 2],
}

/// Fixed properties of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Parameters.
    pub space: Space,
    /// Seed of everything random.
    pub seed: u64,
    /// Pairs in a block: even, at least 2.
    pub block: u32,
    /// Number of blocks that calibrate, as of [`calibrate::blocks`].
    pub calibration: u64,
}

impl Rule {
    /// A rule with the usual calibration for a run of `pairs`, if that is known. An odd
    /// number of pairs a block is raised to the next even one.
    #[must_use]
    pub fn new(space: Space, seed: u64, block: u32, pairs: Option<u64>) -> Self {
        let block = block.max(2).saturating_add(block & 1);
        Self { space, seed, block, calibration: calibrate::blocks(block, pairs) }
    }

    /// Purpose of the pairs of a block.
    #[must_use]
    pub const fn purpose(&self, block: u64) -> Purpose {
        match block.checked_sub(self.calibration) {
            None => Purpose::Calibrate,
            Some(block) if block % VALIDATION == VALIDATION - 1 => Purpose::Validate,
            Some(_) => Purpose::Tune,
        }
    }

    /// Tuning pairs before a block.
    const fn tuned_before(&self, block: u64) -> u64 {
        let block = block.saturating_sub(self.calibration);
        (block - block / VALIDATION) * self.block as u64
    }

    /// Elo that a parameter loses at the perturbation.
    #[must_use]
    pub fn loss_at_perturbation(&self) -> f64 {
        LOSS.min(LOSS_OF_ALL / self.space.len() as f64)
    }

    /// Perturbation in steps after `pairs` tuning pairs, if a parameter loses `loss` Elo at one.
    #[must_use]
    pub fn perturbation(&self, loss: f64, pairs: u64) -> f64 {
        let falling = (1.0 + pairs as f64 / PERTURBATION_PAIRS).powf(-PERTURBATION_EXPONENT);
        (self.loss_at_perturbation() / loss).sqrt() * falling
    }

    /// Variance of the mean over the second half of `pairs` tuning pairs if results have the
    /// variance 1 and no value matters, in squares of the distance that a gain of 1 moves.
    pub(super) fn walk(&self, pairs: u64) -> f64 {
        let half = pairs / 2;
        let later = |pair: u64| if pair < half { 1.0 } else { (pairs - pair) as f64 / (pairs - half) as f64 };
        (0..pairs).map(|pair| (self.gain(pair) * later(pair)).powi(2)).sum()
    }

    /// Gain after `pairs` tuning pairs: steps that a win moves a parameter, over the perturbation.
    fn gain(&self, pairs: u64) -> f64 {
        let loss = self.loss_at_perturbation();
        GAIN * (loss / LOSS).sqrt() / (pairs as f64 + GAIN_PAIRS).sqrt() / loss
    }
}

/// Distance of either side from the centre, in units of the parameter.
fn half_width(param: &Param, perturbation: f64) -> f64 {
    let half = (perturbation * param.step).min((param.max - param.min) / LARGEST_PART);
    if param.kind.is_whole() { half.max(LEAST_WHOLE) } else { half }
}

/// Distance that the centre moves by a gain of 1, in units of the parameter.
pub(super) fn scale(param: &Param, perturbation: f64) -> f64 {
    let wanted = perturbation * param.step;
    let half = half_width(param, perturbation);
    // What a wider perturbation tells more of moves the centre less; a narrower one never moves it
    // by more than itself.
    (wanted * wanted / half).min(half)
}

/// State of a run after a block; all that the values of a later block follow from.
#[derive(Clone, Debug, PartialEq)]
struct Snapshot {
    calibration: Calibration,
    /// Parameters with their ranges as narrowed so far.
    space: Arc<Space>,
    theta: Vec<f64>,
    mean: Vec<f64>,
}

/// A run: the fold of its results in the order of its pairs.
#[derive(Clone, Debug)]
pub struct Auto {
    rule: Rule,
    /// States after the last blocks.
    past: StateHistory<Snapshot, Vectors>,
    /// Results of the open block's pairs.
    open: Vec<i8>,
    /// Sides of the open block's pairs that failed.
    failed: Vec<[bool; 2]>,
    /// Narrowing of ranges, if the run does it.
    narrowing: Option<Narrowing>,
    /// Sums of results times signs in the open block.
    sums: Vec<i32>,
    prefixes: PrefixSums,
}

impl Auto {
    /// A run before its first pair.
    #[must_use]
    pub fn new(rule: Rule) -> Self {
        let start = rule.space.start();
        let params = start.len();
        let calibration = Calibration::new(params);
        let before = Snapshot { calibration, space: Arc::new(rule.space.clone()), theta: start.clone(), mean: start };
        Self {
            rule,
            past: StateHistory::new(before),
            open: Vec::new(),
            failed: Vec::new(),
            narrowing: None,
            sums: vec![0; params],
            prefixes: PrefixSums::default(),
        }
    }

    /// The same run before its first pair, if it narrows ranges beyond which the engine fails.
    #[must_use]
    pub fn narrowing(mut self) -> Self {
        self.narrowing = Some(Narrowing::new(&self.rule.space, 1));
        self
    }

    /// Ranges that were narrowed, the first one first.
    #[must_use]
    pub fn cuts(&self) -> &[RangeCut] {
        self.narrowing.as_ref().map_or(&[], Narrowing::cuts)
    }

    /// Parameters with their ranges as narrowed so far.
    #[must_use]
    pub fn space(&self) -> &Space {
        &self.newest().space
    }

    /// The run's fixed properties.
    #[must_use]
    pub const fn rule(&self) -> &Rule {
        &self.rule
    }

    /// Pairs that count.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.past.completed() * u64::from(self.rule.block) + self.open.len() as u64
    }

    /// Tuning pairs of complete blocks.
    #[must_use]
    pub fn tuned(&self) -> u64 {
        self.rule.tuned_before(self.past.completed())
    }

    /// Elo that a parameter loses on average at one step, as far as it is known.
    #[must_use]
    pub fn loss(&self) -> f64 {
        self.newest().calibration.loss()
    }

    /// The same loss, if games have measured it.
    #[must_use]
    pub fn measured_loss(&self) -> Option<f64> {
        self.newest().calibration.is_measured().then(|| self.loss())
    }

    /// Perturbation of the next tuning block in steps.
    #[must_use]
    pub fn perturbation(&self) -> f64 {
        self.rule.perturbation(self.loss(), self.tuned())
    }

    /// Centre after the last complete block, in the parameters' own units.
    #[must_use]
    pub fn theta(&self) -> &[f64] {
        &self.newest().theta
    }

    /// Result so far: the mean of the centre over the second half of the tuning blocks; the start
    /// before the first.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.newest().mean
    }

    /// Distance in steps, as the root of its mean square over the parameters, by which the result
    /// moved in the last quarter of the tuning blocks; `None` before the fourth.
    #[must_use]
    pub fn drift(&self) -> Option<f64> {
        let params = self.rule.space.params();
        let blocks = self.prefixes.blocks();
        let earlier = self.second_half((blocks >= 4).then_some(three_quarters(blocks))?);
        let moves = params.iter().zip(self.mean()).zip(&earlier);
        let squared: f64 = moves.map(|((param, now), then)| ((now - then) / param.step).powi(2)).sum();
        Some((squared / params.len() as f64).sqrt())
    }

    fn newest(&self) -> &Snapshot {
        self.past.newest()
    }

    /// Values of the pairs of a block. `None` until every pair before the last block counts, and if
    /// the block is too far back.
    #[must_use]
    pub fn ask(&self, block: u64) -> Option<Arc<[Vectors]>> {
        self.past.values(block, |basis| self.vectors(block, basis))
    }

    fn vectors(&self, block: u64, basis: &Snapshot) -> Option<Arc<[Vectors]>> {
        let first = block.checked_mul(u64::from(self.rule.block))?;
        let pairs = first..first.checked_add(u64::from(self.rule.block))?;
        let space = &*basis.space;
        Some(match self.rule.purpose(block) {
            Purpose::Calibrate => {
                let distance = basis.calibration.distance();
                pairs.map(|pair| calibration_pair(space, self.rule.seed, pair, distance)).collect()
            }
            Purpose::Tune => {
                let perturbation = self.rule.perturbation(basis.calibration.loss(), self.rule.tuned_before(block));
                let sides = sides(space, &basis.theta, perturbation);
                let mut fractions = Vec::new();
                let drawn = pairs.map(|pair| sides.draw(self.rule.seed, pair, &mut fractions));
                drawn.map(|sides| Vectors { purpose: Purpose::Tune, sides }).collect()
            }
            Purpose::Validate => {
                let sides = [space.nearest(&basis.mean), space.nearest(&space.start())];
                pairs.map(|_| Vectors { purpose: Purpose::Validate, sides: sides.clone() }).collect()
            }
        })
    }

    /// Takes the result of the next pair, in which no side failed: wins minus losses of its first
    /// side, -2 to 2.
    pub fn record(&mut self, result: i8) {
        self.record_failures(result, [false; 2]);
    }

    /// Takes the result of the next pair, and which of its sides failed.
    pub fn record_failures(&mut self, result: i8, failed: [bool; 2]) {
        let result = result.clamp(-2, 2);
        let purpose = self.rule.purpose(self.past.completed());
        if purpose == Purpose::Tune && result != 0 {
            let (signs, _) = PairDraws::new(self.rule.seed, self.pairs(), self.sums.len());
            signs.add_to(&mut self.sums, i32::from(result));
        }
        self.open.push(result);
        self.failed.push(failed);
        if self.open.len() == self.rule.block as usize {
            self.complete(purpose);
        }
    }

    /// Closes a block whose pairs all count.
    fn complete(&mut self, purpose: Purpose) {
        let mut next = self.newest().clone();
        match purpose {
            Purpose::Calibrate => self.calibrate(&mut next),
            Purpose::Tune => self.step(&mut next),
            Purpose::Validate => {}
        }
        self.narrow(&mut next);
        self.past.push(next);
        self.open.clear();
        self.failed.clear();
    }

    /// Narrows ranges beyond which the engine fails, after a block.
    fn narrow(&mut self, next: &mut Snapshot) {
        let (block, pairs) = (self.past.completed(), self.pairs());
        let asked = self.ask(block).unwrap_or_default();
        let Some(narrowing) = &mut self.narrowing else { return };
        let counterpart = match self.rule.purpose(block) {
            Purpose::Calibrate => Counterpart::Pair,
            Purpose::Tune => Counterpart::Side,
            Purpose::Validate => Counterpart::Nowhere,
        };
        narrowing.record_block(asked.iter().map(|vectors| &vectors.sides), &self.failed, counterpart);
        if let Some(space) = narrowing.narrow(&next.space, pairs) {
            for values in [&mut next.theta, &mut next.mean] {
                space.clamp(values);
            }
            next.space = Arc::new(space);
        }
    }

    /// Records a calibration block. A pair in which a side failed is no evidence of the curvature
    /// and is left out. The slope of the other pairs then cancels by the random signs alone.
    fn calibrate(&self, next: &mut Snapshot) {
        let block = self.past.completed();
        let (Some(basis), Some(asked)) = (self.past.basis(block), self.ask(block)) else { return };
        let (params, distance) = (basis.space.params(), basis.calibration.distance());
        let centres: Vec<f64> = params.iter().map(|param| calibration_move(param, distance).0).collect();
        let squared = |vectors: &Vectors| -> f64 {
            let [unmoved, moved] = &vectors.sides;
            let values = params.iter().zip(&centres).zip(unmoved.iter().zip(moved));
            let more = values.map(|((param, centre), (unmoved, moved))| {
                let [unmoved, moved] = [unmoved, moved].map(|value| ((value - centre) / param.step).powi(2));
                moved - unmoved
            });
            more.sum()
        };
        let pairs = asked.iter().zip(&self.open).zip(&self.failed);
        let counted = pairs.filter(|(_, failed)| **failed == [false; 2]);
        let (moves, results): (Vec<f64>, Vec<i8>) =
            counted.map(|((vectors, result), _)| (squared(vectors), *result)).unzip();
        let mean = moves.iter().sum::<f64>() / moves.len().max(1) as f64;
        next.calibration.record(&results, mean);
    }

    fn step(&mut self, next: &mut Snapshot) {
        let tuned = self.rule.tuned_before(self.past.completed());
        let Some(basis) = self.past.basis(self.past.completed()) else { return };
        let perturbation = self.rule.perturbation(basis.calibration.loss(), tuned);
        let gain = self.rule.gain(tuned);
        let params = basis.space.params();
        for ((theta, param), sum) in next.theta.iter_mut().zip(params).zip(&mut self.sums) {
            *theta = (*theta + gain * scale(param, perturbation) * f64::from(*sum)).clamp(param.min, param.max);
            *sum = 0;
        }
        next.space.clamp(&mut next.theta);
        self.prefixes.push(&next.theta);
        next.mean = self.second_half(self.prefixes.blocks());
        next.space.clamp(&mut next.mean);
    }

    /// Mean of theta over the second half of the first `blocks` tuning blocks, at least 1; half of
    /// the middle one counts if their number is odd.
    fn second_half(&self, blocks: usize) -> Vec<f64> {
        let none = vec![0.0; self.sums.len()];
        let up_to = |blocks: usize| self.prefixes.up_to(blocks).unwrap_or(&none);
        let scale = 2.0 / blocks as f64;
        let halves = up_to(blocks / 2).iter().zip(up_to(blocks.div_ceil(2)));
        let sums = up_to(blocks).iter().zip(halves).zip(self.rule.space.params());
        let mean = |((all, (lower, upper)), param): ((&f64, (&f64, &f64)), &Param)| {
            ((all - f64::midpoint(*lower, *upper)) * scale).clamp(param.min, param.max)
        };
        sums.map(mean).collect()
    }
}

/// Sides of the pairs of a block around `theta`, at a perturbation in steps.
fn sides(space: &Space, theta: &[f64], perturbation: f64) -> Sides {
    let mut sides = Sides::with_capacity(space.len());
    for (param, theta) in space.params().iter().zip(theta) {
        sides.push(param, *theta, half_width(param, perturbation));
    }
    sides
}

/// Centre of a parameter in calibration pairs, and its move from there, at a distance in steps.
///
/// The centre is the start. If the start is near an end of the range, the centre is moved inside,
/// so that the moves to both sides fit, and the side that is not moved plays it. Opposite moves
/// around one centre cancel the slope there, which two moves inside from the start would not.
fn calibration_move(param: &Param, distance: f64) -> (f64, f64) {
    let Param { start, min, max, step, .. } = *param;
    let is_whole = param.kind.is_whole();
    if is_whole && max - min < LEAST_MOVED_RANGE {
        return (param.nearest(start), 0.0);
    }
    let room = (start - min).min(max - start).max((max - min) / LARGEST_PART);
    let least = if is_whole && step >= LEAST_MOVE { LEAST_MOVE } else { 0.0 };
    let by = (distance * step).min(room).max(least);
    // `max` after `min`: rounding errors may leave the two ends the wrong way round by a hair.
    (start.min(max - by).max(min + by), by)
}

/// Values of a parameter for the side that is not moved and for the moved one.
fn calibration_values(param: &Param, distance: f64, sign: f64, fraction: f64) -> (f64, f64) {
    let (centre, by) = calibration_move(param, distance);
    let (mut unmoved, mut moved) = (centre, centre + sign * by);
    if param.kind.is_whole() {
        (unmoved, moved) = (floor(unmoved + fraction), floor(moved + fraction));
        if by >= LEAST_MOVE {
            // Rounding errors may close a gap of exactly one.
            moved = if sign > 0.0 { moved.max(unmoved + 1.0) } else { moved.min(unmoved - 1.0) };
        }
    }
    (unmoved.clamp(param.min, param.max), moved.clamp(param.min, param.max))
}

fn calibration_pair(space: &Space, seed: u64, pair: u64, distance: f64) -> Vectors {
    let (signs, mut draws) = calibrate::signs(seed, pair, space.len());
    let fractions = draws.fractions(space.len());
    let drawn = space.params().iter().zip(signs.iter()).zip(fractions);
    let values = drawn.map(|((param, sign), fraction)| calibration_values(param, distance, sign, fraction));
    let (unmoved, moved) = values.unzip();
    Vectors { purpose: Purpose::Calibrate, sides: [unmoved, moved] }
}

#[cfg(test)]
mod tests;
