//! A game as a row of a table or a line of JSON.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use console::{Alignment, measure_text_width, pad_str};
use serde::Serialize;

use crate::cli::games::short;
use crate::plan::Plan;
use crate::record::{ByColor, Color, GameRecord, MoveRecord, Overstep, PlayerId, Score, micros};
use crate::text::printable;

/// Run that a game belongs to.
pub(super) struct ShownRun<'a> {
    pub(super) root: &'a Path,
    pub(super) plan: &'a Plan,
    /// Player whose results are shown; `None` if none was requested.
    pub(super) player: Option<PlayerId>,
}

impl ShownRun<'_> {
    /// Name of a player, or its number if the plan has no such player.
    pub(super) fn name(&self, id: PlayerId) -> String {
        let player = self.plan.players.get(usize::from(id.0));
        player.map_or_else(|| format!("player {}", id.0), |player| player.name.clone())
    }

    fn names(&self, game: &GameRecord) -> ByColor<String> {
        ByColor { white: self.name(game.players.white), black: self.name(game.players.black) }
    }
}

/// Table whose column widths follow from the plans, so that rows can be printed as they are read.
pub(super) struct GamesTable {
    /// Widths of the run column (`None` for a single run) and of a player column.
    run: Option<usize>,
    player: usize,
}

impl GamesTable {
    pub(super) fn new<'a>(runs: impl Iterator<Item = (&'a Path, &'a Plan)> + Clone) -> Self {
        let run = runs.clone().map(|(root, _)| measure_text_width(&short(root))).max();
        let names = runs.clone().flat_map(|(_, plan)| plan.players.iter().map(|player| player.name.as_str()));
        Self {
            run: run.filter(|_| runs.count() > 1).map(|width| width.max(3)),
            player: names.map(measure_text_width).max().unwrap_or(0).max(5),
        }
    }

    pub(super) fn head(&self) -> String {
        self.line("run", ["game", "pair", "white", "black", "result", "plies", "seconds", "opening", "termination"])
    }

    /// Row of a game; with `moves` followed by a line per move.
    pub(super) fn row(&self, shown: &ShownRun<'_>, game: &GameRecord, moves: bool) -> String {
        let names = shown.names(game);
        let mut why = game.ending.termination.name().to_owned();
        if !game.ending.detail.is_empty() {
            // Writing to a string does not fail.
            let _ = write!(why, " ({})", printable(&game.ending.detail));
        }
        if game.is_void {
            why.push_str(", void");
        }
        let mut text = self.line(
            &short(shown.root),
            [
                &game.id.number().to_string(),
                &round(game),
                &names.white,
                &names.black,
                game.ending.outcome.token(),
                &game.moves.len().to_string(),
                &format!("{:.2}", game.took.as_secs_f64()),
                &opening(game).to_string(),
                &why,
            ],
        );
        if moves {
            moves_table(game, &mut text);
        }
        text
    }

    fn line(&self, run: &str, [game, pair, white, black, result, plies, seconds, opening, why]: [&str; 9]) -> String {
        let mut line = match self.run {
            Some(width) => format!("{}  ", pad(run, width)),
            None => String::new(),
        };
        let (white, black) = (pad(white, self.player), pad(black, self.player));
        let _ = writeln!(
            line,
            "{game:>6}  {pair:>7}  {white}  {black}  {result:<7}  {plies:>5}  {seconds:>8}  {opening:>7}  {why}"
        );
        line
    }
}

/// Pads by display columns, not characters, because names may be in any script.
pub(super) fn pad(text: &str, width: usize) -> Cow<'_, str> {
    pad_str(text, width, Alignment::Left, None)
}

/// Pair and game within it, from 1, as in the PGN's `Round`.
fn round(game: &GameRecord) -> String {
    format!("{}.{}", game.id.pair.0.saturating_add(1), game.id.leg.index() + 1)
}

/// Place of the opening in the book, from 1.
pub(super) fn opening(game: &GameRecord) -> u64 {
    game.opening.index.saturating_add(1)
}

/// Time charged beyond the time that the engine reports, in microseconds; negative if it reports
/// more.
fn latency(ply: &MoveRecord) -> Option<i64> {
    let signed = |time: Duration| i64::try_from(time.as_micros()).unwrap_or(i64::MAX);
    Some(signed(ply.elapsed) - signed(ply.info.time?))
}

fn moves_table(game: &GameRecord, text: &mut String) {
    let _ = writeln!(
        text,
        "  {:>4}  {:<5}  {:<5}  {:>10}  {:>10}  {:>11}  {:>7}  {:>7}  {:>11}  {:>9}  {:>8}  {:>7}",
        "ply", "side", "move", "us", "latency us", "left us", "score", "depth", "nodes", "nps", "hashfull", "tbhits"
    );
    fn or_dash(value: Option<impl ToString>) -> String {
        value.map_or_else(|| "-".to_owned(), |value| value.to_string())
    }
    for (place, color, ply) in game.plies() {
        let info = &ply.info;
        let score = info.score.map(|score| match score {
            Score::Cp(cp) => cp.to_string(),
            Score::Mate(moves) => format!("#{moves}"),
        });
        let depth = match (info.depth, info.seldepth) {
            (depth, Some(seldepth)) => Some(format!("{}/{seldepth}", or_dash(depth))),
            (depth, None) => depth.map(|depth| depth.to_string()),
        };
        let _ = writeln!(
            text,
            "  {place:>4}  {color:<5}  {:<5}  {:>10}  {:>10}  {:>11}  {:>7}  {:>7}  {:>11}  {:>9}  {:>8}  {:>7}",
            printable(&ply.uci),
            micros(ply.elapsed),
            or_dash(latency(ply)),
            or_dash(ply.left.map(micros)),
            or_dash(score),
            or_dash(depth),
            or_dash(info.nodes),
            or_dash(info.nps),
            or_dash(info.hashfull),
            or_dash(info.tbhits),
        );
    }
}

/// Game as JSON, for users' scripts.
#[derive(Serialize)]
struct GameJson<'a> {
    run: String,
    game: u64,
    pair: u64,
    /// 1 or 2.
    leg: usize,
    white: String,
    black: String,
    /// Names that the engines reported; null if unknown.
    white_engine: Option<&'a str>,
    black_engine: Option<&'a str>,
    result: &'a str,
    /// Score of the requested player: 1, 0.5 or 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<f64>,
    termination: &'a str,
    detail: &'a str,
    void: bool,
    /// Place in the book, from 1.
    opening: u64,
    fen: &'a str,
    book_moves: &'a [String],
    /// Plies played by the engines.
    plies: usize,
    /// Start of the game, in UTC.
    started: String,
    seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    overstep: Option<OverstepJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<Vec<MoveJson<'a>>>,
}

/// Evidence about a loss on time.
#[derive(Serialize)]
struct OverstepJson {
    allowed_us: u64,
    answered_us: Option<u64>,
    engine_ran_us: Option<u64>,
    engine_waited_us: Option<u64>,
    clock_waited_us: Option<u64>,
    stolen_us: Option<u64>,
    stopped_us: Option<u64>,
    /// True if the machine is to blame.
    disturbed: bool,
}

/// Move. Scores are from the mover's view; values that the engine did not report are null.
#[derive(Serialize)]
struct MoveJson<'a> {
    ply: usize,
    side: &'static str,
    r#move: &'a str,
    time_us: u64,
    left_us: Option<u64>,
    engine_time_us: Option<u64>,
    latency_us: Option<i64>,
    cp: Option<i32>,
    mate: Option<i32>,
    depth: Option<u32>,
    seldepth: Option<u32>,
    nodes: Option<u64>,
    nps: Option<u64>,
    hashfull: Option<u16>,
    tbhits: Option<u64>,
    waited_us: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pv_fault: Option<&'static str>,
    /// Principal variation and matched output lines, if the plan records them.
    #[serde(skip_serializing_if = "str::is_empty")]
    pv: &'a str,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    lines: &'a [String],
}

impl<'a> MoveJson<'a> {
    fn new((ply, color, played): (usize, Color, &'a MoveRecord)) -> Self {
        let info = &played.info;
        let (cp, mate) = info.score.map(Score::parts).unwrap_or_default();
        Self {
            ply,
            side: if color == Color::White { "white" } else { "black" },
            r#move: &played.uci,
            time_us: micros(played.elapsed),
            left_us: played.left.map(micros),
            engine_time_us: info.time.map(micros),
            latency_us: latency(played),
            cp,
            mate,
            depth: info.depth,
            seldepth: info.seldepth,
            nodes: info.nodes,
            nps: info.nps,
            hashfull: info.hashfull,
            tbhits: info.tbhits,
            waited_us: played.waited.map(micros),
            pv_fault: info.pv_fault.map(|fault| fault.name()),
            pv: &played.said.pv,
            lines: &played.said.lines,
        }
    }
}

fn overstep(evidence: &Overstep) -> OverstepJson {
    let load = &evidence.load;
    OverstepJson {
        allowed_us: micros(evidence.allowed),
        answered_us: evidence.answered.map(micros),
        engine_ran_us: load.engine_ran.map(micros),
        engine_waited_us: load.engine_waited.map(micros),
        clock_waited_us: load.runner_waited.map(micros),
        stolen_us: load.stolen.map(micros),
        stopped_us: load.stopped.map(micros),
        disturbed: evidence.is_by_host(),
    }
}

/// Line of JSON for a game, with its line feed.
pub(super) fn json(shown: &ShownRun<'_>, game: &GameRecord, moves: bool) -> String {
    let names = shown.names(game);
    let started = i64::try_from(game.started.as_micros()).ok().and_then(DateTime::<Utc>::from_timestamp_micros);
    let value = GameJson {
        run: shown.root.display().to_string(),
        game: game.id.number(),
        pair: game.id.pair.0.saturating_add(1),
        leg: game.id.leg.index() + 1,
        white: names.white,
        black: names.black,
        white_engine: Some(game.engines.white.name.as_str()).filter(|name| !name.is_empty()),
        black_engine: Some(game.engines.black.name.as_str()).filter(|name| !name.is_empty()),
        result: game.ending.outcome.token(),
        score: shown.player.and_then(|player| game.half_points(player)).map(|half| f64::from(half) / 2.0),
        termination: game.ending.termination.name(),
        detail: &game.ending.detail,
        void: game.is_void,
        opening: opening(game),
        fen: &game.opening.fen,
        book_moves: &game.opening.moves,
        plies: game.moves.len(),
        started: started.unwrap_or_default().to_rfc3339_opts(SecondsFormat::Micros, true),
        seconds: game.took.as_secs_f64(),
        overstep: game.overstep.as_ref().map(overstep),
        moves: moves.then(|| game.plies().map(MoveJson::new).collect()),
    };
    let mut line = serde_json::to_string(&value).expect("plain data always serialises into memory");
    line.push('\n');
    line
}
