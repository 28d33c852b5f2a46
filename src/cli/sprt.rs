//! `quintain sprt`: a sequential test of one engine against another.

use std::path::PathBuf;

use anyhow::{Result, bail};

use crate::cli::flags::RunFlags;
use crate::cli::located;
use crate::run::begin::GameCommand;
use crate::run::drive::OutputStyle;
use crate::run::{Exit, chain};
use crate::settings::{RawPlan, SprtCommand};

const EXAMPLES: &str = "\
Engines (SPEC):
  .                      the working tree of this repository, uncommitted changes included
  git:REV                a commit, branch or tag of this repository
  git:REV@PATH-OR-URL    of another one
  PATH                   an executable; \"PATH -- ARGS\" with arguments
  NAME                   an engine of configs/engines.toml or of your own engines.toml, or a
                         program on PATH or in /usr/games

Examples:
  quintain sprt
  quintain sprt --new git:my-branch --base git:main --tc 8+0.08 --bounds 0,5
  quintain sprt configs/sprt-stc.toml --max-pairs 2000
  quintain sprt --budget 8h
  quintain sprt --new ./engine-a --base ./engine-b --nodes 20000 -j 2";

/// Is `new` stronger than `base`? Plays pairs of games until a sequential test decides.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct SprtArgs {
    /// Plan file; flags take precedence over its keys.
    #[arg(value_name = "PLAN.toml")]
    plan: Option<PathBuf>,
    /// A word after the plan, which is refused.
    #[arg(value_name = "WORD", hide = true, value_hint = clap::ValueHint::Other)]
    second: Option<String>,

    #[command(flatten)]
    flags: RunFlags<SprtCommand>,
}

/// Keys of the plan file with those of the command line over them.
pub(super) fn merged(args: &SprtArgs) -> Result<RawPlan> {
    if let Some(second) = &args.second {
        bail!(
            "`{second}`: a test takes one plan; name engines by flags, as in `quintain sprt --new ./new --base ./base`"
        );
    }
    args.flags.over_plan(args.plan.as_deref())
}

pub(super) fn run(args: &SprtArgs) -> Result<Exit> {
    let played = chain::play(GameCommand::Sprt, merged(args)?, OutputStyle::new(args.flags.json));
    played.map_err(|error| located::in_plan(error.into(), args.plan.as_deref(), args.flags.typed()))
}
