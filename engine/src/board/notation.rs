//! Moves as UCI writes them.

use super::{Board, CastlingSide};
use crate::types::{Move, MoveList, PieceType, Square};

impl Board {
    /// The legal move of a UCI word such as `e2e4`, `e7e8q`; castling as king to its target (`e1g1`) or king takes rook
    /// (`e1h1`). A plain king step of that name goes first.
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

    /// A move as UCI writes it; `chess960` asks for castling as king takes rook.
    pub fn to_uci(&self, mv: Move, chess960: bool) -> String {
        if mv.is_null() {
            return "0000".to_owned();
        }
        if mv.is_castling() && !chess960 {
            return format!("{}{}", mv.from(), self.castling_target(mv));
        }
        format!("{mv:?}")
    }

    /// Where the king of a castling move ends.
    fn castling_target(&self, mv: Move) -> Square {
        let side = if mv.to() > mv.from() { CastlingSide::King } else { CastlingSide::Queen };
        side.king_target(self.turn())
    }
}
