//! The referee's table: a list of inputs, and the ending, the winner and the clocks they lead to.

use proptest::prelude::*;

use super::*;
use crate::chess::Variant;
use crate::record::Score;

const RULES: Rules = Rules {
    variant: Variant::Standard,
    draw: None,
    resign: None,
    max_plies: None,
    short_position: false,
    ponder: false,
    syzygy: None,
    margin: Duration::from_millis(10),
    stall_timeout: Duration::from_secs(60),
};

fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn setup(start: &str, limit: &str) -> GameSetup {
    let (fen, moves) = start.split_once(" moves ").unwrap_or((start, ""));
    let fen = if fen == "startpos" { START_FEN } else { fen };
    let moves = moves.split_whitespace().map(str::to_owned).collect();
    let limit = limit.parse().expect(limit);
    GameSetup {
        opening: Opening { index: 6, fen: fen.to_owned(), moves },
        limits: ByColor { white: limit, black: limit },
        margins: ByColor { white: RULES.margin, black: RULES.margin },
        rules: RULES,
    }
}

/// Hands in one event, written as
/// `MOVE[@MILLISECONDS][:SCORE]`, `overrun@MILLISECONDS`, `crash-white`, `stall-black`.
fn advance(game: &mut Game, event: &str) -> Step {
    let side = |name: &str| if name == "white" { Color::White } else { Color::Black };
    if let Some(who) = event.strip_prefix("crash-") {
        return game.handle(Input::Crashed { color: side(who), detail: "exit status 3".to_owned() });
    }
    if let Some(who) = event.strip_prefix("stall-") {
        return game.handle(Input::Stalled { color: side(who), detail: "no readyok".to_owned() });
    }
    let (event, score) = event
        .split_once(':')
        .map_or((event, None), |(event, score)| (event, Some(Score::Cp(score.parse().expect("score")))));
    let (text, millis) = event.split_once('@').unwrap_or((event, "0"));
    let elapsed = ms(millis.parse().expect("milliseconds"));
    match text {
        "overrun" => game.handle(Input::Overrun { elapsed, cause: String::new() }),
        text => game.handle(Input::Move { text, elapsed, info: SearchInfo { score, ..SearchInfo::default() } }),
    }
}

struct Row {
    what: &'static str,
    setup: GameSetup,
    events: &'static str,
    termination: Termination,
    outcome: Outcome,
    detail: &'static str,
    /// White's and Black's clock at the end, in milliseconds.
    clocks: Option<(u64, u64)>,
    /// Plies on record.
    plies: usize,
}

/// A game after some events, and the step that follows.
fn play(setup: GameSetup, events: &str) -> (Game, Step) {
    let (mut game, mut step) = Game::new(setup).expect("setup");
    for event in events.split_whitespace() {
        step = advance(&mut game, event);
    }
    (game, step)
}

fn check(row: Row) {
    let what = row.what;
    let (mut game, mut step) = Game::new(row.setup).expect(what);
    for event in row.events.split_whitespace() {
        assert!(matches!(step, Step::Think(_)), "{what}: over before {event}: {step:?}");
        step = advance(&mut game, event);
    }
    let ending = Ending { outcome: row.outcome, termination: row.termination, detail: row.detail.to_owned() };
    assert_eq!(step, Step::Over(ending.clone()), "{what}");
    let clocks = [Color::White, Color::Black].map(|color| game.clock(color).left());
    let expected = row.clocks.map_or([None, None], |(white, black)| [Some(ms(white)), Some(ms(black))]);
    assert_eq!(clocks, expected, "{what}");
    // Over is over: whatever comes later changes nothing.
    for late in ["e2e4", "overrun@1", "crash-white", "stall-black"] {
        assert_eq!(advance(&mut game, late), Step::Over(ending.clone()), "{what}");
    }
    let parts = game.into_parts();
    assert_eq!((parts.moves.len(), parts.ending), (row.plies, Some(ending)), "{what}");
}

fn row(what: &'static str, setup: GameSetup, events: &'static str, termination: Termination, outcome: Outcome) -> Row {
    let plies = events.split_whitespace().filter(|event| event.as_bytes()[1].is_ascii_digit()).count();
    Row { what, setup, events, termination, outcome, detail: "", clocks: None, plies }
}

fn by_the_rules() -> Vec<Row> {
    use Outcome::{BlackWins, Draw, WhiteWins};
    use Termination::{Checkmate, FiftyMoves, InsufficientMaterial, Stalemate, ThreefoldRepetition};
    let nodes = |start| setup(start, "nodes=100");
    let shuffle = "g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8";
    vec![
        row("Black mates", nodes("startpos"), "f2f3 e7e5 g2g4 d8h4", Checkmate, BlackWins),
        row("White mates", nodes("startpos moves e2e4 e7e5"), "d1h5 b8c6 f1c4 g8f6 h5f7", Checkmate, WhiteWins),
        Row {
            clocks: Some((190, 320)),
            ..row(
                "a mate in the margin wins",
                setup("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1", "0.05+0.19"),
                "f7f1@240 h8g8@240 f1f7@1 g8h8@60 f7g7@389",
                Checkmate,
                WhiteWins,
            )
        },
        row("mate before fifty moves", nodes("7k/5Q2/6K1/8/8/8/8/8 w - - 99 80"), "f7g7", Checkmate, WhiteWins),
        row("fifty moves", nodes("7k/5Q2/6K1/8/8/8/8/8 w - - 99 80"), "f7f1", FiftyMoves, Draw),
        row("stalemate", nodes("7k/8/6K1/5Q2/8/8/8/8 w - - 0 1"), "f5f7", Stalemate, Draw),
        row("bare kings", nodes("4k3/8/8/8/8/8/4p3/4K3 w - - 0 1"), "e1e2", InsufficientMaterial, Draw),
        row("threefold", nodes("startpos"), shuffle, ThreefoldRepetition, Draw),
        row(
            "book plies repeat too",
            nodes("startpos moves g1f3 g8f6 f3g1 f6g8"),
            "g1f3 g8f6 f3g1 f6g8",
            ThreefoldRepetition,
            Draw,
        ),
        row("an opening that is mate", nodes("startpos moves f2f3 e7e5 g2g4 d8h4"), "", Checkmate, BlackWins),
        row("an opening that is stalemate", nodes("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"), "", Stalemate, Draw),
        row("an opening that is a draw", nodes("7k/8/6K1/8/8/8/8/8 b - - 0 1"), "", InsufficientMaterial, Draw),
        row("an opening of fifty moves", nodes("7k/8/5QK1/8/8/8/8/8 b - - 100 90"), "", FiftyMoves, Draw),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn forfeits() -> Vec<Row> {
    use Outcome::{BlackWins, WhiteWins};
    use Termination::{Crash, IllegalMove, Stall, TimeForfeit};
    let timed = |start| setup(start, "1+0.1");
    let nodes = || setup("startpos", "nodes=100");
    let lone_king = "4k3/8/8/8/8/8/8/3QK3 w - - 0 1";
    let here = |what, setup, events, termination, outcome, detail, clocks| Row {
        detail,
        clocks,
        ..row(what, setup, events, termination, outcome)
    };
    let flag = |what, setup, events, outcome, detail, clocks, plies| Row {
        plies,
        ..here(what, setup, events, TimeForfeit, outcome, detail, clocks)
    };
    vec![
        flag("White never answers", timed("startpos"), "overrun@1111", BlackWins, "11ms overrun", Some((0, 1100)), 0),
        flag(
            "Black never answers",
            timed("startpos"),
            "e2e4@100 overrun@1200",
            WhiteWins,
            "100ms overrun",
            Some((1100, 0)),
            1,
        ),
        flag("White answers late", timed("startpos"), "e2e4@1111", BlackWins, "11ms overrun", Some((0, 1100)), 0),
        flag(
            "Black answers late",
            timed("startpos"),
            "e2e4@1110 e7e5@1111",
            WhiteWins,
            "11ms overrun",
            Some((100, 0)),
            1,
        ),
        flag("a late illegal move", timed("startpos"), "junk@2000", BlackWins, "900ms overrun", Some((0, 1100)), 0),
        flag(
            "a late mate",
            timed("7k/5Q2/6K1/8/8/8/8/8 w - - 0 1"),
            "f7g7@1111",
            BlackWins,
            "11ms overrun",
            Some((0, 1100)),
            0,
        ),
        flag("to a bare king", timed(lone_king), "d1d2@1500", BlackWins, "400ms overrun", Some((0, 1100)), 0),
        flag("movetime", setup("startpos", "movetime=0.1"), "e2e4@110 e7e5@111", WhiteWins, "11ms overrun", None, 1),
        flag(
            "movetime, no answer",
            setup("startpos", "movetime=0.1"),
            "overrun@111",
            BlackWins,
            "11ms overrun",
            None,
            0,
        ),
        flag(
            "nodes under a clock",
            setup("startpos", "1 nodes=100"),
            "overrun@1011",
            BlackWins,
            "11ms overrun",
            Some((0, 1000)),
            0,
        ),
        flag(
            "second session",
            setup("startpos", "1/1"),
            "e2e4@900 e7e5@1000 g1f3@1110 g8f6@1011",
            WhiteWins,
            "11ms overrun",
            Some((1000, 0)),
            3,
        ),
        here(
            "an illegal move",
            timed("startpos"),
            "e2e4@50 e2e4@50",
            IllegalMove,
            WhiteWins,
            "`e2e4` is not legal here",
            Some((1150, 1150)),
        ),
        here(
            "no move at all",
            timed("startpos"),
            "(none)",
            IllegalMove,
            BlackWins,
            "`(none)` is not a move",
            Some((1100 + 100, 1100)),
        ),
        here("upper case", nodes(), "E2E4", IllegalMove, BlackWins, "`E2E4` is not a move", None),
        here("a crash", nodes(), "e2e4 crash-black", Crash, WhiteWins, "exit status 3", None),
        here("a crash out of turn", nodes(), "e2e4 crash-white", Crash, BlackWins, "exit status 3", None),
        here(
            "a crash before the first move",
            timed("startpos"),
            "crash-white",
            Crash,
            BlackWins,
            "exit status 3",
            Some((1100, 1100)),
        ),
        here(
            "a search that hangs",
            nodes(),
            "e2e4 overrun@60001",
            Stall,
            WhiteWins,
            "no bestmove within 60.001 s",
            None,
        ),
        here("no readyok", nodes(), "stall-black", Stall, WhiteWins, "no readyok", None),
    ]
    .into_iter()
    .map(|row| match row.termination {
        // The last event of a forfeit is not a ply.
        IllegalMove => Row { plies: row.events.split_whitespace().count() - 1, ..row },
        _ => row,
    })
    .collect()
}

#[expect(clippy::too_many_lines, reason = "a table")]
fn adjudications() -> Vec<Row> {
    use Outcome::{BlackWins, Draw, WhiteWins};
    use Termination::{Checkmate, DrawAdjudication, MaxPliesAdjudication, ResignAdjudication, ThreefoldRepetition};
    let with = |start, draw: Option<&str>, resign: Option<&str>, max_plies| {
        let mut setup = setup(start, "nodes=100");
        setup.rules.draw = draw.map(|text| text.parse().expect(text));
        setup.rules.resign = resign.map(|text| text.parse().expect(text));
        setup.rules.max_plies = max_plies;
        setup
    };
    let draw = Some("move=2,count=1,score=10");
    let resign = Some("count=2,score=600");
    let agreed = Some("count=1,score=600,twosided");
    vec![
        row("draw", with("startpos", draw, None, None), "e2e4:0 e7e5:9 g1f3:-10 b8c6:10", DrawAdjudication, Draw),
        row(
            "draw after the book",
            with("startpos moves e2e4 e7e5 g1f3 b8c6", draw, None, None),
            "f1c4:0 f8c5:0",
            DrawAdjudication,
            Draw,
        ),
        row(
            "draw by the book position's move number",
            with("4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 30", draw, None, None),
            "e1e2:0 e8e7:0",
            DrawAdjudication,
            Draw,
        ),
        row(
            "draw by the moves after the book's position",
            with("4k3/pppp4/8/8/8/8/PPPP4/4K3 w - - 0 30", Some("move=2,count=1,score=10,from-start"), None, None),
            "e1e2:0 e8e7:0 e2e3:0 e7e6:0",
            DrawAdjudication,
            Draw,
        ),
        row(
            "White resigns",
            with("startpos", None, resign, None),
            "e2e4:-600 e7e5 g1f3:-700",
            ResignAdjudication,
            BlackWins,
        ),
        row(
            "Black resigns",
            with("startpos", None, resign, None),
            "e2e4 e7e5:-600 g1f3 b8c6:-600",
            ResignAdjudication,
            WhiteWins,
        ),
        row("White, agreed", with("startpos", None, agreed, None), "e2e4:-600 e7e5:600", ResignAdjudication, BlackWins),
        row("Black, agreed", with("startpos", None, agreed, None), "e2e4:600 e7e5:-600", ResignAdjudication, WhiteWins),
        row(
            "the limit on plies",
            with("startpos moves e2e4 e7e5", None, None, Some(3)),
            "g1f3 b8c6 f1c4",
            MaxPliesAdjudication,
            Draw,
        ),
        row(
            "the rules come before the limit",
            with("startpos", None, None, Some(4)),
            "f2f3 e7e5 g2g4 d8h4",
            Checkmate,
            BlackWins,
        ),
        row(
            "the rules come before resignation",
            with("startpos", None, Some("count=1,score=1"), None),
            "f2f3:0 e7e5:0 g2g4:0 d8h4:-900",
            Checkmate,
            BlackWins,
        ),
        row(
            "the rules come before the draw",
            with("startpos moves g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1", Some("count=1,score=10"), None, Some(1)),
            "f6g8:0",
            ThreefoldRepetition,
            Draw,
        ),
        row(
            "resignation comes before the draw",
            with("startpos", Some("count=1,score=900"), Some("count=1,score=1"), Some(2)),
            "g1f3:0 g8f6:-900",
            ResignAdjudication,
            WhiteWins,
        ),
        row(
            "the draw comes before the limit",
            with("startpos", Some("count=1,score=0"), None, Some(2)),
            "g1f3:0 g8f6:0",
            DrawAdjudication,
            Draw,
        ),
        row("no play at all", with("startpos", None, None, Some(0)), "", MaxPliesAdjudication, Draw),
    ]
}

#[test]
fn every_ending() {
    let rows: Vec<_> = [by_the_rules(), forfeits(), adjudications()].into_iter().flatten().collect();
    for termination in Termination::ALL {
        let covered = rows.iter().any(|row| row.termination == termination);
        // Tables come by another way: `the_tables_come_after_the_rules_and_before_agreement`.
        assert_eq!(covered, termination != Termination::TablebaseAdjudication, "{termination:?}");
    }
    rows.into_iter().for_each(check);
}

#[test]
fn requests_say_what_go_says() {
    let request = |white: &str, black: &str, events: &str| {
        let mut setup = setup("startpos", white);
        setup.limits.black = black.parse().expect(black);
        let (_, step) = play(setup, events);
        let Step::Think(request) = step else { panic!("{step:?}") };
        request
    };
    let told = |left, increment| Some(ToldClock { left: ms(left), increment: ms(increment) });
    let base = Request {
        color: Color::White,
        deadline: ms(60_000),
        timed: false,
        clocks: ByColor::default(),
        moves_to_go: None,
        movetime: None,
        nodes: None,
        depth: None,
    };
    let tc = Request {
        deadline: ms(8090),
        timed: true,
        clocks: ByColor { white: told(8080, 80), black: told(8080, 80) },
        ..base.clone()
    };
    let black = Color::Black;
    let cases = [
        ("8+0.08", "8+0.08", "", tc.clone()),
        (
            "8+0.08",
            "8+0.08",
            "e2e4@1000",
            Request { color: black, clocks: ByColor { white: told(7160, 80), black: told(8080, 80) }, ..tc.clone() },
        ),
        (
            "8+0.08 nodes=5 depth=3",
            "9",
            "",
            Request {
                clocks: ByColor { white: told(8080, 80), black: told(9000, 0) },
                nodes: Some(5),
                depth: Some(3),
                ..tc.clone()
            },
        ),
        (
            "3/1",
            "3/1",
            "e2e4 e7e5",
            Request {
                deadline: ms(1010),
                timed: true,
                clocks: ByColor { white: told(1000, 0), black: told(1000, 0) },
                moves_to_go: Some(2),
                ..base.clone()
            },
        ),
        ("nodes=5", "nodes=7", "e2e4", Request { color: black, nodes: Some(7), ..base.clone() }),
        ("depth=5", "depth=7", "", Request { depth: Some(5), ..base.clone() }),
        (
            "movetime=0.1",
            "nodes=7",
            "",
            Request { deadline: ms(110), timed: true, movetime: Some(ms(100)), ..base.clone() },
        ),
        // Nobody is told a clock that does not run.
        ("nodes=5", "8+0.08", "", Request { nodes: Some(5), ..base.clone() }),
        (
            "nodes=5",
            "8+0.08",
            "e2e4",
            Request { color: black, clocks: ByColor { white: None, black: told(8080, 80) }, ..tc },
        ),
    ];
    for (white, black, events, expected) in cases {
        assert_eq!(request(white, black, events), expected, "{white} against {black}, after {events}");
    }
}

#[test]
fn the_position_line_grows() {
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let cases = [
        ("startpos", Variant::Standard, "", "position startpos"),
        ("startpos", Variant::Standard, "e2e4", "position startpos moves e2e4"),
        ("startpos moves e2e4 e7e5", Variant::Standard, "", "position startpos moves e2e4 e7e5"),
        ("startpos moves e2e4 e7e5", Variant::Standard, "g1f3", "position startpos moves e2e4 e7e5 g1f3"),
        ("4k3/8/8/8/8/8/8/R3K3 w Q -", Variant::Standard, "", "position fen 4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
        // Both engines get the variant's own notation, whichever one castling comes in.
        (fen, Variant::Standard, "e1h1", &format!("position fen {fen} moves e1g1")),
        (fen, Variant::Chess960, "e1g1", &format!("position fen {fen} moves e1h1")),
        (&format!("{fen} moves e1c1"), Variant::Chess960, "e8h8", &format!("position fen {fen} moves e1a1 e8h8")),
    ];
    for (start, variant, events, line) in cases {
        let (game, _) = play(GameSetup { rules: Rules { variant, ..RULES }, ..setup(start, "nodes=1") }, events);
        assert_eq!(String::from_utf8_lossy(game.position_line()), line, "{start} {events}");
        let foreign = u32::from(events == "e1h1" || events == "e1g1");
        assert_eq!(game.foreign_castling(), &ByColor { white: foreign, black: 0 }, "{start} {events}");
    }
}

#[test]
fn the_short_position_line_begins_anew_with_each_irreversible_move() {
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let cases = [
        ("startpos", "", "position startpos"),
        ("startpos", "g1f3", "position startpos moves g1f3"),
        ("startpos", "g1f3 e7e5", "position fen rnbqkbnr/pppp1ppp/8/4p3/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 0 2"),
        (
            "startpos moves e2e4 e7e5",
            "g1f3 b8c6",
            "position fen rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2 moves g1f3 b8c6",
        ),
        (
            "startpos moves e2e4 a7a6 e4e5",
            "d7d5",
            "position fen rnbqkbnr/1pp1pppp/p7/3pP3/8/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 3",
        ),
        (fen, "a1a8 e8e7", "position fen R3k2r/8/8/8/8/8/8/4K2R b Kk - 0 1 moves e8e7"),
    ];
    for (start, events, line) in cases {
        let rules = Rules { short_position: true, ..RULES };
        let (game, _) = play(GameSetup { rules, ..setup(start, "nodes=1") }, events);
        assert_eq!(String::from_utf8_lossy(game.position_line()), line, "{start} {events}");
    }
}

#[test]
fn records_hold_what_was_charged() {
    let (mut game, _) = Game::new(setup("startpos moves e2e4", "1+0.1")).expect("setup");
    let info = SearchInfo { score: Some(Score::Cp(-13)), depth: Some(9), nodes: Some(5), ..SearchInfo::default() };
    // What is below a microsecond is neither charged nor on record.
    game.handle(Input::Move { text: "e7e5", elapsed: Duration::from_nanos(250_123_999), info });
    let record = MoveRecord {
        uci: "e7e5".to_owned(),
        elapsed: Duration::from_micros(250_123),
        left: Some(Duration::from_micros(949_877)),
        info,
        waited: None,
        said: RecordedOutput::default(),
    };
    assert_eq!(game.moves(), std::slice::from_ref(&record));
    assert_eq!(game.position().turn(), Color::White);
    let parts = game.into_parts();
    assert_eq!((parts.moves, parts.ending), (vec![record], None));
    assert_eq!(parts.opening.moves, ["e2e4"]);
}

#[test]
fn setups_that_are_refused() {
    let cases = [
        (
            setup("4k3/8/8/8/8/8/8/8 w - - 0 1", "nodes=1"),
            "opening 7: `4k3/8/8/8/8/8/8/8 w - - 0 1`: illegal position: missing king",
        ),
        (setup("startpos moves e2e4 e2e4", "nodes=1"), "opening 7: book ply 2: `e2e4` is not legal here"),
        (
            setup("startpos moves f2f3 e7e5 g2g4 d8h4 a2a3", "nodes=1"),
            "opening 7: book ply 5: `a2a3` is not legal here",
        ),
        (
            GameSetup {
                limits: ByColor { white: Limit::nodes(1), black: Limit::default() },
                ..setup("startpos", "nodes=1")
            },
            "Black has no limit; give a time control, movetime, nodes or depth",
        ),
    ];
    for (setup, message) in cases {
        assert_eq!(Game::new(setup).expect_err(message).to_string(), message);
    }
}

proptest! {
    /// The short position line leads to the position of the game, with its repetitions.
    #[test]
    fn short_position_lines(numbers in proptest::collection::vec(any::<u16>(), 0..200)) {
        let mut setup = setup("4k3/2p4r/8/3P4/8/8/8/R3K3 w Q - 5 9", "nodes=1");
        setup.rules.short_position = true;
        let (mut game, mut step) = Game::new(setup).expect("setup");
        for number in numbers {
            let Step::Think(_) = step else { break };
            let legal = game.position().legal_moves();
            // Often the same few moves, so that positions come again.
            let good = legal[usize::from(number) % legal.len().min(3)].clone();
            let info = SearchInfo::default();
            step = game.handle(Input::Move { text: &good, elapsed: Duration::ZERO, info });
            let line = String::from_utf8_lossy(game.position_line()).into_owned();
            let fen = line.strip_prefix("position fen ").expect("no game from the start");
            let (fen, moves) = fen.split_once(" moves ").unwrap_or((fen, ""));
            let mut read = Position::from_fen(fen, Variant::Standard).expect(fen);
            for uci in moves.split_whitespace() {
                read.play(uci).expect(uci);
            }
            prop_assert_eq!(read.fen(), game.position().fen());
            prop_assert_eq!(read.repetitions(), game.position().repetitions());
        }
    }

    /// Any events in any order. Nothing panics, the loser is never the side that did nothing,
    /// clocks never exceed what was given, and the line has as many moves as the record.
    #[test]
    fn any_inputs(events in proptest::collection::vec((0u8..40, any::<u16>(), any::<Option<i16>>(), ".{0,8}"), 0..200)) {
        let mut setup = setup("startpos", "1+0.1");
        setup.rules.draw = Some("count=4,score=2000".parse().expect("rule"));
        setup.rules.resign = Some("count=3,score=3000".parse().expect("rule"));
        let (mut game, mut step) = Game::new(setup).expect("setup");
        for (kind, number, score, junk) in events {
            let Step::Think(request) = &step else { break };
            let mover = request.color;
            prop_assert_eq!(mover, game.position().turn());
            let legal = game.position().legal_moves();
            let good = &legal[usize::from(number) % legal.len()];
            let info = SearchInfo { score: score.map(|cp| Score::Cp(cp.into())), ..SearchInfo::default() };
            let elapsed = Duration::from_micros(u64::from(number));
            let before = game.moves().len();
            step = match kind {
                0 => game.handle(Input::Overrun { elapsed: request.deadline + elapsed, cause: String::new() }),
                1 => game.handle(Input::Move { text: &junk, elapsed, info }),
                2 => game.handle(Input::Crashed { color: mover.other(), detail: junk }),
                _ => game.handle(Input::Move { text: good, elapsed, info }),
            };
            if let Step::Over(ending) = &step {
                let expected = match kind {
                    0 => Some((Outcome::win(mover.other()), Termination::TimeForfeit)),
                    1 => Some((Outcome::win(mover.other()), Termination::IllegalMove)),
                    2 => Some((Outcome::win(mover), Termination::Crash)),
                    _ => None,
                };
                if let Some(expected) = expected.filter(|_| game.moves().len() == before) {
                    prop_assert_eq!((ending.outcome, ending.termination), expected);
                }
            }
        }
        // An illegal move is charged as a move before it is looked at.
        let given = ms(1200) + ms(100) * u32::try_from(game.moves().len()).expect("small");
        for color in [Color::White, Color::Black] {
            prop_assert!(game.clock(color).left().is_some_and(|left| left <= given));
        }
        let words = String::from_utf8_lossy(game.position_line()).split(' ').count();
        let moves = game.moves().len();
        prop_assert_eq!(words, if moves == 0 { 2 } else { 3 + moves });
    }
}

/// Tables in which the side to move always wins.
#[derive(Debug)]
struct MoverWins;

impl Probe for MoverWins {
    fn most_men(&self) -> u32 {
        4
    }

    fn probe(&self, _: &Position) -> Option<tablebase::Wdl> {
        Some(tablebase::Wdl::Win)
    }
}

#[test]
fn the_tables_come_after_the_rules_and_before_agreement() {
    use Outcome::{BlackWins, Draw, WhiteWins};
    use Termination::{Checkmate, InsufficientMaterial, ResignAdjudication, TablebaseAdjudication};
    let check = |fen: &str, events: &str, resign: Option<&str>, expected: Option<(Outcome, Termination)>| {
        let mut setup = setup(fen, "nodes=1");
        setup.rules.syzygy = Some(crate::plan::rules::SyzygyRule::new("tables").unwrap());
        setup.rules.resign = resign.map(|rule| rule.parse().unwrap());
        let (mut game, mut step) = Game::new(setup).unwrap();
        game.set_tables(Arc::new(MoverWins));
        for event in events.split_whitespace() {
            assert!(matches!(step, Step::Think(_)), "{fen}, {events}: {step:?}");
            step = advance(&mut game, event);
        }
        let ended = match step {
            Step::Over(Ending { outcome, termination, .. }) => Some((outcome, termination)),
            Step::Think(_) => None,
        };
        assert_eq!(ended, expected, "{fen}, {events}");
    };
    let capture = "4k3/8/8/8/8/8/r3n3/R3K3 w Q - 0 1";
    // An opening is played, and moves that begin no new count are.
    check("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a2 e8e7", None, None);
    check(capture, "a1a2", None, Some((BlackWins, TablebaseAdjudication)));
    check("4k3/8/8/8/8/8/4P3/R3K3 w Q - 0 1", "e2e4 e8e7", None, None);
    check("4k3/8/8/8/8/8/4P3/R3K3 w - - 0 1", "a1a2 e8e7 e2e4", None, Some((BlackWins, TablebaseAdjudication)));
    check("4k3/4p3/8/8/8/8/8/R3K3 w - - 5 1", "a1a2 e7e5", None, Some((WhiteWins, TablebaseAdjudication)));
    // Five men are not in these tables.
    check("4k3/4p3/8/8/8/8/4P3/R3K3 w - - 0 1", "e2e4", None, None);
    check("7k/6pQ/6K1/8/8/8/8/8 b - - 0 1", "", None, Some((WhiteWins, Checkmate)));
    check("7k/5Kp1/8/8/8/8/8/6Q1 w - - 0 1", "g1g7", None, Some((WhiteWins, Checkmate)));
    check("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1", "e1e2", None, Some((Draw, InsufficientMaterial)));
    let resign = Some("count=1,score=100");
    check(capture, "a1a2:-500", resign, Some((BlackWins, TablebaseAdjudication)));
    check("4k3/8/8/8/8/8/8/R3K3 w - - 0 1", "a1a2:-500", resign, Some((BlackWins, ResignAdjudication)));
}

#[test]
fn an_opening_has_one_form() {
    let written = |fen: &str, moves: &str| {
        let moves = moves.split_whitespace().map(str::to_owned).collect();
        let mut opening = Opening { index: 6, fen: fen.to_owned(), moves };
        normalize(&mut opening, Variant::Standard).map(|()| opening)
    };
    let start = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq";
    // Books name squares that no pawn can take on, castling rights in any order, and move 0.
    for loose in [format!("{start} e6 0 2"), format!("{start} - 0 2"), start.replace("KQkq", "kqKQ") + " - 0 2"] {
        let opening = written(&loose, "g1f3 b8c6").unwrap();
        assert_eq!((opening.fen.as_str(), opening.moves.len()), (format!("{start} - 0 2").as_str(), 2), "{loose}");
        assert_eq!(written(&opening.fen, "g1f3 b8c6").as_ref(), Ok(&opening));
        // The record of a game has that form.
        let (game, _) = Game::new(setup(&format!("{loose} moves g1f3 b8c6"), "1+0")).unwrap();
        assert_eq!(game.opening, opening);
    }
    assert!(matches!(written(&format!("{start} - 0 1"), "e2e5"), Err(SetupError::Move { index: 7, ply: 1, .. })));
    assert!(matches!(written("8/8 w - -", ""), Err(SetupError::Fen { index: 7, .. })));
}
