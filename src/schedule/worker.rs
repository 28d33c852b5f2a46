//! One slot: plays pairs of games. The referee decides, and the worker performs its requests on two
//! engine processes.
//!
//! Each slot is an operating-system thread with its own current-thread runtime. The thread that
//! stamps the clock is thus shared with nothing else (journal, statistics, screen). Engines are
//! spawned from this thread and die with it, because the parent-death signal belongs to the thread.

mod ready;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use tokio::sync::{Semaphore, mpsc, watch};

use crate::game::tablebase::Probe;
use crate::game::{Game, GameParts, GameSetup, Input, Request, Step, ToldClock, pv, stall};
use crate::plan::Plan;
use crate::plan::recording::Recording;
use crate::record::{
    ByColor, Color, Ending, EngineId, GameId, GameRecord, Leg, Opening, Overstep, PairId, PlayerId, RecordedOutput,
    Termination,
};
use crate::schedule::program::ProgramStates;
use crate::tournament::events::{Failure, MoveUpdate, Orders, PairTask, Ply, SlotId, Stop, WorkerEvent};
use crate::uci::process::{Confinement, Engine, Evidence, SearchOutcome, StartFault};
use crate::uci::{Go, SideClock};
use ready::{ReadyError, UnreadyEngine};

/// Replays per pair before a disturbed game counts anyway. Without a cap a noisy host could replay
/// one pair forever.
pub(crate) const MAX_VOIDS: u32 = 3;

/// Engines that a slot keeps running: those of its game and the last ones before.
pub(super) const KEPT_ENGINES: usize = 4;

/// Inputs of a worker for its whole life.
pub(crate) struct WorkerContext {
    pub(crate) slot: SlotId,
    pub(crate) plan: Arc<Plan>,
    /// CPUs of this slot, one for each thread that searches at once; empty for no binding.
    pub(crate) cpus: Vec<usize>,
    /// Permits to start an engine, shared by all slots, because many simultaneous starts slow each
    /// other down.
    pub(crate) starts: Arc<Semaphore>,
    /// Endgame tablebases, shared by all slots.
    pub(crate) tables: Option<Arc<dyn Probe>>,
    pub(crate) stderr_dir: PathBuf,
    pub(crate) events: mpsc::UnboundedSender<WorkerEvent>,
    pub(crate) orders: watch::Receiver<Orders>,
    /// Environment of each player's engine on the machine of another owner; empty for that of this
    /// process.
    pub(crate) guests: Arc<[Guest]>,
    /// Number of plies that the slot has played, for others to read.
    pub(crate) plies: Arc<AtomicU64>,
}

/// Environment of an engine on a machine that is not its author's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(not(feature = "cluster"), allow(dead_code, reason = "only workers have guests"))]
pub(crate) struct Guest {
    /// Variables.
    pub(crate) env: Vec<(String, String)>,
    /// Confinement, in whose folder each slot writes to one of its own; `None` without one.
    pub(crate) confinement: Option<Confinement>,
}

/// The dispatcher's end of a worker. Dropping it retires the worker once it is idle.
pub(crate) struct WorkerHandle {
    tasks: mpsc::Sender<PairTask>,
}

impl WorkerHandle {
    /// Gives an idle worker its next pair.
    pub(crate) fn play(&self, task: PairTask) {
        // A full channel would mean two tasks after one `Idle`. A closed one means that the
        // worker's end is about to be reported.
        let _ = self.tasks.try_send(task);
    }
}

/// Starts a worker's thread.
///
/// # Errors
/// Returns an error if the OS cannot spawn a thread.
pub(crate) fn start(context: WorkerContext) -> std::io::Result<WorkerHandle> {
    let (tasks, inbox) = mpsc::channel(1);
    std::thread::Builder::new().name(format!("slot-{}", context.slot.0)).spawn(move || thread(context, inbox))?;
    Ok(WorkerHandle { tasks })
}

fn thread(context: WorkerContext, inbox: mpsc::Receiver<PairTask>) {
    let slot = context.slot;
    let mut exit_report = ReportOnDrop { slot, events: context.events.clone(), event: None };
    exit_report.event = Some(match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => match runtime.block_on(SlotWorker::new(context).run(inbox)) {
            WorkerEnd::Retired(left) => WorkerEvent::Retired { slot, left },
            WorkerEnd::GaveUp { left, why } => WorkerEvent::GaveUp { slot, left: Some(left), why },
            WorkerEnd::Broken { in_game, why } => WorkerEvent::Broken { slot, in_game, why },
        },
        Err(error) => WorkerEvent::GaveUp { slot, left: None, why: format!("cannot start a runtime: {error}") },
    });
}

/// Reports the end of the thread on drop, even after a panic, because a run waits for each of its
/// slots.
struct ReportOnDrop {
    slot: SlotId,
    events: mpsc::UnboundedSender<WorkerEvent>,
    event: Option<WorkerEvent>,
}

impl Drop for ReportOnDrop {
    fn drop(&mut self) {
        let why = || format!("slot {} panicked", self.slot.0 + 1);
        let panicked = || WorkerEvent::Broken { slot: self.slot, in_game: false, why: why() };
        let event = self.event.take().unwrap_or_else(panicked);
        let _ = self.events.send(event);
    }
}

struct SlotWorker {
    context: WorkerContext,
    /// Engines by player; `None` if not running.
    engines: Vec<Option<Engine>>,
    /// Identity that each player's engine reported at its last start.
    identities: Vec<EngineId>,
    programs: ProgramStates,
    /// Players whose engines may be running, least recently used first.
    recent: Vec<usize>,
    /// False if the engine that searched last cannot play another game.
    reusable: bool,
    /// Wait for a CPU and recorded output of each ply of the current game.
    notes: Vec<(Option<Duration>, RecordedOutput)>,
    feed: MoveFeed,
    /// True if the harness itself was stopped during a move of the current game, so that clocks ran
    /// without their reader.
    was_stopped: bool,
}

impl SlotWorker {
    fn new(context: WorkerContext) -> Self {
        let engines: Vec<_> = context.plan.players.iter().map(|_| None).collect();
        let programs = ProgramStates::new(engines.len());
        let identities = vec![EngineId::default(); engines.len()];
        let feed = MoveFeed::new(context.orders.clone(), context.events.clone());
        Self {
            context,
            engines,
            identities,
            programs,
            recent: Vec::new(),
            reusable: true,
            notes: Vec::new(),
            feed,
            was_stopped: false,
        }
    }

    /// Plays the pairs of the inbox until it closes or the slot must end.
    async fn run(mut self, mut inbox: mpsc::Receiver<PairTask>) -> WorkerEnd {
        let slot = self.context.slot;
        let mut end = None;
        while end.is_none() && self.context.events.send(WorkerEvent::Idle { slot }).is_ok() {
            let Some(task) = inbox.recv().await else { break };
            end = self.play_pair(task).await;
        }
        self.quit().await;
        end.unwrap_or(WorkerEnd::Retired(None))
    }

    /// Plays a pair's games. Returns the reason if the slot ends before the pair is complete.
    async fn play_pair(&mut self, mut task: PairTask) -> Option<WorkerEnd> {
        let slot = self.context.slot;
        let mut orders = self.context.orders.clone();
        let mut voids_left = MAX_VOIDS;
        while let Some(leg) = task.legs.first().copied() {
            let is_begun = task.is_begun();
            // Waits here during a pause, with idle engines. A stop or a smaller concurrency ends
            // the wait.
            let go_on = |orders: &Orders| orders.stop.lets_begin(is_begun) && slot.0 < orders.slots;
            let is_over = |orders: &Orders| !orders.is_paused() || !go_on(orders);
            match orders.wait_for(is_over).await {
                Ok(orders) if go_on(&orders) => {}
                _ => return Some(WorkerEnd::Retired(Some(task))),
            }
            let ready = tokio::select! {
                biased;
                _ = orders.wait_for(|orders| orders.stop == Stop::Now || slot.0 >= orders.slots) => {
                    return Some(WorkerEnd::Retired(Some(task)));
                }
                ready = self.get_ready(&task, leg) => ready,
            };
            let unready = match ready {
                Ok(()) => None,
                Err(ReadyError::Values(unready)) => Some(*unready),
                Err(ReadyError::Stopped) => return Some(WorkerEnd::Retired(Some(task))),
                Err(ReadyError::Transient(why) | ReadyError::Unready(why)) => {
                    return Some(WorkerEnd::GaveUp { left: task, why });
                }
                Err(ReadyError::Broken(why)) => return Some(WorkerEnd::Broken { in_game: false, why }),
            };
            let now = *orders.borrow();
            if now.is_paused() || !go_on(&now) {
                // Engines may take long to get ready. The orders have changed meanwhile.
                continue;
            }
            let counts = tokio::select! {
                biased;
                _ = orders.wait_for(|orders| orders.stop == Stop::Now) => return Some(WorkerEnd::Retired(Some(task))),
                counts = self.play(&task, leg, unready, voids_left > 0) => match counts {
                    Ok(counts) => counts,
                    Err(why) => return Some(WorkerEnd::Broken { in_game: true, why }),
                },
            };
            self.pause().await;
            if counts {
                task.legs.remove(0);
            } else {
                voids_left -= 1;
                task.legs = task.all_legs.to_vec();
            }
        }
        None
    }

    /// Waits for the plan's pause after a game; a stop ends the wait.
    async fn pause(&self) {
        let pause = self.context.plan.pause;
        if !pause.is_zero() {
            let mut orders = self.context.orders.clone();
            let _ = tokio::time::timeout(pause, orders.wait_for(|orders| orders.stop != Stop::No)).await;
        }
    }

    /// Quits all engines at once, each within its timeout.
    async fn quit(&mut self) {
        let mut leaving = tokio::task::JoinSet::new();
        for engine in self.engines.iter_mut().filter_map(Option::take) {
            leaving.spawn(engine.quit());
        }
        leaving.join_all().await;
    }

    /// Plays one game with ready engines, or records the loss of an `unready` one. Returns false if
    /// the game is void, which it can only be if it `may_be_void`. The error is the reason that no
    /// game could begin.
    async fn play(
        &mut self,
        task: &PairTask,
        leg: Leg,
        unready: Option<UnreadyEngine>,
        may_be_void: bool,
    ) -> Result<bool, String> {
        let players = task.sides(leg);
        let id = GameId { pair: task.pair, leg };
        let _ = self.context.events.send(WorkerEvent::Began { game: id, players });
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let clock = Instant::now();
        self.notes.clear();
        self.feed.begin(id);
        self.was_stopped = false;
        let played = match unready {
            None => self.referee(task.opening(leg), players).await?,
            Some(unready) => self.forfeit(task.opening(leg), players, unready)?,
        };
        let (record, failure) = self.game_record(task, leg, played, may_be_void, [started, clock.elapsed()]);
        let is_void = record.is_void;
        let is_last = self.context.plan.max_failures == 0 && record.ending.termination.is_failure() && !is_void;
        self.tell_complaints(id, players);
        let _ = self.context.events.send(WorkerEvent::Ended { record: Box::new(record), failure });
        self.end_pondering(players).await;
        if is_last {
            // The dispatcher stops the run at this failure, so wait for the stop and begin no
            // further game.
            let _ = self.context.orders.clone().wait_for(|orders| orders.stop > Stop::AfterPair).await;
        }
        Ok(!is_void)
    }

    /// Record of a played game, and the evidence of the engine at fault. `times` are its start and
    /// its duration. The game is void if the machine disturbed it and it `may_be_void`.
    fn game_record(
        &mut self,
        task: &PairTask,
        leg: Leg,
        played: PlayedGame,
        may_be_void: bool,
        times: [Duration; 2],
    ) -> (GameRecord, Option<Box<Failure>>) {
        let players = task.sides(leg);
        let PlayedGame { parts, ending, failure, overstep } = played;
        let GameParts { opening, mut moves, .. } = parts;
        for (ply, (waited, said)) in moves.iter_mut().zip(self.notes.drain(..)) {
            (ply.waited, ply.said) = (waited, said);
        }
        let disturbed = self.context.plan.void_disturbed && overstep.as_ref().is_some_and(Overstep::is_excused);
        let is_void = may_be_void && (self.was_stopped || disturbed);
        // Rounded to whole microseconds, as in the journal.
        let [started, took] =
            times.map(|time| Duration::from_micros(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)));
        let engines = ByColor { white: self.identity(players.white), black: self.identity(players.black) };
        let (id, values) = (GameId { pair: task.pair, leg }, task.values(leg));
        let record = GameRecord {
            id,
            players,
            engines,
            opening,
            moves,
            ending,
            started,
            took,
            overstep,
            is_void,
            values,
            worker: None,
            scale: None,
        };
        let failure = failure.map(|(player, evidence)| {
            let Evidence { transcript, stderr, status } = evidence;
            Box::new(Failure { game: id, player, transcript, stderr, status })
        });
        (record, failure)
    }

    /// Reports the failures that the engines of a game reported.
    fn tell_complaints(&mut self, game: GameId, players: ByColor<PlayerId>) {
        for player in [players.white, players.black] {
            let engine = self.engines[usize::from(player.0)].as_mut();
            let texts = engine.map(Engine::take_complaints).unwrap_or_default();
            if !texts.is_empty() {
                let _ = self.context.events.send(WorkerEvent::Complained { game, player, texts });
            }
        }
    }

    /// Ends the ponder searches after a game. A fault here costs no game.
    async fn end_pondering(&mut self, players: ByColor<PlayerId>) {
        for player in [players.white, players.black] {
            let engine = &mut self.engines[usize::from(player.0)];
            let Some(pondering) = engine.as_mut().filter(|engine| engine.is_pondering()) else { continue };
            if let Err(fault) = pondering.end_ponder().await {
                *engine = None;
                let _ = self.context.events.send(WorkerEvent::Exited { player, status: fault.to_string() });
            }
        }
    }

    /// Sets up a game. Returns its first step too.
    fn set_up(&self, opening: &Opening, players: ByColor<PlayerId>) -> Result<(Game, Step), String> {
        let plan = &self.context.plan;
        let limit = |player: PlayerId| plan.players[usize::from(player.0)].limit;
        let setup = GameSetup {
            opening: opening.clone(),
            limits: ByColor { white: limit(players.white), black: limit(players.black) },
            margins: ByColor { white: plan.margin(players.white), black: plan.margin(players.black) },
            rules: plan.rules.clone(),
        };
        // Books are checked before the run, so an error here is not an engine's fault.
        let (mut game, step) = Game::new(setup).map_err(|error| error.to_string())?;
        if let Some(tables) = &self.context.tables {
            game.set_tables(Arc::clone(tables));
        }
        Ok((game, step))
    }

    /// Ends a game before its first search, because an engine is not ready with its values.
    fn forfeit(
        &self,
        opening: &Opening,
        players: ByColor<PlayerId>,
        unready: UnreadyEngine,
    ) -> Result<PlayedGame, String> {
        let (mut game, _) = self.set_up(opening, players)?;
        let color = if players.white == unready.player { Color::White } else { Color::Black };
        let Step::Over(ending) = game.handle(unready.input(color)) else {
            return Err("the referee continues a game without an engine".to_owned());
        };
        // An opening that is over by the rules is nobody's fault.
        let failure = ending.termination.is_fault().then_some((unready.player, unready.evidence));
        Ok(PlayedGame { parts: game.into_parts(), ending, failure, overstep: None })
    }

    /// Plays a game until the referee ends it.
    async fn referee(&mut self, opening: &Opening, players: ByColor<PlayerId>) -> Result<PlayedGame, String> {
        let (mut game, mut step) = self.set_up(opening, players)?;
        loop {
            let request = match step {
                Step::Over(ending) => {
                    return Ok(PlayedGame { parts: game.into_parts(), ending, failure: None, overstep: None });
                }
                Step::Think(request) => request,
            };
            let player = *players.get(request.color);
            let overstep;
            (step, overstep) = self.think(players, &mut game, &request).await;
            self.context.plies.fetch_add(1, Ordering::Relaxed);
            if let Step::Over(ending) = &step
                && ending.termination.is_fault()
            {
                // The engine that searched is at fault, and its output is the evidence.
                let evidence = self.engines[usize::from(player.0)].as_mut().map(Engine::evidence).unwrap_or_default();
                if !self.reusable {
                    self.engines[usize::from(player.0)] = None;
                }
                return Ok(PlayedGame {
                    parts: game.into_parts(),
                    ending: ending.clone(),
                    failure: Some((player, evidence)),
                    overstep: overstep.filter(|_| ending.termination == Termination::TimeForfeit),
                });
            }
        }
    }

    /// Identity that a player's engine reported; empty if it never started.
    fn identity(&self, player: PlayerId) -> EngineId {
        self.identities.get(usize::from(player.0)).cloned().unwrap_or_default()
    }

    /// Plays one ply: searches and passes the result to the referee. Also returns the times and
    /// load of the move, as evidence in case that it is late.
    async fn think(
        &mut self,
        players: ByColor<PlayerId>,
        game: &mut Game,
        request: &Request,
    ) -> (Step, Option<Overstep>) {
        let color = request.color;
        self.reusable = true;
        let [mover, other] = [color, color.other()].map(|color| usize::from(players.get(color).0));
        let (engine, listener) = match self.engines.get_disjoint_mut([mover, other]) {
            Ok([engine, other]) => (engine, other.as_mut().filter(|other| other.is_pondering())),
            Err(_) => (&mut self.engines[mover], None),
        };
        let pondering = listener.is_some();
        let Some(engine) = engine else {
            return (game.handle(Input::Crashed { color, detail: "not running".to_owned() }), None);
        };
        if let Some(limit) = self.context.plan.timeouts.ping.filter(|_| !engine.is_pondering())
            && let Err(fault) = engine.ping(limit).await
        {
            self.reusable = false;
            let detail = fault.to_string();
            let input = match fault {
                StartFault::Exited { .. } => Input::Crashed { color, detail },
                StartFault::Silent { .. } => Input::Stalled { color, detail },
            };
            return (game.handle(input), None);
        }
        let command = go(request);
        let search = engine.go(game.position_line(), &command, Some(request.deadline));
        let listen = async {
            match listener {
                Some(listener) => listener.listen().await,
                None => std::future::pending().await,
            }
        };
        let outcome = match (pondering, self.feed.is_due()) {
            (false, false) => search.await,
            (true, false) => tokio::select! {
                biased;
                outcome = search => outcome,
                never = listen => match never {},
            },
            // The first poll of the search sends `go`, so the moves before it are reported
            // afterwards.
            (_, true) => tokio::select! {
                biased;
                outcome = search => outcome,
                never = self.feed.tell(game) => match never {},
                never = listen => match never {},
            },
        };
        match outcome {
            SearchOutcome::BestMove { text, ponder, elapsed, mut info, load, .. } => {
                let (variation, score) = engine.last_pv();
                info.pv_fault = pv::check(game.position(), variation, score, &text);
                let said = keep(engine, &self.context.plan.recording, info.pv_fault.is_some());
                self.notes.push((load.waited(), said));
                // Without a clock a stop of the harness does not matter.
                self.was_stopped |= request.timed && load.stopped.is_some();
                let overstep = Overstep { allowed: request.deadline, answered: Some(elapsed), load };
                let step = game.handle(Input::Move { text: &text, elapsed, info });
                // Before the opponent's `go`, so that this work is not charged to the opponent.
                let ponder = ponder.filter(|_| self.context.plan.ponders(&self.context.plan.players[mover]));
                if let Some(ponder) = ponder.and_then(|expected| game.ponder(&expected)) {
                    engine.ponder(ponder.position_line.as_bytes(), &go(&ponder.request));
                }
                (step, Some(overstep))
            }
            SearchOutcome::Overrun { elapsed, late, load } => {
                self.reusable = late.is_some();
                self.was_stopped |= load.stopped.is_some();
                let answered = late.map(|late| late.elapsed);
                let overstep = Overstep { allowed: request.deadline, answered, load };
                let cause = match request.timed {
                    true => String::new(),
                    false => stall::likely_cause(request, engine.info(), elapsed),
                };
                (game.handle(Input::Overrun { elapsed, cause }), Some(overstep))
            }
            SearchOutcome::Exited { status, .. } => {
                self.reusable = false;
                (game.handle(Input::Crashed { color, detail: status }), None)
            }
        }
    }
}

/// Reports moves to subscribed clients. It costs nothing without subscribers. Otherwise it reports
/// during a search, never between the stamp of a move and the opponent's `go`.
struct MoveFeed {
    orders: watch::Receiver<Orders>,
    events: mpsc::UnboundedSender<WorkerEvent>,
    game: GameId,
    /// Number of plies of the game already reported; `None` before its first message.
    told: Option<usize>,
    /// Earliest time of the next message at the rate [`MoveFeed::PACE`].
    due: Instant,
}

impl MoveFeed {
    /// Average interval of a slot's messages, even if its engines play faster.
    const PACE: Duration = Duration::from_millis(50);

    /// Maximum time by which messages may exceed this rate, so that short bursts pass.
    const BURST: Duration = Duration::from_millis(500);

    fn new(orders: watch::Receiver<Orders>, events: mpsc::UnboundedSender<WorkerEvent>) -> Self {
        let game = GameId { pair: PairId(0), leg: Leg::First };
        Self { orders, events, game, told: None, due: Instant::now() }
    }

    const fn begin(&mut self, game: GameId) {
        self.game = game;
        self.told = None;
    }

    /// True if a client is subscribed and the rate allows a message.
    fn is_due(&self) -> bool {
        self.orders.borrow().moves && self.due.saturating_duration_since(Instant::now()) < Self::BURST
    }

    /// Reports the new moves of the game at once, and never completes.
    async fn tell(&mut self, game: &Game) -> Infallible {
        self.due = self.due.max(Instant::now()) + Self::PACE;
        let opening = self.told.is_none().then(|| game.opening().clone());
        let from = self.told.unwrap_or(0);
        let plies: Vec<Ply> = game.moves().iter().skip(from).map(Ply::from).collect();
        self.told = Some(from + plies.len());
        let moved = Box::new(MoveUpdate { opening, from, plies, over: None });
        let _ = self.events.send(WorkerEvent::Moved { game: self.game, moved });
        std::future::pending().await
    }
}

/// A played game, with evidence of the engine at fault, if any.
struct PlayedGame {
    parts: GameParts,
    ending: Ending,
    failure: Option<(PlayerId, Evidence)>,
    /// Times and load of the last move, if it lost on time.
    overstep: Option<Overstep>,
}

/// Reason that a worker's thread ends.
enum WorkerEnd {
    /// The slot was released or stopped, or nothing is left to play; with the unfinished task.
    Retired(Option<PairTask>),
    /// An engine could not be started in several attempts; with the rest of its pair.
    GaveUp { left: PairTask, why: String },
    /// The run cannot continue, because the fault would affect any slot.
    Broken { in_game: bool, why: String },
}

/// Longest part of a faulty PV that a record keeps, in bytes. A legal one is far shorter.
const LONGEST_FAULTY_PV: usize = 4096;

/// Collects the output that the plan records of an engine's last search, and its PV if that is
/// faulty. It runs after the clock's stamp, so it is charged to nobody.
fn keep(engine: &Engine, recording: &Recording, is_pv_faulty: bool) -> RecordedOutput {
    if recording.keeps_no_talk() && !is_pv_faulty {
        return RecordedOutput::default();
    }
    let pv = if is_pv_faulty {
        let (pv, _) = engine.last_pv();
        &pv[..pv.len().min(LONGEST_FAULTY_PV)]
    } else if recording.record_pv {
        engine.pv()
    } else {
        b""
    };
    let pv = String::from_utf8_lossy(pv);
    RecordedOutput {
        pv: pv.split_ascii_whitespace().collect::<Vec<_>>().join(" "),
        lines: engine.last_lines(&recording.match_lines),
    }
}

/// Converts the referee's request into a `go` command.
pub(crate) fn go(request: &Request) -> Go {
    let side = |clock: ToldClock| SideClock { time: clock.left, increment: clock.increment };
    // UCI cannot express a side without a clock, so that side gets the other's.
    let clocks = match request.clocks {
        ByColor { white: Some(white), black: Some(black) } => Some(ByColor { white: side(white), black: side(black) }),
        ByColor { white: Some(only), black: None } | ByColor { white: None, black: Some(only) } => {
            Some(ByColor { white: side(only), black: side(only) })
        }
        ByColor { white: None, black: None } => None,
    };
    Go {
        clocks,
        moves_to_go: request.moves_to_go,
        movetime: request.movetime,
        nodes: request.nodes,
        depth: request.depth,
        infinite: false,
        ponder: false,
    }
}

#[cfg(test)]
mod tests;
