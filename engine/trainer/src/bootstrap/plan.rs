//! Plans of training loops: TOML files.

use super::contents;
use crate::compare::{Evaluation, EvaluationError};
use crate::train::{Plan, PlanError, folder_of, line_of};
use anyhow::anyhow;
use destrier::datagen;
use destrier::nnue::sha256_hex;
use quintain::settings::{ConfigError, RawPlan};
use quintain::text::from_toml;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Error in a plan.
#[derive(Debug, thiserror::Error)]
pub enum LoopPlanError {
    /// Invalid TOML, or an unknown key.
    #[error(transparent)]
    Toml(#[from] ConfigError),
    /// Value out of range, or of the wrong kind.
    #[error("{}: line {line}, `{key}`: {why}", path.display())]
    Value {
        /// The plan.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// The key.
        key: &'static str,
        /// The fault, and the remedy if there is one.
        why: String,
    },
    /// Training plan that cannot be used.
    #[error("{}: `training`: {error}", path.display())]
    Training {
        /// The training plan.
        path: PathBuf,
        /// The cause.
        error: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Missing or unreadable checkpoint that the training starts from.
    #[error("{}: {error}; give the training's `start` a checkpoint that is there", path.display())]
    Checkpoint {
        /// The checkpoint.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// Missing or unreadable opening book.
    #[error("{}: {error}; give `book` a file that is there", path.display())]
    Book {
        /// The book.
        path: PathBuf,
        /// The cause.
        error: std::io::Error,
    },
    /// Start that is not an evaluation.
    #[error("{}: `start`: {error}", path.display())]
    Start {
        /// The plan of the loop.
        path: PathBuf,
        /// The cause.
        error: EvaluationError,
    },
}

/// Plan of a training loop. Relative paths start at the plan's folder.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopPlan {
    /// Folder of all outputs.
    pub out: PathBuf,
    /// Generations to reach, from 1.
    pub generations: u32,
    /// Number of latest generations whose games are trained on.
    pub window: u32,
    /// Evaluation that the first generation plays with and has to beat.
    pub start: Evaluation,
    /// Seed of self-play, training and matches.
    pub seed: u64,
    /// Threads for self-play and training; the number of processors by default.
    pub threads: Option<usize>,
    /// Engine of the matches, unless the command names one.
    pub engine: Option<String>,
    /// Share of the games that is held out.
    pub held_out: f64,
    /// Elo above which a candidate is accepted in a match without bounds. With bounds, the test
    /// decides.
    pub least_elo: f64,
    /// Trainings of a generation, each a plan of `train`; the loop sets their names, folders and
    /// files.
    pub trainings: Vec<Plan>,
    /// Arguments of `destrier datagen`.
    pub self_play: Vec<String>,
    /// Arguments of `data filter`.
    pub filter: Vec<String>,
    /// Match of Quintain without players, among the networks of several trainings.
    pub selection: Option<RawPlan>,
    /// Match or test of Quintain without players.
    pub contest: RawPlan,
}

/// Maximum number of trainings of a generation.
const MOST_TRAININGS: usize = 16;

/// One plan of `train`, or several.
#[derive(Deserialize)]
#[serde(untagged, expecting = "write the path of a plan, or a list of such paths")]
enum Trainings {
    One(PathBuf),
    Several(Vec<PathBuf>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct LoopFile {
    out: PathBuf,
    generations: u32,
    #[serde(default = "window")]
    window: u32,
    #[serde(default = "start")]
    start: String,
    #[serde(default = "seed")]
    seed: u64,
    #[serde(default)]
    threads: Option<usize>,
    #[serde(default)]
    engine: Option<String>,
    #[serde(default = "held_out")]
    held_out: f64,
    #[serde(default)]
    least_elo: f64,
    training: Trainings,
    #[serde(default = "seeds")]
    seeds: u64,
    self_play: Table,
    #[serde(default)]
    filter: Table,
    #[serde(default)]
    selection: Option<RawPlan>,
    #[serde(rename = "match")]
    contest: RawPlan,
}

const fn window() -> u32 {
    3
}

fn start() -> String {
    "engine".to_owned()
}

const fn seed() -> u64 {
    1
}

const fn seeds() -> u64 {
    1
}

const fn held_out() -> f64 {
    0.05
}

/// Options of `destrier datagen` that the loop sets itself.
const OWN_OPTIONS: [&str; 4] = ["out", "seed", "threads", "evaluation"];

impl LoopPlan {
    /// Reads a plan and the plans and networks that it names.
    ///
    /// # Errors
    /// [`LoopPlanError`], with file, key and remedy.
    pub fn load(path: &Path) -> Result<LoopPlan, LoopPlanError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        let file: LoopFile = from_toml(path, &text).map_err(ConfigError::Toml)?;
        let wrong = |key: &'static str, why: &str| LoopPlanError::Value {
            path: path.to_owned(),
            line: line_of(&text, key),
            key,
            why: why.to_owned(),
        };
        check(&file).map_err(|(key, why)| wrong(key, why))?;
        let folder = &folder_of(path);
        let trainings = trainings(&file, folder)
            .map_err(|error| LoopPlanError::Training { path: path.to_owned(), error: Box::new(error) })?;
        check_selection(&file, trainings.len()).map_err(|(key, why)| wrong(key, why))?;
        let start = match file.start.as_str() {
            word @ ("classical" | "engine") => Evaluation::parse(word),
            network => Evaluation::network(&folder.join(network)),
        };
        let start = start.map_err(|error| LoopPlanError::Start { path: path.to_owned(), error })?;
        let self_play = self_play(&file.self_play, folder).map_err(|why| wrong("self-play", &why))?;
        let filter = words(&file.filter).map_err(|why| wrong("filter", &why))?;
        super::positions::parse_filter(file.filter.keys(), &filter).map_err(|why| wrong("filter", &why))?;
        let from_folder = |raw: RawPlan| RawPlan { book: raw.book.map(|book| folder.join(book)), ..raw };
        let (contest, selection) = (from_folder(file.contest), file.selection.map(from_folder));
        Ok(LoopPlan {
            out: folder.join(file.out),
            generations: file.generations,
            window: file.window,
            start,
            seed: file.seed,
            threads: file.threads,
            engine: file.engine,
            held_out: file.held_out,
            least_elo: file.least_elo,
            trainings,
            self_play,
            filter,
            selection,
            contest,
        })
    }

    /// Returns all settings that determine the results, one per line: first those of the networks,
    /// then those of the matches. The numbers of generations and threads are not among them.
    ///
    /// # Errors
    /// Fails if the initial checkpoint of the training or a book cannot be read.
    pub fn settings(&self) -> Result<[String; 2], LoopPlanError> {
        let LoopPlan { window, start, seed, held_out, least_elo, trainings, self_play, filter, .. } = self;
        let start = start.sha256().unwrap_or_else(|| start.to_string());
        let mut networks = format!(
            "window = {window}\nstart = {start}\nseed = {seed}\nheld-out = {held_out}\nself-play = {}\nfilter = {}\n",
            self_play.join(" "),
            filter.join(" "),
        );
        for training in trainings {
            networks += &settings_of_training(training)?;
        }
        networks += &contents_of_book("self-play", place_of_book(self_play).map(|place| Path::new(&self_play[place])))?;
        let mut matches = format!("least-elo = {least_elo}\n{}\n", settings_of_match(&self.contest));
        if let Some(selection) = &self.selection {
            for line in settings_of_match(selection).lines() {
                matches += &format!("selection {line}\n");
            }
            matches += &contents_of_book("selection", selection.book.as_deref())?;
        }
        matches += &contents_of_book("match", self.contest.book.as_deref())?;
        Ok([networks, matches])
    }
}

/// Settings of a training that determine its network.
fn settings_of_training(training: &Plan) -> Result<String, LoopPlanError> {
    let (network, recipe, rate, wdl, optimiser) = training.decisive().map_err(|error| {
        let path = training.network.start.clone().unwrap_or_default();
        LoopPlanError::Checkpoint { path, error }
    })?;
    let recipe = [
        format!("{network:?}"),
        format!("{recipe:?}"),
        format!("{rate:?}"),
        format!("{wdl:?}"),
        format!("{optimiser:?}"),
    ];
    let (seed, held) = (training.seed, training.data.validation_positions);
    Ok(format!("training seed = {seed}\nheld-out positions = {held}\n{}\n", key_a_line(&recipe.join("\n"))))
}

/// Returns the line of a book's contents; nothing without a book.
pub(crate) fn contents_of_book(what: &str, book: Option<&Path>) -> Result<String, LoopPlanError> {
    let Some(path) = book else { return Ok(String::new()) };
    let bytes = std::fs::read(path).map_err(|error| LoopPlanError::Book { path: path.to_owned(), error })?;
    Ok(contents::line(&format!("the book of {what}"), &sha256_hex(&bytes)))
}

/// Returns the place of the book among the options of self-play.
fn place_of_book(words: &[String]) -> Option<usize> {
    words.iter().position(|word| word == "--book").map(|place| place + 1).filter(|&place| place < words.len())
}

/// Settings of a match that determine its result.
pub(crate) fn settings_of_match(raw: &RawPlan) -> String {
    let raw = RawPlan { concurrency: None, affinity: None, max_time: None, max_failures: None, ..raw.clone() };
    key_a_line(&format!("{raw:?}"))
}

/// Trainings of a generation: each plan with each seed.
fn trainings(file: &LoopFile, folder: &Path) -> Result<Vec<Plan>, PlanError> {
    let paths = match &file.training {
        Trainings::One(path) => std::slice::from_ref(path),
        Trainings::Several(paths) => paths.as_slice(),
    };
    let mut trainings = Vec::new();
    for path in paths {
        let plan = Plan::load(&folder.join(path))?;
        // One more than the most is enough to refuse them.
        for more in 0..file.seeds.min(MOST_TRAININGS as u64 + 1) {
            trainings.push(Plan { seed: plan.seed.wrapping_add(more), ..plan.clone() });
        }
    }
    Ok(trainings)
}

/// Formats a structure with one key per line, as close to TOML as possible, so that a message can
/// name the key that differs.
pub(crate) fn key_a_line(debug: &str) -> String {
    let lines = debug.replace(", ", "\n").replace(" { ", "\n").replace(" }", "");
    set_keys(&lines.replace("Some(", "").replace(')', "").replace(": ", " = ").replace('_', "-"))
}

/// Returns the lines of keys that are set, so that a later version with more keys can resume an
/// older loop.
pub(crate) fn set_keys(settings: &str) -> String {
    let lines: Vec<&str> = settings.lines().filter(|line| !line.ends_with(" = None")).collect();
    lines.join("\n")
}

/// Error of a `loop` or `lab` whose folder holds the settings `was`, while its plan has `is`. Names
/// the first line that differs.
pub(crate) fn other_settings(path: &Path, what: &str, was: &str, is: &str) -> anyhow::Error {
    let [was, is] = [was, is].map(set_keys);
    let differing = was.lines().zip(is.lines()).find(|(was, is)| was != is);
    let (was, is) = differing.unwrap_or(("fewer or more keys", "these"));
    anyhow!(
        "{}: the {what} was started with `{}`, not `{}`; restore the plan, or give it another `out`",
        path.display(),
        was.trim(),
        is.trim()
    )
}

/// Checks the number of trainings, and that a match chooses among several.
fn check_selection(file: &LoopFile, trainings: usize) -> Result<(), (&'static str, &'static str)> {
    match &file.selection {
        _ if trainings == 0 => Err(("training", "no plan; give at least one")),
        _ if trainings > MOST_TRAININGS => Err(("training", "plans times `seeds` are at most 16 trainings")),
        None if trainings > 1 => {
            Err(("training", "several trainings need a [selection], the match among their networks"))
        }
        Some(_) if trainings == 1 => {
            Err(("selection", "one training has no choice; leave it out, or give `seeds` or several plans"))
        }
        Some(raw) if raw.bounds.is_some() || raw.pairs.is_none() => {
            Err(("selection", "the match of all networks has no bounds; give `pairs` for each two of them"))
        }
        Some(raw) => check_match(raw, "selection"),
        None => Ok(()),
    }
}

/// Checks that a match leaves to the loop what is the loop's.
pub(crate) fn check_match(raw: &RawPlan, key: &'static str) -> Result<(), (&'static str, &'static str)> {
    let RawPlan { new, base, new_name, base_name, new_options, base_options, players, .. } = raw;
    let RawPlan { out, seed, name, heroes, rounds, format, .. } = raw;
    let has_players = [new, base, new_name, base_name].iter().any(|key| key.is_some()) || !players.is_empty();
    let has_options = !new_options.is_empty() || !base_options.is_empty();
    if has_players || has_options || heroes.is_some() || rounds.is_some() || format.is_some() {
        return Err((key, "the players are given; leave out `new`, `base`, `players` and `format`"));
    }
    if out.is_some() || seed.is_some() || name.is_some() {
        return Err((key, "folder, seed and name are given; leave out `out`, `seed` and `name`"));
    }
    Ok(())
}

fn check(file: &LoopFile) -> Result<(), (&'static str, &'static str)> {
    check_match(&file.contest, "match")?;
    match () {
        () if file.seeds == 0 => Err(("seeds", "0 trains nothing; give 1 or more")),
        () if file.generations == 0 => Err(("generations", "0 does nothing; give 1 or more")),
        () if file.window == 0 => Err(("window", "0 trains on nothing; give 1 or more generations")),
        () if file.threads == Some(0) => Err(("threads", "0 does nothing; give 1 or more, or leave the key out")),
        () if !(file.held_out > 0.0 && file.held_out <= 0.5) => {
            Err(("held-out", "a share of the games, more than 0 and at most 0.5"))
        }
        () if !file.least_elo.is_finite() => Err(("least-elo", "a number of Elo")),
        () => Ok(()),
    }
}

/// Converts the keys of a table to command-line options. An option with a list of values is
/// repeated.
pub(crate) fn words(table: &Table) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for (key, value) in table {
        let values = match value {
            Value::Boolean(false) => continue,
            Value::Boolean(true) => {
                words.push(format!("--{key}"));
                continue;
            }
            Value::Array(values) => values.as_slice(),
            value => std::slice::from_ref(value),
        };
        for value in values {
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Float(number) => number.to_string(),
                _ => return Err(format!("`{key}`: expected a number, a text, a list of these, or true")),
            };
            words.extend([format!("--{key}"), text]);
        }
    }
    Ok(words)
}

/// Converts and checks the options of self-play for `destrier datagen`.
fn self_play(table: &Table, folder: &Path) -> Result<Vec<String>, String> {
    if let Some(key) = table.keys().find(|key| OWN_OPTIONS.contains(&key.as_str())) {
        return Err(format!("the loop sets `{key}`; leave it out"));
    }
    let mut words = words(table)?;
    if let Some(place) = place_of_book(&words) {
        words[place] = folder.join(&words[place]).display().to_string();
    }
    let all: Vec<&str> = ["--out", "games.vf"].into_iter().chain(words.iter().map(String::as_str)).collect();
    datagen::parse(&all).map_err(|error| error.to_string())?;
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_is_not_set_is_no_setting_of_a_loop() {
        let contest = RawPlan { nodes: Some(5), max_plies: Some(80), ..RawPlan::default() };
        let lines = key_a_line(&format!("{contest:?}"));
        assert!(
            lines.contains("nodes = 5\n") && lines.contains("max-plies = 80") && !lines.contains("None"),
            "{lines}"
        );
        // Settings of another version that knew other keys.
        assert_eq!(set_keys("nodes = 5\nolder = None\nmax-plies = 80\n"), "nodes = 5\nmax-plies = 80");
    }
}
