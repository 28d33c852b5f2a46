//! `quintain workers URL`: the workers and runs of a hub.

use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;

use crate::cluster::{self, Access, AccessError, Role, RunEntry, WorkerEntry};
use crate::run::{Exit, prepare, progress};
use crate::text::{columns, printable};

const EXAMPLES: &str = "\
Examples:
  quintain workers tls://hub.example.org:4222
  quintain workers tls://hub.example.org:4222 --json
  quintain workers --key                      your public key, for `trust` in a worker.toml";

/// Lists the workers of a hub and the runs that they can play.
#[derive(Debug, clap::Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct WorkersArgs {
    /// Address of the hub.
    #[arg(value_name = "URL", required_unless_present = "key")]
    url: Option<String>,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Credentials for the hub [default: those stored by `quintain hub join`].
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Prints your public key, which belongs in `trust` in the worker.toml of workers that are to
    /// play your plans.
    #[arg(long, conflicts_with_all = ["url", "json", "credentials"])]
    key: bool,
}

pub(super) fn run(args: &WorkersArgs) -> Result<Exit> {
    let Some(url) = args.url.as_ref().filter(|_| !args.key) else {
        progress::result(&cluster::own_key()?);
        return Ok(Exit::Done);
    };
    // Either role may read the lists.
    let file = args.credentials.as_deref();
    let access = match Access::find(url, Role::Coordinator, file) {
        Err(AccessError::Missing { .. } | AccessError::Role { .. }) => Access::find(url, Role::Worker, file)?,
        found => found?,
    };
    let (runs, workers) = prepare::runtime()?.block_on(cluster::lists(&access))?;
    if args.json {
        progress::result(&json!({ "runs": runs, "workers": workers }).to_string());
        return Ok(Exit::Done);
    }
    progress::result(&table_of_workers(&workers));
    progress::result(&table_of_runs(&runs));
    Ok(Exit::Done)
}

fn table_of_workers(workers: &[WorkerEntry]) -> String {
    let rows = workers.iter().map(|worker| {
        // The part after the dot tells two processes of one user apart.
        let name = worker.name.split('.').next().unwrap_or_default();
        let state = if worker.reason.is_empty() {
            worker.state.clone()
        } else {
            format!("{}: {}", worker.state, worker.reason)
        };
        [
            name.to_owned(),
            format!("{} x{}", worker.cpu, worker.cores),
            worker.slots.to_string(),
            // One engine's speed is one number; those of several are in --json.
            worker.speeds.iter().map(|speed| format!("{:.0}", speed.nps)).collect::<Vec<_>>().join(" "),
            worker.program.clone(),
            state,
        ]
    });
    table("no workers", &["worker", "machine", "slots", "nps", "version", "state"], rows)
}

fn table_of_runs(runs: &[RunEntry]) -> String {
    let rows = runs.iter().map(|run| {
        let title = if run.title.is_empty() { &run.run } else { &run.title };
        [title.clone(), run.host.clone(), run.priority.to_string(), run.weight.to_string(), run.signer.clone()]
    });
    table("no runs", &["run", "coordinator", "priority", "weight", "author"], rows)
}

/// Rows under their heads; `none` without rows.
fn table<const N: usize>(none: &str, heads: &[&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    // Texts of other machines are shown as text.
    let rows: Vec<_> = rows.map(|row| row.map(|cell| printable(&cell)).to_vec()).collect();
    if rows.is_empty() { none.to_owned() } else { columns(heads, &rows).join("\n") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_stand_in_a_table_as_text() {
        let worker = WorkerEntry {
            v: 1,
            name: "anna.1f".to_owned(),
            cpu: "EPYC\u{1b}[31m".to_owned(),
            cores: 8,
            slots: 7,
            state: "playing".to_owned(),
            reason: "a test".to_owned(),
            ..WorkerEntry::default()
        };
        let shown = table_of_workers(&[worker]);
        let lines: Vec<_> = shown.lines().collect();
        assert!(lines[0].starts_with("worker  machine"), "{shown}");
        assert!(lines[1].starts_with("anna    EPYC") && lines[1].ends_with("playing: a test"), "{shown}");
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert_eq!(table_of_runs(&[]), "no runs");
    }
}
