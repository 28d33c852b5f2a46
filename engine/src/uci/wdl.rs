//! Win, draw and loss probabilities of a score (`UCI_ShowWDL`).

use crate::board::Board;
use crate::types::{PieceType, Score};

/// Win rate as a logistic curve of centipawns.
///
/// Its midpoint `a` and width `b` depend on the material on the board. A loss is a win of the
/// opponent, and the rest are draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Model {
    /// Centipawns at which half the games are won: a constant, and the addition for full material.
    pub a: [f64; 2],
    /// Centipawns over which the odds of a win grow e-fold: a constant, and the addition for full
    /// material.
    pub b: [f64; 2],
}

/// Model fitted by `cargo run --release -p destrier --example fit_wdl` to 249,839 scored positions
/// of 1,892 games.
///
/// Destrier with the network of its ninth stage played the one that this stage began with, at 7,000
/// nodes per move, without adjudication. The loss is 0.6804 nats per position. The model holds for
/// that evaluation at that strength, and must be fitted again if the scale of the evaluation
/// changes.
pub const MODEL: Model = Model { a: [361.3, -307.5], b: [144.8, -74.5] };

/// Material of both sides at the start: 16 pawns, 8 minor pieces of three, 4 rooks of five and 2
/// queens of nine.
const FULL_MATERIAL: f64 = 78.0;

/// Returns the material of both sides in pawns.
pub fn material(board: &Board) -> u32 {
    let count = |kind| board.kind(kind).count();
    count(PieceType::Pawn)
        + 3 * (count(PieceType::Knight) + count(PieceType::Bishop))
        + 5 * count(PieceType::Rook)
        + 9 * count(PieceType::Queen)
}

impl Model {
    /// Returns the chances of a win, a draw and a loss, from the score's view.
    pub fn chances(&self, score: Score, material: u32) -> [f64; 3] {
        let full = f64::from(material).min(FULL_MATERIAL) / FULL_MATERIAL;
        let a = self.a[0] + self.a[1] * full;
        let b = (self.b[0] + self.b[1] * full).max(1.0);
        let wins = |score: f64| 1.0 / (1.0 + ((a - score) / b).exp());
        let (win, loss) = (wins(f64::from(score)), wins(-f64::from(score)));
        // A midpoint below zero would make wins and losses exceed all games.
        let sum = (win + loss).max(1.0);
        [win / sum, 1.0 - (win + loss) / sum, loss / sum]
    }

    /// Returns the chances in permille, as whole numbers with a sum of a thousand.
    pub fn per_mille(&self, score: Score, material: u32) -> [u32; 3] {
        let [win, _, loss] = self.chances(score, material).map(|chance| (chance * 1000.0).round() as u32);
        let loss = loss.min(1000 - win);
        [win, 1000 - win - loss, loss]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{mate_in, mated_in};

    #[test]
    fn chances_are_symmetric_monotonous_and_sum_to_one() {
        for material in [0, 10, 40, 78, 200] {
            let mut last = 0;
            for score in (-3000..=3000).step_by(50) {
                let [win, draw, loss] = MODEL.per_mille(score, material);
                assert_eq!(win + draw + loss, 1000, "{score} {material}");
                assert!(MODEL.per_mille(-score, material)[2].abs_diff(win) <= 1, "{score} {material}");
                assert!(win >= last, "{score} {material}");
                last = win;
            }
        }
    }

    #[test]
    fn level_games_are_often_drawn_and_mates_won() {
        let [win, draw, loss] = MODEL.per_mille(0, 78);
        assert!(win == loss && draw > 100, "{win} {draw} {loss}");
        assert_eq!(MODEL.per_mille(mate_in(5), 30), [1000, 0, 0]);
        assert_eq!(MODEL.per_mille(mated_in(4), 30), [0, 0, 1000]);
        assert_eq!(material(&Board::startpos()), 78);
    }
}
