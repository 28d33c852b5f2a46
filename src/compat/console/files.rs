//! Files of `-pgnout`, `-epdout` and `-crc32`, with games in finishing order.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::report::sink::end_of;

/// File that takes one game at a time.
pub struct Output {
    path: PathBuf,
    file: File,
    /// CRC32 of the whole file; `None` without `-crc32`.
    crc: Option<crc32fast::Hasher>,
}

impl Output {
    /// Opens a file, either to append to it or to replace it. Its folder is made if necessary.
    ///
    /// # Errors
    /// I/O error if the file cannot be opened or read.
    pub fn open(path: &Path, append: bool, with_crc: bool) -> std::io::Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        let mut options = OpenOptions::new();
        let mut file = if append {
            options.append(true).read(true).create(true).open(path)?
        } else {
            options.write(true).create(true).truncate(true).open(path)?
        };
        let mut hasher = crc32fast::Hasher::new();
        if append && with_crc {
            let mut part = vec![0; 1 << 16];
            loop {
                match file.read(&mut part)? {
                    0 => break,
                    length => hasher.update(&part[..length]),
                }
            }
        }
        Ok(Self { path: path.to_owned(), file, crc: with_crc.then_some(hasher) })
    }

    /// Checks that a file can be written, and leaves its contents.
    ///
    /// # Errors
    /// I/O error if the file cannot be opened.
    pub fn probe(path: &Path) -> std::io::Result<()> {
        Self::open(path, true, false).map(drop)
    }

    /// Appends a game. Returns the checksum line if the file has a checksum.
    ///
    /// # Errors
    /// I/O error if the game cannot be written.
    pub(super) fn add(&mut self, text: &str) -> std::io::Result<Option<String>> {
        self.file.write_all(text.as_bytes())?;
        Ok(self.crc.as_mut().map(|crc| {
            crc.update(text.as_bytes());
            format!("File {} has CRC32: {:#x}\n", self.path.display(), crc.clone().finalize())
        }))
    }

    /// Path of the file as given on the command line.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

/// File of an earlier process of a tournament, which may lack the last games of the journal. One
/// may be torn.
pub struct FileRepair {
    path: PathBuf,
    file: File,
    /// Contents before the repair.
    found: Vec<u8>,
    state: RepairState,
}

enum RepairState {
    /// The games of the journal so far end here.
    Found(usize),
    /// From some game on, the file had none.
    Lost,
    /// The file has other games than the journal where its next one should be.
    Foreign,
    /// A game could not be written.
    Failed(std::io::Error),
}

impl FileRepair {
    /// Opens a file; `None` if it is none that can be read again, such as a pipe.
    ///
    /// # Errors
    /// I/O error if the file cannot be opened or read.
    pub fn open(path: &Path) -> std::io::Result<Option<Self>> {
        if path.metadata().is_ok_and(|about| !about.is_file()) {
            return Ok(None);
        }
        let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
        let mut found = Vec::new();
        file.read_to_end(&mut found)?;
        Ok(Some(Self { path: path.to_owned(), file, found, state: RepairState::Found(0) }))
    }

    /// Appends the journal's next game, or the rest of it, if the end of the file was lost. Games
    /// of others are left alone, and after them nothing is appended that may be there in another
    /// form.
    pub fn put(&mut self, text: &str) {
        let text = text.as_bytes();
        let missing = match self.state {
            RepairState::Foreign | RepairState::Failed(_) => return,
            RepairState::Lost => text,
            RepairState::Found(at) => {
                if let Some(end) = end_of(&self.found, at, text) {
                    self.state = RepairState::Found(end);
                    return;
                }
                let Some(missing) = text.strip_prefix(&self.found[at..]) else {
                    self.state = RepairState::Foreign;
                    return;
                };
                missing
            }
        };
        self.state = self.file.write_all(missing).map_or_else(RepairState::Failed, |()| RepairState::Lost);
    }

    /// Message for the user if the file does not have the games of the journal now.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        let path = self.path.display();
        match &self.state {
            RepairState::Found(_) | RepairState::Lost => None,
            RepairState::Foreign => Some(format!(
                "Info: {path} does not have the games of the journal as they are written now; later ones are appended."
            )),
            RepairState::Failed(error) => Some(format!("Warning; {path}: {error}; it lacks earlier games")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gets_the_games_that_it_lost_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("o.pgn");
        for (before, after, is_whole) in [
            ("", "(a)(b)(c)", true),
            ("(a)(b)(c)", "(a)(b)(c)", true),
            ("(a)", "(a)(b)(c)", true),
            ("(a)(b", "(a)(b)(c)", true),
            ("(", "(a)(b)(c)", true),
            ("old(a)(b", "old(a)(b)(c)", true),
            ("old(a)x(b)", "old(a)x(b)(c)", true),
            // Written in another form, or nothing of the tournament.
            ("(A)(B)", "(A)(B)", false),
            ("(a)(B)", "(a)(B)", false),
            ("old", "old", false),
        ] {
            std::fs::write(&path, before).unwrap();
            let mut repair = FileRepair::open(&path).unwrap().unwrap();
            ["(a)", "(b)", "(c)"].into_iter().for_each(|text| repair.put(text));
            assert_eq!(repair.fault().is_none(), is_whole, "{before}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), after, "{before}");
        }
        assert!(FileRepair::open(folder.path()).unwrap().is_none());
    }
}
