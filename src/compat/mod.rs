//! `quintain fastchess` and `quintain cutechess`: the command lines and the console of the leading runners, for the scripts and
//! frameworks that call them. Also what this program is when it is started under one of their names.
//!
//! Reading order: `invocation` (what can be asked for), `words` and `engine` (how it is written), `grammar` and `cutechess` (one
//! option an arm), `check` (what they mean together), `plan` (what is played), `place`, `config` and `save` (what stays), `play`.
//!
//! Under another runner's name a run is the same run: plan and journal lie in `CONFIG.json.run`
//! beside the file of `-config outname=`, which holds settings and counts under that runner's
//! keys. `-config file=` replays the journal; the counts in the file are for its readers. Pairs
//! count in schedule order here as well, so a block may come a few games after its last `Finished
//! game`.

mod check;
mod common;
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
use self::grammar::Saved;
pub(crate) use self::invocation::Dialect;
use self::invocation::Request;
use self::say::say;
use crate::files::{MOST_DOCUMENT_BYTES, read_input};
use crate::text::with_causes;

/// The fastchess whose command line this is.
const FASTCHESS_VERSION: &str = "1.8.2";

/// The cutechess-cli whose command line this is.
const CUTECHESS_VERSION: &str = "1.3.1";

/// The runner that a program of this name is to be: `fastchess`, `fastchess-ob`, `cutechess-cli`, ...
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

/// A runner whose command lines are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runner {
    /// fastchess.
    Fastchess,
    /// cutechess-cli.
    Cutechess,
}

/// Reads a command line without the program's name, and starts nothing. Files that `-config` names are not read.
///
/// # Errors
/// A sentence about what is wrong with it.
pub fn check_runner_words(runner: Runner, words: &[String]) -> Result<(), String> {
    let no_files = |path: &Path| Err(format!("{}: not read", path.display()));
    let parsed = match runner {
        Runner::Fastchess => grammar::parse(words, &no_files),
        Runner::Cutechess => cutechess::parse(words),
    };
    parsed.map(drop).map_err(|error| error.to_string())
}

/// `quintain check` of an engine by its spec; true if it passed.
pub(crate) type Check<'a> = &'a dyn Fn(&str) -> Result<bool, Failure>;

/// Whatever ended a command line that was read.
pub(crate) type Failure = Box<dyn Error + Send + Sync>;

/// Does what the command line says; `program` is how to call this again. Exit codes are those of the leading runners: 0 for a
/// tournament that was played to its end, whatever its verdict, and 1 for anything else.
pub(crate) fn run(dialect: Dialect, words: &[OsString], program: &str, check: Check<'_>) -> u8 {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let parsed = match dialect {
        Dialect::Fastchess => grammar::parse(&words, &load),
        Dialect::Cutechess => cutechess::parse(&words),
    };
    let done = match parsed {
        Err(error) => {
            say(&error.to_string());
            return 1;
        }
        Ok(Request::Version) => {
            say(&version(dialect));
            Ok(true)
        }
        Ok(Request::Help) => {
            say(help::text(dialect));
            Ok(true)
        }
        Ok(Request::Compliance(command)) => compliance(&command, check),
        Ok(Request::Play(invocation)) => play::play(*invocation, program).map_err(Failure::from),
    };
    match done {
        Ok(true) => 0,
        Ok(false) => 1,
        Err(error) => {
            let text = with_causes(&*error);
            say(&if text.starts_with("Fatal") { text } else { format!("Error: {text}") });
            1
        }
    }
}

/// A number of three parts comes first: that is what frameworks look for.
fn version(dialect: Dialect) -> String {
    let own = env!("CARGO_PKG_VERSION");
    match dialect {
        Dialect::Fastchess => format!("fastchess alpha {FASTCHESS_VERSION} as spoken by quintain {own}"),
        Dialect::Cutechess => format!("cutechess-cli {CUTECHESS_VERSION} as spoken by quintain {own}"),
    }
}

fn load(path: &Path) -> Result<Saved, String> {
    let text = read_input(path, MOST_DOCUMENT_BYTES).map_err(|error| format!("{}: {error}", path.display()))?;
    let with_path = |why: String| format!("{}: {why}", path.display());
    ConfigFile::parse(&text).and_then(|file| file.saved()).map_err(with_path)
}

/// `quintain check`, under the leading runner's name for it.
fn compliance(command: &[String], check: Check<'_>) -> Result<bool, Failure> {
    check(&command.iter().map(|word| engine::quoted(word)).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests;
