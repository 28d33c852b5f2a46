//! Routes of the queue: its list, its changes, new tests and their presets, runs that are resumed.

use std::path::{Path as FilePath, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::dashboard::app::{App, answer, error, spawn_blocking_io};
use crate::run::begin::GameCommand;
use crate::run::error::RunError;
use crate::run::queue::{EntryId, again, listed};
use crate::settings::RawPlan;
use crate::source::{self, Context, OwnError};
use crate::text::with_causes;

/// Maximum number of words of a new test, and of bytes of each.
const MOST_WORDS: usize = 400;
const MOST_WORD_BYTES: usize = 4_096;

/// Time for a new test to be checked: a revision may have to be fetched.
const ADD_LIMIT: Duration = Duration::from_secs(300);

/// Folder of the plans that the form offers, below the directory of the server.
const PRESET_FOLDER: &str = "configs";

/// Maximum number of plans and revisions that the form offers.
const MOST_PRESETS: usize = 100;

/// Maximum size of a note on a run in bytes.
const MOST_NOTE_BYTES: usize = 16 << 10;

/// Name of the note in a run's folder.
pub(super) const NOTE: &str = "notes.txt";

pub(super) async fn list(State(app): State<App>) -> Result<Response, Response> {
    let queue = Arc::clone(&app.queue);
    let list = spawn_blocking_io(move || {
        let listing = queue.list()?.in_order();
        queue.has_daemon().map(|has_daemon| listed::json_of(&listing, has_daemon, true))
    })
    .await?;
    Ok(done(list))
}

/// Answers a change of the queue, or the reason that it was refused.
fn done(changed: Result<Value, RunError>) -> Response {
    match changed {
        Ok(value) => answer(StatusCode::OK, &value),
        Err(why) => error(StatusCode::CONFLICT, &with_causes(&why)),
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct ChangeQuery {
    /// New priority of the entry.
    priority: Option<i32>,
    /// Entry before which it moves; without one it moves behind all.
    before: Option<EntryId>,
}

pub(super) async fn change(
    State(app): State<App>,
    Path((id, change)): Path<(EntryId, String)>,
    Query(query): Query<ChangeQuery>,
    body: Bytes,
) -> Result<Response, Response> {
    let queue = Arc::clone(&app.queue);
    let note = String::from_utf8_lossy(&body).into_owned();
    let changed = spawn_blocking_io(move || {
        let mut begun = None;
        match change.as_str() {
            "up" => {
                queue.up(id, query.priority)?;
                begun = queue.begun_before(id)?;
            }
            "move" => queue.move_before(id, query.before)?,
            "rm" => queue.remove(id).map(|_| ())?,
            "note" => queue.note(id, &note)?,
            _ => return Ok(None),
        }
        Ok(Some(json!({ "id": id, "after": begun })))
    })
    .await?;
    match changed.transpose() {
        Some(changed) => Ok(done(changed)),
        None => Err(error(StatusCode::NOT_FOUND, "no such change: up, move, rm, note")),
    }
}

/// A new test, as `quintain queue add` takes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NewTest {
    /// A plan with flags, or a command line of a command that the queue plays.
    words: Vec<String>,
    #[serde(default)]
    priority: i32,
}

impl NewTest {
    fn parse(body: &[u8]) -> Result<Self, String> {
        let test: Self = serde_json::from_slice(body).map_err(|why| format!("not a test: {why}"))?;
        let Some(first) = test.words.first() else { return Err("the test has no words".to_owned()) };
        if first.starts_with('-') {
            return Err(format!("`{first}`: a test begins with a plan or a command"));
        }
        let is_fit = |word: &String| word.len() <= MOST_WORD_BYTES && !word.contains('\0');
        if test.words.len() > MOST_WORDS || !test.words.iter().all(is_fit) {
            return Err(format!("a test has at most {MOST_WORDS} words of at most {MOST_WORD_BYTES} bytes"));
        }
        Ok(test)
    }
}

/// Adds a test by this program's own command, in the directory of the server: the daemon may be in
/// another one.
pub(super) async fn add(State(app): State<App>, body: Bytes) -> Result<Response, Response> {
    if !app.makes_tests {
        let why = "a new test starts programs on this machine, and other machines reach this page; \
                   `quintain serve --new-tests` allows it";
        return Err(error(StatusCode::FORBIDDEN, why));
    }
    let test = NewTest::parse(&body).map_err(|why| error(StatusCode::BAD_REQUEST, &why))?;
    let results = app.queue.results().display().to_string();
    let mut args = vec!["queue".to_owned(), "--results".to_owned(), results, "add".to_owned()];
    args.push(format!("--priority={}", test.priority));
    args.extend(test.words);
    let own = Arc::clone(&app.own);
    match app.spawn_add(move || own.run(&args, ADD_LIMIT)).await? {
        Ok(said) => Ok(answer(StatusCode::OK, &json!({ "said": said.trim() }))),
        Err(why @ OwnError::Refused(_)) => Err(error(StatusCode::BAD_REQUEST, &why.to_string())),
        Err(why @ OwnError::Failed(_)) => Err(error(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string())),
    }
}

/// A plan that the form offers.
#[derive(Debug, Serialize)]
struct Preset {
    file: String,
    command: GameCommand,
    keys: RawPlan,
}

/// Plans in a folder, by name. A file that is no plan of games is left out.
fn plans(dir: &FilePath) -> Vec<Preset> {
    let entries = std::fs::read_dir(dir.join(PRESET_FOLDER)).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| FilePath::new(name).extension().is_some_and(|extension| extension == "toml"));
    names.sort();
    let read = |name: String| {
        let file = PathBuf::from(PRESET_FOLDER).join(name);
        let keys = RawPlan::read(&dir.join(&file)).ok()?;
        Some(Preset { file: file.to_str()?.to_owned(), command: GameCommand::of(&keys), keys })
    };
    names.into_iter().filter_map(read).take(MOST_PRESETS).collect()
}

pub(super) async fn presets(State(app): State<App>) -> Result<Response, Response> {
    let own = Arc::clone(&app.own);
    let found = spawn_blocking_io(move || {
        let revisions = Context::from_env().map(|context| Context { cwd: own.dir().to_owned(), ..context });
        let revisions = revisions.map(|context| source::names(&context, MOST_PRESETS)).unwrap_or_default();
        let revisions: Vec<String> = revisions.into_iter().map(|(name, _)| name).collect();
        json!({ "dir": own.dir(), "presets": plans(own.dir()), "revisions": revisions })
    })
    .await?;
    Ok(answer(StatusCode::OK, &found))
}

/// Lets the queue resume an interrupted run.
pub(super) async fn restart(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    let entry = app.entry(&id).await?;
    let (queue, own) = (Arc::clone(&app.queue), Arc::clone(&app.own));
    // The run's journal tells if it is over.
    let gone_on = app
        .spawn_long_work(move || {
            let run = entry.dir.strip_prefix(queue.results()).unwrap_or(&entry.dir);
            let id = again::go_on(&queue, run, own.dir().to_owned())?;
            Ok(json!({ "id": id, "daemon": queue.has_daemon()? }))
        })
        .await?;
    Ok(done(gone_on))
}

/// Keeps a note on a run in its folder; an empty one removes it.
pub(super) async fn note(State(app): State<App>, Path(id): Path<String>, body: Bytes) -> Result<Response, Response> {
    let entry = app.entry(&id).await?;
    let text = std::str::from_utf8(&body).ok().filter(|text| text.len() <= MOST_NOTE_BYTES).map(str::to_owned);
    let Some(text) = text else {
        return Err(error(StatusCode::BAD_REQUEST, &format!("a note is text of at most {MOST_NOTE_BYTES} bytes")));
    };
    let path = entry.dir.join(NOTE);
    let written = spawn_blocking_io(move || {
        if text.trim().is_empty() {
            return std::fs::remove_file(&path).or_else(|why| match why.kind() {
                std::io::ErrorKind::NotFound => Ok(()),
                _ => Err(why),
            });
        }
        crate::files::write_atomically(&path, text.as_bytes())
    })
    .await?;
    match written {
        Ok(()) => Ok(answer(StatusCode::OK, &json!({ "written": true }))),
        Err(why) => Err(error(StatusCode::INTERNAL_SERVER_ERROR, &format!("the note cannot be written: {why}"))),
    }
}
