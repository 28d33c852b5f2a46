//! `quintain queue`: entries of scripted peers, played by daemons that are killed, overtaken and
//! stopped.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use serde_json::Value;

use crate::harness::{
    FAKE, Gate, Ran, check_same_games, fake, hears, heeding_signals, journal_lines, quintain, run, sprt, summary, until,
};
use crate::serve_work::cut;
use crate::source::Toy;

/// A folder of results, and peers that wait for a gate.
struct Queued {
    folder: tempfile::TempDir,
    gate: Gate,
}

/// A daemon, killed should its test fail.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const SETTINGS: &str = "--nodes 1 --max-plies 30 --seed 11 -j 1";

impl Queued {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let gate = Gate::new(folder.path(), 2);
        Self { folder, gate }
    }

    /// A queue with one entry, whose peers wait for the gate.
    fn with_held() -> Self {
        let queued = Self::new();
        let [new, base] = queued.held();
        queued.add("", &new, &base, "--max-pairs 4");
        queued
    }

    /// A queue whose one entry is being played, and waits for the gate.
    fn begun() -> (Self, Daemon) {
        let queued = Self::with_held();
        let mut daemon = queued.daemon();
        hears(&mut daemon.0, "entry 1 begins");
        until("the run", || queued.run_of(1).exists());
        (queued, daemon)
    }

    fn results(&self) -> PathBuf {
        self.folder.path().join("results")
    }

    fn words(&self, words: &[&str]) -> Vec<String> {
        let results = self.results().display().to_string();
        let all = [&["queue", "--results", &results][..], words].concat();
        all.into_iter().map(str::to_owned).collect()
    }

    fn queue(&self, words: &[&str]) -> Ran {
        run(&self.words(words))
    }

    /// Output of a command that is done.
    #[track_caller]
    fn done(&self, words: &[&str]) -> String {
        let ran = self.queue(words);
        assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
        ran.stdout
    }

    /// Adds a test of two peers; `flags` are those of `queue add`.
    #[track_caller]
    fn add(&self, flags: &str, new: &str, base: &str, more: &str) {
        self.add_line(&format!("{flags} sprt --new @ --base @ {SETTINGS} {more}"), new, base);
    }

    /// Adds a command line; the peers stand for its two `@`.
    #[track_caller]
    fn add_line(&self, line: &str, new: &str, base: &str) {
        let (new, base) = (fake(new), fake(base));
        let mut specs = [new.as_str(), base.as_str()].into_iter();
        let words: Vec<&str> =
            line.split_whitespace().map(|word| if word == "@" { specs.next().unwrap() } else { word }).collect();
        self.done(&[&["add"], &words[..]].concat());
    }

    /// Peers that wait for the gate from their second game on.
    fn held(&self) -> [String; 2] {
        [1, 2].map(|seed| format!("--seed {seed} {}", self.gate.words()))
    }

    fn daemon(&self) -> Daemon {
        let mut command = heeding_signals(&self.words(&["run", "--until-empty"]));
        Daemon(command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Plays until nothing is left.
    #[track_caller]
    fn play(&self, more: &[&str]) -> Ran {
        let ran = self.queue(&[&["run", "--until-empty"], more].concat());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran
    }

    fn list(&self) -> Vec<Value> {
        let list: Value = serde_json::from_str(&self.done(&["ls", "--all", "--json"])).unwrap();
        list["entries"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn entry(&self, id: u64) -> Value {
        self.list().into_iter().find(|entry| entry["id"] == id).unwrap()
    }

    fn state(&self, id: u64) -> String {
        self.entry(id)["state"].as_str().unwrap().to_owned()
    }

    /// Folder of the first run of an entry.
    #[track_caller]
    fn run_of(&self, id: u64) -> PathBuf {
        self.results().join(self.entry(id)["runs"][0].as_str().unwrap())
    }

    /// Folder of the first run of an entry, once it has one.
    fn run_of_begun(&self, id: u64) -> Option<PathBuf> {
        Some(self.results().join(self.entry(id)["runs"].get(0)?.as_str()?))
    }

    /// Checks that the games of an entry are those of a test that nobody stopped.
    #[track_caller]
    fn check_as_unbroken(&self, id: u64, more: &str) {
        self.gate.open();
        let [new, base] = self.held();
        let unbroken = self.folder.path().join("unbroken");
        sprt(3, &new, &base, &unbroken, &format!("{SETTINGS} {more}"));
        check_same_games(&self.run_of(id), &unbroken);
    }
}

/// Rest of what a daemon prints, and its exit code.
fn rest(daemon: &mut Daemon) -> (String, Option<i32>) {
    let mut text = String::new();
    std::io::Read::read_to_string(daemon.0.stderr.as_mut().unwrap(), &mut text).unwrap();
    (text, daemon.0.wait().unwrap().code())
}

#[test]
fn entries_are_played_in_order_and_one_that_cannot_start_stops_none() {
    let queued = Queued::new();
    let gone = queued.folder.path().join("gone");
    std::fs::copy(FAKE, &gone).unwrap();
    let spec = format!("'{}' -- --seed 3", gone.display());
    queued.done(&["add", "sprt", "--new", &spec, "--base", &fake("--seed 2"), "--nodes", "1", "--max-pairs", "1"]);
    queued.add("", "--seed 1", "--seed 2", "--max-pairs 2");
    let plan = queued.folder.path().join("match.toml");
    let players = [1, 2].map(|seed| format!("[[players]]\nspec = {:?}\n", fake(&format!("--seed {seed}")))).concat();
    std::fs::write(&plan, format!("pairs = 1\nnodes = 1\nmax-plies = 30\nconcurrency = 1\n{players}")).unwrap();
    queued.done(&["add", "--priority", "1", &plan.display().to_string(), "--note", "three"]);
    assert!(queued.done(&["ls"]).lines().nth(1).unwrap().contains("three"));
    queued.done(&["note", "3", "three", "of", "them"]);
    std::fs::rename(&gone, gone.with_extension("away")).unwrap();
    let ran = queued.play(&[]);
    let at = |words: &str| ran.stderr.find(words).unwrap_or_else(|| panic!("no {words}: {}", ran.stderr));
    assert!(at("entry 3 is over: done") < at("entry 1 cannot be played"), "{}", ran.stderr);
    assert!(at("entry 1 cannot be played") < at("entry 2 is over: inconclusive"), "{}", ran.stderr);
    assert_eq!([1, 2, 3].map(|id| queued.state(id)), ["failed", "done", "done"]);
    let failed = queued.entry(1);
    assert!(failed["error"].as_str().unwrap().contains("gone: "), "{failed}");
    assert_eq!(queued.entry(2)["results"], serde_json::json!(["inconclusive"]));
    assert_eq!(summary(&queued.run_of(2))["pairs"], 2);
    assert_eq!(summary(&queued.run_of(3))["note"], "three of them");
    // Mended, it is played like any other.
    std::fs::rename(gone.with_extension("away"), &gone).unwrap();
    queued.done(&["up", "1"]);
    queued.play(&[]);
    assert_eq!((queued.state(1), queued.entry(1)["error"].is_null()), ("done".to_owned(), true));
    queued.done(&["rm", "1"]);
    assert_eq!(queued.list().len(), 2);
}

#[test]
fn a_killed_daemon_loses_no_game() {
    let queued = Queued::with_held();
    let mut daemon = queued.daemon();
    until("the first game", || {
        let runs = queued.entry(1)["runs"].as_array().map_or(0, Vec::len);
        runs > 0 && journal_lines(&queued.run_of(1)) > 1
    });
    assert_eq!(queued.state(1), "playing");
    // Its folder has one daemon.
    let second = queued.queue(&["run"]);
    assert!(second.code == Some(2) && second.stderr.contains("another process plays this queue"), "{second:?}");
    daemon.0.kill().unwrap();
    daemon.0.wait().unwrap();
    assert_eq!(queued.state(1), "waiting");
    // A new entry of its priority comes after it.
    queued.add("", "--seed 1", "--seed 2", "--max-pairs 1");
    let said = queued.done(&["up", "2"]);
    assert!(
        said.contains("entry 1 has begun and goes before it. `quintain queue up 2 --priority 1` puts entry 2 first"),
        "{said}"
    );
    queued.gate.open();
    let ran = queued.play(&[]);
    let at = |words: &str| ran.stderr.find(words).unwrap_or_else(|| panic!("no {words}: {}", ran.stderr));
    assert!(at("entry 1 continues in") < at("entry 2 begins in"), "{}", ran.stderr);
    assert_eq!(queued.entry(1)["runs"].as_array().unwrap().len(), 1);
    queued.check_as_unbroken(1, "--max-pairs 4");
}

#[test]
fn an_entry_of_a_higher_priority_is_played_first_and_the_other_goes_on() {
    let (queued, mut daemon) = Queued::begun();
    // One of the same priority stops nothing.
    queued.add("", "--seed 1", "--seed 2", "--max-pairs 1");
    queued.add("--priority 1", "--seed 3", "--seed 2", "--max-pairs 1");
    hears(&mut daemon.0, "entry 1 makes way for entry 3");
    queued.gate.open();
    let (said, code) = rest(&mut daemon);
    let at = |words: &str| said.find(words).unwrap_or_else(|| panic!("no {words}: {said}"));
    assert_eq!(code, Some(0), "{said}");
    assert!(at("entry 3 is over") < at("entry 1 continues") && at("entry 1 is over") < at("entry 2 begins"), "{said}");
    queued.check_as_unbroken(1, "--max-pairs 4");
}

#[test]
fn a_race_and_a_tuning_make_way_and_go_on() {
    let queued = Queued::new();
    let rows = queued.folder.path().join("rows.txt");
    std::fs::write(&rows, "Alpha, int, 50, 0, 100, 5, 0.002\n").unwrap();
    let [first, base] = queued.held();
    queued.add_line(&format!("race @ --base @ {SETTINGS} --pairs 4 --step 2"), &first, &base);
    let tuned = format!("--method fishtest --pairs 4 --no-sensitivity --no-prove {SETTINGS}");
    queued.add_line(
        &format!("tune --engine @ --params {} {tuned}", rows.display()),
        &format!("--tunes {}", queued.gate.words()),
        "",
    );
    let begun = |id: u64, folder: &str| {
        let mut daemon = queued.daemon();
        hears(&mut daemon.0, &format!("entry {id} "));
        until("its first game", || journal_lines(&queued.run_of(id).join(folder)) > 1);
        daemon
    };
    let mut daemon = begun(1, "");
    // What comes first stops the race, and the tuning once it is played.
    queued.add("--priority 1", "--seed 3", "--seed 2", "--max-pairs 1");
    hears(&mut daemon.0, "entry 1 makes way for entry 3");
    queued.gate.open();
    let (said, code) = rest(&mut daemon);
    let at = |words: &str| said.find(words).unwrap_or_else(|| panic!("no {words}: {said}"));
    assert_eq!(code, Some(0), "{said}");
    assert!(at("entry 3 is over") < at("entry 1 continues") && at("entry 1 is over") < at("entry 2 begins"), "{said}");
    assert_eq!([1, 2, 3].map(|id| queued.state(id)), ["done", "done", "done"]);
    assert_eq!(summary(&queued.run_of(1))["race"]["takes"][0]["pairs"], 4);
    assert_eq!(summary(&queued.run_of(2).join("tune"))["pairs"], 4);
    assert!(queued.run_of(2).join("options.toml").is_file());
    let list = queued.done(&["ls", "--all"]);
    assert!(list.contains("tuning of ") && list.contains(" against "), "{list}");
}

#[test]
fn a_stopped_tuning_goes_on_in_the_queue() {
    let queued = Queued::new();
    let plan = queued.folder.path().join("tune.toml");
    let rows = queued.folder.path().join("rows.txt");
    std::fs::write(&rows, "Alpha, int, 50, 0, 100, 5, 0.002\n").unwrap();
    let engine = fake(&format!("--tunes {}", queued.gate.words()));
    let keys = "method = \"fishtest\"\npairs = 4\nno-sensitivity = true\nno-prove = true\nnodes = 1\nmax-plies = 30\n";
    std::fs::write(&plan, format!("{keys}concurrency = 1\nengine = {engine:?}\nparams = {rows:?}\n")).unwrap();
    // A plan with keys that only tunings have is one.
    queued.done(&["add", &plan.display().to_string()]);
    let mut daemon = queued.daemon();
    until("its first game", || queued.run_of_begun(1).is_some_and(|run| journal_lines(&run.join("tune")) > 1));
    queued.add("--priority 1", "--seed 3", "--seed 2", "--max-pairs 1");
    hears(&mut daemon.0, "entry 1 makes way for entry 2");
    queued.gate.open();
    let (said, code) = rest(&mut daemon);
    assert!(code == Some(0) && said.contains("entry 1 continues"), "{said}");
    assert_eq!(([1, 2].map(|id| queued.state(id))), ["done", "done"]);
    assert_eq!(summary(&queued.run_of(1).join("tune"))["pairs"], 4);
}

#[test]
fn the_run_of_a_removed_entry_stops_and_is_kept() {
    let (queued, mut daemon) = Queued::begun();
    let kept = queued.run_of(1);
    let said = queued.done(&["rm", "1"]);
    assert!(
        said.contains("stops after the pairs being played and is kept in") && said.contains(&*kept.to_string_lossy()),
        "{said}"
    );
    hears(&mut daemon.0, "entry 1 was removed");
    queued.gate.open();
    let (said, code) = rest(&mut daemon);
    assert_eq!(code, Some(0), "{said}");
    let summary = summary(&kept);
    assert_eq!(summary["stopped_by"], "interrupted");
    assert!(summary["pairs"].as_u64().unwrap() < 4, "{summary}");
    assert_eq!(queued.list().len(), 0);
}

#[test]
fn a_run_whose_folder_is_removed_has_not_been_played() {
    let (queued, mut daemon) = Queued::begun();
    let dir = queued.run_of(1);
    until("its socket", || run(&["ctl", &dir.display().to_string(), "status"]).code == Some(0));
    std::fs::remove_dir_all(&dir).unwrap();
    queued.gate.open();
    let (said, code) = rest(&mut daemon);
    assert!(code == Some(0) && said.contains("was removed while it was played; `queue up 1`"), "{said}");
    assert_eq!(queued.state(1), "failed");
    // What failed has no run, and begins a new one.
    assert!(queued.entry(1)["runs"].as_array().unwrap().is_empty());
    queued.done(&["note", "1", "again"]);
    queued.done(&["up", "1"]);
    queued.play(&[]);
    assert_eq!(summary(&queued.run_of(1))["note"], "again");
    let ran = queued.queue(&["note", "1", "late"]);
    assert!(ran.code == Some(2) && ran.stderr.contains("its last run has begun"), "{ran:?}");
}

/// Run of two pairs among the results that was cut short outside the queue.
fn cut_run(queued: &Queued) -> PathBuf {
    let dir = queued.results().join("mine");
    std::fs::create_dir_all(queued.results()).unwrap();
    sprt(3, "--seed 1", "--seed 2", &dir, &format!("{SETTINGS} --max-pairs 2"));
    cut(&dir, 2);
    dir
}

/// As by two clicks on the page of a run, or by a user and a script.
#[test]
fn a_run_that_is_resumed_several_times_at_once_is_queued_once() {
    let queued = Queued::new();
    let dir = cut_run(&queued);
    let words = queued.words(&["resume", &dir.display().to_string()]);
    let resume = || quintain(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    for child in (0..8).map(|_| resume()).collect::<Vec<_>>() {
        let ran: Ran = child.wait_with_output().unwrap().into();
        assert!(ran.code == Some(0) && ran.stdout.starts_with("entry 1 resumes mine"), "{ran:?}");
    }
    assert_eq!(queued.list().len(), 1);
}

#[test]
fn an_entry_whose_resumed_run_is_gone_waits_for_it() {
    let queued = Queued::new();
    let dir = cut_run(&queued);
    // A name of the list stands for a run among these results.
    for name in ["mine", "latest"] {
        assert_eq!(queued.done(&["resume", name]), "entry 1 resumes mine\n");
    }
    std::fs::rename(&dir, queued.folder.path().join("away")).unwrap();
    let ran = queued.play(&[]);
    assert!(ran.stderr.contains("mine: the run that this entry resumes is gone; put it back"), "{}", ran.stderr);
    assert!(queued.state(1) == "failed" && !dir.exists());
    std::fs::rename(queued.folder.path().join("away"), &dir).unwrap();
    queued.done(&["up", "1"]);
    queued.play(&[]);
    assert_eq!((queued.state(1), &summary(&dir)["pairs"]), ("done".to_owned(), &2.into()));
}

#[test]
fn a_run_that_its_user_stops_waits_until_it_is_put_up() {
    let (queued, mut daemon) = Queued::begun();
    let dir = queued.run_of(1).display().to_string();
    until("its socket", || run(&["ctl", &dir, "stop"]).code == Some(0));
    queued.gate.open();
    let (said, code) = rest(&mut daemon);
    assert!(code == Some(0) && said.contains("`quintain queue up 1` continues it"), "{said}");
    assert_eq!(queued.state(1), "stopped");
    queued.done(&["up", "1"]);
    queued.play(&[]);
    queued.check_as_unbroken(1, "--max-pairs 4");
}

#[test]
fn an_interrupted_daemon_keeps_its_entry_for_the_next() {
    let (queued, mut daemon) = Queued::begun();
    let dir = queued.run_of(1).display().to_string();
    until("its socket", || run(&["ctl", &dir, "status"]).code == Some(0));
    rustix::process::kill_process(rustix::process::Pid::from_child(&daemon.0), rustix::process::Signal::INT).unwrap();
    hears(&mut daemon.0, "Ctrl-C again");
    queued.gate.open();
    let (said, code) = rest(&mut daemon);
    assert_eq!((code, queued.state(1)), (Some(130), "waiting".to_owned()), "{said}");
    queued.play(&[]);
    queued.check_as_unbroken(1, "--max-pairs 4");
}

#[test]
fn a_night_begins_nothing_that_is_known_not_to_fit() {
    let queued = Queued::new();
    // About four days at this clock, by the clock alone.
    let add = |more: &str| queued.add_line(&format!("sprt --new @ --base @ -j 1 {more}"), "--seed 1", "--seed 2");
    add("--tc 8+0.08");
    add("--nodes 1 --max-plies 30 --max-pairs 1");
    let ran = queued.play(&["--budget", "2h"]);
    assert!(ran.stderr.contains("entry 1 is put off: it takes about"), "{}", ran.stderr);
    assert_eq!([1, 2].map(|id| queued.state(id)), ["waiting", "done"]);
    assert!(queued.entry(1)["runs"].as_array().unwrap().is_empty());
}

#[test]
fn a_night_that_is_over_stops_its_run() {
    let queued = Queued::with_held();
    let words = queued.words(&["run", "--budget", "1s"]);
    let mut daemon = Daemon(quintain(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    hears(&mut daemon.0, "the time is over");
    queued.gate.open();
    let (said, code) = rest(&mut daemon);
    assert_eq!((code, queued.state(1)), (Some(0), "waiting".to_owned()), "{said}");
    queued.play(&[]);
    queued.check_as_unbroken(1, "--max-pairs 4");
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let queued = Queued::new();
    let plan = queued.folder.path().join("plan.toml");
    std::fs::write(&plan, "tc = \"8+0.08\"\nmax_pair = 5\n").unwrap();
    let plan = plan.display().to_string();
    for (words, why) in [
        (&["add", "spqr"][..], "give a plan, a file ending in .toml, or a command line"),
        (&["add", &plan], "plan.toml:2:1: unknown key `max_pair`, did you mean `max-pairs`?"),
        (&["add", "nowhere.toml"], "cannot read the plan nowhere.toml"),
        (&["add", "sprt", "--boundz", "0,5"], "`quintain sprt --help` explains its flags"),
        (&["add", "sprt", "--new", "./no-such-engine", "--base", FAKE], "no-such-engine"),
        (&["add", "sprt", "--new", "git:no-such-branch"], "no-such-branch"),
        (&["add", "sprt", "--new", FAKE, "--base", FAKE, "--bounds", "5,0"], "0"),
        (&["add", "sprt", "--new", FAKE, "--base", FAKE, "--out", "x"], "--out: the queue names the folders"),
        (&["add", "match", FAKE], "a match needs at least two"),
        (&["add", "bisect", "HEAD~1", "HEAD"], "the queue does not play it"),
        (&["add", "race", FAKE], "a race has a base"),
        (&["add", "race", "--base", FAKE, FAKE, "--close", "-1"], "--close -1"),
        (&["add", "race", "--base", FAKE, FAKE, "--bounds", "0,5"], "`quintain race --help` explains its flags"),
        (&["add", "tune", "--engine", FAKE, "--dry-run"], "--dry-run plays no game"),
        (&["add", "tune", "--engine", "./no-such-engine"], "no-such-engine"),
        (&["add", "tune", "--engine", FAKE, "--prove-tc", "fast"], "--prove-tc"),
        (&["add", "tune", "--engine", FAKE, "--prove-pairs", "0"], "--prove-pairs 0 proves nothing"),
        (&["add", "tune", "--engine", FAKE, "--params", "nowhere.txt"], "--params nowhere.txt: cannot read it"),
        (&["add", "tune", "--engine", FAKE, "--from-engine", "("], "--from-engine `(`: unclosed group; write"),
        (&["up", "7"], "no entry 7; `quintain queue ls --all` lists them"),
        (&["rm", "7"], "no entry 7"),
        (&["up", "x"], "invalid value 'x'"),
        (&["run", "--until", "7h"], "write a time of the day such as 07:00"),
        (&["run", "--budget", "soon"], "--budget `soon`: write a time such as 90s, 30m or 8h"),
    ] {
        let ran = queued.queue(words);
        assert_eq!(ran.code, Some(2), "{words:?}: {ran:?}");
        assert!(ran.stderr.contains(why) && ran.stdout.is_empty(), "{words:?}: {ran:?}");
        let is_usage = ran.stderr.contains("invalid value");
        assert!(is_usage || ran.stderr.lines().count() == 1, "{words:?}: {ran:?}");
    }
    assert!(queued.list().is_empty());
}

#[test]
fn an_entry_that_somebody_else_wrote_starts_nothing() {
    let queued = Queued::new();
    queued.add("", "--seed 1", "--seed 2", "--max-pairs 1");
    let file = queued.results().join("queue/1.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("--seed 2", "--seed 9")).unwrap();
    let ran = queued.play(&[]);
    assert!(ran.stderr.contains("entry 1 cannot be played: you did not add it on this machine"), "{}", ran.stderr);
    assert_eq!(queued.state(1), "failed");
    assert!(!queued.results().join("runs").exists());
}

/// Recipe of an engine that is a script.
const RECIPE: &str = "\
[build]
command = 'cp engine/main.sh engine.bin && chmod +x engine.bin'
binary = 'engine.bin'
sources = ['engine']
[engine]
name = 'toy'
";

#[test]
fn a_revision_is_that_of_the_time_it_was_added() {
    let toy = Toy::bare();
    let script = |seed: u32| {
        let bench = format!("[ \"$1\" = bench ] && echo '{seed} nodes 1 nps' && exit");
        format!("#!/bin/sh\n{bench}\nexec '{FAKE}' --seed {seed} \"$@\"\n")
    };
    toy.write("quintain.toml", RECIPE);
    let mut commits = Vec::new();
    for seed in 1..=3 {
        toy.write("engine/main.sh", &script(seed));
        commits.push(toy.commit(&format!("Number {seed}")));
    }
    let here = |words: &str| -> Ran {
        let words: Vec<&str> = words.split_whitespace().collect();
        quintain(&words).current_dir(&toy.context.cwd).output().unwrap().into()
    };
    let add = |words: &str| {
        let ran = here(&format!("queue add {words} {SETTINGS} --max-pairs 1"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
    };
    add("sprt --new git:main --base git:HEAD~1 --new-option Hash=2");
    toy.write("engine/main.sh", &script(4));
    // The working tree with its change, against the newest commit.
    add("sprt");
    // Entries are titled by what was typed and by the change.
    let titles = [
        "main (Hash=2) against HEAD~1 (Number 3)",
        "working tree against the commit before (Changes after \"Number 3\")",
    ];
    let shown = here("queue ls").stdout;
    assert!(titles.iter().all(|title| shown.contains(title)), "{shown}");
    let told = here(&format!("queue add --json sprt --new git:main --base git:HEAD~1 {SETTINGS}")).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(
        (&told["id"], &told["title"], &told["state"]),
        (&3.into(), &"main against HEAD~1 (Number 3)".into(), &"waiting".into())
    );
    assert_eq!(here("queue rm 3").code, Some(0));
    toy.commit("Number 4");
    // Nor does a later commit become the base.
    toy.write("engine/main.sh", &script(6));
    toy.commit("Number 6");
    toy.write("engine/main.sh", &script(5));
    let ran = here("queue run --until-empty");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let list: Value = serde_json::from_str(&here("queue ls --all --json").stdout).unwrap();
    let programs = |number: usize| -> [String; 2] {
        let run = toy.context.cwd.join("results").join(list["entries"][number]["runs"][0].as_str().unwrap());
        let plan: toml::Table = std::fs::read_to_string(run.join("plan.toml")).unwrap().parse().unwrap();
        [0, 1].map(|player| {
            let program = plan["players"][player]["program"].as_str().unwrap();
            std::fs::read_to_string(Path::new(program)).unwrap()
        })
    };
    // Neither the queue nor its runs are the repository's own.
    assert_eq!(toy.git(&["status", "--porcelain"]), "M engine/main.sh");
    assert_eq!(programs(0), [script(3), script(2)]);
    assert_eq!(programs(1), [script(4), script(3)]);
    // The commits give the runs their titles.
    let titles = |number: usize| {
        let run = toy.context.cwd.join("results").join(list["entries"][number]["runs"][0].as_str().unwrap());
        summary(&run)["title"].as_str().unwrap().to_owned()
    };
    assert_eq!([0, 1].map(titles), ["Number 3", "Changes after \"Number 3\""]);
    assert!(here("runs Number 3").stdout.contains("(Number 3)"));
    let ran = here(&format!("sprt --new git:main --base git:HEAD~1 {SETTINGS} --max-pairs 1"));
    assert!(ran.stdout.contains("change: Number 6 (main)"), "{ran:?}");
    // A commit that does not touch the engine is not the change.
    toy.commit("Number 5");
    toy.write("README.md", "a toy");
    toy.commit("Explain");
    for (base, change) in [("HEAD~2", "change: Number 5 (main)"), ("HEAD~3", "change: Number 5 and 1 more (main)")] {
        let ran = here(&format!("sprt --new git:main --base git:{base} {SETTINGS} --max-pairs 1"));
        assert!(ran.stdout.contains(change), "{ran:?}");
    }
    let ran = here(&format!("sprt --new git:main --base git:main --allow-same {SETTINGS} --max-pairs 1"));
    assert!(ran.stdout.contains("pairs 1,") && !ran.stdout.contains("change:"), "{ran:?}");
    // Git does not clear the kept commit away.
    toy.git(&["reflog", "expire", "--expire=now", "--all"]);
    toy.git(&["gc", "--quiet", "--prune=now"]);
    let kept = toy.git(&["for-each-ref", "--format=%(objectname)", "refs/quintain"]);
    assert_eq!(toy.git(&["show", &format!("{kept}:engine/main.sh")]), script(4).trim());
}

#[test]
fn an_entry_tells_those_whom_its_own_repository_names() {
    let toy = Toy::bare();
    toy.write("quintain.toml", RECIPE);
    toy.commit("One");
    let queued = Queued::new();
    let heard = queued.folder.path().join("heard");
    let command = format!("echo $QUINTAIN_EXIT >> '{}'", heard.display());
    let [one, other] = [1, 2].map(|seed| fake(&format!("--seed {seed}")));
    let settings: Vec<&str> = SETTINGS.split_whitespace().collect();
    let words = [&["add", "match", &one, &other, "--pairs", "1", "--on-end", &command], &settings[..]].concat();
    let ran: Ran = quintain(&queued.words(&words)).current_dir(&toy.context.cwd).output().unwrap().into();
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // A fault that came later is told, and the rest is played and told as before.
    toy.write("quintain.toml", &format!("{RECIPE}[notify]\nntfy = 'https://ntfy.sh/secret'\n"));
    let ran = queued.play(&[]);
    let said = "warning: the end of this run goes to no service: notify-ntfy: give the name of";
    assert!(ran.stderr.contains(said) && !ran.stderr.contains("ntfy.sh"), "{ran:?}");
    assert_eq!((queued.state(1), std::fs::read_to_string(heard).unwrap()), ("done".to_owned(), "0\n".to_owned()));
}

#[test]
fn an_entry_removed_while_its_engines_are_built_plays_nothing() {
    let toy = Toy::bare();
    let gate = tempfile::tempdir().unwrap();
    let gate = gate.path().join("open");
    let waits = format!("until [ -e {} ]; do sleep 0.05; done && cp engine/main.sh", gate.display());
    toy.write("quintain.toml", &RECIPE.replace("cp engine/main.sh", &waits));
    let bench = "[ \"$1\" = bench ] && echo '1 nodes 1 nps' && exit";
    for seed in 1..=2 {
        toy.write("engine/main.sh", &format!("#!/bin/sh\n{bench}\nexec '{FAKE}' --seed {seed} \"$@\"\n"));
        toy.commit(&format!("Number {seed}"));
    }
    let results = toy.context.cwd.join("results");
    let here = |words: &[&str]| -> Ran {
        let ran: Ran = quintain(&[&["queue"], words].concat()).current_dir(&toy.context.cwd).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran
    };
    let settings: Vec<&str> = SETTINGS.split_whitespace().collect();
    here(&[&["add", "sprt", "--new", "git:main", "--base", "git:HEAD~1", "--max-pairs", "1"], &settings[..]].concat());
    let mut command = heeding_signals(&["queue", "run", "--until-empty"]);
    command.current_dir(&toy.context.cwd).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut daemon = Daemon(command.spawn().unwrap());
    hears(&mut daemon.0, "building");
    assert!(here(&["rm", "1"]).stdout.contains("its run will not begin"));
    // The next entry is another one.
    let added =
        here(&["add", "match", &fake("--seed 1"), &fake("--seed 2"), "--nodes", "1", "--pairs", "1", "-j", "1"]);
    assert!(added.stdout.contains("entry 2"), "{added:?}");
    std::fs::write(&gate, "").unwrap();
    let (said, code) = rest(&mut daemon);
    assert!(code == Some(0) && said.contains("entry 1 does not begin: it was removed"), "{said}");
    let list: Value = serde_json::from_str(&here(&["ls", "--all", "--json"]).stdout).unwrap();
    let entries: Vec<_> = list["entries"].as_array().unwrap().iter().map(|one| (&one["id"], &one["state"])).collect();
    assert_eq!(entries, [(&2.into(), &"done".into())]);
    assert_eq!(
        std::fs::read_dir(results.join("runs")).unwrap().filter(|run| run.as_ref().unwrap().path().is_dir()).count(),
        1
    );
}

/// Compilers are in process groups of their own, which Ctrl-C does not reach.
#[test]
fn an_interrupt_ends_a_build_and_the_entry_waits() {
    let toy = Toy::bare();
    toy.write(
        "quintain.toml",
        &RECIPE.replace("cp engine/main.sh", "while true; do sleep 0.05; done; cp engine/main.sh"),
    );
    toy.write("engine/main.sh", "#!/bin/sh\n");
    toy.commit("One that is never built");
    let here = |words: &[&str]| -> Ran {
        let ran: Ran = quintain(&[&["queue"], words].concat()).current_dir(&toy.context.cwd).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{ran:?}");
        ran
    };
    let settings: Vec<&str> = SETTINGS.split_whitespace().collect();
    here(&[&["add", "sprt", "--new", "git:main", "--base", &fake("--seed 1")], &settings[..]].concat());
    let mut command = heeding_signals(&["queue", "run"]);
    command.current_dir(&toy.context.cwd).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut daemon = Daemon(command.spawn().unwrap());
    hears(&mut daemon.0, "building");
    rustix::process::kill_process(rustix::process::Pid::from_child(&daemon.0), rustix::process::Signal::INT).unwrap();
    let (said, code) = rest(&mut daemon);
    assert_eq!(code, Some(130), "{said}");
    let list: Value = serde_json::from_str(&here(&["ls", "--json"]).stdout).unwrap();
    assert_eq!(list["entries"][0]["state"], "waiting", "{list}");
}

#[test]
fn the_dashboard_plays_the_queue() {
    use rustix::process::{Pid, Signal, kill_process};
    let queued = Queued::new();
    queued.add("", "--seed 1", "--seed 2", "--max-pairs 1");
    let results = queued.results().display().to_string();
    let words = ["serve", &results, "--listen", "127.0.0.1:0", "--run"];
    for (signal, last) in [(Signal::INT, 2), (Signal::TERM, 3), (Signal::HUP, 4)] {
        let mut served = Daemon(heeding_signals(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
        until("the end of the entry", || queued.state(last - 1) == "done");
        // It waits for more.
        queued.add("", "--seed 1", "--seed 2", "--max-pairs 1");
        until("the end of the next one", || queued.state(last) == "done");
        kill_process(Pid::from_child(&served.0), signal).unwrap();
        let (said, code) = rest(&mut served);
        assert_eq!(code, Some(0), "{said}");
    }
}
