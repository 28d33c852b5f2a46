//! Reports of a search: the state after each iteration, and the outcome.

use super::tt::Bound;
use crate::types::{Move, Score};
use std::time::Duration;

/// State of a search after an iteration, or at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info<'a> {
    /// Depth of the iteration that found the line, in plies.
    pub depth: i32,
    /// Longest line searched in that iteration, in plies.
    pub seldepth: usize,
    /// Rank of the line, from one.
    pub line: usize,
    /// Score from the side to move's view.
    pub score: Score,
    /// Bound of the score: exact, unless the iteration was stopped.
    pub bound: Bound,
    /// Nodes of all threads: moves played on the board since the search began.
    pub nodes: u64,
    /// Successful tablebase probes of all threads.
    pub tablebase_hits: u64,
    /// Time since the start of the search.
    pub elapsed: Duration,
    /// Fill of the transposition table, in permille.
    pub hashfull: usize,
    /// Best line from the root, at least one move.
    pub pv: &'a [Move],
}

/// Receiver of a search's reports.
pub trait Report {
    /// Receives the report of a finished iteration, or of the part of one that a limit cut off.
    fn iteration(&mut self, info: &Info<'_>);
}

/// Receiver that ignores all reports.
pub struct SilentReport;

impl Report for SilentReport {
    fn iteration(&mut self, _: &Info<'_>) {}
}

/// Outcome of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// Best move; `None` if there is no legal move.
    pub best: Option<Move>,
    /// Expected reply to the best move.
    pub ponder: Option<Move>,
    /// Score in centipawns from the side to move's view.
    pub score: Score,
    /// Depth of the last finished iteration.
    pub depth: i32,
    /// Nodes of all threads.
    pub nodes: u64,
}
