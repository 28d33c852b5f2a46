//! Test suites: positions with known answers, put to engines (`quintain suite`).
//!
//! Reading order: `epd` (the questions), `play` (an engine's answers), `tally` (their sums, and two
//! engines compared).

mod epd;
mod play;
mod tally;

pub use self::epd::EpdError;
pub(crate) use self::epd::{Test, parse};
pub use self::play::SuiteError;
pub(crate) use self::play::{Answer, Solver};
pub(crate) use self::tally::{Comparison, Sum, compare, sums};
