//! What the threads of one search share beside the table: the word to stop, and the count of nodes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// One thread's counts, written by it alone. In its own pair of cache lines, for neighbours are fetched together.
#[derive(Default)]
#[repr(align(128))]
struct Count {
    nodes: AtomicU64,
    table_hits: AtomicU64,
}

/// The common ground of one search.
pub struct Shared {
    stop: AtomicBool,
    node_limit: Option<u64>,
    /// Nodes handed out to threads, where there is a limit.
    granted: AtomicU64,
    counts: Box<[Count]>,
}

impl Shared {
    /// `node_limit` is for all threads together.
    pub fn new(threads: usize, node_limit: Option<u64>) -> Shared {
        let counts = (0..threads).map(|_| Count::default()).collect();
        Shared { stop: AtomicBool::new(false), node_limit, granted: AtomicU64::new(0), counts }
    }

    /// Tells every thread to unwind.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// How many nodes, at most `wanted`, a thread may search before it asks again; none when the limit is reached. What all
    /// threads are granted together never passes the limit.
    pub fn grant(&self, wanted: u64) -> u64 {
        let Some(limit) = self.node_limit else { return wanted };
        // The sum stays far from overflow: a thread that gets nothing stops, and asks no more.
        let before = self.granted.fetch_add(wanted, Ordering::Relaxed);
        limit.saturating_sub(before).min(wanted)
    }

    /// Takes down how far a thread has come.
    pub fn publish(&self, thread: usize, nodes: u64, table_hits: u64) {
        self.counts[thread].nodes.store(nodes, Ordering::Relaxed);
        self.counts[thread].table_hits.store(table_hits, Ordering::Relaxed);
    }

    /// Nodes of all threads, as last published.
    pub fn nodes(&self) -> u64 {
        self.counts.iter().map(|count| count.nodes.load(Ordering::Relaxed)).sum()
    }

    /// Endgame table look-ups of all threads that gave an answer, as last published.
    pub fn table_hits(&self) -> u64 {
        self.counts.iter().map(|count| count.table_hits.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn grants_add_up_to_the_limit_whoever_asks() {
        for limit in [0, 1, 511, 512, 513, 100_000] {
            let shared = Shared::new(4, Some(limit));
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
            assert_eq!((shared.nodes(), shared.table_hits()), (limit, 2 * limit));
        }
        assert_eq!(Shared::new(1, None).grant(512), 512);
    }
}
