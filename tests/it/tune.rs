//! `quintain tune`: where parameters come from, what is wrong with them, what they change.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::{FAKE, Ran, fake, games, quintain};
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
    // Values that are set at a start change the same.
    let mut restarted = document(&tune("", ROWS, "--json -j 2 --restart"));
    restarted["sensitivity"]["seconds"] = told["sensitivity"]["seconds"].clone();
    assert_eq!(restarted, told);
    // At a hub more games at once are foreseen, whose blocks are larger.
    let at_hub = document(&tune("", ROWS, "--json --no-sensitivity --workers tls://hub.example:4222"));
    assert_eq!(at_hub["calibration_pairs"], 6 * 128);
    let text = tune("", ROWS, "");
    assert_eq!(text.code, Some(0), "{text:?}");
    assert!(text.stdout.starts_with("2 parameters of fake_engine by auto, nodes=50\n"), "{text:?}");
    assert!(text.stdout.contains("left out") && text.stdout.contains("dead"), "{text:?}");
    assert!(text.stdout.contains("simulation only, not this engine"), "{text:?}");
}

#[test]
fn what_short_searches_do_not_reach_is_told_and_tuned_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.txt"), ROWS).unwrap();
    let more = "--params p.txt --tc 8+0.08 --seed 1 --dry-run --json -j 1";
    let ran = tune_in(folder.path(), &fake("--tunes"), more);
    assert_eq!(document(&ran)["params"][2]["step"], 2.0, "{ran:?}");
    assert!(ran.stderr.contains("by Idle; they are tuned all the same, because games may search longer"));
    // The other methods take steps as they are given.
    let ran = tune_in(folder.path(), &fake("--tunes"), &format!("{more} --method fishtest"));
    let told = document(&ran);
    assert_eq!((&told["params"][2]["step"], &told["calibration_pairs"]), (&Value::from(1.0), &Value::from(0)));
    let ran = tune_in(folder.path(), &fake("--tunes"), &format!("{more} --no-sensitivity"));
    assert_eq!(document(&ran)["sensitivity"], Value::Null);
    assert!(!ran.stderr.contains("sensitivity:"), "{ran:?}");
}

#[test]
fn at_a_depth_that_all_searches_reach_the_dead_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.txt"), ROWS).unwrap();
    // Of a tree that grows twentyfold a ply the nodes end the second one.
    for (depth, grows, whole) in [(1, "", true), (2, "", false), (2, " --grows 2", true), (2, " --grows 20", false)] {
        let more = format!("--params p.txt --depth {depth} --seed 1 --dry-run --json -j 1");
        let ran = tune_in(folder.path(), &fake(&format!("--tunes{grows}")), &more);
        assert_eq!(document(&ran)["params"][2]["step"].is_null(), whole, "{ran:?}");
        let fate = if whole { "left out" } else { "they are tuned all the same" };
        let words = format!("no change of anything in searches of 10000 nodes or depth {depth} by Idle; {fate}");
        assert!(ran.stderr.contains(&words), "{ran:?}");
    }
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
fn a_row_that_cannot_be_tuned_is_left_out_by_its_name() {
    for faulty in ["Hash, int, 16, 1, 1024, 8, 0.002", "Beta, int, 5, 9, 0, 1, 0.002", "Beta, int, 5"] {
        let rows = format!("{faulty}\n{ROWS}");
        let (name, _) = faulty.split_once(',').unwrap();
        let ran = tune("", &rows, "--json --no-sensitivity");
        assert!(ran.code == Some(2) && ran.stderr.contains("p.txt:1: "), "{ran:?}");
        let told = document(&tune("", &rows, &format!("--json --no-sensitivity --skip {name}")));
        assert_eq!(told["params"].as_array().unwrap().len(), 3, "{faulty}");
    }
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
        (
            "",
            rows("0, 100", "0, 101"),
            "",
            "p.txt:1: engine fake_engine: `Alpha` takes 0 to 100, and its range is 0 to 101; narrow the range",
        ),
        (
            "",
            ROWS.to_owned(),
            "--option Alpha=7",
            "p.txt:1: Alpha starts from 50, and the options of fake_engine set it to 7",
        ),
        ("", rows("Alpha, int", "Alpha, float"), "", "`Alpha` is a spin, which takes whole numbers"),
        ("", rows("0, 100", "100, 0"), "", "p.txt:1: max 0 is not above min 100"),
        ("", rows("0, 100, 5", "0, 100, 0"), "", "p.txt:1: step (c_end) 0 is not above 0"),
        ("", rows("50, 0, 100", "500, 0, 100"), "", "p.txt:1: start 500 is"),
        ("", ROWS.to_owned(), "--skip Alfa", "--skip: no parameter matches `Alfa`"),
        (
            "",
            ROWS.to_owned(),
            "--method spsa",
            "--method: unknown method `spsa`: use auto, fishtest, openbench or factors",
        ),
        ("", ROWS.to_owned(), "--method fishtest --until-flat", "--until-flat: fishtest ends with its pairs"),
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
        ("--from-engine ^X", "no spin option of fake_engine matches; it has `Alpha`, `Beta`, `Idle`"),
    ] {
        let ran = tune_in(folder.path(), &fake("--tunes"), &format!("{SHORT} {more}"));
        assert!(ran.code == Some(2) && ran.stderr.contains(words), "{more}: {ran:?}");
    }
}

/// Settings of a tuning of few moves whose engine is lost while `Alpha` is below 52.
const LOST: &str = "--nodes 1 --max-plies 8 --resign count=1,score=600 --seed 1 --no-sensitivity -j 2 --json";

const TWO: &str = "Alpha, int, 50, 0, 100, 5, 0.002\nBeta, int, -3, -40, 40, 4, 0.002\n";

fn text_of(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A parameter that loses at its min is kept at its max, and the proof is of that alone.
#[test]
fn switches_by_lot_are_told_apart_and_the_keepers_proven() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    fs::write(place.join("p.txt"), "Alpha, int, 0, 0, 100, 100, .002\nBeta, int, 0, 0, 1, 1, .002\n").unwrap();
    let more = format!("--params p.txt --method factors --pairs 96 --out run {LOST} --prove-pairs 96");
    let engine = fake("--tunes --lost-below Alpha=52");
    let dry = tune_in(place, &engine, &format!("{} --dry-run", more.replace(" --json", "")));
    assert!(dry.code == Some(0) && dry.stdout.contains("within 34.8 Elo (95 %)"), "{dry:?}");
    let told = document(&tune_in(place, &engine, &more));
    assert_eq!((&told["method"], &told["proof"]["verdict"]), (&Value::from("factors"), &Value::from("proven")));
    assert_eq!(told["proof"]["candidates"].as_array().unwrap().len(), 1);
    assert_eq!(told["params"][0]["value"], 100.0);
    // Every document has the effect of each switch.
    let [found, idle] = [0, 1].map(|place: usize| told["params"][place]["effect"].clone());
    let number = |effect: &Value, key: &str| effect[key].as_f64().unwrap();
    assert!(number(&found, "elo") > number(&found, "error95") && number(&found, "p") < 0.05, "{found}");
    assert!(number(&idle, "error95") > 0.0 && (0.0..=1.0).contains(&number(&idle, "p")), "{idle}");
    let summary = crate::harness::summary(&place.join("run/tune"));
    for (param, effect) in summary["tune"]["params"].as_array().unwrap().iter().zip([found, idle]) {
        assert_eq!(param["effect"], effect);
    }
    // A check option is a switch as it is.
    let engine = fake("--tunes --lost-below Delta=1");
    let checks = more.replace("--params p.txt", "--from-engine lt").replace("--out run", "--out checks");
    let told = document(&tune_in(place, &engine, &checks));
    let params = told["params"].as_array().unwrap();
    assert!(params.len() == 1 && number(&params[0]["effect"], "p") < 0.05, "{params:?}");
    assert_eq!((&params[0]["name"], &told["proof"]["verdict"]), (&Value::from("Delta"), &Value::from("proven")));
    assert!(!place.join("checks/openbench.txt").exists());
    assert_eq!(text_of(&place.join("checks/options.toml")), "[options]\n\"Delta\" = true\n");
    let other = tune_in(place, &engine, &more.replace("--out run", "--out other --until-flat"));
    assert!(other.code == Some(2) && other.stderr.contains("--until-flat: factors ends with its pairs"), "{other:?}");
}

#[test]
fn what_a_tuning_found_is_proven_by_a_race_on_fresh_openings() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    fs::write(place.join("p.txt"), TWO).unwrap();
    let more = format!("--params p.txt --pairs 160 --out run {LOST} --prove-pairs 96");
    let engine = fake("--tunes --lost-below Alpha=52");
    let ran = tune_in(place, &engine, &more);
    let told = document(&ran);
    assert_eq!((&told["pairs"], &told["proof"]["verdict"]), (&Value::from(160), &Value::from("proven")), "{ran:?}");
    assert_eq!((&told["proof"]["chosen"], &told["applied"]), (&Value::from("full"), &Value::Null));
    assert_eq!(told["proof"]["candidates"][0]["is_better"], true);
    let openings = &told["proof"]["openings"];
    let fresh = openings["book"].as_u64().unwrap() - 160;
    assert_eq!((&openings["fresh"], &openings["pairs"]), (&Value::from(fresh), &Value::from(96)), "{openings}");
    assert_eq!((&openings["reordered"], &openings["repeated"]), (&Value::from(false), &Value::from(false)));
    assert!(!ran.stderr.contains("fresh opening"), "{ran:?}");
    assert!(told["params"][0].get("effect").is_none(), "{told}");
    // The values are those that the race was about, in every form.
    let value = told["params"][0]["value"].as_f64().unwrap();
    assert!(value >= 52.0 && (told["params"][0]["result"].as_f64().unwrap() - value).abs() <= 0.5, "{told}");
    let run = place.join("run");
    let options: toml::Table = text_of(&run.join("options.toml")).parse().unwrap();
    assert_eq!(options["options"]["Alpha"].as_integer().map(|alpha| alpha as f64), Some(value));
    assert!(text_of(&run.join("values.txt")).starts_with(&format!("Alpha, {value}\n")));
    assert!(text_of(&run.join("fishtest.txt")).starts_with("Alpha,"));
    let plan: toml::Table = text_of(&run.join("prove/plan.toml")).parse().unwrap();
    let full = &plan["players"].as_array().unwrap()[1];
    assert_eq!(full["options"][0], toml::Value::try_from(["Alpha", &value.to_string()]).unwrap());
    // No opening of the tuning is one of the race.
    let openings = |part: &str| {
        let mut all: Vec<u64> = games(&run.join(part)).into_iter().map(|game| game.opening.0).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    let (tuned, raced) = (openings("tune"), openings("prove"));
    assert!(tuned.len() == 160 && raced.iter().all(|opening| !tuned.contains(opening)), "{raced:?}");
    // The same again plays nothing, and says the same.
    let journals = || ["tune", "prove"].map(|part| text_of(&run.join(part).join("games.jsonl")));
    let before = journals();
    assert_eq!(document(&tune_in(place, &engine, &more)), told);
    assert_eq!(journals(), before);
    let other = tune_in(place, &engine, &more.replace("--pairs 160", "--pairs 200"));
    assert!(
        other.code == Some(2) && other.stderr.contains("started with `pairs = 160`, not `pairs = 200`"),
        "{other:?}"
    );
    assert!(other.stderr.contains("quintain resume run/tune --pairs N"), "{other:?}");
    let other = tune_in(place, &engine, &more.replace("--max-plies 8", ""));
    assert!(
        other.code == Some(2) && other.stderr.contains("started with `max-plies = 8`, not no `max-plies`"),
        "{other:?}"
    );
    assert_eq!(journals(), before);
}

/// A book of fewer openings than pairs: told before the first game, and the proof plays all of it
/// again in another order.
#[test]
fn a_book_too_small_for_the_proof_is_told_and_played_again() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    fs::write(place.join("p.txt"), TWO).unwrap();
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/v1/book.epd");
    fs::copy(book, place.join("book.epd")).unwrap();
    let more = format!("--params p.txt --pairs 160 --book book.epd --out run {LOST} --prove-pairs 96");
    let engine = fake("--tunes --lost-below Alpha=52");
    let dry = tune_in(place, &engine, &format!("{more} --dry-run"));
    let words = "has only 0 fresh openings for up to 96 pairs of each candidate and plays the whole book again";
    assert!(
        dry.stderr.contains(&format!("the book has 12 openings and the tuning takes 160 pairs, so its proof {words}"))
    );
    let ran = tune_in(place, &engine, &more);
    for takes in ["takes", "took"] {
        let warning = format!("the book has 12 openings and the tuning {takes} 160 pairs, so its proof {words}");
        assert_eq!(ran.stderr.matches(&warning).count(), 1, "{ran:?}");
    }
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    let wanted = serde_json::json!({ "book": 12, "fresh": 0, "pairs": 96, "reordered": true, "repeated": true });
    assert_eq!(told["proof"]["openings"], wanted);
    let seed = |part: &str| {
        text_of(&place.join("run").join(part).join("plan.toml")).parse::<toml::Table>().unwrap()["seed"].clone()
    };
    assert_eq!(seed("tune").as_integer(), Some(1));
    assert_ne!(seed("tune"), seed("prove"));
    // Each candidate has every opening once, as races have it.
    let pairs = told["proof"]["candidates"][0]["pairs"].as_u64().unwrap();
    assert!((1..=12).contains(&pairs), "{told}");
    let text = tune_in(place, &engine, &more.replace(" --json", ""));
    let line =
        "the tuning left 0 of the 12 openings of the book, so the proof played the whole book again in another order";
    assert!(text.code == ran.code && text.stdout.contains(line), "{text:?}");
}

#[test]
fn a_tuning_that_goes_on_and_its_proof_take_the_cpus_of_the_command() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    fs::write(place.join("p.txt"), TWO).unwrap();
    let more = format!("--params p.txt --pairs 96 --out run {LOST} --prove-pairs 32");
    let engine = fake("--tunes --lost-below Alpha=52");
    document(&tune_in(place, &engine, &format!("{more} --no-prove")));
    let journal = place.join("run/tune/games.jsonl");
    let whole = text_of(&journal);
    let lines: Vec<&str> = whole.lines().collect();
    // With games left the tuning takes them, and without its proof does.
    for (kept, part) in [(41, "--no-prove"), (lines.len(), "")] {
        fs::write(&journal, lines[..kept].join("\n") + "\n").unwrap();
        let ran = tune_in(place, &engine, &format!("{more} {part} --affinity=65535"));
        assert!(ran.code == Some(2) && ran.stderr.contains("this process may not use CPU 65535"), "{part}: {ran:?}");
        assert_eq!(games(&place.join("run/tune")).len(), kept - 1, "nothing is played");
        assert!(!place.join("run/prove").exists(), "{part}");
    }
    let proven = tune_in(place, &engine, &format!("{more} --affinity=off"));
    assert!(place.join("run/prove/summary.json").is_file(), "{proven:?}");
}

#[test]
fn a_tuning_that_was_broken_off_goes_on_to_the_same_result() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    fs::write(place.join("p.txt"), TWO).unwrap();
    let more = format!("--params p.txt --pairs 96 {LOST} --prove-pairs 32");
    let engine = fake("--tunes --lost-below Alpha=52");
    let whole = document(&tune_in(place, &engine, &format!("{more} --out whole")));
    for (part, kept) in [("tune", 41), ("tune", 150), ("prove", 20)] {
        let torn = format!("torn-{part}-{kept}");
        let copy = |from: &str| {
            fs::create_dir_all(place.join(&torn).join(from)).unwrap();
            for name in ["plan.toml", "stamp", "games.jsonl"] {
                fs::copy(place.join("whole").join(from).join(name), place.join(&torn).join(from).join(name)).unwrap();
            }
        };
        copy("tune");
        if part == "prove" {
            copy("prove");
        }
        fs::copy(place.join("whole/tuning.toml"), place.join(&torn).join("tuning.toml")).unwrap();
        // As after a power cut: the last line is torn.
        let journal = place.join(&torn).join(part).join("games.jsonl");
        let text = text_of(&journal);
        let lines: Vec<&str> = text.lines().collect();
        fs::write(&journal, lines[..kept].join("\n") + "\n" + &lines[kept][..20]).unwrap();
        let mut again = document(&tune_in(place, &engine, &format!("{more} --out {torn}")));
        again["run"] = whole["run"].clone();
        assert_eq!(again, whole, "{torn}");
        for part in ["tune", "prove"] {
            assert_eq!(games(&place.join(&torn).join(part)), games(&place.join("whole").join(part)), "{torn}");
        }
    }
}

#[test]
fn a_tuning_whose_time_was_up_is_over() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    fs::write(place.join("p.txt"), TWO).unwrap();
    let more = format!("--params p.txt --max-time 2s --no-prove --out run {LOST}");
    let ran = tune_in(place, &fake("--tunes"), &more);
    let played = games(&place.join("run/tune")).len();
    assert!(ran.code == Some(0) && played > 0, "{ran:?}");
    // As after a kill before the values were written: only what is missing is done.
    fs::remove_file(place.join("run/options.toml")).unwrap();
    let again = tune_in(place, &fake("--tunes"), &more);
    assert_eq!((again.code, &again.stdout), (Some(0), &ran.stdout), "{again:?}");
    assert_eq!(games(&place.join("run/tune")).len(), played);
    assert!(place.join("run/options.toml").is_file());
}

#[test]
fn exit_codes_are_those_of_a_race_and_nothing_else_is_told_as_gain() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path();
    fs::write(place.join("p.txt"), TWO).unwrap();
    let lost = LOST.replace("--max-plies 8", "--max-plies 2");
    let more = |out: &str| format!("--params p.txt --pairs 64 --out {out} {lost} --prove-pairs 64");
    // Equals: hardly a game is decided, and no whole number moves.
    let equals = fake("--tunes");
    let ran = tune_in(place, &equals, &more("equals"));
    assert!(ran.code == Some(3) && ran.stderr.contains("there is nothing to prove"), "{ran:?}");
    // A float moves away from where it loses, and gains nothing; how sure that is depends on the
    // pairs.
    let moved = fake("--tunes --lost-below Gamma=1.5");
    fs::write(place.join("p.txt"), "Gamma, float, 1.5, 0, 3, 0.25, 0.002").unwrap();
    for (out, pairs, code, verdict) in [("few", "64", 3, "not-shown"), ("many", "4000", 1, "not-better")] {
        let more = more(out).replace("--prove-pairs 64", &format!("--prove-pairs {pairs}"));
        let ran = tune_in(place, &moved, &more);
        let told: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!((ran.code, &told["proof"]["verdict"]), (Some(code), &Value::from(verdict)), "{ran:?}");
    }
    let ran = tune_in(place, &moved, &format!("{} --no-prove", more("unproven")));
    assert_eq!(document(&ran)["proof"], Value::Null, "{ran:?}");
    assert!(ran.stderr.contains("--prove-pairs has no effect, because no race follows"), "{ran:?}");
    assert!(place.join("unproven/options.toml").is_file() && !place.join("unproven/prove").exists());
    // What would fail after the race fails before it.
    let ran = tune_in(place, &moved, &format!("{} --apply tuned", more("unproven")));
    assert!(
        ran.code == Some(2) && ran.stderr.contains("--apply tuned: the file with the values is unknown"),
        "{ran:?}"
    );
    assert!(!place.join("unproven/prove").exists());
    // One that is asked for later is of the same tuning.
    let ran = tune_in(place, &moved, &more("unproven"));
    assert_eq!(ran.code, Some(3), "{ran:?}");
    // So is one with more pairs for its race, and one of changed parameters is not.
    let ran = tune_in(place, &moved, &more("unproven").replace("--prove-pairs 64", "--prove-pairs 80"));
    assert_eq!(serde_json::from_str::<Value>(&ran.stdout).unwrap()["proof"]["candidates"][0]["pairs"], 80, "{ran:?}");
    fs::write(place.join("p.txt"), "Gamma, float, 1.5, 0, 3, 0.5, 0.002").unwrap();
    let ran = tune_in(place, &moved, &more("unproven"));
    assert!(ran.code == Some(2) && ran.stderr.contains("p.txt has changed since this tuning began"), "{ran:?}");
    for (more, words) in [
        (
            "--apply tuned",
            "--apply tuned: the file with the values is unknown; give `file` and `row` in the [tune] table",
        ),
        ("--prove-tc fast", "--prove-tc: "),
        ("--prove-pairs 0", "--prove-pairs 0 proves nothing"),
    ] {
        let ran = tune_in(place, &fake("--tunes"), &format!("--params p.txt --pairs 32 --out refused {LOST} {more}"));
        assert!(ran.code == Some(2) && ran.stderr.contains(words), "{ran:?}");
        assert!(!place.join("refused").exists(), "{more}");
    }
    fs::create_dir(place.join("mine")).unwrap();
    let ran = tune_in(place, &fake("--tunes"), &more("mine"));
    assert!(ran.code == Some(2) && ran.stderr.contains("mine: exists already and is not a tuning"), "{ran:?}");
}

#[test]
fn the_screen_says_where_the_values_of_a_crash_are() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.txt"), TWO).unwrap();
    let more = format!("--params p.txt --pairs 16 --max-failures 1000 --no-prove {LOST} --out run");
    let ran = tune_in(folder.path(), &fake("--tunes --crash-above Alpha=50"), &more);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let said = ran.stderr.split("crash: exit status 3; its values are in ").nth(1);
    let place = said.and_then(|rest| rest.split_once(" of the run\n")).map_or("nowhere", |(place, _)| place);
    let about = text_of(&folder.path().join("run/tune").join(place));
    assert!(about.contains("\ntuned options: Alpha="), "{about}");
}

/// A tuning goes on with the program that it began with, and warns if the sources have changed.
#[test]
fn sources_that_have_changed_since_are_told() {
    let toy = Toy::bare();
    toy.write("quintain.toml", "[build]\ncommand = 'cp e.sh e && chmod +x e'\nbinary = 'e'\n[engine]\nbench = ''\n");
    toy.write("e.sh", &format!("#!/bin/sh\nexec '{FAKE}' --tunes\n"));
    toy.write("p.txt", TWO);
    let one = toy.commit("One");
    let place = &toy.context.cwd;
    let more = format!("--params p.txt --pairs 32 --no-prove {LOST} --out results/run");
    let first = document(&tune_in(place, ".", &more));
    // All but the header and a few games are lost.
    let journal = place.join("results/run/tune/games.jsonl");
    let cut = || {
        let kept: Vec<String> = text_of(&journal).lines().take(9).map(|line| format!("{line}\n")).collect();
        fs::write(&journal, kept.concat()).unwrap();
    };
    cut();
    let ran = tune_in(place, ".", &more);
    assert_eq!(document(&ran), first);
    assert!(!ran.stderr.contains("have changed since"), "{ran:?}");
    toy.write("e.sh", &format!("#!/bin/sh\nexec '{FAKE}' --tunes --score 7\n"));
    cut();
    let ran = tune_in(place, ".", &more);
    assert_eq!(document(&ran), first);
    let told = format!("the sources of `.` have changed since this tuning began; it goes on with {};", &one[..8]);
    assert!(ran.stderr.contains(&told), "{told}: {ran:?}");
}

#[test]
fn proven_values_are_committed_and_what_is_proven_is_the_build_as_ever() {
    let toy = Toy::bare();
    let recipe = "[build]\ncommand = 'cat head.sh values.txt tail.sh > e && chmod +x e'\nbinary = 'e'\n[engine]\nbench = ''\n[tune]\n\
                  command = 'cp tune.sh e && chmod +x e'\nfile = 'values.txt'\nrow = '^{name}=(-?\\d+)$'\n";
    toy.write("quintain.toml", recipe);
    toy.write("p.txt", TWO);
    toy.write("values.txt", "Alpha=50\nBeta=-3\n");
    toy.write("head.sh", "#!/bin/sh\n");
    // The build as ever has no options: it is lost if it was built with an Alpha below 52.
    toy.write("tail.sh", &format!("[ $Alpha -lt 52 ] && lost='--score -2000'\nexec '{FAKE}' $lost\n"));
    toy.write("tune.sh", &format!("#!/bin/sh\nexec '{FAKE}' --tunes --lost-below Alpha=52\n"));
    let base = toy.commit("One");
    toy.git(&["config", "user.name", "Test"]);
    toy.git(&["config", "user.email", "test@localhost"]);
    let place = &toy.context.cwd;
    let out = place.parent().unwrap().join("run");
    let more = format!("--params p.txt --pairs 160 --prove-pairs 96 {LOST} --apply tuned --out {}", out.display());
    // A row that is missing is told before the first game.
    toy.write("values.txt", "Alpha=50\n");
    let ran = tune_in(place, ".", &more);
    assert!(
        ran.code == Some(2) && ran.stderr.contains("finds 0 places of `Beta`, not one") && !out.exists(),
        "{ran:?}"
    );
    toy.write("values.txt", "Alpha=50\nBeta=-3\n");
    toy.git(&["branch", "taken"]);
    toy.commit("Two");
    let ran = tune_in(place, ".", &more.replace("apply tuned", "apply taken"));
    assert!(ran.code == Some(2) && ran.stderr.contains("branch `taken`: it exists") && !out.exists(), "{ran:?}");
    let head = toy.git(&["rev-parse", "HEAD"]);
    assert_ne!(head, base);
    let told = document(&tune_in(place, ".", &more));
    assert_eq!(told["proof"]["verdict"], "proven", "{told}");
    let [alpha, beta] = [0, 1].map(|index: usize| told["params"][index]["value"].as_f64().unwrap());
    assert_eq!(toy.git(&["show", "tuned:values.txt"]), format!("Alpha={alpha}\nBeta={beta}"));
    assert_eq!(told["applied"], Value::from(toy.git(&["rev-parse", "tuned"])));
    assert_eq!(toy.git(&["rev-parse", "tuned^"]), head);
    let message = toy.git(&["log", "-1", "--format=%B", "tuned"]);
    assert!(
        message.starts_with("Tune 2 parameters by games\n\n160 pairs at nodes=1, method auto.\nThe full step is"),
        "{message}"
    );
    assert!(message.contains(&format!("\nAlpha: 50 to {alpha}\n")), "{message}");
    assert_eq!((toy.git(&["rev-parse", "HEAD"]), toy.git(&["status", "--porcelain"])), (head, String::new()));
    let plan: toml::Table = text_of(&out.join("prove/plan.toml")).parse().unwrap();
    let players = plan["players"].as_array().unwrap();
    assert!(players.iter().all(|player| player["options"].as_array().unwrap().is_empty()), "{players:?}");
    let programs: Vec<_> = players.iter().map(|player| player["sha256"].as_str().unwrap()).collect();
    assert!(programs[0] != programs[1] && programs[1] != programs[2], "{programs:?}");
    // The branch is there already, and so is all the rest.
    assert_eq!(document(&tune_in(place, ".", &more)), told);
    // At another clock, or of values found since, it would be another race.
    let ran = tune_in(place, ".", &format!("{more} --prove-tc 60+0.6"));
    assert!(ran.code == Some(2) && ran.stderr.contains("its race was begun at nodes=1, not at"), "{ran:?}");
    let ran: Ran = quintain(&["resume", "--pairs", "640"]).arg(out.join("tune")).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = tune_in(place, ".", &more);
    assert!(ran.code == Some(2) && ran.stderr.contains("its race has other values"), "{ran:?}");
    assert_eq!(toy.git(&["show", "tuned:values.txt"]), format!("Alpha={alpha}\nBeta={beta}"));
}
