//! Tunings as runs: the values that pairs play, whatever the number of games at once, and what a
//! kill and more pairs change.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use quintain::run::Exit;
use quintain::run::tune::{TuningSettings, play};
use quintain::settings::{RawPlan, RawPlayer};
use quintain::tournament::formats::tune::Choice;
use quintain::tune::read;
use quintain::tune::space::Space;
use serde_json::Value;

use crate::harness::{FAKE, Game, Gate, Ran, fake, games, quintain, run, summary, until};

/// Parameters of the scripted peer.
const PARAMS: &str =
    "Alpha, int, 50, 0, 100, 8, .002\nBeta, int, -3, -40, 40, 4, .002\nGamma, float, 1.5, 0, 3, 0.25, .004";

/// A peer whose moves and results depend on its options.
pub(crate) const ENGINE: &str = "--tunes --resigns 40";

pub(crate) fn space() -> Space {
    read::lines("params", PARAMS).unwrap()
}

/// Settings of a tuning of the scripted peer.
pub(crate) fn raw(engine: &str, pairs: u64, concurrency: u16) -> RawPlan {
    RawPlan {
        players: vec![RawPlayer { spec: Some(fake(engine)), ..RawPlayer::default() }],
        pairs: Some(pairs),
        concurrency: Some(concurrency),
        force_concurrency: Some(true),
        nodes: Some(1),
        max_plies: Some(12),
        resign: Some("count=1,score=600".to_owned()),
        seed: Some(5),
        ..RawPlan::default()
    }
}

pub(crate) fn wanted(choice: Choice) -> TuningSettings {
    TuningSettings { choice, space: space(), until_flat: false, dead: Vec::new() }
}

/// A tuning of the scripted peer in a folder of its own.
struct Tuning {
    folder: tempfile::TempDir,
}

impl Tuning {
    /// Plays a whole one, one game at a time.
    fn played(engine: &str, pairs: u64, choice: Choice) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let played = play(&raw(engine, pairs, 1), wanted(choice), &folder.path().join("whole")).unwrap();
        assert_eq!((played.exit, played.scoreboard.pairs()), (Exit::Done, pairs));
        Self { folder }
    }

    fn whole(&self) -> PathBuf {
        self.folder.path().join("whole")
    }

    /// The same run before its first game.
    fn anew(&self, name: &str) -> PathBuf {
        let dir = self.folder.path().join(name);
        std::fs::create_dir_all(dir.join("stderr")).unwrap();
        std::fs::copy(self.whole().join("plan.toml"), dir.join("plan.toml")).unwrap();
        let journal = std::fs::read_to_string(self.whole().join("games.jsonl")).unwrap();
        let header = journal.lines().next().unwrap();
        std::fs::write(dir.join("games.jsonl"), format!("{header}\n")).unwrap();
        dir
    }
}

fn resume_args(dir: &Path, more: &str) -> Vec<String> {
    let mut args = vec!["resume".to_owned(), dir.display().to_string(), "--trust".to_owned()];
    args.extend(more.split_whitespace().map(str::to_owned));
    args
}

#[track_caller]
fn resume(dir: &Path, more: &str) -> Ran {
    let ran = run(&resume_args(dir, more));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    ran
}

/// Values by colour of each game, by number.
fn values(dir: &Path) -> Vec<(u64, Value)> {
    let text = std::fs::read_to_string(dir.join("games.jsonl")).unwrap();
    let games = text.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).unwrap());
    let mut values: Vec<_> = games.map(|game| (game["game"].as_u64().unwrap(), game["values"].clone())).collect();
    values.sort_by_key(|(number, _)| *number);
    values
}

#[track_caller]
fn check_same(one: &Path, other: &Path) {
    let (found, wanted): (Vec<Game>, Vec<Game>) = (games(one), games(other));
    assert_eq!(found.len(), wanted.len());
    for (found, wanted) in found.iter().zip(&wanted) {
        assert_eq!(found, wanted);
    }
    assert_eq!(values(one), values(other));
    // Every figure is printed so that it reads back to the bit.
    assert_eq!(summary(one)["tune"], summary(other)["tune"]);
}

#[test]
fn games_at_once_change_neither_games_nor_result() {
    // The last eight pairs are of a block that validates.
    let tuning = Tuning::played(ENGINE, 184, Choice::Auto);
    let result = &summary(&tuning.whole())["tune"];
    assert_eq!(result["method"], "auto");
    assert_eq!(result["pairs"], serde_json::json!({ "calibrate": 32, "tune": 144, "validate": 8 }));
    let theta: Vec<f64> = result["params"].as_array().unwrap().iter().map(|p| p["theta"].as_f64().unwrap()).collect();
    assert!(theta.iter().zip(space().start()).all(|(theta, start)| *theta != start), "{theta:?}");
    for concurrency in [2, 8] {
        let dir = tuning.anew(&concurrency.to_string());
        resume(&dir, &format!("-j {concurrency}"));
        check_same(&dir, &tuning.whole());
    }
    // Options change games: the peer's moves follow from its values.
    let values = values(&tuning.whole());
    for pair in values.chunks(2) {
        assert_eq!(pair[0].1["white"], pair[1].1["black"], "values go with the player");
        assert_ne!(pair[0].1["white"], pair[0].1["black"]);
    }
    assert!(values[0].1["white"] == serde_json::json!(["50", "-3", "1.5"]), "the start is calibrated against");
}

#[test]
fn a_tuning_killed_at_any_moment_comes_to_the_same_result() {
    /// Games of each process before it waits. Fifteen processes play fewer than all games.
    const GAMES: usize = 12;
    let gates = tempfile::tempdir().unwrap();
    let gate = Gate::new(gates.path(), GAMES as u64 + 1);
    gate.open();
    let tuning = Tuning::played(&format!("{ENGINE} {}", gate.words()), 100, Choice::Auto);
    gate.close();
    let dir = tuning.anew("killed");
    let lines = || std::fs::read(dir.join("games.jsonl")).unwrap().iter().filter(|byte| **byte == b'\n').count();
    for kill in 1..6 {
        let begun = lines();
        let mut child = quintain(&resume_args(&dir, "-j 3"));
        let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("the moment to kill", || lines() >= begun + GAMES);
        assert!(child.try_wait().unwrap().is_none(), "kill {kill}: the run ended by itself");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    gate.open();
    resume(&dir, "-j 2");
    check_same(&dir, &tuning.whole());
}

#[test]
fn more_pairs_go_on_where_the_run_ended() {
    let tuning = Tuning::played(ENGINE, 64, Choice::Auto);
    let longer = tuning.anew("longer");
    resume(&longer, "--pairs 40 -j 2");
    let short = summary(&longer);
    assert_eq!((&short["pairs"], &short["stopped_by"]), (&40.into(), &"out-of-pairs".into()));
    let fewer: Ran = quintain(&resume_args(&longer, "--pairs 39")).output().unwrap().into();
    assert!(
        fewer.code == Some(2) && fewer.stderr.contains("--pairs 39: 40 pairs have been played; give at least 40"),
        "{fewer:?}"
    );
    resume(&longer, "--pairs 96 -j 4");
    resume(&tuning.whole(), "--pairs 96");
    assert_eq!(summary(&longer)["tune"]["pairs"]["tune"], 80);
    check_same(&longer, &tuning.whole());
}

#[test]
fn more_pairs_that_were_asked_for_once_are_played_after_a_kill_too() {
    let tuning = Tuning::played(ENGINE, 32, Choice::Auto);
    let dir = tuning.anew("killed");
    let bytes = || std::fs::metadata(dir.join("games.jsonl")).unwrap().len();
    let mut child = quintain(&resume_args(&dir, "--pairs 160 -j 2"));
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let most = std::fs::metadata(tuning.whole().join("games.jsonl")).unwrap().len();
    until("more than the pairs of the plan", || bytes() > most || child.try_wait().unwrap().is_some());
    let _ = child.kill();
    child.wait().unwrap();
    // Pairs are no part of what is said the second time.
    resume(&dir, "-j 3");
    assert_eq!(summary(&dir)["pairs"], 160);
    resume(&tuning.whole(), "--pairs 160");
    check_same(&dir, &tuning.whole());
    std::fs::write(dir.join("extension.toml"), "pairs = 0\n").unwrap();
    let refused = run(&resume_args(&dir, ""));
    assert!(refused.code == Some(2) && refused.stderr.contains("extension.toml: delete it to continue"), "{refused:?}");
}

#[test]
fn a_schedule_that_holds_its_pairs_takes_no_others() {
    for (choice, name, pairs) in [(Choice::Fishtest, "fishtest", 48), (Choice::OpenBench, "openbench", 48)] {
        let tuning = Tuning::played(ENGINE, pairs, choice);
        assert_eq!(summary(&tuning.whole())["tune"]["method"], name);
        let dir = tuning.anew("again");
        let refused = run(&resume_args(&dir, "--pairs 96"));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        let wanted = format!("the schedule of --method {name} is for {pairs} pairs only");
        assert!(refused.stderr.contains(&wanted), "{refused:?}");
        resume(&dir, "-j 4");
        check_same(&dir, &tuning.whole());
    }
}

#[test]
fn engines_that_are_started_for_each_game_have_its_values() {
    let tuning = Tuning::played(ENGINE, 20, Choice::Auto);
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let restarting = RawPlan { restart: Some(true), ..raw(ENGINE, 20, 1) };
    play(&restarting, wanted(Choice::Auto), &dir).unwrap();
    check_same(&dir, &tuning.whole());
}

#[test]
fn a_run_that_gains_nothing_more_ends_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    // Every game is a draw after a move, so the result stays where it is.
    let drawn = RawPlan { max_plies: Some(1), resign: None, ..raw(ENGINE, 5_000, 4) };
    let flat = TuningSettings { until_flat: true, ..wanted(Choice::Auto) };
    let played = play(&drawn, flat, &dir).unwrap();
    assert_eq!(played.exit, Exit::Done);
    let found = summary(&dir);
    assert_eq!(found["stopped_by"], "flat");
    let pairs = &found["tune"]["pairs"];
    assert!((2_000..2_016).contains(&pairs["tune"].as_u64().unwrap()), "{pairs}");
    // Nothing is left to play, however often one asks.
    let before = games(&dir).len();
    resume(&dir, "-j 1");
    assert_eq!((games(&dir).len(), &summary(&dir)["stopped_by"]), (before, &"flat".into()));
    // More pairs that are asked for are played nevertheless, by later commands too.
    let played = found["pairs"].as_u64().unwrap();
    for (more, pairs) in [(format!("--pairs {}", played + 40), 40), (String::new(), 40)] {
        resume(&dir, &format!("-j 4 {more}"));
        let longer = summary(&dir);
        assert_eq!((&longer["pairs"], &longer["stopped_by"]), (&(played + pairs).into(), &"out-of-pairs".into()));
    }
    resume(&dir, &format!("--pairs {}", played + 56));
    assert_eq!(summary(&dir)["pairs"], played + 56);
}

#[test]
fn a_run_of_other_values_is_not_gone_on_with() {
    let tuning = Tuning::played(ENGINE, 40, Choice::Auto);
    let dir = tuning.whole();
    let plan = std::fs::read_to_string(dir.join("plan.toml")).unwrap();
    let other = plan.replacen("[tune]\nmethod = \"auto\"\nseed = 5\n", "[tune]\nmethod = \"auto\"\nseed = 6\n", 1);
    assert_ne!(plan, other);
    std::fs::write(dir.join("plan.toml"), other).unwrap();
    let changed = run(&resume_args(&dir, "--pairs 60"));
    assert!(changed.code == Some(2) && changed.stderr.contains("plan.toml"), "{changed:?}");
    // Taken for its own all the same, as by a version that draws other values.
    let journal = std::fs::read_to_string(dir.join("games.jsonl")).unwrap();
    let (_, records) = journal.split_once('\n').unwrap();
    std::fs::write(dir.join("games.jsonl"), format!("damaged\n{records}")).unwrap();
    let refused = run(&resume_args(&dir, "--pairs 60 --drop-damaged"));
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let wanted = "game 1 does not have the values that this version proposes";
    assert!(refused.stderr.contains(wanted), "{refused:?}");
    assert_eq!(games(&dir).len(), 80, "nothing is lost");
    assert!(!dir.join("extension.toml").exists(), "a refused run keeps its number of pairs");
}

/// A value beyond which the engine crashes is given up, at the same moment whatever the number of
/// games at once and whatever was killed, and everybody is told.
#[test]
fn a_range_beyond_which_the_engine_crashes_is_narrowed_and_told() {
    let engine = &format!("{ENGINE} --crash-above Alpha=50");
    let tuning = Tuning::played(engine, 120, Choice::Auto);
    let told = summary(&tuning.whole());
    let cuts = told["tune"]["narrowed"].as_array().unwrap();
    assert!(!cuts.is_empty(), "{told}");
    for cut in cuts {
        assert_eq!((&cut["name"], &cut["end"]), (&Value::from("Alpha"), &Value::from("max")), "{cut}");
        assert!(cut["failures"].as_u64().unwrap() >= 3 && cut["pairs"].as_u64().unwrap() % 16 == 0, "{cut}");
    }
    assert_eq!(cuts[0]["from"], 100.0);
    let last = cuts[cuts.len() - 1]["to"].as_f64().unwrap();
    assert!((50.0..60.0).contains(&last), "{cuts:?}");
    let page = std::fs::read_to_string(tuning.whole().join("report.html")).unwrap();
    assert!(page.contains(&format!("narrowed to at most {last}")), "{last}");
    // Once a cut has come to the values, no pair plays beyond it.
    let lag = usize::try_from(cuts[cuts.len() - 1]["pairs"].as_u64().unwrap()).unwrap() + 16;
    for (game, values) in values(&tuning.whole()).into_iter().skip(2 * lag) {
        for color in ["white", "black"] {
            let alpha: f64 = values[color][0].as_str().unwrap().parse().unwrap();
            assert!(alpha <= last, "game {game}: {values}");
        }
    }
    for concurrency in [2, 8] {
        let dir = tuning.anew(&concurrency.to_string());
        let ran = resume(&dir, &format!("-j {concurrency}"));
        let lines = |text: &str| text.matches("Alpha: range narrowed from at most 100 to at most ").count();
        assert_eq!((lines(&ran.stderr), lines(&ran.stdout)), (1, 1), "{ran:?}");
        check_same(&dir, &tuning.whole());
    }
    let dir = tuning.anew("killed");
    let whole = std::fs::metadata(tuning.whole().join("games.jsonl")).unwrap().len();
    let mut child = quintain(&resume_args(&dir, "-j 3"));
    let mut child = child.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("half of the games", || {
        std::fs::metadata(dir.join("games.jsonl")).unwrap().len() >= whole / 2 || child.try_wait().unwrap().is_some()
    });
    let _ = child.kill();
    child.wait().unwrap();
    resume(&dir, "-j 2");
    check_same(&dir, &tuning.whole());
    // A plan of a version that narrowed nothing goes on as it was begun.
    let plan = std::fs::read_to_string(dir.join("plan.toml")).unwrap();
    assert!(plan.contains("\nnarrow = true\n"), "{plan}");
}

/// Checks that each side with Alpha above 50 lost its game by a crash, with its values told, and
/// nobody else. Returns the number of crashes.
#[track_caller]
fn check_crashes(dir: &Path) -> usize {
    let text = std::fs::read_to_string(dir.join("games.jsonl")).unwrap();
    let mut crashes = 0;
    for line in text.lines().skip(1) {
        let game: Value = serde_json::from_str(line).unwrap();
        let alpha = |color: &str| game["values"][color][0].as_str().unwrap().parse::<i64>().unwrap();
        let crashed = game["termination"] == "crash";
        // Both may be above 50; then White, which is asked first, loses.
        let loser = if alpha("white") > 50 { Some("0-1") } else { (alpha("black") > 50).then_some("1-0") };
        assert_eq!(
            (crashed, loser.is_some_and(|result| game["result"] == result)),
            (loser.is_some(), crashed),
            "{line}"
        );
        if let Some(result) = loser {
            crashes += 1;
            let about = dir.join(format!("crashes/game-{}/about.txt", game["game"]));
            let about = std::fs::read_to_string(about).unwrap();
            let side = &game["values"][if result == "0-1" { "white" } else { "black" }];
            let text = |place: usize| side[place].as_str().unwrap();
            let wanted = format!("tuned options: Alpha={}, Beta={}, Gamma={}\n", text(0), text(1), text(2));
            assert!(about.contains(&wanted), "{about}");
        }
    }
    crashes
}

/// Replays the first of the failed games, which has the game's own values and so fails again.
#[track_caller]
fn check_replay(dir: &Path) {
    let first = std::fs::read_dir(dir.join("crashes")).unwrap().next().unwrap().unwrap().file_name();
    let game = first.to_str().unwrap().trim_start_matches("game-").to_owned();
    let again = run(&["replay", &dir.display().to_string(), "--game", &game, "--trust"]);
    assert_eq!(again.code, Some(1), "{again:?}");
}

#[test]
fn a_value_that_crashes_the_engine_is_named_and_counts_as_a_loss() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let limits = RawPlan { max_failures: Some(10_000), ..raw("--tunes --crash-above Alpha=50", 48, 2) };
    play(&limits, wanted(Choice::Auto), &dir).unwrap();
    let crashes = check_crashes(&dir);
    assert!(crashes > 20, "only {crashes}");
    check_replay(&dir);
    let narrowed = RawPlan { max_failures: Some(3), ..limits };
    let stopped = play(&narrowed, wanted(Choice::Auto), &folder.path().join("stopped")).unwrap();
    assert_eq!(stopped.exit, Exit::Aborted);
}

/// An engine that does not survive a value when it is set loses the games with the value, as by a
/// crash in a search. The tuning is the same to the last bit.
#[test]
fn a_value_that_ends_the_engine_before_a_game_counts_as_a_loss() {
    let tuning = Tuning::played("--tunes --dies-above Alpha=50", 120, Choice::Auto);
    let dir = tuning.whole();
    let crashes = check_crashes(&dir);
    assert!(crashes > 20, "only {crashes}");
    check_replay(&dir);
    for game in games(&dir).iter().filter(|game| game.termination == "crash") {
        assert_eq!(game.moves, Vec::<String>::new(), "{game:?}");
        let read = |name: &str| std::fs::read_to_string(dir.join(format!("crashes/game-{}/{name}", game.number)));
        let about = read("about.txt").unwrap();
        assert!(about.contains("detail: exit status 5 after its values were set\n"), "{about}");
        assert!(read("transcript.txt").unwrap().contains(" > setoption name Alpha value "), "game {}", game.number);
        assert!(read("stderr.txt").unwrap().contains("division by zero"), "game {}", game.number);
    }
    let searched = Tuning::played("--tunes --crash-above Alpha=50", 120, Choice::Auto);
    assert_eq!(values(&dir), values(&searched.whole()));
    let told = &summary(&dir)["tune"];
    assert_eq!(told, &summary(&searched.whole())["tune"]);
    assert!(told["narrowed"].as_array().is_some_and(|cuts| !cuts.is_empty()), "{told}");
    let other = tuning.anew("other");
    resume(&other, "-j 4");
    check_same(&other, &dir);
}

/// An engine that gets no more ready, with values or without, is no loss of a game: the run stops.
#[cfg(unix)]
#[test]
fn an_engine_that_never_gets_ready_again_stops_a_tuning_and_loses_no_game() {
    let folder = tempfile::tempdir().unwrap();
    let [engine, starts, dir] = ["engine", "starts", "run"].map(|name| folder.path().join(name));
    let count = starts.display();
    let options = "option name Alpha type spin default 50 min 0 max 100\\n\
                   option name Beta type spin default -3 min -40 max 40\\n\
                   option name Gamma type string default 1.5\\n";
    let script = format!(
        "#!/bin/sh\necho >> {count}\nn=$(wc -l < {count})\n\
         if [ $n -ge 20 ]; then read uci; printf '{options}uciok\\n'; exit 7; fi\n\
         exec '{FAKE}' --tunes\n"
    );
    std::fs::write(&engine, script).unwrap();
    std::fs::set_permissions(&engine, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let spec = Some(engine.display().to_string());
    let players = vec![RawPlayer { spec, ..RawPlayer::default() }];
    let restarting = RawPlan { players, restart: Some(true), ..raw("", 40, 1) };
    let played = play(&restarting, wanted(Choice::Auto), &dir).unwrap();
    assert_eq!(played.exit, Exit::Aborted);
    assert_eq!(summary(&dir)["stopped_by"], "broken");
    let found = games(&dir);
    assert!(!found.is_empty() && found.iter().all(|game| game.termination != "crash"), "{found:?}");
    // Three attempts, each with the values and without.
    assert_eq!(std::fs::read_to_string(&starts).unwrap().lines().count(), 19 + 6);
}
