//! State that the threads of one search share beside the transposition table: the stop flag and the
//! counts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Counts of one thread, written by it alone. They fill a pair of cache lines, because processors
/// fetch neighbours together.
#[derive(Default)]
#[repr(align(128))]
struct Count {
    nodes: AtomicU64,
    tablebase_hits: AtomicU64,
}

/// Stop flag and counts of one search.
pub struct SharedState {
    stop: AtomicBool,
    node_limit: Option<u64>,
    /// Nodes granted to threads so far, if there is a limit.
    granted: AtomicU64,
    counts: Box<[Count]>,
}

impl SharedState {
    /// Creates the state of a search; `node_limit` is for all threads together.
    pub fn new(threads: usize, node_limit: Option<u64>) -> SharedState {
        let counts = (0..threads).map(|_| Count::default()).collect();
        SharedState { stop: AtomicBool::new(false), node_limit, granted: AtomicU64::new(0), counts }
    }

    /// Stops all threads.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Grants a thread up to `wanted` further nodes; 0 once the limit is reached. The sum of all
    /// grants never exceeds the limit.
    pub fn grant(&self, wanted: u64) -> u64 {
        let Some(limit) = self.node_limit else { return wanted };
        // The sum cannot overflow: a thread that is granted nothing stops asking.
        let before = self.granted.fetch_add(wanted, Ordering::Relaxed);
        limit.saturating_sub(before).min(wanted)
    }

    /// Publishes the counts of a thread.
    pub fn publish(&self, thread: usize, nodes: u64, tablebase_hits: u64) {
        self.counts[thread].nodes.store(nodes, Ordering::Relaxed);
        self.counts[thread].tablebase_hits.store(tablebase_hits, Ordering::Relaxed);
    }

    /// Returns the nodes of all threads, as last published.
    pub fn nodes(&self) -> u64 {
        self.counts.iter().map(|count| count.nodes.load(Ordering::Relaxed)).sum()
    }

    /// Returns the successful tablebase probes of all threads, as last published.
    pub fn tablebase_hits(&self) -> u64 {
        self.counts.iter().map(|count| count.tablebase_hits.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn grants_add_up_to_the_limit_whoever_asks() {
        for limit in [0, 1, 511, 512, 513, 100_000] {
            let shared = SharedState::new(4, Some(limit));
            thread::scope(|scope| {
                for id in 0..4 {
                    let shared = &shared;
                    scope.spawn(move || {
                        let mut nodes = 0;
                        loop {
                            match shared.grant(512) {
                                0 => break,
                                granted => nodes += granted,
                            }
                        }
                        shared.publish(id, nodes, 2 * nodes);
                    });
                }
            });
            assert_eq!((shared.nodes(), shared.tablebase_hits()), (limit, 2 * limit));
        }
        assert_eq!(SharedState::new(1, None).grant(512), 512);
    }
}
