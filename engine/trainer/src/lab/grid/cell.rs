//! Stages of a cell and their results: the state of the grid on disk.

use super::plan::LabCell;
use crate::data::{read_row, write_row};
use crate::train::Summary;
use anyhow::{Context as _, bail};
use destrier::bench::{evaluation_nanos, lines};
use destrier::nnue::{self, sha256_hex};
use quintain::journal;
use quintain::record::PlayerId;
use quintain::run::play::PlayedRun;
use quintain::stats::{Pentanomial, elo};
use quintain::text::printable;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Half the width of a 95 % interval in standard errors.
pub const WIDTH95: f64 = 1.959_964;

/// Rounds in which the cost of evaluations is measured; the best counts.
const ROUNDS: usize = 200;

/// Stage of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CellStage {
    /// Training, export and check.
    Training,
    /// Games at equal nodes.
    #[serde(rename = "games-at-nodes")]
    Nodes,
    /// Games at equal time.
    #[serde(rename = "games-at-time")]
    Time,
}

impl CellStage {
    /// All stages in the order in which the grid does them.
    pub const ALL: [CellStage; 3] = [CellStage::Training, CellStage::Nodes, CellStage::Time];

    /// Name of the stage in files and messages, and of its folder.
    pub const fn name(self) -> &'static str {
        match self {
            CellStage::Training => "training",
            CellStage::Nodes => "games-at-nodes",
            CellStage::Time => "games-at-time",
        }
    }
}

/// Failure of a cell's stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellFailure {
    /// Stage that failed.
    pub stage: CellStage,
    /// Error with its causes, on one line.
    pub reason: String,
}

impl CellFailure {
    /// Creates the failure of a stage by an error.
    pub fn new(stage: CellStage, error: &anyhow::Error) -> CellFailure {
        let text = format!("{error:#}");
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        CellFailure { stage, reason: printable(&lines.join(" ")) }
    }
}

impl fmt::Display for CellFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} failed: {}", self.stage.name(), self.reason)
    }
}

/// Result of a cell's training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellTraining {
    /// Positions trained on.
    pub positions: u64,
    /// Loss on the held-out positions after the last batch.
    pub validation: f64,
    /// Squared error against the scores of the held-out positions.
    pub score: f64,
    /// Squared error against their results.
    pub result: f64,
    /// Mean quantisation error in centipawns.
    pub mean_error: f64,
    /// Mean quantisation error in win probability.
    pub win_mean: f64,
    /// Quantisation error in win probability that 99 % of the positions do not exceed.
    pub win_most: f64,
    /// Largest quantisation error in win probability.
    pub win_worst: f64,
    /// Held-out positions on which Destrier evaluates as expected.
    pub checked: usize,
    /// Positions per second; `None` if the last session trained nothing.
    pub speed: Option<f64>,
    /// Nanoseconds of an evaluation with its updates, measured after the training; `None` in rows
    /// of earlier versions.
    #[serde(default)]
    pub evaluation: Option<f64>,
    /// SHA-256 of the network file.
    pub sha256: String,
}

impl CellTraining {
    /// Creates the result of a training, and measures the cost of its network's evaluations.
    ///
    /// # Errors
    /// Fails if the curve has no point, or the network cannot be read.
    pub fn new(summary: &Summary) -> anyhow::Result<CellTraining> {
        let point = summary.curve.points().last().context("the training has no superbatch")?;
        Ok(CellTraining {
            positions: point.positions,
            validation: point.validation,
            score: point.score,
            result: point.result,
            mean_error: summary.rounding.mean,
            win_mean: summary.rounding.win_mean,
            win_most: summary.rounding.win_most,
            win_worst: summary.rounding.win_worst,
            checked: summary.same,
            speed: summary.speed,
            evaluation: Some(evaluation_nanos(Arc::new(nnue::read_file(&summary.network)?), &lines(), ROUNDS)),
            sha256: summary.hash.clone(),
        })
    }
}

/// Result of a cell's games against its opponent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellGames {
    /// Name of the opponent.
    pub against: String,
    /// Pairs by the cell's points: 0, 1/2, 1, 3/2, 2.
    pub ptnml: [u64; 5],
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Elo difference; `None` if it is not finite.
    pub elo: Option<f64>,
    /// Half the width of its 95 % interval.
    pub elo_error: Option<f64>,
    /// Nodes per second of the cell's network, over all moves.
    pub nps: Option<f64>,
    /// Nodes per second of the opponent in the same games.
    pub against_nps: Option<f64>,
    /// Seconds that a pair takes, one game at a time.
    pub pair_seconds: f64,
}

impl CellGames {
    /// Creates the result of a match of the cell, its first player, from its journal in `root`.
    ///
    /// # Errors
    /// Fails if the journal cannot be read.
    pub fn new(played: &PlayedRun, against: String, root: &Path) -> anyhow::Result<CellGames> {
        let score = played.scoreboard.score(PlayerId(0), PlayerId(1));
        let (mut nodes, mut seconds) = ([0.0; 2], [0.0; 2]);
        let (mut games, mut took) = (0.0_f64, 0.0);
        journal::read(&root.join(journal::FILE_NAME), |game| {
            games += 1.0;
            for (_, color, ply) in game.plies() {
                let Some(place) = Some(usize::from(game.players.get(color).0)).filter(|place| *place < 2) else {
                    continue;
                };
                if let Some(searched) = ply.info.nodes {
                    nodes[place] += searched as f64;
                    seconds[place] += ply.elapsed.as_secs_f64();
                }
            }
            took += game.took.as_secs_f64();
        })?;
        let nps = |place: usize| (seconds[place] > 0.0 && nodes[place] > 0.0).then(|| nodes[place] / seconds[place]);
        let estimate = elo::logistic(&score.ptnml);
        Ok(CellGames {
            against,
            ptnml: score.ptnml.0,
            wins: score.wdl.wins,
            draws: score.wdl.draws,
            losses: score.wdl.losses,
            elo: estimate.and_then(|estimate| estimate.value.finite()),
            elo_error: estimate.and_then(|estimate| estimate.error()),
            nps: nps(0),
            against_nps: nps(1),
            pair_seconds: 2.0 * took / games.max(1.0),
        })
    }

    /// Pairs that count.
    pub fn pairs(&self) -> u64 {
        self.ptnml.iter().sum()
    }

    /// Standard error of the Elo difference, from the games alone.
    pub fn standard_error(&self) -> Option<f64> {
        self.elo_error.map(|error| error / WIDTH95)
    }
}

/// Elo difference of several matches together; `None` if it is not finite.
pub fn elo_together<'a>(matches: impl Iterator<Item = &'a CellGames>) -> Option<f64> {
    let mut counts = [0; 5];
    for games in matches {
        counts.iter_mut().zip(games.ptnml).for_each(|(sum, count)| *sum += count);
    }
    elo::logistic(&Pentanomial(counts))?.value.finite()
}

/// Results of a cell; stages that are not done are `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CellRow {
    /// Name of the cell.
    pub name: String,
    /// Name of its inputs in the plan.
    pub set: String,
    /// Architecture.
    pub kind: String,
    /// Neurons per perspective.
    pub hidden: usize,
    /// Seed of weights, order of the data, and openings.
    pub seed: u64,
    /// Number of features.
    pub inputs: usize,
    /// Digest of all settings of the inputs and the shape.
    pub shape: String,
    /// Result of the training.
    pub training: Option<CellTraining>,
    /// Games at equal nodes.
    pub nodes: Option<CellGames>,
    /// Games at equal time.
    pub time: Option<CellGames>,
    /// Failure of the next stage, until it is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<CellFailure>,
}

impl CellRow {
    /// Creates the row of a cell without results.
    ///
    /// # Errors
    /// Fails if a file of the cell's plan cannot be read.
    pub fn new(cell: &LabCell) -> anyhow::Result<CellRow> {
        let (network, ..) = cell.plan.decisive().with_context(|| cell.name.clone())?;
        Ok(CellRow {
            name: cell.name.clone(),
            set: cell.set.clone(),
            kind: network.kind.name().to_owned(),
            hidden: network.hidden,
            seed: cell.plan.seed,
            inputs: network.set.size(),
            shape: sha256_hex(format!("{network:?}").as_bytes()),
            ..CellRow::default()
        })
    }

    /// Returns the games of a stage, if they are played.
    pub fn games(&self, stage: CellStage) -> Option<&CellGames> {
        match stage {
            CellStage::Training => None,
            CellStage::Nodes => self.nodes.as_ref(),
            CellStage::Time => self.time.as_ref(),
        }
    }

    /// Returns true if a stage is done.
    pub fn has(&self, stage: CellStage) -> bool {
        match stage {
            CellStage::Training => self.training.is_some(),
            stage => self.games(stage).is_some(),
        }
    }

    /// Reads the row of a cell from a file, or creates an empty one if there is no file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, is damaged, or is the row of other inputs.
    pub fn load(path: &Path, cell: &LabCell) -> anyhow::Result<CellRow> {
        let fresh = CellRow::new(cell)?;
        let Some(row) = read_row::<CellRow>(path, "cell")? else { return Ok(fresh) };
        if (row.shape.as_str(), row.seed) != (fresh.shape.as_str(), fresh.seed) {
            bail!(
                "{}: the cell was made from other settings of `{}`; restore the plan and its list of pairs, or give the set another `name`",
                path.display(),
                cell.set
            );
        }
        Ok(row)
    }

    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save(&self, path: &Path) -> anyhow::Result<()> {
        write_row(path, self)
    }
}
