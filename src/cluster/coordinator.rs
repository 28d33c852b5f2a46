//! The coordinator: carries pairs from the dispatcher to workers, and games back.
//!
//! It decides nothing about the run. It owns the leases: a pair that the dispatcher gave to a seat
//! ends as games, or goes back.

mod admission;
mod overdue;
mod past;
mod results;
mod verification;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use async_nats::jetstream;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::mpsc;
use tokio::time::{Instant, MissedTickBehavior};

use super::benches::BenchMismatches;
use super::bounds::NoteBounds;
use super::children::ChildExit;
use super::drift::Drift;
use super::failures::FailuresByWorker;
use super::leases::{Attempt, LOST_AFTER, Lease, Leases};
use super::link::{Link, LinkError, call, is_from, reply_to, subject, worker_name};
use super::live::Live;
use super::logs::WireLog;
use super::roster::Roster;
use super::sign::SignedPlan;
use super::takers::{Taker, Takers};
use super::wire::{self, Heartbeat, Hello, Note, Offer, Take, Welcome, WireOrders, WirePair};
use crate::plan::{Machine, Plan, SIMULATED, Workers};
use crate::record::{GameId, PairId, PlayerId};
use crate::schedule::remote::{RemoteEnd, RemoteEvent, Seat, SeatAnswer};
use crate::tournament::events::{PairTask, Stop, WorkerEvent};
use crate::tournament::workers::WorkerStatus;

pub(super) use past::Listening;
use past::PastLeases;
use results::NamedLease;
use verification::{Verification, VerifiedPair};

/// Time after which a request for a pair is answered in any case. It is shorter than the time limit
/// of the request.
const LONGEST_WAIT: Duration = Duration::from_millis(1_500);

/// Time for which a pair waits for a slot that asked for it and is gone.
const LONGEST_READY: Duration = Duration::from_secs(10);

/// Time without any worker after which the user is told, again and again.
const LONELY: Duration = Duration::from_mins(10);

/// Interval of the looks for slots that have waited long enough.
const TICK: Duration = Duration::from_millis(250);

/// Least time between two looks for silent workers, which go through all leases of a fleet.
const LOOK: Duration = Duration::from_secs(1);

/// Purpose of a lease.
#[derive(Debug)]
enum LeasePurpose {
    /// The games count for this seat.
    Counts(Seat),
    /// The games verify those of another worker.
    Verifies(Box<VerifiedPair>),
}

/// A pair that a worker plays.
struct Work {
    purpose: LeasePurpose,
    task: PairTask,
    /// Last game of it that was reported as begun.
    begun: Option<GameId>,
    /// Plies that the worker has played of it.
    plies: u64,
    /// Times of the lease and of its last ply, by the run's clock.
    granted: Duration,
    moved: Duration,
}

/// Pair and attempt of a result that is on the disk, or, if false, could not be written, and the
/// acknowledgement that is due.
type WrittenResult = ((u64, u64), bool, jetstream::message::Acker);

/// Result on its way to the disk.
type JournalWrite = std::pin::Pin<Box<dyn Future<Output = WrittenResult> + Send>>;

pub(super) struct Coordinator {
    run: String,
    plan: Arc<Plan>,
    /// The plan for workers on other machines; `None` if all are on this one.
    signed: Option<SignedPlan>,
    /// Machines whose engines count other nodes than the plan says.
    benches: BenchMismatches,
    /// Workers whose refusal was told, by name.
    refused: BTreeSet<String>,
    /// Speeds in games.
    drift: Drift,
    failures: FailuresByWorker,
    /// `None` unless the plan verifies pairs.
    verification: Option<Verification>,
    /// Sessions that get no pair before they have measured their speed again.
    measures_anew: BTreeSet<String>,
    notes: NoteBounds,
    link: Link,
    end: RemoteEnd,
    leases: Leases<Work>,
    /// Leases of an earlier life, until they are known.
    past: Option<PastLeases>,
    /// Signs of life that came before the run was entered.
    heard_before: Option<async_nats::Subscriber>,
    roster: Roster,
    /// Workers as the dispatcher was last told.
    reported: Vec<WorkerStatus>,
    takers: Takers,
    /// Pairs whose slot was gone when they came.
    ready: VecDeque<(Seat, Box<PairTask>, Instant)>,
    /// Number of seats that wait for an answer.
    asking: usize,
    next_seat: u64,
    writing: FuturesUnordered<JournalWrite>,
    /// Results that were taken and are not on the disk yet.
    unwritten: BTreeSet<(u64, u64)>,
    began: Instant,
    /// Time for which the run was paused, or no worker could be heard.
    idle: Duration,
    /// Time for which no worker could be heard.
    deaf: Duration,
    /// Time at which no worker could be heard for the last time.
    lost_at: Option<Duration>,
    /// Time of the last look for silent workers.
    ticked: Duration,
    /// Pairs that workers held without playing them, by name.
    overdue: BTreeMap<String, u32>,
    /// Engines found dead between games, by the name of their worker.
    exits: BTreeMap<String, u64>,
    /// Results that could not be used, by the name of their worker.
    unusable: BTreeMap<String, u32>,
    /// Time of the last request or sign of life, or of the last warning that there is none.
    heard: Instant,
}

impl Coordinator {
    pub(super) fn new(run: String, plan: Arc<Plan>, signed: Option<SignedPlan>, link: Link, end: RemoteEnd) -> Self {
        let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        // Grows over the lives of the process, whose attempts are thus never confused. If the clock
        // was set back, it is raised over the attempts that workers name.
        let first = Attempt(u64::try_from(since_1970.as_micros()).unwrap_or(0));
        let verification =
            plan.verify.map(|percent| Verification::new(percent, RandomState::new().build_hasher().finish()));
        Self {
            run,
            roster: Roster::new(plan.is_timed(), plan.scale.is_some(), verification.is_some()),
            verification,
            reported: Vec::new(),
            plan,
            signed,
            benches: BenchMismatches::default(),
            refused: BTreeSet::new(),
            drift: Drift::default(),
            failures: FailuresByWorker::default(),
            measures_anew: BTreeSet::new(),
            notes: NoteBounds::default(),
            link,
            end,
            leases: Leases::new(first, LOST_AFTER),
            past: None,
            heard_before: None,
            takers: Takers::new(),
            ready: VecDeque::new(),
            asking: 0,
            next_seat: 0,
            writing: FuturesUnordered::new(),
            unwritten: BTreeSet::new(),
            began: Instant::now(),
            idle: Duration::ZERO,
            deaf: Duration::ZERO,
            lost_at: None,
            ticked: Duration::ZERO,
            overdue: BTreeMap::new(),
            exits: BTreeMap::new(),
            unusable: BTreeMap::new(),
            heard: Instant::now(),
        }
    }

    /// Serves workers until the dispatcher is gone.
    ///
    /// # Errors
    /// Returns an error if the server cannot be used.
    pub(super) async fn serve(mut self, mut ended: mpsc::UnboundedReceiver<ChildExit>) -> Result<(), LinkError> {
        // Before the first worker can have one.
        self.link.store_results(&self.run).await?;
        let mut hellos = self.link.requests(subject(&self.run, "plan")).await?;
        let mut takes = self.link.requests(subject(&self.run, "take")).await?;
        let mut beats = self.link.requests(subject(&self.run, "beat")).await?;
        let mut lives = self.link.requests(subject(&self.run, "live")).await?;
        let (to, mut results) = mpsc::unbounded_channel();
        let reading = tokio::spawn(self.link.clone().results(self.run.clone(), to));
        self.begin_to_listen().await;
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                answer = self.end.answers.recv() => match answer {
                    Some(answer) => self.on_answer(answer).await,
                    None => break,
                },
                Ok(()) = self.end.orders.changed() => self.on_orders().await,
                Some(message) = hellos.next() => self.on_hello(&message).await,
                Some(message) = takes.next() => self.on_take(&message).await,
                Some(message) = beats.next() => self.on_beat(&message).await,
                Some(message) = lives.next() => self.on_live(&message),
                Some(message) = results.recv() => self.on_result(message).await,
                Some(written) = self.writing.next() => self.on_written(written).await,
                Some(ended) = ended.recv() => self.on_end(&ended),
                _ = tick.tick() => self.on_tick().await,
            }
        }
        reading.abort();
        self.answer_takers(|_| true, &Offer::Over).await;
        Ok(())
    }

    fn tell(&self, event: RemoteEvent) {
        // The dispatcher has gone if nobody listens, and then nothing counts.
        let _ = self.end.events.send(event);
    }

    fn warn(&self, text: String) {
        self.tell(RemoteEvent::Warning(text));
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    fn stop(&self) -> Stop {
        self.end.orders.borrow().stop
    }

    /// True for a run whose games simulated workers make up.
    fn is_simulated(&self) -> bool {
        self.plan.workers.as_ref().is_some_and(Workers::are_simulated)
    }

    async fn on_hello(&mut self, message: &async_nats::Message) {
        let Some(reply) = reply_to(message) else { return };
        if self.past.is_some() {
            // It asks again. Until then those who play already have said what they are.
            return;
        }
        let welcome = match wire::from_bytes::<Hello>(&message.payload) {
            // A worker cannot speak for another one, whose speed or machine it could falsify.
            Ok(hello) if !is_from(&message.subject, &hello.worker) => {
                Welcome::Refused("the request names another user's worker".to_owned())
            }
            Ok(hello) => self.welcome(hello),
            Err(error) => Welcome::Refused(error.to_string()),
        };
        self.link.answer(&reply, &welcome).await;
    }

    async fn on_take(&mut self, message: &async_nats::Message) {
        let (Some(reply), Ok(take)) = (reply_to(message), wire::from_bytes::<Take>(&message.payload)) else { return };
        if !is_from(&message.subject, &take.worker) {
            return;
        }
        self.heard = Instant::now();
        let Take { worker, slot, sent, .. } = take;
        // A message may name a million.
        let sent: BTreeSet<_> = sent.into_iter().collect();
        let is_sent = |pair: PairId, attempt: Attempt| sent.contains(&(pair.0, attempt.0));
        // The answer to its last request was lost.
        if let Some(lease) = self.leases.of_slot(&worker, slot, is_sent) {
            let (pair, attempt) = (lease.work.task.pair, lease.attempt);
            let offer = Offer::Pair { attempt: attempt.0, pair: Box::new(WirePair::new(&lease.work.task)) };
            self.leases.renew(&worker, pair, attempt, self.lease_clock());
            self.link.answer(&reply, &offer).await;
            return;
        }
        self.roster.hear(&worker, slot.saturating_add(1), self.lease_clock());
        let is_over = self.stop() != Stop::No || self.roster.is_dropped(&worker);
        if is_over || self.measures_anew.contains(&worker) {
            self.link.answer(&reply, &Offer::Over).await;
            return;
        }
        self.takers.remove(&worker, slot);
        if self.has_enough(&worker) {
            self.link.answer(&reply, &Offer::Wait).await;
            return;
        }
        let taker = Taker { worker, slot, reply, since: self.now() };
        let Err(taker) = self.lend_verified(taker).await else { return };
        self.takers.push(taker);
        if let Some((seat, task, _)) = self.ready.pop_front() {
            self.grant(seat, task).await;
        } else if self.past.is_none() && self.asking < self.takers.len() {
            let seat = Seat(self.next_seat);
            self.next_seat += 1;
            self.asking += 1;
            self.tell(RemoteEvent::Asks(seat));
        }
    }

    async fn on_answer(&mut self, answer: SeatAnswer) {
        match answer {
            SeatAnswer::Task(seat, task) if self.on_learnt(seat, Some(&task)).await => {}
            SeatAnswer::Leave(seat) if self.on_learnt(seat, None).await => {}
            SeatAnswer::Task(seat, task) => {
                self.asking = self.asking.saturating_sub(1);
                self.grant(seat, task).await;
            }
            SeatAnswer::Drop(worker) => self.drop_worker(&worker).await,
            SeatAnswer::Leave(_) => {
                self.asking = self.asking.saturating_sub(1);
                if let Some(taker) = self.takers.pop() {
                    let offer = if self.stop() == Stop::No { Offer::Wait } else { Offer::Over };
                    self.link.answer(&taker.reply, &offer).await;
                }
            }
        }
    }

    /// Takes a worker out of the run. Its pairs are played by others. Returns their number.
    async fn take_out(&mut self, worker: &str, why: &str) -> usize {
        self.roster.drop_worker(worker, why);
        self.answer_takers(|session| worker_name(session) == worker, &Offer::Over).await;
        let lost = self.leases.release(|session| worker_name(session) == worker);
        let count = lost.len();
        lost.into_iter().for_each(|(_, lease)| self.give_back(lease));
        // It hears so in the answer to its next sign of life.
        self.link.say(call(&self.run)).await;
        count
    }

    /// Tells the dispatcher which workers there are, if that changed.
    fn report(&mut self) {
        let statuses = self.roster.statuses(|session| self.leases.pairs_of(session).map(|pair| pair.0 + 1).collect());
        if statuses != self.reported {
            self.reported.clone_from(&statuses);
            self.tell(RemoteEvent::Workers(statuses));
        }
    }

    /// Leases a pair to the slot that has waited longest, or keeps it for the next one.
    async fn grant(&mut self, seat: Seat, task: Box<PairTask>) {
        let Some(taker) = self.takers.pop() else {
            self.ready.push_back((seat, task, Instant::now()));
            return;
        };
        let work = self.begin(seat, *task);
        self.lease(taker, work).await;
    }

    /// Leases a pair to this slot.
    async fn lease(&mut self, taker: Taker, work: Work) {
        let pair = Box::new(WirePair::new(&work.task));
        let attempt = self.leases.grant(work.task.pair, &taker.worker, taker.slot, work, self.lease_clock());
        self.link.answer(&taker.reply, &Offer::Pair { attempt: attempt.0, pair }).await;
    }

    /// Work on a pair of a seat. Reports that its first game begins.
    fn begin(&self, seat: Seat, task: PairTask) -> Work {
        let begun = task.legs.first().map(|leg| GameId { pair: task.pair, leg: *leg });
        if let Some(game) = begun {
            self.tell(RemoteEvent::Game(WorkerEvent::Began { game, players: task.sides(game.leg) }));
        }
        Work { begun, ..self.work(LeasePurpose::Counts(seat), task) }
    }

    /// Work that begins now.
    fn work(&self, purpose: LeasePurpose, task: PairTask) -> Work {
        let now = self.run_clock();
        Work { purpose, task, begun: None, plies: 0, granted: now, moved: now }
    }

    async fn on_beat(&mut self, message: &async_nats::Message) {
        let (Some(reply), Ok(beat)) = (reply_to(message), wire::from_bytes::<Heartbeat>(&message.payload)) else {
            return;
        };
        if !is_from(&message.subject, &beat.worker) {
            return;
        }
        self.heard = Instant::now();
        let [played, sent] = [&beat.held, &beat.sent]
            .map(|named| named.iter().map(|(pair, attempt)| (PairId(*pair), Attempt(*attempt))).collect::<Vec<_>>());
        let void = self.leases.beat(&beat.worker, &played, &sent, self.lease_clock());
        self.record_progress(&beat);
        let is_learning = self.learn(&beat);
        let nps = beat.speed.and_then(|speed| speed.nps);
        if !beat.leaves {
            self.roster.hear(&beat.worker, 0, self.lease_clock());
        }
        self.roster.introduce(&beat.worker, beat.machine.map(Machine::from), nps);
        let is_dropped = self.roster.is_dropped(&beat.worker);
        self.keep_logs(&beat.worker, beat.logs);
        let last_words = self.hear_notes(&beat.worker, beat.first_note, beat.notes);
        for (pair, attempt) in beat.back {
            if let Some(lease) = self.leases.settle(&beat.worker, PairId(pair), Attempt(attempt)) {
                self.give_back(lease);
            }
        }
        if beat.leaves {
            let lost = self.leases.lose_worker(&beat.worker);
            self.roster.lose(&beat.worker, 0, last_words.as_deref().unwrap_or("left"));
            lost.into_iter().for_each(|(_, lease)| self.give_back(lease));
            self.takers.extract(|session| session == beat.worker);
        }
        // On the disk, or of a lost lease.
        let is_settled = |&(pair, attempt): &(u64, u64)| {
            !is_learning
                && !self.unwritten.contains(&(pair, attempt))
                && self.leases.get(PairId(pair), Attempt(attempt)).is_none()
        };
        let written = beat.sent.iter().copied().filter(is_settled).collect();
        let orders = *self.end.orders.borrow();
        let orders = WireOrders {
            stop: WireOrders::level(if is_dropped { Stop::Now } else { orders.stop }),
            // A worker plays the pairs that it has before a stop.
            paused: orders.is_paused(),
            moves: orders.moves,
            written,
            void: void.into_iter().filter(|_| !is_learning).map(|(pair, attempt)| (pair.0, attempt.0)).collect(),
        };
        self.link.answer(&reply, &orders).await;
    }

    /// Forwards moves to the clients that watch. Moves of a game that the worker does not play are
    /// ignored.
    fn on_live(&mut self, message: &async_nats::Message) {
        let Ok(live) = wire::from_bytes::<Live>(&message.payload) else { return };
        let Some(lease) = self.leases.get_mut(PairId(live.pair), Attempt(live.attempt)) else { return };
        if !is_from(&message.subject, &lease.worker) {
            return;
        }
        if matches!(lease.work.purpose, LeasePurpose::Verifies(_)) {
            return;
        }
        let Some((game, moved)) = live.moved(&lease.worker, &lease.work.task) else { return };
        let players = lease.work.task.sides(game.leg);
        let is_new = lease.work.begun.replace(game) != Some(game);
        if is_new {
            self.tell(RemoteEvent::Game(WorkerEvent::Began { game, players }));
        }
        self.tell(RemoteEvent::Game(WorkerEvent::Moved { game, moved: Box::new(moved) }));
    }

    fn pass_on(&mut self, worker: &str, note: Note) {
        match note {
            Note::Text(text) => self.warn(format!("worker {worker}: {}", crate::text::printable(&text))),
            Note::Bench { player, nodes } => self.on_bench(worker, player, nodes),
            Note::Complained { game, player, texts } => {
                if let Some(game) = GameId::from_number(game).filter(|game| !self.is_verified(game.pair)) {
                    let player = PlayerId(player);
                    self.tell(RemoteEvent::Game(WorkerEvent::Complained { game, player, texts }));
                }
            }
            Note::Exited { player, status } if self.may_report_exit(worker) => {
                self.tell(RemoteEvent::Game(WorkerEvent::Exited { player: PlayerId(player), status }));
            }
            Note::Exited { .. } => {}
        }
    }

    fn keep_logs(&self, session: &str, logs: Vec<WireLog>) {
        logs.into_iter().for_each(|log| self.tell(RemoteEvent::Log(log.chunk(session, worker_name(session)))));
    }

    /// Handles a machine whose engine computes otherwise than the plan says. It does not play.
    fn on_bench(&mut self, worker: &str, player: u16, nodes: Option<u64>) {
        let Some(player_of_plan) = self.plan.players.get(usize::from(player)) else { return };
        let Some(expected) = player_of_plan.origin.bench_nodes else { return };
        let shown = nodes.map_or_else(|| "no count".to_owned(), |nodes| nodes.to_string());
        let name = &player_of_plan.name;
        self.warn(format!("worker {worker}: does not play: the bench of {name} is {shown}, the plan says {expected}"));
        // A machine without a count cannot run the engine, which says nothing about the plan.
        if let Some(nodes) = nodes
            && let Some(machines) = self.benches.record(worker_name(worker), player, nodes)
        {
            let text = format!(
                "the bench of {name} is {shown} on {}, the plan says {expected}: build the engine again and start another run",
                machines.join(", ")
            );
            self.tell(RemoteEvent::Broken(text));
        }
    }

    fn give_back(&mut self, lease: Lease<Work>) {
        match lease.work.purpose {
            LeasePurpose::Counts(seat) => self.tell(RemoteEvent::Gone { seat, left: lease.work.task }),
            LeasePurpose::Verifies(pair) => self.postpone_verified(lease.work.task, pair),
        }
    }

    async fn on_result(&mut self, message: jetstream::Message) {
        let Some(message) = self.keep(message) else { return };
        // A result of a lost lease is late, and its pair is played again. It is not unpacked: that
        // costs much, and anybody can send such results.
        let named = NamedLease::of(&message);
        let Some(named) = named.filter(|named| self.leases.holds(&named.session, named.pair, named.attempt)) else {
            let _ = message.ack().await;
            return;
        };
        let result = match self.unpack(&message, &named) {
            Ok(result) => result,
            Err(why) => return self.reject(&named, &why, message).await,
        };
        let Some(lease) = self.leases.settle(&named.session, named.pair, named.attempt) else { return };
        self.leases.forget(result.pair);
        let seat = match lease.work.purpose {
            LeasePurpose::Counts(seat) => seat,
            LeasePurpose::Verifies(pair) => {
                self.verify(lease.work.task, pair, &result);
                let _ = message.ack().await;
                return;
            }
        };
        self.draw_verified(&lease.work.task, &result);
        self.check_speed(&result).await;
        self.check_failures(&result).await;
        self.keep_logs(&result.worker, result.logs);
        for (place, (mut record, failure)) in result.games.into_iter().enumerate() {
            let name = worker_name(&result.worker);
            // No worker of a hub has a name with a colon.
            record.worker = Some(if result.is_simulated { format!("{SIMULATED}:{name}") } else { name.to_owned() });
            if place > 0 && lease.work.begun != Some(record.id) {
                self.tell(RemoteEvent::Game(WorkerEvent::Began { game: record.id, players: record.players }));
            }
            let record = Box::new(record);
            self.tell(RemoteEvent::Game(WorkerEvent::Ended { record, failure: failure.map(Box::new) }));
        }
        self.tell(RemoteEvent::Done(seat));
        let (reply, written) = tokio::sync::oneshot::channel();
        self.tell(RemoteEvent::Written(reply));
        let key = (result.pair.0, result.attempt);
        self.unwritten.insert(key);
        // The games are not held twice until they are written.
        let (_, acker) = message.split();
        self.writing.push(Box::pin(async move { (key, written.await.is_ok(), acker) }));
    }

    async fn on_written(&mut self, (key, successful, acker): WrittenResult) {
        // A failure stops the run, and its resumption takes the result that the worker keeps.
        if successful {
            self.unwritten.remove(&key);
            // Acknowledged again if this is lost: the message then comes again, and its lease is
            // void.
            let _ = acker.ack().await;
        }
    }

    async fn on_orders(&mut self) {
        self.link.say(call(&self.run)).await;
        // A short run ends before the next tick, and its summary has the workers.
        self.report();
        match self.stop() {
            Stop::No => {}
            Stop::AfterPair | Stop::AfterGame => self.dismiss().await,
            Stop::Now => {
                self.dismiss().await;
                let all = self.leases.clear();
                all.into_iter().for_each(|(_, lease)| self.give_back(lease));
            }
        }
    }

    /// Tells waiting slots that the run is over, and gives pairs back that nobody took.
    async fn dismiss(&mut self) {
        for (seat, task, _) in std::mem::take(&mut self.ready) {
            self.tell(RemoteEvent::Gone { seat, left: *task });
        }
        self.answer_takers(|_| true, &Offer::Over).await;
    }

    /// Answers the waiting slots of chosen sessions.
    async fn answer_takers(&mut self, is_chosen: impl Fn(&str) -> bool, offer: &Offer) {
        for taker in self.takers.extract(is_chosen) {
            self.link.answer(&taker.reply, offer).await;
        }
    }

    /// Handles the end of a worker's process on this machine, which need not be waited for.
    fn on_end(&mut self, ended: &ChildExit) {
        if self.stop() == Stop::Now {
            return;
        }
        if let Some(why) = ended.refusal.as_ref().filter(|_| !self.roster.is_dropped(&ended.session)) {
            self.tell(RemoteEvent::Broken(format!("worker {} cannot serve this run: {why}", ended.session)));
        }
        self.takers.extract(|session| session == ended.session);
        let lost = self.leases.lose_worker(&ended.session);
        self.roster.lose(&ended.session, lost.len(), &format!("ended ({})", ended.status));
        // After a stop a worker without a pair ends as it should, and a dropped one always.
        if (self.stop() == Stop::No || !lost.is_empty()) && !self.roster.is_dropped(&ended.session) {
            self.warn(format!("worker {}: ended ({}); {}", ended.session, ended.status, replayed(lost.len())));
        }
        self.lose(lost);
    }

    async fn on_tick(&mut self) {
        if self.now().saturating_sub(self.ticked) >= LOOK {
            self.look().await;
        }
        self.report();
        while let Some(taker) = self.takers.pop_before(self.now().saturating_sub(LONGEST_WAIT)) {
            self.link.answer(&taker.reply, &Offer::Wait).await;
        }
        while self.ready.front().is_some_and(|(_, _, since)| since.elapsed() > LONGEST_READY) {
            if let Some((seat, task, _)) = self.ready.pop_front() {
                self.tell(RemoteEvent::Gone { seat, left: *task });
            }
        }
    }

    /// Looks for workers that are silent or do not play.
    async fn look(&mut self) {
        self.count_pause();
        self.end_listening().await;
        self.end_overdue().await;
        if self.heard.elapsed() > LONELY && self.stop() == Stop::No {
            let text = format!(
                "no worker has asked for a pair or given a sign of life for {} min; `quintain hub invite` adds one, `quintain resume RUN -j N` continues without",
                LONELY.as_secs() / 60
            );
            self.warn(text);
            self.heard = Instant::now();
        }
        self.end_unnamed();
    }

    /// Gives the pairs of lost workers back, unless each worker that plays one is lost.
    fn lose(&mut self, lost: Vec<(PairId, Lease<Work>)>) {
        let is_lonely = self.roster.serving() < 2;
        for (pair, lease) in lost {
            if let Some(workers) = self.leases.poisoned(pair, is_lonely) {
                let text = format!(
                    "pair {} ended each of the {} workers that played it ({}); continue with `quintain resume` once the cause is found",
                    pair.0 + 1,
                    workers.len(),
                    workers.join(", ")
                );
                self.tell(RemoteEvent::Broken(text));
            }
            self.give_back(lease);
        }
    }
}

fn replayed(pairs: usize) -> String {
    match pairs {
        0 => "it held no pair".to_owned(),
        1 => "its pair is played again".to_owned(),
        _ => format!("its {pairs} pairs are played again"),
    }
}

#[cfg(test)]
pub(super) mod tests;
