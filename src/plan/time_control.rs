//! What a side may spend on a game or a move, as agreed before the run. What is left of it is `game::clock`.

use std::time::Duration;

/// A chess clock's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeControl {
    /// Moves in a session, after which `base` is added again; `None` for the whole game.
    pub moves: Option<u32>,
    /// Time for the session.
    pub base: Duration,
    /// Added after each move, and once before the first, as FIDE clocks and the leading runners do: a side at `8+0.08` starts with 8.08 s.
    pub increment: Duration,
}

/// Everything that bounds one side's thinking. At least one field is set (`Limit::parse`-built plans hold to it).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// A chess clock.
    pub clock: Option<TimeControl>,
    /// A fixed time for each move.
    pub movetime: Option<Duration>,
    /// Nodes a move.
    pub nodes: Option<u64>,
    /// Plies a move.
    pub depth: Option<u32>,
}
