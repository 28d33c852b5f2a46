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
//! A [`search::Searcher`] keeps the transposition table and the histories of a game. A search
//! recurses deeply, so it runs on a thread with a large stack ([`search::in_search_thread`]):
//!
//! ```
//! use std::time::Instant;
//!
//! use destrier::board::Board;
//! use destrier::search::{Game, Limits, MemoryError, Searcher, Signals, SilentReport};
//!
//! let game = Game::new(Board::from_fen("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")?);
//! let limits = Limits { depth: Some(4), ..Limits::default() };
//! let outcome = destrier::search::in_search_thread(|| {
//!     let mut searcher = Searcher::new(16)?; // MiB of the transposition table
//!     let signals = Signals::default(); // another thread may set `stop`
//!     let start = Instant::now();
//!     Ok::<_, MemoryError>(searcher.search(&game, &limits, &signals, start, &mut SilentReport))
//! })??;
//! let best = outcome.best.expect("there is a legal move");
//! assert_eq!(game.board().to_uci(best, false), "a1a8"); // mate
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Scores are in centipawns from the side to move's view, depths in plies. At fixed depth or nodes
//! and with one thread a search is deterministic.
//!
//! | module | contents |
//! | --- | --- |
//! | [`types`], [`board`] | squares, moves, scores; legal positions, move generation, FEN |
//! | [`eval`], [`nnue`] | the classical evaluation; networks, their file format and kernels |
//! | [`search`] | iterative deepening, pruning, move ordering, time, threads |
//! | [`uci`], [`mod@bench`], [`datagen`] | the protocol; the signature of the search; self-play |
//!
//! Import order, low to high: [`types`] < [`board`], `memory` < [`eval`], [`nnue`] < [`search`] <
//! [`uci`], [`mod@bench`], [`datagen`].

#![deny(missing_docs)]

pub mod types;

pub mod board;
mod memory;

pub mod eval;
pub mod nnue;

pub mod search;

pub mod bench;
pub mod datagen;
pub mod uci;

#[cfg(test)]
#[path = "../../tests/skip.rs"]
mod skip;
