//! Text formats: one position per line, one game per line, and `.plain`.

use super::error::{DataError, Place, RecordFault};
use super::lines::Lines;
use super::record::{self, Entry, Position, is_chess960};
use destrier::board::Board;
use destrier::datagen::viriformat::{GameResult, MAX_PLIES, NO_SCORE, ScoredGame, ScoredMove};
use destrier::types::{Color, Move};
use std::fmt::Write;

fn each_line(
    mut lines: Lines,
    read: impl Fn(&str) -> Result<Entry, RecordFault>,
) -> impl Iterator<Item = Result<Entry, DataError>> {
    std::iter::from_fn(move || {
        let entry = match lines.next_line() {
            Ok(None) => return None,
            Ok(Some(line)) => read(line),
            Err(error) => return Some(Err(error)),
        };
        Some(entry.map_err(|bad| lines.bad(bad.0)))
    })
}

fn bad(what: &str, text: &str, expected: &str) -> RecordFault {
    let shown: String = text.chars().take(80).collect();
    RecordFault(format!("bad {what} `{shown}`, expected {expected}"))
}

fn board(fen: &str) -> Result<Board, RecordFault> {
    Board::from_fen(fen).map_err(|error| RecordFault(error.to_string()))
}

fn score(text: &str) -> Result<i16, RecordFault> {
    let score: i32 = text.trim().parse().map_err(|_| bad("score", text.trim(), "centipawns"))?;
    Ok(score.clamp(-i32::from(NO_SCORE) + 1, i32::from(NO_SCORE) - 1) as i16)
}

/// Converts a score between the side to move's view and White's.
fn white(score: i16, turn: Color) -> i16 {
    if turn == Color::White { score } else { score.saturating_neg() }
}

/// Parses White's result in the usual notations.
pub fn result(text: &str) -> Result<GameResult, RecordFault> {
    match text.trim().trim_start_matches('[').trim_end_matches(']') {
        "1.0" | "1" | "1-0" => Ok(GameResult::WhiteWins),
        "0.5" | "1/2" | "1/2-1/2" => Ok(GameResult::Draw),
        "0.0" | "0" | "0-1" => Ok(GameResult::BlackWins),
        other => Err(bad("result", other, "1.0, 0.5 or 0.0 (1-0, 1/2-1/2, 0-1) of White")),
    }
}

/// Last ply of move 9999, the highest move number in a FEN.
const MAX_PLY: u32 = 2 * 9999 - 1;

const RESULTS: [&str; 3] = ["0.0", "0.5", "1.0"];

/// Reads a position from each line.
pub fn texts(lines: Lines) -> impl Iterator<Item = Result<Entry, DataError>> {
    each_line(lines, |line| position(line).map(Entry::Position))
}

/// Parses `FEN | centipawns | result`, both from White's view.
pub fn position(line: &str) -> Result<Position, RecordFault> {
    let fields: Vec<&str> = line.splitn(4, '|').collect();
    let [fen, cp, wdl] = fields[..] else { return Err(bad("line", line, "`FEN | centipawns | result`")) };
    Ok(Position { board: board(fen)?, mv: Move::NULL, score: score(cp)?, result: result(wdl)? })
}

/// Appends the line of a position.
pub fn write_text(position: &Position, out: &mut String) {
    let (fen, wdl) = (position.board.to_fen(false), RESULTS[usize::from(position.result.half_points())]);
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{fen} | {} | {wdl}", position.score);
}

/// Formats a move for UCI. Castling is king takes rook in Chess960 positions; the parser accepts
/// both notations everywhere.
fn uci(board: &Board, mv: Move) -> String {
    board.to_uci(mv, is_chess960(board))
}

/// Reads a game from each line.
pub fn self_play(lines: Lines) -> impl Iterator<Item = Result<Entry, DataError>> {
    each_line(lines, |line| game(line).map(Entry::Game))
}

/// Parses `start FEN;move:score move:score ...;result`. Scores are the side to move's, `-` means
/// none, and the result is White's.
pub fn game(line: &str) -> Result<ScoredGame, RecordFault> {
    let fields: Vec<&str> = line.splitn(4, ';').collect();
    let [fen, plies, wdl] = fields[..] else {
        return Err(bad("line", line, "`FEN;move:score move:score ...;result`"));
    };
    let start = board(fen)?;
    let mut game = ScoredGame { start, start_score: 0, result: result(wdl)?, plies: Vec::new() };
    let mut board = start;
    for ply in plies.split_ascii_whitespace() {
        if game.plies.len() == MAX_PLIES {
            return Err(RecordFault(format!("more than {MAX_PLIES} plies")));
        }
        let (word, cp) = ply.split_once(':').ok_or_else(|| bad("ply", ply, "`move:score`"))?;
        let mv = board.parse_uci(word).ok_or_else(|| bad("move", word, "a legal one"))?;
        let score = if cp == "-" { NO_SCORE } else { white(score(cp)?, board.turn()) };
        game.plies.push(ScoredMove { mv, score });
        board.play(mv);
    }
    Ok(game)
}

/// Appends the line of a game.
pub fn write_self_play(game: &ScoredGame, out: &mut String) {
    let _ = write!(out, "{};", game.start.to_fen(false));
    for (place, (board, ply)) in game.positions().enumerate() {
        let blank = if place == 0 { "" } else { " " };
        let _ = write!(out, "{blank}{}:", uci(&board, ply.mv));
        let _ = match ply.score {
            NO_SCORE => write!(out, "-"),
            score => write!(out, "{}", white(score, board.turn())),
        };
    }
    let _ = writeln!(out, ";{}", RESULTS[usize::from(game.result.half_points())]);
}

/// Iterator that joins positions to games if each follows from the previous one by its move. It
/// ends after an error.
pub struct GameJoiner<I> {
    positions: I,
    is_over: bool,
    /// Current game and the position after its last move.
    open: Option<(ScoredGame, Board)>,
}

impl<I> GameJoiner<I> {
    pub fn new(positions: I) -> GameJoiner<I> {
        GameJoiner { positions, is_over: false, open: None }
    }

    /// Adds a position. Returns the previous game if the position does not continue it.
    fn push(&mut self, position: &Position) -> Option<ScoredGame> {
        let mut after = position.board;
        after.play(position.mv);
        let ply = ScoredMove { mv: position.mv, score: position.score };
        if let Some((game, end)) = &mut self.open
            && *end == position.board
            && game.result == position.result
            && game.plies.len() < MAX_PLIES
        {
            game.plies.push(ply);
            *end = after;
            return None;
        }
        let game = ScoredGame { start: position.board, start_score: 0, result: position.result, plies: vec![ply] };
        self.open.replace((game, after)).map(|(game, _)| game)
    }
}

impl<I: Iterator<Item = Result<Position, DataError>>> Iterator for GameJoiner<I> {
    type Item = Result<Entry, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.is_over {
            match self.positions.next() {
                Some(Ok(position)) => {
                    if let Some(game) = self.push(&position) {
                        return Some(Ok(Entry::Game(game)));
                    }
                }
                None => self.is_over = true,
                Some(Err(error)) => {
                    self.is_over = true;
                    self.open = None;
                    return Some(Err(error));
                }
            }
        }
        self.open.take().map(|(game, _)| Ok(Entry::Game(game)))
    }
}

/// Reader of `.plain`: six lines per position, `fen`, `move`, `score`, `ply`, `result`, `e`. Score
/// and result are the side to move's. The ply overrides the move number of the FEN, which is always
/// 1 in some files.
pub struct Plain(pub Lines);

impl Plain {
    /// Returns the next position; `None` at the end of the file.
    fn read(&mut self) -> Result<Option<Position>, DataError> {
        let (mut fen, mut mv, mut cp, mut ply, mut wdl) = (None, None, None, None, None);
        loop {
            let Some(line) = self.0.next_line()? else {
                if fen.is_none() && mv.is_none() {
                    return Ok(None);
                }
                return Err(self.0.bad("the file ends within a record, expected `e`"));
            };
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            let value = value.trim();
            let found = match key {
                "fen" => board(value).map(|board| fen = Some(board)),
                "move" => {
                    mv = Some(value.to_owned());
                    Ok(())
                }
                "score" => score(value).map(|score| cp = Some(score)),
                "ply" => {
                    let found = value.parse().map_err(|_| bad("ply", value, "plies from the start of the game"));
                    found.map(|found: u32| ply = Some((found, self.0.number)))
                }
                "result" => plain_result(value).map(|result| wdl = Some(result)),
                "e" => break,
                _ => Err(bad("line", line, "fen, move, score, ply, result or e")),
            };
            found.map_err(|bad| self.0.bad(bad.0))?;
        }
        let (Some(board), Some(word), Some(cp), Some(wdl)) = (fen, mv, cp, wdl) else {
            return Err(self.0.bad("record without fen, move, score or result"));
        };
        let board = match ply {
            Some((ply, line)) => {
                at_ply(board, ply).map_err(|bad| DataError::bad(&self.0.path, Place::Line(line), bad.0))?
            }
            None => board,
        };
        let Some(mv) = board.parse_uci(&word) else {
            return Err(self.0.bad(bad("move", &word, "a legal one").0));
        };
        Ok(Some(Position::of_stockfish(board, mv, cp, wdl)))
    }
}

/// Returns the board with the move number that corresponds to a ply.
fn at_ply(board: Board, ply: u32) -> Result<Board, RecordFault> {
    if record::ply(&board) == ply {
        return Ok(board);
    }
    if (ply % 2 == 1) != (board.turn() == Color::Black) {
        let expected = match board.turn() {
            Color::White => "an even one, for White is to move",
            Color::Black => "an odd one, for Black is to move",
        };
        return Err(bad("ply", &ply.to_string(), expected));
    }
    if ply > MAX_PLY {
        return Err(bad("ply", &ply.to_string(), &format!("at most {MAX_PLY}")));
    }
    let fen = board.to_fen(false);
    let before = fen.rsplit_once(' ').map_or("", |(before, _)| before);
    self::board(&format!("{before} {}", ply / 2 + 1))
}

/// Parses the side to move's result: 1, 0 or -1.
fn plain_result(text: &str) -> Result<GameResult, RecordFault> {
    match text {
        "1" => Ok(GameResult::WhiteWins),
        "0" => Ok(GameResult::Draw),
        "-1" => Ok(GameResult::BlackWins),
        other => Err(bad("result", other, "1, 0 or -1")),
    }
}

impl Iterator for Plain {
    type Item = Result<Position, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.read().transpose()
    }
}

/// Appends the six lines of a position.
pub fn write_plain(position: &Position, out: &mut String) {
    let (score, result) = position.relative();
    let (fen, word) = (position.board.to_fen(false), uci(&position.board, position.mv));
    let result = i32::from(result.half_points()) - 1;
    let _ = writeln!(out, "fen {fen}\nmove {word}\nscore {score}\nply {}\nresult {result}\ne", position.ply());
}
