//! `quintain archive`: what is read from an archive is what is read from its run.

use std::path::Path;

use crate::harness::{run, sprt};

const PEERS: [&str; 2] = ["--seed 1", "--seed 2"];
const RULES: &str = "--nodes 1 --max-plies 40 --max-pairs 6 --seed 11 -j 2";

/// Output of a command about a run, with the run's name left out.
#[track_caller]
fn about(dir: &Path, command: &[&str]) -> String {
    let dir = dir.display().to_string();
    let ran = run(&[&command[..1], &[dir.as_str()], &command[1..]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // JSON doubles the backslashes of a path.
    ran.stdout.replace(&dir.replace('\\', "\\\\"), "RUN").replace(&dir, "RUN")
}

#[test]
fn an_archive_is_read_as_its_run_and_goes_on_when_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = |name: &str| at(name).display().to_string();
    sprt(3, PEERS[0], PEERS[1], &at("run"), RULES);
    std::fs::create_dir_all(at("run/crashes/7")).unwrap();
    std::fs::write(at("run/crashes/7/white.log"), "evidence").unwrap();
    let ran = run(&["archive", &text("run"), "--out", &text("archive")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("12 games in "), "{ran:?}");
    let mut names: Vec<_> = std::fs::read_dir(at("archive")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["crashes", "games.json.gz", "plan.toml", "stamp", "summary.json"]);
    assert!(at("archive/crashes/7/white.log").is_file());
    for command in [
        &["report", "--format", "json"][..],
        &["explain", "--json"],
        &["games", "--json"],
        &["report", "--format", "html"],
    ] {
        assert_eq!(about(&at("archive"), command), about(&at("run"), command), "{command:?}");
    }
    let taken = run(&["archive", &text("run"), "--out", &text("archive")]);
    assert!(taken.code == Some(2) && taken.stderr.contains("exists already and is an archive of a run"), "{taken:?}");
    // More games are refused with the way to them.
    let more = |dir: &str| run(&["resume", dir]);
    let refused = more(&text("archive"));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("--unpack"), "{refused:?}");
    let twice = run(&["archive", &text("archive"), "--out", &text("other")]);
    assert!(twice.code == Some(2) && twice.stderr.contains("it is an archive already"), "{twice:?}");
    // Who unpacks an own run may go on with it.
    let unpacked = run(&["archive", &text("archive"), "--unpack", "--out", &text("again")]);
    assert_eq!(unpacked.code, Some(0), "{unpacked:?}");
    assert_eq!(more(&text("again")).code, Some(3), "it is over");
    assert_eq!(std::fs::read(at("again/games.jsonl")).unwrap(), std::fs::read(at("run/games.jsonl")).unwrap());
}

/// An archive below its original holds neither itself nor archives made before.
#[test]
fn a_folder_of_runs_is_archived_without_its_archives() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let text = |name: &str| at(name).display().to_string();
    sprt(3, PEERS[0], PEERS[1], &at("results/runs/one"), RULES);
    for out in ["results/first", "results/second"] {
        let ran = run(&["archive", &text("results"), "--out", &text(out)]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("12 games in ") && ran.stdout.contains("`quintain runs --results "), "{ran:?}");
        let names: Vec<_> = std::fs::read_dir(at(out)).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["runs"], "{out}");
    }
    // Nor does the way back make halves of runs.
    let ran = run(&["archive", &text("results"), "--unpack", "--out", &text("back")]);
    assert!(ran.code == Some(0) && ran.stderr.contains("left out: 1 run (no archive)"), "{ran:?}");
    assert!(at("back/first/runs/one/games.jsonl").is_file() && !at("back/runs").exists());
}

#[test]
fn what_is_no_run_is_refused_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir(at("empty")).unwrap();
    for (words, reason) in [
        (vec!["archive", &at("empty"), "--out", &at("out")], "no run there"),
        (vec!["archive", &at("gone"), "--out", &at("out")], "cannot read it"),
        (vec!["archive", &at("gone")], "no such run"),
        (vec!["archive", &at("empty"), "--unpack", "--out", &at("out")], "games.json.gz"),
    ] {
        let ran = run(&words);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.stderr.contains(reason), "{ran:?}");
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
