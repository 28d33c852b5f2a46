//! Text from and for users: TOML files and the position of a fault in them, suggestions for
//! misspelt names, markup, SHA-256 in hex, and the removal of control characters from text of other
//! programs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use sha2::{Digest as _, Sha256};

use crate::os;

/// Fault in a TOML file with its position; prints as `file:line:column: message`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TomlError {
    /// The file.
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

/// An error and its causes on one line, the outermost first. A cause that the text before it
/// contains is left out.
pub fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes
        .map(ToString::to_string)
        .fold(error.to_string(), |text, cause| if text.contains(&cause) { text } else { format!("{text}: {cause}") })
}

/// Bytes as lowercase hex digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing into memory cannot fail.
        let _ = fmt::Write::write_fmt(&mut text, format_args!("{byte:02x}"));
        text
    })
}

/// SHA-256 of bytes, in hex.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// True if a text has 1 to `most` of the characters that names of hubs' users may have: a-z, 0-9
/// and `-`. They are safe in subjects and names of files.
#[must_use]
pub fn is_user_name(text: &str, most: usize) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=most).contains(&text.len()) && text.bytes().all(fits)
}

/// SHA-256 of everything that a reader holds, in hex. Large files are never in memory as a whole.
///
/// # Errors
/// Returns the errors of the reader.
pub fn sha256_of(mut from: impl Read) -> io::Result<String> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(hex(&hasher.finalize())),
            Ok(count) => hasher.update(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// SHA-256 of a file, as by [`sha256_of`].
///
/// # Errors
/// Returns an error if the file cannot be opened or read.
pub fn file_sha256(path: impl AsRef<Path>) -> io::Result<String> {
    sha256_of(File::open(path)?)
}

/// Base64 with padding (RFC 4648, section 4).
#[must_use]
pub fn base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// 128 random bits as hexadecimal digits, for tokens and passwords.
///
/// # Errors
/// Returns an error if the system has no random numbers.
pub fn random_hex() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

/// Rows of cells under their heads, as lines with columns as wide as their texts. `#` before a head
/// marks a column of numbers, which are right-aligned.
#[must_use]
pub fn columns(heads: &[&str], rows: &[Vec<String>]) -> Vec<String> {
    let mut lines = vec![String::new(); rows.len() + 1];
    for (column, head) in heads.iter().enumerate() {
        let (is_number, head) = head.strip_prefix('#').map_or((false, *head), |head| (true, head));
        let cells = || rows.iter().map(|row| row.get(column).map_or("", String::as_str));
        let texts = || std::iter::once(head).chain(cells());
        let width = texts().map(console::measure_text_width).max().unwrap_or(0);
        let side = if is_number { console::Alignment::Right } else { console::Alignment::Left };
        for (line, text) in lines.iter_mut().zip(texts()) {
            if column > 0 {
                *line += "  ";
            }
            *line += &console::pad_str(text, width, side, None);
        }
    }
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// Field in the syntax of RFC 4180.
#[must_use]
pub fn csv_field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

/// Word as a shell reads it back: in single quotes, unless it has only letters that no shell
/// interprets.
pub(crate) fn shell_word(word: &str) -> String {
    // On Windows a backslash is a letter of paths.
    let is_plain =
        |c: char| c.is_ascii_alphanumeric() || "_./:@%+=,-".contains(c) || c == '\\' && !os::BACKSLASH_ESCAPES;
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        // The other kind quotes a quote, because a backslash does not everywhere.
        format!("'{}'", word.replace('\'', "'\"'\"'"))
    }
}

/// Path as a word of a command line that a user may copy.
pub(crate) fn shell_path(path: &Path) -> String {
    shell_word(&path.display().to_string())
}

/// Reads a TOML document into `T`; `path` is for the message.
///
/// # Errors
/// Returns an error with position and remedy if the text is not TOML or does not fit `T`.
pub fn from_toml<T: serde::de::DeserializeOwned>(path: &Path, text: &str) -> Result<T, TomlError> {
    toml::from_str(text).map_err(|error| {
        let (line, column) = place(text, error.span());
        let mut message = explain(error.message());
        if message.starts_with("invalid ")
            && let Some(key) = key_before(text, error.span())
        {
            message = format!("`{key}`: {message}");
        }
        TomlError { path: path.to_path_buf(), line, column, message }
    })
}

/// Key whose value begins at `span`; `None` if the value begins on a later line than the key.
fn key_before(text: &str, span: Option<Range<usize>>) -> Option<&str> {
    let line = text.get(..span?.start)?.lines().next_back()?;
    let key = line.trim_end().strip_suffix('=')?.trim_end();
    key.rsplit(['{', ',']).next().map(str::trim).filter(|key| !key.is_empty())
}

fn place(text: &str, span: Option<Range<usize>>) -> (usize, usize) {
    let before = span.and_then(|span| text.get(..span.start)).unwrap_or("");
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}

/// The parser's message on one line; an unknown key gets the nearest known one as remedy.
fn explain(message: &str) -> String {
    let message = message.lines().map(str::trim).collect::<Vec<_>>().join("; ");
    if let Some((_, length)) = message.split_once("expected an array of length ") {
        return format!("{message}; write {length} values in brackets, separated by commas");
    }
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

/// The first names, at most `most`, and how many more there are: `a, b and 2 more`.
pub(crate) fn listed(names: &[&str], most: usize) -> String {
    let (shown, rest) = names.split_at(names.len().min(most));
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    shown.join(", ") + &more
}

/// Number with its noun: `1 pair`, `2 pairs`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The names most like `word`, best first; none if all are far.
#[must_use]
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let word = word.to_lowercase().replace('_', "-");
    let limit = (word.chars().count() / 3).max(1);
    let mut near: Vec<(usize, &str)> = names
        .map(|name| (strsim::levenshtein(&word, &name.to_lowercase()), name))
        .filter(|&(far, name)| far <= limit || (word.len() >= 3 && name.to_lowercase().starts_with(&word)))
        .collect();
    near.sort_unstable();
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Remedy for a word that is none of `names`: the one most like it, and all of them after `all`.
#[must_use]
pub fn suggestion(word: &str, names: &[&str], all: &str) -> String {
    let near = nearest(word, names.iter().copied());
    let near = near.first().map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    format!("{near}{all} {}", names.join(", "))
}

/// First eight digits of a commit id or a hash.
#[must_use]
pub fn short_hash(hash: &str) -> &str {
    hash.get(..8).unwrap_or(hash)
}

/// Text for XML and HTML: markup escaped, line ends as spaces, characters that XML
/// forbids replaced.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ => out.push(c),
        }
    }
    out
}

/// Character in the place of one that a terminal could obey.
const REPLACEMENT: char = '\u{fffd}';

/// One line without control characters: its author must not be able to move the cursor or start a
/// line.
#[must_use]
pub fn printable(text: &str) -> String {
    text.replace(char::is_control, REPLACEMENT.encode_utf8(&mut [0; 4]))
}

/// Several lines without control characters but for tabs and line ends.
#[must_use]
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    let is_obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    if text.contains(is_obeyed) {
        Cow::Owned(text.replace(is_obeyed, REPLACEMENT.encode_utf8(&mut [0; 4])))
    } else {
        Cow::Borrowed(text)
    }
}

/// Beginning of a text as a message quotes it: printable, and of at most `longest` characters.
#[must_use]
pub fn excerpt(text: &str, longest: usize) -> String {
    let cut = text.char_indices().nth(longest).map(|(at, _)| at);
    let mut shown = printable(&text[..cut.unwrap_or(text.len())]);
    if cut.is_some() {
        shown.push('…');
    }
    shown
}

/// UCI options as they are written, for the JSON Schema.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
pub enum OptionTable {
    /// Values by name.
    Table(BTreeMap<String, OptionScalar>),
    /// Names and values, in the order in which they are sent.
    Pairs(Vec<(String, OptionScalar)>),
}

/// Value of a UCI option as it is written, for the JSON Schema.
#[derive(schemars::JsonSchema)]
#[serde(untagged)]
pub enum OptionScalar {
    /// Text of a string or a combo box; empty for a button.
    Text(String),
    /// Number of a spin box.
    Number(f64),
    /// State of a check box.
    Switch(bool),
}

/// A TOML table of strings, numbers and booleans as UCI options, in the parser's order, or an array
/// of pairs in its own.
///
/// # Errors
/// If a value is an array or a table.
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

        fn visit_seq<A: SeqAccess<'de>>(self, mut pairs: A) -> Result<Self::Value, A::Error> {
            let mut options = Vec::new();
            while let Some((name, value)) = pairs.next_element::<(String, OptionValue)>()? {
                options.push((name, value.0));
            }
            Ok(options)
        }
    }

    deserializer.deserialize_any(Options)
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

    #[test]
    fn markup_is_escaped_and_forbidden_characters_replaced() {
        for (text, expected) in [("a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;"), ("a\nb\tc\0", "a b c\u{fffd}")] {
            assert_eq!(escaped(text), expected);
        }
    }

    #[test]
    fn base64_as_in_the_rfc() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    /// `abc` and a million `a` are examples of the standard (FIPS 180-4).
    #[test]
    fn sha256_as_in_the_standard() {
        for (bytes, expected) in [
            (b"abc".to_vec(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (vec![b'a'; 1_000_000], "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ] {
            assert_eq!(sha256(&bytes), expected);
            assert_eq!(sha256_of(bytes.as_slice()).unwrap(), expected);
        }
    }

    #[test]
    fn a_cause_is_told_once() {
        #[derive(Debug, thiserror::Error)]
        #[error("{0}")]
        struct Layer(&'static str, #[source] Option<Box<Layer>>);
        let error = |texts: [&'static str; 3]| {
            texts.into_iter().rev().fold(None, |inner, text| Some(Box::new(Layer(text, inner)))).unwrap()
        };
        for (texts, expected) in [
            (["b.epd: cannot be read", "no file", "error 2"], "b.epd: cannot be read: no file: error 2"),
            (["b.epd: no file", "no file", "error 2"], "b.epd: no file: error 2"),
            (["no file", "no file", "no file"], "no file"),
        ] {
            assert_eq!(with_causes(&*error(texts)), expected);
        }
    }

    #[test]
    fn near_names_are_found_whatever_their_case() {
        let names = ["Hash", "Threads", "MultiPV"];
        for (word, expected) in [("hsah", None), ("hashs", Some("Hash")), ("thread", Some("Threads")), ("x", None)] {
            assert_eq!(nearest(word, names.into_iter()).first().copied(), expected, "{word}");
        }
    }

    #[test]
    fn one_is_no_plural() {
        assert_eq!([0, 1, 2].map(|number| count(number, "pair")), ["0 pairs", "1 pair", "2 pairs"]);
    }

    #[test]
    fn a_terminal_gets_nothing_to_obey() {
        for (text, one_line, lines) in [
            ("plain, ünïcode ½", "plain, ünïcode ½", "plain, ünïcode ½"),
            ("\x1b[2J\x1b]0;x\x07", "\u{fffd}[2J\u{fffd}]0;x\u{fffd}", "\u{fffd}[2J\u{fffd}]0;x\u{fffd}"),
            ("a\tb\nc\rd", "a\u{fffd}b\u{fffd}c\u{fffd}d", "a\tb\nc\u{fffd}d"),
            ("\u{9b}2J\u{7f}", "\u{fffd}2J\u{fffd}", "\u{fffd}2J\u{fffd}"),
        ] {
            assert_eq!(printable(text), one_line, "{text:?}");
            assert_eq!(printable_lines(text), lines, "{text:?}");
        }
    }

    #[test]
    fn an_excerpt_is_cut_between_characters() {
        for (text, shown) in [("½½½", "½½½"), ("½½½½", "½½½…"), ("a\x1bbc", "a\u{fffd}b…"), ("", "")] {
            assert_eq!(excerpt(text, 3), shown, "{text:?}");
        }
    }

    #[test]
    fn fields_are_quoted_where_needed() {
        assert_eq!(csv_field("a b"), "a b");
        assert_eq!(csv_field("a,\"b\""), "\"a,\"\"b\"\"\"");
    }

    #[test]
    fn words_are_quoted_for_a_shell_if_it_would_change_them() {
        for (word, expected) in [
            ("results/runs/20260101-120000-sprt", "results/runs/20260101-120000-sprt"),
            ("a_b@c:d%e+f=g,h", "a_b@c:d%e+f=g,h"),
            ("my runs/a", "'my runs/a'"),
            ("$HOME/a;b", "'$HOME/a;b'"),
            ("it's", "'it'\"'\"'s'"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(word), expected);
            assert_eq!(shell_path(Path::new(word)), expected);
        }
    }
}
