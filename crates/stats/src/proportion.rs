//! Intervals of a share: tests solved of tests asked.

use super::elo::Z_95;

/// Wilson's score interval of 95 % for the share of `successes` in `trials`; everything without
/// trials.
///
/// Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
/// American Statistical Association 22 (1927).
#[must_use]
pub fn wilson(successes: u64, trials: u64) -> [f64; 2] {
    if trials == 0 {
        return [0.0, 1.0];
    }
    wilson_of_share(successes as f64 / trials as f64, trials as f64)
}

/// Wilson's interval of a share among `n` trials, which need not be a whole number.
pub(crate) fn wilson_of_share(share: f64, n: f64) -> [f64; 2] {
    let square = Z_95 * Z_95;
    let middle = share + square / (2.0 * n);
    let reach = Z_95 * (share * (1.0 - share) / n + square / (4.0 * n * n)).sqrt();
    [middle - reach, middle + reach].map(|end| (end / (1.0 + square / n)).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{Binomial, Discrete as _};

    use super::wilson;

    #[test]
    fn ends_are_those_of_newcombe() {
        // Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in
        // Medicine 17 (1998), table I, method 3.
        for (successes, trials, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611), (1, 29, 0.0061, 0.1718)]
        {
            let found = wilson(successes, trials);
            assert!((found[0] - low).abs() < 5e-5 && (found[1] - high).abs() < 5e-5, "{successes}: {found:?}");
        }
        assert_eq!((wilson(0, 0), wilson(5, 5)[1]), ([0.0, 1.0], 1.0));
    }

    #[test]
    fn intervals_keep_their_level_on_average() {
        let trials = 40;
        let covered = |share: f64| -> f64 {
            let law = Binomial::new(share, trials).unwrap();
            let holds = |solved: &u64| (wilson(*solved, trials)[0]..=wilson(*solved, trials)[1]).contains(&share);
            (0..=trials).filter(holds).map(|solved| law.pmf(solved)).sum()
        };
        let mean = (1..200).map(|step| covered(f64::from(step) / 200.0)).sum::<f64>() / 199.0;
        assert!((mean - 0.95).abs() < 0.01, "{mean}");
    }
}
