//! The referee: one game between two engines, as a state machine without I/O.
//!
//! [`Game::new`] and [`Game::handle`] answer with a [`Step`]: either a [`Request`] to put to one
//! engine, or the [`Ending`]. The driver (the worker) asks the engine, measures, and hands back
//! what happened as an [`Input`]. Time comes in as a value, so every fault is a row in a table
//! test.
//!
//! Reading order: this file, then `clock` (time left to a side), `adjudicate` (results by
//! agreement) and `tablebase` (results by endgame tables). Then `pv` (checks of principal
//! variations) and `stall` (the likely cause of a search without end).
//!
//! Losses and other faults
//! - A side whose answer comes after its clock and the margin loses on time, whatever the answer. A
//!   late illegal move is a time forfeit, and so is a late mate. It loses even if the opponent has
//!   no mating material. FIDE's laws (6.9) would give a draw, which would hide the fault.
//! - After each legal move the rules are checked in this order: mate, stalemate, insufficient
//!   material, threefold repetition, fifty moves. Then come the endgame tables, the resign rule,
//!   the draw rule and the limit on plies.
//! - A crash or a stall loses for the engine that is asked for a move. A process that dies while
//!   its opponent thinks loses when it is asked next. One that dies after its last `bestmove` of a
//!   game, or does not get ready for the next, loses nothing, but is restarted and counts towards
//!   `--max-failures`. In a tuning, one that gets ready without the values of its pair and not with
//!   them loses the game.
//! - Odd but clear output (line ends, blanks, castling in the other notation, any number in `info`)
//!   costs nothing; a wrong PV is counted and reported. `tests/it/hostile.rs` holds the whole
//!   policy as a table with a run for each row.

pub mod adjudicate;
pub mod clock;
pub mod pv;
pub mod stall;
pub mod tablebase;

use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::chess::{FenError, MoveError, Position, START_FEN, Variant};
use crate::plan::rules::Rules;
use crate::plan::time_control::{Limit, Seconds};
use crate::record::{ByColor, Color, Ending, MoveRecord, Opening, Outcome, RecordedOutput, SearchInfo, Termination};
use crate::uci::PositionLine;
use adjudicate::{DrawCounter, ResignCounter};
use clock::{ChargeResult, Clock};
use tablebase::{Probe, TableReferee};

/// Everything that a game needs to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSetup {
    /// The opening.
    pub opening: Opening,
    /// Limit of each side.
    pub limits: ByColor<Limit>,
    /// Time margin of each side for every move; the plan's margin applies to both sides unless a
    /// player has its own.
    pub margins: ByColor<Duration>,
    /// Rules that end the game besides those of chess.
    pub rules: Rules,
}

/// Reason that no game can start from a setup.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SetupError {
    /// The opening's position cannot be used.
    #[error("opening {index}: `{fen}`: {source}")]
    Fen {
        /// Place in the book, from 1 as users count.
        index: u64,
        /// The position.
        fen: String,
        /// The fault.
        source: FenError,
    },
    /// One of the opening's moves cannot be played.
    #[error("opening {index}: book ply {ply}: {source}")]
    Move {
        /// Place in the book, from 1 as users count.
        index: u64,
        /// Book ply, from 1.
        ply: usize,
        /// The fault.
        source: MoveError,
    },
    /// A side has no limit that would end its search.
    #[error("{0} has no limit; give a time control, movetime, nodes or depth")]
    NoLimit(Color),
}

/// Next action of the driver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Ask an engine to search [`Game::position_line`] within these bounds, and hand back what
    /// happens.
    Think(Request),
    /// The game is over.
    Over(Ending),
}

/// A search to ask for: everything that `go` says, and the one deadline of the wait for the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The side to move.
    pub color: Color,
    /// Longest wait for the answer, from just before the write of `go`: clock (or time for the
    /// move) + margin, or the stall timeout if the move is not timed.
    pub deadline: Duration,
    /// True if the move is timed, so that the deadline is a forfeit on time and not a stall.
    pub timed: bool,
    /// Values of `wtime winc btime binc`. `None` for a side without a clock, and for both if the
    /// mover has none, because an engine that is sent a time would manage it.
    pub clocks: ByColor<Option<ToldClock>>,
    /// Moves to the next time control, sent as `movestogo`.
    pub moves_to_go: Option<u32>,
    /// Time for this move, sent as `movetime`.
    pub movetime: Option<Duration>,
    /// Nodes to search, sent as `nodes`.
    pub nodes: Option<u64>,
    /// Plies to search, sent as `depth`.
    pub depth: Option<u32>,
}

/// A clock as it is sent to an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ToldClock {
    /// Time left.
    pub left: Duration,
    /// Time added after each move.
    pub increment: Duration,
}

/// Event since the last [`Step`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// The engine to move sent `bestmove`.
    Move {
        /// The word after `bestmove`, legal or not.
        text: &'a str,
        /// Time from just before the write of `go` to the timestamp of the read that completed the
        /// line.
        elapsed: Duration,
        /// Figures that the engine reported about its search.
        info: SearchInfo,
    },
    /// The request's deadline passed without `bestmove`.
    Overrun {
        /// Time from just before the write of `go` until the wait was given up.
        elapsed: Duration,
        /// The likely cause if no clock ran, with a remedy; empty if none is known.
        cause: String,
    },
    /// An engine's process is gone.
    Crashed {
        /// The engine's side.
        color: Color,
        /// The way it ended (`exit status 3`).
        detail: String,
    },
    /// An engine missed a deadline other than a search's (`readyok` before the game).
    Stalled {
        /// The engine's side.
        color: Color,
        /// The deadline.
        detail: String,
    },
}

/// A game in progress, or over.
#[derive(Clone, Debug)]
pub struct Game {
    opening: Opening,
    position: Position,
    position_line: PositionText,
    limits: ByColor<Limit>,
    margins: ByColor<Duration>,
    clocks: ByColor<Clock>,
    rules: Rules,
    draw: Option<DrawCounter>,
    resign: Option<ResignCounter>,
    tables: Option<TableReferee>,
    moves: Vec<MoveRecord>,
    foreign_castling: ByColor<u32>,
    ending: Option<Ending>,
}

/// A search on the opponent's time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ponder {
    /// The complete `position` command after the expected move. It equals [`Game::position_line`]
    /// if the opponent plays that move.
    pub position_line: PositionLine,
    /// Values for `go ponder`: the clocks before the opponent thinks. They set no deadline.
    pub request: Request,
}

/// A game taken apart for its record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameParts {
    /// The opening as it was played: the FEN with all six fields, the moves in the variant's
    /// notation.
    pub opening: Opening,
    /// The plies after the book.
    pub moves: Vec<MoveRecord>,
    /// The end of the game; `None` if it is not over.
    pub ending: Option<Ending>,
}

/// Brings an opening into the form that records have: its FEN and moves as this program writes
/// them.
///
/// # Errors
/// [`SetupError`] for an opening that cannot be played.
pub fn normalize(opening: &mut Opening, variant: Variant) -> Result<(), SetupError> {
    let mut position = start(opening, variant)?;
    play(opening, &mut position, |_, _| ())
}

/// Returns the position that an opening starts from, and writes its FEN anew.
fn start(opening: &mut Opening, variant: Variant) -> Result<Position, SetupError> {
    let index = opening.index.saturating_add(1);
    let failed = |source| SetupError::Fen { index, fen: opening.fen.clone(), source };
    let position = Position::from_fen(&opening.fen, variant).map_err(failed)?;
    opening.fen = position.fen();
    Ok(position)
}

/// Plays the moves of an opening, writes them anew, and tells `each` of them with the position
/// after it.
fn play(
    opening: &mut Opening,
    position: &mut Position,
    mut each: impl FnMut(&str, &Position),
) -> Result<(), SetupError> {
    let index = opening.index.saturating_add(1);
    for (ply, text) in (1..).zip(&mut opening.moves) {
        *text = position.play(text).map_err(|source| SetupError::Move { index, ply, source })?.uci;
        each(text, position);
    }
    Ok(())
}

impl Game {
    /// Plays the opening and asks for the first move. If the game is over by the rules after the
    /// opening, it ends at once.
    ///
    /// # Errors
    /// [`SetupError`] for an opening that cannot be played and for a side without any limit.
    pub fn new(setup: GameSetup) -> Result<(Self, Step), SetupError> {
        let GameSetup { mut opening, limits, margins, rules } = setup;
        let variant = rules.variant;
        if let Some(color) = [Color::White, Color::Black].into_iter().find(|color| limits.get(*color).is_empty()) {
            return Err(SetupError::NoLimit(color));
        }
        let mut position = start(&mut opening, variant)?;
        let mut position_line = PositionText::new(&opening.fen, rules.short_position);
        play(&mut opening, &mut position, |text, position| position_line.push(text, position))?;
        let mut game = Self {
            opening,
            position,
            position_line,
            limits,
            margins,
            clocks: ByColor { white: Clock::new(&limits.white), black: Clock::new(&limits.black) },
            draw: rules.draw.map(DrawCounter::new),
            resign: rules.resign.map(ResignCounter::new),
            rules,
            tables: None,
            moves: Vec::new(),
            foreign_castling: ByColor::default(),
            ending: None,
        };
        let step = game.next_step();
        Ok((game, step))
    }

    /// Lets endgame tables give results according to the rules, from the next ply on: an opening by
    /// itself is never judged. Without this call the game ignores the tablebase rule.
    pub fn set_tables(&mut self, tables: Arc<dyn Probe>) {
        self.tables = self.rules.syzygy.clone().map(|rule| TableReferee::new(rule, tables));
    }

    /// Applies an event and returns the next step. A game that is over stays as it is.
    pub fn handle(&mut self, input: Input<'_>) -> Step {
        if let Some(ending) = &self.ending {
            return Step::Over(ending.clone());
        }
        let mover = self.position.turn();
        match input {
            Input::Move { text, elapsed, info } => self.answered(mover, text, whole_micros(elapsed), info),
            Input::Overrun { elapsed, .. } if self.limits.get(mover).is_timed() => {
                let overrun = whole_micros(elapsed).saturating_sub(self.clocks.get(mover).budget().unwrap_or(elapsed));
                self.clocks.get_mut(mover).charge(Duration::MAX, *self.margins.get(mover));
                self.flag_fell(mover, overrun)
            }
            Input::Overrun { elapsed, cause } => {
                let cause = if cause.is_empty() { cause } else { format!(": {cause}") };
                self.lost(mover, Termination::Stall, format!("no bestmove within {} s{cause}", Seconds(elapsed)))
            }
            Input::Crashed { color, detail } => self.lost(color, Termination::Crash, detail),
            Input::Stalled { color, detail } => self.lost(color, Termination::Stall, detail),
        }
    }

    /// Search that the side which has just moved may run on its opponent's time: the one that
    /// follows the opponent's move `expected`. `None` if the side has no clock, or the move is
    /// illegal or ends the game. The caller knows whether the engine ponders.
    #[must_use]
    pub fn ponder(&self, expected: &str) -> Option<Ponder> {
        let color = self.position.turn().other();
        if self.ending.is_some() || self.clocks.get(color).left().is_none() {
            return None;
        }
        let mut position = self.position.clone();
        let played = position.play(expected).ok()?;
        if position.over().is_some() {
            return None;
        }
        let mut line = self.position_line.clone();
        line.push(&played.uci, &position);
        Some(Ponder { position_line: line.line, request: self.request(color) })
    }

    /// The complete `position` command for the coming search, without line end.
    #[must_use]
    pub fn position_line(&self) -> &[u8] {
        self.position_line.line.as_bytes()
    }

    /// The current position.
    #[must_use]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// The opening.
    #[must_use]
    pub const fn opening(&self) -> &Opening {
        &self.opening
    }

    /// The plies after the book so far.
    #[must_use]
    pub fn moves(&self) -> &[MoveRecord] {
        &self.moves
    }

    /// A side's clock.
    #[must_use]
    pub const fn clock(&self, color: Color) -> &Clock {
        self.clocks.get(color)
    }

    /// Number of times that each side castled in the other variant's notation; worth one warning a
    /// run.
    #[must_use]
    pub const fn foreign_castling(&self) -> &ByColor<u32> {
        &self.foreign_castling
    }

    /// Takes the game apart for its record.
    #[must_use]
    pub fn into_parts(self) -> GameParts {
        GameParts { opening: self.opening, moves: self.moves, ending: self.ending }
    }

    fn answered(&mut self, mover: Color, text: &str, elapsed: Duration, info: SearchInfo) -> Step {
        if let ChargeResult::Flag { overrun } = self.clocks.get_mut(mover).charge(elapsed, *self.margins.get(mover)) {
            return self.flag_fell(mover, overrun);
        }
        let played = match self.position.play(text) {
            Ok(played) => played,
            Err(error) => return self.lost(mover, Termination::IllegalMove, error.to_string()),
        };
        self.position_line.push(&played.uci, &self.position);
        if played.foreign_castling {
            *self.foreign_castling.get_mut(mover) += 1;
        }
        let left = self.clocks.get(mover).left();
        self.moves.push(MoveRecord {
            uci: played.uci,
            elapsed,
            left,
            info,
            waited: None,
            said: RecordedOutput::default(),
        });
        // Both counters see every ply, so that neither depends on what the other says.
        let resigned = self.resign.as_mut().and_then(|rule| rule.record(mover, info.score));
        let moves_complete = self.moves_complete();
        let agreed = self.draw.as_mut().is_some_and(|rule| rule.record(info.score, played.zeroing, moves_complete));
        if self.position.over().is_some() {
            return self.next_step();
        }
        if let Some(outcome) = self.tables.as_ref().and_then(|tables| tables.judge(&self.position)) {
            return self.ended(outcome, Termination::TablebaseAdjudication, String::new());
        }
        if let Some(loser) = resigned {
            return self.lost(loser, Termination::ResignAdjudication, String::new());
        }
        if agreed {
            return self.ended(Outcome::Draw, Termination::DrawAdjudication, String::new());
        }
        self.next_step()
    }

    /// Number of complete full moves, as the draw rule counts them.
    fn moves_complete(&self) -> u32 {
        match self.rules.draw {
            Some(rule) if rule.from_start => {
                let plies = self.opening.moves.len() + self.moves.len();
                u32::try_from(plies / 2).unwrap_or(u32::MAX)
            }
            _ => self.position.fullmoves().saturating_sub(1),
        }
    }

    /// Returns the ending by the rules or the limit on plies, or else the next search.
    fn next_step(&mut self) -> Step {
        if let Some((outcome, termination)) = self.position.over() {
            return self.ended(outcome, termination, String::new());
        }
        if self.rules.max_plies.is_some_and(|max| self.moves.len() >= max as usize) {
            return self.ended(Outcome::Draw, Termination::MaxPliesAdjudication, String::new());
        }
        Step::Think(self.request(self.position.turn()))
    }

    fn request(&self, color: Color) -> Request {
        let (limit, clock) = (self.limits.get(color), self.clocks.get(color));
        let told = |side: Color| {
            let clock = self.clocks.get(side);
            Some(ToldClock { left: clock.left()?, increment: clock.increment()? })
        };
        let clocks = match clock.left() {
            Some(_) => ByColor { white: told(Color::White), black: told(Color::Black) },
            None => ByColor::default(),
        };
        Request {
            color,
            deadline: clock.deadline(*self.margins.get(color)).unwrap_or(self.rules.stall_timeout),
            timed: limit.is_timed(),
            clocks,
            moves_to_go: clock.moves_to_go(),
            movetime: limit.movetime,
            nodes: limit.nodes,
            depth: limit.depth,
        }
    }

    fn flag_fell(&mut self, loser: Color, overrun: Duration) -> Step {
        let millis = Seconds(overrun.saturating_mul(1000));
        self.lost(loser, Termination::TimeForfeit, format!("{millis}ms overrun"))
    }

    fn lost(&mut self, loser: Color, termination: Termination, detail: String) -> Step {
        self.ended(Outcome::win(loser.other()), termination, detail)
    }

    fn ended(&mut self, outcome: Outcome, termination: Termination, detail: String) -> Step {
        let ending = Ending { outcome, termination, detail };
        self.ending = Some(ending.clone());
        Step::Over(ending)
    }
}

/// The `position` command, grown by a word a ply.
#[derive(Clone, Debug)]
struct PositionText {
    line: PositionLine,
    /// True if the command begins anew with each irreversible move.
    short: bool,
}

impl PositionText {
    fn new(fen: &str, short: bool) -> Self {
        Self { line: line_of(fen), short }
    }

    /// Appends a move, which led to `position`.
    fn push(&mut self, uci: &str, position: &Position) {
        // No position before a capture or pawn move can occur again.
        if self.short && position.halfmoves() == 0 {
            self.line = line_of(&position.fen());
        } else {
            self.line.push(uci).expect("a move that was found is plain text");
        }
    }
}

/// Returns the command for a FEN that [`Position::fen`] wrote.
fn line_of(fen: &str) -> PositionLine {
    if fen == START_FEN {
        PositionLine::startpos()
    } else {
        PositionLine::new(fen).expect("a FEN that was written is plain text")
    }
}

/// Truncates to whole microseconds, the unit of charges, records and the journal, so that a record
/// reads back unchanged.
fn whole_micros(time: Duration) -> Duration {
    Duration::new(time.as_secs(), time.subsec_micros() * 1000)
}

#[cfg(test)]
mod tests;
