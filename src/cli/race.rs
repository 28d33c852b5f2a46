//! `quintain race`: several candidates against one base.

use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::cli::flags::RunFlags;
use crate::run::dir::Place;
use crate::run::drive::{self, Output};
use crate::run::{Exit, resolve};
use crate::settings::{Common, RawPlayer};
use crate::tournament::formats::race::RaceRule;

const EXAMPLES: &str = "\
Every take plays the base, pair by pair, all from the same openings. A take is dropped once it is shown to be weaker than the base (and
what it must --gain), or than another take. The race is over if the one that is left is shown to be stronger than the base, or none is left.
Two equally good takes are never told apart, and play until --pairs. --close ELO ends such a race: the winner is shown to be stronger than
the base, and no other take that is left to be stronger than it by that Elo; a take that is not shown to be stronger than the base
is dropped if it cannot be by that Elo. Two equals take about 190 pairs each at --close 40, 600 at 20, 2,400 at 10 and 9,400 at 5; the line
before the first game says what your settings take.
All claims are e-processes (betting), level by Bonferroni: with probability 1 - alpha nothing that is said is false, however
long the race and whenever it is looked at. No opening is played twice, so a race ends with its book. The Elo of a take that was dropped or won
early is biased by just that.

Examples:
  quintain race git:idea-1 git:idea-2 git:idea-3 --base git:main --tc 8+0.08
  quintain race . git:other --base git:main --nodes 20000 --gain 2 --close 10 --pairs 8000";

/// Plays several takes against one base, drops the hopeless ones early and finds the best.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct RaceArgs {
    /// The takes, as SPECs.
    #[arg(value_name = "NEW", required = true)]
    takes: Vec<String>,
    /// Engine that they are held against.
    #[arg(long, value_name = "SPEC", help_heading = "Engines")]
    base: String,
    /// The probability that anything the race says is false.
    #[arg(long, value_name = "P", default_value_t = 0.05, help_heading = "Race")]
    alpha: f64,
    /// Elo that a take must gain on the base: one that is shown to gain less is dropped.
    #[arg(long, value_name = "ELO", default_value_t = 0.0, help_heading = "Race")]
    gain: f64,
    /// Elo by which another take may be stronger than the winner, so that a race of equally good
    /// takes ends. How much is worth no more games is yours to say: unless told, the winner must be
    /// the only take left.
    #[arg(long, value_name = "ELO", default_value_t = 0.0, help_heading = "Race")]
    close: f64,
    /// Pairs that a take plays at most [default: 2000].
    #[arg(long, value_name = "N", help_heading = "Race")]
    pairs: Option<u64>,
    /// Pairs of each take between two decisions.
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "Race")]
    step: u32,
    #[command(flatten)]
    flags: RunFlags<Common>,
}

pub(super) fn run(args: &RaceArgs) -> Result<Exit> {
    if !(args.alpha > 0.0 && args.alpha < 1.0) {
        bail!("--alpha {}: a probability between 0 and 1", args.alpha);
    }
    if args.gain.is_nan() || args.gain.abs() > 1000.0 {
        bail!("--gain {}: Elo from -1000 to 1000", args.gain);
    }
    if !(0.0..=1000.0).contains(&args.close) {
        bail!("--close {}: Elo from 0 to 1000", args.close);
    }
    if args.step == 0 {
        bail!("--step 0 plays nothing; 1 is the least");
    }
    let mut raw = args.flags.typed().clone();
    raw.pairs = args.pairs;
    raw.players = [&args.base]
        .into_iter()
        .chain(&args.takes)
        .map(|spec| RawPlayer { spec: Some(spec.clone()), ..RawPlayer::default() })
        .collect();
    let given = raw.out.clone().map(Place::Given);
    given.as_ref().map_or(Ok(()), Place::check)?;
    let rule = RaceRule { alpha: args.alpha, gain: args.gain, close: args.close, step: args.step };
    let (plan, book) = resolve::race(&raw, rule).context("cannot start the race")?;
    let place = given.unwrap_or_else(|| drive::default_place(&plan.name));
    Ok(drive::start(Arc::new(plan), book, &place, Output::new(args.flags.json))?)
}
