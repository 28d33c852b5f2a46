//! Calibration of the step: how much Elo a parameter loses, on average, one step from the start.
//!
//! One side plays the start, the other the start with every parameter moved by the same number of
//! steps, up or down at random. The next pair moves each the other way. Odd terms of the move
//! cancel over the two pairs and even ones do not, so a few hundred pairs measure the mean
//! curvature of many parameters at once. The posterior of its logarithm is kept on a grid. The next
//! block uses the move at which the loss would be [`target`] if the posterior's mean were right. A
//! parameter that starts near an end of its range is moved around a centre inside.
//!
//! Constants were chosen by simulation over 2 to 100 parameters, with 200 runs each and true steps
//! of a quarter to four times the user's. 150 pairs already do as well as 300. The estimate is low
//! by a fifth, because far from the optimum the simulated loss is flatter than a parabola.

use super::draws::{PairDraws, Signs};

/// Elo to expected wins minus losses of a pair at small differences: ln 10 / 400.
pub const PER_ELO: f64 = std::f64::consts::LN_10 / 400.0;

/// Pairs of a calibration.
pub const PAIRS: u64 = 300;

/// Blocks of a calibration at least, because each block's move is fixed before the last block ends.
const LEAST_BLOCKS: u64 = 6;

/// Part of a run's pairs that a calibration takes at most.
pub(crate) const LARGEST_PART: u64 = 4;

/// Points of the grid of log2 k, from -10 by 0.625 to 10.
const POINTS: usize = 33;
const LOWEST: f64 = -10.0;
const SPACING: f64 = 0.625;

/// Standard deviation of log2 k before any game; its mean is 0, one Elo at one step.
const PRIOR_DEVIATION: f64 = 2.5;

/// Elo to lose per parameter, and at most in all: beyond that the loss is no longer a parabola.
const TARGET_EACH: f64 = 4.0;
const TARGET_MOST: f64 = 80.0;

/// Expected wins minus losses of a pair at most: 2 would be all games won.
const SATURATION: f64 = 1.6;

/// Variance of a pair's wins minus losses before any game, and the number of pairs that it is
/// worth.
const PRIOR_VARIANCE: f64 = 1.0;
const PRIOR_PAIRS: f64 = 16.0;

/// Elo that a block should lose with this number of parameters.
#[must_use]
pub fn target(params: usize) -> f64 {
    (TARGET_EACH * params as f64).min(TARGET_MOST)
}

/// Blocks of a calibration: [`PAIRS`] rounded up, more for blocks of many pairs, a quarter of the
/// run at most.
#[must_use]
pub fn blocks(pairs_per_block: u32, pairs: Option<u64>) -> u64 {
    let size = u64::from(pairs_per_block.max(1));
    let wanted = PAIRS.div_ceil(size).max(LEAST_BLOCKS);
    pairs.map_or(wanted, |pairs| wanted.min(pairs / LARGEST_PART / size))
}

/// Directions of a calibration pair: random for an even one, the opposite for the one after it.
#[must_use]
pub fn signs(seed: u64, pair: u64, params: usize) -> (Signs, PairDraws) {
    let (_, own) = PairDraws::new(seed, pair, params);
    let (signs, _) = PairDraws::new(seed, pair & !1, params);
    (if pair & 1 == 1 { signs.reversed() } else { signs }, own)
}

/// Posterior of the mean loss.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    params: usize,
    /// Logarithms of weights, up to a constant.
    weights: [f64; POINTS],
    /// Sum of squared deviations within blocks, and their degrees of freedom.
    scatter: f64,
    freedom: f64,
    /// True once a block moved something.
    is_measured: bool,
}

impl Calibration {
    /// The posterior before any game.
    #[must_use]
    pub fn new(params: usize) -> Self {
        let weights = std::array::from_fn(|point| -0.5 * (log2_loss(point) / PRIOR_DEVIATION).powi(2));
        Self { params: params.max(1), weights, scatter: 0.0, freedom: 0.0, is_measured: false }
    }

    /// Elo that a parameter loses on average at one step: 2 to the posterior mean of its logarithm.
    #[must_use]
    pub fn loss(&self) -> f64 {
        let highest = self.weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let (mut total, mut sum) = (0.0, 0.0);
        for (point, weight) in self.weights.iter().enumerate() {
            let weight = (weight - highest).exp();
            total += weight;
            sum += weight * log2_loss(point);
        }
        (sum / total).exp2()
    }

    /// Returns true if [`Calibration::loss`] depends on games, and is not only the prior's.
    #[must_use]
    pub const fn is_measured(&self) -> bool {
        self.is_measured
    }

    /// Steps by which the next block moves every parameter.
    #[must_use]
    pub fn distance(&self) -> f64 {
        (target(self.params) / (self.loss() * self.params as f64)).sqrt()
    }

    /// Variance of a pair's wins minus losses, from the blocks so far.
    #[must_use]
    pub fn variance(&self) -> f64 {
        (PRIOR_PAIRS * PRIOR_VARIANCE + self.scatter) / (PRIOR_PAIRS + self.freedom)
    }

    /// Takes a block: wins minus losses of the unmoved side in each pair, and the mean over its
    /// pairs of the sum over parameters of the squared move in steps. A block without pairs changes
    /// nothing.
    pub fn record(&mut self, results: &[i8], squared_move: f64) {
        if results.is_empty() {
            return;
        }
        self.is_measured |= squared_move > 0.0;
        let count = results.len() as f64;
        let mean = results.iter().map(|result| f64::from(*result)).sum::<f64>() / count;
        self.scatter += results.iter().map(|result| (f64::from(*result) - mean).powi(2)).sum::<f64>();
        self.freedom += count - 1.0;
        let variance = self.variance() / count;
        for (point, weight) in self.weights.iter_mut().enumerate() {
            let expected = (PER_ELO * log2_loss(point).exp2() * squared_move).min(SATURATION);
            *weight -= (mean - expected).powi(2) / (2.0 * variance);
        }
    }
}

fn log2_loss(point: usize) -> f64 {
    LOWEST + SPACING * point as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_bounded_by_lag_and_by_a_quarter_of_the_run() {
        let cases = [
            (16, None, 19),
            (32, None, 10),
            (64, None, 6),
            (256, None, 6),
            (16, Some(20_000), 19),
            (16, Some(640), 10),
            (16, Some(63), 0),
            (256, Some(2_500), 2),
        ];
        for (size, pairs, wanted) in cases {
            assert_eq!(blocks(size, pairs), wanted, "{size} {pairs:?}");
        }
    }

    #[test]
    fn directions_of_two_neighbours_are_opposite_and_their_fractions_are_their_own() {
        let ((even, mut first), (odd, mut second)) = (signs(1, 6, 70), signs(1, 7, 70));
        assert_eq!(even.reversed(), odd);
        assert_ne!(first.fractions(1), second.fractions(1));
    }

    #[test]
    fn the_posterior_begins_at_one_elo_and_follows_what_lots_lose() {
        let mut calibration = Calibration::new(10);
        assert!((calibration.loss() - 1.0).abs() < 1e-12 && (calibration.distance() - 2.0).abs() < 1e-12);
        assert_eq!(calibration.variance(), 1.0);
        // 38 blocks that lose what 4 Elo a parameter and step lose, as nearly as counts can.
        for block in 0..38 {
            let squared = 10.0 * calibration.distance().powi(2);
            let wanted = (PER_ELO * 4.0 * squared).min(SATURATION) * 16.0 + if block % 2 == 0 { 0.3 } else { -0.3 };
            let mut left = wanted.round() as i32;
            let results: Vec<i8> = (0..16)
                .map(|_| {
                    let result = left.clamp(0, 2);
                    left -= result;
                    result as i8
                })
                .collect();
            calibration.record(&results, squared);
        }
        assert!((2.0..8.0).contains(&calibration.loss()), "{}", calibration.loss());
        assert!(calibration.is_measured() && !Calibration::new(10).is_measured());
        let before = calibration.clone();
        calibration.record(&[], 3.0);
        assert_eq!(before, calibration);
    }

    #[test]
    fn no_results_can_leave_the_grid() {
        for result in [-2, 2] {
            let mut calibration = Calibration::new(3);
            for _ in 0..1_000 {
                calibration.record(&[result; 16], 3.0 * calibration.distance().powi(2));
            }
            let loss = calibration.loss();
            assert!((2f64.powi(-10)..=2f64.powi(10)).contains(&loss), "{loss}");
            assert!(calibration.distance().is_finite() && calibration.variance() > 0.0);
        }
    }
}
