//! A tuning as it is told: its summary, its page and the dashboard's picture.

use quintain::report::console::Viewer;
use quintain::run::Exit;
use quintain::run::tune::{TuningSettings, play};
use quintain::settings::RawPlan;
use quintain::tournament::formats::tune::Choice;

use crate::harness::run;
use crate::serve::Served;
use crate::tuning::{ENGINE, raw, wanted};

/// Three blocks that calibrate, nine that tune, one that validates.
const PAIRS: u64 = 208;

#[test]
fn a_tuning_is_told_by_its_validation_and_its_moves_alone() {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("run");
    let wanted = TuningSettings { dead: vec!["Beta".to_owned()], ..wanted(Choice::Auto) };
    let played = play(&raw(ENGINE, PAIRS, 2), wanted, &dir).unwrap();
    assert_eq!(played.exit, Exit::Done);

    let told = run(&["report".to_owned(), dir.display().to_string()]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let summary = told.stdout;
    for text in [
        "tuning, 3 parameters: one loses ",
        "validation: Elo ",
        " of 16 pairs; any time: Elo in [",
        "moved most, in steps: ",
        "208 pairs: 48 calibrate, 144 tune, 16 validate",
        "P(better)",
        "dead: changes nothing",
    ] {
        assert!(summary.contains(text), "{text}: {summary}");
    }
    assert!(!summary.contains("nElo") && !summary.contains("LOS"), "{summary}");

    assert!(!summary.contains("points"), "the points of a side are nobody's: {summary}");
    // What a reader of any run takes for its score is that of the validation.
    let written = crate::harness::summary(&dir);
    assert_eq!((&written["pairs"], &written["games"]), (&208.into(), &416.into()));
    assert_eq!(written["ptnml"], written["tune"]["validation"]["ptnml"]);
    assert_eq!(written["ptnml"].as_array().unwrap().iter().filter_map(serde_json::Value::as_u64).sum::<u64>(), 16);
    assert_eq!(written["elo"], written["tune"]["validation"]["elo"]);
    assert_eq!((&written["wdl"], &written["encounters"]), (&serde_json::Value::Null, &serde_json::json!([])));
    for player in written["players"].as_array().unwrap() {
        assert_eq!((&player["rating"], &player["rating_error"]), (&serde_json::Value::Null, &serde_json::Value::Null));
    }
    for command in ["rate", "progress"] {
        let refused = run(&[command.to_owned(), dir.display().to_string()]);
        assert!(
            refused.code == Some(2) && refused.stderr.contains("a tuning; its sides play trial values"),
            "{refused:?}"
        );
    }
    // Among several inputs it is left out.
    let [name, file] = [dir.clone(), dir.join("games.pgn")].map(|path| path.display().to_string());
    let others = run(&["rate", &name, &file]);
    let left_out = format!("warning: left out: {name}: a tuning; its sides play trial values");
    assert!(others.stderr.contains(&left_out), "{others:?}");
    let explained = run(&["explain".to_owned(), dir.display().to_string()]);
    assert!(explained.code == Some(0) && explained.stderr.contains("their points are not a gain"), "{explained:?}");

    for (name, title) in
        [("validation.svg", "Validation"), ("traces.svg", "Parameters over pairs"), ("moves.svg", "Distance moved")]
    {
        let svg = std::fs::read_to_string(dir.join(name)).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains(title), "{name}");
    }
    let page = std::fs::read_to_string(dir.join("report.html")).unwrap();
    for text in ["tuning 3 parameters of ", "<h2>Tuning</h2>", "Calibrated step", "Parameters over pairs"] {
        assert!(page.contains(text), "{text}");
    }
    for text in ["Strength", "nElo", "Elo over pairs", "Pairs by points", "#Elo"] {
        assert!(!page.contains(text), "{text}");
    }

    let plan = quintain::plan::file::from_toml(&std::fs::read_to_string(dir.join("plan.toml")).unwrap()).unwrap();
    let view = Viewer::new(&plan).view(&played.scoreboard, std::time::Duration::from_secs(60));
    assert!(view.bar.is_none() && view.lines[0].starts_with("tuning, 3 parameters"), "{:?}", view.lines);
    assert!(view.lines.len() <= 6 && view.plain.starts_with("208 pairs: 48 calibrate"), "{}", view.plain);
    assert!(view.lines.iter().all(|line| !line.contains("nElo")), "{:?}", view.lines);

    // The place of a tuning without --out.
    let runs = folder.path().join("runs/20261121-101112-tune");
    std::fs::create_dir_all(&runs).unwrap();
    std::fs::write(runs.join("tuning.toml"), "").unwrap();
    std::fs::rename(&dir, runs.join("tune")).unwrap();
    let served = Served::start(folder.path(), &[]);
    // Its sides cannot be rated, and would keep other runs from it.
    let conditions = served.get("/api/conditions").body;
    assert!(conditions.contains("no run with a journal is stored yet"), "{conditions}");
    for (picture, title) in [("elo", "Validation"), ("tune", "Parameters over pairs"), ("moves", "Distance moved")] {
        let got = served.get(&format!("/api/runs/runs%2F20261121-101112-tune%2Ftune/{picture}.svg?narrow=true"));
        assert!(got.status == 200 && got.body.contains(title), "{picture}: {got:?}");
        assert!(got.body.contains("viewBox=\"0 0 360 "), "{picture}: {got:?}");
    }
    let tuned = &served.json("/api/runs/runs%2F20261121-101112-tune%2Ftune/more")["tuned"];
    assert_eq!(tuned["columns"].as_array().map(Vec::len), Some(8), "{tuned}");
    let rows = tuned["rows"].as_array().unwrap();
    assert_eq!(rows.iter().map(|row| &row[0]).collect::<Vec<_>>(), ["Alpha", "Beta", "Gamma"]);
    assert_eq!(rows[1][7], "dead: changes nothing");
}

/// The design effect of all pairs is that of trial values, and the validation knows none.
#[test]
fn openings_that_come_again_are_told_for_what_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, book) = (folder.path().join("run"), folder.path().join("book.epd"));
    let lines = [
        "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1",
        "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq - 0 1",
    ];
    std::fs::write(&book, lines.join("\n") + "\n").unwrap();
    let again = RawPlan { book: Some(book), ..raw(ENGINE, PAIRS, 2) };
    play(&again, wanted(Choice::Auto), &dir).unwrap();
    let told = run(&["report".to_owned(), dir.display().to_string()]);
    assert_eq!(told.code, Some(0), "{told:?}");
    let words = "openings came again after 2 pairs: the validation takes its pairs as independent";
    assert!(told.stdout.contains(words) && !told.stdout.contains("take into account"), "{told:?}");
    assert_eq!(crate::harness::summary(&dir)["design_effect"], 1.0);
}
