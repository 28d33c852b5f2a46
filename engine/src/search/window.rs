//! What a node of the tree is asked: the scores of interest, and what kind of node it is.

use crate::types::{Score, mate_in, mated_in};

/// What a node is to its search.
pub(super) trait NodeKind {
    const ROOT: bool;
    /// In the principal variation: searched with an open window.
    const PV: bool;
    /// What the node after the first move is.
    type First: NodeKind;
}

pub(super) struct RootNode;
pub(super) struct PvNode;
pub(super) struct TestNode;

impl NodeKind for RootNode {
    const ROOT: bool = true;
    const PV: bool = true;
    type First = PvNode;
}

impl NodeKind for PvNode {
    const ROOT: bool = false;
    const PV: bool = true;
    type First = PvNode;
}

impl NodeKind for TestNode {
    const ROOT: bool = false;
    const PV: bool = false;
    type First = TestNode;
}

/// Scores of interest, from the side to move's view: greater than `alpha`, less than `beta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub alpha: Score,
    pub beta: Score,
}

impl Window {
    /// A test whether a score is above `alpha`.
    #[inline]
    pub fn test_above(alpha: Score) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// The same window from the other side's view.
    #[inline]
    pub fn flip(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// Mate-distance pruning: no score is better than mating with the next move or worse than being mated now.
    #[inline]
    pub fn within_mate_distance(self, ply: usize) -> Window {
        let ply = ply as i32;
        Window { alpha: self.alpha.max(mated_in(ply)), beta: self.beta.min(mate_in(ply + 1)) }
    }

    #[inline]
    pub fn is_empty(self) -> bool {
        self.alpha >= self.beta
    }
}
