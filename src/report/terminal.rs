//! The user's terminal while the live view is drawn on it.

use crate::os::TerminalModes;

/// Keeps the terminal from reacting to Ctrl-C by itself until it is dropped.
///
/// A terminal echoes `^C` and discards output that it has not shown. The view leaves the cursor at
/// the end of a full line, so the echo wraps. The next redraw then begins a line too low and shows
/// the heading twice. Discarded output may hold a redraw or a line of the run.
#[derive(Debug)]
pub struct QuietKeys(Option<TerminalModes>);

impl QuietKeys {
    /// Quiets the terminal behind standard error, if there is one.
    #[must_use]
    pub fn on_stderr() -> Self {
        Self(TerminalModes::quiet())
    }
}

impl Drop for QuietKeys {
    fn drop(&mut self) {
        if let Some(before) = &self.0 {
            before.restore();
        }
    }
}
