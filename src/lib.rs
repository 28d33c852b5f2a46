#![doc = include_str!("ARCHITECTURE.md")]
#![cfg_attr(not(feature = "cli"), allow(dead_code, reason = "only the commands use the rest"))]

// Reading order: the words first, then the pure rooms, then the rooms that touch the world.
pub mod files;
pub mod record;
pub mod text;

pub mod chess;
pub mod stats;

pub mod openings;
pub mod tune;

pub mod plan;

pub mod game;
pub mod uci;

pub mod journal;
pub mod source;
pub mod tablebase;

pub mod tournament;

pub mod check;
pub mod schedule;
pub mod settings;
pub mod suite;

pub mod report;

pub mod control;

#[cfg(feature = "cluster")]
pub mod cluster;
#[cfg(not(feature = "cluster"))]
#[path = "cluster/absent.rs"]
pub mod cluster;

#[cfg(feature = "cli")]
pub mod dashboard;

pub mod run;

pub mod compat;

#[cfg(feature = "cli")]
pub mod cli;

#[cfg(test)]
#[path = "../tests/skip.rs"]
mod skip;
