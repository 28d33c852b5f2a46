//! Speed of the batch service by feature set and layout, in positions per second of one thread.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destrier_trainer::serve::{BatchLayout, bench};

const BATCHES: usize = 20;
const ROUNDS: usize = 5;

/// Million positions a second and processor that `piece` is to reach.
const GOAL: f64 = 2.0;

const SETS: [&str; 7] = [
    "piece",
    "piece+file+rank",
    "piece+file-pairs",
    "piece+mobility-squares",
    "piece+moves",
    "king-relative",
    "king-piece",
];

fn main() {
    println!("set, layout                    M positions/s  M positions per processor second");
    let mut first = None;
    for name in SETS {
        for layout in [BatchLayout::Bits, BatchLayout::Sparse] {
            let Ok(set) = name.parse() else { continue };
            let rounds = (0..ROUNDS).filter_map(|_| bench::measure(&set, layout, BATCHES).ok());
            let Some(best) = rounds.max_by(|a, b| a.per_processor.total_cmp(&b.per_processor)) else { continue };
            let (wall, processor) = (best.per_second / 1e6, best.per_processor / 1e6);
            first.get_or_insert(processor);
            println!("{:30} {wall:13.3}  {processor:32.3}", format!("{name}, {layout:?}"));
        }
    }
    println!("`piece` in bits: {:.1} times the goal of {GOAL} million", first.unwrap_or(0.0) / GOAL);
}
