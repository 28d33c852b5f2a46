//! Event loop of a run. It alone owns the journal and the scoreboard; workers and observers
//! communicate with it.

mod alarms;
mod commands;
mod playing_time;
mod seats;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};

use self::playing_time::PlayingTime;
use crate::game::{self, tablebase::Probe};
use crate::journal::Journal;
use crate::openings::Book;
use crate::openings::order::OpeningOrder;
use crate::plan::{Colors, Plan};
use crate::record::{ByColor, GameRecord, Leg, Opening, PairId, PlayerId};
use crate::schedule::affinity::Topology;
use crate::schedule::complaints::Complaints;
use crate::schedule::remote::{RemoteEvent, RemotePort, Seat, Seats};
use crate::schedule::worker::{self, WorkerHandle};
use crate::text::count;
use crate::tournament::events::{
    CommandRequest, Failure, Finish, Observer, Orders, PairTask, RunEvent, RunTime, SlotId, Stop, StopReason,
    WorkerEvent,
};
use crate::tournament::formats::Encounter;
use crate::tournament::pairing::{Pairing, ScheduleEntry};
use crate::tournament::scoreboard::Scoreboard;
use crate::tournament::time_losses::ALARM;

/// Interval of journal syncs and of tick events.
const TICK: Duration = Duration::from_secs(1);

/// Wrong PVs that get a warning of their own.
const PV_WARNINGS: u32 = 5;

/// Inputs of a run: the plan and the resources opened for it.
pub struct Run {
    /// Plan to play.
    pub plan: Arc<Plan>,
    /// Openings.
    pub book: Book,
    /// Journal, open for appending; `scoreboard` includes its games.
    pub journal: Journal,
    /// Standing after the games in the journal.
    pub scoreboard: Scoreboard,
    /// Playing time before this process; `None` if it is not known, and of a new run.
    pub earlier: Option<RunTime>,
    /// Endgame tablebases, if the plan's rules use them.
    pub tables: Option<Arc<dyn Probe>>,
    /// Existing directory for the engines' stderr logs.
    pub stderr_dir: std::path::PathBuf,
}

/// Requests to a run while it plays.
#[derive(Debug)]
pub struct Inbox {
    /// Stop requests from signals: the first lets running games finish, the second does not.
    pub interrupts: mpsc::Receiver<Stop>,
    /// Requests of `quintain ctl`.
    pub commands: mpsc::Receiver<CommandRequest>,
    /// Workers in other processes; `None` if the run has none.
    pub remote: Option<RemotePort>,
}

/// State of a slot.
enum Slot {
    /// Slot without a thread.
    Free,
    /// Thread that plays or waits for a pair.
    Taken(WorkerHandle),
    /// Thread that is about to end.
    Leaving,
}

/// Source of a request for a pair.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asker {
    Slot(SlotId),
    Seat(Seat),
}

/// Answer to a slot or seat that asks for a pair.
enum TaskAnswer {
    Task(Box<PairTask>),
    /// More pairs may follow after pairs in play have counted.
    Wait,
    Done,
    /// The run cannot continue, with the reason.
    Broken(String),
}

struct Dispatcher<'a> {
    run: Run,
    order: OpeningOrder,
    pairing: Pairing,
    observers: &'a mut [Box<dyn Observer>],
    slots: Vec<Slot>,
    /// CPUs of each slot; other slots are not bound.
    cpus: Vec<Vec<usize>>,
    /// Permits to start an engine.
    starts: Arc<Semaphore>,
    /// Workers in other processes; `None` if the run has none.
    seats: Option<Seats>,
    /// Slots and seats that wait for the end of a pause, or for results that decide the next
    /// pairing.
    idle: VecDeque<Asker>,
    next: PairId,
    /// Tasks that retired slots handed back. They go first, because no later pair counts before
    /// them.
    leftover: BTreeMap<PairId, PairTask>,
    orders: watch::Sender<Orders>,
    /// Number of clients that are subscribed to moves, and the live PGN if there is one.
    onlookers: u32,
    events: mpsc::UnboundedSender<WorkerEvent>,
    /// Games in progress on slots of this process.
    playing: u16,
    reason: Option<StopReason>,
    /// True if a game could not be written to the journal.
    is_unwritten: bool,
    time: PlayingTime,
    resumed: bool,
    concurrency_changed: bool,
    /// Pairs that counted before this process.
    pairs_before: u64,
    /// Engine processes found dead between games, in this session. No game records them, so the
    /// journal does not either.
    exits: u64,
    /// Wrong PVs that got a warning of their own.
    pv_told: u32,
    /// Number of time losses at the next warning, which covers all of them.
    next_alarm: u64,
    /// Players reported for exceeding their limits.
    offenders_told: usize,
    complaints: Complaints,
}

/// Plays the plan until a verdict, its end or a stop. Returns after all workers and their engines
/// have ended.
pub async fn run(run: Run, observers: &mut [Box<dyn Observer>], mut inbox: Inbox) -> Finish {
    let (events_in, mut events) = mpsc::unbounded_channel();
    let len = u32::try_from(run.book.len()).unwrap_or(u32::MAX);
    let order = OpeningOrder::new(len, run.plan.book.order, run.plan.book.start);
    let began = Instant::now();
    let complaints = Complaints::new(&run.plan);
    let topology = Topology::detect();
    let cpus = topology.slots(&run.plan.affinity, run.plan.threads());
    let (mut remote, answers, orders) = match inbox.remote.take() {
        Some(RemotePort { events, answers, orders }) => (Some(events), Some(answers), orders),
        None => (None, None, watch::Sender::new(Orders::play(0))),
    };
    // With workers in other processes, none of the slots is here.
    let slots = if remote.is_some() { 0 } else { run.plan.concurrency };
    let is_live = run.plan.recording.live.is_some();
    orders.send_modify(|orders| (orders.slots, orders.moves) = (slots, is_live));
    let mut dispatcher = Dispatcher {
        next: PairId(run.scoreboard.settled()),
        pairing: Pairing::new(&run.plan),
        resumed: run.scoreboard.settled() + run.scoreboard.waiting_games() > 0,
        pairs_before: run.scoreboard.pairs(),
        run,
        order,
        observers,
        slots: Vec::new(),
        seats: answers.map(Seats::new),
        cpus,
        starts: Arc::new(Semaphore::new(topology.cpus())),
        idle: VecDeque::new(),
        leftover: BTreeMap::new(),
        orders,
        onlookers: u32::from(is_live),
        events: events_in,
        playing: 0,
        reason: None,
        is_unwritten: false,
        time: PlayingTime::new(began),
        exits: 0,
        pv_told: 0,
        next_alarm: ALARM,
        offenders_told: 0,
        complaints,
        concurrency_changed: false,
    };
    dispatcher.opened();
    let mut tick = tokio::time::interval_at(began + TICK, TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while dispatcher.is_busy() {
        tokio::select! {
            biased;
            Some(level) = inbox.interrupts.recv() => dispatcher.on_signal(level),
            // The dispatcher holds a sender itself, so this never yields `None`.
            Some(event) = events.recv() => dispatcher.on_event(event),
            Some(event) = next_of(&mut remote) => dispatcher.on_remote(event),
            _ = tick.tick() => dispatcher.on_tick(),
            () = sleep_until(dispatcher.deadline()), if dispatcher.reason.is_none() => {
                dispatcher.halt(Stop::AfterGame, StopReason::OutOfTime);
            }
            // Last, so that a flood of commands cannot delay a game.
            Some(request) = inbox.commands.recv() => {
                let answer = dispatcher.on_command(request.command);
                // The client may have left before the answer.
                let _ = request.reply.send(answer);
            }
        }
        dispatcher.keep_time();
    }
    dispatcher.close()
}

async fn next_of(remote: &mut Option<mpsc::UnboundedReceiver<RemoteEvent>>) -> Option<RemoteEvent> {
    match remote {
        Some(remote) => remote.recv().await,
        None => None,
    }
}

async fn sleep_until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

impl Dispatcher<'_> {
    fn tell(&mut self, event: RunEvent<'_>) {
        tell(self.observers, event);
    }

    fn opened(&mut self) {
        tell(self.observers, RunEvent::Opened { scoreboard: &self.run.scoreboard });
        self.check_over();
        // A resumed run still has the failures that stopped it, so it plays no game under the same
        // limit.
        self.check_failures();
        self.check_time_losses();
        self.check_limit_use();
        self.fill();
    }

    /// Starts a thread for each slot without one, while there are pairs to play.
    fn fill(&mut self) {
        let wanted = self.orders.borrow().slots;
        for slot in 0..wanted {
            let place = usize::from(slot);
            if self.slots.len() <= place {
                self.slots.push(Slot::Free);
            }
            if !matches!(self.slots[place], Slot::Free) {
                continue;
            }
            if !self.has_task() {
                return;
            }
            let context = worker::WorkerContext {
                slot: SlotId(slot),
                plan: Arc::clone(&self.run.plan),
                cpus: self.cpus.get(place).cloned().unwrap_or_default(),
                starts: Arc::clone(&self.starts),
                tables: self.run.tables.clone(),
                stderr_dir: self.run.stderr_dir.clone(),
                events: self.events.clone(),
                orders: self.orders.subscribe(),
                guests: Arc::default(),
                plies: Arc::default(),
            };
            match worker::start(context) {
                Ok(worker) => self.slots[place] = Slot::Taken(worker),
                Err(error) if slot == 0 => {
                    self.halt(Stop::Now, StopReason::Broken { why: format!("cannot start a thread: {error}") });
                }
                Err(error) => {
                    let games = count(slot as u64, "game");
                    let text = format!("cannot start a thread: {error}; continuing with {games} at once");
                    self.tell(RunEvent::Warning { text: &text });
                    self.set_slots(slot);
                    return;
                }
            }
        }
    }

    /// True until nothing is played any more, and no remote worker could come for a pair.
    fn is_busy(&mut self) -> bool {
        self.slots.iter().any(|slot| !matches!(slot, Slot::Free))
            || self.seats.as_ref().is_some_and(Seats::are_open)
            || self.seats.is_some() && self.reason.is_none() && self.has_task()
    }

    /// Releases the thread of a slot, which ends as soon as it is idle, or closes a seat.
    fn let_go(&mut self, asker: Asker) {
        match asker {
            Asker::Slot(slot) => self.slots[usize::from(slot.0)] = Slot::Leaving,
            Asker::Seat(seat) => self.seats.iter_mut().for_each(|seats| seats.let_go(seat)),
        }
    }

    /// Sets the number of concurrent games.
    fn set_slots(&mut self, slots: u16) {
        self.concurrency_changed |= self.orders.borrow().slots != slots;
        self.orders.send_modify(|orders| orders.slots = slots);
    }

    /// Moment at which the time of the plan is over; `None` during a pause, or without a limit.
    fn deadline(&self) -> Option<Instant> {
        self.run.plan.max_time.and_then(|limit| self.time.when(limit))
    }

    /// Stops the clock of a paused run once no game is played. Games of workers in other processes
    /// are not counted here, so the clock of their run stops at once.
    fn keep_time(&mut self) {
        let now = Instant::now();
        if self.playing == 0 && self.orders.borrow().is_paused() { self.time.pause(now) } else { self.time.resume(now) }
    }

    /// Handles all waiting slots again.
    fn wake(&mut self) {
        for asker in std::mem::take(&mut self.idle) {
            self.on_request(asker);
        }
    }

    /// Raises the stop level. The first reason is kept.
    fn halt(&mut self, level: Stop, reason: StopReason) {
        self.reason.get_or_insert(reason);
        self.orders.send_if_modified(|now| {
            let rises = level > now.stop;
            if rises {
                now.stop = level;
            }
            rises
        });
        // Idle workers take what is left of started pairs, or their channels close.
        self.wake();
    }

    fn on_event(&mut self, event: WorkerEvent) {
        match event {
            WorkerEvent::Idle { slot } => self.on_request(Asker::Slot(slot)),
            WorkerEvent::Began { game, players } => {
                self.playing += 1;
                self.tell(RunEvent::GameBegan { game, players });
            }
            WorkerEvent::Moved { game, moved } => self.tell(RunEvent::GameMoved { game, moved: &moved }),
            WorkerEvent::Ended { record, failure } => {
                self.playing = self.playing.saturating_sub(1);
                self.on_ended(*record, failure.as_deref());
            }
            WorkerEvent::Complained { game, player, texts } => {
                for text in texts {
                    if let Some(text) = self.complaints.message(&self.run.plan, game, player, text) {
                        self.tell(RunEvent::Warning { text: &text });
                    }
                }
            }
            WorkerEvent::Exited { player, status } => {
                let name = self.run.plan.name_of(player);
                let text = format!("{name}: ended after a game ({status}); restarted, and no game is lost");
                self.tell(RunEvent::Warning { text: &text });
                self.exits += 1;
                self.check_failures();
            }
            WorkerEvent::Retired { slot, left } => {
                self.slots[usize::from(slot.0)] = Slot::Free;
                self.leftover.extend(left.map(|task| (task.pair, task)));
                // Another slot, an idle one too, takes the remaining task, and this slot may be
                // wanted again.
                self.wake();
                self.fill();
            }
            WorkerEvent::StartFailed { why } => self.tell(RunEvent::Warning { text: &format!("{why}; trying again") }),
            WorkerEvent::GaveUp { slot, left, why } => {
                self.slots[usize::from(slot.0)] = Slot::Free;
                self.leftover.extend(left.map(|task| (task.pair, task)));
                self.on_shortage(slot, why);
            }
            WorkerEvent::Broken { slot, in_game, why } => {
                self.playing = self.playing.saturating_sub(u16::from(in_game));
                self.slots[usize::from(slot.0)] = Slot::Free;
                // The pair of this slot will be missing, so no later pair could count.
                self.halt(Stop::AfterGame, StopReason::Broken { why });
            }
        }
    }

    /// Halves the concurrency after a slot gave up, or ends the run if it was the only slot.
    fn on_shortage(&mut self, slot: SlotId, why: String) {
        let slots = self.orders.borrow().slots;
        if self.reason.is_some() {
            return;
        }
        // Slots beyond the number were already leaving, so that several simultaneous failures halve
        // it once.
        if slot.0 < slots {
            let fewer = slots / 2;
            if fewer == 0 {
                self.halt(Stop::AfterGame, StopReason::Broken { why });
                return;
            }
            let text = format!("{why}; continuing with {} at once", count(fewer as u64, "game"));
            self.tell(RunEvent::Warning { text: &text });
            self.set_slots(fewer);
        }
        self.wake();
        self.fill();
    }

    fn on_request(&mut self, asker: Asker) {
        let Orders { paused, slots, .. } = *self.orders.borrow();
        let is_surplus = matches!(asker, Asker::Slot(slot) if slot.0 >= slots);
        if is_surplus {
            self.let_go(asker);
        } else if paused && self.reason.is_none() {
            self.idle.push_back(asker);
        } else {
            match self.next_task() {
                TaskAnswer::Task(task) => self.give(asker, *task),
                TaskAnswer::Wait => self.idle.push_back(asker),
                // Others may still play; the run ends after the last one.
                TaskAnswer::Done => self.let_go(asker),
                TaskAnswer::Broken(why) => {
                    self.let_go(asker);
                    self.halt(Stop::AfterGame, StopReason::Broken { why });
                }
            }
        }
    }

    fn give(&mut self, asker: Asker, task: PairTask) {
        match asker {
            Asker::Slot(slot) => {
                if let Slot::Taken(worker) = &self.slots[usize::from(slot.0)] {
                    worker.play(task);
                }
            }
            Asker::Seat(seat) => {
                if let Some(seats) = &mut self.seats {
                    seats.give(seat, task);
                }
            }
        }
    }

    /// True if a pair can be started now.
    fn has_task(&mut self) -> bool {
        match self.next_task() {
            TaskAnswer::Task(task) => {
                self.leftover.insert(task.pair, *task);
                true
            }
            TaskAnswer::Wait | TaskAnswer::Done => false,
            TaskAnswer::Broken(why) => {
                self.halt(Stop::AfterGame, StopReason::Broken { why });
                false
            }
        }
    }

    /// Returns the next pair with missing legs, with its openings. After a stop these are at most
    /// the started ones.
    fn next_task(&mut self) -> TaskAnswer {
        let stop = self.orders.borrow().stop;
        let left = self.leftover.iter().find(|(_, task)| stop.lets_begin(task.is_begun()));
        let left = left.map(|(pair, _)| *pair).and_then(|pair| self.leftover.remove(&pair));
        match left {
            Some(task) => TaskAnswer::Task(Box::new(task)),
            None if self.reason.is_some() => TaskAnswer::Done,
            None => self.new_task(),
        }
    }

    /// Returns the first pair with missing legs that was not handed out yet.
    fn new_task(&mut self) -> TaskAnswer {
        loop {
            let pair = self.next;
            let fixture = match self.pairing.next(pair, self.run.scoreboard.results()) {
                ScheduleEntry::Pair(fixture) => fixture,
                ScheduleEntry::Wait => return TaskAnswer::Wait,
                ScheduleEntry::Done | ScheduleEntry::OutOfOpenings => return TaskAnswer::Done,
            };
            self.next = PairId(pair.0 + 1);
            let legs = self.run.scoreboard.missing_legs(pair);
            if legs.is_empty() {
                continue;
            }
            let openings = match self.openings(fixture.nth) {
                Ok(openings) => openings,
                Err(why) => return TaskAnswer::Broken(why),
            };
            let sides = sides(fixture.players, self.run.plan.colors);
            let all_legs: &[Leg] = if fixture.is_half { &[Leg::First] } else { &Leg::BOTH };
            let options = self.pairing.options(pair);
            return TaskAnswer::Task(Box::new(PairTask { pair, sides, openings, legs, all_legs, options }));
        }
    }

    /// Returns the openings of both legs of the nth pair, or the reason that the book has none.
    fn openings(&mut self, nth: u64) -> Result<[Opening; 2], String> {
        let mut opening = |nth: u64| -> Result<Opening, String> {
            let place = self.order.opening(nth);
            let index = usize::try_from(place).unwrap_or(usize::MAX);
            let found = self.run.book.opening(index).map_err(|error| error.to_string())?;
            // Cannot fail, because the order stays within the book.
            let missing = || format!("the book {} has no opening {}", self.run.book.name(), place.saturating_add(1));
            let mut opening = found.ok_or_else(missing)?;
            // A worker's games are recognized by it. If it cannot be played, its game says why.
            let _ = game::normalize(&mut opening, self.run.plan.rules.variant);
            Ok(opening)
        };
        if self.run.plan.opening_per_game {
            let first = nth.saturating_mul(2);
            Ok([opening(first)?, opening(first.saturating_add(1))?])
        } else {
            let both = opening(nth)?;
            Ok([both.clone(), both])
        }
    }

    fn on_ended(&mut self, record: GameRecord, failure: Option<&Failure>) {
        if !self.run.scoreboard.is_missing(record.id) {
            // The journal already has a game of this number.
            let text = format!("game {} was played twice; the first one counts", record.id.number());
            return self.tell(RunEvent::Warning { text: &text });
        }
        if let Err(error) = self.run.journal.append(&record) {
            // The game is not in the journal, so it must not count, and its worker must keep it.
            self.is_unwritten = true;
            self.halt(Stop::Now, StopReason::Broken { why: error.to_string() });
            return;
        }
        tell(self.observers, RunEvent::GameEnded { record: &record, failure });
        self.warn_of_pvs(&record);
        let Self { run, observers, .. } = self;
        let (before, repeated) = (run.scoreboard.settled(), run.scoreboard.repeated());
        run.scoreboard.record(record, |scoreboard, games| tell(observers, RunEvent::PairCounted { games, scoreboard }));
        let waited_for = self.pairing.needs_results() && self.run.scoreboard.settled() > before;
        self.warn_of_repeats(repeated);
        self.check_over();
        self.check_failures();
        self.check_time_losses();
        self.check_limit_use();
        if waited_for && self.reason.is_none() {
            self.wake();
            self.fill();
        }
    }

    /// Number of failures in games and of engine processes found dead between games.
    fn failures(&self) -> u64 {
        self.run.scoreboard.failures() + self.exits
    }

    fn on_tick(&mut self) {
        let written = self.run.journal.sync();
        let is_written = written.is_ok() && !self.is_unwritten;
        self.seats.iter_mut().for_each(|seats| seats.written(is_written));
        if let Err(error) = written {
            self.halt(Stop::Now, StopReason::Broken { why: error.to_string() });
        }
        let elapsed = self.time.at(Instant::now());
        tell(self.observers, RunEvent::Tick { scoreboard: &self.run.scoreboard, elapsed });
    }

    fn close(mut self) -> Finish {
        let mut reason = match self.reason.take() {
            None => self.end_of_pairs().unwrap_or(StopReason::OutOfPairs),
            // The games that were running at the stop may have been the last.
            Some(stop @ (StopReason::Interrupted | StopReason::OutOfTime)) => self.end_of_pairs().unwrap_or(stop),
            Some(stop) => stop,
        };
        // A result takes precedence over any other reason for the stop.
        if let Some(result) = StopReason::of_result(&self.run.scoreboard) {
            reason = result;
        }
        // Includes games that ended after the stop.
        match &mut reason {
            StopReason::TooManyFailures { failures } => *failures = self.failures(),
            StopReason::TooManyTimeLosses { losses } => {
                losses.clone_from(self.run.scoreboard.finished_time_losses());
            }
            _ => {}
        }
        let written = self.run.journal.sync();
        let is_written = written.is_ok() && !self.is_unwritten;
        self.seats.iter_mut().for_each(|seats| seats.written(is_written));
        if let Err(error) = written {
            let text = error.to_string();
            // The error that ended the run is told by its reason.
            if !matches!(&reason, StopReason::Broken { why } if *why == text) {
                tell(self.observers, RunEvent::Warning { text: &text });
            }
        }
        self.run.scoreboard.end_workers();
        let elapsed = self.time.at(Instant::now());
        tell(self.observers, RunEvent::Closed { scoreboard: &self.run.scoreboard, reason: &reason, elapsed });
        let this =
            RunTime { concurrency_changed: self.concurrency_changed, ..RunTime::of_session(elapsed, self.resumed) };
        let has_counted = self.run.scoreboard.pairs() > self.pairs_before;
        let time = self.run.earlier.map_or(this, |earlier| this.after(earlier, has_counted));
        Finish { scoreboard: self.run.scoreboard, reason, time: Some(time) }
    }

    /// Returns the reason of the end if every pair is played.
    fn end_of_pairs(&mut self) -> Option<StopReason> {
        let scoreboard = &self.run.scoreboard;
        StopReason::of_schedule(self.pairing.next(PairId(scoreboard.settled()), scoreboard.results()))
    }
}

/// Returns the players' sides in each leg.
const fn sides((first, second): Encounter, colors: Colors) -> [ByColor<PlayerId>; 2] {
    let there = ByColor { white: first, black: second };
    let back = ByColor { white: second, black: first };
    match (colors.swap, colors.reverse) {
        (true, false) => [there, back],
        (true, true) => [back, there],
        (false, false) => [there, there],
        (false, true) => [back, back],
    }
}

fn tell(observers: &mut [Box<dyn Observer>], event: RunEvent<'_>) {
    for observer in observers {
        observer.observe(event);
    }
}
