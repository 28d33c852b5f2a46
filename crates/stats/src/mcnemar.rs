//! McNemar's test of two programs that answered the same questions.

use statrs::distribution::{Binomial, DiscreteCDF as _};

/// Probability, if both were equally good, of a split of the questions that only one of them
/// answered at least as uneven as `first` against `second`.
///
/// Exact and two-sided: the questions that both or neither answered say nothing, and each other one
/// is as likely to be either's. McNemar, "Note on the sampling error of the difference between
/// correlated proportions or percentages", Psychometrika 12 (1947), with the binomial distribution
/// in place of the chi-squared.
#[must_use]
pub fn p_value(first: u64, second: u64) -> f64 {
    let Ok(law) = Binomial::new(0.5, first.saturating_add(second)) else { return 1.0 };
    (2.0 * law.cdf(first.min(second))).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::p_value;

    #[test]
    fn values_are_those_of_the_binomial_distribution() {
        for (first, second, expected) in [
            (0, 0, 1.0),
            (1, 0, 1.0),
            (5, 5, 1.0),
            // 2 / 2^6
            (6, 0, 0.031_25),
            // 2 (1 + 10 + 45) / 2^10
            (8, 2, 0.109_375),
            (2, 8, 0.109_375),
            // Agresti, "Categorical Data Analysis", does the chi-squared test of 86 and 150: below
            // 0.0001.
            (86, 150, 3.716e-5),
        ] {
            let found = p_value(first, second);
            assert!((found - expected).abs() < expected * 1e-3, "{first} and {second}: {found}, not {expected}");
        }
    }
}
