//! Vocabulary of both ways to update accumulators: the length of a line and counts of the work.

/// Initial capacity in plies: a search line with its quiescence search.
pub(super) const PLIES: usize = 160;

/// Counts of the work done, for the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Number of evaluations.
    pub evaluations: u64,
    /// Moves recorded.
    pub moves: u64,
    /// Updates of one side's accumulator by a move.
    pub updates: u64,
    /// Refreshes of one side's accumulator from the cache.
    pub refreshes: u64,
    /// Rows added or subtracted by refreshes.
    pub refresh_rows: u64,
    /// Rows added or subtracted by updates through lists, which all sets but `piece` use.
    pub list_rows: u64,
}
