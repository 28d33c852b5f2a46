//! Results of a grid: means over the seeds with standard errors, as text and JSON.

use super::cell::{CellGames, CellRow, WIDTH95, elo_together};
use super::plan::LabPlan;
use super::run::CellStage;
use serde::Serialize;

/// Mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SeedMean {
    /// Mean.
    pub mean: f64,
    /// Standard error; of one seed, the one that is known without others, if any.
    pub error: Option<f64>,
    /// Number of seeds.
    pub seeds: usize,
}

impl SeedMean {
    /// Computes mean and standard error; `None` without values. `alone` is the standard error of a
    /// single value.
    pub fn of(values: &[f64], alone: Option<f64>) -> Option<SeedMean> {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let error = match values.len() {
            0 => return None,
            1 => alone,
            _ => {
                let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
                Some((squares / (count - 1.0) / count).sqrt())
            }
        };
        Some(SeedMean { mean, error, seeds: values.len() })
    }
}

/// Strength of a row against its opponent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RowElo {
    /// Elo difference; `None` if it is not finite.
    pub elo: Option<f64>,
    /// Standard error over the seeds; of one seed, that of its games.
    pub error: Option<f64>,
    /// Game pairs.
    pub pairs: u64,
    /// Games won, drawn and lost.
    pub wdl: [u64; 3],
}

impl RowElo {
    fn of(games: &[&CellGames]) -> Option<RowElo> {
        let first = games.first()?;
        let finite: Vec<f64> = games.iter().filter_map(|games| games.elo).collect();
        // A seed that won or lost all games has no Elo, but all seeds together may have one.
        let mean = SeedMean::of(&finite, first.standard_error()).filter(|_| finite.len() == games.len());
        let sum = |of: fn(&CellGames) -> u64| games.iter().map(|games| of(games)).sum();
        Some(RowElo {
            elo: mean.map(|mean| mean.mean).or_else(|| elo_together(games.iter().copied())),
            error: mean.and_then(|mean| mean.error),
            pairs: sum(CellGames::pairs),
            wdl: [sum(|games| games.wins), sum(|games| games.draws), sum(|games| games.losses)],
        })
    }

    /// Formats `+12.3 +- 4.5`, or `inf` or `-inf` if all games were won or lost.
    pub fn text(&self) -> String {
        let [wins, _, losses] = self.wdl;
        match (self.elo, self.error) {
            (Some(elo), Some(error)) => format!("{elo:+.1} +- {error:.1}"),
            (Some(elo), None) => format!("{elo:+.1}"),
            (None, _) if wins > losses => "inf".to_owned(),
            (None, _) if wins < losses => "-inf".to_owned(),
            (None, _) => "-".to_owned(),
        }
    }
}

/// Results of one set in one shape over all seeds.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabRow {
    /// Number in tables and pictures, from 1.
    pub number: usize,
    /// Name of the inputs in the plan.
    pub set: String,
    /// Architecture.
    pub kind: String,
    /// Neurons per perspective.
    pub hidden: usize,
    /// Number of features.
    pub inputs: usize,
    /// True if the other rows of this shape play against this one.
    pub is_opponent: bool,
    /// Seeds that are trained, and all seeds.
    pub trained: [usize; 2],
    /// Loss on held-out positions.
    pub loss: Option<SeedMean>,
    /// Mean quantisation error in win probability.
    pub win_error: Option<SeedMean>,
    /// Positions per second of training.
    pub speed: Option<SeedMean>,
    /// Nanoseconds of an evaluation with its updates along lines of random moves.
    pub evaluation: Option<SeedMean>,
    /// Strength at equal nodes; `None` for the opponent.
    pub elo_at_nodes: Option<RowElo>,
    /// Strength at equal time; `None` for the opponent.
    pub elo_at_time: Option<RowElo>,
    /// Nodes per second in the games, those at equal time if there are any.
    pub nps: Option<SeedMean>,
    /// Nodes per second divided by the opponent's in the same games.
    pub nps_ratio: Option<SeedMean>,
}

/// Results of a grid.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabTable {
    /// Title.
    pub title: String,
    /// Name of the opponent.
    pub opponent: String,
    /// Limit of the games at equal nodes, and of those at equal time.
    pub limits: [Option<String>; 2],
    /// One row for each set and shape.
    pub rows: Vec<LabRow>,
    /// All cells.
    pub cells: Vec<CellRow>,
}

/// Games of a cell that tell its speed.
fn timed(row: &CellRow) -> Option<&CellGames> {
    row.time.as_ref().or(row.nodes.as_ref())
}

/// Nodes per second of a cell: of its own games, or of those of its opponents.
fn nps_of(row: &CellRow, all: &[CellRow]) -> Option<f64> {
    if let Some(games) = timed(row) {
        return games.nps;
    }
    let met = all.iter().filter_map(timed).filter(|games| games.against == row.name);
    let values: Vec<f64> = met.filter_map(|games| games.against_nps).collect();
    SeedMean::of(&values, None).map(|mean| mean.mean)
}

impl LabTable {
    /// Creates the table of the results so far.
    pub fn new(plan: &LabPlan, cells: &[CellRow]) -> LabTable {
        let mut keys: Vec<(usize, &str, usize)> = Vec::new();
        for (cell, row) in plan.cells.iter().zip(cells) {
            let key = (row.hidden, row.kind.as_str(), cell.set_place);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        // Sizes and architectures stay in the order of the plan.
        let shapes: Vec<(usize, &str)> = keys.iter().map(|key| (key.0, key.1)).collect();
        keys.sort_by_key(|key| (shapes.iter().position(|shape| *shape == (key.0, key.1)), key.2));
        let rows = (1..).zip(&keys).map(|(number, key)| {
            let of_key = plan.cells.iter().zip(cells);
            let members = of_key.filter(|(cell, row)| (row.hidden, row.kind.as_str(), cell.set_place) == *key);
            let members: Vec<_> = members.collect();
            let is_opponent = plan.fixed.is_none() && members.iter().all(|(cell, _)| cell.opponent.is_none());
            row(number, is_opponent, &members.iter().map(|(_, row)| *row).collect::<Vec<_>>(), cells)
        });
        let nodes = plan.nodes.as_ref().and_then(|raw| raw.nodes).map(|nodes| format!("{nodes} nodes a move"));
        let time = plan.time.as_ref().map(|raw| match (&raw.tc, &raw.movetime) {
            (Some(tc), _) => tc.clone(),
            (None, movetime) => format!("{} s a move", movetime.unwrap_or(0.0)),
        });
        LabTable {
            title: plan.title.clone(),
            opponent: plan.opponent.clone(),
            limits: [nodes, time],
            rows: rows.collect(),
            cells: cells.to_vec(),
        }
    }

    /// Formats the rows as a JSON document.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Formats the rows for people.
    pub fn text(&self) -> String {
        let mut lines = vec![HEAD.map(str::to_owned)];
        lines.extend(self.rows.iter().map(LabRow::cells));
        let mut widths = [0; HEAD.len()];
        for line in &lines {
            widths.iter_mut().zip(line).for_each(|(width, cell)| *width = (*width).max(cell.chars().count()));
        }
        let format = |line: &[String; HEAD.len()]| {
            let cells = line.iter().zip(widths).enumerate();
            let cells = cells.map(|(place, (cell, width))| match place {
                1 | 2 => format!("{cell:width$}"),
                _ => format!("{cell:>width$}"),
            });
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
        };
        let mut text = format!("{}\n", self.title);
        text.extend(lines.iter().map(format));
        text + &self.notes().join("\n") + "\n"
    }

    /// Sentences that explain the columns.
    pub fn notes(&self) -> Vec<String> {
        let named = |stage: CellStage, limit: &Option<String>| {
            let place = if stage == CellStage::Nodes { "nodes" } else { "time" };
            limit.as_ref().map(|limit| format!("equal {place}: {limit}"))
        };
        let limits = [named(CellStage::Nodes, &self.limits[0]), named(CellStage::Time, &self.limits[1])];
        let limits = limits.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let is_set = self.rows.iter().any(|row| row.is_opponent);
        let of = if is_set { " of the same shape and seed" } else { "" };
        vec![
            format!("Elo is against {}{of}; {limits}.", self.opponent),
            "Means over the seeds +- their standard error; the error of one seed is that of its games.".to_owned(),
            "k nodes/s: of the searches in the games, those at equal time if there are any. ns/eval: of an evaluation with \
             its updates along random moves, measured after each training. M pos/s: of the training."
                .to_owned(),
        ]
    }
}

/// Heads of the columns; the second and third hold words.
pub const HEAD: [&str; 13] = [
    "no",
    "set",
    "kind",
    "hidden",
    "inputs",
    "seeds",
    "loss",
    "int error %",
    "Elo, equal nodes",
    "Elo, equal time",
    "k nodes/s",
    "ns/eval",
    "M pos/s",
];

fn row(number: usize, is_opponent: bool, members: &[&CellRow], all: &[CellRow]) -> LabRow {
    let first = members.first().copied().cloned().unwrap_or_default();
    let trainings: Vec<_> = members.iter().filter_map(|row| row.training.as_ref()).collect();
    let mean = |values: Vec<f64>| SeedMean::of(&values, None);
    let games = |of: fn(&CellRow) -> Option<&CellGames>| -> Vec<&CellGames> {
        members.iter().filter_map(|row| of(row)).collect()
    };
    let ratio = |games: &CellGames| Some(games.nps? / games.against_nps?);
    LabRow {
        number,
        set: first.set,
        kind: first.kind,
        hidden: first.hidden,
        inputs: first.inputs,
        is_opponent,
        trained: [trainings.len(), members.len()],
        loss: mean(trainings.iter().map(|training| training.validation).collect()),
        win_error: mean(trainings.iter().map(|training| training.win_mean).collect()),
        speed: mean(trainings.iter().filter_map(|training| training.speed).collect()),
        evaluation: mean(trainings.iter().filter_map(|training| training.evaluation).collect()),
        elo_at_nodes: RowElo::of(&games(|row| row.nodes.as_ref())),
        elo_at_time: RowElo::of(&games(|row| row.time.as_ref())),
        nps: mean(members.iter().filter_map(|row| nps_of(row, all)).collect()),
        nps_ratio: mean(members.iter().filter_map(|row| ratio(timed(row)?)).collect()),
    }
}

impl LabRow {
    /// Formats the row in the order of [`HEAD`].
    pub fn cells(&self) -> [String; HEAD.len()] {
        let mean = |mean: Option<SeedMean>, unit: f64, decimals: usize| match mean {
            None => "-".to_owned(),
            Some(SeedMean { mean, error: Some(error), .. }) => {
                format!("{:.decimals$} +- {:.decimals$}", mean / unit, error / unit)
            }
            Some(SeedMean { mean, .. }) => format!("{:.decimals$}", mean / unit),
        };
        let elo = |elo: &Option<RowElo>| match elo {
            Some(elo) => elo.text(),
            None if self.is_opponent => "0".to_owned(),
            None => "-".to_owned(),
        };
        let ratio = self.nps_ratio.map_or_else(String::new, |ratio| format!(" ({:.2}x)", ratio.mean));
        let nps = self.nps.map_or_else(|| "-".to_owned(), |nps| format!("{:.0}{ratio}", nps.mean / 1e3));
        [
            self.number.to_string(),
            self.set.clone(),
            self.kind.clone(),
            self.hidden.to_string(),
            self.inputs.to_string(),
            format!("{}/{}", self.trained[0], self.trained[1]),
            mean(self.loss, 1.0, 6),
            mean(self.win_error, 0.01, 2),
            elo(&self.elo_at_nodes),
            elo(&self.elo_at_time),
            nps,
            mean(self.evaluation, 1.0, 0),
            mean(self.speed, 1e6, 3),
        ]
    }

    /// Half the 95 % interval of a mean of seeds, for pictures.
    pub fn interval(error: Option<f64>) -> Option<f64> {
        error.map(|error| WIDTH95 * error)
    }
}
