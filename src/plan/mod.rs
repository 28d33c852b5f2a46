//! Resolved, immutable settings of a run. Nothing below this room reads configuration.
//!
//! Reading order: `time_control` (limits of a side), `rules` (powers of the referee), `recording`
//! (further output), then [`Plan`] itself and `file`, its form in the run directory.

pub mod affinity;
mod book_ref;
mod chain;
pub mod file;
mod labels;
mod player;
pub mod recording;
pub mod rules;
mod stored;
pub mod time_control;
mod workers;

use std::time::Duration;

pub use self::book_ref::{BookRef, BookSource};
pub use self::chain::Chain;
pub use self::file::{Plan, unknown_player};
pub use self::labels::{labels, option_words};
pub use self::player::{Network, Origin, Player, override_options};
pub(crate) use self::workers::SIMULATED;
pub use self::workers::{BadReference, BadWorkers, HubRun, ReferenceSpeed, Workers};
use crate::stats::sprt::{Bounds, Model};
pub use crate::tournament::formats::Format;

/// Colours in the games of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// True if the second game is played with colours reversed.
    pub swap: bool,
    /// True if the player named first has Black in the first game.
    pub reverse: bool,
}

impl Default for Colors {
    fn default() -> Self {
        Self { swap: true, reverse: false }
    }
}

/// Settings of a sequential probability ratio test (SPRT).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// Hypotheses, in Elo of the model.
    pub bounds: Bounds,
    /// Elo model of the bounds.
    pub model: Model,
    /// Probability of accepting H1 if H0 is true.
    pub alpha: f64,
    /// Probability of accepting H0 if H1 is true.
    pub beta: f64,
}

/// Deadlines for engine replies that no clock limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// Start of the process to `uciok`.
    pub start: Duration,
    /// First `isready`, sent after the options, to `readyok`. Engines allocate hash tables and load
    /// networks here.
    pub ready: Duration,
    /// `ucinewgame` to `readyok`.
    pub new_game: Duration,
    /// `isready` before each search to `readyok`; `None` if it is not sent there.
    pub ping: Option<Duration>,
    /// `stop`, after a missed deadline, to `bestmove`.
    pub stop: Duration,
    /// `quit` to the end of the process.
    pub quit: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(10),
            ready: Duration::from_secs(30),
            new_game: Duration::from_secs(30),
            ping: None,
            stop: Duration::from_millis(500),
            quit: Duration::from_secs(1),
        }
    }
}

/// Machine that a plan was resolved on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// CPU model as the system names it.
    pub cpu: String,
    /// Number of physical cores that this process may use.
    pub cores: usize,
    /// Operating system with its version.
    pub os: String,
}
