//! Everything about a run, resolved and immutable.
//!
//! Reading order: `time_control` (what a side may spend), `openings` (where games start), `config` (the TOML a user
//! writes and the `plan.toml` a run leaves), then [`Plan`] itself.

pub mod time_control;
