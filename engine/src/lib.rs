//! Destrier, the UCI chess engine bundled with Quintain.
//!
//! Import order, low to high: [`types`] < [`board`] < [`eval`], [`nnue`] < [`search`] < [`uci`],
//! [`bench`], [`datagen`].

pub mod types;

pub mod board;

pub mod eval;
pub mod nnue;

pub mod search;

pub mod bench;
pub mod datagen;
pub mod uci;

#[cfg(test)]
#[path = "../../tests/skip.rs"]
mod skip;
