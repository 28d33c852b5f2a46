//! `quintain check`: conformance checks of an engine.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde::Serialize;

use crate::check::{Check, CheckOutcome, CheckVerdict, CheckedEngine, Severity, TABLE};
use crate::files::write_atomically;
use crate::plan::time_control::Limit;
use crate::run::{Exit, progress, resolve};

const EXAMPLES: &str = "\
Exit codes:
  0  nothing failed; warnings and skipped checks do not count
  1  something failed
  2  bad usage, or an engine that does not start

Examples:
  quintain check ./my-engine
  quintain check git:my-branch --option Threads=2 --out check-report
  quintain check stockfish --only stop,infinite,clock --json
  quintain check --list";

/// Checks an engine's protocol, clock, options, and what it does with nonsense.
///
/// Every check is made with a process of its own. Time is taken by this program's clock; an overrun
/// fails if it occurs twice, and is a warning if the machine itself was late by as much.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// The engine: a path, a name of the registry, `.` or `git:REV`.
    #[arg(value_name = "SPEC", default_value = ".")]
    engine: String,
    /// A UCI option for it; may be repeated.
    #[arg(long = "option", value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// A network for it, built in or set as an option as its recipe says.
    #[arg(long, value_name = "FILE")]
    net: Option<PathBuf>,
    /// Make only these checks; names separated by commas.
    #[arg(long, value_name = "CHECK,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Seconds allowed for an answer that is due at once.
    #[arg(long, value_name = "SECONDS", default_value_t = PATIENCE)]
    patience: f64,
    /// A folder for the report and for the transcript of everything that did not pass.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
    /// Print the names of the checks and what they test.
    #[arg(long, conflicts_with = "json")]
    list: bool,
}

/// Default seconds allowed for an answer that is due at once.
const PATIENCE: f64 = 5.0;

/// Lines of a transcript that are printed.
const SHOWN_LINES: usize = 12;

/// Characters of a transcript line that are printed.
const SHOWN_WIDTH: usize = 140;

/// Checks the engine `spec` with default settings. Returns true if it passed.
pub(super) fn passes(spec: &str) -> Result<bool> {
    let [options, only] = [Vec::new(), Vec::new()];
    let (engine, patience) = (spec.to_owned(), PATIENCE);
    let args = CheckArgs { engine, options, net: None, only, patience, out: None, json: false, list: false };
    Ok(run(&args)? == Exit::Done)
}

pub(super) fn run(args: &CheckArgs) -> Result<Exit> {
    if args.list {
        progress::result(&list());
        return Ok(Exit::Done);
    }
    let rows = rows(&args.only)?;
    let config = resolve::one_engine(&args.engine, &args.options, args.net.as_deref(), Limit::default())?;
    let patience = match Duration::try_from_secs_f64(args.patience) {
        Ok(patience) if !patience.is_zero() && patience < Duration::from_secs(3600) => patience,
        _ => bail!("--patience `{}`: give a number of seconds above 0 and below 3600", args.patience),
    };
    let (spec, program) = (args.engine.clone(), config.program.clone());
    if let Some(dir) = &args.out {
        std::fs::create_dir_all(dir).with_context(|| format!("--out {}: cannot write there", dir.display()))?;
    }
    let bench = CheckedEngine::new(config, patience)?;
    if !args.json {
        progress::result(&format!("{} ({})", bench.name(), program.display()));
    }
    let mut outcomes = Vec::with_capacity(rows.len());
    for row in rows {
        let outcome = bench.run(row);
        if !args.json {
            progress::result(&line(&outcome));
        }
        outcomes.push(outcome);
    }
    let report = CheckReport::new(&spec, &program, &bench, &outcomes);
    let json = serde_json::to_string_pretty(&report)? + "\n";
    if let Some(dir) = &args.out {
        save(dir, &json, &outcomes).with_context(|| format!("--out {}", dir.display()))?;
    }
    progress::result(&if args.json { json } else { text(&outcomes, args.out.as_deref()) });
    let failed = outcomes.iter().any(|outcome| outcome.verdict == CheckVerdict::Fail);
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn rows(only: &[String]) -> Result<Vec<&'static Check>> {
    if let Some(unknown) = only.iter().find(|name| !TABLE.iter().any(|row| row.name == name.trim())) {
        bail!("--only `{unknown}`: no such check; `quintain check --list` names them");
    }
    Ok(TABLE.iter().filter(|row| only.is_empty() || only.iter().any(|name| name.trim() == row.name)).collect())
}

fn list() -> String {
    TABLE.iter().fold(String::new(), |mut text, row| {
        let _ = writeln!(text, "{:<24} {:<7} {}", row.name, severity(row.severity), row.what);
        text
    })
}

const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Must => "must",
        Severity::Should => "should",
    }
}

fn line(outcome: &CheckOutcome) -> String {
    format!("{}  {:<24} {}", outcome.verdict.word(), outcome.row.name, outcome.reason)
}

/// Text after the table: the last transcript lines of each failed check, and the counts.
fn text(outcomes: &[CheckOutcome], dir: Option<&Path>) -> String {
    let mut text = String::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.verdict == CheckVerdict::Fail) {
        let _ = writeln!(text, "\n{}: {}\n  {}", outcome.row.name, outcome.row.what, outcome.reason);
        let lines: Vec<&str> = outcome.transcript.lines().collect();
        if lines.len() > SHOWN_LINES {
            text.push_str("  ...\n");
        }
        for line in &lines[lines.len().saturating_sub(SHOWN_LINES)..] {
            let cut: String = line.chars().take(SHOWN_WIDTH).collect();
            let _ = writeln!(text, "  {cut}");
        }
    }
    let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
    let _ = write!(
        text,
        "\n{} passed, {} warnings, {} failed, {} skipped",
        count(CheckVerdict::Pass),
        count(CheckVerdict::Warn),
        count(CheckVerdict::Fail),
        count(CheckVerdict::Skip)
    );
    if let Some(dir) = dir {
        let _ = write!(text, "; transcripts in {}", dir.display());
    }
    text
}

fn save(dir: &Path, json: &str, outcomes: &[CheckOutcome]) -> Result<()> {
    std::fs::create_dir_all(dir)?;
    write_atomically(&dir.join("check.json"), json.as_bytes())?;
    for outcome in outcomes {
        let path = dir.join(format!("{}.log", outcome.row.name));
        if outcome.transcript.is_empty() {
            // A log of an earlier check would be mistaken for this one's.
            let _ = std::fs::remove_file(path);
        } else {
            let text = format!("{}\n\n{}", line(outcome), outcome.transcript);
            write_atomically(&path, text.as_bytes())?;
        }
    }
    Ok(())
}

/// JSON document of `check.json` and `--json`.
#[derive(Serialize)]
struct CheckReport<'a> {
    spec: &'a str,
    program: String,
    name: &'a str,
    author: &'a str,
    passed: usize,
    warnings: usize,
    failed: usize,
    skipped: usize,
    checks: Vec<CheckJson<'a>>,
}

#[derive(Serialize)]
struct CheckJson<'a> {
    name: &'a str,
    what: &'a str,
    severity: &'a str,
    verdict: &'a str,
    reason: &'a str,
    took_ms: u64,
    /// Last transcript lines of a failed check; otherwise empty.
    transcript: Vec<&'a str>,
}

impl<'a> CheckReport<'a> {
    fn new(spec: &'a str, program: &Path, bench: &'a CheckedEngine, outcomes: &'a [CheckOutcome]) -> Self {
        let count = |verdict| outcomes.iter().filter(|outcome| outcome.verdict == verdict).count();
        Self {
            spec,
            program: program.display().to_string(),
            name: bench.name(),
            author: bench.author(),
            passed: count(CheckVerdict::Pass),
            warnings: count(CheckVerdict::Warn),
            failed: count(CheckVerdict::Fail),
            skipped: count(CheckVerdict::Skip),
            checks: outcomes.iter().map(CheckJson::new).collect(),
        }
    }
}

impl<'a> CheckJson<'a> {
    fn new(outcome: &'a CheckOutcome) -> Self {
        let failed = outcome.verdict == CheckVerdict::Fail;
        let lines: Vec<&str> = outcome.transcript.lines().filter(|_| failed).collect();
        Self {
            name: outcome.row.name,
            what: outcome.row.what,
            severity: severity(outcome.row.severity),
            verdict: outcome.verdict.word(),
            reason: &outcome.reason,
            took_ms: u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
            transcript: lines[lines.len().saturating_sub(SHOWN_LINES)..].to_vec(),
        }
    }
}
