//! Training data: games with scores as files, and the self-play that makes them.
//!
//! Reading order: `viriformat.rs` for how a game is stored, `play.rs` for how one comes about, `run.rs` for many of them on many
//! threads into one file, `arguments.rs` for the words of the command line.

mod arguments;
mod opening;
mod play;
mod run;
pub mod viriformat;

pub use arguments::{ArgumentError, USAGE, parse};
pub use opening::Openings;
pub use play::{Adjudication, Effort, NoGame, Rules, play_game, play_start};
pub use run::{Job, RunError, Tally, Target, run};
