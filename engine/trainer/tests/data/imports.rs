//! Imports of PGN and Quintain's journals.

use super::{Folder, lines};
use quintain::journal::archive::{self, ARCHIVE_NAME, Detail};
use quintain::journal::{FILE_NAME, Header, Journal, PlanFacts};
use quintain::plan::file;
use quintain::record::{
    ByColor, Ending, EngineId, GameId, GameRecord, MoveRecord, Opening, Outcome, PlayerId, RecordedOutput, Score,
    SearchInfo, Termination,
};
use std::time::Duration;

/// Imports a PGN and returns its games in self-play format.
fn import(pgn: &str) -> Result<Vec<String>, String> {
    let folder = Folder::new();
    folder.write("a.pgn", pgn);
    if folder.try_run("import @a.pgn --out @a.vf").is_err() {
        return Err(folder.error("import @a.pgn --out @a.vf"));
    }
    folder.run("convert @a.vf --out @a.selfplay");
    Ok(lines(&folder.path("a.selfplay")))
}

#[test]
fn evaluations_of_match_runners_are_the_movers() {
    let pgn = "[White \"a\"]\n[Result \"1-0\"]\n\n1. e4 {book} e5 {book} 2. Nf3 {+0.31/12 1.2s} Nc6 {-0.25/11 0.9s}\n\
               3. Bb5 {+M5/20 0.1s} a6 {-M4/18 0.2s} 4. O-O (4. Bxc6 dxc6) {0.00/1 0s, White mates} 1-0\n\n\
               [White \"b\"]\n[Result \"*\"]\n\n1. e4 {+0.10/3 0s} *\n\n\
               [White \"c\"]\n[Result \"0-1\"]\n\n1. e4 e5 0-1\n\n\
               [White \"d\"]\n[FEN \"4k3/P7/8/8/8/8/8/4K3 w - - 0 1\"]\n[SetUp \"1\"]\n[Result \"1/2-1/2\"]\n\n1. a8=Q+ {+9.50/5 0s} Kd7 1/2-1/2\n";
    let games = import(pgn).unwrap();
    assert_eq!(
        games,
        [
            "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2;\
             g1f3:31 b8c6:-25 f1b5:30994 a7a6:-30996 e1g1:0;1.0",
            "4k3/P7/8/8/8/8/8/4K3 w - - 0 1;a7a8q:950 e8d7:-;0.5",
        ]
    );
}

#[test]
fn evaluations_of_web_sites_are_whites_after_the_move() {
    let pgn = "[Result \"0-1\"]\n\n1. e4 { [%eval 0.17] [%clk 0:03:00] } 1... e5 { [%eval 0.25] } 2. Qh5?! { [%eval #-4] } 2... Ke7 0-1\n";
    let games = import(pgn).unwrap();
    assert_eq!(games, ["rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1;e7e5:-17 d1h5:25 e8e7:30992;0.0"]);
}

#[test]
fn what_is_no_game_is_named() {
    for (pgn, expected) in [
        ("[Result \"1-0\"]\n\n1. e4 {+0.1/1 0s} Ke2 1-0\n", "a.pgn: game 1: move `Ke2` at ply 2 is not legal"),
        ("[FEN \"8/8 w\"]\n[Result \"1-0\"]\n\n1. e4 1-0\n", "a.pgn: game 1: fen: 2 fields, expected 4 to 6"),
    ] {
        let folder = Folder::new();
        folder.write("a.pgn", pgn);
        assert_eq!(folder.error("import @a.pgn --out @a.vf --max-bad 0"), expected);
    }
}

/// Checks that games that cannot be played are left out and counted, up to a limit.
#[test]
fn one_illegal_move_does_not_end_an_import() {
    let good = pgn_game("");
    let bad = "[Result \"1-0\"]\n\n1. e4 {+0.10/3 0s} Ke2 {+0.10/3 0s} 2. Nf3 1-0\n\n";
    let fen = "[Result \"1-0\"]\n[FEN \"8/8 w\"]\n\n1. e4 {+0.10/3 0s} 1-0\n\n";
    let text = [&good, bad, &good, fen, bad, &good].concat();
    let folder = Folder::new();
    folder.write("a.pgn", &text);
    let told = folder.told("import @a.pgn --out @a.vf");
    assert!(told.starts_with("3 records, 6 positions"), "{told}");
    assert!(told.contains(", 3 games left out (illegal move or start)"), "{told}");
    assert!(folder.told("import @a.pgn --out @b.vf --max-bad 3").starts_with("3 records"));
    for out in outputs("c") {
        let error = folder.error(&format!("import @a.pgn --out @{out} --max-bad 2"));
        assert_eq!(
            error,
            "a.pgn: 3 games that cannot be played, 2 may be; mend the file, or give more with `--max-bad`"
        );
        assert!(!folder.path(&out).exists());
    }
    if cfg!(feature = "binpack") {
        let told = folder.told("import @a.pgn --out @a.binpack --max-bad 3");
        assert!(told.starts_with("6 positions in "), "{told}");
        assert!(told.contains(", 3 games left out (illegal move or start)"), "{told}");
    }
}

/// Returns one output name per writer that an import uses.
fn outputs(name: &str) -> Vec<String> {
    let extensions: &[&str] = if cfg!(feature = "binpack") { &["vf", "binpack"] } else { &["vf"] };
    extensions.iter().map(|extension| format!("{name}.{extension}")).collect()
}

/// Checks that an import without games fails and leaves no file.
#[test]
fn what_holds_no_game_to_learn_from_is_an_error() {
    // Random bytes, some of which look like tags; games without evaluations; an empty file.
    let mut state = 1_u64;
    let noise: Vec<u8> = (0..300_000)
        .map(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .collect();
    let unscored = b"[Result \"1-0\"]\n\n1. e4 e5 1-0\n\n".to_vec();
    for (name, bytes, part) in [
        ("a.pgn", noise, "a.pgn: "),
        ("b.pgn", unscored, "b.pgn: no game with an evaluation in it, 1 games passed over ("),
        ("c.vf", Vec::new(), "c.vf: no game with an evaluation in it; nothing was written"),
    ] {
        let folder = Folder::new();
        std::fs::write(folder.path(name), bytes).unwrap();
        for out in outputs("out") {
            let error = folder.error(&format!("import @{name} --out @{out}"));
            assert!(error.starts_with(part), "{error}");
            assert!(!folder.path(&out).exists());
        }
    }
}

fn record(number: u64, termination: Termination, is_void: bool) -> GameRecord {
    let moved = |uci: &str, score| MoveRecord {
        uci: uci.to_owned(),
        elapsed: Duration::from_millis(5),
        left: None,
        info: SearchInfo { score, ..SearchInfo::default() },
        waited: None,
        said: RecordedOutput::default(),
    };
    GameRecord {
        id: GameId::from_number(number).unwrap(),
        players: ByColor { white: PlayerId(0), black: PlayerId(1) },
        engines: ByColor { white: EngineId::default(), black: EngineId::default() },
        opening: Opening {
            index: 0,
            fen: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1".to_owned(),
            moves: vec!["e2e4".to_owned()],
        },
        moves: vec![
            moved("e7e5", Some(Score::Cp(-12))),
            moved("g1f3", None),
            moved("b8c6", Some(Score::Mate(3))),
            moved("f1b5", Some(Score::Mate(-2))),
        ],
        ending: Ending { outcome: Outcome::BlackWins, termination, detail: String::new() },
        started: Duration::from_secs(1),
        took: Duration::from_secs(1),
        overstep: None,
        is_void,
        values: None,
        worker: None,
        scale: None,
    }
}

/// Writes a run with the journal of these games as the folder `run`.
fn write_run(folder: &Folder, games: &[GameRecord]) {
    std::fs::create_dir(folder.path("run")).unwrap();
    let header = Header { plan_sha256: "0".repeat(64), program: "test".to_owned() };
    let mut journal = Journal::create(&folder.path("run").join(FILE_NAME), &header).unwrap();
    games.iter().for_each(|game| journal.append(game).unwrap());
}

#[test]
fn journals_give_the_games_that_count() {
    let folder = Folder::new();
    let mut dropped = record(5, Termination::Checkmate, false);
    dropped.moves.truncate(2);
    let mut alone = record(7, Termination::Checkmate, false);
    alone.moves.truncate(3);
    let games = [
        record(1, Termination::ResignAdjudication, false),
        record(2, Termination::TimeForfeit, false),
        dropped,
        record(3, Termination::Crash, false),
        alone,
        // Both games of the pair are played again.
        record(6, Termination::Checkmate, true),
        record(5, Termination::Checkmate, false),
        // Both games of the pair are missing.
        record(4, Termination::Checkmate, true),
        record(6, Termination::Checkmate, false),
    ];
    write_run(&folder, &games);
    let told = folder.told("import @run --out @a.vf");
    assert!(told.starts_with("4 records, 15 positions") && told.contains(", 3 games passed over ("), "{told}");
    folder.run("convert @a.vf --out @a.selfplay");
    let [three, last] = ["e7e5:-12 g1f3:- b8c6:30994", " f1b5:-30996"];
    let line = |plies: &str| format!("rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1;{three}{plies};0.0");
    // The game without the other one of its pair comes last.
    assert_eq!(lines(&folder.path("a.selfplay")), [line(last), line(last), line(last), line("")]);
    folder.write("run/games.jsonl", "no journal\n");
    let error = folder.error("import @run --out @b.vf");
    assert_eq!(error.matches("run/games.jsonl").count(), 1, "{error}");
    assert_eq!(error.matches(':').count(), 1, "{error}");
}

#[test]
fn an_archived_run_is_read_unless_it_has_no_scores() {
    let folder = Folder::new();
    let games = [1, 2, 3].map(|number| record(number, Termination::Checkmate, false));
    write_run(&folder, &games);
    // Facts of another plan, with which no game is compared.
    let plan = file::from_toml(include_str!("../../../../tests/it/fixtures/v1/plan.toml")).unwrap();
    let facts = PlanFacts::new(&plan, Some("other".to_owned()));
    for (name, detail) in [("archived", Detail::Full), ("moves", Detail::Moves)] {
        std::fs::create_dir(folder.path(name)).unwrap();
        let archive = folder.path(name).join(ARCHIVE_NAME);
        archive::pack(&folder.path("run").join(FILE_NAME), &archive, &facts, detail).unwrap();
    }
    folder.run("import @run --out @a.vf");
    folder.run("import @archived --out @b.vf");
    assert!(folder.read("a.vf") == folder.read("b.vf"));
    for words in ["import @moves --out @c.vf", "check @moves"] {
        let error = folder.error(words);
        assert!(error.starts_with("moves/games.json.gz: no scores") && error.contains("`--moves-only`"), "{error}");
    }
    assert!(!folder.path("c.vf").exists());
    let whole = folder.read("archived/games.json.gz");
    folder.write("archived/games.json.gz", &whole[..whole.len() / 2]);
    let error = folder.error("check @archived");
    assert!(error.starts_with("archived/games.json.gz: ") && error.contains("damaged archive"), "{error}");
    assert_eq!(error.matches("archived/").count(), 1, "{error}");
}

/// Returns a game as PGN with additional tags.
fn pgn_game(tags: &str) -> String {
    format!("[Result \"1-0\"]\n{tags}\n1. e4 {{+0.10/3 0s}} e5 {{+0.10/3 0s}} 1-0\n\n")
}

#[test]
fn games_that_were_not_played_out_are_passed_over_and_counted() {
    let folder = Folder::new();
    let ended = |how: &str| pgn_game(&format!("[Termination \"{how}\"]\n"));
    let kept: String = ["normal", "adjudication", "Normal", "anna won by checkmate"].map(ended).concat();
    let passed: String = [
        "time forfeit",
        "Time forfeit",
        "abandoned",
        "Abandoned",
        "rules infraction",
        "illegal move",
        "stalled connection",
        "unterminated",
        "anna won on time",
        "anna won - game abandoned",
    ]
    .map(ended)
    .concat();
    let empty = "[Result \"*\"]\n\n1. e4 {+0.1/3 0s} *\n\n[Result \"1-0\"]\n\n1. e4 1-0\n\n";
    folder.write("a.pgn", kept.clone() + &passed + empty + &pgn_game(""));
    let told = folder.told("import @a.pgn --out @a.vf");
    assert!(told.starts_with("5 records, 10 positions") && told.contains(", 12 games passed over ("), "{told}");
    let told = folder.told("check @a.pgn");
    assert!(told.starts_with("5 records with 10 positions") && told.contains(", 12 games passed over ("), "{told}");
    let told = folder.told("info @a.pgn");
    assert!(told.contains("\ngames passed over 12\n"), "{told}");
    assert!(folder.told("info @a.pgn --json").contains("\"passed_over\": 12"));
    for words in ["shuffle @a.pgn --out @b.bf", "interleave @a.pgn --out @c.bf", "dedup @a.pgn --out @d.bf"] {
        let told = folder.told(words);
        assert!(told.contains(", 12 games passed over ("), "{words}: {told}");
    }
    let told = folder.told("split @a.pgn --out @e.bf --validation @f.bf");
    assert!(told.contains("\n12 games passed over ("), "{told}");
    folder.write("k.pgn", kept);
    let told = folder.told("import @k.pgn --out @k.vf");
    assert!(!told.contains("passed over"), "{told}");
}

#[test]
fn a_file_without_games_is_no_pgn() {
    let folder = Folder::new();
    let text = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 21 | 7 | 0.5\n";
    for bytes in ["", "\n\n", text, "1. e4 {+0.1/3 0s} e5 1-0\n"] {
        folder.write("a.pgn", bytes);
        for words in ["check @a.pgn", "info @a.pgn", "import @a.pgn --out @a.vf"] {
            let expected = "a.pgn: line 1: no game with tags from here to the end; is this a PGN file?";
            assert_eq!(folder.error(words), expected, "{words} {bytes:?}");
        }
    }
}

#[test]
fn a_torn_pgn_names_its_last_game_and_the_remedy() {
    let folder = Folder::new();
    let whole = pgn_game("").repeat(3);
    let torn = &whole[..whole.rfind('}').unwrap() - 4];
    folder.write("a.pgn", torn);
    assert_eq!(
        folder.error("check @a.pgn"),
        "a.pgn: game 3: unterminated comment; if the file is torn there, cut it before the tags of this game to use the rest"
    );
    folder.write("b.pgn", &torn[..torn.rfind("[Result").unwrap()]);
    folder.run("check @b.pgn");
}
