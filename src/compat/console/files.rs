//! Files of `-pgnout`, `-epdout` and `-crc32`, with games in finishing order.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use crate::plan::recording::OutputFile;
use crate::report::sink::Sink;

/// File that takes one game at a time.
pub struct Output {
    path: PathBuf,
    file: OutputTarget,
    /// CRC32 of the whole file; `None` without `-crc32`.
    crc: Option<crc32fast::Hasher>,
}

enum OutputTarget {
    /// Takes each game.
    Plain(File),
    /// Takes the games of a journal that it lacks, and completes one that is torn.
    Repaired(Sink),
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
        let file = OutputTarget::Plain(file);
        Ok(Self { path: path.to_owned(), file, crc: with_crc.then_some(hasher) })
    }

    /// Opens a file to which an earlier process of the tournament has written. It takes the games
    /// of the journal from the first one on.
    ///
    /// # Errors
    /// I/O error if the file cannot be read or opened.
    pub fn repair(path: &Path) -> std::io::Result<Self> {
        let sink = Sink::open(&OutputFile { path: path.to_owned(), append_after: Some(0) })?;
        Ok(Self { path: path.to_owned(), file: OutputTarget::Repaired(sink), crc: None })
    }

    /// Appends a game. Returns the checksum line if the file has a checksum.
    ///
    /// # Errors
    /// I/O error if the game cannot be written.
    pub(super) fn add(&mut self, text: &str) -> std::io::Result<Option<String>> {
        match &mut self.file {
            OutputTarget::Plain(file) => file.write_all(text.as_bytes())?,
            OutputTarget::Repaired(sink) => sink.put(text.as_bytes())?,
        }
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
