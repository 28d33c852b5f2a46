//! Results of a grid: means over the seeds with standard errors, as text and JSON.

use super::cell::{CellGames, CellRow, CellStage, WIDTH95, elo_together};
use super::plan::LabPlan;
use serde::Serialize;

/// Mean over seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SeedMean {
    /// Mean.
    pub mean: f64,
    /// Standard error: the larger of that by the scatter of the seeds and of that by their
    /// measurements alone, if any is known.
    pub error: Option<f64>,
    /// Number of seeds.
    pub seeds: usize,
}

impl SeedMean {
    /// Computes mean and standard error; `None` without values. `measured` is the standard error of
    /// the mean by the measurements alone. The scatter of few seeds may be smaller by chance.
    pub fn of(values: &[f64], measured: Option<f64>) -> Option<SeedMean> {
        if values.is_empty() {
            return None;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let scatter = (values.len() > 1).then(|| {
            let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            (squares / (count - 1.0) / count).sqrt()
        });
        let error = scatter.into_iter().chain(measured).reduce(f64::max);
        Some(SeedMean { mean, error, seeds: values.len() })
    }
}

/// Standard error of the mean of several matches by their games alone; `None` if a match has none.
fn pooled_error(games: &[&CellGames]) -> Option<f64> {
    let squares: Option<f64> = games.iter().map(|games| Some(games.standard_error()?.powi(2))).sum();
    squares.map(|squares| squares.sqrt() / games.len() as f64)
}

/// Strength of a row against its opponent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RowElo {
    /// Elo difference; `None` if it is not finite.
    pub elo: Option<f64>,
    /// Standard error: the larger of that by the scatter of the seeds and of that by their games.
    pub error: Option<f64>,
    /// Number of seeds that played.
    pub seeds: usize,
    /// Game pairs.
    pub pairs: u64,
    /// Games won, drawn and lost.
    pub wdl: [u64; 3],
}

impl RowElo {
    fn of(games: &[&CellGames]) -> Option<RowElo> {
        if games.is_empty() {
            return None;
        }
        let finite: Vec<f64> = games.iter().filter_map(|games| games.elo).collect();
        // A seed that won or lost all games has no Elo, but all seeds together may have one.
        let mean = SeedMean::of(&finite, pooled_error(games)).filter(|_| finite.len() == games.len());
        let sum = |of: fn(&CellGames) -> u64| games.iter().map(|games| of(games)).sum();
        Some(RowElo {
            elo: mean.map(|mean| mean.mean).or_else(|| elo_together(games.iter().copied())),
            error: mean.and_then(|mean| mean.error),
            seeds: games.len(),
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

/// Seeds whose stages are done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct StageSeeds {
    /// Seeds that are trained.
    pub training: Vec<u64>,
    /// Seeds that played at equal nodes.
    pub nodes: Vec<u64>,
    /// Seeds that played at equal time.
    pub time: Vec<u64>,
}

impl StageSeeds {
    fn of(members: &[&CellRow]) -> StageSeeds {
        let of = |stage: CellStage| -> Vec<u64> {
            members.iter().filter(|row| row.has(stage)).map(|row| row.seed).collect()
        };
        StageSeeds { training: of(CellStage::Training), nodes: of(CellStage::Nodes), time: of(CellStage::Time) }
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
    /// Seeds of each stage. The opponent has no games of its own.
    pub seeds: StageSeeds,
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
    /// Stage whose games the two figures below are from: equal time if any seed has it.
    pub nps_from: Option<CellStage>,
    /// Nodes per second in the games of that stage.
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

/// Nodes per second of a cell in the games of a stage: its own, or else those of its opponents.
fn nps_of(row: &CellRow, all: &[CellRow], stage: CellStage) -> Option<f64> {
    if let Some(games) = row.games(stage) {
        return games.nps;
    }
    let met = all.iter().filter_map(|other| other.games(stage)).filter(|games| games.against == row.name);
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

    /// Sentences that explain the columns, then the failures of cells.
    pub fn notes(&self) -> Vec<String> {
        let named = |stage: CellStage, limit: &Option<String>| {
            let place = if stage == CellStage::Nodes { "nodes" } else { "time" };
            limit.as_ref().map(|limit| format!("equal {place}: {limit}"))
        };
        let limits = [named(CellStage::Nodes, &self.limits[0]), named(CellStage::Time, &self.limits[1])];
        let limits = limits.into_iter().flatten().collect::<Vec<_>>().join("; ");
        let is_set = self.rows.iter().any(|row| row.is_opponent);
        let of = if is_set { " of the same shape and seed" } else { "" };
        let mut notes = vec![
            format!("Elo is against {}{of}; {limits}.", self.opponent),
            "Means over the seeds +- their standard error; that of Elo is the larger of the standard errors by the scatter \
             of the seeds and by their games. Elo with (n) is of n seeds, fewer than are trained."
                .to_owned(),
            "k nodes/s: of the searches in the games at equal time of the seeds that have them, or in all games at equal \
             nodes if no seed has them; in brackets, the ratio to the opponent's in the same games. ns/eval: of an \
             evaluation with its updates along random moves, measured after each training. M pos/s: of the training."
                .to_owned(),
        ];
        let failures = self.cells.iter().filter_map(|cell| Some(format!("{}: {}", cell.name, cell.failure.as_ref()?)));
        notes.extend(failures);
        notes
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
    let elo = |stage: CellStage| {
        let games: Vec<&CellGames> = members.iter().filter_map(|row| row.games(stage)).collect();
        RowElo::of(&games)
    };
    let nps = |stage: CellStage| mean(members.iter().filter_map(|row| nps_of(row, all, stage)).collect());
    let ratio = |games: &CellGames| Some(games.nps? / games.against_nps?);
    // Games of one kind, so that no row mixes speeds at equal nodes with those at equal time.
    let nps_from = [CellStage::Time, CellStage::Nodes].into_iter().find(|stage| nps(*stage).is_some());
    LabRow {
        number,
        set: first.set,
        kind: first.kind,
        hidden: first.hidden,
        inputs: first.inputs,
        is_opponent,
        trained: [trainings.len(), members.len()],
        seeds: StageSeeds::of(members),
        loss: mean(trainings.iter().map(|training| training.validation).collect()),
        win_error: mean(trainings.iter().map(|training| training.win_mean).collect()),
        speed: mean(trainings.iter().filter_map(|training| training.speed).collect()),
        evaluation: mean(trainings.iter().filter_map(|training| training.evaluation).collect()),
        elo_at_nodes: elo(CellStage::Nodes),
        elo_at_time: elo(CellStage::Time),
        nps_from,
        nps: nps_from.and_then(nps),
        nps_ratio: nps_from.and_then(|stage| mean(members.iter().filter_map(|row| ratio(row.games(stage)?)).collect())),
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
            Some(elo) if elo.seeds < self.trained[0] => format!("{} ({})", elo.text(), elo.seeds),
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
