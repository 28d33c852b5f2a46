//! A tuning as a run: its plan.

use std::path::Path;

use crate::plan::{Format, Plan, Workers};
use crate::run::error::{Result, RunError, fail};
use crate::run::play::{self, PlayedRun};
use crate::run::{progress, resolve};
use crate::settings::{RawPlan, RawPlayer};
use crate::text::count;
use crate::tournament::formats::either;
use crate::tournament::formats::tune::{self, Choice, Method, Tune, TuneRule};
use crate::tune::calibrate;
use crate::tune::space::Space;
use crate::tune::spsa::Constants;

/// Default number of failures after which a tuning stops, in blocks of pairs. It is high because a
/// value may crash the engine, and the pairs of two blocks may fail before its range is narrowed.
const MAX_FAILING_BLOCKS: u64 = 16;

/// Pairs of an OpenBench workload.
const PAIRS_PER_WORKLOAD: u32 = 8;

/// Games at once that a hub's workers are taken for, because nobody knows how many will come.
const HUB_GAMES: u16 = 64;

/// Blocks that a run over a hub has at least, if its pairs are known and fill as many of the
/// smallest blocks.
const HUB_BLOCKS: u64 = 32;

/// Default number of failures after which a tuning stops.
pub(crate) fn max_failures(plan: &Plan) -> u64 {
    MAX_FAILING_BLOCKS * u64::from(block(plan))
}

/// Pairs of a block.
pub(crate) fn block(plan: &Plan) -> u32 {
    match plan.workers {
        Some(Workers::Hub(_)) => hub_block(plan.max_pairs),
        _ => tune::block(plan.concurrency),
    }
}

/// Pairs of a block of a run over a hub.
fn hub_block(pairs: Option<u64>) -> u32 {
    let most = pairs.map_or(u64::from(HUB_GAMES), |pairs| pairs / HUB_BLOCKS / 2);
    let most = u16::try_from(most).map_or(HUB_GAMES, |most| most.min(HUB_GAMES));
    // Down to a power of two, because the block of a number of games is rounded up to one.
    tune::block(most.checked_ilog2().map_or(0, |power| 1 << power))
}

impl Choice {
    /// Returns the method of a plan.
    pub(crate) fn of(raw: &RawPlan) -> Result<Self> {
        let Some(text) = raw.method.as_deref() else { return Ok(Self::default()) };
        match Self::named(text) {
            Some(choice) => Ok(choice),
            None => fail!(Setting, "--method: unknown method `{text}`: use {}", either(&Self::ALL.map(Self::name))),
        }
    }

    /// Returns the error of a schedule without its number of pairs.
    pub(crate) fn wants_pairs(self) -> RunError {
        RunError::Setting(format!(
            "--method {}: its schedule depends on the number of pairs; give --pairs",
            self.name()
        ))
    }

    /// Checks that the method can stop when the result no longer improves.
    pub(crate) fn check_until_flat(self) -> Result<()> {
        if self != Self::Auto {
            fail!(Setting, "--until-flat: {} ends with its pairs; leave it out, or use --method auto", self.name());
        }
        Ok(())
    }
}

/// Settings of a tuning besides those of every run.
#[derive(Clone, Debug)]
pub struct TuningSettings {
    /// Tuning method.
    pub choice: Choice,
    /// Parameters to tune.
    pub space: Space,
    /// True to stop when it gains nothing more.
    pub until_flat: bool,
    /// Names of parameters that change nothing.
    pub dead: Vec<String>,
}

/// Returns the plan of a tuning, from a resolved plan with its engine as the first player.
///
/// `max_pairs` is its end, if any.
///
/// # Errors
/// Returns an error if the method needs a number of pairs and has none, or if it cannot stop early.
pub fn plan(plan: Plan, wanted: TuningSettings) -> Result<Plan> {
    let TuningSettings { choice, space, until_flat, dead } = wanted;
    if until_flat {
        choice.check_until_flat()?;
    }
    let Some(player) = plan.players.first().cloned() else { fail!(Setting, "a tuning needs an engine") };
    let side = |side: &str| {
        let mut player = player.clone();
        player.name = format!("{} {side}", player.name);
        player
    };
    let block = block(&plan);
    let method = method(choice, block, plan.max_pairs)?;
    if let Some(text) = shortage(method, block, plan.max_pairs) {
        progress::warn(&text);
    }
    let rule = TuneRule { method, space, seed: plan.seed, block, until_flat, dead, narrows: true };
    Ok(Plan {
        players: vec![side("plus"), side("minus")],
        max_pairs: method.pairs().or(plan.max_pairs),
        format: Format::new(Tune { rule }),
        // The values differ between pairs, so no pair repeats another, and openings may be reused.
        count_repeats: true,
        ..plan
    })
}

/// Returns a warning if a run is too short to measure how much Elo a step loses, or to move.
fn shortage(method: Method, block: u32, pairs: Option<u64>) -> Option<String> {
    let Method::Auto { calibration: 0 } = method else { return None };
    let pairs = pairs?;
    let block = u64::from(block);
    let then =
        if pairs < block { "nothing moves" } else { "none measures how much Elo a step loses, and 1 Elo is taken" };
    Some(format!(
        "{} with {block} in a block: {then}; give --pairs {} or more, or fewer games at once (-j)",
        count(pairs, "pair"),
        calibrate::LARGEST_PART * block
    ))
}

fn method(choice: Choice, block: u32, pairs: Option<u64>) -> Result<Method> {
    let constants = Constants::default();
    let held = || pairs.ok_or_else(|| choice.wants_pairs());
    Ok(match choice {
        Choice::Auto => Method::Auto { calibration: calibrate::blocks(block, pairs) },
        Choice::Fishtest => Method::Fishtest { pairs: held()?, constants },
        Choice::OpenBench => {
            let workloads = held()?.div_ceil(u64::from(PAIRS_PER_WORKLOAD));
            Method::OpenBench { workloads, pairs_per: PAIRS_PER_WORKLOAD, constants }
        }
        Choice::Factors => Method::Factors,
    })
}

/// Plays a tuning of the only player of `raw` in the directory `root`, as [`play::play`] does for a
/// match.
///
/// # Errors
/// Returns the errors of [`play::play`] and [`plan`].
pub fn play(raw: &RawPlan, wanted: TuningSettings, root: &Path) -> Result<PlayedRun> {
    let [player] = raw.players.as_slice() else {
        fail!(Setting, "{} engines: a tuning plays one, against itself", raw.players.len());
    };
    let other = RawPlayer { spec: player.spec.clone(), ..RawPlayer::default() };
    let max_failures = raw.max_failures;
    let raw = RawPlan { players: vec![player.clone(), other], ..raw.clone() };
    let (resolved, book) = resolve::games(&raw, "tune")?;
    let max_failures = max_failures.unwrap_or_else(|| self::max_failures(&resolved));
    play::go(plan(Plan { max_failures, ..resolved }, wanted)?, book, root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_over_a_hub_has_enough_blocks_for_its_pairs() {
        let cases =
            [(None, 128), (Some(0), 16), (Some(511), 16), (Some(1_024), 32), (Some(3_300), 64), (Some(4_096), 128)];
        for (pairs, block) in cases {
            assert_eq!(hub_block(pairs), block, "{pairs:?}");
        }
        for pairs in 512..20_000 {
            assert!(pairs / u64::from(hub_block(Some(pairs))) >= HUB_BLOCKS, "{pairs}");
        }
    }
}
