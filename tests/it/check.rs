//! `quintain check` against a peer that does everything right, and peers that do one thing wrong.

use serde_json::Value;

use crate::harness::{Ran, fake, run};

/// Far longer than an answer takes on a busy machine, and short enough for a few that never come.
const PATIENCE: &str = "8";

/// Checks of the time that answers take. A busy machine may delay those of any peer, and then they
/// warn of it.
const TIMED: [&str; 4] = ["start", "stop", "clock", "fixed-time"];

/// Checks without a clock.
const UNTIMED: &str = "identity,options,set-options,new-game,one-answer,legal,ready-searching,ponder,info,long-game,\
                       chess960,games,unknown-words,quit,end-of-input";

fn check_json(peer: &str, more: &[&str]) -> (Ran, Value) {
    let spec = fake(peer);
    let args = [&["check", spec.as_str(), "--json", "--patience", PATIENCE], more].concat();
    let ran = run(&args);
    let json = serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{peer}: {error}: {ran:?}"));
    (ran, json)
}

/// The names of the checks with a verdict.
fn named<'a>(report: &'a Value, verdict: &str) -> Vec<&'a str> {
    let checks = report["checks"].as_array().unwrap();
    checks.iter().filter(|check| check["verdict"] == verdict).map(|check| check["name"].as_str().unwrap()).collect()
}

/// The peer's fault is seen by these checks and by no others.
#[track_caller]
fn check(peer: &str, failed: &[&str], warned: &[&str]) {
    // A game under a clock that the machine disturbed is tried again, and then this peer is gone.
    let more: &[&str] = if peer.contains("die-on-new-game") { &["--only", UNTIMED] } else { &[] };
    let (ran, report) = check_json(peer, more);
    let odd: Vec<_> = report["checks"].as_array().unwrap().iter().filter(|check| check["verdict"] != "pass").collect();
    let mut found = (named(&report, "fail"), named(&report, "warn"));
    found.1.retain(|name| warned.contains(name) || !TIMED.contains(name));
    // A game under a clock that the machine disturbed does not come to the fault.
    let is_disturbed = |name: &&str| {
        odd.iter().any(|check| check["name"] == *name && check["reason"].to_string().contains("kept it from a CPU"))
    };
    let failed: Vec<_> = failed.iter().copied().filter(|name| !is_disturbed(name)).collect();
    assert_eq!(found, (failed.clone(), warned.to_vec()), "{peer}: {odd:#?}");
    assert_eq!(ran.code, Some(i32::from(!failed.is_empty())), "{peer}");
    assert_eq!(report["failed"], failed.len());
    for check in report["checks"].as_array().unwrap() {
        let shown = !check["transcript"].as_array().unwrap().is_empty();
        assert_eq!(shown, check["verdict"] == "fail" && check["name"] != "bench", "{peer}: {check}");
        assert!(!check["reason"].as_str().unwrap().contains('\n'), "{peer}: {check}");
    }
}

/// Most of a row is waiting.
fn check_all(rows: &[(&str, &[&str], &[&str])]) {
    std::thread::scope(|scope| {
        for rows in rows.chunks(rows.len().div_ceil(3)) {
            scope.spawn(|| rows.iter().for_each(|(peer, failed, warned)| check(peer, failed, warned)));
        }
    });
}

#[test]
fn a_good_peer_passes_everything() {
    check_all(&[("--seed 1", &[], &[]), ("--fault weird-options --fault crlf", &[], &[])]);
    let (_, report) = check_json("--name 'A good one'", &["--only", "identity,bench"]);
    assert_eq!(named(&report, "pass"), ["identity", "bench"]);
    assert_eq!((&report["name"], &report["author"]), (&"A good one".into(), &"The Quintain authors".into()));
}

#[test]
fn a_fault_of_the_handshake_is_seen_where_it_is() {
    check_all(&[
        ("--fault no-author", &[], &["identity"]),
        ("--fault bad-default", &["option-defaults"], &[]),
        ("--fault bad-option-lines", &["options", "option-defaults"], &[]),
        ("--fault die-on-new-game", &["new-game", "games"], &[]),
        ("--fault die-on-junk", &["unknown-words"], &[]),
    ]);
}

#[test]
fn a_fault_of_the_search_is_seen_where_it_is() {
    check_all(&[
        ("--fault deaf-in-search", &["ready-searching"], &[]),
        ("--fault early-infinite", &[], &["infinite"]),
        ("--fault early-infinite --fault no-info", &[], &["infinite", "info"]),
        ("--fault early-ponder", &["ponder"], &[]),
        ("--fault no-stop", &["stop", "ponder"], &["infinite"]),
        ("--fault no-searchmoves --seed 3", &[], &["go-searchmoves"]),
        ("--fault illegal-pv", &["info"], &[]),
        ("--fault die-on-mated", &["mated", "stalemated"], &[]),
        ("--fault two-bestmoves", &["one-answer"], &[]),
    ]);
}

#[test]
fn a_fault_of_the_game_is_seen_where_it_is() {
    check_all(&[
        ("--fault castling-other-notation", &["legal", "chess960", "games", "clock"], &[]),
        ("--fault late-on-clock", &["clock", "fixed-time"], &[]),
        ("--fault illegal@25", &["games", "clock"], &[]),
        ("--fault promo-without-piece", &["legal", "chess960"], &[]),
    ]);
}

#[test]
fn a_fault_of_the_end_is_seen_where_it_is() {
    check_all(&[("--fault ignore-eof", &["end-of-input"], &[]), ("--fault bench-drifts", &["bench"], &[])]);
}

#[test]
fn transcripts_are_kept_and_an_older_one_is_not_taken_for_new() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("report");
    let path = out.display().to_string();
    let only = ["--only", "mated,bench", "--out", path.as_str()];
    let spec = fake("--fault die-on-mated");
    let ran = run(&[&["check", spec.as_str()], &only[..]].concat());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("fail  mated") && ran.stdout.contains("> go depth 3"), "{}", ran.stdout);
    let log = std::fs::read_to_string(out.join("mated.log")).unwrap();
    assert!(log.starts_with("fail  mated") && log.contains("> uci\n") && log.contains("> go depth 3"), "{log}");
    let json: Value = serde_json::from_str(&std::fs::read_to_string(out.join("check.json")).unwrap()).unwrap();
    assert_eq!((&json["failed"], &json["passed"]), (&1.into(), &1.into()));
    let spec = fake("--seed 1");
    assert_eq!(run(&[&["check", spec.as_str()], &only[..]].concat()).code, Some(0));
    assert!(!out.join("mated.log").exists());
}

#[test]
fn what_can_not_be_checked_is_said_in_one_line() {
    let (dead, good) = (fake("--fault exit-at-start"), fake("--seed 1"));
    for (args, part) in [
        (&["check", dead.as_str()][..], "exit status 7"),
        (&["check", "./no-such-engine"], "no-such-engine"),
        (&["check", &good, "--option", "Hush=1"], "did you mean `Hash`?"),
        (&["check", &good, "--only", "stop,stopp"], "no such check"),
        (&["check", &good, "--patience", "0"], "--patience"),
    ] {
        let ran = run(args);
        assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(part), "{args:?}: {ran:?}");
    }
    let listed = run(&["check", "--list"]);
    assert_eq!(listed.code, Some(0));
    assert!(listed.stdout.lines().count() > 30 && listed.stdout.contains("end-of-input"), "{listed:?}");
}
