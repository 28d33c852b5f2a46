//! Test suites: positions with known answers, put to engines (`quintain suite`).
//!
//! Reading order: `epd` (the questions), `searcher` (one search), `play` (an engine's answers),
//! `tally` (their sums, and two engines compared).

pub(crate) mod epd;
mod play;
mod searcher;
pub(crate) mod tally;

pub use self::epd::EpdError;
pub use self::play::SuiteError;
pub(crate) use self::play::{Solver, TestAnswer};
pub(crate) use self::searcher::PositionSearcher;
