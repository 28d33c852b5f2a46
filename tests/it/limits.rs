//! Limits in nodes and plies that an engine does not obey although its searches end.

use serde_json::Value;

use crate::harness::{Ran, run, sprt, summary};

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
