//! Output of lines from two threads, each line in one write.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// Shared writer of lines.
#[derive(Clone)]
pub struct Output(Arc<Mutex<dyn Write + Send>>);

impl Output {
    /// Creates an output to a writer.
    pub fn new(writer: impl Write + Send + 'static) -> Output {
        Output(Arc::new(Mutex::new(writer)))
    }

    /// Writes text with a line end, and flushes. A closed output is ignored, because the end of the
    /// input ends the session.
    pub fn line(&self, text: &str) {
        let line = format!("{}\n", text.trim_end_matches('\n'));
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.write_all(line.as_bytes()).and_then(|()| writer.flush());
    }

    /// Writes an `info string` for the user: one line of bounded length, even if it quotes a GUI's
    /// line.
    pub fn remark(&self, text: &str) {
        self.line(&format!("info string {}", one_line(text)));
    }

    /// Writes a message about a refused `go`. It uses the word that other engines use and harnesses
    /// look for.
    pub fn error(&self, text: &str) {
        self.remark(&format!("ERROR: {text}"));
    }
}

/// Returns text without control characters. The middle of a long text is left out, because a
/// message quotes first and gives the remedy last.
fn one_line(text: &str) -> String {
    const HEAD: usize = 300;
    const TAIL: usize = 200;
    let escape = |c: char| -> String { if c.is_control() { c.escape_default().collect() } else { c.into() } };
    let count = text.chars().count();
    if count <= HEAD + TAIL {
        return text.chars().map(escape).collect();
    }
    let head: String = text.chars().take(HEAD).map(escape).collect();
    let tail: String = text.chars().skip(count - TAIL).map(escape).collect();
    format!("{head}...{tail}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remarks_are_one_bounded_line() {
        for (text, expected) in [
            ("plain `text`, \u{e9}", "plain `text`, \u{e9}"),
            ("a\u{1b}[31mb\r\n\0c\u{9b}", "a\\u{1b}[31mb\\r\\n\\u{0}c\\u{9b}"),
        ] {
            assert_eq!(one_line(text), expected);
        }
        let long = one_line(&format!("unknown command `{}`, sorry", "x".repeat(1 << 20)));
        assert!(long.starts_with("unknown command `xxx") && long.ends_with("xxx`, sorry"), "{long}");
        assert_eq!(long.len(), 503);
    }
}
