//! Many self-play games on many threads, into one file.
//!
//! The number of a game determines it. If openings are used in turn, it is the number of the turn,
//! and an opening that does not fit has no game. Games are written in the order of their numbers,
//! each in one write. The file is then the same for any number of threads, and a killed run
//! continues after the last whole game.

use super::opening::Openings;
use super::play::{OpeningFault, Rules, play_game, play_start};
use super::viriformat::{Damage, GameResult, MOST_ZEROS, ReadError, Reader, ScoredGame, written_length};
use crate::board::Board;
use crate::search::{EvalConfig, Game, Limits, Searcher, Signals, SilentReport, THREAD_STACK_BYTES, in_search_thread};
use crate::types::SplitMix64;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// Target of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Number of games.
    Games(u64),
    /// Number of positions, reached with a whole last game.
    Positions(u64),
}

/// Settings of a run.
#[derive(Debug, Clone)]
pub struct Job {
    /// File that the games are written to.
    pub out: PathBuf,
    /// Number of games or positions to reach.
    pub target: Target,
    /// Seed of openings and random moves.
    pub seed: u64,
    /// Number of threads, each with a game of its own.
    pub threads: usize,
    /// Hash size of a thread in MiB.
    pub hash_mib: usize,
    /// Rules of the games.
    pub rules: Rules,
    /// Source of the openings.
    pub openings: Openings,
    /// Evaluation that the engine plays with.
    pub evaluation: EvalConfig,
    /// Settings that determine the games, except the engine: one `key = value` per line. Stored
    /// beside the file.
    pub summary: String,
}

/// Reason why a run failed.
#[derive(Debug)]
pub enum RunError {
    /// A file cannot be read or written.
    Io {
        /// The file.
        path: PathBuf,
        /// Attempted action, in words.
        act: &'static str,
        /// The system's error.
        error: io::Error,
    },
    /// The games already in the file cannot be read.
    Damaged {
        /// The file.
        path: PathBuf,
        /// Damage found in it.
        error: ReadError,
    },
    /// The file was started with other settings.
    Other {
        /// The file.
        path: PathBuf,
        /// Setting that it was begun with.
        was: String,
        /// The same setting now.
        is: String,
    },
    /// The file exists without its settings.
    Foreign {
        /// The file.
        path: PathBuf,
        /// File that would hold its settings.
        summary: PathBuf,
    },
    /// Another process writes to the file.
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// None of many drawn openings fits.
    Openings {
        /// Number of the game.
        number: u64,
        /// Fault of the last opening drawn.
        why: OpeningFault,
    },
    /// Each opening has had its turn, and there are not enough games.
    Spent {
        /// Number of starts.
        starts: usize,
        /// Number of games that they made.
        games: u64,
    },
    /// The games do not start from openings of the book.
    Strange {
        /// The file.
        path: PathBuf,
        /// Number of the first such game.
        game: u64,
    },
    /// No memory for a transposition table.
    Memory {
        /// Size of the table in MiB.
        mib: usize,
    },
    /// The engine's signature cannot be computed.
    Signature(io::Error),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::Io { path, act, error } => write!(f, "{}: cannot {act}: {error}", path.display()),
            RunError::Damaged { path, error } => write!(f, "{}: {error}", path.display()),
            RunError::Other { path, was, is } => write!(
                f,
                "{}: started with `{was}`, not `{is}`; give the same settings, or another --out",
                path.display()
            ),
            RunError::Foreign { path, summary } => write!(
                f,
                "{}: there already, without the settings in {}; give another --out",
                path.display(),
                summary.display()
            ),
            RunError::Locked { path } => {
                write!(f, "{}: another run writes to it; stop that first, or give another --out", path.display())
            }
            RunError::Openings { number, why: OpeningFault::Beyond } => {
                write!(f, "no opening of game {number} is within the limit; raise --opening-limit")
            }
            RunError::Openings { number, why: OpeningFault::Over } => {
                write!(
                    f,
                    "each opening of game {number} is over before it begins; give another --book or --random-plies"
                )
            }
            RunError::Spent { starts, games } => {
                write!(f, "the starts are used up: of {starts}, {games} made a game")?;
                if *games < *starts as u64 {
                    f.write_str(", the others are over before it begins or beyond --opening-limit")?;
                }
                f.write_str("; give --random-plies, --random-moves or a --book with more starts, and another --out")
            }
            RunError::Strange { path, game } => {
                write!(f, "{}: game {game} begins with no start of the book; give another --out", path.display())
            }
            RunError::Signature(error) => write!(f, "no search to know the engine by: {error}"),
            RunError::Memory { mib } => write!(f, "no memory for a table of {mib} MiB; lower --hash"),
        }
    }
}

impl std::error::Error for RunError {}

/// Contents of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Number of games.
    pub games: u64,
    /// Number of positions with a move and a score.
    pub positions: u64,
    /// Games by White's half points.
    pub results: [u64; 3],
}

impl Tally {
    fn record(&mut self, game: &ScoredGame) {
        self.games += 1;
        self.positions += game.plies.len() as u64;
        self.results[usize::from(game.result.half_points())] += 1;
    }

    /// Returns the games or positions, as the target counts, and the number wanted.
    pub fn progress(&self, target: Target) -> (u64, u64) {
        match target {
            Target::Games(games) => (self.games, games),
            Target::Positions(positions) => (self.positions, positions),
        }
    }

    /// Returns whether the target is reached.
    pub fn reaches(&self, target: Target) -> bool {
        let (done, wanted) = self.progress(target);
        done >= wanted
    }
}

/// Formats wins, draws and losses of White in percent.
impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |result: GameResult| {
            100.0 * self.results[usize::from(result.half_points())] as f64 / self.games.max(1) as f64
        };
        let [win, draw, loss] = [GameResult::WhiteWins, GameResult::Draw, GameResult::BlackWins].map(share);
        let Tally { games, positions, .. } = self;
        write!(f, "{games} games, {positions} positions, W/D/L {win:.1}/{draw:.1}/{loss:.1} %")
    }
}

/// Number of games that a thread may be ahead of the file, so that a slow thread does not make
/// finished games pile up.
const AHEAD: usize = 64;
/// Positions whose node counts tell engines apart; takes some hundredths of a second.
const SIGNATURE_POSITIONS: [&str; 3] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];
const SIGNATURE_DEPTH: i32 = 7;
const SIGNATURE_HASH_MIB: usize = 1;
/// Interval at which the file is synced to disk.
const SYNC_INTERVAL: Duration = Duration::from_secs(5);

/// Plays games until the target is reached, and resumes a killed run.
///
/// `progress` is called with the contents of the file at the start and after each game.
///
/// # Errors
/// Returns a [`RunError`]; whole games stay in the file.
pub fn run(job: &Job, mut progress: impl FnMut(&Tally)) -> Result<Tally, RunError> {
    let order = if job.openings.are_in_turn() { job.openings.order(job.seed) } else { Vec::new() };
    let (file, mut tally, mut turn) = open(job, &order)?;
    progress(&tally);
    let next = AtomicU64::new(turn);
    let stop = AtomicBool::new(false);
    let (sender, receiver) = sync_channel(AHEAD * job.threads);
    let written = thread::scope(|scope| {
        for number in 0..job.threads {
            let (sender, next, stop, order) = (sender.clone(), &next, &stop, &order[..]);
            let builder = thread::Builder::new().name(format!("datagen {number}")).stack_size(THREAD_STACK_BYTES);
            if let Err(error) = builder.spawn_scoped(scope, move || work(job, order, next, stop, &sender)) {
                stop.store(true, Ordering::Relaxed);
                return Err(RunError::Io { path: job.out.clone(), act: "start a thread for it", error });
            }
        }
        drop(sender);
        let written = write(job, file, &receiver, (&mut turn, &mut tally), &mut progress);
        stop.store(true, Ordering::Relaxed);
        // Releases senders that wait for room.
        drop(receiver);
        written
    });
    written.map(|()| tally)
}

/// Game with its number, an error, or `None` if the opening whose turn it was does not fit.
type NumberedGame = (u64, Result<Option<ScoredGame>, RunError>);

/// Plays games until there are enough, or no more openings.
fn work(job: &Job, order: &[usize], next: &AtomicU64, stop: &AtomicBool, sender: &SyncSender<NumberedGame>) {
    let Ok(mut searcher) = Searcher::new(job.hash_mib) else {
        // The receiver may have ended for the same reason.
        let _ = sender.send((0, Err(RunError::Memory { mib: job.hash_mib })));
        return;
    };
    searcher.set_evaluation(&job.evaluation);
    while !stop.load(Ordering::Relaxed) {
        let number = next.fetch_add(1, Ordering::Relaxed);
        let game = if order.is_empty() {
            if matches!(job.target, Target::Games(games) if number >= games) {
                return;
            }
            play_game(&mut searcher, &job.rules, &job.openings, job.seed, number)
                .map(Some)
                .map_err(|why| RunError::Openings { number, why })
        } else {
            if number >= turns(job) {
                return;
            }
            let start = job.openings.positions[order[(number % order.len() as u64) as usize]];
            let mut random = SplitMix64::from_seeds(&[job.seed, number, 0]);
            Ok(play_start(&mut searcher, &job.rules, start, &mut random).ok())
        };
        if sender.send((number, game)).is_err() {
            return;
        }
    }
}

/// Returns the maximum number of turns: one per opening if they are used in turn, unless random
/// moves vary their games.
fn turns(job: &Job) -> u64 {
    if job.rules.random_moves > 0 { u64::MAX } else { job.openings.positions.len() as u64 }
}

/// Writes games in the order of their numbers, from the first number on.
fn write(
    job: &Job,
    mut file: File,
    games: &Receiver<NumberedGame>,
    (number, tally): (&mut u64, &mut Tally),
    progress: &mut impl FnMut(&Tally),
) -> Result<(), RunError> {
    let starts = job.openings.positions.len();
    let failed = |act| move |error| RunError::Io { path: job.out.clone(), act, error };
    let mut waiting = BTreeMap::new();
    let mut synced = Instant::now();
    while !tally.reaches(job.target) {
        let Ok((made, game)) = games.recv() else { break };
        waiting.insert(made, game?);
        while let Some(game) = waiting.remove(&*number) {
            if tally.reaches(job.target) {
                break;
            }
            *number += 1;
            if let Some(game) = game {
                game.write_to(&mut file).map_err(failed("write to it"))?;
                tally.record(&game);
                progress(tally);
            } else if tally.games == 0 && *number >= starts as u64 {
                // They would not fit the second time either.
                return Err(RunError::Spent { starts, games: 0 });
            }
        }
        if synced.elapsed() >= SYNC_INTERVAL {
            file.sync_data().map_err(failed("write to it"))?;
            synced = Instant::now();
        }
    }
    file.sync_data().map_err(failed("write to it"))?;
    if tally.reaches(job.target) { Ok(()) } else { Err(RunError::Spent { starts, games: tally.games }) }
}

/// Opens the file after its last whole game, counts its contents, and returns the next number.
fn open(job: &Job, order: &[usize]) -> Result<(File, Tally, u64), RunError> {
    let failed = |act| move |error| RunError::Io { path: job.out.clone(), act, error };
    let options = || OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
    let mut file = options().open(&job.out).map_err(failed("open it"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(fs::TryLockError::WouldBlock) => return Err(RunError::Locked { path: job.out.clone() }),
        Err(fs::TryLockError::Error(error)) => return Err(failed("lock it")(error)),
    }
    let length = file.metadata().map_err(failed("read it"))?.len();
    check_summary(job, length)?;
    let (mut tally, mut number) = (Tally::default(), 0);
    let written = written_length(&mut file, MOST_ZEROS).map_err(failed("read it"))?;
    let mut reader = Reader::new(BufReader::with_capacity(1 << 20, (&file).take(written)));
    loop {
        match reader.next_game() {
            Ok(Some(game)) => {
                number = after(job, order, number, &game)
                    .ok_or_else(|| RunError::Strange { path: job.out.clone(), game: tally.games })?;
                tally.record(&game);
            }
            Ok(None) => break,
            Err(ReadError { damage: Damage::Torn, .. }) => break,
            Err(error) => return Err(RunError::Damaged { path: job.out.clone(), error }),
        }
    }
    let whole = reader.offset();
    drop(reader);
    file.set_len(whole).map_err(failed("cut off its torn last game"))?;
    file.seek(SeekFrom::Start(whole)).map_err(failed("write to it"))?;
    Ok((file, tally, number))
}

/// Returns the number after that of a game. Its own is at least `number`, and may be greater if
/// openings are used in turn.
fn after(job: &Job, order: &[usize], number: u64, game: &ScoredGame) -> Option<u64> {
    if order.is_empty() {
        return Some(number + 1);
    }
    let starts = order.len() as u64;
    let is_start = |number: &u64| job.openings.positions[order[(number % starts) as usize]].key() == game.start.key();
    (number..number + starts).find(is_start).map(|number| number + 1)
}

/// Returns the path of a file's settings.
fn summary_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".settings");
    PathBuf::from(name)
}

/// Returns the engine's name, version and signature.
///
/// The nodes of some searches tell engines of the same version apart.
///
/// # Errors
/// Returns [`RunError::Signature`] if there is no memory for the searches.
pub fn identity(evaluation: &EvalConfig) -> Result<String, RunError> {
    let nodes = in_search_thread(|| {
        let mut searcher = Searcher::new(SIGNATURE_HASH_MIB).map_err(io::Error::other)?;
        searcher.set_evaluation(evaluation);
        let limits = Limits { depth: Some(SIGNATURE_DEPTH), ..Limits::default() };
        SIGNATURE_POSITIONS.iter().try_fold(0, |nodes, fen| {
            let game = Game::new(Board::from_fen(fen).map_err(io::Error::other)?);
            searcher.new_game();
            Ok(nodes + searcher.search(&game, &limits, &Signals::default(), Instant::now(), &mut SilentReport).nodes)
        })
    });
    let nodes: u64 = nodes.and_then(|nodes| nodes).map_err(RunError::Signature)?;
    let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
    Ok(format!("{name} {version}, signature {nodes}"))
}

/// Compares the settings with those of the existing games, or stores them if there are none.
fn check_summary(job: &Job, length: u64) -> Result<(), RunError> {
    let path = summary_path(&job.out);
    let summary = format!("engine = {}\n{}", identity(&job.evaluation)?, job.summary);
    let failed = |act| {
        let path = path.clone();
        move |error| RunError::Io { path, act, error }
    };
    match fs::read_to_string(&path) {
        Ok(_) if length == 0 => {}
        Ok(before) if before == summary => return Ok(()),
        Ok(before) => {
            let differs = |(was, is): &(&str, &str)| was != is;
            let (was, is) = before.lines().zip(summary.lines()).find(differs).unwrap_or_default();
            return Err(RunError::Other { path: job.out.clone(), was: was.to_owned(), is: is.to_owned() });
        }
        Err(error) if error.kind() == ErrorKind::NotFound && length == 0 => {}
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(RunError::Foreign { path: job.out.clone(), summary: path });
        }
        Err(error) => return Err(failed("read it")(error)),
    }
    let mut file = File::create(&path).map_err(failed("write it"))?;
    file.write_all(summary.as_bytes()).and_then(|()| file.sync_data()).map_err(failed("write it"))
}
