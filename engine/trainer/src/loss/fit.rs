//! Best scale of an evaluation, its loss, and standard errors by game. Pure functions on numbers.

use serde::Serialize;
use std::collections::BTreeMap;

/// Centipawns in which scores and values enter the sigmoid.
pub const SCALE: f64 = 400.0;

/// Range of the fitted scale. An evaluation whose fit ends at a bound says next to nothing about
/// the targets.
const SCALES: [f64; 2] = [0.02, 50.0];
/// Steps of the first, coarse search.
const GRID: i32 = 80;
/// Steps of the golden-section search within two cells of the grid.
const GOLDEN_STEPS: usize = 50;

/// Mean with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct MeanLoss {
    /// The mean.
    pub mean: f64,
    /// Its standard error, with a game as one observation; absent with fewer than two games.
    pub error: Option<f64>,
    /// Positions.
    pub positions: usize,
}

/// Winning probability of a value in centipawns.
pub fn sigmoid(centipawns: f64) -> f64 {
    crate::data::sigmoid(centipawns / SCALE)
}

/// Sums of the targets of all positions with one value, from which the loss at any scale follows.
#[derive(Default)]
struct ValueSums {
    count: f64,
    targets: f64,
    squares: f64,
}

/// Finds the factor of the values with the least squared error against the targets.
pub fn best_scale(values: &[i16], targets: &[f32]) -> f64 {
    let mut sums: BTreeMap<i16, ValueSums> = BTreeMap::new();
    for (&value, &target) in values.iter().zip(targets) {
        let target = f64::from(target);
        let sum = sums.entry(value).or_default();
        sum.count += 1.0;
        sum.targets += target;
        sum.squares += target * target;
    }
    let loss = |log: f64| {
        let scale = log.exp();
        let of = |(value, sum): (&i16, &ValueSums)| {
            let expected = sigmoid(scale * f64::from(*value));
            expected * (sum.count * expected - 2.0 * sum.targets) + sum.squares
        };
        sums.iter().map(of).sum::<f64>()
    };
    let [low, high] = SCALES.map(f64::ln);
    let cell = (high - low) / f64::from(GRID);
    let at = |step: i32| low + cell * f64::from(step);
    let best = (0..=GRID).map(at).min_by(|a, b| loss(*a).total_cmp(&loss(*b))).unwrap_or(0.0);
    golden((best - cell).max(low), (best + cell).min(high), loss).exp()
}

/// Finds the least value of a function with one valley by golden-section search.
fn golden(mut low: f64, mut high: f64, of: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5.0_f64.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (of(left), of(right));
    for _ in 0..GOLDEN_STEPS {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = of(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = of(right);
        }
    }
    f64::midpoint(low, high)
}

/// Returns the squared error of each position at a scale.
pub fn losses(values: &[i16], targets: &[f32], scale: f64) -> Vec<f64> {
    let loss = |(&value, &target): (&i16, &f32)| (sigmoid(scale * f64::from(value)) - f64::from(target)).powi(2);
    values.iter().zip(targets).map(loss).collect()
}

/// Computes the mean over the positions of which `is_in` is true, and its standard error. The error
/// is that of a ratio estimator: each game contributes its sum of deviations from the mean.
/// Positions of one game may therefore depend on each other in any way. `games` has the game of
/// each position and is sorted.
pub fn mean_by_game(numbers: &[f64], games: &[u32], is_in: impl Fn(usize) -> bool) -> Option<MeanLoss> {
    let chosen = || (0..numbers.len()).filter(|place| is_in(*place));
    let positions = chosen().count();
    if positions == 0 {
        return None;
    }
    let mean = chosen().map(|place| numbers[place]).sum::<f64>() / positions as f64;
    let (mut clusters, mut squares) = (0_u64, 0.0);
    let mut open: Option<(u32, f64)> = None;
    for place in chosen() {
        let deviation = numbers[place] - mean;
        match &mut open {
            Some((game, sum)) if *game == games[place] => *sum += deviation,
            _ => {
                squares += open.map_or(0.0, |(_, sum)| sum * sum);
                clusters += 1;
                open = Some((games[place], deviation));
            }
        }
    }
    squares += open.map_or(0.0, |(_, sum)| sum * sum);
    let error = (clusters > 1).then(|| {
        let small_sample = clusters as f64 / (clusters - 1) as f64;
        (squares * small_sample).sqrt() / positions as f64
    });
    Some(MeanLoss { mean, error, positions })
}
