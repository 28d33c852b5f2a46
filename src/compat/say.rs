//! Console lines outside the `console` observer.

use std::io::Write as _;

/// Prints a line on the console and flushes it.
pub(super) fn say(text: &str) {
    // A closed reader does not stop the run.
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}
