//! The rules of chess, as far as they are ours.

use super::*;

fn at(fen: &str, variant: Variant, moves: &str) -> Position {
    let mut position = Position::from_fen(fen, variant).expect(fen);
    for m in moves.split_whitespace() {
        position.play(m).expect(m);
    }
    position
}

#[test]
fn fens_that_are_refused() {
    use Variant::{Chess960, Standard};
    let cases = [
        ("", Standard, "fewer than 4 fields"),
        ("8/8/8/8/8/8/8/8", Standard, "fewer than 4 fields"),
        ("rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", Standard, "board"),
        ("4k3/8/8/8/8/8/8/4K3 x - - 0 1", Standard, "turn"),
        ("4k3/8/8/8/8/8/8/4K3 w - - -1 1", Standard, "halfmove"),
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1 junk", Standard, "malformed"),
        ("4k3/8/8/8/8/8/8/4K3[Q] w - - 0 1", Standard, "other variants"),
        ("8/8/8/8/8/8/8/4K3 w - - 0 1", Standard, "missing king"),
        ("4k3/8/8/8/8/8/8/3KK3 w - - 0 1", Standard, "too many kings"),
        ("4k3/8/8/8/8/8/8/P3K3 w - - 0 1", Standard, "backrank"),
        ("4k3/8/8/8/8/8/4R3/4K3 w - - 0 1", Standard, "opposite check"),
        ("4k3/8/8/8/8/8/8/4K3 w - e6 0 1", Standard, "invalid ep square"),
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", Standard, "--chess960"),
        ("4k3/8/8/8/8/8/8/4K3 w K - 0 1", Chess960, "invalid castling rights"),
        ("1k6/8/8/8/8/8/8/1R2K2R w HB - 0 1", Standard, "--chess960"),
    ];
    for (fen, variant, part) in cases {
        let error = Position::from_fen(fen, variant).expect_err(fen).to_string();
        assert!(error.contains(part), "{fen}: {error}");
    }
}

#[test]
fn starting_positions_of_chess960() {
    assert_eq!(
        Position::chess960(518, 518).expect("standard").fen(),
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w HAha - 0 1"
    );
    // The first and the last of Scharnagl's table.
    assert_eq!(
        Position::chess960(0, 959).expect("double").fen(),
        "rkrnnqbb/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFca - 0 1"
    );
    let all: std::collections::HashSet<String> =
        (0..960).filter_map(|n| Some(Position::chess960(n, 518)?.fen())).collect();
    assert_eq!(all.len(), 960);
    assert!(Position::chess960(960, 0).is_none() && Position::chess960(0, 960).is_none());
}

/// The keys that the description of the format gives (hgm.nubati.net/book_format.html).
#[test]
fn keys_of_polyglot() {
    let cases = [
        ("", 0x463b_9618_1691_fc9c),
        ("e2e4", 0x823c_9b50_fd11_4196),
        ("e2e4 d7d5", 0x0756_b944_61c5_0fb0),
        ("e2e4 d7d5 e4e5", 0x662f_afb9_65db_29d4),
        ("e2e4 d7d5 e4e5 f7f5", 0x22a4_8b5a_8e47_ff78),
        ("e2e4 d7d5 e4e5 f7f5 e1e2", 0x652a_607c_a3f2_42c1),
        ("e2e4 d7d5 e4e5 f7f5 e1e2 e8f7", 0x00fd_d303_c946_bdd9),
        ("a2a4 b7b5 h2h4 b5b4 c2c4", 0x3c81_23ea_7b06_7637),
        ("a2a4 b7b5 h2h4 b5b4 c2c4 b4c3 a1a3", 0x5c3f_9b82_9b27_9560),
    ];
    for (moves, key) in cases {
        assert_eq!(at(START_FEN, Variant::Standard, moves).polyglot_key(), key, "{moves}");
    }
}

#[test]
fn fens_are_written_as_they_were_read() {
    use Variant::{Chess960, Standard};
    let cases = [
        (START_FEN, Standard, START_FEN),
        ("4k3/8/8/8/8/8/8/4K3 b - -", Standard, "4k3/8/8/8/8/8/8/4K3 b - - 0 1"),
        ("4k3/8/8/8/8/8/8/4K3 b - - 7 31", Standard, "4k3/8/8/8/8/8/8/4K3 b - - 7 31"),
        // No pawn can take: the en-passant square says nothing.
        (
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
            Standard,
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        ),
        // Engines for standard chess do not know rook files.
        ("r3k2r/8/8/8/8/8/8/R3K2R w HAha - 0 1", Standard, "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"),
        ("r3k2r/8/8/8/8/8/8/R3K2R b Ah - 3 9", Standard, "r3k2r/8/8/8/8/8/8/R3K2R b Qk - 3 9"),
        ("1r2k2r/8/8/8/8/8/8/1R2K2R w HBhb - 0 1", Chess960, "1r2k2r/8/8/8/8/8/8/1R2K2R w HBhb - 0 1"),
        ("1r2k2r/8/8/8/8/8/8/1R2K2R w KQkq - 0 1", Chess960, "1r2k2r/8/8/8/8/8/8/1R2K2R w KQkq - 0 1"),
    ];
    for (fen, variant, written) in cases {
        assert_eq!(at(fen, variant, "").fen(), written, "{fen}");
    }
    // Rights that are lost on the way vanish in Shredder's form too.
    let moved = at("1r2k2r/8/8/8/8/8/8/1R2K2R w HBhb - 0 1", Chess960, "h1h8");
    assert_eq!(moved.fen(), "1r2k2R/8/8/8/8/8/8/1R2K3 b Bb - 0 1");
    let bare = at("1r2k2r/8/8/8/8/8/8/1R2K2R w HBhb - 0 1", Chess960, "e1e2 e8e7");
    assert_eq!(bare.fen(), "1r5r/4k3/8/8/8/8/4K3/1R5R w - - 2 2");
}

#[test]
fn move_texts_that_are_refused() {
    let promotion = "8/4P3/8/8/8/8/k7/4K3 w - - 0 1";
    let malformed = [
        "", "e2", "(none)", "E2E4", "e2e4x", "e7e8Q", "e7e8=q", "e7e8k", "e2-e4", "P@e4", "e2e9", "i2i4", " e2e4",
        "e2e4\r", "\0\0\0\0", "é2e4", "null", "O-O",
    ];
    let illegal = ["0000", "e2e4", "e7e8", "e1e3", "e1g1", "a2a3", "a1a1", "e7d8q"];
    for text in malformed {
        let error = at(promotion, Variant::Standard, "").play(text).expect_err(text);
        assert!(matches!(error, MoveError::Malformed(_)), "{text}: {error:?}");
    }
    for text in illegal {
        let error = at(promotion, Variant::Standard, "").play(text).expect_err(text);
        assert!(matches!(error, MoveError::Illegal(_)), "{text}: {error:?}");
    }
    let flood = "\u{1b}[2J".repeat(1000);
    let shown = at(promotion, Variant::Standard, "").play(&flood).expect_err("flood").to_string();
    assert!(shown.len() < 300 && !shown.contains('\u{1b}'), "{shown}");
}

#[test]
fn a_refused_move_changes_nothing() {
    let mut position = Position::default();
    for text in ["e2e5", "junk", "0000"] {
        position.play(text).expect_err(text);
        position.play_to_san(text).expect_err(text);
    }
    position.play_san("Qq4").expect_err("Qq4");
    assert_eq!((position.fen().as_str(), position.repetitions()), (START_FEN, 1));
}

#[test]
fn castling_in_either_notation() {
    let castle = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    // King f1, rooks g1 and b1: f1g1 castles, f1e1 is a step.
    let odd = "1r3kr1/pppppppp/8/8/8/8/PPPPPPPP/1R3KR1 w GBgb - 0 1";
    let cases = [
        (castle, Variant::Standard, "e1g1", "e1g1", false),
        (castle, Variant::Standard, "e1h1", "e1g1", true),
        (castle, Variant::Standard, "e1a1", "e1c1", true),
        (castle, Variant::Chess960, "e1h1", "e1h1", false),
        (castle, Variant::Chess960, "e1g1", "e1h1", true),
        (castle, Variant::Chess960, "e1f1", "e1f1", false),
        (odd, Variant::Chess960, "f1g1", "f1g1", false),
        (odd, Variant::Chess960, "f1b1", "f1b1", false),
        (odd, Variant::Chess960, "f1e1", "f1e1", false),
    ];
    for (fen, variant, text, uci, foreign_castling) in cases {
        let played = at(fen, variant, "").play(text).expect(text);
        assert_eq!(played, PlayedMove { uci: uci.to_owned(), foreign_castling, zeroing: false }, "{text}");
    }
}

#[test]
fn ends_by_the_rules() {
    use Outcome::{BlackWins, Draw, WhiteWins};
    use Termination::{Checkmate, FiftyMoves, InsufficientMaterial, Stalemate, ThreefoldRepetition};
    let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1";
    let cases = [
        (START_FEN, "", None),
        (START_FEN, "f2f3 e7e5 g2g4 d8h4", Some((BlackWins, Checkmate))),
        (START_FEN, "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7", Some((WhiteWins, Checkmate))),
        (START_FEN, shuffle, None),
        (START_FEN, &format!("{shuffle} f6g8"), Some((Draw, ThreefoldRepetition))),
        // The double push can't be answered en passant, so the position after it counts from the
        // first time.
        (START_FEN, "e2e4 g8f6 g1f3 f6g8 f3g1 g8f6 g1f3 f6g8 f3g1", Some((Draw, ThreefoldRepetition))),
        // Here it can: the first standing of the position is another one.
        ("4k3/8/8/8/3p4/8/4P3/4K1N1 w - - 0 1", "e2e4 e8e7 g1f3 e7e8 f3g1 e8e7 g1f3 e7e8 f3g1", None),
        ("7k/5Q2/8/8/8/8/8/K7 b - - 0 1", "", Some((Draw, Stalemate))),
        ("7k/5Q2/6K1/8/8/8/8/8 w - - 99 80", "f7g7", Some((WhiteWins, Checkmate))),
        ("7k/5Q2/6K1/8/8/8/8/8 w - - 99 80", "f7f1", Some((Draw, FiftyMoves))),
        ("7k/5Q2/6K1/8/8/8/8/8 w - - 98 80", "f7f1", None),
        ("4k3/8/8/8/8/8/4p3/4K3 w - - 50 80", "e1e2", Some((Draw, InsufficientMaterial))),
        ("4k3/8/8/8/8/8/8/4KB2 w - - 0 1", "", Some((Draw, InsufficientMaterial))),
        ("4k3/8/8/8/8/8/8/4KN2 w - - 0 1", "", Some((Draw, InsufficientMaterial))),
        ("4kb2/8/8/8/8/8/8/2B1K3 w - - 0 1", "", Some((Draw, InsufficientMaterial))),
        ("4kb2/8/8/8/8/8/8/4KB2 w - - 0 1", "", None),
        ("4kn2/8/8/8/8/8/8/4KN2 w - - 0 1", "", None),
        ("4k3/8/8/8/8/8/8/4KNN1 w - - 0 1", "", None),
        ("4k3/8/8/8/8/8/8/4KR2 w - - 0 1", "", None),
    ];
    for (fen, moves, expected) in cases {
        assert_eq!(at(fen, Variant::Standard, moves).over(), expected, "{fen} {moves}");
    }
}

#[test]
fn algebraic_notation_both_ways() {
    let cases = [
        (START_FEN, "g1f3", "Nf3", "Ng1f3"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", "O-O", "O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1c1", "O-O-O", "O-O-O"),
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "h1h8", "Rxh8+", "Rh1xh8+"),
        ("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", "f7g7", "Qg7#", "Qf7g7#"),
        ("8/4P3/8/8/8/8/k7/4K3 w - - 0 1", "e7e8n", "e8=N", "e7e8=N"),
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", "exd6", "e5xd6"),
        ("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "a1d1", "Rd1", "Ra1d1"),
        ("4k3/8/8/8/R7/8/8/R3K3 w - - 0 1", "a1a2", "R1a2", "Ra1a2"),
        ("3k4/8/8/8/8/N7/8/N1N1K3 w - - 0 1", "a1c2", "N1c2", "Na1c2"),
    ];
    for (fen, uci, san, lan) in cases {
        let before = at(fen, Variant::Standard, "");
        assert_eq!(before.san(uci).as_deref(), Ok(san), "{fen}");
        let mut written = before.clone();
        assert_eq!(written.play_to_san(uci).as_deref(), Ok(san), "{fen}");
        let mut long = before.clone();
        assert_eq!(long.play_to_lan(uci).as_deref(), Ok(lan), "{fen}");
        let mut read = before.clone();
        assert_eq!(read.play_san(lan).map(|played| played.uci).as_deref(), Ok(uci), "{fen}");
        let mut read = before.clone();
        assert_eq!(read.play_san(san).map(|played| played.uci).as_deref(), Ok(uci), "{fen}");
        assert_eq!((read.fen(), long.fen()), (written.fen(), written.fen()));
    }
    let mut position = at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", Variant::Standard, "");
    assert_eq!(position.play_san("0-0!?").expect("zeros").uci, "e1g1");
    assert!(matches!(position.play_san("Ke8"), Err(MoveError::Illegal(_))));
}

/// Random games: the key kept step by step is the key computed from scratch, and repetitions are
/// what a full list of positions says.
#[test]
fn incremental_key_and_repetitions_on_random_games() {
    let starts = [
        (START_FEN, Variant::Standard),
        ("r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1", Variant::Standard),
        ("1r3kr1/pppppppp/8/8/8/8/PPPPPPPP/1R3KR1 w GBgb - 0 1", Variant::Chess960),
        ("8/8/4k3/8/8/2n5/8/R3K3 w - - 0 1", Variant::Standard),
    ];
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    for (fen, variant) in starts.into_iter().cycle().take(120) {
        let mut position = at(fen, variant, "");
        let mut seen = vec![position.chess.clone()];
        for _ in 0..150 {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let pick = &moves[usize::try_from(random % moves.len() as u64).expect("small")];
            let played = position.play(pick).expect("legal");
            assert_eq!((&played.uci, played.foreign_castling), (pick, false));
            seen.push(position.chess.clone());
            assert_eq!(position.key(), position.chess.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0);
            let count = seen.iter().filter(|other| **other == position.chess).count();
            assert_eq!(position.repetitions(), count, "{}", position.fen());
            let again = Position::from_fen(&position.fen(), variant).expect("own FEN");
            assert_eq!((again.key(), again.fen()), (position.key(), position.fen()));
            let legal = position.chess.legal_moves();
            let moves = |pawn| legal.iter().any(|legal| legal.from() == Some(pawn));
            assert!(Position::free_pawns(&position.chess).into_iter().all(moves), "{}", position.fen());
        }
    }
}
