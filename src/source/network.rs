//! Networks that users give engines, cached by their SHA-256. A run continues with the same bytes
//! even if the user's file changes.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files::{read_bytes, write_atomically};
use crate::plan::Network;
use crate::source::error::{SourceError, io_error};
use crate::source::hash;
use crate::text;

/// Maximum size of a network in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// Network in the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkFile {
    /// The file in the cache, absolute, with the name that the user's file has.
    pub path: PathBuf,
    /// SHA-256, in hex.
    pub sha256: String,
}

impl NetworkFile {
    /// Copies the network `path` into the cache if it is missing. A relative path starts at
    /// `cwd`.
    ///
    /// # Errors
    /// Returns an error that names the file if it cannot be read, is empty or no regular file, or
    /// if the cache cannot be written.
    pub fn keep(path: &Path, cwd: &Path, cache: &Path) -> Result<Self, SourceError> {
        let refuse = |reason: String| SourceError::Network { path: path.to_owned(), reason };
        let whole = cwd.join(path);
        let about = fs::metadata(&whole).map_err(|error| refuse(format!("{error}; give the path of a file")))?;
        if about.is_dir() {
            return Err(refuse("it is a folder; give the path of a network in it".to_owned()));
        }
        let bytes = read_bytes(&whole, MOST_BYTES).map_err(|error| refuse(error.to_string()))?;
        if bytes.is_empty() {
            return Err(refuse("it is empty; give the path of a network".to_owned()));
        }
        let (Some(name), sha256) = (whole.file_name(), text::sha256(&bytes)) else {
            return Err(refuse("it has no name; give the path of a file".to_owned()));
        };
        let folder = cache.join("networks").join(&sha256);
        let kept = folder.join(name);
        if kept != whole && fs::read(&kept).ok().as_ref() != Some(&bytes) {
            fs::create_dir_all(&folder).map_err(io_error("create", &folder))?;
            write_atomically(&kept, &bytes).map_err(io_error("write", &kept))?;
        }
        Ok(Self { path: kept, sha256 })
    }

    /// Network of a run that began earlier.
    ///
    /// # Errors
    /// Returns an error that names the file if the cache does not have it any more.
    pub fn known(network: &Network, cache: &Path) -> Result<Self, SourceError> {
        let Network { file, sha256, .. } = network;
        let path = cache.join("networks").join(sha256).join(file);
        if hash::of_file(&path).is_ok_and(|known| known == *sha256) {
            return Ok(Self { path, sha256: sha256.clone() });
        }
        let reason = format!("it is no longer in the cache; put the file with the SHA-256 {sha256} there");
        Err(SourceError::Network { path, reason })
    }

    /// Name of the user's file.
    #[must_use]
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}
