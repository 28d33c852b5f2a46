//! Scheduling delay of this machine, which may excuse an engine that answered late.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Thread that sleeps for short times and records how late it wakes.
#[derive(Debug)]
pub(super) struct Lag {
    shared: Arc<SharedLag>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct SharedLag {
    worst_us: AtomicU64,
    done: AtomicBool,
}

impl Lag {
    const PERIOD: Duration = Duration::from_millis(1);

    pub(super) fn watch() -> Self {
        let shared = Arc::new(SharedLag::default());
        let theirs = Arc::clone(&shared);
        let thread = thread::spawn(move || {
            while !theirs.done.load(Ordering::Relaxed) {
                let due = Instant::now() + Self::PERIOD;
                thread::sleep(Self::PERIOD);
                let late = Instant::now().saturating_duration_since(due).as_micros();
                theirs.worst_us.fetch_max(u64::try_from(late).unwrap_or(u64::MAX), Ordering::Relaxed);
            }
        });
        Self { shared, thread: Some(thread) }
    }

    /// Clears the record.
    pub(super) fn reset(&self) {
        self.shared.worst_us.store(0, Ordering::Relaxed);
    }

    /// The longest delay since the last reset.
    pub(super) fn worst(&self) -> Duration {
        Duration::from_micros(self.shared.worst_us.load(Ordering::Relaxed))
    }
}

impl Drop for Lag {
    fn drop(&mut self) {
        self.shared.done.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A thread that only sleeps does not panic.
            let _ = thread.join();
        }
    }
}
