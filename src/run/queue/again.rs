//! Entries that resume a run which was interrupted outside the queue.

use std::path::{Path, PathBuf};

use crate::control::client::Client;
use crate::plan::Plan;
use crate::run::begin::GameCommand;
use crate::run::chain_report::follower;
use crate::run::dir::RunDir;
use crate::run::error::{Result, fail};
use crate::run::queue::{EntryId, Queue, QueueEntry, QueueState};
use crate::run::{Exit, notify, trust};
use crate::settings::{ConfigError, RawPlan};
use crate::text::shell_path;

/// Lets the queue resume the run in the folder `run` of the queue's results: by the entry that
/// began it, else by a new one. Paths of tests that follow start from `dir`.
///
/// # Errors
/// Returns an error if the run is live, or if this user's program did not write it. Returns one too
/// if the run is over or a tuning, and no open entry began it. A test that passed is not over while
/// the next one of its chain has yet to begin.
pub(crate) fn go_on(queue: &Queue, run: &Path, dir: PathBuf) -> Result<EntryId> {
    let root = queue.results().join(run);
    let (folder, plan) = RunDir::open(&root)?;
    trust::check_stamp(&folder, &plan)?;
    if Client::connect(&root).is_ok() {
        fail!(Setting, "{}: it is being played", root.display());
    }
    let listing = queue.list()?;
    // The runs of a tuning are folders in the folder of its entry.
    let is_part = |entry: &QueueEntry| entry.command == GameCommand::Tune && entry.begun() == run.parent();
    let begun = listing.entries.iter().find(|(_, entry)| entry.begun() == Some(run) || is_part(entry));
    if let Some((id, entry)) = begun.filter(|(_, entry)| entry.state != QueueState::Done) {
        if !entry.is_open() {
            queue.up(*id, Some(entry.priority))?;
        }
        return Ok(*id);
    }
    if plan.format.tuning().is_some() {
        fail!(
            Setting,
            "{}: the queue has no open entry of this tuning; the same `quintain tune` command with --out {} plays the rest, and its proof",
            root.display(),
            shell_path(root.parent().unwrap_or(&root))
        );
    }
    if let Some(exit) = Exit::of_counted(&plan, &folder.scoreboard(&plan)?)
        && (exit != Exit::Done || plan.chain.then.is_empty() || follower(&root).is_some())
    {
        let (shown, word) = (root.display(), shell_path(&root));
        fail!(Setting, "{shown}: it is over, so nothing is left to play; `quintain report {word}` shows its result");
    }
    let command = plan.test.map_or_else(|| GameCommand::of_format(plan.format.name()), |_| GameCommand::Sprt);
    let mut entry = QueueEntry::new(command, dir, 0, plans(&root, &plan)?);
    entry.runs.push(run.to_owned());
    queue.add_begun(entry.signed()?)
}

/// True if settings only name a run that was begun elsewhere. A run needs engines to begin.
pub(super) fn only_resumes(raw: &RawPlan) -> bool {
    raw.new.is_none() && raw.engine.is_none() && raw.players.is_empty()
}

/// Settings of the run, as far as the queue's list shows them, and those of the tests that follow.
fn plans(root: &Path, plan: &Plan) -> Result<Vec<RawPlan>> {
    let players = || plan.duel().unwrap_or_else(|| plan.labels().join(", "));
    let note = plan.title().unwrap_or_else(players);
    let mut plans = vec![RawPlan { name: Some(plan.name.clone()), note: Some(note), ..notify::kept(root) }];
    for table in &plan.chain.then {
        let next = table.clone().try_into();
        plans.push(next.map_err(|error: toml::de::Error| ConfigError::Value(error.to_string()))?);
    }
    Ok(plans)
}
