//! The integration tests: one binary, so that one link serves them all.
//!
//! Modules of Unix use Git, shell scripts as engines and recipes, signals or permissions. Those of
//! Linux look into `/proc` as well. All others run on Windows, too, but for a few that
//! `.ci/windows` leaves out with the reasons.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, unused, reason = "what only tests of Linux use"))]
#![allow(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod archive;
mod book;
mod chain;
mod check;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod cluster;
#[cfg(unix)]
mod complete;
#[cfg(target_os = "linux")]
mod control;
mod demo;
mod errors;
mod explain;
mod extend;
mod fastchess;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod faults;
mod formats;
mod harness;
mod hostile;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod hub;
mod limits;
#[cfg(target_os = "linux")]
mod live;
#[cfg(all(target_os = "linux", feature = "cluster"))]
mod machines;
#[cfg(unix)]
mod names;
#[cfg(unix)]
mod networks;
#[cfg(unix)]
mod notify;
mod openings;
#[cfg(target_os = "linux")]
mod persist;
mod ponder;
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
mod replay;
#[cfg(target_os = "linux")]
mod repositories;
#[cfg(target_os = "linux")]
mod resume;
mod run;
mod scaling;
mod serve;
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
mod tuned_page;
mod tuning;
#[cfg(unix)]
mod workflow;
