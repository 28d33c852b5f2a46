//! The TOML a user writes: a plan's keys, all optional, and how files and flags are laid over one another.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use thiserror::Error;

/// A plan as written: every key optional, values not yet checked against each other.
///
/// `new` to `allow-same` belong to a test, `format` to `players` to games of any number of engines; what does not belong is refused where
/// the plan is resolved. A relative `book`, `out`, `pgn` or `epd` is relative to the current directory, in a file as on the command line.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawPlan {
    /// Spec of the tested engine.
    pub new: Option<String>,
    /// Spec of the reference engine.
    pub base: Option<String>,
    /// What to call the tested engine, where not by its own name.
    pub new_name: Option<String>,
    /// What to call the reference engine, where not by its own name.
    pub base_name: Option<String>,
    /// UCI options of both.
    #[serde(deserialize_with = "options")]
    pub options: Vec<(String, String)>,
    /// UCI options of `new`.
    #[serde(deserialize_with = "options")]
    pub new_options: Vec<(String, String)>,
    /// UCI options of `base`.
    #[serde(deserialize_with = "options")]
    pub base_options: Vec<(String, String)>,
    /// The hypotheses in Elo of the model.
    pub bounds: Option<[f64; 2]>,
    /// What the bounds are measured in.
    pub model: Option<String>,
    /// Probability of accepting H1 where H0 is true.
    pub alpha: Option<f64>,
    /// Probability of accepting H0 where H1 is true.
    pub beta: Option<f64>,
    /// Pairs after which the run stops.
    pub max_pairs: Option<u64>,
    /// Time for which bounds are chosen, and after which the run stops: `90s`, `30m`, `8h`.
    pub budget: Option<String>,
    /// Play a program against itself.
    pub allow_same: Option<bool>,
    /// `round-robin`, `gauntlet`, `swiss` or `knockout`.
    pub format: Option<String>,
    /// Pairs that any two players who meet play.
    pub pairs: Option<u64>,
    /// How many of the players are a gauntlet's heroes: the first ones.
    pub heroes: Option<u16>,
    /// Rounds of a Swiss.
    pub rounds: Option<u32>,
    /// Play a match without the engines that are not installed.
    pub skip_missing: Option<bool>,
    /// Who plays.
    pub players: Vec<RawPlayer>,
    /// Time after which the run stops: `90s`, `30m`, `8h`.
    pub max_time: Option<String>,
    /// Elo either way at which the 95 % intervals are narrow enough to stop.
    pub until_width: Option<f64>,
    /// Clock of both.
    pub tc: Option<String>,
    /// Clock of `new`.
    pub new_tc: Option<String>,
    /// Clock of `base`.
    pub base_tc: Option<String>,
    /// Seconds a move.
    pub movetime: Option<f64>,
    /// Nodes a move.
    pub nodes: Option<u64>,
    /// Plies a move.
    pub depth: Option<u32>,
    /// Grace on every move in milliseconds.
    pub margin_ms: Option<f64>,
    /// Seconds after which a search without a clock counts as hanging.
    pub stall_timeout: Option<f64>,
    /// Seconds an engine may take to say `uciok`, and again `readyok` before a game.
    pub start_timeout: Option<f64>,
    /// Opening book.
    pub book: Option<PathBuf>,
    /// `random` or `sequential`.
    pub book_order: Option<String>,
    /// Plies taken from each PGN game.
    pub book_plies: Option<u32>,
    /// The first opening taken, from 1.
    pub book_start: Option<u64>,
    /// Chess960 rules and castling.
    pub chess960: Option<bool>,
    /// Draw rule, as `--draw` takes it.
    pub draw: Option<String>,
    /// Resign rule, as `--resign` takes it.
    pub resign: Option<String>,
    /// A draw after so many plies of play.
    pub max_plies: Option<u32>,
    /// Engines think on their opponent's time.
    pub ponder: Option<bool>,
    /// Folders with Syzygy tables, joined as `PATH` is.
    pub syzygy: Option<String>,
    /// Positions with more men are played on, whatever the tables have.
    pub syzygy_pieces: Option<u32>,
    /// Wins that the fifty-move rule would turn into draws are wins.
    pub syzygy_ignore_50: Option<bool>,
    /// `both`, `win-loss` or `draw`.
    pub syzygy_adjudicate: Option<String>,
    /// Games at once.
    pub concurrency: Option<u16>,
    /// Allow more games at once than one for each CPU under a clock, 64 without.
    pub force_concurrency: Option<bool>,
    /// True for CPUs that the program chooses, or a list of CPUs, as `--affinity` takes it.
    #[serde(deserialize_with = "affinity")]
    pub affinity: Option<String>,
    /// Start the engines anew for each game.
    pub restart: Option<bool>,
    /// Play a pair again where the machine made an engine lose on time.
    pub void_disturbed: Option<bool>,
    /// Share of the games that may be lost on time before the run stops, as `--max-time-losses` takes it.
    pub max_time_losses: Option<String>,
    /// Failures after which the run stops.
    pub max_failures: Option<u64>,
    /// Decides the order of openings.
    pub seed: Option<u64>,
    /// The run's directory.
    pub out: Option<PathBuf>,
    /// What to call the run.
    pub name: Option<String>,
    /// A further PGN.
    pub pgn: Option<PathBuf>,
    /// What its comments say, as `--pgn-fields` takes it.
    pub pgn_fields: Option<String>,
    /// `san`, `lan` or `uci`.
    pub pgn_notation: Option<String>,
    /// Only the roster and the moves.
    pub pgn_min: Option<bool>,
    /// Groups of tags, as `--pgn-tags` takes them.
    pub pgn_tags: Option<String>,
    /// `export` or `runner`.
    pub pgn_style: Option<String>,
    /// An EPD of final positions.
    pub epd: Option<PathBuf>,
    /// The PGN's event.
    pub event: Option<String>,
    /// The PGN's site.
    pub site: Option<String>,
    /// Keep principal variations in the journal.
    pub record_pv: Option<bool>,
    /// Keep the lines of output that these regular expressions match.
    pub match_line: Vec<String>,
}

/// A player as written. What it says of its own wins over what the plan says of all.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RawPlayer {
    /// Where the engine comes from, as `--new` takes it.
    pub spec: Option<String>,
    /// What to call it, where not by the engine's name.
    pub name: Option<String>,
    /// UCI options.
    #[serde(deserialize_with = "options")]
    pub options: Vec<(String, String)>,
    /// Clock.
    pub tc: Option<String>,
    /// Seconds a move.
    pub movetime: Option<f64>,
    /// Nodes a move.
    pub nodes: Option<u64>,
    /// Plies a move.
    pub depth: Option<u32>,
}

/// Why a plan file could not be used.
#[derive(Debug, Error)]
pub enum ConfigError {
    /// The file could not be read.
    #[error("cannot read the plan {}: {source}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// The file is no plan.
    #[error("{0}")]
    Toml(TomlError),
}

/// What is wrong in a TOML file and where; prints as `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlError {
    /// Which file.
    pub path: PathBuf,
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    /// One line.
    pub message: String,
}

impl fmt::Display for TomlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: {}", self.path.display(), self.line, self.column, self.message)
    }
}

impl std::error::Error for TomlError {}

impl RawPlan {
    /// Reads a plan file.
    ///
    /// # Errors
    /// When the file cannot be read, is not TOML, or has an unknown key or a value of the wrong type.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ConfigError::Read { path: path.to_path_buf(), source })?;
        from_toml(path, &text).map_err(ConfigError::Toml)
    }

    /// This plan's keys, and `lower`'s where this one is silent. Engine options are merged name by name. What both sides may spend
    /// on a move is one thing: where this plan says it, all that `lower` says of it gives way.
    #[must_use]
    pub fn over(self, mut lower: Self) -> Self {
        if self.tc.is_some() || self.movetime.is_some() || self.nodes.is_some() || self.depth.is_some() {
            (lower.tc, lower.new_tc, lower.base_tc) = (None, None, None);
            (lower.movetime, lower.nodes, lower.depth) = (None, None, None);
        }
        Self {
            new: self.new.or(lower.new),
            base: self.base.or(lower.base),
            new_name: self.new_name.or(lower.new_name),
            base_name: self.base_name.or(lower.base_name),
            options: merge(self.options, lower.options),
            new_options: merge(self.new_options, lower.new_options),
            base_options: merge(self.base_options, lower.base_options),
            bounds: self.bounds.or(lower.bounds),
            model: self.model.or(lower.model),
            alpha: self.alpha.or(lower.alpha),
            beta: self.beta.or(lower.beta),
            max_pairs: self.max_pairs.or(lower.max_pairs),
            budget: self.budget.or(lower.budget),
            allow_same: self.allow_same.or(lower.allow_same),
            format: self.format.or(lower.format),
            pairs: self.pairs.or(lower.pairs),
            heroes: self.heroes.or(lower.heroes),
            rounds: self.rounds.or(lower.rounds),
            players: if self.players.is_empty() { lower.players } else { self.players },
            skip_missing: self.skip_missing.or(lower.skip_missing),
            max_time: self.max_time.or(lower.max_time),
            until_width: self.until_width.or(lower.until_width),
            book: self.book.or(lower.book),
            book_order: self.book_order.or(lower.book_order),
            book_plies: self.book_plies.or(lower.book_plies),
            book_start: self.book_start.or(lower.book_start),
            chess960: self.chess960.or(lower.chess960),
            draw: self.draw.or(lower.draw),
            resign: self.resign.or(lower.resign),
            max_plies: self.max_plies.or(lower.max_plies),
            ponder: self.ponder.or(lower.ponder),
            syzygy: self.syzygy.or(lower.syzygy),
            syzygy_pieces: self.syzygy_pieces.or(lower.syzygy_pieces),
            syzygy_ignore_50: self.syzygy_ignore_50.or(lower.syzygy_ignore_50),
            syzygy_adjudicate: self.syzygy_adjudicate.or(lower.syzygy_adjudicate),
            tc: self.tc.or(lower.tc),
            new_tc: self.new_tc.or(lower.new_tc),
            base_tc: self.base_tc.or(lower.base_tc),
            movetime: self.movetime.or(lower.movetime),
            nodes: self.nodes.or(lower.nodes),
            depth: self.depth.or(lower.depth),
            margin_ms: self.margin_ms.or(lower.margin_ms),
            stall_timeout: self.stall_timeout.or(lower.stall_timeout),
            start_timeout: self.start_timeout.or(lower.start_timeout),
            concurrency: self.concurrency.or(lower.concurrency),
            force_concurrency: self.force_concurrency.or(lower.force_concurrency),
            affinity: self.affinity.or(lower.affinity),
            restart: self.restart.or(lower.restart),
            void_disturbed: self.void_disturbed.or(lower.void_disturbed),
            max_time_losses: self.max_time_losses.or(lower.max_time_losses),
            max_failures: self.max_failures.or(lower.max_failures),
            seed: self.seed.or(lower.seed),
            out: self.out.or(lower.out),
            name: self.name.or(lower.name),
            pgn: self.pgn.or(lower.pgn),
            pgn_fields: self.pgn_fields.or(lower.pgn_fields),
            pgn_notation: self.pgn_notation.or(lower.pgn_notation),
            pgn_min: self.pgn_min.or(lower.pgn_min),
            pgn_tags: self.pgn_tags.or(lower.pgn_tags),
            pgn_style: self.pgn_style.or(lower.pgn_style),
            epd: self.epd.or(lower.epd),
            event: self.event.or(lower.event),
            site: self.site.or(lower.site),
            record_pv: self.record_pv.or(lower.record_pv),
            match_line: if self.match_line.is_empty() { lower.match_line } else { self.match_line },
        }
    }
}

/// `upper`'s options over `lower`'s; UCI names do not tell upper case from lower.
fn merge(upper: Vec<(String, String)>, lower: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut merged: Vec<_> = lower
        .into_iter()
        .filter(|(name, _)| !upper.iter().any(|(other, _)| other.eq_ignore_ascii_case(name)))
        .collect();
    merged.extend(upper);
    merged
}

/// Reads a TOML document into `T`; `path` is for the message.
///
/// # Errors
/// With place and remedy when the text is not TOML or does not fit `T`.
pub fn from_toml<T: serde::de::DeserializeOwned>(path: &Path, text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| {
        let (line, column) = place(text, error.span());
        TomlError { path: path.to_path_buf(), line, column, message: explain(error.message()) }
    })
}

fn place(text: &str, span: Option<Range<usize>>) -> (usize, usize) {
    let before = span.and_then(|span| text.get(..span.start)).unwrap_or("");
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// The parser's message on one line; an unknown key gets the nearest known one as remedy.
fn explain(message: &str) -> String {
    let message = message.lines().map(str::trim).collect::<Vec<_>>().join("; ");
    let Some(rest) = message.strip_prefix("unknown field `") else { return message };
    let mut words = rest.split('`');
    let unknown = words.next().unwrap_or_default();
    let known: Vec<&str> = words.skip(1).step_by(2).collect();
    match nearest(unknown, known.iter().copied()).first() {
        Some(key) => format!("unknown key `{unknown}`, did you mean `{key}`?"),
        None if known.is_empty() => format!("unknown key `{unknown}`; remove it"),
        None => format!("unknown key `{unknown}`; keys are {}", known.join(", ")),
    }
}

/// The names most like `word`, best first; none where all are far.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    let limit = (word.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = names
        .map(|name| (distance(&word, &name.to_lowercase()), name))
        .filter(|&(far, name)| far <= limit || (word.len() >= 3 && name.to_lowercase().starts_with(&word)))
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Edits between two words: insertions, deletions, substitutions.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let cost = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// A TOML table of strings, numbers and booleans as UCI options, in the parser's order.
///
/// # Errors
/// When a value is an array or a table.
pub fn options<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<(String, String)>, D::Error> {
    struct Options;

    impl<'de> Visitor<'de> for Options {
        type Value = Vec<(String, String)>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a table of options, as in { Hash = 16 }")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut options = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, OptionValue>()? {
                options.push((name, value.0));
            }
            Ok(options)
        }
    }

    deserializer.deserialize_map(Options)
}

/// `true`, `false`, or a text as `--affinity` takes it.
fn affinity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected true, false, or a list of CPUs such as \"3,5,7-11\"")]
    enum Value {
        Switch(bool),
        Text(String),
    }
    Ok(Some(match Value::deserialize(deserializer)? {
        Value::Switch(true) => "auto".to_owned(),
        Value::Switch(false) => "off".to_owned(),
        Value::Text(text) => text,
    }))
}

/// An option's value as it goes to the engine.
struct OptionValue(String);

impl<'de> Deserialize<'de> for OptionValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Value;

        impl Visitor<'_> for Value {
            type Value = OptionValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, a number or a boolean")
            }

            fn visit_str<E>(self, value: &str) -> Result<OptionValue, E> {
                Ok(OptionValue(value.to_owned()))
            }

            fn visit_bool<E>(self, value: bool) -> Result<OptionValue, E> {
                Ok(OptionValue(value.to_string()))
            }

            fn visit_i64<E>(self, value: i64) -> Result<OptionValue, E> {
                Ok(OptionValue(value.to_string()))
            }

            fn visit_u64<E>(self, value: u64) -> Result<OptionValue, E> {
                Ok(OptionValue(value.to_string()))
            }

            fn visit_f64<E>(self, value: f64) -> Result<OptionValue, E> {
                Ok(OptionValue(value.to_string()))
            }
        }

        deserializer.deserialize_any(Value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<RawPlan, String> {
        from_toml(Path::new("p.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn shipped_plans_parse() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
        let read = |name: &str| RawPlan::read(&root.join(name)).unwrap();
        let stc = read("sprt-stc.toml");
        assert_eq!((stc.tc.as_deref(), stc.bounds), (Some("8+0.08"), Some([0.0, 5.0])));
        let ltc = read("sprt-ltc.toml");
        assert_eq!((ltc.tc.as_deref(), ltc.bounds), (Some("40+0.4"), Some([0.5, 2.5])));
        let smoke = read("smoke.toml");
        assert_eq!((smoke.nodes, smoke.max_pairs, smoke.bounds), (Some(5000), Some(8), Some([0.0, 50.0])));
    }

    #[test]
    fn options_take_any_scalar() {
        let plan = parse("[new-options]\nHash = 16\nPonder = false\nBook = \"a b\"\n").unwrap();
        let mut options = plan.new_options;
        options.sort();
        let want = [("Book", "a b"), ("Hash", "16"), ("Ponder", "false")];
        assert_eq!(options, want.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn a_limit_takes_the_place_of_all_limits() {
        let file = || parse("tc = \"8+0.08\"\nnew-tc = \"4+0.04\"\nseed = 3\n").unwrap();
        let nodes = RawPlan { nodes: Some(100), ..RawPlan::default() }.over(file());
        assert_eq!((nodes.tc, nodes.new_tc, nodes.nodes, nodes.seed), (None, None, Some(100), Some(3)));
        let base = RawPlan { base_tc: Some("2+0.02".to_owned()), ..RawPlan::default() }.over(file());
        let [tc, new, base] = [base.tc, base.new_tc, base.base_tc].map(Option::unwrap);
        assert_eq!([tc.as_str(), &new, &base], ["8+0.08", "4+0.04", "2+0.02"]);
    }

    #[test]
    fn errors_name_the_place_and_the_remedy() {
        let error = parse("tc = \"8+0.08\"\nmax_pair = 5\n").unwrap_err();
        assert_eq!(error, "p.toml:2:1: unknown key `max_pair`, did you mean `max-pairs`?");
        let error = parse("nodes = \"many\"\n").unwrap_err();
        assert!(error.starts_with("p.toml:1:9: invalid type"), "{error}");
        let error = parse("nodes = \n").unwrap_err();
        assert!(error.starts_with("p.toml:1:") && !error.contains('\n'), "{error}");
        let error = parse("\n[options]\nHash = [1]\n").unwrap_err();
        assert!(error.starts_with("p.toml:3:8: ") && error.contains("a string, a number"), "{error}");
    }

    #[test]
    fn affinity_is_a_switch_or_a_list() {
        for (text, expected) in [("true", Some("auto")), ("false", Some("off")), ("\"3,5\"", Some("3,5"))] {
            assert_eq!(parse(&format!("affinity = {text}\n")).unwrap().affinity.as_deref(), expected, "{text}");
        }
        assert_eq!(parse("").unwrap().affinity, None);
        let error = parse("affinity = 3\n").unwrap_err();
        assert!(error.starts_with("p.toml:1:12: expected true, false"), "{error}");
    }

    #[test]
    fn upper_keys_win() {
        let upper = parse("max-pairs = 5\noptions = { hash = 1 }").unwrap();
        let lower = parse("max-pairs = 6\nseed = 7\noptions = { Hash = 2, Threads = 3 }").unwrap();
        let plan = upper.over(lower);
        assert_eq!((plan.max_pairs, plan.seed), (Some(5), Some(7)));
        assert_eq!(plan.options, [("Threads".into(), "3".into()), ("hash".into(), "1".into())]);
    }
}
