//! `engines.toml`: names for engines that are installed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::SourceError;

/// An engine with a name.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Entry {
    /// A path, or a program on the `PATH`.
    pub(super) command: String,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) dir: Option<PathBuf>,
    #[serde(default)]
    options: BTreeMap<String, toml::Value>,
}

impl Entry {
    /// UCI options that the engine is always given.
    pub(super) fn options(&self) -> Vec<(String, String)> {
        let text = |value: &toml::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.options.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    engines: BTreeMap<String, Entry>,
}

/// All names known from `cwd`: those of `configs/engines.toml` there or in a folder above, then the user's own.
pub(super) fn load(cwd: &Path) -> Result<BTreeMap<String, Entry>, SourceError> {
    let project = cwd.ancestors().map(|dir| dir.join("configs/engines.toml")).find(|path| path.is_file());
    let config = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let config = config.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".config")));
    let user = config.map(|dir| dir.join("quintain/engines.toml")).filter(|path| path.is_file());
    let mut engines = BTreeMap::new();
    for path in [user, project].into_iter().flatten() {
        engines.append(&mut read(&path)?);
    }
    Ok(engines)
}

fn read(path: &Path) -> Result<BTreeMap<String, Entry>, SourceError> {
    let fault = |line: usize, why: String| SourceError::Registry { path: path.to_owned(), line, why };
    let text = std::fs::read_to_string(path).map_err(|error| fault(1, error.to_string()))?;
    let file: File = toml::from_str(&text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        fault(line, error.message().replace('\n', " "))
    })?;
    Ok(file.engines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_registry_reads() {
        let engines = load(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(engines.contains_key("stockfish"));
    }
}
