//! Errors of reading a plan.

use std::path::PathBuf;

use thiserror::Error;

use crate::text::TomlError;

/// A plan that cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the plan {}: {source}", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a plan.
    #[error("{0}")]
    Toml(TomlError),
    /// A flag has a value that a plan cannot hold, such as a path that is not UTF-8.
    #[error("a flag has a value that cannot be stored in a plan ({0}); numbers go up to {most}, and paths must be UTF-8", most = i64::MAX)]
    Value(String),
}
