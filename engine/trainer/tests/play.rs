//! Comparison of networks and the training loop, with real games of the engine that is linked into
//! the trainer.

#![allow(clippy::unwrap_used, reason = "helpers of tests")]

use destrier::board::Board;
use destrier::nnue::{Kind, Layout, encode, random_payload};
use destrier::types::{MoveList, SplitMix64};
use destrier_trainer::bootstrap::{Loop, LoopPlan, LoopStep, Verdict};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_destrier-trainer");

fn engine() -> String {
    format!("{PROGRAM} -- uci")
}

fn trainer(words: &[&str]) -> Command {
    let mut command = Command::new(PROGRAM);
    // A separate state folder, so that the developer's own state is not touched.
    let state = concat!(env!("CARGO_TARGET_TMPDIR"), "/state");
    command.args(words).env("QUINTAIN_STATE", state).stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ended(output: &Output, code: i32) -> String {
    assert_eq!(output.status.code(), Some(code), "{}\n{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

fn network(path: &Path, kind: Kind, seed: u64) -> String {
    let layout = Layout::plain(kind, 32);
    fs::write(path, encode(&layout, &random_payload(&layout, seed)).unwrap()).unwrap();
    path.to_str().unwrap().to_owned()
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// Truncates a journal to one `share`-th of its games and tears its last line.
fn cut_journal(path: &Path, share: usize) {
    let whole = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    let keep = 1 + (lines.len() - 1) / share;
    assert!(keep + 1 < lines.len(), "a journal with games to cut off");
    fs::write(path, format!("{}\n{}", lines[..keep].join("\n"), &lines[keep][..lines[keep].len() / 2])).unwrap();
}

#[test]
fn networks_are_ranked_and_a_cut_run_goes_on() {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name);
    let one = network(&place("one.nnue"), Kind::Screlu, 1);
    let two = network(&place("two.nnue"), Kind::LAYERED, 2);
    let (engine, out) = (engine(), place("out").to_str().unwrap().to_owned());
    let compare = |more: &[&str]| {
        let common = ["compare", &one, &two, "--base", "classical", "--out", &out, "--engine", &engine, "-j", "2"];
        let limits = ["--depth", "1", "--option", "Hash=1"];
        trainer(&[&common[..], &limits, more].concat()).output().unwrap()
    };
    let told = ended(&compare(&["--pairs", "3"]), 0);
    assert!(told.contains("best: classical, classical"), "{told}");
    let first = json(&place("out/compare.json"));
    assert_eq!((&first["best"], &first["pairs"]), (&Value::from("classical"), &Value::from(9)));
    let players = first["players"].as_array().unwrap();
    let names: BTreeSet<&str> = players.iter().filter_map(|player| player["name"].as_str()).collect();
    assert_eq!(names, BTreeSet::from(["classical", "one", "two"]));
    assert!(players.iter().all(|player| player["games"] == 12), "{first}");
    // The engine must use the network. Otherwise both sides would play the classical evaluation
    // with equal strength.
    assert!(players[0]["wins"].as_u64().unwrap() >= 10, "{first}");

    let journal = place("out/run/games.jsonl");
    let whole = fs::read(&journal).unwrap();
    ended(&compare(&["--pairs", "3"]), 0);
    assert!(fs::read(&journal).unwrap() == whole, "nothing was left to play");
    cut_journal(&journal, 2);
    ended(&compare(&["--pairs", "3"]), 0);
    assert_eq!(json(&place("out/compare.json")), first);

    for (more, says) in [
        (&["--pairs", "4"][..], "started with `max_pairs = 3`, not `max_pairs = 4`"),
        (&["--pairs", "3", "--seed", "2"], "started with `seed = 1`, not `seed = 2`"),
        (&["--pairs", "3", "--option", "Threads=2"], "give the same settings, or another folder"),
    ] {
        let output = compare(more);
        assert!(!output.status.success() && text(&output.stderr).contains(says), "{}", text(&output.stderr));
    }
    let gone = trainer(&["compare", &one, &two, "--out", &out, "--engine", "/no/destrier"]).output().unwrap();
    assert!(text(&gone.stderr).contains("/no/destrier"), "{}", text(&gone.stderr));
    let alone = trainer(&["compare", &one, "--out", &out]).output().unwrap();
    assert!(text(&alone.stderr).contains("--base classical"), "{}", text(&alone.stderr));
}

#[test]
fn a_comparison_goes_on_from_any_folder_and_under_any_name() {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name);
    network(&place("one.nnue"), Kind::Screlu, 1);
    network(&place("two.nnue"), Kind::Screlu, 2);
    // Two openings for two pairs, because games at a fixed depth would repeat.
    let lines = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n\
                 rnbqkbnr/pppp1ppp/4p3/8/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n";
    fs::write(place("book.epd"), lines).unwrap();
    fs::create_dir(place("sub")).unwrap();
    let compare = |from: &str, out: &str, [one, two, book]: [&str; 3]| {
        let words = ["compare", one, two, "--book", book, "--out", out, "--engine", &engine(), "--pairs", "2"];
        let limits = ["-j", "1", "--depth", "1", "--option", "Hash=1"];
        ended(&trainer(&[&words[..], &limits].concat()).current_dir(place(from)).output().unwrap(), 0)
    };
    let told = compare("", "out", ["one.nnue", "two.nnue", "book.epd"]);
    let above = ["../one.nnue", "../two.nnue", "../book.epd"];
    assert_eq!(compare("sub", "../out", above), told);
    // The folder's name does not matter, because the games refer to the networks kept in it.
    let games = || fs::read_to_string(place("moved/run/games.jsonl")).unwrap().lines().count();
    cut_journal(&place("out/run/games.jsonl"), 2);
    fs::rename(place("out"), place("moved")).unwrap();
    let left = games();
    let moved = compare("sub", "../sub/../moved", above);
    assert_eq!(moved.replace("/moved/", "/out/"), told);
    assert!(games() > left, "the rest was played");
}

const TRAINING: &str = "name = \"any\"\nout = \"unused\"\n[data]\nfiles = [\"unused.bin\"]\n[network]\nhidden = 32\n\
    [training]\nsuperbatches = 2\nbatches = 4\nbatch = 128\n[rate]\nschedule = \"constant\"\nstart = 0.005\n";

const PLAN: &str = "out = \"OUT\"\ngenerations = 2\nwindow = 2\nstart = \"classical\"\nseed = 1\nthreads = 2\nheld-out = 0.2\n\
    training = \"training.toml\"\n[self-play]\ngames = 16\ndepth = 1\nhash = 1\nmax-plies = 60\n\
    [filter]\nmin-ply = 8\nkeep-captures = true\n[match]\ndepth = 1\npairs = 3\nconcurrency = 2\nmax-plies = 120\n\
    options = { Hash = 1 }\n";

struct Folder(TempDir);

impl Folder {
    fn new() -> Folder {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("training.toml"), TRAINING).unwrap();
        Folder(folder)
    }

    /// Writes a plan with its own output folder.
    fn plan(&self, out: &str, change: impl Fn(String) -> String) -> PathBuf {
        let path = self.0.path().join(format!("{out}.toml"));
        fs::write(&path, change(PLAN.replace("OUT", out))).unwrap();
        path
    }

    fn run(&self, out: &str) -> PathBuf {
        let plan = self.plan(out, |text| text);
        ended(&trainer(&["loop", plan.to_str().unwrap(), "--engine", &engine()]).output().unwrap(), 0);
        self.0.path().join(out)
    }
}

/// Returns the files of a loop that depend only on its plan.
fn made(out: &Path) -> Vec<(String, Vec<u8>)> {
    let mut names = vec!["loop.txt".to_owned(), "loop.json".to_owned()];
    for generation in ["generation-001", "generation-002"] {
        let files = ["games.vf", "train.vf", "held-out.vf", "train.bin", "held-out.bin", "row.json"];
        names.extend(files.map(|file| format!("{generation}/{file}")));
        let network = format!("{generation}/training/{generation}.nnue");
        names.extend([network, format!("{generation}/training/curve.csv")]);
    }
    names
        .into_iter()
        .map(|name| (name.clone(), fs::read(out.join(&name)).unwrap_or_else(|e| panic!("{name}: {e}"))))
        .collect()
}

fn assert_same(found: &Path, expected: &Path) {
    for ((name, found), (_, expected)) in made(found).into_iter().zip(made(expected)) {
        assert!(found == expected, "{name}:\n{}\n{}", text(&found), text(&expected));
    }
}

/// Runs every step in a newly opened loop. Returns the number of steps done.
fn step_by_step(plan: &Path) -> usize {
    let mut steps = 0;
    loop {
        let step = Loop::open(plan, Some(&engine())).and_then(|mut steps| steps.step(&mut std::io::sink()));
        match step.unwrap_or_else(|error| panic!("{error:#}")) {
            LoopStep::Done => steps += 1,
            LoopStep::Finished => return steps,
            LoopStep::Stopped(exit) => panic!("{exit:?}"),
        }
    }
}

#[test]
fn a_loop_ends_the_same_however_often_it_is_killed() {
    let folder = Folder::new();
    let straight = folder.run("straight");
    let table = json(&straight.join("loop.json"));
    let rows = table["generations"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(
            (&row["self_play"]["games"], &row["match"]["pairs"]),
            (&Value::from(16), &Value::from(3)),
            "{table}"
        );
        let loss = row["training"]["validation"].as_f64().unwrap();
        assert!(loss > 0.0 && loss < 1.0, "{table}");
    }
    // The window includes the games of both generations.
    assert!(rows[1]["data"]["training"].as_u64() > rows[0]["data"]["training"].as_u64(), "{table}");
    assert_eq!(rows[0]["match"]["against"], "classical");
    let games = |generation: &str| fs::read(straight.join(generation).join("games.vf")).unwrap();
    assert!(games("generation-001") != games("generation-002"));

    // Interruptions between stages, and the remains of a kill during one: part of the games and
    // half-written files. More generations may be requested later.
    let plan = folder.plan("steps", |text| text.replace("generations = 2", "generations = 1"));
    let begun = folder.0.path().join("steps/generation-001");
    fs::create_dir_all(&begun).unwrap();
    let half = games("generation-001");
    fs::write(begun.join("games.vf"), &half[..half.len() / 2]).unwrap();
    fs::copy(straight.join("generation-001/games.vf.settings"), begun.join("games.vf.settings")).unwrap();
    for torn in ["train.vf.partial", "train.filtered.bf.partial", "train.bin.partial", "row.json.part"] {
        fs::write(begun.join(torn), b"torn").unwrap();
    }
    assert_eq!(step_by_step(&plan), 4);
    let plan = folder.plan("steps", |text| text);
    assert_eq!(step_by_step(&plan), 4);
    let steps = folder.0.path().join("steps");
    assert_same(&steps, &straight);

    // Interruption during a match.
    let row = steps.join("generation-002/row.json");
    let mut open = json(&row);
    open["match"] = Value::Null;
    fs::write(&row, open.to_string()).unwrap();
    cut_journal(&steps.join("generation-002/match/games.jsonl"), 2);
    assert_eq!(step_by_step(&plan), 1);
    assert_same(&steps, &straight);

    // Resumption from another working directory by an indirect path, and after the outputs were
    // moved.
    let open_match = |out: &Path| {
        fs::write(out.join("generation-002/row.json"), open.to_string()).unwrap();
        cut_journal(&out.join("generation-002/match/games.jsonl"), 2);
    };
    open_match(&steps);
    fs::create_dir(folder.0.path().join("sub")).unwrap();
    let from_sub = || {
        let mut command = trainer(&["loop", "../sub/../steps.toml", "--engine", &engine()]);
        ended(&command.current_dir(folder.0.path().join("sub")).output().unwrap(), 0)
    };
    from_sub();
    assert_same(&steps, &straight);
    open_match(&steps);
    let moved = folder.0.path().join("moved");
    fs::rename(&steps, &moved).unwrap();
    folder.plan("steps", |text| text.replace("\"steps\"", "\"moved\""));
    from_sub();
    assert_same(&moved, &straight);
}

#[test]
fn a_process_that_is_killed_in_each_stage_goes_on() {
    let folder = Folder::new();
    let plan = folder.plan("killed", |text| text);
    let mut seen = BTreeSet::new();
    let status = loop {
        let mut child = trainer(&["loop", plan.to_str().unwrap(), "--engine", &engine()])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut begins = lines.filter(|line| line.starts_with("generation ") && line.contains(": "));
        if begins.any(|line| seen.insert(line)) {
            child.kill().unwrap();
            child.wait().unwrap();
            // On a busy machine the kill may come some stages later.
            seen.extend(begins);
        } else {
            break child.wait().unwrap();
        }
    };
    assert!(status.success());
    assert_eq!(
        seen.iter().filter(|line| line.ends_with("self-play") || line.ends_with("match")).count(),
        4,
        "{seen:?}"
    );
    assert_same(&folder.0.path().join("killed"), &folder.run("straight"));
}

#[test]
fn a_match_among_several_trainings_chooses_the_candidate() {
    let folder = Folder::new();
    fs::write(folder.0.path().join("other.toml"), TRAINING.replace("start = 0.005", "start = 0.01")).unwrap();
    let selection = "[selection]\ndepth = 1\npairs = 2\nconcurrency = 2\nmax-plies = 80\noptions = { Hash = 1 }\n";
    let plan = folder.plan("several", |text| {
        let text = text.replace("generations = 2", "generations = 1\nseeds = 1");
        text.replace("\"training.toml\"", "[\"training.toml\", \"other.toml\"]") + selection
    });
    // Self-play, positions, two trainings, the selection and the match.
    assert_eq!(step_by_step(&plan), 6);
    let out = folder.0.path().join("several");
    let path = out.join("generation-001/row.json");
    let row = json(&path);
    let trainings = row["trainings"].as_array().unwrap();
    let networks: BTreeSet<&str> = trainings.iter().map(|trained| trained["sha256"].as_str().unwrap()).collect();
    assert_eq!((trainings.len(), networks.len()), (2, 2), "{row}");
    // The two networks play two pairs.
    let points: Vec<f64> = row["selection"]["points"].as_array().unwrap().iter().filter_map(Value::as_f64).collect();
    assert_eq!((points.len(), points.iter().sum::<f64>(), &row["selection"]["games"]), (2, 4.0, &Value::from(4)));
    let chosen = row["selection"]["chosen"].as_u64().unwrap() as usize;
    assert!(points.iter().all(|other| *other <= points[chosen - 1]), "{row}");
    assert_eq!(row["training"], trainings[chosen - 1]);
    assert!(fs::read_to_string(out.join("loop.txt")).unwrap().contains(&format!("{chosen} of 2")));

    // Interruption after the second training, and after the first.
    for (left, steps) in [(2, 2), (1, 3)] {
        let mut open = row.clone();
        let fields = open.as_object_mut().unwrap();
        fields.insert("match".to_owned(), Value::Null);
        fields.insert("training".to_owned(), Value::Null);
        fields.insert("trainings".to_owned(), trainings[..left].to_vec().into());
        fields.remove("selection");
        fs::write(&path, open.to_string()).unwrap();
        cut_journal(&out.join("generation-001/selection/games.jsonl"), 2);
        assert_eq!(step_by_step(&plan), steps);
        assert_eq!(json(&path), row);
    }

    for (change, says) in [
        (("[selection]", "[selection]\nbounds = [0.0, 5.0]"), "`selection`: the match of all networks has no bounds"),
        (("[selection]", "[selection]\nseed = 5"), "`selection`: folder, seed and name"),
        (("seeds = 1", "seeds = 9"), "`training`: plans times `seeds` are at most 16"),
        (("seeds = 1", "seeds = 0"), "`seeds`: 0 trains nothing"),
        (("[\"training.toml\", \"other.toml\"]", "[]"), "`training`: no plan"),
        (("[\"training.toml\", \"other.toml\"]", "5"), "write the path of a plan, or a list of such paths"),
        ((selection, ""), "`training`: several trainings need a [selection]"),
    ] {
        let text = fs::read_to_string(&plan).unwrap();
        assert!(text.contains(change.0), "{change:?}");
        let bad = folder.0.path().join("bad.toml");
        fs::write(&bad, text.replace(change.0, change.1)).unwrap();
        let error = LoopPlan::load(&bad).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("bad.toml") && error.contains(says) && !error.contains('\n'), "{says}: {error}");
    }
}

#[test]
fn tests_and_matches_decide() {
    let folder = Folder::new();
    // A candidate is never 2,000 Elo better, and always better than minus 2,000 Elo.
    for (least, verdict) in [("2000", Verdict::Kept), ("-2000", Verdict::Accepted)] {
        let name = format!("least{least}");
        let change = |text: String| {
            let text = text.replace("generations = 2", &format!("generations = 1\nleast-elo = {least}.0"));
            text.replace("start = \"classical\"", &format!("start = \"{}\"", "start.nnue"))
        };
        network(&folder.0.path().join("start.nnue"), Kind::Screlu, 1);
        let plan = folder.plan(&name, change);
        assert_eq!(step_by_step(&plan), 4);
        let steps = Loop::open(&plan, Some(&engine())).unwrap();
        let met = steps.rows()[0].met.clone().unwrap();
        assert!(met.elo.is_some(), "a match that least-elo can decide: {met:?}");
        assert_eq!((met.verdict, met.against.as_str()), (verdict, "start"));
        let present: Value = serde_json::from_str(&steps.json()).unwrap();
        let is_new = present["present"] == "generation-001/training/generation-001.nnue";
        assert_eq!(is_new, met.verdict == Verdict::Accepted, "{present}");
    }
    let plan = folder.plan("test", |text| {
        let text = text.replace("generations = 2", "generations = 1");
        text.replace("pairs = 3", "bounds = [0.0, 400.0]\nmodel = \"logistic\"\nmax-pairs = 2")
    });
    assert_eq!(step_by_step(&plan), 4);
    let steps = Loop::open(&plan, Some(&engine())).unwrap();
    // Two pairs decide nothing or accept H0. A candidate without proof of a gain is refused.
    assert_eq!(steps.rows()[0].met.as_ref().map(|met| met.verdict), Some(Verdict::Kept));
    let summary = json(&folder.0.path().join("test/generation-001/match/summary.json"));
    let names: Vec<_> = (0..2).map(|place| summary["players"][place]["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["generation-001", "classical"], "one program, told apart");
}

#[test]
fn mistakes_in_plans_are_named() {
    let folder = Folder::new();
    let check = |from: &str, to: &str, says: &str| {
        assert!(PLAN.contains(from), "{from}");
        let plan = folder.plan("bad", |text| text.replace(from, to));
        let error = LoopPlan::load(&plan).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains("bad.toml") && error.contains(says) && !error.contains('\n'), "{error}");
    };
    check("seed = 1", "sede = 1", "unknown key `sede`");
    check("generations = 2", "generations = 0", "`generations`: 0 does nothing");
    check("window = 2", "window = 0", "`window`");
    check("held-out = 0.2", "held-out = 0.9", "`held-out`");
    check("start = \"classical\"", "start = \"no.nnue\"", "cannot be read");
    check("training = \"training.toml\"", "training = \"no.toml\"", "no.toml");
    check("games = 16", "gaems = 16", "unknown option `--gaems`");
    check("games = 16", "games = 16\nout = \"x\"", "the loop sets `out`");
    check("min-ply = 8", "min-plyy = 8", "unknown key `min-plyy`; keys are min-ply, max-score, ");
    check("min-ply = 8", "min-ply = \"x\"", "--min-ply");
    for word in ["to = \"x.bf\"", "force = true", "from = \"viriformat\"", "help = true"] {
        check("min-ply = 8", word, "unknown key `");
    }
    check("games = 16", "games = 16\nrandom-plies = 0", "16 games of 1 different starts would be copies");
    check("pairs = 3", "pears = 3", "unknown key `pears`");
    check("pairs = 3", "pairs = 3\nseed = 3", "`match`");
    check("pairs = 3", "new = \"x\"", "the players are given");
    LoopPlan::load(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/plans/loop.toml"))).unwrap();

    let plan = folder.plan("other", |text| text);
    drop(Loop::open(&plan, Some(&engine())).unwrap());
    folder.plan("other", |text| text.replace("depth = 1\nhash", "depth = 2\nhash"));
    let error = Loop::open(&plan, Some(&engine())).unwrap_err().to_string();
    assert!(error.contains("started with `self-play = --depth 1") && error.contains("settings.txt"), "{error}");
    let of_book = |text: String| text.replace("games = 16", "games = 16\nbook = \"book.epd\"\nrandom-plies = 4");
    let book = folder.0.path().join("book.epd");
    fs::write(&book, format!("{}\n", Board::startpos().to_fen(false))).unwrap();
    let booked = folder.plan("booked", of_book);
    drop(Loop::open(&booked, Some(&engine())).unwrap());
    drop(Loop::open(&booked, Some(&engine())).unwrap());
    fs::write(&book, "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n").unwrap();
    let error = Loop::open(&booked, Some(&engine())).unwrap_err().to_string();
    assert!(error.contains("started with `contents of the book of self-play = "), "{error}");
    // Errors in match settings are reported before any output is created, and can be corrected
    // until a match has a game.
    folder.plan("other", |text| text.replace("pairs = 3", "pairs = 0"));
    let error = format!("{:#}", Loop::open(&plan, Some(&engine())).unwrap_err());
    assert!(error.contains("other.toml: [match]: --pairs 0 plays nothing"), "{error}");
    let error = format!("{:#}", Loop::open(&folder.plan("other", |text| text), Some("no-engine")).unwrap_err());
    assert!(error.contains("no-engine"), "{error}");
    folder.plan("other", |text| text.replace("generations = 2", "generations = 1").replace("pairs = 3", "pairs = 1"));
    assert_eq!(step_by_step(&plan), 4);
    folder.plan("other", |text| text.replace("pairs = 3", "pairs = 4"));
    let error = Loop::open(&plan, Some(&engine())).unwrap_err().to_string();
    assert!(error.contains("started with `pairs = 1`, not `pairs = 4`"), "{error}");
    // The tables would lose the results of later generations.
    fs::create_dir(folder.0.path().join("other/generation-002")).unwrap();
    folder.plan("other", |text| text.replace("generations = 2", "generations = 1").replace("pairs = 3", "pairs = 1"));
    let error = Loop::open(&plan, Some(&engine())).unwrap_err().to_string();
    assert!(error.contains("`generations`: the loop has begun") && error.contains("generation-002"), "{error}");
    folder.plan("other", |text| text.replace("pairs = 3", "pairs = 1"));
    let held = Loop::open(&plan, Some(&engine())).unwrap();
    let error = Loop::open(&plan, Some(&engine())).unwrap_err().to_string();
    assert!(error.contains("another loop is at work"), "{error}");
    drop(held);
}

/// Writes positions of random games as bulletformat.
fn positions(folder: &Path, name: &str, seed: u64) {
    let mut random = SplitMix64::new(seed);
    let mut lines = String::new();
    for _ in 0..40 {
        let mut board = Board::startpos();
        for _ in 0..40 {
            let mut list = MoveList::new();
            board.legal_moves(&mut list);
            if list.is_empty() {
                break;
            }
            board.play(list[random.below(list.len())]);
            let score = random.below(400) as i32 - 200;
            lines += &format!("{} | {score} | 0.5\n", board.to_fen(false));
        }
    }
    let text = folder.join(format!("{name}.txt"));
    fs::write(&text, lines).unwrap();
    let (text, out) = (text.to_str().unwrap(), folder.join(format!("{name}.bin")));
    ended(&trainer(&["data", "convert", text, "--out", out.to_str().unwrap()]).output().unwrap(), 0);
}

const LAB: &str = "name = \"small\"\nout = \"OUT\"\nsets = [\"piece\", \"file+rank\"]\nhidden = [32]\nseeds = [1, 2]\n\
    threads = 2\n[data]\nfiles = [\"train.bin\"]\nvalidation = [\"held-out.bin\"]\n[training]\nsuperbatches = 4\nbatches = 4\n\
    batch = 128\n[rate]\nschedule = \"constant\"\nstart = 0.005\n[games]\nnodes = 100\ntc = \"2+0.02\"\npairs = 2\n\
    max-plies = 24\nconcurrency = 2\noptions = { Hash = 1 }\n";

#[test]
fn a_lab_that_is_killed_goes_on_and_ends_the_same() {
    let folder = TempDir::new().unwrap();
    positions(folder.path(), "train", 1);
    positions(folder.path(), "held-out", 2);
    let lab = |out: &str, change: &dyn Fn(String) -> String, more: &[&str]| {
        let path = folder.path().join(format!("{out}.toml"));
        fs::write(&path, change(LAB.replace("OUT", out))).unwrap();
        trainer(&[&["lab", path.to_str().unwrap(), "--engine", &engine()], more].concat())
    };
    let same = |text: String| text;
    let listed = ended(&lab("whole", &same, &["--dry-run"]).output().unwrap(), 0);
    assert!(listed.contains("file+rank-screlu-32-s2") && listed.contains("together about"), "{listed}");
    assert!(!folder.path().join("whole").exists(), "a dry run creates nothing");
    let told = ended(&lab("whole", &same, &[]).output().unwrap(), 0);
    assert!(told.contains("Elo is against piece"), "{told}");
    // Killed in the middle of a training, then of the games.
    for line in ["goes on", "games-at-nodes", "games-at-time"] {
        let mut child = lab("killed", &same, &[]).stdout(Stdio::piped()).spawn().unwrap();
        let wanted = if line == "goes on" { "superbatch 2" } else { line };
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|read| read.unwrap().contains(wanted)), "{wanted}");
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let again = ended(&lab("killed", &same, &["--json"]).output().unwrap(), 0);
    assert!(!again.contains("superbatch"), "trained cells are not trained again: {again}");
    let cells = |out: &str| json(&folder.path().join(out).join("lab.json"))["cells"].clone();
    let [whole, killed] = ["whole", "killed"].map(cells);
    let [whole, killed] = [&whole, &killed].map(|cells| cells.as_array().unwrap());
    assert_eq!([whole.len(), killed.len()], [4; 2], "two sets by two seeds");
    for (whole, killed) in whole.iter().zip(killed) {
        for key in ["name", "shape", "inputs"] {
            assert_eq!(whole[key], killed[key]);
        }
        for key in ["validation", "sha256", "win_worst", "checked"] {
            assert!(!whole["training"][key].is_null());
            assert_eq!(whole["training"][key], killed["training"][key], "{key}");
        }
        assert_eq!(whole["nodes"]["ptnml"], killed["nodes"]["ptnml"], "the same games");
        let pairs =
            |games: &Value| games["ptnml"].as_array().map(|counts| counts.iter().filter_map(Value::as_u64).sum());
        let expected = if whole["set"] == "piece" { None } else { Some(2) };
        assert_eq!([pairs(&whole["time"]), pairs(&killed["time"])], [expected; 2]);
    }
    let page = fs::read_to_string(folder.path().join("killed/lab.html")).unwrap();
    assert!(page.contains("file+rank") && !page.contains("http://localhost"), "{page}");
    // A set more keeps what is done; another training is refused.
    let mut more = lab("killed", &|text| text.replace("\"file+rank\"", "\"file+rank\", \"file\""), &["--dry-run"]);
    let listed = ended(&more.output().unwrap(), 0);
    assert!(listed.contains("file-screlu-32-s1"), "{listed}");
    let other = lab("killed", &|text| text.replace("batches = 4", "batches = 5"), &[]).output().unwrap();
    let said = text(&other.stderr);
    assert!(!other.status.success() && said.contains("batches = 4") && said.contains("another `out`"), "{said}");
}

#[test]
fn a_lab_goes_on_past_a_failed_cell_and_tries_it_again() {
    let folder = TempDir::new().unwrap();
    positions(folder.path(), "train", 1);
    positions(folder.path(), "held-out", 2);
    let plan = folder.path().join("plan.toml");
    fs::write(&plan, LAB.replace("OUT", "out").replace("seeds = [1, 2]", "seeds = [1]")).unwrap();
    let lab = |engine: &str| trainer(&["lab", plan.to_str().unwrap(), "--engine", engine]).output().unwrap();
    let trained = folder.path().join("out/cells/piece-screlu-32-s1/checkpoint.bin");
    let damaged = folder.path().join("out/cells/file+rank-screlu-32-s1/checkpoint.bin");
    fs::create_dir_all(damaged.parent().unwrap()).unwrap();
    fs::write(&damaged, "no checkpoint").unwrap();
    for _ in 0..2 {
        let output = lab(&engine());
        let told = ended(&output, 2);
        let reason = "file+rank-screlu-32-s1: training failed: ";
        assert!(told.contains(reason) && told.contains("remove the file to start again"), "{told}");
        let said = text(&output.stderr);
        assert!(said.contains("1 of 2 cells failed: file+rank-screlu-32-s1 (training); "), "{said}");
        assert!(fs::read_to_string(folder.path().join("out/lab.txt")).unwrap().contains(reason));
        let cells = json(&folder.path().join("out/lab.json"))["cells"].clone();
        assert!(!cells[0]["training"].is_null() && cells[1]["failure"]["stage"] == "training", "{cells}");
    }
    assert!(trained.exists(), "the other cell was trained");
    fs::remove_file(&damaged).unwrap();
    ended(&lab(&engine()), 0);
    let cells = json(&folder.path().join("out/lab.json"))["cells"].clone();
    assert!(!cells[1]["time"].is_null() && cells[1]["failure"].is_null(), "{cells}");

    // Another build of the engine is refused, even if nothing is left to play.
    let rebuilt = folder.path().join("rebuilt");
    // A copy keeps the permission to run.
    fs::copy(PROGRAM, &rebuilt).unwrap();
    fs::write(&rebuilt, [fs::read(PROGRAM).unwrap(), vec![0]].concat()).unwrap();
    let output = lab(&format!("{} -- uci", rebuilt.display()));
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains("started with `engine = "), "{said}");
    assert!(said.contains("(rebuilt); give the first one with --engine, or the plan another `out`"), "{said}");
}
