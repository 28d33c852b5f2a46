//! Keys of `-engine` and `-each`, and their time controls.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::invocation::{Dialect, EngineArgs};
use super::words::{decimal, number, unknown_key};
use crate::plan::time_control::TimeControl;
use crate::text::shell_word;

/// Longest time that a plan can hold.
const LONGEST_S: f64 = 9_999_999.0;

const FASTCHESS_KEYS: [&str; 13] =
    ["cmd", "name", "args", "dir", "proto", "tc", "st", "nodes", "depth", "plies", "restart", "timemargin", "option."];
const CUTECHESS_KEYS: [&str; 21] = [
    "cmd",
    "name",
    "arg",
    "dir",
    "proto",
    "tc",
    "st",
    "nodes",
    "depth",
    "restart",
    "timemargin",
    "option.",
    "ponder",
    "conf",
    "initstr",
    "book",
    "bookdepth",
    "whitepov",
    "stderr",
    "tscale",
    "debug",
];

/// Least and largest `tscale=` of cutechess-cli.
pub(super) const TIMEOUT_SCALES: RangeInclusive<f64> = 0.2..=120.0;

/// Sets one key of an engine.
pub(super) fn set(engine: &mut EngineArgs, key: &str, value: &str, dialect: Dialect) -> Result<(), String> {
    let fastchess = dialect == Dialect::Fastchess;
    match key {
        "cmd" => value.clone_into(&mut engine.cmd),
        "name" => value.clone_into(&mut engine.name),
        "dir" => value.clone_into(&mut engine.dir),
        "args" if fastchess => value.clone_into(&mut engine.args),
        "arg" if !fastchess => {
            if !engine.args.is_empty() {
                engine.args.push(' ');
            }
            engine.args += &shell_word(value);
        }
        "proto" if value == "uci" => {}
        "proto" => {
            return Err(format!(
                "engines are spoken to by uci, not by {value}; write proto=uci, and name an adapter in cmd= if the engine has no UCI"
            ));
        }
        "tc" => engine.limit.clock = time_control(value)?,
        "st" => engine.limit.movetime = Some(seconds(value)?).filter(|time| !time.is_zero()),
        "nodes" => engine.limit.nodes = Some(number(value)?).filter(|nodes| *nodes > 0),
        "depth" => engine.limit.depth = Some(number(value)?).filter(|depth| *depth > 0),
        "plies" if fastchess => engine.limit.depth = Some(number(value)?).filter(|depth| *depth > 0),
        "timemargin" => engine.margin = Duration::from_millis(number(value)?),
        "restart" => engine.restart = restart(value, fastchess)?,
        "ponder" if !fastchess => engine.ponder = true,
        "whitepov" if !fastchess => engine.white_pov = true,
        // Accepted without effect; `cutechess::parse` warns of them.
        "stderr" | "trust" | "debug" if !fastchess => {}
        // `cutechess::parse` applies it, because the timeouts are those of all engines.
        "tscale" if !fastchess => {
            if !TIMEOUT_SCALES.contains(&decimal(value)?) {
                return Err(format!("tscale={value}: it is a number from 0.2 to 120"));
            }
        }
        "initstr" if !fastchess => {
            let lines = value.split("\\n").map(str::trim).filter(|line| !line.is_empty());
            lines.map(setoption).try_for_each(|option| option.map(|option| engine.options.push(option)))?;
        }
        "book" | "bookdepth" if !fastchess => {
            return Err(format!(
                "\"{key}\" is not supported: leave it out, and let both engines play the lines of the book by -openings file=BOOK.bin plies=16"
            ));
        }
        _ => match key.strip_prefix("option.") {
            Some(name) if !name.is_empty() => engine.options.push((name.to_owned(), value.to_owned())),
            _ if fastchess => return Err(unknown_key(key, value, &FASTCHESS_KEYS)),
            _ => return Err(unknown_key(key, value, &CUTECHESS_KEYS)),
        },
    }
    Ok(())
}

/// Option of a line of `initstr`.
fn setoption(line: &str) -> Result<(String, String), String> {
    let refuse = || format!("initstr can only have lines of setoption, not \"{line}\"");
    let rest = line.strip_prefix("setoption name ").ok_or_else(refuse)?;
    // A button has no value.
    let (name, value) = rest.split_once(" value ").unwrap_or((rest.trim_end_matches(" value"), "true"));
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn restart(value: &str, fastchess: bool) -> Result<bool, String> {
    match value {
        "on" => Ok(true),
        "off" => Ok(false),
        "auto" if !fastchess => Ok(false),
        _ => Err(format!("\"{value}\" is neither on nor off")),
    }
}

/// Parses `[moves/][min:]sec[+inc]`, seconds with or without an `s`. Returns `None` for `inf` and
/// for zero time.
pub(super) fn time_control(text: &str) -> Result<Option<TimeControl>, String> {
    if text.contains("hg") {
        return Err("hourglass time controls are not supported".to_owned());
    }
    let endless = |word: &str| matches!(word, "inf" | "infinite");
    if endless(text) {
        return Ok(None);
    }
    let refuse = |why: &str| format!("\"{text}\" is not a time control: {why}; write [moves/][min:]sec[+inc]");
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) if endless(moves) => (None, rest),
        Some((moves, rest)) => {
            let moves = number::<u32>(moves).map_err(|_| refuse("moves are a whole number"))?;
            // No moves stand for the whole game.
            (Some(moves).filter(|moves| *moves > 0), rest)
        }
        None => (None, text),
    };
    let (base, increment) = match rest.split_once('+') {
        Some((base, increment)) => (base, seconds(increment).map_err(|why| refuse(&why))?),
        None => (rest, Duration::ZERO),
    };
    let base = match base.split_once(':') {
        Some((minutes, rest)) => {
            let minutes = scaled(minutes, 60.0).map_err(|why| refuse(&why))?;
            minutes + seconds(rest).map_err(|why| refuse(&why))?
        }
        None => seconds(base).map_err(|why| refuse(&why))?,
    };
    if base.as_secs_f64() > LONGEST_S {
        return Err(refuse("it is too long"));
    }
    let clock = TimeControl::new(moves, base, increment);
    Ok(Some(clock).filter(|_| !base.is_zero() || !increment.is_zero()))
}

/// Parses seconds with or without an `s`.
fn seconds(text: &str) -> Result<Duration, String> {
    scaled(text.strip_suffix('s').filter(|rest| !rest.is_empty()).unwrap_or(text), 1.0)
}

fn scaled(text: &str, unit_s: f64) -> Result<Duration, String> {
    let value = decimal(text)? * unit_s;
    if !(0.0..=LONGEST_S).contains(&value) {
        return Err(format!("\"{text}\" is negative or too long"));
    }
    // A plan holds whole microseconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from 0 to 1e13")]
    Ok(Duration::from_micros((value * 1e6).round() as u64))
}
