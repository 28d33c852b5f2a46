//! Files of `-pgnout`, `-epdout` and `-crc32`, with games in finishing order.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

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
