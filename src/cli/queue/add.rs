//! `quintain queue add`: a plan or a command line becomes an entry.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::error::ErrorKind;
use clap::{Parser, Subcommand};

use crate::cli::{matches, race, sprt, tune};
use crate::run::begin::{self, GameCommand};
use crate::run::notify::Receivers;
use crate::run::queue::listed::entry_json;
use crate::run::queue::{Queue, QueueEntry, title};
use crate::run::{chain, progress};
use crate::settings::RawPlan;
use crate::source::Context;
use crate::tournament::formats::either;

/// Plan or command line to add.
#[derive(Debug, clap::Args)]
pub(super) struct AddArgs {
    /// Priority; higher ones are played first.
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true)]
    priority: i32,
    /// Print the new entry as one JSON document, in the form of an entry of `queue ls --json`.
    #[arg(long)]
    json: bool,
    /// A plan (a file ending in .toml) with flags after it, or a whole command line: sprt, match,
    /// gauntlet, race or tune with its arguments.
    #[arg(value_name = "PLAN|COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<String>,
}

/// A command line in the queue.
#[derive(Debug, Parser)]
#[command(name = "quintain queue add", no_binary_name = true, disable_help_subcommand = true)]
struct QueuedLine {
    #[command(subcommand)]
    command: QueuedCommand,
}

#[derive(Debug, Subcommand)]
enum QueuedCommand {
    /// A sequential test.
    Sprt(Box<sprt::SprtArgs>),
    /// A match.
    Match(Box<matches::MatchArgs>),
    /// A gauntlet.
    Gauntlet(Box<matches::GauntletArgs>),
    /// A race.
    Race(Box<race::RaceArgs>),
    /// A tuning.
    Tune(Box<tune::TuneArgs>),
}

pub(super) fn run(queue: &Queue, args: &AddArgs) -> Result<()> {
    let Some((command, raw, apply)) = parsed(&args.words)? else { return Ok(()) };
    if raw.out.is_some() {
        bail!("--out: the queue names the folders of its runs itself; leave it out, and use --name");
    }
    if raw.priority.is_some() && raw.workers.is_none() {
        bail!("--priority: that of the queue stands before the plan or command: `quintain queue add --priority N ...`");
    }
    Receivers::of(&raw)?;
    begin::check(command, &raw)?;
    let files = chain::files(&raw)?.into_iter().map(|(_, file)| file);
    let typed: Vec<RawPlan> = std::iter::once(raw.clone()).chain(files).collect();
    let plans = chain::links(begin::pinned(command, raw)?)?;
    let context = Context::from_env()?;
    let titles = title::titles(&context, &typed, &plans);
    let mut entry = QueueEntry::new(command, context.cwd, args.priority, plans);
    (entry.apply, entry.titles) = (apply, titles);
    let entry = entry.signed()?;
    let (id, has_daemon) = (queue.add(entry.clone())?, queue.has_daemon()?);
    if args.json {
        progress::result(&entry_json(id, &entry, has_daemon).to_string());
        return Ok(());
    }
    let daemon = if has_daemon { "" } else { "; `quintain queue run` plays it" };
    progress::result(&format!("entry {id}{daemon}"));
    Ok(())
}

/// Command and settings of a line, and the branch for a tuning's values; `None` if it asked for
/// help, which is printed.
fn parsed(words: &[String]) -> Result<Option<(GameCommand, RawPlan, Option<String>)>> {
    if words.iter().any(|word| word == "--json") {
        bail!(
            "--json: before the plan or command it prints the new entry: `quintain queue add --json ...`; the result of a run is printed by `quintain report RUN --format json`, once it is played"
        );
    }
    let mut line = words.to_vec();
    if let Some(plan) = line.first().filter(|word| GameCommand::named(word).is_none()) {
        if plan == "bisect" {
            bail!(
                "`bisect`: the queue does not play it; run it directly with --out DIR, and continue with the same command"
            );
        }
        if Path::new(plan).extension().is_none_or(|extension| extension != "toml") {
            let commands = either(&GameCommand::ALL.map(GameCommand::name));
            bail!("`{plan}`: give a plan, a file ending in .toml, or a command line of {commands}");
        }
        line.insert(0, GameCommand::of(&RawPlan::read(&PathBuf::from(plan))?).name().to_owned());
    }
    let line = match QueuedLine::try_parse_from(line) {
        Ok(line) => line,
        Err(error) if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) => {
            progress::result(&error.to_string());
            return Ok(None);
        }
        Err(error) => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or_default();
            bail!("{}; `quintain {} --help` explains its flags", first.trim_start_matches("error: "), line_of(words));
        }
    };
    Ok(Some(match line.command {
        QueuedCommand::Sprt(args) => (GameCommand::Sprt, sprt::merged(&args)?, None),
        QueuedCommand::Match(args) => (GameCommand::Match, matches::merged_match(&args)?, None),
        QueuedCommand::Gauntlet(args) => (GameCommand::Gauntlet, matches::merged_gauntlet(&args)?, None),
        QueuedCommand::Race(args) => (GameCommand::Race, race::merged(&args)?, None),
        QueuedCommand::Tune(args) => (GameCommand::Tune, tune::merged(&args)?, tune::branch(&args)?),
    }))
}

/// Command that explains the flags of a line.
fn line_of(words: &[String]) -> &'static str {
    let command = words.first().and_then(|word| GameCommand::named(word));
    command.unwrap_or(GameCommand::Sprt).name()
}
