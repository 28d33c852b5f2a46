//! `quintain fastchess` and `quintain cutechess`: command lines and console of the leading runners,
//! for scripts and frameworks that call them. A program named after one of them acts as that
//! runner.
//!
//! Reading order: `invocation` (types), `words` and `engine` (lexing), `grammar` and `cutechess`
//! (one match arm per option), `check` (rules across options), `plan` (the run's plan), `place`,
//! `config` and `save` (files), `play`.
//!
//! A run under another runner's name is an ordinary run. Plan and journal are in `CONFIG.json.run`
//! beside the file of `-config outname=`. That file holds settings and counts under the runner's
//! keys. `-config file=` replays the journal; the counts in the file are for its readers. Pairs
//! count in schedule order here as well, so a block may come a few games after its last `Finished
//! game`.

mod check;
mod common;
mod conf;
mod config;
mod console;
mod cutechess;
mod engine;
mod grammar;
mod help;
mod invocation;
mod log;
mod place;
mod plan;
mod play;
mod save;
mod say;
mod watch;
mod words;

use std::error::Error;
use std::ffi::OsString;
use std::path::Path;

use self::config::ConfigFile;
use self::grammar::SavedConfig;
pub(crate) use self::invocation::Dialect;
use self::invocation::{Invocation, RunnerAction};
use self::say::{reworded, say};
use crate::files::{MOST_DOCUMENT_BYTES, read_input};
use crate::text::{shell_word, with_causes};

/// Version of fastchess whose command line is read.
const FASTCHESS_VERSION: &str = "1.8.2";

/// Version of cutechess-cli whose command line is read.
const CUTECHESS_VERSION: &str = "1.3.1";

/// Runner that a program of this name stands in for: `fastchess`, `fastchess-ob`, `cutechess-cli`,
/// ...
pub(crate) fn dialect_of(program: &Path) -> Option<Dialect> {
    let name = program.file_name()?.to_str()?;
    if name.starts_with("fastchess") {
        Some(Dialect::Fastchess)
    } else if name.starts_with("cutechess") {
        Some(Dialect::Cutechess)
    } else {
        None
    }
}

/// Runner whose command lines are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// Command lines of fastchess.
    Fastchess,
    /// Command lines of cutechess-cli.
    Cutechess,
}

/// Checks a command line without the program's name, and starts nothing. Files that `-config` names
/// are not read.
///
/// # Errors
/// Message about the first fault.
pub fn check_runner_words(runner: Runner, words: &[String]) -> Result<(), String> {
    let no_files = |path: &Path| Err(format!("{}: not read", path.display()));
    let parsed = match runner {
        Runner::Fastchess => grammar::parse(words, &no_files),
        Runner::Cutechess => cutechess::parse(words, &no_files, &|name| Err(format!("conf={name}: not read"))),
    };
    parsed.map(drop).map_err(|error| error.to_string())
}

/// Function for `quintain check` of an engine by its spec; returns true if the engine passed.
pub(crate) type CheckFunction<'a> = &'a dyn Fn(&str) -> Result<bool, PlayFailure>;

/// Error that ended a valid command line.
pub(crate) type PlayFailure = Box<dyn Error + Send + Sync>;

/// Runs a command line. `program` is the command that a user types to resume. Exit codes are those
/// of fastchess: 0 for a complete tournament with any verdict, and 1 for anything else.
/// cutechess-cli exits with 0 once a match has begun, which would hide a crash.
pub(crate) fn run(dialect: Dialect, words: &[OsString], program: &str, check: CheckFunction<'_>) -> u8 {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let parsed = match dialect {
        Dialect::Fastchess => grammar::parse(&words, &load),
        Dialect::Cutechess => cutechess::parse(&words, &load, &conf::read),
    };
    let done = match parsed {
        Err(error) => {
            say(&error.to_string());
            return 1;
        }
        Ok(RunnerAction::Version) => {
            say(&version(dialect));
            Ok(true)
        }
        Ok(RunnerAction::Help) => {
            say(help::text(dialect));
            Ok(true)
        }
        Ok(RunnerAction::Engines) => conf::names().map_err(PlayFailure::from).map(|names| {
            names.iter().for_each(|name| say(name));
            true
        }),
        Ok(RunnerAction::Compliance(command)) => compliance(&command, check),
        Ok(RunnerAction::Play(invocation)) => {
            foreign_file(&invocation).and_then(|()| play::play(*invocation, program).map_err(PlayFailure::from))
        }
    };
    match done {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            let text = reworded(&with_causes(&*error));
            say(&if text.starts_with("Fatal") { text } else { format!("Error: {text}") });
            1
        }
    }
}

/// Version text. A number of three parts comes first, because frameworks look for it.
fn version(dialect: Dialect) -> String {
    let own = env!("CARGO_PKG_VERSION");
    match dialect {
        Dialect::Fastchess => format!("fastchess alpha {FASTCHESS_VERSION} as spoken by quintain {own}"),
        Dialect::Cutechess => format!("cutechess-cli {CUTECHESS_VERSION} as spoken by quintain {own}"),
    }
}

fn load(path: &Path) -> Result<SavedConfig, String> {
    let text = read_input(path, MOST_DOCUMENT_BYTES).map_err(|error| format!("{}: {error}", path.display()))?;
    let with_path = |why: String| format!("{}: {why}", path.display());
    ConfigFile::parse(&text).and_then(|file| file.saved()).map_err(with_path)
}

/// Refuses an existing state file of another program, because the run would replace it.
fn foreign_file(invocation: &Invocation) -> Result<(), PlayFailure> {
    let Invocation { dialect, settings, resume, .. } = invocation;
    let path = Path::new(&settings.config_name);
    if *dialect != Dialect::Cutechess || resume.is_some() || !path.is_file() {
        return Ok(());
    }
    cutechess::tournament_file(path, &load).map(drop).map_err(|why| format!("-tournamentfile {why}").into())
}

/// Runs `quintain check` under the leading runners' name for it.
fn compliance(command: &[String], check: CheckFunction<'_>) -> Result<bool, PlayFailure> {
    check(&command.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests;
