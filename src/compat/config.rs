//! `config.json`: engines, settings and counts under fastchess's keys, and the directory of the
//! run's journal.
//!
//! The counts are for readers of the file only. A resumed run counts from the journal, so no game
//! is lost or counted twice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::grammar::SavedConfig;
use super::invocation::{
    BookFormat, CompatNotation, Dialect, DrawArgs, EngineArgs, EpdArgs, LogArgs, LogLevel, OpeningArgs, OutputFormat,
    PgnArgs, ResignArgs, RunnerSettings, SprtValues, TbArgs, TbResult, Tournament,
};
use crate::compat::console::Tally;
use crate::plan::time_control::{Limit, TimeControl};
use crate::record::millis;
use crate::stats::sprt::Model;

/// Interval that fastchess writes for "never".
const NEVER: u64 = i32::MAX as u64;

/// Contents of `config.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ConfigFile {
    resign: ResignFile,
    draw: DrawFile,
    maxmoves: MaxMovesFile,
    tb_adjudication: TbFile,
    opening: OpeningFile,
    pgn: PgnOutputFile,
    epd: EpdFile,
    sprt: SprtFile,
    config_name: String,
    output: u8,
    seed: u64,
    variant: u8,
    r#type: u8,
    gauntlet_seeds: u32,
    ratinginterval: u64,
    scoreinterval: u64,
    wait: u64,
    autosaveinterval: u64,
    games: u64,
    rounds: u64,
    concurrency: i64,
    force_concurrency: bool,
    recover: bool,
    noswap: bool,
    reverse: bool,
    report_penta: bool,
    affinity: bool,
    check_mate_pvs: bool,
    show_latency: bool,
    log: LogFile,
    engines: Vec<EngineFile>,
    stats: BTreeMap<String, StatsFile>,
    /// Settings that fastchess does not save.
    pub(super) quintain: Option<OwnFile>,
}

/// Keys that only Quintain writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct OwnFile {
    /// Directory of the run, relative to this file.
    pub(super) run: String,
    dialect: String,
    repeat: Option<u64>,
    crc32: bool,
    strict: bool,
    test_env: bool,
    tb_result: u8,
    startup_ms: u64,
    ucinewgame_ms: u64,
    ping_ms: u64,
    affinity_cpus: Vec<usize>,
    ponder: Vec<bool>,
    white_pov: Vec<bool>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct ResignFile {
    move_count: u32,
    score: u32,
    twosided: bool,
    enabled: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct DrawFile {
    move_number: u32,
    move_count: u32,
    score: u32,
    enabled: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct MaxMovesFile {
    move_count: u32,
    enabled: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct TbFile {
    syzygy_dirs: String,
    max_pieces: u32,
    ignore_50_move_rule: bool,
    enabled: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct OpeningFile {
    file: String,
    format: u8,
    order: u8,
    plies: i64,
    start: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct PgnOutputFile {
    additional_lines_rgx: Vec<String>,
    event_name: String,
    site: String,
    file: String,
    notation: u8,
    append_file: bool,
    track_nodes: bool,
    track_seldepth: bool,
    track_nps: bool,
    track_hashfull: bool,
    track_tbhits: bool,
    track_timeleft: bool,
    track_latency: bool,
    track_pv: bool,
    min: bool,
    crc: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct EpdFile {
    file: String,
    append_file: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct SprtFile {
    alpha: f64,
    beta: f64,
    elo0: f64,
    elo1: f64,
    model: String,
    enabled: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct LogFile {
    file: String,
    level: u8,
    append_file: bool,
    compress: bool,
    realtime: bool,
    engine_coms: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct EngineFile {
    name: String,
    dir: String,
    cmd: String,
    args: String,
    restart: bool,
    options: Vec<(String, String)>,
    limit: LimitFile,
    variant: u8,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct LimitFile {
    tc: TcFile,
    nodes: u64,
    plies: u32,
}

/// Time control, in milliseconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
struct TcFile {
    increment: f64,
    fixed_time: f64,
    time: f64,
    moves: u32,
    timemargin: f64,
}

/// Counts of one encounter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(non_snake_case, reason = "the file's own names")]
struct StatsFile {
    wins: u64,
    losses: u64,
    draws: u64,
    penta_WW: u64,
    penta_WD: u64,
    penta_WL: u64,
    penta_DD: u64,
    penta_LD: u64,
    penta_LL: u64,
}

impl From<&Tally> for StatsFile {
    fn from(tally: &Tally) -> Self {
        let [ll, ld, even, wd, ww] = tally.ptnml.0;
        Self {
            wins: tally.wdl.wins,
            losses: tally.wdl.losses,
            draws: tally.wdl.draws,
            penta_WW: ww,
            penta_WD: wd,
            penta_WL: tally.mixed,
            penta_DD: even.saturating_sub(tally.mixed),
            penta_LD: ld,
            penta_LL: ll,
        }
    }
}

impl ConfigFile {
    /// Contents for a tournament as it was requested, without counts.
    pub(super) fn new(
        engines: &[EngineArgs],
        settings: &RunnerSettings,
        dialect: Dialect,
        seed: u64,
        run: &str,
    ) -> Self {
        let epd = settings.epd.clone().unwrap_or(EpdArgs { file: String::new(), append: true });
        let variant = u8::from(settings.chess960);
        Self {
            resign: settings.resign.map_or(ResignFile { move_count: 1, ..ResignFile::default() }, ResignFile::from),
            draw: settings.draw.map_or(DrawFile { move_count: 1, ..DrawFile::default() }, DrawFile::from),
            maxmoves: MaxMovesFile {
                move_count: settings.max_moves.unwrap_or(1),
                enabled: settings.max_moves.is_some(),
            },
            tb_adjudication: TbFile {
                syzygy_dirs: settings.tb.paths.clone().unwrap_or_default(),
                max_pieces: settings.tb.pieces,
                ignore_50_move_rule: settings.tb.ignore_50,
                enabled: settings.tb.paths.is_some(),
            },
            opening: OpeningFile::from(&settings.openings),
            pgn: pgn_file(settings),
            epd: EpdFile { file: epd.file, append_file: epd.append },
            sprt: settings.sprt.map_or_else(
                || SprtFile { model: Model::Normalized.name().to_owned(), ..SprtFile::default() },
                SprtFile::from,
            ),
            config_name: settings.config_name.clone(),
            output: u8::from(settings.output == OutputFormat::Cutechess),
            seed,
            variant,
            r#type: match settings.tournament {
                Tournament::RoundRobin => 0,
                Tournament::Gauntlet => 1,
                Tournament::Knockout => 2,
                Tournament::Pyramid => 3,
            },
            gauntlet_seeds: settings.seeds,
            ratinginterval: settings.rating_interval.unwrap_or(NEVER),
            scoreinterval: settings.score_interval.unwrap_or(NEVER),
            wait: millis(settings.wait),
            autosaveinterval: settings.autosave.unwrap_or(0),
            games: settings.games,
            rounds: settings.rounds,
            concurrency: settings.concurrency,
            force_concurrency: settings.force_concurrency,
            recover: settings.recover,
            noswap: settings.no_swap,
            reverse: settings.reverse,
            report_penta: settings.penta,
            affinity: settings.affinity,
            check_mate_pvs: settings.check_mate_pvs,
            show_latency: settings.show_latency,
            log: LogFile {
                file: settings.log.file.clone(),
                level: settings.log.level as u8 + 1,
                append_file: settings.log.append,
                compress: settings.log.compress,
                realtime: settings.log.realtime,
                engine_coms: settings.log.engine,
            },
            engines: engines.iter().map(|engine| EngineFile::new(engine, variant)).collect(),
            stats: BTreeMap::new(),
            quintain: Some(OwnFile {
                run: run.to_owned(),
                dialect: match dialect {
                    Dialect::Fastchess => "fastchess",
                    Dialect::Cutechess => "cutechess",
                }
                .to_owned(),
                repeat: settings.repeat,
                crc32: settings.crc32,
                strict: settings.strict,
                test_env: settings.test_env,
                tb_result: settings.tb.result as u8,
                startup_ms: millis(settings.startup),
                ucinewgame_ms: millis(settings.ucinewgame),
                ping_ms: millis(settings.ping),
                affinity_cpus: settings.affinity_cpus.clone(),
                ponder: engines.iter().map(|engine| engine.ponder).collect(),
                white_pov: engines.iter().map(|engine| engine.white_pov).collect(),
            }),
        }
    }

    /// Sets the counts of one encounter.
    pub(super) fn set_stats(&mut self, first: &str, second: &str, tally: &Tally) {
        self.stats.insert(format!("{first} vs {second}"), StatsFile::from(tally));
    }

    /// True if any encounter in the file has games.
    pub(super) fn has_games(&self) -> bool {
        self.stats.values().any(|stats| stats.wins + stats.losses + stats.draws > 0)
    }

    /// Parses the text of a configuration file.
    ///
    /// # Errors
    /// Message with the line and column of the first error.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// JSON text of the file, indented as fastchess indents it.
    pub(super) fn to_json(&self) -> String {
        let mut bytes = Vec::new();
        let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
        let mut writer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
        // Serialization cannot fail: the file holds only strings, numbers and lists.
        let _ = self.serialize(&mut writer);
        bytes.push(b'\n');
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Engines and settings of the tournament in the file.
    ///
    /// # Errors
    /// Message if the SPRT model is unknown.
    pub(super) fn saved(&self) -> Result<SavedConfig, String> {
        let own = self.quintain.clone().unwrap_or_default();
        let dialect = if own.dialect == "cutechess" { Dialect::Cutechess } else { Dialect::Fastchess };
        let mut settings = RunnerSettings::new(dialect);
        settings.resign = self.resign.enabled.then_some(ResignArgs {
            count: self.resign.move_count,
            score: self.resign.score,
            two_sided: self.resign.twosided,
        });
        settings.draw = self.draw.enabled.then_some(DrawArgs {
            number: self.draw.move_number,
            count: self.draw.move_count,
            score: self.draw.score,
        });
        settings.max_moves = self.maxmoves.enabled.then_some(self.maxmoves.move_count);
        settings.tb = TbArgs {
            paths: self.tb_adjudication.enabled.then(|| self.tb_adjudication.syzygy_dirs.clone()),
            pieces: self.tb_adjudication.max_pieces,
            ignore_50: self.tb_adjudication.ignore_50_move_rule,
            result: match own.tb_result {
                1 => TbResult::WinLoss,
                2 => TbResult::Draw,
                _ => TbResult::Both,
            },
        };
        settings.openings = self.opening.args();
        (settings.pgn, settings.event, settings.site) = self.pgn.args();
        settings.crc32 = own.crc32 || self.pgn.crc;
        settings.epd =
            (!self.epd.file.is_empty()).then(|| EpdArgs { file: self.epd.file.clone(), append: self.epd.append_file });
        settings.sprt = self.sprt.args()?;
        self.config_name.clone_into(&mut settings.config_name);
        settings.output = if self.output == 1 { OutputFormat::Cutechess } else { OutputFormat::Fastchess };
        settings.seed = Some(self.seed);
        settings.chess960 = self.variant == 1;
        settings.tournament = match self.r#type {
            1 => Tournament::Gauntlet,
            2 => Tournament::Knockout,
            3 => Tournament::Pyramid,
            _ => Tournament::RoundRobin,
        };
        let interval = |games: u64| Some(games).filter(|games| (1..NEVER).contains(games));
        settings.seeds = self.gauntlet_seeds;
        settings.rating_interval = interval(self.ratinginterval);
        settings.score_interval = interval(self.scoreinterval);
        settings.wait = Duration::from_millis(self.wait);
        settings.autosave = interval(self.autosaveinterval);
        (settings.games, settings.rounds, settings.repeat) = (self.games, self.rounds, own.repeat);
        (settings.concurrency, settings.force_concurrency) = (self.concurrency, self.force_concurrency);
        (settings.recover, settings.no_swap, settings.reverse) = (self.recover, self.noswap, self.reverse);
        (settings.penta, settings.affinity) = (self.report_penta, self.affinity);
        (settings.check_mate_pvs, settings.show_latency) = (self.check_mate_pvs, self.show_latency);
        settings.log = self.log.args();
        if self.quintain.is_some() {
            (settings.strict, settings.test_env) = (own.strict, own.test_env);
            [settings.startup, settings.ucinewgame, settings.ping] =
                [own.startup_ms, own.ucinewgame_ms, own.ping_ms].map(Duration::from_millis);
            settings.pings = settings.ping != RunnerSettings::new(Dialect::Fastchess).ping;
            settings.affinity_cpus = own.affinity_cpus;
        }
        let engines = self
            .engines
            .iter()
            .enumerate()
            .map(|(place, engine)| EngineArgs {
                ponder: own.ponder.get(place).copied().unwrap_or(false),
                white_pov: own.white_pov.get(place).copied().unwrap_or(false),
                ..engine.args()
            })
            .collect();
        Ok(SavedConfig { engines, settings })
    }
}

/// Milliseconds to the microsecond; a whole number stays whole.
fn exact_millis(time: Duration) -> f64 {
    time.as_micros() as f64 / 1e3
}

fn from_millis(millis: f64) -> Duration {
    let micros = (millis.clamp(0.0, 1e13) * 1e3).round();
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1e16")]
    Duration::from_micros(micros as u64)
}

impl From<ResignArgs> for ResignFile {
    fn from(args: ResignArgs) -> Self {
        Self { move_count: args.count, score: args.score, twosided: args.two_sided, enabled: true }
    }
}

impl From<DrawArgs> for DrawFile {
    fn from(args: DrawArgs) -> Self {
        Self { move_number: args.number, move_count: args.count, score: args.score, enabled: true }
    }
}

impl From<SprtValues> for SprtFile {
    fn from(args: SprtValues) -> Self {
        let SprtValues { elo0, elo1, alpha, beta, model } = args;
        Self { alpha, beta, elo0, elo1, model: model.name().to_owned(), enabled: true }
    }
}

impl SprtFile {
    fn args(&self) -> Result<Option<SprtValues>, String> {
        if !self.enabled {
            return Ok(None);
        }
        let model = match self.model.as_str() {
            "normalized" => Model::Normalized,
            "logistic" => Model::Logistic,
            "bayesian" => Model::Bayesian,
            other => return Err(format!("there is no model \"{other}\"")),
        };
        let Self { elo0, elo1, alpha, beta, .. } = *self;
        Ok(Some(SprtValues { elo0, elo1, alpha, beta, model }))
    }
}

impl From<&OpeningArgs> for OpeningFile {
    fn from(args: &OpeningArgs) -> Self {
        Self {
            file: args.file.clone().unwrap_or_default(),
            format: match args.format {
                Some(BookFormat::Epd) => 0,
                Some(BookFormat::Pgn) => 1,
                None => 2,
            },
            order: u8::from(!args.random),
            plies: args.plies.map_or(-1, i64::from),
            start: args.start.max(1),
        }
    }
}

impl OpeningFile {
    fn args(&self) -> OpeningArgs {
        OpeningArgs {
            file: Some(self.file.clone()).filter(|file| !file.is_empty()),
            format: match self.format {
                0 => Some(BookFormat::Epd),
                1 => Some(BookFormat::Pgn),
                _ => None,
            },
            random: self.order == 0,
            plies: u32::try_from(self.plies).ok(),
            start: self.start,
        }
    }
}

fn pgn_file(settings: &RunnerSettings) -> PgnOutputFile {
    let args = settings.pgn.clone().unwrap_or_default();
    PgnOutputFile {
        additional_lines_rgx: args.match_lines,
        event_name: settings.event.clone(),
        site: settings.site.clone(),
        file: args.file,
        notation: args.notation as u8,
        append_file: args.append,
        track_nodes: args.nodes,
        track_seldepth: args.seldepth,
        track_nps: args.nps,
        track_hashfull: args.hashfull,
        track_tbhits: args.tbhits,
        track_timeleft: args.timeleft,
        track_latency: args.latency,
        track_pv: args.pv,
        min: args.min,
        crc: settings.crc32,
    }
}

impl PgnOutputFile {
    /// PGN options (`None` without a file), event and site.
    fn args(&self) -> (Option<PgnArgs>, String, String) {
        let args = PgnArgs {
            file: self.file.clone(),
            append: self.append_file,
            notation: match self.notation {
                1 => CompatNotation::Lan,
                2 => CompatNotation::Uci,
                _ => CompatNotation::San,
            },
            min: self.min,
            nodes: self.track_nodes,
            seldepth: self.track_seldepth,
            nps: self.track_nps,
            hashfull: self.track_hashfull,
            tbhits: self.track_tbhits,
            pv: self.track_pv,
            timeleft: self.track_timeleft,
            latency: self.track_latency,
            match_lines: self.additional_lines_rgx.clone(),
        };
        (Some(args).filter(|args| !args.file.is_empty()), self.event_name.clone(), self.site.clone())
    }
}

impl LogFile {
    fn args(&self) -> LogArgs {
        LogArgs {
            file: self.file.clone(),
            level: match self.level {
                0 | 1 => LogLevel::Trace,
                2 => LogLevel::Info,
                3 => LogLevel::Warn,
                4 => LogLevel::Err,
                _ => LogLevel::Fatal,
            },
            append: self.append_file,
            compress: self.compress,
            realtime: self.realtime,
            engine: self.engine_coms,
        }
    }
}

impl EngineFile {
    fn new(args: &EngineArgs, variant: u8) -> Self {
        let clock = args.limit.clock;
        Self {
            name: args.name.clone(),
            dir: args.dir.clone(),
            cmd: args.cmd.clone(),
            args: args.args.clone(),
            restart: args.restart,
            options: args.options.clone(),
            limit: LimitFile {
                tc: TcFile {
                    increment: clock.map_or(0.0, |clock| exact_millis(clock.increment)),
                    fixed_time: args.limit.movetime.map_or(0.0, exact_millis),
                    time: clock.map_or(0.0, |clock| exact_millis(clock.base)),
                    moves: clock.and_then(|clock| clock.moves).unwrap_or(0),
                    timemargin: exact_millis(args.margin),
                },
                nodes: args.limit.nodes.unwrap_or(0),
                plies: args.limit.depth.unwrap_or(0),
            },
            variant,
        }
    }

    fn args(&self) -> EngineArgs {
        let tc = &self.limit.tc;
        let moves = Some(tc.moves).filter(|moves| *moves > 0);
        let clock = TimeControl::new(moves, from_millis(tc.time), from_millis(tc.increment));
        let is_clock = !clock.base.is_zero() || !clock.increment.is_zero();
        EngineArgs {
            cmd: self.cmd.clone(),
            name: self.name.clone(),
            args: self.args.clone(),
            dir: self.dir.clone(),
            limit: Limit {
                clock: is_clock.then_some(clock),
                movetime: Some(from_millis(tc.fixed_time)).filter(|time| !time.is_zero()),
                nodes: Some(self.limit.nodes).filter(|nodes| *nodes > 0),
                depth: Some(self.limit.plies).filter(|plies| *plies > 0),
            },
            margin: from_millis(tc.timemargin),
            restart: self.restart,
            ponder: false,
            white_pov: false,
            options: self.options.clone(),
        }
    }
}
