//! Plan of a run, and its form `plan.toml` in the run directory.
//!
//! People can read it, and `quintain resume` continues from it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toml::Spanned;
use toml::de::DeTable;

use super::affinity::Affinity;
use super::book_ref::{BookRef, BookV1};
use super::chain::{Chain, ChainV1};
use super::player::{Player, PlayerV1, ROLES, player_named};
use super::recording::{Recording, RecordingV1};
use super::rules::{Rules, RulesV1};
pub use super::stored::PlanFileError;
use super::stored::{VERSION, is_false, parse, seconds};
use super::workers::{ReferenceSpeed, Workers};
use super::{Colors, Format, Machine, Test, Timeouts};
use crate::record::{GameRecord, PlayerId};
use crate::stats::sprt::{Bounds, Model};
use crate::text::suggestion;
use crate::tournament::formats::round_robin::{self, RoundRobin};
use crate::tournament::formats::{self, Parameters};

/// Name of the file in a run directory.
pub const FILE_NAME: &str = "plan.toml";

/// Name of the file of a tuning's settings.
pub const TUNING_SETTINGS: &str = "tuning.toml";

/// Names of the files beside it: the values in several forms.
pub const TUNING_VALUES: [&str; 4] = ["options.toml", "values.txt", "openbench.txt", "fishtest.txt"];

/// Names of the run directories beside it: those of the tuning's games and of its proof.
pub const TUNING_FOLDERS: [&str; 2] = ["tune", "prove"];

/// A run: players, pairing, openings, rules, test, and use of this machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Name that the user gave the run, also the event of its PGN.
    pub name: String,
    /// Title that the user gave the run, on one line.
    pub note: Option<String>,
    /// Players, at least two. In a test, `new` and then `base`. In a gauntlet the heroes come
    /// first; in a Swiss or a knockout the order seeds.
    pub players: Vec<Player>,
    /// Tournament format, which decides the encounters.
    pub format: Format,
    /// Colours in the games of a pair.
    pub colors: Colors,
    /// Book of opening positions.
    pub book: BookRef,
    /// Seed of the order of openings and, with the pair's number, of everything random in a pair.
    pub seed: u64,
    /// Adjudication rules and limits of the referee.
    pub rules: Rules,
    /// SPRT of the first player against the second; `None` if the run tests no hypothesis.
    pub test: Option<Test>,
    /// Pairs per encounter, from 1; `None` for no limit, which only a test and a run until a width
    /// have.
    pub max_pairs: Option<u64>,
    /// True if the last of those pairs is a single game.
    pub half_last: bool,
    /// True to give each game of a pair an opening of its own.
    pub opening_per_game: bool,
    /// True to count pairs that repeat counted ones move for move and to reuse openings at fixed
    /// nodes, as other runners do.
    pub count_repeats: bool,
    /// Time after which the run stops without a verdict, counted from the start of this process
    /// without pauses; `None` for no limit.
    pub max_time: Option<Duration>,
    /// Half width in Elo at which the run stops; positive, `None` for no such stop. It applies to
    /// the 95 % interval of two players' difference, of a gauntlet's heroes, or of all players.
    pub until_width: Option<f64>,
    /// Number of concurrent games.
    pub concurrency: u16,
    /// Processes that play the games; `None` for threads of this one.
    pub workers: Option<Workers>,
    /// Speed that the times are for; `None` if all machines get the same times.
    pub scale: Option<ReferenceSpeed>,
    /// Percentage of the pairs that a second worker plays too, whose games must be equal; `None`
    /// for none.
    pub verify: Option<f64>,
    /// CPUs that slots are pinned to.
    pub affinity: Affinity,
    /// True to restart engines for each game.
    pub restart: bool,
    /// Pause of a slot after each game.
    pub pause: Duration,
    /// True to replay a pair if the host caused a loss on time
    /// ([`crate::record::Overstep::is_excused`]).
    pub void_disturbed: bool,
    /// Percentage of finished games lost on time above which the run stops; 100 for no limit.
    pub max_time_losses: f64,
    /// Number of crashes, stalls and illegal moves above which the run stops.
    pub max_failures: u64,
    /// Deadlines for engine replies that no clock covers.
    pub timeouts: Timeouts,
    /// Recording options and further output files.
    pub recording: Recording,
    /// Tests before and after this one, if it is one of a chain.
    pub chain: Chain,
    /// Machine that the plan was resolved on.
    pub machine: Machine,
}

/// Text of an error: no player of these plans has the name. It has the most similar one.
pub fn unknown_player<'a>(name: &str, plans: impl IntoIterator<Item = &'a Plan>) -> String {
    let in_run = |plan: &'a Plan| {
        let roles = ROLES.into_iter().filter(|_| plan.test.is_some());
        plan.players.iter().map(|player| player.name.as_str()).chain(roles)
    };
    let mut names: Vec<&str> = plans.into_iter().flat_map(in_run).collect();
    names.sort_unstable();
    names.dedup();
    format!("`{name}` does not play: {}", suggestion(name, &names, "players are"))
}

impl Plan {
    /// Returns the player of this name. In a test `new` and `base` are names too, unless a player
    /// has them.
    #[must_use]
    pub fn player_named(&self, name: &str) -> Option<PlayerId> {
        player_named(self.players.iter().map(|player| player.name.as_str()), name, self.test.is_some())
    }

    /// Returns the name of a player; `?` if the plan has no such player.
    #[must_use]
    pub fn name_of(&self, player: PlayerId) -> &str {
        self.players.get(usize::from(player.0)).map_or("?", |player| player.name.as_str())
    }

    /// Creates an endless round robin: one game at once, no limit on failures, nothing recorded.
    /// Callers override single fields of it.
    #[must_use]
    pub fn new(name: String, players: Vec<Player>, book: BookRef, seed: u64, rules: Rules, machine: Machine) -> Self {
        Self {
            name,
            note: None,
            players,
            format: Format::new(RoundRobin),
            colors: Colors::default(),
            book,
            seed,
            rules,
            test: None,
            max_pairs: None,
            half_last: false,
            opening_per_game: false,
            count_repeats: false,
            max_time: None,
            until_width: None,
            concurrency: 1,
            workers: None,
            scale: None,
            verify: None,
            affinity: Affinity::default(),
            restart: false,
            pause: Duration::ZERO,
            void_disturbed: false,
            max_time_losses: 100.0,
            max_failures: u64::from(u32::MAX),
            timeouts: Timeouts::default(),
            recording: Recording::default(),
            chain: Chain::default(),
            machine,
        }
    }

    /// Title of the run: its note; else, of a test, the network, and the subject and branch of the
    /// tested change.
    #[must_use]
    pub fn title(&self) -> Option<String> {
        let of_commit = || {
            self.test?;
            let origin = &self.players.first()?.origin;
            let commit = origin.subject.clone().map(|subject| match origin.branch() {
                Some(branch) => format!("{subject} ({branch})"),
                None => subject,
            });
            let network = origin.network.as_ref().map(|network| format!("network {network}"));
            Some([network, commit].into_iter().flatten().collect::<Vec<_>>().join(", "))
        };
        self.note.clone().or_else(of_commit).filter(|title| !title.is_empty())
    }

    /// Puts the run's title before `text`, if it has one.
    #[must_use]
    pub fn noted(&self, text: &str) -> String {
        self.title().map_or_else(|| text.to_owned(), |title| format!("{title}: {text}"))
    }

    /// Time margin of a player: grace on every move before its flag falls.
    #[must_use]
    pub fn margin(&self, player: PlayerId) -> Duration {
        self.players.get(usize::from(player.0)).and_then(|player| player.margin).unwrap_or(self.rules.margin)
    }

    /// Options of a player in a tuning's game, with their values; empty in other runs.
    #[must_use]
    pub fn tuned_options(&self, game: &GameRecord, player: PlayerId) -> Vec<(String, String)> {
        let Some((rule, values)) = self.format.tuning().zip(game.values.as_ref()) else { return Vec::new() };
        let values = if game.players.white == player { &values.white } else { &values.black };
        let names = rule.space.params().iter().map(|param| param.name.clone());
        names.zip(values.iter().cloned()).collect()
    }

    /// Number of pairs per encounter before an opening comes again, at least 1.
    #[must_use]
    pub fn fresh_pairs(&self) -> u64 {
        let openings = self.book.fresh();
        if self.opening_per_game { (openings / 2).max(1) } else { openings }
    }

    /// True if no encounter uses an opening twice. At fixed nodes or depth the same games would
    /// come again, and some formats need fresh openings.
    #[must_use]
    pub fn ends_with_book(&self) -> bool {
        let is_asked = self.format.definition().needs_fresh_openings;
        !self.count_repeats && (is_asked || !self.is_timed())
    }

    /// True if a player has a clock or a time per move.
    #[must_use]
    pub fn is_timed(&self) -> bool {
        self.players.iter().any(|player| player.limit.is_timed())
    }

    /// True if the workers of a hub play the run, on machines that the plan does not have.
    #[must_use]
    pub const fn is_at_hub(&self) -> bool {
        matches!(self.workers, Some(Workers::Hub(_)))
    }

    /// Machine that plays the games; `None` if the workers of a hub do, because the coordinator's
    /// plays none.
    #[must_use]
    pub fn playing_machine(&self) -> Option<&Machine> {
        (!self.is_at_hub()).then_some(&self.machine)
    }

    /// Player whose engine's speed stands for that of a machine: the one that `scale` names, or the
    /// last one.
    #[must_use]
    pub fn reference_player(&self) -> PlayerId {
        let last = self.players.len().saturating_sub(1);
        self.scale.map_or_else(|| PlayerId(u16::try_from(last).unwrap_or(u16::MAX)), |scale| scale.player)
    }

    /// True if this player's engine ponders.
    #[must_use]
    pub const fn ponders(&self, player: &Player) -> bool {
        self.rules.ponder || player.ponder
    }

    /// Maximum number of threads that search at once in a game, at least 1. It follows from the
    /// option `Threads`, and doubles if an engine ponders.
    #[must_use]
    pub fn threads(&self) -> usize {
        let one = self.engine_threads();
        if self.players.iter().any(|player| self.ponders(player)) { one.saturating_mul(2) } else { one }
    }

    /// Maximum number of threads of one engine, at least 1.
    #[must_use]
    pub fn engine_threads(&self) -> usize {
        self.players.iter().filter_map(Player::threads).max().unwrap_or(1).max(1)
    }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanV1 {
    version: u32,
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_pairs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_time_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until_width: Option<f64>,
    concurrency: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    workers: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale: Option<String>,
    /// Percentage of the pairs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verify: Option<f64>,
    affinity: bool,
    /// List of CPUs, if the user named them.
    #[serde(skip_serializing_if = "Option::is_none")]
    affinity_cpus: Option<String>,
    restart: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause_s: Option<f64>,
    #[serde(default)]
    void_disturbed: bool,
    /// Percentage of the finished games; no limit if missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_time_losses: Option<f64>,
    max_failures: u64,
    /// Name of the format. A plan without it is a test of two players.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    /// Parsed separately, because errors in a struct with a flattened field have no position.
    #[serde(flatten, skip_deserializing)]
    parameters: Parameters,
    #[serde(default, skip_serializing_if = "is_false")]
    half_last: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    opening_per_game: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    count_repeats: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    no_swap: bool,
    #[serde(default, skip_serializing_if = "is_false")]
    reverse: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    test: Option<TestV1>,
    book: BookV1,
    rules: RulesV1,
    timeouts: TimeoutsV1,
    machine: MachineV1,
    #[serde(default, skip_serializing_if = "RecordingV1::is_empty")]
    recording: RecordingV1,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    chain: Option<ChainV1>,
    players: Vec<PlayerV1>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TestV1 {
    model: String,
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeoutsV1 {
    start_s: f64,
    ready_s: f64,
    new_game_s: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ping_s: Option<f64>,
    stop_s: f64,
    quit_s: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineV1 {
    cpu: String,
    cores: usize,
    os: String,
}

fn reference(text: &str, players: &[Player]) -> Result<ReferenceSpeed, PlanFileError> {
    let names = players.iter().map(|player| player.name.as_str());
    ReferenceSpeed::parse(text, names, false)
        .map_err(|error| PlanFileError::Value { key: "scale", why: error.to_string() })
}

/// Writes the plan as the text of a `plan.toml`.
#[must_use]
pub fn to_toml(plan: &Plan) -> String {
    let file = PlanV1 {
        version: VERSION,
        name: plan.name.clone(),
        note: plan.note.clone(),
        seed: plan.seed,
        max_pairs: plan.max_pairs,
        max_time_s: plan.max_time.map(|time| time.as_secs_f64()),
        until_width: plan.until_width,
        concurrency: plan.concurrency,
        workers: plan.workers.as_ref().map(ToString::to_string),
        scale: plan.scale.and_then(|scale| {
            let player = plan.players.get(usize::from(scale.player.0))?;
            Some(format!("{}={}", player.name, scale.nps))
        }),
        verify: plan.verify,
        affinity: plan.affinity != Affinity::Off,
        affinity_cpus: matches!(plan.affinity, Affinity::Cpus(_)).then(|| plan.affinity.to_string()),
        restart: plan.restart,
        pause_s: Some(plan.pause.as_secs_f64()).filter(|_| !plan.pause.is_zero()),
        void_disturbed: plan.void_disturbed,
        max_time_losses: Some(plan.max_time_losses).filter(|percent| *percent < 100.0),
        max_failures: plan.max_failures,
        format: Some(plan.format.name().to_owned()).filter(|_| plan.test.is_none()),
        parameters: plan.format.parameters(),
        half_last: plan.half_last,
        opening_per_game: plan.opening_per_game,
        count_repeats: plan.count_repeats,
        no_swap: !plan.colors.swap,
        reverse: plan.colors.reverse,
        test: plan.test.map(|test| TestV1 {
            model: test.model.to_string(),
            elo0: test.bounds.elo0,
            elo1: test.bounds.elo1,
            alpha: test.alpha,
            beta: test.beta,
        }),
        book: (&plan.book).into(),
        rules: (&plan.rules).into(),
        timeouts: TimeoutsV1 {
            start_s: plan.timeouts.start.as_secs_f64(),
            ready_s: plan.timeouts.ready.as_secs_f64(),
            new_game_s: plan.timeouts.new_game.as_secs_f64(),
            ping_s: plan.timeouts.ping.map(|limit| limit.as_secs_f64()),
            stop_s: plan.timeouts.stop.as_secs_f64(),
            quit_s: plan.timeouts.quit.as_secs_f64(),
        },
        machine: MachineV1 { cpu: plan.machine.cpu.clone(), cores: plan.machine.cores, os: plan.machine.os.clone() },
        recording: (&plan.recording).into(),
        chain: ChainV1::of(&plan.chain),
        players: plan.players.iter().map(PlayerV1::from).collect(),
    };
    toml::to_string(&file).expect("tables come after values in every struct of this file")
}

/// Reads the text of a `plan.toml`.
///
/// # Errors
/// [`PlanFileError`], with line and column if the TOML is at fault.
pub fn from_toml(text: &str) -> Result<Plan, PlanFileError> {
    #[derive(Deserialize)]
    struct VersionField {
        version: u32,
        #[serde(flatten)]
        _rest: BTreeMap<String, toml::Value>,
    }
    let version: VersionField = toml::from_str(text).map_err(Box::new)?;
    if version.version > VERSION {
        return Err(PlanFileError::Newer(version.version));
    }
    let [parameters, rest] = split(text)?;
    let parameters: Parameters = parse_table(parameters, text)?;
    let file: PlanV1 = parse_table(rest, text)?;
    let format = format(file.format.as_deref().unwrap_or(round_robin::DEFINITION.name), &parameters)?;
    let players: Vec<Player> = file.players.into_iter().map(PlayerV1::read).collect::<Result<_, _>>()?;
    Ok(Plan {
        name: file.name,
        note: file.note,
        format,
        colors: Colors { swap: !file.no_swap, reverse: file.reverse },
        half_last: file.half_last,
        opening_per_game: file.opening_per_game,
        count_repeats: file.count_repeats,
        scale: file.scale.map(|scale| reference(&scale, &players)).transpose()?,
        players,
        book: file.book.read(file.seed)?,
        seed: file.seed,
        rules: file.rules.read()?,
        test: file.test.map(test_from_disk).transpose()?,
        max_pairs: file.max_pairs,
        max_time: file.max_time_s.map(|time| seconds("max_time_s", time)).transpose()?,
        until_width: file.until_width.map(positive_elo).transpose()?,
        concurrency: file.concurrency,
        workers: file.workers.map(|workers| parse("workers", &workers)).transpose()?,
        verify: file.verify.map(|percent| percentage("verify", percent)).transpose()?,
        affinity: match (file.affinity, &file.affinity_cpus) {
            (false, _) => Affinity::Off,
            (true, None) => Affinity::Auto,
            (true, Some(cpus)) => parse("affinity_cpus", cpus)?,
        },
        restart: file.restart,
        pause: file.pause_s.map(|time| seconds("pause_s", time)).transpose()?.unwrap_or_default(),
        void_disturbed: file.void_disturbed,
        max_time_losses: file.max_time_losses.map_or(Ok(100.0), |percent| percentage("max_time_losses", percent))?,
        max_failures: file.max_failures,
        timeouts: Timeouts {
            start: seconds("timeouts.start_s", file.timeouts.start_s)?,
            ready: seconds("timeouts.ready_s", file.timeouts.ready_s)?,
            new_game: seconds("timeouts.new_game_s", file.timeouts.new_game_s)?,
            ping: file.timeouts.ping_s.map(|limit| seconds("timeouts.ping_s", limit)).transpose()?,
            stop: seconds("timeouts.stop_s", file.timeouts.stop_s)?,
            quit: seconds("timeouts.quit_s", file.timeouts.quit_s)?,
        },
        recording: file.recording.read()?,
        chain: file.chain.map(ChainV1::read).unwrap_or_default(),
        machine: Machine { cpu: file.machine.cpu, cores: file.machine.cores, os: file.machine.os },
    })
}

/// Splits the keys of tournament formats from all others.
fn split(text: &str) -> Result<[Spanned<DeTable<'_>>; 2], PlanFileError> {
    let all = DeTable::parse(text).map_err(Box::new)?;
    let span = all.span();
    let (own, rest) = all.into_inner().into_iter().partition(|(key, _)| formats::is_parameter(key.get_ref()));
    Ok([Spanned::new(span.clone(), own), Spanned::new(span, rest)])
}

/// Deserializes a table of `text`.
fn parse_table<'de, T: Deserialize<'de>>(table: Spanned<DeTable<'de>>, text: &str) -> Result<T, PlanFileError> {
    T::deserialize(toml::Deserializer::from(table)).map_err(|mut error| {
        error.set_input(Some(text));
        Box::new(error).into()
    })
}

fn percentage(key: &'static str, percent: f64) -> Result<f64, PlanFileError> {
    if (0.0..=100.0).contains(&percent) {
        return Ok(percent);
    }
    Err(PlanFileError::Value { key, why: format!("{percent} is not a percentage") })
}

fn positive_elo(value: f64) -> Result<f64, PlanFileError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(PlanFileError::Value { key: "until_width", why: format!("{value} is not a width in Elo") })
}

fn test_from_disk(test: TestV1) -> Result<Test, PlanFileError> {
    Ok(Test {
        bounds: Bounds { elo0: test.elo0, elo1: test.elo1 },
        model: parse::<Model>("test.model", &test.model)?,
        alpha: test.alpha,
        beta: test.beta,
    })
}

fn format(name: &str, parameters: &Parameters) -> Result<Format, PlanFileError> {
    Format::read(name, parameters).ok_or_else(|| {
        let why = format!("`{name}` does not fit {}", formats::parameters());
        PlanFileError::Value { key: "format", why }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tournament::formats::gauntlet::Gauntlet;
    use crate::tournament::formats::knockout::Knockout;
    use crate::tournament::formats::race::{Race, RaceRule};
    use crate::tournament::formats::swiss::Swiss;
    use crate::tournament::formats::tune::{self, Tune};

    const V1: &str = include_str!("../../tests/it/fixtures/v1/plan.toml");

    #[test]
    fn every_format_is_stored_under_its_own_keys() {
        let rule = |close| RaceRule { alpha: 0.05, gain: 1.0, close, step: 8 };
        let plan = Plan { test: None, ..from_toml(V1).unwrap() };
        for (format, stored) in [
            (Format::new(RoundRobin), "\nformat = \"round-robin\"\n"),
            (Format::new(Gauntlet { heroes: 2 }), "\nformat = \"gauntlet\"\nheroes = 2\n"),
            (Format::new(Swiss { rounds: 3 }), "\nformat = \"swiss\"\nrounds = 3\n"),
            (Format::new(Knockout), "\nformat = \"knockout\"\n"),
            (Format::new(Race { rule: rule(0.0) }), "\n[race]\nalpha = 0.05\ngain = 1.0\nstep = 8\n"),
            (Format::new(Race { rule: rule(2.5) }), "\n[race]\nalpha = 0.05\ngain = 1.0\nclose = 2.5\nstep = 8\n"),
            (
                Format::new(Tune { rule: tune::tests::rule("auto") }),
                "\n[tune]\nmethod = \"auto\"\nseed = 11\nblock = 16\n",
            ),
            (Format::new(Tune { rule: tune::tests::rule("fishtest") }), "\n[tune]\nmethod = \"fishtest\"\n"),
        ] {
            let plan = Plan { format, count_repeats: true, ..plan.clone() };
            let text = to_toml(&plan);
            assert!(text.contains(stored), "no {stored:?} in {text}");
            assert_eq!(from_toml(&text).unwrap(), plan, "{text}");
        }
    }

    #[test]
    fn a_fault_is_told_with_its_line() {
        for (line, place, why) in [
            ("hereos = 3", "line 9, column 1", "unknown field `hereos`"),
            ("heroes = \"x\"", "line 9, column 10", "invalid type: string \"x\", expected u16"),
            ("race = { alpha = 1.0, gian = 2.0 }", "line 9, column 23", "unknown field `gian`"),
            ("rounds = 3", "`format`", "`round-robin` does not fit `heroes`, `rounds`, `race` and `tune`"),
        ] {
            let text = V1.replace("max_failures = 10\n", &format!("max_failures = 10\n{line}\n"));
            let said = from_toml(&text).unwrap_err().to_string();
            assert!(said.contains(place) && said.contains(why), "{line}: {said}");
        }
    }
}
