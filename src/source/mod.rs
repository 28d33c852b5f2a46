//! Sources of engines: a spec becomes a program with a known origin.
//!
//! Reading order: `spec` (the user's text), `registry` (names), `recipe` (the build of a tree),
//! `git` (revisions and the working tree), `untracked` (new files that count), `network` (networks
//! as inputs), `cache` (builds). `resolve` uses all of these. Then `pin` (specs for later), `base`
//! (the default opponent), `tuned` and `patch` (tuned engines, and their sources with new values),
//! `notify` (notifications), `own` (this program's own commands). `command` runs every program of
//! this room.

mod base;
mod bench;
mod cache;
mod command;
mod error;
mod git;
mod hash;
mod history;
mod network;
mod notify;
mod own;
mod patch;
mod pin;
mod recipe;
mod registry;
mod resolve;
mod spec;
mod tuned;
mod untracked;

pub use base::{Bases, default_base};
pub use bench::{Bench, BenchError, bench, bench_nodes};
pub use command::Update;
#[cfg(feature = "cli")]
pub(crate) use command::end_builds;
pub use error::SourceError;
pub use git::Commit;
pub use history::{change, diff, is_bad_commit, known, names, place_of, spec_of, stretch, tested_change};
pub use network::NetworkFile;
pub use notify::{notify, tell};
pub use own::{OwnError, OwnProgram};
pub use patch::PatchError;
pub use pin::pinned;
pub use recipe::{RawNotify, RawRecipe, Recipe};
pub use registry::{EntryOrigin, GAMES_FOLDERS, RawRegistry, Registry, RegistryEntry, find_program};
pub use resolve::{Context, ResolvedEngine, find, missing, resolve, resolve_with};
pub use spec::{Spec, split_words};
pub use tuned::{Sources, TunableEngine, is_changed, tunable};
