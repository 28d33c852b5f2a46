//! Parameters of a tuning: from a file, from the engine's options, or as the engine prints them.

use std::path::Path;

use regex::Regex;

use crate::files::{MOST_DOCUMENT_BYTES, read_text};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::settings::RawPlan;
use crate::source::TunableEngine;
use crate::tune::read;
use crate::tune::space::{ParamRows, Space};
use crate::tune::spin::{self, Spin};
use crate::uci::{EngineOption, OptionKind};

/// Maximum number of options in a message.
const LISTED: usize = 12;

/// Parameters of a tuning, with notes for the user.
#[derive(Debug)]
pub(crate) struct ParamSelection {
    pub(crate) space: Space,
    /// Notes on omitted options and on guessed steps.
    pub(crate) notes: Vec<String>,
}

/// Chooses the parameters of a plan; `options` are those of the engine, which was started once.
pub(crate) fn choose(raw: &RawPlan, engine: &TunableEngine, options: &[EngineOption]) -> Result<ParamSelection> {
    let (rows, notes) = match (&raw.params, &raw.from_engine) {
        (Some(_), Some(_)) => {
            fail!(Setting, "--params and --from-engine exclude each other; give the one that has the parameters")
        }
        (Some(path), None) => (from_file(path)?, Vec::new()),
        (None, Some(pattern)) => from_spins(&engine.engine.name, pattern, options)?,
        (None, None) => match engine.rows()? {
            Some((command, text)) => (read::line_rows(&format!("`{command}`"), &text), Vec::new()),
            None => fail!(
                Setting,
                "no parameters: name a file of them with --params FILE or the engine's own options with --from-engine REGEX, \
                 or set the command that prints them in the [tune] table of its quintain.toml (params)"
            ),
        },
    };
    Ok(ParamSelection { space: rows.select(&raw.only, &raw.skip)?.check()?, notes })
}

fn from_file(path: &Path) -> Result<ParamRows> {
    let text =
        read_text(path, MOST_DOCUMENT_BYTES).within(|| format!("--params {}: cannot read it", path.display()))?;
    Ok(read::rows(&path.display().to_string(), &text)?)
}

/// Makes rows of parameters, with notes, from the spin options whose names match.
fn from_spins(engine: &str, pattern: &str, options: &[EngineOption]) -> Result<(ParamRows, Vec<String>)> {
    let expression = Regex::new(pattern).map_err(RunError::value("--from-engine"))?;
    let spins: Vec<Spin> = options.iter().filter_map(spin).collect();
    let matching: Vec<Spin> = spins.iter().filter(|spin| expression.is_match(&spin.name)).cloned().collect();
    if matching.is_empty() {
        let names: Vec<String> = spins.iter().take(LISTED).map(|spin| format!("`{}`", spin.name)).collect();
        let more = if spins.len() > LISTED { ", ..." } else { "" };
        let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") + more };
        fail!(Setting, "--from-engine `{pattern}`: no spin option of {engine} matches; it has {has}");
    }
    let (rows, mut notes) = spin::from_spins(&format!("--from-engine `{pattern}`: {engine}"), &matching);
    let without_range = options.iter().filter(|option| expression.is_match(&option.name) && lacks_range(option));
    notes.extend(without_range.map(|option| format!("{} is left out: it has no default or no range", option.name)));
    Ok((rows, notes))
}

fn spin(option: &EngineOption) -> Option<Spin> {
    match option.kind {
        OptionKind::Spin { default: Some(default), min: Some(min), max: Some(max) } => {
            Some(Spin { name: option.name.clone(), default, min, max })
        }
        _ => None,
    }
}

fn lacks_range(option: &EngineOption) -> bool {
    matches!(option.kind, OptionKind::Spin { .. }) && spin(option).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::with_causes;

    fn options(lines: &[&str]) -> Vec<EngineOption> {
        lines.iter().map(|line| EngineOption::read(&format!("option name {line}")).unwrap()).collect()
    }

    #[test]
    fn an_engines_own_spins_are_chosen_by_name() {
        let options = options(&[
            "Hash type spin default 16 min 1 max 1024",
            "LmrBase type spin default 80 min 20 max 180",
            "LmrFlag type check default true",
            "LmrOdd type spin default 3",
            "Slow Mover type spin default 100 min 10 max 1000",
        ]);
        let found = |pattern: &str| -> Result<(Space, Vec<String>)> {
            let (rows, notes) = from_spins("e", pattern, &options)?;
            Ok((rows.check()?, notes))
        };
        let (space, notes) = found("^Lmr").unwrap();
        assert_eq!((space.len(), space.params()[0].name.as_str()), (1, "LmrBase"));
        assert_eq!(notes, ["LmrOdd is left out: it has no default or no range"]);
        let (space, notes) = found("").unwrap();
        assert!(space.len() == 2 && notes.len() == 3, "{notes:?}");
        for (pattern, message) in [
            ("^X", "--from-engine `^X`: no spin option of e matches; it has `Hash`, `LmrBase`, `Slow Mover`"),
            ("Flag", "--from-engine `Flag`: no spin option of e matches; it has `Hash`, `LmrBase`, `Slow Mover`"),
            ("Hash", "--from-engine `Hash`: e: no parameters"),
            ("(", "--from-engine: regex parse error"),
        ] {
            let error = with_causes(&found(pattern).unwrap_err());
            assert!(error.starts_with(message), "{error}");
        }
    }

    #[test]
    fn a_spin_too_large_to_tune_can_be_left_out() {
        let options = options(&[
            "LmrBase type spin default 80 min 20 max 180",
            "LmrSeed type spin default 0 min 0 max 1000000000000000000",
        ]);
        let rows = || from_spins("e", "^Lmr", &options).unwrap().0;
        let error = rows().check().unwrap_err().to_string();
        let words = ["--from-engine `^Lmr`: e: max 1000000000000000000 of an int", "or leave it out with --skip"];
        assert!(error.starts_with(words[0]) && error.ends_with(words[1]), "{error}");
        let space = rows().select(&[], &["lmrseed".to_owned()]).unwrap().check().unwrap();
        assert_eq!((space.len(), space.params()[0].name.as_str()), (1, "LmrBase"));
    }
}
