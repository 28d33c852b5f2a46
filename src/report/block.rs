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
    rows.push((if plan.test.is_some() { "SPRT" } else { "Conf" }, conditions(plan, new, base)));
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

/// Formats `8+0.08 Threads=1 Hash=16MB`, and `Threads=1 vs 2` if new and base differ. A hash table
/// that no option sets is `default`, because the plan does not know its size, and is left out if
/// neither player's is set.
fn conditions(plan: &Plan, new: &Player, base: &Player) -> String {
    let of_both = |values: [String; 2]| match values {
        [new, base] if new == base => new,
        values => values.join(" vs "),
    };
    let threads = of_both([new, base].map(|player| player.option("Threads").unwrap_or("1").to_owned()));
    let sizes = [new, base].map(|player| player.option("Hash"));
    let hash = if sizes == [None; 2] {
        String::new()
    } else {
        let text = |size: Option<&str>| size.map_or_else(|| "default".to_owned(), |size| format!("{size}MB"));
        format!(" Hash={}", of_both(sizes.map(text)))
    };
    format!("{} Threads={threads}{hash}", limits(plan))
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
        for (new, base, expected) in [
            ("", "", "nodes=1 Threads=1"),
            ("hash=64 Threads=2", "Threads=2 Hash=64", "nodes=1 Threads=2 Hash=64MB"),
            ("Hash=64", "Hash=1 Threads=2", "nodes=1 Threads=1 vs 2 Hash=64MB vs 1MB"),
            ("", "Hash=1", "nodes=1 Threads=1 Hash=default vs 1MB"),
        ] {
            for (player, options) in plan.players.iter_mut().zip([new, base]) {
                let options = options.split_whitespace().filter_map(|option| option.split_once('='));
                player.options = options.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            }
            assert_eq!(conditions(&plan, &plan.players[0], &plan.players[1]), expected);
        }
        // An engine that ponders has no more threads.
        plan.rules.ponder = true;
        assert!(conditions(&plan, &plan.players[0], &plan.players[1]).contains("Threads=1 "));
        let empty = Scoreboard::new(&plan).unwrap();
        assert!(commit(&plan, &empty).unwrap().starts_with("No verdict at nodes=1:\nElo   | "));
        plan.players.pop();
        assert_eq!(block(&plan, &empty), None);
    }
}
