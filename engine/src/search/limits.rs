//! When a search ends: what was asked for, and the watch on it.

use super::shared::Shared;
use super::time::{self, Pace, TimeBudget};
use crate::types::Move;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What a search was asked for. The default is to search until told to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    pub budget: Option<TimeBudget>,
    /// Iterations, at least one.
    pub depth: Option<i32>,
    /// The search stops before it would play one move more; all threads together.
    pub nodes: Option<u64>,
    /// No iteration is started after so many nodes.
    pub soft_nodes: Option<u64>,
    /// Stop when a mate in so many moves, or faster, is found for either side.
    pub mate: Option<u32>,
    /// How many best lines are wanted; zero is taken for one.
    pub lines: usize,
    /// Only these moves are looked at in the root; all when empty.
    pub search_moves: Vec<Move>,
}

impl Limits {
    /// True when only a signal ends the search, or the greatest depth there is.
    fn are_open(&self) -> bool {
        let Limits { budget, depth, nodes, soft_nodes, mate, .. } = self;
        budget.is_none() && depth.is_none() && nodes.is_none() && soft_nodes.is_none() && mate.is_none()
    }
}

/// How the outside talks to a search that is under way.
#[derive(Debug, Default)]
pub struct Signals {
    /// The search must end at once.
    pub stop: AtomicBool,
    /// The opponent is to move, and time is not counted.
    pub ponder: AtomicBool,
}

impl Signals {
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub fn is_pondering(&self) -> bool {
        self.ponder.load(Ordering::Relaxed)
    }
}

/// Nodes between two looks at clock and signals: a quarter of a millisecond, so that two threads that look one after the other
/// stop well within the five that are asked for.
const POLL_INTERVAL: u64 = 512;
/// The same when the time is short.
const SHORT_POLL_INTERVAL: u64 = 128;
/// Below this a time is short.
const SHORT_TIME: Duration = Duration::from_millis(20);

/// Counts a thread's nodes, and ends its search in time.
pub struct Control<'a> {
    shared: &'a Shared,
    thread: usize,
    /// What the leading thread watches for all.
    watch: Option<Watch<'a>>,
    poll_interval: u64,
    /// At each look other threads of the machine may run first: where all processors search, the thread that hears `stop` would
    /// wait for the next tick of the system's scheduler, some milliseconds. Only where no clock runs that this could cost time.
    gives_way: bool,
    nodes: u64,
    table_hits: u64,
    /// The node count at which there is something to look at.
    next_look: u64,
    stopped: bool,
}

/// The clock and the signals, which the leading thread watches.
struct Watch<'a> {
    signals: &'a Signals,
    start: Instant,
    budget: Option<TimeBudget>,
    /// The first iteration is never cut short by the clock, so that there is a move worth playing.
    clock_may_stop: bool,
    /// The time for starting iterations ran out while pondering.
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
    /// For the thread that leads. `start` is when the clock began to run.
    pub fn lead(shared: &'a Shared, limits: &Limits, signals: &'a Signals, start: Instant) -> Control<'a> {
        let is_short = limits.budget.is_some_and(|budget| budget.hard < SHORT_TIME);
        let poll_interval = if is_short { SHORT_POLL_INTERVAL } else { POLL_INTERVAL };
        let watch = Watch { signals, start, budget: limits.budget, clock_may_stop: false, soft_time_passed: false };
        Control { watch: Some(watch), poll_interval, ..Control::follow(shared, limits, 0) }
    }

    /// For a thread that helps, numbered from one: it stops when the search does.
    pub fn follow(shared: &'a Shared, limits: &Limits, thread: usize) -> Control<'a> {
        Control {
            shared,
            thread,
            watch: None,
            poll_interval: POLL_INTERVAL,
            gives_way: limits.are_open(),
            nodes: 0,
            table_hits: 0,
            next_look: 0,
            stopped: false,
        }
    }

    /// Nodes of this thread.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Nodes of all threads; of the others as they last said.
    pub fn total_nodes(&self) -> u64 {
        self.publish();
        self.shared.nodes()
    }

    /// Answers that all threads had from endgame tables.
    pub fn total_table_hits(&self) -> u64 {
        self.publish();
        self.shared.table_hits()
    }

    /// Since the clock began to run; only the leader knows.
    pub fn elapsed(&self) -> Duration {
        self.watch.as_ref().map_or(Duration::ZERO, |watch| watch.start.elapsed())
    }

    /// True for the thread that reports and minds the time.
    pub fn leads(&self) -> bool {
        self.watch.is_some()
    }

    /// The number of the thread; the leader is 0.
    pub fn thread(&self) -> usize {
        self.thread
    }

    /// True once the search must unwind; scores that come back from then on mean nothing.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Counts a node about to be entered; false when it must not be.
    #[inline]
    pub fn count_node(&mut self) -> bool {
        if self.nodes >= self.next_look {
            self.look();
        }
        if self.stopped {
            return false;
        }
        self.nodes += 1;
        true
    }

    /// Counts an answer from an endgame table.
    #[inline]
    pub fn count_tablebase_hit(&mut self) {
        self.table_hits += 1;
    }

    /// Tells the others how far this thread has come.
    pub fn publish(&self) {
        self.shared.publish(self.thread, self.nodes, self.table_hits);
    }

    #[cold]
    fn look(&mut self) {
        self.publish();
        if self.gives_way {
            thread::yield_now();
        }
        if self.shared.is_stopped() || self.watch.as_ref().is_some_and(Watch::says_stop) {
            self.stop();
            return;
        }
        match self.shared.grant(self.poll_interval) {
            0 => self.stop(),
            granted => self.next_look = self.nodes + granted,
        }
    }

    fn stop(&mut self) {
        self.stopped = true;
        self.shared.stop();
    }

    /// To be called between iterations: true when another one should not be started. A helper goes on until it is told.
    pub fn should_stop_iterating(&mut self, pace: Pace) -> bool {
        if self.stopped || self.shared.is_stopped() {
            return true;
        }
        let Some(watch) = &mut self.watch else { return false };
        watch.clock_may_stop = true;
        if watch.signals.is_stopped() {
            return true;
        }
        let Some(budget) = watch.budget else { return false };
        if time::may_start_iteration(watch.start.elapsed(), budget, pace) {
            return false;
        }
        watch.soft_time_passed = true;
        !watch.signals.is_pondering()
    }

    /// True when the search runs on a clock that is being counted.
    pub fn is_timed(&self) -> bool {
        self.watch.as_ref().is_some_and(|watch| watch.budget.is_some() && !watch.signals.is_pondering())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_search_that_a_signal_ends_gives_way() {
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
