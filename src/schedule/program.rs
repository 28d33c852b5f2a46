//! Is a player's program still the one that the run began with? A path is run where it lies, and its owner may build it anew.

use std::fs::{self, File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::plan::Player;
use crate::text::hex;

/// What was last seen of each player's program.
#[derive(Debug)]
pub(super) struct Programs {
    /// By player; `None` before the first look.
    seen: Vec<Option<Stamp>>,
}

/// What changes whenever a file is replaced or written to: device, inode, bytes, and the times of both kinds of change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp([i128; 5]);

impl Stamp {
    fn of(about: &Metadata) -> Self {
        let nanos = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
        Self([
            about.dev().into(),
            about.ino().into(),
            about.len().into(),
            nanos(about.mtime(), about.mtime_nsec()),
            nanos(about.ctime(), about.ctime_nsec()),
        ])
    }
}

impl Programs {
    pub(super) fn new(players: usize) -> Self {
        Self { seen: vec![None; players] }
    }

    /// Compares the program of the player at `place` with what the plan says of it. Its bytes are read only where the file was
    /// touched since the last look.
    ///
    /// # Errors
    /// It is gone or another one, in words with the remedy.
    pub(super) fn check(&mut self, place: usize, player: &Player) -> Result<(), String> {
        let program = player.program.display();
        let gone =
            |error: io::Error| format!("{program}: the program of `{}` is gone ({error}); restore it", player.name);
        let stamp = Stamp::of(&fs::metadata(&player.program).map_err(gone)?);
        if self.seen[place] == Some(stamp) {
            return Ok(());
        }
        if sha256(&player.program).map_err(gone)? != player.origin.sha256 {
            return Err(format!(
                "{program}: changed since the run began, so games of `{}` would be of two programs; restore it",
                player.name
            ));
        }
        // Taken before the bytes were read: a change meanwhile is seen at the next look.
        self.seen[place] = Some(stamp);
        Ok(())
    }
}

fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            return Ok(hex(&hasher.finalize()));
        }
        hasher.update(&buffer[..count]);
    }
}
