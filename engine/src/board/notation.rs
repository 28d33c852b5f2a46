//! Moves in UCI notation.

use super::{Board, CastlingSide};
use crate::types::{Move, MoveList, PieceType, Square};

impl Board {
    /// Finds the legal move of a UCI word such as `e2e4` or `e7e8q`. Castling may be the king's
    /// step (`e1g1`) or king takes rook (`e1h1`). An ordinary king move of that name takes
    /// precedence.
    pub fn parse_uci(&self, word: &str) -> Option<Move> {
        let from = Square::parse(word.get(0..2)?)?;
        let to = Square::parse(word.get(2..4)?)?;
        let mut rest = word.get(4..)?.chars();
        let promotion = match rest.next() {
            None => None,
            Some(letter) => Some(PieceType::from_letter(letter)?),
        };
        if rest.next().is_some() {
            return None;
        }
        let mut moves = MoveList::new();
        self.legal_moves(&mut moves);
        let exact = |mv: &&Move| mv.from() == from && mv.to() == to && mv.promotion() == promotion;
        let castled = |mv: &&Move| {
            mv.is_castling() && mv.from() == from && promotion.is_none() && self.castling_target(**mv) == to
        };
        moves.iter().find(exact).or_else(|| moves.iter().find(castled)).copied()
    }

    /// Formats a move in UCI notation; with `chess960` castling is king takes rook.
    pub fn to_uci(&self, mv: Move, chess960: bool) -> String {
        if mv.is_null() {
            return "0000".to_owned();
        }
        if mv.is_castling() && !chess960 {
            return format!("{}{}", mv.from(), self.castling_target(mv));
        }
        format!("{mv:?}")
    }

    /// Returns the king's target square of a castling move.
    fn castling_target(&self, mv: Move) -> Square {
        let side = if mv.to() > mv.from() { CastlingSide::King } else { CastlingSide::Queen };
        side.king_target(self.turn())
    }
}
