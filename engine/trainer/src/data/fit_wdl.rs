//! Fit of the win probability of a score to the results of games: `data fit-wdl`.
//!
//! The model is `sigmoid((score - offset) / scale)` from the side to move's view, with a draw as
//! half a win. The fit maximises the likelihood, and its errors take a game as one observation.

use super::continuation::WholeGames;
use super::error::DataError;
use super::input::Input;
use super::needs::Needs;
use super::record::Position;
use super::{passed_over, say};
use anyhow::bail;
use clap::Args;
use destrier::datagen::viriformat::NO_SCORE;
use quintain::report::plot::{CurvePlot, Scale};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Centipawns of a bin of the figure.
const BIN: i32 = 25;
/// Positions that a bin of the figure has at least.
const LEAST_IN_BIN: u64 = 20;
/// Maximum number of Newton steps; a fit takes about ten.
const MOST_STEPS: usize = 100;
/// Scale in centipawns at which the fit starts.
const FIRST_SCALE: f64 = 400.0;
/// Remedy for games that are not whole.
const TORN: &str = "games that are not whole would count as several; fit before filtering and shuffling";

const EXAMPLES: &str = "\
Example:
  destrier-trainer data fit-wdl games.vf --min-ply 20 --plot wdl.svg

The scale is the `in-scale` of a training whose targets are to be these probabilities.";

/// Arguments of `fit-wdl`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct FitWdlArgs {
    #[command(flatten)]
    input: Input,
    /// Leave out positions before this ply of the game
    #[arg(long, default_value_t = 0, value_name = "PLY")]
    min_ply: u32,
    /// Leave out positions with a score beyond this, in centipawns, because mates and won endings
    /// say nothing about the curve
    #[arg(long, default_value_t = 2000, value_name = "CP")]
    max_score: u16,
    /// Picture of results and fit, SVG
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Score and result of a position from the side to move's view.
#[derive(Debug, Clone, Copy)]
pub struct ScoredResult {
    /// Score in centipawns.
    pub score: i16,
    /// Points of the game in halves: 0, 1, 2.
    pub half_points: u8,
}

/// Fit with its standard errors.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WdlFit {
    /// Score in centipawns at a win probability of one half.
    pub offset: f64,
    /// Standard error of the offset.
    pub offset_error: f64,
    /// Centipawns beyond the offset at a win probability of 0.73.
    pub scale: f64,
    /// Standard error of the scale.
    pub scale_error: f64,
    /// Mean negative log likelihood, in nats a position.
    pub loss: f64,
    /// Positions of the fit.
    pub positions: u64,
    /// Games of the fit; positions of files without games count as one each.
    pub games: u64,
}

impl WdlFit {
    /// Returns the win probability of a score.
    pub fn probability(&self, score: f64) -> f64 {
        sigmoid((score - self.offset) / self.scale)
    }
}

/// Logistic function.
pub(crate) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Count and points of the positions with one score.
type ScoreCounts = BTreeMap<i16, (f64, f64)>;

/// Symmetric matrix of two rows: upper left, off the diagonal, lower right.
type Matrix = [f64; 3];

fn solved([a, b, c]: Matrix, [x, y]: [f64; 2]) -> Option<[f64; 2]> {
    let determinant = a * c - b * b;
    (determinant.abs() > 1e-12 * (a * c).abs() && determinant.is_finite())
        .then(|| [(c * x - b * y) / determinant, (a * y - b * x) / determinant])
}

/// Negative log likelihood of `sigmoid(slope * score + level)`, its slopes and second derivatives.
/// Scores are in units of [`FIRST_SCALE`].
fn likelihood(counts: &ScoreCounts, [slope, level]: [f64; 2]) -> (f64, [f64; 2], Matrix) {
    let (mut loss, mut slopes, mut curvature) = (0.0, [0.0; 2], [0.0; 3]);
    for (&score, &(count, points)) in counts {
        let x = f64::from(score) / FIRST_SCALE;
        let z = slope * x + level;
        let p = sigmoid(z);
        // -ln sigmoid(z), without overflow for scores far from the offset.
        let minus_ln = |z: f64| if z > 0.0 { (-z).exp().ln_1p() } else { z.exp().ln_1p() - z };
        loss += points * minus_ln(z) + (count - points) * minus_ln(-z);
        let error = count * p - points;
        slopes = [slopes[0] + error * x, slopes[1] + error];
        let weight = count * p * (1.0 - p);
        curvature = [curvature[0] + weight * x * x, curvature[1] + weight * x, curvature[2] + weight];
    }
    (loss, slopes, curvature)
}

/// Fits the model to games. Returns `None` if the results do not depend on the scores, or are
/// decided by them completely.
pub fn fit(games: &[Vec<ScoredResult>]) -> Option<WdlFit> {
    let mut counts = ScoreCounts::new();
    let mut positions = 0_u64;
    for position in games.iter().flatten() {
        let entry = counts.entry(position.score).or_default();
        entry.0 += 1.0;
        entry.1 += f64::from(position.half_points) / 2.0;
        positions += 1;
    }
    let mut point = [1.0, 0.0];
    let (mut loss, mut slopes, mut curvature) = likelihood(&counts, point);
    for _ in 0..MOST_STEPS {
        let step = solved(curvature, slopes)?;
        // Newton's step, halved until the likelihood rises.
        let tries = (0..30).map(|halvings| 0.5_f64.powi(halvings));
        let moved = tries.map(|part| [point[0] - part * step[0], point[1] - part * step[1]]);
        let better = moved.map(|point| (point, likelihood(&counts, point))).find(|(_, next)| next.0 < loss);
        let Some((next, (next_loss, next_slopes, next_curvature))) = better else { break };
        let gain = loss - next_loss;
        (point, loss, slopes, curvature) = (next, next_loss, next_slopes, next_curvature);
        if gain < 1e-12 * loss {
            break;
        }
    }
    let [slope, level] = point;
    if !(1e-3..1e3).contains(&slope) {
        return None;
    }
    let [slope_error, both, level_error] = covariance(games, point, curvature)?;
    let scale = FIRST_SCALE / slope;
    let offset = -level / slope * FIRST_SCALE;
    // Errors of a quotient by its derivatives.
    let offset_variance = (level_error - 2.0 * level / slope * both + (level / slope).powi(2) * slope_error)
        * (FIRST_SCALE / slope).powi(2);
    Some(WdlFit {
        offset,
        offset_error: offset_variance.max(0.0).sqrt(),
        scale,
        scale_error: slope_error.max(0.0).sqrt() * scale / slope,
        loss: loss / positions as f64,
        positions,
        games: games.iter().filter(|game| !game.is_empty()).count() as u64,
    })
}

/// Covariance of slope and level with a game as one observation (the sandwich estimator).
fn covariance(games: &[Vec<ScoredResult>], [slope, level]: [f64; 2], curvature: Matrix) -> Option<Matrix> {
    let mut spread = [0.0; 3];
    for game in games {
        let mut sum = [0.0; 2];
        for position in game {
            let x = f64::from(position.score) / FIRST_SCALE;
            let error = sigmoid(slope * x + level) - f64::from(position.half_points) / 2.0;
            sum = [sum[0] + error * x, sum[1] + error];
        }
        spread = [spread[0] + sum[0] * sum[0], spread[1] + sum[0] * sum[1], spread[2] + sum[1] * sum[1]];
    }
    // Inverse of the curvature on both sides of the spread.
    let [left, right] = [solved(curvature, [1.0, 0.0])?, solved(curvature, [0.0, 1.0])?];
    let times = |row: [f64; 2], column: [f64; 2]| {
        let inner = [spread[0] * column[0] + spread[1] * column[1], spread[1] * column[0] + spread[2] * column[1]];
        row[0] * inner[0] + row[1] * inner[1]
    };
    Some([times(left, left), times(left, right), times(right, right)])
}

impl FitWdlArgs {
    /// Fits and prints.
    ///
    /// # Errors
    /// Fails if an input cannot be read, nothing can be fitted, or the picture cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        let mut games = Vec::new();
        let mut left_out = 0_u64;
        let sources = self.input.open(Needs::default())?;
        for (path, source) in self.input.files.iter().zip(&sources) {
            if self.min_ply > 0 && !source.format.holds_ply() {
                let remedy = "leave out `--min-ply`, or give the games";
                return Err(source.format.lacks(path, "at which ply a position is", remedy).into());
            }
        }
        let mut whole = WholeGames::default();
        let passed = self.input.read_sources(sources, |path, format, entry| {
            whole.check(path, format, &entry, TORN)?;
            let positions = entry.positions();
            let kept: Vec<ScoredResult> = positions.iter().filter_map(|position| self.of(position)).collect();
            left_out += (positions.len() - kept.len()) as u64;
            games.push(kept);
            Ok(())
        })?;
        let Some(fit) = fit(&games) else {
            bail!(
                "no curve fits: {left_out} positions left out, and the results of the others do not depend on their scores; give \
                 games with scores and both results, or a larger `--max-score`"
            );
        };
        if let Some(path) = &self.plot {
            std::fs::write(path, draw(&fit, &games)).map_err(DataError::io(path, "write it"))?;
        }
        if self.json {
            say(&serde_json::to_string_pretty(&fit)?)?;
        } else {
            let WdlFit { offset, offset_error, scale, scale_error, loss, positions, games } = fit;
            say(&format!(
                "win probability of the side to move: sigmoid((score - {offset:.2}) / {scale:.2})\n\
                 offset {offset:.2} +- {offset_error:.2} cp, scale {scale:.2} +- {scale_error:.2} cp (standard errors by game)\n\
                 {positions} positions of {games} games, {left_out} left out, {loss:.5} nats a position{}",
                passed_over(passed)
            ))?;
        }
        Ok(())
    }

    /// Score and result of a position that takes part.
    fn of(&self, position: &Position) -> Option<ScoredResult> {
        let is_in = position.score != NO_SCORE && position.score.unsigned_abs() <= self.max_score;
        if !is_in || (self.min_ply > 0 && position.ply() < self.min_ply) {
            return None;
        }
        let (score, result) = position.relative();
        Some(ScoredResult { score, half_points: result.half_points() })
    }
}

/// Draws the mean results by score, and the fit.
fn draw(fit: &WdlFit, games: &[Vec<ScoredResult>]) -> String {
    let mut bins: BTreeMap<i32, (u64, u64)> = BTreeMap::new();
    for position in games.iter().flatten() {
        let bin = bins.entry(i32::from(position.score).div_euclid(BIN)).or_default();
        *bin = (bin.0 + 1, bin.1 + u64::from(position.half_points));
    }
    let middle = |bin: i32| f64::from(bin * BIN) + f64::from(BIN) / 2.0;
    let full = bins.iter().filter(|(_, (count, _))| *count >= LEAST_IN_BIN);
    let results: Vec<(f64, f64)> =
        full.map(|(&bin, &(count, halves))| (middle(bin), halves as f64 / 2.0 / count as f64)).collect();
    let curve = results.iter().map(|(score, _)| (*score, fit.probability(*score))).collect();
    CurvePlot {
        title: "Win probability by score".to_owned(),
        caption: format!(
            "fit: sigmoid((score - {:.2}) / {:.2}); {} positions of {} games, a point has {BIN} centipawns",
            fit.offset, fit.scale, fit.positions, fit.games
        ),
        x_label: "score for the side to move, centipawns".to_owned(),
        x_scale: Scale::Linear,
        y_label: "points per game".to_owned(),
        y_scale: Scale::Linear,
        longest_join: None,
        series: vec![("results".to_owned(), results), ("fit".to_owned(), curve)],
        bands: Vec::new(),
    }
    .to_svg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use destrier::types::SplitMix64;

    /// Games whose results follow the model.
    fn drawn(offset: f64, scale: f64, games: usize) -> Vec<Vec<ScoredResult>> {
        let mut random = SplitMix64::new(7);
        let game = |_| {
            let score = random.below(1600) as i16 - 800;
            let won = random.below(1 << 20) as f64 / f64::from(1 << 20) < sigmoid((f64::from(score) - offset) / scale);
            vec![ScoredResult { score, half_points: 2 * u8::from(won) }; 3]
        };
        (0..games).map(game).collect()
    }

    #[test]
    fn a_known_curve_is_found_within_its_error() {
        let games = drawn(25.0, 300.0, 20_000);
        let found = fit(&games).expect("a fit");
        assert_eq!((found.positions, found.games), (60_000, 20_000));
        let distances =
            [(found.offset - 25.0).abs() / found.offset_error, (found.scale - 300.0).abs() / found.scale_error];
        assert!(distances.iter().all(|distance| *distance < 4.0), "{found:?}");
        assert!(found.offset_error < 8.0 && found.scale_error < 8.0, "{found:?}");
        // Positions of a game repeat its result, so that they do not make the errors smaller.
        let apart: Vec<_> = games.iter().map(|game| game[..1].to_vec()).collect();
        let alone = fit(&apart).expect("a fit");
        assert!((alone.scale_error / found.scale_error - 1.0).abs() < 1e-3, "{alone:?} {found:?}");
        assert!(draw(&found, &games).contains("points per game"));
    }

    #[test]
    fn results_that_tell_nothing_are_refused() {
        let level = |score, half_points| vec![ScoredResult { score, half_points }];
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[level(100, 1)]), None);
        let against: Vec<_> = (0..100).map(|place| level(place - 50, if place < 50 { 2 } else { 0 })).collect();
        assert_eq!(fit(&against), None, "the better score loses");
        let decided: Vec<_> = (0..100).map(|place| level(place - 50, if place < 50 { 0 } else { 2 })).collect();
        assert_eq!(fit(&decided), None, "no finite scale");
    }
}
