//! Correction histories: how far the static evaluation was off in positions like this one.
//!
//! What a search finds out beside the static evaluation is remembered by what the position has in common with others: its pawns,
//! each side's pieces, the minor and the major pieces of both, the two moves that led to it. The next static evaluation of such a position is moved by it (the engine
//! community's; the first were pawn correction histories of 2024).

use super::context::{Context, PieceTo};
use super::gravity::Gravity;
use super::params;
use crate::board::Board;
use crate::types::{Color, Score, TABLE_WIN_IN_MAX};

/// Places of a table; keys are reduced to this.
const SIZE: usize = 1 << 14;
/// Values stay within this, either side of zero.
const LIMIT: i32 = 1024;
/// Of value times weight, to a centipawn.
const SCALE: i32 = 16 * LIMIT;

/// How far off the evaluation was.
type Value = Gravity<LIMIT>;

/// By side to move and key.
type ByKey = Box<[[Value; SIZE]; 2]>;

fn by_key() -> ByKey {
    Box::new([[Value::default(); SIZE]; 2])
}

/// The errors of the static evaluation, all from the view of the side to move.
pub struct Corrections {
    pawns: ByKey,
    /// By the colour of the pieces.
    pieces: [ByKey; 2],
    /// By minor pieces, and by major ones; kings in both.
    kinds: [ByKey; 2],
    /// By the move before the last and the last.
    moves: Vec<[Value; PieceTo::COUNT]>,
}

/// Where a position stands in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorrectionKeys {
    turn: usize,
    pawns: usize,
    pieces: [usize; 2],
    kinds: [usize; 2],
    moves: [usize; 2],
}

impl CorrectionKeys {
    /// Of a position, given the moves that led to it.
    #[inline]
    pub fn new(board: &Board, context: Context) -> CorrectionKeys {
        let place = |key: u64| key as usize % SIZE;
        CorrectionKeys {
            turn: board.turn().index(),
            pawns: place(board.pawn_key()),
            pieces: Color::ALL.map(|color| place(board.non_pawn_key(color))),
            kinds: [place(board.minor_key()), place(board.major_key())],
            moves: [context.moves[1].index(), context.moves[0].index()],
        }
    }
}

impl Corrections {
    pub fn new() -> Corrections {
        Corrections {
            pawns: by_key(),
            pieces: [by_key(), by_key()],
            kinds: [by_key(), by_key()],
            moves: vec![[Value::default(); PieceTo::COUNT]; PieceTo::COUNT],
        }
    }

    /// What the static evaluation of such positions lacks, in centipawns.
    #[inline]
    pub fn correction(&self, at: CorrectionKeys) -> Score {
        let pawns = self.pawns[at.turn][at.pawns].get();
        let pieces: i32 = (0..2).map(|color| self.pieces[color][at.turn][at.pieces[color]].get()).sum();
        let kinds: i32 = (0..2).map(|kind| self.kinds[kind][at.turn][at.kinds[kind]].get()).sum();
        let moves = self.moves[at.moves[0]][at.moves[1]].get();
        let sum = params::correction_pawns() * pawns
            + params::correction_pieces() * pieces
            + params::correction_kinds() * kinds
            + params::correction_moves() * moves;
        sum / SCALE
    }

    /// Learns that a search to a depth found a score that much above the corrected evaluation.
    #[inline]
    pub fn learn(&mut self, at: CorrectionKeys, error: Score, depth: i32) {
        let bonus = bonus(error, depth);
        self.pawns[at.turn][at.pawns].learn(bonus);
        for (table, place) in self.pieces.iter_mut().zip(at.pieces).chain(self.kinds.iter_mut().zip(at.kinds)) {
            table[at.turn][place].learn(bonus);
        }
        self.moves[at.moves[0]][at.moves[1]].learn(bonus);
    }
}

/// How much is learnt from an error at a depth: the deeper the search, the more.
fn bonus(error: Score, depth: i32) -> i32 {
    (error * depth / 8).clamp(-LIMIT / 4, LIMIT / 4)
}

/// An evaluation moved by a correction, and still no win that is known.
#[inline]
pub fn corrected(eval: Score, correction: Score) -> Score {
    (eval + correction).clamp(1 - TABLE_WIN_IN_MAX, TABLE_WIN_IN_MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::MATE;

    #[test]
    fn an_error_that_stays_is_made_up_for() {
        let board = Board::startpos();
        let at = CorrectionKeys::new(&board, Context::NONE);
        for truth in [-60, -15, 0, 40, 100] {
            let mut corrections = Corrections::new();
            for _ in 0..500 {
                corrections.learn(at, truth - corrections.correction(at), 8);
            }
            assert!((corrections.correction(at) - truth).abs() <= 3, "{truth}: {}", corrections.correction(at));
        }
    }

    #[test]
    fn values_keep_within_the_limit() {
        for error in [-MATE, -5000, -1, 1, 5000, MATE] {
            let mut value = Value::default();
            for _ in 0..10_000 {
                value.learn(bonus(error, 100));
            }
            assert!(value.get().abs() <= LIMIT && value.get().signum() == error.signum(), "{error}: {value:?}");
        }
    }

    #[test]
    fn positions_share_what_they_have_in_common() {
        let start = Board::startpos();
        let mut corrections = Corrections::new();
        corrections.learn(CorrectionKeys::new(&start, Context::NONE), 200, 10);
        let whole = corrections.correction(CorrectionKeys::new(&start, Context::NONE));
        // Position, does part of the correction hold, does all?
        for (fen, part, all) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", true, true),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1", true, false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBNR w KQkq - 0 1", true, false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", false, false),
        ] {
            let board = Board::from_fen(fen).expect("a legal position");
            // After other moves, which the side that moves does not tell apart.
            let other =
                Context { moves: [PieceTo::new(&start, start.parse_uci("e2e4").expect("legal")); 3], ..Context::NONE };
            let context = if part { Context::NONE } else { other };
            let found = corrections.correction(CorrectionKeys::new(&board, context));
            assert_eq!((found > 0, found == whole), (part, all), "{fen}: {found}");
        }
    }

    #[test]
    fn a_corrected_evaluation_is_no_known_win() {
        for (eval, correction) in [(TABLE_WIN_IN_MAX - 5, 100), (5 - TABLE_WIN_IN_MAX, -100), (10, 20)] {
            assert!(corrected(eval, correction).abs() < TABLE_WIN_IN_MAX);
        }
        assert_eq!(corrected(10, 20), 30);
    }
}
