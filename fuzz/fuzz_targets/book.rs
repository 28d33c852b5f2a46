//! Opening books: what is accepted can be played, every opening of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::chess::{Position, Variant};
use quintain::openings::{Book, BookOptions, Format};

fuzz_target!(|input: (u8, bool, Option<u8>, Vec<u8>)| {
    let (format, chess960, plies, bytes) = input;
    let variant = if chess960 { Variant::Chess960 } else { Variant::Standard };
    let format = [Some(Format::Epd), Some(Format::Pgn), Some(Format::Polyglot), None][usize::from(format % 4)];
    // A Polyglot book has as many lines as it likes: few plies leave few.
    let options = BookOptions { format, variant, plies: plies.map(|plies| u32::from(plies % 8)) };
    let Ok(book) = Book::from_bytes("fuzz", bytes, &options) else { return };
    for index in 0..book.len() {
        let opening = book.opening(index).expect("readable").expect("it was counted");
        let mut position = Position::from_fen(&opening.fen, variant).expect("it was checked");
        for uci in &opening.moves {
            position.play(uci).expect("it was checked");
        }
        assert!(position.over().is_none());
    }
});
