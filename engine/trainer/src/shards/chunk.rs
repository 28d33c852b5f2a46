//! A chunk: some games of a shard, made in a folder of its own. It depends only on the recipe, the
//! seed and the engines, and goes on after a kill within it.

use super::recipe::{Play, Recipe, options_of};
use crate::bootstrap::rescore;
use crate::data::{journal_games, networks_of, program_of, replace, sha256_of};
use anyhow::Context as _;
use destrier::datagen;
use destrier::search::EvalConfig;
use indicatif::{ProgressBar, ProgressStyle};
use quintain::journal;
use quintain::plan::Player;
use quintain::run::Exit;
use quintain::run::play::play;
use quintain::settings::RawPlan;
use quintain::source::GAMES_FOLDERS;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Facts of a chunk that its games do not tell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunkFacts {
    /// Engines that played, and the one that scored.
    pub engine: String,
    /// Games that an engine lost by a failure.
    pub passed_over: u64,
}

/// Work on a chunk.
pub struct ChunkWork<'a> {
    /// The recipe.
    pub recipe: &'a Recipe,
    /// Folder of the work.
    pub folder: PathBuf,
    /// Seed of openings and random moves.
    pub seed: u64,
    /// Games at once.
    pub threads: usize,
    /// Set while Quintain plays, which handles signals itself.
    pub is_playing: &'a AtomicBool,
}

impl ChunkWork<'_> {
    /// Makes the games and returns their file, or the exit status of an unfinished match.
    ///
    /// # Errors
    /// Fails if an engine is missing or misbehaves, or a file cannot be read or written.
    pub fn make(&self) -> anyhow::Result<Result<(PathBuf, ChunkFacts), Exit>> {
        fs::create_dir_all(&self.folder).with_context(|| format!("{}: cannot create it", self.folder.display()))?;
        let games = self.folder.join("games.vf");
        let facts = match &self.recipe.play {
            Play::Own(words) => self.play_own(words, &games)?,
            Play::Match(plan, openings) => {
                let book = self.folder.join("openings.epd");
                if !book.exists() {
                    let text = openings.draw(self.recipe.chunk_games / 2, self.seed)?;
                    replace(&book, text.as_bytes())?;
                }
                match self.play_match(plan, &book, &games)? {
                    Ok(facts) => facts,
                    Err(exit) => return Ok(Err(exit)),
                }
            }
        };
        let Some(options) = &self.recipe.rescore else { return Ok(Ok((games, facts))) };
        let scored = self.folder.join("scored.vf");
        let (options, scorer) = with_program(options)?;
        rescore(&games, &scored, self.threads, &options)?;
        Ok(Ok((scored, ChunkFacts { engine: format!("{}; scores: {scorer}", facts.engine), ..facts })))
    }

    fn play_own(&self, words: &[String], games: &Path) -> anyhow::Result<ChunkFacts> {
        let (out, threads) = (games.display().to_string(), self.threads.to_string());
        let (seed, count) = (self.seed.to_string(), self.recipe.chunk_games.to_string());
        let mut all = vec!["--out", &out, "--threads", &threads, "--seed", &seed, "--games", &count];
        all.extend(words.iter().map(String::as_str));
        let job = datagen::parse(&all)?;
        let bar = bar();
        datagen::run(&job, |tally| {
            bar.set_position(tally.games);
            bar.set_message(format!("{} positions", tally.positions));
        })?;
        bar.finish_and_clear();
        Ok(ChunkFacts { engine: datagen::identity(&job.evaluation)?, passed_over: 0 })
    }

    /// Plays a match of Quintain, and writes its games in the order of the schedule.
    fn play_match(&self, plan: &RawPlan, book: &Path, games: &Path) -> anyhow::Result<Result<ChunkFacts, Exit>> {
        let raw = RawPlan {
            pairs: Some(self.recipe.chunk_games / 2),
            book: Some(book.to_owned()),
            book_order: Some("sequential".to_owned()),
            seed: Some(self.seed),
            concurrency: Some(u16::try_from(self.threads).unwrap_or(u16::MAX)),
            ..plan.clone()
        };
        let root = self.folder.join("run");
        self.is_playing.store(true, Ordering::Relaxed);
        let played = play(&raw, "shards", &root);
        self.is_playing.store(false, Ordering::Relaxed);
        let played = played.with_context(|| format!("{}: cannot play the games", root.display()))?;
        if played.exit != Exit::Done {
            return Ok(Err(played.exit));
        }
        let found = journal_games(&root.join(journal::FILE_NAME))?;
        let mut bytes = Vec::new();
        found.games.iter().for_each(|game| game.write(&mut bytes));
        let write = || {
            let mut file = File::create(games)?;
            file.write_all(&bytes)?;
            file.sync_data()
        };
        write().with_context(|| format!("{}: cannot write it", games.display()))?;
        let player = |player: &Player| {
            let name = player.program.file_name().unwrap_or_default().to_string_lossy();
            let options = player.options.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            anyhow::Ok(format!("{name} {}{}", short(&player.origin.sha256), networks(options)?))
        };
        let mut engines: Vec<String> = played.plan.players.iter().map(player).collect::<Result<_, _>>()?;
        engines.dedup();
        let judge = datagen::identity(&EvalConfig::default())?;
        let engine = format!("{}; openings: {judge}", engines.join(", "));
        Ok(Ok(ChunkFacts { engine, passed_over: found.passed_over }))
    }
}

/// Replaces the name of the engine in the options of `rescore` by its program. Returns the options,
/// and the engine's name with a part of its hash.
fn with_program(options: &[String]) -> anyhow::Result<(Vec<String>, String)> {
    let mut options = options.to_vec();
    let place = options.iter().position(|word| word == "--engine").context("[rescore] names no `engine`")?;
    let word = options.get_mut(place + 1).context("[rescore] names no `engine`")?;
    let name = Path::new(word.as_str());
    let program = program_of(name, &GAMES_FOLDERS.map(Path::new));
    let program =
        program.with_context(|| format!("[rescore]: `{word}` is not on PATH; install it, or give its path"))?;
    let hash = sha256_of(&program)?;
    let name = program.file_name().unwrap_or_default().to_string_lossy().into_owned();
    *word = program.display().to_string();
    let rest: Vec<&str> = options
        .iter()
        .enumerate()
        .filter(|(at, _)| *at != place && *at != place + 1)
        .map(|(_, word)| word.as_str())
        .collect();
    let told = format!("{name} {} {}", short(&hash), rest.join(" "));
    let networks = networks(options_of(&options))?;
    Ok((options, format!("{}{networks}", told.trim_end())))
}

/// First digits of a hash, which distinguish two programs.
fn short(hash: &str) -> &str {
    hash.get(..12).unwrap_or(hash)
}

/// Formats the networks that options name, each with a part of its hash.
fn networks<'a>(options: impl Iterator<Item = (&'a str, &'a str)>) -> anyhow::Result<String> {
    let mut told = String::new();
    for (path, hash) in networks_of(options)? {
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        told += &format!(" {file} {}", short(&hash));
    }
    Ok(told)
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{pos} games, {msg}, {per_sec}");
    ProgressBar::new_spinner().with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()))
}
