//! The few lines that a command prints itself: results to stdout, the rest to stderr.
//! A closed pipe is no reason to panic: what cannot be written is let go.
//!
//! What is printed may quote engines, files and folders' names, so no line carries control characters
//! to a terminal.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::source::Update;
use crate::text::printable_lines;

/// A result.
pub(crate) fn result(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{}", printable_lines(text.trim_end()));
}

/// Something worth knowing.
pub(crate) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{}", printable_lines(text));
}

/// A step of a build that has begun; what the compiler prints is left out.
pub(crate) fn step(update: Update<'_>) {
    match update {
        Update::Step(text) | Update::Note(text) => note(text),
        Update::Output(_) => {}
    }
}

/// Something to look at; the command goes on.
pub(crate) fn warn(text: &str) {
    note(&format!("warning: {text}"));
}

/// Why a run could not go on, and how it can.
pub(crate) fn broken(why: &str, run: &std::path::Path) {
    let run = run.display();
    note(&format!("error: {why}; what counted is kept, go on with `quintain resume {run}` once that is mended"));
}

/// Why the command failed, its causes on the same line.
pub(crate) fn error(error: &(dyn std::error::Error + 'static)) {
    let mut line = String::new();
    for cause in std::iter::successors(Some(error), |error| error.source()) {
        let text = cause.to_string();
        // A cause that its parent already quotes adds nothing.
        if !line.contains(&text) {
            let _ = write!(line, "{}{text}", if line.is_empty() { "" } else { ": " });
        }
    }
    note(&format!("error: {line}"));
}
