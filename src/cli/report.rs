//! `quintain report RUN`: the report of a run as text, Markdown, JSON, CSV or HTML.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::ValueEnum;
use serde_json::{Value, json};

use crate::cli::explain::{self, ExplainedPlayer};
use crate::cli::runs::run_parser;
use crate::cli::watch;
use crate::control::client::Client;
use crate::plan::Plan;
use crate::record::PlayerId;
use crate::report::block;
use crate::report::explain::Explanation;
use crate::report::explain::document::WIDTH;
use crate::report::explain::table::{markdown, wrapped};
use crate::report::summary::Summary;
use crate::run::chain_report::ChainReport;
use crate::run::dir::RunDir;
use crate::run::{Exit, page, progress};
use crate::stats::sprt::Verdict;
use crate::tournament::events::Finish;

const EXAMPLES: &str = "\
Examples:
  quintain report results/runs/20260101-120000-sprt
  quintain report RUN --format md > report.md
  quintain report RUN --format html > report.html
  quintain report latest --format block          the lines that go into a pull request
  quintain report RUN --format csv --player new > groups.csv

Text and Markdown hold the summary and where the points came from (`quintain explain`). JSON: \
`live`, `summary` (the keys of summary.json; `outcome` and `stopped_by` are null while the run is played), \
`explain` (the document of `quintain explain --json`; an array for several players, null for none) \
and `chain` (null of a run in none; `state, passed, length, stopped_at, games, hours`, `tests`: \
`test, result, limit, bounds, games, elo, elo_lo, elo_hi, hours, run`, and `pass`: `elo, \
probability, pairs`). CSV: a line a group, the first of all games, under the heading \
`dimension,group,games,pairs,wins,draws,losses,score,net,measure,inside,outside,difference,error95,p,p_holm`.";

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ReportFormat {
    /// Text for a terminal.
    Text,
    /// Markdown with tables.
    Md,
    /// One document.
    Json,
    /// The groups of games.
    Csv,
    /// Lines to paste into a pull request.
    Block,
    /// The same for a commit message, with the bench.
    Commit,
    /// The page `report.html` that a finished run has in its directory.
    Html,
}

/// Prints a run's report; the run may still be live.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct ReportArgs {
    /// The run: its directory, an id of `quintain runs`, the end of one, or `latest`.
    #[arg(value_name = "RUN", value_parser = run_parser())]
    run: PathBuf,
    /// Format to write.
    #[arg(long, value_enum, default_value = "text")]
    format: ReportFormat,
    #[command(flatten)]
    who: ExplainedPlayer,
}

/// Run with its results.
struct Report<'a> {
    dir: &'a RunDir,
    plan: &'a Plan,
    finish: &'a Finish,
    summary: Summary,
    explained: Vec<Explanation>,
    /// Number of players requested.
    asked: usize,
    live: bool,
    /// True for a live run without a verdict.
    goes_on: bool,
    top: usize,
}

pub(super) fn run(args: &ReportArgs) -> Result<Exit> {
    let (dir, plan) = RunDir::open(&args.run)?;
    let players = match &args.who.player {
        Some(name) => explain::players(&plan, name)?,
        // The sides of a tuning play values that are tried, so their points are nobody's.
        None if plan.players.len() == 2 && plan.format.tuning().is_none() => vec![PlayerId(0)],
        // A run of more than two players has no default player.
        None => Vec::new(),
    };
    if args.format == ReportFormat::Csv && players.len() != 1 {
        bail!("--format csv covers one player: choose with --player NAME");
    }
    // Checked before the journal is read. A run that ends in between is reported as live, but a
    // live run never as over.
    let live = Client::connect(dir.root()).is_ok();
    let (scoreboard, explained) = explain::read(&dir, &plan, &players)?;
    let finish = watch::finish(&dir, &plan, scoreboard);
    let goes_on = live && finish.scoreboard.verdict() == Verdict::Continue;
    let summary = if live { Summary::live } else { Summary::new };
    let summary = summary(&plan, &finish, dir.root());
    let report = Report {
        dir: &dir,
        plan: &plan,
        finish: &finish,
        summary,
        explained,
        asked: players.len(),
        live,
        goes_on,
        top: args.who.top,
    };
    progress::result(&report.render(args.format)?);
    Ok(Exit::Done)
}

impl Report<'_> {
    fn render(&self, format: ReportFormat) -> Result<String> {
        Ok(match format {
            ReportFormat::Text => self.text(),
            ReportFormat::Md => self.markdown(),
            ReportFormat::Json => serde_json::to_string_pretty(&self.json())?,
            ReportFormat::Csv => match self.explained.first() {
                Some(one) => one.csv(),
                None => bail!("no pair has been counted yet, so there are no groups"),
            },
            ReportFormat::Block | ReportFormat::Commit => {
                let text = if format == ReportFormat::Block { block::block } else { block::commit };
                match text(self.plan, &self.finish.scoreboard) {
                    Some(text) => text.trim_end().to_owned(),
                    None => {
                        bail!("the block needs two players; this run has {} or is a tuning", self.plan.players.len())
                    }
                }
            }
            ReportFormat::Html => {
                let ended = (self.summary.headline(), &self.finish.reason);
                page::of(self.dir, self.plan, (!self.goes_on).then_some(ended))?
            }
        })
    }

    /// Lines of the summary.
    fn lines(&self) -> impl Iterator<Item = &str> {
        self.summary.text().lines()
    }

    /// True if the summary has a table, of players or of a tuning's parameters.
    fn has_table(&self) -> bool {
        self.plan.players.len() > 2 || self.plan.format.tuning().is_some()
    }

    fn text(&self) -> String {
        // Tables keep their lines; sentences are wrapped.
        let keep = |line: &str| if line.starts_with(' ') { format!("{line}\n") } else { wrapped(line, WIDTH, "") };
        let mut text: String = match self.has_table() {
            true => self.lines().map(|line| format!("{line}\n")).collect(),
            false => self.lines().map(keep).collect(),
        };
        for one in &self.explained {
            text.push('\n');
            text += &one.text(self.plan, self.top);
        }
        if let Some(chain) = self.chain() {
            text += &format!("\n{}", chain.text());
        }
        text
    }

    fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n", markdown(&self.plan.noted(&self.plan.name)));
        let lines: Vec<&str> = self.lines().collect();
        if self.has_table() {
            // A table is aligned by spaces, so it needs a code block.
            let longest = lines.iter().flat_map(|line| line.split(|c| c != '`')).map(str::len).max().unwrap_or(0);
            let fence = "`".repeat(longest.max(2) + 1);
            text += &format!("{fence}text\n{}\n{fence}\n\n", lines.join("\n"));
        } else {
            text += &lines.iter().map(|line| format!("* {}\n", markdown(line.trim()))).collect::<String>();
            text.push('\n');
        }
        for one in &self.explained {
            text += "## Where the points came from\n\n";
            text += &one.markdown(self.plan, self.top);
            text.push('\n');
        }
        if let Some(chain) = self.chain() {
            text += &format!("## The chain of tests\n\n```text\n{}\n```\n", chain.text().trim_end());
        }
        text
    }

    fn json(&self) -> Value {
        let mut summary = self.summary.json().clone();
        if self.live {
            summary["stopped_by"] = Value::Null;
            summary["outcome"] = Value::Null;
        }
        let explain = if self.asked == 0 { Value::Null } else { explain::json(self.plan, &self.explained, self.asked) };
        json!({ "live": self.live, "summary": summary, "explain": explain, "chain": self.chain() })
    }

    /// Chain of tests up to this run.
    fn chain(&self) -> Option<ChainReport> {
        ChainReport::of(self.dir.root(), self.plan)
    }
}
