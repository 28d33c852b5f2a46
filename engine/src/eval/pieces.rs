//! Terms of single pieces: material, placement, mobility, and terms of each piece type.

use super::layout::{
    BISHOP_LONG_DIAGONAL, BISHOP_PAIR, BISHOP_WITH_PAWNS, Block, KNIGHT_WITH_PAWNS, MATERIAL, MINOR_BEHIND_PAWN,
    MOBILITY_BISHOP, MOBILITY_KNIGHT, MOBILITY_QUEEN, MOBILITY_ROOK, OUTPOST, OUTPOST_ALONE, OUTPOST_IN_REACH,
    PLACEMENT, ROOK_BEHIND_PASSED, ROOK_HALF_OPEN_FILE, ROOK_OPEN_FILE, ROOK_SUPPORTED, ROOK_WITH_PAWNS,
    TRAPPED_BISHOP,
};
use super::pawns::{PawnTerms, king_zone, placed};
use super::sink::TermSink;
use crate::board::Board;
use crate::board::attacks::{
    bishop_attacks, king_attacks, knight_attacks, pawn_attacks, pawn_set_attacks, rook_attacks,
};
use crate::types::{Bitboard, Color, PieceType, Square};

/// Attacks gathered during the evaluation of the pieces; arrays are by colour.
pub(super) struct Attacks {
    pub(super) by_kind: [[Bitboard; PieceType::COUNT]; 2],
    pub(super) all: [Bitboard; 2],
    /// Squares attacked at least twice.
    pub(super) twice: [Bitboard; 2],
    /// Attacks on the other side's king, in the units of [`super::king`].
    pub(super) units: [i32; 2],
    /// Squares that count for mobility.
    area: [Bitboard; 2],
    /// Squares around each king.
    pub(super) zone: [Bitboard; 2],
}

impl Attacks {
    pub(super) fn new(board: &Board) -> Attacks {
        let mut attacks = Attacks {
            by_kind: [[Bitboard::EMPTY; PieceType::COUNT]; 2],
            all: [Bitboard::EMPTY; 2],
            twice: [Bitboard::EMPTY; 2],
            units: [0; 2],
            area: [Bitboard::EMPTY; 2],
            zone: [Bitboard::EMPTY; 2],
        };
        for us in Color::ALL {
            let king = board.king(us);
            let pawns = board.pieces(us, PieceType::Pawn);
            let ahead = pawns.forward(us);
            attacks.zone[us.index()] = king_zone(us, king);
            attacks.record(us, PieceType::King, king_attacks(king));
            // Both directions apart, to find squares attacked by two pawns.
            attacks.record(us, PieceType::Pawn, ahead.west());
            attacks.record(us, PieceType::Pawn, ahead.east());
        }
        for us in Color::ALL {
            let pawns = board.pieces(us, PieceType::Pawn);
            let stuck = pawns & (board.occupied().forward(!us) | Bitboard::relative_rank(us, 1));
            let taken = stuck | Bitboard::from(board.king(us)) | board.pieces(us, PieceType::Queen);
            let enemies = board.pieces(!us, PieceType::Pawn);
            attacks.area[us.index()] = !(taken | pawn_set_attacks(!us, enemies));
        }
        attacks
    }

    #[inline]
    fn record(&mut self, us: Color, kind: PieceType, squares: Bitboard) {
        let side = us.index();
        self.twice[side] |= self.all[side] & squares;
        self.all[side] |= squares;
        self.by_kind[side][kind.index()] |= squares;
    }
}

/// Attack units of a piece that attacks the king's zone; each attacked square of the zone adds one.
const ZONE_UNITS: [i32; PieceType::COUNT] = [0, 2, 2, 2, 4, 0];

/// Adds the terms of a side's knights, bishops, rooks and queens.
#[inline(always)] // See `add_piece_terms`.
pub(super) fn add_terms(board: &Board, us: Color, pawns: &PawnTerms, attacks: &mut Attacks, sink: &mut impl TermSink) {
    let occupied = board.occupied();
    let own = board.colored(us);
    // Sliders see through own pieces that move alike.
    let through_queens = occupied ^ board.pieces(us, PieceType::Queen);
    let through_majors = occupied ^ (board.straight_sliders() & own);
    let extra_pawns = board.pieces(us, PieceType::Pawn).count() as i32 - 5;
    for square in board.pieces(us, PieceType::Knight) {
        let targets = knight_attacks(square);
        add_piece(board, us, (PieceType::Knight, square, targets), MOBILITY_KNIGHT, attacks, sink);
        sink.add(us, KNIGHT_WITH_PAWNS.at(0), extra_pawns);
        add_minor(board, us, (square, targets), 0, pawns, sink);
    }
    for square in board.pieces(us, PieceType::Bishop) {
        let targets = bishop_attacks(square, through_queens);
        add_piece(board, us, (PieceType::Bishop, square, targets), MOBILITY_BISHOP, attacks, sink);
        add_minor(board, us, (square, targets), 1, pawns, sink);
        add_bishop(board, us, square, sink);
    }
    if board.has_bishop_pair(us) {
        sink.add(us, BISHOP_PAIR.at(0), 1);
    }
    for square in board.pieces(us, PieceType::Rook) {
        let targets = rook_attacks(square, through_majors);
        add_piece(board, us, (PieceType::Rook, square, targets), MOBILITY_ROOK, attacks, sink);
        sink.add(us, ROOK_WITH_PAWNS.at(0), extra_pawns);
        add_rook(board, us, (square, targets), pawns, sink);
    }
    for square in board.pieces(us, PieceType::Queen) {
        let targets = bishop_attacks(square, occupied) | rook_attacks(square, occupied);
        add_piece(board, us, (PieceType::Queen, square, targets), MOBILITY_QUEEN, attacks, sink);
    }
}

/// Adds the terms that all pieces share.
#[inline]
fn add_piece(
    board: &Board,
    us: Color,
    (kind, square, targets): (PieceType, Square, Bitboard),
    mobility: Block,
    attacks: &mut Attacks,
    sink: &mut impl TermSink,
) {
    sink.add(us, MATERIAL.at(kind.index()), 1);
    sink.add(us, PLACEMENT.at(kind.index() * 64 + placed(board, us, square).index()), 1);
    sink.add(us, mobility.at((targets & attacks.area[us.index()]).count() as usize), 1);
    let on_king = targets & attacks.zone[(!us).index()];
    if on_king.any() {
        attacks.units[us.index()] += ZONE_UNITS[kind.index()] + on_king.count() as i32;
    }
    attacks.record(us, kind, targets);
}

/// Adds the terms of knights (`which` 0) and bishops (1): outposts, and shelter behind a pawn.
#[inline]
fn add_minor(
    board: &Board,
    us: Color,
    (square, targets): (Square, Bitboard),
    which: usize,
    pawns: &PawnTerms,
    sink: &mut impl TermSink,
) {
    let own_pawns = board.pieces(us, PieceType::Pawn);
    let ranks = Bitboard::relative_rank(us, 3) | Bitboard::relative_rank(us, 4) | Bitboard::relative_rank(us, 5);
    let holes = ranks - pawns.attack_spans[(!us).index()];
    let outposts = holes & pawn_set_attacks(us, own_pawns);
    if outposts.has(square) {
        sink.add(us, OUTPOST.at(which), 1);
    } else {
        if holes.has(square) {
            sink.add(us, OUTPOST_ALONE.at(which), 1);
        }
        if which == 0 && (targets & (outposts - board.colored(us))).any() {
            sink.add(us, OUTPOST_IN_REACH.at(0), 1);
        }
    }
    if board.kind(PieceType::Pawn).forward(!us).has(square) {
        sink.add(us, MINOR_BEHIND_PAWN.at(0), 1);
    }
}

#[inline]
fn add_bishop(board: &Board, us: Color, square: Square, sink: &mut impl TermSink) {
    let color = if Bitboard::LIGHT_SQUARES.has(square) { Bitboard::LIGHT_SQUARES } else { Bitboard::DARK_SQUARES };
    let on_color = (board.pieces(us, PieceType::Pawn) & color).count() as usize;
    sink.add(us, BISHOP_WITH_PAWNS.at(on_color), 1);
    // d4, e4, d5, e5.
    let centre = Bitboard(0x0000_0018_1800_0000);
    if (bishop_attacks(square, board.kind(PieceType::Pawn)) & centre).many() {
        sink.add(us, BISHOP_LONG_DIAGONAL.at(0), 1);
    }
    // Bishops on ranks six and seven of the edge files are rare, so the rest is rarely computed.
    let edge =
        (Bitboard::FILE_A | Bitboard::FILE_H) & (Bitboard::relative_rank(us, 6) | Bitboard::relative_rank(us, 5));
    if edge.has(square) {
        let enemies = board.pieces(!us, PieceType::Pawn);
        // From the edge one square only leads back.
        let back = pawn_attacks(!us, square);
        if (back & enemies & pawn_set_attacks(!us, enemies)).any() {
            let rank = usize::from(6 - square.relative(us).rank());
            sink.add(us, TRAPPED_BISHOP.at(rank), 1);
        }
    }
}

#[inline]
fn add_rook(
    board: &Board,
    us: Color,
    (square, targets): (Square, Bitboard),
    pawns: &PawnTerms,
    sink: &mut impl TermSink,
) {
    let file = Bitboard::file(square.file());
    let mut openness = 0;
    if !file.intersects(board.kind(PieceType::Pawn)) {
        sink.add(us, ROOK_OPEN_FILE.at(0), 1);
        openness = 2;
    } else if !file.intersects(board.pieces(us, PieceType::Pawn)) {
        sink.add(us, ROOK_HALF_OPEN_FILE.at(0), 1);
        openness = 1;
    }
    if targets.intersects(board.pieces(us, PieceType::Rook)) {
        sink.add(us, ROOK_SUPPORTED.at(openness), 1);
    }
    let passed = pawns.passed & file;
    if passed.any() {
        let bit = Bitboard::from(square);
        if (passed & board.colored(us)).intersects(bit.forward_fill(us)) {
            sink.add(us, ROOK_BEHIND_PASSED.at(0), 1);
        }
        if (passed & board.colored(!us)).intersects(bit.forward_fill(!us)) {
            sink.add(us, ROOK_BEHIND_PASSED.at(1), 1);
        }
    }
}
