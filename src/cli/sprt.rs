//! `quintain sprt`.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::cli::flags::RunFlags;
use crate::cli::run::{self, Output};
use crate::cli::run_dir::Place;
use crate::cli::{Exit, forecast, progress, resolve};
use crate::plan::Plan;
use crate::plan::config::RawPlan;

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
#[command(after_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct SprtArgs {
    /// A plan; flags win over its keys.
    #[arg(value_name = "PLAN.toml")]
    plan: Option<PathBuf>,

    /// The tested engine [default: `.`, the working tree].
    #[arg(long, value_name = "SPEC", help_heading = "Engines")]
    new: Option<String>,
    /// The reference engine [default: the newest commit whose program differs from that of `new`].
    #[arg(long, value_name = "SPEC", help_heading = "Engines")]
    base: Option<String>,
    /// What to call `new`, where not by its own name.
    #[arg(long, value_name = "NAME", help_heading = "Engines")]
    new_name: Option<String>,
    /// What to call `base`, where not by its own name.
    #[arg(long, value_name = "NAME", help_heading = "Engines")]
    base_name: Option<String>,
    /// A UCI option for `new`.
    #[arg(long = "new-option", value_name = "NAME=VALUE", help_heading = "Engines")]
    new_options: Vec<String>,
    /// A UCI option for `base`.
    #[arg(long = "base-option", value_name = "NAME=VALUE", help_heading = "Engines")]
    base_options: Vec<String>,

    /// The hypotheses in Elo of the model [default: 0,5].
    #[arg(long, value_name = "ELO0,ELO1", help_heading = "Test", allow_hyphen_values = true)]
    bounds: Option<String>,
    /// What the bounds are measured in: normalized, logistic or bayesian [default: normalized].
    #[arg(long, value_name = "MODEL", help_heading = "Test")]
    model: Option<String>,
    /// Probability of accepting H1 where H0 is true [default: 0.05].
    #[arg(long, value_name = "P", help_heading = "Test")]
    alpha: Option<f64>,
    /// Probability of accepting H0 where H1 is true [default: 0.05].
    #[arg(long, value_name = "P", help_heading = "Test")]
    beta: Option<f64>,
    /// Stop without a verdict after so many pairs.
    #[arg(long, value_name = "N", help_heading = "Test")]
    max_pairs: Option<u64>,
    /// Choose the upper bound so that the test is over in this time in 95 % of cases, and stop then: `30m`, `8h`.
    #[arg(long, value_name = "TIME", help_heading = "Test", conflicts_with = "bounds")]
    budget: Option<String>,
    /// Play a program against itself; without it, equal programs with equal settings are refused.
    #[arg(long, help_heading = "Test")]
    allow_same: bool,
    /// Clock of `new` alone.
    #[arg(long, value_name = "TC", help_heading = "Limits")]
    new_tc: Option<String>,
    /// Clock of `base` alone.
    #[arg(long, value_name = "TC", help_heading = "Limits")]
    base_tc: Option<String>,
    #[command(flatten)]
    flags: RunFlags,
}

impl SprtArgs {
    /// The flags as a plan's keys.
    fn to_raw(&self) -> Result<RawPlan> {
        Ok(RawPlan {
            new: self.new.clone(),
            base: self.base.clone(),
            new_name: self.new_name.clone(),
            base_name: self.base_name.clone(),
            new_options: resolve::options(&self.new_options)?,
            base_options: resolve::options(&self.base_options)?,
            bounds: self.bounds.as_deref().map(resolve::bounds).transpose()?,
            model: self.model.clone(),
            alpha: self.alpha,
            beta: self.beta,
            max_pairs: self.max_pairs,
            budget: self.budget.clone(),
            allow_same: self.allow_same.then_some(true),
            new_tc: self.new_tc.clone(),
            base_tc: self.base_tc.clone(),
            ..self.flags.to_raw()?
        })
    }
}

pub(super) fn run(args: &SprtArgs) -> Result<Exit> {
    let file = args.plan.as_deref().map(RawPlan::read).transpose()?.unwrap_or_default();
    let mut raw = args.to_raw()?.over(file);
    let out = raw.out.clone();
    let given = out.map(Place::Given);
    given.as_ref().map_or(Ok(()), Place::check)?;
    // Bounds that were typed win over a file's budget.
    if let Some(budget) = raw.budget.take().filter(|_| args.bounds.is_none()) {
        progress::note(&forecast::spend(&budget, &mut raw)?);
    }
    let (plan, book) = resolve::sprt(&raw).context("cannot start the test")?;
    compare(&plan, raw.allow_same == Some(true))?;
    let place = given.unwrap_or_else(|| run::default_place(&plan.name));
    run::start(Arc::new(plan), book, &place, Output::new(args.flags.json))
}

/// Refuses two equal sides, and tells of two that differ in speed at most.
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
        progress::note(&format!("both programs search {nodes} nodes in their bench: they may differ in speed alone"));
    }
    Ok(())
}
