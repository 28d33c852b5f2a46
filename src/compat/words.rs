//! Lexer of both dialects: splits a command line into options with their words, and parses words as
//! values.

use std::str::FromStr;

use thiserror::Error;

use crate::text::nearest;

/// Fault of a command line, printed in the form that scripts know.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum UsageError {
    /// Option that cannot be read.
    #[error("Error while reading option \"{option}\" with value \"{value}\"\nReason: {reason}")]
    Option {
        /// Name with its dash.
        option: String,
        /// Words of the option, joined by spaces; empty for an unknown option.
        value: String,
        /// Message for the user.
        reason: String,
    },
    /// Options that contradict each other, or a missing option.
    #[error("Error: {0}")]
    Whole(String),
}

/// Option with the words that follow it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OptionGroup<'a> {
    pub option: &'a str,
    pub words: Vec<&'a str>,
}

impl OptionGroup<'_> {
    /// Error about this option.
    pub(super) fn error(&self, reason: impl Into<String>) -> UsageError {
        UsageError::Option { option: self.option.to_owned(), value: self.words.join(" "), reason: reason.into() }
    }

    /// Returns an error if a word follows the option.
    pub(super) fn none(&self) -> Result<(), String> {
        if self.words.is_empty() { Ok(()) } else { Err("it takes no value".to_owned()) }
    }

    /// Returns the only word, or an error.
    pub(super) fn one(&self) -> Result<&str, String> {
        match self.words.as_slice() {
            [word] => Ok(word),
            _ => Err("it takes exactly one value".to_owned()),
        }
    }

    /// True if there are words, and none is `key=value`. fastchess took files so up to version 1.6,
    /// as cutechess-cli does.
    pub(super) fn is_bare(&self) -> bool {
        !self.words.is_empty() && self.words.iter().all(|word| !word.contains('='))
    }

    /// Returns the `key=value` words, of which there is at least one.
    pub(super) fn pairs(&self) -> Result<Vec<(&str, &str)>, String> {
        if self.words.is_empty() {
            return Err("it takes key=value".to_owned());
        }
        self.any_pairs()
    }

    /// Returns the `key=value` words, if any.
    pub(super) fn any_pairs(&self) -> Result<Vec<(&str, &str)>, String> {
        self.words
            .iter()
            .map(|word| {
                let (key, value) = word.split_once('=').unwrap_or_default();
                if key.is_empty() || value.is_empty() {
                    return Err(format!("it takes key=value, not \"{word}\""));
                }
                Ok((key, value))
            })
            .collect()
    }
}

/// Splits a command line into options. A word with a leading dash begins an option, unless it is a
/// negative number.
///
/// # Errors
/// Error for the first word that belongs to no option or is not in `known`, with the nearest known
/// option.
pub(super) fn groups<'a>(words: &'a [String], known: &[&str]) -> Result<Vec<OptionGroup<'a>>, UsageError> {
    let mut groups: Vec<OptionGroup<'a>> = Vec::new();
    for word in words {
        let bytes = word.as_bytes();
        let begins = bytes.first() == Some(&b'-') && !bytes.get(1).is_some_and(u8::is_ascii_digit);
        match groups.last_mut() {
            Some(group) if !begins => group.words.push(word),
            _ => {
                if !known.contains(&word.as_str()) {
                    return Err(unknown(word, known));
                }
                groups.push(OptionGroup { option: word, words: Vec::new() });
            }
        }
    }
    Ok(groups)
}

fn unknown(word: &str, known: &[&str]) -> UsageError {
    let near = nearest(word.trim_start_matches('-'), known.iter().map(|name| name.trim_start_matches('-')));
    let reason = match near.first() {
        Some(name) => format!("there is no such option; did you mean \"-{name}\"?"),
        None => "there is no such option; -help lists them".to_owned(),
    };
    UsageError::Option { option: word.to_owned(), value: String::new(), reason }
}

/// Message for a key that an option does not have.
pub(super) fn unknown_key(key: &str, value: &str, known: &[&str]) -> String {
    match nearest(key, known.iter().copied()).first() {
        Some(near) => format!("unknown key \"{key}\" with value \"{value}\"; did you mean \"{near}\"?"),
        None => format!("unknown key \"{key}\" with value \"{value}\"; there are {}", known.join(", ")),
    }
}

/// Parses a number of type `T`.
pub(super) fn number<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("\"{word}\" is not a number that fits here"))
}

/// Parses a finite decimal number.
pub(super) fn decimal(word: &str) -> Result<f64, String> {
    word.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| format!("\"{word}\" is not a number"))
}

/// Parses `true` or `false`.
pub(super) fn boolean(word: &str) -> Result<bool, String> {
    match word {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("\"{word}\" is neither true nor false")),
    }
}

/// Parses an interval; 0 means never.
pub(super) fn interval(word: &str) -> Result<Option<u64>, String> {
    number::<u64>(word).map(|n| Some(n).filter(|n| *n > 0))
}

/// Parses a list of CPUs such as `3,5,7-11`.
pub(super) fn cpu_list(text: &str) -> Result<Vec<usize>, String> {
    let refuse = || format!("\"{text}\" is not a list of CPUs, as 3,5,7-11");
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let [first, last] = [first, last].map(str::parse::<usize>);
        let (first, last) = first.ok().zip(last.ok()).ok_or_else(refuse)?;
        // No machine has a CPU with a higher number.
        if last < first || last > 65_535 {
            return Err(refuse());
        }
        cpus.extend(first..=last);
    }
    Ok(cpus)
}
