//! `quintain simulate`, the stop at a width, and what a finished test says of its Elo, from
//! outside.

use std::path::Path;

use serde_json::Value;

use crate::harness::{fake, run, sprt, summary};

fn simulate(line: &str, results: &Path) -> Value {
    let mut args: Vec<String> = ["simulate", "--json", "--results"].map(str::to_owned).to_vec();
    args.push(results.display().to_string());
    args.extend(line.split_whitespace().map(str::to_owned));
    let ran = run(&args);
    assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

fn number(document: &Value, key: &str) -> f64 {
    document[key].as_f64().unwrap_or_else(|| panic!("no {key} in {document}"))
}

#[test]
fn a_test_is_foreseen() {
    let empty = tempfile::tempdir().unwrap();
    let document = simulate("--elo 0 --bounds 0,40 --tests 200", empty.path());
    // At elo0 a test passes with probability alpha = 0.05 at most; steps over the bounds lower it a
    // little.
    let pass = number(&document, "pass");
    assert!((0.035..0.051).contains(&pass), "{document}");
    assert!(document["hours"].is_null() && document["pairs_per_minute"].is_null(), "{document}");
    let (played, pairs) = (&document["simulated"], number(&document, "pairs"));
    // Three standard errors of 200 tests.
    assert!((number(played, "pass") - pass).abs() < 0.05, "{document}");
    assert!((number(played, "pairs") / pairs - 1.0).abs() < 0.2, "{document}");
    let table = document["table"].as_array().unwrap();
    let column = |key: &str| table.iter().map(|row| number(row, key)).collect::<Vec<_>>();
    assert!(column("elo").is_sorted() && column("pass").is_sorted(), "{document}");
    assert!(column("elo")[0] < 0.0 && *column("elo").last().unwrap() > 40.0);
    // The same seed, the same results, however many processors share the work.
    assert_eq!(document, simulate("--elo 0 --bounds 0,40 --tests 200", empty.path()));
    assert_ne!(document, simulate("--elo 0 --bounds 0,40 --tests 200 --seed 2", empty.path()));
}

#[test]
fn tests_of_too_many_pairs_are_not_played() {
    let empty = tempfile::tempdir().unwrap();
    let results = empty.path().display().to_string();
    let line = ["simulate", "--elo", "0", "--tests", "3", "--bounds", "0,0.001", "--json", "--results", &results];
    let ran = run(&line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stderr.contains("too many pairs to play; the formula alone"), "{ran:?}");
    let document: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert!(document["simulated"].is_null() && number(&document, "pairs") > 1e9, "{document}");
}

#[test]
fn a_shape_that_the_formula_cannot_foresee_is_marked() {
    let empty = tempfile::tempdir().unwrap();
    let results = empty.path().display().to_string();
    let shown = |draws: &str| {
        let line = ["simulate", "--results", &results, "--elo", "30", "--bounds", "0,60", "--tests", "5"];
        let ran = run(&[&line[..], &["--draw-ratio", draws]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran.stdout
    };
    let (drawish, usual) = (shown("0.99"), shown("0.4"));
    assert!(drawish.contains("~at 30 nElo") && drawish.contains("~ a rough guess"), "{drawish}");
    assert!(drawish.contains("these figures count, not the formula's"), "{drawish}");
    assert!(usual.contains("\nat 30 nElo") && !usual.contains("not the formula's"), "{usual}");
    let sound = |draws: &str| {
        simulate(&format!("--elo 30 --bounds 0,60 --tests 0 --draw-ratio {draws}"), empty.path())["is_sound"].clone()
    };
    assert_eq!([sound("0.99"), sound("0.4")], [Value::Bool(false), Value::Bool(true)]);
}

#[test]
fn a_tuning_is_foreseen() {
    let empty = tempfile::tempdir().unwrap();
    let line = "--tune d=4,elo=30,games=4000 --tests 20 --pairs-per-minute 50";
    let document = simulate(line, empty.path());
    let table = document["table"].as_array().unwrap();
    let column = |key: &str| table.iter().map(|row| number(row, key)).collect::<Vec<_>>();
    assert_eq!(column("games"), [1_000.0, 2_000.0, 4_000.0]);
    let (left, gain) = (column("left"), column("gain"));
    // Of 30 Elo most are won, and more by more games.
    assert!(left.is_sorted_by(|a, b| a > b) && left[2] < 10.0, "{document}");
    assert!(gain.iter().zip(&left).all(|(gain, left)| (gain + left - 30.0).abs() < 1e-9), "{document}");
    assert!((column("hours")[2] - 2_000.0 / 50.0 / 60.0).abs() < 1e-9, "{document}");
    assert_eq!(document["calibration_pairs"], 304);
    assert_eq!(document, simulate(line, empty.path()));
    assert_ne!(document, simulate(&format!("{line} --seed 2"), empty.path()));
    let ran = run(&["simulate", "--tune", "d=40,elo=none"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("`elo=none` is none of d=N, elo=X, games=N"), "{ran:?}");
    let ran = run(&["simulate", "--tune", "d=40", "--bounds", "0,5"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--bounds"), "{ran:?}");
    let ran = run(&["simulate", "--tune", "d=4", "--tests", "0"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("give 1 or more, or leave --tests out"), "{ran:?}");
    let ran = run(&["simulate"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("--elo"), "{ran:?}");
}

#[test]
fn the_table_comes_before_the_tests() {
    let empty = tempfile::tempdir().unwrap();
    let results = empty.path().display().to_string();
    let args = ["simulate", "--results", &results, "--elo", "40", "--bounds", "0,200", "--tests", "20"];
    let ran = run(&args);
    let place = |text: &str| ran.stdout.find(text).unwrap_or_else(|| panic!("no {text}: {ran:?}"));
    assert!(place("pass %") < place("20 simulated tests: "), "{ran:?}");
    // More tests than their lengths have room for are refused, not begun.
    let ran = run(&[&args[..8], &["4294967295"]].concat());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("1000000"), "{ran:?}");
}

#[test]
fn draws_limits_and_budgets_count() {
    let empty = tempfile::tempdir().unwrap();
    let short = simulate("--elo 2 --bounds 0,5 --tests 0 --max-pairs 1000", empty.path());
    assert!(number(&short, "undecided") > 0.9 && number(&short, "pairs") <= 1000.0, "{short}");
    assert!(short["simulated"].is_null());
    // In logistic Elo, pairs that are mostly drawn tell more.
    let pairs = |draws: &str| {
        number(&simulate(&format!("--elo 2 --model logistic --tests 0 --draw-ratio {draws}"), empty.path()), "pairs")
    };
    assert!(pairs("0.9") < 0.5 * pairs("0.3"));
    let document = simulate("--elo 2 --tests 0 --budget 8h --pairs-per-minute 50", empty.path());
    let budget = &document["budget"];
    assert_eq!(number(budget, "pairs"), 24_000.0);
    assert!(number(budget, "elo1_mean") < number(budget, "elo1_95"), "{document}");
    let bounds = format!("--elo 2 --tests 0 --bounds 0,{}", number(budget, "elo1_95"));
    let worst = simulate(&bounds, empty.path())["table"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| number(row, "pairs_95"))
        .fold(0.0, f64::max);
    assert!((23_000.0..=24_100.0).contains(&worst), "{worst}");
}

#[test]
fn what_is_wrong_is_said_in_one_line() {
    let empty = tempfile::tempdir().unwrap();
    let results = empty.path().display().to_string();
    for (line, message) in [
        ("--elo 0 --model bayesian", "the bayesian model applies to games, not to pairs"),
        ("--elo 0 --bounds 5,0", "elo0 must be below elo1, write 0,5"),
        ("--elo inf", "--elo inf: pairs of this shape reach from"),
        ("--elo nan", "--elo NaN: pairs of this shape reach from"),
        ("--elo 0 --draw-ratio 1", "--draw-ratio 1: give a share above 0 and below 1"),
        ("--elo 0 --ptnml 1,2", "5 counts with commas between them are needed"),
        ("--elo 0 --ptnml 0,0,0,0,0", "no pairs in it"),
        ("--elo 0 --budget 8h", "--budget: no run of this machine is stored under"),
        ("--elo 0 --pairs-per-minute 0", "--pairs-per-minute 0: a positive number is needed"),
        ("--elo 0 --max-pairs 0", "--max-pairs 0 plays nothing"),
    ] {
        let mut args = vec!["simulate", "--results", &results];
        args.extend(line.split_whitespace());
        let ran = run(&args);
        assert_eq!(ran.code, Some(2), "{line}: {ran:?}");
        assert!(ran.stderr.contains(message) && ran.stderr.trim_end().lines().count() == 1, "{line}: {ran:?}");
    }
}

#[test]
fn a_finished_test_says_what_holds_of_its_elo() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran = sprt(1, "--resigns 100", "--seed 2", &dir, "--nodes 1 --bounds 0,40 -j 1 --resign count=1,score=900");
    let summary = summary(&dir);
    let [low, high] = ["elo_unbiased_lo", "elo_unbiased_hi"].map(|key| summary[key].as_f64());
    assert!(number(&summary, "los_unbiased") < 0.05, "{summary}");
    assert!(ran.stdout.contains("after the stop: Elo ") && ran.stdout.contains("any time: Elo in ["), "{ran:?}");
    assert!(low.unwrap_or(-2000.0) < high.unwrap_or(2000.0), "{summary}");
    assert!(number(&summary, "elo_anytime_hi") < 0.0, "{summary}");
    assert_eq!((&summary["resumed"], &summary["until_width"]), (&false.into(), &Value::Null));
}

#[test]
fn a_test_without_a_verdict_says_what_holds_of_its_elo() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let ran = sprt(3, "--seed 1", "--seed 2", &dir, "--nodes 1 --bounds 0,1 -j 1 --max-pairs 4 --max-plies 40");
    let summary = summary(&dir);
    assert_eq!(summary["stopped_by"], "out-of-pairs", "{summary}");
    assert!(ran.stdout.contains("after the stop: Elo "), "{ran:?}");
    assert!((0.0..=1.0).contains(&number(&summary, "los_unbiased")), "{summary}");
}

#[test]
fn a_run_stops_at_its_width_and_resumes_to_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let out = dir.display().to_string();
    let engines = [fake("--seed 1"), fake("--seed 2")];
    let mut args = vec!["match", &engines[0], &engines[1], "--nodes", "1", "--out", &out, "-j", "2", "--seed", "1"];
    args.extend(["--until-width", "60", "--max-plies", "40"]);
    let ran = run(&args);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.starts_with("Elo is known within +-60, as --until-width asks\n"), "{ran:?}");
    let first = summary(&dir);
    assert_eq!((&first["stopped_by"], &first["until_width"]), (&"width".into(), &60.0.into()));
    // A resumed run has it all, and plays no more.
    let ran = run(&["resume", &out]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let second = summary(&dir);
    assert_eq!((&second["pairs"], &second["ptnml"]), (&first["pairs"], &first["ptnml"]));
    assert_eq!(second["stopped_by"], "width");
}

#[test]
fn a_gauntlet_stops_when_its_hero_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let engine = fake("--seed 1");
    let others = [fake("--seed 2 --resigns 40"), fake("--seed 3 --resigns 40")];
    // Engines that differ, and the same one three times over, whose pairs are all level: they tell
    // nothing of their scatter.
    for (name, field) in [("run", &others), ("level", &[engine.clone(), engine.clone()])] {
        let out = folder.path().join(name).display().to_string();
        let mut args = vec!["gauntlet", "--hero", &engine, "--vs", &field[0], "--vs", &field[1], "--nodes", "1"];
        args.extend([
            "--out",
            &out,
            "-j",
            "2",
            "--seed",
            "1",
            "--until-width",
            "80",
            "--max-plies",
            "40",
            "--max-time",
            "60s",
        ]);
        args.extend(["--resign", "count=1,score=900"]);
        let ran = run(&args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let document = summary(&folder.path().join(name));
        assert_eq!(document["stopped_by"], "width", "{document}");
        assert!(document["players"][0]["rating_error"].as_f64().is_none_or(|error| error <= 80.0), "{document}");
    }
    for (line, message) in [
        (["--format", "swiss", "--until-width", "5"], "--until-width: a swiss ends with its last round"),
        (["--format", "round-robin", "--until-width", "-1"], "--until-width -1: a positive number of Elo"),
    ] {
        let mut args = vec!["match", &engine, &engine, &engine];
        args.extend(line);
        let ran = run(&args);
        assert!(ran.code == Some(2) && ran.stderr.contains(message), "{ran:?}");
    }
}

#[test]
fn sizes_of_matches_of_a_fixed_length() {
    let folder = tempfile::tempdir().unwrap();
    let found = simulate("--width 5 --pairs 20000 --pairs-per-minute 30", folder.path());
    let (width, pairs) = (&found["width"], &found["pairs"]);
    assert_eq!((&width["pairs"], &pairs["pairs"]), (&2397.0.into(), &20_000.into()), "{found}");
    assert!((number(width, "hours") - 2397.0 / 1800.0).abs() < 1e-9, "{found}");
    // 1.645 + 1.645 deviations in Elo: 3.29 sqrt(0.0319 / 20000) at the slope 1600 / ln 10.
    assert!((number(pairs, "detectable_elo") - 2.89).abs() < 0.01, "{found}");
    assert!((number(pairs, "width") - 1.72).abs() < 0.01, "{found}");
    // A tenth of the errors takes more strength; so do fewer draws by chance.
    let strict = simulate("--pairs 20000 --alpha 0.005 --beta 0.005", folder.path());
    assert!(number(&strict["pairs"], "detectable_elo") > 4.4, "{strict}");
    assert!(strict["pairs"]["hours"].is_null() && strict["width"].is_null(), "{strict}");
    for (line, message) in [
        ("--width 0", "--width: write a number of Elo above 0"),
        ("--width 5 --bounds 0,5", "cannot be used with"),
        ("--pairs 1", "1 is not in 2.."),
        ("--width 0.0000001", "no number of pairs is enough"),
        ("--pairs 10 --alpha 1.5", "alpha"),
    ] {
        let words: Vec<&str> = std::iter::once("simulate").chain(line.split(' ')).collect();
        let ran = run(&words);
        assert!(ran.code == Some(2) && ran.stderr.contains(message), "{line}: {ran:?}");
    }
}
