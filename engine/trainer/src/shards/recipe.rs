//! Recipes of self-play data: TOML files.

use super::openings::{OpeningSource, RawOpenings};
use crate::bootstrap::{check_rescore, parse_filter, words};
use crate::data::Filter;
use crate::train::{folder_of, line_of};
use destrier::datagen;
use destrier::nnue::sha256_hex;
use quintain::settings::{RawPlan, RawPlayer};
use quintain::text::{TomlError, from_toml};
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::Table;

/// Error in a recipe.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// Recipe that cannot be read.
    #[error("{}: cannot read it: {error}", path.display())]
    Io {
        /// The recipe.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// Invalid TOML, or an unknown key.
    #[error(transparent)]
    Syntax(#[from] TomlError),
    /// Value out of range, or of the wrong kind.
    #[error("{}: line {line}, `{key}`: {why}", path.display())]
    Value {
        /// The recipe.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The key.
        key: &'static str,
        /// The fault and the remedy.
        why: String,
    },
}

/// Players of the games.
#[derive(Debug, Clone, PartialEq)]
pub enum Play {
    /// Destrier against itself in this process, with these options of `destrier datagen`.
    Own(Vec<String>),
    /// Two UCI engines under Quintain, from openings made here.
    Match(Box<RawPlan>, OpeningSource),
}

/// Recipe of a stream of shards.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipe {
    /// Name, which begins the names of the shards.
    pub name: String,
    /// Seed, unless the command gives another.
    pub seed: u64,
    /// Kept positions of a shard, reached with a whole chunk.
    pub shard_positions: u64,
    /// Games of a chunk, the unit of work.
    pub chunk_games: u64,
    /// Players of the games.
    pub play: Play,
    /// Options of `data rescore`, if the scores are replaced.
    pub rescore: Option<Vec<String>>,
    /// Criteria of the positions that count.
    pub keep: Filter,
    /// SHA-256 of all settings that determine the games.
    pub settings: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    name: String,
    #[serde(default = "defaults::seed")]
    seed: u64,
    #[serde(default = "defaults::shard_positions")]
    shard_positions: u64,
    #[serde(default = "defaults::chunk_games")]
    chunk_games: u64,
    #[serde(default)]
    self_play: Option<Table>,
    #[serde(default, rename = "match")]
    contest: Option<RawPlan>,
    #[serde(default)]
    openings: Option<RawOpenings>,
    #[serde(default)]
    rescore: Option<Table>,
    #[serde(default)]
    keep: Table,
}

mod defaults {
    pub const fn seed() -> u64 {
        1
    }

    pub const fn shard_positions() -> u64 {
        1_000_000
    }

    pub const fn chunk_games() -> u64 {
        1000
    }
}

/// Options of `destrier datagen` that the shards set themselves.
const OWN_OPTIONS: [&str; 5] = ["out", "seed", "threads", "games", "positions"];
/// Options of `data rescore` that the shards set themselves.
const RESCORE_OPTIONS: [&str; 4] = ["out", "to", "from", "engines"];
/// Chunks of more games would lose much time with a stop, and take much memory.
const MOST_CHUNK_GAMES: u64 = 100_000;

/// Fault of a key.
type KeyFault = (&'static str, String);

fn fault(key: &'static str, why: impl Into<String>) -> KeyFault {
    (key, why.into())
}

impl Recipe {
    /// Reads a recipe, and the books and networks that it names.
    ///
    /// # Errors
    /// [`RecipeError`], with file, key and remedy.
    pub fn load(path: &Path) -> Result<Recipe, RecipeError> {
        let text = std::fs::read_to_string(path).map_err(|error| RecipeError::Io { path: path.to_owned(), error })?;
        let file: File = from_toml(path, &text)?;
        Recipe::of(file, &folder_of(path)).map_err(|(key, why)| RecipeError::Value {
            path: path.to_owned(),
            line: line_of(&text, key),
            key,
            why,
        })
    }

    fn of(file: File, folder: &Path) -> Result<Recipe, KeyFault> {
        check_numbers(&file)?;
        let mut settings = format!("shard-positions = {}\nchunk-games = {}\n", file.shard_positions, file.chunk_games);
        let play = match (file.self_play, file.contest) {
            (Some(table), None) if file.openings.is_none() => {
                let (words, told) = own(&table, folder)?;
                settings += &format!("self-play = {told}\n");
                Play::Own(words)
            }
            (Some(_), None) => {
                return Err(fault("openings", "those of [self-play] are its own keys `book` and `random-plies`"));
            }
            (None, Some(plan)) => {
                check_match(&plan, file.chunk_games)?;
                let openings = OpeningSource::load(file.openings.unwrap_or_default(), folder)
                    .map_err(|why| fault("openings", why))?;
                settings += &format!("{}\nmatch = {}\n", openings.settings(), told_match(&plan)?);
                Play::Match(Box::new(plan), openings)
            }
            _ => {
                return Err(fault(
                    "self-play",
                    "give one of [self-play], Destrier alone, and [match], two UCI engines",
                ));
            }
        };
        let rescore = match &file.rescore {
            Some(table) => Some(rescore(table)?),
            None => None,
        };
        let keep = words(&file.keep).map_err(|why| fault("keep", why))?;
        let filter = parse_filter(file.keep.keys(), &keep).map_err(|why| fault("keep", why))?;
        settings +=
            &format!("rescore = {}\nkeep = {}\n", rescore.clone().unwrap_or_default().join(" "), keep.join(" "));
        Ok(Recipe {
            name: file.name,
            seed: file.seed,
            shard_positions: file.shard_positions,
            chunk_games: file.chunk_games,
            play,
            rescore,
            keep: filter,
            settings: sha256_hex(settings.as_bytes()),
        })
    }
}

fn check_numbers(file: &File) -> Result<(), KeyFault> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    match () {
        () if file.name.is_empty() || file.name.len() > 60 || !file.name.chars().all(is_plain) => {
            Err(fault("name", "it begins file names: 1 to 60 letters, digits, `-` and `_`"))
        }
        () if file.shard_positions == 0 => Err(fault("shard-positions", "0 is no shard; give 1 or more")),
        () if file.chunk_games == 0 || file.chunk_games > MOST_CHUNK_GAMES => {
            Err(fault("chunk-games", format!("give 1 to {MOST_CHUNK_GAMES} games")))
        }
        () => Ok(()),
    }
}

/// Checks the options of self-play. Returns them, and the text in which files stand by their hash.
fn own(table: &Table, folder: &Path) -> Result<(Vec<String>, String), KeyFault> {
    let wrong = |why: String| fault("self-play", why);
    if let Some(key) = table.keys().find(|key| OWN_OPTIONS.contains(&key.as_str())) {
        return Err(wrong(format!("the shards set `{key}`; leave it out")));
    }
    let mut words = words(table).map_err(wrong)?;
    let mut told = words.clone();
    for place in 1..words.len() {
        let is_file = match words[place - 1].as_str() {
            "--book" => true,
            "--evaluation" => words[place] != "classical",
            _ => false,
        };
        if is_file {
            let path = folder.join(&words[place]);
            words[place] = path.display().to_string();
            let bytes = std::fs::read(&path).map_err(|error| wrong(format!("{}: {error}", path.display())))?;
            told[place] = sha256_hex(&bytes);
        }
    }
    let all: Vec<&str> =
        ["--out", "x.vf", "--positions", "1"].into_iter().chain(words.iter().map(String::as_str)).collect();
    let job = datagen::parse(&all).map_err(|error| wrong(error.to_string()))?;
    if job.openings.are_in_turn() && job.rules.random_moves == 0 {
        return Err(wrong("chunks would play the same openings, and the same games; give `random-plies`".to_owned()));
    }
    Ok((words, told.join(" ") + job.openings.mark()))
}

/// Checks that a match leaves to the shards what is the shards', and that no two games are copies.
fn check_match(plan: &RawPlan, chunk_games: u64) -> Result<(), KeyFault> {
    let wrong = |why: &str| Err(fault("match", why));
    let [one, other] = plan.players.as_slice() else {
        return wrong("give two [[match.players]]");
    };
    let RawPlan { new, base, bounds, pairs, max_pairs, format, heroes, rounds, .. } = plan;
    let RawPlan { out, seed, name, book, book_order, book_start, concurrency, .. } = plan;
    let is_test = new.is_some() || base.is_some() || bounds.is_some() || max_pairs.is_some();
    if is_test || pairs.is_some() || format.is_some() || heroes.is_some() || rounds.is_some() {
        return wrong("the shards set the number of pairs; leave out `pairs`, `format`, and keys of tests");
    }
    if out.is_some() || seed.is_some() || name.is_some() || concurrency.is_some() {
        return wrong("leave out `out`, `seed`, `name` and `concurrency`, which the shards set");
    }
    if book.is_some() || book_order.is_some() || book_start.is_some() {
        return wrong("the book stands in [openings]; leave out `book`, `book-order` and `book-start`");
    }
    let RawPlan { max_time, until_width, ponder, options, .. } = plan;
    if max_time.is_some() || until_width.is_some() {
        return wrong(
            "a chunk has all its games; leave out `max-time` and `until-width`, and give the command --hours",
        );
    }
    let mut options = [options, &one.options, &other.options].into_iter().flatten();
    if *ponder == Some(true) || options.any(|(name, value)| is_parallel(name, value)) {
        return wrong("games with pondering or several threads cannot be made again; leave out `ponder` and `Threads`");
    }
    let nameless = |player: &RawPlayer| RawPlayer { name: None, ..player.clone() };
    if nameless(one) == nameless(other) {
        return wrong("the players are the same, so the two games of a pair would be copies; give them other limits");
    }
    let is_timed = |player: &RawPlayer| player.tc.is_some() || player.movetime.is_some();
    if plan.tc.is_some() || plan.movetime.is_some() || is_timed(one) || is_timed(other) {
        return wrong("games by a clock cannot be made again; give `depth` or `nodes`");
    }
    let is_limited =
        |player: &RawPlayer| player.depth.or(plan.depth).is_some() || player.nodes.or(plan.nodes).is_some();
    if !is_limited(one) || !is_limited(other) {
        return wrong("give each player `depth` or `nodes`");
    }
    if chunk_games % 2 == 1 {
        return Err(fault("chunk-games", "a match plays pairs; give an even number"));
    }
    Ok(())
}

/// Formats the settings of a match that determine its games.
fn told_match(plan: &RawPlan) -> Result<String, KeyFault> {
    let plan = RawPlan { affinity: None, max_failures: None, ..plan.clone() };
    toml::to_string(&plan).map_err(|error| fault("match", error.to_string()))
}

/// True if an option lets an engine search with several threads.
fn is_parallel(name: &str, value: &str) -> bool {
    name.eq_ignore_ascii_case("Threads") && value != "1"
}

/// UCI options among the options of `rescore`, with their values.
pub fn options_of(words: &[String]) -> impl Iterator<Item = (&str, &str)> {
    let given = words.windows(2).filter(|pair| pair[0] == "--option").filter_map(|pair| pair[1].split_once('='));
    given.map(|(name, value)| (name.trim(), value.trim()))
}

fn rescore(table: &Table) -> Result<Vec<String>, KeyFault> {
    let wrong = |why: String| fault("rescore", why);
    if let Some(key) = table.keys().find(|key| RESCORE_OPTIONS.contains(&key.as_str())) {
        return Err(wrong(format!("the shards set `{key}`; leave it out")));
    }
    if table.contains_key("keep-hash") {
        return Err(wrong("scores would depend on where a run was stopped; leave out `keep-hash`".to_owned()));
    }
    let words = words(table).map_err(wrong)?;
    if options_of(&words).any(|(name, value)| is_parallel(name, value)) {
        return Err(wrong("scores of several threads cannot be made again; leave out `Threads`".to_owned()));
    }
    check_rescore(&words).map_err(wrong)?;
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_by_opcodes_are_a_setting() {
        let folder = tempfile::tempdir().unwrap();
        for (clocks, is_marked) in [("hmvc 0; fmvn 5;", true), ("0 5", false), ("", false)] {
            std::fs::write(folder.path().join("book.epd"), format!("4k3/8/8/8/8/8/P7/4K3 w - - {clocks}\n")).unwrap();
            let (_, told) =
                own(&toml::from_str("book = \"book.epd\"\nrandom-plies = 2").unwrap(), folder.path()).unwrap();
            let openings = toml::from_str("book = \"book.epd\"").unwrap();
            let settings = OpeningSource::load(openings, folder.path()).unwrap().settings();
            for text in [told, settings] {
                assert_eq!(text.contains("clocks by opcodes"), is_marked, "{text}");
            }
        }
    }
}
