//! Text of others on a user's terminal: names of players, engines and folders, and what engines
//! say.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::harness::{FAKE, Ran, fake, quintain, run, sprt};

const MORE: &str = "--nodes 1 --max-plies 4 --max-pairs 1 --seed 1 -j 1";

/// Bytes that clear a screen and set a window's title, in one C0 and one C1 control.
const ESCAPES: &str = "\u{1b}[2J\u{9b}2J";

#[track_caller]
fn check_harmless(ran: &Ran) {
    let is_obeyed = |c: char| c.is_control() && c != '\n' && c != '\t';
    assert!(!ran.stdout.contains(is_obeyed) && !ran.stderr.contains(is_obeyed), "{ran:?}");
}

fn script(path: &Path, text: &str) -> String {
    std::fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path.display().to_string()
}

#[test]
fn a_player_whose_name_a_terminal_would_obey_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    sprt(3, "--seed 1", "--seed 2", &dir, MORE);
    let plan = std::fs::read_to_string(dir.join("plan.toml")).unwrap();
    let named = plan.replacen("name = \"fake_engine-new\"", "name = \"\\u001B[2Jevil\"", 1);
    assert_ne!(plan, named);
    std::fs::write(dir.join("plan.toml"), named).unwrap();
    for command in ["report", "watch", "games", "resume"] {
        let ran = run(&[command, &dir.display().to_string()]);
        assert_eq!(ran.code, Some(2), "{command}: {ran:?}");
        assert!(ran.stderr.contains("`players.name`: \"\\u{1b}[2Jevil\" is not a player"), "{command}: {ran:?}");
        check_harmless(&ran);
    }
}

#[test]
fn a_folders_name_is_asked_about_without_its_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join(format!("run{ESCAPES}"));
    let ran = sprt(3, "--seed 1", "--seed 2", &dir, MORE);
    check_harmless(&ran);
    let stranger = quintain(&["resume", &dir.display().to_string()])
        .env("QUINTAIN_STATE", folder.path().join("stranger"))
        .output()
        .unwrap()
        .into();
    check_harmless(&stranger);
    assert!(stranger.stderr.contains("run\u{fffd}[2J"), "{stranger:?}");
}

#[test]
fn what_an_engine_says_of_itself_is_shown_without_its_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("Fake{ESCAPES}");
    let engine = script(&folder.path().join("named"), &format!("exec '{FAKE}' --name '{name}' \"$@\""));
    let checked = run(&["check", &engine, "--only", "identity"]);
    check_harmless(&checked);
    assert!(checked.stdout.contains("Fake\u{fffd}[2J"), "{checked:?}");
    std::fs::create_dir(folder.path().join("configs")).unwrap();
    let registry = format!("[engines.one]\ncommand = '{engine}'\ndescription = \"a\\u001B[2Jb\\nc\"\n");
    std::fs::write(folder.path().join("configs/engines.toml"), registry).unwrap();
    let listed = quintain(&["engines"]).current_dir(folder.path()).output().unwrap().into();
    check_harmless(&listed);
    for words in ["Fake\u{fffd}[2J", "a\u{fffd}[2Jb\u{fffd}c"] {
        assert!(listed.stdout.contains(words), "{words}: {listed:?}");
    }
}

#[test]
fn an_engines_last_words_are_shown_without_their_escapes() {
    let folder = tempfile::tempdir().unwrap();
    let dies = format!("printf '{ESCAPES}out of luck\\n' >&2\nexec '{FAKE}' --seed 1 --fault close-stdout@1",);
    let engine = script(&folder.path().join("dies"), &dies);
    let dir = folder.path().join("run").display().to_string();
    let base = fake("--seed 2");
    let args = ["sprt", "--new", &engine, "--base", &base, "--out", &dir];
    let ran = run(&args.into_iter().chain(MORE.split(' ')).collect::<Vec<_>>());
    check_harmless(&ran);
    assert!(ran.stderr.contains("out of luck"), "{ran:?}");
}
