//! Identity of a game, whatever its source: players, start and moves.
//!
//! A move is hashed by its target square and the piece it promotes to. Every notation states these,
//! and no board is needed. Two different games of the same players would have to agree in all of
//! them and in the result.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::chess::{Position, START_FEN, Variant};
use crate::record::{GameRecord, Outcome};

/// Hash of a game's start and moves, with the length of the opening.
#[derive(Clone, Debug)]
pub(super) struct GameLine {
    hash: DefaultHasher,
    /// Board of a Chess960 game, as long as its moves are in UCI notation. Castling is king takes
    /// rook there, and only the board tells it from another move.
    board: Option<Position>,
    black_first: bool,
    is_usual_start: bool,
    plies: u32,
    /// Plies of the opening, and the hash after them.
    book: (u32, u64),
}

impl GameLine {
    /// Creates the line of a game from `fen`, or from the usual position if it is empty.
    pub(super) fn new(fen: &[u8]) -> Self {
        let usual = START_FEN.as_bytes();
        let start = if fields(fen).next().is_some() { fen } else { usual };
        let mut hash = DefaultHasher::new();
        fields(start).for_each(|field| field.hash(&mut hash));
        let book = (0, hash.finish());
        let black_first = fields(start).nth(1).is_some_and(|turn| turn == b"b");
        let is_usual_start = fields(start).eq(fields(usual));
        Self { hash, board: None, black_first, is_usual_start, plies: 0, book }
    }

    /// Creates the line of a game whose moves may be in UCI notation.
    pub(super) fn of_variant(fen: &[u8], variant: Variant) -> Self {
        let mut line = Self::new(fen);
        if variant == Variant::Chess960 {
            let fen = if line.is_usual_start { START_FEN } else { str::from_utf8(fen).unwrap_or_default() };
            line.board = Position::from_fen(fen, variant).ok();
        }
        line
    }

    /// The line of a journalled game.
    pub(super) fn of_record(game: &GameRecord, variant: Variant) -> Self {
        let mut line = Self::of_variant(game.opening.fen.as_bytes(), variant);
        let opening = game.opening.moves.iter().map(|uci| (uci, true));
        for (uci, is_book) in opening.chain(game.moves.iter().map(|ply| (&ply.uci, false))) {
            line.push(uci.as_bytes());
            if is_book {
                line.end_book();
            }
        }
        line
    }

    /// Records a move in standard, long or UCI notation.
    pub(super) fn push(&mut self, text: &[u8]) {
        let black = self.black_first != (self.plies % 2 == 1);
        let san = self.board.as_mut().and_then(|board| board.play_to_san(&uci(text)?).ok());
        if san.is_none() {
            self.board = None;
        }
        target(san.as_deref().map_or(text, str::as_bytes), black).hash(&mut self.hash);
        self.plies += 1;
    }

    /// Marks all moves so far as the opening, if those before the last one are.
    pub(super) fn end_book(&mut self) {
        if self.book.0 + 1 == self.plies {
            self.book = (self.plies, self.hash.finish());
        }
    }

    /// Number of plies so far.
    pub(super) const fn plies(&self) -> u32 {
        self.plies
    }

    /// Hash of the opening; `None` for the usual position without known book moves.
    pub(super) fn opening(&self) -> Option<u64> {
        (self.book.0 > 0 || !self.is_usual_start).then_some(self.book.1)
    }

    /// Hash of start and moves.
    pub(super) fn moves(&self) -> u64 {
        self.hash.finish()
    }
}

/// The same move in UCI notation, with `=` before the promotion or without; `None` for a move in
/// another notation.
fn uci(text: &[u8]) -> Option<String> {
    let from_to = text.get(..4).filter(|squares| squares.chunks(2).all(is_square))?;
    let promotion = match &text[4..] {
        [] => String::new(),
        [piece] | [b'=', piece] => char::from(piece.to_ascii_lowercase()).to_string(),
        _ => return None,
    };
    Some(String::from_utf8_lossy(from_to).into_owned() + &promotion)
}

const fn is_square(two: &[u8]) -> bool {
    matches!(two, [b'a'..=b'h', b'1'..=b'8'])
}

/// First four fields of a FEN. The counters do not identify a position, and some programs leave
/// them out.
fn fields(fen: &[u8]) -> impl Iterator<Item = &[u8]> {
    fen.split(u8::is_ascii_whitespace).filter(|field| !field.is_empty()).take(4)
}

/// Hash of a game: players, result, and the hash of its moves or, without moves, of its tags.
pub(super) fn game(white: &[u8], black: &[u8], outcome: Outcome, moves: u64) -> u64 {
    let mut hash = DefaultHasher::new();
    (white, black, outcome, moves).hash(&mut hash);
    hash.finish()
}

/// Target square of a move and the piece it promotes to, as bytes; castling as the king's own move.
fn target(text: &[u8], black: bool) -> [u8; 3] {
    let bare = text.trim_ascii_end();
    let end = bare.iter().rposition(|byte| !b"+#!?".contains(byte)).map_or(0, |last| last + 1);
    let bare = &bare[..end];
    let rank = if black { b'8' } else { b'1' };
    match bare {
        b"O-O" | b"0-0" => return [b'g', rank, 0],
        b"O-O-O" | b"0-0-0" => return [b'c', rank, 0],
        _ => {}
    }
    let Some(at) = bare.windows(2).rposition(is_square) else {
        // Unknown notation, hashed as the start of its text.
        return [0, 1, 2].map(|place| bare.get(place).copied().unwrap_or_default());
    };
    let promotes = bare[at + 2..].iter().rfind(|byte| byte.is_ascii_alphabetic()).map_or(0, u8::to_ascii_lowercase);
    [bare[at], bare[at + 1], promotes]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_move_is_the_same_in_every_notation() {
        let check = |texts: &[&str], black: bool, expected: &[u8; 3]| {
            for text in texts {
                assert_eq!(target(text.as_bytes(), black), *expected, "{text}");
            }
        };
        check(&["Nf3", "Ngf3", "Ng1f3", "Ng1-f3", "g1f3", "Nxf3+", "Nf3!?"], false, b"f3\0");
        check(&["e8=Q", "e8Q", "dxe8=Q#", "e7e8q", "d7xe8=Q"], false, b"e8q");
        check(&["O-O", "0-0", "O-O+", "e1g1"], false, b"g1\0");
        check(&["O-O-O", "e8c8"], true, b"c8\0");
        assert_ne!(target(b"e8=N", false), target(b"e8=Q", false));
    }

    #[test]
    fn lines_are_told_apart_by_start_and_moves() {
        let line = |fen: &str, moves: &[&str]| {
            let mut line = GameLine::new(fen.as_bytes());
            moves.iter().for_each(|text| line.push(text.as_bytes()));
            line.moves()
        };
        let bare = START_FEN.rsplitn(3, ' ').last().unwrap_or_default();
        assert_eq!(line("", &["e4", "e5"]), line(START_FEN, &["e2e4", "e7e5"]));
        assert_eq!(line(bare, &["e4"]), line("", &["e4"]));
        assert_ne!(line("", &["e4", "e5"]), line("", &["e4", "c5"]));
        assert_ne!(line("", &["e4"]), line("4k3/8/8/8/8/8/8/4K3 w - - 0 1", &["e4"]));
    }

    #[test]
    fn an_opening_is_known_by_its_start_or_its_book_moves() {
        let mut line = GameLine::new(b"");
        assert_eq!(line.opening(), None);
        line.push(b"e4");
        line.end_book();
        let opening = line.opening();
        line.push(b"e5");
        assert_eq!(line.opening(), opening);
        line.push(b"Nf3");
        // A book move after one that is not a book move.
        line.end_book();
        assert_eq!((line.opening(), line.plies()), (opening, 3));
        assert!(GameLine::new(b"4k3/8/8/8/8/8/8/4K3 w - - 0 1").opening().is_some());
    }
}
