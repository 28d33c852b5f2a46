//! The book of a run, and its table in `plan.toml`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::stored::PlanFileError;
use crate::openings::order::Order;

/// A book and its use in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookRef {
    /// Origin of the book.
    pub source: BookSource,
    /// SHA-256 of the book's bytes, in hex.
    pub sha256: String,
    /// Number of openings in the book.
    pub openings: u64,
    /// Order of the openings.
    pub order: Order,
    /// Position of the first opening taken, from 0.
    pub start: u64,
    /// Plies taken from each PGN game; `None` for all.
    pub plies: Option<u32>,
}

impl BookRef {
    /// Number of openings taken before one comes again, at least 1. A random order is shuffled
    /// again for its second lap, so openings skipped in the first lap are lost.
    #[must_use]
    pub const fn fresh(&self) -> u64 {
        let openings = if self.openings == 0 { 1 } else { self.openings };
        match self.order {
            Order::Sequential => openings,
            Order::Random { .. } => openings - self.start % openings,
        }
    }
}

/// Origin of a book.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BookSource {
    /// Book inside the program.
    Builtin,
    /// File on disk.
    File(PathBuf),
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BookV1 {
    /// `builtin` or `file`.
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    sha256: String,
    openings: u64,
    order: String,
    start: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    plies: Option<u32>,
}

impl From<&BookRef> for BookV1 {
    fn from(book: &BookRef) -> Self {
        let (source, path) = match &book.source {
            BookSource::Builtin => ("builtin", None),
            BookSource::File(path) => ("file", Some(path.clone())),
        };
        Self {
            source: source.to_owned(),
            path,
            sha256: book.sha256.clone(),
            openings: book.openings,
            order: match book.order {
                Order::Sequential => "sequential".to_owned(),
                Order::Random { .. } => "random".to_owned(),
            },
            start: book.start,
            plies: book.plies,
        }
    }
}

impl BookV1 {
    /// Reads the book of a run with this seed.
    pub(super) fn read(self, seed: u64) -> Result<BookRef, PlanFileError> {
        let source = match (self.source.as_str(), self.path) {
            ("builtin", None) => BookSource::Builtin,
            ("file", Some(path)) => BookSource::File(path),
            (other, _) => {
                return Err(PlanFileError::Value { key: "book.source", why: format!("`{other}` does not fit `path`") });
            }
        };
        Ok(BookRef {
            source,
            sha256: self.sha256,
            openings: self.openings,
            order: order(&self.order, seed)?,
            start: self.start,
            plies: self.plies,
        })
    }
}

fn order(text: &str, seed: u64) -> Result<Order, PlanFileError> {
    match text {
        "sequential" => Ok(Order::Sequential),
        "random" => Ok(Order::Random { seed }),
        other => {
            Err(PlanFileError::Value { key: "book.order", why: format!("`{other}` is neither sequential nor random") })
        }
    }
}
