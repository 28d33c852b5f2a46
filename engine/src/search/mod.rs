//! The search: iterative deepening with aspiration windows over a principal variation search.
//!
//! Reading order: `searcher.rs` and `iterative_deepening.rs` (the iterations), `worker.rs` (the state of a thread),
//! the numbered steps of `node.rs` with `node_pruning.rs` and `move_loop.rs`, `quiescence.rs`; `pruning.rs`,
//! `reductions.rs` and `extensions.rs` for every margin, reduction and extension; `ordering.rs`,
//! `context.rs` and `history.rs` for move ordering; `corrections.rs` for the correction histories;
//! `tt.rs` for the transposition table; `time.rs` and `limits.rs` for the end of a search; `pool.rs`
//! and `shared.rs` for the other threads; `strength.rs` for limited strength; `params.rs` for the
//! numbers. Nothing here knows UCI.

mod context;
mod corrections;
mod evaluator;
mod extensions;
mod game;
mod gravity;
mod history;
mod info;
mod iterative_deepening;
mod limits;
mod memory;
mod move_loop;
mod node;
mod node_pruning;
mod ordering;
pub mod params;
mod pool;
mod pruning;
mod quiescence;
mod reductions;
mod root;
mod searcher;
mod shared;
mod stack;
pub mod strength;
pub mod tablebase;
pub mod time;
pub mod tt;
mod window;
mod worker;

pub use evaluator::{EvalConfig, EvalMode, Evaluator};
pub use game::Game;
pub use info::{Info, Outcome, Report, Silent};
pub use limits::{Limits, Signals};
pub use memory::MemoryError;
pub use pool::{THREAD_STACK_BYTES, in_search_thread};
pub use searcher::Searcher;
