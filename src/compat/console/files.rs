//! `-pgnout`, `-epdout` and `-crc32`: games in the order in which they finish.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

/// A file that grows by a game at a time.
pub struct Output {
    path: PathBuf,
    file: File,
    /// Of what is in it; `None` where nobody asked.
    crc: Option<crc32fast::Hasher>,
}

impl Output {
    /// Opens a file: to go on after what is there, or anew.
    ///
    /// # Errors
    /// Where it cannot be read or written.
    pub fn open(path: &Path, append: bool, with_crc: bool) -> std::io::Result<Self> {
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

    /// Appends a game. Returns the line that tells the checksum, where one is kept.
    ///
    /// # Errors
    /// Where the disk does not take it.
    pub(super) fn add(&mut self, text: &str) -> std::io::Result<Option<String>> {
        self.file.write_all(text.as_bytes())?;
        Ok(self.crc.as_mut().map(|crc| {
            crc.update(text.as_bytes());
            format!("File {} has CRC32: {:#x}\n", self.path.display(), crc.clone().finalize())
        }))
    }

    /// The file's name as it was given.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}
