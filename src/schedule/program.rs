//! Check that a player's program has not changed since the run began. Programs run in place, so a
//! new build may replace one.

use std::fs;
use std::io;

use crate::os;
use crate::plan::Player;
use crate::text::file_sha256;

/// Last seen state of each player's program.
#[derive(Debug)]
pub(super) struct ProgramStates {
    /// State of each player's program; `None` before the first check.
    seen: Vec<Option<[i128; 5]>>,
}

impl ProgramStates {
    pub(super) fn new(players: usize) -> Self {
        Self { seen: vec![None; players] }
    }

    /// Compares a player's program with the plan's SHA-256. Its bytes are read only if the file was
    /// touched since the last check.
    ///
    /// # Errors
    /// Returns an error with the remedy if the program is missing or has changed.
    pub(super) fn check(&mut self, place: usize, player: &Player) -> Result<(), String> {
        let program = player.program.display();
        let gone =
            |error: io::Error| format!("{program}: the program of `{}` is missing ({error}); restore it", player.name);
        let stamp = os::stamp(&fs::metadata(&player.program).map_err(gone)?);
        if self.seen[place] == Some(stamp) {
            return Ok(());
        }
        if file_sha256(&player.program).map_err(gone)? != player.origin.sha256 {
            return Err(format!(
                "{program}: changed since the run began, so games of `{}` would mix two programs; restore it",
                player.name
            ));
        }
        // Taken before the bytes were read, so that the next check sees a change during the read.
        self.seen[place] = Some(stamp);
        Ok(())
    }
}
