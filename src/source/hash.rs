//! SHA-256 in hex, of files and of keys.

use std::path::Path;

use sha2::{Digest, Sha256};

use crate::source::error::{SourceError, io_error};
use crate::text::{file_sha256, hex};

/// The hash of a file's bytes.
pub(super) fn of_file(path: &Path) -> Result<String, SourceError> {
    file_sha256(path).map_err(io_error("read", path))
}

/// The hash of a list of parts; each is preceded by its length, so that no two lists collide.
pub(super) fn of_parts<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hex(&hasher.finalize())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        assert_ne!(of_parts(["ab", "c"]), of_parts(["a", "bc"]));
        assert_eq!(of_parts([]), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }
}
