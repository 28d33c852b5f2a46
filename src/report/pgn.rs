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

use std::fmt::Write as _;
use std::time::Duration;

use chrono::{DateTime, Utc};
use thiserror::Error;

use crate::chess::{FenError, MoveError, Position, START_FEN, Variant};
use crate::plan::time_control::{Limit, Seconds};
use crate::record::{ByColor, Color, GameRecord, MoveRecord, Outcome, Score, Termination};

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

/// The game's text: tags, moves, and an empty line at the end.
///
/// # Errors
/// [`PgnError`] for a record that can't be replayed.
pub fn game(record: &GameRecord, meta: &Meta<'_>) -> Result<String, PgnError> {
    let mut text = tags(record, meta);
    text.push('\n');
    text.push_str(&movetext(record, meta)?);
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

/// The seven-tag roster, then what else there is in alphabetical order.
fn tags(record: &GameRecord, meta: &Meta<'_>) -> String {
    let time = |since_epoch: Duration| {
        let seconds = i64::try_from(since_epoch.as_secs()).unwrap_or(i64::MAX);
        DateTime::<Utc>::from_timestamp(seconds, 0).unwrap_or(DateTime::UNIX_EPOCH)
    };
    let (start, end) = (time(record.started), time(record.started.saturating_add(record.took)));
    let mut tags = vec![
        ("Event", meta.event.to_owned()),
        ("Site", meta.site.to_owned()),
        ("Date", start.format("%Y.%m.%d").to_string()),
        ("Round", format!("{}.{}", record.id.pair.0.saturating_add(1), record.id.leg.index() + 1)),
        ("White", meta.names.white.to_owned()),
        ("Black", meta.names.black.to_owned()),
        ("Result", record.ending.outcome.token().to_owned()),
    ];
    let roster = tags.len();
    if record.opening.fen != START_FEN || meta.variant == Variant::Chess960 {
        tags.push(("SetUp", "1".to_owned()));
        tags.push(("FEN", record.opening.fen.clone()));
    }
    if meta.variant == Variant::Chess960 {
        tags.push(("Variant", "Chess960".to_owned()));
    }
    let seconds = record.took.as_secs();
    tags.push(("GameDuration", format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)));
    tags.push(("GameStartTime", start.format("%Y-%m-%dT%H:%M:%SZ").to_string()));
    tags.push(("GameEndTime", end.format("%Y-%m-%dT%H:%M:%SZ").to_string()));
    tags.push(("PlyCount", (record.opening.moves.len() + record.moves.len()).to_string()));
    tags.push(("Termination", termination(record.ending.termination).to_owned()));
    let (white, black) = (time_control(&meta.limits.white), time_control(&meta.limits.black));
    if white == black {
        tags.push(("TimeControl", white));
    } else {
        tags.push(("WhiteTimeControl", white));
        tags.push(("BlackTimeControl", black));
    }
    tags[roster..].sort_by_key(|(name, _)| *name);
    tags.iter().fold(String::new(), |mut text, (name, value)| {
        // Writing to a string does not fail.
        let _ = writeln!(text, "[{name} \"{}\"]", tag_value(value));
        text
    })
}

const fn termination(termination: Termination) -> &'static str {
    match termination {
        Termination::Checkmate
        | Termination::Stalemate
        | Termination::InsufficientMaterial
        | Termination::ThreefoldRepetition
        | Termination::FiftyMoves => "normal",
        Termination::TimeForfeit => "time forfeit",
        Termination::IllegalMove => "illegal move",
        Termination::Crash | Termination::Stall => "abandoned",
        Termination::ResignAdjudication
        | Termination::DrawAdjudication
        | Termination::MaxPliesAdjudication
        | Termination::TablebaseAdjudication => "adjudication",
    }
}

fn time_control(limit: &Limit) -> String {
    match (limit.clock, limit.movetime) {
        (Some(clock), _) => clock.to_string(),
        (None, Some(movetime)) => format!("{}/move", Seconds(movetime)),
        (None, None) => "-".to_owned(),
    }
}

/// A tag's value: `"` and `\` escaped, control characters as spaces, cut after 200 characters (the standard allows lines of 255).
fn tag_value(text: &str) -> String {
    let mut value = String::with_capacity(text.len());
    for c in text.chars().take(200) {
        match c {
            '"' | '\\' => value.extend(['\\', c]),
            c if c.is_control() => value.push(' '),
            c => value.push(c),
        }
    }
    value
}

fn movetext(record: &GameRecord, meta: &Meta<'_>) -> Result<String, PgnError> {
    let number = record.id.number();
    let mut position = Position::from_fen(&record.opening.fen, meta.variant)
        .map_err(|source| PgnError::Fen { game: number, source })?;
    let mut lines = Lines::default();
    let book = record.opening.moves.iter().map(|uci| (uci, "book".to_owned()));
    let played = record.moves.iter().map(|played| (&played.uci, comment(played)));
    let count = record.opening.moves.len() + record.moves.len();
    let reason = comment_text(&reason(record, &meta.names));
    for (ply, (uci, comment)) in (1..).zip(book.chain(played)) {
        // Every move has a comment, and after a comment Black's move needs its number.
        let dots = if position.turn() == Color::White { "." } else { "..." };
        lines.push(&format!("{}{dots}", position.fullmoves()));
        lines.push(&position.play_to_san(uci).map_err(|source| PgnError::Move { game: number, ply, source })?);
        let last = if ply == count { format!(", {reason}") } else { String::new() };
        lines.push(&format!("{{{comment}{last}}}"));
    }
    if count == 0 {
        lines.push(&format!("{{{reason}}}"));
    }
    lines.push(record.ending.outcome.token());
    Ok(lines.text)
}

/// `+0.35/12 0.051s, n=12345`
fn comment(played: &MoveRecord) -> String {
    let info = &played.info;
    let mut text = match info.score {
        Some(score) => format!("{}/{} ", score_text(score), info.depth.unwrap_or(0)),
        None => String::new(),
    };
    // Writing to a string does not fail.
    let _ = write!(text, "{}.{:03}s", played.elapsed.as_secs(), played.elapsed.subsec_millis());
    if let Some(nodes) = info.nodes {
        let _ = write!(text, ", n={nodes}");
    }
    text
}

/// Pawns with two decimals, or `M` and the plies to mate; signed, the mover's point of view.
fn score_text(score: Score) -> String {
    match score {
        Score::Cp(0) => "0.00".to_owned(),
        Score::Cp(cp) => {
            let (sign, cp) = (if cp < 0 { '-' } else { '+' }, cp.unsigned_abs());
            format!("{sign}{}.{:02}", cp / 100, cp % 100)
        }
        Score::Mate(moves) if moves > 0 => format!("+M{}", i64::from(moves) * 2 - 1),
        Score::Mate(moves) => format!("-M{}", i64::from(moves) * -2),
    }
}

/// Words for a comment: braces rounded, control characters as spaces, cut after 200 characters.
fn comment_text(text: &str) -> String {
    let plain = |c: char| match c {
        '{' => '(',
        '}' => ')',
        c if c.is_control() => ' ',
        c => c,
    };
    text.chars().take(200).map(plain).collect()
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
        for word in token.split_whitespace() {
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
}

#[cfg(test)]
mod tests;
