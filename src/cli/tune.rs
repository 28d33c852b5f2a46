//! `quintain tune`.

mod table;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::cli::flags::RunFlags;
use crate::run::tuning::prepare;
use crate::run::{Exit, progress};
use crate::settings::{RawPlan, Tune};

const EXAMPLES: &str = "\
Parameters are UCI options of the engine. They come from a file (--params), from the engine's own spin options (--from-engine), or are
printed by the engine as the [tune] table of its quintain.toml says. Every game sets them anew.

Before the first game each parameter is set to its least and greatest value, and searches at fixed nodes find those that change nothing
(they are left out) and even the steps of the others (auto only): by the share of best moves that a step changes, by a factor of two at
most. `auto` then measures how much Elo a step loses, and takes its own step from that.

No gain is ever predicted from the games of a tuning. What --dry-run shows is what the method finds on simulated landscapes, where
the truth is known; of this engine it knows nothing.

Examples:
  quintain tune --nodes 7000 --pairs 10000
  quintain tune --only 'lmr_*' --tc 8+0.08 --max-time 8h
  quintain tune --engine ./my-engine --params params.txt --nodes 20000
  quintain tune --engine stockfish --from-engine 'Slow|Contempt' --tc 8+0.08
  quintain tune tune.toml --dry-run";

/// Tunes an engine's parameters by games of the engine against itself.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct TuneArgs {
    /// A plan; flags win over its keys.
    #[arg(value_name = "PLAN.toml")]
    plan: Option<PathBuf>,
    /// Plays no game: prints the parameters, what the calibration costs, and what to expect.
    #[arg(long, help_heading = "Tuning")]
    dry_run: bool,
    #[command(flatten)]
    flags: RunFlags<Tune>,
}

pub(super) fn run(args: &TuneArgs) -> Result<Exit> {
    let file = args.plan.as_deref().map(RawPlan::read).transpose()?.unwrap_or_default();
    let raw = args.flags.typed().over(&file)?;
    let prepared = prepare::prepare(&raw).context("cannot tune")?;
    if args.dry_run {
        progress::result(&table::dry_run(&prepared, args.flags.json)?);
        return Ok(Exit::Done);
    }
    bail!("this version plays no tuning yet; --dry-run shows what it would tune");
}
