//! Networks: training, quantisation, export and comparison tables.

mod average;
pub mod bench;
mod checkpoint;
mod curve;
mod dispatch;
mod export;
mod features;
mod feed;
mod foreign;
mod head;
mod integer;
mod kernels;
mod layered;
mod lazy;
mod loaded;
mod network;
pub mod npz;
mod order;
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
mod triplet_figures;

#[cfg(test)]
mod loaded_tests;
#[cfg(test)]
mod run_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod triplet_tests;

pub(crate) use checkpoint::{LOCK, lock_folder};
pub(crate) use features::{Inputs, oriented};
pub(crate) use head::sigmoid;
pub(crate) use integer::Integer;
pub(crate) use pairs::{PairFileError, read as read_pairs};
pub(crate) use plan::{Data, Network, Optimiser, Plan, PlanError, SCALES, Training, folder_of, full, kind, line_of};
pub(crate) use run::{SNAPSHOTS, Summary, check as check_training, run as train};
pub(crate) use schedule::{Blend, Rate};
pub use source::SourceError;
pub(crate) use source::{Records, Source};
pub(crate) use triplet::TRIPLET;

use average::AverageArgs;
use clap::Subcommand;
use foreign::ForeignArgs;
use std::io;
use std::path::PathBuf;

const EXPORT_EXAMPLES: &str = "\
Examples:
  destrier-trainer export PLAN.toml
  destrier-trainer export --from-npz weights.npz --features piece+file --out net.nnue

The file of `numpy.savez` has the arrays `features` [inputs, neurons], `biases` [neurons], and then those of its kind:
  screlu   `output` [buckets, 2 * neurons] and `output_biases` [buckets]
  layered  `second` [buckets * L, 2 * neurons], `second_biases` and `output` [buckets * L], `output_biases` [buckets]
  deep     as layered with L = 32, and `third` [buckets * 32, 32] and `third_biases` [buckets * 32]
  pairwise `second` [buckets * L, neurons], the side to move's products first, `second_biases` [buckets * L], `third` [buckets * 32, L], `third_biases` and `output` [buckets * 32], `output_biases` [buckets]
  squared  as pairwise with `second` [buckets * L, 2 * neurons]; with L = 32, give --kind squared-32
There are 8 output buckets or 1, and the rows of a bucket are together; L is 8, 16, 32 or 64. Weights into a layer have a row for each of its units; the side to move's neurons come first. Pairwise inputs are the products of neurons 64 k + i and 64 k + 32 + i, i below 32. An output of 1 is 400 centipawns. \
`engine/trainer/python/train.py` is an example.";

const AVERAGE_EXAMPLES: &str = "\
Networks that were trained on from the same weights, with other data or another seed, err differently: their mean is often stronger than each of them. Neurons are matched by their first-layer weights, so the order in the files does not matter. \
The weights of the files are rounded, and so is the mean.

Example:
  destrier-trainer average before.nnue one.nnue two.nnue:2 --out mean.nnue";

/// Commands that train and export networks.
#[derive(Debug, Subcommand)]
pub enum TrainCommand {
    /// Trains the networks of plans, one after the other; continues where a run stopped.
    Train {
        /// Plans, TOML.
        #[arg(required = true)]
        plans: Vec<PathBuf>,
    },
    /// Writes a plan's last checkpoint as a network, or the weights of another program.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export {
        /// The plan, TOML.
        #[arg(required_unless_present = "from_npz", conflicts_with = "from_npz")]
        plan: Option<PathBuf>,
        /// Weights of another program.
        #[command(flatten)]
        foreign: ForeignArgs,
    },
    /// Writes the weighted mean of networks that began with the same weights.
    #[command(after_help = AVERAGE_EXAMPLES)]
    Average(AverageArgs),
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
        TrainCommand::Export { plan, foreign } => {
            let Some(plan) = plan else {
                foreign.run(&mut out)?;
                return Ok(());
            };
            let plan = Plan::load(&plan)?;
            report::table(&[run::trained(&plan)?.export()?], &mut out)?;
        }
        TrainCommand::Average(average) => average.run(&mut out)?,
    }
    Ok(())
}
