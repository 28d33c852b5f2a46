//! Expected length of a race, before its first game.
//!
//! The fortune of a gambler grows by `E ln(1 + stake x)` a pair, and a claim is accepted
//! approximately when the mean of the fortunes reaches its bound. By simulation the mean number of
//! pairs is within an eighth of the forecast, if candidates share none of an opening's luck. If
//! they do, two equals end sooner.

use super::{RaceSettings, stakes, together};
use crate::simulate::Law;
use crate::sprt::{Model, expected_score};
use crate::{Counts as _, Pentanomial};

/// Standard deviations by which the luckier one of two equally good candidates leads when its claim
/// ends the race; by simulation.
const LUCK: f64 = 1.1;

/// Number of pairs that no race plays.
const NEVER: f64 = 1e9;

/// Pairs of this shape after which a candidate of this strength (in Elo against the base) is
/// dropped by its games against the base, in a race of `candidates`.
///
/// `None` if no drop is expected.
#[must_use]
pub fn pairs_to_drop(settings: RaceSettings, shape: &Law, candidates: usize, elo: f64) -> Option<f64> {
    let wanted = expected_score(settings.enough());
    let gains: [_; 5] = outcomes(shape, elo).map(|(share, score)| (share, wanted - score));
    pairs_until(settings.bound(candidates), wanted.max(1.0 - wanted), &gains, 0.0)
}

/// Pairs of this shape after which two equally strong candidates, both shown to be stronger than
/// the base, are found to be close enough.
///
/// `None` without [`RaceSettings::close`].
#[must_use]
pub fn pairs_of_equals(settings: RaceSettings, shape: &Law, candidates: usize) -> Option<f64> {
    let close = settings.close_score();
    let mut gains = Vec::new();
    for (share, score) in outcomes(shape, 0.0) {
        gains.extend(outcomes(shape, 0.0).map(|(other, theirs)| (share * other, score - theirs + close)));
    }
    let deviation = gains.iter().map(|(share, gain)| share * (gain - close).powi(2)).sum::<f64>().sqrt();
    if close > 0.0 { pairs_until(settings.bound(candidates), 1.0 + close, &gains, LUCK * deviation) } else { None }
}

/// Shares and scores of pairs of this shape at this strength.
fn outcomes(shape: &Law, elo: f64) -> [(f64, f64); 5] {
    let law = shape.leaned(elo, Model::Logistic);
    std::array::from_fn(|class| (law.shares()[class], Pentanomial::SCORES[class]))
}

/// Pairs after which fortunes with the expected growth of these outcomes (share and gain) reach
/// `bound`, if chance adds `luck` times the root of the pairs to their sum.
fn pairs_until(bound: f64, reach: f64, outcomes: &[(f64, f64)], luck: f64) -> Option<f64> {
    let stakes = stakes(reach);
    let is_enough = |pairs: f64| {
        let more = luck / pairs.sqrt();
        let growth =
            |stake: f64| outcomes.iter().map(|(share, gain)| share * (stake * (gain + more)).ln_1p()).sum::<f64>();
        together(&stakes.map(|stake| growth(stake) * pairs)) >= bound
    };
    if !is_enough(NEVER) {
        return None;
    }
    let (mut low, mut high) = (0.0, NEVER);
    while high - low > 0.5 {
        let middle = f64::midpoint(low, high);
        if is_enough(middle) { high = middle } else { low = middle }
    }
    Some(high)
}
