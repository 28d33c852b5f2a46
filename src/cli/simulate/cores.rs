//! Parallel work on all cores.

use std::sync::atomic::{AtomicU32, Ordering};

/// Maximum number of threads.
const MOST_THREADS: usize = 64;

/// Runs parts 0 to `count - 1` of some work on all cores. The results are in the order of the
/// parts, whatever the number of cores.
pub(super) fn on_all_cores<T: Send>(count: u32, work: impl Fn(u32) -> T + Sync) -> Vec<T> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let next = AtomicU32::new(0);
    let take = || (next.load(Ordering::Relaxed) < count).then(|| next.fetch_add(1, Ordering::Relaxed));
    let lane = || -> Vec<(u32, T)> {
        std::iter::from_fn(|| take().filter(|part| *part < count)).map(|part| (part, work(part))).collect()
    };
    let mut done: Vec<(u32, T)> = std::thread::scope(|scope| {
        let lanes: Vec<_> = (0..threads).map(|_| scope.spawn(lane)).collect();
        let join = |lane: std::thread::ScopedJoinHandle<'_, Vec<(u32, T)>>| {
            lane.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        lanes.into_iter().flat_map(join).collect()
    });
    done.sort_unstable_by_key(|(part, _)| *part);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_is_done_once_and_in_its_place() {
        for count in [0, 1, 2, 1_000] {
            let calls = AtomicU32::new(0);
            let squares = on_all_cores(count, |part| {
                calls.fetch_add(1, Ordering::Relaxed);
                u64::from(part) * u64::from(part)
            });
            let expected: Vec<u64> = (0..u64::from(count)).map(|part| part * part).collect();
            assert_eq!((squares, calls.into_inner()), (expected, count));
        }
    }

    #[test]
    #[should_panic(expected = "part 3")]
    fn a_part_that_panics_is_not_left_out() {
        on_all_cores(8, |part| assert!(part != 3, "part {part}"));
    }
}
