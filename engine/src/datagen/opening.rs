//! Where games of self-play begin.

use crate::board::Board;
use crate::types::{MoveList, SplitMix64};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Positions to begin with, and how many random moves are played from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Openings {
    /// At least one; each is there once where there are no random moves.
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
        if *random_plies.end() == 0 {
            let mut seen = HashSet::new();
            positions.retain(|board| seen.insert(board.key()));
        }
        Ok(Openings { positions, random_plies })
    }

    /// True where no random moves lead away from the positions. Games from one position are then copies of each other, for the
    /// engine always plays the same: so the positions are used in turn, not drawn.
    pub fn are_in_turn(&self) -> bool {
        *self.random_plies.end() == 0
    }

    /// The places of the positions in an order that the seed decides.
    pub fn order(&self, seed: u64) -> Vec<usize> {
        let mut random = SplitMix64::from_seeds(&[seed]);
        let mut order: Vec<usize> = (0..self.positions.len()).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place + 1));
        }
        order
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
        goes_on(&board).then_some(board)
    }
}

/// False for a start with which the game is over.
pub fn goes_on(board: &Board) -> bool {
    board.count_legal_moves() > 0 && !board.is_insufficient_material()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_in_turn_are_all_there_once() {
        let book = "4k3/8/8/8/8/8/4P3/4K3 w - -\n4k3/8/8/8/8/8/3P4/4K3 w - -\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n";
        let drawn = Openings::from_epd(book, 1..=2).unwrap();
        assert!(drawn.positions.len() == 3 && !drawn.are_in_turn());
        let in_turn = Openings::from_epd(book, 0..=0).unwrap();
        assert!(in_turn.positions.len() == 2 && in_turn.are_in_turn());
        let many = Openings { positions: vec![Board::startpos(); 100], random_plies: 0..=0 };
        let mut order = many.order(1);
        assert_eq!(order, many.order(1));
        assert!(order != many.order(2) && !order.is_sorted());
        order.sort_unstable();
        assert!(order.into_iter().eq(0..100));
    }
}
