//! Positions that searches evaluate: `data leaves`.
//!
//! An evaluation is asked about positions inside searches. One side has often just lost material
//! there, or left a threat unanswered, which positions of games rarely show.

use super::error::DataError;
use super::format::Format;
use super::input::{Input, Output};
use super::needs::Needs;
use super::record::{Entry, Position, wins_material};
use super::triplets::share;
use super::write::{Encoder, Sink};
use super::{passed_over, say};
use crate::compare::Evaluation;
use anyhow::ensure;
use clap::Args;
use destrier::board::Board;
use destrier::datagen::random_move;
use destrier::datagen::viriformat::GameResult;
use destrier::search::{Game, Limits, Searcher, Signals, SilentReport, THREAD_STACK_BYTES};
use destrier::types::{Color, Move, Score, SplitMix64};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

const EXAMPLES: &str = "\
Examples:
  destrier-trainer data leaves games.vf --out leaves.bin --threads 2
  destrier-trainer data leaves positions.txt --out leaves.bin --depth 6 --share 0.1 --evaluation my.nnue
  destrier-trainer data rescore leaves.bin --engine stockfish --eval \"NNUE evaluation\" --ahead 32 --engines 2 --out train.bin

Scores are the evaluations of these positions without a search. Results are those of the games in which the searches \
began, and say little after random moves. Take a stronger engine's evaluations by `data rescore --eval`, and train with \
a result share of 0. Some positions are repeated; `data dedup` drops them.";

/// Size of each thread's transposition table, in MiB.
const HASH_MIB: usize = 4;
/// Searches of a batch. A thread clears its memory before each batch, so that the output is the
/// same for any number of threads.
const BATCH: usize = 64;
/// Batches in flight for each thread.
const WAITING: u64 = 3;

/// Arguments of `leaves`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct LeavesArgs {
    #[command(flatten)]
    input: Input,
    #[command(flatten)]
    pub(super) output: Output,
    /// Iterations of the search from each position
    #[arg(long, default_value_t = 5, value_name = "PLIES", value_parser = clap::value_parser!(i32).range(1..=10))]
    depth: i32,
    /// Play 0 to this many random moves before each search
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    random_plies: u32,
    /// Share of the evaluated positions to write
    #[arg(long, default_value_t = 0.5, value_name = "SHARE", value_parser = share)]
    share: f64,
    /// Drop positions with an evaluation beyond this, in centipawns
    #[arg(long, default_value_t = 3_000, value_name = "CP", value_parser = clap::value_parser!(i16).range(0..=10_000))]
    max_score: i16,
    /// Drop positions in which a capture or queen promotion wins at least this by static exchange,
    /// in centipawns
    #[arg(long, default_value_t = 50, value_name = "CP", value_parser = clap::value_parser!(i32).range(1..=10_000))]
    max_gain: i32,
    /// Evaluation of the searches: a network, `classical`, or `engine` for the built-in one
    #[arg(long, default_value = "engine", value_name = "NETWORK")]
    evaluation: String,
    /// Searches side by side
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,
    /// Seed of the random moves and of the sample of positions
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Positions with the number of their batch: those at which searches begin, or those that they
/// evaluated.
type NumberedPositions = (u64, Vec<Position>);

/// Sample of the positions that a thread evaluates.
struct LeafSample {
    random: SplitMix64,
    /// Share of the positions to write.
    share: f64,
    max_score: Score,
    max_gain: Score,
    /// Result of the game in which the search began.
    result: GameResult,
    written: Vec<Position>,
}

impl LeafSample {
    /// Records an evaluated position if it is in the sample and quiet.
    fn record(&mut self, board: &Board, value: Score) {
        if !self.random.chance(self.share) || value.abs() > self.max_score || wins_material(board, self.max_gain) {
            return;
        }
        let white = if board.turn() == Color::White { value } else { -value };
        // In range, because `max_score` is.
        let score = white as i16;
        self.written.push(Position { board: *board, mv: Move::NULL, score, result: self.result });
    }
}

/// Writer of batches that come in any order, in that of their numbers.
struct OrderedWriter<'a> {
    /// Batches; `None` from a thread that panics.
    found: &'a Receiver<Option<NumberedPositions>>,
    waiting: BTreeMap<u64, Vec<Position>>,
    /// Batches written.
    written: u64,
    encoder: Encoder,
    sink: Sink,
}

impl OrderedWriter<'_> {
    /// Waits for a batch, and writes those whose turn it is.
    fn receive(&mut self) -> Result<(), DataError> {
        let (number, positions) = self.found.recv().ok().flatten().ok_or(DataError::Searches)?;
        self.waiting.insert(number, positions);
        while let Some(positions) = self.waiting.remove(&self.written) {
            self.written += 1;
            for position in positions {
                self.encoder.encode(Entry::Position(position), |_, record| self.sink.put(record))?;
            }
        }
        Ok(())
    }
}

/// Sender of a thread's batches, which reports a panic.
struct BatchSender(Sender<Option<NumberedPositions>>);

impl Drop for BatchSender {
    fn drop(&mut self) {
        if thread::panicking() {
            // The receiver may have ended already.
            let _ = self.0.send(None);
        }
    }
}

impl LeavesArgs {
    /// # Errors
    /// Fails if an input or the network cannot be read, memory or threads are short, or the output
    /// cannot be written.
    pub fn run(&self) -> anyhow::Result<()> {
        let LeavesArgs { input, output, .. } = self;
        let format = Format::to_write(&output.out, output.to)?;
        ensure!(
            matches!(format, Format::Viriformat | Format::Bulletformat | Format::Text),
            "{}: {} holds moves, and positions inside searches have none; write viriformat, bulletformat or text",
            output.out.display(),
            format.name()
        );
        let evaluation = Evaluation::parse(&self.evaluation)?.load()?;
        let encoder = Encoder::new(&output.out, format, None)?;
        let sink = output.create(input)?;
        let mut searchers = Vec::new();
        for _ in 0..self.threads {
            let mut searcher = Searcher::new(HASH_MIB)?;
            searcher.set_evaluation(&evaluation);
            searchers.push(searcher);
        }
        let signals = Signals::default();
        thread::scope(|scope| {
            let (task_sender, tasks) = channel();
            let (found_sender, found) = channel();
            let tasks = Arc::new(Mutex::new(tasks));
            for searcher in searchers {
                let (tasks, sender, signals) = (Arc::clone(&tasks), BatchSender(found_sender.clone()), &signals);
                let builder = thread::Builder::new().name("leaves".to_owned()).stack_size(THREAD_STACK_BYTES);
                builder.spawn_scoped(scope, move || self.work(searcher, &tasks, &sender, signals))?;
            }
            drop((found_sender, tasks));
            let out = OrderedWriter { found: &found, waiting: BTreeMap::new(), written: 0, encoder, sink };
            let done = self.feed(task_sender, out);
            // After an error there is no point in what is still searched.
            signals.stop.store(true, Ordering::Relaxed);
            let (records, searches, passed) = done?;
            let (path, name, passed) = (output.out.display(), format.name(), passed_over(passed));
            say(&format!("{records} positions of {searches} searches in {path} ({name}){passed}"))?;
            Ok(())
        })
    }

    /// Distributes the input's positions and writes those that come back. Returns the numbers of
    /// records, searches, and games passed over.
    fn feed(&self, tasks: Sender<NumberedPositions>, mut out: OrderedWriter<'_>) -> Result<(u64, u64, u64), DataError> {
        let (mut sent, mut batch, mut searches) = (0, Vec::new(), 0);
        let passed = self.input.read(Needs::default(), |entry| {
            for position in entry.positions() {
                batch.push(position);
                searches += 1;
                if batch.len() == BATCH {
                    // If all threads have ended, the next `receive` fails.
                    let _ = tasks.send((sent, std::mem::take(&mut batch)));
                    sent += 1;
                }
                while sent - out.written > WAITING * u64::from(self.threads) {
                    out.receive()?;
                }
            }
            Ok(())
        })?;
        if !batch.is_empty() {
            let _ = tasks.send((sent, batch));
            sent += 1;
        }
        drop(tasks);
        while out.written < sent {
            out.receive()?;
        }
        Ok((out.sink.finish()?, searches, passed))
    }

    /// Searches batches until none are left.
    fn work(
        &self,
        mut searcher: Searcher,
        tasks: &Mutex<Receiver<NumberedPositions>>,
        found: &BatchSender,
        signals: &Signals,
    ) {
        let sample = Arc::new(Mutex::new(LeafSample {
            random: SplitMix64::new(0),
            share: self.share,
            max_score: Score::from(self.max_score),
            max_gain: self.max_gain,
            result: GameResult::Draw,
            written: Vec::new(),
        }));
        let lock = || sample.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = Arc::clone(&sample);
        searcher.observe_evaluations(Some(Box::new(move |board, value| {
            seen.lock().unwrap_or_else(PoisonError::into_inner).record(board, value);
        })));
        let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        while let Ok((number, roots)) = next() {
            let mut random = SplitMix64::from_seeds(&[self.seed, number]);
            lock().random = SplitMix64::new(random.next_u64());
            searcher.new_game();
            for root in roots {
                lock().result = root.result;
                let game = after_random_moves(root.board, self.random_plies, &mut random);
                let limits = Limits { depth: Some(self.depth), ..Limits::default() };
                searcher.search(&game, &limits, signals, Instant::now(), &mut SilentReport);
            }
            let written = std::mem::take(&mut lock().written);
            if found.0.send(Some((number, written))).is_err() {
                return;
            }
        }
    }
}

/// Plays 0 to `most` random legal moves, fewer if there are none.
fn after_random_moves(start: Board, most: u32, random: &mut SplitMix64) -> Game {
    let mut game = Game::new(start);
    for _ in 0..random.below(most as usize + 1) {
        let Some(mv) = random_move(game.board(), random) else { break };
        game.play(mv);
    }
    game
}
