//! A worker: plays the pairs of a run that another process coordinates.
//!
//! Its slots are those of any run (`schedule::worker`), on threads that touch no socket. One event
//! loop asks for their pairs, sends their games, and gives signs of life. It keeps each result
//! until the coordinator has named it as written. A slot ends or begins between two pairs, as the
//! share of the run changes (`pool`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};

use super::access::Access;
use super::link::{Link, LinkError, call, subject_of};
use super::live::Live;
use super::logs::Logs;
use super::notes::{NoteNumbers, NoteOutbox};
use super::outbox::{Outbox, RESEND};
use super::places::{GamePlaces, Places};
use super::wire::{
    self, BEAT, Heartbeat, Hello, Note, Offer, PairGames, Take, Welcome, WireError, WireMachine, WireOrders, WireSpeed,
};
use crate::game::tablebase::Probe;
use crate::plan::Plan;
use crate::plan::file::{self, PlanFileError};
use crate::record::{GameId, PairId, TimeScale};
use crate::schedule::affinity::Topology;
use crate::schedule::worker::{Guest, WorkerContext, WorkerHandle, start};
use crate::tablebase::{Tables, TablesError};
use crate::tournament::events::{self, PairTask, SlotId, Stop, WorkerEvent};
use crate::uci::process::may_name_file;

/// Pause before a slot asks again after it was told to wait, or was not answered.
pub(super) const PAUSE: Duration = Duration::from_millis(200);

/// Time without an answer to any sign of life after which a worker gives up.
const FORSAKEN: Duration = Duration::from_mins(10);

/// Settings of a worker of one run on the coordinator's own machine.
#[derive(Debug)]
pub(crate) struct Settings {
    /// The server.
    pub(crate) access: Access,
    /// The run.
    pub(crate) run: String,
    /// Name of this life of the worker.
    pub(crate) session: String,
    /// Number of its slot on this machine, which chooses its CPUs.
    pub(crate) slot: u16,
    /// Folder for the engines' standard error.
    pub(crate) stderr_dir: PathBuf,
}

/// Reason that a worker ends before its run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkerError {
    /// The server cannot be used.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// This machine cannot play the run.
    #[error("{0}")]
    Refused(String),
    /// The coordinator does not want this worker at present.
    #[error("{0}")]
    Declined(String),
    /// The plan is of another version, or damaged.
    #[error("the plan of the run: {0}")]
    Plan(#[from] PlanFileError),
    /// Endgame tables of the plan are not on this machine.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// The system grants no thread.
    #[error("cannot start a slot: {0}")]
    Thread(#[from] std::io::Error),
    /// The hub cannot give what the run needs at present.
    #[error("{0}; it is tried again")]
    Passing(String),
    /// No coordinator answers any more.
    #[error("no coordinator has answered for run {run} for {} s", waited.as_secs())]
    Forsaken {
        /// The run.
        run: String,
        /// Time without an answer.
        waited: Duration,
    },
    /// No engine gets ready at present.
    #[error("{why}; it is tried again")]
    NotReady {
        /// The engine and its fault.
        why: String,
        /// Pairs that the job has played.
        pairs: u64,
    },
    /// Every slot ended.
    #[error("{0}")]
    Slots(String),
}

impl WorkerError {
    /// True if another attempt may succeed without a change at either side.
    pub(super) const fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Link(_) | Self::Declined(_) | Self::Passing(_) | Self::Forsaken { .. } | Self::NotReady { .. }
        )
    }
}

/// A pair that a slot plays.
struct PairInPlay {
    attempt: u64,
    pair: PairId,
    /// Plies that the slot had played before.
    plies_before: u64,
    games: Vec<(crate::record::GameRecord, Option<events::Failure>)>,
}

/// State of a slot.
enum PostState {
    /// The thread has not requested anything yet.
    Starting(WorkerHandle),
    /// Asks for a pair.
    Asking(WorkerHandle),
    Playing(WorkerHandle, PairInPlay),
    /// The thread is ending or has ended.
    Ended,
}

/// A slot with the places that it holds until its thread has ended.
struct Post {
    slot: PostState,
    /// Plies that it has played.
    plies: Arc<AtomicU64>,
    _taken: GamePlaces,
}

/// Work of a worker for one run.
#[derive(Debug)]
pub(super) struct Job {
    /// Connection to the server.
    pub(super) link: Link,
    /// The run.
    pub(super) run: String,
    /// Name of this life of the worker.
    pub(super) session: String,
    /// The plan, as it is played on this machine.
    pub(super) plan: Arc<Plan>,
    /// Environment of each player's engine; empty for that of this process.
    pub(super) guests: Arc<[Guest]>,
    /// Places and memory for games, perhaps shared with other runs.
    pub(super) places: Places,
    /// Number of places that a game takes.
    pub(super) places_per_game: usize,
    /// Memory that a game takes, in MiB.
    pub(super) memory_mib: u64,
    /// Numbers of the session's messages to coordinators.
    pub(super) note_numbers: NoteNumbers,
    /// Folder for the engines' standard error.
    pub(super) stderr_dir: PathBuf,
    /// Occupation, for others to read.
    pub(super) figures: Arc<Figures>,
    /// Speed of this machine, if it was measured.
    pub(super) speed: Option<WireSpeed>,
}

/// Share of a run in a worker, which may change at any time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SlotShare {
    /// Concurrent games. Without any, the job ends once its results are written.
    pub(super) games: u16,
    /// Request to end: after the pairs in play, or at once.
    pub(super) stop: Stop,
}

/// Occupation of a job.
#[derive(Debug, Default)]
pub(super) struct Figures {
    /// Pairs played.
    pub(super) pairs: AtomicU64,
    /// Requests for a pair since the last one that was granted.
    pub(super) in_vain: AtomicU64,
}

struct Worker {
    job: Job,
    tables: Option<Arc<dyn Probe>>,
    starts: Arc<Semaphore>,
    share: watch::Receiver<SlotShare>,
    /// Posts by their first place. A post stays until its thread has ended.
    posts: BTreeMap<u16, Post>,
    /// Slots that gave up, and are not replaced.
    failed: u16,
    events: mpsc::UnboundedSender<WorkerEvent>,
    orders: watch::Sender<events::Orders>,
    offers: mpsc::UnboundedSender<(SlotId, Option<Offer>)>,
    outbox: Outbox,
    back: Vec<(u64, u64)>,
    notes: NoteOutbox,
    logs: Logs,
    machine: WireMachine,
    /// True since the server refused to store a result, until it stores one.
    is_full: bool,
    /// Reason of the last slot that gave up.
    fault: Option<WorkerError>,
    /// True once no further pair is wanted.
    is_over: bool,
    heard: Instant,
}

/// Plays pairs of a run on the coordinator's own machine, until the run is over.
///
/// # Errors
/// Returns an error if the run cannot be served, or not any longer.
pub(crate) async fn serve(settings: Settings) -> Result<(), WorkerError> {
    let Settings { access, run, session, slot, stderr_dir } = settings;
    let link = Link::open(&access, &session).await?;
    let plan = match hello(&link, &run, &session, false, None, FORSAKEN).await? {
        Welcome::Plan(text) => Arc::new(file::from_toml(&text)?),
        Welcome::Refused(why) => return Err(WorkerError::Refused(why)),
        Welcome::Signed(_) | Welcome::Admitted => {
            return Err(WorkerError::Refused("the plan is of a run on other machines".to_owned()));
        }
    };
    let cpus = Topology::detect().slots(&plan.affinity, plan.threads());
    // The user who starts a run knows the memory of this machine.
    let places = Places::new([(0, cpus.get(usize::from(slot)).cloned().unwrap_or_default())], 0);
    let (guests, figures, note_numbers) = (Arc::default(), Arc::default(), NoteNumbers::default());
    let (places_per_game, memory_mib, speed) = (1, 0, None);
    let job = Job {
        link,
        run,
        session,
        plan,
        guests,
        places,
        places_per_game,
        memory_mib,
        note_numbers,
        stderr_dir,
        figures,
        speed,
    };
    let (_stays, share) = watch::channel(SlotShare { games: 1, stop: Stop::No });
    play(job, share).await
}

/// Plays pairs of a run until it is over, or until no slot is left to it.
///
/// # Errors
/// Returns an error if the run cannot be served, or not any longer.
pub(super) async fn play(mut job: Job, mut share: watch::Receiver<SlotShare>) -> Result<(), WorkerError> {
    let tables = Tables::of(job.plan.rules.syzygy.as_ref())?;
    // The coordinator counts failures. A slot that waited for its stop would never send the game.
    job.plan = Arc::new(Plan { max_failures: u64::MAX, ..Plan::clone(&job.plan) });
    let (events_in, mut events) = mpsc::unbounded_channel();
    let (offers_in, mut offers) = mpsc::unbounded_channel();
    let mut calls = job.link.requests(call(&job.run)).await?;
    let mut worker = Worker {
        outbox: Outbox::new(&job.link, &job.run, &job.session),
        notes: NoteOutbox::new(&job.note_numbers),
        job,
        tables,
        starts: Arc::new(Semaphore::new(Topology::detect().cpus())),
        share: share.clone(),
        posts: BTreeMap::new(),
        failed: 0,
        events: events_in,
        // Each slot is of this job as long as its handle is kept.
        orders: watch::Sender::new(events::Orders::play(u16::MAX)),
        offers: offers_in,
        back: Vec::new(),
        logs: Logs::default(),
        machine: Topology::detect().machine().into(),
        is_full: false,
        fault: None,
        is_over: false,
        heard: Instant::now(),
    };
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        worker.staff()?;
        if worker.is_done() {
            break;
        }
        tokio::select! {
            biased;
            Some(event) = events.recv() => worker.on_event(event),
            Some((slot, offer)) = offers.recv() => worker.on_offer(slot, offer),
            Ok(()) = share.changed() => worker.on_share(),
            Some(_) = calls.next() => worker.beat().await?,
            _ = beat.tick() => worker.beat().await?,
        }
        if worker.wants_beat() {
            worker.beat().await?;
        }
    }
    worker.leave().await;
    match worker.fault {
        Some(fault) if !worker.is_over => Err(fault),
        _ => Ok(()),
    }
}

/// Fetches the plan of a run.
///
/// # Errors
/// Returns an error if nobody answers for `patience`, or with something else.
pub(super) async fn hello(
    link: &Link,
    run: &str,
    session: &str,
    any_version: bool,
    speed: Option<WireSpeed>,
    patience: Duration,
) -> Result<Welcome, WorkerError> {
    let program = env!("CARGO_PKG_VERSION").to_owned();
    let machine = Some(Topology::detect().machine().into());
    let worker = session.to_owned();
    let hello = Hello { v: wire::VERSION, worker, program, machine, any_version, speed, simulated: false };
    let began = Instant::now();
    while began.elapsed() < patience {
        if let Some(bytes) = link.ask(subject_of(run, "plan", session), &hello).await {
            return wire::from_bytes(&bytes).map_err(|error| WorkerError::Refused(error.to_string()));
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(WorkerError::Forsaken { run: run.to_owned(), waited: patience })
}

/// True if a job ends after this silence. One that takes no more pairs finishes those in play, and
/// ends by itself without results to keep.
fn is_forsaken(silence: Duration, wanted: u16, plays: bool, keeps_nothing: bool) -> bool {
    silence > FORSAKEN && (wanted > 0 || !plays && !keeps_nothing)
}

impl Worker {
    /// True if no slot runs, none will, and no result waits unless nobody wants it any more.
    fn is_done(&self) -> bool {
        let stopped = self.orders.borrow().stop == Stop::Now;
        self.posts.is_empty() && (self.outbox.is_empty() || stopped) && !self.wants_slots()
    }

    /// Number of games that this job should play at once.
    fn wanted(&self) -> u16 {
        let share = *self.share.borrow();
        if self.is_over || share.stop != Stop::No { 0 } else { share.games.saturating_sub(self.failed) }
    }

    /// Number of slots that continue after their pairs.
    fn active(&self) -> usize {
        self.posts.values().filter(|post| !matches!(post.slot, PostState::Ended)).count()
    }

    fn wants_slots(&self) -> bool {
        self.active() < usize::from(self.wanted())
    }

    /// Starts slots as long as some are missing, and places and memory are free. Other runs may
    /// still hold them: the next sign of life tries again.
    fn staff(&mut self) -> Result<(), WorkerError> {
        while self.wants_slots() {
            let Job { places, places_per_game, memory_mib, .. } = &self.job;
            let Some(taken) = places.take(*places_per_game, *memory_mib) else { return Ok(()) };
            let slot = taken.number();
            let plies = Arc::default();
            let context = WorkerContext {
                slot: SlotId(slot),
                plan: Arc::clone(&self.job.plan),
                cpus: taken.cpus(),
                starts: Arc::clone(&self.starts),
                tables: self.tables.clone(),
                stderr_dir: self.job.stderr_dir.clone(),
                events: self.events.clone(),
                orders: self.orders.subscribe(),
                guests: Arc::clone(&self.job.guests),
                plies: Arc::clone(&plies),
            };
            self.logs.watch(&self.job.plan, SlotId(slot), &self.job.stderr_dir);
            let post = Post { slot: PostState::Starting(start(context)?), plies, _taken: taken };
            self.posts.insert(slot, post);
        }
        Ok(())
    }

    fn on_share(&mut self) {
        let share = *self.share.borrow();
        if share.stop == Stop::Now {
            self.orders.send_modify(|now| now.stop = Stop::Now);
        }
        if share.stop != Stop::No {
            self.release();
        }
    }

    fn wants_beat(&self) -> bool {
        !self.back.is_empty()
    }

    fn on_event(&mut self, event: WorkerEvent) {
        match event {
            WorkerEvent::Idle { slot } => self.on_idle(slot),
            WorkerEvent::Ended { mut record, failure } => {
                record.scale = self.job.speed.and_then(|speed| speed.scale).and_then(TimeScale::from_millionths);
                self.publish_moves(record.id, |worker, attempt| Live::ended(worker, attempt, &record));
                if let Some(playing) = self.playing(record.id.pair) {
                    playing.games.push((*record, failure.map(|failure| *failure)));
                }
            }
            WorkerEvent::Moved { game, moved } => {
                self.publish_moves(game, |worker, attempt| Live::new(worker, attempt, game, &moved));
            }
            WorkerEvent::Complained { game, player, texts } => {
                self.notes.push(Note::Complained { game: game.number(), player: player.0, texts });
            }
            WorkerEvent::Exited { player, status } => self.notes.push(Note::Exited { player: player.0, status }),
            WorkerEvent::StartFailed { why } => self.notes.push(Note::Text(format!("{why}; trying again"))),
            WorkerEvent::Retired { slot, left } => self.end_slot(slot, left.is_some()),
            WorkerEvent::GaveUp { slot, left, why } => {
                let pairs = self.job.figures.pairs.load(Ordering::Relaxed);
                self.fail(why, |why| WorkerError::NotReady { why, pairs });
                self.end_slot(slot, left.is_some());
            }
            WorkerEvent::Broken { slot, why, .. } => {
                self.fail(why, WorkerError::Slots);
                self.end_slot(slot, true);
            }
            WorkerEvent::Began { .. } => {}
        }
    }

    /// State of the slot that plays a pair.
    fn playing(&mut self, pair: PairId) -> Option<&mut PairInPlay> {
        self.posts.values_mut().find_map(|post| match &mut post.slot {
            PostState::Playing(_, playing) if playing.pair == pair => Some(playing),
            _ => None,
        })
    }

    /// Publishes moves of a game while somebody watches.
    fn publish_moves(&mut self, game: GameId, live: impl FnOnce(&str, u64) -> Live) {
        if !self.orders.borrow().moves {
            return;
        }
        let Some(attempt) = self.playing(game.pair).map(|playing| playing.attempt) else { return };
        let live = live(&self.job.session, attempt);
        let (link, to) = (self.job.link.clone(), subject_of(&self.job.run, "live", &self.job.session));
        tokio::spawn(async move { link.answer(&to, &live).await });
    }

    /// Counts a slot that ended, with the reason and the fault of the job if it is the last one.
    fn fail(&mut self, why: String, fault: impl FnOnce(String) -> WorkerError) {
        self.failed = self.failed.saturating_add(1);
        // The last one's reason is told by the end of the job.
        if self.wanted() > 0 {
            self.notes.push(Note::Text(why.clone()));
        }
        self.fault = Some(fault(why));
    }

    /// Sends the games of a slot that has finished its pair, and asks for another.
    fn on_idle(&mut self, slot: SlotId) {
        let goes_on = self.active() <= usize::from(self.wanted());
        let Some(post) = self.posts.get_mut(&slot.0) else { return };
        let (handle, played) = match std::mem::replace(&mut post.slot, PostState::Ended) {
            PostState::Playing(handle, played) => (handle, Some(played)),
            PostState::Starting(handle) | PostState::Asking(handle) => (handle, None),
            PostState::Ended => return,
        };
        // Dropping its handle ends the slot.
        if goes_on {
            post.slot = PostState::Asking(handle);
        }
        if let Some(PairInPlay { attempt, pair, games, .. }) = played {
            self.job.figures.pairs.fetch_add(1, Ordering::Relaxed);
            // The coordinator drops the logs of a result that it does not count, so a beat sends
            // them again; it keeps each place of a log once.
            let logs = self.logs.news();
            let result =
                PairGames { worker: self.job.session.clone(), pair, attempt, games, logs, is_simulated: false };
            self.outbox.send(&result);
        }
        if goes_on {
            self.ask(slot, Duration::ZERO);
        }
    }

    /// Asks for a pair after a pause. The answer comes as a message.
    fn ask(&self, slot: SlotId, pause: Duration) {
        let take = Take { v: wire::VERSION, worker: self.job.session.clone(), slot: slot.0, sent: self.outbox.keys() };
        let (link, to, offers) =
            (self.job.link.clone(), subject_of(&self.job.run, "take", &self.job.session), self.offers.clone());
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            let answer = link.ask(to, &take).await;
            let offer = answer.and_then(|bytes| wire::from_bytes(&bytes).ok());
            // The worker has ended if nobody listens.
            let _ = offers.send((slot, offer));
        });
    }

    fn on_offer(&mut self, slot: SlotId, offer: Option<Offer>) {
        match offer {
            Some(Offer::Pair { attempt, pair }) => {
                self.job.figures.in_vain.store(0, Ordering::Relaxed);
                let id = pair.id();
                match pair.task(self.job.plan.players.len()).and_then(|task| self.check(task)) {
                    Ok(task) => self.play(slot, attempt, task),
                    Err(error) => {
                        self.notes.push(Note::Text(error.to_string()));
                        self.back.push((id.0, attempt));
                        self.ask_again(slot);
                    }
                }
            }
            Some(Offer::Over) => {
                self.is_over = true;
                self.release();
            }
            Some(Offer::Wait) | None => {
                self.job.figures.in_vain.fetch_add(1, Ordering::Relaxed);
                self.ask_again(slot);
            }
        }
    }

    /// Refuses options of a single game that name files, on somebody else's machine. Those of
    /// the plan were examined before.
    fn check(&self, task: PairTask) -> Result<PairTask, WireError> {
        let mut options = task.options.iter().flat_map(|sides| sides.iter().flatten());
        match options.find(|(name, value)| !self.job.guests.is_empty() && may_name_file(name, value)) {
            Some((name, _)) => Err(WireError::Value(format!("the option {name} of a game names a file"))),
            None => Ok(task),
        }
    }

    /// Asks for a pair once more, unless the slot is no longer wanted.
    fn ask_again(&mut self, slot: SlotId) {
        let goes_on = self.active() <= usize::from(self.wanted());
        let Some(post) = self.posts.get_mut(&slot.0) else { return };
        // Of two requests of one slot, one has brought a pair.
        if !matches!(post.slot, PostState::Asking(_)) {
            return;
        }
        if goes_on {
            self.ask(slot, PAUSE);
        } else {
            post.slot = PostState::Ended;
        }
    }

    fn play(&mut self, slot: SlotId, attempt: u64, task: PairTask) {
        let lease = (task.pair.0, attempt);
        match self.playing(task.pair).map(|now| now.attempt) {
            None => {}
            // The same offer came twice.
            Some(now) if now == attempt => return,
            // Another slot still plays it on a lease that was lost. Their games would mix.
            Some(_) => {
                self.back.push(lease);
                return self.ask(slot, PAUSE);
            }
        }
        if let Some(post) = self.posts.get_mut(&slot.0)
            && matches!(post.slot, PostState::Asking(_))
            && let PostState::Asking(handle) = std::mem::replace(&mut post.slot, PostState::Ended)
        {
            let plies_before = post.plies.load(Ordering::Relaxed);
            let playing = PairInPlay { attempt, pair: task.pair, plies_before, games: Vec::new() };
            handle.play(task);
            post.slot = PostState::Playing(handle, playing);
        } else {
            // The slot that asked has ended meanwhile.
            self.back.push(lease);
        }
    }

    /// Ends the slots that have no pair.
    fn release(&mut self) {
        for post in self.posts.values_mut() {
            if matches!(post.slot, PostState::Starting(_) | PostState::Asking(_)) {
                post.slot = PostState::Ended;
            }
        }
    }

    /// Removes a slot whose thread has ended.
    fn end_slot(&mut self, slot: SlotId, has_pair: bool) {
        if let Some(Post { slot: PostState::Playing(_, playing), .. }) = self.posts.remove(&slot.0)
            && has_pair
        {
            self.back.push((playing.pair.0, playing.attempt));
        }
    }

    /// Reports once that the server does not store results, until it has stored one.
    fn tell_of_full_store(&mut self) {
        let why = self.job.link.why_unstored();
        if let Some(why) = why.as_ref().filter(|_| !self.is_full) {
            self.notes.push(Note::Text(format!(
                "the hub does not store its results ({why}); they are kept here and sent again. If its disk is full, give it \
                 more with `quintain hub --disk`"
            )));
        }
        self.is_full = why.is_some();
    }

    /// Gives a sign of life, and obeys the answer.
    async fn beat(&mut self) -> Result<(), WorkerError> {
        self.tell_of_full_store();
        let beat = self.state(false);
        let Some(bytes) = self.job.link.ask(subject_of(&self.job.run, "beat", &self.job.session), &beat).await else {
            // Said again in the next beat.
            self.notes.keep(beat.notes);
            self.back = beat.back;
            let silence = self.heard.elapsed();
            if self.wanted() == 0 && silence > RESEND {
                // The run's next coordinator reads what the server has.
                self.outbox.drop_stored();
            }
            if is_forsaken(silence, self.wanted(), !self.posts.is_empty(), self.outbox.is_empty()) {
                return Err(WorkerError::Forsaken { run: self.job.run.clone(), waited: FORSAKEN });
            }
            return Ok(());
        };
        self.heard = Instant::now();
        self.logs.sent(&beat.logs);
        let Ok(orders) = wire::from_bytes::<WireOrders>(&bytes) else { return Ok(()) };
        self.outbox.drop_written(&orders.written);
        for post in self.posts.values_mut() {
            if let PostState::Playing(_, playing) = &mut post.slot
                && orders.void.contains(&(playing.pair.0, playing.attempt))
            {
                // Its games will not be wanted. They end all the same: a slot has one thread.
                playing.attempt = 0;
            }
        }
        self.outbox.resend_overdue();
        // A first interrupt lets pairs in play be finished.
        let is_stopped = orders.stop() == Stop::Now || self.share.borrow().stop == Stop::Now;
        let stop = if is_stopped { Stop::Now } else { Stop::No };
        self.is_over |= orders.stop() != Stop::No;
        if self.is_over {
            self.release();
        }
        // Who leaves the run plays its pairs to the end, and does not wait for that of a pause.
        let paused = orders.paused && self.wanted() > 0;
        self.orders.send_modify(|now| (now.stop, now.paused, now.moves) = (stop, paused, orders.moves));
        Ok(())
    }

    /// Contents of a sign of life. Takes the messages that it holds.
    fn state(&mut self, leaves: bool) -> Heartbeat {
        let held = self.posts.values().filter_map(|post| match &post.slot {
            PostState::Playing(_, playing) => {
                let plies = post.plies.load(Ordering::Relaxed) - playing.plies_before;
                Some(((playing.pair.0, playing.attempt), plies))
            }
            _ => None,
        });
        let (held, progress) = held.unzip();
        let (first_note, notes) = self.notes.take();
        Heartbeat {
            v: wire::VERSION,
            worker: self.job.session.clone(),
            held,
            progress,
            sent: self.outbox.keys(),
            back: std::mem::take(&mut self.back),
            notes,
            first_note: Some(first_note),
            logs: self.logs.news(),
            machine: Some(self.machine.clone()),
            speed: self.job.speed,
            leaves,
        }
    }

    /// Says goodbye once. If the message is lost, silence reveals the end.
    async fn leave(&mut self) {
        let beat = self.state(true);
        let _ = self.job.link.ask(subject_of(&self.job.run, "beat", &self.job.session), &beat).await;
    }
}

#[cfg(test)]
mod tests;
