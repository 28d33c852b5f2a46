//! Exit codes of a command.

use crate::plan::Plan;
use crate::stats::sprt::Verdict;
use crate::tournament::events::StopReason;
use crate::tournament::scoreboard::Scoreboard;

/// Result of a command, as its exit code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done; for a test, H1 was accepted.
    Done,
    /// H0 was accepted.
    H0,
    /// A check found something wrong, or a replayed engine failed again.
    Failed,
    /// Ended without a verdict: out of pairs, openings or time, or a narrow or flat result.
    Inconclusive,
    /// Too many engine failures or time losses, or the run could not continue.
    Aborted,
    /// Interrupted, resumable.
    Interrupted,
}

impl Exit {
    /// Exit of a run that ended for a reason.
    pub(crate) fn of(reason: &StopReason, scoreboard: &Scoreboard) -> Self {
        match (reason, scoreboard.verdict()) {
            (_, Verdict::AcceptH1) => Self::Done,
            (_, Verdict::AcceptH0) => Self::H0,
            (StopReason::Interrupted, _) => Self::Interrupted,
            (
                StopReason::TooManyFailures { .. } | StopReason::TooManyTimeLosses { .. } | StopReason::Broken { .. },
                _,
            ) => Self::Aborted,
            // A tuning may end at any time.
            (StopReason::OutOfTime, _) if scoreboard.tuning().is_some() => Self::Done,
            // Without a test every end is regular.
            (StopReason::OutOfPairs | StopReason::Narrow | StopReason::Flat, _) if scoreboard.sprt().is_none() => {
                Self::Done
            }
            (
                StopReason::Verdict
                | StopReason::OutOfPairs
                | StopReason::OutOfOpenings
                | StopReason::Narrow
                | StopReason::Flat
                | StopReason::OutOfTime,
                _,
            ) => Self::Inconclusive,
        }
    }

    /// Exit of a run whose counted results leave nothing to play; `None` of any other.
    pub(crate) fn of_counted(plan: &Plan, scoreboard: &Scoreboard) -> Option<Self> {
        StopReason::of_counted(plan, scoreboard).map(|reason| Self::of(&reason, scoreboard))
    }

    /// Converts an exit code; `None` if no run returns it.
    pub(crate) const fn from_code(code: u8) -> Option<Self> {
        match code {
            0 => Some(Self::Done),
            1 => Some(Self::H0),
            3 => Some(Self::Inconclusive),
            4 => Some(Self::Aborted),
            130 => Some(Self::Interrupted),
            _ => None,
        }
    }

    /// Returns the exit code.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::H0 | Self::Failed => 1,
            Self::Inconclusive => 3,
            Self::Aborted => 4,
            Self::Interrupted => 130,
        }
    }
}
