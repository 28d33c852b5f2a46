//! SHA-256 of files.

use super::error::DataError;
use quintain::files::open_input;
use quintain::text;
use std::path::Path;

/// Computes the SHA-256 of a file's bytes as hexadecimal digits.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn sha256_of(path: &Path) -> Result<String, DataError> {
    open_input(path).and_then(text::sha256_of).map_err(DataError::io(path, "read it"))
}

/// Returns the files that the options of an engine name, which are its networks, with the SHA-256
/// of each: another file under the same name is another engine. Logs are none.
///
/// # Errors
/// Fails if a file cannot be read.
pub fn networks_of<'a>(
    options: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<(&'a Path, String)>, DataError> {
    options
        .filter(|(name, _)| !name.to_ascii_lowercase().contains("log"))
        .map(|(_, value)| Path::new(value))
        .filter(|path| path.is_file())
        .map(|path| Ok((path, sha256_of(path)?)))
        .collect()
}
