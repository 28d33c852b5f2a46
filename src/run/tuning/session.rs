//! A tuning in its directory: `tuning.toml` (its settings), `tune/` (its games), `prove/` (the race
//! that follows), and the values.
//!
//! The same command resumes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toml::Table;

use crate::files::{MOST_DOCUMENT_BYTES, read_text, write_atomically};
use crate::plan::Plan;
use crate::plan::file::{self, TUNING_FOLDERS, TUNING_SETTINGS};
use crate::report::state::OUT_OF_TIME;
use crate::report::tune::engine_name;
use crate::run::dir::{Place, RunDir, keep_out_of_git, sync_folder};
use crate::run::drive::{self, OutputStyle};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::run::tuning::outputs;
use crate::run::tuning::prepare::{self, PreparedTuning, named};
use crate::run::tuning::prove::{self, Proof, ProofCandidate, ProofVerdict};
use crate::run::{Exit, extension, notify, progress, resolve, trust, tune};
use crate::settings::RawPlan;
use crate::source::{self, Context, Sources};
use crate::text::{self, file_sha256, shell_path};
use crate::tournament::events::StopReason;
use crate::tournament::formats::tune::{TuneRule, result};
use crate::tune::factors::{Effect, FactorRun};
use crate::tune::run::Tuning;

/// Name of the directory of the tuning's games.
pub(crate) const FOLDER: &str = TUNING_FOLDERS[0];

/// Key of the SHA-256 of the parameters' file among the settings.
const PARAMS_DIGEST: &str = "params-sha256";

/// Keys that may change when a tuning is resumed, because they change none of its games.
const FREE: [&str; 14] = [
    "out",
    "concurrency",
    "force-concurrency",
    "affinity",
    "max-time",
    "max-failures",
    "max-time-losses",
    "notify-discord",
    "notify-ntfy",
    "notify-webhook",
    "no-prove",
    "on-end",
    "prove-tc",
    "prove-pairs",
];

/// A tuning that was played, complete or not.
#[derive(Debug)]
pub(crate) struct TuningOutcome {
    pub(crate) root: PathBuf,
    pub(crate) plan: Plan,
    /// Rule of the tuning, with the ranges as narrowed by the run.
    pub(crate) rule: TuneRule,
    pub(crate) pairs: u64,
    /// Unrounded result.
    pub(crate) result: Vec<f64>,
    /// Effects of randomised switches, in the order of the parameters; empty for other methods.
    pub(crate) effects: Vec<Effect>,
    pub(crate) proof: Option<Proof>,
    /// Names of the files with the values.
    pub(crate) files: Vec<&'static str>,
    /// The commit that `--apply` made.
    pub(crate) applied: Option<String>,
    pub(crate) exit: Exit,
}

impl TuningOutcome {
    /// Returns the values to take: those of the proven step, else of the full one.
    pub(crate) fn values(&self) -> &[f64] {
        let proof = self.proof.as_ref();
        let chosen = proof.and_then(|proof| proof.candidates.get(proof.chosen?));
        chosen.map_or(&self.result, |candidate| &candidate.values)
    }
}

/// Starts or resumes a tuning in `place`, and proves the result.
pub(crate) fn play(raw: &RawPlan, place: &Place, branch: Option<&str>, output: OutputStyle) -> Result<TuningOutcome> {
    let begun = place.wanted().join(FOLDER);
    let is_begun = matches!(place, Place::Given(_)) && begun.join(file::FILE_NAME).is_file();
    let (root, exit) = if is_begun {
        let root = place.wanted().to_owned();
        check_settings(&root, raw)?;
        let exit = go_on(raw, &root, branch, output)?;
        (root, exit)
    } else {
        begin(raw, place, branch, output)?
    };
    let mut tuned = count(root, exit)?;
    match exit {
        // Out of time or openings: the values found so far are the result.
        Exit::Done | Exit::Inconclusive => {}
        _ => return Ok(tuned),
    }
    if tuned.pairs == 0 {
        progress::note("no pair was played, so there is no result");
        tuned.exit = ProofVerdict::NotShown.exit();
        return Ok(tuned);
    }
    tuned.files = outputs::write(&tuned.root, &tuned.rule.space, &tuned.result)?;
    let is_proof = raw.no_prove != Some(true);
    let sources = match is_proof || branch.is_some() {
        true => sources(&tuned.plan)?,
        false => None,
    };
    if !is_proof {
        tuned.exit = Exit::Done;
    } else {
        proven(raw, &mut tuned, sources.as_ref(), output)?;
    }
    if let Some(branch) = branch {
        tuned.applied = apply(&tuned, branch, sources.as_ref())?;
    }
    Ok(tuned)
}

/// Folder of the last run of the tuning in `root`: that of its proof, if it came so far.
pub(crate) fn last_run(root: &Path) -> PathBuf {
    let proof = root.join(prove::FOLDER);
    if proof.join(file::FILE_NAME).is_file() { proof } else { root.join(FOLDER) }
}

/// Creates the directory and plays the tuning.
fn begin(raw: &RawPlan, place: &Place, branch: Option<&str>, output: OutputStyle) -> Result<(PathBuf, Exit)> {
    if let Place::Given(root) = place
        && root.symlink_metadata().is_ok()
        && !root.join(TUNING_SETTINGS).is_file()
    {
        fail!(OtherRun, "{}: exists already and is not a tuning; choose another --out", root.display());
    }
    let PreparedTuning { plan, book, method, sources, space, dead, .. } = prepare::prepare(raw)?;
    if let Some(branch) = branch {
        check_branch(branch, sources.as_ref())?;
    }
    prove::check(raw, &plan)?;
    let max_failures = raw.max_failures.unwrap_or_else(|| tune::max_failures(&plan));
    let wanted = tune::TuningSettings { choice: method, space, until_flat: raw.until_flat == Some(true), dead };
    let plan = tune::plan(Plan { max_failures, ..plan }, wanted)?;
    prove::warn_before(raw, &plan);
    let root = make(place)?;
    let settings = root.join(TUNING_SETTINGS);
    write_atomically(&settings, settings_text(raw)?.as_bytes())
        .within(|| format!("{}: cannot write it", settings.display()))?;
    let games = Place::Given(root.join(FOLDER));
    let exit = drive::start_at(Arc::new(plan), book, &games, output, |run| notify::keep(raw, run));
    if exit.is_err() && games.wanted().symlink_metadata().is_err() {
        // Nothing was begun. If the removal fails, the next command there reports it.
        let _ = std::fs::remove_file(&settings);
        let _ = std::fs::remove_dir(&root);
    }
    Ok((root, exit?.exit))
}

/// Creates the directory of a run. A default name gets a number if it is taken.
fn make(place: &Place) -> Result<PathBuf> {
    let wanted = place.wanted();
    let failed = |root: &Path| format!("{}: cannot create it; choose another --out", root.display());
    let parent = place.parent();
    std::fs::create_dir_all(parent).within(|| failed(parent))?;
    if let Place::Default(_) = place {
        keep_out_of_git(parent);
    }
    for root in place.names() {
        match std::fs::create_dir(&root) {
            Ok(()) => return sync_folder(parent).map(|()| root),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                // A command that was stopped before its first game leaves only its settings.
                if matches!(place, Place::Given(_)) {
                    return Ok(root);
                }
            }
            Err(error) => return Err(error).within(|| failed(&root)),
        }
    }
    fail!(OtherRun, "{}: no free name beside it; choose another --out", wanted.display())
}

/// Returns the settings that decide the games of a tuning, and a digest of its file of parameters.
fn settings(raw: &RawPlan) -> Result<Table> {
    let mut table = raw.table()?;
    table.retain(|key, _| !FREE.contains(&key));
    if let Some(path) = &raw.params {
        let digest = file_sha256(path);
        let digest = digest.within(|| format!("--params {}: cannot read it", path.display()))?;
        table.insert(PARAMS_DIGEST.to_owned(), digest.into());
    }
    Ok(table)
}

fn settings_text(raw: &RawPlan) -> Result<String> {
    let table = settings(raw)?;
    Ok(format!("# Settings of this tuning; the same command with --out continues it.\n{table}"))
}

/// Refuses to resume a tuning that was started with other settings, and names the first difference.
fn check_settings(root: &Path, raw: &RawPlan) -> Result<()> {
    let path = root.join(TUNING_SETTINGS);
    let text = read_text(&path, MOST_DOCUMENT_BYTES).within(|| format!("{}: cannot read it", path.display()))?;
    let mut was: Table = text::from_toml(&path, &text).map_err(|error| RunError::OtherRun(error.to_string()))?;
    // Earlier versions wrote some of them.
    was.retain(|key, _| !FREE.contains(&key));
    let is = settings(raw)?;
    let mut keys: Vec<&String> = was.keys().chain(is.keys()).collect();
    keys.sort();
    let Some(key) = keys.into_iter().find(|key| was.get(*key) != is.get(*key)) else { return Ok(()) };
    if key == PARAMS_DIGEST {
        fail!(
            OtherRun,
            "{}: {} has changed since this tuning began; restore the file, or give another --out",
            root.display(),
            raw.params.as_deref().unwrap_or(Path::new("its file of parameters")).display()
        );
    }
    let shown =
        |table: &Table| table.get(key).map_or_else(|| format!("no `{key}`"), |value| format!("`{key} = {value}`"));
    let extend = if key == "pairs" {
        format!("; another number of pairs: quintain resume {} --pairs N", shell_path(&root.join(FOLDER)))
    } else {
        String::new()
    };
    fail!(
        OtherRun,
        "{}: started with {}, not {}; give the same settings, or another --out{extend}",
        root.display(),
        shown(&was),
        shown(&is)
    )
}

/// Resumes the games of a tuning. One that is complete is left unchanged, and so is one whose time
/// was up.
fn go_on(raw: &RawPlan, root: &Path, branch: Option<&str>, output: OutputStyle) -> Result<Exit> {
    let (dir, mut plan) = RunDir::open(&root.join(FOLDER))?;
    trust::check(&dir, &plan, false)?;
    let scoreboard = dir.scoreboard(&plan)?;
    // Once a race has begun, the result of the tuning is fixed.
    let is_proving = root.join(prove::FOLDER).join(file::FILE_NAME).is_file();
    let summary = dir.summary(scoreboard.pairs());
    let is_out_of_time = summary.is_some_and(|summary| summary["stopped_by"] == OUT_OF_TIME);
    let is_complete = StopReason::of_counted(&plan, &scoreboard).is_some();
    let max_time = raw.max_time.as_deref().map(resolve::max_time).transpose()?;
    if is_out_of_time && !is_proving && max_time > plan.max_time {
        progress::note(&format!(
            "the time of this tuning was up, so its proof follows; for more pairs: quintain resume {}",
            shell_path(dir.root())
        ));
    }
    // What would fail after the games fails before them. A command that has no games left to play
    // may have made the branch already.
    let has_games = !is_proving && !(raw.no_prove == Some(true) && (is_complete || is_out_of_time));
    if has_games || is_proving {
        warn_of_changes(&plan);
    }
    if let Some(branch) = branch.filter(|_| has_games) {
        check_branch(branch, sources(&plan)?.as_ref())?;
    }
    // One that was killed after its last game has no summary yet, and gets it below.
    if is_proving || is_out_of_time || is_complete && drive::is_over(&plan, &scoreboard, &dir) {
        return Ok(Exit::Done);
    }
    extension::renewed(raw, &mut plan)?;
    prove::check(raw, &plan)?;
    plan.max_time = max_time.or(plan.max_time);
    drive::resume(Arc::new(plan), &dir, output)
}

/// Reads the tuning of a directory from its journal.
fn count(root: PathBuf, exit: Exit) -> Result<TuningOutcome> {
    let (dir, plan) = RunDir::open(&root.join(FOLDER))?;
    let Some(mut rule) = plan.format.tuning().cloned() else {
        fail!(OtherRun, "{}: it is not a tuning", root.display())
    };
    let scoreboard = dir.scoreboard(&plan)?;
    drive::check_values(&scoreboard, dir.root())?;
    let mut tuning: Tuning = rule.tuning();
    scoreboard.results().iter().for_each(|pair| tuning.record_failures(result(pair), pair.failed));
    let (pairs, result) = (tuning.pairs(), tuning.result().into_owned());
    let effects = tuning.as_factors().map(FactorRun::effects).unwrap_or_default().to_vec();
    // Whoever continues with these parameters has the ranges that work.
    rule.space = tuning.narrowed().clone();
    Ok(TuningOutcome { root, plan, rule, pairs, result, effects, proof: None, files: Vec::new(), applied: None, exit })
}

/// Proves the result and stores the verdict.
fn proven(raw: &RawPlan, tuned: &mut TuningOutcome, sources: Option<&Sources>, output: OutputStyle) -> Result<()> {
    let space = &tuned.rule.space;
    let steps: Vec<ProofCandidate> = prove::steps(&tuned.rule, &tuned.result);
    if steps.is_empty() {
        progress::note("no rounded value changed: there is nothing to prove");
        tuned.exit = ProofVerdict::NotShown.exit();
        return Ok(());
    }
    let proof = prove::prove(raw, &tuned.root, &tuned.plan, tuned.pairs, space, (sources, steps), output)?;
    tuned.exit = match proof.exit {
        exit @ (Exit::Interrupted | Exit::Aborted) => exit,
        _ => proof.verdict.exit(),
    };
    tuned.proof = Some(proof);
    tuned.files = outputs::write(&tuned.root, &tuned.rule.space, tuned.values())?;
    Ok(())
}

/// Warns if the engine's sources have changed since the tuning began.
fn warn_of_changes(plan: &Plan) {
    let origin = &plan.players[0].origin;
    // Whatever is missing here is no obstacle: the program is built.
    let changed = Context::from_env().and_then(|context| source::is_changed(origin, &context));
    if changed.is_ok_and(|changed| changed) {
        progress::warn(&format!(
            "the sources of `{}` have changed since this tuning began; it goes on with {}; to tune the new ones, give another --out",
            origin.spec,
            engine_name(plan)
        ));
    }
}

/// Returns the sources of a tuned engine, if its recipe names the rows in them.
fn sources(plan: &Plan) -> Result<Option<Sources>> {
    Ok(Sources::of(&plan.players[0].origin, &Context::from_env()?)?)
}

/// Checks that the branch can be made.
pub(crate) fn check_branch(branch: &str, sources: Option<&Sources>) -> Result<()> {
    let Some(sources) = sources else {
        fail!(
            Setting,
            "--apply {branch}: the file with the values is unknown; give `file` and `row` in the [tune] table of the engine's \
             quintain.toml"
        )
    };
    Ok(sources.check_branch(branch)?)
}

/// Makes the branch with the values, unless a required proof is missing.
fn apply(tuned: &TuningOutcome, branch: &str, sources: Option<&Sources>) -> Result<Option<String>> {
    if tuned.exit != Exit::Done {
        progress::note(&format!(
            "branch {branch} is not made, because the values are not proven; they are in {}",
            tuned.root.join(outputs::OPTIONS).display()
        ));
        return Ok(None);
    }
    let space = &tuned.rule.space;
    if space.nearest(tuned.values()) == space.nearest(&space.start()) {
        progress::note(&format!("branch {branch} is not made, because no rounded value changed"));
        return Ok(None);
    }
    let Some(sources) = sources else { return check_branch(branch, None).map(|()| None) };
    let values = named(&tuned.rule.space, tuned.values());
    Ok(Some(sources.apply(branch, &values, &message(tuned))?))
}

/// Returns the message of the commit with the values.
fn message(tuned: &TuningOutcome) -> String {
    let space = &tuned.rule.space;
    let proof = match tuned.proof.as_ref().and_then(|proof| Some((proof, proof.candidates.get(proof.chosen?)?))) {
        None => "The values are not proven.".to_owned(),
        Some((proof, candidate)) => {
            let pairs = candidate.state.map_or(0, |state| state.pairs.pairs());
            let than = match candidate.beats {
                Some(other) => format!("the {other} step,\nwhich is stronger than the start,"),
                None => "the start".to_owned(),
            };
            let repeated = if proof.openings.repeated { ",\nsome of them from openings of the tuning" } else { "" };
            format!(
                "The {} step is shown to be stronger than {than}\nin {pairs} pairs at {}{repeated}.",
                candidate.name, proof.limit
            )
        }
    };
    let moved = space.params().iter().zip(tuned.values()).filter_map(|(param, value)| {
        let (was, is) = (param.text(param.nearest(param.start)), param.text(param.nearest(*value)));
        (was != is).then(|| format!("{}: {was} to {is}\n", param.name))
    });
    let limit = tuned.plan.players.first().map(|player| player.limit).unwrap_or_default();
    format!(
        "Tune {} by games\n\n{} at {limit}, method {}.\n{proof}\n\n{}",
        text::count(space.len() as u64, "parameter"),
        text::count(tuned.pairs, "pair"),
        tuned.rule.method.name(),
        moved.collect::<String>()
    )
}
