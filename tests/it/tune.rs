//! `quintain tune`: where parameters come from, what is wrong with them, what they change.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{FAKE, Ran, fake, quintain};
use crate::source::Toy;

/// Parameters of the scripted peer: two that change its moves, one that does not.
const ROWS: &str = "\
Alpha, int, 50, 0, 100, 5, 0.002
Gamma, float, 1.5, 0, 3, 0.25, 0.002
Idle, int, 5, 0, 9, 1, 0.002
";

const SHORT: &str = "--nodes 50 --seed 1 --dry-run";

fn tune_in(folder: &Path, engine: &str, more: &str) -> Ran {
    let mut words = vec!["tune".to_owned(), "--engine".to_owned(), engine.to_owned()];
    words.extend(more.split_whitespace().map(str::to_owned));
    quintain(&words).current_dir(folder).output().unwrap().into()
}

/// A tuning of the scripted peer by the parameters of a file.
fn tune(args: &str, rows: &str, more: &str) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.txt"), rows).unwrap();
    tune_in(folder.path(), &fake(&format!("--tunes {args}")), &format!("--params p.txt {SHORT} {more}"))
}

#[track_caller]
fn document(ran: &Ran) -> Value {
    assert_eq!(ran.code, Some(0), "{ran:?}");
    serde_json::from_str(&ran.stdout).unwrap()
}

#[test]
fn a_dry_run_tells_what_would_be_tuned_and_leaves_out_what_is_dead() {
    let ran = tune("", ROWS, "--json -j 2");
    let told = document(&ran);
    let params = told["params"].as_array().unwrap();
    let of = |key: &str| params.iter().map(|param| param[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("name"), ["Alpha", "Gamma", "Idle"]);
    assert_eq!(of("dead"), [false, false, true]);
    assert!(params[0]["changes"].as_f64().is_some_and(|share| share > 0.5), "{params:?}");
    assert_eq!((&params[2]["changes"], &params[2]["step"]), (&Value::from(0.0), &Value::Null));
    assert_eq!((&told["method"], &told["pairs"]), (&Value::from("auto"), &Value::from(10_000)));
    assert_eq!(told["calibration_pairs"], 304);
    assert_eq!(told["sensitivity"]["noise"], 0.0);
    assert_eq!(told["expected"].as_array().unwrap().last().unwrap()["games"], 20_000);
    assert!(ran.stderr.contains("no change of anything in searches of 50 nodes by Idle; left out"), "{ran:?}");
    assert!(ran.stderr.contains("sensitivity: 4000 searches of 50 nodes"), "{ran:?}");
    // However many engines search, the answers are the same.
    let mut alone = document(&tune("", ROWS, "--json -j 1"));
    alone["sensitivity"]["seconds"] = told["sensitivity"]["seconds"].clone();
    assert_eq!(alone, told);
    let text = tune("", ROWS, "");
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.stdout.starts_with("2 parameters of fake_engine by auto, nodes=50\n"), "{text:?}");
    assert!(text.stdout.contains("left out") && text.stdout.contains("dead"), "{text:?}");
    assert!(text.stdout.contains("of this engine it says nothing"), "{text:?}");
}

#[test]
fn what_short_searches_do_not_reach_is_told_and_tuned_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.txt"), ROWS).unwrap();
    let more = "--params p.txt --tc 8+0.08 --seed 1 --dry-run --json -j 1";
    let ran = tune_in(folder.path(), &fake("--tunes"), more);
    assert_eq!(document(&ran)["params"][2]["step"], 2.0, "{ran:?}");
    assert!(ran.stderr.contains("by Idle; they are tuned all the same, because games search longer or by the clock"));
    // The other methods take steps as they are given.
    let ran = tune_in(folder.path(), &fake("--tunes"), &format!("{more} --method fishtest"));
    let told = document(&ran);
    assert_eq!((&told["params"][2]["step"], &told["calibration_pairs"]), (&Value::from(1.0), &Value::from(0)));
    let ran = tune_in(folder.path(), &fake("--tunes"), &format!("{more} --no-sensitivity"));
    assert_eq!(document(&ran)["sensitivity"], Value::Null);
    assert!(!ran.stderr.contains("sensitivity:"), "{ran:?}");
}

#[test]
fn an_engine_that_answers_differently_each_time_has_no_dead_parameters() {
    let ran = tune("--vary", ROWS, "--json -j 1");
    assert!(document(&ran)["params"].as_array().unwrap().iter().all(|param| param["dead"] == false));
    assert!(ran.stderr.contains("equal searches differently, so no parameter can be called dead"), "{ran:?}");
}

#[test]
fn an_engines_own_spins_are_tuned_from_their_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let ran = tune_in(folder.path(), &fake("--tunes"), &format!("--from-engine a {SHORT} --json --only *a --skip B*"));
    let told = document(&ran);
    let params = told["params"].as_array().unwrap();
    assert_eq!(params.len(), 1, "{params:?}");
    let wanted = [("name", "\"Alpha\""), ("start", "50.0"), ("min", "0.0"), ("max", "100.0"), ("given_step", "5.0")];
    for (key, value) in wanted {
        assert_eq!(params[0][key].to_string(), value, "{key}");
    }
    assert!(ran.stderr.contains("Hash is left out: more of it is better"), "{ran:?}");
}

#[test]
fn a_recipe_says_how_the_engine_prints_its_parameters() {
    let toy = Toy::bare();
    let recipe = "[build]\ncommand = 'false'\nbinary = 'e'\n[engine]\nbench = ''\n[tune]\n\
                  command = 'cp e.sh e && chmod +x e'\nparams = 'spsa'\n";
    toy.write("quintain.toml", recipe);
    let rows = ROWS.replace('\n', "\\n");
    toy.write("e.sh", &format!("#!/bin/sh\n[ \"$1\" = spsa ] && printf '{rows}' || exec '{FAKE}' --tunes\n"));
    toy.commit("One");
    let ran = tune_in(&toy.context.cwd, ".", &format!("{SHORT} --json --no-sensitivity"));
    assert_eq!(document(&ran)["params"].as_array().unwrap().len(), 3);
    toy.write("e.sh", &format!("#!/bin/sh\n[ \"$1\" = spsa ] && echo 'Alpha, 5' || exec '{FAKE}' --tunes\n"));
    let ran = tune_in(&toy.context.cwd, ".", SHORT);
    assert!(ran.code == Some(2) && ran.stderr.contains("`e spsa`:1: 2 fields, not 6 or 7"), "{ran:?}");
}

#[test]
fn parameters_that_cannot_be_tuned_are_refused_with_the_remedy() {
    let rows = |from: &str, to: &str| ROWS.replace(from, to);
    for (args, rows, more, words) in [
        ("", rows("Alpha", "Alfa"), "", "the engine has no option `Alfa`: did you mean `Alpha`?; correct the name"),
        ("", rows("Alpha", "Hash"), "", "p.txt:1: Hash cannot be tuned by games: more of it is better"),
        ("", rows("Alpha", "Ponder"), "", "p.txt:1: Ponder cannot be tuned by games"),
        ("", rows("0, 100", "0, 101"), "", "`Alpha` takes 0 to 100, and its range is 0 to 101; narrow the range"),
        ("", rows("Alpha, int", "Alpha, float"), "", "`Alpha` is a spin, which takes whole numbers"),
        ("", rows("0, 100", "100, 0"), "", "p.txt:1: max 0 is not above min 100"),
        ("", rows("0, 100, 5", "0, 100, 0"), "", "p.txt:1: step (c_end) 0 is not above 0"),
        ("", rows("50, 0, 100", "500, 0, 100"), "", "p.txt:1: start 500 is"),
        ("", ROWS.to_owned(), "--skip Alfa", "--skip: no parameter matches `Alfa`"),
        ("", ROWS.to_owned(), "--method spsa", "--method `spsa`: auto, fishtest or openbench"),
        ("", ROWS.to_owned(), "--method fishtest --until-flat", "--until-flat: the schedule of fishtest ends with its"),
        ("", ROWS.to_owned(), "--pairs 0", "--pairs 0 plays nothing"),
        ("", ROWS.to_owned(), "--from-engine x", "cannot be used with"),
        ("", ROWS.to_owned(), "--only Idle", "no parameter changes anything in searches of 50 nodes"),
        ("--dies-at Alpha=0", ROWS.to_owned(), "", "exit status 5 after `Alpha` was set to 0, its least value"),
        (
            "--dies-at Gamma=3",
            ROWS.to_owned(),
            "",
            "`Gamma` was set to 3, its greatest value; it said: division by zero",
        ),
        (
            "--crash-above Alpha=52",
            ROWS.to_owned(),
            "",
            "exit status 3 after `go nodes 50` with `Alpha` at 55, position fen",
        ),
    ] {
        let ran = tune(args, &rows, more);
        let said = ran.code == Some(2) && ran.stderr.contains(words) && ran.stdout.is_empty();
        assert!(said, "{args} {more} {words}: {ran:?}");
    }
    let folder = tempfile::tempdir().unwrap();
    for (more, words) in [
        ("", "no parameters: name a file of them with --params FILE"),
        ("--params gone.txt", "--params gone.txt: cannot read it"),
        ("--from-engine ^X", "no spin option of fake_engine matches; it has `Hash`, `Threads`, `Alpha`"),
    ] {
        let ran = tune_in(folder.path(), &fake("--tunes"), &format!("{SHORT} {more}"));
        assert!(ran.code == Some(2) && ran.stderr.contains(words), "{more}: {ran:?}");
    }
}
