//! Networks: training, quantising, exporting, comparing.

pub mod bench;
mod checkpoint;
mod curve;
mod dispatch;
mod export;
mod features;
mod head;
mod integer;
mod kernels;
mod layered;
mod loaded;
mod network;
mod plan;
mod report;
mod run;
mod schedule;
mod shard;
mod source;
mod tile;
mod trainer;

#[cfg(test)]
mod loaded_tests;
#[cfg(test)]
mod tests;

pub(crate) use checkpoint::{lock_folder, replace};
pub(crate) use plan::{Plan, folder_of, full, line_of};
pub(crate) use run::run as train;

use clap::Subcommand;
use std::io;
use std::path::PathBuf;

/// What can be asked for.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Train the networks of plans, one after the other; goes on where a run was stopped.
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

/// Does what was asked for.
///
/// # Errors
/// Says what could not be read, written or understood.
pub fn run(command: Command) -> anyhow::Result<()> {
    let mut out = io::stdout();
    match command {
        Command::Train { plans } => {
            // All plans and their data are looked at first: a mistake in the last must not show after the first has run for hours.
            let plans = plans.iter().map(|path| Plan::load(path)).collect::<Result<Vec<_>, _>>()?;
            for (place, plan) in plans.iter().enumerate() {
                run::check(plan, &plans[..place])?;
            }
            let summaries = plans.iter().map(|plan| run::run(plan, &mut out)).collect::<Result<Vec<_>, _>>()?;
            report::table(&summaries, &mut out)?;
        }
        Command::Export { plan } => {
            let plan = Plan::load(&plan)?;
            report::table(&[run::trained(&plan)?.export()?], &mut out)?;
        }
    }
    Ok(())
}
