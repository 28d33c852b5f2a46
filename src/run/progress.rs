//! Lines that a command prints itself: results to stdout, the rest to stderr.
//!
//! Write errors, such as a closed pipe, are ignored.
//!
//! The text may quote engines, files and directory names, so control characters are replaced.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::source::Update;
use crate::text::printable_lines;

/// Prints a result.
pub(crate) fn result(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{}", printable_lines(text.trim_end()));
}

/// Prints a note.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable_lines(text));
}

/// Prints a step of a build; the compiler's output is left out.
pub(crate) fn step(update: Update<'_>) {
    match update {
        Update::Step(text) | Update::Note(text) => note(text),
        Update::Output(_) => {}
    }
}

/// Prints a warning.
pub(crate) fn warn(text: &str) {
    note(&format!("warning: {text}"));
}

/// Prints the reason that a run could not continue, and the remedy.
pub(crate) fn broken(why: &str, run: &std::path::Path) {
    let run = run.display();
    note(&format!("error: {why}; finished games are kept; continue with `quintain resume {run}` once that is fixed"));
}

/// Prints the error of a command with its causes on one line.
pub(crate) fn error(error: &(dyn std::error::Error + 'static)) {
    let mut line = String::new();
    for cause in std::iter::successors(Some(error), |error| error.source()) {
        let text = cause.to_string();
        // A cause that its parent already quotes is left out.
        if !line.contains(&text) {
            let _ = write!(line, "{}{text}", if line.is_empty() { "" } else { ": " });
        }
    }
    note(&format!("error: {line}"));
}
