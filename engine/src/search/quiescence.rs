//! Quiescence search: captures until the position is quiet. TT stands for transposition table.

use super::corrections::CorrectionKeys;
use super::history::captured_kind;
use super::ordering::MovePicker;
use super::tt::{Bound, Entry};
use super::window::{NodeKind, Window};
use super::worker::{BestMove, Worker, improved_by_tt, tt_cutoff};
use super::{params, pruning};
use crate::board::{Board, see_value};
use crate::types::{DRAW, INFINITE, MATE_IN_MAX, Move, Score, is_decisive, is_mate, mated_in};

impl Worker<'_> {
    /// Returns the score of a position after searching captures only, or all evasions if in check.
    pub fn quiescence<N: NodeKind>(&mut self, board: &Board, window: Window, ply: usize) -> Score {
        // 1. Draws and maximum ply.
        self.enter::<N>(ply);
        if let Some(score) = self.draw_or_max_ply(board, ply) {
            return score;
        }

        // 2. TT cutoff.
        let tt = self.probe_tt(board, ply);
        if !N::PV
            && let Some(score) = tt_cutoff(tt, 0, window.beta)
        {
            return score;
        }

        // 3. Stand pat: the side to move need not capture.
        let in_check = board.in_check();
        let correction_keys = CorrectionKeys::new(board, self.stack.context(ply));
        self.histories.corrections.prefetch(correction_keys);
        let raw_eval = self.static_eval(board, tt);
        let static_eval = self.correct(raw_eval, correction_keys);
        let mut best = BestMove { mv: Move::NULL, score: -INFINITE };
        let mut alpha = window.alpha;
        if !in_check {
            best.score = improved_by_tt(static_eval, tt);
            if best.score >= window.beta {
                self.keep_eval(board, tt, raw_eval);
                let is_proven = is_decisive(best.score) || is_decisive(window.beta);
                return if is_proven { best.score } else { pruning::stand_pat_score(best.score, window.beta) };
            }
            alpha = alpha.max(best.score);
        }

        // 4. Captures that do not lose material by static exchange, or all evasions.
        let tt_move = tt.map_or(Move::NULL, |entry| entry.mv);
        let mut picker = if in_check {
            self.stack.note_threats(ply, board);
            MovePicker::all(&self.arena, tt_move, [Move::NULL; 2], self.stack.context(ply))
        } else {
            let hint = if tt_move.is_quiet() { Move::NULL } else { tt_move };
            MovePicker::captures(&self.arena, hint, params::quiescence_see())
        };
        let stand_pat = best.score;
        while let Some(mv) = picker.next(board, &mut self.arena, self.histories) {
            if in_check {
                // Once an evasion avoids mate, further quiet ones are skipped (common practice).
                if mv.is_quiet() && best.score > -MATE_IN_MAX {
                    continue;
                }
            } else if let Some(bound) = delta_bound(board, mv, stand_pat, alpha) {
                best.score = best.score.max(bound);
                continue;
            }
            self.prefetch(board, mv);
            let mut child = *board;
            if !self.play(&mut child, mv, ply) {
                break;
            }
            let score = -self.quiescence::<N>(&child, Window { alpha, ..window }.flip(), ply + 1);
            self.take_back();
            if self.control.is_stopped() {
                break;
            }
            if score > best.score {
                best.score = score;
                if score > alpha {
                    best.mv = mv;
                    alpha = score;
                    if N::PV {
                        self.pv.update(ply, mv);
                    }
                }
                if score >= window.beta {
                    break;
                }
            }
        }
        picker.finish(&mut self.arena);
        if self.control.is_stopped() {
            return DRAW;
        }

        // 5. Checkmate, or an update of the TT.
        if best.score == -INFINITE {
            return mated_in(ply as i32);
        }
        let bound = if best.score >= window.beta { Bound::Lower } else { Bound::Upper };
        let entry = Entry { mv: best.mv, score: best.score, eval: raw_eval, depth: 0, bound, pv: N::PV };
        self.tt.store(board.key(), ply, entry);
        best.score
    }
}

/// Delta pruning: returns the upper bound of a capture's gain if it does not exceed alpha. To a
/// mate or a tablebase score from the TT no material can be added.
fn delta_bound(board: &Board, mv: Move, stand_pat: Score, alpha: Score) -> Option<Score> {
    if mv.is_promotion() || is_mate(alpha) || is_decisive(stand_pat) {
        return None;
    }
    let bound = pruning::delta_bound(stand_pat, captured_kind(board, mv).map_or(0, see_value));
    (bound <= alpha).then_some(bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::TABLE_WIN;

    #[test]
    fn material_is_added_only_to_evaluations() {
        let board = Board::from_fen("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1").unwrap();
        let mv = board.parse_uci("e4d5").unwrap();
        for (stand_pat, is_bounded) in [(-2000, true), (mated_in(50), false), (10 - TABLE_WIN, false)] {
            let bound = delta_bound(&board, mv, stand_pat, 0);
            assert_eq!(bound.is_some_and(|bound| bound > stand_pat), is_bounded, "{stand_pat}: {bound:?}");
        }
    }
}
