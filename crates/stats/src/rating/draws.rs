//! Draw rate by a game's expected score: Davidson's law, applied at the logistic score.

use super::fit::{Solution, rows};
use super::openings::{self, Meeting, MeetingScore};
use super::{EncounterCounts, Measurement, Z_95};
use quintain_record::{Color, PairScore};

/// The law, fitted.
pub(super) struct DrawLaw {
    /// Draw rate between equals.
    pub(super) rate: Measurement,
}

impl DrawLaw {
    /// Fits the rate under which the expected number of draws is the observed one; `None` if no
    /// game's result is known singly. `shared` are the openings with more than one meeting.
    ///
    /// The error is the largest of those that take games, pairs and openings as independent.
    pub(super) fn fit(encounters: &[&EncounterCounts], fitted: &Solution, shared: &[Vec<Meeting>]) -> Option<Self> {
        let games: Vec<(f64, f64, f64)> = encounters
            .iter()
            .flat_map(|met| rows(met))
            .filter_map(|row| row.draws.map(|draws| (fitted.expected(&row), row.games, draws)))
            .filter(|(_, games, _)| *games > 0.0)
            .collect();
        let played: f64 = games.iter().map(|(_, games, _)| games).sum();
        let drawn: f64 = games.iter().map(|(_, _, draws)| draws).sum();
        if played == 0.0 {
            return None;
        }
        let expected = |rate: f64| games.iter().map(|(score, games, _)| games * share(rate, *score)).sum::<f64>();
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..60 {
            let middle = f64::midpoint(low, high);
            if expected(middle) < drawn {
                low = middle;
            } else {
                high = middle;
            }
        }
        let value = if drawn == 0.0 { 0.0 } else { f64::midpoint(low, high) };
        // The slope of the curve turns the variance of the number of draws into the rate's.
        let nudge = 1e-5;
        let slope = (expected((value + nudge).min(1.0)) - expected((value - nudge).max(0.0)))
            / ((value + nudge).min(1.0) - (value - nudge).max(0.0));
        let binomial: f64 = games
            .iter()
            .map(|(score, games, _)| {
                let share = share(value, *score);
                games * share * (1.0 - share)
            })
            .sum();
        let [by_pair, by_opening] = clustered(encounters, shared, |meeting| excess(meeting, value, fitted));
        let error = Z_95 * binomial.max(by_pair).max(by_opening).sqrt() / slope;
        // At an end of its range the rate has no slope to take an error from.
        let is_inside = value > nudge && value < 1.0 - nudge;
        let error95 = (is_inside && error.is_finite() && error > 1e-9).then_some(error.min(1.0));
        Some(Self { rate: Measurement { value, error95 } })
    }

    /// Variance of the score of one game whose expected score is `expected`: E - D/4 - E^2.
    pub(super) fn variance(&self, expected: f64) -> f64 {
        (expected * (1.0 - expected) - share(self.rate.value, expected) / 4.0).max(0.0)
    }
}

/// Variances of the number of draws with pairs and with openings as clusters. `excess` is a
/// meeting's draws beyond those expected.
fn clustered(encounters: &[&EncounterCounts], shared: &[Vec<Meeting>], excess: impl Fn(Meeting) -> f64) -> [f64; 2] {
    let (mut units, mut by_pair) = (0.0, 0.0);
    let mut add = |met: &EncounterCounts, score: MeetingScore, count: u64| {
        let meeting = Meeting { a: met.a as u32, b: met.b as u32, score };
        units += count as f64;
        by_pair += count as f64 * excess(meeting).powi(2);
    };
    for met in encounters {
        for (first, row) in (0..).zip(&met.legs) {
            for (second, count) in (0..).zip(row) {
                add(met, MeetingScore::Pair(PairScore { first, second }), *count);
            }
        }
        for (color, games) in [(Color::White, &met.white), (Color::Black, &met.black)] {
            for (half_points, count) in [(0, games.losses), (1, games.draws), (2, games.wins)] {
                add(met, MeetingScore::Game(color, half_points), count);
            }
        }
    }
    let counts: Vec<f64> = shared.iter().map(|opening| opening.len() as f64).collect();
    let Some(openings) = openings::effective(units, &counts) else { return [by_pair, 0.0] };
    let products = shared.iter().map(|opening| {
        let values: Vec<f64> = opening.iter().map(|meeting| excess(*meeting)).collect();
        values.iter().sum::<f64>().powi(2) - values.iter().map(|value| value * value).sum::<f64>()
    });
    [by_pair, (by_pair + products.sum::<f64>()).max(0.0) * openings / (openings - 1.0)]
}

/// Draws of a meeting beyond those expected at this rate between equals.
fn excess(meeting: Meeting, rate: f64, fitted: &Solution) -> f64 {
    let excess = |(row, half_points)| f64::from(half_points == 1) - share(rate, fitted.expected(&row));
    meeting.games().map(excess).sum()
}

/// Share of draws in games with this expected score, if it is `rate` between equals.
fn share(rate: f64, expected: f64) -> f64 {
    let q = expected * (1.0 - expected);
    let denominator = rate + (rate * rate + 4.0 * (1.0 - 2.0 * rate) * q).max(0.0).sqrt();
    if denominator > 0.0 { 4.0 * rate * q / denominator } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn the_law_is_davidsons() {
        for rate in [0.01, 0.3, 0.5, 0.63, 0.97] {
            assert!((share(rate, 0.5) - rate).abs() < 1e-12);
            // draws^2 = v^2 wins losses, with the v that gives `rate` between equals.
            let v = 2.0 * rate / (1.0 - rate);
            for expected in [0.001, 0.2, 0.5, 0.77, 0.999] {
                let draws = share(rate, expected);
                let (wins, losses) = (expected - draws / 2.0, 1.0 - expected - draws / 2.0);
                assert!(wins > 0.0 && losses > 0.0, "{rate} {expected}");
                assert!((draws * draws - v * v * wins * losses).abs() < 1e-12, "{rate} {expected}");
            }
        }
        // As many draws as possible, and none.
        assert!((share(1.0, 0.3) - 0.6).abs() < 1e-12);
        assert_eq!((share(0.0, 0.3), share(0.0, 0.0), share(0.4, 0.0)), (0.0, 0.0, 0.0));
    }
}
