//! King safety.
//!
//! Attackers of the king's zone are counted in attack units ("King Safety", Chess Programming
//! Wiki). The units only select a weight from a table, so the evaluation stays linear in its
//! weights.

use super::layout::{KING_DANGER, KING_DANGER_SQUARED, SAFE_CHECK, WEAK_ZONE};
use super::pieces::Attacks;
use super::sink::TermSink;
use crate::board::Board;
use crate::board::attacks::{bishop_attacks, knight_attacks, rook_attacks};
use crate::types::{Color, PieceType};

/// Attack units of a safe check with a knight, bishop, rook or queen.
const CHECK_UNITS: [i32; 4] = [4, 3, 5, 4];

/// Adds the value of a side's attack on the enemy king.
#[inline(always)] // See `add_piece_terms`.
pub(super) fn add_danger(board: &Board, us: Color, attacks: &Attacks, sink: &mut impl TermSink) {
    let (own, other) = (us.index(), (!us).index());
    let king = board.king(!us);
    let defended = attacks.all[other];
    let kings_and_queens =
        attacks.by_kind[other][PieceType::King.index()] | attacks.by_kind[other][PieceType::Queen.index()];
    // Squares attacked, and defended at most once and then by king or queen.
    let weak = (attacks.all[own] - attacks.twice[other]) & (!defended | kings_and_queens);
    let zone_weak = (weak & attacks.zone[other]).count() as i32;
    let mut units = attacks.units[own] + zone_weak;
    sink.add(us, WEAK_ZONE.at(0), zone_weak);

    let safe = (!defended | weak & attacks.twice[own]) - board.colored(us);
    let occupied = board.occupied() ^ board.pieces(!us, PieceType::Queen);
    let diagonal = bishop_attacks(king, occupied);
    let straight = rook_attacks(king, occupied);
    let checks = [knight_attacks(king), diagonal, straight, diagonal | straight];
    for (index, squares) in checks.into_iter().enumerate() {
        // The piece types from knight to queen are consecutive.
        if (squares & safe & attacks.by_kind[own][index + 1]).any() {
            units += CHECK_UNITS[index];
            sink.add(us, SAFE_CHECK.at(index), 1);
        }
    }
    let with_queen = usize::from(board.pieces(us, PieceType::Queen).any());
    let half = KING_DANGER.len / 2;
    let units = (units as usize).min(half - 1);
    sink.add(us, KING_DANGER.at(with_queen * half + units), 1);
    // A smooth term where the table has seen too few positions.
    sink.add(us, KING_DANGER_SQUARED.at(with_queen), (units * units / 16) as i32);
}
