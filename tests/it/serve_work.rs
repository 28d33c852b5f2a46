//! The page of `quintain serve` as a place to work: the queue, new tests, games, documents,
//! a long list.

use std::path::Path;

use serde_json::{Value, json};

use crate::harness::{fake, run, sprt, summary, until};
use crate::serve::{Got, Served, store};

/// Words of a test that needs nothing but the scripted engine.
fn words(more: &[&str]) -> Value {
    let side = |seed: u8| fake(&format!("--seed {seed}"));
    let mut words = vec!["sprt".to_owned(), "--new".to_owned(), side(1), "--base".to_owned(), side(2)];
    words.extend(["--nodes", "1", "--max-plies", "20", "--max-pairs", "1"].map(str::to_owned));
    words.extend(more.iter().map(|word| (*word).to_owned()));
    json!({ "words": words })
}

impl Served {
    fn add(&self, test: &Value) -> Got {
        self.send("/api/queue", &test.to_string())
    }

    #[track_caller]
    fn entries(&self) -> Vec<(u64, i64, String, String)> {
        let list = self.json("/api/queue");
        let entry = |one: &Value| {
            let text = |key: &str| one[key].as_str().unwrap_or_default().to_owned();
            (one["id"].as_u64().unwrap(), one["priority"].as_i64().unwrap(), text("state"), text("title"))
        };
        list["entries"].as_array().unwrap().iter().map(entry).collect()
    }
}

#[test]
fn a_new_test_is_checked_and_waits_and_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &[]);
    assert_eq!(served.json("/api/queue"), json!({ "daemon": false, "entries": [] }));
    for (test, why) in [
        (json!({ "words": [] }), "the test has no words"),
        (json!({ "words": ["--help"] }), "a test begins with a plan"),
        (json!({ "words": ["sprt\u{0}"] }), "a test has at most"),
        (json!({ "wrods": ["sprt"] }), "not a test: unknown field"),
        (json!({ "words": ["rate"] }), "give a plan, a file ending in .toml, or a command line of sprt"),
        (words(&["--bounds", "5,0"]), "bounds 5,0: elo0 must be below elo1"),
        (words(&["--tc", "soon"]), "--tc"),
        (words(&["--out", "elsewhere"]), "--out: the queue names the folders"),
        (words(&["--book", "/nonexistent.epd"]), "nonexistent.epd"),
        (json!({ "words": ["sprt", "--new", "/nonexistent/engine", "--base", "."] }), "/nonexistent/engine"),
    ] {
        let got = served.add(&test);
        let said = got.json()["error"].as_str().unwrap().to_owned();
        assert!(got.status == 400 && said.contains(why) && !said.contains('\n'), "{test}: {got:?}");
    }
    assert_eq!(served.ask("POST", "/api/queue", &[]).status, 401);
    assert_eq!(served.entries(), []);
    for note in ["first", "second"] {
        let got = served.add(&words(&["--note", note]));
        assert_eq!(got.status, 200, "{got:?}");
    }
    let entry = |id: u64, priority: i64, title: &str| (id, priority, "waiting".to_owned(), title.to_owned());
    assert_eq!(served.entries(), [entry(1, 0, "first"), entry(2, 0, "second")]);
    assert_eq!(served.send("/api/queue/2/up?priority=3", "").status, 200);
    assert_eq!(served.send("/api/queue/2/note", "the better one").status, 200);
    assert_eq!(served.entries(), [entry(2, 3, "the better one"), entry(1, 0, "first")]);
    for (path, body, status) in [
        ("/api/queue/2/note", "two\nlines", 409),
        ("/api/queue/7/up", "", 409),
        ("/api/queue/7/note", "x", 409),
        ("/api/queue/2/paint", "", 404),
        ("/api/queue/x/up", "", 400),
        ("/api/queue/2/up?priority=x", "", 400),
    ] {
        assert_eq!(served.send(path, body).status, status, "{path}");
    }
    assert_eq!(served.send("/api/queue/1/rm", "").status, 200);
    assert_eq!(served.entries(), [entry(2, 3, "the better one")]);
    let huge = served.send("/api/queue", &"x".repeat(100_000));
    assert_eq!(huge.status, 413, "{huge:?}");
}

#[test]
fn away_from_this_machine_new_tests_need_permission() {
    let folder = tempfile::tempdir().unwrap();
    let token = "Aa0123456789-._x";
    for (more, status) in [(&[][..], 403), (&["--new-tests"][..], 200)] {
        let served = Served::start(folder.path(), &[&["--listen", "0.0.0.0:0", "--token", token], more].concat());
        let got = served.add(&words(&[]));
        assert_eq!(got.status, status, "{got:?}");
    }
}

#[test]
fn a_test_of_the_page_is_played_by_its_own_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let served = Served::start(folder.path(), &["--run"]);
    assert_eq!(served.add(&words(&["--note", "of the page"])).status, 200);
    until("the end of the test", || served.entries()[0].2 == "done");
    let runs = served.json("/api/runs");
    assert_eq!((&runs["runs"][0]["title"], &runs["runs"][0]["pairs"]), (&"of the page".into(), &1.into()));
}

/// Results with one run of three pairs, whose games ended in their order.
fn played() -> tempfile::TempDir {
    let results = tempfile::tempdir().unwrap();
    std::fs::create_dir(results.path().join("runs")).unwrap();
    let dir = results.path().join("runs/played");
    sprt(3, "--seed 1", "--seed 2", &dir, "--nodes 1 --max-plies 40 --max-pairs 3 --seed 4 -j 1");
    results
}

#[test]
fn the_games_are_filtered_and_replayed() {
    let results = played();
    let served = Served::start(results.path(), &[]);
    let games = |query: &str| served.json(&format!("/api/runs/runs%2Fplayed/games?{query}"));
    let total = |query: &str| games(query)["total"].as_u64().unwrap();
    let all = games("");
    assert_eq!((&all["total"], &all["all"]), (&6.into(), &6.into()));
    let numbers = |list: &Value| -> Vec<u64> {
        list["games"].as_array().unwrap().iter().map(|game| game["game"].as_u64().unwrap()).collect()
    };
    let mut found = numbers(&all);
    assert_eq!(numbers(&games("size=4&page=1")), found[4..]);
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3, 4, 5, 6]);
    let player = all["players"][0].as_str().unwrap();
    let by_result = ["win", "draw", "loss"].map(|result| total(&format!("player={player}&result={result}")));
    assert_eq!(by_result.iter().sum::<u64>(), 6);
    let by_end = all["terminations"].as_array().unwrap().iter();
    assert_eq!(by_end.map(|end| total(&format!("termination={}", end.as_str().unwrap()))).sum::<u64>(), 6);
    let opening = all["games"][0]["opening"].as_u64().unwrap();
    assert_eq!(total(&format!("opening={opening}")), 2);
    assert_eq!((total("player=nobody"), total("opening=nothing+of+the+kind"), total("termination=fault")), (0, 0, 0));
    let game = served.json("/api/runs/runs%2Fplayed/games/3");
    let plies = game["plies"].as_array().unwrap();
    let listed = all["games"].as_array().unwrap().iter().find(|listed| listed["game"] == 3).unwrap();
    let own = plies.iter().filter(|ply| ply["is_book"] == false).count();
    assert_eq!((&game["result"], own as u64), (&listed["result"], listed["plies"].as_u64().unwrap()));
    assert!(plies.iter().all(|ply| ply["fen"].as_str().unwrap().split(' ').count() == 6), "{game}");
    let pgn = served.get("/api/runs/runs%2Fplayed/games/3/pgn").body;
    assert!(pgn.contains("[Round \"2.1\"]") && pgn.contains("[Result "), "{pgn}");
    // An archive has the same games.
    let at = |name: &str| results.path().join(name).display().to_string();
    let ran = run(&["archive", &at("runs/played"), "--out", &at("archived")]);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    until("the archive is listed", || served.get("/api/runs/archived").status == 200);
    assert_eq!(served.json("/api/runs/archived/games"), all);
    assert_eq!(served.json("/api/runs/archived/games/3"), game);
    for number in ["0", "7", "99999999999", "x", "-1"] {
        let got = served.get(&format!("/api/runs/runs%2Fplayed/games/{number}"));
        assert!(matches!(got.status, 400 | 404), "{number}: {got:?}");
    }
}

#[test]
fn a_swiss_has_colours_a_cross_table_and_rounds() {
    let results = tempfile::tempdir().unwrap();
    let out = results.path().join("swiss").display().to_string();
    let engines = [1, 2, 3, 4].map(|seed| fake(&format!("--seed {seed}")));
    let mut words: Vec<&str> = vec!["match", "--format", "swiss", "--rounds", "2", "--pairs", "1", "--nodes", "1"];
    words.extend(["--max-plies", "60", "--seed", "3", "-j", "1", "--out", &out]);
    words.extend(engines.iter().map(String::as_str));
    let ran = run(&words);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let more = Served::start(results.path(), &[]).json("/api/runs/swiss/more");
    let table = more["table"].as_array().unwrap();
    assert_eq!((table.len(), &more["block"]), (4, &Value::Null));
    let number = |value: &Value| value.as_f64().unwrap();
    assert!(table.is_sorted_by(|one, next| number(&one["points"]) >= number(&next["points"])), "{table:?}");
    for (place, row) in table.iter().enumerate() {
        assert_eq!((&row["games"], &row["white"], &row["black"]), (&4.into(), &2.into(), &2.into()), "{row}");
        assert_eq!((number(&row["byes"]), &row["met"][place]), (0.0, &Value::Null), "{row}");
        for (other, met) in row["met"].as_array().unwrap().iter().enumerate().filter(|(_, met)| !met.is_null()) {
            let back = &table[other]["met"][place];
            assert!(met[1] == back[1] && (number(&met[0]) + number(&back[0]) - number(&met[1])).abs() < 1e-9);
        }
    }
    let points: f64 = table.iter().map(|row| number(&row["points"])).sum();
    let rounds = more["rounds"].as_array().unwrap();
    let met =
        rounds.iter().flat_map(|round| round["met"].as_array().unwrap()).map(|met| number(&met[1]) + number(&met[3]));
    assert_eq!((points, rounds.len(), met.collect::<Vec<_>>()), (8.0, 2, vec![2.0; 4]), "{more}");
}

#[test]
fn documents_and_files_are_those_of_the_run() {
    let results = played();
    let served = Served::start(results.path(), &[]);
    let get = |what: &str| served.get(&format!("/api/runs/runs%2Fplayed/{what}"));
    let report = get("report");
    assert!(
        report.status == 200 && report.head.contains("content-security-policy: sandbox allow-scripts;"),
        "{}",
        report.head
    );
    assert!(report.body.starts_with("<!DOCTYPE html>") && report.body.contains("<h2>Standings</h2>"));
    assert!(get("report.md").body.starts_with("# "));
    assert!(get("explain").body.contains("pairs"));
    let more = get("more").json();
    assert!(more["block"].as_str().unwrap().contains("Penta | "), "{more}");
    assert_eq!(more["table"], json!([]));
    for name in ["games.jsonl", "games.pgn", "plan.toml", "summary.json"] {
        let got = get(&format!("files/{name}"));
        let kept = std::fs::read_to_string(results.path().join("runs/played").join(name)).unwrap();
        // In chunks, each with its length before it.
        let first = kept.lines().next().unwrap();
        assert!(got.status == 200 && got.body.contains(first), "{name}: {got:?}");
        assert!(got.head.contains(&format!("attachment; filename=\"played-{name}\"")), "{}", got.head);
    }
    for what in [
        "files/stamp",
        "files/..%2Fplan.toml",
        "files/%2Fetc%2Fpasswd",
        "files/report.html",
        "crashes/1/about.txt",
        "crashes/1/..%2Fx",
    ] {
        assert!(matches!(get(what).status, 400 | 404), "{what}");
    }
    // Both sides are programs, so nothing changed between commits.
    let diff = get("diff");
    assert!(diff.status == 404 && diff.json()["error"].as_str().unwrap().contains("not both built from commits"));
}

/// A folder of results may be shared, and a link in it may lead to a private file.
#[cfg(unix)]
#[test]
fn evidence_of_a_failure_behind_a_link_is_not_shown() {
    use std::os::unix::fs::symlink;
    let (results, private) = (played(), tempfile::tempdir().unwrap());
    let crashes = results.path().join("runs/played/crashes");
    for folder in [crashes.join("game-1"), crashes.join("game-2"), private.path().join("game-3")] {
        std::fs::create_dir_all(folder).unwrap();
    }
    std::fs::write(private.path().join("game-3/transcript.txt"), "SECRET").unwrap();
    std::fs::write(crashes.join("game-1/transcript.txt"), "of the run").unwrap();
    symlink(private.path().join("game-3/transcript.txt"), crashes.join("game-2/transcript.txt")).unwrap();
    symlink(private.path().join("game-3"), crashes.join("game-3")).unwrap();
    let served = Served::start(results.path(), &[]);
    let get = |what: &str| served.get(&format!("/api/runs/runs%2Fplayed{what}"));
    let report = get("/report");
    assert!(report.status == 200 && report.body.contains("of the run"), "{report:?}");
    assert!(!report.body.contains("SECRET"), "{report:?}");
    for (game, status) in [(1, 200), (2, 404), (3, 404)] {
        assert_eq!(get(&format!("/crashes/{game}/transcript.txt")).status, status, "{game}");
    }
    let files = [json!(["transcript.txt"]), json!([]), json!([])];
    let listed = get("").json()["crashes"].clone();
    assert_eq!([0, 1, 2].map(|number: usize| listed[number]["files"].clone()), files, "{listed}");
    // The folder of all failed games may be one as well.
    std::fs::remove_dir_all(&crashes).unwrap();
    symlink(private.path(), &crashes).unwrap();
    assert!(!get("/report").body.contains("SECRET"));
    assert_eq!(get("/crashes/3/transcript.txt").status, 404);
}

#[test]
fn a_note_is_kept_and_an_interrupted_run_goes_on() {
    let results = played();
    let served = Served::start(results.path(), &[]);
    let path = "/api/runs/runs%2Fplayed";
    assert_eq!(served.ask("POST", &format!("{path}/notes"), &[]).status, 401);
    assert_eq!(served.send(&format!("{path}/notes"), "looks <b>lucky</b>").status, 200);
    assert_eq!(served.json(path)["notes"], "looks <b>lucky</b>");
    assert_eq!(served.send(&format!("{path}/notes"), &"x".repeat(20_000)).status, 400);
    assert_eq!(served.send(&format!("{path}/notes"), " ").status, 200);
    assert_eq!(served.json(path)["notes"], Value::Null);
    let got = served.send(&format!("{path}/restart"), "");
    assert!(got.status == 409 && got.body.contains("it is over"), "{got:?}");
    cut(&results.path().join("runs/played"), 3);
    let got = served.send(&format!("{path}/restart"), "");
    assert_eq!((got.status, &got.json()["id"]), (200, &1.into()), "{got:?}");
    // Asked again, it is the same entry.
    assert_eq!(served.send(&format!("{path}/restart"), "").json()["id"], 1);
    // No other entry of its priority comes before it.
    assert_eq!(served.add(&words(&[])).status, 200);
    let got = served.send("/api/queue/2/move?before=1", "");
    assert!(got.status == 409 && got.body.contains("the run of entry 1 has begun"), "{got:?}");
    assert_eq!(served.send("/api/queue/2/up", "").json(), json!({ "id": 2, "after": 1 }));
    assert_eq!(served.send("/api/queue/2/rm", "").json(), json!({ "id": 2, "after": null }));
    let queue = run(&["queue", "--results", &results.path().display().to_string(), "run", "--until-empty"]);
    assert_eq!(queue.code, Some(0), "{queue:?}");
    // What happened is told after the end too.
    until("its lines", || {
        let lines = served.json(path)["lines"].clone();
        lines.as_array().is_some_and(|lines| lines.iter().any(|line| line == "resuming after 1 pair"))
    });
    let list = served.json("/api/queue");
    assert_eq!((&list["entries"][0]["state"], &list["entries"][0]["runs"]), (&"done".into(), &json!(["runs/played"])));
    assert_eq!(summary(&results.path().join("runs/played"))["pairs"], 3);
    // A run that somebody else wrote starts nothing.
    let plan = results.path().join("runs/played/plan.toml");
    let text = std::fs::read_to_string(&plan).unwrap();
    std::fs::write(&plan, format!("{text}# changed\n")).unwrap();
    served.send("/api/queue/1/rm", "");
    let got = served.send(&format!("{path}/restart"), "");
    assert!(got.status == 409 && got.body.contains("not written by you"), "{got:?}");
}

#[test]
fn a_link_of_a_private_page_opens_its_run_and_nothing_else() {
    let results = played();
    let served = Served::start(results.path(), &["--listen", "0.0.0.0:0", "--token", "Aa0123456789-._x"]);
    let path = "/api/runs/runs%2Fplayed";
    let told = served.ask("GET", path, &[&served.token_line()]).json();
    let key = told["key"].as_str().unwrap();
    for (link, status) in [
        (format!("{path}/files/plan.toml?key={key}"), 200),
        (format!("{path}/files/plan.toml?key={}", key.replace(&key[..1], "g")), 401),
        (format!("{path}/files/plan.toml"), 401),
        (format!("/api/runs?key={key}"), 401),
        (format!("/api/queue?key={key}"), 401),
    ] {
        assert_eq!(served.get(&link).status, status, "{link}");
    }
    assert_eq!(served.ask("POST", &format!("{path}/notes?key={key}"), &[]).status, 401);
}

/// Leaves the header and `games` games of a journal, as a power failure would.
pub(crate) fn cut(dir: &Path, games: usize) {
    std::fs::remove_file(dir.join("summary.json")).unwrap();
    let journal = dir.join("games.jsonl");
    let text = std::fs::read_to_string(&journal).unwrap();
    let kept: String = text.lines().take(games + 1).map(|line| format!("{line}\n")).collect();
    std::fs::write(&journal, kept).unwrap();
}

/// The index reads what is new or changed and nothing else; a page holds a page, however many runs
/// are stored.
#[test]
fn ten_thousand_runs_are_listed() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..10_000 {
        let name = format!("player {number}");
        store(&folder.path().join(format!("runs/r{number:05}")), &[&name, "base"], &json!({ "elo": number }));
    }
    let served = Served::start(folder.path(), &[]);
    let first = served.json("/api/runs?sort=elo");
    assert_eq!((&first["total"], &first["files_read"], &first["looks"]), (&10_000.into(), &10_000.into(), &1.into()));
    assert_eq!(first["runs"].as_array().unwrap().len(), 50);
    assert_eq!(first["runs"][0]["id"], "runs/r09999");
    // At its own pace it looks again.
    let looked = |at_least: u64| {
        let mut list = Value::Null;
        until("another look", || {
            list = served.json("/api/runs?sort=elo&q=player+42&size=1000");
            list["looks"].as_u64().unwrap() >= at_least
        });
        list
    };
    let second = looked(2);
    assert_eq!((&second["files_read"], &second["total"]), (&10_000.into(), &111.into()));
    assert_eq!(second["runs"].as_array().unwrap().len(), 111);
    store(&folder.path().join("runs/r00042"), &["player 42", "base"], &json!({ "elo": 99_999 }));
    let third = looked(second["looks"].as_u64().unwrap() + 1);
    assert_eq!((&third["files_read"], &third["runs"][0]["id"]), (&10_001.into(), &"runs/r00042".into()));
    #[cfg(target_os = "linux")]
    {
        let status = std::fs::read_to_string(format!("/proc/{}/status", served.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
        assert!(peak < 200_000, "{peak} kB of memory");
    }
}
