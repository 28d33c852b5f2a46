//! The rules of chess and Chess960: positions, legal moves, playing them.
//!
//! A [`Board`] is always a legal position. It is small and `Copy`: a search copies it and plays a move on the copy.
//!
//! Copying its 216 bytes is 2.9 % of the instructions of perft (kiwipete, depth 4, counted by callgrind), which bounds what taking
//! moves back could save before its own cost, and playing a move 14 %; the rest is move generation.

pub mod attacks;
mod fen;
mod legality;
mod magics;
mod movegen;
mod notation;
mod perft;
mod pext;
mod play;
mod repetition;
mod see;
mod zobrist;

pub use fen::FenError;
pub use perft::perft;
pub use see::see_value;
pub use attacks::piece_attacks;

use crate::types::{Bitboard, Color, Piece, PieceType, Square};
use attacks::{bishop_attacks, king_attacks, pawn_set_attacks, rook_attacks};
pub use attacks::{knight_attacks, pawn_attacks};

/// The rook a king castles with, by its side of the king.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CastlingSide {
    /// Towards the h-file: the king ends on g, the rook on f.
    King,
    /// Towards the a-file: the king ends on c, the rook on d.
    Queen,
}

impl CastlingSide {
    pub const ALL: [CastlingSide; 2] = [CastlingSide::King, CastlingSide::Queen];

    /// Where the king ends.
    #[inline]
    pub const fn king_target(self, color: Color) -> Square {
        let square = if matches!(self, CastlingSide::King) { Square::at(6, 0) } else { Square::at(2, 0) };
        square.relative(color)
    }

    /// Where the rook ends.
    #[inline]
    pub const fn rook_target(self, color: Color) -> Square {
        let square = if matches!(self, CastlingSide::King) { Square::at(5, 0) } else { Square::at(3, 0) };
        square.relative(color)
    }
}

/// A legal position with the clocks of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    kinds: [Bitboard; PieceType::COUNT],
    colors: [Bitboard; 2],
    mailbox: [Option<Piece>; 64],
    key: u64,
    /// Keys of disjoint sets of pieces, see [`partial_index`]; the public partial keys are sums of these.
    partial_keys: [u64; 5],
    checkers: Bitboard,
    pinned: Bitboard,
    /// Kings and rooks that have not lost the right to castle: a move from or to one of these ends a right.
    castling_squares: Bitboard,
    /// Squares of the rooks that may castle, by colour and [`CastlingSide`].
    castling_rooks: [[Option<Square>; 2]; 2],
    /// The square behind a pawn that can be taken en passant by a legal move, else `None`.
    en_passant: Option<Square>,
    halfmove_clock: u16,
    fullmove_number: u16,
    turn: Color,
}

/// The entry of `partial_keys` a piece belongs to: 0 pawns; 1, 2 a side's knights, bishops and king; 3, 4 its rooks and queens.
///
/// Each piece is in one entry only, so that a move pays for one.
#[inline]
const fn partial_index(piece: Piece) -> usize {
    const ENTRIES: [u8; Piece::COUNT] = [0, 0, 1, 2, 1, 2, 3, 4, 3, 4, 1, 2];
    ENTRIES[piece.index()] as usize
}

impl Board {
    /// The start position of classical chess.
    pub fn startpos() -> Board {
        Board::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
            .expect("the start position is legal")
    }

    /// The side to move.
    #[inline]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// All pieces of a side.
    #[inline]
    pub fn colored(&self, color: Color) -> Bitboard {
        self.colors[color.index()]
    }

    /// All pieces of a kind, of both sides.
    #[inline]
    pub fn kind(&self, kind: PieceType) -> Bitboard {
        self.kinds[kind.index()]
    }

    /// The pieces of a kind and side.
    #[inline]
    pub fn pieces(&self, color: Color, kind: PieceType) -> Bitboard {
        self.colors[color.index()] & self.kinds[kind.index()]
    }

    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        self.mailbox[square.index()]
    }

    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.pieces(color, PieceType::King).lsb()
    }

    /// The enemy pieces that give check to the side to move; at most two.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.checkers
    }

    #[inline]
    pub fn in_check(&self) -> bool {
        self.checkers.any()
    }

    /// Pieces of the side to move that may not leave their line with the king.
    #[inline]
    pub fn pinned(&self) -> Bitboard {
        self.pinned
    }

    /// The Zobrist key of pieces, side to move, castling rights and, where a legal move can use it, the en passant file.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// The Zobrist key of the pawns of both sides.
    #[inline]
    pub fn pawn_key(&self) -> u64 {
        self.partial_keys[0]
    }

    /// The Zobrist key of the king and pieces, without pawns, of a side.
    #[inline]
    pub fn non_pawn_key(&self, color: Color) -> u64 {
        self.partial_keys[1 + color.index()] ^ self.partial_keys[3 + color.index()]
    }

    /// The Zobrist key of the minor pieces (knights, bishops) and kings of both sides.
    #[inline]
    pub fn minor_key(&self) -> u64 {
        self.partial_keys[1] ^ self.partial_keys[2]
    }

    /// The Zobrist key of the major pieces (rooks, queens) and kings of both sides.
    #[inline]
    pub fn major_key(&self) -> u64 {
        let kings = zobrist::piece(Piece::WhiteKing, self.king(Color::White))
            ^ zobrist::piece(Piece::BlackKing, self.king(Color::Black));
        self.partial_keys[3] ^ self.partial_keys[4] ^ kings
    }

    /// Plies since the last capture or pawn move; a draw may be claimed at 100.
    #[inline]
    pub fn halfmove_clock(&self) -> u16 {
        self.halfmove_clock
    }

    /// Counts from 1, up after each move of Black.
    #[inline]
    pub fn fullmove_number(&self) -> u16 {
        self.fullmove_number
    }

    /// Where a pawn that just moved two squares can be taken by a legal move, the square it passed over.
    #[inline]
    pub fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// The rook that a side still has the right to castle with.
    #[inline]
    pub fn castling_rook(&self, color: Color, side: CastlingSide) -> Option<Square> {
        self.castling_rooks[color.index()][side as usize]
    }

    /// True when a side has a piece beside king and pawns: a null move is not likely to be zugzwang.
    #[inline]
    pub fn has_non_pawn_material(&self, color: Color) -> bool {
        (self.colored(color) - self.kind(PieceType::Pawn) - self.kind(PieceType::King)).any()
    }

    /// True when no sequence of moves mates: bare kings, one minor piece, or bishops of one square colour only.
    pub fn is_insufficient_material(&self) -> bool {
        let majors = self.kind(PieceType::Pawn) | self.kind(PieceType::Rook) | self.kind(PieceType::Queen);
        if majors.any() {
            return false;
        }
        let (knights, bishops) = (self.kind(PieceType::Knight), self.kind(PieceType::Bishop));
        if (knights | bishops).count() <= 1 {
            return true;
        }
        knights.is_empty()
            && (!bishops.intersects(Bitboard::LIGHT_SQUARES) || !bishops.intersects(Bitboard::DARK_SQUARES))
    }

    /// Pieces of both sides that attack a square through a given occupation.
    #[inline]
    pub fn attackers_to(&self, square: Square, occupied: Bitboard) -> Bitboard {
        (pawn_attacks(Color::Black, square) & self.pieces(Color::White, PieceType::Pawn))
            | (pawn_attacks(Color::White, square) & self.pieces(Color::Black, PieceType::Pawn))
            | (knight_attacks(square) & self.kind(PieceType::Knight))
            | (king_attacks(square) & self.kind(PieceType::King))
            | (bishop_attacks(square, occupied) & self.diagonal_sliders())
            | (rook_attacks(square, occupied) & self.straight_sliders())
    }

    /// True when a side attacks a square through a given occupation.
    #[inline]
    pub fn is_attacked(&self, square: Square, by: Color, occupied: Bitboard) -> bool {
        let enemies = self.colored(by);
        ((pawn_attacks(!by, square) & self.kind(PieceType::Pawn))
            | (knight_attacks(square) & self.kind(PieceType::Knight))
            | (king_attacks(square) & self.kind(PieceType::King)))
        .intersects(enemies)
            || bishop_attacks(square, occupied).intersects(self.diagonal_sliders() & enemies)
            || rook_attacks(square, occupied).intersects(self.straight_sliders() & enemies)
    }

    /// The squares that a side attacks, those of its own pieces included.
    pub fn attacked_by(&self, by: Color) -> Bitboard {
        let (own, occupied) = (self.colored(by), self.occupied());
        let pawns = pawn_set_attacks(by, self.pieces(by, PieceType::Pawn));
        let mut attacked = pawns | king_attacks(self.king(by));
        for square in own & self.kind(PieceType::Knight) {
            attacked |= knight_attacks(square);
        }
        for square in own & self.diagonal_sliders() {
            attacked |= bishop_attacks(square, occupied);
        }
        for square in own & self.straight_sliders() {
            attacked |= rook_attacks(square, occupied);
        }
        attacked
    }

    /// Bishops and queens of both sides.
    #[inline]
    pub fn diagonal_sliders(&self) -> Bitboard {
        self.kind(PieceType::Bishop) | self.kind(PieceType::Queen)
    }

    /// Rooks and queens of both sides.
    #[inline]
    pub fn straight_sliders(&self) -> Bitboard {
        self.kind(PieceType::Rook) | self.kind(PieceType::Queen)
    }
}
