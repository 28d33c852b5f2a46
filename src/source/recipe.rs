//! Recipes: the build of a tree by its `quintain.toml`, its Cargo.toml or its Makefile.

use std::collections::BTreeMap;
use std::path::{Component, Path};

use schemars::JsonSchema;
use serde::Deserialize;

use super::patch::Template;
use crate::text::{OptionTable, TomlError, from_toml, options};

/// Files whose changes do not change the engine, unless the recipe has its own `exclude`: texts,
/// and files for forges only.
const TEXTS: [&str; 9] =
    ["*.md", "LICENSE*", "LICENCE*", "COPYING*", "AUTHORS*", "CHANGELOG*", ".gitignore", ".gitattributes", ".github"];

/// Files at the root that affect every build, wherever the engine's sources are: the compiler, its
/// flags, profiles and versions of dependencies. They are in a build's key but not among the
/// sources. A new version of another crate in the workspace, such as a test harness, does not make
/// a different engine.
pub(super) const PINS: [&str; 11] = [
    "rust-toolchain.toml",
    "rust-toolchain",
    ".cargo/config.toml",
    ".cargo/config",
    "Cargo.toml",
    "Cargo.lock",
    "GNUmakefile",
    "makefile",
    "Makefile",
    "CMakeLists.txt",
    "meson.build",
];

/// Variable that names the network to build in, as testing frameworks have it.
pub(super) const EVALFILE: &str = "EVALFILE";

/// Build of a tree, and properties of its engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// Run by `sh -c` at the root of the tree.
    pub command: String,
    /// Path of the program it makes, relative to the root; in Cargo's target folder if it begins
    /// with `target/`.
    pub binary: String,
    /// Paths whose content identifies the engine; empty for the whole tree. Lock files, profiles
    /// and the like at the root lead to a new build even if they are not listed.
    pub sources: Vec<String>,
    /// Patterns of files among the sources whose changes make no different engine, as in a
    /// `.gitignore`: a name at any depth, or a path from the root. A change to such a file still
    /// leads to a new build, because the build may read it.
    pub exclude: Vec<String>,
    /// Environment of the command.
    pub env: BTreeMap<String, String>,
    /// The engine's name; for messages.
    pub name: Option<String>,
    /// Arguments that run its bench; empty for none.
    pub bench: String,
    /// UCI options that it always gets.
    pub options: Vec<(String, String)>,
    /// Recipe of the engine's form for a tuning, if there is one.
    pub tune: Option<TuneRecipe>,
    /// Way in which it takes a network of the user's; `None` if that is not known.
    pub network: Option<NetworkInput>,
}

/// Way in which an engine takes a network of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkInput {
    /// Environment variable of the build that names the file to build in.
    Variable(String),
    /// Variable of a Makefile, given on its command line because a Makefile's own value wins over
    /// the environment.
    MakeVariable,
    /// UCI option that names the file.
    Option(String),
}

/// Form of an engine in which its parameters are options, and the place of their values in its
/// sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TuneRecipe {
    /// Shell command that builds it; `None` if the usual build has the options.
    pub command: Option<String>,
    /// Arguments with which the program prints its parameters, one a line.
    pub params: Option<String>,
    /// Rows of the sources that hold the values.
    pub template: Option<Template>,
}

/// A `quintain.toml` as written: how the engine of a tree is built, and what it is like.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RawRecipe {
    build: RawBuild,
    #[serde(default)]
    engine: RawEngine,
    #[serde(default)]
    #[schemars(with = "RawTune")]
    tune: Option<RawTune>,
    /// Notices of the end of runs in this repository.
    #[serde(default)]
    pub(super) notify: RawNotify,
}

/// Environment variables that hold the addresses of notices.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RawNotify {
    /// Environment variable with the URL to which the summary is posted as JSON.
    pub webhook: Option<String>,
    /// Environment variable with the URL of an ntfy topic.
    pub ntfy: Option<String>,
    /// Environment variable with the URL of a Discord webhook.
    pub discord: Option<String>,
}

/// Build of an engine.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RawBuild {
    /// Shell command that builds the engine, run at the root of the tree.
    command: String,
    /// Program that it makes, relative to the root.
    binary: String,
    /// Paths whose content makes one engine another [default: the whole tree].
    #[serde(default)]
    sources: Vec<String>,
    /// Patterns of files among them that do not change the engine [default: texts, licences and the
    /// like].
    exclude: Option<Vec<String>>,
    /// Environment of the command.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// Variable of the command that names the network to build in [default: EVALFILE, if the
    /// command has it].
    network: Option<String>,
}

/// Engine that the build makes.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct RawEngine {
    /// Name, for messages.
    name: Option<String>,
    /// Arguments that run its bench, whose last lines say its nodes; empty for none [default:
    /// bench].
    bench: Option<String>,
    /// UCI options that it always gets.
    #[serde(deserialize_with = "options")]
    #[schemars(with = "OptionTable")]
    options: Vec<(String, String)>,
    /// UCI option that names its network, if the build takes none.
    network: Option<String>,
}

/// Form of the engine that `quintain tune` plays with, and what it writes.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct RawTune {
    /// Shell command that builds the engine with its parameters as UCI options [default: that of
    /// the build].
    command: Option<String>,
    /// Arguments with which the program prints its parameters, a line for each as OpenBench has
    /// them.
    params: Option<String>,
    /// File of the sources that holds the parameters' values, relative to the root.
    file: Option<String>,
    /// Regular expression of a parameter's place in that file: {name} stands for its name, group 1
    /// is its value.
    row: Option<String>,
}

#[derive(Deserialize)]
struct Manifest {
    package: Option<Package>,
    #[serde(default)]
    bin: Vec<Bin>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Package {
    name: String,
    default_run: Option<String>,
}

#[derive(Deserialize)]
struct Bin {
    name: String,
}

impl Recipe {
    /// The file's name in the tree.
    pub const FILE: &'static str = "quintain.toml";

    /// Reads a recipe; `path` is for messages.
    ///
    /// # Errors
    /// Returns an error with file and line if the text is not a recipe.
    pub fn parse(path: &Path, text: &str) -> Result<Self, TomlError> {
        let RawRecipe { build, engine, tune, notify: _ } = from_toml(path, text)?;
        let wrong = |(key, message): (&str, String)| {
            let line = text.lines().position(|line| line.trim_start().starts_with(key)).map_or(1, |at| at + 1);
            TomlError { path: path.to_path_buf(), line, column: 1, message }
        };
        let built_in = build.network.is_some();
        let mut recipe = Self::checked(build, engine.bench).map_err(wrong)?;
        if let Some(option) = engine.network {
            let refuse = |why: &str| wrong(("network", format!("`network` of [engine] {why}")));
            if built_in {
                return Err(refuse("and of [build] exclude each other; remove the one that the engine does not use"));
            }
            if option.trim().is_empty() || option.contains(char::is_control) {
                return Err(refuse("is no option's name; write it as the engine does, as in \"EvalFile\""));
            }
            recipe.network = Some(NetworkInput::Option(option));
        }
        let tune = tune.map(RawTune::checked).transpose().map_err(|(key, message)| {
            // The build has a `command` too.
            let skipped = text.lines().take_while(|line| line.trim() != "[tune]").count();
            let found = text.lines().skip(skipped).position(|line| line.trim_start().starts_with(key));
            TomlError { path: path.to_path_buf(), line: skipped + found.unwrap_or(0) + 1, column: 1, message }
        })?;
        Ok(Self { name: engine.name, options: engine.options, tune, ..recipe })
    }

    /// Builds a recipe from its parts; the error is the wrong key and the fault.
    pub(super) fn checked(build: RawBuild, bench: Option<String>) -> Result<Self, (&'static str, String)> {
        if build.command.trim().is_empty() {
            return Err(("command", "`command` is empty; write the command that builds the engine".to_owned()));
        }
        if !inside(&build.binary) {
            let message = format!("`binary` is `{}`; write a path relative to the tree's root", build.binary);
            return Err(("binary", message));
        }
        if let Some(source) = build.sources.iter().find(|source| !inside(source)) {
            let message =
                format!("`sources` has `{source}`; write paths relative to the tree's root, [] for all of it");
            return Err(("sources", message));
        }
        let exclude = build.exclude.unwrap_or_else(texts);
        if let Some(pattern) = exclude.iter().find(|pattern| !inside(pattern)) {
            let message = format!("`exclude` has `{pattern}`; write patterns such as *.md, docs or engine/tests");
            return Err(("exclude", message));
        }
        if let Some(name) = build.env.keys().find(|name| name.is_empty() || name.contains(['=', '\0'])) {
            return Err(("env", format!("`env` has `{name}`, which is not a variable's name; correct it")));
        }
        let is_variable =
            |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if let Some(name) = build.network.as_ref().filter(|name| !is_variable(name)) {
            let message = format!("`network` is `{name}`, which is no variable's name; write one, as in \"EVALFILE\"");
            return Err(("network", message));
        }
        let usual = build.command.contains(EVALFILE).then(|| EVALFILE.to_owned());
        Ok(Self {
            network: build.network.or(usual).map(NetworkInput::Variable),
            command: build.command,
            binary: build.binary,
            sources: build.sources.iter().map(|source| source.trim_end_matches('/').to_owned()).collect(),
            exclude: exclude.iter().map(|pattern| pattern.trim_end_matches('/').to_owned()).collect(),
            env: build.env,
            name: None,
            bench: bench.unwrap_or_else(|| "bench".to_owned()),
            options: Vec::new(),
            tune: None,
        })
    }

    /// The recipe of the engine's form for a tuning, which is the usual one if it has no other.
    pub(super) fn tunable(&self) -> Self {
        let command = self.tune.as_ref().and_then(|tune| tune.command.clone());
        Self { command: command.unwrap_or_else(|| self.command.clone()), ..self.clone() }
    }

    /// The recipe of a Cargo package, from its manifest; `None` if the manifest has no package.
    ///
    /// # Errors
    /// Returns an error with file and line if the text is not a manifest.
    pub fn cargo(path: &Path, manifest: &str) -> Result<Option<Self>, TomlError> {
        let manifest: Manifest = from_toml(path, manifest)?;
        let Some(package) = manifest.package else { return Ok(None) };
        let listed = manifest.bin.into_iter().next().map(|bin| bin.name);
        let program = package.default_run.or(listed).unwrap_or(package.name);
        let binary = format!("target/release/{program}");
        Ok(Some(Self::detected("cargo build --release".to_owned(), binary, Some(program))))
    }

    /// The recipe of a tree with a Makefile, as testing frameworks have it.
    #[must_use]
    pub fn make() -> Self {
        Self::detected("make -j2 EXE=engine".to_owned(), "engine".to_owned(), None)
    }

    fn detected(command: String, binary: String, name: Option<String>) -> Self {
        let (sources, env, options) = Default::default();
        let (exclude, bench, tune, network) = (texts(), "bench".to_owned(), None, None);
        Self { command, binary, sources, exclude, env, name, bench, options, tune, network }
    }

    /// The recipe of a tree whose build is detected, with its way to take a network: the variable
    /// EVALFILE if `script`, its Makefile or build script, has it.
    pub(super) fn with_script(self, script: Option<&str>, input: NetworkInput) -> Self {
        let network = script.is_some_and(|script| script.contains(EVALFILE)).then_some(input);
        Self { network, ..self }
    }

    /// Recipe that embeds the network `file`, if it supports this.
    pub(super) fn with_network(&self, file: &Path) -> Self {
        let mut recipe = self.clone();
        let name = match &self.network {
            Some(NetworkInput::Variable(name)) => name.as_str(),
            Some(NetworkInput::MakeVariable) => {
                recipe.command += &format!(" {EVALFILE}=\"${EVALFILE}\"");
                EVALFILE
            }
            Some(NetworkInput::Option(_)) | None => return recipe,
        };
        recipe.env.insert(name.to_owned(), file.to_string_lossy().into_owned());
        recipe
    }

    /// Variables of the build that may name a network to build in.
    pub(super) fn network_variables(&self) -> Vec<&str> {
        let own = match &self.network {
            Some(NetworkInput::Variable(name)) if name != EVALFILE => Some(name.as_str()),
            _ => None,
        };
        std::iter::once(EVALFILE).chain(own).collect()
    }

    /// Git pathspecs of the files that identify the engine.
    pub(super) fn pathspecs(&self) -> Vec<String> {
        let mut specs: Vec<_> = self.sources.iter().map(|path| format!(":(top,literal){path}")).collect();
        if specs.is_empty() {
            specs.push(":(top)".to_owned());
        }
        for pattern in &self.exclude {
            let depth = if pattern.contains('/') { "" } else { "**/" };
            for below in ["", "/**"] {
                specs.push(format!(":(top,exclude,glob,icase){depth}{pattern}{below}"));
            }
        }
        specs
    }

    /// The command that prints the compiler's version; `None` if the recipe does not name its
    /// compiler.
    pub(super) fn compiler(&self) -> Option<&'static [&'static str]> {
        if self.runs("cargo") || self.runs("rustc") {
            Some(&["rustc", "-vV"])
        } else if ["make", "cmake", "cc", "gcc", "clang", "ninja", "meson"].into_iter().any(|tool| self.runs(tool)) {
            Some(&["cc", "--version"])
        } else {
            None
        }
    }

    /// Compilers of C and C++ that the user names, as commands: by `CC` and `CXX` in the command,
    /// in MAKEFLAGS, in the recipe's variables or in the environment, and Clang by a word of the
    /// command or of MAKEFLAGS, or by `COMP`. A value with blanks in the command counts up to its
    /// first blank.
    pub(super) fn named_compilers(&self, environment: impl Fn(&str) -> Option<String>) -> Vec<String> {
        let variable = |name: &str| self.env.get(name).cloned().or_else(|| environment(name));
        let line = format!("{} {}", self.command, variable("MAKEFLAGS").unwrap_or_default());
        let set = |name: &str| {
            let typed = line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
            typed.map(|word| word.trim_matches(['"', '\'']).to_owned()).or_else(|| variable(name))
        };
        let is_clang = has_word(&line, "clang") || set("COMP").is_some_and(|value| has_word(&value, "clang"));
        let clang = is_clang.then(|| "clang".to_owned());
        let mut named: Vec<String> = [set("CC"), set("CXX"), clang].into_iter().flatten().collect();
        named.retain(|command| !command.trim().is_empty());
        named.dedup();
        named
    }

    /// True if the command has the word `tool`.
    fn runs(&self, tool: &str) -> bool {
        has_word(&self.command, tool)
    }
}

impl RawTune {
    /// Checks the table; the error is the wrong key and the fault.
    fn checked(self) -> Result<TuneRecipe, (&'static str, String)> {
        for (key, text) in [("command", &self.command), ("params", &self.params)] {
            if text.as_ref().is_some_and(|text| text.trim().is_empty()) {
                return Err((key, format!("`{key}` is empty; write it, or leave it out")));
            }
        }
        let template = match (self.file, self.row) {
            (None, None) => None,
            (Some(_), None) => {
                return Err(("file", "`file` needs `row`, which finds a value in it".to_owned()));
            }
            (None, Some(_)) => return Err(("row", "`row` needs `file`, whose text it is looked for in".to_owned())),
            (Some(file), Some(_)) if !inside(&file) => {
                return Err(("file", format!("`file` is `{file}`; write a path relative to the tree's root")));
            }
            (Some(file), Some(row)) => {
                Some(Template::new(file, row).map_err(|error| ("row", format!("`row`: {error}")))?)
            }
        };
        Ok(TuneRecipe { command: self.command, params: self.params, template })
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric()).any(|one| one == word)
}

fn texts() -> Vec<String> {
    TEXTS.map(str::to_owned).to_vec()
}

/// Returns true for a path that stays inside the tree.
fn inside(path: &str) -> bool {
    !path.is_empty() && Path::new(path).components().all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Recipe, String> {
        Recipe::parse(Path::new("quintain.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn the_shipped_recipe_parses() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(Recipe::FILE);
        let recipe = Recipe::parse(&path, &std::fs::read_to_string(&path).unwrap()).unwrap();
        assert_eq!(recipe.binary, "target/engine/destrier");
        assert_eq!(recipe.sources, ["engine"]);
        assert!(recipe.exclude.iter().any(|pattern| pattern == "*.md"), "{:?}", recipe.exclude);
        assert_eq!(recipe.compiler(), Some(["rustc", "-vV"].as_slice()));
        // Every number of the engine's table has its place, found by its name.
        let template = recipe.tune.unwrap().template.unwrap();
        let text = std::fs::read_to_string(path.with_file_name(template.file())).unwrap();
        let (_, table) = text.split_once("params! {\n").unwrap();
        let rows = table.lines().filter_map(|line| line.trim().strip_suffix(';')?.split_once(": "));
        let values: Vec<_> = rows.map(|(name, _)| (name.to_owned(), "-7".to_owned())).collect();
        let filled = template.fill(&text, &values).unwrap();
        assert!(values.len() > 40 && filled.matches(": -7, ").count() == values.len(), "{}", values.len());
    }

    #[test]
    fn errors_name_the_line() {
        let error = parse("[build]\ncommand = \"make\"\nbinry = \"x\"\n").unwrap_err();
        assert_eq!(error, "quintain.toml:3:1: unknown key `binry`, did you mean `binary`?");
        for (text, line) in [
            ("[build]\ncommand = \" \"\nbinary = \"x\"\n", 2),
            ("[build]\ncommand = \"make\"\nbinary = \"/bin/x\"\n", 3),
            ("[build]\ncommand = \"make\"\nbinary = \"x\"\nsources = [\"../y\"]\n", 4),
            ("[build]\ncommand = \"make\"\nbinary = \"x\"\n\nexclude = [\"\"]\n", 5),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.starts_with(&format!("quintain.toml:{line}:1: ")), "{error}");
        }
    }

    #[test]
    fn a_tune_table_is_checked_and_its_faults_name_their_line() {
        const BUILD: &str = "[build]\ncommand = \"make\"\nbinary = \"x\"\n[tune]\n";
        let tune = |rest: &str| parse(&format!("{BUILD}{rest}"));
        let recipe = tune("command = 'make tune'\nparams = 'spsa'\nfile = 'p.h'\nrow = '{name} = (\\d+)'\n").unwrap();
        assert_eq!((recipe.tunable().command.as_str(), recipe.command.as_str()), ("make tune", "make"));
        assert!(recipe.tune.is_some_and(|tune| tune.template.is_some() && tune.params.as_deref() == Some("spsa")));
        assert_eq!(parse("[build]\ncommand = \"make\"\nbinary = \"x\"\n").unwrap().tunable().command, "make");
        for (rest, start) in [
            ("command = ' '\n", "quintain.toml:5:1: `command` is empty"),
            ("params = ''\n", "quintain.toml:5:1: `params` is empty"),
            ("params = 'spsa'\nfile = 'p.h'\n", "quintain.toml:6:1: `file` needs `row`"),
            ("row = '{name} (1)'\n", "quintain.toml:5:1: `row` needs `file`"),
            ("file = '../p.h'\nrow = '{name} (1)'\n", "quintain.toml:5:1: `file` is `../p.h`"),
            ("file = 'p.h'\nrow = 'name (1)'\n", "quintain.toml:6:1: `row`: "),
            ("rows = 'x'\n", "quintain.toml:5:1: unknown key `rows`, did you mean `row`?"),
        ] {
            let error = tune(rest).unwrap_err();
            assert!(error.starts_with(start), "{error}");
        }
    }

    #[test]
    fn trees_without_a_recipe_are_detected() {
        let cargo = |text: &str| Recipe::cargo(Path::new("Cargo.toml"), text).unwrap();
        let recipe = cargo("[package]\nname = \"a\"\nversion = \"0.1.0\"\n").unwrap();
        assert_eq!((recipe.command.as_str(), recipe.binary.as_str()), ("cargo build --release", "target/release/a"));
        assert_eq!(cargo("[package]\nname = \"a\"\n[[bin]]\nname = \"b\"\n").unwrap().binary, "target/release/b");
        assert_eq!(cargo("[workspace]\nmembers = []\n"), None);
        assert_eq!(Recipe::make().compiler(), Some(["cc", "--version"].as_slice()));
        assert_eq!(Recipe::make().named_compilers(|_| None), Vec::<String>::new());
        assert_eq!(Recipe::make().named_compilers(|name| (name == "CXX").then(|| "g++-14".into())), ["g++-14"]);
        for (name, value, named) in [
            ("MAKEFLAGS", "COMP=clang CXX=clang++-19", ["clang++-19", "clang"].as_slice()),
            ("COMP", "clang", &["clang"]),
            ("COMP", "mingw", &[]),
        ] {
            let environment = |asked: &str| (asked == name).then(|| value.to_owned());
            assert_eq!(Recipe::make().named_compilers(environment), named, "{name}={value}");
        }
        let env = [("CC".to_owned(), "ccache gcc".to_owned())].into();
        let typed = Recipe { command: "make COMP=clang CXX='clang++'".to_owned(), env, ..Recipe::make() };
        assert_eq!(typed.named_compilers(|_| Some("cc".to_owned())), ["ccache gcc", "clang++", "clang"]);
    }
}
