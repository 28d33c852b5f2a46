//! Networks: training, quantisation, export and comparison tables.

pub mod bench;
mod checkpoint;
mod curve;
mod dispatch;
mod export;
mod features;
mod feed;
mod head;
mod integer;
mod kernels;
mod layered;
mod lazy;
mod loaded;
mod network;
mod pairs;
mod plan;
mod report;
mod run;
mod schedule;
mod shard;
mod source;
mod tile;
mod trainer;
mod triplet;

#[cfg(test)]
mod triplet_figures;
mod loaded_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod triplet_tests;

pub(crate) use checkpoint::{lock_folder, replace};
pub(crate) use features::{Inputs, oriented};
pub(crate) use integer::Integer;
pub(crate) use pairs::{PairFileError, read as read_pairs};
pub(crate) use plan::{Data, Network, Optimiser, Plan, PlanError, Training, folder_of, full, kind, line_of};
pub(crate) use run::{Summary, check as check_training, run as train};
pub(crate) use schedule::{Blend, Rate};
pub use source::SourceError;
pub(crate) use source::{Records, Source};
pub(crate) use triplet::TRIPLET;

use clap::Subcommand;
use std::io;
use std::path::PathBuf;

/// Commands that train and export networks.
#[derive(Debug, Subcommand)]
pub enum TrainCommand {
    /// Train the networks of plans, one after the other; continues where a run stopped.
    Train {
        /// Plans, TOML.
        #[arg(required = true)]
        plans: Vec<PathBuf>,
    },
    /// Write a plan's last checkpoint as a network.
    Export {
        /// The plan, TOML.
        plan: PathBuf,
    },
}

/// Runs a command.
///
/// # Errors
/// Fails if a plan or its data cannot be read or parsed, or the output cannot be written.
pub fn run(command: TrainCommand) -> anyhow::Result<()> {
    let mut out = io::stdout();
    match command {
        TrainCommand::Train { plans } => {
            // Check all plans and their data first, so that a mistake in the last one does not show
            // after hours of training.
            let plans = plans.iter().map(|path| Plan::load(path)).collect::<Result<Vec<_>, _>>()?;
            for (place, plan) in plans.iter().enumerate() {
                run::check(plan, &plans[..place])?;
            }
            let summaries = plans.iter().map(|plan| run::run(plan, &mut out)).collect::<Result<Vec<_>, _>>()?;
            report::table(&summaries, &mut out)?;
        }
        TrainCommand::Export { plan } => {
            let plan = Plan::load(&plan)?;
            report::table(&[run::trained(&plan)?.export()?], &mut out)?;
        }
    }
    Ok(())
}
