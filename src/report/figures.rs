//! Numbers of a scoreboard as text, for the screen, the summary and the plots.

use crate::plan::{Plan, Player, Workers};
use crate::stats::clusters::ClusteredCounts;
pub use crate::stats::elo::signed;
use crate::stats::elo::{Estimate, fixed};
use crate::stats::estimates::Estimates;
use crate::stats::sensor::{self, LevelPairs};
use crate::stats::sprt::Verdict;
use crate::stats::{Pentanomial, Trinomial};
use crate::text::count;
use crate::tournament::events::StopReason;
use crate::tournament::scoreboard::Scoreboard;

impl Scoreboard {
    /// Estimates from the counted pairs. Those after the stop need a verdict.
    #[must_use]
    pub fn estimates(&self) -> Estimates {
        let has_verdict = self.verdict() != Verdict::Continue;
        without_stop(self).with_stop(if has_verdict { self.after_stop() } else { None })
    }

    /// Estimates of an ended run. Those after the stop hold only if results had no other part in it
    /// than the test's: who interrupts a run may have looked at them.
    #[must_use]
    pub fn final_estimates(&self, reason: &StopReason) -> Estimates {
        if *reason == StopReason::Interrupted {
            self.estimates()
        } else {
            without_stop(self).with_stop(self.after_stop())
        }
    }
}

/// Estimates without those after the stop. There are none of more than two players, whose strengths
/// are ratings: those of the first two beside all pairs would mislead.
fn without_stop(scoreboard: &Scoreboard) -> Estimates {
    if scoreboard.players() != 2 {
        return Estimates::default();
    }
    let estimates = Estimates::of_pairs(&scoreboard.evidence());
    match scoreboard.sprt().zip(scoreboard.llr()) {
        Some((sprt, llr)) => estimates.with_test(sprt, llr, scoreboard.verdict()),
        None => estimates,
    }
}

/// Formats `level pairs: 12 of two draws, 8 of a win each; bias of the openings 85 Elo [70, 98]
/// (RMS)`; `None` without a level pair.
#[must_use]
pub fn level_line(pairs: &ClusteredCounts<Pentanomial>, level: LevelPairs) -> Option<String> {
    let split = format!("level pairs: {} of two draws, {} of a win each", level.drawn, level.won);
    let bias = sensor::bias(pairs, level).map(|bias| {
        let [value, lo, hi] = [bias.value, bias.lo, bias.hi].map(|end| fixed(end, 0));
        format!("; bias of the openings {value} Elo [{lo}, {hi}] (RMS)")
    });
    (pairs.counts().0[2] > 0).then(|| split + &bias.unwrap_or_default())
}

/// Level pairs of a run of two players that is not a tuning and plays both games of a pair from one
/// opening, with colours reversed.
#[must_use]
pub fn level_pairs(scoreboard: &Scoreboard) -> Option<LevelPairs> {
    let is_duel = scoreboard.players() == 2 && scoreboard.tuning().is_none();
    let is_told = is_duel && scoreboard.reverses_openings();
    LevelPairs::of(&scoreboard.ptnml(), &scoreboard.wdl()).filter(|_| is_told)
}

/// Formats `[0, 4, 10, 5, 1]`.
#[must_use]
pub fn ptnml(pairs: &Pentanomial) -> String {
    format!("{:?}", pairs.0)
}

/// Formats `+12 =20 -8`.
#[must_use]
pub fn wdl(games: &Trinomial) -> String {
    format!("+{} ={} -{}", games.wins, games.draws, games.losses)
}

/// Formats `+12.3 [+1.0, +23.6]`, or `-` without an estimate.
#[must_use]
pub fn estimate(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(|| "-".to_owned(), |estimate| estimate.to_string())
}

/// Formats `45 s`, `12 min`, `3 h 20 min`.
#[must_use]
pub fn duration(time: std::time::Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..100 => format!("{seconds} s"),
        100..6_000 => format!("{} min", (seconds + 30) / 60),
        _ => {
            let minutes = (seconds + 30) / 60;
            format!("{} h {} min", minutes / 60, minutes % 60)
        }
    }
}

/// Text on pairs that repeat others; `None` if none do.
pub(super) fn repeats(pairs: u64) -> Option<String> {
    match pairs {
        0 => None,
        1 => Some("1 pair repeats a counted one move for move and does not count".to_owned()),
        _ => Some(format!("{pairs} pairs repeat counted ones move for move and do not count")),
    }
}

/// Number of concurrent games in words. A run at a hub is played by whoever comes.
#[must_use]
pub fn games_at_once(plan: &Plan) -> String {
    match &plan.workers {
        Some(Workers::Hub(_)) => "by the workers of a hub".to_owned(),
        _ => format!("{} at once", count(u64::from(plan.concurrency), "game")),
    }
}

/// Limits of the players in words.
#[must_use]
pub fn limits(plan: &Plan) -> String {
    match plan.players.as_slice() {
        [new, base] if new.limit != base.limit => format!("{} against {}", new.limit, base.limit),
        [Player { limit, .. }, others @ ..] if others.iter().all(|other| other.limit == *limit) => limit.to_string(),
        _ => "limits of their own".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::file;
    use crate::record::Leg;
    use crate::tournament::scoreboard::tests::game;
    use std::time::Duration;

    #[test]
    fn only_an_opening_with_colours_reversed_shows_its_bias() {
        let mut plan = file::from_toml(include_str!("html/tests/plan.toml")).expect("a plan");
        let level = |plan: &Plan| level_pairs(&Scoreboard::new(plan).expect("a sound test"));
        assert!(level(&plan).is_some());
        plan.opening_per_game = true;
        assert_eq!(level(&plan), None);
        (plan.opening_per_game, plan.colors.swap) = (false, false);
        assert_eq!(level(&plan), None);
    }

    /// A stop by hand may depend on the results, so that an estimate which allows for the test's
    /// own stop would be biased.
    #[test]
    fn an_interrupted_test_has_no_estimate_after_the_stop() {
        let plan = file::from_toml(include_str!("html/tests/plan.toml")).expect("a plan");
        let mut scoreboard = Scoreboard::new(&plan).expect("a sound test");
        for pair in 0..4 {
            for (leg, half_points) in [(Leg::First, 2), (Leg::Second, 1)] {
                scoreboard.record(game(pair, leg, half_points), |_, _| {});
            }
        }
        let has = |reason: StopReason| scoreboard.final_estimates(&reason).after_stop_line().is_some();
        assert!(has(StopReason::OutOfPairs) && has(StopReason::OutOfTime));
        assert!(!has(StopReason::Interrupted));
    }

    #[test]
    fn one_pair_repeats_and_two_repeat() {
        let begins = |pairs, text: &str| repeats(pairs).is_some_and(|words| words.starts_with(text));
        assert!(repeats(0).is_none() && begins(1, "1 pair repeats a") && begins(2, "2 pairs repeat counted"));
    }

    #[test]
    fn numbers_read_well() {
        let cases = [(0, "0 s"), (99, "99 s"), (100, "2 min"), (5_999, "100 min"), (12_000, "3 h 20 min")];
        for (seconds, expected) in cases {
            assert_eq!(duration(Duration::from_secs(seconds)), expected);
        }
    }
}
