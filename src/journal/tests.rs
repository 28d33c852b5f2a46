use std::time::Duration;

use super::*;
use crate::record::{
    ByColor, Ending, GameId, MoveLoad, MoveRecord, Opening, Outcome, Overstep, PlayerId, Score, SearchInfo, Termination,
};

fn game(number: u64) -> GameRecord {
    let score = if number.is_multiple_of(2) { Score::Cp(-31) } else { Score::Mate(3) };
    GameRecord {
        id: GameId::from_number(number).unwrap(),
        players: ByColor { white: PlayerId(0), black: PlayerId(1) },
        opening: Opening { index: 7, fen: "8/8/8/8/8/k7/8/K6R w - - 0 1".to_owned(), moves: vec!["h1h2".to_owned()] },
        moves: vec![MoveRecord {
            uci: "a3b3".to_owned(),
            elapsed: Duration::from_micros(1_234),
            left: Some(Duration::from_micros(998_766)),
            info: SearchInfo { score: Some(score), depth: Some(9), nodes: Some(u64::MAX), ..SearchInfo::default() },
            waited: number.is_multiple_of(3).then_some(Duration::from_micros(17)),
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
            load: MoveLoad { engine_waited: Some(Duration::from_micros(90_001)), ..MoveLoad::default() },
        }),
        is_void: number == 3,
    }
}

fn header() -> Header {
    Header { plan_sha256: "ab".repeat(32), program: "0.1.0".to_owned() }
}

fn collect(path: &Path) -> Result<(Vec<GameRecord>, Replayed), JournalError> {
    let mut games = Vec::new();
    let replayed = read(path, |game| games.push(game))?;
    Ok((games, replayed))
}

/// A journal of three games in a fresh folder.
fn three() -> (tempfile::TempDir, PathBuf) {
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

#[test]
fn every_line_is_a_json_object() {
    let (_dir, path) = three();
    for line in std::fs::read_to_string(path).unwrap().lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).unwrap().is_object());
    }
}

/// Cut at every byte: whole lines survive, the torn one is dropped, and the journal goes on after it.
#[test]
fn a_torn_tail_is_dropped_wherever_it_is_cut() {
    let (_dir, path) = three();
    let whole = std::fs::read(&path).unwrap();
    let ends: Vec<usize> = whole.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1).collect();
    for cut in ends[0]..=whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let kept = ends.iter().filter(|end| **end <= cut).count() - 1;
        let mut games = Vec::new();
        let (mut journal, replayed) = Journal::resume(&path, |game| games.push(game)).unwrap();
        assert_eq!(games.len(), kept, "cut at {cut}");
        assert_eq!(replayed.torn_bytes as usize, cut - ends[kept]);
        journal.append(&game(9)).unwrap();
        drop(journal);
        assert_eq!(collect(&path).unwrap().0.len(), kept + 1, "cut at {cut}");
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
    let (journal, _) = Journal::resume(&path, |_| {}).unwrap();
    assert!(matches!(Journal::resume(&path, |_| {}).unwrap_err(), JournalError::Locked { .. }));
    drop(journal);
    Journal::resume(&path, |_| {}).unwrap();
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
