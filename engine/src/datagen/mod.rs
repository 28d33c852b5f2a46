//! Training data: scored games in files, and the self-play that makes them.
//!
//! Reading order: `viriformat.rs` (the file format), `play.rs` (one game), `run.rs` (many games on
//! many threads into one file), `arguments.rs` (the command line).

mod arguments;
mod opening;
mod play;
mod run;
pub mod viriformat;

pub use arguments::{ArgumentError, USAGE, parse};
pub use opening::{Openings, random_move};
pub use play::{Adjudication, Effort, OpeningFault, Rules, play_game, play_start};
pub use run::{Job, RunError, Tally, Target, identity, run};
