//! Scaling: nodes per second of two threads over one, in turns over the same positions; the median
//! of the rounds.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destrier::bench::POSITIONS;
use destrier::board::Board;
use destrier::search::{Game, Limits, Searcher, Signals, SilentReport, in_search_thread};
use std::time::{Duration, Instant};

const ROUNDS: usize = 5;
const HASH_MIB: usize = 64;
/// Nodes per thread and position.
const NODES: u64 = 200_000;
/// Positions per round: the middlegames among those of the bench.
const COUNT: usize = 8;

/// Returns the nodes per second with the given number of threads.
fn measure(threads: usize) -> f64 {
    let mut searcher = Searcher::new(HASH_MIB).expect("a small table");
    searcher.set_threads(threads).expect("threads");
    let limits = Limits { nodes: Some(NODES * threads as u64), ..Limits::default() };
    let (mut nodes, mut elapsed) = (0, Duration::ZERO);
    for fen in POSITIONS.iter().take(COUNT) {
        let game = Game::new(Board::from_fen(fen).expect("a position"));
        searcher.new_game();
        let start = Instant::now();
        nodes += searcher.search(&game, &limits, &Signals::default(), start, &mut SilentReport).nodes;
        elapsed += start.elapsed();
    }
    nodes as f64 / elapsed.as_secs_f64()
}

fn main() {
    let rounds = || {
        let mut ratios: Vec<f64> = (0..ROUNDS)
            .map(|round| {
                let (one, two) = (measure(1), measure(2));
                println!("round {}: {one:.0} nps with one thread, {two:.0} with two: {:.3}", round + 1, two / one);
                two / one
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        ratios[ROUNDS / 2]
    };
    let median = in_search_thread(rounds).expect("a thread");
    println!("median ratio {median:.3}");
}
