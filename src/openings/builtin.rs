//! The books inside the program: the current one, and those of runs that earlier versions began.

use crate::chess::Variant;
use crate::openings::{Book, BookError};

/// Name of the book inside the program, in messages and tags.
const NAME: &str = "quintain_8ply.epd";

/// The current book: `openings/quintain_8ply.epd.zst`, 100,000 openings.
const TODAY: &[u8] = include_bytes!("../../openings/quintain_8ply.epd.zst");

/// Earlier books by the SHA-256 in plans of their time.
const EARLIER: [(&str, &[u8]); 1] = [
    // 10,000 openings, until 2026-11-22; the plans hold the SHA-256 of the text.
    (
        "aff0abc80f1e9e4e0fd9ca8e95bff03aef43a8f3fab57d1305b561ac19e02ab8",
        include_bytes!("../../openings/quintain_8ply_10000.epd.zst"),
    ),
];

/// The book of new runs.
///
/// # Errors
/// As [`Book::from_program`].
pub fn book(variant: Variant) -> Result<Book, BookError> {
    Book::from_program(NAME, TODAY, variant)
}

/// The book that a plan names by its SHA-256; `None` if this program does not have it.
///
/// # Errors
/// As [`Book::from_program`].
pub fn book_of(sha256: &str, variant: Variant) -> Result<Option<Book>, BookError> {
    if let Some((_, bytes)) = EARLIER.iter().find(|(earlier, _)| *earlier == sha256) {
        return Book::from_program(NAME, bytes, variant).map(Some);
    }
    Ok(Some(book(variant)?).filter(|book| book.sha256() == sha256))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openings::maker::epd;

    /// Runs of earlier versions continue with the openings that they began with.
    #[test]
    fn earlier_books_are_what_their_plans_name() {
        for (sha256, _) in EARLIER {
            let book = book_of(sha256, Variant::Standard).expect("readable").expect("there");
            let lines = book.openings().map(|opening| epd(&opening.expect("readable").fen) + "\n");
            assert_eq!(crate::text::sha256(lines.collect::<String>().as_bytes()), sha256);
        }
    }

    #[test]
    fn the_book_of_new_runs_is_large_and_found_by_its_hash() {
        let today = book(Variant::Standard).expect("readable");
        assert!(today.len() >= 100_000, "{}", today.len());
        let found = book_of(today.sha256(), Variant::Chess960).expect("readable").expect("there");
        let last = |book: &Book| book.opening(99_999).expect("readable");
        assert_eq!((found.len(), last(&found)), (today.len(), last(&today)));
        assert!(book_of(&"0".repeat(64), Variant::Standard).expect("readable").is_none());
    }
}
