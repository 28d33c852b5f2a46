//! A newcomer's first commands.

use std::path::Path;

use crate::harness::{fake, quintain, run, sprt_args};

#[test]
fn the_name_alone_offers_the_demonstration() {
    let ran = run::<&str>(&[]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""));
    assert!(ran.stderr.contains("  quintain demo ") && ran.stderr.contains("--help"), "{}", ran.stderr);
}

#[test]
fn a_demonstration_is_a_whole_test_with_a_picture_a_report_and_the_next_step() {
    let folder = tempfile::tempdir().unwrap();
    let peer = fake("--seed 1");
    let ran = quintain(&["demo", "--engine", &peer, "-j", "1", "--out", "demo"]).current_dir(folder.path()).output();
    let ran = crate::harness::Ran::from(ran.unwrap());
    // The scripted peer plays no better with more nodes.
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.stdout.contains("H0 accepted: 6000-nodes gains less than 50 nElo on 3000-nodes"), "{}", ran.stdout);
    let last = ran.stdout.lines().last().unwrap_or_default();
    assert!(last.starts_with("now yours ") && last.contains("quintain sprt --new ./a --base ./b"), "{last}");
    assert!(ran.stderr.contains("[0, 50] at nodes=6000 against nodes=3000, 1 game at once: about "), "{}", ran.stderr);
    for file in ["demo/llr.svg", "demo/report.html"] {
        assert!(ran.stdout.contains(file), "{}", ran.stdout);
        assert!(std::fs::metadata(folder.path().join(file)).is_ok_and(|file| file.len() > 1000), "{file}");
    }
    let plan = std::fs::read_to_string(folder.path().join("demo/plan.toml")).unwrap();
    assert!(plan.contains("6000") && plan.contains("3000"), "{plan}");
}

/// Begins a test in `folder` whose tested peer goes away in its first game, which ends the run.
/// Returns what it says, and its plan.
#[track_caller]
fn begin(folder: &Path, out: &str, more: &str) -> (String, String) {
    let line = format!("{more} --tc 8+0.08 --force-concurrency --max-failures 0");
    let args = sprt_args("--fault exit-after-bestmove", "--seed 2", Path::new(out), &line);
    let ran = crate::harness::Ran::from(quintain(&args).current_dir(folder).output().unwrap());
    assert_eq!(ran.code, Some(4), "{ran:?}");
    (ran.stderr, std::fs::read_to_string(folder.join(out).join("plan.toml")).unwrap())
}

#[test]
fn a_test_says_how_long_it_may_take_before_its_first_game() {
    let folder = tempfile::tempdir().unwrap();
    let (said, _) = begin(folder.path(), "default", "-j 2");
    let words = "[0, 5] at 8+0.08, 2 games at once: about 12,900 pairs if equal, 4 days here; quicker: --bounds 0,20, \
                 --nodes 20000, --budget 8h\n";
    assert!(said.contains(words), "{said}");
    let (said, plan) = begin(folder.path(), "budget", "-j 2 --budget 8h");
    assert!(said.contains("8h is about 1,100 pairs here: --bounds 0,"), "{said}");
    assert!(plan.contains("max_time_s = 28800"), "{plan}");
}

/// Engines of many threads play one game at a time unless the user says otherwise.
#[test]
fn a_budget_is_for_the_games_that_are_played_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let spent = |out: &str, games: &str| {
        let (said, _) = begin(folder.path(), out, &format!("--budget 8h --option Threads=128 {games}"));
        said.lines().find(|line| line.contains("8h is about ")).map(str::to_owned)
    };
    let one = spent("one", "-j 1");
    assert!(one.is_some());
    assert_eq!(spent("default", ""), one);
}
