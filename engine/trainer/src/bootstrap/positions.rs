//! From games to what a network is trained on: the commands of `destrier-trainer data`, one after the other, as a user would call them.

use crate::data::{self, record::BULLET_BYTES};
use clap::{Args as _, Parser};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A command of `data`.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Words {
    #[command(subcommand)]
    command: data::Command,
}

/// What the options of a filter lack: their keys, then the words that they make.
///
/// # Errors
/// A key that is not the filter's, or the command line's own message, on one line.
pub fn check_filter<'a>(mut keys: impl Iterator<Item = &'a String>, filter: &[String]) -> Result<(), String> {
    let command = data::Filter::augment_args(clap::Command::new("filter"));
    let known: Vec<&str> = command.get_arguments().filter_map(clap::Arg::get_long).collect();
    if let Some(key) = keys.find(|key| !known.contains(&key.as_str())) {
        return Err(format!("unknown key `{key}`; keys are {}", known.join(", ")));
    }
    let words = ["filter", "games.vf", "--out", "positions.bf"].into_iter().map(str::to_owned);
    match Words::try_parse_from(words.chain(filter.iter().cloned())) {
        Ok(_) => Ok(()),
        Err(error) => {
            let text = error.to_string();
            Err(text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned())
        }
    }
}

fn data(words: impl IntoIterator<Item = OsString>) -> anyhow::Result<()> {
    data::run(Words::try_parse_from(words)?.command)
}

/// Words of a command line, some of them paths.
macro_rules! words {
    ($($word:expr),* $(,)?) => { vec![$(OsString::from($word)),*] };
}

/// Parts games into those that are trained on and those that are held out.
///
/// # Errors
/// What could not be read or written.
pub fn split(games: &Path, training: &Path, held_out: &Path, share: f64, seed: u64) -> anyhow::Result<()> {
    // The second of the two is renamed last.
    if held_out.exists() {
        return Ok(());
    }
    let (share, seed) = (share.to_string(), seed.to_string());
    let (out, validation) = (words!["--out", training], words!["--validation", held_out]);
    let numbers = words!["--share", share, "--seed", seed, "--force"];
    data([words!["split", games], out, validation, numbers].concat())
}

/// Makes shuffled bulletformat of games: what the filter keeps, each position once. Returns the number of positions.
///
/// # Errors
/// What could not be read or written.
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
