//! Fits the weights of the evaluation to scored positions of games ("Texel's tuning method", P. Österlund, 2014).
//!
//!     quiets < games.txt | texel engine/src/eval/weights.rs [RESULT_SHARE]
//!
//! Input lines are `FEN | centipawns for White | result for White`, quiet positions, those of one game together. A position's
//! target is a mixture of the result, with the share given (1 uses results alone), and of what the score promises,
//! `sigmoid(k * score)` with `k` fitted to the results. The evaluation promises `sigmoid(K * value)`, and the weights are moved
//! against the gradient of the logistic loss with Adam (Kingma, Ba 2015). `K` is fitted first, to the weights as they are, so
//! the scale of the values stays. Every fifth block of lines is kept back; its loss chooses the weights that are written.
#![expect(clippy::print_stderr, reason = "progress goes to the terminal")]

use destrier::board::Board;
use destrier::eval::layout::COUNT;
use destrier::eval::{Trace, WEIGHTS, render_weights, trace};
use std::io::{BufRead, Error};
use std::thread;

const THREADS: usize = 2;
/// The share of the result in a target: scores of a stronger player say more about a position, but not all.
const RESULT_SHARE: f32 = 0.2;
/// Lines to a block; long enough that hardly a game lies in two.
const BLOCK_LINES: usize = 8192;
const BATCH: usize = 16_384;
const MAX_EPOCHS: usize = 200;
/// How hard weights are held to where they began, as a share of the loss of all positions; it keeps the rare ones sane.
const PULL: f32 = 0.003;
/// Epochs without a better validation loss before the step is cut.
const PATIENCE: usize = 3;
/// The first step of Adam in centipawns; it is cut by half until it is below the last one.
const FIRST_STEP: f32 = 1.0;
const LAST_STEP: f32 = 0.05;

type Weights = Vec<[f32; 2]>;

/// One position.
struct Sample {
    trace: Trace,
    /// Centipawns for White.
    score: f32,
    /// White's result as 0, 1/2 or 1.
    result: f32,
    /// What the evaluation should promise White, 0 to 1.
    target: f32,
}

/// Sums over samples.
#[derive(Clone, Copy, Default)]
struct Loss {
    /// Logistic loss, in nats.
    logistic: f64,
    squared: f64,
    count: usize,
}

impl Loss {
    fn add(&mut self, expected: f32, target: f32) {
        let clamped = expected.clamp(1e-6, 1.0 - 1e-6);
        self.logistic -= f64::from(target * clamped.ln() + (1.0 - target) * (1.0 - clamped).ln());
        self.squared += f64::from((expected - target).powi(2));
        self.count += 1;
    }

    fn merged(self, other: Loss) -> Loss {
        Loss {
            logistic: self.logistic + other.logistic,
            squared: self.squared + other.squared,
            count: self.count + other.count,
        }
    }

    fn logistic_mean(self) -> f64 {
        self.logistic / self.count as f64
    }

    fn squared_mean(self) -> f64 {
        self.squared / self.count as f64
    }
}

fn main() -> Result<(), Error> {
    let Some(path) = std::env::args().nth(1) else {
        return Err(Error::other("usage: texel WEIGHTS.RS [RESULT_SHARE] < POSITIONS.TXT"));
    };
    let share = match std::env::args().nth(2).map(|text| text.parse()) {
        None => RESULT_SHARE,
        Some(Ok(share @ 0.0..=1.0)) => share,
        Some(_) => return Err(Error::other("the share of the result is a number from 0 to 1")),
    };
    let (mut training, mut validation) = read_samples()?;
    eprintln!("{} positions to train, {} to validate", training.len(), validation.len());
    let of_scores = fit_scale(|scale| mean_of_scores(&training, scale));
    eprintln!("k = {of_scores:.6} per centipawn of the scores; share of results {share}");
    for sample in training.iter_mut().chain(&mut validation) {
        sample.target = share * sample.result + (1.0 - share) * sigmoid(of_scores * sample.score);
    }
    let start: Weights = WEIGHTS.iter().map(|weight| [weight.mg() as f32, weight.eg() as f32]).collect();
    let scale = fit_scale(|scale| measure(&training, &start, scale).logistic_mean());
    eprintln!("K = {scale:.6} per centipawn (10^(x/{:.0}))", std::f32::consts::LN_10 / scale);

    let fitted = fit(&training, &validation, &start, scale);
    let rounded: Vec<[i32; 2]> = fitted.iter().map(|weight| weight.map(|half| half.round() as i32)).collect();
    let written: Weights = rounded.iter().map(|weight| weight.map(|half| half as f32)).collect();
    report("as written", measure(&validation, &written, scale));
    std::fs::write(&path, render_weights(&rounded))
}

fn report(what: &str, loss: Loss) {
    eprintln!("{what}: validation loss {:.6}, squared {:.6}", loss.logistic_mean(), loss.squared_mean());
}

/// Reads standard input; every fifth block goes to validation.
fn read_samples() -> Result<(Vec<Sample>, Vec<Sample>), Error> {
    let lines: Vec<String> = std::io::stdin().lock().lines().collect::<Result<_, _>>()?;
    let share = lines.len().div_ceil(THREADS).max(1);
    let parsed: Vec<Result<Vec<Sample>, Error>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..)
            .zip(lines.chunks(share))
            .map(|(part, lines)| {
                scope.spawn(move || {
                    let numbered = (part * share + 1..).zip(lines);
                    numbered.map(|(number, line)| parse(line).map_err(|why| at_line(number, &why))).collect()
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("workers do not panic")).collect()
    });
    let (mut training, mut validation) = (Vec::new(), Vec::new());
    let samples = parsed.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten();
    for (index, sample) in samples.enumerate() {
        let part = if index / BLOCK_LINES % 5 == 4 { &mut validation } else { &mut training };
        part.push(sample);
    }
    if training.is_empty() || validation.is_empty() {
        return Err(Error::other(format!("fewer than {} positions", 5 * BLOCK_LINES)));
    }
    Ok((training, validation))
}

fn at_line(number: usize, why: &str) -> Error {
    Error::other(format!("line {number}: {why}"))
}

fn parse(line: &str) -> Result<Sample, String> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    let [fen, score, result] = fields[..] else { return Err("expected `fen | centipawns | result`".to_owned()) };
    let board = Board::from_fen(fen).map_err(|error| error.to_string())?;
    let score = score.parse().map_err(|_| format!("bad score `{score}`, expected centipawns"))?;
    match result.parse() {
        Ok(result @ 0.0..=1.0) => Ok(Sample { trace: trace(&board), score, result, target: result }),
        _ => Err(format!("bad result `{result}`, expected 0 to 1")),
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// The loss of all samples, on all threads.
fn measure(samples: &[Sample], weights: &Weights, scale: f32) -> Loss {
    on_threads(samples, |part| {
        let mut loss = Loss::default();
        for sample in part {
            loss.add(sigmoid(scale * sample.trace.value_f32(weights).0), sample.target);
        }
        loss
    })
    .into_iter()
    .fold(Loss::default(), Loss::merged)
}

fn on_threads<T: Send>(samples: &[Sample], work: impl Fn(&[Sample]) -> T + Sync) -> Vec<T> {
    let work = &work;
    thread::scope(|scope| {
        let parts = samples.chunks(samples.len().div_ceil(THREADS).max(1));
        let workers: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
        workers.into_iter().map(|worker| worker.join().expect("workers do not panic")).collect()
    })
}

/// The mean loss of the results as the scores foresee them.
fn mean_of_scores(samples: &[Sample], scale: f32) -> f64 {
    let mut loss = Loss::default();
    for sample in samples {
        loss.add(sigmoid(scale * sample.score), sample.result);
    }
    loss.logistic_mean()
}

/// The factor of values of the least loss, by golden section.
fn fit_scale(loss: impl Fn(f32) -> f64) -> f32 {
    let ratio = (5_f32.sqrt() - 1.0) / 2.0;
    let (mut low, mut high) = (0.0005, 0.02);
    while high - low > 1e-5 {
        let step = ratio * (high - low);
        let (inner_low, inner_high) = (high - step, low + step);
        if loss(inner_low) < loss(inner_high) {
            high = inner_high;
        } else {
            low = inner_low;
        }
    }
    (low + high) / 2.0
}

/// Moments of the gradient, for Adam.
struct Adam {
    first: Weights,
    second: Weights,
    steps: i32,
}

impl Adam {
    const BETA: [f32; 2] = [0.9, 0.999];

    fn new() -> Adam {
        Adam { first: vec![[0.0; 2]; COUNT], second: vec![[0.0; 2]; COUNT], steps: 0 }
    }

    fn step(&mut self, weights: &mut Weights, gradient: &Weights, size: f32) {
        self.steps += 1;
        let correct = Self::BETA.map(|beta| 1.0 - beta.powi(self.steps));
        for index in 0..COUNT {
            for half in 0..2 {
                let slope = gradient[index][half];
                let first = &mut self.first[index][half];
                let second = &mut self.second[index][half];
                *first += (1.0 - Self::BETA[0]) * (slope - *first);
                *second += (1.0 - Self::BETA[1]) * (slope * slope - *second);
                let root = (*second / correct[1]).sqrt() + 1e-10;
                weights[index][half] -= size * (*first / correct[0]) / root;
            }
        }
    }
}

/// Epochs of minibatches; returns the weights of the best validation loss.
fn fit(training: &[Sample], validation: &[Sample], start: &Weights, scale: f32) -> Weights {
    let mut adam = Adam::new();
    let mut weights = start.clone();
    let mut best = (measure(validation, &weights, scale), weights.clone());
    report("before", best.0);
    let (mut size, mut stale) = (FIRST_STEP, 0);
    // A stride without common divisors visits every batch of neighbours in a scattered order.
    let batches: Vec<&[Sample]> = training.chunks(BATCH / 64).collect();
    for epoch in 1..=MAX_EPOCHS {
        let mut order: Vec<usize> = (0..batches.len()).collect();
        shuffle(&mut order, epoch as u64);
        let mut train_loss = Loss::default();
        for group in order.chunks(64) {
            let parts: Vec<&[Sample]> = group.iter().map(|&index| batches[index]).collect();
            let (loss, mut gradient) = gradient(&parts, &weights, scale);
            let pull = PULL / training.len() as f32;
            for (slope, (weight, origin)) in gradient.iter_mut().zip(weights.iter().zip(start)) {
                *slope = [0, 1].map(|half| slope[half] + pull * (weight[half] - origin[half]));
            }
            train_loss = train_loss.merged(loss);
            adam.step(&mut weights, &gradient, size);
        }
        let loss = measure(validation, &weights, scale);
        let train = train_loss.logistic_mean();
        eprintln!("epoch {epoch}: step {size}, training {train:.6}, validation {:.6}", loss.logistic_mean());
        if loss.logistic_mean() < best.0.logistic_mean() {
            best = (loss, weights.clone());
            stale = 0;
            continue;
        }
        stale += 1;
        if stale == PATIENCE {
            stale = 0;
            size /= 2.0;
            weights.clone_from(&best.1);
            if size < LAST_STEP {
                break;
            }
        }
    }
    report("after", best.0);
    best.1
}

/// Fisher and Yates, with splitmix64 seeded by the epoch.
fn shuffle(order: &mut [usize], seed: u64) {
    let mut state = seed;
    for last in (1..order.len()).rev() {
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        order.swap(last, ((z ^ (z >> 31)) % (last as u64 + 1)) as usize);
    }
}

/// Loss and mean gradient of a batch, its parts shared among the threads.
fn gradient(parts: &[&[Sample]], weights: &Weights, scale: f32) -> (Loss, Weights) {
    let shares: Vec<(Loss, Weights)> = thread::scope(|scope| {
        let chunks = parts.chunks(parts.len().div_ceil(THREADS).max(1));
        let workers: Vec<_> = chunks.map(|chunk| scope.spawn(move || partial(chunk, weights, scale))).collect();
        workers.into_iter().map(|worker| worker.join().expect("workers do not panic")).collect()
    });
    let (mut loss, mut sum) = (Loss::default(), vec![[0.0; 2]; COUNT]);
    for (share_loss, share) in shares {
        loss = loss.merged(share_loss);
        for (total, part) in sum.iter_mut().zip(share) {
            *total = [total[0] + part[0], total[1] + part[1]];
        }
    }
    let count = loss.count as f32;
    for slope in &mut sum {
        *slope = slope.map(|half| half / count);
    }
    (loss, sum)
}

fn partial(parts: &[&[Sample]], weights: &Weights, scale: f32) -> (Loss, Weights) {
    let (mut loss, mut sum) = (Loss::default(), vec![[0.0; 2]; COUNT]);
    for sample in parts.iter().copied().flatten() {
        let (value, factors) = sample.trace.value_f32(weights);
        let expected = sigmoid(scale * value);
        loss.add(expected, sample.target);
        // The logistic loss falls by `expected - target` per unit of `scale * value`.
        let slope = (expected - sample.target) * scale;
        for &(index, count) in &sample.trace.coefficients {
            let total = &mut sum[usize::from(index)];
            total[0] += slope * factors[0] * f32::from(count);
            total[1] += slope * factors[1] * f32::from(count);
        }
    }
    (loss, sum)
}
