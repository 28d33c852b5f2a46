//! When a search ends: what was asked for, and the watch on it.

use super::time::TimeBudget;
use crate::types::Move;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a search was asked for. The default is to search until told to stop.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Limits {
    pub budget: Option<TimeBudget>,
    /// Iterations, at least one.
    pub depth: Option<i32>,
    /// The search stops before it would play one move more.
    pub nodes: Option<u64>,
    /// No iteration is started after so many nodes.
    pub soft_nodes: Option<u64>,
    /// Stop when a mate in so many moves, or faster, is found for the side to move.
    pub mate: Option<u32>,
    /// Only these moves are looked at in the root; all when empty.
    pub search_moves: Vec<Move>,
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

/// Nodes between two looks at the clock.
const POLL_INTERVAL: u64 = 1024;
/// The same when the time is short.
const SHORT_POLL_INTERVAL: u64 = 128;
/// Below this a time is short.
const SHORT_TIME: Duration = Duration::from_millis(20);

/// Counts nodes and watches clock and signals.
pub struct Control<'a> {
    signals: &'a Signals,
    start: Instant,
    budget: Option<TimeBudget>,
    node_limit: u64,
    poll_interval: u64,
    nodes: u64,
    /// The node count at which there is something to look at: the limit or the next poll.
    next_look: u64,
    stopped: bool,
    /// The first iteration is never cut short by the clock, so that there is a move worth playing.
    clock_may_stop: bool,
    /// The time for starting iterations ran out while pondering.
    soft_time_passed: bool,
}

impl<'a> Control<'a> {
    /// `start` is when the clock began to run.
    pub fn new(limits: &Limits, signals: &'a Signals, start: Instant) -> Control<'a> {
        let is_short = limits.budget.is_some_and(|budget| budget.hard < SHORT_TIME);
        let poll_interval = if is_short { SHORT_POLL_INTERVAL } else { POLL_INTERVAL };
        let node_limit = limits.nodes.unwrap_or(u64::MAX);
        Control {
            signals,
            start,
            budget: limits.budget,
            node_limit,
            poll_interval,
            nodes: 0,
            next_look: node_limit.min(poll_interval),
            stopped: false,
            clock_may_stop: false,
            soft_time_passed: false,
        }
    }

    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
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

    #[cold]
    fn look(&mut self) {
        if self.nodes >= self.node_limit || self.signals.is_stopped() || self.is_out_of_time() {
            self.stopped = true;
        }
        self.next_look = self.node_limit.min(self.nodes + self.poll_interval);
    }

    fn is_out_of_time(&self) -> bool {
        let Some(budget) = self.budget else { return false };
        self.clock_may_stop && !self.signals.is_pondering() && (self.soft_time_passed || self.elapsed() >= budget.hard)
    }

    /// To be called between iterations: true when another one should not be started. `scale` stretches the soft limit.
    pub fn should_stop_iterating(&mut self, scale: f64) -> bool {
        self.clock_may_stop = true;
        if self.stopped || self.signals.is_stopped() || self.nodes >= self.node_limit {
            return true;
        }
        let Some(budget) = self.budget else { return false };
        if self.elapsed() < budget.soft.mul_f64(scale).min(budget.hard) {
            return false;
        }
        self.soft_time_passed = true;
        !self.signals.is_pondering()
    }

    /// True when the search runs on a clock that is being counted.
    pub fn is_timed(&self) -> bool {
        self.budget.is_some() && !self.signals.is_pondering()
    }
}
