//! Routes of a run's documents: those that this program's own commands print, and the files in its
//! folder.

use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::dashboard::app::{App, answer, error, plain, spawn_blocking_io};
use crate::dashboard::standings;
use crate::files::{MOST_DOCUMENT_BYTES, inside, open_regular, read_bytes};
use crate::journal::{self, archive};
use crate::plan::{Plan, file as plan_file};
use crate::report::crashes;
use crate::report::pgn_file;
use crate::report::state::ListedState;
use crate::report::stored::{self, IndexEntry};
use crate::source::{self, Context, OwnError};

/// Time for a document to be made.
const LIMIT: Duration = Duration::from_secs(120);

/// Files of a run that may be downloaded, with their types.
const FILES: [(&str, &str); 5] = [
    (plan_file::FILE_NAME, "text/plain; charset=utf-8"),
    (journal::FILE_NAME, "application/x-ndjson"),
    (archive::ARCHIVE_NAME, "application/gzip"),
    (pgn_file::FILE_NAME, "application/x-chess-pgn"),
    (stored::SUMMARY, "application/json"),
];

/// Files of a failed game.
const CRASH_FILES: [&str; 3] = [crashes::ABOUT, crashes::TRANSCRIPT, crashes::STDERR];

/// Policy of the report: the page names the hash of its one script itself. It has an origin of its
/// own, which can read nothing of the dashboard.
const REPORT_POLICY: &str = "sandbox allow-scripts; default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                             base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Failed games that are listed.
const MOST_CRASHES: usize = 500;

/// Bytes of a diff that are sent.
const MOST_DIFF: usize = 1 << 20;

/// Bytes of a file that are read at once.
const CHUNK: usize = 64 << 10;

/// Names of the existing files and failed games.
pub(super) fn listed(entry: &IndexEntry) -> (Vec<&'static str>, Vec<Value>) {
    let files = FILES.iter().map(|(name, _)| *name).filter(|name| inside(&entry.dir, name).is_some());
    let crash = |game: u64| {
        let is_there = |name: &&str| inside(&entry.dir, crashes::file(game, name)).is_some();
        let files: Vec<&str> = CRASH_FILES.into_iter().filter(is_there).collect();
        json!({ "game": game, "files": files })
    };
    (files.collect(), crashes::games(&entry.dir, MOST_CRASHES).into_iter().map(crash).collect())
}

/// Figures of a run that need its whole journal.
pub(super) async fn more(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    let entry = app.entry(&id).await?;
    match app.ask_fold(&id, &entry.dir, standings::of).await? {
        Ok(told) => Ok(answer(StatusCode::OK, &told)),
        Err(why) => Err(error(StatusCode::NOT_FOUND, &why.to_string())),
    }
}

/// A document that a command of this program prints.
async fn printed(app: &App, id: &str, words: &[&str]) -> Result<String, Response> {
    let entry = app.entry(id).await?;
    let (command, flags) = words.split_first().unwrap_or((&"report", &[]));
    let mut args = vec![(*command).to_owned(), entry.dir.display().to_string()];
    args.extend(flags.iter().map(|flag| (*flag).to_owned()));
    let own = Arc::clone(&app.own);
    app.spawn_long_work(move || own.run(&args, LIMIT)).await?.map_err(|why| own_failed(&why))
}

fn own_failed(why: &OwnError) -> Response {
    match why {
        OwnError::Refused(why) => error(StatusCode::NOT_FOUND, why),
        OwnError::Failed(why) => error(StatusCode::INTERNAL_SERVER_ERROR, why),
    }
}

pub(super) async fn report(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    let page = printed(&app, &id, &["report", "--format", "html"]).await?;
    let mut response = ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page).into_response();
    response.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(REPORT_POLICY));
    Ok(response)
}

pub(super) async fn markdown(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    Ok(plain(printed(&app, &id, &["report", "--format", "md"]).await?))
}

pub(super) async fn explain(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    Ok(plain(printed(&app, &id, &["explain", "--player", "all"]).await?))
}

/// A file of the run's folder, as a download.
pub(super) async fn file(
    State(app): State<App>,
    Path((id, name)): Path<(String, String)>,
) -> Result<Response, Response> {
    let missing = || error(StatusCode::NOT_FOUND, "this run has no such file");
    let entry = app.entry(&id).await?;
    let (name, kind) = *FILES.iter().find(|(known, _)| *known == name).ok_or_else(missing)?;
    let opened = spawn_blocking_io(move || open_regular(&inside(&entry.dir, name)?).ok()).await?;
    let file = opened.ok_or_else(missing)?;
    let run = id.rsplit('/').next().unwrap_or("run");
    let run: String =
        run.chars().map(|c| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' }).collect();
    let disposition = format!("attachment; filename=\"{run}-{name}\"");
    let body = Body::from_stream(futures_util::stream::unfold(Some(file), |file| async move {
        let mut file = file?;
        let read = move || {
            let mut chunk = vec![0; CHUNK];
            let length = file.read(&mut chunk)?;
            chunk.truncate(length);
            Ok((Bytes::from(chunk), file))
        };
        // An error ends the connection before the promised end, so that a client notices.
        match tokio::task::spawn_blocking(read).await.unwrap_or_else(|why| Err(std::io::Error::other(why))) {
            Ok((chunk, _)) if chunk.is_empty() => None,
            Ok((chunk, file)) => Some((Ok(chunk), Some(file))),
            Err(why) => Some((Err(why), None)),
        }
    }));
    let headers = [(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, disposition)];
    Ok((headers, body).into_response())
}

/// Transcript, standard error or description of a failed game.
pub(super) async fn crash(
    State(app): State<App>,
    Path((id, game, name)): Path<(String, u64, String)>,
) -> Result<Response, Response> {
    let missing = || error(StatusCode::NOT_FOUND, "this run has no such file");
    let entry = app.entry(&id).await?;
    let name = CRASH_FILES.into_iter().find(|known| *known == name).ok_or_else(missing)?;
    let read = move || read_bytes(&inside(&entry.dir, crashes::file(game, name))?, MOST_DOCUMENT_BYTES).ok();
    let bytes = spawn_blocking_io(read).await?.ok_or_else(missing)?;
    Ok(plain(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Objects of the first two players between which the source changed.
fn sides(plan: &Plan) -> Option<[String; 2]> {
    let [new, base, ..] = plan.players.as_slice() else { return None };
    // A working tree with changes is no commit, but has a tree.
    let object = |origin: &crate::plan::Origin| {
        if origin.dirty { origin.tree.clone() } else { origin.commit.clone() }
    };
    Some([object(&base.origin)?, object(&new.origin)?])
}

/// Changes between the sources of the two sides of a test.
pub(super) async fn diff(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    let entry = app.entry(&id).await?;
    let own = Arc::clone(&app.own);
    let diff = app
        .spawn_long_work(move || {
            let plan = stored::plan(&entry.dir).ok_or("this run has no plan")?;
            let [old, new] = sides(&plan).ok_or("the two sides are not both built from commits")?;
            let context = Context::from_env().map_err(|why| why.to_string())?;
            let context = Context { cwd: own.dir().to_owned(), ..context };
            source::diff(&context, &old, &new).map_err(|why| format!("Git does not know both sides here: {why}"))
        })
        .await?;
    let mut text = diff.map_err(|why| error(StatusCode::NOT_FOUND, &why))?;
    if text.len() > MOST_DIFF {
        let end = (0..=MOST_DIFF).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        text.truncate(end);
        text.push_str("\n... cut off here: `git diff` shows the rest\n");
    }
    Ok(plain(text))
}

/// Selection of games for the project's progress.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ProgressQuery {
    /// Condition, as the list of conditions names it; empty for the only one.
    at: String,
    mix: bool,
    /// True for a sheet of a phone's width.
    narrow: bool,
}

/// Folders of the runs whose games can be rated. The sides of a tuning play trial values.
async fn rated(app: &App) -> Result<Vec<String>, Response> {
    let index = app.index().await?;
    let is_rated = |entry: &IndexEntry| {
        let about = &entry.about;
        about.state != ListedState::Damaged && about.format != "tune" && archive::stored_name(&entry.dir).is_some()
    };
    let runs: Vec<String> =
        index.runs.values().filter(|entry| is_rated(entry)).map(|entry| entry.dir.display().to_string()).collect();
    if runs.is_empty() {
        return Err(error(StatusCode::NOT_FOUND, "no run with a journal is stored yet"));
    }
    Ok(runs)
}

/// Conditions of the games of all stored runs, most games first.
pub(super) async fn conditions(State(app): State<App>) -> Result<Response, Response> {
    let runs = rated(&app).await?;
    let own = Arc::clone(&app.own);
    let mut args = ["progress", "--conditions", "--json", "--"].map(str::to_owned).to_vec();
    args.extend(runs);
    let listed = app.spawn_long_work(move || own.run(&args, LIMIT)).await?.map_err(|why| own_failed(&why))?;
    match serde_json::from_str::<Value>(&listed) {
        Ok(listed) => Ok(answer(StatusCode::OK, &listed)),
        Err(why) => Err(error(StatusCode::INTERNAL_SERVER_ERROR, &format!("the conditions cannot be read: {why}"))),
    }
}

/// Elo of the project's versions, from all stored runs, as a picture.
pub(super) async fn progress(State(app): State<App>, Query(query): Query<ProgressQuery>) -> Result<Response, Response> {
    let runs = rated(&app).await?;
    let own = Arc::clone(&app.own);
    let drawn = app
        .spawn_long_work(move || {
            let failed = |why: std::io::Error| OwnError::Failed(format!("no place for the picture: {why}"));
            let folder = tempfile::tempdir().map_err(failed)?;
            let picture = folder.path().join("progress.svg");
            let mut args = vec!["progress".to_owned(), format!("--out={}", picture.display())];
            if !query.at.is_empty() {
                args.push(format!("--at={}", query.at));
            } else if query.mix {
                args.push("--mix".to_owned());
            }
            if query.narrow {
                args.push("--narrow".to_owned());
            }
            args.push("--".to_owned());
            args.extend(runs);
            own.run(&args, LIMIT)?;
            std::fs::read_to_string(&picture).map_err(failed)
        })
        .await?;
    let svg = drawn.map_err(|why| own_failed(&why))?;
    Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg).into_response())
}
