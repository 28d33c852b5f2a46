//! Conversion of games to training data by the commands of `destrier-trainer data`, as a user would
//! call them.

use crate::data::{self, record::BULLET_BYTES};
use clap::{Args as _, Parser};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Parser of a `data` command.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Words {
    #[command(subcommand)]
    command: data::DataCommand,
}

/// Creates command-line arguments from strings and paths.
macro_rules! words {
    ($($word:expr),* $(,)?) => { vec![$(OsString::from($word)),*] };
}

/// Parser of the options of a filter alone.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct FilterWords {
    #[command(flatten)]
    filter: data::Filter,
}

/// Parses the options of a filter, after a check of their keys.
///
/// # Errors
/// Fails for an unknown key, or with the first line of the parser's message.
pub fn parse_filter<'a>(mut keys: impl Iterator<Item = &'a String>, filter: &[String]) -> Result<data::Filter, String> {
    let command = data::Filter::augment_args(clap::Command::new("filter"));
    let known: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    if let Some(key) = keys.find(|key| !known.contains(&key.as_str())) {
        return Err(format!("unknown key `{key}`; keys are {}", known.join(", ")));
    }
    FilterWords::try_parse_from(filter).map(|words| words.filter).map_err(|error| first_line(&error))
}

/// Checks the options of `data rescore`.
///
/// # Errors
/// Fails with the first line of the parser's message.
pub fn check_rescore(options: &[String]) -> Result<(), String> {
    let words = ["rescore", "games.vf", "--out", "scored.vf"].into_iter().map(str::to_owned);
    match Words::try_parse_from(words.chain(options.iter().cloned())) {
        Ok(_) => Ok(()),
        Err(error) => Err(first_line(&error)),
    }
}

/// Replaces the scores of games by those of an engine; continues where it stopped.
///
/// # Errors
/// Fails if a file cannot be read or written, or an engine misbehaves.
pub fn rescore(games: &Path, out: &Path, engines: usize, options: &[String]) -> anyhow::Result<()> {
    let own = words!["rescore", games, "--out", out, "--engines", engines.to_string()];
    data(own.into_iter().chain(options.iter().map(OsString::from)))
}

/// Returns the first line of a parser's message.
fn first_line(error: &clap::Error) -> String {
    let text = error.to_string();
    text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned()
}

fn data(words: impl IntoIterator<Item = OsString>) -> anyhow::Result<()> {
    data::run(Words::try_parse_from(words)?.command)
}

/// Splits games into training and held-out games, unless that is done.
///
/// # Errors
/// Fails if an input cannot be read or an output cannot be written.
pub fn split(games: &Path, training: &Path, held_out: &Path, share: f64, seed: u64) -> anyhow::Result<()> {
    // The held-out file is renamed last, so both are complete if it exists.
    if held_out.exists() {
        return Ok(());
    }
    let (share, seed) = (share.to_string(), seed.to_string());
    let (out, validation) = (words!["--out", training], words!["--validation", held_out]);
    let numbers = words!["--share", share, "--seed", seed, "--force"];
    data([words!["split", games], out, validation, numbers].concat())
}

/// Converts games to shuffled bulletformat with the filtered positions, each once. Returns the
/// number of positions.
///
/// # Errors
/// Fails if an input cannot be read or an output cannot be written.
pub fn prepare(games: &[PathBuf], out: &Path, filter: &[String], seed: u64) -> anyhow::Result<u64> {
    let [filtered, unique] = ["filtered.bf", "unique.bf"].map(|extension| out.with_extension(extension));
    if !out.exists() {
        if !filtered.exists() {
            let options: Vec<OsString> = filter.iter().map(OsString::from).collect();
            let files: Vec<OsString> = games.iter().map(OsString::from).collect();
            data([words!["filter"], files, words!["--out", &filtered], options].concat())?;
        }
        if !unique.exists() {
            data(words!["dedup", &filtered, "--out", &unique])?;
        }
        data(words!["shuffle", &unique, "--out", out, "--seed", seed.to_string()])?;
    }
    for spent in [filtered, unique] {
        match std::fs::remove_file(&spent) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(anyhow::Error::new(error).context(format!("{}: cannot remove it", spent.display())));
            }
            _ => {}
        }
    }
    Ok(std::fs::metadata(out)?.len() / BULLET_BYTES as u64)
}
