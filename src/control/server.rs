//! The run's end of the socket: tasks on the main thread's runtime that carry lines between clients
//! and the dispatcher.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};
use tokio::sync::{broadcast, mpsc, oneshot, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::control::boards::{Boards, ClientView};
use crate::control::place::{self, SocketFiles};
use crate::control::protocol::{ClientMessage, RunProgress, ServerMessage, TuningState, VERSION, line};
use crate::os::{LocalListener, LocalStream};
use crate::plan::Plan;
use crate::report::console::Viewer;
use crate::report::workers::{self, WorkerRow};
use crate::tournament::events::{CommandRequest, Observer, RunCommand, RunEvent};
use crate::tournament::scoreboard::Scoreboard;
use crate::tournament::workers::WorkerStatus;

/// Clients at once; more are turned away.
const MAX_CLIENTS: usize = 32;

/// Bytes of the longest line that a client may send.
const MAX_LINE: usize = 1_024;

/// Lines queued for a client that watches; one that falls further behind is dropped.
const BACKLOG: usize = 256;

/// Event lines kept for clients that come later.
const MOST_PAST: usize = 5_000;

/// Longest wait for a client to read what it was sent.
const WRITE_PATIENCE: Duration = Duration::from_secs(5);

/// Maximum connection time of a client that does not watch.
const VISIT: Duration = Duration::from_secs(10);

/// Minimum time between two commands of one client, so that a flood of them costs the games
/// nothing.
const PACE: Duration = Duration::from_millis(10);

/// Interval between the reports to a client that watches moves: at any speed of the games it is
/// sent the same few messages a second.
const MOVES_PACE: Duration = Duration::from_millis(100);

/// Workers that a report of progress names; `workers` asks for all.
const MOST_WORKERS: usize = 64;

/// Time for clients to read the end of a run.
const FAREWELL: Duration = Duration::from_secs(1);

/// An open socket.
pub struct ControlServer {
    lines: broadcast::Sender<Arc<str>>,
    closing: oneshot::Sender<()>,
    task: JoinHandle<()>,
    place: SocketFiles,
}

/// State shared by the tasks of all clients.
#[derive(Clone)]
struct ServerContext {
    commands: mpsc::Sender<CommandRequest>,
    last: watch::Receiver<Arc<str>>,
    workers: watch::Receiver<Vec<WorkerRow>>,
    boards: Arc<Mutex<Boards>>,
    past: Arc<Mutex<PastLines>>,
}

/// Event lines so far, the last [`MOST_PAST`] of them.
#[derive(Debug, Default)]
struct PastLines {
    kept: VecDeque<Arc<str>>,
    /// Lines dropped before those.
    dropped: u64,
}

impl PastLines {
    fn push(&mut self, line: Arc<str>) {
        self.kept.push_back(line);
        if self.kept.len() > MOST_PAST {
            self.kept.pop_front();
            self.dropped += 1;
        }
    }

    /// All of them as one text, after a line that counts the dropped ones.
    fn text(&self) -> String {
        let dropped = (self.dropped > 0).then(|| {
            let text = format!("{} earlier lines are no longer kept", self.dropped);
            line(&ServerMessage::Line { text })
        });
        dropped.into_iter().chain(self.kept.iter().map(ToString::to_string)).collect()
    }
}

impl ControlServer {
    /// Opens the socket of the run in `dir`, which this process must have locked, on the current
    /// runtime. Commands go to `commands`; the caller reports the run's events to the publisher.
    ///
    /// # Errors
    /// Returns an error if no socket can be made.
    pub fn open(dir: &Path, plan: &Plan, commands: mpsc::Sender<CommandRequest>) -> std::io::Result<(Self, Publisher)> {
        let (listener, place) = place::bind(dir)?;
        let lines = broadcast::Sender::new(BACKLOG);
        let (progress, last) = watch::channel(Arc::from(""));
        let (closing, closed) = oneshot::channel();
        let boards = Arc::new(Mutex::new(Boards::new(plan)));
        let (workers, rows) = watch::channel(Vec::new());
        let past = Arc::<Mutex<PastLines>>::default();
        let context =
            ServerContext { commands, last, workers: rows, boards: Arc::clone(&boards), past: Arc::clone(&past) };
        let task = tokio::spawn(serve(listener, context, lines.clone(), closed));
        let publisher = Publisher {
            viewer: Viewer::new(plan),
            lines: lines.clone(),
            progress,
            workers,
            statuses: Vec::new(),
            boards,
            past,
        };
        Ok((Self { lines, closing, task, place }, publisher))
    }

    /// Sends the result to clients that watch and removes the socket. The publisher must have been
    /// dropped.
    pub async fn close(self, exit: u8, summary: serde_json::Value) {
        let Self { lines, closing, task, place } = self;
        let _ = lines.send(Arc::from(line(&ServerMessage::End { exit, summary })));
        drop((lines, closing));
        let stop = task.abort_handle();
        if timeout(FAREWELL, task).await.is_err() {
            stop.abort();
        }
        drop(place);
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(
    mut listener: LocalListener,
    context: ServerContext,
    lines: broadcast::Sender<Arc<str>>,
    mut closed: oneshot::Receiver<()>,
) {
    let mut clients = JoinSet::new();
    loop {
        tokio::select! {
            // The other end is dropped, never used.
            _ = &mut closed => break,
            Some(_) = clients.join_next() => {}
            accepted = listener.accept() => match accepted {
                Ok(Some(stream)) if clients.len() < MAX_CLIENTS => {
                    clients.spawn(client(stream, context.clone(), lines.subscribe()));
                }
                Ok(_) => {}
                // The error persists for a while, for example if no file descriptors are left.
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }
    drop((listener, lines));
    clients.join_all().await;
}

/// Serves a client until it leaves, breaks a bound, or the run is over.
async fn client(stream: LocalStream, context: ServerContext, events: broadcast::Receiver<Arc<str>>) {
    let mut moves = None;
    visit(stream, &context, events, &mut moves).await;
    if moves.is_some() {
        tell_of_onlooker(&context, false).await;
    }
}

/// Turns the workers' reports of moves on or off.
async fn tell_of_onlooker(context: &ServerContext, comes: bool) {
    // An error means that the run is over; an answer is not needed.
    let _ =
        context.commands.send(CommandRequest { command: RunCommand::Moves(comes), reply: oneshot::channel().0 }).await;
}

/// Serves a client; notes in `moves` whether it watched them.
async fn visit(
    stream: LocalStream,
    context: &ServerContext,
    mut events: broadcast::Receiver<Arc<str>>,
    moves: &mut Option<ClientView>,
) {
    let (read, mut write) = tokio::io::split(stream);
    let mut asked = LineReader { read, held: Vec::new() };
    let mut reads = true;
    let mut watches = false;
    let leave = Instant::now() + VISIT;
    let mut look = Instant::now();
    loop {
        let sent = tokio::select! {
            line = asked.next(), if reads => match line {
                Some(line) => match answer(&line, context).await {
                    ServerReply::Say(text) => send(&mut write, &text).await,
                    ServerReply::Watch { .. } if watches => true,
                    ServerReply::Watch { moves: wants_moves } => {
                        watches = true;
                        if wants_moves {
                            *moves = Some(ClientView::default());
                            tell_of_onlooker(context, true).await;
                        }
                        let past = {
                            // Locked, so that no line is sent twice or not at all.
                            let past = locked(&context.past);
                            events = events.resubscribe();
                            if wants_moves { String::new() } else { past.text() }
                        };
                        let last = Arc::clone(&context.last.borrow());
                        send(&mut write, &last).await && send(&mut write, &past).await
                    }
                },
                // A client that watches may have closed its end for writing.
                None => {
                    reads = false;
                    watches
                }
            },
            event = events.recv() => match event {
                Ok(text) if watches => send(&mut write, &text).await,
                Ok(_) => true,
                Err(broadcast::error::RecvError::Lagged(_)) => !watches,
                Err(broadcast::error::RecvError::Closed) => false,
            },
            () = sleep_until(leave), if !watches => false,
            () = sleep_until(look), if moves.is_some() => {
                look = Instant::now() + MOVES_PACE;
                let text = news(moves.as_mut(), &context.boards);
                text.is_empty() || send(&mut write, &text).await
            }
        };
        if !sent {
            return;
        }
    }
}

/// Lines about the games being played that a client has not been sent.
fn news(moves: Option<&mut ClientView>, boards: &Mutex<Boards>) -> String {
    let boards = locked(boards);
    moves.map(|teller| teller.news(&boards)).unwrap_or_default()
}

/// Returns false if the client has gone, or is too slow.
async fn send(write: &mut WriteHalf<LocalStream>, text: &str) -> bool {
    matches!(timeout(WRITE_PATIENCE, write.write_all(text.as_bytes())).await, Ok(Ok(())))
}

enum ServerReply {
    Say(String),
    Watch { moves: bool },
}

async fn answer(text: &[u8], context: &ServerContext) -> ServerReply {
    let error = |error: String| ServerReply::Say(line(&ServerMessage::Error { error }));
    let ask = match serde_json::from_slice::<ClientMessage>(text) {
        Ok(ask) => ask,
        Err(why) => return error(format!("not a command: {why}")),
    };
    let moves = ask == ClientMessage::Watch { moves: true };
    if ask == ClientMessage::Workers {
        return ServerReply::Say(line(&ServerMessage::Workers {
            v: VERSION,
            workers: context.workers.borrow().clone(),
        }));
    }
    let Some(command) = ask.command() else { return ServerReply::Watch { moves } };
    sleep(PACE).await;
    let (reply, answer) = oneshot::channel();
    let over = || error("the run is over".to_owned());
    if context.commands.send(CommandRequest { command, reply }).await.is_err() {
        return over();
    }
    match answer.await {
        Ok(answer) => ServerReply::Say(line(&ServerMessage::from(answer))),
        Err(_) => over(),
    }
}

/// Reader of lines of bounded length. A partial line is kept if the wait for it is cancelled.
struct LineReader {
    read: ReadHalf<LocalStream>,
    held: Vec<u8>,
}

impl LineReader {
    /// The next line without its end; `None` at the end of the stream, or if a line is too long.
    async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            if let Some(end) = self.held.iter().position(|byte| *byte == b'\n') {
                let rest = self.held.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.held, rest);
                line.pop();
                return Some(line);
            }
            if self.held.len() > MAX_LINE {
                return None;
            }
            let mut chunk = [0; MAX_LINE];
            match self.read.read(&mut chunk).await {
                Ok(0) | Err(_) => return None,
                Ok(length) => self.held.extend_from_slice(&chunk[..length]),
            }
        }
    }
}

/// Sender of a run's events to clients that watch. It never waits for them.
pub struct Publisher {
    viewer: Viewer,
    lines: broadcast::Sender<Arc<str>>,
    progress: watch::Sender<Arc<str>>,
    workers: watch::Sender<Vec<WorkerRow>>,
    /// Workers as their coordinator sees them.
    statuses: Vec<WorkerStatus>,
    boards: Arc<Mutex<Boards>>,
    past: Arc<Mutex<PastLines>>,
}

impl Publisher {
    fn progress(&self, scoreboard: &Scoreboard, elapsed: Duration) -> RunProgress {
        RunProgress {
            v: VERSION,
            pairs: scoreboard.pairs(),
            ptnml: scoreboard.evidence().counts().0,
            estimates: scoreboard.estimates(),
            tune: scoreboard.tuning().map(|progress| TuningState::of(progress.course())),
            workers: self.workers.borrow().iter().take(MOST_WORKERS).cloned().collect(),
            pairs_per_minute: self.viewer.pairs_per_minute(scoreboard, elapsed),
            seconds: elapsed.as_secs_f64(),
            shown: self.viewer.view(scoreboard, elapsed).into(),
        }
    }
}

impl Observer for Publisher {
    fn observe(&mut self, event: RunEvent<'_>) {
        locked(&self.boards).observe(&event);
        if let Some(text) = self.viewer.line(&event) {
            let text: Arc<str> = Arc::from(line(&ServerMessage::Line { text }));
            let mut past = locked(&self.past);
            past.push(Arc::clone(&text));
            // An error only means that no client watches.
            let _ = self.lines.send(text);
        }
        if let RunEvent::Workers { workers } = event {
            self.statuses = workers.to_vec();
        }
        let (scoreboard, elapsed) = match event {
            RunEvent::Opened { scoreboard } => {
                self.viewer.begin(scoreboard);
                (scoreboard, Duration::ZERO)
            }
            RunEvent::Tick { scoreboard, elapsed } | RunEvent::Closed { scoreboard, elapsed, .. } => {
                (scoreboard, elapsed)
            }
            _ => return,
        };
        self.workers.send_replace(workers::rows(scoreboard, &self.statuses));
        let text: Arc<str> = Arc::from(line(&ServerMessage::Progress(Box::new(self.progress(scoreboard, elapsed)))));
        self.progress.send_replace(Arc::clone(&text));
        let _ = self.lines.send(text);
    }
}
