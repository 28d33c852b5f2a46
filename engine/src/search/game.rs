//! A position with the keys of its past, from which repetitions are found.

use crate::board::Board;
use crate::types::Move;

/// Position and its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Game {
    board: Board,
    /// Keys of earlier positions since the last irreversible move.
    pub(super) keys: Vec<u64>,
}

impl Game {
    /// Creates a game that starts from a position.
    pub fn new(board: Board) -> Game {
        Game { board, keys: Vec::new() }
    }

    /// Returns the current position.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        self.keys.push(self.board.key());
        self.board.play(mv);
        if self.board.halfmove_clock() == 0 {
            self.keys.clear();
        }
    }
}
