//! `quintain engines`: state of the registry's engines, and the identity that each reports.

use std::fmt::Write as _;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use console::{Alignment, measure_text_width, pad_str};
use serde::Serialize;
use tokio::runtime::Runtime;

use crate::plan::Timeouts;
use crate::run::{Exit, progress, resolve};
use crate::source::{self, Context, EntryOrigin, Registry, RegistryEntry, ResolvedEngine, SourceError};
use crate::text::{printable, shell_word, suggestion};
use crate::uci::process::{self, EngineConfig};
use crate::uci::{EngineOption, OptionKind};

const EXAMPLES: &str = "\
Engines are declared in configs/engines.toml of the project and in \
~/.config/quintain/engines.toml. An entry is a command with its arguments, options and folder, or \
a Git repository with a revision. If its tree has no quintain.toml, the entry also has the build \
recipe. Every SPEC can be the name of an entry, as in `my-engine --threads 2`; a name with blanks \
has its arguments after ` -- `, as in `My Engine 2 -- --threads 2`.

Examples:
  quintain engines
  quintain engines stockfish --options
  quintain engines --build my-engine
  quintain engines --json";

/// Lists the engines of the registry: installed or not, where, and how they identify themselves.
/// The exit code is 0 even if some are missing, and 2 for an unknown name.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct EnginesArgs {
    /// Only these engines.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// List their UCI options.
    #[arg(long)]
    options: bool,
    /// Build those that come from Git and are not built yet.
    #[arg(long)]
    build: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Time limit of each half of the handshake.
const PATIENCE: Duration = Duration::from_secs(10);

/// State of a registry entry.
struct EntryReport<'a> {
    name: &'a str,
    engine: &'a RegistryEntry,
    state: InstallState,
}

enum InstallState {
    /// The handshake succeeded.
    Installed(Box<InstalledEngine>),
    /// The program does not exist, or could not be looked up or built.
    Missing(SourceError),
    /// Engine of a Git repository that is not built yet.
    NotBuilt,
    /// The program does not start as a UCI engine; with the message.
    Broken(Box<ResolvedEngine>, String),
}

struct InstalledEngine {
    resolved: ResolvedEngine,
    name: String,
    author: String,
    options: Vec<EngineOption>,
}

impl InstallState {
    const fn word(&self) -> &'static str {
        match self {
            Self::Installed(_) => "installed",
            Self::Missing(_) => "missing",
            Self::NotBuilt => "not-built",
            Self::Broken(..) => "broken",
        }
    }

    const fn resolved(&self) -> Option<&ResolvedEngine> {
        match self {
            Self::Installed(installed) => Some(&installed.resolved),
            Self::Broken(resolved, _) => Some(resolved),
            Self::Missing(_) | Self::NotBuilt => None,
        }
    }
}

pub(super) fn run(args: &EnginesArgs) -> Result<Exit> {
    let context = Context::from_env()?;
    let registry = Registry::load(&context.cwd)?;
    if let Some(unknown) = args.names.iter().find(|name| registry.get(name).is_none()) {
        bail!("{}", unknown_name(unknown, &registry));
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().context("cannot watch pipes")?;
    let chosen = registry.iter().filter(|(name, _)| args.names.is_empty() || args.names.iter().any(|n| n == name));
    let found: Vec<_> = chosen
        .map(|(name, engine)| EntryReport { name, engine, state: look(name, args.build, &context, &runtime) })
        .collect();
    if found.is_empty() {
        progress::note(&format!(
            "no engines are registered; write [engines.NAME] with a command into configs/engines.toml{}",
            registry.sparring_hint()
        ));
        if !args.json {
            return Ok(Exit::Done);
        }
    }
    progress::result(&if args.json {
        serde_json::to_string_pretty(&found.iter().map(|found| json(found, args.options)).collect::<Vec<_>>())?
    } else {
        text(&found, args.options)
    });
    Ok(Exit::Done)
}

fn unknown_name(name: &str, registry: &Registry) -> String {
    let names: Vec<_> = registry.iter().map(|(name, _)| name).collect();
    let files: Vec<_> = registry.files().iter().map(|path| path.display().to_string()).collect();
    match files.as_slice() {
        [] => format!(
            "no engine `{name}`: there is no configs/engines.toml; write {} with its command into one{}",
            Registry::heading(name),
            registry.sparring_hint()
        ),
        files => format!("no engine `{name}` in {}: {}", files.join(", "), suggestion(name, &names, "engines are")),
    }
}

/// Finds the program and performs the UCI handshake.
fn look(name: &str, build: bool, context: &Context, runtime: &Runtime) -> InstallState {
    let found: Result<Option<ResolvedEngine>, SourceError> =
        if build { source::resolve(name, context, &mut progress::step).map(Some) } else { source::find(name, context) };
    let resolved = match found {
        Ok(Some(resolved)) => resolved,
        Ok(None) => return InstallState::NotBuilt,
        Err(error) => return InstallState::Missing(error),
    };
    let config = EngineConfig {
        name: name.to_owned(),
        timeouts: Timeouts { start: PATIENCE, ready: PATIENCE, ..Timeouts::default() },
        ..resolved.config()
    };
    runtime.block_on(async {
        match process::Engine::start(&config, &[]).await {
            Ok(engine) => {
                let (identity, options) = (engine.identity().clone(), engine.options().to_vec());
                engine.quit().await;
                InstallState::Installed(Box::new(InstalledEngine {
                    resolved,
                    name: identity.name,
                    author: identity.author,
                    options,
                }))
            }
            Err(error) => InstallState::Broken(Box::new(resolved), error.to_string()),
        }
    })
}

/// Advice for an engine that is not installed.
fn remedy(found: &EntryReport<'_>) -> Option<String> {
    let name = found.name;
    match (&found.state, &found.engine.origin) {
        (InstallState::Installed(_), _) => None,
        (InstallState::NotBuilt, EntryOrigin::Git { place, rev, .. }) => Some(format!(
            "{rev} of {place} is not built: run `quintain engines --build {}`, or use it, which builds it",
            shell_word(name)
        )),
        (InstallState::NotBuilt, EntryOrigin::Command(_)) => None,
        (InstallState::Missing(SourceError::NotOnPath { command, .. }), _) => {
            let (command, heading) = (command.display(), Registry::heading(name));
            Some(format!("`{command}` is not on PATH: install it, or correct `command` of {heading}"))
        }
        (InstallState::Missing(error), _) => Some(error.to_string()),
        (InstallState::Broken(_, why), _) => Some(why.clone()),
    }
}

fn text(found: &[EntryReport<'_>], options: bool) -> String {
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(measure_text_width).max().unwrap_or(0);
    let said = |found: &EntryReport<'_>| match &found.state {
        InstallState::Installed(installed) if installed.name.is_empty() => "(says no name)".to_owned(),
        InstallState::Installed(installed) => printable(&installed.name),
        _ => String::new(),
    };
    let names: Vec<String> = found.iter().map(said).collect();
    let (name_width, said_width) =
        (widest(&mut found.iter().map(|found| found.name)), widest(&mut names.iter().map(String::as_str)));
    let mut text = String::new();
    for (found, said) in found.iter().zip(&names) {
        let name = pad_str(found.name, name_width, Alignment::Left, None);
        // Writing to a string does not fail.
        let _ = match (&found.state, remedy(found)) {
            (InstallState::Installed(installed), _) => {
                let (count, program) = (installed.options.len(), installed.resolved.program.display());
                let said = pad_str(said, said_width, Alignment::Left, None);
                writeln!(text, "{name}  installed  {said}  {count:>3} options  {program}")
            }
            (state, remedy) => writeln!(text, "{name}  {:<9}  {}", state.word(), remedy.unwrap_or_default()),
        };
        let elo = found.engine.elo.map(|elo| format!("{elo} Elo"));
        let limits = found.engine.limits.as_ref().map(|limits| format!("obeys {}", resolve::obeyed::names(limits)));
        let notes: Vec<_> =
            found.engine.description.iter().map(|text| printable(text)).chain(elo).chain(limits).collect();
        if !notes.is_empty() {
            let _ = writeln!(text, "{}  {}", " ".repeat(name_width), notes.join(", "));
        }
        if let (true, InstallState::Installed(installed)) = (options, &found.state) {
            for option in &installed.options {
                let _ = writeln!(text, "    {} {}", option.name, kind(&option.kind));
            }
        }
    }
    text
}

/// Type of an option with its values, such as `spin 16 (1 to 1024)`.
fn kind(kind: &OptionKind) -> String {
    fn or_none(value: Option<impl ToString>) -> String {
        value.map_or_else(|| "?".to_owned(), |value| value.to_string())
    }
    match kind {
        OptionKind::Check { default } => format!("check {}", or_none(*default)),
        OptionKind::Spin { default, min, max } => {
            format!("spin {} ({} to {})", or_none(*default), or_none(*min), or_none(*max))
        }
        OptionKind::Combo { default, vars } => format!("combo {} ({})", or_none(default.as_ref()), vars.join(", ")),
        OptionKind::Button => "button".to_owned(),
        OptionKind::Str { default } => format!("string \"{}\"", default.as_deref().unwrap_or_default()),
    }
}

#[derive(Serialize)]
struct EngineJson<'a> {
    name: &'a str,
    /// `installed`, `missing`, `not-built` or `broken`.
    status: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
    program: Option<String>,
    args: &'a [String],
    dir: Option<String>,
    git: Option<&'a str>,
    rev: Option<&'a str>,
    commit: Option<&'a str>,
    sha256: Option<&'a str>,
    id_name: Option<&'a str>,
    id_author: Option<&'a str>,
    description: Option<&'a str>,
    elo: Option<i32>,
    option_count: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    options: Option<Vec<OptionJson<'a>>>,
}

#[derive(Serialize)]
struct OptionJson<'a> {
    name: &'a str,
    r#type: &'static str,
    default: serde_json::Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    min: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max: Option<i64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    vars: &'a [String],
}

impl<'a> OptionJson<'a> {
    fn new(option: &'a EngineOption) -> Self {
        let new = |r#type, default| Self { name: &option.name, r#type, default, min: None, max: None, vars: &[] };
        match &option.kind {
            OptionKind::Check { default } => new("check", (*default).into()),
            OptionKind::Spin { default, min, max } => Self { min: *min, max: *max, ..new("spin", (*default).into()) },
            OptionKind::Combo { default, vars } => Self { vars, ..new("combo", default.clone().into()) },
            OptionKind::Button => new("button", serde_json::Value::Null),
            OptionKind::Str { default } => new("string", default.clone().into()),
        }
    }
}

fn json<'a>(found: &'a EntryReport<'_>, options: bool) -> EngineJson<'a> {
    let resolved = found.state.resolved();
    let installed = if let InstallState::Installed(installed) = &found.state { Some(&**installed) } else { None };
    let (git, rev) = match &found.engine.origin {
        EntryOrigin::Git { place, rev, .. } => (Some(place.as_str()), Some(rev.as_str())),
        EntryOrigin::Command(_) => (None, None),
    };
    EngineJson {
        name: found.name,
        status: found.state.word(),
        remedy: remedy(found),
        program: resolved.map(|resolved| resolved.program.display().to_string()),
        args: &found.engine.args,
        dir: found.engine.dir.as_ref().map(|dir| dir.display().to_string()),
        git,
        rev,
        commit: resolved.and_then(|resolved| resolved.origin.commit.as_deref()),
        sha256: resolved.map(|resolved| resolved.origin.sha256.as_str()),
        id_name: installed.map(|installed| installed.name.as_str()),
        id_author: installed.map(|installed| installed.author.as_str()),
        description: found.engine.description.as_deref(),
        elo: found.engine.elo,
        option_count: installed.map(|installed| installed.options.len()),
        options: installed.filter(|_| options).map(|it| it.options.iter().map(OptionJson::new).collect()),
    }
}
