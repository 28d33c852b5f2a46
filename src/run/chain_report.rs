//! Report of a chain of tests: a row for each test, the state of the whole, and how likely an
//! engine passes all of them.
//!
//! Each run of a chain finds those before and after it.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;

use crate::plan::{Chain, Plan, Test};
use crate::report::{figures, html, state, stored};
use crate::run::{dir, resolve};
use crate::settings::RawPlan;
use crate::stats::clusters::ClusteredCounts;
use crate::stats::elo::fixed;
use crate::stats::estimates::Estimates;
use crate::stats::simulate::{self, Law};
use crate::stats::sprt::{Model, Sprt, Verdict};
use crate::stats::unbiased;
use crate::stats::{Pentanomial, Trinomial};
use crate::text::{columns, count};

/// Chain with its tests so far; field names are a public contract.
#[derive(Debug, Serialize)]
pub(crate) struct ChainReport {
    /// `passed`, `failed` (a test accepted H0), `inconclusive` or `aborted` (one ended without a
    /// verdict), or `not over`.
    state: &'static str,
    /// Tests that accepted H1.
    passed: usize,
    /// Tests of the chain, played or not.
    length: usize,
    /// Number of the test at which the chain stopped, from 1; `None` if it passed or is not over.
    stopped_at: Option<usize>,
    games: u64,
    /// Hours of all tests.
    hours: f64,
    /// Tests played so far.
    tests: Vec<ChainTest>,
    /// Probabilities that all tests pass.
    pass: Vec<ChainPass>,
}

/// Test of a chain, from its summary.
#[derive(Debug, Serialize)]
struct ChainTest {
    /// Number from 1.
    test: usize,
    /// `H1`, `H0`, `open`, or the reason of its end without a verdict.
    result: String,
    limit: String,
    /// Hypotheses in Elo of the test's model.
    bounds: Option<[f64; 2]>,
    games: u64,
    elo: Option<f64>,
    elo_lo: Option<f64>,
    elo_hi: Option<f64>,
    hours: f64,
    run: String,
    #[serde(skip)]
    elo_text: String,
    #[serde(skip)]
    shape: Option<Law>,
    #[serde(skip)]
    verdict: Option<Verdict>,
    /// State of a chain that ends with this test; `None` if the chain may go on.
    #[serde(skip)]
    ends_as: Option<&'static str>,
}

/// Probability that an engine of one strength passes all tests.
#[derive(Debug, Serialize)]
struct ChainPass {
    /// Strength over the base, in Elo of each test's model.
    elo: f64,
    /// Units of these models.
    #[serde(skip)]
    unit: String,
    probability: f64,
    /// Expected pairs of the chain, which ends with the first test that does not pass.
    pairs: f64,
    /// False for a rough guess ([`simulate::Forecast::is_sound`]).
    is_sound: bool,
}

impl ChainTest {
    fn read(test: usize, run: &Path) -> Option<(Self, Plan)> {
        let text = stored::text(&run.join(stored::SUMMARY))?;
        let summary: Value = serde_json::from_str(&text).ok()?;
        let plan = stored::plan(run)?;
        let estimates = estimates(&summary, plan.test.as_ref())?;
        let stopped_by = summary["stopped_by"].as_str();
        let result = match estimates.verdict {
            Some(verdict @ (Verdict::AcceptH0 | Verdict::AcceptH1)) => verdict.name(),
            _ => stopped_by.unwrap_or("open"),
        };
        let this = Self {
            test,
            result: result.to_owned(),
            limit: figures::limits(&plan),
            bounds: plan.test.map(|test| [test.bounds.elo0, test.bounds.elo1]),
            games: summary["games"].as_u64()?,
            elo: summary["elo"].as_f64(),
            elo_lo: summary["elo_lo"].as_f64(),
            elo_hi: summary["elo_hi"].as_f64(),
            // Of a test that was killed, the time since it was resumed.
            hours: summary["seconds_total"].as_f64().or_else(|| summary["seconds"].as_f64())? / 3600.0,
            run: run.display().to_string(),
            elo_text: estimates.after_stop().map_or_else(
                || estimates.elo_short().trim_start_matches("Elo ").to_owned(),
                |after| after.elo.to_string(),
            ),
            shape: ptnml(&summary).as_ref().and_then(Law::of_counts),
            verdict: estimates.verdict,
            ends_as: ends_as(estimates.verdict, stopped_by),
        };
        Some((this, plan))
    }

    fn cells(&self) -> Vec<String> {
        let bounds = self.bounds.map(|[elo0, elo1]| format!("[{elo0}, {elo1}]"));
        [
            self.test.to_string(),
            self.result.clone(),
            self.limit.clone(),
            bounds.unwrap_or_default(),
            self.games.to_string(),
            self.elo_text.clone(),
            fixed(self.hours, 2),
            self.run.clone(),
        ]
        .to_vec()
    }
}

/// State of a chain that ends with a test of this verdict; `None` if the test passed or can go on.
fn ends_as(verdict: Option<Verdict>, stopped_by: Option<&str>) -> Option<&'static str> {
    match (verdict, stopped_by) {
        (Some(Verdict::AcceptH1), _) => None,
        (Some(Verdict::AcceptH0), _) => Some("failed"),
        (_, None | Some(state::INTERRUPTED)) => None,
        (_, Some(reason)) if state::is_abort(reason) => Some("aborted"),
        _ => Some("inconclusive"),
    }
}

fn ptnml(summary: &Value) -> Option<Pentanomial> {
    serde_json::from_value(summary["ptnml"].clone()).ok().map(Pentanomial)
}

/// Estimates of a summary, computed anew from its counts, because an infinite Elo is null in a
/// document. Those after the stop only if the summary has them.
fn estimates(summary: &Value, test: Option<&Test>) -> Option<Estimates> {
    let stored: Estimates = serde_json::from_value(summary.clone()).ok()?;
    let Some(pairs) = ptnml(summary) else { return Some(stored) };
    let effect = summary["design_effect"].as_f64().unwrap_or(1.0);
    let pairs = ClusteredCounts::new(pairs, effect);
    let after = test.filter(|_| stored.los_unbiased.is_some()).and_then(|test| {
        let sprt = Sprt::new(test.bounds, test.model, test.alpha, test.beta).ok()?;
        let [wins, draws, losses] = serde_json::from_value(summary["wdl"].clone()).ok()?;
        unbiased::after_test(&sprt, &pairs, &ClusteredCounts::new(Trinomial { wins, draws, losses }, effect))
    });
    Some(Estimates { verdict: stored.verdict, ..Estimates::of_pairs(&pairs).with_stop(after) })
}

/// Begin and end of the section of a page.
const OPENED: &str = "<section id=\"chain\">\n";
const CLOSED: &str = "</section>\n";

/// Heads of the columns; `#` marks numbers.
const HEADS: [&str; 8] = ["#test", "result", "limit", "bounds", "#games", "#Elo", "#hours", "run"];

impl ChainReport {
    /// Chain of the run in `root`, those after it included; `None` for a run that is in no chain.
    pub(crate) fn of(root: &Path, plan: &Plan) -> Option<Self> {
        if plan.chain == Chain::default() {
            return None;
        }
        let beside = root.parent().unwrap_or(Path::new(""));
        let mut runs: Vec<PathBuf> = plan.chain.before.iter().map(|run| beside.join(run)).collect();
        runs.push(root.to_owned());
        let length = runs.len() + plan.chain.then.len();
        while runs.len() < length
            && let Some(next) = runs.last().and_then(|run| follower(run))
        {
            runs.push(next);
        }
        let (tests, plans): (Vec<ChainTest>, Vec<Plan>) =
            (1..).zip(runs).filter_map(|(number, run)| ChainTest::read(number, &run)).unzip();
        let passed = tests.iter().filter(|test| test.verdict == Some(Verdict::AcceptH1)).count();
        let end = tests.last().and_then(|test| Some((test.test, test.ends_as?)));
        let state = match end {
            _ if passed == length => "passed",
            Some((_, state)) => state,
            None => "not over",
        };
        Some(Self {
            state,
            passed,
            length,
            stopped_at: end.map(|(test, _)| test),
            games: tests.iter().map(|test| test.games).sum(),
            hours: tests.iter().map(|test| test.hours).sum(),
            pass: passes(plans.last().unwrap_or(plan), &tests, &plans),
            tests,
        })
    }

    fn rows(&self) -> Vec<Vec<String>> {
        self.tests.iter().map(ChainTest::cells).collect()
    }

    /// Sentences on the whole.
    fn lines(&self) -> Vec<String> {
        let stop = self.stopped_at.map(|test| format!(", stopped at test {test}")).unwrap_or_default();
        let mut lines = vec![format!(
            "chain {}: {} of {} passed, {}, {} hours{stop}",
            self.state,
            self.passed,
            count(self.length as u64, "test"),
            count(self.games, "game"),
            fixed(self.hours, 2)
        )];
        lines.extend(self.pass.iter().map(|pass| {
            let (share, pairs) = (fixed(100.0 * pass.probability, 1), fixed(pass.pairs, 0));
            let (unit, guess) = (&pass.unit, if pass.is_sound { "" } else { "roughly " });
            format!(
                "an engine of {:+} {unit} passes all with {guess}{share} %, after {pairs} pairs on average",
                pass.elo
            )
        }));
        lines
    }

    /// Table and sentences.
    pub(crate) fn text(&self) -> String {
        let mut text = columns(&HEADS, &self.rows()).join("\n");
        for (number, line) in self.lines().iter().enumerate() {
            // Writing into memory cannot fail.
            let _ = write!(text, "{}{line}", if number == 0 { "\n\n" } else { "\n" });
        }
        text.push('\n');
        text
    }

    /// Section of a page.
    pub(crate) fn html(&self) -> String {
        let mut out = format!("{OPENED}<h2>The chain of tests</h2>\n");
        html::table(&mut out, &HEADS, &self.rows());
        for line in self.lines() {
            let _ = writeln!(out, "<p>{}</p>", crate::text::escaped(&line));
        }
        out + CLOSED
    }
}

/// Name of a run before, for the plan of a run in the folder `runs`. Both paths are absolute.
pub(crate) fn name_of(run: &Path, runs: &Path) -> PathBuf {
    match run.file_name() {
        Some(name) if run.parent() == Some(runs) => PathBuf::from(name),
        _ => run.to_owned(),
    }
}

/// Run that follows the run in `root`, among those beside it and those in the default folder.
pub(super) fn follower(root: &Path) -> Option<PathBuf> {
    let whole = std::path::absolute(root).ok()?;
    let beside = root.parent().filter(|parent| *parent != Path::new("")).or_else(|| whole.parent())?;
    [beside, Path::new(dir::RUNS)].iter().find_map(|place| {
        let name = name_of(&whole, &std::path::absolute(place).ok()?);
        let mut runs = std::fs::read_dir(place).ok()?.flatten().map(|entry| entry.path());
        runs.find(|run| stored::plan(run).is_some_and(|plan| plan.chain.before.last() == Some(&name)))
    })
}

/// Page with the section of its chain as it is now; `None` if it has none.
pub(super) fn replaced(page: &str, section: &str) -> Option<String> {
    let from = page.find(OPENED)?;
    let to = from + page.get(from..)?.find(CLOSED)? + CLOSED.len();
    Some([page.get(..from)?, section, page.get(to..)?].concat())
}

/// Probabilities for an engine without gain, and for one as strong as the first test looks for.
/// Pair results have the shape of the games played, of tests to come a typical one.
fn passes(plan: &Plan, tests: &[ChainTest], plans: &[Plan]) -> Vec<ChainPass> {
    let to_come = plan.chain.then.iter().map_while(|table| {
        let raw: RawPlan = table.clone().try_into().ok()?;
        Some((resolve::test(&raw).ok()?, raw.max_pairs, Law::TYPICAL))
    });
    let played = tests
        .iter()
        .zip(plans)
        .filter_map(|(test, plan)| Some((plan.test?, plan.max_pairs, test.shape.unwrap_or(Law::TYPICAL))));
    let links: Vec<(Test, Option<u64>, Law)> = played.chain(to_come).collect();
    let Some((first, ..)) = links.first() else { return Vec::new() };
    let mut elos = vec![0.0, first.bounds.elo1];
    elos.dedup();
    elos.into_iter().filter_map(|elo| pass(&links, elo)).collect()
}

/// `None` if the shape of a test's pairs does not reach this strength.
fn pass(links: &[(Test, Option<u64>, Law)], elo: f64) -> Option<ChainPass> {
    // The unit of another model means another strength.
    let (first, _, shape) = links.first()?;
    let law = shape.reaching(elo, first.model)?;
    let forecast = |(test, max_pairs, shape): &(Test, Option<u64>, Law)| {
        let elo = if test.model == first.model { elo } else { law.elo(test.model) };
        let sprt = Sprt::new(test.bounds, test.model, test.alpha, test.beta).ok()?;
        simulate::forecast(&sprt, &shape.reaching(elo, test.model)?, *max_pairs)
    };
    let forecasts: Vec<_> = links.iter().map(forecast).collect::<Option<_>>()?;
    let (probability, pairs) = simulate::in_turn(&forecasts);
    let unit = Model::units(std::iter::once(first.model));
    let is_sound = forecasts.iter().all(|forecast| forecast.is_sound);
    Some(ChainPass { elo, unit, probability, pairs: pairs.iter().sum(), is_sound })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::sprt::Bounds;

    #[test]
    fn a_test_without_a_verdict_ends_its_chain_unless_it_was_interrupted() {
        let open = Some(Verdict::Continue);
        for (verdict, stopped_by, expected) in [
            (Some(Verdict::AcceptH1), Some("verdict"), None),
            (Some(Verdict::AcceptH0), Some("verdict"), Some("failed")),
            // The last games may decide a test that was interrupted.
            (Some(Verdict::AcceptH0), Some("interrupted"), Some("failed")),
            (open, Some("out-of-pairs"), Some("inconclusive")),
            (open, Some("out-of-time"), Some("inconclusive")),
            (open, Some("too-many-failures"), Some("aborted")),
            (open, Some("broken"), Some("aborted")),
            (open, Some("interrupted"), None),
            (None, None, None),
        ] {
            assert_eq!(ends_as(verdict, stopped_by), expected, "{verdict:?} {stopped_by:?}");
        }
    }

    #[test]
    fn infinite_ends_are_those_of_the_counts() {
        let bounds = Bounds { elo0: 0.0, elo1: 50.0 };
        let test = Test { bounds, model: Model::Normalized, alpha: 0.05, beta: 0.05 };
        let counts = ClusteredCounts::new(Pentanomial([0, 0, 0, 0, 20]), 1.0);
        let sprt = Sprt::new(bounds, test.model, test.alpha, test.beta).unwrap();
        let whole = Estimates::of_pairs(&counts).with_test(&sprt, sprt.llr(&counts), Verdict::AcceptH1);
        let whole = whole.with_stop(unbiased::after(&sprt, &counts));
        let mut summary = serde_json::to_value(whole).unwrap();
        assert!(summary["elo_unbiased_hi"].is_null() && summary["elo_unbiased_lo"].is_f64(), "{summary}");
        summary["ptnml"] = serde_json::json!([0, 0, 0, 0, 20]);
        summary["wdl"] = serde_json::json!([40, 0, 0]);
        let found = estimates(&summary, Some(&test)).unwrap();
        assert_eq!((found.after_stop(), found.verdict), (whole.after_stop(), Some(Verdict::AcceptH1)));
        assert!(found.after_stop_line().unwrap().contains(", inf]"), "{found:?}");
        // Of a test that goes on there is none, and none without counts.
        summary["los_unbiased"] = Value::Null;
        assert_eq!(estimates(&summary, Some(&test)).unwrap().after_stop(), None);
        summary["ptnml"] = Value::Null;
        assert_eq!(estimates(&summary, Some(&test)).unwrap().elo, None);
    }

    #[test]
    fn the_probabilities_of_a_chain_are_those_of_its_tests_together() {
        let bounds = Bounds { elo0: 0.0, elo1: 10.0 };
        let test = Test { bounds, model: Model::Normalized, alpha: 0.05, beta: 0.05 };
        let of = |tests: usize, elo: f64| pass(&vec![(test, None, Law::TYPICAL); tests], elo).unwrap();
        for elo in [0.0, 10.0] {
            let (one, two) = (of(1, elo), of(2, elo));
            assert!((two.probability - one.probability.powi(2)).abs() < 1e-12, "{two:?}");
            assert!((two.pairs - one.pairs * (1.0 + one.probability)).abs() < 1e-6, "{two:?}");
        }
        assert!((of(1, 0.0).probability - 0.05).abs() < 0.02 && of(1, 10.0).probability > 0.93);
    }
}
