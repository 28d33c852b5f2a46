//! Terms of pawns and kings alone, and their cache.

use super::Pair;
use super::layout::{
    BACKWARD, CANDIDATE, DOUBLED, ISOLATED, KING_FILE, MATERIAL, PASSED, PASSED_ENEMY_KING, PASSED_OWN_KING,
    PAWNLESS_FLANK, PHALANX, PLACEMENT, SHELTER, STORM, SUPPORTED,
};
use super::sink::{Sum, TermSink};
use crate::board::Board;
use crate::board::attacks::{king_attacks, pawn_attacks, pawn_set_attacks};
use crate::types::{Bitboard, Color, PieceType, Square};

/// Facts about the pawns that other terms use.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PawnTerms {
    /// Passed pawns of both sides.
    pub(super) passed: Bitboard,
    /// Squares that a side's pawns attack now or may attack after advancing, by colour.
    pub(super) attack_spans: [Bitboard; 2],
}

#[derive(Debug, Clone, Copy, Default)]
struct PawnEntry {
    key: u64,
    terms: PawnTerms,
    sum: Pair,
}

/// Number of entries of 40 bytes, a power of two.
const ENTRIES: usize = 1 << 12;

/// Cache indexed by the pawns and the kings' squares, direct-mapped.
#[derive(Debug, Clone)]
pub(super) struct PawnTable {
    entries: Box<[PawnEntry]>,
}

impl PawnTable {
    pub(super) fn new() -> PawnTable {
        PawnTable { entries: vec![PawnEntry::default(); ENTRIES].into_boxed_slice() }
    }

    pub(super) fn clear(&mut self) {
        self.entries.fill(PawnEntry::default());
    }

    /// Returns the terms and their sum from White's view, cached or computed.
    pub(super) fn probe(&mut self, board: &Board) -> (&PawnTerms, Pair) {
        let kings = board.king(Color::White).index() << 6 | board.king(Color::Black).index();
        // Any odd factor spreads the kings; the top bit keeps the key from that of an empty entry.
        let key = (board.pawn_key() ^ (kings as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)) | 1 << 63;
        let entry = &mut self.entries[key as usize & (ENTRIES - 1)];
        if entry.key != key {
            let mut sum = Sum::default();
            let terms = add_terms(board, &mut sum);
            *entry = PawnEntry { key, terms, sum: sum.0 };
        }
        (&entry.terms, entry.sum)
    }
}

/// Adds the terms of pawns and kings for both sides.
pub(super) fn add_terms(board: &Board, sink: &mut impl TermSink) -> PawnTerms {
    let mut terms = PawnTerms::default();
    for us in Color::ALL {
        let ahead = board.pieces(us, PieceType::Pawn);
        let front = ahead | ahead.forward_fill(us);
        terms.attack_spans[us.index()] = pawn_set_attacks(us, front);
    }
    for us in Color::ALL {
        for pawn in board.pieces(us, PieceType::Pawn) {
            add_pawn(board, us, pawn, &mut terms, sink);
        }
        add_king(board, us, sink);
    }
    terms
}

/// Returns the index of a square in the placement table: from its own side, with its king on files
/// e to h.
#[inline]
pub(super) fn placed(board: &Board, us: Color, square: Square) -> Square {
    let mirror = if board.king(us).file() < 4 { 7 } else { 0 };
    Square::new(square.relative(us).raw() ^ mirror)
}

fn add_pawn(board: &Board, us: Color, pawn: Square, terms: &mut PawnTerms, sink: &mut impl TermSink) {
    let own = board.pieces(us, PieceType::Pawn);
    let enemies = board.pieces(!us, PieceType::Pawn);
    let rank = usize::from(pawn.relative(us).rank());
    let bit = Bitboard::from(pawn);
    let way = bit.forward_fill(us);
    let beside = bit.east() | bit.west();
    let neighbours = beside.file_fill();
    let stop = bit.forward(us).lsb();
    sink.add(us, MATERIAL.at(0), 1);
    sink.add(us, PLACEMENT.at(placed(board, us, pawn).index()), 1);

    let unopposed = usize::from(!way.intersects(enemies));
    let supporters = (pawn_attacks(!us, pawn) & own).count();
    let phalanx = beside.intersects(own);
    if phalanx {
        sink.add(us, PHALANX.at(rank), 1);
    }
    if supporters > 0 {
        sink.add(us, SUPPORTED.at(rank), supporters as i32);
    }
    if way.intersects(own) {
        sink.add(us, DOUBLED.at(0), 1);
    }
    if !neighbours.intersects(own) {
        sink.add(us, ISOLATED.at(unopposed), 1);
    } else {
        // All neighbours are ahead, and an enemy pawn guards the next square.
        let behind = (beside | beside.forward_fill(!us)) & own;
        if behind.is_empty() && pawn_attacks(us, stop).intersects(enemies) {
            sink.add(us, BACKWARD.at(unopposed), 1);
        }
    }
    let stoppers = enemies & (way | (beside.forward_fill(us)));
    if stoppers.is_empty() && !way.intersects(own) {
        terms.passed |= bit;
        add_passed(board, us, stop, rank, sink);
    } else if !way.intersects(enemies | own) {
        // Only pawns beside the way stop it, and at most as many as support it.
        let levers = pawn_attacks(us, stop) & enemies;
        let helpers = beside & own | pawn_attacks(!us, pawn) & own;
        if stoppers == levers && helpers.count() >= levers.count() {
            sink.add(us, CANDIDATE.at(rank), 1);
        }
    }
}

fn add_passed(board: &Board, us: Color, stop: Square, rank: usize, sink: &mut impl TermSink) {
    sink.add(us, PASSED.at(rank), 1);
    let weight = rank as i32 - 2;
    if weight > 0 {
        let own = usize::from(board.king(us).distance(stop));
        let enemy = usize::from(board.king(!us).distance(stop));
        sink.add(us, PASSED_OWN_KING.at(own), weight);
        sink.add(us, PASSED_ENEMY_KING.at(enemy), weight);
    }
}

/// Adds placement, pawn shelter and pawn storm of a king.
fn add_king(board: &Board, us: Color, sink: &mut impl TermSink) {
    let king = board.king(us);
    let own = board.pieces(us, PieceType::Pawn);
    let enemies = board.pieces(!us, PieceType::Pawn);
    sink.add(us, PLACEMENT.at(5 * 64 + king.relative(us).index()), 1);

    let rank = Bitboard::rank(king.rank());
    let ahead = rank | rank.forward_fill(us);
    let centre = king.file().clamp(1, 6);
    for file in centre - 1..=centre + 1 {
        let column = Bitboard::file(file) & ahead;
        let own_rank = nearest(us, column & own);
        let enemy_rank = nearest(us, column & enemies);
        let other = usize::from(file != king.file());
        sink.add(us, SHELTER.at(other * 8 + own_rank), 1);
        let blocked = usize::from(own_rank > 0 && own_rank + 1 == enemy_rank);
        sink.add(us, STORM.at(blocked * 8 + enemy_rank), 1);
        let whole = Bitboard::file(file);
        if !whole.intersects(own) {
            sink.add(us, KING_FILE.at(other * 2 + usize::from(!whole.intersects(enemies))), 1);
        }
    }
    let flank = flank(king.file());
    if !flank.intersects(own | enemies) {
        sink.add(us, PAWNLESS_FLANK.at(0), 1);
    }
}

/// Returns the relative rank of the pawn closest to a side's first rank, 0 for none.
fn nearest(us: Color, pawns: Bitboard) -> usize {
    match us {
        _ if pawns.is_empty() => 0,
        Color::White => usize::from(pawns.lsb().rank()),
        Color::Black => usize::from(7 - pawns.msb().rank()),
    }
}

/// Returns the four files of a king's wing; for the d- and e-files the four in the middle.
fn flank(file: u8) -> Bitboard {
    let first = match file {
        0..=2 => 0,
        3..=4 => 2,
        _ => 4,
    };
    (first..first + 4).fold(Bitboard::EMPTY, |set, file| set | Bitboard::file(file))
}

/// Returns the squares around a king and those one rank further ahead.
#[inline]
pub(super) fn king_zone(us: Color, king: Square) -> Bitboard {
    let near = king_attacks(king) | Bitboard::from(king);
    near | near.forward(us)
}
