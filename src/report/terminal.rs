//! The user's terminal while the live view is drawn on it.

use std::io::{IsTerminal, Stderr, stderr};

use rustix::process::getpgrp;
use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

/// Modes of the terminal's own reaction to Ctrl-C, besides the signal.
const AT_CTRL_C: LocalModes = LocalModes::ECHOCTL.union(LocalModes::NOFLSH);

/// Keeps the terminal from reacting to Ctrl-C by itself until it is dropped.
///
/// A terminal echoes `^C` and discards output that it has not shown. The view leaves the cursor at
/// the end of a full line, so the echo wraps. The next redraw then begins a line too low and shows
/// the heading twice. Discarded output may hold a redraw or a line of the run.
#[derive(Debug)]
pub struct QuietKeys(Option<(Stderr, LocalModes)>);

impl QuietKeys {
    /// Quiets the terminal behind standard error, if there is one.
    #[must_use]
    pub fn on_stderr() -> Self {
        let terminal = stderr();
        if !terminal.is_terminal() {
            return Self(None);
        }
        let before = change(&terminal, |modes| {
            let before = modes.local_modes & AT_CTRL_C;
            modes.local_modes.remove(LocalModes::ECHOCTL);
            modes.local_modes.insert(LocalModes::NOFLSH);
            before
        });
        Self(before.map(|before| (terminal, before)))
    }
}

impl Drop for QuietKeys {
    fn drop(&mut self) {
        if let Some((terminal, before)) = &self.0 {
            change(terminal, |modes| modes.local_modes = (modes.local_modes - AT_CTRL_C) | *before);
        }
    }
}

/// Changes the terminal's modes; `None` if the process is not in its foreground.
fn change<T>(terminal: &Stderr, change: impl FnOnce(&mut Termios) -> T) -> Option<T> {
    // The system stops a background job that changes its terminal.
    if tcgetpgrp(terminal).is_ok_and(|foreground| foreground != getpgrp()) {
        return None;
    }
    let mut modes = tcgetattr(terminal).ok()?;
    let result = change(&mut modes);
    tcsetattr(terminal, OptionalActions::Now, &modes).ok()?;
    Some(result)
}
