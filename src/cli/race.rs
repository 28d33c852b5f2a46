//! `quintain race`: several candidates against one base.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::cli::flags::RunFlags;
use crate::cli::located;
use crate::cli::matches::is_plan;
use crate::run::begin::GameCommand;
use crate::run::drive::OutputStyle;
use crate::run::{Exit, chain};
use crate::settings::{RaceCommand, RawPlan, RawPlayer};

const EXAMPLES: &str = "\
Every candidate plays the base, pair by pair, all from the same openings. A candidate is dropped \
once it is shown to be weaker than the base (plus what it must --gain) or than another candidate. \
The race ends once the last candidate is shown to be stronger than the base, or none is left.

Two equally good candidates can never be distinguished, so they play until --pairs. --close ELO ends \
such a race: the winner is shown to be stronger than the base, and no candidate left is stronger \
than it by that Elo. A candidate that is not shown to be stronger than the base is dropped once \
it cannot be stronger by that Elo. Two equals take about 190 pairs each at --close 40, 600 at 20, \
2,400 at 10 and 9,400 at 5 if half of the pairs are level, as between strong engines at a clock, and \
about twice as many at fixed nodes, where pairs vary more. The line before the first game gives \
the figures for your settings, with the pairs of past runs at that limit if there are any.

Every claim is an e-process (a betting argument), corrected by Bonferroni: with probability 1 - \
alpha no claim of the whole race is false, however long it runs and whenever you look. No opening \
is played twice, so a race ends with its book. The Elo of a candidate that was dropped or won \
early is biased by that early decision.

Exit codes: 0 the race is over, with a winner or without one (`race.winner` in summary.json is its \
name, or null); 2 bad usage, 3 out of openings or time, 4 too many engine failures, 130 interrupted.

Examples:
  quintain race git:idea-1 git:idea-2 git:idea-3 --base git:main --tc 8+0.08
  quintain race . git:other --base git:main --nodes 20000 --gain 2 --close 10 --pairs 8000
  quintain race --base . --with-net a.nnue --with-net b.nnue --nodes 20000
  quintain race race.toml -j 2                       `quintain init race` writes a plan";

/// Plays several candidates against one base, drops the hopeless ones early and finds the best.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct RaceArgs {
    /// The candidates, as SPECs; the first may be a plan, a file ending in .toml, over which flags
    /// take precedence.
    #[arg(value_name = "NEW|PLAN.toml", required_unless_present = "with_nets")]
    candidates: Vec<String>,
    /// A network to race: the base's engine with it is a candidate; may be repeated.
    #[arg(long = "with-net", value_name = "FILE", help_heading = "Engines")]
    with_nets: Vec<PathBuf>,
    #[command(flatten)]
    flags: RunFlags<RaceCommand>,
}

/// Keys of the plan file with those of the command line over them. Candidates of both race.
pub(super) fn merged(args: &RaceArgs) -> Result<RawPlan> {
    let (plan, specs) = match args.candidates.split_first() {
        Some((plan, specs)) if is_plan(plan) => (Some(Path::new(plan)), specs),
        _ => (None, args.candidates.as_slice()),
    };
    let mut raw = args.flags.over_plan(plan)?;
    let base = raw.base.clone();
    let typed = specs.iter().map(|spec| (Some(spec.clone()), None));
    let nets = args.with_nets.iter().map(|net| (base.clone(), Some(net.clone())));
    raw.players.extend(typed.chain(nets).map(|(spec, net)| RawPlayer { spec, net, ..RawPlayer::default() }));
    Ok(raw)
}

pub(super) fn run(args: &RaceArgs) -> Result<Exit> {
    let played = chain::play(GameCommand::Race, merged(args)?, OutputStyle::new(args.flags.json));
    let plan = args.candidates.first().filter(|word| is_plan(word)).map(Path::new);
    played.map_err(|error| located::in_plan(error.into(), plan, args.flags.typed()))
}
