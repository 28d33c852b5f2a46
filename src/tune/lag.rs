//! The lag of a tuning: the values of a block follow from the blocks before the last one, so one
//! block can be played while another is still open.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

/// Number of blocks right before a block whose results its values do not wait for.
pub const LAG: u64 = 1;

/// States of a run after its last complete blocks, and the values that pairs have by them.
#[derive(Clone, Debug)]
pub(super) struct StateHistory<State, Vectors> {
    /// The newest last; never empty.
    states: VecDeque<State>,
    /// Values of the block that each state is the basis of, once they were asked for.
    asked: VecDeque<OnceLock<Arc<[Vectors]>>>,
    completed: u64,
}

impl<State: Clone, Vectors> StateHistory<State, Vectors> {
    /// A run before its first block, as if complete blocks without results had come before it.
    pub(super) fn new(start: State) -> Self {
        let len = usize::try_from(LAG).unwrap_or(usize::MAX).saturating_add(1);
        let asked = std::iter::repeat_n(OnceLock::new(), len).collect();
        Self { states: std::iter::repeat_n(start, len).collect(), asked, completed: 0 }
    }

    /// Complete blocks.
    pub(super) const fn completed(&self) -> u64 {
        self.completed
    }

    /// State after the last complete block.
    pub(super) fn newest(&self) -> &State {
        &self.states[self.states.len() - 1]
    }

    /// State that the values of a block follow from; `None` while it is not reached, and if it is
    /// no longer kept.
    pub(super) fn basis(&self, block: u64) -> Option<&State> {
        self.index(block).map(|index| &self.states[index])
    }

    /// Values of the pairs of a block: made from their basis when they are first asked for, `None`
    /// without a basis.
    pub(super) fn values(
        &self,
        block: u64,
        make: impl FnOnce(&State) -> Option<Arc<[Vectors]>>,
    ) -> Option<Arc<[Vectors]>> {
        let index = self.index(block)?;
        let kept = &self.asked[index];
        if kept.get().is_none() {
            let made = make(&self.states[index])?;
            return Some(Arc::clone(kept.get_or_init(|| made)));
        }
        kept.get().cloned()
    }

    /// Place of the state that the values of a block follow from.
    fn index(&self, block: u64) -> Option<usize> {
        // The newest state is the basis of block `completed + LAG`.
        let behind = usize::try_from((self.completed + LAG).checked_sub(block)?).ok()?;
        self.states.len().checked_sub(behind.checked_add(1)?)
    }

    /// Adds the state after the next block.
    pub(super) fn push(&mut self, state: State) {
        self.states.push_back(state);
        self.states.pop_front();
        self.asked.push_back(OnceLock::new());
        self.asked.pop_front();
        self.completed += 1;
    }
}

/// Blocks whose results the values of a block follow from.
pub(super) const fn blocks_known(block: u64) -> u64 {
    block.saturating_sub(LAG)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_asked_from_the_state_before_the_last_one() {
        let mut past = StateHistory::<_, u64>::new(0u64);
        assert_eq!([0, 1, 2].map(|block| past.basis(block).copied()), [Some(0), Some(0), None]);
        for block in 1..5 {
            past.push(block * 10);
            assert_eq!((past.completed(), *past.newest()), (block, block * 10));
            // The open block, the one that may be begun beside it, and those out of reach.
            assert_eq!(past.basis(block), Some(&(blocks_known(block) * 10)));
            assert_eq!(past.basis(block + 1), Some(&(blocks_known(block + 1) * 10)));
            assert_eq!((past.basis(block + 2), past.basis(block - 1)), (None, None));
        }
        assert_eq!(past.basis(u64::MAX), None);
    }

    #[test]
    fn values_are_made_once_for_each_block() {
        let mut past = StateHistory::new(7u64);
        let made = std::cell::Cell::new(0);
        let ask = |past: &StateHistory<u64, u64>, block: u64| {
            let values = past.values(block, |basis| {
                made.set(made.get() + 1);
                Some(Arc::from([basis + block]))
            });
            values.map(|values| values[0])
        };
        // Two blocks of one state each have values of their own.
        assert_eq!([0, 1, 2, 0, 1].map(|block| ask(&past, block)), [Some(7), Some(8), None, Some(7), Some(8)]);
        assert_eq!(made.get(), 2);
        past.push(100);
        assert_eq!([0, 1, 2, 2].map(|block| ask(&past, block)), [None, Some(8), Some(102), Some(102)]);
        assert_eq!(made.get(), 3);
    }
}
