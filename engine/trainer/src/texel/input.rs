//! Parser of text lines to positions.
//!
//! A line is a position in one of the usual notations, with White's result as `1-0`, `0-1`,
//! `1/2-1/2` or as the number 1, 0, 1/2:
//!
//! - `FEN | centipawns for White | result` or `FEN | result`
//! - `FEN c9 "1-0";` and other EPD with a result in quotes; `FEN "0-1"`, `FEN 1/2-1/2`
//! - `FEN [1.0]`
//!
//! or a whole game, `start FEN;move:score move:score ...;result`, with UCI moves and scores for the
//! side to move, `-` if there is none. Each of its positions is taken; with the plan's `quiet`,
//! only those before a quiet move. Empty lines and lines that begin with `#` are skipped.

use std::path::Path;
use std::sync::atomic::Ordering;

use destrier::board::Board;
use destrier::datagen::viriformat::{GameResult, NO_SCORE};
use destrier::eval::trace;
use destrier::types::Move;

use super::loss::on_threads;
use super::plan::TexelData;
use super::samples::Samples;
use super::{bar, report};
use crate::data::Lines;
use crate::data::record::{Entry, Position, wins_material};
use crate::data::text;
use crate::data::{DataError, Place, RecordFault};

/// Lines per portion of work for a thread.
const PORTION: usize = 512;

/// Lines with their numbers, from 1.
type Portion = Vec<(u64, String)>;

/// Reads all files of a plan.
///
/// # Errors
/// Fails if a file cannot be read, or at the first line that is neither a position nor a game.
pub fn read(data: &TexelData, threads: usize) -> Result<Samples, DataError> {
    let mut all = Samples::default();
    for path in &data.files {
        read_file(path, data, threads, &mut all)?;
    }
    Ok(all)
}

fn read_file(path: &Path, data: &TexelData, threads: usize, all: &mut Samples) -> Result<(), DataError> {
    let (mut lines, length, read) = Lines::open(path)?;
    let progress = bar(length, "bytes/s");
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let before = all.len();
    loop {
        let portions = portions(&mut lines, data.every.get() as u64, threads)?;
        if portions.is_empty() {
            break;
        }
        for part in on_threads(&portions, threads, |lines| parse_lines(path, lines, data)) {
            all.append(&part?);
        }
        progress.set_position(read.load(Ordering::Relaxed));
        progress.set_message(format!("{name}: {}", all.len() - before));
    }
    progress.finish_and_clear();
    report::say(&format!("{name}: {} positions of {} lines", all.len() - before, lines.number));
    Ok(())
}

/// Reads the next portions, several per thread, with one line of `every`.
fn portions(lines: &mut Lines, every: u64, threads: usize) -> Result<Vec<Portion>, DataError> {
    let mut portions = Vec::new();
    let mut portion = Vec::with_capacity(PORTION);
    while portions.len() < 4 * threads {
        let Some(line) = lines.next_line()?.map(str::to_owned) else { break };
        if lines.number.is_multiple_of(every) && !line.starts_with('#') {
            portion.push((lines.number, line));
        }
        if portion.len() == PORTION {
            portions.push(std::mem::take(&mut portion));
        }
    }
    if !portion.is_empty() {
        portions.push(portion);
    }
    Ok(portions)
}

fn parse_lines(path: &Path, lines: &[(u64, String)], data: &TexelData) -> Result<Samples, DataError> {
    let mut samples = Samples::default();
    for (number, line) in lines {
        for position in parse_line(line).map_err(|bad| DataError::bad(path, Place::Line(*number), bad.0))? {
            take(&position, data, &mut samples);
        }
    }
    Ok(samples)
}

/// Adds a position if it passes the plan's filters.
fn take(position: &Position, data: &TexelData, samples: &mut Samples) {
    let Position { board, mv, score, result } = position;
    let score = (*score != NO_SCORE).then(|| i32::from(*score));
    if score.is_none_or(|score| score.abs() <= data.max_score) && (!data.quiet || mv.is_quiet() && is_quiet(board)) {
        samples.push(&trace(board), score.map(|score| score as f32), f32::from(result.half_points()) / 2.0);
    }
}

/// Parses the positions of a line.
///
/// # Errors
/// Fails with a description of the fault.
fn parse_line(line: &str) -> Result<Vec<Position>, RecordFault> {
    if line.split(';').nth(1).is_some_and(begins_a_game) {
        return Ok(Entry::Game(text::game(line)?).positions());
    }
    Ok(vec![parse_position(line)?])
}

/// Returns true if the text after a position begins with a move in UCI notation and a colon, as the
/// moves of a game do. Operations of an EPD may have colons too.
fn begins_a_game(moves: &str) -> bool {
    let Some((mv, _)) = moves.trim_start().split_once(':') else { return false };
    let [b'a'..=b'h', b'1'..=b'8', b'a'..=b'h', b'1'..=b'8', promotion @ ..] = mv.as_bytes() else { return false };
    matches!(promotion, [] | [b'n' | b'b' | b'r' | b'q'])
}

/// Parses a single position, with its score if the line has one.
pub(super) fn parse_position(line: &str) -> Result<Position, RecordFault> {
    let unscored = |fen: &str, result| {
        let board = Board::from_fen(fen.trim()).map_err(|error| RecordFault(format!("bad position: {error}")))?;
        Ok(Position { board, mv: Move::NULL, score: NO_SCORE, result })
    };
    match line.matches('|').count() {
        0 => {}
        1 => {
            let (fen, result) = line.split_once('|').unwrap_or((line, ""));
            return unscored(fen, text::result(result)?);
        }
        _ => return text::position(line),
    }
    // The first four fields are pieces, side, castling and en passant. The two move counters may
    // follow, which are plain numbers.
    let mut ends = line.match_indices(' ').map(|(at, _)| at);
    let end = ends.nth(3).unwrap_or(line.len());
    let (epd, rest) = line.split_at(end);
    let rest = rest.trim();
    let counters = rest.split(' ').take(2).take_while(|word| word.parse::<u16>().is_ok()).count();
    let after = if counters == 2 { rest.splitn(3, ' ').nth(2).unwrap_or_default() } else { rest };
    let result = |word: &str| text::result(word).ok();
    let of_c9 = || after.split_once("c9 \"").and_then(|(_, rest)| result(rest.split('"').next()?));
    let quoted = || after.split('"').skip(1).step_by(2).find_map(result);
    let bracketed = || after.split('[').skip(1).filter_map(|rest| rest.split(']').next()).find_map(result);
    // A 1 or 0 after an opcode is its operand, such as the move number of `fmvn 1;`.
    let last = || {
        let operation = after.trim_end_matches(';').rsplit(';').next()?.trim();
        let word = operation.split_ascii_whitespace().last()?;
        result(word).filter(|_| word == operation || !matches!(word, "0" | "1"))
    };
    let found = of_c9().or_else(quoted).or_else(bracketed).or_else(last);
    // An invalid position is reported before a missing result.
    let position = unscored(&format!("{epd} 0 1"), found.unwrap_or(GameResult::Draw))?;
    found.map(|_| position).ok_or_else(|| {
        RecordFault(
            "no result; expected one such as `c9 \"1-0\";`, `[0.5]`, `| 31 | 1.0` or `1/2-1/2` after the position"
                .to_owned(),
        )
    })
}

/// Returns true if the side to move is not in check and no capture or promotion wins a pawn or more
/// by static exchange evaluation.
#[must_use]
pub fn is_quiet(board: &Board) -> bool {
    !board.in_check() && !wins_material(board, 1)
}
