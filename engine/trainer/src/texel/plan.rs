//! What a tuning is to do, read from TOML.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use destrier::eval::layout::BLOCKS;
use quintain::text::{TomlError, from_toml, nearest};
use serde::Deserialize;

use crate::train::{folder_of, line_of};

/// The whole plan.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Plan {
    /// Where positions come from.
    pub data: Data,
    /// How the weights are moved.
    #[serde(default)]
    pub fit: Fit,
    /// What is written.
    pub output: Output,
}

/// Where positions come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Data {
    /// Text files of positions or games, `.zst` too; see [`super::input`] for the notations.
    pub files: Vec<PathBuf>,
    /// Leaves out positions in check, and those where the side to move can win material by a capture or a promotion.
    #[serde(default = "yes")]
    pub quiet: bool,
    /// The share of the result in a target, 0 to 1; the rest is what the score promises. 1 needs no scores.
    #[serde(default = "one")]
    pub result_share: f32,
    /// Positions with scores beyond this are left out, in centipawns.
    #[serde(default = "max_score")]
    pub max_score: i32,
    /// Takes one line of so many.
    #[serde(default = "one_of")]
    pub every: NonZeroUsize,
    /// Positions in a row that stay together when some are kept back, so that hardly a game lies in both parts.
    #[serde(default = "block")]
    pub block: NonZeroUsize,
}

/// How the weights are moved.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fit {
    /// The way down.
    pub method: Method,
    /// Decides which positions are kept back and the order of the batches.
    pub seed: u64,
    /// 0 for as many as there are processors. The weights do not depend on it.
    pub threads: usize,
    /// Passes over the data at most.
    pub epochs: usize,
    /// Positions to a step.
    pub batch: NonZeroUsize,
    /// Centipawns to a step (`adam`), or per unit of the mean gradient (`descent`, where thousands are usual).
    pub rate: f32,
    /// What is left of the rate from one epoch to the next.
    pub decay: f32,
    /// How hard weights are held to where they began: the weight of half the sum of squared moves, in the loss of all positions.
    pub l2: f32,
    /// Passes without a better error over the positions kept back before the fit ends.
    pub patience: usize,
    /// The share of positions kept back.
    pub test_share: f64,
    /// The weights to begin with.
    pub start: Start,
    /// Fixes the factor of values per centipawn; fitted to the starting weights otherwise.
    pub k: Option<f32>,
    /// Blocks of the engine's table whose weights stay.
    pub anchored: Vec<String>,
}

impl Default for Fit {
    fn default() -> Self {
        Self {
            method: Method::Adam,
            seed: 1,
            threads: 0,
            epochs: 100,
            batch: NonZeroUsize::new(16_384).unwrap_or(NonZeroUsize::MIN),
            rate: 1.0,
            decay: 0.95,
            l2: 0.003,
            patience: 4,
            test_share: 0.2,
            start: Start::Engine,
            k: None,
            anchored: Vec::new(),
        }
    }
}

/// The way down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Gradient descent in batches with moments (Kingma, Ba 2015).
    Adam,
    /// Plain gradient descent in batches.
    Descent,
    /// One weight at a time by a centipawn, kept when the error falls (Österlund 2014).
    Local,
}

/// The weights to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Those that the engine has.
    Engine,
    /// 1, 3, 3, 5, 9 pawns and nothing else.
    Material,
}

/// What is written.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Output {
    /// The table that the engine compiles, such as `engine/src/eval/weights.rs`.
    pub weights: PathBuf,
    /// A folder for the learning curve, the boards before and after, and the errors by epoch.
    pub pictures: Option<PathBuf>,
}

/// A plan that cannot be followed.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// No such file, or no right to read it.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// The plan.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// Not TOML, an unknown key, or a value of the wrong type.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// A value out of its range.
    #[error("{}:{line}: {key} = {value}: expected {expected}", path.display())]
    Range {
        /// The plan.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// The key with its table.
        key: &'static str,
        /// What it was set to.
        value: String,
        /// What it may be.
        expected: String,
    },
}

const fn yes() -> bool {
    true
}

const fn one() -> f32 {
    1.0
}

const fn max_score() -> i32 {
    2500
}

const fn one_of() -> NonZeroUsize {
    NonZeroUsize::MIN
}

const fn block() -> NonZeroUsize {
    match NonZeroUsize::new(64) {
        Some(block) => block,
        None => NonZeroUsize::MIN,
    }
}

impl Plan {
    /// Reads and checks a plan. Paths in it start at the plan's folder.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn load(path: &Path) -> Result<Self, PlanError> {
        let text = std::fs::read_to_string(path).map_err(|error| PlanError::Read { path: path.into(), error })?;
        let mut plan = Self::parse(path, &text)?;
        let folder = folder_of(path);
        let output = &mut plan.output;
        for file in plan.data.files.iter_mut().chain([&mut output.weights]).chain(&mut output.pictures) {
            *file = folder.join(&*file);
        }
        Ok(plan)
    }

    /// The same from text; the path is for messages.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, PlanError> {
        let plan: Self = from_toml(path, text)?;
        plan.check(path, text)?;
        Ok(plan)
    }

    /// Threads to use.
    #[must_use]
    pub fn threads(&self) -> usize {
        match self.fit.threads {
            0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            threads => threads,
        }
    }

    fn check(&self, path: &Path, text: &str) -> Result<(), PlanError> {
        let (data, fit) = (&self.data, &self.fit);
        let share = fit.test_share.to_string();
        let ranges = [
            ("data.files", "[]".to_owned(), !data.files.is_empty(), "at least one file"),
            ("data.result-share", data.result_share.to_string(), (0.0..=1.0).contains(&data.result_share), "0 to 1"),
            ("data.max-score", data.max_score.to_string(), data.max_score > 0, "centipawns above 0"),
            ("fit.epochs", fit.epochs.to_string(), fit.epochs > 0, "1 or more"),
            ("fit.rate", fit.rate.to_string(), fit.rate.is_finite() && fit.rate > 0.0, "a number above 0"),
            ("fit.decay", fit.decay.to_string(), fit.decay > 0.0 && fit.decay <= 1.0, "above 0, at most 1"),
            ("fit.l2", fit.l2.to_string(), fit.l2.is_finite() && fit.l2 >= 0.0, "0 or more"),
            ("fit.patience", fit.patience.to_string(), fit.patience > 0, "1 or more"),
            ("fit.test-share", share, fit.test_share > 0.0 && fit.test_share < 1.0, "between 0 and 1, such as 0.2"),
            (
                "fit.k",
                fit.k.unwrap_or_default().to_string(),
                fit.k.is_none_or(|k| k.is_finite() && k > 0.0),
                "a number above 0, or no such line",
            ),
        ];
        for (key, value, good, expected) in ranges {
            if !good {
                let line = line_of(text, key);
                return Err(PlanError::Range { path: path.into(), line, key, value, expected: expected.to_owned() });
            }
        }
        let names = || BLOCKS.iter().map(|block| block.name);
        match fit.anchored.iter().find(|name| names().all(|known| known != name.as_str())) {
            None => Ok(()),
            Some(unknown) => Err(PlanError::Range {
                path: path.into(),
                line: line_of(text, "fit.anchored"),
                key: "fit.anchored",
                value: format!("`{unknown}`"),
                expected: match nearest(unknown, names()).first() {
                    Some(name) => format!("a block of the engine's table; did you mean `{name}`?"),
                    None => format!("blocks of the engine's table: {}", names().collect::<Vec<_>>().join(", ")),
                },
            }),
        }
    }
}
