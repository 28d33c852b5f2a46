//! Line formats of the leading runners. Fields that scripts parse (`Games:`, `Ptnml(0-2)`, `LLR:`,
//! `Finished game`) match theirs byte for byte.
//!
//! An unknown number is `nan` and an unbounded one `inf` or `-inf`, as theirs. Parsers such as
//! `float()` and `strtod` accept both, and counts are always whole numbers. Theirs may print a sign
//! before `nan`; ours never does.

use std::cmp::Ordering;
use std::fmt::Write as _;

use super::Style;
use super::tally::Tally;
use crate::stats::Trinomial;
use crate::stats::clusters::ClusteredCounts;
use crate::stats::elo::{self, Estimate};
use crate::stats::sprt::{Sprt, Verdict};

/// Engine name and settings in the first line of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineHeading {
    /// Name of the engine.
    pub name: String,
    /// Limit: `8+0.08`, `0.1/move`, `7 plies` or `5000 nodes`.
    pub time: String,
    /// Threads, as `1t`; `NULL` for an engine without the option.
    pub threads: String,
    /// Hash, as `16MB`; `NULL` for an engine without the option.
    pub hash: String,
}

/// Name and results of a player.
pub(super) type PlayerTally<'a> = (&'a str, Tally);

/// Line before and after a block.
pub(super) const RULE: &str = "--------------------------------------------------\n";

fn decimals(value: Option<f64>, decimals: usize) -> String {
    match value {
        Some(value) if value.is_nan() => "nan".to_owned(),
        Some(value) if value.is_finite() => elo::fixed(value, decimals),
        Some(value) => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        None => "nan".to_owned(),
    }
}

fn value(estimate: Option<Estimate>, places: usize) -> String {
    estimate.map_or_else(|| "nan".to_owned(), |estimate| format!("{:.places$}", estimate.value))
}

fn error(estimate: Option<Estimate>, places: usize) -> String {
    decimals(estimate.and_then(|estimate| estimate.error()), places)
}

fn with_error(estimate: Option<Estimate>, places: usize) -> String {
    format!("{} +/- {}", value(estimate, places), error(estimate, places))
}

/// Ratio of two counts: `None` (printed `nan`) for 0/0, infinite for n/0.
fn ratio(over: u64, under: u64) -> Option<f64> {
    (over > 0 || under > 0).then(|| over as f64 / under as f64)
}

/// Estimates from pairs, or from games without `penta`.
struct Numbers {
    elo: Option<Estimate>,
    nelo: Option<Estimate>,
    los: Option<f64>,
    draws: Option<f64>,
}

impl Numbers {
    fn new(tally: &Tally, penta: bool) -> Self {
        if penta {
            let counts = &ClusteredCounts::new(tally.ptnml, tally.design_effect);
            let (elo, nelo, los) = (elo::logistic(counts), elo::normalized(counts), elo::normal_superiority(counts));
            Self { elo, nelo, los, draws: tally.ptnml.draw_ratio() }
        } else {
            let counts = &ClusteredCounts::new(tally.wdl, tally.design_effect);
            let (elo, nelo, los) = (elo::logistic(counts), elo::normalized(counts), elo::normal_superiority(counts));
            Self { elo, nelo, los, draws: tally.wdl.draw_ratio() }
        }
    }
}

fn percent(share: Option<f64>, places: usize) -> String {
    decimals(share.map(|share| share * 100.0), places)
}

/// `[LL, LD, WL+DD, WD, WW]`
fn ptnml(tally: &Tally) -> String {
    let [ll, ld, even, wd, ww] = tally.ptnml.0;
    format!("[{ll}, {ld}, {even}, {wd}, {ww}]")
}

fn both(first: &str, second: &str) -> String {
    if first == second { first.to_owned() } else { format!("{first} - {second}") }
}

/// Block of two engines, without the rules around it.
pub(super) fn results(tally: &Tally, [first, second]: [&EngineHeading; 2], book: &str, penta: bool) -> String {
    let numbers = Numbers::new(tally, penta);
    let mut text = String::new();
    let book = if book.is_empty() { String::new() } else { format!(", {book}") };
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "Results of {} vs {} ({}, {}, {}{book}):",
        first.name,
        second.name,
        both(&first.time, &second.time),
        both(&first.threads, &second.threads),
        both(&first.hash, &second.hash),
    );
    let _ = writeln!(text, "Elo: {}, nElo: {}", with_error(numbers.elo, 2), with_error(numbers.nelo, 2));
    let _ = write!(text, "LOS: {} %, DrawRatio: {} %", percent(numbers.los, 2), percent(numbers.draws, 2));
    let [ll, ld, even, wd, ww] = tally.ptnml.0;
    if penta {
        let _ = write!(text, ", PairsRatio: {}", decimals(ratio(wd + ww, ll + ld), 2));
    }
    let wdl = &tally.wdl;
    let share = points_share(wdl);
    let _ = write!(
        text,
        "\nGames: {}, Wins: {}, Losses: {}, Draws: {}, Points: {:.1} ({} %)\n",
        wdl.games(),
        wdl.wins,
        wdl.losses,
        wdl.draws,
        tally.points(),
        percent(share, 2),
    );
    if penta {
        let draws = even.saturating_sub(tally.mixed);
        let wl_dd = decimals(ratio(tally.mixed, draws), 2);
        let _ = writeln!(text, "Ptnml(0-2): {}, WL/DD Ratio: {wl_dd}", ptnml(tally));
    }
    text
}

/// Key for the order of a table: the share of points, which orders as Elo does. Engines without a
/// game come last.
fn strength(tally: &Tally) -> f64 {
    points_share(&tally.wdl).unwrap_or(-1.0)
}

/// Share of points; `None` without games.
fn points_share(games: &Trinomial) -> Option<f64> {
    (games.games() > 0).then(|| games.points() / games.games() as f64)
}

/// Table of more than two engines, the strongest first.
pub(super) fn table(players: &[PlayerTally], penta: bool, with_ptnml: bool) -> String {
    let mut rows: Vec<_> = players.iter().collect();
    rows.sort_by(|a, b| strength(&b.1).total_cmp(&strength(&a.1)));
    let width = players.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).max(25);
    let mut text = format!(
        "{:<4} {:<width$} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10} {:>10}",
        "Rank", "Name", "Elo", "+/-", "nElo", "+/-", "Games", "Score", "Draw"
    );
    text += &if with_ptnml { format!(" {:>20}\n", "Ptnml(0-2)") } else { "\n".to_owned() };
    for (rank, (name, tally)) in (1..).zip(rows) {
        let numbers = Numbers::new(tally, penta);
        let games = tally.wdl.games();
        let share = points_share(&tally.wdl);
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "{rank:>4} {name:<width$} {:>10} {:>10} {:>10} {:>10} {games:>10} {:>9}% {:>9}%",
            value(numbers.elo, 2),
            error(numbers.elo, 2),
            value(numbers.nelo, 2),
            error(numbers.nelo, 2),
            percent(share, 1),
            percent(numbers.draws, 1),
        );
        text += &match (with_ptnml, penta) {
            (true, true) => format!(" {:>20}\n", ptnml(tally)),
            (true, false) => format!(" {:>20}\n", ""),
            (false, _) => "\n".to_owned(),
        };
    }
    text
}

/// `[0.00, 5.00]`
fn bounds(sprt: &Sprt) -> String {
    let bounds = sprt.bounds();
    format!("[{}, {}]", elo::fixed(bounds.elo0, 2), elo::fixed(bounds.elo1, 2))
}

/// `LLR: 2.99 (101.5%) (-2.94, 2.94) [0.00, 30.00]`
pub(super) fn llr(sprt: &Sprt, llr: f64) -> String {
    format!(
        "LLR: {} ({}%) ({:.2}, {:.2}) {}\n",
        elo::fixed(llr, 2),
        elo::fixed(sprt.fraction(llr) * 100.0, 1),
        sprt.lower(),
        sprt.upper(),
        bounds(sprt),
    )
}

/// `SPRT ([0.00, 30.00]) completed - H1 was accepted`; `None` without a verdict.
pub(super) fn completed(sprt: &Sprt, verdict: Verdict) -> Option<String> {
    let which = hypothesis(verdict)?;
    Some(format!("SPRT ({}) completed - {which} was accepted\n", bounds(sprt)))
}

const fn hypothesis(verdict: Verdict) -> Option<&'static str> {
    match verdict {
        Verdict::AcceptH0 => Some("H0"),
        Verdict::AcceptH1 => Some("H1"),
        Verdict::Continue => None,
    }
}

/// `Score of A vs B: 5 - 3 - 2  [0.600] 10`
pub(super) fn score_of(tally: &Tally, first: &str, second: &str) -> String {
    format!("Score of {first} vs {second}: {}\n", score(&tally.wdl))
}

/// `5 - 3 - 2  [0.600] 10`
fn score(games: &Trinomial) -> String {
    let share = decimals(points_share(games), 3);
    format!("{} - {} - {}  [{share}] {}", games.wins, games.losses, games.draws, games.games())
}

/// Block of two engines of cutechess-cli: results by colour, and the Elo difference.
pub(super) fn cutechess_results(tally: &Tally, first: &str) -> String {
    let (white, black) = (&tally.white, &tally.black());
    let mut both = *white;
    both += black.reversed();
    let rows = [(format!("{first} playing White"), white), (format!("{first} playing Black"), black)];
    let rows = rows.into_iter().chain([("White vs Black".to_owned(), &both)]).filter(|(_, games)| games.games() > 0);
    let text: String = rows.map(|(what, games)| format!("...      {what}: {}\n", score(games))).collect();
    let numbers = Numbers::new(tally, false);
    text + &format!(
        "Elo difference: {}, LOS: {} %, DrawRatio: {} %\n",
        with_error(numbers.elo, 1),
        percent(numbers.los, 1),
        percent(numbers.draws, 1)
    )
}

/// Table of more than two engines of cutechess-cli, and an empty line. The first `heroes` engines
/// come first, with ranks from 0. Of engines that are level, the later one comes first.
pub(super) fn cutechess_table(players: &[PlayerTally], heroes: usize) -> String {
    let mut rows: Vec<(bool, &PlayerTally)> =
        players.iter().enumerate().map(|(place, player)| (place >= heroes, player)).rev().collect();
    rows.sort_by(|(a_plays, a), (b_plays, b)| {
        let by_strength = || if *a_plays { strength(&b.1).total_cmp(&strength(&a.1)) } else { Ordering::Equal };
        a_plays.cmp(b_plays).then_with(by_strength)
    });
    let mut text = format!(
        "{:>4} {:<25} {:>7} {:>7} {:>7} {:>7} {:>7} \n",
        "Rank", "Name", "Elo", "+/-", "Games", "Score", "Draw"
    );
    let first_rank = usize::from(heroes == 0);
    for (rank, (_, (name, tally))) in (first_rank..).zip(rows) {
        let numbers = Numbers::new(tally, false);
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "{rank:>4} {name:<25} {:>7} {:>7} {:>7} {:>6}% {:>6}% ",
            value(numbers.elo, 0),
            error(numbers.elo, 0),
            tally.wdl.games(),
            percent(points_share(&tally.wdl), 1),
            percent(numbers.draws, 1),
        );
    }
    text + "\n"
}

/// `Elo difference: 12.34 +/- 5.67, LOS: 99.00 %, DrawRatio: 40.00 %`
pub(super) fn elo_difference(tally: &Tally) -> String {
    let numbers = Numbers::new(tally, false);
    format!(
        "Elo difference: {}, LOS: {} %, DrawRatio: {} %\n",
        with_error(numbers.elo, 2),
        percent(numbers.los, 2),
        percent(numbers.draws, 2)
    )
}

/// `SPRT: llr 2.99 (101.5%), lbound -2.94, ubound 2.94 - H1 was accepted`. A negative LLR is a
/// share of the lower bound in fastchess and of the upper one in cutechess-cli.
pub(super) fn sprt(sprt: &Sprt, llr: f64, verdict: Verdict, style: Style) -> String {
    let accepted = hypothesis(verdict).map_or_else(String::new, |which| format!(" - {which} was accepted"));
    let of_lower = llr < 0.0 && style != Style::Cutechess;
    let of_bound = if of_lower { llr / sprt.lower() } else { llr / sprt.upper() };
    format!(
        "SPRT: llr {} ({}%), lbound {:.2}, ubound {:.2}{accepted}\n",
        elo::fixed(llr, 2),
        elo::fixed(of_bound * 100.0, 1),
        sprt.lower(),
        sprt.upper(),
    )
}
