//! Parameters made of an engine's own `spin` and `check` options.

use super::refused::refusal;
use super::space::{DEFAULT_RATE, Param, ParamKind, ParamRows};

/// Steps in a range if nobody says how long a step is; Stockfish's `TUNE` macro makes the same
/// guess.
const STEPS_IN_RANGE: f64 = 20.0;

/// Range over default beyond which a step made from the range is hardly right.
const WIDE_RANGE: f64 = 4.0;

/// A `spin` option as the engine announced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spin {
    /// Name of the option.
    pub name: String,
    /// Default value, in the engine's own unit.
    pub default: i64,
    /// Lowest value that the engine takes.
    pub min: i64,
    /// Highest value that the engine takes.
    pub max: i64,
}

/// A `check` option as the engine announced it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckOption {
    /// Name of the option.
    pub name: String,
    /// Default value.
    pub default: bool,
}

/// Makes a row of each option that can be a parameter, that of a `spin` with a twentieth of
/// the range as its step, or 1 if that is more.
///
/// Each option that is left out, or whose step is doubtful, gets a note. `file` names them in
/// errors.
#[must_use]
pub fn from_options(file: &str, spins: &[Spin], checks: &[CheckOption]) -> (ParamRows, Vec<String>) {
    let mut notes = Vec::new();
    let mut rows = ParamRows::new(file);
    for Spin { name, default, min, max } in spins {
        if let Some(note) = refusal_note(name) {
            notes.push(note);
            continue;
        }
        if min >= max || default < min || default > max {
            notes.push(format!("{name} is left out: default {default} and range {min} to {max} leave nothing to tune"));
            continue;
        }
        let (start, min, max) = (*default as f64, *min as f64, *max as f64);
        let step = ((max - min) / STEPS_IN_RANGE).max(1.0);
        // Of two values the step is certain.
        if max - min > 1.0_f64.max(WIDE_RANGE * start.abs()) {
            notes.push(format!(
                "{name}: the range {min} to {max} is wide compared with the default {start}, so its step of {step} is a \
                 guess; give ranges and steps in a file (--params) if you know better"
            ));
        }
        let param = Param { name: name.clone(), kind: ParamKind::Int, start, min, max, step, rate: DEFAULT_RATE };
        rows.push(name, None, Ok(param));
    }
    for CheckOption { name, default } in checks {
        match refusal_note(name) {
            Some(note) => notes.push(note),
            None => rows.push(name, None, Ok(Param::switch(name, *default))),
        }
    }
    (rows, notes)
}

fn refusal_note(name: &str) -> Option<String> {
    refusal(name).map(|hint| format!("{name} is left out: {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, default: bool) -> CheckOption {
        CheckOption { name: name.to_owned(), default }
    }

    fn spin(name: &str, default: i64, min: i64, max: i64) -> Spin {
        Spin { name: name.to_owned(), default, min, max }
    }

    #[test]
    fn spins_and_checks_become_parameters() {
        let spins = [
            spin("Margin", 80, 20, 180),
            spin("Hash", 16, 1, 1024),
            spin("Wide", 10, 0, 1000),
            spin("Few", 2, 1, 6),
            spin("Two", 0, 0, 1),
            spin("Fixed", 3, 3, 3),
            spin("Odd", 9, 0, 5),
        ];
        let checks = [check("UseNull", true), check("Ponder", false)];
        let (rows, notes) = from_options("engine", &spins, &checks);
        let space = rows.check().expect("five are left");
        let margin = Param {
            name: "Margin".to_owned(),
            kind: ParamKind::Int,
            start: 80.0,
            min: 20.0,
            max: 180.0,
            step: 8.0,
            rate: 0.002,
        };
        assert_eq!(space.params()[0], margin);
        assert_eq!((space.params()[1].name.as_str(), space.params()[1].step), ("Wide", 50.0));
        assert_eq!((space.params()[2].name.as_str(), space.params()[2].step), ("Few", 1.0));
        assert_eq!((space.params()[3].name.as_str(), space.params()[3].step), ("Two", 1.0));
        assert_eq!((space.len(), &space.params()[4]), (5, &Param::switch("UseNull", true)));
        let starts = [
            "Hash is left out: more of it",
            "Wide: the range 0 to 1000",
            "Fixed is left out",
            "Odd is left out",
            "Ponder is left out: it changes",
        ];
        assert_eq!(notes.len(), starts.len(), "{notes:?}");
        for (note, start) in notes.iter().zip(starts) {
            assert!(note.starts_with(start), "{note}");
        }
        let none =
            from_options("engine", &[spin("Threads", 1, 1, 64)], &[]).0.check().map_err(|error| error.to_string());
        assert!(none.as_ref().is_err_and(|message| message.starts_with("engine: no parameters")), "{none:?}");
    }
}
