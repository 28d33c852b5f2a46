//! Losses, gradients, and the factor that converts centipawns to expected results. The order of all
//! sums is independent of the number of threads.

use std::thread;

use destrier::eval::layout::COUNT;

use super::Weights;
use super::logistic::logistic;
use super::samples::Samples;
use crate::train::sigmoid;

/// Positions that a thread adds to one partial sum.
const SLICE: usize = 4096;

/// Search range of the factor per centipawn.
const K_RANGE: (f32, f32) = (0.0002, 0.03);
/// Relative precision of the factor.
const K_PRECISION: f32 = 1e-4;

/// Sums of losses over positions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LossSums {
    /// Logistic loss (cross entropy) in nats.
    pub logistic: f64,
    /// Sum of squared differences between prediction and target.
    pub squared: f64,
    /// Number of positions.
    pub count: usize,
}

impl LossSums {
    fn record(&mut self, promised: f32, target: f32) {
        let error = f64::from(promised - target);
        self.logistic += f64::from(logistic(promised, target));
        self.squared += error * error;
        self.count += 1;
    }

    /// Returns the sum of both.
    #[must_use]
    pub fn merged(self, other: Self) -> Self {
        Self {
            logistic: self.logistic + other.logistic,
            squared: self.squared + other.squared,
            count: self.count + other.count,
        }
    }

    /// Returns the mean logistic loss, which the fits minimise.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.logistic / self.count.max(1) as f64
    }

    /// Returns the mean squared error.
    #[must_use]
    pub fn squared_mean(self) -> f64 {
        self.squared / self.count.max(1) as f64
    }
}

/// Distributes pieces of work over threads. Results are in the order of the pieces.
pub fn on_threads<P: Sync, T: Send>(pieces: &[P], threads: usize, work: impl Fn(&P) -> T + Sync) -> Vec<T> {
    let work = &work;
    if threads <= 1 || pieces.len() <= 1 {
        return pieces.iter().map(work).collect();
    }
    let share = pieces.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let workers: Vec<_> = pieces
            .chunks(share)
            .map(|pieces| scope.spawn(move || pieces.iter().map(work).collect::<Vec<T>>()))
            .collect();
        let join = |worker: thread::ScopedJoinHandle<'_, Vec<T>>| match worker.join() {
            Ok(results) => results,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().flat_map(join).collect()
    })
}

/// Computes the loss over all positions.
#[must_use]
pub fn measure(samples: &Samples, weights: &Weights, k: f32, threads: usize) -> LossSums {
    let starts: Vec<usize> = (0..samples.len()).step_by(SLICE).collect();
    let parts = on_threads(&starts, threads, |start| {
        let mut loss = LossSums::default();
        for sample in samples.range(*start..(start + SLICE).min(samples.len())) {
            loss.record(sigmoid(k * sample.value(weights).0), sample.target());
        }
        loss
    });
    parts.into_iter().fold(LossSums::default(), LossSums::merged)
}

/// Computes the loss and the mean gradient per centipawn over ranges of positions.
#[must_use]
pub fn gradient(
    samples: &Samples,
    ranges: &[std::ops::Range<usize>],
    weights: &Weights,
    k: f32,
    threads: usize,
) -> (LossSums, Weights) {
    // At most eight slices, so that few tables of sums have to be added up.
    let slices: Vec<&[std::ops::Range<usize>]> = ranges.chunks(ranges.len().div_ceil(8).max(1)).collect();
    let parts = on_threads(&slices, threads, |ranges| {
        let (mut loss, mut sum) = (LossSums::default(), vec![[0.0_f32; 2]; COUNT]);
        for sample in ranges.iter().flat_map(|range| samples.range(range.clone())) {
            let (value, factors) = sample.value(weights);
            let promised = sigmoid(k * value);
            loss.record(promised, sample.target());
            // The derivative of the logistic loss with respect to `k * value` is `promised -
            // target`.
            let slope = (promised - sample.target()) * k;
            let slopes = [slope * factors[0], slope * factors[1]];
            for &(index, count) in sample.terms {
                let total = &mut sum[usize::from(index)];
                total[0] += slopes[0] * f32::from(count);
                total[1] += slopes[1] * f32::from(count);
            }
        }
        (loss, sum)
    });
    let (mut loss, mut sum) = (LossSums::default(), vec![[0.0; 2]; COUNT]);
    for (part_loss, part) in parts {
        loss = loss.merged(part_loss);
        for (total, part) in sum.iter_mut().zip(part) {
            *total = [total[0] + part[0], total[1] + part[1]];
        }
    }
    let count = loss.count.max(1) as f32;
    for slope in &mut sum {
        *slope = slope.map(|half| half / count);
    }
    (loss, sum)
}

/// Fits the factor per centipawn that minimises the loss of these weights.
#[must_use]
pub fn fit_k(samples: &Samples, weights: &Weights, threads: usize) -> f32 {
    golden_section(K_RANGE, |k| measure(samples, weights, k, threads).mean())
}

/// Returns true if a fitted factor is the least of the search range: results hardly follow scores.
#[must_use]
pub fn is_least(k: f32) -> bool {
    k <= K_RANGE.0 * (1.0 + 10.0 * K_PRECISION)
}

/// Returns true if a fitted factor is the greatest of the search range: results follow scores
/// without exception.
#[must_use]
pub fn is_greatest(k: f32) -> bool {
    k >= K_RANGE.1 * (1.0 - 10.0 * K_PRECISION)
}

/// Fits the factor per centipawn with which the given scores best predict the results.
#[must_use]
pub fn fit_score_scale(samples: &Samples) -> f32 {
    golden_section(K_RANGE, |k| {
        let mut loss = LossSums::default();
        for sample in samples.range(0..samples.len()) {
            if let Some(score) = sample.score() {
                loss.record(sigmoid(k * score), sample.result());
            }
        }
        loss.mean()
    })
}

/// Minimises a unimodal function by golden-section search with one evaluation per step.
fn golden_section((mut low, mut high): (f32, f32), value: impl Fn(f32) -> f64) -> f32 {
    let ratio = (5.0_f32.sqrt() - 1.0) / 2.0;
    let (mut left, mut right) = (high - ratio * (high - low), low + ratio * (high - low));
    let (mut at_left, mut at_right) = (value(left), value(right));
    while high - low > K_PRECISION * high {
        if at_left < at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = value(right);
        }
    }
    f32::midpoint(low, high)
}
