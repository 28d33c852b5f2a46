use std::time::Duration;

use super::*;
use crate::journal::Journal;
use crate::journal::tests::{collect, game, header, three};
use crate::record::{MoveRecord, RecordedOutput, SearchInfo};

/// Facts of another plan, with which no game is compared.
fn facts() -> PlanFacts {
    let plan = include_str!("../../../tests/it/fixtures/v1/plan.toml");
    PlanFacts::new(&crate::plan::file::from_toml(plan).unwrap(), Some("other".to_owned()))
}

/// A game of `plies` plies under a clock with numbers of every kind.
fn clocked(number: u64, plies: u64) -> GameRecord {
    let mut record = game(number);
    let model = record.moves[0].clone();
    record.moves = (0..plies)
        .map(|ply| {
            let mut moved = MoveRecord { elapsed: Duration::from_micros(7_000 + ply), ..model.clone() };
            moved.left = (ply % 7 != 3).then(|| Duration::from_micros(60_000_000 - 1_000 * ply));
            moved.info.time = (ply % 3 != 1).then(|| Duration::from_micros(6_000 + (ply % 5) * 500));
            moved.info.nodes = (ply % 4 != 2).then_some(if ply == 0 { u64::MAX } else { 7_000 + ply });
            moved.info.nps = (ply % 5 != 4).then_some(if ply == 8 { u64::MAX } else { 1_166_833 });
            moved
        })
        .collect();
    record
}

/// Packs a journal with these games and returns the folder of both.
fn packed(games: &[GameRecord]) -> (tempfile::TempDir, ArchiveReport) {
    packed_with(games, Detail::Full)
}

fn packed_with(games: &[GameRecord], detail: Detail) -> (tempfile::TempDir, ArchiveReport) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run").join(FILE_NAME);
    std::fs::create_dir(dir.path().join("run")).unwrap();
    let mut journal = Journal::create(&path, &header()).unwrap();
    games.iter().for_each(|game| journal.append(game).unwrap());
    let report = pack(&path, &dir.path().join(ARCHIVE_NAME), &facts(), detail).unwrap();
    (dir, report)
}

#[test]
fn an_archive_holds_every_field_of_every_game() {
    let games = [game(1), clocked(2, 40), game(3), clocked(5, 0), clocked(7, 1)];
    let (dir, report) = packed(&games);
    // There is no journal beside the archive, so it is read in its place.
    let (found, replayed) = collect(&dir.path().join(FILE_NAME)).unwrap();
    assert_eq!(found, games);
    assert_eq!((replayed.header, replayed.torn_bytes), (header(), 0));
    assert_eq!(report.games, 5);
    let journal = dir.path().join("run").join(FILE_NAME);
    let unpacked = dir.path().join("unpacked.jsonl");
    assert_eq!(unpack(&dir.path().join(ARCHIVE_NAME), &unpacked, &facts()).unwrap(), 5);
    assert_eq!(std::fs::read(&unpacked).unwrap(), std::fs::read(&journal).unwrap());
}

#[test]
fn long_games_make_several_blocks() {
    let long = |number| {
        let mut game = game(number);
        game.moves[0].said = RecordedOutput { pv: String::new(), lines: vec!["x".repeat(BLOCK_BYTES / 2); 1] };
        game
    };
    let games: Vec<_> = (1..=5).filter(|number| *number != 3).map(long).collect();
    let (dir, report) = packed(&games);
    assert_eq!(collect(&dir.path().join(FILE_NAME)).unwrap().0, games);
    assert!(report.archive_bytes * 100 < report.journal_bytes, "{report:?}");
    let mut lines = BufReader::new(GzDecoder::new(File::open(dir.path().join(ARCHIVE_NAME)).unwrap())).lines();
    assert_eq!(lines.by_ref().count(), 3);
}

#[test]
fn clocked_games_shrink_to_a_tenth() {
    let games: Vec<_> =
        (10..60).map(|number| clocked(number, 120)).map(|game| GameRecord { is_void: false, ..game }).collect();
    let (_dir, report) = packed(&games);
    assert!(report.archive_bytes * 10 < report.journal_bytes, "{report:?}");
}

/// Moves, results and everything else of the game stay; times and engine output go.
#[test]
fn an_archive_of_moves_keeps_the_games_and_is_smaller() {
    let games: Vec<_> = (10..60).map(|number| clocked(number, 120)).collect();
    let (_dir, whole) = packed(&games);
    let (dir, small) = packed_with(&games, Detail::Moves);
    assert_eq!(small.journal_bytes, whole.journal_bytes);
    assert!(small.archive_bytes * 2 < whole.archive_bytes, "{small:?} of {whole:?}");
    let (found, _) = collect(&dir.path().join(FILE_NAME)).unwrap();
    assert_eq!(found.len(), games.len());
    for (found, game) in found.iter().zip(&games) {
        let moves = |game: &GameRecord| game.moves.iter().map(|played| played.uci.clone()).collect::<Vec<_>>();
        assert_eq!(moves(found), moves(game));
        assert!(found.moves.iter().all(|played| played.elapsed.is_zero() && played.info == SearchInfo::default()));
        assert_eq!(GameRecord { moves: game.moves.clone(), ..found.clone() }, *game);
    }
}

/// A cut archive is an error that names it, and never a shorter run.
#[test]
fn a_cut_or_changed_archive_is_refused() {
    let games = [clocked(1, 3), game(2), game(3)];
    let (dir, _) = packed(&games);
    let (archive, journal) = (dir.path().join(ARCHIVE_NAME), dir.path().join(FILE_NAME));
    let whole = std::fs::read(&archive).unwrap();
    for cut in 0..whole.len() {
        std::fs::write(&archive, &whole[..cut]).unwrap();
        assert!(collect(&journal).is_err(), "cut at {cut}");
    }
    // The first ten bytes are gzip's header: a time and a system, which decide nothing.
    for place in 10..whole.len() {
        let mut changed = whole.clone();
        changed[place] ^= 0x10;
        std::fs::write(&archive, &changed).unwrap();
        match collect(&journal) {
            Err(error) => assert!(error.to_string().contains("games.json"), "{error}"),
            // Bits that fill up the last byte of the compressed text mean nothing.
            Ok((found, _)) => assert_eq!(found, games, "byte {place} of {}", whole.len()),
        }
    }
}

#[test]
fn blocks_that_contradict_themselves_are_refused() {
    let head = r#"{"v":1,"kind":"archive","plan_sha256":"","program":""}"#;
    for (line, reason) in [
        (r#"{"v":1,"kind":"games","games":[{}],"plies":[2],"columns":{"m":["a"]}}"#, "column `m` has 1 values"),
        (r#"{"v":1,"kind":"games","games":[{}],"plies":[1,1],"columns":{"m":["a","b"]}}"#, "1 games with 2 numbers"),
        (r#"{"v":1,"kind":"games","games":[{}],"plies":[9],"columns":{}}"#, "plies without columns"),
        (
            r#"{"v":1,"kind":"games","games":[{},{}],"plies":[18446744073709551615,2],"columns":{"m":["a"]}}"#,
            "column `m` has 1 values",
        ),
        (r#"{"v":2,"kind":"games","games":[],"plies":[],"columns":{}}"#, "format 2 is newer"),
        (head, "missing field"),
        ("[]", "invalid length"),
    ] {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(format!("{head}\n{line}\n").as_bytes()).unwrap();
        let bytes = encoder.finish().unwrap();
        let lines = reader(bytes.as_slice(), Path::new("x.gz"));
        let JournalError::Io { source, .. } = read_from(lines, Path::new("x"), |_| {}).unwrap_err() else {
            panic!("{line}: another error")
        };
        let source = source.to_string();
        assert!(source.contains("x.gz: damaged archive, line 2: ") && source.contains(reason), "{source}");
    }
}

#[test]
fn only_a_journal_is_appended_to() {
    let (dir, _) = packed(&[game(1)]);
    let error = Journal::resume(&dir.path().join(FILE_NAME), None, |_| {}).unwrap_err();
    assert!(matches!(error, JournalError::Archived { .. }), "{error}");
    assert!(error.to_string().contains("--unpack"), "{error}");
    // A journal goes before an archive.
    let (own, path) = three();
    std::fs::copy(dir.path().join(ARCHIVE_NAME), own.path().join(ARCHIVE_NAME)).unwrap();
    assert_eq!(collect(&path).unwrap().0.len(), 3);
    Journal::resume(&path, None, |_| {}).unwrap();
}
