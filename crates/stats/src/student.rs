//! Student's distribution: the normal one for a deviation that is itself estimated.
//!
//! Sources: M. Abramowitz, I. A. Stegun, "Handbook of Mathematical Functions" (1964), 26.7.1, for
//! the distribution as an incomplete beta function; K. L. Majumder, G. P. Bhattacharjee, "Algorithm
//! AS 64", Applied Statistics 22 (1973), for its inverse. The crate `statrs` computes both.

use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

/// Degrees of freedom from which the normal distribution is used; the difference is below every
/// printed digit.
const NORMAL: f64 = 1e6;

/// Value, in standard errors, that a value of the distribution is below with probability `share`.
///
/// `share` is a probability, above 0 and below 1, and not in per cent: 0.975 for the upper end of a
/// 95 % interval. `freedom` is the number of degrees of freedom; if it is infinite, the quantile is
/// that of the normal distribution.
///
/// # Panics
/// If `share` is not from 0 to 1.
#[must_use]
pub fn quantile(share: f64, freedom: f64) -> f64 {
    law(freedom).map_or_else(|| Normal::standard().inverse_cdf(share), |law| law.inverse_cdf(share))
}

/// Probability, `0.0..=1.0`, of a value above `value`, which is in standard errors, with `freedom`
/// degrees of freedom.
#[must_use]
pub fn above(value: f64, freedom: f64) -> f64 {
    law(freedom).map_or_else(|| Normal::standard().sf(value), |law| law.sf(value))
}

/// The distribution for a finite number of degrees of freedom; `None` for the normal one.
fn law(freedom: f64) -> Option<StudentsT> {
    StudentsT::new(0.0, 1.0, freedom).ok().filter(|_| freedom < NORMAL)
}

#[cfg(test)]
mod tests {
    use super::{above, quantile};

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (share, freedom, expected) in [
            (0.975, 1.0, 12.706_205),
            (0.975, 4.0, 2.776_445),
            (0.975, 19.0, 2.093_024),
            (0.995, 30.0, 2.749_996),
            (0.975, f64::INFINITY, 1.959_964),
            (0.975, 1e9, 1.959_964),
        ] {
            let found = quantile(share, freedom);
            assert!((found - expected).abs() < 2e-6, "{share} with {freedom}: {found}, not {expected}");
            assert!((above(expected, freedom) - (1.0 - share)).abs() < 1e-6, "{share} with {freedom}");
        }
    }
}
