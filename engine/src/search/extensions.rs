//! Extensions: is the side to move in check, is the table's move the only good one? As pure functions of what they depend on, and
//! the search that finds out.

use super::params;
use super::tt::{Bound, Entry};
use super::window::{NodeKind, Window};
use super::worker::{Node, Worker};
use crate::board::Board;
use crate::types::{Move, Score, is_mate};

/// What a search of all other moves says of the table's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The table's move is searched so many plies deeper; less deep below zero.
    Extend(i32),
    /// Another move is too good as well: the node fails high with this score.
    Cut(Score),
}

/// The bound that all other moves must stay below, for a score of the table.
fn singular_bound(score: Score, depth: i32) -> Score {
    score - params::singular_slope() * depth / 16
}

/// True when the table knows enough to ask: a score that a search almost as deep reached or passed.
fn may_be_singular(entry: Entry, depth: i32) -> bool {
    let is_lower = matches!(entry.bound, Bound::Lower | Bound::Exact);
    depth >= params::singular_depth() && entry.depth >= depth - 3 && is_lower && !is_mate(entry.score)
}

/// Singular extensions: a move without an alternative is searched a ply deeper (T. Anantharaman, M. Campbell and F. Hsu, "Singular
/// extensions: adding selectivity to brute-force searching", Artificial Intelligence 43(1), 1990), two plies when it stands out
/// ("double extension") and the line has not been extended so too often. Where another move passes beta as well, the node is cut
/// ("multi-cut", Y. Björnsson and T. Marsland, 1998); where the table's move passes beta or the node should fail high anyway, the
/// move needs less depth ("negative extension"). The last three are the engine community's.
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

/// Check extension: a side in check is searched a ply deeper, for few answers are legal and quiescence search should not be left to
/// find them (the engine community's, since the 1970s).
#[inline]
pub fn check_extension(in_check: bool) -> i32 {
    i32::from(in_check)
}

/// Internal iterative reduction (E. Schröder, 2020): a node that matters and has no move from the table is searched less deep, so
/// that there is one next time.
pub fn internal_reduction<N: NodeKind>(depth: i32, tt_move: Move) -> i32 {
    i32::from((N::PV || N::CUT) && tt_move.is_null() && depth >= params::internal_reduction_depth())
}

impl Worker<'_> {
    /// Asks whether the table's move of a node has an alternative.
    pub fn singular_extension<N: NodeKind>(&mut self, board: &Board, node: &Node) -> Verdict {
        let Node { ply, depth, window, .. } = *node;
        let Some(entry) = node.tt.filter(|&entry| may_be_singular(entry, depth)) else { return Verdict::Extend(0) };
        if N::ROOT || !board.is_legal(entry.mv) || ply >= self.stack.longest_extended() {
            return Verdict::Extend(0);
        }
        let bound = singular_bound(entry.score, depth);
        let test = Window::test_above(bound - 1);
        let others = Node { depth: (depth - 1) / 2, window: test, excluded: entry.mv, extension: 0, ..*node };
        let best = self.search_moves::<N::Test>(board, &others);
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
        // The others' best, the table's score; the bound is 0. Beta, may extend twice; verdicts in cut, all and PV nodes.
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
