//! Errors of reading a plan.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::settings::PRESETS;
use crate::text::TomlError;

/// A plan that cannot be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("cannot read the plan {}: {source}{}", path.display(), hint(path, source))]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// The file is not a plan.
    #[error("{0}")]
    Toml(TomlError),
    /// A flag has a number that is too large for TOML.
    #[error("--{flag} {number}: it cannot be stored in a plan; give a number up to {most}", most = i64::MAX)]
    Number {
        /// Name of the flag.
        flag: String,
        /// The number.
        number: u64,
    },
    /// A flag has a path that is not UTF-8.
    #[error("--{flag}: a path that is not UTF-8 cannot be stored in a plan; rename the file or its folder")]
    Path {
        /// Name of the flag.
        flag: String,
    },
    /// A value that a plan cannot hold for another reason.
    #[error("a flag has a value that cannot be stored in a plan ({0})")]
    Value(String),
}

/// Advice on a preset that is missing, and on a file that is no text, or too long for one, and so
/// may be an engine.
fn hint(path: &Path, error: &std::io::Error) -> String {
    let may_be_program = match error.kind() {
        ErrorKind::InvalidData => true,
        ErrorKind::InvalidInput => path.is_file(),
        ErrorKind::NotFound => {
            let preset = PRESETS.iter().find(|(preset, _)| Path::new(preset).file_name() == path.file_name());
            return preset
                .map_or_else(String::new, |(preset, _)| format!("; `quintain init --presets` writes {preset}"));
        }
        _ => false,
    };
    if may_be_program {
        "; is it an engine? Name engines by flags, as in `quintain sprt --new ./new --base ./base`".to_owned()
    } else {
        String::new()
    }
}
