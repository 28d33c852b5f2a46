//! Destrier, the UCI chess engine bundled with Quintain.
//!
//! Boards are legal positions, and move generation is fully legal. [`board::perft`] counts paths of
//! moves:
//!
//! ```
//! use destrier::board::{Board, perft};
//! use destrier::types::MoveList;
//!
//! let board = Board::startpos();
//! let mut moves = MoveList::new();
//! board.legal_moves(&mut moves);
//! assert_eq!(moves.len(), 20);
//! assert_eq!(perft(&board, 3), 8_902);
//!
//! // Only White, the side to move, can capture en passant here.
//! let board = Board::from_fen("8/8/8/k2pP3/8/8/8/K7 w - d6 0 1")?;
//! assert!(board.en_passant().is_some());
//! assert_eq!(perft(&board, 1), 5);
//! # Ok::<(), destrier::board::FenError>(())
//! ```
//!
//! Import order, low to high: [`types`] < [`board`] < [`eval`], [`nnue`] < [`search`] < [`uci`],
//! [`mod@bench`], [`datagen`].

#![deny(missing_docs)]

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
