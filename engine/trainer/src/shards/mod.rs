//! Self-play data in shards that neither a stop nor a new machine loses.
//!
//! A shard is a file of whole games with about a million kept positions. It depends only on its
//! recipe, a seed, its number and the engines, so a damaged one can be made again, byte for byte. A
//! ledger lists every shard with hash and counts; it is small and belongs into Git, the data
//! outside.
//!
//! A shard is made of chunks of some games. A finished chunk is a file; within one, Destrier's
//! `datagen`, Quintain's journal and `data rescore` each continue after their last whole record.
//! Every file gets its name last, and the ledger is replaced atomically. The process can therefore
//! be killed at any time.
//!
//! Reading order: `recipe.rs` (the user's settings), `ledger.rs` (the list), `openings.rs` and
//! `chunk.rs` (the games), `make.rs` (the loop), `check.rs`, then the commands here.

mod check;
mod chunk;
mod ledger;
mod make;
mod openings;
mod recipe;

pub use ledger::{Ledger, LedgerError, ShardCounts, ShardLine};
pub use recipe::{Recipe, RecipeError};

use crate::compare::end_at_interrupts;
use crate::data::say;
use crate::train::{LOCK, lock_folder};
use anyhow::bail;
use clap::{Args, Subcommand};
use make::{MakeEnd, MakeLimits, Maker, sum};
use quintain::run::Exit;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

const EXAMPLES: &str = "\
Examples:
  destrier-trainer shards make engine/trainer/plans/recipes/stockfish-4-5.toml --out /data/shards --shards 300
  destrier-trainer shards make RECIPE.toml --out /data/shards --shards 300 --seed 2     # a second machine
  destrier-trainer shards check /data/shards

The same command continues after any kind of stop; `nice -n 19` leaves the machine to others. Listed shards that are \
damaged or missing are named and made again. Exit codes: 0 all shards are there or --hours are over, 4 an engine failed too \
often, 130 it was interrupted.";

/// Commands of `destrier-trainer shards`.
#[derive(Debug, Subcommand)]
pub enum ShardsCommand {
    /// Makes shards of self-play from a recipe; continues where it stopped
    Make(MakeArgs),
    /// Checks every shard of a folder against its ledger; exit code 1 if one is damaged
    Check(FolderArgs),
    /// Prints the sums of a ledger by recipe and seed
    Info(FolderArgs),
    /// Joins ledgers of several machines; refuses duplicates
    Merge(MergeArgs),
}

/// Arguments of `make`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct MakeArgs {
    /// The recipe, TOML
    recipe: PathBuf,
    /// Folder for the shards and `ledger.jsonl`
    #[arg(long, short, value_name = "DIR")]
    out: PathBuf,
    /// Shards to have in the end, those that are there included
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    shards: u32,
    /// Seed of this machine's stream [default: the recipe's]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Games at once [default: processors]
    #[arg(long, value_name = "N")]
    threads: Option<u16>,
    /// Hours after which no further chunk is begun
    #[arg(long, value_name = "H")]
    hours: Option<f64>,
    /// Leave listed shards alone that are not in the folder, instead of making them again
    #[arg(long)]
    skip_missing: bool,
}

/// Arguments of `check` and `info`.
#[derive(Debug, Args)]
pub struct FolderArgs {
    /// Folder of shards; for `info` also a ledger
    folder: PathBuf,
}

/// Arguments of `merge`.
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// Ledgers, or folders with one
    #[arg(required = true, num_args = 2.., value_name = "LEDGER")]
    ledgers: Vec<PathBuf>,
    /// Ledger to write
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Replace the file
    #[arg(long)]
    force: bool,
}

/// Runs a command.
///
/// # Errors
/// Fails if a recipe, ledger or shard cannot be read, a shard cannot be made, or ledgers list a
/// shard twice.
pub fn run(command: ShardsCommand, out: &mut dyn Write) -> anyhow::Result<Exit> {
    match command {
        ShardsCommand::Make(make) => make.run(out),
        ShardsCommand::Check(folder) => folder.check(),
        ShardsCommand::Info(folder) => {
            say(Ledger::read(&folder.folder)?.table().trim_end())?;
            Ok(Exit::Done)
        }
        ShardsCommand::Merge(merge) => merge.run(),
    }
}

impl MakeArgs {
    fn run(&self, out: &mut dyn Write) -> anyhow::Result<Exit> {
        let time = match self.hours {
            None => None,
            Some(hours) if hours > 0.0 && hours <= 1e5 => Some(Duration::from_secs_f64(3600.0 * hours)),
            Some(hours) => bail!("--hours {hours}: expected more than 0"),
        };
        if self.threads == Some(0) {
            bail!("--threads 0 plays nothing; give 1 or more");
        }
        let processors = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.threads.map_or_else(processors, usize::from);
        let limits = MakeLimits { shards: self.shards, time, threads, skip_missing: self.skip_missing };
        let recipe = Recipe::load(&self.recipe)?;
        let mut maker = Maker::open(recipe, self.seed, &self.out, limits)?;
        end_at_interrupts(maker.is_playing())?;
        match maker.make(out)? {
            MakeEnd::Complete => {}
            MakeEnd::TimeOver => writeln!(out, "the time is over; the same command continues")?,
            MakeEnd::Stopped(exit) => return Ok(exit),
        }
        let sum = sum(maker.ledger().lines().iter());
        writeln!(out, "{} games, {} positions, {} of them kept, in all shards", sum.games, sum.positions, sum.kept)?;
        Ok(Exit::Done)
    }
}

impl FolderArgs {
    fn check(&self) -> anyhow::Result<Exit> {
        let files = check::shard_files(&self.folder)?;
        let ledger = Ledger::read(&self.folder)?;
        let mut found = check::check_folder(&self.folder, &ledger);
        // Read again: a shard that was finished meanwhile is no stray file.
        found.faults.extend(check::strays(&files, &Ledger::read(&self.folder)?));
        for (file, fault) in &found.faults {
            say(&format!("{file}: {fault}"))?;
        }
        let (shards, faults) = (ledger.lines().len(), found.faults.len());
        say(&format!(
            "{shards} shards listed, {faults} faults; {} games read, {} of them copies of earlier ones",
            found.games, found.copies
        ))?;
        Ok(if found.faults.is_empty() { Exit::Done } else { Exit::Failed })
    }
}

impl MergeArgs {
    fn run(&self) -> anyhow::Result<Exit> {
        if self.out.exists() && !self.force {
            bail!("{}: already exists; give `--force` to replace it", self.out.display());
        }
        let folder = self.out.parent().filter(|folder| folder.join(LOCK).exists());
        let lock = folder.map(lock_folder).transpose()?;
        if matches!(lock, Some(None)) {
            bail!("{}: another process makes shards there; stop it first, or give another --out", self.out.display());
        }
        let mut merged = Ledger::default();
        for path in &self.ledgers {
            for line in Ledger::read(path)?.lines() {
                merged.record(path, line.clone())?;
            }
        }
        merged.write(&self.out)?;
        say(merged.table().trim_end())?;
        Ok(Exit::Done)
    }
}
