//! Lines of moves from the bench positions, by which the cost of evaluations is measured.

use super::POSITIONS;
use crate::board::Board;
use crate::nnue::{Accumulators, Network};
use crate::types::{Move, MoveList};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Moves of a line, each evaluated and then taken back.
const LINE: usize = 24;

/// Position with a line of moves.
#[derive(Debug, Clone)]
pub struct BenchLine {
    start: Board,
    /// Moves with the positions before and after them.
    plies: Vec<(Board, Move, Board)>,
}

impl BenchLine {
    /// Creates a line of moves drawn from a state of the generator.
    fn random(start: Board, state: &mut u64) -> BenchLine {
        let mut board = start;
        let mut plies = Vec::with_capacity(LINE);
        for _ in 0..LINE {
            let mut moves = MoveList::new();
            board.legal_moves(&mut moves);
            if moves.is_empty() {
                break;
            }
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let mv = moves[(*state >> 33) as usize % moves.len()];
            let before = board;
            board.play(mv);
            plies.push((before, mv, board));
        }
        BenchLine { start, plies }
    }

    /// Returns the position after each move.
    pub fn boards(&self) -> impl Iterator<Item = &Board> {
        self.plies.iter().map(|(.., after)| after)
    }
}

/// Returns a line from each bench position, the same in each call.
pub fn lines() -> Vec<BenchLine> {
    let mut state = 1;
    let boards = POSITIONS.iter().filter_map(|fen| Board::from_fen(fen).ok());
    boards.map(|board| BenchLine::random(board, &mut state)).collect()
}

/// Evaluates every position of the lines incrementally. Returns the sum of the evaluations.
pub fn evaluate_lines(accumulators: &mut Accumulators, lines: &[BenchLine]) -> i64 {
    let mut sum = 0;
    for line in lines {
        accumulators.reset(&line.start);
        for (before, mv, after) in &line.plies {
            accumulators.push(before, *mv);
            sum += i64::from(accumulators.evaluate(after));
        }
    }
    sum
}

/// Measures the nanoseconds of an evaluation with its updates along the lines, in the best of some
/// rounds. Each round takes less than a few milliseconds, so that other load spares some.
pub fn evaluation_nanos(network: Arc<Network>, lines: &[BenchLine], rounds: usize) -> f64 {
    let mut accumulators = Accumulators::new(network);
    let mut best = Duration::MAX;
    for _ in 0..rounds.max(1) {
        let start = Instant::now();
        black_box(evaluate_lines(&mut accumulators, lines));
        best = best.min(start.elapsed());
    }
    let count: usize = lines.iter().map(|line| line.plies.len()).sum();
    best.as_nanos() as f64 / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::{Kind, Layout, encode, parse, random_payload};

    #[test]
    fn lines_are_evaluated_move_by_move() {
        let set = "piece+file".parse().expect("a set");
        let layout = Layout::of_set(Kind::Screlu, set, 32);
        let file = encode(&layout, &random_payload(&layout, 1)).expect("a layout");
        let network = Arc::new(parse(&file).expect("a network"));
        let lines = lines();
        assert!(lines.len() == POSITIONS.len() && lines[0].plies.len() == LINE);
        let alone: i64 =
            lines.iter().flat_map(BenchLine::boards).map(|board| i64::from(network.evaluate_alone(board))).sum();
        assert_eq!(evaluate_lines(&mut Accumulators::new(Arc::clone(&network)), &lines), alone);
        assert!(evaluation_nanos(network, &lines, 2) > 0.0);
    }
}
