//! The sandwich: how far the ratings may be off, with game pairs as the unit that varies.

use super::dense::Symmetric;
use super::draws::Draws;
use super::fit::{Fitted, Row, directions, rows, slope};
use super::{Encounter, PRIOR_PAIRS};
use crate::stats::Counts as _;

/// Second moments of what a cluster adds to the gradient: along the rating difference of its two players, along the white
/// advantage, and across.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    lead: f64,
    white: f64,
    across: f64,
}

impl Moments {
    /// One game with variance `variance`, `side` as in [`Row::side`].
    const fn game(variance: f64, side: f64) -> Self {
        Self { lead: variance, white: variance * side * side, across: variance * side }
    }

    fn plus(self, other: Self) -> Self {
        Self { lead: self.lead + other.lead, white: self.white + other.white, across: self.across + other.across }
    }

    fn times(self, factor: f64) -> Self {
        Self { lead: self.lead * factor, white: self.white * factor, across: self.across * factor }
    }
}

/// The pairs of one encounter.
#[derive(Clone, Copy, Debug, Default)]
struct Clusters {
    /// Pairs with known legs, then those without: what they show, and what independent games would have.
    pairs: f64,
    seen: Moments,
    modelled: Moments,
}

/// Covariance of the unknowns in natural units; `None` where there are too few games to tell, or none that vary.
pub(super) fn covariance(inside: &[&Encounter], fitted: &Fitted, draws: Option<&Draws>) -> Option<Symmetric> {
    let size = fitted.unknowns();
    let variance = |expected: f64| draws.map_or(expected * (1.0 - expected), |draws| draws.variance(expected));
    let clusters: Vec<Clusters> = inside.iter().map(|met| clusters(met, fitted, &variance)).collect();
    let pairs: f64 = clusters.iter().map(|cluster| cluster.pairs).sum();
    let singles: f64 = inside.iter().map(|met| met.white.games() as f64 + met.black.games() as f64).sum();
    // With one unknown it is 1, as it is for the Elo of two players. An anchor's prior makes up for one.
    let estimated = size.saturating_sub(fitted.priors.len()).max(1);
    let correction = (pairs + singles - 1.0) / (pairs + singles - estimated as f64);
    if size == 0 || (pairs > 0.0 && !(correction.is_finite() && correction > 0.0)) {
        return None;
    }
    let common = common_scatter(&clusters);

    let all: Vec<Row> = inside.iter().flat_map(|met| rows(met)).filter(|row| row.games > 0.0).collect();
    let inverse = slope(fitted, &all).0.factor(0.0).ok()?.inverse();
    // M times the inverse, by rows: M has few entries.
    let mut product = vec![vec![0.0; size]; size];
    for (met, cluster) in inside.iter().zip(&clusters) {
        let mut moments = blended(cluster, common).times(correction.max(0.0));
        if cluster.pairs == 0.0 {
            moments = Moments::default();
        }
        for (single, side) in [(&met.white, 1.0), (&met.black, -1.0)] {
            moments =
                moments.plus(Moments::game(variance(score(met, fitted, side)), side).times(single.games() as f64));
        }
        add(&mut product, &inverse, fitted, met, moments);
    }
    for prior in &fitted.priors {
        let row = inverse.row(prior.place);
        product[prior.place].iter_mut().zip(row).for_each(|(sum, value)| *sum += prior.precision * value);
    }
    Some(inverse.times(&product))
}

/// Expected score of the encounter's `a`.
fn score(met: &Encounter, fitted: &Fitted, side: f64) -> f64 {
    fitted.expected(&Row { a: met.a, b: met.b, side, games: 1.0, points: 0.0, draws: None })
}

/// What the pairs of an encounter show about the fitted scores.
fn clusters(met: &Encounter, fitted: &Fitted, variance: &impl Fn(f64) -> f64) -> Clusters {
    let (with_white, with_black, either) = (score(met, fitted, 1.0), score(met, fitted, -1.0), score(met, fitted, 0.0));
    let mut found = Clusters::default();
    let mut count = |pairs: u64, lead: f64, white: f64, modelled: Moments| {
        let pairs = pairs as f64;
        found.pairs += pairs;
        found.seen =
            found.seen.plus(Moments { lead: lead * lead, white: white * white, across: lead * white }.times(pairs));
        found.modelled = found.modelled.plus(modelled.times(pairs));
    };
    let modelled = Moments::game(variance(with_white), 1.0).plus(Moments::game(variance(with_black), -1.0));
    for (first, row) in met.legs.iter().enumerate() {
        for (second, pairs) in row.iter().enumerate() {
            let (first, second) = (first as f64 / 2.0 - with_white, second as f64 / 2.0 - with_black);
            count(*pairs, first + second, first - second, modelled);
        }
    }
    for class in 0..5 {
        let lead = class as f64 / 2.0 - 2.0 * either;
        count(met.pairs.count(class), lead, 0.0, Moments::game(2.0 * variance(either), 0.0));
    }
    found
}

/// By which factors all pairs together scatter more, or less, than independent games would: along the lead, along the white
/// advantage.
fn common_scatter(clusters: &[Clusters]) -> (f64, f64) {
    let sum = clusters.iter().fold(Clusters::default(), |sum, cluster| Clusters {
        pairs: sum.pairs + cluster.pairs,
        seen: sum.seen.plus(cluster.seen),
        modelled: sum.modelled.plus(cluster.modelled),
    });
    let ratio = |seen: f64, modelled: f64| if modelled > 0.0 { seen / modelled } else { 0.0 };
    (ratio(sum.seen.lead, sum.modelled.lead), ratio(sum.seen.white, sum.modelled.white))
}

/// The moments of an encounter's pairs, drawn towards the common scatter.
fn blended(cluster: &Clusters, (lead, white): (f64, f64)) -> Moments {
    let expected = Moments {
        lead: cluster.modelled.lead * lead,
        white: cluster.modelled.white * white,
        across: cluster.modelled.across * (lead * white).sqrt(),
    };
    let own = cluster.pairs / (cluster.pairs + PRIOR_PAIRS);
    cluster.seen.times(own).plus(expected.times(1.0 - own))
}

/// Adds an encounter's share of `M` times `inverse`.
fn add(product: &mut [Vec<f64>], inverse: &Symmetric, fitted: &Fitted, met: &Encounter, moments: Moments) {
    let unknown = directions(fitted, met.a, met.b, 1.0);
    let is_white = |index: usize| index == 2;
    for (i, (into, sign)) in unknown.iter().enumerate() {
        let Some(into) = *into else { continue };
        for (j, (from, other)) in unknown.iter().enumerate() {
            let Some(from) = *from else { continue };
            let moment = match (is_white(i), is_white(j)) {
                (false, false) => moments.lead,
                (true, true) => moments.white,
                _ => moments.across,
            };
            let factor = sign * other * moment;
            product[into].iter_mut().zip(inverse.row(from)).for_each(|(sum, value)| *sum += factor * value);
        }
    }
}
