//! Time of short searches by the form of the `position` command: all moves of the game, or those
//! since the last irreversible move (`--short-position`).
//!
//! `cargo bench --bench position` plays Stockfish at depth 4 against itself, one game at a time, in
//! both forms in turn. It needs `stockfish` on the PATH, or in `/usr/games`, or named by
//! `QUINTAIN_STOCKFISH`. Compare the ratio of one run, not times of two.

#![allow(clippy::print_stdout, reason = "a benchmark's output")]

use std::process::{Command, Stdio};

mod median;

const ROUNDS: usize = 5;
const PAIRS: u32 = 100;

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
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path().join("run");
    let mut command = Command::new(env!("CARGO_BIN_EXE_quintain"));
    command.args(["match", engine, engine, "--depth", "4", "--option", "Hash=1", "--seed", "1", "-j", "1"]);
    command.args(["--pairs", &PAIRS.to_string(), &format!("--short-position={is_short}")]).arg("--out").arg(&dir);
    let output = command.output().expect("the runner runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let (mut plies, mut took) = (0, 0.0);
    quintain::journal::read(&dir.join(quintain::journal::FILE_NAME), |game| {
        plies += game.moves.len();
        took += game.took.as_secs_f64();
    })
    .expect("a journal");
    took * 1e6 / plies as f64
}
