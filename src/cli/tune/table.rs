//! `quintain tune --dry-run`: parameters, cost and forecast of a tuning.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde::Serialize;

use crate::cli::simulate::tune::{MOST_WORK, is_playable, play, rows_text};
use crate::report::tune::plain;
use crate::run::dir::RESULTS;
use crate::run::pace::{self, Pace, PaceLookup};
use crate::run::tuning::prepare::PreparedTuning;
use crate::run::tuning::sensitivity::{Changes, SearchLength};
use crate::run::{resolve, tune};
use crate::stats::elo::fixed;
use crate::text::count;
use crate::tournament::formats::tune::Choice;
use crate::tune::calibrate;
use crate::tune::factors::foreseen_error95;
use crate::tune::forecast::{ForecastRow, STAKE_EACH, Setting};

/// Simulated runs behind the forecast.
const RUNS: u32 = 20;

/// JSON document; field names are a public contract.
#[derive(Serialize)]
struct TableDocument<'a> {
    engine: &'a str,
    method: &'a str,
    limit: String,
    pairs: Option<u64>,
    calibration_pairs: u64,
    sensitivity: Option<Searches>,
    params: Vec<ParamLine<'a>>,
    expected: Vec<ForecastRow>,
}

#[derive(Serialize)]
struct Searches {
    #[serde(flatten)]
    length: SearchLength,
    positions: usize,
    seconds: f64,
    noise: f64,
}

#[derive(Serialize)]
struct ParamLine<'a> {
    name: &'a str,
    kind: &'a str,
    start: f64,
    min: f64,
    max: f64,
    given_step: f64,
    /// `None` for a parameter that is left out.
    step: Option<f64>,
    /// Share of searches whose best move a step changes.
    changes: Option<f64>,
    dead: bool,
}

/// Dry run as text or JSON.
pub(super) fn dry_run(prepared: &PreparedTuning, json: bool) -> Result<String> {
    // It is learnt from all results.
    let pace = pace(prepared);
    let document = TableDocument::new(prepared, pace.as_ref());
    Ok(if json { serde_json::to_string_pretty(&document)? } else { document.text(pace.as_ref()) })
}

fn pace(prepared: &PreparedTuning) -> Option<Pace> {
    let plan = &prepared.plan;
    let limit = plan.players[0].limit.to_string();
    match pace::learn(Path::new(RESULTS), &resolve::cpu(), Some(&limit), Some(plan.concurrency)) {
        PaceLookup::Known(pace) => Some(pace),
        PaceLookup::Unknown(_) => None,
    }
}

impl<'a> TableDocument<'a> {
    fn new(prepared: &'a PreparedTuning, pace: Option<&Pace>) -> Self {
        let PreparedTuning { plan, method, given, space, sensitivity, dead, .. } = prepared;
        let line = |(index, param): (usize, &'a crate::tune::space::Param)| {
            let changes = sensitivity.as_ref().and_then(|found| found.changes.get(index).copied());
            ParamLine {
                name: &param.name,
                kind: param.kind.name(),
                start: param.start,
                min: param.min,
                max: param.max,
                given_step: param.step,
                step: space.params().iter().find(|tuned| tuned.name == param.name).map(|tuned| tuned.step),
                changes: changes.map(Changes::share),
                dead: dead.contains(&param.name),
            }
        };
        let games = 2 * plan.max_pairs.unwrap_or(resolve::DEFAULT_TUNING_PAIRS);
        let block = tune::block(plan);
        let setting = Setting { params: space.len(), elo: STAKE_EACH * space.len() as f64, games, block };
        let calibration = calibrate::blocks(block, plan.max_pairs) * u64::from(block);
        let is_auto = *method == Choice::Auto;
        let is_simulated = is_auto && is_playable(&setting);
        let runs = if is_simulated { play(&setting, plan.seed, RUNS) } else { Vec::new() };
        let rate = pace.map(|pace| pace.pairs_per_minute);
        Self {
            engine: &plan.players[0].name,
            method: method.name(),
            limit: plan.players[0].limit.to_string(),
            pairs: plan.max_pairs,
            calibration_pairs: if is_auto { calibration } else { 0 },
            sensitivity: sensitivity.as_ref().map(|found| Searches {
                length: found.length,
                positions: found.positions,
                seconds: found.took.as_secs_f64(),
                noise: found.noise.share(),
            }),
            params: given.params().iter().enumerate().map(line).collect(),
            expected: if is_simulated { setting.table(&runs, rate) } else { Vec::new() },
        }
    }

    fn text(&self, pace: Option<&Pace>) -> String {
        let tuned = self.params.iter().filter(|line| line.step.is_some()).count();
        let tuned = count(tuned as u64, "parameter");
        let mut out = format!("{tuned} of {} by {}, {}\n\n", self.engine, self.method, self.limit);
        let width = self.params.iter().map(|line| line.name.chars().count()).max().unwrap_or(0).max("name".len());
        // Writing into memory cannot fail.
        let _ = writeln!(
            out,
            "{:width$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>9}",
            "name", "start", "min", "max", "step", "given", "changes"
        );
        for line in &self.params {
            let step = line.step.map_or_else(|| "left out".to_owned(), plain);
            let changes = line.changes.map_or_else(|| "-".to_owned(), |share| format!("{} %", fixed(share * 100.0, 1)));
            let dead = if line.dead { "  dead" } else { "" };
            let _ = writeln!(
                out,
                "{:width$} {:>10} {:>10} {:>10} {step:>10} {:>10} {changes:>9}{dead}",
                line.name,
                plain(line.start),
                plain(line.min),
                plain(line.max),
                plain(line.given_step)
            );
        }
        self.costs(&mut out, pace);
        out
    }

    fn costs(&self, out: &mut String, pace: Option<&Pace>) {
        let is_factors = self.method == Choice::Factors.name();
        if let Some(Searches { length, positions, seconds, .. }) = self.sensitivity {
            let place = if is_factors { "at the min or the max" } else { "a step from the start" };
            let _ = writeln!(
                out,
                "\nchanges: searches of {length} on {positions} positions with another best move {place}; they took {} s",
                fixed(seconds, 0)
            );
        }
        if is_factors {
            let _ = writeln!(
                out,
                "\neach pair randomly gives one side the max and the other the min of every parameter; the value of a switch is then known within {} Elo (95 %)",
                fixed(foreseen_error95(self.pairs.unwrap_or(resolve::DEFAULT_TUNING_PAIRS)), 1)
            );
            return;
        }
        if self.method != Choice::Auto.name() {
            let _ = writeln!(out, "\n{} needs no calibration; its steps and its schedule are as given", self.method);
            return;
        }
        let _ = match self.calibration_pairs {
            0 => writeln!(out, "\nno calibration: the pairs are too few, so a step is taken to lose 1 Elo"),
            pairs => writeln!(out, "\ncalibration: the first {pairs} pairs measure how much Elo a step loses"),
        };
        if let Some(pace) = pace {
            let _ = writeln!(out, "pace: {}", pace.words());
        }
        if self.expected.is_empty() {
            let _ = writeln!(
                out,
                "\nno forecast: parameters times games are more than {MOST_WORK}; `quintain simulate --tune d=N,games=N` has one of fewer games"
            );
            return;
        }
        let _ = writeln!(
            out,
            "\nOn simulated landscapes of as many parameters, each {STAKE_EACH} Elo from its optimum, as in first tunings, the method finds \
             ({RUNS} runs; simulation only, not this engine):\n\n{}",
            rows_text(&self.expected)
        );
    }
}
