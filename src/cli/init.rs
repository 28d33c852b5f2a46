//! `quintain init`: a starting plan with every key explained.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use clap::builder::PossibleValue;

use crate::files::write_atomically;
use crate::run::begin::GameCommand;
use crate::run::{Exit, progress};
use crate::settings::{self, Key, PRESETS, UserFile};

const EXAMPLES: &str = "\
Examples:
  quintain init
  quintain init match configs/my-match.toml
  quintain init gauntlet - | less
  quintain init --reference
  quintain init --schema engines > engines.schema.json
  quintain init --presets
  quintain init --sparring
  quintain init --workflow > .github/workflows/quintain.yml";

/// Workflow of a hosted CI that tests pull requests.
const WORKFLOW: &str = include_str!("../../configs/workflow.yml");

/// Packaged engines by name, and the field of a gauntlet made of them.
const SPARRING: [(&str, &str); 2] = [
    ("configs/engines.toml", include_str!("../../configs/engines.toml")),
    ("configs/sparring.toml", include_str!("../../configs/sparring.toml")),
];

/// JSON Schema beside a new plan, for completion in editors.
const SCHEMA_FILE: &str = "quintain-plan.schema.json";

/// Writes a plan in which every key is explained; all but the essential ones are commented out.
///
/// A JSON Schema is written beside it, by which editors complete and check keys as they are typed.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct InitArgs {
    /// Command that the plan is for.
    #[arg(default_value = "sprt")]
    kind: GameCommand,
    /// File to write; `-` for standard output [default: sprt.toml, match.toml, gauntlet.toml,
    /// race.toml or tune.toml].
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Overwrite an existing file.
    #[arg(long)]
    force: bool,
    /// Print the JSON Schema of a file instead: of plans, quintain.toml or engines.toml.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "force", "reference"])]
    schema: Option<UserFile>,
    /// Print the reference of all keys of plans instead, as Markdown.
    #[arg(long, conflicts_with_all = ["file", "force"])]
    reference: bool,
    /// Print a workflow for a hosted CI instead: it tests each pull request and posts the result.
    #[arg(long, conflicts_with_all = ["file", "force", "reference", "schema"])]
    workflow: bool,
    /// Write configs/engines.toml and configs/sparring.toml instead: engines that Debian and Ubuntu
    /// package, and a field of them for gauntlets.
    #[arg(long, conflicts_with_all = ["file", "reference", "schema", "workflow"])]
    sparring: bool,
    /// Write the plans of the usual tests into configs/ instead: sprt-stc.toml and sprt-ltc.toml
    /// for a gain at a short and at a longer time control, sprt-simplify.toml for a simplification.
    #[arg(long, conflicts_with_all = ["file", "reference", "schema", "workflow", "sparring"])]
    presets: bool,
}

impl ValueEnum for GameCommand {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self {
            Self::Sprt => "Is one engine stronger than another?",
            Self::Match => "Games of any number of engines",
            Self::Gauntlet => "One engine or several against a field of others",
            Self::Race => "Several candidates against one base",
            Self::Tune => "Tuning of an engine's parameters by games against itself",
        };
        Some(PossibleValue::new(self.name()).help(help))
    }
}

/// Players of a new plan.
const fn players(kind: GameCommand) -> &'static [&'static str] {
    match kind {
        GameCommand::Sprt | GameCommand::Tune => &[],
        GameCommand::Match => &[".", "git:main", "stockfish"],
        GameCommand::Gauntlet => &[".", "stockfish", "ethereal-chess"],
        GameCommand::Race => &["git:idea-1", "git:idea-2"],
    }
}

pub(super) fn run(args: &InitArgs) -> Result<Exit> {
    if let Some(file) = args.schema {
        progress::result(&schema(file));
        return Ok(Exit::Done);
    }
    if args.reference {
        progress::result(&reference());
        return Ok(Exit::Done);
    }
    if args.workflow {
        progress::result(WORKFLOW.trim_end());
        return Ok(Exit::Done);
    }
    if args.sparring {
        return sparring(args.force);
    }
    if args.presets {
        return presets(args.force);
    }
    let path = args.file.clone().unwrap_or_else(|| format!("{}.toml", args.kind.name()).into());
    if path.as_os_str() == "-" {
        progress::result(&plan(args.kind, Path::new("PLAN.toml")));
        return Ok(Exit::Done);
    }
    let text = format!("#:schema ./{SCHEMA_FILE}\n{}", plan(args.kind, &path));
    let shown = path.display();
    write_new(&path, &text, args.force)?;
    let beside = path.with_file_name(SCHEMA_FILE);
    write_atomically(&beside, schema(UserFile::Plan).as_bytes())
        .with_context(|| format!("{}: cannot write it", beside.display()))?;
    progress::note(&format!("wrote {}, with which editors complete and check the keys", beside.display()));
    progress::note(&format!("wrote {shown}; play it with `quintain {} {shown}`", args.kind.name()));
    Ok(Exit::Done)
}

/// Writes files of `configs`, all or none.
fn write_all(files: &[(&str, &str)], force: bool) -> Result<()> {
    if let Some((taken, _)) = files.iter().find(|(path, _)| !force && Path::new(path).exists()) {
        bail!("{taken}: exists already; overwrite these files with --force, or move it away");
    }
    std::fs::create_dir_all("configs").context("configs: cannot make it")?;
    files.iter().try_for_each(|(path, text)| write_new(Path::new(path), text, force))
}

/// Writes the plans of the usual tests.
fn presets(force: bool) -> Result<Exit> {
    write_all(&PRESETS, force)?;
    for (path, _) in PRESETS {
        progress::note(&format!("wrote {path}; play it with `quintain sprt {path}`"));
    }
    Ok(Exit::Done)
}

/// Writes the packaged engines and their field.
fn sparring(force: bool) -> Result<Exit> {
    write_all(&SPARRING, force)?;
    let [(engines, _), (field, _)] = SPARRING;
    progress::note(&format!("wrote {engines}; `quintain engines` shows which of them are installed"));
    progress::note(&format!(
        "wrote {field}; play it with `quintain gauntlet --hero . --sparring {field} --skip-missing`"
    ));
    Ok(Exit::Done)
}

/// Writes a file; an existing one only if `force` is set.
fn write_new(path: &Path, text: &str, force: bool) -> Result<()> {
    let shown = path.display();
    if force {
        return write_atomically(path, text.as_bytes()).with_context(|| format!("{shown}: cannot write it"));
    }
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Ok(mut file) => file.write_all(text.as_bytes()).with_context(|| format!("{shown}: cannot write it")),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            bail!("{shown}: exists already; overwrite it with --force, or name another file")
        }
        Err(error) => Err(error).with_context(|| format!("{shown}: cannot create it")),
    }
}

/// Text of a file's JSON Schema.
fn schema(file: UserFile) -> String {
    format!("{:#}", file.schema())
}

/// Reference of all plan keys and their flags, as Markdown.
fn reference() -> String {
    let mut text =
        "# Keys of a plan\n\nKeys are flags without their dashes, but `options` for `--option`; a flag wins over the file.\n".to_owned();
    let mut last = None;
    for key in settings::keys() {
        if key.heading != last {
            // Writing to a string does not fail.
            let _ = write!(text, "\n## {}\n\n", key.heading.as_deref().unwrap_or("Tables"));
            last.clone_from(&key.heading);
        }
        let commands = match key.commands() {
            [] => String::new(),
            commands => format!(" Only of {}.", commands.join(", ")),
        };
        let details: String = key.details.iter().map(|paragraph| format!(" {paragraph}")).collect();
        let _ = writeln!(text, "* `{}`: {}{details}{commands}", key.name, key.help);
    }
    text.push_str("\n## Keys of a player\n\n");
    for key in settings::player_keys() {
        let _ = writeln!(text, "* `{}`: {}", key.name, key.help);
    }
    text.trim_end().to_owned()
}

/// Text of a plan. A line of prose begins with `# `, a commented-out key with `#` and its name.
fn plan(kind: GameCommand, path: &Path) -> String {
    let (name, path) = (kind.name(), path.display());
    let mut text = format!(
        "# A plan for `quintain {name}`. Play it: quintain {name} {path}\n\
         # Flags take precedence over its keys. A commented key shows its default, or an example; remove the `#` to set it.\n"
    );
    let mut last = "";
    let keys = settings::keys();
    for key in keys.iter().filter(|key| key.is_of(name)) {
        // Only `players` has no flag, and its tables must come last.
        let Some(heading) = &key.heading else { continue };
        if heading != last {
            // Writing to a string does not fail.
            let _ = write!(text, "\n# ---- {} ----\n", title(heading));
            last = heading;
        }
        put(&mut text, key, name);
    }
    if !players(kind).is_empty() {
        text.push_str("\n# ---- Players: a table each, which stand at the end of the file ----\n");
    }
    for (place, spec) in players(kind).iter().enumerate() {
        let _ = write!(text, "\n[[players]]\nspec = \"{spec}\"\n");
        if place == 0 {
            settings::player_keys().iter().for_each(|key| put(&mut text, key, name));
        }
    }
    text
}

/// Heading of a key group in a plan: that of its flags, with advice on values.
fn title(heading: &str) -> &str {
    match heading {
        "Engines" => {
            "Engines: `.` the working tree, git:REV, git:REV@PATH-OR-URL, a path, or a name of engines.toml or on PATH"
        }
        "Limits" => "Limits of a move: a clock, a fixed time, nodes, depth; nodes and depth may be added to a clock",
        heading => heading,
    }
}

/// Writes a key with its help and example. A key without an example is left to the caller.
fn put(text: &mut String, key: &Key, command: &str) {
    let Some(value) = key.example(command) else { return };
    let mark = if key.is_essential(command) { "" } else { "#" };
    let _ = write!(text, "# {}\n{mark}{} = {value}\n", key.help, key.name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::RawPlan;
    use crate::text::from_toml;

    fn uncommented(text: &str) -> String {
        let bare = |line: &str| match line.strip_prefix('#') {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => rest.to_owned(),
            _ => line.to_owned(),
        };
        text.lines().map(|line| bare(line) + "\n").collect()
    }

    #[test]
    fn every_plan_parses_with_and_without_its_comments() {
        for kind in GameCommand::ALL {
            let text = plan(kind, Path::new("p.toml"));
            let read = |text: &str| -> RawPlan {
                from_toml(Path::new("p.toml"), text).unwrap_or_else(|error| panic!("{error}\n{text}"))
            };
            let (short, long) = (read(&text), read(&uncommented(&text)));
            assert_eq!(short.players.len(), players(kind).len());
            let is_sprt = kind == GameCommand::Sprt;
            assert_eq!((short.new.is_some(), short.bounds.is_some()), (is_sprt, is_sprt));
            // Every key of the plan is set once its `#` is removed.
            let set = long.table().unwrap();
            for key in settings::keys().iter().filter(|key| key.is_of(kind.name())) {
                let is_there = set.contains_key(&key.name);
                assert!(is_there, "{} of {}", key.name, kind.name());
            }
            assert!(long.seed == Some(1) && long.nodes == Some(20_000) && !long.options.is_empty());
        }
    }

    #[test]
    fn explanations_are_one_line() {
        for key in settings::keys().iter().chain(&settings::player_keys()) {
            assert!(!key.help.is_empty() && key.help.len() <= 110, "{}: {}", key.name, key.help);
        }
    }
}
