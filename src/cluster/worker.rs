//! A worker: plays the pairs of a run that another process coordinates.
//!
//! Its slots are those of any run (`schedule::worker`), on threads that touch no socket. One event
//! loop asks for their pairs, sends their games, and gives signs of life. It keeps each result
//! until the coordinator has named it as written.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};

use super::access::Access;
use super::link::{Link, LinkError, call, subject_of};
use super::live::Live;
use super::logs::Logs;
use super::wire::{self, BEAT, Beat, Hello, Note, Offer, Orders, PairResult, Take, Welcome};
use crate::plan::Plan;
use crate::plan::file::{self, PlanFileError};
use crate::record::{GameId, PairId};
use crate::schedule::affinity::Topology;
use crate::schedule::worker::{WorkerContext, WorkerHandle, start};
use crate::tablebase::{Tables, TablesError};
use crate::tournament::events::{self, PairTask, SlotId, Stop, WorkerEvent};

/// Pause before a slot asks again after it was told to wait, or was not answered.
const PAUSE: Duration = Duration::from_millis(200);

/// Time after which a result that the coordinator does not name as written is sent again. Its store
/// may have been lost.
const RESEND: Duration = Duration::from_secs(20);

/// Time without an answer to any sign of life after which a worker gives up.
const FORSAKEN: Duration = Duration::from_mins(10);

/// Settings of a worker.
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
    /// The coordinator does not want this worker.
    #[error("{0}")]
    Refused(String),
    /// The plan is of another version, or damaged.
    #[error("the plan of the run: {0}")]
    Plan(#[from] PlanFileError),
    /// Endgame tables of the plan are not on this machine.
    #[error(transparent)]
    Tables(#[from] TablesError),
    /// The system grants no thread.
    #[error("cannot start a slot: {0}")]
    Thread(#[from] std::io::Error),
    /// No coordinator answers any more.
    #[error("nobody answers for run {run} since {} min", FORSAKEN.as_secs() / 60)]
    Forsaken {
        /// The run.
        run: String,
    },
    /// Every slot ended.
    #[error("{0}")]
    Slots(String),
}

/// A pair that a slot plays.
struct Playing {
    attempt: u64,
    pair: PairId,
    games: Vec<(crate::record::GameRecord, Option<events::Failure>)>,
}

/// State of a slot.
enum Slot {
    /// Asks for a pair.
    Asking(WorkerHandle),
    Playing(WorkerHandle, Playing),
    Ended,
}

/// A result that may not be written yet.
struct Sent {
    bytes: Vec<u8>,
    since: Instant,
}

struct Worker {
    settings: Settings,
    plan: Arc<Plan>,
    link: Link,
    slots: Vec<Slot>,
    orders: watch::Sender<events::Orders>,
    offers: mpsc::UnboundedSender<(SlotId, Option<Offer>)>,
    /// By pair and attempt.
    sent: BTreeMap<(u64, u64), Sent>,
    back: Vec<(u64, u64)>,
    notes: Vec<Note>,
    logs: Logs,
    /// Reason of the last slot that gave up.
    fault: Option<String>,
    /// True once no further pair is wanted.
    is_over: bool,
    heard: Instant,
}

/// Plays pairs until the run is over.
///
/// # Errors
/// Returns an error if the run cannot be served, or not any longer.
pub(crate) async fn serve(settings: Settings) -> Result<(), WorkerError> {
    let link = Link::open(&settings.access, &settings.session).await?;
    let plan = Arc::new(file::from_toml(&hello(&link, &settings).await?)?);
    let tables = Tables::of(plan.rules.syzygy.as_ref())?;
    let (events_in, mut events) = mpsc::unbounded_channel();
    let (offers_in, mut offers) = mpsc::unbounded_channel();
    let topology = Topology::detect();
    let cpus = topology.slots(&plan.affinity, plan.threads());
    let orders = watch::Sender::new(events::Orders::play(1));
    let context = WorkerContext {
        slot: SlotId(0),
        plan: Arc::clone(&plan),
        cpus: cpus.get(usize::from(settings.slot)).cloned().unwrap_or_default(),
        starts: Arc::new(Semaphore::new(topology.cpus())),
        tables,
        stderr_dir: settings.stderr_dir.clone(),
        events: events_in,
        orders: orders.subscribe(),
    };
    let logs = Logs::new(&plan, 1, &settings.stderr_dir);
    let slots = vec![Slot::Asking(start(context)?)];
    let mut worker = Worker {
        settings,
        plan,
        link,
        slots,
        orders,
        offers: offers_in,
        sent: BTreeMap::new(),
        back: Vec::new(),
        notes: Vec::new(),
        logs,
        fault: None,
        is_over: false,
        heard: Instant::now(),
    };
    let mut calls = worker.link.requests(call(&worker.settings.run)).await?;
    let mut beat = tokio::time::interval(BEAT);
    beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !worker.is_done() {
        tokio::select! {
            biased;
            Some(event) = events.recv() => worker.on_event(event),
            Some((slot, offer)) = offers.recv() => worker.on_offer(slot, offer),
            Some(_) = calls.next() => worker.beat().await?,
            _ = beat.tick() => worker.beat().await?,
        }
        if worker.wants_beat() {
            worker.beat().await?;
        }
    }
    worker.leave().await;
    match worker.fault {
        Some(fault) if !worker.is_over => Err(WorkerError::Slots(fault)),
        _ => Ok(()),
    }
}

/// Fetches the text of the run's plan.
async fn hello(link: &Link, settings: &Settings) -> Result<String, WorkerError> {
    let hello = Hello {
        v: wire::VERSION,
        worker: settings.session.clone(),
        program: env!("CARGO_PKG_VERSION").to_owned(),
        machine: Some(Topology::detect().machine().into()),
    };
    let began = Instant::now();
    while began.elapsed() < FORSAKEN {
        if let Some(bytes) = link.ask(subject_of(&settings.run, "plan", &settings.session), &hello).await {
            return match wire::from_bytes(&bytes) {
                Ok(Welcome::Plan(text)) => Ok(text),
                Ok(Welcome::Refused(why)) => Err(WorkerError::Refused(why)),
                Ok(Welcome::Signed(_)) => {
                    Err(WorkerError::Refused("the plan is of a run on other machines".to_owned()))
                }
                Err(error) => Err(WorkerError::Refused(error.to_string())),
            };
        }
        tokio::time::sleep(PAUSE).await;
    }
    Err(WorkerError::Forsaken { run: settings.run.clone() })
}

impl Worker {
    /// True if no slot runs, and no result waits unless nobody wants it any more.
    fn is_done(&self) -> bool {
        let stopped = self.orders.borrow().stop == Stop::Now;
        self.slots.iter().all(|slot| matches!(slot, Slot::Ended)) && (self.sent.is_empty() || stopped)
    }

    fn wants_beat(&self) -> bool {
        !self.back.is_empty()
    }

    fn on_event(&mut self, event: WorkerEvent) {
        match event {
            WorkerEvent::Idle { slot } => self.on_idle(slot),
            WorkerEvent::Ended { record, failure } => {
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
                self.fault = Some(why);
                self.end_slot(slot, left.is_some());
            }
            WorkerEvent::Broken { slot, why, .. } => {
                self.fault = Some(why);
                self.end_slot(slot, true);
            }
            WorkerEvent::Began { .. } => {}
        }
    }

    /// State of the slot that plays a pair.
    fn playing(&mut self, pair: PairId) -> Option<&mut Playing> {
        self.slots.iter_mut().find_map(|slot| match slot {
            Slot::Playing(_, playing) if playing.pair == pair => Some(playing),
            _ => None,
        })
    }

    /// Publishes moves of a game while somebody watches.
    fn publish_moves(&mut self, game: GameId, live: impl FnOnce(&str, u64) -> Live) {
        if !self.orders.borrow().moves {
            return;
        }
        let Some(attempt) = self.playing(game.pair).map(|playing| playing.attempt) else { return };
        let live = live(&self.settings.session, attempt);
        let (link, to) = (self.link.clone(), subject_of(&self.settings.run, "live", &self.settings.session));
        tokio::spawn(async move { link.answer(&to, &live).await });
    }

    /// Sends the games of a slot that has finished its pair, and asks for another.
    fn on_idle(&mut self, slot: SlotId) {
        let place = usize::from(slot.0);
        let Some(state) = self.slots.get_mut(place) else { return };
        let (now, played) = match std::mem::replace(state, Slot::Ended) {
            Slot::Playing(handle, played) => (Slot::Asking(handle), Some(played)),
            other => (other, None),
        };
        *state = now;
        if let Some(Playing { attempt, pair, games }) = played {
            let logs = self.logs.news();
            self.logs.sent(&logs);
            let result = PairResult { worker: self.settings.session.clone(), pair, attempt, games, logs };
            let key = (pair.0, attempt);
            self.sent.insert(key, Sent { bytes: result.pack(), since: Instant::now() });
            self.publish(key);
        }
        if self.is_over {
            // Dropping its handle ends the slot.
            self.slots[place] = Slot::Ended;
            return;
        }
        self.ask(slot, Duration::ZERO);
    }

    fn publish(&self, key: (u64, u64)) {
        let Some(sent) = self.sent.get(&key) else { return };
        let (link, bytes) = (self.link.clone(), sent.bytes.clone());
        let to = subject_of(&self.settings.run, "res", &self.settings.session);
        let id = format!("{}/{}/{}", self.settings.run, key.0, key.1);
        tokio::spawn(async move { link.publish(to, id, bytes).await });
    }

    /// Asks for a pair after a pause. The answer comes as a message.
    fn ask(&self, slot: SlotId, pause: Duration) {
        let take = Take {
            v: wire::VERSION,
            worker: self.settings.session.clone(),
            slot: slot.0,
            sent: self.sent.keys().copied().collect(),
        };
        let (link, to, offers) =
            (self.link.clone(), subject_of(&self.settings.run, "take", &self.settings.session), self.offers.clone());
        tokio::spawn(async move {
            tokio::time::sleep(pause).await;
            let answer = link.ask(to, &take).await;
            let offer = answer.and_then(|bytes| wire::from_bytes(&bytes).ok());
            // The worker has ended if nobody listens.
            let _ = offers.send((slot, offer));
        });
    }

    fn on_offer(&mut self, slot: SlotId, offer: Option<Offer>) {
        let place = usize::from(slot.0);
        match offer {
            Some(Offer::Pair { attempt, pair }) => match pair.task(self.plan.players.len()) {
                Ok(task) => self.play(place, attempt, task),
                Err(error) => {
                    self.notes.push(Note::Text(error.to_string()));
                    self.ask(slot, PAUSE);
                }
            },
            Some(Offer::Over) => {
                self.is_over = true;
                self.release();
            }
            _ if self.is_over => self.release(),
            Some(Offer::Wait) | None => self.ask(slot, PAUSE),
        }
    }

    fn play(&mut self, place: usize, attempt: u64, task: PairTask) {
        let Some(state) = self.slots.get_mut(place) else { return };
        *state = match std::mem::replace(state, Slot::Ended) {
            Slot::Asking(handle) => {
                let playing = Playing { attempt, pair: task.pair, games: Vec::new() };
                handle.play(task);
                Slot::Playing(handle, playing)
            }
            // The same offer came twice.
            other => other,
        };
    }

    /// Ends the slots that have no pair.
    fn release(&mut self) {
        for slot in &mut self.slots {
            if matches!(slot, Slot::Asking(_)) {
                *slot = Slot::Ended;
            }
        }
    }

    fn end_slot(&mut self, slot: SlotId, has_pair: bool) {
        let Some(state) = self.slots.get_mut(usize::from(slot.0)) else { return };
        if let Slot::Playing(_, playing) = std::mem::replace(state, Slot::Ended)
            && has_pair
        {
            self.back.push((playing.pair.0, playing.attempt));
        }
    }

    /// Gives a sign of life, and obeys the answer.
    async fn beat(&mut self) -> Result<(), WorkerError> {
        let beat = self.state(false);
        let Some(bytes) = self.link.ask(subject_of(&self.settings.run, "beat", &self.settings.session), &beat).await
        else {
            // Said again in the next beat.
            self.notes = beat.notes;
            self.back = beat.back;
            if self.heard.elapsed() > FORSAKEN {
                return Err(WorkerError::Forsaken { run: self.settings.run.clone() });
            }
            return Ok(());
        };
        self.heard = Instant::now();
        self.logs.sent(&beat.logs);
        let Ok(orders) = wire::from_bytes::<Orders>(&bytes) else { return Ok(()) };
        for key in &orders.written {
            self.sent.remove(key);
        }
        for slot in &mut self.slots {
            if let Slot::Playing(_, playing) = slot
                && orders.void.contains(&(playing.pair.0, playing.attempt))
            {
                // Its games will not be wanted. They end all the same: a slot has one thread.
                playing.attempt = 0;
            }
        }
        let overdue: Vec<_> =
            self.sent.iter().filter(|(_, sent)| sent.since.elapsed() > RESEND).map(|(key, _)| *key).collect();
        for key in overdue {
            self.publish(key);
            if let Some(sent) = self.sent.get_mut(&key) {
                sent.since = Instant::now();
            }
        }
        // A first interrupt lets pairs in play be finished.
        let stop = if orders.stop() == Stop::Now { Stop::Now } else { Stop::No };
        self.is_over |= orders.stop() != Stop::No;
        if self.is_over {
            self.release();
        }
        self.orders.send_modify(|now| (now.stop, now.paused, now.moves) = (stop, orders.paused, orders.moves));
        Ok(())
    }

    /// Contents of a sign of life. Takes the messages that it holds.
    fn state(&mut self, leaves: bool) -> Beat {
        let held = self.slots.iter().filter_map(|slot| match slot {
            Slot::Playing(_, playing) => Some((playing.pair.0, playing.attempt)),
            _ => None,
        });
        Beat {
            v: wire::VERSION,
            worker: self.settings.session.clone(),
            held: held.collect(),
            sent: self.sent.keys().copied().collect(),
            back: std::mem::take(&mut self.back),
            notes: std::mem::take(&mut self.notes),
            logs: self.logs.news(),
            leaves,
        }
    }

    /// Says good-bye, once: a lost one is noticed by silence.
    async fn leave(&mut self) {
        let beat = self.state(true);
        let _ = self.link.ask(subject_of(&self.settings.run, "beat", &self.settings.session), &beat).await;
    }
}
