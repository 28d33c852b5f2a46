//! The one event loop of a run. It alone owns the journal and the standing; workers and observers hear from it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};

use crate::journal::Journal;
use crate::plan::Plan;
use crate::plan::openings::Book;
use crate::plan::openings::order::OpeningOrder;
use crate::record::{GameRecord, PairId, PlayerId};
use crate::schedule::events::{Failure, Observer, PairTask, RunEvent, SlotId, Stop, StopReason, WorkerEvent};
use crate::schedule::standing::{Standing, pv_faults};
use crate::schedule::worker::{self, WorkerHandle};
use crate::stats::sprt::Verdict;

/// How often the journal is put on disk and observers hear a tick.
const TICK: Duration = Duration::from_secs(1);

/// So many wrong PVs are told of one by one.
const PV_WARNINGS: u32 = 5;

/// Everything a run needs: its plan and what was made of it.
pub struct Run {
    /// What to play.
    pub plan: Arc<Plan>,
    /// Where games start.
    pub book: Book,
    /// Open for appending, with `standing` folded from what it holds.
    pub journal: Journal,
    /// What counts already.
    pub standing: Standing,
    /// Where the engines' error output goes; must exist.
    pub stderr_dir: std::path::PathBuf,
}

/// How a run came out.
#[derive(Debug)]
pub struct Finish {
    /// What counts.
    pub standing: Standing,
    /// Why it stopped.
    pub reason: StopReason,
    /// Since this process began or resumed the run.
    pub elapsed: Duration,
}

struct Dispatcher<'a> {
    run: Run,
    order: OpeningOrder,
    observers: &'a mut [Box<dyn Observer>],
    workers: Vec<Option<WorkerHandle>>,
    idle: VecDeque<SlotId>,
    next: PairId,
    stop: watch::Sender<Stop>,
    reason: Option<StopReason>,
    began: Instant,
    /// Wrong PVs that were told of one by one.
    pv_told: u32,
}

/// Plays the plan until a verdict, its end, or a stop; returns when every worker is done and its engines are gone.
///
/// `interrupts` yields one item for each request to stop: the first lets running games finish, the second does not.
pub async fn run(run: Run, observers: &mut [Box<dyn Observer>], mut interrupts: mpsc::Receiver<Stop>) -> Finish {
    let (events_in, mut events) = mpsc::unbounded_channel();
    let (stop, stop_seen) = watch::channel(Stop::No);
    let began = Instant::now();
    let len = u32::try_from(run.book.len()).unwrap_or(u32::MAX);
    let order = OpeningOrder::new(len, run.plan.book.order, run.plan.book.start);
    let workers = (0..run.plan.concurrency)
        .map(|slot| {
            let context = worker::Context {
                slot: SlotId(slot),
                plan: Arc::clone(&run.plan),
                stderr_dir: run.stderr_dir.clone(),
                events: events_in.clone(),
                stop: stop_seen.clone(),
            };
            Some(worker::start(context))
        })
        .collect();
    drop((events_in, stop_seen));
    let mut dispatcher = Dispatcher {
        next: PairId(run.standing.pairs()),
        run,
        order,
        observers,
        workers,
        idle: VecDeque::new(),
        stop,
        reason: None,
        began,
        pv_told: 0,
    };
    dispatcher.opened();
    let deadline = dispatcher.run.plan.max_time.map(|limit| began + limit);
    let mut tick = tokio::time::interval_at(began + TICK, TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            Some(level) = interrupts.recv() => dispatcher.halt(level, StopReason::Interrupted),
            event = events.recv() => match event {
                Some(event) => dispatcher.on_event(event),
                None => break,
            },
            _ = tick.tick() => dispatcher.on_tick(),
            () = sleep_until(deadline), if dispatcher.reason.is_none() => {
                dispatcher.halt(Stop::AfterGame, StopReason::OutOfTime);
            }
        }
    }
    dispatcher.close()
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
        tell(self.observers, RunEvent::Opened { standing: &self.run.standing });
        if self.run.standing.verdict() != Verdict::Continue {
            self.halt(Stop::Now, StopReason::Verdict);
        }
    }

    /// Raises the stop level; the first reason given stays.
    fn halt(&mut self, level: Stop, reason: StopReason) {
        self.reason.get_or_insert(reason);
        self.stop.send_if_modified(|now| {
            let rises = level > *now;
            if rises {
                *now = level;
            }
            rises
        });
        // Idle workers wait on their channels: closing those retires them.
        while let Some(slot) = self.idle.pop_front() {
            self.workers[usize::from(slot.0)] = None;
        }
    }

    fn on_event(&mut self, event: WorkerEvent) {
        match event {
            WorkerEvent::Idle { slot } => self.on_idle(slot),
            WorkerEvent::Began { game, players } => self.tell(RunEvent::GameBegan { game, players }),
            WorkerEvent::Ended { record, failure } => self.on_ended(*record, failure.as_deref()),
            WorkerEvent::Retired { slot } => self.workers[usize::from(slot.0)] = None,
            WorkerEvent::Broken { slot, why } => {
                self.workers[usize::from(slot.0)] = None;
                // A pair that this slot had is missing from the prefix now, so nothing after it could count.
                self.halt(Stop::AfterGame, StopReason::Broken { why });
            }
        }
    }

    fn on_idle(&mut self, slot: SlotId) {
        if self.reason.is_some() {
            self.workers[usize::from(slot.0)] = None;
            return;
        }
        match self.next_task() {
            Some(task) => {
                if let Some(worker) = &self.workers[usize::from(slot.0)] {
                    worker.play(task);
                }
            }
            // Others may still play: this worker is not needed, and the run ends when the last one is done.
            None => self.workers[usize::from(slot.0)] = None,
        }
    }

    /// The next pair with a leg to play, with its opening; `None` after the last.
    fn next_task(&mut self) -> Option<PairTask> {
        loop {
            let pair = self.next;
            if self.run.plan.max_pairs.is_some_and(|limit| pair.0 >= limit) {
                return None;
            }
            self.next = PairId(pair.0 + 1);
            let legs = self.run.standing.missing_legs(pair);
            if !legs.is_empty() {
                let place = usize::try_from(self.order.opening(pair.0)).unwrap_or(usize::MAX);
                // The order stays within the book, and the whole book was checked.
                let opening = self.run.book.opening(place)?;
                return Some(PairTask { pair, players: (PlayerId::NEW, PlayerId::BASE), opening, legs });
            }
        }
    }

    fn on_ended(&mut self, record: GameRecord, failure: Option<&Failure>) {
        if let Err(error) = self.run.journal.append(&record) {
            // The game is not in the journal, so it must not count.
            self.halt(Stop::Now, StopReason::Broken { why: error.to_string() });
            return;
        }
        tell(self.observers, RunEvent::GameEnded { record: &record, failure });
        self.warn_of_pvs(&record);
        let Self { run, observers, .. } = self;
        run.standing.tell(record, |standing, games| tell(observers, RunEvent::PairCounted { games, standing }));
        if self.run.standing.verdict() != Verdict::Continue {
            self.halt(Stop::Now, StopReason::Verdict);
        }
        let failures = self.run.standing.failures();
        if failures > self.run.plan.max_failures {
            self.halt(Stop::Now, StopReason::TooManyFailures { failures });
        }
    }

    /// Says where the first few wrong PVs were; the summary counts them all.
    fn warn_of_pvs(&mut self, record: &GameRecord) {
        for (ply, player, fault) in pv_faults(record) {
            if self.pv_told >= PV_WARNINGS {
                return;
            }
            self.pv_told += 1;
            let name = self.run.plan.players.get(usize::from(player.0)).map_or("?", |player| player.name.as_str());
            let more = if self.pv_told == PV_WARNINGS { "; from here on they are only counted" } else { "" };
            let text = format!("game {}, ply {ply}: {name}: the PV {}{more}", record.id.number(), fault.words());
            tell(self.observers, RunEvent::Warning { text: &text });
        }
    }

    fn on_tick(&mut self) {
        if let Err(error) = self.run.journal.sync() {
            self.halt(Stop::Now, StopReason::Broken { why: error.to_string() });
        }
        let elapsed = self.began.elapsed();
        tell(self.observers, RunEvent::Tick { standing: &self.run.standing, elapsed });
    }

    fn close(mut self) -> Finish {
        let mut reason = self.reason.take().unwrap_or(StopReason::OutOfPairs);
        // A verdict, where one was reached, is the news, whatever else stopped the run in the same moment.
        if self.run.standing.verdict() != Verdict::Continue {
            reason = StopReason::Verdict;
        }
        if let Err(error) = self.run.journal.sync() {
            let text = error.to_string();
            tell(self.observers, RunEvent::Warning { text: &text });
        }
        let elapsed = self.began.elapsed();
        tell(self.observers, RunEvent::Closed { standing: &self.run.standing, reason: &reason, elapsed });
        Finish { standing: self.run.standing, reason, elapsed }
    }
}

fn tell(observers: &mut [Box<dyn Observer>], event: RunEvent<'_>) {
    for observer in observers {
        observer.observe(event);
    }
}
