//! The numbers of a standing, once, for the screen, the summary and the pictures.

use crate::plan::{Plan, Player};
use crate::stats::elo::{self, Elo, Estimate, fixed};
use crate::stats::sprt::Verdict;
use crate::stats::unbiased::AfterStop;
use crate::stats::{Counts, Pentanomial, Trinomial, sequence};
use crate::tournament::standing::Standing;

/// What a standing says of the first player against the second. 95 % intervals.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    /// Points a game, 0 to 1; `None` before the first pair.
    pub score: Option<f64>,
    /// Logistic Elo of the pairs.
    pub elo: Option<Estimate>,
    /// What a test says that has a verdict or is over without one; `None` while it goes on, and without a test.
    pub after_stop: Option<AfterStop>,
    /// Logistic Elo that holds at any moment that it is read.
    pub anytime: (Elo, Elo),
    /// Normalized Elo of the pairs.
    pub nelo: Option<Estimate>,
    /// Probability that `new` is the stronger one.
    pub los: Option<f64>,
    /// Where the test stands, if one is run.
    pub trial: Option<Trial>,
    /// Pairs by points.
    pub ptnml: Pentanomial,
    /// Games by result.
    pub wdl: Trinomial,
}

/// Where a test stands.
#[derive(Clone, Copy, Debug)]
pub struct Trial {
    /// Log-likelihood ratio.
    pub llr: f64,
    /// H0 is accepted at or below it.
    pub lower: f64,
    /// H1 is accepted at or above it.
    pub upper: f64,
}

impl Trial {
    /// `LLR +1.20 (-2.94, 2.94)`
    #[must_use]
    pub fn line(&self) -> String {
        format!("LLR {} ({:.2}, {:.2})", signed(self.llr, 2), self.lower, self.upper)
    }
}

impl Figures {
    /// The figures of what counts so far.
    #[must_use]
    pub fn of(standing: &Standing) -> Self {
        let (ptnml, evidence) = (standing.ptnml(), standing.evidence());
        Self {
            score: ptnml.score(),
            elo: elo::logistic(&evidence),
            after_stop: if standing.verdict() == Verdict::Continue { None } else { standing.after_stop() },
            anytime: sequence::elo(&evidence),
            nelo: elo::normalized(&evidence),
            los: elo::superiority(&evidence),
            trial: standing.sprt().zip(standing.llr()).map(|(sprt, llr)| Trial {
                llr,
                lower: sprt.lower(),
                upper: sprt.upper(),
            }),
            ptnml,
            wdl: standing.wdl(),
        }
    }

    /// The figures of a run that is over, whatever stopped it.
    #[must_use]
    pub fn of_ended(standing: &Standing) -> Self {
        Self { after_stop: standing.after_stop(), ..Self::of(standing) }
    }

    /// `Elo +9.8 [-1.0, +20.1]   LOS 96.0 %, median-unbiased`
    #[must_use]
    pub fn after_stop_line(&self) -> Option<String> {
        let AfterStop { elo, los } = self.after_stop?;
        Some(format!("Elo {}   LOS {} %, median-unbiased", estimate(Some(elo)), fixed(los * 100.0, 1)))
    }

    /// `Elo +12.3 [+1.0, +23.6]  nElo ...  LOS 98.3 %`
    #[must_use]
    pub fn elo_line(&self) -> String {
        let los = self.los.map_or_else(|| "-".to_owned(), |los| format!("{} %", fixed(los * 100.0, 1)));
        format!("Elo {}   nElo {}   LOS {los}", estimate(self.elo), estimate(self.nelo))
    }

    /// `Elo +12.3 [+1.0, +23.6]`
    #[must_use]
    pub fn elo_short(&self) -> String {
        format!("Elo {}", estimate(self.elo))
    }

    /// `any time: Elo in [-2.0, +25.1]`
    #[must_use]
    pub fn anytime_short(&self) -> String {
        format!("any time: {}", self.anytime_interval())
    }

    /// `Elo in [-2.0, +25.1]`
    #[must_use]
    pub fn anytime_interval(&self) -> String {
        format!("Elo in [{}, {}]", end(self.anytime.0), end(self.anytime.1))
    }

    /// `[0, 4, 10, 5, 1]`
    #[must_use]
    pub fn ptnml_text(&self) -> String {
        format!("{:?}", self.ptnml.0)
    }

    /// `+12 =20 -8`
    #[must_use]
    pub fn wdl_text(&self) -> String {
        format!("+{} ={} -{}", self.wdl.wins, self.wdl.draws, self.wdl.losses)
    }
}

/// `+12.3 [+1.0, +23.6]`; `-` where nothing is known.
#[must_use]
pub fn estimate(estimate: Option<Estimate>) -> String {
    let Some(estimate) = estimate else { return "-".to_owned() };
    match estimate.interval {
        Some((low, high)) => format!("{} [{}, {}]", end(estimate.value), end(low), end(high)),
        None => end(estimate.value),
    }
}

/// `+12.3`, `inf`
fn end(elo: Elo) -> String {
    elo.finite().map_or_else(|| elo.to_string(), |value| signed(value, 1))
}

/// With a sign and so many decimals; a rounded zero has none.
#[must_use]
pub fn signed(value: f64, decimals: usize) -> String {
    let text = fixed(value, decimals);
    if text.starts_with('-') || text.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        text
    } else {
        format!("+{text}")
    }
}

/// `45 s`, `12 min`, `3 h 20 min`.
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

/// A number of things: `1 pair`, `2 pairs`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// What the players may spend, in words.
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
