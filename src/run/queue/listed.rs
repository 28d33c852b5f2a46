//! The queue as users see it: each entry's state, title and results.

use serde_json::{Value, json};

use crate::report::stored::id_of;
use crate::run::Exit;
use crate::run::queue::title::title;
use crate::run::queue::{EntryId, Listing, QueueEntry, QueueState};

/// Document of a queue, with the entries in the given order; `all` includes those that are over.
pub(crate) fn json_of(listing: &Listing, has_daemon: bool, all: bool) -> Value {
    let shown = listing.entries.iter().filter(|(_, entry)| all || entry.state != QueueState::Done);
    let mut entries: Vec<Value> = shown.map(|(id, entry)| entry_json(*id, entry, has_daemon)).collect();
    entries.extend(listing.damaged.iter().map(|(id, why)| json!({ "id": id, "state": "damaged", "error": why })));
    json!({ "daemon": has_daemon, "entries": entries })
}

/// State of an entry in one word.
pub(crate) fn state(entry: &QueueEntry, has_daemon: bool) -> &'static str {
    match entry.state {
        QueueState::Playing if has_daemon => "playing",
        QueueState::Playing | QueueState::Waiting => "waiting",
        QueueState::Stopped => "stopped",
        QueueState::Failed => "failed",
        QueueState::Done => "done",
    }
}

/// Results of the runs that are over.
pub(crate) fn results(entry: &QueueEntry) -> Vec<&'static str> {
    entry.exits.iter().filter_map(|code| Some(entry.command.result(Exit::from_code(*code)?))).collect()
}

/// Document of one entry.
pub(crate) fn entry_json(id: EntryId, entry: &QueueEntry, has_daemon: bool) -> Value {
    json!({
        "id": id,
        "command": entry.command,
        "state": state(entry, has_daemon),
        "priority": entry.priority,
        "title": title(entry),
        "runs": entry.runs.iter().map(|run| id_of(run)).collect::<Vec<_>>(),
        "results": results(entry),
        "plans": entry.plans.len(),
        "error": entry.error,
    })
}
