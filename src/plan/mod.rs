//! Everything about a run, resolved and immutable. Nothing below this room reads configuration.
//!
//! Reading order: `time_control` (what a side may spend), `rules` (what the referee may decide), `recording` (what is
//! written besides), then [`Plan`] itself and `file`, its form in the run directory.

pub mod affinity;
mod book_ref;
pub mod file;
mod player;
pub mod recording;
pub mod rules;
mod stored;
pub mod time_control;

use std::time::Duration;

pub use self::book_ref::{BookRef, BookSource};
pub use self::file::Plan;
pub use self::player::{Origin, Player};
use crate::stats::sprt::{Bounds, Model};
pub use crate::tournament::formats::Format;

/// Who has which side in the games of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// The second game is played with sides changed.
    pub swap: bool,
    /// The player named first has Black in the first game.
    pub reverse: bool,
}

impl Default for Colors {
    fn default() -> Self {
        Self { swap: true, reverse: false }
    }
}

/// The settings of a sequential probability ratio test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The hypotheses, in Elo of the model.
    pub bounds: Bounds,
    /// What the bounds are measured in.
    pub model: Model,
    /// Probability of accepting H1 where H0 is true.
    pub alpha: f64,
    /// Probability of accepting H0 where H1 is true.
    pub beta: f64,
}

/// How long to wait for an engine where no clock runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of the process to `uciok`.
    pub start: Duration,
    /// From the first `isready`, which follows the options, to `readyok`: hash tables and networks are made here.
    pub ready: Duration,
    /// From `ucinewgame` to `readyok`.
    pub new_game: Duration,
    /// From `stop`, after a deadline was missed, to `bestmove`.
    pub stop: Duration,
    /// From `quit` to the end of the process.
    pub quit: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(10),
            ready: Duration::from_secs(30),
            new_game: Duration::from_secs(30),
            stop: Duration::from_millis(500),
            quit: Duration::from_secs(1),
        }
    }
}

/// The machine a plan was resolved on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// As the system names it.
    pub cpu: String,
    /// Physical cores that this process may use.
    pub cores: usize,
    /// System and version.
    pub os: String,
}
