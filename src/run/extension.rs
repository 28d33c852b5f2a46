//! Changes of a begun run: another number of games at once, and another number of pairs. The latter
//! is stored beside its plan, because the plan of a run never changes.

use std::path::Path;

use serde::Deserialize;

use crate::files::{read_text, write_atomically};
use crate::plan::affinity::Affinity;
use crate::plan::{Format, Plan};
use crate::report::stored::{self, FileStamp};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::run::resolve;
use crate::schedule::affinity::{self, Topology};
use crate::settings::RawPlan;
use crate::tournament::formats::tune::{Tune, TuneRule};
use crate::tournament::pairing::Pairing;

/// Name of the file in the run's directory.
const FILE_NAME: &str = "extension.toml";

/// Maximum size of the file in bytes.
const MOST_BYTES: u64 = 4_096;

/// Contents of the file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Extension {
    pairs: u64,
    /// True if the tuning was flat before these pairs, and is to play them nevertheless.
    #[serde(default)]
    past_flat: bool,
}

/// Gives a begun run another number of games at once. It may be as high as before on any machine.
pub(crate) fn change_concurrency(plan: &mut Plan, concurrency: u16, forced: bool) -> Result<()> {
    if resolve::some_games(concurrency)? > plan.concurrency && !forced {
        affinity::check_concurrency(concurrency, plan.threads(), plan.is_timed(), &Topology::detect())?;
    }
    plan.concurrency = concurrency;
    Ok(())
}

/// Gives the plan of a begun run the settings of the command that may change when it is resumed.
pub(crate) fn renewed(raw: &RawPlan, plan: &mut Plan) -> Result<()> {
    plan.max_failures = raw.max_failures.unwrap_or(plan.max_failures);
    if let Some(share) = &raw.max_time_losses {
        plan.max_time_losses = resolve::max_time_losses(share)?;
    }
    let concurrency = raw.concurrency.filter(|_| plan.workers.is_none());
    if let Some(text) = &raw.affinity {
        plan.affinity = text.parse::<Affinity>().map_err(RunError::value("--affinity"))?;
    }
    if let Some(concurrency) = concurrency {
        change_concurrency(plan, concurrency, raw.force_concurrency == Some(true))?;
    }
    if concurrency.is_some() || raw.affinity.is_some() {
        affinity::check_cpus(plan.concurrency, plan.threads(), &plan.affinity, &Topology::detect())?;
    }
    Ok(())
}

/// Changes the number of pairs of a begun run, those of each encounter if it has several players.
pub(crate) fn extend(plan: &mut Plan, pairs: u64) -> Result<()> {
    const REMEDY: &str = "continue without --pairs, or start another run";
    if let Some(rule) = plan.format.tuning() {
        if let Some(held) = rule.method.pairs() {
            let method = rule.method.name();
            fail!(Setting, "--pairs {pairs}: the schedule of --method {method} is for {held} pairs only; {REMEDY}");
        }
    } else if plan.half_last {
        fail!(Setting, "--pairs {pairs}: the last pair of this run is a single game; {REMEDY}");
    } else if Pairing::new(plan).needs_results() {
        let format = plan.format.name();
        fail!(
            Setting,
            "--pairs {pairs}: results decide who meets in a {format}, for a fixed number of pairs; {REMEDY}"
        );
    }
    if !(1..=resolve::MAX_PAIRS).contains(&pairs) {
        fail!(Setting, "--pairs {pairs}: 1 to {}", resolve::MAX_PAIRS);
    }
    plan.max_pairs = Some(pairs);
    Ok(())
}

/// Lets a flat tuning play all its pairs. It is not asked again if it gains nothing more.
pub(crate) fn pass_flat(plan: &mut Plan) {
    if let Some(rule) = plan.format.tuning() {
        plan.format = Format::new(Tune { rule: TuneRule { until_flat: false, ..rule.clone() } });
    }
}

/// Stores the number of pairs of a run, so that every later command has it too. `past_flat` is true
/// if it is a tuning that is flat before that number.
pub(crate) fn store(root: &Path, pairs: u64, past_flat: bool) -> Result<()> {
    let path = root.join(FILE_NAME);
    let past_flat = past_flat || read(root)?.is_some_and(|stored| stored.past_flat);
    let flat = if past_flat { "# It was flat before.\npast-flat = true\n" } else { "" };
    let text = format!("# Pairs at which `quintain resume --pairs` ends this run.\npairs = {pairs}\n{flat}");
    write_atomically(&path, text.as_bytes()).within(|| format!("{}: cannot write it", path.display()))
}

/// Reads the file of a run, if it has one.
fn read(root: &Path) -> Result<Option<Extension>> {
    let path = root.join(FILE_NAME);
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    let text = read_text(&path, MOST_BYTES).within(|| format!("{}: cannot read it", path.display()))?;
    crate::text::from_toml(&path, &text).map(Some).map_err(|error| RunError::OtherRun(error.to_string()))
}

/// Returns the stamp of the file of the run in `root`, which changes with it.
pub(crate) fn stamp(root: &Path) -> FileStamp {
    stored::stamp(&root.join(FILE_NAME))
}

/// Returns the plan of the run in `root` with the pairs that were stored for it; `None` if it has
/// no plan.
pub(crate) fn stored_plan(root: &Path) -> Result<Option<Plan>> {
    let Some(mut plan) = stored::plan(root) else { return Ok(None) };
    apply(root, &mut plan)?;
    Ok(Some(plan))
}

/// Gives a plan the number of pairs that was stored for its run, if one was.
pub(crate) fn apply(root: &Path, plan: &mut Plan) -> Result<()> {
    let Some(stored) = read(root)? else { return Ok(()) };
    if stored.past_flat {
        pass_flat(plan);
    }
    let path = root.join(FILE_NAME);
    extend(plan, stored.pairs).within(|| format!("{}: delete it to continue without it", path.display()))
}
