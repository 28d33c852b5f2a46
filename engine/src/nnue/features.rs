//! Input features of the network.
//!
//! A feature means "this piece, own or enemy, is on this square" from one side's view. The board is
//! turned so that the side plays up the board. In mirrored networks it is also flipped so that the
//! side's king is on files a to d.

use super::layout::{FEATURES, Layout};
use crate::types::{Color, Piece, Square};

/// View of the board by one side, which depends on its king's square.
///
/// In two positions with the same view every piece has the same feature. The accumulator of one
/// becomes that of the other by adding and subtracting the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// First feature of the king's bucket.
    base: u16,
    /// Mask that is XORed with squares: 56 turns the board for Black, 7 mirrors the files.
    turn: u8,
    color: Color,
}

impl View {
    /// Creates the view of a side with its king on a square.
    #[inline]
    pub fn new(layout: &Layout, color: Color, king: Square) -> View {
        let relative = king.relative(color);
        let on_right = relative.file() > 3;
        let mirror = if layout.mirrored && on_right { 7 } else { 0 };
        let file = if on_right { 7 - relative.file() } else { relative.file() };
        let bucket = layout.bucket_map[usize::from(relative.rank() * 4 + file) & 31];
        View { base: u16::from(bucket) * FEATURES as u16, turn: mirror ^ (56 * color as u8), color }
    }

    /// Returns the feature of a piece on a square: `bucket * 768 + enemy * 384 + kind * 64 +
    /// square`.
    #[inline]
    pub fn feature(self, piece: Piece, square: Square) -> u16 {
        let enemy = u16::from(piece.color() != self.color);
        let kind = piece.index() as u16 >> 1;
        self.base + enemy * 384 + kind * 64 + u16::from(square.raw() ^ self.turn)
    }

    /// Returns the index of the view among those of a side: twice the bucket, plus one if mirrored.
    #[inline]
    pub fn slot(self) -> usize {
        usize::from(self.base) / FEATURES * 2 + usize::from(self.turn & 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::layout::Kind;
    use super::*;

    fn view(layout: &Layout, color: Color, king: &str) -> View {
        View::new(layout, color, Square::parse(king).expect("a square"))
    }

    #[test]
    fn golden_features() {
        let plain = Layout::plain(Kind::Screlu, 32);
        let mut rich = plain.clone();
        (rich.mirrored, rich.king_buckets) = (true, 3);
        // The first rank maps to two buckets, all else to the third.
        rich.bucket_map = [2; 32];
        rich.bucket_map[..4].copy_from_slice(&[0, 0, 1, 1]);
        type Case<'a> = (&'a Layout, Color, &'a str, Piece, &'a str, u16);
        let cases: [Case<'_>; 11] = [
            (&plain, Color::White, "e1", Piece::WhitePawn, "a2", 8),
            (&plain, Color::White, "a1", Piece::WhitePawn, "a2", 8),
            (&plain, Color::White, "e1", Piece::BlackKing, "h8", 384 + 5 * 64 + 63),
            (&plain, Color::Black, "e8", Piece::WhitePawn, "a2", 384 + 48),
            (&plain, Color::Black, "e8", Piece::BlackQueen, "d8", 4 * 64 + 3),
            (&rich, Color::White, "e1", Piece::WhiteKnight, "b1", 768 + 64 + 6),
            (&rich, Color::White, "d1", Piece::WhiteKnight, "b1", 768 + 64 + 1),
            (&rich, Color::White, "h1", Piece::WhiteKnight, "b1", 64 + 6),
            (&rich, Color::White, "a2", Piece::BlackPawn, "c7", 2 * 768 + 384 + 50),
            (&rich, Color::Black, "g8", Piece::BlackPawn, "c7", 13),
            (&rich, Color::Black, "c8", Piece::BlackPawn, "c7", 768 + 10),
        ];
        for (layout, color, king, piece, square, feature) in cases {
            let found = view(layout, color, king).feature(piece, Square::parse(square).expect("a square"));
            assert_eq!(found, feature, "{color:?} king {king}, {piece:?} {square}");
        }
    }

    #[test]
    fn slots_tell_views_apart() {
        let mut layout = Layout::plain(Kind::Screlu, 32);
        layout.mirrored = true;
        layout.king_buckets = 32;
        layout.bucket_map = std::array::from_fn(|square| square as u8);
        for color in Color::ALL {
            let mut seen = std::collections::HashSet::new();
            for king in Square::all() {
                assert!(seen.insert(View::new(&layout, color, king).slot()), "{color:?} {king}");
            }
            assert!(seen.iter().all(|&slot| slot < 64));
        }
    }
}
