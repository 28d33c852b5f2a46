//! `quintain queue ls`: the entries as a table or as JSON.

use crate::run::progress;
use crate::run::queue::listed::{json_of, results, state};
use crate::run::queue::title::title;
use crate::run::queue::{EntryId, Queue, QueueEntry, QueueState};
use crate::text::{columns, excerpt, printable};
use anyhow::Result;

const EXAMPLES: &str = "\
Examples:
  quintain queue ls
  quintain queue ls --all --json

Keys of --json: `daemon` (true if one plays the queue), `entries` in the order of play, each with `id`, \
`command`, `state` (playing, waiting, stopped, failed, done, damaged), `priority`, `title` (the note, else the engines as typed, the options that differ and the change), `runs` (folders), `results` (of each run \
that is over: H1, H0, done, inconclusive, aborted), `plans` (how many there are in turn) and `error`.";

/// Form of the list.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct LsArgs {
    /// Also list finished entries.
    #[arg(long)]
    all: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

/// Characters of a title that are shown.
const MOST_TITLE: usize = 72;

/// Heads of the columns; `#` marks numbers.
const HEADS: [&str; 6] = ["#id", "state", "#priority", "command", "title", "run"];

pub(super) fn run(queue: &Queue, args: &LsArgs) -> Result<()> {
    let has_daemon = queue.has_daemon()?;
    let listing = queue.list()?.in_order();
    let shown: Vec<&(EntryId, QueueEntry)> =
        listing.entries.iter().filter(|(_, entry)| args.all || entry.state != QueueState::Done).collect();
    if args.json {
        progress::result(&json_of(&listing, has_daemon, args.all).to_string());
        return Ok(());
    }
    let mut rows: Vec<Vec<String>> = shown.iter().map(|(id, entry)| cells(*id, entry, has_daemon)).collect();
    let damaged = |(id, why): &(EntryId, String)| {
        [id.to_string(), "damaged".to_owned(), String::new(), String::new(), printable(why)].to_vec()
    };
    rows.extend(listing.damaged.iter().map(damaged));
    if rows.is_empty() {
        progress::result("the queue is empty; `quintain queue add PLAN` adds a plan");
    } else {
        let mut lines = columns(&HEADS, &rows);
        // Beside the titles they would make all rows as long as they are.
        let errors = shown.iter().filter_map(|(id, entry)| Some((id, entry.error.as_deref()?)));
        lines.extend(errors.map(|(id, error)| format!("entry {id}: {}", printable(error))));
        progress::result(&lines.join("\n"));
    }
    if !has_daemon && shown.iter().any(|(_, entry)| entry.is_open()) {
        progress::note("no daemon plays this queue; `quintain queue run` does");
    }
    Ok(())
}

fn cells(id: EntryId, entry: &QueueEntry, has_daemon: bool) -> Vec<String> {
    let state = match results(entry).as_slice() {
        [] => state(entry, has_daemon).to_owned(),
        results if entry.state == QueueState::Done => results.join(", "),
        results => format!("{} ({})", state(entry, has_daemon), results.join(", ")),
    };
    let run = entry.runs.last().map(|run| run.display().to_string());
    let steps = if entry.plans.len() > 1 { format!(" ({} in turn)", entry.plans.len()) } else { String::new() };
    let command = format!("{}{steps}", entry.command.name());
    let run = printable(&run.unwrap_or_default());
    [id.to_string(), state, entry.priority.to_string(), command, excerpt(&title(entry), MOST_TITLE), run].to_vec()
}
