//! Setting of the CPUs that games are pinned to. `schedule::affinity` picks the CPUs.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// CPUs that games are pinned to. Both engines of a game get the same ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Affinity {
    /// No pinning: the operating system schedules freely.
    #[default]
    Off,
    /// Automatic choice from the CPU topology: physical cores before hyper-threads, fast cores
    /// before slow ones.
    Auto,
    /// Listed CPUs, in this order from the first slot on, each at most once.
    Cpus(Vec<usize>),
}

/// A list of CPUs that can't be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{text}` is not a list of CPUs: {reason}; write numbers and ranges such as 3,5,7-11, or auto or off")]
pub struct AffinityError {
    text: String,
    reason: String,
}

/// Bound on CPU numbers. No system has more.
const MOST_CPUS: usize = 1 << 16;

/// Parses a list in the kernel's form, `0,2-3`. Blanks around it are ignored.
///
/// # Errors
/// Returns the fault in words.
pub fn parse_cpus(text: &str) -> Result<Vec<usize>, String> {
    let number = |word: &str| {
        let plain = !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        plain
            .then(|| word.parse().ok())
            .flatten()
            .filter(|cpu| *cpu < MOST_CPUS)
            .ok_or_else(|| format!("`{word}` is no CPU"))
    };
    let mut cpus = Vec::new();
    for part in text.trim().split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(format!("`{part}` runs backwards"));
        }
        for cpu in first..=last {
            if cpus.contains(&cpu) {
                return Err(format!("CPU {cpu} stands twice"));
            }
            cpus.push(cpu);
        }
    }
    Ok(cpus)
}

impl FromStr for Affinity {
    type Err = AffinityError;

    /// Parses `off` or `false`, `auto` or `true`, or a list of CPUs such as `3,5,7-11`.
    fn from_str(text: &str) -> Result<Self, AffinityError> {
        match text {
            "off" | "false" => Ok(Self::Off),
            "auto" | "true" => Ok(Self::Auto),
            list => match parse_cpus(list) {
                Ok(cpus) => Ok(Self::Cpus(cpus)),
                Err(reason) => Err(AffinityError { text: text.to_owned(), reason }),
            },
        }
    }
}

impl fmt::Display for Affinity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Auto => f.write_str("auto"),
            Self::Cpus(cpus) => {
                for (i, cpu) in cpus.iter().enumerate() {
                    write!(f, "{}{cpu}", if i == 0 { "" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lists() {
        let cpus = |list: &[usize]| Ok(Affinity::Cpus(list.to_vec()));
        for (text, expected) in [
            ("off", Ok(Affinity::Off)),
            ("auto", Ok(Affinity::Auto)),
            ("false", Ok(Affinity::Off)),
            ("true", Ok(Affinity::Auto)),
            ("3,5,7-11", cpus(&[3, 5, 7, 8, 9, 10, 11])),
            ("0", cpus(&[0])),
            (" 9-9, 2 \n", cpus(&[9, 2])),
            ("", Err("`` is no CPU")),
            ("1,", Err("`` is no CPU")),
            ("-3", Err("`` is no CPU")),
            ("x", Err("`x` is no CPU")),
            ("+1", Err("`+1` is no CPU")),
            ("5-3", Err("`5-3` runs backwards")),
            ("1-4,3", Err("CPU 3 stands twice")),
            ("0-99999999999999999999", Err("`99999999999999999999` is no CPU")),
            ("0-4000000000", Err("`4000000000` is no CPU")),
        ] {
            let read = text.parse::<Affinity>();
            match expected {
                Ok(expected) => assert_eq!(read, Ok(expected), "{text}"),
                Err(reason) => {
                    let error = read.expect_err(text).to_string();
                    assert_eq!(
                        error,
                        format!(
                            "`{text}` is not a list of CPUs: {reason}; write numbers and ranges such as 3,5,7-11, or auto or off"
                        )
                    );
                }
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_back(text in "[0-9,-]{0,9}|.*") {
            if let Ok(affinity) = text.parse::<Affinity>() {
                prop_assert_eq!(affinity.to_string().parse(), Ok(affinity));
            }
        }
    }
}
