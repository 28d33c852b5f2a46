//! SHA-256 of files.

use super::error::DataError;
use quintain::files::open_input;
use quintain::text::hex;
use sha2::{Digest as _, Sha256};
use std::io::Read as _;
use std::path::Path;

/// Computes the SHA-256 of a file's bytes as hexadecimal digits.
///
/// # Errors
/// Fails if the file cannot be read.
pub fn sha256_of(path: &Path) -> Result<String, DataError> {
    let mut file = open_input(path).map_err(DataError::io(path, "read it"))?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut buffer).map_err(DataError::io(path, "read it"))?;
        if count == 0 {
            break;
        }
        digest.update(&buffer[..count]);
    }
    Ok(hex(&digest.finalize()))
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
