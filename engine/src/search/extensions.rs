//! Extensions and internal iterative reduction: pure functions, and the singular search that feeds
//! them.
//!
//! TT stands for transposition table.

use super::params;
use super::tt::{Bound, Entry};
use super::window::{NodeKind, Window};
use super::worker::{Node, Worker};
use crate::board::Board;
use crate::types::{Move, Score, is_mate};

/// Outcome of the singular search, which leaves the TT move out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Extension of the TT move in plies; negative values reduce it.
    Extend(i32),
    /// Multi-cut: another move beats beta too, so the node fails high with this score.
    Cut(Score),
}

/// Returns the score that all other moves must stay below for the TT move to be singular.
fn singular_bound(score: Score, depth: i32) -> Score {
    score - params::singular_slope() * depth / 16
}

/// Returns whether the TT entry qualifies: a lower bound from a search nearly as deep.
fn may_be_singular(entry: Entry, depth: i32) -> bool {
    let is_lower = matches!(entry.bound, Bound::Lower | Bound::Exact);
    depth >= params::singular_depth() && entry.depth >= depth - 3 && is_lower && !is_mate(entry.score)
}

/// Singular extension: a move without an alternative is searched one ply deeper (T. Anantharaman,
/// M. Campbell and F. Hsu, "Singular extensions: adding selectivity to brute-force searching",
/// Artificial Intelligence 43(1), 1990).
///
/// A double extension adds a second ply if the move stands out and the line has few double
/// extensions so far. Multi-cut prunes the node if another move beats beta too (Y. Björnsson and T.
/// Marsland, 1998). A negative extension reduces the TT move if its score beats beta or the node is
/// a cut node. These three are common practice.
fn verdict<N: NodeKind>(others: Score, bound: Score, tt_score: Score, beta: Score, may_double: bool) -> Verdict {
    if others < bound {
        let stands_out = !N::PV && may_double && others < bound - params::double_extension_margin();
        Verdict::Extend(1 + i32::from(stands_out))
    } else if bound >= beta {
        Verdict::Cut(bound)
    } else if tt_score >= beta {
        Verdict::Extend(-2 + i32::from(N::PV))
    } else if N::CUT {
        Verdict::Extend(-2)
    } else {
        Verdict::Extend(0)
    }
}

/// Check extension of one ply (common practice since the 1970s).
///
/// A check leaves few legal replies, and they should not be left to quiescence search.
#[inline]
pub fn check_extension(in_check: bool) -> i32 {
    i32::from(in_check)
}

/// Internal iterative reduction (IIR; E. Schröder, 2020): PV and cut nodes without a TT move lose a
/// ply.
///
/// The shallower search finds a move for the next visit.
pub fn internal_reduction<N: NodeKind>(depth: i32, tt_move: Move) -> i32 {
    i32::from((N::PV || N::CUT) && tt_move.is_null() && depth >= params::internal_reduction_depth())
}

impl Worker<'_> {
    /// Searches all moves but the TT move at half depth to see if it is singular.
    pub fn singular_extension<N: NodeKind>(&mut self, board: &Board, node: &Node) -> Verdict {
        let Node { ply, depth, window, .. } = *node;
        let Some(entry) = node.tt.filter(|&entry| may_be_singular(entry, depth)) else { return Verdict::Extend(0) };
        if N::ROOT || !board.is_legal(entry.mv) || ply >= self.stack.longest_extended() {
            return Verdict::Extend(0);
        }
        let bound = singular_bound(entry.score, depth);
        let test = Window::test_above(bound - 1);
        let others = Node { depth: (depth - 1) / 2, window: test, excluded: entry.mv, extension: 0, ..*node };
        let best = self.search_moves::<N::NullWindow>(board, &others);
        let may_double = self.stack.double_extensions(ply) < params::double_extensions_max();
        verdict::<N>(best.score, bound, entry.score, window.beta, may_double)
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::{AllNode, CutNode, PvNode};
    use super::*;
    use crate::types::MATE_IN_MAX;

    #[test]
    fn a_move_is_extended_by_how_far_it_stands_out() {
        let far = -params::double_extension_margin() - 1;
        // Best score of the other moves and TT score, relative to a bound of 0. Beta, double
        // extension allowed; verdicts in cut, all and PV nodes.
        let cases = [
            (-1, 10, 50, true, [1, 1, 1]),
            (far, 10, 50, true, [2, 2, 1]),
            (far, 10, 50, false, [1, 1, 1]),
            (0, 10, 50, true, [-2, 0, 0]),
            (0, 60, 50, true, [-2, -2, -1]),
        ];
        for (others, score, beta, twice, plies) in cases {
            let found = [
                verdict::<CutNode>(others, 0, score, beta, twice),
                verdict::<AllNode>(others, 0, score, beta, twice),
                verdict::<PvNode>(others, 0, score, beta, twice),
            ];
            assert_eq!(found, plies.map(Verdict::Extend), "{others} {score} {beta} {twice}");
        }
        assert_eq!(verdict::<CutNode>(5, 5, 60, 5, true), Verdict::Cut(5));
    }

    #[test]
    fn only_deep_lower_bounds_are_asked_about() {
        let depth = params::singular_depth();
        let entry = Entry { mv: Move::NULL, score: 20, eval: 0, depth: depth - 3, bound: Bound::Lower, pv: false };
        for (entry, depth, may) in [
            (entry, depth, true),
            (Entry { bound: Bound::Exact, ..entry }, depth, true),
            (Entry { bound: Bound::Upper, ..entry }, depth, false),
            (entry, depth + 1, false),
            (entry, depth - 1, false),
            (Entry { score: MATE_IN_MAX, ..entry }, depth, false),
        ] {
            assert_eq!(may_be_singular(entry, depth), may, "{entry:?} {depth}");
        }
        assert!(singular_bound(20, 8) < 20 && singular_bound(20, 16) < singular_bound(20, 8));
    }

    #[test]
    fn nodes_without_a_move_to_begin_with_lose_a_ply() {
        let depth = params::internal_reduction_depth();
        let mv = Move::from_raw(77);
        assert_eq!(internal_reduction::<CutNode>(depth, Move::NULL), 1);
        assert_eq!(internal_reduction::<PvNode>(depth, Move::NULL), 1);
        assert_eq!(internal_reduction::<AllNode>(depth, Move::NULL), 0);
        assert_eq!(internal_reduction::<CutNode>(depth - 1, Move::NULL), 0);
        assert_eq!(internal_reduction::<CutNode>(depth, mv), 0);
    }
}
