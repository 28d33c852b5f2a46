//! Description of a book and of its faults.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;

use crate::chess::{Position, Variant};
use crate::openings::maker::PositionSet;
use crate::openings::{self, Book, BookError, BookFileFormat, BookOptions, Packing};
use crate::record::{Color, Opening};
use crate::run::error::RunError;
use crate::run::progress;

/// Broken lines that are named; of the others only the number is printed.
const MOST_NAMED: u64 = 20;

/// Contents of a book.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
struct Description {
    file: String,
    format: &'static str,
    /// `gzip` or `zstd`.
    packing: Option<&'static str>,
    openings: u64,
    /// Openings with the end position of an earlier one: board, side to move, castling rights, en
    /// passant.
    duplicates: u64,
    white_to_move: u64,
    black_to_move: u64,
    /// Fewest and most plies from the starting position; `None` if the lines have no move counters.
    plies_min: Option<u32>,
    plies_max: Option<u32>,
    sha256: String,
}

/// Counts of `book check`; `None` for those that are not known.
#[derive(Debug, Default, Serialize)]
struct BookCheck {
    openings: Option<u64>,
    duplicates: Option<u64>,
    faults: Option<u64>,
}

/// Description of the book as text or JSON.
pub(super) fn info(path: &Path, options: &BookOptions, json: bool) -> Result<String> {
    let book = super::open(path, options)?;
    let description = describe(&book, options.variant)?;
    Ok(if json { serde_json::to_string_pretty(&description)? } else { text(&description) })
}

/// Reads every opening and prints broken ones on stderr. Returns an error if there are any.
pub(super) fn check(path: &Path, options: &BookOptions, json: bool) -> Result<String> {
    let error = match super::open(path, options) {
        Ok(book) => {
            let Description { file, openings, duplicates, .. } = describe(&book, options.variant)?;
            let counts = BookCheck { openings: Some(openings), duplicates: Some(duplicates), faults: Some(0) };
            return Ok(if json {
                serde_json::to_string_pretty(&counts)?
            } else {
                format!("{file}: all {openings} openings can be played, {duplicates} duplicates")
            });
        }
        Err(RunError::Book(error @ (BookError::Opening { .. } | BookError::Polyglot { .. }))) => error,
        Err(error) => return Err(error.into()),
    };
    // The faults of other books cannot be listed, so the first one is returned.
    let faults = Some(faults(path, options)?).filter(|faults| *faults > 0);
    if json {
        let counts = BookCheck { faults, ..BookCheck::default() };
        progress::result(&serde_json::to_string_pretty(&counts)?);
    }
    match faults {
        None => Err(error.into()),
        Some(1) => bail!("{}: 1 line cannot be played; correct or delete it", path.display()),
        Some(faults) => bail!("{}: {faults} lines cannot be played; correct or delete them", path.display()),
    }
}

/// Prints the broken lines of an EPD or FEN list on stderr and counts them; 0 for any other book.
fn faults(path: &Path, options: &BookOptions) -> Result<u64, BookError> {
    let mut named = 0;
    let faults = openings::faults(path, options, |line, fault| {
        named += 1;
        if named <= MOST_NAMED {
            progress::note(&format!("{}:{line}: {fault}", path.display()));
        }
    })?;
    if faults > MOST_NAMED {
        progress::note(&format!("and {} more", faults - MOST_NAMED));
    }
    Ok(faults)
}

/// End position of an opening.
pub(super) fn end(opening: &Opening, variant: Variant) -> Result<Position> {
    let mut position = Position::from_fen(&opening.fen, variant)?;
    for played in &opening.moves {
        position.play(played)?;
    }
    Ok(position)
}

fn describe(book: &Book, variant: Variant) -> Result<Description> {
    let mut description = Description {
        file: book.name().to_owned(),
        format: book.format().name(),
        packing: book.packing().map(Packing::name),
        sha256: book.sha256().to_owned(),
        ..Description::default()
    };
    let mut places = PositionSet::default();
    let mut plies: Option<(u32, u32)> = None;
    for opening in book.openings() {
        let position = end(&opening?, variant)?;
        description.openings += 1;
        description.duplicates += u64::from(!places.insert(&position.fen()));
        let black = position.turn() == Color::Black;
        *(if black { &mut description.black_to_move } else { &mut description.white_to_move }) += 1;
        let depth = position.fullmoves().saturating_sub(1) * 2 + u32::from(black);
        plies = Some(plies.map_or((depth, depth), |(least, most)| (least.min(depth), most.max(depth))));
    }
    // EPD lines without counters are all at move 1, which is not a depth.
    let told = plies.filter(|(_, most)| *most > 1 || book.format() != BookFileFormat::Epd);
    (description.plies_min, description.plies_max) = told.unzip();
    Ok(description)
}

fn text(description: &Description) -> String {
    let plies = match (description.plies_min, description.plies_max) {
        (Some(least), Some(most)) if least == most => least.to_string(),
        (Some(least), Some(most)) => format!("{least} to {most}"),
        _ => "unknown".to_owned(),
    };
    let mut out = String::new();
    // Writing into memory cannot fail.
    let _ = write!(
        out,
        "{}\nformat      {}{}\nopenings    {}\nduplicates  {}\nto move     White {}, Black {}\nplies       {plies}\nsha256      {}",
        description.file,
        description.format,
        description.packing.map(|packing| format!(", packed by {packing}")).unwrap_or_default(),
        description.openings,
        description.duplicates,
        description.white_to_move,
        description.black_to_move,
        description.sha256,
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(bytes: &'static str) -> Book {
        Book::from_bytes("book", bytes.as_bytes(), &BookOptions::default()).expect("a book")
    }

    fn check_counts(
        bytes: &'static str,
        openings: u64,
        duplicates: u64,
        to_move: (u64, u64),
        plies: Option<(u32, u32)>,
    ) {
        let found = describe(&book(bytes), Variant::Standard).expect("described");
        assert_eq!(
            (found.openings, found.duplicates, (found.white_to_move, found.black_to_move)),
            (openings, duplicates, to_move),
            "{bytes}"
        );
        assert_eq!(found.plies_min.zip(found.plies_max), plies, "{bytes}");
    }

    #[test]
    fn what_a_book_holds() {
        const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";
        check_counts(START, 1, 0, (1, 0), None);
        // An en-passant square without a possible capture does not make another position.
        check_counts(
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1\n\
             rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1\n\
             rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - hmvc 0; fmvn 2;\n",
            3,
            1,
            (1, 2),
            Some((1, 2)),
        );
        check_counts("[Event \"a\"]\n\n1. e4 e5 *\n\n[Event \"b\"]\n\n1. d4 *\n", 2, 0, (1, 1), Some((1, 2)));
    }

    #[test]
    fn broken_lines_are_counted() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("book.epd");
        let good = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n";
        let standard = BookOptions::default();
        std::fs::write(&path, good).expect("written");
        assert!(check(&path, &standard, false).expect("sound").contains("all 1 openings"));
        let broken = format!("{good}junk\n\n# comment\n{good}8/8/8/8/8/8/8/8 w - -\n");
        for packed in [broken.clone().into_bytes(), Packing::Zstd.pack(broken.as_bytes()).expect("packed")] {
            std::fs::write(&path, packed).expect("written");
            assert_eq!(faults(&path, &standard).expect("read"), 2);
            let error = check(&path, &standard, false).expect_err("broken").to_string();
            assert!(error.ends_with("2 lines cannot be played; correct or delete them"), "{error}");
            assert!(info(&path, &standard, false).is_err());
        }
        std::fs::write(&path, format!("{good}junk\n")).expect("written");
        let error = check(&path, &standard, false).expect_err("broken").to_string();
        assert!(error.ends_with(": 1 line cannot be played; correct or delete it"), "{error}");
    }

    #[test]
    fn plies_of_a_list_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("book.epd");
        std::fs::write(&path, "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -\n").expect("written");
        let cut = BookOptions { plies: Some(8), ..BookOptions::default() };
        for refused in [info(&path, &cut, false), check(&path, &cut, false)] {
            let error = refused.expect_err("no moves").to_string();
            assert!(error.contains("a list of positions has no moves; leave out --book-plies"), "{error}");
        }
    }
}
