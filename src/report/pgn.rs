//! Finished games as PGN, in export format (Edwards, "Portable Game Notation Specification", 1994, section 8) with the comments
//! that the leading runners write, so that tools made for them read ours.
//!
//! ```text
//! 1. e4 {book} 1... e5 {book} 2. Nf3 {+0.35/12 0.051s, n=12345} 2... Nc6
//! {-0.20/11 0.049s, n=9876, Draw by adjudication} 1/2-1/2
//! ```
//!
//! A comment holds score/depth from the mover's point of view, the time charged in seconds, and nodes; the last one ends with
//! the reason of the result. A mate is counted in plies (`+M5`: mates with its third move). What an engine did not say is
//! left out: no score, no depth in front of the time. Times and dates are UTC, so that a game's text depends on its record alone.
//!
//! All that is [`game`]; [`game_as`] has it the user's way. With everything in it a comment reads, in this order:
//!
//! ```text
//! {+0.35/12 0.051s, tl=7.949s, latency=0.001s, n=12345, sd=18, nps=240000, hashfull=12, tbhits=0, pv="e2e4 e7e5",
//! line="info string x", White mates}
//! ```

mod comment;
mod tags;

use thiserror::Error;

use crate::chess::{FenError, MoveError, Position, Variant};
pub use crate::plan::recording::{Fields, Layout, Notation, PgnOptions, Round, Zone};
use crate::plan::time_control::Limit;
use crate::record::{ByColor, Color, GameRecord, Outcome, Termination};
use crate::report::eco::Openings;
use crate::report::reasons::{illegal_move, side_reason};
use comment::comment;

/// What a game's text needs beside its record.
#[derive(Clone, Copy, Debug)]
pub struct Meta<'a> {
    /// The run's name.
    pub event: &'a str,
    /// Where it is played; `?` if there is nothing to say.
    pub site: &'a str,
    /// The players of this game.
    pub names: ByColor<&'a str>,
    /// Their limits in this game.
    pub limits: ByColor<Limit>,
    /// The rules of castling.
    pub variant: Variant,
}

/// A record whose moves can't be replayed. The referee writes none; a journal that was edited may hold one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PgnError {
    /// The opening's position.
    #[error("game {game}: {source}")]
    Fen {
        /// The game's number.
        game: u64,
        /// What is wrong.
        source: FenError,
    },
    /// A move.
    #[error("game {game}, ply {ply}: {source}")]
    Move {
        /// The game's number.
        game: u64,
        /// Ply from the opening's position, from 1.
        ply: usize,
        /// What is wrong.
        source: MoveError,
    },
}

/// The game's text: tags, moves, and an empty line at the end. As in a run's `games.pgn`.
///
/// # Errors
/// [`PgnError`] for a record that can't be replayed.
pub fn game(record: &GameRecord, meta: &Meta<'_>) -> Result<String, PgnError> {
    game_as(record, meta, &PgnOptions::default(), None)
}

/// The tags of the game's text as `options` want it.
pub(super) fn head(record: &GameRecord, meta: &Meta<'_>, options: &PgnOptions, openings: Option<&Openings>) -> String {
    tags::tags(record, meta, options, openings)
}

/// The game's text as `options` want it. `openings` are for the tags that name the opening; without, there are none.
///
/// # Errors
/// [`PgnError`] for a record that can't be replayed.
pub fn game_as(
    record: &GameRecord,
    meta: &Meta<'_>,
    options: &PgnOptions,
    openings: Option<&Openings>,
) -> Result<String, PgnError> {
    let mut text = tags::tags(record, meta, options, openings);
    text.push('\n');
    text.push_str(&movetext(record, meta, options)?);
    text.push_str("\n\n");
    Ok(text)
}

/// Why the game ended, in the words of the leading runners: `White mates`, `Draw by 3-fold repetition`, `new loses on time (12ms overrun)`.
#[must_use]
pub fn reason(record: &GameRecord, names: &ByColor<&str>) -> String {
    let ending = &record.ending;
    let winner = match ending.outcome {
        Outcome::WhiteWins => Some(Color::White),
        Outcome::BlackWins => Some(Color::Black),
        Outcome::Draw => None,
    };
    let side = winner.map_or_else(|| "Nobody".to_owned(), |color| color.to_string());
    let name = |color: Option<Color>| color.map_or("nobody", |color| names.get(color));
    let (winner, loser) = (name(winner), name(winner.map(Color::other)));
    let adjudicated = |by| match ending.outcome {
        Outcome::Draw => format!("Draw by adjudication{by}"),
        _ => format!("{winner} wins by adjudication{by}"),
    };
    let with = |text: String, open: &str, close: &str| match ending.detail.as_str() {
        "" => text,
        detail => format!("{text}{open}{detail}{close}"),
    };
    match ending.termination {
        Termination::Checkmate => format!("{side} mates"),
        Termination::Stalemate => "Draw by stalemate".to_owned(),
        Termination::InsufficientMaterial => "Draw by insufficient mating material".to_owned(),
        Termination::ThreefoldRepetition => "Draw by 3-fold repetition".to_owned(),
        Termination::FiftyMoves => "Draw by fifty moves rule".to_owned(),
        Termination::TimeForfeit => with(format!("{loser} loses on time"), " (", ")"),
        Termination::IllegalMove => with(format!("{loser} makes an illegal move"), ": ", ""),
        Termination::Crash => with(format!("{loser} disconnects"), ": ", ""),
        Termination::Stall => with(format!("{loser}'s connection stalls"), ": ", ""),
        Termination::ResignAdjudication | Termination::DrawAdjudication | Termination::MaxPliesAdjudication => {
            adjudicated("")
        }
        Termination::TablebaseAdjudication => adjudicated(": SyzygyTB"),
    }
}

fn movetext(record: &GameRecord, meta: &Meta<'_>, options: &PgnOptions) -> Result<String, PgnError> {
    let number = record.id.number();
    let mut position = Position::from_fen(&record.opening.fen, meta.variant)
        .map_err(|source| PgnError::Fen { game: number, source })?;
    let mut lines = Lines::default();
    let book = record.opening.moves.iter().map(|uci| (uci, "book".to_owned()));
    let played = record.moves.iter().map(|played| (&played.uci, comment(played, options.fields)));
    let count = record.opening.moves.len() + record.moves.len();
    let reason = match options.layout {
        Layout::Export => reason(record, &meta.names),
        // What reads another runner's PGN looks for the words of its console, and finds an illegal move there as well.
        Layout::Runner => match illegal_move(record) {
            Some(word) => format!("{}: {word}", side_reason(record)),
            None => side_reason(record),
        },
    };
    let reason = comment::plain(&reason, 200);
    for (ply, (uci, comment)) in (1..).zip(book.chain(played)) {
        // After a comment, that is everywhere but in the shortest form, the export format has Black's move numbered.
        let interrupted = ply == 1 || (!options.min && options.layout == Layout::Export);
        let mut tokens = Vec::with_capacity(3);
        match position.turn() {
            Color::White => tokens.push(format!("{}.", position.fullmoves())),
            Color::Black if interrupted => tokens.push(format!("{}...", position.fullmoves())),
            Color::Black => {}
        }
        let played = match options.notation {
            Notation::San => position.play_to_san(uci),
            Notation::Lan => position.play_to_lan(uci),
            Notation::Uci => position.play(uci).map(|played| played.uci),
        };
        tokens.push(played.map_err(|source| PgnError::Move { game: number, ply, source })?);
        if !options.min {
            let last = if ply == count { format!(", {reason}") } else { String::new() };
            tokens.push(format!("{{{comment}{last}}}"));
        }
        match options.layout {
            Layout::Export => tokens.iter().for_each(|token| lines.push(token)),
            Layout::Runner => lines.push_whole(&tokens.join(" ")),
        }
    }
    if count == 0 && !options.min {
        lines.push(&format!("{{{reason}}}"));
    }
    lines.push(record.ending.outcome.token());
    Ok(lines.text)
}

/// Words set into lines of less than 80 characters, as the export format wants it.
#[derive(Default)]
struct Lines {
    text: String,
    /// Characters in the last line.
    width: usize,
}

impl Lines {
    /// Adds a token, which may be broken at its spaces.
    fn push(&mut self, token: &str) {
        token.split_whitespace().for_each(|word| self.push_whole(word));
    }

    /// Adds a token that stays in one line.
    fn push_whole(&mut self, word: &str) {
        let length = word.chars().count();
        // At the beginning of a line `%` escapes it, and readers in search of the next game stop at `[`, comment or not.
        let stays = word.starts_with(['%', '[']);
        if self.width > 0 {
            if self.width + 1 + length < 80 || stays {
                self.text.push(' ');
                self.width += 1;
            } else {
                self.text.push('\n');
                self.width = 0;
            }
        }
        self.text.push_str(word);
        self.width += length;
    }
}

#[cfg(test)]
mod tests;
