//! Opening books: what is accepted can be played, every opening of it.
//!
//! An input is a byte each for format, castling rules and plies, and then the file as it lies on
//! disk, so that files can be seeds.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::chess::{Position, Variant};
use quintain::openings::{Book, BookFileFormat, BookOptions};

fuzz_target!(|input: &[u8]| {
    let Some(([format, chess960, plies], bytes)) = input.split_first_chunk() else { return };
    let variant = if chess960 % 2 == 1 { Variant::Chess960 } else { Variant::Standard };
    let format = [Some(BookFileFormat::Epd), Some(BookFileFormat::Pgn), Some(BookFileFormat::Polyglot), None]
        [usize::from(format % 4)];
    // A Polyglot book has as many lines as it likes: few plies leave few.
    let options = BookOptions { format, variant, plies: Some(u32::from(plies % 8)).filter(|plies| *plies > 0) };
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
