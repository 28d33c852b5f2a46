//! Positions as FEN text, with X-FEN and Shredder-FEN castling letters for Chess960.
//!
//! [`Board::from_fen`] returns legal positions only; `validate` defines the term.

use super::{Board, CastlingSide, zobrist};
use crate::types::{Bitboard, Color, Piece, PieceType, Square};
use std::fmt;

/// Reason why a FEN is rejected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FenError {
    /// The number of fields is not four, five or six.
    Fields(usize),
    /// The pieces do not form eight ranks of eight squares in known letters.
    Placement(String),
    /// The side to move is neither `w` nor `b`.
    Turn(String),
    /// The castling rights contain other letters than `KQkqA-Ha-h`, are given twice, or lack their
    /// king or rook.
    Castling(String),
    /// No pawn can just have passed over the en passant square.
    EnPassant(String),
    /// A clock is not a number in range.
    Clock(String),
    /// A side has no king or more than one.
    Kings(Color),
    /// A pawn stands on the first or last rank.
    PawnOnBackRank,
    /// A side has more pieces than sixteen men and their promotions allow.
    TooManyPieces(Color),
    /// The side that just moved is in check.
    OppositeCheck,
    /// The side to move is in check from more than two pieces, which no move can cause. Impossible
    /// pairs are accepted.
    ImpossibleCheck,
}

impl fmt::Display for FenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FenError::Fields(count) => write!(f, "fen: {count} fields, expected 4 to 6"),
            FenError::Placement(text) => write!(f, "fen: bad piece placement `{text}`, expected 8 ranks of 8 squares"),
            FenError::Turn(text) => write!(f, "fen: bad side to move `{text}`, expected `w` or `b`"),
            FenError::Castling(text) => write!(f, "fen: castling rights `{text}` do not fit the kings and rooks"),
            FenError::EnPassant(text) => write!(f, "fen: no pawn can have passed over en passant square `{text}`"),
            FenError::Clock(text) => write!(f, "fen: bad clock `{text}`, expected a small number"),
            FenError::Kings(color) => write!(f, "fen: {} must have one king", color_name(*color)),
            FenError::PawnOnBackRank => write!(f, "fen: pawn on the first or last rank"),
            FenError::TooManyPieces(color) => write!(f, "fen: too many pieces for {}", color_name(*color)),
            FenError::OppositeCheck => write!(f, "fen: the side that just moved is in check"),
            FenError::ImpossibleCheck => write!(f, "fen: check from more than two pieces"),
        }
    }
}

impl std::error::Error for FenError {}

fn color_name(color: Color) -> &'static str {
    match color {
        Color::White => "white",
        Color::Black => "black",
    }
}

impl Board {
    /// Parses a FEN of six fields; the clocks may be missing. Castling rights may be `KQkq` (the
    /// outermost rook, as in X-FEN) or the rooks' files. An en passant square that no legal move
    /// can use is dropped.
    ///
    /// # Errors
    /// Returns a [`FenError`] if the text is not a FEN or the position is not legal.
    pub fn from_fen(fen: &str) -> Result<Board, FenError> {
        let fields: Vec<&str> = fen.split_ascii_whitespace().collect();
        let (placement, turn, castling, en_passant) = match fields[..] {
            [placement, turn, castling, en_passant] | [placement, turn, castling, en_passant, _] => {
                (placement, turn, castling, en_passant)
            }
            [placement, turn, castling, en_passant, _, _] => (placement, turn, castling, en_passant),
            _ => return Err(FenError::Fields(fields.len())),
        };
        let mut board = Board::empty();
        board.read_placement(placement)?;
        match turn {
            "w" => {}
            "b" => {
                board.turn = Color::Black;
                board.key ^= zobrist::black_to_move();
            }
            _ => return Err(FenError::Turn(turn.to_owned())),
        }
        board.halfmove_clock = read_clock(fields.get(4).copied().unwrap_or("0"))?;
        board.fullmove_number = read_clock(fields.get(5).copied().unwrap_or("1"))?.max(1);
        board.validate_pieces()?;
        board.read_castling(castling)?;
        board.refresh_castling_squares();
        board.refresh_checks();
        board.read_en_passant(en_passant)?;
        Ok(board)
    }

    fn empty() -> Board {
        Board {
            kinds: [Bitboard::EMPTY; PieceType::COUNT],
            colors: [Bitboard::EMPTY; 2],
            mailbox: [None; 64],
            key: 0,
            partial_keys: [0; 5],
            checkers: Bitboard::EMPTY,
            pinned: Bitboard::EMPTY,
            castling_squares: Bitboard::EMPTY,
            castling_rooks: [[None; 2]; 2],
            en_passant: None,
            halfmove_clock: 0,
            fullmove_number: 1,
            turn: Color::White,
        }
    }

    fn read_placement(&mut self, text: &str) -> Result<(), FenError> {
        let error = || FenError::Placement(text.to_owned());
        if text.split('/').count() != 8 {
            return Err(error());
        }
        for (row, squares) in (0..8).zip(text.split('/')) {
            let mut file = 0;
            for letter in squares.chars() {
                if let Some(gap @ 1..=8) = letter.to_digit(10) {
                    file += gap as u8;
                } else {
                    let piece = Piece::from_letter(letter).ok_or_else(error)?;
                    if file < 8 {
                        self.put(piece, Square::at(file, 7 - row));
                    }
                    file += 1;
                }
                if file > 8 {
                    return Err(error());
                }
            }
            if file != 8 {
                return Err(error());
            }
        }
        Ok(())
    }

    fn validate_pieces(&self) -> Result<(), FenError> {
        for color in Color::ALL {
            let count = |kind| self.pieces(color, kind).count();
            if count(PieceType::King) != 1 {
                return Err(FenError::Kings(color));
            }
            let promoted = count(PieceType::Knight).saturating_sub(2)
                + count(PieceType::Bishop).saturating_sub(2)
                + count(PieceType::Rook).saturating_sub(2)
                + count(PieceType::Queen).saturating_sub(1);
            if count(PieceType::Pawn) + promoted > 8 {
                return Err(FenError::TooManyPieces(color));
            }
        }
        if self.kind(PieceType::Pawn).intersects(Bitboard::RANK_1 | Bitboard::RANK_8) {
            return Err(FenError::PawnOnBackRank);
        }
        if self.is_attacked(self.king(!self.turn), self.turn, self.occupied()) {
            return Err(FenError::OppositeCheck);
        }
        let checkers = self.attackers_to(self.king(self.turn), self.occupied()) & self.colored(!self.turn);
        if checkers.count() > 2 {
            return Err(FenError::ImpossibleCheck);
        }
        Ok(())
    }

    fn read_castling(&mut self, text: &str) -> Result<(), FenError> {
        if text == "-" {
            return Ok(());
        }
        for letter in text.chars() {
            self.read_castling_letter(letter).ok_or_else(|| FenError::Castling(text.to_owned()))?;
        }
        Ok(())
    }

    fn read_castling_letter(&mut self, letter: char) -> Option<()> {
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let king = self.king(color);
        let back_rank = Bitboard::relative_rank(color, 0);
        let rooks = self.pieces(color, PieceType::Rook) & back_rank;
        let rook = match letter.to_ascii_lowercase() {
            'k' => rooks.iter().last().filter(|&rook| rook > king)?,
            'q' => rooks.iter().next().filter(|&rook| rook < king)?,
            file @ 'a'..='h' => Square::at(file as u8 - b'a', king.rank()),
            _ => return None,
        };
        let side = if rook > king { CastlingSide::King } else { CastlingSide::Queen };
        let fits = back_rank.has(king) && rooks.has(rook) && self.castling_rook(color, side).is_none();
        fits.then(|| self.grant_castling(color, side, rook))
    }

    /// Checks that the last move can have passed over the square, given the checks it left.
    fn read_en_passant(&mut self, text: &str) -> Result<(), FenError> {
        if text == "-" {
            return Ok(());
        }
        let error = || FenError::EnPassant(text.to_owned());
        let square = Square::parse(text).ok_or_else(error)?;
        let them = !self.turn;
        let (origin, pawn) = (square.offset(-them.forward()), square.offset(them.forward()));
        let path = Bitboard::from(square) | Bitboard::from(origin);
        if !Bitboard::relative_rank(them, 2).has(square)
            || !self.pieces(them, PieceType::Pawn).has(pawn)
            || self.occupied().intersects(path)
        {
            return Err(error());
        }
        // Every check comes from the pawn or was opened by it, so with the pawn back home the king
        // must be out of check.
        let before = (self.occupied() - Bitboard::from(pawn)) | Bitboard::from(origin);
        let others = self.colored(them) - Bitboard::from(pawn);
        if self.attackers_to(self.king(self.turn), before).intersects(others) {
            return Err(error());
        }
        self.offer_en_passant(square);
        Ok(())
    }

    /// Formats all six fields. For Chess960 castling rights are the rooks' files (Shredder-FEN).
    /// Otherwise they are `KQkq`, with the file if the letter would name another rook (X-FEN).
    pub fn to_fen(&self, chess960: bool) -> String {
        let mut fen = String::with_capacity(90);
        for rank in (0..8).rev() {
            let mut gap = 0;
            for file in 0..8 {
                match self.piece_at(Square::at(file, rank)) {
                    None => gap += 1,
                    Some(piece) => {
                        push_gap(&mut fen, &mut gap);
                        fen.push(piece.letter());
                    }
                }
            }
            push_gap(&mut fen, &mut gap);
            if rank > 0 {
                fen.push('/');
            }
        }
        fen.push_str(if self.turn == Color::White { " w " } else { " b " });
        let rights = fen.len();
        for color in Color::ALL {
            for side in CastlingSide::ALL {
                if let Some(rook) = self.castling_rook(color, side) {
                    let letter = self.castling_letter(color, side, rook, chess960);
                    fen.push(if color == Color::White { letter.to_ascii_uppercase() } else { letter });
                }
            }
        }
        if fen.len() == rights {
            fen.push('-');
        }
        let en_passant = self.en_passant.map_or_else(|| "-".to_owned(), |square| square.to_string());
        fen + &format!(" {en_passant} {} {}", self.halfmove_clock, self.fullmove_number)
    }

    fn castling_letter(&self, color: Color, side: CastlingSide, rook: Square, chess960: bool) -> char {
        let rooks = self.pieces(color, PieceType::Rook) & Bitboard::relative_rank(color, 0);
        let outermost = match side {
            CastlingSide::King => rooks.msb() == rook,
            CastlingSide::Queen => rooks.lsb() == rook,
        };
        match (chess960 || !outermost, side) {
            (true, _) => char::from(b'a' + rook.file()),
            (false, CastlingSide::King) => 'k',
            (false, CastlingSide::Queen) => 'q',
        }
    }
}

fn push_gap(fen: &mut String, gap: &mut u8) {
    if *gap > 0 {
        fen.push(char::from(b'0' + *gap));
        *gap = 0;
    }
}

fn read_clock(text: &str) -> Result<u16, FenError> {
    match text.parse() {
        Ok(clock @ 0..=9999) => Ok(clock),
        _ => Err(FenError::Clock(text.to_owned())),
    }
}
