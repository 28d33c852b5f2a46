//! `--live-pgn`: the games in play as a PGN that is always whole.

#![allow(clippy::unwrap_used, reason = "helpers of tests may stop at the first surprise, as tests do")]

use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{games, heeding_signals, run, sprt, sprt_args, until};
use crate::serve_work::cut;

fn text(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default()
}

/// The moves of a game, without numbers and comments.
fn moves(game: &str) -> Vec<String> {
    let mut depth = 0;
    let bare: String = game
        .chars()
        .filter(|c| {
            depth += i32::from(*c == '{');
            let is_move = depth == 0;
            depth -= i32::from(*c == '}');
            is_move
        })
        .collect();
    bare.split_whitespace().filter(|word| !word.starts_with(|c: char| c.is_ascii_digit())).map(str::to_owned).collect()
}

/// Plays games of slow moves without end until one in play is seen; `more` says where.
fn shows_the_game_in_play(more: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (out, live) = (folder.path().join("run"), folder.path().join("live.pgn"));
    let fixed = format!("--nodes 1 --seed 1 --live-pgn {} {more}", live.display());
    let args = sprt_args("--seed 1 --sleep-us 100000", "--seed 2 --sleep-us 100000", &out, &fixed);
    let mut child = heeding_signals(&args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut seen = String::new();
    until("eight plies of a game in play", || {
        let text = text(&live);
        // It is whole at any moment.
        assert!(text.is_empty() || text.ends_with("\n\n"), "{text}");
        seen = text.rsplit("[Event ").next().unwrap_or_default().to_owned();
        seen.ends_with("*\n\n") && seen.matches("s}").count() >= 8
    });
    assert!(seen.contains("\n[Result \"*\"]\n"), "{seen}");
    assert!(!seen.contains("[PlyCount"), "{seen}");
    assert!(moves(seen.rsplit("]\n\n").next().unwrap()).len() > 8, "{seen}");
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn a_game_in_play_is_shown_with_its_moves() {
    shows_the_game_in_play("-j 1");
}

#[cfg(feature = "cluster")]
#[test]
fn a_game_of_a_worker_is_shown_with_its_moves() {
    if crate::cluster::has_server("a_game_of_a_worker_is_shown_with_its_moves") {
        shows_the_game_in_play("--workers local:1");
    }
}

#[test]
fn games_that_are_over_stand_as_in_the_journal() {
    let folder = tempfile::tempdir().unwrap();
    let (out, live) = (folder.path().join("run"), folder.path().join("live.pgn"));
    let more = format!("--tc 60+1 --max-plies 30 --max-pairs 2 --seed 1 --live-pgn {}", live.display());
    sprt(3, "--seed 1 --score 31", "--seed 2", &out, &more);
    let text = text(&live);
    let played = games(&out);
    assert_eq!((text.matches("[Event ").count(), played.len()), (4, 4), "{text}");
    assert!(!text.contains("[Result \"*\"]") && text.contains("[TimeControl \"60+1\"]"), "{text}");
    assert!(text.contains("+0.31/") && text.contains("[%clk 0:01:0"), "{text}");
    assert!(text.contains("Draw by adjudication") || text.contains("mates"), "{text}");
    let whole = std::fs::read_to_string(out.join("games.pgn")).unwrap();
    let bodies = |text: &str| -> Vec<Vec<String>> { text.split("\n\n").skip(1).step_by(2).map(moves).collect() };
    assert_eq!(bodies(&text), bodies(&whole));
    // Those of an earlier session are among them.
    cut(&out, 3);
    std::fs::remove_file(&live).unwrap();
    let ran = run(&["resume", &out.display().to_string()]);
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert_eq!(bodies(&std::fs::read_to_string(&live).unwrap()), bodies(&whole));
}

#[test]
fn a_file_that_the_run_writes_otherwise_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("run");
    let file = folder.path().join("games.pgn");
    let both = format!("--nodes 1 --pgn {0} --live-pgn {0}", file.display());
    let ran = sprt(2, "--seed 1", "--seed 2", &out, &both);
    assert!(ran.stderr.contains("--live-pgn names the file of --pgn or --epd"), "{ran:?}");
    let ran =
        sprt(2, "--seed 1", "--seed 2", &out, &format!("--nodes 1 --live-pgn {}/no/x.pgn", folder.path().display()));
    assert!(ran.stderr.contains("its folder is not there; make it first"), "{ran:?}");
    assert!(!out.exists());
}
