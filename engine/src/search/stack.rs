//! State of a search for each ply of its current line.

use super::context::{Context, PieceTo};
use super::game::LAST_MOVES;
use super::tt::NO_EVAL;
use crate::board::Board;
use crate::types::{Bitboard, MAX_PLY, Move, Score};
use std::ops::{Index, IndexMut};

/// Frames before the root, so that looking a few plies back needs no test.
const LOOKBACK: usize = LAST_MOVES;

/// State of one ply.
#[derive(Debug, Clone, Copy)]
pub struct Frame {
    /// Move being searched from here; [`Move::NULL`] for a null move.
    pub played: Move,
    /// Piece and target square of that move.
    pub piece_to: PieceTo,
    /// Number of that move in the order, from 1. Null-move pruning and ProbCut leave it unchanged.
    pub number: usize,
    /// Reduction of that move in plies while its reduced search runs; zero otherwise.
    pub reduction: i32,
    /// Squares that the opponent attacks.
    pub threats: Bitboard,
    /// Quiet moves that caused a cutoff in a sibling node.
    pub killers: [Move; 2],
    /// Raw static evaluation; [`NO_EVAL`] in check.
    pub raw_eval: Score,
    /// Raw static evaluation with the correction histories applied.
    pub static_eval: Score,
    /// Double extensions in the line up to here.
    pub double_extensions: i32,
    /// Cutoffs at this ply since the node two plies up began.
    pub cutoffs: i32,
}

/// Frames of a line, by ply.
pub struct Stack {
    frames: Vec<Frame>,
    /// First ply at which null moves are allowed; above zero during a verification search.
    pub nmp_min_ply: usize,
    /// Depth of the iteration, in plies.
    pub root_depth: i32,
}

impl Stack {
    /// Creates the stack of a root that these moves led to, latest first.
    ///
    /// The histories of the first plies depend on them.
    pub fn after(last: [PieceTo; LAST_MOVES]) -> Stack {
        let frame = Frame {
            played: Move::NULL,
            piece_to: PieceTo::NONE,
            threats: Bitboard::EMPTY,
            killers: [Move::NULL; 2],
            raw_eval: NO_EVAL,
            static_eval: NO_EVAL,
            double_extensions: 0,
            cutoffs: 0,
            number: 0,
            reduction: 0,
        };
        let before = last.into_iter().rev().map(|piece_to| Frame { piece_to, ..frame });
        let frames = before.chain(std::iter::repeat_n(frame, MAX_PLY + 4)).collect();
        Stack { frames, nmp_min_ply: 0, root_depth: 0 }
    }

    /// Returns the frame `distance` plies up, at most [`LOOKBACK`], possibly before the root.
    #[inline]
    pub fn before(&self, ply: usize, distance: usize) -> &Frame {
        &self.frames[ply + LOOKBACK - distance]
    }

    /// Returns the length in plies from which lines are no longer extended. Without a limit an
    /// iteration might never end.
    pub fn longest_extended(&self) -> usize {
        usize::try_from(2 * self.root_depth).unwrap_or(0)
    }

    /// Returns the number of double extensions in the line that led to a ply.
    pub fn double_extensions(&self, ply: usize) -> i32 {
        self.before(ply, 1).double_extensions
    }

    /// Records the extension of the move played from a ply.
    #[inline]
    pub fn note_extension(&mut self, ply: usize, extension: i32) {
        self[ply].double_extensions = self.double_extensions(ply) + i32::from(extension >= 2);
    }

    /// Returns whether the static evaluation of the side to move has risen since its last move, or
    /// since the move before if it was in check then. False in check (common practice).
    pub fn is_improving(&self, ply: usize) -> bool {
        let now = self[ply].static_eval;
        let earlier = [2, 4].map(|distance| self.before(ply, distance).static_eval);
        let then = earlier.into_iter().find(|&eval| eval != NO_EVAL);
        now != NO_EVAL && then.is_none_or(|then| now > then)
    }

    /// Resets the grandchildren's killers and cutoff count when a node begins.
    #[inline]
    pub fn begin_node(&mut self, ply: usize) {
        self[ply + 2].killers = [Move::NULL; 2];
        self[ply + 2].cutoffs = 0;
    }

    /// Counts a cutoff at a ply, if `counts` is set.
    #[inline]
    pub fn note_cutoff(&mut self, ply: usize, counts: bool) {
        self[ply].cutoffs += i32::from(counts);
    }

    /// Returns whether moves that lead to a ply keep being refuted: more than three cutoffs since
    /// the node two plies up began ("cutoff count", common practice).
    #[inline]
    pub fn is_refuted(&self, ply: usize) -> bool {
        self[ply].cutoffs > 3
    }

    /// Records the squares that the opponent attacks, which are part of a ply's context.
    #[inline]
    pub fn note_threats(&mut self, ply: usize, board: &Board) {
        self[ply].threats = board.attacked_by(!board.turn());
    }

    /// Returns the context of the moves from a ply.
    #[inline]
    pub fn context(&self, ply: usize) -> Context {
        let moves = [1, 2, 4].map(|distance| self.before(ply, distance).piece_to);
        Context { moves, threats: self[ply].threats, ply }
    }
}

impl Index<usize> for Stack {
    type Output = Frame;

    #[inline]
    fn index(&self, ply: usize) -> &Frame {
        &self.frames[ply + LOOKBACK]
    }
}

impl IndexMut<usize> for Stack {
    #[inline]
    fn index_mut(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + LOOKBACK]
    }
}

/// Keys of all earlier positions, from the last irreversible move of the game to the current line.
pub struct Line {
    keys: Vec<u64>,
    /// Index that repetitions cannot look behind: the position after the last null move.
    floor: usize,
}

impl Line {
    /// Starts a line after the positions of a game.
    pub fn new(game_keys: &[u64]) -> Line {
        let mut keys = Vec::with_capacity(game_keys.len() + MAX_PLY + 2);
        keys.extend_from_slice(game_keys);
        Line { keys, floor: 0 }
    }

    /// Appends the key of a position that is left by a move.
    #[inline]
    pub fn push(&mut self, key: u64) {
        self.keys.push(key);
    }

    #[inline]
    pub fn pop(&mut self) {
        self.keys.pop();
    }

    /// Appends the key of a position that is left by a null move. Returns the argument of
    /// [`Self::pop_null`].
    pub fn push_null(&mut self, key: u64) -> usize {
        self.keys.push(key);
        std::mem::replace(&mut self.floor, self.keys.len())
    }

    pub fn pop_null(&mut self, floor: usize) {
        self.floor = floor;
        self.keys.pop();
    }

    /// Returns whether the position is a draw by repetition: it occurred once since the root, or
    /// twice before.
    pub fn is_repetition(&self, key: u64, halfmove_clock: u16, ply: usize) -> bool {
        let len = self.keys.len();
        let reach = usize::from(halfmove_clock).min(len - self.floor);
        let mut seen = 0;
        for distance in (4..=reach).step_by(2) {
            if self.keys[len - distance] == key {
                seen += 1;
                if distance < ply || seen == 2 {
                    return true;
                }
            }
        }
        false
    }

    /// Returns whether a legal move leads to a draw by [`Self::is_repetition`].
    pub fn has_upcoming_repetition(&self, board: &Board, ply: usize) -> bool {
        board.has_upcoming_repetition(&self.keys[self.floor..], ply)
    }
}

/// Triangular table of principal variations, one line for each ply.
pub struct PvTable {
    lines: Vec<[Move; MAX_PLY + 1]>,
    lens: [usize; MAX_PLY + 2],
}

impl PvTable {
    pub fn new() -> PvTable {
        PvTable { lines: vec![[Move::NULL; MAX_PLY + 1]; MAX_PLY + 2], lens: [0; MAX_PLY + 2] }
    }

    #[inline]
    pub fn clear(&mut self, ply: usize) {
        self.lens[ply] = 0;
    }

    /// Sets the line of a ply to a move followed by the next ply's line.
    pub fn update(&mut self, ply: usize, mv: Move) {
        let (line, child) = self.lines.split_at_mut(ply + 1);
        let len = self.lens[ply + 1].min(MAX_PLY);
        line[ply][0] = mv;
        line[ply][1..=len].copy_from_slice(&child[0][..len]);
        self.lens[ply] = len + 1;
    }

    pub fn line(&self, ply: usize) -> &[Move] {
        &self.lines[ply][..self.lens[ply]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::MoveList;

    /// Every move is compared in random games. Pieces often move back, null moves occur, and the
    /// root varies.
    #[test]
    fn upcoming_repetitions_are_those_that_a_move_brings() {
        let starts = [
            "8/8/4k3/8/8/3K4/8/7R w - - 0 1",
            "4k2r/8/8/8/8/8/8/R3K3 w Qk - 0 1",
            "6k1/5ppp/8/8/3n4/8/5PPP/1B4K1 b - - 7 30",
            "2b2rk1/5pp1/8/3pP3/8/1N6/5PP1/R4QK1 w - d6 0 20",
            "qbbnnrkr/2pp2pp/p7/1p2pp2/8/P3PP2/1PPP1KPP/QBBNNR1R w hf - 0 9",
            "8/p4k2/P7/8/8/7q/8/Q5K1 w - - 12 60",
        ];
        let mut state = 1_u64;
        let mut random = |bound: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % bound
        };
        let (mut found, mut sought) = (0, 0);
        for start in starts {
            for _ in 0..60 {
                let mut board = Board::from_fen(start).expect(start);
                let mut line = Line::new(&[]);
                let root = random(40);
                for played in 0..80_usize {
                    let ply = played.saturating_sub(root);
                    let moves = {
                        let mut moves = MoveList::new();
                        board.legal_moves(&mut moves);
                        moves
                    };
                    if moves.is_empty() {
                        break;
                    }
                    line.push(board.key());
                    let expected = moves.iter().any(|&mv| {
                        let mut child = board;
                        child.play(mv);
                        line.is_repetition(child.key(), child.halfmove_clock(), ply + 1)
                    });
                    line.pop();
                    assert_eq!(line.has_upcoming_repetition(&board, ply), expected, "{}", board.to_fen(true));
                    sought += 1;
                    found += u32::from(expected);
                    if !board.in_check() && random(25) == 0 {
                        line.push_null(board.key());
                        board.play_null();
                        continue;
                    }
                    line.push(board.key());
                    // Half of the moves return to an earlier position, if one can be reached.
                    let back = moves.iter().find(|&&mv| {
                        let mut child = board;
                        child.play(mv);
                        line.keys.contains(&child.key())
                    });
                    let mv = back.filter(|_| random(2) == 0).copied().unwrap_or(moves[random(moves.len())]);
                    board.play(mv);
                }
            }
        }
        assert!(found > 1_000 && sought > 5 * found, "{found} of {sought}");
    }

    #[test]
    fn a_repetition_counts_once_below_the_root_and_twice_above() {
        // Keys of the game, keys of the search line, current key, halfmove clock; is it a draw?
        type Case = (&'static [u64], &'static [u64], u64, u16, bool);
        let cases: [Case; 8] = [
            (&[], &[1, 2, 3, 4], 1, 4, false), // the root itself, once
            (&[], &[9, 1, 2, 3, 4], 1, 5, true),
            (&[], &[9, 1, 2, 3, 4], 1, 3, false), // an irreversible move between
            (&[1, 2, 3, 4], &[], 1, 4, false),
            (&[1, 2, 3, 4, 1, 2, 3, 4], &[], 1, 8, true),
            (&[1, 2, 3, 4, 1, 2], &[3, 4], 1, 8, true),
            (&[1, 2, 3, 4, 1, 2], &[3, 4], 1, 7, false),
            (&[1, 2, 3, 4], &[5, 6], 7, 6, false),
        ];
        for (game, searched, key, halfmove_clock, draw) in cases {
            let mut line = Line::new(game);
            searched.iter().for_each(|&key| line.push(key));
            let found = line.is_repetition(key, halfmove_clock, searched.len());
            assert_eq!(found, draw, "{game:?} {searched:?} {key} {halfmove_clock}");
        }
    }

    #[test]
    fn the_moves_of_the_game_lead_to_the_root() {
        let board = Board::startpos();
        let moves = ["a2a3", "b2b3", "c2c3", "d2d3"].map(|word| board.parse_uci(word).expect("legal"));
        let last = moves.map(|mv| PieceTo::new(&board, mv));
        let stack = Stack::after(last);
        assert_eq!([1, 2, 3, 4].map(|distance| stack.before(0, distance).piece_to), last);
        assert_eq!(stack.context(0).moves, [last[0], last[1], last[3]]);
        assert!(stack[0].piece_to == PieceTo::NONE && stack.before(0, 1).played.is_null());
    }

    #[test]
    fn improving_compares_with_the_last_evaluation_of_the_same_side() {
        let mut stack = Stack::after([PieceTo::NONE; LAST_MOVES]);
        // Static evaluations from ply 0 on; is the side improving at the last?
        for (evals, improving) in [
            (&[10][..], true),
            (&[10, 0, 11], true),
            (&[10, 0, 10], false),
            (&[10, 0, NO_EVAL], false),
            (&[10, 0, NO_EVAL, 0, 11], true),
            (&[10, 0, NO_EVAL, 0, 9], false),
            (&[10, 0, 5, 0, 7], true),
        ] {
            for (ply, &eval) in evals.iter().enumerate() {
                stack[ply].static_eval = eval;
            }
            assert_eq!(stack.is_improving(evals.len() - 1), improving, "{evals:?}");
        }
    }

    #[test]
    fn a_passed_move_cuts_repetitions_off() {
        let mut line = Line::new(&[]);
        [9, 1, 2].into_iter().for_each(|key| line.push(key));
        let floor = line.push_null(3);
        line.push(4);
        assert!(!line.is_repetition(1, 9, 5));
        line.pop();
        line.pop_null(floor);
        [3, 4].into_iter().for_each(|key| line.push(key));
        assert!(line.is_repetition(1, 9, 5));
    }

    #[test]
    fn lines_grow_from_the_leaves() {
        let mut pv = PvTable::new();
        let moves: Vec<Move> = (1..=3).map(Move::from_raw).collect();
        pv.clear(3);
        for ply in (0..3).rev() {
            pv.update(ply, moves[ply]);
        }
        assert_eq!(pv.line(0), moves);
        pv.clear(1);
        pv.update(0, moves[2]);
        assert_eq!(pv.line(0), &moves[2..]);
        for ply in (0..=MAX_PLY).rev() {
            pv.update(ply, moves[0]);
        }
        assert_eq!(pv.line(0).len(), MAX_PLY + 1);
    }
}
