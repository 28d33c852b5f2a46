//! Making of shards: the loop over shards and chunks.

use super::check::{ShardFault, contents, fault_of};
use super::chunk::{ChunkFacts, ChunkWork};
use super::ledger::{FILE_NAME, Ledger, ShardCounts, ShardLine};
use super::recipe::Recipe;
use crate::data::{replace, sha256_of};
use crate::train::{full, lock_folder};
use anyhow::{Context as _, bail, ensure};
use destrier::types::SplitMix64;
use quintain::run::Exit;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Folder of unfinished work.
const WORK: &str = "work";

/// Limits of a call.
#[derive(Debug, Clone, Copy)]
pub struct MakeLimits {
    /// Shards of the stream to reach.
    pub shards: u32,
    /// Time after which no chunk is begun.
    pub time: Option<Duration>,
    /// Games at once.
    pub threads: usize,
    /// True to leave alone listed shards that are not in the folder.
    pub skip_missing: bool,
}

/// End of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MakeEnd {
    /// All shards are there.
    Complete,
    /// The time is over.
    TimeOver,
    /// A match stopped.
    Stopped(Exit),
}

/// Folder of shards while this process makes some.
pub struct Maker {
    recipe: Recipe,
    seed: u64,
    folder: PathBuf,
    ledger: Ledger,
    limits: MakeLimits,
    begun: Instant,
    is_playing: Arc<AtomicBool>,
    /// Lock of the folder, held for the lifetime of the maker.
    _lock: File,
}

/// Finished chunk of a shard.
struct Chunk {
    path: PathBuf,
    facts: ChunkFacts,
    kept: u64,
}

impl Maker {
    /// Opens or creates a folder of shards, and removes work that cannot be continued.
    ///
    /// # Errors
    /// Fails if the folder is in use, or has shards of this name from another recipe.
    pub fn open(recipe: Recipe, seed: Option<u64>, folder: &Path, limits: MakeLimits) -> anyhow::Result<Maker> {
        fs::create_dir_all(folder).with_context(|| format!("{}: cannot create it", folder.display()))?;
        // Part of the settings of unfinished work, so each place has one name.
        let folder = full(folder);
        let lock = lock_folder(&folder).with_context(|| format!("{}: cannot lock it", folder.display()))?;
        let Some(lock) = lock else {
            bail!("{}: another process makes shards there; stop it first, or give another --out", folder.display());
        };
        let ledger = Ledger::open(&folder)?;
        let seed = seed.unwrap_or(recipe.seed);
        if let Some(other) = ledger.stream(&recipe.name, seed).find(|line| line.settings != recipe.settings) {
            bail!(
                "{}: {} is of another recipe `{}` (settings {}, now {}); give the changed recipe another `name`, or another --seed",
                folder.join(FILE_NAME).display(),
                other.file,
                recipe.name,
                other.settings.get(..12).unwrap_or_default(),
                recipe.settings.get(..12).unwrap_or_default(),
            );
        }
        let (begun, is_playing) = (Instant::now(), Arc::default());
        Ok(Maker { recipe, seed, folder, ledger, limits, begun, is_playing, _lock: lock })
    }

    /// Returns a flag that is true during a match, which handles signals itself.
    pub fn is_playing(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_playing)
    }

    /// Returns the ledger.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Makes the shards that are missing or damaged.
    ///
    /// # Errors
    /// Fails if a chunk cannot be made, or a shard that is made again has other bytes than the
    /// ledger says. Finished chunks stay.
    pub fn make(&mut self, out: &mut dyn Write) -> anyhow::Result<MakeEnd> {
        for number in 1..=self.limits.shards {
            let listed = self.ledger.stream(&self.recipe.name, self.seed).find(|line| line.number == number).cloned();
            if let Some(line) = &listed {
                match fault_of(&self.folder, line) {
                    None => {
                        self.clean(number)?;
                        continue;
                    }
                    Some(ShardFault::Missing) if self.limits.skip_missing => continue,
                    Some(fault) => tell(out, &format!("{}: {fault}; it is made again", line.file)),
                }
            }
            match self.shard(number, listed.as_ref(), out)? {
                MakeEnd::Complete => {}
                end => return Ok(end),
            }
        }
        Ok(MakeEnd::Complete)
    }

    fn file(&self, number: u32) -> String {
        format!("{}-{}-{number:05}.vf", self.recipe.name, self.seed)
    }

    fn work(&self, number: u32) -> PathBuf {
        self.folder.join(WORK).join(self.file(number)).with_extension("")
    }

    /// Makes a shard from its chunks.
    fn shard(&mut self, number: u32, listed: Option<&ShardLine>, out: &mut dyn Write) -> anyhow::Result<MakeEnd> {
        let work = self.begin(number, out)?;
        let mut chunks: Vec<Chunk> = Vec::new();
        loop {
            let kept: u64 = chunks.iter().map(|chunk| chunk.kept).sum();
            if kept >= self.recipe.shard_positions {
                break;
            }
            let place = chunks.len() as u32 + 1;
            let chunk = match self.finished(&work, place)? {
                Some(chunk) => chunk,
                None if self.limits.time.is_some_and(|time| self.begun.elapsed() >= time) => {
                    return Ok(MakeEnd::TimeOver);
                }
                None => match self.chunk(&work, number, place)? {
                    Ok(chunk) => chunk,
                    Err(exit) => {
                        if exit == Exit::Aborted {
                            tell(out, &aborted(&work));
                        }
                        return Ok(MakeEnd::Stopped(exit));
                    }
                },
            };
            self.check_engine(&chunk, &chunks)?;
            let now = kept + chunk.kept;
            chunks.push(chunk);
            tell(
                out,
                &format!("{}: chunk {place}, {now} of {} positions", self.file(number), self.recipe.shard_positions),
            );
        }
        let line = self.assemble(number, &chunks)?;
        match listed {
            Some(listed) if listed.sha256 != line.sha256 => {
                // Removed, so that the fault shows again until it is resolved.
                let path = self.folder.join(&line.file);
                fs::remove_file(&path).with_context(|| format!("{}: cannot remove it", path.display()))?;
                // So are its chunks: other engines would not change them.
                self.clean(number)?;
                bail!(
                    "{}: made again with other bytes (engines then `{}`, now `{}`); restore the engines, or remove its line from {FILE_NAME}",
                    line.file,
                    listed.engine,
                    line.engine
                );
            }
            Some(_) => {}
            None => {
                let path = self.folder.join(FILE_NAME);
                // Read again, because lines may have been added meanwhile.
                let mut ledger = Ledger::open(&self.folder)?;
                ledger.record(&path, line)?;
                ledger.write(&path)?;
                self.ledger = ledger;
            }
        }
        self.clean(number)?;
        tell(out, &format!("{}: complete", self.file(number)));
        Ok(MakeEnd::Complete)
    }

    /// Opens the work on a shard. Work of other settings, or from another place, is removed: its
    /// runs would refuse to continue.
    fn begin(&self, number: u32, out: &mut dyn Write) -> anyhow::Result<PathBuf> {
        let work = self.work(number);
        let settings = work.join("settings.txt");
        let is = format!("settings = {}\nfolder = {}\n", self.recipe.settings, work.display());
        if work.exists() {
            let was = fs::read_to_string(&settings).unwrap_or_default();
            if was == is {
                return Ok(work);
            }
            tell(out, &format!("{}: begun with other settings or in another place; it begins anew", work.display()));
            self.clean(number)?;
        }
        fs::create_dir_all(&work).with_context(|| format!("{}: cannot create it", work.display()))?;
        replace(&settings, is.as_bytes())?;
        Ok(work)
    }

    /// Reads a finished chunk; `None` if it is not there yet.
    fn finished(&self, work: &Path, place: u32) -> anyhow::Result<Option<Chunk>> {
        let path = chunk_path(work, place);
        if !path.exists() {
            return Ok(None);
        }
        let facts = path.with_extension("json");
        let read = || anyhow::Ok(serde_json::from_str(&fs::read_to_string(&facts)?)?);
        let facts =
            read().with_context(|| format!("{}: cannot read it; remove {}", facts.display(), work.display()))?;
        let (counts, _) = contents(&path, &self.recipe.keep)
            .with_context(|| format!("remove {}, and its shard begins anew", work.display()))?;
        Ok(Some(Chunk { path, facts, kept: counts.kept }))
    }

    /// Makes a chunk. Its file gets its name last, so a chunk with this name is complete.
    fn chunk(&self, work: &Path, number: u32, place: u32) -> anyhow::Result<Result<Chunk, Exit>> {
        let path = chunk_path(work, place);
        let seeds = [self.seed, u64::from(number), u64::from(place)];
        let job = ChunkWork {
            recipe: &self.recipe,
            folder: path.with_extension(""),
            // 53 bits, which every JSON reader keeps exactly.
            seed: SplitMix64::from_seeds(&seeds).next_u64() >> 11,
            threads: self.limits.threads,
            is_playing: &self.is_playing,
        };
        let (games, facts) = match job.make()? {
            Ok(made) => made,
            Err(exit) => return Ok(Err(exit)),
        };
        let failed = || format!("{}: cannot write it", path.display());
        replace(&path.with_extension("json"), serde_json::to_string(&facts)?.as_bytes()).with_context(failed)?;
        fs::rename(&games, &path).with_context(failed)?;
        fs::remove_dir_all(&job.folder).with_context(|| format!("{}: cannot remove it", job.folder.display()))?;
        let (counts, _) = contents(&path, &self.recipe.keep)?;
        ensure!(
            counts.kept > 0,
            "{}: none of its {} positions is kept; give [keep] milder limits",
            path.display(),
            counts.positions
        );
        Ok(Ok(Chunk { path, facts, kept: counts.kept }))
    }

    /// Checks that the engines are those of the stream so far, or the same seed would stand for
    /// games of different engines. A chunk of others is removed, so that the right ones play it.
    fn check_engine(&self, chunk: &Chunk, before: &[Chunk]) -> anyhow::Result<()> {
        let is = &chunk.facts.engine;
        let in_shard = before.first().map(|chunk| (&chunk.facts.engine, "this shard began with"));
        let earlier = self.ledger.stream(&self.recipe.name, self.seed).map(|line| (&line.engine, "the ledger has"));
        for (was, whence) in in_shard.into_iter().chain(earlier) {
            if was != is {
                let path = chunk.path.display();
                fs::remove_file(&chunk.path).with_context(|| format!("{path}: cannot remove it"))?;
                bail!(
                    "{path}: played by `{is}`, but {whence} `{was}`, so it is removed; restore the engines, or give another --seed"
                );
            }
        }
        Ok(())
    }

    /// Joins the chunks to the shard's file, and returns its line.
    fn assemble(&self, number: u32, chunks: &[Chunk]) -> anyhow::Result<ShardLine> {
        let file = self.file(number);
        let path = self.folder.join(&file);
        let part = path.with_extension("vf.part");
        let write = || -> io::Result<()> {
            let mut joined = File::create(&part)?;
            for chunk in chunks {
                io::copy(&mut File::open(&chunk.path)?, &mut joined)?;
            }
            joined.sync_all()?;
            fs::rename(&part, &path)
        };
        write().with_context(|| format!("{}: cannot write it", path.display()))?;
        let (counts, bytes) = contents(&path, &self.recipe.keep)?;
        Ok(ShardLine {
            sha256: sha256_of(&path)?,
            file,
            recipe: self.recipe.name.clone(),
            settings: self.recipe.settings.clone(),
            seed: self.seed,
            number,
            engine: chunks.first().map(|chunk| chunk.facts.engine.clone()).unwrap_or_default(),
            counts,
            passed_over: chunks.iter().map(|chunk| chunk.facts.passed_over).sum(),
            bytes,
        })
    }

    /// Removes the work on a shard that is complete or cannot be continued.
    fn clean(&self, number: u32) -> anyhow::Result<()> {
        let work = self.work(number);
        match fs::remove_dir_all(&work) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(error).with_context(|| format!("{}: cannot remove it", work.display()))
            }
            _ => Ok(()),
        }
    }
}

fn chunk_path(work: &Path, place: u32) -> PathBuf {
    work.join(format!("chunk-{place:04}.vf"))
}

/// Returns the line about a match that could not go on.
fn aborted(work: &Path) -> String {
    format!(
        "{}: the match could not go on; remove the cause told above (if engines failed, a folder `crashes` in it says how) and give the same command again",
        work.display()
    )
}

/// Prints a line. A closed pipe must not end the work.
fn tell(out: &mut dyn Write, line: &str) {
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Returns the sum of the counts of a ledger's lines.
pub fn sum<'a>(lines: impl Iterator<Item = &'a ShardLine>) -> ShardCounts {
    lines.fold(ShardCounts::default(), |mut sum, line| {
        sum.add(&line.counts);
        sum
    })
}
