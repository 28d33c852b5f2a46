//! Texel's local search: changes one weight at a time by a centipawn and keeps the change if the
//! error falls (P. Österlund, 2014).
//!
//! A weight affects few positions. They are listed once with their sums, so that a trial evaluates
//! only the positions of the list instead of all data.

use destrier::eval::layout::COUNT;

use super::logistic::logistic;
use super::loss::{measure, on_threads};
use super::plan::Fit;
use super::samples::Samples;
use super::{Epoch, FitResult, Weights, anchored, bar, report};
use crate::train::sigmoid;

/// Positions of a list that a thread adds to one partial sum.
const SLICE: usize = 8192;

/// Cached state of the positions while weights move.
struct LocalSearch<'a> {
    samples: &'a Samples,
    /// Sums of both halves by position.
    halves: Vec<[f32; 2]>,
    /// Logistic loss by position.
    losses: Vec<f32>,
    /// Positions by weight, each with the number of times White has the term more often than Black.
    lists: Vec<Vec<(u32, i16)>>,
    k: f32,
    threads: usize,
}

impl<'a> LocalSearch<'a> {
    fn new(samples: &'a Samples, weights: &Weights, k: f32, threads: usize) -> Self {
        let mut lists: Vec<Vec<(u32, i16)>> =
            samples.counts().iter().map(|count| Vec::with_capacity(*count as usize)).collect();
        for (index, sample) in (0..).zip(samples.range(0..samples.len())) {
            for &(weight, count) in sample.terms {
                lists[usize::from(weight)].push((index, count));
            }
        }
        let halves = samples.range(0..samples.len()).map(|sample| sample.halves(weights)).collect();
        let mut state = Self { samples, halves, losses: Vec::new(), lists, k, threads };
        state.losses = (0..samples.len()).map(|index| state.loss(index, state.halves[index])).collect();
        state
    }

    fn loss(&self, index: usize, halves: [f32; 2]) -> f32 {
        let sample = self.samples.get(index);
        let factors = sample.factors(halves[1]);
        logistic(sigmoid(self.k * (halves[0] * factors[0] + halves[1] * factors[1])), sample.target())
    }

    /// Returns a position's sums after a change of one half of a weight.
    fn moved(&self, (index, count): (u32, i16), half: usize, by: f32) -> [f32; 2] {
        let mut halves = self.halves[index as usize];
        halves[half] += by * f32::from(count);
        halves
    }

    /// Returns the change in the total loss.
    fn change(&self, weight: usize, half: usize, by: f32) -> f64 {
        let slices: Vec<&[(u32, i16)]> = self.lists[weight].chunks(SLICE).collect();
        let parts = on_threads(&slices, self.threads, |slice| {
            slice.iter().fold(0.0_f64, |sum, term| {
                let index = term.0 as usize;
                sum + f64::from(self.loss(index, self.moved(*term, half, by)) - self.losses[index])
            })
        });
        parts.into_iter().sum()
    }

    fn accept(&mut self, weight: usize, half: usize, by: f32) {
        for place in 0..self.lists[weight].len() {
            let term = self.lists[weight][place];
            let index = term.0 as usize;
            self.halves[index] = self.moved(term, half, by);
            self.losses[index] = self.loss(index, self.halves[index]);
        }
    }
}

/// Passes over all weights until none moves, or until the test error has not improved for
/// `patience` passes. The plan's `epochs` limits the passes; batch, rate and decay are ignored.
#[must_use]
pub fn fit(fit: &Fit, (training, test): (&Samples, &Samples), start: &Weights, k: f32, threads: usize) -> FitResult {
    let held = anchored(&fit.anchored);
    // The engine's table holds whole centipawns.
    let mut weights: Weights = start.iter().map(|weight| weight.map(f32::round)).collect();
    let mut state = LocalSearch::new(training, &weights, k, threads);
    let errors = |number, weights: &Weights| Epoch {
        number,
        training: measure(training, weights, k, threads),
        test: measure(test, weights, k, threads),
    };
    let first = errors(0, &weights);
    let mut fitted = FitResult { weights: weights.clone(), epochs: vec![first] };
    let (mut best, mut stale) = (first.test.mean(), 0);
    for number in 1..=fit.epochs {
        let progress = bar(COUNT as u64, "weights/s");
        progress.set_message(format!("pass {number}"));
        let mut moved = 0;
        for (weight, held) in held.iter().enumerate() {
            if *held || state.lists[weight].is_empty() {
                continue;
            }
            for half in 0..2 {
                moved += usize::from(try_weight(&mut state, &mut weights, start, (weight, half), fit.l2));
            }
            progress.inc(1);
        }
        progress.finish_and_clear();
        let epoch = errors(number, &weights);
        fitted.epochs.push(epoch);
        report::say(&format!("{}, {moved} halves moved", report::line(&epoch, 1.0)));
        stale += 1;
        if epoch.test.mean() < best {
            best = epoch.test.mean();
            fitted.weights.clone_from(&weights);
            stale = 0;
        }
        if moved == 0 || stale == fit.patience {
            break;
        }
    }
    fitted
}

/// Moves one half of a weight by a centipawn if that lowers the loss including the L2 penalty.
/// Returns true if it moved.
fn try_weight(
    state: &mut LocalSearch<'_>,
    weights: &mut Weights,
    start: &Weights,
    (weight, half): (usize, usize),
    l2: f32,
) -> bool {
    let (at, origin) = (weights[weight][half], start[weight][half]);
    for by in [1.0, -1.0] {
        let pull = f64::from(l2) / 2.0 * f64::from((at + by - origin).powi(2) - (at - origin).powi(2));
        if state.change(weight, half, by) + pull < -1e-9 {
            state.accept(weight, half, by);
            weights[weight][half] = at + by;
            return true;
        }
    }
    false
}
