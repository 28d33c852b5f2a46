//! Tuning plans: TOML files.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use destrier::eval::layout::BLOCKS;
use quintain::text::{TomlError, from_toml, nearest};
use serde::Deserialize;

use crate::train::{folder_of, line_of};

/// Plan of a tuning.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TexelPlan {
    /// Input positions.
    pub data: TexelData,
    /// Settings of the fit.
    #[serde(default)]
    pub fit: Fit,
    /// Output files.
    pub output: TexelOutput,
}

/// Input positions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TexelData {
    /// Text files of positions or games, `.zst` too; see [`super::input`] for the notations.
    pub files: Vec<PathBuf>,
    /// Leaves out positions in check, and those in which the side to move can win material by a
    /// capture or a promotion.
    #[serde(default = "yes")]
    pub quiet: bool,
    /// Share of the result in a target, 0 to 1; the rest is the prediction of the score. 1 needs no
    /// scores.
    #[serde(default = "one")]
    pub result_share: f32,
    /// Limit of scores in centipawns; positions beyond it are left out.
    #[serde(default = "max_score")]
    pub max_score: i32,
    /// Uses one of this many lines.
    #[serde(default = "one_of")]
    pub every: NonZeroUsize,
    /// Consecutive positions that stay together in the split, so that few games are in both
    /// training and test data.
    #[serde(default = "block")]
    pub block: NonZeroUsize,
}

/// Settings of the fit.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Fit {
    /// Method of minimisation.
    pub method: Method,
    /// Seed of the split into training and test positions and of the order of the batches.
    pub seed: u64,
    /// Number of threads; 0 selects the number of processors. The weights do not depend on it.
    pub threads: usize,
    /// Maximum number of passes over the data.
    pub epochs: usize,
    /// Positions per step.
    pub batch: NonZeroUsize,
    /// Centipawns per step (`adam`), or per unit of the mean gradient (`descent`, for which
    /// thousands are usual).
    pub rate: f32,
    /// Factor of the rate after each epoch.
    pub decay: f32,
    /// Strength of the L2 penalty: the weight of half the sum of squared changes, in the loss of
    /// all positions.
    pub l2: f32,
    /// Passes without a better test error before the fit ends.
    pub patience: usize,
    /// Share of test positions.
    pub test_share: f64,
    /// Initial weights.
    pub start: Start,
    /// Factor of values per centipawn; fitted to the initial weights by default.
    pub k: Option<f32>,
    /// Blocks of the engine's table whose weights are fixed.
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

/// Method of minimisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Mini-batch gradient descent with moments (Kingma, Ba 2015).
    Adam,
    /// Plain mini-batch gradient descent.
    Descent,
    /// Local search: one weight at a time by a centipawn, kept if the error falls (Österlund 2014).
    Local,
}

/// Initial weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Weights of the engine.
    Engine,
    /// Piece values of 1, 3, 3, 5 and 9 pawns; all other weights are zero.
    Material,
}

/// Output files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TexelOutput {
    /// Table that the engine compiles, such as `engine/src/eval/weights.rs`.
    pub weights: PathBuf,
    /// Folder for the learning curve, the heat maps before and after, and the losses by epoch.
    pub pictures: Option<PathBuf>,
}

/// Error in a plan.
#[derive(Debug, thiserror::Error)]
pub enum TexelPlanError {
    /// The plan cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// Path of the plan.
        path: PathBuf,
        /// I/O error.
        error: std::io::Error,
    },
    /// Invalid TOML, an unknown key, or a value of the wrong type.
    #[error(transparent)]
    Toml(#[from] TomlError),
    /// Value outside its range.
    #[error("{}:{line}: {key} = {value}: expected {expected}", path.display())]
    Range {
        /// Path of the plan.
        path: PathBuf,
        /// Line of the key, from 1.
        line: usize,
        /// Key with its table.
        key: &'static str,
        /// Value in the plan.
        value: String,
        /// Description of valid values.
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

impl TexelPlan {
    /// Reads and checks a plan. Its relative paths start at the plan's folder.
    ///
    /// # Errors
    /// See [`TexelPlanError`].
    pub fn load(path: &Path) -> Result<Self, TexelPlanError> {
        let text = std::fs::read_to_string(path).map_err(|error| TexelPlanError::Read { path: path.into(), error })?;
        let mut plan = Self::parse(path, &text)?;
        let folder = folder_of(path);
        let output = &mut plan.output;
        for file in plan.data.files.iter_mut().chain([&mut output.weights]).chain(&mut output.pictures) {
            *file = folder.join(&*file);
        }
        Ok(plan)
    }

    /// Parses and checks a plan; `path` is for messages.
    ///
    /// # Errors
    /// See [`TexelPlanError`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, TexelPlanError> {
        let plan: Self = from_toml(path, text)?;
        plan.check(path, text)?;
        Ok(plan)
    }

    /// Returns the number of threads to use.
    #[must_use]
    pub fn threads(&self) -> usize {
        match self.fit.threads {
            0 => std::thread::available_parallelism().map_or(1, NonZeroUsize::get),
            threads => threads,
        }
    }

    fn check(&self, path: &Path, text: &str) -> Result<(), TexelPlanError> {
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
                return Err(TexelPlanError::Range {
                    path: path.into(),
                    line,
                    key,
                    value,
                    expected: expected.to_owned(),
                });
            }
        }
        let names = || BLOCKS.iter().map(|block| block.name);
        match fit.anchored.iter().find(|name| names().all(|known| known != name.as_str())) {
            None => Ok(()),
            Some(unknown) => Err(TexelPlanError::Range {
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
