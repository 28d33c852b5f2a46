//! Correction histories: how far the static evaluation was off in positions like this one.
//!
//! The difference between a search's result and the static evaluation is stored by features of the
//! position. These are its pawns, each side's pieces, the minor and the major pieces of both sides,
//! and the last two moves. Later static evaluations of positions that share a feature are corrected
//! by it. Other engines have used pawn correction histories since 2024.

use super::context::{Context, PieceTo};
use super::gravity::Gravity;
use super::params;
use crate::board::Board;
use crate::memory::prefetch;
use crate::types::{Color, Score, TABLE_WIN_IN_MAX};

/// Slots of a table; keys are reduced modulo this size.
const SIZE: usize = 1 << 14;
/// Bound of every stored value, on both sides of zero.
const LIMIT: i32 = 1024;
/// Divisor that turns the weighted sum into centipawns.
const SCALE: i32 = 16 * LIMIT;

/// Average error of the static evaluation.
type Correction = Gravity<LIMIT>;

/// Table by side to move and key.
type KeyTable = [[Correction; SIZE]; 2];

/// Errors of the static evaluation, all from the side to move's view.
pub struct Corrections {
    pawns: KeyTable,
    /// Tables by the colour of the pieces.
    pieces: [KeyTable; 2],
    /// Tables of the minor and of the major pieces; both include kings.
    kinds: [KeyTable; 2],
    /// Table by the last two moves, the earlier one first.
    moves: [[Correction; PieceTo::COUNT]; PieceTo::COUNT],
}

/// Slots of a position in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CorrectionKeys {
    turn: usize,
    pawns: usize,
    pieces: [usize; 2],
    kinds: [usize; 2],
    moves: [usize; 2],
}

impl CorrectionKeys {
    /// Computes the slots of a position and of the moves that led to it.
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
    /// Returns the correction of the static evaluation of a position, in centipawns.
    #[inline]
    pub fn correction(&self, at: CorrectionKeys) -> Score {
        let [pawns, white, black, minor, major, moves] = self.slots(at).map(|slot| slot.get());
        let sum = params::correction_pawns() * pawns
            + params::correction_pieces() * (white + black)
            + params::correction_kinds() * (minor + major)
            + params::correction_moves() * moves;
        sum / SCALE
    }

    /// Prefetches the slots of a position, which are spread over more memory than a cache holds.
    #[inline]
    pub fn prefetch(&self, at: CorrectionKeys) {
        self.slots(at).into_iter().for_each(prefetch);
    }

    /// Pawns, White's and Black's pieces, minor and major pieces, and moves.
    #[inline]
    fn slots(&self, at: CorrectionKeys) -> [&Correction; 6] {
        let CorrectionKeys { turn, pawns, pieces, kinds, moves } = at;
        [
            &self.pawns[turn][pawns],
            &self.pieces[0][turn][pieces[0]],
            &self.pieces[1][turn][pieces[1]],
            &self.kinds[0][turn][kinds[0]],
            &self.kinds[1][turn][kinds[1]],
            &self.moves[moves[0]][moves[1]],
        ]
    }

    /// Updates the tables by the error of a corrected evaluation against a search at a depth.
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

/// Returns the update for an error; it grows with the depth of the search.
fn bonus(error: Score, depth: i32) -> i32 {
    (error * depth / 8).clamp(-LIMIT / 4, LIMIT / 4)
}

/// Returns the corrected evaluation, clamped below the tablebase wins.
#[inline]
pub fn corrected(eval: Score, correction: Score) -> Score {
    (eval + correction).clamp(1 - TABLE_WIN_IN_MAX, TABLE_WIN_IN_MAX - 1)
}

#[cfg(test)]
mod tests {
    use super::super::history::Histories;
    use super::*;
    use crate::types::MATE;

    #[test]
    fn an_error_that_stays_is_made_up_for() {
        let board = Board::startpos();
        let at = CorrectionKeys::new(&board, Context::NONE);
        for truth in [-60, -15, 0, 40, 100] {
            let mut histories = Histories::empty();
            let corrections = &mut histories.corrections;
            for _ in 0..500 {
                corrections.learn(at, truth - corrections.correction(at), 8);
            }
            assert!((corrections.correction(at) - truth).abs() <= 3, "{truth}: {}", corrections.correction(at));
        }
    }

    #[test]
    fn values_keep_within_the_limit() {
        for error in [-MATE, -5000, -1, 1, 5000, MATE] {
            let mut value = Correction::default();
            for _ in 0..10_000 {
                value.learn(bonus(error, 100));
            }
            assert!(value.get().abs() <= LIMIT && value.get().signum() == error.signum(), "{error}: {value:?}");
        }
    }

    #[test]
    fn positions_share_what_they_have_in_common() {
        let start = Board::startpos();
        let mut histories = Histories::empty();
        let corrections = &mut histories.corrections;
        corrections.learn(CorrectionKeys::new(&start, Context::NONE), 200, 10);
        let whole = corrections.correction(CorrectionKeys::new(&start, Context::NONE));
        // Position; does it share part of the correction, or all of it?
        for (fen, part, all) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", true, true),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKB1R w KQkq - 0 1", true, false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPP1/RNBQKBNR w KQkq - 0 1", true, false),
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1", false, false),
        ] {
            let board = Board::from_fen(fen).expect("a legal position");
            // Other moves led here, but the table by side to move ignores them.
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
