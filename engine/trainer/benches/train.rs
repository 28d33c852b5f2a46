//! Training speed in positions per second by width and threads, by kind of network, and by feature
//! set, in wall-clock and processor time.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destrier::nnue::Kind;
use destrier_trainer::train::bench::{self, Speed};

const WIDTHS: [usize; 4] = [128, 256, 512, 1024];
const THREADS: [usize; 2] = [1, 2];
const BATCHES: usize = 12;
const ROUNDS: usize = 3;

/// Width of the networks that are compared by kind and set.
const WIDTH: usize = 512;

const SETS: [&str; 9] = [
    "piece",
    "compact",
    "piece+file+rank",
    "piece+file-pairs",
    "piece+mobility-counts",
    "piece+mobility-squares",
    "piece+moves",
    "king-relative",
    "king-piece",
];

/// Returns the best of some rounds by processor time.
fn best(measure: impl Fn() -> Speed) -> Speed {
    let first = measure();
    (1..ROUNDS).map(|_| measure()).fold(
        first,
        |best, round| {
            if round.per_processor > best.per_processor { round } else { best }
        },
    )
}

fn row(name: &str, speed: Speed, unit: f64) {
    let (wall, processor) = (speed.per_second / 1e6, speed.per_processor / 1e6);
    println!("{name:28}  {wall:13.3}  {processor:32.3}  {:21.3}", speed.per_processor / unit);
}

fn main() {
    println!("network, threads              M positions/s  M positions per processor second  to the table's first");
    let mut unit = None;
    for hidden in WIDTHS {
        for threads in THREADS {
            let speed = best(|| bench::measure(hidden, threads, BATCHES));
            row(&format!("{hidden}, {threads}"), speed, *unit.get_or_insert(speed.per_processor));
        }
    }
    println!("{WIDTH} neurons, one thread");
    let mut unit = None;
    for kind in Kind::ALL {
        let speed = best(|| bench::measure_kind(kind, WIDTH, 1, BATCHES));
        row(kind.name(), speed, *unit.get_or_insert(speed.per_processor));
    }
    let mut unit = None;
    for name in SETS {
        let Ok(set) = name.parse() else { continue };
        let speed = best(|| bench::measure_set(&set, WIDTH, 1, BATCHES));
        row(name, speed, *unit.get_or_insert(speed.per_processor));
    }
}
