//! The TOML that a user writes for a run. Every key is a flag of the command line without its dashes; flags win.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use thiserror::Error;

/// Why a plan file can't be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// It can't be read.
    #[error("{path}: cannot read the plan: {source}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
    /// It is no plan.
    #[error("{path}:{line}:{column}: {why}", path = path.display())]
    Toml {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong, on one line.
        why: String,
    },
}

/// What was asked for, key by key; `None` where nothing was said.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct RawPlan {
    /// Engine spec.
    pub new: Option<String>,
    /// Engine spec.
    pub base: Option<String>,
    /// UCI options of both sides.
    #[serde(deserialize_with = "table")]
    pub options: Vec<(String, String)>,
    /// UCI options of `new`.
    #[serde(deserialize_with = "table")]
    pub new_options: Vec<(String, String)>,
    /// UCI options of `base`.
    #[serde(deserialize_with = "table")]
    pub base_options: Vec<(String, String)>,
    /// Hypotheses in Elo of the model.
    #[serde(deserialize_with = "two")]
    pub bounds: Option<[f64; 2]>,
    /// `normalized`, `logistic` or `bayesian`.
    pub model: Option<String>,
    /// Probability of accepting H1 where H0 is true.
    pub alpha: Option<f64>,
    /// Probability of accepting H0 where H1 is true.
    pub beta: Option<f64>,
    /// Pairs.
    pub max_pairs: Option<u64>,
    /// `90s`, `30m`, `8h`.
    pub max_time: Option<String>,
    /// `[moves/]base+increment` in seconds.
    pub tc: Option<String>,
    /// Of `new` alone.
    pub new_tc: Option<String>,
    /// Of `base` alone.
    pub base_tc: Option<String>,
    /// Seconds a move.
    pub movetime: Option<f64>,
    /// Nodes a move.
    pub nodes: Option<u64>,
    /// Plies a move.
    pub depth: Option<u32>,
    /// Milliseconds.
    pub margin_ms: Option<f64>,
    /// Seconds.
    pub stall_timeout: Option<f64>,
    /// A file.
    pub book: Option<PathBuf>,
    /// `random` or `sequential`.
    pub book_order: Option<String>,
    /// Plies taken from each PGN game.
    pub book_plies: Option<u32>,
    /// From 1.
    pub book_start: Option<u64>,
    /// Chess960 rules.
    pub chess960: Option<bool>,
    /// `move=34,count=8,score=20`, or `none`.
    pub draw: Option<String>,
    /// `count=3,score=600[,twosided]`, or `none`.
    pub resign: Option<String>,
    /// Plies of play.
    pub max_plies: Option<u32>,
    /// Games at once.
    pub concurrency: Option<u16>,
    /// A CPU for each slot.
    pub affinity: Option<bool>,
    /// Engines anew for each game.
    pub restart: Option<bool>,
    /// Crashes, stalls and illegal moves.
    pub max_failures: Option<u64>,
    /// Any number.
    pub seed: Option<u64>,
    /// The run's directory.
    pub out: Option<PathBuf>,
    /// What to call the run.
    pub name: Option<String>,
}

/// An option table: texts, numbers and truth values, in the order of their names.
fn table<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, String)>, D::Error> {
    use serde::de::Error as _;
    let table = BTreeMap::<String, toml::Value>::deserialize(deserializer)?;
    table
        .into_iter()
        .map(|(name, value)| match value {
            toml::Value::String(text) => Ok((name, text)),
            toml::Value::Integer(number) => Ok((name, number.to_string())),
            toml::Value::Boolean(truth) => Ok((name, truth.to_string())),
            _ => Err(D::Error::custom(format!("option `{name}`: a text, a whole number, true or false"))),
        })
        .collect()
}

/// Two numbers, neither more nor less.
fn two<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[f64; 2]>, D::Error> {
    use serde::de::Error as _;
    let numbers = Vec::<f64>::deserialize(deserializer)?;
    let two =
        <[f64; 2]>::try_from(numbers).map_err(|_| D::Error::custom("`bounds` are two numbers, such as [0.0, 5.0]"))?;
    Ok(Some(two))
}

impl RawPlan {
    /// Reads a plan file.
    ///
    /// # Errors
    /// [`ConfigError`], with line and column where the text is at fault.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_owned(), source })?;
        Self::parse(&text).map_err(|(line, column, why)| ConfigError::Toml { path: path.to_owned(), line, column, why })
    }

    /// Line, column and reason where the text is no plan.
    fn parse(text: &str) -> Result<Self, (usize, usize, String)> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            (line, column, error.message().replace('\n', " "))
        })
    }

    /// This plan's keys over another's.
    #[must_use]
    pub fn over(self, lower: Self) -> Self {
        let either = |upper: Vec<(String, String)>, mut lower: Vec<(String, String)>| {
            for (name, value) in upper {
                lower.retain(|(known, _)| !known.eq_ignore_ascii_case(&name));
                lower.push((name, value));
            }
            lower
        };
        // A side's own clock in the lower plan gives way to a clock for both sides in the upper one.
        let own_tc = |own: Option<String>, lower: Option<String>| own.or(if self.tc.is_some() { None } else { lower });
        // So does its clock to another kind of limit.
        let untimed = self.nodes.is_some() || self.depth.is_some() || self.movetime.is_some();
        let lower_tc = |tc: Option<String>| if untimed { None } else { tc };
        let fixed = self.tc.is_some();
        Self {
            new: self.new.or(lower.new),
            base: self.base.or(lower.base),
            options: either(self.options, lower.options),
            new_options: either(self.new_options, lower.new_options),
            base_options: either(self.base_options, lower.base_options),
            bounds: self.bounds.or(lower.bounds),
            model: self.model.or(lower.model),
            alpha: self.alpha.or(lower.alpha),
            beta: self.beta.or(lower.beta),
            max_pairs: self.max_pairs.or(lower.max_pairs),
            max_time: self.max_time.or(lower.max_time),
            new_tc: own_tc(self.new_tc, lower_tc(lower.new_tc)),
            base_tc: own_tc(self.base_tc, lower_tc(lower.base_tc)),
            tc: self.tc.or_else(|| lower_tc(lower.tc)),
            movetime: self.movetime.or(lower.movetime.filter(|_| !fixed)),
            nodes: self.nodes.or(lower.nodes.filter(|_| !fixed)),
            depth: self.depth.or(lower.depth.filter(|_| !fixed)),
            margin_ms: self.margin_ms.or(lower.margin_ms),
            stall_timeout: self.stall_timeout.or(lower.stall_timeout),
            book: self.book.or(lower.book),
            book_order: self.book_order.or(lower.book_order),
            book_plies: self.book_plies.or(lower.book_plies),
            book_start: self.book_start.or(lower.book_start),
            chess960: self.chess960.or(lower.chess960),
            draw: self.draw.or(lower.draw),
            resign: self.resign.or(lower.resign),
            max_plies: self.max_plies.or(lower.max_plies),
            concurrency: self.concurrency.or(lower.concurrency),
            affinity: self.affinity.or(lower.affinity),
            restart: self.restart.or(lower.restart),
            max_failures: self.max_failures.or(lower.max_failures),
            seed: self.seed.or(lower.seed),
            out: self.out.or(lower.out),
            name: self.name.or(lower.name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_their_place() {
        let cases = [
            ("tc = \"8+0.08\"\nbuonds = [0, 5]\n", (2, 1), "unknown field `buonds`"),
            ("seed = 1\nbounds = [0, 5, 6]", (2, 10), "`bounds` are two numbers"),
            ("tc = ", (1, 6), ""),
            ("[options]\nHash = 1.5\n", (1, 1), "option `Hash`: a text"),
        ];
        for (text, place, reason) in cases {
            let (line, column, why) = RawPlan::parse(text).expect_err(text);
            assert!(why.contains(reason) && !why.contains('\n'), "{text}: {why}");
            assert_eq!((line, column), place, "{text}: {why}");
        }
    }

    #[test]
    fn flags_win_key_by_key() {
        let file = RawPlan::parse("tc = \"8+0.08\"\nseed = 1\n[options]\nHash = 16\nThreads = 1\n").unwrap();
        let flags = RawPlan { seed: Some(2), options: vec![("hash".into(), "64".into())], ..RawPlan::default() };
        let both = flags.over(file.clone());
        assert_eq!((both.seed, both.tc.as_deref()), (Some(2), Some("8+0.08")));
        let options: Vec<_> = both.options.iter().map(|(n, v)| format!("{n}={v}")).collect();
        assert_eq!(options, ["Threads=1", "hash=64"]);
        // Another kind of limit takes the file's clock away rather than adding to it.
        let nodes = RawPlan { nodes: Some(9), ..RawPlan::default() }.over(file);
        assert_eq!((nodes.tc, nodes.nodes), (None, Some(9)));
    }

    #[test]
    fn the_shipped_plans_are_plans() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        let mut plans = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "toml") && !path.ends_with("engines.toml") {
                RawPlan::read(&path).unwrap_or_else(|error| panic!("{error}"));
                plans += 1;
            }
        }
        assert!(plans >= 3);
    }
}
