//! Tuned values as text: lines for other programs, and options for a plan.

use std::fmt::Write as _;

use super::space::{Param, ParamFault, ParamKind, Space, SpaceError};

/// Parameters that other programs can still tune, with their values, and with steps that fit their
/// ranges. A range that was narrowed to one value leaves nothing to tune, and no other program
/// tunes switches.
fn tunable<'a>(space: &'a Space, values: &'a [f64]) -> impl Iterator<Item = (&'a Param, f64, f64)> {
    let rows =
        space.params().iter().zip(values).filter(|(param, _)| param.min < param.max && param.kind != ParamKind::Check);
    rows.map(|(param, value)| (param, *value, param.step.min(param.max - param.min)))
}

/// Lines `name, kind, start, min, max, c_end, r_end` as OpenBench reads them, with `values` as the
/// new starts. Parameters with a single value and switches are left out.
#[must_use]
pub fn openbench(space: &Space, values: &[f64]) -> String {
    tunable(space, values).fold(String::new(), |mut out, (param, value, step)| {
        // Writing into memory cannot fail.
        let _ = writeln!(
            out,
            "{}, {}, {value}, {}, {}, {}, {}",
            param.name,
            param.kind.name(),
            param.min,
            param.max,
            step,
            param.rate
        );
        out
    })
}

/// Lines `name,start,min,max,c_end,r_end` as fishtest reads them, with `values` as the new starts.
/// Parameters with a single value and switches are left out.
///
/// # Errors
/// A parameter that is a `float`: fishtest rounds every value.
pub fn fishtest(space: &Space, values: &[f64]) -> Result<String, SpaceError> {
    let mut out = String::new();
    for (param, value, step) in tunable(space, values) {
        if param.kind == ParamKind::Float {
            return Err(SpaceError::of("fishtest's lines", ParamFault::FloatLine { name: param.name.clone() }));
        }
        let _ = writeln!(out, "{},{value},{},{},{step},{}", param.name, param.min, param.max, param.rate);
    }
    Ok(out)
}

/// Lines `name, value` with the values that the engine takes, OpenBench's summary of a tune.
#[must_use]
pub fn values(space: &Space, values: &[f64]) -> String {
    space.params().iter().zip(values).fold(String::new(), |mut out, (param, value)| {
        let _ = writeln!(out, "{}, {}", param.name, param.text(*value));
        out
    })
}

/// The table `[options]` of a plan with the values that the engine takes.
#[must_use]
pub fn options(space: &Space, values: &[f64]) -> String {
    let mut out = String::from("[options]\n");
    for (param, value) in space.params().iter().zip(values) {
        let value = param.text(*value);
        // A float goes to a `string` option, so its text is kept as it is.
        let value = if param.kind == ParamKind::Float { format!("\"{value}\"") } else { value };
        let _ = writeln!(out, "{} = {value}", toml::Value::from(param.name.as_str()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::super::space::RangeEnd;
    use super::*;

    const LINES: &str = "Margin, int, 80, 20, 160, 8, 0.002\nOdd \"name\", int, -3.25, -9, 9, 0.5, 0.002\n";

    #[test]
    fn lines_are_read_back_with_their_new_starts() {
        let space = read::lines("p", LINES).expect("sound");
        let moved = [91.375, -4.0];
        for text in [openbench(&space, &moved), fishtest(&space, &moved).expect("only ints")] {
            let again = read::lines("again", &text).expect("our own lines");
            assert_eq!(again.start(), moved, "{text}");
            assert_eq!(openbench(&again, &space.start()), LINES);
        }
        let float = read::lines("p", "a, float, 1, 0, 2, 0.1, 0.002").expect("sound");
        let refused = fishtest(&float, &[1.5]).map_err(|error| error.to_string());
        assert!(refused.as_ref().is_err_and(|message| message.contains("a is a float")), "{refused:?}");
    }

    /// Both readers refuse a step longer than its range, and a range of one value.
    #[test]
    fn lines_of_narrowed_ranges_are_read_back() {
        let mut space = read::lines("p", LINES).expect("sound");
        space.move_end(0, RangeEnd::Min, 80.0);
        space.move_end(0, RangeEnd::Max, 83.0);
        let lines = openbench(&space, &[82.5, -4.0]);
        assert_eq!(lines.lines().next(), Some("Margin, int, 82.5, 80, 83, 3, 0.002"));
        space.move_end(0, RangeEnd::Max, 80.0);
        for text in [openbench(&space, &[80.0, -4.0]), fishtest(&space, &[80.0, -4.0]).expect("only ints")] {
            assert_eq!(read::lines("again", &text).expect("our own lines").start(), [-4.0], "{text}");
        }
    }

    #[test]
    fn options_and_values_are_what_the_engine_takes() {
        let text = format!("{LINES}Scale, float, 0.5, 0, 2, 0.1, 0.002\nUseNull, check, true");
        let space = read::lines("p", &text).expect("sound");
        let moved = [91.5, -0.4, 0.625, 0.0];
        assert_eq!(values(&space, &moved), "Margin, 92\nOdd \"name\", 0\nScale, 0.625\nUseNull, false\n");
        let table: toml::Table = options(&space, &moved).parse().expect("TOML");
        let options = table["options"].as_table().expect("a table");
        assert_eq!(options["Margin"].as_integer(), Some(92));
        assert_eq!(options["Odd \"name\""].as_integer(), Some(0));
        assert_eq!(options["Scale"].as_str(), Some("0.625"));
        assert_eq!(options["UseNull"].as_bool(), Some(false));
        assert!(!openbench(&space, &moved).contains("UseNull"));
    }
}
