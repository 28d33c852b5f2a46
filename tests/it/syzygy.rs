//! Games that endgame tables end: whole runs with a table made here.

use std::path::{Path, PathBuf};

use crate::harness::{games, run, sprt, sprt_args};

/// `KRvK.rtbw`: the side with the rook wins if it is to move, and the other side loses if it is.
/// The exceptions are positions in which the rook can be taken, and captures are searched. So one
/// value for each side is a whole table.
fn rook_table() -> Vec<u8> {
    let (king, rook, other_king) = (6, 4, 14);
    let mut file = vec![0x71, 0xe8, 0x23, 0x5d, 1, 0];
    // A nibble for each side's order of pieces.
    file.extend([king, rook, other_king].map(|code| code | code << 4));
    // The value for the rook's side to move, a win, and for the other, a loss.
    file.extend([0, 0x80, 4, 0x80, 0]);
    file.resize(80, 0);
    file
}

/// A folder with the table, a book in which Black has one legal move, and that takes a rook, and a
/// run to be.
fn prepare(folder: &Path) -> (PathBuf, PathBuf) {
    std::fs::create_dir(folder.join("tables")).unwrap();
    std::fs::write(folder.join("tables/KRvK.rtbw"), rook_table()).unwrap();
    std::fs::write(folder.join("book.epd"), "6Rk/R7/8/8/8/8/8/K7 b - -\n").unwrap();
    (folder.join("tables"), folder.join("run"))
}

/// `how` says who plays.
#[track_caller]
fn check(how: &str, more: &str, ending: &str, result: &str, plies: usize) {
    let folder = tempfile::tempdir().unwrap();
    let (tables, dir) = prepare(folder.path());
    let book = folder.path().join("book.epd");
    let calm = format!("--nodes 1 --max-plies 2 --max-pairs 1 --seed 1 {how} --book {}", book.display());
    sprt(3, "--seed 3", "--seed 2", &dir, &format!("{calm} --syzygy {} {more}", tables.display()));
    let games = games(&dir);
    assert_eq!(games.len(), 2, "{more}");
    for game in games {
        assert_eq!(
            (game.termination.as_str(), game.result.as_str(), game.moves.len()),
            (ending, result, plies),
            "{more}"
        );
    }
    // The plan on disk says the same: a run that is over needs no more than to be read.
    let resumed = run(&["resume", dir.to_str().unwrap()]);
    assert_eq!(resumed.code, Some(3), "{more}: {resumed:?}");
}

#[track_caller]
fn check_endings(how: &str) {
    let all = "--syzygy-adjudicate win-loss --syzygy-pieces 3 --syzygy-ignore-50";
    check(how, "", "tablebase-adjudication", "1-0", 1);
    check(how, all, "tablebase-adjudication", "1-0", 1);
    check(how, "--syzygy-adjudicate draw", "max-plies-adjudication", "1/2-1/2", 2);
    check(how, "--syzygy-pieces 2", "max-plies-adjudication", "1/2-1/2", 2);
}

#[test]
fn tables_end_games() {
    check_endings("-j 1");
}

#[cfg(all(target_os = "linux", feature = "cluster"))]
#[test]
fn tables_end_games_of_workers() {
    if crate::cluster::has_server("tables_end_games_of_workers") {
        check_endings("--workers local:1");
    }
}

#[test]
fn tables_that_are_not_there_are_named_before_a_run_begins() {
    let folder = tempfile::tempdir().unwrap();
    let (tables, dir) = prepare(folder.path());
    let empty = folder.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    let both = std::env::join_paths([&tables, &empty]).unwrap();
    for (flag, words) in [
        (
            format!("--syzygy {}", folder.path().join("missing").display()),
            "give the folder that the .rtbw files are in",
        ),
        (format!("--syzygy {}", empty.display()), "has no Syzygy tables"),
        (format!("--syzygy {}", both.display()), "empty` has no Syzygy tables"),
        (format!("--syzygy {} --syzygy-pieces 1", tables.display()), "2 to 32"),
        (format!("--syzygy {} --syzygy-adjudicate wins", tables.display()), "write both, win-loss or draw"),
        ("--syzygy-pieces 5".to_owned(), "name the tables' folder with --syzygy"),
        ("--affinity=9999".to_owned(), "this process may not use CPU 9999"),
        ("--affinity=5-3".to_owned(), "`5-3` runs backwards"),
    ] {
        let ran = run(&sprt_args("", "--seed 2", &dir, &format!("--nodes 1 --max-pairs 1 -j 1 {flag}")));
        assert_eq!(ran.code, Some(2), "{flag}: {ran:?}");
        assert!(ran.stderr.contains(words) && ran.stderr.lines().count() == 1, "{flag}: {ran:?}");
        assert!(!dir.exists(), "{flag}");
    }
}
