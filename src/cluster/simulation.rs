//! `quintain worker URL --simulate N`: workers without engines, which make up their games to
//! measure a hub.
//!
//! Each has a connection of its own, asks for pairs, waits as if it played them, and sends records
//! of random games. Only a run that was started for simulated workers takes their results.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

use super::access::Access;
use super::link::{Link, LinkError, call, subject_of};
use super::outbox::Outbox;
use super::registry::{self, List, RunEntry};
use super::wire::{self, BEAT, Heartbeat, Hello, Offer, PairGames, Take, Welcome, WireOrders};
use super::worker::PAUSE;
use crate::chess::{Position, Variant};
use crate::plan::file;
use crate::record::{
    ByColor, Ending, EngineId, GameId, GameRecord, Leg, MoveRecord, Outcome, RecordedOutput, Score, SearchInfo,
    Termination,
};
use crate::stats::random::SplitMix64;
use crate::text::{count, printable, random_hex};
use crate::tournament::events::{PairTask, Stop};

/// Interval of the looks for a simulated run.
const LOOK: Duration = Duration::from_secs(1);

/// Time without an answer after which a run is over for its workers.
const FORSAKEN: Duration = Duration::from_mins(1);

/// Connections that are opened at once.
const OPENED_AT_ONCE: usize = 50;

/// Size and pace of a simulation.
#[derive(Clone, Debug)]
pub(crate) struct SimulationSettings {
    /// The hub.
    pub(crate) access: Access,
    /// Number of workers, each with a connection of its own.
    pub(crate) workers: u16,
    /// Concurrent games of each worker.
    pub(crate) slots: u16,
    /// Mean time of a pair. Pairs take from half of it to half more.
    pub(crate) pair: Duration,
    /// Maximum number of plies of a game.
    pub(crate) plies: u16,
}

/// Reason that a simulation ends.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimulationError {
    /// The hub cannot be used.
    #[error(transparent)]
    Link(#[from] LinkError),
    /// The system provided no randomness.
    #[error("the system has no random numbers: {0}")]
    Random(#[from] std::io::Error),
    /// The coordinator does not want simulated workers, or has another plan.
    #[error("run {run}: {why}")]
    Refused {
        /// The run.
        run: String,
        /// The coordinator's reason.
        why: String,
    },
}

/// Serves simulated runs of a hub, one after another, until `stop` says otherwise. `lines` are for
/// the user.
///
/// # Errors
/// Returns an error if the hub cannot be used, or a run is another one than its entry says.
pub(crate) async fn simulate(
    simulation: SimulationSettings,
    mut stop: watch::Receiver<Stop>,
    lines: mpsc::UnboundedSender<String>,
) -> Result<(), SimulationError> {
    let life = random_hex()?;
    let SimulationSettings { access, workers, slots, .. } = &simulation;
    let mut links = Vec::with_capacity(usize::from(*workers));
    for first in (0..*workers).step_by(OPENED_AT_ONCE) {
        let sessions: Vec<_> = (first..*workers).take(OPENED_AT_ONCE).map(|number| (number, &life[..8])).collect();
        let opened = sessions.into_iter().map(|(number, life)| async move {
            let session = format!("{}-{life}{number:04x}", access.user);
            Link::open(access, &session).await.map(|link| (link, session))
        });
        for link in futures_util::future::join_all(opened).await {
            links.push(link?);
        }
    }
    let Some((first, _)) = links.first().cloned() else { return Ok(()) };
    // The user may have closed the terminal.
    let say = |line: String| drop(lines.send(line));
    say(format!(
        "{workers} simulated workers of {slots} slots wait for a run with --workers \"{} simulated\"",
        access.url
    ));
    while *stop.borrow() == Stop::No {
        let listed = registry::read::<RunEntry>(&first, List::Runs).await.unwrap_or_default();
        let Some(entry) = listed.into_iter().find(|entry| entry.simulated) else {
            tokio::select! {
                () = tokio::time::sleep(LOOK) => {}
                _ = stop.changed() => {}
            }
            continue;
        };
        say(format!("run {}: {workers} simulated workers join", printable(&entry.title)));
        let mut serving = JoinSet::new();
        for (number, (link, session)) in links.iter().cloned().enumerate() {
            let worker = SimulatedWorker::new(link, session, entry.run.clone(), simulation.clone(), number as u64);
            serving.spawn(worker.serve(stop.clone()));
        }
        let mut pairs = 0;
        while let Some(ended) = serving.join_next().await {
            // A worker that panicked is a fault of this program, and tells so itself.
            pairs += ended.unwrap_or(Ok(0))?;
        }
        say(format!("run {}: left after {}", printable(&entry.title), count(pairs, "pair")));
        tokio::time::sleep(LOOK).await;
    }
    Ok(())
}

/// Step of a slot or of the signs of life.
enum SimulationStep {
    /// An answer to a slot.
    Offered(u16, Option<Offer>),
    /// The time of a pair is over.
    Played(u16, u64, Box<PairTask>),
    /// An answer to a sign of life.
    Ordered(Option<WireOrders>),
}

type Steps = FuturesUnordered<std::pin::Pin<Box<dyn Future<Output = SimulationStep> + Send>>>;

struct SimulatedWorker {
    link: Link,
    session: String,
    run: String,
    simulation: SimulationSettings,
    random: SplitMix64,
    steps: Steps,
    held: BTreeSet<(u64, u64)>,
    outbox: Outbox,
    heard: Instant,
    is_over: bool,
    beats: bool,
    pairs: u64,
}

impl SimulatedWorker {
    fn new(link: Link, session: String, run: String, simulation: SimulationSettings, number: u64) -> Self {
        Self {
            outbox: Outbox::new(&link, &run, &session),
            link,
            session,
            run,
            simulation,
            random: SplitMix64::new(number),
            steps: Steps::new(),
            held: BTreeSet::new(),
            heard: Instant::now(),
            is_over: false,
            beats: false,
            pairs: 0,
        }
    }

    /// Serves the run to its end. Returns the number of pairs sent.
    async fn serve(mut self, mut stop: watch::Receiver<Stop>) -> Result<u64, SimulationError> {
        let Some((players, variant)) = self.hello().await? else { return Ok(0) };
        let mut calls = self.link.requests(call(&self.run)).await?;
        for slot in 0..self.simulation.slots {
            self.ask(slot, Duration::ZERO);
        }
        let mut beat = tokio::time::interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.is_done() {
            tokio::select! {
                Some(step) = self.steps.next() => match step {
                    SimulationStep::Offered(slot, offer) => self.on_offer(slot, offer, players),
                    SimulationStep::Played(slot, attempt, task) => self.on_played(slot, attempt, &task, variant),
                    SimulationStep::Ordered(orders) => self.on_orders(orders),
                },
                Some(_) = calls.next() => self.beat(),
                _ = beat.tick() => self.beat(),
                Ok(()) = stop.changed() => self.is_over = true,
            }
        }
        let leaves = self.state(true);
        let _ = self.link.ask(subject_of(&self.run, "beat", &self.session), &leaves).await;
        Ok(self.pairs)
    }

    fn is_done(&self) -> bool {
        self.is_over && self.outbox.is_empty() || self.heard.elapsed() > FORSAKEN
    }

    /// Number of players and variant of the plan; `None` if nobody answers.
    async fn hello(&mut self) -> Result<Option<(usize, Variant)>, SimulationError> {
        let hello = Hello {
            v: wire::VERSION,
            worker: self.session.clone(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            machine: None,
            any_version: false,
            speed: None,
            simulated: true,
        };
        let refused = |why: String| SimulationError::Refused { run: self.run.clone(), why };
        let Some(bytes) = self.link.ask(subject_of(&self.run, "plan", &self.session), &hello).await else {
            return Ok(None);
        };
        let text = match wire::from_bytes::<Welcome>(&bytes).map_err(|error| refused(error.to_string()))? {
            Welcome::Signed(signed) => signed.text().to_owned(),
            Welcome::Plan(text) => text,
            Welcome::Refused(why) => return Err(refused(why)),
            Welcome::Admitted => return Err(refused("it admits a speed that was not sent".to_owned())),
        };
        let plan = file::from_toml(&text).map_err(|error| refused(error.to_string()))?;
        Ok(Some((plan.players.len(), plan.rules.variant)))
    }

    fn ask(&self, slot: u16, pause: Duration) {
        let take = Take { v: wire::VERSION, worker: self.session.clone(), slot, sent: self.outbox.keys() };
        let (link, to) = (self.link.clone(), subject_of(&self.run, "take", &self.session));
        self.steps.push(Box::pin(async move {
            tokio::time::sleep(pause).await;
            let answer = link.ask(to, &take).await;
            SimulationStep::Offered(slot, answer.and_then(|bytes| wire::from_bytes(&bytes).ok()))
        }));
    }

    fn on_offer(&mut self, slot: u16, offer: Option<Offer>, players: usize) {
        match offer {
            Some(Offer::Pair { attempt, pair }) => {
                let key = (pair.id().0, attempt);
                let Ok(task) = pair.task(players) else { return };
                if self.held.insert(key) {
                    let mean = u64::try_from(self.simulation.pair.as_micros()).unwrap_or(u64::MAX);
                    let pause = Duration::from_micros(mean / 2 + self.random.next_u64() % mean.max(1));
                    self.steps.push(Box::pin(async move {
                        tokio::time::sleep(pause).await;
                        SimulationStep::Played(slot, attempt, Box::new(task))
                    }));
                }
            }
            Some(Offer::Over) => self.is_over = true,
            Some(Offer::Wait) | None if !self.is_over => self.ask(slot, PAUSE),
            Some(Offer::Wait) | None => {}
        }
    }

    fn on_played(&mut self, slot: u16, attempt: u64, task: &PairTask, variant: Variant) {
        self.held.remove(&(task.pair.0, attempt));
        let plies = usize::from(self.simulation.plies);
        let games = task.legs.iter().map(|leg| (game(task, *leg, variant, plies, &mut self.random), None)).collect();
        let worker = self.session.clone();
        let result = PairGames { worker, pair: task.pair, attempt, games, logs: Vec::new(), is_simulated: true };
        self.outbox.send(&result);
        self.pairs += 1;
        if !self.is_over {
            self.ask(slot, Duration::ZERO);
        }
    }

    /// Gives a sign of life, unless the last one is on its way.
    fn beat(&mut self) {
        if std::mem::replace(&mut self.beats, true) {
            return;
        }
        let (link, beat, to) = (self.link.clone(), self.state(false), subject_of(&self.run, "beat", &self.session));
        self.steps.push(Box::pin(async move {
            let answer = link.ask(to, &beat).await;
            SimulationStep::Ordered(answer.and_then(|bytes| wire::from_bytes(&bytes).ok()))
        }));
    }

    fn state(&self, leaves: bool) -> Heartbeat {
        Heartbeat {
            v: wire::VERSION,
            worker: self.session.clone(),
            held: self.held.iter().copied().collect(),
            progress: Vec::new(),
            sent: self.outbox.keys(),
            back: Vec::new(),
            notes: Vec::new(),
            first_note: None,
            logs: Vec::new(),
            leaves,
            machine: None,
            speed: None,
        }
    }

    fn on_orders(&mut self, orders: Option<WireOrders>) {
        self.beats = false;
        let Some(orders) = orders else {
            if self.is_over {
                // Nobody is left to name them.
                self.outbox.clear();
            }
            return;
        };
        self.heard = Instant::now();
        self.outbox.drop_written(&orders.written);
        self.is_over |= orders.stop() != Stop::No;
        self.outbox.resend_overdue();
    }
}

/// A random game of a task, with figures as engines report them.
pub(super) fn game(task: &PairTask, leg: Leg, variant: Variant, plies: usize, random: &mut SplitMix64) -> GameRecord {
    let opening = task.opening(leg).clone();
    let began = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let outcome = match random.next_u64() % 4 {
        0 => Outcome::WhiteWins,
        1 => Outcome::BlackWins,
        _ => Outcome::Draw,
    };
    let mut ending = Ending { outcome, termination: Termination::DrawAdjudication, detail: "simulated".to_owned() };
    if outcome != Outcome::Draw {
        ending.termination = Termination::ResignAdjudication;
    }
    let mut moves = Vec::with_capacity(plies);
    // An opening that is none is the coordinator's fault, and its game has no moves.
    if let Ok(mut position) = Position::from_fen(&opening.fen, variant)
        && opening.moves.iter().all(|text| position.advance_by(text).is_ok())
    {
        while moves.len() < plies {
            if let Some((outcome, termination)) = position.over() {
                (ending.outcome, ending.termination) = (outcome, termination);
                break;
            }
            let legal = position.legal_moves();
            let place = random.below(u32::try_from(legal.len()).unwrap_or(u32::MAX));
            let Some(uci) = legal.get(place as usize) else { break };
            if position.advance_by(uci).is_err() {
                break;
            }
            moves.push(ply(uci.clone(), random));
        }
    }
    let took = moves.iter().map(|ply: &MoveRecord| ply.elapsed).sum();
    GameRecord {
        id: GameId { pair: task.pair, leg },
        players: task.sides(leg),
        engines: ByColor { white: EngineId::default(), black: EngineId::default() },
        values: task.values(leg),
        opening,
        moves,
        ending,
        started: began,
        took,
        overstep: None,
        is_void: false,
        worker: None,
        scale: None,
    }
}

fn ply(uci: String, random: &mut SplitMix64) -> MoveRecord {
    let bits = random.next_u64();
    let elapsed = Duration::from_micros(50_000 + bits % 100_000);
    let nodes = 100_000 + bits % 200_000;
    let depth = 12 + u32::try_from(bits % 9).unwrap_or_default();
    MoveRecord {
        uci,
        elapsed,
        left: Some(Duration::from_micros(1_000_000 + bits % 7_000_000)),
        info: SearchInfo {
            score: Some(Score::Cp(i32::try_from(bits % 200).unwrap_or_default() - 100)),
            depth: Some(depth),
            seldepth: Some(depth + 6),
            nodes: Some(nodes),
            nps: Some(2_000_000 + bits % 100_000),
            time: Some(elapsed),
            hashfull: Some(u16::try_from(bits % 1_000).unwrap_or_default()),
            tbhits: Some(0),
            pv_fault: None,
        },
        waited: Some(Duration::from_micros(bits % 90)),
        said: RecordedOutput::default(),
    }
}
