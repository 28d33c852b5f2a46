//! The moves of the root and what is known of them.

use crate::board::Board;
use crate::types::{Move, MoveList, Score};

/// A line found from the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestLine {
    pub score: Score,
    /// At least one move.
    pub moves: Vec<Move>,
}

/// The root of a search.
///
/// An iteration looks for as many best lines as are wanted, one after the other; for each, the first moves of those before it
/// are left out.
pub struct Root {
    /// Legal and asked for.
    moves: Vec<Move>,
    /// Nodes spent on each of `moves` in this search.
    nodes: Vec<u64>,
    /// No two begin alike. Those before `index` are of the present iteration, the others perhaps of the last.
    lines: Vec<BestLine>,
    /// How many lines are wanted and can be had.
    wanted: usize,
    /// The line being looked for.
    index: usize,
    /// Only some of the legal moves were asked for.
    is_narrowed: bool,
    /// A line is newer than the last report.
    pub is_news: bool,
}

impl Root {
    /// The legal moves of a position that are among `wanted`, or all of them when there are none such; so many `lines`.
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
        Root { moves, nodes, lines: Vec::new(), wanted, index: 0, is_narrowed, is_news: false }
    }

    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// Keeps only these of the moves, unless none would be left.
    pub fn keep(&mut self, keep: impl Fn(Move) -> bool) {
        if self.moves.iter().any(|&mv| keep(mv)) {
            self.moves.retain(|&mv| keep(mv));
            self.nodes = vec![0; self.moves.len()];
            self.wanted = self.wanted.min(self.moves.len());
        }
    }

    pub fn best(&self) -> Option<&BestLine> {
        self.lines.first()
    }

    /// The lines, best first.
    pub fn lines(&self) -> &[BestLine] {
        &self.lines
    }

    /// How many lines an iteration looks for.
    pub fn wanted(&self) -> usize {
        self.wanted
    }

    /// Begins to look for a line, from zero to [`Self::wanted`].
    pub fn begin_line(&mut self, index: usize) {
        self.index = index;
    }

    /// The line looked for is found: puts it among those before it.
    pub fn end_line(&mut self) {
        let found = (self.index + 1).min(self.lines.len());
        self.lines[..found].sort_by_key(|line| std::cmp::Reverse(line.score));
    }

    /// True while what comes out need not be the value of the position: moves that may be the best are left out, because they
    /// were not asked for or begin a line that was found before.
    pub fn is_partial(&self) -> bool {
        self.is_narrowed || self.index > 0
    }

    /// The line known so far where one is looked for.
    pub fn line(&self) -> Option<&BestLine> {
        self.lines.get(self.index)
    }

    /// The best move so far of the line looked for, before there is one [`Move::NULL`].
    pub fn best_move(&self) -> Move {
        self.line().map_or(Move::NULL, |best| best.moves[0])
    }

    pub fn is_allowed(&self, mv: Move) -> bool {
        self.moves.contains(&mv) && self.lines.iter().take(self.index).all(|line| line.moves[0] != mv)
    }

    /// Takes a line that is not empty for the one looked for.
    pub fn set_best(&mut self, score: Score, line: &[Move]) {
        let found = self.lines.iter().skip(self.index).position(|other| other.moves[0] == line[0]);
        let mut best = match found {
            Some(at) => self.lines.remove(self.index + at),
            None => BestLine { score, moves: Vec::with_capacity(line.len()) },
        };
        best.score = score;
        best.moves.clear();
        best.moves.extend_from_slice(line);
        self.lines.insert(self.index.min(self.lines.len()), best);
        self.lines.truncate(self.wanted);
        self.is_news = true;
    }

    /// Adds nodes to those spent on a move.
    pub fn count_nodes(&mut self, mv: Move, nodes: u64) {
        if let Some(index) = self.moves.iter().position(|&other| other == mv) {
            self.nodes[index] += nodes;
        }
    }

    /// The part of all nodes that was spent on the best move, 0 to 1; 1 when nothing was.
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

    /// Sets lines of one move each, named as in UCI, at one index.
    fn set(root: &mut Root, board: &Board, index: usize, found: &[(&str, Score)]) {
        root.begin_line(index);
        for &(word, score) in found {
            let mv = board.parse_uci(word).expect("legal");
            assert!(root.is_allowed(mv), "{word} is left out");
            root.set_best(score, &[mv]);
        }
        root.end_line();
    }

    fn check(root: &Root, board: &Board, expected: &[(&str, Score)]) {
        let lines: Vec<(String, Score)> =
            root.lines().iter().map(|line| (board.to_uci(line.moves[0], false), line.score)).collect();
        let expected: Vec<(String, Score)> = expected.iter().map(|&(mv, score)| (mv.to_owned(), score)).collect();
        assert_eq!(lines, expected);
    }

    #[test]
    fn lines_begin_differently_and_are_sorted() {
        let board = Board::startpos();
        let mut root = Root::new(&board, &[], 3);
        set(&mut root, &board, 0, &[("a2a3", 1), ("e2e4", 30)]);
        set(&mut root, &board, 1, &[("a2a3", 2), ("d2d4", 25)]);
        set(&mut root, &board, 2, &[("a2a3", 5)]);
        check(&root, &board, &[("e2e4", 30), ("d2d4", 25), ("a2a3", 5)]);
        // The next iteration prefers what was second, and finds the second better than the first.
        set(&mut root, &board, 0, &[("d2d4", 20)]);
        check(&root, &board, &[("d2d4", 20), ("e2e4", 30), ("a2a3", 5)]);
        assert!(!root.is_partial());
        set(&mut root, &board, 1, &[("g1f3", 22)]);
        check(&root, &board, &[("g1f3", 22), ("d2d4", 20), ("e2e4", 30)]);
        assert!(root.is_partial() && !root.is_allowed(board.parse_uci("g1f3").expect("legal")));
    }

    #[test]
    fn no_more_lines_than_moves() {
        let board = Board::startpos();
        let moves: Vec<Move> = ["e2e4", "d2d4"].iter().filter_map(|word| board.parse_uci(word)).collect();
        for (lines, wanted) in [(0, 1), (1, 1), (2, 2), (500, 2)] {
            assert_eq!(Root::new(&board, &moves, lines).wanted(), wanted);
        }
        let mut root = Root::new(&board, &moves, 2);
        root.keep(|mv| mv == moves[1]);
        assert_eq!((root.moves(), root.wanted()), (&moves[1..], 1));
        root.keep(|_| false);
        assert_eq!(root.moves(), &moves[1..]);
        assert!(root.is_partial() && !Root::new(&board, &[], 2).is_partial());
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
