//! The thread that searches, and the handle the session holds on it.
//!
//! Work reaches it as jobs, one after the other. A job that is not a search is waited for; a search answers by itself, and is
//! spoken to through its own [`Signals`].

use super::format::{best_move, info};
use super::output::Output;
use crate::board::{Board, perft};
use crate::search::{EvalConfig, Game, Info, Limits, Report, Searcher, Signals, THREAD_STACK_BYTES};
use crate::types::MoveList;
use std::collections::TryReserveError;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;
use std::{io, mem};

/// A search to be done, or a count of paths.
pub struct Task {
    pub game: Game,
    pub limits: Limits,
    /// When the `go` was read.
    pub start: Instant,
    /// No answer before `stop`.
    pub infinite: bool,
    pub ponder: bool,
    /// Count paths of this length instead of searching.
    pub perft: Option<u32>,
    pub chess960: bool,
}

enum Job {
    Run(Box<Task>, Arc<Signals>),
    NewGame,
    ClearHash,
    ResizeHash { mib: usize },
    SetEvaluation(EvalConfig),
}

/// What ends a job.
type Done = Result<(), TryReserveError>;

struct Running {
    signals: Arc<Signals>,
    done: Receiver<Done>,
}

/// The handle. Dropping it ends the search under way and the thread.
pub struct Engine {
    jobs: Option<Sender<(Job, Sender<Done>)>>,
    thread: Option<JoinHandle<()>>,
    running: Option<Running>,
}

impl Engine {
    /// # Errors
    /// When memory or thread cannot be had.
    pub fn start(hash_mib: usize, output: Output) -> io::Result<Engine> {
        let mut searcher = Searcher::new(hash_mib).map_err(io::Error::other)?;
        let (jobs, queue) = channel::<(Job, Sender<Done>)>();
        let thread =
            thread::Builder::new().name("search".to_owned()).stack_size(THREAD_STACK_BYTES).spawn(move || {
                for (job, done) in queue {
                    let result = perform(job, &mut searcher, &output);
                    // The session may have gone without waiting.
                    let _ = done.send(result);
                }
            })?;
        Ok(Engine { jobs: Some(jobs), thread: Some(thread), running: None })
    }

    /// Ends the search under way, and starts another.
    pub fn go(&mut self, task: Task) {
        self.finish();
        let signals = Arc::new(Signals::default());
        signals.ponder.store(task.ponder, Ordering::Relaxed);
        if let Some(done) = self.send(Job::Run(Box::new(task), Arc::clone(&signals))) {
            self.running = Some(Running { signals, done });
        }
    }

    pub fn new_game(&mut self) {
        // Only a new table can fail.
        let _ = self.perform_and_wait(Job::NewGame);
    }

    pub fn clear_hash(&mut self) {
        let _ = self.perform_and_wait(Job::ClearHash);
    }

    /// # Errors
    /// When the memory cannot be had; the old table stays.
    pub fn resize_hash(&mut self, mib: usize) -> Result<(), TryReserveError> {
        self.perform_and_wait(Job::ResizeHash { mib })
    }

    /// Searches with another evaluation from now on.
    pub fn set_evaluation(&mut self, config: EvalConfig) {
        let _ = self.perform_and_wait(Job::SetEvaluation(config));
    }

    /// The opponent played the expected move: from now on time counts.
    pub fn ponder_hit(&mut self) {
        if let Some(running) = &self.running {
            running.signals.ponder.store(false, Ordering::Relaxed);
            self.wake();
        }
    }

    /// Tells the search under way to answer now, and does not wait for it.
    pub fn stop(&mut self) {
        if let Some(running) = &self.running {
            running.signals.stop.store(true, Ordering::Relaxed);
            self.wake();
        }
    }

    /// Stops the search under way and waits for its answer.
    pub fn finish(&mut self) {
        self.stop();
        if let Some(running) = self.running.take() {
            let _ = running.done.recv();
        }
    }

    fn perform_and_wait(&mut self, job: Job) -> Done {
        self.finish();
        self.send(job).and_then(|done| done.recv().ok()).unwrap_or(Ok(()))
    }

    /// None when the thread is gone.
    fn send(&self, job: Job) -> Option<Receiver<Done>> {
        let (done, wait) = channel();
        self.jobs.as_ref()?.send((job, done)).ok()?;
        Some(wait)
    }

    /// A finished search that may not answer yet is asleep.
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

fn perform(job: Job, searcher: &mut Searcher, output: &Output) -> Done {
    match job {
        Job::Run(task, signals) => match task.perft {
            Some(depth) => print_perft(&task, depth, &signals, output),
            None => search(&task, &signals, searcher, output),
        },
        Job::NewGame => searcher.new_game(),
        Job::ClearHash => searcher.clear_hash(),
        Job::ResizeHash { mib } => return searcher.set_hash(mib),
        Job::SetEvaluation(config) => searcher.set_evaluation(&config),
    }
    Ok(())
}

/// Prints what the search finds as `info` lines.
struct Printer<'a> {
    task: &'a Task,
    output: &'a Output,
}

impl Report for Printer<'_> {
    fn iteration(&mut self, news: &Info<'_>) {
        self.output.line(&info(news, self.task.game.board(), self.task.chess960));
    }
}

fn search(task: &Task, signals: &Signals, searcher: &mut Searcher, output: &Output) {
    let outcome = searcher.search(&task.game, &task.limits, signals, task.start, &mut Printer { task, output });
    if outcome.best.is_none() {
        let score = super::format::score(outcome.score);
        output.line(&format!("info depth 0 score {score}"));
    }
    while (task.infinite || signals.is_pondering()) && !signals.is_stopped() {
        thread::park();
    }
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

/// Plies counted without looking at the signals.
const PERFT_STRIDE: u32 = 3;

/// The number of paths; none when stopped.
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
