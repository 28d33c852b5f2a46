//! Limits of a search, and the control that enforces them.

use super::shared::SharedState;
use super::time::{self, Pace, TimeBudget};
use crate::types::Move;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Limits of a search. The default is an infinite search.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    /// Time that the search may use; `None` without a clock.
    pub budget: Option<TimeBudget>,
    /// Maximum number of iterations, at least one.
    pub depth: Option<i32>,
    /// Maximum number of nodes of all threads together; the search stops before it would exceed it.
    pub nodes: Option<u64>,
    /// Number of nodes after which no iteration is started.
    pub soft_nodes: Option<u64>,
    /// Number of moves: the search stops once it finds a mate this short, or shorter, for either
    /// side.
    pub mate: Option<u32>,
    /// Number of best lines to search (MultiPV); zero counts as one.
    pub lines: usize,
    /// Root moves to search; all if empty.
    pub search_moves: Vec<Move>,
}

impl Limits {
    /// Returns whether only a signal or the maximum depth ends the search.
    fn are_open(&self) -> bool {
        let Limits { budget, depth, nodes, soft_nodes, mate, .. } = self;
        budget.is_none() && depth.is_none() && nodes.is_none() && soft_nodes.is_none() && mate.is_none()
    }
}

/// Signals from outside to a running search.
#[derive(Debug, Default)]
pub struct Signals {
    /// The search must end at once.
    pub stop: AtomicBool,
    /// The opponent is to move, so no limit of time ends the search.
    pub ponder: AtomicBool,
}

impl Signals {
    /// Returns whether the search must end at once.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns whether the opponent is to move, so that no limit of time ends the search.
    pub fn is_pondering(&self) -> bool {
        self.ponder.load(Ordering::Relaxed)
    }
}

/// Nodes between two polls of the clock and the signals, about a quarter of a millisecond. Two
/// threads that poll in turn still stop well within five milliseconds.
const POLL_INTERVAL: u64 = 512;
/// Nodes between two polls in a search of short time.
const SHORT_POLL_INTERVAL: u64 = 128;
/// Hard limit below which the time is short.
const SHORT_TIME: Duration = Duration::from_millis(20);

/// Counter of a thread's nodes, which ends its search in time.
pub struct Control<'a> {
    shared: &'a SharedState,
    thread: usize,
    /// Clock and signals; only the leader has them.
    watch: Option<Watch<'a>>,
    poll_interval: u64,
    /// Set if the thread yields at each poll. If all processors search, the thread that receives
    /// `stop` would otherwise wait milliseconds for the scheduler. Only in searches without a
    /// clock, which cannot lose time by it.
    yields: bool,
    nodes: u64,
    tablebase_hits: u64,
    /// Node count at the next poll.
    next_poll: u64,
    stopped: bool,
}

/// Clock and signals that the leader polls.
struct Watch<'a> {
    signals: &'a Signals,
    start: Instant,
    budget: Option<TimeBudget>,
    /// Unset during the search of the first line at depth 1, which the clock never cuts short, so
    /// that there is a move worth playing.
    clock_may_stop: bool,
    /// Set if the soft limit passed while pondering.
    soft_time_passed: bool,
}

impl Watch<'_> {
    fn says_stop(&self) -> bool {
        self.signals.is_stopped() || self.is_out_of_time()
    }

    fn is_out_of_time(&self) -> bool {
        let Some(budget) = self.budget else { return false };
        self.clock_may_stop
            && !self.signals.is_pondering()
            && (self.soft_time_passed || self.start.elapsed() >= budget.hard)
    }
}

impl<'a> Control<'a> {
    /// Creates the control of the leader. `start` is the time at which the clock began to run.
    pub fn lead(shared: &'a SharedState, limits: &Limits, signals: &'a Signals, start: Instant) -> Control<'a> {
        let is_short = limits.budget.is_some_and(|budget| budget.hard < SHORT_TIME);
        let poll_interval = if is_short { SHORT_POLL_INTERVAL } else { POLL_INTERVAL };
        let watch = Watch { signals, start, budget: limits.budget, clock_may_stop: false, soft_time_passed: false };
        Control { watch: Some(watch), poll_interval, ..Control::follow(shared, limits, 0) }
    }

    /// Creates the control of a helper, numbered from one; it stops with the search.
    pub fn follow(shared: &'a SharedState, limits: &Limits, thread: usize) -> Control<'a> {
        Control {
            shared,
            thread,
            watch: None,
            poll_interval: POLL_INTERVAL,
            yields: limits.are_open(),
            nodes: 0,
            tablebase_hits: 0,
            next_poll: 0,
            stopped: false,
        }
    }

    /// Returns the nodes of this thread.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the nodes of all threads; those of the others as last published.
    pub fn total_nodes(&self) -> u64 {
        self.publish();
        self.shared.nodes()
    }

    /// Returns the successful tablebase probes of all threads.
    pub fn total_tablebase_hits(&self) -> u64 {
        self.publish();
        self.shared.tablebase_hits()
    }

    /// Returns the time since the clock began to run; zero for helpers.
    pub fn elapsed(&self) -> Duration {
        self.watch.as_ref().map_or(Duration::ZERO, |watch| watch.start.elapsed())
    }

    /// Returns whether this is the thread that reports and checks the time.
    pub fn leads(&self) -> bool {
        self.watch.is_some()
    }

    /// Returns the number of the thread; the leader is 0.
    pub fn thread(&self) -> usize {
        self.thread
    }

    /// Returns whether the search must unwind. Scores returned from then on are meaningless.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Counts a node about to be entered. Returns false if the search must stop instead.
    #[inline]
    pub fn count_node(&mut self) -> bool {
        if self.nodes >= self.next_poll {
            self.poll();
        }
        if self.stopped {
            return false;
        }
        self.nodes += 1;
        true
    }

    /// Counts a successful tablebase probe.
    #[inline]
    pub fn count_tablebase_hit(&mut self) {
        self.tablebase_hits += 1;
    }

    /// Publishes this thread's counts to the others.
    pub fn publish(&self) {
        self.shared.publish(self.thread, self.nodes, self.tablebase_hits);
    }

    #[cold]
    fn poll(&mut self) {
        self.publish();
        if self.yields {
            thread::yield_now();
        }
        if self.shared.is_stopped() || self.watch.as_ref().is_some_and(Watch::says_stop) {
            self.stop();
            return;
        }
        match self.shared.grant(self.poll_interval) {
            // The other threads have nodes that were granted to them.
            0 => self.stopped = true,
            granted => self.next_poll = self.nodes + granted,
        }
    }

    /// Returns whether this thread ended because no nodes are left, while others may have some.
    pub fn is_out_of_nodes(&self) -> bool {
        self.stopped && !self.shared.is_stopped()
    }

    /// Ends the search of all threads.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.shared.stop();
    }

    /// Lets the clock end the search, because there is a move worth playing.
    pub fn heed_clock(&mut self) {
        if let Some(watch) = &mut self.watch {
            watch.clock_may_stop = true;
        }
    }

    /// Returns whether the search should end between two iterations. A helper continues until it is
    /// stopped.
    pub fn should_stop_iterating(&mut self, pace: Pace) -> bool {
        if self.stopped || self.shared.is_stopped() {
            return true;
        }
        let Some(watch) = &mut self.watch else { return false };
        if watch.signals.is_stopped() {
            return true;
        }
        let Some(budget) = watch.budget else { return false };
        // Taken back if an iteration while pondering finds that more time is needed.
        watch.soft_time_passed = !time::may_start_iteration(watch.start.elapsed(), budget, pace);
        watch.soft_time_passed && !watch.signals.is_pondering()
    }

    /// Ends a search on a clock in which nothing is left to decide; one that ponders ends at
    /// `ponderhit`. Returns whether the search should end now.
    pub fn settle(&mut self) -> bool {
        let Some(watch) = self.watch.as_mut().filter(|watch| watch.budget.is_some()) else { return false };
        watch.soft_time_passed = true;
        !watch.signals.is_pondering()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_search_that_a_signal_ends_yields() {
        let open = Limits { lines: 3, search_moves: vec![Move::NULL], ..Limits::default() };
        let budget = time::fixed(Duration::from_secs(1), Duration::ZERO);
        assert!(open.are_open());
        for closed in [
            Limits { budget: Some(budget), ..open.clone() },
            Limits { depth: Some(9), ..open.clone() },
            Limits { nodes: Some(9), ..open.clone() },
            Limits { soft_nodes: Some(9), ..open.clone() },
            Limits { mate: Some(9), ..open.clone() },
        ] {
            assert!(!closed.are_open(), "{closed:?}");
        }
    }
}
