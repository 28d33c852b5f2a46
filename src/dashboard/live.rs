//! The live runs: one client of each run's control socket, however many browsers look at it.
//!
//! A thread follows each live run for its figures and what happens in it. A second one follows the moves, and only while a browser
//! has the run open: a run that nobody looks at does not tell of its moves. Browsers are fed from here; one that is slow misses
//! messages and is sent the whole state anew, and neither the run nor other browsers wait for it.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde::Serialize;
use serde_json::json;
use tokio::sync::broadcast;

use crate::control::client::{Client, ClientError};
use crate::control::protocol::{Progress, Say};
use crate::dashboard::board::Board;
use crate::dashboard::store::Index;

/// Live runs that are followed at once.
const MAX_RUNS: usize = 64;

/// Lines of what happened that are kept of a run.
const MAX_LINES: usize = 200;

/// Boards of a run that are kept.
const MAX_BOARDS: usize = 256;

/// Messages that may wait for a browser.
const BACKLOG: usize = 256;

/// A server-sent event: its kind and its JSON.
pub(super) type Message = (&'static str, Arc<str>);

/// How a live run is being played.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Status {
    pub(super) phase: String,
    pub(super) concurrency: u16,
    pub(super) playing: u16,
}

#[derive(Debug, Default)]
struct State {
    progress: Option<Progress>,
    status: Option<Status>,
    lines: VecDeque<String>,
    boards: BTreeMap<u64, Board>,
}

/// Those that look at a run.
#[derive(Debug, Default)]
struct Viewers {
    count: usize,
    /// A thread follows the moves.
    follows_moves: bool,
}

/// A live run.
#[derive(Debug)]
pub(super) struct LiveRun {
    dir: PathBuf,
    state: Mutex<State>,
    out: broadcast::Sender<Message>,
    viewers: Mutex<Viewers>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn message<T: Serialize + ?Sized>(kind: &'static str, value: &T) -> Message {
    // Plain data always serialises; an empty text says nothing and harms nothing.
    (kind, Arc::from(serde_json::to_string(value).unwrap_or_default()))
}

/// What has become of the socket of a run.
#[derive(Debug)]
enum Followed {
    /// Somebody is at the other end.
    Live(Arc<LiveRun>),
    /// A thread is about to find out.
    Asked,
    /// Nobody was there. It is not asked again unless another takes its place.
    Dead,
}

/// Every live run of the index.
#[derive(Clone, Debug, Default)]
pub(super) struct Hub {
    /// By id, with the time of the socket.
    runs: Arc<Mutex<BTreeMap<String, (SystemTime, Followed)>>>,
}

impl Hub {
    /// Begins to follow the runs of the index that have a socket and are not followed yet.
    pub(super) fn look(&self, index: &Index) {
        let mut runs = locked(&self.runs);
        runs.retain(|id, (_, followed)| {
            matches!(followed, Followed::Live(_)) || index.runs.get(id).is_some_and(|entry| entry.socket.is_some())
        });
        for (id, entry) in &index.runs {
            let Some(socket) = entry.socket else { continue };
            let is_known = runs
                .get(id)
                .is_some_and(|(at, followed)| *at == socket || matches!(followed, Followed::Live(_) | Followed::Asked));
            if is_known || runs.len() >= MAX_RUNS && !make_room(&mut runs) {
                continue;
            }
            let (hub, dir, name) = (self.clone(), entry.dir.clone(), id.clone());
            let follow = move || hub.follow(&name, dir);
            if std::thread::Builder::new().name("follow".to_owned()).spawn(follow).is_ok() {
                runs.insert(id.clone(), (socket, Followed::Asked));
            }
        }
    }

    /// The run with this id, if it is live.
    pub(super) fn get(&self, id: &str) -> Option<Arc<LiveRun>> {
        match locked(&self.runs).get(id) {
            Some((_, Followed::Live(run))) => Some(Arc::clone(run)),
            _ => None,
        }
    }

    /// Follows a run to its end; waits for its messages.
    fn follow(&self, id: &str, dir: PathBuf) {
        let found = self.connect(id, dir);
        let dead = match found {
            Ok((mut client, run)) => {
                run.hear(&mut client);
                None
            }
            Err(ClientError::NotLive { .. }) => Some(Followed::Dead),
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
    }

    fn connect(&self, id: &str, dir: PathBuf) -> Result<(Client, Arc<LiveRun>), ClientError> {
        let mut client = Client::connect(&dir)?;
        client.watch()?;
        client.ask_status()?;
        let out = broadcast::Sender::new(BACKLOG);
        let run = Arc::new(LiveRun { dir, state: Mutex::default(), out, viewers: Mutex::default() });
        if let Some((_, followed)) = locked(&self.runs).get_mut(id) {
            *followed = Followed::Live(Arc::clone(&run));
        }
        Ok((client, run))
    }
}

/// Forgets one that nobody answers for; false where there is none.
fn make_room(runs: &mut BTreeMap<String, (SystemTime, Followed)>) -> bool {
    let dead = runs.iter().find(|(_, (_, followed))| matches!(followed, Followed::Dead)).map(|(id, _)| id.clone());
    dead.is_some_and(|id| runs.remove(&id).is_some())
}

impl LiveRun {
    /// What is known of it now.
    pub(super) fn figures(&self) -> (Option<Progress>, Option<Status>) {
        let state = locked(&self.state);
        (state.progress.clone(), state.status.clone())
    }

    /// The lines of what happened since it was first looked at.
    pub(super) fn lines(&self) -> Vec<String> {
        locked(&self.state).lines.iter().cloned().collect()
    }

    /// All that is known of it.
    pub(super) fn snapshot(&self) -> Message {
        let state = locked(&self.state);
        let boards: Vec<_> = state.boards.values().map(Board::json).collect();
        message(
            "snapshot",
            &json!({ "progress": state.progress, "status": state.status, "lines": state.lines, "boards": boards }),
        )
    }

    /// Takes the messages of a client that watches until there are no more.
    fn hear(self: &Arc<Self>, client: &mut Client) {
        while let Ok(Some((_, say))) = client.read() {
            match say {
                Say::Progress(progress) => {
                    self.tell(message("progress", &progress));
                    locked(&self.state).progress = Some(*progress);
                    self.follow_moves();
                    if client.ask_status().is_err() {
                        break;
                    }
                }
                Say::Status { phase, concurrency, playing, .. } => {
                    let status = Status { phase, concurrency, playing };
                    self.tell(message("status", &status));
                    locked(&self.state).status = Some(status);
                }
                Say::Line { text } => {
                    self.tell(message("line", &text));
                    let mut state = locked(&self.state);
                    state.lines.push_back(text);
                    if state.lines.len() > MAX_LINES {
                        state.lines.pop_front();
                    }
                }
                Say::End { summary, .. } => {
                    self.tell(message("end", &summary));
                    break;
                }
                Say::Game(_) | Say::Ply(_) | Say::Error { .. } | Say::Other => {}
            }
        }
        // Whatever became of it: who looks at it is to look again.
        self.tell(message("gone", &()));
    }

    fn tell(&self, message: Message) {
        // An error only says that nobody looks.
        let _ = self.out.send(message);
    }

    /// Takes the messages about games until there are no more, or nobody looks.
    fn hear_moves(&self) {
        let client = Client::connect(&self.dir).and_then(|mut client| client.watch_moves().map(|()| client));
        if let Ok(mut client) = client {
            while let Ok(Some((_, say))) = client.read() {
                match say {
                    Say::Game(said) => self.on_game(*said),
                    Say::Ply(ply) => {
                        let mut state = locked(&self.state);
                        if let Some(board) = state.boards.get_mut(&ply.game).filter(|board| !board.is_over()) {
                            board.play(&ply);
                            self.tell(message("board", &board.json()));
                        }
                    }
                    _ => {}
                }
                let mut viewers = locked(&self.viewers);
                if viewers.count == 0 {
                    viewers.follows_moves = false;
                    locked(&self.state).boards.clear();
                    return;
                }
            }
        }
        locked(&self.viewers).follows_moves = false;
        locked(&self.state).boards.clear();
    }

    fn on_game(&self, said: crate::control::protocol::GameSay) {
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
        if let Some(board) = Board::new(said) {
            self.tell(message("board", &board.json()));
            state.boards.insert(number, board);
        }
    }

    /// Has a thread follow the moves where somebody looks and none does yet, or it lost the run.
    fn follow_moves(self: &Arc<Self>) {
        let mut viewers = locked(&self.viewers);
        if viewers.count > 0 && !viewers.follows_moves {
            let follower = Arc::clone(self);
            let spawned = std::thread::Builder::new().name("moves".to_owned()).spawn(move || follower.hear_moves());
            viewers.follows_moves = spawned.is_ok();
        }
    }

    /// Looks at the run, with its games, until dropped.
    pub(super) fn view(run: Arc<Self>) -> View {
        let messages = run.out.subscribe();
        locked(&run.viewers).count += 1;
        run.follow_moves();
        View { run, messages }
    }
}

/// A browser that looks at a live run.
#[derive(Debug)]
pub(super) struct View {
    run: Arc<LiveRun>,
    messages: broadcast::Receiver<Message>,
}

impl View {
    /// The run.
    pub(super) fn run(&self) -> &LiveRun {
        &self.run
    }

    /// What it is to be told next; the whole state where it missed something; `None` when the run is over.
    pub(super) async fn next(&mut self) -> Option<Message> {
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

impl Drop for View {
    fn drop(&mut self) {
        let mut viewers = locked(&self.run.viewers);
        viewers.count = viewers.count.saturating_sub(1);
    }
}
