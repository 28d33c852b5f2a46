//! Figures of a match or test, as every output shows them.
//!
//! `quintain stats --json` prints this struct. `summary.json`, the control protocol and the
//! dashboard's lists have its keys among their own. The order of the fields is that of the keys.

use serde::{Deserialize, Serialize};

use super::clusters::ClusteredCounts;
use super::elo::{self, Elo, Estimate};
use super::sprt::{Sprt, Verdict};
use super::unbiased::AdjustedEstimates;
use super::{Counts, Pentanomial, Trinomial, sequence};

/// Estimates from counts, of the first player against the second, with 95 % intervals.
///
/// `None` for a figure that is not defined; an infinite Elo is null in a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Estimates {
    /// Points per game, 0 to 1.
    pub score: Option<f64>,
    /// Logistic Elo.
    #[serde(with = "number")]
    pub elo: Option<Elo>,
    /// Low end of its interval.
    #[serde(with = "number")]
    pub elo_lo: Option<Elo>,
    /// High end of its interval.
    #[serde(with = "number")]
    pub elo_hi: Option<Elo>,
    /// Normalized Elo.
    #[serde(with = "number")]
    pub nelo: Option<Elo>,
    /// Low end of its interval.
    #[serde(with = "number")]
    pub nelo_lo: Option<Elo>,
    /// High end of its interval.
    #[serde(with = "number")]
    pub nelo_hi: Option<Elo>,
    /// Probability that the first player is the stronger one.
    pub los: Option<f64>,
    /// Log-likelihood ratio (LLR) in nats; this, its bounds and the verdict are those of a test.
    pub llr: Option<f64>,
    /// LLR at or below which H0 is accepted.
    pub llr_lower: Option<f64>,
    /// LLR at or above which H1 is accepted.
    pub llr_upper: Option<f64>,
    /// `H0`, `H1` or `continue`.
    #[serde(with = "verdict")]
    pub verdict: Option<Verdict>,
    /// Share of pairs (or games) in the middle class.
    pub draw_ratio: Option<f64>,
    /// Pairs won for each one lost; not defined for games.
    pub pairs_ratio: Option<f64>,
    /// Median-unbiased Elo of a test that is over.
    #[serde(with = "number")]
    pub elo_unbiased: Option<Elo>,
    /// Low end of its interval.
    #[serde(with = "number")]
    pub elo_unbiased_lo: Option<Elo>,
    /// High end of its interval.
    #[serde(with = "number")]
    pub elo_unbiased_hi: Option<Elo>,
    /// Low end of the interval of the logistic Elo that is valid at all times simultaneously.
    #[serde(with = "number")]
    pub elo_anytime_lo: Option<Elo>,
    /// High end of the interval.
    #[serde(with = "number")]
    pub elo_anytime_hi: Option<Elo>,
    /// `los`, median-unbiased, of a test that is over.
    pub los_unbiased: Option<f64>,
}

/// Log-likelihood ratio of a test and its bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrialState {
    /// Log-likelihood ratio (LLR), in nats.
    pub llr: f64,
    /// LLR at or below which H0 is accepted.
    pub lower: f64,
    /// LLR at or above which H1 is accepted.
    pub upper: f64,
}

impl TrialState {
    /// Formats `LLR +1.20 (-2.94, 2.94)`.
    #[must_use]
    pub fn line(&self) -> String {
        format!("LLR {} ({:.2}, {:.2})", elo::signed(self.llr, 2), self.lower, self.upper)
    }
}

impl Estimates {
    /// Estimates of pairs.
    #[must_use]
    pub fn of_pairs(pairs: &ClusteredCounts<Pentanomial>) -> Self {
        let counts = pairs.counts();
        Self { draw_ratio: counts.draw_ratio(), pairs_ratio: counts.pairs_ratio(), ..Self::of(pairs) }
    }

    /// Estimates of games that are not known to be pairs.
    #[must_use]
    pub fn of_games(games: &ClusteredCounts<Trinomial>) -> Self {
        Self { draw_ratio: games.counts().draw_ratio(), ..Self::of(games) }
    }

    fn of<C: Counts>(counts: &C) -> Self {
        let (elo, nelo) = (elo::logistic(counts), elo::normalized(counts));
        let (anytime_lo, anytime_hi) = sequence::elo(counts);
        Self {
            score: counts.score(),
            elo: value(elo),
            elo_lo: low(elo),
            elo_hi: high(elo),
            nelo: value(nelo),
            nelo_lo: low(nelo),
            nelo_hi: high(nelo),
            los: elo::superiority(counts),
            elo_anytime_lo: Some(anytime_lo),
            elo_anytime_hi: Some(anytime_hi),
            ..Self::default()
        }
    }

    /// The same estimates with the figures of a test.
    #[must_use]
    pub fn with_test(self, sprt: &Sprt, llr: f64, verdict: Verdict) -> Self {
        let [lower, upper] = [sprt.lower(), sprt.upper()].map(Some);
        Self { llr: Some(llr), llr_lower: lower, llr_upper: upper, verdict: Some(verdict), ..self }
    }

    /// The same estimates with those after the stop of a test, if there are any.
    #[must_use]
    pub fn with_stop(self, after: Option<AdjustedEstimates>) -> Self {
        let elo = after.map(|after| after.elo);
        Self {
            elo_unbiased: value(elo),
            elo_unbiased_lo: low(elo),
            elo_unbiased_hi: high(elo),
            los_unbiased: after.map(|after| after.los),
            ..self
        }
    }

    /// Logistic Elo with its interval.
    #[must_use]
    pub fn logistic(&self) -> Option<Estimate> {
        Some(Estimate { value: self.elo?, interval: self.elo_lo.zip(self.elo_hi) })
    }

    /// Normalized Elo with its interval.
    #[must_use]
    pub fn normalized(&self) -> Option<Estimate> {
        Some(Estimate { value: self.nelo?, interval: self.nelo_lo.zip(self.nelo_hi) })
    }

    /// Estimates that the stop of a test does not bias.
    #[must_use]
    pub fn after_stop(&self) -> Option<AdjustedEstimates> {
        let elo = Estimate { value: self.elo_unbiased?, interval: self.elo_unbiased_lo.zip(self.elo_unbiased_hi) };
        Some(AdjustedEstimates { elo, los: self.los_unbiased? })
    }

    /// State of the test, if there is one.
    #[must_use]
    pub fn trial(&self) -> Option<TrialState> {
        Some(TrialState { llr: self.llr?, lower: self.llr_lower?, upper: self.llr_upper? })
    }

    /// Formats `Elo +9.8 [-1.0, +20.1]   LOS 96.0 %, median-unbiased`.
    #[must_use]
    pub fn after_stop_line(&self) -> Option<String> {
        let after = self.after_stop()?;
        Some(format!("Elo {}   LOS {} %, median-unbiased", after.elo, elo::fixed(after.los * 100.0, 1)))
    }

    /// Formats `Elo +12.3 [+1.0, +23.6]  nElo ...  LOS 98.3 %`.
    #[must_use]
    pub fn elo_line(&self) -> String {
        let los = self.los.map_or_else(|| "-".to_owned(), |los| format!("{} %", elo::fixed(los * 100.0, 1)));
        format!("Elo {}   nElo {}   LOS {los}", text(self.logistic()), text(self.normalized()))
    }

    /// Formats `Elo +12.3 [+1.0, +23.6]`.
    #[must_use]
    pub fn elo_short(&self) -> String {
        format!("Elo {}", text(self.logistic()))
    }

    /// Formats `any time: Elo in [-2.0, +25.1]`.
    #[must_use]
    pub fn anytime_short(&self) -> String {
        format!("any time: {}", self.anytime_interval())
    }

    /// Formats `Elo in [-2.0, +25.1]`.
    #[must_use]
    pub fn anytime_interval(&self) -> String {
        let end = |elo: Option<Elo>| text(elo.map(|value| Estimate { value, interval: None }));
        format!("Elo in [{}, {}]", end(self.elo_anytime_lo), end(self.elo_anytime_hi))
    }
}

/// The estimate, or `-` if there is none.
fn text(estimate: Option<Estimate>) -> String {
    estimate.map_or_else(|| "-".to_owned(), |estimate| estimate.to_string())
}

fn value(estimate: Option<Estimate>) -> Option<Elo> {
    Some(estimate?.value)
}

fn low(estimate: Option<Estimate>) -> Option<Elo> {
    Some(estimate?.interval?.0)
}

fn high(estimate: Option<Estimate>) -> Option<Elo> {
    Some(estimate?.interval?.1)
}

/// Elo as a number, null if it is infinite.
mod number {
    use super::{Deserialize, Elo, Serialize};

    #[expect(clippy::ref_option, reason = "serde hands a reference")]
    pub(super) fn serialize<S: serde::Serializer>(elo: &Option<Elo>, to: S) -> Result<S::Ok, S::Error> {
        elo.and_then(Elo::finite).serialize(to)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Elo>, D::Error> {
        Ok(Option::deserialize(from)?.map(Elo::Finite))
    }
}

/// Verdicts by their names; an unknown name is `None`.
mod verdict {
    use super::{Deserialize, Serialize, Verdict};

    #[expect(clippy::ref_option, reason = "serde hands a reference")]
    pub(super) fn serialize<S: serde::Serializer>(verdict: &Option<Verdict>, to: S) -> Result<S::Ok, S::Error> {
        verdict.map(Verdict::name).serialize(to)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Verdict>, D::Error> {
        let name = Option::<String>::deserialize(from)?;
        Ok(name.and_then(|name| Verdict::ALL.into_iter().find(|verdict| verdict.name() == name)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprt::{Bounds, Model};
    use crate::unbiased;

    #[test]
    fn a_document_comes_back() {
        let counts = ClusteredCounts::new(Pentanomial([10, 120, 300, 150, 20]), 1.0);
        let sprt = Sprt::new(Bounds { elo0: 0.0, elo1: 5.0 }, Model::Normalized, 0.05, 0.05).expect("a sound test");
        let estimates = Estimates::of_pairs(&counts)
            .with_test(&sprt, sprt.llr(&counts), Verdict::AcceptH1)
            .with_stop(unbiased::after(&sprt, &counts));
        let text = serde_json::to_string(&estimates).expect("JSON");
        let back: Estimates = serde_json::from_str(&text).expect("itself");
        // The parser of numbers may miss the last digit.
        let numbers = |estimates: &Estimates| -> Vec<f64> {
            let document = serde_json::to_value(estimates).expect("JSON");
            document.as_object().expect("an object").values().filter_map(serde_json::Value::as_f64).collect()
        };
        let (there, here) = (numbers(&estimates), numbers(&back));
        assert!(there.len() == 19 && there.len() == here.len(), "{text}");
        assert!(there.iter().zip(&here).all(|(one, other)| (one - other).abs() < 1e-9), "{text}");
        assert_eq!(back.verdict, estimates.verdict);
        assert!(!text.contains("null") && text.contains(r#""verdict":"H1""#), "{text}");
        assert_eq!(estimates.logistic(), elo::logistic(&counts));
        assert_eq!(estimates.after_stop(), unbiased::after(&sprt, &counts));
    }

    #[test]
    fn what_is_missing_or_unknown_is_not_defined() {
        let old: Estimates =
            serde_json::from_str(r#"{"elo":12.5,"verdict":"maybe","pairs":7}"#).expect("an old summary");
        assert_eq!(old, Estimates { elo: Some(Elo::Finite(12.5)), ..Estimates::default() });
        let all_won = Estimates::of_games(&ClusteredCounts::new(Trinomial { wins: 9, draws: 0, losses: 0 }, 1.0));
        let text = serde_json::to_string(&all_won).expect("JSON");
        assert!(all_won.elo == Some(Elo::PlusInfinity) && text.contains(r#""elo":null"#), "{text}");
    }
}
