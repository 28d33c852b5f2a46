//! Lines of the console that are not of the tournament's fold.

use std::io::Write as _;

/// Prints a line of the console.
pub(super) fn say(text: &str) {
    // A reader that went away is no reason not to play on.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}
