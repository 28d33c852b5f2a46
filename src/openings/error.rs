//! Errors of books, and faults of single openings.

use std::io;

use thiserror::Error;

use super::packing::{self, ArchiveRefusal};
use super::store::StoreError;
use crate::record::Termination;

/// Reason that a book cannot be used.
#[derive(Debug, Error)]
pub enum BookError {
    /// The file cannot be read.
    #[error("cannot read the book {name}: {source}")]
    Read {
        /// The path as given.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file is packed twice, or in an unsupported format.
    #[error("the book {name} is a {kind} archive; unpack it first")]
    Packed {
        /// The path as given.
        name: String,
        /// The format of the archive.
        kind: &'static str,
    },
    /// The archive is cut off or damaged.
    #[error("the book {name} is a broken {kind} archive: {fault}; fetch or pack it again")]
    Archive {
        /// The path as given.
        name: String,
        /// The format of the archive.
        kind: &'static str,
        /// The fault.
        fault: String,
    },
    /// The archive unpacks to far more than a book's does, or to more than any book may.
    #[error(
        "the book {name} is a {kind} archive of more than {mib} MiB, too much for its size; unpack it first if it is a book, or \
         split it"
    )]
    Bomb {
        /// The path as given.
        name: String,
        /// The format of the archive.
        kind: &'static str,
        /// The limit in MiB.
        mib: u64,
    },
    /// The temporary file for a large book cannot be made or written.
    #[error("the book {name} has no room in the folder for temporary files: {source}; make room, or set TMPDIR")]
    Temporary {
        /// The path as given.
        name: String,
        /// The system's error.
        source: io::Error,
    },
    /// The temporary file of a large book was cut or damaged, or its disk fails.
    #[error(
        "the temporary copy of the book {name} cannot be read at opening {number}: {source}; \
         see to the folder for temporary files, or set TMPDIR to another"
    )]
    Lost {
        /// The path as given.
        name: String,
        /// Number of the opening, from 1.
        number: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The Polyglot book is broken, or has no line to play.
    #[error("the book {name}: {fault}")]
    Polyglot {
        /// The path as given.
        name: String,
        /// The fault, with the number of the entry, from 1, if it concerns one.
        fault: String,
    },
    /// The file has more text than its offsets can address.
    #[error("the book {name} is larger than 4 GiB, or has more than 16,777,216 openings; split it")]
    TooLarge {
        /// The path as given.
        name: String,
    },
    /// The file holds no opening.
    #[error("the book {name} has no opening")]
    Empty {
        /// The path as given.
        name: String,
    },
    /// One opening is broken.
    #[error("{name}:{line}: {fault}; correct or delete it")]
    Opening {
        /// The path as given.
        name: String,
        /// Line in the file, from 1.
        line: u32,
        /// The fault.
        fault: String,
    },
}

/// Fault in one line or game; the caller adds the book's name.
#[derive(Debug)]
pub(crate) struct LineFault {
    pub(super) line: u32,
    pub(super) what: String,
}

/// Reason that a book's openings were not read; the caller adds the book's name.
#[derive(Debug)]
pub(super) enum Trouble {
    /// One opening is broken.
    Fault(LineFault),
    /// The Polyglot book is broken.
    Polyglot(String),
    Read(io::Error),
    Store(StoreError),
}

impl From<LineFault> for Trouble {
    fn from(fault: LineFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Read(error)
    }
}

impl Trouble {
    /// The error, with the book's name.
    pub(super) fn of(self, name: &str) -> BookError {
        let name = name.to_owned();
        match self {
            Self::Fault(LineFault { line, what }) => BookError::Opening { name, line, fault: what },
            Self::Polyglot(fault) => BookError::Polyglot { name, fault },
            Self::Store(StoreError::TooLarge) => BookError::TooLarge { name },
            Self::Store(StoreError::Write(source)) => BookError::Temporary { name, source },
            Self::Read(source) => match packing::refusal(&source) {
                Some(ArchiveRefusal::Unknown(kind)) => BookError::Packed { name, kind },
                Some(ArchiveRefusal::Broken(kind, fault)) => BookError::Archive { name, kind, fault: fault.clone() },
                Some(ArchiveRefusal::TooLarge(kind, most)) => BookError::Bomb { name, kind, mib: most >> 20 },
                None => BookError::Read { name, source },
            },
        }
    }
}

/// `bytes` after a byte order mark, if there is one.
pub(super) fn without_bom(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes)
}

/// A termination as words of a sentence.
pub(super) fn words(why: Termination) -> String {
    why.name().replace('-', " ")
}
