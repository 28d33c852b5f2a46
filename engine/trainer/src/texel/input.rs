//! Lines of text to positions.
//!
//! A line is a position in one of the usual notations, White's result always as `1-0`, `0-1`, `1/2-1/2` or as the number 1, 0, 1/2:
//!
//! - `FEN | centipawns for White | result` or `FEN | result`
//! - `FEN c9 "1-0";` and other EPD with a result in quotes; `FEN "0-1"`, `FEN 1/2-1/2`
//! - `FEN [1.0]`
//!
//! or a whole game, `start FEN;move:score move:score ...;result`, moves as in UCI and scores for the side to move: each of its positions
//! is taken, with the plan's `quiet` only where the move played was quiet too. Empty lines and lines that begin with `#` are passed over.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use destrier::board::Board;
use destrier::eval::trace;
use destrier::types::{Color, MoveList};
use ruzstd::decoding::StreamingDecoder;

use super::loss::on_threads;
use super::plan::Data;
use super::samples::Samples;
use super::{bar, report};

/// Lines that one thread takes at a time.
const PORTION: usize = 512;

/// An input that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// No such file, no right to read it, or damaged packing.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A line that is no position and no game.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// What is wrong and what is expected.
        message: String,
    },
}

/// Reads all files of a plan.
///
/// # Errors
/// See [`InputError`]; the first bad line ends the reading.
pub fn read(data: &Data, threads: usize) -> Result<Samples, InputError> {
    let mut all = Samples::default();
    for path in &data.files {
        read_file(path, data, threads, &mut all)?;
    }
    Ok(all)
}

fn read_file(path: &Path, data: &Data, threads: usize, all: &mut Samples) -> Result<(), InputError> {
    let unreadable = |source| InputError::Read { path: path.into(), source };
    let file = File::open(path).map_err(unreadable)?;
    let progress = bar(file.metadata().map_or(0, |data| data.len()), "bytes/s");
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let file = progress.wrap_read(BufReader::with_capacity(1 << 20, file));
    let packed = path.extension().is_some_and(|extension| extension == "zst");
    let mut lines: Box<dyn BufRead> = if packed {
        let decoder = StreamingDecoder::new(file).map_err(|error| unreadable(std::io::Error::other(error)))?;
        Box::new(BufReader::with_capacity(1 << 20, decoder))
    } else {
        Box::new(BufReader::new(file))
    };
    let before = all.len();
    let mut number = 0;
    loop {
        let portions = portions(&mut lines, data.every.get(), &mut number, threads).map_err(unreadable)?;
        if portions.is_empty() {
            break;
        }
        for part in on_threads(&portions, threads, |lines| parse_lines(lines, data)) {
            all.append(&part.map_err(|(line, message)| InputError::Line { path: path.into(), line, message })?);
        }
        progress.set_message(format!("{name}: {}", all.len() - before));
    }
    progress.finish_and_clear();
    report::say(&format!("{name}: {} positions of {number} lines", all.len() - before));
    Ok(())
}

/// The next lines with their numbers, some for each thread; of so many one.
fn portions(
    lines: &mut dyn BufRead,
    every: usize,
    number: &mut usize,
    threads: usize,
) -> std::io::Result<Vec<Vec<(usize, String)>>> {
    let mut portions = Vec::new();
    let mut portion = Vec::with_capacity(PORTION);
    while portions.len() < 4 * threads {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 {
            break;
        }
        *number += 1;
        if number.is_multiple_of(every) && !line.trim().is_empty() && !line.starts_with('#') {
            portion.push((*number, line));
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

fn parse_lines(lines: &[(usize, String)], data: &Data) -> Result<Samples, (usize, String)> {
    let mut samples = Samples::default();
    for (number, line) in lines {
        parse_line(line.trim(), data, &mut samples).map_err(|message| (*number, message))?;
    }
    Ok(samples)
}

/// Adds what a line holds, if the plan wants it.
///
/// # Errors
/// Says what is wrong with the line.
pub(super) fn parse_line(line: &str, data: &Data, samples: &mut Samples) -> Result<(), String> {
    let fields: Vec<&str> = line.split(';').collect();
    if let [start, moves, result] = fields[..]
        && moves.contains(':')
    {
        return parse_game(start, moves, parse_result(result)?, data, samples);
    }
    let (board, score, result) = parse_position(line)?;
    if score.is_none_or(|score| score.abs() <= data.max_score) && (!data.quiet || is_quiet(&board)) {
        samples.push(&trace(&board), score.map(|score| score as f32), result);
    }
    Ok(())
}

fn parse_game(start: &str, moves: &str, result: f32, data: &Data, samples: &mut Samples) -> Result<(), String> {
    let mut board = board(start)?;
    for word in moves.split_ascii_whitespace() {
        let bad = || format!("bad or illegal move `{word}`; expected moves as `e2e4:31`, legal in their order");
        let (mv, score) = word.split_once(':').ok_or_else(bad)?;
        let mv = board.parse_uci(mv).ok_or_else(bad)?;
        let score: i32 = score.parse().map_err(|_| bad())?;
        let wanted = score.saturating_abs() <= data.max_score;
        if wanted && (!data.quiet || mv.is_quiet() && is_quiet(&board)) {
            let white = if board.turn() == Color::White { score } else { -score };
            samples.push(&trace(&board), Some(white as f32), result);
        }
        board.play(mv);
    }
    Ok(())
}

/// The board, centipawns for White where given, White's result.
pub(super) fn parse_position(line: &str) -> Result<(Board, Option<i32>, f32), String> {
    let fields: Vec<&str> = line.split('|').map(str::trim).collect();
    match fields[..] {
        [fen, score, result] => {
            let score = score.parse().map_err(|_| format!("bad score `{score}`; expected centipawns for White"))?;
            return Ok((board(fen)?, Some(score), parse_result(result)?));
        }
        [fen, result] => return Ok((board(fen)?, None, parse_result(result)?)),
        _ => {}
    }
    // Pieces, side, castling and en passant, then perhaps the counters, which are numbers without a name.
    let mut ends = line.match_indices(' ').map(|(at, _)| at);
    let end = ends.nth(3).unwrap_or(line.len());
    let (epd, rest) = line.split_at(end);
    let rest = rest.trim();
    let counters = rest.split(' ').take(2).take_while(|word| word.parse::<u16>().is_ok()).count();
    let after = if counters == 2 { rest.splitn(3, ' ').nth(2).unwrap_or_default() } else { rest };
    let board = board(&format!("{epd} 0 1"))?;
    let quoted = || after.split('"').skip(1).step_by(2).find_map(result_of);
    let bracketed = || after.split('[').skip(1).filter_map(|rest| rest.split(']').next()).find_map(result_of);
    let last = || after.trim_end_matches(';').split_ascii_whitespace().last().and_then(result_of);
    match quoted().or_else(bracketed).or_else(last) {
        Some(result) => Ok((board, None, result)),
        None => {
            Err("no result; expected one such as `c9 \"1-0\";`, `[0.5]`, `| 31 | 1.0` or `1/2-1/2` after the position"
                .to_owned())
        }
    }
}

fn board(fen: &str) -> Result<Board, String> {
    Board::from_fen(fen.trim()).map_err(|error| format!("bad position: {error}"))
}

fn parse_result(text: &str) -> Result<f32, String> {
    result_of(text)
        .ok_or_else(|| format!("bad result `{}`; expected 1-0, 0-1, 1/2-1/2 or 1, 0, 0.5, White's view", text.trim()))
}

/// White's result in the usual words.
fn result_of(text: &str) -> Option<f32> {
    match text.trim() {
        "1-0" => Some(1.0),
        "0-1" => Some(0.0),
        "1/2-1/2" | "1/2" => Some(0.5),
        number => number.parse().ok().filter(|result| [0.0, 0.5, 1.0].contains(result)),
    }
}

/// Not in check, and no capture or promotion wins a pawn or more by its exchanges.
#[must_use]
pub fn is_quiet(board: &Board) -> bool {
    if board.in_check() {
        return false;
    }
    let mut moves = MoveList::new();
    board.legal_captures(&mut moves);
    moves.iter().all(|mv| !board.see_ge(*mv, 1))
}
