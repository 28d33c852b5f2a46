//! Mini-batch gradient descent: plain and Adam.

use std::ops::Range;

use super::loss::{gradient, measure};
use super::plan::{Fit, Method};
use super::samples::{Samples, shuffle};
use super::{Epoch, FitResult, Weights, anchored, bar, report};

/// Adjacent positions that stay together in a batch. Memory is read sequentially, and the first
/// shuffle has already mixed the blocks of positions.
const ROW: usize = 64;

/// Decay rates of the moments.
const BETA: [f32; 2] = [0.9, 0.999];

/// Optimiser that moves weights against a gradient.
struct Stepper {
    method: Method,
    first: Weights,
    second: Weights,
    steps: i32,
    held: Vec<bool>,
}

impl Stepper {
    fn new(fit: &Fit, len: usize) -> Self {
        let zeros = vec![[0.0; 2]; len];
        Self { method: fit.method, first: zeros.clone(), second: zeros, steps: 0, held: anchored(&fit.anchored) }
    }

    fn step(&mut self, weights: &mut Weights, gradient: &Weights, rate: f32) {
        self.steps += 1;
        let correct = BETA.map(|beta| 1.0 - beta.powi(self.steps));
        for (index, slopes) in gradient.iter().enumerate().filter(|(index, _)| !self.held[*index]) {
            for half in 0..2 {
                let slope = slopes[half];
                let weight = &mut weights[index][half];
                if self.method == Method::Descent {
                    *weight -= rate * slope;
                    continue;
                }
                let (first, second) = (&mut self.first[index][half], &mut self.second[index][half]);
                *first += (1.0 - BETA[0]) * (slope - *first);
                *second += (1.0 - BETA[1]) * (slope * slope - *second);
                let root = (*second / correct[1]).sqrt() + 1e-10;
                *weight -= rate * (*first / correct[0]) / root;
            }
        }
    }
}

/// Runs epochs until the test error has not improved for `patience` epochs.
///
/// Returns the weights with the lowest test error. They do not depend on the number of threads.
#[must_use]
pub fn fit(fit: &Fit, (training, test): (&Samples, &Samples), start: &Weights, k: f32, threads: usize) -> FitResult {
    let rows: Vec<Range<usize>> =
        (0..training.len()).step_by(ROW).map(|from| from..(from + ROW).min(training.len())).collect();
    let to_batch = (fit.batch.get() / ROW).max(1);
    let pull = fit.l2 / training.len().max(1) as f32;
    let mut stepper = Stepper::new(fit, start.len());
    let mut weights = start.clone();
    let first = Epoch {
        number: 0,
        training: measure(training, &weights, k, threads),
        test: measure(test, &weights, k, threads),
    };
    let mut fitted = FitResult { weights: weights.clone(), epochs: vec![first] };
    let (mut best, mut stale, mut rate) = (first.test.mean(), 0, fit.rate);
    let progress = bar((training.len() * fit.epochs) as u64, "positions/s");
    for number in 1..=fit.epochs {
        let mut order: Vec<usize> = (0..rows.len()).collect();
        shuffle(&mut order, fit.seed.wrapping_mul(0x9E37_79B9).wrapping_add(number as u64));
        for batch in order.chunks(to_batch) {
            let batch: Vec<Range<usize>> = batch.iter().map(|&row| rows[row].clone()).collect();
            let (loss, mut slopes) = gradient(training, &batch, &weights, k, threads);
            for (slope, (weight, origin)) in slopes.iter_mut().zip(weights.iter().zip(start)) {
                *slope = [0, 1].map(|half| slope[half] + pull * (weight[half] - origin[half]));
            }
            stepper.step(&mut weights, &slopes, rate);
            progress.inc(loss.count as u64);
        }
        let training = measure(training, &weights, k, threads);
        let epoch = Epoch { number, training, test: measure(test, &weights, k, threads) };
        fitted.epochs.push(epoch);
        progress.set_message(format!("epoch {number}: {:.6}", epoch.test.mean()));
        progress.suspend(|| report::say(&report::line(&epoch, rate)));
        rate *= fit.decay;
        stale += 1;
        if epoch.test.mean() < best {
            best = epoch.test.mean();
            fitted.weights.clone_from(&weights);
            stale = 0;
        }
        if stale == fit.patience {
            progress.suspend(|| report::say(&format!("no better for {stale} epochs, so the fit ends")));
            break;
        }
    }
    progress.finish_and_clear();
    fitted
}
