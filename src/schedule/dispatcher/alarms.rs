//! Stops and warnings that the games so far call for.

use super::{Dispatcher, PV_WARNINGS, tell};
use crate::record::GameRecord;
use crate::text::count;
use crate::tournament::events::{RunEvent, Stop, StopReason};
use crate::tournament::scoreboard::pv_faults;

impl Dispatcher<'_> {
    /// Stops the run if it has reached its result.
    pub(super) fn check_over(&mut self) {
        if let Some(result) = StopReason::of_result(&self.run.scoreboard) {
            self.halt(Stop::Now, result);
        }
    }

    pub(super) fn check_failures(&mut self) {
        let failures = self.failures();
        if failures > self.run.plan.max_failures {
            self.halt(Stop::Now, StopReason::TooManyFailures { failures });
        }
    }

    /// Warns of time losses from the fifth on, each time their number has doubled, and stops the
    /// run at the plan's limit.
    pub(super) fn check_time_losses(&mut self) {
        let losses = self.run.scoreboard.finished_time_losses();
        if losses.lost >= self.next_alarm {
            self.next_alarm = losses.lost.saturating_mul(2);
            let text = losses.alarm(&self.run.plan);
            tell(self.observers, RunEvent::Warning { text: &text });
        }
        let losses = self.run.scoreboard.finished_time_losses();
        if losses.exceed(self.run.plan.max_time_losses) {
            let losses = losses.clone();
            self.halt(Stop::AfterGame, StopReason::TooManyTimeLosses { losses });
        }
    }

    /// Warns of players that exceed their limits, again for each further player.
    pub(super) fn check_limit_use(&mut self) {
        let offenders = self.run.scoreboard.limit_use().offenders();
        if offenders > self.offenders_told {
            self.offenders_told = offenders;
            if let Some(text) = self.run.scoreboard.limit_use().alarm(&self.run.plan) {
                self.tell(RunEvent::Warning { text: &text });
            }
        }
    }

    /// Reports the first few wrong PVs; the summary counts all of them.
    pub(super) fn warn_of_pvs(&mut self, record: &GameRecord) {
        for (ply, player, fault) in pv_faults(record) {
            if self.pv_told >= PV_WARNINGS {
                return;
            }
            self.pv_told += 1;
            let name = self.run.plan.name_of(player);
            let more = if self.pv_told == PV_WARNINGS { "; from here on they are only counted" } else { "" };
            let text = format!("game {}, ply {ply}: {name}: the PV {}{more}", record.id.number(), fault.words());
            tell(self.observers, RunEvent::PvWarning { text: &text });
        }
    }

    /// Reports repeated pairs at the first, the tenth, the hundredth and so on.
    pub(super) fn warn_of_repeats(&mut self, before: u64) {
        let now = self.run.scoreboard.repeated();
        let decade = |count: u64| count.checked_ilog10();
        if decade(now) > decade(before) {
            let text = format!(
                "{} not counted: an opening came again, and its games are counted ones move for move",
                count(now, "pair")
            );
            self.tell(RunEvent::Warning { text: &text });
        }
    }
}
