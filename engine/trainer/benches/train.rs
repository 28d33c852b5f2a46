//! Training speed in positions per second by width and threads, in wall-clock and processor time.
#![expect(clippy::print_stdout, reason = "a benchmark prints what it measured")]

use destrier_trainer::train::bench;

const WIDTHS: [usize; 4] = [128, 256, 512, 1024];
const THREADS: [usize; 2] = [1, 2];
const BATCHES: usize = 12;
const ROUNDS: usize = 3;

fn main() {
    println!("hidden  threads  M positions/s  M positions per processor second  to one thread of 128");
    let mut unit = None;
    for hidden in WIDTHS {
        for threads in THREADS {
            let rounds = (0..ROUNDS).map(|_| bench::measure(hidden, threads, BATCHES));
            let best = rounds.max_by(|a, b| a.per_processor.total_cmp(&b.per_processor));
            let Some(best) = best else { continue };
            let unit = *unit.get_or_insert(best.per_processor);
            let (wall, processor) = (best.per_second / 1e6, best.per_processor / 1e6);
            println!("{hidden:6}  {threads:7}  {wall:13.3}  {processor:32.3}  {:22.3}", best.per_processor / unit);
        }
    }
}
