//! Openings of self-play games.

use crate::board::Board;
use crate::types::{MoveList, SplitMix64};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Starting positions, and the number of random moves played from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Openings {
    /// Positions, at least one. Without random moves there are no duplicates.
    pub positions: Vec<Board>,
    /// Range of random plies, all equally likely.
    pub random_plies: RangeInclusive<usize>,
}

impl Openings {
    /// Creates openings of random moves from the starting position.
    pub fn random(plies: RangeInclusive<usize>) -> Openings {
        Openings { positions: vec![Board::startpos()], random_plies: plies }
    }

    /// Parses an EPD or FEN file with one position per line. The first four fields count, and the
    /// clocks if present.
    ///
    /// # Errors
    /// Returns the number of a line (from 1) that is not a position, or a message that there is
    /// none.
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

    /// Returns whether the positions are used in turn, because no random moves lead away from them.
    /// The engine is deterministic, so games from the same position would be copies of each other.
    pub fn are_in_turn(&self) -> bool {
        *self.random_plies.end() == 0
    }

    /// Returns the indices of the positions in an order that the seed decides.
    pub fn order(&self, seed: u64) -> Vec<usize> {
        let mut random = SplitMix64::from_seeds(&[seed]);
        let mut order: Vec<usize> = (0..self.positions.len()).collect();
        for place in (1..order.len()).rev() {
            order.swap(place, random.below(place + 1));
        }
        order
    }

    /// Draws a random opening; `None` if the random moves ended the game.
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

/// Returns whether the game can continue from a position.
pub fn goes_on(board: &Board) -> bool {
    board.count_legal_moves() > 0 && board.halfmove_clock() < 100 && !board.is_insufficient_material()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_that_the_random_moves_ended_is_no_opening() {
        // The king and the bishop have no irreversible move.
        for (clock, is_opening) in [(97, true), (98, false)] {
            let book = format!("4k3/8/8/8/8/p7/P7/4KB2 w - - {clock} 80");
            let drawn = Openings::from_epd(&book, 2..=2).unwrap();
            let mut random = SplitMix64::new(1);
            assert_eq!((0..100).any(|_| drawn.draw(&mut random).is_some()), is_opening, "{clock}");
        }
    }

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
