//! The tree: principal variation search and quiescence search.
//!
//! Both read as numbered steps. Whether a node is the root, in the principal variation or a mere test of a bound is a type
//! ([`NodeKind`]), so that each kind compiles to its own code.

use super::history::{self, Histories, PieceTo};
use super::limits::Control;
use super::ordering::{MoveArena, MovePicker};
use super::pruning::LateMove;
use super::root::Root;
use super::stack::{Line, MAX_PLY, PvTable, Stack};
use super::tablebase::Prober;
use super::tried::Tried;
use super::tt::{Bound, Entry, NO_EVAL, TranspositionTable};
use super::{params, pruning};
use crate::board::Board;
use crate::eval::Evaluator;
use crate::types::{DRAW, INFINITE, MATE_IN_MAX, Move, MoveList, Score, is_mate, mate_in, mated_in};

/// Nearer than this to the fifty-move rule, stored scores are not trusted: they know nothing of the clock.
const STALE_HALFMOVE_CLOCK: u16 = 90;

/// What a node is to its search.
pub(super) trait NodeKind {
    const ROOT: bool;
    /// In the principal variation: searched with an open window.
    const PV: bool;
    /// What the node after the first move is.
    type First: NodeKind;
}

pub(super) struct RootNode;
pub(super) struct PvNode;
pub(super) struct TestNode;

impl NodeKind for RootNode {
    const ROOT: bool = true;
    const PV: bool = true;
    type First = PvNode;
}

impl NodeKind for PvNode {
    const ROOT: bool = false;
    const PV: bool = true;
    type First = PvNode;
}

impl NodeKind for TestNode {
    const ROOT: bool = false;
    const PV: bool = false;
    type First = TestNode;
}

/// Scores of interest, from the side to move's view: greater than `alpha`, less than `beta`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Window {
    pub alpha: Score,
    pub beta: Score,
}

impl Window {
    /// A test whether a score is above `alpha`.
    #[inline]
    fn test_above(alpha: Score) -> Window {
        Window { alpha, beta: alpha + 1 }
    }

    /// The same window from the other side's view.
    #[inline]
    fn flip(self) -> Window {
        Window { alpha: -self.beta, beta: -self.alpha }
    }

    /// Mate-distance pruning: no score is better than mating with the next move or worse than being mated now.
    #[inline]
    fn within_mate_distance(self, ply: usize) -> Window {
        let ply = ply as i32;
        Window { alpha: self.alpha.max(mated_in(ply)), beta: self.beta.min(mate_in(ply + 1)) }
    }

    #[inline]
    fn is_empty(self) -> bool {
        self.alpha >= self.beta
    }
}

/// What the search of one node works with.
#[derive(Clone, Copy)]
struct Node {
    ply: usize,
    depth: i32,
    window: Window,
    in_check: bool,
    table: Option<Entry>,
    /// The static evaluation, or a stored score that is nearer the truth; [`NO_EVAL`] when in check.
    eval: Score,
}

/// A move about to be searched.
#[derive(Clone, Copy)]
struct Candidate {
    mv: Move,
    /// From one.
    number: usize,
    /// What is remembered of a quiet move.
    history: i32,
}

/// The best move of a node so far.
struct Best {
    mv: Move,
    score: Score,
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
}

impl Worker<'_> {
    /// The value of a position within the window, to a depth in plies ("principal variation search", fail-soft). Means nothing
    /// once the control has stopped.
    pub fn search<N: NodeKind>(&mut self, board: &Board, window: Window, depth: i32, ply: usize) -> Score {
        // 1. The position in check is searched deeper; at depth 0 only captures are left to look at.
        let in_check = board.in_check();
        let depth = depth + i32::from(in_check);
        if depth <= 0 {
            return self.quiescence::<N>(board, window, ply);
        }
        self.enter::<N>(ply);
        self.stack[ply + 2].killers = [Move::NULL; 2];

        // 2. Ends of the game, and scores that no line from here can reach.
        let mut window = window;
        if !N::ROOT {
            if let Some(score) = self.score_of_end(board, ply) {
                return score;
            }
            window = window.within_mate_distance(ply);
            if window.is_empty() {
                return window.alpha;
            }
        }

        // 3. What the table knows.
        let table = self.table.probe(board.key(), ply);
        if !N::PV
            && let Some(score) = score_from_table(table, depth, window.beta, board)
        {
            return score;
        }

        if !N::ROOT
            && let Some(score) = self.score_from_tablebase(board, window.alpha, window.beta, depth, ply)
        {
            return score;
        }

        // 4. The static evaluation.
        let static_eval = self.static_eval(board, table);
        self.stack[ply].static_eval = static_eval;
        let eval = improved_by_table(static_eval, table);
        let node = Node { ply, depth, window, in_check, table, eval };

        // 5. Reasons to leave without looking at moves.
        if !N::PV
            && !in_check
            && let Some(score) = self.prune_node(board, &node)
        {
            return score;
        }

        // 6. The moves.
        let best = self.search_moves::<N>(board, &node);
        if self.control.is_stopped() {
            return DRAW;
        }

        // 7. What was found out goes into the table.
        let bound = match best.score {
            score if score >= window.beta => Bound::Lower,
            _ if N::PV && !best.mv.is_null() => Bound::Exact,
            _ => Bound::Upper,
        };
        let entry = Entry { mv: best.mv, score: best.score, eval: static_eval, depth, bound, pv: N::PV };
        if !(N::ROOT && self.root.is_secondary()) {
            self.table.store(board.key(), ply, entry);
        }
        best.score
    }

    /// Bookkeeping on entering a node.
    #[inline]
    fn enter<N: NodeKind>(&mut self, ply: usize) {
        if N::PV {
            self.pv.clear(ply);
            self.seldepth = self.seldepth.max(ply + 1);
        }
    }

    /// The score of a position where the game, or the room for a longer line, ends. Mate and stalemate show when there are no
    /// moves.
    fn score_of_end(&mut self, board: &Board, ply: usize) -> Option<Score> {
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

    /// The static evaluation, from the table if it is there.
    #[inline]
    fn static_eval(&mut self, board: &Board, table: Option<Entry>) -> Score {
        if board.in_check() {
            return NO_EVAL;
        }
        match table {
            Some(entry) if entry.eval != NO_EVAL => entry.eval,
            _ => self.evaluator.evaluate(board),
        }
    }

    /// A score for the whole node when no move needs to be looked at.
    fn prune_node(&mut self, board: &Board, node: &Node) -> Option<Score> {
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
            let reduced = depth - pruning::null_move_reduction(depth);
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
        let score = -self.search::<TestNode>(&child, Window::test_above(beta - 1).flip(), depth, ply + 1);
        self.line.pop_null(floor);
        Some(score)
    }

    /// Searches the moves of a node until one is too good or none is left.
    fn search_moves<N: NodeKind>(&mut self, board: &Board, node: &Node) -> Best {
        let ply = node.ply;
        let mut alpha = node.window.alpha;
        let mut best = Best { mv: Move::NULL, score: -INFINITE };
        let mut move_number = 0;
        let mut quiets = Tried::new();
        let table_move = if N::ROOT { self.root.best_move() } else { node.table.map_or(Move::NULL, |entry| entry.mv) };
        let context = self.stack.context(ply);
        let mut picker = MovePicker::all(&self.arena, table_move, self.stack[ply].killers, context);
        while let Some(mv) = picker.next(board, &mut self.arena, self.histories) {
            if N::ROOT && !self.root.is_allowed(mv) {
                continue;
            }
            move_number += 1;
            let may_leave_out = !N::ROOT && best.score > -MATE_IN_MAX && !node.in_check;
            if may_leave_out && (skips_late_quiet(node, alpha, mv, move_number) || loses_exchange(board, node, mv)) {
                continue;
            }
            let history = if mv.is_quiet() { self.histories.quiet(board, mv, context) } else { 0 };
            let candidate = Candidate { mv, number: move_number, history };

            let nodes_before = self.control.nodes();
            let Some(child) = self.play(board, mv, ply) else { break };
            let window = Window { alpha, ..node.window };
            let score = self.search_child::<N>(&child, node, window, candidate);
            self.line.pop();
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
                        self.root.set_best(score, self.pv.line(0));
                    }
                }
                if score >= node.window.beta {
                    self.learn_from_cutoff(board, mv, node, quiets.moves());
                    break;
                }
            }
            if mv.is_quiet() {
                quiets.push(mv);
            }
        }
        picker.finish(&mut self.arena);
        if move_number == 0 {
            best.score = if node.in_check { mated_in(ply as i32) } else { DRAW };
        }
        best
    }

    /// Plays a move and notes it; none when the search must stop.
    #[inline]
    fn play(&mut self, board: &Board, mv: Move, ply: usize) -> Option<Board> {
        if !self.control.count_node() {
            return None;
        }
        self.stack[ply].played = mv;
        self.stack[ply].piece_to = PieceTo::new(board, mv);
        self.line.push(board.key());
        let mut child = *board;
        child.play(mv);
        self.table.prefetch(child.key());
        Some(child)
    }

    /// The score of a move just played: the first with the whole window, the others with a test that must be failed to earn
    /// more, late ones less deep at first.
    fn search_child<N: NodeKind>(&mut self, child: &Board, node: &Node, window: Window, candidate: Candidate) -> Score {
        let ply = node.ply + 1;
        let depth = node.depth - 1;
        if candidate.number == 1 {
            return -self.search::<N::First>(child, window.flip(), depth, ply);
        }
        let reduction = if candidate.mv.is_quiet() && !node.in_check && !child.in_check() {
            pruning::late_move_reduction(LateMove {
                depth: node.depth,
                number: candidate.number,
                is_pv: N::PV,
                history: candidate.history,
            })
        } else {
            0
        };
        let test = Window::test_above(window.alpha).flip();
        let mut score = -self.search::<TestNode>(child, test, depth - reduction, ply);
        if score > window.alpha && reduction > 0 {
            score = -self.search::<TestNode>(child, test, depth, ply);
        }
        if N::PV && score > window.alpha {
            score = -self.search::<PvNode>(child, window.flip(), depth, ply);
        }
        score
    }

    /// Remembers a move that was too good for the opponent, and that the quiet moves tried before it were not.
    fn learn_from_cutoff(&mut self, board: &Board, mv: Move, node: &Node, tried: &[Move]) {
        if !mv.is_quiet() {
            return;
        }
        let killers = &mut self.stack[node.ply].killers;
        if killers[0] != mv {
            *killers = [mv, killers[0]];
        }
        let bonus = history::bonus(node.depth);
        let context = self.stack.context(node.ply);
        self.histories.learn_quiet(board, mv, context, bonus);
        for &other in tried {
            self.histories.learn_quiet(board, other, context, -bonus);
        }
    }

    /// The value of a position when only captures are looked at, or all moves when in check ("quiescence search").
    fn quiescence<N: NodeKind>(&mut self, board: &Board, window: Window, ply: usize) -> Score {
        // 1. Ends of the game.
        self.enter::<N>(ply);
        if let Some(score) = self.score_of_end(board, ply) {
            return score;
        }

        // 2. What the table knows.
        let table = self.table.probe(board.key(), ply);
        if !N::PV
            && let Some(score) = score_from_table(table, 0, window.beta, board)
        {
            return score;
        }

        // 3. Standing pat: the side to move need not capture.
        let in_check = board.in_check();
        let static_eval = self.static_eval(board, table);
        let mut best = Best { mv: Move::NULL, score: -INFINITE };
        let mut alpha = window.alpha;
        if !in_check {
            best.score = improved_by_table(static_eval, table);
            if best.score >= window.beta {
                return best.score;
            }
            alpha = alpha.max(best.score);
        }

        // 4. The captures that do not lose material, or all evasions of a check.
        let table_move = table.map_or(Move::NULL, |entry| entry.mv);
        let mut picker = if in_check {
            MovePicker::all(&self.arena, table_move, [Move::NULL; 2], self.stack.context(ply))
        } else {
            let hint = if table_move.is_quiet() { Move::NULL } else { table_move };
            MovePicker::captures(&self.arena, hint, params::quiescence_see())
        };
        while let Some(mv) = picker.next(board, &mut self.arena, self.histories) {
            let Some(child) = self.play(board, mv, ply) else { break };
            let score = -self.quiescence::<N>(&child, Window { alpha, ..window }.flip(), ply + 1);
            self.line.pop();
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

        // 5. Mate, or what was found out.
        if best.score == -INFINITE {
            return mated_in(ply as i32);
        }
        let bound = if best.score >= window.beta { Bound::Lower } else { Bound::Upper };
        let entry = Entry { mv: best.mv, score: best.score, eval: static_eval, depth: 0, bound, pv: N::PV };
        self.table.store(board.key(), ply, entry);
        best.score
    }
}

/// The stored score when it settles the question whether the true one reaches `beta`.
#[inline]
fn score_from_table(table: Option<Entry>, depth: i32, beta: Score, board: &Board) -> Option<Score> {
    let entry = table?;
    let trusted = entry.depth >= depth && board.halfmove_clock() < STALE_HALFMOVE_CLOCK;
    (trusted && entry.bound.settles(entry.score, beta)).then_some(entry.score)
}

/// The static evaluation, moved to the stored score where that is a bound on the other side.
#[inline]
fn improved_by_table(static_eval: Score, table: Option<Entry>) -> Score {
    match table {
        Some(entry) if entry.bound.settles(entry.score, static_eval + 1) => entry.score,
        _ => static_eval,
    }
}

/// True for a quiet move that is left out because of its place in the order.
#[inline]
fn skips_late_quiet(node: &Node, alpha: Score, mv: Move, move_number: usize) -> bool {
    if !mv.is_quiet() || is_mate(alpha) {
        return false;
    }
    let too_late = pruning::late_move_count(node.depth).is_some_and(|count| move_number > count);
    let too_far = pruning::futility_margin(node.depth).is_some_and(|margin| node.eval + margin <= alpha);
    too_late || too_far
}

/// True for a move that loses more in the static exchange than the depth that is left may win back.
#[inline]
fn loses_exchange(board: &Board, node: &Node, mv: Move) -> bool {
    pruning::exchange_threshold(node.depth, mv.is_quiet()).is_some_and(|least| !board.see_ge(mv, least))
}

fn has_legal_move(board: &Board) -> bool {
    let mut moves = MoveList::new();
    board.legal_moves(&mut moves);
    !moves.is_empty()
}
