//! Growth of a search: nodes and time of its iterations, over many positions.
//!
//! A position that did not reach a depth within the limit counts as one that needs more than all
//! that did. Otherwise medians would fall at depths that only the cheap positions reached.

use serde::Serialize;

use super::student;

/// Share of the positions that must reach a depth for it to count in [`growth`].
const REACHED: f64 = 0.9;

/// Level of the intervals.
const LEVEL: f64 = 0.95;

/// Costs of one search: depths in plies with the cost up to their end, by rising depth.
pub type CostPath = Vec<(u32, f64)>;

/// Lower quartile, median and upper quartile in the unit of the costs (nodes or seconds); `None` if
/// fewer positions reached the depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quartiles {
    /// Cost that a quarter of the positions does not exceed.
    pub lower: Option<f64>,
    /// Cost that half of the positions do not exceed.
    pub median: Option<f64>,
    /// Cost that three quarters of the positions do not exceed.
    pub upper: Option<f64>,
}

impl Quartiles {
    /// Quartiles of `total` positions, of which those with a cost in `known` reached the depth.
    #[must_use]
    pub fn of(mut known: Vec<f64>, total: usize) -> Self {
        known.retain(|cost| cost.is_finite());
        known.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let rank = (share * total as f64).ceil().max(1.0) as usize;
            known.get(rank - 1).copied()
        };
        Self { lower: at(0.25), median: at(0.5), upper: at(0.75) }
    }
}

/// Costs of searches to one depth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DepthCost {
    /// Depth in plies.
    pub depth: u32,
    /// Number of positions that reached the depth.
    pub reached: usize,
    /// Costs over all positions.
    #[serde(flatten)]
    pub cost: Quartiles,
    /// Geometric mean of the ratios to the depth before, over the positions with both.
    pub growth: Option<f64>,
}

/// Factor of the cost for one more ply, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Growth {
    /// Geometric mean of the ratios of successive depths.
    pub ratio: f64,
    /// Lower end of the interval of the ratio.
    pub lo: f64,
    /// Upper end of the interval of the ratio.
    pub hi: f64,
    /// First depth that counts, in plies.
    pub from: u32,
    /// Last depth that counts, in plies.
    pub to: u32,
    /// Number of positions with a ratio.
    pub positions: usize,
}

/// Costs by depth, for depths that any position reached.
#[must_use]
pub fn by_depth(paths: &[CostPath]) -> Vec<DepthCost> {
    let mut depths: Vec<u32> = paths.iter().flatten().map(|point| point.0).collect();
    depths.sort_unstable();
    depths.dedup();
    let row = |depth: u32| {
        let known: Vec<f64> = paths.iter().filter_map(|path| cost(path, depth)).collect();
        let logs: Vec<f64> = paths.iter().filter_map(|path| step(path, depth)).collect();
        let growth = (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp());
        DepthCost { depth, reached: known.len(), cost: Quartiles::of(known, paths.len()), growth }
    };
    depths.into_iter().map(row).collect()
}

/// Growth a ply between the first depth with a median cost of at least `least` and the deepest that
/// nine of ten positions reached.
///
/// Positions are independent samples, the plies of one are not, so the interval is that of a ratio
/// of sums over positions with Student's law. `None` with fewer than two positions that have a
/// ratio.
#[must_use]
pub fn growth(paths: &[CostPath], least: f64) -> Option<Growth> {
    let rows = by_depth(paths);
    let from = rows.iter().find(|row| row.cost.median.is_some_and(|median| median >= least))?.depth;
    let enough = |row: &&DepthCost| row.reached as f64 >= REACHED * paths.len() as f64;
    let to = rows.iter().rev().find(enough)?.depth;
    let sums: Vec<(f64, f64)> = paths
        .iter()
        .map(|path| {
            // Only depths that occur, because an engine may report any number.
            let depths = rows.iter().map(|row| row.depth).filter(|depth| *depth > from && *depth <= to);
            let steps = depths.filter_map(|depth| step(path, depth));
            steps.fold((0.0, 0.0), |(sum, count), log| (sum + log, count + 1.0))
        })
        .filter(|(_, count)| *count > 0.0)
        .collect();
    let positions = sums.len();
    if positions < 2 {
        return None;
    }
    let count: f64 = sums.iter().map(|sum| sum.1).sum();
    let mean = sums.iter().map(|sum| sum.0).sum::<f64>() / count;
    let freedom = positions as f64 - 1.0;
    let squares: f64 = sums.iter().map(|(sum, count)| (sum - mean * count).powi(2)).sum();
    let error = (squares * positions as f64 / freedom).sqrt() / count;
    let half = student::quantile(f64::midpoint(1.0, LEVEL), freedom) * error;
    Some(Growth { ratio: mean.exp(), lo: (mean - half).exp(), hi: (mean + half).exp(), from, to, positions })
}

fn cost(path: &CostPath, depth: u32) -> Option<f64> {
    path.iter().find(|point| point.0 == depth).map(|point| point.1).filter(|cost| cost.is_finite())
}

/// Logarithm of the ratio of the costs at `depth` and at the depth before.
fn step(path: &CostPath, depth: u32) -> Option<f64> {
    let (before, after) = (cost(path, depth.checked_sub(1)?)?, cost(path, depth)?);
    (before > 0.0 && after > 0.0).then(|| (after / before).ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    fn path(costs: &[f64]) -> CostPath {
        (1..).zip(costs.iter().copied()).collect()
    }

    #[test]
    fn quartiles_count_positions_that_did_not_reach_the_depth() {
        for (known, total, expected) in [
            (&[4.0, 1.0, 3.0, 2.0][..], 4, [Some(1.0), Some(2.0), Some(3.0)]),
            (&[4.0, 1.0, 3.0, 2.0], 8, [Some(2.0), Some(4.0), None]),
            (&[5.0], 4, [Some(5.0), None, None]),
            (&[5.0], 1, [Some(5.0); 3]),
            (&[f64::NAN], 1, [None; 3]),
            (&[], 0, [None; 3]),
        ] {
            let [lower, median, upper] = expected;
            assert_eq!(
                Quartiles::of(known.to_vec(), total),
                Quartiles { lower, median, upper },
                "{known:?} of {total}"
            );
        }
    }

    #[test]
    fn growth_is_that_of_a_table() {
        // Logarithms 2 ln 2 of two plies, and 2 ln 3.
        let paths = [path(&[10.0, 20.0, 40.0]), path(&[10.0, 30.0, 90.0])];
        let found = growth(&paths, 5.0).unwrap();
        assert!((found.ratio - 6f64.sqrt()).abs() < 1e-12, "{found:?}");
        // Deviation of the sums from the mean: ln 1.5, twice; Student's quantile of one degree.
        let half = 12.706_204_7 * (2.0 * 1.5f64.ln().powi(2) * 2.0).sqrt() / 4.0;
        assert!((found.hi.ln() - 6f64.sqrt().ln() - half).abs() < 1e-6, "{found:?}");
        assert_eq!((found.from, found.to, found.positions), (1, 3, 2));
        let rows = by_depth(&paths);
        assert_eq!(rows.iter().map(|row| (row.depth, row.reached)).collect::<Vec<_>>(), [(1, 2), (2, 2), (3, 2)]);
        assert_eq!(rows[0].growth, None);
        assert!((rows[1].growth.unwrap() - 6f64.sqrt()).abs() < 1e-12, "{rows:?}");
    }

    #[test]
    fn depths_that_few_reach_and_cheap_depths_do_not_count() {
        let mut paths = vec![path(&[1.0, 9.0, 20.0, 40.0]); 19];
        paths.push(path(&[1.0, 9.0, 20.0, 40.0, 4000.0]));
        let found = growth(&paths, 8.0).unwrap();
        assert_eq!((found.from, found.to), (2, 4));
        assert!((found.ratio - (40f64 / 9.0).sqrt()).abs() < 1e-12, "{found:?}");
    }

    /// A loop over all depths between would take minutes, and end with an overflow.
    #[test]
    fn a_depth_of_any_number_is_one_depth() {
        let mut far = path(&[10.0, 20.0, 40.0]);
        let near = growth(&vec![far.clone(); 50], 5.0);
        far.push((u32::MAX, 80.0));
        let found = growth(&vec![far; 50], 5.0).unwrap();
        assert_eq!((found.from, found.to), (1, u32::MAX));
        assert_eq!(Some(Growth { to: 3, ..found }), near);
    }

    #[test]
    fn paths_that_say_nothing_have_no_growth() {
        for paths in [
            vec![],
            vec![path(&[1.0, 2.0])],
            vec![path(&[0.0, 0.0]), path(&[0.0, 0.0])],
            vec![path(&[f64::NAN, 2.0]), path(&[1.0, f64::INFINITY])],
            vec![vec![(1, 2.0), (3, 4.0)], vec![(1, 2.0), (3, 4.0)]],
        ] {
            assert_eq!(growth(&paths, 0.0), None, "{paths:?}");
        }
    }

    /// Simulated searches whose positions differ in their growth: a node limit cuts the costly ones
    /// off, and the interval must hold the truth all the same.
    #[test]
    fn intervals_keep_their_level_under_a_node_limit() {
        let mut random = SplitMix64::new(11);
        let mut normal = move || (0..12).map(|_| random.unit()).sum::<f64>() - 6.0;
        let mut held = 0;
        for _ in 0..1_000 {
            let paths: Vec<CostPath> = (0..40)
                .map(|_| {
                    let (own, mut log) = (1.8f64.ln() + 0.05 * normal(), 3.0 + 0.5 * normal());
                    let costs = (0..20).map(|_| {
                        log += own + 0.3 * normal();
                        log.exp()
                    });
                    path(&costs.take_while(|cost| *cost < 2e6).collect::<Vec<_>>())
                })
                .collect();
            let found = growth(&paths, 1000.0).unwrap();
            held += u32::from(found.lo <= 1.8 && 1.8 <= found.hi);
        }
        assert!((900..=980).contains(&held), "{held} of 1,000 intervals hold the truth");
    }
}
