//! The routes of the dashboard. Pages hold no data; data is JSON, SVG or a stream of server-sent
//! events.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::control::client::{Client, ClientError};
use crate::control::protocol::{ClientMessage, RunProgress, ServerMessage};
use crate::dashboard::fold::{FoldError, Folds};
use crate::dashboard::guard::{Facts, Guard, RequestRefusal, TOKEN_HEADER};
use crate::dashboard::live::{Hub, LiveRun, LiveStatus, ServerSentEvent};
use crate::dashboard::machine::MachineFigures;
use crate::dashboard::store::ResultsStore;
use crate::report::stored::{self, Entry, Index, RunDigest};
use crate::stats::elo::Elo;
use crate::stats::estimates::Estimates;

/// Streams at once: half of the connections of one address, so that other requests always have
/// room.
const MAX_STREAMS: usize = 64;

/// Most runs on a page.
const MAX_PAGE: usize = 200;

/// Content security policy: the page may load its own files, speak to its own host and show
/// pictures that it was sent, and nothing else. A picture opened by itself can do nothing at all.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

#[derive(Clone)]
struct App {
    guard: Arc<Guard>,
    store: Arc<ResultsStore>,
    folds: Arc<Folds>,
    hub: Hub,
    streams: Arc<Semaphore>,
}

/// All routes, behind the guard.
pub(super) fn router(guard: Guard, results: PathBuf) -> Router {
    let app = App {
        guard: Arc::new(guard),
        store: Arc::new(ResultsStore::new(results)),
        folds: Arc::default(),
        hub: Hub::default(),
        streams: Arc::new(Semaphore::new(MAX_STREAMS)),
    };
    Router::new()
        .route("/", get(|| page("text/html; charset=utf-8", include_str!("page/index.html"))))
        .route("/app.css", get(|| page("text/css; charset=utf-8", include_str!("page/app.css"))))
        .route("/app.js", get(|| page("text/javascript; charset=utf-8", include_str!("page/app.js"))))
        .route("/view.js", get(|| page("text/javascript; charset=utf-8", include_str!("page/view.js"))))
        .route("/favicon.svg", get(|| page("image/svg+xml", include_str!("page/favicon.svg"))))
        .route("/api/info", get(info))
        .route("/api/runs", get(runs))
        .route("/api/runs/{id}", get(run))
        .route("/api/runs/{id}/events", get(events))
        .route("/api/runs/{id}/llr.svg", get(llr_svg))
        .route("/api/runs/{id}/elo.svg", get(elo_svg))
        .route("/api/runs/{id}/tune.svg", get(tune_svg))
        .route("/api/runs/{id}/{command}", post(steer))
        .fallback(|| async { error(StatusCode::NOT_FOUND, "there is no such page") })
        .layer(from_fn_with_state(app.clone(), guarded))
        .with_state(app)
}

async fn page(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

fn error(status: StatusCode, why: &str) -> Response {
    answer(status, &json!({ "error": why }))
}

fn answer<T: Serialize + ?Sized>(status: StatusCode, value: &T) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Passes on requests that the guard allows, and adds the security headers to the answer.
async fn guarded(State(app): State<App>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    // A request in a proxy's form names its host in the first line.
    let host = request.uri().authority().map(axum::http::uri::Authority::as_str).or_else(|| text("host"));
    let asked = Facts {
        is_safe: matches!(*request.method(), Method::GET | Method::HEAD),
        is_data: request.uri().path().starts_with("/api/"),
        host,
        origin: text("origin"),
        fetch_site: text("sec-fetch-site"),
        token: text(TOKEN_HEADER),
    };
    let mut response = match app.guard.check(&asked) {
        Ok(()) => next.run(request).await,
        Err(refusal) => {
            let status = match refusal {
                RequestRefusal::Host => StatusCode::MISDIRECTED_REQUEST,
                RequestRefusal::Foreign => StatusCode::FORBIDDEN,
                RequestRefusal::Token => StatusCode::UNAUTHORIZED,
            };
            error(status, &refusal.to_string())
        }
    };
    for (name, value) in [
        ("content-security-policy", POLICY),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// Runs blocking I/O on the blocking thread pool.
async fn spawn_blocking_io<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Response> {
    let failed = |_| error(StatusCode::INTERNAL_SERVER_ERROR, "the work was not done");
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

async fn info(State(app): State<App>) -> Result<Response, Response> {
    let is_private = app.guard.is_private();
    let machine = spawn_blocking_io(MachineFigures::now).await?;
    let value = json!({ "version": env!("CARGO_PKG_VERSION"), "private": is_private, "machine": machine });
    Ok(answer(StatusCode::OK, &value))
}

/// Selection and order of the runs to list.
#[derive(Debug, Deserialize)]
#[serde(default)]
struct ListQuery {
    /// From 0.
    page: usize,
    size: usize,
    /// `live`, `over`, `interrupted`, or nothing for all.
    state: String,
    /// Part of the run's id, its name or a player's name; case does not matter.
    q: String,
    /// `date`, `name`, `elo` or `pairs`.
    sort: String,
    ascending: bool,
}

impl Default for ListQuery {
    fn default() -> Self {
        let [state, q] = [String::new(), String::new()];
        Self { page: 0, size: 50, state, q, sort: "date".to_owned(), ascending: false }
    }
}

/// A run in the list: as stored, with current figures if it is live.
#[derive(Debug, Serialize)]
struct RunRow {
    id: String,
    #[serde(flatten)]
    about: RunDigest,
    status: Option<LiveStatus>,
}

fn row(id: &str, about: &RunDigest, live: Option<Arc<LiveRun>>) -> RunRow {
    let mut row = RunRow { id: id.to_owned(), about: about.clone(), status: None };
    let Some(live) = live else { return row };
    row.about.state = "live";
    // The verdict of an earlier stop does not apply to a live run.
    (row.about.estimates.verdict, row.about.stopped_by) = (None, None);
    let (progress, status) = live.figures();
    row.status = status;
    if let Some(RunProgress { pairs, estimates, .. }) = progress {
        row.about.pairs = Some(pairs);
        row.about.estimates = Estimates { verdict: None, ..estimates };
    }
    row
}

async fn runs(State(app): State<App>, Query(query): Query<ListQuery>) -> Result<Response, Response> {
    let index = index(&app).await?;
    let list = list(&index, &app.hub, &query);
    Ok(answer(StatusCode::OK, &list))
}

async fn index(app: &App) -> Result<Arc<Index>, Response> {
    let (store, hub) = (Arc::clone(&app.store), app.hub.clone());
    spawn_blocking_io(move || {
        let index = store.index();
        hub.look(&index);
        index
    })
    .await
}

fn list(index: &Index, hub: &Hub, query: &ListQuery) -> Value {
    let mut found: Vec<(&String, &Entry, Option<Arc<LiveRun>>)> = index
        .runs
        .iter()
        .filter(|(id, entry)| entry.about.names(id, &query.q))
        .map(|(id, entry)| (id, entry, entry.socket.and_then(|_| hub.get(id))))
        .filter(|(_, entry, live)| {
            let state = if live.is_some() { "live" } else { entry.about.state };
            query.state.is_empty() || query.state == state
        })
        .collect();
    found.sort_by(|(one_id, one, one_live), (other_id, other, other_live)| {
        let by_value = order(&query.sort, &one.about, &other.about);
        let by_value = if query.ascending { by_value } else { by_value.reverse() };
        // Live runs come first in every order.
        other_live.is_some().cmp(&one_live.is_some()).then(by_value).then_with(|| one_id.cmp(other_id))
    });
    let size = query.size.clamp(1, MAX_PAGE);
    let page = found.iter().skip(query.page.saturating_mul(size)).take(size);
    let rows: Vec<RunRow> = page.map(|(id, entry, live)| row(id, &entry.about, live.clone())).collect();
    json!({
        "total": found.len(),
        "stored": index.runs.len(),
        "page": query.page,
        "size": size,
        "files_read": index.files_read,
        "looks": index.looks,
        "runs": rows,
    })
}

fn order(by: &str, one: &RunDigest, other: &RunDigest) -> Ordering {
    let elo = |about: &RunDigest| about.estimates.elo.and_then(Elo::finite).unwrap_or(f64::NEG_INFINITY);
    match by {
        "name" => one.name.cmp(&other.name),
        "pairs" => one.pairs.cmp(&other.pairs),
        // Unknown values sort below all known ones.
        "elo" => elo(one).total_cmp(&elo(other)),
        _ => one.date.cmp(&other.date),
    }
}

/// The run that a request names. Only runs of the index are found.
async fn entry(app: &App, id: &str) -> Result<Entry, Response> {
    let index = index(app).await?;
    index.runs.get(id).cloned().ok_or_else(|| error(StatusCode::NOT_FOUND, "there is no such run"))
}

async fn run(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    let entry = entry(&app, &id).await?;
    let live = app.hub.get(&id);
    let lines = live.as_ref().map(|live| live.lines());
    let row = row(&id, &entry.about, live);
    let folds = Arc::clone(&app.folds);
    let value = spawn_blocking_io(move || detail(&folds, &entry, &row, lines)).await?;
    Ok(answer(StatusCode::OK, &value))
}

fn detail(folds: &Folds, entry: &Entry, row: &RunRow, lines: Option<Vec<String>>) -> Value {
    let dir = &entry.dir;
    let stored = stored::text(&dir.join(stored::SUMMARY)).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    // A live run reports its figures itself, and one that was stopped has them in its summary.
    let summary = match stored {
        None if lines.is_none() => folds.ask(&row.id, dir, super::fold::Fold::summary).ok(),
        stored => stored,
    };
    let plan = stored::plan(dir).map(|plan| {
        let machine = json!({ "cpu": plan.machine.cpu, "cores": plan.machine.cores, "os": plan.machine.os });
        json!({
            "seed": plan.seed,
            "concurrency": plan.concurrency,
            "max_pairs": plan.max_pairs,
            "test": plan.test.map(|test| json!({
                "model": test.model.to_string(),
                "elo0": test.bounds.elo0,
                "elo1": test.bounds.elo1,
                "alpha": test.alpha,
                "beta": test.beta,
            })),
            "machine": machine,
        })
    });
    let mut crashes: Vec<String> = std::fs::read_dir(dir.join("crashes"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .take(MAX_PAGE)
        .collect();
    crashes.sort();
    json!({ "run": row, "summary": summary, "plan": plan, "crashes": crashes, "lines": lines })
}

async fn llr_svg(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    picture(&app, id, super::fold::Fold::llr_svg).await
}

async fn elo_svg(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    picture(&app, id, super::fold::Fold::elo_svg).await
}

async fn tune_svg(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    picture(&app, id, super::fold::Fold::tune_svg).await
}

async fn picture(app: &App, id: String, draw: fn(&super::fold::Fold) -> Option<String>) -> Result<Response, Response> {
    let entry = entry(app, &id).await?;
    let folds = Arc::clone(&app.folds);
    let drawn = spawn_blocking_io(move || folds.ask(&id, &entry.dir, draw)).await?;
    match drawn {
        Ok(Some(svg)) => Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg).into_response()),
        Ok(None) => Err(error(StatusCode::NOT_FOUND, "this run has no such picture")),
        Err(why @ FoldError::Missing) => Err(error(StatusCode::NOT_FOUND, &why.to_string())),
        Err(why) => Err(error(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string())),
    }
}

/// The stream of a live run: `snapshot` first, then the changes, `gone` last.
async fn events(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    entry(&app, &id).await?;
    let live = app.hub.get(&id).ok_or_else(|| error(StatusCode::CONFLICT, "no process is playing this run"))?;
    let Ok(permit) = Arc::clone(&app.streams).try_acquire_owned() else {
        return Err(error(StatusCode::SERVICE_UNAVAILABLE, "too many pages look at live runs; close one"));
    };
    let view = LiveRun::view(live);
    let first = view.run().snapshot();
    let stream = futures_util::stream::unfold((view, Some(first), false, permit), |state| async move {
        let (mut view, first, is_over, permit) = state;
        let message = match first {
            Some(first) => first,
            None if is_over => return None,
            None => view.next().await?,
        };
        let is_over = message.0 == "gone";
        Some((Ok::<_, Infallible>(event(&message)), (view, None, is_over, permit)))
    });
    Ok(Sse::new(stream).keep_alive(KeepAlive::new().interval(Duration::from_secs(15))).into_response())
}

fn event((kind, text): &ServerSentEvent) -> Event {
    Event::default().event(kind).data(text)
}

#[derive(Debug, Deserialize)]
struct SteerQuery {
    games: Option<u16>,
}

async fn steer(
    State(app): State<App>,
    Path((id, command)): Path<(String, String)>,
    Query(query): Query<SteerQuery>,
) -> Result<Response, Response> {
    let ask = match (command.as_str(), query.games) {
        ("pause", None) => ClientMessage::Pause,
        ("resume", None) => ClientMessage::Resume,
        ("stop", None) => ClientMessage::Stop,
        ("concurrency", Some(games)) => ClientMessage::Concurrency { games },
        _ => return Err(error(StatusCode::NOT_FOUND, "no such command: pause, resume, stop, concurrency?games=N")),
    };
    let entry = entry(&app, &id).await?;
    let asked = spawn_blocking_io(move || Client::connect(&entry.dir)?.ask(ask)).await?;
    match asked {
        Ok((_, ServerMessage::Status { phase, concurrency, playing, .. })) => {
            Ok(answer(StatusCode::OK, &LiveStatus { phase, concurrency, playing }))
        }
        Ok((_, ServerMessage::Error { error: why })) => Err(error(StatusCode::CONFLICT, &why)),
        Err(ClientError::NotLive { .. }) => Err(error(StatusCode::CONFLICT, "no process is playing this run")),
        Ok(_) | Err(ClientError::Io { .. }) => Err(error(StatusCode::BAD_GATEWAY, "the run does not answer")),
    }
}
