//! Rare command lines of the leading runners, with files and signals of others.

#[cfg(target_os = "linux")]
use std::process::Stdio;

use super::{folder, under};
use crate::harness::Ran;
#[cfg(target_os = "linux")]
use crate::harness::{Gate, in_shell, until};

/// weather-factory keeps its own settings in `cutechess.json`.
#[test]
fn a_cutechess_json_of_others_is_no_obstacle() {
    let folder = folder();
    let line = "A() B(--seed 2) -each nodes=1 proto=uci -openings file=b.pgn plies=2 -rounds 1 -games 2 -maxmoves 4 \
                -epdout o.epd";
    let cutechess = || -> Ran { under("cutechess-cli", line, folder.path()).output().unwrap().into() };
    let [theirs, ours] = ["cutechess.json", "cutechess-cli.quintain.json"].map(|name| folder.path().join(name));
    let settings = "{\"engine\": \"a\", \"threads\": 6}";
    std::fs::write(&theirs, settings).unwrap();
    assert_eq!(cutechess().code, Some(0));
    assert_eq!(cutechess().code, Some(0), "ours is replaced");
    assert_eq!(std::fs::read_to_string(&theirs).unwrap(), settings);
    assert!(ours.is_file());
    // FEN, and not the operations of EPD.
    let ends = std::fs::read_to_string(folder.path().join("o.epd")).unwrap();
    let fields: Vec<_> = ends.lines().map(|line| line.split(' ').count()).collect();
    assert_eq!(fields, [6; 4], "{ends}");
    std::fs::write(&ours, settings).unwrap();
    let ran = cutechess();
    assert!(ran.code == Some(1) && ran.stdout.contains("cutechess-cli.quintain.json: "), "{ran:?}");
    assert_eq!(std::fs::read_to_string(&ours).unwrap(), settings);
}

#[test]
fn the_engines_of_cute_chess_are_listed() {
    let folder = folder();
    let list = || -> Ran { under("cutechess-cli", "-engines", folder.path()).output().unwrap().into() };
    let file = folder.path().join("engines.json");
    std::fs::write(&file, "[{\"command\": \"./one\", \"name\": \"One\"}, {\"name\": \"Two\"}]").unwrap();
    let ran = list();
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(0), "One\nTwo\n"), "{ran:?}");
    std::fs::write(&file, "[{").unwrap();
    let ran = list();
    assert!(ran.code == Some(1) && ran.stdout.starts_with("Error: engines.json: "), "{ran:?}");
}

/// An engine that prints White's view claims to win with White and to be lost with Black.
#[test]
fn scores_of_white_are_reversed_for_black() {
    let folder = folder();
    let line = "A(--score 0) B(--seed 2 --score 100) whitepov -each nodes=1 -openings file=b.pgn plies=2 -rounds 1 -games 2 \
                -maxmoves 4 -resign movecount=1 score=100 -pgnout g.pgn";
    let ran: Ran = under("cutechess-cli", line, folder.path()).output().unwrap().into();
    let resigned = "Finished game 1 (A vs B): 1-0 {White wins by adjudication}";
    assert!(ran.code == Some(0) && ran.stdout.contains(resigned), "{ran:?}");
    assert!(ran.stdout.contains("Finished game 2 (B vs A): 1/2-1/2 "), "{ran:?}");
    let games = std::fs::read_to_string(folder.path().join("g.pgn")).unwrap();
    let [first, second] = [games.find("-1.00/"), games.find("+1.00/")].map(|place| place.expect(&games));
    assert!(first < second && games.matches("-1.00/").count() == 1, "{games}");
}

/// An engine that exits in its first ponder search plays on without `ponder`, whatever its opponent
/// does.
#[test]
fn one_engine_ponders_and_the_other_does_not() {
    let folder = folder();
    let play = |first: &str, second: &str| {
        let line = format!(
            "A(--ponder 2 {first}) ponder B(--ponder 2 {second}) -each tc=1000 -openings file=b.pgn plies=2 -rounds 1 \
             -games 1 -maxmoves 4"
        );
        Ran::from(under("cutechess-cli", &line, folder.path()).output().unwrap())
    };
    let ran = play("", "--fault exit-in-ponder@2");
    assert!(ran.code == Some(0) && ran.stdout.contains("1/2-1/2 {Draw by adjudication"), "{ran:?}");
    let ran = play("--fault exit-in-ponder@2", "");
    assert!(ran.code == Some(1) && ran.stdout.contains("0-1 {White"), "{ran:?}");
}

#[test]
fn odd_scores_and_moves_are_warned_of_in_the_words_of_fastchess() {
    let folder = folder();
    let line = |last: &str| {
        format!(
            "A(--mate 3) B(--seed 2 --mate 2 --fault {last}@2) -each tc=1000 -openings file=b.pgn plies=2 -rounds 1 \
             -games 1 -maxmoves 9"
        )
    };
    let ran = super::fastchess(&line("uppercase"), folder.path());
    let first = "Warning; Sign mismatch in mate scores 3 and 2 from A (White) and B (Black)\n\
                 Infos; game 1, ply 3, mate 3 ; ply 4, mate 2\nPosition; startpos\nMoves; e2e4 e7e5 ";
    let second = "Warning; Sign mismatch in mate scores 2 and 3 from B (Black) and A (White)\n";
    assert!(ran.code == Some(0) && ran.stdout.contains(first) && ran.stdout.contains(second), "{ran:?}");
    assert_eq!(ran.stdout.matches("Sign mismatch").count(), 2, "{ran:?}");
    let format = "Warning; Move does not match uci move format, lowercase and 4/5 chars. Move ";
    let (_, rest) = ran.stdout.split_once(format).expect(&ran.stdout);
    assert!(rest.lines().nth(1).is_some_and(|line| line.starts_with("Warning; Illegal move ")), "{ran:?}");
    // It names no move.
    let ran = super::fastchess(&line("missing-move"), folder.path());
    assert!(
        ran.stdout.contains("Warning; Illegal move <none> played by B\n") && !ran.stdout.contains(format),
        "{ran:?}"
    );
}

#[test]
fn a_log_has_the_last_words_of_an_engine() {
    let folder = folder();
    let line = "A() B(--seed 2 --fault exit-in-search@2) -each tc=1000 -openings file=b.epd -rounds 1 -games 1 -recover -maxmoves 9 \
                -log file=x.log engine=true level=trace";
    let ran = super::fastchess(line, folder.path());
    let log = std::fs::read_to_string(folder.path().join("x.log")).unwrap();
    let (before, after) = log.split_once("\n<stderr> B ---> assertion failed: depth > 0\n").expect(&log);
    assert!(before.contains(" > go ") && after.contains("Stopped: "), "{log} {ran:?}");
}

/// A script starts its background jobs with SIGINT ignored, and ends them by it.
#[cfg(target_os = "linux")]
#[test]
fn background_jobs_heed_an_interrupt() {
    use rustix::process::{Pid, Signal, kill_process};
    for (runner, run) in [("fastchess", "config.json.run"), ("cutechess", "cutechess-cli.quintain.json.run")] {
        let folder = folder();
        let gate = Gate::new(folder.path(), 2);
        let engines = format!("A({}) B(--seed 2) -each nodes=1", gate.words());
        let line = super::words(runner, &format!("{engines} -openings file=b.epd -rounds 4 -games 2 -maxmoves 4"));
        let mut command = in_shell("trap '' INT; exec \"$@\"", &[vec![runner.to_owned()], line].concat());
        let child = command.current_dir(folder.path()).stdout(Stdio::piped()).spawn().unwrap();
        let journal = || std::fs::read_to_string(folder.path().join(run).join("games.jsonl")).unwrap_or_default();
        until("a game", || journal().lines().count() > 1);
        kill_process(Pid::from_child(&child), Signal::INT).unwrap();
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert!(ran.code == Some(1) && ran.stdout.contains("Tournament was interrupted"), "{ran:?}");
        assert_eq!(ran.stdout.contains("\nElo difference: "), runner == "cutechess", "{ran:?}");
    }
}
