//! Check that the tuned engine has each parameter and survives its extreme values.

use crate::run::error::{Result, fail};
use crate::run::tuning::params::ParamSelection;
use crate::text::printable;
use crate::tune::space::{Param, ParamKind};
use crate::uci::process::Engine;
use crate::uci::{EngineOption, OptionError, OptionKind, set_option};

/// Checks each parameter against the engine's options. Then sets its least value, greatest value
/// and start, with a new game after each. Returns the failures that the engine reported.
pub(crate) async fn check(engine: &mut Engine, chosen: &ParamSelection) -> Result<Vec<String>> {
    let ParamSelection { space, rows, .. } = chosen;
    let name = engine.config().name.clone();
    for param in space.params() {
        if let Some(why) = fault(param, engine.options()) {
            fail!(Engine, "{}: engine {name}: {why}", rows.place(&param.name));
        }
    }
    engine.take_complaints();
    let mut remarks = Vec::new();
    for param in space.params() {
        for (which, value) in [("least value", param.min), ("greatest value", param.max), ("start", param.start)] {
            let text = param.text(value);
            if let Err(error) = engine.set_options(&[(param.name.clone(), text.clone())]) {
                fail!(Engine, "engine {name}: {error}");
            }
            if let Err(fault) = engine.new_game().await {
                let said = engine.last_words();
                fail!(
                    Engine,
                    "engine {name}: {fault} after `{}` was set to {text}, its {which}{said}; narrow its range, or leave it out with --skip",
                    param.name
                );
            }
            let complaints = engine.take_complaints();
            remarks.extend(complaints.into_iter().map(|said| format!("{} set to {text}: {said}", param.name)));
        }
    }
    Ok(remarks)
}

/// Returns the reason that an engine with these options refuses a parameter, with the remedy.
fn fault(param: &Param, options: &[EngineOption]) -> Option<String> {
    let name = &param.name;
    let sent = set_option(options, name, &param.text(param.start), &mut Vec::new());
    if let Err(error @ OptionError::Unknown { .. }) = sent {
        return Some(format!(
            "{error}; correct the name, leave it out with --skip, or build the engine with its parameters as options \
             ([tune] command in its quintain.toml)"
        ));
    }
    let option = options.iter().find(|option| option.name.eq_ignore_ascii_case(name))?;
    let wrong_kind = |kind: &str| {
        Some(format!(
            "`{name}` is a {kind}; only spin, string and check options can be tuned, leave it out with --skip"
        ))
    };
    match &option.kind {
        OptionKind::Check { .. } if param.kind == ParamKind::Check => None,
        OptionKind::Check { .. } => {
            Some(format!("`{name}` is a check, which is on or off; make the parameter one: `{name}, check, true`"))
        }
        OptionKind::Spin { .. } | OptionKind::Str { .. } if param.kind == ParamKind::Check => {
            Some(format!("`{name}` is no check, and takes neither true nor false; give it a number and a range"))
        }
        OptionKind::Spin { .. } if param.kind == ParamKind::Float => {
            Some(format!("`{name}` is a spin, which takes whole numbers; make the parameter an int"))
        }
        OptionKind::Spin { min, max, .. } => {
            let (least, most) = (min.unwrap_or(i64::MIN), max.unwrap_or(i64::MAX));
            let holds = param.min >= least as f64 && param.max <= most as f64;
            (!holds).then(|| {
                format!(
                    "`{name}` takes {least} to {most}, and its range is {} to {}; narrow the range",
                    param.min, param.max
                )
            })
        }
        // An engine may declare a number as a string without a default, or with an empty one.
        OptionKind::Str { default } => {
            let text = default.as_deref().map_or("", str::trim);
            let is_number = text.is_empty() || text.parse::<f64>().is_ok();
            (!is_number).then(|| {
                format!(
                    "`{name}` is a string, `{}` by default, and no number; leave it out with --skip",
                    printable(text)
                )
            })
        }
        OptionKind::Combo { .. } => wrong_kind("combo"),
        OptionKind::Button => wrong_kind("button"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::read;

    #[test]
    fn a_parameter_must_be_an_option_of_its_kind_and_range() {
        let options: Vec<EngineOption> = [
            "Margin type spin default 80 min 20 max 160",
            "Scale type string default 1.5",
            "Flag type check default true",
            "BookFile type string default book.bin",
            "Blank type string default <empty>",
            "Style type combo default a var a var b",
            "Clear type button",
        ]
        .map(|line| EngineOption::read(&format!("option name {line}")).unwrap())
        .to_vec();
        for (line, words) in [
            ("margin, int, 80, 20, 160, 8, .002", None),
            ("Scale, float, 1, 0, 2, .1, .002", None),
            ("Scale, int, 1, 0, 2, 1, .002", None),
            (
                "Margins, int, 80, 20, 160, 8, .002",
                Some("the engine has no option `Margins`: did you mean `Margin`?; correct the name"),
            ),
            ("Margin, float, 80, 20, 160, 8, .002", Some("is a spin, which takes whole numbers")),
            ("Margin, int, 80, 10, 160, 8, .002", Some("`Margin` takes 20 to 160, and its range is 10 to 160")),
            ("Margin, int, 80, 20, 161, 8, .002", Some("`Margin` takes 20 to 160, and its range is 20 to 161")),
            ("Flag, check, false", None),
            (
                "Flag, int, 0, 0, 1, 1, .002",
                Some("`Flag` is a check, which is on or off; make the parameter one: `Flag, check"),
            ),
            ("Margin, check, true", Some("`Margin` is no check")),
            ("Scale, check, true", Some("`Scale` is no check")),
            ("Blank, float, 1, 0, 2, .1, .002", None),
            ("BookFile, int, 1, 0, 2, 1, .002", Some("`BookFile` is a string, `book.bin` by default, and no number")),
            ("Style, int, 0, 0, 1, 1, .002", Some("`Style` is a combo; only spin, string and check")),
            ("Clear, int, 0, 0, 1, 1, .002", Some("`Clear` is a button")),
        ] {
            let space = read::lines("p", line).unwrap();
            let found = fault(&space.params()[0], &options);
            assert_eq!(found.is_some(), words.is_some(), "{line}: {found:?}");
            assert!(found.is_none_or(|found| words.is_some_and(|words| found.contains(words))), "{line}");
        }
    }
}
