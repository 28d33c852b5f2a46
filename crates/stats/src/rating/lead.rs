//! Lead of one player over another, with its error.

use super::{Measurement, RatingKind, Ratings};
use crate::student;

/// A lead with the figures needed to test it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lead {
    /// Elo of one player over the other.
    pub value: f64,
    /// Standard deviation of the lead in Elo.
    pub deviation: f64,
    /// Degrees of freedom of that deviation; infinite if it is known.
    pub freedom: f64,
}

impl Lead {
    /// The lead with the half-width of its 95 % interval by Student's law.
    #[must_use]
    pub fn measured(&self) -> Measurement {
        Measurement { value: self.value, error95: Some(self.deviation * student::quantile(0.975, self.freedom)) }
    }

    /// Two-sided probability of a lead at least as large between equals, by Student's law.
    #[must_use]
    pub fn p(&self) -> f64 {
        (2.0 * student::above(self.value.abs() / self.deviation, self.freedom)).min(1.0)
    }
}

impl Ratings {
    /// The lead of player `a` over player `b` with its own deviation, which does not follow from
    /// the errors of both, because they are correlated. `None` if the games do not determine it:
    /// different groups, a bound, the same player, no scatter.
    #[must_use]
    pub fn lead(&self, a: usize, b: usize) -> Option<Lead> {
        let (first, second) = (self.players.get(a)?, self.players.get(b)?);
        let comparable = first.group == second.group && [first, second].iter().all(|r| r.bounded == RatingKind::Exact);
        if !comparable || a == b {
            return None;
        }
        let spread = self.covariance.as_ref()?.spread(self.places[a], self.places[b])?;
        Some(Lead { value: first.elo - second.elo, deviation: spread.deviation, freedom: spread.freedom })
    }
}
