//! Rules of chess and Chess960: positions, legal moves and how to play them.
//!
//! A [`Board`] is always a legal position. It is small and `Copy`: a search copies it and plays a
//! move on the copy.
//!
//! Copying its 216 bytes takes 2.9 % of the instructions of perft (kiwipete, depth 4, counted by
//! callgrind) and playing moves 14 %; the rest is move generation. Taking moves back could save at
//! most the copying.

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

use crate::types::{Bitboard, Color, Move, Piece, PieceType, Square};
use attacks::{bishop_attacks, king_attacks, knight_attacks, pawn_attacks, pawn_set_attacks, rook_attacks};

/// Castling side, by the rook's side of the king.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum CastlingSide {
    /// Towards the h-file: the king ends on g, the rook on f.
    King,
    /// Towards the a-file: the king ends on c, the rook on d.
    Queen,
}

impl CastlingSide {
    /// Both sides.
    pub const ALL: [CastlingSide; 2] = [CastlingSide::King, CastlingSide::Queen];

    /// Returns the king's target square.
    #[inline]
    pub const fn king_target(self, color: Color) -> Square {
        let square = if matches!(self, CastlingSide::King) { Square::at(6, 0) } else { Square::at(2, 0) };
        square.relative(color)
    }

    /// Returns the rook's target square.
    #[inline]
    pub const fn rook_target(self, color: Color) -> Square {
        let square = if matches!(self, CastlingSide::King) { Square::at(5, 0) } else { Square::at(3, 0) };
        square.relative(color)
    }
}

/// Legal position with the clocks of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Board {
    kinds: [Bitboard; PieceType::COUNT],
    colors: [Bitboard; 2],
    mailbox: [Option<Piece>; 64],
    key: u64,
    /// Keys of disjoint sets of pieces, see [`partial_index`]; the public partial keys combine
    /// these.
    partial_keys: [u64; 5],
    checkers: Bitboard,
    pinned: Bitboard,
    /// Kings and rooks that can still castle: a move from or to one of these squares ends a right.
    castling_squares: Bitboard,
    /// Squares of the rooks that may castle, by colour and [`CastlingSide`].
    castling_rooks: [[Option<Square>; 2]; 2],
    /// Square behind a pawn that a legal move can capture en passant.
    en_passant: Option<Square>,
    halfmove_clock: u16,
    fullmove_number: u16,
    turn: Color,
}

/// Returns the entry of `partial_keys` of a piece: 0 for pawns, 1 and 2 for a side's knights,
/// bishops and king, 3 and 4 for its rooks and queens.
///
/// Each piece is in one entry only, so a move updates one.
#[inline]
const fn partial_index(piece: Piece) -> usize {
    const ENTRIES: [u8; Piece::COUNT] = [0, 0, 1, 2, 1, 2, 3, 4, 3, 4, 1, 2];
    ENTRIES[piece.index()] as usize
}

impl Board {
    /// Creates the starting position of classical chess.
    pub fn startpos() -> Board {
        Board::from_fen("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
            .expect("the start position is legal")
    }

    /// Returns the side to move.
    #[inline]
    pub fn turn(&self) -> Color {
        self.turn
    }

    /// Returns all pieces of a side.
    #[inline]
    pub fn colored(&self, color: Color) -> Bitboard {
        self.colors[color.index()]
    }

    /// Returns all pieces of a kind, of both sides.
    #[inline]
    pub fn kind(&self, kind: PieceType) -> Bitboard {
        self.kinds[kind.index()]
    }

    /// Returns the pieces of a kind and side.
    #[inline]
    pub fn pieces(&self, color: Color, kind: PieceType) -> Bitboard {
        self.colors[color.index()] & self.kinds[kind.index()]
    }

    /// Returns the squares with a piece.
    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    /// Returns the piece on a square.
    #[inline]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        self.mailbox[square.index()]
    }

    /// Returns the square of a side's king.
    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.pieces(color, PieceType::King).lsb()
    }

    /// Returns the enemy pieces that give check to the side to move, at most two.
    #[inline]
    pub fn checkers(&self) -> Bitboard {
        self.checkers
    }

    /// Returns whether the side to move is in check.
    #[inline]
    pub fn in_check(&self) -> bool {
        self.checkers.any()
    }

    /// Returns the pieces of the side to move that are pinned to the king.
    #[inline]
    pub fn pinned(&self) -> Bitboard {
        self.pinned
    }

    /// Returns the Zobrist key of pieces, side to move and castling rights. The en passant file is
    /// included only if a legal move can use it.
    #[inline]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Returns the key after a legal move without playing it, to prefetch what belongs to the
    /// position.
    ///
    /// It leaves out castling, lost castling rights, promotions and en passant, and is wrong after
    /// them.
    #[inline]
    pub fn likely_key_after(&self, mv: Move) -> u64 {
        let (from, to) = (mv.from(), mv.to());
        let at = |origin: Square, square| self.piece_at(origin).map_or(0, |piece| zobrist::piece(piece, square));
        self.key ^ at(from, from) ^ at(from, to) ^ at(to, to) ^ zobrist::black_to_move()
    }

    /// Returns the Zobrist key of the pawns of both sides.
    #[inline]
    pub fn pawn_key(&self) -> u64 {
        self.partial_keys[0]
    }

    /// Returns the Zobrist key of a side's king and pieces, without pawns.
    #[inline]
    pub fn non_pawn_key(&self, color: Color) -> u64 {
        self.partial_keys[1 + color.index()] ^ self.partial_keys[3 + color.index()]
    }

    /// Returns the Zobrist key of the minor pieces and kings of both sides.
    #[inline]
    pub fn minor_key(&self) -> u64 {
        self.partial_keys[1] ^ self.partial_keys[2]
    }

    /// Returns the Zobrist key of the major pieces and kings of both sides.
    #[inline]
    pub fn major_key(&self) -> u64 {
        let kings = zobrist::piece(Piece::WhiteKing, self.king(Color::White))
            ^ zobrist::piece(Piece::BlackKing, self.king(Color::Black));
        self.partial_keys[3] ^ self.partial_keys[4] ^ kings
    }

    /// Returns the plies since the last capture or pawn move; a draw may be claimed at 100.
    #[inline]
    pub fn halfmove_clock(&self) -> u16 {
        self.halfmove_clock
    }

    /// Returns the move number, which starts at 1 and rises after each move of Black.
    #[inline]
    pub fn fullmove_number(&self) -> u16 {
        self.fullmove_number
    }

    /// Returns the square passed by a pawn's double step if a legal move can capture it en passant.
    #[inline]
    pub fn en_passant(&self) -> Option<Square> {
        self.en_passant
    }

    /// Returns the rook that a side still has the right to castle with.
    #[inline]
    pub fn castling_rook(&self, color: Color, side: CastlingSide) -> Option<Square> {
        self.castling_rooks[color.index()][side as usize]
    }

    /// Returns whether a side has a piece other than king and pawns, which makes zugzwang unlikely.
    #[inline]
    pub fn has_non_pawn_material(&self, color: Color) -> bool {
        (self.colored(color) - self.kind(PieceType::Pawn) - self.kind(PieceType::King)).any()
    }

    /// Returns whether no sequence of moves can mate: bare kings, one minor piece, or bishops of
    /// one square colour only.
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

    /// Returns the pieces of both sides that attack a square, given an occupancy.
    #[inline]
    pub fn attackers_to(&self, square: Square, occupied: Bitboard) -> Bitboard {
        (pawn_attacks(Color::Black, square) & self.pieces(Color::White, PieceType::Pawn))
            | (pawn_attacks(Color::White, square) & self.pieces(Color::Black, PieceType::Pawn))
            | (knight_attacks(square) & self.kind(PieceType::Knight))
            | (king_attacks(square) & self.kind(PieceType::King))
            | (bishop_attacks(square, occupied) & self.diagonal_sliders())
            | (rook_attacks(square, occupied) & self.straight_sliders())
    }

    /// Returns whether a side attacks a square, given an occupancy.
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

    /// Returns the squares that a side attacks, those of its own pieces included.
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

    /// Returns the pieces of the side to move that a lesser enemy piece attacks: minor pieces
    /// attacked by pawns, rooks also by minor pieces, queens also by rooks.
    pub fn threatened(&self) -> Bitboard {
        let (us, them, occupied) = (self.turn, !self.turn, self.occupied());
        let own = |kind| self.pieces(us, kind);
        let by_pawns = pawn_set_attacks(them, self.pieces(them, PieceType::Pawn));
        let mut by_minors = by_pawns;
        for square in self.pieces(them, PieceType::Knight) {
            by_minors |= knight_attacks(square);
        }
        for square in self.pieces(them, PieceType::Bishop) {
            by_minors |= bishop_attacks(square, occupied);
        }
        let mut by_rooks = by_minors;
        for square in self.pieces(them, PieceType::Rook) {
            by_rooks |= rook_attacks(square, occupied);
        }
        ((own(PieceType::Knight) | own(PieceType::Bishop)) & by_pawns)
            | (own(PieceType::Rook) & by_minors)
            | (own(PieceType::Queen) & by_rooks)
    }

    /// Returns the squares from which each piece type of the side to move would check the enemy
    /// king, by [`PieceType::index`]; none for a king.
    pub fn check_squares(&self) -> [Bitboard; PieceType::COUNT] {
        let (king, occupied) = (self.king(!self.turn), self.occupied());
        let (diagonal, straight) = (bishop_attacks(king, occupied), rook_attacks(king, occupied));
        let mut squares = [Bitboard::EMPTY; PieceType::COUNT];
        for (kind, attacks) in [
            (PieceType::Pawn, pawn_attacks(!self.turn, king)),
            (PieceType::Knight, knight_attacks(king)),
            (PieceType::Bishop, diagonal),
            (PieceType::Rook, straight),
            (PieceType::Queen, diagonal | straight),
        ] {
            squares[kind.index()] = attacks;
        }
        squares
    }

    /// Returns the bishops and queens of both sides.
    #[inline]
    pub fn diagonal_sliders(&self) -> Bitboard {
        self.kind(PieceType::Bishop) | self.kind(PieceType::Queen)
    }

    /// Returns the rooks and queens of both sides.
    #[inline]
    pub fn straight_sliders(&self) -> Bitboard {
        self.kind(PieceType::Rook) | self.kind(PieceType::Queen)
    }
}
