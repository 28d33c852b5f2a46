//! Speed of move generation: perft with the last ply counted in bulk, beside shakmaty in the same run.
//!
//! The two take turns and the best of the rounds counts, so that another load on the machine touches both alike.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destrier::board::{Board, perft};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};
use std::hint::black_box;
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;

const POSITIONS: [(&str, u32, &str); 5] = [
    ("startpos", 6, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    ("kiwipete", 5, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
    ("rook ending", 7, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
    ("middle game", 5, "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"),
    ("chess960", 5, "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"),
];

fn timed(paths: impl FnOnce() -> u64) -> (u64, Duration) {
    let start = Instant::now();
    let count = black_box(paths());
    (count, start.elapsed())
}

fn main() {
    println!("{:12} {:>5} {:>12} {:>10} {:>10} {:>6}", "position", "depth", "paths", "Mnps", "shakmaty", "ratio");
    for (name, depth, fen) in POSITIONS {
        let board = Board::from_fen(fen).expect("a legal position");
        let position: Chess =
            fen.parse::<Fen>().expect("a fen").into_position(CastlingMode::Chess960).expect("a legal position");
        let (mut ours, mut theirs) = (Duration::MAX, Duration::MAX);
        let mut paths = 0;
        for _ in 0..ROUNDS {
            let (count, time) = timed(|| perft(black_box(&board), depth));
            ours = ours.min(time);
            let (check, time) = timed(|| shakmaty::perft(black_box(&position), depth));
            theirs = theirs.min(time);
            assert_eq!(count, check, "{name}");
            paths = count;
        }
        let mnps = |time: Duration| paths as f64 / time.as_secs_f64() / 1e6;
        let ratio = theirs.as_secs_f64() / ours.as_secs_f64();
        println!("{name:12} {depth:>5} {paths:>12} {:>10.1} {:>10.1} {ratio:>6.2}", mnps(ours), mnps(theirs));
    }
}
