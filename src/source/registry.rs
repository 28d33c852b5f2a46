//! Engines by name: `configs/engines.toml` of the project and `~/.config/quintain/engines.toml` of the user.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::plan::config::{from_toml, nearest, options};
use crate::source::error::{SourceError, io_error};

/// The engines known by name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    engines: BTreeMap<String, Engine>,
    files: Vec<PathBuf>,
}

/// An entry of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// A name to look up on PATH, or an absolute path.
    pub command: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// UCI options.
    pub options: Vec<(String, String)>,
    /// Where it runs.
    pub dir: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawFile {
    #[serde(default)]
    engines: BTreeMap<String, RawEngine>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawEngine {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default, deserialize_with = "options")]
    options: Vec<(String, String)>,
    dir: Option<String>,
}

impl Registry {
    /// Reads the registries that `cwd` sees; the project's entries win over the user's. Missing files are no error.
    ///
    /// # Errors
    /// When a file cannot be read or is not of the registry's form.
    pub fn load(cwd: &Path) -> Result<Self, SourceError> {
        let project = cwd.ancestors().map(|dir| dir.join("configs/engines.toml")).find(|path| path.is_file());
        let user = home().map(|home| home.join(".config/quintain/engines.toml"));
        let mut registry = Self::default();
        for path in project.into_iter().chain(user) {
            registry.add(&path)?;
        }
        Ok(registry)
    }

    fn add(&mut self, path: &Path) -> Result<(), SourceError> {
        let text = match std::fs::read_to_string(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            read => read.map_err(io_error("read", path))?,
        };
        let file: RawFile = from_toml(path, &text)?;
        let folder = path.parent().unwrap_or(path);
        for (name, raw) in file.engines {
            let command =
                if raw.command.contains('/') { place(folder, &raw.command) } else { PathBuf::from(raw.command) };
            let dir = raw.dir.map(|dir| place(folder, &dir));
            self.engines.entry(name).or_insert(Engine { command, args: raw.args, options: raw.options, dir });
        }
        self.files.push(path.to_path_buf());
        Ok(())
    }

    /// The entry of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Engine> {
        self.engines.get(name)
    }

    /// Every entry by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Engine)> {
        self.engines.iter().map(|(name, engine)| (name.as_str(), engine))
    }

    /// The error for a name that neither the registry nor PATH has.
    pub(super) fn unknown(&self, name: &str) -> SourceError {
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        let registries = if files.is_empty() { "configs/engines.toml".to_owned() } else { files.join(", ") };
        let near: Vec<String> = nearest(name, self.engines.keys().map(String::as_str))
            .into_iter()
            .map(|near| format!("`{near}`"))
            .collect();
        let hint = if near.is_empty() {
            format!("; add [engines.{name}] with its command, or write ./{name} for a file")
        } else {
            format!("; did you mean {}?", near.join(" or "))
        };
        SourceError::UnknownName { name: name.to_owned(), registries, hint }
    }
}

/// `text` as a path seen from `folder`, with `~/` for the home directory.
fn place(folder: &Path, text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(text),
    }
}

pub(super) fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

/// The first executable of this name on PATH.
pub(super) fn on_path(name: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).find(|file| executable(file))
}

/// True for a file that someone may execute.
pub(super) fn executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_registry_parses() {
        let mut registry = Registry::default();
        registry.add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/engines.toml")).unwrap();
        assert_eq!(registry.get("gnuchess").unwrap().args, ["--uci"]);
        assert_eq!(registry.get("toga2").unwrap().options, [("OwnBook".to_owned(), "false".to_owned())]);
        let error = registry.unknown("stokfish").to_string();
        assert!(error.ends_with("; did you mean `stockfish`?"), "{error}");
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engines.toml");
        std::fs::write(&path, "[engines.a]\ncommand = \"bin/a\"\ndir = \"d\"\n").unwrap();
        let mut registry = Registry::default();
        registry.add(&path).unwrap();
        let engine = registry.get("a").unwrap();
        assert_eq!(engine.command, folder.path().join("bin/a"));
        assert_eq!(engine.dir, Some(folder.path().join("d")));
        std::fs::write(&path, "[engines.a]\ncommand = \"a\"\nargz = []\n").unwrap();
        let error = registry.add(&path).unwrap_err().to_string();
        assert!(error.ends_with("engines.toml:3:1: unknown key `argz`, did you mean `args`?"), "{error}");
    }
}
