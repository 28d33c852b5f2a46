//! Serde types and line format of the journal, version 1.
//!
//! The line of a void game is version 2, so that older readers stop there. The domain types stay
//! free of serde.

use std::borrow::Cow;
use std::io::Write;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::record::{
    ByColor, Ending, EngineId, GameId, GameRecord, MoveLoad, MoveRecord, Opening, Outcome, Overstep, PlayerId, PvFault,
    RecordedOutput, Score, SearchInfo, SinceFlag, Termination, TimeScale, micros,
};

/// Version of the newest kind of line. It rises if an older reader would misread a line.
pub(super) const VERSION: u32 = 2;

/// Version of every line but those of void games.
const FIRST_VERSION: u32 = 1;

/// A parsed line.
pub(super) enum JournalLine {
    Header(super::Header),
    Game(Box<GameRecord>),
    /// Line of a kind that this version does not know and skips.
    Other,
}

/// Reason for which a line could not be read.
pub(super) enum LineError {
    Newer(u32),
    Bad(String),
}

#[derive(Serialize, Deserialize)]
struct Envelope {
    v: u32,
    kind: String,
}

#[derive(Serialize, Deserialize)]
struct HeaderV1 {
    v: u32,
    kind: String,
    plan_sha256: String,
    program: String,
}

/// A game. `game` is the number that users see, times are in microseconds, and players are
/// positions in the plan's list.
#[derive(Serialize, Deserialize)]
struct GameV1<'a> {
    v: u32,
    kind: String,
    game: u64,
    white: u16,
    black: u16,
    result: String,
    termination: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    detail: String,
    started_us: u64,
    took_us: u64,
    opening: OpeningV1,
    #[serde(borrow)]
    moves: Vec<MoveV1<'a>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    overstep: Option<OverstepV1>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    white_engine: Option<EngineV1>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    black_engine: Option<EngineV1>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    values: Option<ValuesV1>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    worker: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    scale_millionths: Option<u32>,
}

/// Values of tuned options, in the order of the plan.
#[derive(Serialize, Deserialize)]
struct ValuesV1 {
    white: Vec<String>,
    black: Vec<String>,
}

/// Name and author that an engine reported.
#[derive(Serialize, Deserialize)]
struct EngineV1 {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    author: String,
}

/// Evidence about a loss on time, in microseconds.
#[derive(Serialize, Deserialize)]
struct OverstepV1 {
    allowed_us: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answered_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    engine_ran_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    engine_waited_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    runner_waited_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stolen_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stopped_us: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since_flag: Option<SinceFlagV1>,
}

/// CPU use and waits after the mover's clock had reached zero, in microseconds.
#[derive(Serialize, Deserialize)]
struct SinceFlagV1 {
    elapsed_us: u64,
    ran_us: u64,
    waited_us: u64,
    runner_waited_us: u64,
    stolen_us: u64,
}

#[derive(Serialize, Deserialize)]
struct OpeningV1 {
    index: u64,
    fen: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    moves: String,
}

/// A ply, with short keys because a game has many. In order: move, time charged (us), time left
/// (us), score, depth, seldepth, nodes, nps, time that the engine reported (us), hashfull, tbhits.
/// Then the wait of engine and runner for a CPU (us), and the fault of the PV. `var` and `said`
/// hold the PV and output lines, if the plan records them; `var` also holds any faulty PV.
#[derive(Serialize, Deserialize)]
struct MoveV1<'a> {
    #[serde(borrow)]
    m: Cow<'a, str>,
    us: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    d: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sd: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    t: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hf: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tb: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    w: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pv: Option<Cow<'static, str>>,
    #[serde(default, borrow, skip_serializing_if = "str::is_empty")]
    var: Cow<'a, str>,
    #[serde(default, skip_serializing_if = "<[String]>::is_empty")]
    said: Cow<'a, [String]>,
}

/// Text before and after the CRC-32 of a line, which is its last key, in eight hex digits.
const CRC_HEAD: &[u8] = b",\"crc\":\"";
const CRC_TAIL: &[u8] = b"\"}\n";
const CRC_BYTES: usize = CRC_HEAD.len() + 8 + CRC_TAIL.len();

/// Replaces `line` by the value's line.
pub(super) fn finish_line<T: Serialize>(value: &T, line: &mut Vec<u8>) {
    line.clear();
    serde_json::to_writer(&mut *line, value).expect("plain data always serialises into memory");
    // Replaces the closing brace by the checksum key, so that the line stays a JSON object.
    line.pop();
    let crc = crc32fast::hash(line);
    line.extend_from_slice(CRC_HEAD);
    write!(line, "{crc:08x}").expect("writing into memory");
    line.extend_from_slice(CRC_TAIL);
}

/// Replaces `line` by the header's line.
pub(super) fn write_header(header: &super::Header, line: &mut Vec<u8>) {
    let header = HeaderV1 {
        v: FIRST_VERSION,
        kind: "run".to_owned(),
        plan_sha256: header.plan_sha256.clone(),
        program: header.program.clone(),
    };
    finish_line(&header, line);
}

/// Replaces `line` by a game's line.
pub(super) fn write_game(game: &GameRecord, line: &mut Vec<u8>) {
    finish_line(&game_to_disk(game, game.moves.iter().map(move_to_disk).collect()), line);
}

/// Replaces `line` by a game's line with none of its moves.
pub(super) fn write_game_without_moves(game: &GameRecord, line: &mut Vec<u8>) {
    finish_line(&game_to_disk(game, Vec::new()), line);
}

fn game_to_disk<'a>(game: &GameRecord, moves: Vec<MoveV1<'a>>) -> GameV1<'a> {
    GameV1 {
        v: if game.is_void { VERSION } else { FIRST_VERSION },
        kind: if game.is_void { "void" } else { "game" }.to_owned(),
        game: game.id.number(),
        white: game.players.white.0,
        black: game.players.black.0,
        result: game.ending.outcome.token().to_owned(),
        termination: game.ending.termination.name().to_owned(),
        detail: game.ending.detail.clone(),
        started_us: micros(game.started),
        took_us: micros(game.took),
        opening: OpeningV1 {
            index: game.opening.index,
            fen: game.opening.fen.clone(),
            moves: game.opening.moves.join(" "),
        },
        moves,
        overstep: game.overstep.as_ref().map(|overstep| OverstepV1 {
            allowed_us: micros(overstep.allowed),
            answered_us: overstep.answered.map(micros),
            engine_ran_us: overstep.load.engine_ran.map(micros),
            engine_waited_us: overstep.load.engine_waited.map(micros),
            runner_waited_us: overstep.load.runner_waited.map(micros),
            stolen_us: overstep.load.stolen.map(micros),
            stopped_us: overstep.load.stopped.map(micros),
            since_flag: overstep.load.since_flag.map(|since| SinceFlagV1 {
                elapsed_us: micros(since.elapsed),
                ran_us: micros(since.ran),
                waited_us: micros(since.waited),
                runner_waited_us: micros(since.runner_waited),
                stolen_us: micros(since.stolen),
            }),
        }),
        white_engine: engine_to_disk(&game.engines.white),
        black_engine: engine_to_disk(&game.engines.black),
        values: game.values.clone().map(|ByColor { white, black }| ValuesV1 { white, black }),
        worker: game.worker.clone(),
        scale_millionths: game.scale.map(TimeScale::millionths),
    }
}

fn engine_to_disk(engine: &EngineId) -> Option<EngineV1> {
    let EngineId { name, author } = engine.clone();
    (*engine != EngineId::default()).then_some(EngineV1 { name, author })
}

fn engine_from_disk(engine: Option<EngineV1>) -> EngineId {
    engine.map_or_else(EngineId::default, |EngineV1 { name, author }| EngineId { name, author })
}

fn move_to_disk(ply: &MoveRecord) -> MoveV1<'_> {
    let (cp, mate) = ply.info.score.map(Score::parts).unwrap_or_default();
    MoveV1 {
        m: Cow::Borrowed(&ply.uci),
        us: micros(ply.elapsed),
        left: ply.left.map(micros),
        cp,
        mate,
        d: ply.info.depth,
        sd: ply.info.seldepth,
        n: ply.info.nodes,
        nps: ply.info.nps,
        t: ply.info.time.map(micros),
        hf: ply.info.hashfull,
        tb: ply.info.tbhits,
        w: ply.waited.map(micros),
        pv: ply.info.pv_fault.map(|fault| Cow::Borrowed(fault.name())),
        var: Cow::Borrowed(&ply.said.pv),
        said: Cow::Borrowed(&ply.said.lines),
    }
}

fn move_from_disk(ply: MoveV1<'_>) -> MoveRecord {
    let score = Score::of_parts(ply.cp, ply.mate);
    MoveRecord {
        uci: ply.m.into_owned(),
        elapsed: Duration::from_micros(ply.us),
        left: ply.left.map(Duration::from_micros),
        info: SearchInfo {
            score,
            depth: ply.d,
            seldepth: ply.sd,
            nodes: ply.n,
            nps: ply.nps,
            time: ply.t.map(Duration::from_micros),
            hashfull: ply.hf,
            tbhits: ply.tb,
            // Ignores a fault that only a later program knows, instead of refusing the game.
            pv_fault: ply.pv.as_deref().and_then(PvFault::from_name),
        },
        waited: ply.w.map(Duration::from_micros),
        said: RecordedOutput { pv: ply.var.into_owned(), lines: ply.said.into_owned() },
    }
}

/// Openings of the game lines that this program writes, by version and kind.
const GAME_HEADS: [&[u8]; 2] = [b"{\"v\":1,\"kind\":\"game\",", b"{\"v\":2,\"kind\":\"void\","];

/// Parses one line, its line feed included.
pub(super) fn parse_line(line: &[u8]) -> Result<JournalLine, LineError> {
    if !has_crc(line) {
        return Err(LineError::Bad("the checksum does not match".to_owned()));
    }
    // Skips the envelope for a known opening, which saves a second pass over the line.
    if GAME_HEADS.iter().any(|head| line.starts_with(head)) {
        return game(line);
    }
    let envelope: Envelope = parsed(line)?;
    if envelope.v > VERSION {
        return Err(LineError::Newer(envelope.v));
    }
    match envelope.kind.as_str() {
        "run" => {
            let header: HeaderV1 = parsed(line)?;
            Ok(JournalLine::Header(super::Header { plan_sha256: header.plan_sha256, program: header.program }))
        }
        "game" | "void" => game(line),
        _ => Ok(JournalLine::Other),
    }
}

/// Keys of a line. The checksum is one more key, which is ignored.
fn parsed<'a, T: Deserialize<'a>>(line: &'a [u8]) -> Result<T, LineError> {
    serde_json::from_slice(line).map_err(|error| LineError::Bad(error.to_string()))
}

fn game(line: &[u8]) -> Result<JournalLine, LineError> {
    Ok(JournalLine::Game(Box::new(game_from_disk(parsed(line)?).map_err(LineError::Bad)?)))
}

/// True if the line ends with the checksum of the bytes before it.
fn has_crc(line: &[u8]) -> bool {
    let body = line.len().checked_sub(CRC_BYTES).and_then(|at| line.get(..at));
    body.is_some_and(|body| stated_crc(line) == Some(crc32fast::hash(body)))
}

/// Checksum that a line states.
pub(super) fn stated_crc(line: &[u8]) -> Option<u32> {
    let crc = line.get(line.len().checked_sub(CRC_BYTES)?..)?;
    let digits = crc.strip_prefix(CRC_HEAD)?.strip_suffix(CRC_TAIL)?;
    u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

fn game_from_disk(game: GameV1<'_>) -> Result<GameRecord, String> {
    let is_void = game.kind == "void";
    let id = GameId::from_number(game.game).ok_or("game numbers begin at 1")?;
    let outcome = Outcome::from_token(&game.result).ok_or_else(|| format!("unknown result `{}`", game.result))?;
    let termination = Termination::from_name(&game.termination)
        .ok_or_else(|| format!("unknown termination `{}`", game.termination))?;
    Ok(GameRecord {
        id,
        players: ByColor { white: PlayerId(game.white), black: PlayerId(game.black) },
        opening: Opening {
            index: game.opening.index,
            fen: game.opening.fen,
            moves: game.opening.moves.split_ascii_whitespace().map(str::to_owned).collect(),
        },
        moves: game.moves.into_iter().map(move_from_disk).collect(),
        ending: Ending { outcome, termination, detail: game.detail },
        started: Duration::from_micros(game.started_us),
        took: Duration::from_micros(game.took_us),
        overstep: game.overstep.map(overstep_from_disk),
        engines: ByColor { white: engine_from_disk(game.white_engine), black: engine_from_disk(game.black_engine) },
        is_void,
        values: game.values.map(|ValuesV1 { white, black }| ByColor { white, black }),
        worker: game.worker,
        scale: game.scale_millionths.and_then(TimeScale::from_millionths),
    })
}

fn overstep_from_disk(overstep: OverstepV1) -> Overstep {
    let time = |us: Option<u64>| us.map(Duration::from_micros);
    Overstep {
        allowed: Duration::from_micros(overstep.allowed_us),
        answered: time(overstep.answered_us),
        load: MoveLoad {
            engine_ran: time(overstep.engine_ran_us),
            engine_waited: time(overstep.engine_waited_us),
            runner_waited: time(overstep.runner_waited_us),
            stolen: time(overstep.stolen_us),
            stopped: time(overstep.stopped_us),
            since_flag: overstep.since_flag.map(|since| SinceFlag {
                elapsed: Duration::from_micros(since.elapsed_us),
                ran: Duration::from_micros(since.ran_us),
                waited: Duration::from_micros(since.waited_us),
                runner_waited: Duration::from_micros(since.runner_waited_us),
                stolen: Duration::from_micros(since.stolen_us),
            }),
        },
    }
}
