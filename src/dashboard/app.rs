//! State shared by the routes, and the forms of their answers.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::json;
use tokio::sync::Semaphore;

use crate::dashboard::fold::{Fold, FoldError, Folds};
use crate::dashboard::guard::Guard;
use crate::dashboard::live::Hub;
use crate::dashboard::store::ResultsStore;
use crate::report::stored::{Index, IndexEntry};
use crate::run::queue::Queue;
use crate::source::OwnProgram;

/// Streams at once: half of the connections of one address, so that other requests always have
/// room.
const MAX_STREAMS: usize = 64;

/// Documents made at once that need a whole journal, or a program.
const MAX_WORKS: usize = 2;

/// Journals read at once from their beginning for the course of a run. Apart from the documents,
/// because the page of a live run would wait for them.
const MAX_READS: usize = 2;

/// Entries added to the queue at once. Each may wait minutes for a repository.
const MAX_ADDS: usize = 1;

#[derive(Clone)]
pub(super) struct App {
    pub(super) guard: Arc<Guard>,
    pub(super) store: Arc<ResultsStore>,
    pub(super) folds: Arc<Folds>,
    /// Seats of courses that are read from their beginning.
    reads: Arc<Semaphore>,
    pub(super) hub: Hub,
    /// Seats of streams.
    pub(super) streams: Arc<Semaphore>,
    /// Seats of documents that take long to make.
    works: Arc<Semaphore>,
    /// Seats of entries that are added to the queue.
    adds: Arc<Semaphore>,
    pub(super) queue: Arc<Queue>,
    pub(super) own: Arc<OwnProgram>,
    /// True if tests may be made, which start programs.
    pub(super) makes_tests: bool,
}

/// Parts of the server that its settings decide.
#[derive(Debug)]
pub(super) struct AppSettings {
    pub(super) guard: Guard,
    pub(super) results: PathBuf,
    pub(super) queue: Queue,
    pub(super) own: OwnProgram,
    pub(super) makes_tests: bool,
}

impl App {
    pub(super) fn new(settings: AppSettings) -> Self {
        let AppSettings { guard, results, queue, own, makes_tests } = settings;
        Self {
            guard: Arc::new(guard),
            store: Arc::new(ResultsStore::new(results)),
            folds: Arc::default(),
            reads: Arc::new(Semaphore::new(MAX_READS)),
            hub: Hub::default(),
            streams: Arc::new(Semaphore::new(MAX_STREAMS)),
            works: Arc::new(Semaphore::new(MAX_WORKS)),
            adds: Arc::new(Semaphore::new(MAX_ADDS)),
            queue: Arc::new(queue),
            own: Arc::new(own),
            makes_tests,
        }
    }

    /// The index of runs, brought up to date.
    pub(super) async fn index(&self) -> Result<Arc<Index>, Response> {
        let (store, hub) = (Arc::clone(&self.store), self.hub.clone());
        spawn_blocking_io(move || {
            let index = store.index();
            hub.look(&index);
            hub.wait();
            index
        })
        .await
    }

    /// The run that a request names. Only runs of the index are found.
    pub(super) async fn entry(&self, id: &str) -> Result<IndexEntry, Response> {
        let index = self.index().await?;
        index.runs.get(id).cloned().ok_or_else(|| error(StatusCode::NOT_FOUND, "there is no such run"))
    }

    /// Runs work that takes long when a seat is free.
    pub(super) async fn spawn_long_work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Response> {
        spawn_seated(&self.works, work).await
    }

    /// Passes the course of a run, brought up to date, to `asks`. One that is not in memory waits
    /// for a seat.
    pub(super) async fn ask_fold<T: Send + 'static>(
        &self,
        id: &str,
        dir: &Path,
        asks: impl FnOnce(&Fold) -> T + Send + 'static,
    ) -> Result<Result<T, FoldError>, Response> {
        ask_seated(&self.folds, &self.reads, id, dir, asks).await
    }

    /// Adds an entry to the queue when its seat is free. It may wait for a repository.
    pub(super) async fn spawn_add<T: Send + 'static>(
        &self,
        add: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Response> {
        spawn_seated(&self.adds, add).await
    }
}

/// Runs work when a seat is free. The work holds the seat to its end, even if nobody waits for it
/// any more.
async fn spawn_seated<T: Send + 'static>(
    seats: &Arc<Semaphore>,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Response> {
    // The semaphore is never closed.
    let seat = Arc::clone(seats).acquire_owned().await.ok();
    spawn_blocking_io(move || {
        let _seat = seat;
        work()
    })
    .await
}

/// Passes the course of a run to `asks`. The course is locked before a seat is taken: requests for
/// the run whose journal is being read take none.
async fn ask_seated<T: Send + 'static>(
    folds: &Arc<Folds>,
    reads: &Arc<Semaphore>,
    id: &str,
    dir: &Path,
    asks: impl FnOnce(&Fold) -> T + Send + 'static,
) -> Result<Result<T, FoldError>, Response> {
    let fold = folds.lock(id).await;
    let is_read = fold.is_some();
    let (folds, dir) = (Arc::clone(folds), dir.to_owned());
    let work = move || folds.ask(fold, &dir, asks);
    if is_read { spawn_blocking_io(work).await } else { spawn_seated(reads, work).await }
}

/// An answer of one line that says why.
pub(super) fn error(status: StatusCode, why: &str) -> Response {
    answer(status, &json!({ "error": why }))
}

/// A JSON document.
pub(super) fn answer<T: Serialize + ?Sized>(status: StatusCode, value: &T) -> Response {
    let text = serde_json::to_string(value).unwrap_or_default();
    (status, [(header::CONTENT_TYPE, "application/json")], text).into_response()
}

/// Text that a browser shows as it is.
pub(super) fn plain(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8")], text).into_response()
}

/// Runs blocking I/O on the blocking thread pool.
pub(super) async fn spawn_blocking_io<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Response> {
    let failed = |_| error(StatusCode::INTERNAL_SERVER_ERROR, "the work was not done");
    tokio::task::spawn_blocking(work).await.map_err(failed)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    #[test]
    fn only_a_course_that_is_read_from_its_beginning_waits_for_a_seat() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("plan.toml", include_str!("../../tests/it/fixtures/v1/plan.toml")),
            ("games.jsonl", include_str!("../../tests/it/fixtures/v1/games.jsonl")),
        ] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (folds, reads) = (Arc::default(), Arc::new(Semaphore::new(1)));
        let ask = || ask_seated(&folds, &reads, "run", folder.path(), |fold| fold.games().len());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let seat = Arc::clone(&reads).acquire_owned().await.unwrap();
            assert!(tokio::time::timeout(Duration::from_millis(20), ask()).await.is_err());
            drop(seat);
            let games = ask().await.unwrap().unwrap();
            assert!(games > 0);
            let _seat = Arc::clone(&reads).acquire_owned().await.unwrap();
            assert_eq!(ask().await.unwrap().unwrap(), games);
        });
    }

    #[test]
    fn work_keeps_its_seat_after_its_browser_left() {
        let seats = Arc::new(Semaphore::new(1));
        let (begun, begins) = mpsc::channel();
        let (go_on, waits) = mpsc::channel();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let taken = Arc::clone(&seats);
        let request = runtime.spawn(async move {
            let work = move || {
                begun.send(()).unwrap();
                waits.recv()
            };
            spawn_seated(&taken, work).await.is_ok()
        });
        begins.recv().unwrap();
        request.abort();
        assert!(runtime.block_on(request).unwrap_err().is_cancelled());
        assert_eq!(seats.available_permits(), 0);
        go_on.send(()).unwrap();
        assert!(runtime.block_on(spawn_seated(&seats, || ())).is_ok());
    }
}
