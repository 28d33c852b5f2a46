//! Generation of legal moves, in two stages.
//!
//! Moves are legal as generated: pinned pieces stay on their line with the king, and in check all
//! pieces but the king move only to squares that meet it. Pawns are handled as sets, pinned ones
//! included.

use super::attacks::{
    bishop_attacks, falling_diagonal, king_attacks, knight_attacks, line, rising_diagonal, rook_attacks,
};
use super::{Board, CastlingSide};
use crate::types::{Bitboard, Color, Flag, Move, MoveList, PieceType, Square};

/// Receiver of generated moves: a list or a counter.
trait MoveSink {
    /// Receives one piece with all its targets.
    fn piece(&mut self, from: Square, targets: Bitboard, flag: Flag);
    /// Receives one piece with all its targets, captures of `enemies` first.
    #[inline]
    fn split(&mut self, from: Square, targets: Bitboard, enemies: Bitboard) {
        self.piece(from, targets & enemies, Flag::Capture);
        self.piece(from, targets - enemies, Flag::Quiet);
    }

    /// Receives pawns that all move by `delta` squares.
    fn pawns(&mut self, targets: Bitboard, delta: i8, flag: Flag);

    fn promotions(&mut self, targets: Bitboard, delta: i8, captures: bool, kinds: &[PieceType]) {
        if targets.any() {
            for &kind in kinds {
                self.pawns(targets, delta, Flag::promotion(kind, captures));
            }
        }
    }
}

impl MoveSink for MoveList {
    #[inline]
    fn piece(&mut self, from: Square, targets: Bitboard, flag: Flag) {
        for to in targets {
            self.push(Move::new(from, to, flag));
        }
    }

    #[inline]
    fn pawns(&mut self, targets: Bitboard, delta: i8, flag: Flag) {
        for to in targets {
            self.push(Move::new(to.offset(-delta), to, flag));
        }
    }
}

struct Counter(u32);

impl MoveSink for Counter {
    #[inline]
    fn piece(&mut self, _: Square, targets: Bitboard, _: Flag) {
        self.0 += targets.count();
    }

    #[inline]
    fn split(&mut self, _: Square, targets: Bitboard, _: Bitboard) {
        self.0 += targets.count();
    }

    #[inline]
    fn pawns(&mut self, targets: Bitboard, _: i8, _: Flag) {
        self.0 += targets.count();
    }

    #[inline]
    fn promotions(&mut self, targets: Bitboard, _: i8, _: bool, kinds: &[PieceType]) {
        if targets.any() {
            self.0 += targets.count() * kinds.len() as u32;
        }
    }
}

impl Board {
    /// Appends all legal moves.
    pub fn legal_moves(&self, list: &mut MoveList) {
        Generator::new(self).run::<true, true>(list);
    }

    /// Appends all legal captures, en passant included, and the promotions to a queen.
    pub fn legal_captures(&self, list: &mut MoveList) {
        Generator::new(self).run::<true, false>(list);
    }

    /// Appends the legal moves that [`Self::legal_captures`] leaves out: neither captures nor queen
    /// promotions.
    pub fn legal_quiets(&self, list: &mut MoveList) {
        Generator::new(self).run::<false, true>(list);
    }

    /// Returns the number of legal moves, without making a list.
    pub fn count_legal_moves(&self) -> u32 {
        let mut counter = Counter(0);
        Generator::new(self).run::<true, true>(&mut counter);
        counter.0
    }
}

/// Position with its masks prepared for the side to move.
struct Generator<'a> {
    board: &'a Board,
    us: Color,
    king: Square,
    own: Bitboard,
    enemies: Bitboard,
    occupied: Bitboard,
    /// Squares that meet a check.
    mask: Bitboard,
}

impl<'a> Generator<'a> {
    #[inline]
    fn new(board: &'a Board) -> Generator<'a> {
        let us = board.turn();
        let (own, enemies) = (board.colored(us), board.colored(!us));
        Generator { board, us, king: board.king(us), own, enemies, occupied: own | enemies, mask: board.check_mask() }
    }

    #[inline]
    fn run<const CAPTURES: bool, const QUIETS: bool>(&self, sink: &mut impl MoveSink) {
        self.king::<CAPTURES, QUIETS>(sink);
        if self.mask.is_empty() {
            return;
        }
        self.pieces::<CAPTURES, QUIETS>(sink);
        if CAPTURES {
            self.pawn_captures(sink);
        }
        self.pawn_pushes::<CAPTURES, QUIETS>(sink);
    }

    /// Passes on the targets of a piece, split into captures and quiet moves. None may be of its
    /// own side.
    #[inline]
    fn give<const CAPTURES: bool, const QUIETS: bool>(
        &self,
        sink: &mut impl MoveSink,
        from: Square,
        targets: Bitboard,
    ) {
        if CAPTURES && QUIETS {
            sink.split(from, targets, self.enemies);
        } else if CAPTURES {
            sink.piece(from, targets & self.enemies, Flag::Capture);
        } else if QUIETS {
            sink.piece(from, targets - self.enemies, Flag::Quiet);
        }
    }

    #[inline]
    fn king<const CAPTURES: bool, const QUIETS: bool>(&self, sink: &mut impl MoveSink) {
        let mut targets = king_attacks(self.king) - self.own;
        if !QUIETS {
            targets &= self.enemies;
        }
        if !CAPTURES {
            targets = targets - self.enemies;
        }
        let mut ways = [None; 2];
        if QUIETS {
            ways = CastlingSide::ALL.map(|side| self.board.castling_way(side));
        }
        let castled = ways.iter().flatten().fold(Bitboard::EMPTY, |all, &way| all | way);
        let wanted = targets | castled;
        if wanted.is_empty() {
            return;
        }
        let safe = self.board.safe_for_king(wanted);
        self.give::<CAPTURES, QUIETS>(sink, self.king, safe & targets);
        for (side, way) in CastlingSide::ALL.into_iter().zip(ways) {
            if let (Some(way), Some(rook)) = (way, self.board.castling_rook(self.us, side))
                && (way - safe).is_empty()
            {
                sink.piece(self.king, Bitboard::from(rook), Flag::Castling);
            }
        }
    }

    #[inline]
    fn pieces<const CAPTURES: bool, const QUIETS: bool>(&self, sink: &mut impl MoveSink) {
        let pinned = self.board.pinned();
        let targets = self.mask - self.own;
        for from in self.board.pieces(self.us, PieceType::Knight) - pinned {
            self.give::<CAPTURES, QUIETS>(sink, from, knight_attacks(from) & targets);
        }
        let diagonal = self.board.diagonal_sliders() & self.own;
        let straight = self.board.straight_sliders() & self.own;
        for from in diagonal - pinned {
            self.give::<CAPTURES, QUIETS>(sink, from, bishop_attacks(from, self.occupied) & targets);
        }
        for from in straight - pinned {
            self.give::<CAPTURES, QUIETS>(sink, from, rook_attacks(from, self.occupied) & targets);
        }
        for from in diagonal & pinned {
            let way = targets & line(self.king, from);
            self.give::<CAPTURES, QUIETS>(sink, from, bishop_attacks(from, self.occupied) & way);
        }
        for from in straight & pinned {
            let way = targets & line(self.king, from);
            self.give::<CAPTURES, QUIETS>(sink, from, rook_attacks(from, self.occupied) & way);
        }
    }

    #[inline]
    fn pawn_captures(&self, sink: &mut impl MoveSink) {
        let pawns = self.board.pieces(self.us, PieceType::Pawn);
        let free = pawns - self.board.pinned();
        // A pinned pawn captures only along the diagonal it is pinned on.
        let (east_way, west_way) = match self.us {
            Color::White => (rising_diagonal(self.king), falling_diagonal(self.king)),
            Color::Black => (falling_diagonal(self.king), rising_diagonal(self.king)),
        };
        let last = Bitboard::relative_rank(self.us, 7);
        let victims = self.enemies & self.mask;
        let step = self.us.forward();
        let east = (free | pawns & east_way).forward(self.us).east() & victims;
        let west = (free | pawns & west_way).forward(self.us).west() & victims;
        sink.pawns(east - last, step + 1, Flag::Capture);
        sink.pawns(west - last, step - 1, Flag::Capture);
        sink.promotions(east & last, step + 1, true, &PieceType::PROMOTIONS);
        sink.promotions(west & last, step - 1, true, &PieceType::PROMOTIONS);
        if let Some(to) = self.board.en_passant() {
            for from in self.board.en_passant_pawns(to) {
                sink.piece(from, Bitboard::from(to), Flag::EnPassant);
            }
        }
    }

    #[inline]
    fn pawn_pushes<const CAPTURES: bool, const QUIETS: bool>(&self, sink: &mut impl MoveSink) {
        let pawns = self.board.pieces(self.us, PieceType::Pawn);
        // A pinned pawn advances only if it is pinned on its file.
        let movable = (pawns - self.board.pinned()) | pawns & Bitboard::file(self.king.file());
        let last = Bitboard::relative_rank(self.us, 7);
        let step = self.us.forward();
        let single = movable.forward(self.us) - self.occupied;
        if QUIETS {
            let double = (single & Bitboard::relative_rank(self.us, 2)).forward(self.us) - self.occupied;
            sink.pawns((single & self.mask) - last, step, Flag::Quiet);
            sink.pawns(double & self.mask, 2 * step, Flag::DoublePush);
        }
        let kinds: &[PieceType] = match (CAPTURES, QUIETS) {
            (true, true) => &PieceType::PROMOTIONS,
            (true, false) => &[PieceType::Queen],
            _ => &[PieceType::Knight, PieceType::Bishop, PieceType::Rook],
        };
        sink.promotions(single & self.mask & last, step, false, kinds);
    }
}
