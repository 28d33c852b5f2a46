//! Messages between the coordinator of a run and its workers: JSON, each with its version. A result
//! is one line of it and its games, packed. It is deflated if it is large, which it is by what
//! engines said.
//!
//! | subject | sender | reply |
//! | --- | --- | --- |
//! | `q.RUN.plan.WORKER` | worker, once; under a clock again with its speed | the plan's text |
//! | `q.RUN.take.WORKER` | worker, a slot at a time | [`Offer`] |
//! | `q.RUN.beat.WORKER` | worker, each [`BEAT`] and at the end of a pair | [`WireOrders`] |
//! | `q.RUN.live.WORKER` | worker, moves while somebody watches ([`super::live`]) | none |
//! | `q.RUN.ctl` | coordinator, when its orders change: empty | none; each worker beats |
//! | `q.RUN.res.WORKER` | worker, into the stream | none; the next [`WireOrders`] name them |

use std::borrow::Cow;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;

use flate2::Compression;
use flate2::bufread::{DeflateDecoder, DeflateEncoder};
use serde::{Deserialize, Serialize};

use super::logs::WireLog;
use super::sign::SignedPlan;
use crate::journal;
use crate::plan::Machine;
use crate::record::{ByColor, GameId, GameRecord, Leg, Opening, PairId, PlayerId};
use crate::schedule::worker::MAX_VOIDS;
use crate::tournament::events::{self, Failure, PairTask};

/// Version of the protocol. Coordinator and workers must have the same one.
pub(crate) const VERSION: u32 = 3;

/// Interval of a worker's signs of life.
pub(crate) const BEAT: Duration = Duration::from_secs(5);

/// Maximum size of an unpacked result in bytes: two games with all that engines said.
const MOST_RESULT: u64 = 64 << 20;

/// Size of a result, before it is packed, below which its games fit lines of a journal.
const SURELY_READABLE: usize = 2 << 20;

/// Maximum size of a result's message in bytes, with its headers.
pub(super) const MOST_MESSAGE: i32 = 8 << 20;

/// Maximum size of these headers.
const MOST_HEADERS: i32 = 4 << 10;

/// Most games of a pair: both, and their replays after void ones.
pub(super) const MOST_GAMES: u32 = 2 * (1 + MAX_VOIDS);

/// Maximum number of plies of a game. The rules end each game after fewer than 12,000.
const MOST_PLIES: usize = 1 << 14;

/// Maximum number of characters kept of a machine's description.
const MOST_NAME: usize = 100;

/// Request of the plan.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Hello {
    pub(crate) v: u32,
    pub(crate) worker: String,
    pub(crate) program: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<WireMachine>,
    /// True if another version of the program may coordinate.
    #[serde(default)]
    pub(crate) any_version: bool,
    /// Speed that the worker has measured; present in its second request of a run under a clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) speed: Option<WireSpeed>,
    /// True for a simulated worker.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) simulated: bool,
}

/// Speed of the plan's reference engine on a machine with every slot busy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WireSpeed {
    /// Nodes per second; `None` if the engine does not report them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) nps: Option<f64>,
    /// Factor of the times there, in millionths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) scale: Option<u32>,
}

/// A [`Machine`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct WireMachine {
    cpu: String,
    cores: usize,
    os: String,
}

impl From<Machine> for WireMachine {
    fn from(Machine { cpu, cores, os }: Machine) -> Self {
        Self { cpu, cores, os }
    }
}

impl From<WireMachine> for Machine {
    fn from(WireMachine { cpu, cores, os }: WireMachine) -> Self {
        let short = |text: String| text.chars().filter(|c| !c.is_control()).take(MOST_NAME).collect();
        Self { cpu: short(cpu), cores, os: short(os) }
    }
}

/// Answer to [`Hello`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Welcome {
    /// Text of the plan, for a worker of the coordinator's own machine.
    Plan(String),
    /// The plan with its author's signature, for every other worker.
    Signed(SignedPlan),
    /// The worker may play: its speed fits.
    Admitted,
    /// The worker cannot serve this run, with the reason.
    Refused(String),
}

/// Request of a slot for a pair.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Take {
    pub(crate) v: u32,
    pub(crate) worker: String,
    pub(crate) slot: u16,
    /// Leases that the worker has played and whose results it has sent, perhaps not yet read.
    pub(crate) sent: Vec<(u64, u64)>,
}

/// Answer to [`Take`].
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Offer {
    /// A pair, with the number of its lease.
    Pair {
        /// Number of the lease.
        attempt: u64,
        /// The pair.
        pair: Box<WirePair>,
    },
    /// No pair is available at present.
    Wait,
    /// The run is over for this worker.
    Over,
}

/// A [`PairTask`].
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WirePair {
    pair: u64,
    /// White and Black of each leg.
    sides: [[u16; 2]; 2],
    openings: [WireOpening; 2],
    /// Legs to play, from 0.
    legs: Vec<usize>,
    is_half: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    options: Option<Vec<Vec<(String, String)>>>,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireOpening {
    index: u64,
    fen: String,
    moves: Vec<String>,
}

/// Sign of life of a worker.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Heartbeat {
    pub(crate) v: u32,
    pub(crate) worker: String,
    /// Leases of the pairs in play: pair and attempt, as in the fields below.
    pub(crate) held: Vec<(u64, u64)>,
    /// Plies played of each pair of `held`, in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) progress: Vec<u64>,
    /// Leases whose results were sent and not yet named in [`WireOrders::written`].
    pub(crate) sent: Vec<(u64, u64)>,
    /// Leases that are given back, unplayed.
    pub(crate) back: Vec<(u64, u64)>,
    /// Messages for the user since the last answered beat.
    pub(crate) notes: Vec<Note>,
    /// Number of the first of them in its session; `None` if they are not numbered. A beat without
    /// an answer may have come, so those that were heard are dropped by their numbers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) first_note: Option<u64>,
    /// Standard error of engines since the last message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) logs: Vec<WireLog>,
    /// The machine, which the next coordinator of a run does not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<WireMachine>,
    /// Its speed, if that was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) speed: Option<WireSpeed>,
    /// True in the last beat of a worker.
    pub(crate) leaves: bool,
}

/// Event on a worker that is not a game.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Note {
    /// Message for the user, on one line.
    Text(String),
    /// An engine reported failures before the first move of a game.
    Complained {
        /// Number of the game.
        game: u64,
        /// Place of the player in the plan.
        player: u16,
        /// Lines that the engine printed.
        texts: Vec<String>,
    },
    /// The bench of a player's engine differs from the plan's; `None` if it has none there.
    Bench {
        /// Place of the player in the plan.
        player: u16,
        /// Count of nodes.
        nodes: Option<u64>,
    },
    /// An engine was found dead between two games.
    Exited {
        /// Place of the player in the plan.
        player: u16,
        /// Exit status in words.
        status: String,
    },
}

/// Answer to [`Heartbeat`].
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct WireOrders {
    /// 0: play on; 1: finish the pairs in play; 2: stop at once.
    pub(crate) stop: u8,
    pub(crate) paused: bool,
    /// True while somebody watches moves.
    #[serde(default)]
    pub(crate) moves: bool,
    /// Leases whose results are on the coordinator's disk, or will never be wanted.
    pub(crate) written: Vec<(u64, u64)>,
    /// Leases that the worker does not hold any more.
    pub(crate) void: Vec<(u64, u64)>,
}

impl WireOrders {
    pub(crate) const fn stop(&self) -> events::Stop {
        match self.stop {
            0 => events::Stop::No,
            1 => events::Stop::AfterGame,
            _ => events::Stop::Now,
        }
    }

    pub(crate) const fn level(stop: events::Stop) -> u8 {
        match stop {
            events::Stop::No => 0,
            events::Stop::AfterPair | events::Stop::AfterGame => 1,
            events::Stop::Now => 2,
        }
    }
}

/// First line of a result. Its games follow, void ones included.
#[derive(Debug, Serialize, Deserialize)]
struct WireResult {
    v: u32,
    worker: String,
    pair: u64,
    attempt: u64,
    failures: Vec<WireFailure>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    logs: Vec<WireLog>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    simulated: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct WireFailure {
    game: u64,
    player: u16,
    transcript: String,
    stderr: String,
    status: String,
}

/// Games of a pair, in the order in which they were played.
#[derive(Clone, Debug)]
pub(crate) struct PairGames {
    /// Session that played.
    pub(crate) worker: String,
    /// The pair.
    pub(crate) pair: PairId,
    /// Number of its lease.
    pub(crate) attempt: u64,
    /// Each game, with the evidence of a failure.
    pub(crate) games: Vec<(GameRecord, Option<Failure>)>,
    /// Standard error of engines since the last message.
    pub(super) logs: Vec<WireLog>,
    /// True if a simulated worker made the games up.
    pub(crate) is_simulated: bool,
}

/// Reason that a message could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WireError {
    /// The message is no JSON of the expected form.
    #[error("not understood: {0}")]
    Json(#[from] serde_json::Error),
    /// The message does not unpack.
    #[error("cannot be unpacked to at most {MOST_RESULT} bytes: {0}")]
    Packed(#[from] std::io::Error),
    /// Coordinator and worker speak different versions.
    #[error("version {found} of the protocol, this program has {VERSION}; both need the same version of quintain")]
    Version {
        /// Version of the message.
        found: u32,
    },
    /// A value that cannot be.
    #[error("{0}")]
    Value(String),
}

/// Writes a message.
pub(crate) fn to_bytes<T: Serialize>(message: &T) -> Vec<u8> {
    // Plain data always serialises into memory.
    serde_json::to_vec(message).unwrap_or_default()
}

/// First byte of a result that is as it was written, and of one that is deflated. Four bytes with
/// the CRC-32 of the result as it was written follow.
const PLAIN: u8 = 0;
const DEFLATED: u8 = 1;

/// Size in bytes below which deflating a result costs more than it saves. Two long games are
/// smaller, unless what their engines said is recorded.
const LEAST_DEFLATED: usize = 64 << 10;

/// Bytes of a result's message.
pub(super) fn packed(result: &[u8]) -> Vec<u8> {
    let is_plain = result.len() < LEAST_DEFLATED;
    let mut packed = Vec::with_capacity(if is_plain { HEAD + result.len() } else { 0 });
    packed.push(if is_plain { PLAIN } else { DEFLATED });
    packed.extend_from_slice(&crc32fast::hash(result).to_le_bytes());
    if is_plain {
        packed.extend_from_slice(result);
    } else {
        // Reading from memory does not fail.
        let _ = DeflateEncoder::new(result, Compression::fast()).read_to_end(&mut packed);
    }
    packed
}

/// Number of bytes before a result.
const HEAD: usize = 5;

/// Bytes of a result as it was written.
fn unpacked(bytes: &[u8]) -> std::io::Result<Cow<'_, [u8]>> {
    let damaged = std::io::Error::other;
    let (&[kind, ref crc @ ..], rest) = bytes.split_first_chunk::<HEAD>().ok_or_else(|| damaged("it is cut off"))?;
    let result = match kind {
        PLAIN => Cow::Borrowed(rest),
        DEFLATED => {
            let mut result = Vec::with_capacity(4 * rest.len());
            DeflateDecoder::new(rest).take(MOST_RESULT).read_to_end(&mut result)?;
            Cow::Owned(result)
        }
        _ => return Err(damaged("neither plain nor deflated")),
    };
    if crc32fast::hash(&result).to_le_bytes() != *crc {
        return Err(damaged("the checksum does not match"));
    }
    Ok(result)
}

/// Reads a message.
///
/// # Errors
/// Returns an error for other JSON.
pub(crate) fn from_bytes<T: for<'a> Deserialize<'a>>(bytes: &[u8]) -> Result<T, WireError> {
    Ok(serde_json::from_slice(bytes)?)
}

impl WirePair {
    pub(crate) const fn id(&self) -> PairId {
        PairId(self.pair)
    }

    pub(crate) fn new(task: &PairTask) -> Self {
        Self {
            pair: task.pair.0,
            sides: task.sides.map(|sides| [sides.white.0, sides.black.0]),
            openings: [0, 1].map(|leg| {
                let Opening { index, fen, moves } = &task.openings[leg];
                WireOpening { index: *index, fen: fen.clone(), moves: moves.clone() }
            }),
            legs: task.legs.iter().map(|leg| leg.index()).collect(),
            is_half: task.all_legs.len() < 2,
            options: task.options.as_ref().map(|options| options.iter().cloned().collect()),
        }
    }

    /// Returns the task of a run with this number of `players`.
    ///
    /// # Errors
    /// Returns an error if the run has no such players or legs.
    pub(crate) fn task(self, players: usize) -> Result<PairTask, WireError> {
        let all_legs: &'static [Leg] = if self.is_half { &[Leg::First] } else { &Leg::BOTH };
        let legs = self.legs.iter().map(|leg| all_legs.get(*leg).copied()).collect::<Option<Vec<_>>>();
        let legs = legs.filter(|legs| !legs.is_empty());
        let legs = legs.ok_or_else(|| WireError::Value(format!("pair {}: no such legs", self.pair)))?;
        if self.sides.as_flattened().iter().any(|player| usize::from(*player) >= players) {
            return Err(WireError::Value(format!("pair {}: the plan has no such player", self.pair)));
        }
        let texts = self.openings.iter().flat_map(|opening| opening.moves.iter().chain([&opening.fen]));
        let values = self.options.iter().flatten().flatten().flat_map(|(name, value)| [name, value]);
        if texts.chain(values).any(|text| text.contains(char::is_control)) {
            return Err(WireError::Value(format!("pair {}: a text with control characters", self.pair)));
        }
        let options = self.options.map(|options| <[_; 2]>::try_from(options).map(Arc::new)).transpose();
        let options = options.map_err(|_| WireError::Value(format!("pair {}: options of two sides", self.pair)))?;
        Ok(PairTask {
            pair: PairId(self.pair),
            sides: self.sides.map(|[white, black]| ByColor { white: PlayerId(white), black: PlayerId(black) }),
            openings: self.openings.map(|WireOpening { index, fen, moves }| Opening { index, fen, moves }),
            legs,
            all_legs,
            options,
        })
    }
}

impl PairGames {
    /// Packs the result into the bytes of a message. What the engines said is left out if it is
    /// longer than a message or a journal takes.
    pub(crate) fn pack(&self) -> Vec<u8> {
        if let Some(packed) = self.packed_if_short() {
            return packed;
        }
        // A sign of life sends the logs again.
        let mut bare = Self { logs: Vec::new(), ..self.clone() };
        if let Some(packed) = bare.packed_if_short() {
            return packed;
        }
        bare.games = bare.games.into_iter().map(|(game, failure)| (journal::without_text(game), failure)).collect();
        packed(&bare.result())
    }

    /// The packed result; `None` if it is longer than a message or a journal takes.
    fn packed_if_short(&self) -> Option<Vec<u8>> {
        let result = self.result();
        // A line of a journal is several times as long as these bytes.
        let is_readable = || self.games.iter().all(|(game, _)| journal::is_readable(game));
        if result.len() >= SURELY_READABLE && (result.len() as u64 > MOST_RESULT || !is_readable()) {
            return None;
        }
        let packed = packed(&result);
        i32::try_from(packed.len()).is_ok_and(|length| length <= MOST_MESSAGE - MOST_HEADERS).then_some(packed)
    }

    /// Bytes of the result before they are packed.
    fn result(&self) -> Vec<u8> {
        let failures = self.games.iter().filter_map(|(_, failure)| failure.as_ref());
        let message = WireResult {
            v: VERSION,
            worker: self.worker.clone(),
            pair: self.pair.0,
            attempt: self.attempt,
            failures: failures
                .map(|failure| WireFailure {
                    game: failure.game.number(),
                    player: failure.player.0,
                    transcript: failure.transcript.clone(),
                    stderr: failure.stderr.clone(),
                    status: failure.status.clone(),
                })
                .collect(),
            logs: self.logs.clone(),
            simulated: self.is_simulated,
        };
        let mut result = to_bytes(&message);
        result.push(b'\n');
        self.games.iter().for_each(|(game, _)| journal::pack(game, &mut result));
        result
    }

    /// Unpacks a message.
    ///
    /// # Errors
    /// Returns an error if the message is damaged, of another version, or holds games of another
    /// pair.
    pub(crate) fn unpack(bytes: &[u8]) -> Result<Self, WireError> {
        let result = unpacked(bytes)?;
        let end = result.iter().position(|byte| *byte == b'\n').unwrap_or(result.len());
        let (head, mut rest) = result.split_at(end);
        let WireResult { v, worker, pair, attempt, failures, logs, simulated } = from_bytes(head)?;
        if v != VERSION {
            return Err(WireError::Version { found: v });
        }
        let mut failures: Vec<_> = failures.into_iter().map(failure).collect::<Result<_, _>>()?;
        let mut games = Vec::new();
        rest = rest.strip_prefix(b"\n").unwrap_or(rest);
        while !rest.is_empty() {
            let fault = |what: String| WireError::Value(format!("pair {pair}: {what}"));
            if games.len() == MOST_GAMES as usize {
                return Err(fault(format!("more than {MOST_GAMES} games")));
            }
            let game = journal::unpack(&mut rest, MOST_PLIES);
            let game = game.ok_or_else(|| fault("a damaged game".to_owned()))?;
            if game.id.pair.0 != pair {
                return Err(fault(format!("a game of pair {}", game.id.pair.0)));
            }
            let of_game = failures.iter().position(|failure| failure.game == game.id);
            games.push((game, of_game.map(|place| failures.remove(place))));
        }
        Ok(Self { worker, pair: PairId(pair), attempt, games, logs, is_simulated: simulated })
    }
}

fn failure(failure: WireFailure) -> Result<Failure, WireError> {
    let WireFailure { game, player, transcript, stderr, status } = failure;
    let game = GameId::from_number(game).ok_or_else(|| WireError::Value("game numbers begin at 1".to_owned()))?;
    Ok(Failure { game, player: PlayerId(player), transcript, stderr, status })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opening(index: u64) -> Opening {
        Opening { index, fen: "8/8/8/8/8/8/8/K6k w - - 0 1".to_owned(), moves: vec!["a1a2".to_owned()] }
    }

    fn task(is_half: bool, options: bool) -> PairTask {
        let sides = ByColor { white: PlayerId(0), black: PlayerId(1) };
        let own = |value: &str| vec![("Alpha".to_owned(), value.to_owned())];
        PairTask {
            pair: PairId(12),
            sides: [sides, ByColor { white: PlayerId(1), black: PlayerId(0) }],
            openings: [opening(3), opening(4)],
            legs: if is_half { vec![Leg::First] } else { vec![Leg::Second] },
            all_legs: if is_half { &[Leg::First] } else { &Leg::BOTH },
            options: options.then(|| Arc::new([own("1"), own("-2")])),
        }
    }

    #[test]
    fn a_task_travels_whole() {
        for (is_half, options) in [(false, false), (true, false), (false, true)] {
            let sent = task(is_half, options);
            let read: WirePair = from_bytes(&to_bytes(&WirePair::new(&sent))).unwrap();
            assert_eq!(read.task(2).unwrap(), sent);
        }
    }

    #[test]
    fn a_task_that_cannot_be_is_refused() {
        let good = String::from_utf8(to_bytes(&WirePair::new(&task(false, true)))).unwrap();
        let cases = [
            ("\"legs\":[1]", "\"legs\":[]", "no such legs"),
            ("\"legs\":[1]", "\"legs\":[2]", "no such legs"),
            ("\"sides\":[[0,1]", "\"sides\":[[0,2]", "no such player"),
            ("[[\"Alpha\",\"1\"]],", "", "options of two sides"),
            ("\"a1a2\"", "\"a1a2\\nquit\"", "control characters"),
            ("[\"Alpha\",\"1\"]", "[\"Alpha\",\"1\\nquit\"]", "control characters"),
        ];
        for (from, to, fault) in cases {
            assert!(good.contains(from), "{good}");
            let read: WirePair = from_bytes(good.replace(from, to).as_bytes()).unwrap();
            let error = read.task(2).unwrap_err().to_string();
            assert!(error.contains(fault), "{to}: {error}");
        }
    }

    #[test]
    fn a_result_of_noise_or_of_another_version_is_refused() {
        for noise in [&b"noise"[..], b"", &[PLAIN], &[DEFLATED], b"\x01noise", b"\x00noise"] {
            assert!(PairGames::unpack(noise).is_err(), "{noise:?}");
        }
        for size in [0, LEAST_DEFLATED] {
            let whole = packed(&vec![b'x'; size]);
            assert_eq!(unpacked(&whole).unwrap().len(), size);
            for place in [1, 4] {
                let mut changed = whole.clone();
                changed[place] ^= 1;
                assert!(unpacked(&changed).unwrap_err().to_string().contains("checksum"), "{size} {place}");
            }
        }
        for spaces in [0, 2 * LEAST_DEFLATED] {
            let result = |v: u32, games: &str| {
                let head = format!(r#"{{"v":{v},"worker":"a","pair":1,"attempt":1,"failures":[]}}"#);
                packed(format!("{head}{}\n{games}", " ".repeat(spaces)).as_bytes())
            };
            assert!(PairGames::unpack(&result(VERSION, "")).unwrap().games.is_empty());
            let error = PairGames::unpack(&result(VERSION + 1, "")).unwrap_err().to_string();
            assert!(error.contains(&format!("version {} of the protocol", VERSION + 1)), "{error}");
            for games in ["{}", "{}\n", "\n"] {
                let error = PairGames::unpack(&result(VERSION, games)).unwrap_err().to_string();
                assert!(error.contains("a damaged game"), "{error}");
            }
        }
    }

    /// A game whose engines said more than a message takes arrives without that.
    #[test]
    fn text_that_is_too_long_does_not_keep_a_result() {
        // Digits that hardly shrink.
        let mut state = 1_u64;
        let mut noise = |length: usize| -> String {
            let mut letter = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(b'!' + u8::try_from(state >> 58).unwrap_or_default())
            };
            (0..length).map(|_| letter()).collect()
        };
        let most = usize::try_from(MOST_MESSAGE).unwrap();
        for (length, is_kept) in [(most / 2, true), (2 * most, false)] {
            let mut game = journal::tests::game(2);
            game.moves[0].said.lines = vec![noise(length)];
            let pair = PairId(game.id.pair.0);
            let (worker, logs) = ("a-1".to_owned(), Vec::new());
            let games = vec![(game.clone(), None)];
            let sent = PairGames { worker, pair, attempt: 1, games, logs, is_simulated: false };
            let packed = sent.pack();
            assert!(packed.len() < most, "{length}");
            let arrived = PairGames::unpack(&packed).unwrap().games;
            let expected = if is_kept { game } else { journal::without_text(game) };
            assert_eq!(arrived, [(expected, None)], "{length}");
        }
    }
}
