//! One search thread: its state, the current node, and the operations that all searches share.
//!
//! TT stands for transposition table.

use super::context::PieceTo;
use super::corrections::{CorrectionKeys, corrected};
use super::evaluator::Evaluator;
use super::history::Histories;
use super::limits::Control;
use super::ordering::MoveArena;
use super::root::Root;
use super::stack::{Line, PvTable, Stack};
use super::tablebase::Prober;
use super::tt::{Bound, Entry, NO_EVAL, TranspositionTable};
use super::window::{NodeKind, ScoreRange, Window};
use crate::board::Board;
use crate::types::{DRAW, MATE, MAX_PLY, Move, MoveList, Score, TABLE_WIN, is_mate};

/// Halfmove clock from which TT scores are not trusted. The fifty-move rule is near, and the scores
/// ignore it.
const STALE_HALFMOVE_CLOCK: u16 = 90;

/// Inputs of the search of one node.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub ply: usize,
    pub depth: i32,
    pub window: Window,
    pub in_check: bool,
    pub tt: Option<Entry>,
    /// Static evaluation, or a TT score that is closer to the truth. Meaningless in check.
    pub eval: Score,
    /// Set in the principal variation, and in nodes that an earlier search had there.
    pub was_pv: bool,
    /// Set if the static evaluation of the side to move has risen or reaches beta.
    pub improving: bool,
    /// Move left out by the singular search, or [`Move::NULL`].
    pub excluded: Move,
    /// Size of the correction of the static evaluation, in centipawns.
    pub correction: Score,
    /// Extension of the TT move, in plies.
    pub extension: i32,
}

/// Best move of a node so far.
pub(super) struct BestMove {
    pub mv: Move,
    pub score: Score,
}

impl BestMove {
    /// Returns the same move with a score in a range.
    pub fn within(self, range: ScoreRange) -> Self {
        Self { score: self.score.clamp(range.floor, range.ceiling), ..self }
    }
}

/// State of one thread during one search.
pub(super) struct Worker<'a> {
    pub tt: &'a TranspositionTable,
    /// Endgame tablebases, if any are loaded.
    pub prober: Option<Prober<'a>>,
    pub histories: &'a mut Histories,
    pub evaluator: &'a mut Evaluator,
    pub control: Control<'a>,
    pub root: Root,
    pub line: Line,
    pub pv: PvTable,
    pub stack: Stack,
    pub arena: MoveArena,
    /// Selective depth: the longest line of this iteration, in plies.
    pub seldepth: usize,
    /// Node count at the last report.
    pub nodes_reported: u64,
}

impl Worker<'_> {
    /// Returns the move to search first: the TT move, or at the root the best move so far.
    #[inline]
    pub(super) fn tt_move<N: NodeKind>(&self, tt: Option<Entry>) -> Move {
        if N::ROOT { self.root.best_move() } else { tt.map_or(Move::NULL, |entry| entry.mv) }
    }

    /// Clears the principal variation of a node on entry.
    #[inline]
    pub(super) fn enter<N: NodeKind>(&mut self, ply: usize) {
        if N::PV {
            self.pv.clear(ply);
            self.seldepth = self.seldepth.max(ply + 1);
        }
    }

    /// Returns the score of a draw by rule, or the evaluation at the maximum ply. Mate and
    /// stalemate are left to the move loop, which finds no moves.
    pub(super) fn draw_or_max_ply(&mut self, board: &Board, ply: usize) -> Option<Score> {
        let clock = board.halfmove_clock();
        if self.line.is_repetition(board.key(), clock, ply) || board.is_insufficient_material() {
            return Some(DRAW);
        }
        if clock >= 100 && (!board.in_check() || has_legal_move(board)) {
            return Some(DRAW);
        }
        if ply >= MAX_PLY {
            return Some(if board.in_check() { DRAW } else { self.evaluator.evaluate(board) });
        }
        None
    }

    /// Probes the TT. If the fifty-move rule is near, or would come before the mate, the bound is
    /// dropped; the move and the evaluation stay useful.
    #[inline]
    pub(super) fn probe_tt(&self, board: &Board, ply: usize) -> Option<Entry> {
        let entry = self.tt.probe(board.key(), ply)?;
        let clock = board.halfmove_clock();
        let is_late = |score: Score| is_mate(score) && MATE - score.abs() - ply as Score + Score::from(clock) > 100;
        let is_stale = clock >= STALE_HALFMOVE_CLOCK || is_late(entry.score);
        Some(if is_stale { Entry { bound: Bound::None, ..entry } } else { entry })
    }

    /// Applies the correction histories to a static evaluation; [`NO_EVAL`] stays as it is.
    #[inline]
    pub(super) fn correct(&self, raw_eval: Score, correction_keys: CorrectionKeys) -> Score {
        if raw_eval == NO_EVAL {
            NO_EVAL
        } else {
            corrected(raw_eval, self.histories.corrections.correction(correction_keys))
        }
    }

    /// Returns the raw static evaluation, from the TT if it is stored there.
    #[inline]
    pub(super) fn static_eval(&mut self, board: &Board, tt: Option<Entry>) -> Score {
        if board.in_check() {
            return NO_EVAL;
        }
        match tt {
            Some(entry) if entry.eval != NO_EVAL => entry.eval,
            _ => self.evaluator.evaluate(board),
        }
    }

    /// Stores the evaluation of a position that is pruned before its moves are searched, because
    /// the next visit needs it too. `tt` is the entry found at the visit.
    #[inline]
    pub(super) fn keep_eval(&self, board: &Board, tt: Option<Entry>, raw_eval: Score) {
        if tt.is_none() {
            self.tt.store_eval(board.key(), raw_eval);
        }
    }

    /// Prefetches the bucket of the position after a move. The earlier, the better: memory answers
    /// later than a move is played.
    #[inline]
    pub(super) fn prefetch(&self, board: &Board, mv: Move) {
        self.tt.prefetch(board.likely_key_after(mv));
    }

    /// Plays a move on a copy of a node's board and records it in the line. Returns whether the
    /// search goes on; otherwise nothing is played.
    #[inline]
    pub(super) fn play(&mut self, board: &mut Board, mv: Move, ply: usize) -> bool {
        if !self.control.count_node() {
            return false;
        }
        self.stack[ply].played = mv;
        self.stack[ply].piece_to = PieceTo::new(board, mv);
        self.stack.note_extension(ply, 0);
        self.line.push(board.key());
        self.evaluator.push(board, mv);
        board.play(mv);
        true
    }

    /// Undoes [`Self::play`].
    #[inline]
    pub(super) fn take_back(&mut self) {
        self.line.pop();
        self.evaluator.pop();
    }

    /// Returns the tablebase score if it settles the node. A win is a lower bound because a mate
    /// may be found. If it does not settle a PV node, it bounds the score there: `known` has the
    /// bounds, and a win raises alpha.
    pub(super) fn score_from_tablebase<N: NodeKind>(
        &mut self,
        board: &Board,
        window: &mut Window,
        known: &mut ScoreRange,
        depth: i32,
        ply: usize,
    ) -> Option<Score> {
        let value = self.prober?.probe(board, depth)?;
        self.control.count_tablebase_hit();
        let (score, bound) = match value {
            1 => (TABLE_WIN - ply as Score, Bound::Lower),
            -1 => (ply as Score - TABLE_WIN, Bound::Upper),
            _ => (DRAW, Bound::Exact),
        };
        let settles = match bound {
            Bound::Lower => score >= window.beta,
            Bound::Upper => score <= window.alpha,
            _ => true,
        };
        if settles {
            let entry = Entry { mv: Move::NULL, score, eval: NO_EVAL, depth: depth + 6, bound, pv: false };
            self.tt.store(board.key(), ply, entry);
        } else if N::PV && bound == Bound::Lower {
            known.floor = score;
            window.alpha = window.alpha.max(score);
        } else if N::PV {
            known.ceiling = score;
        }
        settles.then_some(score)
    }

    /// Keeps only the root moves that the tablebases rate best, if they know the position and there
    /// are enough for the wanted lines.
    pub fn filter_root_by_tablebase(&mut self, board: &Board) {
        let Some(prober) = self.prober.filter(|prober| prober.is_in_reach(board)) else { return };
        if let Some(best) = prober.tables.best_moves(board, self.root.moves()) {
            self.control.count_tablebase_hit();
            self.root.keep(|mv| best.contains(&mv));
        }
    }
}

/// Returns the TT score if it comes from a search at least as deep and settles which side of `beta`
/// the true score is on.
#[inline]
pub(super) fn tt_cutoff(tt: Option<Entry>, depth: i32, beta: Score) -> Option<Score> {
    let entry = tt?;
    (entry.depth >= depth && entry.bound.settles(entry.score, beta)).then_some(entry.score)
}

/// Returns the static evaluation, replaced by the TT score if that is a tighter bound.
#[inline]
pub(super) fn improved_by_tt(static_eval: Score, tt: Option<Entry>) -> Score {
    match tt {
        Some(entry) if entry.bound.settles(entry.score, static_eval + 1) => entry.score,
        _ => static_eval,
    }
}

fn has_legal_move(board: &Board) -> bool {
    let mut moves = MoveList::new();
    board.legal_moves(&mut moves);
    !moves.is_empty()
}
