//! The protocol crate at arm's length: its grammar for the few lines whose reading may take its time.

use std::panic;

use vampirc_uci::{UciMessage, parse_one};

/// The protocol crate's reading of a line. It `unwrap`s on numbers out of range, so it is not let out alone.
pub(super) fn read(line: &str) -> Option<UciMessage> {
    match panic::catch_unwind(|| parse_one(line)) {
        Ok(UciMessage::Unknown(..)) | Err(_) => None,
        Ok(message) => Some(message),
    }
}
