//! Reports of a search: the state after each iteration, and the outcome.

use super::tt::Bound;
use crate::types::{Move, Score};
use std::time::Duration;

/// The state of a search after an iteration, or at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info<'a> {
    /// The iteration that found the line, in plies.
    pub depth: i32,
    /// The longest line looked at in it, in plies.
    pub seldepth: usize,
    /// The rank of the line, from one.
    pub line: usize,
    /// From the side to move's view.
    pub score: Score,
    /// Bound that the score is: exact, but for an iteration that was stopped.
    pub bound: Bound,
    /// Moves played on the board since the search began, by all threads.
    pub nodes: u64,
    /// Answers from endgame tables, likewise.
    pub table_hits: u64,
    pub elapsed: Duration,
    /// Fill of the transposition table, per mille.
    pub hashfull: usize,
    /// The best line; from the root, at least one move.
    pub pv: &'a [Move],
}

/// Hears how a search gets on.
pub trait Report {
    fn iteration(&mut self, info: &Info<'_>);
}

/// Hears and says nothing.
pub struct Silent;

impl Report for Silent {
    fn iteration(&mut self, _: &Info<'_>) {}
}

/// Outcome of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// None when there is no legal move.
    pub best: Option<Move>,
    /// The answer expected to it.
    pub ponder: Option<Move>,
    pub score: Score,
    /// The last iteration that was finished.
    pub depth: i32,
    pub nodes: u64,
}
