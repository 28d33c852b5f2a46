//! Parsers of values with more than one written form.

use serde::de::Deserializer;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

/// Parses `ELO0,ELO1`, as in a flag.
///
/// # Errors
/// Returns the remedy as an error if the text is not that.
pub fn bounds(text: &str) -> Result<[f64; 2], String> {
    let parse = |part: &str| part.trim().parse::<f64>().ok();
    match text.split_once(',').map(|(low, high)| (parse(low), parse(high))) {
        Some((Some(low), Some(high))) => Ok([low, high]),
        _ => Err("two numbers with a comma between them, such as 0,5".to_owned()),
    }
}

/// Parses `NAME=VALUE`, as in a flag; a button needs no value.
///
/// # Errors
/// Returns the remedy as an error if there is no name.
pub fn option(word: &str) -> Result<(String, String), String> {
    let (name, value) = word.split_once('=').unwrap_or((word, ""));
    if name.trim().is_empty() {
        return Err("write NAME=VALUE, such as Hash=16".to_owned());
    }
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Writes UCI options as pairs, because a TOML table has no order.
pub(super) fn pairs<S: Serializer>(options: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    options.serialize(serializer)
}

/// A switch, or a text that says more.
#[derive(Deserialize, schemars::JsonSchema)]
#[serde(untagged, expecting = "expected true, false, or a list of CPUs such as \"3,5,7-11\"")]
pub(super) enum Switch {
    On(bool),
    Text(String),
}

/// Reads `true`, `false`, or a text as for `--affinity`.
pub(super) fn affinity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Ok(Some(match Switch::deserialize(deserializer)? {
        Switch::On(true) => "auto".to_owned(),
        Switch::On(false) => "off".to_owned(),
        Switch::Text(text) => text,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_two_numbers() {
        assert_eq!(bounds("-3,1"), Ok([-3.0, 1.0]));
        assert_eq!(bounds(" 0 , 5 "), Ok([0.0, 5.0]));
        assert!(bounds("5").is_err() && bounds("a,b").is_err());
    }

    #[test]
    fn options_have_a_name() {
        let pair = |name: &str, value: &str| Ok((name.to_owned(), value.to_owned()));
        for (word, expected) in
            [("Hash=16", pair("Hash", "16")), ("Clear Hash", pair("Clear Hash", "")), ("Path=a=b", pair("Path", "a=b"))]
        {
            assert_eq!(option(word), expected);
        }
        assert!(option("=1").is_err() && option(" ").is_err());
    }
}
