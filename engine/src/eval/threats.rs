//! Terms of attacked pieces and contested squares.

use super::layout::{
    Block, HANGING, PUSH_THREAT, QUEEN_IN_REACH, RESTRICTED, SPACE, THREAT_BY_KING, THREAT_BY_MINOR, THREAT_BY_PAWN,
    THREAT_BY_ROOK,
};
use super::pieces::Attacks;
use super::sink::TermSink;
use crate::board::Board;
use crate::board::attacks::{bishop_attacks, knight_attacks, pawn_set_attacks, rook_attacks};
use crate::types::{Bitboard, Color, PieceType};

/// Adds the terms of a side's threats.
#[inline(always)] // See `add_piece_terms`.
pub(super) fn add_terms(board: &Board, us: Color, attacks: &Attacks, sink: &mut impl TermSink) {
    let (own, other) = (us.index(), (!us).index());
    let by = |kind: PieceType| attacks.by_kind[own][kind.index()];
    let enemies = board.colored(!us);
    let pieces = enemies - board.kind(PieceType::Pawn);
    let by_enemy_pawns = attacks.by_kind[other][PieceType::Pawn.index()];
    // Squares guarded by a pawn, or by more pieces than attack.
    let solid = by_enemy_pawns | (attacks.twice[other] - attacks.twice[own]);
    let weak = (enemies - solid) & attacks.all[own];

    add_victims(board, us, by(PieceType::Pawn) & pieces, THREAT_BY_PAWN, sink);
    let minors = by(PieceType::Knight) | by(PieceType::Bishop);
    add_victims(board, us, minors & (weak | pieces), THREAT_BY_MINOR, sink);
    add_victims(board, us, by(PieceType::Rook) & (weak | board.pieces(!us, PieceType::Queen)), THREAT_BY_ROOK, sink);
    if (weak & by(PieceType::King)).any() {
        sink.add(us, THREAT_BY_KING.at(0), 1);
    }
    let undefended = !attacks.all[other] | (pieces & attacks.twice[own]);
    add_count(us, weak & undefended, HANGING.at(0), sink);
    add_count(us, (attacks.all[other] - solid) & attacks.all[own], RESTRICTED.at(0), sink);

    let pawns = board.pieces(us, PieceType::Pawn);
    let empty = !board.occupied();
    let single = pawns.forward(us) & empty;
    let double = (single & Bitboard::relative_rank(us, 2)).forward(us) & empty;
    let safe = ((single | double) - by_enemy_pawns) & (attacks.all[own] | !attacks.all[other]);
    add_count(us, pawn_set_attacks(us, safe) & pieces, PUSH_THREAT.at(0), sink);

    add_queen_in_reach(board, us, attacks, sink);
    add_space(board, us, by_enemy_pawns, sink);
}

#[inline]
fn add_count(us: Color, squares: Bitboard, index: usize, sink: &mut impl TermSink) {
    sink.add(us, index, squares.count() as i32);
}

#[inline]
fn add_victims(board: &Board, us: Color, victims: Bitboard, block: Block, sink: &mut impl TermSink) {
    for square in victims {
        if let Some(piece) = board.piece_at(square) {
            sink.add(us, block.at(piece.kind().index()), 1);
        }
    }
}

/// Adds the squares from which a knight or slider could next attack a single enemy queen.
#[inline]
fn add_queen_in_reach(board: &Board, us: Color, attacks: &Attacks, sink: &mut impl TermSink) {
    let queens = board.pieces(!us, PieceType::Queen);
    if queens.count() != 1 {
        return;
    }
    let queen = queens.lsb();
    let (own, other) = (us.index(), (!us).index());
    let by = |kind: PieceType| attacks.by_kind[own][kind.index()];
    let safe = !board.colored(us)
        & ((!attacks.all[other] | (attacks.twice[own] - attacks.twice[other]))
            - attacks.by_kind[other][PieceType::Pawn.index()]);
    add_count(us, by(PieceType::Knight) & knight_attacks(queen) & safe, QUEEN_IN_REACH.at(0), sink);
    let sliders = by(PieceType::Bishop) & bishop_attacks(queen, board.occupied())
        | by(PieceType::Rook) & rook_attacks(queen, board.occupied());
    add_count(us, sliders & safe, QUEEN_IN_REACH.at(1), sink);
}

/// Adds the squares on files c to f and the own ranks two to four without an own pawn that no enemy
/// pawn attacks.
#[inline]
fn add_space(board: &Board, us: Color, by_enemy_pawns: Bitboard, sink: &mut impl TermSink) {
    let files = Bitboard(0x3C3C_3C3C_3C3C_3C3C);
    let ranks = Bitboard::relative_rank(us, 1) | Bitboard::relative_rank(us, 2) | Bitboard::relative_rank(us, 3);
    add_count(us, files & (ranks - board.pieces(us, PieceType::Pawn) - by_enemy_pawns), SPACE.at(0), sink);
}
