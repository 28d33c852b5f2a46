//! The space of a tuning: its parameters with their ranges and steps, checked once.

use std::collections::HashSet;

use regex::Regex;
use thiserror::Error;

use crate::text::listed;

/// Rate at the end of a run if none is given: fishtest's and OpenBench's default `r_end`.
pub const DEFAULT_RATE: f64 = 0.002;

/// Largest magnitude of an integer parameter: beyond it floating point skips integers.
const LARGEST_WHOLE: f64 = 9_007_199_254_740_992.0;

/// Kind of the values that an engine takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// Whole numbers, as of a UCI `spin`.
    Int,
    /// Any number, sent as decimal text to a UCI `string`.
    Float,
    /// 0 for false and 1 for true, as of a UCI `check`.
    Check,
}

impl ParamKind {
    const ALL: [Self; 3] = [Self::Int, Self::Float, Self::Check];

    /// The word for it in lines, in TOML and in stored runs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int => "int",
            Self::Float => "float",
            Self::Check => "check",
        }
    }

    /// The kind of this [`name`](Self::name).
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// True if the engine takes whole numbers only.
    pub(crate) const fn is_whole(self) -> bool {
        !matches!(self, Self::Float)
    }
}

/// End of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RangeEnd {
    /// Lowest value.
    Min,
    /// Highest value.
    Max,
}

impl RangeEnd {
    pub(super) const BOTH: [Self; 2] = [Self::Min, Self::Max];

    /// Name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
        }
    }

    /// True if `value` is farther out than `end`.
    pub(super) fn is_beyond(self, value: f64, end: f64) -> bool {
        match self {
            Self::Min => value < end,
            Self::Max => value > end,
        }
    }
}

/// Parameter of an engine, in the unit of its UCI option.
///
/// A checked one has finite numbers, `min < max`, `start` between them, and a step above 0 that is
/// no longer than the range.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// UCI option that sets it.
    pub name: String,
    /// Kind of its values.
    pub kind: ParamKind,
    /// Value before the tuning. That of an `int` may have a fraction: the mean of an earlier run.
    pub start: f64,
    /// Lowest value of the range.
    pub min: f64,
    /// Highest value of the range.
    pub max: f64,
    /// Change that is expected to matter; `c_end` of fishtest and OpenBench.
    pub step: f64,
    /// Rate at the end of a run, `r_end`; only the methods of those two read it.
    pub rate: f64,
}

impl Param {
    /// A switch that is on or off before the tuning.
    #[must_use]
    pub fn switch(name: &str, is_on: bool) -> Self {
        let (kind, start) = (ParamKind::Check, f64::from(u8::from(is_on)));
        Self { name: name.to_owned(), kind, start, min: 0.0, max: 1.0, step: 1.0, rate: DEFAULT_RATE }
    }

    /// The least step that the engine can take: 1 for whole numbers.
    #[must_use]
    pub fn least_step(&self) -> f64 {
        f64::from(u8::from(self.kind.is_whole()))
    }

    /// The value nearest to `value` that the engine takes.
    #[must_use]
    pub fn nearest(&self, value: f64) -> f64 {
        let value = value.clamp(self.min, self.max);
        if self.kind.is_whole() { value.round() + 0.0 } else { value }
    }

    /// A value as text for the engine: decimal, that of a `check` true or false. All but a `float`
    /// are rounded.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        match self.kind {
            ParamKind::Int => format!("{}", value.round() + 0.0),
            ParamKind::Float => format!("{}", value + 0.0),
            ParamKind::Check => format!("{}", value.round() > 0.0),
        }
    }

    fn check(&self) -> Result<(), ParamFault> {
        let numbers =
            [("start", self.start), ("min", self.min), ("max", self.max), ("step", self.step), ("rate", self.rate)];
        if let Some((field, _)) = numbers.into_iter().find(|(_, value)| !value.is_finite()) {
            return Err(ParamFault::Infinite { field });
        }
        let Self { start, min, max, step, rate, .. } = *self;
        if self.name.trim().is_empty() || self.name.chars().any(char::is_control) {
            return Err(ParamFault::Name);
        }
        if let Some(hint) = super::refused::refusal(&self.name) {
            return Err(ParamFault::Refused { name: self.name.clone(), hint });
        }
        if max <= min {
            return Err(ParamFault::Range { min, max });
        }
        if self.kind == ParamKind::Check && (min, max) != (0.0, 1.0) {
            return Err(ParamFault::CheckRange { min, max });
        }
        if self.kind == ParamKind::Int {
            for (field, value) in [("min", min), ("max", max)] {
                if value.fract() != 0.0 || value.abs() > LARGEST_WHOLE {
                    return Err(ParamFault::NotWhole { field, value });
                }
            }
        }
        if !(min..=max).contains(&start) {
            return Err(ParamFault::StartOutside { start, min, max });
        }
        if step <= 0.0 {
            return Err(ParamFault::Step { step });
        }
        if step > max - min {
            return Err(ParamFault::WideStep { step, min, max });
        }
        if rate <= 0.0 {
            return Err(ParamFault::Rate { rate });
        }
        Ok(())
    }
}

/// The parameters of a run in the order given, each name once, at least one.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    params: Vec<Param>,
}

impl Space {
    /// Checks parameters, each with the line of `file` that it comes from, if it comes from one.
    ///
    /// # Errors
    /// The first parameter that cannot be tuned, or none at all.
    pub fn new(file: &str, params: Vec<(Option<usize>, Param)>) -> Result<Self, SpaceError> {
        let mut names = HashSet::new();
        for (line, param) in &params {
            let fault = |fault| SpaceError { file: file.to_owned(), line: *line, fault };
            param.check().map_err(fault)?;
            // UCI option names are equal in any case.
            if !names.insert(param.name.to_lowercase()) {
                return Err(fault(ParamFault::Duplicate { name: param.name.clone() }));
            }
        }
        if params.is_empty() {
            return Err(SpaceError { file: file.to_owned(), line: None, fault: ParamFault::Empty });
        }
        Ok(Self { params: params.into_iter().map(|(_, param)| param).collect() })
    }

    /// The parameters, in the order given.
    #[must_use]
    pub fn params(&self) -> &[Param] {
        &self.params
    }

    /// Number of parameters, at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a space is never empty")]
    pub const fn len(&self) -> usize {
        self.params.len()
    }

    /// The space with steps of at least 1 for whole numbers, because an engine takes no smaller
    /// one, and the names of those parameters whose steps were shorter.
    #[must_use]
    pub fn with_whole_steps(mut self) -> (Self, Vec<String>) {
        let short = self.params.iter_mut().filter(|param| param.step < param.least_step());
        let lengthened = short.map(|param| {
            param.step = param.least_step();
            param.name.clone()
        });
        let names = lengthened.collect();
        (self, names)
    }

    /// Values before the tuning, in the parameters' own units and order.
    #[must_use]
    pub fn start(&self) -> Vec<f64> {
        self.params.iter().map(|param| param.start).collect()
    }

    /// The values that the engine takes nearest to `values`.
    #[must_use]
    pub fn nearest(&self, values: &[f64]) -> Vec<f64> {
        self.params.iter().zip(values).map(|(param, value)| param.nearest(*value)).collect()
    }

    /// Moves values into their ranges.
    pub(super) fn clamp(&self, values: &mut [f64]) {
        for (value, param) in values.iter_mut().zip(&self.params) {
            *value = value.clamp(param.min, param.max);
        }
    }

    /// Moves an end of a parameter's range inwards, but not beyond the value that stands for the
    /// start. Returns the end as it was.
    pub(super) fn move_end(&mut self, index: usize, end: RangeEnd, to: f64) -> f64 {
        let param = &mut self.params[index];
        let start = param.nearest(param.start);
        match end {
            RangeEnd::Min => std::mem::replace(&mut param.min, to.min(start)),
            RangeEnd::Max => std::mem::replace(&mut param.max, to.max(start)),
        }
    }
}

/// Parameters as they were read, in the order given, before they are checked.
///
/// A row that cannot be tuned does no harm if it is left out by its name.
#[derive(Clone, Debug)]
pub struct ParamRows {
    /// File, flag or engine that named them.
    file: String,
    rows: Vec<ParamRow>,
}

/// A parameter as it was read.
#[derive(Clone, Debug)]
struct ParamRow {
    name: String,
    line: Option<usize>,
    param: Result<Param, ParamFault>,
}

impl ParamRows {
    /// No rows of `file` yet.
    pub(super) fn new(file: &str) -> Self {
        Self { file: file.to_owned(), rows: Vec::new() }
    }

    /// Adds a row with the line that it comes from, if it comes from one.
    pub(super) fn push(&mut self, name: &str, line: Option<usize>, param: Result<Param, ParamFault>) {
        self.rows.push(ParamRow { name: name.to_owned(), line, param });
    }

    /// Returns true without rows.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The names of the first rows, and how many more there are.
    fn names(&self) -> String {
        const SHOWN: usize = 12;
        let names: Vec<&str> = self.rows.iter().map(|row| row.name.as_str()).collect();
        if names.is_empty() {
            return "no parameters were found".to_owned();
        }
        format!("correct it; the names are {}", listed(&names, SHOWN))
    }

    /// The rows whose names match a glob of `only` (all if it is empty) and none of `skip`.
    /// In a glob `*` stands for any characters and `?` for one; case does not matter.
    ///
    /// # Errors
    /// A glob that matches no row, or none left.
    pub fn select(mut self, only: &[String], skip: &[String]) -> Result<Self, SpaceError> {
        let globs = |flag: &'static str, texts: &[String]| {
            let compiled = texts.iter().map(|text| {
                let glob = glob(text).filter(|glob| self.rows.iter().any(|row| glob.is_match(&row.name)));
                glob.ok_or_else(|| {
                    SpaceError::of(flag, ParamFault::NoMatch { glob: text.clone(), names: self.names() })
                })
            });
            compiled.collect::<Result<Vec<_>, _>>()
        };
        let (chosen, skipped) = (globs("--only", only)?, globs("--skip", skip)?);
        let any = |globs: &[Regex], name: &str| globs.iter().any(|glob| glob.is_match(name));
        let found = self.rows.len();
        self.rows.retain(|row| (chosen.is_empty() || any(&chosen, &row.name)) && !any(&skipped, &row.name));
        if found > 0 && self.rows.is_empty() {
            return Err(SpaceError::of("--only and --skip", ParamFault::NoneLeft));
        }
        Ok(self)
    }

    /// Place of the row of this name, as errors name it: file and line, if it has one.
    #[must_use]
    pub fn place(&self, name: &str) -> String {
        let row = self.rows.iter().find(|row| row.name.eq_ignore_ascii_case(name));
        place(&self.file, row.and_then(|row| row.line))
    }

    /// Checks the rows.
    ///
    /// # Errors
    /// The first row that is not a parameter, the first one that cannot be tuned, or no row at all.
    pub fn check(&self) -> Result<Space, SpaceError> {
        let params = self.rows.iter().map(|ParamRow { line, param, .. }| match param {
            Ok(param) => Ok((*line, param.clone())),
            Err(fault) => Err(SpaceError { file: self.file.clone(), line: *line, fault: fault.clone() }),
        });
        Space::new(&self.file, params.collect::<Result<Vec<_>, _>>()?)
    }
}

/// A place as errors name it: `file:line`.
fn place(file: &str, line: Option<usize>) -> String {
    line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}"))
}

/// A glob as an expression for whole names; `None` if it is too large to compile.
fn glob(text: &str) -> Option<Regex> {
    let pattern = regex::escape(text).replace(r"\*", ".*").replace(r"\?", ".");
    Regex::new(&format!("(?i)^{pattern}$")).ok()
}

/// A parameter that cannot be tuned, and its place; prints as `file:line: message`.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}: {fault}", place(file, *line))]
pub struct SpaceError {
    /// File, flag or engine that named the parameter.
    pub file: String,
    /// Its line, from 1, if it has one.
    pub line: Option<usize>,
    /// The fault and its remedy.
    pub fault: ParamFault,
}

impl SpaceError {
    /// A fault of something that has no lines.
    pub(super) fn of(file: &str, fault: ParamFault) -> Self {
        Self { file: file.to_owned(), line: None, fault }
    }
}

/// Faults of parameters.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ParamFault {
    /// A line that has neither form.
    #[error(
        "{found} fields, not 6 or 7: write `name, start, min, max, c_end, r_end`, or the same with `int` or `float` after the name; a switch is `name, check, true`"
    )]
    Fields {
        /// Fields on the line.
        found: usize,
    },
    /// Unknown kind of a parameter.
    #[error("kind `{text}`: write int, float or check")]
    Kind {
        /// The field.
        text: String,
    },
    /// Field that a parameter needs.
    #[error("missing field `{field}`: only a switch, whose start is true or false, has none")]
    Missing {
        /// Name of the field.
        field: &'static str,
    },
    /// Field that a switch does not have.
    #[error("{field} of a switch: remove it; its start, true or false, is all it needs")]
    SwitchField {
        /// Name of the field.
        field: &'static str,
    },
    /// Range that no UCI `check` has.
    #[error("the range {min} to {max} of a check: write 0 to 1, or only its start, true or false")]
    CheckRange {
        /// Lowest value.
        min: f64,
        /// Highest value.
        max: f64,
    },
    /// Start of a switch that is neither true nor false.
    #[error("start `{text}` of a check: write true or false")]
    CheckStart {
        /// The field.
        text: String,
    },
    /// Field that is not a number.
    #[error("{field} `{text}` is not a number: write it as in 12 or 0.5")]
    NotNumber {
        /// Name of the field.
        field: &'static str,
        /// The field.
        text: String,
    },
    /// An infinity or NaN.
    #[error("{field} is not finite: write a number as in 12 or 0.5")]
    Infinite {
        /// Name of the field.
        field: &'static str,
    },
    /// Name that no UCI option can have.
    #[error("the name is empty or contains control characters: write the UCI option's name first")]
    Name,
    /// An option that no games between equals can tune.
    #[error("{name} cannot be tuned by games: {hint}")]
    Refused {
        /// Name of the option.
        name: String,
        /// The reason and the remedy.
        hint: &'static str,
    },
    /// A range upside down, or empty.
    #[error("max {max} is not above min {min}: swap them, or leave the parameter out")]
    Range {
        /// Lowest value.
        min: f64,
        /// Highest value.
        max: f64,
    },
    /// An end of a whole parameter's range that is not whole.
    #[error(
        "{field} {value} of an int is not a whole number below 2^53: round it, make the parameter a float, or leave it out with --skip"
    )]
    NotWhole {
        /// Name of the field.
        field: &'static str,
        /// Its value.
        value: f64,
    },
    /// A start out of range.
    #[error("start {start} is not within {min} to {max}: widen the range, or move the start")]
    StartOutside {
        /// The start.
        start: f64,
        /// Lowest value.
        min: f64,
        /// Highest value.
        max: f64,
    },
    /// A step that moves nothing.
    #[error("step (c_end) {step} is not above 0: give the change that you expect to matter")]
    Step {
        /// The step.
        step: f64,
    },
    /// A step over both ends.
    #[error("step (c_end) {step} is longer than the range {min} to {max}: a twentieth of it is usual")]
    WideStep {
        /// The step.
        step: f64,
        /// Lowest value.
        min: f64,
        /// Highest value.
        max: f64,
    },
    /// A rate that moves nothing.
    #[error("rate (r_end) {rate} is not above 0: 0.002 is usual")]
    Rate {
        /// The rate.
        rate: f64,
    },
    /// A name given twice.
    #[error("{name} is given twice: remove one of the two")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// No parameters.
    #[error(
        "no parameters: one a line, as in `Margin, int, 80, 20, 160, 8, 0.002`, or in TOML below [params] `Margin = {{ start = 80, min = 20, max = 160, step = 8 }}`"
    )]
    Empty,
    /// A glob without a match.
    #[error("no parameter matches `{glob}`: {names}")]
    NoMatch {
        /// The glob.
        glob: String,
        /// The names that it could match, the first of many.
        names: String,
    },
    /// Filters that leave nothing.
    #[error("together they leave nothing to tune")]
    NoneLeft,
    /// A file that is not TOML, or has other keys.
    #[error("{message}")]
    Toml {
        /// The reader's words.
        message: String,
    },
    /// A parameter that a form of lines cannot hold.
    #[error("{name} is a float, and fishtest rounds every value: write the other form of lines")]
    FloatLine {
        /// Name of the parameter.
        name: String,
    },
}
