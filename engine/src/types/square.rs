//! Squares.

use super::Color;
use std::fmt;

/// Square with an index of a1 = 0, b1 = 1, up to h8 = 63.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// Number of squares.
    pub const COUNT: usize = 64;
    /// The square a1, which has index 0.
    pub const A1: Square = Square(0);
    /// The square h8, which has index 63.
    pub const H8: Square = Square(63);

    /// Creates a square from an index; only the low six bits count.
    #[inline]
    pub const fn new(index: u8) -> Square {
        Square(index & 63)
    }

    /// Creates a square from a file (0 = a) and a rank (0 = first); only the low three bits of each
    /// count.
    #[inline]
    pub const fn at(file: u8, rank: u8) -> Square {
        Square(((rank & 7) << 3) | (file & 7))
    }

    /// Returns the index, 0 to 63. The mask tells the compiler the range, so table look-ups need no
    /// bounds check.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & 63) as usize
    }

    /// Returns the index from 0 (a1) to 63 (h8), rank by rank.
    #[inline]
    pub const fn raw(self) -> u8 {
        self.0
    }

    /// Returns the file, 0 (a) to 7 (h).
    #[inline]
    pub const fn file(self) -> u8 {
        self.0 & 7
    }

    /// Returns the rank, 0 (first) to 7 (eighth), from White's side.
    #[inline]
    pub const fn rank(self) -> u8 {
        self.0 >> 3
    }

    /// Returns this square from a side's view: unchanged for White, mirrored top to bottom for
    /// Black.
    #[inline]
    pub const fn relative(self, color: Color) -> Square {
        Square(self.0 ^ (56 * color as u8))
    }

    /// Mirrors the square top to bottom.
    #[inline]
    pub const fn flip(self) -> Square {
        Square(self.0 ^ 56)
    }

    /// Returns the square `delta` indices away. It wraps round the board, so the caller must stay
    /// on it.
    #[inline]
    pub const fn offset(self, delta: i8) -> Square {
        Square(self.0.wrapping_add(delta as u8) & 63)
    }

    /// Returns the number of king steps between two squares, 0 to 7.
    pub const fn distance(self, other: Square) -> u8 {
        let files = self.file().abs_diff(other.file());
        let ranks = self.rank().abs_diff(other.rank());
        if files > ranks { files } else { ranks }
    }

    /// Parses a name such as `e4`.
    pub const fn parse(name: &str) -> Option<Square> {
        match name.as_bytes() {
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => Some(Square::at(*file - b'a', *rank - b'1')),
            _ => None,
        }
    }

    /// Iterates over all squares from a1 to h8.
    pub fn all() -> impl Iterator<Item = Square> {
        (0..64).map(Square)
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.file()), char::from(b'1' + self.rank()))
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
