//! Checks of shards against their ledger.

use super::ledger::{Ledger, ShardCounts, ShardLine};
use crate::data::record::Entry;
use crate::data::{DataError, Filter, Format, read, sha256_of};
use destrier::datagen::viriformat::ScoredGame;
use destrier::types::SplitMix64;
use std::collections::HashSet;
use std::fmt;
use std::path::Path;

/// Fault of a listed shard.
#[derive(Debug)]
pub enum ShardFault {
    /// The file is not in the folder.
    Missing,
    /// The file has another size.
    Size {
        /// Bytes found.
        found: u64,
        /// Bytes by the ledger.
        expected: u64,
    },
    /// The file has other bytes.
    Hash,
    /// The games are not those that the ledger counts.
    Counts(&'static str),
    /// The file cannot be read.
    Unreadable(String),
}

impl fmt::Display for ShardFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShardFault::Missing => f.write_str("not in the folder"),
            ShardFault::Size { found, expected } => write!(f, "damaged: {found} bytes, the ledger says {expected}"),
            ShardFault::Hash => f.write_str("damaged: its SHA-256 is not the one in the ledger"),
            ShardFault::Counts(what) => write!(f, "its number of {what} is not the one in the ledger"),
            ShardFault::Unreadable(why) => write!(f, "damaged: {why}"),
        }
    }
}

/// Compares a shard's size and hash with its line.
pub fn fault_of(folder: &Path, line: &ShardLine) -> Option<ShardFault> {
    let path = folder.join(&line.file);
    let found = match path.metadata() {
        Ok(data) if data.is_file() => data.len(),
        _ => return Some(ShardFault::Missing),
    };
    if found != line.bytes {
        return Some(ShardFault::Size { found, expected: line.bytes });
    }
    match sha256_of(&path) {
        Ok(hash) if hash == line.sha256 => None,
        Ok(_) => Some(ShardFault::Hash),
        Err(error) => Some(ShardFault::Unreadable(error.to_string())),
    }
}

/// Counts the contents of a file of games. Returns the counts and the size in bytes.
///
/// # Errors
/// Fails if the file cannot be read or is damaged.
pub fn contents(path: &Path, keep: &Filter) -> Result<(ShardCounts, u64), DataError> {
    let mut counts = ShardCounts::default();
    let bytes = each_game(path, |game| {
        counts.games += 1;
        counts.positions += game.plies.len() as u64;
        counts.results[usize::from(game.result.half_points())] += 1;
        let positions = Entry::Game(game).positions();
        counts.kept += positions.iter().filter(|position| keep.keeps(position)).count() as u64;
    })?;
    Ok((counts, bytes))
}

/// Reads the games of a file. Returns its size in bytes.
fn each_game(path: &Path, mut each: impl FnMut(ScoredGame)) -> Result<u64, DataError> {
    let source = read::open(path, Some(Format::Viriformat))?;
    for entry in source.entries {
        each(entry?.into_game());
    }
    Ok(source.length)
}

/// Result of a check of a folder.
#[derive(Debug, Default)]
pub struct FolderCheck {
    /// Faults by file, in the order of the ledger.
    pub faults: Vec<(String, String)>,
    /// Games read.
    pub games: u64,
    /// Games that are the same as an earlier one, move for move.
    pub copies: u64,
}

/// Returns the names of the files of games in a folder, sorted.
///
/// # Errors
/// Fails if the folder cannot be read.
pub fn shard_files(folder: &Path) -> std::io::Result<Vec<String>> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".vf"))
        .collect();
    names.sort();
    Ok(names)
}

/// Checks every shard of a folder: size, hash, legality of every move, counts; and counts games
/// that occur twice.
pub fn check_folder(folder: &Path, ledger: &Ledger) -> FolderCheck {
    let mut check = FolderCheck::default();
    let mut seen = HashSet::new();
    for line in ledger.lines() {
        let fault = fault_of(folder, line).or_else(|| fault_of_games(folder, line, &mut seen, &mut check));
        if let Some(fault) = fault {
            check.faults.push((line.file.clone(), fault.to_string()));
        }
    }
    check
}

/// Returns the files that no line of a ledger lists, with this fault.
pub fn strays<'a>(files: &'a [String], ledger: &'a Ledger) -> impl Iterator<Item = (String, String)> + 'a {
    let strays = files.iter().filter(|name| ledger.lines().iter().all(|line| line.file != **name));
    strays.map(|name| (name.clone(), "no line of the ledger lists it".to_owned()))
}

fn fault_of_games(
    folder: &Path,
    line: &ShardLine,
    seen: &mut HashSet<u64>,
    check: &mut FolderCheck,
) -> Option<ShardFault> {
    let (mut counts, mut copies) = (ShardCounts::default(), 0);
    let read = each_game(&folder.join(&line.file), |game| {
        counts.games += 1;
        counts.positions += game.plies.len() as u64;
        counts.results[usize::from(game.result.half_points())] += 1;
        copies += u64::from(!seen.insert(key(&game)));
    });
    check.games += counts.games;
    check.copies += copies;
    match read {
        Err(error) => Some(ShardFault::Unreadable(error.to_string())),
        Ok(_) if counts.games != line.counts.games => Some(ShardFault::Counts("games")),
        Ok(_) if counts.positions != line.counts.positions => Some(ShardFault::Counts("positions")),
        Ok(_) if counts.results != line.counts.results => Some(ShardFault::Counts("results")),
        Ok(_) => None,
    }
}

/// Hash of a game's start and moves.
fn key(game: &ScoredGame) -> u64 {
    let words: Vec<u64> =
        [game.start.key()].into_iter().chain(game.plies.iter().map(|ply| u64::from(ply.mv.raw()))).collect();
    SplitMix64::from_seeds(&words).next_u64()
}
