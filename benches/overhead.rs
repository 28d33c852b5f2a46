//! Cost of the harness's driver a ply: wall time of a round trip with an instant engine. A bare
//! blocking driver, which only writes once and reads until `bestmove`, is measured in the same run.
//! So is the cost of reading an `info` line.
//!
//! The games of one slot are measured beside those of one worker behind a server on the same
//! machine (`--workers local:1`), which needs nats-server.
//!
//! Whole runs are measured too, from `quintain sprt` to the last game's line in journal and PGN. So
//! are the same games under `fastchess`, if it is on the PATH or named by `QUINTAIN_LEADER`.
//!
//! `cargo bench --bench overhead`. Everything is pinned to one CPU, so that what is measured is
//! work and not the wake-up of a second core; then the same without pinning. Compare ratios of one
//! run, not times of two.

#![allow(clippy::print_stdout, reason = "a benchmark's output")]

use std::hint::black_box;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

mod games;
mod leader;
mod median;

use quintain::openings::maker::epd;
use quintain::openings::{Book, BookOptions};
use quintain::record::GameRecord;
use quintain::uci::process::{Engine, EngineConfig, SearchOutcome};
use quintain::uci::session::Session;
use quintain::uci::{Go, LineBuffer, PositionLine};

const FAKE: &str = env!("CARGO_BIN_EXE_fake_engine");
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
const PLIES: usize = 100;
const GAMES: usize = 40;
const ROUNDS: usize = 7;
/// Of a whole run.
const PAIRS: u32 = 50;

fn main() {
    parse();
    match pin() {
        Some(cpu) => compare(&format!("all on CPU {cpu}")),
        None => println!("this system can't pin"),
    }
    unpin();
    compare("free-floating");
}

/// All drivers in turn, several times over; the median of each.
fn compare(conditions: &str) {
    let leader = leader::find();
    let (mut ours, mut bare, mut runs, mut theirs) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut shared, mut exits, mut their_exits) = (Vec::new(), Vec::new(), Vec::new());
    let (mut alone, mut remote) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        alone.push(game_median(&["-j", "1"]));
        remote.extend(has_server().then(|| game_median(&["--workers", "local:1"])));
        bare.push(bare_match());
        ours.push(our_match());
        shared.push(shared_match());
        runs.push(our_run(PAIRS).0);
        exits.push(our_run(1).1);
        if let Some(program) = &leader {
            theirs.push(their_run(program, PAIRS).0);
            their_exits.push(their_run(program, 1).1);
        }
    }
    let (ours, bare, run) = (median::of(&mut ours), median::of(&mut bare), median::of(&mut runs));
    println!("round trip, {conditions}: bare {bare:.2} us/ply, ours {ours:.2} us/ply, ratio {:.2}", ours / bare);
    let shared = median::of(&mut shared);
    println!(
        "round trip on a runtime of two shared threads, {conditions}: {shared:.2} us/ply, ratio {:.2}",
        shared / bare
    );
    println!("whole run, {conditions}: {run:.2} us/ply, ratio to bare {:.2}", run / bare);
    if !remote.is_empty() {
        let mut ratios: Vec<_> = alone.iter().zip(&remote).map(|(alone, remote)| remote / alone).collect();
        let (alone, remote, ratio) = (median::of(&mut alone), median::of(&mut remote), median::of(&mut ratios));
        println!("games of a slot, {conditions}: {alone:.2} us/ply, of a worker {remote:.2} us/ply, ratio {ratio:.3}");
    }
    println!("run of two games, {conditions}: {:.0} ms from start to exit", median::of(&mut exits) * 1e3);
    if leader.is_some() {
        let theirs = median::of(&mut theirs);
        println!("fastchess, {conditions}: {theirs:.2} us/ply, ratio to our whole run {:.2}", theirs / run);
        println!("fastchess, two games, {conditions}: {:.0} ms from start to exit", median::of(&mut their_exits) * 1e3);
    }
}

/// Microseconds a ply of a whole `quintain sprt`, one game at a time, from the first game to the
/// last: referee, journal, PGN and statistics. Also the seconds from its start to its exit. The
/// runner and its engines inherit our CPU.
fn our_run(pairs: u32) -> (f64, f64) {
    let (mut plies, mut first, mut last) = (0, Duration::MAX, Duration::ZERO);
    let wall = sprt(pairs, &["-j", "1"], |game| {
        plies += game.moves.len();
        first = first.min(game.started);
        last = last.max(game.started + game.took);
    });
    ((last - first).as_secs_f64() * 1e6 / plies as f64, wall.as_secs_f64())
}

/// Plays a `quintain sprt` of the instant engine with these slots, without a verdict.
fn sprt(pairs: u32, slots: &[&str], visit: impl FnMut(GameRecord)) -> Duration {
    let [new, base] = [1, 2].map(|seed| format!("{FAKE} -- --seed {seed}"));
    let pairs = pairs.to_string();
    let limits = ["sprt", "--nodes", "1", "--max-plies", "100", "--seed", "1", "--max-pairs", &pairs];
    games::play(&[&limits, slots, &["--new", &new, "--base", &base]].concat(), 3, visit)
}

/// True if a program nats-server is there for workers in other processes.
fn has_server() -> bool {
    Command::new("nats-server").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        || Path::new("/usr/sbin/nats-server").exists()
}

/// Microseconds a ply of the games of a `quintain sprt` with these slots: the median of its games,
/// each from its first position to its end. Whatever happens between two games is left out.
fn game_median(slots: &[&str]) -> f64 {
    let mut per_ply = Vec::new();
    sprt(20, slots, |game| per_ply.push(game.took.as_secs_f64() * 1e6 / game.moves.len().max(1) as f64));
    median::of(&mut per_ply)
}

/// The same of fastchess, from its first line about a game to the last.
fn their_run(program: &Path, pairs: u32) -> (f64, f64) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("openings/quintain_8ply.epd.zst");
    let book = Book::load(&path, &BookOptions::default()).expect("a book");
    let lines: String = book.openings().take(1000).map(|opening| epd(&opening.expect("readable").fen) + "\n").collect();
    std::fs::write(folder.path().join("book.epd"), lines).expect("a book");
    let args = ["--seed 1", "--seed 2"];
    let mut command = leader::command(program, folder.path(), FAKE, args, "nodes=1", pairs, 1);
    let begun = Instant::now();
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the leader runs");
    let (mut first, mut last) = (None, begun);
    for line in BufReader::new(child.stdout.take().expect("a pipe")).lines() {
        let line = line.expect("text");
        if line.starts_with("Started game") {
            first.get_or_insert_with(Instant::now);
        }
        if line.starts_with("Finished game") {
            last = Instant::now();
        }
    }
    assert!(child.wait().expect("it ends").success(), "fastchess failed");
    let wall = begun.elapsed();
    let pgn = std::fs::read_to_string(folder.path().join("games.pgn")).expect("its PGN");
    let plies = leader::comments(&pgn).len();
    let between = last - first.expect("it says when a game begins");
    (between.as_secs_f64() * 1e6 / plies as f64, wall.as_secs_f64())
}

/// Microseconds a ply of two engines that play through the harness's driver, as a slot does: a
/// thread with a runtime of its own.
fn our_match() -> f64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(a_match())
}

/// The other design: the game is a task among others on a runtime that several threads share.
fn shared_match() -> f64 {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime");
    runtime.block_on(async { tokio::spawn(a_match()).await.expect("it plays") })
}

async fn a_match() -> f64 {
    let config = EngineConfig { name: "fake".into(), program: FAKE.into(), ..EngineConfig::default() };
    let mut engines = [start(&config).await, start(&config).await];
    let go = Go { nodes: Some(1), ..Go::default() };
    let mut plies = 0;
    let begun = Instant::now();
    for _ in 0..GAMES {
        for engine in &mut engines {
            engine.new_game().await.expect("it is ready");
        }
        let mut line = PositionLine::new(START).expect("a FEN");
        for ply in 0..PLIES {
            let outcome = engines[ply % 2].go(line.as_bytes(), &go, None).await;
            let SearchOutcome::BestMove { text, .. } = outcome else { panic!("{outcome:?}") };
            plies += 1;
            if text == "(none)" {
                break;
            }
            line.push(&text).expect("a move");
        }
    }
    per_ply(begun, plies)
}

async fn start(config: &EngineConfig) -> Engine {
    Engine::start(config, &[]).await.expect("the fake engine starts")
}

fn per_ply(begun: Instant, plies: u32) -> f64 {
    begun.elapsed().as_secs_f64() * 1e6 / f64::from(plies)
}

/// The floor: a blocking driver without deadline, score, transcript or checks.
fn bare_match() -> f64 {
    let mut engines = [Bare::start(), Bare::start()];
    let mut plies = 0;
    let begun = Instant::now();
    for _ in 0..GAMES {
        for engine in &mut engines {
            engine.ask("ucinewgame\nisready\n", "readyok");
        }
        let mut line = format!("position fen {START} moves");
        for ply in 0..PLIES {
            let answer = engines[ply % 2].ask(&format!("{line}\ngo nodes 1\n"), "bestmove");
            plies += 1;
            let Some(text) = answer.split_whitespace().nth(1).filter(|text| *text != "(none)") else { break };
            line.push(' ');
            line.push_str(text);
        }
    }
    let took = per_ply(begun, plies);
    for engine in &mut engines {
        engine.stdin.write_all(b"quit\n").expect("it reads");
        engine.child.wait().expect("it ends");
    }
    took
}

struct Bare {
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: String,
}

impl Bare {
    fn start() -> Self {
        let mut child =
            Command::new(FAKE).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("the fake engine starts");
        let stdin = child.stdin.take().expect("a pipe");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut bare = Self { child, stdin, stdout, line: String::new() };
        bare.ask("uci\n", "uciok");
        bare
    }

    fn ask(&mut self, command: &str, answer: &str) -> &str {
        self.stdin.write_all(command.as_bytes()).expect("it reads");
        loop {
            self.line.clear();
            assert!(self.stdout.read_line(&mut self.line).expect("it writes") > 0);
            if self.line.starts_with(answer) {
                return &self.line;
            }
        }
    }
}

/// Nanoseconds a line from bytes to `SearchInfo`.
fn parse() {
    const LINES: u32 = 400;
    let lines = [
        (
            "info with pv",
            "info depth 24 seldepth 31 multipv 1 score cp 33 nodes 1234567 nps 987654 hashfull 321 tbhits 0 time 1250 pv e2e4 e7e5 g1f3 b8c6\n",
        ),
        ("info currmove", "info depth 24 currmove e2e4 currmovenumber 1\n"),
        ("info string", "info string NNUE evaluation using nn-1111cefa1111.nnue enabled and so on and so forth\n"),
    ];
    for (what, line) in lines {
        let chunk = line.repeat(LINES as usize);
        let mut session = Session::new();
        session.on_line(b"uciok");
        session.begin_search();
        let mut buffer = LineBuffer::new();
        let mut rounds: Vec<f64> = (0..200)
            .map(|_| {
                let begun = Instant::now();
                buffer.space()[..chunk.len()].copy_from_slice(chunk.as_bytes());
                buffer.advance(chunk.len());
                while let Some(line) = buffer.next_line() {
                    black_box(session.on_line(line));
                }
                begun.elapsed().as_secs_f64() * 1e9 / f64::from(LINES)
            })
            .collect();
        println!("{what}, {} bytes: {:.0} ns/line", line.len(), median::of(&mut rounds));
    }
}

#[cfg(target_os = "linux")]
fn pin() -> Option<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None).ok()?;
    let cpu = (0..CpuSet::MAX_CPU).find(|&cpu| allowed.is_set(cpu))?;
    let mut one = CpuSet::new();
    one.set(cpu);
    sched_setaffinity(None, &one).ok()?;
    Some(cpu)
}

#[cfg(target_os = "linux")]
fn unpin() {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut all = CpuSet::new();
    for cpu in 0..CpuSet::MAX_CPU {
        all.set(cpu);
    }
    // The kernel takes out what the process may not use.
    sched_setaffinity(None, &all).expect("some CPU is left");
}

#[cfg(not(target_os = "linux"))]
fn pin() -> Option<usize> {
    None
}

#[cfg(not(target_os = "linux"))]
fn unpin() {}
