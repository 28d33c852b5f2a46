//! The curve of versions, races and bisections: from stored games, and by playing them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::harness::{FAKE, Gate, Ran, fake, games, git, journal_lines, quintain, run, summary, until};

/// Games of `a` against `b`, a pair for each of `points`: half points of `a` with White and with
/// Black.
fn pairs(a: &str, b: &str, date: &str, first_round: usize, points: &[(u8, u8)]) -> String {
    let token = |half: u8| ["0-1", "1/2-1/2", "1-0"][usize::from(half)];
    let game = |white: &str, black: &str, round: usize, result: &str| {
        format!(
            "[Event \"e\"]\n[Date \"{date}\"]\n[Round \"{round}\"]\n[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n\n{result}\n\n"
        )
    };
    points
        .iter()
        .enumerate()
        .map(|(place, (first, second))| {
            let round = first_round + place;
            game(a, b, round, token(*first)) + &game(b, a, round, token(2 - *second))
        })
        .collect()
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

/// Three versions and a sparring partner: the second is no better, the third loses most of its
/// games.
fn stored() -> String {
    let level = [(1, 1), (2, 0), (1, 1), (2, 1), (1, 0)].repeat(8);
    let weak = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 0)].repeat(8);
    [
        pairs("v2", "v1", "2026.02.01", 1, &level),
        pairs("v3", "v2", "2026.03.01", 101, &weak),
        pairs("v1", "Rival", "2026.01.01", 201, &level),
    ]
    .concat()
}

#[test]
fn a_drop_is_told_from_stored_games() {
    let folder = tempfile::tempdir().unwrap();
    let [pgn, svg, html, csv, own] =
        ["g.pgn", "e.svg", "e.html", "e.csv", "e.json"].map(|name| folder.path().join(name).display().to_string());
    std::fs::write(&pgn, stored()).unwrap();
    let common = ["progress", &pgn, "--sparring", "Rival"];
    let ran = run(&[&common[..], &["--json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let document = json(&ran);
    let names: Vec<_> = document["versions"].as_array().unwrap().iter().map(|v| v["version"].clone()).collect();
    assert_eq!(names, ["v1", "v2", "v3"]);
    assert_eq!((&document["anchor"], document["versions"][0]["elo"].as_f64()), (&"v1".into(), Some(0.0)));
    assert_eq!(document["versions"][2]["date"], "2026-03-01");
    assert_eq!((&document["steps"][0]["mark"], &document["steps"][1]["mark"]), (&"open".into(), &"drop".into()));
    assert_eq!(document["sparring"][0]["name"], "Rival");
    for (path, head) in [(&svg, "<svg"), (&html, "<!doctype html>"), (&csv, "version,commit,date,elo"), (&own, "{")] {
        let ran = run(&[&common[..], &["--out", path]].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.stdout.contains("DROP: v3 lost"), "{}", ran.stdout);
        assert!(std::fs::read_to_string(path).unwrap().starts_with(head), "{path}");
    }
    assert_eq!(std::fs::read_to_string(&own).unwrap(), run(&[&common[..], &["--json"]].concat()).stdout);
}

#[test]
fn what_is_no_curve_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let pgn = folder.path().join("g.pgn").display().to_string();
    std::fs::write(&pgn, stored()).unwrap();
    let cases: &[(&[&str], &str)] = &[
        (&["progress"], "no finished games of any version"),
        (&["progress", &pgn, "--sparring", "Nobody"], "--sparring `Nobody`: no such player"),
        (&["progress", &pgn, "--out", "elo.txt"], "a name that ends in"),
        #[cfg(not(feature = "png"))]
        (&["progress", &pgn, "--out", "elo.png"], "build it with `--features png`"),
        (&["progress", &pgn, "--alpha", "1"], "--alpha 1: give a probability"),
        (&["progress", &pgn, "--order", "size"], "--order `size`: give commit or date"),
        (&["progress", "missing.pgn"], "missing.pgn: cannot open it"),
        // Flags of games to be played, of which there are none.
        (&["progress", &pgn, "--tc", "8+0.08"], "--revs <A..B>"),
        (&["progress", &pgn, "--pairs", "7"], "--revs <A..B>"),
        (&["progress", &pgn, "--name", "x"], "--revs <A..B>"),
        (&["progress", &pgn, "--note", "x"], "--revs <A..B>"),
        // Nonsense is refused before anything is looked up or built.
        (&["progress", "--revs", "main", "--nodes", "1"], "--revs `main`: write OLD..NEW"),
        (&["progress", "--revs", "a..b", "--tc", "soon"], "`soon` is not a time control"),
        (&["progress", "--revs", "a..b", "--resign", "never"], "never"),
        (&["progress", "--revs", "a..b", "--book", "none.epd"], "none.epd"),
        (&["progress", "--revs", "a..b", "--affinity=x"], "--affinity"),
        (&["progress", "--revs", "a..b", "--affinity", "65535"], "this process may not use CPU 65535"),
        (&["progress", "--revs", "a..b", "--limit", "0"], "--limit 0 plays nothing"),
        (&["progress", "--revs", "a..b", "--until-width", "5"], "--width sets the precision"),
        (&["progress", "--revs", "a..b", "--name", "x"], "--runs says where they are kept"),
        (&["progress", "--revs", "a..b", "--nodes", "1", "--vs", "no-such-engine"], "--vs `no-such-engine`"),
        (
            &["progress", &pgn, "--revs", "a..b", "--nodes", "5"],
            "--revs would play at `nodes=5`, and there are 240 games",
        ),
    ];
    for (args, expected) in cases {
        let ran: Ran = quintain(args).current_dir(folder.path()).output().unwrap().into();
        assert_eq!(ran.code, Some(2), "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn games_count_once_and_conditions_are_not_mixed_without_a_word() {
    let folder = tempfile::tempdir().unwrap();
    let [slow, fast] = ["slow.pgn", "fast.pgn"].map(|name| folder.path().join(name).display().to_string());
    let at = |clock: &str| stored().replace("[Round ", &format!("[TimeControl \"{clock}\"]\n[Round "));
    std::fs::write(&slow, at("8+0.08")).unwrap();
    std::fs::write(&fast, at("1+0.01")).unwrap();
    let curve = |inputs: &[&str]| {
        let ran = run(&[&["progress", "--sparring", "Rival", "--json"], inputs].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        json(&ran)
    };
    let (once, twice) = (curve(&[&slow]), curve(&[&slow, &slow]));
    assert_eq!((&twice["steps"], &twice["games"]), (&once["steps"], &240.into()));
    assert_eq!((&twice["given_again"], &once["given_again"]), (&240.into(), &0.into()));
    let ran = run(&["progress", &slow, &fast, "--sparring", "Rival"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (Some(2), ""), "{ran:?}");
    let listed = "2 conditions: 240 games at `1+0.01`, 240 games at `8+0.08`; give --at with one of them, or --mix";
    assert!(ran.stderr.contains(listed), "{}", ran.stderr);
    std::fs::write(&fast, at("1+0.01").lines().take(20).collect::<Vec<_>>().join("\n")).unwrap();
    let listed = run(&["progress", "--conditions", "--json", &fast, &slow]);
    let listed: Value = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed[0], serde_json::json!({ "condition": "8+0.08", "games": 240 }));
    assert_eq!(listed[1]["condition"], "1+0.01");
    let lines = run(&["progress", "--conditions", &slow]).stdout;
    assert_eq!(lines.trim(), "240 games  8+0.08");
    std::fs::write(&fast, at("1+0.01")).unwrap();
    let one = curve(&[&slow, &fast, "--at", "8+0.08"]);
    assert_eq!((&one["steps"], &one["conditions"]), (&once["steps"], &serde_json::json!(["8+0.08"])));
    let mixed = curve(&[&slow, &fast, "--mix"]);
    assert_eq!((&mixed["games"], &mixed["conditions"]), (&480.into(), &serde_json::json!(["1+0.01", "8+0.08"])));
}

/// Scripted peers that resign the more, the weaker they are, play fast games from the same
/// openings.
const FAST: &str = "--nodes 1 --max-plies 24 --resign count=1,score=900 --seed 5 -j 3";

fn race_args(out: &Path, more: &str) -> Vec<String> {
    let [base, weak, strong] = [("base", 30), ("weak", 90), ("strong", 0)]
        .map(|(name, percent)| fake(&format!("--name {name} --seed {percent} --resigns {percent}")));
    let out = out.display().to_string();
    let mut args = ["race", &weak, &strong, "--base", &base, "--out", &out].map(str::to_owned).to_vec();
    args.extend(format!("{FAST} --step 4 {more}").split_whitespace().map(str::to_owned));
    args
}

#[test]
fn a_race_drops_the_weak_take_and_ends_with_the_strong_one() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("race");
    let ran = run(&race_args(&out, "--pairs 400"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.stdout.contains("wins the race"), "{}", ran.stdout);
    let document = summary(&out);
    let race = &document["race"];
    let [weak, strong] = [0, 1].map(|take| &race["takes"][take]);
    assert_eq!((&race["winner"], &document["format"]), (&strong["name"], &"race".into()));
    assert!(document["outcome"].as_str().is_some_and(|outcome| ran.stdout.starts_with(outcome)), "{}", ran.stdout);
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    let better = format!("<td>stronger than {}</td>", document["players"][0]["name"].as_str().unwrap());
    assert!(page.contains(&better) && page.contains("(the verdicts hold together"), "{better}");
    assert!(strong["is_better"] == true && strong["dropped_by"].is_null(), "{race}");
    assert!(weak["dropped_after"].as_u64().unwrap() < strong["pairs"].as_u64().unwrap(), "{race}");
    assert!(strong["pairs"].as_u64().unwrap() < 400, "{race}");

    // A run that was cut off comes to the same games and the same end.
    let journal = std::fs::read_to_string(out.join("games.jsonl")).unwrap();
    let lines: Vec<&str> = journal.split_inclusive('\n').collect();
    for kept in [1, 10, lines.len() / 2] {
        let broken = folder.path().join(format!("broken-{kept}"));
        std::fs::create_dir_all(broken.join("stderr")).unwrap();
        for name in ["plan.toml", "stamp"] {
            std::fs::copy(out.join(name), broken.join(name)).unwrap();
        }
        std::fs::write(broken.join("games.jsonl"), lines[..kept].concat()).unwrap();
        let ran = run(&["resume", &broken.display().to_string()]);
        assert_eq!(ran.code, Some(0), "{kept}: {ran:?}");
        assert_eq!(games(&broken), games(&out), "{kept}");
        assert_eq!(summary(&broken)["race"], *race, "{kept}");
    }
}

#[test]
fn a_race_of_equally_good_takes_ends_if_told_what_is_close() {
    let folder = tempfile::tempdir().unwrap();
    let [base, one, two] = [("base", 60, 1), ("one", 0, 2), ("two", 0, 3)]
        .map(|(name, percent, seed)| fake(&format!("--name {name} --seed {seed} --resigns {percent}")));
    let race = |name: &str, more: &str| {
        let out = folder.path().join(name);
        let mut args = ["race", &one, &two, "--base", &base, "--out"].map(str::to_owned).to_vec();
        args.push(out.display().to_string());
        args.extend(format!("{FAST} --step 4 --pairs 120 {more}").split_whitespace().map(str::to_owned));
        let ran = run(&args);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        (ran, summary(&out)["race"].clone(), std::fs::read_to_string(out.join("plan.toml")).unwrap())
    };
    let (ran, far, plan) = race("far", "");
    assert!(far["winner"].is_null() && far["takes"][0]["pairs"] == 120, "{far}");
    assert!(ran.stdout.contains("undecided") && !plan.contains("close"), "{}", ran.stdout);
    assert!(ran.stderr.contains("two equally good candidates are never told apart (--close "), "{}", ran.stderr);
    let (ran, near, plan) = race("near", "--close 200");
    assert!(near["winner"].is_string() && near["close"] == 200.0, "{near}");
    assert!(near["takes"][0]["pairs"].as_u64().unwrap() < 120 && plan.contains("close = 200.0"), "{near}");
    assert!(ran.stdout.contains("no other candidate that is left is stronger than it by 200 Elo"), "{}", ran.stdout);
    assert!(ran.stderr.contains("to settle two equally good ones takes about "), "{}", ran.stderr);
}

#[test]
fn a_race_that_cannot_be_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for (more, expected) in [
        ("--alpha 0", "--alpha 0: give a probability"),
        ("--gain 2000", "--gain 2000: Elo from"),
        ("--close -1", "--close -1: Elo from 0"),
        ("--close nan", "--close NaN: Elo from 0"),
        ("--step 0", "error"),
        ("--pairs 0", "--pairs 0 plays nothing"),
    ] {
        let ran = run(&race_args(&folder.path().join("race"), more));
        assert_eq!(ran.code, Some(2), "{more}: {ran:?}");
        assert!(ran.stderr.contains(expected), "{more}: {}", ran.stderr);
    }
}

/// A repository of a toy engine whose strength depends on the commit, and a cache of its own.
struct Toy {
    folder: tempfile::TempDir,
}

impl Toy {
    /// A commit for each share of games that the engine gives up, in percent, or [`DEAD`]; `None`
    /// for one that does not build.
    fn new(strengths: &[Option<u32>]) -> Self {
        Self::in_folder(tempfile::tempdir().unwrap(), strengths, "")
    }

    /// The engine has these words on its command line besides.
    fn in_folder(folder: tempfile::TempDir, strengths: &[Option<u32>], words: &str) -> Self {
        let toy = Self { folder };
        std::fs::create_dir_all(toy.repository().join("engine")).unwrap();
        toy.git(&["init", "--quiet", "--initial-branch=main"]);
        let recipe = "[build]\ncommand = 'test ! -f engine/broken && cp engine/main.sh engine.bin && chmod +x engine.bin'\n\
                      binary = 'engine.bin'\nsources = ['engine']\n";
        toy.write("quintain.toml", recipe);
        for (number, strength) in strengths.iter().enumerate() {
            let broken = toy.repository().join("engine/broken");
            match strength {
                Some(percent) => {
                    let _ = std::fs::remove_file(broken);
                    toy.write("engine/main.sh", &script(*percent, number, words));
                }
                None => toy.write("engine/broken", "no engine"),
            }
            toy.commit(&format!("Number {number}"));
            // And one that is none of the engine's.
            toy.write("README", &format!("after {number}"));
            toy.commit("Explain");
        }
        toy
    }

    fn repository(&self) -> PathBuf {
        self.folder.path().join("repository")
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.repository().join(path), text).unwrap();
    }

    fn git(&self, args: &[&str]) -> String {
        git(&self.repository(), args)
    }

    fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "-m", message]);
    }

    /// The commit with this message.
    fn id(&self, number: usize) -> String {
        self.git(&["log", "--format=%H", "--grep", &format!("^Number {number}$")])
    }

    fn command(&self, args: &[&str]) -> Command {
        let args: Vec<&str> = args.iter().copied().chain(FAST.split_whitespace()).collect();
        let mut command = quintain(&args);
        command.current_dir(self.repository()).env("QUINTAIN_CACHE", self.folder.path().join("cache"));
        command
    }

    #[track_caller]
    fn run(&self, code: i32, args: &[&str]) -> Ran {
        let ran: Ran = self.command(args).output().unwrap().into();
        assert_eq!(ran.code, Some(code), "{args:?}: {ran:?}");
        ran
    }
}

/// Directories of the matches of a series, in the order of their start.
fn matches(series: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(series.join("matches")).into_iter().flatten();
    let mut found: Vec<_> = entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect();
    found.sort();
    found
}

/// In the place of a share, a commit that builds but does not start.
const DEAD: u32 = 101;

fn script(percent: u32, number: usize, words: &str) -> String {
    let fault = if percent == DEAD { "--fault exit-at-start" } else { words };
    format!(
        "#!/bin/sh\n# {number}\n[ \"$1\" = bench ] && echo '{number} nodes 1 nps' && exit\nexec '{FAKE}' --seed {number} --resigns {percent} {fault}\n"
    )
}

#[test]
fn a_bisection_ends_with_the_commit_that_lost() {
    let toy = Toy::new(&[Some(5), Some(5), None, Some(5), Some(5), Some(70), Some(70), Some(70)]);
    let out = toy.folder.path().join("search").display().to_string();
    let [good, bad] = [toy.id(0), toy.id(7)];
    let heard = toy.folder.path().join("heard.json");
    let hear = format!("cat > '{}'; echo $QUINTAIN_NAME $QUINTAIN_EXIT >> '{}'", heard.display(), heard.display());
    let args = ["bisect", &good, &bad, "--out", &out, "--pairs", "8", "--json", "--on-end", &hear];
    // Broken off before the change is shown, it goes on with what there is.
    let begun = toy.run(3, &[&args[..], &["--limit", "8"]].concat());
    let begun = json(&begun);
    assert_eq!((&begun["reason"], &begun["pairs"]), (&"no-change".into(), &8.into()));
    let told = std::fs::read_to_string(&heard).unwrap();
    let (document, name) = told.split_at(told.rfind('}').unwrap() + 1);
    let document: Value = serde_json::from_str(document).unwrap();
    assert_eq!((&document["reason"], &document["exit"]), (&begun["reason"], &3.into()), "{told}");
    assert_eq!((document["run"].as_str(), name.trim()), (Some(out.as_str()), "bisect 3"), "{told}");
    let found = json(&toy.run(0, &args));
    assert_eq!(found["found"]["commits"], serde_json::json!([toy.id(5)]), "{found}");
    assert!(found["found"]["probability"].as_f64().unwrap() >= 0.95);
    assert!(found["change"].as_f64().unwrap() < -50.0, "{found}");
    let commits = found["commits"].as_array().unwrap();
    assert_eq!(commits.len(), 8, "only commits that touch the engine: {found}");
    let total: f64 = commits.iter().map(|commit| commit["probability"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9);
    // Asked again, it plays nothing more.
    let again = json(&toy.run(0, &args));
    assert_eq!(again, found);
    // Nor does it show that result for other limits.
    let faulty = toy.run(2, &[&args[..], &["--draw", "move=34,count=8,score=20"]].concat());
    assert!(faulty.stderr.contains("its matches have other limits, options or rules"), "{faulty:?}");
    // The games of that search count in another one too.
    let runs: Vec<String> = matches(Path::new(&out)).iter().map(|path| path.display().to_string()).collect();
    let other = toy.folder.path().join("other").display().to_string();
    let mut args = vec!["bisect", &good, &bad, "--out", &other, "--json"];
    args.extend(runs.iter().flat_map(|run| ["--reuse", run.as_str()]));
    assert_eq!(json(&toy.run(0, &args))["found"], found["found"]);
    assert!(std::fs::read_dir(Path::new(&other).join("matches")).unwrap().next().is_none());
}

/// Kills a series within its first match and starts it again. Its result and its games are those of
/// one that was never stopped. Its `words` end with the flag that names its directory.
#[cfg(target_os = "linux")]
#[track_caller]
fn check_goes_on(strengths: &[Option<u32>], words: impl Fn(&Toy) -> String) {
    let folder = tempfile::tempdir().unwrap();
    // Each of three slots plays a pair, and holds in its next.
    let gate = Gate::new(folder.path(), 3);
    let toy = Toy::in_folder(folder, strengths, &gate.words());
    let [killed, whole] = ["killed", "whole"].map(|name| toy.folder.path().join(name));
    let words = words(&toy);
    let into = |series: &'static str| words.split_whitespace().chain([series]).collect::<Vec<_>>();
    let mut child = toy.command(&into("../killed")).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    until("three pairs", || {
        assert!(child.try_wait().unwrap().is_none(), "{words}: it ended by itself");
        matches(&killed).first().is_some_and(|first| journal_lines(first) == 7)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    gate.open();
    let results = ["../killed", "../whole"].map(|series| json(&toy.run(0, &into(series))));
    assert_eq!(results[0], results[1], "{words}");
    let of_all = |series: &Path| matches(series).iter().map(|run| games(run)).collect::<Vec<_>>();
    assert_eq!(of_all(&killed), of_all(&whole), "{words}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_killed_series_goes_on_within_its_match() {
    let common = "--pairs 8 --json --stall-timeout 3600";
    check_goes_on(&[Some(5), Some(70), Some(70)], |toy| format!("bisect {} {} {common} --out", toy.id(0), toy.id(2)));
    check_goes_on(&[Some(5), Some(70)], |toy| {
        format!("progress --revs {}..{} {common} --width 5000 --runs", toy.id(0), toy.id(1))
    });
}

#[test]
fn a_series_takes_no_opening_again_whatever_its_book_start() {
    let toy = Toy::new(&[Some(5), Some(5)]);
    let out = toy.folder.path().join("series");
    let range = format!("{}..{}", toy.id(0), toy.id(1));
    let series = out.display().to_string();
    let common = ["progress", "--revs", &range, "--runs", &series, "--pairs", "4", "--limit", "4", "--width", "1"];
    for start in [&["--book-start", "3"][..], &[], &["--book-start", "5"]] {
        toy.run(0, &[&common[..], &["--book-order", "sequential"], start].concat());
    }
    let openings = |run: &PathBuf| games(run).iter().map(|game| game.opening.0).collect::<BTreeSet<_>>();
    let taken: Vec<_> = matches(&out).iter().map(openings).collect();
    assert_eq!(taken, [2..6, 6..10, 10..14].map(BTreeSet::from_iter));
}

#[test]
fn a_bisection_tells_commits_apart_only_where_they_build() {
    let toy = Toy::new(&[Some(5), None, Some(80), Some(80)]);
    let out = toy.folder.path().join("search").display().to_string();
    let ran = toy.run(0, &["bisect", &toy.id(0), &toy.id(3), "--out", &out, "--pairs", "8"]);
    assert!(ran.stdout.starts_with("one of ") && ran.stdout.contains("skipped: cannot build"), "{}", ran.stdout);
    assert!(ran.stderr.contains("is skipped"), "{}", ran.stderr);
    for (args, expected) in [
        (vec!["bisect", "main~1", "main~1"], "are one commit"),
        (vec!["bisect", "main~1", "main"], "no commit after `main~1` up to `main` touches the engine's sources"),
        (vec!["progress", "--revs", "main~1..main"], "no commit after `main~1` up to `main` touches the engine's"),
        (vec!["bisect", "main", "main~3"], "does not come before"),
        (vec!["bisect", "nowhere", "main"], "no commit, branch or tag `nowhere`"),
        (vec!["bisect", "main~3", "main", "--confidence", "1"], "--confidence 1"),
    ] {
        let ran = toy.run(2, &args);
        assert!(ran.stderr.contains(expected), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn a_bisection_blames_the_commit_that_does_not_start() {
    for (strengths, code, says) in [(&[DEAD, 5, 80][..], 2, "cannot be played"), (&[5, DEAD, 80, 80], 0, "is skipped")]
    {
        let toy = Toy::new(&strengths.iter().copied().map(Some).collect::<Vec<_>>());
        let out = toy.folder.path().join("search").display().to_string();
        let [good, bad] = [toy.id(0), toy.id(strengths.len() - 1)];
        let dead = toy.id(strengths.iter().position(|strength| *strength == DEAD).unwrap());
        let ran = toy.run(code, &["bisect", &good, &bad, "--out", &out, "--pairs", "8"]);
        let line = ran.stderr.lines().find(|line| line.contains(says)).unwrap_or_else(|| panic!("{says}: {ran:?}"));
        assert!(line.contains(&dead[..7]) && !line.contains(&bad[..7]), "{line}");
    }
}

#[test]
fn a_bisection_between_equal_programs_plays_nothing() {
    let toy = crate::source::Toy::bare();
    toy.write("Makefile", "engine: main.sh notes\n\tcp main.sh $(EXE) && chmod +x $(EXE)\n");
    toy.write("main.sh", &script(5, 1, ""));
    toy.write("notes", "one");
    let good = toy.commit("One");
    toy.write("notes", "two");
    let bad = toy.commit("Two");
    let args = ["bisect", &good, &bad, "--nodes", "1", "--out", "search"];
    let mut command = quintain(&args);
    command.current_dir(&toy.context.cwd).env("QUINTAIN_CACHE", &toy.context.cache);
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.stderr.contains("build the same program; there is nothing to search"), "{ran:?}");
    let matches = toy.context.cwd.join("search/matches");
    assert!(std::fs::read_dir(matches).unwrap().next().is_none());
}

/// Returns a repository with a commit for each share, and its commits. Equal shares in a row make
/// equal programs.
fn with_programs(percents: &[u32]) -> (crate::source::Toy, Vec<String>) {
    let toy = crate::source::Toy::bare();
    toy.write("Makefile", "engine: main.sh notes\n\tcp main.sh $(EXE) && chmod +x $(EXE)\n");
    let commit = |(&percent, number): (&u32, usize)| {
        toy.write("main.sh", &script(percent, percent as usize, ""));
        toy.write("notes", &number.to_string());
        toy.commit(&format!("Number {number}"))
    };
    let commits = percents.iter().zip(0..).map(commit).collect();
    (toy, commits)
}

/// Searches between the first and the last commit of [`with_programs`].
#[track_caller]
fn search(code: i32, toy: &crate::source::Toy, commits: &[String], more: &[&str]) -> Ran {
    let args = ["bisect", &commits[0], &commits[commits.len() - 1], "--pairs", "8", "--out", "search"];
    let args: Vec<&str> = args.into_iter().chain(FAST.split_whitespace()).chain(more.iter().copied()).collect();
    let mut command = quintain(&args);
    command.current_dir(&toy.context.cwd).env("QUINTAIN_CACHE", &toy.context.cache);
    let ran: Ran = command.output().unwrap().into();
    assert_eq!(ran.code, Some(code), "{ran:?}");
    ran
}

/// Commits between the ends that change no program are not played, and the change is not among
/// them.
#[test]
fn a_bisection_plays_no_commit_with_the_program_of_an_end() {
    let (toy, commits) = with_programs(&[5, 5, 5, 80, 80]);
    let ran = search(0, &toy, &commits, &["--json"]);
    let found = json(&ran);
    assert_eq!(found["found"]["commits"], serde_json::json!([commits[3]]), "{found}");
    assert_eq!(found["found"]["probability"], 1.0, "{found}");
    let rows = found["commits"].as_array().unwrap();
    // The first choice is the commit in the middle.
    assert_eq!((rows[2]["same_as"].as_str(), rows[2]["probability"].as_f64()), (Some(commits[0].as_str()), Some(0.0)));
    assert_eq!((rows[3]["same_as"].as_str(), &rows[1]["same_as"]), (Some(commits[4].as_str()), &Value::Null));
    assert!(rows[..4].iter().all(|row| row["pairs"] == 0), "{found}");
    assert!(ran.stderr.contains(": the change is not between them"), "{ran:?}");
    // Asked again with a limit that is reached, it knows the programs from its first session.
    let pairs = found["pairs"].to_string();
    assert_eq!(json(&search(0, &toy, &commits, &["--json", "--limit", &pairs])), found);
    let text = search(0, &toy, &commits, &[]);
    assert!(text.stdout.contains(&format!("the program of {}", &commits[0][..8])), "{}", text.stdout);
    std::fs::write(toy.context.cwd.join("search/programs.json"), [0xff]).unwrap();
    let ran = search(2, &toy, &commits, &[]);
    assert!(ran.stderr.contains("programs.json: not a list of programs; remove it"), "{ran:?}");
}

/// Two commits of one program that does not start are skipped, and the search ends without telling
/// them apart.
#[test]
fn a_bisection_skips_each_commit_of_a_program_that_does_not_start() {
    let (toy, commits) = with_programs(&[5, DEAD, DEAD, 80]);
    let found = json(&search(0, &toy, &commits, &["--json"]));
    assert_eq!(found["found"]["commits"], serde_json::json!(commits[1..]), "{found}");
    assert!((1..3).all(|commit| found["commits"][commit]["skipped"].is_string()), "{found}");
}

#[test]
fn commits_of_one_program_are_one_version() {
    let toy = Toy::new(&[Some(10), Some(80)]);
    toy.write("engine/notes", "which are not built in");
    toy.commit("Number 2");
    // Nor is a commit of its own that touches no source.
    toy.write("README", "at last");
    toy.commit("Explain");
    let runs = toy.folder.path().join("curve").display().to_string();
    let range = format!("{}..main", toy.id(0));
    let ran = toy.run(0, &["progress", "--revs", &range, "--runs", &runs, "--pairs", "8", "--limit", "16", "--json"]);
    assert!(ran.stderr.contains("3 versions; games in "), "{}", ran.stderr);
    let skipped = format!("{} is skipped: it builds the same program as {}", &toy.id(2)[..8], &toy.id(1)[..8]);
    assert!(ran.stderr.contains(&skipped), "{skipped}: {}", ran.stderr);
    let curve = json(&ran);
    let ids: Vec<_> = curve["versions"].as_array().unwrap().iter().map(|v| v["commit"].clone()).collect();
    assert_eq!(ids, [0, 1].map(|number| toy.id(number)), "{curve}");
    // A run between them is not hidden, but its step is no change.
    let games = toy.folder.path().join("games").display().to_string();
    let specs = [0, 1, 2].map(|number| format!("git:{}", toy.id(number)));
    toy.run(0, &["match", &specs[0], &specs[1], &specs[2], "--pairs", "2", "--out", &games]);
    let ran: Ran = quintain(&["progress", &games]).current_dir(toy.repository()).output().unwrap().into();
    let one = format!("warning: {} and {} are one program with the same options", &toy.id(1)[..8], &toy.id(2)[..8]);
    assert!(ran.code == Some(0) && ran.stderr.contains(&one), "{one}: {ran:?}");
    assert_eq!(ran.stderr.matches("are one program").count(), 1, "{ran:?}");
}

#[test]
fn missing_versions_are_built_and_played() {
    let toy = Toy::new(&[Some(10), Some(10), None, Some(80), Some(80)]);
    let runs = toy.folder.path().join("curve").display().to_string();
    let svg = toy.folder.path().join("elo.svg").display().to_string();
    let partner = fake("--name partner --seed 77 --resigns 30");
    let range = format!("{}..{}", toy.id(0), toy.id(4));
    let args = [
        "progress", "--revs", &range, "--runs", &runs, "--vs", &partner, "--pairs", "8", "--limit", "160", "--json",
        "--out", &svg,
    ];
    let heard = toy.folder.path().join("heard");
    let command = format!("cat > '{0}'; echo \" $QUINTAIN_NAME $QUINTAIN_EXIT\" >> '{0}'", heard.display());
    let ran = toy.run(0, &[&args[..], &["--on-end", &command, "--narrow"]].concat());
    let curve = json(&ran);
    // The end is told, with the curve.
    let told = std::fs::read_to_string(&heard).unwrap();
    let (document, variables) = told.rsplit_once('}').unwrap();
    assert_eq!(variables.trim(), "progress 0");
    let document: Value = serde_json::from_str(&format!("{document}}}")).unwrap();
    assert_eq!((&document["versions"], &document["exit"]), (&curve["versions"], &0.into()));
    let ids: Vec<_> = curve["versions"].as_array().unwrap().iter().map(|v| v["commit"].clone()).collect();
    assert_eq!(ids, [0, 1, 3, 4].map(|number| toy.id(number)), "{curve}");
    assert_eq!(curve["versions"][0]["subject"], "Number 0");
    assert!(ran.stderr.contains("is skipped: cannot build"), "{}", ran.stderr);
    let marks: Vec<_> = curve["steps"].as_array().unwrap().iter().map(|step| step["mark"].clone()).collect();
    assert_eq!(marks, ["open", "drop", "open"], "{curve}");
    assert_eq!(curve["sparring"].as_array().unwrap().len(), 1, "{curve}");
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.starts_with("<svg") && picture.contains("width=\"360\""));
    // Wide enough is wide enough: nothing more is played, and what is stored gives the same curve.
    let again = json(&toy.run(0, &[&args[..], &["--width", "5000"]].concat()));
    assert_eq!(again["versions"], curve["versions"]);
    // A partner that does not start costs no version its place.
    let dead = fake("--name absent --fault exit-at-start");
    let ran = toy.run(2, &["progress", "--revs", &range, "--runs", &format!("{runs}-dead"), "--vs", &dead]);
    assert!(ran.stderr.contains("absent") || ran.stderr.contains("fake_engine"), "{}", ran.stderr);
    for number in [0, 1, 3, 4] {
        assert!(!ran.stderr.contains(&format!("{} is skipped", &toy.id(number)[..7])), "{}", ran.stderr);
    }
    for (words, expected) in
        [(["--revs", "main"], "write OLD..NEW"), (["--revs", "main..nowhere"], "no commit, branch or tag `nowhere`")]
    {
        let ran = toy.run(2, &[&["progress"], &words[..]].concat());
        assert!(ran.stderr.contains(expected), "{words:?}: {}", ran.stderr);
    }
}
