//! The tree: principal variation search, as numbered steps.

use super::corrections::{Aspects, corrected};
use super::evaluator::Evaluator;
use super::extensions::{self, Verdict};
use super::history::{self, Histories, PieceTo};
use super::limits::Control;
use super::ordering::MoveArena;
use super::reductions;
use super::root::Root;
use super::stack::{Frame, Line, MAX_PLY, PvTable, Stack};
use super::tablebase::Prober;
use super::tt::{Bound, Entry, NO_EVAL, TranspositionTable};
use super::window::{NodeKind, Window};
use crate::board::Board;
use crate::types::{DRAW, Move, MoveList, Score, is_mate};

/// From this clock on stored scores are not trusted: the fifty-move rule is near, and they know nothing of it.
const STALE_HALFMOVE_CLOCK: u16 = 90;

/// Moves up to this place in the order are early: that one of them is refuted is worth remembering.
const EARLY: usize = 3;

/// What the search of one node works with.
#[derive(Clone, Copy)]
pub(super) struct Node {
    pub ply: usize,
    pub depth: i32,
    pub window: Window,
    pub in_check: bool,
    pub table: Option<Entry>,
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
pub(super) struct Best {
    pub mv: Move,
    pub score: Score,
}

/// One search thread in the course of one search.
pub(super) struct Worker<'a> {
    pub table: &'a TranspositionTable,
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
            if let Some(score) = self.score_of_end(board, ply) {
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
        let table = self.look_up(board, ply);
        if !N::PV
            && let Some(score) = score_from_table(table, depth, window.beta)
        {
            if score >= window.beta {
                self.learn_from_table(board, table, depth, ply);
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
        let raw_eval = self.static_eval(board, table);
        let aspects = Aspects::new(board, self.stack.context(ply));
        let static_eval = self.correct(raw_eval, aspects);
        self.stack[ply].raw_eval = raw_eval;
        self.stack[ply].static_eval = static_eval;
        let eval = improved_by_table(static_eval, table);
        let was_pv = N::PV || table.is_some_and(|entry| entry.pv);
        let depth = depth + self.look_back::<N>(board, depth, ply);
        let mut node = Node {
            ply,
            depth,
            window,
            in_check,
            table,
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
        node.depth -= extensions::internal_reduction::<N>(depth, self.table_move::<N>(table));
        match self.weigh_table_move::<N>(board, &node) {
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
            self.remember::<N>(board, &node, aspects, &best);
        }
        best.score
    }

    /// Keeps what the search of a node's moves found out, for the histories and the table.
    #[inline]
    fn remember<N: NodeKind>(&mut self, board: &Board, node: &Node, aspects: Aspects, best: &Best) {
        let Node { ply, depth, window, was_pv, .. } = *node;
        let Frame { raw_eval, static_eval, .. } = self.stack[ply];
        let bound = match best.score {
            score if score >= window.beta => Bound::Lower,
            _ if N::PV && !best.mv.is_null() => Bound::Exact,
            _ => Bound::Upper,
        };
        let is_steady = !node.in_check && !best.mv.is_capture() && !is_mate(best.score);
        if is_steady && is_telling(bound, best.score, static_eval) {
            self.histories.corrections.learn(aspects, best.score - static_eval, depth);
        }
        if bound == Bound::Upper {
            // Nothing was good enough: the move that led here is.
            self.learn_of_last_move(board, ply, history::prior_bonus(depth));
        }
        let entry = Entry { mv: best.mv, score: best.score, eval: raw_eval, depth, bound, pv: was_pv };
        self.table.store(board.key(), ply, entry);
    }

    /// The move that is searched first: the table's, at the root the best of the line looked for.
    #[inline]
    pub(super) fn table_move<N: NodeKind>(&self, table: Option<Entry>) -> Move {
        if N::ROOT { self.root.best_move() } else { table.map_or(Move::NULL, |entry| entry.mv) }
    }

    /// Remembers the table's quiet move where its stored score alone refutes the opponent, and that an early quiet move of the
    /// opponent was refuted.
    #[inline]
    fn learn_from_table(&mut self, board: &Board, table: Option<Entry>, depth: i32, ply: usize) {
        if let Some(mv) = table.map(|entry| entry.mv)
            && mv.is_quiet()
            && board.is_legal(mv)
        {
            self.stack.note_threats(ply, board);
            self.histories.learn_quiet(board, mv, self.stack.context(ply), history::table_bonus(depth));
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
    fn look_back<N: NodeKind>(&mut self, board: &Board, depth: i32, ply: usize) -> i32 {
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
    pub(super) fn score_of_end(&mut self, board: &Board, ply: usize) -> Option<Score> {
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
        let entry = self.table.probe(board.key(), ply)?;
        let is_stale = board.halfmove_clock() >= STALE_HALFMOVE_CLOCK;
        Some(if is_stale { Entry { bound: Bound::None, ..entry } } else { entry })
    }

    /// The static evaluation as the search uses it; none stays none.
    #[inline]
    pub(super) fn correct(&self, raw_eval: Score, aspects: Aspects) -> Score {
        if raw_eval == NO_EVAL { NO_EVAL } else { corrected(raw_eval, self.histories.corrections.correction(aspects)) }
    }

    /// The static evaluation as the evaluator gives it, from the table if it is there.
    #[inline]
    pub(super) fn static_eval(&mut self, board: &Board, table: Option<Entry>) -> Score {
        if board.in_check() {
            return NO_EVAL;
        }
        match table {
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
        self.table.prefetch(child.key());
        Some(child)
    }

    /// Undoes what [`Self::play`] noted.
    #[inline]
    pub(super) fn take_back(&mut self) {
        self.line.pop();
        self.evaluator.pop();
    }
}

/// The stored score when it comes from a search as deep and settles the question whether the true one reaches `beta`.
#[inline]
pub(super) fn score_from_table(table: Option<Entry>, depth: i32, beta: Score) -> Option<Score> {
    let entry = table?;
    (entry.depth >= depth && entry.bound.settles(entry.score, beta)).then_some(entry.score)
}

/// The static evaluation, moved to the stored score where that is a bound on the other side.
#[inline]
pub(super) fn improved_by_table(static_eval: Score, table: Option<Entry>) -> Score {
    match table {
        Some(entry) if entry.bound.settles(entry.score, static_eval + 1) => entry.score,
        _ => static_eval,
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

fn has_legal_move(board: &Board) -> bool {
    let mut moves = MoveList::new();
    board.legal_moves(&mut moves);
    !moves.is_empty()
}
