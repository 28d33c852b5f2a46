//! Principal variation search of one node, in numbered steps. TT stands for transposition table.

use super::corrections::CorrectionKeys;
use super::extensions::{self, Verdict};
use super::stack::Frame;
use super::tt::{Bound, Entry, NO_EVAL};
use super::window::{NodeKind, ScoreRange, Window};
use super::worker::{BestMove, Node, Worker, improved_by_tt, tt_cutoff};
use super::{history, reductions};
use crate::board::Board;
use crate::types::{DRAW, Move, PieceType, Score, is_decisive};

/// Number of the last move in the order that counts as early when the histories learn from its
/// refutation.
const EARLY_MOVES: usize = 3;

impl Worker<'_> {
    /// Returns the fail-soft score of a position at a depth in plies (principal variation search).
    /// The score is meaningless once the control has stopped.
    pub fn search<N: NodeKind>(&mut self, board: &Board, window: Window, depth: i32, ply: usize) -> Score {
        // 1. Check extension, and quiescence search at depth 0.
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

        // 2. Draws, maximum ply, mate-distance pruning and upcoming repetitions.
        let mut window = window;
        if !N::ROOT {
            if let Some(score) = self.draw_or_max_ply(board, ply) {
                return score;
            }
            window = window.within_mate_distance(ply);
            // A side that can repeat a position of the line has at least a draw.
            if window.alpha < DRAW && self.line.has_upcoming_repetition(board, ply) {
                window.alpha = DRAW;
            }
            if window.is_empty() {
                return window.alpha;
            }
        }

        // 3. TT cutoff.
        let tt = self.probe_tt(board, ply);
        if !N::PV
            && let Some(score) = tt_cutoff(tt, depth, window.beta)
        {
            if score >= window.beta {
                self.learn_from_tt(board, tt, depth, ply);
            }
            return score;
        }

        // 4. Tablebase cutoff.
        let mut known = ScoreRange::ALL;
        if !N::ROOT
            && let Some(score) = self.score_from_tablebase::<N>(board, &mut window, &mut known, depth, ply)
        {
            return score;
        }

        // 5. Static evaluation with its correction, and hindsight: a second look at the previous
        // move and at its reduction.
        let correction_keys = CorrectionKeys::new(board, self.stack.context(ply));
        self.histories.corrections.prefetch(correction_keys);
        let raw_eval = self.static_eval(board, tt);
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
            improving: self.stack.is_improving(ply) || (!in_check && static_eval >= window.beta),
            excluded: Move::NULL,
            correction: (static_eval - raw_eval).abs(),
            extension: 0,
        };

        // 6. Whole-node pruning: razoring, RFP, NMP, ProbCut.
        if !N::PV
            && !in_check
            && let Some(score) = self.prune_node::<N>(board, &node)
        {
            return score;
        }

        // 7. Internal iterative reduction (IIR) without a TT move, singular extension with one.
        self.stack.note_threats(ply, board);
        node.depth -= extensions::internal_reduction::<N>(depth, self.tt_move::<N>(tt));
        match self.singular_extension::<N>(board, &node) {
            Verdict::Extend(plies) => node.extension = plies,
            Verdict::Cut(score) => return score,
        }

        // 8. Move loop.
        let best = self.search_moves::<N>(board, &node).within(known);
        if self.control.is_stopped() {
            return DRAW;
        }

        // 9. Updates of the histories and the TT, unless the root was searched only in part.
        if !N::ROOT || !self.root.is_partial() {
            self.remember::<N>(board, &node, correction_keys, &best);
        }
        best.score
    }

    /// Stores the result of a node in the correction histories and the TT.
    #[inline]
    fn remember<N: NodeKind>(&mut self, board: &Board, node: &Node, correction_keys: CorrectionKeys, best: &BestMove) {
        let Node { ply, depth, window, was_pv, .. } = *node;
        let Frame { raw_eval, static_eval, .. } = self.stack[ply];
        let bound = match best.score {
            score if score >= window.beta => Bound::Lower,
            _ if N::PV && !best.mv.is_null() => Bound::Exact,
            _ => Bound::Upper,
        };
        let is_steady = !node.in_check && !best.mv.is_capture() && !is_decisive(best.score);
        if is_steady && informs_correction(bound, best.score, static_eval) {
            self.histories.corrections.learn(correction_keys, best.score - static_eval, depth);
        }
        if bound == Bound::Upper {
            // All moves failed low, so the opponent's last move was good.
            self.learn_previous_move(board, ply, history::prior_bonus(depth));
        }
        let entry = Entry { mv: best.mv, score: best.score, eval: raw_eval, depth, bound, pv: was_pv };
        self.tt.store(board.key(), ply, entry);
    }

    /// Rewards the quiet TT move of a TT cutoff, and penalises the opponent's early quiet move that
    /// it refutes.
    #[inline]
    fn learn_from_tt(&mut self, board: &Board, tt: Option<Entry>, depth: i32, ply: usize) {
        if let Some(mv) = tt.map(|entry| entry.mv)
            && mv.is_quiet()
            && board.is_legal(mv)
        {
            self.stack.note_threats(ply, board);
            self.histories.learn_quiet(board, mv, self.stack.context(ply), history::tt_bonus(depth));
        }
        if self.stack.before(ply, 1).number <= EARLY_MOVES {
            self.learn_previous_move(board, ply, -history::refuted_malus(depth));
        }
    }

    /// Updates the histories of the quiet move that led to a position; a negative bonus is a malus.
    #[inline]
    fn learn_previous_move(&mut self, board: &Board, ply: usize, bonus: i32) {
        let Some(before) = ply.checked_sub(1) else { return };
        let Frame { played, piece_to, .. } = self.stack[before];
        if !played.is_null() && played.is_quiet() {
            let context = self.stack.context(before);
            self.histories.learn_played(!board.turn(), played, piece_to, context, bonus);
            let is_piece = board.piece_at(played.to()).is_some_and(|piece| piece.kind() != PieceType::Pawn);
            if bonus > 0 && is_piece && !played.is_castling() {
                self.histories.learn_pawns(board, piece_to, bonus);
            }
        }
    }

    /// Hindsight: compares the static evaluation with that before the opponent's move. Updates the
    /// history of that move if it was quiet, and returns the change of this node's depth in plies.
    #[inline]
    fn hindsight<N: NodeKind>(&mut self, board: &Board, depth: i32, ply: usize) -> i32 {
        let eval = self.stack[ply].static_eval;
        if N::ROOT {
            return 0;
        }
        // The reduction is taken out because the verification search of NMP visits the node a
        // second time.
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

    /// Prepares the stack and the histories for an iteration at the root.
    fn begin_iteration(&mut self, depth: i32) {
        if self.stack.root_depth == 0 {
            self.histories.begin_search();
        }
        self.stack.root_depth = depth;
    }
}

/// Returns whether a score with its bound shows on which side of the static evaluation the truth
/// lies.
fn informs_correction(bound: Bound, score: Score, static_eval: Score) -> bool {
    match bound {
        Bound::Exact => true,
        Bound::Lower => score > static_eval,
        Bound::Upper => score < static_eval,
        Bound::None => false,
    }
}
