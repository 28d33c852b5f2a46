//! Pairs per minute on this machine, learnt from the summaries of past runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::files::{MOST_DOCUMENT_BYTES, read_text};
use crate::report::stored::SUMMARY;
use crate::stats::elo::fixed;
use crate::stats::simulate::Law;
use crate::stats::{Counts as _, Pentanomial};
use crate::text::count;

/// Levels of directories that are searched.
const DEPTH: usize = 4;
/// Shortest run that counts. A shorter one mostly shows its start-up time.
const LEAST_SECONDS: f64 = 10.0;
/// Least number of pairs that show the shape of pairs.
const LEAST_PAIRS: u64 = 100;
/// Scores of the runs that show it; those of a stronger engine are too alike.
const EVEN_SCORES: std::ops::RangeInclusive<f64> = 0.35..=0.65;

/// Fields of a run's `summary.json` that show its pace.
#[derive(Deserialize)]
struct PaceSummary {
    pairs: u64,
    /// Pair results, of two players.
    #[serde(default)]
    ptnml: Option<[u64; 5]>,
    seconds: f64,
    concurrency: u64,
    /// True if `seconds` counts only from the resumption while `pairs` counts all of them.
    #[serde(default)]
    resumed: bool,
    players: Vec<SummaryPlayer>,
    machine: SummaryMachine,
    /// True if a hub's workers played, whose pace is not that of this machine.
    #[serde(default)]
    at_hub: bool,
    /// True if the games were not always `concurrency` at once.
    #[serde(default)]
    concurrency_changed: bool,
}

#[derive(Deserialize)]
struct SummaryPlayer {
    limit: String,
}

#[derive(Deserialize)]
struct SummaryMachine {
    cpu: String,
}

/// Pace of playing pairs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pace {
    pub(crate) pairs_per_minute: f64,
    /// `None` if the user gave the pace.
    pub(crate) clock: Option<String>,
    pub(crate) concurrency: Option<u64>,
    /// Number of runs that it was learnt from.
    pub(crate) runs: u64,
    /// Shape of their pairs; `None` if too few are known.
    pub(crate) shape: Option<Law>,
}

/// Result of a look at past runs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum PaceLookup {
    Known(Pace),
    /// Reason and remedy.
    Unknown(String),
}

impl Pace {
    /// Creates a pace given by the user.
    pub(crate) const fn told(pairs_per_minute: f64) -> Self {
        Self { pairs_per_minute, clock: None, concurrency: None, runs: 0, shape: None }
    }

    /// Hours that so many pairs take.
    pub(crate) fn hours(&self, pairs: f64) -> f64 {
        pairs / self.pairs_per_minute / 60.0
    }

    /// Formats the pace: `24.3 pairs a minute (8+0.08, 8 games at once, learnt from 3 runs)`.
    pub(crate) fn words(&self) -> String {
        let rate = format!("{} pairs a minute", fixed(self.pairs_per_minute, 1));
        match (&self.clock, self.concurrency) {
            (Some(clock), Some(games)) => {
                let [games, runs] = [(games, "game"), (self.runs, "run")].map(|(many, noun)| count(many, noun));
                format!("{rate} ({clock}, {games} at once, learnt from {runs})")
            }
            _ => rate,
        }
    }
}

/// Learns the pace from the runs under `root` on this processor. `clock` and `games` select runs by
/// limit and concurrency; otherwise those with most pairs count. If no run has this concurrency,
/// the pace is scaled in proportion.
pub(crate) fn learn(root: &Path, cpu: &str, clock: Option<&str>, games: Option<u16>) -> PaceLookup {
    #[derive(Clone, Copy, Default)]
    struct PaceSum {
        pairs: u64,
        /// Pair results of even runs.
        even: Pentanomial,
        minutes: f64,
        runs: u64,
    }
    let mut files = Vec::new();
    summaries(root, DEPTH, &mut files);
    let mut paces: BTreeMap<(String, u64), PaceSum> = BTreeMap::new();
    for file in files {
        // Other files, and summaries of older versions, are ignored.
        let Some(summary) =
            read_text(&file, MOST_DOCUMENT_BYTES).ok().and_then(|text| serde_json::from_str::<PaceSummary>(&text).ok())
        else {
            continue;
        };
        let Some((first, others)) = summary.players.split_first() else { continue };
        let is_one_limit = others.iter().all(|other| other.limit == first.limit);
        let is_long = summary.seconds >= LEAST_SECONDS && summary.pairs > 0 && summary.concurrency > 0;
        let is_even = !summary.resumed && !summary.concurrency_changed;
        if !is_even || summary.at_hub || !is_one_limit || !is_long || summary.machine.cpu != cpu {
            continue;
        }
        let sum = paces.entry((first.limit.clone(), summary.concurrency)).or_default();
        sum.pairs = sum.pairs.saturating_add(summary.pairs);
        sum.minutes += summary.seconds / 60.0;
        sum.runs += 1;
        let is_even = |ptnml: &Pentanomial| ptnml.score().is_some_and(|score| EVEN_SCORES.contains(&score));
        sum.even += summary.ptnml.map(Pentanomial).filter(is_even).unwrap_or_default();
    }
    let remedy = "give --pairs-per-minute";
    if paces.is_empty() {
        return PaceLookup::Unknown(format!("no run of this machine is stored under {}; {remedy}", root.display()));
    }
    let fits = |known: &str| clock.is_none_or(|clock| clock == known);
    let asked = games.map(u64::from);
    // Runs of the same concurrency come first, then those with most pairs.
    let best = paces
        .iter()
        .filter(|((known, _), _)| fits(known))
        .max_by_key(|((_, known), sum)| (asked.is_some_and(|asked| asked == *known), sum.pairs));
    let Some(((known, played), sum)) = best else {
        let clock = clock.unwrap_or_default();
        return PaceLookup::Unknown(format!(
            "no run of this machine at {clock} is stored under {}; {remedy}",
            root.display()
        ));
    };
    let concurrency = asked.unwrap_or(*played);
    let pairs_per_minute = sum.pairs as f64 / sum.minutes * concurrency as f64 / *played as f64;
    PaceLookup::Known(Pace {
        pairs_per_minute,
        clock: Some(known.clone()),
        concurrency: Some(concurrency),
        runs: sum.runs,
        shape: Law::of_counts(&sum.even).filter(|_| sum.even.pairs() >= LEAST_PAIRS),
    })
}

/// Collects all `summary.json` below `folder`, in order. Links are not followed, because they may
/// form a cycle.
fn summaries(folder: &Path, depth: usize, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    let mut entries: Vec<_> = entries.flatten().collect();
    entries.sort_by_key(std::fs::DirEntry::path);
    for entry in entries {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && depth > 0 {
            summaries(&entry.path(), depth - 1, into);
        } else if kind.is_file() && entry.file_name() == SUMMARY {
            into.push(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(root: &Path, name: &str, text: &str) {
        let dir = root.join(name);
        std::fs::create_dir_all(&dir).expect("a folder");
        std::fs::write(dir.join("summary.json"), text).expect("a file");
    }

    fn run(pairs: u64, seconds: f64, concurrency: u64, limits: [&str; 2], more: &str) -> String {
        let [new, base] = limits;
        format!(
            r#"{{"pairs":{pairs},"seconds":{seconds},"concurrency":{concurrency},"machine":{{"cpu":"x","cores":2}},{more}
            "players":[{{"limit":"{new}"}},{{"limit":"{base}"}}]}}"#
        )
    }

    #[test]
    fn the_pace_is_that_of_like_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let pace = |clock, games| match learn(root, "x", clock, games) {
            PaceLookup::Known(pace) => {
                Ok((pace.pairs_per_minute, pace.clock.unwrap_or_default(), pace.concurrency, pace.runs))
            }
            PaceLookup::Unknown(why) => Err(why),
        };
        assert!(pace(None, None).expect_err("none").starts_with("no run of this machine is stored under "));
        write(root, "a", &run(100, 600.0, 2, ["8+0.08"; 2], ""));
        write(root, "runs/b", &run(50, 600.0, 2, ["8+0.08"; 2], ""));
        write(root, "runs/c", &run(400, 600.0, 4, ["1+0.01"; 2], ""));
        // Ignored: resumed, unequal limits, too short, no pairs, another machine, no summary.
        write(root, "d", &run(9000, 60.0, 2, ["8+0.08"; 2], r#""resumed":true,"#));
        write(root, "e", &run(9000, 60.0, 2, ["8+0.08", "4+0.04"], ""));
        write(root, "f", &run(9000, 6.0, 2, ["8+0.08"; 2], ""));
        write(root, "g", &run(0, 60.0, 2, ["8+0.08"; 2], ""));
        write(root, "h", &run(9000, 60.0, 2, ["8+0.08"; 2], "").replace("\"x\"", "\"y\""));
        write(root, "i", "{\"pairs\": ");
        // A hub's workers are no measure of this machine.
        write(root, "j", &run(9000, 60.0, 1, ["8+0.08"; 2], r#""at_hub":true,"#));
        // Nor is a run whose pairs were played at two paces.
        write(root, "k", &run(9000, 60.0, 2, ["8+0.08"; 2], r#""concurrency_changed":true,"#));
        let known = |rate: f64, clock: &str, games, runs| Ok((rate, clock.to_owned(), Some(games), runs));
        assert_eq!(pace(None, None), known(40.0, "1+0.01", 4, 1));
        assert_eq!(pace(Some("8+0.08"), None), known(7.5, "8+0.08", 2, 2));
        assert_eq!(pace(Some("8+0.08"), Some(2)), known(7.5, "8+0.08", 2, 2));
        assert_eq!(pace(Some("8+0.08"), Some(8)), known(30.0, "8+0.08", 8, 2));
        assert!(pace(Some("9+0.09"), None).expect_err("none").starts_with("no run of this machine at 9+0.09 "));
    }

    #[test]
    fn pairs_vary_as_in_even_runs() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path();
        let shape = || match learn(root, "x", Some("nodes=7000"), Some(2)) {
            PaceLookup::Known(pace) => pace.shape,
            PaceLookup::Unknown(why) => panic!("{why}"),
        };
        let stored = |name: &str, ptnml: &str| {
            let more = format!(r#""ptnml":[{ptnml}],"#);
            write(root, name, &run(90, 60.0, 2, ["nodes=7000"; 2], &more));
        };
        stored("a", "10,20,30,20,10");
        assert_eq!(shape(), None, "90 pairs are too few");
        // A match of a much stronger engine, and one of many players.
        stored("b", "0,0,10,20,6000");
        write(root, "c", &run(9000, 60.0, 2, ["nodes=7000"; 2], ""));
        assert_eq!(shape(), None);
        stored("d", "30,20,10,20,30");
        assert_eq!(shape(), Law::of_counts(&Pentanomial([40, 40, 40, 40, 40])));
    }
}
