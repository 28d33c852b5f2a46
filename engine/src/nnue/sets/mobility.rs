//! Blocks about moves: from which square to which, and by which kinds of piece.
//!
//! `moves` has the attacks of every piece of both sides less the own pieces. Pawns have one step,
//! two steps from their first rank if both squares are empty, and captures of enemy pieces. Pins,
//! castling and en passant do not count.
//!
//! `mobility-squares` and `mobility-counts` leave out the double step too, and each move that would
//! leave the own king attacked, whichever side is to move. Squares of all pieces of a kind are
//! united first, so `mobility-counts` counts different squares. Its index is `103 * enemy +
//! offset[kind] + min(count, cap[kind])`; exactly 12 features are on.

use super::active::ActiveFeatures;
use super::oriented::{CODES, OrientedBoard};
use crate::board::attacks::{
    between, bishop_attacks, bishop_rays, king_attacks, knight_attacks, line, pawn_attacks, pawn_set_attacks,
    piece_attacks, rook_attacks, rook_rays,
};
use crate::types::{Bitboard, Color, PieceType, Square};

/// Largest count of squares of each kind of piece in `mobility-counts`.
pub const CAPS: [usize; 6] = [8, 15, 16, 25, 25, 8];
/// First feature of each kind of piece.
const OFFSETS: [usize; 6] = [0, 9, 25, 42, 68, 94];
/// Features of one side in `mobility-counts`.
const SIDE: usize = 103;

/// Features of `mobility-counts`.
pub(super) const COUNTS: usize = 2 * SIDE;

/// One side of an oriented board; [`Color::White`] is the own one.
struct Mover<'a> {
    board: &'a OrientedBoard,
    color: Color,
    own: Bitboard,
    enemies: Bitboard,
}

impl<'a> Mover<'a> {
    fn new(board: &'a OrientedBoard, color: Color) -> Mover<'a> {
        Mover { board, color, own: board.side(color), enemies: board.side(!color) }
    }

    fn pieces(&self, kind: PieceType) -> Bitboard {
        self.board.pieces()[6 * self.color.index() + kind.index()]
    }

    fn enemy(&self, kind: PieceType) -> Bitboard {
        self.board.pieces()[6 * (!self.color).index() + kind.index()]
    }

    /// Returns the squares a piece can go to by `moves`, without the double step of a pawn.
    fn destinations(&self, kind: PieceType, from: Square) -> Bitboard {
        if kind == PieceType::Pawn {
            let step = Bitboard::from(from).forward(self.color) - self.board.occupied();
            return step | (pawn_attacks(self.color, from) & self.enemies);
        }
        piece_attacks(kind, from, self.board.occupied()) - self.own
    }

    /// Returns the square of the double step of a pawn, if it is free.
    fn double_step(&self, from: Square) -> Bitboard {
        let first = Bitboard::from(from) & Bitboard::relative_rank(self.color, 1);
        let step = first.forward(self.color) - self.board.occupied();
        step.forward(self.color) - self.board.occupied()
    }

    /// Returns the squares that the king can go to without being attacked there. Its own square
    /// shields nothing.
    fn king_destinations(&self, king: Square) -> Bitboard {
        let occupied = self.board.occupied() ^ Bitboard::from(king);
        let mut squares = king_attacks(king) - self.own - pawn_set_attacks(!self.color, self.enemy(PieceType::Pawn));
        for knight in self.enemy(PieceType::Knight) {
            squares = squares - knight_attacks(knight);
        }
        for slider in self.enemy(PieceType::Bishop) | self.enemy(PieceType::Queen) {
            squares = squares - bishop_attacks(slider, occupied);
        }
        for slider in self.enemy(PieceType::Rook) | self.enemy(PieceType::Queen) {
            squares = squares - rook_attacks(slider, occupied);
        }
        for other in self.enemy(PieceType::King) {
            squares = squares - king_attacks(other);
        }
        squares
    }

    /// Returns the pinned pieces, and the squares on which a piece other than the king may end.
    /// Those are all without a check, those that end a single check, and none in a double check.
    fn king_safety(&self, king: Square) -> (Bitboard, Bitboard) {
        let mut checkers = (pawn_attacks(self.color, king) & self.enemy(PieceType::Pawn))
            | (knight_attacks(king) & self.enemy(PieceType::Knight));
        let mut pinned = Bitboard::EMPTY;
        let queens = self.enemy(PieceType::Queen);
        let snipers = (bishop_rays(king) & (self.enemy(PieceType::Bishop) | queens))
            | (rook_rays(king) & (self.enemy(PieceType::Rook) | queens));
        for sniper in snipers {
            let blockers = between(king, sniper) & self.board.occupied();
            if blockers.is_empty() {
                checkers |= Bitboard::from(sniper);
            } else if !blockers.many() {
                pinned |= blockers & self.own;
            }
        }
        let targets = if checkers.is_empty() {
            Bitboard::ALL
        } else if checkers.many() {
            Bitboard::EMPTY
        } else {
            checkers | between(king, checkers.lsb())
        };
        (pinned, targets)
    }

    /// Returns the squares that the pieces of each kind can go to without leaving their king
    /// attacked.
    fn reach(&self) -> [Bitboard; 6] {
        let mut reach = [Bitboard::EMPTY; 6];
        let king = self.pieces(PieceType::King).lsb();
        let (pinned, targets) = self.king_safety(king);
        for kind in PieceType::ALL {
            if kind == PieceType::King {
                reach[kind.index()] = self.king_destinations(king);
                continue;
            }
            for from in self.pieces(kind) {
                let mut squares = self.destinations(kind, from) & targets;
                if pinned.has(from) {
                    squares &= line(king, from);
                }
                reach[kind.index()] |= squares;
            }
        }
        reach
    }
}

/// Adds `64 * from + to` for each move of both sides.
#[inline]
pub(super) fn add_moves(board: &OrientedBoard, first: usize, on: &mut ActiveFeatures) {
    for color in Color::ALL {
        let mover = Mover::new(board, color);
        for kind in PieceType::ALL {
            for from in mover.pieces(kind) {
                let mut squares = mover.destinations(kind, from);
                if kind == PieceType::Pawn {
                    squares |= mover.double_step(from);
                }
                on.insert_bits(first + 64 * from.index(), squares.0);
            }
        }
    }
}

/// Returns the squares that the pieces of each code can go to.
fn reach(board: &OrientedBoard) -> [Bitboard; CODES] {
    let [own, enemy] = Color::ALL.map(|color| Mover::new(board, color).reach());
    std::array::from_fn(|code| if code < 6 { own[code] } else { enemy[code - 6] })
}

/// Adds `64 * c + square` for each square that a piece `c` can go to.
#[inline]
pub(super) fn add_mobility_squares(board: &OrientedBoard, first: usize, on: &mut ActiveFeatures) {
    for (code, squares) in reach(board).into_iter().enumerate() {
        on.insert_bits(first + 64 * code, squares.0);
    }
}

/// Adds the number of squares that the pieces of each code can go to.
#[inline]
pub(super) fn add_mobility_counts(board: &OrientedBoard, first: usize, on: &mut ActiveFeatures) {
    for (code, squares) in reach(board).into_iter().enumerate() {
        let (enemy, kind) = (code / 6, code % 6);
        let count = (squares.count() as usize).min(CAPS[kind]);
        on.insert(first + SIDE * enemy + OFFSETS[kind] + count);
    }
}
