//! Reasons to leave a node without looking at its moves.

use super::history::PieceTo;
use super::node::{Node, Worker};
use super::pruning;
use super::window::{AllNode, Window};
use crate::board::Board;
use crate::types::{MATE_IN_MAX, Move, Score, is_mate};

impl Worker<'_> {
    /// A score for the whole node when no move needs to be looked at.
    pub fn prune_node(&mut self, board: &Board, node: &Node) -> Option<Score> {
        let Node { ply, depth, window, eval, .. } = *node;
        let beta = window.beta;

        // Reverse futility pruning: so far above beta that no quiet answer brings it down.
        if !is_mate(beta) && pruning::reverse_futility_margin(depth).is_some_and(|margin| eval - margin >= beta) {
            return Some(eval);
        }

        // Null-move pruning: passing is rarely the best move, so if even that fails high, so would the best.
        let passed_before = self.stack.before(ply, 1).played.is_null();
        let has_pieces = board.has_non_pawn_material(board.turn());
        if !passed_before && pruning::may_try_null_move(depth, eval, beta, has_pieces) {
            let reduced = depth - pruning::null_move_reduction(depth, eval, beta);
            let score = self.search_null_move(board, beta, reduced, ply)?;
            if score >= beta {
                return Some(if score >= MATE_IN_MAX { beta } else { score });
            }
        }
        None
    }

    /// The score after passing, tested against `beta`; none when the search stops.
    fn search_null_move(&mut self, board: &Board, beta: Score, depth: i32, ply: usize) -> Option<Score> {
        if !self.control.count_node() {
            return None;
        }
        self.stack[ply].played = Move::NULL;
        self.stack[ply].piece_to = PieceTo::NONE;
        let floor = self.line.push_null(board.key());
        let mut child = *board;
        child.play_null();
        let score = -self.search::<AllNode>(&child, Window::test_above(beta - 1).flip(), depth, ply + 1);
        self.line.pop_null(floor);
        Some(score)
    }
}
