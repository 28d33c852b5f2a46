//! Plans of training loops: TOML files.

use crate::compare::{Evaluation, EvaluationError};
use crate::train::{Plan, folder_of, line_of};
use destrier::datagen;
use quintain::settings::{ConfigError, RawPlan};
use quintain::text::from_toml;
use serde::Deserialize;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Error in a plan.
#[derive(Debug, thiserror::Error)]
pub enum LoopPlanError {
    #[error(transparent)]
    Toml(#[from] ConfigError),
    #[error("{}: line {line}, `{key}`: {why}", path.display())]
    Value { path: PathBuf, line: usize, key: &'static str, why: String },
    #[error("{}: `training`: {error}", path.display())]
    Training { path: PathBuf, error: Box<dyn std::error::Error + Send + Sync> },
    #[error("{}: {error}; give the training's `start` a checkpoint that is there", path.display())]
    Checkpoint { path: PathBuf, error: std::io::Error },
    #[error("{}: `start`: {error}", path.display())]
    Start { path: PathBuf, error: EvaluationError },
}

/// Plan of a training loop. Relative paths start at the plan's folder.
#[derive(Debug, Clone, PartialEq)]
pub struct LoopPlan {
    /// Folder of all outputs.
    pub out: PathBuf,
    pub generations: u32,
    /// Number of latest generations whose games are trained on.
    pub window: u32,
    /// Evaluation that the first generation plays with and has to beat.
    pub start: Evaluation,
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
    /// Plan of `train`; the loop sets its name, folder and files.
    pub training: Plan,
    /// Arguments of `destrier datagen`.
    pub self_play: Vec<String>,
    /// Arguments of `data filter`.
    pub filter: Vec<String>,
    /// Match or test of Quintain without players.
    pub contest: RawPlan,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
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
    training: PathBuf,
    self_play: Table,
    #[serde(default)]
    filter: Table,
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
        let file: File = from_toml(path, &text).map_err(ConfigError::Toml)?;
        let wrong = |key: &'static str, why: &str| LoopPlanError::Value {
            path: path.to_owned(),
            line: line_of(&text, key),
            key,
            why: why.to_owned(),
        };
        check(&file).map_err(|(key, why)| wrong(key, why))?;
        let folder = &folder_of(path);
        let training = Plan::load(&folder.join(&file.training))
            .map_err(|error| LoopPlanError::Training { path: path.to_owned(), error: Box::new(error) })?;
        let start = match file.start.as_str() {
            word @ ("classical" | "engine") => Evaluation::parse(word),
            network => Evaluation::network(&folder.join(network)),
        };
        let start = start.map_err(|error| LoopPlanError::Start { path: path.to_owned(), error })?;
        let self_play = self_play(&file.self_play, folder).map_err(|why| wrong("self-play", &why))?;
        let filter = words(&file.filter).map_err(|why| wrong("filter", &why))?;
        super::positions::check_filter(file.filter.keys(), &filter).map_err(|why| wrong("filter", &why))?;
        let mut contest = file.contest;
        contest.book = contest.book.map(|book| folder.join(book));
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
            training,
            self_play,
            filter,
            contest,
        })
    }

    /// Returns all settings that determine the results, one per line: first those of the networks,
    /// then those of the matches. The numbers of generations and threads are not among them.
    ///
    /// # Errors
    /// Fails if the initial checkpoint of the training cannot be read.
    pub fn settings(&self) -> Result<[String; 2], LoopPlanError> {
        let LoopPlan { window, start, seed, held_out, least_elo, training, self_play, filter, contest, .. } = self;
        let start = start.sha256().unwrap_or_else(|| start.to_string());
        let (network, recipe, rate, wdl, optimiser) = training.decisive().map_err(|error| {
            let path = training.network.start.clone().unwrap_or_default();
            LoopPlanError::Checkpoint { path, error }
        })?;
        let held = training.data.validation_positions;
        let contest =
            RawPlan { concurrency: None, affinity: None, max_time: None, max_failures: None, ..contest.clone() };
        let recipe = [
            format!("{network:?}"),
            format!("{recipe:?}"),
            format!("{rate:?}"),
            format!("{wdl:?}"),
            format!("{optimiser:?}"),
        ];
        let networks = format!(
            "window = {window}\nstart = {start}\nseed = {seed}\nheld-out = {held_out}\nself-play = {}\nfilter = {}\n\
             training seed = {}\nheld-out positions = {held}\n{}\n",
            self_play.join(" "),
            filter.join(" "),
            training.seed,
            key_a_line(&recipe.join("\n")),
        );
        Ok([networks, format!("least-elo = {least_elo}\n{}\n", key_a_line(&format!("{contest:?}")))])
    }
}

/// Formats a structure with one key per line, as close to TOML as possible, so that a message can
/// name the key that differs.
fn key_a_line(debug: &str) -> String {
    let lines = debug.replace(", ", "\n").replace(" { ", "\n").replace(" }", "");
    set_keys(&lines.replace("Some(", "").replace(')', "").replace(": ", " = ").replace('_', "-"))
}

/// Returns the lines of keys that are set, so that a later version with more keys can resume an
/// older loop.
pub(super) fn set_keys(settings: &str) -> String {
    let lines: Vec<&str> = settings.lines().filter(|line| !line.ends_with(" = None")).collect();
    lines.join("\n")
}

fn check(file: &File) -> Result<(), (&'static str, &'static str)> {
    let RawPlan { new, base, new_name, base_name, new_options, base_options, players, .. } = &file.contest;
    let RawPlan { out, seed, name, heroes, rounds, format, .. } = &file.contest;
    let has_players = [new, base, new_name, base_name].iter().any(|key| key.is_some()) || !players.is_empty();
    let has_options = !new_options.is_empty() || !base_options.is_empty();
    if has_players || has_options || heroes.is_some() || rounds.is_some() || format.is_some() {
        return Err(("match", "the players are the loop's; leave out `new`, `base`, `players` and `format`"));
    }
    if out.is_some() || seed.is_some() || name.is_some() {
        return Err(("match", "folder, seed and name are the loop's; leave out `out`, `seed` and `name`"));
    }
    match () {
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

/// Converts the keys of a table to command-line options.
fn words(table: &Table) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    for (key, value) in table {
        let text = match value {
            Value::Boolean(true) => None,
            Value::Boolean(false) => continue,
            Value::String(text) => Some(text.clone()),
            Value::Integer(number) => Some(number.to_string()),
            Value::Float(number) => Some(number.to_string()),
            _ => return Err(format!("`{key}`: expected a number, a text or true")),
        };
        words.push(format!("--{key}"));
        words.extend(text);
    }
    Ok(words)
}

/// Converts and checks the options of self-play for `destrier datagen`.
fn self_play(table: &Table, folder: &Path) -> Result<Vec<String>, String> {
    if let Some(key) = table.keys().find(|key| OWN_OPTIONS.contains(&key.as_str())) {
        return Err(format!("`{key}` is the loop's; leave it out"));
    }
    let mut words = words(table)?;
    if let Some(place) = words.iter().position(|word| word == "--book")
        && let Some(book) = words.get_mut(place + 1)
    {
        *book = folder.join(&*book).display().to_string();
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
