//! The sandwich estimate of the ratings' errors, with game pairs and shared openings as clusters.

use super::super::dense::Symmetric;
use super::draws::DrawLaw;
use super::fit::{ColoredGames, Solution, directions, rows, slope};
use super::openings::{self, Meeting};
use super::{EncounterCounts, PER_ELO, PRIOR_PAIRS, Z_95};
use crate::{Counts as _, student};

/// Second moments of a cluster's contribution to the gradient: along the rating difference of its
/// two players, along the white advantage, and across.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GradientMoments {
    pub(super) lead: f64,
    pub(super) white: f64,
    pub(super) across: f64,
}

impl GradientMoments {
    /// One game with variance `variance`, `side` as in [`ColoredGames::side`].
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
    /// Pairs with known legs, then those without: their observed moments, and those of independent
    /// games.
    pairs: f64,
    seen: GradientMoments,
    modelled: GradientMoments,
}

/// Covariance of the unknowns in natural units, and the figures behind it.
#[derive(Clone, Debug)]
pub(super) struct Covariance {
    /// Covariance with meetings from one opening taken as independent.
    independent: Symmetric,
    /// Covariance with the opening as the cluster, and the effective number of openings minus one;
    /// `None` if none is shared.
    by_opening: Option<(Symmetric, f64)>,
    /// Inverse of the information.
    inverse: Symmetric,
    shares: Vec<Share>,
    /// Pairs inside the parts.
    pairs: f64,
    /// Pairs and single games inside the parts.
    units: f64,
    /// Small-sample correction of the pairs' scatter.
    correction: f64,
    fitted: Solution,
}

/// Scatter of one encounter, as it enters `M`.
#[derive(Clone, Copy, Debug)]
struct Share {
    players: (usize, usize),
    pairs: f64,
    of_pairs: GradientMoments,
    of_singles: GradientMoments,
}

/// A figure's standard deviation in Elo, and the degrees of freedom of its variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spread {
    pub(super) deviation: f64,
    pub(super) freedom: f64,
}

impl Covariance {
    /// Covariance of the unknowns; `None` if there are too few games, or none that vary. `shared`
    /// are the openings with more than one meeting, each inside a part.
    pub(super) fn new(
        inside: &[&EncounterCounts],
        shared: &[Vec<Meeting>],
        fitted: &Solution,
        draws: Option<&DrawLaw>,
    ) -> Option<Self> {
        let size = fitted.unknowns();
        let variance = |expected: f64| draws.map_or(expected * (1.0 - expected), |draws| draws.variance(expected));
        let clusters: Vec<Clusters> = inside.iter().map(|met| clusters(met, fitted, &variance)).collect();
        let pairs: f64 = clusters.iter().map(|cluster| cluster.pairs).sum();
        let singles: f64 = inside.iter().map(|met| met.white.games() as f64 + met.black.games() as f64).sum();
        // With one unknown it is 1, as it is for the Elo of two players. An anchor's prior replaces
        // one estimate.
        let estimated = size.saturating_sub(fitted.priors.len()).max(1);
        let units = pairs + singles;
        let correction = (units - 1.0) / (units - estimated as f64);
        if size == 0 || (pairs > 0.0 && !(correction.is_finite() && correction > 0.0)) {
            return None;
        }
        let common = common_scatter(&clusters);
        let all: Vec<ColoredGames> = inside.iter().flat_map(|met| rows(met)).filter(|row| row.games > 0.0).collect();
        let inverse = slope(fitted, &all).0.factor(0.0).ok()?.inverse();
        let share = |(met, cluster): (&&EncounterCounts, &Clusters)| {
            let mut of_singles = GradientMoments::default();
            for (single, side) in [(&met.white, 1.0), (&met.black, -1.0)] {
                let game = GradientMoments::game(variance(score(met, fitted, side)), side);
                of_singles = of_singles.plus(game.times(single.games() as f64));
            }
            let of_pairs = if cluster.pairs > 0.0 {
                blended(cluster, common).times(correction)
            } else {
                GradientMoments::default()
            };
            Share { players: (met.a, met.b), pairs: cluster.pairs, of_pairs, of_singles }
        };
        let shares: Vec<Share> = inside.iter().zip(&clusters).map(share).collect();
        let mut product = middle(&shares, fitted, &inverse);
        let independent = inverse.times(&product);
        let counts: Vec<f64> = shared.iter().map(|opening| opening.len() as f64).collect();
        let by_opening = openings::effective(units, &counts).map(|openings| {
            // Few openings underestimate the scatter, like a variance of few numbers about their
            // mean.
            let few = openings / (openings - 1.0) * (units - 1.0) / units;
            for ((i, j), moment) in openings::cross_moments(shared, fitted) {
                let row = inverse.row(j);
                product[i].iter_mut().zip(row).for_each(|(sum, value)| *sum += moment * value);
            }
            product.as_mut_slice().iter_mut().flatten().for_each(|value| *value *= few);
            (inverse.times(&product), openings - 1.0)
        });
        let fitted = fitted.clone();
        Some(Self { independent, by_opening, inverse, shares, pairs, units, correction, fitted })
    }

    /// Half-width in Elo of the 95 % interval of a figure whose variance `of` computes from the
    /// matrix; `None` if it is 0 up to rounding, or not finite. The larger of the two errors, so
    /// that openings can only widen an interval.
    pub(super) fn error95(&self, of: impl Fn(&Symmetric) -> f64) -> Option<f64> {
        let independent = deviation(of(&self.independent)).map(|deviation| Z_95 * deviation);
        let by_opening = self
            .by_opening
            .as_ref()
            .and_then(|(matrix, freedom)| Some(deviation(of(matrix))? * student::quantile(0.975, *freedom)));
        // No error at all counts as smaller than any error.
        independent.into_iter().chain(by_opening).reduce(f64::max)
    }

    /// Standard deviation of the difference of two unknowns with its degrees of freedom: of the two
    /// errors in [`Self::error95`], the one with the wider interval.
    pub(super) fn spread(&self, plus: Option<usize>, minus: Option<usize>) -> Option<Spread> {
        let of = |matrix: &Symmetric| {
            let entry = |i: Option<usize>, j: Option<usize>| i.zip(j).map_or(0.0, |(i, j)| matrix.get(i, j));
            entry(plus, plus) + entry(minus, minus) - 2.0 * entry(plus, minus)
        };
        let alone = self.freedom(&openings::difference(&self.inverse, plus, minus));
        let spread = |matrix: &Symmetric, freedom: f64| Some(Spread { deviation: deviation(of(matrix))?, freedom });
        let independent = spread(&self.independent, alone);
        let by_opening = self.by_opening.as_ref().and_then(|(matrix, openings)| {
            // The openings hold only a part of the evidence of all pairs about the scatter.
            let less = (1.0 / openings - 1.0 / self.units).max(0.0);
            spread(matrix, 1.0 / (1.0 / alone + less))
        });
        let width = |spread: &Spread| spread.deviation * student::quantile(0.975, spread.freedom);
        independent.into_iter().chain(by_opening).max_by(|one, other| width(one).total_cmp(&width(other)))
    }

    /// Degrees of freedom of the variance of a figure that the unknowns' gradients move by
    /// `weights` (Satterthwaite 1946). Observed scatter is a sum of squares; that of single games
    /// follows from the model and is taken as known.
    fn freedom(&self, weights: &[f64]) -> f64 {
        let (mut variance, mut own, mut lent, mut squares) = (0.0, 0.0, 0.0, 0.0);
        for share in &self.shares {
            let of = |moments: GradientMoments| openings::share(moments, share.players, weights, &self.fitted);
            let (pairs, singles) = (of(share.of_pairs), of(share.of_singles));
            variance += pairs + singles;
            if share.pairs > 0.0 {
                let blend = share.pairs / (share.pairs + PRIOR_PAIRS);
                own += blend * pairs;
                lent += (1.0 - blend) * pairs;
                squares += (blend * pairs).powi(2) / share.pairs;
            }
        }
        if self.pairs <= 0.0 {
            return f64::INFINITY;
        }
        // The borrowed part comes from the scatter of all pairs, which includes the encounter's
        // own.
        let doubt = (squares + (2.0 * own * lent + lent * lent) / self.pairs) * self.correction;
        let freedom = variance * variance / doubt * self.pairs_less_one();
        if freedom.is_finite() { freedom.max(1.0) } else { f64::INFINITY }
    }

    fn pairs_less_one(&self) -> f64 {
        // N pairs about one mean have N - 1 degrees of freedom.
        ((self.pairs - 1.0) / self.pairs).max(0.0)
    }
}

/// Elo of a variance in natural units; `None` if it is 0 up to rounding, or not finite.
fn deviation(variance: f64) -> Option<f64> {
    let deviation = variance.max(0.0).sqrt() / PER_ELO;
    (deviation.is_finite() && deviation * Z_95 > 1e-6).then_some(deviation)
}

/// `M` times the inverse information, by rows: M has few entries.
fn middle(shares: &[Share], fitted: &Solution, inverse: &Symmetric) -> Vec<Vec<f64>> {
    let size = fitted.unknowns();
    let mut product = vec![vec![0.0; size]; size];
    for share in shares {
        add(&mut product, inverse, fitted, share.players, share.of_pairs.plus(share.of_singles));
    }
    for prior in &fitted.priors {
        let row = inverse.row(prior.place);
        product[prior.place].iter_mut().zip(row).for_each(|(sum, value)| *sum += prior.precision * value);
    }
    product
}

/// Expected score of the encounter's `a`.
fn score(met: &EncounterCounts, fitted: &Solution, side: f64) -> f64 {
    fitted.expected(&ColoredGames { a: met.a, b: met.b, side, games: 1.0, points: 0.0, draws: None })
}

/// Observed and expected moments of an encounter's pairs around the fitted scores.
fn clusters(met: &EncounterCounts, fitted: &Solution, variance: &impl Fn(f64) -> f64) -> Clusters {
    let (with_white, with_black, either) = (score(met, fitted, 1.0), score(met, fitted, -1.0), score(met, fitted, 0.0));
    let mut found = Clusters::default();
    let mut count = |pairs: u64, lead: f64, white: f64, modelled: GradientMoments| {
        let pairs = pairs as f64;
        found.pairs += pairs;
        found.seen = found
            .seen
            .plus(GradientMoments { lead: lead * lead, white: white * white, across: lead * white }.times(pairs));
        found.modelled = found.modelled.plus(modelled.times(pairs));
    };
    let modelled =
        GradientMoments::game(variance(with_white), 1.0).plus(GradientMoments::game(variance(with_black), -1.0));
    for (first, row) in met.legs.iter().enumerate() {
        for (second, pairs) in row.iter().enumerate() {
            let (first, second) = (first as f64 / 2.0 - with_white, second as f64 / 2.0 - with_black);
            count(*pairs, first + second, first - second, modelled);
        }
    }
    for class in 0..5 {
        let lead = class as f64 / 2.0 - 2.0 * either;
        count(met.pairs.count(class), lead, 0.0, GradientMoments::game(2.0 * variance(either), 0.0));
    }
    found
}

/// Ratios of the scatter of all pairs together to that of independent games: along the lead, along
/// the white advantage.
fn common_scatter(clusters: &[Clusters]) -> (f64, f64) {
    let sum = clusters.iter().fold(Clusters::default(), |sum, cluster| Clusters {
        pairs: sum.pairs + cluster.pairs,
        seen: sum.seen.plus(cluster.seen),
        modelled: sum.modelled.plus(cluster.modelled),
    });
    let ratio = |seen: f64, modelled: f64| if modelled > 0.0 { seen / modelled } else { 0.0 };
    (ratio(sum.seen.lead, sum.modelled.lead), ratio(sum.seen.white, sum.modelled.white))
}

/// The moments of an encounter's pairs, shrunk towards the common scatter.
fn blended(cluster: &Clusters, (lead, white): (f64, f64)) -> GradientMoments {
    let expected = GradientMoments {
        lead: cluster.modelled.lead * lead,
        white: cluster.modelled.white * white,
        across: cluster.modelled.across * (lead * white).sqrt(),
    };
    let own = cluster.pairs / (cluster.pairs + PRIOR_PAIRS);
    cluster.seen.times(own).plus(expected.times(1.0 - own))
}

/// Adds an encounter's share of `M` times `inverse`.
fn add(
    product: &mut [Vec<f64>],
    inverse: &Symmetric,
    fitted: &Solution,
    (a, b): (usize, usize),
    moments: GradientMoments,
) {
    let unknown = directions(fitted, a, b, 1.0);
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
