//! Pairing, scoring and events of a run, without its scheduling.
//!
//! Reading order: `formats` (each format's encounters), `pairing` (the order of pairs),
//! `scoreboard` (the scores), `tuning` (progress of a tuning), `events` (every message). Nothing
//! here knows slots, processes or clocks, so reports and replays read it without the scheduler.

pub mod events;
pub mod formats;
pub mod limit_use;
pub mod pairing;
pub mod repeats;
pub mod scoreboard;
pub mod time_losses;
pub mod tuning;
mod waiting;
pub mod workers;
