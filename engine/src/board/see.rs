//! Static exchange evaluation (SEE).

use super::Board;
use super::attacks::{bishop_attacks, rook_attacks};
use crate::types::{Bitboard, Move, PieceType};

/// Values of the pieces in an exchange; the king's is above the sum of all others.
const VALUES: [i32; PieceType::COUNT] = [100, 320, 330, 500, 950, 20_000];

/// Returns the value of a piece in [`Board::see_ge`], in centipawns.
#[inline]
pub const fn see_value(kind: PieceType) -> i32 {
    VALUES[kind.index()]
}

impl Board {
    /// Returns whether the exchange started by a legal move gains at least `threshold` centipawns
    /// for the side to move. Both sides capture with their least valuable piece, and stop if that
    /// is better. Pins are ignored, and pawns that recapture on the last rank stay pawns.
    #[inline]
    pub fn see_ge(&self, mv: Move, threshold: i32) -> bool {
        self.see_ge_against(Bitboard::ALL, mv, threshold)
    }

    /// Returns the same as [`Self::see_ge`], faster for moves between squares that the opponent
    /// does not attack. `threats` holds at least those that it attacks.
    pub fn see_ge_against(&self, threats: Bitboard, mv: Move, threshold: i32) -> bool {
        if mv.is_castling() {
            return threshold <= 0;
        }
        let us = self.turn();
        let (from, to) = (mv.from(), mv.to());
        let Some(piece) = self.piece_at(from) else { return threshold <= 0 };
        let mut occupied = (self.occupied() - Bitboard::from(from)) | Bitboard::from(to);
        let mut gain = if mv.is_en_passant() {
            occupied = occupied - Bitboard::from(to.offset(-us.forward()));
            see_value(PieceType::Pawn)
        } else {
            self.piece_at(to).map_or(0, |victim| see_value(victim.kind()))
        };
        let mut on_target = piece.kind();
        if let Some(kind) = mv.promotion() {
            gain += see_value(kind) - see_value(PieceType::Pawn);
            on_target = kind;
        }
        // Surplus over the threshold if the opponent does not recapture.
        let mut balance = gain - threshold;
        if balance < 0 {
            return false;
        }
        // Whoever could recapture only now has been uncovered, so it attacks the origin.
        if !threats.intersects(Bitboard::from(from) | Bitboard::from(to)) && !mv.is_en_passant() {
            debug_assert!(!(self.attackers_to(to, occupied) & occupied).intersects(self.colored(!us)));
            return true;
        }

        // Surplus if the piece that moved is lost for nothing.
        balance -= see_value(on_target);
        if balance >= 0 {
            return true;
        }

        let diagonal = self.diagonal_sliders();
        let straight = self.straight_sliders();
        let mut attackers = self.attackers_to(to, occupied) & occupied;
        let mut side = !us;
        loop {
            let own = attackers & self.colored(side);
            let Some(kind) = self.least_valuable(own) else { break };
            if kind == PieceType::King && (attackers & self.colored(!side)).any() {
                break;
            }
            occupied ^= Bitboard::from((own & self.kind(kind)).lsb());
            if matches!(kind, PieceType::Pawn | PieceType::Bishop | PieceType::Queen) {
                attackers |= bishop_attacks(to, occupied) & diagonal;
            }
            if matches!(kind, PieceType::Rook | PieceType::Queen) {
                attackers |= rook_attacks(to, occupied) & straight;
            }
            attackers &= occupied;
            side = !side;
            // Negated for the side that now moves. At equality the side that stops is not worse
            // off.
            balance = -balance - 1 - see_value(kind);
            if balance >= 0 {
                break;
            }
        }
        // The side that cannot or need not continue has lost the exchange.
        side != us
    }

    #[inline]
    fn least_valuable(&self, own: Bitboard) -> Option<PieceType> {
        PieceType::ALL.into_iter().find(|&kind| own.intersects(self.kind(kind)))
    }
}
