//! One search thread: its state, the node it is at, and the operations that every kind of search shares.

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
use super::window::{NodeKind, Window};
use crate::board::Board;
use crate::types::{DRAW, MAX_PLY, Move, MoveList, Score, TABLE_WIN};

/// From this clock on stored scores are not trusted: the fifty-move rule is near, and they know nothing of it.
const STALE_HALFMOVE_CLOCK: u16 = 90;

/// What the search of one node works with.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub ply: usize,
    pub depth: i32,
    pub window: Window,
    pub in_check: bool,
    pub tt: Option<Entry>,
    /// The static evaluation, or a stored score that is nearer the truth. Means nothing when in check.
    pub eval: Score,
    /// In the principal variation, or once found there.
    pub was_pv: bool,
    /// The static evaluation of the side to move has been rising.
    pub improving: bool,
    /// The move that is left out while its alternatives are weighed, or [`Move::NULL`].
    pub excluded: Move,
    /// By how much the correction histories moved the static evaluation, either way.
    pub correction: Score,
    /// How much deeper the table's move is searched, in plies.
    pub extension: i32,
}

/// The best move of a node so far.
pub(super) struct BestMove {
    pub mv: Move,
    pub score: Score,
}

/// One search thread in the course of one search.
pub(super) struct Worker<'a> {
    pub tt: &'a TranspositionTable,
    /// Endgame tables, where there are any.
    pub prober: Option<Prober<'a>>,
    pub histories: &'a mut Histories,
    pub evaluator: &'a mut Evaluator,
    pub control: Control<'a>,
    pub root: Root,
    pub line: Line,
    pub pv: PvTable,
    pub stack: Stack,
    pub arena: MoveArena,
    /// The longest line of this iteration, in plies.
    pub seldepth: usize,
    /// The nodes of the last report.
    pub nodes_told: u64,
}

impl Worker<'_> {
    /// The move that is searched first: the table's, at the root the best of the line looked for.
    #[inline]
    pub(super) fn tt_move<N: NodeKind>(&self, tt: Option<Entry>) -> Move {
        if N::ROOT { self.root.best_move() } else { tt.map_or(Move::NULL, |entry| entry.mv) }
    }

    /// Bookkeeping on entering a node.
    #[inline]
    pub(super) fn enter<N: NodeKind>(&mut self, ply: usize) {
        if N::PV {
            self.pv.clear(ply);
            self.seldepth = self.seldepth.max(ply + 1);
        }
    }

    /// The score of a position where the game, or the room for a longer line, ends. Mate and stalemate show when there are no
    /// moves.
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

    /// What the table knows of a position. Where its score is not to be trusted on this board the bound is none; the move and the
    /// evaluation stay of use.
    #[inline]
    pub(super) fn look_up(&self, board: &Board, ply: usize) -> Option<Entry> {
        let entry = self.tt.probe(board.key(), ply)?;
        let is_stale = board.halfmove_clock() >= STALE_HALFMOVE_CLOCK;
        Some(if is_stale { Entry { bound: Bound::None, ..entry } } else { entry })
    }

    /// The static evaluation as the search uses it; none stays none.
    #[inline]
    pub(super) fn correct(&self, raw_eval: Score, correction_keys: CorrectionKeys) -> Score {
        if raw_eval == NO_EVAL {
            NO_EVAL
        } else {
            corrected(raw_eval, self.histories.corrections.correction(correction_keys))
        }
    }

    /// The static evaluation as the evaluator gives it, from the table if it is there.
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

    /// Plays a move and notes it; none when the search must stop.
    #[inline]
    pub(super) fn play(&mut self, board: &Board, mv: Move, ply: usize) -> Option<Board> {
        if !self.control.count_node() {
            return None;
        }
        self.stack[ply].played = mv;
        self.stack[ply].piece_to = PieceTo::new(board, mv);
        self.stack.note_extension(ply, 0);
        self.line.push(board.key());
        self.evaluator.push(board, mv);
        let mut child = *board;
        child.play(mv);
        self.tt.prefetch(child.key());
        Some(child)
    }

    /// Undoes what [`Self::play`] noted.
    #[inline]
    pub(super) fn take_back(&mut self) {
        self.line.pop();
        self.evaluator.pop();
    }

    /// The score that the endgame tables give, when that settles the node. A win is a lower bound, as a mate may be seen.
    pub(super) fn score_from_tablebase(
        &mut self,
        board: &Board,
        alpha: Score,
        beta: Score,
        depth: i32,
        ply: usize,
    ) -> Option<Score> {
        let value = self.prober?.probe(board, depth)?;
        self.control.count_table_hit();
        let (score, bound) = match value {
            1 => (TABLE_WIN - ply as Score, Bound::Lower),
            -1 => (ply as Score - TABLE_WIN, Bound::Upper),
            _ => (DRAW, Bound::Exact),
        };
        let settles = match bound {
            Bound::Lower => score >= beta,
            Bound::Upper => score <= alpha,
            _ => true,
        };
        if settles {
            let entry = Entry { mv: Move::NULL, score, eval: NO_EVAL, depth: depth + 6, bound, pv: false };
            self.tt.store(board.key(), ply, entry);
        }
        settles.then_some(score)
    }

    /// Leaves only the moves at the root that the tables think best, where they know it.
    pub fn ask_tables_for_root(&mut self, board: &Board) {
        let Some(prober) = self.prober.filter(|prober| prober.is_in_reach(board)) else { return };
        if let Some(best) = prober.tables.best_moves(board) {
            self.control.count_table_hit();
            self.root.keep(|mv| best.contains(&mv));
        }
    }
}

/// The stored score when it comes from a search as deep and settles the question whether the true one reaches `beta`.
#[inline]
pub(super) fn tt_cutoff(tt: Option<Entry>, depth: i32, beta: Score) -> Option<Score> {
    let entry = tt?;
    (entry.depth >= depth && entry.bound.settles(entry.score, beta)).then_some(entry.score)
}

/// The static evaluation, moved to the stored score where that is a bound on the other side.
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
