//! Comparison of two shares by Fisher's exact test: failures here and elsewhere.

/// Probability that at least as many of the failures fall on `here` by chance, if each game is as
/// likely to fail as any other.
///
/// Both are failures and games; 1 for impossible counts.
///
/// R. A. Fisher, "The logic of inductive inference", J. R. Stat. Soc. 98 (1935).
#[must_use]
pub fn excess(here: (u64, u64), elsewhere: (u64, u64)) -> f64 {
    let (failed, games) = here;
    let (all_failed, all_games) = (failed + elsewhere.0, games + elsewhere.1);
    if failed > games || elsewhere.0 > elsewhere.1 {
        return 1.0;
    }
    // One failure after the other is drawn from the games that are left. The terms of the tail
    // follow from the first one, each by a ratio, so that nothing overflows.
    let ln_choose = |n: u64, k: u64| (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum::<f64>();
    let ln_first = ln_choose(games, failed) + ln_choose(elsewhere.1, elsewhere.0) - ln_choose(all_games, all_failed);
    // Far below the expectation the first term is less than any number, and the tail is all.
    if ln_first < -700.0 && (failed as f64) * (elsewhere.1 as f64) < (elsewhere.0 as f64) * (games as f64) {
        return 1.0;
    }
    let mut term = ln_first.exp();
    let mut tail = 0.0;
    for here in failed..=all_failed.min(games) {
        tail += term;
        let there = all_failed - here;
        let odds = (games - here) as f64 * there as f64;
        term *= odds / ((here + 1) as f64 * (elsewhere.1 + here + 1 - all_failed) as f64);
    }
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(here: (u64, u64), elsewhere: (u64, u64), expected: f64) {
        let found = excess(here, elsewhere);
        assert!((found - expected).abs() < 1e-9 * expected.max(1e-3), "{found} instead of {expected}");
    }

    #[test]
    fn tails_are_those_of_urns() {
        // Fisher's tea: 3 of 4, and 4 of 4.
        check((3, 4), (1, 4), 17.0 / 70.0);
        check((4, 4), (0, 4), 1.0 / 70.0);
        check((0, 7), (3, 9), 1.0);
        check((0, 0), (0, 0), 1.0);
        check((2, 2), (0, 0), 1.0);
        check((1, 1), (0, 99), 0.01);
        check((2, 2), (1, 98), 3.0 / 4_950.0);
        check((9, 4), (0, 4), 1.0);
        check((10, 3_000), (3_000, 10_000), 1.0);
        check((1, 1_600), (1_200, 2_000), 1.0);
        check((1, 1_100), (500, 500), 1.0);
        assert!(excess((500, 1_000), (0, 1_000_000)) < 1e-300);
        assert!(excess((500, 1_000), (500_000, 1_000_000)) > 0.49);
    }
}
