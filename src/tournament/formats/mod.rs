//! Tournament formats: a file each, and [`FORMATS`], the table of them.
//!
//! A format is a type that implements [`FormatRules`]: its parameters, and the pairs of its
//! players. This room lies below `plan`, because a plan holds its [`Format`]. Everything else asks
//! the format and names none, so a new one is a file here and its line in the table.

pub mod gauntlet;
pub mod knockout;
pub mod pyramid;
pub mod race;
pub mod round_robin;
pub mod swiss;
pub mod tune;

use std::fmt::Debug;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use self::race::RaceRule;
use self::tune::TuneRule;
use crate::record::PlayerId;

/// Every format, in the order in which `--help` lists those that users choose by name.
pub static FORMATS: [&Definition; 7] = [
    &round_robin::DEFINITION,
    &gauntlet::DEFINITION,
    &swiss::DEFINITION,
    &knockout::DEFINITION,
    &pyramid::DEFINITION,
    &race::DEFINITION,
    &tune::DEFINITION,
];

/// Name of the command for formats without a command of their own.
const MATCH: &str = "match";

/// Makes a format from a user's parameters and the number of players.
pub type FormatConstructor = fn(&Parameters, u16) -> Result<Format, FormatError>;

/// Facts about a format that do not depend on its parameters.
#[derive(Debug)]
pub struct Definition {
    /// Name that users write and plans store.
    pub name: &'static str,
    /// The name with its article, as sentences have it.
    pub title: &'static str,
    /// Name of the command that plays it: a command of its own, or `match`.
    pub command: &'static str,
    /// Plan keys of its parameters.
    pub takes: &'static [&'static str],
    /// Format from a user's parameters, with defaults filled in and values checked against the
    /// number of players; `None` if only a command of its own plays it.
    pub choose: Option<FormatConstructor>,
    /// Format from the parameters of a stored plan; `None` if one is missing.
    pub read: fn(&Parameters) -> Option<Format>,
    /// True if results decide how many encounters there are.
    pub is_open: bool,
    /// True if it ends with its last round, so that no width in Elo can end it.
    pub ends_with_rounds: bool,
    /// True if no two players may be given an opening twice, under any limit.
    pub needs_fresh_openings: bool,
    /// True if the player of the lower number is named first in each encounter.
    pub lower_first: bool,
}

impl Definition {
    /// Format called `name` without parameters; other formats are built on it.
    const fn new(name: &'static str, title: &'static str, read: fn(&Parameters) -> Option<Format>) -> Self {
        Self {
            name,
            title,
            command: MATCH,
            takes: &[],
            choose: None,
            read,
            is_open: false,
            ends_with_rounds: false,
            needs_fresh_openings: false,
            lower_first: false,
        }
    }

    /// The first key of `parameters` that the format does not take.
    fn refuses(&self, parameters: &Parameters) -> Option<&'static str> {
        parameters.keys().find(|key| !self.takes.contains(key))
    }
}

/// Parameters of formats, as keys of a stored plan; each format takes its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Parameters {
    /// Number of players, from the first, that the tournament is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heroes: Option<u16>,
    /// Number of rounds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<u32>,
    /// Rule by which takes are dropped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub race: Option<RaceRule>,
    /// Parameters of the engine, and how their values are found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tune: Option<TuneRule>,
}

impl Parameters {
    /// Plan keys of those that are given.
    fn keys(&self) -> impl Iterator<Item = &'static str> {
        let given = [
            ("heroes", self.heroes.is_some()),
            ("rounds", self.rounds.is_some()),
            ("race", self.race.is_some()),
            ("tune", self.tune.is_some()),
        ];
        given.into_iter().filter(|(_, is_given)| *is_given).map(|(key, _)| key)
    }
}

/// A name or parameter that fits no tournament.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FormatError {
    /// The name of no format.
    #[error("--format: unknown format `{name}`: use {}", names())]
    Unknown {
        /// Name that was given.
        name: String,
    },
    /// A parameter that the format does not have.
    #[error(
        "only {} has {key}; leave out --{key}, or use --format {}",
        either(&takers(key, |format| format.title)),
        either(&takers(key, |format| format.name))
    )]
    NotTaken {
        /// Plan key of the parameter.
        key: &'static str,
    },
    /// A value out of bounds; the message names it and the bounds.
    #[error("{0}")]
    Value(String),
}

/// Two players who meet; of a pair, the one named first has White in its first game unless the
/// plan reverses that.
pub type Encounter = (PlayerId, PlayerId);

/// A pair that counts, as far as pairing needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairResult {
    /// Players of the pair.
    pub players: Encounter,
    /// Half points of the player named first, of both games.
    pub half_points: u8,
    /// Games in it: 2, or 1 for half a pair.
    pub games: u8,
    /// True for each player that failed in a game: crashed, stalled or played an illegal move.
    pub failed: [bool; 2],
}

/// Names and values of options of the first and of the second player of the plan, in one order.
pub type PairOptions = [Vec<(String, String)>; 2];

/// The encounters of a tournament in the order of play.
#[derive(Debug)]
pub enum Pairs {
    /// Known from the start. The encounters take turns, a pair each.
    Turns(Vec<Encounter>),
    /// Decided by results.
    Stages(Box<dyn Stages>),
}

/// Pairs that results decide, a stage at a time.
pub trait Stages: Debug + Send {
    /// The next stage, given the results that decide it; empty at the end.
    fn next(&mut self, before: &[PairResult]) -> Vec<Encounter>;

    /// True if a stage is decided while the one that precedes it is still being played.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Options of the pairs of the last stage, in its order; empty if pairs have none of their own.
    fn options(&mut self) -> Vec<PairOptions> {
        Vec::new()
    }
}

/// Behaviour of a format with its parameters.
pub trait FormatRules: Debug + Send + Sync {
    /// Entry in [`FORMATS`].
    fn definition(&self) -> &'static Definition;

    /// Parameters as a plan stores them.
    fn parameters(&self) -> Parameters {
        Parameters::default()
    }

    /// Number of encounters; the least if the format is open.
    fn encounters(&self, players: u16) -> u64;

    /// Encounters of `players`, each of them of `pairs` pairs; `None` for no limit.
    fn pairs(&self, players: u16, pairs: Option<u64>) -> Pairs;

    /// Tuning that it is, if it is one.
    fn tuning(&self) -> Option<&TuneRule> {
        None
    }

    /// Number of players, from the first, whose ratings a width in Elo is asked of.
    fn rated(&self, players: usize) -> usize {
        players
    }

    /// Half points of each player for byes, if the format ranks its players by points.
    fn byes(&self, _players: u16, _pairs: Option<u64>, _results: &[PairResult]) -> Option<Vec<u64>> {
        None
    }

    /// Player who has won outright.
    fn winner(&self, _players: u16, _pairs: Option<u64>, _results: &[PairResult]) -> Option<PlayerId> {
        None
    }
}

/// Tournament format of a plan, with its parameters.
#[derive(Clone, Debug)]
pub struct Format(Arc<dyn FormatRules>);

impl Format {
    /// The format with these rules.
    pub fn new(rules: impl FormatRules + 'static) -> Self {
        Self(Arc::new(rules))
    }

    /// Name that users write.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.definition().name
    }

    /// Format that a user asks for. Without a name it is a round robin, or a gauntlet if it has
    /// heroes.
    ///
    /// # Errors
    /// [`FormatError`], for an unknown name and for parameters that do not fit.
    pub fn choose(name: Option<&str>, parameters: &Parameters, players: u16) -> Result<Self, FormatError> {
        let usual = if parameters.heroes.is_some() { &gauntlet::DEFINITION } else { &round_robin::DEFINITION };
        let name = name.unwrap_or(usual.name);
        let unknown = || FormatError::Unknown { name: name.to_owned() };
        let definition = find(name).ok_or_else(unknown)?;
        let choose = definition.choose.ok_or_else(unknown)?;
        match definition.refuses(parameters) {
            Some(key) => Err(FormatError::NotTaken { key }),
            None => choose(parameters, players),
        }
    }

    /// Format of a stored plan; `None` if name and parameters do not fit each other.
    #[must_use]
    pub fn read(name: &str, parameters: &Parameters) -> Option<Self> {
        let definition = find(name).filter(|definition| definition.refuses(parameters).is_none())?;
        (definition.read)(parameters)
    }
}

impl Deref for Format {
    type Target = dyn FormatRules;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        (self.name(), self.parameters()) == (other.name(), other.parameters())
    }
}

fn find(name: &str) -> Option<&'static Definition> {
    FORMATS.into_iter().find(|format| format.name == name)
}

/// Name of the command that plays the format `name`; an unknown one is refused by `match`.
#[must_use]
pub fn command(name: &str) -> &'static str {
    find(name).map_or(MATCH, |format| format.command)
}

/// Names of the formats that users choose, as a sentence lists them.
#[must_use]
pub fn names() -> String {
    let names: Vec<&str> = FORMATS.iter().filter(|format| format.choose.is_some()).map(|format| format.name).collect();
    either(&names)
}

/// True if `key` is a plan key of a format's parameter.
#[must_use]
pub fn is_parameter(key: &str) -> bool {
    FORMATS.iter().any(|format| format.takes.contains(&key))
}

/// Plan keys of all parameters, as a sentence lists them.
#[must_use]
pub fn parameters() -> String {
    let keys: Vec<String> = FORMATS.iter().flat_map(|format| format.takes).map(|key| format!("`{key}`")).collect();
    list(&keys.iter().map(String::as_str).collect::<Vec<_>>(), "and")
}

/// Results of `fact` for all formats that take `key`.
fn takers(key: &str, fact: fn(&Definition) -> &'static str) -> Vec<&'static str> {
    FORMATS.iter().filter(|format| format.takes.contains(&key)).map(|format| fact(format)).collect()
}

/// Alternatives in a sentence: `a, b or c`.
pub(crate) fn either(words: &[&str]) -> String {
    list(words, "or")
}

fn list(words: &[&str], before_last: &str) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [others @ .., last] => format!("{} {before_last} {last}", others.join(", ")),
    }
}

/// The same two players, the lower number first.
#[must_use]
pub fn in_order((a, b): Encounter) -> Encounter {
    if a <= b { (a, b) } else { (b, a) }
}

/// Pairs of all encounters, one of each in turn.
fn in_turn(encounters: &[Encounter], pairs: u64) -> Vec<Encounter> {
    (0..pairs).flat_map(|_| encounters.iter().copied()).collect()
}

#[cfg(test)]
mod tests;
