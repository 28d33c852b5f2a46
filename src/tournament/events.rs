//! Every message between the dispatcher, its workers and the observers, in one place.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::record::{ByColor, GameId, GameRecord, Leg, MoveRecord, Opening, PairId, PlayerId, Score};
use crate::tournament::formats::PairOptions;
use crate::tournament::standing::Standing;
use crate::tournament::time_losses::TimeLosses;

/// A slot: one game at a time, with its own thread and, where asked, its own CPUs. From 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotId(pub u16);

/// A pair, or what is left of it, for one worker to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairTask {
    /// Which pair.
    pub pair: PairId,
    /// Who has which side, by leg.
    pub sides: [ByColor<PlayerId>; 2],
    /// Where each leg starts; the same place twice unless the plan says otherwise.
    pub openings: [Opening; 2],
    /// The legs still to play, in order. Both, unless a resumed journal already holds the first, or the pair is half a pair.
    pub legs: Vec<Leg>,
    /// Every leg that the pair has.
    pub all_legs: &'static [Leg],
    /// Options of the pair's own, if the run tunes some.
    pub options: Option<Arc<PairOptions>>,
}

impl PairTask {
    /// Who has which side in `leg`.
    #[must_use]
    pub const fn sides(&self, leg: Leg) -> ByColor<PlayerId> {
        self.sides[leg.index()]
    }

    /// Options of a player in this pair.
    #[must_use]
    pub fn options(&self, player: PlayerId) -> &[(String, String)] {
        let own = self.options.as_ref().and_then(|options| options.get(usize::from(player.0)));
        own.map_or(&[], Vec::as_slice)
    }

    /// Values of those options by the colours of `leg`; `None` if the run tunes none.
    #[must_use]
    pub fn values(&self, leg: Leg) -> Option<ByColor<Vec<String>>> {
        self.options.as_ref()?;
        let values = |player| self.options(player).iter().map(|(_, value)| value.clone()).collect();
        let ByColor { white, black } = self.sides(leg);
        Some(ByColor { white: values(white), black: values(black) })
    }

    /// Where `leg` starts.
    #[must_use]
    pub const fn opening(&self, leg: Leg) -> &Opening {
        &self.openings[leg.index()]
    }
}

/// From the dispatcher to every worker. It only ever rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Play on.
    No,
    /// Finish the running game, begin no other.
    AfterGame,
    /// Drop the running game at once. It is not recorded.
    Now,
}

/// What the dispatcher wants of the workers now. Each looks at it before a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Whether to go on at all.
    pub stop: Stop,
    /// Begin no game until this is false again.
    pub paused: bool,
    /// Games at once: slots from this one up retire after their game.
    pub slots: u16,
}

/// What a user asks of a live run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Finish the running games and begin no other until told to.
    Pause,
    /// Go on after a pause.
    Resume,
    /// As one Ctrl-C: finish the running games, then end.
    Stop,
    /// Play so many games at once from now on.
    Concurrency(u16),
    /// Only answer.
    Status,
    /// One more (true) or one fewer (false) wants to see moves as they are played.
    Moves(bool),
}

/// A command and where its answer goes: how the run stands after it, or why it was refused.
#[derive(Debug)]
pub struct Request {
    /// What is asked.
    pub command: Command,
    /// Takes the answer. Nobody need wait for it.
    pub reply: oneshot::Sender<Result<Status, String>>,
}

/// What a live run is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Games begin and end.
    Running,
    /// No game begins until the user says so.
    Paused,
    /// No game begins any more.
    Stopping,
}

/// How a live run is being played.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it is doing.
    pub phase: Phase,
    /// Games at once, as last told.
    pub concurrency: u16,
    /// Games that are being played at this moment.
    pub playing: u16,
}

/// From a worker to the dispatcher.
#[derive(Debug)]
pub enum WorkerEvent {
    /// The slot is free and waits for its next pair, which the dispatcher sends on the slot's own channel.
    Idle {
        /// The free slot.
        slot: SlotId,
    },
    /// A game began.
    Began {
        /// Which.
        game: GameId,
        /// Who has which side.
        players: ByColor<PlayerId>,
    },
    /// Moves were played; only where somebody wants to see them.
    Moved {
        /// In which game.
        game: GameId,
        /// What was not told of it before.
        moved: Box<Moved>,
    },
    /// A game ended. The worker goes on without an answer.
    Ended {
        /// What was played.
        record: Box<GameRecord>,
        /// Evidence, where an engine failed or lost on time.
        failure: Option<Box<Failure>>,
    },
    /// An engine spoke of failures before the first move of a game.
    Complained {
        /// Which game.
        game: GameId,
        /// Whose engine.
        player: PlayerId,
        /// What it said.
        texts: Vec<String>,
    },
    /// A process was found dead or silent between two games. A new one is started, and no game is lost.
    Exited {
        /// Whose.
        player: PlayerId,
        /// `exit status 3`, ...
        status: String,
    },
    /// An engine did not start, and is started again.
    StartFailed {
        /// One line.
        why: String,
    },
    /// The worker's thread is done: it was told to stop or to retire, or its channel closed.
    Retired {
        /// The slot it had.
        slot: SlotId,
        /// What it was given and has not played.
        left: Option<PairTask>,
    },
    /// The slot could not get an engine started in several attempts, or had no descriptors for its own needs. Its thread is done.
    GaveUp {
        /// The slot it had.
        slot: SlotId,
        /// What it was given and has not played.
        left: Option<PairTask>,
        /// What happened.
        why: String,
    },
    /// The worker could not go on for a reason that is no engine's fault.
    Broken {
        /// The slot it had.
        slot: SlotId,
        /// Whether it had begun a game, which is not to end.
        in_game: bool,
        /// What happened.
        why: String,
    },
}

/// What was played in a game since it was last told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where the game began, the first time that it is told of.
    pub opening: Option<Opening>,
    /// Plies after the book that were told before.
    pub from: usize,
    /// Those since.
    pub plies: Vec<Ply>,
}

/// A ply for those that look on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    /// In UCI notation.
    pub uci: String,
    /// On the mover's clock after it; `None` without a clock.
    pub left: Option<Duration>,
    /// From the mover's point of view.
    pub score: Option<Score>,
    /// Plies searched.
    pub depth: Option<u32>,
}

impl From<&MoveRecord> for Ply {
    fn from(played: &MoveRecord) -> Self {
        let MoveRecord { uci, left, info, .. } = played;
        Self { uci: uci.clone(), left: *left, score: info.score, depth: info.depth }
    }
}

/// Evidence of a game lost by a fault of the engine: what a bug report needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The game.
    pub game: GameId,
    /// Whose fault.
    pub player: PlayerId,
    /// Both ways, with microsecond stamps.
    pub transcript: String,
    /// The end of what it said on standard error.
    pub stderr: String,
    /// `exit status 3`, `signal 11 (SIGSEGV)`, or that it was killed or goes on running.
    pub status: String,
}

/// From the dispatcher to the observers, in order. Observers cannot answer, slow a game down or stop a run.
#[derive(Clone, Copy, Debug)]
pub enum RunEvent<'a> {
    /// The run begins, or goes on after `standing` was replayed from the journal.
    Opened {
        /// What counts so far.
        standing: &'a Standing,
    },
    /// A game began.
    GameBegan {
        /// Which.
        game: GameId,
        /// Who has which side.
        players: ByColor<PlayerId>,
    },
    /// Moves were played; only where somebody wants to see them, and then a little late where they come fast.
    GameMoved {
        /// In which game.
        game: GameId,
        /// What was not told of it before.
        moved: &'a Moved,
    },
    /// A game ended and is in the journal.
    GameEnded {
        /// What was played.
        record: &'a GameRecord,
        /// Evidence, where an engine failed or lost on time.
        failure: Option<&'a Failure>,
    },
    /// A pair counts now: it and all pairs before it are finished.
    PairCounted {
        /// Its games: both legs, or the one of half a pair.
        games: &'a [GameRecord],
        /// Including this pair.
        standing: &'a Standing,
    },
    /// About once a second.
    Tick {
        /// What counts so far.
        standing: &'a Standing,
        /// Since this process began or resumed the run.
        elapsed: Duration,
    },
    /// Something that a user should read; the run goes on.
    Warning {
        /// One line.
        text: &'a str,
    },
    /// The user changed how the run is played.
    Steered {
        /// How it is played now.
        status: Status,
    },
    /// The user asked for a stop: running games are finished, no other begins.
    Finishing,
    /// The run stops: no event follows.
    Closed {
        /// What counts.
        standing: &'a Standing,
        /// Why it stops.
        reason: &'a StopReason,
        /// Since this process began or resumed the run.
        elapsed: Duration,
    },
}

/// Why a run stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The test accepted a hypothesis.
    Verdict,
    /// All pairs of the plan are played.
    OutOfPairs,
    /// Players have met from every opening of the book, and would only repeat their games.
    OutOfOpenings,
    /// The intervals are as narrow as the plan asks.
    Narrow,
    /// A tuning gains nothing more, as the plan asks.
    Flat,
    /// The plan's time is over.
    OutOfTime,
    /// The user or the system asked; `quintain resume` goes on.
    Interrupted,
    /// More engine failures than the plan allows.
    TooManyFailures {
        /// Counted so far.
        failures: u64,
    },
    /// More games lost on time than the plan allows; `quintain resume` goes on under a higher limit.
    TooManyTimeLosses {
        /// Of all finished games.
        losses: TimeLosses,
    },
    /// The journal could not be written, an engine's program changed or could not be started, or a worker broke.
    Broken {
        /// In words.
        why: String,
    },
}

/// Follows a run. Implementations must not block for long: the dispatcher waits for them (games do not).
pub trait Observer {
    /// Takes note of an event.
    fn observe(&mut self, event: RunEvent<'_>);
}

/// Outcome of a run.
#[derive(Debug)]
pub struct Finish {
    /// What counts.
    pub standing: Standing,
    /// Why it stopped.
    pub reason: StopReason,
    /// Since this process began or resumed the run.
    pub elapsed: Duration,
    /// Whether games were there already when this process began.
    pub resumed: bool,
}
