//! Options that an engine advertises, and the check of values against them.

use thiserror::Error;
use vampirc_uci::{UciMessage, UciOptionConfig};

use super::command::{Command, CommandError};
use super::grammar;

/// An advertised option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EngineOption {
    /// Name as the engine spells it. May contain blanks.
    pub name: String,
    /// Type and range of the value.
    pub kind: OptionKind,
}

/// Type of an option, with its default and range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Check {
        /// Value before it is set.
        default: Option<bool>,
    },
    /// A whole number.
    Spin {
        /// Value before it is set.
        default: Option<i64>,
        /// Minimum value, inclusive.
        min: Option<i64>,
        /// Greatest value, inclusive.
        max: Option<i64>,
    },
    /// One of a list of words.
    Combo {
        /// Value before it is set.
        default: Option<String>,
        /// Allowed values.
        vars: Vec<String>,
    },
    /// An action without a value.
    Button,
    /// Any text.
    Str {
        /// Value before it is set; empty for `<empty>`.
        default: Option<String>,
    },
}

impl EngineOption {
    /// Parses an `option name ... type ...` line; `None` if it is not one.
    #[must_use]
    pub fn read(line: &str) -> Option<Self> {
        if is_plain(line)
            && let Some(UciMessage::Option(config)) = grammar::read(line)
        {
            return Some(Self::from(config));
        }
        read_odd(line)
    }

    /// Checks a value and returns the engine's spelling of it; `None` for a button to press.
    ///
    /// # Errors
    /// Returns an error if the option does not take the value.
    pub fn accept(&self, value: &str) -> Result<Option<String>, OptionError> {
        let refuse = |expected: String| {
            Err(OptionError::Value { name: self.name.clone(), value: value.escape_debug().to_string(), expected })
        };
        if value.chars().any(char::is_control) {
            return refuse("one line of plain text".into());
        }
        match &self.kind {
            OptionKind::Check { .. } => match value.to_ascii_lowercase().as_str() {
                word @ ("true" | "false") => Ok(Some(word.to_owned())),
                _ => refuse("`true` or `false`".into()),
            },
            OptionKind::Spin { min, max, .. } => {
                let (min, max) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
                match value.trim().parse::<i64>() {
                    Ok(number) if (min..=max).contains(&number) => Ok(Some(number.to_string())),
                    _ => refuse(format!("a whole number from {min} to {max}")),
                }
            }
            OptionKind::Combo { vars, .. } if !vars.is_empty() => {
                match vars.iter().find(|var| var.eq_ignore_ascii_case(value)) {
                    Some(var) => Ok(Some(var.clone())),
                    None => refuse(format!("one of `{}`", vars.join("`, `"))),
                }
            }
            OptionKind::Button => match value {
                "" | "true" => Ok(None),
                _ => refuse("nothing: it is a button, write `true` to press it".into()),
            },
            OptionKind::Combo { .. } | OptionKind::Str { .. } => Ok(Some(value.to_owned())),
        }
    }
}

/// Appends the `setoption` line for a name in any case, after a check against the advertised
/// options.
///
/// # Errors
/// Returns an error if the engine has no such option (with the most similar name), or if the value
/// is out of range.
pub fn set_option(options: &[EngineOption], name: &str, value: &str, out: &mut Vec<u8>) -> Result<(), OptionError> {
    let Some(option) = options.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
        return Err(OptionError::Unknown {
            name: name.escape_debug().to_string(),
            hint: match nearest(options, name) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("it has {}", list(options)),
            },
        });
    };
    let value = option.accept(value)?;
    Command::SetOption { name: &option.name, value: value.as_deref() }.write(out)?;
    Ok(())
}

fn list(options: &[EngineOption]) -> String {
    const SHOWN: usize = 12;
    if options.is_empty() {
        return "no options".into();
    }
    let names: Vec<&str> = options.iter().take(SHOWN).map(|option| option.name.as_str()).collect();
    let more = if options.len() > SHOWN { ", ..." } else { "" };
    format!("`{}`{more}", names.join("`, `"))
}

fn nearest<'a>(options: &'a [EngineOption], name: &str) -> Option<&'a str> {
    let wanted = name.to_lowercase();
    let limit = (wanted.chars().count() / 3).max(2);
    options
        .iter()
        .map(|option| (strsim::levenshtein(&wanted, &option.name.to_lowercase()), option.name.as_str()))
        .filter(|(far, _)| *far <= limit)
        .min_by_key(|(far, _)| *far)
        .map(|(_, name)| name)
}

/// Reason that an option was not set.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum OptionError {
    /// The engine has no such option.
    #[error("the engine has no option `{name}`: {hint}")]
    Unknown {
        /// Requested name.
        name: String,
        /// The most similar name, or the list of names.
        hint: String,
    },
    /// The option does not take the value.
    #[error("option `{name}` does not take `{value}`: it takes {expected}")]
    Value {
        /// Name as the engine spells it.
        name: String,
        /// Requested value.
        value: String,
        /// Description of the accepted values.
        expected: String,
    },
    /// The engine advertised a name that cannot be sent.
    #[error(transparent)]
    Command(#[from] CommandError),
}

impl From<UciOptionConfig> for EngineOption {
    fn from(config: UciOptionConfig) -> Self {
        let (name, kind) = match config {
            UciOptionConfig::Check { name, default } => (name, OptionKind::Check { default }),
            UciOptionConfig::Spin { name, default, min, max } => (name, OptionKind::Spin { default, min, max }),
            UciOptionConfig::Combo { name, default, var } => (name, OptionKind::Combo { default, vars: var }),
            UciOptionConfig::Button { name } => (name, OptionKind::Button),
            UciOptionConfig::String { name, default } => (name, OptionKind::Str { default }),
        };
        Self { name, kind }
    }
}

/// True if the crate parses the line correctly: `name`, `type`, `default`, `min`, `max`, `var` in
/// this order, and no other word that begins with one of them (it reads `Typeface` as `type`). No
/// number may exceed its 12 digits, and a `spin` has only numbers.
fn is_plain(line: &str) -> bool {
    const KEYWORDS: [&str; 6] = ["name", "type", "default", "min", "max", "var"];
    let is_number = |word: &str| word.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
    let (mut place, mut previous, mut spin) = (0, "", false);
    for word in line.split_ascii_whitespace().skip(1) {
        let lower = word.to_ascii_lowercase();
        if let Some(keyword) = KEYWORDS.iter().position(|keyword| *keyword == word) {
            if keyword < place {
                return false;
            }
            place = if word == "var" { keyword } else { keyword + 1 };
        } else if previous == "type" {
            spin = word == "spin";
        } else if KEYWORDS[1..].iter().any(|keyword| lower.starts_with(keyword))
            || word.len() > 12 && is_number(word)
            || spin && !is_number(word)
        {
            return false;
        }
        previous = word;
    }
    true
}

/// Parses the other lines: keywords in any order, words that begin like keywords, numbers of any
/// length.
fn read_odd(line: &str) -> Option<EngineOption> {
    let words = words_with_places(line);
    let position = |word: &str, from: usize| words.iter().skip(from).position(|w| w.text == word).map(|i| i + from);
    let name_at = (words.first()?.text == "option").then(|| position("name", 1))??;
    let kinds = ["check", "spin", "combo", "button", "string"];
    let type_at = (name_at + 2..words.len())
        .find(|&i| words[i].text == "type" && words.get(i + 1).is_some_and(|kind| kinds.contains(&kind.text)))?;
    let name = line[words[name_at].end..words[type_at].start].trim().to_owned();
    let fields = &words[type_at + 2..];
    let end_of_line = line.trim_end().len();
    let rest_after = |word: &Word<'_>| unquote_empty(line[word.end.min(end_of_line)..end_of_line].trim());
    // A value runs to the next keyword.
    let field = |keyword: &str, stops: &[&str]| -> Vec<String> {
        let starts = fields.iter().enumerate().filter(|(_, word)| word.text == keyword);
        starts
            .map(|(at, word)| {
                let stop = fields[at + 1..].iter().find(|next| stops.contains(&next.text));
                unquote_empty(line[word.end..stop.map_or(end_of_line, |stop| stop.start)].trim())
            })
            .collect()
    };
    let number =
        |keyword: &str| field(keyword, &["default", "min", "max", "var"]).first().and_then(|text| saturating(text));
    let kind = match words[type_at + 1].text {
        "check" => OptionKind::Check { default: field("default", &[]).first().and_then(|text| text.parse().ok()) },
        "spin" => OptionKind::Spin { default: number("default"), min: number("min"), max: number("max") },
        "combo" => {
            let stops = ["default", "var"];
            OptionKind::Combo { default: field("default", &stops).into_iter().next(), vars: field("var", &stops) }
        }
        "button" => OptionKind::Button,
        _ => OptionKind::Str { default: fields.iter().find(|word| word.text == "default").map(rest_after) },
    };
    Some(EngineOption { name, kind })
}

fn unquote_empty(text: &str) -> String {
    if text == "<empty>" { String::new() } else { text.to_owned() }
}

fn saturating(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    Some(text.parse().unwrap_or(if text.starts_with('-') { i64::MIN } else { i64::MAX }))
}

struct Word<'a> {
    text: &'a str,
    start: usize,
    end: usize,
}

fn words_with_places(line: &str) -> Vec<Word<'_>> {
    line.split_ascii_whitespace()
        .map(|text| {
            let start = text.as_ptr().addr() - line.as_ptr().addr();
            Word { text, start, end: start + text.len() }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spin(default: Option<i64>, min: Option<i64>, max: Option<i64>) -> OptionKind {
        OptionKind::Spin { default, min, max }
    }

    fn combo(default: Option<&str>, vars: &[&str]) -> OptionKind {
        OptionKind::Combo { default: default.map(str::to_owned), vars: vars.iter().map(|&v| v.to_owned()).collect() }
    }

    fn text(default: Option<&str>) -> OptionKind {
        OptionKind::Str { default: default.map(str::to_owned) }
    }

    fn check(line: &str, name: &str, kind: OptionKind) {
        assert_eq!(EngineOption::read(line), Some(EngineOption { name: name.into(), kind }), "{line}");
    }

    /// The fallback agrees with the crate on lines that the crate parses correctly.
    #[test]
    fn the_fallback_agrees_with_the_protocol_crate() {
        for line in [
            "option name Hash type spin default 16 min 1 max 33554432",
            "option name Contempt Value type spin default -5 min -100 max 100",
            "option name X type spin",
            "option name Ponder type check default false",
            "option name Clear Hash type button",
            "option name SyzygyPath type string default <empty>",
            "option name Log File type string default a b c",
            "option name Style type combo default Normal var Solid var Normal var Very Risky",
        ] {
            assert!(is_plain(line), "{line}");
            let Some(UciMessage::Option(config)) = grammar::read(line) else { panic!("{line}") };
            assert_eq!(read_odd(line), Some(EngineOption::from(config)), "{line}");
        }
    }

    #[test]
    fn options_as_engines_print_them() {
        check(
            "option name Hash type spin default 16 min 1 max 33554432",
            "Hash",
            spin(Some(16), Some(1), Some(33_554_432)),
        );
        check("option name Ponder type check default false", "Ponder", OptionKind::Check { default: Some(false) });
        check("option name Clear Hash type button", "Clear Hash", OptionKind::Button);
        check("option name SyzygyPath type string default <empty>", "SyzygyPath", text(Some("")));
        check("option name Log type string", "Log", text(None));
        check("option name NalimovPath type string default c:\\", "NalimovPath", text(Some("c:\\")));
        check(
            "option name Style type combo default Normal var Solid var Normal var Risky",
            "Style",
            combo(Some("Normal"), &["Solid", "Normal", "Risky"]),
        );
        check("option name Größe type spin default 1 min 0 max 2", "Größe", spin(Some(1), Some(0), Some(2)));
    }

    #[test]
    fn options_the_protocol_crate_gets_wrong() {
        check("option name Hash type spin min 1 max 128 default 16", "Hash", spin(Some(16), Some(1), Some(128)));
        check("option name Files type string default my minimum files", "Files", text(Some("my minimum files")));
        check(
            "option name Mode type combo default Various var Various var Max",
            "Mode",
            combo(Some("Various"), &["Various", "Max"]),
        );
        check("option name Mode type combo var A var B b default B b", "Mode", combo(Some("B b"), &["A", "B b"]));
        check("option name Typeface type string default x", "Typeface", text(Some("x")));
        check(
            "option name Big type spin default 0 min 0 max 18446744073709551615",
            "Big",
            spin(Some(0), Some(0), Some(i64::MAX)),
        );
        check(
            "option name Book type of type check default true",
            "Book type of",
            OptionKind::Check { default: Some(true) },
        );
        check("option name X type check default maybe", "X", OptionKind::Check { default: None });
        check("option name X type spin default ten min max 5", "X", spin(None, None, Some(5)));
    }

    #[test]
    fn what_is_no_option() {
        for line in [
            "option",
            "option name",
            "option name Hash",
            "option name type spin",
            "option name Hash type",
            "option name Hash type slider default 1",
            "option Hash type spin default 1",
            "name Hash type check",
        ] {
            assert_eq!(EngineOption::read(line), None, "{line}");
        }
    }

    fn advertised() -> Vec<EngineOption> {
        [
            "option name Hash type spin default 16 min 1 max 1024",
            "option name Threads type spin default 1 min 1 max 512",
            "option name UCI_Chess960 type check default false",
            "option name Style type combo default Normal var Solid var Normal",
            "option name Clear Hash type button",
            "option name SyzygyPath type string default <empty>",
        ]
        .map(|line| EngineOption::read(line).unwrap())
        .into()
    }

    fn sent(name: &str, value: &str) -> Result<String, String> {
        let mut out = Vec::new();
        set_option(&advertised(), name, value, &mut out).map_err(|e| e.to_string())?;
        Ok(String::from_utf8(out).unwrap())
    }

    #[test]
    fn values_are_checked_and_spelled_as_the_engine_does() {
        let good = [
            ("hash", "64", "setoption name Hash value 64\n"),
            ("Hash", " 64 ", "setoption name Hash value 64\n"),
            ("uci_chess960", "TRUE", "setoption name UCI_Chess960 value true\n"),
            ("Style", "solid", "setoption name Style value Solid\n"),
            ("Clear Hash", "", "setoption name Clear Hash\n"),
            ("SyzygyPath", "", "setoption name SyzygyPath value <empty>\n"),
            ("SyzygyPath", "/a b/c", "setoption name SyzygyPath value /a b/c\n"),
        ];
        for (name, value, line) in good {
            assert_eq!(sent(name, value).as_deref(), Ok(line));
        }
        let bad = [
            ("Hash", "0", "option `Hash` does not take `0`: it takes a whole number from 1 to 1024"),
            ("Hash", "lots", "option `Hash` does not take `lots`: it takes a whole number from 1 to 1024"),
            ("UCI_Chess960", "yes", "option `UCI_Chess960` does not take `yes`: it takes `true` or `false`"),
            ("Style", "Wild", "option `Style` does not take `Wild`: it takes one of `Solid`, `Normal`"),
            ("SyzygyPath", "a\nquit", "option `SyzygyPath` does not take `a\\nquit`: it takes one line of plain text"),
            ("Thread", "2", "the engine has no option `Thread`: did you mean `Threads`?"),
            (
                "Contempt",
                "2",
                "the engine has no option `Contempt`: it has `Hash`, `Threads`, `UCI_Chess960`, `Style`, `Clear Hash`, `SyzygyPath`",
            ),
        ];
        for (name, value, message) in bad {
            assert_eq!(sent(name, value), Err(message.into()));
        }
    }
}
