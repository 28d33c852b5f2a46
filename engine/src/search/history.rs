//! What moves did elsewhere in the tree, remembered for ordering.

use crate::types::{Color, Move, Square};

/// Values are halved when one passes this.
const LIMIT: i32 = 1 << 14;

/// How often a quiet move was good, by side, from and to ("The history heuristic and alpha-beta search enhancements in
/// practice", J. Schaeffer, IEEE PAMI 11(11), 1989).
struct ButterflyHistory([[[i32; Square::COUNT]; Square::COUNT]; 2]);

impl ButterflyHistory {
    fn halve(&mut self) {
        for value in self.0.as_flattened_mut().as_flattened_mut() {
            *value /= 2;
        }
    }
}

/// All that is learnt about moves in the course of a game.
pub struct Histories {
    butterfly: Box<ButterflyHistory>,
}

impl Histories {
    pub fn new() -> Histories {
        Histories { butterfly: Box::new(ButterflyHistory([[[0; Square::COUNT]; Square::COUNT]; 2])) }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Histories::new();
    }

    /// The value of a quiet move: the greater, the sooner it should be tried.
    #[inline]
    pub fn quiet(&self, color: Color, mv: Move) -> i32 {
        self.butterfly.0[color.index()][mv.from().index()][mv.to().index()]
    }

    /// Learns that a quiet move refuted a position at some depth.
    pub fn reward_quiet(&mut self, color: Color, mv: Move, depth: i32) {
        let value = &mut self.butterfly.0[color.index()][mv.from().index()][mv.to().index()];
        *value += depth * depth;
        if *value > LIMIT {
            self.butterfly.halve();
        }
    }
}

impl Default for Histories {
    fn default() -> Histories {
        Histories::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Flag;

    #[test]
    fn rewards_add_up_and_stay_bounded() {
        let mut histories = Histories::new();
        let good = Move::new(Square::A1, Square::H8, Flag::Quiet);
        let other = Move::new(Square::H8, Square::A1, Flag::Quiet);
        for _ in 0..10_000 {
            histories.reward_quiet(Color::White, good, 9);
            assert!(histories.quiet(Color::White, good) <= LIMIT);
        }
        assert!(histories.quiet(Color::White, good) > LIMIT / 4);
        assert_eq!(histories.quiet(Color::Black, good), 0);
        assert_eq!(histories.quiet(Color::White, other), 0);
        histories.clear();
        assert_eq!(histories.quiet(Color::White, good), 0);
    }
}
