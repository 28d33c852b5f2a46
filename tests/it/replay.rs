//! `quintain replay`: what an engine was told is told again, from a crash folder or from the
//! journal.

use std::env::consts::EXE_SUFFIX;
use std::io::Write as _;
use std::path::Path;

use crate::harness::{FAKE, Ran, run, sprt};

fn replay(dir: &Path, more: &str) -> Ran {
    let mut args = vec!["replay".to_owned(), dir.display().to_string()];
    args.extend(more.split_whitespace().map(str::to_owned));
    run(&args)
}

/// The lines to the engine; what it said on standard error may hold anything.
fn told(text: &str) -> Vec<String> {
    text.lines()
        .filter_map(|line| line.trim_start().split_once(" > "))
        .filter(|(stamp, _)| stamp.bytes().all(|byte| byte.is_ascii_digit()))
        .map(|(_, line)| line.to_owned())
        .collect()
}

/// A pair in which `new` has `fault`; its replay must come out with `code` and say `words`, with as
/// many searches as the run had.
#[track_caller]
fn check(fault: &str, limits: &str, crashed: bool, code: i32, words: &str) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    sprt(3, fault, "--seed 2", &dir, &format!("--max-pairs 1 --seed 1 -j 1 --max-plies 12 {limits}"));
    for game in 1..=2 {
        let crash = dir.join(format!("crashes/game-{game}"));
        assert_eq!(crash.exists(), crashed, "{fault}");
        let from_folder = replay(&dir, &format!("--game {game}"));
        let again = told(&from_folder.stdout);
        let gos = again.iter().filter(|line| line.starts_with("go ")).count();
        let last = from_folder.stdout.lines().last().unwrap().to_owned();
        assert_eq!(from_folder.code, Some(code), "{fault}: {from_folder:?}");
        assert!(last.contains(words), "{fault}: {last}");
        if crashed {
            let first = told(&std::fs::read_to_string(crash.join("transcript.txt")).unwrap());
            assert_eq!(again, first, "{fault}");
            std::fs::remove_dir_all(&crash).unwrap();
            // The journal knows as much, but for times that were never played out.
            let from_journal = replay(&dir, &format!("--game {game} --player new"));
            assert_eq!(from_journal.code, Some(code), "{fault}: {from_journal:?}");
            assert_eq!(told(&from_journal.stdout), again, "{fault}");
        } else {
            assert_eq!(gos, 6, "{fault}: {from_folder:?}");
        }
    }
}

#[test]
fn a_failure_comes_again() {
    let calm = "--nodes 1";
    check("--fault exit-in-search", calm, true, 1, "failed: exit status 3 (the game ended by crash");
    #[cfg(unix)]
    check("--fault segv@2", calm, true, 1, "failed: signal 11 (SIGSEGV)");
    check("--fault exit-after-bestmove", calm, true, 1, "failed: exit status 0");
    check("--fault illegal", calm, true, 1, "failed: `a1a1` is not legal here");
    check("--fault hang", "--nodes 1 --stall-timeout 2", true, 1, "failed: no bestmove within");
    check("--seed 3", calm, false, 0, "got through 6 searches (the game ended by max-plies-adjudication)");
    check("--seed 3 --ponder 2", "--tc 1000+1 --ponder --force-concurrency", false, 0, "got through 6 searches");
    check("--seed 3", "--tc 1000+1", false, 0, "got through 6 searches");
}

#[test]
fn a_replay_is_told_as_one_document() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    sprt(3, "--fault illegal", "--seed 2", &dir, "--nodes 1 --max-pairs 1 --max-plies 12 --seed 1 -j 1");
    for (player, code, reproduced) in [("new", 1, true.into()), ("base", 0, serde_json::Value::Null)] {
        let ran = replay(&dir, &format!("--game 1 --player {player} --json"));
        let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, &told["reproduced"]), (Some(code), &reproduced), "{told}");
        assert_eq!((&told["game"], &told["ended"]), (&1.into(), &"illegal-move".into()), "{told}");
        assert_eq!(told["failure"].is_string(), code == 1, "{told}");
        assert!(told["conversation"].as_str().unwrap().contains(" > go "), "{told}");
    }
    // An engine that was mended no longer fails.
    let text = std::fs::read_to_string(dir.join("plan.toml")).unwrap();
    std::fs::write(dir.join("plan.toml"), text.replace("\"--fault\", \"illegal\"", "\"--seed\", \"1\"")).unwrap();
    let ran = replay(&dir, "--game 1 --trust --json");
    let told: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code, &told["reproduced"], &told["failure"]), (Some(0), &false.into(), &().into()), "{told}");
}

#[test]
fn what_cannot_be_replayed_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    sprt(3, "--seed 1", "--seed 2", &dir, "--nodes 1 --max-pairs 1 --max-plies 4 -j 1");
    for (more, words) in [
        ("--game 3", "no game 3 among the 2"),
        ("--game 0", "--game"),
        (
            "--game 1 --player other",
            "--player `other` does not play: players are base, fake_engine-base, fake_engine-new, new",
        ),
    ] {
        let ran = replay(&dir, more);
        assert_eq!(ran.code, Some(2), "{more}: {ran:?}");
        assert!(ran.stderr.contains(words), "{more}: {ran:?}");
    }
    let ran = replay(folder.path(), "--game 1");
    assert!(ran.code == Some(2) && ran.stderr.contains("a run directory?"), "{ran:?}");
    // Either side of a sound game can be asked.
    assert_eq!(replay(&dir, "--game 2 --player base").code, Some(0));
}

#[test]
fn a_changed_program_is_warned_about_and_a_missing_one_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, engine) = (folder.path().join("run"), folder.path().join(format!("engine{EXE_SUFFIX}")));
    std::fs::copy(FAKE, &engine).unwrap();
    let (new, base) = (format!("{} -- --seed 1", engine.display()), format!("{} -- --seed 2", engine.display()));
    let mut args =
        ["sprt", "--new", &new, "--base", &base, "--out", &dir.display().to_string()].map(str::to_owned).to_vec();
    args.extend("--nodes 1 --max-pairs 1 --max-plies 4 -j 1".split(' ').map(str::to_owned));
    assert_eq!(run(&args).code, Some(3));
    assert!(!replay(&dir, "--game 1").stderr.contains("has changed"));
    std::fs::OpenOptions::new().append(true).open(&engine).unwrap().write_all(b"\n").unwrap();
    let ran = replay(&dir, "--game 1");
    let warning = format!("warning: `{}` has changed since the run", engine.display());
    assert!(ran.code == Some(0) && ran.stderr.contains(&warning), "{ran:?}");
    std::fs::remove_file(&engine).unwrap();
    let ran = replay(&dir, "--game 1");
    assert!(ran.code == Some(2) && ran.stderr.contains("there is no program"), "{ran:?}");
}
