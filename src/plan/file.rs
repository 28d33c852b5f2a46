//! `plan.toml` in a run directory: the resolved plan, readable by people, from which `quintain resume` goes on.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::chess::Variant;
use crate::openings::order::Order;
use crate::plan::affinity::Affinity;
use crate::plan::recording::{OutputFile, PgnOptions, PgnOutput, Recording};
use crate::plan::rules::{DrawRule, ResignRule, RuleError, Rules, SyzygyRule};
use crate::plan::time_control::{Limit, TimeControl};
use crate::plan::{BookRef, BookSource, Colors, Format, Machine, Origin, Plan, Player, RaceRule, Test, Timeouts};
use crate::stats::sprt::{Bounds, Model};

/// The file's name in a run directory.
pub const FILE_NAME: &str = "plan.toml";

/// Raised when an older reader would misread the file.
const VERSION: u32 = 1;

/// Why a `plan.toml` could not be read back.
#[derive(Debug, thiserror::Error)]
pub enum PlanFileError {
    /// Not TOML, or not a plan; the message holds the place.
    #[error("{0}")]
    Toml(#[from] Box<toml::de::Error>),
    /// Written by a newer program.
    #[error("plan format {0} is newer than this program reads ({VERSION}); update quintain")]
    Newer(u32),
    /// A value that this program would not have written.
    #[error("`{key}`: {why}")]
    Value {
        /// Where.
        key: &'static str,
        /// What is wrong with it.
        why: String,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlanV1 {
    version: u32,
    name: String,
    seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_pairs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_time_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until_width: Option<f64>,
    concurrency: u16,
    affinity: bool,
    /// CPUs that were named.
    #[serde(skip_serializing_if = "Option::is_none")]
    affinity_cpus: Option<String>,
    restart: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pause_s: Option<f64>,
    #[serde(default)]
    void_disturbed: bool,
    /// Percent of the finished games; no limit without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max_time_losses: Option<f64>,
    max_failures: u64,
    /// A plan without it is of a test: two players who meet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    heroes: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rounds: Option<u32>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    race: Option<RaceV1>,
    book: BookV1,
    rules: RulesV1,
    timeouts: TimeoutsV1,
    machine: MachineV1,
    #[serde(default, skip_serializing_if = "RecordingV1::is_empty")]
    recording: RecordingV1,
    players: Vec<PlayerV1>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_zero(value: &f64) -> bool {
    *value == 0.0
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
struct RaceV1 {
    alpha: f64,
    gain: f64,
    #[serde(default, skip_serializing_if = "is_zero")]
    close: f64,
    step: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BookV1 {
    /// `builtin` or `file`.
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<PathBuf>,
    sha256: String,
    openings: u64,
    order: String,
    start: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    plies: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesV1 {
    chess960: bool,
    margin_ms: f64,
    stall_timeout_s: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    resign: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_plies: Option<u32>,
    #[serde(default)]
    ponder: bool,
    /// Folders, joined as `PATH` is.
    #[serde(skip_serializing_if = "Option::is_none")]
    syzygy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    syzygy_pieces: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    syzygy_ignore_50: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    syzygy_adjudicate: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimeoutsV1 {
    start_s: f64,
    ready_s: f64,
    new_game_s: f64,
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

#[derive(Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RecordingV1 {
    record_pv: bool,
    match_lines: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epd: Option<OutputV1>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pgn: Option<PgnV1>,
}

impl RecordingV1 {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OutputV1 {
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    append_after: Option<u64>,
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PgnV1 {
    path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    append_after: Option<u64>,
    notation: String,
    min: bool,
    fields: String,
    engine_tags: bool,
    opening_tags: bool,
    round: String,
    zone: String,
    layout: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlayerV1 {
    name: String,
    spec: String,
    program: PathBuf,
    args: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dir: Option<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    movetime_s: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    margin_ms: Option<f64>,
    #[serde(default, skip_serializing_if = "is_false")]
    restart: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tree: Option<String>,
    dirty: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    recipe: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    toolchain: Option<String>,
    sha256: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    bench_nodes: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    complaints: Vec<String>,
    /// In sending order: `[["Hash", "16"]]`.
    options: Vec<(String, String)>,
}

/// The plan as the text of a `plan.toml`.
#[must_use]
pub fn to_toml(plan: &Plan) -> String {
    let (source, path) = match &plan.book.source {
        BookSource::Builtin => ("builtin", None),
        BookSource::File(path) => ("file", Some(path.clone())),
    };
    let syzygy = plan.rules.syzygy.as_ref();
    let file = PlanV1 {
        version: VERSION,
        name: plan.name.clone(),
        seed: plan.seed,
        max_pairs: plan.max_pairs,
        max_time_s: plan.max_time.map(|time| time.as_secs_f64()),
        until_width: plan.until_width,
        concurrency: plan.concurrency,
        affinity: plan.affinity != Affinity::Off,
        affinity_cpus: matches!(plan.affinity, Affinity::Cpus(_)).then(|| plan.affinity.to_string()),
        restart: plan.restart,
        pause_s: Some(plan.pause.as_secs_f64()).filter(|_| !plan.pause.is_zero()),
        void_disturbed: plan.void_disturbed,
        max_time_losses: Some(plan.max_time_losses).filter(|percent| *percent < 100.0),
        max_failures: plan.max_failures,
        format: Some(plan.format.name().to_owned()).filter(|_| plan.test.is_none()),
        heroes: if let Format::Gauntlet { heroes } = plan.format { Some(heroes) } else { None },
        rounds: if let Format::Swiss { rounds } = plan.format { Some(rounds) } else { None },
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
        race: if let Format::Race(RaceRule { alpha, gain, close, step }) = plan.format {
            Some(RaceV1 { alpha, gain, close, step })
        } else {
            None
        },
        book: BookV1 {
            source: source.to_owned(),
            path,
            sha256: plan.book.sha256.clone(),
            openings: plan.book.openings,
            order: match plan.book.order {
                Order::Sequential => "sequential".to_owned(),
                Order::Random { .. } => "random".to_owned(),
            },
            start: plan.book.start,
            plies: plan.book.plies,
        },
        rules: RulesV1 {
            chess960: plan.rules.variant == Variant::Chess960,
            margin_ms: plan.rules.margin.as_secs_f64() * 1e3,
            stall_timeout_s: plan.rules.stall_timeout.as_secs_f64(),
            draw: plan.rules.draw.map(|rule| rule.to_string()),
            resign: plan.rules.resign.map(|rule| rule.to_string()),
            max_plies: plan.rules.max_plies,
            ponder: plan.rules.ponder,
            syzygy: syzygy.map(SyzygyRule::paths_text),
            syzygy_pieces: syzygy.and_then(|rule| rule.pieces),
            syzygy_ignore_50: syzygy.map(|rule| rule.ignore_fifty),
            syzygy_adjudicate: syzygy.map(|rule| rule.scope.to_string()),
        },
        timeouts: TimeoutsV1 {
            start_s: plan.timeouts.start.as_secs_f64(),
            ready_s: plan.timeouts.ready.as_secs_f64(),
            new_game_s: plan.timeouts.new_game.as_secs_f64(),
            stop_s: plan.timeouts.stop.as_secs_f64(),
            quit_s: plan.timeouts.quit.as_secs_f64(),
        },
        machine: MachineV1 { cpu: plan.machine.cpu.clone(), cores: plan.machine.cores, os: plan.machine.os.clone() },
        recording: recording_to_disk(&plan.recording),
        players: plan.players.iter().map(player_to_disk).collect(),
    };
    toml::to_string(&file).expect("tables come after values in every struct of this file")
}

fn recording_to_disk(recording: &Recording) -> RecordingV1 {
    RecordingV1 {
        record_pv: recording.record_pv,
        match_lines: recording.match_lines.iter().map(|pattern| pattern.as_str().to_owned()).collect(),
        event: recording.event.clone(),
        site: recording.site.clone(),
        epd: recording.epd.as_ref().map(|file| OutputV1 { path: file.path.clone(), append_after: file.append_after }),
        pgn: recording.pgn.as_ref().map(|pgn| PgnV1 {
            path: pgn.file.path.clone(),
            append_after: pgn.file.append_after,
            notation: pgn.options.notation.to_string(),
            min: pgn.options.min,
            fields: pgn.options.fields.to_string(),
            engine_tags: pgn.options.engine_tags,
            opening_tags: pgn.options.opening_tags,
            round: pgn.options.round.to_string(),
            zone: pgn.options.zone.to_string(),
            layout: pgn.options.layout.to_string(),
        }),
    }
}

fn recording_from_disk(recording: RecordingV1) -> Result<Recording, PlanFileError> {
    let patterns = recording.match_lines.iter().map(|text| parse("recording.match_lines", text));
    let pgn = recording.pgn.map(|pgn| {
        Ok::<_, PlanFileError>(PgnOutput {
            file: OutputFile { path: pgn.path, append_after: pgn.append_after },
            options: PgnOptions {
                notation: parse("recording.pgn.notation", &pgn.notation)?,
                min: pgn.min,
                fields: parse("recording.pgn.fields", &pgn.fields)?,
                engine_tags: pgn.engine_tags,
                opening_tags: pgn.opening_tags,
                round: parse("recording.pgn.round", &pgn.round)?,
                zone: parse("recording.pgn.zone", &pgn.zone)?,
                layout: parse("recording.pgn.layout", &pgn.layout)?,
            },
        })
    });
    Ok(Recording {
        record_pv: recording.record_pv,
        match_lines: patterns.collect::<Result<_, _>>()?,
        event: recording.event,
        site: recording.site,
        pgn: pgn.transpose()?,
        epd: recording.epd.map(|OutputV1 { path, append_after }| OutputFile { path, append_after }),
    })
}

fn player_to_disk(player: &Player) -> PlayerV1 {
    let origin = player.origin.clone();
    PlayerV1 {
        name: player.name.clone(),
        spec: origin.spec,
        program: player.program.clone(),
        args: player.args.clone(),
        dir: player.dir.clone(),
        tc: player.limit.clock.map(|clock| clock.to_string()),
        movetime_s: player.limit.movetime.map(|time| time.as_secs_f64()),
        nodes: player.limit.nodes,
        depth: player.limit.depth,
        margin_ms: player.margin.map(|margin| margin.as_secs_f64() * 1e3),
        restart: player.restart,
        commit: origin.commit,
        tree: origin.tree,
        dirty: origin.dirty,
        recipe: origin.recipe,
        toolchain: origin.toolchain,
        sha256: origin.sha256,
        bench_nodes: origin.bench_nodes,
        complaints: player.complaints.clone(),
        options: player.options.clone(),
    }
}

/// Reads the text of a `plan.toml`.
///
/// # Errors
/// [`PlanFileError`], with line and column where the TOML is at fault.
pub fn from_toml(text: &str) -> Result<Plan, PlanFileError> {
    #[derive(Deserialize)]
    struct Version {
        version: u32,
        #[serde(flatten)]
        _rest: BTreeMap<String, toml::Value>,
    }
    let version: Version = toml::from_str(text).map_err(Box::new)?;
    if version.version > VERSION {
        return Err(PlanFileError::Newer(version.version));
    }
    let file: PlanV1 = toml::from_str(text).map_err(Box::new)?;
    let source = match (file.book.source.as_str(), file.book.path) {
        ("builtin", None) => BookSource::Builtin,
        ("file", Some(path)) => BookSource::File(path),
        (other, _) => {
            return Err(PlanFileError::Value { key: "book.source", why: format!("`{other}` does not fit `path`") });
        }
    };
    let format = format(file.format.as_deref(), file.heroes, file.rounds, file.race)?;
    Ok(Plan {
        name: file.name,
        format,
        colors: Colors { swap: !file.no_swap, reverse: file.reverse },
        half_last: file.half_last,
        opening_per_game: file.opening_per_game,
        count_repeats: file.count_repeats,
        players: file.players.into_iter().map(player_from_disk).collect::<Result<_, _>>()?,
        book: BookRef {
            source,
            sha256: file.book.sha256,
            openings: file.book.openings,
            order: order(&file.book.order, file.seed)?,
            start: file.book.start,
            plies: file.book.plies,
        },
        seed: file.seed,
        rules: Rules {
            variant: if file.rules.chess960 { Variant::Chess960 } else { Variant::Standard },
            margin: seconds("rules.margin_ms", file.rules.margin_ms / 1e3)?,
            stall_timeout: seconds("rules.stall_timeout_s", file.rules.stall_timeout_s)?,
            draw: file.rules.draw.as_deref().map(|text| parse::<DrawRule>("rules.draw", text)).transpose()?,
            resign: file.rules.resign.as_deref().map(|text| parse::<ResignRule>("rules.resign", text)).transpose()?,
            max_plies: file.rules.max_plies,
            ponder: file.rules.ponder,
            syzygy: syzygy_from_disk(&file.rules)?,
        },
        test: file.test.map(test_from_disk).transpose()?,
        max_pairs: file.max_pairs,
        max_time: file.max_time_s.map(|time| seconds("max_time_s", time)).transpose()?,
        until_width: file.until_width.map(positive_elo).transpose()?,
        concurrency: file.concurrency,
        affinity: match (file.affinity, &file.affinity_cpus) {
            (false, _) => Affinity::Off,
            (true, None) => Affinity::Auto,
            (true, Some(cpus)) => parse("affinity_cpus", cpus)?,
        },
        restart: file.restart,
        pause: file.pause_s.map(|time| seconds("pause_s", time)).transpose()?.unwrap_or_default(),
        void_disturbed: file.void_disturbed,
        max_time_losses: file.max_time_losses.map_or(Ok(100.0), percent)?,
        max_failures: file.max_failures,
        timeouts: Timeouts {
            start: seconds("timeouts.start_s", file.timeouts.start_s)?,
            ready: seconds("timeouts.ready_s", file.timeouts.ready_s)?,
            new_game: seconds("timeouts.new_game_s", file.timeouts.new_game_s)?,
            stop: seconds("timeouts.stop_s", file.timeouts.stop_s)?,
            quit: seconds("timeouts.quit_s", file.timeouts.quit_s)?,
        },
        recording: recording_from_disk(file.recording)?,
        machine: Machine { cpu: file.machine.cpu, cores: file.machine.cores, os: file.machine.os },
    })
}

fn percent(percent: f64) -> Result<f64, PlanFileError> {
    if (0.0..=100.0).contains(&percent) {
        return Ok(percent);
    }
    Err(PlanFileError::Value { key: "max_time_losses", why: format!("{percent} is no number of percent") })
}

fn positive_elo(value: f64) -> Result<f64, PlanFileError> {
    if value.is_finite() && value > 0.0 {
        return Ok(value);
    }
    Err(PlanFileError::Value { key: "until_width", why: format!("{value} is no width in Elo") })
}

fn syzygy_from_disk(rules: &RulesV1) -> Result<Option<SyzygyRule>, PlanFileError> {
    let Some(paths) = &rules.syzygy else { return Ok(None) };
    let fault = |key| move |error: RuleError| PlanFileError::Value { key, why: error.to_string() };
    let mut rule = SyzygyRule::new(paths).map_err(fault("rules.syzygy"))?;
    if let Some(pieces) = rules.syzygy_pieces {
        rule = rule.with_pieces(pieces).map_err(fault("rules.syzygy_pieces"))?;
    }
    rule.ignore_fifty = rules.syzygy_ignore_50.unwrap_or(false);
    if let Some(scope) = &rules.syzygy_adjudicate {
        rule.scope = parse("rules.syzygy_adjudicate", scope)?;
    }
    Ok(Some(rule))
}

fn test_from_disk(test: TestV1) -> Result<Test, PlanFileError> {
    Ok(Test {
        bounds: Bounds { elo0: test.elo0, elo1: test.elo1 },
        model: parse::<Model>("test.model", &test.model)?,
        alpha: test.alpha,
        beta: test.beta,
    })
}

fn format(
    name: Option<&str>,
    heroes: Option<u16>,
    rounds: Option<u32>,
    race: Option<RaceV1>,
) -> Result<Format, PlanFileError> {
    if let (Some("race"), None, None, Some(RaceV1 { alpha, gain, close, step })) = (name, heroes, rounds, &race) {
        return Ok(Format::Race(RaceRule { alpha: *alpha, gain: *gain, close: *close, step: *step }));
    }
    match (name, heroes, rounds) {
        (None | Some("round-robin"), None, None) => Ok(Format::RoundRobin),
        (Some("gauntlet"), Some(heroes), None) => Ok(Format::Gauntlet { heroes }),
        (Some("swiss"), None, Some(rounds)) => Ok(Format::Swiss { rounds }),
        (Some("knockout"), None, None) => Ok(Format::Knockout),
        (name, ..) => {
            let name = name.unwrap_or("round-robin");
            let why = format!("`{name}` does not fit `heroes`, `rounds` and `race`");
            Err(PlanFileError::Value { key: "format", why })
        }
    }
}

fn player_from_disk(player: PlayerV1) -> Result<Player, PlanFileError> {
    Ok(Player {
        name: player.name,
        program: player.program,
        args: player.args,
        dir: player.dir,
        options: player.options,
        limit: Limit {
            clock: player.tc.as_deref().map(|text| parse::<TimeControl>("players.tc", text)).transpose()?,
            movetime: player.movetime_s.map(|time| seconds("players.movetime_s", time)).transpose()?,
            nodes: player.nodes,
            depth: player.depth,
        },
        margin: player.margin_ms.map(|margin| seconds("players.margin_ms", margin / 1e3)).transpose()?,
        restart: player.restart,
        complaints: player.complaints,
        origin: Origin {
            spec: player.spec,
            commit: player.commit,
            tree: player.tree,
            dirty: player.dirty,
            recipe: player.recipe,
            toolchain: player.toolchain,
            sha256: player.sha256,
            bench_nodes: player.bench_nodes,
        },
    })
}

fn parse<T: FromStr<Err: std::fmt::Display>>(key: &'static str, text: &str) -> Result<T, PlanFileError> {
    text.parse().map_err(|error: T::Err| PlanFileError::Value { key, why: error.to_string() })
}

fn order(text: &str, seed: u64) -> Result<Order, PlanFileError> {
    match text {
        "sequential" => Ok(Order::Sequential),
        "random" => Ok(Order::Random { seed }),
        other => {
            Err(PlanFileError::Value { key: "book.order", why: format!("`{other}` is neither sequential nor random") })
        }
    }
}

fn seconds(key: &'static str, value: f64) -> Result<Duration, PlanFileError> {
    Duration::try_from_secs_f64(value).map_err(|error| PlanFileError::Value { key, why: error.to_string() })
}
