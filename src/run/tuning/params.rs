//! Parameters of a tuning: from a file, from the engine's options, or as the engine prints them.

use std::path::Path;

use regex::Regex;

use crate::files::{MOST_DOCUMENT_BYTES, read_text};
use crate::run::error::{Result, ResultContext as _, RunError, fail};
use crate::settings::RawPlan;
use crate::source::TunableEngine;
use crate::tournament::formats::tune::Choice;
use crate::tune::engine_options::{CheckOption, Spin, from_options};
use crate::tune::read;
use crate::tune::refused::refusal;
use crate::tune::space::{ParamRows, Space};
use crate::uci::{EngineOption, OptionKind};

/// Maximum number of options in a message.
const LISTED: usize = 12;

/// Parameters of a tuning, with notes for the user.
#[derive(Debug)]
pub(crate) struct ParamSelection {
    pub(crate) space: Space,
    /// The rows that they were read from.
    pub(crate) rows: ParamRows,
    /// Notes on omitted options and on guessed steps.
    pub(crate) notes: Vec<String>,
}

/// Checks where the parameters of a plan come from, as far as that needs no engine.
pub(crate) fn check_choice(raw: &RawPlan) -> Result<()> {
    match (&raw.params, &raw.from_engine) {
        (Some(_), Some(_)) => {
            fail!(Setting, "--params and --from-engine exclude each other; give the one that has the parameters")
        }
        (Some(path), None) => from_file(path).map(drop),
        (None, Some(pattern)) => expression(pattern).map(drop),
        (None, None) => Ok(()),
    }
}

/// Chooses the parameters of a plan, which passed [`check_choice`]; `options` are those of the
/// engine, which was started once.
pub(crate) fn choose(
    raw: &RawPlan,
    method: Choice,
    engine: &TunableEngine,
    options: &[EngineOption],
) -> Result<ParamSelection> {
    let (rows, mut notes) = match (&raw.params, &raw.from_engine) {
        (Some(path), _) => (from_file(path)?, Vec::new()),
        (None, Some(pattern)) => from_engine(&engine.engine.name, pattern, method, options)?,
        (None, None) => match engine.rows()? {
            Some((command, text)) => (read::line_rows(&format!("`{command}`"), &text), Vec::new()),
            None => fail!(
                Setting,
                "no parameters: name a file of them with --params FILE or the engine's own options with --from-engine REGEX, \
                 or set the command that prints them in the [tune] table of its quintain.toml (params)"
            ),
        },
    };
    let rows = rows.select(&raw.only, &raw.skip)?;
    let mut space = rows.check()?;
    if method == Choice::Auto {
        let (whole, names) = space.with_whole_steps();
        space = whole;
        if !names.is_empty() {
            let names = names.join(", ");
            notes.push(format!(
                "a step of 1 for {names}: a whole number takes no shorter one, and `auto` needs real steps"
            ));
        }
    }
    Ok(ParamSelection { space, rows, notes })
}

fn from_file(path: &Path) -> Result<ParamRows> {
    let text =
        read_text(path, MOST_DOCUMENT_BYTES).within(|| format!("--params {}: cannot read it", path.display()))?;
    Ok(read::rows(&path.display().to_string(), &text)?)
}

fn expression(pattern: &str) -> Result<Regex> {
    let one_line = |error: regex::Error| {
        // The message draws the pattern on lines of their own; the last line says what is wrong.
        let text = error.to_string();
        let why = text.lines().last().unwrap_or_default().trim_start_matches("error: ");
        RunError::Setting(format!("--from-engine `{pattern}`: {why}; write a regular expression"))
    };
    Regex::new(pattern).map_err(one_line)
}

/// Makes rows of parameters, with notes, from the spin options whose names match. Factors takes
/// switches only: check options, and spin options of two values.
fn from_engine(
    engine: &str,
    pattern: &str,
    method: Choice,
    options: &[EngineOption],
) -> Result<(ParamRows, Vec<String>)> {
    let expression = expression(pattern)?;
    let wants_switches = method == Choice::Factors;
    let is_taken = |spin: &Spin| !wants_switches || spin.max == spin.min.saturating_add(1);
    let is_usable = |option: &&EngineOption| {
        spin(option).is_some_and(|spin| is_taken(&spin)) || (wants_switches && check(option).is_some())
    };
    let matching: Vec<&EngineOption> = options.iter().filter(|option| expression.is_match(&option.name)).collect();
    if !matching.iter().any(is_usable) {
        let usable = options.iter().filter(is_usable).filter(|option| refusal(&option.name).is_none());
        let names: Vec<String> = usable.map(|option| format!("`{}`", option.name)).collect();
        let more = if names.len() > LISTED { ", ..." } else { "" };
        let has = if names.is_empty() { "none".to_owned() } else { names[..names.len().min(LISTED)].join(", ") + more };
        let kind = if wants_switches { "check option, and no spin option of two values," } else { "spin option" };
        let hint = match matching.iter().find(|option| !wants_switches && check(option).is_some()) {
            Some(check) => format!("; `{}` is a check, for --method factors", check.name),
            None => String::new(),
        };
        fail!(Setting, "--from-engine `{pattern}`: no {kind} of {engine} matches; it has {has}{hint}");
    }
    let (spins, wide): (Vec<Spin>, Vec<Spin>) = matching.iter().copied().filter_map(spin).partition(is_taken);
    let checks: Vec<CheckOption> = matching.iter().copied().filter_map(check).collect();
    let (checks, left_out) = if wants_switches { (checks, Vec::new()) } else { (Vec::new(), checks) };
    let (rows, mut notes) = from_options(&format!("--from-engine `{pattern}`: {engine}"), &spins, &checks);
    notes.extend(left_out.iter().map(|check| format!("{} is left out: a check is for --method factors", check.name)));
    notes.extend(wide.iter().map(|Spin { name, min, max, .. }| {
        format!(
            "{name} is left out: {min} to {max} are more values than on and off; give two of them in a file (--params)"
        )
    }));
    let without_range = matching.iter().filter(|option| lacks_range(option));
    notes.extend(without_range.map(|option| format!("{} is left out: it has no default or no range", option.name)));
    if rows.is_empty() {
        fail!(Setting, "--from-engine `{pattern}`: nothing is left of {engine}'s options; {}", notes.join("; "));
    }
    Ok((rows, notes))
}

fn check(option: &EngineOption) -> Option<CheckOption> {
    match option.kind {
        OptionKind::Check { default: Some(default) } => Some(CheckOption { name: option.name.clone(), default }),
        _ => None,
    }
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
    match option.kind {
        OptionKind::Spin { .. } => spin(option).is_none(),
        OptionKind::Check { default } => default.is_none(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::with_causes;
    use crate::tune::space::Param;

    fn options(lines: &[&str]) -> Vec<EngineOption> {
        lines.iter().map(|line| EngineOption::read(&format!("option name {line}")).unwrap()).collect()
    }

    #[test]
    fn an_engines_own_options_are_chosen_by_name() {
        let options = options(&[
            "Hash type spin default 16 min 1 max 1024",
            "LmrBase type spin default 80 min 20 max 180",
            "LmrFlag type check default true",
            "LmrOdd type spin default 3",
            "Slow Mover type spin default 100 min 10 max 1000",
        ]);
        let by = |method: Choice, pattern: &str| -> Result<(Space, Vec<String>)> {
            let (rows, notes) = from_engine("e", pattern, method, &options)?;
            Ok((rows.check()?, notes))
        };
        let found = |pattern: &str| by(Choice::Auto, pattern);
        let (space, notes) = found("^Lmr").unwrap();
        assert_eq!((space.len(), space.params()[0].name.as_str()), (1, "LmrBase"));
        let left_out = ["LmrFlag is left out: a check is for --method factors"];
        let odd = ["LmrOdd is left out: it has no default or no range"];
        assert_eq!(notes, [left_out, odd].concat());
        let (space, notes) = by(Choice::Factors, "^Lmr").unwrap();
        let wide =
            "LmrBase is left out: 20 to 180 are more values than on and off; give two of them in a file (--params)";
        assert_eq!(
            (space.params(), notes),
            (&[Param::switch("LmrFlag", true)][..], vec![wide.to_owned(), odd.concat()])
        );
        let error = with_causes(&by(Choice::Factors, "Slow").unwrap_err());
        let words = "no check option, and no spin option of two values, of e matches; it has `LmrFlag`";
        assert!(error.ends_with(words), "{error}");
        let (space, notes) = found("").unwrap();
        assert!(space.len() == 2 && notes.len() == 4, "{notes:?}");
        for (pattern, message) in [
            ("^X", "--from-engine `^X`: no spin option of e matches; it has `LmrBase`, `Slow Mover`"),
            (
                "Flag",
                "--from-engine `Flag`: no spin option of e matches; it has `LmrBase`, `Slow Mover`; `LmrFlag` is a \
                 check, for --method factors",
            ),
            ("Hash", "--from-engine `Hash`: nothing is left of e's options; Hash is left out: more of it is better"),
            ("(", "--from-engine `(`: unclosed group; write a regular expression"),
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
        let rows = || from_engine("e", "^Lmr", Choice::Auto, &options).unwrap().0;
        let error = rows().check().unwrap_err().to_string();
        let words = ["--from-engine `^Lmr`: e: max 1000000000000000000 of an int", "or leave it out with --skip"];
        assert!(error.starts_with(words[0]) && error.ends_with(words[1]), "{error}");
        let space = rows().select(&[], &["lmrseed".to_owned()]).unwrap().check().unwrap();
        assert_eq!((space.len(), space.params()[0].name.as_str()), (1, "LmrBase"));
    }
}
