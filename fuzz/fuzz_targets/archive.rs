//! Books in archives, gzip and zstd, as bytes come and packed from them: no panic, no more memory
//! than the limits give.
#![no_main]

use libfuzzer_sys::fuzz_target;
use quintain::openings::{Book, BookOptions, Packing};

fuzz_target!(|bytes: &[u8]| {
    let options = BookOptions { plies: Some(4), ..BookOptions::default() };
    let plain = Book::from_bytes("fuzz", bytes, &options);
    if Packing::of_bytes(bytes).is_some() {
        return;
    }
    for packing in [Packing::Gzip, Packing::Zstd] {
        let packed = packing.pack(bytes).expect("memory takes it");
        let book = Book::from_bytes("fuzz", &packed, &options);
        match (&plain, &book) {
            (Ok(plain), Ok(book)) => {
                assert_eq!((plain.format(), plain.len()), (book.format(), book.len()));
                let last = |book: &Book| book.opening(book.len() - 1).expect("readable");
                assert_eq!(last(plain), last(book));
            }
            (Err(plain), Err(book)) => assert_eq!(plain.to_string(), book.to_string()),
            _ => panic!("{packing:?}: {plain:?}, {book:?}"),
        }
    }
});
