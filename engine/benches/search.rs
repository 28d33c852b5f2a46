//! Speed of the search: nodes per second over the bench positions, the best of several rounds.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destrier::bench;

const ROUNDS: usize = 5;

fn main() {
    let measured: Vec<bench::BenchResult> =
        (0..ROUNDS).map(|_| bench::run(bench::DEFAULT_DEPTH, |_, _| ()).expect("a small table")).collect();
    let nodes = measured[0].nodes;
    assert!(measured.iter().all(|round| round.nodes == nodes), "the bench is deterministic");
    let best = measured.iter().map(bench::BenchResult::nps).max().unwrap_or(0);
    println!("{nodes} nodes, best of {ROUNDS}: {best} nps");
}
