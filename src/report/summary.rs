//! What a run leaves: the verdict for people and for scripts.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;
use serde_json::json;

use crate::plan::{BookSource, Plan};
use crate::record::{PlayerId, PvFault};
use crate::report::figures::{self, Figures, duration, signed};
use crate::report::plot::LlrPlot;
use crate::schedule::dispatcher::Finish;
use crate::schedule::events::StopReason;
use crate::schedule::standing::Faults;
use crate::stats::elo::Estimate;
use crate::stats::sprt::Verdict;

/// A finished or stopped run in words, as JSON and as a picture.
pub struct Summary {
    text: String,
    json: serde_json::Value,
    svg: String,
}

#[derive(Serialize)]
struct PlayerJson<'a> {
    name: &'a str,
    spec: &'a str,
    commit: Option<&'a str>,
    tree: Option<&'a str>,
    dirty: bool,
    sha256: &'a str,
    bench_nodes: Option<u64>,
    limit: String,
    time_losses: u64,
    illegal_moves: u64,
    crashes: u64,
    stalls: u64,
    /// Moves whose PV was wrong, by kind; a kind that did not happen is not there.
    pv_faults: serde_json::Map<String, serde_json::Value>,
}

impl Summary {
    /// The summary of the run in `root`.
    #[must_use]
    pub fn new(plan: &Plan, finish: &Finish, root: &Path) -> Self {
        let figures = Figures::of(&finish.standing);
        Self {
            text: text(plan, finish, &figures, root),
            json: json(plan, finish, &figures),
            svg: svg(plan, finish, &figures),
        }
    }

    /// For people, several lines.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// One JSON document.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(&self.json).unwrap_or_default();
        text.push('\n');
        text
    }

    /// The JSON document as a value.
    #[must_use]
    pub const fn json(&self) -> &serde_json::Value {
        &self.json
    }

    /// The LLR over the counted pairs, between its bounds.
    #[must_use]
    pub fn llr_svg(&self) -> &str {
        &self.svg
    }
}

/// `H1 accepted: ...`, or why there is no verdict.
fn headline(plan: &Plan, finish: &Finish) -> String {
    let [new, base] = [0, 1].map(|place| plan.players[place].name.as_str());
    let bounds = plan.test.bounds;
    let unit = match plan.test.model {
        crate::stats::sprt::Model::Normalized => "nElo",
        crate::stats::sprt::Model::Logistic => "Elo",
        crate::stats::sprt::Model::Bayesian => "BayesElo",
    };
    match finish.standing.verdict() {
        Verdict::AcceptH1 => {
            format!("H1 accepted: {new} is stronger than {base} ({} {unit} rather than {})", bounds.elo1, bounds.elo0)
        }
        Verdict::AcceptH0 => format!(
            "H0 accepted: {new} is not stronger than {base} ({} {unit} rather than {})",
            bounds.elo0, bounds.elo1
        ),
        Verdict::Continue => match &finish.reason {
            StopReason::OutOfPairs | StopReason::Verdict => "inconclusive: out of pairs".to_owned(),
            StopReason::OutOfTime => "inconclusive: out of time".to_owned(),
            StopReason::Interrupted => "interrupted".to_owned(),
            StopReason::TooManyFailures { failures } => {
                format!(
                    "aborted: {failures} engine failures, more than the {} that --max-failures allows",
                    plan.max_failures
                )
            }
            StopReason::Broken { why } => format!("aborted: {why}"),
        },
    }
}

fn text(plan: &Plan, finish: &Finish, figures: &Figures, root: &Path) -> String {
    let standing = &finish.standing;
    let mut out = String::new();
    let mut line = |text: String| {
        let _ = writeln!(out, "{text}");
    };
    line(headline(plan, finish));
    line(format!(
        "LLR {} ({:.2}, {:.2}) [{}, {}] {}",
        signed(figures.llr, 2),
        figures.lower,
        figures.upper,
        plan.test.bounds.elo0,
        plan.test.bounds.elo1,
        plan.test.model
    ));
    line(figures.elo_line());
    line(format!(
        "pairs {}, ptnml {}, games {} ({})",
        standing.pairs(),
        figures.ptnml_text(),
        standing.pairs() * 2,
        figures.wdl_text()
    ));
    for (place, player) in plan.players.iter().enumerate() {
        let faults = standing.faults(PlayerId(place as u16));
        let role = if place == 0 { "new " } else { "base" };
        let mut about = format!("{role} {}, {}", player.name, player.limit);
        if let Some(nodes) = player.origin.bench_nodes {
            let _ = write!(about, ", bench {nodes}");
        }
        let _ = write!(
            about,
            ", {} time losses, {} crashes, {} stalls, {} illegal moves",
            faults.time_forfeits, faults.crashes, faults.stalls, faults.illegal_moves
        );
        line(about);
        let wrong: Vec<_> =
            pv_counts(&faults).map(|(kind, count)| format!("{count} times it {}", kind.words())).collect();
        if !wrong.is_empty() {
            line(format!("     {}: wrong PVs: {}", player.name, wrong.join(", ")));
        }
    }
    let ends: Vec<_> = standing.terminations().iter().map(|(why, games)| format!("{} {games}", why.name())).collect();
    if !ends.is_empty() {
        line(format!("endings: {}", ends.join(", ")));
    }
    if standing.voided() > 0 {
        line(format!("void: {} times a pair was disturbed by the machine and played again", standing.voided()));
    }
    if standing.waiting_games() > 0 {
        line(format!("not counted: {} finished games of pairs after the stop", standing.waiting_games()));
    }
    let since = if finish.resumed { " since it was resumed" } else { "" };
    line(format!("took {}{since}, run in {}", duration(finish.elapsed), root.display()));
    // After the last pair of the plan there is nothing to go on with.
    if standing.verdict() == Verdict::Continue && !matches!(finish.reason, StopReason::OutOfPairs) {
        let more = match &finish.reason {
            StopReason::TooManyFailures { failures } => {
                format!(" --max-failures {}", failures.saturating_add(plan.max_failures.max(1)))
            }
            _ => String::new(),
        };
        line(format!("go on with: quintain resume {}{more}", root.display()));
    }
    out
}

/// The kinds of wrong PV that a player had, with their numbers.
fn pv_counts(faults: &Faults) -> impl Iterator<Item = (PvFault, u64)> {
    PvFault::ALL.into_iter().zip(faults.pv).filter(|(_, count)| *count > 0)
}

/// The estimate where it is finite.
fn value(estimate: Option<Estimate>) -> Option<f64> {
    estimate?.value.finite()
}

/// The interval where both its ends are finite.
fn interval(estimate: Option<Estimate>) -> Option<(f64, f64)> {
    let (low, high) = estimate?.interval?;
    Some((low.finite()?, high.finite()?))
}

fn json(plan: &Plan, finish: &Finish, figures: &Figures) -> serde_json::Value {
    let standing = &finish.standing;
    let verdict = match standing.verdict() {
        Verdict::AcceptH0 => "H0",
        Verdict::AcceptH1 => "H1",
        Verdict::Continue => "continue",
    };
    let reason = match &finish.reason {
        StopReason::Verdict => "verdict",
        StopReason::OutOfPairs => "out-of-pairs",
        StopReason::OutOfTime => "out-of-time",
        StopReason::Interrupted => "interrupted",
        StopReason::TooManyFailures { .. } => "too-many-failures",
        StopReason::Broken { .. } => "broken",
    };
    let players: Vec<_> = plan
        .players
        .iter()
        .enumerate()
        .map(|(place, player)| {
            let faults = standing.faults(PlayerId(place as u16));
            PlayerJson {
                name: &player.name,
                spec: &player.origin.spec,
                commit: player.origin.commit.as_deref(),
                tree: player.origin.tree.as_deref(),
                dirty: player.origin.dirty,
                sha256: &player.origin.sha256,
                bench_nodes: player.origin.bench_nodes,
                limit: player.limit.to_string(),
                time_losses: faults.time_forfeits,
                illegal_moves: faults.illegal_moves,
                crashes: faults.crashes,
                stalls: faults.stalls,
                pv_faults: pv_counts(&faults).map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect(),
            }
        })
        .collect();
    let book = match &plan.book.source {
        BookSource::Builtin => "builtin".to_owned(),
        BookSource::File(path) => path.display().to_string(),
    };
    let endings: serde_json::Map<_, _> =
        standing.terminations().iter().map(|(why, games)| (why.name().to_owned(), json!(games))).collect();
    json!({
        "name": plan.name,
        "program": env!("CARGO_PKG_VERSION"),
        "verdict": verdict,
        "stopped_by": reason,
        "model": plan.test.model.to_string(),
        "elo0": plan.test.bounds.elo0,
        "elo1": plan.test.bounds.elo1,
        "alpha": plan.test.alpha,
        "beta": plan.test.beta,
        "llr": figures.llr,
        "llr_lower": figures.lower,
        "llr_upper": figures.upper,
        "pairs": standing.pairs(),
        "games": standing.pairs() * 2,
        "ptnml": figures.ptnml.0,
        "wdl": [figures.wdl.wins, figures.wdl.draws, figures.wdl.losses],
        "score": figures.score,
        "elo": value(figures.elo),
        "elo_lo": interval(figures.elo).map(|(low, _)| low),
        "elo_hi": interval(figures.elo).map(|(_, high)| high),
        "nelo": value(figures.nelo),
        "nelo_lo": interval(figures.nelo).map(|(low, _)| low),
        "nelo_hi": interval(figures.nelo).map(|(_, high)| high),
        "los": figures.los,
        "not_counted_games": standing.waiting_games(),
        "voided_pairs": standing.voided(),
        "endings": endings,
        "seconds": finish.elapsed.as_secs_f64(),
        "seed": plan.seed,
        "book": book,
        "book_sha256": plan.book.sha256,
        "concurrency": plan.concurrency,
        "players": players,
        "machine": { "cpu": plan.machine.cpu, "cores": plan.machine.cores, "os": plan.machine.os },
    })
}

fn svg(plan: &Plan, finish: &Finish, figures: &Figures) -> String {
    let [new, base] = [&plan.players[0], &plan.players[1]];
    LlrPlot {
        title: format!("{} against {}", new.name, base.name),
        subtitle: headline(plan, finish),
        caption: format!(
            "{}, {} pairs, {}, [{}, {}] {}, {} at once, {}",
            figures::limits(plan),
            finish.standing.pairs(),
            figures.elo_short(),
            plan.test.bounds.elo0,
            plan.test.bounds.elo1,
            plan.test.model,
            plan.concurrency,
            plan.machine.cpu,
        ),
        points: finish.standing.llr_path().to_vec(),
        lower: figures.lower,
        upper: figures.upper,
    }
    .to_svg()
}
