//! Every message between the dispatcher, its workers and the observers, in one place.

use std::time::Duration;

use crate::record::{ByColor, GameId, GameRecord, Leg, Opening, PairId, PlayerId};
use crate::schedule::standing::Standing;

/// A slot: one game at a time, with its own thread and, where asked, its own CPUs. From 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotId(pub u16);

/// A pair, or what is left of it, for one worker to play.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairTask {
    /// Which pair.
    pub pair: PairId,
    /// White in the first leg, then White in the second.
    pub players: (PlayerId, PlayerId),
    /// Played by both legs.
    pub opening: Opening,
    /// The legs still to play, in order. Both, unless a resumed journal already holds the first.
    pub legs: Vec<Leg>,
}

impl PairTask {
    /// Who has which side in `leg`.
    #[must_use]
    pub const fn sides(&self, leg: Leg) -> ByColor<PlayerId> {
        match leg {
            Leg::First => ByColor { white: self.players.0, black: self.players.1 },
            Leg::Second => ByColor { white: self.players.1, black: self.players.0 },
        }
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
    /// A game ended. The worker goes on without an answer.
    Ended {
        /// What was played.
        record: Box<GameRecord>,
        /// Evidence, where an engine failed or lost on time.
        failure: Option<Box<Failure>>,
    },
    /// The worker's thread is done: it was told to stop, or its channel closed.
    Retired {
        /// The slot it had.
        slot: SlotId,
    },
    /// The worker could not go on for a reason that is no engine's fault.
    Broken {
        /// The slot it had.
        slot: SlotId,
        /// What happened.
        why: String,
    },
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
    /// A game ended and is in the journal.
    GameEnded {
        /// What was played.
        record: &'a GameRecord,
        /// Evidence, where an engine failed or lost on time.
        failure: Option<&'a Failure>,
    },
    /// A pair counts now: it and all pairs before it are finished.
    PairCounted {
        /// Both legs.
        games: &'a [GameRecord; 2],
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
    /// The plan's time is over.
    OutOfTime,
    /// The user or the system asked; `quintain resume` goes on.
    Interrupted,
    /// More engine failures than the plan allows.
    TooManyFailures {
        /// Counted so far.
        failures: u64,
    },
    /// The journal could not be written, or all workers broke.
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
