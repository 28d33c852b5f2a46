//! `quintain simulate --tune`: what a tuning will gain, by playing its own method on landscapes of
//! known optimum.

use std::fmt::Write as _;
use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use super::{SimulateArgs, learnt, print};
use crate::run::pace::Learnt;
use crate::stats::elo::fixed;
use crate::tune::auto::Rule;
use crate::tune::landscape::Landscape;

/// Runs played if nothing else is asked for.
const RUNS: u32 = 50;

/// Elo at stake per parameter if nothing else is asked for: that of first tunings.
const STAKE_EACH: f64 = 0.9;

/// Games if nothing else is asked for.
const GAMES: u64 = 20_000;

/// Pairs in a block: what a few games at once use.
const BLOCK: u32 = 16;

/// Games of the table's rows before the last: 1, 2 and 5 times each power of ten from a thousand.
const FIRST_ROW: u64 = 1_000;

const MOST_PARAMS: usize = 1_000;
const MOST_GAMES: u64 = 10_000_000;

/// A tuning to play: parameters, Elo that the start lies below the optimum, games.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Setting {
    params: usize,
    elo: f64,
    games: u64,
}

impl Setting {
    fn parse(text: &str) -> Result<Self> {
        let (mut params, mut elo, mut games) = (None, None, None);
        for field in text.split(',') {
            let usage =
                || format!("--tune {text}: `{field}` is none of d=N, elo=X, games=N, as in d=40,elo=30,games=20000");
            let (key, value) = field.split_once('=').with_context(usage)?;
            match key.trim() {
                "d" => params = Some(value.trim().parse().with_context(usage)?),
                "elo" => elo = Some(value.trim().parse().with_context(usage)?),
                "games" => games = Some(value.trim().parse().with_context(usage)?),
                _ => bail!(usage()),
            }
        }
        let Some(params) = params else { bail!("--tune {text}: the number of parameters is missing: add d=40") };
        let setting = Self { params, elo: elo.unwrap_or(STAKE_EACH * params as f64), games: games.unwrap_or(GAMES) };
        if !(1..=MOST_PARAMS).contains(&setting.params) {
            bail!("--tune {text}: d is from 1 to {MOST_PARAMS}");
        }
        if !(setting.elo > 0.0 && setting.elo.is_finite()) {
            bail!("--tune {text}: elo is what the start lies below the optimum, above 0");
        }
        if !(2 * u64::from(BLOCK)..=MOST_GAMES).contains(&setting.games) {
            bail!("--tune {text}: games are from {} to {MOST_GAMES}", 2 * BLOCK);
        }
        Ok(setting)
    }

    /// Games after which a run is looked at.
    fn rows(&self) -> Vec<u64> {
        let decades = std::iter::successors(Some(FIRST_ROW), |decade| decade.checked_mul(10));
        let below = decades.flat_map(|decade| [1, 2, 5].map(|times| times * decade));
        let mut rows: Vec<u64> = below.take_while(|games| *games < self.games).collect();
        rows.push(self.games);
        rows
    }

    /// Elo left after the games of each row in the run of a seed.
    fn play(&self, seed: u64) -> Vec<f64> {
        let landscape = Landscape::new(self.params, 1.0, seed).with_stake(self.elo);
        let Some(space) = landscape.space() else { return Vec::new() };
        let pairs = self.games / 2;
        let rows = self.rows();
        let mut left = Vec::with_capacity(rows.len());
        let run = landscape.tune(Rule::new(space, seed, BLOCK, Some(pairs)), pairs, |run| {
            while rows.get(left.len()).is_some_and(|games| run.pairs() * 2 >= *games) {
                left.push(landscape.loss(run.mean()));
            }
        });
        // The last pairs may be no whole block.
        left.resize_with(rows.len(), || landscape.loss(run.mean()));
        left
    }
}

/// A row of the table: names and order are the contract.
#[derive(Debug, Serialize)]
struct Row {
    games: u64,
    left: f64,
    left_10: f64,
    left_90: f64,
    gain: f64,
    worse: f64,
    hours: Option<f64>,
}

#[derive(Serialize)]
struct Document {
    params: usize,
    elo: f64,
    runs: u32,
    seed: u64,
    calibration_pairs: u64,
    pairs_per_minute: Option<f64>,
    table: Vec<Row>,
}

/// Prints what to expect of a tuning to `out`.
pub(super) fn run(args: &SimulateArgs, text: &str, out: &mut impl Write) -> Result<()> {
    let setting = Setting::parse(text)?;
    let runs = args.tests.unwrap_or(RUNS).max(1);
    let pace = match learnt(args)? {
        Learnt::Known(pace) => Some(pace.pairs_per_minute),
        Learnt::Unknown(_) => None,
    };
    let left = play(&setting, args.seed, runs);
    let table = setting.rows().into_iter().enumerate().map(|(index, games)| {
        let mut left: Vec<f64> = left.iter().filter_map(|run| run.get(index).copied()).collect();
        left.sort_by(f64::total_cmp);
        let quantile = |share: f64| left.get((left.len() as f64 * share) as usize).copied().unwrap_or(setting.elo);
        Row {
            games,
            left: quantile(0.5),
            left_10: quantile(0.1),
            left_90: quantile(0.9),
            gain: setting.elo - quantile(0.5),
            worse: left.iter().filter(|left| **left > setting.elo).count() as f64 / left.len().max(1) as f64,
            hours: pace.map(|pace| games as f64 / 2.0 / pace / 60.0),
        }
    });
    let document = Document {
        params: setting.params,
        elo: setting.elo,
        runs,
        seed: args.seed,
        calibration_pairs: crate::tune::calibrate::blocks(BLOCK, Some(setting.games / 2)) * u64::from(BLOCK),
        pairs_per_minute: pace,
        table: table.collect(),
    };
    let text = if args.json { serde_json::to_string_pretty(&document)? + "\n" } else { document.text() };
    print(out, &text).map(|_| ())
}

/// Runs on all processors, the same whatever their number.
fn play(setting: &Setting, seed: u64, runs: u32) -> Vec<Vec<f64>> {
    let lanes = std::thread::available_parallelism().map_or(1, usize::from).min(64);
    let next = AtomicU64::new(0);
    let lane = || {
        let mut played = Vec::new();
        loop {
            let run = next.fetch_add(1, Ordering::Relaxed);
            if run >= u64::from(runs) {
                return played;
            }
            played.push(setting.play(seed.wrapping_mul(1 << 32).wrapping_add(run)));
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    })
}

impl Document {
    fn text(&self) -> String {
        let mut out = format!(
            "{} parameters whose start lies {} Elo below the optimum; {} runs played by chance, {} calibration pairs each\n\n\
             {:>9} {:>9} {:>9} {:>15} {:>8} {:>8}\n",
            self.params,
            fixed(self.elo, 1),
            self.runs,
            self.calibration_pairs,
            "games",
            "gain",
            "Elo left",
            "80 % of runs",
            "worse %",
            "hours"
        );
        for row in &self.table {
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
        out.push_str(
            "\nElo left: medians; worse: runs that end below their start. The landscape is smooth and its steps are right on\n\
             average; real engines are rougher.\n",
        );
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_checked() {
        let sound = Setting::parse("d=40, elo=30,games=20000").expect("sound");
        assert_eq!(sound, Setting { params: 40, elo: 30.0, games: 20_000 });
        assert_eq!(sound.rows(), [1_000, 2_000, 5_000, 10_000, 20_000]);
        assert_eq!(Setting::parse("d=10").expect("sound"), Setting { params: 10, elo: 9.0, games: 20_000 });
        for (text, message) in [
            ("40", "`40` is none of d=N"),
            ("d=x", "`d=x` is none of"),
            ("d=4,e=3", "`e=3` is none of"),
            ("elo=30", "add d=40"),
            ("d=0", "d is from 1 to 1000"),
            ("d=4,elo=0", "above 0"),
            ("d=4,elo=nan", "above 0"),
            ("d=4,games=8", "games are from 32"),
        ] {
            let error = Setting::parse(text).map_err(|error| error.to_string());
            assert!(error.as_ref().is_err_and(|error| error.contains(message)), "{text}: {error:?}");
        }
    }
}
