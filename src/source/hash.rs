//! SHA-256 in hex.

use std::fmt::Write as _;
use std::path::Path;

use sha2::{Digest, Sha256};

use super::SourceError;

/// Of a text.
pub(super) fn text(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// Of a file.
pub(super) fn file(path: &Path) -> Result<String, SourceError> {
    let bytes = std::fs::read(path).map_err(|source| SourceError::Program { path: path.to_owned(), source })?;
    Ok(hex(&Sha256::digest(&bytes)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
