//! Options of cutechess-cli that scripts commonly use.

use std::path::{Path, PathBuf};

use super::check::check;
use super::common;
use super::conf::{EngineKeys, EngineLookup};
use super::engine;
use super::grammar::{Load, SavedConfig, book_format};
use super::invocation::{
    BookFormat, Dialect, EngineArgs, EpdArgs, Invocation, LogArgs, LogLevel, RunnerAction, RunnerSettings, SprtValues,
    Tournament,
};
use super::words::{OptionGroup, UsageError, decimal, groups, number, unknown_key};
use crate::stats::sprt::Model;

/// All options, in the order of the help.
pub(super) const OPTIONS: [&str; 42] = [
    "-engine",
    "-each",
    "-variant",
    "-concurrency",
    "-draw",
    "-resign",
    "-maxmoves",
    "-tb",
    "-tbpieces",
    "-tbignore50",
    "-tournament",
    "-event",
    "-site",
    "-games",
    "-rounds",
    "-repeat",
    "-noswap",
    "-reverse",
    "-seeds",
    "-sprt",
    "-ratinginterval",
    "-outcomeinterval",
    "-scoreinterval",
    "-openings",
    "-bookmode",
    "-pgnout",
    "-epdout",
    "-recover",
    "-srand",
    "-wait",
    "-resultformat",
    "-tournamentfile",
    "-resume",
    "-debug",
    "-engines",
    "--engines",
    "-version",
    "--version",
    "-v",
    "-help",
    "--help",
    "-h",
];

/// Engine keys without a value.
const ENGINE_FLAGS: [&str; 4] = ["ponder", "whitepov", "trust", "debug"];

/// Engine keys that are accepted without effect, and the reasons.
const IGNORED_KEYS: [(&str, &str); 3] = [
    ("trust", "UCI engines claim no results"),
    ("stderr", "error output is in the folder stderr of the run"),
    ("debug", NO_DEBUG_MODE),
];

/// Reason that an engine's debug mode has no effect.
const NO_DEBUG_MODE: &str = "no engine is sent `debug on`";

/// Parses a command line without the program's name. An empty one requests the help.
///
/// # Errors
/// [`UsageError`] for the first option that cannot be read, or for options that contradict each
/// other.
pub(super) fn parse(words: &[String], load: Load<'_>, known: EngineLookup<'_>) -> Result<RunnerAction, UsageError> {
    if words.is_empty() {
        return Ok(RunnerAction::Help);
    }
    let groups = groups(words, &OPTIONS)?;
    let mut engines: Vec<EngineArgs> = Vec::new();
    let mut settings = RunnerSettings::new(Dialect::Cutechess);
    let (mut notes, mut resumes) = (Vec::new(), false);
    // Keys of all engines.
    let mut given = EngineKeys::new();
    for group in &groups {
        match group.option {
            "-version" | "--version" | "-v" => return Ok(RunnerAction::Version),
            "-help" | "--help" | "-h" => return Ok(RunnerAction::Help),
            "-engines" | "--engines" => return Ok(RunnerAction::Engines),
            "-each" => {}
            "-engine" => {
                engines.push(EngineArgs::default());
                let last = engines.len() - 1;
                given.extend(set(&mut engines[last..], group, known).map_err(|why| group.error(why))?);
            }
            "-resume" => {
                group.none().map_err(|why| group.error(why))?;
                resumes = true;
            }
            "-bookmode" | "-resultformat" | "-outcomeinterval" => {
                let why = match group.option {
                    "-bookmode" => "books are held in memory",
                    "-resultformat" => "results have one form",
                    _ => "there is no table of outcomes",
                };
                notes.push(format!("Warning: {} has no effect: {why}", group.option));
            }
            _ => option(&mut settings, group).map_err(|why| group.error(why))?,
        }
    }
    for group in groups.iter().filter(|group| group.option == "-each") {
        given.extend(set(&mut engines, group, known).map_err(|why| group.error(why))?);
    }
    let ignored = IGNORED_KEYS.iter().filter(|(key, _)| given.iter().any(|(given, _)| given == key));
    notes.extend(ignored.map(|(key, why)| format!("Warning: {key} has no effect: {why}")));
    if groups.iter().any(|group| group.option == "-debug" && !group.words.is_empty()) {
        notes.push(format!("Warning: -debug all acts as -debug: {NO_DEBUG_MODE}"));
    }
    let scale = timeout_scale(&given);
    settings.startup = settings.startup.mul_f64(scale);
    settings.ucinewgame = settings.ucinewgame.mul_f64(scale);
    let policy = opening_policy(&groups);
    if matches!(policy, "encounter" | "round") {
        // All games of an encounter have one opening, even with `-repeat 1`.
        settings.repeat = None;
    }
    let mut resume = None;
    if resumes {
        let Some(file) = groups.iter().rfind(|group| group.option == "-tournamentfile") else {
            return Err(UsageError::Whole("-resume needs the -tournamentfile of the tournament".to_owned()));
        };
        let path = PathBuf::from(&settings.config_name);
        let saved = tournament_file(&path, load).map_err(|why| file.error(why))?;
        if !engines.is_empty() {
            notes.push(format!("Warning: -resume: engines and settings are those of {}", settings.config_name));
        }
        let is_given = groups.iter().any(|group| group.option == "-concurrency");
        let concurrency = if is_given { settings.concurrency } else { saved.settings.concurrency };
        engines = saved.engines;
        settings = RunnerSettings { concurrency, config_name: settings.config_name, ..saved.settings };
        resume = Some(path);
    }
    if policy == "encounter" && !resumes && (engines.len() > 2 || settings.rounds > 1) {
        let why = "each round gets a new opening, the same for all its pairings";
        notes.push(format!("Warning: policy=encounter acts as policy=round: {why}"));
    }
    check(Invocation { dialect: Dialect::Cutechess, engines, settings, resume, notes })
        .map(|invocation| RunnerAction::Play(Box::new(invocation)))
}

/// Largest `tscale=` of an engine, at least 1. The timeouts are those of all engines.
fn timeout_scale(given: &EngineKeys) -> f64 {
    let scales = given.iter().filter(|(key, _)| key == "tscale").filter_map(|(_, value)| value.parse::<f64>().ok());
    // Keys of `-each` are not checked if there is no engine.
    scales.filter(|scale| engine::TIMEOUT_SCALES.contains(scale)).fold(1.0, f64::max)
}

/// Policy of the last `-openings`.
fn opening_policy<'a>(groups: &[OptionGroup<'a>]) -> &'a str {
    let last = groups.iter().rfind(|group| group.option == "-openings");
    last.and_then(|group| group.words.iter().rev().find_map(|word| word.strip_prefix("policy="))).unwrap_or("default")
}

/// Reads a tournament file of ours. One of Cute Chess has the same form, but names its engines by
/// other keys.
pub(super) fn tournament_file(path: &Path, load: Load<'_>) -> Result<SavedConfig, String> {
    let why = match load(path) {
        Ok(saved) if saved.engines.len() >= 2 && saved.engines.iter().all(|engine| !engine.cmd.is_empty()) => {
            return Ok(saved);
        }
        Ok(_) => format!("{}: it has no engines", path.display()),
        Err(why) => why,
    };
    Err(format!(
        "{why}; a file that Cute Chess wrote is not read: give the tournament's engines and options, and the name of a new file"
    ))
}

/// Sets the keys of an option in each of `engines`. Returns them, with those of `conf=`.
fn set(engines: &mut [EngineArgs], group: &OptionGroup, known: EngineLookup<'_>) -> Result<EngineKeys, String> {
    if group.words.is_empty() {
        return Err("it takes key=value".to_owned());
    }
    let mut given = EngineKeys::new();
    for word in &group.words {
        let (key, value) = match word.split_once('=') {
            // A UCI option may have an empty value, such as an unused path.
            Some((key, value)) if !value.is_empty() || key.starts_with("option.") => (key, value),
            None if ENGINE_FLAGS.contains(word) => (*word, ""),
            _ => return Err(format!("it takes key=value, not \"{word}\"")),
        };
        if key == "conf" {
            let (path, entry) = known(value)?;
            for engine in engines.iter_mut() {
                // The limit is not part of an entry.
                *engine = EngineArgs { limit: engine.limit, margin: engine.margin, ..EngineArgs::default() };
                set_keys(engine, &entry).map_err(|why| format!("{}: engine \"{value}\": {why}", path.display()))?;
            }
            // An entry replaces what stands before it.
            given = entry;
        } else {
            let entry = vec![(key.to_owned(), value.to_owned())];
            engines.iter_mut().try_for_each(|engine| set_keys(engine, &entry))?;
            given.extend(entry);
        }
    }
    Ok(given)
}

fn set_keys(engine: &mut EngineArgs, keys: &EngineKeys) -> Result<(), String> {
    keys.iter().try_for_each(|(key, value)| engine::set(engine, key, value, Dialect::Cutechess))
}

fn option(settings: &mut RunnerSettings, group: &OptionGroup) -> Result<(), String> {
    if common::option(settings, group)? {
        switch_off(settings, group);
        return Ok(());
    }
    match group.option {
        "-openings" => group.pairs()?.into_iter().try_for_each(|(key, value)| opening(settings, key, value))?,
        "-sprt" => settings.sprt = Some(sprt(&group.pairs()?)?),
        "-pgnout" => settings.pgn = Some(common::pgn(group)?),
        "-epdout" => settings.epd = Some(EpdArgs { file: group.one()?.to_owned(), append: true }),
        "-repeat" => {
            settings.repeat = Some(match group.words.as_slice() {
                [] => 2,
                [word] => number::<u64>(word)?.max(1),
                _ => return Err("it takes at most one value".to_owned()),
            });
        }
        "-debug" => {
            if !matches!(group.words.as_slice(), [] | ["all"]) {
                return Err("it takes no value, or all".to_owned());
            }
            settings.log = LogArgs { level: LogLevel::Trace, engine: true, file: "-".into(), ..LogArgs::default() };
        }
        _ => single(settings, group.option, group.one()?)?,
    }
    Ok(())
}

/// Switches adjudication off if `-draw` has `movenumber=0`, or `-resign` has `movecount=0`.
fn switch_off(settings: &mut RunnerSettings, group: &OptionGroup) {
    let is_zero = |key: &str| {
        let mut pairs = group.words.iter().filter_map(|word| word.split_once('='));
        pairs.any(|(name, value)| name == key && number::<u32>(value) == Ok(0))
    };
    match group.option {
        "-draw" if is_zero("movenumber") => settings.draw = None,
        "-resign" if is_zero("movecount") => settings.resign = None,
        _ => {}
    }
}

fn single(settings: &mut RunnerSettings, option: &str, value: &str) -> Result<(), String> {
    match option {
        "-concurrency" => settings.concurrency = number::<u16>(value).map(|games| i64::from(games.max(1)))?,
        "-maxmoves" => settings.max_moves = Some(number(value)?).filter(|moves| *moves > 0),
        "-tournament" => {
            settings.tournament = match value {
                "round-robin" => Tournament::RoundRobin,
                "gauntlet" => Tournament::Gauntlet,
                "knockout" => Tournament::Knockout,
                "pyramid" => Tournament::Pyramid,
                _ => return Err(format!("\"{value}\" is none of round-robin, gauntlet, knockout, pyramid")),
            }
        }
        "-srand" => settings.seed = Some(number(value)?).filter(|seed| *seed > 0),
        "-tournamentfile" => value.clone_into(&mut settings.config_name),
        _ => return Err("it is not known".to_owned()),
    }
    Ok(())
}

fn opening(settings: &mut RunnerSettings, key: &str, value: &str) -> Result<(), String> {
    let openings = &mut settings.openings;
    match (key, value) {
        ("file", _) => {
            openings.file = Some(value.to_owned());
            openings.format = openings.format.or_else(|| book_format(value));
        }
        ("format", "epd") => openings.format = Some(BookFormat::Epd),
        ("format", "pgn") => openings.format = Some(BookFormat::Pgn),
        ("order", "random") => openings.random = true,
        ("order", "sequential") => openings.random = false,
        ("plies", _) => openings.plies = Some(number(value)?),
        ("start", _) => openings.start = number::<u64>(value)?.max(1),
        // `parse` applies it, because it overrules `-repeat`.
        ("policy", "default" | "encounter" | "round") => {}
        ("format" | "order" | "policy", _) => return Err(format!("\"{value}\" is no {key}")),
        _ => return Err(unknown_key(key, value, &["file", "format", "order", "plies", "start", "policy"])),
    }
    Ok(())
}

/// SPRT with bounds in logistic Elo.
fn sprt(pairs: &[(&str, &str)]) -> Result<SprtValues, String> {
    let mut sprt = SprtValues { elo0: 0.0, elo1: 0.0, alpha: 0.05, beta: 0.05, model: Model::Logistic };
    for &(key, value) in pairs {
        let field = match key {
            "elo0" => &mut sprt.elo0,
            "elo1" => &mut sprt.elo1,
            "alpha" => &mut sprt.alpha,
            "beta" => &mut sprt.beta,
            _ => return Err(unknown_key(key, value, &["elo0", "elo1", "alpha", "beta"])),
        };
        *field = decimal(value)?;
    }
    Ok(sprt)
}
