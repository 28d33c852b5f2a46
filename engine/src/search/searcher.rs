//! The searcher: transposition table (TT), memory and threads that persist between the searches of
//! a game.

use super::evaluator::{EvalConfig, EvaluationObserver};
use super::game::Game;
use super::info::{Outcome, Report};
use super::iterative_deepening::Finding;
use super::limits::{Control, Limits, Signals};
use super::pool::{self, Assignment, Memory, Pool};
use super::shared::SharedState;
use super::tablebase::{ProbeLimits, Tablebases};
use super::tt::TranspositionTable;
use crate::board::Board;
use crate::memory::MemoryError;
use crate::nnue;
use crate::types::{DRAW, Move, mated_in};
use std::io;
use std::sync::Arc;
use std::time::Instant;

/// State that persists between the searches of a game, and the threads that search.
pub struct Searcher {
    tt: Arc<TranspositionTable>,
    tables: Option<Arc<Tablebases>>,
    probing: ProbeLimits,
    memory: Memory,
    helpers: Pool,
    evaluation: EvalConfig,
}

impl Searcher {
    /// Creates a searcher with one thread and a TT of `hash_mib` MiB.
    ///
    /// # Errors
    /// Returns an error if the memory of the TT cannot be allocated.
    pub fn new(hash_mib: usize) -> Result<Searcher, MemoryError> {
        let tt = Arc::new(TranspositionTable::new(hash_mib)?);
        Ok(Searcher {
            tt,
            tables: None,
            probing: ProbeLimits::default(),
            memory: Memory::new(),
            helpers: Pool::new(),
            evaluation: EvalConfig::default(),
        })
    }

    /// Replaces the TT by an empty one of another size. On an error the old one stays.
    ///
    /// # Errors
    /// Returns an error if the memory cannot be allocated.
    pub fn set_hash(&mut self, hash_mib: usize) -> Result<(), MemoryError> {
        let reserved = TranspositionTable::reserve(hash_mib, self.tt.bytes())?;
        // The old table is freed before the new memory is touched, so that both need not fit at
        // once.
        self.tt = Arc::new(TranspositionTable::none());
        self.tt = Arc::new(reserved.build(self.threads()));
        Ok(())
    }

    /// Switches the evaluation of all threads, and clears all results of the old one.
    pub fn set_evaluation(&mut self, config: &EvalConfig) {
        self.memory.evaluator.configure(config);
        self.evaluation = config.clone();
        self.configure_helpers();
        self.new_game();
    }

    /// Helpers start with the default evaluation.
    fn configure_helpers(&self) {
        let config = self.evaluation.clone();
        self.helpers.change(move |memory| memory.evaluator.configure(&config));
    }

    /// Sets or removes the observer of the evaluations of the calling thread's searches. Positions
    /// in check, and those whose evaluation is in the TT, are not evaluated.
    pub fn observe_evaluations(&mut self, observer: Option<EvaluationObserver>) {
        self.memory.evaluator.observer = observer;
    }

    /// Returns the accumulator statistics since [`Self::set_evaluation`]; `None` without a network.
    pub fn nnue_counters(&self) -> Option<nnue::Counters> {
        self.memory.evaluator.nnue_counters()
    }

    /// Sets the number of search threads, at least one. Threads live until the number is lowered.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be spawned; those spawned so far stay.
    pub fn set_threads(&mut self, threads: usize) -> io::Result<()> {
        let result = self.helpers.resize(threads.saturating_sub(1));
        self.configure_helpers();
        result
    }

    /// Sets or removes the endgame tablebases.
    pub fn set_tablebases(&mut self, tables: Option<Arc<Tablebases>>) {
        self.tables = tables;
    }

    /// Sets the limits of tablebase probes in the tree.
    pub fn set_probing(&mut self, probing: ProbeLimits) {
        self.probing = probing;
    }

    /// Returns the number of search threads.
    pub fn threads(&self) -> usize {
        1 + self.helpers.len()
    }

    /// Clears the TT.
    pub fn clear_hash(&mut self) {
        self.tt.clear(self.threads());
    }

    /// Clears all state, so that the next search equals one in a fresh process.
    pub fn new_game(&mut self) {
        self.clear_hash();
        self.memory.clear();
        self.helpers.change(Memory::clear);
    }

    /// Searches a position. `start` is the time at which the clock began to run. The calling thread
    /// needs a stack of [`pool::THREAD_STACK_BYTES`].
    ///
    /// With one thread the result depends only on the arguments and on the searches since
    /// [`Self::new_game`], unless time or a signal ends the search. The calling thread leads: it
    /// checks the time and reports.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        signals: &Signals,
        start: Instant,
        report: &mut dyn Report,
    ) -> Outcome {
        self.tt.age();
        let shared = Arc::new(SharedState::new(self.threads(), limits.nodes));
        let assignment = Arc::new(Assignment {
            game: game.clone(),
            limits: limits.clone(),
            tt: Arc::clone(&self.tt),
            tables: self.tables.clone(),
            probing: self.probing,
            shared: Arc::clone(&shared),
        });
        self.helpers.begin(&assignment);
        let control = Control::lead(&shared, limits, signals, start);
        let mut worker = assignment.worker(&mut self.memory, control);
        let mut findings = vec![worker.deepen(game.board(), limits, report)];
        // Out of nodes, the helpers end by themselves.
        if !worker.control.is_out_of_nodes() {
            shared.stop();
        }
        findings.extend(self.helpers.findings());
        // With several lines the leader's result counts, because its lines were reported.
        let is_reported = limits.lines > 1 && findings[0].best.is_some();
        let chosen = if is_reported { 0 } else { pool::elect(&findings) };
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

    /// Returns the TT's reply to the best move, for lines of a single move.
    fn expected_answer(&self, board: &Board, best: Move) -> Option<Move> {
        let mut child = *board;
        child.play(best);
        let mv = self.tt.probe(child.key(), 1)?.mv;
        child.is_legal(mv).then_some(mv)
    }
}

#[cfg(test)]
mod tests {
    use super::super::evaluator::Evaluator;
    use super::super::info::SilentReport;
    use super::super::pool::in_search_thread;
    use super::*;
    use std::collections::HashMap;

    /// Searches a position in a thread with the stack of a search.
    fn search(searcher: &mut Searcher, game: &Game, limits: &Limits, signals: &Signals) -> Outcome {
        in_search_thread(|| searcher.search(game, limits, signals, Instant::now(), &mut SilentReport))
            .expect("a thread")
    }

    /// Returns the depth stored for the starting position after a search too short to transpose
    /// back to it.
    fn stored_depth(limits: Limits) -> Option<i32> {
        let mut searcher = Searcher::new(1).expect("a small table");
        let game = Game::new(Board::startpos());
        search(&mut searcher, &game, &limits, &Signals::default());
        searcher.tt.probe(game.board().key(), 0).map(|entry| entry.depth)
    }

    #[test]
    fn several_threads_use_all_nodes_and_always_find_a_line() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let game = Game::new(Board::from_fen(fen).unwrap());
        for (threads, lines, nodes) in [(2, 1, 500), (4, 2, 500), (8, 3, 1_000)] {
            let mut searcher = Searcher::new(1).expect("a small table");
            searcher.set_threads(threads).expect("threads");
            for _ in 0..20 {
                searcher.new_game();
                let limits = Limits { nodes: Some(nodes), lines, ..Limits::default() };
                let outcome = search(&mut searcher, &game, &limits, &Signals::default());
                // Without a line the score would be that of a draw.
                assert!(
                    outcome.score != DRAW && outcome.nodes == nodes,
                    "{threads} threads, {lines} lines: {outcome:?}"
                );
            }
        }
    }

    #[test]
    fn a_search_without_a_line_plays_the_move_of_the_table() {
        let mut searcher = Searcher::new(1).expect("a small table");
        let game = Game::new(Board::startpos());
        let mut play = |limits: &Limits, signals: &Signals| search(&mut searcher, &game, limits, signals).best;
        let known = play(&Limits { depth: Some(6), ..Limits::default() }, &Signals::default());
        let stopped = Signals::default();
        stopped.stop.store(true, std::sync::atomic::Ordering::Relaxed);
        assert_eq!((play(&Limits::default(), &stopped), known.is_some()), (known, true));
    }

    #[test]
    fn evaluations_are_observed_and_kept_for_the_next_visit() {
        let mut searcher = Searcher::new(16).expect("a small table");
        let seen = Arc::new(std::sync::Mutex::new(HashMap::new()));
        let seen_by_search = Arc::clone(&seen);
        searcher.observe_evaluations(Some(Box::new(move |board, value| {
            seen_by_search.lock().unwrap().entry(board.key()).or_insert((value, 0)).1 += 1;
        })));
        let limits = Limits { depth: Some(9), ..Limits::default() };
        search(&mut searcher, &Game::new(Board::startpos()), &limits, &Signals::default());
        let seen = seen.lock().unwrap();
        let visits: usize = seen.values().map(|(_, visits)| visits).sum();
        // Without kept evaluations a quarter of them would be repeats.
        assert!(visits > 500 && visits * 20 < seen.len() * 21, "{visits} evaluations of {} positions", seen.len());
        let mut evaluator = Evaluator::new();
        evaluator.reset(&Board::startpos());
        let (value, _) = seen[&Board::startpos().key()];
        assert_eq!(value, evaluator.evaluate(&Board::startpos()));
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
