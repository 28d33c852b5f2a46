//! `quintain tune`: tuning of an engine's parameters.

mod result;
mod table;

use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use crate::cli::flags::RunFlags;
use crate::run::dir::Place;
use crate::run::drive::{self, OutputStyle};
use crate::run::notify::Receivers;
use crate::run::tuning::{prepare, prove, session};
use crate::run::{Exit, progress};
use crate::settings::{RawPlan, TuneCommand};
use crate::text::shell_path;

const EXAMPLES: &str = "\
Parameters are UCI options of the engine. They come from a file (--params), from the engine's own \
spin options (--from-engine), or from the [tune] table of the engine's quintain.toml, whose \
command prints them. They are set before every game.

Before the first game each parameter is set to its minimum and maximum. Searches at fixed nodes \
then find the parameters that change nothing, which are left out. With `auto` these searches also \
balance the steps of the others by the share of best moves that a step changes, by a factor of \
two at most. `auto` then measures how much Elo a step loses, and derives its own step from that.

Afterwards the full step and the half step from the start to the result race against the start, \
from openings that the tuning did not use, if the book has enough. If the recipe's [tune] table \
names the file of the values, the race plays normal builds. The exit code is 0 if a step is shown \
to be stronger, 1 if each is shown to gain less than 5 Elo, 3 if neither is shown, 4 if failures \
ended the run, and 130 after an interruption. The run's directory has tune/ (games), prove/ \
(race), options.toml, and lines for OpenBench and fishtest. The same command with the same --out \
continues an interrupted tuning.

A value that makes the engine fail loses its game. The range of a parameter is narrowed once \
failures, three at least, show that its values beyond every value that played are the cause. By \
default --max-failures is 16 times the pairs of a block, and 10 in the race. A block has two pairs \
for each game at once, rounded up to a power of two, at least 16 and at most 256; 128 or fewer at \
a hub.

The games of a tuning never predict its gain. --dry-run shows the gain of the method on simulated \
landscapes with a known truth; it says nothing about this engine.

Examples:
  quintain tune --nodes 7000 --pairs 10000
  quintain tune --only 'lmr_*' --tc 8+0.08 --max-time 8h
  quintain tune --engine ./my-engine --params params.txt --nodes 20000
  quintain tune --engine stockfish --from-engine 'Slow|Contempt' --tc 8+0.08
  quintain tune --engine ./my-engine --from-engine '^Use' --method factors --pairs 4000 --tc 8+0.08
  quintain tune --nodes 7000 --pairs 10000 --prove-tc 8+0.08 --apply tuned --out results/tune
  quintain tune tune.toml --dry-run

JSON: `run, engine, method, limit, pairs, params` (`name, start, result, value`, and of a switch \
`effect`: `elo, error95, p`), `proof` (`verdict` proven|not-better|not-shown, `chosen`, `limit`, \
`openings`: `book, fresh, pairs, reordered, repeated`, `candidates`: `name, pairs, ptnml, elo, \
elo_lo, elo_hi, is_better`), `applied, files`.";

/// Tunes an engine's parameters by games of the engine against itself.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct TuneArgs {
    /// Plan file; flags take precedence over its keys.
    #[arg(value_name = "PLAN.toml")]
    plan: Option<PathBuf>,
    /// Plays no game: prints the parameters, what the calibration costs, and what to expect.
    #[arg(long, help_heading = "Tuning")]
    dry_run: bool,
    /// Makes this branch with a commit that has the proven values, by the recipe's [tune] file and
    /// row.
    ///
    /// With --no-prove it has the values of the full step, and says that they are not proven. It
    /// must not exist, or be at the tuned commit. The working tree stays as it is.
    #[arg(long, value_name = "BRANCH", help_heading = "Tuning")]
    apply: Option<String>,
    #[command(flatten)]
    flags: RunFlags<TuneCommand>,
}

/// Keys of the plan file with those of the command line over them.
pub(super) fn merged(args: &TuneArgs) -> Result<RawPlan> {
    args.flags.over_plan(args.plan.as_deref())
}

/// Branch of --apply, for the queue.
///
/// # Errors
/// Returns an error if no game is to be played.
pub(super) fn branch(args: &TuneArgs) -> Result<Option<String>> {
    if args.dry_run {
        bail!("--dry-run plays no game, so the queue has nothing to do: `quintain tune --dry-run` prints it at once");
    }
    Ok(args.apply.clone())
}

pub(super) fn run(args: &TuneArgs) -> Result<Exit> {
    let raw = merged(args)?;
    if args.dry_run {
        let prepared = prepare::prepare(&raw).context("cannot tune")?;
        if let Some(branch) = &args.apply {
            session::check_branch(branch, prepared.sources.as_ref())?;
        }
        prove::check(&raw, &prepared.plan)?;
        prove::warn_before(&raw, &prepared.plan);
        progress::result(&table::dry_run(&prepared, args.flags.json)?);
        return Ok(Exit::Done);
    }
    let place =
        raw.out.clone().map_or_else(|| drive::default_place(raw.name.as_deref().unwrap_or("tune")), Place::Given);
    let output = if args.flags.json { OutputStyle::quiet() } else { OutputStyle::new(false) };
    let receivers = Receivers::of(&raw)?;
    let tuned = session::play(&raw, &place, args.apply.as_deref(), output).context("cannot tune")?;
    progress::result(&result::text(&tuned, args.flags.json)?);
    receivers.tell(&session::last_run(&tuned.root), tuned.exit);
    // A tuning that was aborted has said under which limit it continues.
    if tuned.exit == Exit::Interrupted {
        progress::note(&format!("the same command with --out {} continues", shell_path(&tuned.root)));
    }
    Ok(tuned.exit)
}
