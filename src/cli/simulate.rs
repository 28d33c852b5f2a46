//! `quintain simulate`: cost of a test and its probability of passing, before it is started.

mod chain;
mod cores;
mod size;
pub(super) mod tune;

use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use self::cores::on_all_cores;
use super::stats::{TestArgs, counts};
use crate::plan::time_control::TimeControl;
use crate::run::dir::RESULTS;
use crate::run::pace::{self, Pace, PaceLookup};
use crate::run::{progress, resolve};
use crate::stats::Pentanomial;
use crate::stats::elo::fixed;
use crate::stats::simulate::{self, Forecast, Law};
use crate::stats::sprt::{Bounds, Model, Sprt};
use crate::text::count;

const EXAMPLES: &str = "\
Examples:
  quintain simulate --elo 3 --bounds 0,5
  quintain simulate --elo 3 --bounds 0,5 --tc 8+0.08 -j 8
  quintain simulate --elo 3 --bounds 0,5 --pairs-per-minute 30 --budget 8h
  quintain simulate --elo 2 --bounds 0,4 --model logistic --ptnml 379,10170,21828,10640,343 --json
  quintain simulate --width 5 --pairs-per-minute 30
  quintain simulate --pairs 20000 --alpha 0.05 --beta 0.05
  quintain simulate --chain configs/sprt-stc.toml configs/sprt-ltc.toml
  quintain simulate --tune d=40,elo=30,games=20000

The table is that of a Brownian motion between the bounds with Siegmund's correction for steps \
over them (Siegmund 1985); after it, at --elo, whole tests are played on random pair results, \
with the exact ratio checked after every pair. The two differ by chance, and by the \
approximations of the formula. A row with `~` is a rough guess: fewer than 50 pairs of such a test \
differ from the commonest result. With very drawish engines it may be a third too short. Trust \
the played tests there. Pairs have the shape of --ptnml, of --draw-ratio, or of engines of \
similar strength from balanced openings at fast clocks. The shape is tilted to the Elo in question, \
by a factor exponential in the score.

Hours are of this machine: pairs a minute of runs under results/ with the same clock, or \
--pairs-per-minute. --budget proposes bounds from elo0 up. Whatever the engine's strength, the \
test ends within that time in 95 % of cases, or on average.

--width and --pairs plan matches without a sequential test. --width gives the pairs until the 95 \
% interval is that narrow (the rule of --until-width), at --elo (logistic, default 0). --pairs \
gives the smallest strength that this number of pairs shows with probability 1 - beta in a \
one-sided test with the error probability alpha. Their JSON: `elo, shape, width` (`width, pairs, \
hours`), `pairs` (`pairs, hours, alpha, beta, detectable_elo, detectable_nelo, width`).

JSON: `elo, model, elo0, elo1, alpha, beta, shape` (shares of LL, LD, DD+WL, WD, WW), \
`max_pairs`, `pass, undecided, pairs, pairs_median, pairs_95, is_sound, hours, hours_95` at --elo \
(`is_sound` is false for a rough guess), `simulated` (`tests, pass, undecided, pairs, \
pairs_median, pairs_95`), `table` (rows of `elo, pass, undecided, pairs, pairs_95, is_sound, \
hours`), `pairs_per_minute, pace_tc, pace_concurrency, pace_runs`, and with --budget `budget` \
(`pairs, elo1_95, elo1_mean`). null stands for what is not known.";

/// Likelihood that a test passes, and the pairs and hours that it takes, for an engine of a
/// supposed strength.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
#[command(mut_arg("model", |model| model.help("Model of the Elo: normalized or logistic")))]
pub(super) struct SimulateArgs {
    /// Supposed strength of the tested engine over the other, in Elo of the model.
    #[arg(long, value_name = "ELO", allow_hyphen_values = true, required_unless_present_any = ["tune", "width", "pairs", "chain"])]
    elo: Option<f64>,
    /// Plans of tests that follow each other, each if the one before passes; a single one with
    /// those of its key `then`.
    #[arg(
        long,
        value_name = "PLAN.toml",
        num_args = 1..,
        conflicts_with_all = ["tune", "width", "pairs", "bounds", "model", "alpha", "beta", "max_pairs", "budget", "tc", "tests", "seed"]
    )]
    chain: Vec<PathBuf>,
    /// A tuning to forecast instead of a test.
    #[arg(
        long,
        value_name = "d=N,elo=X,games=N",
        conflicts_with_all = ["elo", "bounds", "model", "alpha", "beta", "ptnml", "draw_ratio", "max_pairs", "budget", "width", "pairs"]
    )]
    tune: Option<String>,
    /// The pairs until the 95 % interval is this narrow: half its width, in logistic Elo.
    #[arg(long, value_name = "ELO", conflicts_with_all = ["bounds", "model", "max_pairs", "budget", "tests"])]
    width: Option<f64>,
    /// The least detectable strength of this number of pairs, and the width of its interval.
    #[arg(long, value_name = "N", conflicts_with_all = ["bounds", "model", "max_pairs", "budget", "tests"], value_parser = clap::value_parser!(u64).range(2..))]
    pairs: Option<u64>,
    #[command(flatten)]
    test: TestArgs,
    /// The shape of pair results: counts of pairs that were played. An empty class counts as a
    /// thousandth.
    #[arg(long, value_name = "LL,LD,DD+WL,WD,WW", conflicts_with = "draw_ratio")]
    ptnml: Option<String>,
    /// The shape of pair results: two independent games of which this share, from 0 to 1, is drawn
    /// between equals.
    #[arg(long, value_name = "SHARE")]
    draw_ratio: Option<f64>,
    /// Pairs after which the test stops without a verdict.
    #[arg(long, value_name = "N")]
    max_pairs: Option<u64>,
    /// Tests to play at --elo, a million at most; 0 for the formula alone, which tunings do not
    /// have [default: 300; tunings: 50].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    tests: Option<u32>,
    /// Seed of the random results.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Clock for the pace [default: that of most pairs under --results].
    #[arg(long, value_name = "TC")]
    tc: Option<String>,
    /// Concurrent games [default: as in most pairs of that clock].
    #[arg(short = 'j', long, value_name = "N")]
    concurrency: Option<u16>,
    /// The pace, if no run has shown it.
    #[arg(long, value_name = "N")]
    pairs_per_minute: Option<f64>,
    /// Directory of the runs whose pace counts.
    #[arg(long, value_name = "DIR", default_value = RESULTS)]
    results: PathBuf,
    /// Propose bounds for this much time: `90s`, `30m`, `8h`.
    #[arg(long, value_name = "TIME")]
    budget: Option<String>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Default number of tests to play.
const TESTS: u32 = 300;
/// Note under a table with rough guesses.
const ROUGH: &str = "~ a rough guess: fewer than 50 pairs of such a test differ from the commonest result; with very drawish engines it may be \
                     a third too short\n";

/// Maximum number of pairs of all played tests, as the formula foresees them. More take minutes.
const MOST_PLAYED: f64 = 1e9;

/// Prints the forecast to `out`.
pub(super) fn run(args: &SimulateArgs, out: &mut impl Write) -> Result<()> {
    if let Some(setting) = &args.tune {
        return tune::run(args, setting, out);
    }
    if args.width.is_some() || args.pairs.is_some() {
        return size::run(args, out);
    }
    if !args.chain.is_empty() {
        return chain::run(args, out);
    }
    let mut answer = SimulateAnswer::new(args)?;
    let tests = args.tests.unwrap_or(TESTS);
    // The table is printed at once, because the played tests take time.
    if !args.json && !progress::write(out, answer.text().as_bytes())? {
        return Ok(());
    }
    if tests > 0 && f64::from(tests) * answer.forecast.pairs > MOST_PLAYED {
        progress::note("too many pairs to play; the formula alone");
    } else if tests > 0 {
        answer.played = Some(play(args, tests, &answer.sprt, &answer.law, &answer.forecast));
    }
    let text = if args.json { serde_json::to_string_pretty(&answer.json())? + "\n" } else { answer.played_text() };
    progress::write(out, text.as_bytes())?;
    Ok(())
}

/// Results that the command prints.
struct SimulateAnswer {
    elo: f64,
    sprt: Sprt,
    shape: Law,
    /// Shape of pair results at the requested strength.
    law: Law,
    max_pairs: Option<u64>,
    forecast: Forecast,
    /// Played tests; `None` until they are done.
    played: Option<simulate::Simulation>,
    table: Vec<(f64, Forecast)>,
    pace: Option<Pace>,
    /// Reason if no pace is known.
    no_pace: String,
    budget: Option<Budget>,
}

struct Budget {
    text: String,
    pairs: f64,
    /// Bounds of a test that is over in 95 % of cases.
    sure: Option<Bounds>,
    /// Bounds of a test that is over on average.
    mean: Option<Bounds>,
}

impl SimulateAnswer {
    fn new(args: &SimulateArgs) -> Result<Self> {
        let elo = args.elo.context("--elo is needed")?;
        let sprt = args.test.sprt()?;
        let (bounds, model) = (sprt.bounds(), sprt.model());
        if model == Model::Bayesian {
            bail!("the bayesian model applies to games, not to pairs: choose --model normalized or logistic");
        }
        if args.max_pairs == Some(0) {
            bail!("--max-pairs 0 plays nothing; leave it out for no limit");
        }
        let shape = shape(args)?;
        let law = leaned(&shape, elo, model, "--elo")?;
        let expect = |law: &Law| simulate::forecast(&sprt, law, args.max_pairs);
        let forecast = expect(&law).context("these pair results cannot distinguish the hypotheses")?;
        let table = strengths(bounds)
            .into_iter()
            .filter_map(|elo| Some((elo, expect(&leaned(&shape, elo, model, "").ok()?)?)))
            .collect();
        let (pace, no_pace) = match learnt(args)? {
            PaceLookup::Known(pace) => (Some(pace), String::new()),
            PaceLookup::Unknown(why) => (None, why),
        };
        Ok(Self {
            elo,
            sprt,
            shape,
            law,
            max_pairs: args.max_pairs,
            forecast,
            played: None,
            table,
            budget: args
                .budget
                .as_deref()
                .map(|text| budget(text, &sprt, &shape, pace.as_ref(), &no_pace))
                .transpose()?,
            pace,
            no_pace,
        })
    }
}

/// Pace from the command line or from past runs.
fn learnt(args: &SimulateArgs) -> Result<PaceLookup> {
    let clock = args.tc.as_deref().map(|text| text.parse::<TimeControl>().context("--tc")).transpose()?;
    pace_at(args, clock.map(|clock| clock.to_string()).as_deref(), args.concurrency)
}

/// Pace from the command line, or from past runs at a limit.
fn pace_at(args: &SimulateArgs, limit: Option<&str>, concurrency: Option<u16>) -> Result<PaceLookup> {
    Ok(match args.pairs_per_minute {
        Some(rate) if rate > 0.0 && rate.is_finite() => PaceLookup::Known(Pace::told(rate)),
        Some(rate) => bail!("--pairs-per-minute {rate}: a positive number is needed"),
        None => pace::learn(&args.results, &resolve::cpu(), limit, concurrency),
    })
}

/// Plays tests on all cores. The results do not depend on the number of cores.
fn play(args: &SimulateArgs, tests: u32, sprt: &Sprt, law: &Law, forecast: &Forecast) -> simulate::Simulation {
    // A test that would not end is cut off far beyond the 95 % quantile.
    let limit = args.max_pairs.unwrap_or_else(|| (forecast.pairs95 * 50.0) as u64 + 1_000);
    let bar = ProgressBar::new(u64::from(tests)).with_message("tests played");
    if let Ok(style) = ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {elapsed}") {
        bar.set_style(style);
    }
    let played = on_all_cores(tests, |test| {
        let played = simulate::play(sprt, law, 1, limit, 1, args.seed ^ (u64::from(test) << 32));
        bar.inc(1);
        played
    });
    bar.finish_and_clear();
    simulate::Simulation::joined(&played)
}

/// Shape of pair results from the command line.
fn shape(args: &SimulateArgs) -> Result<Law> {
    if let Some(text) = &args.ptnml {
        let counts = counts("--ptnml", "LL,LD,DD+WL,WD,WW", text)?;
        return Law::of_counts(&Pentanomial(counts)).with_context(|| format!("--ptnml {text}: no pairs in it"));
    }
    match args.draw_ratio {
        None => Ok(Law::TYPICAL),
        Some(draws) => Law::independent(draws, 0.5)
            .with_context(|| format!("--draw-ratio {draws}: give a share above 0 and below 1, as in 0.6")),
    }
}

/// Shape at a strength; an error if the shape cannot reach it.
fn leaned(shape: &Law, elo: f64, model: Model, flag: &str) -> Result<Law> {
    shape.reaching(elo, model).with_context(|| {
        format!(
            "{flag} {elo}: pairs of this shape reach from {:.0} to {:.0} Elo",
            shape.leaned(-1e9, model).elo(model),
            shape.leaned(1e9, model).elo(model)
        )
    })
}

/// Strengths of the table, from one width below the lower hypothesis to one above the upper.
fn strengths(Bounds { elo0, elo1 }: Bounds) -> Vec<f64> {
    (-4..=8).map(|quarter| elo0 + (elo1 - elo0) * f64::from(quarter) / 4.0 + 0.0).collect()
}

fn budget(text: &str, sprt: &Sprt, shape: &Law, pace: Option<&Pace>, no_pace: &str) -> Result<Budget> {
    let time = resolve::time("--budget", text)?;
    let Some(pace) = pace else { bail!("--budget: {no_pace}") };
    let pairs = time.as_secs_f64() / 60.0 * pace.pairs_per_minute;
    let within = |on_average| simulate::bounds_within(sprt, shape, pairs, on_average);
    Ok(Budget { text: text.to_owned(), pairs, sure: within(false), mean: within(true) })
}

/// JSON document; field names and order are a public contract.
#[derive(Serialize)]
struct SimulateJson {
    elo: f64,
    model: &'static str,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    shape: [f64; 5],
    max_pairs: Option<u64>,
    pass: f64,
    undecided: f64,
    pairs: f64,
    pairs_median: f64,
    pairs_95: f64,
    is_sound: bool,
    hours: Option<f64>,
    hours_95: Option<f64>,
    simulated: Option<SimulatedJson>,
    table: Vec<RowJson>,
    pairs_per_minute: Option<f64>,
    pace_tc: Option<String>,
    pace_concurrency: Option<u64>,
    pace_runs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<BudgetJson>,
}

#[derive(Serialize)]
struct SimulatedJson {
    tests: u32,
    pass: Option<f64>,
    undecided: u32,
    pairs: Option<f64>,
    pairs_median: Option<u64>,
    pairs_95: Option<u64>,
}

#[derive(Serialize)]
struct RowJson {
    elo: f64,
    pass: f64,
    undecided: f64,
    pairs: f64,
    pairs_95: f64,
    is_sound: bool,
    hours: Option<f64>,
}

#[derive(Serialize)]
struct BudgetJson {
    pairs: f64,
    elo1_95: Option<f64>,
    elo1_mean: Option<f64>,
}

impl SimulateAnswer {
    fn hours(&self, pairs: f64) -> Option<f64> {
        self.pace.as_ref().map(|pace| pace.hours(pairs))
    }

    fn json(&self) -> SimulateJson {
        let Bounds { elo0, elo1 } = self.sprt.bounds();
        let pace = self.pace.as_ref();
        SimulateJson {
            elo: self.elo,
            model: self.sprt.model().name(),
            elo0,
            elo1,
            alpha: self.sprt.alpha(),
            beta: self.sprt.beta(),
            shape: *self.shape.shares(),
            max_pairs: self.max_pairs,
            pass: self.forecast.pass,
            undecided: self.forecast.undecided,
            pairs: self.forecast.pairs,
            pairs_median: self.forecast.median,
            pairs_95: self.forecast.pairs95,
            is_sound: self.forecast.is_sound,
            hours: self.hours(self.forecast.pairs),
            hours_95: self.hours(self.forecast.pairs95),
            simulated: self.played.as_ref().map(|played| SimulatedJson {
                tests: played.runs,
                pass: played.pass(),
                undecided: played.undecided,
                pairs: played.mean_pairs(),
                pairs_median: played.quantile(0.5),
                pairs_95: played.quantile(0.95),
            }),
            table: self
                .table
                .iter()
                .map(|(elo, row)| RowJson {
                    elo: *elo,
                    pass: row.pass,
                    undecided: row.undecided,
                    pairs: row.pairs,
                    pairs_95: row.pairs95,
                    is_sound: row.is_sound,
                    hours: self.hours(row.pairs),
                })
                .collect(),
            pairs_per_minute: pace.map(|pace| pace.pairs_per_minute),
            pace_tc: pace.and_then(|pace| pace.clock.clone()),
            pace_concurrency: pace.and_then(|pace| pace.concurrency),
            pace_runs: pace.map(|pace| pace.runs),
            budget: self.budget.as_ref().map(|budget| BudgetJson {
                pairs: budget.pairs,
                elo1_95: budget.sure.map(|bounds| bounds.elo1),
                elo1_mean: budget.mean.map(|bounds| bounds.elo1),
            }),
        }
    }

    /// Text about the played tests; empty without any.
    fn played_text(&self) -> String {
        let Some(played) = &self.played else { return String::new() };
        let (Some(pass), Some(mean), Some(most)) = (played.pass(), played.mean_pairs(), played.quantile(0.95)) else {
            return String::new();
        };
        let instead = if self.forecast.is_sound { "" } else { "; these figures count, not the formula's" };
        format!(
            "\nat {}, {}: {} % passed{}, {mean:.0} pairs on average, 95 % within {most}{instead}\n",
            self.elo,
            count(played.runs.into(), "simulated test"),
            fixed(pass * 100.0, 1),
            self.without_verdict(f64::from(played.undecided) / f64::from(played.runs.max(1)))
        )
    }

    /// Share of the tests that `--max-pairs` ends before a verdict, in words; empty without it.
    fn without_verdict(&self, share: f64) -> String {
        let words = || format!(" ({} % without a verdict)", fixed(share * 100.0, 1));
        self.max_pairs.map(|_| words()).unwrap_or_default()
    }

    fn text(&self) -> String {
        let (sprt, expected) = (&self.sprt, &self.forecast);
        let unit = sprt.model().unit();
        let hours = |pairs: f64| self.hours(pairs).map_or("-".to_owned(), |hours| fixed(hours, 1));
        let limit = self.max_pairs.map(|pairs| format!(", at most {pairs} pairs")).unwrap_or_default();
        let mut out = String::new();
        let mut line = |text: String| {
            // Writing into memory cannot fail.
            let _ = writeln!(out, "{text}");
        };
        line(format!("test {} {}, alpha {}, beta {}{limit}", sprt.bounds(), sprt.model(), sprt.alpha(), sprt.beta()));
        let guess = |forecast: &Forecast| if forecast.is_sound { "" } else { "~" };
        line(format!(
            "{}at {} {unit}: passes in {} % of cases{}, {:.0} pairs on average, half within {:.0}, 95 % within {:.0}",
            guess(expected),
            self.elo,
            fixed(expected.pass * 100.0, 1),
            self.without_verdict(expected.undecided),
            expected.pairs,
            expected.median,
            expected.pairs95
        ));
        match &self.pace {
            Some(pace) => {
                let (mean, most) = (hours(expected.pairs), hours(expected.pairs95));
                line(format!("{mean} h on average, 95 % within {most} h, at {}", pace.words()));
            }
            None => line(format!("hours not known: {}", self.no_pace)),
        }
        line(String::new());
        line(format!("{unit:>8} {:>8} {:>10} {:>12} {:>8}", "pass %", "pairs", "95 % within", "hours"));
        for (elo, row) in &self.table {
            line(format!(
                "{:>8} {:>8} {:>10} {:>12.0} {:>8}",
                fixed(*elo, 2),
                fixed(row.pass * 100.0, 1),
                format!("{}{:.0}", guess(row), row.pairs),
                row.pairs95,
                hours(row.pairs)
            ));
        }
        if self.table.iter().any(|(_, row)| !row.is_sound) {
            line(ROUGH.trim_end().to_owned());
        }
        if let Some(budget) = &self.budget {
            let bounds = |bounds: Option<Bounds>| match bounds {
                Some(Bounds { elo0, elo1 }) => format!("--bounds {elo0},{elo1}"),
                None => "no bounds are wide enough".to_owned(),
            };
            line(String::new());
            line(format!(
                "{} is {:.0} pairs; bounds whose test ends by then at any strength:",
                budget.text, budget.pairs
            ));
            line(format!("  in 95 % of cases  {}", bounds(budget.sure)));
            line(format!("  on average        {}", bounds(budget.mean)));
        }
        out
    }
}
