//! Lines that a command prints itself: results to stdout, the rest to stderr.
//!
//! A closed pipe is ignored. Of other errors on stdout, such as a full disk, the first is kept: a
//! command must not succeed with half of its output.
//!
//! The text may quote engines, files and directory names, so control characters are replaced.

use std::io::{self, Write as _};
use std::sync::OnceLock;

use crate::source::Update;
use crate::text::{printable_lines, shell_path, with_causes};

/// First error on stdout.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Prints a result.
pub(crate) fn result(text: &str) {
    put(format!("{}\n", printable_lines(text.trim_end())).as_bytes());
}

/// Writes bytes to stdout as they are.
pub(crate) fn put(bytes: &[u8]) {
    if let Err(error) = write(&mut io::stdout().lock(), bytes) {
        let _ = LOST.set(error);
    }
}

/// Writes and flushes. Returns false if the reader has closed the pipe.
pub(crate) fn write(out: &mut impl io::Write, bytes: &[u8]) -> io::Result<bool> {
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => written.map(|()| true),
    }
}

/// Returns the first error on stdout.
pub(crate) fn lost() -> Option<&'static io::Error> {
    LOST.get()
}

/// Prints a note.
pub(crate) fn note(text: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", printable_lines(text));
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
    let run = shell_path(run);
    note(&format!("error: {why}; finished games are kept; continue with `quintain resume {run}` once that is fixed"));
}

/// Prints the error of a command with its causes on one line.
pub(crate) fn error(error: &(dyn std::error::Error + 'static)) {
    note(&format!("error: {}", with_causes(error)));
}
