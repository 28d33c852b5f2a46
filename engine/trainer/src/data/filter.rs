//! Filter of positions for training.

use super::error::{DataError, WHICH_MOVE};
use super::format::Format;
use super::record::Position;
use clap::Args;
use destrier::datagen::viriformat::NO_SCORE;
use std::path::Path;

/// Criteria of the positions to keep. By default, these are positions from ply 16 on, not in check,
/// with a score within 100 pawns and a quiet move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Args)]
pub struct Filter {
    /// Drop positions before this ply of the game
    #[arg(long, default_value_t = Filter::default().min_ply, value_name = "PLY")]
    pub min_ply: u32,
    /// Drop positions with a score beyond this, in centipawns
    #[arg(long, default_value_t = Filter::default().max_score, value_name = "CP")]
    pub max_score: u16,
    /// Drop positions with fewer pieces
    #[arg(long, default_value_t = Filter::default().min_pieces, value_name = "N")]
    pub min_pieces: u32,
    /// Keep positions with the side to move in check
    #[arg(long)]
    pub keep_checks: bool,
    /// Keep positions in which a capture or a promotion was played, and those of which no move is
    /// known
    #[arg(long)]
    pub keep_captures: bool,
}

impl Default for Filter {
    fn default() -> Self {
        Self { min_ply: 16, max_score: 10_000, min_pieces: 0, keep_checks: false, keep_captures: false }
    }
}

impl Filter {
    /// Returns true if the position has a score and meets all criteria.
    pub fn keeps(&self, position: &Position) -> bool {
        position.score != NO_SCORE
            && (self.min_ply == 0 || position.ply() >= self.min_ply)
            && position.score.unsigned_abs() <= self.max_score
            && position.board.occupied().count() >= self.min_pieces
            && (self.keep_checks || !position.board.in_check())
            && (self.keep_captures || (!position.mv.is_null() && position.mv.is_quiet()))
    }

    /// Returns true if a position fails only because its move is unknown and may be a capture.
    pub fn lacks_move(&self, position: &Position) -> bool {
        position.mv.is_null() && !self.keep_captures && Filter { keep_captures: true, ..*self }.keeps(position)
    }

    /// # Errors
    /// Fails if the format lacks information that the filter needs.
    pub fn check(&self, path: &Path, format: Format) -> Result<(), DataError> {
        let lacks = |what, remedy| Err(format.lacks(path, what, remedy));
        if self.min_ply > 0 && !format.holds_ply() {
            return lacks("at which ply a position is", "give `--min-ply 0`, or filter before it is converted");
        }
        if !self.keep_captures && !format.holds_games() {
            return lacks(WHICH_MOVE, "give `--keep-captures`, or filter before it is converted");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use destrier::board::Board;
    use destrier::datagen::viriformat::GameResult;
    use destrier::types::Move;

    #[test]
    fn positions_without_a_score_are_not_kept() {
        let all = Filter { min_ply: 0, max_score: u16::MAX, min_pieces: 0, keep_checks: true, keep_captures: true };
        let scored = Position { board: Board::startpos(), mv: Move::NULL, score: 30_000, result: GameResult::Draw };
        assert!(all.keeps(&scored) && !all.keeps(&Position { score: NO_SCORE, ..scored }));
    }
}
