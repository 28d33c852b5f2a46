//! Truth of the time charged for moves. Engines that sleep or spin for a known time report with
//! each move how long they took by their own monotonic clock, from reading `go` to writing
//! `bestmove`. Whole runs are played with 1, 2, 4, 8 and 64 games at once, and the times in the
//! journal are compared with the reported ones. No time of an engine may be free, so charged minus
//! true must not be below zero by more than the noise of two timestamps. Above zero it is the way
//! of two lines through two pipes, and the other work of the machine.
//!
//! `cargo bench --bench clock`. Where `fastchess` is on the PATH, or named by `QUINTAIN_LEADER`,
//! the same games under it stand beside ours (it charges whole milliseconds, rounded down).

#![allow(clippy::print_stdout, reason = "a benchmark's output")]

use std::fs;
use std::path::Path;
use std::process::Stdio;

mod games;
mod leader;

const FAKE: &str = env!("CARGO_BIN_EXE_fake_engine");
const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
/// Moves a game: 200 of each slot.
const PLIES: u32 = 100;

/// Behaviour of the engines, their arguments, and how many games are played at once.
const ENGINES: [(&str, &str, &[u32]); 3] = [
    ("sleeps 0.5 ms", "--sleep-us 500", &[1, 2, 4, 8]),
    ("sleeps 10 ms", "--sleep-us 10000", &[1, 2, 4, 8, 64]),
    ("spins 10 ms", "--spin-us 10000", &[1, 2, 4, 8]),
];

fn main() {
    let leader = leader::find();
    println!("{} CPUs; charged minus true time of a move, us", quintain_cpus());
    println!("| engine | at once | runner | moves | min | 1 % | median | 99 % | max | under by > 50 us |");
    println!("| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (what, args, at_once) in ENGINES {
        for &games in at_once {
            row(what, games, "quintain", &mut ours(args, games));
            if let Some(program) = &leader {
                row(what, games, "fastchess", &mut theirs(program, args, games));
            }
        }
    }
    if leader.is_none() {
        println!("fastchess is not installed: its rows are left out");
    }
}

fn quintain_cpus() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

fn row(what: &str, games: u32, runner: &str, differences: &mut [i64]) {
    differences.sort_unstable();
    let at = |share: usize| differences[(differences.len() - 1) * share / 100];
    let under = differences.partition_point(|difference| *difference < -50);
    println!(
        "| {what} | {games} | {runner} | {} | {} | {} | {} | {} | {} | {under} |",
        differences.len(),
        at(0),
        at(1),
        at(50),
        at(99),
        at(100)
    );
}

/// Charged minus true microseconds of every move of a run: one pair a slot.
fn ours(engine: &str, games: u32) -> Vec<i64> {
    let [new, base] = [1, 2].map(|seed| format!("{FAKE} -- --clock --seed {seed} {engine}"));
    let [at_once, plies] = [games, PLIES].map(|number| number.to_string());
    let limits =
        ["sprt", "--tc", "10+0.1", "--seed", "1", "--force-concurrency", "--max-plies", &plies, "-j", &at_once];
    let rest = ["--max-pairs", &at_once, "--new", &new, "--base", &base];
    let mut differences = Vec::new();
    games::play(&[&limits[..], &rest].concat(), 3, |game| {
        differences.extend(game.moves.iter().filter_map(|ply| {
            let own = i64::try_from(ply.info.nodes?).ok()?;
            Some(i64::try_from(ply.elapsed.as_micros()).ok()? - own)
        }));
    });
    differences
}

/// The same under fastchess, from the comments of its PGN: `{+0.00/1 0.010s, n=10031}`.
fn theirs(program: &Path, engine: &str, games: u32) -> Vec<i64> {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("book.epd"), format!("{START}\n")).expect("a book");
    let args = [1, 2].map(|seed| format!("--clock --seed {seed} {engine}"));
    let args = [args[0].as_str(), &args[1]];
    let mut command = leader::command(program, folder.path(), FAKE, args, "tc=10+0.1", games, games);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    assert!(status.expect("the leader runs").success(), "fastchess failed");
    let difference = |comment: &String| -> Option<i64> {
        let mut words = comment.split([' ', ',']).filter(|word| !word.is_empty());
        let seconds: f64 = words.find_map(|word| word.strip_suffix('s')?.parse().ok())?;
        let own: i64 = words.find_map(|word| word.strip_prefix("n=")?.parse().ok())?;
        Some((seconds * 1e6).round() as i64 - own)
    };
    let pgn = fs::read_to_string(folder.path().join("games.pgn")).expect("its PGN");
    let differences: Vec<_> = leader::comments(&pgn).iter().filter_map(difference).collect();
    assert!(!differences.is_empty(), "its PGN holds no times and nodes");
    differences
}
