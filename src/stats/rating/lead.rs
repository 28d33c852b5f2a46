//! How far one player is ahead of another, and how surely.

use super::{Bound, Measured, Ratings, deviation};

impl Ratings {
    /// The lead of player `a` over player `b` in Elo, with its own 95 % error: that of a difference is not to be had from the errors
    /// of both, which hang together. `None` where the games don't tell: different groups, a bound, the same player, no scatter.
    #[must_use]
    pub fn lead(&self, a: usize, b: usize) -> Option<Measured> {
        let (first, second) = (self.players.get(a)?, self.players.get(b)?);
        let comparable = first.group == second.group && [first, second].iter().all(|r| r.bounded == Bound::Exact);
        if !comparable || a == b {
            return None;
        }
        let matrix = self.covariance.as_ref()?;
        let (i, j) = (self.places[a], self.places[b]);
        let entry = |i: Option<usize>, j: Option<usize>| i.zip(j).map_or(0.0, |(i, j)| matrix.get(i, j));
        let error95 = Some(deviation(entry(i, i) + entry(j, j) - 2.0 * entry(i, j))?);
        Some(Measured { value: first.elo - second.elo, error95 })
    }
}
