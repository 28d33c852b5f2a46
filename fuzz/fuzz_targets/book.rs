//! Opening books: what is accepted can be played, every opening of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::chess::{Position, Variant};
use quintain::plan::openings::{Book, BookOptions, Format};

fuzz_target!(|input: (bool, bool, Option<u8>, Vec<u8>)| {
    let (pgn, chess960, plies, bytes) = input;
    let variant = if chess960 { Variant::Chess960 } else { Variant::Standard };
    let format = Some(if pgn { Format::Pgn } else { Format::Epd });
    let options = BookOptions { format, variant, plies: plies.map(u32::from) };
    let Ok(book) = Book::from_bytes("fuzz", bytes, &options) else { return };
    for index in 0..book.len() {
        let opening = book.opening(index).expect("it was counted");
        let mut position = Position::from_fen(&opening.fen, variant).expect("it was checked");
        for uci in &opening.moves {
            position.play(uci).expect("it was checked");
        }
        assert!(position.over().is_none());
    }
});
