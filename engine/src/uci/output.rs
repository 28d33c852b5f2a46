//! Where lines go: from two threads, each line in one write.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// A shared writer of lines.
#[derive(Clone)]
pub struct Output(Arc<Mutex<dyn Write + Send>>);

impl Output {
    pub fn new(writer: impl Write + Send + 'static) -> Output {
        Output(Arc::new(Mutex::new(writer)))
    }

    /// Writes text and a line end, and flushes. When nobody reads any more there is nobody to tell; the end of the input ends
    /// the session.
    pub fn line(&self, text: &str) {
        let line = format!("{}\n", text.trim_end_matches('\n'));
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = writer.write_all(line.as_bytes()).and_then(|()| writer.flush());
    }

    /// A remark for the user.
    pub fn remark(&self, text: &str) {
        self.line(&format!("info string {text}"));
    }
}
