//! The lines on the socket, version 1: their own types, apart from the run's.

use serde::{Deserialize, Serialize};

use crate::report::console::{Bar, View};
use crate::report::tune;
use crate::report::workers::WorkerRow;
use crate::stats::estimates::Estimates;
use crate::tournament::events::{Phase, RunCommand, Status};
use crate::tune::auto::Auto;
use crate::tune::course::Course;

/// Raised whenever an older client would misread a line.
pub const VERSION: u32 = 1;

/// Parameters told of in [`TuningState::moved`].
const MOST_MOVED: usize = 5;

/// Message from a client: one JSON object a line, such as `{"cmd":"concurrency","games":4}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "cmd", rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClientMessage {
    /// Ask for the run's status.
    Status,
    /// Finish the running games and start no others.
    Pause,
    /// Continue after a pause.
    Resume,
    /// Stop like one Ctrl-C.
    Stop,
    /// Stop after the started pairs.
    StopAfterPairs,
    /// Play this many games at once.
    Concurrency {
        /// At least 1.
        games: u16,
    },
    /// List the workers in other processes.
    Workers,
    /// Play no more pairs on a worker.
    DropWorker {
        /// Its name.
        name: String,
    },
    /// Send the run's events until it ends.
    Watch {
        /// Include the games being played and their moves.
        #[serde(default, skip_serializing_if = "is_false")]
        moves: bool,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

impl ClientMessage {
    /// The command for the run; `None` for what the server answers: `watch` and `workers`.
    #[must_use]
    pub fn command(self) -> Option<RunCommand> {
        match self {
            Self::Status => Some(RunCommand::Status),
            Self::Pause => Some(RunCommand::Pause),
            Self::Resume => Some(RunCommand::Resume),
            Self::Stop => Some(RunCommand::Stop),
            Self::StopAfterPairs => Some(RunCommand::StopAfterPairs),
            Self::Concurrency { games } => Some(RunCommand::Concurrency(games)),
            Self::DropWorker { name } => Some(RunCommand::DropWorker(name)),
            Self::Workers | Self::Watch { .. } => None,
        }
    }
}

/// Message from the run: one JSON object a line, distinguished by `event`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum ServerMessage {
    /// The answer to a command: the run's status after it.
    Status {
        /// [`VERSION`].
        v: u32,
        /// `running`, `paused` or `stopping`.
        phase: String,
        /// Concurrent games, as last set.
        concurrency: u16,
        /// Games being played now.
        playing: u16,
    },
    /// A command that failed.
    Error {
        /// The reason, in one line.
        error: String,
    },
    /// The workers in other processes, by name.
    Workers {
        /// [`VERSION`].
        v: u32,
        /// All of them.
        workers: Vec<WorkerRow>,
    },
    /// The state of the run, about once a second.
    Progress(Box<RunProgress>),
    /// An event of the run.
    Line {
        /// The event in words.
        text: String,
    },
    /// A game that is being played, or is over; only for clients that watch moves.
    Game(Box<GameMessage>),
    /// A ply of a game that was announced; only for clients that watch moves.
    Ply(Box<PlyMessage>),
    /// The run is over; no line follows.
    End {
        /// The exit code of the run's process.
        exit: u8,
        /// The contents of `summary.json`.
        summary: serde_json::Value,
    },
    /// A kind of line that this version does not know and may skip.
    #[serde(other)]
    Other,
}

/// A game on its board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameMessage {
    /// [`VERSION`].
    pub v: u32,
    /// The user's number of the game: 1 and 2 are the first pair's.
    pub game: u64,
    /// White's name in the plan.
    pub white: String,
    /// Black's.
    pub black: String,
    /// True if castling is written as the king taking its own rook.
    pub chess960: bool,
    /// The position before the opening's moves.
    pub fen: String,
    /// The opening's moves, in UCI notation.
    pub opening: Vec<String>,
    /// Milliseconds on White's clock at first; null without a clock.
    pub white_ms: Option<u64>,
    /// Milliseconds on Black's clock at first; null without a clock.
    pub black_ms: Option<u64>,
    /// `1-0`, `0-1` or `1/2-1/2`; null while it is played.
    pub result: Option<String>,
    /// Reason for the end, as in the journal; null while it is played.
    pub termination: Option<String>,
}

/// A ply after the opening.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlyMessage {
    /// The user's number of the game.
    pub game: u64,
    /// From 1, the opening not counted.
    pub ply: u64,
    /// The move in UCI notation.
    #[serde(rename = "move")]
    pub uci: String,
    /// Milliseconds on the mover's clock after it; null without a clock.
    pub clock_ms: Option<u64>,
    /// Centipawns from the mover's point of view; null for a mate, or if the engine gave no score.
    pub cp: Option<i32>,
    /// Mate in this many moves by the mover; negative: by the opponent.
    pub mate: Option<i32>,
    /// Plies searched.
    pub depth: Option<u32>,
    /// Milliseconds since it was played, approximately.
    pub ago_ms: u64,
}

/// State of a run, from the view of `new`; 95 % intervals. Null if not known yet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunProgress {
    /// [`VERSION`].
    pub v: u32,
    /// Pairs that count.
    pub pairs: u64,
    /// Pairs of the first player against the second by points: LL, LD, DD and WL, WD, WW; of a
    /// tuning, those of its validation.
    pub ptnml: [u64; 5],
    /// Estimates, under their own keys; a run of an older version has some of them.
    #[serde(flatten)]
    pub estimates: Estimates,
    /// Figures of a tuning; absent if the run is not a tuning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tune: Option<TuningState>,
    /// The first workers in other processes, by name; absent if the run has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub workers: Vec<WorkerRow>,
    /// Pairs a minute since the process began.
    pub pairs_per_minute: Option<f64>,
    /// Seconds since the process began.
    pub seconds: f64,
    /// The lines of the run's own screen.
    pub shown: LiveLines,
}

/// Progress of a tuning. Null if the method does not report it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuningState {
    /// `calibrating`, `tuning` or `validating`.
    pub phase: String,
    /// Elo that a parameter loses on average at one step. Null until games have measured it.
    pub step_loss: Option<f64>,
    /// Perturbation of the next pairs, in steps.
    pub perturbation: Option<f64>,
    /// Validation pairs by the points of the result so far.
    pub validation: [u64; 5],
    /// Parameters that moved most, the first the furthest, with their distance in steps.
    pub moved: Vec<(String, f64)>,
}

/// The lines of the live view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveLines {
    /// The LLR between its bounds, 0 to 1; null without a test.
    pub fraction: Option<f64>,
    /// The LLR and its bounds; null without a test.
    pub llr: Option<String>,
    /// The lines below the bar.
    pub lines: Vec<String>,
    /// Its main figures, in one line.
    pub plain: String,
}

impl TuningState {
    /// State of a tuning.
    #[must_use]
    pub fn of(course: &Course) -> Self {
        let run = course.tuning().as_auto();
        Self {
            phase: tune::phase(course.purpose()).to_owned(),
            step_loss: run.and_then(Auto::measured_loss),
            perturbation: run.map(Auto::perturbation),
            validation: course.validation().counts().0,
            moved: tune::live_moves(course, MOST_MOVED),
        }
    }
}

impl From<View> for LiveLines {
    fn from(view: View) -> Self {
        let View { bar, lines, plain } = view;
        let (fraction, llr) = bar.map(|bar| (bar.fraction, bar.llr)).unzip();
        Self { fraction, llr, lines, plain }
    }
}

impl From<LiveLines> for View {
    fn from(shown: LiveLines) -> Self {
        let LiveLines { fraction, llr, lines, plain } = shown;
        Self { bar: fraction.zip(llr).map(|(fraction, llr)| Bar { fraction, llr }), lines, plain }
    }
}

impl From<Result<Status, String>> for ServerMessage {
    fn from(answer: Result<Status, String>) -> Self {
        match answer {
            Ok(Status { phase, concurrency, playing }) => {
                let phase = match phase {
                    Phase::Running => "running",
                    Phase::Paused => "paused",
                    Phase::Stopping => "stopping",
                };
                Self::Status { v: VERSION, phase: phase.to_owned(), concurrency, playing }
            }
            Err(error) => Self::Error { error },
        }
    }
}

/// A value as a line of JSON.
#[must_use]
pub fn line<T: Serialize>(value: &T) -> String {
    // Plain data always serialises; an empty line is ignored by clients.
    let mut line = serde_json::to_string(value).unwrap_or_default();
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::course::tests::{course, stopped};
    use crate::tune::run::Tuning;
    use crate::tune::spsa::{Constants, Schedule};

    #[test]
    fn commands_read_as_documented() {
        let cases = [
            (r#"{"cmd":"pause"}"#, Some(ClientMessage::Pause)),
            (r#"{"cmd":"resume"}"#, Some(ClientMessage::Resume)),
            (r#"{"cmd":"stop"}"#, Some(ClientMessage::Stop)),
            (r#"{"cmd":"stop-after-pairs"}"#, Some(ClientMessage::StopAfterPairs)),
            (r#"{"cmd":"status"}"#, Some(ClientMessage::Status)),
            (r#"{"cmd":"workers"}"#, Some(ClientMessage::Workers)),
            (r#"{"cmd":"drop-worker","name":"a"}"#, Some(ClientMessage::DropWorker { name: "a".to_owned() })),
            (r#"{"cmd":"watch"}"#, Some(ClientMessage::Watch { moves: false })),
            (r#"{"cmd":"watch","moves":true}"#, Some(ClientMessage::Watch { moves: true })),
            (r#"{"cmd":"watch","moves":1}"#, None),
            (r#"{"cmd":"concurrency","games":4}"#, Some(ClientMessage::Concurrency { games: 4 })),
            (r#"{"cmd":"concurrency","games":-1}"#, None),
            (r#"{"cmd":"concurrency"}"#, None),
            (r#"{"cmd":"reboot"}"#, None),
            ("pause", None),
        ];
        for (text, expected) in cases {
            assert_eq!(serde_json::from_str::<ClientMessage>(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn a_newer_kind_of_line_is_skipped() {
        assert_eq!(
            serde_json::from_str::<ServerMessage>(r#"{"event":"weather","sky":"blue"}"#).unwrap(),
            ServerMessage::Other
        );
    }

    #[test]
    fn a_tuning_says_its_phase_its_step_and_what_moved() {
        let (before, after) = (TuningState::of(&stopped(6, 6_400, 0)), TuningState::of(&course(6, 3_200)));
        assert_eq!((before.phase.as_str(), before.validation, before.step_loss), ("calibrating", [0; 5], None));
        assert!(before.moved.iter().all(|(_, moved)| *moved == 0.0), "{before:?}");
        assert_eq!(after.phase, "tuning");
        assert!(after.step_loss.is_some_and(|loss| loss > 0.0) && after.perturbation.is_some_and(|step| step > 0.0));
        assert!(after.validation.iter().sum::<u64>() > 0);
        assert!(after.moved.len() > 1 && after.moved.len() <= MOST_MOVED);
        assert!(after.moved.windows(2).all(|two| two[0].1.abs() >= two[1].1.abs()), "{after:?}");
        let text = line(&after);
        assert_eq!(serde_json::from_str::<TuningState>(&text).unwrap().validation, after.validation);
        // The keys are a contract, and nothing of the tuning pairs is an Elo.
        let keys: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
        let keys: Vec<&str> = keys.keys().map(String::as_str).collect();
        assert_eq!(keys, ["moved", "perturbation", "phase", "step_loss", "validation"]);
        // Another program's method measures no loss.
        let space = course(2, 0).tuning().space().clone();
        let schedule = Schedule::fishtest(&space, 100, Constants::default());
        let said = TuningState::of(&Course::new(Tuning::compat(space, schedule, 1, 16)));
        assert_eq!((said.phase.as_str(), said.step_loss, said.perturbation), ("tuning", None, None));
    }
}
