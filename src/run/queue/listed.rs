//! The queue as users see it: each entry's state, title and results.

use serde_json::{Value, json};

use crate::report::stored::id_of;
use crate::run::Exit;
use crate::run::queue::{EntryId, Listing, QueueEntry, QueueState};
use crate::settings::RawPlan;

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

/// Title of settings: the note, else the engines.
pub(crate) fn title(raw: &RawPlan) -> String {
    if let Some(note) = &raw.note {
        return note.clone();
    }
    let short = |spec: &str| match spec.strip_prefix("git:") {
        Some(rev) if rev.len() >= 40 && rev.is_char_boundary(8) => rev[..8].to_owned(),
        _ => spec.to_owned(),
    };
    if let Some(engine) = &raw.engine {
        return format!("tuning of {}", short(engine));
    }
    match (&raw.new, raw.players.as_slice()) {
        (Some(new), _) => {
            format!("{} against {}", short(new), raw.base.as_deref().map_or("the commit before".to_owned(), short))
        }
        (None, players) => {
            let specs: Vec<String> = players.iter().filter_map(|player| player.spec.as_deref()).map(short).collect();
            let base = raw.base.as_deref().map(|base| format!(" against {}", short(base))).unwrap_or_default();
            specs.join(", ") + &base
        }
    }
}

fn entry_json(id: EntryId, entry: &QueueEntry, has_daemon: bool) -> Value {
    json!({
        "id": id,
        "command": entry.command,
        "state": state(entry, has_daemon),
        "priority": entry.priority,
        "title": entry.plans.first().map(title),
        "runs": entry.runs.iter().map(|run| id_of(run)).collect::<Vec<_>>(),
        "results": results(entry),
        "plans": entry.plans.len(),
        "error": entry.error,
    })
}
