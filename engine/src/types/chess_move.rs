//! Moves packed into sixteen bits.

use super::{PieceType, Square};
use std::fmt;

/// Move with origin in bits 0 to 5, target in bits 6 to 11 and a [`Flag`] in bits 12 to 15.
///
/// Castling is stored as the king capturing its own rook, which covers Chess960.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Move(u16);

/// Kind of a move. Bit 2 means capture and bit 3 promotion; for promotions bits 0 and 1 are the
/// piece.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Flag {
    /// Move without a capture or any of the special cases below.
    Quiet = 0,
    /// Pawn move by two squares.
    DoublePush = 1,
    /// Castling; the target is the rook's square.
    Castling = 2,
    /// Capture without promotion.
    Capture = 4,
    /// En passant capture.
    EnPassant = 5,
    /// Promotion to a knight.
    KnightPromotion = 8,
    /// Promotion to a bishop.
    BishopPromotion = 9,
    /// Promotion to a rook.
    RookPromotion = 10,
    /// Promotion to a queen.
    QueenPromotion = 11,
    /// Capture with promotion to a knight.
    KnightPromotionCapture = 12,
    /// Capture with promotion to a bishop.
    BishopPromotionCapture = 13,
    /// Capture with promotion to a rook.
    RookPromotionCapture = 14,
    /// Capture with promotion to a queen.
    QueenPromotionCapture = 15,
}

impl Flag {
    const CAPTURE: u16 = 4 << 12;
    const PROMOTION: u16 = 8 << 12;

    /// Returns the flag of a promotion; any kind but knight, bishop and rook counts as a queen.
    #[inline]
    pub const fn promotion(kind: PieceType, captures: bool) -> Flag {
        match (kind, captures) {
            (PieceType::Knight, false) => Flag::KnightPromotion,
            (PieceType::Bishop, false) => Flag::BishopPromotion,
            (PieceType::Rook, false) => Flag::RookPromotion,
            (_, false) => Flag::QueenPromotion,
            (PieceType::Knight, true) => Flag::KnightPromotionCapture,
            (PieceType::Bishop, true) => Flag::BishopPromotionCapture,
            (PieceType::Rook, true) => Flag::RookPromotionCapture,
            (_, true) => Flag::QueenPromotionCapture,
        }
    }
}

impl Move {
    /// Null move: a1a1, which is never legal.
    pub const NULL: Move = Move(0);

    /// Creates a move; nothing is checked.
    #[inline]
    pub const fn new(from: Square, to: Square, flag: Flag) -> Move {
        Move(from.raw() as u16 | (to.raw() as u16) << 6 | (flag as u16) << 12)
    }

    /// Creates a move from any sixteen bits; see [`crate::board::Board::is_legal`] for legality.
    #[inline]
    pub const fn from_raw(raw: u16) -> Move {
        Move(raw)
    }

    /// Returns the 16 bits of the move.
    #[inline]
    pub const fn raw(self) -> u16 {
        self.0
    }

    /// Returns the square that the piece leaves.
    #[inline]
    pub const fn from(self) -> Square {
        Square::new(self.0 as u8)
    }

    /// Returns the target square; for castling the square of the own rook.
    #[inline]
    pub const fn to(self) -> Square {
        Square::new((self.0 >> 6) as u8)
    }

    /// Returns the four flag bits; not every value is a [`Flag`].
    #[inline]
    pub const fn flag_bits(self) -> u8 {
        (self.0 >> 12) as u8
    }

    /// Returns whether this is [`Self::NULL`].
    #[inline]
    pub const fn is_null(self) -> bool {
        self.0 == 0
    }

    /// Returns whether the move captures, en passant and capturing promotions included.
    #[inline]
    pub const fn is_capture(self) -> bool {
        self.0 & Flag::CAPTURE != 0
    }

    /// Returns whether a pawn promotes.
    #[inline]
    pub const fn is_promotion(self) -> bool {
        self.0 & Flag::PROMOTION != 0
    }

    /// Returns the piece that the pawn becomes.
    #[inline]
    pub const fn promotion(self) -> Option<PieceType> {
        if self.is_promotion() { Some(PieceType::from_index(1 + (self.0 >> 12 & 3) as usize)) } else { None }
    }

    /// Returns whether the move is castling.
    #[inline]
    pub const fn is_castling(self) -> bool {
        self.0 >> 12 == Flag::Castling as u16
    }

    /// Returns whether the move is an en passant capture.
    #[inline]
    pub const fn is_en_passant(self) -> bool {
        self.0 >> 12 == Flag::EnPassant as u16
    }

    /// Returns whether a pawn moves by two squares.
    #[inline]
    pub const fn is_double_push(self) -> bool {
        self.0 >> 12 == Flag::DoublePush as u16
    }

    /// Returns whether the move neither captures nor promotes.
    #[inline]
    pub const fn is_quiet(self) -> bool {
        self.0 & (Flag::CAPTURE | Flag::PROMOTION) == 0
    }
}

/// Formats castling as king takes rook; [`crate::board::Board::to_uci`] writes the form a GUI
/// expects.
impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())?;
        match self.promotion() {
            Some(kind) => write!(f, "{}", kind.letter()),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_come_back() {
        let flags = [Flag::Quiet, Flag::DoublePush, Flag::Castling, Flag::Capture, Flag::EnPassant];
        let promotions = PieceType::PROMOTIONS.map(|kind| [Flag::promotion(kind, false), Flag::promotion(kind, true)]);
        for flag in flags.into_iter().chain(promotions.into_iter().flatten()) {
            for from in Square::all() {
                for to in Square::all() {
                    let mv = Move::new(from, to, flag);
                    assert_eq!((mv.from(), mv.to(), mv.flag_bits()), (from, to, flag as u8));
                    assert_eq!(Move::from_raw(mv.raw()), mv);
                    assert_eq!(mv.is_quiet(), !mv.is_capture() && !mv.is_promotion());
                }
            }
        }
        for kind in PieceType::PROMOTIONS {
            for captures in [false, true] {
                let mv = Move::new(Square::A1, Square::H8, Flag::promotion(kind, captures));
                assert_eq!((mv.promotion(), mv.is_capture()), (Some(kind), captures));
            }
        }
    }
}
