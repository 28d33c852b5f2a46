//! `quintain resume DIR`: the rest of an interrupted run.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, bail};

use crate::cli::runs::run_parser;
use crate::cli::trust::Trust;
use crate::journal::{self, JournalError, archive};
use crate::plan::{Plan, Workers};
use crate::run::dir::RunDir;
use crate::run::drive::{self, OutputStyle, ResumedSession};
use crate::run::notify::{self, Receivers};
use crate::run::{Exit, chain, extension, progress, trust};
use crate::settings::RawPlan;
use crate::text::count;
use crate::tournament::pairing::Pairing;

/// Replays what was played and plays the rest: the result is what an unbroken run would have
/// counted.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "Examples:
  quintain resume results/runs/20260101-120000-sprt
  quintain resume latest --pairs 4000")]
pub(super) struct ResumeArgs {
    /// The run: its directory, an id of `quintain runs`, the end of one, or `latest`.
    #[arg(value_name = "RUN", value_parser = run_parser())]
    dir: PathBuf,
    /// Concurrent games, if not as before. A run with workers continues without them.
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: Option<u16>,
    /// Pairs at which the run ends, those already played included, if not as before; later commands
    /// keep the number. With several players, those of each encounter. A tuning that ended as flat
    /// plays all of them. A Swiss, a knockout and a race keep theirs, and so does a run that a
    /// verdict or --until-width ended.
    ///
    /// A test stays a test. Of a match that is extended because of its result, only the interval
    /// for all moments together holds.
    #[arg(long, value_name = "N", visible_alias = "max-pairs")]
    pairs: Option<u64>,
    /// Crashes, stalls and illegal moves after which the run stops, earlier ones included, if not
    /// as before.
    #[arg(long, value_name = "N")]
    max_failures: Option<u64>,
    /// Share of the games that may be lost on time before the run stops, earlier ones included, if
    /// not as before.
    #[arg(long, value_name = "SHARE")]
    max_time_losses: Option<String>,
    #[command(flatten)]
    trust: Trust,
    /// Replay the games whose records in the journal are damaged, and repair its header. Of
    /// differing records of one game the first is kept. The old journal is kept beside the new one.
    #[arg(long)]
    drop_damaged: bool,
    /// Shell command run at the end, with the summary as JSON on its input, in place of the first
    /// command's.
    #[arg(long, value_name = "COMMAND")]
    on_end: Option<String>,
    /// Print the summary as one JSON document.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &ResumeArgs) -> Result<Exit> {
    let (dir, mut plan) = RunDir::open(&args.dir)?;
    // Before anything is asked that the run of the archive would ask again.
    if archive::is_archived(dir.root()) {
        return Err(JournalError::Archived { path: dir.path(archive::ARCHIVE_NAME) }.into());
    }
    trust::check(&dir, &plan, args.trust.trust)?;
    if args.drop_damaged {
        drop_damaged(&dir, &plan)?;
    }
    let had_workers = plan.workers.is_some();
    let has_no_workers = |next: &toml::Table| !next.contains_key("workers");
    if let Some(concurrency) = args.concurrency {
        extension::change_concurrency(&mut plan, concurrency, false)?;
        if plan.workers.as_ref().is_some_and(Workers::are_simulated) {
            bail!(
                "{}: its games were made up by simulated workers, and engines cannot continue them; start another run",
                dir.root().display()
            );
        }
        if plan.scale.is_some() && plan.is_timed() {
            bail!(
                "{}: its times are scaled for the speed of each of the hub's workers (--scale), which games here would not be; \
                 resume it without -j",
                dir.root().display()
            );
        }
        plan.workers = None;
    }
    let mut more_pairs = None;
    if let Some(pairs) = args.pairs {
        let before = plan.max_pairs;
        extension::extend(&mut plan, pairs)?;
        let scoreboard = dir.scoreboard(&plan)?;
        let played = scoreboard.settled();
        let encounters = Pairing::new(&plan).encounters().unwrap_or(1);
        if pairs.saturating_mul(encounters) < played {
            bail!(
                "--pairs {pairs}: {played} pairs have been played; give at least {}",
                played.div_ceil(encounters.max(1))
            );
        }
        if plan.format.tuning().is_none() {
            if let Some(before) = before.filter(|before| pairs < *before) {
                bail!("--pairs {pairs}: the run has {before} already; give more");
            }
            if scoreboard.is_over() {
                bail!("--pairs {pairs}: the result of this run is decided, so it would play no more");
            }
        }
        let past_flat = scoreboard.is_flat() && played < pairs;
        if past_flat {
            extension::pass_flat(&mut plan);
        }
        more_pairs = Some((pairs, past_flat));
    }
    let (max_failures, max_time_losses) = (args.max_failures, args.max_time_losses.clone());
    extension::renewed(&RawPlan { max_failures, max_time_losses, ..RawPlan::default() }, &mut plan)?;
    let given = RawPlan { on_end: args.on_end.clone(), ..RawPlan::default() };
    let receivers = Receivers::of(&given.over(&notify::kept(dir.root()))?)?;
    let (plan, output) = (Arc::new(plan), OutputStyle::new(args.json));
    let keep = || more_pairs.map_or(Ok(()), |(pairs, past_flat)| extension::store(dir.root(), pairs, past_flat));
    let ResumedSession { outcome, has_news } = drive::resume_with(Arc::clone(&plan), &dir, output, keep)?;
    // The end of a run is told once, but a command that is given now is meant for it.
    if has_news || args.on_end.is_some() {
        receivers.tell(dir.root(), outcome.exit);
    }
    // The tests that follow leave the hub with this run, and no hub of their own.
    let concurrency = args.concurrency.filter(|_| had_workers || plan.chain.then.iter().all(has_no_workers));
    let over = RawPlan { concurrency, on_end: args.on_end.clone(), ..RawPlan::default() };
    Ok(chain::go_on(outcome, &plan, output, &over)?)
}

/// Mends the journal. The caller has checked that the run is the user's own.
fn drop_damaged(dir: &RunDir, plan: &Plan) -> Result<()> {
    let path = dir.path(journal::FILE_NAME);
    let Some(mended) = journal::mend(&path, &dir.header(), Some(&dir.expected(plan)))? else {
        progress::note("no record of the journal is damaged");
        return Ok(());
    };
    let mut games = mended.lines.as_slice();
    let mut done = Vec::new();
    if mended.has_new_header() {
        games = &games[1..];
        done.push(
            "wrote a new header (line 1) that assigns the games to the present plan.toml, because the run is yours"
                .to_owned(),
        );
    }
    if !games.is_empty() {
        done.push(format!("dropped {}, to be played again", counted(games, "damaged record")));
    }
    if !mended.superseded.is_empty() {
        done.push(format!(
            "dropped {}, because the first record of a game counts",
            counted(&mended.superseded, "later record")
        ));
    }
    progress::note(&format!("{}; the old journal is {}", done.join("; "), mended.kept.display()));
    Ok(())
}

/// Number of lines, with their line numbers.
fn counted(lines: &[u64], what: &str) -> String {
    let numbers: Vec<_> = lines.iter().map(u64::to_string).collect();
    format!("{} (line {})", count(lines.len() as u64, what), numbers.join(", "))
}
