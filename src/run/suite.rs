//! A suite put to an engine by several processes at once.

use crate::run::error::Result;
use crate::run::lanes::in_lanes;
use crate::suite::epd::TestPosition;
use crate::suite::{Solver, TestAnswer};
use crate::uci::Go;
use crate::uci::process::EngineConfig;

/// Answers of an engine, in the order of the tests. `tell` gets the number of answered tests after
/// each one.
///
/// # Errors
/// Returns an error if the engine does not start, or fails.
pub(crate) fn answers(
    config: &EngineConfig,
    go: &Go,
    tests: &[TestPosition],
    lanes: usize,
    tell: &(dyn Fn(usize) + Sync),
) -> Result<Vec<TestAnswer>> {
    in_lanes(
        (tests, lanes),
        async || Ok(Solver::start(config.clone(), *go).await?),
        async |solver, _, test| Ok(solver.solve(test).await?),
        Solver::end,
        tell,
    )
}
