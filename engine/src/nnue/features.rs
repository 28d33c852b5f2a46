//! Input features of single pieces, of which accumulators are updated move by move.
//!
//! A feature of the usual set means "this piece, own or enemy, is on this square" from one side's
//! view. The board is turned so that the side plays up the board. In mirrored networks it is also
//! flipped so that the side's king is on files a to d.

use super::layout::{FEATURES, Layout};
use super::sets::{FeatureSet, Locality};
use crate::types::{Bitboard, Color, Piece, Square};

/// View of the board by one side, which depends on its king's square.
///
/// In two positions with the same view every piece has the same feature. The accumulator of one
/// becomes that of the other by adding and subtracting the difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct View {
    /// First feature of the king's bucket. In sets without buckets, the own king's square, turned
    /// and masked by the bits on which the features depend. One field for both keeps views small,
    /// because the search compares them after each move.
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
        let mirror = if layout.mirrored && relative.file() > 3 { 7 } else { 0 };
        let bucket = layout.king_bucket(relative) as u16;
        let base = bucket * FEATURES as u16 + u16::from(relative.raw() & king_mask(layout));
        View { base, turn: mirror ^ (56 * color as u8), color }
    }

    /// Returns the feature of a piece on a square: `bucket * 768 + enemy * 384 + kind * 64 +
    /// square`.
    #[inline]
    pub fn feature(self, piece: Piece, square: Square) -> u16 {
        let enemy = u16::from(piece.color() != self.color);
        let kind = piece.index() as u16 >> 1;
        self.base + enemy * 384 + kind * 64 + u16::from(square.raw() ^ self.turn)
    }

    /// Calls `visit` with each feature of a piece on a square, in a set of features of single
    /// pieces.
    #[inline]
    pub(super) fn features(self, set: &FeatureSet, piece: Piece, square: Square, mut visit: impl FnMut(u16)) {
        let code = 6 * usize::from(piece.color() != self.color) + (piece.index() >> 1);
        let (king, square) = (Square::new(self.base as u8), square.relative(self.color));
        for (block, first) in set.blocks() {
            if let Some(feature) = block.of_piece(king, code, square) {
                visit((first + feature) as u16);
            }
        }
    }

    /// Returns the index of the view among those of a side: twice the bucket, plus one if mirrored;
    /// or the king's masked square.
    #[inline]
    pub fn slot(self) -> usize {
        let (bucket, king) = (usize::from(self.base) / FEATURES, usize::from(self.base) % FEATURES);
        2 * bucket + king + usize::from(self.turn & 1)
    }

    /// Returns the number of slots of a side.
    pub(super) fn slots(layout: &Layout) -> usize {
        if king_mask(layout) == 0 { 2 * layout.king_buckets } else { Square::COUNT }
    }
}

/// Returns the bits of the king's square on which the features of single pieces depend.
#[inline]
fn king_mask(layout: &Layout) -> u8 {
    match layout.set.locality() {
        Locality::Piece { king_mask } => king_mask,
        Locality::Board => 0,
    }
}

/// Features to add or subtract; a board has at most 64 pieces.
pub(super) struct Features {
    list: [u16; 64],
    pub(super) len: usize,
}

impl Features {
    pub(super) fn new() -> Features {
        Features { list: [0; 64], len: 0 }
    }

    #[inline]
    pub(super) fn extend(&mut self, view: View, piece: Piece, squares: Bitboard) {
        for square in squares {
            self.list[self.len & 63] = view.feature(piece, square);
            self.len += 1;
        }
    }

    pub(super) fn as_slice(&self) -> &[u16] {
        &self.list[..self.len.min(64)]
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
