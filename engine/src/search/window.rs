//! What a node of the tree is asked: the scores of interest, and what kind of node it is.

use crate::types::{Score, mate_in, mated_in};

/// What a node is to its search. Each kind compiles to its own code.
///
/// Cut and all nodes are what the minimal tree of alpha-beta consists of beside the principal variation ("An analysis of
/// alpha-beta pruning", D. Knuth and R. Moore, Artificial Intelligence 6(4), 1975): one good move refutes a cut node, all moves
/// of an all node must be searched. The kinds are expectations.
pub trait NodeKind {
    const ROOT: bool;
    /// In the principal variation: searched with an open window.
    const PV: bool;
    /// Expected to fail high.
    const CUT: bool;
    /// What the node after the first move is.
    type First: NodeKind;
    /// What the node after a later move is when it turns out better than a test expected.
    type Retried: NodeKind;
    /// What the node is when only a bound is tested.
    type Test: NodeKind;
}

pub struct RootNode;
pub struct PvNode;
pub struct CutNode;
pub struct AllNode;

impl NodeKind for RootNode {
    const ROOT: bool = true;
    const PV: bool = true;
    const CUT: bool = false;
    type First = PvNode;
    type Retried = CutNode;
    type Test = AllNode;
}

impl NodeKind for PvNode {
    const ROOT: bool = false;
    const PV: bool = true;
    const CUT: bool = false;
    type First = PvNode;
    type Retried = CutNode;
    type Test = AllNode;
}

impl NodeKind for CutNode {
    const ROOT: bool = false;
    const PV: bool = false;
    const CUT: bool = true;
    type First = AllNode;
    type Retried = AllNode;
    type Test = CutNode;
}

impl NodeKind for AllNode {
    const ROOT: bool = false;
    const PV: bool = false;
    const CUT: bool = false;
    type First = CutNode;
    type Retried = CutNode;
    type Test = AllNode;
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

    /// Mate-distance pruning: no score is better than mating with the next move or worse than being mated now (the engine
    /// community's).
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
