//! Numbers of a scoreboard as text, for the screen, the summary and the plots.

use crate::plan::{Plan, Player};
use crate::stats::elo::{Elo, Estimate, fixed};
use crate::stats::estimates::{Estimates, TrialState};
use crate::stats::sensor::{self, LevelPairs};
use crate::stats::sprt::Verdict;
use crate::stats::unbiased::AdjustedEstimates;
use crate::stats::{Pentanomial, Trinomial};
use crate::tournament::scoreboard::Scoreboard;

impl TrialState {
    /// Formats `LLR +1.20 (-2.94, 2.94)`.
    #[must_use]
    pub fn line(&self) -> String {
        format!("LLR {} ({:.2}, {:.2})", signed(self.llr, 2), self.lower, self.upper)
    }
}

impl Estimates {
    /// Estimates from the counted pairs. Those after the stop need a verdict.
    #[must_use]
    pub fn of_scoreboard(scoreboard: &Scoreboard) -> Self {
        let has_verdict = scoreboard.verdict() != Verdict::Continue;
        Self::without_stop(scoreboard).with_stop(if has_verdict { scoreboard.after_stop() } else { None })
    }

    /// Estimates of an ended run, whatever stopped it.
    #[must_use]
    pub fn of_ended(scoreboard: &Scoreboard) -> Self {
        Self::without_stop(scoreboard).with_stop(scoreboard.after_stop())
    }

    /// Estimates without those after the stop. There are none of more than two players, whose
    /// strengths are ratings: those of the first two beside all pairs would mislead.
    fn without_stop(scoreboard: &Scoreboard) -> Self {
        if scoreboard.players() != 2 {
            return Self::default();
        }
        let estimates = Self::of_pairs(&scoreboard.evidence());
        match scoreboard.sprt().zip(scoreboard.llr()) {
            Some((sprt, llr)) => estimates.with_test(sprt, llr, scoreboard.verdict()),
            None => estimates,
        }
    }

    /// Formats `Elo +9.8 [-1.0, +20.1]   LOS 96.0 %, median-unbiased`.
    #[must_use]
    pub fn after_stop_line(&self) -> Option<String> {
        let AdjustedEstimates { elo, los } = self.after_stop()?;
        Some(format!("Elo {}   LOS {} %, median-unbiased", estimate(Some(elo)), fixed(los * 100.0, 1)))
    }

    /// Formats `Elo +12.3 [+1.0, +23.6]  nElo ...  LOS 98.3 %`.
    #[must_use]
    pub fn elo_line(&self) -> String {
        let los = self.los.map_or_else(|| "-".to_owned(), |los| format!("{} %", fixed(los * 100.0, 1)));
        format!("Elo {}   nElo {}   LOS {los}", estimate(self.logistic()), estimate(self.normalized()))
    }

    /// Formats `Elo +12.3 [+1.0, +23.6]`.
    #[must_use]
    pub fn elo_short(&self) -> String {
        format!("Elo {}", estimate(self.logistic()))
    }

    /// Formats `any time: Elo in [-2.0, +25.1]`.
    #[must_use]
    pub fn anytime_short(&self) -> String {
        format!("any time: {}", self.anytime_interval())
    }

    /// Formats `Elo in [-2.0, +25.1]`.
    #[must_use]
    pub fn anytime_interval(&self) -> String {
        let end = |elo: Option<Elo>| elo.map_or_else(|| "-".to_owned(), end);
        format!("Elo in [{}, {}]", end(self.elo_anytime_lo), end(self.elo_anytime_hi))
    }
}

/// Formats `level pairs: 12 of two draws, 8 of a win each; bias of the openings 85 Elo [70, 98]
/// (RMS)`; `None` without a level pair.
#[must_use]
pub fn level_line(pairs: &Pentanomial, level: LevelPairs) -> Option<String> {
    let split = format!("level pairs: {} of two draws, {} of a win each", level.drawn, level.won);
    let bias = sensor::bias(pairs, level).map(|bias| {
        let [value, lo, hi] = [bias.value, bias.lo, bias.hi].map(|end| fixed(end, 0));
        format!("; bias of the openings {value} Elo [{lo}, {hi}] (RMS)")
    });
    (pairs.0[2] > 0).then(|| split + &bias.unwrap_or_default())
}

/// Level pairs of a run of two players that is not a tuning.
#[must_use]
pub fn level_pairs(scoreboard: &Scoreboard) -> Option<LevelPairs> {
    let is_duel = scoreboard.players() == 2 && scoreboard.tuning().is_none();
    LevelPairs::of(&scoreboard.ptnml(), &scoreboard.wdl()).filter(|_| is_duel)
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
    let Some(estimate) = estimate else { return "-".to_owned() };
    match estimate.interval {
        Some((low, high)) => format!("{} [{}, {}]", end(estimate.value), end(low), end(high)),
        None => end(estimate.value),
    }
}

/// Formats `+12.3`, `inf`.
fn end(elo: Elo) -> String {
    elo.finite().map_or_else(|| elo.to_string(), |value| signed(value, 1))
}

/// A number with a sign and a fixed number of decimals. A rounded zero has no sign.
#[must_use]
pub fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if text.starts_with('-') || text.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        text
    } else {
        format!("+{text}")
    }
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

/// Formats a number with its noun: `1 pair`, `2 pairs`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
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
    use std::time::Duration;

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|number| count(number, "pair")), ["0 pairs", "1 pair", "2 pairs"]);
    }

    #[test]
    fn numbers_read_well() {
        let cases = [(0.0, "0.0"), (-0.01, "0.0"), (0.04, "0.0"), (1.25, "+1.2"), (-3.0, "-3.0")];
        for (value, expected) in cases {
            assert_eq!(signed(value, 1), expected);
        }
        let cases = [(0, "0 s"), (99, "99 s"), (100, "2 min"), (5_999, "100 min"), (12_000, "3 h 20 min")];
        for (seconds, expected) in cases {
            assert_eq!(duration(Duration::from_secs(seconds)), expected);
        }
    }
}
