//! Speed of move generation: perft with bulk counting, compared with cozy-chess and shakmaty in the
//! same run.
//!
//! All three copy the board, cache no counts and are built with the same profile. For cozy-chess,
//! the last ply is counted by the sizes of target sets, as in its own perft example. They take
//! turns in short rounds, measured in processor time. A speed is that of the best round. A ratio is
//! the median over the rounds, whose parts are close in time, so that other load on the machine
//! affects both alike. Above 1, Destrier with magics is faster.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destrier::board::attacks::{SlidingMethod, choose_sliding};
use destrier::board::{Board, perft};
use shakmaty::fen::Fen;
use shakmaty::{CastlingMode, Chess};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Number of rounds, odd so that there is a middle one.
const ROUNDS: usize = 9;

/// Paths counted per round, by repetition, so that a round is long compared with the system's tick.
const PATHS: u64 = 24_000_000;

const POSITIONS: [(&str, u32, &str); 7] = [
    ("startpos", 5, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"),
    ("kiwipete", 4, "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1"),
    ("rook ending", 6, "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1"),
    ("middle game", 4, "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"),
    ("chess960", 5, "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"),
    ("promotions", 5, "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1"),
    ("960 promotions", 4, "1nbbnrkr/p1p1ppp1/3p4/1p3P1p/3Pq2P/8/PPP1P1P1/QNBBNRKR w HFhf - 0 9"),
];

/// Returns the processor time of this thread if the system reports it (Linux), else the elapsed
/// time.
fn now(start: Instant) -> Duration {
    let on_cpu = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = on_cpu.and_then(|text| text.split_whitespace().next()?.parse().ok());
    nanos.map_or_else(|| start.elapsed(), Duration::from_nanos)
}

/// Measures the time of one of `times` runs.
fn timed(times: u32, paths: impl Fn() -> u64) -> (u64, Duration) {
    let clock = Instant::now();
    let start = now(clock);
    let mut count = 0;
    for _ in 0..times {
        count = black_box(paths());
    }
    (count, now(clock).saturating_sub(start) / times)
}

fn cozy_perft(board: &cozy_chess::Board, depth: u32) -> u64 {
    let mut paths = 0;
    match depth {
        0 => paths = 1,
        1 => {
            board.generate_moves(|moves| {
                paths += moves.len() as u64;
                false
            });
        }
        _ => {
            board.generate_moves(|moves| {
                for mv in moves {
                    let mut child = board.clone();
                    child.play_unchecked(mv);
                    paths += cozy_perft(&child, depth - 1);
                }
                false
            });
        }
    }
    paths
}

fn main() {
    println!("board: {} bytes, cozy-chess {}", size_of::<Board>(), size_of::<cozy_chess::Board>());
    println!(
        "{:14} {:>5} {:>12} {:>8} {:>10} {:>7} {:>10} {:>7} {:>10} {:>7}",
        "position", "depth", "paths", "Mnps", "cozy-chess", "ratio", "shakmaty", "ratio", "with PEXT", "ratio"
    );
    let mut logs = [0.0; 4];
    for (name, depth, fen) in POSITIONS {
        let board = Board::from_fen(fen).expect("a legal position");
        let cozy = cozy_chess::Board::from_fen(&board.to_fen(true), true).expect("a legal position");
        let position: Chess =
            fen.parse::<Fen>().expect("a fen").into_position(CastlingMode::Chess960).expect("a legal position");
        let paths = perft(&board, depth);
        let times = (PATHS / paths).max(1) as u32;
        let ours = |sliding| {
            choose_sliding(sliding);
            timed(times, || perft(black_box(&board), depth))
        };
        let mut rounds = Vec::with_capacity(ROUNDS);
        for _ in 0..ROUNDS {
            let runs = [
                ours(SlidingMethod::Magic),
                timed(times, || cozy_perft(black_box(&cozy), depth)),
                timed(times, || shakmaty::perft(black_box(&position), depth)),
                ours(SlidingMethod::Pext),
            ];
            assert!(runs.iter().all(|&(count, _)| count == paths), "{name}: {runs:?}");
            rounds.push(runs.map(|(_, time)| time.as_secs_f64()));
        }
        let mnps = |of: usize| paths as f64 / rounds.iter().map(|times| times[of]).fold(f64::MAX, f64::min) / 1e6;
        let ratio = |to: usize| {
            let mut ratios: Vec<f64> = rounds.iter().map(|times| times[to] / times[0]).collect();
            ratios.sort_by(f64::total_cmp);
            ratios[ROUNDS / 2]
        };
        print!("{name:14} {depth:>5} {paths:>12} {:>8.1}", mnps(0));
        for (of, log) in logs.iter_mut().enumerate().skip(1) {
            print!(" {:>10.1} {:>7.2}", mnps(of), ratio(of));
            *log += ratio(of).ln();
        }
        println!();
    }
    print!("{:14} {:>5} {:>12} {:>8}", "geometric mean", "", "", "");
    for log in &logs[1..] {
        print!(" {:>10} {:>7.2}", "", (log / POSITIONS.len() as f64).exp());
    }
    println!();
}
