//! Workers that hold pairs and do not play them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::super::leases::Attempt;
use super::super::link::worker_name;
use super::super::patience::{LEAST, PairPatience};
use super::super::wire::Heartbeat;
use super::{Coordinator, LOST_AFTER, replayed};
use crate::record::{PairId, TimeScale};
use crate::text::count;

/// Time without a look for silent workers after which this process stood still.
pub(super) const STANDSTILL: Duration = Duration::from_secs(10);

impl Coordinator {
    /// Time since the coordinator began, without that in which the run was paused or could hear
    /// nobody.
    pub(super) fn run_clock(&self) -> Duration {
        self.now().saturating_sub(self.idle + self.standstill())
    }

    /// Time since the coordinator began, without that in which it could hear nobody. A worker's
    /// silence then is that of the connection, or of this process.
    pub(super) fn lease_clock(&self) -> Duration {
        self.now().saturating_sub(self.deaf + self.standstill())
    }

    /// Time since the last look, if this process stood still: a signal or the system stopped it.
    fn standstill(&self) -> Duration {
        Some(self.now().saturating_sub(self.ticked)).filter(|time| *time > STANDSTILL).unwrap_or_default()
    }

    /// True without a connection, after a standstill, and until the workers have had time to come
    /// back.
    fn is_deaf(&self) -> bool {
        self.lost_at.is_some_and(|lost| self.ticked < lost + LOST_AFTER)
    }

    /// Stops the run's clock while the run is paused, and all clocks while no worker can be heard.
    pub(super) fn count_pause(&mut self) {
        let stood_still = self.standstill() > Duration::ZERO;
        let now = self.now();
        let time = now.saturating_sub(std::mem::replace(&mut self.ticked, now));
        if self.link.is_lost() || stood_still {
            self.lost_at = Some(now);
        }
        if self.is_deaf() {
            self.deaf += time;
        }
        if self.is_deaf() || self.end.orders.borrow().is_paused() {
            self.idle += time;
        }
    }

    /// Records the moves that a worker has made in its pairs.
    pub(super) fn record_progress(&mut self, beat: &Heartbeat) {
        let now = self.run_clock();
        for (&(pair, attempt), plies) in beat.held.iter().zip(&beat.progress) {
            let lease = self.leases.get_mut(PairId(pair), Attempt(attempt));
            if let Some(lease) = lease.filter(|lease| lease.worker == beat.worker && lease.work.plies < *plies) {
                (lease.work.plies, lease.work.moved) = (*plies, now);
            }
        }
    }

    /// Takes pairs from workers that have held them longer than any game lasts. A worker that does
    /// so again is excluded.
    pub(super) async fn end_overdue(&mut self) {
        if self.is_deaf() {
            return;
        }
        let now = self.run_clock();
        let is_old = |since: Duration| now.saturating_sub(since) > LEAST;
        // Simulated workers make no moves.
        let old = self.leases.iter().filter(|lease| !self.is_simulated() && is_old(lease.work.granted));
        let overdue = old.filter_map(|lease| {
            let work = &lease.work;
            let patience = PairPatience::of(&self.plan, self.scale_of(&lease.worker));
            let why = patience.overdue(now.saturating_sub(work.granted), now.saturating_sub(work.moved))?;
            Some((work.task.pair, lease.attempt, lease.worker.clone(), why))
        });
        let overdue: Vec<_> = overdue.collect();
        let mut blamed = BTreeSet::new();
        for (pair, attempt, worker, why) in overdue {
            self.warn(format!("worker {worker}: pair {}: {why}; its pair is played again", pair.0 + 1));
            let lost = self.leases.lose_attempt(attempt);
            self.roster.lose(&worker, lost.len(), &why);
            self.lose(lost);
            let name = worker_name(&worker);
            // All its pairs at once are one fault.
            if !blamed.insert(name.to_owned()) {
                continue;
            }
            let times = self.overdue.entry(name.to_owned()).or_default();
            *times += 1;
            if *times > 1 && !self.roster.is_dropped(&worker) {
                self.warn(format!("worker {name}: {why}, a second time; it is excluded: look what hangs there"));
                self.take_out(name, &format!("excluded: {why}")).await;
            }
        }
    }

    /// Takes pairs from workers that have not named them for too long: a worker is silent, or has
    /// dropped the pair.
    pub(super) fn end_unnamed(&mut self) {
        let lost = self.leases.expire(self.lease_clock());
        let mut pairs_of: BTreeMap<_, usize> = BTreeMap::new();
        for (_, lease) in &lost {
            *pairs_of.entry((lease.worker.clone(), lease.is_dropped())).or_default() += 1;
        }
        for ((worker, is_dropped), pairs) in pairs_of {
            let why = if is_dropped {
                self.roster.count_lost(&worker, pairs);
                format!("dropped {} without saying so", count(pairs as u64, "pair"))
            } else {
                let why = format!("silent for {} s", LOST_AFTER.as_secs());
                self.roster.lose(&worker, pairs, &why);
                why
            };
            self.warn(format!("worker {worker}: {why}; {}", replayed(pairs)));
        }
        self.lose(lost);
    }

    /// Factor of a worker's times, if the plan scales them.
    fn scale_of(&self, session: &str) -> Option<TimeScale> {
        let (reference, own) = self.plan.scale.zip(self.roster.nps(session))?;
        TimeScale::of_speeds(reference.nps as f64, own)
    }
}
