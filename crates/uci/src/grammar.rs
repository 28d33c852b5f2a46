//! Access to the `vampirc-uci` grammar, for the few lines that are not on the hot path.

use std::panic;

use vampirc_uci::{UciMessage, parse_one};

/// Parses a line with `vampirc-uci`. The crate panics on numbers out of range, so panics are
/// caught.
pub(super) fn read(line: &str) -> Option<UciMessage> {
    match panic::catch_unwind(|| parse_one(line)) {
        Ok(UciMessage::Unknown(..)) | Err(_) => None,
        Ok(message) => Some(message),
    }
}
