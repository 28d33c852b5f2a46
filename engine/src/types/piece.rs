//! Piece types and coloured pieces.

use super::Color;

/// Piece type, ordered by value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum PieceType {
    /// Pawn.
    Pawn,
    /// Knight.
    Knight,
    /// Bishop.
    Bishop,
    /// Rook.
    Rook,
    /// Queen.
    Queen,
    /// King.
    King,
}

impl PieceType {
    /// Number of kinds.
    pub const COUNT: usize = 6;
    /// All kinds, from pawn to king.
    pub const ALL: [PieceType; 6] =
        [PieceType::Pawn, PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen, PieceType::King];
    /// Promotion pieces, in the order of the promotion bits of a [`super::Move`].
    pub const PROMOTIONS: [PieceType; 4] = [PieceType::Knight, PieceType::Bishop, PieceType::Rook, PieceType::Queen];

    /// Returns the index, 0 (pawn) to 5 (king).
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Reverses [`Self::index`]; an index above 5 counts as the king.
    #[inline]
    pub const fn from_index(index: usize) -> PieceType {
        match index {
            0 => PieceType::Pawn,
            1 => PieceType::Knight,
            2 => PieceType::Bishop,
            3 => PieceType::Rook,
            4 => PieceType::Queen,
            _ => PieceType::King,
        }
    }

    /// Returns the lower-case FEN letter.
    pub const fn letter(self) -> char {
        match self {
            PieceType::Pawn => 'p',
            PieceType::Knight => 'n',
            PieceType::Bishop => 'b',
            PieceType::Rook => 'r',
            PieceType::Queen => 'q',
            PieceType::King => 'k',
        }
    }

    /// Parses a FEN letter of either case.
    pub const fn from_letter(letter: char) -> Option<PieceType> {
        Some(match letter.to_ascii_lowercase() {
            'p' => PieceType::Pawn,
            'n' => PieceType::Knight,
            'b' => PieceType::Bishop,
            'r' => PieceType::Rook,
            'q' => PieceType::Queen,
            'k' => PieceType::King,
            _ => return None,
        })
    }
}

/// Piece of one side. The discriminant is `2 * kind + colour`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Piece {
    /// White pawn.
    WhitePawn,
    /// Black pawn.
    BlackPawn,
    /// White knight.
    WhiteKnight,
    /// Black knight.
    BlackKnight,
    /// White bishop.
    WhiteBishop,
    /// Black bishop.
    BlackBishop,
    /// White rook.
    WhiteRook,
    /// Black rook.
    BlackRook,
    /// White queen.
    WhiteQueen,
    /// Black queen.
    BlackQueen,
    /// White king.
    WhiteKing,
    /// Black king.
    BlackKing,
}

impl Piece {
    /// Number of pieces.
    pub const COUNT: usize = 12;
    /// All pieces, by index.
    pub const ALL: [Piece; 12] = [
        Piece::WhitePawn,
        Piece::BlackPawn,
        Piece::WhiteKnight,
        Piece::BlackKnight,
        Piece::WhiteBishop,
        Piece::BlackBishop,
        Piece::WhiteRook,
        Piece::BlackRook,
        Piece::WhiteQueen,
        Piece::BlackQueen,
        Piece::WhiteKing,
        Piece::BlackKing,
    ];

    /// Returns the piece of a side and a kind.
    #[inline]
    pub const fn new(color: Color, kind: PieceType) -> Piece {
        Self::ALL[kind.index() * 2 + color.index()]
    }

    /// Returns `2 * kind + colour`, 0 to 11.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the piece's side.
    #[inline]
    pub const fn color(self) -> Color {
        if self as u8 & 1 == 0 { Color::White } else { Color::Black }
    }

    /// Returns the piece's kind.
    #[inline]
    pub const fn kind(self) -> PieceType {
        PieceType::from_index(self as usize >> 1)
    }

    /// Returns the FEN letter, upper case for White.
    pub const fn letter(self) -> char {
        match self.color() {
            Color::White => self.kind().letter().to_ascii_uppercase(),
            Color::Black => self.kind().letter(),
        }
    }

    /// Parses a FEN letter.
    pub const fn from_letter(letter: char) -> Option<Piece> {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        match PieceType::from_letter(letter) {
            Some(kind) => Some(Piece::new(color, kind)),
            None => None,
        }
    }
}
