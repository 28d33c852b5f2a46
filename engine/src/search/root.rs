//! The moves of the root and what is known of them.

use crate::board::Board;
use crate::types::{Move, MoveList, Score};

/// The best line found so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BestLine {
    pub score: Score,
    /// At least one move.
    pub moves: Vec<Move>,
}

/// The root of a search.
pub struct Root {
    /// Legal and asked for.
    moves: Vec<Move>,
    /// Nodes spent on each of `moves` in this search.
    nodes: Vec<u64>,
    best: Option<BestLine>,
    /// The best line is newer than the last report.
    pub is_news: bool,
}

impl Root {
    /// The legal moves of a position that are among `wanted`, or all of them when there are none such.
    pub fn new(board: &Board, wanted: &[Move]) -> Root {
        let mut legal = MoveList::new();
        board.legal_moves(&mut legal);
        let mut moves: Vec<Move> = legal.iter().copied().filter(|mv| wanted.contains(mv)).collect();
        if moves.is_empty() {
            moves = legal.to_vec();
        }
        let nodes = vec![0; moves.len()];
        Root { moves, nodes, best: None, is_news: false }
    }

    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    pub fn best(&self) -> Option<&BestLine> {
        self.best.as_ref()
    }

    /// The best move so far, before there is one [`Move::NULL`].
    pub fn best_move(&self) -> Move {
        self.best.as_ref().map_or(Move::NULL, |best| best.moves[0])
    }

    pub fn is_allowed(&self, mv: Move) -> bool {
        self.moves.contains(&mv)
    }

    /// Takes a line that is not empty for the best.
    pub fn set_best(&mut self, score: Score, line: &[Move]) {
        let best = self.best.get_or_insert_with(|| BestLine { score, moves: Vec::new() });
        best.score = score;
        best.moves.clear();
        best.moves.extend_from_slice(line);
        self.is_news = true;
    }

    /// Adds nodes to those spent on a move.
    pub fn count_nodes(&mut self, mv: Move, nodes: u64) {
        if let Some(index) = self.moves.iter().position(|&other| other == mv) {
            self.nodes[index] += nodes;
        }
    }
}
