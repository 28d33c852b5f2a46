//! Histories: scores of moves from their results elsewhere in the tree, used to order and prune
//! moves.

use super::context::{Context, LOW_PLIES, PieceTo};
use super::corrections::Corrections;
use super::gravity::Gravity;
use super::params;
use crate::board::Board;
use crate::memory::{HugeBox, Zeroable};
use crate::types::{Bitboard, Color, Move, PieceType, Score, Square};

/// Bound of every history score, on both sides of zero.
const LIMIT: i32 = 1 << 14;

/// History score of one kind of move.
type HistoryScore = Gravity<LIMIT>;

/// Returns the bonus of the move that caused a cutoff at a depth.
pub fn bonus(depth: i32) -> i32 {
    (params::history_bonus_slope() * depth - params::history_bonus_offset()).clamp(0, params::history_bonus_max())
}

/// Returns the malus of the moves searched before a cutoff at a depth.
pub fn malus(depth: i32) -> i32 {
    (params::history_malus_slope() * depth - params::history_malus_offset()).clamp(0, params::history_malus_max())
}

/// Returns the malus of the moves searched before a cutoff in a node of the principal variation.
///
/// Such nodes have a wide window, which a good move may miss.
pub fn pv_malus(depth: i32) -> i32 {
    malus(depth) * params::history_pv_share() / 64
}

/// Returns the bonus of a quiet move after which every reply failed low at a depth.
pub fn prior_bonus(depth: i32) -> i32 {
    bonus(depth) * params::history_prior_share() / 64
}

/// Returns the malus of an early quiet move that a score from the transposition table (TT) refutes.
pub fn refuted_malus(depth: i32) -> i32 {
    malus(depth) * params::history_refuted_share() / 64
}

/// Returns the bonus of the quiet TT move that caused a TT cutoff at a depth.
pub fn tt_bonus(depth: i32) -> i32 {
    bonus(depth) * params::history_tt_share() / 64
}

/// Returns the bonus of a quiet move from the static evaluations around it, "evaluation difference"
/// in other engines (common practice).
///
/// `before` is from the view of the side that moved, `after` from the opponent's. The smaller their
/// sum, the better the move.
pub fn evaluation_bonus(before: Score, after: Score) -> i32 {
    let max = params::evaluation_bonus_max();
    (params::evaluation_bonus_slope() * (TEMPO - before - after) / 8).clamp(-max, max)
}

/// Sum of both evaluations in centipawns if a move changed nothing: each counts the right to move.
const TEMPO: Score = 20;

/// Butterfly history by side, origin and target square ("The history heuristic and alpha-beta
/// search enhancements in practice", J. Schaeffer, IEEE PAMI 11(11), 1989).
///
/// It is also split by whether the opponent attacks either square ("threat history", common
/// practice), because a piece that flees differs from one that walks into an attack.
struct Butterfly([[FromToTable; 4]; 2]);

/// History by origin and target square.
type FromToTable = [[HistoryScore; Square::COUNT]; Square::COUNT];

/// Returns the index of the threats: two bits for attacks on the origin and the target square.
#[inline]
fn threat_index(threats: Bitboard, mv: Move) -> usize {
    2 * usize::from(threats.has(mv.from())) + usize::from(threats.has(mv.to()))
}

/// Continuation history by an earlier move's piece and target, and those of the move itself. It
/// generalises counter-moves (J. Uiterwijk, ICCA Journal 15(1), 1992) and follow-up moves to a
/// score for every pair.
struct Continuation([[HistoryScore; PieceTo::COUNT]; PieceTo::COUNT]);

/// Low-ply history by distance from the root, origin and target square (common practice). Each
/// iteration searches the first plies of the tree again.
struct LowPly([FromToTable; LOW_PLIES]);

/// Pawn history by pawn structure, moved piece and target square (common practice). Plans depend on
/// the pawns.
struct PawnMoves([[HistoryScore; PieceTo::COUNT]; PAWN_MOVES_SIZE]);

/// Slots of the pawn history.
const PAWN_MOVES_SIZE: usize = 1 << 10;

#[inline]
fn pawns_index(board: &Board) -> usize {
    board.pawn_key() as usize % PAWN_MOVES_SIZE
}

/// Capture history by moved piece, target square and captured piece (common practice).
struct Captures([[HistoryScore; VICTIMS]; PieceTo::COUNT]);

/// Captured piece types, and one more for promotions that capture nothing.
const VICTIMS: usize = PieceType::COUNT + 1;

/// Scores learnt about moves during a game.
pub struct Histories {
    butterfly: Butterfly,
    continuation: Continuation,
    low_ply: LowPly,
    pawn_moves: PawnMoves,
    captures: Captures,
    /// Correction histories, which are learnt and cleared along with the others.
    pub corrections: Corrections,
}

#[expect(unsafe_code, reason = "all tables begin with zeros")]
// SAFETY: the histories are arrays of integers alone, which may be zero.
unsafe impl Zeroable for Histories {}

impl Histories {
    /// Creates histories that know nothing.
    pub fn empty() -> HugeBox<Histories> {
        HugeBox::zeroed()
    }

    /// Clears the low-ply history, because the next search has another root.
    pub fn begin_search(&mut self) {
        self.low_ply.0 = [[[HistoryScore::default(); Square::COUNT]; Square::COUNT]; LOW_PLIES];
    }

    /// Selects the histories of the quiet moves of a position.
    #[inline]
    pub fn quiets(&self, board: &Board, context: Context) -> Quiets<'_> {
        Quiets {
            butterfly: &self.butterfly.0[board.turn().index()],
            pawn_moves: &self.pawn_moves.0[pawns_index(board)],
            continuation: context.moves.map(|before| &self.continuation.0[before.index()]),
            low_ply: self.low_ply.0.get(context.ply),
            threats: context.threats,
            low_ply_divisor: 16 * (1 + context.ply as i32),
        }
    }

    /// Returns the history score of a quiet move; moves with higher scores are searched earlier.
    #[inline]
    pub fn quiet(&self, board: &Board, mv: Move, context: Context) -> i32 {
        self.quiets(board, context).value(board, mv)
    }

    /// Returns the history score of a capture or promotion, without the value of the captured
    /// piece.
    #[inline]
    pub fn capture(&self, board: &Board, mv: Move) -> i32 {
        self.captures.0[PieceTo::new(board, mv).index()][victim_index(board, mv)].get()
    }

    /// Updates the history of a capture or promotion; a negative bonus is a malus.
    #[inline]
    pub fn learn_capture(&mut self, board: &Board, mv: Move, bonus: i32) {
        self.captures.0[PieceTo::new(board, mv).index()][victim_index(board, mv)].learn(bonus);
    }

    /// Updates the histories of a quiet move that has been played; a negative bonus is a malus.
    /// `context` is that of the position before the move. The pawn history is left out because the
    /// pawns may have moved.
    #[inline]
    pub fn learn_played(&mut self, side: Color, mv: Move, piece_to: PieceTo, context: Context, bonus: i32) {
        self.learn_from_to(side, mv, context.threats, bonus);
        for before in context.moves {
            self.continuation.0[before.index()][piece_to.index()].learn(bonus);
        }
    }

    /// Updates the butterfly history of a quiet move that has been played; a negative bonus is a
    /// malus.
    #[inline]
    pub fn learn_from_to(&mut self, side: Color, mv: Move, threats: Bitboard, bonus: i32) {
        let threat_index = threat_index(threats, mv);
        self.butterfly.0[side.index()][threat_index][mv.from().index()][mv.to().index()].learn(bonus);
    }

    /// Updates the pawn history of a piece's move after which the pawns are the same; a negative
    /// bonus is a malus.
    #[inline]
    pub fn learn_pawns(&mut self, board: &Board, piece_to: PieceTo, bonus: i32) {
        self.pawn_moves.0[pawns_index(board)][piece_to.index()].learn(bonus);
    }

    /// Updates all histories of a quiet move; a negative bonus is a malus.
    #[inline]
    pub fn learn_quiet(&mut self, board: &Board, mv: Move, context: Context, bonus: i32) {
        let piece_to = PieceTo::new(board, mv);
        self.learn_played(board.turn(), mv, piece_to, context, bonus);
        self.learn_pawns(board, piece_to, bonus);
        if let Some(table) = self.low_ply.0.get_mut(context.ply) {
            table[mv.from().index()][mv.to().index()].learn(bonus);
        }
    }
}

/// Views of the histories that apply to the quiet moves of one position.
#[derive(Clone, Copy)]
pub struct Quiets<'a> {
    butterfly: &'a [FromToTable; 4],
    pawn_moves: &'a [HistoryScore; PieceTo::COUNT],
    continuation: [&'a [HistoryScore; PieceTo::COUNT]; 3],
    low_ply: Option<&'a FromToTable>,
    /// Squares that the opponent attacks; all if unknown.
    pub threats: Bitboard,
    low_ply_divisor: i32,
}

impl Quiets<'_> {
    /// Returns the history score of a quiet move; moves with higher scores are searched earlier.
    #[inline]
    pub fn value(&self, board: &Board, mv: Move) -> i32 {
        let piece_to = PieceTo::new(board, mv).index();
        let (from, to) = (mv.from().index(), mv.to().index());
        let [last, follow_up, plan] = self.continuation.map(|table| table[piece_to].get());
        let near_root =
            self.low_ply.map_or(0, |table| params::low_ply_weight() * table[from][to].get() / self.low_ply_divisor);
        let butterfly = self.butterfly[threat_index(self.threats, mv)][from][to].get();
        butterfly + self.pawn_moves[piece_to].get() + last + follow_up + plan / 2 + near_root
    }
}

#[inline]
fn victim_index(board: &Board, mv: Move) -> usize {
    captured_kind(board, mv).map_or(VICTIMS - 1, PieceType::index)
}

/// Returns the type of the captured piece.
#[inline]
pub fn captured_kind(board: &Board, mv: Move) -> Option<PieceType> {
    if mv.is_en_passant() {
        Some(PieceType::Pawn)
    } else if mv.is_capture() {
        board.piece_at(mv.to()).map(|piece| piece.kind())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bonus_grows_with_depth_up_to_its_end() {
        assert!((0..128).all(|depth| bonus(depth) <= bonus(depth + 1) && malus(depth) <= malus(depth + 1)));
        assert!((0..128).all(|depth| (0..=malus(depth)).contains(&refuted_malus(depth))));
        assert!((0..128).all(|depth| (0..=malus(depth)).contains(&pv_malus(depth))));
        assert_eq!((bonus(0), malus(0)), (0, 0));
        assert_eq!(bonus(127), params::history_bonus_max());
    }

    #[test]
    fn a_move_is_good_when_the_evaluation_after_it_is_bad_for_the_other_side() {
        assert!(evaluation_bonus(50, -200) > 0 && evaluation_bonus(50, 100) < 0);
        let max = params::evaluation_bonus_max();
        assert_eq!((evaluation_bonus(0, -30_000), evaluation_bonus(0, 30_000)), (max, -max));
    }

    #[test]
    fn moves_are_told_apart_by_side_and_by_what_went_before() {
        let mut histories = Histories::empty();
        let board = Board::startpos();
        let good = board.parse_uci("g1f3").expect("legal");
        let other = board.parse_uci("b1c3").expect("legal");
        let [x, y, z] =
            ["g1f3", "b1c3", "e2e4"].map(|word| PieceTo::new(&board, board.parse_uci(word).expect("legal")));
        let none = Context { threats: Bitboard::EMPTY, ..Context::NONE };
        let after = |moves| Context { moves, ..none };
        histories.learn_quiet(&board, good, after([x, y, z]), 500);
        histories.learn_quiet(&board, other, after([x, y, z]), -300);
        for (mv, context, value) in [
            (good, after([x, y, z]), 500 * 4 + 250),
            (good, after([x, x, x]), 500 * 4 + 250),
            (good, after([y, z, x]), 500 * 4 + 250),
            (good, none, 500 * 2),
            (good, after([x, PieceTo::NONE, PieceTo::NONE]), 500 * 3),
            (good, after([PieceTo::NONE, PieceTo::NONE, z]), 500 * 2 + 250),
            (other, after([x, y, z]), -300 * 4 - 150),
        ] {
            assert_eq!(histories.quiet(&board, mv, context), value, "{mv:?} {context:?}");
        }
        let (from, to) = (Bitboard::from(good.from()), Bitboard::from(good.to()));
        for (threats, value) in [(!(from | to), 500 * 2), (from, 500), (to, 500), (from | to, 500)] {
            let attacked = Context { threats, ..none };
            assert_eq!(histories.quiet(&board, good, attacked), value, "{threats:?}");
        }
        let advanced = Board::from_fen("rnbqkbnr/pppppppp/8/8/8/7P/PPPPPPP1/RNBQKBNR w KQkq - 0 1").expect("legal");
        assert_eq!(histories.quiet(&advanced, good, none), 500, "other pawns, other plans");
        let root = Context { ply: 0, ..none };
        let before = histories.quiet(&board, good, root);
        histories.learn_quiet(&board, good, root, 800);
        let near = histories.quiet(&board, good, root);
        assert!(near > histories.quiet(&board, good, Context { ply: 1, ..root }) && near > before);
        histories.begin_search();
        assert_eq!(histories.quiet(&board, good, root), histories.quiet(&board, good, none));
        histories.zero();
        assert_eq!(histories.quiet(&board, good, after([x, y, z])), 0);
    }

    #[test]
    fn captures_are_told_apart_by_piece_target_and_victim() {
        let mut histories = Histories::empty();
        let board = Board::from_fen("4k3/8/3q1r2/4P3/3P1N2/2n5/8/4K3 w - - 0 1").expect("a legal position");
        let mv = |word| board.parse_uci(word).expect("legal");
        histories.learn_capture(&board, mv("e5d6"), 400);
        for (word, value) in [("e5d6", 400), ("e5f6", 0)] {
            assert_eq!(histories.capture(&board, mv(word)), value, "{word}");
        }
        let other = Board::from_fen("4k3/8/3n1r2/4P3/3P1N2/8/8/4K3 w - - 0 1").expect("a legal position");
        assert_eq!(histories.capture(&other, mv("e5d6")), 0);
    }
}
