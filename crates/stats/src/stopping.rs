//! Rules that end a run early: a sequential test's verdict, and intervals that are narrow enough.

use super::clusters::ClusteredCounts;
use super::elo::Z_95;
use super::rating::{Rating, RatingError, RatingKind, Ratings};
use super::sprt::{Sprt, Verdict};
use super::{Pentanomial, elo};

/// A sequential test and its LLR after each pair.
#[derive(Clone, Debug)]
pub struct Trial {
    sprt: Sprt,
    llr_path: Vec<f64>,
    verdict: Verdict,
}

impl Trial {
    /// A test before its first pair.
    #[must_use]
    pub const fn new(sprt: Sprt) -> Self {
        Self { sprt, llr_path: Vec::new(), verdict: Verdict::Continue }
    }

    /// Records the LLR after one more pair.
    pub fn record(&mut self, llr: f64) {
        self.llr_path.push(llr);
        self.verdict = self.sprt.verdict_at(llr);
    }

    /// The test's bounds and error rates.
    #[must_use]
    pub const fn sprt(&self) -> &Sprt {
        &self.sprt
    }

    /// LLR after each pair.
    #[must_use]
    pub fn llr_path(&self) -> &[f64] {
        &self.llr_path
    }

    /// Verdict after the last pair.
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }
}

/// A stop at a width of the 95 % intervals.
#[derive(Clone, Copy, Debug)]
pub struct Width {
    /// Elo either way.
    target: f64,
    /// Number of players, from the first, whose ratings count if there are more than two.
    heroes: usize,
    /// Pairs after which the ratings are computed next, because they cost more than a pair does.
    next_look: u64,
    is_reached: bool,
}

impl Width {
    /// A stop at `target` Elo either way of the first `heroes` players.
    #[must_use]
    pub const fn new(target: f64, heroes: usize) -> Self {
        Self { target, heroes, next_look: 0, is_reached: false }
    }

    /// Returns true once the intervals are as narrow as required.
    #[must_use]
    pub const fn is_reached(&self) -> bool {
        self.is_reached
    }

    /// Checks the evidence between two players.
    pub fn look_at_pairs(&mut self, evidence: &ClusteredCounts<Pentanomial>) {
        self.is_reached = elo::is_within(evidence, self.target);
    }

    /// Checks the ratings of many players after `pairs` pairs, if a check is due.
    pub fn look_at_ratings(&mut self, pairs: u64, ratings: impl FnOnce() -> Result<Ratings, RatingError>) {
        if pairs < self.next_look {
            return;
        }
        // By pairs counted, not by time, so that a replayed journal checks at the same moments.
        self.next_look = pairs + 1 + pairs / 64;
        let is_narrow = |rating: &Rating| {
            rating.bounded == RatingKind::Exact && error_with_floor(rating).is_some_and(|error| error <= self.target)
        };
        self.is_reached = ratings()
            .is_ok_and(|ratings| ratings.groups == 1 && ratings.players.iter().take(self.heroes).all(is_narrow));
    }
}

/// Half the width of a rating's 95 % interval in Elo, with a floor under the scatter. The floor is
/// the variance 1/n that Chow and Robbins add to that of n samples (Annals of Mathematical
/// Statistics 36, 1965). It guards against stops after a few equal results. Engines that always
/// draw have only the floor.
fn error_with_floor(rating: &Rating) -> Option<f64> {
    let (pairs, score) = (rating.games as f64 / 2.0, rating.score?);
    let elo_per_score = 400.0 / (std::f64::consts::LN_10 * score * (1.0 - score));
    let error = rating.error95.unwrap_or(0.0).hypot(Z_95 / pairs * elo_per_score);
    error.is_finite().then_some(error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sprt::{Bounds, Model};

    #[test]
    fn a_verdict_is_that_of_the_last_llr() {
        let sprt = Sprt::new(Bounds { elo0: 0.0, elo1: 5.0 }, Model::Normalized, 0.05, 0.05).unwrap();
        let mut trial = Trial::new(sprt);
        assert_eq!(trial.verdict(), Verdict::Continue);
        for (llr, verdict) in [(1.0, Verdict::Continue), (3.0, Verdict::AcceptH1), (-3.0, Verdict::AcceptH0)] {
            trial.record(llr);
            assert_eq!(trial.verdict(), verdict, "{llr}");
        }
        assert_eq!(trial.llr_path(), [1.0, 3.0, -3.0]);
    }

    #[test]
    fn ratings_are_looked_at_ever_more_rarely() {
        let mut width = Width::new(5.0, 2);
        let mut looks = Vec::new();
        for pairs in 0..200 {
            width.look_at_ratings(pairs, || {
                looks.push(pairs);
                Err(RatingError::Itself(0))
            });
        }
        assert!(!width.is_reached());
        assert_eq!(looks.len(), 64 + 32 + 22 + 2, "{looks:?}");
    }
}
