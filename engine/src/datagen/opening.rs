//! Openings of self-play games.

use crate::board::Board;
use crate::types::{Move, MoveList, SplitMix64};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// Starting positions, and the number of random moves played from them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Openings {
    /// Positions, at least one. Without random moves there are no duplicates.
    pub positions: Vec<Board>,
    /// Range of random plies, all equally likely.
    pub random_plies: RangeInclusive<usize>,
    /// True if opcodes of an EPD give a position its clocks.
    has_opcode_clocks: bool,
}

impl Openings {
    /// Creates openings of random moves from the starting position.
    pub fn random(plies: RangeInclusive<usize>) -> Openings {
        Openings { positions: vec![Board::startpos()], random_plies: plies, has_opcode_clocks: false }
    }

    /// Parses an EPD or FEN file with one position per line. The first four fields count, and the
    /// clocks if present: the next two fields, or the opcodes `hmvc` and `fmvn`.
    ///
    /// # Errors
    /// Returns the number of a line (from 1) that is not a position, or a message that there is
    /// none.
    pub fn from_epd(text: &str, random_plies: RangeInclusive<usize>) -> Result<Openings, String> {
        let (mut positions, mut has_opcode_clocks) = (Vec::new(), false);
        for (number, line) in (1..).zip(text.lines()) {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            if fields.is_empty() || line.starts_with('#') {
                continue;
            }
            let (fen, by_opcodes) = fen_of(&fields);
            has_opcode_clocks |= by_opcodes;
            positions.push(Board::from_fen(&fen).map_err(|error| format!("line {number}: {error}"))?);
        }
        if positions.is_empty() {
            return Err("no position in it".to_owned());
        }
        if *random_plies.end() == 0 {
            let mut seen = HashSet::new();
            positions.retain(|board| seen.insert(board.key()));
        }
        Ok(Openings { positions, random_plies, has_opcode_clocks })
    }

    /// Returns the addition to a book's settings if its opcodes give the clocks; else nothing.
    /// Earlier versions ignored these opcodes, so their files of games must not be continued.
    pub fn mark(&self) -> &'static str {
        if self.has_opcode_clocks { ", clocks by opcodes" } else { "" }
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
        for _ in 0..least + random.below(most - least + 1) {
            board.play(random_move(&board, random)?);
        }
        goes_on(&board).then_some(board)
    }
}

/// Draws a legal move; `None` if there is none.
pub fn random_move(board: &Board, random: &mut SplitMix64) -> Option<Move> {
    let mut moves = MoveList::new();
    board.legal_moves(&mut moves);
    (!moves.is_empty()).then(|| moves[random.below(moves.len())])
}

/// Halfmove clock and move number of a position without them.
const UNKNOWN_CLOCKS: [&str; 2] = ["0", "1"];

/// Returns the FEN of a line's fields, and whether opcodes change its clocks.
fn fen_of(fields: &[&str]) -> (String, bool) {
    let Some((position, rest)) = fields.split_at_checked(4) else { return (fields.join(" "), false) };
    let is_clock = |field: &&str| field.parse::<u16>().is_ok();
    if rest.len() >= 2 && rest.iter().take(2).all(is_clock) {
        return (fields[..6].join(" "), false);
    }
    let clocks = opcode_clocks(&rest.join(" "));
    (format!("{} {}", position.join(" "), clocks.join(" ")), clocks != UNKNOWN_CLOCKS)
}

/// Returns the halfmove clock and the move number that the operations of an EPD give.
fn opcode_clocks(operations: &str) -> [String; 2] {
    let mut clocks = UNKNOWN_CLOCKS.map(str::to_owned);
    let mut is_quoted = false;
    // Operations end with `;`, except inside quotes.
    let operations = operations.split(|letter| {
        is_quoted ^= letter == '"';
        letter == ';' && !is_quoted
    });
    for operation in operations {
        let (opcode, operand) = operation.trim().split_once(' ').unwrap_or_default();
        match opcode {
            "hmvc" => operand.trim().clone_into(&mut clocks[0]),
            "fmvn" => operand.trim().clone_into(&mut clocks[1]),
            _ => {}
        }
    }
    clocks
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
    fn clocks_are_those_of_the_fields_or_of_the_opcodes() {
        let place = "4k3/8/8/8/8/8/4P3/4K3 b - -";
        for (rest, clocks, by_opcodes) in [
            ("", "0 1", false),
            ("7 30", "7 30", false),
            ("bm e4;", "0 1", false),
            ("hmvc 0; fmvn 1;", "0 1", false),
            ("hmvc 5; fmvn 20;", "5 20", true),
            ("fmvn 20 ; hmvc 5", "5 20", true),
            ("bm e4; id \"a; hmvc 9; b\"; fmvn 2;", "0 2", true),
        ] {
            let read = Openings::from_epd(&format!("{place} {rest}\n"), 0..=0).unwrap();
            assert_eq!(read.positions[0].to_fen(false), format!("{place} {clocks}"), "{rest}");
            assert_eq!(read.has_opcode_clocks, by_opcodes, "{rest}");
        }
        for (rest, fault) in [("hmvc x;", "bad clock `x`"), ("fmvn 99999;", "bad clock `99999`")] {
            let error = Openings::from_epd(&format!("# a book\n{place} {rest}"), 0..=0).unwrap_err();
            assert!(error.starts_with("line 2: ") && error.contains(fault), "{error}");
        }
    }

    #[test]
    fn starts_in_turn_are_all_there_once() {
        let book = "4k3/8/8/8/8/8/4P3/4K3 w - -\n4k3/8/8/8/8/8/3P4/4K3 w - -\n4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n";
        let drawn = Openings::from_epd(book, 1..=2).unwrap();
        assert!(drawn.positions.len() == 3 && !drawn.are_in_turn());
        let in_turn = Openings::from_epd(book, 0..=0).unwrap();
        assert!(in_turn.positions.len() == 2 && in_turn.are_in_turn());
        let many = Openings { positions: vec![Board::startpos(); 100], ..Openings::random(0..=0) };
        let mut order = many.order(1);
        assert_eq!(order, many.order(1));
        assert!(order != many.order(2) && !order.is_sorted());
        order.sort_unstable();
        assert!(order.into_iter().eq(0..100));
    }
}
