//! Files of runs, written whole: a kill leaves the old file or the new one.

use super::error::DataError;
use anyhow::Context as _;
use serde::{Serialize, de::DeserializeOwned};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// Replaces a file atomically: writes a temporary file, flushes it to disk and renames it.
///
/// # Errors
/// [`DataError::Io`].
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> Result<(), DataError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".part");
    let part = path.with_file_name(name);
    let write = || {
        let mut file = File::create(&part)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&part, path)
    };
    write().map_err(DataError::io(path, "write it"))
}

/// Writes texts as files of a folder, each with one line end behind it.
///
/// # Errors
/// [`DataError::Io`].
pub(crate) fn write_texts(folder: &Path, texts: &[(&str, impl AsRef<str>)]) -> Result<(), DataError> {
    for (name, text) in texts {
        replace(&folder.join(name), format!("{}\n", text.as_ref().trim_end()).as_bytes())?;
    }
    Ok(())
}

/// Reads a row of a table from its JSON file; `None` if there is no file. `whose` names what the
/// row is of, as in "cell".
///
/// # Errors
/// Fails if the file cannot be read or is damaged.
pub(crate) fn read_row<T: DeserializeOwned>(path: &Path, whose: &str) -> anyhow::Result<Option<T>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(DataError::io(path, "read it")(error).into()),
    };
    serde_json::from_str(&text)
        .map(Some)
        .with_context(|| format!("{}: it is damaged; remove it to do the {whose}'s stages again", path.display()))
}

/// Writes a row of a table as JSON.
///
/// # Errors
/// Fails if the file cannot be written.
pub(crate) fn write_row(path: &Path, row: &impl Serialize) -> anyhow::Result<()> {
    let text = serde_json::to_string_pretty(row).context("a row is no JSON")? + "\n";
    Ok(replace(path, text.as_bytes())?)
}
