//! Helper threads of a search ("Lazy SMP"). TT stands for transposition table.
//!
//! All threads search the same root and help each other through the TT. Each has its own memory and
//! lives as long as the pool.

use super::evaluator::Evaluator;
use super::game::Game;
use super::history::Histories;
use super::info::SilentReport;
use super::iterative_deepening::Finding;
use super::limits::{Control, Limits};
use super::ordering::MoveArena;
use super::root::Root;
use super::shared::SharedState;
use super::stack::{Line, PvTable, Stack};
use super::tablebase::{ProbeLimits, Prober, Tablebases};
use super::tt::TranspositionTable;
use super::worker::Worker;
use crate::memory::HugeBox;
use crate::types::{MATE_IN_MAX, Move, Score};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

/// Stack size required by threads that call [`Searcher::search`](super::Searcher::search).
pub const THREAD_STACK_BYTES: usize = 16 << 20;

/// Runs a closure on a thread that may search, and waits for it.
///
/// # Errors
/// Returns an error if the thread cannot be spawned.
pub fn in_search_thread<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let handle = thread::Builder::new().stack_size(THREAD_STACK_BYTES).spawn_scoped(scope, work)?;
        handle.join().or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// State of one thread that persists between searches, beside the TT.
pub struct Memory {
    /// Move histories.
    pub histories: HugeBox<Histories>,
    /// Evaluator with its caches.
    pub evaluator: Evaluator,
}

impl Memory {
    /// Creates empty state.
    pub fn new() -> Memory {
        Memory { histories: Histories::empty(), evaluator: Evaluator::new() }
    }

    /// Clears all state.
    pub fn clear(&mut self) {
        self.histories.zero();
        self.evaluator.clear();
    }
}

/// Search that all helpers share.
pub struct Assignment {
    /// Game up to the root.
    pub game: Game,
    /// Limits of the search.
    pub limits: Limits,
    /// Transposition table (TT) of all threads.
    pub tt: Arc<TranspositionTable>,
    /// Endgame tablebases; `None` if there are none.
    pub tables: Option<Arc<Tablebases>>,
    /// Limits of tablebase probes.
    pub probing: ProbeLimits,
    /// Stop flag and counts of all threads.
    pub shared: Arc<SharedState>,
}

impl Assignment {
    /// Creates the state of one thread for this search.
    pub fn worker<'a>(&'a self, memory: &'a mut Memory, control: Control<'a>) -> Worker<'a> {
        let Assignment { game, limits, tt, tables, probing, .. } = self;
        memory.evaluator.reset(game.board());
        Worker {
            tt,
            prober: tables.as_deref().map(|tables| Prober { tables, probing: *probing }),
            histories: &mut memory.histories,
            evaluator: &mut memory.evaluator,
            control,
            root: Root::new(game.board(), &limits.search_moves, limits.lines),
            line: Line::new(&game.keys),
            pv: PvTable::new(),
            stack: Stack::after(game.last),
            arena: MoveArena::new(),
            seldepth: 0,
            nodes_reported: 0,
        }
    }
}

enum HelperOrder {
    Search(Arc<Assignment>),
    Change(Arc<dyn Fn(&mut Memory) + Send + Sync>),
}

struct Helper {
    /// Sender of orders; `None` once the thread is to end.
    orders: Option<Sender<HelperOrder>>,
    /// Answers, one per order; `None` for orders other than a search.
    answers: Receiver<Option<Finding>>,
    thread: Option<JoinHandle<()>>,
}

impl Helper {
    /// Spawns a helper; numbers start at one.
    fn start(number: usize) -> io::Result<Helper> {
        let (orders, queue) = channel();
        let (answer, answers) = channel();
        let name = format!("search-{number}");
        let thread = thread::Builder::new().name(name).stack_size(THREAD_STACK_BYTES).spawn(move || {
            let mut memory = Memory::new();
            for order in queue {
                let found = perform(order, number, &mut memory);
                if answer.send(found).is_err() {
                    break;
                }
            }
        })?;
        Ok(Helper { orders: Some(orders), answers, thread: Some(thread) })
    }

    fn order(&self, order: HelperOrder) {
        if let Some(orders) = &self.orders {
            // If the thread is gone, receiving its answer fails.
            let _ = orders.send(order);
        }
    }

    fn answer(&self) -> Option<Finding> {
        self.answers.recv().ok().flatten()
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        drop(self.orders.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn perform(order: HelperOrder, number: usize, memory: &mut Memory) -> Option<Finding> {
    match order {
        HelperOrder::Change(change) => {
            change(memory);
            None
        }
        HelperOrder::Search(assignment) => {
            let control = Control::follow(&assignment.shared, &assignment.limits, number);
            let mut worker = assignment.worker(memory, control);
            Some(worker.deepen(assignment.game.board(), &assignment.limits, &mut SilentReport))
        }
    }
}

/// Helper threads, in the order of their numbers.
pub struct Pool(Vec<Helper>);

impl Pool {
    /// Creates a pool without helpers.
    pub fn new() -> Pool {
        Pool(Vec::new())
    }

    /// Returns the number of helpers.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Starts or ends helpers until their number is `helpers`.
    ///
    /// # Errors
    /// Returns an error if a thread cannot be spawned; those spawned so far stay.
    pub fn resize(&mut self, helpers: usize) -> io::Result<()> {
        self.0.truncate(helpers);
        while self.0.len() < helpers {
            self.0.push(Helper::start(self.0.len() + 1)?);
        }
        Ok(())
    }

    /// Changes the memory of every helper, and waits until all are done.
    pub fn change(&self, change: impl Fn(&mut Memory) + Send + Sync + 'static) {
        let change: Arc<dyn Fn(&mut Memory) + Send + Sync> = Arc::new(change);
        self.0.iter().for_each(|helper| helper.order(HelperOrder::Change(Arc::clone(&change))));
        self.0.iter().for_each(|helper| drop(helper.answer()));
    }

    /// Starts a search on all helpers. [`Self::findings`] must be called before any other order.
    pub fn begin(&self, assignment: &Arc<Assignment>) {
        self.0.iter().for_each(|helper| helper.order(HelperOrder::Search(Arc::clone(assignment))));
    }

    /// Waits for the helpers' findings. The search must have been stopped.
    pub fn findings(&self) -> Vec<Finding> {
        self.0.iter().filter_map(Helper::answer).collect()
    }
}

/// Weight of the worst score in the vote, in centipawns.
const VOTE_BASE: Score = 16;

/// Elects the thread whose line is played.
///
/// Every thread votes for its move, weighted by depth and score. The best thread of the winning
/// move is elected. A proven mate wins over all votes, and the leader wins ties.
pub fn elect(findings: &[Finding]) -> usize {
    let lines: Vec<(usize, Move, Score, i32)> = findings
        .iter()
        .enumerate()
        .filter_map(|(thread, found)| found.best.as_ref().map(|best| (thread, best.moves[0], best.score, found.depth)))
        .collect();
    let Some(worst) = lines.iter().map(|line| line.2).min() else { return 0 };
    let weight = |score: Score, depth: i32| i64::from(score - worst + VOTE_BASE) * i64::from(depth);
    let votes = |mv: Move| -> i64 {
        lines.iter().filter(|line| line.1 == mv).map(|&(_, _, score, depth)| weight(score, depth)).sum()
    };
    let rank = |&(thread, mv, score, depth): &(usize, Move, Score, i32)| {
        let proven = if score >= MATE_IN_MAX { score } else { 0 };
        (proven, votes(mv), weight(score, depth), std::cmp::Reverse(thread))
    };
    lines.iter().max_by_key(|line| rank(line)).map_or(0, |line| line.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::root::BestLine;
    use crate::search::tt::Bound;
    use crate::types::mate_in;

    #[test]
    fn threads_vote_by_depth_and_score() {
        // Move, score and depth of each thread; move 0 stands for no finding.
        type Threads<'a> = &'a [(u16, Score, i32)];
        let proven: Threads<'_> = &[(1, 10, 20), (1, 10, 20), (2, mate_in(5), 3), (3, mate_in(3), 3)];
        let cases: [(Threads<'_>, usize); 9] = [
            (&[], 0),
            (&[(0, 0, 0)], 0),
            (&[(1, 10, 8)], 0),
            (&[(1, 10, 8), (2, 10, 8)], 0),
            (&[(1, 10, 8), (2, 10, 9)], 1),
            (&[(1, 10, 9), (2, 60, 9)], 1),
            (&[(1, 10, 10), (2, 10, 9), (2, 9, 9)], 1),
            (proven, 3),
            (&[(0, 0, 0), (2, -500, 3)], 1),
        ];
        for (threads, expected) in cases {
            let findings: Vec<Finding> = threads
                .iter()
                .map(|&(mv, score, depth)| {
                    let best = (mv > 0).then(|| BestLine {
                        depth,
                        seldepth: 1,
                        score,
                        bound: Bound::Exact,
                        moves: vec![Move::from_raw(mv)],
                    });
                    Finding { best, fallback: None, depth }
                })
                .collect();
            assert_eq!(elect(&findings), expected, "{threads:?}");
        }
    }

    #[test]
    fn helpers_come_and_go() {
        let mut pool = Pool::new();
        for helpers in [0, 3, 1, 5, 0] {
            pool.resize(helpers).expect("threads");
            pool.change(Memory::clear);
            assert_eq!(pool.len(), helpers);
        }
    }
}
