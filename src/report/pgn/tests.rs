//! Golden texts, and round trips through other readers.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::chess::START_FEN;
use crate::openings::{Book, BookFileFormat, BookOptions};
use crate::record::{
    Ending, EngineId, GameId, Leg, MoveRecord, Opening, PairId, PlayerId, RecordedOutput, Score, SearchInfo,
    Termination,
};
use crate::report::epd;

fn played(uci: &str, micros: u64, score: Option<Score>, depth: Option<u32>, nodes: Option<u64>) -> MoveRecord {
    let info = SearchInfo { score, depth, nodes, ..SearchInfo::default() };
    MoveRecord {
        uci: uci.to_owned(),
        elapsed: Duration::from_micros(micros),
        left: None,
        info,
        waited: None,
        said: RecordedOutput::default(),
    }
}

fn record(fen: &str, book: &[&str], moves: Vec<MoveRecord>, outcome: Outcome, termination: Termination) -> GameRecord {
    GameRecord {
        id: GameId { pair: PairId(11), leg: Leg::Second },
        players: ByColor { white: PlayerId::BASE, black: PlayerId::NEW },
        engines: ByColor::default(),
        opening: Opening { index: 0, fen: fen.to_owned(), moves: book.iter().map(|m| (*m).to_owned()).collect() },
        moves,
        ending: Ending { outcome, termination, detail: String::new() },
        started: Duration::from_secs(1_795_240_440),
        took: Duration::from_millis(3_723_999),
        overstep: None,
        is_void: false,
        values: None,
        worker: None,
        scale: None,
    }
}

fn meta(variant: Variant, white: &str, black: &str) -> PgnMeta<'static> {
    PgnMeta {
        event: "a \"quoted\" event",
        site: "?",
        names: ByColor { white: "base", black: "new" },
        limits: ByColor { white: white.parse().expect(white), black: black.parse().expect(black) },
        variant,
        number: None,
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
[BlackLimit "nodes=7"]
[BlackTimeControl "-"]
[FEN "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 3 9"]
[GameDuration "00:00:00"]
[GameEndTime "1970-01-01T00:00:00Z"]
[GameStartTime "1970-01-01T00:00:00Z"]
[PlyCount "2"]
[SetUp "1"]
[Termination "adjudication"]
[Variant "Chess960"]
[WhiteLimit "movetime=0.1"]
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
        assert_eq!(named_reason(&record, &names), text);
        let written = game(&record, &PgnMeta { names, ..meta(Variant::Standard, "1", "1") }).expect("good record");
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
        assert_eq!(comment::ScoreText(score).to_string(), text);
    }
}

#[test]
fn hostile_names_and_details() {
    let mut record =
        record(START_FEN, &[], vec![played("e2e4", 0, None, None, None)], Outcome::WhiteWins, Termination::Crash);
    record.ending.detail = "} 0-1\n\n[Event \"forged\"]\n%x {\u{1b}[2J".repeat(9);
    let hostile = "x\"] \\ \n[White \"y";
    let meta = PgnMeta { names: ByColor { white: hostile, black: hostile }, ..meta(Variant::Standard, "1", "1") };
    let text = game(&record, &meta).expect("good record");
    assert!(text.contains("[White \"x\\\"] \\\\  [White \\\"y\"]\n"), "{text}");
    assert!(!text.contains('\u{1b}'));
    let body = text.split_once("\n\n").expect("body").1;
    assert!(body.lines().all(|line| !line.starts_with(['[', '%'])), "{body}");
    assert_eq!((body.matches('}').count(), body.matches("{").count()), (1, 1), "{body}");
    let options = BookOptions { format: Some(BookFileFormat::Pgn), ..BookOptions::default() };
    let book = Book::from_bytes("own", text.into_bytes(), &options).expect("readable");
    let first = book.opening(0).expect("readable");
    assert_eq!((book.len(), first.map(|o| o.moves)), (1, Some(vec!["e2e4".to_owned()])));
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

/// A move with all its facts known.
fn told(uci: &str) -> MoveRecord {
    let info = SearchInfo {
        score: Some(Score::Cp(35)),
        depth: Some(12),
        seldepth: Some(18),
        nodes: Some(12345),
        nps: Some(240_000),
        time: Some(Duration::from_millis(50)),
        hashfull: Some(7),
        tbhits: Some(0),
        pv_fault: None,
    };
    let said = RecordedOutput {
        pv: format!("{uci} e7e5 {{x}}"),
        lines: vec!["info string \"eval\" {1}".to_owned(), "%z".to_owned()],
    };
    MoveRecord {
        uci: uci.to_owned(),
        elapsed: Duration::from_micros(51_999),
        left: Some(Duration::from_micros(7_949_123)),
        info,
        waited: None,
        said,
    }
}

#[test]
fn comments_say_what_is_wanted_and_known() {
    let played = told("e2e4");
    let lines = ", line=\"info string 'eval' (1)\", line=\"%z\"";
    for (fields, expected) in [
        ("none", "+0.35/12 0.051s"),
        ("nodes", "+0.35/12 0.051s, n=12345"),
        ("pv", "+0.35/12 0.051s, pv=\"e2e4 e7e5 (x)\""),
        ("latency,timeleft", "+0.35/12 0.051s, tl=7.949s, latency=0.001s"),
        ("hashfull,nps,seldepth,tbhits", "+0.35/12 0.051s, sd=18, nps=240000, hashfull=7, tbhits=0"),
        (
            "all",
            "+0.35/12 0.051s, tl=7.949s, latency=0.001s, n=12345, sd=18, nps=240000, hashfull=7, tbhits=0, pv=\"e2e4 e7e5 (x)\"",
        ),
    ] {
        assert_eq!(Comment::Recorded(&played, fields.parse().expect(fields)).to_string(), format!("{expected}{lines}"));
    }
    // Unknown facts are left out. An engine that reports more time than charged has a negative
    // latency.
    let silent =
        MoveRecord { left: None, info: SearchInfo::default(), said: RecordedOutput::default(), ..played.clone() };
    assert_eq!(Comment::Recorded(&silent, Fields::ALL).to_string(), "0.051s");
    let info = SearchInfo { time: Some(Duration::from_millis(1052)), ..SearchInfo::default() };
    assert_eq!(Comment::Recorded(&MoveRecord { info, ..silent }, Fields::ALL).to_string(), "0.051s, latency=-1.001s");
}

/// An archive of moves has neither times nor engine output.
#[test]
fn moves_alone_have_no_comments() {
    let moves = ["g2g4", "d8h4"].map(|uci| played(uci, 0, None, None, None)).to_vec();
    let record = record(START_FEN, &["f2f3", "e7e5"], moves, Outcome::BlackWins, Termination::Checkmate);
    let text = game(&record, &meta(Variant::Standard, "8+0.08", "8+0.08")).expect("good record");
    assert!(text.ends_with("\n\n1. f3 {book} 1... e5 {book} 2. g4 Qh4# {Black mates} 0-1\n\n"), "{text}");
}

/// Castling, a capture, a promotion with check, and a line of the table of openings.
fn varied() -> GameRecord {
    let moves = "e2e4 g8f6 e4e5 d7d5 e5d6 g7g6 d6c7 f8g7 g1f3 e8g8 c7b8q a8b8";
    let (book, moves): (Vec<_>, Vec<_>) = moves.split(' ').partition(|uci| ["e2e4", "g8f6"].contains(uci));
    let moves = moves.into_iter().map(|uci| played(uci, 1_000, None, None, Some(5))).collect();
    GameRecord {
        engines: ByColor {
            white: EngineId { name: "Fancy \"1\"".to_owned(), author: "A. U. Thor".to_owned() },
            black: EngineId { name: "Plain".to_owned(), author: String::new() },
        },
        ..record(START_FEN, &book, moves, Outcome::Draw, Termination::DrawAdjudication)
    }
}

#[test]
fn the_shortest_form_has_the_roster_and_the_moves() {
    let roster = r#"[Event "a \"quoted\" event"]
[Site "?"]
[Date "2026.11.21"]
[Round "12.2"]
[White "base"]
[Black "new"]
[Result "1/2-1/2"]
"#;
    for (notation, moves) in [
        (Notation::San, "1. e4 Nf6 2. e5 d5 3. exd6 g6 4. dxc7 Bg7 5. Nf3 O-O 6. cxb8=Q Rxb8 1/2-1/2"),
        (
            Notation::Lan,
            "1. e2e4 Ng8f6 2. e4e5 d7d5 3. e5xd6 g7g6 4. d6xc7 Bf8g7 5. Ng1f3 O-O 6. c7xb8=Q\nRa8xb8 1/2-1/2",
        ),
        (Notation::Uci, "1. e2e4 g8f6 2. e4e5 d7d5 3. e5d6 g7g6 4. d6c7 f8g7 5. g1f3 e8g8 6. c7b8q a8b8\n1/2-1/2"),
    ] {
        let options =
            PgnOptions { min: true, notation, engine_tags: true, opening_tags: true, ..PgnOptions::default() };
        let openings = OpeningNames::builtin();
        let text = game_as(&varied(), &meta(Variant::Standard, "1", "1"), &options, Some(&openings));
        assert_eq!(text, Ok(format!("{roster}\n{moves}\n\n")));
    }
    // The start position is part of the text, and Black's first move has its number.
    let fen = "4k2r/8/8/8/8/8/8/4K3 b k - 0 1";
    let moves = vec![played("e8h8", 0, None, None, None), played("e1e2", 0, None, None, None)];
    let record = record(fen, &[], moves, Outcome::Draw, Termination::DrawAdjudication);
    let options = PgnOptions { min: true, ..PgnOptions::default() };
    let text = game_as(&record, &meta(Variant::Chess960, "1", "1"), &options, None).expect("good record");
    let start = format!("[FEN \"{fen}\"]\n[SetUp \"1\"]\n[Variant \"Chess960\"]\n");
    assert_eq!(text, roster.to_owned() + &start + "\n1... O-O 2. Ke2 1/2-1/2\n\n");
}

#[test]
fn as_the_leading_runners_write_it() {
    let options = PgnOptions {
        fields: "nodes,seldepth".parse().expect("fields"),
        engine_tags: true,
        opening_tags: true,
        round: Round::Pair,
        zone: "+05:30".parse().expect("zone"),
        layout: Layout::Runner,
        ..PgnOptions::default()
    };
    let mut record = varied();
    record.moves.truncate(3);
    record.moves[1] = told("d7d5");
    record.moves[1].said =
        RecordedOutput { lines: vec!["info depth 12 seldepth 18 score cp 35".to_owned()], ..RecordedOutput::default() };
    let expected = r#"[Event "a \"quoted\" event"]
[Site "?"]
[Date "2026.11.21"]
[Round "12"]
[White "base"]
[Black "new"]
[Result "1/2-1/2"]
[ECO "B02"]
[EngineBlackName "Plain"]
[EngineWhiteAuthor "A. U. Thor"]
[EngineWhiteName "Fancy \"1\""]
[GameDuration "01:02:03"]
[GameEndTime "2026-11-21T12:26:03 +0530"]
[GameStartTime "2026-11-21T11:24:00 +0530"]
[Opening "Alekhine Defense"]
[PlyCount "5"]
[Termination "adjudication"]
[TimeControl "8+0.08"]

1. e4 {book} Nf6 {book} 2. e5 {0.001s, n=5}
d5 {+0.35/12 0.051s, n=12345, sd=18, line="info depth 12 seldepth 18 score cp 35"}
3. exd6 {0.001s, n=5, Draw by adjudication} 1/2-1/2

"#;
    let openings = OpeningNames::builtin();
    let text = game_as(&record, &meta(Variant::Standard, "8+0.08", "8+0.08"), &options, Some(&openings));
    assert_eq!(text.as_deref(), Ok(expected));
}

/// Reasons, terminations and variants in the words of each runner.
#[test]
fn words_of_runners() {
    use Outcome::{Draw, WhiteWins};
    let options = |layout| PgnOptions { layout, ..PgnOptions::default() };
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R b HAha - 3 9";
    for (termination, outcome, detail, [of_fastchess, of_cutechess], [tag, cutechess_tag]) in [
        (Termination::Checkmate, WhiteWins, "", ["White mates"; 2], [Some("normal"), None]),
        (
            Termination::TimeForfeit,
            WhiteWins,
            "11.25ms overrun",
            ["Black loses on time (11ms overrun)", "Black loses on time"],
            [Some("time forfeit"); 2],
        ),
        (
            Termination::Stall,
            WhiteWins,
            "no readyok",
            ["Black's connection stalls"; 2],
            [Some("abandoned"), Some("stalled connection")],
        ),
        (
            Termination::IllegalMove,
            WhiteWins,
            "`e9` is not a move",
            ["Black makes an illegal move: e9"; 2],
            [Some("illegal move"); 2],
        ),
        (
            Termination::MaxPliesAdjudication,
            Draw,
            "",
            ["Draw by adjudication", "Draw by adjudication: maximal game length"],
            [Some("adjudication"); 2],
        ),
    ] {
        let mut record = record(fen, &["e8h8"], vec![], outcome, termination);
        record.ending.detail = detail.to_owned();
        for (layout, reason, tag, variant) in [
            (Layout::Runner, of_fastchess, tag, "Chess960"),
            (Layout::Cutechess, of_cutechess, cutechess_tag, "fischerandom"),
        ] {
            let meta = meta(Variant::Chess960, "1", "1");
            let text = game_as(&record, &meta, &options(layout), None).expect("good record");
            assert!(text.contains(&format!("{{book, {reason}}}")), "{text}");
            assert!(text.contains(&format!("[Variant \"{variant}\"]\n")), "{text}");
            let written = text.lines().find_map(|line| line.strip_prefix("[Termination \""));
            assert_eq!(written.and_then(|rest| rest.strip_suffix("\"]")), tag, "{text}");
        }
    }
}

#[test]
fn final_positions() {
    let check = |record: &GameRecord, variant, expected: &str| {
        assert_eq!(epd::line(record, variant).as_deref(), Ok(expected));
    };
    let end = "1rbq1rk1/pp2ppbp/5np1/8/8/5N2/PPPP1PPP/RNBQKB1R w KQ - hmvc 0; fmvn 7;\n";
    check(&varied(), Variant::Standard, end);
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R b HAha - 3 9";
    let moves = vec![played("e8h8", 0, None, None, None)];
    let castled = record(fen, &[], moves, Outcome::Draw, Termination::DrawAdjudication);
    check(&castled, Variant::Chess960, "r4rk1/8/8/8/8/8/8/R3K2R w HA - hmvc 4; fmvn 10;\n");
    let fen = epd::fen_line(&castled, Variant::Chess960);
    assert_eq!(fen.as_deref(), Ok("r4rk1/8/8/8/8/8/8/R3K2R w HA - 4 10\n"));
    let unplayed = GameRecord { moves: vec![], ..castled };
    check(&unplayed, Variant::Chess960, "r3k2r/8/8/8/8/8/8/R3K2R b HAha - hmvc 3; fmvn 9;\n");
    let broken = record("junk", &[], vec![], Outcome::Draw, Termination::FiftyMoves);
    assert_eq!(
        epd::line(&broken, Variant::Standard).map_err(|e| e.to_string()),
        Err("game 24: malformed FEN (fewer than 4 fields)".to_owned())
    );
}

proptest! {
    /// Random games in either variant, read back: the same start and moves, and lines of less than
    /// 80 characters.
    #[test]
    fn what_is_written_is_read_back(
        picks in proptest::collection::vec((any::<u16>(), any::<i16>()), 1..120), frc: bool, min: bool, talk in ".{0,40}",
        notation in prop::sample::select(vec![Notation::San, Notation::Lan, Notation::Uci]),
        layout in prop::sample::select(vec![Layout::Export, Layout::Runner, Layout::Cutechess]),
    ) {
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
            let said = RecordedOutput { pv: talk.clone(), lines: vec![talk.clone()] };
            let played = played(uci, pick.into(), Some(Score::Cp(cp.into())), Some(9), Some(pick.into()));
            moves.push(MoveRecord { said, ..played });
        }
        let expected: Vec<_> = moves.iter().map(|played| played.uci.clone()).collect();
        let record = record(fen, &[], moves, Outcome::Draw, Termination::DrawAdjudication);
        let as_options = PgnOptions { notation, min, layout, fields: Fields::ALL, ..PgnOptions::default() };
        let text = game_as(&record, &meta(variant, "1", "1"), &as_options, None).expect("good record");
        // Tokens that must not begin a line stay on the line before, however long.
        if layout == Layout::Export && !talk.contains(['%', '[']) {
            prop_assert!(text.lines().all(|line| line.chars().count() < 80), "{}", text);
        }
        if notation == Notation::Uci {
            // UCI moves are not algebraic notation, so only the words of the moves may stand
            // outside of comments.
            let body = text.split_once("\n\n").expect("a body").1;
            let bare: String = body.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after)).collect();
            let is_move = |word: &&str| !word.contains(['.', '/']);
            prop_assert_eq!(bare.split_whitespace().filter(is_move).collect::<Vec<_>>(), expected);
            return Ok(());
        }
        let options = BookOptions { format: Some(BookFileFormat::Pgn), variant, plies: None };
        let book = Book::from_bytes("own", text.into_bytes(), &options).expect("readable");
        let opening = book.opening(0).expect("readable").expect("one game");
        prop_assert_eq!((opening.fen.as_str(), opening.moves), (fen, expected));
    }
}
