//! Faults found before the first game: files that are not there, failures that engines tell of,
//! limits that they do not obey, engines that are not installed.

use std::path::Path;

use crate::harness::{FAKE, Ran, fake, quintain, run, sprt, sprt_args, summary};
use crate::skip::skip;

const SHORT: &str = "--nodes 1 --max-plies 4 --max-pairs 1 --seed 1 -j 1";

/// A run that is refused, in one line that holds these words; it leaves nothing behind.
#[track_caller]
fn refused(new: &str, more: &str, words: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran = sprt(2, new, "--seed 2", &dir, more);
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    for word in words {
        assert!(ran.stderr.contains(word), "{word}: {ran:?}");
    }
    assert!(!dir.exists(), "{ran:?}");
}

#[test]
fn a_file_that_an_option_names_must_be_there() {
    let words = ["engine fake_engine-new: option `SyzygyPath` names `/no/such/tables`", "which is not there"];
    refused("--seed 1", &format!("{SHORT} --new-option SyzygyPath=/no/such/tables"), &words);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let there = format!("{SHORT} --new-option SyzygyPath={}", folder.path().display());
    let ran = sprt(3, "--seed 1", "--seed 2", &dir, &there);
    assert!(!ran.stderr.contains("warning"), "{ran:?}");
}

#[test]
fn what_an_engine_says_of_failures_is_told_once_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran = sprt(3, "--fault complains", "--seed 2", &dir, &format!("{SHORT} --new-option Hash=32"));
    let failure = "ERROR: the network Hash value 32 was not loaded";
    let told: Vec<_> = ran.stderr.lines().filter(|line| line.contains(failure)).collect();
    assert_eq!(told, [format!("warning: engine fake_engine-new, before its first game: {failure}")], "{ran:?}");
    assert!(ran.stdout.contains(&format!("fake_engine-new said before its first game: {failure}")), "{ran:?}");
    let summary = summary(&dir);
    assert_eq!(summary["players"][0]["complaints"], serde_json::json!([failure]));
    assert_eq!(summary["players"][1]["complaints"], serde_json::json!([]));
    let plan = std::fs::read_to_string(dir.join("plan.toml")).unwrap();
    assert_eq!(plan.matches("complaints = ").count(), 1, "{plan}");
    // The plan has it: nothing new to be told.
    let again = run(&["resume", &dir.display().to_string()]);
    assert!(again.code == Some(3) && !again.stderr.contains(failure), "{again:?}");
    assert!(again.stdout.contains(failure), "{again:?}");
}

#[test]
fn what_an_engine_says_of_failures_in_a_later_game_is_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let more = "--nodes 1 --max-plies 4 --max-pairs 3 --seed 1 -j 1";
    let ran = sprt(3, "--seed 1 --fault complains-later", "--seed 2", &folder.path().join("run"), more);
    let failure = "ERROR: network file could not be loaded";
    let told: Vec<_> = ran.stderr.lines().filter(|line| line.contains(failure)).collect();
    assert_eq!(told, [format!("warning: engine fake_engine-new, in game 2: {failure}")], "{ran:?}");
}

#[test]
fn a_limit_that_an_engine_does_not_obey_is_found_before_the_first_game() {
    let remedy = "give it another limit (--tc or --movetime)";
    let nodes = "engine fake_engine-new: it does not obey `go nodes 1`: it searched 500000 nodes";
    refused("--fault ignores-nodes", SHORT, &[nodes, remedy]);
    refused("--fault overcounts-nodes", SHORT, &[nodes, remedy]);
    let folder = tempfile::tempdir().unwrap();
    let plays = "--depth 3 --max-plies 4 --max-pairs 1 --seed 1 -j 1";
    sprt(3, "--fault ignores-nodes", "--seed 2", &folder.path().join("run"), plays);
}

#[test]
fn an_engine_that_ends_in_its_trial_is_named_with_what_it_said() {
    let words =
        ["engine fake_engine-new: exit status 3 in its trial search, `go nodes 1`", "assertion failed: depth > 0"];
    refused("--fault exit-in-search@1", SHORT, &words);
}

/// A first wait of two seconds is no proof: it may be the machine that is slow.
#[test]
fn a_slow_engine_is_not_refused() {
    let folder = tempfile::tempdir().unwrap();
    let plays = "--nodes 1 --max-plies 1 --max-pairs 1 --seed 1 -j 1";
    sprt(3, "--sleep-us 2200000", "--seed 2", &folder.path().join("run"), plays);
}

/// A command of the program in a folder with a registry.
fn registered(folder: &Path, registry: &str, args: &[&str]) -> Ran {
    std::fs::create_dir_all(folder.join("configs")).unwrap();
    std::fs::write(folder.join("configs/engines.toml"), registry).unwrap();
    quintain(args).current_dir(folder).env("HOME", folder).output().unwrap().into()
}

const FEW: [&str; 10] = ["--max-plies", "4", "--pairs", "1", "--seed", "1", "-j", "1", "--out", "run"];

#[test]
fn an_engine_may_have_blanks_in_its_name_but_no_path() {
    let folder = tempfile::tempdir().unwrap();
    let args = [&["match", "Fake 15", "Fake 15 -- --seed 2", "--nodes", "1"][..], &FEW].concat();
    let registry = |name: &str| format!("[engines.\"{name}\"]\ncommand = {FAKE:?}\n");
    let play = |name: &str| registered(folder.path(), &registry(name), &args);
    let ran = play("fakes/15");
    let words = "engines.toml:1:1: engine `fakes/15`: a spec with a path separator is a file";
    assert!(ran.code == Some(2) && ran.stderr.contains(words), "{ran:?}");
    let ran = play("Fake 15");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(summary(&folder.path().join("run"))["players"][0]["name"], "Fake 15");
}

#[test]
fn the_registry_says_which_limits_an_engine_obeys() {
    let folder = tempfile::tempdir().unwrap();
    let registry = format!(
        "[engines.timed]\ncommand = {FAKE:?}\nlimits = [\"clock\", \"movetime\"]\n[engines.any]\ncommand = {FAKE:?}\n"
    );
    let play = |limit: [&str; 2]| {
        let args = [&["match", "any", "timed"][..], &limit, &FEW].concat();
        registered(folder.path(), &registry, &args)
    };
    let ran = play(["--nodes", "1"]);
    let words = "`timed` does not obey `nodes=1`: its entry in configs/engines.toml says that it obeys clock, movetime, not nodes";
    assert!(ran.code == Some(2) && ran.stderr.contains(words), "{ran:?}");
    assert!(!folder.path().join("run").exists());
    std::fs::write(folder.path().join("one.epd"), "k7/8/8/8/8/8/6q1/7K w - - bm Kxg2;\n").unwrap();
    for instrument in [&["suite", "one.epd", "timed"][..], &["scaling", "timed"]] {
        let ran = registered(folder.path(), &registry, &[instrument, &["--nodes", "1"]].concat());
        assert!(ran.code == Some(2) && ran.stderr.contains(words), "{ran:?}");
    }
    let ran = play(["--tc", "100"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let listed = registered(folder.path(), &registry, &["engines"]);
    assert!(listed.stdout.contains("obeys clock, movetime"), "{listed:?}");
}

#[test]
fn engines_that_are_not_installed_are_all_named() {
    let folder = tempfile::tempdir().unwrap();
    let registry = format!(
        "[engines.here]\ncommand = {FAKE:?}\n[engines.a]\ncommand = \"no-such-engine\"\n[engines.b]\ncommand = \"../gone\"\n"
    );
    let play = |words: &[&str]| registered(folder.path(), &registry, &[words, &["--nodes", "1"], &FEW].concat());
    let hero = fake("--seed 2");
    let all = ["gauntlet", "--hero", &hero, "--vs", "a", "--vs", "here", "--vs", "b"];
    let ran = play(&all);
    assert_eq!((ran.code, ran.stderr.lines().count()), (Some(2), 1), "{ran:?}");
    for words in ["2 engines are missing: `a` (", "no-such-engine", ", `b` (", "--skip-missing"] {
        assert!(ran.stderr.contains(words), "{words}: {ran:?}");
    }
    let ran = play(&[&all[..], &["--skip-missing"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let told: Vec<_> = ran.stderr.lines().filter(|line| line.starts_with("warning: playing without `")).collect();
    assert_eq!(told.len(), 2, "{ran:?}");
    let players: Vec<_> =
        summary(&folder.path().join("run"))["players"].as_array().unwrap().iter().map(|p| p["name"].clone()).collect();
    assert_eq!(players, ["fake_engine", "here"]);
    for (words, why) in [
        (&["gauntlet", "--hero", "a", "--vs", "here", "--skip-missing"][..], "hero `a`: "),
        (&["match", "here", "b", "--skip-missing"], "so no opponent is left"),
    ] {
        std::fs::remove_dir_all(folder.path().join("run")).unwrap_or_default();
        let ran = play(words);
        assert!(ran.code == Some(2) && ran.stderr.contains(why), "{ran:?}");
    }
}

/// Debian's engines, which root's PATH leaves out.
#[cfg(unix)]
#[test]
fn engines_in_usr_games_are_found() {
    if !Path::new("/usr/games/toga2").exists() {
        return skip("engines_in_usr_games_are_found", "there is no /usr/games/toga2");
    }
    let registry = include_str!("../../configs/engines.toml");
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(folder.path().join("configs")).unwrap();
    std::fs::write(folder.path().join("configs/engines.toml"), registry).unwrap();
    let play = |limit: [&str; 2]| {
        let args = [&["match", "toga2", "toga2"][..], &limit, &FEW].concat();
        let ran = quintain(&args).current_dir(folder.path()).env("PATH", "/nowhere").output().unwrap();
        Ran::from(ran)
    };
    let ran = play(["--nodes", "1000"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("`toga2` does not obey `nodes=1000`"), "{ran:?}");
    // By its path nothing is known of it, and its trial shows it.
    let args = sprt_args(
        "--seed 1",
        "--seed 2",
        &folder.path().join("other"),
        "--nodes 1000 --max-plies 4 --max-pairs 1 -j 1",
    );
    let mut args: Vec<&str> = args.iter().map(String::as_str).collect();
    args[2] = "/usr/games/toga2";
    let ran = run(&args);
    assert!(ran.code == Some(2) && ran.stderr.contains("toga2: it does not obey `go nodes 1000`"), "{ran:?}");
}
