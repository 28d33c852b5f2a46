//! The live runs: one client of each run's control socket for any number of browsers.
//!
//! A thread follows each live run for its figures and events. A second one follows the moves, and
//! only while a browser has the run open: a run without viewers does not report its moves. Browsers
//! are served from here. A slow browser misses messages and is sent the whole state again; neither
//! the run nor other browsers wait for it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast;

use crate::control::client::{Client, ClientError};
use crate::control::protocol::{RunProgress, ServerMessage};
use crate::dashboard::board::BoardView;
use crate::report::stored::Index;

/// Live runs followed at once.
const MAX_RUNS: usize = 64;

/// Event lines kept of a run.
pub(super) const MAX_LINES: usize = 5_000;

/// Boards kept of a run.
const MAX_BOARDS: usize = 256;

/// Messages queued for a browser.
const BACKLOG: usize = 256;

/// Time for which a request waits for a connection attempt that has just begun.
const CONNECT_WAIT: Duration = Duration::from_secs(1);

/// A server-sent event: its kind and its JSON.
pub(super) type ServerSentEvent = (&'static str, Arc<str>);

/// The way a live run is being played.
#[derive(Clone, Debug, Serialize)]
pub(super) struct LiveStatus {
    pub(super) phase: String,
    pub(super) concurrency: u16,
    pub(super) playing: u16,
}

#[derive(Debug, Default)]
struct LiveState {
    progress: Option<RunProgress>,
    status: Option<LiveStatus>,
    lines: VecDeque<String>,
    /// Lines dropped before those.
    lost: u64,
    boards: BTreeMap<u64, BoardView>,
    /// True once the connection to the run has ended.
    is_over: bool,
}

/// The browsers that have a run open.
#[derive(Debug, Default)]
struct Viewers {
    count: usize,
    /// True if a thread follows the moves.
    follows_moves: bool,
}

/// A live run.
#[derive(Debug)]
pub(super) struct LiveRun {
    dir: PathBuf,
    state: Mutex<LiveState>,
    out: broadcast::Sender<ServerSentEvent>,
    viewers: Mutex<Viewers>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn message<T: Serialize + ?Sized>(kind: &'static str, value: &T) -> ServerSentEvent {
    // Plain data always serialises; an empty text is ignored by the page.
    (kind, Arc::from(serde_json::to_string(value).unwrap_or_default()))
}

/// Last message of a run.
fn gone() -> ServerSentEvent {
    message("gone", &())
}

/// State of the connection to a run's socket.
#[derive(Debug)]
enum Connection {
    /// A client is connected.
    Live(Arc<LiveRun>),
    /// Connection attempt in progress since then.
    Connecting(Instant),
    /// No process answered. It is not tried again unless a newer socket takes its place.
    Dead,
}

/// Every live run of the index.
#[derive(Clone, Debug, Default)]
pub(super) struct Hub {
    /// Live runs by id, with the time of the socket.
    runs: Arc<Mutex<BTreeMap<String, (SystemTime, Connection)>>>,
    /// Notified at the end of each connection attempt.
    answered: Arc<Condvar>,
}

impl Hub {
    /// Starts to follow the runs of the index that have a socket and are not followed yet.
    pub(super) fn look(&self, index: &Index) {
        let mut runs = locked(&self.runs);
        runs.retain(|id, (_, followed)| {
            matches!(followed, Connection::Live(_)) || index.runs.get(id).is_some_and(|entry| entry.socket.is_some())
        });
        for (id, entry) in &index.runs {
            let Some(socket) = entry.socket else { continue };
            let is_known = runs.get(id).is_some_and(|(at, followed)| {
                *at == socket || matches!(followed, Connection::Live(_) | Connection::Connecting(_))
            });
            if is_known || runs.len() >= MAX_RUNS && !make_room(&mut runs) {
                continue;
            }
            let (hub, dir, name) = (self.clone(), entry.dir.clone(), id.clone());
            let follow = move || hub.follow(&name, dir);
            if std::thread::Builder::new().name("follow".to_owned()).spawn(follow).is_ok() {
                runs.insert(id.clone(), (socket, Connection::Connecting(Instant::now())));
            }
        }
    }

    /// Waits for connection attempts, each at most [`CONNECT_WAIT`] from its beginning. Until its
    /// end a live run looks like an interrupted one.
    pub(super) fn wait(&self) {
        let left = |connection: &Connection| match connection {
            Connection::Connecting(since) => CONNECT_WAIT.checked_sub(since.elapsed()),
            Connection::Live(_) | Connection::Dead => None,
        };
        let mut runs = locked(&self.runs);
        while let Some(longest) = runs.values().filter_map(|(_, connection)| left(connection)).max() {
            runs = self.answered.wait_timeout(runs, longest).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The run with this id, if it is live.
    pub(super) fn get(&self, id: &str) -> Option<Arc<LiveRun>> {
        match locked(&self.runs).get(id) {
            Some((_, Connection::Live(run))) => Some(Arc::clone(run)),
            _ => None,
        }
    }

    /// Follows a run to its end; blocks on its messages.
    fn follow(&self, id: &str, dir: PathBuf) {
        let found = self.connect(id, dir);
        let dead = match found {
            Ok((mut client, run)) => {
                run.hear(&mut client);
                None
            }
            Err(ClientError::NotLive { .. }) => Some(Connection::Dead),
            // It may answer another time.
            Err(ClientError::Io { .. }) => None,
        };
        let mut runs = locked(&self.runs);
        match (dead, runs.get_mut(id)) {
            (Some(dead), Some((_, followed))) => *followed = dead,
            _ => {
                runs.remove(id);
            }
        }
        self.answered.notify_all();
    }

    fn connect(&self, id: &str, dir: PathBuf) -> Result<(Client, Arc<LiveRun>), ClientError> {
        let mut client = Client::connect(&dir)?;
        client.watch()?;
        client.ask_status()?;
        let out = broadcast::Sender::new(BACKLOG);
        let run = Arc::new(LiveRun { dir, state: Mutex::default(), out, viewers: Mutex::default() });
        if let Some((_, followed)) = locked(&self.runs).get_mut(id) {
            *followed = Connection::Live(Arc::clone(&run));
        }
        self.answered.notify_all();
        Ok((client, run))
    }
}

/// Forgets a run whose socket is dead; returns false if there is none.
fn make_room(runs: &mut BTreeMap<String, (SystemTime, Connection)>) -> bool {
    let dead = runs.iter().find(|(_, (_, followed))| matches!(followed, Connection::Dead)).map(|(id, _)| id.clone());
    dead.is_some_and(|id| runs.remove(&id).is_some())
}

impl LiveRun {
    /// The latest progress and status.
    pub(super) fn figures(&self) -> (Option<RunProgress>, Option<LiveStatus>) {
        let state = locked(&self.state);
        (state.progress.clone(), state.status.clone())
    }

    /// The event lines since the run was first followed.
    pub(super) fn lines(&self) -> Vec<String> {
        locked(&self.state).lines.iter().cloned().collect()
    }

    /// The whole state as one message; `gone` once the run is over.
    pub(super) fn snapshot(&self) -> ServerSentEvent {
        let state = locked(&self.state);
        if state.is_over {
            return gone();
        }
        let boards: Vec<_> = state.boards.values().map(BoardView::whole).collect();
        message(
            "snapshot",
            &json!({ "progress": state.progress, "status": state.status, "lines": state.lines, "lost": state.lost, "boards": boards }),
        )
    }

    /// Handles the messages of a watching client until the connection ends.
    fn hear(self: &Arc<Self>, client: &mut Client) {
        while let Ok(Some((_, say))) = client.read() {
            match say {
                ServerMessage::Progress(progress) => {
                    self.tell(message("progress", &progress));
                    locked(&self.state).progress = Some(*progress);
                    self.follow_moves();
                    if client.ask_status().is_err() {
                        break;
                    }
                }
                ServerMessage::Status { phase, concurrency, playing, .. } => {
                    let status = LiveStatus { phase, concurrency, playing };
                    self.tell(message("status", &status));
                    locked(&self.state).status = Some(status);
                }
                ServerMessage::Line { text } => {
                    self.tell(message("line", &text));
                    let mut state = locked(&self.state);
                    state.lines.push_back(text);
                    if state.lines.len() > MAX_LINES {
                        state.lines.pop_front();
                        state.lost += 1;
                    }
                }
                ServerMessage::End { summary, .. } => {
                    self.tell(message("end", &summary));
                    break;
                }
                ServerMessage::Game(_)
                | ServerMessage::Ply(_)
                | ServerMessage::Workers { .. }
                | ServerMessage::Error { .. }
                | ServerMessage::Other => {}
            }
        }
        self.end();
    }

    /// Sends the browsers to look again: the connection ended, for whatever reason. One that missed
    /// the message, or comes later, finds the end in the state.
    fn end(&self) {
        locked(&self.state).is_over = true;
        self.tell(gone());
    }

    fn tell(&self, message: ServerSentEvent) {
        // An error only means that no browser is connected.
        let _ = self.out.send(message);
    }

    /// Handles the messages about games until the connection ends or no browser has the run open.
    fn hear_moves(&self) {
        let client = Client::connect(&self.dir).and_then(|mut client| client.watch_moves().map(|()| client));
        if let Ok(mut client) = client {
            while let Ok(Some((_, say))) = client.read() {
                match say {
                    ServerMessage::Game(said) => self.on_game(*said),
                    ServerMessage::Ply(ply) => {
                        let mut state = locked(&self.state);
                        if let Some(board) = state.boards.get_mut(&ply.game).filter(|board| !board.is_over()) {
                            board.play(&ply);
                            self.tell(message("board", &board.json()));
                        }
                    }
                    _ => {}
                }
                let viewers = locked(&self.viewers);
                if viewers.count == 0 {
                    return self.leave_moves(viewers);
                }
            }
        }
        self.leave_moves(locked(&self.viewers));
    }

    /// Forgets the boards, and lets another thread follow the moves. In one step, or the boards of
    /// that thread would be forgotten.
    fn leave_moves(&self, mut viewers: MutexGuard<'_, Viewers>) {
        viewers.follows_moves = false;
        locked(&self.state).boards.clear();
    }

    fn on_game(&self, said: crate::control::protocol::GameMessage) {
        let mut state = locked(&self.state);
        if said.result.is_some() {
            if let Some(mut board) = state.boards.remove(&said.game) {
                board.end(&said);
                self.tell(message("board", &board.json()));
            }
            return;
        }
        let number = said.game;
        if state.boards.len() >= MAX_BOARDS {
            state.boards.pop_first();
        }
        if let Some(board) = BoardView::new(said) {
            self.tell(message("board", &board.json()));
            state.boards.insert(number, board);
        }
    }

    /// Starts a thread that follows the moves if a browser has the run open and no such thread
    /// runs.
    fn follow_moves(self: &Arc<Self>) {
        let mut viewers = locked(&self.viewers);
        if viewers.count > 0 && !viewers.follows_moves {
            let follower = Arc::clone(self);
            let spawned = std::thread::Builder::new().name("moves".to_owned()).spawn(move || follower.hear_moves());
            viewers.follows_moves = spawned.is_ok();
        }
    }

    /// Opens the run with its games for a browser, until dropped.
    pub(super) fn view(run: Arc<Self>) -> BrowserView {
        let messages = run.out.subscribe();
        locked(&run.viewers).count += 1;
        run.follow_moves();
        BrowserView { run, messages }
    }
}

/// A browser that looks at a live run.
#[derive(Debug)]
pub(super) struct BrowserView {
    run: Arc<LiveRun>,
    messages: broadcast::Receiver<ServerSentEvent>,
}

impl BrowserView {
    /// The run.
    pub(super) fn run(&self) -> &LiveRun {
        &self.run
    }

    /// The next message for the browser; the whole state, or the end, if it missed one; `None` once
    /// the run is over.
    pub(super) async fn next(&mut self) -> Option<ServerSentEvent> {
        match self.messages.recv().await {
            Ok(message) => Some(message),
            Err(broadcast::error::RecvError::Lagged(_)) => {
                self.messages = self.messages.resubscribe();
                Some(self.run.snapshot())
            }
            Err(broadcast::error::RecvError::Closed) => None,
        }
    }
}

impl Drop for BrowserView {
    fn drop(&mut self) {
        let mut viewers = locked(&self.run.viewers);
        viewers.count = viewers.count.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::stored;

    #[test]
    fn the_first_list_has_the_live_runs_and_waits_for_no_silent_one() {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("live");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join(stored::SUMMARY), "{}").unwrap();
        let _server = std::os::unix::net::UnixListener::bind(dir.join(stored::SOCKET)).unwrap();
        let hub = Hub::default();
        hub.look(&Index::of(root.path(), &Index::default()));
        // A wait ends after a second, which a busy machine may need.
        for _ in 0..1_000 {
            hub.wait();
            if hub.get("live").is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        assert!(hub.get("live").is_some());
        let since = Instant::now().checked_sub(CONNECT_WAIT).unwrap();
        locked(&hub.runs).insert("silent".to_owned(), (SystemTime::now(), Connection::Connecting(since)));
        hub.wait();
    }

    #[test]
    fn a_browser_that_missed_the_end_is_told_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let (out, dir) = (broadcast::Sender::new(BACKLOG), folder.path().to_owned());
        let run = Arc::new(LiveRun { dir, state: Mutex::default(), out, viewers: Mutex::default() });
        let mut slow = LiveRun::view(Arc::clone(&run));
        assert_eq!(run.snapshot().0, "snapshot");
        for _ in 0..=BACKLOG {
            run.tell(message("line", "text"));
        }
        run.end();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(slow.next()).unwrap().0, "gone");
        // One that comes after the end gets it first.
        assert_eq!(LiveRun::view(run).run().snapshot().0, "gone");
    }

    #[test]
    fn no_thread_follows_the_moves_while_boards_are_forgotten() {
        let run = LiveRun {
            dir: PathBuf::new(),
            state: Mutex::default(),
            out: broadcast::Sender::new(1),
            viewers: Mutex::new(Viewers { count: 1, follows_moves: true }),
        };
        std::thread::scope(|scope| {
            let state = locked(&run.state);
            scope.spawn(|| run.leave_moves(locked(&run.viewers)));
            // Once the thread waits for the state, it must hold the viewers.
            while let Ok(viewers) = run.viewers.try_lock() {
                assert!(viewers.follows_moves, "another thread could follow the moves now");
                drop(viewers);
                std::thread::sleep(Duration::from_millis(1));
            }
            drop(state);
        });
        assert!(!locked(&run.viewers).follows_moves);
    }
}
