//! Messages between the dispatcher, its workers and the observers.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;

use crate::plan::Plan;
use crate::record::{
    ByColor, GameId, GameRecord, Leg, MoveRecord, Opening, Outcome, PairId, PlayerId, Score, Termination,
};
use crate::stats::sprt::Verdict;
use crate::tournament::formats::PairOptions;
use crate::tournament::pairing::{Pairing, ScheduleEntry};
use crate::tournament::scoreboard::Scoreboard;
use crate::tournament::time_losses::TimeLosses;
use crate::tournament::workers::WorkerStatus;

/// Number of a slot, from 0.
///
/// A slot plays one game at a time on a thread of its own, and on CPUs of its own if the plan pins
/// games.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SlotId(pub u16);

/// A pair for one worker to play, or the leg that is left of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PairTask {
    /// Number of the pair.
    pub pair: PairId,
    /// Players by colour, for each leg.
    pub sides: [ByColor<PlayerId>; 2],
    /// Opening of each leg; the same one twice unless the plan says otherwise.
    pub openings: [Opening; 2],
    /// Legs still to play, in order: both, unless the journal of a resumed run holds the first or
    /// the pair is half a pair.
    pub legs: Vec<Leg>,
    /// All legs of the pair, played ones included.
    pub all_legs: &'static [Leg],
    /// Engine options of this pair alone, if the run tunes some.
    pub options: Option<Arc<PairOptions>>,
}

impl PairTask {
    /// Players of `leg` by colour.
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

    /// True if a game of the pair was played and counts.
    #[must_use]
    pub const fn is_begun(&self) -> bool {
        self.legs.len() < self.all_legs.len()
    }

    /// Opening of `leg`.
    #[must_use]
    pub const fn opening(&self, leg: Leg) -> &Opening {
        &self.openings[leg.index()]
    }
}

/// Stop signal from the dispatcher to every worker. It only ever rises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// Play on.
    No,
    /// Finish the started pairs and begin no other.
    AfterPair,
    /// Finish the running game and begin no other.
    AfterGame,
    /// Abort the running game at once, unrecorded.
    Now,
}

impl Stop {
    /// True if a pair's next game may begin; `is_begun` if another game of the pair was played.
    #[must_use]
    pub const fn lets_begin(self, is_begun: bool) -> bool {
        match self {
            Self::No => true,
            Self::AfterPair => is_begun,
            Self::AfterGame | Self::Now => false,
        }
    }
}

/// Current orders of the dispatcher. Every worker reads them before each game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Orders {
    /// Stop signal.
    pub stop: Stop,
    /// Begin no game until this is false again.
    pub paused: bool,
    /// Number of concurrent games. A slot of this number or above retires after its game.
    pub slots: u16,
    /// True while a client is subscribed to moves.
    pub moves: bool,
}

impl Orders {
    /// Orders to play on, this number of games at once.
    #[must_use]
    pub const fn play(slots: u16) -> Self {
        Self { stop: Stop::No, paused: false, slots, moves: false }
    }

    /// True during a pause. A stop ends it.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.paused && self.stop == Stop::No
    }
}

/// Request of a user to a live run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunCommand {
    /// Finish the running games and begin no other until [`RunCommand::Resume`].
    Pause,
    /// Begin games again after a pause.
    Resume,
    /// Finish the running games, then end, as after one Ctrl-C.
    Stop,
    /// Finish the started pairs, then end.
    StopAfterPairs,
    /// Play this number of games at once from now on.
    Concurrency(u16),
    /// Return the status and change nothing.
    Status,
    /// Subscribe one client to live moves (true) or unsubscribe one (false).
    Moves(bool),
    /// Play no more pairs on the worker of this name.
    DropWorker(String),
}

/// A command with the channel of its answer.
#[derive(Debug)]
pub struct CommandRequest {
    /// Command to carry out.
    pub command: RunCommand,
    /// Receives the run's status after the command, or the reason of a refusal. The receiver may be
    /// dropped.
    pub reply: oneshot::Sender<Result<Status, String>>,
}

/// Activity of a live run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Games begin and end.
    Running,
    /// No game begins until the user resumes the run.
    Paused,
    /// No game begins any more.
    Stopping,
}

/// Status of a live run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    /// Current activity.
    pub phase: Phase,
    /// Number of concurrent games that was set last.
    pub concurrency: u16,
    /// Games in progress.
    pub playing: u16,
}

/// Message from a worker to the dispatcher.
#[derive(Debug)]
pub enum WorkerEvent {
    /// The slot is free. The dispatcher sends its next pair on the slot's own channel.
    Idle {
        /// The free slot.
        slot: SlotId,
    },
    /// A game began.
    Began {
        /// The game.
        game: GameId,
        /// Its players by colour.
        players: ByColor<PlayerId>,
    },
    /// Moves of a game, sent only if a client is subscribed to live moves.
    Moved {
        /// The game.
        game: GameId,
        /// Moves since the last message about this game.
        moved: Box<MoveUpdate>,
    },
    /// A game ended. The worker continues without an answer.
    Ended {
        /// Record of the game.
        record: Box<GameRecord>,
        /// Evidence, if an engine failed or lost on time.
        failure: Option<Box<Failure>>,
    },
    /// An engine reported failures before the first move of a game.
    Complained {
        /// The game.
        game: GameId,
        /// Player of the engine.
        player: PlayerId,
        /// Lines that the engine printed.
        texts: Vec<String>,
    },
    /// A process was found dead or silent between two games. The worker starts a new one and no
    /// game is lost.
    Exited {
        /// Player of the engine.
        player: PlayerId,
        /// Exit status in words, such as `exit status 3`.
        status: String,
    },
    /// An engine failed to start. The worker tries again.
    StartFailed {
        /// Reason on one line.
        why: String,
    },
    /// The worker's thread ended, because of a stop, fewer concurrent games or a closed channel.
    Retired {
        /// Slot of the worker.
        slot: SlotId,
        /// Pair that it was given and did not play.
        left: Option<PairTask>,
    },
    /// The worker's thread ended, because no engine started in several attempts or the slot had no
    /// file descriptors left.
    GaveUp {
        /// Slot of the worker.
        slot: SlotId,
        /// Pair that it was given and did not play.
        left: Option<PairTask>,
        /// Reason in words.
        why: String,
    },
    /// The worker cannot continue for a reason that is not an engine's fault.
    Broken {
        /// Slot of the worker.
        slot: SlotId,
        /// True if it had begun a game, which will never end.
        in_game: bool,
        /// Reason in words.
        why: String,
    },
}

/// Moves of a game since the last message about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveUpdate {
    /// Opening of the game, in the first message about it alone.
    pub opening: Option<Opening>,
    /// Plies after the opening that earlier messages held.
    pub from: usize,
    /// Plies since then.
    pub plies: Vec<Ply>,
    /// End of a game whose record comes later; `None` while it is played.
    pub over: Option<(Outcome, Termination)>,
}

/// A ply as observers see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ply {
    /// Move in UCI notation.
    pub uci: String,
    /// Time charged for the move; `None` if the worker that played it does not say.
    pub elapsed: Option<Duration>,
    /// Time left on the mover's clock after the move; `None` without a clock.
    pub left: Option<Duration>,
    /// Score from the mover's point of view.
    pub score: Option<Score>,
    /// Search depth in plies.
    pub depth: Option<u32>,
}

impl From<&MoveRecord> for Ply {
    fn from(played: &MoveRecord) -> Self {
        let MoveRecord { uci, elapsed, left, info, .. } = played;
        Self { uci: uci.clone(), elapsed: Some(*elapsed), left: *left, score: info.score, depth: info.depth }
    }
}

/// Evidence of a game lost by an engine's fault, for a bug report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The game.
    pub game: GameId,
    /// Player at fault.
    pub player: PlayerId,
    /// UCI traffic in both directions, with timestamps in microseconds.
    pub transcript: String,
    /// Last lines of the engine's standard error.
    pub stderr: String,
    /// Exit status, such as `exit status 3` or `signal 11 (SIGSEGV)`, or a remark that the process
    /// was killed or still runs.
    pub status: String,
}

/// Message from the dispatcher to the observers, in order.
///
/// Observers cannot answer, slow a game down or stop a run.
#[derive(Clone, Copy, Debug)]
pub enum RunEvent<'a> {
    /// The run begins, or continues after `scoreboard` was replayed from the journal.
    Opened {
        /// Standing so far.
        scoreboard: &'a Scoreboard,
    },
    /// A game began.
    GameBegan {
        /// The game.
        game: GameId,
        /// Its players by colour.
        players: ByColor<PlayerId>,
    },
    /// Moves were played; sent only if a client subscribed to live moves. Quick moves come late, in
    /// one message.
    GameMoved {
        /// The game.
        game: GameId,
        /// Moves since the last message about this game.
        moved: &'a MoveUpdate,
    },
    /// A game ended and is in the journal.
    GameEnded {
        /// Record of the game.
        record: &'a GameRecord,
        /// Evidence, if an engine failed or lost on time.
        failure: Option<&'a Failure>,
    },
    /// A pair counts now, because it and all pairs before it are finished.
    PairCounted {
        /// Games of the pair: both legs, or the one game of half a pair.
        games: &'a [GameRecord],
        /// Standing that includes this pair.
        scoreboard: &'a Scoreboard,
    },
    /// Sent about once a second.
    Tick {
        /// Standing so far.
        scoreboard: &'a Scoreboard,
        /// Time since this process began or resumed the run, without pauses.
        elapsed: Duration,
    },
    /// Message for the user. The run continues.
    Warning {
        /// Text on one line.
        text: &'a str,
    },
    /// Message about a wrong PV of a game that ended. The first few of a run have one.
    PvWarning {
        /// Text on one line.
        text: &'a str,
    },
    /// The user paused, resumed or stopped the run, or changed its number of concurrent games.
    Steered {
        /// Status after the change.
        status: Status,
    },
    /// The workers in other processes changed: one came, left, or plays another pair.
    Workers {
        /// All workers, by name.
        workers: &'a [WorkerStatus],
    },
    /// The user asked for a stop. Running games, or started pairs, are finished, and no other
    /// begins.
    Finishing {
        /// True if started pairs are finished.
        pairs: bool,
    },
    /// The run ends. No event follows.
    Closed {
        /// Final scoreboard.
        scoreboard: &'a Scoreboard,
        /// Reason of the stop.
        reason: &'a StopReason,
        /// Time since this process began or resumed the run, without pauses.
        elapsed: Duration,
    },
}

/// Reason for which a run stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The SPRT accepted a hypothesis.
    Verdict,
    /// All pairs of the plan are played.
    OutOfPairs,
    /// All openings of the book were used by players who may not repeat one.
    OutOfOpenings,
    /// The confidence intervals are as narrow as the plan asks.
    Narrow,
    /// The tuning is flat: it gains nothing more, and the plan ends it then.
    Flat,
    /// The plan's time limit is reached.
    OutOfTime,
    /// The user or the system asked for a stop; `quintain resume` continues the run.
    Interrupted,
    /// More engine failures than the plan allows.
    TooManyFailures {
        /// Failures counted so far.
        failures: u64,
    },
    /// More games were lost on time than the plan allows; `quintain resume` continues under a
    /// higher limit.
    TooManyTimeLosses {
        /// Time losses of all finished games.
        losses: TimeLosses,
    },
    /// The journal could not be written, an engine's program changed or did not start, or a worker
    /// broke.
    Broken {
        /// Reason in words.
        why: String,
    },
}

impl StopReason {
    /// Returns the result that ends a run whatever else stops it; `None` as long as
    /// [`Scoreboard::is_over`] is false.
    #[must_use]
    pub fn of_result(scoreboard: &Scoreboard) -> Option<Self> {
        if scoreboard.verdict() != Verdict::Continue {
            Some(Self::Verdict)
        } else if scoreboard.is_narrow() {
            Some(Self::Narrow)
        } else {
            scoreboard.is_flat().then_some(Self::Flat)
        }
    }

    /// Returns the end of a run whose counted results leave nothing to play; `None` of any other.
    #[must_use]
    pub fn of_counted(plan: &Plan, scoreboard: &Scoreboard) -> Option<Self> {
        let next = || Pairing::new(plan).next(PairId(scoreboard.settled()), scoreboard.results());
        Self::of_result(scoreboard).or_else(|| Self::of_schedule(next()))
    }

    /// Returns the end of a schedule whose next entry is `next`; `None` if pairs may follow.
    #[must_use]
    pub const fn of_schedule(next: ScheduleEntry) -> Option<Self> {
        match next {
            ScheduleEntry::Done => Some(Self::OutOfPairs),
            ScheduleEntry::OutOfOpenings => Some(Self::OutOfOpenings),
            ScheduleEntry::Pair(_) | ScheduleEntry::Wait => None,
        }
    }
}

/// Follows a run. An implementation must not block for long, because the dispatcher waits for it.
/// Games do not.
pub trait Observer {
    /// Handles an event.
    fn observe(&mut self, event: RunEvent<'_>);
}

/// Outcome of a run.
#[derive(Debug)]
pub struct Finish {
    /// Final scoreboard.
    pub scoreboard: Scoreboard,
    /// Reason of the stop.
    pub reason: StopReason,
    /// Playing time; `None` of a run that nobody plays and whose last summary is missing or older
    /// than its games.
    pub time: Option<RunTime>,
}

/// Playing time of a run, without pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunTime {
    /// Time since the last process that counted pairs began or resumed the run.
    pub session: Duration,
    /// True if the journal held games before that process began.
    pub resumed: bool,
    /// True if the number of concurrent games changed in that process, so that the run's pace is
    /// not that of the plan's number.
    pub concurrency_changed: bool,
    /// Time of all processes; `None` if one was killed, because only a summary keeps its time.
    pub total: Option<Duration>,
}

impl RunTime {
    /// Time of a process that began or resumed a run, without the time before it.
    #[must_use]
    pub fn of_session(session: Duration, resumed: bool) -> Self {
        Self { session, resumed, concurrency_changed: false, total: (!resumed).then_some(session) }
    }

    /// The same after the time that the run's last summary has. A process that counted no pair
    /// leaves the session before it, in which the pairs were played.
    #[must_use]
    pub fn after(self, earlier: Self, has_counted: bool) -> Self {
        let total = earlier.total.map(|total| total.saturating_add(self.session));
        if self.resumed && !has_counted { Self { total, ..earlier } } else { Self { total, ..self } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_run_is_that_of_all_its_processes() {
        let time = |session, resumed, total: Option<u64>| RunTime {
            session: Duration::from_secs(session),
            resumed,
            concurrency_changed: false,
            total: total.map(Duration::from_secs),
        };
        let this = |seconds, resumed| RunTime::of_session(Duration::from_secs(seconds), resumed);
        assert_eq!([this(7, false), this(7, true)], [time(7, false, Some(7)), time(7, true, None)]);
        let first = this(700, false);
        assert_eq!(this(10, true).after(first, true), time(10, true, Some(710)));
        let changed = RunTime { concurrency_changed: true, ..first };
        assert!(!this(10, true).after(changed, true).concurrency_changed);
        assert!(this(10, true).after(changed, false).concurrency_changed);
        // It was stopped before its first game.
        assert_eq!(this(10, false).after(first, true), time(10, false, Some(710)));
        // Nothing was played, so the pairs have their session.
        assert_eq!(this(1, true).after(first, false), time(700, false, Some(701)));
        let killed = this(10, true);
        assert_eq!(this(5, true).after(killed, true), time(5, true, None));
        assert_eq!(this(5, true).after(killed, false), time(10, true, None));
    }
}
