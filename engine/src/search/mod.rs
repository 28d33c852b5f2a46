//! The search: iterative deepening with aspiration windows over a principal variation search.
//!
//! Reading order: this file (what is asked and answered), `deepen.rs` (the iterations), the numbered steps of `node.rs` with
//! `shortcuts.rs` and `moves.rs`, `quiescence.rs`, `pruning.rs`, `reductions.rs` and `extensions.rs` for every margin, reduction and
//! extension, `ordering.rs` and `history.rs` for the order of moves, `corrections.rs` for what is learnt of the evaluation, `tt.rs`
//! for what is remembered of positions, `time.rs` and `limits.rs` for when to stop, `pool.rs` and `shared.rs` for the other threads,
//! `strength.rs` for playing weaker, `params.rs` for the numbers. Nothing here knows UCI.

mod corrections;
mod deepen;
mod evaluator;
mod extensions;
mod gravity;
mod history;
mod limits;
mod memory;
mod moves;
mod node;
mod ordering;
pub mod params;
mod pool;
mod pruning;
mod quiescence;
mod reductions;
mod root;
mod shared;
mod shortcuts;
mod stack;
pub mod strength;
pub mod tablebase;
pub mod time;
mod tried;
pub mod tt;
mod window;

pub use evaluator::{EvalConfig, EvalMode, Evaluator};
pub use limits::{Limits, Signals};
pub use memory::MemoryError;
pub use stack::MAX_PLY;

use crate::board::Board;
use crate::nnue;
use crate::types::{DRAW, Move, Score, mated_in};
use deepen::Finding;
use limits::Control;
use node::Worker;
use ordering::MoveArena;
use pool::{Assignment, Memory, Pool};
use root::Root;
use shared::Shared;
use stack::{Line, PvTable, Stack};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};
use tablebase::{Prober, Probing, Tablebases};
use tt::{Bound, TranspositionTable};

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

/// The state of a search after an iteration, or at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Info<'a> {
    /// The iteration that found the line, in plies.
    pub depth: i32,
    /// The longest line looked at in it, in plies.
    pub seldepth: usize,
    /// The rank of the line, from one.
    pub line: usize,
    /// From the side to move's view.
    pub score: Score,
    /// What it is of the true score: exact, but for an iteration that was stopped.
    pub bound: Bound,
    /// Moves played on the board since the search began, by all threads.
    pub nodes: u64,
    /// Answers from endgame tables, likewise.
    pub table_hits: u64,
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

/// All that is remembered from one search of a game to the next, and the threads that search.
pub struct Searcher {
    table: Arc<TranspositionTable>,
    tables: Option<Arc<Tablebases>>,
    probing: Probing,
    memory: Memory,
    helpers: Pool,
    evaluation: EvalConfig,
}

impl Searcher {
    /// One thread, and a table of so many MiB.
    ///
    /// # Errors
    /// When the memory for the table cannot be had.
    pub fn new(hash_mib: usize) -> Result<Searcher, MemoryError> {
        let table = Arc::new(TranspositionTable::new(hash_mib)?);
        Ok(Searcher {
            table,
            tables: None,
            probing: Probing::default(),
            memory: Memory::new(),
            helpers: Pool::new(),
            evaluation: EvalConfig::default(),
        })
    }

    /// Takes a new, empty table. On an error the old one stays.
    ///
    /// # Errors
    /// When the memory cannot be had.
    pub fn set_hash(&mut self, hash_mib: usize) -> Result<(), MemoryError> {
        let reserved = TranspositionTable::reserve(hash_mib, self.table.bytes())?;
        // The old table goes before the new memory is touched, so that both need not be there at once.
        self.table = Arc::new(TranspositionTable::none());
        self.table = Arc::new(reserved.build(self.threads()));
        Ok(())
    }

    /// Evaluates by other means from now on, in all threads, and forgets all that came from the old ones.
    pub fn set_evaluation(&mut self, config: &EvalConfig) {
        self.memory.evaluator.configure(config);
        self.evaluation = config.clone();
        self.configure_helpers();
        self.new_game();
    }

    /// Helpers begin with the default evaluation.
    fn configure_helpers(&self) {
        let config = self.evaluation.clone();
        self.helpers.change(move |memory| memory.evaluator.configure(&config));
    }

    /// What the accumulators of the network in use did since [`Self::set_evaluation`]; none without a network.
    pub fn nnue_counters(&self) -> Option<nnue::Counters> {
        self.memory.evaluator.nnue_counters()
    }

    /// Searches with so many threads from now on, at least one. They live until there are to be fewer.
    ///
    /// # Errors
    /// When a thread cannot be had; as many as could be stay.
    pub fn set_threads(&mut self, threads: usize) -> io::Result<()> {
        let result = self.helpers.resize(threads.saturating_sub(1));
        self.configure_helpers();
        result
    }

    /// Looks positions up in these endgame tables from now on.
    pub fn set_tablebases(&mut self, tables: Option<Arc<Tablebases>>) {
        self.tables = tables;
    }

    /// When the tree asks the tables.
    pub fn set_probing(&mut self, probing: Probing) {
        self.probing = probing;
    }

    /// Threads that search.
    pub fn threads(&self) -> usize {
        1 + self.helpers.len()
    }

    /// Empties the table.
    pub fn clear_hash(&mut self) {
        self.table.clear(self.threads());
    }

    /// Forgets everything, so that the next search is what it would be in a fresh process.
    pub fn new_game(&mut self) {
        self.clear_hash();
        self.memory.clear();
        self.helpers.change(Memory::clear);
    }

    /// Searches a position. `start` is when the clock began to run. Needs a thread with [`THREAD_STACK_BYTES`] of stack.
    ///
    /// With one thread the result depends on nothing but the arguments and the earlier searches since [`Self::new_game`],
    /// unless time or a signal ends the search. The calling thread leads: it minds the time and reports.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        signals: &Signals,
        start: Instant,
        report: &mut dyn Report,
    ) -> Outcome {
        self.table.age();
        let shared = Arc::new(Shared::new(self.threads(), limits.nodes));
        let assignment = Arc::new(Assignment {
            game: game.clone(),
            limits: limits.clone(),
            table: Arc::clone(&self.table),
            tables: self.tables.clone(),
            probing: self.probing,
            shared: Arc::clone(&shared),
        });
        self.helpers.begin(&assignment);
        let control = Control::lead(&shared, limits, signals, start);
        let mut worker = new_worker(&assignment, &mut self.memory, control);
        let mut findings = vec![worker.deepen(game.board(), limits, report)];
        shared.stop();
        findings.extend(self.helpers.findings());
        // Several lines are the leader's, so that what is played is what was reported first.
        let chosen = if limits.lines > 1 { 0 } else { pool::elect(&findings) };
        let found = &findings[chosen];
        worker.report_end(found.best.as_ref().filter(|_| chosen > 0), report);
        self.outcome(game.board(), found, shared.nodes())
    }

    fn outcome(&self, board: &Board, found: &Finding, nodes: u64) -> Outcome {
        let line = found.best.as_ref().map_or(&[][..], |best| &best.moves);
        let best = line.first().copied().or(found.fallback);
        let ponder = line.get(1).copied().or_else(|| self.expected_answer(board, best?));
        let without = if board.in_check() && best.is_none() { mated_in(0) } else { DRAW };
        let score = found.best.as_ref().map_or(without, |best| best.score);
        Outcome { best, ponder, score, depth: found.depth, nodes }
    }

    /// The answer the table knows, for lines of one move.
    fn expected_answer(&self, board: &Board, best: Move) -> Option<Move> {
        let mut child = *board;
        child.play(best);
        let mv = self.table.probe(child.key(), 1)?.mv;
        child.is_legal(mv).then_some(mv)
    }
}

/// What a thread needs for one search.
fn new_worker<'a>(assignment: &'a Assignment, memory: &'a mut Memory, control: Control<'a>) -> Worker<'a> {
    let Assignment { game, limits, table, tables, probing, .. } = assignment;
    memory.evaluator.reset(game.board());
    Worker {
        table,
        prober: tables.as_deref().map(|tables| Prober { tables, probing: *probing }),
        histories: &mut memory.histories,
        evaluator: &mut memory.evaluator,
        control,
        root: Root::new(game.board(), &limits.search_moves, limits.lines),
        line: Line::new(&game.keys),
        pv: PvTable::new(),
        stack: Stack::new(),
        arena: MoveArena::new(),
        seldepth: 0,
        nodes_told: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which depth is stored for the starting position after a search of few plies, none of which come back to it.
    fn stored_depth(limits: Limits) -> Option<i32> {
        let mut searcher = Searcher::new(1).expect("a small table");
        let game = Game::new(Board::startpos());
        in_search_thread(|| searcher.search(&game, &limits, &Signals::default(), Instant::now(), &mut Silent))
            .expect("a thread");
        searcher.table.probe(game.board().key(), 0).map(|entry| entry.depth)
    }

    #[test]
    fn only_the_value_of_the_position_is_stored_for_the_root() {
        let limits = Limits { depth: Some(3), ..Limits::default() };
        let search_moves: Vec<Move> = Board::startpos().parse_uci("a2a3").into_iter().collect();
        assert_eq!(stored_depth(limits.clone()), Some(3));
        assert_eq!(stored_depth(Limits { lines: 4, ..limits.clone() }), Some(3));
        assert_eq!(stored_depth(Limits { search_moves, ..limits }), None);
    }
}
