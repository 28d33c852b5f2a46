//! Takes games apart into the quiet positions that the `texel` example fits to.
//!
//! Input: a game a line, `start FEN;move:score move:score ...;result`, moves as UCI writes them, scores in centipawns for the
//! side to move, the result for White. Output: `FEN | centipawns for White | result` of every position that is not in check, is
//! not decided and where the move played was quiet, so that the score speaks of the position and not of an exchange.
#![expect(clippy::print_stderr, reason = "skipped games are told of on the terminal")]

use destrier::board::Board;
use destrier::types::Color;
use std::io::{BufRead, BufWriter, Error, Write, stdin, stdout};

/// Positions beyond this are decided, and the scale of scores ends there.
const MAX_SCORE: i32 = 2500;

fn main() -> Result<(), Error> {
    let mut out = BufWriter::new(stdout().lock());
    for (number, line) in (1..).zip(stdin().lock().lines()) {
        match quiets(&line?) {
            Ok(lines) => out.write_all(lines.as_bytes())?,
            Err(why) => eprintln!("line {number} skipped: {why}"),
        }
    }
    out.flush()
}

fn quiets(game: &str) -> Result<String, String> {
    let fields: Vec<&str> = game.split(';').collect();
    let [start, moves, result] = fields[..] else { return Err("expected `fen;moves;result`".to_owned()) };
    let mut board = Board::from_fen(start).map_err(|error| error.to_string())?;
    let mut lines = String::new();
    for word in moves.split_ascii_whitespace() {
        let bad = || format!("bad or illegal move `{word}`");
        let (mv, score) = word.split_once(':').ok_or_else(bad)?;
        let mv = board.parse_uci(mv).ok_or_else(bad)?;
        let score: i32 = score.parse().map_err(|_| bad())?;
        if !board.in_check() && mv.is_quiet() && score.abs() < MAX_SCORE {
            let white = if board.turn() == Color::White { score } else { -score };
            lines += &format!("{} | {white} | {result}\n", board.to_fen(true));
        }
        board.play(mv);
    }
    Ok(lines)
}
