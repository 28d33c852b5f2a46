//! Place of a test in a chain of tests, and its table in `plan.toml`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Tests before and after a test in its chain.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Chain {
    /// Folders of the previous runs, oldest first; a relative one starts at the parent of the run's
    /// own.
    pub before: Vec<PathBuf>,
    /// Settings, as in a plan file, of the tests that follow if this one passes.
    pub then: Vec<toml::Table>,
}

#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ChainV1 {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    before: Vec<PathBuf>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    then: Vec<toml::Table>,
}

impl ChainV1 {
    /// Table of a chain; `None` for a run that is in none.
    pub(super) fn of(chain: &Chain) -> Option<Self> {
        let Chain { before, then } = chain.clone();
        (chain != &Chain::default()).then_some(Self { before, then })
    }

    pub(super) fn read(self) -> Chain {
        Chain { before: self.before, then: self.then }
    }
}
