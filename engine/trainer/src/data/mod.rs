//! Training data: reads, cleans and converts games and positions.
//!
//! Reading order: `record.rs` (a labelled position and the record that training reads),
//! `format.rs`, `lines.rs`, `read.rs` and `write.rs` with a file per family of formats,
//! `filter.rs`, then a file per command. `sorter.rs` shuffles and deduplicates files larger than
//! memory.

#[cfg(feature = "binpack")]
mod binpack;
mod convert;
mod dedup;
mod error;
mod filter;
mod format;
mod info;
mod input;
mod journal;
mod lines;
mod needs;
mod pgn;
pub mod read;
pub mod record;
mod rescore;
mod shuffle;
mod sorter;
mod split;
pub(crate) mod text;
mod write;

pub(crate) use error::Bad;
pub use error::{DataError, Place};
pub use filter::Filter;
pub use format::Format;
pub use lines::Lines;

use clap::Subcommand;
use std::io::{self, Write};
use std::path::PathBuf;

/// Commands of `destrier-trainer data`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Count games, positions and results, and draw histograms
    Info(info::Info),
    /// Read everything and name the first fault
    Check(info::Check),
    /// Write games or positions in another format
    Convert(convert::Convert),
    /// Keep positions that are worth training on: late, calm, with a quiet best move
    Filter(convert::Keep),
    /// Make training data of Quintain's own journals and of PGN with evaluations
    Import(convert::Import),
    /// Put games or positions in random order, whatever their size
    Shuffle(shuffle::Shuffle),
    /// Mix files as they are, each in its own order
    Interleave(shuffle::Interleave),
    /// Drop positions that were there before
    Dedup(dedup::Dedup),
    /// Part games into training and validation
    Split(split::Split),
    /// Give positions the scores of UCI engines
    Rescore(rescore::Rescore),
}

impl Command {
    /// Returns the partial files that remain if a command is interrupted. `rescore` has none,
    /// because an interrupted run continues.
    pub fn unfinished(&self) -> Vec<PathBuf> {
        let written = match self {
            Command::Info(_) | Command::Check(_) | Command::Rescore(_) => vec![],
            Command::Convert(convert) => vec![&convert.output.out],
            Command::Filter(filter) => vec![&filter.output.out],
            Command::Import(import) => vec![&import.output.out],
            Command::Shuffle(shuffle) => vec![&shuffle.output.out],
            Command::Interleave(interleave) => vec![&interleave.output.out],
            Command::Dedup(dedup) => vec![&dedup.output.out],
            Command::Split(split) => vec![&split.output.out, &split.validation],
        };
        written.into_iter().map(|path| write::partial(path)).collect()
    }
}

/// Runs a command.
///
/// # Errors
/// Fails if an input cannot be read or parsed, or the output cannot be written.
pub fn run(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Info(info) => info.run(),
        Command::Check(check) => check.run(),
        Command::Convert(convert) => convert.run(),
        Command::Filter(filter) => filter.run(),
        Command::Import(import) => import.run(),
        Command::Shuffle(shuffle) => shuffle.run(),
        Command::Interleave(interleave) => interleave.run(),
        Command::Dedup(dedup) => dedup.run(),
        Command::Split(split) => split.run(),
        Command::Rescore(rescore) => rescore.run(),
    }
}

/// Returns the end of a command's summary about games that were passed over; empty if there were
/// none.
fn passed_over(games: u64) -> String {
    match games {
        0 => String::new(),
        _ => format!(
            ", {games} games passed over (no result, no evaluations, or ended by forfeit, failure or abandonment)"
        ),
    }
}

/// Prints a line on stdout. A closed pipe is not an error.
///
/// # Errors
/// Fails if writing to stdout fails for any other reason.
fn say(line: &str) -> Result<(), DataError> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(DataError::Stdout(error)),
        _ => Ok(()),
    }
}
