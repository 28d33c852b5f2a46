//! Polyglot books: entries as they come, and sorted, with a few that belong to the starting
//! position.
//!
//! An input is a byte each for castling rules and plies, and then the entries.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::chess::{Position, Variant};
use quintain::openings::{Book, BookFileFormat, BookOptions};

fn check(bytes: &[u8], variant: Variant, plies: u32) {
    let options = BookOptions { format: Some(BookFileFormat::Polyglot), variant, plies: Some(plies) };
    let Ok(book) = Book::from_bytes("fuzz", bytes, &options) else { return };
    for index in 0..book.len() {
        let opening = book.opening(index).expect("readable").expect("it was counted");
        let mut position = Position::from_fen(&opening.fen, variant).expect("the starting position");
        assert_eq!(opening.moves.len(), plies as usize);
        for uci in &opening.moves {
            position.play(uci).expect("it was checked");
        }
        assert!(position.over().is_none());
    }
}

fuzz_target!(|input: &[u8]| {
    let Some(([chess960, plies], bytes)) = input.split_first_chunk() else { return };
    let variant = if chess960 % 2 == 1 { Variant::Chess960 } else { Variant::Standard };
    let plies = u32::from(plies % 4);
    check(bytes, variant, plies);
    // An entry whose key begins with a zero byte is one of the starting position, which makes more
    // of them mean something.
    let start = Position::default().polyglot_key().to_be_bytes();
    let mut entries: Vec<[u8; 16]> = bytes.as_chunks().0.to_vec();
    for entry in &mut entries {
        if entry[0] == 0 {
            entry[..8].copy_from_slice(&start);
        }
    }
    entries.sort_unstable_by_key(|entry| entry[..8].to_vec());
    check(entries.as_flattened(), variant, plies);
});
