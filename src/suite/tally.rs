//! Sums of answers, and the comparison of two engines.

use serde::Serialize;

use super::epd::TestPosition;
use super::play::TestAnswer;
use crate::stats::mcnemar;
use crate::stats::median;
use crate::stats::proportion::wilson;

/// Sums of an engine over a suite or a theme.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Sum {
    /// Name of the theme; empty for the whole suite.
    pub(crate) theme: String,
    /// Number of positions.
    pub(crate) positions: usize,
    /// Positions with a perfect answer.
    pub(crate) solved: usize,
    /// 95 % interval of the share of these positions.
    pub(crate) share: [f64; 2],
    /// Points.
    pub(crate) points: f64,
    /// Points of perfect answers to all.
    pub(crate) most: f64,
    /// Median time of the solved ones until the answer stood, in seconds.
    pub(crate) seconds: Option<f64>,
}

/// Sums over the whole suite, then over each theme in the order of the suite.
pub(crate) fn sums(tests: &[TestPosition], answers: &[TestAnswer]) -> Vec<Sum> {
    let mut themes: Vec<&str> = Vec::new();
    for test in tests {
        if !test.theme.is_empty() && !themes.contains(&test.theme.as_str()) {
            themes.push(&test.theme);
        }
    }
    let sum = |theme: &str| {
        let both = || tests.iter().zip(answers).filter(|(test, _)| theme.is_empty() || test.theme == theme);
        let times = both().filter(|(_, answer)| answer.is_solved).filter_map(|(_, answer)| answer.time);
        let solved = || both().filter(|(_, answer)| answer.is_solved).count();
        Sum {
            theme: theme.to_owned(),
            positions: both().count(),
            solved: solved(),
            share: wilson(solved() as u64, both().count() as u64),
            points: both().map(|(_, answer)| answer.points).sum(),
            most: both().map(|(test, _)| test.task.most()).sum(),
            seconds: median(times.map(|time| time.as_secs_f64()).collect()),
        }
    };
    std::iter::once("").chain(themes).map(sum).collect()
}

/// Comparison of one engine's answers with another's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(crate) struct Comparison {
    /// Positions that both solved.
    pub(crate) both: u64,
    /// Positions that only the first solved.
    pub(crate) first: u64,
    /// Positions that only the second solved.
    pub(crate) second: u64,
    /// Positions that neither solved.
    pub(crate) neither: u64,
    /// Probability of a split at least as uneven if both were equally good (McNemar, exact).
    pub(crate) p: f64,
}

/// Compares the answers of two engines to the same tests.
pub(crate) fn compare(first: &[TestAnswer], second: &[TestAnswer]) -> Comparison {
    let count = |one: bool, other: bool| {
        let split = first.iter().zip(second).filter(|(a, b)| a.is_solved == one && b.is_solved == other);
        split.count() as u64
    };
    let (only_first, only_second) = (count(true, false), count(false, true));
    Comparison {
        both: count(true, true),
        first: only_first,
        second: only_second,
        neither: count(false, false),
        p: mcnemar::p_value(only_first, only_second),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use super::*;
    use crate::chess::Variant;
    use crate::suite::epd::parse;

    fn answer(points: f64, is_solved: bool, ms: u64) -> TestAnswer {
        TestAnswer { points, is_solved, time: Some(Duration::from_millis(ms)), ..TestAnswer::default() }
    }

    #[test]
    fn answers_are_summed_by_theme() {
        let line = |id: &str| {
            format!("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - c0 \"e4=10, d4=5\"; id \"{id}\";\n")
        };
        let text: String = ["a.1", "b.1", "a.2", "a.3"].iter().map(|id| line(id)).collect();
        let tests = parse(Path::new("x"), &text, Variant::Standard).unwrap();
        let answers = [answer(10.0, true, 100), answer(5.0, false, 9), answer(10.0, true, 300), answer(0.0, false, 1)];
        let found = sums(&tests, &answers);
        let shown: Vec<_> =
            found.iter().map(|sum| (sum.theme.as_str(), sum.positions, sum.solved, sum.points)).collect();
        assert_eq!(shown, [("", 4, 2, 25.0), ("a", 3, 2, 20.0), ("b", 1, 0, 5.0)]);
        assert!(found[0].share[0] > 0.14 && found[0].share[1] < 0.86, "{:?}", found[0].share);
        assert_eq!((found[0].most, found[0].seconds, found[2].seconds), (40.0, Some(0.2), None));
    }

    #[test]
    fn engines_are_compared_by_what_only_one_solved() {
        let answers = |solved: &str| solved.chars().map(|c| answer(0.0, c == '1', 0)).collect::<Vec<_>>();
        let found = compare(&answers("1111110100"), &answers("0000000110"));
        assert_eq!((found.both, found.first, found.second, found.neither), (1, 6, 1, 2));
        assert!((found.p - 0.125).abs() < 1e-12, "{}", found.p);
    }
}
