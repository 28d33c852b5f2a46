//! fastchess's options, one match arm each. Options shared with cutechess-cli are in `common`,
//! checks across options in `check`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::check::check;
use super::common;
use super::engine;
use super::invocation::{
    BookFormat, CompatNotation, Dialect, DrawArgs, EngineArgs, EpdArgs, Invocation, LogArgs, LogLevel, OutputFormat,
    PgnArgs, RunnerAction, RunnerSettings, SprtValues, TbResult, Tournament,
};
use super::words::{OptionGroup, UsageError, boolean, cpu_list, decimal, groups, interval, number, unknown_key};
use crate::stats::sprt::Model;

/// All options, in the order of the help.
pub(super) const OPTIONS: [&str; 54] = [
    "-engine",
    "-each",
    "-quick",
    "-concurrency",
    "-force-concurrency",
    "-rounds",
    "-games",
    "-repeat",
    "-sprt",
    "-tournament",
    "-seeds",
    "-variant",
    "-noswap",
    "-reverse",
    "-wait",
    "-openings",
    "-srand",
    "-draw",
    "-resign",
    "-maxmoves",
    "-tb",
    "-tbpieces",
    "-tbignore50",
    "-tbadjudicate",
    "-pgnout",
    "-epdout",
    "-crc32",
    "-event",
    "-site",
    "-output",
    "-ratinginterval",
    "-scoreinterval",
    "-report",
    "-config",
    "-autosaveinterval",
    "-recover",
    "-use-affinity",
    "-startup-ms",
    "-ucinewgame-ms",
    "-ping-ms",
    "-log",
    "-check-mate-pvs",
    "-show-latency",
    "-testEnv",
    "-strict",
    "-debug",
    "-version",
    "--version",
    "-v",
    "--v",
    "-help",
    "--help",
    "--compliance",
    "-compliance",
];

/// Engines and settings from an earlier run's configuration file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SavedConfig {
    pub engines: Vec<EngineArgs>,
    pub settings: RunnerSettings,
}

/// Loader of configuration files for `-config file=`.
pub(super) type Load<'a> = &'a dyn Fn(&Path) -> Result<SavedConfig, String>;

/// State of the parser.
struct Reader<'a> {
    engines: Vec<EngineArgs>,
    settings: RunnerSettings,
    resume: Option<PathBuf>,
    load: Load<'a>,
}

/// Parses a command line without the program's name. An empty one requests the help.
///
/// # Errors
/// [`UsageError`] for the first option that cannot be read, or for options that contradict each
/// other.
pub(super) fn parse(words: &[String], load: Load) -> Result<RunnerAction, UsageError> {
    match words {
        [] => return Ok(RunnerAction::Help),
        [first, rest @ ..] if first == "--compliance" && !rest.is_empty() => {
            return Ok(RunnerAction::Compliance(rest.to_vec()));
        }
        _ => {}
    }
    let groups = groups(words, &OPTIONS)?;
    let settings = RunnerSettings::new(Dialect::Fastchess);
    let mut reader = Reader { engines: Vec::new(), settings, resume: None, load };
    for group in &groups {
        match group.option {
            "-version" | "--version" | "-v" | "--v" => {
                return group.none().map(|()| RunnerAction::Version).map_err(|why| group.error(why));
            }
            "-help" | "--help" => return group.none().map(|()| RunnerAction::Help).map_err(|why| group.error(why)),
            "-each" => {}
            _ => reader.option(group).map_err(|why| group.error(why))?,
        }
    }
    // `-each` applies to every engine, even to one further right.
    for group in groups.iter().filter(|group| group.option == "-each") {
        reader.each(group).map_err(|why| group.error(why))?;
    }
    let Reader { engines, settings, resume, .. } = reader;
    check(Invocation { dialect: Dialect::Fastchess, engines, settings, resume, notes: Vec::new() })
        .map(|invocation| RunnerAction::Play(Box::new(invocation)))
}

impl Reader<'_> {
    fn option(&mut self, group: &OptionGroup) -> Result<(), String> {
        if common::option(&mut self.settings, group)? {
            return Ok(());
        }
        match group.option {
            "-engine" => self.engine(group),
            "-quick" => self.quick(group),
            "-config" => self.config(group),
            "-debug" => {
                Err("there is no -debug; -log file=NAME engine=true writes the UCI traffic of games that an engine loses by its own fault".into())
            }
            "-compliance" | "--compliance" => {
                Err("no other option may be given: --compliance ENGINE [ARGUMENT...]".to_owned())
            }
            "-openings" | "-sprt" | "-pgnout" | "-epdout" | "-crc32" | "-output" | "-report" | "-log" => {
                keys(&mut self.settings, group)
            }
            "-force-concurrency" | "-check-mate-pvs" | "-show-latency" | "-testEnv" | "-strict" => {
                group.none()?;
                flag(&mut self.settings, group.option);
                Ok(())
            }
            "-repeat" => {
                self.settings.games = match group.words.as_slice() {
                    [word] => number(word).unwrap_or(2),
                    _ => 2,
                };
                Ok(())
            }
            "-use-affinity" => {
                self.settings.affinity = true;
                self.settings.affinity_cpus =
                    group.words.first().map(|list| cpu_list(list)).transpose()?.unwrap_or_default();
                Ok(())
            }
            _ => single(&mut self.settings, group.option, group.one()?),
        }
    }

    fn engine(&mut self, group: &OptionGroup) -> Result<(), String> {
        let mut one = EngineArgs::default();
        for (key, value) in group.pairs()? {
            engine::set(&mut one, key, value, Dialect::Fastchess)?;
        }
        self.engines.push(one);
        Ok(())
    }

    fn each(&mut self, group: &OptionGroup) -> Result<(), String> {
        for (key, value) in group.pairs()? {
            for one in &mut self.engines {
                engine::set(one, key, value, Dialect::Fastchess)?;
            }
        }
        Ok(())
    }

    /// Applies `-quick`: two engines and a book, with fixed settings for the rest.
    fn quick(&mut self, group: &OptionGroup) -> Result<(), String> {
        let mut book = None;
        let mut engines = Vec::new();
        for (key, value) in group.pairs()? {
            match key {
                "cmd" => {
                    let mut one = EngineArgs { cmd: value.to_owned(), name: value.to_owned(), ..EngineArgs::default() };
                    one.limit.clock = engine::time_control("10+0.1")?;
                    engines.push(one);
                }
                "book" => book = Some(value.to_owned()),
                _ => return Err(unknown_key(key, value, &["cmd", "book"])),
            }
        }
        let [first, second] = engines.as_mut_slice() else { return Err("it takes exactly two cmd=".to_owned()) };
        if first.name == second.name {
            first.name += "1";
            second.name += "2";
        }
        let file = book.ok_or("it takes a book=FILE")?;
        let format = book_format(&file).ok_or("the book's name ends in .epd or .pgn")?;
        self.engines.append(&mut engines);
        let settings = &mut self.settings;
        settings.openings.file = Some(file);
        settings.openings.format = Some(format);
        settings.openings.random = true;
        (settings.games, settings.rounds) = (2, 25_000);
        settings.concurrency = -2;
        settings.recover = true;
        settings.draw = Some(DrawArgs { number: 30, count: 8, score: 8 });
        settings.output = OutputFormat::Cutechess;
        Ok(())
    }

    /// Loads an earlier run's settings. Options further right on the command line override them.
    fn config(&mut self, group: &OptionGroup) -> Result<(), String> {
        let before = (self.engines.clone(), self.settings.clone());
        for (key, value) in group.pairs()? {
            match key {
                "file" => {
                    let SavedConfig { engines, settings } = (self.load)(Path::new(value))?;
                    (self.engines, self.settings) = (engines, settings);
                    self.resume = Some(PathBuf::from(value));
                }
                "outname" => value.clone_into(&mut self.settings.config_name),
                "discard" => {
                    if boolean(value)? {
                        let name = std::mem::take(&mut self.settings.config_name);
                        (self.engines, self.settings) = before.clone();
                        // Keeps a name from `outname=` of this same option, but not the file's own
                        // name.
                        if group.words.iter().any(|word| word.strip_prefix("outname=") == Some(&name)) {
                            self.settings.config_name = name;
                        }
                        self.resume = None;
                    }
                }
                "stats" => {
                    if !boolean(value)? {
                        self.resume = None;
                    }
                }
                _ => return Err(unknown_key(key, value, &["file", "outname", "discard", "stats"])),
            }
        }
        Ok(())
    }
}

/// Format of a book by its file name, compressed or not.
pub(super) fn book_format(file: &str) -> Option<BookFormat> {
    let name = file.trim_end_matches(".gz").trim_end_matches(".zst");
    match name.rsplit_once('.')?.1 {
        "epd" => Some(BookFormat::Epd),
        "pgn" => Some(BookFormat::Pgn),
        _ => None,
    }
}

fn flag(settings: &mut RunnerSettings, option: &str) {
    let flag = match option {
        "-force-concurrency" => &mut settings.force_concurrency,
        "-check-mate-pvs" => &mut settings.check_mate_pvs,
        "-show-latency" => &mut settings.show_latency,
        "-testEnv" => &mut settings.test_env,
        _ => &mut settings.strict,
    };
    *flag = true;
}

/// Applies an option with exactly one value.
fn single(settings: &mut RunnerSettings, option: &str, value: &str) -> Result<(), String> {
    let millis = |value: &str| number(value).map(Duration::from_millis);
    match option {
        "-concurrency" => settings.concurrency = number(value)?,
        "-maxmoves" => settings.max_moves = Some(number(value)?),
        "-tbadjudicate" => {
            settings.tb.result = match value {
                "BOTH" => TbResult::Both,
                "WIN_LOSS" => TbResult::WinLoss,
                "DRAW" => TbResult::Draw,
                _ => return Err(format!("\"{value}\" is none of BOTH, WIN_LOSS, DRAW")),
            }
        }
        "-autosaveinterval" => settings.autosave = interval(value)?,
        "-srand" => settings.seed = Some(number(value)?),
        "-tournament" => {
            settings.tournament = match value {
                "roundrobin" => Tournament::RoundRobin,
                "gauntlet" => Tournament::Gauntlet,
                _ => return Err(format!("\"{value}\" is neither roundrobin nor gauntlet")),
            }
        }
        "-startup-ms" => settings.startup = millis(value)?,
        "-ucinewgame-ms" => settings.ucinewgame = millis(value)?,
        "-ping-ms" => (settings.ping, settings.pings) = (millis(value)?, true),
        _ => return Err("it is not known".to_owned()),
    }
    Ok(())
}

/// Applies an option with keys and values.
fn keys(settings: &mut RunnerSettings, group: &OptionGroup) -> Result<(), String> {
    match group.option {
        "-openings" => group.pairs()?.into_iter().try_for_each(|(key, value)| opening(settings, key, value)),
        "-sprt" => {
            // fastchess reads zero rounds with `-sprt` as 500000.
            if settings.rounds == 0 {
                settings.rounds = 500_000;
            }
            let sprt = sprt(&group.pairs()?)?;
            settings.sprt = Some(sprt);
            Ok(())
        }
        "-pgnout" if group.is_bare() => common::pgn(group).map(|pgn| settings.pgn = Some(pgn)),
        "-pgnout" => {
            let mut pgn = PgnArgs::default();
            for (key, value) in group.any_pairs()? {
                pgn_key(&mut pgn, key, value)?;
            }
            settings.pgn = Some(pgn);
            Ok(())
        }
        "-epdout" if group.is_bare() => {
            settings.epd = Some(EpdArgs { file: group.one()?.to_owned(), append: true });
            Ok(())
        }
        "-epdout" => {
            let mut epd = EpdArgs { file: String::new(), append: true };
            for (key, value) in group.any_pairs()? {
                match key {
                    "file" => value.clone_into(&mut epd.file),
                    "append" => epd.append = boolean(value)?,
                    _ => return Err(unknown_key(key, value, &["file", "append"])),
                }
            }
            settings.epd = Some(epd);
            Ok(())
        }
        "-crc32" => only_key(group, "pgn").map(|on| settings.crc32 = on),
        "-report" => only_key(group, "penta").map(|on| settings.penta = on),
        "-output" => {
            for (key, value) in group.pairs()? {
                settings.output = match (key, value) {
                    ("format", "fastchess") => OutputFormat::Fastchess,
                    ("format", "cutechess") => OutputFormat::Cutechess,
                    ("format", _) => return Err(format!("\"{value}\" is neither fastchess nor cutechess")),
                    _ => return Err(unknown_key(key, value, &["format"])),
                };
            }
            Ok(())
        }
        _ => log(&group.pairs()?).map(|log| settings.log = log),
    }
}

/// Boolean value of an option with the single key `name`.
fn only_key(group: &OptionGroup, name: &str) -> Result<bool, String> {
    let mut on = false;
    for (key, value) in group.pairs()? {
        if key != name {
            return Err(unknown_key(key, value, &[name]));
        }
        on = boolean(value)?;
    }
    Ok(on)
}

fn opening(settings: &mut RunnerSettings, key: &str, value: &str) -> Result<(), String> {
    let openings = &mut settings.openings;
    match key {
        "file" => {
            openings.file = Some(value.to_owned());
            openings.format = book_format(value).or(openings.format);
        }
        "format" => {
            openings.format = Some(match value {
                "epd" => BookFormat::Epd,
                "pgn" => BookFormat::Pgn,
                _ => return Err(format!("\"{value}\" is neither epd nor pgn")),
            });
        }
        "order" => {
            openings.random = match value {
                "random" => true,
                "sequential" => false,
                _ => return Err(format!("\"{value}\" is neither sequential nor random")),
            }
        }
        // A negative number stands for all plies.
        "plies" => openings.plies = u32::try_from(number::<i64>(value)?).ok(),
        "start" => {
            openings.start = number(value)?;
            if openings.start == 0 {
                return Err("openings are counted from 1".to_owned());
            }
        }
        "policy" if value == "round" => {}
        "policy" => return Err(format!("there is no policy \"{value}\"; write policy=round, or leave it out")),
        _ => return Err(unknown_key(key, value, &["file", "format", "order", "plies", "start", "policy"])),
    }
    Ok(())
}

fn sprt(pairs: &[(&str, &str)]) -> Result<SprtValues, String> {
    let mut sprt = SprtValues { elo0: 0.0, elo1: 0.0, alpha: 0.0, beta: 0.0, model: Model::Normalized };
    for &(key, value) in pairs {
        match key {
            "elo0" => sprt.elo0 = decimal(value)?,
            "elo1" => sprt.elo1 = decimal(value)?,
            "alpha" => sprt.alpha = decimal(value)?,
            "beta" => sprt.beta = decimal(value)?,
            "model" => {
                sprt.model = match value {
                    "normalized" => Model::Normalized,
                    "logistic" => Model::Logistic,
                    "bayesian" => Model::Bayesian,
                    _ => return Err(format!("\"{value}\" is none of normalized, logistic, bayesian")),
                }
            }
            _ => return Err(unknown_key(key, value, &["elo0", "elo1", "alpha", "beta", "model"])),
        }
    }
    Ok(sprt)
}

fn pgn_key(pgn: &mut PgnArgs, key: &str, value: &str) -> Result<(), String> {
    let flag = match key {
        "file" => {
            value.clone_into(&mut pgn.file);
            return Ok(());
        }
        "notation" => {
            pgn.notation = match value {
                "san" => CompatNotation::San,
                "lan" => CompatNotation::Lan,
                "uci" => CompatNotation::Uci,
                _ => return Err(format!("\"{value}\" is none of san, lan, uci")),
            };
            return Ok(());
        }
        "match_line" => {
            pgn.match_lines.push(value.to_owned());
            return Ok(());
        }
        "append" => &mut pgn.append,
        "min" => &mut pgn.min,
        "nodes" => &mut pgn.nodes,
        "seldepth" => &mut pgn.seldepth,
        "nps" => &mut pgn.nps,
        "hashfull" => &mut pgn.hashfull,
        "tbhits" => &mut pgn.tbhits,
        "pv" => &mut pgn.pv,
        "timeleft" => &mut pgn.timeleft,
        "latency" => &mut pgn.latency,
        _ => {
            let known = [
                "file",
                "append",
                "notation",
                "min",
                "nodes",
                "seldepth",
                "nps",
                "hashfull",
                "tbhits",
                "pv",
                "timeleft",
                "latency",
                "match_line",
            ];
            return Err(unknown_key(key, value, &known));
        }
    };
    *flag = boolean(value)?;
    Ok(())
}

fn log(pairs: &[(&str, &str)]) -> Result<LogArgs, String> {
    let mut log = LogArgs::default();
    for &(key, value) in pairs {
        match key {
            "file" => value.clone_into(&mut log.file),
            "level" => {
                log.level = match value {
                    "trace" => LogLevel::Trace,
                    "info" => LogLevel::Info,
                    "warn" => LogLevel::Warn,
                    "err" => LogLevel::Err,
                    "fatal" => LogLevel::Fatal,
                    _ => return Err(format!("\"{value}\" is none of trace, info, warn, err, fatal")),
                }
            }
            "append" => log.append = boolean(value)?,
            "compress" => log.compress = boolean(value)?,
            "realtime" => log.realtime = boolean(value)?,
            "engine" => log.engine = boolean(value)?,
            _ => return Err(unknown_key(key, value, &["file", "level", "append", "compress", "realtime", "engine"])),
        }
    }
    Ok(log)
}
