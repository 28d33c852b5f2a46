//! UCI options: one table for the answer to `uci` and for `setoption`.

use super::engine::Strength;
use crate::nnue::embedded;
#[cfg(feature = "tune")]
use crate::search::params;
use crate::search::strength::ELO;
use crate::search::tablebase::ProbeLimits;
use crate::search::time::DEFAULT_OVERHEAD;
use crate::search::{EvalConfig, EvalMode};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::time::Duration;

/// Default hash size in MiB.
pub const DEFAULT_HASH_MIB: usize = 16;

/// Empty value of a string option, as UCI writes it.
pub(super) const EMPTY: &str = "<empty>";

/// Value of EvalFile for the embedded network.
const EMBEDDED: &str = "<embedded>";

const HASH_MIB: RangeInclusive<i64> = 1..=65_536;
const THREADS: RangeInclusive<i64> = 1..=256;
const LINES: RangeInclusive<i64> = 1..=256;
const PROBE_DEPTH: RangeInclusive<i64> = 1..=100;
const PROBE_LIMIT: RangeInclusive<i64> = 0..=7;
/// Seeds of limited players.
const SEED: RangeInclusive<i64> = 0..=1_000_000;
const OVERHEAD_MS: RangeInclusive<i64> = 0..=5000;

/// Options that the session keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Time lost between engine and clock per move.
    pub move_overhead: Duration,
    /// Number of best lines to search (MultiPV).
    pub lines: usize,
    probing: ProbeLimits,
    /// Set if win, draw and loss are reported with each score.
    pub show_wdl: bool,
    /// Set if castling is written as king takes rook.
    pub chess960: bool,
    limit_strength: bool,
    elo: u32,
    seed: u64,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            move_overhead: DEFAULT_OVERHEAD,
            lines: 1,
            probing: ProbeLimits::default(),
            show_wdl: false,
            chess960: false,
            limit_strength: false,
            elo: *ELO.end(),
            seed: 0,
        }
    }
}

/// Effect of an option on the engine, beyond [`Options`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// No effect.
    Nothing,
    /// Transposition table of another size.
    ResizeHash { mib: usize },
    /// Empty transposition table.
    ClearHash,
    /// Another evaluation.
    SetEvalMode(EvalMode),
    /// Path of the network; `None` for the embedded one.
    LoadNetwork(Option<PathBuf>),
    /// Another number of threads.
    SetThreads { threads: usize },
    /// Folders, separated as in the system's `PATH`; empty for none.
    OpenTables { path: String },
    /// Other limits of tablebase probes.
    SetProbing(ProbeLimits),
}

/// Formats the lines that answer `uci`.
pub fn list() -> String {
    let spin = |name: &str, default: i64, range: RangeInclusive<i64>| {
        format!("option name {name} type spin default {default} min {} max {}\n", range.start(), range.end())
    };
    let text = [
        spin("Hash", DEFAULT_HASH_MIB as i64, HASH_MIB),
        spin("Threads", 1, THREADS),
        spin("MultiPV", 1, LINES),
        spin("Move Overhead", Options::default().move_overhead.as_millis() as i64, OVERHEAD_MS),
        "option name UCI_Chess960 type check default false\n".to_owned(),
        "option name Ponder type check default false\n".to_owned(),
        "option name UCI_ShowWDL type check default false\n".to_owned(),
        "option name UCI_LimitStrength type check default false\n".to_owned(),
        spin("UCI_Elo", i64::from(*ELO.end()), elo_range()),
        spin("Strength Seed", 0, SEED),
        format!("option name SyzygyPath type string default {EMPTY}\n"),
        spin("SyzygyProbeDepth", i64::from(ProbeLimits::default().depth), PROBE_DEPTH),
        spin("SyzygyProbeLimit", i64::from(ProbeLimits::default().men), PROBE_LIMIT),
        "option name Clear Hash type button\n".to_owned(),
        format!("option name EvalMode type combo default {}{}\n", EvalConfig::default().mode.name(), modes(" var ")),
        format!("option name EvalFile type string default {EMBEDDED}\n"),
    ]
    .concat();
    #[cfg(feature = "tune")]
    let text = params::ALL.iter().fold(text, |text, row| {
        text + &spin(row.name, i64::from(row.default), i64::from(row.min)..=i64::from(row.max))
    });
    text
}

impl Options {
    /// Returns the limited strength; `None` at full strength.
    pub fn strength(&self) -> Option<Strength> {
        self.limit_strength.then_some(Strength { elo: self.elo, seed: self.seed })
    }

    /// Sets an option; names are case-insensitive.
    ///
    /// # Errors
    /// Returns a message that names the wrong name or value and the correct ones.
    pub fn set(&mut self, name: &str, value: Option<&str>) -> Result<Effect, String> {
        let value = value.unwrap_or("");
        match name.to_ascii_lowercase().as_str() {
            "hash" => return Ok(Effect::ResizeHash { mib: spin(name, value, HASH_MIB)? as usize }),
            "clear hash" => return Ok(Effect::ClearHash),
            "threads" => return Ok(Effect::SetThreads { threads: spin(name, value, THREADS)? as usize }),
            "multipv" => self.lines = spin(name, value, LINES)? as usize,
            "move overhead" => self.move_overhead = Duration::from_millis(spin(name, value, OVERHEAD_MS)? as u64),
            "uci_chess960" => self.chess960 = check(name, value)?,
            "evalmode" => return Ok(Effect::SetEvalMode(eval_mode(name, value)?)),
            "evalfile" => return Ok(Effect::LoadNetwork(eval_file(value)?)),
            "ponder" => drop(check(name, value)?),
            "uci_showwdl" => self.show_wdl = check(name, value)?,
            "uci_limitstrength" => self.limit_strength = check(name, value)?,
            "uci_elo" => self.elo = spin(name, value, elo_range())? as u32,
            "strength seed" => self.seed = spin(name, value, SEED)? as u64,
            "syzygypath" => return Ok(Effect::OpenTables { path: value.to_owned() }),
            "syzygyprobedepth" => {
                self.probing.depth = spin(name, value, PROBE_DEPTH)? as i32;
                return Ok(Effect::SetProbing(self.probing));
            }
            "syzygyprobelimit" => {
                self.probing.men = spin(name, value, PROBE_LIMIT)? as u32;
                return Ok(Effect::SetProbing(self.probing));
            }
            _ => set_param(name, value)?,
        }
        Ok(Effect::Nothing)
    }
}

fn elo_range() -> RangeInclusive<i64> {
    i64::from(*ELO.start())..=i64::from(*ELO.end())
}

/// Lists the names of all modes, each after some text.
fn modes(before: &str) -> String {
    EvalMode::ALL.iter().fold(String::new(), |text, mode| text + before + mode.name())
}

fn eval_mode(name: &str, value: &str) -> Result<EvalMode, String> {
    let mode = EvalMode::ALL.into_iter().find(|mode| mode.name().eq_ignore_ascii_case(value));
    mode.ok_or_else(|| format!("setoption: bad value `{value}` for `{name}`, expected one of{}", modes(" ")))
}

/// Parses the value of EvalFile. Empty text, also as [`EMPTY`], and [`EMBEDDED`] mean the
/// embedded network.
fn eval_file(value: &str) -> Result<Option<PathBuf>, String> {
    if !["", EMPTY, EMBEDDED].contains(&value) {
        return Ok(Some(PathBuf::from(value)));
    }
    match embedded() {
        Some(_) => Ok(None),
        None => Err("setoption: no network is built in, give EvalFile the path of one".to_owned()),
    }
}

fn spin(name: &str, value: &str, range: RangeInclusive<i64>) -> Result<i64, String> {
    value.parse().ok().filter(|number| range.contains(number)).ok_or_else(|| {
        format!("setoption: bad value `{value}` for `{name}`, expected {} to {}", range.start(), range.end())
    })
}

fn check(name: &str, value: &str) -> Result<bool, String> {
    match value {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("setoption: bad value `{value}` for `{name}`, expected true or false")),
    }
}

#[cfg(not(feature = "tune"))]
fn set_param(name: &str, _: &str) -> Result<(), String> {
    Err(format!("setoption: no option `{name}`"))
}

#[cfg(feature = "tune")]
fn set_param(name: &str, value: &str) -> Result<(), String> {
    let row = params::ALL.iter().find(|row| row.name.eq_ignore_ascii_case(name));
    let row = row.ok_or_else(|| format!("setoption: no option `{name}`"))?;
    let number = spin(name, value, i64::from(row.min)..=i64::from(row.max))?;
    params::set(row.name, number as i32);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn good_values_are_taken() {
        let mut options = Options::default();
        for (name, value, effect) in [
            ("Hash", Some("64"), Effect::ResizeHash { mib: 64 }),
            ("hash", Some("1"), Effect::ResizeHash { mib: 1 }),
            ("Clear Hash", None, Effect::ClearHash),
            ("Threads", Some("2"), Effect::SetThreads { threads: 2 }),
            ("MultiPV", Some("4"), Effect::Nothing),
            ("Ponder", Some("true"), Effect::Nothing),
            ("UCI_ShowWDL", Some("true"), Effect::Nothing),
            ("SyzygyPath", Some("a:b"), Effect::OpenTables { path: "a:b".to_owned() }),
            ("SyzygyPath", None, Effect::OpenTables { path: String::new() }),
            ("UCI_LimitStrength", Some("true"), Effect::Nothing),
            ("UCI_Elo", Some("1500"), Effect::Nothing),
            ("Strength Seed", Some("7"), Effect::Nothing),
            ("SyzygyProbeDepth", Some("5"), Effect::SetProbing(ProbeLimits { depth: 5, men: 7 })),
            ("SyzygyProbeLimit", Some("0"), Effect::SetProbing(ProbeLimits { depth: 5, men: 0 })),
            ("Move Overhead", Some("123"), Effect::Nothing),
            ("UCI_Chess960", Some("true"), Effect::Nothing),
            ("EvalMode", Some("NNUE"), Effect::SetEvalMode(EvalMode::Nnue)),
            ("evalmode", Some("classical"), Effect::SetEvalMode(EvalMode::Classical)),
            ("EvalFile", Some("<empty>"), Effect::LoadNetwork(None)),
            ("EvalFile", Some("a b.nnue"), Effect::LoadNetwork(Some(PathBuf::from("a b.nnue")))),
        ] {
            assert_eq!(options.set(name, value), Ok(effect), "{name}");
        }
        assert_eq!(
            options,
            Options {
                move_overhead: Duration::from_millis(123),
                lines: 4,
                probing: ProbeLimits { depth: 5, men: 0 },
                show_wdl: true,
                chess960: true,
                limit_strength: true,
                elo: 1500,
                seed: 7,
            }
        );
        assert_eq!(options.strength(), Some(Strength { elo: 1500, seed: 7 }));
        assert_eq!(Options { limit_strength: false, ..options }.strength(), None);
    }

    #[test]
    fn bad_values_change_nothing() {
        let mut options = Options::default();
        for (name, value, message) in [
            ("Hash", Some("0"), "setoption: bad value `0` for `Hash`, expected 1 to 65536"),
            ("Hash", None, "setoption: bad value `` for `Hash`, expected 1 to 65536"),
            ("Threads", Some("257"), "setoption: bad value `257` for `Threads`, expected 1 to 256"),
            ("Move Overhead", Some("x"), "setoption: bad value `x` for `Move Overhead`, expected 0 to 5000"),
            ("UCI_Chess960", Some("1"), "setoption: bad value `1` for `UCI_Chess960`, expected true or false"),
            ("EvalMode", Some("hce"), "setoption: bad value `hce` for `EvalMode`, expected one of classical nnue"),
            ("SyzygyProbeLimit", Some("8"), "setoption: bad value `8` for `SyzygyProbeLimit`, expected 0 to 7"),
            (
                "UCI_LimitStrength",
                Some("yes"),
                "setoption: bad value `yes` for `UCI_LimitStrength`, expected true or false",
            ),
            ("Strength Seed", Some("-1"), "setoption: bad value `-1` for `Strength Seed`, expected 0 to 1000000"),
            ("Contempt", Some("1"), "setoption: no option `Contempt`"),
        ] {
            assert_eq!(options.set(name, value), Err(message.to_owned()));
        }
        for elo in [ELO.start() - 1, ELO.end() + 1] {
            let message =
                format!("setoption: bad value `{elo}` for `UCI_Elo`, expected {} to {}", ELO.start(), ELO.end());
            assert_eq!(options.set("UCI_Elo", Some(&elo.to_string())), Err(message));
        }
        assert_eq!(options, Options::default());
    }

    #[cfg(feature = "tune")]
    #[test]
    fn every_row_is_an_option() {
        let mut options = Options::default();
        for row in params::ALL {
            assert!(list().contains(&format!("option name {} type spin default {}", row.name, row.default)));
            assert_eq!(options.set(row.name, Some(&row.default.to_string())), Ok(Effect::Nothing));
            assert!(options.set(row.name, Some(&(row.max + 1).to_string())).is_err());
        }
    }
}
