//! Middle-game and endgame values packed into one register.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Neg, Sub, SubAssign};

/// Two values of at most sixteen bits each, the middle game in the low half and the endgame in the
/// high half.
///
/// Sums, differences and products with a count act on both halves at once. A negative low half
/// borrows one from the high half, which [`Pair::eg`] gives back.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Pair(i32);

impl Pair {
    /// Zero in both halves.
    pub const ZERO: Pair = Pair(0);

    /// Creates a pair from a middlegame and an endgame score in centipawns.
    #[inline]
    pub const fn new(mg: i32, eg: i32) -> Pair {
        Pair((eg << 16) + mg)
    }

    /// Returns the middle-game half.
    #[inline]
    pub const fn mg(self) -> i32 {
        self.0 as i16 as i32
    }

    /// Returns the endgame half.
    #[inline]
    pub const fn eg(self) -> i32 {
        (self.0 + 0x8000) >> 16
    }
}

impl Add for Pair {
    type Output = Pair;
    #[inline]
    fn add(self, other: Pair) -> Pair {
        Pair(self.0.wrapping_add(other.0))
    }
}

impl AddAssign for Pair {
    #[inline]
    fn add_assign(&mut self, other: Pair) {
        *self = *self + other;
    }
}

impl Sub for Pair {
    type Output = Pair;
    #[inline]
    fn sub(self, other: Pair) -> Pair {
        Pair(self.0.wrapping_sub(other.0))
    }
}

impl SubAssign for Pair {
    #[inline]
    fn sub_assign(&mut self, other: Pair) {
        *self = *self - other;
    }
}

impl Neg for Pair {
    type Output = Pair;
    #[inline]
    fn neg(self) -> Pair {
        Pair(self.0.wrapping_neg())
    }
}

impl Mul<i32> for Pair {
    type Output = Pair;
    #[inline]
    fn mul(self, count: i32) -> Pair {
        Pair(self.0.wrapping_mul(count))
    }
}

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.mg(), self.eg())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_do_not_mix() {
        for a in [(0, 0), (1, -1), (-1, 1), (-300, 700), (1234, -4321)] {
            for b in [(5, 5), (-7, 11), (11, -7), (-1, -1)] {
                for count in [-9, -1, 0, 1, 2, 7] {
                    let sum = Pair::new(a.0, a.1) + Pair::new(b.0, b.1) * count;
                    assert_eq!((sum.mg(), sum.eg()), (a.0 + b.0 * count, a.1 + b.1 * count));
                    let difference = -(Pair::new(a.0, a.1) - Pair::new(b.0, b.1));
                    assert_eq!((difference.mg(), difference.eg()), (b.0 - a.0, b.1 - a.1));
                }
            }
        }
    }
}
