//! Chains of tests: each follows if the one before passes, and the first that does not ends the
//! chain.
//!
//! The settings of the tests to come, and the runs before, are in the plan of each run. So a run
//! that is resumed continues its chain.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::json;

use crate::plan::time_control::Limit;
use crate::plan::{Chain, Plan};
use crate::run::begin::{self, GameCommand};
use crate::run::chain_report::{ChainReport, follower, name_of};
use crate::run::dir::{self, Place, RunDir};
use crate::run::drive::{self, OutputStyle, RunOutcome};
use crate::run::error::{Result, ResultContext as _, fail};
use crate::run::notify::{self, Receivers};
use crate::run::{Exit, page, progress, resolve};
use crate::settings::{ConfigError, RawPlan};
use crate::text::{shell_path, with_causes};

/// Maximum number of tests of a chain.
const MOST_LINKS: usize = 20;

/// Plays the settings in the directory that they name, or in a new one below `results/runs`, and
/// then the tests that follow.
pub(crate) fn play(command: GameCommand, raw: RawPlan, output: OutputStyle) -> Result<Exit> {
    let given = raw.out.clone().map(Place::Given);
    given.as_ref().map_or(Ok(()), Place::check)?;
    let receivers = Receivers::of(&raw)?;
    // The tests of a chain are of the same commits.
    let raw = if raw.then.is_some() { begin::pinned(command, raw)? } else { raw };
    let mut links = links(raw)?;
    let first = links.remove(0);
    let (mut plan, book) = begin::resolved(command, first.clone())?;
    plan.chain.then = tables(&links)?;
    let place = given.unwrap_or_else(|| drive::default_place(&plan.name));
    let plan = Arc::new(plan);
    let outcome = drive::start_at(Arc::clone(&plan), book, &place, output, |root| notify::keep(&first, root))?;
    receivers.tell(&outcome.root, outcome.exit);
    go_on(outcome, &plan, output, &RawPlan::default())
}

/// Files of the tests that follow and their settings, in their order.
///
/// # Errors
/// Returns an error that names file and key if a file cannot be read, or occurs in the chain
/// already.
pub(crate) fn files(first: &RawPlan) -> Result<Vec<(PathBuf, RawPlan)>> {
    let (mut files, mut seen): (Vec<(PathBuf, RawPlan)>, Vec<PathBuf>) = (Vec::new(), Vec::new());
    let mut next = first.then.clone();
    while let Some(path) = next {
        let namer = files.last().map_or("the plan, or --then".to_owned(), |(file, _)| file.display().to_string());
        let within = || format!("{namer}, key `then`");
        let file = RawPlan::read(&path).within(within)?;
        let whole = path.canonicalize().within(within)?;
        if seen.contains(&whole) || files.len() >= MOST_LINKS {
            let shown = path.display();
            fail!(Setting, "{namer}, key `then`: {shown} is in the chain already; remove `then` from one of its files");
        }
        check_command(&path, &file)?;
        if file.out.is_some() {
            fail!(Setting, "{}: key `out`: the runs of a chain get names of their own; remove it", path.display());
        }
        seen.push(whole);
        next = file.then.clone();
        files.push((path, file));
    }
    Ok(files)
}

/// Checks that a plan file is that of a test.
pub(crate) fn check_command(path: &Path, file: &RawPlan) -> Result<()> {
    let command = GameCommand::of(file);
    if command != GameCommand::Sprt {
        fail!(
            Setting,
            "{}: it is a plan of `quintain {name}`, but a chain contains only tests; remove it from the chain, and add it as a separate entry: `quintain queue add {}`",
            path.display(),
            shell_path(path),
            name = command.name()
        );
    }
    Ok(())
}

/// Settings of all tests of a chain, the first one first: each file of the key `then` over the
/// engines of `first`, whose revisions are commits already.
///
/// # Errors
/// Those of [`files`], and an error if a file cannot be played.
pub(crate) fn links(first: RawPlan) -> Result<Vec<RawPlan>> {
    let files = files(&first)?;
    let mut links = vec![RawPlan { then: None, ..first }];
    for (path, file) in files {
        let within = || path.display().to_string();
        let link = begin::pinned(GameCommand::Sprt, after(&links[0], file).within(within)?).within(within)?;
        begin::check(GameCommand::Sprt, &link).within(within)?;
        Receivers::of(&link).within(within)?;
        links.push(RawPlan { then: None, out: None, ..link });
    }
    Ok(links)
}

/// Settings of a file, with the engines, the variant, the book and the hub of the chain's first
/// test unless it names its own.
fn after(first: &RawPlan, file: RawPlan) -> Result<RawPlan> {
    let given = first.clone();
    let is_timed = resolve::limits(&file)?.iter().any(Limit::is_timed);
    let has_slots = file.concurrency.is_some() || file.workers.is_some();
    let options = [&file.options, &file.new_options, &file.base_options];
    let sets_threads = options.into_iter().flatten().any(|(name, _)| name.eq_ignore_ascii_case("Threads"));
    // A test of two networks in one program searches for no base.
    let searches = file.base.is_none() && file.new_net.is_none() && file.base_net.is_none();
    let engines = RawPlan {
        new_name: given.new_name.filter(|_| file.new.is_none()),
        base_name: given.base_name.filter(|_| file.base.is_none()),
        new: given.new,
        base: given.base,
        base_from: given.base_from.filter(|_| searches),
        net: given.net,
        new_net: given.new_net.filter(|_| file.new.is_none()),
        base_net: given.base_net.filter(|_| file.base.is_none()),
        options: given.options,
        new_options: given.new_options.into_iter().filter(|_| file.new.is_none()).collect(),
        base_options: given.base_options.into_iter().filter(|_| file.base.is_none()).collect(),
        allow_same: given.allow_same,
        chess960: given.chess960,
        book: given.book,
        book_order: given.book_order.filter(|_| file.book.is_none()),
        book_plies: given.book_plies.filter(|_| file.book.is_none()),
        concurrency: given.concurrency,
        force_concurrency: given.force_concurrency.filter(|_| !has_slots),
        affinity: given.affinity.filter(|_| !has_slots),
        workers: given.workers,
        credentials: given.credentials,
        priority: given.priority,
        weight: given.weight,
        // Tests at fixed nodes have no times, and those under a clock or of several threads are not
        // verified.
        scale: given.scale.filter(|_| is_timed),
        verify: given.verify.filter(|_| !is_timed && !sets_threads),
        note: given.note,
        on_end: given.on_end,
        notify_webhook: given.notify_webhook,
        notify_ntfy: given.notify_ntfy,
        notify_discord: given.notify_discord,
        ..RawPlan::default()
    };
    Ok(file.over(&engines)?)
}

/// Tables of the settings that follow, for the plan of the test before them.
pub(crate) fn tables(then: &[RawPlan]) -> Result<Vec<toml::Table>> {
    Ok(then.iter().map(RawPlan::table).collect::<Result<_, _>>()?)
}

/// Goes on with the chain of a run that was played, and prints the chain's report at its end. As
/// JSON, it prints one document instead, at any end: the summary of the last test, with the report
/// as `chain`. Each test notifies the receivers that its own settings name. Keys of `over` take the
/// place of those of all tests. Returns the result of the last test.
pub(crate) fn go_on(outcome: RunOutcome, plan: &Plan, output: OutputStyle, over: &RawPlan) -> Result<Exit> {
    if plan.chain == Chain::default() {
        return Ok(outcome.exit);
    }
    let mut last = outcome;
    let is_here = play_rest(&mut last, plan.chain.clone(), output, over);
    if output.is_json() {
        // After an error too, because the tests played before it have printed nothing.
        print_json(&last);
    } else if last.exit != Exit::Interrupted && matches!(is_here, Ok(true)) {
        print(&last.root);
    }
    is_here.map(|_| last.exit)
}

/// Plays the tests that follow the run `last`, each of which takes its place. Returns false if the
/// chain continued elsewhere.
fn play_rest(last: &mut RunOutcome, mut chain: Chain, output: OutputStyle, over: &RawPlan) -> Result<bool> {
    redraw(&last.root);
    while last.exit == Exit::Done && !chain.then.is_empty() {
        if let Some(next) = follower(&last.root) {
            progress::note(&format!("the chain continued in {}", next.display()));
            return Ok(false);
        }
        let raw: RawPlan =
            chain.then.remove(0).try_into().map_err(|error: toml::de::Error| ConfigError::Value(error.to_string()))?;
        // Games at once here are not those of a hub whose workers' times are scaled.
        let concurrency = over.concurrency.filter(|_| raw.scale.is_none());
        let raw = RawPlan { concurrency, ..over.clone() }.over(&raw)?;
        let receivers = Receivers::of_checked(&raw);
        let (mut plan, book) = begin::resolved(GameCommand::Sprt, raw.clone())?;
        let place = drive::default_place(&plan.name);
        chain.before = names_before(&std::path::absolute(&last.root)?, chain.before)?;
        plan.chain = chain.clone();
        *last = drive::start_at(Arc::new(plan), book, &place, output, |root| notify::keep(&raw, root))?;
        redraw(&last.root);
        receivers.tell(&last.root, last.exit);
    }
    Ok(true)
}

/// Names of the run in `root`, whose path is absolute, and of the runs before it, for the plan of a
/// run in the default folder. The names of those before start beside `root`.
fn names_before(root: &Path, before: Vec<PathBuf>) -> Result<Vec<PathBuf>> {
    let (beside, runs) = (root.parent().unwrap_or(root), std::path::absolute(dir::RUNS)?);
    let all = before.into_iter().map(|run| beside.join(run)).chain([root.to_owned()]);
    Ok(all.map(|run| name_of(&run, &runs)).collect())
}

/// Draws the chain on the pages of the tests before the run in `root` again. What cannot be drawn
/// is a warning.
pub(crate) fn redraw(root: &Path) {
    let Ok((dir, plan)) = RunDir::open(root) else { return };
    let beside = dir.root().parent().unwrap_or(Path::new(""));
    for run in plan.chain.before.iter().map(|run| beside.join(run)) {
        if let Err(error) = RunDir::open(&run).and_then(|(dir, plan)| page::redraw_chain(&dir, &plan)) {
            progress::warn(&format!(
                "{}: the chain on its page is not the latest: {}",
                run.display(),
                with_causes(&error)
            ));
        }
    }
}

/// Report of the chain that the run in `root` is in.
fn report(root: &Path) -> Option<ChainReport> {
    RunDir::open(root).ok().and_then(|(dir, plan)| ChainReport::of(dir.root(), &plan))
}

/// Prints the report of the chain that ended with the run in `root`.
pub(crate) fn print(root: &Path) {
    if let Some(report) = report(root) {
        progress::result(&format!("\n{}", report.text().trim_end()));
    }
}

/// Prints the summary of the chain's last run, with the chain's report, as one JSON document.
fn print_json(last: &RunOutcome) {
    let mut document = last.summary.clone();
    document["chain"] = json!(report(&last.root));
    progress::result(&format!("{document:#}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_that_a_file_names_takes_no_options_of_the_one_before() {
        let option = |name: &str| vec![(name.to_owned(), "1".to_owned())];
        let first = RawPlan {
            new: Some("a".to_owned()),
            base: Some("b".to_owned()),
            new_options: option("New"),
            base_options: option("Base"),
            ..RawPlan::default()
        };
        let options = |file: RawPlan| after(&first, file).map(|plan| (plan.new_options, plan.base_options));
        let name = || Some("c".to_owned());
        assert_eq!(options(RawPlan::default()).unwrap(), (option("New"), option("Base")));
        let own = RawPlan { new: name(), new_options: option("Own"), ..RawPlan::default() };
        assert_eq!(options(own).unwrap(), (option("Own"), option("Base")));
        assert_eq!(options(RawPlan { base: name(), ..RawPlan::default() }).unwrap(), (option("New"), Vec::new()));
    }
}
