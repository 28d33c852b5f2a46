//! Search windows and the kinds of nodes in the tree.

use crate::types::{INFINITE, Score, mate_in, mated_in};

/// Role of a node in the search. Each kind compiles to code of its own.
///
/// The minimal tree of alpha-beta consists of the principal variation, cut nodes and all nodes ("An
/// analysis of alpha-beta pruning", D. Knuth and R. Moore, Artificial Intelligence 6(4), 1975). One
/// good move refutes a cut node; all moves of an all node must be searched. The kind of a node is
/// an expectation that the search may disprove.
pub trait NodeKind {
    const ROOT: bool;
    /// Member of the principal variation, searched with an open window.
    const PV: bool;
    /// Expected to fail high.
    const CUT: bool;
    /// Kind of the child after the first move.
    type FirstChild: NodeKind;
    /// Kind of the child when a reduced search failed high and is repeated.
    type ResearchChild: NodeKind;
    /// Kind of the same node when only a bound is tested.
    type NullWindow: NodeKind;
}

pub struct RootNode;
pub struct PvNode;
pub struct CutNode;
pub struct AllNode;

impl NodeKind for RootNode {
    const ROOT: bool = true;
    const PV: bool = true;
    const CUT: bool = false;
    type FirstChild = PvNode;
    type ResearchChild = CutNode;
    type NullWindow = AllNode;
}

impl NodeKind for PvNode {
    const ROOT: bool = false;
    const PV: bool = true;
    const CUT: bool = false;
    type FirstChild = PvNode;
    type ResearchChild = CutNode;
    type NullWindow = AllNode;
}

impl NodeKind for CutNode {
    const ROOT: bool = false;
    const PV: bool = false;
    const CUT: bool = true;
    type FirstChild = AllNode;
    type ResearchChild = AllNode;
    type NullWindow = CutNode;
}

impl NodeKind for AllNode {
    const ROOT: bool = false;
    const PV: bool = false;
    const CUT: bool = false;
    type FirstChild = CutNode;
    type ResearchChild = CutNode;
    type NullWindow = AllNode;
}

/// Scores of interest from the side to move's view: above `alpha` and below `beta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub alpha: Score,
    pub beta: Score,
}

/// Bounds of a node's score by the tablebases.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoreRange {
    pub floor: Score,
    pub ceiling: Score,
}

impl ScoreRange {
    /// The range of all scores.
    pub const ALL: Self = Self { floor: -INFINITE, ceiling: INFINITE };
}

impl Window {
    /// Returns the null window that tests whether a score is above `alpha`.
    #[inline]
    pub fn test_above(alpha: Score) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// Returns the same window from the other side's view.
    #[inline]
    pub fn flip(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// Narrows the window by mate-distance pruning (common practice): no score is better than
    /// mating with the next move, or worse than being mated now.
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
