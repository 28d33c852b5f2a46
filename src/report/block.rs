//! The result of a test in the few lines that authors paste into pull requests and commits.
//!
//! The form is that of OpenBench, which readers of engine repositories know by heart. Two things
//! keep it honest: the bounds name their scale, and a test that stopped by itself has the estimate
//! after the stop.

use crate::plan::{Plan, Player};
use crate::report::figures::{estimate, limits, ptnml};
use crate::stats::Trinomial;
use crate::stats::elo::{Estimate, fixed};
use crate::stats::sprt::Verdict;
use crate::tournament::scoreboard::Scoreboard;

/// Lines of the block, each with its newline.
///
/// `None` unless two players play each other: the sides of a tuning are values that are tried.
#[must_use]
pub fn block(plan: &Plan, scoreboard: &Scoreboard) -> Option<String> {
    let [new, base] = plan.players.as_slice() else { return None };
    if scoreboard.tuning().is_some() {
        return None;
    }
    let estimates = scoreboard.estimates();
    let mut rows = vec![("Elo", plus_minus(estimates.logistic()))];
    if let Some(after) = estimates.after_stop() {
        rows.push(("Stop", format!("{} (95%, median-unbiased after the stop)", estimate(Some(after.elo)))));
    }
    rows.push((if plan.test.is_some() { "SPRT" } else { "Conf" }, conditions(plan, new)));
    if let (Some(test), Some(trial)) = (&plan.test, estimates.trial()) {
        let bounds = format!("[{:.2}, {:.2}] {}", test.bounds.elo0, test.bounds.elo1, test.model);
        rows.push(("LLR", format!("{} ({:.2}, {:.2}) {bounds}", fixed(trial.llr, 2), trial.lower, trial.upper)));
    }
    let network = |player: &Player| player.origin.network.as_ref().map_or("its own".to_owned(), ToString::to_string);
    if plan.players.iter().any(|player| player.origin.network.is_some()) {
        rows.push(("Net", format!("{} against {}", network(new), network(base))));
    }
    let Trinomial { wins, draws, losses } = scoreboard.wdl();
    rows.push(("Games", format!("N: {} W: {wins} L: {losses} D: {draws}", wins + draws + losses)));
    rows.push(("Penta", ptnml(&scoreboard.ptnml())));
    Some(rows.into_iter().map(|(name, text)| format!("{name:<5} | {text}\n")).collect())
}

/// Text for the message of the commit that was tested: a line with the verdict, the block, and the
/// count of nodes of its bench if that is known.
#[must_use]
pub fn commit(plan: &Plan, scoreboard: &Scoreboard) -> Option<String> {
    let block = block(plan, scoreboard)?;
    let verdict = match scoreboard.verdict() {
        Verdict::AcceptH1 => "Passed",
        Verdict::AcceptH0 => "Failed",
        Verdict::Continue if plan.test.is_some() => "No verdict",
        Verdict::Continue => "Played",
    };
    let bench = plan.players.first().and_then(|new| new.origin.bench_nodes);
    let bench = bench.map_or_else(String::new, |nodes| format!("\nBench: {nodes}\n"));
    Some(format!("{verdict} at {}:\n{block}{bench}", limits(plan)))
}

/// Formats `7.79 +- 4.47 (95%)`; an interval without ends or that is not symmetric keeps its ends.
fn plus_minus(elo: Option<Estimate>) -> String {
    let finite = elo.and_then(|elo| {
        let (low, high) = elo.interval?;
        Some((elo.value.finite()?, low.finite()?, high.finite()?))
    });
    match finite {
        Some((value, low, high)) => format!("{} +- {} (95%)", fixed(value, 2), fixed((high - low) / 2.0, 2)),
        None => estimate(elo),
    }
}

/// Formats `8+0.08 Threads=1 Hash=16MB`; a hash table that no option sets is left out.
fn conditions(plan: &Plan, new: &Player) -> String {
    let hash = new.option("Hash").map_or_else(String::new, |megabytes| format!(" Hash={megabytes}MB"));
    format!("{} Threads={}{hash}", limits(plan), plan.threads())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::file;
    use crate::stats::elo::Elo;

    #[test]
    fn an_interval_without_ends_is_not_halved() {
        let elo = |value: f64| if value.is_finite() { Elo::Finite(value) } else { Elo::MinusInfinity };
        for (interval, expected) in [
            (Some((3.25, 12.5)), "7.50 +- 4.62 (95%)"),
            (Some((f64::NEG_INFINITY, 12.5)), "+7.5 [-inf, +12.5]"),
            (None, "+7.5"),
        ] {
            let interval = interval.map(|(low, high)| (elo(low), elo(high)));
            assert_eq!(plus_minus(Some(Estimate { value: elo(7.5), interval })), expected);
        }
        assert_eq!(plus_minus(None), "-");
    }

    #[test]
    fn conditions_have_what_the_plan_sets() {
        let mut plan = file::from_toml(include_str!("../../tests/it/fixtures/v1/plan.toml")).unwrap();
        assert_eq!(conditions(&plan, &plan.players[0]), "nodes=1 Threads=1");
        plan.players[0].options = vec![("hash".to_owned(), "64".to_owned()), ("Threads".to_owned(), "2".to_owned())];
        assert_eq!(conditions(&plan, &plan.players[0]), "nodes=1 Threads=2 Hash=64MB");
        let empty = Scoreboard::new(&plan).unwrap();
        assert!(commit(&plan, &empty).unwrap().starts_with("No verdict at nodes=1:\nElo   | "));
        plan.players.pop();
        assert_eq!(block(&plan, &empty), None);
    }
}
