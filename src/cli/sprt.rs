//! `quintain sprt`.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};

use crate::cli::records::RecordArgs;
use crate::cli::run::{self, Output};
use crate::cli::run_dir::Place;
use crate::cli::{Exit, progress, resolve};
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
    /// The reference engine [default: the newest commit whose engine sources differ from `new`].
    #[arg(long, value_name = "SPEC", help_heading = "Engines")]
    base: Option<String>,
    /// A UCI option for both engines; may be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE", help_heading = "Engines")]
    options: Vec<String>,
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
    /// Stop without a verdict after so long: `90s`, `30m`, `8h`.
    #[arg(long, value_name = "TIME", help_heading = "Test")]
    max_time: Option<String>,

    /// Clock, `[moves/]base+increment` in seconds [default: 8+0.08].
    #[arg(long, value_name = "TC", help_heading = "Limits")]
    tc: Option<String>,
    /// Clock of `new` alone.
    #[arg(long, value_name = "TC", help_heading = "Limits")]
    new_tc: Option<String>,
    /// Clock of `base` alone.
    #[arg(long, value_name = "TC", help_heading = "Limits")]
    base_tc: Option<String>,
    /// Seconds a move.
    #[arg(long, value_name = "S", help_heading = "Limits")]
    movetime: Option<f64>,
    /// Nodes a move.
    #[arg(long, value_name = "N", help_heading = "Limits")]
    nodes: Option<u64>,
    /// Plies a move.
    #[arg(long, value_name = "N", help_heading = "Limits")]
    depth: Option<u32>,
    /// How far a move may overstep its time before it forfeits [default: 10].
    #[arg(long, value_name = "MS", help_heading = "Limits")]
    margin_ms: Option<f64>,
    /// When a search without a clock counts as hanging, in seconds [default: 60].
    #[arg(long, value_name = "S", help_heading = "Limits")]
    stall_timeout: Option<f64>,
    /// What an engine may take to say `uciok`, and again `readyok` before a game, in seconds [default: 10 and 30].
    #[arg(long, value_name = "S", help_heading = "Limits")]
    start_timeout: Option<f64>,

    /// Opening book, EPD, FEN list or PGN [default: the balanced book inside the program].
    #[arg(long, value_name = "FILE", help_heading = "Openings")]
    book: Option<PathBuf>,
    /// random (without replacement, from the seed) or sequential [default: random].
    #[arg(long, value_name = "ORDER", help_heading = "Openings")]
    book_order: Option<String>,
    /// Plies taken from each PGN game [default: all].
    #[arg(long, value_name = "N", help_heading = "Openings")]
    book_plies: Option<u32>,
    /// The first opening taken, from 1 [default: 1].
    #[arg(long, value_name = "N", help_heading = "Openings")]
    book_start: Option<u64>,
    /// Chess960 rules and castling.
    #[arg(long, help_heading = "Openings")]
    chess960: bool,

    /// Draw rule: `move=34,count=8,score=20`; `none` for none [default: none].
    #[arg(long, value_name = "RULE", help_heading = "Adjudication")]
    draw: Option<String>,
    /// Resign rule: `count=3,score=600[,twosided]`; `none` for none [default: none].
    #[arg(long, value_name = "RULE", help_heading = "Adjudication")]
    resign: Option<String>,
    /// A draw after so many plies of play.
    #[arg(long, value_name = "N", help_heading = "Adjudication")]
    max_plies: Option<u32>,

    /// Games at once [default: physical cores].
    #[arg(short = 'j', long, value_name = "N", help_heading = "Running")]
    concurrency: Option<u16>,
    /// Allow more games at once than CPUs under a clock: each is charged for the others' time.
    #[arg(long, help_heading = "Running")]
    force_concurrency: bool,
    /// Pin each slot to a CPU of its own.
    #[arg(long, help_heading = "Running")]
    affinity: bool,
    /// Start the engines anew for each game.
    #[arg(long, help_heading = "Running")]
    restart: bool,
    /// Play a pair again where an engine lost on time by no more than the time for which the machine kept it or the clock waiting
    /// for a CPU (at most three times a pair; the number is reported).
    #[arg(long, help_heading = "Running")]
    void_disturbed: bool,
    /// Crashes, stalls and illegal moves after which the run stops [default: 10].
    #[arg(long, value_name = "N", help_heading = "Running")]
    max_failures: Option<u64>,
    /// Decides the order of openings [default: from the system].
    #[arg(long, value_name = "N", help_heading = "Running")]
    seed: Option<u64>,

    #[command(flatten)]
    records: RecordArgs,

    /// The run's directory [default: results/runs/<date>-<name>].
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    out: Option<PathBuf>,
    /// What to call the run [default: sprt].
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    name: Option<String>,
    /// Print the summary as one JSON document.
    #[arg(long, help_heading = "Output")]
    json: bool,
}

impl SprtArgs {
    /// The flags as a plan's keys.
    fn to_raw(&self) -> Result<RawPlan> {
        let mut raw = RawPlan {
            new: self.new.clone(),
            base: self.base.clone(),
            options: resolve::options(&self.options)?,
            new_options: resolve::options(&self.new_options)?,
            base_options: resolve::options(&self.base_options)?,
            bounds: self.bounds.as_deref().map(resolve::bounds).transpose()?,
            model: self.model.clone(),
            alpha: self.alpha,
            beta: self.beta,
            max_pairs: self.max_pairs,
            max_time: self.max_time.clone(),
            tc: self.tc.clone(),
            new_tc: self.new_tc.clone(),
            base_tc: self.base_tc.clone(),
            movetime: self.movetime,
            nodes: self.nodes,
            depth: self.depth,
            margin_ms: self.margin_ms,
            stall_timeout: self.stall_timeout,
            start_timeout: self.start_timeout,
            book: self.book.clone(),
            book_order: self.book_order.clone(),
            book_plies: self.book_plies,
            book_start: self.book_start,
            chess960: self.chess960.then_some(true),
            draw: self.draw.clone(),
            resign: self.resign.clone(),
            max_plies: self.max_plies,
            concurrency: self.concurrency,
            force_concurrency: self.force_concurrency.then_some(true),
            affinity: self.affinity.then_some(true),
            restart: self.restart.then_some(true),
            void_disturbed: self.void_disturbed.then_some(true),
            max_failures: self.max_failures,
            seed: self.seed,
            out: self.out.clone(),
            name: self.name.clone(),
            ..RawPlan::default()
        };
        self.records.fill(&mut raw);
        Ok(raw)
    }
}

pub(super) fn run(args: &SprtArgs) -> Result<Exit> {
    let file = args.plan.as_deref().map(RawPlan::read).transpose()?.unwrap_or_default();
    let raw = args.to_raw()?.over(file);
    let out = raw.out.clone();
    let given = out.map(Place::Given);
    given.as_ref().map_or(Ok(()), Place::check)?;
    let (plan, book) = resolve::sprt(raw).context("cannot start the test")?;
    let place = given.unwrap_or_else(|| run::default_place(&plan.name));
    if let [new, base] = plan.players.as_slice()
        && new.origin.sha256 == base.origin.sha256
        && new.args == base.args
        && new.options == base.options
        && new.limit == base.limit
    {
        progress::warn("both sides are the same program with the same settings; the test can only measure noise");
    }
    run::start(Arc::new(plan), book, &place, Output::new(args.json))
}
