//! The move loop of a node: move pruning, late move reductions (LMR), re-searches and history
//! updates.

use super::history;
use super::ordering::MovePicker;
use super::pruning;
use super::reductions::{self, LateMove};
use super::tt::Bound;
use super::window::{CutNode, NodeKind, PvNode, Window};
use super::worker::{BestMove, Node, Worker};
use crate::board::Board;
use crate::types::{Bitboard, DRAW, INFINITE, MATE_IN_MAX, Move, Score, is_mate, mated_in};

/// Move that is about to be searched.
#[derive(Clone, Copy)]
struct Candidate {
    late: LateMove,
    window: Window,
    /// Extension in plies.
    extension: i32,
    /// Best score of the node so far.
    best: Score,
}

impl Worker<'_> {
    /// Searches the moves of a node until one fails high or none is left.
    pub fn search_moves<N: NodeKind>(&mut self, board: &Board, node: &Node) -> BestMove {
        let ply = node.ply;
        let mut alpha = node.window.alpha;
        let mut best = BestMove { mv: Move::NULL, score: -INFINITE };
        let mut move_number = 0;
        let mut failed = FailedMoves::new();
        let tt_move = self.tt_move::<N>(node.tt);
        let mut picker = MovePicker::all(&self.arena, tt_move, self.stack[ply].killers, self.stack.context(ply));
        while let Some(mv) = picker.next(board, &mut self.arena, self.histories) {
            if mv == node.excluded || (N::ROOT && !self.root.is_allowed(mv)) {
                continue;
            }
            move_number += 1;
            let may_prune = !N::ROOT && best.score > -MATE_IN_MAX && !node.in_check;
            if may_prune && is_late_pruned(node, alpha, mv, move_number) {
                move_number += picker.skip_quiets(&mut self.arena);
                continue;
            }
            self.prefetch(board, mv);
            let late = self.late_move::<N>(board, node, mv, move_number);
            if may_prune {
                let depth = depth_left(node, mv, late);
                if is_futile(node, alpha, mv, depth, late.history)
                    || loses_exchange(board, self.stack[ply].threats, mv, depth)
                {
                    continue;
                }
            }

            self.stack[ply].number = move_number;
            let nodes_before = self.control.nodes();
            let mut child = *board;
            if !self.play(&mut child, mv, ply) {
                break;
            }
            let window = Window { alpha, ..node.window };
            let extension = if mv == tt_move { node.extension } else { 0 };
            self.stack.note_extension(ply, extension);
            let score = self.search_child::<N>(&child, node, Candidate { late, window, extension, best: best.score });
            self.take_back();
            if self.control.is_stopped() {
                break;
            }
            if N::ROOT {
                self.root.count_nodes(mv, self.control.nodes() - nodes_before);
            }

            if score > best.score {
                best.score = score;
                if score > alpha {
                    best.mv = mv;
                    alpha = score;
                    if N::PV {
                        self.pv.update(ply, mv);
                    }
                    if N::ROOT {
                        let bound = if score >= node.window.beta { Bound::Lower } else { Bound::Exact };
                        self.root.set_best(score, bound, self.seldepth, self.pv.line(0));
                    }
                }
                if score >= node.window.beta {
                    self.learn_from_cutoff::<N>(board, mv, node, failed.moves());
                    self.stack.note_cutoff(ply, extension < 2 || N::PV);
                    break;
                }
            }
            failed.push(mv);
        }
        picker.finish(&mut self.arena);
        if move_number == 0 && !node.excluded.is_null() {
            best.score = node.window.alpha;
        } else if move_number == 0 {
            best.score = if node.in_check { mated_in(ply as i32) } else { DRAW };
        }
        best
    }

    /// Collects the inputs of LMR that are known before the move is played.
    #[inline]
    fn late_move<N: NodeKind>(&self, board: &Board, node: &Node, mv: Move, number: usize) -> LateMove {
        let is_quiet = mv.is_quiet();
        LateMove {
            depth: node.depth,
            number,
            history: if is_quiet {
                self.histories.quiet(board, mv, self.stack.context(node.ply))
            } else {
                self.histories.capture(board, mv)
            },
            is_pv: N::PV,
            was_pv: node.was_pv,
            improving: node.improving,
            tt_captures: node.tt.is_some_and(|entry| entry.mv.is_capture()),
            is_capture: !is_quiet,
            is_killer: self.stack[node.ply].killers.contains(&mv),
            gives_check: false,
            is_cut: false,
            is_refuted: false,
            alpha_raised: false,
            is_evasion: node.in_check,
            correction: node.correction,
        }
    }

    /// Searches a move that was just played. The first move gets the full window. Later moves get a
    /// null window, reduced at first, and are searched again if they beat it.
    fn search_child<N: NodeKind>(&mut self, child: &Board, node: &Node, candidate: Candidate) -> Score {
        let Candidate { late, window, extension, best } = candidate;
        let ply = node.ply + 1;
        let mut depth = node.depth - 1 + extension;
        if late.number == 1 {
            return -self.search::<N::FirstChild>(child, window.flip(), depth, ply);
        }
        let test = Window::test_above(window.alpha).flip();
        let mut score;
        let late = LateMove {
            gives_check: child.in_check(),
            is_cut: N::CUT,
            is_refuted: self.stack.is_refuted(ply),
            alpha_raised: window.alpha > node.window.alpha,
            ..late
        };
        let reduced = first_depth(node, late);
        if reduced < depth {
            self.stack[node.ply].reduction = depth - reduced;
            score = -self.search::<CutNode>(child, test, reduced, ply);
            self.stack[node.ply].reduction = 0;
            if score > window.alpha {
                depth += reductions::research_adjustment(score, best, depth);
                if depth > reduced {
                    score = -self.search::<N::ResearchChild>(child, test, depth, ply);
                }
            }
        } else {
            score = -self.search::<N::ResearchChild>(child, test, depth, ply);
        }
        if N::PV && score > window.alpha {
            score = -self.search::<PvNode>(child, window.flip(), depth, ply);
        }
        score
    }

    /// Rewards the move that caused a cutoff and penalises the moves searched before it.
    fn learn_from_cutoff<N: NodeKind>(&mut self, board: &Board, mv: Move, node: &Node, failed: &[Move]) {
        let bonus = history::bonus(node.depth);
        let malus = if N::PV { history::pv_malus(node.depth) } else { history::malus(node.depth) };
        let context = self.stack.context(node.ply);
        if mv.is_quiet() {
            let killers = &mut self.stack[node.ply].killers;
            if killers[0] != mv {
                *killers = [mv, killers[0]];
            }
            self.histories.learn_quiet(board, mv, context, bonus);
        } else {
            self.histories.learn_capture(board, mv, bonus);
        }
        for &other in failed {
            if !other.is_quiet() {
                self.histories.learn_capture(board, other, -malus);
            } else if mv.is_quiet() {
                self.histories.learn_quiet(board, other, context, -malus);
            }
        }
    }
}

/// Returns the depth of a late move's first search.
fn first_depth(node: &Node, late: LateMove) -> i32 {
    let depth = node.depth - 1;
    if node.depth < 3 || late.number < 2 {
        return depth;
    }
    reductions::reduced_depth(depth, reductions::late_move_reduction(late))
}

/// Late move pruning (LMP): returns whether this quiet move and all later ones are skipped.
#[inline]
fn is_late_pruned(node: &Node, alpha: Score, mv: Move, number: usize) -> bool {
    mv.is_quiet()
        && !is_mate(alpha)
        && pruning::late_move_count(node.depth, node.improving).is_some_and(|count| number > count)
}

/// Returns the depth used for move pruning: reduced by LMR for a quiet move, full for others.
#[inline]
fn depth_left(node: &Node, mv: Move, late: LateMove) -> i32 {
    if !mv.is_quiet() {
        return node.depth;
    }
    reductions::reduced_depth(node.depth, reductions::late_move_reduction(late))
}

/// Futility and history pruning of quiet moves.
#[inline]
fn is_futile(node: &Node, alpha: Score, mv: Move, depth: i32, history: i32) -> bool {
    if !mv.is_quiet() || is_mate(alpha) {
        return false;
    }
    let too_far = pruning::futility_margin(depth).is_some_and(|margin| node.eval + margin <= alpha);
    let too_bad = pruning::history_threshold(depth).is_some_and(|least| history < least);
    too_far || too_bad
}

/// SEE pruning: returns whether the static exchange loses more than the depth may win back.
#[inline]
fn loses_exchange(board: &Board, threats: Bitboard, mv: Move, depth: i32) -> bool {
    pruning::exchange_threshold(depth, mv.is_quiet()).is_some_and(|least| !board.see_ge_against(threats, mv, least))
}

/// Capacity of [`FailedMoves`].
const FAILED_CAPACITY: usize = 64;

/// Moves searched without a cutoff, in order. Moves beyond the capacity are dropped.
struct FailedMoves {
    moves: [Move; FAILED_CAPACITY],
    len: usize,
}

impl FailedMoves {
    #[inline]
    fn new() -> FailedMoves {
        FailedMoves { moves: [Move::NULL; FAILED_CAPACITY], len: 0 }
    }

    #[inline]
    fn push(&mut self, mv: Move) {
        if let Some(place) = self.moves.get_mut(self.len) {
            *place = mv;
            self.len += 1;
        }
    }

    #[inline]
    fn moves(&self) -> &[Move] {
        &self.moves[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_moves_are_kept() {
        let mut failed = FailedMoves::new();
        let moves: Vec<Move> = (1..100).map(Move::from_raw).collect();
        moves.iter().for_each(|&mv| failed.push(mv));
        assert_eq!(failed.moves(), &moves[..FAILED_CAPACITY]);
    }
}
