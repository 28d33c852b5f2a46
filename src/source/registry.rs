//! Engines by name: `configs/engines.toml` of the project, and `engines.toml` in the user's folder
//! of settings.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::files::{MOST_DOCUMENT_BYTES, config_folder, read_input};
use crate::os;
use crate::plan::time_control::LimitKind;
use crate::source::error::{SourceError, io_error};
use crate::source::recipe::{RawBuild, Recipe};
use crate::source::spec::is_url;
use crate::text::{OptionTable, TomlError, from_toml, nearest, options};

/// The engines known by name.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    engines: BTreeMap<String, RegistryEntry>,
    files: Vec<PathBuf>,
}

/// An entry of the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegistryEntry {
    /// Origin of its program.
    pub origin: EntryOrigin,
    /// Its arguments.
    pub args: Vec<String>,
    /// UCI options.
    pub options: Vec<(String, String)>,
    /// Directory in which it runs.
    pub dir: Option<PathBuf>,
    /// The user's description, on one line.
    pub description: Option<String>,
    /// The user's estimate of its strength; not used in computations.
    pub elo: Option<i32>,
    /// The limits it obeys; `None` if that is not known.
    pub limits: Option<Vec<LimitKind>>,
}

/// Origin of an engine's program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryOrigin {
    /// A name to look up on PATH, or an absolute path.
    Command(PathBuf),
    /// Built from Git.
    Git {
        /// A URL, or an absolute path.
        place: String,
        /// A commit, branch or tag.
        rev: String,
        /// The build, if its tree does not describe it.
        recipe: Option<Box<Recipe>>,
    },
}

/// An `engines.toml` as written.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawRegistry {
    /// Engines by name.
    #[serde(default)]
    engines: BTreeMap<String, RawEntry>,
}

/// Engine of the registry: a program (`command`), or sources (`git`).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawEntry {
    /// Program: a name to look up on PATH, or a path relative to this file.
    command: Option<String>,
    /// Repository: a URL, or a path relative to this file.
    git: Option<String>,
    /// Commit, branch or tag of the repository [default: HEAD].
    rev: Option<String>,
    /// Build, if the tree does not say it.
    build: Option<RawBuild>,
    /// Arguments that run its bench; empty for none [default: bench].
    bench: Option<String>,
    /// Arguments of the program.
    #[serde(default)]
    args: Vec<String>,
    /// UCI options.
    #[serde(default, deserialize_with = "options")]
    #[schemars(with = "OptionTable")]
    options: Vec<(String, String)>,
    /// Folder in which it runs.
    dir: Option<String>,
    /// Remark on it, on one line.
    description: Option<String>,
    /// Strength as the user knows it; nothing is computed from it.
    elo: Option<i32>,
    /// Limits that it obeys [default: all].
    limits: Option<Vec<LimitKind>>,
}

impl RawEntry {
    /// Resolves the entry's paths relative to `folder`; the error is the wrong key and the fault.
    fn check(self, folder: &Path) -> Result<RegistryEntry, (&'static str, String)> {
        let of_git = [("rev", self.rev.is_some()), ("build", self.build.is_some()), ("bench", self.bench.is_some())];
        let origin = match (self.command, self.git) {
            (Some(command), None) => {
                if let Some((key, _)) = of_git.into_iter().find(|(_, is_set)| *is_set) {
                    return Err((key, format!("`{key}` is for engines that are built; remove it, or write `git`")));
                }
                let is_path = command.contains(std::path::is_separator);
                EntryOrigin::Command(if is_path { seen_from(folder, &command) } else { command.into() })
            }
            (None, Some(git)) => {
                if git.is_empty() || git.starts_with('-') {
                    return Err(("git", format!("`git` is `{git}`; write a path or a URL")));
                }
                let rev = self.rev.unwrap_or_else(|| "HEAD".to_owned());
                if rev.is_empty() || rev.starts_with('-') || rev.contains(char::is_whitespace) {
                    return Err(("rev", format!("`rev` is `{rev}`; write a commit, branch or tag")));
                }
                if self.bench.is_some() && self.build.is_none() {
                    return Err(("bench", "`bench` is part of a recipe; write `build` too".to_owned()));
                }
                let recipe = self.build.map(|build| Recipe::checked(build, self.bench)).transpose()?.map(Box::new);
                let place = if is_url(&git) { git } else { seen_from(folder, &git).to_string_lossy().into_owned() };
                EntryOrigin::Git { place, rev, recipe }
            }
            (Some(_), Some(_)) => return Err(("git", "`command` and `git` exclude each other; remove one".to_owned())),
            (None, None) => return Err(("", "it has no `command` and no `git`; write one of them".to_owned())),
        };
        if self.limits.as_ref().is_some_and(Vec::is_empty) {
            let all = "write those it obeys, as [\"clock\", \"movetime\"], or leave it out";
            return Err(("limits", format!("`limits` is empty, so the engine could not play; {all}")));
        }
        Ok(RegistryEntry {
            origin,
            args: self.args,
            options: self.options,
            dir: self.dir.map(|dir| seen_from(folder, &dir)),
            description: self.description,
            elo: self.elo,
            limits: self.limits,
        })
    }
}

impl Registry {
    /// Reads the registries that apply in `cwd`; the project's entries win over the user's. Missing
    /// files are not an error.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read or is malformed.
    pub fn load(cwd: &Path) -> Result<Self, SourceError> {
        let project = cwd.ancestors().map(|dir| dir.join("configs/engines.toml")).find(|path| path.is_file());
        let user = config_folder().map(|folder| folder.join("engines.toml"));
        let mut registry = Self::default();
        for path in project.into_iter().chain(user) {
            registry.add(&path)?;
        }
        Ok(registry)
    }

    fn add(&mut self, path: &Path) -> Result<(), SourceError> {
        let text = match read_input(path, MOST_DOCUMENT_BYTES) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            read => read.map_err(io_error("read", path))?,
        };
        let file: RawRegistry = from_toml(path, &text)?;
        let folder = path.parent().unwrap_or(path);
        for (name, raw) in file.engines {
            let checked = check_name(&name).and_then(|()| raw.check(folder));
            let engine = checked.map_err(|(key, message)| TomlError {
                path: path.to_path_buf(),
                line: line_of(&text, &name, key),
                column: 1,
                message: format!("engine `{name}`: {message}"),
            })?;
            self.engines.entry(name).or_insert(engine);
        }
        self.files.push(path.to_path_buf());
        Ok(())
    }

    /// The entry of this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RegistryEntry> {
        self.engines.get(name)
    }

    /// The recipe of an entry built from `repository`; `place` is the user's name for it.
    pub(super) fn recipe(&self, place: Option<&str>, repository: &Path) -> Option<&Recipe> {
        let real = |path: &Path| path.canonicalize().ok();
        self.engines.values().find_map(|engine| match &engine.origin {
            EntryOrigin::Git { place: known, recipe: Some(recipe), .. } => {
                let is_it = place == Some(known.as_str())
                    || (!is_url(known) && real(Path::new(known)).is_some_and(|known| real(repository) == Some(known)));
                is_it.then_some(&**recipe)
            }
            _ => None,
        })
    }

    /// The files that were read.
    #[must_use]
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Every entry by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RegistryEntry)> {
        self.engines.iter().map(|(name, engine)| (name.as_str(), engine))
    }

    /// Heading of an entry in the file, `[engines.NAME]`, with the name in quotes if it needs them.
    #[must_use]
    pub fn heading(name: &str) -> String {
        let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        if !name.is_empty() && name.chars().all(is_bare) {
            return format!("[engines.{name}]");
        }
        format!("[engines.\"{}\"]", name.replace('\\', "\\\\").replace('"', "\\\""))
    }

    /// Proposal of the command that writes a registry, to end a sentence; empty if there is a
    /// registry, which the command would not replace.
    #[must_use]
    pub fn sparring_hint(&self) -> &'static str {
        if self.files.is_empty() { ", or `quintain init --sparring` for packaged opponents" } else { "" }
    }

    /// The error for a name found neither in the registry nor on PATH.
    pub(super) fn unknown(&self, name: &str) -> SourceError {
        let files: Vec<String> = self.files.iter().map(|path| path.display().to_string()).collect();
        let registries = if files.is_empty() { "configs/engines.toml".to_owned() } else { files.join(", ") };
        let near: Vec<String> = nearest(name, self.engines.keys().map(String::as_str))
            .into_iter()
            .map(|near| format!("`{near}`"))
            .collect();
        let hint = if near.is_empty() {
            let heading = Self::heading(name);
            format!("; add {heading} with its command, or write ./{name} for a file{}", self.sparring_hint())
        } else {
            format!("; did you mean {}?", near.join(" or "))
        };
        SourceError::UnknownName { name: name.to_owned(), registries, hint }
    }
}

/// Refuses a name that no spec can mean. The error is like that of [`RawEntry::check`], without a
/// key.
fn check_name(name: &str) -> Result<(), (&'static str, String)> {
    let reason = if name.trim().is_empty() {
        "a spec is never empty"
    } else if name.trim() != name {
        "a spec has no blanks at its ends"
    } else if name == "." {
        "the spec `.` is the working tree"
    } else if name.starts_with("git:") {
        "a spec that begins with `git:` is a revision"
    } else if name.contains(std::path::is_separator) {
        "a spec with a path separator is a file"
    } else {
        return Ok(());
    };
    Err(("", format!("{reason}, so this name is never found; rename the engine")))
}

/// The line of an entry's key, else of the entry, from 1.
fn line_of(text: &str, engine: &str, key: &str) -> usize {
    let heads = ["", "\"", "'"].map(|quote| format!("[engines.{quote}{engine}{quote}"));
    let is_head =
        |line: &str| heads.iter().any(|head| line.strip_prefix(head).is_some_and(|rest| rest.starts_with([']', '.'])));
    let lines = || text.lines().map(str::trim_start).enumerate();
    let Some((head, _)) = lines().find(|(_, line)| is_head(line)) else { return 1 };
    let own = lines().skip(head + 1).take_while(|(_, line)| !line.starts_with('[') || is_head(line));
    let is_key = |line: &str| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']));
    let found = own.filter(|(_, line)| !key.is_empty() && is_key(line)).map(|(at, _)| at).next();
    found.unwrap_or(head) + 1
}

/// `text` as a path relative to `folder`, with `~/` for the home directory.
fn seen_from(folder: &Path, text: &str) -> PathBuf {
    match (text.strip_prefix("~/"), os::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => folder.join(text),
    }
}

/// Folders searched after those of PATH: Debian installs engines there, and root's PATH leaves them
/// out.
pub const GAMES_FOLDERS: [&str; 2] = ["/usr/games", "/usr/local/games"];

/// The first executable of this name on PATH, else in a folder for games.
pub(super) fn on_path(name: &Path) -> Option<PathBuf> {
    find_program(name, &std::env::var_os("PATH").unwrap_or_default(), &GAMES_FOLDERS.map(Path::new))
}

/// The first executable of this name in the absolute folders of `path`, a value of PATH, else in
/// those `beyond`.
#[must_use]
pub fn find_program(name: &Path, path: &OsStr, beyond: &[&Path]) -> Option<PathBuf> {
    let dirs = std::env::split_paths(path).chain(beyond.iter().map(PathBuf::from));
    let names = os::program_names(name);
    let mut files = dirs
        .filter(|dir| dir.is_absolute())
        .flat_map(|dir| names.iter().map(move |name| dir.join(name)).collect::<Vec<_>>());
    files.find(|file| os::is_executable(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_found_on_the_path_first_and_then_beyond_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let [a, b, servers] = ["a", "b", "sbin"].map(|name| folder.path().join(name));
        for folder in [&a, &b, &servers] {
            std::fs::create_dir(folder).unwrap();
        }
        let path = std::env::join_paths([&a, &b]).unwrap();
        let find = || find_program(Path::new("server"), &path, &[&servers]);
        assert_eq!(find(), None);
        for place in [&servers, &b, &a] {
            let program = place.join("server");
            let before = find();
            std::fs::write(&program, "").unwrap();
            assert_eq!(find(), before, "it cannot be executed");
            std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(find(), Some(program));
        }
    }

    #[test]
    fn the_shipped_registry_parses() {
        let mut registry = Registry::default();
        registry.add(&Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/engines.toml")).unwrap();
        assert_eq!(registry.get("gnuchess").unwrap().args, ["--uci"]);
        assert_eq!(registry.get("toga2").unwrap().options, [("OwnBook".to_owned(), "false".to_owned())]);
        let timed = [LimitKind::Clock, LimitKind::Movetime, LimitKind::Depth];
        assert_eq!(registry.get("toga2").unwrap().limits.as_deref(), Some(&timed[..]));
        assert_eq!(registry.get("stockfish").unwrap().limits, None);
        let error = registry.unknown("stokfish").to_string();
        assert!(error.ends_with("; did you mean `stockfish`?"), "{error}");
        let proposes =
            |registry: &Registry| registry.unknown("nothing").to_string().contains("quintain init --sparring");
        // The command would not replace a registry that exists.
        assert!(proposes(&Registry::default()) && !proposes(&registry));
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engines.toml");
        std::fs::write(&path, "[engines.a]\ncommand = \"bin/a\"\ndir = \"d\"\n").unwrap();
        let mut registry = Registry::default();
        registry.add(&path).unwrap();
        let engine = registry.get("a").unwrap();
        assert_eq!(engine.origin, EntryOrigin::Command(folder.path().join("bin/a")));
        assert_eq!(engine.dir, Some(folder.path().join("d")));
        std::fs::write(&path, "[engines.a]\ncommand = \"a\"\nargz = []\n").unwrap();
        let error = registry.add(&path).unwrap_err().to_string();
        assert!(error.ends_with("engines.toml:3:1: unknown key `argz`, did you mean `args`?"), "{error}");
    }

    #[test]
    fn a_name_that_no_spec_can_mean_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engines.toml");
        let read = |key: &str| {
            std::fs::write(&path, format!("\n[engines.{key}]\ncommand = \"a\"\n")).unwrap();
            Registry::default().add(&path).map_err(|error| error.to_string())
        };
        for (key, words) in [
            ("\"a/b\"", "engine `a/b`: a spec with a path separator is a file, so this name is never found; rename"),
            ("'.'", "engine `.`: the spec `.` is the working tree"),
            ("\"git:main\"", "engine `git:main`: a spec that begins with `git:` is a revision"),
            ("' a'", "engine ` a`: a spec has no blanks at its ends"),
            ("\"\"", "engine ``: a spec is never empty"),
        ] {
            let error = read(key).unwrap_err();
            assert!(error.contains("engines.toml:2:1: ") && error.contains(words), "{error}");
        }
        for key in ["\"Stockfish 15\"", "'a.b'", "\"Bob's\"", "a-b_1"] {
            assert_eq!(read(key), Ok(()), "{key}");
        }
    }

    #[test]
    fn a_heading_is_read_back() {
        let headings = ["a-b_1", "Stockfish 15", "a.b"].map(Registry::heading);
        assert_eq!(headings, ["[engines.a-b_1]", "[engines.\"Stockfish 15\"]", "[engines.\"a.b\"]"]);
        let read: toml::Table = Registry::heading("Bob's \"own\"").parse().unwrap();
        assert!(read["engines"].as_table().unwrap().contains_key("Bob's \"own\""), "{read}");
    }

    #[test]
    fn engines_are_commands_or_built() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("engines.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let mut registry = Registry::default();
            registry.add(&path).map(|()| registry).map_err(|error| error.to_string())
        };
        let text = "[engines.b]\ngit = \"../b\"\nrev = \"v1\"\nbench = \"\"\ndescription = \"old\"\nelo = 2500\n\
                    [engines.b.build]\ncommand = \"make\"\nbinary = \"b\"\n[engines.c]\ngit = \"https://host/c\"\n";
        let registry = read(text).unwrap();
        let b = registry.get("b").unwrap();
        assert_eq!((b.description.as_deref(), b.elo), (Some("old"), Some(2500)));
        let EntryOrigin::Git { place, rev, recipe: Some(recipe) } = &b.origin else { panic!("{b:?}") };
        assert_eq!((Path::new(place), rev.as_str()), (folder.path().join("../b").as_path(), "v1"));
        assert_eq!((recipe.command.as_str(), recipe.bench.as_str()), ("make", ""));
        let c = EntryOrigin::Git { place: "https://host/c".to_owned(), rev: "HEAD".to_owned(), recipe: None };
        assert_eq!(registry.get("c").unwrap().origin, c);
        assert_eq!(registry.recipe(Some(place), Path::new("/nowhere")), Some(&**recipe));
        assert_eq!(registry.recipe(Some("https://host/c"), Path::new("/nowhere")), None);
        for (text, words) in [
            ("\n[engines.a]\nargs = []\n", "engines.toml:2:1: engine `a`: it has no `command` and no `git`"),
            ("[engines.a]\ncommand = \"a\"\ngit = \"a\"\n", ":3:1: engine `a`: `command` and `git` exclude"),
            ("[engines.a]\ncommand = \"a\"\nrev = \"a\"\n", ":3:1: engine `a`: `rev` is for engines that are built"),
            ("[engines.a]\ncommand = \"a\"\nlimits = []\n", ":3:1: engine `a`: `limits` is empty"),
            ("[engines.a]\ncommand = \"a\"\nlimits = [\"time\"]\n", "unknown variant `time`"),
            ("[engines.a]\ngit = \"a\"\nrev = \"--x\"\n", ":3:1: engine `a`: `rev` is `--x`"),
            ("[engines.a]\ngit = \"--upload-pack=x\"\n", ":2:1: engine `a`: `git` is"),
            (
                "[engines.a]\ngit = \"a\"\n[engines.a.build]\ncommand = \"make\"\nbinary = \"/x\"\n",
                ":5:1: engine `a`: `binary` is `/x`",
            ),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(words), "{error}");
        }
    }
}
