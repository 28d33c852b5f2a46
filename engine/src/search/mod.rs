//! The search: iterative deepening with aspiration windows over a principal variation search.
//!
//! Reading order: this file (what is asked and answered, the iterations), the numbered steps of `node.rs`
//! with `shortcuts.rs` and `moves.rs`, `quiescence.rs`, `pruning.rs` and `reductions.rs` for every margin and reduction, `ordering.rs` and `history.rs` for the order of moves,
//! `tt.rs` for what is remembered of positions, `time.rs` and `limits.rs` for when to stop, `params.rs` for the numbers.
//! Nothing here knows UCI.

mod corrections;
mod evaluator;
mod extensions;
mod history;
mod limits;
mod moves;
mod node;
mod ordering;
pub mod params;
mod pruning;
mod quiescence;
mod reductions;
mod root;
mod shortcuts;
mod stack;
pub mod time;
mod tried;
pub mod tt;
mod window;

pub use evaluator::{EvalConfig, EvalMode, Evaluator};
pub use limits::{Limits, Signals};
pub use stack::MAX_PLY;

use crate::board::Board;
use crate::nnue;
use crate::types::{DRAW, INFINITE, Move, Score, mate_in, mated_in};
use history::Histories;
use limits::Control;
use node::Worker;
use ordering::MoveArena;
use root::Root;
use stack::{Line, PvTable, Stack};
use std::collections::TryReserveError;
use std::time::{Duration, Instant};
use std::{io, thread};
use tt::TranspositionTable;
use window::{RootNode, Window};

/// The stack a thread needs that calls [`Searcher::search`].
pub const THREAD_STACK_BYTES: usize = 16 << 20;

/// Runs something on a thread that may search, and waits for it.
///
/// # Errors
/// When no such thread can be had.
pub fn in_search_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let handle = thread::Builder::new().stack_size(THREAD_STACK_BYTES).spawn_scoped(scope, work)?;
        handle.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Iterations from this depth on begin with a narrow window.
const ASPIRATION_DEPTH: i32 = 4;
/// A forced move is not thought about for longer than this, on a clock.
const FORCED_MOVE_DEPTH: i32 = 6;

/// A position and the way to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Game {
    board: Board,
    /// Keys of the positions before, since the last irreversible move.
    keys: Vec<u64>,
}

impl Game {
    pub fn new(board: Board) -> Game {
        Game { board, keys: Vec::new() }
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        self.keys.push(self.board.key());
        self.board.play(mv);
        if self.board.halfmove_clock() == 0 {
            self.keys.clear();
        }
    }
}

/// The state of a search after an iteration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info<'a> {
    /// The iteration, in plies.
    pub depth: i32,
    /// The longest line looked at, in plies.
    pub seldepth: usize,
    /// From the side to move's view.
    pub score: Score,
    /// Moves played on the board since the search began.
    pub nodes: u64,
    pub elapsed: Duration,
    /// How full the table is, per mille.
    pub hashfull: usize,
    /// The best line; from the root, at least one move.
    pub pv: &'a [Move],
}

/// Hears how a search gets on.
pub trait Report {
    fn iteration(&mut self, info: &Info<'_>);
}

/// Hears and says nothing.
pub struct Silent;

impl Report for Silent {
    fn iteration(&mut self, _: &Info<'_>) {}
}

/// What came out of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// None when there is no legal move.
    pub best: Option<Move>,
    /// The answer expected to it.
    pub ponder: Option<Move>,
    pub score: Score,
    /// The last iteration that was finished.
    pub depth: i32,
    pub nodes: u64,
}

/// All that is remembered from one search of a game to the next.
pub struct Searcher {
    table: TranspositionTable,
    histories: Histories,
    evaluator: Evaluator,
}

impl Searcher {
    /// # Errors
    /// When the memory for the table cannot be had.
    pub fn new(hash_mib: usize) -> Result<Searcher, TryReserveError> {
        let table = TranspositionTable::new(hash_mib)?;
        Ok(Searcher { table, histories: Histories::new(), evaluator: Evaluator::new() })
    }

    /// Takes a new, empty table. On an error the old one stays.
    ///
    /// # Errors
    /// When the memory cannot be had.
    pub fn set_hash(&mut self, hash_mib: usize) -> Result<(), TryReserveError> {
        self.table = TranspositionTable::new(hash_mib)?;
        Ok(())
    }

    /// Evaluates by other means from now on, and forgets all that came from the old ones.
    pub fn set_evaluation(&mut self, config: &EvalConfig) {
        self.evaluator.configure(config);
        self.new_game();
    }

    /// What the accumulators of the network in use did since [`Self::set_evaluation`]; none without a network.
    pub fn nnue_counters(&self) -> Option<nnue::Counters> {
        self.evaluator.nnue_counters()
    }

    /// Empties the table.
    pub fn clear_hash(&mut self) {
        self.table.clear();
    }

    /// Forgets everything, so that the next search is what it would be in a fresh process.
    pub fn new_game(&mut self) {
        self.table.clear();
        self.histories.clear();
        self.evaluator.clear();
    }

    /// Searches a position. `start` is when the clock began to run. Needs a thread with [`THREAD_STACK_BYTES`] of stack.
    ///
    /// The result depends on nothing but the arguments and the earlier searches since [`Self::new_game`], unless time or a
    /// signal ends the search.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        signals: &Signals,
        start: Instant,
        report: &mut dyn Report,
    ) -> Outcome {
        self.table.age();
        self.evaluator.reset(game.board());
        let mut worker = Worker {
            table: &self.table,
            histories: &mut self.histories,
            evaluator: &mut self.evaluator,
            control: Control::new(limits, signals, start),
            root: Root::new(game.board(), &limits.search_moves),
            line: Line::new(&game.keys),
            pv: PvTable::new(),
            stack: Stack::new(),
            arena: MoveArena::new(),
            seldepth: 0,
        };
        worker.deepen(game.board(), limits, report)
    }
}

impl Worker<'_> {
    /// Searches a position one ply deeper at a time.
    fn deepen(&mut self, board: &Board, limits: &Limits, report: &mut dyn Report) -> Outcome {
        let max_depth = limits.depth.unwrap_or(i32::MAX).clamp(1, MAX_PLY as i32 - 1);
        let mut finished = 0;
        let mut score = DRAW;
        if self.root.moves().is_empty() {
            score = if board.in_check() { mated_in(0) } else { DRAW };
        } else {
            for depth in 1..=max_depth {
                self.seldepth = 0;
                let found = self.search_aspiring(board, depth, score);
                if self.control.is_stopped() {
                    break;
                }
                (finished, score) = (depth, found);
                self.report(depth, report);
                if self.control.should_stop_iterating(1.0) || self.is_settled(depth, score, limits) {
                    break;
                }
            }
            if self.root.is_news {
                self.report(finished + 1, report);
            }
        }
        self.outcome(board, finished, score)
    }

    /// One iteration: with a narrow window around the last score, and wider ones until the score lies inside.
    fn search_aspiring(&mut self, board: &Board, depth: i32, last: Score) -> Score {
        let mut delta = params::aspiration_delta();
        let mut window = Window { alpha: -INFINITE, beta: INFINITE };
        if depth >= ASPIRATION_DEPTH {
            window = Window { alpha: (last - delta).max(-INFINITE), beta: (last + delta).min(INFINITE) };
        }
        loop {
            let score = self.search::<RootNode>(board, window, depth, 0);
            if self.control.is_stopped() {
                return score;
            }
            if score <= window.alpha {
                window =
                    Window { alpha: (score - delta).max(-INFINITE), beta: i32::midpoint(window.alpha, window.beta) };
            } else if score >= window.beta {
                window.beta = (score + delta).min(INFINITE);
            } else {
                return score;
            }
            delta *= 2;
        }
    }

    /// True when searching deeper is of no use: the nodes are spent, the mate asked for is found, or there is nothing to choose.
    fn is_settled(&self, depth: i32, score: Score, limits: &Limits) -> bool {
        if limits.soft_nodes.is_some_and(|nodes| self.control.nodes() >= nodes) {
            return true;
        }
        if let Some(moves) = limits.mate
            && score >= mate_in(moves.saturating_mul(2).min(MAX_PLY as u32) as i32)
        {
            return true;
        }
        self.control.is_timed() && self.root.moves().len() == 1 && depth >= FORCED_MOVE_DEPTH
    }

    fn report(&mut self, depth: i32, report: &mut dyn Report) {
        self.root.is_news = false;
        let Some(best) = self.root.best() else { return };
        report.iteration(&Info {
            depth,
            seldepth: self.seldepth,
            score: best.score,
            nodes: self.control.nodes(),
            elapsed: self.control.elapsed(),
            hashfull: self.table.hashfull(),
            pv: &best.moves,
        });
    }

    fn outcome(&self, board: &Board, depth: i32, score: Score) -> Outcome {
        let line = self.root.best().map_or(&[][..], |best| &best.moves);
        let best = line.first().or(self.root.moves().first()).copied();
        let ponder = line.get(1).copied().or_else(|| self.expected_answer(board, best?));
        let score = self.root.best().map_or(score, |best| best.score);
        Outcome { best, ponder, score, depth, nodes: self.control.nodes() }
    }

    /// The answer the table knows, for lines of one move.
    fn expected_answer(&self, board: &Board, best: Move) -> Option<Move> {
        let mut child = *board;
        child.play(best);
        let mv = self.table.probe(child.key(), 1)?.mv;
        child.is_legal(mv).then_some(mv)
    }
}
