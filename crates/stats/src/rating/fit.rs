//! The most likely ratings: Newton's method on the concave log-likelihood, with step halving, so
//! that every step rises.

use super::super::dense::Symmetric;
use super::groups::{Group, softplus};
use super::{Anchor, EncounterCounts, PER_ELO, Trinomial, Z_95};
use crate::Counts as _;

/// Maximum number of rounds. Newton's method doubles the digits each round; steps are limited, so
/// distant ratings take some rounds to reach.
const ROUNDS: u32 = 200;
/// The longest step of one rating, in natural units (700 Elo).
const LONGEST_STEP: f64 = 4.0;
/// A step of less than this everywhere ends the search (2e-10 Elo).
const STILL: f64 = 1e-12;
/// Largest white advantage; beyond it White won every game that would determine it (1,000 Elo).
const WHITE_LIMIT: f64 = 1000.0 * PER_ELO;
/// A pivot this much smaller than its diagonal entry is rounding: the games do not distinguish the
/// white advantage from the ratings.
const SINGULAR: f64 = 1e-9;

/// Information in natural units of two games between equals.
const TWO_DRAWS: f64 = 0.5;

/// Games of two players with the same colours, if these are known.
#[derive(Clone, Copy, Debug)]
pub(super) struct ColoredGames {
    pub(super) a: usize,
    pub(super) b: usize,
    /// 1 if `a` had White, -1 if `b` had, 0 if half the games were with either colour.
    pub(super) side: f64,
    pub(super) games: f64,
    /// Points of `a`.
    pub(super) points: f64,
    /// Draws, if they are known.
    pub(super) draws: Option<f64>,
}

/// Solution of the likelihood equations.
#[derive(Clone, Debug)]
pub(super) struct Solution {
    /// Ratings by player, in natural units; each part of the players has its own origin.
    pub(super) theta: Vec<f64>,
    /// White advantage in natural units; `None` if the games do not determine it.
    pub(super) white: Option<f64>,
    /// Index of each player among the unknowns; `None` for a part's origin, and for players held
    /// fixed.
    pub(super) places: Vec<Option<usize>>,
    /// Number of unknown ratings. The white advantage, if any, comes after them.
    pub(super) params: usize,
    /// Information added by the priors of anchors, by index.
    pub(super) priors: Vec<Prior>,
}

/// An anchor that is not held fixed: normally distributed about its rating.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prior {
    player: usize,
    pub(super) place: usize,
    mean: f64,
    /// 1/variance.
    pub(super) precision: f64,
}

impl Solution {
    /// Expected score of `a` in the row's games.
    pub(super) fn expected(&self, row: &ColoredGames) -> f64 {
        expected(self.theta[row.a] - self.theta[row.b] + row.side * self.white.unwrap_or(0.0))
    }

    /// Number of unknowns, white advantage included.
    pub(super) fn unknowns(&self) -> usize {
        self.params + usize::from(self.white.is_some())
    }
}

/// The logistic curve.
fn expected(lead: f64) -> f64 {
    // As 1 - 1/(1 + e^lead) a small value would lose its digits.
    (-softplus(-lead)).exp()
}

/// The rows of an encounter: with White, with Black, and with unknown colours.
pub(super) fn rows(met: &EncounterCounts) -> [ColoredGames; 3] {
    let (mut white, mut black) = ([0.0; 3], [0.0; 3]);
    for (first, row) in met.legs.iter().enumerate() {
        for (second, count) in row.iter().enumerate() {
            white[first] += *count as f64;
            black[second] += *count as f64;
        }
    }
    let row = |side: f64, legs: [f64; 3], single: &Trinomial| {
        let draws = legs[1] + single.draws as f64;
        let wins = legs[2] + single.wins as f64;
        let games = legs[0] + single.losses as f64 + draws + wins;
        ColoredGames { a: met.a, b: met.b, side, games, points: wins + draws / 2.0, draws: Some(draws) }
    };
    let sums = (0..5).map(|class| met.pairs.count(class) as f64);
    let (games, points) =
        (sums.clone().sum::<f64>() * 2.0, sums.zip(0..5).map(|(n, class)| n * f64::from(class) / 2.0));
    [
        row(1.0, white, &met.white),
        row(-1.0, black, &met.black),
        ColoredGames { a: met.a, b: met.b, side: 0.0, games, points: points.sum(), draws: None },
    ]
}

/// Fits the ratings to games inside the parts.
pub(super) fn fit(players: usize, groups: &[Group], inside: &[&EncounterCounts], anchors: &[Anchor]) -> Solution {
    let rows: Vec<ColoredGames> = inside.iter().flat_map(|met| rows(met)).filter(|row| row.games > 0.0).collect();
    let start = start(players, groups, &rows, anchors);
    if rows.iter().any(|row| row.side != 0.0)
        && let Some(fitted) = climb(start(Some(0.0)), &rows)
    {
        return fitted;
    }
    // Without the white advantage the information is positive definite, and this can only be None
    // by rounding.
    climb(start(None), &rows).unwrap_or_else(|| start(None))
}

/// Ratings of all players, joined by points or not: each is shrunk towards 0 with the weight of two
/// drawn games, so that a perfect score is finite. Suitable for the expected result of a game, but
/// no estimate of strength.
pub(super) fn shrunk(players: usize, encounters: &[EncounterCounts]) -> Solution {
    let rows: Vec<ColoredGames> = encounters.iter().flat_map(rows).filter(|row| row.games > 0.0).collect();
    let prior = |player| Prior { player, place: player, mean: 0.0, precision: TWO_DRAWS };
    let begin = Solution {
        theta: vec![0.0; players],
        white: None,
        places: (0..players).map(Some).collect(),
        params: players,
        priors: (0..players).map(prior).collect(),
    };
    climb(begin.clone(), &rows).unwrap_or(begin)
}

/// The unknowns, and the start of the search.
fn start(
    players: usize,
    groups: &[Group],
    rows: &[ColoredGames],
    anchors: &[Anchor],
) -> impl Fn(Option<f64>) -> Solution {
    let mut games = vec![0.0; players];
    for row in rows {
        games[row.a] += row.games;
        games[row.b] += row.games;
    }
    let mut theta = vec![0.0; players];
    let mut is_known = vec![false; players];
    // All other ratings start at the mean of the anchors.
    let middle = anchors.iter().map(|anchor| anchor.elo * PER_ELO).sum::<f64>() / anchors.len().max(1) as f64;
    for part in groups.iter().flat_map(Group::parts) {
        if anchors.iter().any(|anchor| part.binary_search(&anchor.player).is_ok()) {
            part.iter().for_each(|&player| theta[player] = middle);
        } else if let Some(&origin) = part.iter().max_by(|&&a, &&b| games[a].total_cmp(&games[b])) {
            is_known[origin] = true;
        }
    }
    for anchor in anchors {
        theta[anchor.player] = anchor.elo * PER_ELO;
        is_known[anchor.player] = anchor.error95 == 0.0;
    }
    let mut params = 0;
    let places: Vec<Option<usize>> = is_known
        .iter()
        .map(|is_known| {
            let place = params;
            params += usize::from(!is_known);
            (!is_known).then_some(place)
        })
        .collect();
    let priors: Vec<Prior> = anchors
        .iter()
        .filter_map(|anchor| {
            let place = places[anchor.player]?;
            let precision = (anchor.error95 / Z_95 * PER_ELO).powi(-2);
            // An error whose square underflows holds the rating as firmly as possible.
            let precision = precision.min(1e12);
            Some(Prior { player: anchor.player, place, mean: anchor.elo * PER_ELO, precision })
        })
        .collect();
    move |white| Solution { theta: theta.clone(), white, places: places.clone(), params, priors: priors.clone() }
}

/// Newton's method. `None` if the white advantage is not determined.
fn climb(mut fitted: Solution, rows: &[ColoredGames]) -> Option<Solution> {
    let mut likelihood = log_likelihood(&fitted, rows);
    for _ in 0..ROUNDS {
        let (information, gradient) = slope(&fitted, rows);
        let mut step = newton_step(&fitted, information, &gradient)?;
        let longest = step.iter().fold(0.0, |longest: f64, step| longest.max(step.abs()));
        let scale = if longest > LONGEST_STEP { LONGEST_STEP / longest } else { 1.0 };
        step.iter_mut().for_each(|step| *step *= scale);
        // Halving: near the maximum the likelihood is flat to the last digit, and the full step is
        // better.
        let mut improved = None;
        for _ in 0..40 {
            let next = moved(&fitted, &step);
            let risen = log_likelihood(&next, rows);
            if risen >= likelihood - 1e-13 * likelihood.abs() {
                improved = Some((next, risen));
                break;
            }
            step.iter_mut().for_each(|step| *step /= 2.0);
        }
        let Some((next, risen)) = improved else { break };
        (fitted, likelihood) = (next, risen);
        if fitted.white.is_some_and(|white| white.abs() > WHITE_LIMIT) {
            return None;
        }
        if longest < STILL {
            break;
        }
    }
    Some(fitted)
}

fn log_likelihood(fitted: &Solution, rows: &[ColoredGames]) -> f64 {
    let games: f64 = rows
        .iter()
        .map(|row| {
            let lead = fitted.theta[row.a] - fitted.theta[row.b] + row.side * fitted.white.unwrap_or(0.0);
            -row.points * softplus(-lead) - (row.games - row.points) * softplus(lead)
        })
        .sum();
    let priors =
        fitted.priors.iter().map(|prior| prior.precision / 2.0 * (fitted.theta[prior.player] - prior.mean).powi(2));
    games - priors.sum::<f64>()
}

/// Information (minus the second derivatives) and gradient of the log-likelihood.
pub(super) fn slope(fitted: &Solution, rows: &[ColoredGames]) -> (Symmetric, Vec<f64>) {
    let size = fitted.unknowns();
    let mut information = Symmetric::zero(size);
    let mut gradient = vec![0.0; size];
    for row in rows {
        let expected = fitted.expected(row);
        let weight = row.games * expected * (1.0 - expected);
        let excess = row.points - row.games * expected;
        let unknown = directions(fitted, row.a, row.b, row.side);
        for (i, (place, sign)) in unknown.iter().enumerate() {
            let Some(place) = *place else { continue };
            gradient[place] += sign * excess;
            for (other, other_sign) in &unknown[..=i] {
                if let Some(other) = *other {
                    information.add(place, other, weight * sign * other_sign);
                }
            }
        }
    }
    for prior in &fitted.priors {
        information.add(prior.place, prior.place, prior.precision);
        gradient[prior.place] -= prior.precision * (fitted.theta[prior.player] - prior.mean);
    }
    (information, gradient)
}

/// The unknowns that move the expected score of `a` against `b`, and the derivative of the lead by
/// each.
pub(super) fn directions(fitted: &Solution, a: usize, b: usize, side: f64) -> [(Option<usize>, f64); 3] {
    let white = (fitted.white.is_some() && side != 0.0).then_some(fitted.params);
    [(fitted.places[a], 1.0), (fitted.places[b], -1.0), (white, side)]
}

fn newton_step(fitted: &Solution, mut information: Symmetric, gradient: &[f64]) -> Option<Vec<f64>> {
    let mut ridge = 1e-14;
    loop {
        // The white advantage comes last, so its pivot is the part not explained by the ratings.
        let least = if fitted.white.is_some() { SINGULAR } else { 0.0 };
        match information.factor(0.0) {
            Ok(factor) if fitted.white.is_none() => return Some(factor.solve(gradient)),
            Ok(factor) => {
                let left = factor.last_pivot() / information.get(fitted.params, fitted.params);
                return (left > least).then(|| factor.solve(gradient));
            }
            Err(pivot) if pivot == fitted.params || ridge > 1.0 => return None,
            Err(_) => {}
        }
        // If counts differ by many orders of magnitude, rounding loses the small ones. A ridge only
        // shortens the step.
        for i in 0..information.size() {
            let more = information.get(i, i) * ridge;
            information.add(i, i, if more > 0.0 { more } else { f64::MIN_POSITIVE.sqrt() });
        }
        ridge *= 10.0;
    }
}

fn moved(fitted: &Solution, step: &[f64]) -> Solution {
    let mut theta = fitted.theta.clone();
    for (theta, place) in theta.iter_mut().zip(&fitted.places) {
        *theta += place.map_or(0.0, |place| step[place]);
    }
    let white = fitted.white.map(|white| white + step[fitted.params]);
    Solution { theta, white, places: fitted.places.clone(), params: fitted.params, priors: fitted.priors.clone() }
}
