//! Limits in nodes and plies that an engine does not obey although its searches end, and clocks of
//! two periods.

use serde_json::Value;

use crate::harness::{Ran, run, sprt, sprt_args, summary};

const PLAYED: &str = "--max-plies 20 --max-pairs 4 --seed 1 -j 1";

/// Runs two peers, the first with a fault, and checks that warnings, verdict, summary and report
/// say `stamp`, or nothing.
#[track_caller]
fn stamped(fault: &str, limit: &str, stamp: Option<&str>) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran = sprt(3, &format!("--seed 1 --vary {fault}"), "--seed 2 --vary", &dir, &format!("{limit} {PLAYED}"));
    let alarm = "warning: a limit is not obeyed";
    let alarms: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with(alarm)).collect();
    assert_eq!(alarms.len(), usize::from(stamp.is_some()), "{ran:?}");
    let stamp = stamp.unwrap_or("at a limit of");
    let expected = !alarms.is_empty();
    assert!(alarms.iter().all(|line| line.contains(stamp)), "{ran:?}");
    assert_eq!(ran.stdout.lines().next().unwrap().contains(stamp), expected, "{ran:?}");
    let told = &summary(&dir)["limit_use"]["stamp"];
    assert_eq!(told.as_str().is_some_and(|told| told.contains(stamp)), expected, "{told}");
    assert_eq!(*told == Value::Null, !expected, "{told}");
    let report = run(&["report", &dir.display().to_string()]);
    // Its lines are wrapped.
    let words = report.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words.contains(stamp), expected, "{report:?}");
    let page = std::fs::read_to_string(dir.join("report.html")).unwrap();
    assert_eq!(page.contains(stamp), expected, "{page}");
    ran
}

#[test]
fn an_engine_that_searches_more_than_its_limit_stands_beside_the_verdict() {
    let nodes = "fake_engine-new used 20000 nodes a move at a limit of 1000, fake_engine-base 1";
    let ran = stamped("--fault overuses-nodes --sleep-us 20", "--nodes 1000", Some(nodes));
    let trial = "warning: engine fake_engine-new, before its first game: it searched 20000 nodes after `go nodes 1000`";
    assert!(ran.stderr.lines().any(|line| line == trial), "{ran:?}");
    let depth = "fake_engine-new went deeper than its limit of 4 plies in ";
    let ran = stamped("--fault overuses-depth", "--depth 4", Some(depth));
    let trial = "before its first game: it came to depth 12 after `go depth 4`";
    assert!(ran.stderr.contains(trial), "{ran:?}");
}

/// The trial is the first search of a game, and so finds nothing.
#[test]
fn an_engine_that_obeys_its_first_search_is_found() {
    let ran = stamped("--fault overuses-nodes@2", "--nodes 1000", Some("at a limit of 1000, fake_engine-base 1"));
    assert!(!ran.stderr.contains("before its first game"), "{ran:?}");
}

#[test]
fn engines_that_obey_are_left_alone() {
    stamped("", "--nodes 1000", None);
    stamped("--fault overuses-nodes", "--nodes 20000", None);
    stamped("", "--depth 1", None);
}

#[test]
fn a_second_period_reaches_engines_games_and_a_resumed_run() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let clock = "4/500+0.5:2/300+20";
    let more = format!("--tc {clock} --max-plies 30 --max-pairs 2 --max-failures 9 --seed 1 -j 1");
    let ran = run(&sprt_args("--seed 1 --fault exit-in-search@7", "--seed 2", &dir, &more));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    let plan = std::fs::read_to_string(dir.join("plan.toml")).unwrap();
    assert!(plan.contains(&format!("tc = \"{clock}\"")), "{plan}");
    let pgn = std::fs::read_to_string(dir.join("games.pgn")).unwrap();
    assert!(pgn.contains(&format!("[TimeControl \"{clock}\"]")), "{pgn}");
    let crash = std::fs::read_dir(dir.join("crashes")).unwrap().next().unwrap().unwrap().path();
    let transcript = std::fs::read_to_string(crash.join("transcript.txt")).unwrap();
    let gos: Vec<&str> = transcript.lines().filter_map(|line| Some(line.split_once("go wtime ")?.1)).collect();
    let word = |line: &str, name: &str| -> i64 {
        let mut words = line.split_whitespace().skip_while(|word| *word != name).skip(1);
        words.next().and_then(|number| number.parse().ok()).unwrap_or(-1)
    };
    let told: Vec<_> = gos.iter().map(|line| (word(line, "movestogo"), word(line, "winc"))).collect();
    // Its own moves: four of the first session, then sessions of two; both sides move alike.
    assert_eq!(told, [(4, 500), (3, 500), (2, 500), (1, 500), (2, 20_000), (1, 20_000), (2, 20_000)], "{transcript}");
    let black: Vec<i64> = gos.iter().map(|line| word(line, "btime")).collect();
    assert!(black[3] < 520_000 && black[5] > 820_000 && black[6] > 1_100_000, "{black:?}");
    let replayed = run(&["replay", &dir.display().to_string(), "--game", "1"]);
    assert_eq!(replayed.code, Some(1), "{replayed:?}");
    let explained = run(&["explain", &dir.display().to_string()]);
    assert_eq!(explained.code, Some(0), "{explained:?}");
}

#[test]
fn a_clock_of_periods_that_cannot_be_is_refused_on_one_line() {
    for (clock, says) in [
        ("60+0.6:20/10", "a period before another one needs its number of moves"),
        ("40/60+0.6:20/10:30/5", "it has more than two periods"),
        ("40/60+0.6:20/", "the number of seconds is missing"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let ran = run(&sprt_args("--seed 1", "--seed 2", &folder.path().join("run"), &format!("--tc {clock}")));
        assert_eq!((ran.code, ran.stderr.trim_end().lines().count()), (Some(2), 1), "{ran:?}");
        assert!(ran.stderr.contains(says), "{clock}: {ran:?}");
    }
}
