//! Training data: reads, cleans and converts games and positions.
//!
//! Reading order: `record.rs` (a labelled position and the record that training reads),
//! `format.rs`, `lines.rs`, `read.rs` and `write.rs` with a file per family of formats,
//! `filter.rs`, then a file per command. `sorter.rs` shuffles and deduplicates files larger than
//! memory.

#[cfg(feature = "binpack")]
mod binpack;
mod continuation;
mod convert;
mod dedup;
mod error;
mod evaluation;
mod files;
mod filter;
mod fit_wdl;
mod format;
mod hash;
mod info;
mod input;
mod journal;
mod leaves;
mod lines;
mod needs;
mod pgn;
pub mod read;
pub mod record;
mod rescore;
mod shuffle;
mod smooth;
mod sorter;
mod split;
pub(crate) mod text;
mod triplets;
mod write;

pub(crate) use continuation::{PreviousEntry, may_be_piece};
pub(crate) use error::RecordFault;
pub use error::{DataError, Place};
pub(crate) use files::{read_row, replace, write_row, write_texts};
pub use filter::Filter;
pub(crate) use fit_wdl::sigmoid;
pub use format::Format;
pub(crate) use hash::{networks_of, sha256_of};
pub(crate) use input::Input;
pub(crate) use journal::journal_games;
pub use lines::Lines;
pub(crate) use record::{Position, TRIPLET_MARKS};
pub(crate) use rescore::program_of;

use crate::serve::SegmentName;
use clap::Subcommand;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

/// Commands of `destrier-trainer data`.
#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Counts games, positions and results, and draws histograms
    Info(info::InfoArgs),
    /// Reads everything and reports the first fault
    Check(info::CheckArgs),
    /// Writes games or positions in another format
    Convert(convert::ConvertArgs),
    /// Keeps positions to train on: late, not in check, with a quiet best move
    Filter(convert::FilterArgs),
    /// Makes training data from Quintain's journals or from PGN with evaluations
    Import(convert::ImportArgs),
    /// Shuffles games or positions, also of files larger than memory
    Shuffle(shuffle::ShuffleArgs),
    /// Interleaves files at random, each in its own order
    Interleave(shuffle::InterleaveArgs),
    /// Drops repeated positions
    Dedup(dedup::DedupArgs),
    /// Splits games into training and validation data
    Split(split::SplitArgs),
    /// Writes positions that searches evaluate
    Leaves(leaves::LeavesArgs),
    /// Replaces scores by those of UCI engines
    Rescore(rescore::RescoreArgs),
    /// Replaces scores by means with those of later plies, which are less noisy
    Smooth(smooth::SmoothArgs),
    /// Fits the win probability of a score to results
    FitWdl(fit_wdl::FitWdlArgs),
    /// Counts the active features of blocks of network inputs, and their changes by moves
    Features(crate::lab::StatisticsArgs),
    /// Makes triplets of positions from games, for the training method pqr
    Triplets(triplets::TripletsArgs),
    /// Chooses pairs for the block top-pairs of network inputs
    Pairs(crate::lab::PairsArgs),
    /// Hands encoded positions to a trainer in another program
    Serve(crate::serve::ServeArgs),
    /// Measures networks on positions of other engines' games, each at its best scale
    Loss(crate::loss::LossArgs),
}

impl DataCommand {
    /// Returns the remains of a command that is interrupted. `rescore` has none, because an
    /// interrupted run continues.
    pub fn leftovers(&self) -> Leftovers {
        let mut segment = None;
        let written = match self {
            DataCommand::Serve(serve) => {
                segment = Some(serve.segment());
                vec![]
            }
            DataCommand::Info(_)
            | DataCommand::Check(_)
            | DataCommand::Features(_)
            | DataCommand::FitWdl(_)
            | DataCommand::Pairs(_)
            | DataCommand::Rescore(_)
            | DataCommand::Loss(_) => vec![],
            DataCommand::Convert(convert) => vec![&convert.output.out],
            DataCommand::Filter(filter) => vec![&filter.output.out],
            DataCommand::Import(import) => vec![&import.output.out],
            DataCommand::Smooth(smooth) => vec![&smooth.output.out],
            DataCommand::Leaves(leaves) => vec![&leaves.output.out],
            DataCommand::Shuffle(shuffle) => vec![&shuffle.output.out],
            DataCommand::Interleave(interleave) => vec![&interleave.output.out],
            DataCommand::Dedup(dedup) => vec![&dedup.output.out],
            DataCommand::Triplets(triplets) => vec![&triplets.out],
            DataCommand::Split(split) => vec![&split.output.out, &split.validation],
        };
        Leftovers { files: written.into_iter().map(|path| write::partial(path)).collect(), segment }
    }
}

/// Unfinished outputs of a command.
#[derive(Debug, Default)]
pub struct Leftovers {
    files: Vec<PathBuf>,
    segment: Option<SegmentName>,
}

impl Leftovers {
    /// Removes files and shared memory that are there.
    pub fn remove(&self) {
        for path in &self.files {
            // The file may not exist yet or any more.
            let _ = fs::remove_file(path);
        }
        if let Some(segment) = &self.segment {
            segment.unlink();
        }
    }
}

/// Runs a command.
///
/// # Errors
/// Fails if an input cannot be read or parsed, or the output cannot be written.
pub fn run(command: DataCommand) -> anyhow::Result<()> {
    match command {
        DataCommand::Info(info) => info.run(),
        DataCommand::Check(check) => check.run(),
        DataCommand::Convert(convert) => convert.run(),
        DataCommand::Filter(filter) => filter.run(),
        DataCommand::Import(import) => import.run(),
        DataCommand::Shuffle(shuffle) => shuffle.run(),
        DataCommand::Interleave(interleave) => interleave.run(),
        DataCommand::Dedup(dedup) => dedup.run(),
        DataCommand::Split(split) => split.run(),
        DataCommand::Leaves(leaves) => leaves.run(),
        DataCommand::Rescore(rescore) => rescore.run(),
        DataCommand::Smooth(smooth) => smooth.run(),
        DataCommand::Features(features) => features.run(),
        DataCommand::FitWdl(fit) => fit.run(),
        DataCommand::Triplets(triplets) => triplets.run(),
        DataCommand::Pairs(pairs) => pairs.run(),
        DataCommand::Serve(serve) => serve.run(),
        DataCommand::Loss(loss) => loss.run(),
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
pub(crate) fn say(line: &str) -> Result<(), DataError> {
    match writeln!(io::stdout(), "{line}") {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(DataError::Stdout(error)),
        _ => Ok(()),
    }
}
