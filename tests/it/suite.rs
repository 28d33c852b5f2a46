//! `quintain suite` from outside: suites whose answers the scripted peer cannot miss, or cannot
//! find.

use std::path::Path;

use quintain::openings::Packing;
use serde_json::Value;

use crate::harness::{Ran, fake, run};

/// A position with one legal move, Kxg2.
const ONE_MOVE: &str = "k7/8/8/8/8/8/6q1/7K w - -";

fn suite(dir: &Path, text: &str, engines: &[&str], more: &str) -> Ran {
    let file = dir.join("suite.epd");
    std::fs::write(&file, text).unwrap();
    let mut words = vec!["suite".to_owned(), file.display().to_string()];
    words.extend(engines.iter().map(|engine| fake(engine)));
    words.extend(more.split_whitespace().map(str::to_owned));
    run(&words)
}

fn document(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[test]
fn answers_are_counted_by_theme_and_listed() {
    let folder = tempfile::tempdir().unwrap();
    let text = [
        " bm Kxg2; id \"good 1\";",
        " bm h1g2; id \"good 2\";",
        " am Kxg2; id \"bad 1\";",
        " c0 \"Kxg2=7\"; id \"good 3\";",
    ]
    .map(|operations| format!("{ONE_MOVE}{operations}\n"))
    .concat();
    let ran = suite(folder.path(), &text, &["--name Alpha --pv BEST"], "--nodes 100 --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let found = document(&ran);
    let sums = found["engines"][0]["sums"].as_array().unwrap();
    let shown: Vec<_> = sums
        .iter()
        .map(|sum| {
            format!("{}: {} of {}, {} of {}", sum["theme"], sum["solved"], sum["positions"], sum["points"], sum["most"])
        })
        .collect();
    assert_eq!(shown, ["\"\": 3 of 4, 9.0 of 10.0", "\"good\": 3 of 3, 9.0 of 9.0", "\"bad\": 0 of 1, 0.0 of 1.0"]);
    let answers = &found["engines"][0]["answers"];
    assert_eq!((&answers[0]["answer"], &answers[0]["solved"]), (&Value::from("Kxg2"), &Value::from(true)));
    assert!(answers[0]["depth"].is_u64() && answers[2]["depth"].is_null(), "{answers}");

    let ran = suite(folder.path(), &text, &["--name Alpha"], "--depth 3 --failed -j 2");
    for part in ["3/4", "75.0 %", "9/10", "does not solve:\n  bad 1  Kxg2 (0 points)"] {
        assert!(ran.stdout.contains(part), "{part}: {}", ran.stdout);
    }
}

#[test]
fn wrong_settings_are_found_before_the_searches() {
    let folder = tempfile::tempdir().unwrap();
    let good = format!("{ONE_MOVE} bm Kxg2;\n");
    let missing = folder.path().join("none").join("page.html");
    for (more, says) in [
        (format!("--out {}", missing.display()), "no such folder; make it, or choose another --out"),
        ("--nodes -5".to_owned(), "invalid value '-5' for '--nodes <N>'"),
    ] {
        // An engine that would fail first if it were started.
        let ran = suite(folder.path(), &good, &["--fault exit-at-start"], &more);
        assert!(ran.code == Some(2) && ran.stderr.contains(says), "{more}: {ran:?}");
    }
}

#[test]
fn the_page_has_missed_positions_first_and_asks_no_other_host() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{ONE_MOVE} bm Kxg2; id \"good <1>\";\n{ONE_MOVE} am Kxg2; id \"bad 1\";\n");
    let out = |name: &str| folder.path().join(name).display().to_string();
    let engines = ["--name Alpha --pv BEST", "--name Beta --pv BEST"];
    let ran = suite(folder.path(), &text, &engines, &format!("--nodes 100 --out {}", out("page.html")));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let page = std::fs::read_to_string(out("page.html")).unwrap();
    for part in [
        "<title>suite.epd: ",
        "[9.5, 90.5]",
        " against the others</h2>",
        "Solved by time",
        "<h2>Points by theme</h2>",
        "data-lit=\"h1 g2\"",
        "good &lt;1&gt;",
        "White to move: not Kxg2",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let at = |part: &str| page.find(part).unwrap_or_else(|| panic!("no {part}"));
    assert!(at("<article data-missed=\"e0 e1\">") < at("<article data-missed=\"\">"));
    assert!(!page.contains("src=\"") && !page.contains("href=") && !page.contains("<1>"));
    let ran = suite(folder.path(), &text, &engines[..1], &format!("--nodes 100 --out {}", out("times.svg")));
    assert!(ran.code == Some(0) && std::fs::read_to_string(out("times.svg")).unwrap().starts_with("<svg "), "{ran:?}");
    // A name that no file system takes.
    let name = out(&format!("{}.svg", "a".repeat(300)));
    let ran = suite(folder.path(), &text, &engines[..1], &format!("--nodes 100 --out {name}"));
    assert!(ran.code == Some(2) && ran.stderr.contains(".svg: cannot write it"), "{ran:?}");
    assert!(ran.stdout.contains("solved"), "the table does not depend on the picture: {ran:?}");
    let ran = suite(folder.path(), &text, &engines[..1], &format!("--out {}", out("page.txt")));
    assert!(ran.code == Some(2) && ran.stderr.contains("a name that ends in .html, .svg or .png"), "{ran:?}");
}

#[test]
fn two_engines_are_compared_by_the_mates_that_one_finds() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{ONE_MOVE} dm 3;\n").repeat(6) + &format!("{ONE_MOVE} dm 1;\n");
    let ran = suite(folder.path(), &text, &["--name Alpha --mate 2", "--name Beta --score 30"], "--nodes 10 --json");
    let found = document(&ran);
    assert_eq!(found["engines"][0]["sums"][0]["solved"], 6, "{found}");
    assert_eq!(found["engines"][0]["answers"][0]["answer"], "Kxg2, mate in 2");
    let compared = &found["comparisons"][0];
    assert_eq!((&compared["first"], &compared["second"], &compared["neither"]), (&6.into(), &0.into(), &1.into()));
    assert!((compared["p"].as_f64().unwrap() - 0.03125).abs() < 1e-9, "{compared}");
}

/// The second depth takes longer than the wait after the first `readyok`.
#[test]
fn slow_counts_are_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
    let text = format!("{start} ;D1 20 ;D2 400\n{start} ;D2 400\n");
    let ran = suite(folder.path(), &text, &["--perft-ms 3000"], "--json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(document(&ran)["engines"][0]["sums"][0]["solved"], 2, "{ran:?}");
}

#[test]
fn a_packed_suite_is_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{ONE_MOVE} bm Kxg2; id \"one\";\n");
    let solve = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        run(&["suite", &file.display().to_string(), &fake("--name Alpha --pv BEST"), "--nodes", "100", "--json"])
    };
    let gzip = Packing::Gzip.pack(text.as_bytes()).unwrap();
    for (name, bytes) in [("a.epd.gz", gzip.clone()), ("a.epd", Packing::Zstd.pack(text.as_bytes()).unwrap())] {
        let ran = solve(name, &bytes);
        assert_eq!(document(&ran)["engines"][0]["sums"][0]["solved"], 1, "{name}: {ran:?}");
    }
    for (name, bytes, words) in [
        ("cut.gz", &gzip[..gzip.len() - 10], "cut.gz: it is a broken gzip archive: it ends too early"),
        ("a.xz", b"\xfd7zXZ\0....", "a.xz: it is a xz archive; unpack it first"),
    ] {
        let ran = solve(name, bytes);
        assert!(ran.code == Some(2) && ran.stderr.contains(words), "{ran:?}");
    }
}

#[test]
fn faults_are_named_on_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let good = format!("{ONE_MOVE} bm Kxg2; id \"first\";\n");
    for (text, engine, says) in [
        (format!("{good}{ONE_MOVE} bm Kg1;\n"), "--seed 1", "suite.epd:2: `Kg1` is not legal here"),
        (good.clone(), "--fault exit-in-search@1", "at `first` (k7/8/8/8/8/8/6q1/7K w - - 0 1)"),
        (good.clone(), "--fault illegal@1", "bestmove: "),
        (
            good.clone(),
            "--fault ignores-nodes --fault only-after-stop",
            "it searched 500000 nodes, so it does not obey `go nodes`",
        ),
        (
            format!("{ONE_MOVE} ;D1 1\n"),
            "--seed 1",
            "`go perft 1`, not with `Nodes searched: N`: does it know this command?",
        ),
    ] {
        let ran = suite(folder.path(), &text, &[engine], "--nodes 10");
        assert_eq!(ran.code, Some(2), "{says}: {ran:?}");
        assert!(ran.stderr.contains(says) && ran.stderr.trim_end().lines().count() <= 2, "{says}: {}", ran.stderr);
    }
}

#[test]
fn an_engine_that_fails_leaves_the_results_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{ONE_MOVE} bm Kxg2; id \"first\";\n");
    let engines = ["--name Alpha --pv BEST", "--name Beta --fault exit-in-search@1", "--name Gamma --pv BEST"];
    let page = folder.path().join("page.html");
    let ran = suite(folder.path(), &text, &engines, &format!("--nodes 10 --json --out {}", page.display()));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let found = document(&ran);
    let answered = found["engines"].as_array().unwrap();
    assert!(answered.len() == 2 && answered.iter().all(|engine| engine["sums"][0]["solved"] == 1), "{found}");
    let failed = found["failed"].as_array().unwrap();
    assert!(failed.len() == 1 && failed[0]["error"].as_str().unwrap().contains("at `first`"), "{found}");
    assert_eq!(found["comparisons"].as_array().unwrap().len(), 1, "{found}");
    assert!(ran.stderr.contains("error: no results of "), "{ran:?}");
    assert!(std::fs::read_to_string(page).unwrap().contains(": no results: "));
    let ran = suite(folder.path(), &text, &engines[1..], "--nodes 10");
    assert!(ran.code == Some(2) && ran.stdout.contains("failed") && ran.stdout.contains("100.0 %"), "{ran:?}");
}
