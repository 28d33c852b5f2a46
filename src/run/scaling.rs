//! Measurement of how searches scale: each position once by each engine, in turns.

use crate::chess::{Position, Variant};
use crate::openings::Book;
use crate::record::Score;
use crate::run::error::{Result, fail};
use crate::run::lanes::in_lanes;
use crate::run::prepare::position_line;
use crate::stats::scaling::CostPath;
use crate::suite::PositionSearcher;
use crate::uci::process::EngineConfig;
use crate::uci::{Go, Iteration, PositionLine};

/// Result of one search.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PositionSearch {
    /// Costs of the complete iterations.
    Path(IterationCosts),
    /// The engine found a mate, which ends the growth.
    Mate,
    /// The engine stopped before the requested depth.
    Early,
    /// The engine printed no line with a depth and a score.
    Silent,
}

/// Costs of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct IterationCosts {
    /// Nodes at the end of each depth.
    pub(crate) nodes: CostPath,
    /// Seconds at the end of each depth, as reported by the engine.
    pub(crate) seconds: CostPath,
    /// Nodes a second over the whole search.
    pub(crate) nps: Option<f64>,
}

/// Positions to search.
#[derive(Debug)]
pub(crate) struct Positions {
    lines: Vec<PositionLine>,
    /// Positions left out because they have one legal move or none.
    pub(crate) forced: usize,
}

impl Positions {
    /// Takes positions evenly spread over a book.
    ///
    /// # Errors
    /// Returns an error if an opening cannot be read, or none is left.
    pub(crate) fn of_book(book: &Book, most: usize, variant: Variant) -> Result<Self> {
        let mut positions = Self { lines: Vec::new(), forced: 0 };
        for opening in book.spread(most) {
            let opening = opening?;
            let fault = |why: String| format!("{}, opening {}: {why}", book.name(), opening.index + 1);
            let mut position = match Position::from_fen(&opening.fen, variant) {
                Ok(position) => position,
                Err(error) => fail!(Setting, "{}", fault(error.to_string())),
            };
            for word in &opening.moves {
                if let Err(error) = position.advance_by(word) {
                    fail!(Setting, "{}", fault(error.to_string()));
                }
            }
            if position.over().is_some() || position.legal_moves().len() < 2 {
                positions.forced += 1;
            } else {
                positions.lines.push(position_line(opening, variant)?);
            }
        }
        if positions.lines.is_empty() {
            fail!(Setting, "{}: no position with two legal moves", book.name());
        }
        Ok(positions)
    }

    /// Number of positions to search.
    pub(crate) fn len(&self) -> usize {
        self.lines.len()
    }
}

/// Searches every position with every engine. Each lane takes one position after the other and
/// starts with another engine each time, so that a change of the machine's speed falls on all.
/// Returns the results by engine and position; `tell` gets the number of finished positions.
///
/// # Errors
/// Returns an error if an engine does not start, or fails.
pub(crate) fn search(
    configs: &[EngineConfig],
    go: &Go,
    positions: &Positions,
    lanes: usize,
    tell: &(dyn Fn(usize) + Sync),
) -> Result<Vec<Vec<PositionSearch>>> {
    let start = async || {
        let mut engines = Vec::with_capacity(configs.len());
        for config in configs {
            engines.push(PositionSearcher::start(config, *go).await?);
        }
        Ok(engines)
    };
    let work = async |engines: &mut Vec<PositionSearcher>, place: usize, line: &PositionLine| {
        let mut results = vec![PositionSearch::Silent; configs.len()];
        for turn in 0..configs.len() {
            let at = (place + turn) % configs.len();
            results[at] = one(&mut engines[at], &configs[at].name, line, go).await?;
        }
        Ok(results)
    };
    let end = async |engines: Vec<PositionSearcher>| {
        for engine in engines {
            engine.end().await;
        }
    };
    let found = in_lanes((&positions.lines, lanes), start, work, end, tell)?;
    Ok((0..configs.len()).map(|at| found.iter().filter_map(|of| of.get(at).cloned()).collect()).collect())
}

/// Searches a position as a new game.
async fn one(engine: &mut PositionSearcher, name: &str, line: &PositionLine, go: &Go) -> Result<PositionSearch> {
    match engine.search(line.as_bytes()).await {
        Ok(_) => {
            // A position that another limit ends before the depth has costlier depths.
            let is_cut = go.nodes.is_some() || go.movetime.is_some();
            let reached = engine.iterations().last().map(|last| last.depth);
            let depth = go.depth.filter(|depth| !is_cut || reached >= Some(*depth));
            Ok(costs(engine.iterations(), depth))
        }
        Err(why) => {
            fail!(Engine, "engine {name}: {why}, at `{}`", String::from_utf8_lossy(line.as_bytes()).trim())
        }
    }
}

/// Costs of a search by its lines. A search that ends by nodes or time ends within an iteration,
/// whose line some engines print; so its last depth does not count.
fn costs(lines: &[Iteration], depth: Option<u32>) -> PositionSearch {
    let Some(last) = lines.last() else { return PositionSearch::Silent };
    if lines.iter().any(|line| matches!(line.score, Score::Mate(_))) {
        return PositionSearch::Mate;
    }
    let mut found = IterationCosts::default();
    let note = |path: &mut CostPath, depth: u32, cost: Option<f64>| {
        // A depth's last line is its end. Depths of an engine that starts again lower are dropped.
        path.retain(|point| point.0 < depth);
        path.extend(cost.map(|cost| (depth, cost)));
    };
    for line in lines {
        note(&mut found.nodes, line.depth, line.nodes.map(|nodes| nodes as f64));
        note(&mut found.seconds, line.depth, line.time.map(|time| time.as_secs_f64()));
    }
    found.nps = match (last.nodes, last.time) {
        (Some(nodes), Some(time)) if !time.is_zero() => Some(nodes as f64 / time.as_secs_f64()),
        _ => None,
    };
    match depth {
        Some(depth) if last.depth < depth => return PositionSearch::Early,
        Some(_) => {}
        None => {
            let is_complete = |point: &(u32, f64)| point.0 < last.depth;
            found.nodes.retain(is_complete);
            found.seconds.retain(is_complete);
        }
    }
    PositionSearch::Path(found)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn iteration(depth: u32, nodes: u64, ms: u64) -> Iteration {
        let time = Some(Duration::from_millis(ms));
        Iteration { depth, score: Score::Cp(10), nodes: Some(nodes), time, best: String::new() }
    }

    #[test]
    fn the_last_line_of_each_complete_depth_counts() {
        let lines = [iteration(1, 20, 0), iteration(2, 50, 1), iteration(2, 80, 2), iteration(3, 400, 10)];
        let PositionSearch::Path(to_depth) = costs(&lines, Some(3)) else { panic!("a path") };
        assert_eq!(to_depth.nodes, [(1, 20.0), (2, 80.0), (3, 400.0)]);
        assert_eq!(to_depth.seconds, [(1, 0.0), (2, 0.002), (3, 0.01)]);
        assert_eq!(to_depth.nps, Some(40_000.0));
        // The limit cut the third iteration.
        let PositionSearch::Path(by_nodes) = costs(&lines, None) else { panic!("a path") };
        assert_eq!(by_nodes.nodes, [(1, 20.0), (2, 80.0)]);
        assert_eq!(by_nodes.nps, Some(40_000.0));
    }

    #[test]
    fn mates_and_early_ends_are_told_apart() {
        let mut lines = vec![iteration(1, 20, 0), iteration(2, 50, 1)];
        assert_eq!(costs(&lines, Some(3)), PositionSearch::Early);
        lines[0].score = Score::Mate(3);
        assert_eq!(costs(&lines, Some(2)), PositionSearch::Mate);
        assert_eq!(costs(&[], None), PositionSearch::Silent);
    }
}
