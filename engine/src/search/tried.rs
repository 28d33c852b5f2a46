//! The moves of a node that were tried and found wanting.

use crate::types::Move;

/// More than this are not worth remembering.
const CAPACITY: usize = 64;

/// A short list in place; further moves are dropped.
pub struct Tried {
    moves: [Move; CAPACITY],
    len: usize,
}

impl Tried {
    #[inline]
    pub fn new() -> Tried {
        Tried { moves: [Move::NULL; CAPACITY], len: 0 }
    }

    #[inline]
    pub fn push(&mut self, mv: Move) {
        if let Some(place) = self.moves.get_mut(self.len) {
            *place = mv;
            self.len += 1;
        }
    }

    #[inline]
    pub fn moves(&self) -> &[Move] {
        &self.moves[..self.len]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_moves_are_kept() {
        let mut tried = Tried::new();
        let moves: Vec<Move> = (1..100).map(Move::from_raw).collect();
        moves.iter().for_each(|&mv| tried.push(mv));
        assert_eq!(tried.moves(), &moves[..CAPACITY]);
    }
}
