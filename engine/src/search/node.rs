//! The tree: principal variation search, as numbered steps.

use super::corrections::CorrectionKeys;
use super::extensions::{self, Verdict};
use super::stack::Frame;
use super::tt::{Bound, Entry, NO_EVAL};
use super::window::{NodeKind, Window};
use super::worker::{BestMove, Node, Worker, improved_by_tt, tt_cutoff};
use super::{history, reductions};
use crate::board::Board;
use crate::types::{DRAW, Move, Score, is_mate};

/// Moves up to this place in the order are early: that one of them is refuted is worth remembering.
const EARLY: usize = 3;

impl Worker<'_> {
    /// The value of a position within the window, to a depth in plies ("principal variation search", fail-soft). Means nothing
    /// once the control has stopped.
    pub fn search<N: NodeKind>(&mut self, board: &Board, window: Window, depth: i32, ply: usize) -> Score {
        // 1. The position in check is searched deeper; at depth 0 only captures are left to look at.
        let in_check = board.in_check();
        let depth = depth + extensions::check_extension(in_check);
        if depth <= 0 {
            return self.quiescence::<N>(board, window, ply);
        }
        self.enter::<N>(ply);
        self.stack.begin_node(ply);
        if N::ROOT {
            self.begin_iteration(depth);
        }

        // 2. Ends of the game, and scores that no line from here can reach.
        let mut window = window;
        if !N::ROOT {
            if let Some(score) = self.draw_or_max_ply(board, ply) {
                return score;
            }
            window = window.within_mate_distance(ply);
            // Who can repeat a position of this line need not take less than a draw.
            if window.alpha < DRAW && self.line.has_upcoming_repetition(board, ply) {
                window.alpha = DRAW;
            }
            if window.is_empty() {
                return window.alpha;
            }
        }

        // 3. What the table knows.
        let tt = self.look_up(board, ply);
        if !N::PV
            && let Some(score) = tt_cutoff(tt, depth, window.beta)
        {
            if score >= window.beta {
                self.learn_from_tt(board, tt, depth, ply);
            }
            return score;
        }

        // 4. What the endgame tables know.
        if !N::ROOT
            && let Some(score) = self.score_from_tablebase(board, window.alpha, window.beta, depth, ply)
        {
            return score;
        }

        // 5. The static evaluation, corrected by how far it was off in positions like this one, and what it says of the move that led
        // here and of the depth that was taken off for it.
        let raw_eval = self.static_eval(board, tt);
        let correction_keys = CorrectionKeys::new(board, self.stack.context(ply));
        let static_eval = self.correct(raw_eval, correction_keys);
        self.stack[ply].raw_eval = raw_eval;
        self.stack[ply].static_eval = static_eval;
        let eval = improved_by_tt(static_eval, tt);
        let was_pv = N::PV || tt.is_some_and(|entry| entry.pv);
        let depth = depth + self.hindsight::<N>(board, depth, ply);
        let mut node = Node {
            ply,
            depth,
            window,
            in_check,
            tt,
            eval,
            was_pv,
            improving: self.stack.is_improving(ply),
            excluded: Move::NULL,
            correction: (static_eval - raw_eval).abs(),
            extension: 0,
        };

        // 6. Reasons to leave without looking at moves.
        if !N::PV
            && !in_check
            && let Some(score) = self.prune_node::<N>(board, &node)
        {
            return score;
        }

        // 7. How deep the table's move is worth to be searched, or the node without one. From here on moves are looked at.
        self.stack.note_threats(ply, board);
        node.depth -= extensions::internal_reduction::<N>(depth, self.tt_move::<N>(tt));
        match self.singular_extension::<N>(board, &node) {
            Verdict::Extend(plies) => node.extension = plies,
            Verdict::Cut(score) => return score,
        }

        // 8. The moves.
        let best = self.search_moves::<N>(board, &node);
        if self.control.is_stopped() {
            return DRAW;
        }

        // 9. What was found out goes into the histories and the table, if it holds for the position.
        if !N::ROOT || !self.root.is_partial() {
            self.remember::<N>(board, &node, correction_keys, &best);
        }
        best.score
    }

    /// Keeps what the search of a node's moves found out, for the histories and the table.
    #[inline]
    fn remember<N: NodeKind>(&mut self, board: &Board, node: &Node, correction_keys: CorrectionKeys, best: &BestMove) {
        let Node { ply, depth, window, was_pv, .. } = *node;
        let Frame { raw_eval, static_eval, .. } = self.stack[ply];
        let bound = match best.score {
            score if score >= window.beta => Bound::Lower,
            _ if N::PV && !best.mv.is_null() => Bound::Exact,
            _ => Bound::Upper,
        };
        let is_steady = !node.in_check && !best.mv.is_capture() && !is_mate(best.score);
        if is_steady && is_telling(bound, best.score, static_eval) {
            self.histories.corrections.learn(correction_keys, best.score - static_eval, depth);
        }
        if bound == Bound::Upper {
            // Nothing was good enough: the move that led here is.
            self.learn_of_last_move(board, ply, history::prior_bonus(depth));
        }
        let entry = Entry { mv: best.mv, score: best.score, eval: raw_eval, depth, bound, pv: was_pv };
        self.tt.store(board.key(), ply, entry);
    }

    /// Remembers the table's quiet move where its stored score alone refutes the opponent, and that an early quiet move of the
    /// opponent was refuted.
    #[inline]
    fn learn_from_tt(&mut self, board: &Board, tt: Option<Entry>, depth: i32, ply: usize) {
        if let Some(mv) = tt.map(|entry| entry.mv)
            && mv.is_quiet()
            && board.is_legal(mv)
        {
            self.stack.note_threats(ply, board);
            self.histories.learn_quiet(board, mv, self.stack.context(ply), history::tt_bonus(depth));
        }
        if self.stack.before(ply, 1).number <= EARLY {
            self.learn_of_last_move(board, ply, -history::refuted_malus(depth));
        }
    }

    /// Remembers that the quiet move that led to a position was good, by a positive bonus, or bad.
    #[inline]
    fn learn_of_last_move(&mut self, board: &Board, ply: usize, bonus: i32) {
        let Some(before) = ply.checked_sub(1) else { return };
        let Frame { played, piece_to, .. } = self.stack[before];
        if !played.is_null() && played.is_quiet() {
            let context = self.stack.context(before);
            self.histories.learn_played(!board.turn(), played, piece_to, context, bonus);
        }
    }

    /// What the static evaluation of a position says of the move that led to it: remembers whether a quiet one was good, and gives
    /// the plies by which the position's depth is to be changed.
    #[inline]
    fn hindsight<N: NodeKind>(&mut self, board: &Board, depth: i32, ply: usize) -> i32 {
        let eval = self.stack[ply].static_eval;
        if N::ROOT {
            return 0;
        }
        // Taken, so that a second search of the position, to verify a null move, does not change the depth again.
        let reduction = std::mem::take(&mut self.stack[ply - 1].reduction);
        let Frame { played, threats, static_eval: before, .. } = self.stack[ply - 1];
        if played.is_null() || eval == NO_EVAL || before == NO_EVAL {
            return 0;
        }
        if played.is_quiet() {
            self.histories.learn_from_to(!board.turn(), played, threats, history::evaluation_bonus(before, eval));
        }
        reductions::hindsight_adjustment(reduction, depth, eval, before)
    }

    /// Bookkeeping on entering the root.
    fn begin_iteration(&mut self, depth: i32) {
        if self.stack.root_depth == 0 {
            self.histories.begin_search();
        }
        self.stack.root_depth = depth;
    }
}

/// True when a score with its bound says on which side of the static evaluation the true score is.
fn is_telling(bound: Bound, score: Score, static_eval: Score) -> bool {
    match bound {
        Bound::Exact => true,
        Bound::Lower => score > static_eval,
        Bound::Upper => score < static_eval,
        Bound::None => false,
    }
}
