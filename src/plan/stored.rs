//! Values in a `plan.toml`, and the errors of one that cannot be read back.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// Raised when an older reader would misread the file.
pub(super) const VERSION: u32 = 1;

/// A `plan.toml` that cannot be read back.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// Not TOML, or not a plan; the message holds the place.
    #[error("{0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// Written by a newer program.
    #[error("plan format {0} is newer than this program reads ({VERSION}); update quintain")]
    Newer(u32),
    /// A value that this program would not have written.
    #[error("`{key}`: {why}")]
    Value {
        /// Where.
        key: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

/// Whether a field is left out of the file.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
pub(super) const fn is_false(value: &bool) -> bool {
    !*value
}

/// Reads a value that is stored as text.
pub(super) fn parse<T: FromStr<Err: Display>>(key: &'static str, text: &str) -> Result<T, PlanFileError> {
    text.parse().map_err(|error: T::Err| PlanFileError::Value { key, why: error.to_string() })
}

/// Reads a time that is stored in seconds.
pub(super) fn seconds(key: &'static str, value: f64) -> Result<Duration, PlanFileError> {
    Duration::try_from_secs_f64(value).map_err(|error| PlanFileError::Value { key, why: error.to_string() })
}
