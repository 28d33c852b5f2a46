//! A position with the keys of its past, from which repetitions are found.

use super::context::PieceTo;
use crate::board::Board;
use crate::types::Move;

/// Position and its history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Game {
    board: Board,
    /// Keys of earlier positions since the last irreversible move.
    pub(super) keys: Vec<u64>,
    /// Moves that led to the position, latest first.
    pub(super) last: [PieceTo; LAST_MOVES],
}

/// Number of the moves before a position that histories look at.
pub(super) const LAST_MOVES: usize = 4;

impl Game {
    /// Creates a game that starts from a position.
    pub fn new(board: Board) -> Game {
        Game { board, keys: Vec::new(), last: [PieceTo::NONE; LAST_MOVES] }
    }

    /// Returns the current position.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Plays a legal move.
    pub fn play(&mut self, mv: Move) {
        self.last.rotate_right(1);
        self.last[0] = PieceTo::new(&self.board, mv);
        self.keys.push(self.board.key());
        self.board.play(mv);
        if self.board.halfmove_clock() == 0 {
            self.keys.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_knows_its_last_moves() {
        let mut game = Game::new(Board::startpos());
        let mut played = vec![PieceTo::NONE; LAST_MOVES];
        for word in ["e2e4", "e7e5", "g1f3", "b8c6", "f1b5"] {
            let mv = game.board().parse_uci(word).expect("legal");
            played.insert(0, PieceTo::new(game.board(), mv));
            game.play(mv);
            assert_eq!(game.last, played[..LAST_MOVES], "{word}");
        }
    }
}
