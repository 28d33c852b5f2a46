//! The command line cut into options with their words, and words into values. Shared by both dialects.

use std::str::FromStr;

use thiserror::Error;

use crate::text::nearest;

/// A command line that says nothing that could be played. Printed in the form that scripts know.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum UsageError {
    /// An option that can't be read.
    #[error("Error while reading option \"{option}\" with value \"{value}\"\nReason: {reason}")]
    Option {
        /// With its dash.
        option: String,
        /// Its last word, or all of them.
        value: String,
        /// In words.
        reason: String,
    },
    /// Options that do not go together, or one that is missing.
    #[error("Error: {0}")]
    Whole(String),
}

/// One option with the words that follow it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Group<'a> {
    pub option: &'a str,
    pub words: Vec<&'a str>,
}

impl Group<'_> {
    /// The error of this option.
    pub(super) fn error(&self, reason: impl Into<String>) -> UsageError {
        UsageError::Option { option: self.option.to_owned(), value: self.words.join(" "), reason: reason.into() }
    }

    /// No word.
    pub(super) fn none(&self) -> Result<(), String> {
        if self.words.is_empty() { Ok(()) } else { Err("it takes no value".to_owned()) }
    }

    /// Exactly one word.
    pub(super) fn one(&self) -> Result<&str, String> {
        match self.words.as_slice() {
            [word] => Ok(word),
            _ => Err("it takes exactly one value".to_owned()),
        }
    }

    /// `key=value`, at least one.
    pub(super) fn pairs(&self) -> Result<Vec<(&str, &str)>, String> {
        if self.words.is_empty() {
            return Err("it takes key=value".to_owned());
        }
        self.any_pairs()
    }

    /// `key=value`, or nothing.
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

/// Cuts a command line into options. A word that begins with a dash begins an option, unless it is a negative number.
///
/// # Errors
/// The first word that belongs to no option, or is an option that is not `known` (with the nearest ones that are).
pub(super) fn groups<'a>(words: &'a [String], known: &[&str]) -> Result<Vec<Group<'a>>, UsageError> {
    let mut groups: Vec<Group<'a>> = Vec::new();
    for word in words {
        let bytes = word.as_bytes();
        let begins = bytes.first() == Some(&b'-') && !bytes.get(1).is_some_and(u8::is_ascii_digit);
        match groups.last_mut() {
            Some(group) if !begins => group.words.push(word),
            _ => {
                if !known.contains(&word.as_str()) {
                    return Err(unknown(word, known));
                }
                groups.push(Group { option: word, words: Vec::new() });
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

/// What to say of a key that an option does not have.
pub(super) fn unknown_key(key: &str, value: &str, known: &[&str]) -> String {
    match nearest(key, known.iter().copied()).first() {
        Some(near) => format!("unknown key \"{key}\" with value \"{value}\"; did you mean \"{near}\"?"),
        None => format!("unknown key \"{key}\" with value \"{value}\"; there are {}", known.join(", ")),
    }
}

/// A number of any kind.
pub(super) fn number<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("\"{word}\" is not a number that fits here"))
}

/// A finite decimal number.
pub(super) fn decimal(word: &str) -> Result<f64, String> {
    word.parse().ok().filter(|x: &f64| x.is_finite()).ok_or_else(|| format!("\"{word}\" is not a number"))
}

/// `true` or `false`.
pub(super) fn boolean(word: &str) -> Result<bool, String> {
    match word {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("\"{word}\" is neither true nor false")),
    }
}

/// A number of which 0 means never.
pub(super) fn interval(word: &str) -> Result<Option<u64>, String> {
    number::<u64>(word).map(|n| Some(n).filter(|n| *n > 0))
}

/// `3,5,7-11`
pub(super) fn cpu_list(text: &str) -> Result<Vec<usize>, String> {
    let refuse = || format!("\"{text}\" is not a list of CPUs, as 3,5,7-11");
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let [first, last] = [first, last].map(str::parse::<usize>);
        let (first, last) = first.ok().zip(last.ok()).ok_or_else(refuse)?;
        // No machine has a CPU of a higher number.
        if last < first || last > 65_535 {
            return Err(refuse());
        }
        cpus.extend(first..=last);
    }
    Ok(cpus)
}
