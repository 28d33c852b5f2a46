//! Static evaluation of positions.

use crate::board::Board;
use crate::types::{Color, PieceType, Score, Square};

/// Evaluates positions; keeps what can be reused between them.
#[derive(Debug, Clone, Default)]
pub struct Evaluator {}

impl Evaluator {
    pub fn new() -> Evaluator {
        Evaluator::default()
    }

    /// The value of a quiet position in centipawns, from the side to move's view.
    pub fn evaluate(&mut self, board: &Board) -> Score {
        evaluate(board)
    }

    /// Forgets everything.
    pub fn clear(&mut self) {}
}

/// The value of a quiet position in centipawns, from the side to move's view.
pub fn evaluate(board: &Board) -> Score {
    const MATERIAL: [Score; PieceType::COUNT] = [100, 320, 330, 500, 950, 0];
    let side = |color: Color| -> Score {
        let pieces =
            PieceType::ALL.into_iter().flat_map(|kind| board.pieces(color, kind).iter().map(move |s| (kind, s)));
        pieces.map(|(kind, square)| MATERIAL[kind.index()] + placement(kind, square.relative(color))).sum()
    };
    side(board.turn()) - side(!board.turn()) + 10
}

/// Pawns want to advance in the centre, pieces want the centre, the king wants the corner of its first rank.
fn placement(kind: PieceType, square: Square) -> Score {
    let (file, rank) = (Score::from(square.file()), Score::from(square.rank()));
    let off_centre = (2 * file - 7).abs().max((2 * rank - 7).abs()) / 2;
    match kind {
        PieceType::Pawn => rank * rank + (4 - (2 * file - 7).abs() / 2) * rank,
        PieceType::Knight => 15 - 12 * off_centre,
        PieceType::Bishop | PieceType::Queen => 8 - 5 * off_centre,
        PieceType::Rook => {
            if rank == 6 {
                15
            } else {
                0
            }
        }
        PieceType::King => 4 * (2 * file - 7).abs() - 12 * rank,
    }
}
