//! Parameters as text: OpenBench's lines of seven fields, fishtest's of six, and TOML.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::space::{DEFAULT_RATE, Param, ParamFault, ParamKind, ParamRows, Space, SpaceError};

/// Reads parameters from the text of `file`: TOML if its name ends so, else lines.
///
/// # Errors
/// The first line that is not a parameter, or one that cannot be tuned.
pub fn parse(file: &str, text: &str) -> Result<Space, SpaceError> {
    rows(file, text)?.check()
}

/// Reads parameters as [`parse`] does, and leaves their check to the caller.
///
/// # Errors
/// TOML of another form.
pub fn rows(file: &str, text: &str) -> Result<ParamRows, SpaceError> {
    let is_toml = std::path::Path::new(file).extension().is_some_and(|end| end.eq_ignore_ascii_case("toml"));
    if is_toml { toml_rows(file, text) } else { Ok(line_rows(file, text)) }
}

/// Reads `name, start, min, max, c_end, r_end` (fishtest),
/// `name, int|float, start, min, max, c_end, r_end` (OpenBench) and `name, check, true|false`, one
/// a line, in any mixture.
///
/// Blanks, empty lines and everything after `#` do not count. A line without a kind is an `int`,
/// because fishtest rounds every value.
///
/// # Errors
/// The first line that is not a parameter, or one that cannot be tuned.
pub fn lines(file: &str, text: &str) -> Result<Space, SpaceError> {
    line_rows(file, text).check()
}

/// Reads parameters as [`lines`] does, and leaves their check to the caller.
#[must_use]
pub fn line_rows(file: &str, text: &str) -> ParamRows {
    let mut rows = ParamRows::new(file);
    for (index, line) in text.lines().enumerate() {
        // Some editors put a byte order mark first.
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let name = line.split(',').next().unwrap_or_default().trim();
        rows.push(name, Some(index + 1), fields(line));
    }
    rows
}

fn fields(line: &str) -> Result<Param, ParamFault> {
    // Some programs end each line with a comma.
    let line = line.trim_end().trim_end_matches(',');
    let all: Vec<&str> = line.split(',').map(str::trim).collect();
    let (name, kind, numbers) = match all.as_slice() {
        [name, numbers @ ..] if numbers.len() == 5 => (name, ParamKind::Int, numbers),
        [name, kind, numbers @ ..] if numbers.len() == 5 => (name, self::kind(kind)?, numbers),
        [name, kind, start] if *kind == ParamKind::Check.name() => {
            let is_on = start.parse().map_err(|_| ParamFault::CheckStart { text: (*start).to_owned() })?;
            return Ok(Param::switch(name, is_on));
        }
        _ => return Err(ParamFault::Fields { found: all.len() }),
    };
    let number = |index: usize, field: &'static str| {
        let text = numbers[index];
        text.parse::<f64>().map_err(|_| ParamFault::NotNumber { field, text: text.to_owned() })
    };
    Ok(Param {
        name: (*name).to_owned(),
        kind,
        start: number(0, "start")?,
        min: number(1, "min")?,
        max: number(2, "max")?,
        step: number(3, "c_end")?,
        rate: number(4, "r_end")?,
    })
}

fn kind(text: &str) -> Result<ParamKind, ParamFault> {
    ParamKind::of_name(text).ok_or_else(|| ParamFault::Kind { text: text.to_owned() })
}

/// A file of parameters: `[params]`, one key a parameter.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    params: BTreeMap<Spanned<String>, ParamEntry>,
}

/// A parameter as written, as in `Margin = { start = 80, min = 20, max = 160, step = 8 }` or
/// `UseNull = { start = true }`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a row such as { start = 80, min = 20, max = 160, step = 8 }")]
struct ParamEntry {
    kind: Option<String>,
    start: ParamStart,
    min: Option<Number>,
    max: Option<Number>,
    step: Option<Number>,
    rate: Option<Number>,
}

/// A start as written.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "expected a number, as in 12 or 0.5, or of a switch true or false")]
enum ParamStart {
    Switch(bool),
    Number(Number),
}

impl ParamEntry {
    /// The parameter of this name.
    fn read(&self, name: &str) -> Result<Param, ParamFault> {
        let kind = self.kind.as_deref().map(kind).transpose()?;
        let start = match self.start {
            ParamStart::Switch(is_on) if kind.is_none_or(|kind| kind == ParamKind::Check) => {
                return match self.number_field() {
                    None => Ok(Param::switch(name, is_on)),
                    Some(field) => Err(ParamFault::SwitchField { field }),
                };
            }
            ParamStart::Switch(is_on) => {
                return Err(ParamFault::NotNumber { field: "start", text: is_on.to_string() });
            }
            ParamStart::Number(number) => number,
        };
        let needed = |field, value: Option<Number>| value.ok_or(ParamFault::Missing { field });
        let (min, max) = (needed("min", self.min)?, needed("max", self.max)?);
        let whole = [start, min, max].into_iter().all(|value| matches!(value, Number::Whole(_)));
        Ok(Param {
            name: name.to_owned(),
            kind: kind.unwrap_or(if whole { ParamKind::Int } else { ParamKind::Float }),
            start: start.value(),
            min: min.value(),
            max: max.value(),
            step: needed("step", self.step)?.value(),
            rate: self.rate.map_or(DEFAULT_RATE, Number::value),
        })
    }

    /// The first field given that only numbers have.
    fn number_field(&self) -> Option<&'static str> {
        let fields = [("min", self.min), ("max", self.max), ("step", self.step), ("rate", self.rate)];
        fields.into_iter().find_map(|(field, value)| value.map(|_| field))
    }
}

/// A number as written: with or without a fraction.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "expected a number, as in 12 or 0.5")]
enum Number {
    Whole(i64),
    Decimal(f64),
}

impl Number {
    const fn value(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Decimal(value) => value,
        }
    }
}

/// Reads a table `[params]` of rows `NAME = { start, min, max, step }`, with `kind` and `rate` if
/// wanted, and of switches `NAME = { start = true }`.
///
/// A row without a kind is an `int` if its start, min and max are written without a fraction. The
/// order is that of the file.
///
/// # Errors
/// The first place that is not TOML or no parameter, or one that cannot be tuned.
pub fn toml(file: &str, text: &str) -> Result<Space, SpaceError> {
    toml_rows(file, text)?.check()
}

fn toml_rows(file: &str, text: &str) -> Result<ParamRows, SpaceError> {
    let line = |at: usize| Some(text.get(..at).unwrap_or(text).matches('\n').count() + 1);
    let read: File = toml::from_str(text).map_err(|error| SpaceError {
        file: file.to_owned(),
        line: error.span().and_then(|span| line(span.start)),
        fault: ParamFault::Toml { message: error.message().to_owned() },
    })?;
    let mut entries: Vec<(Spanned<String>, ParamEntry)> = read.params.into_iter().collect();
    entries.sort_by_key(|(name, _)| name.span().start);
    let mut rows = ParamRows::new(file);
    for (name, entry) in entries {
        let number = line(name.span().start);
        let name = name.into_inner();
        rows.push(&name, number, entry.read(&name));
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOML: &str = "\
[params]
Margin = { start = 80, min = 20, max = 160, step = 8 }
Scale = { start = 0.5, min = 0, max = 2, step = 0.1, rate = 0.004 }
\"Odd name\" = { kind = \"int\", start = 80.25, min = 20, max = 160, step = 8.5 }
UseNull = { start = true }
";

    #[test]
    fn lines_of_both_forms_and_toml_read_alike() {
        let lines = lines(
            "p.txt",
            "# a comment\n\n  Margin,80,20,160,8,0.002  \nScale , float, 0.5,0 , 2.0, 0.1, 0.004 # and one\r\n\
             Odd name, int, 80.25, 20.0, 160.0, 8.5, 0.002\nUseNull, check, true,\n",
        );
        let lines = lines.expect("sound lines");
        assert_eq!(lines, parse("p.TOML", TOML).expect("sound TOML"));
        let margin = &lines.params()[0];
        assert_eq!((margin.kind, margin.start, margin.max, margin.rate), (ParamKind::Int, 80.0, 160.0, 0.002));
        assert_eq!(lines.params()[1].kind, ParamKind::Float);
        assert_eq!(lines.params()[2].name, "Odd name");
    }

    #[test]
    fn faults_name_line_field_and_remedy() {
        let cases = [
            ("a,1,2,3,4", "p:1: 5 fields, not 6 or 7: write `name, start"),
            ("\n#\na,int,1,0,9,1,0.002,7", "p:3: 8 fields"),
            ("a,real,1,0,9,1,0.002", "p:1: kind `real`: write int, float or check"),
            ("a,check,1", "p:1: start `1` of a check: write true or false"),
            ("a,check,1,0,2,1,0.002", "p:1: the range 0 to 2 of a check"),
            ("Syzygy50MoveRule,check,true", "p:1: Syzygy50MoveRule cannot be tuned by games"),
            ("a,1,0,nine,1,0.002", "p:1: max `nine` is not a number"),
            ("a,1,0,,1,0.002", "p:1: max `` is not a number"),
            ("a,1,0,inf,1,0.002", "p:1: max is not finite"),
            ("a,nan,0,9,1,0.002", "p:1: start is not finite"),
            ("a,1,0,1e999,1,0.002", "p:1: max is not finite"),
            ("a,5,9,0,1,0.002", "p:1: max 0 is not above min 9: swap them"),
            ("a,5,5,5,1,0.002", "p:1: max 5 is not above min 5"),
            ("a,10,0,9,1,0.002", "p:1: start 10 is not within 0 to 9: widen"),
            ("a,5,0,9,0,0.002", "p:1: step (c_end) 0 is not above 0"),
            ("a,5,0,9,-1,0.002", "p:1: step (c_end) -1 is not above 0"),
            ("a,5,0,9,10,0.002", "p:1: step (c_end) 10 is longer than the range 0 to 9"),
            ("a,5,0,9,1,0", "p:1: rate (r_end) 0 is not above 0"),
            ("a,5,0.5,9,1,0.002", "p:1: min 0.5 of an int is not a whole number"),
            ("a,5,0,1e17,1,0.002", "p:1: max 100000000000000000 of an int"),
            (",5,0,9,1,0.002", "p:1: the name is empty"),
            ("a,5,0,9,1,0.002\nb,5,0,9,1,0.002\nA,5,0,9,1,0.002", "p:3: A is given twice: remove one"),
            ("Hash,16,1,1024,8,0.002", "p:1: Hash cannot be tuned by games: more of it is better"),
            ("# nothing\n", "p: no parameters: one a line"),
        ];
        for (text, start) in cases {
            let message = lines("p", text).map_err(|error| error.to_string());
            assert!(message.as_ref().is_err_and(|message| message.starts_with(start)), "{text}: {message:?}");
        }
    }

    #[test]
    fn faults_of_toml_name_their_line_too() {
        let row = "a = { start = 5, min = 0, max = 9, step = 1 }";
        let cases = [
            (format!("[params]\n{row}\n{row}\n"), "p.toml:3: duplicate key"),
            (format!("[params]\n\n{}", row.replace("min = 0", "min = 9")), "p.toml:3: max 9 is not above min 9"),
            (format!("[params]\n{}", row.replace("step", "stop")), "p.toml:2: unknown field `stop`"),
            (format!("[params]\n{}", row.replace("9", "\"nine\"")), "p.toml:2: expected a number"),
            (format!("[params]\n{}", row.replace("9", "inf")), "p.toml:2: max is not finite"),
            (format!("[parms]\n{row}"), "p.toml:1: unknown field `parms`"),
            (format!("[params]\n{}", row.replace("start", "kind = \"big\", start")), "p.toml:2: kind `big`"),
            ("[params]\n".to_owned(), "p.toml: no parameters"),
            (
                "[params]\na = { start = 5, max = 9, step = 1 }".to_owned(),
                "p.toml:2: missing field `min`: only a switch",
            ),
            (
                "[params]\na = { start = true, min = 0, rate = 0.002 }".to_owned(),
                "p.toml:2: min of a switch: remove it",
            ),
            ("[params]\na = { kind = \"int\", start = true }".to_owned(), "p.toml:2: start `true` is not a number"),
            (
                "[params]\na = { start = \"on\" }".to_owned(),
                "p.toml:2: expected a number, as in 12 or 0.5, or of a switch",
            ),
            (String::new(), "p.toml:1: missing field `params`"),
        ];
        for (text, start) in cases {
            let message = parse("p.toml", &text).map_err(|error| error.to_string());
            assert!(message.as_ref().is_err_and(|message| message.starts_with(start)), "{text}: {message:?}");
        }
    }

    /// Names of the rows that globs leave, once they are checked.
    fn names(rows: ParamRows, only: &[&str], skip: &[&str]) -> Result<String, String> {
        let owned = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
        let space = rows.select(&owned(only), &owned(skip)).and_then(|rows| rows.check());
        let names = |space: Space| space.params().iter().map(|param| param.name.clone()).collect::<Vec<_>>().join(" ");
        space.map(names).map_err(|error| error.to_string())
    }

    #[test]
    fn globs_choose_and_an_idle_one_is_told() {
        let rows = || line_rows("p", "lmr_base,5,0,9,1,.1\nlmr_div,5,0,9,1,.1\nnull.a,5,0,9,1,.1");
        let names = |only: &[&str], skip: &[&str]| names(rows(), only, skip);
        assert_eq!(names(&[], &[]).as_deref(), Ok("lmr_base lmr_div null.a"));
        assert_eq!(names(&["LMR_*"], &["*div"]).as_deref(), Ok("lmr_base"));
        assert_eq!(names(&["null.?", "lmr_div"], &[]).as_deref(), Ok("lmr_div null.a"));
        assert!(names(&["nul.a"], &[]).is_err_and(|message| message
            == "--only: no parameter matches `nul.a`: correct it; the names are lmr_base, lmr_div, null.a"));
        let many = (0..14).map(|row| format!("p{row},5,0,9,1,.1\n")).collect::<String>();
        let message = self::names(line_rows("p", &many), &["q*"], &[]).unwrap_err();
        assert!(message.ends_with(", p10, p11 and 2 more"), "{message}");
        assert!(names(&[], &["base"]).is_err_and(|message| message.starts_with("--skip: no parameter matches `base`")));
        assert!(names(&[], &["*"]).is_err_and(|message| message.ends_with("leave nothing to tune")));
    }

    /// A row is chosen by its name before anything else of it is looked at.
    #[test]
    fn a_faulty_row_that_is_left_out_does_no_harm() {
        for faulty in ["odd,5,9,0,1,.1", "odd,5,0,nine,1,.1", "odd,1,2", "odd,int,0,0,1e18,1,.1", "odd,int,0,0,1,5,.1"]
        {
            let rows = || line_rows("p", &format!("good,5,0,9,1,.1\n{faulty}\n"));
            assert!(names(rows(), &[], &[]).is_err_and(|message| message.starts_with("p:2: ")), "{faulty}");
            assert_eq!(names(rows(), &[], &["odd"]).as_deref(), Ok("good"), "{faulty}");
            assert_eq!(names(rows(), &["good"], &[]).as_deref(), Ok("good"), "{faulty}");
        }
        let big = line_rows("p", "odd,int,0,0,1e18,1,.1").check().map_err(|error| error.to_string());
        assert!(big.is_err_and(|message| message.ends_with("or leave it out with --skip")));
        let text = TOML.replace("start = 0.5", "kind = \"big\", start = 0.5");
        let rows = || rows("p.toml", &text).expect("sound TOML");
        assert!(names(rows(), &[], &[]).is_err_and(|message| message.starts_with("p.toml:3: kind `big`")));
        assert_eq!(names(rows(), &[], &["Scale"]).as_deref(), Ok("Margin Odd name UseNull"));
        assert_eq!(names(line_rows("p", "# nothing"), &[], &[]).map_err(|error| error.len() > 1), Err(true));
    }
}
