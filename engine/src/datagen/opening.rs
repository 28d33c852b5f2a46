//! Where games of self-play begin.

use crate::board::Board;
use crate::types::{MoveList, SplitMix64};
use std::ops::RangeInclusive;

/// Positions to begin with, and how many random moves are played from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Openings {
    /// At least one.
    pub positions: Vec<Board>,
    /// Each number of the range is as likely as the others.
    pub random_plies: RangeInclusive<usize>,
}

impl Openings {
    /// The start position and so many random moves.
    pub fn random(plies: RangeInclusive<usize>) -> Openings {
        Openings { positions: vec![Board::startpos()], random_plies: plies }
    }

    /// Reads an EPD or FEN file: a position a line, of which the first four fields count, and the clocks where there are some.
    ///
    /// # Errors
    /// The line that is no position (from 1), or that there is none.
    pub fn from_epd(text: &str, random_plies: RangeInclusive<usize>) -> Result<Openings, String> {
        let mut positions = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if fields.is_empty() || line.starts_with('#') {
                continue;
            }
            let is_clock = |field: &&&str| field.parse::<u16>().is_ok();
            let clocks = fields.iter().skip(4).take(2).filter(is_clock).count();
            let count = if clocks == 2 { 6 } else { 4 };
            let fen = fields[..count.min(fields.len())].join(" ");
            positions.push(Board::from_fen(&fen).map_err(|error| format!("line {number}: {error}"))?);
        }
        if positions.is_empty() {
            return Err("no position in it".to_owned());
        }
        Ok(Openings { positions, random_plies })
    }

    /// A start drawn by chance; none where the random moves ended the game.
    pub fn draw(&self, random: &mut SplitMix64) -> Option<Board> {
        let mut board = self.positions[random.below(self.positions.len())];
        let (least, most) = (*self.random_plies.start(), *self.random_plies.end());
        let mut moves = MoveList::new();
        for _ in 0..least + random.below(most - least + 1) {
            moves.clear();
            board.legal_moves(&mut moves);
            if moves.is_empty() {
                return None;
            }
            board.play(moves[random.below(moves.len())]);
        }
        (board.count_legal_moves() > 0 && !board.is_insufficient_material()).then_some(board)
    }
}
