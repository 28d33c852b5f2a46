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
#[cfg(unix)]
mod complete;
#[cfg(target_os = "linux")]
mod control;
mod demo;
#[cfg(unix)]
mod errors;
mod explain;
#[cfg(unix)]
mod fastchess;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod faults;
mod formats;
mod harness;
#[cfg(unix)]
mod hostile;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod hub;
mod limits;
#[cfg(target_os = "linux")]
mod live;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod machines;
mod names;
#[cfg(unix)]
mod networks;
#[cfg(target_os = "linux")]
mod notify;
mod openings;
#[cfg(target_os = "linux")]
mod persist;
#[cfg(target_os = "linux")]
mod ponder;
#[cfg(unix)]
mod preflight;
#[cfg(unix)]
mod process;
#[cfg(unix)]
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
#[cfg(unix)]
mod serve;
#[cfg(unix)]
mod serve_work;
mod settings;
mod simulate;
#[path = "../skip.rs"]
mod skip;
#[cfg(unix)]
mod source;
mod speed;
mod suite;
mod syzygy;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(unix)]
mod text;
#[cfg(unix)]
mod tidy;
mod tools;
#[cfg(target_os = "linux")]
mod trust;
#[cfg(unix)]
mod tune;
#[cfg(unix)]
mod tuned;
#[cfg(unix)]
mod tuned_page;
#[cfg(target_os = "linux")]
mod tuning;
#[cfg(unix)]
mod workflow;
