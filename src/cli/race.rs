//! `quintain race`: several candidates against one base.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::cli::flags::RunFlags;
use crate::run::dir::Place;
use crate::run::drive::{self, OutputStyle};
use crate::run::notify::Receivers;
use crate::run::{Exit, resolve};
use crate::settings::{AnyCommand, RawPlayer};
use crate::tournament::formats::race::RaceRule;

const EXAMPLES: &str = "\
Every candidate plays the base, pair by pair, all from the same openings. A candidate is dropped \
once it is shown to be weaker than the base (plus what it must --gain) or than another candidate. \
The race ends once the last candidate is shown to be stronger than the base, or none is left.

Two equally good candidates can never be told apart, so they play until --pairs. --close ELO ends \
such a race: the winner is shown to be stronger than the base, and no candidate left is stronger \
than it by that Elo. A candidate that is not shown to be stronger than the base is dropped once \
it cannot be stronger by that Elo. Two equals take about 190 pairs each at --close 40, 600 at 20, \
2,400 at 10 and 9,400 at 5. The line before the first game gives the figures for your settings.

Every claim is an e-process (a betting argument), corrected by Bonferroni: with probability 1 - \
alpha no claim of the whole race is false, however long it runs and whenever you look. No opening \
is played twice, so a race ends with its book. The Elo of a candidate that was dropped or won \
early is biased by that early decision.

Examples:
  quintain race git:idea-1 git:idea-2 git:idea-3 --base git:main --tc 8+0.08
  quintain race . git:other --base git:main --nodes 20000 --gain 2 --close 10 --pairs 8000
  quintain race --base . --with-net a.nnue --with-net b.nnue --nodes 20000";

/// Plays several candidates against one base, drops the hopeless ones early and finds the best.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
pub(super) struct RaceArgs {
    /// The candidates, as SPECs.
    #[arg(value_name = "NEW", required_unless_present = "with_nets")]
    candidates: Vec<String>,
    /// A network to race: the base's engine with it is a candidate; may be repeated.
    #[arg(long = "with-net", value_name = "FILE", help_heading = "Engines")]
    with_nets: Vec<PathBuf>,
    /// Engine that they are compared with.
    #[arg(long, value_name = "SPEC", help_heading = "Engines")]
    base: String,
    /// Probability that any claim of the race is false.
    #[arg(long, value_name = "P", default_value_t = 0.05, help_heading = "Race")]
    alpha: f64,
    /// Elo that a candidate must gain on the base: one that is shown to gain less is dropped.
    #[arg(long, value_name = "ELO", default_value_t = 0.0, help_heading = "Race")]
    gain: f64,
    /// Elo by which another candidate may be stronger than the winner, so that a race of equally
    /// good candidates ends. Without it, the winner must be the only candidate left.
    #[arg(long, value_name = "ELO", default_value_t = 0.0, help_heading = "Race")]
    close: f64,
    /// Pairs that a candidate plays at most [default: 2000].
    #[arg(long, value_name = "N", help_heading = "Race")]
    pairs: Option<u64>,
    /// Pairs of each candidate between two decisions.
    #[arg(long, value_name = "N", default_value_t = 16, help_heading = "Race")]
    step: u32,
    #[command(flatten)]
    flags: RunFlags<AnyCommand>,
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
        bail!("--step 0 plays nothing; the minimum is 1");
    }
    let mut raw = args.flags.typed().clone();
    raw.pairs = args.pairs;
    raw.players = [&args.base]
        .into_iter()
        .chain(&args.candidates)
        .map(|spec| (spec, None))
        .chain(args.with_nets.iter().map(|net| (&args.base, Some(net.clone()))))
        .map(|(spec, net)| RawPlayer { spec: Some(spec.clone()), net, ..RawPlayer::default() })
        .collect();
    let given = raw.out.clone().map(Place::Given);
    given.as_ref().map_or(Ok(()), Place::check)?;
    let receivers = Receivers::of(&raw)?;
    let rule = RaceRule { alpha: args.alpha, gain: args.gain, close: args.close, step: args.step };
    let (plan, book) = resolve::race(&raw, rule).context("cannot start the race")?;
    let place = given.unwrap_or_else(|| drive::default_place(&plan.name));
    let (exit, root) = drive::start_at(Arc::new(plan), book, &place, OutputStyle::new(args.flags.json))?;
    receivers.tell(&root, exit);
    Ok(exit)
}
