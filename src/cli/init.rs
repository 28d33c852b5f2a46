//! `quintain init`: a plan to start from, with every key explained.

mod keys;

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;

use crate::cli::init::keys::{GROUPS, Key, PLAYER, PLAYERS};
use crate::cli::run_dir::write_atomically;
use crate::cli::{Exit, progress};

const EXAMPLES: &str = "\
Examples:
  quintain init
  quintain init match configs/my-match.toml
  quintain init gauntlet - | less";

/// Writes a plan in which every key is explained; all but the essential ones are commented out.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct InitArgs {
    /// What the plan is for.
    #[arg(default_value = "sprt")]
    kind: Kind,
    /// Where to write it; `-` for standard output [default: sprt.toml, match.toml or gauntlet.toml].
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Overwrite a file that is there.
    #[arg(long)]
    force: bool,
}

/// The command that plays the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// Is one engine stronger than another?
    Sprt,
    /// Games of any number of engines.
    Match,
    /// One engine or several against a field of others.
    Gauntlet,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Sprt => "sprt",
            Self::Match => "match",
            Self::Gauntlet => "gauntlet",
        }
    }

    /// The players of a new plan.
    const fn players(self) -> &'static [&'static str] {
        match self {
            Self::Sprt => &[],
            Self::Match => &[".", "git:main", "stockfish"],
            Self::Gauntlet => &[".", "stockfish", "ethereal"],
        }
    }
}

pub(super) fn run(args: &InitArgs) -> Result<Exit> {
    let path = args.file.clone().unwrap_or_else(|| format!("{}.toml", args.kind.name()).into());
    if path.as_os_str() == "-" {
        progress::result(&plan(args.kind, Path::new("PLAN.toml")));
        return Ok(Exit::Done);
    }
    let text = plan(args.kind, &path);
    let shown = path.display();
    if args.force {
        write_atomically(&path, text.as_bytes()).with_context(|| format!("{shown}: cannot write it"))?;
    } else {
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => file.write_all(text.as_bytes()).with_context(|| format!("{shown}: cannot write it"))?,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                bail!("{shown}: exists already; overwrite it with --force, or name another file")
            }
            Err(error) => return Err(error).with_context(|| format!("{shown}: cannot create it")),
        }
    }
    progress::note(&format!("wrote {shown}; play it with `quintain {} {shown}`", args.kind.name()));
    Ok(Exit::Done)
}

/// The plan's text. A line of words begins with `# `, a key that is commented out with `#` and its name.
fn plan(kind: Kind, path: &Path) -> String {
    let (name, path) = (kind.name(), path.display());
    let mut text = format!(
        "# A plan for `quintain {name}`. Play it: quintain {name} {path}\n\
         # Flags win over its keys. A commented key shows its default, or an example; remove the `#` to set it.\n"
    );
    for group in GROUPS {
        let mut keys = group.keys.iter().filter(|key| key.plans.has(kind)).peekable();
        if keys.peek().is_some() {
            // Writing to a string does not fail.
            let _ = write!(text, "\n# ---- {} ----\n", group.title);
        }
        keys.for_each(|key| put(&mut text, key));
    }
    if !kind.players().is_empty() {
        text.push_str("\n# ---- Players: a table each, which stand at the end of the file ----\n");
    }
    for (place, spec) in kind.players().iter().enumerate() {
        let _ = write!(text, "\n[[{PLAYERS}]]\nspec = \"{spec}\"\n");
        if place == 0 {
            PLAYER.iter().for_each(|key| put(&mut text, key));
        }
    }
    text
}

fn put(text: &mut String, key: &Key) {
    let Key { name, value, help, essential, .. } = key;
    let _ = write!(text, "# {help}\n{}{name} = {value}\n", if *essential { "" } else { "#" });
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::plan::config::{RawPlan, RawPlayer, from_toml};

    const KINDS: [Kind; 3] = [Kind::Sprt, Kind::Match, Kind::Gauntlet];

    /// The keys that serde knows, from what it says of one that it does not.
    fn known<T: serde::de::DeserializeOwned>() -> BTreeSet<String> {
        let Err(error) = from_toml::<T>(Path::new("p"), "qqqqqqqqqqqqqqqq = 1\n") else { panic!("no key is unknown") };
        let (_, keys) = error.message.split_once("keys are ").unwrap();
        keys.split(", ").map(str::to_owned).collect()
    }

    fn uncommented(text: &str) -> String {
        let bare = |line: &str| match line.strip_prefix('#') {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_lowercase()) => rest.to_owned(),
            _ => line.to_owned(),
        };
        text.lines().map(|line| bare(line) + "\n").collect()
    }

    /// The table must have the keys of `T` and no others.
    #[track_caller]
    fn check_table<T: serde::de::DeserializeOwned>(table: impl Iterator<Item = &'static str>) {
        let (table, known): (BTreeSet<_>, _) = (table.map(str::to_owned).collect(), known::<T>());
        let missing: Vec<_> = known.difference(&table).collect();
        let unknown: Vec<_> = table.difference(&known).collect();
        assert!(
            missing.is_empty() && unknown.is_empty(),
            "cli/init/keys.rs lacks {missing:?}, has in excess {unknown:?}"
        );
    }

    #[test]
    fn every_key_of_a_plan_is_in_the_table_and_no_other() {
        check_table::<RawPlan>(GROUPS.iter().flat_map(|group| group.keys).map(|key| key.name).chain([PLAYERS]));
        check_table::<RawPlayer>(PLAYER.iter().map(|key| key.name).chain(["spec"]));
    }

    #[test]
    fn every_plan_parses_with_and_without_its_comments() {
        for kind in KINDS {
            let text = plan(kind, Path::new("p.toml"));
            let read = |text: &str| -> RawPlan {
                from_toml(Path::new("p.toml"), text).unwrap_or_else(|error| panic!("{error}\n{text}"))
            };
            let (short, long) = (read(&text), read(&uncommented(&text)));
            assert_eq!(short.players.len(), kind.players().len());
            assert_eq!((short.new.is_some(), short.bounds.is_some()), (kind == Kind::Sprt, kind == Kind::Sprt));
            // Every key of the table that belongs to the plan is set once its `#` is gone.
            let keys: Vec<_> = GROUPS.iter().flat_map(|group| group.keys).filter(|key| key.plans.has(kind)).collect();
            for key in &keys {
                let set =
                    uncommented(&text).lines().filter(|line| line.starts_with(&format!("{} = ", key.name))).count();
                assert!(set >= 1, "{}", key.name);
            }
            assert!(long.seed == Some(1) && long.nodes == Some(20_000) && !long.options.is_empty());
        }
    }

    #[test]
    fn explanations_are_one_line() {
        for key in GROUPS.iter().flat_map(|group| group.keys).chain(PLAYER) {
            assert!(!key.help.contains('\n') && key.help.len() <= 110, "{}", key.name);
        }
    }
}
