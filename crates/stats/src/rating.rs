//! Ratings of many players on one scale, by maximum likelihood.
//!
//! They come with a white advantage, a draw rate, and errors that account for the dependence of the
//! two games of a pair.
//!
//! # The model
//! In a game between players of ratings `a` and `b`, the first with White, the first is expected to
//! score `E = 1/(1 + 10^(-(a - b + w)/400))`. This is Bradley and Terry's model with a draw as half
//! a point and the white advantage `w`. The ratings are those under which every player's expected
//! points, and White's, equal the points made. They maximise `sum s ln E + (1 - s) ln(1 - E)`,
//! which is concave, by Newton's method with step halving (`fit`). A finite maximum exists if and
//! only if in every split of the players points go both ways (Ford 1957; Hunter 2004, assumption
//! 1). So the players are first divided accordingly (`groups`): a perfect score becomes a one-sided
//! bound, and players that are not joined by games are rated separately. For two players and pairs
//! of which only the sum is known, so that the white advantage cancels, the difference is
//! [`super::elo::logistic`] and the error, to first order, its error.
//! # Draws
//! Draws do not move the ratings but the errors. Davidson's (1970) law, draws^2 = v^2 wins losses,
//! is applied at the expected score above. With q = E(1 - E), the share D = 4 d q / (d + sqrt(d^2 +
//! 4 (1 - 2d) q)) of the games with expected score E is drawn. The draw rate between equals, `d`,
//! is such that the draws expected are the draws seen. Rao and Kupper's (1967) law, which BayesElo
//! (Coulom 2005) uses, draws with a threshold on the rating scale instead; its scale is different.
//!
//! Games between parts that no points join have no draws by definition. They count for `d` too,
//! because in a sparse collection it is mostly draws that join players. If there are such games,
//! the expected scores of all come from ratings that are drawn towards 0 by two drawn games each,
//! which are finite.
//!
//! # Errors
//! The sandwich `A^-1 M A^-1` (Liang and Zeger 1986) with game pairs as clusters. `A` is the
//! information. In `M` a single game counts with its variance under the model, `E - D/4 - E^2`. The
//! pairs of two players count with their own scatter, shrunk towards that of all pairs together as
//! if by [`PRIOR_PAIRS`] more. So the result of opponents who met only twice is not taken for
//! exact. The correction is (N - 1)/(N - K) for N games and pairs and K estimated figures. Errors
//! are half-widths of 95 % intervals, relative to the anchors, or to the mean of the pool if there
//! are none.
//!
//! Meetings (pairs and single games) from one opening vary together. If openings are shared, a
//! second matrix has openings as clusters. Its `M` gains the products `g_u g_v'` of the gradients
//! of any two meetings `u`, `v` of an opening. The whole is multiplied by `G/(G-1)` over `N/(N-1)`,
//! where `G = (sum n_c)^2 / sum n_c^2` is the number of effective openings with `n_c` meetings each
//! (Cameron and Miller 2015, sections II and VI; Kish 1965). Its quantile is Student's with G - 1
//! degrees of freedom. The larger of the two errors is reported, so that openings can only widen an
//! interval; if none is shared, the first is used alone.
//!
//! The draw rate has the largest of three errors, with games, pairs and openings as independent.
//!
//! A test of a lead ([`Ratings::lead`]) has the degrees of freedom of its variance (Satterthwaite
//! 1946), from the pairs' own scatter and the part borrowed from all pairs.
//!
//! # Sources
//! R. A. Bradley, M. E. Terry, "Rank analysis of incomplete block designs" (1952); L. R. Ford
//! (1957); P. V. Rao, L. L. Kupper (1967); R. R. Davidson, "On extending the Bradley-Terry model to
//! accommodate ties" (1970); K.-Y. Liang, S. L. Zeger, "Longitudinal data analysis using
//! generalized linear models" (1986); F. E. Satterthwaite, "An approximate distribution of
//! estimates of variance components" (1946); L. Kish, "Survey Sampling" (1965); A. C. Cameron, D.
//! L. Miller, "A practitioner's guide to cluster-robust inference" (2015); D. R. Hunter, "MM
//! algorithms for generalized Bradley-Terry models" (2004); R. Coulom, "Bayeselo" (2005). Ordo (M.
//! Ballicora) has the same model of the score, and finds its errors by simulation.

mod draws;
mod errors;
mod fit;
mod groups;
mod lead;
mod openings;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use super::dense::Symmetric;
use super::elo::Z_95;
use super::{Counts as _, Pentanomial, Trinomial, student};
use errors::Covariance;
use groups::Group;
pub use lead::Lead;
pub use openings::{Meeting, MeetingScore};
use quintain_record::{Color, PairScore};
use std::f64::consts::LN_10;

/// Natural units of the logistic curve per Elo.
const PER_ELO: f64 = LN_10 / 400.0;
/// Anchors beyond this are not chess ratings, and would overflow the curve.
const ANCHOR_LIMIT: f64 = 10_000.0;
/// Probability of the score at a perfect score's bound, if the bound were the player's rating.
const BOUND_PROBABILITY: f64 = 0.025;
/// Weight, in pairs, of the scatter of all pairs among that of two players.
pub const PRIOR_PAIRS: f64 = 10.0;
/// The most players rated at once: time grows with the cube of their number, memory with its
/// square.
pub const MAX_PLAYERS: usize = 4000;

/// All games between two players, by index from 0.
///
/// Games come as pairs (one opening, colours reversed) or singly. Pairs come with the result of
/// each game (`legs`), or with the sum only (`pairs`), which has no information about colours and
/// draws.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncounterCounts {
    /// One player.
    pub a: usize,
    /// The other; not `a`.
    pub b: usize,
    /// Pairs of which only the sum is known, from the view of `a`.
    pub pairs: Pentanomial,
    /// Pairs whose games are known: `legs[with White][with Black]` by half points (0, 1, 2) of `a`.
    pub legs: [[u64; 3]; 3],
    /// Single games in which `a` had White, from the view of `a`.
    pub white: Trinomial,
    /// Single games in which `a` had Black, from the view of `a`.
    pub black: Trinomial,
}

impl EncounterCounts {
    /// Two players who have not met yet.
    #[must_use]
    pub fn new(a: usize, b: usize) -> Self {
        let none = Trinomial::default();
        Self { a, b, pairs: Pentanomial::default(), legs: [[0; 3]; 3], white: none, black: none }
    }

    /// Counts one finished pair from the view of `a`.
    pub fn record_pair(&mut self, pair: PairScore) {
        let count = &mut self.legs[usize::from(pair.first.min(2))][usize::from(pair.second.min(2))];
        *count = count.saturating_add(1);
    }

    /// Counts one single game in which `a` had `color` and made `half_points` (0, 1, 2; more is
    /// taken as a win).
    pub fn record_game(&mut self, color: Color, half_points: u8) {
        match color {
            Color::White => self.white.record(half_points),
            Color::Black => self.black.record(half_points),
        }
    }

    /// The same games from the view of `b`.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let mut legs = [[0; 3]; 3];
        for (first, row) in self.legs.iter().enumerate() {
            for (second, count) in row.iter().enumerate() {
                legs[2 - second][2 - first] = *count;
            }
        }
        Self {
            a: self.b,
            b: self.a,
            pairs: self.pairs.reversed(),
            legs,
            white: self.black.reversed(),
            black: self.white.reversed(),
        }
    }

    /// All pairs, from the view of `a`.
    #[must_use]
    pub fn pentanomial(&self) -> Pentanomial {
        let mut all = self.pairs;
        for (first, row) in self.legs.iter().enumerate() {
            for (second, count) in row.iter().enumerate() {
                all.0[first + second] = all.0[first + second].saturating_add(*count);
            }
        }
        all
    }

    /// The games whose results are known singly, from the view of `a`.
    #[must_use]
    pub fn results(&self) -> Trinomial {
        let mut all = Trinomial::default();
        let mut count = |half_points: usize, games: u64| {
            let class = match half_points {
                0 => &mut all.losses,
                1 => &mut all.draws,
                _ => &mut all.wins,
            };
            *class = class.saturating_add(games);
        };
        for (first, row) in self.legs.iter().enumerate() {
            for (second, pairs) in row.iter().enumerate() {
                count(first, *pairs);
                count(second, *pairs);
            }
        }
        for games in [self.white, self.black] {
            count(0, games.losses);
            count(1, games.draws);
            count(2, games.wins);
        }
        all
    }

    /// All games.
    #[must_use]
    pub fn games(&self) -> u64 {
        [self.pentanomial().games(), self.white.games(), self.black.games()].into_iter().fold(0, u64::saturating_add)
    }

    /// Games in which `a` had White.
    #[must_use]
    pub fn with_white(&self) -> u64 {
        self.pentanomial().pairs().saturating_add(self.white.games())
    }

    /// Points of `a`.
    fn points(&self) -> f64 {
        let pairs = self.pentanomial();
        (0..5).map(|class| pairs.count(class) as f64 * class as f64 / 2.0).sum::<f64>()
            + self.white.points()
            + self.black.points()
    }

    /// Draws; `None` if pairs of which only the sum is known are among the games.
    fn draws(&self) -> Option<u64> {
        let legs: u64 = (0..3)
            .flat_map(|first| (0..3).map(move |second| (first, second)))
            .map(|(first, second)| {
                self.legs[first][second].saturating_mul(u64::from(first == 1) + u64::from(second == 1))
            })
            .fold(0, u64::saturating_add);
        (self.pairs.pairs() == 0).then(|| legs.saturating_add(self.white.draws).saturating_add(self.black.draws))
    }

    /// Adds the games of `other`, which is of the same players in the same order.
    fn merge(&mut self, other: &Self) {
        let add = |into: &mut u64, count: u64| *into = into.saturating_add(count);
        self.pairs += other.pairs;
        let legs = self.legs.as_flattened_mut().iter_mut().zip(other.legs.as_flattened());
        legs.for_each(|(into, count)| add(into, *count));
        self.white += other.white;
        self.black += other.black;
    }
}

/// A player whose rating is known beforehand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// The player.
    pub player: usize,
    /// The rating, within 10,000 of 0.
    pub elo: f64,
    /// Half-width of its 95 % interval. 0 holds the rating fixed. With more, the games move it with
    /// the weight that they would have without draws. The rating then stays a little too near the
    /// anchor, and its error accounts for that.
    pub error95: f64,
}

/// Meaning of a rating.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatingKind {
    /// The most likely rating.
    Exact,
    /// The player made every point against the rest of the group, so the most likely rating is
    /// infinite. At this one the score would have had a probability of 2.5 %, with a pair taken as
    /// one game.
    AtLeast,
    /// The same for a player who made no point.
    AtMost,
}

/// One player's rating with its error and games.
#[derive(Clone, Debug, PartialEq)]
pub struct Rating {
    /// Elo on the 400 scale.
    pub elo: f64,
    /// Half-width of the 95 % interval, relative to the group's anchors or its mean. `None` if the
    /// games do not determine it: a bound, too few games, or no scatter at all.
    pub error95: Option<f64>,
    /// Exact rating or bound.
    pub bounded: RatingKind,
    /// Bounds between the rating and the exact ones, this one included: 0 for an exact rating, 1
    /// for a bound by games against exact ones, 2 for a bound by games against such bounds.
    pub depth: usize,
    /// Group of players who can be compared, because points joined them. 0 is the group with
    /// anchors, or with the most games.
    pub group: usize,
    /// Games played.
    pub games: u64,
    /// Mean score per game, `0.0..=1.0`; `None` without games.
    pub score: Option<f64>,
    /// Draws; `None` if pairs of which only the sum is known are among the games.
    pub draws: Option<u64>,
}

/// A figure of all games with its 95 % error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measurement {
    /// The most likely value.
    pub value: f64,
    /// Half-width of the 95 % interval; `None` if it is not known.
    pub error95: Option<f64>,
}

/// Result of a rating.
#[derive(Clone, Debug)]
pub struct Ratings {
    /// By player.
    pub players: Vec<Rating>,
    /// White advantage in Elo, one for all groups; `None` if the games do not determine it: colours
    /// not known, never reversed, or only wins for one colour.
    pub white_advantage: Option<Measurement>,
    /// Share of draws between equal players, `0.0..=1.0`; `None` without games whose result is
    /// known singly.
    pub draw_rate: Option<Measurement>,
    /// Number of groups.
    pub groups: usize,
    /// Index of a player in `covariance`; `None` for players held fixed.
    places: Vec<Option<usize>>,
    /// Covariance in natural units; `None` if there are too few games.
    covariance: Option<Covariance>,
}

/// Reason that players could not be rated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum RatingError {
    /// An encounter or anchor of a player beyond the last.
    #[error("player {player} of {players}: players are counted from 0")]
    NoSuchPlayer {
        /// Index given.
        player: usize,
        /// Players there are.
        players: usize,
    },
    /// An encounter of a player with themselves.
    #[error("player {0} plays against itself: leave such games out")]
    Itself(usize),
    /// Two anchors of one player.
    #[error("player {0} has two anchors: give one")]
    AnchoredTwice(usize),
    /// An anchor that is not a rating.
    #[error("anchor {elo} with error {error95}: give a rating from -10000 to 10000 and an error from 0 to 10000")]
    BadAnchor {
        /// Rating given.
        elo: f64,
        /// Error given.
        error95: f64,
    },
    /// More than [`MAX_PLAYERS`].
    #[error("{0} players are too many to rate at once: at most {MAX_PLAYERS}")]
    TooManyPlayers(usize),
}

/// Rates `players` players by their games.
///
/// Encounters may come in any order and repeat themselves. Without anchors each group's exact
/// ratings have the mean 0.
///
/// # Errors
/// [`RatingError`] for indices and anchors out of range.
pub fn rate(players: usize, encounters: &[EncounterCounts], anchors: &[Anchor]) -> Result<Ratings, RatingError> {
    rate_by_opening(players, encounters, &[], anchors)
}

/// Like [`rate`], with the meetings of each opening that has more than one: they are among the
/// games of `encounters`, and vary together.
///
/// # Errors
/// [`RatingError`] for indices and anchors out of range.
pub fn rate_by_opening(
    players: usize,
    encounters: &[EncounterCounts],
    shared: &[Vec<Meeting>],
    anchors: &[Anchor],
) -> Result<Ratings, RatingError> {
    check(players, encounters, shared, anchors)?;
    let encounters = merged(encounters);
    let groups = groups::groups(players, &encounters, anchors);
    // Games that decide only a bound are infinitely far up the curve; they do not affect the other
    // ratings.
    let part_of = groups::part_of(players, &groups);
    let inside: Vec<&EncounterCounts> = encounters.iter().filter(|met| part_of[met.a] == part_of[met.b]).collect();
    let fitted = fit::fit(players, &groups, &inside, anchors);
    let draws = if inside.len() == encounters.len() {
        draws::DrawLaw::fit(&inside, &fitted, shared)
    } else {
        draws::DrawLaw::fit(&encounters.iter().collect::<Vec<_>>(), &fit::shrunk(players, &encounters), shared)
    };
    let is_inside = |met: &Meeting| part_of[met.a as usize] == part_of[met.b as usize];
    let shared: Vec<Vec<Meeting>> = shared
        .iter()
        .map(|opening| opening.iter().copied().filter(is_inside).collect::<Vec<_>>())
        .filter(|opening| opening.len() > 1)
        .collect();
    let covariance = Covariance::new(&inside, &shared, &fitted, draws.as_ref());

    let mut ratings = Ratings {
        players: tallies(players, &encounters),
        white_advantage: fitted.white.map(|white| Measurement {
            value: white / PER_ELO + 0.0,
            error95: covariance.as_ref().and_then(|all| all.error95(|matrix| matrix.get(fitted.params, fitted.params))),
        }),
        draw_rate: draws.map(|draws| draws.rate),
        groups: groups.len(),
        places: fitted.places.clone(),
        covariance,
    };
    let has_anchor = |group: &Group| anchors.iter().any(|anchor| group.exact.contains(&anchor.player));
    for (number, group) in groups.iter().enumerate() {
        ratings.settle(number, group, &fitted.theta, has_anchor(group), &encounters);
    }
    Ok(ratings)
}

impl Rating {
    /// Order by strength within a group, the strongest first. Who made every point stands above
    /// those beaten, however low the bound is, because the most likely rating is infinite; in a
    /// chain of such players the bounds are the less certain the further they are.
    #[must_use]
    pub fn by_strength(&self, other: &Self) -> std::cmp::Ordering {
        // Places from the top: bounds from below, the exact ratings, bounds from above.
        let place = |rating: &Self| match rating.bounded {
            RatingKind::AtLeast => (0, usize::MAX - rating.depth),
            RatingKind::Exact => (1, 0),
            RatingKind::AtMost => (2, rating.depth),
        };
        // Equal results may differ in the last digits of their ratings; a sum with 0 has no -0.
        let millionths = |rating: &Self| (rating.elo * 1e6).round() + 0.0;
        place(self).cmp(&place(other)).then_with(|| millionths(other).total_cmp(&millionths(self)))
    }
}

/// Returns the ranks of sorted entries from 1. An entry that equals the one before shares its rank.
#[must_use]
pub fn ranks<T>(sorted: &[T], equal: impl Fn(&T, &T) -> bool) -> Vec<usize> {
    let mut ranks: Vec<usize> = (1..=sorted.len()).collect();
    for place in 1..sorted.len() {
        if equal(&sorted[place - 1], &sorted[place]) {
            ranks[place] = ranks[place - 1];
        }
    }
    ranks
}

impl Ratings {
    /// Likelihood of superiority: the probability that player `a` is stronger than player `b`,
    /// `0.0..=1.0`. `None` if the games do not determine it: different groups, a bound, unknown
    /// errors.
    #[must_use]
    pub fn los(&self, a: usize, b: usize) -> Option<f64> {
        let (first, second) = (self.players.get(a)?, self.players.get(b)?);
        let comparable = first.group == second.group && [first, second].iter().all(|r| r.bounded == RatingKind::Exact);
        if !comparable || a == b {
            return None;
        }
        let lead = first.elo - second.elo;
        let (i, j) = (self.places[a], self.places[b]);
        let (Some(covariance), true) = (&self.covariance, i.is_some() || j.is_some()) else {
            // Both held fixed: their ratings are certain.
            let fixed = i.is_none() && j.is_none() && lead != 0.0;
            return fixed.then_some(if lead > 0.0 { 1.0 } else { 0.0 });
        };
        let spread = covariance.spread(i, j)?;
        Some(student::above(-lead / spread.deviation, spread.freedom))
    }

    /// Stores a group's ratings.
    fn settle(&mut self, number: usize, group: &Group, theta: &[f64], anchored: bool, encounters: &[EncounterCounts]) {
        let count = group.exact.len() as f64;
        let mean = if anchored { 0.0 } else { group.exact.iter().map(|&player| theta[player]).sum::<f64>() / count };
        let mut placed: BTreeMap<usize, f64> = BTreeMap::new();
        for &player in &group.exact {
            placed.insert(player, theta[player] - mean);
            self.players[player].group = number;
        }
        for (player, error) in self.errors(&group.exact, anchored) {
            self.players[player].error95 = error;
        }
        for (bound, parts) in [(RatingKind::AtLeast, &group.above), (RatingKind::AtMost, &group.below)] {
            // Each part is bounded by those nearer to the exact ratings, and not by the other side.
            let mut near = placed.clone();
            for part in parts {
                let shift = groups::bound(part, theta, &near, encounters, bound);
                let met = groups::opponents(part, encounters).filter(|other| near.contains_key(other));
                let depth = 1 + met.map(|other| self.players[other].depth).max().unwrap_or(0);
                for &player in part {
                    near.insert(player, theta[player] + shift);
                    let rating = &mut self.players[player];
                    rating.depth = depth;
                    (rating.elo, rating.bounded, rating.group) =
                        ((theta[player] + shift) / PER_ELO + 0.0, bound, number);
                }
            }
        }
        for (player, rating) in placed {
            self.players[player].elo = rating / PER_ELO + 0.0;
        }
    }

    /// The errors of a group's exact ratings, relative to its anchors or its mean.
    fn errors(&self, exact: &[usize], anchored: bool) -> Vec<(usize, Option<f64>)> {
        let Some(covariance) = &self.covariance else {
            return exact.iter().map(|&player| (player, self.fixed(player, anchored))).collect();
        };
        let places: Vec<usize> = exact.iter().filter_map(|&player| self.places[player]).collect();
        let count = exact.len() as f64;
        let row_mean = |matrix: &Symmetric, i: usize| places.iter().map(|&j| matrix.get(i, j)).sum::<f64>() / count;
        let mean = |matrix: &Symmetric| places.iter().map(|&i| row_mean(matrix, i)).sum::<f64>() / count;
        let error = |player: usize| match self.places[player] {
            None if anchored => Some(0.0),
            None => covariance.error95(mean),
            Some(i) if anchored => covariance.error95(|matrix| matrix.get(i, i)),
            Some(i) => covariance.error95(|matrix| matrix.get(i, i) - 2.0 * row_mean(matrix, i) + mean(matrix)),
        };
        exact.iter().map(|&player| (player, error(player))).collect()
    }

    fn fixed(&self, player: usize, anchored: bool) -> Option<f64> {
        (anchored && self.places[player].is_none()).then_some(0.0)
    }
}

fn check(
    players: usize,
    encounters: &[EncounterCounts],
    shared: &[Vec<Meeting>],
    anchors: &[Anchor],
) -> Result<(), RatingError> {
    if players > MAX_PLAYERS {
        return Err(RatingError::TooManyPlayers(players));
    }
    let known =
        |player: usize| if player < players { Ok(()) } else { Err(RatingError::NoSuchPlayer { player, players }) };
    for met in encounters {
        known(met.a)?;
        known(met.b)?;
        if met.a == met.b {
            return Err(RatingError::Itself(met.a));
        }
    }
    for meeting in shared.iter().flatten() {
        known(meeting.a as usize)?;
        known(meeting.b as usize)?;
    }
    let mut seen = vec![false; players];
    for anchor in anchors {
        known(anchor.player)?;
        if std::mem::replace(&mut seen[anchor.player], true) {
            return Err(RatingError::AnchoredTwice(anchor.player));
        }
        if !(anchor.elo.abs() <= ANCHOR_LIMIT && (0.0..=ANCHOR_LIMIT).contains(&anchor.error95)) {
            return Err(RatingError::BadAnchor { elo: anchor.elo, error95: anchor.error95 });
        }
    }
    Ok(())
}

/// One encounter for any two players who met, the lower index first.
fn merged(encounters: &[EncounterCounts]) -> Vec<EncounterCounts> {
    let mut all: BTreeMap<(usize, usize), EncounterCounts> = BTreeMap::new();
    for met in encounters {
        let met = if met.a < met.b { met.clone() } else { met.reversed() };
        if met.games() > 0 {
            all.entry((met.a, met.b)).or_insert_with(|| EncounterCounts::new(met.a, met.b)).merge(&met);
        }
    }
    all.into_values().collect()
}

/// Games, scores and draws of each player, before the ratings are known.
fn tallies(players: usize, encounters: &[EncounterCounts]) -> Vec<Rating> {
    let blank = Rating {
        elo: 0.0,
        error95: None,
        bounded: RatingKind::Exact,
        depth: 0,
        group: 0,
        games: 0,
        score: None,
        draws: Some(0),
    };
    let mut ratings = vec![blank; players];
    let mut points = vec![0.0; players];
    for met in encounters {
        let games = met.games();
        let made = met.points();
        for (player, made) in [(met.a, made), (met.b, games as f64 - made)] {
            let rating = &mut ratings[player];
            rating.games = rating.games.saturating_add(games);
            rating.draws = rating.draws.zip(met.draws()).map(|(sum, more)| sum.saturating_add(more));
            points[player] += made;
        }
    }
    for (rating, points) in ratings.iter_mut().zip(points) {
        rating.score = (rating.games > 0).then(|| (points / rating.games as f64).clamp(0.0, 1.0));
    }
    ratings
}
