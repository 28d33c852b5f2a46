//! Time of short searches by the form of the `position` command: all moves of the game, or those
//! since the last irreversible move (`--short-position`).
//!
//! `cargo bench --bench position` plays Stockfish at depth 4 against itself, one game at a time, in
//! both forms in turn. It needs `stockfish` on the PATH, or in `/usr/games`, or named by
//! `QUINTAIN_STOCKFISH`. Compare the ratio of one run, not times of two.

#![allow(clippy::print_stdout, reason = "a benchmark's output")]

use std::process::{Command, Stdio};

mod games;
mod median;

const ROUNDS: usize = 5;
const PAIRS: &str = "100";

fn main() {
    let Some(engine) = engine() else {
        println!("skipped: no Stockfish here; name one by QUINTAIN_STOCKFISH");
        return;
    };
    let (mut long, mut short, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let (all, since) = (run(&engine, false), run(&engine, true));
        long.push(all);
        short.push(since);
        ratios.push(since / all);
    }
    let (long, short, ratio) = (median::of(&mut long), median::of(&mut short), median::of(&mut ratios));
    println!("depth 4: {long:.0} us/ply with all moves, {short:.0} us/ply with --short-position, ratio {ratio:.3}");
}

fn engine() -> Option<String> {
    let starts = |program: &String| {
        let mut command = Command::new(program);
        command.arg("quit").stdin(Stdio::null()).stdout(Stdio::null()).status().is_ok()
    };
    let named = std::env::var("QUINTAIN_STOCKFISH").ok();
    named.into_iter().chain(["stockfish".to_owned(), "/usr/games/stockfish".to_owned()]).find(starts)
}

/// Microseconds a ply of the games of a `quintain match` at depth 4.
fn run(engine: &str, is_short: bool) -> f64 {
    let form = format!("--short-position={is_short}");
    let players = ["match", engine, engine, "--depth", "4", "--option", "Hash=1"];
    let rest = ["--pairs", PAIRS, "--seed", "1", "-j", "1", &form];
    let (mut plies, mut took) = (0, 0.0);
    games::play(&[&players[..], &rest].concat(), 0, |game| {
        plies += game.moves.len();
        took += game.took.as_secs_f64();
    });
    took * 1e6 / plies as f64
}
