//! How a tree is built: `quintain.toml` in it, or what its files suggest.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::SourceError;
use super::git::Repository;

/// The file's name.
const FILE_NAME: &str = "quintain.toml";

/// How to build an engine and what decides whether two states of the repository are the same program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipe {
    /// Run by `sh -c` in the tree, with `CARGO_TARGET_DIR` set to a folder of its own.
    pub(super) command: String,
    /// The program, relative to the tree; `target/...` is looked up in that folder.
    pub(super) binary: String,
    /// Paths that decide what the program is; empty for the whole tree.
    pub(super) sources: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    /// Arguments for the signature; `None` for an engine without.
    pub(super) bench: Option<String>,
    /// UCI options that the engine is always tested with.
    pub(super) options: Vec<(String, String)>,
    /// What tells one compiler from another.
    pub(super) toolchain: &'static [&'static str],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    build: Build,
    #[serde(default)]
    engine: Engine,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Build {
    command: String,
    binary: String,
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct Engine {
    bench: Option<String>,
    options: BTreeMap<String, toml::Value>,
}

const RUSTC: &[&str] = &["rustc", "-vV"];
const CC: &[&str] = &["cc", "--version"];

impl Recipe {
    /// The recipe of `commit`.
    pub(super) fn of(repository: &Repository, commit: &str) -> Result<Self, SourceError> {
        if let Some(text) = repository.file_at(commit, FILE_NAME) {
            return Self::parse(&text).map_err(|why| SourceError::Recipe { commit: short(commit), why });
        }
        if let Some(manifest) = repository.file_at(commit, "Cargo.toml") {
            return Ok(Self::cargo(&manifest));
        }
        if ["Makefile", "makefile", "src/Makefile"].iter().any(|path| repository.object_at(commit, path).is_some()) {
            let in_src = repository.object_at(commit, "src/Makefile").is_some();
            return Ok(Self::make(if in_src { "src" } else { "." }));
        }
        Err(SourceError::NoRecipe { commit: short(commit) })
    }

    /// True where a commit states its recipe itself.
    pub(super) fn stands_in(repository: &Repository, commit: &str) -> bool {
        repository.object_at(commit, FILE_NAME).is_some()
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.get(..at).unwrap_or_default().matches('\n').count() + 1;
            format!("line {line}: {}", error.message().replace('\n', " "))
        })?;
        let options = file.engine.options.into_iter().map(|(name, value)| match value {
            toml::Value::String(text) => (name, text),
            other => (name, other.to_string()),
        });
        let rust = file.build.command.contains("cargo") || file.build.command.contains("rustc");
        Ok(Self {
            command: file.build.command,
            binary: file.build.binary,
            sources: file.build.sources,
            env: file.build.env,
            bench: file.engine.bench.filter(|words| !words.is_empty()),
            options: options.collect(),
            toolchain: if rust { RUSTC } else { CC },
        })
    }

    /// A Cargo package whose program has the package's name.
    fn cargo(manifest: &str) -> Self {
        #[derive(Deserialize)]
        struct Manifest {
            package: Option<Package>,
        }
        #[derive(Deserialize)]
        struct Package {
            name: String,
        }
        let name = toml::from_str::<Manifest>(manifest).ok().and_then(|m| m.package).map(|package| package.name);
        Self {
            command: "cargo build --release".to_owned(),
            binary: format!("target/release/{}", name.as_deref().unwrap_or("engine")),
            sources: Vec::new(),
            env: BTreeMap::new(),
            bench: Some("bench".to_owned()),
            options: Vec::new(),
            toolchain: RUSTC,
        }
    }

    /// `make EXE=...`, the form that testing frameworks have made common.
    fn make(folder: &str) -> Self {
        Self {
            command: format!("make -C {folder} -j EXE=quintain-engine"),
            binary: format!("{folder}/quintain-engine"),
            sources: Vec::new(),
            env: BTreeMap::new(),
            bench: Some("bench".to_owned()),
            options: Vec::new(),
            toolchain: CC,
        }
    }

    /// What decides whether two commits are the same program: the ids of their sources.
    pub(super) fn identity(&self, repository: &Repository, commit: &str) -> Vec<Option<String>> {
        if self.sources.is_empty() {
            return vec![repository.object_at(commit, "")];
        }
        self.sources.iter().map(|path| repository.object_at(commit, path.trim_end_matches('/'))).collect()
    }
}

/// The first ten digits of a commit.
pub(super) fn short(commit: &str) -> String {
    commit.chars().take(10).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recipes_parse_and_faults_name_their_line() {
        let recipe = Recipe::parse(
            "[build]\ncommand = \"cargo build\"\nbinary = \"target/x\"\nsources = [\"engine\"]\n[engine]\nbench = \"bench\"\noptions = { Hash = 16 }\n",
        )
        .unwrap();
        assert_eq!((recipe.bench.as_deref(), recipe.toolchain), (Some("bench"), RUSTC));
        assert_eq!(recipe.options, [("Hash".to_owned(), "16".to_owned())]);
        let error = Recipe::parse("[build]\ncommand = \"make\"\nbinray = \"x\"\n").unwrap_err();
        assert!(error.starts_with("line 3: unknown field `binray`"), "{error}");
        let error = Recipe::parse("[build]\ncommand = \"make\"\n").unwrap_err();
        assert!(error.contains("missing field `binary`"), "{error}");
    }

    #[test]
    fn this_repository_has_a_recipe() {
        let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/quintain.toml")).unwrap();
        let recipe = Recipe::parse(&text).unwrap();
        assert_eq!(recipe.sources, ["engine"]);
    }
}
