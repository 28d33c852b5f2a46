//! Arguments of `datagen` on the command line.

use super::opening::Openings;
use super::play::{Adjudication, Effort, Rules};
use super::run::{Job, Target};
use crate::nnue;
use crate::search::{EvalConfig, EvalMode};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// Usage message of `datagen`.
pub const USAGE: &str = "\
destrier datagen --out FILE (--games N | --positions N) [OPTION VALUE]...
Plays games of the engine against itself and writes them with their scores as viriformat. The same command
continues an interrupted run. The games depend on the seed and the settings, not on the number of threads.

  --out FILE            file to write; FILE.settings beside it says how it came about
  --games N             stop after N games
  --positions N         stop after the game that makes it N positions
  --nodes N             nodes a move, after which no iteration is started (default 5000)
  --depth D             iterations a move, instead of nodes
  --threads N           games played side by side (default 1)
  --seed N              another seed, other games (default 1)
  --hash MIB            table of each thread (default 8)
  --random-plies A[-B]  random moves at the start (default 8-9; with a book 0). Few of them repeat openings: there are 20 first moves
                        and 400 answers. With 0, each start is for one game, or used in turn where there are --random-moves
  --random-moves P      percent of the later moves that are random; they are written without a score (default 0). With few of them
                        and without random plies, some games from one start are the same
  --evaluation FILE     network to play with, or `classical` (default: what the program has built in)
  --book FILE           EPD or FEN file with positions to start from
  --opening-limit CP    drop starts beyond this score (default 600; off)
  --win CP:PLIES        give a win at this score for this many plies (default 2500:4; off)
  --draw CP:PLIES       give a draw within this score for this many plies (default 4:12; off)
  --draw-after PLY      no such draw before (default 80)
  --max-plies N         a longer game is a draw (default 400)
";

/// Error in the arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentError {
    /// Unknown option.
    Unknown(String),
    /// Option without its value.
    NoValue(String),
    /// Option that is given twice.
    Twice(String),
    /// Value that the option does not take, and the values that it takes.
    Bad {
        /// Name of the option.
        name: &'static str,
        /// Value as given.
        value: String,
        /// Values that it takes, in words.
        expected: &'static str,
    },
    /// Required option that is missing.
    Missing(&'static str),
    /// Two options of which only one may be given.
    Both(&'static str, &'static str),
    /// More games than starts, and no randomness that would make them differ.
    Copies {
        /// Number of games.
        games: u64,
        /// Number of starts.
        starts: usize,
    },
    /// Book that cannot be used, and the reason.
    Book {
        /// The book.
        path: PathBuf,
        /// Reason in words.
        why: String,
    },
    /// Network that cannot be loaded, and the reason.
    Network {
        /// The network file.
        path: PathBuf,
        /// Fault in it.
        error: nnue::FormatError,
    },
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentError::Unknown(word) => {
                write!(f, "datagen: unknown option `{word}`; try `destrier datagen --help`")
            }
            ArgumentError::NoValue(word) => write!(f, "datagen: `{word}` lacks its value"),
            ArgumentError::Twice(word) => write!(f, "datagen: `{word}` is given twice"),
            ArgumentError::Bad { name, value, expected } => {
                write!(f, "datagen: bad value `{value}` of `{name}`, expected {expected}")
            }
            ArgumentError::Missing(what) => write!(f, "datagen: give {what}; try `destrier datagen --help`"),
            ArgumentError::Both(one, other) => write!(f, "datagen: give `{one}` or `{other}`, not both"),
            ArgumentError::Copies { games, starts } => write!(
                f,
                "datagen: {games} games of {starts} different starts would be copies of each other; give --random-plies, \
                 --random-moves, fewer --games or a --book with more starts"
            ),
            ArgumentError::Book { path, why } => write!(f, "datagen: book {}: {why}", path.display()),
            ArgumentError::Network { path, error } => write!(f, "datagen: network {}: {error}", path.display()),
        }
    }
}

impl std::error::Error for ArgumentError {}

const NAMES: &[&str] = &[
    "--out",
    "--games",
    "--positions",
    "--nodes",
    "--depth",
    "--threads",
    "--seed",
    "--hash",
    "--random-plies",
    "--random-moves",
    "--evaluation",
    "--book",
    "--opening-limit",
    "--win",
    "--draw",
    "--draw-after",
    "--max-plies",
];

/// Options and their values.
struct Words<'a>(Vec<(&'a str, &'a str)>);

impl<'a> Words<'a> {
    fn read(words: &[&'a str]) -> Result<Words<'a>, ArgumentError> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for pair in words.chunks(2) {
            let name = pair[0];
            if !NAMES.contains(&name) {
                return Err(ArgumentError::Unknown(name.to_owned()));
            }
            if pairs.iter().any(|(other, _)| *other == name) {
                return Err(ArgumentError::Twice(name.to_owned()));
            }
            pairs.push((name, pair.get(1).ok_or_else(|| ArgumentError::NoValue(name.to_owned()))?));
        }
        Ok(Words(pairs))
    }

    fn get(&self, name: &str) -> Option<&'a str> {
        self.0.iter().find(|(other, _)| *other == name).map(|(_, value)| *value)
    }

    fn number<T: FromStr + PartialOrd>(
        &self,
        name: &'static str,
        range: RangeInclusive<T>,
        expected: &'static str,
    ) -> Result<Option<T>, ArgumentError> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.parse() {
            Ok(number) if range.contains(&number) => Ok(Some(number)),
            _ => Err(ArgumentError::Bad { name, value: value.to_owned(), expected }),
        }
    }

    /// Parses `CP:PLIES` or `off`.
    fn adjudication(&self, name: &'static str, default: Adjudication) -> Result<Option<Adjudication>, ArgumentError> {
        let read = |value: &str| {
            let (score, plies) = value.split_once(':')?;
            let (score, plies) = (score.parse().ok()?, plies.parse().ok()?);
            ((0..=30_000).contains(&score) && (1..=1000).contains(&plies)).then_some(Adjudication { score, plies })
        };
        match self.get(name) {
            None => Ok(Some(default)),
            Some("off") => Ok(None),
            Some(value) => read(value).map(Some).ok_or_else(|| ArgumentError::Bad {
                name,
                value: value.to_owned(),
                expected: "CP:PLIES or off",
            }),
        }
    }

    /// Parses `A` or `A-B`.
    fn random_plies(&self, default: RangeInclusive<usize>) -> Result<RangeInclusive<usize>, ArgumentError> {
        let Some(value) = self.get("--random-plies") else { return Ok(default) };
        let (least, most) = value.split_once('-').unwrap_or((value, value));
        match (least.parse(), most.parse()) {
            (Ok(least), Ok(most)) if least <= most && most <= 100 => Ok(least..=most),
            _ => Err(ArgumentError::Bad {
                name: "--random-plies",
                value: value.to_owned(),
                expected: "A or A-B, at most 100",
            }),
        }
    }
}

/// Parses the arguments after `datagen` into a job. Reads the book.
///
/// # Errors
/// Returns an [`ArgumentError`].
pub fn parse(words: &[&str]) -> Result<Job, ArgumentError> {
    let words = Words::read(words)?;
    let count = "a whole number of 1 or more";
    let out = words.get("--out").ok_or(ArgumentError::Missing("`--out FILE`"))?;
    let games = words.number("--games", 1..=u64::MAX, count)?;
    let positions = words.number("--positions", 1..=u64::MAX, count)?;
    let target = match (games, positions) {
        (Some(games), None) => Target::Games(games),
        (None, Some(positions)) => Target::Positions(positions),
        (None, None) => return Err(ArgumentError::Missing("`--games N` or `--positions N`")),
        (Some(_), Some(_)) => return Err(ArgumentError::Both("--games", "--positions")),
    };
    let nodes = words.number("--nodes", 1..=u64::MAX, count)?;
    let effort = match (nodes, words.number("--depth", 1..=127, "1 to 127")?) {
        (Some(_), Some(_)) => return Err(ArgumentError::Both("--nodes", "--depth")),
        (_, Some(depth)) => Effort::Depth(depth),
        (nodes, None) => Effort::SoftNodes(nodes.unwrap_or(5000)),
    };
    let rules = read_rules(&words, effort)?;
    let (openings, book) = read_openings(&words)?;
    let starts = openings.positions.len();
    if let Target::Games(games) = target
        && openings.are_in_turn()
        && rules.random_moves == 0
        && games > starts as u64
    {
        return Err(ArgumentError::Copies { games, starts });
    }
    let seed = words.number("--seed", 0..=u64::MAX, "a whole number")?.unwrap_or(1);
    let hash_mib = words.number("--hash", 1..=65_536, "1 to 65536 MiB")?.unwrap_or(8);
    let threads = words.number("--threads", 1..=1024, "1 to 1024")?.unwrap_or(1);
    let (evaluation, line) = read_evaluation(&words)?;
    let summary = summary(&rules, &openings, seed, hash_mib, &book) + &line;
    Ok(Job { out: PathBuf::from(out), target, seed, threads, hash_mib, rules, openings, evaluation, summary })
}

/// Returns the evaluation to play with, and its line of the summary.
fn read_evaluation(words: &Words<'_>) -> Result<(EvalConfig, String), ArgumentError> {
    let Some(value) = words.get("--evaluation") else {
        return Ok((EvalConfig::default(), "evaluation = built in\n".to_owned()));
    };
    if value == EvalMode::Classical.name() {
        let classical = EvalConfig { mode: EvalMode::Classical, network: None };
        return Ok((classical, "evaluation = classical\n".to_owned()));
    }
    let path = PathBuf::from(value);
    let (network, hash) = nnue::read_bytes(&path)
        .and_then(|bytes| Ok((nnue::parse(&bytes)?, nnue::sha256_hex(&bytes))))
        .map_err(|error| ArgumentError::Network { path, error })?;
    let network = EvalConfig { mode: EvalMode::Nnue, network: Some(Arc::new(network)) };
    Ok((network, format!("evaluation = network {hash}\n")))
}

fn read_rules(words: &Words<'_>, effort: Effort) -> Result<Rules, ArgumentError> {
    let opening_limit = match words.get("--opening-limit") {
        Some("off") => None,
        _ => Some(words.number("--opening-limit", 0..=30_000, "0 to 30000 centipawns or off")?.unwrap_or(600)),
    };
    Ok(Rules {
        effort,
        opening_limit,
        win: words.adjudication("--win", Adjudication { score: 2500, plies: 4 })?,
        draw: words.adjudication("--draw", Adjudication { score: 4, plies: 12 })?,
        draw_after: words.number("--draw-after", 0..=10_000, "0 to 10000 plies")?.unwrap_or(80),
        max_plies: words.number("--max-plies", 1..=10_000, "1 to 10000 plies")?.unwrap_or(400),
        random_moves: words.number("--random-moves", 0..=100, "0 to 100 percent")?.unwrap_or(0),
    })
}

/// First bytes of compressed files: zip, gzip, zstd, bzip2, xz.
const PACKED: [&[u8]; 5] = [b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ"];

/// Returns the openings, and the book's entry in the summary.
fn read_openings(words: &Words<'_>) -> Result<(Openings, String), ArgumentError> {
    let Some(path) = words.get("--book").map(PathBuf::from) else {
        return Ok((Openings::random(words.random_plies(8..=9)?), "none".to_owned()));
    };
    let random_plies = words.random_plies(0..=0)?;
    let bad = |why: String| ArgumentError::Book { path: path.clone(), why };
    let bytes = std::fs::read(&path).map_err(|error| bad(error.to_string()))?;
    if PACKED.iter().any(|magic| bytes.starts_with(magic)) {
        return Err(bad("it is compressed; unpack it first".to_owned()));
    }
    let text = String::from_utf8(bytes).map_err(|_| bad("it is not text; give an EPD or FEN file".to_owned()))?;
    let openings = Openings::from_epd(&text, random_plies).map_err(bad)?;
    let hash = nnue::sha256_hex(text.as_bytes());
    let book = format!("{}, {} positions, {hash}{}", path.display(), openings.positions.len(), openings.mark());
    Ok((openings, book))
}

/// Lists all settings that determine the games, except the engine.
fn summary(rules: &Rules, openings: &Openings, seed: u64, hash_mib: usize, book: &str) -> String {
    let Rules { effort, opening_limit, win, draw, draw_after, max_plies, random_moves } = rules;
    let ending = |given: &Option<Adjudication>| {
        given.map_or_else(|| "off".to_owned(), |Adjudication { score, plies }| format!("{score}:{plies}"))
    };
    let effort = match effort {
        Effort::SoftNodes(nodes) => format!("nodes = {nodes}"),
        Effort::Depth(depth) => format!("depth = {depth}"),
    };
    let limit = opening_limit.map_or_else(|| "off".to_owned(), |limit| limit.to_string());
    let random_plies = match openings.random_plies.clone().into_inner() {
        (_, 0) => "0, starts in turn".to_owned(),
        (least, most) => format!("{least}-{most}"),
    };
    format!(
        "seed = {seed}\n{effort}\nhash = {hash_mib}\nbook = {book}\nrandom plies = {random_plies}\n\
         random moves = {random_moves}\nopening limit = {limit}\nwin = {}\ndraw = {}\ndraw after = {draw_after}\n\
         max plies = {max_plies}\n",
        ending(win),
        ending(draw),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_a_job() {
        let words = "--out x.vf --positions 500 --depth 6 --random-plies 1-9 --win off --draw 8:10 --threads 3 --random-moves 7";
        let job = parse(&words.split(' ').collect::<Vec<_>>()).unwrap();
        assert_eq!((job.target, job.threads, job.seed), (Target::Positions(500), 3, 1));
        assert_eq!(job.openings, Openings::random(1..=9));
        assert_eq!((job.rules.effort, job.rules.win), (Effort::Depth(6), None));
        assert_eq!(job.rules.draw, Some(Adjudication { score: 8, plies: 10 }));
        assert_eq!((job.rules.opening_limit, job.rules.random_moves), (Some(600), 7));
    }

    #[test]
    fn bad_words_are_named() {
        for (words, expected) in [
            ("--games 3", "datagen: give `--out FILE`; try `destrier datagen --help`"),
            ("--out a", "datagen: give `--games N` or `--positions N`; try `destrier datagen --help`"),
            ("--out a --games 1 --positions 1", "datagen: give `--games` or `--positions`, not both"),
            ("--out a --games 1 --nodes 5 --depth 1", "datagen: give `--nodes` or `--depth`, not both"),
            ("--out a --games 0", "datagen: bad value `0` of `--games`, expected a whole number of 1 or more"),
            ("--out a --games 1 --games 2", "datagen: `--games` is given twice"),
            ("--out a --games", "datagen: `--games` lacks its value"),
            ("--outt a", "datagen: unknown option `--outt`; try `destrier datagen --help`"),
            ("--out a --games 1 --win 3", "datagen: bad value `3` of `--win`, expected CP:PLIES or off"),
            (
                "--out a --games 1 --random-moves 101",
                "datagen: bad value `101` of `--random-moves`, expected 0 to 100 percent",
            ),
            (
                "--out a --games 1 --evaluation /no/net",
                "datagen: network /no/net: cannot be read: No such file or directory (os error 2)",
            ),
            (
                "--out a --games 2 --random-plies 0",
                "datagen: 2 games of 1 different starts would be copies of each other; give --random-plies, --random-moves, \
                 fewer --games or a --book with more starts",
            ),
            (
                "--out a --games 1 --random-plies 9-1",
                "datagen: bad value `9-1` of `--random-plies`, expected A or A-B, at most 100",
            ),
        ] {
            let error = parse(&words.split(' ').collect::<Vec<_>>()).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
        for words in [
            "--games 1 --random-plies 0",
            "--games 9 --random-plies 0-1",
            "--games 9 --random-plies 0 --random-moves 1",
        ] {
            parse(&format!("--out a {words}").split(' ').collect::<Vec<_>>()).unwrap();
        }
    }
}
