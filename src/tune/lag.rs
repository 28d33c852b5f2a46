//! The lag of a tuning: the values of a block follow from the blocks before the last one, so one
//! block can be played while another is still open.

use std::collections::VecDeque;

/// Blocks right before a block whose results its values do not wait for.
pub const LAG: u64 = 1;

/// States of a run after its last complete blocks.
#[derive(Clone, Debug)]
pub(super) struct Past<State> {
    /// The newest last; never empty.
    states: VecDeque<State>,
    completed: u64,
}

impl<State: Clone> Past<State> {
    /// A run before its first block, as if complete blocks without results had come before it.
    pub(super) fn new(start: State) -> Self {
        let len = usize::try_from(LAG).unwrap_or(usize::MAX).saturating_add(1);
        Self { states: std::iter::repeat_n(start, len).collect(), completed: 0 }
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
        // The newest state is the basis of block `completed + LAG`.
        let behind = usize::try_from((self.completed + LAG).checked_sub(block)?).ok()?;
        self.states.len().checked_sub(behind.checked_add(1)?).map(|index| &self.states[index])
    }

    /// Adds the state after the next block.
    pub(super) fn push(&mut self, state: State) {
        self.states.push_back(state);
        self.states.pop_front();
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
        let mut past = Past::new(0u64);
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
}
