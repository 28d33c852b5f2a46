//! Search thread, and the session's handle on it.
//!
//! Work is sent as jobs, one after the other. The session waits for every job but a search, which
//! answers by itself and is controlled through its own [`Signals`].

use super::format::{best_move, info};
use super::output::Output;
use crate::board::{Board, perft};
use crate::search::strength::{self, limited_searcher};
use crate::search::{Game, Info, Limits, Report, Searcher, Signals, THREAD_STACK_BYTES};
use crate::types::MoveList;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use std::{io, mem};

/// Search to perform, or perft to count.
pub struct Task {
    /// Game up to the position to search.
    pub game: Game,
    /// Limits of the search.
    pub limits: Limits,
    /// Time at which the `go` was read.
    pub start: Instant,
    /// Set if the answer must wait for `stop`.
    pub infinite: bool,
    /// Set if the opponent is still to move.
    pub ponder: bool,
    /// Depth of a perft to count instead of a search.
    pub perft: Option<u32>,
    /// Set if castling is written as the king taking its rook.
    pub chess960: bool,
    /// Set if win, draw and loss are reported with each score.
    pub show_wdl: bool,
    /// Limited strength; `None` plays at full strength.
    pub strength: Option<Strength>,
}

/// Strength of a limited player.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Strength {
    /// Strength to play at, in Elo.
    pub elo: u32,
    /// Seed of the moves at that strength.
    pub seed: u64,
}

/// Searchers: the full player, and the limited one once it is needed.
struct Players {
    full: Searcher,
    limited: Option<Searcher>,
}

impl Players {
    /// Returns the limited player, with its state cleared.
    fn limited(&mut self) -> Result<&mut Searcher, String> {
        let player = match self.limited.take() {
            Some(player) => player,
            None => limited_searcher().map_err(|error| format!("no memory to play at UCI_Elo: {error}"))?,
        };
        let player = self.limited.insert(player);
        player.new_game();
        Ok(player)
    }
}

/// Change of the searcher, which may fail.
type SearcherChange = Box<dyn FnOnce(&mut Searcher) -> JobResult + Send>;

enum ThreadJob {
    Run(Box<Task>, Arc<SearchMessages>),
    Change(SearcherChange),
}

/// Result of a job.
type JobResult = Result<(), String>;

/// Messages between the session and a running search.
#[derive(Default)]
struct SearchMessages {
    signals: Signals,
    /// Set before the answer is written, so that a reader of the answer finds it set.
    answered: AtomicBool,
}

struct RunningSearch {
    shout: Arc<SearchMessages>,
    done: Receiver<JobResult>,
}

/// Handle on the search thread. Dropping it ends the running search and the thread.
pub struct Engine {
    jobs: Option<Sender<(ThreadJob, Sender<JobResult>)>>,
    thread: Option<JoinHandle<()>>,
    running: Option<RunningSearch>,
}

impl Engine {
    /// # Errors
    /// Returns an error if the memory or the thread is not available.
    pub fn start(hash_mib: usize, output: Output) -> io::Result<Engine> {
        let full = Searcher::new(hash_mib).map_err(io::Error::other)?;
        let mut players = Players { full, limited: None };
        let (jobs, queue) = channel::<(ThreadJob, Sender<JobResult>)>();
        let thread =
            thread::Builder::new().name("search".to_owned()).stack_size(THREAD_STACK_BYTES).spawn(move || {
                for (job, done) in queue {
                    let result = perform(job, &mut players, &output);
                    // The session may have ended without waiting.
                    let _ = done.send(result);
                }
            })?;
        Ok(Engine { jobs: Some(jobs), thread: Some(thread), running: None })
    }

    /// Ends the running search, and starts another.
    pub fn go(&mut self, task: Task) {
        self.finish();
        let shout = Arc::new(SearchMessages::default());
        shout.signals.ponder.store(task.ponder, Ordering::Relaxed);
        if let Some(done) = self.send(ThreadJob::Run(Box::new(task), Arc::clone(&shout))) {
            self.running = Some(RunningSearch { shout, done });
        }
    }

    /// Returns true from `go` until the answer or the request for it.
    pub fn is_searching(&self) -> bool {
        self.running.as_ref().is_some_and(|running| {
            !running.shout.signals.is_stopped() && !running.shout.answered.load(Ordering::Acquire)
        })
    }

    /// Ends the running search, changes the searcher, and waits for the result.
    ///
    /// # Errors
    /// Returns the error of the change.
    pub fn change(&mut self, change: impl FnOnce(&mut Searcher) -> JobResult + Send + 'static) -> JobResult {
        self.finish();
        self.send(ThreadJob::Change(Box::new(change))).and_then(|done| done.recv().ok()).unwrap_or(Ok(()))
    }

    /// Lets the limits of time end the search, because the opponent played the expected move. They
    /// count from `go`, so a search that has pondered for as long answers at once.
    pub fn ponder_hit(&mut self) {
        if let Some(running) = &self.running {
            running.shout.signals.ponder.store(false, Ordering::Relaxed);
            self.wake();
        }
    }

    /// Asks the running search to answer now, without waiting.
    pub fn stop(&mut self) {
        if let Some(running) = &self.running {
            running.shout.signals.stop.store(true, Ordering::Relaxed);
            self.wake();
        }
    }

    /// Stops the running search and waits for its answer.
    pub fn finish(&mut self) {
        self.stop();
        if let Some(running) = self.running.take() {
            let _ = running.done.recv();
        }
    }

    /// Sends a job; returns `None` if the thread has ended.
    fn send(&self, job: ThreadJob) -> Option<Receiver<JobResult>> {
        let (done, wait) = channel();
        self.jobs.as_ref()?.send((job, done)).ok()?;
        Some(wait)
    }

    /// Wakes a finished search that sleeps until it may answer.
    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        self.finish();
        drop(self.jobs.take());
        if let Some(thread) = mem::take(&mut self.thread) {
            let _ = thread.join();
        }
    }
}

fn perform(job: ThreadJob, players: &mut Players, output: &Output) -> JobResult {
    match job {
        ThreadJob::Run(mut task, shout) => {
            match task.perft {
                Some(depth) => print_perft(&task, depth, &shout.signals, output),
                None => search(&mut task, &shout, players, output),
            }
            shout.answered.store(true, Ordering::Release);
            Ok(())
        }
        ThreadJob::Change(change) => change(&mut players.full),
    }
}

/// Report that prints `info` lines.
struct Printer<'a> {
    task: &'a Task,
    output: &'a Output,
}

impl Report for Printer<'_> {
    fn iteration(&mut self, news: &Info<'_>) {
        let Task { chess960, show_wdl, .. } = *self.task;
        self.output.line(&info(news, self.task.game.board(), chess960, show_wdl));
    }
}

fn search(task: &mut Task, shout: &SearchMessages, players: &mut Players, output: &Output) {
    if let Some(Strength { elo, seed }) = task.strength {
        strength::limit(&task.game, elo, seed, &mut task.limits);
    }
    let searcher = match task.strength.map(|_| players.limited()) {
        Some(Ok(limited)) => limited,
        Some(Err(message)) => {
            output.remark(&message);
            &mut players.full
        }
        None => &mut players.full,
    };
    let task = &*task;
    let signals = &shout.signals;
    let outcome = searcher.search(&task.game, &task.limits, signals, task.start, &mut Printer { task, output });
    if outcome.best.is_none() {
        let score = super::format::score(outcome.score);
        output.line(&format!("info depth 0 score {score}"));
    }
    while (task.infinite || signals.is_pondering()) && !signals.is_stopped() {
        thread::park();
    }
    shout.answered.store(true, Ordering::Release);
    output.line(&best_move(&outcome, task.game.board(), task.chess960));
}

fn print_perft(task: &Task, depth: u32, signals: &Signals, output: &Output) {
    let board = task.game.board();
    let mut moves = MoveList::new();
    board.legal_moves(&mut moves);
    let mut total = 0;
    for &mv in &moves {
        let mut child = *board;
        child.play(mv);
        let Some(paths) = count_paths(&child, depth.saturating_sub(1), signals) else { return };
        output.line(&format!("{}: {paths}", board.to_uci(mv, task.chess960)));
        total += paths;
    }
    output.line(&format!("\nNodes searched: {total}"));
}

/// Depth of the subtrees that are counted without polling the signals.
const PERFT_STRIDE: u32 = 3;

/// Counts the paths of a perft; `None` if stopped.
fn count_paths(board: &Board, depth: u32, signals: &Signals) -> Option<u64> {
    if signals.is_stopped() {
        return None;
    }
    if depth <= PERFT_STRIDE {
        return Some(perft(board, depth));
    }
    let mut moves = MoveList::new();
    board.legal_moves(&mut moves);
    moves.iter().try_fold(0, |paths, &mv| {
        let mut child = *board;
        child.play(mv);
        Some(paths + count_paths(&child, depth - 1, signals)?)
    })
}
