//! Whole-node pruning: razoring, reverse futility pruning, null-move pruning and ProbCut.

use super::context::PieceTo;
use super::ordering::MovePicker;
use super::pruning::{self, PROBCUT_REDUCTION};
use super::tt::{Bound, Entry};
use super::window::{AllNode, NodeKind, Window};
use super::worker::{Node, Worker};
use crate::board::Board;
use crate::types::{Move, Score, is_decisive, is_mate};

impl Worker<'_> {
    /// Returns a score if the node can be pruned before the move loop. Only for null-window nodes
    /// out of check.
    pub fn prune_node<N: NodeKind>(&mut self, board: &Board, node: &Node) -> Option<Score> {
        let Node { ply, depth, window, eval, .. } = *node;
        let beta = window.beta;

        // Razoring: the evaluation is so far below alpha that only a capture can help.
        if !is_mate(window.alpha) && pruning::razoring_margin(depth).is_some_and(|margin| eval + margin <= window.alpha)
        {
            let score = self.quiescence::<N>(board, window, ply);
            if score <= window.alpha {
                return Some(score);
            }
        }

        // Reverse futility pruning (RFP): the evaluation is so far above beta that no quiet reply
        // brings it below. Own pieces that a lesser one attacks may be lost, which the evaluation
        // sees badly; they are counted only where it matters.
        let margin = pruning::reverse_futility_margin(depth);
        let is_safe = |margin: Score| {
            eval - margin >= beta && eval - margin - pruning::threat_margin(board.threatened().count()) >= beta
        };
        if !is_decisive(beta) && !is_decisive(eval) && margin.is_some_and(is_safe) {
            self.keep_eval(board, node.tt, self.stack[ply].raw_eval);
            return Some(pruning::reverse_futility_score(eval, beta));
        }

        // Null-move pruning (NMP): if even passing fails high, the best move does too. Only at cut
        // nodes, because elsewhere most tries fail (common practice). This also rules out two null
        // moves in a row.
        let may_pass = N::CUT && ply >= self.stack.nmp_min_ply;
        let has_pieces = board.has_non_pawn_material(board.turn());
        if may_pass && pruning::may_try_null_move(depth, eval, self.stack[ply].static_eval, beta, has_pieces) {
            let reduced = depth - pruning::null_move_reduction(depth, eval, beta);
            let score = self.search_null_move(board, beta, reduced, ply)?;
            if score >= beta && self.verify_null_move::<N>(board, node, reduced) {
                self.keep_eval(board, node.tt, self.stack[ply].raw_eval);
                return Some(if is_decisive(score) { beta } else { score });
            }
        }

        // ProbCut: a capture that beats beta by a margin at low depth beats beta at full depth.
        pruning::probcut_bound(depth, beta).and_then(|bound| self.search_probcut::<N>(board, node, bound))
    }

    /// Confirms a null-move fail high by a search without null moves. Returns true at once at low
    /// depth, or inside another verification. Other pruning stays active in the verification
    /// search.
    fn verify_null_move<N: NodeKind>(&mut self, board: &Board, node: &Node, depth: i32) -> bool {
        if self.stack.nmp_min_ply > 0 || !pruning::wants_verification(node.depth) {
            return true;
        }
        let beta = node.window.beta;
        self.stack.nmp_min_ply = pruning::verification_end(node.ply, depth.max(1));
        let score = self.search::<N>(board, Window::test_above(beta - 1), depth, node.ply);
        self.stack.nmp_min_ply = 0;
        score >= beta
    }

    /// Returns the score of a capture that reaches `bound` in quiescence search and in a reduced
    /// search.
    fn search_probcut<N: NodeKind>(&mut self, board: &Board, node: &Node, bound: Score) -> Option<Score> {
        let Node { ply, depth, .. } = *node;
        let reduced = depth - PROBCUT_REDUCTION;
        // A TT score from a deep enough search already fell short. Even a lower bound, which proves
        // nothing, is taken as a sign that no capture will succeed.
        let fell_short = |entry: Entry| entry.bound != Bound::None && entry.score < bound;
        if node.tt.is_some_and(|entry| entry.depth > reduced && fell_short(entry)) {
            return None;
        }
        let hint = node.tt.map(|entry| entry.mv).filter(|mv| mv.is_capture() && board.is_legal(*mv));
        let hint = hint.filter(|&mv| board.see_ge(mv, bound - node.eval)).unwrap_or(Move::NULL);
        let test = Window::test_above(bound - 1).flip();
        let mut picker = MovePicker::captures(&self.arena, hint, bound - node.eval);
        let mut found = None;
        while let Some(mv) = picker.next(board, &mut self.arena, self.histories) {
            self.prefetch(board, mv);
            let mut child = *board;
            if !self.play(&mut child, mv, ply) {
                break;
            }
            let mut score = -self.quiescence::<N::FirstChild>(&child, test, ply + 1);
            if score >= bound && reduced > 1 {
                score = -self.search::<N::FirstChild>(&child, test, reduced - 1, ply + 1);
            }
            self.take_back();
            if self.control.is_stopped() {
                break;
            }
            if score >= bound {
                let entry = Entry {
                    mv,
                    score,
                    eval: self.stack[ply].raw_eval,
                    depth: reduced,
                    bound: Bound::Lower,
                    pv: node.was_pv,
                };
                self.tt.store(board.key(), ply, entry);
                found = Some(score);
                break;
            }
        }
        picker.finish(&mut self.arena);
        found
    }

    /// Returns the null-move score, tested against `beta`; `None` if the search stops.
    fn search_null_move(&mut self, board: &Board, beta: Score, depth: i32, ply: usize) -> Option<Score> {
        if !self.control.count_node() {
            return None;
        }
        self.stack[ply].played = Move::NULL;
        self.stack[ply].piece_to = PieceTo::NONE;
        self.stack.note_extension(ply, 0);
        let floor = self.line.push_null(board.key());
        let mut child = *board;
        child.play_null();
        self.tt.prefetch(child.key());
        let score = -self.search::<AllNode>(&child, Window::test_above(beta - 1).flip(), depth, ply + 1);
        self.line.pop_null(floor);
        Some(score)
    }
}
