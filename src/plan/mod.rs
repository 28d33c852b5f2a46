//! Everything about a run, resolved and immutable. Nothing below this room reads configuration.
//!
//! Reading order: `time_control` (what a side may spend), `rules` (what the referee may decide), `recording` (what is
//! written besides), `config` (what all TOML files of a user share), then [`Plan`] itself and `file`, its form in the run directory.

pub mod affinity;
pub mod config;
pub mod file;
pub mod recording;
pub mod rules;
pub mod time_control;

use std::path::PathBuf;
use std::time::Duration;

use crate::openings::order::Order;
use crate::plan::affinity::Affinity;
use crate::plan::recording::Recording;
use crate::plan::rules::Rules;
use crate::plan::time_control::Limit;
use crate::record::PlayerId;
use crate::stats::sprt::{Bounds, Model};

/// A run: its players, who meets whom, where their games start, the rules, the test, and how to play it on this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// What the user calls the run; also the PGN's event.
    pub name: String,
    /// At least two; of a test, `new` and then `base`. In a gauntlet the heroes come first, in a Swiss or a knockout the order seeds.
    pub players: Vec<Player>,
    /// Who meets whom.
    pub format: Format,
    /// Who has which side in the games of a pair.
    pub colors: Colors,
    /// Where games start.
    pub book: BookRef,
    /// Decides the order of openings; with the pair's id, everything random in a pair.
    pub seed: u64,
    /// What the referee may decide.
    pub rules: Rules,
    /// The test, of the first player against the second; `None` where the games are played for themselves.
    pub test: Option<Test>,
    /// Pairs that any two players who meet play, from 1; `None` for no limit, which only a test has, and games until a width.
    pub max_pairs: Option<u64>,
    /// True where the last of those pairs is a single game.
    pub half_last: bool,
    /// True to give each game of a pair an opening of its own.
    pub opening_per_game: bool,
    /// True to count pairs that repeat counted ones move for move, and to play openings again at fixed nodes, as other runners do.
    pub count_repeats: bool,
    /// Time after which the run stops without a verdict (this process's, not counting earlier ones); `None` for no limit.
    pub max_time: Option<Duration>,
    /// Elo either way: the run stops as soon as the 95 % intervals are no wider: of the two players' difference, of the ratings
    /// of a gauntlet's heroes, or of everybody's. `None` to play on. Positive.
    pub until_width: Option<f64>,
    /// Games at once.
    pub concurrency: u16,
    /// Whether each slot has CPUs of its own, and which.
    pub affinity: Affinity,
    /// True to start engines anew for each game.
    pub restart: bool,
    /// How long a slot rests after each game.
    pub pause: Duration,
    /// True to play a pair again if a game was lost on time by the machine's doing ([`crate::record::Overstep::is_excused`]).
    pub void_disturbed: bool,
    /// Percent of the finished games that may be lost on time before the run stops; 100 for no limit.
    pub max_time_losses: f64,
    /// Crashes, stalls and illegal moves that a run may have before it stops.
    pub max_failures: u64,
    /// Deadlines of the talk with an engine that are not its clock.
    pub timeouts: Timeouts,
    /// What is kept and written besides the journal and `games.pgn`.
    pub recording: Recording,
    /// Where it was resolved.
    pub machine: Machine,
}

impl Plan {
    /// Grace on every move of a player before its flag falls.
    #[must_use]
    pub fn margin(&self, player: PlayerId) -> Duration {
        self.players.get(usize::from(player.0)).and_then(|player| player.margin).unwrap_or(self.rules.margin)
    }

    /// Pairs that any two players who meet can play before an opening comes again, at least 1.
    #[must_use]
    pub fn fresh_pairs(&self) -> u64 {
        let openings = self.book.fresh();
        if self.opening_per_game { (openings / 2).max(1) } else { openings }
    }

    /// True if no two players are given an opening twice: at fixed nodes or depth the same games would come again, and the bets of a
    /// race are on pairs that are independent of each other.
    #[must_use]
    pub fn ends_with_book(&self) -> bool {
        let is_race = matches!(self.format, Format::Race(_));
        !self.count_repeats && (is_race || !self.players.iter().any(|player| player.limit.is_timed()))
    }

    /// The most threads that think at once in a game, at least 1: those that an engine is told to use (its option `Threads`), of both
    /// sides where engines ponder.
    #[must_use]
    pub fn threads(&self) -> usize {
        let one = self.players.iter().filter_map(Player::threads).max().unwrap_or(1).max(1);
        if self.rules.ponder { one.saturating_mul(2) } else { one }
    }
}

/// Who meets whom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Format {
    /// Everybody meets everybody.
    RoundRobin,
    /// The first players meet all that come after them.
    Gauntlet {
        /// How many they are, from 1.
        heroes: u16,
    },
    /// In each round players of equal points meet who have not met before.
    Swiss {
        /// How many rounds, from 1.
        rounds: u32,
    },
    /// Who loses an encounter is out.
    Knockout,
    /// All others meet the first player, and who is shown to be hopeless is out.
    Race(RaceRule),
}

/// When a take is dropped from a race ([`crate::stats::race`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaceRule {
    /// The probability that anything the race says is false, between 0 and 1.
    pub alpha: f64,
    /// Elo that a take must gain on the first player.
    pub gain: f64,
    /// Elo by which another take may be stronger than the winner; 0 if the winner must be the only
    /// one left.
    pub close: f64,
    /// Pairs of each take between two decisions, from 1.
    pub step: u32,
}

impl Format {
    /// The name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::RoundRobin => "round-robin",
            Self::Gauntlet { .. } => "gauntlet",
            Self::Swiss { .. } => "swiss",
            Self::Knockout => "knockout",
            Self::Race(_) => "race",
        }
    }
}

/// Who has which side in the games of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colors {
    /// The second game is played with sides changed.
    pub swap: bool,
    /// The player named first has Black in the first game.
    pub reverse: bool,
}

impl Default for Colors {
    fn default() -> Self {
        Self { swap: true, reverse: false }
    }
}

/// An engine under test with its settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Player {
    /// Unique in the plan.
    pub name: String,
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it runs; `None` for the current directory.
    pub dir: Option<PathBuf>,
    /// UCI options in the order they are sent.
    pub options: Vec<(String, String)>,
    /// What it may spend on a move.
    pub limit: Limit,
    /// Grace on every move of its own; `None` for that of the rules.
    pub margin: Option<Duration>,
    /// True to start it anew for each game, whatever the plan says of all.
    pub restart: bool,
    /// Remarks of its engine on failures before the first game, and doubts about files that its
    /// options name.
    pub complaints: Vec<String>,
    /// What the program is.
    pub origin: Origin,
}

impl Player {
    fn threads(&self) -> Option<usize> {
        self.options.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("Threads"))?.1.trim().parse().ok()
    }
}

/// What a player's program is and where it came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// As typed: `.`, `git:REV`, a path, a name.
    pub spec: String,
    /// The commit it was built from, in full.
    pub commit: Option<String>,
    /// The Git tree it was built from; tells uncommitted states apart.
    pub tree: Option<String>,
    /// True where the tree had uncommitted changes.
    pub dirty: bool,
    /// The recipe's command.
    pub recipe: Option<String>,
    /// The compiler.
    pub toolchain: Option<String>,
    /// SHA-256 of the program file, in hex.
    pub sha256: String,
    /// Its `bench` signature: nodes over its fixed positions.
    pub bench_nodes: Option<u64>,
}

/// A book and how it is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookRef {
    /// A file, or the name of the book inside the program.
    pub source: BookSource,
    /// SHA-256 of its bytes, in hex.
    pub sha256: String,
    /// Openings in it.
    pub openings: u64,
    /// In which order they are taken.
    pub order: Order,
    /// The first opening taken, from 0.
    pub start: u64,
    /// Plies taken from each PGN game; `None` for all.
    pub plies: Option<u32>,
}

impl BookRef {
    /// Openings that are taken before one comes again, at least 1. A random order is shuffled anew for its second lap, so that what is
    /// skipped of the first one is lost.
    #[must_use]
    pub const fn fresh(&self) -> u64 {
        let openings = if self.openings == 0 { 1 } else { self.openings };
        match self.order {
            Order::Sequential => openings,
            Order::Random { .. } => openings - self.start % openings,
        }
    }
}

/// Where a book lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BookSource {
    /// The one that ships inside the program.
    Builtin,
    /// A file.
    File(PathBuf),
}

/// The settings of a sequential probability ratio test.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// The hypotheses, in Elo of the model.
    pub bounds: Bounds,
    /// What the bounds are measured in.
    pub model: Model,
    /// Probability of accepting H1 where H0 is true.
    pub alpha: f64,
    /// Probability of accepting H0 where H1 is true.
    pub beta: f64,
}

/// How long to wait for an engine where no clock runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start of the process to `uciok`.
    pub start: Duration,
    /// From the first `isready`, which follows the options, to `readyok`: hash tables and networks are made here.
    pub ready: Duration,
    /// From `ucinewgame` to `readyok`.
    pub new_game: Duration,
    /// From `stop`, after a deadline was missed, to `bestmove`.
    pub stop: Duration,
    /// From `quit` to the end of the process.
    pub quit: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(10),
            ready: Duration::from_secs(30),
            new_game: Duration::from_secs(30),
            stop: Duration::from_millis(500),
            quit: Duration::from_secs(1),
        }
    }
}

/// The machine a plan was resolved on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    /// As the system names it.
    pub cpu: String,
    /// Physical cores that this process may use.
    pub cores: usize,
    /// System and version.
    pub os: String,
}

impl Player {
    /// Whether `other` is the same program with the same arguments and options, whatever it is called.
    #[must_use]
    pub fn is_same_engine(&self, other: &Self) -> bool {
        self.origin.sha256 == other.origin.sha256 && self.args == other.args && self.options == other.options
    }

    /// The name with everything outside `[A-Za-z0-9._-]` replaced, for file names.
    #[must_use]
    pub fn file_name(&self) -> String {
        self.name.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect()
    }
}
