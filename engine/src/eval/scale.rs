//! Scaling of endgame advantages.

use crate::board::Board;
use crate::types::{Bitboard, Color, PieceType};

/// Full scale.
pub const NORMAL: i32 = 64;

/// Returns the scale of a side's endgame advantage in 64ths: lower with few or no pawns and with
/// opposite-coloured bishops.
#[inline]
pub fn endgame_scale(board: &Board, strong: Color) -> i32 {
    let pawns = board.pieces(strong, PieceType::Pawn).count() as i32;
    if pawns == 0 {
        let (own, other) = (pieces_value(board, strong), pieces_value(board, !strong));
        if own <= other + 3 {
            return if own <= 3 { 0 } else { 12 };
        }
    }
    if opposite_bishops(board) {
        let bare = board.kind(PieceType::Knight) | board.straight_sliders();
        return if bare.is_empty() { 24 + 4 * pawns.min(4) } else { 48 };
    }
    (42 + 5 * pawns).min(NORMAL)
}

/// Returns the value of a side's pieces as 3, 3, 5, 9.
#[inline]
fn pieces_value(board: &Board, color: Color) -> i32 {
    let count = |kind| board.pieces(color, kind).count() as i32;
    3 * (count(PieceType::Knight) + count(PieceType::Bishop)) + 5 * count(PieceType::Rook) + 9 * count(PieceType::Queen)
}

/// Returns whether each side has one bishop, on squares of different colours.
#[inline]
fn opposite_bishops(board: &Board) -> bool {
    let bishops = board.kind(PieceType::Bishop);
    bishops.count() == 2
        && board.pieces(Color::White, PieceType::Bishop).count() == 1
        && (bishops & Bitboard::LIGHT_SQUARES).count() == 1
}
