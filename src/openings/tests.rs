//! Books of every format, good and broken.

use std::ops::ControlFlow;

use pgn_reader::{RawTag, Reader, SanPlus, Visitor};
use proptest::prelude::*;

use super::*;
use crate::chess::Position;

const CHESS960: BookOptions = BookOptions { variant: Variant::Chess960, plies: None, format: None };

fn read(text: &str, options: &BookOptions) -> Result<Vec<(String, String)>, String> {
    let book = Book::from_bytes("books/b", text, options).map_err(|error| error.to_string());
    check_pieces(text, options, book.as_ref());
    let book = book?;
    let openings = (0..book.len()).map(|index| {
        let opening = book.opening(index).expect("readable").expect("in range");
        assert_eq!(opening.index, index as u64);
        (opening.fen, opening.moves.join(" "))
    });
    let openings = openings.collect();
    assert_eq!(book.opening(book.len()).expect("readable"), None);
    Ok(openings)
}

/// The size of the pieces in which a book is read does not affect openings, lines and faults.
fn check_pieces(text: &str, options: &BookOptions, whole: Result<&Book, &String>) {
    let format = options.format.unwrap_or_else(|| sniff(text.as_bytes()));
    for size in [1, 2, 7, 100] {
        let mut store = Store::new();
        let read = match format {
            BookFileFormat::Pgn => pgn::read_in_chunks(size, text.as_bytes(), options, &mut store),
            // A piece holds a line at least.
            BookFileFormat::Epd => {
                epd::read_in_chunks(size + 200, text.as_bytes(), Care::Checked(options.variant), &mut store)
            }
            BookFileFormat::Polyglot => return,
        };
        let lines = read.map(|()| store.finish().expect("stored")).map_err(|trouble| trouble.of("books/b").to_string());
        match (lines, whole) {
            (Ok(lines), Ok(book)) => {
                assert_eq!(lines.len(), book.len(), "{size}: {text}");
                let line = |lines: &StoredLines, at| lines.line(at).expect("readable");
                assert!((0..book.len()).all(|at| line(&lines, at) == line(&book.lines, at)), "{size}: {text}");
            }
            (Ok(lines), Err(error)) => assert!(lines.len() == 0 && error.contains("no opening"), "{size}: {text}"),
            (Err(error), whole) => assert_eq!(Some(&error), whole.err(), "{size}: {text}"),
        }
    }
}

fn check(text: &str, options: &BookOptions, expected: &[(&str, &str)]) {
    let expected = expected.iter().map(|(fen, moves)| ((*fen).to_owned(), (*moves).to_owned())).collect();
    assert_eq!(read(text, options), Ok(expected), "{text}");
}

#[test]
fn positions_in_every_form() {
    let standard = BookOptions::default();
    let kings = "4k3/8/8/8/8/8/4P3/4K3 w - -";
    let at = |counters: &str| format!("{kings} {counters}");
    let lines = [
        (kings.to_owned(), at("0 1")),
        (at("7 31"), at("7 31")),
        (at("7 31 ; a comment"), at("7 31")),
        (at("7 31; bm e4;"), at("7 31")),
        (at("hmvc 5; fmvn 20;"), at("5 20")),
        (at("fmvn 20 ; hmvc 5"), at("5 20")),
        (at("bm e4; id \"a; hmvc 9; b\"; fmvn 2;"), at("0 2")),
        (at("c0 \"caf\u{e9}\";"), at("0 1")),
        (at(";"), at("0 1")),
        (format!("  \t{kings}\t"), at("0 1")),
    ];
    for (line, fen) in &lines {
        check(line, &standard, &[(fen, "")]);
    }
    let (a, b) = (START_FEN, at("0 1"));
    let expected = [(a, ""), (b.as_str(), "")];
    check(&format!("{a}\n{kings}"), &standard, &expected);
    check(&format!("\u{feff}{a}\r\n{kings}\r\n"), &standard, &expected);
    check(&format!("# a book\n\n{a}\n   \n#{a}\n{kings}\n\n\n"), &standard, &expected);
    let frc = "1r2k2r/8/8/8/8/8/8/1R2K2R w HBhb - 0 1";
    check(frc, &CHESS960, &[(frc, "")]);
}

#[test]
fn broken_positions() {
    let standard = BookOptions::default();
    let kings = "4k3/8/8/8/8/8/4P3/4K3 w - -";
    let cases = [
        ("", "the book books/b has no opening"),
        ("# nothing\n\n", "the book books/b has no opening"),
        (
            "junk",
            "books/b:1: a position has the four fields board, side to move, castling and en passant; correct or delete it",
        ),
        ("4k3/8/8/8/8/8/4P3/4K3 w -", "books/b:1: a position has the four fields"),
        ("4k3/8/8/8/8/8/4P3/4K3 x - -", "books/b:1: malformed FEN (invalid turn part in fen)"),
        ("4k3/8/8/8/8/8/4P3/8 w - -", "books/b:1: illegal position: missing king"),
        ("4k3/8/8/8/8/8/4P3/4K3 w K -", "a Chess960 position needs `--chess960`"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 5", "books/b:1: the move number is not a number below 10000"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - -1 1", "books/b:1: the halfmove clock is not a number below 10000"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 0 10000", "books/b:1: the move number is not a number below 10000"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - hmvc x;", "books/b:1: hmvc is not a number below 10000"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - fmvn;", "books/b:1: fmvn is not a number below 10000"),
        ("4k3/8/8/8/8/8/8/4K3 w - -", "books/b:1: the game is over here already (insufficient material)"),
        ("7k/5Q2/6K1/8/8/8/8/8 b - -", "books/b:1: the game is over here already (stalemate)"),
        ("7k/6Q1/6K1/8/8/8/8/8 b - -", "books/b:1: the game is over here already (checkmate)"),
        ("4k3/8/8/8/8/8/4P3/4K3 w - - 100 80", "books/b:1: the game is over here already (fifty moves)"),
    ];
    for (text, part) in cases {
        let error = read(text, &standard).expect_err(text);
        assert!(error.contains(part), "{text}: {error}");
        if !error.contains("no opening") {
            let later = read(&format!("{kings}\r\n#\n{text}\n{kings}\n"), &standard).expect_err(text);
            assert_eq!(later, error.replace("books/b:1:", "books/b:3:"));
        }
    }
}

#[test]
fn games() {
    let all = BookOptions::default();
    let two = BookOptions { plies: Some(2), ..all };
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 9";
    let with_fen = format!("[Event \"a \\\"b\\\" \\\\\"]\n[SetUp \"1\"]\n[FEN \"{fen}\"]\n\n9... O-O 10. 0-0-0 *\n");
    check("1. e4 e5 2. Nf3 1-0", &all, &[(START_FEN, "e2e4 e7e5 g1f3")]);
    check("1. e4 e5 2. Nf3 1-0", &two, &[(START_FEN, "e2e4 e7e5")]);
    check("1.e4 e5 2.Nf3", &all, &[(START_FEN, "e2e4 e7e5 g1f3")]);
    check("1 e4 1... e5!? 2. Nf3+- *", &two, &[(START_FEN, "e2e4 e7e5")]);
    check(&with_fen, &all, &[(fen, "e8g8 e1c1")]);
    check(&with_fen, &CHESS960, &[(fen, "e8h8 e1a1")]);
    check(&with_fen, &BookOptions { plies: Some(0), ..all }, &[(fen, "")]);
    let noisy = "\u{feff}[Event \"x\"]\r\n% escaped ( { line\r\n\r\n{ [not a tag] } 1. e4 $1 {comment\r\nover lines} (1. d4 d5 (1... Nf6 {)}) 2. c4) e5 ; rest ( of line\r\n2. Nf3 ?! 1/2-1/2\r\n\r\n[Event \"y\"]\r\n\r\n1. d4 *";
    check(noisy, &all, &[(START_FEN, "e2e4 e7e5 g1f3"), (START_FEN, "d2d4")]);
    // No result: the next game begins at its tags, on any line.
    check("[A \"1\"]\n1. e4\n\n[A \"2\"]\n1. d4", &all, &[(START_FEN, "e2e4"), (START_FEN, "d2d4")]);
    check("[A \"1\"] 1. e4 [A \"2\"] 1. d4", &all, &[(START_FEN, "e2e4"), (START_FEN, "d2d4")]);
    check("[A \"1\"]\n*\n", &all, &[(START_FEN, "")]);
    // Moves beyond the book's plies are not checked.
    check("1. e4 e5 2. Ke8 Qq4 *", &two, &[(START_FEN, "e2e4 e7e5")]);
    check("1. f3 e5 2. g4 Qh4# 0-1", &BookOptions { plies: Some(3), ..all }, &[(START_FEN, "f2f3 e7e5 g2g4")]);
}

#[test]
fn broken_games() {
    let all = BookOptions::default();
    let good = "[Event \"x\"]\n\n1. e4 *\n\n";
    let cases = [
        ("1. e4 e5\n2. Ke8 *", 2, "`Ke8` is not legal here"),
        // A lenient reader would skip the word and play another opening.
        ("1. e4 e5\n2. Qq4 Nf6 *", 2, "`Qq4` is not a move"),
        ("1. e4 e5\n2. Nd2 *", 2, "`Nd2` is not legal here"),
        ("1. e4 {never\nclosed", 1, "comment `{` without `}`"),
        ("1. e4\n(1. d4 (1. c4) 1-0\n\n", 2, "variation `(` without `)`"),
        ("1. e4\n) e5 *", 2, "`)` without `(`"),
        ("1. e4 = *", 1, "`=` is neither a move nor a result"),
        ("1. e4 -- 2. d4 *", 1, "`--` is neither a move nor a result"),
        ("[Event x]\n\n1. e4 *", 1, "broken tag; it should read [Name \"value\"]"),
        ("[Event \"x]\n\n1. e4 *", 1, "broken tag; it should read [Name \"value\"]"),
        ("[FEN \"junk\"]\n\n1. e4 *", 1, "`junk`: malformed FEN (fewer than 4 fields)"),
        (
            "[Event \"?\"]\n[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 0 10000\"]\n\n1. e4 *",
            2,
            "`4k3/8/8/8/8/8/4P3/4K3 w - - 0 10000`: the move number is not a number below 10000",
        ),
        (
            "[FEN \"4k3/8/8/8/8/8/4P3/4K3 w - - 10000 1\"]\n\n1. e4 *",
            1,
            "`4k3/8/8/8/8/8/4P3/4K3 w - - 10000 1`: the halfmove clock is not a number below 10000",
        ),
        (
            "1. f3 e5 2. g4 Qh4# 0-1",
            1,
            "the game is over after its 4 book plies (checkmate); play fewer plies with `--book-plies`",
        ),
        (
            "[FEN \"4k3/8/8/8/8/8/8/4K3 w - - 0 1\"]\n\n*",
            1,
            "the game is over after its 0 book plies (insufficient material)",
        ),
        ("* *", 1, "a result without tags and moves"),
        (&format!("1. {}", "=".repeat(150)), 1, &format!("`{}…` is neither a move nor a result", "=".repeat(40))),
        (&"x".repeat(3 << 20), 1, &format!("`{}…` has 3145728 bytes, which no move has", "x".repeat(40))),
        (
            &format!("[FEN \"{}\"]\n\n*", "x".repeat(1 << 20)),
            1,
            &format!("`{}…`: malformed FEN (fewer than 4 fields)", "x".repeat(100)),
        ),
    ];
    for (text, line, fault) in cases {
        let error = read(&format!("{good}{text}"), &all).expect_err(text);
        assert_eq!(error, format!("books/b:{}: game 2: {fault}; correct or delete it", line + 4), "{text}");
    }
}

#[test]
fn files_and_formats() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("write");
        path
    };
    let game = b"1. e4 *";
    let line = START_FEN.as_bytes();
    let cases: [(&str, &[u8], BookFileFormat); 9] = [
        ("a.pgn", game, BookFileFormat::Pgn),
        ("a.PGN", game, BookFileFormat::Pgn),
        ("a.epd", line, BookFileFormat::Epd),
        ("a.fen", line, BookFileFormat::Epd),
        ("a", game, BookFileFormat::Pgn),
        ("b.txt", line, BookFileFormat::Epd),
        ("c.txt", b"\xef\xbb\xbf\r\n[Event \"x\"]\r\n1. e4 *", BookFileFormat::Pgn),
        ("d.txt", b"# positions\n1k6/8/8/8/8/8/4P3/4K3 w - -", BookFileFormat::Epd),
        ("e.txt", b"{ a game } 1. e4 *", BookFileFormat::Pgn),
    ];
    for (name, bytes, format) in cases {
        let book = Book::load(&write(name, bytes), &BookOptions::default()).expect(name);
        assert_eq!((book.format(), book.len()), (format, 1), "{name}");
    }
    // The user's choice of format wins.
    let forced = BookOptions { format: Some(BookFileFormat::Pgn), ..BookOptions::default() };
    assert_eq!(Book::load(&write("f.epd", game), &forced).expect("forced").format(), BookFileFormat::Pgn);

    let missing = folder.path().join("missing.epd");
    let error = Book::load(&missing, &BookOptions::default()).expect_err("missing").to_string();
    assert!(error.starts_with(&format!("cannot read the book {}: ", missing.display())), "{error}");
    // The format is found by the bytes and not by the name; the hash is the file's.
    let entry = [b"\x46\x3b\x96\x18\x16\x91\xfc\x9c\x03\x1c\x00\x01".as_slice(), &[0; 4]].concat();
    let cases: [(&str, &[u8], BookFileFormat); 8] = [
        ("g.pgn.gz", game, BookFileFormat::Pgn),
        ("g.epd", line, BookFileFormat::Epd),
        ("g.EPD.GZ", line, BookFileFormat::Epd),
        ("g.gz", game, BookFileFormat::Pgn),
        ("g.pgn", game, BookFileFormat::Pgn),
        ("g.txt", line, BookFileFormat::Epd),
        ("g.bin.gz", &entry, BookFileFormat::Polyglot),
        ("g.gz", &entry, BookFileFormat::Polyglot),
    ];
    let one = BookOptions { plies: Some(1), ..BookOptions::default() };
    for (name, bytes, format) in cases {
        let plain = Book::load(&write(&name.to_lowercase().replace(".gz", ""), bytes), &one).expect(name);
        for packing in [Packing::Gzip, Packing::Zstd] {
            let path = write(name, &packing.pack(bytes).expect("packed"));
            let book = Book::load(&path, &one).expect(name);
            assert_eq!((book.format(), book.len(), book.packing()), (format, 1, Some(packing)), "{name}");
            let first = |book: &Book| book.opening(0).expect("readable");
            assert_eq!(first(&book), first(&plain), "{name}");
            assert_eq!(book.sha256(), hex(&Sha256::digest(std::fs::read(&path).expect("read"))));
        }
    }
    for name in ["h.bin", "h.book"] {
        let book = Book::load(&write(name, &entry), &one).expect(name);
        assert_eq!(
            (book.format(), book.opening(0).expect("readable").expect("one").moves),
            (BookFileFormat::Polyglot, vec!["e2e4".to_owned()])
        );
    }
    let cases: [(&str, &[u8], &str); 6] = [
        ("b.epd", b"\x1f\x8b\x08", "is a broken gzip archive: it ends too early; fetch or pack it again"),
        ("b.epd", b"\x28\xb5\x2f\xfd\x04", "is a broken zstd archive: it ends too early; fetch or pack it again"),
        ("b.zip", b"PK\x03\x04", "is a zip archive; unpack it first"),
        ("b.bin", b"", "has no opening"),
        (
            "b.bin",
            &entry[..15],
            ": 15 bytes are not a multiple of Polyglot's 16-byte entries; the file is truncated, or not a Polyglot book",
        ),
        ("b.bin", &entry, ": its longest line has 1 plies; ask for as many with `--book-plies 1`"),
    ];
    for (name, bytes, end) in cases {
        let path = write(name, bytes);
        let error = Book::load(&path, &BookOptions::default()).expect_err(name).to_string();
        assert!(error.starts_with(&format!("the book {}", path.display())) && error.ends_with(end), "{error}");
    }

    // The sum that the `sha256sum` program prints for these bytes.
    let book = Book::from_bytes("builtin", line, &BookOptions::default()).expect("builtin");
    assert_eq!(book.sha256(), "b1791d7fc9ae3d38966568c257ffb3a02cbf8394cdb4805bc70f64fc3c0b6879");
    assert_eq!(book.name(), "builtin");
}

/// A small archive does not become a large book, and a file that is not a book ends at its first
/// line.
#[test]
fn bombs_end_early() {
    let comments = b"# nothing\n".repeat(100_000);
    for packing in [Packing::Gzip, Packing::Zstd] {
        let kind = packing.name();
        let member = packing.pack(&comments).expect("packed");
        let check = |bomb: &[u8], end: &str| {
            let error = Book::from_bytes("b", bomb, &BookOptions::default()).expect_err("a bomb").to_string();
            assert!(error.ends_with(end), "{kind}: {error}");
        };
        let limit = "archive of more than 64 MiB, too much for its size; unpack it first if it is a book, or split it";
        check(&member.repeat(80), limit);
        let zeros = packing.pack(&vec![b'0'; 1 << 20]).expect("packed");
        check(&zeros, "b:1: the line is longer than 65536 bytes; correct or delete it");
        let no_game = packing.pack(&[b"1. e4 {", vec![b'x'; 5 << 20].as_slice()].concat()).expect("packed");
        check(&no_game, "b:1: game 1: comment `{` without `}`; correct or delete it");
        let one_game = packing.pack(&[b"1. e4 ", "$1 ".repeat(2 << 20).as_bytes()].concat()).expect("packed");
        check(&one_game, "b:1: game 1: it is longer than 4194304 bytes; correct or delete it");
    }
}

/// Far more than one piece: the parts are checked in parallel, and lines keep their numbers.
#[test]
fn long_lists_are_read_in_parts() {
    let line = |number: usize| format!("4k3/8/8/8/8/8/4P3/4K3 w - - hmvc 0; fmvn {};", number % 9000 + 1);
    let lines: Vec<String> = (0..30_000).map(|at| if at % 100 == 0 { "# note".to_owned() } else { line(at) }).collect();
    let book = |lines: &[String]| {
        let text = lines.join("\n");
        let mut store = Store::new();
        epd::read_in_chunks(700_000, text.as_bytes(), Care::Checked(Variant::Standard), &mut store)
            .map(|()| store.finish().expect("stored"))
            .map_err(|trouble| trouble.of("b").to_string())
    };
    let read = book(&lines).expect("good lines");
    let kept: Vec<_> = lines.iter().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(read.len(), kept.len());
    let line = |at| read.line(at).expect("readable");
    assert!((0..read.len()).all(|at| line(at).as_deref() == Some(kept[at].as_bytes())));
    for at in [0, 1, 15_000, 29_999] {
        let mut broken = lines.clone();
        broken[at] = "junk".to_owned();
        // A later fault is not reported first.
        broken[29_999] = "junk".to_owned();
        let error = book(&broken).map(|lines| lines.len()).expect_err("broken");
        assert!(error.starts_with(&format!("b:{}: a position has", at + 1)), "{error}");
    }
}

/// The games as a general PGN reader sees them: FEN tag and main line.
struct Games;

impl Visitor for Games {
    type Tags = Option<String>;
    type Movetext = (String, Position, Vec<String>);
    type Output = (String, String);

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(None)
    }

    fn tag(&mut self, tags: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        if name == b"FEN" {
            *tags = Some(value.decode_utf8_lossy().into_owned());
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: Self::Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        let fen = tags.unwrap_or_else(|| START_FEN.to_owned());
        let position = Position::from_fen(&fen, Variant::Standard).expect("good books only");
        ControlFlow::Continue((fen, position, Vec::new()))
    }

    fn san(&mut self, game: &mut Self::Movetext, san: SanPlus) -> ControlFlow<Self::Output> {
        game.2.push(game.1.play_san(&san.to_string()).expect("good books only").uci);
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, game: Self::Movetext) -> Self::Output {
        (game.0, game.2.join(" "))
    }
}

/// A game as text of a PGN file, with anything that may stand between moves.
fn any_game() -> impl Strategy<Value = String> {
    let noise = prop_oneof![
        8 => Just(" "),
        1 => Just("\n"),
        1 => Just(" {a comment ( [x] 1-0 ; }\n"),
        1 => Just(" ; to the end of the line {\n"),
        1 => Just(" (1. d4 {x)} (2. c4 Nf6) d5) "),
        1 => Just(" $14 "),
        1 => Just("!? "),
    ];
    let tags = prop_oneof![
        Just(""),
        Just("[Event \"a \\\"]\\\" b\"]\n[FEN \"4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1\"]\n\n")
    ];
    let result = prop_oneof![Just("1-0"), Just("0-1"), Just("1/2-1/2"), Just("*")];
    (tags, proptest::collection::vec((any::<u16>(), noise, 0..3u8), 1..30), result).prop_map(|(tags, plies, result)| {
        let fen = if tags.is_empty() { START_FEN } else { "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - - 0 1" };
        let mut position = Position::from_fen(fen, Variant::Standard).expect("start");
        let mut text = tags.to_owned();
        for (ply, (pick, noise, number)) in plies.into_iter().enumerate() {
            let legal = position.legal_moves();
            let mut after = position.clone();
            let san = after.play_to_san(&legal[usize::from(pick) % legal.len()]).expect("legal");
            if after.over().is_some() {
                break;
            }
            position = after;
            let dots = if ply % 2 == 0 { "." } else { "..." };
            match number {
                0 => {}
                1 => text.push_str(&format!("{}{dots}", ply / 2 + 1)),
                _ => text.push_str(&format!("{}{dots} ", ply / 2 + 1)),
            }
            text.push_str(&san);
            text.push_str(noise);
        }
        format!("{text} {result}\n\n")
    })
}

proptest! {
    #[test]
    fn good_games_read_as_by_a_general_reader(games in proptest::collection::vec(any_game(), 1..4)) {
        let text = games.concat();
        let mut reader = Reader::new(text.as_bytes());
        let expected: Vec<_> = reader.read_games(&mut Games).map(|game| game.expect("good books only")).collect();
        prop_assert_eq!(read(&text, &BookOptions { format: Some(BookFileFormat::Pgn), ..BookOptions::default() }), Ok(expected));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), near in "([\\[\\](){};$%*\"\\\\ \n0-9.]|[KQRNBa-h1-8x=+#O-]{1,4}){0,40}") {
        for bytes in [bytes, near.into_bytes()] {
            for format in [BookFileFormat::Epd, BookFileFormat::Pgn, BookFileFormat::Polyglot] {
                let options = BookOptions { format: Some(format), plies: Some(3), ..BookOptions::default() };
                if let Ok(book) = Book::from_bytes("b", bytes.clone(), &options) {
                    prop_assert!((0..book.len()).all(|index| book.opening(index).expect("readable").is_some()));
                }
            }
        }
    }

    /// Positions of random games, in every form that a line may have, with anything that may stand
    /// between lines.
    #[test]
    fn no_position_is_lost(lines in proptest::collection::vec(
        (proptest::collection::vec(any::<u16>(), 0..30), 0..4u8, prop_oneof![Just("\n"), Just("\r\n"), Just(" \n\n# a comment\n\t\n")]), 1..12,
    )) {
        let mut text = String::new();
        let mut expected = Vec::new();
        for (picks, form, end) in lines {
            let mut position = Position::default();
            for pick in picks {
                let mut after = position.clone();
                let legal = position.legal_moves();
                after.play(&legal[usize::from(pick) % legal.len()]).expect("legal");
                if after.over().is_some() {
                    break;
                }
                position = after;
            }
            let fen = position.fen();
            let (bare, halfmoves, fullmoves) = (fen.split(' ').take(4).collect::<Vec<_>>().join(" "), position.halfmoves(), position.fullmoves());
            text.push_str(&match form {
                0 => fen.clone(),
                1 => format!("{bare} hmvc {halfmoves}; fmvn {fullmoves}; id \"a; b\";"),
                2 => format!("  {fen} ; c0 x"),
                _ => format!("{bare} fmvn {fullmoves} ; hmvc {halfmoves}"),
            });
            text.push_str(end);
            expected.push((fen, String::new()));
        }
        prop_assert_eq!(read(&text, &BookOptions::default()), Ok(expected), "{}", text);
    }
}
