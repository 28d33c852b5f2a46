//! Books that are shorter than a run: no opening is taken for new evidence twice.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::harness::{Ran, fake, games, pgn_tags, run, sprt, summary};

/// First moves, as lines of a book.
const LINES: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/2P5/8/PP1PPPPP/RNBQKBNR b KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R b KQkq - 1 1",
    "rnbqkbnr/pppppppp/8/8/8/6P1/PPPPPP1P/RNBQKBNR b KQkq - 0 1",
    "rnbqkbnr/pppppppp/8/8/8/1P6/P1PPPPPP/RNBQKBNR b KQkq - 0 1",
];

fn book(folder: &Path, lines: &[&str]) -> PathBuf {
    let path = folder.join("book.epd");
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    path
}

/// Pairs, repeated pairs and end of a summary.
fn counts(summary: &Value) -> (u64, u64, &str) {
    let number = |key: &str| summary[key].as_u64().unwrap();
    (number("pairs"), number("repeated_pairs"), summary["stopped_by"].as_str().unwrap())
}

#[track_caller]
fn check_out_of_openings(ran: &Ran) {
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let first = ran.stdout.lines().next().unwrap();
    assert!(first.contains("out of openings") && first.contains("larger --book"), "{first}");
    assert!(!ran.stdout.contains("continue with:"), "{}", ran.stdout);
}

#[test]
fn a_test_ends_with_its_book_at_fixed_nodes() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, book) = (folder.path().join("run"), book(folder.path(), &LINES));
    let more = format!("--nodes 60 --max-plies 60 --bounds 0,20 --seed 1 -j 2 --book {}", book.display());
    let ran = sprt(3, "--seed 1", "--seed 2", &dir, &more);
    check_out_of_openings(&ran);
    assert!(ran.stderr.contains("warning: the test takes up to 13"), "{}", ran.stderr);
    assert!(ran.stderr.contains("exhausted after 6 pairs: at fixed nodes or depth the run ends"), "{}", ran.stderr);
    let left = summary(&dir);
    assert_eq!(counts(&left), (6, 0, "out-of-openings"));
    assert_eq!((games(&dir).len(), &left["verdict"]), (12, &"continue".into()));
    let root = dir.display().to_string();
    check_out_of_openings(&run(&["resume", &root]));
    check_out_of_openings(&run(&["watch", &root]));
    assert_eq!(games(&dir).len(), 12);
    // In the order of the file the book's start is no loss: the order goes round.
    for (start, order, pairs) in [(5, "sequential", 6), (5, "random", 2)] {
        let dir = folder.path().join(order);
        check_out_of_openings(&sprt(
            3,
            "--seed 1",
            "--seed 2",
            &dir,
            &format!("{more} --book-start {start} --book-order {order}"),
        ));
        assert_eq!(counts(&summary(&dir)).0, pairs, "{order}");
    }
}

#[test]
fn matches_and_races_end_with_their_book_too() {
    let folder = tempfile::tempdir().unwrap();
    let book = book(folder.path(), &LINES).display().to_string();
    let [one, two, three] = ["--seed 1", "--seed 2", "--seed 3"].map(fake);
    let play = |name: &str, words: &[&str]| {
        let out = folder.path().join(name).display().to_string();
        let rules = ["--max-plies", "40", "--seed", "1", "-j", "2", "--book", &book, "--out", &out];
        let ran = run(&[words, &rules].concat());
        (ran, summary(&folder.path().join(name)))
    };
    let (ran, left) = play("match", &["match", &one, &two, &three, "--pairs", "10", "--depth", "1"]);
    check_out_of_openings(&ran);
    assert!(
        ran.stderr.contains("warning: 10 pairs are requested") && ran.stderr.contains("of any two"),
        "{}",
        ran.stderr
    );
    assert_eq!(counts(&left), (18, 0, "out-of-openings"));
    let (ran, left) = play("width", &["match", &one, &two, "--until-width", "1", "--nodes", "1"]);
    check_out_of_openings(&ran);
    assert_eq!(counts(&left), (6, 0, "out-of-openings"));
    // The bets of a race are on openings that it has not seen, whatever the clock.
    let (ran, left) = play("race", &["race", &one, &two, "--base", &three, "--tc", "1000", "--force-concurrency"]);
    check_out_of_openings(&ran);
    assert_eq!(counts(&left), (12, 0, "out-of-openings"));
    let (ran, left) = play("enough", &["match", &one, &two, "--pairs", "6", "--nodes", "1"]);
    assert_eq!((ran.code, counts(&left)), (Some(0), (6, 0, "out-of-pairs")));
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
}

/// Under a clock an opening is played otherwise each time: its pairs count, and what they are worth
/// is told.
#[test]
fn openings_come_again_under_a_clock() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, book) = (folder.path().join("run"), book(folder.path(), &LINES));
    let rules = "--tc 1000 --max-plies 80 --max-pairs 24 --seed 1 -j 1 --bounds 0,2";
    let more = format!("{rules} --resign count=3,score=200 --book {}", book.display());
    let ran = sprt(3, "--seed 1 --vary", "--seed 2 --vary", &dir, &more);
    assert!(ran.stderr.contains("from there on openings come again"), "{}", ran.stderr);
    let left = summary(&dir);
    assert_eq!(counts(&left), (24, 0, "out-of-pairs"));
    let effect = left["design_effect"].as_f64().unwrap();
    assert!(effect > 1.0, "six openings alone stretch the error: {effect}");
    assert!(ran.stdout.contains("openings came again: these pairs are worth"), "{}", ran.stdout);
    let ptnml: Vec<String> = left["ptnml"].as_array().unwrap().iter().map(Value::to_string).collect();
    let plain = run(&["stats", "--ptnml", &ptnml.join(","), "--bounds", "0,2", "--json"]);
    let plain: Value = serde_json::from_str(&plain.stdout).unwrap();
    let number = |from: &Value, key: &str| from[key].as_f64().unwrap();
    assert!((number(&left, "llr") * effect - number(&plain, "llr")).abs() < 1e-6, "{left} {plain}");
    let width = |from: &Value| number(from, "nelo_hi") - number(from, "nelo_lo");
    assert!((width(&left) / width(&plain) - effect.sqrt()).abs() < 1e-3, "{left} {plain}");
    let explained = run(&["explain", &dir.display().to_string(), "--json"]);
    let explained: Value = serde_json::from_str(&explained.stdout).unwrap();
    assert_eq!(explained["duplicates"]["opening_design_effect"].as_f64(), Some(effect), "{explained}");
    assert_eq!(left["encounters"][0]["design_effect"], left["design_effect"]);
    // Of three players no number stands for all encounters; each has its own.
    let three = folder.path().join("three").display().to_string();
    let [one, two, other] = [1, 2, 3].map(|seed| fake(&format!("--seed {seed} --vary")));
    let book = book.display().to_string();
    let rules = ["--tc", "1000", "--max-plies", "8", "--pairs", "8", "--seed", "1", "-j", "1"];
    let ran = run(&[&["match", &one, &two, &other, "--book", &book, "--out", &three], &rules[..]].concat());
    assert!(ran.stdout.contains("\nopenings came again, which the errors take into account\n"), "{ran:?}");
    let of_three = summary(Path::new(&three));
    assert_eq!((&of_three["design_effect"], &of_three["elo"]), (&Value::Null, &Value::Null), "{of_three}");
    let effects: Vec<_> = of_three["encounters"].as_array().unwrap().iter().map(|met| &met["design_effect"]).collect();
    assert!(effects.len() == 3 && effects.iter().all(|effect| effect.as_f64() >= Some(1.0)), "{of_three}");
    // What a journal is read to later is the same.
    let report: Value =
        serde_json::from_str(&run(&["report", &dir.display().to_string(), "--format", "json"]).stdout).unwrap();
    for key in ["llr", "elo_lo", "design_effect", "los"] {
        assert_eq!(report["summary"][key], left[key], "{key}");
    }
}

#[test]
fn pairs_that_repeat_others_do_not_count() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    // Three openings, each of them twice; the move counters make no other position.
    let again: Vec<String> = LINES[..3].iter().map(|line| line.replace("0 1", "2 9")).collect();
    let again: Vec<&str> = again.iter().map(String::as_str).collect();
    let book = book(folder.path(), &[&LINES[..3], &again].concat());
    let rules = "--nodes 1 --max-plies 60 --max-pairs 6 --book-order sequential --seed 1 -j 2";
    let ran = sprt(3, "--seed 1", "--seed 2", &dir, &format!("{rules} --book {}", book.display()));
    assert!(ran.stderr.contains(" not counted: an opening came again"), "{}", ran.stderr);
    assert!(ran.stdout.contains("repeated: 3 pairs"), "{}", ran.stdout);
    let whole = summary(&dir);
    assert_eq!(counts(&whole), (3, 3, "out-of-pairs"));
    assert_eq!((games(&dir).len(), pgn_tags(&dir, "Round").len()), (12, 6));
    assert!(std::fs::read_to_string(dir.join("report.html")).unwrap().contains("3 pairs repeat counted ones"));
    let root = dir.display().to_string();
    let explained: Value = serde_json::from_str(&run(&["explain", &root, "--json"]).stdout).unwrap();
    assert_eq!(explained["runs"][0]["pairs"].as_u64().or_else(|| explained["pairs"].as_u64()), Some(3), "{explained}");
    let shown = run(&["games", &root, "--json"]).stdout;
    assert_eq!(shown.lines().count(), 6, "{shown}");
    let rated: Value = serde_json::from_str(&run(&["rate", &root, "--json"]).stdout).unwrap();
    assert_eq!((&rated["games"], &rated["repeated_games"]), (&6.into(), &6.into()), "{rated}");
    // Cut off in the second lap, it comes to the same.
    let journal = dir.join("games.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, text.split_inclusive('\n').take(9).collect::<String>()).unwrap();
    assert_eq!(run(&["resume", &root]).code, Some(3));
    let again = summary(&dir);
    for key in ["pairs", "repeated_pairs", "ptnml", "llr", "elo", "endings", "stopped_by"] {
        assert_eq!(again[key], whole[key], "{key}");
    }
    assert_eq!((games(&dir).len(), pgn_tags(&dir, "Round").len()), (12, 6));
}
