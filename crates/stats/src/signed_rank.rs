//! Location of a symmetric distribution by signed ranks.
//!
//! J. L. Hodges and E. L. Lehmann (1963); J. W. Tukey (1949).
//!
//! The estimate is the median of all averages of two values, a value with itself included. The
//! interval runs from the k-th smallest to the k-th largest of them, and k follows from the
//! distribution of Wilcoxon's statistic if each sign is equally likely. So the level needs no
//! normal distribution, no equal variances and no independent sizes, only signs that are fair.

use crate::student;

/// Numbers of values up to which the statistic's distribution is computed exactly.
const EXACT: usize = 100;

/// Estimate with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RankInterval {
    /// Hodges-Lehmann estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub lo: f64,
    /// Upper end of the interval.
    pub hi: f64,
}

impl RankInterval {
    /// Computes the estimate of finite `values` and its interval of `level`. `None` if there are
    /// too few values for this level: six are needed for 0.95.
    #[must_use]
    pub fn of(values: &[f64], level: f64) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let averages = sorted.len() as u64 * (sorted.len() as u64 + 1) / 2;
        let end = end_rank(sorted.len(), (1.0 - level) / 2.0)?;
        let at = |rank| nth_average(&sorted, rank);
        let value = f64::midpoint(at(averages.div_ceil(2)), at(averages / 2 + 1));
        Some(Self { value, lo: at(end), hi: at(averages + 1 - end) })
    }
}

/// Rank of the average at the lower end of an interval, counted from 1, with a probability of at
/// most `tail` below it. `None` if there is no such rank.
fn end_rank(count: usize, tail: f64) -> Option<u64> {
    let rank = if count <= EXACT { exact_rank(count, tail) } else { normal_rank(count as f64, tail) };
    (rank > 0).then_some(rank)
}

/// Number of values of the statistic, from zero on, whose probability together is at most `tail`.
fn exact_rank(count: usize, tail: f64) -> u64 {
    // Probability of each sum of the ranks that are chosen by fair coins.
    let mut shares = vec![1.0_f64];
    for rank in 1..=count {
        let mut next = vec![0.0; shares.len() + rank];
        for (sum, share) in shares.iter().enumerate() {
            next[sum] += share / 2.0;
            next[sum + rank] += share / 2.0;
        }
        shares = next;
    }
    let mut below = 0.0;
    let is_within = |share: &&f64| {
        below += **share;
        below <= tail
    };
    shares.iter().take_while(is_within).count() as u64
}

/// The same by the normal approximation with its correction for continuity.
fn normal_rank(count: f64, tail: f64) -> u64 {
    let mean = count * (count + 1.0) / 4.0;
    let deviation = (count * (count + 1.0) * (2.0 * count + 1.0) / 24.0).sqrt();
    let last = mean - 0.5 + student::quantile(tail, f64::INFINITY) * deviation;
    (last.floor() + 1.0).max(0.0) as u64
}

/// The `rank`-th smallest average of two of the sorted values, counted from 1. There are too many
/// averages for a list of them, so the value is found by bisection.
fn nth_average(sorted: &[f64], rank: u64) -> f64 {
    let (Some(first), Some(last)) = (sorted.first(), sorted.last()) else { return f64::NAN };
    let (mut lo, mut hi) = (*first, *last);
    // Each step halves the distance; the loop ends once no number lies between the two.
    loop {
        if averages_up_to(sorted, lo) >= rank {
            return lo;
        }
        let middle = f64::midpoint(lo, hi);
        if middle <= lo || middle >= hi {
            return hi;
        }
        if averages_up_to(sorted, middle) >= rank { hi = middle } else { lo = middle }
    }
}

/// Number of averages of two of the sorted values that are at most `bound`.
fn averages_up_to(sorted: &[f64], bound: f64) -> u64 {
    let mut partners = sorted.len();
    let mut count = 0;
    for (place, value) in sorted.iter().enumerate() {
        while partners > 0 && f64::midpoint(*value, sorted[partners - 1]) > bound {
            partners -= 1;
        }
        if partners <= place {
            break;
        }
        count += (partners - place) as u64;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    #[test]
    fn ranks_are_those_of_the_tables() {
        // Wilcoxon's critical values of the two-sided 5 % test, which are one below these ranks.
        for (count, critical) in [(6, 0), (7, 2), (8, 3), (10, 8), (15, 25), (20, 52), (25, 89), (50, 434)] {
            assert_eq!(end_rank(count, 0.025), Some(critical + 1), "{count} values");
        }
        for count in 0..6 {
            assert_eq!(end_rank(count, 0.025), None, "{count} values");
        }
    }

    #[test]
    fn the_approximation_continues_the_exact_ranks() {
        for count in [60, 80, 100] {
            let (exact, near) = (exact_rank(count, 0.025), normal_rank(count as f64, 0.025));
            assert!(exact.abs_diff(near) <= 2, "{count} values: {exact} and {near}");
        }
    }

    #[test]
    fn ends_are_averages_of_the_values() {
        let mut random = SplitMix64::new(5);
        for count in 6..40 {
            // Few different numbers, so that there are ties.
            let values: Vec<f64> = (0..count).map(|_| f64::from(random.below(12)) - 5.0).collect();
            let mut averages: Vec<f64> = Vec::new();
            for (place, value) in values.iter().enumerate() {
                averages.extend(values[place..].iter().map(|other| f64::midpoint(*value, *other)));
            }
            averages.sort_by(f64::total_cmp);
            let found = RankInterval::of(&values, 0.95).unwrap();
            let end = end_rank(count, 0.025).unwrap() as usize;
            let middle = f64::midpoint(averages[(averages.len() - 1) / 2], averages[averages.len() / 2]);
            let expected = [averages[end - 1], middle, averages[averages.len() - end]];
            for (value, expected) in [found.lo, found.value, found.hi].iter().zip(expected) {
                assert!((value - expected).abs() < 1e-12, "{values:?}: {found:?}, not {expected}");
            }
        }
    }
}
