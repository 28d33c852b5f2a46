//! The routes of the dashboard. Pages hold no data; data is JSON, SVG or a stream of server-sent
//! events.

use std::cmp::Ordering;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Path, Query, Request, State};
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::control::client::{Client, ClientError};
use crate::control::protocol::{ClientMessage, RunProgress, ServerMessage};
use crate::dashboard::app::{App, answer, error, spawn_blocking_io};
use crate::dashboard::documents;
use crate::dashboard::fold::{Fold, FoldError};
use crate::dashboard::games;
use crate::dashboard::guard::{Facts, RequestRefusal, TOKEN_HEADER};
use crate::dashboard::live::{Hub, LiveRun, LiveStatus, MAX_LINES, ServerSentEvent};
use crate::dashboard::machine::MachineFigures;
use crate::dashboard::queue;
use crate::plan::file;
use crate::report::event_log;
use crate::report::plot::Sheet;
use crate::report::state::ListedState;
use crate::report::stored::{self, Index, IndexEntry, RunDigest};
use crate::run::extension;
use crate::stats::elo::Elo;
use crate::stats::estimates::Estimates;

/// Media type of the page's scripts.
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Maximum size of a request's body in bytes.
const MAX_BODY: usize = 64 << 10;

/// Maximum number of runs on a page.
const MAX_PAGE: usize = 200;

/// Content security policy: the page may load its own files, speak to its own host and show
/// pictures that it was sent, and nothing else. A picture opened by itself can do nothing at all.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// All routes, behind the guard.
pub(super) fn router(app: App) -> Router {
    Router::new()
        .route("/", get(|| page("text/html; charset=utf-8", include_str!("page/index.html"))))
        .route("/app.css", get(|| page("text/css; charset=utf-8", include_str!("page/app.css"))))
        .route("/app.js", get(|| page(SCRIPT, include_str!("page/app.js"))))
        .route("/api.js", get(|| page(SCRIPT, include_str!("page/api.js"))))
        .route("/games.js", get(|| page(SCRIPT, include_str!("page/games.js"))))
        .route("/more.js", get(|| page(SCRIPT, include_str!("page/more.js"))))
        .route("/queue.js", get(|| page(SCRIPT, include_str!("page/queue.js"))))
        .route("/run.js", get(|| page(SCRIPT, include_str!("page/run.js"))))
        .route("/view.js", get(|| page(SCRIPT, include_str!("page/view.js"))))
        .route("/favicon.svg", get(|| page("image/svg+xml", include_str!("page/favicon.svg"))))
        .route("/api/info", get(info))
        .route("/api/queue", get(queue::list).post(queue::add))
        .route("/api/queue/{id}/{change}", post(queue::change))
        .route("/api/presets", get(queue::presets))
        .route("/api/runs", get(runs))
        .route("/api/runs/{id}", get(run))
        .route("/api/runs/{id}/events", get(events))
        .route("/api/runs/{id}/llr.svg", get(llr_svg))
        .route("/api/runs/{id}/elo.svg", get(elo_svg))
        .route("/api/runs/{id}/tune.svg", get(tune_svg))
        .route("/api/runs/{id}/moves.svg", get(moves_svg))
        .route("/api/conditions", get(documents::conditions))
        .route("/api/progress.svg", get(documents::progress))
        .route("/api/runs/{id}/more", get(documents::more))
        .route("/api/runs/{id}/games", get(games::list))
        .route("/api/runs/{id}/games/{game}", get(games::one))
        .route("/api/runs/{id}/games/{game}/pgn", get(games::pgn))
        .route("/api/runs/{id}/report", get(documents::report))
        .route("/api/runs/{id}/report.md", get(documents::markdown))
        .route("/api/runs/{id}/explain", get(documents::explain))
        .route("/api/runs/{id}/diff", get(documents::diff))
        .route("/api/runs/{id}/files/{name}", get(documents::file))
        .route("/api/runs/{id}/crashes/{game}/{name}", get(documents::crash))
        .route("/api/runs/{id}/restart", post(queue::restart))
        .route("/api/runs/{id}/notes", post(queue::note))
        .route("/api/runs/{id}/{command}", post(steer))
        .fallback(|| async { error(StatusCode::NOT_FOUND, "there is no such page") })
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .layer(from_fn_with_state(app.clone(), guarded))
        .with_state(app)
}

async fn page(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
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
        path: request.uri().path(),
        key: request.uri().query().and_then(|query| query.strip_prefix("key=")),
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
    let headers = response.headers_mut();
    // The report has a policy of its own.
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(POLICY));
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cache-control", "no-store"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

async fn info(State(app): State<App>) -> Result<Response, Response> {
    let is_private = app.guard.is_private();
    let machine = spawn_blocking_io(MachineFigures::now).await?;
    let value = json!({
        "version": env!("CARGO_PKG_VERSION"),
        "private": is_private,
        "makes_tests": app.makes_tests,
        "machine": machine,
    });
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
    row.about.state = ListedState::Live;
    // The result of an earlier stop does not apply to a live run.
    row.about.estimates.verdict = None;
    (row.about.stopped_by, row.about.outcome) = (None, None);
    let (progress, status) = live.figures();
    row.status = status;
    if let Some(RunProgress { pairs, estimates, .. }) = progress {
        row.about.pairs = Some(pairs);
        row.about.estimates = Estimates { verdict: None, ..estimates };
    }
    row
}

async fn runs(State(app): State<App>, Query(query): Query<ListQuery>) -> Result<Response, Response> {
    let index = app.index().await?;
    let list = list(&index, &app.hub, &query);
    Ok(answer(StatusCode::OK, &list))
}

fn list(index: &Index, hub: &Hub, query: &ListQuery) -> Value {
    let mut found: Vec<(&String, &IndexEntry, Option<Arc<LiveRun>>)> = index
        .runs
        .iter()
        .filter(|(id, entry)| entry.about.names(id, &query.q))
        .map(|(id, entry)| (id, entry, entry.socket.and_then(|_| hub.get(id))))
        .filter(|(_, entry, live)| {
            let state = if live.is_some() { ListedState::Live } else { entry.about.state };
            query.state.is_empty() || query.state == state.name()
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

async fn run(State(app): State<App>, Path(id): Path<String>, uri: Uri) -> Result<Response, Response> {
    let entry = app.entry(&id).await?;
    let live = app.hub.get(&id);
    let lines = live.as_ref().map(|live| live.lines());
    let row = row(&id, &entry.about, live);
    let summary = summary(&app, &entry, &id, lines.is_some()).await?;
    let mut value = spawn_blocking_io(move || detail(&entry, &row, summary.as_ref(), lines)).await?;
    if app.guard.is_private() {
        value["key"] = app.guard.key(uri.path()).into();
    }
    Ok(answer(StatusCode::OK, &value))
}

/// The summary of a run, of an interrupted one by its journal.
async fn summary(app: &App, entry: &IndexEntry, id: &str, is_live: bool) -> Result<Option<Value>, Response> {
    let path = entry.dir.join(stored::SUMMARY);
    let read = move || stored::text(&path).and_then(|text| serde_json::from_str(&text).ok());
    match spawn_blocking_io(read).await? {
        // A live run reports its figures itself, and one that was stopped has them in its summary.
        None if !is_live => Ok(app.ask_fold(id, &entry.dir, Fold::summary).await?.ok()),
        stored => Ok(stored),
    }
}

fn detail(entry: &IndexEntry, row: &RunRow, summary: Option<&Value>, lines: Option<Vec<String>>) -> Value {
    let dir = &entry.dir;
    let plan = extension::stored_plan(dir).ok().flatten().map(|plan| {
        let machine = json!({ "cpu": plan.machine.cpu, "cores": plan.machine.cores, "os": plan.machine.os });
        json!({
            "seed": plan.seed,
            "concurrency": plan.concurrency,
            "at_hub": plan.is_at_hub(),
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
    let (files, crashes) = documents::listed(entry);
    let written = stored::text(&dir.join(file::FILE_NAME)).and_then(|text| text.parse::<toml::Table>().ok());
    json!({
        "run": row,
        "summary": summary,
        "plan": plan,
        "written": written,
        "files": files,
        "crashes": crashes,
        "lines": lines.unwrap_or_else(|| event_log::read(dir, MAX_LINES)),
        "notes": stored::text(&dir.join(queue::NOTE)),
    })
}

/// Form of a picture.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PictureQuery {
    /// True for a sheet of a phone's width.
    pub(super) narrow: bool,
}

impl PictureQuery {
    const fn sheet(self) -> Sheet {
        if self.narrow { Sheet::Narrow } else { Sheet::Wide }
    }
}

async fn llr_svg(State(app): State<App>, Path(id): Path<String>, Query(form): Query<PictureQuery>) -> PictureAnswer {
    picture(&app, id, form, Fold::llr_svg).await
}

async fn elo_svg(State(app): State<App>, Path(id): Path<String>, Query(form): Query<PictureQuery>) -> PictureAnswer {
    picture(&app, id, form, Fold::elo_svg).await
}

async fn tune_svg(State(app): State<App>, Path(id): Path<String>, Query(form): Query<PictureQuery>) -> PictureAnswer {
    picture(&app, id, form, Fold::tune_svg).await
}

async fn moves_svg(State(app): State<App>, Path(id): Path<String>, Query(form): Query<PictureQuery>) -> PictureAnswer {
    picture(&app, id, form, Fold::moves_svg).await
}

type PictureAnswer = Result<Response, Response>;

async fn picture(app: &App, id: String, form: PictureQuery, draw: fn(&Fold, Sheet) -> Option<String>) -> PictureAnswer {
    let entry = app.entry(&id).await?;
    match app.ask_fold(&id, &entry.dir, move |fold| draw(fold, form.sheet())).await? {
        Ok(Some(svg)) => Ok(([(header::CONTENT_TYPE, "image/svg+xml")], svg).into_response()),
        Ok(None) => Err(error(StatusCode::NOT_FOUND, "this run has no such picture")),
        Err(why @ FoldError::Missing) => Err(error(StatusCode::NOT_FOUND, &why.to_string())),
        Err(why) => Err(error(StatusCode::INTERNAL_SERVER_ERROR, &why.to_string())),
    }
}

/// The stream of a live run: `snapshot` first, then the changes, `gone` last. A run that has just
/// ended sends `gone` alone.
async fn events(State(app): State<App>, Path(id): Path<String>) -> Result<Response, Response> {
    app.entry(&id).await?;
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
    let entry = app.entry(&id).await?;
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
