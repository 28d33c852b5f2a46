//! Observers of a run, and the documents made of it. Nothing here can stop a run.

pub mod block;
pub mod calibration;
pub mod collection;
pub mod console;
pub mod crashes;
pub mod eco;
pub mod epd;
pub mod explain;
pub mod figures;
pub mod html;
mod identity;
pub mod pgn;
pub mod pgn_file;
pub mod pgn_tags;
mod pgn_written;
pub mod plot;
pub mod progress;
pub mod races;
pub mod reasons;
pub mod record_table;
pub mod results;
mod sink;
pub mod standings;
#[cfg(feature = "cli")]
pub(crate) mod stored;
pub mod summary;
pub mod terminal;
pub mod tune;
pub mod workers;
