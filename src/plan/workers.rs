//! Processes other than this one that play a run's games.

use std::fmt;
use std::str::FromStr;

/// Workers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workers {
    /// So many workers on this machine, each with one game at a time, and a server of their own.
    Local(u16),
}

impl Workers {
    /// Number of concurrent games.
    #[must_use]
    pub const fn games(self) -> u16 {
        match self {
            Self::Local(workers) => workers,
        }
    }
}

/// Text that names no workers.
#[derive(Debug, thiserror::Error)]
#[error("`{0}` names no workers; give local:N, as local:4, for N workers on this machine")]
pub struct BadWorkers(String);

impl FromStr for Workers {
    type Err = BadWorkers;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let count = text.strip_prefix("local:").and_then(|count| count.parse().ok()).filter(|count| *count > 0);
        count.map(Self::Local).ok_or_else(|| BadWorkers(text.to_owned()))
    }
}

impl fmt::Display for Workers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Local(workers) => write!(f, "local:{workers}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_named_by_their_number() {
        assert_eq!("local:4".parse::<Workers>().unwrap().to_string(), "local:4");
        for wrong in ["", "local", "local:", "local:0", "local:-1", "local:65536", "4", "nats://example.org"] {
            assert!(wrong.parse::<Workers>().unwrap_err().to_string().contains("local:N"), "{wrong}");
        }
    }
}
