//! Values that describe chess games between engines: players, pairs, moves, endings, evidence.
//!
//! Plain values without behaviour beyond their own invariants, in the standard library's types
//! alone. A move is its UCI text and a position its FEN, so nothing here knows the rules of chess.
//!
//! ```
//! use quintain_record::{Color, GameId, Leg, Outcome, PairId};
//!
//! let game = GameId { pair: PairId(4), leg: Leg::Second };
//! assert_eq!(game.number(), 10);
//! assert_eq!(Outcome::from_token("1-0"), Some(Outcome::win(Color::White)));
//! assert_eq!(Outcome::Draw.half_points(Color::Black), 1);
//! ```
//!
//! Nothing derives `Serialize`: the journal of `quintain` owns the on-disk shapes
//! (`journal::format`), so a change of format never reaches these types and back.

#![deny(missing_docs)]

mod load;
mod scale;

use std::fmt;
use std::time::Duration;

pub use load::{MoveLoad, Overstep, SinceFlag};
pub use scale::TimeScale;

/// A player's place in the plan's list. In an SPRT player 0 is `new` and player 1 is `base`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlayerId(pub u16);

impl PlayerId {
    /// The tested engine of an SPRT.
    pub const NEW: Self = Self(0);
    /// The reference engine of an SPRT.
    pub const BASE: Self = Self(1);
}

/// A game pair's place in schedule order, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PairId(pub u64);

/// One of the two games of a pair. In the first, the pairing's first player has White.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Leg {
    /// The pairing's first player has White.
    First,
    /// The same opening with colours reversed.
    Second,
}

impl Leg {
    /// Both legs in playing order.
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    /// 0 for the first leg, 1 for the second.
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::First => 0,
            Self::Second => 1,
        }
    }
}

/// One game of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GameId {
    /// The pair it belongs to.
    pub pair: PairId,
    /// The game's place in the pair.
    pub leg: Leg,
}

impl GameId {
    /// The game's number as users see it, from 1: pair `k` (from 0) holds games `2k+1` and `2k+2`.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.pair.0 * 2 + self.leg.index() as u64 + 1
    }

    /// The game with this user-visible number; `None` for 0.
    #[must_use]
    pub const fn from_number(number: u64) -> Option<Self> {
        let Some(index) = number.checked_sub(1) else { return None };
        let leg = if index % 2 == 0 { Leg::First } else { Leg::Second };
        Some(Self { pair: PairId(index / 2), leg })
    }
}

/// Whole microseconds of a time, at most `u64::MAX`.
#[must_use]
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Whole milliseconds of a time, at most `u64::MAX`.
#[must_use]
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// White or Black.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Color {
    /// The side that moves first from the standard starting position.
    White,
    /// The other side.
    Black,
}

impl Color {
    /// The opponent.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }

    /// The side to move in a FEN or EPD; White if there is no such field.
    #[must_use]
    pub fn to_move(fen: &str) -> Self {
        if fen.split_ascii_whitespace().nth(1) == Some("b") { Self::Black } else { Self::White }
    }
}

impl fmt::Display for Color {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::White => "White",
            Self::Black => "Black",
        })
    }
}

/// A value for each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ByColor<T> {
    /// White's.
    pub white: T,
    /// Black's.
    pub black: T,
}

impl<T> ByColor<T> {
    /// One side's value.
    pub const fn get(&self, color: Color) -> &T {
        match color {
            Color::White => &self.white,
            Color::Black => &self.black,
        }
    }

    /// One side's value, to change.
    pub const fn get_mut(&mut self, color: Color) -> &mut T {
        match color {
            Color::White => &mut self.white,
            Color::Black => &mut self.black,
        }
    }
}

/// Result of a game, by the side that scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// 1-0
    WhiteWins,
    /// 0-1
    BlackWins,
    /// 1/2-1/2
    Draw,
}

impl Outcome {
    /// The outcome in which `winner` scored.
    #[must_use]
    pub const fn win(winner: Color) -> Self {
        match winner {
            Color::White => Self::WhiteWins,
            Color::Black => Self::BlackWins,
        }
    }

    /// The side that scored; `None` for a draw.
    #[must_use]
    pub const fn winner(self) -> Option<Color> {
        match self {
            Self::WhiteWins => Some(Color::White),
            Self::BlackWins => Some(Color::Black),
            Self::Draw => None,
        }
    }

    /// Points of `color` in half points: 0, 1 or 2.
    #[must_use]
    pub const fn half_points(self, color: Color) -> u8 {
        match (self, color) {
            (Self::Draw, _) => 1,
            (Self::WhiteWins, Color::White) | (Self::BlackWins, Color::Black) => 2,
            _ => 0,
        }
    }

    /// The PGN result token: `1-0`, `0-1` or `1/2-1/2`.
    #[must_use]
    pub const fn token(self) -> &'static str {
        match self {
            Self::WhiteWins => "1-0",
            Self::BlackWins => "0-1",
            Self::Draw => "1/2-1/2",
        }
    }

    /// The outcome with this token.
    #[must_use]
    pub fn from_token(token: &str) -> Option<Self> {
        [Self::WhiteWins, Self::BlackWins, Self::Draw].into_iter().find(|outcome| outcome.token() == token)
    }
}

/// Reason for the end of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Termination {
    /// By the rules: mate.
    Checkmate,
    /// By the rules: no legal move, not in check.
    Stalemate,
    /// By the rules: neither side can mate.
    InsufficientMaterial,
    /// By the rules: the position stood for the third time.
    ThreefoldRepetition,
    /// By the rules: 100 plies without capture or pawn move.
    FiftyMoves,
    /// Forfeit: the clock and its margin ran out.
    TimeForfeit,
    /// Forfeit: `bestmove` was no legal move.
    IllegalMove,
    /// The engine's process was gone before it answered.
    Crash,
    /// The engine was alive past a deadline that is not its clock (nodes or depth search).
    Stall,
    /// Given by the referee: the resign rule.
    ResignAdjudication,
    /// Given by the referee: the draw rule.
    DrawAdjudication,
    /// Given by the referee: the limit on the number of plies.
    MaxPliesAdjudication,
    /// Given by the referee: endgame tables.
    TablebaseAdjudication,
}

impl Termination {
    /// Every termination, in the order of declaration.
    pub const ALL: [Self; 13] = [
        Self::Checkmate,
        Self::Stalemate,
        Self::InsufficientMaterial,
        Self::ThreefoldRepetition,
        Self::FiftyMoves,
        Self::TimeForfeit,
        Self::IllegalMove,
        Self::Crash,
        Self::Stall,
        Self::ResignAdjudication,
        Self::DrawAdjudication,
        Self::MaxPliesAdjudication,
        Self::TablebaseAdjudication,
    ];

    /// Returns true if the engine misbehaved in a way that counts towards `--max-failures`: crash,
    /// stall or illegal move.
    #[must_use]
    pub const fn is_failure(self) -> bool {
        matches!(self, Self::IllegalMove | Self::Crash | Self::Stall)
    }

    /// Returns true if the loser's engine is at fault: a failure or a loss on time.
    #[must_use]
    pub const fn is_fault(self) -> bool {
        self.is_failure() || matches!(self, Self::TimeForfeit)
    }

    /// The name used in files and queries, kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::InsufficientMaterial => "insufficient-material",
            Self::ThreefoldRepetition => "threefold-repetition",
            Self::FiftyMoves => "fifty-moves",
            Self::TimeForfeit => "time-forfeit",
            Self::IllegalMove => "illegal-move",
            Self::Crash => "crash",
            Self::Stall => "stall",
            Self::ResignAdjudication => "resign-adjudication",
            Self::DrawAdjudication => "draw-adjudication",
            Self::MaxPliesAdjudication => "max-plies-adjudication",
            Self::TablebaseAdjudication => "tablebase-adjudication",
        }
    }

    /// The termination with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|t| t.name() == name)
    }
}

/// End of a finished game: the result, the reason, and details that the enum cannot hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The result.
    pub outcome: Outcome,
    /// The reason.
    pub termination: Termination,
    /// Evidence for people to read (`exit status 3`, `e7e8 is not legal here`); empty if there is
    /// nothing to add.
    pub detail: String,
}

/// An engine's evaluation from the mover's point of view, as UCI gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Centipawns.
    Cp(i32),
    /// Mate in this many moves of the mover; negative if the mover is mated. 0 means mated now.
    Mate(i32),
}

impl Score {
    /// Centipawns and moves to mate of a score, as files and messages hold it: one of them is
    /// `None`.
    #[must_use]
    pub const fn parts(self) -> (Option<i32>, Option<i32>) {
        match self {
            Self::Cp(cp) => (Some(cp), None),
            Self::Mate(moves) => (None, Some(moves)),
        }
    }

    /// The same score from the other side's point of view.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::Cp(cp) => Self::Cp(cp.saturating_neg()),
            Self::Mate(moves) => Self::Mate(moves.saturating_neg()),
        }
    }

    /// Score of these [parts](Self::parts); `None` without either. Centipawns go first.
    #[must_use]
    pub const fn of_parts(cp: Option<i32>, mate: Option<i32>) -> Option<Self> {
        match (cp, mate) {
            (Some(cp), _) => Some(Self::Cp(cp)),
            (None, Some(moves)) => Some(Self::Mate(moves)),
            (None, None) => None,
        }
    }
}

/// Fault in a principal variation. The game continues, because only the move counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PvFault {
    /// The first move is not the one that was played.
    OtherMove,
    /// A move in it is not legal.
    IllegalMove,
    /// The PV continues after the end of the game.
    PastEnd,
    /// The PV contradicts its mate score.
    MateLength,
}

impl PvFault {
    /// Every fault, in the order of declaration.
    pub const ALL: [Self; 4] = [Self::OtherMove, Self::IllegalMove, Self::PastEnd, Self::MateLength];

    /// The name used in files, kebab case.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OtherMove => "other-move",
            Self::IllegalMove => "illegal-move",
            Self::PastEnd => "past-end",
            Self::MateLength => "mate-length",
        }
    }

    /// The fault with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// Text that follows `the PV`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::OtherMove => "does not begin with the move played",
            Self::IllegalMove => "holds an illegal move",
            Self::PastEnd => "continues after the end of the game",
            Self::MateLength => "contradicts its mate score",
        }
    }
}

/// Figures that an engine reported about its last search; a field is `None` if it was not reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchInfo {
    /// Last exact score of the first PV.
    pub score: Option<Score>,
    /// Nominal depth in plies.
    pub depth: Option<u32>,
    /// Selective depth in plies.
    pub seldepth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    /// Nodes per second.
    pub nps: Option<u64>,
    /// Search time as the engine reports it.
    pub time: Option<Duration>,
    /// Use of the hash table in permille.
    pub hashfull: Option<u16>,
    /// Number of endgame table hits.
    pub tbhits: Option<u64>,
    /// Fault in its last principal variation, found by the referee.
    pub pv_fault: Option<PvFault>,
}

/// One ply played by an engine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MoveRecord {
    /// The move as sent to the engines, in UCI notation.
    pub uci: String,
    /// Time charged, from just before the write of `go` to the reader's stamp on `bestmove`.
    pub elapsed: Duration,
    /// Time left on the mover's clock after the charge and the increment; `None` without a clock.
    pub left: Option<Duration>,
    /// Figures that the engine reported.
    pub info: SearchInfo,
    /// Part of the charged time in which the engine or the runner was ready to run but had no CPU.
    /// `None` without a clock, or if the system does not report it.
    pub waited: Option<Duration>,
    /// Engine output kept with the move; empty unless the plan asks for it or the PV is faulty.
    pub said: RecordedOutput,
}

/// Output of an engine during a search, as far as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedOutput {
    /// The principal variation of the last exact score, its words as received and separated by
    /// single blanks; empty if none was kept. A faulty one is kept whatever the plan says.
    pub pv: String,
    /// The last line that matches each pattern of the plan, in the plan's order; patterns without a
    /// match are left out.
    pub lines: Vec<String>,
}

/// Name and author that an engine reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EngineId {
    /// `id name`; empty if it is not known.
    pub name: String,
    /// `id author`; empty if it is not known.
    pub author: String,
}

/// Start of a game: a position and the book plies played from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opening {
    /// Place in the book, from 0, before shuffling.
    pub index: u64,
    /// The position before the book plies (six-field FEN).
    pub fen: String,
    /// Book plies in UCI notation; empty for EPD books.
    pub moves: Vec<String>,
}

/// One finished game, with everything that the journal, the PGN and the statistics need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    /// The game's pair and its place in it.
    pub id: GameId,
    /// The players by colour.
    pub players: ByColor<PlayerId>,
    /// Name and author that the engines reported; empty for an engine that did not start, and in
    /// journals of older versions.
    pub engines: ByColor<EngineId>,
    /// The opening played.
    pub opening: Opening,
    /// The plies after the book.
    pub moves: Vec<MoveRecord>,
    /// The end of the game.
    pub ending: Ending,
    /// Start of the game, as time since the Unix epoch.
    pub started: Duration,
    /// Duration by the wall clock.
    pub took: Duration,
    /// Evidence if the game was lost on time.
    pub overstep: Option<Overstep>,
    /// True if the game does not count and its pair is played again. Either the harness was stopped
    /// during a move under a clock, or the machine disturbed the game and the plan voids such
    /// games.
    pub is_void: bool,
    /// Values of the options that the run tunes, in the order of the plan.
    pub values: Option<ByColor<Vec<String>>>,
    /// Worker that played the game; `None` for a thread of the run's own process.
    pub worker: Option<String>,
    /// Factor of all times of the game; `None` if they are those of the plan.
    pub scale: Option<TimeScale>,
}

impl GameRecord {
    /// True if the game ended late because the harness was stopped. It is void, and no engine is at
    /// fault.
    pub fn ended_by_a_stop(&self) -> bool {
        let was_stopped = |overstep: &Overstep| overstep.load.stopped.is_some();
        let is_stall = self.ending.termination == Termination::Stall;
        self.is_void && (is_stall || self.overstep.as_ref().is_some_and(was_stopped))
    }

    /// Half points (0, 1, 2) of `player`; `None` if it did not play.
    #[must_use]
    pub fn half_points(&self, player: PlayerId) -> Option<u8> {
        let color = if self.players.white == player {
            Color::White
        } else if self.players.black == player {
            Color::Black
        } else {
            return None;
        };
        Some(self.ending.outcome.half_points(color))
    }

    /// The plies that engines played: place in the game from 1, the book's plies included, the
    /// side that moved, and the ply.
    pub fn plies(&self) -> impl Iterator<Item = (usize, Color, &MoveRecord)> {
        let book = self.opening.moves.len();
        let first = Color::to_move(&self.opening.fen);
        self.moves.iter().enumerate().map(move |(place, ply)| {
            let color = if (book + place).is_multiple_of(2) { first } else { first.other() };
            (book + place + 1, color, ply)
        })
    }
}

/// A finished pair from the first player's point of view: half points of each leg (0, 1, 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairScore {
    /// Half points in the leg played with White.
    pub first: u8,
    /// Half points in the leg played with Black.
    pub second: u8,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn game_numbers_round_trip() {
        assert_eq!(GameId::from_number(0), None);
        for number in 1..20 {
            assert_eq!(GameId::from_number(number).map(GameId::number), Some(number));
        }
    }

    #[test]
    fn termination_names_round_trip() {
        for termination in Termination::ALL {
            assert_eq!(Termination::from_name(termination.name()), Some(termination));
        }
    }
}
