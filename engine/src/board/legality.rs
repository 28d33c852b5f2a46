//! Legality of single moves and squares, for move generation and the search.

use super::attacks::{
    between, bishop_attacks, bishop_rays, king_attacks, knight_attacks, line, pawn_attacks, pawn_set_attacks,
    piece_attacks, rook_attacks, rook_rays,
};
use super::{Board, CastlingSide};
use crate::types::{Bitboard, Color, Flag, Move, PieceType, Square};

impl Board {
    /// Returns the pawns of the side to move that can legally capture en passant on a square, if an
    /// enemy pawn just passed over it.
    #[inline]
    pub(super) fn en_passant_pawns(&self, square: Square) -> Bitboard {
        let us = self.turn();
        let candidates = pawn_attacks(!us, square) & self.pieces(us, PieceType::Pawn);
        let victim = square.offset(-us.forward());
        candidates.iter().filter(|&from| self.en_passant_keeps_king_safe(from, square, victim)).collect()
    }

    /// Returns whether an en passant capture leaves the king safe. Two pawns leave their lines at
    /// once, so sliders are looked up again instead of relying on pins.
    fn en_passant_keeps_king_safe(&self, from: Square, to: Square, victim: Square) -> bool {
        let us = self.turn();
        let king = self.king(us);
        let enemies = self.colored(!us);
        let moved = Bitboard::from(from) | Bitboard::from(to) | Bitboard::from(victim);
        let occupied = self.occupied() ^ moved;
        let leapers = (self.kind(PieceType::Knight) | self.kind(PieceType::Pawn)) - Bitboard::from(victim);
        !self.checkers().intersects(leapers)
            && !bishop_attacks(king, occupied).intersects(self.diagonal_sliders() & enemies)
            && !rook_attacks(king, occupied).intersects(self.straight_sliders() & enemies)
    }

    /// Returns the squares that the king crosses and reaches by castling, if only an attack on one
    /// of them can still forbid it. That is so if the right exists, the king is not in check and
    /// the way is clear.
    #[inline]
    pub(super) fn castling_way(&self, side: CastlingSide) -> Option<Bitboard> {
        let us = self.turn();
        let rook = self.castling_rook(us, side)?;
        let king = self.king(us);
        let (king_target, rook_target) = (side.king_target(us), side.rook_target(us));
        let king_way = between(king, king_target) | Bitboard::from(king_target);
        let rook_way = between(rook, rook_target) | Bitboard::from(rook_target);
        let others = self.occupied() ^ Bitboard::from(king) ^ Bitboard::from(rook);
        // A pinned rook shields the king from its own rank.
        let blocked = self.in_check() || (king_way | rook_way | between(king, rook)).intersects(others);
        (!blocked && !self.pinned().has(rook)).then_some(king_way)
    }

    /// Returns whether the side to move may castle now: not in check, with a clear way and no
    /// attacked square on the king's way.
    pub(super) fn may_castle(&self, side: CastlingSide) -> bool {
        self.castling_way(side).is_some_and(|way| self.safe_for_king(way) == way)
    }

    /// Removes the squares that the enemy attacks once the king has left its square, which shields
    /// nothing.
    ///
    /// Attacks of whole sets of enemies are subtracted, and a slider is looked up only if it is in
    /// line with the remaining squares. This is cheaper than a look-up from each square, because
    /// there are usually more squares than sliders.
    #[inline]
    pub(super) fn safe_for_king(&self, mut squares: Bitboard) -> Bitboard {
        let us = self.turn();
        let enemies = self.colored(!us);
        let occupied = self.occupied() ^ Bitboard::from(self.king(us));
        squares = squares - pawn_set_attacks(!us, self.kind(PieceType::Pawn) & enemies) - king_attacks(self.king(!us));
        for knight in self.kind(PieceType::Knight) & enemies {
            squares = squares - knight_attacks(knight);
        }
        for slider in self.diagonal_sliders() & enemies {
            if bishop_rays(slider).intersects(squares) {
                squares = squares - bishop_attacks(slider, occupied);
            }
        }
        for slider in self.straight_sliders() & enemies {
            if rook_rays(slider).intersects(squares) {
                squares = squares - rook_attacks(slider, occupied);
            }
        }
        squares
    }

    /// Returns the squares on which a piece of the side to move meets a check: the checker's, or
    /// those between it and the king. All squares without a check, none in double check.
    #[inline]
    pub(super) fn check_mask(&self) -> Bitboard {
        let checkers = self.checkers();
        if checkers.is_empty() {
            Bitboard::ALL
        } else if checkers.many() {
            Bitboard::EMPTY
        } else {
            checkers | between(self.king(self.turn()), checkers.lsb())
        }
    }

    /// Returns whether a move is legal here, whatever its sixteen bits are.
    pub fn is_legal(&self, mv: Move) -> bool {
        let us = self.turn();
        let (from, to) = (mv.from(), mv.to());
        let Some(piece) = self.piece_at(from) else { return false };
        if piece.color() != us {
            return false;
        }
        let kind = piece.kind();
        if mv.is_castling() {
            return kind == PieceType::King
                && CastlingSide::ALL
                    .iter()
                    .any(|&side| self.castling_rook(us, side) == Some(to) && self.may_castle(side));
        }
        if kind == PieceType::Pawn {
            return self.is_legal_pawn_move(mv);
        }
        let flag = if self.colored(!us).has(to) { Flag::Capture } else { Flag::Quiet };
        if mv.flag_bits() != flag as u8 || self.colored(us).has(to) {
            return false;
        }
        if kind == PieceType::King {
            return king_attacks(from).has(to) && self.safe_for_king(Bitboard::from(to)).any();
        }
        piece_attacks(kind, from, self.occupied()).has(to) && self.keeps_king_safe(from, to)
    }

    /// Returns whether a move keeps the king safe; only for pieces other than the king and moves
    /// other than en passant.
    fn keeps_king_safe(&self, from: Square, to: Square) -> bool {
        self.check_mask().has(to) && (!self.pinned().has(from) || line(self.king(self.turn()), from).has(to))
    }

    fn is_legal_pawn_move(&self, mv: Move) -> bool {
        let us = self.turn();
        let (from, to) = (mv.from(), mv.to());
        let last_rank = Bitboard::relative_rank(us, 7).has(to);
        if mv.is_promotion() != last_rank {
            return false;
        }
        if mv.is_en_passant() {
            return self.en_passant() == Some(to) && self.en_passant_pawns(to).has(from);
        }
        let occupied = self.occupied();
        let reachable = if mv.is_capture() {
            let plain = mv.is_promotion() || mv.flag_bits() == Flag::Capture as u8;
            plain && pawn_attacks(us, from).has(to) && self.colored(!us).has(to)
        } else {
            let step = from.offset(us.forward());
            match mv.is_double_push() {
                true => {
                    let way = Bitboard::from(step) | Bitboard::from(to);
                    Bitboard::relative_rank(us, 1).has(from)
                        && to == step.offset(us.forward())
                        && !occupied.intersects(way)
                }
                false => {
                    let plain = mv.is_promotion() || mv.flag_bits() == Flag::Quiet as u8;
                    plain && to == step && !occupied.has(to)
                }
            }
        };
        reachable && self.keeps_king_safe(from, to)
    }

    /// Returns whether a side has bishops on both square colours.
    pub fn has_bishop_pair(&self, color: Color) -> bool {
        let bishops = self.pieces(color, PieceType::Bishop);
        bishops.intersects(Bitboard::LIGHT_SQUARES) && bishops.intersects(Bitboard::DARK_SQUARES)
    }
}
