//! Finished games as PGN, in export format (Edwards, "Portable Game Notation Specification", 1994,
//! section 8).
//!
//! Comments follow the leading runners, so that tools made for them read ours.
//!
//! ```text
//! 1. e4 {book} 1... e5 {book} 2. Nf3 {+0.35/12 0.051s, n=12345} 2... Nc6
//! {-0.20/11 0.049s, n=9876, Draw by adjudication} 1/2-1/2
//! ```
//!
//! A comment holds score/depth from the mover's point of view, the time charged in seconds, and
//! nodes. The last one ends with the reason of the result. A mate is counted in plies (`+M5`: mates
//! with its third move). Values that an engine did not report are left out: without a score, there
//! is no score or depth. Times and dates are UTC, so a game's text depends on its record alone.
//!
//! [`game`] writes that format, and [`game_as`] others. With all fields, a comment reads:
//!
//! ```text
//! {+0.35/12 0.051s, tl=7.949s, latency=0.001s, n=12345, sd=18, nps=240000, hashfull=12, tbhits=0,
//! pv="e2e4 e7e5", line="info string x", White mates}
//! ```

mod comment;
mod tags;

use std::fmt::Write as _;
use std::time::Duration;

use thiserror::Error;

use crate::chess::{FenError, MoveError, Position, Variant};
pub use crate::plan::recording::{Fields, Layout, Notation, PgnOptions, Round, Zone};
use crate::plan::time_control::Limit;
use crate::record::{ByColor, Color, GameId, GameRecord, Opening, Outcome};
use crate::report::eco::OpeningNames;
use crate::report::reasons::{illegal_move, named_reason, side_reason};
use crate::tournament::events::Ply;
use comment::Comment;

/// Facts that a game's text needs besides its record.
#[derive(Clone, Copy, Debug)]
pub struct PgnMeta<'a> {
    /// Event tag.
    pub event: &'a str,
    /// Site tag; `?` if unknown.
    pub site: &'a str,
    /// Names of the players in this game.
    pub names: ByColor<&'a str>,
    /// Limits of the players in this game.
    pub limits: ByColor<Limit>,
    /// Chess variant.
    pub variant: Variant,
    /// Number of this game for [`Round::Game`], if it is not that of its id.
    pub number: Option<u64>,
}

/// A record that can't be replayed. The referee writes none, but an edited journal may hold one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PgnError {
    /// Invalid position of the opening.
    #[error("game {game}: {source}")]
    Fen {
        /// Number of the game.
        game: u64,
        /// Fault of the position.
        source: FenError,
    },
    /// Invalid move.
    #[error("game {game}, ply {ply}: {source}")]
    Move {
        /// Number of the game.
        game: u64,
        /// Ply from the opening's position, from 1.
        ply: usize,
        /// Fault of the move.
        source: MoveError,
    },
}

/// Text of a game in the format of a run's `games.pgn`: tags, moves, and an empty line at the end.
///
/// # Errors
/// [`PgnError`] for a record that can't be replayed.
pub fn game(record: &GameRecord, meta: &PgnMeta<'_>) -> Result<String, PgnError> {
    game_as(record, meta, &PgnOptions::default(), None)
}

/// Tags of a game's text in the format of `options`.
pub(super) fn head(
    record: &GameRecord,
    meta: &PgnMeta<'_>,
    options: &PgnOptions,
    openings: Option<&OpeningNames>,
) -> String {
    tags::tags(record, meta, options, openings)
}

/// Text of a game in the format of `options`.
///
/// `openings` name the opening in its tags; without them, there are no such tags.
///
/// # Errors
/// [`PgnError`] for a record that can't be replayed.
pub fn game_as(
    record: &GameRecord,
    meta: &PgnMeta<'_>,
    options: &PgnOptions,
    openings: Option<&OpeningNames>,
) -> Result<String, PgnError> {
    let mut text = tags::tags(record, meta, options, openings);
    text.push('\n');
    text.push_str(&record_text(record, meta, options)?);
    text.push_str("\n\n");
    Ok(text)
}

/// Text of a game in play, or of a finished one whose record is not at hand: the roster, the start,
/// and the moves with score, depth, time and clock.
///
/// # Errors
/// [`PgnError`] for moves that can't be played.
pub(super) fn live(game: &LiveGame<'_>, meta: &PgnMeta<'_>) -> Result<String, PgnError> {
    let played = game.plies.iter().map(|ply| (&ply.uci, Comment::Live(ply)));
    let (outcome, reason) =
        game.over.as_ref().map_or(("*", ""), |(outcome, reason)| (outcome.token(), reason.as_str()));
    let text = movetext(game.id, game.opening, played, (outcome, reason), meta.variant, &PgnOptions::default())?;
    Ok(format!("{}\n{text}\n\n", tags::live(game, meta, outcome)))
}

/// A game as its onlookers know it.
pub(super) struct LiveGame<'a> {
    pub(super) id: GameId,
    pub(super) opening: &'a Opening,
    pub(super) plies: &'a [Ply],
    /// Start, as time since the Unix epoch.
    pub(super) started: Duration,
    /// Result and reason; `None` while it is played.
    pub(super) over: Option<(Outcome, String)>,
}

fn record_text(record: &GameRecord, meta: &PgnMeta<'_>, options: &PgnOptions) -> Result<String, PgnError> {
    let played = record.moves.iter().map(|played| (&played.uci, Comment::Recorded(played, options.fields)));
    let reason = match options.layout {
        Layout::Export => named_reason(record, &meta.names),
        // Uses the words of other runners' consoles, which readers of their PGN search for. An
        // illegal move is there too.
        Layout::Runner => match illegal_move(record) {
            Some(word) => format!("{}: {word}", side_reason(record, options.layout)),
            None => side_reason(record, options.layout),
        },
        Layout::Cutechess => side_reason(record, options.layout),
    };
    let end = (record.ending.outcome.token(), reason.as_str());
    movetext(record.id, &record.opening, played, end, meta.variant, options)
}

/// Moves with their comments, the last one with the reason of the end, then the result.
fn movetext<'a>(
    id: GameId,
    opening: &'a Opening,
    played: impl Iterator<Item = (&'a String, Comment<'a>)>,
    (outcome, reason): (&str, &str),
    variant: Variant,
    options: &PgnOptions,
) -> Result<String, PgnError> {
    let number = id.number();
    let mut position =
        Position::from_fen(&opening.fen, variant).map_err(|source| PgnError::Fen { game: number, source })?;
    let mut lines = WrappedLines::default();
    let book = opening.moves.iter().map(|uci| (uci, Comment::Book));
    let reason = comment::plain(reason, 200);
    let mut moves = (1..).zip(book.chain(played)).peekable();
    let is_empty = moves.peek().is_none();
    // Number, move and comment of a ply. Writing to it does not fail.
    let mut words = String::new();
    let mut is_commented = false;
    while let Some((ply, (uci, comment))) = moves.next() {
        words.clear();
        // Numbers Black's moves after a comment, as the export format requires.
        let interrupted = ply == 1 || (is_commented && options.layout == Layout::Export);
        let _ = match position.turn() {
            Color::White => write!(words, "{}. ", position.fullmoves()),
            Color::Black if interrupted => write!(words, "{}... ", position.fullmoves()),
            Color::Black => Ok(()),
        };
        let played = match options.notation {
            Notation::San => position.play_to_san(uci),
            Notation::Lan => position.play_to_lan(uci),
            Notation::Uci => position.play(uci).map(|played| played.uci),
        };
        words.push_str(&played.map_err(|source| PgnError::Move { game: number, ply, source })?);
        if !options.min {
            let comment = comment.to_string();
            let reason = if moves.peek().is_none() { reason.as_str() } else { "" };
            let gap = if comment.is_empty() || reason.is_empty() { "" } else { ", " };
            is_commented = !(comment.is_empty() && reason.is_empty());
            if is_commented {
                let _ = write!(words, " {{{comment}{gap}{reason}}}");
            }
        }
        match options.layout {
            Layout::Export => lines.push(&words),
            Layout::Runner | Layout::Cutechess => lines.push_whole(&words),
        }
    }
    if is_empty && !options.min && !reason.is_empty() {
        lines.push(&format!("{{{reason}}}"));
    }
    lines.push(outcome);
    Ok(lines.text)
}

/// Words wrapped into lines of less than 80 characters, as the export format requires.
#[derive(Default)]
struct WrappedLines {
    text: String,
    /// Number of characters in the last line.
    width: usize,
}

impl WrappedLines {
    /// Adds words that may be broken at their spaces.
    fn push(&mut self, words: &str) {
        words.split_whitespace().for_each(|word| self.push_whole(word));
    }

    /// Adds a text that stays on one line.
    fn push_whole(&mut self, word: &str) {
        let length = word.chars().count();
        // At the start of a line `%` escapes it, and readers that search for the next game stop at
        // `[`.
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
