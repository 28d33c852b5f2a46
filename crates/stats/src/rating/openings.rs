//! Openings shared by several meetings: an opening affects a player alike in all games from it.

use super::super::dense::Symmetric;
use super::errors::GradientMoments;
use super::fit::{ColoredGames, Solution, directions};
use quintain_record::{Color, PairScore};
use std::collections::BTreeMap;

/// The unit of variance of an opening: a pair of games, or a game without a partner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// One player, by index from 0.
    pub a: u32,
    /// The other player, by index from 0; not `a`.
    pub b: u32,
    /// Result from the view of `a`.
    pub score: MeetingScore,
}

/// Result of a meeting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeetingScore {
    /// Both games of a pair.
    Pair(PairScore),
    /// A single game: the colour of `a` and the half points (0, 1, 2) it made.
    Game(Color, u8),
}

impl Meeting {
    /// Its games: the players and colours, without a result, and the half points of `a`.
    pub(super) fn games(self) -> impl Iterator<Item = (ColoredGames, u8)> {
        let games = match self.score {
            MeetingScore::Pair(pair) => [Some((1.0, pair.first)), Some((-1.0, pair.second))],
            MeetingScore::Game(Color::White, half_points) => [Some((1.0, half_points)), None],
            MeetingScore::Game(Color::Black, half_points) => [Some((-1.0, half_points)), None],
        };
        let (a, b) = (self.a as usize, self.b as usize);
        let row = move |side: f64| ColoredGames { a, b, side, games: 1.0, points: 0.0, draws: None };
        games.into_iter().flatten().map(move |(side, half_points)| (row(side), half_points.min(2)))
    }
}

/// Effective number of independent openings (Kish 1965), at least 2. `shared` has the number of
/// meetings of each shared opening among the `units` meetings. `None` if no opening is shared, or
/// if all games have the same one.
pub(super) fn effective(units: f64, shared: &[f64]) -> Option<f64> {
    let together: f64 = shared.iter().sum();
    let squares: f64 = shared.iter().map(|count| count * count).sum();
    let alone = (units - together).max(0.0);
    let openings = (together + alone).powi(2) / (squares + alone);
    // Two openings of unequal numbers are worth less than two, but still have one degree of
    // freedom.
    (squares > together && openings > 1.0 + 1e-9).then_some(openings.max(2.0))
}

/// Products of the residuals of different meetings from one opening, as rows of unknowns: the part
/// of `M` beyond its independent clusters.
pub(super) fn cross_moments(openings: &[Vec<Meeting>], fitted: &Solution) -> BTreeMap<(usize, usize), f64> {
    let mut cross = BTreeMap::new();
    for opening in openings {
        let mut sum: BTreeMap<usize, f64> = BTreeMap::new();
        for meeting in opening {
            let gradient = gradient(*meeting, fitted);
            for (i, value) in &gradient {
                *sum.entry(*i).or_insert(0.0) += value;
                for (j, other) in &gradient {
                    *cross.entry((*i, *j)).or_insert(0.0) -= value * other;
                }
            }
        }
        for (i, value) in &sum {
            for (j, other) in &sum {
                *cross.entry((*i, *j)).or_insert(0.0) += value * other;
            }
        }
    }
    cross
}

/// Contribution of a meeting to the gradient of the log-likelihood, by unknown.
fn gradient(meeting: Meeting, fitted: &Solution) -> Vec<(usize, f64)> {
    let (mut lead, mut white) = (0.0, 0.0);
    for (row, half_points) in meeting.games() {
        let excess = f64::from(half_points) / 2.0 - fitted.expected(&row);
        lead += excess;
        white += excess * row.side;
    }
    let unknown = directions(fitted, meeting.a as usize, meeting.b as usize, 1.0);
    let along = [lead, lead, white];
    unknown.iter().zip(along).filter_map(|((place, sign), value)| Some(((*place)?, sign * value))).collect()
}

/// Share of an encounter in the variance of a figure that the unknowns move by `weights`.
pub(super) fn share(moments: GradientMoments, (a, b): (usize, usize), weights: &[f64], fitted: &Solution) -> f64 {
    let mut lead = 0.0;
    let mut white = 0.0;
    for (index, (place, sign)) in directions(fitted, a, b, 1.0).iter().enumerate() {
        let weight = place.map_or(0.0, |place| sign * weights[place]);
        if index == 2 { white += weight } else { lead += weight }
    }
    moments.lead * lead * lead + moments.white * white * white + 2.0 * moments.across * lead * white
}

/// `matrix` times a column with 1 at `plus` and -1 at `minus`.
pub(super) fn difference(matrix: &Symmetric, plus: Option<usize>, minus: Option<usize>) -> Vec<f64> {
    let mut column = vec![0.0; matrix.size()];
    for (place, sign) in [(plus, 1.0), (minus, -1.0)] {
        let Some(place) = place else { continue };
        column.iter_mut().zip(matrix.row(place)).for_each(|(sum, value)| *sum += sign * value);
    }
    column
}

#[cfg(test)]
mod tests {
    use super::effective;

    #[test]
    fn few_openings_are_never_taken_for_many() {
        for (units, shared, expected) in [
            (200.0, &[100.0, 100.0][..], Some(2.0)),
            (201.0, &[101.0, 100.0], Some(2.0)),
            (200.0, &[190.0, 10.0], Some(2.0)),
            (200.0, &[200.0], None),
            (200.0, &[], None),
            (30.0, &[10.0, 10.0, 10.0], Some(3.0)),
        ] {
            assert_eq!(effective(units, shared), expected, "{shared:?}");
        }
    }
}
