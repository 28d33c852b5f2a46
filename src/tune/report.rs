//! Report of a tuning: the move of each parameter with its certainty, and the share of noise in the
//! whole step.
//!
//! Then the result of the validation pairs, and the values to prove.
//!
//! No Elo is predicted from the tuning pairs: on an engine that was tuned before, such figures
//! promised 20 Elo, and the true gain was zero. They only rank parameters.

use statrs::distribution::{ContinuousCDF, Normal};

use super::auto::{self, Auto, Purpose, Vectors};
use super::calibrate::PER_ELO;
use super::space::{Param, Space};
use crate::stats::elo::{self, Elo, Estimate};
use crate::stats::{Pentanomial, sequence};

/// Curvature before any game, in units in which a parameter loses 1 Elo at 1, and its deviation.
const PRIOR_CURVATURE: f64 = 2.0;
const CURVATURE_DEVIATION: f64 = 2.0;

/// Curvature below which the data does not locate an optimum.
const LEAST_CURVATURE: f64 = 0.25;

/// Deviation of the slope while pairs come in. The report finds its own by marginal likelihood.
const SLOPE_DEVIATION: f64 = 4.0;

/// Deviations of the slope that the report chooses from: from the first by a factor to the last.
const DEVIATIONS: (f64, f64, f64) = (0.02, 1.2, 8.0);

/// Factor on standard errors: without it 95 % intervals held the truth in 84 to 92 % of cases.
const WIDENED: f64 = 1.3;

/// Error of a tuned parameter over that of an average of independent steps, fitted by simulation.
const NOISE: f64 = 0.5;

/// Variance of a pair's wins minus losses before any pair, and the pairs that it is worth.
const PRIOR_VARIANCE: f64 = 1.0;
const PRIOR_PAIRS: f64 = 16.0;

/// Regression of the results of tuning pairs on both sides' values: slope and curvature of each
/// parameter at the start, each parameter by itself given the others' means.
#[derive(Clone, Debug)]
pub struct Regression {
    params: Vec<Param>,
    /// Steps at which a parameter loses 1 Elo on average.
    unit: f64,
    sums: Vec<Sums>,
    /// Slope and curvature of each parameter as the pairs so far have them.
    means: Vec<(f64, f64)>,
    /// Sum of squared results and their number.
    squares: f64,
    pairs: f64,
}

/// Sums of products of a parameter's two regressors and the residual.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    slopes: f64,
    both: f64,
    curvatures: f64,
    slope_residual: f64,
    curvature_residual: f64,
}

/// Normal posterior of slope and curvature: the inverse of their covariance, and the mean.
struct CurvePosterior {
    slope: f64,
    curvature: f64,
    precision: (f64, f64, f64),
    determinant: f64,
    /// Logarithm of the marginal likelihood but for a constant and the prior's own deviation.
    evidence: f64,
}

impl Sums {
    fn posterior(&self, variance: f64, slope_deviation: f64) -> CurvePosterior {
        let own = CURVATURE_DEVIATION.powi(-2);
        let slopes = self.slopes / variance + slope_deviation.powi(-2);
        let both = self.both / variance;
        let curvatures = self.curvatures / variance + own;
        let right = self.slope_residual / variance;
        let other = self.curvature_residual / variance + PRIOR_CURVATURE * own;
        let determinant = slopes * curvatures - both * both;
        let slope = (curvatures * right - both * other) / determinant;
        let curvature = (slopes * other - both * right) / determinant;
        let evidence = 0.5 * (right * slope + other * curvature) - 0.5 * determinant.ln();
        CurvePosterior { slope, curvature, precision: (slopes, both, curvatures), determinant, evidence }
    }
}

impl Regression {
    /// A regression before any pair; `loss` is the calibrated Elo that a parameter loses at a step.
    #[must_use]
    pub fn new(space: &Space, loss: f64) -> Self {
        let params = space.params().to_vec();
        Self {
            unit: 1.0 / loss.sqrt(),
            sums: vec![Sums::default(); params.len()],
            means: vec![(0.0, PRIOR_CURVATURE); params.len()],
            params,
            squares: 0.0,
            pairs: 0.0,
        }
    }

    /// Distance of a value from the start, in units.
    fn distance(&self, param: &Param, value: f64) -> f64 {
        (value - param.start) / (param.step * self.unit)
    }

    /// Records a block of pairs, each with the wins minus losses of its first side. Only pairs that
    /// tune are looked at.
    pub fn record<'a>(&mut self, pairs: impl IntoIterator<Item = (&'a Vectors, i8)>) {
        let mut any = false;
        for (vectors, result) in pairs {
            if vectors.purpose == Purpose::Tune {
                self.record_pair(vectors, f64::from(result));
                any = true;
            }
        }
        if any {
            let variance = self.variance();
            for (mean, sums) in self.means.iter_mut().zip(&self.sums) {
                let posterior = sums.posterior(variance, SLOPE_DEVIATION);
                *mean = (posterior.slope, posterior.curvature);
            }
        }
    }

    fn record_pair(&mut self, vectors: &Vectors, result: f64) {
        let [first, second] = &vectors.sides;
        let regressors: Vec<(f64, f64)> = self
            .params
            .iter()
            .zip(first.iter().zip(second))
            .map(|(param, (first, second))| {
                let (first, second) = (self.distance(param, *first), self.distance(param, *second));
                (PER_ELO * (first - second), -0.5 * PER_ELO * (first * first - second * second))
            })
            .collect();
        let expected: f64 = regressors.iter().zip(&self.means).map(|((x, y), (g, h))| x * g + y * h).sum();
        for ((sums, (x, y)), (g, h)) in self.sums.iter_mut().zip(&regressors).zip(&self.means) {
            let own = result - expected + x * g + y * h;
            sums.slopes += x * x;
            sums.both += x * y;
            sums.curvatures += y * y;
            sums.slope_residual += x * own;
            sums.curvature_residual += y * own;
        }
        self.squares += result * result;
        self.pairs += 1.0;
    }

    /// Variance of a pair's wins minus losses; the sides of a tuning pair are equals on average.
    #[must_use]
    pub fn variance(&self) -> f64 {
        (PRIOR_PAIRS * PRIOR_VARIANCE + self.squares) / (PRIOR_PAIRS + self.pairs)
    }

    /// Deviation of the slopes that explains the pairs best.
    fn slope_deviation(&self) -> f64 {
        let variance = self.variance();
        let (least, factor, most) = DEVIATIONS;
        let evidence = |deviation: f64| -> f64 {
            self.sums.iter().map(|sums| sums.posterior(variance, deviation).evidence - deviation.ln()).sum()
        };
        let all = std::iter::successors(Some(least), |deviation| Some(deviation * factor));
        let rated = all.take_while(|deviation| *deviation < most).map(|deviation| (evidence(deviation), deviation));
        rated.max_by(|a, b| a.0.total_cmp(&b.0)).map_or(SLOPE_DEVIATION, |(_, deviation)| deviation)
    }

    /// Change in Elo by moving each parameter alone from its start to `values`, and its widened
    /// standard error. Too rough to be shown as a gain.
    fn changes(&self, values: &[f64]) -> Vec<(f64, f64)> {
        let (variance, deviation) = (self.variance(), self.slope_deviation());
        let change = |((param, sums), value): ((&Param, &Sums), &f64)| {
            let CurvePosterior { slope, curvature, precision: (slopes, both, curvatures), determinant, .. } =
                sums.posterior(variance, deviation);
            let linear = self.distance(param, *value);
            let square = -0.5 * linear * linear;
            let spread = linear * linear * curvatures - 2.0 * linear * square * both + square * square * slopes;
            (slope * linear + curvature * square, WIDENED * (spread.max(0.0) / determinant).sqrt())
        };
        self.params.iter().zip(&self.sums).zip(values).map(change).collect()
    }

    /// Standard error in steps of where each parameter's optimum lies, as the slope at `values` and
    /// the curvature have it; widened, and no more than the parameter's range.
    #[must_use]
    pub fn errors(&self, values: &[f64]) -> Vec<f64> {
        let (variance, deviation) = (self.variance(), self.slope_deviation());
        let error = |((param, sums), value): ((&Param, &Sums), &f64)| {
            let CurvePosterior { curvature, precision: (slopes, both, curvatures), determinant, .. } =
                sums.posterior(variance, deviation);
            // Variance of the slope minus the distance times the curvature, over the determinant.
            let distance = self.distance(param, *value);
            let spread = curvatures + 2.0 * distance * both + distance * distance * slopes;
            let error = (spread.max(0.0) / determinant).sqrt() / curvature.max(LEAST_CURVATURE);
            (WIDENED * error * self.unit).min((param.max - param.min) / param.step)
        };
        self.params.iter().zip(&self.sums).zip(values).map(error).collect()
    }

    /// Probability that each parameter alone is better at its value of `values` than at its start;
    /// a half if it did not move.
    #[must_use]
    pub fn better(&self, values: &[f64]) -> Vec<f64> {
        let better =
            |(change, error): (f64, f64)| if error > 0.0 { Normal::standard().cdf(change / error) } else { 0.5 };
        self.changes(values).into_iter().map(better).collect()
    }
}

/// A parameter in the report.
#[derive(Clone, Debug, PartialEq)]
pub struct ReportRow {
    /// UCI option that sets it.
    pub name: String,
    /// Value before the tuning, in the option's own unit.
    pub start: f64,
    /// Value after the tuning, in the option's own unit.
    pub now: f64,
    /// Value nearest to it that the engine takes, in the option's own unit.
    pub rounded: f64,
    /// Steps from the start to the result.
    pub moved: f64,
    /// Standard error of the optimum in steps, if there is a regression.
    pub error: Option<f64>,
    /// Probability that the rounded value alone is better than the start, likewise.
    pub better: Option<f64>,
    /// True if the sensitivity searches found no effect of the parameter on the engine.
    pub is_dead: bool,
}

/// The table of the report at the values of `result`; `dead` names parameters that change nothing.
#[must_use]
pub fn rows(space: &Space, result: &[f64], regression: Option<&Regression>, dead: &[String]) -> Vec<ReportRow> {
    let rounded = space.nearest(result);
    let better = regression.map(|regression| regression.better(&rounded));
    let errors = regression.map(|regression| regression.errors(result));
    let starts = space.nearest(&space.start());
    let of = |column: &Option<Vec<f64>>, index: usize| column.as_ref().and_then(|column| column.get(index)).copied();
    let row = |(index, (param, now)): (usize, (&Param, &f64))| ReportRow {
        name: param.name.clone(),
        start: param.start,
        now: *now,
        rounded: rounded[index],
        moved: (now - param.start) / param.step,
        error: of(&errors, index),
        // The engine played the same value, even if the start was not one that it takes.
        better: of(&better, index).map(|better| if rounded[index] == starts[index] { 0.5 } else { better }),
        is_dead: dead.contains(&param.name),
    };
    space.params().iter().zip(result).enumerate().map(row).collect()
}

/// Share of the step from start to result, `0.0..=1.0`, that chance alone would have made on
/// average; `None` before anything has moved.
///
/// It is the factor by which James and Stein would draw the result back.
#[must_use]
pub fn noise(run: &Auto, variance: f64) -> Option<f64> {
    let loss = run.rule().loss_at_perturbation();
    let perturbation = run.rule().perturbation(run.loss(), 0);
    let pairs = run.tuned() as f64 / 2.0;
    let error = NOISE * variance.sqrt() / PER_ELO / (4.0 * loss * pairs.sqrt());
    let walk = variance * run.rule().walk(run.tuned());
    let (mut squared, mut by_chance) = (0.0, 0.0);
    for (param, now) in run.rule().space.params().iter().zip(run.mean()) {
        let wanted = param.step * perturbation;
        squared += ((now - param.start) / wanted).powi(2);
        // A narrow range lets a parameter move less than that.
        let share = auto::scale(param, perturbation) / wanted;
        by_chance += (error * error).min(share * share * walk);
    }
    (squared > 0.0).then(|| (by_chance / squared).min(1.0))
}

/// Results of validation pairs: the mean so far against the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Validation {
    counts: Pentanomial,
}

impl Validation {
    /// Takes a pair if it is a validation; `result` is the wins minus losses of its first side.
    pub fn record(&mut self, purpose: Purpose, result: i8) {
        if purpose == Purpose::Validate {
            self.counts.0[usize::from(result.clamp(-2, 2).abs_diff(-2))] += 1;
        }
    }

    /// Pairs by the points of the mean so far.
    #[must_use]
    pub const fn counts(&self) -> Pentanomial {
        self.counts
    }

    /// Elo of the means that were played, on average, over the start; `None` without pairs.
    #[must_use]
    pub fn elo(&self) -> Option<Estimate> {
        elo::logistic(&self.counts)
    }

    /// Interval of that Elo which holds at all moments at once.
    #[must_use]
    pub fn interval(&self) -> (Elo, Elo) {
        sequence::elo(&self.counts)
    }
}

/// Part of a whole number's move by which its half is shorter, so that ties are rounded towards
/// the start.
const TOWARDS_START: f64 = 1e-9;

/// Part of the step from the start that a candidate takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stride {
    /// All of it: best if the engine was not tuned before.
    Full,
    /// Half of it: best if it was, because half of the noise goes too.
    Half,
}

/// Candidates for the proof, by values that the engine takes.
///
/// Those that rounding makes equal to the start or to one another are left out.
#[must_use]
pub fn candidates(space: &Space, result: &[f64]) -> Vec<(Stride, Vec<f64>)> {
    let start = space.start();
    // Half of a step of one is none: what rounds evenly goes back to the start.
    let half = |((param, start), now): ((&Param, &f64), &f64)| {
        let shorter = if param.kind.is_whole() { (start - now) * TOWARDS_START } else { 0.0 };
        f64::midpoint(*start, *now) + shorter
    };
    let halved: Vec<f64> = space.params().iter().zip(&start).zip(result).map(half).collect();
    let mut candidates = vec![(Stride::Full, space.nearest(result)), (Stride::Half, space.nearest(&halved))];
    let start = space.nearest(&start);
    candidates.retain(|(_, values)| *values != start);
    candidates.dedup_by(|half, full| half.1 == full.1);
    candidates
}

#[cfg(test)]
mod tests {
    use super::super::auto::Rule;
    use super::super::landscape::Landscape;
    use super::super::read;
    use super::*;
    use crate::stats::random::SplitMix64;

    /// A run on a landscape with its regression and validation.
    fn run(landscape: &Landscape, seed: u64, pairs: u64) -> (Auto, Regression, Validation) {
        let space = landscape.space().expect("sound");
        let mut run = Auto::new(Rule::new(space.clone(), seed, 16, Some(pairs)));
        let (mut regression, mut validation) = (None, Validation::default());
        let mut random = SplitMix64::new(seed);
        for block in 0..pairs / 16 {
            let asked = run.ask(block).expect("in order");
            let results: Vec<i8> = asked.iter().map(|pair| landscape.play(&pair.sides, &mut random)).collect();
            if run.rule().purpose(block) == Purpose::Tune {
                let regression = regression.get_or_insert_with(|| Regression::new(&space, run.loss()));
                regression.record(asked.iter().zip(results.iter().copied()));
            }
            for (pair, result) in asked.iter().zip(results) {
                validation.record(pair.purpose, result);
                run.record(result);
            }
        }
        (run, regression.expect("tuned"), validation)
    }

    #[test]
    fn intervals_of_parameters_hold_and_marked_ones_are_better() {
        let (mut held, mut all, mut marked, mut right) = (0.0, 0.0, 0.0, 0.0);
        for seed in 0..12 {
            let landscape = Landscape::new(40, 1.0, 500 + seed);
            let (run, regression, _) = run(&landscape, seed, 5_000);
            let values = run.mean().to_vec();
            let start = vec![0.0; 40];
            let rows = rows(&run.rule().space, &values, Some(&regression), &["p3".to_owned()]);
            for (index, (change, error)) in regression.changes(&values).into_iter().enumerate() {
                let mut alone = start.clone();
                alone[index] = values[index];
                let truth = landscape.loss(&start) - landscape.loss(&alone);
                held += f64::from(u8::from((change - truth).abs() < 1.96 * error));
                all += 1.0;
                assert_eq!(rows[index].is_dead, index == 3);
                if rows[index].better.is_some_and(|better| better > 0.95) {
                    marked += 1.0;
                    right += f64::from(u8::from(truth > 0.0));
                }
            }
        }
        assert!(held / all > 0.88, "{held} of {all}");
        // Few are: the interval of one parameter is wide beside what it can gain.
        assert!(marked >= 3.0 && right > 0.75 * marked, "{marked} of {all} marked, {right} right");
    }

    #[test]
    fn noise_is_most_of_the_step_on_a_tuned_engine_and_little_on_an_untuned_one() {
        let mean = |stake: f64| {
            let share = |seed| {
                let landscape = Landscape::new(20, 1.0, seed).with_stake(stake);
                let (run, regression, _) = run(&landscape, seed, 5_000);
                noise(&run, regression.variance()).expect("moved")
            };
            (0..8).map(share).sum::<f64>() / 8.0
        };
        let (tuned, untuned) = (mean(0.5), mean(60.0));
        assert!(tuned > 0.5 && untuned < 0.3, "{tuned} {untuned}");
        let landscape = Landscape::new(5, 1.0, 1);
        let before = Auto::new(Rule::new(landscape.space().expect("sound"), 1, 16, None));
        assert_eq!(noise(&before, 1.0), None);
    }

    #[test]
    fn noise_allows_for_narrow_ranges() {
        // A perturbation takes at most a quarter of a range, which is one of a step here.
        let text = "Alpha, int, 50, 44, 56, 12, 0.002";
        let space = || read::rows("rows", text).expect("rows").check().expect("sound");
        let (mut told, mut walked) = (0.0, 0.0);
        for seed in 0..100 {
            let mut run = Auto::new(Rule::new(space(), seed, 16, Some(3_200)));
            let mut results = SplitMix64::new(seed);
            for block in 0..200 {
                let asked = run.ask(block).expect("in order");
                asked.iter().for_each(|_| run.record([-2, -1, 0, 0, 1, 2][results.below(6) as usize]));
            }
            let squared = (run.mean()[0] - 50.0).powi(2);
            walked += squared;
            told += noise(&run, 10.0 / 6.0).map_or(0.0, |share| share * squared);
        }
        // A share is 1 at most, so less is told of the shortest walks.
        assert!((0.3..1.0).contains(&(told / walked)), "{told} {walked}");
    }

    #[test]
    fn validation_counts_its_own_pairs_alone() {
        let mut validation = Validation::default();
        assert_eq!(validation.elo(), None);
        for result in [-2, -1, 0, 1, 2, 2] {
            validation.record(Purpose::Validate, result);
            validation.record(Purpose::Tune, result);
            validation.record(Purpose::Calibrate, result);
        }
        assert_eq!(validation.counts(), Pentanomial([1, 1, 1, 1, 2]));
        let (low, high) = validation.interval();
        let elo = validation.elo().expect("pairs").value;
        assert!(low < elo && elo < high, "{low} {elo} {high}");
    }

    #[test]
    fn candidates_that_rounding_makes_equal_are_left_out() {
        let space = read::lines("p", "a,10,0,20,1,.1\nb,10,0,20,1,.1").expect("sound");
        let strides = |result: [f64; 2]| {
            let all = candidates(&space, &result).into_iter();
            all.map(|(stride, values)| (stride, values[0], values[1])).collect::<Vec<_>>()
        };
        assert_eq!(strides([14.2, 7.4]), [(Stride::Full, 14.0, 7.0), (Stride::Half, 12.0, 9.0)]);
        assert_eq!(strides([10.3, 9.6]), []);
        assert_eq!(strides([10.8, 10.0]), [(Stride::Full, 11.0, 10.0)]);
        assert_eq!(strides([11.2, 10.0]), [(Stride::Full, 11.0, 10.0)]);
        // Half of a step of one is none, in either direction.
        assert_eq!(strides([11.0, 9.0]), [(Stride::Full, 11.0, 9.0)]);
        assert_eq!(strides([11.0, 7.0]), [(Stride::Full, 11.0, 7.0), (Stride::Half, 10.0, 9.0)]);
    }

    #[test]
    fn a_parameter_that_did_not_move_is_neither_better_nor_worse() {
        let landscape = Landscape::new(4, 1.0, 2);
        let (_, regression, _) = run(&landscape, 1, 640);
        assert_eq!(regression.better(&[0.0; 4]), [0.5; 4]);
        assert!(regression.better(&[1.0; 4]).iter().all(|p| (0.0..=1.0).contains(p) && *p != 0.5));
    }
}
