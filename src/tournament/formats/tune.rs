//! A tuning: one engine meets itself, and every pair plays values of its own.
//!
//! Stages are the blocks of [`crate::tune::run::Tuning`]. The values of a block follow from all
//! blocks but the last one before it, so no slot waits for the last game of a block.

use serde::{Deserialize, Serialize};

use crate::record::PlayerId;
use crate::tournament::formats::{
    Definition, Encounter, Format, FormatRules, PairOptions, PairResult, Pairs, Parameters, Stages,
};
use crate::tune::auto::{Rule, Vectors};
use crate::tune::run::Tuning;
use crate::tune::space::{Param, ParamKind, Space, SpaceError};
use crate::tune::spsa::{Constants, Schedule};

/// Entry in the table of formats. Only a command of its own plays it.
pub static DEFINITION: Definition = Definition {
    command: "tune",
    takes: &["tune"],
    ends_with_rounds: true,
    lower_first: true,
    ..Definition::new("tune", "a tuning", |parameters| Some(Format::new(Tune { rule: parameters.tune.clone()? })))
};

/// Fewest pairs of a block.
const LEAST_BLOCK: u32 = 16;

/// Maximum number of pairs of a block. Beyond it, the delay of new values costs what concurrent
/// games gain.
const LARGEST_BLOCK: u32 = 256;

/// Pairs of a block for a number of concurrent games: two for each slot, so that none waits while
/// the previous block is finished.
#[must_use]
pub fn block(concurrency: u16) -> u32 {
    (2 * u32::from(concurrency)).next_power_of_two().clamp(LEAST_BLOCK, LARGEST_BLOCK)
}

/// Tuning method, as users name it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Choice {
    /// Quintain's own method.
    #[default]
    Auto,
    /// Updates as in Fishtest.
    Fishtest,
    /// Updates as in OpenBench.
    OpenBench,
    /// Randomised switches.
    Factors,
}

impl Choice {
    /// Every method.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Fishtest, Self::OpenBench, Self::Factors];

    /// Method of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|choice| choice.name() == name)
    }

    /// Name that users write and plans store.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Fishtest => "fishtest",
            Self::OpenBench => "openbench",
            Self::Factors => "factors",
        }
    }

    /// True if the number of pairs is part of its schedule.
    #[must_use]
    pub const fn holds_pairs(self) -> bool {
        matches!(self, Self::Fishtest | Self::OpenBench)
    }
}

/// Method of a tuning with its own numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Quintain's own method, the default.
    Auto {
        /// Number of calibration blocks.
        calibration: u64,
    },
    /// Updates as in Fishtest.
    Fishtest {
        /// Pairs of the whole run, which its schedule holds.
        pairs: u64,
        /// Constants of the schedule.
        constants: Constants,
    },
    /// Updates as in OpenBench.
    OpenBench {
        /// Workloads of the whole run, which its schedule holds.
        workloads: u64,
        /// Pairs of a workload.
        pairs_per: u32,
        /// Constants of the schedule.
        constants: Constants,
    },
    /// Random switching of options, for parameters with two values.
    Factors,
}

impl Method {
    /// Choice that leads to it.
    #[must_use]
    pub const fn choice(&self) -> Choice {
        match self {
            Self::Auto { .. } => Choice::Auto,
            Self::Fishtest { .. } => Choice::Fishtest,
            Self::OpenBench { .. } => Choice::OpenBench,
            Self::Factors => Choice::Factors,
        }
    }

    /// Name that users write.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.choice().name()
    }

    /// Pairs of the whole run if the method's schedule holds them.
    #[must_use]
    pub fn pairs(&self) -> Option<u64> {
        match self {
            Self::Auto { .. } | Self::Factors => None,
            Self::Fishtest { pairs, .. } => Some(*pairs),
            Self::OpenBench { workloads, pairs_per, .. } => Some(workloads.saturating_mul(u64::from(*pairs_per))),
        }
    }
}

/// Rule that decides the values of a tuning's pairs; a table of a stored plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TuneV1", into = "TuneV1")]
pub struct TuneRule {
    /// Method that finds values.
    pub method: Method,
    /// Parameters to tune.
    pub space: Space,
    /// Seed of everything random.
    pub seed: u64,
    /// Pairs in a block.
    pub block: u32,
    /// True if the run ends once it gains nothing more.
    pub until_flat: bool,
    /// Names of parameters that were found to change nothing.
    pub dead: Vec<String>,
    /// True if ranges are narrowed beyond which the engine fails.
    pub narrows: bool,
}

impl TuneRule {
    /// State of the tuning before its first pair.
    #[must_use]
    pub fn tuning(&self) -> Tuning {
        let Self { ref space, seed, block, .. } = *self;
        let tuning = match self.method {
            Method::Auto { calibration } => {
                Tuning::auto(Rule { calibration, ..Rule::new(space.clone(), seed, block, None) })
            }
            Method::Fishtest { pairs, constants } => {
                let schedule = Schedule::fishtest(space, pairs, constants);
                Tuning::compat(space.clone(), schedule, seed, block)
            }
            Method::OpenBench { workloads, pairs_per, constants } => {
                let schedule = Schedule::openbench(space, workloads, pairs_per, constants);
                Tuning::compat(space.clone(), schedule, seed, block)
            }
            Method::Factors => Tuning::factors(space.clone(), seed, block),
        };
        if self.narrows { tuning.narrowing() } else { tuning }
    }

    /// Options of both players of a pair with these values.
    #[must_use]
    pub fn options(&self, vectors: &Vectors) -> PairOptions {
        let params = self.space.params();
        vectors.sides.each_ref().map(|side| {
            params.iter().zip(side).map(|(param, value)| (param.name.clone(), param.text(*value))).collect()
        })
    }
}

/// Tournament of an engine against itself, the first player playing the first side's values.
#[derive(Clone, Debug)]
pub struct Tune {
    /// Rule that decides the values.
    pub rule: TuneRule,
}

impl FormatRules for Tune {
    fn definition(&self) -> &'static Definition {
        &DEFINITION
    }

    fn parameters(&self) -> Parameters {
        Parameters { tune: Some(self.rule.clone()), ..Parameters::default() }
    }

    fn tuning(&self) -> Option<&TuneRule> {
        Some(&self.rule)
    }

    fn encounters(&self, _: u16) -> u64 {
        1
    }

    fn pairs(&self, _: u16, pairs: Option<u64>) -> Pairs {
        let tuning = self.rule.tuning();
        let left = pairs.unwrap_or(u64::MAX);
        let stages = Blocks { rule: self.rule.clone(), tuning, taken: 0, next: 0, left, options: Vec::new() };
        Pairs::Stages(Box::new(stages))
    }
}

/// Blocks of a tuning in progress.
#[derive(Debug)]
struct Blocks {
    rule: TuneRule,
    tuning: Tuning,
    /// Number of results recorded so far.
    taken: usize,
    /// Number of the next block.
    next: u64,
    /// Pairs that the run may still play.
    left: u64,
    /// Options of the pairs of the last block.
    options: Vec<PairOptions>,
}

/// Wins minus losses of the first player in a tuning's pair; 0 for a pair that is left out.
#[must_use]
pub fn result(pair: &PairResult) -> i8 {
    // At most 4 half points and 2 games.
    pair.half_points.min(4).cast_signed() - pair.games.min(2).cast_signed()
}

impl Stages for Blocks {
    fn next(&mut self, before: &[PairResult]) -> Vec<Encounter> {
        for pair in before.get(self.taken..).unwrap_or_default() {
            self.taken += 1;
            self.tuning.record_failures(result(pair), pair.failed);
        }
        let asked = self.tuning.ask(self.next).unwrap_or_default();
        self.next += 1;
        let asked = &asked[..asked.len().min(usize::try_from(self.left).unwrap_or(usize::MAX))];
        self.left -= asked.len() as u64;
        self.options = asked.iter().map(|vectors| self.rule.options(vectors)).collect();
        vec![(PlayerId(0), PlayerId(1)); asked.len()]
    }

    fn looks_ahead(&self) -> bool {
        true
    }

    fn options(&mut self) -> Vec<PairOptions> {
        std::mem::take(&mut self.options)
    }
}

/// Table `tune` of a `plan.toml`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TuneV1 {
    method: String,
    seed: u64,
    block: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    calibration: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pairs: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workloads: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pairs_per: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    gamma: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ratio: Option<f64>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    until_flat: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dead: Vec<String>,
    /// Plans of versions that narrowed nothing do not have it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    narrow: bool,
    params: Vec<ParamV1>,
}

/// A parameter in a `plan.toml`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ParamV1 {
    name: String,
    kind: String,
    start: f64,
    min: f64,
    max: f64,
    step: f64,
    rate: f64,
}

impl From<TuneRule> for TuneV1 {
    fn from(rule: TuneRule) -> Self {
        let (calibration, pairs, workloads, pairs_per, constants) = match rule.method {
            Method::Auto { calibration } => (Some(calibration), None, None, None, None),
            Method::Factors => (None, None, None, None, None),
            Method::Fishtest { pairs, constants } => (None, Some(pairs), None, None, Some(constants)),
            Method::OpenBench { workloads, pairs_per, constants } => {
                (None, None, Some(workloads), Some(pairs_per), Some(constants))
            }
        };
        Self {
            method: rule.method.name().to_owned(),
            seed: rule.seed,
            block: rule.block,
            calibration,
            pairs,
            workloads,
            pairs_per,
            alpha: constants.map(|constants| constants.alpha),
            gamma: constants.map(|constants| constants.gamma),
            ratio: constants.map(|constants| constants.ratio),
            until_flat: rule.until_flat,
            dead: rule.dead,
            narrow: rule.narrows,
            params: rule.space.params().iter().map(ParamV1::from).collect(),
        }
    }
}

impl From<&Param> for ParamV1 {
    fn from(param: &Param) -> Self {
        let Param { name, kind, start, min, max, step, rate } = param.clone();
        Self { name, kind: kind.name().to_owned(), start, min, max, step, rate }
    }
}

impl ParamV1 {
    fn read(self) -> Result<Param, TuneError> {
        let Self { name, kind, start, min, max, step, rate } = self;
        let kind = ParamKind::of_name(&kind).ok_or_else(|| TuneError::Kind { name: name.clone() })?;
        Ok(Param { name, kind, start, min, max, step, rate })
    }
}

/// A stored tuning that cannot be read back.
#[derive(Debug, thiserror::Error)]
enum TuneError {
    #[error(
        "method `{0}` does not fit its numbers: auto has `calibration`, fishtest `pairs`, openbench `workloads` and `pairs_per`, factors none"
    )]
    Method(String),
    #[error("parameter `{name}`: `kind` is int, float or check")]
    Kind { name: String },
    #[error("`block` {0}: an even number of pairs from 2 to {most}", most = u16::MAX)]
    Block(u32),
    #[error(transparent)]
    Space(#[from] SpaceError),
}

impl TryFrom<TuneV1> for TuneRule {
    type Error = TuneError;

    fn try_from(file: TuneV1) -> Result<Self, TuneError> {
        let usual = Constants::default();
        let constants = Constants {
            alpha: file.alpha.unwrap_or(usual.alpha),
            gamma: file.gamma.unwrap_or(usual.gamma),
            ratio: file.ratio.unwrap_or(usual.ratio),
        };
        let choice = Choice::named(&file.method);
        let method = match (choice, file.calibration, file.pairs, file.workloads, file.pairs_per) {
            (Some(Choice::Factors), None, None, None, None) => Method::Factors,
            (Some(Choice::Auto), Some(calibration), None, None, None) => Method::Auto { calibration },
            (Some(Choice::Fishtest), None, Some(pairs), None, None) => Method::Fishtest { pairs, constants },
            (Some(Choice::OpenBench), None, None, Some(workloads), Some(pairs_per @ 1..=65_535)) => {
                Method::OpenBench { workloads, pairs_per, constants }
            }
            _ => return Err(TuneError::Method(file.method)),
        };
        if file.block < 2 || file.block > u32::from(u16::MAX) || file.block % 2 == 1 {
            return Err(TuneError::Block(file.block));
        }
        let params: Vec<_> =
            file.params.into_iter().map(|param| Ok((None, param.read()?))).collect::<Result<_, TuneError>>()?;
        let space = Space::new("tune.params", params)?;
        Ok(Self {
            method,
            space,
            seed: file.seed,
            block: file.block,
            until_flat: file.until_flat,
            dead: file.dead,
            narrows: file.narrow,
        })
    }
}

#[cfg(test)]
pub(crate) mod tests;
