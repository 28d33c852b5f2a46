//! Perft: counts of move paths, the classical test of a move generator.

use super::Board;
use crate::types::MoveList;

/// Returns the number of paths of `depth` legal moves from a position.
///
/// The last ply is counted without being played.
pub fn perft(board: &Board, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => u64::from(board.count_legal_moves()),
        _ => {
            let mut moves = MoveList::new();
            board.legal_moves(&mut moves);
            let mut paths = 0;
            for &mv in &moves {
                let mut child = *board;
                child.play(mv);
                paths += perft(&child, depth - 1);
            }
            paths
        }
    }
}
