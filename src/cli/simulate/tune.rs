//! `quintain simulate --tune`: forecast of a tuning, by playing its own method on landscapes with a
//! known optimum.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use super::cores::on_all_cores;
use super::{SimulateArgs, learnt};
use crate::run::pace::PaceLookup;
use crate::run::progress;
use crate::stats::elo::fixed;
use crate::tune::forecast::{BLOCK, ForecastRow, STAKE_EACH, Setting};

/// Default number of runs.
const RUNS: u32 = 50;

/// Default number of games.
const GAMES: u64 = 20_000;

const MOST_PARAMS: usize = 1_000;
const MOST_GAMES: u64 = 10_000_000;

/// Games times parameters: a run keeps a number for each parameter and block.
pub(in crate::cli) const MOST_WORK: u64 = 400_000_000;

/// True if a simulated run of the setting takes seconds and not hours.
pub(in crate::cli) const fn is_playable(setting: &Setting) -> bool {
    setting.games.saturating_mul(setting.params as u64) <= MOST_WORK
}

/// Parses a setting from the command line.
fn parse(text: &str) -> Result<Setting> {
    let (mut params, mut elo, mut games) = (None, None, None);
    for field in text.split(',') {
        let usage =
            || format!("--tune {text}: `{field}` is none of d=N, elo=X, games=N, as in d=40,elo=30,games=20000");
        let (key, value) = field.split_once('=').with_context(usage)?;
        let (key, value) = (key.trim(), value.trim());
        let is_again = match key {
            "d" => params.replace(value.parse().with_context(usage)?).is_some(),
            "elo" => elo.replace(value.parse().with_context(usage)?).is_some(),
            "games" => games.replace(value.parse().with_context(usage)?).is_some(),
            _ => bail!(usage()),
        };
        if is_again {
            bail!("--tune {text}: `{key}` is given twice; remove one");
        }
    }
    let Some(params) = params else { bail!("--tune {text}: the number of parameters is missing: add d=40") };
    let (elo, games) = (elo.unwrap_or(STAKE_EACH * params as f64), games.unwrap_or(GAMES));
    let setting = Setting { params, elo, games, block: BLOCK };
    if !(1..=MOST_PARAMS).contains(&setting.params) {
        bail!("--tune {text}: d is from 1 to {MOST_PARAMS}");
    }
    if !(setting.elo > 0.0 && setting.elo.is_finite()) {
        bail!("--tune {text}: elo is the distance of the start from the optimum, above 0");
    }
    if !(2 * u64::from(BLOCK)..=MOST_GAMES).contains(&setting.games) {
        bail!("--tune {text}: games are from {} to {MOST_GAMES}", 2 * BLOCK);
    }
    if !is_playable(&setting) {
        bail!("--tune {text}: d times games is at most {MOST_WORK}; give fewer games");
    }
    Ok(setting)
}

#[derive(Serialize)]
struct ForecastDocument {
    params: usize,
    elo: f64,
    runs: u32,
    seed: u64,
    calibration_pairs: u64,
    pairs_per_minute: Option<f64>,
    table: Vec<ForecastRow>,
}

/// Prints the forecast of a tuning to `out`.
pub(super) fn run(args: &SimulateArgs, text: &str, out: &mut impl Write) -> Result<()> {
    let setting = parse(text)?;
    let runs = args.tests.unwrap_or(RUNS);
    if runs == 0 {
        bail!("--tests 0 with --tune: a tuning has no formula, only played runs; give 1 or more, or leave --tests out");
    }
    let pace = match learnt(args)? {
        PaceLookup::Known(pace) => Some(pace.pairs_per_minute),
        PaceLookup::Unknown(_) => None,
    };
    let left = play(&setting, args.seed, runs);
    let document = ForecastDocument {
        params: setting.params,
        elo: setting.elo,
        runs,
        seed: args.seed,
        calibration_pairs: crate::tune::calibrate::blocks(setting.block, Some(setting.games / 2))
            * u64::from(setting.block),
        pairs_per_minute: pace,
        table: setting.table(&left, pace),
    };
    let text = if args.json { serde_json::to_string_pretty(&document)? + "\n" } else { document.text() };
    progress::write(out, text.as_bytes())?;
    Ok(())
}

/// Plays runs on all cores. The results do not depend on the number of cores.
pub(in crate::cli) fn play(setting: &Setting, seed: u64, runs: u32) -> Vec<Vec<f64>> {
    on_all_cores(runs, |run| setting.play(seed.wrapping_mul(1 << 32).wrapping_add(u64::from(run))))
}

impl ForecastDocument {
    fn text(&self) -> String {
        let mut out = format!(
            "{} parameters with a start {} Elo below the optimum; {} simulated runs, {} calibration pairs each\n\n{}",
            self.params,
            fixed(self.elo, 1),
            self.runs,
            self.calibration_pairs,
            rows_text(&self.table)
        );
        out.push_str(
            "\nElo left: medians; worse: runs that end below their start. The landscape is smooth and its steps are right on\n\
             average; real engines are rougher.\n",
        );
        out
    }
}

/// Table of the rows, with its heading.
pub(in crate::cli) fn rows_text(rows: &[ForecastRow]) -> String {
    let mut out = format!(
        "{:>9} {:>9} {:>9} {:>15} {:>8} {:>8}\n",
        "games", "gain", "Elo left", "80 % of runs", "worse %", "hours"
    );
    for row in rows {
        // Writing into memory cannot fail.
        let _ = writeln!(
            out,
            "{:>9} {:>9} {:>9} {:>15} {:>8} {:>8}",
            row.games,
            fixed(row.gain, 1),
            fixed(row.left, 1),
            format!("{} to {}", fixed(row.left_10, 1), fixed(row.left_90, 1)),
            fixed(row.worse * 100.0, 0),
            row.hours.map_or("-".to_owned(), |hours| fixed(hours, 1))
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked() {
        let sound = parse("d=40, elo=30,games=20000").expect("sound");
        assert_eq!(sound, Setting { params: 40, elo: 30.0, games: 20_000, block: BLOCK });
        assert_eq!(sound.rows(), [1_000, 2_000, 5_000, 10_000, 20_000]);
        assert_eq!(parse("d=10").expect("sound"), Setting { params: 10, elo: 9.0, games: 20_000, block: BLOCK });
        for (text, message) in [
            ("40", "`40` is none of d=N"),
            ("d=x", "`d=x` is none of"),
            ("d=4,e=3", "`e=3` is none of"),
            ("elo=30", "add d=40"),
            ("d=10,games=1000,d=5", "`d` is given twice; remove one"),
            ("d=0", "d is from 1 to 1000"),
            ("d=4,elo=0", "above 0"),
            ("d=4,elo=nan", "above 0"),
            ("d=4,games=8", "games are from 32"),
            ("d=41,games=10000000", "d times games is at most 400000000"),
        ] {
            let error = parse(text).map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|error| error.contains(message)), "{text}: {error:?}");
        }
    }
}
