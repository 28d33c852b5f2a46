//! Tests of UCI chess engines: game pairs, sequential tests, ratings, tuning.
//!
//! The program `quintain` is a thin layer over this library. Three modules are crates of their
//! own that can be used alone and do no I/O: [`stats`] (`quintain-stats`), [`uci`] without its
//! processes (`quintain-uci`) and [`record`] (`quintain-record`). A sequential probability ratio
//! test (SPRT) of 2,000 pairs:
//!
//! ```
//! use quintain::stats::Pentanomial;
//! use quintain::stats::elo;
//! use quintain::stats::sprt::{Bounds, Model, Sprt, Verdict};
//!
//! // Pairs by the points of the tested engine: 0, 1/2, 1, 3/2, 2.
//! let pairs = Pentanomial([80, 400, 880, 520, 120]);
//! let test = Sprt::new(Bounds { elo0: 0.0, elo1: 5.0 }, Model::Normalized, 0.05, 0.05)?;
//! assert_eq!(test.verdict_at(test.llr(&pairs)), Verdict::AcceptH1);
//!
//! let estimate = elo::logistic(&pairs).expect("there are pairs");
//! let value = estimate.value.finite().expect("neither side won every game");
//! assert!((value - 17.4).abs() < 0.1);
//! # Ok::<(), quintain::stats::sprt::SprtError>(())
//! ```
//!
//! Games are played by [`run::play::play`], from the same keys as a `plan.toml`. Two engines named
//! `./new` and `./old`, two pairs of games at 10 ms a move:
//!
//! ```no_run
//! use std::path::Path;
//!
//! use quintain::run::play;
//! use quintain::settings::RawPlan;
//!
//! let keys = r#"
//!     seed = 1
//!     movetime = 10
//!     pairs = 2
//!
//!     [[players]]
//!     spec = "./new"
//!
//!     [[players]]
//!     spec = "./old"
//! "#;
//! let plan: RawPlan = toml::from_str(keys)?;
//! let run = play::play(&plan, "match", Path::new("results/runs/example"))?;
//! println!("{} pairs, exit {:?}", run.scoreboard.pairs(), run.exit);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules by subject
//!
//! | modules | contents |
//! | --- | --- |
//! | [`record`], [`chess`], [`openings`] | results and games, the rules, books |
//! | [`stats`], [`tune`] | SPRT, Elo, ratings, races; tuning by games |
//! | [`uci`], [`game`] | the protocol and the referee |
//! | [`settings`], [`plan`] | keys of a plan file; the resolved, immutable plan |
//! | [`journal`], [`tournament`], [`report`] | games on disk, their counts, documents |
//! | [`run`] | whole runs, from settings to the summary |
//!
//! The other modules serve the program `quintain` and are left out here. `src/ARCHITECTURE.md` is
//! the map of all, for those who change the library.

#![deny(missing_docs)]
#![cfg_attr(not(feature = "cli"), allow(dead_code, reason = "only the commands use the rest"))]

// Reading order: the words first, then the pure rooms, then the rooms that touch the world. The
// lint for missing documentation skips hidden modules, so they are hidden from `rustdoc` alone.
#[cfg_attr(doc, doc(hidden))]
pub mod files;
pub(crate) mod os;
#[cfg_attr(doc, doc(hidden))]
pub mod text;
#[doc(inline)]
pub use quintain_record as record;

pub mod chess;
#[doc(inline)]
pub use quintain_stats as stats;

pub mod openings;
pub mod tune;

pub mod plan;

pub mod game;
pub mod uci;

pub mod journal;
#[cfg_attr(doc, doc(hidden))]
pub mod source;
#[cfg_attr(doc, doc(hidden))]
pub mod tablebase;

pub mod tournament;

#[cfg_attr(doc, doc(hidden))]
pub mod check;
#[cfg_attr(doc, doc(hidden))]
pub mod schedule;
pub mod settings;
#[cfg_attr(doc, doc(hidden))]
pub mod suite;

pub mod report;

#[cfg_attr(doc, doc(hidden))]
pub mod control;

#[cfg_attr(doc, doc(hidden))]
#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg_attr(doc, doc(hidden))]
#[cfg(not(feature = "cluster"))]
#[path = "cluster/absent.rs"]
pub mod cluster;

#[cfg(feature = "cli")]
#[cfg_attr(doc, doc(hidden))]
pub mod dashboard;

pub mod run;

#[cfg_attr(doc, doc(hidden))]
pub mod compat;

#[cfg(feature = "cli")]
#[cfg_attr(doc, doc(hidden))]
pub mod cli;

#[cfg(test)]
#[path = "../tests/skip.rs"]
mod skip;
