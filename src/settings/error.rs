//! Errors of reading a plan.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::text::TomlError;

/// A plan that cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the plan {}: {source}{}", path.display(), engine_hint(path, source))]
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

/// Advice on a file that is no text, or too long for one, and so may be an engine.
fn engine_hint(path: &Path, error: &std::io::Error) -> &'static str {
    let may_be_program = match error.kind() {
        ErrorKind::InvalidData => true,
        ErrorKind::InvalidInput => path.is_file(),
        _ => false,
    };
    if may_be_program {
        "; is it an engine? Name engines by flags, as in `quintain sprt --new ./new --base ./base`"
    } else {
        ""
    }
}
