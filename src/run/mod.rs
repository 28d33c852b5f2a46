//! A run from its settings to its summary, for commands and for programs that play matches.
//!
//! One run: `resolve` (from settings to a plan), `dir` (the run directory), `prepare` (the
//! resources of a run), and `drive` (plays it). Then `signals` (stops it), `notify` (notifications
//! at its end) and `archive` (a run in few bytes).
//!
//! Commands: `begin` (the settings of a command), `chain` (plays them, and the tests that follow),
//! `chain_report` (a chain as a whole) and `race` (the settings of one). Last, `tuning` (from an
//! engine's parameters to proven values), `queue` (runs one after another), `series` and `play`
//! (runs as parts of something larger), `rated` (runs to rate in the folders of these).
//!
//! Without games: `speed` (the speed of two programs), `suite` (test positions). `error` has all
//! errors of these.

pub(crate) mod archive;
pub(crate) mod begin;
pub(crate) mod building;
pub(crate) mod chain;
pub(crate) mod chain_report;
pub(crate) mod dir;
pub(crate) mod drive;
pub(crate) mod error;
mod exit;
pub(crate) mod extension;
pub(crate) mod forecast;
mod lanes;
mod lasting;
pub(crate) mod notify;
pub(crate) mod pace;
pub(crate) mod page;
pub mod play;
pub(crate) mod prepare;
pub(crate) mod progress;
pub(crate) mod queue;
mod race;
pub(crate) mod rated;
mod records;
pub(crate) mod resolve;
pub(crate) mod scaling;
pub(crate) mod series;
pub(crate) mod signals;
pub(crate) mod speed;
mod stamp;
pub(crate) mod suite;
pub(crate) mod trust;
pub mod tune;
pub(crate) mod tuning;

pub use self::error::RunError;
pub use self::exit::Exit;
