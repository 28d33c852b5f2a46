//! Records of tests: a CSV file with a line per test, checked, and shown as Markdown or CSV with
//! the figures that follow from the counts.
//!
//! The file holds what cannot be computed: the two engines, the test, and its five counts. Pairs,
//! verdict, the estimate after the stop and the command are derived from these each time.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use crate::plan::time_control::Limit;
use crate::report::figures::estimate;
use crate::stats::elo::{Elo, fixed};
use crate::stats::sprt::{Bounds, Model, Sprt, Verdict};
use crate::stats::unbiased::{self, AdjustedEstimates};
use crate::stats::{Counts as _, Pentanomial};
use crate::text::{csv_field, shell_word};

/// Columns of the file, in their order.
pub const COLUMNS: [&str; 11] =
    ["date", "topic", "step", "new", "base", "limit", "bounds", "seed", "options", "ptnml", "folder"];

/// Error rates of every test in the file.
const ERROR_RATE: f64 = 0.05;

/// Flags of a test that are the same in all records.
const FIXED: [&str; 3] = ["--alpha", "--beta", "--model"];

/// Reason that a file of records cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// Invalid CSV, or a line with more or fewer fields than the heading.
    #[error("{}: {error}; each line needs these {} fields: {}", file.display(), COLUMNS.len(), COLUMNS.join(","))]
    Csv {
        /// The file.
        file: PathBuf,
        /// The reader's error.
        error: csv::Error,
    },
    /// Other columns than [`COLUMNS`].
    #[error("{}:1: the heading is `{found}`; write `{}`", file.display(), COLUMNS.join(","))]
    Heading {
        /// The file.
        file: PathBuf,
        /// Its first line.
        found: String,
    },
    /// A field with a wrong value.
    #[error("{}:{line}: {column} `{value}`: {why}", file.display())]
    Field {
        /// The file.
        file: PathBuf,
        /// Number of the line, from 1.
        line: u64,
        /// Name of the column.
        column: &'static str,
        /// Text of the field.
        value: String,
        /// Fault with the remedy.
        why: String,
    },
}

/// One test, and what follows from its counts.
#[derive(Debug)]
pub struct Record {
    /// Day of the test, `YYYY-MM-DD`.
    date: String,
    /// Heading under which the test is shown.
    topic: String,
    /// The change that was tested, as Markdown.
    step: String,
    /// Command that plays the test again.
    command: String,
    counts: Pentanomial,
    verdict: Verdict,
    after: Option<AdjustedEstimates>,
    /// Folder of the run's outputs, relative to the file.
    folder: Option<String>,
}

/// Records of a file, in its order.
#[derive(Debug)]
pub struct Records(Vec<Record>);

impl Records {
    /// Reads the records of `file`, whose text is `text`.
    ///
    /// # Errors
    /// The first fault, with its line and column. A folder that is named must exist.
    pub fn parse(file: &Path, text: &str) -> Result<Self, RecordError> {
        let csv_error = |error| RecordError::Csv { file: file.to_owned(), error };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let heading = reader.headers().map_err(csv_error)?;
        if heading != COLUMNS.as_slice() {
            let found = heading.iter().collect::<Vec<_>>().join(",");
            return Err(RecordError::Heading { file: file.to_owned(), found });
        }
        let records = reader.records().map(|line| {
            let line = line.map_err(csv_error)?;
            let fields = LineFields { file, line: line.position().map_or(0, csv::Position::line), fields: &line };
            fields.record()
        });
        records.collect::<Result<_, _>>().map(Self)
    }

    /// Formats a Markdown table per topic, each under its heading, in order of first appearance.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut topics: Vec<&str> = Vec::new();
        for record in &self.0 {
            if !topics.contains(&record.topic.as_str()) {
                topics.push(&record.topic);
            }
        }
        let tables = topics.iter().map(|topic| {
            let mut table = format!(
                "## {topic}\n\n| date | step | command | pairs | ptnml | Elo after the stop | verdict |\n\
                 | --- | --- | --- | ---: | --- | --- | --- |\n"
            );
            for record in self.0.iter().filter(|record| record.topic == *topic) {
                table += &record.markdown_row();
            }
            table
        });
        tables.collect::<Vec<_>>().join("\n")
    }

    /// Formats a CSV table with a line per record, derived figures included. An infinite end of an
    /// interval is `inf` or `-inf`.
    #[must_use]
    pub fn csv(&self) -> String {
        let mut out = "date,topic,step,pairs,ptnml,elo_after_stop,low,high,verdict,command,folder\n".to_owned();
        for record in &self.0 {
            let number = |elo: Elo| elo.finite().map_or_else(|| elo.to_string(), |value| fixed(value, 2));
            let elo = record.after.map(|after| after.elo);
            let ends = elo.and_then(|elo| elo.interval);
            let fields = [
                record.date.clone(),
                record.topic.clone(),
                record.step.clone(),
                record.counts.pairs().to_string(),
                counts_text(&record.counts, ","),
                elo.map_or_else(String::new, |elo| number(elo.value)),
                ends.map_or_else(String::new, |(low, _)| number(low)),
                ends.map_or_else(String::new, |(_, high)| number(high)),
                verdict_text(record.verdict).to_owned(),
                record.command.clone(),
                record.folder.clone().unwrap_or_default(),
            ];
            out += &csv_line(&fields);
        }
        out
    }
}

impl Record {
    fn markdown_row(&self) -> String {
        let step = match &self.folder {
            Some(folder) => format!("[{}]({folder})", self.step),
            None => self.step.clone(),
        };
        let mut row = String::new();
        // Writing into memory cannot fail.
        let _ = writeln!(
            row,
            "| {} | {step} | `{}` | {} | {} | {} | {} |",
            self.date,
            self.command,
            self.counts.pairs(),
            counts_text(&self.counts, ", "),
            self.after.map_or_else(|| "-".to_owned(), |after| estimate(Some(after.elo))),
            verdict_text(self.verdict),
        );
        row
    }
}

/// One line of the file with its place, for messages.
struct LineFields<'a> {
    file: &'a Path,
    line: u64,
    fields: &'a csv::StringRecord,
}

impl LineFields<'_> {
    fn record(&self) -> Result<Record, RecordError> {
        let date = self.parsed("date", |text| match chrono::NaiveDate::parse_from_str(text, "%Y-%m-%d") {
            // Other spellings of a date, such as 2026-1-2, would not sort.
            Ok(date) if date.to_string() == text => Ok(text.to_owned()),
            _ => Err("write a day as in 2026-11-22".to_owned()),
        })?;
        let limit = self.parsed("limit", |text| {
            text.parse::<Limit>().map_err(|error| format!("{error}; write nodes=5000, depth=8 or a clock as in 8+0.08"))
        })?;
        let sprt = self.parsed("bounds", |text| {
            let bounds = text.parse::<Bounds>().map_err(|error| error.to_string())?;
            Sprt::new(bounds, Model::Normalized, ERROR_RATE, ERROR_RATE).map_err(|error| error.to_string())
        })?;
        let seed = self.parsed("seed", |text| match text {
            "" => Ok(String::new()),
            text => match text.parse::<u64>() {
                Ok(seed) => Ok(format!(" --seed {seed}")),
                Err(_) => Err("write a whole number from 0, or nothing if it is not known".to_owned()),
            },
        })?;
        let counts = self.parsed("ptnml", parse_counts)?;
        let folder = self.parsed("folder", |text| match text {
            "" => Ok(None),
            text if self.file.with_file_name(text).is_dir() => Ok(Some(text.to_owned())),
            _ => Err("there is no such folder beside the file; leave the field empty".to_owned()),
        })?;
        // A shell separates words at blanks.
        let bounds = self.text("bounds").replace(char::is_whitespace, "");
        let mut command = format!(
            "quintain sprt --new {} --base {} {} --bounds{}{bounds}{seed}",
            self.spec("new")?,
            self.spec("base")?,
            limit_flags(&limit),
            // A value that begins with a minus reads as a flag.
            if bounds.starts_with('-') { "=" } else { " " },
        );
        self.parsed("options", |text| match text.split([' ', '=']).find(|word| FIXED.contains(word)) {
            Some(flag) => Err(format!("leave out {flag}: bounds are normalized, alpha and beta {ERROR_RATE}")),
            None => Ok(()),
        })?;
        if !self.text("options").is_empty() {
            command = format!("{command} {}", self.filled("options")?);
        }
        Ok(Record {
            date,
            topic: self.filled("topic")?,
            step: self.filled("step")?,
            command,
            verdict: sprt.verdict(&counts),
            after: unbiased::after(&sprt, &counts),
            counts,
            folder,
        })
    }

    /// Text of a column. The heading was checked and each line has as many fields.
    fn text(&self, column: &str) -> &str {
        let place = COLUMNS.iter().position(|name| *name == column);
        place.and_then(|place| self.fields.get(place)).unwrap_or_default()
    }

    fn parsed<T>(&self, column: &'static str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<T, RecordError> {
        let value = self.text(column);
        parse(value).map_err(|why| RecordError::Field {
            file: self.file.to_owned(),
            line: self.line,
            column,
            value: value.to_owned(),
            why,
        })
    }

    /// Text that is not empty and does not end a cell of a table.
    fn filled(&self, column: &'static str) -> Result<String, RecordError> {
        self.parsed(column, |text| match text {
            "" => Err("it must not be empty".to_owned()),
            text if text.contains(['|', '\n', '\r']) => Err("leave out `|` and line breaks".to_owned()),
            text => Ok(text.to_owned()),
        })
    }

    /// Spec of an engine, quoted for a shell if necessary.
    fn spec(&self, column: &'static str) -> Result<String, RecordError> {
        let spec = self.filled(column)?;
        let is_literal = !spec.contains(['"', '$', '`', '\\', '!']);
        Ok(if spec.contains(' ') && is_literal { format!("\"{spec}\"") } else { shell_word(&spec) })
    }
}

/// Parses `0,4,10,5,1`.
fn parse_counts(text: &str) -> Result<Pentanomial, String> {
    let numbers: Option<Vec<u64>> = text.split(',').map(|word| word.trim().parse().ok()).collect();
    let counts = numbers.and_then(|numbers| <[u64; 5]>::try_from(numbers).ok()).map(Pentanomial);
    let counts = counts.ok_or("write the pairs with 0, 1/2, 1, 3/2 and 2 points as in 7,7,38,21,26")?;
    if counts.samples() == 0 {
        Err("a test without pairs is not a record; remove the line".to_owned())
    } else {
        Ok(counts)
    }
}

fn counts_text(counts: &Pentanomial, between: &str) -> String {
    counts.0.map(|count| count.to_string()).join(between)
}

/// Fields in CSV syntax, with the end of the line.
fn csv_line(fields: &[String]) -> String {
    fields.iter().map(|field| csv_field(field)).collect::<Vec<_>>().join(",") + "\n"
}

/// Flags of a limit: `--nodes 5000`, `--tc 8+0.08`.
fn limit_flags(limit: &Limit) -> String {
    let text = limit.to_string();
    let flags = text.split(' ').map(|part| match part.split_once('=') {
        Some((kind, number)) => format!("--{kind} {number}"),
        None => format!("--tc {part}"),
    });
    flags.collect::<Vec<_>>().join(" ")
}

/// Verdict as the tables have it: `H1`, `H0` or `none`.
fn verdict_text(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Continue => "none",
        decided => decided.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADING: &str = "date,topic,step,new,base,limit,bounds,seed,options,ptnml,folder\n";

    fn parsed(lines: &str) -> Result<Records, String> {
        Records::parse(Path::new("records.csv"), &format!("{HEADING}{lines}")).map_err(|error| error.to_string())
    }

    #[test]
    fn figures_follow_from_the_counts() {
        let records = parsed(concat!(
            "2026-11-21,Search,\"one, two\",git:b,git:a,nodes=10000,\"0,20\",1,,\"7,7,38,21,26\",\n",
            "2026-11-22,Clock,three,git:b,toga2 -- --uci,2+0.02 depth=9,\"-10,10\",,--max-time 9m,\"1,6,21,8,0\",\n",
        ));
        let records = records.expect("records");
        assert_eq!(
            records.markdown(),
            "\
## Search

| date | step | command | pairs | ptnml | Elo after the stop | verdict |
| --- | --- | --- | ---: | --- | --- | --- |
| 2026-11-21 | one, two | `quintain sprt --new git:b --base git:a --nodes 10000 --bounds 0,20 --seed 1` | 99 | 7, 7, 38, 21, 26 | +90.9 [+45.8, +136.3] | H1 |

## Clock

| date | step | command | pairs | ptnml | Elo after the stop | verdict |
| --- | --- | --- | ---: | --- | --- | --- |
| 2026-11-22 | three | `quintain sprt --new git:b --base \"toga2 -- --uci\" --tc 2+0.02 --depth 9 --bounds=-10,10 --max-time 9m` | 36 | 1, 6, 21, 8, 0 | 0.0 [-46.8, +38.8] | none |
"
        );
        let csv = records.csv();
        let line = csv.lines().nth(1).expect("a line");
        assert!(line.starts_with("2026-11-21,Search,\"one, two\",99,\"7,7,38,21,26\",90.95,45.76,136.32"), "{line}");
        assert!(line.contains(",H1,\"quintain sprt"), "{line}");
    }

    #[test]
    fn a_rounded_zero_has_no_sign() {
        let records = parsed("2026-11-22,t,s,git:b,git:a,nodes=5,\"-10,10\",,,\"6,1,52,9,2\",\n").expect("a record");
        let csv = records.csv();
        assert!(csv.contains(",70,\"6,1,52,9,2\",0.00,-36.37,31.79,none,"), "{csv}");
    }

    #[test]
    fn faults_name_line_column_and_remedy() {
        const GOOD: &str = "2026-11-21,t,s,git:b,git:a,nodes=5,\"0,20\",1,,\"1,2,3,4,5\",\n";
        for (from, to, message) in [
            ("2026-11-21", "21.11.2026", "date `21.11.2026`: write a day as in 2026-11-22"),
            ("2026-11-21", "2026-1-2", "date `2026-1-2`: write a day as in 2026-11-22"),
            (",s,", ",,", "step ``: it must not be empty"),
            (",s,", ",a|b,", "step `a|b`: leave out `|` and line breaks"),
            ("git:a", "", "base ``: it must not be empty"),
            ("nodes=5", "nodes=x", "limit `nodes=x`: "),
            ("0,20", "20,0", "bounds `20,0`: bounds 20,0: elo0 must be below elo1, write 0,20"),
            (",1,,", ",x,,", "seed `x`: write a whole number from 0, or nothing"),
            (",1,,", ",1,--alpha=0.01,", "options `--alpha=0.01`: leave out --alpha: bounds are normalized"),
            ("1,2,3,4,5", "1,2,3,4", "ptnml `1,2,3,4`: write the pairs with 0, 1/2, 1, 3/2 and 2 points"),
            ("1,2,3,4,5", "0,0,0,0,0", "ptnml `0,0,0,0,0`: a test without pairs is not a record"),
            ("5\",\n", "5\",gone\n", "folder `gone`: there is no such folder beside the file"),
        ] {
            let bad = GOOD.replacen(from, to, 1);
            let error = parsed(&format!("{GOOD}{bad}")).expect_err(to);
            assert!(error.starts_with(&format!("records.csv:3: {message}")), "{error}");
        }
        let short = parsed("2026-11-21,t\n").expect_err("two fields");
        assert!(short.contains("line: 2") && short.contains("these 11 fields: date,topic"), "{short}");
        let other = Records::parse(Path::new("x.csv"), "a,b\n1,2\n").expect_err("columns").to_string();
        assert!(other.starts_with("x.csv:1: the heading is `a,b`; write `date,topic,"), "{other}");
    }
}
