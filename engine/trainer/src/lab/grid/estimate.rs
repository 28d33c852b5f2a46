//! Time that the rest of a grid takes, for `lab --dry-run`.

use super::cell::{CellRow, CellStage};
use super::plan::{LabCell, LabPlan};
use super::run::{games_of, is_done};
use crate::train::bench;
use quintain::settings::RawPlan;

/// Batches of 16,384 random positions by which the speed of a training is measured.
const BATCHES: usize = 3;

/// Moves of each side in a game, about.
const MOVES: f64 = 60.0;

/// Nodes per second that are assumed before the first match.
const USUAL_NPS: f64 = 400_000.0;

/// Seconds of each stage of a cell; `None` for a stage that is done or absent, NaN if unknown.
pub type StageSeconds = [Option<f64>; 3];

/// Estimates the stages of all cells. Trainings are measured on this machine with its load of the
/// moment; games take as long as those that were played.
pub fn seconds(plan: &LabPlan, rows: &[CellRow]) -> Vec<StageSeconds> {
    let mut speeds: Vec<(String, f64)> = Vec::new();
    let mut cells = Vec::with_capacity(rows.len());
    for (cell, row) in plan.cells.iter().zip(rows) {
        let stage = |stage: CellStage| !is_done(plan, cell, row, stage);
        let training = stage(CellStage::Training).then(|| positions(cell) / speed(&mut speeds, cell, row));
        let games = [CellStage::Nodes, CellStage::Time].map(|of| {
            let raw = games_of(plan, cell, of).filter(|_| stage(of))?;
            Some(raw.pairs.unwrap_or(0) as f64 * pair_seconds(raw, of, rows) / concurrency(raw))
        });
        cells.push([training, games[0], games[1]]);
    }
    cells
}

/// Positions of a cell's training.
pub fn positions(cell: &LabCell) -> f64 {
    let training = &cell.plan.training;
    f64::from(training.superbatches) * f64::from(training.batches) * training.batch as f64
}

/// Positions per second of a cell's training, measured once for cells of the same inputs and shape.
fn speed(known: &mut Vec<(String, f64)>, cell: &LabCell, row: &CellRow) -> f64 {
    if let Some((_, speed)) = known.iter().find(|(shape, _)| *shape == row.shape) {
        return *speed;
    }
    let threads = cell.plan.threads.unwrap_or_else(cores);
    let speed = bench::measure_shape(cell.plan.shape(), threads, BATCHES).per_second;
    known.push((row.shape.clone(), speed));
    speed
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn concurrency(raw: &RawPlan) -> f64 {
    raw.concurrency.map_or_else(|| cores() as f64, f64::from)
}

/// Seconds of a pair, one game at a time.
fn pair_seconds(raw: &RawPlan, stage: CellStage, rows: &[CellRow]) -> f64 {
    let known: Vec<f64> = rows.iter().filter_map(|row| Some(row.games(stage)?.pair_seconds)).collect();
    if !known.is_empty() {
        return known.iter().sum::<f64>() / known.len() as f64;
    }
    match stage {
        CellStage::Nodes => 4.0 * MOVES * raw.nodes.unwrap_or(0) as f64 / USUAL_NPS,
        _ => 4.0 * side_seconds(raw.tc.as_deref().unwrap_or_default()).unwrap_or(f64::NAN),
    }
}

/// Seconds that a side of a game uses of a clock `[moves/]base+increment`; `None` for others.
fn side_seconds(clock: &str) -> Option<f64> {
    let (moves, clock) = clock.split_once('/').map_or((None, clock), |(moves, rest)| (Some(moves), rest));
    let (base, increment) = clock.split_once('+').unwrap_or((clock, "0"));
    let base = match base.split_once(':') {
        Some((minutes, seconds)) => 60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?,
        None => base.parse::<f64>().ok()?,
    };
    let periods = moves.map_or(Some(1.0), |moves| moves.parse::<f64>().ok().map(|moves| MOVES / moves.max(1.0)))?;
    Some(base * periods.max(1.0) + MOVES * increment.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_read_as_a_game_uses_them() {
        assert_eq!(side_seconds("1+0.01"), Some(1.0 + 0.01 * MOVES));
        assert_eq!(side_seconds("2:30"), Some(150.0));
        assert_eq!(side_seconds("20/10+0.5"), Some(30.0 + 0.5 * MOVES));
        assert_eq!(side_seconds("quick"), None);
    }
}
