//! `quintain calibrate [SPEC]`: clocks and numbers of games at once that this machine can hold.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::json;
use tokio::sync::mpsc;

use crate::journal::{self, Header, Journal};
use crate::openings::Book;
use crate::plan::Plan;
use crate::plan::affinity::Affinity;
use crate::plan::time_control::TimeControl;
use crate::report::calibration::{self, CalibrationCell, CellEstimates};
use crate::run::{Exit, prepare, progress, resolve, signals};
use crate::schedule::affinity::{self, Topology};
use crate::schedule::dispatcher::{self, Inbox, Run};
use crate::settings::{RawPlan, value};
use crate::text::shell_word;
use crate::tournament::events::StopReason;
use crate::tournament::scoreboard::Scoreboard;

const EXAMPLES: &str = "\
A setting is safe if engine and clock waited for a CPU for at most 1 % of the thinking time, and \
no loss on time can be explained by these waits. Calibrate while the machine is as busy as it \
will be in tests.

Exit codes: 0 every setting was played; 2 bad usage or engine, 4 the engine crashed, stalled or \
made an illegal move (the finished settings are printed), 130 interrupted.

Examples:
  quintain calibrate                          the working tree's engine against itself
  quintain calibrate ./my-engine --tc 8+0.08,1+0.01 -j 1,2,4 --time 1m --json";

/// Measures what this machine can hold: an engine plays itself at several clocks with several games
/// at once.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct CalibrateArgs {
    /// The engine [default: `.`, the working tree].
    #[arg(value_name = "SPEC")]
    engine: Option<String>,
    /// A UCI option; may be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE", value_parser = value::option)]
    options: Vec<(String, String)>,
    /// Clocks, separated by commas.
    #[arg(long, value_name = "TC,...", value_delimiter = ',', default_value = "8+0.08,1+0.01,0.1+0.001")]
    tc: Vec<String>,
    /// Concurrent games, with commas between them [default: 1, the physical cores, all CPUs].
    #[arg(short = 'j', long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    concurrency: Vec<u16>,
    /// Time for which games are started at each setting.
    #[arg(long, value_name = "TIME", default_value = "20s")]
    time: String,
    /// Pin each slot to CPUs of its own, or to those of a list, such as 0,2,4.
    #[arg(long, value_name = "CPUS", num_args = 0..=1, require_equals = true, default_missing_value = "auto")]
    affinity: Option<String>,
    /// Seed of the openings.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Print the figures as one JSON document.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &CalibrateArgs) -> Result<Exit> {
    let clocks: Vec<TimeControl> =
        args.tc.iter().map(|text| text.parse().with_context(|| format!("--tc `{text}`"))).collect::<Result<_>>()?;
    let time = resolve::time("--time", &args.time)?;
    let (plan, book) = resolve::sprt(&raw(args)?).context("cannot calibrate")?;
    let topology = Topology::detect();
    let mut numbers = args.concurrency.clone();
    if numbers.is_empty() {
        let cpus = match &plan.affinity {
            Affinity::Cpus(cpus) => cpus.len(),
            Affinity::Off | Affinity::Auto => topology.cpus(),
        };
        let all = u16::try_from(cpus / plan.threads()).unwrap_or(u16::MAX).max(1);
        numbers = vec![1, topology.default_concurrency(plan.threads()).min(all), all];
    }
    numbers.sort_unstable();
    numbers.dedup();
    if let Some(most) = numbers.last() {
        affinity::check_cpus(*most, plan.threads(), &plan.affinity, &topology)?;
    }
    let runtime = prepare::runtime()?;
    runtime.block_on(prepare::preflight(&plan, &book))?;
    let spec = plan.players[0].origin.spec.clone();
    let mut cells = Vec::new();
    let mut exit = Exit::Done;
    for (tc, clock) in args.tc.iter().zip(clocks) {
        for &games in &numbers {
            if exit != Exit::Done {
                break;
            }
            progress::note(&format!("{tc}, {games} at once"));
            let mut plan = plan.clone();
            plan.players.iter_mut().for_each(|player| player.limit.clock = Some(clock));
            plan.concurrency = games;
            plan.max_time = Some(time);
            // Time losses are measured here, so they must not stop the run.
            plan.max_time_losses = 100.0;
            // Games of an engine that fails show nothing of the machine.
            plan.max_failures = 0;
            prepare::check_capacity(&plan)?;
            let mut cell = CalibrationCell::new(games, tc);
            let reason = runtime.block_on(play(plan, book.clone(), &mut cell))?;
            match (reason, cell.failures()) {
                (StopReason::Broken { why }, _) => exit = aborted(&why),
                (_, Some(failures)) => exit = aborted(&failed(&spec, &failures)),
                (StopReason::TooManyFailures { .. }, None) => {
                    exit = aborted(&failed(&spec, "its process ended between two games"));
                }
                (reason, None) => {
                    if reason == StopReason::Interrupted {
                        exit = Exit::Interrupted;
                    }
                    let figures = cell.figures();
                    cells.push((cell, figures));
                }
            }
        }
    }
    progress::result(&if args.json { to_json(&cells, &plan, time)? } else { calibration::text(&cells) });
    Ok(exit)
}

/// Prints the reason that the games of a setting ended early. Finished settings are kept.
fn aborted(why: &str) -> Exit {
    progress::note(&format!("error: {why}"));
    Exit::Aborted
}

/// Message about an engine that fails, with the remedy.
fn failed(spec: &str, failures: &str) -> String {
    let word = shell_word(spec);
    format!("`{spec}`: {failures}; find out why with `quintain check {word}`, or calibrate with another engine")
}

fn raw(args: &CalibrateArgs) -> Result<RawPlan> {
    let engine = args.engine.clone().unwrap_or_else(|| ".".to_owned());
    Ok(RawPlan {
        new: Some(engine.clone()),
        base: Some(engine),
        options: args.options.clone(),
        tc: args.tc.first().cloned(),
        seed: Some(args.seed),
        affinity: args.affinity.clone(),
        // Each number of games is checked once the engine's threads are known.
        concurrency: Some(1),
        // Settings beyond the machine's capacity are tested on purpose.
        force_concurrency: Some(true),
        ..RawPlan::default()
    })
}

/// Plays one setting and adds its games to `cell`. Returns the reason of its end.
async fn play(plan: Plan, book: Book, cell: &mut CalibrationCell) -> Result<StopReason> {
    let folder = tempfile::tempdir().context("cannot make a folder for the games")?;
    let path = folder.path().join(journal::FILE_NAME);
    let header = Header { plan_sha256: String::new(), program: env!("CARGO_PKG_VERSION").to_owned() };
    let journal = Journal::create(&path, &header)?;
    let scoreboard = Scoreboard::new(&plan)?;
    let stderr_dir = folder.path().to_owned();
    let (interrupts, seen) = mpsc::channel(4);
    let (_commands, asked) = mpsc::channel(1);
    let signals = tokio::spawn(signals::watch_signals(interrupts));
    let run = Run { plan: Arc::new(plan), book, journal, scoreboard, earlier: None, tables: None, stderr_dir };
    let finish = dispatcher::run(run, &mut [], Inbox { interrupts: seen, commands: asked, remote: None }).await;
    signals.abort();
    journal::read(&path, |game| cell.record(&game))?;
    Ok(finish.reason)
}

fn to_json(cells: &[(CalibrationCell, CellEstimates)], plan: &Plan, time: Duration) -> Result<String> {
    let settings: Vec<_> = cells
        .iter()
        .map(|(cell, figures)| json!({ "tc": cell.tc, "concurrency": cell.concurrency, "figures": figures }))
        .collect();
    let machine = json!({ "cpu": plan.machine.cpu, "cores": plan.machine.cores, "os": plan.machine.os });
    let document = json!({
        "engine": plan.players[0].origin.spec,
        "seconds": time.as_secs_f64(),
        "most_waiting": calibration::MOST_WAITING,
        "machine": machine,
        "settings": settings,
    });
    Ok(serde_json::to_string_pretty(&document)?)
}
