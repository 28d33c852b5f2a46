//! `quintain sprt`: a sequential test of one engine against another.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::cli::flags::RunFlags;
use crate::plan::Plan;
use crate::run::dir::Place;
use crate::run::drive::{self, OutputStyle};
use crate::run::{Exit, forecast, progress, resolve};
use crate::settings::{RawPlan, SprtCommand};

const EXAMPLES: &str = "\
Engines (SPEC):
  .                      the working tree of this repository, uncommitted changes included
  git:REV                a commit, branch or tag of this repository
  git:REV@PATH-OR-URL    of another one
  PATH                   an executable; \"PATH -- ARGS\" with arguments
  NAME                   an engine of configs/engines.toml

Examples:
  quintain sprt
  quintain sprt --new git:my-branch --base git:main --tc 8+0.08 --bounds 0,5
  quintain sprt configs/sprt-stc.toml --max-pairs 2000
  quintain sprt --budget 8h
  quintain sprt --new ./engine-a --base ./engine-b --nodes 20000 -j 2";

/// Is `new` stronger than `base`? Plays pairs of games until a sequential test can say.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct SprtArgs {
    /// A plan; flags win over its keys.
    #[arg(value_name = "PLAN.toml")]
    plan: Option<PathBuf>,

    #[command(flatten)]
    flags: RunFlags<SprtCommand>,
}

pub(super) fn run(args: &SprtArgs) -> Result<Exit> {
    let file = args.plan.as_deref().map(RawPlan::read).transpose()?.unwrap_or_default();
    let typed = args.flags.typed();
    let mut raw = typed.over(&file)?;
    let out = raw.out.clone();
    let given = out.map(Place::Given);
    given.as_ref().map_or(Ok(()), Place::check)?;
    // Bounds on the command line override a budget.
    if let Some(budget) = raw.budget.take().filter(|_| typed.bounds.is_none()) {
        progress::note(&forecast::spend(&budget, &mut raw)?);
    }
    let (plan, book) = resolve::sprt(&raw).context("cannot start the test")?;
    compare(&plan, raw.allow_same == Some(true))?;
    let place = given.unwrap_or_else(|| drive::default_place(&plan.name));
    Ok(drive::start(Arc::new(plan), book, &place, OutputStyle::new(args.flags.json))?)
}

/// Refuses two identical sides, and notes sides that can differ only in speed.
fn compare(plan: &Plan, allow_same: bool) -> Result<()> {
    let [new, base] = plan.players.as_slice() else { return Ok(()) };
    if new.limit != base.limit {
        return Ok(());
    }
    if new.is_same_engine(base) {
        if !allow_same {
            bail!(
                "`{}` and `{}` are the same program with the same settings, and a test of them measures noise; choose another --base, \
                 give one side an option or a clock of its own, or say --allow-same",
                new.origin.spec,
                base.origin.spec
            );
        }
        progress::warn("both sides are the same program with the same settings; the test can only measure noise");
    } else if let (Some(nodes), true) = (new.origin.bench_nodes, new.origin.bench_nodes == base.origin.bench_nodes)
        && new.options == base.options
    {
        progress::note(&format!(
            "both programs search {nodes} nodes in their bench, so the change looks non-functional: `quintain speed` tells in a \
             minute if one is faster"
        ));
    }
    Ok(())
}
