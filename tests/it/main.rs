//! The integration tests: one binary, so that one link serves them all.

#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

#[cfg(target_os = "linux")]
mod archive;
mod book;
#[cfg(target_os = "linux")]
mod chain;
mod check;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod cluster;
#[cfg(target_os = "linux")]
mod control;
mod demo;
mod errors;
mod explain;
mod fastchess;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod faults;
mod formats;
mod harness;
mod hostile;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod hub;
mod limits;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod machines;
#[cfg(target_os = "linux")]
mod notify;
mod openings;
#[cfg(target_os = "linux")]
mod persist;
#[cfg(target_os = "linux")]
mod ponder;
mod preflight;
mod process;
mod progress;
#[cfg(target_os = "linux")]
mod queue;
mod rate;
mod record_table;
mod records;
#[cfg(target_os = "linux")]
mod replay;
#[cfg(target_os = "linux")]
mod resume;
mod run;
#[cfg(target_os = "linux")]
mod scaling;
mod serve;
mod serve_work;
mod settings;
mod simulate;
#[path = "../skip.rs"]
mod skip;
mod source;
mod speed;
mod suite;
mod syzygy;
#[cfg(target_os = "linux")]
mod terminal;
mod text;
mod tidy;
mod tools;
#[cfg(target_os = "linux")]
mod trust;
mod tune;
mod tuned;
mod tuned_page;
#[cfg(target_os = "linux")]
mod tuning;
