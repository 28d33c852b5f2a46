//! Golden texts, and what other readers make of ours.

use proptest::prelude::*;

use super::*;
use crate::plan::openings::{Book, BookOptions, Format};
use crate::record::{Ending, GameId, Leg, Opening, PairId, PlayerId, SearchInfo};

fn played(uci: &str, micros: u64, score: Option<Score>, depth: Option<u32>, nodes: Option<u64>) -> MoveRecord {
    let info = SearchInfo { score, depth, nodes, ..SearchInfo::default() };
    MoveRecord { uci: uci.to_owned(), elapsed: Duration::from_micros(micros), left: None, info, waited: None }
}

fn record(fen: &str, book: &[&str], moves: Vec<MoveRecord>, outcome: Outcome, termination: Termination) -> GameRecord {
    GameRecord {
        id: GameId { pair: PairId(11), leg: Leg::Second },
        players: ByColor { white: PlayerId::BASE, black: PlayerId::NEW },
        opening: Opening { index: 0, fen: fen.to_owned(), moves: book.iter().map(|m| (*m).to_owned()).collect() },
        moves,
        ending: Ending { outcome, termination, detail: String::new() },
        started: Duration::from_secs(1_795_240_440),
        took: Duration::from_millis(3_723_999),
        overstep: None,
        is_void: false,
    }
}

fn meta(variant: Variant, white: &str, black: &str) -> Meta<'static> {
    Meta {
        event: "a \"quoted\" event",
        site: "?",
        names: ByColor { white: "base", black: "new" },
        limits: ByColor { white: white.parse().expect(white), black: black.parse().expect(black) },
        variant,
    }
}

#[test]
fn a_whole_game() {
    let moves = vec![
        played("g2g4", 51_499, Some(Score::Cp(35)), Some(12), Some(12345)),
        played("d8h4", 2_000, Some(Score::Mate(1)), Some(3), None),
    ];
    let record = record(START_FEN, &["f2f3", "e7e5"], moves, Outcome::BlackWins, Termination::Checkmate);
    let expected = r#"[Event "a \"quoted\" event"]
[Site "?"]
[Date "2026.11.21"]
[Round "12.2"]
[White "base"]
[Black "new"]
[Result "0-1"]
[GameDuration "01:02:03"]
[GameEndTime "2026-11-21T06:56:03Z"]
[GameStartTime "2026-11-21T05:54:00Z"]
[PlyCount "4"]
[Termination "normal"]
[TimeControl "8+0.08"]

1. f3 {book} 1... e5 {book} 2. g4 {+0.35/12 0.051s, n=12345} 2... Qh4# {+M1/3
0.002s, Black mates} 0-1

"#;
    assert_eq!(game(&record, &meta(Variant::Standard, "8+0.08", "8+0.08")).as_deref(), Ok(expected));
}

#[test]
fn other_starts() {
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 9";
    let moves =
        vec![played("e8h8", 0, None, Some(4), Some(7)), played("e1a1", 1_234_567, Some(Score::Cp(-1204)), None, None)];
    let record = GameRecord {
        started: Duration::MAX,
        took: Duration::ZERO,
        ..record(fen, &[], moves, Outcome::Draw, Termination::MaxPliesAdjudication)
    };
    let expected = r#"[Event "a \"quoted\" event"]
[Site "?"]
[Date "1970.01.01"]
[Round "12.2"]
[White "base"]
[Black "new"]
[Result "1/2-1/2"]
[BlackTimeControl "-"]
[FEN "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 9"]
[GameDuration "00:00:00"]
[GameEndTime "1970-01-01T00:00:00Z"]
[GameStartTime "1970-01-01T00:00:00Z"]
[PlyCount "2"]
[SetUp "1"]
[Termination "adjudication"]
[Variant "Chess960"]
[WhiteTimeControl "0.1/move"]

9... O-O {0.000s, n=7} 10. O-O-O {-12.04/0 1.234s, Draw by adjudication}
1/2-1/2

"#;
    assert_eq!(game(&record, &meta(Variant::Chess960, "movetime=0.1", "nodes=7")).as_deref(), Ok(expected));
    // No ply at all, and only book plies: the reason still has a place.
    let none = GameRecord { moves: vec![], ..record.clone() };
    let text = game(&none, &meta(Variant::Chess960, "depth=1", "depth=1")).expect("good record");
    assert!(text.ends_with("\n\n{Draw by adjudication} 1/2-1/2\n\n"), "{text}");
    let book = GameRecord { opening: Opening { moves: vec!["e8h8".to_owned()], ..none.opening.clone() }, ..none };
    let text = game(&book, &meta(Variant::Chess960, "depth=1", "depth=1")).expect("good record");
    assert!(text.ends_with("\n\n9... O-O {book, Draw by adjudication} 1/2-1/2\n\n"), "{text}");
}

#[test]
fn reasons() {
    use Outcome::{BlackWins, Draw, WhiteWins};
    let cases = [
        (Termination::Checkmate, WhiteWins, "", "White mates", "normal"),
        (Termination::Checkmate, BlackWins, "", "Black mates", "normal"),
        (Termination::Stalemate, Draw, "", "Draw by stalemate", "normal"),
        (Termination::InsufficientMaterial, Draw, "", "Draw by insufficient mating material", "normal"),
        (Termination::ThreefoldRepetition, Draw, "", "Draw by 3-fold repetition", "normal"),
        (Termination::FiftyMoves, Draw, "", "Draw by fifty moves rule", "normal"),
        (Termination::TimeForfeit, WhiteWins, "12ms overrun", "B loses on time (12ms overrun)", "time forfeit"),
        (Termination::TimeForfeit, BlackWins, "", "A loses on time", "time forfeit"),
        (
            Termination::IllegalMove,
            WhiteWins,
            "`e9` is not a move",
            "B makes an illegal move: `e9` is not a move",
            "illegal move",
        ),
        (Termination::Crash, BlackWins, "exit status 3", "A disconnects: exit status 3", "abandoned"),
        (Termination::Stall, WhiteWins, "no readyok", "B's connection stalls: no readyok", "abandoned"),
        (Termination::ResignAdjudication, WhiteWins, "", "A wins by adjudication", "adjudication"),
        (Termination::DrawAdjudication, Draw, "", "Draw by adjudication", "adjudication"),
        (Termination::MaxPliesAdjudication, Draw, "", "Draw by adjudication", "adjudication"),
        (Termination::TablebaseAdjudication, BlackWins, "", "B wins by adjudication: SyzygyTB", "adjudication"),
        (Termination::TablebaseAdjudication, Draw, "", "Draw by adjudication: SyzygyTB", "adjudication"),
    ];
    for (termination, outcome, detail, text, tag) in cases {
        let mut record = record(START_FEN, &["e2e4"], vec![], outcome, termination);
        record.ending.detail = detail.to_owned();
        let names = ByColor { white: "A", black: "B" };
        assert_eq!(reason(&record, &names), text);
        let written = game(&record, &Meta { names, ..meta(Variant::Standard, "1", "1") }).expect("good record");
        assert!(written.contains(&format!("[Termination \"{tag}\"]\n")), "{written}");
        assert!(written.contains(&format!("{{book, {text}}} {}", outcome.token())), "{written}");
    }
    for termination in Termination::ALL {
        assert!(cases.iter().any(|case| case.0 == termination), "{termination:?}");
    }
}

#[test]
fn scores() {
    let cases = [
        (Score::Cp(35), "+0.35"),
        (Score::Cp(0), "0.00"),
        (Score::Cp(-5), "-0.05"),
        (Score::Cp(-12345), "-123.45"),
        (Score::Cp(i32::MIN), "-21474836.48"),
        // A mate in three moves is mate on the fifth ply; being mated in three, on the sixth.
        (Score::Mate(1), "+M1"),
        (Score::Mate(3), "+M5"),
        (Score::Mate(-3), "-M6"),
        (Score::Mate(0), "-M0"),
        (Score::Mate(i32::MAX), "+M4294967293"),
        (Score::Mate(i32::MIN), "-M4294967296"),
    ];
    for (score, text) in cases {
        assert_eq!(score_text(score), text);
    }
}

#[test]
fn hostile_names_and_details() {
    let mut record =
        record(START_FEN, &[], vec![played("e2e4", 0, None, None, None)], Outcome::WhiteWins, Termination::Crash);
    record.ending.detail = "} 0-1\n\n[Event \"forged\"]\n%x {\u{1b}[2J".repeat(9);
    let hostile = "x\"] \\ \n[White \"y";
    let meta = Meta { names: ByColor { white: hostile, black: hostile }, ..meta(Variant::Standard, "1", "1") };
    let text = game(&record, &meta).expect("good record");
    assert!(text.contains("[White \"x\\\"] \\\\  [White \\\"y\"]\n"), "{text}");
    assert!(!text.contains('\u{1b}'));
    let body = text.split_once("\n\n").expect("body").1;
    assert!(body.lines().all(|line| !line.starts_with(['[', '%'])), "{body}");
    assert_eq!((body.matches('}').count(), body.matches("{").count()), (1, 1), "{body}");
    let options = BookOptions { format: Some(Format::Pgn), ..BookOptions::default() };
    let book = Book::from_bytes("own", text.into_bytes(), &options).expect("readable");
    assert_eq!((book.len(), book.opening(0).map(|o| o.moves)), (1, Some(vec!["e2e4".to_owned()])));
}

#[test]
fn records_that_cannot_be_replayed() {
    let broken = |fen, book: &[&str], uci| {
        record(fen, book, vec![played(uci, 0, None, None, None)], Outcome::Draw, Termination::FiftyMoves)
    };
    let cases = [
        (broken("junk", &[], "e2e4"), "game 24: malformed FEN (fewer than 4 fields)"),
        (broken(START_FEN, &["e2e4"], "e2e4"), "game 24, ply 2: `e2e4` is not legal here"),
        (broken(START_FEN, &["x"], "e2e4"), "game 24, ply 1: `x` is not a move"),
    ];
    for (record, message) in cases {
        let error = game(&record, &meta(Variant::Standard, "1", "1")).expect_err(message);
        assert_eq!(error.to_string(), message);
    }
}

proptest! {
    /// Random games in either variant, read back: the same start and moves, and lines of less than 80 characters.
    #[test]
    fn what_is_written_is_read_back(picks in proptest::collection::vec((any::<u16>(), any::<i16>()), 1..120), frc: bool) {
        let (fen, variant) = if frc {
            ("bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9", Variant::Chess960)
        } else {
            (START_FEN, Variant::Standard)
        };
        let mut position = Position::from_fen(fen, variant).expect("start");
        let mut moves = Vec::new();
        for (pick, cp) in picks {
            let legal = position.legal_moves();
            let uci = &legal[usize::from(pick) % legal.len()];
            let mut after = position.clone();
            after.play(uci).expect("legal");
            if after.over().is_some() {
                break;
            }
            position = after;
            moves.push(played(uci, pick.into(), Some(Score::Cp(cp.into())), Some(9), Some(pick.into())));
        }
        let expected: Vec<_> = moves.iter().map(|played| played.uci.clone()).collect();
        let record = record(fen, &[], moves, Outcome::Draw, Termination::DrawAdjudication);
        let text = game(&record, &meta(variant, "1", "1")).expect("good record");
        prop_assert!(text.lines().all(|line| line.len() < 80), "{}", text);
        let options = BookOptions { format: Some(Format::Pgn), variant, plies: None };
        let book = Book::from_bytes("own", text.into_bytes(), &options).expect("readable");
        let opening = book.opening(0).expect("one game");
        prop_assert_eq!((opening.fen.as_str(), opening.moves), (fen, expected));
    }
}
