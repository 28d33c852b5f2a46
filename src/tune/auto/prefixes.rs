//! Sums of theta over the tuning blocks, as far back as result and drift of a run need them.

use std::collections::VecDeque;
use std::sync::Arc;

/// After each tuning block, the sum of theta over it and all before it, parameter by parameter.
///
/// Copies of a run share the sums. Those of the first three eighths of the blocks are dropped,
/// because no later mean reaches back so far. A run keeps 8 bytes for each parameter and block of
/// the others.
#[derive(Clone, Debug, Default)]
pub(super) struct PrefixSums {
    rows: VecDeque<Arc<[f64]>>,
    /// Number of blocks whose sums were dropped.
    dropped: usize,
}

/// Number of blocks without the last quarter.
pub(super) const fn three_quarters(blocks: usize) -> usize {
    blocks - blocks / 4
}

impl PrefixSums {
    /// Number of tuning blocks.
    pub(super) fn blocks(&self) -> usize {
        self.dropped + self.rows.len()
    }

    /// Adds the theta after the next block.
    pub(super) fn push(&mut self, theta: &[f64]) {
        let before = self.rows.back();
        let earlier = |index: usize| before.map_or(0.0, |sums| sums[index]);
        let row = theta.iter().enumerate().map(|(index, theta)| earlier(index) + theta).collect();
        self.rows.push_back(row);
        // The drift needs the second half of the first three quarters.
        let least = three_quarters(self.blocks()) / 2;
        while self.dropped + 1 < least {
            self.rows.pop_front();
            self.dropped += 1;
        }
    }

    /// Sums over the first `blocks`; `None` for no block, and if they were dropped or are not there
    /// yet.
    pub(super) fn up_to(&self, blocks: usize) -> Option<&[f64]> {
        let row = self.rows.get(blocks.checked_sub(self.dropped + 1)?)?;
        Some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sums_that_a_mean_needs_are_kept_and_few_others() {
        let mut sums = PrefixSums::default();
        assert_eq!((sums.blocks(), sums.up_to(0), sums.up_to(1)), (0, None, None));
        for block in 1..=200usize {
            sums.push(&[block as f64, -1.0]);
            assert_eq!((sums.blocks(), sums.up_to(block + 1)), (block, None));
            for of in [block, three_quarters(block)] {
                for needed in [of, of / 2, of.div_ceil(2)] {
                    let wanted = [(needed * (needed + 1) / 2) as f64, -(needed as f64)];
                    assert_eq!(sums.up_to(needed), (needed > 0).then_some(wanted.as_slice()), "{needed} of {block}");
                }
            }
            assert!(sums.rows.len() <= block * 5 / 8 + 2, "{} of {block}", sums.rows.len());
        }
        let copy = sums.clone();
        assert!(copy.rows.iter().zip(&sums.rows).all(|(one, other)| Arc::ptr_eq(one, other)));
    }
}
