//! Matches that a curve still lacks.

use std::time::Instant;

use anyhow::{Context as _, Result, bail};

use crate::cli::versions::{GatheredGames, ProgressArgs, curve};
use crate::plan::time_control::Limit;
use crate::report::collection::{RunPlayer, condition_of};
use crate::report::results::Results;
use crate::run::series::{MatchResult, Series};
use crate::run::{Exit, prepare, progress, resolve};
use crate::settings::RawPlan;
use crate::source::{self, Commit, Context};
use crate::stats::progress::least_certain;
use crate::text::{short_hash, with_causes};
use crate::uci::process::Engine;

/// Plays versions of `range` until the curve is known well enough or a limit is reached, and adds
/// their games to `gathered`.
pub(super) fn play(
    args: &ProgressArgs,
    range: &str,
    raw: &RawPlan,
    gathered: &mut GatheredGames,
    context: &Context,
) -> Result<Exit> {
    let Some((old, new)) = range.split_once("..").filter(|(old, new)| !old.is_empty() && !new.is_empty()) else {
        bail!("--revs `{range}`: write OLD..NEW, such as v1.0..main");
    };
    // `--out` names the picture's file here, not the directory of a run.
    let mut raw = RawPlan { out: None, ..raw.clone() };
    check(args, &raw, gathered, context)?;
    let limit = raw.max_time.take().map(|text| resolve::time("--max-time", &text)).transpose()?;
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let place = source::place_of(context, args.repository.as_deref());
    let stretch = source::stretch(context, place.as_deref(), (old, new), &mut progress::step)?;
    let mut commits = thinned(stretch, args.versions);
    let mut series = Series::open(args.runs.clone(), raw)?;
    progress::note(&format!("{} versions; games in {}", commits.len(), series.root().display()));
    match series.finish()? {
        Exit::Done => {}
        exit => return Ok(exit),
    }
    let stored = gathered.clone();
    let mut spent = 0;
    loop {
        for run in series.new_runs()? {
            gathered.add(&run)?;
        }
        let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if commits.len() < 2 || spent >= args.limit || is_late {
            return Ok(Exit::Done);
        }
        let mut results = gathered.results(args)?;
        let Some(step) = step_to_play(&mut results, &commits, args)? else { return Ok(Exit::Done) };
        let spec = |commit: &Commit| source::spec_of(&commit.id, place.as_deref());
        let mut specs = vec![spec(&commits[step + 1]), spec(&commits[step])];
        let mut bad = left_out(&series, &specs, (&commits, step), context)?;
        if bad.is_none() {
            specs.extend(args.partners.iter().cloned());
            let known = stored.met(&commits[step + 1].id, &commits[step].id).pairs();
            let opponents = specs.len() as u64 - 1;
            let pairs = args.pairs.min((args.limit - spent) / opponents).max(1);
            match series.play(&specs, pairs, known, false, "progress").context("cannot play the versions")? {
                MatchResult::Played(Exit::Done) => spent += pairs * opponents,
                MatchResult::OutOfOpenings => {
                    progress::warn(&out_of_openings(&commits, step));
                    return Ok(Exit::Done);
                }
                MatchResult::Played(exit) => return Ok(exit),
                MatchResult::NoStart(place @ (0 | 1), error) => bad = Some((step + 1 - place, with_causes(&error))),
                MatchResult::NoStart(_, error) => return Err(error.into()),
            }
        }
        if let Some((commit, why)) = bad {
            let name = short_hash(&commits[commit].id);
            progress::warn(&format!("{name} is skipped: {}", why.lines().next().unwrap_or_default()));
            commits.remove(commit);
        }
    }
}

/// Commit of a step that cannot be played, by its place, with the reason: its engine is not built,
/// or is that of the commit before it. `specs` are those of the newer commit and the older one.
fn left_out(
    series: &Series,
    specs: &[String],
    (commits, step): (&[Commit], usize),
    context: &Context,
) -> Result<Option<(usize, String)>> {
    let mut programs = Vec::new();
    for (commit, spec) in [step + 1, step].into_iter().zip(specs) {
        match series.program(spec, context)? {
            Ok(program) => programs.push(program),
            Err(why) => return Ok(Some((commit, why))),
        }
    }
    let is_one = programs.windows(2).all(|two| two[0] == two[1]);
    let why = || format!("it builds the same program as {}, so both are one version", short_hash(&commits[step].id));
    Ok(is_one.then(|| (step + 1, why())))
}

/// Message about a step that has used every opening of the book.
fn out_of_openings(commits: &[Commit], step: usize) -> String {
    let [from, to] = [step, step + 1].map(|place| short_hash(&commits[place].id));
    format!("{from} and {to} have met from every opening of the book; take a larger --book to know their step better")
}

/// Checks all flags before anything is built or played.
fn check(args: &ProgressArgs, raw: &RawPlan, gathered: &GatheredGames, context: &Context) -> Result<()> {
    if args.pairs == 0 {
        bail!("--pairs 0 plays nothing; the minimum is 1");
    }
    if args.limit == 0 {
        bail!("--limit 0 plays nothing; leave out --revs to see the curve of the existing games");
    }
    if args.versions < 2 || !args.width.is_finite() || args.width <= 0.0 {
        bail!(
            "--versions {} and --width {}: a curve has 2 versions at least, and a width above 0",
            args.versions,
            args.width
        );
    }
    if raw.until_width.is_some() {
        bail!("--until-width ends a single match; for a curve, --width sets the precision of each step");
    }
    if raw.name.is_some() {
        bail!("--name: the matches of --revs are named by their versions; --runs says where they are kept");
    }
    let (condition, limit) = condition(raw, context)?;
    gathered.is_at(args, &condition)?;
    // The fault of a partner that does not start, or takes no network, would be blamed on the
    // version it meets.
    for partner in &args.partners {
        let with = if raw.net.is_some() { ", which gets the network of --net too" } else { "" };
        started(partner, raw, limit).with_context(|| format!("--vs `{partner}`{with}"))?;
    }
    Ok(())
}

/// Condition of the matches of a series, and the limit of its engines.
pub(in crate::cli) fn condition(raw: &RawPlan, context: &Context) -> Result<(String, Limit)> {
    let (limit, variant) = resolve::series(raw)?;
    let network = resolve::networks::of_all(raw, context)?.map(|network| short_hash(&network.sha256).to_owned());
    let network = network.as_deref().unwrap_or_default();
    Ok((condition_of(&[RunPlayer { name: "", key: "", limit, network }], variant), limit))
}

/// Starts a partner once, with the settings of the matches.
fn started(partner: &str, raw: &RawPlan, limit: Limit) -> Result<()> {
    let config = resolve::one_engine(partner, &[], raw.net.as_deref(), limit)?;
    prepare::runtime()?.block_on(async {
        Engine::start(&config, &[]).await?.quit().await;
        Ok(())
    })
}

/// Least certain step between two of `commits`; `None` if all are known well enough.
fn step_to_play(results: &mut Results, commits: &[Commit], args: &ProgressArgs) -> Result<Option<usize>> {
    let versions: Vec<usize> =
        commits.iter().map(|commit| results.player(short_hash(&commit.id).as_bytes(), "")).collect();
    Ok(least_certain(&curve(results, &versions, args.alpha)?, args.width))
}

/// Returns at most `most` of the commits, evenly spread, with the first and the last.
fn thinned(commits: Vec<Commit>, most: usize) -> Vec<Commit> {
    let count = commits.len();
    if count <= most {
        return commits;
    }
    (0..most).map(|place| commits[place * (count - 1) / (most - 1)].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinned_commits_keep_both_ends() {
        let commits = |count: usize| -> Vec<Commit> {
            (0..count).map(|n| Commit { id: n.to_string(), date: String::new(), subject: String::new() }).collect()
        };
        for (count, most, expected) in [
            (3, 5, vec!["0", "1", "2"]),
            (9, 3, vec!["0", "4", "8"]),
            (5, 2, vec!["0", "4"]),
            (4, 3, vec!["0", "1", "3"]),
        ] {
            let kept: Vec<String> = thinned(commits(count), most).into_iter().map(|commit| commit.id).collect();
            assert_eq!(kept, expected, "{most} of {count}");
        }
    }
}
