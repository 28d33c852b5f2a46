//! Results of a generation by stage: the state of the loop, and its table.

use crate::data::{read_row, write_row};
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Verdict on a generation's network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The candidate replaces the present network.
    Accepted,
    /// The present network is kept.
    Kept,
}

/// Counts of a generation's self-play.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SelfPlayCounts {
    /// Games played.
    pub games: u64,
    /// Positions of all games before the filter.
    pub positions: u64,
}

/// Number of positions of the training: the window's games, filtered, each position once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionCounts {
    /// Positions that are trained on.
    pub training: u64,
    /// Positions of held-out games.
    pub held_out: u64,
}

/// Result of the training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingResult {
    /// Final loss on the held-out positions.
    pub validation: f64,
    /// Mean quantisation error in centipawns.
    pub mean_error: f64,
    /// Worst quantisation error in centipawns.
    pub worst_error: f64,
    /// Network file, relative to the loop's folder.
    pub network: String,
    /// SHA-256 of the network file.
    pub sha256: String,
}

/// Result of the match among the networks of several trainings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SelectionResult {
    /// Number of the chosen training, from 1.
    pub chosen: usize,
    /// Points of each training's network.
    pub points: Vec<f64>,
    /// Games of each network.
    pub games: u64,
}

/// Result of the match of the candidate against the present network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatchResult {
    /// Name of the opponent.
    pub against: String,
    /// Game pairs that count.
    pub pairs: u64,
    /// Games won by the candidate.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost by the candidate.
    pub losses: u64,
    /// Elo difference; `None` if it is not finite.
    pub elo: Option<f64>,
    /// Half the width of the 95 % interval.
    pub elo_error: Option<f64>,
    /// Result of the test; without bounds, of the comparison with `least-elo`.
    pub verdict: Verdict,
}

/// Results of a generation; stages that are not done are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GenerationRow {
    /// Number of the generation, from 1.
    pub generation: u32,
    /// Games of self-play.
    pub self_play: Option<SelfPlayCounts>,
    /// Positions made from the games.
    pub data: Option<PositionCounts>,
    /// Networks of several trainings; empty for a loop with one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trainings: Vec<TrainingResult>,
    /// Match among the networks of several trainings; `None` for a loop with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionResult>,
    /// The training whose network is the candidate.
    pub training: Option<TrainingResult>,
    /// Match of the candidate against the present network.
    #[serde(rename = "match")]
    pub met: Option<MatchResult>,
}

impl GenerationRow {
    /// Reads a row from a file; returns an empty row if there is no file.
    ///
    /// # Errors
    /// Fails if the file cannot be read or is damaged.
    pub fn load(path: &Path, generation: u32) -> anyhow::Result<GenerationRow> {
        let row = read_row(path, "generation")?;
        Ok(row.unwrap_or_else(|| GenerationRow { generation, ..GenerationRow::default() }))
    }

    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        write_row(path, self)
    }

    /// Returns true if all stages are done.
    pub fn is_done(&self) -> bool {
        self.met.is_some()
    }
}

const HEAD: [&str; 10] =
    ["generation", "games", "positions", "trained on", "chosen", "validation", "int error", "Elo", "pairs", "verdict"];

/// Column of the chosen training, which loops with one training do not have.
const CHOSEN: usize = 4;

/// Formats the table of all generations.
pub fn table(rows: &[GenerationRow]) -> String {
    let has_choice = rows.iter().any(|row| !row.trainings.is_empty());
    let cells: Vec<[String; 10]> = rows.iter().filter(|row| row.self_play.is_some()).map(cells).collect();
    let mut widths = HEAD.map(str::len);
    for row in &cells {
        widths.iter_mut().zip(row).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
    }
    let line = |row: &[String; 10]| {
        let columns = row.iter().zip(widths).enumerate().filter(|(column, _)| has_choice || *column != CHOSEN);
        let padded = columns.map(|(_, (cell, width))| format!("{cell:>width$}"));
        padded.collect::<Vec<_>>().join("  ") + "\n"
    };
    let head = line(&HEAD.map(str::to_owned));
    cells.iter().fold(head, |text, row| text + &line(row))
}

fn cells(row: &GenerationRow) -> [String; 10] {
    fn or_dash<T>(value: Option<&T>, text: impl Fn(&T) -> String) -> String {
        value.map_or_else(|| "-".to_owned(), text)
    }
    let (play, data, met) = (row.self_play.as_ref(), row.data.as_ref(), row.met.as_ref());
    [
        row.generation.to_string(),
        or_dash(play, |play| play.games.to_string()),
        or_dash(play, |play| play.positions.to_string()),
        or_dash(data, |data| data.training.to_string()),
        or_dash(row.selection.as_ref(), |found| {
            let points = found.points.get(found.chosen - 1).copied().unwrap_or_default();
            format!("{} of {}, {points}/{}", found.chosen, found.points.len(), found.games)
        }),
        or_dash(row.training.as_ref(), |trained| format!("{:.6}", trained.validation)),
        or_dash(row.training.as_ref(), |trained| format!("{:.2} cp", trained.mean_error)),
        or_dash(met, elo),
        or_dash(met, |met| met.pairs.to_string()),
        or_dash(met, |met| if met.verdict == Verdict::Accepted { "accepted" } else { "kept" }.to_owned()),
    ]
}

fn elo(met: &MatchResult) -> String {
    match (met.elo, met.elo_error) {
        (Some(elo), Some(error)) => format!("{elo:+.1} +- {error:.1}"),
        (Some(elo), None) => format!("{elo:+.1}"),
        (None, _) if met.wins > met.losses => "inf".to_owned(),
        (None, _) if met.wins < met.losses => "-inf".to_owned(),
        (None, _) => "-".to_owned(),
    }
}
