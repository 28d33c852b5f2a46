//! `quintain stats`: statistics of given counts.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context as _, Result, bail};

use crate::run::progress;
use crate::stats::clusters::ClusteredCounts;
use crate::stats::elo::{Elo, Estimate, fixed};
use crate::stats::estimates::Estimates;
use crate::stats::sprt::{Bounds, Model, Sprt, Verdict};
use crate::stats::unbiased;
use crate::stats::{Counts, Pentanomial, Trinomial};
use crate::text::count;

const EXAMPLES: &str = "\
Examples:
  quintain stats --ptnml 379,10170,21828,10640,343 --bounds 0,2
  quintain stats --wdl 36433,68692,36027 --bounds -3,1 --model logistic --json
  quintain stats --ptnml 379,10170,21828,10640,343 --bounds 0,2 --stopped

Estimates come with 95 % intervals. --stopped says that the counts are those of a test of \
--bounds that is over, with a verdict or without one, and adds the rows `after stop`: the \
median-unbiased estimate and LOS. A test stops on luck as well as on strength, which the plain \
estimates ignore (stage-wise order of outcomes; Siegmund 1978). A ratio beyond its bound is \
scaled back to the pair at which it met it. `any time` holds whenever you look: with probability \
95 % the truth is in all such intervals from the first pair on (betting; Waudby-Smith and Ramdas \
2024). LOS is the normal tail, and at most what the same number of won pairs in a row could show: \
75 % after one.

In JSON, null stands for what is infinite or not defined; `elo_unbiased, elo_unbiased_lo, \
elo_unbiased_hi, los_unbiased` are the figures after the stop, null without --stopped; \
`elo_anytime_lo, elo_anytime_hi` hold at any time.";

/// Elo, LOS and LLR of given counts, from the tested engine's view.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES, allow_negative_numbers = true)]
#[command(group = clap::ArgGroup::new("counts").required(true).args(["ptnml", "wdl"]))]
pub(super) struct StatsArgs {
    /// Pairs by the tested engine's points 0, 1/2, 1, 3/2, 2.
    #[arg(long, value_name = "LL,LD,DD+WL,WD,WW", num_args = 1..=5)]
    ptnml: Vec<String>,
    /// Games won, drawn and lost, if the pairs are not known.
    #[arg(long, value_name = "W,D,L", num_args = 1..=3)]
    wdl: Vec<String>,
    #[command(flatten)]
    test: TestArgs,
    /// The counts are those of a finished test: add the estimates after the stop.
    #[arg(long)]
    stopped: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// The test that is asked about.
#[derive(Debug, clap::Args)]
pub(super) struct TestArgs {
    /// The hypotheses in Elo of the model.
    #[arg(long, value_name = "ELO0,ELO1", default_value = "0,5", allow_hyphen_values = true)]
    bounds: String,
    /// Model that the bounds are measured in: normalized, logistic or bayesian.
    #[arg(long, value_name = "MODEL", default_value = "normalized")]
    model: String,
    /// Probability of accepting H1 if H0 is true.
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    alpha: f64,
    /// Probability of accepting H0 if H1 is true.
    #[arg(long, value_name = "P", default_value_t = 0.05)]
    beta: f64,
}

impl TestArgs {
    /// Alpha and beta.
    pub(super) fn errors(&self) -> Result<(f64, f64)> {
        let sprt = self.sprt()?;
        Ok((sprt.alpha(), sprt.beta()))
    }

    pub(super) fn sprt(&self) -> Result<Sprt> {
        let bounds = self.bounds.parse::<Bounds>().context("--bounds")?;
        let model = self.model.parse::<Model>().context("--model")?;
        Ok(Sprt::new(bounds, model, self.alpha, self.beta)?)
    }
}

/// Prints the statistics of the counts to `out`.
pub(super) fn run(args: &StatsArgs, out: &mut impl Write) -> Result<()> {
    let sprt = args.test.sprt()?;
    let given = |words: &[String]| (!words.is_empty()).then(|| joined(words));
    let answer = match (&given(&args.ptnml), &given(&args.wdl)) {
        (Some(_), _) if sprt.model() == Model::Bayesian => {
            bail!(
                "the bayesian model applies to games, not to pairs: give the counts with --wdl, or choose another --model"
            )
        }
        (Some(text), _) => {
            let counts = Pentanomial(counts("--ptnml", "LL,LD,DD+WL,WD,WW", text)?);
            StatsAnswer::new(args, &counts, &sprt, Estimates::of_pairs(&ClusteredCounts::new(counts, 1.0)))
        }
        (None, Some(text)) => {
            let [wins, draws, losses] = counts("--wdl", "W,D,L", text)?;
            let counts = Trinomial { wins, draws, losses };
            StatsAnswer::new(args, &counts, &sprt, Estimates::of_games(&ClusteredCounts::new(counts, 1.0)))
        }
        (None, None) => bail!("give counts: --ptnml LL,LD,DD+WL,WD,WW or --wdl W,D,L"),
    };
    let text = if args.json { serde_json::to_string_pretty(&answer.estimates)? + "\n" } else { answer.text(&sprt) };
    progress::write(out, text.as_bytes())?;
    Ok(())
}

/// Joins counts that are words of their own: `10 20 30` or `10, 20, 30`.
fn joined(words: &[String]) -> String {
    let last = words.len().saturating_sub(1);
    let strip = |(place, word): (usize, &String)| match word.strip_suffix(',') {
        Some(word) if place < last => word.to_owned(),
        _ => word.clone(),
    };
    words.iter().enumerate().map(strip).collect::<Vec<_>>().join(",")
}

/// Parses `N` whole numbers separated by commas.
pub(super) fn counts<const N: usize>(flag: &str, shape: &str, text: &str) -> Result<[u64; N]> {
    let words: Vec<&str> = text.split(',').map(str::trim).collect();
    let Ok(words) = <[&str; N]>::try_from(words) else {
        bail!("{flag} `{text}`: {N} counts with commas between them are needed, {shape}");
    };
    let mut numbers = [0; N];
    for (number, word) in numbers.iter_mut().zip(words) {
        *number = word.parse().ok().with_context(|| {
            format!("{flag} `{text}`: `{word}` is not a count; write whole numbers from 0, {shape}")
        })?;
    }
    Ok(numbers)
}

/// Estimates from the counts, with their unit.
struct StatsAnswer {
    /// `pairs` or `games`.
    unit: &'static str,
    samples: u64,
    estimates: Estimates,
}

impl StatsAnswer {
    /// Adds the figures of the test to the estimates from the counts.
    fn new<C: Counts>(args: &StatsArgs, counts: &C, sprt: &Sprt, estimates: Estimates) -> Self {
        let llr = sprt.llr(counts);
        let after_stop = args.stopped.then(|| unbiased::after(sprt, counts)).flatten();
        Self {
            unit: if C::GAMES_PER_SAMPLE == 2 { "pairs" } else { "games" },
            samples: counts.samples(),
            estimates: estimates.with_test(sprt, llr, sprt.verdict_at(llr)).with_stop(after_stop),
        }
    }

    fn text(&self, sprt: &Sprt) -> String {
        let of = &self.estimates;
        let percent =
            |share: Option<f64>| share.map_or("not defined".to_owned(), |share| fixed(share * 100.0, 2) + " %");
        let end = |elo: Option<Elo>| elo.map_or("-".to_owned(), |elo| elo.to_string());
        let mut out = String::new();
        let mut row = |name: &str, text: String| {
            // Writing into memory cannot fail.
            let _ = writeln!(out, "{name:<12} {text}");
        };
        let samples = count(self.samples, self.unit.trim_end_matches('s'));
        row("score", format!("{} of {samples}", percent(of.score)));
        row("Elo", estimate(of.logistic()));
        if let Some(after) = of.after_stop() {
            row("  after stop", estimate(Some(after.elo)));
        }
        row("  any time", format!("[{}, {}]", end(of.elo_anytime_lo), end(of.elo_anytime_hi)));
        row("nElo", estimate(of.normalized()));
        row("LOS", percent(of.los));
        if let Some(after) = of.after_stop() {
            row("  after stop", percent(Some(after.los)));
        }
        if self.unit == "pairs" {
            row("level pairs", percent(of.draw_ratio));
            row(
                "pairs ratio",
                of.pairs_ratio.map_or("not defined".to_owned(), |ratio| fixed(ratio, 3) + " won for one lost"),
            );
        } else {
            row("draws", percent(of.draw_ratio));
        }
        let verdict = match of.verdict.unwrap_or(Verdict::Continue) {
            Verdict::AcceptH0 => "H0 accepted",
            Verdict::AcceptH1 => "H1 accepted",
            Verdict::Continue => "no verdict yet",
        };
        if let Some(trial) = of.trial() {
            row(
                "LLR",
                format!(
                    "{} ({} %) within ({}, {}): {verdict}",
                    fixed(trial.llr, 2),
                    fixed(sprt.fraction(trial.llr) * 100.0, 1),
                    fixed(trial.lower, 2),
                    fixed(trial.upper, 2),
                ),
            );
        }
        row("test", format!("{} {} Elo, alpha {}, beta {}", sprt.bounds(), sprt.model(), sprt.alpha(), sprt.beta()));
        out
    }
}

/// Estimate with its interval, as text.
fn estimate(estimate: Option<Estimate>) -> String {
    match estimate {
        None => "not defined".to_owned(),
        Some(Estimate { value, interval: None }) => format!("{value}, interval not defined"),
        Some(Estimate { value, interval: Some((low, high)) }) => format!("{value} [{low}, {high}]"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: StatsArgs,
    }

    fn output(line: &str) -> Result<String, String> {
        let words = std::iter::once("stats").chain(line.split_whitespace());
        let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        let mut out = Vec::new();
        run(&line.args, &mut out).map_err(|error| format!("{error:#}"))?;
        Ok(String::from_utf8(out).expect("text"))
    }

    fn json(line: &str) -> serde_json::Value {
        serde_json::from_str(&output(&format!("{line} --json")).expect(line)).expect("JSON")
    }

    const KEYS: [&str; 20] = [
        "score",
        "elo",
        "elo_lo",
        "elo_hi",
        "nelo",
        "nelo_lo",
        "nelo_hi",
        "los",
        "llr",
        "llr_lower",
        "llr_upper",
        "verdict",
        "draw_ratio",
        "pairs_ratio",
        "elo_unbiased",
        "elo_unbiased_lo",
        "elo_unbiased_hi",
        "elo_anytime_lo",
        "elo_anytime_hi",
        "los_unbiased",
    ];

    #[test]
    fn the_document_has_its_keys_in_order() {
        assert_eq!(json("--wdl 10 20 30 --bounds 0,5"), json("--wdl 10,20,30 --bounds 0,5"));
        assert_eq!(json("--ptnml 1, 2, 3, 4, 5"), json("--ptnml 1,2,3,4,5"));
        for line in ["--ptnml 1,2,3,4,5", "--wdl 0,0,0"] {
            let text = output(&format!("{line} --json")).expect(line);
            let places: Vec<_> = KEYS.iter().map(|key| text.find(&format!("\"{key}\":"))).collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
            assert_eq!(text.matches(':').count(), KEYS.len(), "{text}");
        }
    }

    #[test]
    fn figures_of_known_counts() {
        let near = |value: &serde_json::Value, expected: f64, what: &str| {
            let value = value.as_f64().expect(what);
            assert!((value - expected).abs() < 0.006, "{what}: {value}, not {expected}");
        };
        let doc = json("--ptnml 379,10170,21828,10640,343 --bounds 0,2");
        for (key, value) in
            [("llr", 2.95), ("nelo", 3.05), ("elo", 1.59), ("elo_lo", 0.38), ("elo_hi", 2.80), ("nelo_hi", 5.36)]
        {
            near(&doc[key], value, key);
        }
        assert_eq!(doc["verdict"], "H1");
        near(&json("--wdl 36433,68692,36027 --bounds 0,2")["llr"], 0.92, "normalized");
        near(&json("--wdl 21404,40708,21184 --bounds 0.5,2.5 --model logistic")["llr"], -1.57, "logistic");
        near(&json("--wdl 68965,128429,68526 --bounds 0,2 --model bayesian")["llr"], -1.26, "bayesian");
        near(&json("--wdl 10871,20431,10650 --bounds -1.75,0.25")["llr"], 2.30, "negative bounds");
    }

    #[test]
    fn null_where_nothing_is_defined() {
        let table: [(&str, &[&str]); 5] = [
            (
                "--ptnml 0,0,0,0,0",
                &["score", "elo", "elo_lo", "elo_hi", "nelo", "nelo_lo", "nelo_hi", "los", "draw_ratio", "pairs_ratio"],
            ),
            ("--ptnml 0,0,500,0,0", &["elo_lo", "elo_hi", "nelo", "nelo_lo", "nelo_hi", "los", "pairs_ratio"]),
            ("--wdl 100,0,0", &["elo", "elo_lo", "elo_hi", "nelo", "nelo_lo", "nelo_hi", "pairs_ratio"]),
            ("--ptnml 0,0,0,1,30", &["elo_hi", "pairs_ratio"]),
            ("--ptnml 1,1,1,1,1", &[]),
        ];
        for (line, nulls) in table {
            let doc = json(line);
            let found: Vec<&str> = KEYS[..14].iter().copied().filter(|key| doc[*key].is_null()).collect();
            assert_eq!(found, nulls, "{line}: {doc}");
            let text = output(line).expect(line).to_lowercase();
            assert!(!text.contains("nan") && !text.contains("-0.00") && !text.contains("-0 "), "{text}");
        }
    }

    #[test]
    fn only_a_test_has_figures_after_the_stop() {
        // Beyond a bound, at one, between both; the counts of a match of fixed length first.
        for counts in ["60,4100,10000,5700,140", "379,10170,21828,10640,343", "34,54,63,64,45"] {
            let line = format!("--ptnml {counts} --bounds 0,2");
            let (bare, stopped) = (json(&line), json(&format!("{line} --stopped")));
            for key in ["elo_unbiased", "elo_unbiased_lo", "elo_unbiased_hi", "los_unbiased"] {
                assert!(bare[key].is_null() && stopped[key].is_number(), "{counts} {key}: {bare} {stopped}");
            }
            assert!(!output(&line).expect("sound").contains("after stop"), "{counts}");
        }
    }

    #[test]
    fn for_people() {
        let text = output("--ptnml 379,10170,21828,10640,343 --bounds 0,2").expect("sound");
        let expected = "\
score        50.23 % of 43360 pairs
Elo          1.59 [0.39, 2.80]
nElo         3.05 [0.74, 5.36]
LOS          99.51 %
level pairs  50.34 %
pairs ratio  1.041 won for one lost
LLR          2.95 (100.0 %) within (-2.94, 2.94): H1 accepted
test         [0, 2] normalized Elo, alpha 0.05, beta 0.05
";
        let (later, first): (Vec<&str>, Vec<&str>) = text.lines().partition(|line| line.starts_with("  "));
        assert_eq!(first.join("\n") + "\n", expected);
        assert!(later.len() == 1 && later[0].starts_with("  any time"), "{text}");
        let text = output("--ptnml 379,10170,21828,10640,343 --bounds 0,2 --stopped").expect("sound");
        assert_eq!(text.matches("  after stop").count(), 2, "{text}");
        let text = output("--wdl 100,0,0").expect("sound");
        assert!(text.contains("Elo          inf, interval not defined\n"), "{text}");
    }

    #[test]
    fn what_is_wrong_is_said_in_one_line() {
        let table = [
            ("--ptnml 1,2,3 ", "--ptnml `1,2,3`: 5 counts with commas between them are needed, LL,LD,DD+WL,WD,WW"),
            ("--wdl 1,,2,3", "--wdl `1,,2,3`: 3 counts with commas between them are needed, W,D,L"),
            ("--wdl 1,, 3", "--wdl `1,,3`: `` is not a count; write whole numbers from 0, W,D,L"),
            ("--wdl 1,-2,3", "--wdl `1,-2,3`: `-2` is not a count; write whole numbers from 0, W,D,L"),
            ("--wdl 1,2,3 --bounds 5,0", "bounds 5,0: elo0 must be below elo1, write 0,5"),
            ("--wdl 1,2,3 --bounds 5", "--bounds: `5` are not bounds: write elo0,elo1 as in 0,5"),
            ("--wdl 1,2,3 --model x", "--model: unknown model `x`: use normalized, logistic or bayesian"),
            ("--wdl 1,2,3 --alpha -1", "alpha is -1: it must be more than 0 and less than 1, as in 0.05"),
            ("--wdl 1,2,3 --alpha 0.6 --beta 0.5", "alpha 0.6 and beta 0.5 add up to 1 or more: lower one of them"),
            (
                "--ptnml 1,2,3,4,5 --model bayesian",
                "the bayesian model applies to games, not to pairs: give the counts with --wdl, or choose another --model",
            ),
        ];
        for (line, message) in table {
            assert_eq!(output(line), Err(message.to_owned()));
        }
        for line in ["", "--wdl 1,2,3 --ptnml 1,2,3,4,5", "--wdl 1,2,3 --alpha x"] {
            assert!(output(line).is_err(), "{line}");
        }
    }
}
