use std::io::BufReader;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::record::{
    ByColor, Ending, EngineId, GameId, MoveLoad, MoveRecord, Opening, Outcome, Overstep, PlayerId, PvFault,
    RecordedOutput, Score, SearchInfo, SinceFlag, Termination,
};

pub(crate) fn game(number: u64) -> GameRecord {
    let score = if number.is_multiple_of(2) { Score::Cp(-31) } else { Score::Mate(3) };
    GameRecord {
        id: GameId::from_number(number).unwrap(),
        players: ByColor { white: PlayerId(0), black: PlayerId(1) },
        engines: ByColor {
            white: EngineId { name: "Fancy 1".to_owned(), author: String::new() },
            black: EngineId::default(),
        },
        opening: Opening { index: 7, fen: "8/8/8/8/8/k7/8/K6R w - - 0 1".to_owned(), moves: vec!["h1h2".to_owned()] },
        moves: vec![MoveRecord {
            uci: "a3b3".to_owned(),
            elapsed: Duration::from_micros(1_234),
            left: Some(Duration::from_micros(998_766)),
            info: SearchInfo { score: Some(score), depth: Some(9), nodes: Some(u64::MAX), ..SearchInfo::default() },
            waited: number.is_multiple_of(3).then_some(Duration::from_micros(17)),
            said: if number.is_multiple_of(2) {
                RecordedOutput { pv: "a3b3 h2h1".to_owned(), lines: vec!["info \"x\"".to_owned(), String::new()] }
            } else {
                RecordedOutput::default()
            },
        }],
        ending: Ending {
            outcome: Outcome::Draw,
            termination: Termination::Stall,
            detail: "quotes \" and\nlines\u{0}".to_owned(),
        },
        started: Duration::from_micros(1_700_000_000_000_000),
        took: Duration::from_micros(77),
        overstep: number.is_multiple_of(3).then_some(Overstep {
            allowed: Duration::from_micros(105_000),
            answered: Some(Duration::from_micros(171_964)),
            load: MoveLoad {
                engine_waited: Some(Duration::from_micros(90_001)),
                stopped: Some(Duration::from_micros(4_000_001)),
                since_flag: number.is_multiple_of(2).then_some(SinceFlag {
                    elapsed: Duration::from_micros(9_001),
                    ran: Duration::from_micros(1_002),
                    waited: Duration::from_micros(5_003),
                    runner_waited: Duration::from_micros(2_004),
                    stolen: Duration::ZERO,
                }),
                ..MoveLoad::default()
            },
        }),
        is_void: number == 3,
        values: (number == 2).then(|| ByColor { white: vec!["12".to_owned()], black: vec!["-0.5".to_owned()] }),
        worker: None,
        scale: crate::record::TimeScale::from_millionths(1_360_123),
    }
}

pub(super) fn header() -> Header {
    Header { plan_sha256: "ab".repeat(32), program: "0.1.0".to_owned() }
}

pub(super) fn collect(path: &Path) -> Result<(Vec<GameRecord>, JournalReading), JournalError> {
    let mut games = Vec::new();
    let replayed = read(path, |game| games.push(game))?;
    Ok((games, replayed))
}

/// A journal of three games in a fresh folder.
pub(super) fn three() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(FILE_NAME);
    let mut journal = Journal::create(&path, &header()).unwrap();
    for number in 1..=3 {
        journal.append(&game(number)).unwrap();
    }
    journal.sync().unwrap();
    (dir, path)
}

#[test]
fn what_is_appended_is_read_back() {
    let (_dir, path) = three();
    let (games, replayed) = collect(&path).unwrap();
    assert_eq!(games, (1..=3).map(game).collect::<Vec<_>>());
    assert_eq!((replayed.header, replayed.torn_bytes), (header(), 0));
}

/// A game with more text of the engines than a line takes counts without it.
#[test]
fn a_game_with_too_much_text_can_be_read_again() {
    let (_dir, path) = three();
    let (mut journal, _) = Journal::resume(&path, None, |_| {}).unwrap();
    let mut long = game(4);
    long.moves[0].said.lines = vec!["x".repeat(lines::LONGEST)];
    journal.append(&long).unwrap();
    journal.append(&game(5)).unwrap();
    journal.sync().unwrap();
    let (games, _) = collect(&path).unwrap();
    long.moves[0].said = RecordedOutput::default();
    assert_eq!(games[3..], [long, game(5)]);
}

#[test]
fn every_line_is_a_json_object() {
    let (_dir, path) = three();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object());
    }
}

/// Journals of stored runs, one of them of a tuning: reader and writer keep the name of each key.
#[test]
fn stored_lines_are_written_as_they_are() {
    for stored in
        [include_str!("../../tests/it/fixtures/v2/games.jsonl"), include_str!("../../tests/it/fixtures/v2/tuned.jsonl")]
    {
        let (mut written, mut line) = (Vec::new(), Vec::new());
        let record = |game: GameRecord| {
            format::write_game(&game, &mut line);
            written.extend_from_slice(&line);
        };
        let header = read_from(stored.as_bytes(), Path::new(FILE_NAME), record).unwrap().header;
        format::write_header(&header, &mut line);
        assert_eq!(String::from_utf8([line, written].concat()).unwrap(), stored);
    }
}

/// Cuts at every byte: whole lines survive, the torn one is dropped, and the journal continues
/// after it.
#[test]
fn a_torn_tail_is_dropped_wherever_it_is_cut() {
    let (_dir, path) = three();
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect();
    for cut in ends[0]..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let kept = ends.iter().filter(|end| **end <= cut).count() - 1;
        let mut games = Vec::new();
        let (mut journal, replayed) = Journal::resume(&path, None, |game| games.push(game)).unwrap();
        assert_eq!(games.len(), kept, "cut at {cut}");
        assert_eq!(replayed.torn_bytes as usize, cut - ends[kept]);
        journal.append(&game(9)).unwrap();
        drop(journal);
        assert_eq!(collect(&path).unwrap().0.len(), kept + 1, "cut at {cut}");
    }
}

/// A tail of NULs, as after a power cut, with or without a torn line before and line feeds between.
#[test]
fn a_tail_of_nuls_is_torn() {
    for tail in ["\0", "\0\0\0\n", "\0\n\0\0\n\0", "{\"v\":1,\"ki\0\0\0\0", "{\"v\":1\0\0\n\0\0\r\n\0", "torn\n\0"] {
        let (_dir, path) = three();
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], tail.as_bytes()].concat()).unwrap();
        assert_eq!(mend(&path, &header(), None).unwrap(), None, "{tail:?}");
        let mut games = 0;
        let (journal, replayed) = Journal::resume(&path, None, |_| games += 1).unwrap();
        assert_eq!((games, replayed.torn_bytes), (3, tail.len() as u64), "{tail:?}");
        drop(journal);
        assert_eq!(std::fs::read(&path).unwrap(), whole, "{tail:?}");
        // With a game after them they are in the middle.
        let mut line = Vec::new();
        format::write_game(&game(4), &mut line);
        std::fs::write(&path, [&whole[..], tail.as_bytes(), b"\n", &line].concat()).unwrap();
        assert!(matches!(collect(&path).unwrap_err(), JournalError::Damaged { line: 5, .. }), "{tail:?}");
    }
}

/// A tail of gigabytes is not read into memory.
#[test]
fn an_endless_line_is_bounded() {
    const LENGTH: u64 = lines::LONGEST as u64 + (8 << 20);
    let bytes = journal_of(&[game(1)]);
    let tail = || BufReader::new(std::io::Read::take(std::io::repeat(0), LENGTH));
    let mut lines = JournalLines::new(tail());
    assert_eq!((lines.advance().unwrap(), lines.line.len()), (LENGTH, lines::LONGEST));
    let replayed = read_from(std::io::Read::chain(&bytes[..], tail()), Path::new(FILE_NAME), |_| {}).unwrap();
    assert_eq!((replayed.games, replayed.torn_bytes), (1, LENGTH));
}

#[test]
fn damaged_lines_are_dropped_and_the_old_file_is_kept() {
    let (dir, path) = three();
    let whole = std::fs::read(&path).unwrap();
    assert_eq!(mend(&path, &header(), None).unwrap(), None);
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let mut bad = lines[2].to_vec();
    bad[30] ^= 1;
    // The third line is damaged, the fifth a page of NULs, and the tail is torn.
    let damaged = [lines[0], lines[1], &bad, lines[3], b"\0\0\0\n", lines[2], &lines[1][..50]].concat();
    for name in ["games.jsonl.damaged", "games.jsonl.damaged-2"] {
        std::fs::write(&path, &damaged).unwrap();
        let error = collect(&path).unwrap_err().to_string();
        let remedy = format!("`quintain resume {} --drop-damaged`", dir.path().display());
        assert!(error.contains(":3: damaged record") && error.contains(&remedy), "{error}");
        let mended = mend(&path, &header(), None).unwrap().unwrap();
        assert_eq!(mended, RepairReport { lines: vec![3, 5], superseded: vec![], kept: dir.path().join(name) });
        assert_eq!(std::fs::read(&mended.kept).unwrap(), damaged);
        let (games, replayed) = collect(&path).unwrap();
        assert_eq!(games, [game(1), game(3), game(2)]);
        assert_eq!(replayed.torn_bytes, 0);
    }
    // Two lines of rubbish are more than a torn tail.
    std::fs::write(&path, [&whole[..], b"x\n", b"y\n"].concat()).unwrap();
    assert!(matches!(collect(&path).unwrap_err(), JournalError::Damaged { line: 5, .. }));
    assert_eq!(mend(&path, &header(), None).unwrap().unwrap().lines, [5, 6]);
    assert_eq!(std::fs::read(&path).unwrap(), whole);
    std::fs::write(&path, [&lines[0][..9], lines[1]].concat()).unwrap();
    assert!(matches!(mend(&path, &header(), None).unwrap_err(), JournalError::NoHeader { .. }));
    std::fs::write(&path, &damaged).unwrap();
    let lock = open_locked(&path).unwrap();
    assert!(matches!(mend(&path, &header(), None).unwrap_err(), JournalError::Locked { .. }));
    drop(lock);
}

/// Reading and mending keep the first record of a game. After a void game of its pair it counts as
/// another game.
#[test]
fn of_a_game_that_stands_twice_the_first_is_kept() {
    let (_dir, path) = three();
    let other = |number| GameRecord { took: Duration::from_secs(9), ..game(number) };
    let bytes = journal_of(&[game(1), game(2), game(2), other(1), game(4), game(3), other(4)]);
    std::fs::write(&path, &bytes).unwrap();
    let kept = [game(1), game(2), game(4), game(3), other(4)];
    assert_eq!(collect(&path).unwrap().0, kept);
    let mended = mend(&path, &header(), None).unwrap().unwrap();
    assert_eq!((mended.lines.is_empty(), mended.superseded), (true, vec![5]));
    assert_eq!(collect(&path).unwrap().0, kept);
    assert_eq!(mend(&path, &header(), None).unwrap(), None);
}

/// A damaged header is replaced if games follow it, and only then.
#[test]
fn a_damaged_first_line_costs_no_game() {
    let (_dir, path) = three();
    let whole = std::fs::read(&path).unwrap();
    for at in [1, 30, 60] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let error = collect(&path).unwrap_err().to_string();
        assert!(error.contains(":1: damaged record") && error.contains("have a new header written with"), "{error}");
        let mended = mend(&path, &header(), None).unwrap().unwrap();
        assert_eq!((mended.has_new_header(), &mended.lines), (true, &vec![1]), "byte {at}");
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
    let header_only = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for rest in [&b""[..], b"x\n", b"x\ny\n"] {
        std::fs::write(&path, [b"[", &whole[1..header_only], rest].concat()).unwrap();
        assert!(matches!(mend(&path, &header(), None).unwrap_err(), JournalError::NoHeader { .. }), "{rest:?}");
    }
}

/// A right checksum alone does not prove that a game fits the plan.
#[test]
fn what_no_game_of_the_plan_can_be_is_damage() {
    let plan = include_str!("../../tests/it/fixtures/v1/plan.toml");
    let expected = PlanFacts::new(&crate::plan::file::from_toml(plan).unwrap(), Some(header().plan_sha256));
    let elsewhere = PlanFacts::new(&crate::plan::file::from_toml(plan).unwrap(), Some("other".to_owned()));
    let right = |number| {
        let like = game(number);
        let ByColor { white, black } = like.players;
        let players = if number % 2 == 0 { ByColor { white: black, black: white } } else { like.players };
        GameRecord { players, is_void: false, ..like }
    };
    let players = |white, black| ByColor { white: PlayerId(white), black: PlayerId(black) };
    let opening = Opening { fen: "8/8/8/8/8/8/8/8 w - - 0 1".to_owned(), ..game(1).opening };
    for (bad, words) in [
        (GameRecord { players: players(0, 0), ..right(2) }, "player 0 is both sides"),
        (GameRecord { players: players(65_535, 0), ..right(2) }, "the plan has no player 65535"),
        (
            GameRecord { players: players(0, 1), ..right(2) },
            "player 0 has White in a game where the plan gives it Black",
        ),
        (GameRecord { opening, ..right(2) }, ""),
    ] {
        let (_dir, path) = three();
        let bytes = journal_of(&[right(1), bad.clone(), right(3)]);
        std::fs::write(&path, &bytes).unwrap();
        let error = expected.read(&path, |_| {}).unwrap_err();
        assert!(matches!(&error, JournalError::Damaged { line: 3, why, .. } if why.contains(words)), "{error}");
        // Games of another plan, which their header tells.
        assert_eq!(elsewhere.read(&path, |_| {}).unwrap().games, 3);
        assert_eq!(mend(&path, &header(), Some(&elsewhere)).unwrap(), None);
        assert_eq!(mend(&path, &header(), Some(&expected)).unwrap().unwrap().lines, [3]);
        let mut games = Vec::new();
        expected.read(&path, |game| games.push(game)).unwrap();
        assert_eq!(games, [right(1), right(3)], "{words}");
    }
}

#[test]
fn damage_in_the_middle_names_the_line() {
    let (_dir, path) = three();
    let mut bytes = std::fs::read(&path).unwrap();
    let second = bytes.iter().position(|b| *b == b'\n').unwrap() + 30;
    bytes[second] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let error = collect(&path).unwrap_err();
    assert!(matches!(error, JournalError::Damaged { line: 2, .. }), "{error}");
}

#[test]
fn a_torn_header_is_no_journal() {
    let (_dir, path) = three();
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..20]).unwrap();
    assert!(matches!(collect(&path).unwrap_err(), JournalError::NoHeader { .. }));
}

#[test]
fn two_processes_cannot_append() {
    let (_dir, path) = three();
    let (journal, _) = Journal::resume(&path, None, |_| {}).unwrap();
    assert!(matches!(Journal::resume(&path, None, |_| {}).unwrap_err(), JournalError::Locked { .. }));
    drop(journal);
    Journal::resume(&path, None, |_| {}).unwrap();
}

/// Windows does not tell.
#[cfg(unix)]
#[test]
fn a_journal_that_was_removed_takes_no_game() {
    let (dir, path) = three();
    let (mut journal, _) = Journal::resume(&path, None, |_| {}).unwrap();
    journal.append(&game(4)).unwrap();
    journal.sync().unwrap();
    // A journal that only moved has its games.
    let moved = dir.path().join("moved");
    std::fs::rename(&path, &moved).unwrap();
    journal.append(&game(5)).unwrap();
    journal.sync().unwrap();
    assert_eq!(collect(&moved).unwrap().0.len(), 5);
    drop(dir);
    for failed in [journal.sync(), journal.append(&game(6)), journal.sync()] {
        let error = failed.unwrap_err();
        assert!(matches!(error, JournalError::Removed { .. }), "{error}");
        assert!(error.to_string().contains("games.jsonl: removed while the run played"), "{error}");
    }
}

#[test]
fn an_existing_journal_is_never_overwritten() {
    let (_dir, path) = three();
    assert!(matches!(Journal::create(&path, &header()).unwrap_err(), JournalError::Io { .. }));
    assert_eq!(collect(&path).unwrap().0.len(), 3);
}

#[test]
fn a_newer_format_is_refused() {
    let (_dir, path) = three();
    let body = br#"{"v":99,"kind":"run""#;
    let line = format!("{},\"crc\":\"{:08x}\"}}\n", std::str::from_utf8(body).unwrap(), crc32fast::hash(body));
    std::fs::write(&path, line).unwrap();
    assert!(matches!(collect(&path).unwrap_err(), JournalError::Newer { found: 99, .. }));
}

/// Games that the reader hands out from some bytes, with its result.
fn replay(bytes: &[u8]) -> (Vec<GameRecord>, Result<JournalReading, JournalError>) {
    let mut games = Vec::new();
    let replayed = read_from(bytes, Path::new(FILE_NAME), |game| games.push(game));
    (games, replayed)
}

/// The bytes of a whole journal of some games.
fn journal_of(games: &[GameRecord]) -> Vec<u8> {
    let (mut bytes, mut line) = (Vec::new(), Vec::new());
    format::write_header(&header(), &mut line);
    bytes.append(&mut line);
    for game in games {
        line.clear();
        format::write_game(game, &mut line);
        bytes.append(&mut line);
    }
    bytes
}

fn any_game() -> impl Strategy<Value = GameRecord> {
    let info = (any::<Option<i32>>(), any::<bool>(), any::<Option<u32>>(), any::<Option<u64>>());
    let ply = ("[a-h][1-8][a-h][1-8][qrbn]?|.{0,6}", any::<u32>(), any::<Option<u32>>(), info);
    (1u64..1 << 40, ".{0,30}", ".{0,30}", proptest::collection::vec(ply, 0..20)).prop_map(
        |(number, fen, detail, plies)| {
            let us = |n: u32| Duration::from_micros(n.into());
            let moves = plies.into_iter().map(|(uci, elapsed, left, (score, mate, depth, nodes))| MoveRecord {
                uci,
                elapsed: us(elapsed),
                left: left.map(us),
                info: SearchInfo {
                    score: score.map(|n| if mate { Score::Mate(n) } else { Score::Cp(n) }),
                    depth,
                    nodes,
                    ..SearchInfo::default()
                },
                waited: left.map(us),
                said: RecordedOutput::default(),
            });
            let like = game(number);
            GameRecord {
                opening: Opening { fen, ..like.opening },
                ending: Ending { detail, ..like.ending },
                moves: moves.collect(),
                ..like
            }
        },
    )
}

/// Size of the record alone, without its strings and lists.
#[test]
fn a_packed_game_is_a_fraction_of_its_record() {
    let like = game(1).moves.remove(0);
    let ply = |n: u64| MoveRecord { elapsed: Duration::from_micros(n * 7_919 % 100_003), ..like.clone() };
    let long = GameRecord { moves: (0..120).map(ply).collect(), ..game(2) };
    let packed = pack_moves(&long.moves);
    let size = long.moves.len() * size_of::<MoveRecord>();
    assert!(packed.len() * 6 < size, "{} of {size}", packed.len());
    assert_eq!(unpack_moves(&packed).as_ref(), Some(&long.moves));
    for bytes in [&packed[1..], b"", &[&*packed, &[0]].concat()] {
        assert_eq!(unpack_moves(bytes), None);
    }
    // Two games in a row, of which the second one is cut.
    let mut two = Vec::new();
    pack(&long, &mut two);
    let end = two.len();
    pack(&game(3), &mut two);
    let mut rest = &two[..two.len() - 1];
    assert_eq!(unpack(&mut rest, 119), None);
    assert_eq!(unpack(&mut rest, 120), Some(long));
    assert_eq!(rest.len(), two.len() - 1 - end);
    assert_eq!(unpack(&mut rest, 120), None);
}

#[test]
fn a_packed_game_keeps_every_value_of_a_move() {
    let us = |micros| Some(Duration::from_micros(micros));
    let info = SearchInfo {
        score: None,
        depth: Some(u32::MAX),
        seldepth: Some(0),
        nodes: Some(u64::MAX),
        nps: Some(1 << 35),
        time: us(0),
        hashfull: Some(1_000),
        tbhits: Some(127),
        pv_fault: PvFault::ALL.last().copied(),
    };
    let said =
        RecordedOutput { pv: "a7a8q h2h1".to_owned(), lines: vec!["info string \u{e4}".to_owned(), String::new()] };
    let full = |score| MoveRecord {
        uci: "a7a8q".to_owned(),
        elapsed: Duration::from_micros(128),
        left: us(u64::MAX),
        info: SearchInfo { score, ..info },
        waited: us(300_000),
        said: said.clone(),
    };
    let scores = [Score::Cp(i32::MIN), Score::Cp(-1), Score::Cp(i32::MAX), Score::Mate(i32::MIN), Score::Mate(0)];
    let empty = MoveRecord {
        info: SearchInfo::default(),
        left: None,
        waited: None,
        said: RecordedOutput::default(),
        ..full(None)
    };
    let moves: Vec<_> = scores.into_iter().map(|score| full(Some(score))).chain([full(None), empty]).collect();
    let packed = pack_moves(&moves);
    assert_eq!(unpack_moves(&packed), Some(moves));
    for cut in 0..packed.len() {
        assert_eq!(unpack_moves(&packed[..cut]), None, "{cut}");
    }
}

proptest! {
    /// Any game comes back. A journal cut anywhere gives the whole games before the cut and reports
    /// the torn bytes.
    #[test]
    fn no_game_is_lost(games in proptest::collection::vec(any_game(), 0..6), cut in any::<proptest::sample::Index>()) {
        let bytes = journal_of(&games);
        let (read, replayed) = replay(&bytes);
        prop_assert_eq!(&read, &games);
        prop_assert_eq!(replayed.unwrap().torn_bytes, 0);
        let mut packed = Vec::new();
        games.iter().for_each(|game| pack(game, &mut packed));
        let mut packed = &packed[..];
        let unpacked: Vec<_> = std::iter::from_fn(|| unpack(&mut packed, usize::MAX)).collect();
        prop_assert_eq!(&unpacked, &games);
        let cut = cut.index(bytes.len() + 1);
        let lines = bytes[..cut].iter().filter(|b| **b == b'\n').count();
        let (read, replayed) = replay(&bytes[..cut]);
        if lines == 0 {
            prop_assert!(matches!(replayed, Err(JournalError::NoHeader { .. })), "cut at {}", cut);
        } else {
            prop_assert_eq!(&read[..], &games[..lines - 1]);
            let whole = bytes[..cut].iter().rposition(|b| *b == b'\n').map_or(0, |at| at + 1);
            prop_assert_eq!(replayed.unwrap().torn_bytes, (cut - whole) as u64);
        }
    }

    /// A changed byte never yields another game, and loses none before it.
    #[test]
    fn no_game_is_made_up(
        games in proptest::collection::vec(any_game(), 1..5), at in any::<proptest::sample::Index>(), by in 1u8..,
    ) {
        let mut bytes = journal_of(&games);
        let at = at.index(bytes.len());
        let line = bytes[..at].iter().filter(|b| **b == b'\n').count();
        bytes[at] ^= by;
        let (read, _) = replay(&bytes);
        prop_assert!(games.starts_with(&read), "byte {} of line {}", at, line);
        prop_assert!(read.len() >= line.saturating_sub(1));
    }

    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300), tail in proptest::collection::vec(any::<u8>(), 0..80)) {
        let _ = replay(&bytes);
        let (read, replayed) = replay(&[journal_of(&[game(1)]), tail].concat());
        prop_assert_eq!(&read[0], &game(1));
        let refused = matches!(replayed, Err(JournalError::Damaged { .. }));
        prop_assert!(replayed.is_ok() || refused, "{:?}", replayed);
    }
}
