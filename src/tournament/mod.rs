//! What a run is besides its scheduling: who meets whom, what counts, and what happened.
//!
//! Reading order: `formats` (each format's encounters), `pairing` (who meets whom), `standing`
//! (what counts), `tuning` (what came of a tuning), `events` (every message).
//! Nothing here knows slots, processes or clocks, so reports and replays read it without the scheduler.

pub mod events;
pub mod formats;
pub mod limit_use;
pub mod pairing;
pub mod repeats;
pub mod standing;
pub mod time_losses;
pub mod tuning;
mod waiting;
