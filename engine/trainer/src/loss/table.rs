//! Table and JSON document of losses.

use super::fit::{MeanLoss, best_scale, losses, mean_by_game};
use super::sample::{BANDS, GameDraw, Sample, SampleFilter, SampleReader, band_of};
use crate::compare::Entrant;
use serde::Serialize;
use std::fmt::Write as _;

/// Input file of a measurement.
#[derive(Debug, Serialize)]
pub struct InputFile {
    /// Path as given.
    pub name: String,
    /// SHA-256 of the file.
    pub sha256: String,
}

/// Loss against one kind of target.
#[derive(Debug, Serialize)]
pub struct TargetLoss {
    /// Factor of the values that fits best.
    pub scale: f64,
    /// Mean over all positions.
    #[serde(flatten)]
    pub all: MeanLoss,
    /// Loss less that of the first network; absent for the first.
    pub difference: Option<MeanLoss>,
    /// Means by the number of men, in the order of the document's `bands`.
    pub bands: Vec<Option<MeanLoss>>,
}

/// Losses of an evaluation.
#[derive(Debug, Serialize)]
pub struct NetworkLoss {
    /// Name, unique in the table.
    pub name: String,
    /// Network file, `classical` or `engine`.
    pub evaluation: String,
    /// SHA-256 of the network file.
    pub sha256: Option<String>,
    /// Loss against the scores.
    pub scores: TargetLoss,
    /// Loss against the results.
    pub results: TargetLoss,
}

/// Measurement of several evaluations on one sample. The field names are a stable interface.
#[derive(Debug, Serialize)]
pub struct LossReport {
    /// Files measured on.
    pub files: Vec<InputFile>,
    /// Choice of games.
    pub draw: GameDraw,
    /// Criteria of the positions.
    pub filter: SampleFilter,
    /// Centipawns at which a score promises a winning probability of 73 %.
    pub score_scale: f64,
    /// Positions in the files.
    pub positions_read: u64,
    /// Games in the files.
    pub games_read: u64,
    /// Positions measured.
    pub positions: usize,
    /// Games with measured positions.
    pub games: usize,
    /// Least and most men of each band.
    pub bands: [(u32, u32); BANDS.len()],
    /// Losses in the order of the command line.
    pub networks: Vec<NetworkLoss>,
}

impl LossReport {
    /// Fits and measures every evaluation of a sample.
    pub fn of(players: &[Entrant], sample: &Sample, files: Vec<InputFile>, reader: &SampleReader<'_>) -> LossReport {
        let [by_scores, by_results] = [&sample.scores, &sample.results].map(|targets| against(targets, sample));
        let networks = players.iter().zip(by_scores.into_iter().zip(by_results));
        let network = |(player, (scores, results)): (&Entrant, (TargetLoss, TargetLoss))| NetworkLoss {
            name: player.name.clone(),
            evaluation: player.evaluation.to_string(),
            sha256: player.evaluation.sha256(),
            scores,
            results,
        };
        LossReport {
            files,
            draw: reader.draw,
            filter: reader.filter,
            score_scale: reader.score_scale,
            positions_read: sample.read,
            games_read: sample.games_read,
            positions: sample.positions(),
            games: sample.games(),
            bands: BANDS,
            networks: networks.map(network).collect(),
        }
    }

    /// Formats the table for people.
    pub fn table(&self) -> String {
        let LossReport { positions, games, positions_read, games_read, .. } = self;
        let width = self.networks.iter().map(|network| network.name.chars().count()).max().unwrap_or(0).max(7);
        let mut text = format!("{positions} positions of {games} games, of {positions_read} in {games_read}\n\n");
        let bands = BANDS.map(|(least, most)| format!("{:>8}", format!("{least}-{most}"))).concat();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{:<width$}  {:>6} {:>8} {:>8}  {:>6} {:>8} {:>8} {bands}",
            "network", "scale", "scores", "+-", "scale", "results", "+-"
        );
        for NetworkLoss { name, scores, results, .. } in &self.networks {
            let of =
                |loss: &TargetLoss| format!("{:>6.3} {:>8.5} {}", loss.scale, loss.all.mean, error(loss.all.error));
            let bands: String = scores.bands.iter().map(|band| cell(band.map(|band| band.mean))).collect();
            let _ = writeln!(text, "{name:<width$}  {}  {} {bands}", of(scores), of(results));
        }
        if self.networks.len() > 1 {
            let first = self.networks.first().map_or("", |network| &network.name);
            let _ = writeln!(text, "\n{:<width$}  {:>9} {:>8}  {:>9} {:>8}", "", "scores", "+-", "results", "+-");
            let _ = writeln!(text, "less those of {first}:");
            for NetworkLoss { name, scores, results, .. } in self.networks.iter().skip(1) {
                let of = |loss: &TargetLoss| {
                    let found = loss.difference.as_ref();
                    let mean = found.map_or_else(|| "-".to_owned(), |found| format!("{:+.5}", found.mean));
                    format!("{mean:>9} {}", error(found.and_then(|found| found.error)))
                };
                let _ = writeln!(text, "{name:<width$}  {}  {}", of(scores), of(results));
            }
        }
        let _ = writeln!(
            text,
            "\nLeast squared error of sigmoid(scale * value / 400) against sigmoid(score / {}) and against results; lower is \
             better.\nThe columns by men are of the scores. Standard errors take a game as one observation.",
            self.score_scale
        );
        text
    }
}

fn cell(loss: Option<f64>) -> String {
    loss.map_or_else(|| format!("{:>8}", "-"), |loss| format!("{loss:>8.5}"))
}

fn error(error: Option<f64>) -> String {
    cell(error)
}

/// Measures every evaluation of a sample against one kind of target.
fn against(targets: &[f32], sample: &Sample) -> Vec<TargetLoss> {
    let mut first: Option<Vec<f64>> = None;
    let measure = |values: &Vec<i16>| {
        let scale = best_scale(values, targets);
        let numbers = losses(values, targets, scale);
        let mean = |numbers: &[f64], band: Option<usize>| {
            let is_in = |place: usize| band.is_none() || band_of(sample.men[place]) == band;
            mean_by_game(numbers, &sample.games, is_in)
        };
        let nothing = MeanLoss { mean: f64::NAN, error: None, positions: 0 };
        let all = mean(&numbers, None).unwrap_or(nothing);
        let bands = (0..BANDS.len()).map(|band| mean(&numbers, Some(band))).collect();
        let difference = match &first {
            None => None,
            Some(first) => {
                let differences: Vec<f64> = numbers.iter().zip(first).map(|(own, first)| own - first).collect();
                mean(&differences, None)
            }
        };
        first.get_or_insert(numbers);
        TargetLoss { scale, all, difference, bands }
    };
    sample.values.iter().map(measure).collect()
}
