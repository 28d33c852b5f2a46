//! Rules that the referee applies besides those of chess. `game::adjudicate` applies them.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::stored::{PlanFileError, parse, seconds};
use crate::chess::Variant;

/// Rules besides those of chess, the same for both sides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Chess variant, which decides the castling rules.
    pub variant: Variant,
    /// Draw adjudication by scores of both engines.
    pub draw: Option<DrawRule>,
    /// Resign adjudication by a side's own scores.
    pub resign: Option<ResignRule>,
    /// Plies after which a game is a draw, book plies not counted.
    pub max_plies: Option<u32>,
    /// True if all engines under a clock think on their opponent's time.
    pub ponder: bool,
    /// True if engines get the position after the last irreversible move, and the moves since,
    /// instead of all moves of the game.
    pub short_position: bool,
    /// Adjudication by Syzygy endgame tables.
    pub syzygy: Option<SyzygyRule>,
    /// Grace on every move before the flag falls.
    pub margin: Duration,
    /// Time after which an engine without a clock (nodes, depth) counts as stalled.
    pub stall_timeout: Duration,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            variant: Variant::Standard,
            draw: None,
            resign: None,
            max_plies: None,
            ponder: false,
            short_position: false,
            syzygy: None,
            margin: Duration::from_millis(10),
            stall_timeout: Duration::from_secs(60),
        }
    }
}

/// Draw if both engines report scores near zero for a number of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DrawRule {
    /// First full moves without adjudication, book moves included. The move number of a book
    /// position counts, unless `from_start` is set.
    pub move_number: u32,
    /// True to count moves from the book's position on, as cutechess-cli does.
    pub from_start: bool,
    /// Consecutive full moves, from 1; twice as many plies.
    pub count: u32,
    /// Largest distance from zero, in centipawns, of a drawish score.
    pub score_cp: u32,
}

/// Loss of a side that has reported lost scores for a number of moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResignRule {
    /// Consecutive moves of the losing side, from 1. With `two_sided`, the winner's moves between
    /// them count too.
    pub count: u32,
    /// Minimum distance from zero, in centipawns, of a lost score (and of a won one, with
    /// `two_sided`).
    pub score_cp: u32,
    /// True if the winner's scores must agree.
    pub two_sided: bool,
}

/// Adjudication by endgame tables right after a capture or pawn move. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SyzygyRule {
    /// Folders with `.rtbw` files. Of two files of one name the first is used.
    pub paths: Arc<[PathBuf]>,
    /// Maximum number of men, kings included, of an adjudicated position; `None` for no limit but
    /// that of the tables.
    pub pieces: Option<u32>,
    /// True to count wins that the fifty-move rule would turn into draws.
    pub ignore_fifty: bool,
    /// Results that end a game.
    pub scope: SyzygyScope,
}

/// Table results that end a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SyzygyScope {
    /// Wins, losses and draws.
    #[default]
    Both,
    /// Wins and losses; games in drawn positions continue.
    WinLoss,
    /// Draws; games in won and lost positions continue.
    Draw,
}

impl SyzygyRule {
    /// Creates the rule for folders joined as in `PATH` (`:`, on Windows `;`), with all results.
    /// Relative folders are made absolute, because a run may be resumed elsewhere.
    ///
    /// # Errors
    /// Returns an error for an empty list and for a folder without a name.
    pub fn new(paths: &str) -> Result<Self, RuleError> {
        let fault = |reason: &str| RuleError {
            text: paths.to_owned(),
            rule: "syzygy",
            reason: reason.to_owned(),
            example: "/path/to/tables, or several with the separator of PATH between them",
        };
        let folders: Vec<_> = std::env::split_paths(paths).collect();
        if paths.trim().is_empty() || folders.iter().any(|folder| folder.as_os_str().is_empty()) {
            return Err(fault("a folder has no name"));
        }
        let absolute = |folder: &PathBuf| std::path::absolute(folder).map_err(|error| fault(&error.to_string()));
        let paths = folders.iter().map(absolute).collect::<Result<_, _>>()?;
        Ok(Self { paths, pieces: None, ignore_fifty: false, scope: SyzygyScope::default() })
    }

    /// Sets the limit on men, 2 to 32.
    ///
    /// # Errors
    /// Returns an error for a number of men that no position has.
    pub fn with_pieces(self, pieces: u32) -> Result<Self, RuleError> {
        if (2..=32).contains(&pieces) {
            return Ok(Self { pieces: Some(pieces), ..self });
        }
        let reason = "a position has 2 to 32 pieces and pawns, kings included".to_owned();
        Err(RuleError { text: pieces.to_string(), rule: "syzygy-pieces", reason, example: "a number such as 6" })
    }

    /// Folders as one text, which [`new`](Self::new) reads back.
    #[must_use]
    pub fn paths_text(&self) -> String {
        std::env::join_paths(self.paths.iter()).unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl FromStr for SyzygyScope {
    type Err = RuleError;

    /// Parses `both`, `win-loss` or `draw`.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        [Self::Both, Self::WinLoss, Self::Draw].into_iter().find(|scope| scope.to_string() == text).ok_or_else(|| {
            let reason = "it names no kind of result".to_owned();
            RuleError { text: text.to_owned(), rule: "syzygy-adjudicate", reason, example: "both, win-loss or draw" }
        })
    }
}

impl fmt::Display for SyzygyScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Both => "both",
            Self::WinLoss => "win-loss",
            Self::Draw => "draw",
        })
    }
}

/// A rule's text that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a {rule} rule: {reason}; write {example}")]
pub struct RuleError {
    text: String,
    rule: &'static str,
    reason: String,
    example: &'static str,
}

/// Keys of a rule's text, each at most once. A key without a value has the value "".
struct Keys<'a> {
    pairs: Vec<(&'a str, &'a str)>,
}

impl<'a> Keys<'a> {
    fn read(text: &'a str, known: &[&str]) -> Result<Self, String> {
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for part in text.split(',').map(str::trim) {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            if !known.contains(&key) {
                return Err(format!("`{part}` is none of {}", known.join(", ")));
            }
            if pairs.iter().any(|(seen, _)| *seen == key) {
                return Err(format!("`{key}` stands twice"));
            }
            pairs.push((key, value));
        }
        Ok(Self { pairs })
    }

    fn get(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|(seen, _)| *seen == key).map(|(_, value)| *value)
    }

    /// True if the key is there without a value or with `true`.
    fn flag(&self, key: &str) -> Result<bool, String> {
        match self.get(key) {
            None | Some("false") => Ok(false),
            Some("" | "true") => Ok(true),
            Some(_) => Err(format!("`{key}` has no value, or true or false")),
        }
    }

    /// Whole number from `min` to `i32::MAX`, the range of scores.
    fn number(&self, key: &str, min: u32) -> Result<u32, String> {
        let value = self.get(key).ok_or_else(|| format!("`{key}` is missing"))?;
        let plain = value.bytes().all(|b| b.is_ascii_digit()).then(|| value.parse::<u32>().ok()).flatten();
        let max = i32::MAX.unsigned_abs();
        plain.filter(|n| (min..=max).contains(n)).ok_or_else(|| format!("`{key}` is a whole number from {min}"))
    }
}

impl FromStr for DrawRule {
    type Err = RuleError;

    /// Parses `move=34,count=8,score=20[,from-start]`. `move` may be left out and is then 0.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let read = || {
            let keys = Keys::read(text, &["move", "count", "score", "from-start"])?;
            let move_number = if keys.get("move").is_some() { keys.number("move", 0)? } else { 0 };
            let from_start = keys.flag("from-start")?;
            Ok(Self { move_number, from_start, count: keys.number("count", 1)?, score_cp: keys.number("score", 0)? })
        };
        let example = "move=34,count=8,score=20";
        read().map_err(|reason| RuleError { text: text.to_owned(), rule: "draw", reason, example })
    }
}

impl fmt::Display for DrawRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let from_start = if self.from_start { ",from-start" } else { "" };
        write!(f, "move={},count={},score={}{from_start}", self.move_number, self.count, self.score_cp)
    }
}

impl FromStr for ResignRule {
    type Err = RuleError;

    /// Parses `count=3,score=600[,twosided]`.
    fn from_str(text: &str) -> Result<Self, RuleError> {
        let read = || {
            let keys = Keys::read(text, &["count", "score", "twosided"])?;
            let two_sided = keys.flag("twosided")?;
            Ok(Self { count: keys.number("count", 1)?, score_cp: keys.number("score", 1)?, two_sided })
        };
        let example = "count=3,score=600 or count=3,score=600,twosided";
        read().map_err(|reason| RuleError { text: text.to_owned(), rule: "resign", reason, example })
    }
}

impl fmt::Display for ResignRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "count={},score={}{}", self.count, self.score_cp, if self.two_sided { ",twosided" } else { "" })
    }
}

/// Table `rules` of a `plan.toml`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RulesV1 {
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
    /// Absent if false: versions before it read such plans.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    short_position: bool,
    /// Folders, joined as in `PATH`.
    #[serde(skip_serializing_if = "Option::is_none")]
    syzygy: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    syzygy_pieces: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    syzygy_ignore_50: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    syzygy_adjudicate: Option<String>,
}

impl From<&Rules> for RulesV1 {
    fn from(rules: &Rules) -> Self {
        let syzygy = rules.syzygy.as_ref();
        Self {
            chess960: rules.variant == Variant::Chess960,
            margin_ms: rules.margin.as_secs_f64() * 1e3,
            stall_timeout_s: rules.stall_timeout.as_secs_f64(),
            draw: rules.draw.map(|rule| rule.to_string()),
            resign: rules.resign.map(|rule| rule.to_string()),
            max_plies: rules.max_plies,
            ponder: rules.ponder,
            short_position: rules.short_position,
            syzygy: syzygy.map(SyzygyRule::paths_text),
            syzygy_pieces: syzygy.and_then(|rule| rule.pieces),
            syzygy_ignore_50: syzygy.map(|rule| rule.ignore_fifty),
            syzygy_adjudicate: syzygy.map(|rule| rule.scope.to_string()),
        }
    }
}

impl RulesV1 {
    /// Converts the table to rules.
    pub(super) fn read(&self) -> Result<Rules, PlanFileError> {
        Ok(Rules {
            variant: if self.chess960 { Variant::Chess960 } else { Variant::Standard },
            margin: seconds("rules.margin_ms", self.margin_ms / 1e3)?,
            stall_timeout: seconds("rules.stall_timeout_s", self.stall_timeout_s)?,
            draw: self.draw.as_deref().map(|text| parse::<DrawRule>("rules.draw", text)).transpose()?,
            resign: self.resign.as_deref().map(|text| parse::<ResignRule>("rules.resign", text)).transpose()?,
            max_plies: self.max_plies,
            ponder: self.ponder,
            short_position: self.short_position,
            syzygy: syzygy_from_disk(self)?,
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn rule_texts() {
        for text in ["move=34,count=8,score=20", "move=0,count=1,score=0", "move=9,count=1,score=0,from-start"] {
            assert_eq!(text.parse::<DrawRule>().expect(text).to_string(), text);
        }
        for text in ["count=3,score=600", "count=3,score=600,twosided"] {
            assert_eq!(text.parse::<ResignRule>().expect(text).to_string(), text);
        }
        let rule = DrawRule { move_number: 0, from_start: false, count: 2, score_cp: 5 };
        assert_eq!("score=5, count=2".parse(), Ok(rule));
        assert_eq!("count=3,score=600,twosided=false".parse(), "count=3,score=600".parse::<ResignRule>());
        let bad_draws = [
            ("", "`` is none of move, count, score, from-start"),
            ("count=8", "`score` is missing"),
            ("score=8", "`count` is missing"),
            ("count=0,score=8", "`count` is a whole number from 1"),
            ("count=8,score=-1", "`score` is a whole number from 0"),
            ("count=8,score=2147483648", "`score` is a whole number from 0"),
            ("count=,score=1", "`count` is a whole number from 1"),
            ("count=8,score=1,count=8", "`count` stands twice"),
            ("count=8,score=1,from-start=2", "`from-start` has no value, or true or false"),
            ("count=8,score=1,twosided", "`twosided` is none of move, count, score, from-start"),
        ];
        for (text, reason) in bad_draws {
            let error = text.parse::<DrawRule>().expect_err(text).to_string();
            let expected = format!("`{text}` is not a draw rule: {reason}; write move=34,count=8,score=20");
            assert_eq!(error, expected);
        }
        for text in ["count=3", "count=3,score=0", "count=3,score=1,twosided=maybe", "move=1,count=3,score=600"] {
            let error = text.parse::<ResignRule>().expect_err(text).to_string();
            assert!(error.starts_with(&format!("`{text}` is not a resign rule: ")), "{error}");
        }
    }

    #[test]
    fn short_positions_are_written_where_they_are_on() {
        for short_position in [false, true] {
            let rules = Rules { short_position, ..Rules::default() };
            let text = toml::to_string(&RulesV1::from(&rules)).unwrap();
            assert_eq!(text.contains("short_position"), short_position, "{text}");
            assert_eq!(toml::from_str::<RulesV1>(&text).unwrap().read().unwrap(), rules);
        }
    }

    #[test]
    fn table_folders() {
        let here = std::env::current_dir().unwrap();
        let both = std::env::join_paths([here.join("a"), PathBuf::from("b")]).unwrap();
        let rule = SyzygyRule::new(both.to_str().unwrap()).unwrap();
        assert_eq!(*rule.paths, [here.join("a"), here.join("b")]);
        assert_eq!(SyzygyRule::new(&rule.paths_text()), Ok(rule.clone()));
        assert_eq!(rule.clone().with_pieces(6).map(|rule| rule.pieces), Ok(Some(6)));
        let gap = std::env::join_paths(["a", "", "b"]).unwrap();
        for text in ["", " ", gap.to_str().unwrap()] {
            let error = SyzygyRule::new(text).expect_err(text).to_string();
            assert!(error.contains("a folder has no name"), "{error}");
        }
        for pieces in [0, 1, 33] {
            let error = rule.clone().with_pieces(pieces).expect_err("a number").to_string();
            assert!(error.contains("2 to 32"), "{error}");
        }
        for text in ["both", "win-loss", "draw"] {
            assert_eq!(text.parse::<SyzygyScope>().expect(text).to_string(), text);
        }
        let error = "wins".parse::<SyzygyScope>().expect_err("wins").to_string();
        assert!(error.ends_with("write both, win-loss or draw"), "{error}");
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*", near in "(move|count|score|twosided|[=,0-9a-z -]){0,12}") {
            for text in [text, near] {
                if let Ok(rule) = text.parse::<DrawRule>() {
                    prop_assert_eq!(rule.to_string().parse(), Ok(rule));
                }
                if let Ok(rule) = text.parse::<ResignRule>() {
                    prop_assert_eq!(rule.to_string().parse(), Ok(rule));
                }
            }
        }
    }
}
