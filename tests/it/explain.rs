//! `quintain explain` and `quintain report` from outside: runs of the scripted peer, whole, live
//! and torn.

use std::path::Path;

use serde_json::Value;

use crate::harness::{FAKE, Ran, fake, games, quintain, run, sprt, summary};

/// Instant games under a clock; both peers tell depth and nodes.
const QUICK: &str = "--tc 500+0.1 --max-plies 60 --max-pairs 20 --seed 3";

#[track_caller]
fn ask(dir: &Path, command: &str) -> Ran {
    let mut words: Vec<String> = command.split(' ').map(str::to_owned).collect();
    words.insert(1, dir.display().to_string());
    run(&words)
}

#[track_caller]
fn printed(dir: &Path, command: &str) -> String {
    let ran = ask(dir, command);
    assert_eq!(ran.code, Some(0), "{command}: {ran:?}");
    ran.stdout
}

#[track_caller]
fn document(dir: &Path, command: &str) -> Value {
    serde_json::from_str(&printed(dir, command)).unwrap()
}

/// Checks the sums over the groups of each dimension.
#[track_caller]
fn check_sums(explained: &Value, counted: usize) {
    assert_eq!(explained["games"], counted);
    let groups = explained["groups"].as_array().unwrap();
    for by in ["color", "opening", "phase", "length", "termination", "time-trouble", "time-used", "depth", "nps"] {
        let of: Vec<_> = groups.iter().filter(|group| group["by"] == by).collect();
        let games: u64 = of.iter().map(|group| group["games"].as_u64().unwrap()).sum();
        assert_eq!(games, counted as u64, "{by}");
        let net: f64 = of.iter().map(|group| group["net"].as_f64().unwrap()).sum();
        assert_eq!(net, explained["net"].as_f64().unwrap(), "{by}");
    }
}

#[test]
fn a_run_explained() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    sprt(
        3,
        "--name Alpha --seed 1 --info 3 --resigns 30",
        "--name Beta --seed 2 --info 3",
        &dir,
        &format!("{QUICK} -j 2 --force-concurrency --resign count=1,score=600"),
    );
    let counted = games(&dir);
    let explained = document(&dir, "explain --json");
    check_sums(&explained, counted.len());
    assert_eq!(explained["wdl"], summary(&dir)["wdl"]);
    // The level pairs are split alike, and the openings have a bias.
    let (level, known) = (&explained["openings"]["level_pairs"], summary(&dir));
    let of = |part: &str| level[part].as_u64().unwrap();
    assert_eq!(of("drawn") + of("won"), explained["ptnml"][2].as_u64().unwrap(), "{level}");
    assert_eq!((level, &explained["openings"]["bias"]), (&known["level_pairs"], &known["opening_bias"]));
    assert!(known["opening_bias"]["hi"].as_f64().unwrap() > 0.0, "{known}");
    for text in [
        printed(&dir, "report"),
        printed(&dir, "report --format html").replace("Level pairs</th><td>", "level pairs: "),
    ] {
        let split =
            format!("level pairs: {} of two draws, {} of a win each; bias of the openings ", of("drawn"), of("won"));
        assert!(text.contains(&split), "{split}: {text}");
    }
    assert_eq!(explained["ptnml"], summary(&dir)["ptnml"]);
    assert_eq!(explained["duplicates"]["games"], counted.len());
    assert!(explained["search"]["depth"]["ratio"].is_number(), "{}", explained["search"]);
    assert!(explained["clock"]["used_by_end"]["player"].is_number(), "{}", explained["clock"]);
    // Seen from the other side it is the same, turned round.
    let base = document(&dir, "explain --player base --json");
    assert_eq!(base["net"].as_f64().unwrap(), -explained["net"].as_f64().unwrap());
    assert_eq!(document(&dir, "explain --player all --json").as_array().unwrap().len(), 2);

    for text in [printed(&dir, "explain"), printed(&dir, "report")] {
        assert!(text.lines().all(|line| line.chars().count() <= 100), "{text}");
        for part in ["by length", "by how it ended", "resign-adjudication", "effective sample", "nodes a second"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    let markdown = printed(&dir, "report --format md");
    assert!(markdown.starts_with("# ") && markdown.contains("\n| :--- | ---: |"), "{markdown}");
    let csv = printed(&dir, "report --format csv");
    let columns = csv.lines().next().unwrap().split(',').count();
    assert!(csv.lines().filter(|line| !line.contains('"')).all(|line| line.split(',').count() == columns), "{csv}");
    assert!(csv.lines().nth(1).unwrap().starts_with(&format!("all,all,{},", counted.len())), "{csv}");
    let block = printed(&dir, "report --format block");
    let names: Vec<_> = block.lines().map(|line| line.split('|').next().unwrap().trim_end()).collect();
    assert_eq!(names, ["Elo", "SPRT", "LLR", "Games", "Penta"], "{block}");
    let wdl: Vec<u64> = summary(&dir)["wdl"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let line = format!("Games | N: {} W: {} L: {} D: {}\n", counted.len(), wdl[0], wdl[2], wdl[1]);
    assert!(block.contains(&line), "{block}");
    let commit = printed(&dir, "report --format commit");
    assert!(commit.starts_with("No verdict at ") && commit.contains(&block), "{commit}");
    let report = document(&dir, "report --format json");
    assert_eq!((&report["live"], &report["explain"]), (&Value::Bool(false), &explained));
    assert_eq!(report["summary"], summary(&dir));
}

/// The peer plays the same moves whenever it is asked: two openings, ten times each, are two pairs.
/// A tournament under another runner's name counts all of them; a test of ours gives them the
/// weight of the two.
#[test]
fn games_that_were_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("two.epd");
    let lines = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\nrnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -\n";
    std::fs::write(&book, lines).unwrap();
    let dir = folder.path().join("run");
    sprt(3, "--seed 1", "--seed 2", &dir, &format!("{QUICK} -j 2 --force-concurrency --book {}", book.display()));
    let duplicates = &document(&dir, "explain --json")["duplicates"];
    assert_eq!((&duplicates["games"], &duplicates["distinct_games"]), (&40.into(), &4.into()), "{duplicates}");
    // Under a clock all count, and all together weigh as much as the two.
    let summary = summary(&dir);
    assert_eq!((&summary["pairs"], &summary["repeated_pairs"]), (&20.into(), &0.into()));
    assert!(summary["design_effect"].as_f64().unwrap() >= 10.0, "{summary}");
    let cmd = format!("cmd={FAKE}");
    let engines = ["fastchess", "-engine", &cmd, "name=A", "-engine", &cmd, "name=B", "args=--seed 2"];
    let rules = "-each tc=500+0.1 -rounds 20 -maxmoves 30 -openings file=two.epd -config outname=c.json";
    let words: Vec<&str> = engines.into_iter().chain(rules.split(' ')).collect();
    assert!(quintain(&words).current_dir(folder.path()).output().unwrap().status.success());
    let dir = folder.path().join("c.json.run");
    let duplicates = &document(&dir, "explain --json")["duplicates"];
    assert_eq!((&duplicates["games"], &duplicates["distinct_games"]), (&40.into(), &4.into()), "{duplicates}");
    assert_eq!(duplicates["effective_pairs_by_moves"], 2.0);
    assert!(duplicates["interval_factor"].as_f64().unwrap() > 3.0, "{duplicates}");
    assert!(printed(&dir, "explain").contains("36 of 40 games repeat an earlier one"));
}

/// Counted games are reported although the last line is torn and one game's pair is not complete.
#[test]
fn a_run_that_is_not_over() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    sprt(3, "--seed 1 --info 2", "--seed 2 --info 2", &dir, &format!("{QUICK} -j 1"));
    let journal = dir.join("games.jsonl");
    let bytes = std::fs::read(&journal).unwrap();
    let ends: Vec<usize> = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).collect();
    for (length, counted) in [(bytes.len() - 20, 38), (ends[11], 10), (ends[10], 10), (ends[10] + 30, 10)] {
        std::fs::write(&journal, &bytes[..length]).unwrap();
        check_sums(&document(&dir, "explain --json"), counted);
        let report = document(&dir, "report --format json");
        assert_eq!(report["summary"]["games"], counted, "{length}");
    }
    // A header and no game.
    std::fs::write(&journal, &bytes[..ends[0]]).unwrap();
    assert_eq!(document(&dir, "explain --json"), Value::Null);
    assert!(ask(&dir, "report --format csv").stderr.contains("no pair has been counted yet"));
}

#[test]
fn whose_points_must_be_known() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let [a, b, c] = ["--name A --seed 1", "--name B --seed 2", "--name C --seed 3"].map(fake);
    let out = dir.display().to_string();
    let words = [
        "match",
        &a,
        &b,
        &c,
        "--format",
        "round-robin",
        "--pairs",
        "2",
        "--nodes",
        "1",
        "--max-plies",
        "20",
        "--out",
        &out,
    ];
    let ran = run(&words);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for (command, said) in [
        ("explain", "3 players: choose one with --player NAME"),
        ("explain --player nobody", "`nobody` does not play: "),
        ("explain --player new", "`new` does not play: "),
        ("report --format csv", "covers one player"),
    ] {
        let ran = ask(&dir, command);
        assert!(ran.code == Some(2) && ran.stderr.contains(said), "{command}: {ran:?}");
    }
    let all = document(&dir, "explain --player all --json");
    for explained in all.as_array().unwrap() {
        let groups = explained["groups"].as_array().unwrap();
        assert_eq!(groups.iter().filter(|group| group["by"] == "opponent").count(), 2, "{explained}");
        assert_eq!(explained["games"], 8);
    }
    // A report of many says who won, and nothing of one player unless asked.
    let report = document(&dir, "report --format json");
    assert_eq!((&report["explain"], &report["summary"]["games"]), (&Value::Null, &12.into()));
    assert!(printed(&dir, "report --format md").starts_with("# "));
}
