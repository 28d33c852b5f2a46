//! Chains of tests: the next one follows if the one before passes, here and in the queue.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::harness::{Gate, Ran, fake, journal_lines, quintain, run, summary, until};

const SETTINGS: &str = "nodes = 1\nmax-plies = 12\nresign = \"count=1,score=400\"\nbounds = [0.0, 100.0]\n";

/// Peers that lose and win, and plans in a folder of their own.
struct Chained {
    folder: tempfile::TempDir,
    strong: String,
    weak: String,
}

impl Chained {
    fn new() -> Self {
        let [strong, weak] = ["--seed 1", "--seed 2 --resigns 85"].map(fake);
        Self { folder: tempfile::tempdir().unwrap(), strong, weak }
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.folder.path().join("plans").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{SETTINGS}{text}")).unwrap();
    }

    /// Plans of a test that passes, of one that does too, of one that fails, and of a fourth.
    fn four(self) -> Self {
        let Self { strong, weak, .. } = &self;
        self.write("a.toml", &format!("new = {strong:?}\nbase = {weak:?}\nconcurrency = 1\nthen = \"b.toml\"\n"));
        self.write("b.toml", "alpha = 0.1\nthen = \"c.toml\"\n");
        self.write("c.toml", &format!("new = {weak:?}\nbase = {strong:?}\nthen = \"d.toml\"\n"));
        self.write("d.toml", "");
        self
    }

    /// Plans of three tests that pass.
    fn three(self) -> Self {
        let Self { strong, weak, .. } = &self;
        self.write("a.toml", &format!("new = {strong:?}\nbase = {weak:?}\nconcurrency = 1\nthen = \"b.toml\"\n"));
        self.write("b.toml", "then = \"c.toml\"\n");
        self.write("c.toml", "");
        self
    }

    /// Plans of two tests that pass, whose peers wait for a gate.
    fn two_held(&self) -> Gate {
        let gate = Gate::new(self.folder.path(), 2);
        let held = |peer: &str| format!("{peer} {}", gate.words());
        let [strong, weak] = [held(&self.strong), held(&self.weak)];
        self.write("a.toml", &format!("new = {strong:?}\nbase = {weak:?}\nconcurrency = 1\nthen = \"b.toml\"\n"));
        self.write("b.toml", "");
        gate
    }

    fn words(&self, words: &[&str]) -> Ran {
        quintain(words).current_dir(self.folder.path()).output().unwrap().into()
    }

    /// Kills a command after the first game of its first run, whose folder is returned.
    fn killed(&self, words: &[&str]) -> String {
        let mut command = quintain(words);
        let quiet = command.current_dir(self.folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = quiet.spawn().unwrap();
        until("the first game", || self.runs().first().is_some_and(|run| journal_lines(run) > 1));
        child.kill().unwrap();
        child.wait().unwrap();
        self.runs()[0].display().to_string()
    }

    /// Folders of the runs, the first one first.
    fn runs(&self) -> Vec<PathBuf> {
        let Ok(found) = std::fs::read_dir(self.folder.path().join("results/runs")) else { return Vec::new() };
        let mut runs: Vec<_> = found.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
        runs.sort_by_key(|run| before(run).len());
        runs
    }

    fn verdicts(&self) -> Vec<String> {
        self.runs().iter().map(|run| summary(run)["verdict"].as_str().unwrap().to_owned()).collect()
    }
}

/// Runs before one in its chain, as its plan names them.
fn before(run: &Path) -> Vec<PathBuf> {
    let plan: toml::Table = std::fs::read_to_string(run.join("plan.toml")).unwrap().parse().unwrap();
    let before = plan["chain"].get("before").and_then(toml::Value::as_array);
    before.into_iter().flatten().filter_map(toml::Value::as_str).map(PathBuf::from).collect()
}

#[test]
fn a_chain_goes_on_while_its_tests_pass_and_has_one_report() {
    let chained = Chained::new().four();
    let ran = chained.words(&["sprt", "plans/a.toml", "--note", "a chain"]);
    assert_eq!((ran.code, chained.verdicts()), (Some(1), ["H1", "H1", "H0"].map(str::to_owned).to_vec()), "{ran:?}");
    assert!(ran.stdout.contains("chain failed: 2 of 4 tests passed, "), "{}", ran.stdout);
    let summaries: Vec<Value> = chained.runs().iter().map(|run| summary(run)).collect();
    // The engines of the first, until a plan names its own.
    let names = |number: usize| summaries[number]["players"][0]["spec"].clone();
    assert_eq!((summaries[1]["note"].as_str(), summaries[1]["alpha"].as_f64()), (Some("a chain"), Some(0.1)));
    assert_eq!((names(0) == names(1), names(1) == names(2)), (true, names(1).is_null()), "{summaries:?}");
    let report = chained.words(&["report", &chained.runs()[2].display().to_string()]).stdout;
    let games: u64 = summaries.iter().map(|summary| summary["games"].as_u64().unwrap()).sum();
    assert!(report.contains(&format!("chain failed: 2 of 4 tests passed, {games} games, ")), "{report}");
    let rows = |result: &str| report.lines().filter(|line| line.contains(&format!("  {result}  "))).count();
    assert_eq!((rows("H1"), rows("H0")), (2, 1), "{report}");
    let last = chained.runs()[2].display().to_string();
    let document: Value = serde_json::from_str(&chained.words(&["report", &last, "--format", "json"]).stdout).unwrap();
    let chain = &document["chain"];
    let facts = ["state", "passed", "length", "stopped_at", "games"].map(|key| &chain[key]);
    assert_eq!(serde_json::json!(facts), serde_json::json!(["failed", 2, 4, 3, games]), "{chain}");
    let results: Vec<_> =
        chain["tests"].as_array().unwrap().iter().filter_map(|test| test["result"].as_str()).collect();
    assert_eq!((results, chain["pass"].is_array()), (vec!["H1", "H1", "H0"], true), "{chain}");
    for page in [
        chained.words(&["report", &last, "--format", "html"]).stdout,
        std::fs::read_to_string(chained.runs()[2].join("report.html")).unwrap(),
    ] {
        assert!(page.contains("<h2>The chain of tests</h2>") && page.contains(", stopped at test 3</p>"), "{page}");
    }
    // The time of a test is that of all its processes.
    let first = chained.runs()[0].join("summary.json");
    let mut resumed = summaries[0].clone();
    resumed["seconds_total"] = 7200.0.into();
    std::fs::write(&first, resumed.to_string()).unwrap();
    let document: Value = serde_json::from_str(&chained.words(&["report", &last, "--format", "json"]).stdout).unwrap();
    assert_eq!(document["chain"]["tests"][0]["hours"], 2.0, "{document}");
    let report = chained.words(&["report", &chained.runs()[0].display().to_string(), "--format", "md"]).stdout;
    assert!(
        report.contains("## The chain of tests") && report.contains("chain failed: 2 of 4 tests passed"),
        "{report}"
    );
    // The stored pages of the tests before have the end, too.
    for run in chained.runs() {
        let page = std::fs::read_to_string(run.join("report.html")).unwrap();
        assert!(page.contains(", stopped at test 3</p>") && page.ends_with("</html>\n"), "{}", run.display());
    }
}

/// Chain of a JSON document, without the paths of its runs.
fn chain_in(document: &Value) -> Value {
    let mut chain = document["chain"].clone();
    for test in chain["tests"].as_array_mut().unwrap() {
        test["run"] = Value::Null;
    }
    chain
}

#[test]
fn a_chain_that_is_out_of_pairs_is_over_and_prints_one_document() {
    let chained = Chained::new().three();
    chained.write("b.toml", "max-pairs = 1\nthen = \"c.toml\"\n");
    let ran = chained.words(&["sprt", "plans/a.toml", "--json"]);
    assert_eq!((ran.code, chained.runs().len()), (Some(3), 2), "{ran:?}");
    let printed: Value = serde_json::from_str(&ran.stdout).unwrap();
    let facts = ["state", "passed", "length", "stopped_at"].map(|key| &printed["chain"][key]);
    assert_eq!(serde_json::json!(facts), serde_json::json!(["inconclusive", 1, 3, 2]), "{printed}");
    // The rest is the summary of the last test.
    let mut whole = summary(&chained.runs()[1]);
    whole["chain"] = printed["chain"].clone();
    assert_eq!(printed, whole);
    let last = chained.runs()[1].display().to_string();
    let json: Value = serde_json::from_str(&chained.words(&["report", &last, "--format", "json"]).stdout).unwrap();
    assert_eq!(chain_in(&printed), chain_in(&json));
    let resumed: Value = serde_json::from_str(&chained.words(&["resume", &last, "--json"]).stdout).unwrap();
    assert_eq!(chain_in(&resumed)["state"], "inconclusive", "{resumed}");
    let text = chained.words(&["report", &last]).stdout;
    let words = ["chain inconclusive: 1 of 3 tests passed, ", ", stopped at test 2\n"];
    assert!(words.iter().all(|words| text.contains(words)), "{text}");
}

#[test]
fn a_killed_chain_is_resumed_and_begins_no_test_twice() {
    let chained = Chained::new();
    let gate = chained.two_held();
    let first = chained.killed(&["sprt", "plans/a.toml"]);
    gate.open();
    let ran = chained.words(&["resume", &first]);
    assert_eq!((ran.code, chained.verdicts().len()), (Some(0), 2), "{ran:?}");
    assert!(ran.stdout.contains("chain passed: 2 of 2 tests passed"), "{}", ran.stdout);
    let again = chained.words(&["resume", &first]);
    assert!(again.stderr.contains("the chain continued in"), "{again:?}");
    assert_eq!(chained.runs().len(), 2);
}

#[test]
fn a_queue_plays_a_chain_up_to_its_first_failure() {
    let chained = Chained::new().four();
    let ran = chained.words(&["queue", "add", "plans/a.toml"]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // Its plans are those of the time it was added.
    chained.write("b.toml", "then = \"nowhere.toml\"\n");
    let ran = chained.words(&["queue", "run", "--until-empty"]);
    assert_eq!((ran.code, chained.verdicts()), (Some(0), ["H1", "H1", "H0"].map(str::to_owned).to_vec()), "{ran:?}");
    assert!(ran.stdout.contains("chain failed: 2 of 4 tests passed, "), "{}", ran.stdout);
    let list: Value = serde_json::from_str(&chained.words(&["queue", "ls", "--all", "--json"]).stdout).unwrap();
    let entry = &list["entries"][0];
    assert_eq!((&entry["results"], &entry["plans"]), (&serde_json::json!(["H1", "H1", "H0"]), &4.into()));
    assert_eq!((entry["state"].as_str(), entry["runs"].as_array().unwrap().len()), (Some("done"), 3));
}

/// Tests that a resumed run of the queue goes on to are those of its entry.
#[test]
fn a_queue_takes_up_the_test_that_resume_began() {
    let chained = Chained::new();
    let gate = chained.two_held();
    assert_eq!(chained.words(&["queue", "add", "plans/a.toml"]).code, Some(0));
    let first = chained.killed(&["queue", "run", "--until-empty"]);
    gate.open();
    let ran = chained.words(&["resume", &first]);
    assert_eq!((ran.code, chained.runs().len()), (Some(0), 2), "{ran:?}");
    let ran = chained.words(&["queue", "run", "--until-empty"]);
    assert_eq!((ran.code, chained.verdicts()), (Some(0), ["H1", "H1"].map(str::to_owned).to_vec()), "{ran:?}");
    let list: Value = serde_json::from_str(&chained.words(&["queue", "ls", "--all", "--json"]).stdout).unwrap();
    let entry = &list["entries"][0];
    assert_eq!((&entry["results"], entry["state"].as_str()), (&serde_json::json!(["H1", "H1"]), Some("done")));
    let second = chained.runs()[1].file_name().unwrap().to_str().unwrap().to_owned();
    assert_eq!(entry["runs"][1], format!("runs/{second}"));
    // Both are over, and the chain with them.
    for run in chained.runs() {
        let ran = chained.words(&["queue", "resume", &run.display().to_string()]);
        assert!(ran.code == Some(2) && ran.stderr.contains("it is over"), "{ran:?}");
    }
}

/// A passed test whose next one has yet to begin can be queued.
#[test]
fn a_queue_goes_on_with_the_chain_of_a_test_that_is_over() {
    let chained = Chained::new();
    chained.two_held().open();
    assert_eq!(chained.words(&["sprt", "plans/a.toml"]).code, Some(0));
    let [first, second] = [0, 1].map(|number| chained.runs()[number].clone());
    std::fs::remove_dir_all(second).unwrap();
    let ran = chained.words(&["queue", "resume", &first.display().to_string()]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = chained.words(&["queue", "run", "--until-empty"]);
    assert_eq!((ran.code, chained.verdicts().len()), (Some(0), 2), "{ran:?}");
}

/// A run resumed in the middle of its chain passes the tests before it on.
#[test]
fn a_queue_keeps_the_tests_before_the_one_it_resumes() {
    let chained = Chained::new().three();
    assert_eq!(chained.words(&["sprt", "plans/a.toml"]).code, Some(0));
    let [second, third] = [1, 2].map(|number| chained.runs()[number].clone());
    std::fs::remove_dir_all(third).unwrap();
    assert_eq!(chained.words(&["queue", "resume", &second.display().to_string()]).code, Some(0));
    let ran = chained.words(&["queue", "run", "--until-empty"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("chain passed: 3 of 3 tests passed"), "{ran:?}");
    let runs = chained.runs();
    let names: Vec<_> = runs[..2].iter().map(|run| PathBuf::from(run.file_name().unwrap())).collect();
    assert_eq!(before(&runs[2]), names);
}

/// The names of the earlier tests are relative to the folder that their runs are in.
#[test]
fn a_chain_that_goes_on_in_another_folder_keeps_its_earlier_tests() {
    let chained = Chained::new().three();
    assert_eq!(chained.words(&["sprt", "plans/a.toml"]).code, Some(0));
    let runs = chained.runs();
    std::fs::remove_dir_all(&runs[2]).unwrap();
    let elsewhere = Chained { folder: tempfile::tempdir().unwrap(), strong: String::new(), weak: String::new() };
    let ran = elsewhere.words(&["resume", &runs[1].display().to_string()]);
    assert!(ran.code == Some(0) && ran.stdout.contains("chain passed: 3 of 3 tests passed"), "{ran:?}");
    assert_eq!(before(&elsewhere.runs()[0]), runs[..2]);
}

/// The commands are those of a Unix shell.
#[cfg(unix)]
#[test]
fn each_test_of_a_chain_tells_those_of_its_own_plan() {
    let chained = Chained::new();
    let Chained { folder, strong, weak } = &chained;
    let heard = folder.path().join("heard");
    let command = |word: &str| format!("echo {word} >> '{}'", heard.display());
    let [one, two, mine] = ["one", "two", "mine"].map(command);
    let peers = format!("new = {strong:?}\nbase = {weak:?}\nconcurrency = 1\n");
    chained.write("a.toml", &format!("{peers}then = \"b.toml\"\non-end = {one:?}\n"));
    chained.write("b.toml", &format!("then = \"c.toml\"\non-end = {two:?}\n"));
    // Without its own, those of the first.
    chained.write("c.toml", "");
    let ran = chained.words(&["sprt", "plans/a.toml"]);
    let said = || std::fs::read_to_string(&heard).unwrap();
    assert_eq!((ran.code, said().as_str()), (Some(0), "one\ntwo\none\n"), "{ran:?}");
    // A command given later takes the place of all.
    let runs = chained.runs();
    for run in &runs[1..] {
        std::fs::remove_dir_all(run).unwrap();
    }
    std::fs::remove_file(&heard).unwrap();
    let ran = chained.words(&["resume", &runs[0].display().to_string(), "--on-end", &mine]);
    assert_eq!((ran.code, said().as_str()), (Some(0), "mine\nmine\nmine\n"), "{ran:?}");
}

#[test]
fn a_circle_or_a_missing_file_is_refused_at_once() {
    let chained = Chained::new().four();
    chained.write("c.toml", "then = \"b.toml\"\n");
    chained.write("lost.toml", "then = \"nowhere.toml\"\n");
    chained.write("bad.toml", "then = \"faulty.toml\"\n");
    chained.write("faulty.toml", "alpha = 2.0\n");
    chained.write("racing.toml", "then = \"race.toml\"\n");
    chained.write("race.toml", "format = \"race\"\n");
    chained.write("told.toml", "then = \"address.toml\"\n");
    chained.write("placed.toml", "then = \"out.toml\"\n");
    chained.write("out.toml", "out = \"here\"\n");
    chained.write("address.toml", "notify-ntfy = \"https://ntfy.sh/x\"\n");
    let peers = ["--new", &chained.strong, "--base", &chained.weak];
    for (file, why) in [
        ("a.toml", &["plans/c.toml, key `then`: ", "b.toml is in the chain already"][..]),
        ("lost.toml", &["key `then`: cannot read the plan plans/nowhere.toml"]),
        ("racing.toml", &["plans/race.toml: it is a plan of `quintain race`", "quintain queue add plans/race.toml"]),
        ("bad.toml", &["plans/faulty.toml: ", "alpha"]),
        ("placed.toml", &["plans/out.toml: key `out`: the runs of a chain get names of their own"]),
        ("told.toml", &["plans/address.toml: ", "notify-ntfy: give the name of the environment variable"]),
    ] {
        let plan = format!("plans/{file}");
        for command in [&["sprt"][..], &["queue", "add"]] {
            let ran = chained.words(&[command, &[&plan], &peers].concat());
            assert_eq!(ran.code, Some(2), "{file}: {ran:?}");
            // A plan's own folder is joined to a name in it as the system joins paths.
            let said = ran.stderr.replace('\\', "/");
            assert!(why.iter().all(|why| said.contains(why)), "{file}: {ran:?}");
            assert_eq!(ran.stderr.lines().count(), 1, "{file}: {ran:?}");
        }
    }
    assert!(chained.runs().is_empty());
}

/// A later test of the first one's engines is played in its variant, from its book.
#[test]
fn a_later_test_has_the_variant_and_the_book_of_the_first() {
    let chained = Chained::new();
    let fen = "bbqnnrkr/pppppppp/8/8/8/8/PPPPPPPP/BBQNNRKR w HFhf - 0 1";
    chained.write("b.toml", "");
    chained.write("own.toml", "chess960 = false\nbook = \"own.epd\"\n");
    for (book, fen) in [("frc.epd", fen), ("own.epd", "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1")] {
        std::fs::write(chained.folder.path().join(book), format!("{fen}\n")).unwrap();
    }
    let first = format!(
        "new = {:?}\nbase = {:?}\nchess960 = true\nbook = \"frc.epd\"\nbook-order = \"sequential\"\n",
        chained.strong, chained.weak
    );
    chained.write("a.toml", &format!("{first}then = \"b.toml\"\n"));
    chained.write("own-variant.toml", &format!("{first}then = \"own.toml\"\n"));
    for (plan, variant, book) in [("a.toml", true, "frc.epd"), ("own-variant.toml", false, "own.epd")] {
        let ran = chained.words(&["queue", "add", &format!("plans/{plan}")]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let entry = ran.stdout.split_whitespace().nth(1).unwrap().trim_end_matches(';').to_owned();
        let entry = chained.folder.path().join("results/queue").join(format!("{entry}.toml"));
        let stored: toml::Table = std::fs::read_to_string(entry).unwrap().parse().unwrap();
        let later = &stored["plans"][1];
        assert_eq!(later["chess960"].as_bool(), Some(variant), "{later}");
        assert_eq!(Path::new(later["book"].as_str().unwrap()).file_name().unwrap(), book, "{later}");
        // The order belongs to the book.
        assert_eq!(later.get("book-order").is_some(), book == "frc.epd", "{later}");
    }
}

#[test]
fn a_chain_is_foreseen_from_its_plans() {
    let chained = Chained::new();
    chained.write("stc.toml", "then = \"ltc.toml\"\n");
    chained.write("ltc.toml", "alpha = 0.01\n");
    let [stc, ltc] =
        ["stc.toml", "ltc.toml"].map(|name| chained.folder.path().join("plans").join(name).display().to_string());
    let foreseen = |words: &[&str]| -> Value {
        let ran = run(&[&["simulate", "--json", "--pairs-per-minute", "10", "--chain"], words].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        serde_json::from_str(&ran.stdout).unwrap()
    };
    let both = foreseen(&[&stc, &ltc, "--elo", "33"]);
    assert_eq!(foreseen(&[&stc])["links"], both["links"], "a single plan brings what follows");
    let table = both["table"].as_array().unwrap();
    assert!(table.iter().any(|row| row["elo"] == 33.0), "{both}");
    for row in table {
        let [pass, all] = [&row["pass"], &row["pass_all"]];
        let product: f64 = pass.as_array().unwrap().iter().map(|pass| pass.as_f64().unwrap()).product();
        assert!((product - all.as_f64().unwrap()).abs() < 1e-12 && row["hours"].is_number(), "{row}");
    }
    // A time limit is a number of pairs, and a strength is that of the first test's model.
    chained.write("short.toml", "max-time = \"1m\"\n");
    chained.write("logistic.toml", "model = \"logistic\"\n");
    let [short, logistic] = ["short.toml", "logistic.toml"]
        .map(|name| chained.folder.path().join("plans").join(name).display().to_string());
    assert!(foreseen(&[&short])["table"].as_array().unwrap().iter().all(|row| row["pairs"].as_f64().unwrap() <= 10.0));
    let unknown = run(&["simulate", "--results", "/nowhere", "--chain", &short]);
    assert!(unknown.code == Some(2) && unknown.stderr.contains("give --pairs-per-minute"), "{unknown:?}");
    let mixed = foreseen(&[&stc, &logistic, "--elo", "50"]);
    let at_fifty = mixed["table"].as_array().unwrap().iter().find(|row| row["elo"] == 50.0).unwrap();
    // 50 normalized Elo are some 30 logistic ones, below the middle of the second test's bounds.
    assert!(at_fifty["pass"][0].as_f64().unwrap() > 0.49 && at_fifty["pass"][1].as_f64().unwrap() < 0.4, "{mixed}");
    let text = run(&["simulate", "--pairs-per-minute", "10", "--chain", &stc]).stdout;
    assert!(text.contains("pass all") && text.contains("2: "), "{text}");
}

#[test]
fn only_tests_are_foreseen_as_a_chain() {
    let chained = Chained::new();
    chained.write("test.toml", "");
    for (command, keys) in [
        ("match", "[[players]]\nspec = \"a\"\n"),
        ("gauntlet", "format = \"gauntlet\"\n"),
        ("race", "format = \"race\"\n"),
        ("tune", "params = \"params.txt\"\n"),
    ] {
        chained.write("other.toml", keys);
        chained.write("first.toml", "then = \"other.toml\"\n");
        let (test, other) = ("plans/test.toml", "plans/other.toml");
        for files in [&[other][..], &[other, test], &[test, other], &["plans/first.toml"]] {
            let ran = chained.words(&[&["simulate", "--pairs-per-minute", "10", "--chain"], files].concat());
            assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{files:?}: {ran:?}");
            let why = format!("{other}: it is a plan of `quintain {command}`, but a chain contains only tests");
            assert!(ran.stderr.replace('\\', "/").contains(&why), "{files:?}: {ran:?}");
        }
    }
}
