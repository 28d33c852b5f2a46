//! Playing moves.

use super::attacks::{between, bishop_rays, knight_attacks, pawn_attacks, rook_rays};
use super::{Board, CastlingSide, partial_index, zobrist};
use crate::types::{Bitboard, Color, Move, Piece, PieceType, Square};

impl Board {
    /// Plays a move.
    ///
    /// The move must be legal (see [`Board::is_legal`]); an illegal one leaves an invalid position.
    pub fn play(&mut self, mv: Move) {
        let us = self.turn;
        let (from, to) = (mv.from(), mv.to());
        let Some(piece) = self.piece_at(from) else { return };
        self.begin_ply();
        if self.castling_squares.intersects(Bitboard::from(from) | Bitboard::from(to)) {
            self.end_castling_rights(piece, from, to);
        }
        if mv.is_castling() {
            self.castle(piece, from, to);
            self.refresh_checks();
            return;
        }
        if mv.is_capture() {
            let victim = if mv.is_en_passant() { to.offset(-us.forward()) } else { to };
            if let Some(captured) = self.piece_at(victim) {
                self.remove(captured, victim);
            }
            self.halfmove_clock = 0;
        }
        self.remove(piece, from);
        self.put(mv.promotion().map_or(piece, |kind| Piece::new(us, kind)), to);
        if piece.kind() == PieceType::Pawn {
            self.halfmove_clock = 0;
        }
        self.refresh_checks();
        if mv.is_double_push() {
            self.offer_en_passant(from.offset(us.forward()));
        }
    }

    /// Plays a null move. Not allowed in check.
    pub fn play_null(&mut self) {
        self.begin_ply();
        self.refresh_checks();
    }

    /// Updates the clocks and the side to move, and clears the en passant square.
    #[inline]
    fn begin_ply(&mut self) {
        if let Some(square) = self.en_passant.take() {
            self.key ^= zobrist::en_passant(square.file());
        }
        self.halfmove_clock = self.halfmove_clock.saturating_add(1);
        self.fullmove_number = self.fullmove_number.saturating_add(self.turn as u16);
        self.turn = !self.turn;
        self.key ^= zobrist::black_to_move();
    }

    #[inline]
    pub(super) fn put(&mut self, piece: Piece, square: Square) {
        self.mailbox[square.index()] = Some(piece);
        self.toggle(piece, square);
    }

    #[inline]
    fn remove(&mut self, piece: Piece, square: Square) {
        self.mailbox[square.index()] = None;
        self.toggle(piece, square);
    }

    #[inline]
    fn toggle(&mut self, piece: Piece, square: Square) {
        let bit = Bitboard::from(square);
        let key = zobrist::piece(piece, square);
        self.kinds[piece.kind().index()] ^= bit;
        self.colors[piece.color().index()] ^= bit;
        self.key ^= key;
        self.partial_keys[partial_index(piece)] ^= key;
    }

    /// Moves king and rook to their castled squares.
    fn castle(&mut self, king: Piece, from: Square, rook_square: Square) {
        let us = king.color();
        let side = if rook_square > from { CastlingSide::King } else { CastlingSide::Queen };
        let rook = Piece::new(us, PieceType::Rook);
        self.remove(king, from);
        self.remove(rook, rook_square);
        self.put(king, side.king_target(us));
        self.put(rook, side.rook_target(us));
    }

    #[cold]
    #[inline(never)]
    fn end_castling_rights(&mut self, piece: Piece, from: Square, to: Square) {
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                let Some(rook) = self.castling_rook(color, side) else { continue };
                let king_moves = piece == Piece::new(color, PieceType::King);
                if king_moves || rook == from || rook == to {
                    self.castling_rooks[color.index()][side as usize] = None;
                    self.key ^= zobrist::castling(color, rook.file());
                }
            }
        }
        self.refresh_castling_squares();
    }

    /// Recomputes `castling_squares` from the rights.
    pub(super) fn refresh_castling_squares(&mut self) {
        self.castling_squares = Bitboard::EMPTY;
        for color in Color::ALL {
            for rook in self.castling_rooks[color.index()].into_iter().flatten() {
                self.castling_squares |= Bitboard::from(rook) | self.pieces(color, PieceType::King);
            }
        }
    }

    /// Grants a right to castle.
    pub(super) fn grant_castling(&mut self, color: Color, side: CastlingSide, rook: Square) {
        self.castling_rooks[color.index()][side as usize] = Some(rook);
        self.key ^= zobrist::castling(color, rook.file());
    }

    /// Recomputes checkers and pinned pieces of the side to move.
    ///
    /// Only sliders on a line with the king are tested, so no attacks are computed.
    #[inline]
    pub(super) fn refresh_checks(&mut self) {
        let us = self.turn;
        let king = self.king(us);
        let (own, enemies) = (self.colored(us), self.colored(!us));
        let occupied = own | enemies;
        self.checkers = ((knight_attacks(king) & self.kind(PieceType::Knight))
            | (pawn_attacks(us, king) & self.kind(PieceType::Pawn)))
            & enemies;
        self.pinned = Bitboard::EMPTY;
        let sliders = (bishop_rays(king) & self.diagonal_sliders()) | (rook_rays(king) & self.straight_sliders());
        for slider in sliders & enemies {
            let blockers = between(king, slider) & occupied;
            if blockers.is_empty() {
                self.checkers |= Bitboard::from(slider);
            } else if !blockers.many() {
                self.pinned |= blockers & own;
            }
        }
    }

    /// Records the square behind a pawn if a legal move of the side to move captures it en passant.
    #[inline]
    pub(super) fn offer_en_passant(&mut self, square: Square) {
        if self.en_passant_pawns(square).any() {
            self.en_passant = Some(square);
            self.key ^= zobrist::en_passant(square.file());
        }
    }
}
