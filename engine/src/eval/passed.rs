//! Terms of passed pawns that depend on the pieces.

use super::layout::{PASSED_CAN_MOVE, PASSED_WAY_SAFE, UNSTOPPABLE};
use super::pawns::PawnTerms;
use super::pieces::Attacks;
use super::sink::TermSink;
use crate::board::Board;
use crate::types::{Bitboard, Color, Square};

/// Adds the terms for free ways of a side's passed pawns.
#[inline]
pub(super) fn add_terms(board: &Board, us: Color, pawns: &PawnTerms, attacks: &Attacks, sink: &mut impl TermSink) {
    let lone_king = !board.has_non_pawn_material(!us);
    for pawn in pawns.passed & board.colored(us) {
        let rank = usize::from(pawn.relative(us).rank());
        let bit = Bitboard::from(pawn);
        let way = bit.forward_fill(us);
        if !board.occupied().intersects(bit.forward(us)) {
            sink.add(us, PASSED_CAN_MOVE.at(rank), 1);
        }
        if !(board.colored(!us) | attacks.all[(!us).index()]).intersects(way) {
            sink.add(us, PASSED_WAY_SAFE.at(rank), 1);
        }
        if lone_king && !board.occupied().intersects(way) && outruns_king(board, us, pawn) {
            sink.add(us, UNSTOPPABLE.at(0), 1);
        }
    }
}

/// Rule of the square: returns whether the king needs more moves to the promotion square than the
/// pawn.
fn outruns_king(board: &Board, us: Color, pawn: Square) -> bool {
    let target = Square::at(pawn.file(), 7).relative(us);
    let rank = pawn.relative(us).rank();
    // The pawn's first step may be double.
    let steps = 7 - rank.max(2);
    let head_start = u8::from(board.turn() != us);
    board.king(!us).distance(target) > steps + head_start
}
