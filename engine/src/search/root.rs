//! Root moves with the lines and node counts found for them.

use super::tt::Bound;
use crate::board::Board;
use crate::types::{Move, MoveList, Score};
use std::cmp::Reverse;

/// Best line found from the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestLine {
    /// Depth of the iteration that found it, in plies.
    pub depth: i32,
    /// Longest line searched in that iteration, in plies.
    pub seldepth: usize,
    /// Score in centipawns from the side to move's view.
    pub score: Score,
    /// Bound of the score: a lower bound if the iteration stopped after a score above its window.
    pub bound: Bound,
    /// Moves of the line, at least one.
    pub moves: Vec<Move>,
}

/// Root of a search.
///
/// An iteration searches for the wanted number of best lines in turn (MultiPV). Each leaves out the
/// first moves of the lines before it.
pub struct Root {
    /// Legal moves that the search may choose from.
    moves: Vec<Move>,
    /// Nodes spent on each of `moves` in this search.
    nodes: Vec<u64>,
    /// Lines with distinct first moves. Those before `index` are from this iteration, later ones
    /// may be from the previous one.
    lines: Vec<BestLine>,
    /// Depth of the current iteration, in plies.
    depth: i32,
    /// Number of lines to search, at most the number of moves.
    wanted: usize,
    /// Index of the line being searched.
    index: usize,
    /// Set if only some of the legal moves are searched.
    is_narrowed: bool,
    /// Set if a line has changed since the last report.
    pub is_news: bool,
}

impl Root {
    /// Creates a root of the legal moves among `wanted`, or of all legal moves if there are none,
    /// with up to `lines` lines.
    pub fn new(board: &Board, wanted: &[Move], lines: usize) -> Root {
        let mut legal = MoveList::new();
        board.legal_moves(&mut legal);
        let mut moves: Vec<Move> = legal.iter().copied().filter(|mv| wanted.contains(mv)).collect();
        if moves.is_empty() {
            moves = legal.to_vec();
        }
        let is_narrowed = moves.len() < legal.len();
        let nodes = vec![0; moves.len()];
        let wanted = lines.clamp(1, moves.len().max(1));
        Root { moves, nodes, lines: Vec::new(), depth: 0, wanted, index: 0, is_narrowed, is_news: false }
    }

    /// Returns the moves that the search may choose from.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Keeps only the moves that satisfy a predicate, unless fewer than the wanted lines would be
    /// left.
    pub fn keep(&mut self, keep: impl Fn(Move) -> bool) {
        if self.moves.iter().filter(|&&mv| keep(mv)).count() >= self.wanted {
            self.moves.retain(|&mv| keep(mv));
            self.nodes = vec![0; self.moves.len()];
        }
    }

    /// Returns the best line; `None` before one is found.
    pub fn best(&self) -> Option<&BestLine> {
        self.lines.first()
    }

    /// Returns the lines, best first.
    pub fn lines(&self) -> &[BestLine] {
        &self.lines
    }

    /// Returns the number of lines per iteration.
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// Starts the search for one line, from zero to [`Self::wanted`], at a depth.
    pub fn begin_line(&mut self, index: usize, depth: i32) {
        (self.index, self.depth) = (index, depth);
    }

    /// Ends the search for one line and sorts it among those before it.
    pub fn end_line(&mut self, seldepth: usize) {
        let found = (self.index + 1).min(self.lines.len());
        if let Some(line) = self.lines.get_mut(self.index) {
            line.seldepth = seldepth;
        }
        self.lines[..found].sort_by_key(|line| Reverse(line.score));
    }

    /// Ends the search, perhaps within an iteration: lines of this iteration come before those of
    /// the previous one.
    pub fn end_search(&mut self) {
        self.lines.sort_by_key(|line| (Reverse(line.depth), Reverse(line.score)));
    }

    /// Returns whether the search's score may differ from the position's value because some moves
    /// are excluded: by `searchmoves`, or because they begin an earlier line.
    pub fn is_partial(&self) -> bool {
        self.is_narrowed || self.index > 0
    }

    /// Returns whether there is only one move, and not because of `searchmoves`.
    pub fn is_forced(&self) -> bool {
        self.moves.len() == 1 && !self.is_narrowed
    }

    /// Returns the best known line at the current index.
    pub fn line(&self) -> Option<&BestLine> {
        self.lines.get(self.index)
    }

    /// Returns the first move of [`Self::line`], or [`Move::NULL`].
    pub fn best_move(&self) -> Move {
        self.line().map_or(Move::NULL, |best| best.moves[0])
    }

    /// Returns whether the current line may start with a move.
    pub fn is_allowed(&self, mv: Move) -> bool {
        self.moves.contains(&mv) && self.lines.iter().take(self.index).all(|line| line.moves[0] != mv)
    }

    /// Replaces the current line by a line that is not empty.
    pub fn set_best(&mut self, score: Score, bound: Bound, seldepth: usize, line: &[Move]) {
        let found = self.lines.iter().skip(self.index).position(|other| other.moves[0] == line[0]);
        let mut moves = found.map_or_else(Vec::new, |at| self.lines.remove(self.index + at).moves);
        moves.clear();
        moves.extend_from_slice(line);
        let best = BestLine { depth: self.depth, seldepth, score, bound, moves };
        self.lines.insert(self.index.min(self.lines.len()), best);
        self.lines.truncate(self.wanted);
        self.is_news = true;
    }

    /// Adds to the nodes spent on a move for the first line. Those of later lines would hide the
    /// share of its best move.
    pub fn count_nodes(&mut self, mv: Move, nodes: u64) {
        if self.index > 0 {
            return;
        }
        if let Some(index) = self.moves.iter().position(|&other| other == mv) {
            self.nodes[index] += nodes;
        }
    }

    /// Returns the share of all nodes spent on the best move, 0 to 1; 1 if there are no nodes.
    pub fn best_share(&self) -> f64 {
        let best = self.best().and_then(|best| self.moves.iter().position(|&mv| mv == best.moves[0]));
        let all: u64 = self.nodes.iter().sum();
        match best {
            Some(index) if all > 0 => self.nodes[index] as f64 / all as f64,
            _ => 1.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sets lines of one move each, named as in UCI, at an index that stays open.
    fn look(root: &mut Root, board: &Board, index: usize, depth: i32, found: &[(&str, Score)]) {
        root.begin_line(index, depth);
        for &(word, score) in found {
            let mv = board.parse_uci(word).expect("legal");
            assert!(root.is_allowed(mv), "{word} is left out");
            root.set_best(score, Bound::Exact, 1, &[mv]);
        }
    }

    fn set(root: &mut Root, board: &Board, index: usize, found: &[(&str, Score)]) {
        look(root, board, index, 1, found);
        root.end_line(1);
    }

    fn check(root: &Root, board: &Board, expected: &[(&str, Score)]) {
        let lines: Vec<(String, Score)> =
            root.lines().iter().map(|line| (board.to_uci(line.moves[0], false), line.score)).collect();
        let expected: Vec<(String, Score)> = expected.iter().map(|&(mv, score)| (mv.to_owned(), score)).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn a_move_is_forced_by_the_rules_alone() {
        let forced = Board::from_fen("7k/8/8/8/8/8/6q1/7K w - - 0 1").expect("a legal position");
        assert!(Root::new(&forced, &[], 1).is_forced());
        let start = Board::startpos();
        let one = start.parse_uci("e2e4").expect("legal");
        assert!(!Root::new(&start, &[], 1).is_forced() && !Root::new(&start, &[one], 1).is_forced());
    }

    #[test]
    fn lines_begin_differently_and_are_sorted() {
        let board = Board::startpos();
        let mut root = Root::new(&board, &[], 3);
        set(&mut root, &board, 0, &[("a2a3", 1), ("e2e4", 30)]);
        set(&mut root, &board, 1, &[("a2a3", 2), ("d2d4", 25)]);
        set(&mut root, &board, 2, &[("a2a3", 5)]);
        check(&root, &board, &[("e2e4", 30), ("d2d4", 25), ("a2a3", 5)]);
        // The next iteration prefers the second line, and rates the second above the first.
        set(&mut root, &board, 0, &[("d2d4", 20)]);
        check(&root, &board, &[("d2d4", 20), ("e2e4", 30), ("a2a3", 5)]);
        assert!(!root.is_partial());
        set(&mut root, &board, 1, &[("g1f3", 22)]);
        check(&root, &board, &[("g1f3", 22), ("d2d4", 20), ("e2e4", 30)]);
        assert!(root.is_partial() && !root.is_allowed(board.parse_uci("g1f3").expect("legal")));
    }

    #[test]
    fn a_search_that_is_stopped_keeps_the_lines_of_the_last_iteration_behind() {
        let board = Board::startpos();
        let mut root = Root::new(&board, &[], 3);
        set(&mut root, &board, 0, &[("e2e4", 30)]);
        set(&mut root, &board, 1, &[("d2d4", 25)]);
        set(&mut root, &board, 2, &[("a2a3", 5)]);
        // The second iteration lowers the score of the first move and is stopped while it improves
        // the second line.
        look(&mut root, &board, 0, 2, &[("e2e4", 10)]);
        root.end_line(4);
        look(&mut root, &board, 1, 2, &[("g1f3", 12)]);
        root.end_search();
        check(&root, &board, &[("g1f3", 12), ("e2e4", 10), ("d2d4", 25)]);
        let depths: Vec<(i32, usize)> = root.lines().iter().map(|line| (line.depth, line.seldepth)).collect();
        assert_eq!(depths, [(2, 1), (2, 4), (1, 1)]);
    }

    #[test]
    fn no_more_lines_than_moves() {
        let board = Board::startpos();
        let moves: Vec<Move> = ["e2e4", "d2d4"].iter().filter_map(|word| board.parse_uci(word)).collect();
        for (lines, wanted) in [(0, 1), (1, 1), (2, 2), (500, 2)] {
            assert_eq!(Root::new(&board, &moves, lines).wanted(), wanted);
        }
        assert!(Root::new(&board, &moves, 2).is_partial() && !Root::new(&board, &[], 2).is_partial());
    }

    #[test]
    fn moves_are_left_out_only_if_enough_lines_remain() {
        let board = Board::startpos();
        let moves: Vec<Move> = ["e2e4", "d2d4"].iter().filter_map(|word| board.parse_uci(word)).collect();
        let moves = Root::new(&board, &moves, 1).moves().to_vec();
        for (lines, kept) in [(1, &moves[1..]), (2, &moves[..])] {
            let mut root = Root::new(&board, &moves, lines);
            root.keep(|mv| mv == moves[1]);
            assert_eq!((root.moves(), root.wanted()), (kept, lines));
            root.keep(|_| false);
            assert_eq!(root.moves(), kept);
        }
    }

    #[test]
    fn the_share_of_the_best_move() {
        let board = Board::startpos();
        let mut root = Root::new(&board, &[], 1);
        assert_eq!(root.best_share(), 1.0);
        set(&mut root, &board, 0, &[("e2e4", 10)]);
        root.count_nodes(board.parse_uci("e2e4").expect("legal"), 300);
        root.count_nodes(board.parse_uci("d2d4").expect("legal"), 100);
        assert_eq!(root.best_share(), 0.75);
    }
}
