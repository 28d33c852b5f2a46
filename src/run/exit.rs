//! Exit codes of a command.

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
