//! The search: iterative deepening with aspiration windows over a principal variation search.
//!
//! Reading order: `searcher.rs` and `iterative_deepening.rs` for the iterations, then `worker.rs`
//! for the state of a thread, then the numbered steps of `node.rs` with `node_pruning.rs`,
//! `move_loop.rs` and `quiescence.rs`.
//!
//! `pruning.rs`, `reductions.rs` and `extensions.rs` hold every margin, reduction and extension,
//! `params.rs` the tuned numbers. `ordering.rs`, `context.rs` and `history.rs` order the moves;
//! `corrections.rs` holds the correction histories, `tt.rs` the transposition table. `time.rs` and
//! `limits.rs` end a search, `pool.rs` and `shared.rs` run the other threads, `strength.rs` limits
//! the strength. Nothing here knows UCI.

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

pub use crate::memory::MemoryError;
pub use evaluator::{EvalConfig, EvalMode, EvaluationObserver, Evaluator};
pub use game::Game;
pub use info::{Info, Outcome, Report, SilentReport};
pub use limits::{Limits, Signals};
pub use pool::{THREAD_STACK_BYTES, in_search_thread};
pub use searcher::Searcher;
