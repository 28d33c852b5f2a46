//! A game that is being played, for the pages: openings and moves come from the protocol, the board
//! from the rules of chess.

use std::time::{Duration, Instant};

use serde::Serialize;

use crate::chess::{Position, Variant};
use crate::control::protocol::{GameMessage, PlyMessage};
use crate::record::Color;

/// A board with its clocks.
#[derive(Debug)]
pub(super) struct BoardView {
    begun: GameMessage,
    position: Position,
    last: Option<String>,
    plies: u64,
    clocks: [Option<u64>; 2],
    said: [Option<LastInfo>; 2],
    /// All scores so far.
    evals: Vec<PlyScore>,
    since: Instant,
}

/// Score that a side gave, from White's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct PlyScore {
    ply: u64,
    /// True if White gave it.
    white: bool,
    cp: i32,
}

/// Centipawns that stand for a mate.
const MATE: i32 = 10_000;

/// Last figures of a side, from its own point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct LastInfo {
    cp: Option<i32>,
    mate: Option<i32>,
    depth: Option<u32>,
}

/// A board as pages get it.
#[derive(Debug, Serialize)]
pub(super) struct BoardJson<'a> {
    game: u64,
    white: &'a str,
    black: &'a str,
    fen: String,
    /// The last move in UCI notation.
    last: Option<&'a str>,
    /// Plies after the opening.
    plies: u64,
    /// The side to move: `w` or `b`.
    turn: char,
    /// Milliseconds left when the last move was played: White's, Black's.
    clocks: [Option<u64>; 2],
    said: [Option<LastInfo>; 2],
    /// Milliseconds since the last move.
    ago_ms: u64,
    result: Option<&'a str>,
    termination: Option<&'a str>,
    /// All scores so far, only for a page that has just been opened.
    #[serde(skip_serializing_if = "Option::is_none")]
    evals: Option<&'a [PlyScore]>,
}

impl BoardView {
    /// The game at the end of its opening; `None` if the opening is not legal.
    pub(super) fn new(begun: GameMessage) -> Option<Self> {
        let variant = if begun.chess960 { Variant::Chess960 } else { Variant::Standard };
        let mut position = Position::from_fen(&begun.fen, variant).ok()?;
        for text in &begun.opening {
            position.advance_by(text).ok()?;
        }
        let clocks = [begun.white_ms, begun.black_ms];
        let last = begun.opening.last().cloned();
        Some(Self {
            begun,
            position,
            last,
            plies: 0,
            clocks,
            said: [None; 2],
            evals: Vec::new(),
            since: Instant::now(),
        })
    }

    /// Plays the next ply; returns false if it is not the next one or not legal.
    pub(super) fn play(&mut self, ply: &PlyMessage) -> bool {
        let mover = usize::from(self.position.turn() == Color::Black);
        if ply.ply != self.plies + 1 || self.position.advance_by(&ply.uci).is_err() {
            return false;
        }
        self.plies += 1;
        self.last = Some(ply.uci.clone());
        self.clocks[mover] = ply.clock_ms.or(self.clocks[mover]);
        self.said[mover] = Some(LastInfo { cp: ply.cp, mate: ply.mate, depth: ply.depth });
        let score = ply.mate.map(|mate| MATE * mate.signum()).or(ply.cp);
        let sign = if mover == 0 { 1 } else { -1 };
        let score = score.map(|cp| PlyScore { ply: ply.ply, white: mover == 0, cp: cp.saturating_mul(sign) });
        self.evals.extend(score);
        let now = Instant::now();
        self.since = now.checked_sub(Duration::from_millis(ply.ago_ms)).unwrap_or(now);
        true
    }

    /// The board as JSON for the pages.
    pub(super) fn json(&self) -> BoardJson<'_> {
        BoardJson {
            game: self.begun.game,
            white: &self.begun.white,
            black: &self.begun.black,
            fen: self.position.fen(),
            last: self.last.as_deref(),
            plies: self.plies,
            turn: if self.position.turn() == Color::White { 'w' } else { 'b' },
            clocks: self.clocks,
            said: self.said,
            ago_ms: u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX),
            result: self.begun.result.as_deref(),
            termination: self.begun.termination.as_deref(),
            evals: None,
        }
    }

    /// The board with all scores so far.
    pub(super) fn whole(&self) -> BoardJson<'_> {
        BoardJson { evals: Some(&self.evals), ..self.json() }
    }

    /// Returns true if the end was reported.
    pub(super) const fn is_over(&self) -> bool {
        self.begun.result.is_some()
    }

    /// Marks the game as over.
    pub(super) fn end(&mut self, said: &GameMessage) {
        (self.begun.result, self.begun.termination) = (said.result.clone(), said.termination.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begun(fen: &str, opening: &[&str]) -> GameMessage {
        GameMessage {
            v: 1,
            game: 3,
            white: "a".into(),
            black: "b".into(),
            chess960: false,
            fen: fen.into(),
            opening: opening.iter().map(|text| (*text).to_owned()).collect(),
            white_ms: Some(8_000),
            black_ms: None,
            result: None,
            termination: None,
        }
    }

    fn ply(ply: u64, uci: &str) -> PlyMessage {
        let (clock_ms, cp) = (Some(7_500), Some(12));
        PlyMessage { game: 3, ply, uci: uci.into(), clock_ms, cp, mate: None, depth: None, ago_ms: 0 }
    }

    #[test]
    fn a_board_follows_the_game() {
        let mut board = BoardView::new(begun(crate::chess::START_FEN, &["e2e4", "e7e5"])).unwrap();
        assert!(board.play(&ply(1, "g1f3")));
        // Not the next one, and none at all.
        assert!(!board.play(&ply(1, "b8c6")) && !board.play(&ply(3, "b8c6")) && !board.play(&ply(2, "<b>")));
        let json = serde_json::to_value(board.json()).unwrap();
        assert_eq!(json["fen"], "rnbqkbnr/pppp1ppp/8/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R b KQkq - 1 2");
        assert_eq!((&json["turn"], &json["last"], &json["plies"]), (&"b".into(), &"g1f3".into(), &1.into()));
        assert!(json.get("evals").is_none());
        let whole = serde_json::to_value(board.whole()).unwrap();
        assert_eq!(whole["evals"], serde_json::json!([{ "ply": 1, "white": true, "cp": 12 }]));
        assert_eq!((&json["clocks"][0], &json["said"][0]["cp"]), (&7_500.into(), &12.into()));
        assert!(BoardView::new(begun("8/8/8/8/8/8/8/8 w - - 0 1", &[])).is_none());
        assert!(BoardView::new(begun(crate::chess::START_FEN, &["e2e5"])).is_none());
    }
}
