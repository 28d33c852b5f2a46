//! Values in a `plan.toml`, and the errors of one that cannot be read back.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// Version of the file. It rises if an older reader would misread it.
pub(super) const VERSION: u32 = 1;

/// A `plan.toml` that cannot be read back.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// Text that is no TOML or no plan; the message holds the position.
    #[error("{0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// File written by a newer program.
    #[error("plan format {0} is newer than this program reads ({VERSION}); update quintain")]
    Newer(u32),
    /// Value that this program would not have written.
    #[error("`{key}`: {why}")]
    Value {
        /// Key of the value.
        key: &'static str,
        /// Fault in words.
        why: String,
    },
}

/// True if a switch is off, and its key is left out of the file.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(super) const fn is_false(value: &bool) -> bool {
    !*value
}

/// Parses a value that is stored as text.
pub(super) fn parse<T: FromStr<Err: Display>>(key: &'static str, text: &str) -> Result<T, PlanFileError> {
    text.parse().map_err(|error: T::Err| PlanFileError::Value { key, why: error.to_string() })
}

/// Converts a time that is stored in seconds.
pub(super) fn seconds(key: &'static str, value: f64) -> Result<Duration, PlanFileError> {
    Duration::try_from_secs_f64(value).map_err(|error| PlanFileError::Value { key, why: error.to_string() })
}
